/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quota and usage: a forest of cells, one per (quota qnode, flavor, resource) in use, each linked to
 * the cell of the same flavor and resource in its qnode's parent. Usage beyond what a qnode keeps for
 * itself is stored in its parent (Kueue's resource_node.go). Owns the qnodes and cells. Carries G2,
 * G3. */
#ifndef SL_KERNEL_LEDGER_H
#define SL_KERNEL_LEDGER_H
#include "kernel/ledger/cells.h"
#include "kernel/ledger/ledger_ask.h"
#include "kernel/ledger/ledger_forest.h"
#include "kernel/base/status.h"
#include "kernel/ledger/trail.h"
#include "kernel/base/types.h"

/* --- quotas: administrators' changes ------------------------------------------------------------------ */

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
  ensures  grows:      sl_trail_count >= \old(sl_trail_count);
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
  ensures  grows:      sl_trail_count >= \old(sl_trail_count);
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
  ensures  grows:      sl_trail_count >= \old(sl_trail_count);
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
#endif
