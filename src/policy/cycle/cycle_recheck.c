/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An entry against the cycle so far: does what it was nominated with still hold, now that others
 * were served and more was promised? If its victims are those of others too, or quota would do but
 * the capacities would not, it is nominated anew with the flavors it had: heads are nominated
 * independently, so that they often choose the same victims and the same nodes. */
#include "policy/cycle/cycle_steps.h"

#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/ledger/trail.h"
#include "policy/topology/assumed.h"
#include "policy/entries/entries.h"
#include "policy/entries/entry_places.h"
#include "policy/entries/nominate.h"
#include "policy/common/settings.h"
#include "policy/preemption/tentative.h"

bool sl_cycle_overlaps(uint32_t entry)
{
    bool found = false;
    /*@ loop assigns i, found; loop variant sl_entries[entry].victims.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].victims.count && !found; i++) {
        found = sl_tentative_is_gone(sl_entries_victim(entry, i));
    }
    return found;
}

/* --- does it fit? ---------------------------------------------------------------------------- */

/*@ requires trial: LedgerReady && UsageCountsValid && sl_trail_depth > 0;
    requires sound: EntriesSound && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns SL_TRIED; ensures trial: LedgerReady && PastKept{Pre, Post}; */
static bool free_victims(uint32_t entry)
{
    bool done = true;
    /*@
      loop invariant trial: LedgerReady && PastKept{Pre, Here};
      loop assigns i, done, SL_TRIED;
      loop variant sl_entries[entry].victims.count - i;
    */
    for (uint32_t i = 0; i < sl_entries[entry].victims.count && done; i++) {
        sl_workload_id id = sl_entries_victim(entry, i);
        done = sl_tentative_is_gone(id) || sl_tentative_free(id);
    }
    return done;
}

/*@ requires ledger: LedgerReady; requires sound: EntriesSound && entry < SL_ENTRIES_MAX;
    terminates \true; exits \false; assigns \nothing; */
static bool needs_available(uint32_t entry)
{
    bool fits = true;
    /*@ loop assigns i, fits; loop variant sl_entries[entry].needs.count - i; */
    for (uint32_t i = 0; i < sl_entries[entry].needs.count && fits; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        fits = need.amount <= sl_ledger_available(need.cell);
    }
    return fits;
}

/* With what was promised taken, and with all victims gone, its own too. */
/*@ requires ready: LedgerReady && UsageCountsValid && sl_trail_depth == 0;
    requires sound: EntriesSound && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns SL_TRIED, sl_trail_depth;
    ensures back: LedgerReady && UsageSame{Pre, Post} && sl_trail_depth == 0; */
static bool quota_fits(uint32_t entry)
{
    sl_qnode_id root = sl_entries[entry].root;
    uint32_t mark = sl_trail_begin();
    bool fits = sl_tentative_take_promised(root) && sl_tentative_free_gone(root) &&
                free_victims(entry) && needs_available(entry);
    sl_trail_rollback(mark);
    return fits;
}

/*@ requires ready: EntriesReady && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_TRIED, sl_trail_depth, SL_ASSUMED; ensures ready: EntriesReady; */
static enum sl_recheck still_fits(uint32_t entry)
{
    if (!quota_fits(entry)) {
        return SL_RECHECK_NO_QUOTA;
    }
    return sl_cycle_capacity_fits(entry) ? SL_RECHECK_FITS : SL_RECHECK_NO_CAPACITY;
}

/* --- once more ------------------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns sl_hidden; */
static void pass_over_gone(sl_qnode_id root)
{
    sl_workload_id id = sl_tentative_first_gone(root);
    /*@ loop assigns steps, id, sl_hidden; loop variant SL_WORKLOADS_MAX - steps; */
    for (uint32_t steps = 0; id != SL_NO_ID && steps < SL_WORKLOADS_MAX; steps++) {
        sl_preemption_pass_over(id);
        id = sl_tentative_next_gone(id);
    }
}

/* Whoever was served in this cycle stays in it: as in Kueue, what it uses counts, but it is no
 * candidate before the next one. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
static void pass_over_served(void)
{
    uint32_t count = sl_entries_count();
    /*@ loop invariant within: 0 <= i <= count; loop assigns i, sl_hidden; loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        if (!sl_entries[i].holds && sl_lifecycle_holds_quota(sl_entries[i].workload)) {
            sl_preemption_pass_over(sl_entries[i].workload);
        }
    }
}

/* In a trial: what was promised is taken; perhaps what others in the cycle evict is gone. */
/*@ requires trial: LedgerReady && UsageCountsValid && sl_trail_depth > 0;
    requires capacities: AssumedInRange && TopologyInv; terminates \true; exits \false;
    assigns sl_hidden, SL_TRIED, SL_ASSUMED;
    ensures trial: LedgerReady && PastKept{Pre, Post} && AssumedInRange; */
static bool try_decided(sl_qnode_id root, bool after_others)
{
    return sl_tentative_take_promised(root) &&
           (!after_others || (sl_tentative_free_gone(root) && sl_cycle_free_capacity()));
}

/* Nominate with what was promised taken and the flavors of the first nomination; perhaps as if what
 * others in the cycle evict were gone. */
enum anew { ANEW_UNTRIED, ANEW_WITHOUT_VICTIMS, ANEW_WITH_VICTIMS };
/*@ requires ready: EntriesReady && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_NOMINATED;
    ensures back: LedgerReady && UsageSame{Pre, Post} && sl_trail_depth == 0;
    ensures ready: HeightsInv && AssumedInRange && PlanBounded && AssignmentSound && VictimsSound; */
static enum anew nominate_anew(uint32_t entry, bool after_others)
{
    struct sl_entry e = sl_entries[entry];
    enum anew result = ANEW_UNTRIED;
    uint32_t mark = sl_trail_begin();
    uint32_t capacities = sl_assumed_mark();
    if (try_decided(e.root, after_others)) {
        bool victims = sl_nominate(e.workload, e.queue, sl_cycle_number, sl_cycle_now_ms);
        result = victims ? ANEW_WITH_VICTIMS : ANEW_WITHOUT_VICTIMS;
    }
    sl_trail_rollback(mark);
    sl_assumed_back(capacities);
    return result;
}

/* False = there is no room for the answer. */
/*@ requires ready: EntriesReady && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_NOMINATED, sl_entries[entry], sl_cycle_recomputed_victims;
    ensures ready: EntriesReady; */
static bool recompute(uint32_t entry, bool after_others)
{
    sl_flavors_forget(sl_entries[entry].workload);
    sl_flavors_pin();
    if (after_others) {
        sl_cycle_recomputed_victims++;
        pass_over_gone(sl_entries[entry].root);
    }
    pass_over_served();
    enum anew anew = nominate_anew(entry, after_others);
    sl_preemption_pass_over_none();
    sl_flavors_unpin();
    if (after_others && sl_assignment.mode == SL_MODE_FIT) {
        sl_assignment.mode = SL_MODE_DEFERRED;
    }
    sl_entries[entry].after_promises = true;
    sl_entries[entry].after_others = after_others;
    return anew != ANEW_UNTRIED && sl_entry_places_keep(entry) &&
           sl_entries_renew(entry, anew == ANEW_WITH_VICTIMS);
}

/*@ requires sound: EntriesSound && AssignmentSound && PlanBounded && entry < SL_ENTRIES_MAX;
    terminates \true; exits \false; assigns sl_assignment, sl_topology_plan;
    ensures sound: AssignmentSound && PlanBounded; */
static void recall(uint32_t entry)
{
    sl_entries_recall(entry);
    sl_entry_places_recall(entry);
}

/* Nothing depends on it where there is nothing to take. */
/*@ requires known: entry < SL_ENTRIES_MAX; terminates \true; exits \false; assigns \nothing; */
static bool can_misfit(uint32_t entry)
{
    return sl_entries[entry].mode == SL_MODE_FIT || sl_entries[entry].victims.count != 0 ||
           sl_topology_plan.set_count != 0;
}

enum sl_recheck sl_cycle_recheck(uint32_t entry)
{
    recall(entry);
    enum sl_recheck fits = can_misfit(entry) ? still_fits(entry) : SL_RECHECK_FITS;
    bool after_others = sl_settings.recompute_on_overlap && sl_cycle_overlaps(entry);
    if (after_others || (fits == SL_RECHECK_NO_CAPACITY && sl_settings.recompute_placement)) {
        bool had_place = !after_others && sl_entries[entry].mode == SL_MODE_FIT;
        if (!recompute(entry, after_others)) {
            return SL_RECHECK_FULL;
        }
        recall(entry);
        if (had_place && sl_entries[entry].mode != SL_MODE_FIT) {
            sl_cycle_note_outdone(sl_entries[entry].workload);
        }
        fits = can_misfit(entry) ? still_fits(entry) : SL_RECHECK_FITS;
    }
    return fits;
}
