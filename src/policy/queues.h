/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The queues: for each ClusterQueue the heap of workloads to try and the list of those parked until something
 * changes. Where a workload is says the kernel's place; these are indexes over it. Owns which queue a workload
 * belongs to, the parked lists, the list of queues worth a look, and what has been woken. Carries the policy's
 * part of G8, G9 and G13.
 *
 * The way to use it: sl_queues_attach when the workload's queue is known, and sl_queues_settle after every
 * event that was given to sl_commit_event or plan that was restored; it brings the indexes in line with the
 * record and the place, whatever happened, and wakes others where quota was given back. */
#ifndef SL_POLICY_QUEUES_H
#define SL_POLICY_QUEUES_H
#include "kernel/status.h"
#include "kernel/types.h"
#include "policy/offers.h"
#include "policy/order.h"

/* --- ClusterQueues ------------------------------------------------------------------------------------- */

/* Set its rules and whether its heads are taken. Workloads attached to an inactive queue stay in line and
 * wait. Whatever is parked in it or holds it up is looked at again. */
enum sl_status sl_queues_configure(sl_node_id node, struct sl_rules rules, bool active) SL_MUST_CHECK;

/* Something changed that may help: for every queue of node's root cohort tree, or for this queue alone, what
 * is parked goes back to the heap (not what waits for its backoff) and a head that was found blocked is tried
 * again. Takes effect at the next sl_cycle_begin, however often it was called. When a node moves to another
 * parent, wake its tree before and after the move. */
void sl_queues_wake_tree(sl_node_id node);
void sl_queues_wake_queue(sl_node_id node);
/* Apply at once what was woken (sl_cycle_begin does it by itself). */
void sl_queues_flush(int64_t now_ms);

/* Would a cycle look at anything: a queue with an untried head, or somebody woken? */
bool sl_queues_ready(void);

/* --- workloads ----------------------------------------------------------------------------------------- */

/* The workload belongs to this ClusterQueue from now on. One attached elsewhere is moved. Refused:
 * UNKNOWN_WORKLOAD (the slot is free), NO_NODE_ID. Then settle. */
enum sl_status sl_queues_attach(sl_workload_id id, sl_node_id node, struct sl_order_key key) SL_MUST_CHECK;
/* Its queue is missing or stopped, or the workload was moved: if it is in line it becomes an orphan. */
void sl_queues_detach(sl_workload_id id);
/* Its priority or queue time changed. */
void sl_queues_set_key(sl_workload_id id, struct sl_order_key key);
/* Bring the indexes in line with record and place, and put a pending workload in line that is attached and may
 * be tried: into the heap, or among the parked while its backoff lasts. Changes nothing the second time. When
 * the slot has become free the demand is forgotten too. */
void sl_queues_settle(sl_workload_id id, int64_t now_ms);
/* As settle, and a parked workload is tried again unless its backoff lasts: its own spec changed. */
void sl_queues_retry(sl_workload_id id, int64_t now_ms);

/* Does its backoff last: Requeued is False, or requeueAt lies ahead? */
bool sl_queues_in_backoff(sl_workload_id id, int64_t now_ms);

sl_node_id sl_queues_queue_of(sl_workload_id id); /* SL_NO_ID = attached to none */

/* --- for the cycle ------------------------------------------------------------------------------------- */

/* Queues with a head to try, in no particular order; SL_NO_ID = no (more). */
sl_node_id sl_queues_first_ready(void);
sl_node_id sl_queues_next_ready(sl_node_id node);
/* Take the queue's head: place HEAP -> IN_FLIGHT. SL_NO_ID = none. */
sl_workload_id sl_queues_take(sl_node_id node);
/* Put it back. Into the heap: to be tried again in the next cycle. Blocked: it stays at the head of the heap
 * and its queue is not looked at until something changes. Parked: until woken. */
enum sl_put { SL_PUT_HEAP, SL_PUT_BLOCKED, SL_PUT_PARKED };
void sl_queues_put_back(sl_workload_id id, enum sl_put how);

/* --- what is pending ----------------------------------------------------------------------------------- */
uint32_t sl_queues_heap_count(sl_node_id node);
uint32_t sl_queues_parked_count(sl_node_id node);
/* List whatever is in line in a queue, parked or not, in the order it would be tried; returns how many, and
 * sl_queues_listed gives them until the next call. */
uint32_t sl_queues_list(sl_node_id node);
sl_workload_id sl_queues_listed(uint32_t index);

/* Do heaps, parked lists and places say the same, and is nobody in line lost? Linear time. */
bool sl_queues_valid(void);
#endif
