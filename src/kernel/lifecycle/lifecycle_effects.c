/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Admission checks, the resets of the table, and the Requeued condition. */
#include "kernel/lifecycle/lifecycle_effects.h"

/*@
  requires ready:     id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id) && sl_workloads[id].check_count < SL_CHECKS_MAX;
  requires new:       !HasCheck(id, check);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[id].check_count,
                      sl_workloads[id].checks[sl_workloads[id].check_count];
  ensures  checks:    ChecksValid(id);
  ensures  added:     HasCheck(id, check) && !ChecksReady(id);
  ensures  last:      CheckAdded{Pre,Post}(id, check);
*/
static void add_check(sl_workload_id id, sl_check_id check)
{
    uint32_t i = sl_workloads[id].check_count;
    sl_workloads[id].checks[i].check = check;
    sl_workloads[id].checks[i].state = SL_CHECK_PENDING;
    sl_workloads[id].checks[i].retry_count = 0;
    sl_workloads[id].checks[i].retry_after_ms = 0;
    sl_workloads[id].check_count = i + 1;
    /*@ assert last: sl_workloads[id].checks[sl_workloads[id].check_count - 1].check == check; */
    /*@ assert pending: sl_workloads[id].checks[sl_workloads[id].check_count - 1].state == SL_CHECK_PENDING; */
    /*@ assert fresh: sl_workloads[id].checks[sl_workloads[id].check_count - 1].retry_count == 0 &&
        sl_workloads[id].checks[sl_workloads[id].check_count - 1].retry_after_ms == 0; */
}

/* The last check takes the place of the dropped one: their order means nothing here. */
/*@
  requires ready:     id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id);
  requires has:       HasCheck(id, check);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[id].check_count,
                      sl_workloads[id].checks[0 .. SL_CHECKS_MAX - 1];
  ensures  checks:    ChecksValid(id);
  ensures  dropped:   !HasCheck(id, check) && CheckDropped{Pre,Post}(id, check);
  ensures  ready:     ChecksReady(id) <==> OthersReady{Pre}(id, check);
*/
static void drop_check(sl_workload_id id, sl_check_id check)
{
    uint32_t i = sl_guard_find_check(id, check);
    uint32_t last = sl_workloads[id].check_count - 1;
    sl_workloads[id].checks[i].check = sl_workloads[id].checks[last].check;
    sl_workloads[id].checks[i].state = sl_workloads[id].checks[last].state;
    sl_workloads[id].checks[i].retry_count = sl_workloads[id].checks[last].retry_count;
    sl_workloads[id].checks[i].retry_after_ms = sl_workloads[id].checks[last].retry_after_ms;
    sl_workloads[id].check_count = last;
}

/*@
  requires ready:     id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id);
  requires has:       HasCheck(id, check);
  requires state:     0 <= state <= SL_CHECK_REJECTED && TimeValid(retry_after_ms);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[id].checks[0 .. SL_CHECKS_MAX - 1];
  ensures  checks:    ChecksValid(id);
  ensures  reported:  CheckReported{Pre,Post}(id, check, state, retry_after_ms);
  ensures  ready:     ChecksReady(id) <==>
                        state == SL_CHECK_READY && OthersReady{Pre}(id, check);
*/
static void report_check(sl_workload_id id, sl_check_id check, enum sl_check_state state,
                         int64_t retry_after_ms)
{
    uint32_t i = sl_guard_find_check(id, check);
    sl_workloads[id].checks[i].state = state;
    sl_workloads[id].checks[i].retry_after_ms = retry_after_ms;
}

void sl_lifecycle_note_checks(struct sl_event ev)
{
    if (ev.kind == SL_EV_CHECK_ADD) {
        add_check(ev.workload, ev.index);
    } else if (ev.kind == SL_EV_CHECK_DROP) {
        drop_check(ev.workload, ev.index);
    } else if (ev.kind == SL_EV_CHECK_STATE) {
        report_check(ev.workload, ev.index, (enum sl_check_state)ev.reason, ev.value);
    }
}

/* Checks start again; one that asked to retry has one more try behind it. */
/*@
  requires ready:     id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[id].checks[0 .. SL_CHECKS_MAX - 1];
  ensures  reset:     ChecksReset{Pre,Post}(id);
*/
static void reset_checks(sl_workload_id id)
{
    /*@
      loop invariant range: 0 <= i <= sl_workloads[id].check_count;
      loop invariant done:  \forall integer j; 0 <= j < i ==>
        sl_workloads[id].checks[j].check == \at(sl_workloads[id].checks[j].check, Pre) &&
        sl_workloads[id].checks[j].state == SL_CHECK_PENDING &&
        sl_workloads[id].checks[j].retry_after_ms ==
          \at(sl_workloads[id].checks[j].retry_after_ms, Pre) &&
        sl_workloads[id].checks[j].retry_count ==
          (\at(sl_workloads[id].checks[j].state, Pre) == SL_CHECK_RETRY ?
             \min(\at(sl_workloads[id].checks[j].retry_count, Pre) + 1, UINT32_MAX) :
             \at(sl_workloads[id].checks[j].retry_count, Pre));
      loop invariant rest:  \forall integer j; i <= j < SL_CHECKS_MAX ==>
        sl_workloads[id].checks[j] == \at(sl_workloads[id].checks[j], Pre);
      loop assigns   i, sl_workloads[id].checks[0 .. SL_CHECKS_MAX - 1];
      loop variant   sl_workloads[id].check_count - i;
    */
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        if (sl_workloads[id].checks[i].state == SL_CHECK_RETRY &&
            sl_workloads[id].checks[i].retry_count < UINT32_MAX) {
            sl_workloads[id].checks[i].retry_count++;
        }
        sl_workloads[id].checks[i].state = SL_CHECK_PENDING;
    }
}

void sl_lifecycle_evict(struct sl_event ev, enum sl_evict_reason reason)
{
    sl_workload_id id = ev.workload;
    sl_workloads[id].evicted = reason;
    sl_workloads[id].evicted_at_ms = ev.now_ms;
    if (sl_workloads[id].eviction_count < UINT32_MAX) {
        sl_workloads[id].eviction_count++;
    }
    sl_workloads[id].unhealthy_count = 0;
    reset_checks(id);
}

void sl_lifecycle_reserve(struct sl_event ev)
{
    sl_workload_id id = ev.workload;
    sl_workloads[id].has_admission = true;
    sl_workloads[id].reserved_at_ms = ev.now_ms;
    sl_workloads[id].evicted = SL_EVICT_NONE;
    sl_workloads[id].evicted_at_ms = SL_NEVER;
    sl_workloads[id].preempted = SL_PREEMPT_NONE;
    sl_workloads[id].unhealthy_count = 0;
}

/* Whole seconds of the admission that ends, none when the time limit itself ended it. */
/*@
  requires ready:     id < SL_WORKLOADS_MAX && TimeValid(now_ms);
  requires times:     TimesValid(id);
  requires admitted:  sl_workloads[id].was_admitted == 1 ==>
                        sl_workloads[id].admitted_at_ms != SL_NEVER;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == RunTime(id, now_ms);
  ensures  range:     TimeValid(\result);
*/
static int64_t run_time_ms(sl_workload_id id, int64_t now_ms)
{
    if (!sl_workloads[id].was_admitted || now_ms < sl_workloads[id].admitted_at_ms ||
        sl_workloads[id].deactivation == SL_CAUSE_EXECUTION_TIME) {
        return 0;
    }
    return (now_ms - sl_workloads[id].admitted_at_ms) / 1000 * 1000;
}

void sl_lifecycle_release(struct sl_event ev, bool counted)
{
    sl_workload_id id = ev.workload;
    int64_t more_ms = counted ? run_time_ms(id, ev.now_ms) : 0;
    if (sl_workloads[id].accumulated_ms > SL_TIME_MAX - more_ms) {
        sl_workloads[id].accumulated_ms = SL_TIME_MAX;
    } else {
        sl_workloads[id].accumulated_ms += more_ms;
    }
    sl_workloads[id].has_admission = false;
    sl_workloads[id].was_admitted = false;
    sl_workloads[id].topology_pending = false;
    sl_workloads[id].unhealthy_count = 0;
    sl_workloads[id].reserved_at_ms = SL_NEVER;
    sl_workloads[id].admitted_at_ms = SL_NEVER;
    sl_workloads[id].pods_ready = SL_PODS_UNKNOWN;
    sl_workloads[id].pods_ready_at_ms = SL_NEVER;
}

void sl_lifecycle_create(struct sl_event ev)
{
    sl_workload_id id = ev.workload;
    sl_workloads[id].active = true;
    sl_workloads[id].on_hold = false;
    sl_workloads[id].gated = false;
    sl_workloads[id].has_admission = false;
    sl_workloads[id].was_admitted = false;
    sl_workloads[id].topology_pending = false;
    sl_workloads[id].pending_reason = SL_PENDING_EVALUATION;
    sl_workloads[id].evicted = SL_EVICT_NONE;
    sl_workloads[id].preempted = SL_PREEMPT_NONE;
    sl_workloads[id].deactivation = SL_CAUSE_NONE;
    sl_workloads[id].finished = SL_FINISH_NONE;
    sl_workloads[id].requeued = SL_REQUEUED_UNSET;
    sl_workloads[id].requeue_reason = SL_REQUEUE_NONE;
    sl_workloads[id].pods_ready = SL_PODS_UNKNOWN;
    sl_workloads[id].requeue_count = 0;
    sl_workloads[id].requeue_at_ms = SL_NEVER;
    sl_workloads[id].reserved_at_ms = SL_NEVER;
    sl_workloads[id].admitted_at_ms = SL_NEVER;
    sl_workloads[id].evicted_at_ms = SL_NEVER;
    sl_workloads[id].pods_ready_at_ms = SL_NEVER;
    sl_workloads[id].accumulated_ms = 0;
    sl_workloads[id].execution_ms_max = ev.value;
    sl_workloads[id].eviction_count = 0;
    sl_workloads[id].check_count = 0;
    sl_workloads[id].unhealthy_count = 0;
}

/*@
  requires ready:     id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[id].requeued, sl_workloads[id].requeue_reason;
  ensures  again:     QueuedAgain(id, reason);
*/
static void queue_again(sl_workload_id id, enum sl_requeue_reason reason)
{
    sl_workloads[id].requeued = SL_REQUEUED_TRUE;
    sl_workloads[id].requeue_reason = reason;
}

/* Preempted workloads and those whose nodes failed are queued at once, unless a single pod stood alone; so are those that made
 * way for another variant, which may fail to take their place. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].requeued, sl_workloads[ev.workload].requeue_reason;
  ensures  after:     RequeuedAfter{Pre,Post}(ev, SL_REQUEUING_BY_REASON);
*/
static void requeue_by_reason(struct sl_event ev)
{
    sl_workload_id id = ev.workload;
    if (ev.index == 0 && sl_workloads[id].evicted == SL_EVICT_PREEMPTED) {
        queue_again(id, SL_REQUEUE_PREEMPTED);
    } else if (ev.index == 0 && sl_workloads[id].evicted == SL_EVICT_NODE_FAILURES) {
        queue_again(id, SL_REQUEUE_NODE_FAILURES);
    } else if (sl_workloads[id].evicted == SL_EVICT_FLAVOR_MIGRATION) {
        queue_again(id, SL_REQUEUE_FLAVOR_MIGRATION);
    } else {
        sl_workloads[id].requeued = SL_REQUEUED_FALSE;
        sl_workloads[id].requeue_reason = SL_REQUEUE_NONE;
    }
}

void sl_lifecycle_requeue(struct sl_event ev, enum sl_requeue_effect effect)
{
    switch (effect) {
    case SL_REQUEUING_KEEP:
        break;
    case SL_REQUEUING_BY_REASON:
        requeue_by_reason(ev);
        break;
    case SL_REQUEUING_REACTIVATED:
        if (sl_workloads[ev.workload].requeued == SL_REQUEUED_FALSE) {
            queue_again(ev.workload, SL_REQUEUE_REACTIVATED);
        }
        break;
    case SL_REQUEUING_BACKOFF:
        queue_again(ev.workload, SL_REQUEUE_BACKOFF_FINISHED);
        break;
    case SL_REQUEUING_RESTARTED:
        queue_again(ev.workload, ev.reason == SL_EVICT_CLUSTER_QUEUE_STOPPED
                                     ? SL_REQUEUE_CLUSTER_QUEUE_RESTARTED
                                     : SL_REQUEUE_LOCAL_QUEUE_RESTARTED);
        break;
    }
}
