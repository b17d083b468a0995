/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Queues, as seen: the list of a queue in order, and the check of indexes against places. */
#include "policy/queues.h"

#include "kernel/place.h"
#include "policy/fronts.h"
#include "policy/heads.h"
#include "policy/heap.h"
#include "policy/lanes.h"
#include "policy/sort.h"
#include "policy/turns.h"

/* The sticky one comes first. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
static void add_heap(sl_node_id node, sl_heap_id heap)
{
    uint32_t count = sl_heap_count(heap);
    /*@ loop assigns i, sl_hidden; loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        sl_workload_id id = sl_heap_at(heap, i + 1);
        sl_sort_add(id, sl_heads_is_sticky(node, id) ? 0 : 1, 0);
    }
}

/*@ terminates \true; exits \false; assigns sl_hidden; */
static void add_lanes(sl_node_id node, bool shut)
{
    sl_lane_id lane = sl_lanes_first(node, shut);
    /*@ loop assigns steps, lane, sl_hidden; loop variant SL_LANES_MAX - steps; */
    for (uint32_t steps = 0; lane != SL_NO_ID && steps < SL_LANES_MAX; steps++) {
        add_heap(node, SL_HEAP_OF_LANE(lane));
        lane = sl_lanes_next(lane);
    }
}

uint32_t sl_queues_list(sl_node_id node)
{
    sl_sort_clear();
    if (node >= SL_NODES_MAX) {
        return 0;
    }
    sl_heap_id heap = SL_HEAP_OF_QUEUE(node);
    /*@ loop assigns steps, heap, sl_hidden; loop variant SL_ACCOUNTS_MAX + 1 - steps; */
    for (uint32_t steps = 0; heap != SL_NO_ID && steps <= SL_ACCOUNTS_MAX; steps++) {
        add_heap(node, heap);
        heap = sl_fronts_next_heap(node, heap);
    }
    add_heap(node, SL_HEAP_OF_BACKOFF(node));
    add_heap(node, SL_HEAP_OF_ALONE(node));
    add_lanes(node, false);
    add_lanes(node, true);
    sl_sort_run(true);
    return sl_sort_count();
}

sl_workload_id sl_queues_listed(uint32_t index)
{
    return sl_sort_at(index);
}

/* A parked workload is among those of its queue that wait for their backoff or alone, or in a lane
 * of its queue which is shut or has a scout out. */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool parked_rightly(sl_node_id queue, sl_heap_id heap)
{
    if (heap < SL_HEAP_OF_LANE(0)) {
        return heap == SL_HEAP_OF_BACKOFF(queue) || heap == SL_HEAP_OF_ALONE(queue);
    }
    sl_lane_id lane = heap - SL_HEAP_OF_LANE(0);
    return sl_lanes_queue(lane) == queue &&
           sl_lanes_is_shut(lane) == (sl_lanes_scout(lane) == SL_NO_ID);
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool indexed_rightly(sl_workload_id id)
{
    sl_node_id queue = sl_queues_queue_of(id);
    sl_heap_id heap = sl_heap_of(id);
    sl_lane_id lane = sl_lanes_scouted_by(id);
    enum sl_place place = sl_place_of(id);
    if (lane != SL_NO_ID && (sl_lanes_queue(lane) != queue ||
                             (place != SL_PLACE_HEAP && place != SL_PLACE_IN_FLIGHT))) {
        return false;
    }
    switch (place) {
    case SL_PLACE_HEAP:
        return sl_fronts_stands(queue, id);
    case SL_PLACE_INADMISSIBLE:
        return queue != SL_NO_ID && heap != SL_NO_ID && parked_rightly(queue, heap);
    default:
        return heap == SL_NO_ID;
    }
}

bool sl_queues_valid(void)
{
    uint32_t limit = sl_queues_workload_limit();
    /*@ loop assigns id; loop variant limit - id; */
    for (sl_workload_id id = 0; id < limit; id++) {
        if (!indexed_rightly(id) || !sl_heap_agrees(id)) {
            return false;
        }
    }
    return sl_turns_valid();
}
