/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One entry of the cycle (Kueue's processEntry). It was nominated on the ledger as the cycle found
 * it; meanwhile others were admitted, and more was promised to those that wait for victims. */
#include "policy/cycle/cycle_steps.h"

#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/commit/place.h"
#include "kernel/commit/placement.h"
#include "kernel/preempt/preempt.h"
#include "policy/entries/entries.h"
#include "policy/entries/entry_places.h"
#include "policy/queues/fronts.h"
#include "policy/queues/passes.h"
#include "policy/queues/readiness.h"
#include "policy/common/settings.h"
#include "policy/preemption/tentative.h"
#include "policy/requests/preemption_gate.h"
#include "policy/entries/tournament.h"

/* clang-format off */
#define ENDED sl_hidden, sl_cycle_outcome, sl_cycle_skipped_preemptions, SL_TOLD, SL_HELD
/* clang-format on */

/*@
  // One entry can be decided.
  predicate DecisionReady{L} = StepReady && ListsInv && PromisesValid && PromisesListed && ScratchZero &&
    EntriesInv && sl_cycle_outcome.workload < SL_WORKLOADS_MAX;
*/

/* --- plans ----------------------------------------------------------------------------------- */

/*@ requires sound: AssignmentSound; terminates \true; exits \false; assigns \nothing; */
static bool any_delayed(void)
{
    bool any = false;
    /*@ loop assigns i, any; loop variant sl_assignment.pod_set_count - i; */
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        any = any || sl_assignment.delayed[i];
    }
    return any;
}

/* Beside what sl_topology_plan says. */
/*@ requires known: EntryKnown(entry) && AssignmentSound;
    requires named: sl_cycle_outcome.workload < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_plan, sl_topology_plan.workload;
    ensures filled: sl_plan.workload == sl_cycle_outcome.workload &&
      sl_topology_plan.workload == sl_cycle_outcome.workload; */
static void fill_plan(uint32_t entry)
{
    sl_workload_id id = sl_cycle_outcome.workload;
    uint32_t count = sl_entries[entry].needs.count;
    sl_topology_plan.workload = id;
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = sl_entries[entry].queue;
    sl_plan.topology_pending = any_delayed();
    sl_plan.now_ms = sl_cycle_now_ms;
    sl_plan.usage_count = count;
    /*@ loop assigns i, sl_plan.usage[0 .. SL_USAGE_CELLS_MAX - 1]; loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        sl_plan.usage[i] = (struct sl_cell_amount){need.cell, need.amount};
    }
}

/* Victims of others, as far as it was nominated without them. */
/*@ requires known: entry < SL_ENTRIES_MAX; terminates \true; exits \false; assigns sl_preempt_plan; */
static bool fill_gone(uint32_t entry)
{
    sl_qnode_id root = sl_entries[entry].root;
    uint32_t count = 0;
    sl_preempt_plan.gone_count = 0;
    if (sl_entries[entry].after_promises && !sl_entries[entry].after_others) {
        return true;
    }
    if (sl_tentative_gone_count(root) > SL_VICTIMS_MAX) {
        return false;
    }
    sl_workload_id id = sl_tentative_first_gone(root);
    /*@ loop invariant within: count <= SL_VICTIMS_MAX;
        loop assigns count, id, sl_preempt_plan.gone[0 .. SL_VICTIMS_MAX - 1];
        loop variant SL_VICTIMS_MAX - count; */
    while (id != SL_NO_ID && count < SL_VICTIMS_MAX) {
        sl_preempt_plan.gone[count] = id;
        count++;
        id = sl_tentative_next_gone(id);
    }
    sl_preempt_plan.gone_count = count;
    return true;
}

/* Fill the plan, and note who is evicted by it and by no earlier one. */
/*@ requires known: EntryKnown(entry); terminates \true; exits \false;
    assigns sl_preempt_plan, sl_cycle_evicted;
    ensures within: sl_cycle_evicted.count <= SL_VICTIMS_MAX; */
static void fill_preempt_plan(uint32_t entry)
{
    uint32_t count = sl_entries[entry].victims.count;
    uint32_t evicted = 0;
    sl_preempt_plan.may_borrow = sl_entries[entry].may_borrow;
    sl_preempt_plan.after_others = sl_entries[entry].after_promises;
    sl_preempt_plan.victim_count = count;
    /*@ loop invariant within: evicted <= i <= SL_VICTIMS_MAX;
        loop assigns i, evicted, sl_preempt_plan.victims[0 .. SL_VICTIMS_MAX - 1],
          sl_preempt_plan.reasons[0 .. SL_VICTIMS_MAX - 1],
          sl_cycle_evicted.workloads[0 .. SL_VICTIMS_MAX - 1],
          sl_cycle_evicted.reasons[0 .. SL_VICTIMS_MAX - 1],
          sl_cycle_evicted.from[0 .. SL_VICTIMS_MAX - 1];
        loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        sl_workload_id id = sl_entries_victim(entry, i);
        enum sl_preempt_reason reason = sl_entries_victim_reason(entry, i);
        sl_preempt_plan.victims[i] = id;
        sl_preempt_plan.reasons[i] = reason;
        if (id < SL_WORKLOADS_MAX && sl_workloads[id].phase != SL_PHASE_EVICTED) {
            sl_cycle_evicted.workloads[evicted] = id;
            sl_cycle_evicted.reasons[evicted] = reason;
            sl_cycle_evicted.from[evicted] = sl_workloads[id].phase;
            evicted++;
        }
    }
    sl_cycle_evicted.count = evicted;
}

/* --- what becomes of it ---------------------------------------------------------------------- */

/*@ requires ready: DecisionReady; terminates \true; exits \false;
    assigns sl_hidden, sl_cycle_outcome, SL_TOLD; ensures ready: DecisionReady; */
static void refuse(enum sl_pending_reason reason, enum sl_back why)
{
    if (sl_assignment.topology_failure.miss != SL_PLACEMENT_OK) {
        sl_queues_note_roomless(sl_assignment.topology_failure.tree);
    }
    sl_cycle_outcome.reason = reason;
    sl_cycle_put_back(why);
}

/* Because of others in the cycle. */
/*@ requires ready: DecisionReady && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns sl_hidden, sl_cycle_outcome, sl_cycle_skipped_preemptions, SL_TOLD;
    ensures ready: DecisionReady; */
static void skip(uint32_t entry)
{
    if (sl_entries[entry].mode == SL_MODE_PREEMPT) {
        sl_cycle_outcome.skipped_preemption = true;
        sl_cycle_skipped_preemptions++;
    }
    refuse(SL_PENDING_WAITING_FOR_QUOTA, SL_BACK_SKIPPED);
}

/* What it asks of a resource, in whatever flavors, where this need is the first of that resource;
 * nothing where it is not. */
/*@ requires known: EntryKnown(entry); terminates \true; exits \false; assigns \nothing;
    ensures amount: 0 <= \result <= SL_AMOUNT_MAX; */
static int64_t asked_first_at(uint32_t entry, uint32_t index)
{
    sl_resource_id resource = sl_ledger_resource_of(sl_entries_need(entry, index).cell);
    int64_t total = 0;
    bool first = true;
    /*@ loop invariant amount: 0 <= total <= SL_AMOUNT_MAX; loop assigns i, total, first;
        loop variant sl_entries[entry].needs.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        if (sl_ledger_resource_of(need.cell) == resource && need.amount > 0) {
            first = first && i >= index;
            total = need.amount < SL_AMOUNT_MAX - total ? total + need.amount : SL_AMOUNT_MAX;
        }
    }
    return first ? total : 0;
}

/* Where the queue admits by usage, what it was given counts at once: a resource of several flavors
 * as one amount, since each amount is rounded. */
/*@ requires known: EntryKnown(entry); terminates \true; exits \false; assigns sl_hidden; */
static void note_usage(uint32_t entry)
{
    sl_workload_id id = sl_cycle_outcome.workload;
    sl_account_id account = sl_fronts_account(sl_entries[entry].queue, id);
    /*@ loop assigns i, sl_hidden; loop variant sl_entries[entry].needs.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count && account != SL_NO_ID; i++) {
        int64_t amount = asked_first_at(entry, i);
        if (amount > 0) {
            struct sl_need need = sl_entries_need(entry, i);
            sl_usage_charge(id, account, sl_ledger_resource_of(need.cell), amount);
        }
    }
}

/* For its second passes. */
/*@ requires sound: AssignmentSound; terminates \true; exits \false; assigns sl_hidden; */
static void note_grant(sl_workload_id id)
{
    /*@ loop assigns i, sl_hidden; loop variant sl_assignment.pod_set_count - i; */
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        sl_passes_grant(id, i, sl_assignment.tree[i], sl_assignment.counts[i]);
    }
}

/*@ requires ready: DecisionReady && EntryKnown(entry) && AssignmentSound; terminates \true;
    exits \false;
    assigns ENDED, SL_SETTLED, SL_SERVED, SL_EVICTED, SL_PASS_TIMERS, sl_topology_plan.workload;
    ensures ready: DecisionReady; */
static void serve(uint32_t entry)
{
    sl_workload_id id = sl_cycle_outcome.workload;
    fill_plan(entry);
    if (sl_cycle_variant_moves(entry)) {
        return;
    }
    sl_cycle_commit(entry);
    if (sl_cycle_outcome.status != SL_OK) {
        sl_cycle_outcome.overtaken = sl_cycle_outcome.status == SL_REFUSED_QUOTA ||
                                     sl_cycle_outcome.status == SL_REFUSED_CAPACITY;
        skip(entry);
        return;
    }
    note_usage(entry);
    note_grant(id);
    sl_cycle_note_taken();
    sl_cycle_progress(sl_entries[entry].root);
    sl_tournament_changed(sl_entries[entry].queue);
    sl_cycle_outcome.result = SL_CYCLE_RESERVED;
    sl_queues_settle(id, sl_cycle_now_ms);
    sl_cycle_outcome.place = sl_place_of(id);
}

/* Unless it has to wait for the pods of others. */
/*@ requires ready: DecisionReady && EntryKnown(entry) && AssignmentSound && PlanBounded;
    terminates \true; exits \false;
    assigns ENDED, SL_SETTLED, SL_SERVED, SL_EVICTED, SL_PASS_TIMERS, sl_topology_plan;
    ensures ready: DecisionReady && PlanBounded; */
static void serve_when_ready(uint32_t entry)
{
    if (sl_settings.block_until_ready && !sl_readiness_all()) {
        sl_cycle_leave_out_held(entry);
        sl_cycle_promise_needs(entry);
        sl_readiness_wait(sl_entries[entry].queue);
        refuse(SL_PENDING_PODS_READY, SL_BACK_SKIPPED);
        return;
    }
    serve(entry);
}

/* Evict its victims, or refuse that whole. */
/*@ requires ready: DecisionReady && EntryKnown(entry) && AssignmentSound; terminates \true;
    exits \false; assigns ENDED, SL_SERVED, SL_EVICTED, sl_topology_plan.workload;
    ensures ready: DecisionReady && sl_cycle_evicted.count <= SL_VICTIMS_MAX; */
static bool evict(uint32_t entry)
{
    fill_plan(entry);
    fill_preempt_plan(entry);
    bool listed = fill_gone(entry);
    sl_cycle_outcome.status = listed ? sl_preempt_commit() : SL_FULL_USAGE;
    //@ assert core: CoreInv;
    //@ assert topology: TopologyInv;
    //@ assert depth: sl_trail_depth == 0;
    //@ assert linked: QnodesLinked;
    //@ assert step: StepReady;
    return sl_cycle_outcome.status == SL_OK;
}

/*@ requires ready: DecisionReady && EntryKnown(entry) && AssignmentSound; terminates \true;
    exits \false; assigns ENDED, SL_SERVED, SL_EVICTED, sl_topology_plan.workload;
    ensures ready: DecisionReady; */
static void preempt(uint32_t entry)
{
    if (!evict(entry)) {
        sl_cycle_evicted.count = 0;
        skip(entry);
        return;
    }
    sl_cycle_promise_rest(entry);
    sl_cycle_settle_evicted();
    if (sl_cycle_evicted.count != 0) {
        sl_cycle_progress(sl_entries[entry].root);
    }
    sl_tournament_changed(sl_entries[entry].queue);
    sl_cycle_outcome.victim_count = sl_entries[entry].victims.count;
    refuse(SL_PENDING_PREEMPTED_WORKLOADS, SL_BACK_PREEMPTING);
}

/* It fits, perhaps with its victims gone, as far as it was nominated. */
/*@ requires ready: DecisionReady && EntryKnown(entry) && AssignmentSound && PlanBounded;
    terminates \true; exits \false;
    assigns ENDED, SL_SETTLED, SL_SERVED, SL_EVICTED, SL_PASS_TIMERS, sl_topology_plan;
    ensures ready: DecisionReady && PlanBounded; */
static void decide_fitting(uint32_t entry, enum sl_recheck fits)
{
    sl_cycle_outcome.overlaps = sl_cycle_overlaps(entry);
    if (sl_cycle_outcome.overlaps) {
        skip(entry);
    } else if (fits != SL_RECHECK_FITS) {
        sl_cycle_outcome.overtaken = true;
        if (fits == SL_RECHECK_NO_CAPACITY) {
            sl_cycle_note_late(entry);
        }
        skip(entry);
    } else if (sl_entries[entry].mode == SL_MODE_PREEMPT) {
        preempt(entry);
    } else {
        serve_when_ready(entry);
    }
}

/*@ requires ready: DecisionReady && EntryKnown(entry) && AssignmentSound && PlanBounded;
    terminates \true; exits \false;
    assigns ENDED, SL_SETTLED, SL_SERVED, SL_EVICTED, SL_PASS_TIMERS, sl_topology_plan;
    ensures ready: DecisionReady && PlanBounded; */
static void decide(uint32_t entry, enum sl_recheck fits)
{
    enum sl_mode mode = sl_entries[entry].mode;
    sl_workload_id id = sl_cycle_outcome.workload;
    if (mode != SL_MODE_FIT) {
        sl_cycle_leave_out_held(entry);
    }
    if (mode == SL_MODE_NO_FIT) {
        refuse(sl_entries[entry].reason, SL_BACK_NO_FIT);
    } else if (mode == SL_MODE_PREEMPT && sl_entries[entry].victims.count == 0) {
        sl_cycle_reserve(entry);
        refuse(SL_PENDING_WAITING_FOR_QUOTA, SL_BACK_NO_VICTIMS);
        if (sl_cycle_outcome.place == SL_PLACE_INADMISSIBLE) {
            /* what it reserved, it keeps for this cycle only */
            sl_cycle_give_up(sl_entries[entry].root);
            sl_cycle_note_given_up();
        } else {
            sl_queues_note_keeping(id);
        }
    } else if (mode == SL_MODE_PREEMPT && sl_preemption_gate_closed(id)) {
        sl_flavors_forget(id);
        refuse(SL_PENDING_GATED, SL_BACK_GATED);
    } else if (mode == SL_MODE_DEFERRED) {
        sl_cycle_promise_needs(entry);
        sl_cycle_outcome.overlaps = true;
        refuse(SL_PENDING_PREEMPTED_WORKLOADS, SL_BACK_PREEMPTING);
    } else {
        decide_fitting(entry, fits);
    }
}

/*@ requires known: entry < SL_ENTRIES_MAX; terminates \true; exits \false; assigns \nothing; */
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

/* Whoever was served may have to be placed at once; whoever was evicted needs no second pass. */
/*@ requires ready: EntriesInv && RecordsValid && id < SL_WORKLOADS_MAX; terminates \true;
    exits \false; assigns sl_hidden, SL_PASS_TIMERS; ensures entries: EntriesInv; */
static void settle_passes(sl_workload_id id)
{
    sl_passes_settle(id, sl_cycle_now_ms);
    /*@ loop invariant entries: EntriesInv; loop assigns i, sl_hidden, SL_PASS_TIMERS;
        loop variant SL_VICTIMS_MAX - i; */
    for (uint32_t i = 0; i < sl_cycle_evicted.count && i < SL_VICTIMS_MAX; i++) {
        sl_passes_settle(sl_cycle_evicted.workloads[i], sl_cycle_now_ms);
    }
}

void sl_cycle_process(uint32_t entry)
{
    sl_workload_id id = sl_entries[entry].workload;
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    if (sl_entries[entry].holds) {
        sl_cycle_process_pass(entry);
        return;
    }
    sl_cycle_begin_outcome(id);
    sl_cycle_begin_capacity();
    if (sl_cycle_variant_waits()) {
        sl_cycle_settle_waiter(entry); /* one that waits aside counts on no rooms any more */
        return;
    }
    enum sl_recheck fits = sl_cycle_recheck(entry);
    if (fits == SL_RECHECK_FULL || !sl_cycle_replaces_still(entry)) {
        skip(entry); /* it stays held, or has flavors left to try: it counts on what it did */
        return;
    }
    decide(entry, fits);
    sl_cycle_settle_waiter(entry);
    settle_passes(id);
    sl_cycle_outcome.recomputed = recomputed(entry);
}
