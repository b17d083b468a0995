/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which few domains take all pods with the least to spare: every sum that can be reached with so
 * many domains is noted once, with the domain that completed it first and the sum before it. */
#include "policy/placement_balance.h"

#define REACHED_MAX 131072u
#define SLOTS 262144u   /* a power of two, twice as many */
#define LEAST_MAX 4096u /* domains that balanced placement uses */

struct reached {
    uint32_t next;   /* of as many domains and leaders; index plus one */
    uint32_t before; /* what it was made of; SL_NO_ID = nothing yet */
    uint32_t spot;
    uint32_t domains;
    uint32_t leaders_left;
    int64_t pods_left;
};
static struct reached sums[REACHED_MAX];
static uint32_t sum_count;
static uint32_t slots[SLOTS];            /* index plus one */
static uint32_t first[LEAST_MAX + 1][2]; /* by domains used and leaders left */
static uint32_t limit;                   /* how many domains are used in the end */
static uint32_t best;                    /* takes all, and spares least; SL_NO_ID = none yet */

static uint32_t slot_of(uint32_t domains, uint32_t leaders_left, int64_t pods_left)
{
    uint64_t key = ((uint64_t)pods_left * 2u + leaders_left) * 8191u + domains;
    key *= 0x9E3779B97F4A7C15ULL;
    return (uint32_t)(key >> 46) % SLOTS;
}

static void clear(void)
{
    for (uint32_t i = 0; i < sum_count; i++) {
        uint32_t slot = slot_of(sums[i].domains, sums[i].leaders_left, sums[i].pods_left);
        for (uint32_t steps = 0; slots[slot] != 0 && steps < SLOTS; steps++) {
            slots[slot] = 0;
            slot = (slot + 1) % SLOTS;
        }
    }
    for (uint32_t i = 0; i <= limit && i <= LEAST_MAX; i++) {
        first[i][0] = 0;
        first[i][1] = 0;
    }
    sum_count = 0;
    best = SL_NO_ID;
}

/* Where it is noted, or would be. */
static uint32_t find_slot(const struct reached *sum)
{
    uint32_t slot = slot_of(sum->domains, sum->leaders_left, sum->pods_left);
    for (uint32_t steps = 0; slots[slot] != 0 && steps < SLOTS; steps++) {
        const struct reached *there = &sums[slots[slot] - 1];
        if (there->domains == sum->domains && there->leaders_left == sum->leaders_left &&
            there->pods_left == sum->pods_left) {
            break;
        }
        slot = (slot + 1) % SLOTS;
    }
    return slot;
}

/* Only the first way to a sum counts. False = too many. */
static bool note(struct reached sum)
{
    uint32_t slot = find_slot(&sum);
    if (slots[slot] != 0) {
        return true;
    }
    if (sum_count >= REACHED_MAX) {
        return false;
    }
    sum.next = first[sum.domains][sum.leaders_left];
    sums[sum_count] = sum;
    first[sum.domains][sum.leaders_left] = sum_count + 1;
    slots[slot] = sum_count + 1;
    if (sum.domains == limit && sum.leaders_left == 0 && sum.pods_left <= 0 &&
        (best == SL_NO_ID || sum.pods_left > sums[best].pods_left)) {
        best = sum_count;
    }
    sum_count++;
    return true;
}

static bool extend(uint32_t index, uint32_t spot)
{
    struct reached from = sums[index];
    struct reached to = {.before = index, .spot = spot, .domains = from.domains + 1};
    if (from.leaders_left == 0 && from.pods_left <= 0) {
        return true;
    }
    if (from.leaders_left > 0 && sl_pick_leaders(spot) > 0) {
        to.leaders_left = 0;
        to.pods_left = from.pods_left - sl_fit_pods_led[spot];
        if (!note(to)) {
            return false;
        }
    }
    if (sl_fit_slices[spot] > 0) {
        to.leaders_left = from.leaders_left;
        to.pods_left = from.pods_left - sl_fit_pods[spot];
        return note(to);
    }
    return true;
}

/* The domain on top of everything reached without it; sums of most domains first, so that it is
 * used once. */
static bool try_domain(uint32_t spot)
{
    for (uint32_t used = limit; used > 0; used--) {
        for (uint32_t leaders = 0; leaders < 2; leaders++) {
            uint32_t link = first[used - 1][leaders];
            for (uint32_t steps = 0; link != 0 && steps < REACHED_MAX; steps++) {
                if (!extend(link - 1, spot)) {
                    return false;
                }
                link = sums[link - 1].next;
            }
        }
    }
    return true;
}

static void write_best(struct sl_spot_list *out)
{
    uint32_t index = best;
    out->count = limit;
    for (uint32_t i = limit; i > 0 && index != SL_NO_ID; i--) {
        out->spots[i - 1] = sums[index].spot;
        index = sums[index].before;
    }
}

bool sl_balance_subset(const struct sl_spot_list *domains, struct sl_spot_list *out)
{
    struct sl_greedy greedy = sl_balance_greedy(domains);
    int64_t pods = (int64_t)(sl_placing.count / sl_placing.slice_size) * sl_placing.slice_size;
    clear();
    if (!greedy.fits || greedy.count == 0 || greedy.count > LEAST_MAX) {
        return false;
    }
    limit = greedy.count;
    bool bearable = note((struct reached){.before = SL_NO_ID,
                                          .spot = SL_NO_ID,
                                          .leaders_left = sl_placing.leaders,
                                          .pods_left = pods});
    for (uint32_t i = 0; bearable && i < domains->count; i++) {
        if (best != SL_NO_ID && sums[best].pods_left == 0) {
            break; /* nothing to spare: no better one comes */
        }
        bearable = try_domain(domains->spots[i]);
    }
    if (!bearable || best == SL_NO_ID) {
        return false;
    }
    write_best(out);
    return true;
}
