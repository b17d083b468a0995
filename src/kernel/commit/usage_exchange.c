/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* First everything that the old workload holds is taken back, then as much of it as the plan says is charged again
 * without asking: so far no cell uses more than before, whatever its limits have become. Then the rest of the plan is
 * reserved. */
#include "kernel/commit/usage_exchange.h"

/* No workload holds more than is charged. */
/*@ ghost
  /@
    requires known:      id < SL_WORKLOADS_MAX;
    requires sums:       WorkloadUsageValid && Conserved && UsageInRange;
    terminates           \true;
    exits                \false;
    assigns              \nothing;
    ensures  range:      HeldInRange(id);
  @/
  static void lemma_held_in_range(sl_workload_id id)
  {
    /@ loop invariant index:  0 <= w <= SL_WORKLOADS_MAX;
       loop invariant sum:    \forall integer c; 0 <= Claimed(c, w);
       loop invariant member: id < w ==> \forall integer c; Held(id, c) <= Claimed(c, w);
       loop assigns           w;
       loop variant           SL_WORKLOADS_MAX - w;
    @/
    for (uint32_t w = 0; w < SL_WORKLOADS_MAX; w++) {
      /@ loop invariant index:  0 <= k <= sl_usage_counts[w];
         loop invariant sum:    \forall integer c; 0 <= RowSum(w, c, k);
         loop assigns           k;
         loop variant           sl_usage_counts[w] - k;
      @/
      for (uint32_t k = 0; k < sl_usage_counts[w]; k++) ;
    }
    /@ loop invariant index:  0 <= k <= sl_usage_counts[id];
       loop invariant grows:  \forall integer c, j; 0 <= j <= k ==> 0 <= RowSum(id, c, j) <= RowSum(id, c, k);
       loop assigns           k;
       loop variant           sl_usage_counts[id] - k;
    @/
    for (uint32_t k = 0; k < sl_usage_counts[id]; k++) ;
  }
*/

/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires cell:       cell < SL_CELLS_MAX;
  requires rows:       WorkloadUsageValid && HeldInRange(id);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == Held(id, cell);
*/
static int64_t held_of(sl_workload_id id, sl_cell_id cell)
{
    int64_t held = 0;
    /*@
      loop invariant index:  0 <= i <= sl_usage_counts[id];
      loop invariant sum:    held == RowSum(id, cell, i);
      loop assigns           i, held;
      loop variant           sl_usage_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_usage_counts[id]; i++) {
        //@ assert next: 0 <= RowSum(id, cell, i + 1) <= SL_AMOUNT_MAX;
        if (sl_usage_cells[id][i] == cell) {
            held += sl_usage_amounts[id][i];
        }
    }
    return held;
}

int64_t sl_usage_held(sl_workload_id id, sl_cell_id cell)
{
    //@ ghost lemma_held_in_range(id);
    return held_of(id, cell);
}

/* How much of the plan's amount at `index` the old workload holds. */
/*@
  requires known:      old < SL_WORKLOADS_MAX;
  requires index:      index < sl_plan.usage_count;
  requires plan:       PlanUsageSound;
  requires rows:       WorkloadUsageValid && HeldInRange(old);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == Common(old, index);
  ensures  range:      0 <= \result <= sl_plan.usage[index].amount;
*/
static int64_t common(sl_workload_id old, uint32_t index)
{
    //@ assert cell: PlanCellSound(index);
    int64_t held = held_of(old, sl_plan.usage[index].cell);
    int64_t amount = sl_plan.usage[index].amount;
    return amount < held ? amount : held;
}

/*@
  requires known:      old < SL_WORKLOADS_MAX;
  requires rows:       WorkloadUsageValid;
  requires inv:        UsageInv && TrailSound && ChargedCellsUsed;
  requires trial:      sl_trail_depth > 0;
  terminates           \true;
  exits                \false;
  assigns              SL_EXCHANGED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  used:       \result == SL_OK ==> ChargedCellsUsed;
  ensures  given_back: \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) - Held(old, c);
  ensures  says:       \result != SL_REFUSED_QUOTA && \result != SL_REFUSED_CAPACITY;
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status release_rows(sl_workload_id old)
{
    /*@
      loop invariant index:  0 <= i <= sl_usage_counts[old];
      loop invariant inv:    UsageInv && TrailSound && ChargedCellsUsed;
      loop invariant sum:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] == \at(sl_cell_own[c], Pre) - RowSum(old, c, i);
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           i, SL_EXCHANGED;
      loop variant           sl_usage_counts[old] - i;
    */
    for (uint32_t i = 0; i < sl_usage_counts[old]; i++) {
        /* an amount of zero may be on a cell that was closed since */
        if (sl_usage_amounts[old][i] > 0) {
            enum sl_status status =
                sl_ledger_release(sl_usage_cells[old][i], sl_usage_amounts[old][i]);
            if (status != SL_OK) {
                return status;
            }
        }
    }
    return SL_OK;
}

/*@
  requires known:      old < SL_WORKLOADS_MAX;
  requires plan:       PlanUsageSound;
  requires rows:       WorkloadUsageValid && HeldInRange(old);
  requires inv:        UsageInv && TrailSound && ChargedCellsUsed;
  requires trial:      sl_trail_depth > 0;
  terminates           \true;
  exits                \false;
  assigns              SL_EXCHANGED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  used:       \result == SL_OK ==> ChargedCellsUsed;
  ensures  charged:    \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + CommonSum(old, c, sl_plan.usage_count);
  ensures  less:       \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         CommonSum(old, c, sl_plan.usage_count) <= Held(old, c);
  ensures  says:       \result != SL_REFUSED_QUOTA && \result != SL_REFUSED_CAPACITY;
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status charge_common(sl_workload_id old)
{
    /*@
      loop invariant index:  0 <= i <= sl_plan.usage_count;
      loop invariant inv:    UsageInv && TrailSound && ChargedCellsUsed;
      loop invariant sum:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] == \at(sl_cell_own[c], Pre) + CommonSum(old, c, i);
      loop invariant none:   \forall integer c; (\forall integer j; 0 <= j < i ==> sl_plan.usage[j].cell != c) ==>
                               CommonSum(old, c, i) == 0;
      loop invariant less:   \forall integer c; 0 <= c < SL_CELLS_MAX ==> CommonSum(old, c, i) <= Held(old, c);
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           i, SL_EXCHANGED;
      loop variant           sl_plan.usage_count - i;
    */
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        //@ assert cell: PlanCellSound(i);
        int64_t amount = common(old, i);
        enum sl_status status = sl_ledger_charge(sl_plan.usage[i].cell, amount);
        if (status != SL_OK) {
            return status;
        }
    }
    return SL_OK;
}

/* Nothing but what the plan has in common with it is left of what the old workload held, so no cell uses more. */
/*@
  requires known:      old < SL_WORKLOADS_MAX;
  requires plan:       PlanUsageSound;
  requires rows:       WorkloadUsageValid && HeldInRange(old);
  requires inv:        UsageInv && TrailSound && ChargedCellsUsed;
  requires trial:      sl_trail_depth > 0;
  terminates           \true;
  exits                \false;
  assigns              SL_EXCHANGED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  used:       \result == SL_OK ==> ChargedCellsUsed;
  ensures  left:       \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] ==
                         \old(sl_cell_own[c]) - Held(old, c) + CommonSum(old, c, sl_plan.usage_count);
  ensures  falls:      \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_usage[c] <= \old(sl_cell_usage[c]);
  ensures  says:       \result != SL_REFUSED_QUOTA && \result != SL_REFUSED_CAPACITY;
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status fall(sl_workload_id old)
{
    enum sl_status status = release_rows(old);
    if (status == SL_OK) {
        status = charge_common(old);
    }
    if (status != SL_OK) {
        return status;
    }
    /*@ assert own: \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] <= \at(sl_cell_own[c], Pre); */
    /*@ ghost
      /@ loop invariant index: 0 <= l <= SL_LEVELS_MAX;
         loop invariant falls: \forall integer c; 0 <= c < SL_CELLS_MAX && l <= cell_level(c) ==>
           sl_cell_usage[c] <= \at(sl_cell_usage[c], Pre);
         loop assigns l;
         loop variant l;
      @/
      for (uint32_t l = SL_LEVELS_MAX; l > 0; l--) {
        /@ loop invariant index: 0 <= k <= SL_CELLS_MAX;
           loop invariant falls: \forall integer p; 0 <= p < SL_CELLS_MAX && l - 1 <= cell_level(p) ==>
             stored_sum(p, k) <= stored_sum{Pre}(p, k);
           loop assigns k;
           loop variant SL_CELLS_MAX - k;
        @/
        for (uint32_t k = 0; k < SL_CELLS_MAX; k++) {
          /@ assert child: \forall integer p; 0 <= p < SL_CELLS_MAX && l - 1 <= cell_level(p) &&
               sl_cell_up[k] == p + 1 ==> cell_stored(k) <= cell_stored{Pre}(k); @/
          ;
        }
      }
    */
    return SL_OK;
}

/* Reserve what the plan says beyond what the old workload holds. */
/*@
  requires known:      old < SL_WORKLOADS_MAX;
  requires plan:       PlanUsageSound;
  requires rows:       WorkloadUsageValid && HeldInRange(old);
  requires inv:        UsageInv && TrailSound && ChargedCellsUsed;
  requires trial:      sl_trail_depth > 0;
  terminates           \true;
  exits                \false;
  assigns              SL_EXCHANGED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  used:       \result == SL_OK ==> ChargedCellsUsed;
  ensures  charged:    \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + PlanSum(c, sl_plan.usage_count) -
                           CommonSum(old, c, sl_plan.usage_count);
  ensures  limits:     \result == SL_OK ==> LimitsKept{Pre,Post};
  ensures  shrinks:    \result == SL_REFUSED_QUOTA ==> Grows(old);
  ensures  says:       \result != SL_REFUSED_CAPACITY;
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status reserve_rest(sl_workload_id old)
{
    /*@
      loop invariant index:  0 <= i <= sl_plan.usage_count;
      loop invariant inv:    UsageInv && TrailSound && ChargedCellsUsed;
      loop invariant sum:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] == \at(sl_cell_own[c], Pre) + PlanSum(c, i) - CommonSum(old, c, i);
      loop invariant limits: LimitsKept{Pre,Here};
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           i, SL_EXCHANGED;
      loop variant           sl_plan.usage_count - i;
    */
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        //@ assert cell: PlanCellSound(i);
        int64_t rest = sl_plan.usage[i].amount - common(old, i);
        /* where nothing is wanted beyond it, nothing is asked: less than nothing may be available */
        if (rest > 0) {
            enum sl_status status = sl_ledger_reserve(sl_plan.usage[i].cell, rest);
            if (status != SL_OK) {
                return status;
            }
        }
    }
    return SL_OK;
}

enum sl_status sl_usage_exchange(sl_workload_id old)
{
    //@ ghost lemma_held_in_range(old);
    enum sl_status status = fall(old);
    return status == SL_OK ? reserve_rest(old) : status;
}

void sl_usage_forget(sl_workload_id id)
{
    sl_usage_counts[id] = 0;
    /*@ ghost
      /@ loop invariant index: 0 <= w <= SL_WORKLOADS_MAX;
         loop invariant sums: \forall integer c; Claimed(c, w) == Claimed{Pre}(c, w) - (id < w ? Held{Pre}(id, c) : 0);
         loop assigns w;
         loop variant SL_WORKLOADS_MAX - w;
      @/
      for (uint32_t w = 0; w < SL_WORKLOADS_MAX; w++) {
        /@ loop invariant index: 0 <= k <= SL_USAGE_CELLS_MAX;
           loop invariant frame: \forall integer c, j; 0 <= j <= k ==> RowSum(w, c, j) == RowSum{Pre}(w, c, j);
           loop assigns k;
           loop variant SL_USAGE_CELLS_MAX - k;
        @/
        for (uint32_t k = 0; k < SL_USAGE_CELLS_MAX; k++) ;
      }
    */
}
