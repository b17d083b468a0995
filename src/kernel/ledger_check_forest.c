/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The checker's half for nodes and lists: links, levels and counts, and that each node's list is whole. */
#include "kernel/ledger_check.h"

#include "kernel/cells.h"

uint32_t sl_check_children[SL_NODES_MAX];
bool sl_check_listed[SL_CELLS_MAX];

/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_node_limit <= SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_children[0 .. SL_NODES_MAX - 1];
  ensures  nodes:      \forall integer n; 0 <= n < sl_node_limit ==> sl_check_children[n] == 0;
*/
static void clear_nodes(void)
{
    /*@
      loop invariant node:  0 <= node <= sl_node_limit;
      loop invariant clear: \forall integer n; 0 <= n < node ==> sl_check_children[n] == 0;
      loop assigns node, sl_check_children[0 .. SL_NODES_MAX - 1];
      loop variant sl_node_limit - node;
    */
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        sl_check_children[node] = 0;
    }
}

/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_listed[0 .. SL_CELLS_MAX - 1];
*/
static void clear_lists(void)
{
    /*@
      loop invariant cell:  0 <= cell <= sl_cell_limit;
      loop assigns cell, sl_check_listed[0 .. SL_CELLS_MAX - 1];
      loop variant sl_cell_limit - cell;
    */
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        sl_check_listed[cell] = false;
    }
}

/*@
  requires node:       node < sl_node_limit <= SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result ==> NodeSound(node);
*/
static bool node_is_sound(sl_node_id node)
{
    uint32_t up = sl_node_up[node];
    if (!sl_node_used[node]) {
        return up == 0 && sl_node_level[node] == 0 && sl_node_first[node] == 0 &&
               sl_node_cells[node] == 0;
    }
    if (up == 0) {
        return sl_node_level[node] == 0;
    }
    return up <= sl_node_limit && sl_node_used[up - 1] && sl_node_level[node] > 0 &&
           sl_node_level[node] < SL_LEVELS_MAX && sl_node_level[up - 1] == sl_node_level[node] - 1;
}

bool sl_check_nodes(void)
{
    clear_nodes();
    /*@
      loop invariant node:  0 <= node <= sl_node_limit;
      loop invariant sound: \forall integer n; 0 <= n < node ==> NodeSound(n);
      loop invariant count: \forall integer n; 0 <= n < sl_node_limit ==>
                            sl_check_children[n] == child_count(n, node) <= node;
      loop assigns node, sl_check_children[0 .. SL_NODES_MAX - 1];
      loop variant sl_node_limit - node;
    */
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        if (!node_is_sound(node)) {
            return false;
        }
        if (sl_node_up[node] != 0) {
            sl_check_children[sl_node_up[node] - 1]++;
        }
    }
    /*@
      loop invariant node:  0 <= node <= sl_node_limit;
      loop invariant agree: \forall integer n; 0 <= n < node ==> sl_node_children[n] == sl_check_children[n];
      loop assigns node;
      loop variant sl_node_limit - node;
    */
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        if (sl_node_children[node] != sl_check_children[node]) {
            return false;
        }
    }
    return true;
}

/* Follow the node's list: ranks count down to 1, and every cell is one of its own. */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_node_limit <= SL_NODES_MAX;
  requires node:       node < sl_node_limit;
  terminates           \true;
  exits                \false;
  assigns              sl_check_listed[0 .. SL_CELLS_MAX - 1];
  ensures  ends:       \result ==> (sl_node_first[node] == 0 <==> sl_node_cells[node] == 0);
*/
static bool list_is_sound(sl_node_id node)
{
    uint32_t rank = sl_node_cells[node];
    uint32_t link = sl_node_first[node];
    /*@
      loop invariant start: rank == sl_node_cells[node] ? link == sl_node_first[node]
                            : rank < sl_node_cells[node] && sl_node_first[node] != 0;
      loop assigns link, rank, sl_check_listed[0 .. SL_CELLS_MAX - 1];
      loop variant rank;
    */
    while (link != 0 && rank > 0) {
        if (link > sl_cell_limit || sl_cell_home[link - 1] != node + 1 ||
            sl_cell_rank[link - 1] != rank) {
            return false;
        }
        sl_check_listed[link - 1] = true;
        rank--;
        link = sl_cell_next[link - 1];
    }
    return link == 0 && rank == 0;
}

bool sl_check_lists(void)
{
    clear_lists();
    /*@
      loop invariant node:  0 <= node <= sl_node_limit;
      loop invariant ends:  \forall integer n; 0 <= n < node ==> (sl_node_first[n] == 0 <==> sl_node_cells[n] == 0);
      loop assigns node, sl_check_listed[0 .. SL_CELLS_MAX - 1];
      loop variant sl_node_limit - node;
    */
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        if (!list_is_sound(node)) {
            return false;
        }
    }
    /*@
      loop invariant cell:  0 <= cell <= sl_cell_limit;
      loop assigns cell;
      loop variant sl_cell_limit - cell;
    */
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        if (sl_check_listed[cell] != (sl_cell_home[cell] != 0)) {
            return false;
        }
    }
    return true;
}
