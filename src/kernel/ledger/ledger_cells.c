/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The cells of a qnode are a list, newest first, whose ranks count down to 1: so it ends, and misses none. */
#include "kernel/ledger/ledger_cells.h"

uint32_t sl_qnode_cells[SL_QNODES_MAX];
uint32_t sl_qnode_first[SL_QNODES_MAX];
uint32_t sl_cell_home[SL_CELLS_MAX];
sl_flavor_id sl_cell_flavor[SL_CELLS_MAX];
sl_resource_id sl_cell_resource[SL_CELLS_MAX];
uint32_t sl_cell_next[SL_CELLS_MAX];
uint32_t sl_cell_rank[SL_CELLS_MAX];
uint32_t sl_cell_limit;
sl_cell_id sl_cell_spare[SL_CELLS_MAX];
uint32_t sl_cell_spares;

/*@ ghost
  void lemma_cells_linked(void)
  {
    /@ assert level: \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_up[c] != 0 ==>
           cell_level(c) == sl_qnode_level[sl_cell_home[c] - 1] &&
           cell_level(sl_cell_up[c] - 1) == sl_qnode_level[sl_qnode_up[sl_cell_home[c] - 1] - 1] &&
           QnodeLinked(sl_cell_home[c] - 1); @/
  }
*/

sl_cell_id sl_cells_find(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource)
{
    uint32_t link = sl_qnode_first[qnode];
    /*@
      loop invariant link:   link <= SL_CELLS_MAX && (link != 0 ==> sl_cell_home[link - 1] == qnode + 1);
      loop invariant seen:   \forall integer c; 0 <= c < SL_CELLS_MAX &&
                             (link == 0 || sl_cell_rank[c] > sl_cell_rank[link - 1]) ==>
                             !HasName(c, qnode, flavor, resource);
      loop assigns link;
      loop variant link == 0 ? 0 : sl_cell_rank[link - 1];
    */
    while (link != 0) {
        sl_cell_id cell = link - 1;
        if (sl_cell_flavor[cell] == flavor && sl_cell_resource[cell] == resource) {
            return cell;
        }
        link = sl_cell_next[cell];
    }
    return SL_NO_ID;
}

uint32_t sl_cells_room(void)
{
    return sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit);
}

/* A free cell: one that was given back, or the first that never was in use. */
/*@
  requires spares:     SparesFree;
  requires capacity:       sl_cell_spares > 0 || sl_cell_limit < SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_spares, sl_cell_limit;
  ensures  free:       \result < sl_cell_limit <= SL_CELLS_MAX && sl_cell_home[\result] == 0;
  ensures  taken:      \forall integer k; 0 <= k < sl_cell_spares ==>
                       sl_cell_spare[k] != \result && sl_cell_spare[k] < sl_cell_limit;
  ensures  fewer:      sl_cell_spares <= \old(sl_cell_spares) && \old(sl_cell_limit) <= sl_cell_limit &&
                       sl_cell_spares - sl_cell_limit == \old(sl_cell_spares - sl_cell_limit) - 1;
*/
static sl_cell_id take(void)
{
    if (sl_cell_spares > 0) {
        sl_cell_spares--;
        return sl_cell_spare[sl_cell_spares];
    }
    return sl_cell_limit++;
}

/* Put a free cell at the start of the qnode's list. */
/*@
  requires lists:      ListStarts && ListGoesOn && RanksDistinct && CellsCounted;
  requires qnode:       qnode < SL_QNODES_MAX;
  requires cell:       cell < SL_CELLS_MAX && sl_cell_home[cell] == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_cells[qnode], sl_qnode_first[qnode], sl_cell_home[cell], sl_cell_next[cell],
                       sl_cell_rank[cell];
  ensures  starts:     ListStarts;
  ensures  goes_on:    ListGoesOn;
  ensures  distinct:   RanksDistinct;
  ensures  counted:    CellsCounted;
  ensures  home:       sl_cell_home[cell] == qnode + 1;
  ensures  used:       used_count(SL_CELLS_MAX) == \old(used_count(SL_CELLS_MAX)) + 1;
*/
static void push(sl_qnode_id qnode, sl_cell_id cell)
{
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant cell_count(qnode, k) + (cell < k ? 1 : 0) <= k;
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    */
    //@ assert free: sl_qnode_cells[qnode] < SL_CELLS_MAX;
    sl_cell_home[cell] = qnode + 1;
    sl_cell_next[cell] = sl_qnode_first[qnode];
    sl_qnode_first[qnode] = cell + 1;
    sl_qnode_cells[qnode]++;
    sl_cell_rank[cell] = sl_qnode_cells[qnode];
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant \forall integer n; 0 <= n ==>
             cell_count(n, k) == cell_count{Pre}(n, k) + (cell < k && n == qnode ? 1 : 0);
         loop invariant used_count(k) == used_count{Pre}(k) + (cell < k ? 1 : 0);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    */
}

/* Take the qnode's first cell off the list; it is free then. */
/*@
  requires lists:      ListStarts && ListGoesOn && RanksDistinct && CellsCounted;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_first[qnode] != 0;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_cells[qnode], sl_qnode_first[qnode], sl_cell_home[sl_qnode_first[qnode] - 1];
  ensures  starts:     ListStarts;
  ensures  goes_on:    ListGoesOn;
  ensures  distinct:   RanksDistinct;
  ensures  counted:    CellsCounted;
  ensures  result:     \result == \old(sl_qnode_first[qnode]) - 1 && sl_cell_home[\result] == 0;
  ensures  fewer:      sl_qnode_cells[qnode] == \old(sl_qnode_cells[qnode]) - 1;
  ensures  used:       0 <= used_count(SL_CELLS_MAX) == \old(used_count(SL_CELLS_MAX)) - 1;
*/
static sl_cell_id pop(sl_qnode_id qnode)
{
    sl_cell_id cell = sl_qnode_first[qnode] - 1;
    sl_qnode_first[qnode] = sl_cell_next[cell];
    sl_qnode_cells[qnode]--;
    sl_cell_home[cell] = 0;
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant \forall integer n; 0 <= n ==>
             cell_count(n, k) == cell_count{Pre}(n, k) - (cell < k && n == qnode ? 1 : 0);
         loop invariant 0 <= used_count(k) == used_count{Pre}(k) - (cell < k ? 1 : 0);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    */
    return cell;
}

/* A free cell, now in the qnode's list. */
/*@
  requires lists:      ListsInv;
  requires qnode:       qnode < SL_QNODES_MAX;
  requires capacity:       sl_cell_spares > 0 || sl_cell_limit < SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_cells[qnode], sl_qnode_first[qnode], sl_cell_home[0 .. SL_CELLS_MAX - 1],
                       sl_cell_next[0 .. SL_CELLS_MAX - 1], sl_cell_rank[0 .. SL_CELLS_MAX - 1],
                       sl_cell_limit, sl_cell_spares;
  ensures  lists:      ListStarts && ListGoesOn && RanksDistinct && CellsCounted;
  ensures  spares:     SparesFree;
  ensures  result:     \result < SL_CELLS_MAX && \old(sl_cell_home)[\result] == 0 &&
                       sl_cell_home[\result] == qnode + 1;
  ensures  others:     \forall integer c; 0 <= c < SL_CELLS_MAX && c != \result ==>
                       sl_cell_home[c] == \old(sl_cell_home)[c] && sl_cell_next[c] == \old(sl_cell_next)[c] &&
                       sl_cell_rank[c] == \old(sl_cell_rank)[c];
  ensures  capacity:       sl_cell_spares - sl_cell_limit == \old(sl_cell_spares - sl_cell_limit) - 1;
*/
static sl_cell_id list(sl_qnode_id qnode)
{
    sl_cell_id cell = take();
    push(qnode, cell);
    return cell;
}

/* The qnode's first cell, now free. */
/*@
  requires lists:      ListsInv;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_first[qnode] != 0;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_cells[qnode], sl_qnode_first[qnode], sl_cell_home[sl_qnode_first[qnode] - 1],
                       sl_cell_spares, sl_cell_spare[sl_cell_spares];
  ensures  lists:      ListStarts && ListGoesOn && RanksDistinct && CellsCounted;
  ensures  spares:     SparesFree;
  ensures  free:       sl_cell_home[\old(sl_qnode_first[qnode]) - 1] == 0;
  ensures  fewer:      sl_qnode_cells[qnode] == \old(sl_qnode_cells[qnode]) - 1;
*/
static void unlist(sl_qnode_id qnode)
{
    sl_cell_id cell = pop(qnode);
    sl_cell_spare[sl_cell_spares] = cell;
    sl_cell_spares++;
    //@ assert new: cell < sl_cell_limit && sl_cell_home[cell] == 0;
    //@ assert free: \forall integer k; 0 <= k < sl_cell_spares ==> sl_cell_spare[k] < sl_cell_limit;
    //@ assert free2: \forall integer k; 0 <= k < sl_cell_spares ==> sl_cell_home[sl_cell_spare[k]] == 0;
    //@ assert free3: \forall integer j, k; 0 <= j < k < sl_cell_spares ==> sl_cell_spare[j] != sl_cell_spare[k];
    //@ assert sum: sl_cell_spares <= sl_cell_limit && sl_cell_spares + used_count(SL_CELLS_MAX) == sl_cell_limit;
}

sl_cell_id sl_cells_add(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource)
{
    sl_cell_id cell = list(qnode);
    sl_cell_flavor[cell] = flavor;
    sl_cell_resource[cell] = resource;
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant \forall integer b; own_sum(b, k) == own_sum{Pre}(b, k);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    */
    //@ assert placed: CellsPlaced;
    //@ ghost lemma_cells_linked();
    return cell;
}

void sl_cells_remove_first(sl_qnode_id qnode)
{
    unlist(qnode);
    //@ assert placed: CellsPlaced;
    //@ ghost lemma_cells_linked();
}
