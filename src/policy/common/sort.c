/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Heapsort: at most 2 n log2(n) comparisons whatever the input. */
#include "policy/common/sort.h"

#include "kernel/base/order.h"

static sl_workload_id ids[SL_WORKLOADS_MAX];
static uint32_t ranks[SL_WORKLOADS_MAX];
static uint32_t tags[SL_WORKLOADS_MAX];
static uint32_t count;
static bool by_priority;

/*@
  // What is in the list is within it.
  predicate SortList{L} = count <= SL_WORKLOADS_MAX;
*/

/*@
  terminates          \true;
  exits               \false;
  assigns             count;
  ensures  list:      SortList && count == 0;
*/
void sl_sort_clear(void)
{
    count = 0;
}

/*@
  requires list:      SortList;
  terminates          \true;
  exits               \false;
  assigns             count, ids[0 .. SL_WORKLOADS_MAX - 1], ranks[0 .. SL_WORKLOADS_MAX - 1],
                      tags[0 .. SL_WORKLOADS_MAX - 1];
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

/* The last comes first in this heap: it is the one to be put at the end. */
/*@
  requires known:     end <= count && SortList;
  terminates          \true;
  exits               \false;
  assigns             ids[0 .. SL_WORKLOADS_MAX - 1], ranks[0 .. SL_WORKLOADS_MAX - 1],
                      tags[0 .. SL_WORKLOADS_MAX - 1];
*/
static void sink(uint32_t start, uint32_t end)
{
    uint32_t at = start;
    /*@
      loop invariant at: start <= at;
      loop assigns at, ids[0 .. SL_WORKLOADS_MAX - 1], ranks[0 .. SL_WORKLOADS_MAX - 1],
                   tags[0 .. SL_WORKLOADS_MAX - 1];
      loop variant end - at;
    */
    while (at < end / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < end && before(child, child + 1)) {
            child++;
        }
        if (!before(at, child)) {
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
  assigns             by_priority, ids[0 .. SL_WORKLOADS_MAX - 1],
                      ranks[0 .. SL_WORKLOADS_MAX - 1], tags[0 .. SL_WORKLOADS_MAX - 1];
*/
void sl_sort_run(bool priority_counts)
{
    by_priority = priority_counts;
    /*@
      loop invariant i: i <= count;
      loop assigns i, ids[0 .. SL_WORKLOADS_MAX - 1], ranks[0 .. SL_WORKLOADS_MAX - 1],
                   tags[0 .. SL_WORKLOADS_MAX - 1];
      loop variant i;
    */
    for (uint32_t i = count / 2; i > 0; i--) {
        sink(i - 1, count);
    }
    /*@
      loop invariant end: end <= count;
      loop assigns end, ids[0 .. SL_WORKLOADS_MAX - 1], ranks[0 .. SL_WORKLOADS_MAX - 1],
                   tags[0 .. SL_WORKLOADS_MAX - 1];
      loop variant end;
    */
    for (uint32_t end = count; end > 1; end--) {
        swap(0, end - 1);
        sink(0, end - 1);
    }
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
    return index < count ? ids[index] : SL_NO_ID;
}

/*@
  requires list:      SortList;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
*/
uint32_t sl_sort_tag(uint32_t index)
{
    return index < count ? tags[index] : 0;
}
