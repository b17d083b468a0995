/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Guards of the events that mostly meet a workload with a reservation: admission checks, pods' readiness,
 * time limits, failed nodes and the second pass. */
#include "kernel/lifecycle/lifecycle_guard.h"

bool sl_guard_checks_ready(sl_workload_id id)
{
    /*@
      loop invariant range: 0 <= i <= sl_workloads[id].check_count;
      loop invariant ready: \forall integer j; 0 <= j < i ==> CheckReady(id, j);
      loop assigns   i;
      loop variant   sl_workloads[id].check_count - i;
    */
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        if (sl_workloads[id].checks[i].state != SL_CHECK_READY) {
            return false;
        }
    }
    return true;
}

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> OthersReady(id, check);
*/
static bool others_ready(sl_workload_id id, sl_check_id check)
{
    /*@
      loop invariant range: 0 <= i <= sl_workloads[id].check_count;
      loop invariant ready: \forall integer j; 0 <= j < i ==>
        sl_workloads[id].checks[j].check != check ==> CheckReady(id, j);
      loop assigns   i;
      loop variant   sl_workloads[id].check_count - i;
    */
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        if (sl_workloads[id].checks[i].check != check &&
            sl_workloads[id].checks[i].state != SL_CHECK_READY) {
            return false;
        }
    }
    return true;
}

uint32_t sl_guard_find_check(sl_workload_id id, sl_check_id check)
{
    uint32_t i = 0;
    /*@
      loop invariant range:  0 <= i <= sl_workloads[id].check_count;
      loop invariant absent: \forall integer j; 0 <= j < i ==>
        sl_workloads[id].checks[j].check != check;
      loop assigns   i;
      loop variant   sl_workloads[id].check_count - i;
    */
    while (i < sl_workloads[id].check_count && sl_workloads[id].checks[i].check != check) {
        i++;
    }
    return i;
}

/* Reserved, and only this check stands between the workload and its admission. */
/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> LastOpenCheck(id, check);
*/
static bool last_open_check(sl_workload_id id, sl_check_id check)
{
    return sl_workloads[id].phase == SL_PHASE_QUOTA_RESERVED &&
           !sl_workloads[id].topology_pending && others_ready(id, check);
}

struct sl_verdict sl_guard_check_add(struct sl_event ev)
{
    uint32_t count = sl_workloads[ev.workload].check_count;
    if (ev.index == SL_NO_ID) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (sl_guard_find_check(ev.workload, ev.index) < count) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    if (count >= SL_CHECKS_MAX) {
        return sl_guard_refuse(SL_FULL_CHECKS);
    }
    return sl_guard_step(SL_STEP_CHECKS, SL_EVICT_NONE);
}

struct sl_verdict sl_guard_check_drop(struct sl_event ev)
{
    if (sl_guard_find_check(ev.workload, ev.index) == sl_workloads[ev.workload].check_count) {
        return sl_guard_refuse(SL_REFUSED_NO_CHECK);
    }
    if (last_open_check(ev.workload, ev.index)) {
        return sl_guard_step(SL_STEP_ADMIT, SL_EVICT_NONE);
    }
    return sl_guard_step(SL_STEP_CHECKS, SL_EVICT_NONE);
}

/* What a new state of one check amounts to. Whoever is to be deactivated is evicted by that alone. */
/*@
  requires ready:     GuardReady(ev);
  requires kind:      ev.kind == SL_EV_CHECK_STATE;
  requires fields:    ev.reason <= SL_CHECK_REJECTED && TimeValid(ev.value);
  requires has:       HasCheck(ev.workload, ev.index);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  sound:     VerdictSound(ev, \result);
  ensures  says:      RefusalTrue(ev, \result.status);
  ensures  fair:      VerdictFair(ev, \result);
  ensures  let:       \result.status == SL_OK;
  ensures  step:      StepRight(ev, \result.step);
*/
static struct sl_verdict judge_check(struct sl_event ev)
{
    enum sl_phase phase = sl_workloads[ev.workload].phase;
    bool stays = (phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED) &&
                 sl_workloads[ev.workload].deactivation == SL_CAUSE_NONE;
    if (stays && ev.reason == SL_CHECK_RETRY) {
        return sl_guard_step(SL_STEP_CHECK_RETRY, SL_EVICT_ADMISSION_CHECK);
    }
    if (stays && ev.reason == SL_CHECK_REJECTED) {
        return sl_guard_step(SL_STEP_TARGET, SL_EVICT_NONE);
    }
    if (ev.reason == SL_CHECK_READY && last_open_check(ev.workload, ev.index)) {
        return sl_guard_step(SL_STEP_ADMIT, SL_EVICT_NONE);
    }
    return sl_guard_step(SL_STEP_CHECKS, SL_EVICT_NONE);
}

struct sl_verdict sl_guard_check_state(struct sl_event ev)
{
    uint32_t i = sl_guard_find_check(ev.workload, ev.index);
    if (ev.reason > SL_CHECK_REJECTED || ev.value < 0 || ev.value > SL_TIME_MAX) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (i == sl_workloads[ev.workload].check_count) {
        return sl_guard_refuse(SL_REFUSED_NO_CHECK);
    }
    if (sl_workloads[ev.workload].checks[i].state == (enum sl_check_state)ev.reason &&
        sl_workloads[ev.workload].checks[i].retry_after_ms == ev.value) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    return judge_check(ev);
}

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> PodsReady(id);
*/
static bool pods_are_ready(sl_workload_id id)
{
    return sl_workloads[id].pods_ready == SL_PODS_STARTED ||
           sl_workloads[id].pods_ready == SL_PODS_RECOVERED;
}

struct sl_verdict sl_guard_pods_ready(struct sl_event ev)
{
    if (ev.index > 1) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (pods_are_ready(ev.workload) == (ev.index == 1) &&
        sl_workloads[ev.workload].pods_ready != SL_PODS_UNKNOWN) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    return sl_guard_step(SL_STEP_PODS, SL_EVICT_NONE);
}

/* At the requeuing limit the workload is to be deactivated instead of being evicted once more. */
struct sl_verdict sl_guard_pods_ready_timeout(struct sl_event ev)
{
    if (ev.index > SL_JITTER_PPM_MAX) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (sl_workloads[ev.workload].phase != SL_PHASE_ADMITTED || pods_are_ready(ev.workload)) {
        return sl_guard_refuse(SL_REFUSED_TRANSITION);
    }
    if (sl_workloads[ev.workload].deactivation != SL_CAUSE_NONE) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    if (sl_requeue_ruled_out(sl_workloads[ev.workload].requeue_count)) {
        return sl_guard_step(SL_STEP_TARGET, SL_EVICT_NONE);
    }
    return sl_guard_step(SL_STEP_PODS_TIMEOUT, SL_EVICT_PODS_READY_TIMEOUT);
}

/* Has the admitted workload used up its time? A clock that went back counts as no time at all. */
/*@
  requires ready:     GuardReady(ev);
  requires admitted:  sl_workloads[ev.workload].phase == SL_PHASE_ADMITTED;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> TimeUsedUp(ev);
*/
static bool time_used_up(struct sl_event ev)
{
    int64_t since = sl_workloads[ev.workload].admitted_at_ms;
    int64_t elapsed_ms = ev.now_ms > since ? ev.now_ms - since : 0;
    int64_t execution_ms_max = sl_workloads[ev.workload].execution_ms_max;
    return execution_ms_max > 0 &&
           elapsed_ms >= execution_ms_max - sl_workloads[ev.workload].accumulated_ms;
}

struct sl_verdict sl_guard_execution_timeout(struct sl_event ev)
{
    if (sl_workloads[ev.workload].phase != SL_PHASE_ADMITTED || !time_used_up(ev)) {
        return sl_guard_refuse(SL_REFUSED_TRANSITION);
    }
    if (sl_workloads[ev.workload].deactivation != SL_CAUSE_NONE) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    return sl_guard_step(SL_STEP_TARGET, SL_EVICT_NONE);
}

struct sl_verdict sl_guard_restore_target(struct sl_event ev)
{
    enum sl_phase phase = sl_workloads[ev.workload].phase;
    if (ev.reason == SL_CAUSE_NONE || ev.reason >= SL_CAUSES) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (phase != SL_PHASE_QUOTA_RESERVED && phase != SL_PHASE_ADMITTED) {
        return sl_guard_refuse(SL_REFUSED_TRANSITION);
    }
    if (sl_workloads[ev.workload].deactivation != SL_CAUSE_NONE) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    return sl_guard_step(SL_STEP_TARGET, SL_EVICT_NONE);
}

uint32_t sl_guard_find_node(sl_workload_id id, sl_host_id host)
{
    uint32_t i = 0;
    /*@
      loop invariant range:  0 <= i <= sl_workloads[id].unhealthy_count;
      loop invariant absent: \forall integer j; 0 <= j < i ==> sl_workloads[id].unhealthy[j] != host;
      loop assigns   i;
      loop variant   sl_workloads[id].unhealthy_count - i;
    */
    while (i < sl_workloads[id].unhealthy_count && sl_workloads[id].unhealthy[i] != host) {
        i++;
    }
    return i;
}

/* Failed nodes are marked and replaced, all at once; one more than are replaced is an eviction. */
struct sl_verdict sl_guard_node_failed(struct sl_event ev)
{
    uint32_t count = sl_workloads[ev.workload].unhealthy_count;
    bool fewer = ev.value > 0 && ev.value < (int64_t)SL_UNHEALTHY_MAX;
    int64_t most = fewer ? ev.value : (int64_t)SL_UNHEALTHY_MAX;
    if (ev.index == SL_NO_ID) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (sl_guard_find_node(ev.workload, ev.index) < count) {
        return sl_guard_refuse(SL_REFUSED_NO_CHANGE);
    }
    if ((int64_t)count < most) {
        return sl_guard_step(SL_STEP_NODE, SL_EVICT_NONE);
    }
    return sl_guard_step(SL_STEP_NODE_EVICT, SL_EVICT_NODE_FAILURES);
}

struct sl_verdict sl_guard_node_recovered(struct sl_event ev)
{
    if (sl_guard_find_node(ev.workload, ev.index) == sl_workloads[ev.workload].unhealthy_count) {
        return sl_guard_refuse(SL_REFUSED_NO_NODE);
    }
    return sl_guard_step(SL_STEP_NODE, SL_EVICT_NONE);
}

struct sl_verdict sl_guard_second_pass_fit(struct sl_event ev)
{
    if (!sl_lifecycle_needs_pass(ev.workload)) {
        return sl_guard_refuse(SL_REFUSED_NOT_NEEDED);
    }
    if (sl_workloads[ev.workload].phase == SL_PHASE_ADMITTED) {
        return sl_guard_step(SL_STEP_PASS_REPLACED, SL_EVICT_NONE);
    }
    return sl_guard_step(SL_STEP_ADMIT, SL_EVICT_NONE);
}

/* Only a failed node may be failed fast: a delayed topology is tried again for as long as it takes. */
struct sl_verdict sl_guard_second_pass_miss(struct sl_event ev)
{
    if (ev.index > 1) {
        return sl_guard_refuse(SL_REFUSED_BAD_ARGUMENT);
    }
    if (!sl_lifecycle_needs_pass(ev.workload)) {
        return sl_guard_refuse(SL_REFUSED_NOT_NEEDED);
    }
    if (ev.index == 1 && sl_workloads[ev.workload].phase == SL_PHASE_ADMITTED) {
        return sl_guard_step(SL_STEP_PASS_EVICT, SL_EVICT_NODE_FAILURES);
    }
    return sl_guard_step(SL_STEP_PASS_MISSED, SL_EVICT_NONE);
}
