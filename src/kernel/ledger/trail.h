/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The undo trail: changes of usage are tried on the live ledger and taken back exactly. Owns the trail, and
 * is the only writer of own, usage and totals, so that no change can miss it. Trials nest: the one begun
 * last is the first to be rolled back or kept. */
#ifndef SL_KERNEL_TRAIL_H
#define SL_KERNEL_TRAIL_H
#include "kernel/ledger/cells.h"
#include "kernel/base/status.h"
#include "kernel/base/types.h"

#define SL_TRAIL_MAX 4194304u

/* Notes 0 .. sl_trail_count - 1: a cell and what it held before a change. */
extern sl_cell_id sl_trail_cell[SL_TRAIL_MAX];
extern int64_t sl_trail_own[SL_TRAIL_MAX];
extern int64_t sl_trail_usage[SL_TRAIL_MAX];
extern uint32_t sl_trail_count;
extern uint32_t sl_trail_depth; /* trials that are open */

#include "specs/trail.acsl"

/* Begin a trial; from here every change of usage is noted. The mark is what rollback and keep take. */
/*@
  requires sound:      TrailSound && sl_trail_depth < UINT32_MAX;
  requires exact:      UsageExact && UsageInRange && TotalsExact;
  terminates           \true;
  exits                \false;
  assigns              sl_trail_depth;
  ensures  mark:       \result == sl_trail_count && ExactBefore(\result);
  ensures  now:        \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                       own_before(c, \result) == sl_cell_own[c] && usage_before(c, \result) == sl_cell_usage[c];
  ensures  open:       sl_trail_depth == \old(sl_trail_depth) + 1;
  ensures  sound:      TrailSound;
  ensures  past:       SamePast{Old, Post}(sl_trail_count);
*/
uint32_t sl_trail_begin(void);

/* Every array is as it was at the mark, exactly. */
/*@
  requires sound:      TrailSound && sl_trail_depth > 0;
  requires mark:       mark <= sl_trail_count && (sl_trail_depth == 1 ==> mark == 0);
  requires began:      ExactBefore(mark);
  requires exact:      UsageInRange && TotalsExact;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count, sl_trail_depth;
  ensures  own:        \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] == \old(own_before(c, mark));
  ensures  usage:      \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_usage[c] == \old(usage_before(c, mark));
  ensures  exact:      UsageExact && UsageInRange && TotalsExact;
  ensures  sound:      TrailSound && sl_trail_count == mark && sl_trail_depth == \old(sl_trail_depth) - 1;
  ensures  past:       SamePast{Old, Post}(mark);
*/
void sl_trail_rollback(uint32_t mark);

/* The changes stay; a trial around this one can still take them back. */
/*@
  requires sound:      TrailSound && sl_trail_depth > 0;
  requires mark:       mark <= sl_trail_count;
  requires totals:     TotalsExact;
  terminates           \true;
  exits                \false;
  assigns              sl_trail_count, sl_trail_depth;
  ensures  open:       sl_trail_depth == \old(sl_trail_depth) - 1;
  ensures  noted:      sl_trail_count == (sl_trail_depth > 0 ? \old(sl_trail_count) : 0);
  ensures  sound:      TrailSound;
  ensures  past:       sl_trail_depth > 0 ==> SamePast{Old, Post}(sl_trail_count);
*/
void sl_trail_keep(uint32_t mark);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  open:       \result <==> sl_trail_depth > 0;
*/
bool sl_trail_open(void);

/* For the ledger only. Is there room to note the changes of one path to the root? */
/*@
  requires sound:      TrailSound;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  capacity:       \result <==> TrailRoom;
*/
bool sl_trail_has_room(void);

/* For the ledger only: write what a cell holds, noting what it held. */
/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires range:      0 <= own <= SL_AMOUNT_MAX && 0 <= usage <= SL_AMOUNT_MAX;
  requires held:       0 <= sl_cell_own[cell] <= SL_AMOUNT_MAX && 0 <= sl_cell_usage[cell] <= SL_AMOUNT_MAX;
  requires totals:     TotalsExact;
  requires total:      0 <= sl_total[cell_slot(cell)] + own - sl_cell_own[cell] <= SL_AMOUNT_MAX;
  requires sound:      TrailSound;
  requires capacity:       sl_trail_depth > 0 ==> sl_trail_count < SL_TRAIL_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[cell], sl_cell_usage[cell], sl_total[cell_slot(cell)], sl_trail_count,
                       sl_trail_cell[sl_trail_count], sl_trail_own[sl_trail_count],
                       sl_trail_usage[sl_trail_count];
  ensures  written:    sl_cell_own[cell] == own && sl_cell_usage[cell] == usage;
  ensures  sums:       \forall integer p; stored_sum(p, SL_CELLS_MAX) == \old(stored_sum(p, SL_CELLS_MAX)) +
                       (sl_cell_up[cell] == p + 1 ? cell_stored(cell) - \old(cell_stored(cell)) : 0);
  ensures  totals:     TotalsExact;
  ensures  total:      sl_total[cell_slot(cell)] == \old(sl_total[cell_slot(cell)] - sl_cell_own[cell]) + own;
  ensures  sound:      TrailSound;
  ensures  noted:      sl_trail_count == \old(sl_trail_count) + (sl_trail_depth > 0 ? 1 : 0);
  ensures  past:       sl_trail_depth > 0 ==> SamePast{Old, Post}(\old(sl_trail_count));
*/
void sl_trail_write(sl_cell_id cell, int64_t own, int64_t usage);
#endif
