/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lanes: the workloads of one ClusterQueue that are of one shape (they request the same, see
 * shape.h) share a lane, ordered. (Where the queue admits by usage, those of one account.) Only the
 * first of them, the lane's scout, is in the queue's heap. Where the scout does not fit the others
 * do not fit either, and the lane is shut with all of them at once. When it is admitted the next
 * one becomes the scout. So parking all of a shape costs nothing, and a wake-up costs as much as
 * there are different shapes, however many workloads wait. Owns the lanes; the order of their
 * members (the scout is none) is a heap of heap.h. */
#ifndef SL_POLICY_LANES_H
#define SL_POLICY_LANES_H
#include "kernel/base/types.h"
#include "policy/queues/heap.h"
#include "specs/hidden.acsl"

typedef uint32_t sl_lane_id;

/* The lane of the workload's shape in this queue, made (open) when there is none. The workload
 * is in no lane yet, so there is always room for one more. SL_NO_ID = an id is out of range. */
/*@ terminates \true; exits \false; assigns sl_hidden;
    ensures known: \result < SL_LANES_MAX || \result == SL_NO_ID; */
sl_lane_id sl_lanes_open(sl_qnode_id queue, sl_workload_id id);
/* Give it back when it has neither members nor a scout. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_lanes_close_empty(sl_lane_id lane);

/* The lanes of the same queue and shape that differ from this one by their account alone (none,
 * unless the queue admits by usage), one after the other: begin after SL_NO_ID, ends with it. A
 * new lane is as shut as its twins. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_LANES_MAX || \result == SL_NO_ID; */
sl_lane_id sl_lanes_twin(sl_lane_id lane, sl_lane_id after);

/* A shut lane waits to be woken; an open one sends a scout as soon as it has none out. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_lanes_shut(sl_lane_id lane, bool shut);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result ==> lane < SL_LANES_MAX; */
bool sl_lanes_is_shut(sl_lane_id lane);

/* Members: in the lane's heap and in no other. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_lanes_join(sl_lane_id lane, sl_workload_id id);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_lanes_leave(sl_workload_id id);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_LANES_MAX || \result == SL_NO_ID; */
sl_lane_id sl_lanes_of(sl_workload_id id); /* SL_NO_ID = it is a member of none */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID; */
sl_workload_id sl_lanes_best(sl_lane_id lane); /* SL_NO_ID = no members */

/* The scout is out of the lane's heap: to be tried, or being tried. SL_NO_ID = none. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_lanes_set_scout(sl_lane_id lane, sl_workload_id id);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_lanes_drop_scout(sl_lane_id lane);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID; */
sl_workload_id sl_lanes_scout(sl_lane_id lane);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_LANES_MAX || \result == SL_NO_ID; */
sl_lane_id sl_lanes_scouted_by(sl_workload_id id); /* SL_NO_ID = it is no scout */

/* The queue a lane belongs to, and its shut or its open lanes one after the other; SL_NO_ID =
 * none (any more). */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID; */
sl_qnode_id sl_lanes_queue(sl_lane_id lane);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_LANES_MAX || \result == SL_NO_ID; */
sl_lane_id sl_lanes_first(sl_qnode_id queue, bool shut);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_LANES_MAX || \result == SL_NO_ID; */
sl_lane_id sl_lanes_next(sl_lane_id lane);
/* How many members the shut or the open lanes of a queue have together. */
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_lanes_member_count(sl_qnode_id queue, bool shut);
#endif
