/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Heaps. A link is an id plus one; 0 says "none". The binary digits of a position below the
 * highest say the way from the root to it: 0 left, 1 right. */
#include "policy/heap.h"

#include "policy/order.h"

static uint32_t heap_root[SL_HEAPS_MAX];
static uint32_t heap_count[SL_HEAPS_MAX];
static uint32_t home[SL_WORKLOADS_MAX]; /* link to the heap it is in */
static uint32_t up[SL_WORKLOADS_MAX];
static uint32_t left[SL_WORKLOADS_MAX];
static uint32_t right[SL_WORKLOADS_MAX];

sl_workload_id sl_heap_first(sl_heap_id heap)
{
    return heap < SL_HEAPS_MAX && heap_root[heap] != 0 ? heap_root[heap] - 1 : SL_NO_ID;
}

uint32_t sl_heap_count(sl_heap_id heap)
{
    return heap < SL_HEAPS_MAX ? heap_count[heap] : 0;
}

sl_heap_id sl_heap_of(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && home[id] != 0 ? home[id] - 1 : SL_NO_ID;
}

/* The highest power of two that is not above `position`. */
static uint32_t top_digit(uint32_t position)
{
    uint32_t digit = 1;
    while (digit <= position / 2) {
        digit *= 2;
    }
    return digit;
}

/* The link at a position of a heap, 0 when nothing is there. */
static uint32_t link_at(sl_heap_id heap, uint32_t position)
{
    uint32_t link = heap_root[heap];
    uint32_t rest = position;
    for (uint32_t digit = top_digit(position); digit > 1 && link != 0; digit /= 2) {
        rest = rest % digit;
        link = rest >= digit / 2 ? right[link - 1] : left[link - 1];
    }
    return link;
}

sl_workload_id sl_heap_at(sl_heap_id heap, uint32_t position)
{
    if (heap >= SL_HEAPS_MAX || position == 0 || position > heap_count[heap]) {
        return SL_NO_ID;
    }
    uint32_t link = link_at(heap, position);
    return link != 0 ? link - 1 : SL_NO_ID;
}

/* Whatever pointed down to `old` now points down to `link`, which may be none. */
static void replace_below(sl_heap_id heap, uint32_t old, uint32_t link)
{
    uint32_t parent = up[old - 1];
    if (parent == 0) {
        heap_root[heap] = link;
    } else if (left[parent - 1] == old) {
        left[parent - 1] = link;
    } else {
        right[parent - 1] = link;
    }
    if (link != 0) {
        up[link - 1] = parent;
    }
}

static void set_left(uint32_t parent, uint32_t link)
{
    left[parent - 1] = link;
    if (link != 0) {
        up[link - 1] = parent;
    }
}

static void set_right(uint32_t parent, uint32_t link)
{
    right[parent - 1] = link;
    if (link != 0) {
        up[link - 1] = parent;
    }
}

/* `link` and its parent change places. */
static void rise(sl_heap_id heap, uint32_t link)
{
    uint32_t parent = up[link - 1];
    uint32_t parent_left = left[parent - 1];
    uint32_t parent_right = right[parent - 1];
    replace_below(heap, parent, link);
    set_left(parent, left[link - 1]);
    set_right(parent, right[link - 1]);
    if (parent_left == link) {
        set_left(link, parent);
        set_right(link, parent_right);
    } else {
        set_left(link, parent_left);
        set_right(link, parent);
    }
}

static void rise_as_far_as_right(sl_heap_id heap, uint32_t link)
{
    while (up[link - 1] != 0 && sl_order_before(link - 1, up[link - 1] - 1)) {
        rise(heap, link);
    }
}

/* The child to be tried first, 0 when there is none. */
static uint32_t first_child(uint32_t link)
{
    uint32_t child = left[link - 1];
    uint32_t other = right[link - 1];
    return other != 0 && sl_order_before(other - 1, child - 1) ? other : child;
}

static void sink_as_far_as_right(sl_heap_id heap, uint32_t link)
{
    uint32_t child = first_child(link);
    while (child != 0 && sl_order_before(child - 1, link - 1)) {
        rise(heap, child);
        child = first_child(link);
    }
}

void sl_heap_push(sl_heap_id heap, sl_workload_id id)
{
    if (heap >= SL_HEAPS_MAX || id >= SL_WORKLOADS_MAX || home[id] != 0) {
        return;
    }
    uint32_t position = heap_count[heap] + 1;
    uint32_t parent = position > 1 ? link_at(heap, position / 2) : 0;
    home[id] = heap + 1;
    up[id] = parent;
    left[id] = 0;
    right[id] = 0;
    if (parent == 0) {
        heap_root[heap] = id + 1;
    } else if (position % 2 == 0) {
        left[parent - 1] = id + 1;
    } else {
        right[parent - 1] = id + 1;
    }
    heap_count[heap] = position;
    rise_as_far_as_right(heap, id + 1);
}

void sl_heap_remove(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX || home[id] == 0) {
        return;
    }
    sl_heap_id heap = home[id] - 1;
    uint32_t last = link_at(heap, heap_count[heap]);
    replace_below(heap, last, 0);
    heap_count[heap]--;
    if (last != id + 1) { /* the last one takes its place and finds its own from there */
        replace_below(heap, id + 1, last);
        set_left(last, left[id]);
        set_right(last, right[id]);
        rise_as_far_as_right(heap, last);
        sink_as_far_as_right(heap, last);
    }
    home[id] = 0;
    up[id] = 0;
    left[id] = 0;
    right[id] = 0;
}

/* Is `link` absent, or a child that knows its parent and is tried after it? */
static bool child_agrees(sl_workload_id parent, uint32_t link)
{
    return link == 0 || (up[link - 1] == parent + 1 && home[link - 1] == home[parent] &&
                         sl_order_before(parent, link - 1));
}

bool sl_heap_agrees(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX || home[id] == 0) {
        return true;
    }
    if (up[id] == 0) {
        if (heap_root[home[id] - 1] != id + 1) {
            return false;
        }
    } else if (left[up[id] - 1] != id + 1 && right[up[id] - 1] != id + 1) {
        return false;
    }
    return child_agrees(id, left[id]) && child_agrees(id, right[id]);
}
