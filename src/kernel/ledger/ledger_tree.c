/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Nodes come and go at the edges of the forest: a new one is a root, and only one without children and charges
 * is given back. */
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_cells.h"
#include "kernel/ledger/ledger_chain.h"
#include "kernel/ledger/ledger_quota.h"
#include "kernel/ledger/ledger_tree.h"
#include "kernel/ledger/trail.h"

bool sl_node_used[SL_NODES_MAX];
uint32_t sl_node_up[SL_NODES_MAX];
uint32_t sl_node_level[SL_NODES_MAX];
uint32_t sl_node_children[SL_NODES_MAX];
uint32_t sl_node_limit;

/*@ ghost
  void lemma_children(uint32_t node)
  {
    /@ loop invariant 0 <= k <= SL_NODES_MAX;
       loop invariant 0 <= child_count(node, k) <= k;
       loop invariant \forall integer i; 0 <= i < k && sl_node_up[i] == node + 1 ==> 0 < child_count(node, k);
       loop assigns k;
       loop variant SL_NODES_MAX - k; @/
    for (uint32_t k = 0; k < SL_NODES_MAX; k++) ;
  }
*/

enum sl_status sl_tree_check(sl_node_id node)
{
    if (node >= SL_NODES_MAX || !sl_node_used[node]) {
        return SL_REFUSED_NO_NODE_ID;
    }
    return sl_trail_open() ? SL_REFUSED_TRIAL_OPEN : SL_OK;
}

/*@
  requires linked:     NodesLinked;
  requires node:       node < SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_node_used[node], sl_node_limit;
  ensures  linked:     NodesLinked;
  ensures  used:       sl_node_used[node] && \old(sl_node_limit) <= sl_node_limit;
*/
static void use(sl_node_id node)
{
    sl_node_used[node] = true;
    if (node >= sl_node_limit) {
        sl_node_limit = node + 1;
    }
}

enum sl_status sl_ledger_open_node(sl_node_id node)
{
    if (node >= SL_NODES_MAX) {
        return SL_FULL_NODES;
    }
    if (sl_node_used[node]) {
        return SL_REFUSED_IN_USE;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    use(node);
    //@ assert placed: CellsPlaced;
    //@ assert ledger: LedgerInv;
    //@ assert heights: HeightsInv;
    return SL_OK;
}

/* Is something charged to one of the node's cells? */
/*@
  requires lists:      ListStarts && ListGoesOn && RanksDistinct;
  requires node:       node < SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  free:       !\result ==> \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 ==>
                       sl_cell_own[c] == 0;
  ensures  charged:    \result ==> \exists integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 &&
                       sl_cell_own[c] != 0;
*/
static bool is_charged(sl_node_id node)
{
    uint32_t link = sl_node_first[node];
    /*@
      loop invariant link:   link <= SL_CELLS_MAX && (link != 0 ==> sl_cell_home[link - 1] == node + 1);
      loop invariant seen:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 &&
                             (link == 0 || sl_cell_rank[c] > sl_cell_rank[link - 1]) ==> sl_cell_own[c] == 0;
      loop assigns link;
      loop variant link == 0 ? 0 : sl_cell_rank[link - 1];
    */
    while (link != 0) {
        if (sl_cell_own[link - 1] != 0) {
            return true;
        }
        link = sl_cell_next[link - 1];
    }
    return false;
}

void sl_tree_set_parent(sl_node_id node, uint32_t up)
{
    /*@ ghost
      uint32_t before = sl_node_up[node];
      if (before != 0) {
          lemma_children(before - 1);
      }
      if (up != 0) {
          lemma_children(up - 1);
      }
    */
    if (sl_node_up[node] != 0) {
        sl_node_children[sl_node_up[node] - 1]--;
    }
    if (up != 0) {
        sl_node_children[up - 1]++;
    }
    sl_node_up[node] = up;
    sl_heights_stale = true;
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_NODES_MAX;
         loop invariant \forall integer p; 0 <= p ==> child_count(p, k) == child_count{Pre}(p, k) +
             (node < k && up == p + 1 ? 1 : 0) - (node < k && before == p + 1 ? 1 : 0);
         loop assigns k;
         loop variant SL_NODES_MAX - k; @/
      for (uint32_t k = 0; k < SL_NODES_MAX; k++) ;
    */
}

/* Take a node without children out of the forest. */
/*@
  requires linked:     NodesLinked && ChildrenCounted;
  requires node:       node < SL_NODES_MAX && sl_node_used[node];
  requires leaf:       \forall integer i; 0 <= i < SL_NODES_MAX ==> sl_node_up[i] != node + 1;
  terminates           \true;
  exits                \false;
  assigns              sl_node_used[node], sl_node_level[node], sl_node_children[0 .. SL_NODES_MAX - 1],
                       sl_node_up[node], sl_heights_stale;
  ensures  linked:     NodesLinked;
  ensures  counted:    ChildrenCounted;
  ensures  unused:     !sl_node_used[node] && sl_heights_stale;
*/
static void retire(sl_node_id node)
{
    sl_tree_set_parent(node, 0);
    sl_node_level[node] = 0;
    sl_node_used[node] = false;
}

/* Give the first cell of a node without children back. */
/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires node:       node < SL_NODES_MAX && sl_node_first[node] != 0;
  requires leaf:       \forall integer i; 0 <= i < SL_NODES_MAX ==> sl_node_up[i] != node + 1;
  requires free:       sl_cell_own[sl_node_first[node] - 1] == 0;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, sl_node_cells[node], sl_node_first[node],
                       sl_cell_home[0 .. SL_CELLS_MAX - 1], sl_cell_spares, sl_cell_spare[0 .. SL_CELLS_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  fewer:      sl_node_cells[node] == \old(sl_node_cells[node]) - 1;
  ensures  gone:       sl_cell_home[\old(sl_node_first[node]) - 1] == 0;
  ensures  others:     SameNames{Old, Post}(\old(sl_node_first[node]) - 1);
*/
static void close_first(sl_node_id node)
{
    sl_cell_id cell = sl_node_first[node] - 1;
    sl_quota_set(cell, 0, 0, 0);
    //@ assert placed: CellsPlaced;
    sl_chain_unlink(cell);
    //@ assert alone: NoChildren(cell);
    /*@ assert chains: \forall integer c; 0 <= c < SL_CELLS_MAX && c != cell && sl_cell_home[c] != 0 &&
        sl_node_up[sl_cell_home[c] - 1] != 0 ==> sl_cell_up[c] != 0; */
    sl_cells_remove_first(node);
    //@ assert forest: ForestInv;
    //@ assert lists: ListsInv;
    //@ assert numbers: NumbersInv;
    //@ assert whole: ChainsWhole(-1);
}

enum sl_status sl_ledger_close_node(sl_node_id node)
{
    enum sl_status status = sl_tree_check(node);
    if (status != SL_OK) {
        return status;
    }
    if (sl_node_children[node] != 0 || is_charged(node)) {
        return SL_REFUSED_IN_USE;
    }
    //@ ghost lemma_children(node);
    /*@
      loop invariant inv:    LedgerInv && TrailSound;
      loop invariant free:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 ==>
                             sl_cell_own[c] == 0;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop assigns SL_ALL_NUMBERS, sl_node_cells[node], sl_node_first[node],
                   sl_cell_home[0 .. SL_CELLS_MAX - 1], sl_cell_spares, sl_cell_spare[0 .. SL_CELLS_MAX - 1];
      loop variant sl_node_cells[node];
    */
    while (sl_node_first[node] != 0) {
        close_first(node);
    }
    /*@ assert none: \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_home[c] != node + 1; */
    retire(node);
    //@ assert placed: CellsPlaced;
    //@ ghost lemma_cells_linked();
    return SL_OK;
}
