/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The level at which the pods fit: all in one domain, of the lowest possible level above the one
 * asked for, or, where they need not stay together, in as few domains as will do. */
#include "policy/search/placement_pick.h"

#include "policy/common/settings.h"

/* clang-format off */
#define SEARCHED sl_hidden, sl_placement_failure, sl_chosen
/* clang-format on */

/*@ requires chosen: ChosenSound && spot < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns sl_chosen; ensures chosen: ChosenSound; */
static void choose(uint32_t spot)
{
    if (sl_chosen.count < SL_DOMAINS_MAX) {
        sl_chosen.spots[sl_chosen.count] = spot;
        sl_chosen.count++;
    }
}

/*@ requires ready: PlacingSound; terminates \true; exits \false; assigns \nothing;
    ensures need: 0 <= \result.amount <= UINT32_MAX; */
static struct sl_pick_need all_slices(void)
{
    return (struct sl_pick_need){.amount = sl_placing.count / sl_placing.slice_size,
                                 .leaders = sl_placing.leaders,
                                 .slices = true};
}

/* One domain of the level that takes all; SL_NO_ID = there is none. */
/*@ requires ready: CountsReady && depth < SL_DEPTHS_MAX; terminates \true; exits \false;
    assigns sl_hidden; ensures known: \result < SL_SPOTS_MAX || \result == SL_NO_ID; */
static uint32_t find_single(uint32_t depth)
{
    struct sl_pick_need need = all_slices();
    uint32_t first = sl_placing.at.first[depth];
    uint32_t end = sl_placing.at.first[depth + 1];
    if (sl_placing.least_free) {
        return sl_pick_first(first, end, need, true);
    }
    uint32_t top = sl_pick_first(first, end, need, false);
    bool fits = top < SL_SPOTS_MAX && sl_pick_leaders(top) >= need.leaders &&
                sl_pick_capacity(top, need) >= need.amount;
    if (!fits && sl_placing.required && sl_placing.preferring) {
        top = sl_pick_first(first, end, need, true);
        fits = top < SL_SPOTS_MAX;
    }
    return fits ? sl_pick_tightest_like(first, end, need, top) : SL_NO_ID;
}

/* --- several domains --- */

/* The leader's spot comes first; SL_NO_ID = it has none. */
/*@ requires ready: CountsReady && ChosenSound && depth < SL_DEPTHS_MAX; terminates \true;
    exits \false; assigns SEARCHED; ensures chosen: ChosenSound;
    ensures known: \result < SL_SPOTS_MAX || \result == SL_NO_ID; */
static uint32_t choose_leader(uint32_t depth)
{
    struct sl_pick_need need = all_slices();
    uint32_t spot = sl_pick_next();
    if (spot == SL_NO_ID || sl_pick_leaders(spot) == 0) {
        (void)sl_placement_no_fit(depth, 0, need.amount);
        return SL_NO_ID;
    }
    if (!sl_placing.least_free && sl_pick_capacity(spot, need) >= need.amount) {
        spot = sl_pick_tightest(spot, need);
    }
    choose(spot);
    return spot;
}

/* All of the level that take anything, but for the one chosen already. */
/*@ requires ready: CountsReady && depth < SL_DEPTHS_MAX; terminates \true; exits \false;
    assigns sl_hidden; */
static void list_level(uint32_t depth, bool leaders_first)
{
    uint32_t end = sl_placing.at.first[depth + 1];
    sl_pick_start(leaders_first);
    /*@ loop assigns spot, sl_hidden; loop variant end - spot; */
    for (uint32_t spot = sl_placing.at.first[depth]; spot < end; spot++) {
        bool chosen = sl_chosen.count > 0 && sl_chosen.spots[0] == spot;
        if (!chosen && (sl_fit_slices[spot] > 0 || sl_pick_leaders(spot) > 0)) {
            sl_pick_add(spot);
        }
    }
}

/*@ requires ready: CountsReady && ChosenSound && depth < SL_DEPTHS_MAX; terminates \true;
    exits \false; assigns SEARCHED; ensures chosen: ChosenSound; */
static bool choose_several(uint32_t depth)
{
    struct sl_pick_need need = all_slices();
    int64_t of = need.amount;
    if (need.leaders > 0) {
        list_level(depth, true);
        sl_pick_ready(need);
        uint32_t spot = choose_leader(depth);
        if (spot == SL_NO_ID) {
            return false;
        }
        need.amount -= sl_fit_slices_led[spot];
        need.leaders = 0;
    }
    list_level(depth, false);
    sl_pick_ready(need);
    /*@
      loop invariant chosen: ChosenSound && steps <= SL_DOMAINS_MAX;
      loop invariant amount: -2 * SL_AMOUNT_MAX <= need.amount <= 2 * SL_AMOUNT_MAX;
      loop assigns steps, need.amount, SEARCHED;
      loop variant SL_DOMAINS_MAX - steps;
    */
    for (uint32_t steps = 0; need.amount > 0; steps++) {
        uint32_t spot = sl_pick_next();
        if (spot == SL_NO_ID || steps == SL_DOMAINS_MAX) {
            return sl_placement_no_fit(depth, of - need.amount, of);
        }
        if (!sl_placing.least_free && sl_fit_slices[spot] >= need.amount) {
            spot = sl_pick_tightest(spot, need);
        }
        choose(spot);
        if (sl_fit_slices[spot] > 0) { /* else it was listed for the leader */
            need.amount -= sl_fit_slices[spot];
        }
    }
    return true;
}

/* None of the level takes all, and they may not be spread. */
/*@ requires ready: CountsReady && depth < SL_DEPTHS_MAX; terminates \true; exits \false;
    assigns sl_hidden, sl_placement_failure; */
static void fail_required(uint32_t depth)
{
    struct sl_pick_need need = all_slices();
    uint32_t top =
        sl_pick_first(sl_placing.at.first[depth], sl_placing.at.first[depth + 1], need, false);
    int64_t fit = top < SL_SPOTS_MAX ? sl_fit_slices[top] : 0;
    (void)sl_placement_no_fit(depth, fit, need.amount);
}

uint32_t sl_placement_search(void)
{
    uint32_t depth = sl_placing.depth;
    sl_chosen.count = 0;
    /*@
      loop invariant chosen: ChosenSound && d <= sl_placing.depth + 1;
      loop invariant depth: depth <= sl_placing.depth;
      loop assigns d, depth, SEARCHED;
      loop variant d;
    */
    for (uint32_t d = sl_placing.depth + 1; d > 0; d--) {
        depth = d - 1;
        if (sl_placing.at.first[depth] == sl_placing.at.first[d]) {
            (void)sl_placement_miss(SL_PLACEMENT_NO_DOMAINS);
            return SL_NO_ID;
        }
        uint32_t single = find_single(depth);
        if (single != SL_NO_ID) {
            choose(single);
            return depth;
        }
        if (sl_placing.required) {
            fail_required(depth);
            return SL_NO_ID;
        }
        if (sl_placing.unconstrained) {
            break;
        }
    }
    return choose_several(depth) ? depth : SL_NO_ID;
}
