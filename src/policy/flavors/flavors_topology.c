/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, topology: which flavors a pod set that asks for topology may be given, and the places of all pod sets
 * once they have flavors. In a queue with only topology flavors every pod set asks, be it without saying so. */
#include "policy/flavors/flavors_scan.h"

#include "kernel/ledger/ledger.h"
#include "policy/common/settings.h"
#include "policy/requests/topology_request.h"
#include "policy/topology/trees.h"

static bool queue_only_topology; /* of the queue at hand: every flavor it offers has one */

/*@ terminates \true; exits \false; assigns queue_only_topology; */
void sl_flavors_begin_topology(sl_qnode_id queue)
{
    sl_cell_id cell = sl_offers_first(queue);
    queue_only_topology = sl_settings.topology && cell != SL_NO_ID;
    /*@ loop assigns steps, cell, queue_only_topology; loop variant SL_CELLS_MAX - steps; */
    for (uint32_t steps = 0; cell != SL_NO_ID && queue_only_topology && steps < SL_CELLS_MAX;
         steps++) {
        queue_only_topology = sl_trees_asked(sl_ledger_flavor_of(cell));
        cell = sl_offers_next(cell);
    }
}

/* --- which flavors ---------------------------------------------------------------------------- */

/*@ requires within: request.layer_count <= SL_LAYERS_MAX &&
      request.request_count <= SL_TOPOLOGY_REQUESTS_MAX;
    terminates \true; exits \false; assigns \nothing; */
static bool has_level(sl_tree_id tree, struct sl_topology_request request)
{
    /*@ loop assigns i; loop variant request.layer_count - i; */
    for (uint32_t i = 0; i < request.layer_count; i++) {
        if (sl_trees_level(tree, request.layers[i].level) == SL_NO_ID) {
            return false;
        }
    }
    switch (request.together) {
    case SL_TOGETHER_REQUIRED:
    case SL_TOGETHER_PREFERRED:
        return sl_trees_level(tree, request.level) != SL_NO_ID;
    case SL_TOGETHER_UNCONSTRAINED:
        return true;
    case SL_TOGETHER_UNASKED:
        break;
    }
    return request.layer_count != 0;
}

/*@ requires within: request.layer_count <= SL_LAYERS_MAX &&
      request.request_count <= SL_TOPOLOGY_REQUESTS_MAX;
    terminates \true; exits \false; assigns \nothing; */
static bool asks_of(struct sl_topology_request request, sl_resource_id resource)
{
    uint32_t measure = sl_offers_measure(resource);
    /*@ loop assigns i; loop variant request.request_count - i; */
    for (uint32_t i = 0; i < request.request_count && measure != SL_NO_ID; i++) {
        if (request.requests[i].measure == measure) {
            return true;
        }
    }
    return false;
}

/* Do its pods themselves ask for anything that the resource group covers? What was only derived
 * from their requests may come from a flavor without topology. */
/*@ requires within: request.layer_count <= SL_LAYERS_MAX &&
      request.request_count <= SL_TOPOLOGY_REQUESTS_MAX;
    terminates \true; exits \false; assigns \nothing; */
static bool pods_ask_of(struct sl_topology_request request, uint32_t group)
{
    sl_cell_id cell = sl_offers_first(sl_want.queue);
    /*@ loop assigns steps, cell; loop variant SL_CELLS_MAX - steps; */
    for (uint32_t steps = 0; cell != SL_NO_ID && steps < SL_CELLS_MAX; steps++) {
        if (sl_offers_group_of(cell) == group && asks_of(request, sl_ledger_resource_of(cell))) {
            return true;
        }
        cell = sl_offers_next(cell);
    }
    return false;
}

/* For one that asks explicitly. */
/*@ requires within: request.layer_count <= SL_LAYERS_MAX &&
      request.request_count <= SL_TOPOLOGY_REQUESTS_MAX;
    terminates \true; exits \false; assigns \nothing; */
static struct sl_mismatch explicit_mismatch(struct sl_topology_request request, sl_flavor_id flavor,
                                            uint32_t group)
{
    struct sl_mismatch mismatch = {true, SL_MISS_NO_TOPOLOGY};
    if (!sl_trees_asked(flavor)) {
        mismatch.found = pods_ask_of(request, group);
    } else if (!sl_trees_known(flavor)) {
        mismatch.miss = SL_MISS_NO_TREE;
    } else {
        mismatch.miss = SL_MISS_NO_LEVEL;
        mismatch.found = !has_level(flavor, request);
    }
    return mismatch;
}

struct sl_mismatch sl_flavors_mismatch(uint32_t record, sl_flavor_id flavor, uint32_t group)
{
    struct sl_mismatch mismatch = {false, SL_MISS_ONLY_TOPOLOGY};
    if (!sl_settings.topology) {
        return mismatch;
    }
    struct sl_topology_request request = sl_topology_request_of(record);
    if (request.asked) {
        return explicit_mismatch(request, flavor, group);
    }
    mismatch.found = !queue_only_topology && sl_trees_asked(flavor);
    return mismatch;
}

/* --- the question ----------------------------------------------------------------------------- */

/* Among the pod set's flavors the one with a topology. */
enum found { FOUND_NONE, FOUND_ONE, FOUND_SEVERAL };
/*@ requires index: index < SL_POD_SETS_MAX && AssignmentSound; terminates \true; exits \false;
    assigns sl_assignment.tree[0 .. SL_POD_SETS_MAX - 1]; */
static enum found find_tree(uint32_t index)
{
    enum found found = FOUND_NONE;
    /*@
      loop assigns i, found, sl_assignment.tree[0 .. SL_POD_SETS_MAX - 1];
      loop variant sl_assignment.choice_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        sl_flavor_id flavor = sl_assignment.choices[i].flavor;
        if (sl_assignment.choices[i].pod_set != index || !sl_trees_known(flavor)) {
            continue;
        }
        if (found != FOUND_NONE && sl_assignment.tree[index] != flavor) {
            found = FOUND_SEVERAL;
        } else if (found == FOUND_NONE) {
            found = FOUND_ONE;
            sl_assignment.tree[index] = flavor;
        }
    }
    return found;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool is_delayed(sl_tree_id tree)
{
    sl_cell_id cell = sl_offers_first(sl_want.queue);
    /*@ loop assigns steps, cell; loop variant SL_CELLS_MAX - steps; */
    for (uint32_t steps = 0; cell != SL_NO_ID && steps < SL_CELLS_MAX; steps++) {
        if (sl_ledger_flavor_of(cell) == tree && sl_offers_is_delayed(cell)) {
            return true;
        }
        cell = sl_offers_next(cell);
    }
    return false;
}

/*@ terminates \true; exits \false; assigns sl_assignment.topology_failure;
    ensures index: sl_assignment.topology_failure.pod_set == index; */
static void fail(enum sl_placement_miss miss, uint32_t index)
{
    sl_assignment.topology_failure = (struct sl_placement_failure){
        .miss = miss, .pod_set = index, .tree = SL_NO_ID, .domain = SL_NO_ID};
}

/* False when it can have no place: see topology_failure. */
/*@ requires index: index < SL_POD_SETS_MAX && AssignmentSound;
    requires capacity: PlacesAsked && sl_placement_question.set_count <= index;
    terminates \true; exits \false; assigns SL_PLACES;
    ensures asked: PlacesAsked && sl_placement_question.set_count <= index + 1; */
static bool ask_for(uint32_t index, uint32_t record)
{
    struct sl_topology_request request = sl_topology_request_of(record);
    if ((!request.asked && !queue_only_topology) || sl_assignment.counts[index] == 0) {
        return true;
    }
    if (sl_flavors_cannot_grow(request)) {
        fail(SL_PLACEMENT_ELASTIC, index);
        return false;
    }
    if (find_tree(index) != FOUND_ONE) {
        sl_assignment.tree[index] = SL_NO_ID;
        fail(SL_PLACEMENT_NO_TREE, index);
        return false;
    }
    sl_assignment.delayed[index] = is_delayed(sl_assignment.tree[index]);
    if (sl_assignment.delayed[index]) {
        return true;
    }
    sl_placement_question.sets[sl_placement_question.set_count] = (struct sl_placement_set){
        index, record, sl_assignment.counts[index], sl_assignment.tree[index], !request.asked};
    sl_placement_question.set_count++;
    sl_flavors_name_old(request);
    return true;
}

/*@ requires none: sl_placement_question.set_count == 0 && AssignmentSound; terminates \true;
    exits \false; assigns SL_PLACES; ensures asked: PlacesAsked; */
static bool ask(void)
{
    /*@
      loop invariant asked: PlacesAsked && sl_placement_question.set_count <= i;
      loop assigns i, SL_PLACES;
      loop variant sl_assignment.pod_set_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        if (!ask_for(i, sl_flavors_records[i])) {
            sl_placement_question.set_count = 0;
            return false;
        }
    }
    return true;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* Severity grows in this order. */
/*@ terminates \true; exits \false; assigns \nothing; */
static uint32_t severity(enum sl_pending_reason reason)
{
    switch (reason) {
    case SL_PENDING_TOPOLOGY_FAILED:
        return 1;
    case SL_PENDING_WAITING_FOR_QUOTA:
        return 2;
    case SL_PENDING_EXCEEDS_MAX_QUOTA:
        return 3;
    default:
        return 4;
    }
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool group_offers(uint32_t group, sl_flavor_id flavor)
{
    sl_cell_id cell = sl_offers_first(sl_want.queue);
    /*@ loop assigns steps, cell; loop variant SL_CELLS_MAX - steps; */
    for (uint32_t steps = 0; cell != SL_NO_ID && steps < SL_CELLS_MAX; steps++) {
        if (sl_offers_group_of(cell) == group && sl_ledger_flavor_of(cell) == flavor) {
            return true;
        }
        cell = sl_offers_next(cell);
    }
    return false;
}

/* The least grave reason of the group's flavors; EVALUATION = none failed. */
/*@ requires sound: AssignmentSound; terminates \true; exits \false; assigns \nothing; */
static enum sl_pending_reason reason_in(uint32_t group, uint32_t index)
{
    enum sl_pending_reason least = SL_PENDING_EVALUATION;
    /*@ loop assigns i, least; loop variant sl_assignment.attempt_count - i; */
    for (uint32_t i = 0; i < sl_assignment.attempt_count; i++) {
        struct sl_attempt attempt = sl_assignment.attempts[i];
        if (attempt.pod_set == index && attempt.mode == SL_MODE_NO_FIT &&
            group_offers(group, attempt.flavor) &&
            (least == SL_PENDING_EVALUATION || severity(attempt.reason) < severity(least))) {
            least = attempt.reason;
        }
    }
    return least;
}

/* Note that the flavor found no place, and say why the pod set has none: of its resource groups the
 * gravest reason counts, as always. */
/*@ requires sound: AssignmentSound; terminates \true; exits \false; assigns SL_ATTEMPTS;
    ensures sound: AssignmentSound; */
static enum sl_pending_reason reason_for(uint32_t index, sl_tree_id tree)
{
    /*@
      loop assigns i, sl_assignment.attempts[0 .. SL_ATTEMPTS_MAX - 1];
      loop variant sl_assignment.attempt_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.attempt_count; i++) {
        if (sl_assignment.attempts[i].pod_set == index &&
            sl_assignment.attempts[i].flavor == tree) {
            sl_assignment.attempts[i].mode = SL_MODE_NO_FIT;
            sl_assignment.attempts[i].reason = SL_PENDING_TOPOLOGY_FAILED;
        }
    }
    enum sl_pending_reason gravest = SL_PENDING_TOPOLOGY_FAILED;
    /*@ loop assigns group, gravest; loop variant SL_GROUPS_MAX - group; */
    for (uint32_t group = 0; group < SL_GROUPS_MAX; group++) {
        enum sl_pending_reason reason = reason_in(group, index);
        if (reason != SL_PENDING_EVALUATION && severity(reason) > severity(gravest)) {
            gravest = reason;
        }
    }
    return gravest;
}

/*@ requires index: index < SL_POD_SETS_MAX && AssignmentSound && ChoicesSound; terminates \true;
    exits \false; assigns sl_assignment.modes[0 .. SL_POD_SETS_MAX - 1],
      sl_assignment.choices[0 .. SL_CHOICES_MAX - 1];
    ensures sound: AssignmentSound && ChoicesSound; */
static void set_mode(uint32_t index, enum sl_mode mode)
{
    sl_assignment.modes[index] = mode;
    /*@
      loop invariant sound: ChoicesSound;
      loop assigns i, sl_assignment.choices[0 .. SL_CHOICES_MAX - 1];
      loop variant sl_assignment.choice_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        if (sl_assignment.choices[i].pod_set == index) {
            sl_assignment.choices[i].mode = mode;
        }
    }
}

/*@ requires sound: AssignmentSound; terminates \true; exits \false;
    assigns SL_ATTEMPTS, sl_assignment.mode, sl_assignment.reason,
      sl_assignment.modes[0 .. SL_POD_SETS_MAX - 1], sl_topology_plan;
    ensures sound: AssignmentSound && (PlanBounded{Pre} ==> PlanBounded); */
static void refuse(uint32_t index, sl_tree_id tree)
{
    sl_assignment.mode = SL_MODE_NO_FIT;
    if (index < SL_POD_SETS_MAX) {
        sl_assignment.modes[index] = SL_MODE_NO_FIT;
    }
    sl_assignment.reason = reason_for(index, tree);
    sl_topology_plan.set_count = 0;
}

/* With victims there may be a place; unless there is none on empty nodes either. */
/*@ requires ready: PlaceReady && AssignmentSound && ChoicesSound && PlacesAsked;
    terminates \true; exits \false;
    assigns sl_hidden, SL_PLACED, SL_PLACES, SL_ATTEMPTS, sl_assignment.mode, sl_assignment.reason,
      sl_assignment.modes[0 .. SL_POD_SETS_MAX - 1],
      sl_assignment.choices[0 .. SL_CHOICES_MAX - 1];
    ensures sound: PlaceReady && AssignmentSound && ChoicesSound && PlacesAsked; */
static void place_on_empty(void)
{
    sl_placement_question.empty = true;
    bool found = sl_placement_find();
    sl_placement_question.empty = false;
    if (!found) {
        if (sl_assignment.topology_failure.miss == SL_PLACEMENT_OK) {
            sl_assignment.topology_failure = sl_placement_failure;
        }
        refuse(sl_placement_failure.pod_set, sl_placement_failure.tree);
        return;
    }
    /*@
      loop invariant sound: AssignmentSound && ChoicesSound;
      loop assigns i, sl_assignment.modes[0 .. SL_POD_SETS_MAX - 1],
        sl_assignment.choices[0 .. SL_CHOICES_MAX - 1];
      loop variant sl_placement_question.set_count - i;
    */
    for (uint32_t i = 0; i < sl_placement_question.set_count; i++) {
        set_mode(sl_placement_question.sets[i].pod_set, SL_MODE_PREEMPT);
    }
}

void sl_flavors_clear_topology(void)
{
    /*@
      loop assigns i, sl_assignment.tree[0 .. SL_POD_SETS_MAX - 1],
        sl_assignment.delayed[0 .. SL_POD_SETS_MAX - 1];
      loop variant SL_POD_SETS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_POD_SETS_MAX; i++) {
        sl_assignment.tree[i] = SL_NO_ID;
        sl_assignment.delayed[i] = false;
    }
    sl_assignment.topology_failure.miss = SL_PLACEMENT_OK;
    sl_placement_question.workload = sl_assignment.workload;
    sl_placement_question.empty = false;
    sl_placement_question.replaces = false;
    sl_placement_question.keeps = false;
    sl_placement_question.set_count = 0;
    sl_topology_plan.workload = sl_assignment.workload;
    sl_topology_plan.set_count = 0;
    sl_topology_plan.row_count = 0;
}

void sl_flavors_place(void)
{
    if (!sl_settings.topology) {
        return;
    }
    if (!ask()) {
        refuse(sl_assignment.topology_failure.pod_set, SL_NO_ID);
        return;
    }
    if (sl_placement_question.set_count == 0) {
        return;
    }
    if (sl_assignment.mode == SL_MODE_FIT) {
        if (sl_placement_find()) {
            return;
        }
        sl_assignment.topology_failure = sl_placement_failure;
        sl_assignment.mode = SL_MODE_PREEMPT;
    }
    place_on_empty();
}
