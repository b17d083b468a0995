/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Qnodes come and go at the edges of the forest: a new one is a root, and only one without children and charges
 * is given back. */
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_cells.h"
#include "kernel/ledger/ledger_chain.h"
#include "kernel/ledger/ledger_quota.h"
#include "kernel/ledger/ledger_tree.h"
#include "kernel/ledger/trail.h"

bool sl_qnode_used[SL_QNODES_MAX];
uint32_t sl_qnode_up[SL_QNODES_MAX];
uint32_t sl_qnode_level[SL_QNODES_MAX];
uint32_t sl_qnode_children[SL_QNODES_MAX];
uint32_t sl_qnode_limit;

/*@ ghost
  void lemma_children(uint32_t qnode)
  {
    /@ loop invariant 0 <= k <= SL_QNODES_MAX;
       loop invariant 0 <= child_count(qnode, k) <= k;
       loop invariant \forall integer i; 0 <= i < k && sl_qnode_up[i] == qnode + 1 ==> 0 < child_count(qnode, k);
       loop assigns k;
       loop variant SL_QNODES_MAX - k; @/
    for (uint32_t k = 0; k < SL_QNODES_MAX; k++) ;
  }
*/

enum sl_status sl_tree_check(sl_qnode_id qnode)
{
    if (qnode >= SL_QNODES_MAX || !sl_qnode_used[qnode]) {
        return SL_REFUSED_NO_QNODE;
    }
    return sl_trail_open() ? SL_REFUSED_TRIAL_OPEN : SL_OK;
}

/*@
  requires linked:     QnodesLinked;
  requires qnode:       qnode < SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_used[qnode], sl_qnode_limit;
  ensures  linked:     QnodesLinked;
  ensures  used:       sl_qnode_used[qnode] && \old(sl_qnode_limit) <= sl_qnode_limit;
*/
static void use(sl_qnode_id qnode)
{
    sl_qnode_used[qnode] = true;
    if (qnode >= sl_qnode_limit) {
        sl_qnode_limit = qnode + 1;
    }
}

enum sl_status sl_ledger_open_qnode(sl_qnode_id qnode)
{
    if (qnode >= SL_QNODES_MAX) {
        return SL_FULL_QNODES;
    }
    if (sl_qnode_used[qnode]) {
        return SL_REFUSED_IN_USE;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    use(qnode);
    //@ assert placed: CellsPlaced;
    //@ assert ledger: LedgerInv;
    //@ assert heights: HeightsInv;
    return SL_OK;
}

/* Is something charged to one of the qnode's cells? */
/*@
  requires lists:      ListStarts && ListGoesOn && RanksDistinct;
  requires qnode:       qnode < SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  free:       !\result ==> \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 ==>
                       sl_cell_own[c] == 0;
  ensures  charged:    \result ==> \exists integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 &&
                       sl_cell_own[c] != 0;
*/
static bool is_charged(sl_qnode_id qnode)
{
    uint32_t link = sl_qnode_first[qnode];
    /*@
      loop invariant link:   link <= SL_CELLS_MAX && (link != 0 ==> sl_cell_home[link - 1] == qnode + 1);
      loop invariant seen:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 &&
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

void sl_tree_set_parent(sl_qnode_id qnode, uint32_t up)
{
    /*@ ghost
      uint32_t before = sl_qnode_up[qnode];
      if (before != 0) {
          lemma_children(before - 1);
      }
      if (up != 0) {
          lemma_children(up - 1);
      }
    */
    if (sl_qnode_up[qnode] != 0) {
        sl_qnode_children[sl_qnode_up[qnode] - 1]--;
    }
    if (up != 0) {
        sl_qnode_children[up - 1]++;
    }
    sl_qnode_up[qnode] = up;
    sl_heights_stale = true;
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_QNODES_MAX;
         loop invariant \forall integer p; 0 <= p ==> child_count(p, k) == child_count{Pre}(p, k) +
             (qnode < k && up == p + 1 ? 1 : 0) - (qnode < k && before == p + 1 ? 1 : 0);
         loop assigns k;
         loop variant SL_QNODES_MAX - k; @/
      for (uint32_t k = 0; k < SL_QNODES_MAX; k++) ;
    */
}

/* Take a qnode without children out of the forest. */
/*@
  requires linked:     QnodesLinked && ChildrenCounted;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode];
  requires leaf:       \forall integer i; 0 <= i < SL_QNODES_MAX ==> sl_qnode_up[i] != qnode + 1;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_used[qnode], sl_qnode_level[qnode], sl_qnode_children[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_up[qnode], sl_heights_stale;
  ensures  linked:     QnodesLinked;
  ensures  counted:    ChildrenCounted;
  ensures  unused:     !sl_qnode_used[qnode] && sl_heights_stale;
*/
static void retire(sl_qnode_id qnode)
{
    sl_tree_set_parent(qnode, 0);
    sl_qnode_level[qnode] = 0;
    sl_qnode_used[qnode] = false;
}

/* Give the first cell of a qnode without children back. */
/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_first[qnode] != 0;
  requires leaf:       \forall integer i; 0 <= i < SL_QNODES_MAX ==> sl_qnode_up[i] != qnode + 1;
  requires free:       sl_cell_own[sl_qnode_first[qnode] - 1] == 0;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, sl_qnode_cells[qnode], sl_qnode_first[qnode],
                       sl_cell_home[0 .. SL_CELLS_MAX - 1], sl_cell_spares, sl_cell_spare[0 .. SL_CELLS_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  fewer:      sl_qnode_cells[qnode] == \old(sl_qnode_cells[qnode]) - 1;
  ensures  gone:       sl_cell_home[\old(sl_qnode_first[qnode]) - 1] == 0;
  ensures  others:     SameNames{Old, Post}(\old(sl_qnode_first[qnode]) - 1);
*/
static void close_first(sl_qnode_id qnode)
{
    sl_cell_id cell = sl_qnode_first[qnode] - 1;
    sl_quota_set(cell, 0, 0, 0);
    //@ assert placed: CellsPlaced;
    sl_chain_unlink(cell);
    //@ assert alone: NoChildren(cell);
    /*@ assert chains: \forall integer c; 0 <= c < SL_CELLS_MAX && c != cell && sl_cell_home[c] != 0 &&
        sl_qnode_up[sl_cell_home[c] - 1] != 0 ==> sl_cell_up[c] != 0; */
    sl_cells_remove_first(qnode);
    //@ assert forest: ForestInv;
    //@ assert lists: ListsInv;
    //@ assert numbers: NumbersInv;
    //@ assert whole: ChainsWhole(-1);
}

enum sl_status sl_ledger_close_qnode(sl_qnode_id qnode)
{
    enum sl_status status = sl_tree_check(qnode);
    if (status != SL_OK) {
        return status;
    }
    if (sl_qnode_children[qnode] != 0 || is_charged(qnode)) {
        return SL_REFUSED_IN_USE;
    }
    //@ ghost lemma_children(qnode);
    /*@
      loop invariant inv:    LedgerInv && TrailSound;
      loop invariant free:   \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 ==>
                             sl_cell_own[c] == 0;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop assigns SL_ALL_NUMBERS, sl_qnode_cells[qnode], sl_qnode_first[qnode],
                   sl_cell_home[0 .. SL_CELLS_MAX - 1], sl_cell_spares, sl_cell_spare[0 .. SL_CELLS_MAX - 1];
      loop variant sl_qnode_cells[qnode];
    */
    while (sl_qnode_first[qnode] != 0) {
        close_first(qnode);
    }
    /*@ assert none: \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_home[c] != qnode + 1; */
    retire(qnode);
    //@ assert placed: CellsPlaced;
    //@ ghost lemma_cells_linked();
    return SL_OK;
}
