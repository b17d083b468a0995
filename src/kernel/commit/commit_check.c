/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The checker of the amounts: adds them up cell by cell and compares with what the ledger says. */
#include "kernel/commit/commit.h"

int64_t sl_usage_sums[SL_CELLS_MAX];

/* More amounts never take less: so a sum that has become too large stays too large. */
/*@ ghost
  /@ requires known:      0 <= id < SL_WORKLOADS_MAX && UsageRowSound(id);
     terminates           \true;
     exits                \false;
     assigns              \nothing;
     ensures  grows:      \forall integer c, k; 0 <= k <= sl_usage_counts[id] ==>
                            0 <= RowSum(id, c, k) <= RowSum(id, c, sl_usage_counts[id]);
  @/
  void lemma_row_grows(sl_workload_id id)
  {
    /@ loop invariant index: 0 <= i <= sl_usage_counts[id];
       loop invariant grows: \forall integer c, k; 0 <= k <= i ==> 0 <= RowSum(id, c, k) <= RowSum(id, c, i);
       loop assigns          i;
       loop variant          sl_usage_counts[id] - i;
    @/
    for (uint32_t i = 0; i < sl_usage_counts[id]; i++) {
      /@ assert next: \forall integer c; RowSum(id, c, i) <= RowSum(id, c, i + 1); @/
      ;
    }
  }
*/

/*@ ghost
  /@ requires limit:      0 <= n <= SL_WORKLOADS_MAX && UsageRowsSound(n);
     terminates           \true;
     exits                \false;
     assigns              \nothing;
     ensures  grows:      \forall integer c, w; 0 <= w <= n ==> 0 <= Claimed(c, w) <= Claimed(c, n);
  @/
  void lemma_usage_grows(uint32_t n)
  {
    /@ loop invariant index: 0 <= i <= n;
       loop invariant grows: \forall integer c, w; 0 <= w <= i ==> 0 <= Claimed(c, w) <= Claimed(c, i);
       loop assigns          i;
       loop variant          n - i;
    @/
    for (uint32_t i = 0; i < n; i++) {
      /@ assert sound: UsageRowSound(i); @/
      lemma_row_grows(i);
      /@ assert next: \forall integer c; Claimed(c, i) <= Claimed(c, i + 1); @/
    }
  }
*/

/*@
  requires limit:      sl_usage_cell_limit <= SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_usage_sums[0 .. SL_CELLS_MAX - 1];
  ensures  zero:       \forall integer c; 0 <= c < sl_usage_cell_limit ==> sl_usage_sums[c] == 0;
*/
static void clear_sums(void)
{
    /*@
      loop invariant index:  0 <= cell <= sl_usage_cell_limit;
      loop invariant zero:   \forall integer c; 0 <= c < cell ==> sl_usage_sums[c] == 0;
      loop assigns           cell, sl_usage_sums[0 .. SL_CELLS_MAX - 1];
      loop variant           sl_usage_cell_limit - cell;
    */
    for (uint32_t cell = 0; cell < sl_usage_cell_limit; cell++) {
        sl_usage_sums[cell] = 0;
    }
}

/* Are there few enough, each on a cell below the limit and an amount? */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> UsageRowSound(id);
*/
static bool row_is_sound(sl_workload_id id)
{
    if (sl_usage_counts[id] > SL_USAGE_CELLS_MAX) {
        return false;
    }
    /*@
      loop invariant index:  0 <= i <= sl_usage_counts[id];
      loop invariant sound:  \forall integer k; 0 <= k < i ==>
                               sl_usage_cells[id][k] < sl_usage_cell_limit &&
                               0 <= sl_usage_amounts[id][k] <= SL_AMOUNT_MAX;
      loop assigns           i;
      loop variant           sl_usage_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_usage_counts[id]; i++) {
        if (sl_usage_cells[id][i] >= sl_usage_cell_limit || sl_usage_amounts[id][i] < 0 ||
            sl_usage_amounts[id][i] > SL_AMOUNT_MAX) {
            return false;
        }
    }
    return true;
}

/* Add the amounts of one workload; false when a sum becomes too large. */
/*@
  requires known:      id < SL_WORKLOADS_MAX && UsageRowSound(id);
  requires limit:      sl_usage_cell_limit <= SL_CELLS_MAX;
  requires range:      \forall integer c; 0 <= c < sl_usage_cell_limit ==>
                         0 <= sl_usage_sums[c] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_usage_sums[0 .. SL_CELLS_MAX - 1];
  ensures  range:      \forall integer c; 0 <= c < sl_usage_cell_limit ==>
                         0 <= sl_usage_sums[c] <= SL_AMOUNT_MAX;
  ensures  sum:        \result ==> \forall integer c; 0 <= c < sl_usage_cell_limit ==>
                         sl_usage_sums[c] == \old(sl_usage_sums[c]) + RowSum(id, c, sl_usage_counts[id]);
  ensures  fair:       !\result ==> \exists integer c; 0 <= c < sl_usage_cell_limit &&
                         \old(sl_usage_sums)[c] + RowSum(id, c, sl_usage_counts[id]) > SL_AMOUNT_MAX;
*/
static bool add_usage_rows(sl_workload_id id)
{
    //@ ghost lemma_row_grows(id);
    /*@
      loop invariant index:  0 <= i <= sl_usage_counts[id];
      loop invariant range:  \forall integer c; 0 <= c < sl_usage_cell_limit ==>
                               0 <= sl_usage_sums[c] <= SL_AMOUNT_MAX;
      loop invariant sum:    \forall integer c; 0 <= c < sl_usage_cell_limit ==>
                               sl_usage_sums[c] == \at(sl_usage_sums[c], Pre) + RowSum(id, c, i);
      loop assigns           i, sl_usage_sums[0 .. SL_CELLS_MAX - 1];
      loop variant           sl_usage_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_usage_counts[id]; i++) {
        sl_cell_id cell = sl_usage_cells[id][i];
        int64_t amount = sl_usage_amounts[id][i];
        if (sl_usage_sums[cell] > SL_AMOUNT_MAX - amount) {
            /*@ assert large: \at(sl_usage_sums, Pre)[cell] + RowSum(id, cell, i + 1) > SL_AMOUNT_MAX; */
            return false;
        }
        sl_usage_sums[cell] += amount;
    }
    return true;
}

/*@
  requires limits:     sl_usage_workload_limit <= SL_WORKLOADS_MAX && sl_usage_cell_limit <= SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> UsageRowsSound(sl_usage_workload_limit);
*/
static bool rows_are_sound(void)
{
    /*@
      loop invariant index:  0 <= id <= sl_usage_workload_limit;
      loop invariant sound:  UsageRowsSound(id);
      loop assigns           id;
      loop variant           sl_usage_workload_limit - id;
    */
    for (uint32_t id = 0; id < sl_usage_workload_limit; id++) {
        if (!row_is_sound(id)) {
            return false;
        }
    }
    return true;
}

/*@
  requires limits:     sl_usage_workload_limit <= SL_WORKLOADS_MAX && sl_usage_cell_limit <= SL_CELLS_MAX;
  requires rows:       UsageRowsSound(sl_usage_workload_limit);
  terminates           \true;
  exits                \false;
  assigns              sl_usage_sums[0 .. SL_CELLS_MAX - 1];
  ensures  range:      \forall integer c; 0 <= c < sl_usage_cell_limit ==>
                         0 <= sl_usage_sums[c] <= SL_AMOUNT_MAX;
  ensures  sum:        \result ==> \forall integer c; 0 <= c < sl_usage_cell_limit ==>
                         sl_usage_sums[c] == Claimed(c, sl_usage_workload_limit);
  ensures  fair:       !\result ==> \exists integer c; 0 <= c < sl_usage_cell_limit &&
                         Claimed(c, sl_usage_workload_limit) > SL_AMOUNT_MAX;
*/
static bool add_all_usage(void)
{
    clear_sums();
    //@ ghost lemma_usage_grows(sl_usage_workload_limit);
    /*@
      loop invariant index:  0 <= id <= sl_usage_workload_limit;
      loop invariant range:  \forall integer c; 0 <= c < sl_usage_cell_limit ==>
                               0 <= sl_usage_sums[c] <= SL_AMOUNT_MAX;
      loop invariant sum:    \forall integer c; 0 <= c < sl_usage_cell_limit ==>
                               sl_usage_sums[c] == Claimed(c, id);
      loop assigns           id, sl_usage_sums[0 .. SL_CELLS_MAX - 1];
      loop variant           sl_usage_workload_limit - id;
    */
    for (uint32_t id = 0; id < sl_usage_workload_limit; id++) {
        //@ assert row: UsageRowSound(id);
        /*@ assert step: \forall integer c;
              Claimed(c, id + 1) == Claimed(c, id) + RowSum(id, c, sl_usage_counts[id]); */
        if (!add_usage_rows(id)) {
            /*@ assert last: \exists integer c; 0 <= c < sl_usage_cell_limit &&
                  Claimed(c, id) + RowSum(id, c, sl_usage_counts[id]) > SL_AMOUNT_MAX; */
            /*@ assert large: \exists integer c; 0 <= c < sl_usage_cell_limit &&
                  Claimed(c, id + 1) > SL_AMOUNT_MAX; */
            return false;
        }
    }
    return true;
}

bool sl_commit_valid(void)
{
    if (sl_usage_workload_limit > SL_WORKLOADS_MAX || sl_usage_cell_limit > SL_CELLS_MAX ||
        !rows_are_sound() || !add_all_usage()) {
        return false;
    }
    /*@
      loop invariant index:  0 <= cell <= sl_usage_cell_limit;
      loop invariant same:   \forall integer c; 0 <= c < cell ==> sl_usage_sums[c] == sl_cell_own[c];
      loop assigns           cell;
      loop variant           sl_usage_cell_limit - cell;
    */
    for (uint32_t cell = 0; cell < sl_usage_cell_limit; cell++) {
        if (sl_usage_sums[cell] != sl_ledger_own(cell)) {
            return false;
        }
    }
    return true;
}
