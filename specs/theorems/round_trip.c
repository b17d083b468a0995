/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What follows from the ledger's contracts alone; nothing here is part of the program.
 * G2, the round trip: releasing what was reserved restores every usage exactly, since usage is a function of
 * what is charged to the cells. Shown from the deepest level upwards. */
#include "kernel/ledger/ledger.h"

/*@
  requires inv:        UsageInv && TrailSound && sl_trail_depth == 0;
  requires cell:       Chargeable(cell, amount) && amount <= available(cell);
  requires total:      sl_total[cell_slot(cell)] + amount <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count, sl_trail_cell[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_own[0 .. SL_TRAIL_MAX - 1], sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
  ensures  done:       \result == SL_OK;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
  ensures  usage:      \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                       sl_cell_usage[c] == \old(sl_cell_usage)[c];
*/
enum sl_status theorem_release_restores(sl_cell_id cell, int64_t amount)
{
    enum sl_status status = sl_ledger_reserve(cell, amount);
    //@ assert reserved: status == SL_OK;
    status = sl_ledger_release(cell, amount);
    /*@ ghost
      uint32_t l = SL_LEVELS_MAX;
      /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
         loop invariant \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) >= l ==>
             sl_cell_usage[c] == \at(sl_cell_usage[c], Pre);
         loop assigns l;
         loop variant l; @/
      while (l > 0) {
        l--;
        /@ loop invariant 0 <= k <= SL_CELLS_MAX;
           loop invariant \forall integer p; 0 <= p < SL_CELLS_MAX && cell_level(p) == l ==>
               stored_sum(p, k) == stored_sum{Pre}(p, k);
           loop assigns k;
           loop variant SL_CELLS_MAX - k; @/
        for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
      }
    */
    return status;
}
