/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whose turn it is: which queues have a head worth trying, which wait for something to change,
 * and what has changed since. A cycle looks at these lists and so costs what there is to do, not
 * how many queues there are. Owns the lists, the marks, which queues are active and which head
 * holds its queue up. */
#ifndef SL_POLICY_TURNS_H
#define SL_POLICY_TURNS_H
#include "kernel/types.h"

void sl_turns_set_active(sl_node_id queue, bool active);
bool sl_turns_is_active(sl_node_id queue);

/* As long as this workload is the queue's head, the queue is not looked at until woken. */
void sl_turns_block(sl_node_id queue, sl_workload_id head);
void sl_turns_unblock(sl_node_id queue);

/* The queue's heap, lanes, activity or block changed: put it on the lists it belongs on. */
void sl_turns_refresh(sl_node_id queue);

/* Ready: active, with a head that is not blocked. SL_NO_ID = no (more). */
sl_node_id sl_turns_first_ready(void);
sl_node_id sl_turns_next_ready(sl_node_id queue);
/* Waiting: with a blocked head or a shut lane. */
sl_node_id sl_turns_first_waiting(void);
sl_node_id sl_turns_next_waiting(sl_node_id queue);

/* Something changed in the node's root cohort tree, or for this queue alone. */
void sl_turns_mark_tree(sl_node_id node);
void sl_turns_mark_queue(sl_node_id queue);
bool sl_turns_marked(void);
/* Settle which roots the marked nodes have now; then ask of each queue; then forget the marks. */
void sl_turns_resolve(void);
bool sl_turns_is_woken(sl_node_id queue);
void sl_turns_clear_marks(void);

bool sl_turns_valid(void); /* every queue is on the lists it belongs on; linear time */
#endif
