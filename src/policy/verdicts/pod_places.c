/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Places of pods. By rank the scratch has the domain of each rank, SL_NO_ID once a pod has it; in
 * order it has how many pods each domain has. */
#include "policy/verdicts/pod_places.h"

int64_t sl_pod_places_rank(struct sl_pod_labels l)
{
    if (l.index < 0 || l.index > SL_POD_INDEX_MAX || l.first < 0 || l.first > SL_POD_INDEX_MAX ||
        l.count < 0 || l.count > SL_POD_INDEX_MAX) {
        return SL_POD_NO_RANK;
    }
    int64_t rank = l.index - l.first;
    if (l.grouped) {
        if (l.group < 0 || l.group >= l.groups || l.index >= l.count / l.groups) {
            return SL_POD_NO_RANK;
        }
        /*@ assert group: 0 <= l.group * (l.count / l.groups) <= l.count; */
        rank = l.index + l.group * (l.count / l.groups) - l.first;
    }
    return rank >= 0 && rank < l.count ? rank : SL_POD_NO_RANK;
}

bool sl_pod_places_behind(int64_t count, int64_t other, bool other_first)
{
    return other < count || (other == count && other_first);
}

bool sl_pod_places_is_lost(struct sl_pinned_sight s)
{
    if (!s.known) {
        return false;
    }
    if (s.placed) {
        return s.closed || !s.assigned;
    }
    return s.node_known && s.asks && !s.gated && !s.decided;
}

/* The domain of each rank, in order, none more often than its count: how many ranks there are. */
/*@
  requires counts:    \valid_read(counts + (0 .. row_count - 1));
  requires row_at:    \valid(row_at + (0 .. size - 1));
  requires apart:     \separated(row_at + (0 .. size - 1), counts + (0 .. row_count - 1));
  terminates          \true;
  exits               \false;
  assigns             row_at[0 .. size - 1];
  ensures  bound:     \result <= size;
  ensures  known:     \forall integer k; 0 <= k < \result ==> row_at[k] < row_count;
  ensures  order:     \forall integer k, l; 0 <= k <= l < \result ==> row_at[k] <= row_at[l];
  ensures  counts:    \forall integer k, l; 0 <= k <= l < \result && row_at[k] == row_at[l] ==>
                      l - k < counts[row_at[l]];
*/
static uint32_t fill_ranks(const uint32_t *counts, uint32_t row_count, uint32_t *row_at,
                           uint32_t size)
{
    uint32_t ranks = 0;
    /*@
      loop invariant rows:   0 <= r <= row_count;
      loop invariant bound:  ranks <= size;
      loop invariant known:  \forall integer k; 0 <= k < ranks ==> row_at[k] < r;
      loop invariant order:  \forall integer k, l; 0 <= k <= l < ranks ==> row_at[k] <= row_at[l];
      loop invariant counts: \forall integer k, l; 0 <= k <= l < ranks && row_at[k] == row_at[l] ==>
                             l - k < counts[row_at[l]];
      loop assigns r, ranks, row_at[0 .. size - 1];
      loop variant row_count - r;
    */
    for (uint32_t r = 0; r < row_count; r++) {
        uint32_t end = counts[r] < size - ranks ? ranks + counts[r] : size;
        /*@ ghost uint32_t start = ranks; */
        /*@
          loop invariant range:  start <= ranks <= end <= size && end <= start + counts[r];
          loop invariant here:   \forall integer k; start <= k < ranks ==> row_at[k] == r;
          loop assigns ranks, row_at[start .. end - 1];
          loop variant end - ranks;
        */
        for (; ranks < end; ranks++) {
            row_at[ranks] = r;
        }
    }
    return ranks;
}

/* False when ranks cannot be used: a pod has none, two have the same, or one is elsewhere already. */
/*@
  requires pods:      \valid_read(pods + (0 .. pod_count - 1));
  requires row_at:    \valid(row_at + (0 .. ranks - 1));
  requires known:     \forall integer k; 0 <= k < ranks ==> row_at[k] != SL_NO_ID;
  requires rows:      \valid(rows + (0 .. pod_count - 1));
  requires apart:     \separated(rows + (0 .. pod_count - 1), row_at + (0 .. ranks - 1),
                                 pods + (0 .. pod_count - 1));
  terminates          \true;
  exits               \false;
  assigns             rows[0 .. pod_count - 1], row_at[0 .. ranks - 1];
  ensures  ranked:    \result ==> \forall integer i; 0 <= i < pod_count ==> 0 <= pods[i].rank < ranks;
  ensures  places:    \result ==> \forall integer i; 0 <= i < pod_count && pods[i].gated ==>
                      rows[i] == \old(row_at[pods[i].rank]);
  ensures  released:  \result ==> \forall integer i; 0 <= i < pod_count && !pods[i].gated ==>
                      rows[i] == SL_NO_ID && pods[i].row == \old(row_at[pods[i].rank]);
  ensures  single:    \result ==> \forall integer i, j; 0 <= i < j < pod_count ==>
                      pods[i].rank != pods[j].rank;
*/
static bool find_by_rank(const struct sl_pod_at *pods, uint32_t pod_count, uint32_t *row_at,
                         uint32_t ranks, uint32_t *rows)
{
    /*@
      loop invariant range:    0 <= i <= pod_count;
      loop invariant ranked:   \forall integer k; 0 <= k < i ==> 0 <= pods[k].rank < ranks;
      loop invariant used:     \forall integer k; 0 <= k < i ==> row_at[pods[k].rank] == SL_NO_ID;
      loop invariant rest:     \forall integer k; 0 <= k < ranks ==>
                               row_at[k] == SL_NO_ID || row_at[k] == \at(row_at[k], Pre);
      loop invariant places:   \forall integer k; 0 <= k < i && pods[k].gated ==>
                               rows[k] == \at(row_at[pods[k].rank], Pre);
      loop invariant released: \forall integer k; 0 <= k < i && !pods[k].gated ==>
                               rows[k] == SL_NO_ID && pods[k].row == \at(row_at[pods[k].rank], Pre);
      loop invariant single:   \forall integer k, l; 0 <= k < l < i ==> pods[k].rank != pods[l].rank;
      loop assigns i, rows[0 .. pod_count - 1], row_at[0 .. ranks - 1];
      loop variant pod_count - i;
    */
    for (uint32_t i = 0; i < pod_count; i++) {
        int64_t rank = pods[i].rank;
        if (rank < 0 || rank >= ranks || row_at[rank] == SL_NO_ID) {
            return false;
        }
        if (!pods[i].gated && pods[i].row != row_at[rank]) {
            return false;
        }
        rows[i] = pods[i].gated ? row_at[rank] : SL_NO_ID;
        row_at[rank] = SL_NO_ID;
    }
    return true;
}

/* How many pods are in each domain. */
/*@
  requires pods:      \valid_read(pods + (0 .. pod_count - 1));
  requires taken:     \valid(taken + (0 .. row_count - 1));
  requires apart:     \separated(taken + (0 .. row_count - 1), pods + (0 .. pod_count - 1));
  terminates          \true;
  exits               \false;
  assigns             taken[0 .. row_count - 1];
  ensures  bound:     \forall integer r; 0 <= r < row_count ==> taken[r] <= pod_count;
*/
static void count_released(const struct sl_pod_at *pods, uint32_t pod_count, uint32_t *taken,
                           uint32_t row_count)
{
    /*@
      loop invariant range: 0 <= r <= row_count;
      loop invariant none:  \forall integer k; 0 <= k < r ==> taken[k] == 0;
      loop assigns r, taken[0 .. row_count - 1];
      loop variant row_count - r;
    */
    for (uint32_t r = 0; r < row_count; r++) {
        taken[r] = 0;
    }
    /*@
      loop invariant range: 0 <= i <= pod_count;
      loop invariant bound: \forall integer r; 0 <= r < row_count ==> taken[r] <= i;
      loop assigns i, taken[0 .. row_count - 1];
      loop variant pod_count - i;
    */
    for (uint32_t i = 0; i < pod_count; i++) {
        if (!pods[i].gated && pods[i].row < row_count) {
            taken[pods[i].row]++;
        }
    }
}

/* The first domain from `row` on that has a place left; row_count = none. */
/*@
  requires counts:    \valid_read(counts + (0 .. row_count - 1));
  requires taken:     \valid_read(taken + (0 .. row_count - 1));
  requires row:       row <= row_count;
  terminates          \true;
  exits               \false;
  assigns             \nothing;
  ensures  range:     row <= \result <= row_count;
  ensures  capacity:      \result < row_count ==> taken[\result] < counts[\result];
  ensures  full:      \forall integer r; row <= r < \result ==> taken[r] >= counts[r];
*/
static uint32_t next_free(const uint32_t *counts, const uint32_t *taken, uint32_t row_count,
                          uint32_t row)
{
    /*@
      loop invariant range: \at(row, Pre) <= row <= row_count;
      loop invariant full:  \forall integer r; \at(row, Pre) <= r < row ==> taken[r] >= counts[r];
      loop assigns row;
      loop variant row_count - row;
    */
    while (row < row_count && taken[row] >= counts[row]) {
        row++;
    }
    return row;
}

/* No domain gets a pod beyond its count, and none stays gated while a domain has a place left. */
/*@
  requires pods:      \valid_read(pods + (0 .. pod_count - 1));
  requires counts:    \valid_read(counts + (0 .. row_count - 1));
  requires taken:     \valid(taken + (0 .. row_count - 1));
  requires rows:      \valid(rows + (0 .. pod_count - 1));
  requires apart:     \separated(rows + (0 .. pod_count - 1), taken + (0 .. row_count - 1),
                                 pods + (0 .. pod_count - 1), counts + (0 .. row_count - 1));
  terminates          \true;
  exits               \false;
  assigns             rows[0 .. pod_count - 1], taken[0 .. row_count - 1];
  ensures  known:     \forall integer i; 0 <= i < pod_count ==> rows[i] < row_count || rows[i] == SL_NO_ID;
  ensures  gated:     \forall integer i; 0 <= i < pod_count && !pods[i].gated ==> rows[i] == SL_NO_ID;
  ensures  count:     \forall integer r; 0 <= r < row_count ==>
                      taken[r] == \old(taken[r]) || \old(taken[r]) < taken[r] <= counts[r];
  ensures  given:     \forall integer i; 0 <= i < pod_count && rows[i] != SL_NO_ID ==>
                      \old(taken[\at(rows[i], Post)]) < taken[rows[i]];
  ensures  all:       \forall integer i, r; 0 <= i < pod_count && pods[i].gated && rows[i] == SL_NO_ID &&
                      0 <= r < row_count ==> taken[r] >= counts[r];
*/
static void find_in_order(const struct sl_pod_at *pods, uint32_t pod_count, const uint32_t *counts,
                          uint32_t row_count, uint32_t *taken, uint32_t *rows)
{
    uint32_t row = 0;
    /*@
      loop invariant range: 0 <= i <= pod_count && 0 <= row <= row_count;
      loop invariant known: \forall integer k; 0 <= k < i ==> rows[k] < row_count || rows[k] == SL_NO_ID;
      loop invariant gated: \forall integer k; 0 <= k < i && !pods[k].gated ==> rows[k] == SL_NO_ID;
      loop invariant count: \forall integer r; 0 <= r < row_count ==>
                            taken[r] == \at(taken[r], Pre) || \at(taken[r], Pre) < taken[r] <= counts[r];
      loop invariant given: \forall integer k; 0 <= k < i && rows[k] != SL_NO_ID ==>
                            \at(taken[\at(rows[k], Here)], Pre) < taken[rows[k]];
      loop invariant full:  \forall integer r; 0 <= r < row ==> taken[r] >= counts[r];
      loop invariant all:   \forall integer k; 0 <= k < i && pods[k].gated && rows[k] == SL_NO_ID ==>
                            row == row_count;
      loop assigns i, row, rows[0 .. pod_count - 1], taken[0 .. row_count - 1];
      loop variant pod_count - i;
    */
    for (uint32_t i = 0; i < pod_count; i++) {
        row = next_free(counts, taken, row_count, row);
        rows[i] = SL_NO_ID;
        if (pods[i].gated && row < row_count) {
            rows[i] = row;
            taken[row]++;
        }
    }
}

void sl_pod_places_find(const struct sl_pod_at *pods, uint32_t pod_count, const uint32_t *counts,
                        uint32_t row_count, uint32_t *scratch, uint32_t size, uint32_t *rows)
{
    uint32_t ranks = fill_ranks(counts, row_count, scratch, size);
    if (!find_by_rank(pods, pod_count, scratch, ranks, rows)) {
        count_released(pods, pod_count, scratch, row_count);
        find_in_order(pods, pod_count, counts, row_count, scratch, rows);
    }
}
