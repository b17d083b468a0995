/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lanes: a hash table by queue and shape, and a doubly linked list per queue. Links are ids plus
 * one. */
#include "policy/lanes.h"

#include "policy/shape.h"

#define BUCKETS 1048576u

static uint32_t bucket_first[BUCKETS];

static uint32_t lane_queue[SL_LANES_MAX]; /* link to its queue, 0 = not in use */
static uint32_t lane_bucket[SL_LANES_MAX];
static uint32_t lane_bucket_next[SL_LANES_MAX]; /* also links the free ones */
static uint32_t lane_next[SL_LANES_MAX];
static uint32_t lane_prev[SL_LANES_MAX];
static uint32_t lane_scout[SL_LANES_MAX];
static bool lane_shut[SL_LANES_MAX];
static uint32_t lane_free;
static uint32_t lane_limit;

static uint32_t queue_first[SL_NODES_MAX];
static uint32_t queue_shut_count[SL_NODES_MAX];

static uint32_t scouted[SL_WORKLOADS_MAX]; /* link to the lane whose scout it is */

static uint32_t bucket_of(sl_node_id queue, sl_workload_id id)
{
    uint64_t hash = sl_shape_hash(id) ^ ((uint64_t)queue * 0x9E3779B97F4A7C15u);
    return (uint32_t)((hash ^ (hash >> 29)) % BUCKETS);
}

/* Some workload of the lane, SL_NO_ID when there is none. */
static sl_workload_id sample_of(sl_lane_id lane)
{
    return lane_scout[lane] != 0 ? lane_scout[lane] - 1 : sl_heap_first(SL_HEAP_OF_LANE(lane));
}

static uint32_t find(uint32_t bucket, sl_node_id queue, sl_workload_id id)
{
    uint32_t link = bucket_first[bucket];
    while (link != 0 &&
           (lane_queue[link - 1] != queue + 1 || !sl_shape_equal(sample_of(link - 1), id))) {
        link = lane_bucket_next[link - 1];
    }
    return link;
}

static uint32_t take_lane(void)
{
    uint32_t link = lane_free;
    if (link != 0) {
        lane_free = lane_bucket_next[link - 1];
    } else if (lane_limit < SL_LANES_MAX) {
        lane_limit++;
        link = lane_limit;
    }
    return link;
}

sl_lane_id sl_lanes_open(sl_node_id queue, sl_workload_id id)
{
    if (queue >= SL_NODES_MAX || id >= SL_WORKLOADS_MAX) {
        return SL_NO_ID;
    }
    uint32_t bucket = bucket_of(queue, id);
    uint32_t link = find(bucket, queue, id);
    if (link == 0) {
        link = take_lane();
        if (link == 0) {
            return SL_NO_ID;
        }
        sl_lane_id lane = link - 1;
        lane_queue[lane] = queue + 1;
        lane_bucket[lane] = bucket;
        lane_bucket_next[lane] = bucket_first[bucket];
        bucket_first[bucket] = link;
        lane_scout[lane] = 0;
        lane_shut[lane] = false;
        lane_prev[lane] = 0;
        lane_next[lane] = queue_first[queue];
        if (queue_first[queue] != 0) {
            lane_prev[queue_first[queue] - 1] = link;
        }
        queue_first[queue] = link;
    }
    return link - 1;
}

static void leave_bucket(sl_lane_id lane)
{
    uint32_t link = bucket_first[lane_bucket[lane]];
    if (link == lane + 1) {
        bucket_first[lane_bucket[lane]] = lane_bucket_next[lane];
        return;
    }
    while (link != 0 && lane_bucket_next[link - 1] != lane + 1) {
        link = lane_bucket_next[link - 1];
    }
    if (link != 0) {
        lane_bucket_next[link - 1] = lane_bucket_next[lane];
    }
}

static void leave_queue(sl_lane_id lane)
{
    if (lane_prev[lane] != 0) {
        lane_next[lane_prev[lane] - 1] = lane_next[lane];
    } else {
        queue_first[lane_queue[lane] - 1] = lane_next[lane];
    }
    if (lane_next[lane] != 0) {
        lane_prev[lane_next[lane] - 1] = lane_prev[lane];
    }
}

static bool in_use(sl_lane_id lane)
{
    return lane < SL_LANES_MAX && lane_queue[lane] != 0;
}

void sl_lanes_close_empty(sl_lane_id lane)
{
    if (!in_use(lane) || lane_scout[lane] != 0 || sl_heap_count(SL_HEAP_OF_LANE(lane)) != 0) {
        return;
    }
    sl_lanes_shut(lane, false);
    leave_bucket(lane);
    leave_queue(lane);
    lane_queue[lane] = 0;
    lane_bucket_next[lane] = lane_free;
    lane_free = lane + 1;
}

void sl_lanes_shut(sl_lane_id lane, bool shut)
{
    if (!in_use(lane) || lane_shut[lane] == shut) {
        return;
    }
    lane_shut[lane] = shut;
    if (shut) {
        queue_shut_count[lane_queue[lane] - 1]++;
    } else {
        queue_shut_count[lane_queue[lane] - 1]--;
    }
}

bool sl_lanes_is_shut(sl_lane_id lane)
{
    return in_use(lane) && lane_shut[lane];
}

uint32_t sl_lanes_shut_count(sl_node_id queue)
{
    return queue < SL_NODES_MAX ? queue_shut_count[queue] : 0;
}

void sl_lanes_set_scout(sl_lane_id lane, sl_workload_id id)
{
    if (in_use(lane) && id < SL_WORKLOADS_MAX) {
        lane_scout[lane] = id + 1;
        scouted[id] = lane + 1;
    }
}

void sl_lanes_drop_scout(sl_lane_id lane)
{
    if (in_use(lane) && lane_scout[lane] != 0) {
        scouted[lane_scout[lane] - 1] = 0;
        lane_scout[lane] = 0;
    }
}

sl_workload_id sl_lanes_scout(sl_lane_id lane)
{
    return in_use(lane) && lane_scout[lane] != 0 ? lane_scout[lane] - 1 : SL_NO_ID;
}

sl_lane_id sl_lanes_scouted_by(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && scouted[id] != 0 ? scouted[id] - 1 : SL_NO_ID;
}

sl_node_id sl_lanes_queue(sl_lane_id lane)
{
    return in_use(lane) ? lane_queue[lane] - 1 : SL_NO_ID;
}

sl_lane_id sl_lanes_first(sl_node_id queue)
{
    return queue < SL_NODES_MAX && queue_first[queue] != 0 ? queue_first[queue] - 1 : SL_NO_ID;
}

sl_lane_id sl_lanes_next(sl_lane_id lane)
{
    return in_use(lane) && lane_next[lane] != 0 ? lane_next[lane] - 1 : SL_NO_ID;
}
