/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whose turn it is: which queues have a head worth trying, which wait for something to change,
 * and what has changed since. A cycle looks at these lists and so costs what there is to do, not
 * how many queues there are. Owns the lists, the marks, which queues are active and which head
 * holds its queue up. Lists are kept per root cohort tree: before a qnode moves, its tree is woken
 * and the marks are resolved (see queues.h). */
#ifndef SL_POLICY_TURNS_H
#define SL_POLICY_TURNS_H
#include "kernel/ledger/ledger.h"
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_set_active(sl_qnode_id queue, bool active);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_turns_is_active(sl_qnode_id queue);

/* As long as this workload is the queue's head, the queue is not tried: until woken (block); until
 * woken or roused, or until a cycle tries a workload in its tree (hold). A held head waits for
 * something that is on its way and counts on capacity meanwhile, so it takes part in every decision
 * in its tree. */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_block(sl_qnode_id queue, sl_workload_id head);
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_hold(sl_qnode_id queue, sl_workload_id head);
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_unblock(sl_qnode_id queue);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_turns_is_held(sl_qnode_id queue);
/* Unblock every held head of the tree: a workload in it was admitted or evicted. */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_rouse(sl_qnode_id root);

/* The queue's heap, lanes, activity or block changed: put it on the lists it belongs on. When
 * its held head is not its head any more, what it counted on is free: the others of the tree are
 * roused, and the tree is owed a wake-up. */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_refresh(sl_qnode_id queue);

/* Ready: active, with a head that is not blocked. SL_NO_ID = no (more). */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_turns_first_ready(void);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_turns_next_ready(sl_qnode_id queue);
/* Held heads of active queues, of one tree. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_turns_first_held(sl_qnode_id root);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_turns_next_held(sl_qnode_id queue);
/* Queues with a blocked head, a shut lane or one that waits alone, of one tree. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_turns_first_waiting(sl_qnode_id root);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_turns_next_waiting(sl_qnode_id queue);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_turns_is_waiting(sl_qnode_id queue);
/* No queue from here on was ever refreshed. */
/*@ terminates \true; exits \false; assigns \nothing; ensures bound: \result <= SL_QNODES_MAX; */
uint32_t sl_turns_queue_limit(void);

/* Something changed in the qnode's root cohort tree, or for this queue alone. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_mark_tree(sl_qnode_id qnode);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_mark_queue(sl_qnode_id queue);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_turns_marked(void);
/* Which of the waiting queues are woken by the marks: how many, and each; the marks are forgotten. */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden;
    ensures bound: \result <= SL_QNODES_MAX; */
uint32_t sl_turns_resolve(void);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_turns_woken(uint32_t index);
/* Wake-ups are numbered: the number of the last; was this queue woken by a later one than that?
 * Note_free counts as one although it opens nothing: what a workload in the tree counted on is free
 * from the next cycle on. */
/*@ terminates \true; exits \false; assigns \nothing; */
uint64_t sl_turns_wake_number(void);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_note_free(sl_qnode_id root);
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns \nothing; */
bool sl_turns_woken_since(sl_qnode_id queue, uint64_t number);

/* Something in the qnode's tree is free for which Kueue would wake no workload: the tree is woken
 * when there is nothing else to do. Once, until something happens there (it is marked or renewed,
 * or owed with `anew`): two workloads that wait for each other would never come to rest. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_owe_tree(sl_qnode_id qnode, bool anew);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_renew(sl_qnode_id root);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_turns_owes(void);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_turns_pay(void);

/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns \nothing; */
bool sl_turns_valid(void); /* every queue is on the lists it belongs on; linear time */
#endif
