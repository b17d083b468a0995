/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Second passes (Kueue's second_pass_queue.go): workloads that hold quota and are to be placed on
 * their topology once their checks are ready, or whose nodes have failed. Keeps the kernel's timers
 * (kernel/lifecycle/second_pass.h) in step with the records, and remembers what each holder was
 * granted: the tree of each of its pod sets that has a topology assignment or waits for one, and
 * its number of pods. Owns the grants and the iterations. */
#ifndef SL_POLICY_PASSES_H
#define SL_POLICY_PASSES_H
#include "kernel/commit/commit.h"
#include "kernel/lifecycle/second_pass.h"
#include "kernel/topology/topology.h"
#include "kernel/base/types.h"
#include "policy/requests/requests.h"
#include "specs/hidden.acsl"

/* clang-format off */
#define SL_PASS_TIMERS                                                                             \
    sl_second_passes[0 .. SL_WORKLOADS_MAX - 1], sl_second_pass_index[0 .. SL_WORKLOADS_MAX - 1],  \
        sl_second_pass_total
/* clang-format on */

/* Arm the workload's second pass (iteration 0) or cancel it, as its live record needs. After every
 * event that was given to sl_placement_event, and after every plan that was restored. */
/*@ requires entries: EntriesInv && RecordsValid; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS; ensures entries: EntriesInv; */
void sl_passes_settle(sl_workload_id id, int64_t now_ms);
/* When the next pass is due; SL_NEVER = none is armed. Linear in what is armed when the
 * one that was due first was taken or cancelled since it was asked last. */
/*@ requires entries: EntriesInv; terminates \true; exits \false; assigns sl_hidden; */
int64_t sl_passes_due_ms(void);
/* Is one due? Then a cycle is due too. */
/*@ requires entries: EntriesInv; terminates \true; exits \false; assigns sl_hidden; */
bool sl_passes_ready(int64_t now_ms);
/* For the cycle: take all that are due and still needed: how many, and which (until the next take).
 * One that found no place is armed again: later each time. */
/*@ requires entries: EntriesInv && RecordsValid; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS; ensures entries: EntriesInv;
    ensures bound: \result <= SL_WORKLOADS_MAX; */
uint32_t sl_passes_take(int64_t now_ms);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID; */
sl_workload_id sl_passes_taken(uint32_t index);
/*@ requires entries: EntriesInv && RecordsValid; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS; ensures entries: EntriesInv; */
void sl_passes_miss(sl_workload_id id, int64_t now_ms);

/* There may be new capacity on the tree: nodes were added or got free, or a workload left.
 * Workloads that wait for an assignment on it try again after SL_PASS_AFTER_CAPACITY_MS at the latest,
 * and not only when their backoff is over (Kueue waits for that). */
#define SL_PASS_AFTER_CAPACITY_MS 1000 /* as the first pass: nodes do not come alone */
/*@ requires entries: EntriesInv && RecordsValid; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS; ensures entries: EntriesInv; */
void sl_passes_note_capacity(sl_tree_id tree, int64_t now_ms);

/* What a holder was granted. The cycle notes it by itself; after a restart the caller that restores
 * the plan notes it, pod set by pod set (index in the workload), for those with a topology or one
 * that is still pending. Forgotten when the workload holds nothing any more (settle), which makes
 * room for others. Out of bounds: no effect. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_passes_grant(sl_workload_id id, uint32_t pod_set, sl_tree_id tree, uint32_t count);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result != SL_NO_ID ==> id < SL_WORKLOADS_MAX && pod_set < SL_POD_SETS_MAX; */
sl_tree_id sl_passes_tree(sl_workload_id id, uint32_t pod_set); /* SL_NO_ID = none */
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_passes_pods(sl_workload_id id, uint32_t pod_set);
#endif
