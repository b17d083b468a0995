/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Second passes (Kueue's second_pass_queue.go). Flavors, counts and quota are as they were granted, and no workload is
 * preempted for them; they come before all others. One whose nodes have failed keeps its pods on other nodes. */
#include "policy/cycle/cycle_steps.h"

#include "policy/topology/assumed.h"
#include "policy/requests/requests.h"
#include "policy/entries/entries.h"
#include "policy/entries/entry_places.h"
#include "policy/queues/holders.h"
#include "policy/placement/joined_plans.h"
#include "policy/queues/objections.h"
#include "policy/common/settings.h"
#include "policy/queues/turns.h"

/* Trees on which a pass of this cycle left failed sites. */
static sl_tree_id left[SL_USED_FLAVORS_MAX];
static uint32_t left_count;
static bool is_left[SL_USED_FLAVORS_MAX];

/* clang-format off */
#define LEFT left[0 .. SL_USED_FLAVORS_MAX - 1], left_count, is_left[0 .. SL_USED_FLAVORS_MAX - 1]
/* clang-format on */

/*@
  // The list names trees.
  predicate LeftListed{L} = left_count <= SL_USED_FLAVORS_MAX &&
    \forall integer i; 0 <= i < SL_USED_FLAVORS_MAX ==> left[i] < SL_USED_FLAVORS_MAX;
*/

/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing; */
static bool lost_nodes(sl_workload_id id)
{
    return sl_workloads[id].phase == SL_PHASE_ADMITTED && sl_workloads[id].unhealthy_count != 0;
}

/* --- the question ---------------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns sl_assignment, sl_topology_plan;
    ensures sound: AssignmentSound && PlanBounded; */
static void begin_assignment(sl_workload_id id, sl_qnode_id queue)
{
    sl_assignment.workload = id;
    sl_assignment.cluster_queue = queue;
    sl_assignment.replaces = SL_NO_ID;
    sl_assignment.mode = SL_MODE_NO_FIT;
    sl_assignment.reason = SL_PENDING_TOPOLOGY_FAILED;
    sl_assignment.borrow_height = 0;
    sl_assignment.pod_set_count = 0;
    sl_assignment.choice_count = sl_assignment.need_count = 0;
    sl_assignment.detail_count = 0;
    sl_assignment.details_left_out = 0;
    sl_assignment.attempt_count = 0;
    sl_assignment.topology_failure.miss = SL_PLACEMENT_OK;
    sl_topology_plan.workload = id;
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
}

/*@ requires sound: AssignmentSound && i < SL_POD_SETS_MAX; terminates \true; exits \false;
    assigns sl_assignment; ensures sound: AssignmentSound; */
static void describe_pod_set(sl_workload_id id, uint32_t i, uint32_t record)
{
    sl_tree_id tree = sl_passes_tree(id, i);
    sl_assignment.counts[i] =
        tree != SL_NO_ID ? sl_passes_pods(id, i) : sl_requests_pod_count(record);
    sl_assignment.examined[i] = true;
    sl_assignment.modes[i] = SL_MODE_FIT;
    sl_assignment.tree[i] = tree;
    sl_assignment.delayed[i] = false;
}

/*@ requires blocks: BlocksSound; terminates \true; exits \false; assigns \nothing; */
static bool assignments(sl_workload_id id, uint32_t pod_set)
{
    bool found = false;
    uint32_t count = sl_topology_assignment_count(id);
    /*@ loop assigns i, found; loop variant count - i; */
    for (uint32_t i = 0; i < count && !found; i++) {
        found = sl_topology_assignment_at(id, i).pod_set == pod_set;
    }
    return found;
}

/* Which of its sites have failed: for placement, and for the kernel. */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns SL_FAILED;
    ensures within: sl_placement_failed_count <= SL_UNHEALTHY_MAX; */
static void name_failed(sl_workload_id id)
{
    uint32_t count = lost_nodes(id) ? sl_workloads[id].unhealthy_count : 0;
    sl_placement_failed_count = 0;
    /*@ loop invariant within: sl_placement_failed_count == i <= SL_UNHEALTHY_MAX;
        loop assigns i, SL_FAILED; loop variant SL_UNHEALTHY_MAX - i; */
    for (uint32_t i = 0; i < count && i < SL_UNHEALTHY_MAX; i++) {
        sl_placement_failed[i] = sl_workloads[id].unhealthy[i];
        sl_placement_failed_count++;
    }
}

/* For the pod sets that stand somewhere, whose pods stay where they can, or for those that do not. */
/*@ requires blocks: BlocksSound && AssignmentSound; terminates \true; exits \false;
    assigns sl_assignment, sl_placement_question; ensures sound: AssignmentSound; */
static void ask(sl_workload_id id, bool standing)
{
    uint32_t i = 0;
    uint32_t asked = 0;
    uint32_t record = sl_requests_first_pod_set(id);
    sl_placement_question.workload = id;
    sl_placement_question.empty = false;
    sl_placement_question.replaces = standing;
    sl_placement_question.keeps = false; /* of slices, the old one has ended */
    /*@ loop invariant sound: AssignmentSound && asked <= i <= SL_POD_SETS_MAX;
        loop assigns i, asked, record, sl_assignment,
          sl_placement_question.sets[0 .. SL_TOPOLOGY_SETS_MAX - 1];
        loop variant SL_POD_SETS_MAX - i; */
    while (record != SL_NO_ID && i < SL_POD_SETS_MAX) {
        describe_pod_set(id, i, record);
        if (sl_assignment.tree[i] != SL_NO_ID && sl_assignment.counts[i] != 0 &&
            assignments(id, i) == standing) {
            bool implied = !sl_topology_request_of(record).asked;
            sl_placement_question.sets[asked] = (struct sl_placement_set){
                i, record, sl_assignment.counts[i], sl_assignment.tree[i], implied};
            asked++;
        }
        record = sl_requests_next_pod_set(record);
        i++;
    }
    sl_placement_question.set_count = asked;
    sl_assignment.pod_set_count = i;
}

/* Its pod cannot be moved, and it does not outlive it. */
/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false; assigns \nothing; */
static bool stays(sl_workload_id id)
{
    return sl_settings.skip_single_pod && lost_nodes(id) && sl_requests_is_single_pod(id);
}

/* --- the answer ------------------------------------------------------------------------------ */

/*@ requires ready: PlaceReady && AssignmentSound; terminates \true; exits \false;
    assigns sl_hidden, SL_PLACED, sl_assignment, sl_placement_question;
    ensures sound: AssignmentSound && PlanBounded; */
static bool answer(sl_workload_id id, bool standing)
{
    ask(id, standing);
    if (sl_placement_question.set_count == 0) {
        sl_placement_failure = (struct sl_placement_failure){
            .miss = SL_PLACEMENT_NO_TREE, .tree = SL_NO_ID, .domain = SL_NO_ID};
        return false;
    }
    return sl_placement_find();
}

/* What was delayed, beside what stands already and stays where it is. */
/*@ requires ready: PlaceReady && AssignmentSound; terminates \true; exits \false;
    assigns sl_hidden, SL_PLACED, sl_assignment, sl_placement_question;
    ensures sound: AssignmentSound && PlanBounded; */
static bool answer_delayed(sl_workload_id id)
{
    if (!answer(id, false)) {
        return false;
    }
    if (sl_topology_assignment_count(id) == 0) {
        return true;
    }
    sl_joined_plans_hold();
    return answer(id, true) && sl_joined_plans_join();
}

/* It is in sl_assignment (mode FIT or NO_FIT) and sl_topology_plan. */
/*@ requires ready: PlaceReady && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_PLACED, SL_FAILED, sl_assignment, sl_placement_question;
    ensures sound: AssignmentSound && PlanBounded; */
static void find(sl_workload_id id, sl_qnode_id queue)
{
    begin_assignment(id, queue);
    name_failed(id);
    if (stays(id)) {
        ask(id, true); /* for what sl_assignment says */
        sl_assignment.mode = SL_MODE_FIT;
    } else if (lost_nodes(id) ? answer(id, true) : answer_delayed(id)) {
        sl_assignment.mode = SL_MODE_FIT;
    } else {
        sl_assignment.topology_failure = sl_placement_failure;
        sl_topology_plan.set_count = 0;
        sl_topology_plan.row_count = 0;
    }
}

/* --- nomination ------------------------------------------------------------------------------ */

/*@ requires known: id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_cycle_outcome, sl_cycle_evicted.count;
    ensures begun: sl_cycle_outcome.status == SL_OK; */
static void begin_outcome(sl_workload_id id, sl_qnode_id queue)
{
    sl_cycle_begin_outcome(id);
    sl_cycle_outcome.cluster_queue = queue;
    sl_cycle_outcome.result = SL_CYCLE_UNPLACED;
    sl_cycle_outcome.reason = SL_PENDING_TOPOLOGY_FAILED;
}

/*@ requires ready: StepReady; terminates \true; exits \false;
    assigns sl_hidden, sl_cycle_outcome, sl_places[0 .. SL_WORKLOADS_MAX - 1];
    ensures ready: StepReady; */
static void end_outcome(sl_workload_id id, enum sl_cycle_result result)
{
    sl_cycle_outcome.result = result;
    sl_queues_settle(id, sl_cycle_now_ms);
    sl_cycle_outcome.place = sl_place_of(id);
}

/*@ requires ready: StepReady && EntriesInv; terminates \true; exits \false;
    assigns sl_hidden, sl_cycle_outcome, sl_places[0 .. SL_WORKLOADS_MAX - 1], SL_PASS_TIMERS;
    ensures ready: StepReady && EntriesInv; */
static void miss(sl_workload_id id)
{
    sl_passes_miss(id, sl_cycle_now_ms);
    end_outcome(id, SL_CYCLE_UNPLACED);
}

/*@ requires sound: EntriesSound && AssignmentSound && VictimsSound && PlanBounded && QnodesLinked;
    terminates \true; exits \false; assigns sl_hidden, sl_entries[0 .. SL_ENTRIES_MAX - 1];
    ensures sound: EntriesSound; */
static bool add_entry(sl_qnode_id queue)
{
    uint32_t entry = sl_entry_places_keep(sl_entries_count()) ? sl_entries_add(false) : SL_NO_ID;
    if (entry == SL_NO_ID) {
        return false;
    }
    sl_qnode_id root = sl_ledger_root_qnode(queue);
    sl_entries[entry].root = root != SL_NO_ID ? root : queue;
    sl_entries[entry].holds = true;
    return true;
}

/* Nothing is looked for when its queue is missing or does not run, or a check is against it. */
bool sl_cycle_nominate_pass(sl_workload_id id)
{
    sl_qnode_id queue = sl_holders_queue_of(id);
    if (queue != SL_NO_ID && sl_turns_is_active(queue) && !sl_objections_any(id)) {
        find(id, queue);
        if (add_entry(queue)) {
            return false;
        }
    } else {
        begin_assignment(id, queue);
    }
    begin_outcome(id, queue);
    miss(id);
    return true;
}

/* --- processing ------------------------------------------------------------------------------ */

/*@ requires ready: StepReady && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns SL_TOLD, sl_cycle_outcome; ensures ready: StepReady; */
static void tell_record(enum sl_event_kind kind, sl_workload_id id, uint32_t index)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, index, 0, 0, sl_cycle_now_ms};
    sl_cycle_outcome.did = sl_transition_event(ev);
    sl_cycle_outcome.status = sl_cycle_outcome.did.status;
}

/* What it gives up on sites that have failed is not given to others in this cycle, as in Kueue: it
 * is as if taken, apart from what the workload has booked there again. */
/*@ requires ready: TopologyInv && AssumedInRange && id < SL_WORKLOADS_MAX;
    requires failed: sl_placement_failed_count <= SL_UNHEALTHY_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures ready: AssumedInRange; */
static bool keep_failed_capacity(sl_workload_id id, bool again)
{
    bool done = true;
    uint32_t count = sl_booking_count(id);
    /*@ loop invariant range: AssumedInRange; loop assigns i, done, sl_hidden, SL_ASSUMED;
        loop variant count - i; */
    for (uint32_t i = 0; i < count && done; i++) {
        struct sl_booking booking = sl_booking_at(id, i);
        /*@ loop invariant range: AssumedInRange; loop assigns k, done, sl_hidden, SL_ASSUMED;
            loop variant sl_placement_failed_count - k; */
        for (uint32_t k = 0; k < sl_placement_failed_count && done; k++) {
            done = booking.site != sl_placement_failed[k] ||
                   sl_assumed_add(booking.site, booking.measure,
                                  again ? -booking.amount : booking.amount);
        }
    }
    return done;
}

/*@ requires ready: StepReady && AssumedInRange && id < SL_WORKLOADS_MAX; terminates \true;
    exits \false; assigns sl_hidden, SL_FAILED, SL_ASSUMED, SL_TOLD, SL_SETTLED,
      sl_topology_plan.workload, sl_cycle_outcome;
    ensures ready: StepReady && AssumedInRange; */
static void commit(sl_workload_id id)
{
    if (sl_assignment.mode != SL_MODE_FIT) {
        return;
    }
    if (stays(id)) {
        tell_record(SL_EV_SECOND_PASS_FIT, id, 0);
        return;
    }
    name_failed(id);
    sl_topology_plan.workload = id;
    uint32_t mark = sl_assumed_mark();
    sl_cycle_outcome.status = SL_FULL_BOOKINGS;
    if (keep_failed_capacity(id, false)) {
        sl_cycle_outcome.did =
            sl_transition_second_pass(sl_workloads[id].generation, sl_cycle_now_ms);
        sl_cycle_outcome.status = sl_cycle_outcome.did.status;
    }
    if (sl_cycle_outcome.status != SL_OK) {
        sl_assumed_back(mark);
    } else {
        (void)keep_failed_capacity(id, true);
    }
}

/* Where others of this cycle took the capacities, look again. */
/*@ requires ready: StepReady && AssumedInRange && PlanBounded && AssignmentSound &&
      id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns sl_hidden, SL_FAILED, SL_ASSUMED, SL_TOLD, SL_SETTLED, SL_PLACED, sl_assignment,
      sl_placement_question, sl_cycle_outcome;
    ensures ready: StepReady && AssumedInRange && PlanBounded && AssignmentSound; */
static void try_commit(sl_workload_id id, sl_qnode_id queue)
{
    commit(id);
    if (sl_cycle_outcome.status == SL_REFUSED_CAPACITY && sl_settings.recompute_placement) {
        find(id, queue);
        commit(id);
    }
}

/* What it left is free for others when the cycle is over: they hear of it then. */
/*@ requires left: LeftListed; terminates \true; exits \false; assigns LEFT;
    ensures left: LeftListed; */
static void note_left(sl_workload_id id)
{
    /*@ loop invariant left: LeftListed; loop assigns i, LEFT;
        loop variant SL_POD_SETS_MAX - i; */
    for (uint32_t i = 0; sl_placement_failed_count != 0 && i < SL_POD_SETS_MAX; i++) {
        sl_tree_id tree = sl_passes_tree(id, i);
        if (tree < SL_USED_FLAVORS_MAX && !is_left[tree] && left_count < SL_USED_FLAVORS_MAX) {
            is_left[tree] = true;
            left[left_count] = tree;
            left_count++;
        }
    }
}

/*@ requires left: LeftListed; requires entries: EntriesInv && RecordsValid; terminates \true;
    exits \false; assigns sl_hidden, SL_PASS_TIMERS, LEFT; ensures left: LeftListed && EntriesInv; */
void sl_cycle_tell_left(void)
{
    /*@ loop invariant left: LeftListed && EntriesInv;
        loop assigns left_count, sl_hidden, SL_PASS_TIMERS, LEFT; loop variant left_count; */
    while (left_count != 0) {
        left_count--;
        is_left[left[left_count]] = false;
        sl_queues_note_capacity(left[left_count], true);
        sl_passes_note_capacity(left[left_count], sl_cycle_now_ms);
    }
}

/*@ requires ready: StepReady && EntriesInv && id < SL_WORKLOADS_MAX; terminates \true;
    exits \false; assigns sl_hidden, sl_cycle_outcome, SL_TOLD, SL_PASS_TIMERS;
    ensures ready: StepReady && EntriesInv; */
static void evict(sl_workload_id id)
{
    tell_record(SL_EV_SECOND_PASS_MISS, id, 1);
    if (sl_cycle_outcome.status != SL_OK) {
        miss(id);
        return;
    }
    sl_passes_settle(id, sl_cycle_now_ms);
    end_outcome(id, SL_CYCLE_EVICTED);
}

/*@ requires left: LeftListed; terminates \true; exits \false; assigns LEFT;
    ensures left: LeftListed; */
void sl_cycle_process_pass(uint32_t entry)
{
    sl_workload_id id = sl_entries[entry].workload;
    begin_outcome(id, sl_entries[entry].queue);
    sl_entries_recall(entry);
    sl_entry_places_recall(entry);
    try_commit(id, sl_entries[entry].queue);
    if (sl_assignment.mode == SL_MODE_FIT && sl_cycle_outcome.status == SL_OK) {
        sl_passes_settle(id, sl_cycle_now_ms);
        sl_cycle_note_taken();
        note_left(id);
        end_outcome(id, SL_CYCLE_PLACED);
    } else if (sl_assignment.mode != SL_MODE_FIT && sl_settings.fail_fast && lost_nodes(id)) {
        evict(id);
    } else {
        miss(id);
    }
}
