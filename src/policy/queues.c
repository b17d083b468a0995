/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Queues: who is in line where. HEAP means in the queue's heap; INADMISSIBLE means in the heap
 * of those that wait for their backoff, or in a lane; IN_FLIGHT means in no heap until the cycle
 * has decided. A place is moved before an index is, so that a refusal leaves both as they were. */
#include "policy/queues.h"

#include "kernel/commit.h"
#include "kernel/ledger.h"
#include "kernel/lifecycle.h"
#include "kernel/place.h"
#include "policy/demand.h"
#include "policy/heap.h"
#include "policy/lanes.h"
#include "policy/turns.h"

static uint32_t queue_link[SL_WORKLOADS_MAX]; /* the queue it belongs to, link */
static uint32_t held_link[SL_WORKLOADS_MAX];  /* the queue whose quota it holds, link */
static uint32_t lane_member_count[SL_NODES_MAX];
static uint32_t workload_limit; /* no workload from here on was ever attached */

static sl_node_id node_of(uint32_t link)
{
    return link != 0 ? link - 1 : SL_NO_ID;
}

static bool in_lane(sl_workload_id id)
{
    sl_heap_id heap = sl_heap_of(id);
    return heap != SL_NO_ID && heap >= SL_HEAP_OF_LANE(0);
}

/* --- lanes ----------------------------------------------------------------------------------- */

static void leave_lane(sl_node_id queue, sl_workload_id id)
{
    sl_heap_remove(id);
    lane_member_count[queue]--;
}

/* An open lane without a scout sends its first; an empty one is given back. */
static void send_scout(sl_lane_id lane)
{
    sl_node_id queue = sl_lanes_queue(lane);
    sl_heap_id members = SL_HEAP_OF_LANE(lane);
    while (!sl_lanes_is_shut(lane) && sl_lanes_scout(lane) == SL_NO_ID &&
           sl_heap_count(members) != 0) {
        sl_workload_id first = sl_heap_first(members);
        leave_lane(queue, first);
        if (sl_place_move(first, SL_PLACE_INADMISSIBLE, SL_PLACE_HEAP) == SL_OK) {
            sl_lanes_set_scout(lane, first);
            sl_heap_push(SL_HEAP_OF_QUEUE(queue), first);
        }
    }
    sl_lanes_close_empty(lane);
}

static void open_lanes(sl_node_id queue)
{
    sl_lane_id lane = sl_lanes_first(queue);
    while (lane != SL_NO_ID) {
        sl_lane_id next = sl_lanes_next(lane);
        sl_lanes_shut(lane, false);
        send_scout(lane);
        lane = next;
    }
}

/* Everybody goes back to the heap and is tried on its own. */
static void dissolve_lanes(sl_node_id queue)
{
    sl_lane_id lane = sl_lanes_first(queue);
    while (lane != SL_NO_ID) {
        sl_lane_id next = sl_lanes_next(lane);
        uint32_t members = sl_heap_count(SL_HEAP_OF_LANE(lane));
        sl_lanes_shut(lane, false);
        for (uint32_t i = 0; i <= members; i++) { /* the scout that is out, then each member */
            sl_lanes_drop_scout(lane);
            send_scout(lane);
        }
        lane = next;
    }
}

/* --- in line and out ------------------------------------------------------------------------- */

/* Out of every index; a lane that loses its scout sends the next one. */
static void leave_line(sl_workload_id id)
{
    sl_node_id queue = node_of(queue_link[id]);
    sl_lane_id lane = SL_NO_ID;
    if (queue == SL_NO_ID) {
        return;
    }
    if (in_lane(id)) {
        lane = sl_heap_of(id) - SL_HEAP_OF_LANE(0);
        leave_lane(queue, id);
    } else {
        sl_heap_remove(id);
        lane = sl_lanes_scouted_by(id);
        sl_lanes_drop_scout(lane);
    }
    if (lane != SL_NO_ID) {
        send_scout(lane);
    }
    sl_turns_refresh(queue);
}

bool sl_queues_in_backoff(sl_workload_id id, int64_t now_ms)
{
    if (id >= SL_WORKLOADS_MAX) {
        return false;
    }
    return sl_workloads[id].requeued == SL_REQUEUED_FALSE ||
           (sl_workloads[id].requeue_at_ms != SL_NEVER && sl_workloads[id].requeue_at_ms > now_ms);
}

/* Is it at `place`, or can it be moved there? */
static bool bring_to(sl_workload_id id, enum sl_place place)
{
    enum sl_place from = sl_place_of(id);
    return from == place || sl_place_move(id, from, place) == SL_OK;
}

/* Into the heap, or among those that wait for their backoff. It is in no index. */
static void enter_line(sl_workload_id id, int64_t now_ms)
{
    sl_node_id queue = node_of(queue_link[id]);
    if (queue == SL_NO_ID) {
        return;
    }
    if (sl_queues_in_backoff(id, now_ms)) {
        if (bring_to(id, SL_PLACE_INADMISSIBLE)) {
            sl_heap_push(SL_HEAP_OF_BACKOFF(queue), id);
        }
    } else if (bring_to(id, SL_PLACE_HEAP)) {
        sl_heap_push(SL_HEAP_OF_QUEUE(queue), id);
    }
    sl_turns_refresh(queue);
}

static bool in_line(enum sl_place place)
{
    return place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE || place == SL_PLACE_IN_FLIGHT;
}

/* Whoever held quota and does so no more leaves room for others. */
static void watch_holding(sl_workload_id id)
{
    enum sl_place place = sl_place_of(id);
    if (place == SL_PLACE_HOLDING || place == SL_PLACE_SECOND_PASS) {
        if (held_link[id] == 0) {
            sl_node_id node = sl_ledger_node_of(sl_commit_claim(id, 0).cell);
            held_link[id] = node != SL_NO_ID ? node + 1 : queue_link[id];
        }
    } else if (held_link[id] != 0) {
        sl_turns_mark_tree(held_link[id] - 1);
        held_link[id] = 0;
    }
}

/* Is it in the heap that its backoff calls for, or in none of those where that matters? */
static bool in_right_heap(sl_workload_id id, int64_t now_ms)
{
    sl_heap_id heap = sl_heap_of(id);
    bool waits = heap == SL_HEAP_OF_BACKOFF(queue_link[id] - 1);
    return heap != SL_NO_ID && waits == sl_queues_in_backoff(id, now_ms);
}

void sl_queues_settle(sl_workload_id id, int64_t now_ms)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    enum sl_place place = sl_place_of(id);
    watch_holding(id);
    if (!in_line(place)) {
        leave_line(id);
    }
    if (place == SL_PLACE_NONE) {
        sl_demand_clear(id);
        queue_link[id] = 0;
    }
    if (queue_link[id] == 0) {
        return;
    }
    if (place == SL_PLACE_ORPHANED) {
        enter_line(id, now_ms);
    } else if (in_line(place) && place != SL_PLACE_IN_FLIGHT && !in_right_heap(id, now_ms)) {
        leave_line(id);
        enter_line(id, now_ms);
    }
}

void sl_queues_retry(sl_workload_id id, int64_t now_ms)
{
    sl_queues_settle(id, now_ms);
    if (id >= SL_WORKLOADS_MAX || queue_link[id] == 0) {
        return;
    }
    if (sl_place_of(id) == SL_PLACE_HEAP || in_lane(id)) {
        leave_line(id);
        enter_line(id, now_ms);
        sl_turns_unblock(queue_link[id] - 1);
    }
}

enum sl_status sl_queues_attach(sl_workload_id id, sl_node_id node, struct sl_order_key key)
{
    if (id >= SL_WORKLOADS_MAX || sl_place_of(id) == SL_PLACE_NONE) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (node >= SL_NODES_MAX) {
        return SL_REFUSED_NO_NODE_ID;
    }
    if (queue_link[id] != node + 1) {
        sl_queues_detach(id);
    }
    if (id >= workload_limit) {
        workload_limit = id + 1;
    }
    queue_link[id] = node + 1;
    sl_queues_set_key(id, key);
    return SL_OK;
}

void sl_queues_detach(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX || queue_link[id] == 0) {
        return;
    }
    leave_line(id);
    if (in_line(sl_place_of(id))) {
        (void)bring_to(id, SL_PLACE_ORPHANED);
    }
    queue_link[id] = 0;
}

void sl_queues_set_key(sl_workload_id id, struct sl_order_key key)
{
    if (id >= SL_WORKLOADS_MAX) {
        return;
    }
    sl_heap_id heap = sl_heap_of(id);
    if (heap == SL_NO_ID) {
        sl_order_set(id, key);
        return;
    }
    sl_node_id queue = queue_link[id] - 1;
    leave_line(id);
    sl_order_set(id, key);
    if (heap == SL_HEAP_OF_BACKOFF(queue)) {
        sl_heap_push(heap, id);
    } else if (bring_to(id, SL_PLACE_HEAP)) { /* it may now come before its lane.s scout */
        sl_heap_push(SL_HEAP_OF_QUEUE(queue), id);
    }
    sl_turns_refresh(queue);
}

sl_node_id sl_queues_queue_of(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? node_of(queue_link[id]) : SL_NO_ID;
}

uint32_t sl_queues_workload_limit(void)
{
    return workload_limit;
}

/* --- ClusterQueues, wake-ups ----------------------------------------------------------------- */

enum sl_status sl_queues_configure(sl_node_id node, struct sl_rules rules, bool active)
{
    enum sl_strategy before = sl_offers_rules(node).strategy;
    enum sl_status status = sl_offers_set_rules(node, rules);
    if (status != SL_OK) {
        return status;
    }
    if (rules.strategy != before) {
        dissolve_lanes(node);
    }
    sl_turns_set_active(node, active);
    sl_turns_mark_queue(node);
    return SL_OK;
}

void sl_queues_wake_tree(sl_node_id node)
{
    sl_turns_mark_tree(node);
}

void sl_queues_wake_queue(sl_node_id node)
{
    sl_turns_mark_queue(node);
}

void sl_queues_flush(void)
{
    if (!sl_turns_marked()) {
        return;
    }
    sl_turns_resolve();
    sl_node_id queue = sl_turns_first_waiting();
    while (queue != SL_NO_ID) {
        sl_node_id next = sl_turns_next_waiting(queue);
        if (sl_turns_is_woken(queue)) {
            open_lanes(queue);
            sl_turns_unblock(queue);
        }
        queue = next;
    }
    sl_turns_clear_marks();
}

bool sl_queues_ready(void)
{
    return sl_turns_first_ready() != SL_NO_ID || sl_turns_marked();
}

/* --- for the cycle --------------------------------------------------------------------------- */

sl_workload_id sl_queues_take(sl_node_id node)
{
    sl_workload_id id = node < SL_NODES_MAX ? sl_heap_first(SL_HEAP_OF_QUEUE(node)) : SL_NO_ID;
    if (id == SL_NO_ID || sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT) != SL_OK) {
        return SL_NO_ID;
    }
    sl_heap_remove(id);
    sl_turns_refresh(node);
    return id;
}

/* Into the lane of its shape, which then waits to be woken. */
static bool park(sl_node_id queue, sl_workload_id id)
{
    sl_lane_id own = sl_lanes_scouted_by(id);
    sl_lane_id lane = sl_lanes_open(queue, id);
    if (lane == SL_NO_ID || !bring_to(id, SL_PLACE_INADMISSIBLE)) {
        return false;
    }
    sl_lanes_drop_scout(own);
    sl_lanes_shut(lane, true);
    sl_heap_push(SL_HEAP_OF_LANE(lane), id);
    lane_member_count[queue]++;
    if (own != lane && own != SL_NO_ID) {
        send_scout(own);
    }
    return true;
}

void sl_queues_put_back(sl_workload_id id, enum sl_put how)
{
    if (id >= SL_WORKLOADS_MAX || queue_link[id] == 0 || sl_place_of(id) != SL_PLACE_IN_FLIGHT) {
        return;
    }
    sl_node_id queue = queue_link[id] - 1;
    bool parked = how == SL_PUT_PARKED && park(queue, id);
    if (!parked && bring_to(id, SL_PLACE_HEAP)) {
        sl_heap_push(SL_HEAP_OF_QUEUE(queue), id);
    }
    if (how == SL_PUT_BLOCKED) {
        sl_turns_block(queue, id);
    }
    sl_turns_refresh(queue);
}

uint32_t sl_queues_heap_count(sl_node_id node)
{
    return node < SL_NODES_MAX ? sl_heap_count(SL_HEAP_OF_QUEUE(node)) : 0;
}

uint32_t sl_queues_parked_count(sl_node_id node)
{
    return node < SL_NODES_MAX ? lane_member_count[node] + sl_heap_count(SL_HEAP_OF_BACKOFF(node))
                               : 0;
}
