/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: links between cells. Owns the cells' limits and links, and what follows from them. */
#ifndef SL_KERNEL_LEDGER_QUOTA_H
#define SL_KERNEL_LEDGER_QUOTA_H
#include "kernel/ledger/cells.h"
#include "kernel/ledger/trail.h"
#include "kernel/base/types.h"

/* Hang a root cell under another one; all sums above follow. */
/*@
  requires inv:        NumbersInv && TrailSound && sl_trail_depth == 0;
  requires cell:       cell < SL_CELLS_MAX && sl_cell_home[cell] != 0 && sl_cell_up[cell] == 0;
  requires parent:     parent < SL_CELLS_MAX && sl_cell_home[parent] != 0 &&
                       cell_level(cell) == cell_level(parent) + 1 &&
                       sl_cell_flavor[cell] == sl_cell_flavor[parent] &&
                       sl_cell_resource[cell] == sl_cell_resource[parent];
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_cell_lent_low[0 .. SL_CELLS_MAX - 1],
                       sl_cell_lent_high[0 .. SL_CELLS_MAX - 1], sl_cell_subtree[0 .. SL_CELLS_MAX - 1],
                       sl_cell_kept[0 .. SL_CELLS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1],
                       sl_cell_up[cell];
  ensures  inv:        NumbersInv && TrailSound;
  ensures  linked:     sl_cell_up[cell] == parent + 1;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
void sl_quota_link(sl_cell_id cell, sl_cell_id parent);

/* Take a cell off its parent, if it has one; all sums above follow. */
/*@
  requires inv:        NumbersInv && TrailSound && sl_trail_depth == 0;
  requires cell:       cell < SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_cell_lent_low[0 .. SL_CELLS_MAX - 1],
                       sl_cell_lent_high[0 .. SL_CELLS_MAX - 1], sl_cell_subtree[0 .. SL_CELLS_MAX - 1],
                       sl_cell_kept[0 .. SL_CELLS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1],
                       sl_cell_up[cell];
  ensures  inv:        NumbersInv && TrailSound;
  ensures  linked:     sl_cell_up[cell] == 0;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
void sl_quota_unlink(sl_cell_id cell);

/* Set the limits; all sums above follow. */
/*@
  requires inv:        NumbersInv && TrailSound && sl_trail_depth == 0;
  requires cell:       cell < SL_CELLS_MAX;
  requires range:      0 <= nominal <= SL_AMOUNT_UNLIMITED && 0 <= lending <= SL_AMOUNT_UNLIMITED &&
                       0 <= borrowing <= SL_AMOUNT_UNLIMITED;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_cell_lent_low[0 .. SL_CELLS_MAX - 1],
                       sl_cell_lent_high[0 .. SL_CELLS_MAX - 1], sl_cell_subtree[0 .. SL_CELLS_MAX - 1],
                       sl_cell_kept[0 .. SL_CELLS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1],
                       sl_cell_nominal[cell], sl_cell_lending[cell], sl_cell_borrowing[cell];
  ensures  inv:        NumbersInv && TrailSound;
  ensures  set:        sl_cell_nominal[cell] == nominal && sl_cell_lending[cell] == lending &&
                       sl_cell_borrowing[cell] == borrowing;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
void sl_quota_set(sl_cell_id cell, int64_t nominal, int64_t lending, int64_t borrowing);
#endif
