/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rest: faults end, queues take work, nodes are healthy, checks are answered; jobs end. Then nobody holds quota,
 * nobody waits who would fit, the engine knows what the store has, and a restart changes nothing. */
#include "admin.h"
#include "base/fnv1a.h"
#include "base/mem.h"
#include "disk.h"
#include "elastic.h"
#include "pods.h"
#include "replicas.h"
#include "wake.h"
#include <stdio.h>
#include <string.h>

#define ROUND_MS 1200000 /* longer than any backoff */
#define ROUNDS_MAX 60u
#define QUIET_ROUNDS 3u

static uint64_t add_text(uint64_t h, const char *text)
{
    return sl_fnv1a(h, text, strlen(text)) * 31 + 7;
}

/* Changes when any of these objects does. */
uint64_t sim_fingerprint(struct sim *s)
{
    static const enum sl_kind kinds[] = {SL_KIND_WORKLOAD, SL_KIND_JOB, SL_KIND_POD,
                                         SL_KIND_PROVISIONING_REQUEST, SL_KIND_CLUSTER_QUEUE};
    uint64_t h = 1;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct sl_json *list = sim_list(s, kinds[k]);
        for (size_t i = 0; i < sl_json_len(list); i++) {
            h = add_text(h, sl_object_uid(sl_json_at(list, i)));
            h = add_text(h, sl_object_resource_version(sl_json_at(list, i)));
        }
        sl_json_free(list);
    }
    return h;
}

static void come_to_rest(struct sim *s)
{
    unsigned quiet = 0;
    for (unsigned round = 0; quiet < QUIET_ROUNDS; round++) {
        uint64_t before = sim_fingerprint(s);
        sim_admin_calm(s);
        bool changed = round > 0 && sim_pods_calm(s); /* when what had begun is done */
        sim_life_run(s, s->now_ms + ROUND_MS);
        changed = sim_admin_answer_all(s) || changed;
        quiet = changed || sim_fingerprint(s) != before ? 0 : quiet + 1;
        if (round == ROUNDS_MAX) {
            sim_story_violation("no rest after %u hours without events",
                                ROUNDS_MAX * ROUND_MS / 3600000u);
        }
    }
}

/* --- who would fit ------------------------------------------------------------------------------ */

static int64_t to_milli(const char *text)
{
    long long n = 0;
    char unit[8] = "";
    if (sscanf(text, "%lld%7s", &n, unit) < 1) {
        return -1;
    }
    return strcmp(unit, "m") == 0    ? n
           : strcmp(unit, "Mi") == 0 ? n * 1000 * 1024 * 1024
           : strcmp(unit, "Gi") == 0 ? n * 1000 * 1024 * 1024 * 1024
           : unit[0] == '\0'         ? n * 1000
                                     : -1;
}

/* A quantity as the store has it: a text, or a number that was written as one. */
static int64_t quantity_of(const struct sl_json *v)
{
    return sl_json_type(v) == SL_JSON_INT ? sl_json_int(v, 0) * 1000
                                          : to_milli(sl_json_text(v, "0"));
}

/* What the pods of all sets ask for. */
static int64_t request_of(const struct sl_json *sets, const char *resource)
{
    int64_t sum = 0;
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *set = sl_json_at(sets, i);
        const struct sl_json *requests =
            sl_json_path(set, "template.spec.containers.0.resources.requests");
        if (sl_json_has(requests, resource)) {
            sum += quantity_of(sl_json_get(requests, resource)) * sl_json_path_int(set, "count", 0);
        }
    }
    return sum;
}

/* May all pods have this flavor's nominal quota? All sets ask for the same resources. */
static bool flavor_holds(const struct sl_json *flavor, const struct sl_json *sets)
{
    const struct sl_json *requests =
        sl_json_path(sl_json_at(sets, 0), "template.spec.containers.0.resources.requests");
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(requests, &it, &key, &value)) {
        const struct sl_json *quotas = sl_json_get(flavor, "resources");
        bool held = false;
        for (size_t i = 0; i < sl_json_len(quotas); i++) {
            const struct sl_json *q = sl_json_at(quotas, i);
            held = held || (strcmp(sl_json_path_text(q, "name", ""), key) == 0 &&
                            request_of(sets, key) <= quantity_of(sl_json_get(q, "nominalQuota")));
        }
        if (!held) {
            return false;
        }
    }
    return true;
}

static bool is_waiting(const struct sl_json *w)
{
    return sl_json_path_bool(w, "spec.active", true) && !sl_condition_true(w, "Finished") &&
           !sl_condition_true(w, "QuotaReserved") && !sl_object_deleting(w);
}

static bool queue_takes(struct sim *s, const struct sl_json *cq)
{
    if (s->replicas != NULL) {
        return sl_condition_true(cq, "Active");
    }
    struct sl_json *status =
        sl_engine_queue_status(s->engine, SL_KIND_CLUSTER_QUEUE, "", sl_object_name(cq));
    bool takes = strcmp(sl_json_path_text(status, "active.status", "False"), "True") == 0 ||
                 sl_json_path_bool(status, "active.status", false);
    sl_json_free(status);
    return takes;
}

/* The ClusterQueue that w waits in when that is idle, works, and asks for no places; NULL otherwise. */
static struct sl_json *plain_queue_of(struct sim *s, const struct sl_json *w)
{
    struct sl_json *lq = NULL;
    struct sl_json *cq = NULL;
    if (sl_store_get(s->store, SL_KIND_LOCAL_QUEUE, sl_object_namespace(w),
                     sl_json_path_text(w, "spec.queueName", ""), &lq, NULL) == SL_CODE_OK) {
        (void)sl_store_get(s->store, SL_KIND_CLUSTER_QUEUE, "",
                           sl_json_path_text(lq, "spec.clusterQueue", ""), &cq, NULL);
    }
    bool plain =
        cq != NULL && !sl_object_deleting(cq) && queue_takes(s, cq) &&
        strcmp(sl_json_path_text(cq, "spec.queueingStrategy", ""), "BestEffortFIFO") == 0 &&
        strcmp(sl_json_path_text(cq, "spec.resourceGroups.0.flavors.0.name", ""), "hall") != 0 &&
        !sl_json_has(sl_json_path(w, "spec.podSets.0"), "topologyRequest");
    sl_json_free(lq);
    if (!plain) {
        sl_json_free(cq);
        return NULL;
    }
    return cq;
}

/* Everything is idle: whoever waits must be larger than its queue. */
static void check_waiting(struct sim *s, const struct sl_json *w)
{
    struct sl_json *cq = plain_queue_of(s, w);
    const struct sl_json *flavors = sl_json_path(cq, "spec.resourceGroups.0.flavors");
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        if (flavor_holds(sl_json_at(flavors, i), sl_json_path(w, "spec.podSets"))) {
            const struct sl_json *why = sl_condition_find(w, "QuotaReserved");
            sim_story_violation("%s/%s waits at rest and would fit into flavor %s of the idle "
                                "queue %s; it was told: %s",
                                sl_object_namespace(w), sl_object_name(w),
                                sl_json_path_text(sl_json_at(flavors, i), "name", ""),
                                sl_object_name(cq), sl_json_path_text(why, "message", "nothing"));
        }
    }
    sl_json_free(cq);
}

/* --- at rest ------------------------------------------------------------------------------------ */

/* Quota that waits for places which there are not is held as long as it takes. */
static bool waits_for_places(const struct sl_json *w)
{
    const struct sl_json *c = sl_condition_find(w, "Admitted");
    return strcmp(sl_json_path_text(c, "reason", ""), "PendingDelayedTopologyRequests") == 0;
}

static void check_workload(const struct sl_json *w, unsigned *held)
{
    if (sl_condition_true(w, "QuotaReserved") && !sl_condition_true(w, "Finished")) {
        if (!waits_for_places(w)) {
            sim_story_violation("%s/%s holds quota at rest", sl_object_namespace(w),
                                sl_object_name(w));
        }
        ++*held;
    }
    if (sl_object_deleting(w)) {
        sim_story_violation("%s/%s is being deleted at rest", sl_object_namespace(w),
                            sl_object_name(w));
    }
}

static void count_engine(struct sim *s, struct sl_engine_counters *out)
{
    if (s->replicas != NULL) {
        sim_replicas_count(s, out);
    } else {
        sl_engine_count(s->engine, out);
    }
}

/* How many hold quota. */
static unsigned check_workloads(struct sim *s)
{
    unsigned held = 0;
    struct sl_json *list = sim_list(s, SL_KIND_WORKLOAD);
    struct sl_engine_counters counters;
    count_engine(s, &counters);
    if (counters.workloads != sl_json_len(list)) {
        sim_story_violation("the engine knows %u workloads, the store has %zu", counters.workloads,
                            sl_json_len(list));
    }
    for (size_t i = 0; i < sl_json_len(list); i++) {
        check_workload(sl_json_at(list, i), &held);
    }
    if (counters.holding != held) {
        sim_story_violation("the engine says that %u hold quota, the store says %u",
                            counters.holding, held);
    }
    for (size_t i = 0; i < sl_json_len(list) && held == 0; i++) {
        if (is_waiting(sl_json_at(list, i))) {
            check_waiting(s, sl_json_at(list, i));
        }
    }
    sl_json_free(list);
    return held;
}

static void check_usage(const char *name, const char *member, const struct sl_json *status)
{
    const struct sl_json *flavors = sl_json_get(status, member);
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        const struct sl_json *resources = sl_json_get(sl_json_at(flavors, i), "resources");
        for (size_t r = 0; r < sl_json_len(resources); r++) {
            const struct sl_json *total = sl_json_get(sl_json_at(resources, r), "total");
            if (quantity_of(total) != 0) {
                sim_story_violation("queue %s has %s of %s left when nobody holds quota", name,
                                    member,
                                    sl_json_path_text(sl_json_at(resources, r), "name", ""));
            }
        }
    }
}

static void check_queues(struct sim *s)
{
    struct sl_json *list = sim_list(s, SL_KIND_CLUSTER_QUEUE);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *name = sl_object_name(sl_json_at(list, i));
        struct sl_json *status =
            s->engine == NULL ? NULL
                              : sl_engine_queue_status(s->engine, SL_KIND_CLUSTER_QUEUE, "", name);
        check_usage(name, "flavorsReservation", status);
        check_usage(name, "flavorsUsage", status);
        sl_json_free(status);
        check_usage(name, "flavorsReservation", sl_json_get(sl_json_at(list, i), "status"));
    }
    sl_json_free(list);
}

/* Every job that names a queue has its Workload; none runs on. */
static void check_jobs(struct sim *s)
{
    struct sl_json *jobs = sim_list(s, SL_KIND_JOB);
    for (size_t i = 0; i < sl_json_len(jobs); i++) {
        const struct sl_json *job = sl_json_at(jobs, i);
        bool over = sl_condition_true(job, "Complete") || sl_condition_true(job, "Failed");
        if (!over && !sl_json_path_bool(job, "spec.suspend", false)) {
            sim_story_violation("job %s/%s runs at rest", sl_object_namespace(job),
                                sl_object_name(job));
        }
        if (sl_object_deleting(job)) {
            sim_story_violation("job %s/%s is being deleted at rest", sl_object_namespace(job),
                                sl_object_name(job));
        }
    }
    sl_json_free(jobs);
}

/* False is what they are without being written, too: who stands behind another in a lane is not tried and not told,
 * and who stands first may be another after a restart. */
static bool is_of_quota(const char *condition)
{
    return strcmp(condition, "QuotaReserved") == 0 || strcmp(condition, "Admitted") == 0;
}

/* What was decided, without when it was written. */
static char *decisions(struct sim *s)
{
    struct sl_buf out = {0};
    struct sl_json *list = sim_list(s, SL_KIND_WORKLOAD);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *w = sl_json_at(list, i);
        const struct sl_json *conditions = sl_json_path(w, "status.conditions");
        sl_buf_print(&out, "%s/%s", sl_object_namespace(w), sl_object_name(w));
        for (size_t k = 0; k < sl_json_len(conditions); k++) {
            const struct sl_json *c = sl_json_at(conditions, k);
            bool is_false = strcmp(sl_json_path_text(c, "status", ""), "False") == 0;
            if (!is_false || !is_of_quota(sl_json_path_text(c, "type", ""))) {
                sl_buf_print(&out, " %s=%s", sl_json_path_text(c, "type", ""),
                             sl_json_path_text(c, "status", ""));
            }
        }
        sl_buf_text(&out, sl_json_path_bool(w, "spec.active", true) ? "\n" : " inactive\n");
    }
    sl_json_free(list);
    sl_buf_text(&out, ".");
    return sl_buf_take(&out);
}

/* Says the first line that differs. */
static void compare(const char *before, const char *after)
{
    size_t line = 0;
    size_t i = 0;
    for (; before[i] == after[i]; i++) {
        if (before[i] == '\0') {
            return;
        }
        line = before[i] == '\n' ? i + 1 : line;
    }
    sim_story_violation("a restart at rest changed a decision: before \"%.*s\", after \"%.*s\"",
                        (int)strcspn(before + line, "\n"), before + line,
                        (int)strcspn(after + line, "\n"), after + line);
}

/* A fresh look at all queues serves nobody (G13): who could be served was looked at when that came about. */
void sim_probe_wake_ups(struct sim *s)
{
    struct sl_engine_counters before, after;
    if (s->replicas != NULL) {
        return;
    }
    sl_engine_count(s->engine, &before);
    sim_wake_all(s->engine, s->now_ms);
    s->kicked = true;
    sim_life_run(s, s->now_ms);
    sl_engine_count(s->engine, &after);
    if (after.reserved != before.reserved) {
        sim_story_violation(
            "G13: a wake-up was lost: at rest a fresh look at all queues serves %llu",
            (unsigned long long)(after.reserved - before.reserved));
    }
}

static void check_all(struct sim *s)
{
    if (check_workloads(s) == 0) {
        check_queues(s);
    }
    sim_pods_check(s);
    sim_elastic_check(s);
}

void sim_rest(struct sim *s)
{
    sim_story_tell("rest", "no events any more");
    if (s->replicas != NULL) {
        sim_replicas_calm(s);
    } else {
        sim_relay_calm(s->relay);
    }
    sim_disk_calm();
    sim_elastic_rest(s);
    come_to_rest(s);
    sim_story_tell("rest", "nothing moves");
    check_all(s);
    check_jobs(s);
    sim_probe_wake_ups(s);
    char *before = decisions(s);
    sim_life_restart(s, SIM_DEATH_CLEAN);
    sim_life_run(s, s->now_ms + ROUND_MS);
    char *after = decisions(s);
    compare(before, after);
    check_all(s);
    sl_mem_free(before);
    sl_mem_free(after);
}
