/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, one resource group: its flavors are tried in the order of the spec until the
 * rules of the queue say that the one at hand will do; else the best of them is taken. */
#include "policy/flavors/flavors_scan.h"

#include "kernel/ledger/ledger.h"
#include "policy/common/settings.h"
#include "policy/requests/slices.h"

struct sl_scan sl_scan;

static struct sl_rules rules;
static struct sl_verdict best;
static struct sl_verdict verdicts[SL_WANTS_MAX]; /* of the flavor at hand */

/* clang-format off */
#define VERDICTS verdicts[0 .. SL_WANTS_MAX - 1]
#define SCANNED sl_hidden, SL_SEARCHED, SL_DETAILS, SL_ATTEMPTS, VERDICTS
/* clang-format on */

/*@
  predicate Known(integer cell) = 0 <= cell < SL_CELLS_MAX || cell == SL_NO_ID;
  // All that a scan needs, and what it keeps beside the ledger.
  predicate ScanReady{L}(integer group) = SearchReady && AssignmentSound && WantSound &&
    WantsInRange && 0 <= group < SL_GROUPS_MAX;
  predicate Scanned{A, B} = SearchReady{B} && TakenBack{A, B} && AssignmentSound{B} &&
    \at(sl_assignment.detail_count, A) <= \at(sl_assignment.detail_count, B);
*/

/* --- the cells of a flavor ------------------------------------------------------------------- */

sl_cell_id sl_flavors_cell(sl_cell_id first, sl_resource_id resource)
{
    sl_flavor_id flavor = sl_ledger_flavor_of(first);
    sl_cell_id cell = first;
    /*@
      loop assigns steps, cell;
      loop variant SL_CELLS_MAX - steps;
    */
    for (uint32_t steps = 0;
         cell < SL_CELLS_MAX && sl_ledger_flavor_of(cell) == flavor && steps < SL_CELLS_MAX;
         steps++) {
        if (sl_ledger_resource_of(cell) == resource) {
            return cell;
        }
        cell = sl_offers_next(cell);
    }
    return SL_NO_ID;
}

/* The first cell of the group's first flavor that begins at or after `cell`. */
/*@ requires known: Known(cell); terminates \true; exits \false; assigns \nothing;
    ensures known: Known(\result); */
static sl_cell_id flavor_from(sl_cell_id cell, uint32_t group)
{
    /*@
      loop invariant known: Known(cell);
      loop assigns steps, cell;
      loop variant SL_CELLS_MAX - steps;
    */
    for (uint32_t steps = 0;
         cell != SL_NO_ID && sl_offers_group_of(cell) != group && steps < SL_CELLS_MAX; steps++) {
        cell = sl_offers_next(cell);
    }
    return cell;
}

/*@ requires known: Known(first); terminates \true; exits \false; assigns \nothing;
    ensures known: Known(\result); */
static sl_cell_id after_flavor(sl_cell_id first, uint32_t group)
{
    sl_flavor_id flavor = sl_ledger_flavor_of(first);
    sl_cell_id cell = first;
    /*@
      loop invariant known: Known(cell);
      loop assigns steps, cell;
      loop variant SL_CELLS_MAX - steps;
    */
    for (uint32_t steps = 0; cell != SL_NO_ID && sl_ledger_flavor_of(cell) == flavor &&
                             sl_offers_group_of(cell) == group && steps < SL_CELLS_MAX;
         steps++) {
        cell = sl_offers_next(cell);
    }
    return flavor_from(cell, group);
}

/* --- which is better ------------------------------------------------------------------------- */

/* Is a the better one under the queue's preference? A flavor without candidates for preemption
 * cannot be used now and comes after all that could be. */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool is_better(struct sl_verdict a, struct sl_verdict b)
{
    if (a.fit == SL_FIT_NOT || b.fit == SL_FIT_NOT) {
        return a.fit != SL_FIT_NOT;
    }
    if ((a.fit == SL_FIT_NO_CANDIDATES) != (b.fit == SL_FIT_NO_CANDIDATES)) {
        return b.fit == SL_FIT_NO_CANDIDATES;
    }
    if (rules.preference == SL_PREEMPTION_OVER_BORROWING && a.borrow_height != b.borrow_height) {
        return a.borrow_height < b.borrow_height;
    }
    return a.fit != b.fit ? a.fit > b.fit : a.borrow_height < b.borrow_height;
}

/* Do the queue's rules (flavorFungibility) send a workload that finds this on to the next? */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool should_look_on(struct sl_verdict verdict)
{
    switch (verdict.fit) {
    case SL_FIT_NOT:
    case SL_FIT_NO_CANDIDATES:
        return true;
    case SL_FIT_PREEMPT:
    case SL_FIT_RECLAIM:
        if (rules.when_can_preempt == SL_TRY_NEXT_FLAVOR) {
            return true;
        }
        break;
    case SL_FIT_AT_ONCE:
        break;
    }
    return verdict.borrow_height != 0 && rules.when_can_borrow == SL_TRY_NEXT_FLAVOR;
}

/* --- one flavor ------------------------------------------------------------------------------ */

/*@ terminates \true; exits \false; assigns \nothing; */
static enum sl_miss miss_of(enum sl_exclusion why)
{
    switch (why) {
    case SL_EXCLUDED_TAINT:
        return SL_MISS_TAINT;
    case SL_EXCLUDED_AFFINITY:
        return SL_MISS_AFFINITY;
    case SL_EXCLUDED_UNNAMED:
        return SL_MISS_UNNAMED;
    default:
        return SL_MISS_NO_FLAVOR;
    }
}

/* Do the pods that the slice has, of this pod set, run elsewhere? */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool has_another(uint32_t index, sl_flavor_id flavor)
{
    return sl_assignment.replaces != SL_NO_ID &&
           !sl_slices_may_have(sl_want.workload, index, flavor);
}

/* Why the flavor may not be given to this pod set. */
/*@ requires member: member < SL_POD_SETS_MAX; terminates \true; exits \false;
    assigns \nothing; */
static struct sl_mismatch mismatch_of(uint32_t member, sl_flavor_id flavor, uint32_t group)
{
    uint32_t record = sl_want.sets[member];
    enum sl_exclusion why = sl_requests_excludes(record, flavor);
    struct sl_mismatch mismatch = {false, SL_MISS_NO_FLAVOR};
    if (why != SL_EXCLUDED_MISSING && why != SL_EXCLUDED_UNNAMED) {
        mismatch = sl_flavors_mismatch(record, flavor, group);
    }
    if (!mismatch.found && why != SL_EXCLUDED_NOT) {
        mismatch.found = true;
        mismatch.miss = miss_of(why);
    }
    if (!mismatch.found && has_another(sl_want.indexes[member], flavor)) {
        mismatch.found = true;
        mismatch.miss = SL_MISS_SLICE;
    }
    return mismatch;
}

/* ... or to some pod set of the group. */
/*@ requires ready: ScanReady(group); terminates \true; exits \false;
    assigns sl_hidden, SL_DETAILS, SL_ATTEMPTS;
    ensures scanned: Scanned{Pre, Post}; */
static bool note_mismatch(sl_flavor_id flavor, uint32_t group)
{
    struct sl_verdict verdict = {SL_FIT_NOT, 0, SL_GRAVITY_NO_MATCH};
    struct sl_mismatch mismatch = {false, SL_MISS_NO_FLAVOR};
    /*@ loop assigns i, mismatch; loop variant sl_want.set_count - i; */
    for (uint32_t i = 0; i < sl_want.set_count && !mismatch.found; i++) {
        mismatch = mismatch_of(i, flavor, group);
    }
    if (!mismatch.found) {
        return false;
    }
    sl_flavors_note(mismatch.miss, flavor, SL_NO_ID, 0);
    sl_flavors_note_attempt(flavor, verdict);
    return true;
}

/* The worst over all resources, each left in `verdicts`. */
/*@ requires ready: ScanReady(group) && Known(first); terminates \true; exits \false;
    assigns SCANNED;
    ensures scanned: Scanned{Pre, Post} && \result.gravity <= SL_GRAVITY_NO_MATCH; */
static struct sl_verdict try_flavor(sl_cell_id first, uint32_t group)
{
    struct sl_verdict worst = {SL_FIT_AT_ONCE, 0, SL_GRAVITY_NONE};
    sl_flavor_id flavor = sl_ledger_flavor_of(first);
    uint32_t highest = 0;
    /*@
      loop invariant ready: SearchReady && worst.gravity <= SL_GRAVITY_NO_MATCH;
      loop invariant back: TakenBack{Pre, Here};
      loop invariant sound: AssignmentSound &&
        sl_assignment.detail_count >= \at(sl_assignment.detail_count, Pre);
      loop assigns i, worst, highest, sl_hidden, SL_SEARCHED, SL_DETAILS, VERDICTS;
      loop variant sl_want.count - i;
    */
    for (uint32_t i = 0; i < sl_want.count; i++) {
        if ((sl_want.groups[i] >> group & 1u) == 0) {
            continue;
        }
        enum sl_gravity gravity = worst.gravity;
        verdicts[i] = sl_flavors_try_cell(sl_flavors_cell(first, sl_want.resource[i]), flavor, i);
        //@ assert kept: PastKept{Pre, Here};
        //@ assert back: TakenBack{Pre, Here};
        if (is_better(worst, verdicts[i])) {
            worst = verdicts[i];
        }
        worst.gravity = verdicts[i].gravity > gravity ? verdicts[i].gravity : gravity;
        highest = verdicts[i].borrow_height > highest ? verdicts[i].borrow_height : highest;
    }
    struct sl_verdict shown = worst;
    shown.borrow_height = highest;
    sl_flavors_note_attempt(flavor, shown);
    return worst;
}

/*@ requires want: WantSound; terminates \true; exits \false; assigns best, sl_scan; */
static void take(sl_cell_id first, struct sl_verdict verdict)
{
    best = verdict;
    sl_scan.first = first;
    /*@ loop assigns i, sl_scan.verdicts[0 .. SL_WANTS_MAX - 1]; loop variant sl_want.count - i; */
    for (uint32_t i = 0; i < sl_want.count; i++) {
        sl_scan.verdicts[i] = verdicts[i];
    }
}

/* Try the flavor, take it when it is the best so far; true = look no further. */
/*@ requires ready: ScanReady(group) && Known(first); terminates \true; exits \false;
    assigns SCANNED, best, sl_scan;
    ensures scanned: Scanned{Pre, Post}; */
static bool settle_flavor(sl_cell_id first, uint32_t group)
{
    sl_flavor_id flavor = sl_ledger_flavor_of(first);
    if (sl_flavors_pinned_out(group, flavor) || note_mismatch(flavor, group)) {
        return false;
    }
    struct sl_verdict verdict = try_flavor(first, group);
    if (!sl_settings.flavor_fungibility) {
        if (verdict.fit > best.fit) {
            take(first, verdict);
        }
        return verdict.fit == SL_FIT_AT_ONCE;
    }
    bool done = !should_look_on(verdict);
    if (done || is_better(verdict, best)) {
        take(first, verdict);
    }
    return done;
}

/* --- all of them ----------------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns SCANNED, rules, best, sl_scan; */
void sl_flavors_scan(uint32_t group)
{
    struct sl_verdict none = {SL_FIT_NOT, 0, SL_GRAVITY_NONE};
    sl_cell_id head = flavor_from(sl_offers_first(sl_want.queue), group);
    sl_cell_id first = head;
    uint32_t start = sl_flavors_start(sl_want.indexes[0], group);
    uint32_t index = 0;
    /*@
      loop invariant known: Known(first);
      loop assigns first, index;
      loop variant start - index;
    */
    while (first != SL_NO_ID && index < start) {
        first = after_flavor(first, group);
        index++;
    }
    if (first == SL_NO_ID) { /* the queue has fewer flavors than it had: from the first again */
        first = head;
        index = 0;
    }
    rules = sl_offers_rules(sl_want.queue);
    best = none;
    sl_scan.tried = -1;
    bool done = false;
    /*@
      loop invariant ready: SearchReady && Known(first);
      loop invariant back: TakenBack{Pre, Here};
      loop invariant sound: AssignmentSound &&
        sl_assignment.detail_count >= \at(sl_assignment.detail_count, Pre);
      loop assigns steps, first, index, done, SCANNED, best, sl_scan;
      loop variant SL_CELLS_MAX - steps;
    */
    for (uint32_t steps = 0; first != SL_NO_ID && !done && steps < SL_CELLS_MAX; steps++) {
        done = settle_flavor(first, group);
        //@ assert kept: PastKept{Pre, Here};
        //@ assert back: TakenBack{Pre, Here};
        sl_scan.tried = (int32_t)index;
        first = after_flavor(first, group);
        index++;
    }
    if (!sl_settings.flavor_fungibility) {
        sl_scan.tried = 0; /* Kueue leaves it unset */
    } else if (first == SL_NO_ID) {
        sl_scan.tried = -1;
    }
    sl_scan.fit = best.fit;
}
