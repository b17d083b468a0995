/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "tests/explore/rest.h"
#include "engine/conditions/mirror.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/guarantees/guarantees.h"
#include "policy/queues/queues.h"
#include "tests/explore/cluster.h"
#include "tests/explore/core.h"
#include <string.h>

enum { CYCLES_MAX = 100 };

static const struct {
    unsigned guarantee;
    const char *text;
} rules[SL_RULE_COUNT] = {
#define SL_RULE(constant, guarantee, kind, text) [constant] = {guarantee, text},
#include "policy/guarantees/guarantee_rules.def"
#undef SL_RULE
};

/* Its object says all that was decided about it. */
static bool is_written(uint32_t w)
{
    return !cluster.flights[w].used && !core_is_decided(cluster.engine, w);
}

/* G3, in what the API shows: jobs run whose Workloads say so, and no more of them than there is quota for. One that was
 * deactivated gives its quota up at once, and its job stops later (docs/guarantees.md, G6). */
static void check_shown(void)
{
    int shown = 0;
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        bool runs = is_written(w) && cluster_says(w, "QuotaReserved") &&
                    !cluster_says(w, "Finished") && !cluster_says(w, "Evicted") &&
                    sl_json_path_bool(cluster.workloads[w], "spec.active", true);
        shown += runs ? cluster.world->workloads[w].pods : 0;
    }
    if ((cluster.world->may & (MAY_CUT | MAY_DROP_QUEUE | MAY_BE_TAKEN_OVER)) == 0 &&
        shown > cluster.world->quota * cluster_queue_count()) {
        broken("G3: objects say that %d pods may run, and there is quota for less", shown);
    }
}

/* G9: a pass is of the workload that it was armed for. */
static void check_passes(void)
{
    for (uint32_t i = 0; i < sl_second_pass_count(); i++) {
        sl_workload_id id = sl_second_pass_at(i);
        if (sl_second_passes[i].generation != sl_workloads[id].generation ||
            sl_workloads[id].phase == SL_PHASE_ABSENT) {
            broken("G9: a second pass is armed for a workload that is gone: %u", id);
        }
    }
}

/* G9: whoever is in line is so in a queue that is there. */
static void check_lines(void)
{
    for (sl_workload_id id = 0; id < cluster.engine->workload_cap; id++) {
        sl_qnode_id queue = sl_queues_queue_of(id);
        const struct sl_qnode_entry *n =
            queue < cluster.engine->qnode_cap ? cluster.engine->qnodes[queue] : NULL;
        enum sl_place place = sl_place_of(id);
        if ((place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE) &&
            (n == NULL || !n->exists)) {
            broken("G9: workload %u is in line in a queue that is gone", id);
        }
    }
}

void check_step(bool decided)
{
    const char *what = NULL;
    struct sl_finding f = sl_guarantees_step(cluster.engine->workload_cap, decided);
    if (f.rule != SL_RULE_NONE) {
        broken("G%u: %s: %u", rules[f.rule].guarantee, rules[f.rule].text, f.object);
    }
    if (!sl_engine_valid(cluster.engine, &what)) {
        broken("%s", what);
    }
    check_shown();
    check_passes();
    check_lines();
}

bool is_at_rest(void)
{
    bool busy = cluster_cycle_is_due() || core_next_decision(cluster.engine) != NULL;
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        busy = busy || cluster.flights[w].used || cluster_is_untold(w);
    }
    return !busy;
}

static bool anybody_evicted(void)
{
    bool found = false;
    for (sl_workload_id id = 0; id < cluster.engine->workload_cap; id++) {
        found = found || sl_workloads[id].phase == SL_PHASE_EVICTED;
    }
    return found;
}

static bool check_stands_in_the_way(uint32_t w)
{
    const struct sl_json *check =
        sl_json_at(sl_json_path(cluster.workloads[w], "status.admissionChecks"), 0);
    return strcmp(sl_json_path_text(check, "state", "Pending"), "Rejected") == 0;
}

/* By its object it waits for quota, and its queue could give it some. */
static bool waits(uint32_t w)
{
    const struct world_workload *of = &cluster.world->workloads[w];
    bool pending = cluster.workloads[w] != NULL && !cluster_says(w, "Finished") &&
                   !cluster_says(w, "QuotaReserved") &&
                   sl_json_path_bool(cluster.workloads[w], "spec.active", true);
    bool open = of->queue == 'b' || (!cluster.dropped && cluster.stopped == 0);
    return pending && open && !cluster.cut[of->queue - 'a'] && of->pods <= cluster.world->quota &&
           !check_stands_in_the_way(w);
}

static bool nodes_are_up(void)
{
    bool up = true;
    for (uint32_t n = 0; n < WORLD_NODES; n++) {
        up = up && !cluster.node_down[n];
    }
    return up;
}

/* As the models have it (`no_lost_wake`): nobody holds quota, no timer is armed, and somebody waits who would fit. Then
 * it waits for ever. */
static void check_nobody_waits(void)
{
    bool held = sl_engine_due_ms(cluster.engine) != INT64_MAX || !nodes_are_up();
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        held = held || (cluster_says(w, "QuotaReserved") && !cluster_says(w, "Finished"));
    }
    for (uint32_t w = 0; w < WORLD_WORKLOADS && !held; w++) {
        if (waits(w)) {
            broken("G13: w%u waits for ever beside quota that nobody holds", w);
        }
    }
}

/* As the models have it (`never_lost`): it holds quota, its check is ready or not asked for, and it never gets its places. */
static void check_nobody_is_owed(void)
{
    bool waits_for_time = sl_engine_due_ms(cluster.engine) != INT64_MAX;
    for (uint32_t w = 0; w < WORLD_WORKLOADS && !waits_for_time; w++) {
        const struct sl_json *check =
            sl_json_at(sl_json_path(cluster.workloads[w], "status.admissionChecks"), 0);
        bool ready = check == NULL || strcmp(sl_json_path_text(check, "state", ""), "Ready") == 0;
        if (cluster_says(w, "QuotaReserved") && !cluster_says(w, "Admitted") &&
            !cluster_says(w, "Evicted") && !cluster_says(w, "Finished") && ready) {
            broken("G13: w%u holds quota, its check is ready, and it is never admitted", w);
        }
    }
}

void check_rest(void)
{
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        const char *trouble = cluster.workloads[w] == NULL
                                  ? NULL
                                  : sl_mirror_settled(cluster.engine, cluster.workloads[w]);
        if (trouble != NULL) {
            broken("%s", trouble);
        }
    }
    check_nobody_waits();
    check_nobody_is_owed();
}

void probe_rest(void)
{
    struct sl_engine_counters before, after;
    if (anybody_evicted()) {
        return; /* others may wait for its end */
    }
    sl_engine_count(cluster.engine, &before);
    core_wake_all(cluster.engine);
    for (uint32_t i = 0; i < CYCLES_MAX && cluster_cycle_is_due(); i++) {
        (void)sl_engine_cycle(cluster.engine, cluster.now_ms);
        if (anybody_evicted()) {
            break; /* whom preemption serves is not meant */
        }
    }
    sl_engine_count(cluster.engine, &after);
    if (after.reserved != before.reserved && !anybody_evicted()) {
        broken("G13: a wake-up was lost: at rest a fresh look at all queues serves somebody");
    }
}

/* --- restarts ----------------------------------------------------------------------------------- */

static void go_on(void)
{
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        if (cluster.flights[w].used) {
            cluster_answer(w, ARRIVES);
        }
        cluster_tell(w);
    }
    if (cluster_cycle_is_due()) {
        cluster_cycle();
    }
    if (cluster_can_send()) {
        cluster_send();
    }
}

/* A write that failed waits for its time. */
static bool is_to_be_written(void)
{
    bool found = false;
    for (sl_workload_id id = 0; id < cluster.engine->workload_cap; id++) {
        const struct sl_workload_entry *e = &cluster.engine->workloads[id];
        found = found || (e->uid != NULL && (e->rewrite || e->paused));
    }
    return found;
}

void probe_restart(void)
{
    bool reserved[WORLD_WORKLOADS];
    if (anybody_evicted() || is_to_be_written()) {
        return;
    }
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        reserved[w] = cluster_says(w, "QuotaReserved");
    }
    cluster_restart();
    for (uint32_t i = 0; i < CYCLES_MAX && !is_at_rest(); i++) {
        go_on();
    }
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        if (cluster_says(w, "QuotaReserved") != reserved[w] && !anybody_evicted()) {
            broken("G10: a restart at rest %s w%u", reserved[w] ? "takes the quota of" : "serves",
                   w);
        }
    }
}
