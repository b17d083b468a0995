/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One entry of the cycle (FEATURES 3.5). It was nominated on the ledger as the cycle found it;
 * meanwhile others were served, and more was promised to those who wait for victims. */
#include "policy/cycle_steps.h"

#include "kernel/commit.h"
#include "kernel/ledger.h"
#include "kernel/lifecycle.h"
#include "kernel/place.h"
#include "kernel/placement.h"
#include "kernel/preempt.h"
#include "policy/entries.h"
#include "policy/entry_places.h"
#include "policy/fronts.h"
#include "policy/passes.h"
#include "policy/readiness.h"
#include "policy/settings.h"
#include "policy/tentative.h"
#include "policy/tournament.h"

/* --- promises -------------------------------------------------------------------------------- */

static void promise_needs(uint32_t entry)
{
    (void)sl_cycle_promise_rooms();
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        (void)sl_tentative_promise(sl_entries[entry].root, need.cell, need.amount, true);
    }
    sl_tournament_changed(sl_entries[entry].queue);
}

/* What may be kept free of a cell for somebody who cannot preempt: up to the nominal quota, or,
 * where it would borrow, up to the borrowing limit. */
static int64_t reservable(struct sl_need need, bool borrows)
{
    int64_t limit = sl_ledger_nominal(need.cell);
    if (borrows && sl_cell_borrowing[need.cell] >= SL_AMOUNT_UNLIMITED) {
        return need.amount;
    }
    if (borrows) {
        limit += sl_cell_borrowing[need.cell];
    }
    int64_t room = limit - sl_ledger_usage(need.cell);
    if (room <= 0) {
        return 0;
    }
    return room < need.amount ? room : need.amount;
}

/* Nobody may be preempted for it. Whoever cannot be sure to reclaim its quota later keeps what is
 * free of it from the others. */
static void reserve(uint32_t entry)
{
    const struct sl_entry *e = &sl_entries[entry];
    bool reclaims = sl_preempt_policy_of(e->queue).reclaim == SL_RECLAIM_ANY;
    if (reclaims && !(sl_settings.prioritize_preemptors && e->preemptor)) {
        return;
    }
    (void)sl_cycle_promise_rooms();
    for (uint32_t i = 0; i < e->needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        int64_t amount = reservable(need, e->borrow_height > 0);
        if (amount > 0) {
            (void)sl_tentative_promise(e->root, need.cell, amount, true);
        }
    }
    sl_tournament_changed(e->queue);
}

/* --- plans ----------------------------------------------------------------------------------- */

static bool any_delayed(void)
{
    bool any = false;
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        any = any || sl_assignment.delayed[i];
    }
    return any;
}

/* Beside what sl_topology_plan says. */
static void fill_plan(uint32_t entry)
{
    const struct sl_entry *e = &sl_entries[entry];
    sl_plan.workload = e->workload;
    sl_plan.generation = sl_workloads[e->workload].generation;
    sl_plan.cluster_queue = e->queue;
    sl_plan.topology_pending = any_delayed();
    sl_plan.now_ms = sl_cycle_now_ms;
    sl_plan.claim_count = e->needs.count;
    for (uint32_t i = 0; i < e->needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        sl_plan.claims[i] = (struct sl_claim){need.cell, need.amount};
    }
}

static bool fill_gone(sl_node_id root)
{
    sl_preempt_plan.gone_count = 0;
    if (sl_tentative_gone_count(root) > SL_VICTIMS_MAX) {
        return false;
    }
    for (sl_workload_id id = sl_tentative_first_gone(root); id != SL_NO_ID;
         id = sl_tentative_next_gone(id)) {
        sl_preempt_plan.gone[sl_preempt_plan.gone_count] = id;
        sl_preempt_plan.gone_count++;
    }
    return true;
}

/* Fill the plan, and note who is evicted by it and by no earlier one. */
static void fill_preempt_plan(uint32_t entry)
{
    const struct sl_entry *e = &sl_entries[entry];
    fill_plan(entry);
    sl_preempt_plan.may_borrow = e->may_borrow;
    sl_preempt_plan.after_others = e->after_others;
    sl_preempt_plan.victim_count = e->victims.count;
    for (uint32_t i = 0; i < e->victims.count; i++) {
        sl_workload_id id = sl_entries_victim(entry, i);
        sl_preempt_plan.victims[i] = id;
        sl_preempt_plan.reasons[i] = sl_entries_victim_reason(entry, i);
        if (sl_workloads[id].phase != SL_PHASE_EVICTED) {
            sl_cycle_evicted.workloads[sl_cycle_evicted.count] = id;
            sl_cycle_evicted.reasons[sl_cycle_evicted.count] = sl_preempt_plan.reasons[i];
            sl_cycle_evicted.count++;
        }
    }
}

/* --- what becomes of it ---------------------------------------------------------------------- */

static void refuse(enum sl_pending_reason reason, enum sl_back why)
{
    if (sl_assignment.topology_failure.miss != SL_PLACEMENT_OK) {
        sl_queues_note_roomless(sl_assignment.topology_failure.tree);
    }
    sl_cycle_outcome.reason = reason;
    sl_cycle_put_back(why);
}

/* Because of others in the cycle. */
static void skip(uint32_t entry)
{
    if (sl_entries[entry].mode == SL_MODE_PREEMPT) {
        sl_cycle_outcome.skipped_preemption = true;
        sl_cycle_skipped_preemptions++;
    }
    refuse(SL_PENDING_WAITING_FOR_QUOTA, SL_BACK_SKIPPED);
}

/* Where the queue admits by usage, what it was given counts at once. */
static void note_usage(uint32_t entry)
{
    const struct sl_entry *e = &sl_entries[entry];
    sl_account_id account = sl_fronts_account(e->queue, e->workload);
    for (uint32_t i = 0; i < e->needs.count && account != SL_NO_ID; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        sl_usage_charge(e->workload, account, sl_ledger_resource_of(need.cell), need.amount);
    }
}

/* For its second passes. */
static void note_grant(sl_workload_id id)
{
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        sl_passes_grant(id, i, sl_assignment.tree[i], sl_assignment.counts[i]);
    }
}

static void serve(uint32_t entry)
{
    const struct sl_entry *e = &sl_entries[entry];
    if (sl_settings.block_until_ready && !sl_readiness_all()) {
        promise_needs(entry);
        sl_readiness_wait(e->queue);
        refuse(SL_PENDING_PODS_READY, SL_BACK_SKIPPED);
        return;
    }
    fill_plan(entry);
    sl_cycle_outcome.status = sl_placement_commit();
    if (sl_cycle_outcome.status != SL_OK) {
        sl_cycle_outcome.overtaken = sl_cycle_outcome.status == SL_REFUSED_QUOTA ||
                                     sl_cycle_outcome.status == SL_REFUSED_ROOM;
        skip(entry);
        return;
    }
    note_usage(entry);
    note_grant(e->workload);
    sl_cycle_note_taken();
    sl_cycle_progress(e->root);
    sl_tournament_changed(e->queue);
    sl_cycle_outcome.result = SL_CYCLE_RESERVED;
    sl_queues_settle(e->workload, sl_cycle_now_ms);
    sl_cycle_outcome.place = sl_place_of(e->workload);
}

static void preempt(uint32_t entry)
{
    const struct sl_entry *e = &sl_entries[entry];
    fill_preempt_plan(entry);
    sl_cycle_outcome.status = fill_gone(e->root) ? sl_preempt_commit() : SL_FULL_CLAIMS;
    if (sl_cycle_outcome.status != SL_OK) {
        sl_cycle_evicted.count = 0;
        skip(entry);
        return;
    }
    for (uint32_t i = 0; i < e->needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        (void)sl_tentative_promise(e->root, need.cell, need.amount, false);
    }
    (void)sl_cycle_promise_rooms();
    for (uint32_t i = 0; i < e->victims.count; i++) {
        sl_cycle_evict_rooms(sl_entries_victim(entry, i));
        sl_tentative_evict(e->root, sl_entries_victim(entry, i));
    }
    for (uint32_t i = 0; i < sl_cycle_evicted.count; i++) {
        sl_queues_settle(sl_cycle_evicted.workloads[i], sl_cycle_now_ms);
    }
    if (sl_cycle_evicted.count != 0) {
        sl_cycle_progress(e->root);
    }
    sl_tournament_changed(e->queue);
    sl_cycle_outcome.victim_count = e->victims.count;
    refuse(SL_PENDING_PREEMPTED_WORKLOADS, SL_BACK_PREEMPTING);
}

/* It fits, perhaps with its victims gone, as far as it was nominated. */
static void decide_fitting(uint32_t entry, enum sl_recheck fits)
{
    sl_cycle_outcome.overlaps = sl_cycle_overlaps(entry);
    if (sl_cycle_outcome.overlaps) {
        skip(entry);
    } else if (fits != SL_RECHECK_FITS) {
        sl_cycle_outcome.overtaken = true;
        if (fits == SL_RECHECK_NO_ROOM) {
            sl_cycle_note_late(entry);
        }
        skip(entry);
    } else if (sl_entries[entry].mode == SL_MODE_PREEMPT) {
        preempt(entry);
    } else {
        serve(entry);
    }
}

static void decide(uint32_t entry, enum sl_recheck fits)
{
    const struct sl_entry *e = &sl_entries[entry];
    if (e->mode == SL_MODE_NO_FIT) {
        refuse(e->reason, SL_BACK_NO_FIT);
    } else if (e->mode == SL_MODE_PREEMPT && e->victims.count == 0) {
        reserve(entry);
        refuse(SL_PENDING_WAITING_FOR_QUOTA, SL_BACK_NO_VICTIMS);
        if (sl_cycle_outcome.place == SL_PLACE_INADMISSIBLE) {
            sl_cycle_give_up(e->root); /* what it reserved, it keeps for this cycle only */
            sl_cycle_note_given_up();
        }
    } else if (e->mode == SL_MODE_DEFERRED) {
        promise_needs(entry);
        sl_cycle_outcome.overlaps = true;
        refuse(SL_PENDING_PREEMPTED_WORKLOADS, SL_BACK_PREEMPTING);
    } else {
        decide_fitting(entry, fits);
    }
}

static enum sl_recomputed recomputed(uint32_t entry)
{
    if (!sl_entries[entry].after_others) {
        return SL_RECOMPUTED_NOT;
    }
    if (sl_entries[entry].mode == SL_MODE_DEFERRED) {
        return SL_RECOMPUTED_DEFERRED;
    }
    return sl_cycle_outcome.reason == SL_PENDING_PREEMPTED_WORKLOADS ? SL_RECOMPUTED_NEW_VICTIMS
                                                                     : SL_RECOMPUTED_SKIPPED;
}

void sl_cycle_process(uint32_t entry)
{
    if (sl_entries[entry].holds) {
        sl_cycle_process_pass(entry);
        return;
    }
    sl_cycle_begin_outcome(sl_entries[entry].workload);
    sl_cycle_begin_rooms();
    enum sl_recheck fits = sl_cycle_recheck(entry);
    if (fits == SL_RECHECK_FULL) {
        skip(entry);
        return;
    }
    decide(entry, fits);
    sl_cycle_settle_waiter(entry);
    sl_cycle_outcome.recomputed = recomputed(entry);
}
