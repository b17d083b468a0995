/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One binary heap per ClusterQueue, linked through the workloads themselves: a complete tree, so every
 * change takes at most log2(count) steps, and no memory that could run out or need to grow. A workload is in
 * one heap at most. Owns the heaps. */
#ifndef SL_POLICY_HEAP_H
#define SL_POLICY_HEAP_H
#include "kernel/types.h"

/* Nothing happens when the workload is in a heap already, or the ids are out of range. */
void sl_heap_push(sl_node_id queue, sl_workload_id id);
/* Nothing happens when it is in no heap. */
void sl_heap_remove(sl_workload_id id);

sl_workload_id sl_heap_first(sl_node_id queue); /* SL_NO_ID = empty */
uint32_t sl_heap_count(sl_node_id queue);
sl_node_id sl_heap_of(sl_workload_id id);       /* SL_NO_ID = in none */
/* The tree, for listing and checking: the workload's children; SL_NO_ID = none. */
sl_workload_id sl_heap_left(sl_workload_id id);
sl_workload_id sl_heap_right(sl_workload_id id);

/* Is the workload placed rightly: links agree both ways, and its parent is tried before it? */
bool sl_heap_agrees(sl_workload_id id);
#endif
