/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Questions about a record: what it holds, what it may do, and whether it is sound. The checker is equal to
 * WorkloadInv by proof; each function here is one conjunct of it. */
#include "kernel/lifecycle/lifecycle_guard.h"

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> TimeOrNever(t);
*/
static bool time_or_never(int64_t t)
{
    return t == SL_NEVER || (t >= 0 && t <= SL_TIME_MAX);
}

/* Lists of constants are compared as numbers. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> constant < count;
*/
static bool below(uint32_t constant, uint32_t count)
{
    return constant < count;
}

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> EnumsValid(id);
*/
static bool enums_valid(sl_workload_id id)
{
    return sl_workloads[id].generation < UINT32_MAX &&
           below(sl_workloads[id].pending_reason, SL_PENDING_REASONS) &&
           below(sl_workloads[id].evicted, SL_EVICT_REASONS) &&
           below(sl_workloads[id].preempted, SL_PREEMPT_REASONS) &&
           below(sl_workloads[id].deactivation, SL_CAUSES) &&
           below(sl_workloads[id].finished, SL_FINISH_REASONS) &&
           sl_workloads[id].requeued <= SL_REQUEUED_FALSE &&
           below(sl_workloads[id].requeue_reason, SL_REQUEUE_REASONS) &&
           sl_workloads[id].pods_ready <= SL_PODS_RECOVERED;
}

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> TimesValid(id);
*/
static bool times_valid(sl_workload_id id)
{
    return time_or_never(sl_workloads[id].requeue_at_ms) &&
           time_or_never(sl_workloads[id].reserved_at_ms) &&
           time_or_never(sl_workloads[id].admitted_at_ms) &&
           time_or_never(sl_workloads[id].evicted_at_ms) &&
           time_or_never(sl_workloads[id].pods_ready_at_ms) &&
           sl_workloads[id].accumulated_ms >= 0 && sl_workloads[id].accumulated_ms <= SL_TIME_MAX &&
           sl_workloads[id].execution_ms_max >= 0 &&
           sl_workloads[id].execution_ms_max <= SL_TIME_MAX;
}

/* Is the check at `i` sound, and none before it the same? */
/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires i:         i < SL_CHECKS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> CheckSound(id, i);
*/
static bool check_valid(sl_workload_id id, uint32_t i)
{
    if (sl_workloads[id].checks[i].state > SL_CHECK_REJECTED ||
        sl_workloads[id].checks[i].retry_after_ms < 0 ||
        sl_workloads[id].checks[i].retry_after_ms > SL_TIME_MAX) {
        return false;
    }
    /*@
      loop invariant range: 0 <= j <= i;
      loop invariant other: \forall integer k; 0 <= k < j ==>
        sl_workloads[id].checks[k].check != sl_workloads[id].checks[i].check;
      loop assigns   j;
      loop variant   i - j;
    */
    for (uint32_t j = 0; j < i; j++) {
        if (sl_workloads[id].checks[j].check == sl_workloads[id].checks[i].check) {
            return false;
        }
    }
    return true;
}

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> ChecksValid(id);
*/
static bool checks_valid(sl_workload_id id)
{
    if (sl_workloads[id].check_count > SL_CHECKS_MAX) {
        return false;
    }
    /*@
      loop invariant range: 0 <= i <= sl_workloads[id].check_count;
      loop invariant sound: \forall integer k; 0 <= k < i ==> CheckSound(id, k);
      loop assigns   i;
      loop variant   sl_workloads[id].check_count - i;
    */
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        if (!check_valid(id, i)) {
            return false;
        }
    }
    return true;
}

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> PhaseReserved(phase);
*/
static bool phase_reserved(enum sl_phase phase)
{
    return phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED ||
           phase == SL_PHASE_EVICTED;
}

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> ReservationSound(id);
*/
static bool reservation_sound(sl_workload_id id)
{
    enum sl_phase phase = sl_workloads[id].phase;
    bool has = sl_workloads[id].has_admission;
    bool admitted = sl_workloads[id].was_admitted;
    return (has || !phase_reserved(phase)) && (!has || phase != SL_PHASE_PENDING) &&
           (admitted || phase != SL_PHASE_ADMITTED) &&
           (!admitted || phase != SL_PHASE_QUOTA_RESERVED) && (has || !admitted) &&
           has == (sl_workloads[id].reserved_at_ms != SL_NEVER) &&
           admitted == (sl_workloads[id].admitted_at_ms != SL_NEVER);
}

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  requires checks:    ChecksValid(id);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> PassSound(id);
*/
static bool pass_sound(sl_workload_id id)
{
    enum sl_phase phase = sl_workloads[id].phase;
    if (phase == SL_PHASE_QUOTA_RESERVED && !sl_workloads[id].topology_pending &&
        sl_guard_checks_ready(id)) {
        return false;
    }
    return (!sl_workloads[id].topology_pending || phase == SL_PHASE_QUOTA_RESERVED ||
            phase == SL_PHASE_EVICTED) &&
           sl_workloads[id].unhealthy_count <= SL_UNHEALTHY_MAX &&
           (sl_workloads[id].unhealthy_count == 0 || phase == SL_PHASE_ADMITTED);
}

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> EvictionSound(id);
*/
static bool eviction_sound(sl_workload_id id)
{
    enum sl_phase phase = sl_workloads[id].phase;
    bool evicted = sl_workloads[id].evicted != SL_EVICT_NONE;
    if (phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED) {
        if (!sl_workloads[id].active || sl_workloads[id].on_hold || evicted) {
            return false;
        }
    }
    return (evicted || phase != SL_PHASE_EVICTED) &&
           evicted == (sl_workloads[id].evicted_at_ms != SL_NEVER) &&
           (sl_workloads[id].preempted == SL_PREEMPT_NONE ||
            sl_workloads[id].evicted == SL_EVICT_PREEMPTED) &&
           (phase == SL_PHASE_FINISHED) == (sl_workloads[id].finished != SL_FINISH_NONE);
}

/*@
  requires id:        id < SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  result:    \result == 1 <==> RequeueSound(id);
*/
static bool requeue_sound(sl_workload_id id)
{
    return (sl_workloads[id].active ||
            (sl_workloads[id].requeue_count == 0 && sl_workloads[id].requeue_at_ms == SL_NEVER)) &&
           (sl_workloads[id].requeued == SL_REQUEUED_TRUE) ==
               (sl_workloads[id].requeue_reason != SL_REQUEUE_NONE);
}

bool sl_lifecycle_valid(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX) {
        return false;
    }
    if (sl_workloads[id].phase == SL_PHASE_ABSENT) {
        return true;
    }
    return sl_workloads[id].phase <= SL_PHASE_FINISHED && enums_valid(id) && times_valid(id) &&
           checks_valid(id) && reservation_sound(id) && pass_sound(id) && eviction_sound(id) &&
           requeue_sound(id);
}

bool sl_lifecycle_holds_quota(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && sl_workloads[id].active &&
           phase_reserved(sl_workloads[id].phase);
}

bool sl_lifecycle_holds_capacity(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && phase_reserved(sl_workloads[id].phase);
}

bool sl_lifecycle_admissible(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && sl_workloads[id].phase == SL_PHASE_PENDING &&
           sl_workloads[id].active && !sl_workloads[id].gated && !sl_workloads[id].on_hold &&
           sl_workloads[id].deactivation == SL_CAUSE_NONE;
}

bool sl_lifecycle_needs_pass(sl_workload_id id)
{
    if (!sl_lifecycle_holds_quota(id) || sl_workloads[id].on_hold) {
        return false;
    }
    if (sl_workloads[id].phase == SL_PHASE_ADMITTED) {
        return sl_workloads[id].unhealthy_count > 0;
    }
    return sl_workloads[id].phase == SL_PHASE_QUOTA_RESERVED && sl_workloads[id].topology_pending &&
           sl_guard_checks_ready(id);
}
