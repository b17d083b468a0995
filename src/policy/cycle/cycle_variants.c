/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variants of one workload, of which one at most may hold quota. One that comes after the holder waits, and is not even looked at;
 * one that comes before it and fits has it evicted, and waits until it has stopped. */
#include "policy/cycle/cycle_steps.h"

#include "kernel/commit/variants.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/preempt/migration.h"
#include "policy/preemption/tentative.h"
#include "policy/requests/migration_limit.h"
#include "policy/entries/tournament.h"

/* clang-format off */
#define ENDED sl_hidden, sl_cycle_outcome, SL_TOLD
/* clang-format on */

void sl_cycle_settle_evicted(void)
{
    /*@ loop invariant ready: StepReady;
        loop assigns i, sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1];
        loop variant sl_cycle_evicted.count - i; */
    for (uint32_t i = 0; i < sl_cycle_evicted.count; i++) {
        sl_queues_settle(sl_cycle_evicted.workloads[i], sl_cycle_now_ms);
    }
}

/*@ requires ready: StepReady && sl_cycle_outcome.workload < SL_WORKLOADS_MAX; terminates \true;
    exits \false; assigns ENDED;
    ensures ready: StepReady && sl_cycle_outcome.workload == \old(sl_cycle_outcome.workload); */
static void refuse(enum sl_variant_wait wait, enum sl_back why)
{
    sl_flavors_forget(sl_cycle_outcome.workload); /* no other flavor would help it */
    sl_cycle_outcome.variant = wait;
    sl_cycle_outcome.reason = SL_PENDING_EVALUATION;
    sl_cycle_put_back(why);
}

/* One that is admitted leaves others only what Kueue leaves them: to be tried until they are switched off. One that
 * waits for its checks may wait long, and the others are in no one's way meanwhile. */
bool sl_cycle_variant_waits(void)
{
    sl_workload_id id = sl_cycle_outcome.workload;
    sl_workload_id holder = sl_variants_holder(id);
    if (holder >= SL_WORKLOADS_MAX || sl_variants_makes_way(id, holder)) {
        return false;
    }
    refuse(SL_VARIANT_COMES_LATER,
           sl_workloads[holder].phase == SL_PHASE_ADMITTED ? SL_BACK_SKIPPED : SL_BACK_GATED);
    return true;
}

/* Unless it is being evicted already, it is so just now. */
/*@ requires known: holder < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_cycle_evicted; ensures within: sl_cycle_evicted.count <= 1;
    ensures who: sl_cycle_evicted.count == 1 ==> sl_cycle_evicted.workloads[0] == holder; */
static void note_evicted(sl_workload_id holder)
{
    sl_cycle_evicted.count = sl_workloads[holder].phase == SL_PHASE_EVICTED ? 0 : 1;
    sl_cycle_evicted.workloads[0] = holder;
    sl_cycle_evicted.reasons[0] = SL_PREEMPT_FLAVOR_MIGRATION;
    sl_cycle_evicted.from[0] = sl_workloads[holder].phase;
}

/* What is free is kept for it, and by and by what the other holds becomes free. */
/*@ requires ready: StepReady && ListsInv && PromisesValid && PromisesListed && ScratchZero &&
      EntriesInv && EntryKnown(entry) && AssignmentSound;
    requires known: holder < SL_WORKLOADS_MAX && sl_cycle_outcome.workload < SL_WORKLOADS_MAX;
    terminates \true; exits \false; assigns ENDED, SL_HELD, SL_EVICTED;
    ensures ready: StepReady && ListsInv && PromisesValid && PromisesListed && ScratchZero &&
      EntriesInv && sl_cycle_outcome.workload < SL_WORKLOADS_MAX; */
static void migrate(uint32_t entry, sl_workload_id holder)
{
    note_evicted(holder);
    sl_cycle_outcome.status = sl_migration_commit(holder);
    if (sl_cycle_outcome.status != SL_OK) {
        sl_cycle_evicted.count = 0;
        sl_cycle_put_back(SL_BACK_SKIPPED);
        return;
    }
    sl_cycle_promise_rest(entry);
    sl_cycle_settle_evicted();
    if (sl_cycle_evicted.count != 0) {
        sl_cycle_progress(sl_entries[entry].root);
    }
    sl_tournament_changed(sl_entries[entry].queue);
    sl_cycle_outcome.variant = SL_VARIANT_MIGRATES;
    sl_cycle_outcome.victim_count = 1;
    sl_cycle_outcome.reason = SL_PENDING_PREEMPTED_WORKLOADS;
    sl_cycle_put_back(SL_BACK_PREEMPTING);
}

bool sl_cycle_variant_moves(uint32_t entry)
{
    sl_workload_id id = sl_cycle_outcome.workload;
    sl_workload_id holder = sl_variants_holder(id);
    if (holder >= SL_WORKLOADS_MAX) {
        return false;
    }
    if (sl_workloads[holder].phase == SL_PHASE_ADMITTED &&
        sl_variants_rank(id) >= sl_migration_limit(sl_cycle_outcome.cluster_queue)) {
        refuse(SL_VARIANT_BELOW_LIMIT, SL_BACK_SKIPPED);
    } else {
        migrate(entry, holder);
    }
    return true;
}
