/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, one workload: group after group of pod sets, and of each its resource groups.
 * What earlier groups were given counts as used for the later ones: it is kept beside the ledger,
 * per cell, and taken back at the end. */
#include "policy/flavors.h"

#include "kernel/ledger.h"
#include "policy/flavors_scan.h"
#include "policy/settings.h"
#include "policy/trees.h"

struct sl_assignment sl_assignment;
struct sl_want sl_want;
int64_t sl_flavors_assumed[SL_CELLS_MAX];
uint32_t sl_flavors_counts[SL_POD_SETS_MAX];

uint32_t sl_flavors_records[SL_POD_SETS_MAX];

static uint32_t first_choice;   /* of the group of pod sets at hand */
static uint32_t settled_groups; /* bits: resource groups that were dealt with for it */

/* --- what is wanted -------------------------------------------------------------------------- */

static uint32_t groups_offering(sl_resource_id resource)
{
    uint32_t groups = 0;
    for (sl_cell_id cell = sl_offers_first(sl_want.queue); cell != SL_NO_ID;
         cell = sl_offers_next(cell)) {
        if (sl_ledger_resource_of(cell) == resource) {
            groups |= 1u << sl_offers_group_of(cell);
        }
    }
    return groups;
}

/* The want of that resource, sl_want.count when there is none. */
static uint32_t find_want(sl_resource_id resource)
{
    uint32_t i = 0;
    while (i < sl_want.count && sl_want.resource[i] != resource) {
        i++;
    }
    return i;
}

/* Make room where it belongs by the resources' order; where that is. */
static uint32_t insert_want(sl_resource_id resource)
{
    uint32_t i = sl_want.count;
    while (i > 0 && sl_offers_order(sl_want.resource[i - 1]) > sl_offers_order(resource)) {
        sl_want.resource[i] = sl_want.resource[i - 1];
        sl_want.amount[i] = sl_want.amount[i - 1];
        sl_want.groups[i] = sl_want.groups[i - 1];
        i--;
    }
    sl_want.resource[i] = resource;
    sl_want.amount[i] = 0;
    sl_want.groups[i] = groups_offering(resource);
    sl_want.count++;
    return i;
}

static void add_want(sl_resource_id resource, int64_t amount)
{
    uint32_t i = find_want(resource);
    if (i == sl_want.count) {
        if (i == SL_WANTS_MAX) {
            return;
        }
        i = insert_want(resource);
    }
    sl_want.amount[i] += amount;
    if (sl_want.amount[i] > SL_AMOUNT_MAX) {
        sl_want.amount[i] = SL_AMOUNT_MAX + 1; /* no quota is that large: it never fits */
    }
}

/* Pods are counted, not asked for; and only where the queue offers them. */
static bool counts_pods(void)
{
    sl_resource_id pods = sl_offers_pods_resource();
    return pods != SL_NO_ID && groups_offering(pods) != 0;
}

static void add_wants_of(uint32_t index)
{
    int64_t count = (int64_t)sl_assignment.counts[index];
    sl_resource_id pods = sl_offers_pods_resource();
    for (uint32_t r = sl_demand_first_request(sl_flavors_records[index]); r != SL_NO_ID;
         r = sl_demand_next_request(r)) {
        if (sl_demand_resource(r) != pods) {
            add_want(sl_demand_resource(r), sl_demand_per_pod(r) * count);
        }
    }
    if (counts_pods()) {
        add_want(pods, count);
    }
}

/* All pod sets of the group that this one begins. */
static void gather_group(uint32_t index)
{
    uint32_t group = sl_demand_group(sl_flavors_records[index]);
    sl_want.set_count = 0;
    sl_want.count = 0;
    for (uint32_t i = index; i < sl_assignment.pod_set_count; i++) {
        if (i == index || (group != SL_NO_ID && sl_demand_group(sl_flavors_records[i]) == group)) {
            sl_want.sets[sl_want.set_count] = sl_flavors_records[i];
            sl_want.indexes[sl_want.set_count] = i;
            sl_want.set_count++;
            sl_assignment.examined[i] = true;
            add_wants_of(i);
        }
    }
}

/* --- what is chosen -------------------------------------------------------------------------- */

/* The choice of the group's pod set for the resource, or the next free one. */
static uint32_t find_choice(uint32_t index, sl_resource_id resource)
{
    uint32_t i = first_choice;
    while (i < sl_assignment.choice_count && (sl_assignment.choices[i].pod_set != index ||
                                              sl_assignment.choices[i].resource != resource)) {
        i++;
    }
    return i;
}

static void choose(uint32_t index, uint32_t i, int64_t amount)
{
    sl_cell_id cell = sl_flavors_cell(sl_scan.first, sl_want.resource[i]);
    uint32_t place = find_choice(index, sl_want.resource[i]);
    if (cell == SL_NO_ID || place >= SL_CHOICES_MAX) {
        return;
    }
    struct sl_choice choice = {index,
                               sl_want.resource[i],
                               sl_ledger_flavor_of(cell),
                               cell,
                               amount,
                               sl_flavors_mode(sl_scan.verdicts[i].fit),
                               sl_scan.verdicts[i].borrow_height,
                               sl_scan.tried};
    sl_assignment.choices[place] = choice;
    if (place == sl_assignment.choice_count) {
        sl_assignment.choice_count++;
    }
}

static bool is_wanted_of(uint32_t i, uint32_t group)
{
    return i < sl_want.count && (sl_want.groups[i] >> group & 1u) != 0;
}

/* One of a topology group that asks for nothing (a leader, say) goes where the others do. */
static void choose_along(uint32_t index, uint32_t group)
{
    for (uint32_t i = 0; i < sl_want.count; i++) {
        if (is_wanted_of(i, group)) {
            choose(index, i, 0);
        }
    }
}

static bool goes_along(uint32_t index)
{
    uint32_t record = sl_flavors_records[index];
    return sl_demand_first_request(record) == SL_NO_ID && !counts_pods() &&
           sl_demand_group(record) != SL_NO_ID && sl_settings.topology &&
           sl_trees_known(sl_ledger_flavor_of(sl_scan.first));
}

/* Give each pod set its part of the flavor that was found. */
static void choose_for(uint32_t index, uint32_t group)
{
    if (goes_along(index)) {
        choose_along(index, group);
        return;
    }
    int64_t count = (int64_t)sl_assignment.counts[index];
    sl_resource_id pods = sl_offers_pods_resource();
    for (uint32_t r = sl_demand_first_request(sl_flavors_records[index]); r != SL_NO_ID;
         r = sl_demand_next_request(r)) {
        uint32_t i = find_want(sl_demand_resource(r));
        if (is_wanted_of(i, group) && sl_want.resource[i] != pods) {
            choose(index, i, sl_demand_per_pod(r) * count);
        }
    }
    uint32_t i = find_want(pods);
    if (is_wanted_of(i, group)) {
        choose(index, i, count);
    }
}

/* --- one group of pod sets ------------------------------------------------------------------- */

/* Details of flavors that did not fit are no news once another fits at once. */
static bool assign_resource_group(uint32_t group)
{
    struct sl_notes_mark before = sl_flavors_mark_notes();
    sl_flavors_scan(group);
    sl_flavors_end_resource_group();
    if (sl_scan.fit == SL_FIT_AT_ONCE) {
        sl_flavors_drop_notes(before, sl_flavors_mark_notes());
    }
    for (uint32_t k = 0; k < sl_want.set_count && sl_scan.fit != SL_FIT_NOT; k++) {
        choose_for(sl_want.indexes[k], group);
    }
    return sl_scan.fit != SL_FIT_NOT;
}

/* The first resource group that offers it. */
static uint32_t lowest_group(uint32_t groups)
{
    uint32_t group = 0;
    while ((groups >> group & 1u) == 0) {
        group++;
    }
    return group;
}

/* False when it has no place. */
static bool assign_want(uint32_t i)
{
    uint32_t groups = sl_want.groups[i];
    if ((groups & settled_groups) != 0) {
        return true; /* it came with another resource of its group */
    }
    if (groups != 0) {
        uint32_t group = lowest_group(groups);
        settled_groups |= 1u << group;
        return assign_resource_group(group);
    }
    if (sl_want.amount[i] == 0 || sl_settings.ignore_undeclared) {
        return true;
    }
    sl_flavors_note(SL_MISS_NOT_OFFERED, SL_NO_ID, sl_want.resource[i], sl_want.amount[i]);
    return false;
}

/* The choices of the group count: for the modes, and as used from now on. */
static void settle_choices(void)
{
    for (uint32_t k = 0; k < sl_want.set_count; k++) {
        sl_assignment.modes[sl_want.indexes[k]] = SL_MODE_FIT;
    }
    for (uint32_t i = first_choice; i < sl_assignment.choice_count; i++) {
        struct sl_choice choice = sl_assignment.choices[i];
        sl_flavors_assumed[choice.cell] += choice.amount;
        if (choice.mode < sl_assignment.modes[choice.pod_set]) {
            sl_assignment.modes[choice.pod_set] = choice.mode;
        }
        if (choice.borrow_height > sl_assignment.borrow_height) {
            sl_assignment.borrow_height = choice.borrow_height;
        }
    }
}

/* Where one resource has no place the group gets nothing, and only that is said. */
static bool assign_group(void)
{
    struct sl_notes_mark before = sl_flavors_mark_notes();
    first_choice = sl_assignment.choice_count;
    settled_groups = 0;
    sl_flavors_begin_reason();
    for (uint32_t i = 0; i < sl_want.count; i++) {
        struct sl_notes_mark here = sl_flavors_mark_notes();
        if (!assign_want(i)) {
            sl_assignment.choice_count = first_choice;
            sl_flavors_drop_notes(before, here);
            return false;
        }
    }
    settle_choices();
    return true;
}

/* --- one workload ---------------------------------------------------------------------------- */

static void begin(sl_workload_id id, sl_node_id queue, int64_t now_ms)
{
    sl_want.workload = id;
    sl_want.queue = queue;
    sl_want.now_ms = now_ms;
    sl_assignment.workload = id;
    sl_assignment.cluster_queue = queue;
    sl_assignment.mode = SL_MODE_NO_FIT;
    sl_assignment.reason = SL_PENDING_MISCONFIGURED;
    sl_assignment.borrow_height = 0;
    sl_assignment.pod_set_count = 0;
    sl_assignment.choice_count = 0;
    sl_assignment.need_count = 0;
    sl_assignment.detail_count = 0;
    sl_assignment.details_left_out = 0;
    sl_assignment.attempt_count = 0;
    sl_flavors_clear_topology();
    sl_flavors_begin_topology(queue);
}

/* The pod sets, with the counts of the spec or, when those are fewer, of sl_flavors_counts. */
static void gather_pod_sets(sl_workload_id id, bool reduced)
{
    for (uint32_t set = sl_demand_first_pod_set(id);
         set != SL_NO_ID && sl_assignment.pod_set_count < SL_POD_SETS_MAX;
         set = sl_demand_next_pod_set(set)) {
        uint32_t i = sl_assignment.pod_set_count;
        uint32_t all = sl_demand_pod_count(set);
        sl_flavors_records[i] = set;
        sl_assignment.counts[i] =
            reduced && sl_flavors_counts[i] < all ? sl_flavors_counts[i] : all;
        sl_assignment.examined[i] = false;
        sl_assignment.modes[i] = SL_MODE_NO_FIT;
        sl_assignment.pod_set_count++;
    }
}

/* Group by group until one has no place. */
static bool assign_groups(void)
{
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        if (!sl_assignment.examined[i]) {
            gather_group(i);
            if (!assign_group()) {
                sl_assignment.reason = sl_flavors_reason();
                return false;
            }
        }
    }
    return sl_assignment.pod_set_count != 0;
}

static void add_need(struct sl_choice choice)
{
    uint32_t i = 0;
    while (i < sl_assignment.need_count && sl_assignment.needs[i].cell != choice.cell) {
        i++;
    }
    if (i == sl_assignment.need_count) {
        sl_assignment.need_count++;
        if (i >= SL_CLAIMS_MAX) {
            return;
        }
        struct sl_need need = {choice.cell, 0, false};
        sl_assignment.needs[i] = need;
    }
    sl_assignment.needs[i].amount += choice.amount;
    sl_assignment.needs[i].contested |= choice.mode == SL_MODE_PREEMPT;
}

static void sum_needs(void)
{
    for (uint32_t i = 0;
         i < sl_assignment.choice_count && sl_assignment.need_count <= SL_CLAIMS_MAX; i++) {
        if (sl_assignment.choices[i].amount != 0) {
            add_need(sl_assignment.choices[i]);
        }
    }
}

static void assign(sl_workload_id id, sl_node_id queue, int64_t now_ms, bool reduced)
{
    begin(id, queue, now_ms);
    gather_pod_sets(id, reduced);
    sl_flavors_check_progress(id, queue);
    if (assign_groups()) {
        sl_assignment.mode = SL_MODE_FIT;
        sl_assignment.reason = SL_PENDING_WAITING_FOR_QUOTA;
        for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
            if (sl_assignment.modes[i] < sl_assignment.mode) {
                sl_assignment.mode = sl_assignment.modes[i];
            }
        }
        sl_flavors_place();
    }
    sum_needs();
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        sl_flavors_assumed[sl_assignment.choices[i].cell] = 0;
    }
}

void sl_flavors_assign(sl_workload_id id, sl_node_id cluster_queue, int64_t now_ms)
{
    assign(id, cluster_queue, now_ms, false);
}

void sl_flavors_assign_counts(sl_workload_id id, sl_node_id cluster_queue, int64_t now_ms)
{
    assign(id, cluster_queue, now_ms, true);
}
