/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Heapsort, only as far as it is asked for: at most 2 n comparisons to begin, and 2 log2(n) for each that is reached. */
#include "policy/common/sort.h"

#include "kernel/base/order.h"

static sl_workload_id ids[SL_WORKLOADS_MAX];
static uint32_t ranks[SL_WORKLOADS_MAX];
static uint32_t tags[SL_WORKLOADS_MAX];
static uint32_t count;
static uint32_t
    rest; /* a heap of those not reached yet, the first of them on top; what was reached lies behind it */
static bool by_priority;

/* clang-format off */
#define LISTED                                                                                     \
    ids[0 .. SL_WORKLOADS_MAX - 1], ranks[0 .. SL_WORKLOADS_MAX - 1], tags[0 .. SL_WORKLOADS_MAX - 1]
/* clang-format on */

/*@
  // What is in the list is within it.
  predicate SortList{L} = rest <= count <= SL_WORKLOADS_MAX;
*/

/*@
  terminates          \true;
  exits               \false;
  assigns             count, rest;
  ensures  list:      SortList && count == 0;
*/
void sl_sort_clear(void)
{
    count = 0;
    rest = 0;
}

/*@
  requires list:      SortList;
  terminates          \true;
  exits               \false;
  assigns             count, LISTED;
  ensures  list:      SortList;
*/
void sl_sort_add(sl_workload_id id, uint32_t rank, uint32_t tag)
{
    if (count < SL_WORKLOADS_MAX) {
        ids[count] = id;
        ranks[count] = rank;
        tags[count] = tag;
        count++;
    }
}

/*@
  requires known:     a < count && b < count && SortList;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
static bool before(uint32_t a, uint32_t b)
{
    if (ranks[a] != ranks[b]) {
        return ranks[a] < ranks[b];
    }
    int64_t queued_a = sl_order_of(ids[a]).queued_at_ms;
    int64_t queued_b = sl_order_of(ids[b]).queued_at_ms;
    return by_priority || queued_a == queued_b ? sl_order_before(ids[a], ids[b])
                                               : queued_a < queued_b;
}

/*@
  requires known:     a < count && b < count && SortList;
  terminates          \true;
  exits               \false;
  assigns             ids[a], ranks[a], tags[a], ids[b], ranks[b], tags[b];
*/
static void swap(uint32_t a, uint32_t b)
{
    sl_workload_id id = ids[a];
    uint32_t rank = ranks[a];
    uint32_t tag = tags[a];
    ids[a] = ids[b];
    ranks[a] = ranks[b];
    tags[a] = tags[b];
    ids[b] = id;
    ranks[b] = rank;
    tags[b] = tag;
}

/*@
  requires known:     end <= count && SortList;
  terminates          \true;
  exits               \false;
  assigns             LISTED;
*/
static void sink(uint32_t start, uint32_t end)
{
    uint32_t at = start;
    /*@
      loop invariant at: start <= at;
      loop assigns at, LISTED;
      loop variant end - at;
    */
    while (at < end / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < end && before(child + 1, child)) {
            child++;
        }
        if (!before(child, at)) {
            return;
        }
        swap(at, child);
        at = child;
    }
}

/*@
  requires list:      SortList;
  terminates          \true;
  exits               \false;
  assigns             by_priority, rest, LISTED;
  ensures  list:      SortList;
*/
void sl_sort_begin(bool priority_counts)
{
    by_priority = priority_counts;
    rest = count;
    /*@
      loop invariant i: i <= count;
      loop assigns i, LISTED;
      loop variant i;
    */
    for (uint32_t i = count / 2; i > 0; i--) {
        sink(i - 1, count);
    }
}

/*@
  requires list:      SortList;
  terminates          \true;
  exits               \false;
  assigns             rest, LISTED;
  ensures  list:      SortList;
  ensures  reached:   count - rest >= wanted || rest == 0;
*/
void sl_sort_reach(uint32_t wanted)
{
    /*@
      loop invariant rest: rest <= count;
      loop assigns rest, LISTED;
      loop variant rest;
    */
    while (rest > 0 && count - rest < wanted) {
        rest--;
        swap(0, rest);
        sink(0, rest);
    }
}

/*@
  requires list:      SortList;
  terminates          \true;
  exits               \false;
  assigns             by_priority, rest, LISTED;
  ensures  list:      SortList;
  ensures  reached:   rest == 0;
*/
void sl_sort_run(bool priority_counts)
{
    sl_sort_begin(priority_counts);
    sl_sort_reach(count);
}

/*@
  requires list:      SortList;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
uint32_t sl_sort_count(void)
{
    return count;
}

/*@
  requires list:      SortList;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
sl_workload_id sl_sort_at(uint32_t index)
{
    return index < count - rest ? ids[count - 1 - index] : SL_NO_ID;
}

/*@
  requires list:      SortList;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
uint32_t sl_sort_tag(uint32_t index)
{
    return index < count - rest ? tags[count - 1 - index] : 0;
}
