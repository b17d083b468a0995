/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Shares: fractions of integers. Two of them are compared by cross products of three factors,
 * which fit in 192 bits. */
#include "policy/fair/shares.h"

#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_view.h"
#include "policy/fair/branches.h"
#include "policy/requests/offers.h"
#include "policy/common/wide.h"

static int64_t weights[SL_QNODES_MAX];
static bool weight_set[SL_QNODES_MAX];

/* While what could be lent is added up: was this cell of the path counted with one below it? */
static uint64_t counted_at[SL_CELLS_MAX];
static uint64_t round_number;

/* clang-format off */
#define COUNTED counted_at[0 .. SL_CELLS_MAX - 1], round_number
/* clang-format on */

/*@
  predicate WeightsSet{L} = \forall integer n; 0 <= n < SL_QNODES_MAX ==> 0 <= weights[n];
*/

/* --- weights --------------------------------------------------------------------------------- */

/*@ requires weights: WeightsSet; terminates \true; exits \false;
    assigns weights[qnode], weight_set[qnode]; ensures weights: WeightsSet; */
enum sl_status sl_shares_set_weight(sl_qnode_id qnode, int64_t weight_nano)
{
    if (qnode >= SL_QNODES_MAX) {
        return SL_REFUSED_NO_QNODE;
    }
    if (weight_nano < 0) {
        return SL_REFUSED_AMOUNT;
    }
    weights[qnode] = weight_nano;
    weight_set[qnode] = true;
    return SL_OK;
}

/*@ requires weights: WeightsSet; terminates \true; exits \false; assigns \nothing; */
int64_t sl_shares_weight(sl_qnode_id qnode)
{
    return qnode < SL_QNODES_MAX && weight_set[qnode] ? weights[qnode] : SL_WEIGHT_ONE;
}

/* --- products of three factors --------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns \nothing; */
static struct sl_wide3 multiply(int64_t a, int64_t b, int64_t c)
{
    return sl_wide_scale(sl_wide_multiply((uint64_t)a, (uint64_t)b), (uint64_t)c);
}

/* --- what is borrowed and could be lent ------------------------------------------------------ */

/*@ requires amounts: 0 <= a <= SL_AMOUNT_UNLIMITED && 0 <= b <= SL_AMOUNT_UNLIMITED;
    terminates \true; exits \false; assigns \nothing;
    ensures amount: 0 <= \result <= SL_AMOUNT_UNLIMITED; */
static int64_t add_amounts(int64_t a, int64_t b)
{
    return b > SL_AMOUNT_UNLIMITED - a ? SL_AMOUNT_UNLIMITED : a + b;
}

/* A queue that does not list a flavor (any more) is not said to borrow it, whatever its workloads
 * still hold (as in Kueue). */
/*@ requires ledger: LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns \nothing; ensures amount: 0 <= \result <= SL_AMOUNT_UNLIMITED; */
static int64_t borrowed_of(sl_cell_id cell)
{
    if (sl_offers_group_of(cell) == SL_NO_ID &&
        sl_branches_first(sl_ledger_qnode_of(cell)) == SL_NO_ID) {
        return 0;
    }
    int64_t over = sl_ledger_usage(cell) - sl_ledger_subtree(cell);
    return over > 0 ? over : 0;
}

bool sl_shares_borrows(sl_cell_id cell)
{
    return sl_ledger_parent_qnode(sl_ledger_qnode_of(cell)) != SL_NO_ID && borrowed_of(cell) > 0;
}

bool sl_shares_borrows_any(sl_qnode_id qnode)
{
    sl_cell_id cell = sl_ledger_first_cell(qnode);
    /*@ loop assigns steps, cell; loop variant SL_CELLS_MAX - steps; */
    for (uint32_t steps = 0; cell != SL_NO_ID && steps < SL_CELLS_MAX && !sl_shares_borrows(cell);
         steps++) {
        cell = sl_ledger_next_cell(cell);
    }
    return cell != SL_NO_ID;
}

/* Does a cell that comes before this one in its qnode's list borrow of the same resource? */
/*@ requires ledger: LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns \nothing; */
static bool resource_seen(sl_cell_id cell, sl_qnode_id qnode)
{
    sl_resource_id resource = sl_ledger_resource_of(cell);
    sl_cell_id other = sl_ledger_first_cell(qnode);
    /*@ loop assigns steps, other; loop variant SL_CELLS_MAX - steps; */
    for (uint32_t steps = 0; steps < SL_CELLS_MAX && other != cell &&
                             (sl_ledger_resource_of(other) != resource || borrowed_of(other) == 0);
         steps++) {
        other = sl_ledger_next_cell(other);
    }
    return other != cell;
}

/* Of all flavors together, from this cell of the qnode's list on. */
/*@ requires ledger: LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns \nothing; ensures amount: 0 <= \result <= SL_AMOUNT_UNLIMITED; */
static int64_t borrowed_from(sl_cell_id cell)
{
    sl_resource_id resource = sl_ledger_resource_of(cell);
    int64_t sum = 0;
    /*@
      loop invariant sum: 0 <= sum <= SL_AMOUNT_UNLIMITED;
      loop assigns steps, sum, cell;
      loop variant SL_CELLS_MAX - steps;
    */
    for (uint32_t steps = 0; cell != SL_NO_ID && steps < SL_CELLS_MAX; steps++) {
        if (sl_ledger_resource_of(cell) == resource) {
            sum = add_amounts(sum, borrowed_of(cell));
        }
        cell = sl_ledger_next_cell(cell);
    }
    return sum;
}

/* What the qnode's own cells could lend of the resource, apart from those that were counted below;
 * those above them count as counted from here on. */
/*@ requires ledger: CellsLinked && LimitsInRange; terminates \true; exits \false;
    assigns counted_at[0 .. SL_CELLS_MAX - 1];
    ensures amount: 0 <= \result <= SL_AMOUNT_UNLIMITED; */
static int64_t lendable_here(sl_qnode_id qnode, sl_resource_id resource)
{
    int64_t sum = 0;
    sl_cell_id cell = sl_ledger_first_cell(qnode);
    /*@
      loop invariant sum: 0 <= sum <= SL_AMOUNT_UNLIMITED;
      loop assigns steps, sum, cell, counted_at[0 .. SL_CELLS_MAX - 1];
      loop variant SL_CELLS_MAX - steps;
    */
    for (uint32_t steps = 0; cell < SL_CELLS_MAX && steps < SL_CELLS_MAX; steps++) {
        if (sl_ledger_resource_of(cell) == resource) {
            int64_t potential = counted_at[cell] != round_number ? sl_ledger_potential(cell) : 0;
            if (potential > 0) {
                sum = add_amounts(sum, potential);
            }
            sl_cell_id above = sl_ledger_parent_cell(cell);
            if (above < SL_CELLS_MAX) {
                counted_at[above] = round_number;
            }
        }
        cell = sl_ledger_next_cell(cell);
    }
    return sum;
}

/* What the qnode could lend of the resource. A flavor of which it has no cell comes from the
 * nearest qnode above that has one. */
/*@ requires ledger: CellsLinked && LimitsInRange; terminates \true; exits \false;
    assigns COUNTED; ensures amount: 0 <= \result <= SL_AMOUNT_UNLIMITED; */
static int64_t lendable(sl_qnode_id qnode, sl_resource_id resource)
{
    int64_t sum = 0;
    round_number++;
    /*@
      loop invariant sum: 0 <= sum <= SL_AMOUNT_UNLIMITED;
      loop assigns steps, sum, qnode, counted_at[0 .. SL_CELLS_MAX - 1];
      loop variant SL_LEVELS_MAX - steps;
    */
    for (uint32_t steps = 0; qnode != SL_NO_ID && steps < SL_LEVELS_MAX; steps++) {
        sum = add_amounts(sum, lendable_here(qnode, resource));
        qnode = sl_ledger_parent_qnode(qnode);
    }
    return sum;
}

/* --- shares ---------------------------------------------------------------------------------- */

/* Is a the greater part, weights aside? */
/*@ terminates \true; exits \false; assigns \nothing; ensures sign: -1 <= \result <= 1; */
static int compare_ratios(struct sl_share a, struct sl_share b)
{
    return sl_wide_compare(multiply(a.borrowed, b.lendable, 1),
                           multiply(b.borrowed, a.lendable, 1));
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool dominates(struct sl_share a, struct sl_share b)
{
    if (b.borrowed == 0) {
        return true;
    }
    int order = compare_ratios(a, b);
    return order > 0 || (order == 0 && a.resource < b.resource);
}

/*@ requires ledger: CellsLinked && LimitsInRange && UsageInRange; requires weights: WeightsSet;
    terminates \true; exits \false; assigns COUNTED; */
struct sl_share sl_shares_of(sl_qnode_id qnode)
{
    struct sl_share share = {0, 0, sl_shares_weight(qnode), SL_NO_ID};
    sl_qnode_id parent = sl_ledger_parent_qnode(qnode);
    if (parent == SL_NO_ID) {
        return share;
    }
    sl_cell_id cell = sl_ledger_first_cell(qnode);
    /*@
      loop assigns steps, cell, share, COUNTED;
      loop variant SL_CELLS_MAX - steps;
    */
    for (uint32_t steps = 0; cell != SL_NO_ID && steps < SL_CELLS_MAX; steps++) {
        if (borrowed_of(cell) != 0 && !resource_seen(cell, qnode)) {
            sl_resource_id resource = sl_ledger_resource_of(cell);
            struct sl_share other = {borrowed_from(cell), lendable(parent, resource), share.weight,
                                     resource};
            if (other.lendable > 0 && dominates(other, share)) {
                share = other;
            }
        }
        cell = sl_ledger_next_cell(cell);
    }
    return share;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool is_infinite(struct sl_share share)
{
    return share.borrowed > 0 && share.weight == 0;
}

int sl_shares_compare(struct sl_share a, struct sl_share b)
{
    if (is_infinite(a) || is_infinite(b)) {
        if (is_infinite(a) && is_infinite(b)) {
            return compare_ratios(a, b);
        }
        return is_infinite(a) ? 1 : -1;
    }
    if (a.borrowed == 0 || b.borrowed == 0) {
        return (a.borrowed > 0 ? 1 : 0) - (b.borrowed > 0 ? 1 : 0);
    }
    return sl_wide_compare(multiply(a.borrowed, b.lendable, b.weight),
                           multiply(b.borrowed, a.lendable, a.weight));
}

/* The smallest number that, times the divisor, is enough: found bit by bit, since the core has no
 * division of this width. */
int64_t sl_shares_shown(struct sl_share share)
{
    if (share.borrowed == 0) {
        return 0;
    }
    struct sl_wide3 wanted = multiply(share.borrowed, 1000, SL_WEIGHT_ONE);
    int64_t below = 0; /* not enough, but for the bits still to be tried */
    /*@
      loop invariant below: 0 <= below && 0 <= step;
      loop assigns step, below;
      loop variant step;
    */
    for (int64_t step = INT64_MAX / 2 + 1; step > 0; step /= 2) {
        int64_t tried = below <= INT64_MAX - step ? below + step : INT64_MAX;
        if (sl_wide_compare(multiply(tried, share.lendable, share.weight), wanted) < 0) {
            below = tried;
        }
    }
    return below == INT64_MAX ? INT64_MAX : below + 1;
}
