/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The checker's half for qnodes and lists: links, levels and counts, and that each qnode's list is whole. */
#include "kernel/ledger/ledger_check.h"

#include "kernel/ledger/cells.h"

uint32_t sl_check_counts[SL_QNODES_MAX];
bool sl_check_spare[SL_CELLS_MAX];

/*@
  requires limits:     sl_qnode_limit <= SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_counts[0 .. SL_QNODES_MAX - 1];
  ensures  qnodes:      \forall integer n; 0 <= n < sl_qnode_limit ==> sl_check_counts[n] == 0;
*/
static void clear_counts(void)
{
    /*@
      loop invariant qnode:  0 <= qnode <= sl_qnode_limit;
      loop invariant clear: \forall integer n; 0 <= n < qnode ==> sl_check_counts[n] == 0;
      loop assigns qnode, sl_check_counts[0 .. SL_QNODES_MAX - 1];
      loop variant sl_qnode_limit - qnode;
    */
    for (sl_qnode_id qnode = 0; qnode < sl_qnode_limit; qnode++) {
        sl_check_counts[qnode] = 0;
    }
}

/*@
  requires qnode:       qnode < sl_qnode_limit <= SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result <==> QnodeSound(qnode);
*/
static bool qnode_is_sound(sl_qnode_id qnode)
{
    uint32_t up = sl_qnode_up[qnode];
    if (!sl_qnode_used[qnode]) {
        return up == 0 && sl_qnode_level[qnode] == 0 && sl_qnode_first[qnode] == 0 &&
               sl_qnode_cells[qnode] == 0;
    }
    if (up == 0) {
        return sl_qnode_level[qnode] == 0;
    }
    return up <= sl_qnode_limit && sl_qnode_used[up - 1] && sl_qnode_level[qnode] > 0 &&
           sl_qnode_level[qnode] < SL_LEVELS_MAX &&
           sl_qnode_level[up - 1] == sl_qnode_level[qnode] - 1;
}

bool sl_check_qnodes(void)
{
    clear_counts();
    /*@
      loop invariant qnode:  0 <= qnode <= sl_qnode_limit;
      loop invariant sound: \forall integer n; 0 <= n < qnode ==> QnodeSound(n);
      loop invariant count: \forall integer n; 0 <= n < sl_qnode_limit ==>
                            sl_check_counts[n] == child_count(n, qnode) <= qnode;
      loop assigns qnode, sl_check_counts[0 .. SL_QNODES_MAX - 1];
      loop variant sl_qnode_limit - qnode;
    */
    for (sl_qnode_id qnode = 0; qnode < sl_qnode_limit; qnode++) {
        if (!qnode_is_sound(qnode)) {
            return false;
        }
        if (sl_qnode_up[qnode] != 0) {
            sl_check_counts[sl_qnode_up[qnode] - 1]++;
        }
    }
    /*@
      loop invariant qnode:  0 <= qnode <= sl_qnode_limit;
      loop invariant agree: \forall integer n; 0 <= n < qnode ==> sl_qnode_children[n] == sl_check_counts[n];
      loop assigns qnode;
      loop variant sl_qnode_limit - qnode;
    */
    for (sl_qnode_id qnode = 0; qnode < sl_qnode_limit; qnode++) {
        if (sl_qnode_children[qnode] != sl_check_counts[qnode]) {
            return false;
        }
    }
    return true;
}

/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX;
  requires qnode:       qnode < SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  starts:     \result <==> ListStartsAt(qnode);
*/
static bool list_starts(sl_qnode_id qnode)
{
    uint32_t first = sl_qnode_first[qnode];
    if (first == 0) {
        return sl_qnode_cells[qnode] == 0;
    }
    return first <= sl_cell_limit && sl_qnode_cells[qnode] != 0 &&
           sl_cell_home[first - 1] == qnode + 1 && sl_cell_rank[first - 1] == sl_qnode_cells[qnode];
}

/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  requires cell:       cell < SL_CELLS_MAX && sl_cell_home[cell] != 0;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  goes_on:    \result <==> ListGoesOnAt(cell);
*/
static bool list_goes_on(sl_cell_id cell)
{
    uint32_t home = sl_cell_home[cell];
    uint32_t rank = sl_cell_rank[cell];
    uint32_t next = sl_cell_next[cell];
    if (home > sl_qnode_limit || rank == 0 || rank > sl_qnode_cells[home - 1]) {
        return false;
    }
    if (next == 0) {
        return rank == 1;
    }
    return next <= sl_cell_limit && rank != 1 && sl_cell_home[next - 1] == home &&
           sl_cell_rank[next - 1] == rank - 1;
}

bool sl_check_lists(void)
{
    clear_counts();
    /*@
      loop invariant cell:  0 <= cell <= sl_cell_limit;
      loop invariant on:    \forall integer c; 0 <= c < cell ==> ListGoesOnAt(c);
      loop invariant count: \forall integer n; 0 <= n < sl_qnode_limit ==>
                            sl_check_counts[n] == cell_count(n, cell) <= cell;
      loop assigns cell, sl_check_counts[0 .. SL_QNODES_MAX - 1];
      loop variant sl_cell_limit - cell;
    */
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        if (sl_cell_home[cell] != 0) {
            if (!list_goes_on(cell)) {
                return false;
            }
            sl_check_counts[sl_cell_home[cell] - 1]++;
        }
    }
    /*@
      loop invariant qnode:  0 <= qnode <= sl_qnode_limit;
      loop invariant start: \forall integer n; 0 <= n < qnode ==>
                            ListStartsAt(n) && sl_qnode_cells[n] == sl_check_counts[n];
      loop assigns qnode;
      loop variant sl_qnode_limit - qnode;
    */
    for (sl_qnode_id qnode = 0; qnode < sl_qnode_limit; qnode++) {
        if (!list_starts(qnode) || sl_qnode_cells[qnode] != sl_check_counts[qnode]) {
            return false;
        }
    }
    return true;
}

/* Of the cells below the limit, how many are in use? None of them is known as spare yet. */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_spare[0 .. SL_CELLS_MAX - 1];
  ensures  used:       \result == used_count(sl_cell_limit) <= sl_cell_limit;
  ensures  clear:      \forall integer c; 0 <= c < sl_cell_limit ==> !sl_check_spare[c];
*/
static uint32_t count_used(void)
{
    uint32_t used = 0;
    /*@
      loop invariant cell:  0 <= cell <= sl_cell_limit;
      loop invariant used:  used == used_count(cell) <= cell;
      loop invariant clear: \forall integer c; 0 <= c < cell ==> !sl_check_spare[c];
      loop assigns cell, used, sl_check_spare[0 .. SL_CELLS_MAX - 1];
      loop variant sl_cell_limit - cell;
    */
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        used += sl_cell_home[cell] != 0 ? 1 : 0;
        sl_check_spare[cell] = false;
    }
    return used;
}

bool sl_check_spares(void)
{
    uint32_t used = count_used();
    if (sl_cell_spares > sl_cell_limit || sl_cell_spares + used != sl_cell_limit) {
        return false;
    }
    /*@
      loop invariant index: 0 <= k <= sl_cell_spares;
      loop invariant free:  \forall integer j; 0 <= j < k ==> SpareFree(j);
      loop invariant known: \forall integer c; 0 <= c < sl_cell_limit ==>
                            (sl_check_spare[c] <==> \exists integer j; 0 <= j < k && sl_cell_spare[j] == c);
      loop assigns k, sl_check_spare[0 .. SL_CELLS_MAX - 1];
      loop variant sl_cell_spares - k;
    */
    for (uint32_t k = 0; k < sl_cell_spares; k++) {
        sl_cell_id cell = sl_cell_spare[k];
        if (cell >= sl_cell_limit || sl_cell_home[cell] != 0 || sl_check_spare[cell]) {
            return false;
        }
        sl_check_spare[cell] = true;
    }
    return true;
}
