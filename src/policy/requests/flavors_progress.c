/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, what is remembered: how far each pending workload's flavors were scanned, as
 * records from a pool (those that ended at the last flavor need none), and the pins of the
 * nomination at hand. A link is an index plus one; 0 says "none". */
#include "policy/flavors/flavors_scan.h"

#include "kernel/ledger/ledger.h"
#include "policy/common/settings.h"
#include "policy/requests/shape.h"

#define STEPS_MAX 4194304u

static uint32_t first_step[SL_WORKLOADS_MAX];
static uint64_t noted_cycle[SL_WORKLOADS_MAX];
static uint64_t noted_touch[SL_WORKLOADS_MAX];
static uint64_t noted_shape[SL_WORKLOADS_MAX];

/* One step: of this pod set and resource group the flavors up to this one were tried. */
static uint32_t step_next[STEPS_MAX];
static uint8_t step_pod_set[STEPS_MAX];
static uint8_t step_group[STEPS_MAX];
static int32_t step_tried[STEPS_MAX];
static uint32_t step_free;
static uint32_t step_limit;

/* Touches are numbered; a qnode's number says when its tree, or it alone, was touched last. */
static uint64_t touches;
static uint64_t touched_root[SL_QNODES_MAX];
static uint64_t touched_queue[SL_QNODES_MAX];

static uint64_t current_cycle;
static uint32_t valid_first; /* of the workload at hand, 0 when its progress is void */

static bool pinned;
static uint32_t pins[SL_POD_SETS_MAX][SL_GROUPS_MAX]; /* the flavor plus one */

/* clang-format off */
#define STEPS                                                                                      \
    first_step[0 .. SL_WORKLOADS_MAX - 1], step_next[0 .. STEPS_MAX - 1],                          \
        step_pod_set[0 .. STEPS_MAX - 1], step_group[0 .. STEPS_MAX - 1],                          \
        step_tried[0 .. STEPS_MAX - 1], step_free, step_limit
/* clang-format on */

/*@
  // Every link is none or names a step, so that following it is safe.
  predicate StepLinks{L} = step_free <= STEPS_MAX && step_limit <= STEPS_MAX &&
    valid_first <= STEPS_MAX &&
    (\forall integer w; 0 <= w < SL_WORKLOADS_MAX ==> first_step[w] <= STEPS_MAX) &&
    (\forall integer s; 0 <= s < STEPS_MAX ==> step_next[s] <= STEPS_MAX);
*/

/* --- records --------------------------------------------------------------------------------- */

/*@ requires links: StepLinks; terminates \true; exits \false; assigns step_free, step_limit;
    ensures links: StepLinks && \result <= STEPS_MAX; */
static uint32_t take_step(void)
{
    uint32_t link = step_free;
    if (link != 0) {
        step_free = step_next[link - 1];
    } else if (step_limit < STEPS_MAX) {
        step_limit++;
        link = step_limit;
    }
    return link;
}

/*@ requires links: StepLinks; terminates \true; exits \false; assigns STEPS;
    ensures links: StepLinks; */
void sl_flavors_forget(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    uint32_t link = first_step[id];
    /*@
      loop invariant links: StepLinks && link <= STEPS_MAX;
      loop assigns steps, link, step_free, step_next[0 .. STEPS_MAX - 1];
      loop variant STEPS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < STEPS_MAX; steps++) {
        uint32_t next = step_next[link - 1];
        step_next[link - 1] = step_free;
        step_free = link;
        link = next;
    }
    first_step[id] = 0;
}

/* The step of this pod set and group in the list, 0 when there is none. */
/*@ requires links: StepLinks && link <= STEPS_MAX; terminates \true; exits \false;
    assigns \nothing; ensures bound: \result <= STEPS_MAX; */
static uint32_t find_step(uint32_t link, uint32_t pod_set, uint32_t group)
{
    /*@
      loop invariant link: link <= STEPS_MAX;
      loop assigns steps, link;
      loop variant STEPS_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < STEPS_MAX &&
                             (step_pod_set[link - 1] != pod_set || step_group[link - 1] != group);
         steps++) {
        link = step_next[link - 1];
    }
    return link;
}

/* False when no memory is left. */
/*@ requires links: StepLinks && id < SL_WORKLOADS_MAX && index < SL_CHOICES_MAX;
    terminates \true; exits \false; assigns STEPS; ensures links: StepLinks; */
static bool add_step(sl_workload_id id, uint32_t index)
{
    struct sl_choice choice = sl_assignment.choices[index];
    uint32_t group = sl_offers_group_of(choice.cell);
    if (choice.tried_flavor < 0 || group >= SL_GROUPS_MAX ||
        find_step(first_step[id], choice.pod_set, group) != 0) {
        return true;
    }
    uint32_t link = take_step();
    if (link == 0) {
        return false;
    }
    step_pod_set[link - 1] = (uint8_t)choice.pod_set;
    step_group[link - 1] = (uint8_t)group;
    step_tried[link - 1] = choice.tried_flavor;
    step_next[link - 1] = first_step[id];
    first_step[id] = link;
    return true;
}

/*@ requires links: StepLinks; requires sound: AssignmentSound; terminates \true; exits \false;
    assigns STEPS, noted_cycle[0 .. SL_WORKLOADS_MAX - 1],
      noted_touch[0 .. SL_WORKLOADS_MAX - 1], noted_shape[0 .. SL_WORKLOADS_MAX - 1];
    ensures links: StepLinks; */
void sl_flavors_remember(uint64_t cycle)
{
    sl_workload_id id = sl_assignment.workload;
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    sl_flavors_forget(id);
    /*@
      loop invariant links: StepLinks;
      loop assigns i, STEPS;
      loop variant sl_assignment.choice_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        if (!add_step(id, i)) {
            sl_flavors_forget(id);
            return;
        }
    }
    if (first_step[id] != 0) {
        noted_cycle[id] = cycle;
        noted_touch[id] = touches;
        noted_shape[id] = sl_shape_hash(id);
    }
}

bool sl_flavors_left_to_try(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && first_step[id] != 0;
}

/* --- is it still valid? ---------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns current_cycle; */
void sl_flavors_set_cycle(uint64_t cycle)
{
    current_cycle = cycle;
}

/*@ terminates \true; exits \false; assigns touches, touched_root[0 .. SL_QNODES_MAX - 1]; */
void sl_flavors_touch_tree(sl_qnode_id qnode)
{
    sl_qnode_id root = sl_ledger_root_qnode(qnode);
    if (root < SL_QNODES_MAX) {
        touches++;
        touched_root[root] = touches;
    }
}

/*@ terminates \true; exits \false; assigns touches, touched_queue[0 .. SL_QNODES_MAX - 1]; */
void sl_flavors_touch_queue(sl_qnode_id queue)
{
    if (queue < SL_QNODES_MAX) {
        touches++;
        touched_queue[queue] = touches;
    }
}

/*@ requires known: QnodesLinked && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns \nothing; */
static bool is_touched(sl_workload_id id, sl_qnode_id queue)
{
    sl_qnode_id root = sl_ledger_root_qnode(queue);
    return root >= SL_QNODES_MAX || touched_root[root] > noted_touch[id] ||
           touched_queue[queue] > noted_touch[id];
}

/*@ requires known: QnodesLinked && id < SL_WORKLOADS_MAX; terminates \true; exits \false;
    assigns \nothing; */
static bool is_valid(sl_workload_id id, sl_qnode_id queue)
{
    if (sl_settings.preserve_scan_progress) {
        if (sl_settings.equivalence_hashing && noted_shape[id] != sl_shape_hash(id)) {
            return false;
        }
        if (current_cycle <= noted_cycle[id] + 1) {
            return true;
        }
    }
    return !is_touched(id, queue);
}

/*@ requires links: StepLinks; requires qnodes: QnodesLinked; terminates \true; exits \false;
    assigns valid_first; ensures links: StepLinks; */
void sl_flavors_check_progress(sl_workload_id id, sl_qnode_id queue)
{
    bool counts = !pinned && sl_settings.flavor_fungibility && sl_flavors_left_to_try(id);
    valid_first = counts && is_valid(id, queue) ? first_step[id] : 0;
}

/*@ requires links: StepLinks; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_flavors_start(uint32_t pod_set, uint32_t group)
{
    uint32_t link = find_step(valid_first, pod_set, group);
    return link != 0 ? (uint32_t)step_tried[link - 1] + 1 : 0;
}

/* --- pins ------------------------------------------------------------------------------------ */

/*@ terminates \true; exits \false; assigns pinned; */
void sl_flavors_unpin(void)
{
    pinned = false;
}

/*@ terminates \true; exits \false;
    assigns pinned, pins[0 .. SL_POD_SETS_MAX - 1][0 .. SL_GROUPS_MAX - 1]; */
void sl_flavors_pin(void)
{
    /*@
      loop assigns i, pins[0 .. SL_POD_SETS_MAX - 1][0 .. SL_GROUPS_MAX - 1];
      loop variant SL_POD_SETS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_POD_SETS_MAX; i++) {
        /*@ loop assigns k, pins[i][0 .. SL_GROUPS_MAX - 1]; loop variant SL_GROUPS_MAX - k; */
        for (uint32_t k = 0; k < SL_GROUPS_MAX; k++) {
            pins[i][k] = 0;
        }
    }
    /*@
      loop assigns i, pins[0 .. SL_POD_SETS_MAX - 1][0 .. SL_GROUPS_MAX - 1];
      loop variant sl_assignment.choice_count - i;
    */
    for (uint32_t i = 0; i < sl_assignment.choice_count; i++) {
        struct sl_choice choice = sl_assignment.choices[i];
        uint32_t group = sl_offers_group_of(choice.cell);
        if (choice.pod_set < SL_POD_SETS_MAX && group < SL_GROUPS_MAX) {
            pins[choice.pod_set][group] = choice.flavor + 1;
        }
    }
    pinned = true;
}

/* One pod set of a group that was given the flavor is enough: they all share it. */
bool sl_flavors_pinned_out(uint32_t group, sl_flavor_id flavor)
{
    bool found = !pinned;
    /*@ loop assigns i, found; loop variant sl_want.set_count - i; */
    for (uint32_t i = 0; i < sl_want.set_count && !found; i++) {
        found = pins[sl_want.indexes[i]][group] == flavor + 1;
    }
    return !found;
}
