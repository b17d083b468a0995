/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What follows from a change of a workload's record: the counts change, its timer is armed, and
 * what has to be written to the API becomes a decision. Nothing here changes the core. */
#ifndef SL_ENGINE_FOLLOW_H
#define SL_ENGINE_FOLLOW_H
#include "engine/engine.h"
#include "kernel/base/types.h"

/* The parts of a record whose change has consequences. */
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
#endif
