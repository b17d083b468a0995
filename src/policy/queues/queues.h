/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The queues: which workloads are in line in which ClusterQueue, and in what state: to be tried (in
 * the heap, or behind the scout of its lane, see lanes.h), waiting for a backoff, or parked until
 * something changes. The kernel's place says where a workload is; these are indexes over it. Owns
 * which queue a workload belongs to; keeps the list of holders. Carries the policy's part of G8, G9
 * and G13.
 *
 * The way to use it: sl_queues_attach when the workload's queue is known, and sl_queues_settle
 * after every event that was given to sl_commit_event and every plan that was restored; it brings
 * the indexes in line with record and place, whatever happened, and wakes others where quota was
 * released. After its requests were changed, sl_queues_retry. */
#ifndef SL_POLICY_QUEUES_H
#define SL_POLICY_QUEUES_H
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/base/order.h"
#include "kernel/base/status.h"
#include "kernel/topology/topology.h"
#include "kernel/base/types.h"
#include "policy/requests/offers.h"
#include "specs/hidden.acsl"

/* --- ClusterQueues --------------------------------------------------------------------------- */

/* Set its rules and whether its heads are taken. Workloads attached to an inactive queue stay in
 * line and wait. Workloads that are parked in it or hold it up are tried again. Refused:
 * NO_QNODE. */
/*@ requires ledger: QnodesLinked && PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
enum sl_status sl_queues_configure(sl_qnode_id qnode, struct sl_rules rules,
                                   bool active) SL_MUST_CHECK;

/* Something changed that may help: in every queue of qnode's root cohort tree, or in this queue
 * alone, parked workloads may be tried again (not those that wait for their backoff), and so may a
 * head that was found blocked. Waking a tree also voids how far flavors were scanned in it. Takes
 * effect at the next sl_cycle_begin, however often it was called; wakes during a cycle are thus
 * never lost. When a qnode moves to another parent, wake its tree and flush before the move, and
 * wake it after the move. */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns sl_hidden; */
void sl_queues_wake_tree(sl_qnode_id qnode);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_queues_wake_queue(sl_qnode_id qnode);
/* A workload found no capacity on this tree. Once another one has left it, or no longer counts on
 * capacity there, the trees of all queues that offer the flavor are owed a wake-up (`anew`: as in
 * turns.h), and so are those that offer another flavor on some of the same nodes: nodes are shared
 * beyond Cohorts, and Kueue wakes only the Cohort of the workload that left. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_queues_note_roomless(sl_tree_id tree);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_queues_note_capacity(sl_tree_id tree, bool anew);
/* Apply at once what was woken (sl_cycle_begin does it by itself). */
/*@ requires ledger: QnodesLinked && PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_queues_flush(void);

/* This one is parked, as in Kueue, although it missed a wake-up: its scan of flavors was under way.
 * Paid when a cycle finds nothing else to do. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_queues_owe(sl_workload_id id);
/*@ requires ledger: QnodesLinked && PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_queues_pay(void);

/* Would a cycle try anything: a queue with an untried head, or a tree that is woken or owed a
 * wake-up? */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_queues_ready(void);

/* --- workloads ------------------------------------------------------------------------------- */

/* The workload belongs to this ClusterQueue from now on. One attached elsewhere is moved. Refused:
 * UNKNOWN_WORKLOAD (the slot is free), NO_QNODE. Then settle. */
/*@ requires ledger: QnodesLinked && PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1],
      sl_order_keys[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
enum sl_status sl_queues_attach(sl_workload_id id, sl_qnode_id qnode,
                                struct sl_order_key key) SL_MUST_CHECK;
/* Its queue is missing or stopped, or it moved: if it is in line it becomes an orphan. */
/*@ requires ledger: QnodesLinked && PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_queues_detach(sl_workload_id id);
/* Its priority or queue time changed. One that waits for its backoff goes on waiting; otherwise it
 * is ordered again, and stays parked only where all of its shape are. */
/*@ requires ledger: QnodesLinked && PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1],
      sl_order_keys[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_queues_set_key(sl_workload_id id, struct sl_order_key key);
/* Bring the indexes in line with record and place, and put a pending workload in line that is
 * attached and may be tried: into the heap, or aside while its backoff lasts. One that was turned
 * away for a check (objections.h) may be tried again once none objects. Changes nothing the second time. When the slot has become free its requests are forgotten too. */
/*@ requires ledger: QnodesLinked && PlacesAgree && UsageCountsValid; terminates \true;
    exits \false; assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1];
    ensures places: PlacesAgree; */
void sl_queues_settle(sl_workload_id id, int64_t now_ms);
/* As settle, and it may be tried again unless its backoff lasts or all of its shape are parked:
 * its own spec changed. */
/*@ requires ledger: QnodesLinked && PlacesAgree && UsageCountsValid; terminates \true;
    exits \false; assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1];
    ensures places: PlacesAgree; */
void sl_queues_retry(sl_workload_id id, int64_t now_ms);

/* Does its backoff last: Requeued is False, or requeueAt lies ahead? */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_queues_in_backoff(sl_workload_id id, int64_t now_ms);

/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_queues_queue_of(sl_workload_id id); /* SL_NO_ID = attached to none */
/*@ terminates \true; exits \false; assigns \nothing; ensures bound: \result <= SL_WORKLOADS_MAX; */
uint32_t sl_queues_workload_limit(void); /* no workload from here on was ever attached */

/* --- for the cycle --------------------------------------------------------------------------- */

/* Take the queue's head: place HEAP -> IN_FLIGHT. SL_NO_ID = none. Which queues: see turns.h. */
/*@ requires ledger: QnodesLinked && PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree;
    ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID; */
sl_workload_id sl_queues_take(sl_qnode_id qnode);
/* Put it back. Heap: to be tried again in the next cycle. Blocked: it stays the head, and its queue
 * is not tried until something changes. Held: as blocked, but it takes part again in any cycle that
 * tries a workload in its tree (turns.h). Parked: until woken, with all others of its shape where
 * there is equivalence hashing. Alone: until woken, by itself. Aside: it was turned away, until it
 * is not an outsider any more (outsiders.h). */
enum sl_put { SL_PUT_HEAP, SL_PUT_BLOCKED, SL_PUT_HELD, SL_PUT_PARKED, SL_PUT_ALONE, SL_PUT_ASIDE };
/*@ requires ledger: QnodesLinked && PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
void sl_queues_put_back(sl_workload_id id, enum sl_put how);
/* It is a head that keeps for itself what there is, though it may preempt no workload: when it leaves its queue,
 * its tree is owed a wake-up. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_queues_note_keeping(sl_workload_id id);

/* --- what is pending ------------------------------------------------------------------------- */
/* Would it be tried without anything changing (Kueue's heap: heads that hold up their queue too),
 * or, if it is in line at all, does it wait for a change or a backoff (Kueue's inadmissible)? */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_queues_awaits_turn(sl_workload_id id);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_queues_heap_count(sl_qnode_id qnode); /* how many await their turn */
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_queues_parked_count(sl_qnode_id qnode); /* how many wait for a change or a backoff */
/* List whatever is in line in a queue, parked or not, in the order of the queue; returns how many, and sl_queues_listed
 * gives them until the next list or cycle (SL_NO_ID beyond). Linear time, and what is given is sorted by then only. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
uint32_t sl_queues_list(sl_qnode_id qnode);
/*@ terminates \true; exits \false; assigns sl_hidden; */
sl_workload_id sl_queues_listed(uint32_t index);

/* Do indexes and places agree, and is no workload in line lost? Linear time. */
/*@ requires qnodes: QnodesLinked; terminates \true; exits \false; assigns \nothing; */
bool sl_queues_valid(void);
#endif
