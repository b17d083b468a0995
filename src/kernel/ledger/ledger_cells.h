/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: which cells exist, and the list of cells of each node. Owns the cells' names. */
#ifndef SL_KERNEL_LEDGER_CELLS_H
#define SL_KERNEL_LEDGER_CELLS_H
#include "kernel/ledger/cells.h"
#include "kernel/base/types.h"

/* The cell of that name, or SL_NO_ID. */
/*@
  requires lists:      ListStarts && ListGoesOn && RanksDistinct;
  requires node:       node < SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  found:      \result != SL_NO_ID ==> \result < SL_CELLS_MAX && HasName(\result, node, flavor, resource);
  ensures  none:       \result == SL_NO_ID ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                       !HasName(c, node, flavor, resource);
*/
sl_cell_id sl_cells_find(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource);

/* How many more can be made? */
/*@
  requires spares:     SparesFree;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  room:       \result == sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit);
*/
uint32_t sl_cells_room(void);

/* A new cell, without limits or links. */
/*@
  requires inv:        ForestInv && ListsInv && NumbersInv;
  requires node:       node < SL_NODES_MAX && sl_node_used[node];
  requires room:       sl_cell_spares > 0 || sl_cell_limit < SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_node_cells[node], sl_node_first[node], sl_cell_home[0 .. SL_CELLS_MAX - 1],
                       sl_cell_flavor[0 .. SL_CELLS_MAX - 1], sl_cell_resource[0 .. SL_CELLS_MAX - 1],
                       sl_cell_next[0 .. SL_CELLS_MAX - 1], sl_cell_rank[0 .. SL_CELLS_MAX - 1],
                       sl_cell_limit, sl_cell_spares;
  ensures  nodes:      NodesLinked && ChildrenCounted;
  ensures  placed:     CellsPlaced;
  ensures  lists:      ListStarts && ListGoesOn;
  ensures  distinct:   RanksDistinct;
  ensures  counted:    CellsCounted && SparesFree;
  ensures  linked:     CellsLinked;
  ensures  range:      LimitsInRange && UsageInRange && QuotaDerived;
  ensures  exact:      UsageExact && LentExact;
  ensures  totals:     TotalsExact;
  ensures  result:     \result < SL_CELLS_MAX && \old(sl_cell_home)[\result] == 0;
  ensures  name:       HasName(\result, node, flavor, resource) && SameLists{Old, Post}(\result);
  ensures  alone:      sl_cell_up[\result] == 0 && NoChildren(\result);
  ensures  room:       sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit) ==
                       \old(sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit)) - 1;
*/
sl_cell_id sl_cells_add(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource);

/* Give back the newest cell of a node. */
/*@
  requires inv:        ForestInv && ListsInv && NumbersInv;
  requires node:       node < SL_NODES_MAX && sl_node_first[node] != 0;
  requires alone:      sl_cell_own[sl_node_first[node] - 1] == 0 && sl_cell_up[sl_node_first[node] - 1] == 0 &&
                       NoChildren(sl_node_first[node] - 1);
  terminates           \true;
  exits                \false;
  assigns              sl_node_cells[node], sl_node_first[node], sl_cell_home[0 .. SL_CELLS_MAX - 1],
                       sl_cell_spares, sl_cell_spare[0 .. SL_CELLS_MAX - 1];
  ensures  nodes:      NodesLinked && ChildrenCounted;
  ensures  placed:     CellsPlaced;
  ensures  lists:      ListStarts && ListGoesOn;
  ensures  distinct:   RanksDistinct;
  ensures  counted:    CellsCounted && SparesFree;
  ensures  linked:     CellsLinked;
  ensures  range:      LimitsInRange && UsageInRange && QuotaDerived;
  ensures  exact:      UsageExact && LentExact;
  ensures  totals:     TotalsExact;
  ensures  gone:       sl_cell_home[\old(sl_node_first[node]) - 1] == 0;
  ensures  others:     SameNames{Old, Post}(\old(sl_node_first[node]) - 1);
  ensures  fewer:      sl_node_cells[node] == \old(sl_node_cells[node]) - 1;
*/
void sl_cells_remove_first(sl_node_id node);
#endif
