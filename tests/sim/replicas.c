/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Two replicas, their network, the API and the cluster, all under the one clock; what happens to them; and what they
 * know at rest. */
#include "replicas.h"
#include "base/clock.h"
#include "base/mem.h"
#include "controllers/jobs/podjob.h"
#include "replica.h"
#include <stdio.h>
#include <string.h>

#define TURNS_AT_ONCE_MAX 20000u

/* --- opening and closing ------------------------------------------------------------------------ */

/* Nobody connects to it. */
static void write_kubeconfig(struct sim_replicas *r)
{
    (void)snprintf(r->kubeconfig, sizeof r->kubeconfig, "%s/kubeconfig", r->sim->options->dir);
    FILE *f = fopen(r->kubeconfig, "w");
    if (f == NULL ||
        fputs("apiVersion: v1\nkind: Config\ncurrent-context: sim\n"
              "clusters:\n- name: sim\n  cluster: {server: 'https://127.0.0.1:1'}\n"
              "users:\n- name: sim\n  user: {token: none}\n"
              "contexts:\n- name: sim\n  context: {cluster: sim, user: sim}\n",
              f) < 0 ||
        fclose(f) != 0) {
        sim_story_violation("%s cannot be written", r->kubeconfig);
    }
}

void sim_replicas_open(struct sim *s)
{
    struct sl_error e = {0};
    struct sim_replicas *r = sl_mem_new(1, sizeof *r);
    s->replicas = r;
    r->sim = s;
    if (sl_store_open(s->options->dir, &s->store, &e) != SL_CODE_OK) {
        sim_story_violation("it does not start: %s", e.text);
    }
    sl_store_seed(s->store, s->options->seed * 1000003 + s->lives++);
    sl_store_gate_pods(s->store, sl_jobs_enabled(&s->job_rules, &sl_pod_framework));
    sim_life_tell(s);
    r->api = sim_api_new(s->store);
    r->check = sim_check_new(s);
    const struct sim_net_told told = {sim_check_sent, sim_check_arrived, r->check};
    r->net = sim_net_new(s, r->api, &told);
    r->assignments = sim_stands_new(s);
    write_kubeconfig(r);
    for (unsigned i = 0; i < SIM_REPLICAS; i++) {
        r->all[i] = (struct sim_replica){
            .number = i, .timer_ms = INT64_MAX, .start_ms = s->now_ms + 500 * (int64_t)i};
    }
}

void sim_replicas_close(struct sim *s)
{
    struct sim_replicas *r = s->replicas;
    for (unsigned i = 0; i < SIM_REPLICAS; i++) {
        if (r->all[i].pid != 0) {
            sim_replica_kill(r, &r->all[i], 100);
        }
    }
    sim_net_free(r->net);
    sim_api_free(r->api);
    sl_store_close(s->store);
    sim_stands_free(r->assignments);
    sim_check_free(r->check);
    sl_mem_free(r);
    s->store = NULL;
    s->replicas = NULL;
}

/* --- turns -------------------------------------------------------------------------------------- */

static bool commit(struct sim *s)
{
    struct sl_error e = {0};
    if (!sl_store_dirty(s->store)) {
        return false;
    }
    if (sl_store_commit(s->store, &e) != SL_CODE_OK) {
        sim_story_violation("a commit failed without a fault: %s", e.text);
    }
    return true;
}

static bool turn(struct sim_replicas *r)
{
    struct sim *s = r->sim;
    s->kicked = false;
    s->turn_count++;
    bool more = sim_stands_step(r->assignments, s->now_ms);
    more = commit(s) || more;
    more = sim_net_arrive(r->net) || more;
    for (unsigned i = 0; i < SIM_REPLICAS; i++) {
        struct sim_replica *one = &r->all[i];
        if (one->pid == 0 && one->start_ms <= s->now_ms) {
            sim_replica_start(r, one);
            more = true;
        }
        more = sim_replica_go(r, one) || more;
    }
    return more || s->kicked || sl_store_dirty(s->store);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Since when there has been a replica in no trouble. */
static int64_t sound_since_ms(struct sim_replicas *r)
{
    int64_t first_ms = INT64_MAX;
    for (unsigned i = 0; i < SIM_REPLICAS; i++) {
        struct sim_replica *one = &r->all[i];
        int64_t up_ms = one->pid == 0 ? r->sim->now_ms : one->paused_ms;
        one->sound_ms = later(one->sound_ms, later(up_ms, sim_net_sound_ms(r->net, i)));
        first_ms = earlier(first_ms, one->sound_ms);
    }
    return first_ms;
}

static void settle(struct sim_replicas *r)
{
    for (unsigned i = 0; turn(r); i++) {
        if (i == TURNS_AT_ONCE_MAX) {
            sim_story_violation("no end of turns at one instant");
        }
    }
    sim_check_lease(r->check, sound_since_ms(r));
    r->sim->settled_count++;
}

static int64_t due_ms(const struct sim_replicas *r)
{
    int64_t due = earlier(sim_stands_due_ms(r->assignments), sim_net_arrives_ms(r->net));
    for (unsigned i = 0; i < SIM_REPLICAS; i++) {
        due = earlier(due, sim_replica_due_ms(r, &r->all[i]));
    }
    return due;
}

static void move_clock(struct sim *s, int64_t now_ms)
{
    s->now_ms = now_ms;
    sl_clock_set_virtual(now_ms);
}

void sim_replicas_run(struct sim *s, int64_t until_ms)
{
    struct sim_replicas *r = s->replicas;
    settle(r);
    for (int64_t due = due_ms(r); due <= until_ms; due = due_ms(r)) {
        move_clock(s, due > s->now_ms ? due : s->now_ms + 1);
        settle(r);
    }
    if (until_ms > s->now_ms) {
        move_clock(s, until_ms);
    }
}

/* --- what happens to them ------------------------------------------------------------------------ */

/* It is the leader's turn to suffer more often than not. */
static struct sim_replica *pick(struct sim_replicas *r, struct sim_chance *c)
{
    unsigned leader = sim_check_leader(r->check);
    struct sim_replica *one = &r->all[sim_chance_below(c, SIM_REPLICAS)];
    bool leaders = sim_chance_of(c, 60);
    for (unsigned i = 0; i < SIM_REPLICAS && leaders; i++) {
        one = r->all[i].life == leader && leader != 0 ? &r->all[i] : one;
    }
    return one;
}

static int64_t draw_ms(struct sim_chance *c)
{
    static const uint32_t most_ms[] = {2000, 12000, 60000, 600000};
    return 1 + sim_chance_below(c, most_ms[sim_chance_below(c, 4)]);
}

static void trouble_network(struct sim_replicas *r, unsigned i, struct sim_chance *c)
{
    static const int64_t most_ms[] = {50, 3000, 30000};
    int64_t now_ms = r->sim->now_ms;
    int64_t for_ms = draw_ms(c);
    int64_t slow_ms = most_ms[sim_chance_below(c, 3)];
    unsigned count = 1 + sim_chance_below(c, 30);
    unsigned percent = 20 + sim_chance_below(c, 80);
    switch (sim_chance_below(c, 6)) {
    case 0:
        sim_story_tell("fault", "replica %u is cut off for %lld ms", i, (long long)for_ms);
        sim_net_cut(r->net, i, now_ms + for_ms);
        break;
    case 1:
        sim_story_tell("fault", "requests of replica %u take %lld ms", i, (long long)slow_ms);
        sim_net_delay(r->net, i, (struct sim_net_delay){now_ms + for_ms, slow_ms});
        break;
    case 2:
        slow_ms *= 3;
        sim_story_tell("fault", "watches of replica %u tell %lld ms late", i, (long long)slow_ms);
        sim_net_delay_watches(r->net, i, (struct sim_net_delay){now_ms + for_ms, slow_ms});
        break;
    case 3:
        sim_story_tell("fault", "answers to replica %u get lost", i);
        sim_net_lose(r->net, i, count, percent);
        break;
    case 4:
        sim_story_tell("fault", "what replica %u reads is spoiled for %lld ms", i,
                       (long long)for_ms);
        sim_net_lie(r->net, i, now_ms + for_ms);
        break;
    default:
        sim_story_tell("fault", "requests of replica %u are refused", i);
        sim_net_refuse(r->net, i, count, percent);
        break;
    }
}

bool sim_replicas_takes(enum sim_event_kind kind)
{
    return kind >= SIM_FAULT_WRITES || kind == SIM_QUEUE_QUOTA || kind == SIM_QUEUE_COHORT ||
           kind == SIM_QUEUE_DELETE || kind == SIM_COHORT_CHANGE;
}

void sim_replicas_fault(struct sim *s, struct sim_chance *c)
{
    struct sim_replicas *r = s->replicas;
    struct sim_replica *one = pick(r, c);
    int64_t for_ms = draw_ms(c);
    uint32_t way = sim_chance_below(c, 10);
    if (one->pid == 0 || one->paused_ms > s->now_ms || way >= 5) {
        trouble_network(r, one->number, c);
    } else if (way < 2) {
        sim_replicas_run(s, s->now_ms + sim_chance_below(c, 60)); /* in the middle of something */
        sim_story_tell("fault", "replica %u stands still for %lld ms", one->number,
                       (long long)for_ms);
        one->paused_ms = s->now_ms + for_ms;
    } else if (way < 4) {
        sim_replica_kill(r, one, sim_chance_below(c, 101));
        one->start_ms = s->now_ms + (sim_chance_of(c, 50) ? 1 : for_ms);
    } else {
        sim_replica_terminate(r, one);
    }
}

void sim_replicas_calm(struct sim *s)
{
    struct sim_replicas *r = s->replicas;
    sim_net_calm(r->net);
    for (unsigned i = 0; i < SIM_REPLICAS; i++) {
        struct sim_replica *one = &r->all[i];
        one->paused_ms = 0;
        one->start_ms = earlier(one->start_ms, s->now_ms + 1);
    }
}

/* --- at rest ------------------------------------------------------------------------------------- */

static struct sl_map *workloads_by_line(struct sim *s)
{
    struct sl_map *lines = sl_map_new();
    struct sl_json *list = sim_list(s, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        char line[900];
        const struct sl_json *w = sl_json_at(list, i);
        (void)snprintf(line, sizeof line, "%s/%s %s %s", sl_object_namespace(w), sl_object_name(w),
                       sl_object_uid(w), sl_object_resource_version(w));
        sl_map_put(lines, line, (union sl_map_value){.number = 1});
    }
    sl_json_free(list);
    return lines;
}

/* `whole`: or it may know fewer. */
static void compare_view(struct sim *s, const struct sim_replica *one, char *view, bool whole)
{
    struct sl_map *lines = workloads_by_line(s);
    size_t count = 0;
    for (char *line = strtok(view, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (!sl_map_remove(lines, line, NULL)) {
            sim_story_violation("at rest replica %u believes in %s", one->number, line);
        }
        count++;
    }
    if (whole && sl_map_count(lines) > 0) {
        sim_story_violation("at rest replica %u knows %zu Workloads and not %zu others",
                            one->number, count, sl_map_count(lines));
    }
    sl_map_free(lines);
}

void sim_replicas_count(struct sim *s, struct sl_engine_counters *out)
{
    struct sim_replicas *r = s->replicas;
    unsigned leading = 0;
    *out = (struct sl_engine_counters){0};
    sim_check_rest(r->check);
    for (unsigned i = 0; i < SIM_REPLICAS; i++) {
        struct sim_frame f = {0};
        char broken[400] = "";
        if (r->all[i].pid == 0) {
            sim_story_violation("replica %u does not run at rest", i);
        }
        sim_replica_look(&r->all[i], &f);
        if (f.status != 0) {
            leading++;
            (void)sscanf(f.a.data, "%u %u %399[^\n]", &out->workloads, &out->holding, broken);
        }
        if (broken[0] != '\0') {
            sim_story_violation("%s", broken);
        }
        /* Who does not decide reads nothing yet, and so does not see what was spoiled. */
        bool whole = f.status != 0 || !sim_net_spoiled(r->net, i);
        compare_view(s, &r->all[i], f.b.data, whole);
        sim_frame_fini(&f);
    }
    if (leading != 1) {
        sim_story_violation("%u replicas decide at rest", leading);
    }
}

void sim_replicas_fail_over(struct sim *s)
{
    struct sim_replicas *r = s->replicas;
    for (unsigned i = 0; i < SIM_REPLICAS; i++) {
        if (r->all[i].pid != 0 && r->all[i].life == sim_check_leader(r->check)) {
            sim_replica_kill(r, &r->all[i], 0);
            r->all[i].start_ms = s->now_ms + 60000; /* long enough for the other one */
        }
    }
}
