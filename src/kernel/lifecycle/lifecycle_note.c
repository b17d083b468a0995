/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The event's own news, group of fields by group of fields: each group has one function that may write it. */
#include "kernel/lifecycle/lifecycle_effects.h"

/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].active, sl_workloads[ev.workload].on_hold,
                      sl_workloads[ev.workload].gated;
  ensures  active:    sl_workloads[ev.workload].active == ActiveAfter{Pre}(ev);
  ensures  on_hold:   sl_workloads[ev.workload].on_hold == OnHoldAfter{Pre}(ev);
  ensures  gated:     sl_workloads[ev.workload].gated == GatedAfter{Pre}(ev);
*/
static void note_flags(struct sl_event ev)
{
    sl_workload_id id = ev.workload;
    if (ev.kind == SL_EV_DEACTIVATE || ev.kind == SL_EV_REACTIVATE) {
        sl_workloads[id].active = ev.kind == SL_EV_REACTIVATE;
    }
    if (ev.kind == SL_EV_HOLD || ev.kind == SL_EV_UNHOLD) {
        sl_workloads[id].on_hold = ev.kind == SL_EV_HOLD;
    }
    if (ev.kind == SL_EV_GATE || ev.kind == SL_EV_UNGATE) {
        sl_workloads[id].gated = ev.kind == SL_EV_GATE;
    }
}

/* Why a workload that nothing else is known about is pending. */
/*@
  requires ready:     id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  reason:    \result == IdleReason(id);
*/
static enum sl_pending_reason idle_reason(sl_workload_id id)
{
    if (!sl_workloads[id].active) {
        return SL_PENDING_DEACTIVATED;
    }
    if (sl_workloads[id].on_hold) {
        return SL_PENDING_ON_HOLD;
    }
    return sl_workloads[id].gated ? SL_PENDING_GATED : SL_PENDING_EVALUATION;
}

/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  requires bounds:    EventBounds(ev);
  requires before:    0 <= sl_workloads[ev.workload].pending_reason < SL_PENDING_REASONS;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].pending_reason;
  ensures  range:     0 <= sl_workloads[ev.workload].pending_reason < SL_PENDING_REASONS;
  ensures  noted:     PendingNoted{Pre,Post}(ev);
*/
static void note_pending_reason(struct sl_event ev)
{
    switch (ev.kind) {
    case SL_EV_REFUSE:
    case SL_EV_QUEUE_UNUSABLE:
        sl_workloads[ev.workload].pending_reason = (enum sl_pending_reason)ev.reason;
        break;
    case SL_EV_WRITE_FAILED:
    case SL_EV_JOB_STOPPED:
    case SL_EV_DEACTIVATE:
    case SL_EV_REACTIVATE:
    case SL_EV_HOLD:
    case SL_EV_UNHOLD:
    case SL_EV_GATE:
    case SL_EV_UNGATE:
    case SL_EV_QUEUE_MOVED:
        sl_workloads[ev.workload].pending_reason = idle_reason(ev.workload);
        break;
    default:
        break;
    }
}

/*@
  requires times:     TimeValid(a) && TimeValid(b);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == TimeSum(a, b);
*/
static int64_t time_sum(int64_t a, int64_t b)
{
    return a > SL_TIME_MAX - b ? SL_TIME_MAX : a + b;
}

/* Put off the next try, never nearer. */
/*@
  requires ready:     id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[id].requeue_at_ms;
  ensures  forward:   sl_workloads[id].requeue_at_ms == Forward{Pre}(id, t);
*/
static void put_off(sl_workload_id id, int64_t t)
{
    if (sl_workloads[id].requeue_at_ms <= t) {
        sl_workloads[id].requeue_at_ms = t;
    }
}

/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX && TimeValid(ev.now_ms);
  requires bounds:    EventBounds(ev);
  requires step:      step == SL_STEP_PODS_TIMEOUT ==> ev.kind == SL_EV_PODS_READY_TIMEOUT;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].requeue_count,
                      sl_workloads[ev.workload].requeue_at_ms;
  ensures  count:     sl_workloads[ev.workload].requeue_count == RequeueCountAfter{Pre}(ev, step);
  ensures  at:        sl_workloads[ev.workload].requeue_at_ms == RequeueAtAfter{Pre}(ev, step);
  ensures  time:      TimeOrNever(\old(sl_workloads[ev.workload].requeue_at_ms)) ==>
                        TimeOrNever(sl_workloads[ev.workload].requeue_at_ms);
*/
static void note_requeue_state(struct sl_event ev, enum sl_step step)
{
    sl_workload_id id = ev.workload;
    if (ev.kind == SL_EV_DEACTIVATE) {
        sl_workloads[id].requeue_count = 0;
        sl_workloads[id].requeue_at_ms = SL_NEVER;
    } else if (ev.kind == SL_EV_BACKOFF_OVER) {
        sl_workloads[id].requeue_at_ms = SL_NEVER;
    } else if (ev.kind == SL_EV_RESTORE_REQUEUE) {
        sl_workloads[id].requeue_count = ev.index;
        sl_workloads[id].requeue_at_ms = ev.value;
    } else if (step == SL_STEP_PODS_TIMEOUT) {
        uint32_t count = sl_workloads[id].requeue_count;
        put_off(id, time_sum(ev.now_ms, sl_requeue_ruled_delay_ms(count, ev.index)));
        sl_workloads[id].requeue_count = count < UINT32_MAX ? count + 1 : UINT32_MAX;
    } else if (ev.kind == SL_EV_CHECK_STATE && ev.reason == SL_CHECK_RETRY && ev.value > 0 &&
               sl_workloads[id].active) {
        put_off(id, time_sum(ev.now_ms, ev.value));
    }
}

/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  requires bounds:    EventBounds(ev);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].preempted, sl_workloads[ev.workload].finished,
                      sl_workloads[ev.workload].deactivation;
  ensures  preempted: sl_workloads[ev.workload].preempted == PreemptedAfter{Pre}(ev);
  ensures  finished:  sl_workloads[ev.workload].finished == FinishedAfter{Pre}(ev);
  ensures  target:    sl_workloads[ev.workload].deactivation == DeactivationAfter{Pre}(ev, step);
*/
static void note_marks(struct sl_event ev, enum sl_step step)
{
    sl_workload_id id = ev.workload;
    if (ev.kind == SL_EV_PREEMPT) {
        sl_workloads[id].preempted = ev.reason == SL_PREEMPT_FLAVOR_MIGRATION
                                         ? SL_PREEMPT_NONE
                                         : (enum sl_preempt_reason)ev.reason;
    }
    if (ev.kind == SL_EV_FINISH) {
        sl_workloads[id].finished = (enum sl_finish_reason)ev.reason;
    }
    if (ev.kind == SL_EV_REACTIVATE) {
        sl_workloads[id].deactivation = SL_CAUSE_NONE;
    } else if (step == SL_STEP_TARGET) {
        sl_workloads[id].deactivation = ev.kind == SL_EV_CHECK_STATE      ? SL_CAUSE_ADMISSION_CHECK
                                        : ev.kind == SL_EV_RESTORE_TARGET ? (enum sl_cause)ev.reason
                                        : ev.kind == SL_EV_PODS_READY_TIMEOUT
                                            ? SL_CAUSE_REQUEUING_LIMIT
                                            : SL_CAUSE_EXECUTION_TIME;
    }
}

/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX && TimeValid(ev.now_ms);
  requires before:    0 <= sl_workloads[ev.workload].pods_ready <= SL_PODS_RECOVERED;
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].pods_ready,
                      sl_workloads[ev.workload].pods_ready_at_ms;
  ensures  range:     0 <= sl_workloads[ev.workload].pods_ready <= SL_PODS_RECOVERED;
  ensures  noted:     PodsNoted{Pre,Post}(ev);
*/
static void note_pods(struct sl_event ev)
{
    if (ev.kind != SL_EV_PODS_READY) {
        return;
    }
    enum sl_pods_ready before = sl_workloads[ev.workload].pods_ready;
    bool first = before == SL_PODS_UNKNOWN || before == SL_PODS_WAIT_FOR_START;
    if (ev.index == 1) {
        sl_workloads[ev.workload].pods_ready = first ? SL_PODS_STARTED : SL_PODS_RECOVERED;
    } else {
        sl_workloads[ev.workload].pods_ready =
            first ? SL_PODS_WAIT_FOR_START : SL_PODS_WAIT_FOR_RECOVERY;
    }
    sl_workloads[ev.workload].pods_ready_at_ms = ev.now_ms;
}

/* A mark that goes leaves its place to the last one. */
/*@
  requires ready:     id < SL_WORKLOADS_MAX;
  requires count:     sl_workloads[id].unhealthy_count <= SL_UNHEALTHY_MAX;
  requires named:     NodeNamed(id, host);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[id].unhealthy_count,
                      sl_workloads[id].unhealthy[0 .. SL_UNHEALTHY_MAX - 1];
  ensures  fewer:     sl_workloads[id].unhealthy_count == \old(sl_workloads[id].unhealthy_count) - 1;
  ensures  others:    \forall integer h; h != host ==> (NodeNamed(id, h) <==> NodeNamed{Pre}(id, h));
*/
static void unmark_node(sl_workload_id id, sl_host_id host)
{
    uint32_t i = sl_guard_find_node(id, host);
    sl_workloads[id].unhealthy_count--;
    sl_workloads[id].unhealthy[i] = sl_workloads[id].unhealthy[sl_workloads[id].unhealthy_count];
}

/* Delayed topology and failed nodes: what a second pass is owed for. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX;
  requires bounds:    EventBounds(ev);
  requires node:      sl_workloads[ev.workload].unhealthy_count <= SL_UNHEALTHY_MAX && NodeSound(ev, step);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].topology_pending,
                      sl_workloads[ev.workload].unhealthy_count,
                      sl_workloads[ev.workload].unhealthy[0 .. SL_UNHEALTHY_MAX - 1];
  ensures  topology:  sl_workloads[ev.workload].topology_pending == TopologyAfter{Pre}(ev);
  ensures  count:     sl_workloads[ev.workload].unhealthy_count == UnhealthyAfter{Pre}(ev, step);
  ensures  marked:    ev.kind == SL_EV_NODE_FAILED && step == SL_STEP_NODE ==>
                        NodeNamed(ev.workload, ev.index);
  ensures  others:    \forall integer h; h != ev.index &&
                        (ev.kind == SL_EV_NODE_FAILED || ev.kind == SL_EV_NODE_RECOVERED) ==>
                        (NodeNamed(ev.workload, h) <==> NodeNamed{Pre}(ev.workload, h));
*/
static void note_topology(struct sl_event ev, enum sl_step step)
{
    sl_workload_id id = ev.workload;
    switch (ev.kind) {
    case SL_EV_RESERVE:
        sl_workloads[id].topology_pending = ev.index == 1;
        break;
    case SL_EV_NODE_FAILED:
        if (step == SL_STEP_NODE) {
            sl_workloads[id].unhealthy[sl_workloads[id].unhealthy_count] = ev.index;
            sl_workloads[id].unhealthy_count++;
        }
        break;
    case SL_EV_NODE_RECOVERED:
        unmark_node(id, ev.index);
        break;
    case SL_EV_SECOND_PASS_FIT:
    case SL_EV_FINISH:
        sl_workloads[id].topology_pending = false;
        sl_workloads[id].unhealthy_count = 0;
        break;
    default:
        break;
    }
}

/* Why it was queued again after this eviction, when all that is known is that it was. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  reason:    \result == QueuedAfter(evicted);
*/
static enum sl_requeue_reason requeue_reason_after(uint32_t evicted)
{
    switch (evicted) {
    case SL_EVICT_PREEMPTED:
        return SL_REQUEUE_PREEMPTED;
    case SL_EVICT_NODE_FAILURES:
        return SL_REQUEUE_NODE_FAILURES;
    case SL_EVICT_FLAVOR_MIGRATION:
        return SL_REQUEUE_FLAVOR_MIGRATION;
    case SL_EVICT_CLUSTER_QUEUE_STOPPED:
        return SL_REQUEUE_CLUSTER_QUEUE_RESTARTED;
    case SL_EVICT_LOCAL_QUEUE_STOPPED:
        return SL_REQUEUE_LOCAL_QUEUE_RESTARTED;
    case SL_EVICT_DEACTIVATED:
        return SL_REQUEUE_REACTIVATED;
    default:
        return SL_REQUEUE_BACKOFF_FINISHED;
    }
}

/* Run time and, for a pending workload found at a restart, its last eviction. */
/*@
  requires ready:     ev.workload < SL_WORKLOADS_MAX && TimeValid(ev.now_ms);
  requires bounds:    EventBounds(ev);
  terminates          \true;
  exits               \false;
  assigns             sl_workloads[ev.workload].accumulated_ms,
                      sl_workloads[ev.workload].evicted, sl_workloads[ev.workload].evicted_at_ms,
                      sl_workloads[ev.workload].requeued,
                      sl_workloads[ev.workload].requeue_reason;
  ensures  run_time:  sl_workloads[ev.workload].accumulated_ms ==
                        (ev.kind == SL_EV_EXECUTION_TIMEOUT ? 0 :
                         ev.kind == SL_EV_RESTORE_EVICTED ? ev.value :
                         \old(sl_workloads[ev.workload].accumulated_ms));
  ensures  history:   HistoryNoted{Pre,Post}(ev, step);
*/
static void note_history(struct sl_event ev, enum sl_step step)
{
    sl_workload_id id = ev.workload;
    if (ev.kind == SL_EV_EXECUTION_TIMEOUT) {
        sl_workloads[id].accumulated_ms = 0;
    }
    if (ev.kind != SL_EV_RESTORE_EVICTED) {
        return;
    }
    sl_workloads[id].accumulated_ms = ev.value;
    if (step == SL_STEP_RESTORE) {
        sl_workloads[id].evicted = (enum sl_evict_reason)ev.reason;
        sl_workloads[id].evicted_at_ms = ev.reason == SL_EVICT_NONE ? SL_NEVER : ev.now_ms;
        sl_workloads[id].requeued = (enum sl_requeued)ev.index;
        sl_workloads[id].requeue_reason =
            ev.index == SL_REQUEUED_TRUE ? requeue_reason_after(ev.reason) : SL_REQUEUE_NONE;
    }
}

void sl_lifecycle_note(struct sl_event ev, enum sl_step step)
{
    note_flags(ev);
    note_pending_reason(ev);
    note_requeue_state(ev, step);
    note_marks(ev, step);
    note_pods(ev);
    note_topology(ev, step);
    sl_lifecycle_note_checks(ev);
    note_history(ev, step);
}
