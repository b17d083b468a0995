/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The workloads that hold quota of each ClusterQueue: the lists that preemption walks (with
 * fair/branches.h, which has the children of each Cohort). Owns the links. Kept by queues.c. */
#ifndef SL_POLICY_HOLDERS_H
#define SL_POLICY_HOLDERS_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* Nothing happens when it is listed at that node already, or an id is out of range. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_holders_add(sl_qnode_id queue, sl_workload_id id);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_holders_remove(sl_workload_id id);

/* In no particular but a deterministic order; SL_NO_ID = no (more). */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID;
*/
sl_workload_id sl_holders_first(sl_qnode_id queue);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID;
*/
sl_workload_id sl_holders_next(sl_workload_id id);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID;
*/
sl_qnode_id sl_holders_queue_of(sl_workload_id id); /* SL_NO_ID = it holds nothing */
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_holders_count(sl_qnode_id queue);

/* Grows whenever a workload begins or ends to hold quota. */
/*@ terminates \true; exits \false; assigns \nothing; */
uint64_t sl_holders_change_number(void);

/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_holders_valid(void); /* are the lists sound? Linear in nodes and holders */
#endif
