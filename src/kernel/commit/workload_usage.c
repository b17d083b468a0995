/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Amounts are rows of a table, pushed and popped at the end, and shrunk in place. The ghost loops show what each
 * change does to the sum over all rows. */
#include "kernel/commit/workload_usage.h"

struct sl_plan sl_plan;

uint32_t sl_usage_counts[SL_WORKLOADS_MAX];
sl_cell_id sl_usage_cells[SL_WORKLOADS_MAX][SL_USAGE_CELLS_MAX];
int64_t sl_usage_amounts[SL_WORKLOADS_MAX][SL_USAGE_CELLS_MAX];
uint32_t sl_usage_workload_limit;
uint32_t sl_usage_cell_limit;

/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires range:      cell < SL_CELLS_MAX && 0 <= amount <= SL_AMOUNT_MAX;
  requires valid:      WorkloadUsageValid;
  requires capacity:       sl_usage_counts[id] < SL_USAGE_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_usage_counts[id], sl_usage_cells[id][0 .. SL_USAGE_CELLS_MAX - 1],
                       sl_usage_amounts[id][0 .. SL_USAGE_CELLS_MAX - 1], sl_usage_workload_limit,
                       sl_usage_cell_limit;
  ensures  valid:      WorkloadUsageValid;
  ensures  longer:     sl_usage_counts[id] == \old(sl_usage_counts[id]) + 1;
  ensures  stored:     sl_usage_cells[id][\old(sl_usage_counts[id])] == cell &&
                       sl_usage_amounts[id][\old(sl_usage_counts[id])] == amount;
  ensures  kept:       \forall integer k; 0 <= k < \old(sl_usage_counts[id]) ==>
                         sl_usage_cells[id][k] == \old(sl_usage_cells[id][k]) &&
                         sl_usage_amounts[id][k] == \old(sl_usage_amounts[id][k]);
  ensures  sum:        \forall integer c; Claimed(c, SL_WORKLOADS_MAX) ==
                         \old(Claimed(c, SL_WORKLOADS_MAX)) + (c == cell ? amount : 0);
*/
static void push_usage(sl_workload_id id, sl_cell_id cell, int64_t amount)
{
    sl_usage_cells[id][sl_usage_counts[id]] = cell;
    sl_usage_amounts[id][sl_usage_counts[id]] = amount;
    sl_usage_counts[id]++;
    /*@ ghost
      /@ loop invariant index: 0 <= w <= SL_WORKLOADS_MAX;
         loop invariant sums: \forall integer c; Claimed(c, w) ==
           Claimed{Pre}(c, w) + (id < w && c == cell ? amount : 0);
         loop assigns w;
         loop variant SL_WORKLOADS_MAX - w;
      @/
      for (uint32_t w = 0; w < SL_WORKLOADS_MAX; w++) {
        /@ loop invariant index: 0 <= k <= SL_USAGE_CELLS_MAX;
           loop invariant frame: \forall integer c, j; 0 <= j <= k &&
             (w != id || j <= \at(sl_usage_counts[id], Pre)) ==> RowSum(w, c, j) == RowSum{Pre}(w, c, j);
           loop assigns k;
           loop variant SL_USAGE_CELLS_MAX - k;
        @/
        for (uint32_t k = 0; k < SL_USAGE_CELLS_MAX; k++) ;
      }
    */
    if (cell >= sl_usage_cell_limit) {
        sl_usage_cell_limit = cell + 1;
    }
    if (id >= sl_usage_workload_limit) {
        sl_usage_workload_limit = id + 1;
    }
}

void sl_usage_store(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_plan.usage_count;
      loop invariant valid:  WorkloadUsageValid;
      loop invariant count:  sl_usage_counts[sl_plan.workload] == i;
      loop invariant stored: \forall integer k; 0 <= k < i ==>
                               sl_usage_cells[sl_plan.workload][k] == sl_plan.usage[k].cell &&
                               sl_usage_amounts[sl_plan.workload][k] == sl_plan.usage[k].amount;
      loop invariant sum:    \forall integer c; Claimed(c, SL_WORKLOADS_MAX) ==
                               Claimed{Pre}(c, SL_WORKLOADS_MAX) + PlanSum(c, i);
      loop assigns           i, sl_usage_counts[sl_plan.workload],
                             sl_usage_cells[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                             sl_usage_amounts[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                             sl_usage_workload_limit, sl_usage_cell_limit;
      loop variant           sl_plan.usage_count - i;
    */
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        push_usage(sl_plan.workload, sl_plan.usage[i].cell, sl_plan.usage[i].amount);
    }
}

/* A workload holds no more of a cell than all workloads together, and no amount more than its row. */
/*@ ghost
  /@
    requires valid:      WorkloadUsageValid;
    terminates           \true;
    exits                \false;
    assigns              \nothing;
    ensures  member:     \forall integer w, k; 0 <= w < SL_WORKLOADS_MAX && 0 <= k < sl_usage_counts[w] ==>
                           sl_usage_amounts[w][k] <= Claimed(sl_usage_cells[w][k], SL_WORKLOADS_MAX);
  @/
  static void lemma_usage_is_part(void)
  {
    /@ loop invariant index:  0 <= w <= SL_WORKLOADS_MAX;
       loop invariant sum:    \forall integer c; 0 <= Claimed(c, w);
       loop invariant member: \forall integer v, k; 0 <= v < w && 0 <= k < sl_usage_counts[v] ==>
                                sl_usage_amounts[v][k] <= Claimed(sl_usage_cells[v][k], w);
       loop assigns           w;
       loop variant           SL_WORKLOADS_MAX - w;
    @/
    for (uint32_t w = 0; w < SL_WORKLOADS_MAX; w++) {
      /@ loop invariant index:  0 <= k <= sl_usage_counts[w];
         loop invariant sum:    \forall integer c; 0 <= RowSum(w, c, k);
         loop invariant member: \forall integer j; 0 <= j < k ==>
                                  sl_usage_amounts[w][j] <= RowSum(w, sl_usage_cells[w][j], k);
         loop assigns           k;
         loop variant           sl_usage_counts[w] - k;
      @/
      for (uint32_t k = 0; k < sl_usage_counts[w]; k++) ;
    }
  }
*/

/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires valid:      WorkloadUsageValid;
  requires some:       sl_usage_counts[id] > 0;
  terminates           \true;
  exits                \false;
  assigns              sl_usage_counts[id];
  ensures  valid:      WorkloadUsageValid;
  ensures  shorter:    sl_usage_counts[id] == \old(sl_usage_counts[id]) - 1;
  ensures  sum:        \forall integer c; Claimed(c, SL_WORKLOADS_MAX) ==
                         \old(Claimed(c, SL_WORKLOADS_MAX)) -
                           (c == sl_usage_cells[id][sl_usage_counts[id]]
                              ? sl_usage_amounts[id][sl_usage_counts[id]] : 0);
*/
static void pop_usage(sl_workload_id id)
{
    sl_usage_counts[id]--;
    /*@ ghost
      /@ loop invariant index: 0 <= w <= SL_WORKLOADS_MAX;
         loop invariant sums: \forall integer c; Claimed(c, w) == Claimed{Pre}(c, w) -
           (id < w && c == sl_usage_cells[id][sl_usage_counts[id]]
              ? sl_usage_amounts[id][sl_usage_counts[id]] : 0);
         loop assigns w;
         loop variant SL_WORKLOADS_MAX - w;
      @/
      for (uint32_t w = 0; w < SL_WORKLOADS_MAX; w++) {
        /@ loop invariant index: 0 <= k <= SL_USAGE_CELLS_MAX;
           loop invariant frame: \forall integer c, j; 0 <= j <= k ==>
             RowSum(w, c, j) == RowSum{Pre}(w, c, j);
           loop assigns k;
           loop variant SL_USAGE_CELLS_MAX - k;
        @/
        for (uint32_t k = 0; k < SL_USAGE_CELLS_MAX; k++) ;
      }
    */
}

enum sl_status sl_usage_release(sl_workload_id id)
{
    enum sl_status status = SL_OK;
    /*@
      loop invariant ledger: UsageInv && TrailSound;
      loop invariant used:   ChargedCellsUsed;
      loop invariant valid:  WorkloadUsageValid;
      loop invariant sum:    Conserved;
      loop invariant count:  sl_usage_counts[id] <= \at(sl_usage_counts[id], Pre);
      loop invariant result: status == SL_OK;
      loop invariant given:  \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] - RowSum(id, c, sl_usage_counts[id]) ==
                               \at(sl_cell_own[c] - RowSum(id, c, sl_usage_counts[id]), Pre);
      loop assigns           status, sl_cell_own[0 .. SL_CELLS_MAX - 1],
                             sl_cell_usage[0 .. SL_CELLS_MAX - 1], sl_total[0 .. SL_TOTALS_MAX - 1],
                             sl_trail_count, sl_trail_cell[0 .. SL_TRAIL_MAX - 1],
                             sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                             sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_usage_counts[id];
      loop variant           sl_usage_counts[id];
    */
    while (sl_usage_counts[id] > 0 && status == SL_OK) {
        //@ ghost lemma_usage_is_part();
        uint32_t last = sl_usage_counts[id] - 1;
        /* an amount of zero may be on a cell that was closed since */
        if (sl_usage_amounts[id][last] > 0) {
            status = sl_ledger_release(sl_usage_cells[id][last], sl_usage_amounts[id][last]);
        }
        pop_usage(id);
    }
    return status;
}

/*@
  requires known:      id < SL_WORKLOADS_MAX && index < sl_usage_counts[id];
  requires smaller:    0 <= amount <= sl_usage_amounts[id][index];
  requires valid:      WorkloadUsageValid;
  terminates           \true;
  exits                \false;
  assigns              sl_usage_amounts[id][index];
  ensures  valid:      WorkloadUsageValid;
  ensures  amount:     sl_usage_amounts[id][index] == amount;
  ensures  sum:        \forall integer c; Claimed(c, SL_WORKLOADS_MAX) ==
                         \old(Claimed(c, SL_WORKLOADS_MAX)) -
                           (c == sl_usage_cells[id][index] ? \old(sl_usage_amounts[id][index]) - amount : 0);
*/
static void shrink_usage(sl_workload_id id, uint32_t index, int64_t amount)
{
    sl_usage_amounts[id][index] = amount;
    /*@ ghost
      /@ loop invariant index: 0 <= w <= SL_WORKLOADS_MAX;
         loop invariant sums: \forall integer c; Claimed(c, w) == Claimed{Pre}(c, w) -
           (id < w && c == sl_usage_cells[id][index] ? \at(sl_usage_amounts[id][index], Pre) - amount : 0);
         loop assigns w;
         loop variant SL_WORKLOADS_MAX - w;
      @/
      for (uint32_t w = 0; w < SL_WORKLOADS_MAX; w++) {
        /@ loop invariant index: 0 <= k <= SL_USAGE_CELLS_MAX;
           loop invariant rows: \forall integer c, j; 0 <= j <= k ==>
             RowSum(w, c, j) == RowSum{Pre}(w, c, j) - (w == id && index < j && c == sl_usage_cells[id][index]
               ? \at(sl_usage_amounts[id][index], Pre) - amount : 0);
           loop assigns k;
           loop variant SL_USAGE_CELLS_MAX - k;
        @/
        for (uint32_t k = 0; k < SL_USAGE_CELLS_MAX; k++) ;
      }
    */
}

enum sl_status sl_usage_reduce(sl_workload_id id, uint32_t index, int64_t amount)
{
    enum sl_status status = SL_OK;
    int64_t less = sl_usage_amounts[id][index] - amount;
    //@ ghost lemma_usage_is_part();
    /* an amount of zero may be on a cell that was closed since */
    if (less > 0) {
        status = sl_ledger_release(sl_usage_cells[id][index], less);
    }
    shrink_usage(id, index, amount);
    return status;
}
