/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Queues, as seen: the list of a queue in order, and the check of indexes against places. */
#include "policy/queues.h"

#include "kernel/place.h"
#include "policy/heap.h"
#include "policy/lanes.h"
#include "policy/sort.h"
#include "policy/turns.h"

static void add_heap(sl_heap_id heap)
{
    for (uint32_t position = 1; position <= sl_heap_count(heap); position++) {
        sl_sort_add(sl_heap_at(heap, position), 0, 0);
    }
}

uint32_t sl_queues_list(sl_node_id node)
{
    sl_sort_clear();
    if (node >= SL_NODES_MAX) {
        return 0;
    }
    add_heap(SL_HEAP_OF_QUEUE(node));
    add_heap(SL_HEAP_OF_BACKOFF(node));
    for (sl_lane_id lane = sl_lanes_first(node); lane != SL_NO_ID; lane = sl_lanes_next(lane)) {
        add_heap(SL_HEAP_OF_LANE(lane));
    }
    sl_sort_run();
    return sl_sort_count();
}

sl_workload_id sl_queues_listed(uint32_t index)
{
    return sl_sort_at(index);
}

/* A parked workload is among those of its queue that wait for their backoff, or in a lane of its
 * queue which is shut or has a scout out. */
static bool parked_rightly(sl_node_id queue, sl_heap_id heap)
{
    if (heap < SL_HEAP_OF_LANE(0)) {
        return heap == SL_HEAP_OF_BACKOFF(queue);
    }
    sl_lane_id lane = heap - SL_HEAP_OF_LANE(0);
    return sl_lanes_queue(lane) == queue &&
           (sl_lanes_is_shut(lane) || sl_lanes_scout(lane) != SL_NO_ID);
}

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
        return queue != SL_NO_ID && heap == SL_HEAP_OF_QUEUE(queue);
    case SL_PLACE_INADMISSIBLE:
        return queue != SL_NO_ID && heap != SL_NO_ID && parked_rightly(queue, heap);
    default:
        return heap == SL_NO_ID;
    }
}

bool sl_queues_valid(void)
{
    for (sl_workload_id id = 0; id < sl_queues_workload_limit(); id++) {
        if (!indexed_rightly(id) || !sl_heap_agrees(id)) {
            return false;
        }
    }
    return sl_turns_valid();
}
