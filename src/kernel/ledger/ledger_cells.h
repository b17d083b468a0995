/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: which cells exist, and the list of cells of each qnode. Owns the cells' names. */
#ifndef SL_KERNEL_LEDGER_CELLS_H
#define SL_KERNEL_LEDGER_CELLS_H
#include "kernel/ledger/cells.h"
#include "kernel/base/types.h"

/* The cell of that name, or SL_NO_ID. */
/*@
  requires lists:      ListStarts && ListGoesOn && RanksDistinct;
  requires qnode:       qnode < SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  found:      \result != SL_NO_ID ==> \result < SL_CELLS_MAX && HasName(\result, qnode, flavor, resource);
  ensures  none:       \result == SL_NO_ID ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                       !HasName(c, qnode, flavor, resource);
*/
sl_cell_id sl_cells_find(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource);

/* How many more can be made? */
/*@
  requires spares:     SparesFree;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  capacity:       \result == sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit);
*/
uint32_t sl_cells_room(void);

/* A new cell, without limits or links. */
/*@
  requires inv:        ForestInv && ListsInv && NumbersInv;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode];
  requires capacity:       sl_cell_spares > 0 || sl_cell_limit < SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_cells[qnode], sl_qnode_first[qnode], sl_cell_home[0 .. SL_CELLS_MAX - 1],
                       sl_cell_flavor[0 .. SL_CELLS_MAX - 1], sl_cell_resource[0 .. SL_CELLS_MAX - 1],
                       sl_cell_next[0 .. SL_CELLS_MAX - 1], sl_cell_rank[0 .. SL_CELLS_MAX - 1],
                       sl_cell_limit, sl_cell_spares;
  ensures  qnodes:      QnodesLinked && ChildrenCounted;
  ensures  placed:     CellsPlaced;
  ensures  lists:      ListStarts && ListGoesOn;
  ensures  distinct:   RanksDistinct;
  ensures  counted:    CellsCounted && SparesFree;
  ensures  linked:     CellsLinked;
  ensures  range:      LimitsInRange && UsageInRange && QuotaDerived;
  ensures  exact:      UsageExact && LentExact;
  ensures  totals:     TotalsExact;
  ensures  result:     \result < SL_CELLS_MAX && \old(sl_cell_home)[\result] == 0;
  ensures  name:       HasName(\result, qnode, flavor, resource) && SameLists{Old, Post}(\result);
  ensures  alone:      sl_cell_up[\result] == 0 && NoChildren(\result);
  ensures  capacity:       sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit) ==
                       \old(sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit)) - 1;
*/
sl_cell_id sl_cells_add(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource);

/* Give back the newest cell of a qnode. */
/*@
  requires inv:        ForestInv && ListsInv && NumbersInv;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_first[qnode] != 0;
  requires alone:      sl_cell_own[sl_qnode_first[qnode] - 1] == 0 && sl_cell_up[sl_qnode_first[qnode] - 1] == 0 &&
                       NoChildren(sl_qnode_first[qnode] - 1);
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_cells[qnode], sl_qnode_first[qnode], sl_cell_home[0 .. SL_CELLS_MAX - 1],
                       sl_cell_spares, sl_cell_spare[0 .. SL_CELLS_MAX - 1];
  ensures  qnodes:      QnodesLinked && ChildrenCounted;
  ensures  placed:     CellsPlaced;
  ensures  lists:      ListStarts && ListGoesOn;
  ensures  distinct:   RanksDistinct;
  ensures  counted:    CellsCounted && SparesFree;
  ensures  linked:     CellsLinked;
  ensures  range:      LimitsInRange && UsageInRange && QuotaDerived;
  ensures  exact:      UsageExact && LentExact;
  ensures  totals:     TotalsExact;
  ensures  gone:       sl_cell_home[\old(sl_qnode_first[qnode]) - 1] == 0;
  ensures  others:     SameNames{Old, Post}(\old(sl_qnode_first[qnode]) - 1);
  ensures  fewer:      sl_qnode_cells[qnode] == \old(sl_qnode_cells[qnode]) - 1;
*/
void sl_cells_remove_first(sl_qnode_id qnode);
#endif
