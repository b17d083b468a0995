/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which few domains take all pods with the least to spare: every sum that can be reached with so
 * many domains is noted once, with the domain that completed it first and the sum before it. */
#include "policy/search/placement_balance.h"

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

/* clang-format off */
#define REACHED                                                                                    \
    sums[0 .. REACHED_MAX - 1], sum_count, slots[0 .. SLOTS - 1], first[0 .. LEAST_MAX][0 .. 1], best
/* clang-format on */

/*@
  predicate SlotsSound{L} = sum_count <= REACHED_MAX &&
    \forall integer s; 0 <= s < SLOTS ==> slots[s] <= REACHED_MAX;
  // What it was made of had one domain less.
  predicate MadeSound{L}(integer i) = sums[i].domains > 0 ==>
    sums[i].spot < SL_SPOTS_MAX && sums[i].before < i &&
    sums[sums[i].before].domains == sums[i].domains - 1;
  predicate SumSound{L}(integer i) = sums[i].domains <= limit && sums[i].leaders_left <= 1 &&
    sums[i].next <= sum_count && IsFit(sums[i].pods_left) && MadeSound(i);
  predicate SumsSound{L} = SlotsSound && limit <= LEAST_MAX &&
    (\forall integer i; 0 <= i < sum_count ==> SumSound(i)) &&
    (\forall integer d, l; 0 <= d <= LEAST_MAX && 0 <= l <= 1 ==> first[d][l] <= sum_count) &&
    (best == SL_NO_ID || (best < sum_count && sums[best].domains == limit));
*/

/*@ terminates \true; exits \false; assigns \nothing; ensures slot: \result < SLOTS; */
static uint32_t wrapped(uint32_t slot)
{
    return slot % SLOTS;
}

/*@ terminates \true; exits \false; assigns \nothing; ensures slot: \result < SLOTS; */
static uint32_t slot_of(uint32_t domains, uint32_t leaders_left, int64_t pods_left)
{
    uint64_t key = ((uint64_t)pods_left * 2u + leaders_left) * 8191u + domains;
    key *= 0x9E3779B97F4A7C15ULL;
    return wrapped((uint32_t)(key >> 46));
}

/*@ requires slots: SlotsSound; terminates \true; exits \false; assigns slots[0 .. SLOTS - 1];
    ensures slots: SlotsSound; */
static void clear_slots(void)
{
    /*@
      loop invariant slots: SlotsSound;
      loop assigns i, slots[0 .. SLOTS - 1];
      loop variant sum_count - i;
    */
    for (uint32_t i = 0; i < sum_count; i++) {
        uint32_t slot = slot_of(sums[i].domains, sums[i].leaders_left, sums[i].pods_left);
        /*@
          loop invariant slots: SlotsSound && slot < SLOTS;
          loop assigns steps, slot, slots[0 .. SLOTS - 1];
          loop variant SLOTS - steps;
        */
        for (uint32_t steps = 0; slots[slot] != 0 && steps < SLOTS; steps++) {
            slots[slot] = 0;
            slot = wrapped(slot + 1);
        }
    }
}

/* Nothing is reached; so many domains are to be. */
/*@ requires slots: SlotsSound && count <= LEAST_MAX; terminates \true; exits \false;
    assigns REACHED, limit; ensures sums: SumsSound && sum_count == 0 && limit == count; */
static void clear(uint32_t count)
{
    clear_slots();
    /*@
      loop invariant none: i <= LEAST_MAX + 1 &&
        \forall integer d; 0 <= d < i ==> first[d][0] == 0 && first[d][1] == 0;
      loop assigns i, first[0 .. LEAST_MAX][0 .. 1];
      loop variant LEAST_MAX + 1 - i;
    */
    for (uint32_t i = 0; i <= LEAST_MAX; i++) {
        first[i][0] = 0;
        first[i][1] = 0;
    }
    sum_count = 0;
    best = SL_NO_ID;
    limit = count;
}

/* Where it is noted, or would be. */
/*@ requires slots: SlotsSound; terminates \true; exits \false; assigns \nothing;
    ensures slot: \result < SLOTS; */
static uint32_t find_slot(struct reached sum)
{
    uint32_t slot = slot_of(sum.domains, sum.leaders_left, sum.pods_left);
    /*@
      loop invariant slot: slot < SLOTS;
      loop assigns steps, slot;
      loop variant SLOTS - steps;
    */
    for (uint32_t steps = 0; slots[slot] != 0 && steps < SLOTS; steps++) {
        uint32_t there = slots[slot] - 1;
        if (sums[there].domains == sum.domains && sums[there].leaders_left == sum.leaders_left &&
            sums[there].pods_left == sum.pods_left) {
            break;
        }
        slot = wrapped(slot + 1);
    }
    return slot;
}

/* Only the first way to a sum counts. False = too many. */
/*@ requires sums: SumsSound;
    requires sum: sum.domains <= limit && sum.leaders_left <= 1 && IsFit(sum.pods_left);
    requires made: sum.domains > 0 ==> sum.spot < SL_SPOTS_MAX && sum.before < sum_count &&
      sums[sum.before].domains == sum.domains - 1;
    terminates \true; exits \false; assigns REACHED;
    ensures sums: SumsSound && sum_count >= \old(sum_count);
    ensures kept: \forall integer i; 0 <= i < \old(sum_count) ==>
      sums[i].domains == \old(sums[i].domains); */
static bool note(struct reached sum)
{
    uint32_t slot = find_slot(sum);
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

/*@ requires ready: SumsSound && FitsInRange && index < sum_count && spot < SL_SPOTS_MAX;
    terminates \true; exits \false; assigns REACHED;
    ensures sums: SumsSound && sum_count >= \old(sum_count); */
static bool extend(uint32_t index, uint32_t spot)
{
    struct reached from = sums[index];
    struct reached to = {.before = index, .spot = spot, .domains = from.domains + 1};
    if (from.domains >= limit || (from.leaders_left == 0 && from.pods_left <= 0)) {
        return true;
    }
    if (from.leaders_left > 0 && sl_pick_leaders(spot) > 0) {
        to.leaders_left = 0;
        to.pods_left = sl_counts_bounded(from.pods_left - sl_fit_pods_led[spot]);
        if (!note(to)) {
            return false;
        }
    }
    if (sl_fit_slices[spot] > 0) {
        to.leaders_left = from.leaders_left;
        to.pods_left = sl_counts_bounded(from.pods_left - sl_fit_pods[spot]);
        return note(to);
    }
    return true;
}

/* The domain on top of what that list reaches without it. */
/*@ requires ready: SumsSound && FitsInRange && link <= sum_count && spot < SL_SPOTS_MAX;
    terminates \true; exits \false; assigns REACHED; ensures sums: SumsSound; */
static bool extend_all(uint32_t link, uint32_t spot)
{
    /*@
      loop invariant sums: SumsSound && link <= sum_count;
      loop assigns steps, link, REACHED;
      loop variant REACHED_MAX - steps;
    */
    for (uint32_t steps = 0; link != 0 && steps < REACHED_MAX; steps++) {
        if (!extend(link - 1, spot)) {
            return false;
        }
        link = sums[link - 1].next;
    }
    return true;
}

/* On top of everything reached without it; sums of most domains first, so that it is used once. */
/*@ requires ready: SumsSound && FitsInRange && spot < SL_SPOTS_MAX; terminates \true;
    exits \false; assigns REACHED; ensures sums: SumsSound; */
static bool try_domain(uint32_t spot)
{
    /*@
      loop invariant sums: SumsSound && used <= limit;
      loop assigns used, REACHED;
      loop variant used;
    */
    for (uint32_t used = limit; used > 0; used--) {
        if (!extend_all(first[used - 1][0], spot) || !extend_all(first[used - 1][1], spot)) {
            return false;
        }
    }
    return true;
}

/*@ requires sums: SumsSound && best != SL_NO_ID; terminates \true; exits \false;
    assigns sl_balance_picked; ensures picked: BalancePicked; */
static void write_best(void)
{
    uint32_t index = best;
    sl_balance_picked.count = limit;
    /*@
      loop invariant index: i <= limit && (i > 0 ==> index < sum_count && sums[index].domains == i);
      loop invariant picked: \forall integer k; i <= k < limit ==>
        sl_balance_picked.spots[k] < SL_SPOTS_MAX;
      loop assigns i, index, sl_balance_picked.spots[0 .. LEAST_MAX - 1];
      loop variant i;
    */
    for (uint32_t i = limit; i > 0; i--) {
        sl_balance_picked.spots[i - 1] = sums[index].spot;
        index = sums[index].before;
    }
}

/* Domain after domain, until one choice has nothing to spare. False = too many sums. */
/*@ requires ready: SumsSound && FitsInRange && BalanceListed; terminates \true; exits \false;
    assigns REACHED; ensures sums: SumsSound; */
static bool try_all(void)
{
    /*@
      loop invariant sums: SumsSound;
      loop assigns i, REACHED;
      loop variant sl_balance_domains.count - i;
    */
    for (uint32_t i = 0; i < sl_balance_domains.count; i++) {
        if (best != SL_NO_ID && sums[best].pods_left == 0) {
            break; /* no better one comes */
        }
        if (!try_domain(sl_balance_domains.spots[i])) {
            return false;
        }
    }
    return true;
}

/*@ requires ready: SlotsSound && PlacingSound && FitsInRange && BalanceListed; terminates \true;
    exits \false; assigns sl_hidden, REACHED, limit, sl_balance_picked;
    ensures slots: SlotsSound; ensures picked: \result ==> BalancePicked; */
bool sl_balance_subset(void)
{
    struct sl_greedy greedy = sl_balance_greedy();
    int64_t pods = (int64_t)(sl_placing.count / sl_placing.slice_size) * sl_placing.slice_size;
    if (!greedy.fits || greedy.count == 0 || greedy.count > LEAST_MAX) {
        return false;
    }
    clear(greedy.count);
    bool bearable = note((struct reached){.before = SL_NO_ID,
                                          .spot = SL_NO_ID,
                                          .leaders_left = sl_placing.leaders,
                                          .pods_left = pods});
    if (!bearable || !try_all() || best == SL_NO_ID) {
        return false;
    }
    write_best();
    return true;
}
