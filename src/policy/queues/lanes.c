/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lanes: a hash table by queue and shape, and two doubly linked lists per queue, of the
 * open lanes and of the shut ones. Links are ids plus one. */
#include "policy/queues/lanes.h"

#include "policy/queues/fronts.h"
#include "policy/requests/shape.h"

#define BUCKETS 1048576u

static uint32_t bucket_first[BUCKETS];

static uint32_t lane_queue[SL_LANES_MAX];        /* link to its queue, 0 = not in use */
static sl_account_id lane_account[SL_LANES_MAX]; /* SL_NO_ID where usage does not count */
static uint32_t lane_bucket[SL_LANES_MAX];
static uint32_t lane_bucket_next[SL_LANES_MAX]; /* also links the free ones */
static uint32_t lane_next[SL_LANES_MAX];
static uint32_t lane_prev[SL_LANES_MAX];
static uint32_t lane_scout[SL_LANES_MAX];
static bool lane_shut[SL_LANES_MAX];
static uint32_t lane_free;
static uint32_t lane_limit;

/* Of a queue's open lanes [0] and its shut ones [1]. */
static uint32_t list_first[2][SL_QNODES_MAX];
static uint32_t member_count[2][SL_QNODES_MAX];

static uint32_t scouted[SL_WORKLOADS_MAX]; /* link to the lane whose scout it is */

/* clang-format off */
#define LISTS                                                                                      \
    list_first[0 .. 1][0 .. SL_QNODES_MAX - 1], lane_next[0 .. SL_LANES_MAX - 1],                   \
        lane_prev[0 .. SL_LANES_MAX - 1]
#define MEMBERS member_count[0 .. 1][0 .. SL_QNODES_MAX - 1]
#define LANES                                                                                      \
    bucket_first[0 .. BUCKETS - 1], lane_queue[0 .. SL_LANES_MAX - 1],                             \
        lane_account[0 .. SL_LANES_MAX - 1], lane_bucket[0 .. SL_LANES_MAX - 1],                   \
        lane_bucket_next[0 .. SL_LANES_MAX - 1], lane_scout[0 .. SL_LANES_MAX - 1],                \
        lane_shut[0 .. SL_LANES_MAX - 1], lane_free, lane_limit
/* clang-format on */

/*@
  // Every link is none or names what exists, so that following it is safe.
  predicate LaneLinks{L} = lane_free <= SL_LANES_MAX && lane_limit <= SL_LANES_MAX &&
    (\forall integer b; 0 <= b < BUCKETS ==> bucket_first[b] <= SL_LANES_MAX) &&
    (\forall integer i; 0 <= i < SL_LANES_MAX ==>
       lane_queue[i] <= SL_QNODES_MAX && lane_bucket[i] < BUCKETS &&
       lane_bucket_next[i] <= SL_LANES_MAX && lane_next[i] <= SL_LANES_MAX &&
       lane_prev[i] <= SL_LANES_MAX && lane_scout[i] <= SL_WORKLOADS_MAX) &&
    (\forall integer s, q; 0 <= s < 2 && 0 <= q < SL_QNODES_MAX ==>
       list_first[s][q] <= SL_LANES_MAX) &&
    (\forall integer w; 0 <= w < SL_WORKLOADS_MAX ==> scouted[w] <= SL_LANES_MAX);
*/

/*@ terminates \true; exits \false; assigns \nothing;
    ensures result: \result <==> lane < SL_LANES_MAX && lane_queue[lane] != 0; */
static bool in_use(sl_lane_id lane)
{
    return lane < SL_LANES_MAX && lane_queue[lane] != 0;
}

/*@ terminates \true; exits \false; assigns \nothing; ensures known: \result < BUCKETS; */
static uint32_t bucket_of(sl_qnode_id queue, sl_workload_id id)
{
    uint64_t hash = sl_shape_hash(id) ^ ((uint64_t)queue * 0x9E3779B97F4A7C15u);
    return (uint32_t)((hash ^ (hash >> 29)) % BUCKETS);
}

/* Some workload of the lane, SL_NO_ID when there is none. */
/*@ requires known: LaneLinks && lane < SL_LANES_MAX; terminates \true; exits \false;
    assigns \nothing; */
static sl_workload_id sample_of(sl_lane_id lane)
{
    return lane_scout[lane] != 0 ? lane_scout[lane] - 1 : sl_heap_first(SL_HEAP_OF_LANE(lane));
}

/*@ requires known: LaneLinks && lane < SL_LANES_MAX; terminates \true; exits \false;
    assigns \nothing; */
static bool takes(sl_lane_id lane, sl_qnode_id queue, sl_workload_id id)
{
    return lane_queue[lane] == queue + 1 && sl_shape_equal(sample_of(lane), id);
}

/* From the lane at `link` on, one that takes the workload, whatever its account. */
/*@ requires links: LaneLinks && link <= SL_LANES_MAX; terminates \true; exits \false;
    assigns \nothing; ensures bound: \result <= SL_LANES_MAX; */
static uint32_t find(uint32_t link, sl_qnode_id queue, sl_workload_id id)
{
    /*@
      loop invariant link: link <= SL_LANES_MAX;
      loop assigns steps, link;
      loop variant SL_LANES_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_LANES_MAX && !takes(link - 1, queue, id);
         steps++) {
        link = lane_bucket_next[link - 1];
    }
    return link;
}

/*@ requires links: LaneLinks && link <= SL_LANES_MAX; terminates \true; exits \false;
    assigns \nothing; ensures bound: \result <= SL_LANES_MAX; */
static uint32_t find_of_account(uint32_t link, sl_qnode_id queue, sl_workload_id id)
{
    sl_account_id account = sl_fronts_account(queue, id);
    link = find(link, queue, id);
    /*@
      loop invariant link: link <= SL_LANES_MAX;
      loop assigns steps, link;
      loop variant SL_LANES_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < SL_LANES_MAX && lane_account[link - 1] != account;
         steps++) {
        link = find(lane_bucket_next[link - 1], queue, id);
    }
    return link;
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns lane_free, lane_limit;
    ensures links: LaneLinks && \result <= SL_LANES_MAX; */
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

/*@ requires links: LaneLinks && lane < SL_LANES_MAX && lane_queue[lane] != 0; terminates \true;
    exits \false; assigns LISTS; ensures links: LaneLinks; */
static void join_list(sl_lane_id lane)
{
    sl_qnode_id queue = lane_queue[lane] - 1;
    uint32_t first = list_first[lane_shut[lane]][queue];
    lane_prev[lane] = 0;
    lane_next[lane] = first;
    if (first != 0) {
        lane_prev[first - 1] = lane + 1;
    }
    list_first[lane_shut[lane]][queue] = lane + 1;
}

/*@ requires links: LaneLinks && lane < SL_LANES_MAX && lane_queue[lane] != 0; terminates \true;
    exits \false; assigns LISTS; ensures links: LaneLinks; */
static void leave_list(sl_lane_id lane)
{
    if (lane_prev[lane] != 0) {
        lane_next[lane_prev[lane] - 1] = lane_next[lane];
    } else {
        list_first[lane_shut[lane]][lane_queue[lane] - 1] = lane_next[lane];
    }
    if (lane_next[lane] != 0) {
        lane_prev[lane_next[lane] - 1] = lane_prev[lane];
    }
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns LANES, LISTS;
    ensures links: LaneLinks; */
sl_lane_id sl_lanes_open(sl_qnode_id queue, sl_workload_id id)
{
    if (queue >= SL_QNODES_MAX || id >= SL_WORKLOADS_MAX) {
        return SL_NO_ID;
    }
    uint32_t bucket = bucket_of(queue, id);
    uint32_t link = find_of_account(bucket_first[bucket], queue, id);
    if (link != 0) {
        return link - 1;
    }
    uint32_t twin = find(bucket_first[bucket], queue, id);
    link = take_lane();
    if (link == 0) {
        return SL_NO_ID;
    }
    sl_lane_id lane = link - 1;
    lane_queue[lane] = queue + 1;
    lane_account[lane] = sl_fronts_account(queue, id);
    lane_bucket[lane] = bucket;
    lane_bucket_next[lane] = bucket_first[bucket];
    bucket_first[bucket] = link;
    lane_scout[lane] = 0;
    lane_shut[lane] = twin != 0 && lane_shut[twin - 1];
    join_list(lane);
    return lane;
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns \nothing; */
sl_lane_id sl_lanes_twin(sl_lane_id lane, sl_lane_id after)
{
    if (!in_use(lane) || lane_account[lane] == SL_NO_ID) {
        return SL_NO_ID;
    }
    sl_qnode_id queue = lane_queue[lane] - 1;
    uint32_t link =
        after < SL_LANES_MAX ? lane_bucket_next[after] : bucket_first[lane_bucket[lane]];
    link = find(link, queue, sample_of(lane));
    if (link == lane + 1) {
        link = find(lane_bucket_next[lane], queue, sample_of(lane));
    }
    return link != 0 ? link - 1 : SL_NO_ID;
}

/*@ requires links: LaneLinks && lane < SL_LANES_MAX; terminates \true; exits \false;
    assigns bucket_first[0 .. BUCKETS - 1], lane_bucket_next[0 .. SL_LANES_MAX - 1];
    ensures links: LaneLinks; */
static void leave_bucket(sl_lane_id lane)
{
    uint32_t link = bucket_first[lane_bucket[lane]];
    if (link == lane + 1) {
        bucket_first[lane_bucket[lane]] = lane_bucket_next[lane];
        return;
    }
    /*@
      loop invariant link: link <= SL_LANES_MAX;
      loop assigns steps, link;
      loop variant SL_LANES_MAX - steps;
    */
    for (uint32_t steps = 0;
         link != 0 && steps < SL_LANES_MAX && lane_bucket_next[link - 1] != lane + 1; steps++) {
        link = lane_bucket_next[link - 1];
    }
    if (link != 0) {
        lane_bucket_next[link - 1] = lane_bucket_next[lane];
    }
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns LANES, LISTS;
    ensures links: LaneLinks; */
void sl_lanes_close_empty(sl_lane_id lane)
{
    if (!in_use(lane) || lane_scout[lane] != 0 || sl_heap_count(SL_HEAP_OF_LANE(lane)) != 0) {
        return;
    }
    leave_bucket(lane);
    leave_list(lane);
    lane_queue[lane] = 0;
    lane_bucket_next[lane] = lane_free;
    lane_free = lane + 1;
}

/*@ requires links: LaneLinks; terminates \true; exits \false;
    assigns LISTS, MEMBERS, lane_shut[lane]; ensures links: LaneLinks; */
void sl_lanes_shut(sl_lane_id lane, bool shut)
{
    if (!in_use(lane) || lane_shut[lane] == shut) {
        return;
    }
    sl_qnode_id queue = lane_queue[lane] - 1;
    uint32_t members = sl_heap_count(SL_HEAP_OF_LANE(lane));
    leave_list(lane);
    member_count[lane_shut[lane]][queue] -= members;
    lane_shut[lane] = shut;
    member_count[lane_shut[lane]][queue] += members;
    join_list(lane);
}

bool sl_lanes_is_shut(sl_lane_id lane)
{
    return in_use(lane) && lane_shut[lane];
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns sl_hidden, MEMBERS; */
void sl_lanes_join(sl_lane_id lane, sl_workload_id id)
{
    if (in_use(lane) && id < SL_WORKLOADS_MAX && sl_heap_of(id) == SL_NO_ID) {
        sl_heap_push(SL_HEAP_OF_LANE(lane), id);
        member_count[lane_shut[lane]][lane_queue[lane] - 1]++;
    }
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns sl_hidden, MEMBERS; */
void sl_lanes_leave(sl_workload_id id)
{
    sl_lane_id lane = sl_lanes_of(id);
    if (in_use(lane)) {
        sl_heap_remove(id);
        member_count[lane_shut[lane]][lane_queue[lane] - 1]--;
    }
}

sl_lane_id sl_lanes_of(sl_workload_id id)
{
    sl_heap_id heap = sl_heap_of(id);
    return heap != SL_NO_ID && heap >= SL_HEAP_OF_LANE(0) ? heap - SL_HEAP_OF_LANE(0) : SL_NO_ID;
}

sl_workload_id sl_lanes_best(sl_lane_id lane)
{
    return in_use(lane) ? sl_heap_first(SL_HEAP_OF_LANE(lane)) : SL_NO_ID;
}

/*@ requires links: LaneLinks; terminates \true; exits \false;
    assigns lane_scout[lane], scouted[0 .. SL_WORKLOADS_MAX - 1]; ensures links: LaneLinks; */
void sl_lanes_set_scout(sl_lane_id lane, sl_workload_id id)
{
    if (in_use(lane) && id < SL_WORKLOADS_MAX) {
        lane_scout[lane] = id + 1;
        scouted[id] = lane + 1;
    }
}

/*@ requires links: LaneLinks; terminates \true; exits \false;
    assigns lane_scout[lane], scouted[0 .. SL_WORKLOADS_MAX - 1]; ensures links: LaneLinks; */
void sl_lanes_drop_scout(sl_lane_id lane)
{
    if (in_use(lane) && lane_scout[lane] != 0) {
        scouted[lane_scout[lane] - 1] = 0;
        lane_scout[lane] = 0;
    }
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns \nothing; */
sl_workload_id sl_lanes_scout(sl_lane_id lane)
{
    return in_use(lane) && lane_scout[lane] != 0 ? lane_scout[lane] - 1 : SL_NO_ID;
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns \nothing; */
sl_lane_id sl_lanes_scouted_by(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && scouted[id] != 0 ? scouted[id] - 1 : SL_NO_ID;
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns \nothing; */
sl_qnode_id sl_lanes_queue(sl_lane_id lane)
{
    return in_use(lane) ? lane_queue[lane] - 1 : SL_NO_ID;
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns \nothing; */
sl_lane_id sl_lanes_first(sl_qnode_id queue, bool shut)
{
    return queue < SL_QNODES_MAX && list_first[shut][queue] != 0 ? list_first[shut][queue] - 1
                                                                 : SL_NO_ID;
}

/*@ requires links: LaneLinks; terminates \true; exits \false; assigns \nothing; */
sl_lane_id sl_lanes_next(sl_lane_id lane)
{
    return in_use(lane) && lane_next[lane] != 0 ? lane_next[lane] - 1 : SL_NO_ID;
}

uint32_t sl_lanes_member_count(sl_qnode_id queue, bool shut)
{
    return queue < SL_QNODES_MAX ? member_count[shut][queue] : 0;
}
