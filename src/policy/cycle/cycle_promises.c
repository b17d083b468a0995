/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What one entry of the cycle keeps from the others that come after it: quota, and capacities where it
 * has places. */
#include "policy/cycle/cycle_steps.h"

#include "kernel/ledger/ledger.h"
#include "kernel/preempt/preempt.h"
#include "policy/preemption/tentative.h"
#include "policy/entries/tournament.h"

void sl_cycle_promise_needs(uint32_t entry)
{
    (void)sl_cycle_promise_capacity();
    /*@ loop invariant valid: PromisesValid; loop assigns i, sl_hidden, SL_PROMISED;
        loop variant sl_entries[entry].needs.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        (void)sl_tentative_promise(sl_entries[entry].root, need.cell, need.amount, true);
    }
    sl_tournament_changed(sl_entries[entry].queue);
}

/* What may be kept free of a cell for somebody who cannot preempt: up to the nominal quota, or,
 * where it would borrow, up to the borrowing limit. */
/*@ requires ready: LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns \nothing; */
static int64_t reservable(struct sl_need need, bool borrows)
{
    if (need.cell >= SL_CELLS_MAX) {
        return 0;
    }
    int64_t limit = sl_ledger_nominal(need.cell);
    if (borrows && sl_cell_borrowing[need.cell] >= SL_AMOUNT_UNLIMITED) {
        return need.amount;
    }
    if (borrows) {
        limit += sl_cell_borrowing[need.cell];
    }
    int64_t capacity = limit - sl_ledger_usage(need.cell);
    if (capacity <= 0) {
        return 0;
    }
    return capacity < need.amount ? capacity : need.amount;
}

/*@ requires ready: PromisesReady && LimitsInRange && UsageInRange && EntryKnown(entry);
    terminates \true; exits \false; assigns sl_hidden, SL_HELD; ensures ready: PromisesReady; */
static void reserve_needs(uint32_t entry)
{
    (void)sl_cycle_promise_capacity();
    /*@ loop invariant valid: PromisesValid; loop assigns i, sl_hidden, SL_PROMISED;
        loop variant sl_entries[entry].needs.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        int64_t amount = reservable(need, sl_entries[entry].borrow_height > 0);
        if (amount > 0) {
            (void)sl_tentative_promise(sl_entries[entry].root, need.cell, amount, true);
        }
    }
    sl_tournament_changed(sl_entries[entry].queue);
}

/* Nobody may be preempted for it. Whoever cannot be sure to reclaim its quota later keeps what is
 * free of it from the others. */
void sl_cycle_reserve(uint32_t entry)
{
    bool reclaims = sl_preempt_policy_of(sl_entries[entry].queue).reclaim == SL_RECLAIM_ANY;
    if (!reclaims || sl_entries[entry].goes_first) {
        reserve_needs(entry);
    }
}

/* The kernel has promised the quota itself. */
void sl_cycle_promise_rest(uint32_t entry)
{
    sl_qnode_id root = sl_entries[entry].root;
    /*@ loop invariant valid: PromisesValid; loop assigns i, sl_hidden, SL_PROMISED;
        loop variant sl_entries[entry].needs.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        (void)sl_tentative_promise(root, need.cell, need.amount, false);
    }
    (void)sl_cycle_promise_capacity();
    /*@ loop assigns i, sl_hidden; loop variant sl_entries[entry].victims.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].victims.count; i++) {
        sl_cycle_evict_capacity(sl_entries_victim(entry, i));
        sl_tentative_evict(root, sl_entries_victim(entry, i));
    }
}
