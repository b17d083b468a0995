/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Candidates: collected queue by queue, then sorted in place by a heapsort that goes only as far as
 * candidates are taken: few are needed, as a rule. What is compared is copied once. */
#include "policy/preemption/candidates.h"

#include "kernel/lifecycle/lifecycle.h"
#include "kernel/base/order.h"
#include "policy/preemption/contest.h"
#include "policy/queues/fronts.h"
#include "policy/queues/holders.h"
#include "policy/queues/turns.h"
#include "policy/fair/usage.h"

/* What a candidate is tried by, group and rank aside. */
struct key {
    int32_t priority;
    int64_t reserved_at_ms;
    uint64_t uid_high;
    uint64_t uid_low;
};

struct entry {
    struct sl_candidate candidate;
    struct key key;
};

/* The first `rest` are a heap, the first of the order at its top. The others have been sorted,
 * the first of the order at the end. */
static struct entry list[SL_WORKLOADS_MAX];
static uint32_t count;
static uint32_t rest;

/*@
  // What is in the list is within it, and names workloads.
  predicate CandidateList{L} = rest <= count <= SL_WORKLOADS_MAX && \forall integer i;
    0 <= i < SL_WORKLOADS_MAX ==> list[i].candidate.workload < SL_WORKLOADS_MAX;
*/

/*@ requires list: CandidateList; terminates \true; exits \false; assigns count, rest;
    ensures list: CandidateList; */
void sl_candidates_clear(void)
{
    count = 0;
    rest = 0;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static struct key key_of(sl_workload_id id, int64_t now_ms)
{
    struct sl_order_key order = sl_order_of(id);
    int64_t reserved = id < SL_WORKLOADS_MAX ? sl_workloads[id].reserved_at_ms : SL_NEVER;
    return (struct key){order.priority, reserved != SL_NEVER ? reserved : now_ms, order.uid_high,
                        order.uid_low};
}

/*@ requires list: CandidateList; terminates \true; exits \false;
    assigns count, list[0 .. SL_WORKLOADS_MAX - 1]; ensures list: CandidateList; */
void sl_candidates_add(struct sl_candidate pattern)
{
    sl_workload_id id =
        sl_turns_is_active(pattern.queue) ? sl_holders_first(pattern.queue) : SL_NO_ID;
    /*@
      loop invariant list: CandidateList && (id < SL_WORKLOADS_MAX || id == SL_NO_ID);
      loop assigns steps, id, count, list[0 .. SL_WORKLOADS_MAX - 1];
      loop variant SL_WORKLOADS_MAX - steps;
    */
    for (uint32_t steps = 0; id != SL_NO_ID && count < SL_WORKLOADS_MAX && steps < SL_WORKLOADS_MAX;
         steps++) {
        if (sl_contest_allows(id, pattern.queue)) {
            list[count].candidate = pattern;
            list[count].candidate.workload = id;
            if (sl_workloads[id].phase != SL_PHASE_EVICTED) {
                list[count].candidate.rank += SL_RANK_LATER;
            }
            count++;
        }
        id = sl_holders_next(id);
    }
}

/* -1, 0, 1 as a is to be tried before b, may be in any order, or is to be tried after it. */
/*@ terminates \true; exits \false; assigns \nothing; */
static int compare_keys(struct key a, struct key b)
{
    if (a.priority != b.priority) {
        return a.priority < b.priority ? -1 : 1;
    }
    if (a.reserved_at_ms != b.reserved_at_ms) {
        return a.reserved_at_ms > b.reserved_at_ms ? -1 : 1;
    }
    if (a.uid_high != b.uid_high) {
        return a.uid_high < b.uid_high ? -1 : 1;
    }
    if (a.uid_low != b.uid_low) {
        return a.uid_low < b.uid_low ? -1 : 1;
    }
    return 0;
}

bool sl_candidates_before(sl_workload_id a, sl_workload_id b, int64_t now_ms)
{
    struct key x = key_of(a, now_ms);
    struct key y = key_of(b, now_ms);
    int order = compare_keys(x, y);
    return order != 0 ? order < 0 : a < b;
}

/* Of one queue that admits by usage, workloads whose account used more come first. */
/*@ terminates \true; exits \false; assigns \nothing; */
static int compare_usage(struct sl_candidate a, struct sl_candidate b)
{
    return a.queue != b.queue ? 0
                              : sl_usage_compare(sl_fronts_account(b.queue, b.workload),
                                                 sl_fronts_account(a.queue, a.workload));
}

/* Both are indices in the list. */
/*@ requires known: CandidateList && a < count && b < count; terminates \true; exits \false;
    assigns \nothing; */
static bool before(uint32_t a, uint32_t b)
{
    struct sl_candidate x = list[a].candidate;
    struct sl_candidate y = list[b].candidate;
    if (x.group != y.group) {
        return x.group < y.group;
    }
    if (x.rank != y.rank) {
        return x.rank < y.rank;
    }
    int order = compare_usage(x, y);
    order = order != 0 ? order : compare_keys(list[a].key, list[b].key);
    return order != 0 ? order < 0 : x.workload < y.workload;
}

/*@ requires known: CandidateList && a < count && b < count; terminates \true; exits \false;
    assigns list[a], list[b]; ensures list: CandidateList; */
static void swap(uint32_t a, uint32_t b)
{
    struct entry entry = list[a];
    list[a] = list[b];
    list[b] = entry;
}

/*@ requires known: CandidateList && end <= count; terminates \true; exits \false;
    assigns list[0 .. SL_WORKLOADS_MAX - 1]; ensures list: CandidateList; */
static void sink(uint32_t at, uint32_t end)
{
    /*@
      loop invariant list: CandidateList;
      loop invariant at: \at(at, LoopEntry) <= at;
      loop assigns at, list[0 .. SL_WORKLOADS_MAX - 1];
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

/*@ requires list: CandidateList; terminates \true; exits \false;
    assigns rest, list[0 .. SL_WORKLOADS_MAX - 1]; ensures list: CandidateList; */
void sl_candidates_sort(int64_t now_ms)
{
    /*@
      loop invariant list: CandidateList;
      loop assigns i, list[0 .. SL_WORKLOADS_MAX - 1];
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        list[i].key = key_of(list[i].candidate.workload, now_ms);
    }
    rest = count;
    /*@
      loop invariant list: CandidateList && i <= count;
      loop assigns i, list[0 .. SL_WORKLOADS_MAX - 1];
      loop variant i;
    */
    for (uint32_t i = count / 2; i > 0; i--) {
        sink(i - 1, count);
    }
}

/*@ requires list: CandidateList; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_candidates_count(void)
{
    return count;
}

/*@ requires list: CandidateList; terminates \true; exits \false;
    assigns rest, list[0 .. SL_WORKLOADS_MAX - 1]; ensures list: CandidateList; */
struct sl_candidate sl_candidates_at(uint32_t index)
{
    if (index >= count) {
        return (struct sl_candidate){.workload = SL_NO_ID, .queue = SL_NO_ID};
    }
    /*@
      loop invariant list: CandidateList;
      loop assigns rest, list[0 .. SL_WORKLOADS_MAX - 1];
      loop variant rest;
    */
    while (rest > count - 1 - index) {
        rest--;
        swap(0, rest);
        sink(0, rest);
    }
    return list[count - 1 - index].candidate;
}
