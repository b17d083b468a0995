/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, one cell: does it fit at once, by preemption, or not at all (Kueue's
 * fitsResourceQuota)? */
#include "policy/flavors/flavors_scan.h"

#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_view.h"
#include "kernel/preempt/preempt.h"
#include "policy/common/settings.h"
#include "policy/requests/slices.h"

enum sl_mode sl_flavors_mode(enum sl_fit fit)
{
    switch (fit) {
    case SL_FIT_NOT:
        return SL_MODE_NO_FIT;
    case SL_FIT_AT_ONCE:
        return SL_MODE_FIT;
    default:
        return SL_MODE_PREEMPT;
    }
}

/* The most that a workload could ever get of the cell. */
/*@ requires ready: SearchReady; terminates \true; exits \false; assigns \nothing;
    ensures range: 0 <= \result <= SL_AMOUNT_MAX; */
static int64_t potential_of(sl_cell_id cell)
{
    int64_t potential = cell != SL_NO_ID ? sl_ledger_potential(cell) : 0;
    return potential < SL_AMOUNT_MAX ? potential : SL_AMOUNT_MAX;
}

/* Has a subtree around the cell that is not the whole tree the quota for that much more? Then what
 * was lent to others may be reclaimed. */
/*@ requires ready: SearchReady;
    requires known: (cell < SL_CELLS_MAX || cell == SL_NO_ID) && 0 <= amount <= SL_AMOUNT_MAX;
    terminates \true; exits \false; assigns \nothing; */
static bool subtree_fits(sl_cell_id cell, int64_t amount)
{
    sl_cell_id parent = sl_ledger_parent_cell(cell);
    /*@
      loop invariant cell: parent != SL_NO_ID ==> cell < SL_CELLS_MAX && sl_cell_up[cell] != 0 &&
        parent == (uint32_t)(sl_cell_up[cell] - 1);
      loop invariant amount: 0 <= amount <= SL_AMOUNT_MAX;
      loop assigns cell, parent, amount;
      loop variant parent != SL_NO_ID ? cell_level(cell) + 1 : 0;
    */
    while (parent != SL_NO_ID) {
        int64_t usage = sl_ledger_usage(cell);
        int64_t kept = sl_ledger_kept(cell);
        if (usage + amount <= sl_ledger_subtree(cell)) {
            return true;
        }
        if (kept > usage) {
            amount -= kept - usage;
        }
        cell = parent;
        parent = sl_ledger_parent_cell(cell);
    }
    return false;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool may_preempt_while_borrowing(sl_qnode_id queue)
{
    struct sl_preempt_policy policy = sl_preempt_policy_of(queue);
    return policy.borrow_within || (sl_settings.fair_sharing && policy.reclaim != SL_RECLAIM_NEVER);
}

/* It does not fit now: what could preemption do? */
/*@ requires ready: SearchReady;
    requires known: (cell < SL_CELLS_MAX || cell == SL_NO_ID) && 0 <= need <= SL_AMOUNT_MAX;
    terminates \true; exits \false; assigns sl_hidden, SL_SEARCHED;
    ensures ready: SearchReady && TakenBack{Pre, Post};
    ensures gravity: \result.gravity <= SL_GRAVITY_NO_MATCH; */
static struct sl_verdict try_preemption(sl_cell_id cell, int64_t need)
{
    static const enum sl_fit fits[] = {
        [SL_NO_CANDIDATES] = SL_FIT_NO_CANDIDATES,
        [SL_PREEMPT] = SL_FIT_PREEMPT,
        [SL_RECLAIM] = SL_FIT_RECLAIM,
    };
    struct sl_verdict verdict = {SL_FIT_NOT, 0, SL_GRAVITY_WAITING};
    if (need <= sl_ledger_nominal(cell) || subtree_fits(cell, need) ||
        may_preempt_while_borrowing(sl_want.queue)) {
        struct sl_prospect prospect =
            sl_preemption_prospect(sl_want.workload, sl_want.queue, cell, need, sl_want.now_ms);
        verdict.fit = fits[prospect.possibility];
        verdict.borrow_height = prospect.borrow_height;
        verdict.gravity = SL_GRAVITY_NONE;
    } else {
        verdict.borrow_height = sl_ledger_borrow_height(cell, need);
    }
    return verdict;
}

/* What has to be available of the cell for want `i`, with what the pod sets before are given of it: less by what the
 * slice that it replaces holds. */
/*@ requires ready: SearchReady && WantsInRange;
    requires known: (cell < SL_CELLS_MAX || cell == SL_NO_ID) && i < SL_WANTS_MAX;
    terminates \true; exits \false; assigns \nothing;
    ensures range: 0 <= \result <= 2 * (SL_AMOUNT_MAX + 1); */
static int64_t need_of(sl_cell_id cell, uint32_t i)
{
    int64_t need = sl_want.amount[i] + (cell != SL_NO_ID ? sl_flavors_assumed[cell] : 0);
    int64_t held = sl_slices_held(sl_assignment.replaces, cell);
    return need > held ? need - held : 0;
}

struct sl_verdict sl_flavors_try_cell(sl_cell_id cell, sl_flavor_id flavor, uint32_t i)
{
    struct sl_verdict verdict = {SL_FIT_NOT, 0, SL_GRAVITY_EXCEEDS};
    int64_t need = need_of(cell, i);
    int64_t potential = potential_of(cell);
    if (need > potential) {
        sl_flavors_note(SL_MISS_MAX_QUOTA, flavor, sl_want.resource[i], need - potential);
        return verdict;
    }
    int64_t available = sl_ledger_available(cell);
    if (available < 0 && need == 0) {
        available = 0; /* after a quota cut: what asks for nothing still fits */
    }
    if (need > available) {
        sl_flavors_note(SL_MISS_UNUSED_QUOTA, flavor, sl_want.resource[i], need - available);
        return try_preemption(cell, need);
    }
    verdict.fit = SL_FIT_AT_ONCE;
    verdict.borrow_height = sl_ledger_borrow_height(cell, need);
    verdict.gravity = SL_GRAVITY_NONE;
    return verdict;
}
