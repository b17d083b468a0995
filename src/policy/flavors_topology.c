/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, topology: which flavors a pod set that asks for topology may be given, and the
 * places of all pod sets once they have flavors. In a queue with only topology flavors every pod
 * set asks, be it without saying so. */
#include "policy/flavors_scan.h"

#include "kernel/ledger.h"
#include "policy/settings.h"
#include "policy/topology_demand.h"
#include "policy/trees.h"

static bool queue_only_topology; /* of the queue at hand: every flavor it offers has one */

void sl_flavors_begin_topology(sl_node_id queue)
{
    queue_only_topology = sl_settings.topology && sl_offers_first(queue) != SL_NO_ID;
    for (sl_cell_id cell = sl_offers_first(queue); cell != SL_NO_ID && queue_only_topology;
         cell = sl_offers_next(cell)) {
        queue_only_topology = sl_trees_asked(sl_ledger_flavor_of(cell));
    }
}

/* --- which flavors ---------------------------------------------------------------------------- */

static bool has_level(sl_tree_id tree, const struct sl_topology_demand *demand)
{
    for (uint32_t i = 0; i < demand->layer_count; i++) {
        if (sl_trees_level(tree, demand->layers[i].level) == SL_NO_ID) {
            return false;
        }
    }
    switch (demand->together) {
    case SL_TOGETHER_REQUIRED:
    case SL_TOGETHER_PREFERRED:
        return sl_trees_level(tree, demand->level) != SL_NO_ID;
    case SL_TOGETHER_UNCONSTRAINED:
        return true;
    case SL_TOGETHER_UNASKED:
        break;
    }
    return demand->layer_count != 0;
}

/* Do its pods themselves ask for anything that the resource group covers? What was only derived
 * from their requests may come from a flavor without topology. */
static bool pods_ask_of(const struct sl_topology_demand *demand, uint32_t group)
{
    for (sl_cell_id cell = sl_offers_first(sl_want.queue); cell != SL_NO_ID;
         cell = sl_offers_next(cell)) {
        uint32_t measure = sl_offers_measure(sl_ledger_resource_of(cell));
        if (sl_offers_group_of(cell) != group || measure == SL_NO_ID) {
            continue;
        }
        for (uint32_t i = 0; i < demand->request_count; i++) {
            if (demand->requests[i].measure == measure) {
                return true;
            }
        }
    }
    return false;
}

/* For one that asks explicitly. */
static struct sl_mismatch explicit_mismatch(const struct sl_topology_demand *demand,
                                            sl_flavor_id flavor, uint32_t group)
{
    struct sl_mismatch mismatch = {true, SL_MISS_NO_TOPOLOGY};
    if (!sl_trees_asked(flavor)) {
        mismatch.found = pods_ask_of(demand, group);
    } else if (!sl_trees_known(flavor)) {
        mismatch.miss = SL_MISS_NO_TREE;
    } else {
        mismatch.miss = SL_MISS_NO_LEVEL;
        mismatch.found = !has_level(flavor, demand);
    }
    return mismatch;
}

struct sl_mismatch sl_flavors_mismatch(uint32_t record, sl_flavor_id flavor, uint32_t group)
{
    struct sl_mismatch mismatch = {false, SL_MISS_ONLY_TOPOLOGY};
    if (!sl_settings.topology) {
        return mismatch;
    }
    struct sl_topology_demand demand = sl_topology_demand_of(record);
    if (demand.asked) {
        return explicit_mismatch(&demand, flavor, group);
    }
    mismatch.found = !queue_only_topology && sl_trees_asked(flavor);
    return mismatch;
}

/* --- the question ----------------------------------------------------------------------------- */

/* Among the pod set's flavors the one with a topology. */
enum found { FOUND_NONE, FOUND_ONE, FOUND_SEVERAL };
static enum found find_tree(uint32_t index)
{
    enum found found = FOUND_NONE;
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

static bool is_delayed(sl_tree_id tree)
{
    for (sl_cell_id cell = sl_offers_first(sl_want.queue); cell != SL_NO_ID;
         cell = sl_offers_next(cell)) {
        if (sl_ledger_flavor_of(cell) == tree && sl_offers_is_delayed(cell)) {
            return true;
        }
    }
    return false;
}

static void fail(enum sl_placement_miss miss, uint32_t index)
{
    sl_assignment.topology_failure = (struct sl_placement_failure){
        .miss = miss, .pod_set = index, .tree = SL_NO_ID, .domain = SL_NO_ID};
}

/* False when it can have no place: see topology_failure. */
static bool ask_for(uint32_t index, uint32_t record)
{
    bool asks = sl_topology_demand_of(record).asked;
    if ((!asks && !queue_only_topology) || sl_assignment.counts[index] == 0) {
        return true;
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
        index, record, sl_assignment.counts[index], sl_assignment.tree[index], !asks};
    sl_placement_question.set_count++;
    return true;
}

static bool ask(void)
{
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

static bool group_offers(uint32_t group, sl_flavor_id flavor)
{
    for (sl_cell_id cell = sl_offers_first(sl_want.queue); cell != SL_NO_ID;
         cell = sl_offers_next(cell)) {
        if (sl_offers_group_of(cell) == group && sl_ledger_flavor_of(cell) == flavor) {
            return true;
        }
    }
    return false;
}

/* The least grave reason of the group's flavors; EVALUATION = none failed. */
static enum sl_pending_reason reason_in(uint32_t group, uint32_t index)
{
    enum sl_pending_reason least = SL_PENDING_EVALUATION;
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
static enum sl_pending_reason reason_for(uint32_t index, sl_tree_id tree)
{
    for (uint32_t i = 0; i < sl_assignment.attempt_count; i++) {
        struct sl_attempt *attempt = &sl_assignment.attempts[i];
        if (attempt->pod_set == index && attempt->flavor == tree) {
            attempt->mode = SL_MODE_NO_FIT;
            attempt->reason = SL_PENDING_TOPOLOGY_FAILED;
        }
    }
    enum sl_pending_reason gravest = SL_PENDING_TOPOLOGY_FAILED;
    for (uint32_t group = 0; group < SL_GROUPS_MAX; group++) {
        enum sl_pending_reason reason = reason_in(group, index);
        if (reason != SL_PENDING_EVALUATION && severity(reason) > severity(gravest)) {
            gravest = reason;
        }
    }
    return gravest;
}

static void set_mode(uint32_t index, enum sl_mode mode)
{
    sl_assignment.modes[index] = mode;
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        if (sl_assignment.choices[i].pod_set == index) {
            sl_assignment.choices[i].mode = mode;
        }
    }
}

static void refuse(uint32_t index, sl_tree_id tree)
{
    sl_assignment.mode = SL_MODE_NO_FIT;
    sl_assignment.modes[index] = SL_MODE_NO_FIT;
    sl_assignment.reason = reason_for(index, tree);
    sl_topology_plan.set_count = 0;
}

/* With victims there may be a place; unless there is none on empty nodes either. */
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
    for (uint32_t i = 0; i < sl_placement_question.set_count; i++) {
        set_mode(sl_placement_question.sets[i].pod_set, SL_MODE_PREEMPT);
    }
}

void sl_flavors_clear_topology(void)
{
    for (uint32_t i = 0; i < SL_POD_SETS_MAX; i++) {
        sl_assignment.tree[i] = SL_NO_ID;
        sl_assignment.delayed[i] = false;
    }
    sl_assignment.topology_failure.miss = SL_PLACEMENT_OK;
    sl_placement_question.workload = sl_assignment.workload;
    sl_placement_question.empty = false;
    sl_placement_question.replaces = false;
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
