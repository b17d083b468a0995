/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For flavor assignment only (flavors.h says what it is): what its files know of each other.
 * Owns nothing. flavors.c goes over the groups of pod sets, flavors_want.c sums up what a group
 * wants and makes choices, flavors_scan.c looks for the flavor of one resource group,
 * flavors_quota.c judges one cell, flavors_topology.c matches flavors and finds places for pod
 * sets that ask for topology, flavors_reason.c notes what is in the way, flavors_progress.c
 * remembers. */
#ifndef SL_POLICY_FLAVORS_SCAN_H
#define SL_POLICY_FLAVORS_SCAN_H
#include "policy/flavors/flavors.h"
#include "policy/requests/offers.h"

#define SL_WANTS_MAX (SL_POD_SETS_MAX * SL_REQUESTS_MAX + 1u)

/* What the pod sets of one group ask for together, and in which resource groups their queue offers
 * it: in one, as a rule; where there are more, the last to be dealt with overrules. Owned by
 * flavors_state.c. */
struct sl_want {
    sl_workload_id workload;
    sl_qnode_id queue;
    int64_t now_ms;
    uint32_t set_count;
    uint32_t sets[SL_POD_SETS_MAX];    /* records of requests.h */
    uint32_t indexes[SL_POD_SETS_MAX]; /* in the workload */
    uint32_t count;
    sl_resource_id resource[SL_WANTS_MAX];
    int64_t amount[SL_WANTS_MAX];  /* up to SL_AMOUNT_MAX + 1 = too much in any case */
    uint32_t groups[SL_WANTS_MAX]; /* a bit each, 0 = the queue does not offer it */
};
extern struct sl_want sl_want;
/*@
  predicate WantSound{L} = sl_want.set_count <= SL_POD_SETS_MAX && sl_want.count <= SL_WANTS_MAX &&
    \forall integer i; 0 <= i < SL_POD_SETS_MAX ==> sl_want.indexes[i] < SL_POD_SETS_MAX;
*/
/* Chosen so far by the pod sets before, per cell, up to SL_AMOUNT_MAX + 1 as well; zero between
 * assignments. Owned by flavors_state.c. */
extern int64_t sl_flavors_assumed[SL_CELLS_MAX];
/*@
  predicate WantsInRange{L} =
    (\forall integer i; 0 <= i < SL_WANTS_MAX ==> 0 <= sl_want.amount[i] <= SL_AMOUNT_MAX + 1) &&
    (\forall integer c; 0 <= c < SL_CELLS_MAX ==>
      0 <= sl_flavors_assumed[c] <= SL_AMOUNT_MAX + 1);
*/

/* How well something fits, from worst to best. */
enum sl_fit {
    SL_FIT_NOT,
    SL_FIT_NO_CANDIDATES, /* only by preemption, and there is no candidate */
    SL_FIT_PREEMPT,
    SL_FIT_RECLAIM,
    SL_FIT_AT_ONCE
};
/* How grave a reason for not fitting is. */
enum sl_gravity { SL_GRAVITY_NONE, SL_GRAVITY_WAITING, SL_GRAVITY_EXCEEDS, SL_GRAVITY_NO_MATCH };

struct sl_verdict {
    enum sl_fit fit;
    uint32_t borrow_height;
    enum sl_gravity gravity; /* NONE unless fit is NOT */
};
/*@ terminates \true; exits \false; assigns \nothing; ensures mode: \result <= SL_MODE_FIT; */
enum sl_mode sl_flavors_mode(enum sl_fit fit);

/* clang-format off */
#define SL_DETAILS                                                                                 \
    sl_assignment.details[0 .. SL_DETAILS_MAX - 1], sl_assignment.detail_count,                    \
        sl_assignment.details_left_out
#define SL_ATTEMPTS sl_assignment.attempts[0 .. SL_ATTEMPTS_MAX - 1], sl_assignment.attempt_count
/* clang-format on */

/* --- flavors_quota.c: could want `i` be charged to the cell (SL_NO_ID = the flavor has none)?
 * Notes what is in the way. */
/*@ requires ready: SearchReady;
    requires sound: AssignmentSound && WantSound && WantsInRange;
    requires known: (cell < SL_CELLS_MAX || cell == SL_NO_ID) && i < SL_WANTS_MAX;
    terminates \true; exits \false; assigns sl_hidden, SL_SEARCHED, SL_DETAILS;
    ensures ready: SearchReady && TakenBack{Pre, Post};
    ensures sound: AssignmentSound && \result.gravity <= SL_GRAVITY_NO_MATCH;
    ensures more: sl_assignment.detail_count >= \old(sl_assignment.detail_count); */
struct sl_verdict sl_flavors_try_cell(sl_cell_id cell, sl_flavor_id flavor, uint32_t i);

/* The records of the workload's pod sets. Owned by flavors_state.c. */
extern uint32_t sl_flavors_records[SL_POD_SETS_MAX];

/* --- flavors_want.c: sl_want, and the choices made of it */
/* clang-format off */
#define SL_WANTS                                                                                   \
    sl_want.resource[0 .. SL_WANTS_MAX - 1], sl_want.amount[0 .. SL_WANTS_MAX - 1],                \
        sl_want.groups[0 .. SL_WANTS_MAX - 1], sl_want.count
#define SL_MEMBERS                                                                                 \
    sl_want.set_count, sl_want.sets[0 .. SL_POD_SETS_MAX - 1],                                     \
        sl_want.indexes[0 .. SL_POD_SETS_MAX - 1],                                                 \
        sl_assignment.examined[0 .. SL_POD_SETS_MAX - 1]
#define SL_CHOICES sl_assignment.choices[0 .. SL_CHOICES_MAX - 1], sl_assignment.choice_count
#define SL_MODES sl_assignment.modes[0 .. SL_POD_SETS_MAX - 1]
#define SL_SETTLED                                                                                 \
    SL_MODES, sl_flavors_assumed[0 .. SL_CELLS_MAX - 1], sl_assignment.borrow_height
/* clang-format on */
/* Want what the pod sets of the group ask for that this one (its index) begins. */
/*@ requires want: WantSound && WantsInRange && AssignmentSound && index < SL_POD_SETS_MAX;
    terminates \true; exits \false; assigns SL_WANTS, SL_MEMBERS;
    ensures want: WantSound && WantsInRange; */
void sl_flavors_gather(uint32_t index);
/* Give each pod set its part of the flavor that sl_scan has found for the resource group. The
 * group's choices begin at `first`. */
/*@ requires sound: AssignmentSound && ChoicesSound && WantSound && WantsInRange;
    requires group: group < SL_GROUPS_MAX; terminates \true; exits \false; assigns SL_CHOICES;
    ensures sound: AssignmentSound && ChoicesSound &&
      sl_assignment.choice_count >= \old(sl_assignment.choice_count); */
void sl_flavors_choose(uint32_t first, uint32_t group);
/* The choices from there on count: as used from now on, and for the modes, unless all flavors that
 * were found will do `at_once`. */
/*@ requires sound: AssignmentSound && ChoicesSound && WantSound && WantsInRange;
    terminates \true; exits \false; assigns SL_SETTLED; ensures range: WantsInRange; */
void sl_flavors_settle(uint32_t first, bool at_once);

/* --- flavors_topology.c: may the pod set be given the flavor, as far as topology goes? */
struct sl_mismatch {
    bool found;
    enum sl_miss miss;
};
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_begin_topology(sl_qnode_id queue); /* the questions are about this queue */
/*@ terminates \true; exits \false; assigns \nothing; */
struct sl_mismatch sl_flavors_mismatch(uint32_t record, sl_flavor_id flavor, uint32_t group);
/* clang-format off */
#define SL_PLACES                                                                                  \
    sl_assignment.tree[0 .. SL_POD_SETS_MAX - 1], sl_assignment.delayed[0 .. SL_POD_SETS_MAX - 1], \
        sl_assignment.topology_failure, sl_placement_question
/* clang-format on */
/* flavors_slices.c: an elastic job whose pods must, or would rather, be together: is it refused? As in Kueue, where nothing
 * says which domain more pods would go to. */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_flavors_cannot_grow(struct sl_topology_request request);
/* Say in sl_placement_question whose pods stay where they are. */
/*@ terminates \true; exits \false;
    assigns sl_placement_question.keeps, sl_placement_question.old; */
void sl_flavors_name_old(struct sl_topology_request request);
/* Nothing of sl_assignment is placed, and sl_placement_question asks for nothing. */
/*@ terminates \true; exits \false; assigns SL_PLACES, sl_topology_plan;
    ensures none: sl_placement_question.set_count == 0 && PlanBounded; */
void sl_flavors_clear_topology(void);
/* Find places for all pod sets that ask for topology; sl_assignment, which fits or would without
 * its victims, is revised. Where it fits, the places are in sl_topology_plan. */
/*@ requires ready: PlaceReady && AssignmentSound && ChoicesSound;
    requires none: sl_placement_question.set_count == 0; terminates \true; exits \false;
    assigns sl_hidden, SL_PLACED, SL_PLACES, SL_ATTEMPTS, sl_assignment.mode, sl_assignment.reason,
      sl_assignment.modes[0 .. SL_POD_SETS_MAX - 1],
      sl_assignment.choices[0 .. SL_CHOICES_MAX - 1];
    ensures sound: AssignmentSound && ChoicesSound && PlaceReady;
    ensures question: PlacesAsked; */
void sl_flavors_place(void);

/* --- flavors_scan.c: look for a flavor for all wants of a resource group. */
struct sl_scan {
    enum sl_fit fit;  /* NOT: there is none */
    sl_cell_id first; /* of the chosen flavor's cells */
    int32_t tried;    /* as sl_choice.tried_flavor */
    /* of the chosen flavor, for each want of the group */
    struct sl_verdict verdicts[SL_WANTS_MAX];
};
extern struct sl_scan sl_scan;
/*@ requires ready: SearchReady && group < SL_GROUPS_MAX;
    requires sound: AssignmentSound && WantSound && WantsInRange;
    terminates \true; exits \false;
    assigns sl_hidden, SL_SEARCHED, SL_DETAILS, SL_ATTEMPTS, sl_scan;
    ensures ready: SearchReady && TakenBack{Pre, Post};
    ensures sound: AssignmentSound;
    ensures more: sl_assignment.detail_count >= \old(sl_assignment.detail_count); */
void sl_flavors_scan(uint32_t group);
/* Among the cells of one flavor, which are adjacent, the one of the resource, or SL_NO_ID. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_CELLS_MAX || \result == SL_NO_ID; */
sl_cell_id sl_flavors_cell(sl_cell_id first, sl_resource_id resource);

/* --- flavors_reason.c: details and attempts, each noted for every pod set of sl_want */
/*@ requires sound: AssignmentSound && WantSound; terminates \true; exits \false;
    assigns SL_DETAILS; ensures sound: AssignmentSound;
    ensures more: sl_assignment.detail_count >= \old(sl_assignment.detail_count); */
void sl_flavors_note(enum sl_miss miss, sl_flavor_id flavor, sl_resource_id resource,
                     int64_t amount);
/*@ requires sound: AssignmentSound && WantSound;
    requires gravity: verdict.gravity <= SL_GRAVITY_NO_MATCH; terminates \true; exits \false;
    assigns sl_hidden, sl_assignment.attempts[0 .. SL_ATTEMPTS_MAX - 1],
      sl_assignment.attempt_count; ensures sound: AssignmentSound; */
void sl_flavors_note_attempt(sl_flavor_id flavor, struct sl_verdict verdict);
struct sl_notes_mark {
    uint32_t details;
    uint32_t left_out;
};
/*@ terminates \true; exits \false; assigns \nothing;
    ensures mark: \result.details == sl_assignment.detail_count; */
struct sl_notes_mark sl_flavors_mark_notes(void);
/*@ requires sound: AssignmentSound;
    requires marks: from.details <= to.details <= sl_assignment.detail_count; terminates \true;
    exits \false; assigns SL_DETAILS; ensures sound: AssignmentSound;
    ensures fewer: sl_assignment.detail_count ==
      \old(sl_assignment.detail_count) - (to.details - from.details); */
void sl_flavors_drop_notes(struct sl_notes_mark from, struct sl_notes_mark to);
/* The reason why a group of pod sets has no place: begin it, end each resource group, ask. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_begin_reason(void);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_end_resource_group(void);
/*@ terminates \true; exits \false; assigns \nothing; */
enum sl_pending_reason sl_flavors_reason(void);

/* --- flavors_progress.c: for the pod set (its index) and resource group */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_check_progress(sl_workload_id id, sl_qnode_id queue); /* at the begin */
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_flavors_start(uint32_t pod_set, uint32_t group); /* the first flavor to try, from 0 */
/*@ requires want: WantSound; requires group: group < SL_GROUPS_MAX; terminates \true;
    exits \false; assigns \nothing; */
bool sl_flavors_pinned_out(uint32_t group, sl_flavor_id flavor); /* for sl_want's pod sets */
#endif
