/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "tests/explore/events.h"
#include "base/clock.h"
#include "kernel/lifecycle/lifecycle.h"
#include "tests/explore/cluster.h"
#include "tests/explore/core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MADE_MAX = 2, SWITCHED_MAX = 2, WAITED_MAX = 2 };

/* --- when --------------------------------------------------------------------------------------- */

static bool runs(uint32_t w)
{
    return cluster_says(w, "Admitted") && !cluster_says(w, "Finished") &&
           !cluster_says(w, "Evicted");
}

static bool is_switched(uint32_t w, bool on)
{
    return cluster.workloads[w] != NULL && !cluster_says(w, "Finished") &&
           sl_json_path_bool(cluster.workloads[w], "spec.active", true) == on;
}

static bool is_on(uint32_t w)
{
    return is_switched(w, true);
}

static bool is_off(uint32_t w)
{
    return is_switched(w, false) && cluster.switched[w] < SWITCHED_MAX;
}

static bool can_tell(uint32_t w)
{
    return cluster_is_untold(w) && !cluster.flights[w].used;
}

static bool can_make(uint32_t w)
{
    bool deletes = (cluster.world->may & MAY_DELETE) != 0;
    return cluster.workloads[w] == NULL && cluster.world->workloads[w].pods > 0 &&
           cluster.made[w] < (deletes ? MADE_MAX : 1);
}

static bool must_stop(uint32_t w)
{
    return cluster_says(w, "Evicted") && cluster_says(w, "QuotaReserved") &&
           !cluster_says(w, "Finished") && core_phase_of(cluster.workloads[w]) == SL_PHASE_EVICTED;
}

static bool is_under_way(void)
{
    bool found = false;
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        found = found || cluster.flights[w].used || cluster_is_untold(w);
    }
    return found;
}

/* What is under way takes no longer than a few timers. */
static bool can_pass(void)
{
    int64_t due_ms = sl_engine_due_ms(cluster.engine);
    return due_ms > cluster.now_ms && due_ms < INT64_MAX &&
           (cluster.waited < WAITED_MAX || !is_under_way());
}

/* The check of a workload that holds quota, in that state (NULL: in any). */
static struct sl_json *check_of(uint32_t w, const char *state)
{
    if (!cluster_says(w, "QuotaReserved") || cluster_says(w, "Evicted") ||
        cluster_says(w, "Finished")) {
        return NULL;
    }
    struct sl_json *check =
        sl_json_at(sl_json_path(cluster.workloads[w], "status.admissionChecks"), 0);
    bool is = state == NULL || strcmp(sl_json_path_text(check, "state", ""), state) == 0;
    return check != NULL && is ? check : NULL;
}

static bool can_scale(uint32_t w)
{
    return cluster.world->workloads[w].pods > 1 &&
           sl_json_path(cluster.workloads[w], "status.reclaimablePods") == NULL;
}

/* --- what --------------------------------------------------------------------------------------- */

static void set_condition(uint32_t w, const char *type, bool value, const char *reason)
{
    struct sl_json *o = cluster_copy(w);
    (void)sl_condition_set(sl_json_path_make(o, "status"), type, value, reason, "",
                           sl_object_generation(o), cluster.now_ms);
    cluster_put(w, o);
}

static void answer_check(uint32_t w, const char *state)
{
    char at[32];
    struct sl_json *o = cluster_copy(w);
    struct sl_json *check = sl_json_at(sl_json_path(o, "status.admissionChecks"), 0);
    sl_clock_format(cluster.now_ms, at);
    sl_json_set_text(check, "state", state);
    sl_json_set_text(check, "lastTransitionTime", at);
    cluster_put(w, o);
}

static void switch_to(uint32_t w, bool on)
{
    struct sl_json *o = cluster_copy(w);
    sl_json_set_bool(sl_json_path_make(o, "spec"), "active", on);
    sl_json_set_int(sl_json_get(o, "metadata"), "generation", sl_object_generation(o) + 1);
    cluster_put(w, o);
}

static void set_node(uint32_t n, bool down)
{
    cluster.node_down[n] = down;
    cluster_tell_node(n);
}

static void set_quota(uint32_t q, bool cut)
{
    cluster.cut[q] = cut;
    cluster_tell_queues();
}

static void set_stop(uint32_t policy)
{
    cluster.stopped = policy;
    cluster_tell_queues();
}

static void do_cycle(uint32_t a)
{
    (void)a;
    cluster_cycle();
}

static void do_send(uint32_t a)
{
    (void)a;
    cluster_send();
}

static void do_answer(uint32_t a)
{
    cluster_answer(a, ARRIVES);
}

static void do_lose(uint32_t a)
{
    cluster_answer(a, IS_LOST);
}

static void do_unanswered(uint32_t a)
{
    cluster_answer(a, ARRIVES_UNANSWERED);
}

static void do_refuse(uint32_t a)
{
    cluster_answer(a, IS_REFUSED);
}

static void do_tell(uint32_t a)
{
    cluster_tell(a);
}

static void do_stop(uint32_t a)
{
    cluster_stop_job(a);
}

static void do_pass(uint32_t a)
{
    (void)a;
    cluster.waited += is_under_way() ? 1 : 0;
    cluster_pass(sl_engine_due_ms(cluster.engine) - cluster.now_ms);
}

static void do_make(uint32_t a)
{
    cluster_make(a);
}

static void do_delete(uint32_t a)
{
    cluster_delete(a);
}

static void do_finish(uint32_t a)
{
    set_condition(a, "Finished", true, "Succeeded");
}

static void do_ready(uint32_t a)
{
    answer_check(a, "Ready");
}

static void do_retry(uint32_t a)
{
    answer_check(a, "Retry");
}

static void do_reject(uint32_t a)
{
    answer_check(a, "Rejected");
}

static void do_pods_ready(uint32_t a)
{
    set_condition(a, "PodsReady", true, "Started");
}

static void do_pods_lost(uint32_t a)
{
    set_condition(a, "PodsReady", false, "WaitForRecovery");
}

static void do_on(uint32_t a)
{
    cluster.switched[a]++;
    switch_to(a, true);
}

static void do_off(uint32_t a)
{
    switch_to(a, false);
}

static void do_fail(uint32_t a)
{
    set_node(a, true);
}

static void do_recover(uint32_t a)
{
    set_node(a, false);
}

static void do_cut(uint32_t a)
{
    set_quota(a, true);
}

static void do_raise(uint32_t a)
{
    set_quota(a, false);
}

static void do_start(uint32_t a)
{
    (void)a;
    set_stop(0);
}

static void do_hold(uint32_t a)
{
    (void)a;
    set_stop(1);
}

static void do_drain(uint32_t a)
{
    (void)a;
    set_stop(2);
}

static void do_drop_queue(uint32_t a)
{
    (void)a;
    cluster_drop_queue();
}

static void do_make_queue(uint32_t a)
{
    (void)a;
    cluster.dropped = false;
    cluster_tell_queues();
}

static void do_drop_check(uint32_t a)
{
    (void)a;
    cluster.unchecked = true;
    cluster_tell_queues();
}

static void do_scale(uint32_t a)
{
    struct sl_error e = {0};
    static const char one[] = "[{\"name\":\"main\",\"count\":1}]";
    struct sl_json *o = cluster_copy(a);
    sl_json_set(sl_json_path_make(o, "status"), "reclaimablePods",
                sl_json_parse(one, sizeof one - 1, &e));
    cluster_put(a, o);
}

/* As the last leader's request that was long on its way. */
static void do_foreign(uint32_t a)
{
    char text[256];
    struct sl_error e = {0};
    struct sl_json *o = cluster_copy(a);
    struct sl_json *status = sl_json_path_make(o, "status");
    int n =
        snprintf(text, sizeof text,
                 "{\"clusterQueue\":\"cq%c\",\"podSetAssignments\":[{\"name\":\"main\",\"count\":1,"
                 "\"flavors\":{\"cpu\":\"f\"},\"resourceUsage\":{\"cpu\":\"1\"}}]}",
                 cluster.world->workloads[a].queue);
    sl_json_set(status, "admission", sl_json_parse(text, (size_t)n, &e));
    (void)sl_condition_set(status, "QuotaReserved", true, "QuotaReserved", "",
                           sl_object_generation(o), cluster.now_ms);
    (void)sl_condition_set(status, "Admitted", true, "Admitted", "", sl_object_generation(o),
                           cluster.now_ms);
    cluster_put(a, o);
}

static void do_restart(uint32_t a)
{
    (void)a;
    cluster_restart();
}

/* --- the table ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t count, may;
    bool trouble;
    void (*happen)(uint32_t a);
} kinds[] = {
#define EVENT(name, count, may, when, trouble) {#name, count, may, trouble, do_##name},
#include "tests/explore/events.def"
#undef EVENT
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool holds(uint32_t kind, uint32_t a)
{
    uint32_t number = 0;
    (void)a;
#define EVENT(name, count, may, when, trouble)                                                     \
    if (kind == number++) {                                                                        \
        return when;                                                                               \
    }
#include "tests/explore/events.def"
#undef EVENT
    return false;
}

bool event_can(struct event e)
{
    return e.kind < KINDS && e.a < kinds[e.kind].count &&
           (kinds[e.kind].may == 0 || (cluster.world->may & kinds[e.kind].may) != 0) &&
           (!kinds[e.kind].trouble || cluster.troubles > 0) && holds(e.kind, e.a);
}

bool event_next(struct event *e)
{
    uint32_t kind = e->kind == UINT8_MAX ? 0 : e->kind;
    uint32_t a = e->kind == UINT8_MAX ? 0 : e->a + 1u;
    for (; kind < KINDS; kind++, a = 0) {
        for (; a < kinds[kind].count; a++) {
            *e = (struct event){(uint8_t)kind, (uint8_t)a};
            if (event_can(*e)) {
                return true;
            }
        }
    }
    return false;
}

void event_happen(struct event e)
{
    cluster.troubles -= kinds[e.kind].trouble ? 1 : 0;
    kinds[e.kind].happen(e.a);
    cluster.waited = is_under_way() ? cluster.waited : 0;
}

bool event_is_cycle(struct event e)
{
    return e.kind == 0;
}

void event_name(struct event e, char *out, size_t size)
{
    if (kinds[e.kind].count > 1) {
        (void)snprintf(out, size, "%s:%u", kinds[e.kind].name, e.a);
    } else {
        (void)snprintf(out, size, "%s", kinds[e.kind].name);
    }
}

bool event_read(const char *text, struct event *out)
{
    size_t length = strcspn(text, ": ");
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        if (strlen(kinds[kind].name) == length && strncmp(kinds[kind].name, text, length) == 0) {
            uint32_t a = text[length] == ':' ? (uint32_t)strtoul(text + length + 1, NULL, 10) : 0;
            *out = (struct event){(uint8_t)kind, (uint8_t)a};
            return a < kinds[kind].count;
        }
    }
    return false;
}
