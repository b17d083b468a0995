/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Second passes: grants by workload and pod set. A tree is kept as its id plus one, so that zero
 * memory means none. */
#include "policy/passes.h"

#include "kernel/lifecycle.h"
#include "kernel/second_pass.h"
#include "policy/demand.h"
#include "policy/queues.h"

static uint32_t granted_tree[SL_WORKLOADS_MAX][SL_POD_SETS_MAX];
static uint32_t granted_pods[SL_WORKLOADS_MAX][SL_POD_SETS_MAX];
static bool is_granted[SL_WORKLOADS_MAX];
static uint32_t iterations[SL_WORKLOADS_MAX]; /* how many passes failed one after the other */

static sl_workload_id taken[SL_WORKLOADS_MAX];
static uint32_t taken_count;

static void forget(sl_workload_id id)
{
    for (uint32_t i = 0; i < SL_POD_SETS_MAX && is_granted[id]; i++) {
        sl_queues_note_room(sl_passes_tree(id, i), true);
        granted_tree[id][i] = 0;
        granted_pods[id][i] = 0;
    }
    is_granted[id] = false;
    iterations[id] = 0;
}

void sl_passes_settle(sl_workload_id id, int64_t now_ms)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    if (!sl_lifecycle_holds_quota(id)) {
        forget(id);
    }
    if (!sl_second_pass_needed(id)) {
        sl_second_pass_cancel(id);
    } else if (sl_second_pass_arm(id, 0, now_ms) == SL_OK) { /* else it is armed already */
        iterations[id] = 0;
    }
}

void sl_passes_miss(sl_workload_id id, int64_t now_ms)
{
    if (id < SL_WORKLOADS_MAX && iterations[id] < UINT32_MAX) {
        iterations[id]++;
        if (sl_second_pass_arm(id, iterations[id], now_ms) != SL_OK) {
            iterations[id] = 0; /* it needs none any more */
        }
    }
}

/* From the end on: the place of one that is taken goes to the last. */
uint32_t sl_passes_take(int64_t now_ms)
{
    taken_count = 0;
    for (uint32_t i = sl_second_pass_count(); i > 0; i--) {
        sl_workload_id id = sl_second_pass_at(i - 1);
        if (sl_second_pass_take(id, now_ms) == SL_OK) {
            taken[taken_count] = id;
            taken_count++;
        }
    }
    return taken_count;
}

sl_workload_id sl_passes_taken(uint32_t index)
{
    return index < taken_count ? taken[index] : SL_NO_ID;
}

int64_t sl_passes_due_ms(void)
{
    int64_t due_ms = SL_NEVER;
    for (uint32_t i = 0; i < sl_second_pass_count(); i++) {
        int64_t one_ms = sl_second_pass_due_ms(sl_second_pass_at(i));
        if (due_ms == SL_NEVER || one_ms < due_ms) {
            due_ms = one_ms;
        }
    }
    return due_ms;
}

bool sl_passes_ready(int64_t now_ms)
{
    int64_t due_ms = sl_passes_due_ms();
    return due_ms != SL_NEVER && due_ms <= now_ms;
}

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
