/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The ledger's structure: quota qnodes and their cells. Include kernel/ledger/ledger.h. */
#ifndef SL_KERNEL_LEDGER_FOREST_H
#define SL_KERNEL_LEDGER_FOREST_H
#include "kernel/ledger/cells.h"
#include "kernel/base/status.h"
#include "kernel/ledger/trail.h"
#include "kernel/base/types.h"

/* Take a free qnode id into use as a root. The caller chooses the id. Structure cannot change in a trial. */
/*@
  requires inv:        LedgerInv && TrailSound && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_used[0 .. SL_QNODES_MAX - 1], sl_qnode_limit;
  ensures  inv:        LedgerInv && TrailSound && HeightsInv;
  behavior done:
    assumes free:      qnode < SL_QNODES_MAX && !sl_qnode_used[qnode] && sl_trail_depth == 0;
    ensures result:    \result == SL_OK && sl_qnode_used[qnode] && sl_qnode_up[qnode] == 0;
  behavior refused:
    assumes reason:    !(qnode < SL_QNODES_MAX && !sl_qnode_used[qnode] && sl_trail_depth == 0);
    assigns            \nothing;
    ensures result:    \result == SL_FULL_QNODES || \result == SL_REFUSED_IN_USE ||
                       \result == SL_REFUSED_TRIAL_OPEN;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_open_qnode(sl_qnode_id qnode) SL_MUST_CHECK;

/* Give a qnode and its cells back; refused while it has children or something is charged to one of its cells. */
/*@
  requires inv:        LedgerInv && TrailSound && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_qnode_used[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_level[0 .. SL_QNODES_MAX - 1], sl_qnode_children[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_up[0 .. SL_QNODES_MAX - 1], sl_heights_stale;
  ensures  inv:        LedgerInv && TrailSound && HeightsInv;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  behavior done:
    assumes known:     qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && sl_trail_depth == 0;
    assumes leaf:      sl_qnode_children[qnode] == 0;
    assumes free:      \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == qnode + 1 ==>
                       sl_cell_own[c] == 0;
    ensures result:    \result == SL_OK && !sl_qnode_used[qnode];
  behavior refused:
    assumes reason:    !(qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && sl_trail_depth == 0 &&
                       sl_qnode_children[qnode] == 0 && \forall integer c; 0 <= c < SL_CELLS_MAX &&
                       sl_cell_home[c] == qnode + 1 ==> sl_cell_own[c] == 0);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_QNODE || \result == SL_REFUSED_TRIAL_OPEN ||
                       \result == SL_REFUSED_IN_USE;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_close_qnode(sl_qnode_id qnode) SL_MUST_CHECK;

/* Put `qnode` under `parent` (SL_NO_ID = make it a root). Cycles are refused. Cells missing above are
 * opened with no quota. Usage moves along. When cells run out, nothing has moved, but some may be open. */
/*@
  requires inv:        LedgerInv && TrailSound && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_qnode_level[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_children[0 .. SL_QNODES_MAX - 1], sl_qnode_up[0 .. SL_QNODES_MAX - 1],
                       sl_heights_stale, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                       sl_scratch_target[0 .. SL_CELLS_MAX - 1], sl_scratch_moves[0 .. SL_QNODES_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound && HeightsInv;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  others:     \forall integer i; 0 <= i < SL_QNODES_MAX && i != qnode ==>
                       sl_qnode_up[i] == \old(sl_qnode_up)[i];
  behavior root:
    assumes known:     qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && sl_trail_depth == 0 && parent == SL_NO_ID;
    ensures result:    \result == SL_OK || \result == SL_REFUSED_TOO_DEEP;
    ensures moved:     \result == SL_OK ==> sl_qnode_up[qnode] == 0;
  behavior under:
    assumes known:     qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && sl_trail_depth == 0;
    assumes parent:    parent < SL_QNODES_MAX && sl_qnode_used[parent] && !Under(parent, qnode);
    ensures result:    \result == SL_OK || \result == SL_REFUSED_TOO_DEEP || \result == SL_FULL_CELLS;
    ensures moved:     \result == SL_OK ==> sl_qnode_up[qnode] == parent + 1;
    ensures kept:      \result != SL_OK ==> sl_qnode_up[qnode] == \old(sl_qnode_up[qnode]);
  behavior cycle:
    assumes known:     qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && sl_trail_depth == 0;
    assumes parent:    parent < SL_QNODES_MAX && sl_qnode_used[parent] && Under(parent, qnode);
    ensures result:    \result == SL_REFUSED_CYCLE && sl_qnode_up[qnode] == \old(sl_qnode_up[qnode]);
  behavior refused:
    assumes reason:    !(qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && sl_trail_depth == 0 &&
                       (parent == SL_NO_ID || (parent < SL_QNODES_MAX && sl_qnode_used[parent])));
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_QNODE || \result == SL_REFUSED_TRIAL_OPEN;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_move_qnode(sl_qnode_id qnode, sl_qnode_id parent) SL_MUST_CHECK;

/* See to it that there is a cell of (qnode, flavor, resource), opening the chain up to the root as needed. An
 * existing one is found in a trial, too. */
/*@
  requires inv:        LedgerInv && TrailSound;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  kept:       NamesKept{Old, Post};
  ensures  open:       \result == SL_OK ==>
                       \exists integer c; 0 <= c < SL_CELLS_MAX && HasName(c, qnode, flavor, resource);
  ensures  result:     \result == SL_OK || \result == SL_REFUSED_NO_QNODE ||
                       \result == SL_REFUSED_TRIAL_OPEN || \result == SL_FULL_CELLS;
*/
enum sl_status sl_ledger_ensure_cell(sl_qnode_id qnode, sl_flavor_id flavor,
                                     sl_resource_id resource) SL_MUST_CHECK;

/* The cell of (qnode, flavor, resource), or SL_NO_ID. */
/*@
  requires inv:        ListsInv;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  found:      \result != SL_NO_ID ==> \result < SL_CELLS_MAX && HasName(\result, qnode, flavor, resource);
  ensures  none:       \result == SL_NO_ID && qnode < SL_QNODES_MAX ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                       !HasName(c, qnode, flavor, resource);
*/
sl_cell_id sl_ledger_find_cell(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource);
#endif
