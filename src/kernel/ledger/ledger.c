/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Usage: a change of what a cell holds is carried up as far as it is felt. What a cell uses beyond what it
 * keeps for itself is stored in its parent. */
#include "kernel/ledger/ledger.h"

#include "kernel/ledger/cells.h"
#include "kernel/ledger/trail.h"
#include "specs/ledger_bound.acsl"

/*@ ghost
  /@ requires linked:    CellsLinked;
     requires positive:  \forall integer p; 0 <= stored_sum(p, SL_CELLS_MAX);
     requires range:     \forall integer c; 0 <= c < SL_CELLS_MAX ==> 0 <= sl_cell_usage[c] && 0 <= sl_cell_kept[c];
     requires below:     level_usage(b, l + 1, SL_CELLS_MAX) <= deep_own(b, l + 1, SL_CELLS_MAX);
     requires l:         l < SL_LEVELS_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  flow:      level_stored(b, l, SL_CELLS_MAX, SL_CELLS_MAX) <= deep_own(b, l + 1, SL_CELLS_MAX);
  @/
  static void lemma_flow(uint32_t b, uint32_t l)
  {
    /@ loop invariant 0 <= k <= SL_CELLS_MAX;
       loop invariant level_stored(b, l, k, 0) == 0;
       loop assigns k;
       loop variant SL_CELLS_MAX - k; @/
    for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    /@ loop invariant 0 <= m <= SL_CELLS_MAX;
       loop invariant level_stored(b, l, SL_CELLS_MAX, m) <= level_usage(b, l + 1, m);
       loop assigns m;
       loop variant SL_CELLS_MAX - m; @/
    for (uint32_t m = 0; m < SL_CELLS_MAX; m++) {
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant level_stored(b, l, k, m + 1) == level_stored(b, l, k, m) +
             (0 < sl_cell_up[m] <= k && cell_slot(sl_cell_up[m] - 1) == b &&
              cell_level(sl_cell_up[m] - 1) == l ? cell_stored(m) : 0);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    }
  }
*/
/*@ ghost
  void lemma_usage_bound(uint32_t cell)
  {
    uint32_t b = sl_cell_resource[cell] % SL_TOTALS_MAX;
    uint32_t home = sl_cell_home[cell];
    uint32_t floor = 0;
    if (home != 0) {
        floor = sl_qnode_level[home - 1];
    }
    uint32_t l = SL_LEVELS_MAX;
    /@ loop invariant 0 <= k <= SL_CELLS_MAX;
       loop invariant \forall integer p; 0 <= stored_sum(p, k);
       loop invariant level_usage(b, l, k) == 0 && 0 <= deep_own(b, l, k);
       loop assigns k;
       loop variant SL_CELLS_MAX - k; @/
    for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    /@ loop invariant floor < l <= SL_LEVELS_MAX;
       loop invariant level_usage(b, l, SL_CELLS_MAX) <= deep_own(b, l, SL_CELLS_MAX);
       loop assigns l;
       loop variant l; @/
    while (l > floor + 1) {
      l--;
      lemma_flow(b, l);
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant level_usage(b, l, k) + deep_own(b, l + 1, k) ==
             deep_own(b, l, k) + level_stored(b, l, k, SL_CELLS_MAX);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    }
    lemma_flow(b, floor);
    /@ loop invariant 0 <= k <= SL_CELLS_MAX;
       loop invariant 0 <= level_stored(b, floor, k, SL_CELLS_MAX);
       loop invariant deep_own(b, floor + 1, k) <= deep_own(b, floor, k) <= own_sum(b, k);
       loop invariant cell < k ==> usage_due(cell) + deep_own(b, floor + 1, k) <=
           deep_own(b, floor, k) + level_stored(b, floor, k, SL_CELLS_MAX);
       loop assigns k;
       loop variant SL_CELLS_MAX - k; @/
    for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
  }
*/

/*@
  requires range:      0 <= sl_cell_kept[cell] <= SL_AMOUNT_UNLIMITED && 0 <= sl_cell_usage[cell] <= SL_AMOUNT_MAX;
  requires cell:       cell < SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == cell_stored(cell);
*/
static int64_t stored(sl_cell_id cell)
{
    return sl_cell_usage[cell] > sl_cell_kept[cell] ? sl_cell_usage[cell] - sl_cell_kept[cell] : 0;
}

/* Add to what a cell holds. The loop shows that nothing above it sees a difference yet. */
/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires linked:     CellsLinked;
  requires range:      UsageInRange && TotalsExact && TrailSound;
  requires own:        0 <= sl_cell_own[cell] + own_delta <= SL_AMOUNT_MAX;
  requires own_delta:  -SL_AMOUNT_MAX <= own_delta <= SL_AMOUNT_MAX;
  requires usage:      0 <= sl_cell_usage[cell] + usage_delta <= SL_AMOUNT_MAX;
  requires usage_delta: -SL_AMOUNT_MAX <= usage_delta <= SL_AMOUNT_MAX;
  requires total:      0 <= sl_total[cell_slot(cell)] + own_delta <= SL_AMOUNT_MAX;
  requires capacity:       sl_trail_depth > 0 ==> sl_trail_count < SL_TRAIL_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[cell], sl_cell_usage[cell], sl_total[cell_slot(cell)], sl_trail_count,
                       sl_trail_cell[sl_trail_count], sl_trail_own[sl_trail_count],
                       sl_trail_usage[sl_trail_count];
  ensures  own:        sl_cell_own[cell] == \old(sl_cell_own[cell]) + own_delta;
  ensures  usage:      sl_cell_usage[cell] == \old(sl_cell_usage[cell]) + usage_delta;
  ensures  sums:       \forall integer p; stored_sum(p, SL_CELLS_MAX) == \old(stored_sum(p, SL_CELLS_MAX)) +
                       (sl_cell_up[cell] == p + 1 ? cell_stored(cell) - \old(cell_stored(cell)) : 0);
  ensures  totals:     TotalsExact;
  ensures  total:      sl_total[cell_slot(cell)] == \old(sl_total[cell_slot(cell)]) + own_delta;
  ensures  sound:      TrailSound;
  ensures  noted:      sl_trail_count == \old(sl_trail_count) + (sl_trail_depth > 0 ? 1 : 0);
  ensures  past:       sl_trail_depth > 0 ==> SamePast{Old, Post}(\old(sl_trail_count));
  ensures  above:      \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) < cell_level(cell) ==>
                       available(c) == \old(available(c));
*/
static void add(sl_cell_id cell, int64_t own_delta, int64_t usage_delta)
{
    sl_trail_write(cell, sl_cell_own[cell] + own_delta, sl_cell_usage[cell] + usage_delta);
    /*@ ghost
      /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
         loop invariant \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) < l &&
             cell_level(c) < cell_level(cell) ==> available(c) == available{Pre}(c);
         loop assigns l;
         loop variant SL_LEVELS_MAX - l; @/
      for (uint32_t l = 0; l < SL_LEVELS_MAX; l++) ;
    */
}

/* Add to what is charged to the cell, and carry on to each parent by how much more, or less, its child now
 * stores in it, until that is nothing. */
/*@
  requires inv:        UsageInv && TrailSound && TrailRoom;
  requires cell:       cell < SL_CELLS_MAX;
  requires delta:      -SL_AMOUNT_MAX <= delta <= SL_AMOUNT_MAX;
  requires held:       0 <= sl_cell_own[cell] + delta;
  requires total:      sl_total[cell_slot(cell)] + delta <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1],
                       sl_trail_count, sl_trail_cell[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_own[0 .. SL_TRAIL_MAX - 1], sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
  ensures  inv:        UsageInv && TrailSound;
  ensures  own:        sl_cell_own[cell] == \old(sl_cell_own[cell]) + delta && OwnElsewhere{Old, Post}(cell);
  ensures  limits:     0 <= delta && delta <= \old(available(cell)) ==> \forall integer c;
                       0 <= c < SL_CELLS_MAX ==> sl_cell_usage[c] == \old(sl_cell_usage[c]) || WithinLimit(c);
  ensures  grows:      sl_trail_count >= \old(sl_trail_count);
  ensures  past:       sl_trail_depth > 0 ==> SamePast{Old, Post}(\old(sl_trail_count));
*/
static void change(sl_cell_id cell, int64_t delta)
{
    int64_t before = stored(cell);
    //@ ghost lemma_usage_bound(cell);
    add(cell, delta, delta);
    uint32_t up = sl_cell_up[cell];
    delta = stored(cell) - before;
    /*@
      loop invariant up:     up == 0 || (up <= SL_CELLS_MAX && cell_slot(up - 1) == cell_slot(cell));
      loop invariant due:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                             usage_due(c) == sl_cell_usage[c] + (up == c + 1 ? delta : 0);
      loop invariant range:  UsageInRange && TotalsExact && TrailSound;
      loop invariant delta:  -SL_AMOUNT_MAX <= delta <= SL_AMOUNT_MAX;
      loop invariant own:    sl_cell_own[cell] == \at(sl_cell_own[cell] + delta, Pre) &&
                             OwnElsewhere{Pre, Here}(cell);
      loop invariant capacity:   sl_trail_depth > 0 && up != 0 ==>
                             sl_trail_count + cell_level(up - 1) + 1 <= SL_TRAIL_MAX;
      loop invariant count:  \at(sl_trail_count, Pre) <= sl_trail_count;
      loop invariant past:   sl_trail_depth > 0 ==> SamePast{Pre, Here}(\at(sl_trail_count, Pre));
      loop invariant asked:  \at(0 <= delta <= available(cell), Pre) && up != 0 && delta != 0 ==>
                             0 < delta <= available(up - 1);
      loop invariant limits: \at(0 <= delta <= available(cell), Pre) ==> \forall integer c;
                             0 <= c < SL_CELLS_MAX ==>
                             sl_cell_usage[c] == \at(sl_cell_usage[c], Pre) || WithinLimit(c);
      loop assigns up, delta, before, sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                   sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count, sl_trail_cell[0 .. SL_TRAIL_MAX - 1],
                   sl_trail_own[0 .. SL_TRAIL_MAX - 1], sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
      loop variant up == 0 ? 0 : cell_level(up - 1) + 1;
    */
    while (up != 0 && delta != 0) {
        sl_cell_id parent = up - 1;
        //@ ghost lemma_usage_bound(parent);
        before = stored(parent);
        add(parent, 0, delta);
        delta = stored(parent) - before;
        up = sl_cell_up[parent];
    }
}

/*@
  requires sound:      TrailSound;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==> Chargeable(cell, amount) && TrailRoom;
  ensures  reason:     \result == SL_OK || \result == SL_REFUSED_NO_CELL || \result == SL_REFUSED_AMOUNT ||
                       \result == SL_FULL_TRAIL;
*/
static enum sl_status check(sl_cell_id cell, int64_t amount)
{
    if (cell >= SL_CELLS_MAX || sl_cell_home[cell] == 0) {
        return SL_REFUSED_NO_CELL;
    }
    if (amount < 0 || amount > SL_AMOUNT_MAX) {
        return SL_REFUSED_AMOUNT;
    }
    return sl_trail_has_room() ? SL_OK : SL_FULL_TRAIL;
}

/* Would the sum of all that is charged of the cell's resource be too large? */
/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires totals:     TotalsExact;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> sl_total[cell_slot(cell)] + amount > SL_AMOUNT_MAX;
*/
static bool is_too_large(sl_cell_id cell, int64_t amount)
{
    return amount > SL_AMOUNT_MAX - sl_total[sl_cell_resource[cell] % SL_TOTALS_MAX];
}

enum sl_status sl_ledger_charge(sl_cell_id cell, int64_t amount)
{
    enum sl_status status = check(cell, amount);
    if (status != SL_OK) {
        return status;
    }
    if (is_too_large(cell, amount)) {
        return SL_REFUSED_OVERFLOW;
    }
    change(cell, amount);
    return SL_OK;
}

enum sl_status sl_ledger_reserve(sl_cell_id cell, int64_t amount)
{
    enum sl_status status = check(cell, amount);
    if (status != SL_OK) {
        return status;
    }
    if (amount > sl_ledger_available(cell)) {
        return SL_REFUSED_QUOTA;
    }
    if (is_too_large(cell, amount)) {
        return SL_REFUSED_OVERFLOW;
    }
    change(cell, amount);
    return SL_OK;
}

enum sl_status sl_ledger_release(sl_cell_id cell, int64_t amount)
{
    enum sl_status status = check(cell, amount);
    if (status != SL_OK) {
        return status;
    }
    if (amount > sl_cell_own[cell]) {
        return SL_REFUSED_NOT_HELD;
    }
    change(cell, -amount);
    return SL_OK;
}
