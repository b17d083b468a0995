/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How high a workload must reach to borrow. Heights of qnodes are worked out anew at the first question after
 * the forest has changed: a maximum cannot be taken back step by step. */
#include "kernel/ledger/ledger.h"

#include "kernel/ledger/cells.h"

uint32_t sl_qnode_height[SL_QNODES_MAX];
bool sl_heights_stale;

/* Forget all heights; the deepest level in use is the result. */
/*@
  requires linked:     QnodesLinked && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_height[0 .. SL_QNODES_MAX - 1];
  ensures  cleared:    \forall integer n; 0 <= n < SL_QNODES_MAX ==> sl_qnode_height[n] == 0;
  ensures  deepest:    \result < SL_LEVELS_MAX && \forall integer n; 0 <= n < sl_qnode_limit ==>
                       sl_qnode_level[n] <= \result;
  ensures  used:       \result != 0 ==> \exists integer n; 0 <= n < sl_qnode_limit && sl_qnode_level[n] == \result;
*/
static uint32_t clear_heights(void)
{
    uint32_t deepest = 0;
    /*@
      loop invariant qnode:    0 <= qnode <= sl_qnode_limit;
      loop invariant cleared: \forall integer n; 0 <= n < qnode || sl_qnode_limit <= n < SL_QNODES_MAX ==>
                              sl_qnode_height[n] == 0;
      loop invariant deepest: deepest < SL_LEVELS_MAX && \forall integer n; 0 <= n < qnode ==>
                              sl_qnode_level[n] <= deepest;
      loop invariant used:    deepest != 0 ==> \exists integer n; 0 <= n < qnode && sl_qnode_level[n] == deepest;
      loop assigns qnode, deepest, sl_qnode_height[0 .. SL_QNODES_MAX - 1];
      loop variant sl_qnode_limit - qnode;
    */
    for (sl_qnode_id qnode = 0; qnode < sl_qnode_limit; qnode++) {
        sl_qnode_height[qnode] = 0;
        if (sl_qnode_level[qnode] > deepest) {
            deepest = sl_qnode_level[qnode];
        }
    }
    return deepest;
}

/* Every qnode of the level raises its parent above itself. */
/*@
  requires linked:     QnodesLinked;
  requires level:      0 < level < SL_LEVELS_MAX;
  requires raised:     Raised(level) && HeightsInRange;
  requires unused:     \forall integer n; sl_qnode_limit <= n < SL_QNODES_MAX ==> sl_qnode_height[n] == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_height[0 .. SL_QNODES_MAX - 1];
  ensures  raised:     Raised(level - 1) && HeightsInRange;
  ensures  unused:     \forall integer n; sl_qnode_limit <= n < SL_QNODES_MAX ==> sl_qnode_height[n] == 0;
*/
static void raise_parents(uint32_t level)
{
    /*@
      loop invariant qnode:   0 <= qnode <= sl_qnode_limit;
      loop invariant deeper: \forall integer n; 0 <= n < SL_QNODES_MAX && sl_qnode_level[n] >= level ==>
                             sl_qnode_height[n] == \at(sl_qnode_height[n], Pre);
      loop invariant above:  \forall integer i; 0 <= i < SL_QNODES_MAX && sl_qnode_up[i] != 0 &&
                             (sl_qnode_level[i] > level || (sl_qnode_level[i] == level && i < qnode)) ==>
                             sl_qnode_height[i] < sl_qnode_height[sl_qnode_up[i] - 1];
      loop invariant just:   \forall integer n; 0 <= n < SL_QNODES_MAX && sl_qnode_height[n] != 0 ==>
                             \exists integer i; 0 <= i < SL_QNODES_MAX && sl_qnode_up[i] == n + 1 &&
                             sl_qnode_level[i] >= level && sl_qnode_height[n] == sl_qnode_height[i] + 1;
      loop invariant range:  HeightsInRange;
      loop invariant unused: \forall integer n; sl_qnode_limit <= n < SL_QNODES_MAX ==> sl_qnode_height[n] == 0;
      loop assigns qnode, sl_qnode_height[0 .. SL_QNODES_MAX - 1];
      loop variant sl_qnode_limit - qnode;
    */
    for (sl_qnode_id qnode = 0; qnode < sl_qnode_limit; qnode++) {
        if (sl_qnode_level[qnode] == level && sl_qnode_up[qnode] != 0) {
            sl_qnode_id parent = sl_qnode_up[qnode] - 1;
            if (sl_qnode_height[parent] <= sl_qnode_height[qnode]) {
                sl_qnode_height[parent] = sl_qnode_height[qnode] + 1;
            }
        }
    }
}

/*@
  requires linked:     QnodesLinked && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_height[0 .. SL_QNODES_MAX - 1], sl_heights_stale;
  ensures  fresh:      HeightsInv && !sl_heights_stale;
*/
static void refresh_heights(void)
{
    uint32_t level = clear_heights();
    /*@
      loop invariant level:  0 <= level < SL_LEVELS_MAX;
      loop invariant raised: Raised(level) && HeightsInRange;
      loop invariant unused: \forall integer n; sl_qnode_limit <= n < SL_QNODES_MAX ==> sl_qnode_height[n] == 0;
      loop assigns level, sl_qnode_height[0 .. SL_QNODES_MAX - 1];
      loop variant level;
    */
    for (; level > 0; level--) {
        raise_parents(level);
    }
    sl_heights_stale = false;
}

/* Does `amount` more stay within the quota of the cell's subtree? */
/*@
  requires cell:       cell < SL_CELLS_MAX && 0 <= sl_cell_usage[cell] <= SL_AMOUNT_MAX;
  requires amount:     0 <= amount <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> sl_cell_usage[cell] + amount <= sl_cell_subtree[cell];
*/
static bool fits(sl_cell_id cell, int64_t amount)
{
    return sl_cell_usage[cell] + amount <= sl_cell_subtree[cell];
}

uint32_t sl_ledger_borrow_height(sl_cell_id cell, int64_t amount)
{
    if (cell >= SL_CELLS_MAX || amount < 0 || amount > SL_AMOUNT_MAX) {
        return 0;
    }
    if (sl_cell_up[cell] == 0 || fits(cell, amount)) {
        return 0;
    }
    if (sl_heights_stale) {
        refresh_heights();
    }
    /*@
      loop invariant cell:   cell < SL_CELLS_MAX && sl_cell_home[cell] != 0;
      loop invariant amount: 0 <= amount <= SL_AMOUNT_MAX;
      loop invariant answer: borrow_height(cell, amount) == borrow_height(\at(cell, Pre), \at(amount, Pre));
      loop assigns cell, amount;
      loop variant cell_level(cell);
    */
    while (sl_cell_up[cell] != 0 && !fits(cell, amount)) {
        //@ assert beyond: sl_cell_usage[cell] + amount > sl_cell_subtree[cell] >= sl_cell_kept[cell];
        /*@ assert step: borrow_height(cell, amount) ==
            borrow_height(sl_cell_up[cell] - 1, amount - cell_spare(cell)); */
        if (sl_cell_kept[cell] > sl_cell_usage[cell]) {
            amount -= sl_cell_kept[cell] - sl_cell_usage[cell];
        }
        cell = sl_cell_up[cell] - 1;
    }
    return sl_qnode_height[sl_cell_home[cell] - 1];
}
