/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What may refuse comes first: the plan, the old workload, the ledger under the trail, the new record. Then the new one
 * keeps its amounts, and the old one ends, which nothing can refuse any more. */
#include "kernel/commit/replace.h"

#include "kernel/commit/usage_exchange.h"

/* Is all that the old workload holds of this queue? */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires valid:      WorkloadUsageValid;
  requires queue:      qnode < SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> HoldsOf(id, qnode);
*/
static bool holds_of(sl_workload_id id, sl_qnode_id qnode)
{
    /*@
      loop invariant index:  0 <= i <= sl_usage_counts[id];
      loop invariant all:    \forall integer k; 0 <= k < i && sl_usage_amounts[id][k] > 0 ==>
                               sl_cell_home[sl_usage_cells[id][k]] == qnode + 1;
      loop assigns           i;
      loop variant           sl_usage_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_usage_counts[id]; i++) {
        if (sl_usage_amounts[id][i] > 0 && sl_ledger_qnode_of(sl_usage_cells[id][i]) != qnode) {
            return false;
        }
    }
    return true;
}

/* May the old workload be replaced by the plan's? */
/*@
  requires records:    RecordsValid;
  requires valid:      WorkloadUsageValid;
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==> OldNamed(old, generation);
  ensures  says:       \result != SL_OK ==> OldRefusalTrue(old, generation, \result);
*/
static enum sl_status check_old(sl_workload_id old, uint32_t generation)
{
    if (old >= SL_WORKLOADS_MAX || sl_workloads[old].phase == SL_PHASE_ABSENT) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (sl_workloads[old].generation != generation) {
        return SL_REFUSED_STALE;
    }
    if (old == sl_plan.workload) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_workloads[old].phase == SL_PHASE_FINISHED) {
        return SL_REFUSED_FINISHED;
    }
    if (!sl_lifecycle_holds_quota(old)) {
        return SL_REFUSED_PLACE;
    }
    return holds_of(old, sl_plan.cluster_queue) ? SL_OK : SL_REFUSED_PLAN_USAGE;
}

/* Is what the plan wants at `index` beyond what the old workload holds available? */
/*@
  requires known:      old < SL_WORKLOADS_MAX;
  requires index:      index < sl_plan.usage_count;
  requires plan:       PlanUsageSound;
  requires inv:        WorkloadUsageValid && Conserved && UsageInv;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> GrowthFits(old, index);
*/
static bool growth_fits(sl_workload_id old, uint32_t index)
{
    //@ assert cell: PlanCellSound(index);
    sl_cell_id cell = sl_plan.usage[index].cell;
    int64_t growth = sl_plan.usage[index].amount - sl_usage_held(old, cell);
    return growth <= 0 || growth <= sl_ledger_available(cell);
}

/*@
  requires known:      old < SL_WORKLOADS_MAX;
  requires plan:       PlanUsageSound;
  requires inv:        WorkloadUsageValid && Conserved && UsageInv;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==> GrowthAvailable(old);
  ensures  says:       \result == SL_OK || \result == SL_REFUSED_QUOTA;
*/
static enum sl_status check_growth(sl_workload_id old)
{
    /*@
      loop invariant index:  0 <= i <= sl_plan.usage_count;
      loop invariant fits:   \forall integer k; 0 <= k < i ==> GrowthFits(old, k);
      loop assigns           i;
      loop variant           sl_plan.usage_count - i;
    */
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        if (!growth_fits(old, i)) {
            return SL_REFUSED_QUOTA;
        }
    }
    return SL_OK;
}

enum sl_status sl_commit_replace_check(sl_workload_id old, uint32_t generation)
{
    enum sl_status status = sl_commit_check_form();
    if (status == SL_OK) {
        status = check_old(old, generation);
    }
    return status == SL_OK ? check_growth(old) : status;
}

/* The new record takes the reservation. */
/*@
  requires known:      sl_plan.workload < SL_WORKLOADS_MAX;
  requires record:     WorkloadInv(sl_plan.workload);
  terminates           \true;
  exits                \false;
  assigns              sl_workloads[sl_plan.workload];
  ensures  record:     WorkloadInv(sl_plan.workload);
  ensures  refused:    \result != SL_OK ==>
                         sl_workloads[sl_plan.workload] == \old(sl_workloads[sl_plan.workload]);
  ensures  says:       \result != SL_REFUSED_QUOTA && \result != SL_REFUSED_CAPACITY;
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_plan.workload);
  ensures  time:       \result == SL_OK ==> TimeValid(sl_plan.now_ms);
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
*/
static enum sl_status reserve_record(void)
{
    struct sl_event ev = {0};
    ev.kind = SL_EV_RESERVE;
    ev.workload = sl_plan.workload;
    ev.generation = sl_plan.generation;
    ev.index = sl_plan.topology_pending ? 1u : 0u;
    ev.now_ms = sl_plan.now_ms;
    return sl_lifecycle_apply(ev);
}

/* Exchange the charges and reserve, under the trail: both happen or neither. */
/*@
  requires inv:        CoreInv;
  requires plan:       PlanFormed;
  requires known:      old < SL_WORKLOADS_MAX && old != sl_plan.workload;
  terminates           \true;
  exits                \false;
  assigns              SL_EXCHANGED, sl_trail_depth, sl_workloads[sl_plan.workload];
  ensures  record:     WorkloadInv(sl_plan.workload);
  ensures  inv:        UsageInv && TrailSound && ChargedCellsUsed && sl_trail_depth == 0;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} &&
                         sl_workloads[sl_plan.workload] == \old(sl_workloads[sl_plan.workload]);
  ensures  shrinks:    \result == SL_REFUSED_QUOTA ==> Grows(old);
  ensures  says:       \result != SL_REFUSED_CAPACITY;
  ensures  charged:    \result == SL_OK ==> Exchanged{Pre,Post}(old);
  ensures  limits:     \result == SL_OK ==> GrowthWithin{Pre,Post};
  ensures  time:       \result == SL_OK ==> TimeValid(sl_plan.now_ms);
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_plan.workload);
*/
static enum sl_status exchange_and_reserve(sl_workload_id old)
{
    uint32_t mark = sl_trail_begin();
    enum sl_status status = sl_usage_exchange(old);
    if (status == SL_OK) {
        status = reserve_record();
    }
    if (status == SL_OK) {
        sl_trail_keep(mark);
    } else {
        sl_trail_rollback(mark);
    }
    return status;
}

/* End the old workload, of which the ledger knows no longer. */
/*@
  requires known:      old < SL_WORKLOADS_MAX && HoldsQuota(old);
  requires records:    RecordsValid && PlacesAgree;
  requires usage:      WorkloadUsageValid && UsageHeld;
  requires ledger:     UsageInv && ChargedCellsUsed && TrailSound && sl_trail_depth == 0;
  requires less:       \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == Claimed(c, SL_WORKLOADS_MAX) - Held(old, c);
  requires time:       TimeValid(sl_plan.now_ms);
  terminates           \true;
  exits                \false;
  assigns              sl_workloads[old], sl_places[old], sl_usage_counts[old];
  ensures  inv:        CoreInv;
  ensures  result:     \result == SL_OK;
  ensures  finished:   sl_workloads[old].phase == SL_PHASE_FINISHED && sl_usage_counts[old] == 0 &&
                         sl_places[old] == SL_PLACE_DONE;
*/
static enum sl_status finish(sl_workload_id old)
{
    struct sl_event ev = {0};
    ev.kind = SL_EV_FINISH;
    ev.workload = old;
    ev.generation = sl_workloads[old].generation;
    ev.reason = SL_FINISH_SLICE_REPLACED;
    ev.now_ms = sl_plan.now_ms;
    //@ assert place: PlaceAgrees(old);
    enum sl_status status = sl_lifecycle_apply(ev);
    //@ assert finished: status == SL_OK && sl_workloads[old].phase == SL_PHASE_FINISHED;
    sl_usage_forget(old);
    sl_place_settle(old);
    return status;
}

/*@
  requires inv:        CoreInv;
  requires plan:       PlanFormed;
  requires named:      old < SL_WORKLOADS_MAX && old != sl_plan.workload && HoldsQuota(old);
  terminates           \true;
  exits                \false;
  assigns              SL_EXCHANGED, SL_REPLACES(old);
  ensures  inv:        CoreInv && sl_trail_depth == 0;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload) &&
                         WorkloadSame{Pre,Post}(old);
  ensures  shrinks:    \result == SL_REFUSED_QUOTA ==> \old(Grows(old));
  ensures  says:       \result != SL_REFUSED_CAPACITY;
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  limits:     \result == SL_OK ==> GrowthWithin{Pre,Post};
  ensures  charged:    \result == SL_OK ==> Exchanged{Pre,Post}(old);
  ensures  stored:     \result == SL_OK ==> PlanStored(sl_plan.workload);
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_plan.workload) &&
                         sl_places[sl_plan.workload] == SL_PLACE_HOLDING;
  ensures  finished:   \result == SL_OK ==> sl_workloads[old].phase == SL_PHASE_FINISHED &&
                         sl_usage_counts[old] == 0 && sl_places[old] == SL_PLACE_DONE;
*/
static enum sl_status replace(sl_workload_id old)
{
    enum sl_status status = exchange_and_reserve(old);
    if (status == SL_OK) {
        sl_usage_store();
        /*@ ghost
          /@ loop invariant index: 0 <= k <= sl_usage_counts[old];
             loop invariant rows: \forall integer c, j; 0 <= j <= k ==> RowSum(old, c, j) == RowSum{Pre}(old, c, j);
             loop assigns k;
             loop variant sl_usage_counts[old] - k;
          @/
          for (uint32_t k = 0; k < sl_usage_counts[old]; k++) ;
        */
        /*@ assert rows: \forall integer c; Held(old, c) == Held{Pre}(old, c); */
        sl_place_hold(sl_plan.workload);
        status = finish(old);
    }
    return status;
}

enum sl_status sl_commit_replace(sl_workload_id old, uint32_t generation)
{
    bool alone = sl_variants_holder(sl_plan.workload) == SL_NO_ID;
    enum sl_status status = alone ? sl_commit_replace_check(old, generation) : SL_REFUSED_VARIANT;
    return status == SL_OK ? replace(old) : status;
}
