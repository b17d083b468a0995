/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Turns: two doubly linked lists of queues, and lists of marked nodes. Links are ids plus one. */
#include "policy/turns.h"

#include "kernel/ledger.h"
#include "policy/heap.h"
#include "policy/lanes.h"

static bool active_queues[SL_NODES_MAX];
static uint32_t blocked_head[SL_NODES_MAX];
static uint32_t queue_limit; /* no queue from here on was ever refreshed */

static uint32_t ready_first;
static uint32_t ready_next[SL_NODES_MAX];
static uint32_t ready_prev[SL_NODES_MAX];
static bool is_ready[SL_NODES_MAX];

static uint32_t waiting_first;
static uint32_t waiting_next[SL_NODES_MAX];
static uint32_t waiting_prev[SL_NODES_MAX];
static bool is_waiting[SL_NODES_MAX];

static sl_node_id marked_trees[SL_NODES_MAX];
static uint32_t marked_tree_count;
static bool tree_marked[SL_NODES_MAX];
static sl_node_id marked_queues[SL_NODES_MAX];
static uint32_t marked_queue_count;
static bool queue_marked[SL_NODES_MAX];
static sl_node_id woken_roots[SL_NODES_MAX];
static uint32_t woken_root_count;
static bool root_woken[SL_NODES_MAX];

static bool head_blocked(sl_node_id queue)
{
    return blocked_head[queue] != 0 &&
           sl_heap_first(SL_HEAP_OF_QUEUE(queue)) == blocked_head[queue] - 1;
}

static bool should_be_ready(sl_node_id queue)
{
    return active_queues[queue] && sl_heap_count(SL_HEAP_OF_QUEUE(queue)) != 0 &&
           !head_blocked(queue);
}

static bool should_wait(sl_node_id queue)
{
    return head_blocked(queue) || sl_lanes_shut_count(queue) != 0;
}

static void join_ready(sl_node_id queue)
{
    is_ready[queue] = true;
    ready_prev[queue] = 0;
    ready_next[queue] = ready_first;
    if (ready_first != 0) {
        ready_prev[ready_first - 1] = queue + 1;
    }
    ready_first = queue + 1;
}

static void leave_ready(sl_node_id queue)
{
    is_ready[queue] = false;
    if (ready_prev[queue] != 0) {
        ready_next[ready_prev[queue] - 1] = ready_next[queue];
    } else {
        ready_first = ready_next[queue];
    }
    if (ready_next[queue] != 0) {
        ready_prev[ready_next[queue] - 1] = ready_prev[queue];
    }
    ready_next[queue] = 0;
    ready_prev[queue] = 0;
}

static void join_waiting(sl_node_id queue)
{
    is_waiting[queue] = true;
    waiting_prev[queue] = 0;
    waiting_next[queue] = waiting_first;
    if (waiting_first != 0) {
        waiting_prev[waiting_first - 1] = queue + 1;
    }
    waiting_first = queue + 1;
}

static void leave_waiting(sl_node_id queue)
{
    is_waiting[queue] = false;
    if (waiting_prev[queue] != 0) {
        waiting_next[waiting_prev[queue] - 1] = waiting_next[queue];
    } else {
        waiting_first = waiting_next[queue];
    }
    if (waiting_next[queue] != 0) {
        waiting_prev[waiting_next[queue] - 1] = waiting_prev[queue];
    }
    waiting_next[queue] = 0;
    waiting_prev[queue] = 0;
}

void sl_turns_refresh(sl_node_id queue)
{
    if (queue >= SL_NODES_MAX) {
        return;
    }
    if (queue >= queue_limit) {
        queue_limit = queue + 1;
    }
    bool ready = should_be_ready(queue);
    if (ready && !is_ready[queue]) {
        join_ready(queue);
    } else if (!ready && is_ready[queue]) {
        leave_ready(queue);
    }
    bool waiting = should_wait(queue);
    if (waiting && !is_waiting[queue]) {
        join_waiting(queue);
    } else if (!waiting && is_waiting[queue]) {
        leave_waiting(queue);
    }
}

void sl_turns_set_active(sl_node_id queue, bool active)
{
    if (queue < SL_NODES_MAX) {
        active_queues[queue] = active;
        sl_turns_refresh(queue);
    }
}

bool sl_turns_is_active(sl_node_id queue)
{
    return queue < SL_NODES_MAX && active_queues[queue];
}

void sl_turns_block(sl_node_id queue, sl_workload_id head)
{
    if (queue < SL_NODES_MAX && head < SL_WORKLOADS_MAX) {
        blocked_head[queue] = head + 1;
        sl_turns_refresh(queue);
    }
}

void sl_turns_unblock(sl_node_id queue)
{
    if (queue < SL_NODES_MAX) {
        blocked_head[queue] = 0;
        sl_turns_refresh(queue);
    }
}

static sl_node_id node_of(uint32_t link)
{
    return link != 0 ? link - 1 : SL_NO_ID;
}

sl_node_id sl_turns_first_ready(void)
{
    return node_of(ready_first);
}

sl_node_id sl_turns_next_ready(sl_node_id queue)
{
    return queue < SL_NODES_MAX ? node_of(ready_next[queue]) : SL_NO_ID;
}

sl_node_id sl_turns_first_waiting(void)
{
    return node_of(waiting_first);
}

sl_node_id sl_turns_next_waiting(sl_node_id queue)
{
    return queue < SL_NODES_MAX ? node_of(waiting_next[queue]) : SL_NO_ID;
}

void sl_turns_mark_tree(sl_node_id node)
{
    if (node < SL_NODES_MAX && !tree_marked[node]) {
        tree_marked[node] = true;
        marked_trees[marked_tree_count] = node;
        marked_tree_count++;
    }
}

void sl_turns_mark_queue(sl_node_id queue)
{
    if (queue < SL_NODES_MAX && !queue_marked[queue]) {
        queue_marked[queue] = true;
        marked_queues[marked_queue_count] = queue;
        marked_queue_count++;
    }
}

bool sl_turns_marked(void)
{
    return marked_tree_count != 0 || marked_queue_count != 0;
}

void sl_turns_resolve(void)
{
    for (uint32_t i = 0; i < marked_tree_count; i++) {
        sl_node_id root = sl_ledger_root_node(marked_trees[i]);
        if (root < SL_NODES_MAX && !root_woken[root]) {
            root_woken[root] = true;
            woken_roots[woken_root_count] = root;
            woken_root_count++;
        }
    }
}

bool sl_turns_is_woken(sl_node_id queue)
{
    if (queue >= SL_NODES_MAX) {
        return false;
    }
    sl_node_id root = sl_ledger_root_node(queue);
    return queue_marked[queue] || (root < SL_NODES_MAX && root_woken[root]);
}

void sl_turns_clear_marks(void)
{
    while (marked_tree_count != 0) {
        marked_tree_count--;
        tree_marked[marked_trees[marked_tree_count]] = false;
    }
    while (marked_queue_count != 0) {
        marked_queue_count--;
        queue_marked[marked_queues[marked_queue_count]] = false;
    }
    while (woken_root_count != 0) {
        woken_root_count--;
        root_woken[woken_roots[woken_root_count]] = false;
    }
}

/* How long a list is; a list longer than there are queues goes in circles. */
static uint32_t length(uint32_t first, bool ready)
{
    uint32_t count = 0;
    for (uint32_t link = first; link != 0 && count <= SL_NODES_MAX; count++) {
        link = ready ? ready_next[link - 1] : waiting_next[link - 1];
    }
    return count;
}

bool sl_turns_valid(void)
{
    uint32_t ready_count = 0;
    uint32_t waiting_count = 0;
    for (sl_node_id queue = 0; queue < queue_limit; queue++) {
        if (is_ready[queue] != should_be_ready(queue) || is_waiting[queue] != should_wait(queue)) {
            return false;
        }
        ready_count += is_ready[queue] ? 1u : 0u;
        waiting_count += is_waiting[queue] ? 1u : 0u;
    }
    return length(ready_first, true) == ready_count &&
           length(waiting_first, false) == waiting_count;
}
