/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Binary heaps of workloads, linked through the workloads themselves: complete trees, so every
 * change takes at most log2(count) steps and no memory that could run out. Every ClusterQueue
 * has these kinds of heaps: those to try (one, or one per account where it admits by usage), those
 * that wait for their backoff, those that wait alone until something changes, and one per lane
 * (see lanes.h). A workload is in one heap at most. Owns the links. */
#ifndef SL_POLICY_HEAP_H
#define SL_POLICY_HEAP_H
#include "kernel/base/types.h"
#include "policy/fair/usage.h"
#include "specs/hidden.acsl"

#define SL_LANES_MAX SL_WORKLOADS_MAX
#define SL_HEAPS_MAX (3u * SL_QNODES_MAX + SL_ACCOUNTS_MAX + SL_LANES_MAX)

typedef uint32_t sl_heap_id;
#define SL_HEAP_OF_QUEUE(node) (node)                     /* to be tried: HEAP */
#define SL_HEAP_OF_BACKOFF(node) (SL_QNODES_MAX + (node)) /* INADMISSIBLE, as the others */
#define SL_HEAP_OF_ALONE(node) (2u * SL_QNODES_MAX + (node))
#define SL_HEAP_OF_ACCOUNT(account) (3u * SL_QNODES_MAX + (account)) /* to be tried: HEAP */
#define SL_HEAP_OF_LANE(lane) (3u * SL_QNODES_MAX + SL_ACCOUNTS_MAX + (lane))

/* Nothing happens when the workload is in a heap already, or an id is out of range. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_heap_push(sl_heap_id heap, sl_workload_id id);
/* Nothing happens when it is in no heap. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_heap_remove(sl_workload_id id);

/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID;
*/
sl_workload_id sl_heap_first(sl_heap_id heap); /* SL_NO_ID = empty */
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_heap_count(sl_heap_id heap);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_HEAPS_MAX || \result == SL_NO_ID;
  ensures beyond: id >= SL_WORKLOADS_MAX ==> \result == SL_NO_ID;
*/
sl_heap_id sl_heap_of(sl_workload_id id); /* SL_NO_ID = in none */
/* The workload at a position of the tree, 1 .. count; SL_NO_ID beyond. */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID;
*/
sl_workload_id sl_heap_at(sl_heap_id heap, uint32_t position);

/* Does every link of this workload agree with its counterpart, and is its parent tried before
 * it? */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_heap_agrees(sl_workload_id id);
#endif
