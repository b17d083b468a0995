/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A cell's parent is the cell of the same flavor and resource in the qnode's parent, and there always is one:
 * whoever opens a cell opens the chain above. */
#include "kernel/ledger/ledger_chain.h"

#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_cells.h"
#include "kernel/ledger/ledger_quota.h"

sl_qnode_id sl_scratch_path[SL_LEVELS_MAX];

void sl_chain_link(sl_cell_id cell, sl_cell_id parent)
{
    //@ ghost uint32_t qnode = sl_cell_home[cell] - 1;
    //@ assert level: QnodeLinked(qnode) && cell_level(cell) == cell_level(parent) + 1;
    sl_quota_link(cell, parent);
    /*@ assert own: \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == 0 ==>
        sl_cell_own[c] == 0 && sl_cell_up[c] == 0; */
    //@ assert placed: CellsPlaced;
}

void sl_chain_unlink(sl_cell_id cell)
{
    sl_quota_unlink(cell);
    /*@ assert own: \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == 0 ==>
        sl_cell_own[c] == 0 && sl_cell_up[c] == 0; */
    //@ assert placed: CellsPlaced;
}

/* Make a cell without quota, and hang it under `above` if that is one. */
/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires qnode:       qnode < SL_QNODES_MAX && sl_qnode_used[qnode];
  requires capacity:       sl_cell_spares > 0 || sl_cell_limit < SL_CELLS_MAX;
  requires above:      sl_qnode_up[qnode] == 0 ? above == SL_NO_ID
                       : above < SL_CELLS_MAX && HasName(above, sl_qnode_up[qnode] - 1, flavor, resource);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES;
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  result:     \result < SL_CELLS_MAX && HasName(\result, qnode, flavor, resource);
  ensures  limits:     sl_cell_nominal[\result] == 0 && sl_cell_lending[\result] == SL_AMOUNT_UNLIMITED &&
                       sl_cell_borrowing[\result] == SL_AMOUNT_UNLIMITED;
  ensures  kept:       NamesKept{Old, Post};
  ensures  elsewhere:  \forall integer i; 0 <= i < SL_CELLS_MAX && sl_cell_home[i] != \old(sl_cell_home)[i] ==>
                       sl_cell_home[i] == qnode + 1;
  ensures  capacity:       sl_cell_spares - sl_cell_limit == \old(sl_cell_spares - sl_cell_limit) - 1;
*/
static sl_cell_id make_cell(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource,
                            sl_cell_id above)
{
    sl_cell_id made = sl_cells_add(qnode, flavor, resource);
    /*@ assert whole: \forall integer c; 0 <= c < SL_CELLS_MAX && c != made && sl_cell_home[c] != 0 &&
        sl_qnode_up[sl_cell_home[c] - 1] != 0 ==> sl_cell_up[c] != 0; */
    sl_quota_set(made, 0, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED);
    /*@ assert own: \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == 0 ==>
        sl_cell_own[c] == 0 && sl_cell_up[c] == 0; */
    //@ assert placed: CellsPlaced;
    if (above != SL_NO_ID) {
        sl_chain_link(made, above);
    }
    //@ assert chains: ChainsWhole(-1);
    return made;
}

/* Make the cells that are missing on the path, from the root downwards, so that every chain is whole at every
 * moment. */
/*@
  requires inv:        LedgerInv && TrailSound && sl_trail_depth == 0;
  requires path:       count <= SL_LEVELS_MAX && \forall integer i; 0 <= i < count ==>
                       sl_scratch_path[i] < SL_QNODES_MAX && sl_qnode_used[sl_scratch_path[i]];
  requires links:      \forall integer i; 0 < i < count ==> sl_qnode_up[sl_scratch_path[i - 1]] == sl_scratch_path[i] + 1;
  requires above:      count > 0 ==> (sl_qnode_up[sl_scratch_path[count - 1]] == 0 ? above == SL_NO_ID
                       : above < SL_CELLS_MAX && HasName(above, sl_qnode_up[sl_scratch_path[count - 1]] - 1, flavor, resource));
  requires none:       count == 0 ==> above < SL_CELLS_MAX;
  requires capacity:       count <= sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES;
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  result:     \result < SL_CELLS_MAX &&
                       (count == 0 ? \result == above : HasName(\result, sl_scratch_path[0], flavor, resource));
  ensures  kept:       NamesKept{Old, Post};
  ensures  elsewhere:  \forall integer i; 0 <= i < SL_CELLS_MAX && sl_cell_home[i] != \old(sl_cell_home)[i] ==>
                       \exists integer j; 0 <= j < count && sl_cell_home[i] == sl_scratch_path[j] + 1;
*/
static sl_cell_id make_chain(uint32_t count, sl_cell_id above, sl_flavor_id flavor,
                             sl_resource_id resource)
{
    /*@
      loop invariant count:  0 <= count <= \at(count, Pre);
      loop invariant inv:    LedgerInv && TrailSound;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop invariant above:  count > 0 ==> (sl_qnode_up[sl_scratch_path[count - 1]] == 0 ? above == SL_NO_ID
                             : above < SL_CELLS_MAX &&
                               HasName(above, sl_qnode_up[sl_scratch_path[count - 1]] - 1, flavor, resource));
      loop invariant made:   count == 0 ==> above < SL_CELLS_MAX && (\at(count, Pre) == 0
                             ? above == \at(above, Pre) : HasName(above, sl_scratch_path[0], flavor, resource));
      loop invariant capacity:   count <= sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit);
      loop invariant kept:   NamesKept{Pre, Here};
      loop invariant others: \forall integer i; 0 <= i < SL_CELLS_MAX &&
                             sl_cell_home[i] != \at(sl_cell_home[i], Pre) ==>
                             \exists integer j; count <= j < \at(count, Pre) && sl_cell_home[i] == sl_scratch_path[j] + 1;
      loop assigns count, above, SL_ALL_NUMBERS, SL_ALL_NAMES;
      loop variant count;
    */
    while (count > 0) {
        count--;
        above = make_cell(sl_scratch_path[count], flavor, resource, above);
    }
    return above;
}

sl_cell_id sl_chain_open(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource)
{
    uint32_t count = 0;
    uint32_t up = qnode + 1;
    sl_cell_id above = SL_NO_ID;
    /*@
      loop invariant up:     up <= SL_QNODES_MAX && (up != 0 ==> sl_qnode_used[up - 1] &&
                             count + sl_qnode_level[up - 1] < SL_LEVELS_MAX);
      loop invariant count:  0 <= count <= SL_LEVELS_MAX;
      loop invariant path:   \forall integer i; 0 <= i < count ==>
                             sl_scratch_path[i] < SL_QNODES_MAX && sl_qnode_used[sl_scratch_path[i]];
      loop invariant links:  \forall integer i; 0 < i < count ==> sl_qnode_up[sl_scratch_path[i - 1]] == sl_scratch_path[i] + 1;
      loop invariant start:  count > 0 ? sl_scratch_path[0] == qnode && sl_qnode_up[sl_scratch_path[count - 1]] == up : up == qnode + 1;
      loop invariant above:  above != SL_NO_ID ==> up != 0 && above < SL_CELLS_MAX &&
                             HasName(above, up - 1, flavor, resource);
      loop invariant walk:   \forall integer n; up != 0 && Under(up - 1, n) ==> Under(qnode, n);
      loop invariant passed: \forall integer i; 0 <= i < count ==> Under(qnode, sl_scratch_path[i]);
      loop assigns up, count, above, sl_scratch_path[0 .. SL_LEVELS_MAX - 1];
      loop variant up == 0 || above != SL_NO_ID ? 0 : sl_qnode_level[up - 1] + 1;
    */
    while (up != 0 && above == SL_NO_ID) {
        above = sl_cells_find(up - 1, flavor, resource);
        if (above == SL_NO_ID) {
            sl_scratch_path[count] = up - 1;
            count++;
            up = sl_qnode_up[up - 1];
        }
    }
    return count <= sl_cells_room() ? make_chain(count, above, flavor, resource) : SL_NO_ID;
}

enum sl_status sl_ledger_ensure_cell(sl_qnode_id qnode, sl_flavor_id flavor,
                                     sl_resource_id resource)
{
    if (qnode >= SL_QNODES_MAX || !sl_qnode_used[qnode]) {
        return SL_REFUSED_NO_QNODE;
    }
    if (sl_cells_find(qnode, flavor, resource) != SL_NO_ID) {
        return SL_OK;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    return sl_chain_open(qnode, flavor, resource) != SL_NO_ID ? SL_OK : SL_FULL_CELLS;
}

sl_cell_id sl_ledger_find_cell(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource)
{
    return qnode < SL_QNODES_MAX ? sl_cells_find(qnode, flavor, resource) : SL_NO_ID;
}
