/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The head of each queue, and its preemptor: the workload that waits for its victims to stop. In a
 * BestEffortFIFO queue the preemptor is sticky: while it is in the heap it is the head, so that no
 * other workload gets what its victims free. A preemptor that loses this to others again and again
 * (a thwarted one) goes before them in the end. Owns the preemptor of each queue. */
#ifndef SL_POLICY_HEADS_H
#define SL_POLICY_HEADS_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* The sticky one if it is in the queue's heap, else the first of the heap; SL_NO_ID = none. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID; */
sl_workload_id sl_heads_first(sl_qnode_id queue);

/* It replaces the queue's preemptor. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_heads_set_preemptor(sl_qnode_id queue, sl_workload_id id, bool sticky);
/* It evicted a workload in this cycle. Others of its queue may be preemptors in between. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_heads_count_eviction(sl_workload_id id);
/* Its spec changed: it is not known to be a preemptor any more, but stays sticky. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_heads_doubt_preemptor(sl_qnode_id queue, sl_workload_id id);
/* It is neither any more: it was served, or left the queue. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_heads_forget(sl_qnode_id queue, sl_workload_id id);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result ==> queue < SL_QNODES_MAX && id < SL_WORKLOADS_MAX; */
bool sl_heads_is_preemptor(sl_qnode_id queue, sl_workload_id id);
/* Does it go before workloads that wait for no victims? By the setting
 * (PrioritizePreemptorWorkloads), or since it has evicted in SL_THWARTED_MAX cycles and still was
 * not admitted: Kueue would let the two take turns for ever. */
#define SL_THWARTED_MAX 8u
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_heads_goes_first(sl_qnode_id queue, sl_workload_id id);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result ==> queue < SL_QNODES_MAX; */
bool sl_heads_is_sticky(sl_qnode_id queue, sl_workload_id id);
#endif
