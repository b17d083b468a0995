/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What follows from a change of a workload's record: it is counted elsewhere, its timer is armed,
 * and what the API has to be told becomes a decision. Nothing here touches the core. */
#ifndef SL_ENGINE_FOLLOW_H
#define SL_ENGINE_FOLLOW_H
#include "engine/engine.h"
#include "kernel/types.h"

/* The parts of a record whose change is somebody's business. */
struct sl_look {
    enum sl_phase phase;
    bool active;
    uint32_t generation;
    enum sl_pending_reason pending_reason;
    enum sl_evict_reason evicted;
    enum sl_requeued requeued;
    enum sl_cause deactivation;
    enum sl_pods_ready pods_ready;
    uint32_t check_count;
    bool check_objects;   /* it waits, and is not considered */
    bool waits_for_place; /* reserved, all checks ready, and its topology is still pending */
    uint32_t unhealthy_count;
    sl_host_id unhealthy[SL_UNHEALTHY_MAX];
};
struct sl_look sl_follow_look(sl_workload_id id);
void sl_follow(struct sl_engine *g, sl_workload_id id, const struct sl_look *before,
               int64_t now_ms);
/* The same for each call that moves a record. */
struct sl_call_watcher;
extern const struct sl_call_watcher sl_follow_watcher;
/* A cycle, and what follows from each of its outcomes. */
void sl_follow_cycle(struct sl_engine *g, bool all_heads, int64_t now_ms);

/* --- decisions -------------------------------------------------------------------------------- */
void sl_decide(struct sl_engine *g, sl_workload_id id, enum sl_decision_kind kind, int64_t now_ms);

/* --- tallies.c -------------------------------------------------------------------------------- */
struct sl_tally;
/* How much is used of one flavor and resource; NULL: nothing ever was. */
struct sl_usage *sl_tally_find(const struct sl_tally *t, sl_flavor_id flavor,
                               sl_resource_id resource);
/* Count the workload where it now belongs, and no longer where it was. */
void sl_tally_update(struct sl_engine *g, sl_workload_id id);
struct sl_local_queue;
/* Let it name another LocalQueue. */
void sl_tally_move(struct sl_engine *g, sl_workload_id id, struct sl_local_queue *to);
/* So many pods of that pod set of a holder have ended for good. */
void sl_tally_reclaim(struct sl_engine *g, sl_workload_id id, uint32_t pod_set, int64_t gone);
void sl_touch_node(struct sl_engine *g, sl_node_id node);
/* Some quota has changed: each that holds something may hold more than it may now. */
void sl_touch_holders(struct sl_engine *g);
void sl_touch_queue(struct sl_engine *g, struct sl_local_queue *q);
#endif
