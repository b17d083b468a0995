/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Heaps. A link is an id plus one; 0 says "none". The binary digits of a position below the
 * highest say the way from the root to it: 0 left, 1 right. */
#include "policy/queues/heap.h"

#include "kernel/base/order.h"

static uint32_t heap_root[SL_HEAPS_MAX];
static uint32_t heap_count[SL_HEAPS_MAX];
static uint32_t home[SL_WORKLOADS_MAX]; /* link to the heap it is in */
static uint32_t up[SL_WORKLOADS_MAX];
static uint32_t left[SL_WORKLOADS_MAX];
static uint32_t right[SL_WORKLOADS_MAX];

/* A complete tree of all workloads has 21 levels: nothing rises or sinks further. */
#define LEVELS_MAX 21u

/*@
  // Every link is none or names what exists, so that following it is safe.
  predicate HeapLinks{L} =
    (\forall integer i; 0 <= i < SL_WORKLOADS_MAX ==> home[i] <= SL_HEAPS_MAX &&
       up[i] <= SL_WORKLOADS_MAX && left[i] <= SL_WORKLOADS_MAX && right[i] <= SL_WORKLOADS_MAX) &&
    (\forall integer h; 0 <= h < SL_HEAPS_MAX ==> heap_root[h] <= SL_WORKLOADS_MAX);

  // It names a workload.
  predicate HeapLink(integer link) = 0 < link <= SL_WORKLOADS_MAX;
*/

/*@
  requires links:     HeapLinks;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  known:     \result < SL_WORKLOADS_MAX || \result == SL_NO_ID;
*/
sl_workload_id sl_heap_first(sl_heap_id heap)
{
    return heap < SL_HEAPS_MAX && heap_root[heap] != 0 ? heap_root[heap] - 1 : SL_NO_ID;
}

/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
uint32_t sl_heap_count(sl_heap_id heap)
{
    return heap < SL_HEAPS_MAX ? heap_count[heap] : 0;
}

/*@
  requires links:     HeapLinks;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  known:     \result < SL_HEAPS_MAX || \result == SL_NO_ID;
*/
sl_heap_id sl_heap_of(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && home[id] != 0 ? home[id] - 1 : SL_NO_ID;
}

/* The highest power of two that is not above `position`. */
/*@
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  digit:     \result >= 1;
*/
static uint32_t top_digit(uint32_t position)
{
    uint32_t digit = 1;
    /*@
      loop invariant digit: 1 <= digit && (digit == 1 || digit <= position);
      loop assigns digit;
      loop variant position - digit;
    */
    while (digit <= position / 2) {
        digit *= 2;
    }
    return digit;
}

/* The link at a position of a heap, 0 when nothing is there. */
/*@
  requires links:     HeapLinks;
  requires heap:      heap < SL_HEAPS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  bound:     \result <= SL_WORKLOADS_MAX;
*/
static uint32_t link_at(sl_heap_id heap, uint32_t position)
{
    uint32_t link = heap_root[heap];
    uint32_t rest = position;
    /*@
      loop invariant link: link <= SL_WORKLOADS_MAX;
      loop assigns digit, rest, link;
      loop variant digit;
    */
    for (uint32_t digit = top_digit(position); digit > 1 && link != 0; digit /= 2) {
        rest = rest % digit;
        link = rest >= digit / 2 ? right[link - 1] : left[link - 1];
    }
    return link;
}

/*@
  requires links:     HeapLinks;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  known:     \result < SL_WORKLOADS_MAX || \result == SL_NO_ID;
*/
sl_workload_id sl_heap_at(sl_heap_id heap, uint32_t position)
{
    if (heap >= SL_HEAPS_MAX || position == 0 || position > heap_count[heap]) {
        return SL_NO_ID;
    }
    uint32_t link = link_at(heap, position);
    return link != 0 ? link - 1 : SL_NO_ID;
}

/* Whatever pointed down to `old` now points down to `link`, which may be none. */
/*@
  requires links:     HeapLinks;
  requires heap:      heap < SL_HEAPS_MAX;
  requires old:       HeapLink(old);
  requires link:      link <= SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             heap_root[0 .. SL_HEAPS_MAX - 1], up[0 .. SL_WORKLOADS_MAX - 1],
                      left[0 .. SL_WORKLOADS_MAX - 1], right[0 .. SL_WORKLOADS_MAX - 1];
  ensures  links:     HeapLinks;
  ensures  same_up:   \forall integer i; 0 <= i < SL_WORKLOADS_MAX && i != link - 1 ==>
                        up[i] == \old(up[i]);
*/
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

/*@
  requires links:     HeapLinks;
  requires parent:    HeapLink(parent);
  requires link:      link <= SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             left[parent - 1], up[0 .. SL_WORKLOADS_MAX - 1];
  ensures  links:     HeapLinks;
*/
static void set_left(uint32_t parent, uint32_t link)
{
    left[parent - 1] = link;
    if (link != 0) {
        up[link - 1] = parent;
    }
}

/*@
  requires links:     HeapLinks;
  requires parent:    HeapLink(parent);
  requires link:      link <= SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             right[parent - 1], up[0 .. SL_WORKLOADS_MAX - 1];
  ensures  links:     HeapLinks;
*/
static void set_right(uint32_t parent, uint32_t link)
{
    right[parent - 1] = link;
    if (link != 0) {
        up[link - 1] = parent;
    }
}

/* `link` and its parent change places. */
/*@
  requires links:     HeapLinks;
  requires heap:      heap < SL_HEAPS_MAX;
  requires link:      HeapLink(link);
  requires has_parent: up[link - 1] != 0;
  terminates          \true;
  exits               \false;
  assigns             heap_root[0 .. SL_HEAPS_MAX - 1], up[0 .. SL_WORKLOADS_MAX - 1],
                      left[0 .. SL_WORKLOADS_MAX - 1], right[0 .. SL_WORKLOADS_MAX - 1];
  ensures  links:     HeapLinks;
*/
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

/*@
  requires links:     HeapLinks;
  requires heap:      heap < SL_HEAPS_MAX;
  requires link:      HeapLink(link);
  terminates          \true;
  exits               \false;
  assigns             heap_root[0 .. SL_HEAPS_MAX - 1], up[0 .. SL_WORKLOADS_MAX - 1],
                      left[0 .. SL_WORKLOADS_MAX - 1], right[0 .. SL_WORKLOADS_MAX - 1];
  ensures  links:     HeapLinks;
*/
static void rise_as_far_as_right(sl_heap_id heap, uint32_t link)
{
    /*@
      loop invariant links: HeapLinks;
      loop assigns steps, heap_root[0 .. SL_HEAPS_MAX - 1], up[0 .. SL_WORKLOADS_MAX - 1],
                   left[0 .. SL_WORKLOADS_MAX - 1], right[0 .. SL_WORKLOADS_MAX - 1];
      loop variant LEVELS_MAX - steps;
    */
    for (uint32_t steps = 0;
         steps < LEVELS_MAX && up[link - 1] != 0 && sl_order_before(link - 1, up[link - 1] - 1);
         steps++) {
        rise(heap, link);
    }
}

/* The child to be tried first, 0 when there is none. */
/*@
  requires links:     HeapLinks;
  requires link:      HeapLink(link);
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  bound:     \result <= SL_WORKLOADS_MAX;
*/
static uint32_t first_child(uint32_t link)
{
    uint32_t child = left[link - 1];
    uint32_t other = right[link - 1];
    return other != 0 && sl_order_before(other - 1, child - 1) ? other : child;
}

/*@
  requires links:     HeapLinks;
  requires heap:      heap < SL_HEAPS_MAX;
  requires link:      HeapLink(link);
  terminates          \true;
  exits               \false;
  assigns             heap_root[0 .. SL_HEAPS_MAX - 1], up[0 .. SL_WORKLOADS_MAX - 1],
                      left[0 .. SL_WORKLOADS_MAX - 1], right[0 .. SL_WORKLOADS_MAX - 1];
  ensures  links:     HeapLinks;
*/
static void sink_as_far_as_right(sl_heap_id heap, uint32_t link)
{
    uint32_t child = first_child(link);
    /*@
      loop invariant links: HeapLinks;
      loop invariant child: child <= SL_WORKLOADS_MAX;
      loop assigns steps, child, heap_root[0 .. SL_HEAPS_MAX - 1], up[0 .. SL_WORKLOADS_MAX - 1],
                   left[0 .. SL_WORKLOADS_MAX - 1], right[0 .. SL_WORKLOADS_MAX - 1];
      loop variant LEVELS_MAX - steps;
    */
    for (uint32_t steps = 0; steps < LEVELS_MAX && child != 0 && up[child - 1] == link &&
                             sl_order_before(child - 1, link - 1);
         steps++) {
        rise(heap, child);
        child = first_child(link);
    }
}

/*@
  requires links:     HeapLinks;
  terminates          \true;
  exits               \false;
  assigns             heap_root[0 .. SL_HEAPS_MAX - 1], heap_count[0 .. SL_HEAPS_MAX - 1],
                      up[0 .. SL_WORKLOADS_MAX - 1],
                      left[0 .. SL_WORKLOADS_MAX - 1], right[0 .. SL_WORKLOADS_MAX - 1],
                      home[0 .. SL_WORKLOADS_MAX - 1];
  ensures  links:     HeapLinks;
  ensures  in_heap:   heap < SL_HEAPS_MAX && id < SL_WORKLOADS_MAX && \old(home[id]) == 0 ==>
                        home[id] == heap + 1;
  ensures  others:    \forall integer i; 0 <= i < SL_WORKLOADS_MAX && i != id ==>
                        home[i] == \old(home[i]);
*/
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

/*@
  requires links:     HeapLinks;
  terminates          \true;
  exits               \false;
  assigns             heap_root[0 .. SL_HEAPS_MAX - 1], heap_count[0 .. SL_HEAPS_MAX - 1],
                      up[0 .. SL_WORKLOADS_MAX - 1],
                      left[0 .. SL_WORKLOADS_MAX - 1], right[0 .. SL_WORKLOADS_MAX - 1],
                      home[0 .. SL_WORKLOADS_MAX - 1];
  ensures  links:     HeapLinks;
  ensures  in_none:   id < SL_WORKLOADS_MAX ==> home[id] == 0;
  ensures  others:    \forall integer i; 0 <= i < SL_WORKLOADS_MAX && i != id ==>
                        home[i] == \old(home[i]);
*/
void sl_heap_remove(sl_workload_id id)
{
    if (id >= SL_WORKLOADS_MAX || home[id] == 0) {
        return;
    }
    sl_heap_id heap = home[id] - 1;
    uint32_t last = link_at(heap, heap_count[heap]);
    if (last == 0) {
        last = id + 1; /* never: a heap has a last one when it has this one */
    }
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
/*@
  requires known:     parent < SL_WORKLOADS_MAX && link <= SL_WORKLOADS_MAX;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
static bool child_agrees(sl_workload_id parent, uint32_t link)
{
    return link == 0 || (up[link - 1] == parent + 1 && home[link - 1] == home[parent] &&
                         sl_order_before(parent, link - 1));
}

/*@
  requires links:     HeapLinks;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
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
