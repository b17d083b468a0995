/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The cycle. All heads are nominated while the ledger is as the cycle found it, and then dealt
 * with one by one. Between nomination and commit only reservations happen, so a plan can fail only
 * because others were served first. */
#include "policy/cycle/cycle.h"

#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/cycle/cycle_steps.h"
#include "policy/entries/entries.h"
#include "policy/entries/entry_places.h"
#include "policy/queues/heads.h"
#include "policy/entries/nominate.h"
#include "policy/queues/objections.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/passes.h"
#include "policy/common/settings.h"
#include "policy/preemption/tentative.h"
#include "policy/queues/turns.h"

static sl_workload_id heads[SL_QNODES_MAX];
static uint32_t head_count;
static uint32_t head_next;
static uint32_t pass_count; /* second passes that were taken */
static uint32_t pass_next;
static bool sorted;

/* clang-format off */
#define HEADS heads[0 .. SL_QNODES_MAX - 1], head_count
#define PLACES sl_places[0 .. SL_WORKLOADS_MAX - 1]
/* clang-format on */

/*@
  // The list is within its array, and of what there is.
  predicate HeadsListed{L} = head_count <= SL_QNODES_MAX &&
    \forall integer i; 0 <= i < SL_QNODES_MAX ==> heads[i] < SL_WORKLOADS_MAX;
*/

/* --- heads ----------------------------------------------------------------------------------- */

/*@ requires listed: HeadsListed && head_count == 0 && count <= SL_QNODES_MAX;
    requires ready: QnodesLinked && PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, PLACES, HEADS; ensures listed: HeadsListed && PlacesAgree; */
static void take_chosen(uint32_t count)
{
    /*@ loop invariant listed: HeadsListed && head_count <= i <= SL_QNODES_MAX && PlacesAgree;
        loop assigns i, sl_hidden, PLACES, HEADS;
        loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        sl_workload_id head = sl_queues_take(sl_cycle_chosen(i));
        if (head != SL_NO_ID) {
            heads[head_count] = head;
            head_count++;
        }
    }
}

/*@ requires ready: CycleReady && HeadsListed; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS, SL_ASSUMED, sl_promises, SL_CAPACITY_PROMISED, PLACES,
      sl_cycle_skipped_preemptions, sl_cycle_recomputed_victims, sl_cycle_now_ms, sl_cycle_number,
      pass_count, pass_next, HEADS, head_next, sorted;
    ensures ready: CycleReady && HeadsListed && head_count == 0; */
static void prepare(int64_t now_ms)
{
    (void)sl_cycle_end(); /* a cycle that was left early is put back first */
    sl_cycle_now_ms = now_ms;
    sl_cycle_number++;
    sl_cycle_skipped_preemptions = 0;
    sl_cycle_recomputed_victims = 0;
    sl_flavors_set_cycle(sl_cycle_number);
    sl_cycle_check_waiters();
    sl_queues_flush();
    pass_count = sl_passes_take(now_ms);
}

/*@ requires listed: HeadsListed; terminates \true; exits \false;
    assigns sl_cycle_now_ms, sl_cycle_number, pass_count, pass_next, HEADS, head_next, sorted;
    ensures listed: HeadsListed; */
uint32_t sl_cycle_begin(int64_t now_ms)
{
    prepare(now_ms);
    if (sl_turns_first_ready() == SL_NO_ID && pass_count == 0) {
        sl_queues_pay();
    }
    take_chosen(sl_cycle_choose());
    return pass_count + head_count;
}

/*@ requires listed: HeadsListed; terminates \true; exits \false;
    assigns sl_cycle_now_ms, sl_cycle_number, pass_count, pass_next, HEADS, head_next, sorted;
    ensures listed: HeadsListed; */
uint32_t sl_cycle_begin_all(int64_t now_ms)
{
    prepare(now_ms);
    take_chosen(sl_cycle_choose_all());
    return pass_count + head_count;
}

/* --- nomination ------------------------------------------------------------------------------ */

/*@ requires sound: EntriesSound && AssignmentSound && VictimsSound && PlanBounded && QnodesLinked &&
      PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, PLACES, sl_entries[0 .. SL_ENTRIES_MAX - 1];
    ensures sound: EntriesSound && PlacesAgree; */
static void add_entry(sl_workload_id id, sl_qnode_id queue, bool victims)
{
    uint32_t entry = sl_entry_places_keep(sl_entries_count()) ? sl_entries_add(victims) : SL_NO_ID;
    if (entry == SL_NO_ID) {
        sl_queues_put_back(id, SL_PUT_HEAP); /* no room in this cycle */
        return;
    }
    sl_qnode_id root = sl_ledger_root_qnode(queue);
    sl_entries[entry].root = root != SL_NO_ID ? root : queue;
    sl_entries[entry].goes_first = sl_heads_goes_first(queue, id);
}

/*@ requires ready: StepReady && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, sl_assignment, sl_cycle_outcome, sl_cycle_evicted.count, SL_TOLD;
    ensures ready: StepReady && AssignmentSound; */
static void turn_away(sl_workload_id id, enum sl_pending_reason reason, enum sl_back why)
{
    sl_cycle_begin_outcome(id);
    sl_assignment = (struct sl_assignment){
        .workload = id, .cluster_queue = sl_queues_queue_of(id), .replaces = SL_NO_ID};
    sl_cycle_outcome.reason = reason;
    sl_cycle_outcome.outsider = why == SL_BACK_OUTSIDER;
    sl_cycle_put_back(why);
}

/* Nothing it asks for is there, or too much of it: nobody has to know in this cycle. */
/*@ requires ready: StepReady && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, sl_cycle_outcome, sl_cycle_evicted.count, SL_TOLD;
    ensures ready: StepReady; */
static void send_back(sl_workload_id id, bool too_many)
{
    sl_cycle_begin_outcome(id);
    sl_cycle_outcome.status = too_many ? SL_FULL_USAGE : SL_OK;
    sl_cycle_outcome.reason = sl_assignment.reason;
    if (sl_assignment.topology_failure.miss != SL_PLACEMENT_OK) {
        sl_queues_note_roomless(sl_assignment.topology_failure.tree);
    }
    sl_cycle_put_back(SL_BACK_NO_FIT);
}

/*@ requires ready: CycleReady && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_NOMINATED; ensures ready: CycleReady; */
static bool find_place(sl_workload_id id, sl_qnode_id queue)
{
    sl_cycle_note_scan(id);
    return sl_nominate(id, queue, sl_cycle_number, sl_cycle_now_ms);
}

/* True when that was the end of it for this cycle. Under fair sharing even one that finds no place
 * competes with the others, and so delays those that it beats. */
/*@ requires ready: CycleReady && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_NOMINATED, sl_cycle_outcome, sl_cycle_evicted.count, SL_TOLD,
      sl_entries[0 .. SL_ENTRIES_MAX - 1];
    ensures ready: CycleReady; */
static bool nominate(sl_workload_id id)
{
    sl_qnode_id queue = sl_queues_queue_of(id);
    if (sl_objections_any(id)) {
        sl_objections_note(id);
        turn_away(id, SL_PENDING_EVALUATION, SL_BACK_INVALID);
        return true;
    }
    if (sl_outsiders_is(id)) {
        sl_outsiders_turn_away(id);
        turn_away(id, SL_PENDING_MISCONFIGURED, SL_BACK_OUTSIDER);
        return true;
    }
    bool victims = find_place(id, queue);
    bool too_many = sl_assignment.need_count > SL_USAGE_CELLS_MAX;
    if (sl_assignment.mode == SL_MODE_NO_FIT && (too_many || !sl_settings.fair_sharing)) {
        send_back(id, too_many);
        return true;
    }
    add_entry(id, queue, victims);
    return false;
}

/* The next second pass that comes to nothing; false = none (any more). */
/*@ requires ready: CycleReady; terminates \true; exits \false;
    assigns sl_hidden, SL_PLACED, SL_FAILED, SL_PASS_TIMERS, sl_assignment, sl_placement_question,
      sl_entries[0 .. SL_ENTRIES_MAX - 1], sl_cycle_outcome, sl_cycle_evicted.count, PLACES,
      pass_next;
    ensures ready: CycleReady; */
static bool nominate_passes(void)
{
    bool ended = false;
    /*@ loop invariant ready: CycleReady;
        loop assigns ended, sl_hidden, SL_PLACED, SL_FAILED, SL_PASS_TIMERS, sl_assignment,
          sl_placement_question, sl_entries[0 .. SL_ENTRIES_MAX - 1], sl_cycle_outcome,
          sl_cycle_evicted.count, PLACES, pass_next;
        loop variant pass_count - pass_next; */
    while (pass_next < pass_count && !ended) {
        sl_workload_id id = sl_passes_taken(pass_next);
        pass_next++;
        ended = id != SL_NO_ID && sl_cycle_nominate_pass(id);
    }
    return ended;
}

/* The next head for which that was the end of it; false = none (any more). */
/*@ requires ready: CycleReady && HeadsListed; terminates \true; exits \false;
    assigns sl_hidden, SL_NOMINATED, sl_cycle_outcome, sl_cycle_evicted.count, SL_TOLD,
      sl_entries[0 .. SL_ENTRIES_MAX - 1], head_next;
    ensures ready: CycleReady; */
static bool nominate_heads(void)
{
    bool ended = false;
    /*@ loop invariant ready: CycleReady;
        loop assigns ended, sl_hidden, SL_NOMINATED, sl_cycle_outcome, sl_cycle_evicted.count,
          SL_TOLD, sl_entries[0 .. SL_ENTRIES_MAX - 1], head_next;
        loop variant head_count - head_next; */
    while (head_next < head_count && !ended) {
        sl_workload_id id = heads[head_next];
        head_next++;
        ended = nominate(id);
    }
    return ended;
}

/* All are nominated: the entry whose turn it is; SL_NO_ID = no more. */
/*@ requires ready: CycleReady; terminates \true; exits \false;
    assigns sl_hidden, SL_TRIED, sl_trail_depth, sl_entries[0 .. SL_ENTRIES_MAX - 1], sorted;
    ensures ready: CycleReady;
    ensures known: \result < SL_ENTRIES_MAX || \result == SL_NO_ID; */
static uint32_t next_entry(void)
{
    if (!sorted) {
        sl_cycle_sort();
        sorted = true;
    }
    return sl_cycle_next_entry();
}

/*@ requires listed: HeadsListed; terminates \true; exits \false;
    assigns pass_next, head_next, sorted; */
bool sl_cycle_next(void)
{
    if (nominate_passes() || nominate_heads()) {
        return true;
    }
    uint32_t entry = next_entry();
    if (entry == SL_NO_ID) {
        return false;
    }
    sl_cycle_process(entry);
    return true;
}

/* --- the end --------------------------------------------------------------------------------- */

/* Whoever is in flight still goes back; second passes that nobody dealt with are armed again. */
/*@ requires ready: StepReady && EntriesInv && HeadsListed; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS, PLACES; ensures ready: StepReady && EntriesInv; */
static void give_back(void)
{
    /*@ loop invariant ready: PlacesAgree; loop assigns i, sl_hidden, PLACES;
        loop variant head_count - i; */
    for (uint32_t i = 0; i < head_count; i++) {
        sl_queues_put_back(heads[i], SL_PUT_HEAP);
    }
    sl_cycle_rouse_late();
    sl_cycle_rouse();
    /*@ loop invariant entries: EntriesInv; loop assigns i, sl_hidden, SL_PASS_TIMERS;
        loop variant pass_count - i; */
    for (uint32_t i = 0; i < pass_count; i++) {
        sl_passes_settle(sl_passes_taken(i), sl_cycle_now_ms);
    }
    sl_cycle_tell_left();
}

/*@ requires listed: HeadsListed; terminates \true; exits \false;
    assigns pass_count, pass_next, head_count, head_next, sorted;
    ensures none: HeadsListed && head_count == 0; */
bool sl_cycle_end(void)
{
    give_back();
    sl_entries_clear();
    sl_entry_places_clear();
    sl_tentative_clear();
    sl_cycle_clear_capacity();
    pass_count = 0;
    pass_next = 0;
    head_count = 0;
    head_next = 0;
    sorted = false;
    return sl_queues_ready();
}
