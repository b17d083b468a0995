/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The trail is a stack of old values; rolling back pops them newest first, so that the value from before the
 * trial is the last one written. */
#include "kernel/ledger/trail.h"

int64_t sl_cell_own[SL_CELLS_MAX];
int64_t sl_cell_usage[SL_CELLS_MAX];
int64_t sl_total[SL_TOTALS_MAX];

sl_cell_id sl_trail_cell[SL_TRAIL_MAX];
int64_t sl_trail_own[SL_TRAIL_MAX];
int64_t sl_trail_usage[SL_TRAIL_MAX];
uint32_t sl_trail_count;
uint32_t sl_trail_depth;

/* The one place where own, usage and totals change; the loop shows by induction what that does to the sums. */
/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires held:       0 <= own <= SL_AMOUNT_MAX && 0 <= sl_cell_own[cell] <= SL_AMOUNT_MAX;
  requires totals:     TotalsExact;
  requires total:      0 <= sl_total[cell_slot(cell)] + own - sl_cell_own[cell] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[cell], sl_cell_usage[cell], sl_total[cell_slot(cell)];
  ensures  written:    sl_cell_own[cell] == own && sl_cell_usage[cell] == usage;
  ensures  sums:       \forall integer p; stored_sum(p, SL_CELLS_MAX) == \old(stored_sum(p, SL_CELLS_MAX)) +
                       (sl_cell_up[cell] == p + 1 ? cell_stored(cell) - \old(cell_stored(cell)) : 0);
  ensures  totals:     TotalsExact;
  ensures  total:      sl_total[cell_slot(cell)] == \old(sl_total[cell_slot(cell)] - sl_cell_own[cell]) + own;
*/
static void put(sl_cell_id cell, int64_t own, int64_t usage)
{
    sl_total[sl_cell_resource[cell] % SL_TOTALS_MAX] += own - sl_cell_own[cell];
    sl_cell_own[cell] = own;
    sl_cell_usage[cell] = usage;
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant \forall integer p; stored_sum(p, k) == stored_sum{Pre}(p, k) +
             (cell < k && sl_cell_up[cell] == p + 1 ? cell_stored(cell) - cell_stored{Pre}(cell) : 0);
         loop invariant \forall integer b; own_sum(b, k) == own_sum{Pre}(b, k) +
             (cell < k && cell_slot(cell) == b ? own - \at(sl_cell_own[cell], Pre) : 0);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    */
}

void sl_trail_write(sl_cell_id cell, int64_t own, int64_t usage)
{
    if (sl_trail_depth > 0) {
        sl_trail_cell[sl_trail_count] = cell;
        sl_trail_own[sl_trail_count] = sl_cell_own[cell];
        sl_trail_usage[sl_trail_count] = sl_cell_usage[cell];
        sl_trail_count++;
    }
    put(cell, own, usage);
    /*@ ghost
      uint32_t last = sl_trail_count;
      if (sl_trail_depth > 0) {
          last--;
      }
      uint32_t j = last;
      /@ loop invariant 0 <= j <= last;
         loop invariant sl_trail_depth > 0 ==> \forall integer c, k; j <= k <= last && 0 <= c < SL_CELLS_MAX ==>
             own_before(c, k) == own_before{Pre}(c, k) && usage_before(c, k) == usage_before{Pre}(c, k);
         loop assigns j;
         loop variant j; @/
      while (j > 0) {
          j--;
      }
      /@ loop invariant 0 <= n <= SL_CELLS_MAX;
         loop invariant sl_trail_depth > 0 ==> \forall integer p, k; 0 <= k <= last ==>
             stored_sum_before(p, k, n) == stored_sum_before{Pre}(p, k, n) &&
             own_sum_before(p, k, n) == own_sum_before{Pre}(p, k, n);
         loop invariant \forall integer b; own_sum_before(b, sl_trail_count, n) == own_sum(b, n);
         loop assigns n;
         loop variant SL_CELLS_MAX - n; @/
      for (uint32_t n = 0; n < SL_CELLS_MAX; n++) ;
    */
    /*@ assert past: \forall integer k, b; 0 <= k < sl_trail_count && 0 <= b < SL_TOTALS_MAX ==>
        0 <= own_sum_before(b, k, SL_CELLS_MAX) <= SL_AMOUNT_MAX; */
    /*@ assert now: \forall integer b; 0 <= b < SL_TOTALS_MAX ==>
        0 <= own_sum_before(b, sl_trail_count, SL_CELLS_MAX) <= SL_AMOUNT_MAX; */
}

bool sl_trail_open(void)
{
    return sl_trail_depth > 0;
}

bool sl_trail_has_room(void)
{
    return sl_trail_depth == 0 || sl_trail_count <= SL_TRAIL_MAX - SL_LEVELS_MAX;
}

uint32_t sl_trail_begin(void)
{
    sl_trail_depth++;
    /*@ ghost
      /@ loop invariant 0 <= n <= SL_CELLS_MAX;
         loop invariant \forall integer p; stored_sum_before(p, sl_trail_count, n) == stored_sum(p, n) &&
             own_sum_before(p, sl_trail_count, n) == own_sum(p, n);
         loop assigns n;
         loop variant SL_CELLS_MAX - n; @/
      for (uint32_t n = 0; n < SL_CELLS_MAX; n++) ;
    */
    return sl_trail_count;
}

/* Take back the newest note. The loops show that the past stays, and that the total stays in range. */
/*@
  requires sound:      TrailSound && sl_trail_count > 0;
  requires held:       \forall integer c; 0 <= c < SL_CELLS_MAX ==> 0 <= sl_cell_own[c] <= SL_AMOUNT_MAX;
  requires totals:     TotalsExact;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count;
  ensures  popped:     sl_trail_count == \old(sl_trail_count) - 1;
  ensures  held:       \forall integer c; 0 <= c < SL_CELLS_MAX ==> 0 <= sl_cell_own[c] <= SL_AMOUNT_MAX;
  ensures  totals:     TotalsExact;
  ensures  sound:      TrailSound;
  ensures  past:       SamePast{Old, Post}(sl_trail_count);
*/
static void pop(void)
{
    /*@ ghost
      /@ loop invariant 0 <= n <= SL_CELLS_MAX;
         loop invariant \forall integer b; own_sum_before(b, sl_trail_count - 1, n) == own_sum(b, n) +
             (sl_trail_cell[sl_trail_count - 1] < n && cell_slot(sl_trail_cell[sl_trail_count - 1]) == b
              ? sl_trail_own[sl_trail_count - 1] - sl_cell_own[sl_trail_cell[sl_trail_count - 1]] : 0);
         loop assigns n;
         loop variant SL_CELLS_MAX - n; @/
      for (uint32_t n = 0; n < SL_CELLS_MAX; n++) ;
    */
    sl_trail_count--;
    put(sl_trail_cell[sl_trail_count], sl_trail_own[sl_trail_count],
        sl_trail_usage[sl_trail_count]);
    /*@ ghost
      uint32_t j = sl_trail_count;
      /@ loop invariant 0 <= j <= sl_trail_count;
         loop invariant \forall integer c, k; j <= k <= sl_trail_count && 0 <= c < SL_CELLS_MAX ==>
             own_before(c, k) == own_before{Pre}(c, k) && usage_before(c, k) == usage_before{Pre}(c, k);
         loop assigns j;
         loop variant j; @/
      while (j > 0) {
          j--;
      }
      /@ loop invariant 0 <= n <= SL_CELLS_MAX;
         loop invariant \forall integer p, k; 0 <= k <= sl_trail_count ==>
             stored_sum_before(p, k, n) == stored_sum_before{Pre}(p, k, n) &&
             own_sum_before(p, k, n) == own_sum_before{Pre}(p, k, n);
         loop assigns n;
         loop variant SL_CELLS_MAX - n; @/
      for (uint32_t n = 0; n < SL_CELLS_MAX; n++) ;
    */
}

void sl_trail_rollback(uint32_t mark)
{
    /*@
      loop invariant count: mark <= sl_trail_count <= \at(sl_trail_count, Pre);
      loop invariant sound: TrailSound && TotalsExact;
      loop invariant held: \forall integer c; 0 <= c < SL_CELLS_MAX ==> 0 <= sl_cell_own[c] <= SL_AMOUNT_MAX;
      loop invariant past: SamePast{Pre, Here}(sl_trail_count);
      loop assigns sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                   sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count;
      loop variant sl_trail_count;
    */
    while (sl_trail_count > mark) {
        pop();
    }
    sl_trail_depth--;
    /*@ ghost
      /@ loop invariant 0 <= n <= SL_CELLS_MAX;
         loop invariant \forall integer p; stored_sum_before(p, mark, n) == stored_sum(p, n);
         loop assigns n;
         loop variant SL_CELLS_MAX - n; @/
      for (uint32_t n = 0; n < SL_CELLS_MAX; n++) ;
    */
}

void sl_trail_keep(uint32_t mark)
{
    (void)mark;
    sl_trail_depth--;
    if (sl_trail_depth == 0) {
        sl_trail_count = 0;
    }
    /*@ ghost
      /@ loop invariant 0 <= n <= SL_CELLS_MAX;
         loop invariant \forall integer p; stored_sum_before(p, sl_trail_count, n) == stored_sum(p, n) &&
             own_sum_before(p, sl_trail_count, n) == own_sum(p, n);
         loop assigns n;
         loop variant SL_CELLS_MAX - n; @/
      for (uint32_t n = 0; n < SL_CELLS_MAX; n++) ;
    */
}
