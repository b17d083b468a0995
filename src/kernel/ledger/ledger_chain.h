/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: a cell and its chain of parents up to the root. */
#ifndef SL_KERNEL_LEDGER_CHAIN_H
#define SL_KERNEL_LEDGER_CHAIN_H
#include "kernel/ledger/cells.h"
#include "kernel/ledger/trail.h"
#include "kernel/base/types.h"

/* Hang a cell under the one of the same name in its qnode's parent. */
/*@
  requires inv:        ForestInv && NumbersInv && TrailSound && sl_trail_depth == 0;
  requires cell:       cell < SL_CELLS_MAX && sl_cell_home[cell] != 0 && sl_cell_up[cell] == 0;
  requires parent:     parent < SL_CELLS_MAX && sl_qnode_up[sl_cell_home[cell] - 1] != 0 &&
                       HasName(parent, sl_qnode_up[sl_cell_home[cell] - 1] - 1, sl_cell_flavor[cell],
                               sl_cell_resource[cell]);
  terminates           \true;
  exits                \false;
  assigns              SL_LINK_NUMBERS, sl_cell_up[cell];
  ensures  inv:        ForestInv && NumbersInv && TrailSound;
  ensures  linked:     sl_cell_up[cell] == parent + 1;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
void sl_chain_link(sl_cell_id cell, sl_cell_id parent);

/* Take a cell off its parent, if it has one. */
/*@
  requires inv:        ForestInv && NumbersInv && TrailSound && sl_trail_depth == 0;
  requires cell:       cell < SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_LINK_NUMBERS, sl_cell_up[cell];
  ensures  inv:        ForestInv && NumbersInv && TrailSound;
  ensures  off:        sl_cell_up[cell] == 0;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
void sl_chain_unlink(sl_cell_id cell);

/* The cell of that name, made together with those missing above it; SL_NO_ID when there is no room for all. */
/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode];
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  result:     \result == SL_NO_ID ||
                       (\result < SL_CELLS_MAX && HasName(\result, qnode, flavor, resource));
  ensures  kept:       NamesKept{Old, Post};
  ensures  elsewhere:  \forall integer i; 0 <= i < SL_CELLS_MAX && sl_cell_home[i] != \old(sl_cell_home)[i] ==>
                       Under(qnode, sl_cell_home[i] - 1);
*/
sl_cell_id sl_chain_open(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource);
#endif
