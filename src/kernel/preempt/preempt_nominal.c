/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A queue's nominal quota is its own. What is asked is what workloads hold before the plan is carried out: that a queue does
 * not give up much more than it borrowed is policy's business, since it hangs on the order in which victims are taken. */
#include "kernel/preempt/preempt_nominal.h"

#include "kernel/commit/workload_usage.h"
#include "kernel/ledger/ledger.h"

/* Is more promised of the cell than this? */
/*@
  requires promises:   PromisesValid;
  requires spare:      -SL_AMOUNT_MAX <= spare <= SL_AMOUNT_UNLIMITED;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> Promised(cell, sl_promises) > spare;
*/
static bool promised_beyond(sl_cell_id cell, int64_t spare)
{
    bool beyond = spare < 0;
    /*@
      loop invariant index:  0 <= i <= sl_promises;
      loop invariant sum:    0 <= Promised(cell, i);
      loop invariant beyond: beyond ==> Promised(cell, i) > \at(spare, Pre);
      loop invariant spare:  !beyond ==> 0 <= spare == \at(spare, Pre) - Promised(cell, i);
      loop assigns           i, beyond, spare;
      loop variant           sl_promises - i;
    */
    for (uint32_t i = 0; i < sl_promises; i++) {
        if (!beyond && sl_promise_cells[i] == cell) {
            beyond = sl_promise_amounts[i] > spare;
            spare = beyond ? 0 : spare - sl_promise_amounts[i];
        }
    }
    return beyond;
}

/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires ranges:     LimitsInRange && UsageInRange && Conserved;
  requires promises:   PromisesValid;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> Exceeded(cell);
*/
static bool is_exceeded(sl_cell_id cell)
{
    int64_t spare = sl_cell_subtree[cell] - sl_cell_own[cell];
    return sl_preempt_plan.after_others ? promised_beyond(cell, spare) : spare < 0;
}

/* Does the qnode use more than its quota of what the plan's k-th amount is of? */
/*@
  requires qnode:      qnode < SL_QNODES_MAX;
  requires index:      k < sl_plan.usage_count && PlanUsageSound;
  requires lists:      ListsInv;
  requires ranges:     LimitsInRange && UsageInRange && Conserved;
  requires promises:   PromisesValid;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result ==> BorrowsOf(qnode, sl_plan.usage[k].cell);
*/
static bool borrows_of(sl_qnode_id qnode, uint32_t k)
{
    sl_cell_id asked = sl_plan.usage[k].cell;
    sl_cell_id cell = sl_ledger_find_cell(qnode, sl_cell_flavor[asked], sl_cell_resource[asked]);
    return cell != SL_NO_ID && is_exceeded(cell);
}

/*@
  requires qnode:      qnode < SL_QNODES_MAX;
  requires plan:       PlanUsageSound;
  requires lists:      ListsInv;
  requires ranges:     LimitsInRange && UsageInRange && Conserved;
  requires promises:   PromisesValid;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result ==> Borrows(qnode);
*/
static bool borrows(sl_qnode_id qnode)
{
    /*@
      loop invariant index: 0 <= k <= sl_plan.usage_count;
      loop assigns          k;
      loop variant          sl_plan.usage_count - k;
    */
    for (uint32_t k = 0; k < sl_plan.usage_count; k++) {
        if (borrows_of(qnode, k)) {
            return true;
        }
    }
    return false;
}

/* Is what the victim holds its own queue's, or another's that borrows? */
/*@
  requires victim:     victim < SL_WORKLOADS_MAX && WorkloadUsageValid && UsageAllowed(victim, sl_usage_counts[victim]);
  requires plan:       PlanUsageSound;
  requires lists:      ListsInv;
  requires ranges:     LimitsInRange && UsageInRange && Conserved;
  requires promises:   PromisesValid;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result ==> \forall integer k; 0 <= k < sl_usage_counts[victim] ==> AmountBorrowed(victim, k);
*/
static bool is_borrowed(sl_workload_id victim)
{
    /*@
      loop invariant index: 0 <= k <= sl_usage_counts[victim];
      loop invariant all:   \forall integer j; 0 <= j < k ==> AmountBorrowed(victim, j);
      loop assigns          k;
      loop variant          sl_usage_counts[victim] - k;
    */
    for (uint32_t k = 0; k < sl_usage_counts[victim]; k++) {
        if (sl_usage_amounts[victim][k] > 0) {
            sl_qnode_id qnode = sl_ledger_qnode_of(sl_usage_cells[victim][k]);
            if (qnode != sl_plan.cluster_queue && !borrows(qnode)) {
                return false;
            }
        }
    }
    return true;
}

/* May it go while the preemptor borrows, if it is said to? */
/*@
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  requires preemptor:  sl_plan.workload < SL_WORKLOADS_MAX;
  requires index:      index < SL_VICTIMS_MAX && sl_preempt_plan.victims[index] < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> BorrowingAllowed(index);
*/
static bool is_allowed_to_borrow(uint32_t index)
{
    struct sl_preempt_policy policy = sl_preempt_policies[sl_plan.cluster_queue];
    sl_workload_id victim = sl_preempt_plan.victims[index];
    return sl_preempt_plan.reasons[index] != SL_PREEMPT_RECLAIM_WHILE_BORROWING ||
           (policy.borrow_within && sl_order_lower(victim, sl_plan.workload) &&
            (!policy.has_threshold || sl_order_of(victim).priority <= policy.threshold));
}

enum sl_status sl_preempt_check_nominal(void)
{
    /*@
      loop invariant index: 0 <= i <= sl_preempt_plan.victim_count;
      loop invariant kept:  NominalKept(i);
      loop assigns          i;
      loop variant          sl_preempt_plan.victim_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        //@ assert sound: VictimSound(i);
        if (!is_borrowed(sl_preempt_plan.victims[i]) || !is_allowed_to_borrow(i)) {
            return SL_REFUSED_VICTIM;
        }
    }
    return SL_OK;
}
