/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Guards of reservation, queueing, eviction from outside, deactivation, requeuing and the end. Phases are the
 * table's business: a guard looks at the event's fields and at what the record says beside its phase. */
#include "kernel/lifecycle/lifecycle_guard.h"

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> 0 <= t <= SL_TIME_MAX;
*/
static bool time_valid(int64_t t)
{
    return t >= 0 && t <= SL_TIME_MAX;
}

/* A check that asks to retry or has rejected stands against any reservation. */
/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> CheckObjects(id);
*/
static bool check_objects(sl_workload_id id)
{
    /*@
      loop invariant range: 0 <= i <= sl_workloads[id].check_count;
      loop invariant none:  \forall integer j; 0 <= j < i ==>
        sl_workloads[id].checks[j].state < SL_CHECK_RETRY;
      loop assigns   i;
      loop variant   sl_workloads[id].check_count - i;
    */
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        if (sl_workloads[id].checks[i].state >= SL_CHECK_RETRY) {
            return true;
        }
    }
    return false;
}

struct sl_verdict sl_guard_reserve(struct sl_event ev)
{
    sl_workload_id id = ev.workload;
    if (ev.index > 1) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (sl_workloads[id].phase != SL_PHASE_PENDING) {
        return sl_guard_refuse(SL_REFUSED_TRANSITION);
    }
    if (!sl_workloads[id].active) {
        return sl_guard_refuse(SL_REFUSED_INACTIVE);
    }
    if (!sl_lifecycle_admissible(id) || sl_workloads[id].requeued == SL_REQUEUED_FALSE ||
        sl_workloads[id].requeue_at_ms > ev.now_ms || check_objects(id)) {
        return sl_guard_refuse(SL_REFUSED_NOT_ADMISSIBLE);
    }
    if (ev.index == 0 && sl_guard_checks_ready(id)) {
        return sl_guard_step(SL_STEP_RESERVE_ADMIT, SL_EVICT_NONE);
    }
    return sl_guard_step(SL_STEP_RESERVE, SL_EVICT_NONE);
}

struct sl_verdict sl_guard_refused_plan(struct sl_event ev)
{
    if (ev.reason >= SL_PENDING_REASONS) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (!sl_workloads[ev.workload].active) {
        return sl_guard_refuse(SL_REFUSED_INACTIVE);
    }
    if (sl_workloads[ev.workload].gated || sl_workloads[ev.workload].on_hold) {
        return sl_guard_refuse(SL_REFUSED_NOT_ADMISSIBLE);
    }
    return sl_guard_step(SL_STEP_REFUSE, SL_EVICT_NONE);
}

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==>
    reason == SL_EVICT_CLUSTER_QUEUE_STOPPED || reason == SL_EVICT_LOCAL_QUEUE_STOPPED;
*/
static bool stops_queue(uint32_t reason)
{
    return reason == SL_EVICT_CLUSTER_QUEUE_STOPPED || reason == SL_EVICT_LOCAL_QUEUE_STOPPED;
}

struct sl_verdict sl_guard_drain(struct sl_event ev)
{
    if (!stops_queue(ev.reason)) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    return sl_guard_step(SL_STEP_DRAIN, (enum sl_evict_reason)ev.reason);
}

struct sl_verdict sl_guard_queue_unusable(struct sl_event ev)
{
    if (ev.reason != SL_PENDING_SUSPENDED && ev.reason != SL_PENDING_MISCONFIGURED) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    return sl_guard_step(SL_STEP_QUEUE_UNUSABLE, SL_EVICT_NONE);
}

struct sl_verdict sl_guard_queue_restarted(struct sl_event ev)
{
    if (!stops_queue(ev.reason)) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (sl_workloads[ev.workload].requeued != SL_REQUEUED_FALSE ||
        sl_workloads[ev.workload].evicted != (enum sl_evict_reason)ev.reason) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    return sl_guard_step(SL_STEP_QUEUE_RESTARTED, SL_EVICT_NONE);
}

struct sl_verdict sl_guard_preempt(struct sl_event ev)
{
    if (ev.reason == SL_PREEMPT_NONE || ev.reason >= SL_PREEMPT_REASONS) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    return sl_guard_step(SL_STEP_PREEMPT, ev.reason == SL_PREEMPT_FLAVOR_MIGRATION
                                              ? SL_EVICT_FLAVOR_MIGRATION
                                              : SL_EVICT_PREEMPTED);
}

struct sl_verdict sl_guard_job_stopped(struct sl_event ev)
{
    if (ev.index > 1) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    return sl_guard_step(SL_STEP_STOPPED, SL_EVICT_NONE);
}

/* Deactivation evicts, unless an earlier eviction already does or did so. */
struct sl_verdict sl_guard_deactivate(struct sl_event ev)
{
    if (!sl_workloads[ev.workload].active) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    if (sl_workloads[ev.workload].evicted != SL_EVICT_NONE) {
        return sl_guard_step(SL_STEP_SWITCH_OFF, SL_EVICT_NONE);
    }
    return sl_guard_step(SL_STEP_DEACTIVATE, SL_EVICT_DEACTIVATED);
}

struct sl_verdict sl_guard_backoff_over(struct sl_event ev)
{
    sl_workload_id id = ev.workload;
    if (!sl_workloads[id].active) {
        return sl_guard_refuse(SL_REFUSED_INACTIVE);
    }
    if (sl_workloads[id].requeue_at_ms > ev.now_ms) {
        return sl_guard_refuse(SL_REFUSED_NOT_ADMISSIBLE);
    }
    if (sl_workloads[id].requeued == SL_REQUEUED_FALSE &&
        (sl_workloads[id].evicted == SL_EVICT_PODS_READY_TIMEOUT ||
         sl_workloads[id].evicted == SL_EVICT_ADMISSION_CHECK)) {
        return sl_guard_step(SL_STEP_BACKOFF_OVER, SL_EVICT_NONE);
    }
    if (sl_workloads[id].requeue_at_ms == SL_NEVER) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    return sl_guard_step(SL_STEP_BACKOFF_PASSED, SL_EVICT_NONE);
}

struct sl_verdict sl_guard_finish(struct sl_event ev)
{
    if (ev.reason == SL_FINISH_NONE || ev.reason >= SL_FINISH_REASONS) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    return sl_guard_step(SL_STEP_FINISH, SL_EVICT_NONE);
}

struct sl_verdict sl_guard_restore_requeue(struct sl_event ev)
{
    sl_workload_id id = ev.workload;
    if (ev.value != SL_NEVER && !time_valid(ev.value)) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (!sl_workloads[id].active) {
        return sl_guard_refuse(SL_REFUSED_INACTIVE);
    }
    if (sl_workloads[id].eviction_count != 0 || sl_workloads[id].requeue_count != 0 ||
        sl_workloads[id].requeue_at_ms != SL_NEVER) {
        return sl_guard_refuse(SL_REFUSED_TRANSITION);
    }
    return sl_guard_step(SL_STEP_RESTORE, SL_EVICT_NONE);
}

/* On a pending workload history is noted; on one with a restored reservation it is the eviction itself.
 * A deactivation is not restored so: SL_EV_DEACTIVATE says it. */
struct sl_verdict sl_guard_restore_evicted(struct sl_event ev)
{
    sl_workload_id id = ev.workload;
    if (ev.reason >= SL_EVICT_REASONS || ev.index > SL_REQUEUED_FALSE || !time_valid(ev.value)) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (sl_workloads[id].eviction_count != 0 || sl_workloads[id].evicted != SL_EVICT_NONE) {
        return sl_guard_refuse(SL_REFUSED_TRANSITION);
    }
    if (sl_workloads[id].phase == SL_PHASE_PENDING) {
        return sl_guard_step(SL_STEP_RESTORE, SL_EVICT_NONE);
    }
    if (ev.reason == SL_EVICT_NONE || ev.reason == SL_EVICT_DEACTIVATED) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    return sl_guard_step(SL_STEP_RESTORE_EVICT, (enum sl_evict_reason)ev.reason);
}
