/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A binary heap: building it is linear, taking one out logarithmic. */
#include "policy/placement_pick.h"

struct entry {
    int64_t score;
    int64_t slices;
    int64_t pods;
    uint32_t leaders;
    uint32_t spot;
};
static struct entry heap[SL_DOMAINS_MAX];
static uint32_t count;
static bool leaders_count; /* in the order */
static bool has_front;     /* one that goes before all others */
static struct entry front;

int64_t sl_pick_capacity(uint32_t spot, struct sl_pick_need need)
{
    if (need.leaders > 0) {
        return need.slices ? sl_fit_slices_led[spot] : sl_fit_pods_led[spot];
    }
    return need.slices ? sl_fit_slices[spot] : sl_fit_pods[spot];
}

uint32_t sl_pick_leaders(uint32_t spot)
{
    return sl_placing.leaders > 0 ? sl_fit_leaders[spot] : 0;
}

static bool takes_all(uint32_t spot, struct sl_pick_need need)
{
    return sl_pick_leaders(spot) >= need.leaders && sl_pick_capacity(spot, need) >= need.amount;
}

static struct entry entry_of(uint32_t spot)
{
    bool led = leaders_count && sl_placing.leaders > 0;
    return (struct entry){.score = sl_placing.preferring ? sl_fit_score[spot] : 0,
                          .slices = led ? sl_fit_slices_led[spot] : sl_fit_slices[spot],
                          .pods = led ? sl_fit_pods_led[spot] : sl_fit_pods[spot],
                          .leaders = led ? sl_fit_leaders[spot] : 0,
                          .spot = spot};
}

static bool before(const struct entry *a, const struct entry *b)
{
    if (a->leaders != b->leaders) {
        return a->leaders > b->leaders;
    }
    if (a->score != b->score) {
        return a->score > b->score;
    }
    if (a->slices != b->slices) {
        return sl_placing.least_free ? a->slices < b->slices : a->slices > b->slices;
    }
    if (a->pods != b->pods) {
        return a->pods < b->pods;
    }
    return a->spot < b->spot;
}

/* --- the heap --- */

static void sift_down(uint32_t at)
{
    struct entry moving = heap[at];
    while (at < count / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < count && before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!before(&heap[child], &moving)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

void sl_pick_start(bool leaders_first)
{
    count = 0;
    has_front = false;
    leaders_count = leaders_first;
}

void sl_pick_add(uint32_t spot)
{
    if (count < SL_DOMAINS_MAX) {
        heap[count] = entry_of(spot);
        count++;
    }
}

/* The first spot of the list that can take the leader while all together still take what is
 * needed; SL_NO_ID, or its index. */
static uint32_t find_front(struct sl_pick_need need)
{
    struct sl_pick_need unled = {.slices = need.slices};
    int64_t capacity = 0;
    uint32_t best = SL_NO_ID;
    for (uint32_t i = 0; i < count; i++) {
        capacity += sl_pick_capacity(heap[i].spot, unled);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t spot = heap[i].spot;
        int64_t lost = sl_pick_capacity(spot, unled) - sl_pick_capacity(spot, need);
        if (sl_pick_leaders(spot) >= need.leaders && capacity - lost >= need.amount &&
            (best == SL_NO_ID || before(&heap[i], &heap[best]))) {
            best = i;
        }
    }
    return best;
}

void sl_pick_ready(struct sl_pick_need need)
{
    if (need.leaders > 0 && count > 0) {
        uint32_t best = find_front(need);
        if (best < count) {
            has_front = true;
            front = heap[best];
            count--;
            heap[best] = heap[count];
        }
    }
    for (uint32_t i = count / 2; i > 0; i--) {
        sift_down(i - 1);
    }
}

uint32_t sl_pick_next(void)
{
    if (has_front) {
        has_front = false;
        return front.spot;
    }
    if (count == 0) {
        return SL_NO_ID;
    }
    uint32_t spot = heap[0].spot;
    count--;
    if (count > 0) {
        heap[0] = heap[count];
        sift_down(0);
    }
    return spot;
}

uint32_t sl_pick_tightest(uint32_t taken, struct sl_pick_need need)
{
    struct entry of_taken = entry_of(taken);
    if (count > 0 && heap[0].score != of_taken.score) {
        return taken;
    }
    const struct entry *best = NULL;
    int64_t least = takes_all(taken, need) ? sl_pick_capacity(taken, need) : INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        int64_t capacity = sl_pick_capacity(heap[i].spot, need);
        if (capacity > least || heap[i].score != of_taken.score || !takes_all(heap[i].spot, need)) {
            continue;
        }
        if (capacity < least || (best != NULL && before(&heap[i], best))) {
            least = capacity;
            best = &heap[i];
        }
    }
    return best != NULL ? best->spot : taken;
}

/* --- without a list --- */

uint32_t sl_pick_first(uint32_t first, uint32_t end, struct sl_pick_need need, bool fitting)
{
    struct entry best = {.spot = SL_NO_ID};
    leaders_count = true;
    for (uint32_t spot = first; spot < end; spot++) {
        if (!fitting || takes_all(spot, need)) {
            struct entry e = entry_of(spot);
            if (best.spot == SL_NO_ID || before(&e, &best)) {
                best = e;
            }
        }
    }
    return best.spot;
}

uint32_t sl_pick_tightest_like(uint32_t first, uint32_t end, struct sl_pick_need need,
                               uint32_t like)
{
    leaders_count = true;
    struct entry best = entry_of(like);
    int64_t least = sl_pick_capacity(like, need);
    for (uint32_t spot = first; spot < end; spot++) {
        int64_t capacity = sl_pick_capacity(spot, need);
        if (capacity > least || !takes_all(spot, need)) {
            continue;
        }
        struct entry e = entry_of(spot);
        if (e.score == best.score && (capacity < least || before(&e, &best))) {
            least = capacity;
            best = e;
        }
    }
    return best.spot;
}
