/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A door is entered with a copy of the record; what it did is read from the two. */
#include "kernel/commit/transition.h"
#include "kernel/lifecycle/lifecycle.h"

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == 1 <==> RecordObjects(w);
*/
static bool objects(struct sl_workload w)
{
    /*@
      loop invariant range: 0 <= i <= SL_CHECKS_MAX;
      loop invariant none:  \forall integer j; 0 <= j < i && j < w.check_count ==>
                              w.checks[j].state < SL_CHECK_RETRY;
      loop assigns          i;
      loop variant          SL_CHECKS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_CHECKS_MAX; i++) {
        if (i < w.check_count && w.checks[i].state >= SL_CHECK_RETRY) {
            return true;
        }
    }
    return false;
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == 1 <==> RecordWaits(w);
*/
static bool waits(struct sl_workload w)
{
    if (w.phase != SL_PHASE_QUOTA_RESERVED || !w.topology_pending) {
        return false;
    }
    /*@
      loop invariant range: 0 <= i <= SL_CHECKS_MAX;
      loop invariant ready: \forall integer j; 0 <= j < i && j < w.check_count ==>
                              w.checks[j].state == SL_CHECK_READY;
      loop assigns          i;
      loop variant          SL_CHECKS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_CHECKS_MAX; i++) {
        if (i < w.check_count && w.checks[i].state != SL_CHECK_READY) {
            return false;
        }
    }
    return true;
}

/* A record before its door: that of a slot that there is not is as good as any. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  record:     id < SL_WORKLOADS_MAX ==> \result == sl_workloads[id];
*/
static struct sl_workload record(sl_workload_id id)
{
    return sl_workloads[id < SL_WORKLOADS_MAX ? id : 0];
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  status:     \result.status == status;
  ensures  phases:     \result.from == b.phase && \result.to == w.phase;
  ensures  news:       NewsTold(\result, b, w);
*/
static struct sl_transition between(enum sl_status status, struct sl_workload b,
                                    struct sl_workload w)
{
    struct sl_transition t;
    t.status = status;
    t.from = b.phase;
    t.to = w.phase;
    t.news[SL_CHANGED_EVICTION] = w.evicted != SL_EVICT_NONE && b.evicted != w.evicted;
    t.news[SL_CHANGED_REQUEUE] = w.requeued == SL_REQUEUED_TRUE && b.requeued != SL_REQUEUED_TRUE;
    t.news[SL_CHANGED_REASON] = b.pending_reason != w.pending_reason;
    t.news[SL_CHANGED_OBJECTION] = w.phase == SL_PHASE_PENDING &&
                                   w.pending_reason == SL_PENDING_EVALUATION &&
                                   objects(b) != objects(w);
    t.news[SL_CHANGED_CHECKS] = b.check_count != w.check_count;
    t.news[SL_CHANGED_NODES] = b.unhealthy_count != w.unhealthy_count;
    t.news[SL_CHANGED_WAIT] = waits(w) && !waits(b);
    t.news[SL_CHANGED_TARGET] =
        w.active && w.deactivation != SL_CAUSE_NONE && b.deactivation == SL_CAUSE_NONE;
    t.news[SL_CHANGED_START] = w.pods_ready == SL_PODS_STARTED && b.pods_ready != SL_PODS_STARTED;
    return t;
}

struct sl_transition sl_transition_event(struct sl_event ev)
{
    struct sl_workload before = record(ev.workload);
    enum sl_status status = sl_placement_event(ev);
    return between(status, before, record(ev.workload));
}

struct sl_transition sl_transition_commit(void)
{
    struct sl_workload before = record(sl_plan.workload);
    enum sl_status status = sl_placement_commit();
    return between(status, before, record(sl_plan.workload));
}

struct sl_transition sl_transition_restore(void)
{
    struct sl_workload before = record(sl_plan.workload);
    enum sl_status status = sl_placement_restore();
    return between(status, before, record(sl_plan.workload));
}

struct sl_transition sl_transition_second_pass(uint32_t generation, int64_t now_ms)
{
    struct sl_workload before = record(sl_topology_plan.workload);
    enum sl_status status = sl_placement_second_pass(generation, now_ms);
    return between(status, before, record(sl_topology_plan.workload));
}

struct sl_replacement sl_transition_replace(sl_workload_id old, uint32_t generation)
{
    struct sl_workload in = record(sl_plan.workload);
    struct sl_workload out = record(old);
    struct sl_replacement r;
    enum sl_status status = sl_placement_take_over(old, generation);
    r.in = between(status, in, record(sl_plan.workload));
    r.out = between(status, out, record(old));
    return r;
}
