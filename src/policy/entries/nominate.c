/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "policy/entries/nominate.h"

#include "policy/topology/assumed.h"
#include "policy/flavors/flavors.h"
#include "policy/placement/placement.h"
#include "policy/preemption/preemption.h"
#include "policy/queues/queues.h"
#include "policy/flavors/reducer.h"
#include "policy/common/settings.h"

/* clang-format off */
#define ASSIGNED                                                                                   \
    sl_hidden, SL_SEARCHED, sl_assignment, sl_placement_question,                                  \
        sl_flavors_counts[0 .. SL_POD_SETS_MAX - 1]
/* clang-format on */

/*@
  // What stands in sl_assignment is within its arrays.
  predicate AnswerSound{L} = AssignmentSound && ChoicesSound && NeedsSound;
*/

/* Before flavors are tried, so that answered() is about this workload as things are now. */
/*@ terminates \true; exits \false; assigns sl_preemption_question.preemptor; */
static void forget_question(void)
{
    sl_preemption_question.preemptor = SL_NO_ID;
}

/* Is what is needed just what the last flavor was tried with? Then its victims are known. */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool answered(void)
{
    struct sl_need asked = sl_preemption_question.needs[0];
    struct sl_need need = sl_assignment.needs[0];
    return sl_preemption_question.preemptor == sl_assignment.workload &&
           sl_preemption_question.cluster_queue == sl_assignment.cluster_queue &&
           sl_preemption_question.need_count == 1 && sl_assignment.need_count == 1 &&
           asked.cell == need.cell && asked.amount == need.amount &&
           asked.contested == need.contested && !sl_preemption_question.places &&
           sl_placement_question.set_count == 0;
}

/*@ requires ready: SearchReady && AnswerSound; terminates \true; exits \false;
    assigns sl_hidden, SL_SOUGHT, sl_preemption_question;
    ensures ready: SearchReady;
    ensures back: TakenBack{Pre, Post}; */
static bool find_victims(int64_t now_ms)
{
    if (sl_assignment.mode != SL_MODE_PREEMPT || sl_assignment.need_count > SL_USAGE_CELLS_MAX) {
        return false;
    }
    if (answered()) {
        return sl_victims.count != 0;
    }
    sl_preemption_question.preemptor = sl_assignment.workload;
    sl_preemption_question.cluster_queue = sl_assignment.cluster_queue;
    sl_preemption_question.places = sl_placement_question.set_count != 0;
    sl_preemption_question.need_count = sl_assignment.need_count;
    /*@
      loop assigns i, sl_preemption_question.needs[0 .. SL_USAGE_CELLS_MAX - 1];
      loop variant sl_assignment.need_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.need_count; i++) {
        sl_preemption_question.needs[i] = sl_assignment.needs[i];
    }
    return sl_preemption_find(now_ms) != 0;
}

/* With sl_flavors_counts: are there victims? */
/*@ requires ready: SearchReady; terminates \true; exits \false; assigns ASSIGNED;
    ensures ready: SearchReady && AnswerSound;
    ensures back: TakenBack{Pre, Post}; */
static bool try_counts(sl_workload_id id, sl_qnode_id queue, int64_t now_ms)
{
    forget_question();
    sl_flavors_assign_counts(id, queue, now_ms);
    return find_victims(now_ms);
}

/* With fewer pods it may be room that is missing, whatever is missing for all of them. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
static void note_roomless(void)
{
    if (sl_assignment.topology_failure.miss != SL_PLACEMENT_OK) {
        sl_queues_note_roomless(sl_assignment.topology_failure.tree);
    }
}

#define HALVINGS_MAX 64u /* of a number that has 64 bits */

/* The largest counts that fit, with victims or without; the answer for all pods when there are
 * none. */
/*@ requires ready: SearchReady && AnswerSound; terminates \true; exits \false; assigns ASSIGNED;
    ensures ready: SearchReady && AnswerSound;
    ensures back: TakenBack{Pre, Post}; */
static bool reduce(sl_workload_id id, sl_qnode_id queue, int64_t now_ms)
{
    bool tried = false;
    sl_reducer_begin(id);
    /*@
      loop invariant ready: SearchReady && AnswerSound;
      loop invariant back: TakenBack{Pre, Here};
      loop assigns steps, tried, ASSIGNED;
      loop variant HALVINGS_MAX - steps;
    */
    for (uint32_t steps = 0; steps < HALVINGS_MAX && sl_reducer_next(); steps++) {
        tried = true;
        bool fits = try_counts(id, queue, now_ms) || sl_assignment.mode == SL_MODE_FIT;
        //@ assert kept1: PastKept{Pre, Here};
        //@ assert back1: TakenBack{Pre, Here};
        sl_reducer_report(fits);
        note_roomless();
    }
    bool preempts = false;
    if (sl_reducer_found()) {
        preempts = try_counts(id, queue, now_ms);
    } else if (tried) {
        sl_flavors_assign(id, queue, now_ms);
    }
    //@ assert kept2: PastKept{Pre, Here};
    //@ assert back2: TakenBack{Pre, Here};
    return preempts;
}

/* A workload that waits for victims keeps the capacities that will be its own: those that it would take
 * without its victims, or, when there are none, on empty nodes. */
/*@ requires ready: SearchReady; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED, SL_PLACED, sl_placement_question;
    ensures ready: SearchReady; */
static bool place_for_later(bool preempts)
{
    uint32_t mark = sl_assumed_mark();
    bool freed = true;
    /*@
      loop invariant ready: AssumedInRange;
      loop assigns i, freed, sl_hidden, SL_ASSUMED;
      loop variant sl_victims.count - i;
    */
    for (uint32_t i = 0; i < sl_victims.count && preempts && freed; i++) {
        freed = sl_assumed_free(sl_victims.workloads[i]);
    }
    sl_placement_question.empty = !preempts;
    bool found = freed && sl_placement_find();
    if (!found) {
        sl_topology_plan.set_count = 0;
        sl_topology_plan.row_count = 0;
    }
    sl_placement_question.empty = false;
    sl_assumed_back(mark);
    return found;
}

/* Are there victims still when those are left alone that the places do not need? Without any it fits as it is. */
/*@ requires ready: SearchReady && AnswerSound && VictimsSound; terminates \true; exits \false;
    assigns sl_hidden, SL_SEARCHED, sl_assignment;
    ensures ready: SearchReady && AnswerSound && VictimsSound;
    ensures back: TakenBack{Pre, Post}; */
static bool needs_victims(void)
{
    if (sl_preemption_spare_beside_places() != 0) {
        return true;
    }
    sl_assignment.mode = SL_MODE_FIT;
    sl_assignment.topology_failure.miss = SL_PLACEMENT_OK;
    return false;
}

bool sl_nominate(sl_workload_id id, sl_qnode_id queue, uint64_t cycle, int64_t now_ms)
{
    forget_question();
    sl_flavors_assign(id, queue, now_ms);
    bool preempts = find_victims(now_ms);
    //@ assert kept1: PastKept{Pre, Here};
    //@ assert back1: TakenBack{Pre, Here};
    if (!preempts && sl_assignment.mode != SL_MODE_FIT && sl_settings.partial_admission) {
        preempts = reduce(id, queue, now_ms);
    }
    //@ assert kept2: PastKept{Pre, Here};
    //@ assert back2: TakenBack{Pre, Here};
    if (sl_assignment.need_count > SL_USAGE_CELLS_MAX) { /* more than any workload may hold */
        sl_assignment.mode = SL_MODE_NO_FIT;
        sl_assignment.reason = SL_PENDING_MISCONFIGURED;
        sl_flavors_forget(id); /* other flavors would be as many */
    } else {
        sl_flavors_remember(cycle);
    }
    if (sl_assignment.mode == SL_MODE_PREEMPT && sl_placement_question.set_count != 0) {
        bool placed = place_for_later(preempts);
        preempts = preempts && (!placed || needs_victims());
        //@ assert kept3: PastKept{Pre, Here};
        //@ assert back3: TakenBack{Pre, Here};
    }
    return preempts;
}
