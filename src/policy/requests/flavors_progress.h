/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How far the flavors of each resource group were tried for a pending workload, across cycles (Kueue's
 * LastAssignment). An assignment starts after the flavor that is remembered while that is valid: the shape is the
 * same, and it is of this cycle or the one before, or nothing was touched since. flavors.h remembers. */
#ifndef SL_POLICY_FLAVORS_PROGRESS_H
#define SL_POLICY_FLAVORS_PROGRESS_H
#include "kernel/ledger/ledger.h"
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* Nothing is remembered of the workload any more; also when its slot becomes free. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_forget(sl_workload_id id);
/* Does it say that flavors are left to try (valid or not)? With the gate FlavorFungibility off a
 * scan never counts as finished where there was any choice, as in Kueue. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result ==> id < SL_WORKLOADS_MAX; */
bool sl_flavors_left_to_try(sl_workload_id id);
/* Called at the begin of a cycle, with numbers that go up by one. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_set_cycle(uint64_t cycle);
/* Older progress is void. Kueue (AllocatableResourceGeneration): of all queues of a tree when quota
 * or structure in it changes; of one queue when a workload that holds its quota is updated or
 * releases it, which every admission ends with too; not of its siblings. */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_touch_tree(sl_qnode_id qnode);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_flavors_touch_queue(sl_qnode_id queue);
#endif
