/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quota and usage: a forest of cells, one per (quota node, flavor, resource) in use, each linked to the cell
 * of the same flavor and resource in its node's parent. Usage beyond what a node keeps for itself is stored
 * in its parent (FEATURES 3.9). Owns the nodes and cells. Carries G2, G3. */
#ifndef SL_KERNEL_LEDGER_H
#define SL_KERNEL_LEDGER_H
#include "kernel/cells.h"
#include "kernel/status.h"
#include "kernel/trail.h"
#include "kernel/types.h"

/* --- structure and quotas: administrators' changes ------------------------------------------------- */

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

/* Both in one call; *cell is untouched unless the result is SL_OK. */
/*@
  requires inv:        LedgerInv && TrailSound;
  requires cell:       \valid(cell);
  requires apart:      \separated(cell, sl_node_used + (..), sl_node_up + (..), sl_node_level + (..),
                       sl_node_children + (..), sl_node_cells + (..), sl_node_first + (..),
                       sl_cell_home + (..), sl_cell_flavor + (..), sl_cell_resource + (..),
                       sl_cell_up + (..), sl_cell_next + (..), sl_cell_rank + (..),
                       sl_cell_spare + (..), sl_cell_nominal + (..), sl_cell_lending + (..),
                       sl_cell_borrowing + (..), sl_cell_lent_low + (..), sl_cell_lent_high + (..),
                       sl_cell_subtree + (..), sl_cell_kept + (..), sl_cell_own + (..),
                       sl_cell_usage + (..), sl_total + (..), sl_scratch_path + (..),
                       sl_trail_cell + (..), sl_trail_own + (..), sl_trail_usage + (..), &sl_node_limit,
                       &sl_cell_limit, &sl_cell_spares, &sl_trail_count, &sl_trail_depth);
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1], *cell;
  ensures  inv:        LedgerInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  found:      \result == SL_OK ==> *cell < SL_CELLS_MAX && HasName(*cell, node, flavor, resource);
  ensures  untouched:  \result != SL_OK ==> *cell == \old(*cell);
  ensures  kept:       NamesKept{Old, Post};
  ensures  result:     \result == SL_OK || \result == SL_REFUSED_NO_NODE_ID ||
                       \result == SL_REFUSED_TRIAL_OPEN || \result == SL_FULL_CELLS;
*/
enum sl_status sl_ledger_open_cell(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource,
                                   sl_cell_id *cell) SL_MUST_CHECK;

/* Limits: SL_AMOUNT_UNLIMITED = none. Usage never changes what is set here; available may become negative. */
/*@
  requires inv:        NumbersInv && TrailSound;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_cell_lent_low[0 .. SL_CELLS_MAX - 1],
                       sl_cell_lent_high[0 .. SL_CELLS_MAX - 1], sl_cell_subtree[0 .. SL_CELLS_MAX - 1],
                       sl_cell_kept[0 .. SL_CELLS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1],
                       sl_cell_nominal[0 .. SL_CELLS_MAX - 1], sl_cell_lending[0 .. SL_CELLS_MAX - 1],
                       sl_cell_borrowing[0 .. SL_CELLS_MAX - 1];
  ensures  inv:        NumbersInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  behavior done:
    assumes known:     Chargeable(cell, 0) && sl_trail_depth == 0;
    assumes quotas:    IsQuota(nominal) && IsQuota(lending_limit) && IsQuota(borrowing_limit);
    ensures result:    \result == SL_OK;
    ensures set:       sl_cell_nominal[cell] == nominal && sl_cell_lending[cell] == lending_limit &&
                       sl_cell_borrowing[cell] == borrowing_limit;
  behavior refused:
    assumes reason:    !(Chargeable(cell, 0) && sl_trail_depth == 0 && IsQuota(nominal) &&
                       IsQuota(lending_limit) && IsQuota(borrowing_limit));
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_CELL || \result == SL_REFUSED_AMOUNT ||
                       \result == SL_REFUSED_TRIAL_OPEN;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_set_quota(sl_cell_id cell, int64_t nominal, int64_t lending_limit,
                                   int64_t borrowing_limit) SL_MUST_CHECK;

/* --- usage ------------------------------------------------------------------------------------------ */

/* Charge `amount` to `cell` if it is available on the way to the root (G3), else refuse without effect. */
/*@
  requires inv:        UsageInv && TrailSound;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1], sl_total[0 .. SL_TOTALS_MAX - 1],
                       sl_trail_count, sl_trail_cell[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_own[0 .. SL_TRAIL_MAX - 1], sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
  ensures  inv:        UsageInv && TrailSound;
  ensures  past:       sl_trail_depth > 0 ==> SamePast{Old, Post}(\old(sl_trail_count));
  behavior done:
    assumes known:     Chargeable(cell, amount) && TrailRoom;
    assumes quota:     amount <= available(cell);
    assumes total:     sl_total[cell_slot(cell)] + amount <= SL_AMOUNT_MAX;
    ensures result:    \result == SL_OK;
    ensures own:       sl_cell_own[cell] == \old(sl_cell_own[cell]) + amount && OwnElsewhere{Old, Post}(cell);
    ensures limits:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                       sl_cell_usage[c] == \old(sl_cell_usage[c]) || WithinLimit(c);
  behavior refused:
    assumes reason:    !(Chargeable(cell, amount) && TrailRoom && amount <= available(cell) &&
                       sl_total[cell_slot(cell)] + amount <= SL_AMOUNT_MAX);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_CELL || \result == SL_REFUSED_AMOUNT ||
                       \result == SL_FULL_TRAIL || \result == SL_REFUSED_QUOTA ||
                       \result == SL_REFUSED_OVERFLOW;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_reserve(sl_cell_id cell, int64_t amount) SL_MUST_CHECK;

/* Charge without asking for availability: what is already running at a restart, or is rescaled. */
/*@
  requires inv:        UsageInv && TrailSound;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1], sl_total[0 .. SL_TOTALS_MAX - 1],
                       sl_trail_count, sl_trail_cell[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_own[0 .. SL_TRAIL_MAX - 1], sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
  ensures  inv:        UsageInv && TrailSound;
  ensures  past:       sl_trail_depth > 0 ==> SamePast{Old, Post}(\old(sl_trail_count));
  behavior done:
    assumes known:     Chargeable(cell, amount) && TrailRoom;
    assumes total:     sl_total[cell_slot(cell)] + amount <= SL_AMOUNT_MAX;
    ensures result:    \result == SL_OK;
    ensures own:       sl_cell_own[cell] == \old(sl_cell_own[cell]) + amount && OwnElsewhere{Old, Post}(cell);
  behavior refused:
    assumes reason:    !(Chargeable(cell, amount) && TrailRoom &&
                       sl_total[cell_slot(cell)] + amount <= SL_AMOUNT_MAX);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_CELL || \result == SL_REFUSED_AMOUNT ||
                       \result == SL_FULL_TRAIL || \result == SL_REFUSED_OVERFLOW;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_charge(sl_cell_id cell, int64_t amount) SL_MUST_CHECK;

/* Take back what was charged. */
/*@
  requires inv:        UsageInv && TrailSound;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1], sl_total[0 .. SL_TOTALS_MAX - 1],
                       sl_trail_count, sl_trail_cell[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_own[0 .. SL_TRAIL_MAX - 1], sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
  ensures  inv:        UsageInv && TrailSound;
  ensures  past:       sl_trail_depth > 0 ==> SamePast{Old, Post}(\old(sl_trail_count));
  behavior done:
    assumes known:     Chargeable(cell, amount) && TrailRoom;
    assumes held:      amount <= sl_cell_own[cell];
    ensures result:    \result == SL_OK;
    ensures own:       sl_cell_own[cell] == \old(sl_cell_own[cell]) - amount && OwnElsewhere{Old, Post}(cell);
  behavior refused:
    assumes reason:    !(Chargeable(cell, amount) && TrailRoom && amount <= sl_cell_own[cell]);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_CELL || \result == SL_REFUSED_AMOUNT ||
                       \result == SL_FULL_TRAIL || \result == SL_REFUSED_NOT_HELD;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_ledger_release(sl_cell_id cell, int64_t amount) SL_MUST_CHECK;

/* --- questions -------------------------------------------------------------------------------------- */

/* What may still be charged; may be negative after a quota cut. 0 for what is not a cell. */
/*@
  requires inv:        CellsLinked && LimitsInRange && UsageInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? smaller(SL_AMOUNT_UNLIMITED, available(cell)) : 0);
*/
int64_t sl_ledger_available(sl_cell_id cell);

/* The most that could ever be available. */
/*@
  requires inv:        CellsLinked && LimitsInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? smaller(SL_AMOUNT_UNLIMITED, potential(cell)) : 0);
*/
int64_t sl_ledger_potential(sl_cell_id cell);

/* How high in the forest `amount` must borrow: 0 = within the quota of the cell's own subtree, else the
 * height of the lowest cohort above that fits what is not kept below it; that of the root when none does. */
/*@
  requires inv:        LedgerInv && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_node_height[0 .. SL_NODES_MAX - 1], sl_heights_stale;
  ensures  inv:        HeightsInv;
  behavior within:
    assumes within:    !Chargeable(cell, amount) || sl_cell_up[cell] == 0 ||
                       sl_cell_usage[cell] + amount <= sl_cell_subtree[cell];
    assigns            \nothing;
    ensures result:    \result == 0;
  behavior beyond:
    assumes beyond:    Chargeable(cell, amount) && sl_cell_up[cell] != 0 &&
                       sl_cell_usage[cell] + amount > sl_cell_subtree[cell];
    ensures result:    \result == borrow_height(cell, amount) && !sl_heights_stale;
  complete behaviors;
  disjoint behaviors;
*/
uint32_t sl_ledger_borrow_height(sl_cell_id cell, int64_t amount);

/* What it uses, incl. what it stores for its children. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? sl_cell_usage[cell] : 0);
*/
int64_t sl_ledger_usage(sl_cell_id cell);

/* What was charged to this very cell. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? sl_cell_own[cell] : 0);
*/
int64_t sl_ledger_own(sl_cell_id cell);

/* Its own quota. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? sl_cell_nominal[cell] : 0);
*/
int64_t sl_ledger_nominal(sl_cell_id cell);

/* A cell's name; SL_NO_ID = not in use. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX && sl_cell_home[cell] != 0 ? (uint32_t)(sl_cell_home[cell] - 1) : SL_NO_ID);
*/
sl_node_id sl_ledger_node_of(sl_cell_id cell);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX && sl_cell_home[cell] != 0 ? sl_cell_flavor[cell] : SL_NO_ID);
*/
sl_flavor_id sl_ledger_flavor_of(sl_cell_id cell);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX && sl_cell_home[cell] != 0 ? sl_cell_resource[cell] : SL_NO_ID);
*/
sl_resource_id sl_ledger_resource_of(sl_cell_id cell);

/* A node's parent (SL_NO_ID = it is a root) and root (SL_NO_ID = not in use). */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (node < SL_NODES_MAX && sl_node_up[node] != 0
                       ? (uint32_t)(sl_node_up[node] - 1) : SL_NO_ID);
*/
sl_node_id sl_ledger_parent_node(sl_node_id node);

/*@
  requires linked:     NodesLinked;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (node < SL_NODES_MAX && sl_node_used[node] ? stop_at(node, -1) : SL_NO_ID);
*/
sl_node_id sl_ledger_root_node(sl_node_id node);

bool sl_ledger_valid(void);                             /* LedgerInv, linear time */
#endif
