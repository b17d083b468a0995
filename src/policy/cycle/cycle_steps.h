/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The steps of a cycle, for its own files: cycle.c takes the heads, nominates them and calls the
 * others. */
#ifndef SL_POLICY_CYCLE_STEPS_H
#define SL_POLICY_CYCLE_STEPS_H
#include "policy/cycle/cycle.h"

/* The running cycle. */
extern int64_t sl_cycle_now_ms;
extern uint64_t sl_cycle_number;

/* It is about to be nominated: note whether its scan of flavors goes on from an earlier cycle. */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_note_scan(sl_workload_id id);

/* Begin the outcome of this workload: pending, WAITING_FOR_QUOTA. */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_cycle_outcome, sl_cycle_evicted.count;
    ensures begun: sl_cycle_outcome.workload == id && sl_cycle_outcome.status == SL_OK &&
      sl_cycle_evicted.count == 0; */
void sl_cycle_begin_outcome(sl_workload_id id);
/* End it: note its reason in the record and put it back. */
/*@ requires ready: StepReady && sl_cycle_outcome.workload < SL_WORKLOADS_MAX; terminates \true;
    exits \false; assigns sl_hidden, sl_cycle_outcome, SL_TOLD;
    ensures ready: StepReady && sl_cycle_outcome.workload == \old(sl_cycle_outcome.workload); */
void sl_cycle_put_back(enum sl_back why);

/* --- cycle_variants.c: the workload of the outcome at hand is a variant of one of which another holds quota (the kernel's
 * variants.h). Does it wait for that, since it comes later? Then it is put back. */
/*@ requires ready: StepReady && sl_cycle_outcome.workload < SL_WORKLOADS_MAX; terminates \true;
    exits \false; assigns sl_hidden, sl_cycle_outcome, SL_TOLD;
    ensures ready: StepReady && sl_cycle_outcome.workload == \old(sl_cycle_outcome.workload); */
bool sl_cycle_variant_waits(void);
/* It fits, and sl_plan is filled. Does another hold quota, so that it moves, or may not? Then it is put back. */
/*@ requires ready: StepReady && ListsInv && PromisesValid && PromisesListed && ScratchZero &&
      EntriesInv && EntryKnown(entry) && AssignmentSound && sl_cycle_outcome.workload < SL_WORKLOADS_MAX;
    terminates \true; exits \false;
    assigns sl_hidden, sl_cycle_outcome, SL_TOLD, SL_HELD, SL_EVICTED;
    ensures ready: StepReady && ListsInv && PromisesValid && PromisesListed && ScratchZero &&
      EntriesInv && sl_cycle_outcome.workload < SL_WORKLOADS_MAX;
    ensures not: \result == 0 ==> sl_cycle_outcome.workload == \old(sl_cycle_outcome.workload); */
bool sl_cycle_variant_moves(uint32_t entry);
/* Those that are evicted just now are in the places that they ought to be. */
/*@ requires ready: StepReady && sl_cycle_evicted.count <= SL_VICTIMS_MAX; terminates \true;
    exits \false; assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1];
    ensures ready: StepReady; */
void sl_cycle_settle_evicted(void);

/* Is what the outcome at hand says of what is in the way something else than the one before said?
 * Finer than its reason: which flavors, and how much is missing. */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns sl_hidden; */
bool sl_cycle_tells_news(sl_workload_id id, enum sl_back why);

/* --- cycle_replace.c: slices that take the place of others. Would the entry still take the place
 * that it was nominated for? */
/*@ requires ready: UsageCountsValid && EntryKnown(entry); terminates \true; exits \false;
    assigns \nothing; */
bool sl_cycle_replaces_still(uint32_t entry);
/* Leave out of sl_topology_plan what that slice has: capacities that are kept for the entry, or made free for it, are those
 * beyond. */
/*@ requires ready: TopologyInv && PlanBounded && entry < SL_ENTRIES_MAX; terminates \true;
    exits \false; assigns sl_hidden, sl_topology_plan; ensures plan: PlanBounded; */
void sl_cycle_leave_out_held(uint32_t entry);
/* Commit sl_plan with sl_topology_plan, and finish the slice whose place it takes, where it takes
 * one; sl_cycle_outcome says which. Then the plan's amounts are those of sl_assignment as they are,
 * not what is needed beyond that slice. */
/*@ requires ready: StepReady && EntriesInv && EntryKnown(entry) && AssignmentSound;
    requires named: sl_plan.workload == sl_cycle_outcome.workload &&
      sl_plan.workload < SL_WORKLOADS_MAX;
    terminates \true; exits \false;
    assigns sl_hidden, sl_cycle_outcome, SL_TOLD, SL_SETTLED, SL_SERVED, SL_PASS_TIMERS;
    ensures ready: StepReady && EntriesInv;
    ensures same: sl_cycle_outcome.workload == \old(sl_cycle_outcome.workload); */
void sl_cycle_commit(uint32_t entry);

/* The entries in order; SL_NO_ID = no more. */
/*@ requires sound: EntriesSound; terminates \true; exits \false;
    assigns sl_hidden, sl_entries[0 .. SL_ENTRIES_MAX - 1]; ensures sound: EntriesSound; */
void sl_cycle_sort(void);
/*@ requires sound: EntriesSound; requires trial: TrialReady && sl_trail_depth < INT32_MAX;
    terminates \true; exits \false; assigns sl_hidden, SL_TRIED, sl_trail_depth;
    ensures trial: TrialReady && TakenBack{Pre, Post};
    ensures known: \result < SL_ENTRIES_MAX || \result == SL_NO_ID; */
uint32_t sl_cycle_next_entry(void);

/* Decide about one entry; its outcome is complete. */
/*@ requires ready: CycleReady && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_NOMINATED, SL_FAILED, SL_PASS_TIMERS, SL_TOLD, SL_SETTLED, SL_SERVED,
      SL_HELD, SL_EVICTED, sl_entries[entry], sl_cycle_outcome, sl_cycle_recomputed_victims,
      sl_cycle_skipped_preemptions;
    ensures ready: CycleReady; */
void sl_cycle_process(uint32_t entry);

/* --- cycle_choose.c: choose queues for the cycle, or all that have a head: how many, and which. */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden;
    ensures bound: \result <= SL_QNODES_MAX; */
uint32_t sl_cycle_choose(void);
/*@ terminates \true; exits \false; assigns sl_hidden; ensures bound: \result <= SL_QNODES_MAX; */
uint32_t sl_cycle_choose_all(void);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_cycle_chosen(uint32_t index);
/* Does the queue's head take part because others of its tree are tried? */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_cycle_is_along(sl_qnode_id queue);

/* --- cycle_recheck.c: does what the entry was nominated with still hold? It may be nominated
 * again. Afterwards sl_assignment and sl_topology_plan are those of the entry. FULL: the pools have
 * no room for a new nomination. */
enum sl_recheck { SL_RECHECK_FITS, SL_RECHECK_NO_QUOTA, SL_RECHECK_NO_CAPACITY, SL_RECHECK_FULL };
/*@ requires ready: EntriesReady && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_NOMINATED, sl_entries[entry], sl_cycle_recomputed_victims;
    ensures ready: EntriesReady; */
enum sl_recheck sl_cycle_recheck(uint32_t entry);
/* Are some of its victims those of others too? */
/*@ requires sound: EntriesSound && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns \nothing; */
bool sl_cycle_overlaps(uint32_t entry);

/* --- cycle_capacity.c: capacities of nodes, of sl_topology_plan as recalled for the entry. */
/* In a trial (assumed.h): all workloads evicted in this cycle are taken out. False = that cannot be
 * tried. */
/*@ requires capacities: AssumedInRange && TopologyInv; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures capacities: AssumedInRange; */
bool sl_cycle_free_capacity(void);
/* Would the assignment still fit, with all promises kept, and without all victims, its own
 * included? */
/*@ requires capacities: AssumedInRange && TopologyInv && PlanBounded;
    requires entry: EntriesSound && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures capacities: AssumedInRange; */
bool sl_cycle_capacity_fits(uint32_t entry);
/* Keep them for a workload that waits, until the cycle ends. False = there is no memory for the
 * promise, and others may be admitted first. */
/*@ requires capacities: TopologyInv && PromisesListed; terminates \true; exits \false;
    assigns sl_hidden, SL_NEEDS, SL_CAPACITY_PROMISED; ensures capacities: TopologyInv && PromisesListed; */
bool sl_cycle_promise_capacity(void);
/* This one is evicted; call it before tentative.h's counterpart. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_evict_capacity(sl_workload_id id);
/*@ requires capacities: AssumedInRange && TopologyInv && PromisesListed; terminates \true;
    exits \false; assigns sl_hidden, SL_ASSUMED, SL_CAPACITY_PROMISED;
    ensures capacities: AssumedInRange && TopologyInv && PromisesListed; */
void sl_cycle_clear_capacity(void);
/* The entry was dealt with: if it is held and capacities were promised to it, it counts on them. */
/*@ requires plan: PlanBounded && entry < SL_ENTRIES_MAX; terminates \true; exits \false;
    assigns sl_hidden; */
void sl_cycle_settle_waiter(uint32_t entry);
/* For workloads that counted on capacity and do so no more: others that wait for it are woken. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_check_waiters(void);
/*@ terminates \true; exits \false; assigns \nothing; ensures bound: \result <= SL_QNODES_MAX; */
uint32_t sl_cycle_waiter_count(void);
/*@ terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_cycle_waiter_at(uint32_t index); /* its queue */
/* The capacities of sl_topology_plan were taken; or they were kept for this cycle only. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_note_taken(void);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_note_given_up(void);
/* Begin an entry. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_begin_capacity(void);
/* It had a place, and has none as long as others in the cycle count on it: it is owed another try.
 * Late: it is held for that, and its tree is roused at the end when capacities have moved. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_note_outdone(sl_workload_id id);
/*@ requires known: entry < SL_ENTRIES_MAX; terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_note_late(uint32_t entry);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_rouse_late(void);

/* --- cycle_pass.c: second passes. True when that was the end of it for this cycle. */
/*@ requires ready: EntriesReady && EntriesInv && id < SL_WORKLOADS_MAX; terminates \true;
    exits \false;
    assigns sl_hidden, SL_PLACED, SL_FAILED, SL_PASS_TIMERS, sl_assignment, sl_placement_question,
      sl_entries[0 .. SL_ENTRIES_MAX - 1], sl_cycle_outcome, sl_cycle_evicted.count,
      sl_places[0 .. SL_WORKLOADS_MAX - 1];
    ensures ready: EntriesReady && EntriesInv; */
bool sl_cycle_nominate_pass(sl_workload_id id);
/*@ requires ready: EntriesReady && EntriesInv;
    requires known: entry < SL_ENTRIES_MAX && sl_entries[entry].workload < SL_WORKLOADS_MAX;
    terminates \true; exits \false;
    assigns sl_hidden, SL_PLACED, SL_FAILED, SL_PASS_TIMERS, SL_ASSUMED, SL_TOLD, SL_SETTLED,
      sl_assignment, sl_placement_question, sl_cycle_outcome, sl_cycle_evicted.count;
    ensures ready: EntriesReady && EntriesInv; */
void sl_cycle_process_pass(uint32_t entry);
/* The cycle ends, and with it what is kept of the sites that its passes left: workloads that wait
 * for capacity on their trees are woken. */
/*@ requires entries: EntriesInv && RecordsValid; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS; ensures entries: EntriesInv; */
void sl_cycle_tell_left(void);

/* --- cycle_promises.c: until the cycle ends no other workload gets what the entry needs; or, where
 * the entry cannot preempt, what is free of that and cannot be reclaimed later. */
/*@ requires ready: PromisesReady && EntryKnown(entry); terminates \true; exits \false;
    assigns sl_hidden, SL_HELD; ensures ready: PromisesReady; */
void sl_cycle_promise_needs(uint32_t entry);
/*@ requires ready: PromisesReady && LimitsInRange && UsageInRange && EntryKnown(entry);
    terminates \true; exits \false; assigns sl_hidden, SL_HELD; ensures ready: PromisesReady; */
void sl_cycle_reserve(uint32_t entry);
/* Its victims were evicted, and the kernel has promised the quota itself: all the rest. */
/*@ requires ready: PromisesReady && EntryKnown(entry); terminates \true; exits \false;
    assigns sl_hidden, SL_HELD; ensures ready: PromisesReady; */
void sl_cycle_promise_rest(uint32_t entry);

/* --- cycle_progress.c: a workload in this tree was admitted or evicted, or gave up what it had
 * reserved for the cycle: workloads that were held back there are tried again when the cycle
 * ends. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_progress(sl_qnode_id root);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_give_up(sl_qnode_id root);
/* The cycle ends: they are roused. */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_cycle_rouse(void);
#endif
