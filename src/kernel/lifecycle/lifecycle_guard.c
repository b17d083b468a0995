/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One guard for each kind of event. A kind without one would be refused; the unit tests name each kind. */
#include "kernel/lifecycle/lifecycle_guard.h"

/* A flag that already is as the event would have it needs no step. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  same:      is == wanted ==> \result.status == SL_REFUSED_NO_CHANGE;
  ensures  other:     is != wanted ==>
    \result.status == SL_OK && \result.step == step && \result.evict == SL_EVICT_NONE;
*/
static struct sl_verdict turn(bool is, bool wanted, enum sl_step step)
{
    if (is == wanted) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    return sl_guard_step(step, SL_EVICT_NONE);
}

/* The events that turn a flag of the record. */
/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_REACTIVATE || ev.kind == SL_EV_HOLD ||
                      ev.kind == SL_EV_UNHOLD || ev.kind == SL_EV_GATE || ev.kind == SL_EV_UNGATE;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
static struct sl_verdict guard_flag(struct sl_event ev)
{
    sl_workload_id id = ev.workload;
    switch (ev.kind) {
    case SL_EV_REACTIVATE:
        return turn(sl_workloads[id].active, true, SL_STEP_REACTIVATE);
    case SL_EV_HOLD:
        return turn(sl_workloads[id].on_hold, true, SL_STEP_HOLD);
    case SL_EV_UNHOLD:
        return turn(sl_workloads[id].on_hold, false, SL_STEP_UNHOLD);
    default:
        break;
    }
    return turn(sl_workloads[id].gated, ev.kind == SL_EV_GATE, SL_STEP_GATE);
}

/* Nodes, the second pass, the end, and history found at a restart. */
/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_CREATE || ev.kind >= SL_EV_RESCALE;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK <==> LetThrough(ev);
  ensures  step:      \result.status == SL_OK ==> StepRight(ev, \result.step);
*/
static struct sl_verdict guard_rest(struct sl_event ev)
{
    switch (ev.kind) {
    case SL_EV_RESCALE:
        return sl_guard_step(SL_STEP_RESCALE, SL_EVICT_NONE);
    case SL_EV_NODE_FAILED:
        return sl_guard_node_failed(ev);
    case SL_EV_NODE_RECOVERED:
        return sl_guard_node_recovered(ev);
    case SL_EV_SECOND_PASS_FIT:
        return sl_guard_second_pass_fit(ev);
    case SL_EV_SECOND_PASS_MISS:
        return sl_guard_second_pass_miss(ev);
    case SL_EV_FINISH:
        return sl_guard_finish(ev);
    case SL_EV_QUEUE_MOVED:
        return sl_guard_step(SL_STEP_MOVE, SL_EVICT_NONE);
    case SL_EV_DELETE:
        return sl_guard_step(SL_STEP_DELETE, SL_EVICT_NONE);
    case SL_EV_RESTORE_REQUEUE:
        return sl_guard_restore_requeue(ev);
    case SL_EV_RESTORE_EVICTED:
        return sl_guard_restore_evicted(ev);
    case SL_EV_RESTORE_TARGET:
        return sl_guard_restore_target(ev);
    default:
        break; /* SL_EV_CREATE: the slot is taken */
    }
    return sl_guard_refuse(SL_REFUSED_TRANSITION);
}

struct sl_verdict sl_lifecycle_guard(struct sl_event ev)
{
    switch (ev.kind) {
    case SL_EV_RESERVE:
        return sl_guard_reserve(ev);
    case SL_EV_WRITE_FAILED:
        return sl_guard_step(SL_STEP_WRITE_FAILED, SL_EVICT_NONE);
    case SL_EV_REFUSE:
        return sl_guard_refused_plan(ev);
    case SL_EV_CHECK_ADD:
        return sl_guard_check_add(ev);
    case SL_EV_CHECK_DROP:
        return sl_guard_check_drop(ev);
    case SL_EV_CHECK_STATE:
        return sl_guard_check_state(ev);
    case SL_EV_PODS_READY:
        return sl_guard_pods_ready(ev);
    case SL_EV_PODS_READY_TIMEOUT:
        return sl_guard_pods_ready_timeout(ev);
    case SL_EV_EXECUTION_TIMEOUT:
        return sl_guard_execution_timeout(ev);
    case SL_EV_DRAIN:
        return sl_guard_drain(ev);
    case SL_EV_QUEUE_UNUSABLE:
        return sl_guard_queue_unusable(ev);
    case SL_EV_QUEUE_RESTARTED:
        return sl_guard_queue_restarted(ev);
    case SL_EV_PREEMPT:
        return sl_guard_preempt(ev);
    case SL_EV_JOB_STOPPED:
        return sl_guard_job_stopped(ev);
    case SL_EV_DEACTIVATE:
        return sl_guard_deactivate(ev);
    case SL_EV_BACKOFF_OVER:
        return sl_guard_backoff_over(ev);
    case SL_EV_REACTIVATE:
    case SL_EV_HOLD:
    case SL_EV_UNHOLD:
    case SL_EV_GATE:
    case SL_EV_UNGATE:
        return guard_flag(ev);
    default:
        break;
    }
    return guard_rest(ev);
}
