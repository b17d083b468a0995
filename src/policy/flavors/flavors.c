/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, one workload: group after group of pod sets, and of each its resource groups.
 * What earlier groups were given counts as used for the later ones: it is kept beside the ledger,
 * per cell, and taken back at the end. */
#include "policy/flavors/flavors.h"

#include "kernel/ledger/ledger.h"
#include "policy/flavors/flavors_scan.h"
#include "policy/common/settings.h"
#include "policy/requests/slices.h"
#include "policy/topology/trees.h"

static uint32_t settled_groups; /* bits: resource groups that were dealt with for it */

/* clang-format off */
#define SCANNED sl_hidden, SL_SEARCHED, SL_DETAILS, SL_ATTEMPTS, sl_scan, SL_CHOICES
#define GROUPED SCANNED, SL_SETTLED, SL_WANTS, SL_MEMBERS, settled_groups
#define POD_SETS                                                                                   \
    sl_assignment.pod_set_count, sl_assignment.counts[0 .. SL_POD_SETS_MAX - 1],                   \
        sl_assignment.examined[0 .. SL_POD_SETS_MAX - 1], SL_MODES,                                \
        sl_flavors_records[0 .. SL_POD_SETS_MAX - 1]
#define NEEDS sl_assignment.needs[0 .. SL_USAGE_CELLS_MAX - 1], sl_assignment.need_count
#define ASSIGNED                                                                                   \
    sl_hidden, SL_SEARCHED, sl_assignment, sl_placement_question, sl_want, sl_scan,                \
        settled_groups, sl_flavors_assumed[0 .. SL_CELLS_MAX - 1],                                 \
        sl_flavors_records[0 .. SL_POD_SETS_MAX - 1]
/* clang-format on */

/*@
  // All that the search of a group needs, and what it keeps beside the ledger.
  predicate Sound{L} = AssignmentSound && ChoicesSound && WantSound && WantsInRange;
  predicate Searched{A, B} = SearchReady{B} && TakenBack{A, B} && AssignmentSound{B} &&
    ChoicesSound{B};
*/

/* --- one group of pod sets ------------------------------------------------------------------- */

/* Details of flavors that did not fit are no news once another fits at once. */
/*@ requires ready: SearchReady && Sound && group < SL_GROUPS_MAX; terminates \true; exits \false;
    assigns SCANNED;
    ensures searched: Searched{Pre, Post};
    ensures more: sl_assignment.detail_count >= \old(sl_assignment.detail_count) &&
      sl_assignment.choice_count >= \old(sl_assignment.choice_count); */
static bool assign_resource_group(uint32_t first, uint32_t group)
{
    struct sl_notes_mark before = sl_flavors_mark_notes();
    sl_flavors_scan(group);
    sl_flavors_end_resource_group();
    if (sl_scan.fit == SL_FIT_AT_ONCE) {
        sl_flavors_drop_notes(before, sl_flavors_mark_notes());
    }
    if (sl_scan.fit != SL_FIT_NOT) {
        sl_flavors_choose(first, group);
    }
    return sl_scan.fit != SL_FIT_NOT;
}

/* The first resource group that offers it. */
/*@ terminates \true; exits \false; assigns \nothing; ensures known: \result < SL_GROUPS_MAX; */
static uint32_t lowest_group(uint32_t groups)
{
    uint32_t group = 0;
    /*@
      loop invariant known: group < SL_GROUPS_MAX;
      loop assigns group;
      loop variant SL_GROUPS_MAX - group;
    */
    while (group + 1 < SL_GROUPS_MAX && (groups >> group & 1u) == 0) {
        group++;
    }
    return group;
}

/* False when it has no place. */
/*@ requires ready: SearchReady && Sound && i < SL_WANTS_MAX; terminates \true; exits \false;
    assigns SCANNED, settled_groups;
    ensures searched: Searched{Pre, Post};
    ensures more: sl_assignment.detail_count >= \old(sl_assignment.detail_count) &&
      sl_assignment.choice_count >= \old(sl_assignment.choice_count); */
static bool assign_want(uint32_t first, uint32_t i)
{
    uint32_t groups = sl_want.groups[i];
    if ((groups & settled_groups) != 0) {
        return true; /* it came with another resource of its group */
    }
    if (groups != 0) {
        uint32_t group = lowest_group(groups);
        settled_groups |= 1u << group;
        return assign_resource_group(first, group);
    }
    if (sl_want.amount[i] == 0 || sl_settings.ignore_undeclared) {
        return true;
    }
    sl_flavors_note(SL_MISS_NOT_OFFERED, SL_NO_ID, sl_want.resource[i], sl_want.amount[i]);
    return false;
}

/* Where one resource does not fit the group gets nothing, and the reason names only that resource.
 * Under PreemptionOverBorrowing a flavor of which one resource fits by borrowing counts as fitting
 * even if another needs victims: as in Kueue it waits then, and no workload is preempted. */
/*@ requires ready: SearchReady && Sound; terminates \true; exits \false;
    assigns SCANNED, SL_SETTLED, settled_groups;
    ensures ready: SearchReady && WantsInRange;
    ensures back: TakenBack{Pre, Post};
    ensures sound: AssignmentSound && ChoicesSound; */
static bool assign_group(void)
{
    struct sl_notes_mark before = sl_flavors_mark_notes();
    uint32_t first = sl_assignment.choice_count;
    bool at_once = true;
    settled_groups = 0;
    sl_flavors_begin_reason();
    /*@
      loop invariant ready: SearchReady && AssignmentSound && ChoicesSound;
      loop invariant back: TakenBack{Pre, Here};
      loop invariant more: sl_assignment.detail_count >= before.details &&
        sl_assignment.choice_count >= first;
      loop assigns i, at_once, SCANNED, settled_groups;
      loop variant sl_want.count - i;
    */
    for (uint32_t i = 0; i < sl_want.count; i++) {
        struct sl_notes_mark here = sl_flavors_mark_notes();
        uint32_t settled = settled_groups;
        bool placed = assign_want(first, i);
        //@ assert kept: PastKept{Pre, Here};
        //@ assert back: TakenBack{Pre, Here};
        at_once = at_once && (settled_groups == settled || sl_scan.fit == SL_FIT_AT_ONCE);
        if (!placed) {
            sl_assignment.choice_count = first;
            sl_flavors_drop_notes(before, here);
            return false;
        }
    }
    sl_flavors_settle(first, at_once);
    return true;
}

/* --- one workload ---------------------------------------------------------------------------- */

/*@ requires usage: UsageCountsValid; terminates \true; exits \false;
    assigns sl_hidden, sl_want.workload, sl_want.queue, sl_want.now_ms, sl_assignment,
      sl_placement_question, sl_topology_plan;
    ensures none: sl_assignment.pod_set_count == 0 && sl_assignment.choice_count == 0 &&
      sl_assignment.need_count == 0 && sl_assignment.detail_count == 0 &&
      sl_assignment.attempt_count == 0 && sl_placement_question.set_count == 0 && PlanBounded; */
static void begin(sl_workload_id id, sl_qnode_id queue, int64_t now_ms)
{
    sl_want.workload = id;
    sl_want.queue = queue;
    sl_want.now_ms = now_ms;
    sl_assignment.workload = id;
    sl_assignment.cluster_queue = queue;
    sl_assignment.replaces = sl_slices_old(id, queue);
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
/*@ requires sound: AssignmentSound; terminates \true; exits \false; assigns POD_SETS;
    ensures sound: AssignmentSound; */
static void gather_pod_sets(sl_workload_id id, bool reduced)
{
    /*@
      loop invariant sound: AssignmentSound;
      loop assigns pod_set, POD_SETS;
      loop variant SL_POD_SETS_MAX - sl_assignment.pod_set_count;
    */
    for (uint32_t pod_set = sl_requests_first_pod_set(id);
         pod_set != SL_NO_ID && sl_assignment.pod_set_count < SL_POD_SETS_MAX;
         pod_set = sl_requests_next_pod_set(pod_set)) {
        uint32_t i = sl_assignment.pod_set_count;
        uint32_t all = sl_requests_pod_count(pod_set);
        sl_flavors_records[i] = pod_set;
        sl_assignment.counts[i] =
            reduced && sl_flavors_counts[i] < all ? sl_flavors_counts[i] : all;
        sl_assignment.examined[i] = false;
        sl_assignment.modes[i] = SL_MODE_NO_FIT;
        sl_assignment.pod_set_count++;
    }
}

/* Group by group until one has no place. */
/*@ requires ready: SearchReady && Sound; terminates \true; exits \false;
    assigns GROUPED, sl_assignment.reason; ensures ready: SearchReady && Sound;
    ensures back: TakenBack{Pre, Post}; */
static bool assign_groups(void)
{
    /*@
      loop invariant ready: SearchReady && Sound;
      loop invariant back: TakenBack{Pre, Here};
      loop assigns i, GROUPED;
      loop variant sl_assignment.pod_set_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        if (!sl_assignment.examined[i]) {
            sl_flavors_gather(i);
            bool placed = assign_group();
            //@ assert kept: PastKept{Pre, Here};
            //@ assert back: TakenBack{Pre, Here};
            if (!placed) {
                sl_assignment.reason = sl_flavors_reason();
                return false;
            }
        }
    }
    return sl_assignment.pod_set_count != 0;
}

/*@ requires sound: NeedsSound && sl_assignment.need_count <= SL_USAGE_CELLS_MAX;
    requires choice: choice.cell < SL_CELLS_MAX && 0 <= choice.amount <= SL_AMOUNT_MAX + 1;
    terminates \true; exits \false; assigns NEEDS;
    ensures sound: NeedsSound && sl_assignment.need_count <= SL_USAGE_CELLS_MAX + 1; */
static void add_need(struct sl_choice choice)
{
    uint32_t i = 0;
    /*@
      loop invariant i: i <= sl_assignment.need_count;
      loop assigns i;
      loop variant sl_assignment.need_count - i;
    */
    while (i < sl_assignment.need_count && sl_assignment.needs[i].cell != choice.cell) {
        i++;
    }
    if (i == sl_assignment.need_count) {
        sl_assignment.need_count++;
        if (i >= SL_USAGE_CELLS_MAX) {
            return;
        }
        struct sl_need need = {choice.cell, 0, false};
        sl_assignment.needs[i] = need;
    }
    int64_t sum = sl_assignment.needs[i].amount + choice.amount;
    sl_assignment.needs[i].amount = sum < SL_AMOUNT_MAX ? sum : SL_AMOUNT_MAX;
    if (choice.mode == SL_MODE_PREEMPT) {
        sl_assignment.needs[i].contested = true;
    }
}

/*@ requires sound: AssignmentSound && ChoicesSound && sl_assignment.need_count == 0;
    terminates \true; exits \false; assigns NEEDS;
    ensures sound: AssignmentSound && NeedsSound; */
static void sum_needs(void)
{
    /*@
      loop invariant sound: NeedsSound && sl_assignment.need_count <= SL_USAGE_CELLS_MAX + 1;
      loop assigns i, NEEDS;
      loop variant sl_assignment.choice_count - i;
    */
    for (uint32_t i = 0;
         i < sl_assignment.choice_count && sl_assignment.need_count <= SL_USAGE_CELLS_MAX; i++) {
        if (sl_assignment.choices[i].amount != 0) {
            add_need(sl_assignment.choices[i]);
        }
    }
}

/* What the slice that it replaces holds need not be available. */
/*@ requires sound: AssignmentSound && NeedsSound; requires usage: UsageCountsValid;
    terminates \true; exits \false; assigns NEEDS;
    ensures sound: AssignmentSound && NeedsSound; */
static void spare_held(void)
{
    uint32_t kept = 0;
    if (sl_assignment.replaces == SL_NO_ID || sl_assignment.need_count > SL_USAGE_CELLS_MAX) {
        return;
    }
    /*@
      loop invariant kept: kept <= i <= sl_assignment.need_count;
      loop invariant count: sl_assignment.need_count == \at(sl_assignment.need_count, LoopEntry);
      loop invariant sound: NeedsSound;
      loop assigns i, kept, sl_assignment.needs[0 .. SL_USAGE_CELLS_MAX - 1];
      loop variant sl_assignment.need_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.need_count; i++) {
        struct sl_need need = sl_assignment.needs[i];
        int64_t held = sl_slices_held(sl_assignment.replaces, need.cell);
        if (need.amount > held) {
            need.amount -= held;
            sl_assignment.needs[kept] = need;
            kept++;
        }
    }
    sl_assignment.need_count = kept;
}

/*@ requires sound: sl_assignment.pod_set_count <= SL_POD_SETS_MAX; terminates \true;
    exits \false; assigns \nothing; */
static enum sl_mode worst_mode(void)
{
    enum sl_mode worst = SL_MODE_FIT;
    /*@ loop assigns i, worst; loop variant sl_assignment.pod_set_count - i; */
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        worst = sl_assignment.modes[i] < worst ? sl_assignment.modes[i] : worst;
    }
    return worst;
}

/* Nothing is assumed any more. */
/*@ requires sound: Sound; terminates \true; exits \false;
    assigns sl_flavors_assumed[0 .. SL_CELLS_MAX - 1]; ensures range: WantsInRange; */
static void clear_assumed(void)
{
    /*@
      loop invariant range: WantsInRange;
      loop assigns i, sl_flavors_assumed[0 .. SL_CELLS_MAX - 1];
      loop variant sl_assignment.choice_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        sl_flavors_assumed[sl_assignment.choices[i].cell] = 0;
    }
}

/*@ requires ready: SearchReady && WantSound && WantsInRange; terminates \true; exits \false;
    assigns ASSIGNED;
    ensures searched: Searched{Pre, Post} && WantSound && WantsInRange;
    ensures sound: NeedsSound && PlacesAsked; */
static void assign(sl_workload_id id, sl_qnode_id queue, int64_t now_ms, bool reduced)
{
    begin(id, queue, now_ms);
    gather_pod_sets(id, reduced);
    sl_flavors_check_progress(id, queue);
    if (assign_groups()) {
        sl_assignment.mode = worst_mode();
        sl_assignment.reason = SL_PENDING_WAITING_FOR_QUOTA;
        sl_flavors_place();
    }
    sum_needs();
    spare_held();
    clear_assumed();
}

/*@ requires want: WantSound && WantsInRange; terminates \true; exits \false; assigns ASSIGNED;
    ensures want: WantSound && WantsInRange; */
void sl_flavors_assign(sl_workload_id id, sl_qnode_id cluster_queue, int64_t now_ms)
{
    assign(id, cluster_queue, now_ms, false);
}

/*@ requires want: WantSound && WantsInRange; terminates \true; exits \false; assigns ASSIGNED;
    ensures want: WantSound && WantsInRange; */
void sl_flavors_assign_counts(sl_workload_id id, sl_qnode_id cluster_queue, int64_t now_ms)
{
    assign(id, cluster_queue, now_ms, true);
}
