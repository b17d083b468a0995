/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lanes: workloads of one ClusterQueue that ask for the same (see shape.h) and have found no
 * place wait in one lane, ordered. When something changes, only the first of each lane, its
 * scout, goes back to be tried: where it finds no place the others find none, and when it does
 * the next one goes. So a wake-up costs what there are different shapes, however many workloads
 * wait. Owns the lanes; their members' order is a heap of heap.h. */
#ifndef SL_POLICY_LANES_H
#define SL_POLICY_LANES_H
#include "kernel/types.h"
#include "policy/heap.h"

typedef uint32_t sl_lane_id;

/* The lane of the workload's shape in this queue, made when there is none. The workload is in no
 * lane yet, so there is always room for one more. SL_NO_ID = an id is out of range. */
sl_lane_id sl_lanes_open(sl_node_id queue, sl_workload_id id);
/* Give it back when it has neither members nor a scout. */
void sl_lanes_close_empty(sl_lane_id lane);

/* A shut lane waits to be woken; an open one sends a scout as soon as it has none out. */
void sl_lanes_shut(sl_lane_id lane, bool shut);
bool sl_lanes_is_shut(sl_lane_id lane);
uint32_t sl_lanes_shut_count(sl_node_id queue);

/* The scout is out of the lane's heap: to be tried, or being tried. SL_NO_ID = none. */
void sl_lanes_set_scout(sl_lane_id lane, sl_workload_id id);
void sl_lanes_drop_scout(sl_lane_id lane);
sl_workload_id sl_lanes_scout(sl_lane_id lane);
sl_lane_id sl_lanes_scouted_by(sl_workload_id id); /* SL_NO_ID = it is no scout */

/* The queue a lane belongs to, and its lanes one after the other; SL_NO_ID = none. */
sl_node_id sl_lanes_queue(sl_lane_id lane);
sl_lane_id sl_lanes_first(sl_node_id queue);
sl_lane_id sl_lanes_next(sl_lane_id lane);
#endif
