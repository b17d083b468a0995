/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How high a workload must reach to borrow. Heights of nodes are worked out anew at the first question after
 * the forest has changed: a maximum cannot be taken back step by step. */
#include "kernel/ledger/ledger.h"

#include "kernel/ledger/cells.h"

uint32_t sl_node_height[SL_NODES_MAX];
bool sl_heights_stale;

/* Forget all heights; the deepest level in use is the result. */
/*@
  requires linked:     NodesLinked && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_node_height[0 .. SL_NODES_MAX - 1];
  ensures  cleared:    \forall integer n; 0 <= n < SL_NODES_MAX ==> sl_node_height[n] == 0;
  ensures  deepest:    \result < SL_LEVELS_MAX && \forall integer n; 0 <= n < sl_node_limit ==>
                       sl_node_level[n] <= \result;
  ensures  used:       \result != 0 ==> \exists integer n; 0 <= n < sl_node_limit && sl_node_level[n] == \result;
*/
static uint32_t clear_heights(void)
{
    uint32_t deepest = 0;
    /*@
      loop invariant node:    0 <= node <= sl_node_limit;
      loop invariant cleared: \forall integer n; 0 <= n < node || sl_node_limit <= n < SL_NODES_MAX ==>
                              sl_node_height[n] == 0;
      loop invariant deepest: deepest < SL_LEVELS_MAX && \forall integer n; 0 <= n < node ==>
                              sl_node_level[n] <= deepest;
      loop invariant used:    deepest != 0 ==> \exists integer n; 0 <= n < node && sl_node_level[n] == deepest;
      loop assigns node, deepest, sl_node_height[0 .. SL_NODES_MAX - 1];
      loop variant sl_node_limit - node;
    */
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        sl_node_height[node] = 0;
        if (sl_node_level[node] > deepest) {
            deepest = sl_node_level[node];
        }
    }
    return deepest;
}

/* Every node of the level raises its parent above itself. */
/*@
  requires linked:     NodesLinked;
  requires level:      0 < level < SL_LEVELS_MAX;
  requires raised:     Raised(level) && HeightsInRange;
  requires unused:     \forall integer n; sl_node_limit <= n < SL_NODES_MAX ==> sl_node_height[n] == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_node_height[0 .. SL_NODES_MAX - 1];
  ensures  raised:     Raised(level - 1) && HeightsInRange;
  ensures  unused:     \forall integer n; sl_node_limit <= n < SL_NODES_MAX ==> sl_node_height[n] == 0;
*/
static void raise_parents(uint32_t level)
{
    /*@
      loop invariant node:   0 <= node <= sl_node_limit;
      loop invariant deeper: \forall integer n; 0 <= n < SL_NODES_MAX && sl_node_level[n] >= level ==>
                             sl_node_height[n] == \at(sl_node_height[n], Pre);
      loop invariant above:  \forall integer i; 0 <= i < SL_NODES_MAX && sl_node_up[i] != 0 &&
                             (sl_node_level[i] > level || (sl_node_level[i] == level && i < node)) ==>
                             sl_node_height[i] < sl_node_height[sl_node_up[i] - 1];
      loop invariant just:   \forall integer n; 0 <= n < SL_NODES_MAX && sl_node_height[n] != 0 ==>
                             \exists integer i; 0 <= i < SL_NODES_MAX && sl_node_up[i] == n + 1 &&
                             sl_node_level[i] >= level && sl_node_height[n] == sl_node_height[i] + 1;
      loop invariant range:  HeightsInRange;
      loop invariant unused: \forall integer n; sl_node_limit <= n < SL_NODES_MAX ==> sl_node_height[n] == 0;
      loop assigns node, sl_node_height[0 .. SL_NODES_MAX - 1];
      loop variant sl_node_limit - node;
    */
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        if (sl_node_level[node] == level && sl_node_up[node] != 0) {
            sl_node_id parent = sl_node_up[node] - 1;
            if (sl_node_height[parent] <= sl_node_height[node]) {
                sl_node_height[parent] = sl_node_height[node] + 1;
            }
        }
    }
}

/*@
  requires linked:     NodesLinked && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_node_height[0 .. SL_NODES_MAX - 1], sl_heights_stale;
  ensures  fresh:      HeightsInv && !sl_heights_stale;
*/
static void refresh_heights(void)
{
    uint32_t level = clear_heights();
    /*@
      loop invariant level:  0 <= level < SL_LEVELS_MAX;
      loop invariant raised: Raised(level) && HeightsInRange;
      loop invariant unused: \forall integer n; sl_node_limit <= n < SL_NODES_MAX ==> sl_node_height[n] == 0;
      loop assigns level, sl_node_height[0 .. SL_NODES_MAX - 1];
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
    return sl_node_height[sl_cell_home[cell] - 1];
}
