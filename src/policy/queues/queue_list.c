/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Queues, as seen: the list of a queue in order, and the check of indexes against places. */
#include "policy/queues/queues.h"

#include "kernel/commit/place.h"
#include "policy/queues/fronts.h"
#include "policy/queues/heads.h"
#include "policy/queues/heap.h"
#include "policy/queues/lanes.h"
#include "policy/common/sort.h"
#include "policy/queues/turns.h"

/* The accounts of a list's workloads, where the queue admits by usage, and of each how many of these have used less,
 * and one; 0 = not counted yet. */
static sl_account_id accounts[SL_ACCOUNTS_MAX];
static uint32_t account_count;
static uint32_t turn_of[SL_ACCOUNTS_MAX];
static bool noted[SL_ACCOUNTS_MAX];

/* clang-format off */
#define TURNS                                                                                      \
    account_count, accounts[0 .. SL_ACCOUNTS_MAX - 1], turn_of[0 .. SL_ACCOUNTS_MAX - 1],          \
        noted[0 .. SL_ACCOUNTS_MAX - 1]
/* clang-format on */

/*@
  // What is noted is within the list, and known.
  predicate Noted{L} = account_count <= SL_ACCOUNTS_MAX &&
    (\forall integer i; 0 <= i < account_count ==> accounts[i] < SL_ACCOUNTS_MAX);
*/

/*@ requires noted: Noted; terminates \true; exits \false; assigns TURNS; ensures noted: Noted; */
static void note_account(sl_qnode_id node, sl_workload_id id)
{
    sl_account_id account = sl_fronts_account(node, id);
    if (account < SL_ACCOUNTS_MAX && !noted[account] && account_count < SL_ACCOUNTS_MAX) {
        noted[account] = true;
        turn_of[account] = 0;
        accounts[account_count] = account;
        account_count++;
    }
}

/*@ requires noted: Noted; terminates \true; exits \false; assigns TURNS; ensures noted: Noted; */
static void forget_accounts(void)
{
    /*@
      loop invariant noted: Noted;
      loop assigns account_count, noted[0 .. SL_ACCOUNTS_MAX - 1];
      loop variant account_count;
    */
    while (account_count > 0) {
        account_count--;
        noted[accounts[account_count]] = false;
    }
}

/*@ requires noted: Noted; terminates \true; exits \false; assigns \nothing;
    ensures bound: \result <= SL_ACCOUNTS_MAX; */
static uint32_t count_less(sl_account_id account)
{
    uint32_t less = 0;
    /*@
      loop invariant less: less <= i <= account_count;
      loop assigns i, less;
      loop variant account_count - i;
    */
    for (uint32_t i = 0; i < account_count; i++) {
        less += sl_usage_compare(accounts[i], account) < 0 ? 1 : 0;
    }
    return less;
}

/* Whoever used less comes first; among equals the sticky one does. */
/*@ requires noted: Noted; terminates \true; exits \false; assigns turn_of[0 .. SL_ACCOUNTS_MAX - 1]; */
static uint32_t rank_of(sl_qnode_id node, sl_workload_id id)
{
    uint32_t rank = sl_heads_is_sticky(node, id) ? 0 : 1;
    sl_account_id account = sl_fronts_account(node, id);
    if (account >= SL_ACCOUNTS_MAX) {
        return rank;
    }
    if (turn_of[account] == 0) {
        turn_of[account] = count_less(account) + 1;
    }
    return turn_of[account] * 2 + rank;
}

/* A list is made in two walks over the same heaps: their accounts first, then the workloads with their ranks. */
enum walk { WALK_ACCOUNTS, WALK_WORKLOADS };

/*@ requires noted: Noted; terminates \true; exits \false; assigns sl_hidden, TURNS;
    ensures noted: Noted; */
static void walk_heap(enum walk walk, sl_qnode_id node, sl_heap_id heap)
{
    uint32_t count = sl_heap_count(heap);
    /*@
      loop invariant noted: Noted;
      loop assigns i, sl_hidden, TURNS;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        sl_workload_id id = sl_heap_at(heap, i + 1);
        if (walk == WALK_ACCOUNTS) {
            note_account(node, id);
        } else {
            sl_sort_add(id, rank_of(node, id), 0);
        }
    }
}

/*@ requires noted: Noted; terminates \true; exits \false; assigns sl_hidden, TURNS;
    ensures noted: Noted; */
static void walk_lanes(enum walk walk, sl_qnode_id node, bool shut)
{
    sl_lane_id lane = sl_lanes_first(node, shut);
    /*@
      loop invariant noted: Noted;
      loop assigns steps, lane, sl_hidden, TURNS;
      loop variant SL_LANES_MAX - steps;
    */
    for (uint32_t steps = 0; lane != SL_NO_ID && steps < SL_LANES_MAX; steps++) {
        walk_heap(walk, node, SL_HEAP_OF_LANE(lane));
        lane = sl_lanes_next(lane);
    }
}

/*@ requires noted: Noted && node < SL_QNODES_MAX; terminates \true; exits \false;
    assigns sl_hidden, TURNS; ensures noted: Noted; */
static void walk_queue(enum walk walk, sl_qnode_id node)
{
    sl_heap_id heap = SL_HEAP_OF_QUEUE(node);
    /*@
      loop invariant noted: Noted;
      loop assigns steps, heap, sl_hidden, TURNS;
      loop variant SL_ACCOUNTS_MAX + 1 - steps;
    */
    for (uint32_t steps = 0; heap != SL_NO_ID && steps <= SL_ACCOUNTS_MAX; steps++) {
        walk_heap(walk, node, heap);
        heap = sl_fronts_next_heap(node, heap);
    }
    walk_heap(walk, node, SL_HEAP_OF_BACKOFF(node));
    walk_heap(walk, node, SL_HEAP_OF_ALONE(node));
    walk_lanes(walk, node, false);
    walk_lanes(walk, node, true);
}

/*@ requires noted: Noted; terminates \true; exits \false; assigns sl_hidden, TURNS;
    ensures noted: Noted; */
uint32_t sl_queues_list(sl_qnode_id node)
{
    sl_sort_clear();
    if (node >= SL_QNODES_MAX) {
        return 0;
    }
    walk_queue(WALK_ACCOUNTS, node);
    walk_queue(WALK_WORKLOADS, node);
    forget_accounts();
    sl_sort_begin(true);
    return sl_sort_count();
}

/*@ terminates \true; exits \false; assigns sl_hidden; */
sl_workload_id sl_queues_listed(uint32_t index)
{
    sl_sort_reach(index < SL_WORKLOADS_MAX ? index + 1 : SL_WORKLOADS_MAX);
    return sl_sort_at(index);
}

/* A parked workload is among those of its queue that wait for their backoff or alone, or in a lane
 * of its queue which is shut or has a scout out. */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool parked_rightly(sl_qnode_id queue, sl_heap_id heap)
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
    sl_qnode_id queue = sl_queues_queue_of(id);
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
