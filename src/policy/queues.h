/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The queues: who is in line in which ClusterQueue, and in what state: in the heap to be tried,
 * waiting for a backoff, or in a lane until something changes (lanes.h). Where a workload is
 * says the kernel's place; these are indexes over it. Owns which queue a workload belongs to and
 * whose quota it holds. Carries the policy's part of G8, G9 and G13.
 *
 * The way to use it: sl_queues_attach when the workload's queue is known, and sl_queues_settle
 * after every event that was given to sl_commit_event and every plan that was restored; it
 * brings the indexes in line with record and place, whatever happened, and wakes others where
 * quota was given back. After a demand was changed, sl_queues_retry. */
#ifndef SL_POLICY_QUEUES_H
#define SL_POLICY_QUEUES_H
#include "kernel/status.h"
#include "kernel/types.h"
#include "policy/offers.h"
#include "policy/order.h"

/* --- ClusterQueues --------------------------------------------------------------------------- */

/* Set its rules and whether its heads are taken. Workloads attached to an inactive queue stay in
 * line and wait. Whatever is parked in it or holds it up is looked at again. Refused:
 * NO_NODE_ID. */
enum sl_status sl_queues_configure(sl_node_id node, struct sl_rules rules,
                                   bool active) SL_MUST_CHECK;

/* Something changed that may help: in every queue of node's root cohort tree, or in this queue
 * alone, each lane sends its first to the heap (none that waits for its backoff) and a head that
 * was found blocked is tried again. Takes effect at the next sl_cycle_begin, however often it
 * was called; wakes during a cycle are thus never lost. When a node moves to another parent,
 * wake its tree and flush before the move, and wake it after the move. */
void sl_queues_wake_tree(sl_node_id node);
void sl_queues_wake_queue(sl_node_id node);
/* Apply at once what was woken (sl_cycle_begin does it by itself). */
void sl_queues_flush(void);

/* Would a cycle look at anything: a queue with an untried head, or somebody woken? */
bool sl_queues_ready(void);

/* --- workloads ------------------------------------------------------------------------------- */

/* The workload belongs to this ClusterQueue from now on. One attached elsewhere is moved. Refused:
 * UNKNOWN_WORKLOAD (the slot is free), NO_NODE_ID. Then settle. */
enum sl_status sl_queues_attach(sl_workload_id id, sl_node_id node,
                                struct sl_order_key key) SL_MUST_CHECK;
/* Its queue is missing or stopped, or it moved: if it is in line it becomes an orphan. */
void sl_queues_detach(sl_workload_id id);
/* Its priority or queue time changed. It keeps its state, but leaves its lane to be tried. */
void sl_queues_set_key(sl_workload_id id, struct sl_order_key key);
/* Bring the indexes in line with record and place, and put a pending workload in line that is
 * attached and may be tried: into the heap, or aside while its backoff lasts. Changes nothing
 * the second time. When the slot has become free the demand is forgotten too. */
void sl_queues_settle(sl_workload_id id, int64_t now_ms);
/* As settle, and it is tried again by itself unless its backoff lasts: its own spec changed. */
void sl_queues_retry(sl_workload_id id, int64_t now_ms);

/* Does its backoff last: Requeued is False, or requeueAt lies ahead? */
bool sl_queues_in_backoff(sl_workload_id id, int64_t now_ms);

sl_node_id sl_queues_queue_of(sl_workload_id id); /* SL_NO_ID = attached to none */
uint32_t sl_queues_workload_limit(void);          /* no workload from here on was ever attached */

/* --- for the cycle --------------------------------------------------------------------------- */

/* Take the queue's head: place HEAP -> IN_FLIGHT. SL_NO_ID = none. Which queues: see turns.h. */
sl_workload_id sl_queues_take(sl_node_id node);
/* Put it back. Into the heap: to be tried again in the next cycle. Blocked: it stays at the head
 * of the heap and its queue is not looked at until something changes. Parked: in its lane until
 * woken. */
enum sl_put { SL_PUT_HEAP, SL_PUT_BLOCKED, SL_PUT_PARKED };
void sl_queues_put_back(sl_workload_id id, enum sl_put how);

/* --- what is pending ------------------------------------------------------------------------- */
uint32_t sl_queues_heap_count(sl_node_id node);   /* to be tried */
uint32_t sl_queues_parked_count(sl_node_id node); /* waiting for a change or a backoff */
/* List whatever is in line in a queue, parked or not, in the order of the queue; returns how
 * many, and sl_queues_listed gives them until the next list or cycle (SL_NO_ID beyond). */
uint32_t sl_queues_list(sl_node_id node);
sl_workload_id sl_queues_listed(uint32_t index);

/* Do indexes and places say the same, and is nobody in line lost? Linear time. */
bool sl_queues_valid(void);
#endif
