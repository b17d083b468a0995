/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quotas: a change of limits or links is carried up as far as it is felt, so that it costs the path to the
 * root and not the forest. What a cell lends and stores are its two contributions to its parent. */
#include "kernel/ledger/ledger_quota.h"

#include "kernel/ledger/ledger.h"
#include "kernel/ledger/trail.h"
#include "specs/ledger_bound.acsl"

uint32_t sl_cell_up[SL_CELLS_MAX];
int64_t sl_cell_nominal[SL_CELLS_MAX];
int64_t sl_cell_lending[SL_CELLS_MAX];
int64_t sl_cell_borrowing[SL_CELLS_MAX];
int64_t sl_cell_lent_low[SL_CELLS_MAX];
int64_t sl_cell_lent_high[SL_CELLS_MAX];
int64_t sl_cell_subtree[SL_CELLS_MAX];
int64_t sl_cell_kept[SL_CELLS_MAX];

/* Children cannot lend so much that its upper part overflows: there are not so many of them. */
/*@ ghost
  /@ requires range:     LimitsInRange;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  bound:     \forall integer p; 0 <= lent_sum(p, SL_CELLS_MAX) <= SL_CELLS_MAX * SL_AMOUNT_UNLIMITED;
  @/
  static void lemma_lent_bound(void)
  {
    /@ loop invariant 0 <= k <= SL_CELLS_MAX;
       loop invariant \forall integer p; 0 <= lent_sum(p, k) <= k * SL_AMOUNT_UNLIMITED;
       loop assigns k;
       loop variant SL_CELLS_MAX - k; @/
    for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
  }
*/

/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires range:      0 <= sl_cell_kept[cell] <= SL_AMOUNT_UNLIMITED && 0 <= sl_cell_usage[cell] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == cell_stored(cell);
*/
static int64_t stored(sl_cell_id cell)
{
    return sl_cell_usage[cell] > sl_cell_kept[cell] ? sl_cell_usage[cell] - sl_cell_kept[cell] : 0;
}

/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires range:      0 <= sl_cell_kept[cell] <= sl_cell_subtree[cell] <= SL_AMOUNT_UNLIMITED;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == cell_lends(cell);
*/
static int64_t lends(sl_cell_id cell)
{
    return sl_cell_subtree[cell] - sl_cell_kept[cell];
}

/* Add to the sum of what children lend. */
/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires range:      0 <= sl_cell_lent_low[cell] < SL_LENT_UNIT && 0 <= sl_cell_lent_high[cell] <= SL_CELLS_MAX;
  requires delta:      -SL_AMOUNT_UNLIMITED <= delta <= SL_AMOUNT_UNLIMITED;
  requires sum:        0 <= cell_lent(cell) + delta <= SL_CELLS_MAX * SL_AMOUNT_UNLIMITED;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_lent_low[cell], sl_cell_lent_high[cell];
  ensures  sum:        cell_lent(cell) == \old(cell_lent(cell)) + delta;
  ensures  range:      0 <= sl_cell_lent_low[cell] < SL_LENT_UNIT && 0 <= sl_cell_lent_high[cell] <= SL_CELLS_MAX;
*/
static void add_lent(sl_cell_id cell, int64_t delta)
{
    int64_t low = sl_cell_lent_low[cell] + delta;
    if (low >= SL_LENT_UNIT) {
        sl_cell_lent_high[cell]++;
        low -= SL_LENT_UNIT;
    } else if (low < 0) {
        sl_cell_lent_high[cell]--;
        low += SL_LENT_UNIT;
    }
    sl_cell_lent_low[cell] = low;
}

/* What follows from the limits and the children: quota of the subtree, and how much of it is kept. The loop
 * shows by induction what that does to the sums of its parent. */
/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires limits:     0 <= sl_cell_nominal[cell] <= SL_AMOUNT_UNLIMITED &&
                       0 <= sl_cell_lending[cell] <= SL_AMOUNT_UNLIMITED;
  requires lent:       0 <= sl_cell_lent_low[cell] < SL_LENT_UNIT && 0 <= sl_cell_lent_high[cell] <= SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_subtree[cell], sl_cell_kept[cell];
  ensures  subtree:    sl_cell_subtree[cell] ==
                       smaller(SL_AMOUNT_UNLIMITED, sl_cell_nominal[cell] + cell_lent(cell));
  ensures  kept:       sl_cell_kept[cell] == larger(0, sl_cell_subtree[cell] - sl_cell_lending[cell]);
  ensures  stored:     \forall integer p; stored_sum(p, SL_CELLS_MAX) == \old(stored_sum(p, SL_CELLS_MAX)) +
                       (sl_cell_up[cell] == p + 1 ? cell_stored(cell) - \old(cell_stored(cell)) : 0);
  ensures  lent:       \forall integer p; lent_sum(p, SL_CELLS_MAX) == \old(lent_sum(p, SL_CELLS_MAX)) +
                       (sl_cell_up[cell] == p + 1 ? cell_lends(cell) - \old(cell_lends(cell)) : 0);
*/
static void derive(sl_cell_id cell)
{
    int64_t subtree = sl_cell_nominal[cell] + sl_cell_lent_low[cell];
    if (sl_cell_lent_high[cell] > 0 || subtree > SL_AMOUNT_UNLIMITED) {
        subtree = SL_AMOUNT_UNLIMITED;
    }
    sl_cell_subtree[cell] = subtree;
    sl_cell_kept[cell] = subtree > sl_cell_lending[cell] ? subtree - sl_cell_lending[cell] : 0;
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant \forall integer p; stored_sum(p, k) == stored_sum{Pre}(p, k) +
             (cell < k && sl_cell_up[cell] == p + 1 ? cell_stored(cell) - cell_stored{Pre}(cell) : 0);
         loop invariant \forall integer p; lent_sum(p, k) == lent_sum{Pre}(p, k) +
             (cell < k && sl_cell_up[cell] == p + 1 ? cell_lends(cell) - cell_lends{Pre}(cell) : 0);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    */
}

/* What a cell's children store in it and lend it is by so much more than its numbers say. */
/*@
  predicate StoredOff{L}(integer up, integer delta) = \forall integer c; 0 <= c < SL_CELLS_MAX ==>
      usage_due(c) == sl_cell_usage[c] + (up == c + 1 ? delta : 0);
  predicate LentOff{L}(integer up, integer delta) = \forall integer c; 0 <= c < SL_CELLS_MAX ==>
      lent_sum(c, SL_CELLS_MAX) == cell_lent(c) + (up == c + 1 ? delta : 0);
*/

/* Put that right, and carry on to each parent by how much its child's contributions change. */
/*@
  requires inv:        CellsLinked && LimitsInRange && QuotaDerived && UsageInRange && TotalsExact &&
                       TrailSound && sl_trail_depth == 0;
  requires up:         up <= SL_CELLS_MAX;
  requires off:        StoredOff(up, stored_delta) && LentOff(up, lent_delta);
  requires range:      -SL_AMOUNT_MAX <= stored_delta <= SL_AMOUNT_MAX &&
                       -SL_AMOUNT_UNLIMITED <= lent_delta <= SL_AMOUNT_UNLIMITED;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_cell_lent_low[0 .. SL_CELLS_MAX - 1],
                       sl_cell_lent_high[0 .. SL_CELLS_MAX - 1], sl_cell_subtree[0 .. SL_CELLS_MAX - 1],
                       sl_cell_kept[0 .. SL_CELLS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
  ensures  inv:        NumbersInv && TrailSound;
  ensures  own:        OwnElsewhere{Old, Post}(-1);
*/
static void carry(uint32_t up, int64_t stored_delta, int64_t lent_delta)
{
    /*@
      loop invariant up:     up <= SL_CELLS_MAX;
      loop invariant off:    StoredOff(up, stored_delta) && LentOff(up, lent_delta);
      loop invariant inv:    LimitsInRange && QuotaDerived && UsageInRange && TotalsExact && TrailSound;
      loop invariant delta:  -SL_AMOUNT_MAX <= stored_delta <= SL_AMOUNT_MAX &&
                             -SL_AMOUNT_UNLIMITED <= lent_delta <= SL_AMOUNT_UNLIMITED;
      loop invariant own:    OwnElsewhere{Pre, Here}(-1);
      loop assigns up, stored_delta, lent_delta,
                   sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                   sl_total[0 .. SL_TOTALS_MAX - 1], sl_cell_lent_low[0 .. SL_CELLS_MAX - 1],
                   sl_cell_lent_high[0 .. SL_CELLS_MAX - 1], sl_cell_subtree[0 .. SL_CELLS_MAX - 1],
                   sl_cell_kept[0 .. SL_CELLS_MAX - 1], sl_trail_count,
                   sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                   sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
      loop variant up == 0 ? 0 : cell_level(up - 1) + 1;
    */
    while (up != 0 && (stored_delta != 0 || lent_delta != 0)) {
        sl_cell_id cell = up - 1;
        int64_t stored_before = stored(cell);
        int64_t lent_before = lends(cell);
        //@ ghost lemma_usage_bound(cell);
        //@ ghost lemma_lent_bound();
        sl_trail_write(cell, sl_cell_own[cell], sl_cell_usage[cell] + stored_delta);
        add_lent(cell, lent_delta);
        derive(cell);
        stored_delta = stored(cell) - stored_before;
        lent_delta = lends(cell) - lent_before;
        up = sl_cell_up[cell];
    }
}

void sl_quota_link(sl_cell_id cell, sl_cell_id parent)
{
    sl_cell_up[cell] = parent + 1;
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant \forall integer p; 0 <= p ==> stored_sum(p, k) == stored_sum{Pre}(p, k) +
             (cell < k && sl_cell_up[cell] == p + 1 ?  cell_stored(cell) : 0);
         loop invariant \forall integer p; 0 <= p ==> lent_sum(p, k) == lent_sum{Pre}(p, k) +
             (cell < k && sl_cell_up[cell] == p + 1 ?  cell_lends(cell) : 0);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    */
    carry(parent + 1, stored(cell), lends(cell));
}

void sl_quota_unlink(sl_cell_id cell)
{
    uint32_t up = sl_cell_up[cell];
    sl_cell_up[cell] = 0;
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_CELLS_MAX;
         loop invariant \forall integer p; 0 <= p ==> stored_sum(p, k) == stored_sum{Pre}(p, k) +
             (cell < k && up == p + 1 ? - cell_stored(cell) : 0);
         loop invariant \forall integer p; 0 <= p ==> lent_sum(p, k) == lent_sum{Pre}(p, k) +
             (cell < k && up == p + 1 ? - cell_lends(cell) : 0);
         loop assigns k;
         loop variant SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
    */
    carry(up, -stored(cell), -lends(cell));
}

void sl_quota_set(sl_cell_id cell, int64_t nominal, int64_t lending, int64_t borrowing)
{
    int64_t stored_before = stored(cell);
    int64_t lent_before = lends(cell);
    sl_cell_nominal[cell] = nominal;
    sl_cell_lending[cell] = lending;
    sl_cell_borrowing[cell] = borrowing;
    derive(cell);
    carry(sl_cell_up[cell], stored(cell) - stored_before, lends(cell) - lent_before);
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> IsQuota(amount);
*/
static bool is_quota(int64_t amount)
{
    return (amount >= 0 && amount <= SL_AMOUNT_MAX) || amount == SL_AMOUNT_UNLIMITED;
}

enum sl_status sl_ledger_set_quota(sl_cell_id cell, int64_t nominal, int64_t lending_limit,
                                   int64_t borrowing_limit)
{
    if (cell >= SL_CELLS_MAX || sl_cell_home[cell] == 0) {
        return SL_REFUSED_NO_CELL;
    }
    if (!is_quota(nominal) || !is_quota(lending_limit) || !is_quota(borrowing_limit)) {
        return SL_REFUSED_AMOUNT;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    sl_quota_set(cell, nominal, lending_limit, borrowing_limit);
    return SL_OK;
}
