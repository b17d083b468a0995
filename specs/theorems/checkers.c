/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What follows from the checkers' contracts alone; nothing here is part of the program. Whatever the kernel's proofs
 * keep, the checkers accept: they look below their limits only, and beyond them there is nothing to be added. */
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"

/*@
  requires inv:        LedgerInv;
  terminates           \true;
  exits                \false;
  assigns              SL_LEDGER_SCRATCH;
  ensures  accepted:   \result;
*/
bool theorem_ledger_accepted(void)
{
    /*@ assert qnodes_beyond: \forall integer i; sl_qnode_limit <= i < SL_QNODES_MAX ==> sl_qnode_up[i] == 0; */
    /*@ assert cells_beyond: \forall integer c; sl_cell_limit <= c < SL_CELLS_MAX ==>
          sl_cell_home[c] == 0 && sl_cell_up[c] == 0 && sl_cell_own[c] == 0; */
    /*@ assert unused: \forall integer i; 0 <= i < SL_QNODES_MAX && !sl_qnode_used[i] ==>
          sl_qnode_first[i] == 0 && sl_qnode_cells[i] == 0 && sl_qnode_up[i] == 0; */
    /*@ ghost
      uint32_t k = sl_qnode_limit;
      /@ loop invariant sl_qnode_limit <= k <= SL_QNODES_MAX;
         loop invariant \forall integer p; 0 <= p ==> child_count(p, k) == child_count(p, sl_qnode_limit);
         loop assigns k;
         loop variant SL_QNODES_MAX - k; @/
      while (k < SL_QNODES_MAX) k++;
    */
    /*@ ghost
      uint32_t i = sl_cell_limit;
      /@ loop invariant sl_cell_limit <= i <= SL_CELLS_MAX;
         loop invariant \forall integer p; 0 <= p ==> stored_sum(p, i) == stored_sum(p, sl_cell_limit);
         loop invariant \forall integer p; 0 <= p ==> lent_sum(p, i) == lent_sum(p, sl_cell_limit);
         loop invariant \forall integer b; own_sum(b, i) == own_sum(b, sl_cell_limit);
         loop invariant \forall integer n; 0 <= n ==> cell_count(n, i) == cell_count(n, sl_cell_limit);
         loop invariant used_count(i) == used_count(sl_cell_limit);
         loop assigns i;
         loop variant SL_CELLS_MAX - i; @/
      while (i < SL_CELLS_MAX) i++;
    */
    /*@ assert linked: \forall integer n; 0 <= n < sl_qnode_limit ==> QnodeSound(n); */
    //@ assert qnodes: QnodesChecked;
    //@ assert cells: CellsChecked;
    //@ assert sums: SumsChecked;
    //@ assert lists: ListsChecked;
    //@ assert spares: SparesChecked;
    return sl_ledger_valid();
}

/*@
  requires inv:        CoreInv && sl_trail_depth == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_usage_sums[0 .. SL_CELLS_MAX - 1];
  ensures  accepted:   \result;
*/
bool theorem_usage_accepted(void)
{
    /*@ ghost
      /@ loop invariant 0 <= w <= SL_WORKLOADS_MAX;
         loop invariant \forall integer c; w <= sl_usage_workload_limit ||
             Claimed(c, w) == Claimed(c, sl_usage_workload_limit);
         loop assigns w;
         loop variant SL_WORKLOADS_MAX - w; @/
      for (uint32_t w = 0; w < SL_WORKLOADS_MAX; w++) ;
    */
    //@ assert rows: UsageRowsSound(sl_usage_workload_limit);
    return sl_commit_valid();
}
