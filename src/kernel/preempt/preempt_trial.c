/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One trial. The victims' amounts are given back first; whether one could be spared is judged in the world that
 * the plan was made in, and whether the plan fits in that of the cycle so far, which may be the same. A victim is
 * put back, and taken out again, by its amounts alone: usage follows from what is charged. */
#include "kernel/preempt/preempt_trial.h"

#include "kernel/commit/workload_usage.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/preempt/preempt_capacity.h"
#include "kernel/ledger/trail.h"

/* Usage follows from what is charged, and what is available from usage: shown from the deepest level upwards, then
 * from the roots downwards. */
/*@ ghost
  /@ requires linked:    CellsLinked;
     requires exact:     UsageExact;
     requires shows:     Shows(cycle, stays);
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  usage:     \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_usage[c] == usage_if(c, cycle, stays);
     ensures  available: \forall integer c; 0 <= c < SL_CELLS_MAX ==> available(c) == available_if(c, cycle, stays);
  @/
  static void lemma_world(uint32_t cycle, uint32_t stays)
  {
    uint32_t l = SL_LEVELS_MAX;
    /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
       loop invariant \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) >= l ==>
           sl_cell_usage[c] == usage_if(c, cycle, stays);
       loop assigns l;
       loop variant l; @/
    while (l > 0) {
      l--;
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant \forall integer p; 0 <= p < SL_CELLS_MAX && cell_level(p) == l ==>
             stored_sum(p, k) == stored_if(p, k, cycle, stays);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    }
    /@ assert \forall integer c; 0 <= c < SL_CELLS_MAX ==>
           cell_spare(c) == larger(0, sl_cell_kept[c] - usage_if(c, cycle, stays)) &&
           cell_stored(c) == larger(0, usage_if(c, cycle, stays) - sl_cell_kept[c]); @/
    /@ loop invariant 0 <= m <= SL_LEVELS_MAX;
       loop invariant \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) < m ==>
           available(c) == available_if(c, cycle, stays);
       loop assigns m;
       loop variant SL_LEVELS_MAX - m; @/
    for (uint32_t m = 0; m < SL_LEVELS_MAX; m++) {
      /@ assert \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) == m && sl_cell_up[c] != 0 ==>
             available(sl_cell_up[c] - 1) == available_if(sl_cell_up[c] - 1, cycle, stays); @/
      /@ assert \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) == m ==>
             available(c) == available_if(c, cycle, stays); @/
    }
  }
*/

/* Give back what a workload holds, in the trial. */
/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && sl_trail_depth > 0;
  requires known:      id < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  own:        \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) - RowSum(id, c, sl_usage_counts[id]);
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status release(sl_workload_id id)
{
    /*@
      loop invariant index:  0 <= k <= sl_usage_counts[id];
      loop invariant inv:    UsageInv && TrailSound;
      loop invariant own:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] == \at(sl_cell_own[c], Pre) - RowSum(id, c, k);
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           k, SL_TRIED;
      loop variant           sl_usage_counts[id] - k;
    */
    for (uint32_t k = 0; k < sl_usage_counts[id]; k++) {
        if (sl_usage_amounts[id][k] > 0) {
            enum sl_status status =
                sl_ledger_release(sl_usage_cells[id][k], sl_usage_amounts[id][k]);
            if (status != SL_OK) {
                return status;
            }
        }
    }
    return SL_OK;
}

/* Charge again what a workload holds, in the trial. */
/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && sl_trail_depth > 0;
  requires known:      id < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  own:        \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + RowSum(id, c, sl_usage_counts[id]);
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status charge(sl_workload_id id)
{
    /*@
      loop invariant index:  0 <= k <= sl_usage_counts[id];
      loop invariant inv:    UsageInv && TrailSound;
      loop invariant own:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] == \at(sl_cell_own[c], Pre) + RowSum(id, c, k);
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           k, SL_TRIED;
      loop variant           sl_usage_counts[id] - k;
    */
    for (uint32_t k = 0; k < sl_usage_counts[id]; k++) {
        if (sl_usage_amounts[id][k] > 0) {
            enum sl_status status =
                sl_ledger_charge(sl_usage_cells[id][k], sl_usage_amounts[id][k]);
            if (status != SL_OK) {
                return status;
            }
        }
    }
    return SL_OK;
}

/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && sl_trail_depth > 0;
  requires lists:      ListsSound;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  own:        \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) - VictimsHold(c, sl_preempt_plan.victim_count);
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status release_victims(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_preempt_plan.victim_count;
      loop invariant inv:    UsageInv && TrailSound;
      loop invariant own:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] == \at(sl_cell_own[c], Pre) - VictimsHold(c, i);
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           i, SL_TRIED;
      loop variant           sl_preempt_plan.victim_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        enum sl_status status = release(sl_preempt_plan.victims[i]);
        if (status != SL_OK) {
            return status;
        }
    }
    return SL_OK;
}

/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && sl_trail_depth > 0;
  requires lists:      ListsSound;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  own:        \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) - GoneHold(c, sl_preempt_plan.gone_count);
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status release_gone(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_preempt_plan.gone_count;
      loop invariant inv:    UsageInv && TrailSound;
      loop invariant own:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] == \at(sl_cell_own[c], Pre) - GoneHold(c, i);
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           i, SL_TRIED;
      loop variant           sl_preempt_plan.gone_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.gone_count; i++) {
        enum sl_status status = release(sl_preempt_plan.gone[i]);
        if (status != SL_OK) {
            return status;
        }
    }
    return SL_OK;
}

/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && sl_trail_depth > 0;
  requires promises:   PromisesValid;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  own:        \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + Promised(c, sl_promises);
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status charge_promises(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_promises;
      loop invariant inv:    UsageInv && TrailSound;
      loop invariant own:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] == \at(sl_cell_own[c], Pre) + Promised(c, i);
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           i, SL_TRIED;
      loop variant           sl_promises - i;
    */
    for (uint32_t i = 0; i < sl_promises; i++) {
        if (sl_promise_amounts[i] > 0) {
            enum sl_status status = sl_ledger_charge(sl_promise_cells[i], sl_promise_amounts[i]);
            if (status != SL_OK) {
                return status;
            }
        }
    }
    return SL_OK;
}

/* Would the plan fit if this victim stayed? */
/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && sl_trail_depth > 0;
  requires plan:       PlanUsageSound;
  requires index:      index < sl_preempt_plan.victim_count && ListsSound;
  requires world:      Shows(sl_preempt_plan.after_others, SL_NO_ONE);
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  world:      \result == SL_OK ==> Shows(sl_preempt_plan.after_others, SL_NO_ONE);
  ensures  needed:     \result == SL_OK ==> !(UsageFits(sl_preempt_plan.after_others, index) &&
                         (sl_preempt_plan.may_borrow == 0 ==> UsageWithin(sl_preempt_plan.after_others, index)));
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status check_needed(uint32_t index)
{
    sl_workload_id id = sl_preempt_plan.victims[index];
    enum sl_status status = charge(id);
    if (status != SL_OK) {
        return status;
    }
    //@ ghost lemma_world(sl_preempt_plan.after_others, index);
    if (sl_preempt_usage_available() && (sl_preempt_plan.may_borrow || sl_preempt_usage_within())) {
        return SL_REFUSED_SPARABLE;
    }
    return release(id);
}

/* In the world that the plan was made in, the victims gone: does it keep to what it says about borrowing, and is
 * every victim that is not being evicted in any case needed? */
/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && sl_trail_depth > 0;
  requires plan:       PlanUsageSound;
  requires lists:      ListsSound;
  requires capacities:      CapacityReady && CapacityShown;
  requires world:      Shows(sl_preempt_plan.after_others, SL_NO_ONE);
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        UsageInv && TrailSound;
  ensures  world:      \result == SL_OK ==> Shows(sl_preempt_plan.after_others, SL_NO_ONE);
  ensures  within:     \result == SL_OK && sl_preempt_plan.may_borrow == 0 ==>
                         UsageWithin(sl_preempt_plan.after_others, SL_NO_ONE);
  ensures  needed:     \result == SL_OK ==> NoneSpared{Post,Post};
  ensures  capacities:      SameFreed{Pre,Post};
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status check_minimal(void)
{
    //@ ghost lemma_world(sl_preempt_plan.after_others, SL_NO_ONE);
    if (!sl_preempt_plan.may_borrow && !sl_preempt_usage_within()) {
        return SL_REFUSED_QUOTA;
    }
    /*@
      loop invariant index:  0 <= i <= sl_preempt_plan.victim_count;
      loop invariant inv:    UsageInv && TrailSound;
      loop invariant world:  Shows(sl_preempt_plan.after_others, SL_NO_ONE);
      loop invariant needed: \forall integer j; 0 <= j < i ==> VictimNeeded{Here,Here}(j);
      loop invariant capacities:  SameFreed{Pre,Here};
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           i, SL_TRIED, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_preempt_plan.victim_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        if (sl_workloads[sl_preempt_plan.victims[i]].phase != SL_PHASE_EVICTED &&
            !sl_preempt_capacity_need(i)) {
            enum sl_status status = check_needed(i);
            if (status != SL_OK) {
                return status;
            }
        }
    }
    return SL_OK;
}

/* Go on to the world of the cycle so far: what was promised is taken, who was to go is gone. */
/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && sl_trail_depth > 0;
  requires lists:      ListsSound;
  requires promises:   PromisesValid;
  requires world:      Shows(0, SL_NO_ONE);
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  world:      \result == SL_OK ==> Shows(1, SL_NO_ONE);
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status enter_cycle(void)
{
    enum sl_status status = charge_promises();
    return status == SL_OK ? release_gone() : status;
}

/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && sl_trail_depth > 0;
  requires plan:       PlanUsageSound;
  requires lists:      ListsSound;
  requires promises:   PromisesValid;
  requires conserved:  Conserved;
  requires capacities:      CapacityReady && CapacityShown;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        UsageInv && TrailSound;
  ensures  fits:       \result == SL_OK ==> PlanFits;
  ensures  needed:     \result == SL_OK ==> NoneSpared{Post,Post};
  ensures  capacities:      SameFreed{Pre,Post};
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status run(void)
{
    enum sl_status status = release_victims();
    if (status == SL_OK && !sl_preempt_plan.after_others) {
        status = check_minimal();
    }
    if (status == SL_OK) {
        status = enter_cycle();
    }
    //@ ghost if (status == SL_OK) { lemma_world(1, SL_NO_ONE); }
    if (status == SL_OK && !sl_preempt_usage_available()) {
        status = SL_REFUSED_QUOTA;
    }
    if (status == SL_OK && sl_preempt_plan.after_others) {
        status = check_minimal();
    }
    return status;
}

enum sl_status sl_preempt_try(void)
{
    uint32_t mark = sl_trail_begin();
    enum sl_status status = run();
    sl_trail_rollback(mark);
    return status;
}
