/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The checker of the claims: adds them up cell by cell and compares with what the ledger says. */
#include "kernel/commit.h"

int64_t sl_claim_sums[SL_CELLS_MAX];

/*@
  requires limit:      sl_claim_cell_limit <= SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_claim_sums[0 .. SL_CELLS_MAX - 1];
  ensures  zero:       \forall integer c; 0 <= c < sl_claim_cell_limit ==> sl_claim_sums[c] == 0;
*/
static void clear_sums(void)
{
    /*@
      loop invariant index:  0 <= cell <= sl_claim_cell_limit;
      loop invariant zero:   \forall integer c; 0 <= c < cell ==> sl_claim_sums[c] == 0;
      loop assigns           cell, sl_claim_sums[0 .. SL_CELLS_MAX - 1];
      loop variant           sl_claim_cell_limit - cell;
    */
    for (uint32_t cell = 0; cell < sl_claim_cell_limit; cell++) {
        sl_claim_sums[cell] = 0;
    }
}

/* Add the claims of one workload; false when one of them is out of range or a sum becomes too large. */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires limit:      sl_claim_cell_limit <= SL_CELLS_MAX;
  requires range:      \forall integer c; 0 <= c < sl_claim_cell_limit ==>
                         0 <= sl_claim_sums[c] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_claim_sums[0 .. SL_CELLS_MAX - 1];
  ensures  range:      \forall integer c; 0 <= c < sl_claim_cell_limit ==>
                         0 <= sl_claim_sums[c] <= SL_AMOUNT_MAX;
  ensures  sound:      \result ==> sl_claim_counts[id] <= SL_CLAIMS_MAX &&
                         \forall integer k; 0 <= k < sl_claim_counts[id] ==>
                           sl_claim_cells[id][k] < sl_claim_cell_limit &&
                           0 <= sl_claim_amounts[id][k] <= SL_AMOUNT_MAX;
  ensures  sum:        \result ==> \forall integer c; 0 <= c < sl_claim_cell_limit ==>
                         sl_claim_sums[c] == \old(sl_claim_sums[c]) + RowSum(id, c, sl_claim_counts[id]);
*/
static bool add_claims(sl_workload_id id)
{
    if (sl_claim_counts[id] > SL_CLAIMS_MAX) {
        return false;
    }
    /*@
      loop invariant index:  0 <= i <= sl_claim_counts[id];
      loop invariant range:  \forall integer c; 0 <= c < sl_claim_cell_limit ==>
                               0 <= sl_claim_sums[c] <= SL_AMOUNT_MAX;
      loop invariant sound:  \forall integer k; 0 <= k < i ==>
                               sl_claim_cells[id][k] < sl_claim_cell_limit &&
                               0 <= sl_claim_amounts[id][k] <= SL_AMOUNT_MAX;
      loop invariant sum:    \forall integer c; 0 <= c < sl_claim_cell_limit ==>
                               sl_claim_sums[c] == \at(sl_claim_sums[c], Pre) + RowSum(id, c, i);
      loop assigns           i, sl_claim_sums[0 .. SL_CELLS_MAX - 1];
      loop variant           sl_claim_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_claim_counts[id]; i++) {
        sl_cell_id cell = sl_claim_cells[id][i];
        int64_t amount = sl_claim_amounts[id][i];
        if (cell >= sl_claim_cell_limit || amount < 0 || amount > SL_AMOUNT_MAX ||
            sl_claim_sums[cell] > SL_AMOUNT_MAX - amount) {
            return false;
        }
        sl_claim_sums[cell] += amount;
    }
    return true;
}

/*@
  requires limits:     sl_claim_workload_limit <= SL_WORKLOADS_MAX && sl_claim_cell_limit <= SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_claim_sums[0 .. SL_CELLS_MAX - 1];
  ensures  sound:      \result ==> \forall integer id; 0 <= id < sl_claim_workload_limit ==>
                         sl_claim_counts[id] <= SL_CLAIMS_MAX &&
                         \forall integer k; 0 <= k < sl_claim_counts[id] ==>
                           sl_claim_cells[id][k] < sl_claim_cell_limit &&
                           0 <= sl_claim_amounts[id][k] <= SL_AMOUNT_MAX;
  ensures  sum:        \result ==> \forall integer c; 0 <= c < sl_claim_cell_limit ==>
                         sl_claim_sums[c] == Claimed(c, sl_claim_workload_limit);
*/
static bool add_all_claims(void)
{
    clear_sums();
    /*@
      loop invariant index:  0 <= id <= sl_claim_workload_limit;
      loop invariant range:  \forall integer c; 0 <= c < sl_claim_cell_limit ==>
                               0 <= sl_claim_sums[c] <= SL_AMOUNT_MAX;
      loop invariant sound:  \forall integer w; 0 <= w < id ==>
                               sl_claim_counts[w] <= SL_CLAIMS_MAX &&
                               \forall integer k; 0 <= k < sl_claim_counts[w] ==>
                                 sl_claim_cells[w][k] < sl_claim_cell_limit &&
                                 0 <= sl_claim_amounts[w][k] <= SL_AMOUNT_MAX;
      loop invariant sum:    \forall integer c; 0 <= c < sl_claim_cell_limit ==>
                               sl_claim_sums[c] == Claimed(c, id);
      loop assigns           id, sl_claim_sums[0 .. SL_CELLS_MAX - 1];
      loop variant           sl_claim_workload_limit - id;
    */
    for (uint32_t id = 0; id < sl_claim_workload_limit; id++) {
        if (!add_claims(id)) {
            return false;
        }
    }
    return true;
}

bool sl_commit_valid(void)
{
    if (sl_claim_workload_limit > SL_WORKLOADS_MAX || sl_claim_cell_limit > SL_CELLS_MAX ||
        !add_all_claims()) {
        return false;
    }
    /*@
      loop invariant index:  0 <= cell <= sl_claim_cell_limit;
      loop invariant same:   \forall integer c; 0 <= c < cell ==> sl_claim_sums[c] == sl_cell_own[c];
      loop assigns           cell;
      loop variant           sl_claim_cell_limit - cell;
    */
    for (uint32_t cell = 0; cell < sl_claim_cell_limit; cell++) {
        if (sl_claim_sums[cell] != sl_ledger_own(cell)) {
            return false;
        }
    }
    return true;
}
