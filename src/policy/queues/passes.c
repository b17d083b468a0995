/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Second passes: grants by workload and pod set. A tree is kept as its id plus one, so that zero
 * memory means none. */
#include "policy/queues/passes.h"

#include "kernel/lifecycle/lifecycle.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/queues/queues.h"

static uint32_t granted_tree[SL_WORKLOADS_MAX][SL_POD_SETS_MAX];
static uint32_t granted_pods[SL_WORKLOADS_MAX][SL_POD_SETS_MAX];
static bool is_granted[SL_WORKLOADS_MAX];
static uint32_t iterations[SL_WORKLOADS_MAX]; /* how many passes failed one after the other */

static sl_workload_id taken[SL_WORKLOADS_MAX];
static uint32_t taken_count;

static int64_t soonest_ms; /* when the next pass is due, SL_NEVER = none is armed: while known */
static bool soonest_known;

/* clang-format off */
#define GRANTS                                                                                     \
    granted_tree[0 .. SL_WORKLOADS_MAX - 1][0 .. SL_POD_SETS_MAX - 1],                             \
        granted_pods[0 .. SL_WORKLOADS_MAX - 1][0 .. SL_POD_SETS_MAX - 1],                         \
        is_granted[0 .. SL_WORKLOADS_MAX - 1]
#define ITERATIONS iterations[0 .. SL_WORKLOADS_MAX - 1]
#define SOONEST soonest_ms, soonest_known
/* clang-format on */

/*@
  // Those that were taken are workloads.
  predicate TakenSound{L} = taken_count <= SL_WORKLOADS_MAX &&
    \forall integer i; 0 <= i < SL_WORKLOADS_MAX ==> taken[i] < SL_WORKLOADS_MAX;
*/

/* The pass of this workload was due at that time, and is now at another, or armed, or not. */
/*@ requires entries: EntriesInv; terminates \true; exits \false; assigns SOONEST; */
static void note_change(sl_workload_id id, int64_t before_ms)
{
    int64_t after_ms = sl_second_pass_due_ms(id);
    if (before_ms == after_ms) {
        return;
    }
    if (before_ms != SL_NEVER && before_ms == soonest_ms) {
        soonest_known = false;
    }
    if (after_ms != SL_NEVER && (soonest_ms == SL_NEVER || after_ms < soonest_ms)) {
        soonest_ms = after_ms;
    }
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool stands_on(sl_workload_id id, sl_tree_id tree)
{
    bool found = false;
    /*@ loop assigns i, found; loop variant SL_POD_SETS_MAX - i; */
    for (uint32_t i = 0; i < SL_POD_SETS_MAX && !found; i++) {
        found = tree != SL_NO_ID && sl_passes_tree(id, i) == tree;
    }
    return found;
}

/* From the end on: one that is armed anew comes last, and the last one takes its place. How often it failed is not
 * forgotten. */
/*@ requires entries: EntriesInv && RecordsValid; terminates \true; exits \false;
    assigns SL_PASS_TIMERS, SOONEST; ensures entries: EntriesInv; */
void sl_passes_note_capacity(sl_tree_id tree, int64_t now_ms)
{
    /*@ loop invariant entries: EntriesInv; loop assigns i, SL_PASS_TIMERS, SOONEST;
        loop variant i; */
    for (uint32_t i = sl_second_pass_count(); i > 0; i--) {
        sl_workload_id id = sl_second_pass_at(i - 1);
        int64_t before_ms = sl_second_pass_due_ms(id);
        if (stands_on(id, tree) && before_ms > SL_PASS_AFTER_CAPACITY_MS &&
            before_ms - SL_PASS_AFTER_CAPACITY_MS > now_ms) {
            sl_second_pass_cancel(id);
            (void)!sl_second_pass_arm(id, 0, now_ms); /* unless it needs none any more */
            note_change(id, before_ms);
        }
    }
}

/* It has left its capacities. */
/*@ requires known: id < SL_WORKLOADS_MAX; requires entries: EntriesInv && RecordsValid;
    terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS, GRANTS, ITERATIONS, SOONEST; ensures entries: EntriesInv; */
static void forget(sl_workload_id id, int64_t now_ms)
{
    /*@
      loop invariant entries: EntriesInv;
      loop assigns i, sl_hidden, SL_PASS_TIMERS, SOONEST,
        granted_tree[id][0 .. SL_POD_SETS_MAX - 1], granted_pods[id][0 .. SL_POD_SETS_MAX - 1];
      loop variant SL_POD_SETS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_POD_SETS_MAX && is_granted[id]; i++) {
        sl_tree_id tree = sl_passes_tree(id, i);
        granted_tree[id][i] = 0;
        granted_pods[id][i] = 0;
        sl_queues_note_capacity(tree, true);
        sl_passes_note_capacity(tree, now_ms);
    }
    is_granted[id] = false;
    iterations[id] = 0;
}

/*@ requires entries: EntriesInv && RecordsValid; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS, GRANTS, ITERATIONS, SOONEST; */
void sl_passes_settle(sl_workload_id id, int64_t now_ms)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    int64_t before_ms = sl_second_pass_due_ms(id);
    if (!sl_lifecycle_holds_capacity(id)) {
        forget(id, now_ms);
    }
    if (!sl_second_pass_needed(id)) {
        sl_second_pass_cancel(id);
    } else if (sl_second_pass_arm(id, 0, now_ms) == SL_OK) { /* else it is armed already */
        iterations[id] = 0;
    }
    note_change(id, before_ms);
}

/*@ requires entries: EntriesInv && RecordsValid; terminates \true; exits \false;
    assigns SL_PASS_TIMERS, ITERATIONS, SOONEST; */
void sl_passes_miss(sl_workload_id id, int64_t now_ms)
{
    if (id < SL_WORKLOADS_MAX && iterations[id] < UINT32_MAX) {
        int64_t before_ms = sl_second_pass_due_ms(id);
        iterations[id]++;
        if (sl_second_pass_arm(id, iterations[id], now_ms) != SL_OK) {
            iterations[id] = 0; /* it needs none any more */
        }
        note_change(id, before_ms);
    }
}

/* From the end on: the place of one that is taken goes to the last. */
/*@ requires entries: EntriesInv && RecordsValid; requires taken: TakenSound; terminates \true;
    exits \false; assigns SL_PASS_TIMERS, taken[0 .. SL_WORKLOADS_MAX - 1], taken_count, SOONEST;
    ensures taken: TakenSound; */
uint32_t sl_passes_take(int64_t now_ms)
{
    taken_count = 0;
    if (!sl_passes_ready(now_ms)) {
        return 0;
    }
    /*@
      loop invariant entries: EntriesInv && TakenSound;
      loop assigns i, SL_PASS_TIMERS, taken[0 .. SL_WORKLOADS_MAX - 1], taken_count;
      loop variant i;
    */
    for (uint32_t i = sl_second_pass_count(); i > 0; i--) {
        sl_workload_id id = sl_second_pass_at(i - 1);
        if (taken_count < SL_WORKLOADS_MAX && sl_second_pass_take(id, now_ms) == SL_OK) {
            taken[taken_count] = id;
            taken_count++;
        }
    }
    soonest_known = false;
    return taken_count;
}

/*@ requires taken: TakenSound; terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_passes_taken(uint32_t index)
{
    return index < taken_count ? taken[index] : SL_NO_ID;
}

/*@ requires entries: EntriesInv; terminates \true; exits \false; assigns SOONEST; */
static void find_soonest(void)
{
    soonest_ms = SL_NEVER;
    soonest_known = true;
    /*@ loop assigns i, soonest_ms; loop variant sl_second_pass_total - i; */
    for (uint32_t i = 0; i < sl_second_pass_count(); i++) {
        int64_t one_ms = sl_second_pass_due_ms(sl_second_pass_at(i));
        if (soonest_ms == SL_NEVER || one_ms < soonest_ms) {
            soonest_ms = one_ms;
        }
    }
}

/*@ requires entries: EntriesInv; terminates \true; exits \false; assigns SOONEST; */
int64_t sl_passes_due_ms(void)
{
    if (!soonest_known) {
        find_soonest();
    }
    return soonest_ms;
}

/*@ requires entries: EntriesInv; terminates \true; exits \false; assigns SOONEST; */
bool sl_passes_ready(int64_t now_ms)
{
    int64_t due_ms = sl_passes_due_ms();
    return due_ms != SL_NEVER && due_ms <= now_ms;
}

/*@ terminates \true; exits \false; assigns GRANTS; */
void sl_passes_grant(sl_workload_id id, uint32_t pod_set, sl_tree_id tree, uint32_t count)
{
    if (id < SL_WORKLOADS_MAX && pod_set < SL_POD_SETS_MAX && tree != SL_NO_ID) {
        granted_tree[id][pod_set] = tree + 1;
        granted_pods[id][pod_set] = count;
        is_granted[id] = true;
    }
}

sl_tree_id sl_passes_tree(sl_workload_id id, uint32_t pod_set)
{
    bool granted = id < SL_WORKLOADS_MAX && pod_set < SL_POD_SETS_MAX && is_granted[id] &&
                   granted_tree[id][pod_set] != 0;
    return granted ? granted_tree[id][pod_set] - 1 : SL_NO_ID;
}

uint32_t sl_passes_pods(sl_workload_id id, uint32_t pod_set)
{
    return sl_passes_tree(id, pod_set) != SL_NO_ID ? granted_pods[id][pod_set] : 0;
}
