/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lines. A place is moved before an index is, so that a refusal leaves both as they were. */
#include "policy/queues/line.h"

#include "kernel/base/order.h"
#include "kernel/commit/place.h"
#include "policy/queues/fronts.h"
#include "policy/queues/heads.h"
#include "policy/queues/heap.h"
#include "policy/queues/lanes.h"
#include "policy/requests/offers.h"
#include "policy/requests/preemption_gate.h"
#include "policy/common/settings.h"

/*@ terminates \true; exits \false; assigns \nothing; */
static bool uses_lanes(sl_qnode_id queue)
{
    return sl_settings.equivalence_hashing &&
           sl_offers_rules(queue).strategy == SL_BEST_EFFORT_FIFO;
}

bool sl_line_bring_to(sl_workload_id id, enum sl_place place)
{
    enum sl_place from = sl_place_of(id);
    return from == place || sl_place_move(id, from, place) == SL_OK;
}

/* --- scouts ---------------------------------------------------------------------------------- */

/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
static bool push_scout(sl_lane_id lane, sl_workload_id id)
{
    if (!sl_line_bring_to(id, SL_PLACE_HEAP)) {
        return false;
    }
    sl_lanes_set_scout(lane, id);
    sl_fronts_push(sl_lanes_queue(lane), id);
    return true;
}

/* An open lane without a scout sends its best; an empty one is given back. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
static void send_scout(sl_lane_id lane)
{
    sl_workload_id best = sl_lanes_best(lane);
    if (!sl_lanes_is_shut(lane) && sl_lanes_scout(lane) == SL_NO_ID && best != SL_NO_ID) {
        sl_lanes_leave(best);
        (void)push_scout(lane, best);
    }
    sl_lanes_close_empty(lane);
}

/* The scout, in the heap, goes back among the members. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
static void recall_scout(sl_lane_id lane)
{
    sl_workload_id scout = sl_lanes_scout(lane);
    if (sl_line_bring_to(scout, SL_PLACE_INADMISSIBLE)) {
        sl_heap_remove(scout);
        sl_lanes_drop_scout(lane);
        sl_lanes_join(lane, scout);
    }
}

/* Must the lane's scout make way for this one? Not while it is being tried, nor while it waits
 * for its victims. */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool makes_way(sl_lane_id lane, sl_workload_id id)
{
    sl_workload_id scout = sl_lanes_scout(lane);
    return sl_heap_of(scout) != SL_NO_ID && !sl_heads_is_sticky(sl_lanes_queue(lane), scout) &&
           sl_order_before(id, scout);
}

/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
static void enter_lane(sl_lane_id lane, sl_workload_id id)
{
    bool shut = sl_lanes_is_shut(lane);
    if (!shut && sl_lanes_scout(lane) != SL_NO_ID && makes_way(lane, id)) {
        recall_scout(lane);
    }
    if (!shut && sl_lanes_scout(lane) == SL_NO_ID) {
        (void)push_scout(lane, id);
    } else if (sl_line_bring_to(id, SL_PLACE_INADMISSIBLE)) {
        sl_lanes_join(lane, id);
    }
    sl_lanes_close_empty(lane);
}

/* --- in line and out ------------------------------------------------------------------------- */

void sl_line_enter(sl_qnode_id queue, sl_workload_id id)
{
    bool by_itself = !uses_lanes(queue) || sl_preemption_gate_is_news(id);
    sl_lane_id lane = by_itself ? SL_NO_ID : sl_lanes_open(queue, id);
    if (lane != SL_NO_ID) {
        enter_lane(lane, id);
    } else if (sl_line_bring_to(id, SL_PLACE_HEAP)) {
        sl_fronts_push(queue, id);
    }
}

void sl_line_wait(sl_qnode_id queue, sl_workload_id id)
{
    if (sl_line_bring_to(id, SL_PLACE_INADMISSIBLE)) {
        sl_heap_push(SL_HEAP_OF_BACKOFF(queue), id);
    }
}

void sl_line_leave(sl_workload_id id)
{
    sl_lane_id lane = sl_lanes_of(id);
    if (lane != SL_NO_ID) {
        sl_lanes_leave(id);
    } else {
        sl_heap_remove(id);
        lane = sl_lanes_scouted_by(id);
        sl_lanes_drop_scout(lane);
    }
    send_scout(lane);
}

void sl_line_return(sl_qnode_id queue, sl_workload_id id)
{
    if (!sl_line_bring_to(id, SL_PLACE_HEAP)) {
        return;
    }
    sl_fronts_push(queue, id);
    sl_lane_id lane = sl_lanes_scouted_by(id);
    sl_workload_id best = sl_lanes_best(lane);
    if (best != SL_NO_ID && makes_way(lane, best)) {
        recall_scout(lane);
        send_scout(lane);
    }
}

/* Lanes that differ by their account alone are shut together. */
/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
static void shut_twins(sl_lane_id lane)
{
    sl_lane_id twin = sl_lanes_twin(lane, SL_NO_ID);
    /*@ loop invariant places: PlacesAgree;
        loop assigns steps, twin, sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1];
        loop variant SL_LANES_MAX - steps; */
    for (uint32_t steps = 0; twin != SL_NO_ID && steps < SL_LANES_MAX; steps++) {
        sl_workload_id scout = sl_lanes_scout(twin);
        if (scout != SL_NO_ID && sl_heap_of(scout) != SL_NO_ID) {
            recall_scout(twin);
        }
        sl_lanes_shut(twin, sl_lanes_scout(twin) == SL_NO_ID);
        twin = sl_lanes_twin(lane, twin);
    }
}

bool sl_line_park_shape(sl_qnode_id queue, sl_workload_id id)
{
    sl_lane_id lane = sl_lanes_scouted_by(id);
    if (!uses_lanes(queue) || lane == SL_NO_ID) {
        return sl_line_park_alone(queue, id);
    }
    if (!sl_line_bring_to(id, SL_PLACE_INADMISSIBLE)) {
        return false;
    }
    sl_lanes_drop_scout(lane);
    sl_lanes_join(lane, id);
    sl_lanes_shut(lane, true);
    shut_twins(lane);
    return true;
}

bool sl_line_park_alone(sl_qnode_id queue, sl_workload_id id)
{
    if (!sl_line_bring_to(id, SL_PLACE_INADMISSIBLE)) {
        return false;
    }
    sl_line_leave(id);
    sl_heap_push(SL_HEAP_OF_ALONE(queue), id);
    return true;
}

bool sl_line_park_aside(sl_qnode_id queue, sl_workload_id id)
{
    if (!sl_line_bring_to(id, SL_PLACE_INADMISSIBLE)) {
        return false;
    }
    sl_line_leave(id);
    sl_line_wait(queue, id);
    return true;
}

/* --- wake-ups -------------------------------------------------------------------------------- */

/*@ requires places: PlacesAgree; terminates \true; exits \false;
    assigns sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; ensures places: PlacesAgree; */
static void let_in_alone(sl_qnode_id queue)
{
    /*@ loop invariant places: PlacesAgree;
        loop assigns left, sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1]; loop variant left; */
    for (uint32_t left = sl_heap_count(SL_HEAP_OF_ALONE(queue)); left != 0; left--) {
        sl_workload_id id = sl_heap_first(SL_HEAP_OF_ALONE(queue));
        sl_heap_remove(id);
        sl_line_enter(queue, id);
    }
}

void sl_line_wake(sl_qnode_id queue)
{
    sl_lane_id lane = sl_lanes_first(queue, true);
    /*@ loop invariant places: PlacesAgree;
        loop assigns steps, lane, sl_hidden, sl_places[0 .. SL_WORKLOADS_MAX - 1];
        loop variant SL_LANES_MAX - steps; */
    for (uint32_t steps = 0; lane != SL_NO_ID && steps < SL_LANES_MAX; steps++) {
        sl_lane_id next = sl_lanes_next(lane);
        sl_lanes_shut(lane, false);
        send_scout(lane);
        lane = next;
    }
    let_in_alone(queue);
}

void sl_line_wake_one(sl_qnode_id queue, sl_workload_id id)
{
    sl_lane_id lane = sl_lanes_of(id);
    if (lane != SL_NO_ID) {
        sl_lanes_shut(lane, false);
        send_scout(lane);
    } else if (sl_heap_of(id) == SL_HEAP_OF_ALONE(queue)) {
        sl_heap_remove(id);
        sl_line_enter(queue, id);
    }
}

/* Every member of the lane, and its scout unless it is being tried, to those that wait alone. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
static void empty_lane(sl_qnode_id queue, sl_lane_id lane)
{
    sl_lanes_drop_scout(lane);
    /*@ loop assigns left, sl_hidden; loop variant left; */
    for (uint32_t left = sl_heap_count(SL_HEAP_OF_LANE(lane)); left != 0; left--) {
        sl_workload_id id = sl_lanes_best(lane);
        sl_lanes_leave(id);
        sl_heap_push(SL_HEAP_OF_ALONE(queue), id);
    }
    sl_lanes_close_empty(lane);
}

/*@ terminates \true; exits \false; assigns sl_hidden; */
static void empty_lanes(sl_qnode_id queue, bool shut)
{
    sl_lane_id lane = sl_lanes_first(queue, shut);
    /*@ loop assigns steps, lane, sl_hidden; loop variant SL_LANES_MAX - steps; */
    for (uint32_t steps = 0; lane != SL_NO_ID && steps < SL_LANES_MAX; steps++) {
        empty_lane(queue, lane);
        lane = sl_lanes_first(queue, shut);
    }
}

void sl_line_rebuild(sl_qnode_id queue)
{
    sl_heap_id heap = SL_HEAP_OF_QUEUE(queue);
    /*@ loop assigns steps, heap, sl_hidden; loop variant SL_ACCOUNTS_MAX + 1 - steps; */
    for (uint32_t steps = 0; heap != SL_NO_ID && steps <= SL_ACCOUNTS_MAX; steps++) {
        /*@ loop assigns left, sl_hidden; loop variant left; */
        for (uint32_t left = sl_heap_count(heap); left != 0; left--) {
            sl_workload_id id = sl_heap_first(heap);
            sl_heap_remove(id);
            sl_heap_push(SL_HEAP_OF_ALONE(queue), id);
        }
        heap = sl_fronts_next_heap(queue, heap);
    }
    empty_lanes(queue, true);
    empty_lanes(queue, false);
    let_in_alone(queue);
}
