/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The ledger's structure: quota nodes and their cells. Include kernel/ledger/ledger.h. */
#ifndef SL_KERNEL_LEDGER_FOREST_H
#define SL_KERNEL_LEDGER_FOREST_H
#include "kernel/ledger/cells.h"
#include "kernel/base/status.h"
#include "kernel/ledger/trail.h"
#include "kernel/base/types.h"

/* Take a free node id into use as a root. The caller chooses the id. Structure cannot change in a trial. */
/*@
  requires inv:        LedgerInv && TrailSound && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_node_used[0 .. SL_NODES_MAX - 1], sl_node_limit;
  ensures  inv:        LedgerInv && TrailSound && HeightsInv;
  behavior done:
    assumes free:      node < SL_NODES_MAX && !sl_node_used[node] && sl_trail_depth == 0;
    ensures result:    \result == SL_OK && sl_node_used[node] && sl_node_up[node] == 0;
  behavior refused:
    assumes reason:    !(node < SL_NODES_MAX && !sl_node_used[node] && sl_trail_depth == 0);
    assigns            \nothing;
    ensures result:    \result == SL_FULL_NODES || \result == SL_REFUSED_IN_USE ||
                       \result == SL_REFUSED_TRIAL_OPEN;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_open_node(sl_node_id node) SL_MUST_CHECK;

/* Give a node and its cells back; refused while it has children or something is charged to one of its cells. */
/*@
  requires inv:        LedgerInv && TrailSound && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_node_used[0 .. SL_NODES_MAX - 1],
                       sl_node_level[0 .. SL_NODES_MAX - 1], sl_node_children[0 .. SL_NODES_MAX - 1],
                       sl_node_up[0 .. SL_NODES_MAX - 1], sl_heights_stale;
  ensures  inv:        LedgerInv && TrailSound && HeightsInv;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  behavior done:
    assumes known:     node < SL_NODES_MAX && sl_node_used[node] && sl_trail_depth == 0;
    assumes leaf:      sl_node_children[node] == 0;
    assumes free:      \forall integer c; 0 <= c < SL_CELLS_MAX && sl_cell_home[c] == node + 1 ==>
                       sl_cell_own[c] == 0;
    ensures result:    \result == SL_OK && !sl_node_used[node];
  behavior refused:
    assumes reason:    !(node < SL_NODES_MAX && sl_node_used[node] && sl_trail_depth == 0 &&
                       sl_node_children[node] == 0 && \forall integer c; 0 <= c < SL_CELLS_MAX &&
                       sl_cell_home[c] == node + 1 ==> sl_cell_own[c] == 0);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_NODE_ID || \result == SL_REFUSED_TRIAL_OPEN ||
                       \result == SL_REFUSED_IN_USE;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_close_node(sl_node_id node) SL_MUST_CHECK;

/* Put `node` under `parent` (SL_NO_ID = make it a root). Cycles are refused. Cells missing above are
 * opened with no quota. Usage moves along. When cells run out, nothing has moved, but some may be open. */
/*@
  requires inv:        LedgerInv && TrailSound && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_node_level[0 .. SL_NODES_MAX - 1],
                       sl_node_children[0 .. SL_NODES_MAX - 1], sl_node_up[0 .. SL_NODES_MAX - 1],
                       sl_heights_stale, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                       sl_scratch_target[0 .. SL_CELLS_MAX - 1], sl_scratch_moves[0 .. SL_NODES_MAX - 1];
  ensures  inv:        LedgerInv && TrailSound && HeightsInv;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  others:     \forall integer i; 0 <= i < SL_NODES_MAX && i != node ==>
                       sl_node_up[i] == \old(sl_node_up)[i];
  behavior root:
    assumes known:     node < SL_NODES_MAX && sl_node_used[node] && sl_trail_depth == 0 && parent == SL_NO_ID;
    ensures result:    \result == SL_OK || \result == SL_REFUSED_TOO_DEEP;
    ensures moved:     \result == SL_OK ==> sl_node_up[node] == 0;
  behavior under:
    assumes known:     node < SL_NODES_MAX && sl_node_used[node] && sl_trail_depth == 0;
    assumes parent:    parent < SL_NODES_MAX && sl_node_used[parent] && !Under(parent, node);
    ensures result:    \result == SL_OK || \result == SL_REFUSED_TOO_DEEP || \result == SL_FULL_CELLS;
    ensures moved:     \result == SL_OK ==> sl_node_up[node] == parent + 1;
    ensures kept:      \result != SL_OK ==> sl_node_up[node] == \old(sl_node_up[node]);
  behavior cycle:
    assumes known:     node < SL_NODES_MAX && sl_node_used[node] && sl_trail_depth == 0;
    assumes parent:    parent < SL_NODES_MAX && sl_node_used[parent] && Under(parent, node);
    ensures result:    \result == SL_REFUSED_CYCLE && sl_node_up[node] == \old(sl_node_up[node]);
  behavior refused:
    assumes reason:    !(node < SL_NODES_MAX && sl_node_used[node] && sl_trail_depth == 0 &&
                       (parent == SL_NO_ID || (parent < SL_NODES_MAX && sl_node_used[parent])));
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_NODE_ID || \result == SL_REFUSED_TRIAL_OPEN;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_move_node(sl_node_id node, sl_node_id parent) SL_MUST_CHECK;

/* See to it that there is a cell of (node, flavor, resource), opening the chain up to the root as needed. An
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
                       \exists integer c; 0 <= c < SL_CELLS_MAX && HasName(c, node, flavor, resource);
  ensures  result:     \result == SL_OK || \result == SL_REFUSED_NO_NODE_ID ||
                       \result == SL_REFUSED_TRIAL_OPEN || \result == SL_FULL_CELLS;
*/
enum sl_status sl_ledger_ensure_cell(sl_node_id node, sl_flavor_id flavor,
                                     sl_resource_id resource) SL_MUST_CHECK;

/* The cell of (node, flavor, resource), or SL_NO_ID. */
/*@
  requires inv:        ListsInv;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  found:      \result != SL_NO_ID ==> \result < SL_CELLS_MAX && HasName(\result, node, flavor, resource);
  ensures  none:       \result == SL_NO_ID && node < SL_NODES_MAX ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                       !HasName(c, node, flavor, resource);
*/
sl_cell_id sl_ledger_find_cell(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource);
#endif
