/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The checker that tests, fuzzers and simulator call: it adds everything up anew and compares. */
#include "kernel/ledger/cells.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_check.h"

int64_t sl_check_stored[SL_CELLS_MAX];
int64_t sl_check_lent_low[SL_CELLS_MAX];
int64_t sl_check_lent_high[SL_CELLS_MAX];
int64_t sl_check_total[SL_TOTALS_MAX];

/* More cells never make a sum smaller: so one that has become too large stays too large. */
/*@ ghost
  /@ requires limits:     sl_cell_limit <= SL_CELLS_MAX;
     requires cells:      CellsChecked;
     terminates           \true;
     exits                \false;
     assigns              \nothing;
     ensures  stored:     \forall integer p, k; 0 <= k <= sl_cell_limit ==>
                          0 <= stored_sum(p, k) <= stored_sum(p, sl_cell_limit);
     ensures  own:        \forall integer b, k; 0 <= k <= sl_cell_limit ==>
                          0 <= own_sum(b, k) <= own_sum(b, sl_cell_limit);
  @/
  void lemma_sums_grow(void)
  {
    /@ loop invariant cell:   0 <= i <= sl_cell_limit;
       loop invariant stored: \forall integer p, k; 0 <= k <= i ==> 0 <= stored_sum(p, k) <= stored_sum(p, i);
       loop invariant own:    \forall integer b, k; 0 <= k <= i ==> 0 <= own_sum(b, k) <= own_sum(b, i);
       loop assigns i;
       loop variant sl_cell_limit - i;
    @/
    for (uint32_t i = 0; i < sl_cell_limit; i++) {
      /@ assert sound: CellSound(i); @/
      /@ assert stored: \forall integer p; stored_sum(p, i) <= stored_sum(p, i + 1); @/
      /@ assert own: \forall integer b; own_sum(b, i) <= own_sum(b, i + 1); @/
      ;
    }
  }
*/

/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_stored[0 .. SL_CELLS_MAX - 1], sl_check_lent_low[0 .. SL_CELLS_MAX - 1],
                       sl_check_lent_high[0 .. SL_CELLS_MAX - 1], sl_check_total[0 .. SL_TOTALS_MAX - 1];
  ensures  cells:      \forall integer c; 0 <= c < sl_cell_limit ==> sl_check_stored[c] == 0 &&
                       sl_check_lent_low[c] == 0 && sl_check_lent_high[c] == 0;
  ensures  totals:     \forall integer b; 0 <= b < SL_TOTALS_MAX ==> sl_check_total[b] == 0;
*/
static void clear_sums(void)
{
    /*@
      loop invariant cell:  0 <= cell <= sl_cell_limit;
      loop invariant clear: \forall integer c; 0 <= c < cell ==> sl_check_stored[c] == 0 &&
                            sl_check_lent_low[c] == 0 && sl_check_lent_high[c] == 0;
      loop assigns cell, sl_check_stored[0 .. SL_CELLS_MAX - 1], sl_check_lent_low[0 .. SL_CELLS_MAX - 1],
                   sl_check_lent_high[0 .. SL_CELLS_MAX - 1];
      loop variant sl_cell_limit - cell;
    */
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        sl_check_stored[cell] = 0;
        sl_check_lent_low[cell] = 0;
        sl_check_lent_high[cell] = 0;
    }
    /*@
      loop invariant i:     0 <= i <= SL_TOTALS_MAX;
      loop invariant clear: \forall integer b; 0 <= b < i ==> sl_check_total[b] == 0;
      loop assigns i, sl_check_total[0 .. SL_TOTALS_MAX - 1];
      loop variant SL_TOTALS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_TOTALS_MAX; i++) {
        sl_check_total[i] = 0;
    }
}

/* Does the cell belong to a qnode in use, and hang under the right cell? */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  requires cell:       cell < sl_cell_limit;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  placed:     \result <==> CellPlaced(cell);
*/
static bool cell_is_linked(sl_cell_id cell)
{
    uint32_t home = sl_cell_home[cell];
    uint32_t up = sl_cell_up[cell];
    if (home == 0) {
        return up == 0;
    }
    if (home > sl_qnode_limit || !sl_qnode_used[home - 1]) {
        return false;
    }
    if (up == 0) {
        return sl_qnode_up[home - 1] == 0;
    }
    return up <= sl_cell_limit && sl_cell_home[up - 1] != 0 &&
           sl_cell_home[up - 1] == sl_qnode_up[home - 1] &&
           sl_cell_flavor[up - 1] == sl_cell_flavor[cell] &&
           sl_cell_resource[up - 1] == sl_cell_resource[cell];
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> 0 <= amount <= SL_AMOUNT_UNLIMITED;
*/
static bool is_quota(int64_t amount)
{
    return amount >= 0 && amount <= SL_AMOUNT_UNLIMITED;
}

/*@
  requires cell:       cell < SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  range:      \result <==> 0 <= sl_cell_nominal[cell] <= SL_AMOUNT_UNLIMITED &&
                       0 <= sl_cell_lending[cell] <= SL_AMOUNT_UNLIMITED &&
                       0 <= sl_cell_borrowing[cell] <= SL_AMOUNT_UNLIMITED &&
                       0 <= sl_cell_lent_low[cell] < SL_LENT_UNIT && 0 <= sl_cell_lent_high[cell];
*/
static bool limits_are_in_range(sl_cell_id cell)
{
    return is_quota(sl_cell_nominal[cell]) && is_quota(sl_cell_lending[cell]) &&
           is_quota(sl_cell_borrowing[cell]) && sl_cell_lent_low[cell] >= 0 &&
           sl_cell_lent_low[cell] < SL_LENT_UNIT && sl_cell_lent_high[cell] >= 0;
}

/*@
  requires cell:       cell < SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  range:      \result <==> 0 <= sl_cell_own[cell] <= sl_cell_usage[cell] <= SL_AMOUNT_MAX;
*/
static bool usage_is_in_range(sl_cell_id cell)
{
    return sl_cell_own[cell] >= 0 && sl_cell_own[cell] <= sl_cell_usage[cell] &&
           sl_cell_usage[cell] <= SL_AMOUNT_MAX;
}

/* Is the quota what follows from the limits? */
/*@
  requires cell:       cell < SL_CELLS_MAX && CellInRange(cell);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  derived:    \result <==> CellDerived(cell);
*/
static bool quota_is_derived(sl_cell_id cell)
{
    int64_t subtree = sl_cell_nominal[cell] + sl_cell_lent_low[cell];
    int64_t lending = sl_cell_lending[cell];
    if (sl_cell_lent_high[cell] > 0 || subtree > SL_AMOUNT_UNLIMITED) {
        subtree = SL_AMOUNT_UNLIMITED;
    }
    return sl_cell_subtree[cell] == subtree &&
           sl_cell_kept[cell] == (subtree > lending ? subtree - lending : 0);
}

/* Add what the cell lends and stores to its parent's sums, and say whether they are still in range: a sum that is
 * too large has no usage that it could equal. */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  requires cell:       cell < sl_cell_limit && CellSound(cell) && sl_cell_up[cell] != 0;
  requires scratch:    ScratchInRange(cell);
  terminates           \true;
  exits                \false;
  assigns              sl_check_stored[sl_cell_up[cell] - 1], sl_check_lent_low[sl_cell_up[cell] - 1],
                       sl_check_lent_high[sl_cell_up[cell] - 1];
  ensures  stored:     sl_check_stored[sl_cell_up[cell] - 1] ==
                       \old(sl_check_stored[sl_cell_up[cell] - 1]) + cell_stored(cell);
  ensures  lent:       check_lent(sl_cell_up[cell] - 1) ==
                       \old(check_lent(sl_cell_up[cell] - 1)) + cell_lends(cell);
  ensures  scratch:    \result ==> ScratchInRange(cell + 1);
  ensures  fair:       \result <==> sl_check_stored[sl_cell_up[cell] - 1] <= SL_AMOUNT_MAX;
*/
static bool add_to_parent(sl_cell_id cell)
{
    sl_cell_id parent = sl_cell_up[cell] - 1;
    if (sl_cell_usage[cell] > sl_cell_kept[cell]) {
        sl_check_stored[parent] += sl_cell_usage[cell] - sl_cell_kept[cell];
    }
    sl_check_lent_low[parent] += sl_cell_subtree[cell] - sl_cell_kept[cell];
    if (sl_check_lent_low[parent] >= SL_LENT_UNIT) {
        sl_check_lent_low[parent] -= SL_LENT_UNIT;
        sl_check_lent_high[parent]++;
    }
    return sl_check_stored[parent] <= SL_AMOUNT_MAX;
}

/* The same for the total of its resource. */
/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires range:      0 <= sl_cell_own[cell] <= SL_AMOUNT_MAX &&
                       0 <= sl_check_total[cell_slot(cell)] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_total[cell_slot(cell)];
  ensures  total:      sl_check_total[cell_slot(cell)] ==
                       \old(sl_check_total[cell_slot(cell)]) + sl_cell_own[cell];
  ensures  fair:       \result <==> sl_check_total[cell_slot(cell)] <= SL_AMOUNT_MAX;
*/
static bool add_to_total(sl_cell_id cell)
{
    uint32_t slot = sl_cell_resource[cell] % SL_TOTALS_MAX;
    sl_check_total[slot] += sl_cell_own[cell];
    return sl_check_total[slot] <= SL_AMOUNT_MAX;
}

/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  requires cell:       cell < sl_cell_limit;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result <==> CellSound(cell);
*/
static bool cell_is_sound(sl_cell_id cell)
{
    return cell_is_linked(cell) && limits_are_in_range(cell) && usage_is_in_range(cell) &&
           quota_is_derived(cell);
}

/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result <==> CellsChecked;
*/
static bool cells_are_sound(void)
{
    /*@
      loop invariant cell:    0 <= cell <= sl_cell_limit;
      loop invariant sound:   \forall integer c; 0 <= c < cell ==> CellSound(c);
      loop assigns cell;
      loop variant sl_cell_limit - cell;
    */
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        if (!cell_is_sound(cell)) {
            return false;
        }
    }
    return true;
}

/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  requires zero:       \forall integer c; 0 <= c < sl_cell_limit ==> sl_check_stored[c] == 0 &&
                       sl_check_lent_low[c] == 0 && sl_check_lent_high[c] == 0;
  requires totals:     \forall integer b; 0 <= b < SL_TOTALS_MAX ==> sl_check_total[b] == 0;
  requires cells:      CellsChecked;
  terminates           \true;
  exits                \false;
  assigns              sl_check_stored[0 .. SL_CELLS_MAX - 1], sl_check_lent_low[0 .. SL_CELLS_MAX - 1],
                       sl_check_lent_high[0 .. SL_CELLS_MAX - 1], sl_check_total[0 .. SL_TOTALS_MAX - 1];
  ensures  sums:       \result ==> \forall integer c; 0 <= c < sl_cell_limit ==>
                       sl_check_stored[c] == stored_sum(c, sl_cell_limit) &&
                       check_lent(c) == lent_sum(c, sl_cell_limit);
  ensures  totals:     \result ==> \forall integer b; 0 <= b < SL_TOTALS_MAX ==>
                       sl_check_total[b] == own_sum(b, sl_cell_limit);
  ensures  scratch:    \result ==> ScratchInRange(sl_cell_limit);
  ensures  fair:       SumsChecked ==> \result;
*/
static bool add_all_cells(void)
{
    //@ ghost lemma_sums_grow();
    /*@
      loop invariant cell:    0 <= cell <= sl_cell_limit;
      loop invariant sums:    \forall integer c; 0 <= c < sl_cell_limit ==>
                              sl_check_stored[c] == stored_sum(c, cell) && check_lent(c) == lent_sum(c, cell);
      loop invariant totals:  \forall integer b; 0 <= b < SL_TOTALS_MAX ==> sl_check_total[b] == own_sum(b, cell);
      loop invariant scratch: ScratchInRange(cell);
      loop assigns cell, sl_check_stored[0 .. SL_CELLS_MAX - 1], sl_check_lent_low[0 .. SL_CELLS_MAX - 1],
                   sl_check_lent_high[0 .. SL_CELLS_MAX - 1], sl_check_total[0 .. SL_TOTALS_MAX - 1];
      loop variant sl_cell_limit - cell;
    */
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        //@ assert sound: CellSound(cell);
        if (!add_to_total(cell)) {
            //@ assert large: own_sum(cell_slot(cell), cell + 1) > SL_AMOUNT_MAX;
            return false;
        }
        if (sl_cell_up[cell] != 0 && !add_to_parent(cell)) {
            //@ assert large: stored_sum(sl_cell_up[cell] - 1, cell + 1) > SL_AMOUNT_MAX;
            //@ assert parent: CellSound(sl_cell_up[cell] - 1);
            return false;
        }
    }
    return true;
}

/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  requires scratch:    ScratchInRange(sl_cell_limit);
  requires range:      \forall integer c; 0 <= c < sl_cell_limit ==> CellInRange(c);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  agree:      \result ==> \forall integer c; 0 <= c < sl_cell_limit ==>
                       sl_cell_usage[c] == sl_cell_own[c] + sl_check_stored[c] && cell_lent(c) == check_lent(c);
  ensures  differ:     !\result ==> \exists integer c; 0 <= c < sl_cell_limit &&
                       !(sl_cell_usage[c] == sl_cell_own[c] + sl_check_stored[c] && cell_lent(c) == check_lent(c));
*/
static bool sums_agree(void)
{
    /*@
      loop invariant cell:  0 <= cell <= sl_cell_limit;
      loop invariant agree: \forall integer c; 0 <= c < cell ==>
                            sl_cell_usage[c] == sl_cell_own[c] + sl_check_stored[c] && cell_lent(c) == check_lent(c);
      loop assigns cell;
      loop variant sl_cell_limit - cell;
    */
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        if (sl_cell_usage[cell] != sl_cell_own[cell] + sl_check_stored[cell] ||
            sl_cell_lent_low[cell] != sl_check_lent_low[cell] ||
            sl_cell_lent_high[cell] != sl_check_lent_high[cell]) {
            return false;
        }
    }
    return true;
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  totals:     \result <==>
                       \forall integer b; 0 <= b < SL_TOTALS_MAX ==> sl_total[b] == sl_check_total[b];
*/
static bool totals_agree(void)
{
    /*@
      loop invariant i:     0 <= i <= SL_TOTALS_MAX;
      loop invariant agree: \forall integer b; 0 <= b < i ==> sl_total[b] == sl_check_total[b];
      loop assigns i;
      loop variant SL_TOTALS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_TOTALS_MAX; i++) {
        if (sl_total[i] != sl_check_total[i]) {
            return false;
        }
    }
    return true;
}

bool sl_ledger_valid(void)
{
    if (sl_cell_limit > SL_CELLS_MAX || sl_qnode_limit > SL_QNODES_MAX || !sl_check_qnodes() ||
        !cells_are_sound()) {
        return false;
    }
    clear_sums();
    return add_all_cells() && sums_agree() && totals_agree() && sl_check_lists() &&
           sl_check_spares();
}
