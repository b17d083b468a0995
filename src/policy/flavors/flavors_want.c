/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, one group of pod sets: what they ask for together, and what each of them is
 * given of the flavor that was found. */
#include "policy/flavors/flavors_scan.h"

#include "kernel/ledger/ledger.h"
#include "policy/common/settings.h"
#include "policy/topology/trees.h"

/* --- what is wanted -------------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns \nothing; */
static uint32_t groups_offering(sl_resource_id resource)
{
    uint32_t groups = 0;
    sl_cell_id cell = sl_offers_first(sl_want.queue);
    /*@ loop assigns steps, cell, groups; loop variant SL_CELLS_MAX - steps; */
    for (uint32_t steps = 0; cell != SL_NO_ID && steps < SL_CELLS_MAX; steps++) {
        uint32_t group = sl_offers_group_of(cell);
        if (group < SL_GROUPS_MAX && sl_ledger_resource_of(cell) == resource) {
            groups |= 1u << group;
        }
        cell = sl_offers_next(cell);
    }
    return groups;
}

/* The want of that resource, sl_want.count when there is none. */
/*@ requires want: WantSound; terminates \true; exits \false; assigns \nothing;
    ensures found: \result <= sl_want.count; */
static uint32_t find_want(sl_resource_id resource)
{
    uint32_t i = 0;
    /*@ loop invariant i: i <= sl_want.count; loop assigns i; loop variant sl_want.count - i; */
    while (i < sl_want.count && sl_want.resource[i] != resource) {
        i++;
    }
    return i;
}

/* Make room where it belongs by the resources' order; where that is. */
/*@ requires want: WantSound && WantsInRange && sl_want.count < SL_WANTS_MAX;
    terminates \true; exits \false; assigns SL_WANTS;
    ensures want: WantSound && WantsInRange && \result < SL_WANTS_MAX; */
static uint32_t insert_want(sl_resource_id resource)
{
    uint32_t i = sl_want.count;
    /*@
      loop invariant i: i <= sl_want.count;
      loop invariant range: WantsInRange;
      loop assigns i, sl_want.resource[0 .. SL_WANTS_MAX - 1],
        sl_want.amount[0 .. SL_WANTS_MAX - 1], sl_want.groups[0 .. SL_WANTS_MAX - 1];
      loop variant i;
    */
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

/*@ requires want: WantSound && WantsInRange && 0 <= amount <= SL_AMOUNT_MAX + 1;
    terminates \true; exits \false; assigns SL_WANTS;
    ensures want: WantSound && WantsInRange; */
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
/*@ terminates \true; exits \false; assigns \nothing; */
static bool counts_pods(void)
{
    sl_resource_id pods = sl_offers_pods_resource();
    return pods != SL_NO_ID && groups_offering(pods) != 0;
}

/* What that many pods ask for; SL_AMOUNT_MAX + 1 = too much in any case. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures range: 0 <= \result <= SL_AMOUNT_MAX + 1; */
static int64_t amount_of(uint32_t request, uint32_t count)
{
    int64_t per_pod = sl_requests_per_pod(request);
    if (count != 0 && per_pod > SL_AMOUNT_MAX / (int64_t)count) {
        return SL_AMOUNT_MAX + 1;
    }
    //@ assert product: 0 <= per_pod * count <= SL_AMOUNT_MAX;
    return per_pod * (int64_t)count;
}

/*@ requires want: WantSound && WantsInRange && index < SL_POD_SETS_MAX;
    terminates \true; exits \false; assigns SL_WANTS;
    ensures want: WantSound && WantsInRange; */
static void add_wants_of(uint32_t index)
{
    uint32_t count = sl_assignment.counts[index];
    sl_resource_id pods = sl_offers_pods_resource();
    uint32_t r = sl_requests_first(sl_flavors_records[index]);
    /*@
      loop invariant want: WantSound && WantsInRange;
      loop assigns steps, r, SL_WANTS;
      loop variant SL_REQUESTS_MAX - steps;
    */
    for (uint32_t steps = 0; r != SL_NO_ID && steps < SL_REQUESTS_MAX; steps++) {
        if (sl_requests_resource(r) != pods) {
            add_want(sl_requests_resource(r), amount_of(r, count));
        }
        r = sl_requests_next(r);
    }
    if (counts_pods()) {
        add_want(pods, count);
    }
}

void sl_flavors_gather(uint32_t index)
{
    uint32_t group = sl_requests_group(sl_flavors_records[index]);
    sl_want.set_count = 0;
    sl_want.count = 0;
    /*@
      loop invariant want: WantSound && WantsInRange;
      loop invariant capacity: index <= i && sl_want.set_count <= i - index;
      loop assigns i, SL_WANTS, SL_MEMBERS;
      loop variant sl_assignment.pod_set_count - i;
    */
    for (uint32_t i = index; i < sl_assignment.pod_set_count; i++) {
        if (i == index ||
            (group != SL_NO_ID && sl_requests_group(sl_flavors_records[i]) == group)) {
            sl_want.sets[sl_want.set_count] = sl_flavors_records[i];
            sl_want.indexes[sl_want.set_count] = i;
            sl_want.set_count++;
            sl_assignment.examined[i] = true;
            add_wants_of(i);
        }
    }
}

/* --- what is chosen -------------------------------------------------------------------------- */

/*@
  predicate ChoiceReady{L} = AssignmentSound && ChoicesSound && WantSound && WantsInRange;
  predicate Chosen{A, B} = AssignmentSound{B} && ChoicesSound{B} &&
    \at(sl_assignment.choice_count, A) <= \at(sl_assignment.choice_count, B);
*/

/* The choice of the group's pod set for the resource, or the next free one. */
/*@ requires sound: AssignmentSound; terminates \true; exits \false; assigns \nothing; */
static uint32_t find_choice(uint32_t first, uint32_t index, sl_resource_id resource)
{
    uint32_t i = first;
    /*@ loop assigns i; loop variant sl_assignment.choice_count - i; */
    while (i < sl_assignment.choice_count && (sl_assignment.choices[i].pod_set != index ||
                                              sl_assignment.choices[i].resource != resource)) {
        i++;
    }
    return i;
}

/*@ requires sound: ChoiceReady && index < SL_POD_SETS_MAX && i < SL_WANTS_MAX &&
      0 <= amount <= SL_AMOUNT_MAX + 1; terminates \true; exits \false; assigns SL_CHOICES;
    ensures chosen: Chosen{Pre, Post}; */
static void choose(uint32_t first, uint32_t index, uint32_t i, int64_t amount)
{
    sl_cell_id cell = sl_flavors_cell(sl_scan.first, sl_want.resource[i]);
    uint32_t place = find_choice(first, index, sl_want.resource[i]);
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

/*@ requires want: WantSound && group < SL_GROUPS_MAX; terminates \true; exits \false;
    assigns \nothing; ensures known: \result ==> i < sl_want.count; */
static bool is_wanted_of(uint32_t i, uint32_t group)
{
    return i < sl_want.count && (sl_want.groups[i] >> group & 1u) != 0;
}

/* One of a topology group that asks for nothing (a leader, say) goes where the others do. */
/*@ requires sound: ChoiceReady && index < SL_POD_SETS_MAX && group < SL_GROUPS_MAX;
    terminates \true; exits \false; assigns SL_CHOICES;
    ensures chosen: Chosen{Pre, Post}; */
static void choose_along(uint32_t first, uint32_t index, uint32_t group)
{
    /*@
      loop invariant chosen: Chosen{Pre, Here};
      loop assigns i, SL_CHOICES;
      loop variant sl_want.count - i;
    */
    for (uint32_t i = 0; i < sl_want.count; i++) {
        if (is_wanted_of(i, group)) {
            choose(first, index, i, 0);
        }
    }
}

/*@ requires index: index < SL_POD_SETS_MAX; terminates \true; exits \false; assigns \nothing; */
static bool goes_along(uint32_t index)
{
    uint32_t record = sl_flavors_records[index];
    return sl_requests_first(record) == SL_NO_ID && !counts_pods() &&
           sl_requests_group(record) != SL_NO_ID && sl_settings.topology &&
           sl_trees_known(sl_ledger_flavor_of(sl_scan.first));
}

/* Give each pod set its part of the flavor that was found. */
/*@ requires sound: ChoiceReady && index < SL_POD_SETS_MAX && group < SL_GROUPS_MAX;
    terminates \true; exits \false; assigns SL_CHOICES;
    ensures chosen: Chosen{Pre, Post}; */
static void choose_for(uint32_t first, uint32_t index, uint32_t group)
{
    if (goes_along(index)) {
        choose_along(first, index, group);
        return;
    }
    uint32_t count = sl_assignment.counts[index];
    sl_resource_id pods = sl_offers_pods_resource();
    uint32_t r = sl_requests_first(sl_flavors_records[index]);
    /*@
      loop invariant chosen: Chosen{Pre, Here};
      loop assigns steps, r, SL_CHOICES;
      loop variant SL_REQUESTS_MAX - steps;
    */
    for (uint32_t steps = 0; r != SL_NO_ID && steps < SL_REQUESTS_MAX; steps++) {
        uint32_t i = find_want(sl_requests_resource(r));
        if (is_wanted_of(i, group) && sl_want.resource[i] != pods) {
            choose(first, index, i, amount_of(r, count));
        }
        r = sl_requests_next(r);
    }
    uint32_t i = find_want(pods);
    if (is_wanted_of(i, group)) {
        choose(first, index, i, count);
    }
}

void sl_flavors_choose(uint32_t first, uint32_t group)
{
    /*@
      loop invariant chosen: Chosen{Pre, Here};
      loop assigns k, SL_CHOICES;
      loop variant sl_want.set_count - k;
    */
    for (uint32_t k = 0; k < sl_want.set_count; k++) {
        choose_for(first, sl_want.indexes[k], group);
    }
}

void sl_flavors_settle(uint32_t first, bool at_once)
{
    /*@ loop assigns k, SL_MODES; loop variant sl_want.set_count - k; */
    for (uint32_t k = 0; k < sl_want.set_count; k++) {
        sl_assignment.modes[sl_want.indexes[k]] = SL_MODE_FIT;
    }
    /*@
      loop invariant range: WantsInRange;
      loop assigns i, SL_SETTLED;
      loop variant sl_assignment.choice_count - i;
    */
    for (uint32_t i = first; i < sl_assignment.choice_count; i++) {
        struct sl_choice choice = sl_assignment.choices[i];
        int64_t assumed = sl_flavors_assumed[choice.cell] + choice.amount;
        sl_flavors_assumed[choice.cell] = assumed <= SL_AMOUNT_MAX ? assumed : SL_AMOUNT_MAX + 1;
        if (!at_once && choice.mode < sl_assignment.modes[choice.pod_set]) {
            sl_assignment.modes[choice.pod_set] = choice.mode;
        }
        if (choice.borrow_height > sl_assignment.borrow_height) {
            sl_assignment.borrow_height = choice.borrow_height;
        }
    }
}
