/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The workloads that are to be tried next: in the heap of their queue or, where the queue admits by
 * usage (admission fair sharing), in the heap of their account, so that nothing has to be sorted
 * again when usage changes. Owns the list of accounts of each queue. */
#ifndef SL_POLICY_FRONTS_H
#define SL_POLICY_FRONTS_H
#include "policy/queues/heap.h"
#include "policy/fair/usage.h"

/* The account by which the queue ranks this workload; SL_NO_ID = it does not rank by usage. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_ACCOUNTS_MAX || \result == SL_NO_ID; */
sl_account_id sl_fronts_account(sl_qnode_id queue, sl_workload_id id);

/* Nothing happens when it is in a heap already, or an id is out of range. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_fronts_push(sl_qnode_id queue, sl_workload_id id);
/* The one to be tried first, `sticky` before others of its account (SL_NO_ID = none is sticky);
 * SL_NO_ID = none. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID; */
sl_workload_id sl_fronts_first(sl_qnode_id queue, sl_workload_id sticky);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_fronts_count(sl_qnode_id queue);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_fronts_stands(sl_qnode_id queue, sl_workload_id id); /* is it in one of these heaps? */

/* The heaps of a queue one after the other, the queue's own first; SL_NO_ID = no more. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_HEAPS_MAX || \result == SL_NO_ID; */
sl_heap_id sl_fronts_next_heap(sl_qnode_id queue, sl_heap_id heap);
#endif
