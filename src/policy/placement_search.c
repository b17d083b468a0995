/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The level at which the pods fit: all in one domain, of the lowest possible level above the one
 * asked for, or, where they need not stay together, in as few domains as will do. */
#include "policy/placement_pick.h"

#include "policy/settings.h"

struct sl_spot_list sl_chosen;

static void choose(uint32_t spot)
{
    if (sl_chosen.count < SL_DOMAINS_MAX) {
        sl_chosen.spots[sl_chosen.count] = spot;
        sl_chosen.count++;
    }
}

static struct sl_pick_need all_slices(void)
{
    return (struct sl_pick_need){.amount = sl_placing.count / sl_placing.slice_size,
                                 .leaders = sl_placing.leaders,
                                 .slices = true};
}

/* One domain of the level that takes all; SL_NO_ID = there is none. */
static uint32_t find_single(uint32_t depth)
{
    struct sl_pick_need need = all_slices();
    uint32_t first = sl_placing.at.first[depth];
    uint32_t end = sl_placing.at.first[depth + 1];
    if (sl_placing.least_free) {
        return sl_pick_first(first, end, need, true);
    }
    uint32_t top = sl_pick_first(first, end, need, false);
    bool fits = sl_pick_leaders(top) >= need.leaders && sl_pick_capacity(top, need) >= need.amount;
    if (!fits && sl_placing.required && sl_placing.preferring) {
        top = sl_pick_first(first, end, need, true);
        fits = top != SL_NO_ID;
    }
    return fits ? sl_pick_tightest_like(first, end, need, top) : SL_NO_ID;
}

/* --- several domains --- */

/* Where the leader stands goes first. False = it stands nowhere. */
static bool choose_leader(uint32_t depth, int64_t *left)
{
    struct sl_pick_need need = all_slices();
    uint32_t spot = sl_pick_next();
    if (spot == SL_NO_ID || sl_pick_leaders(spot) == 0) {
        return sl_placement_no_fit(depth, 0, need.amount);
    }
    if (!sl_placing.least_free && sl_pick_capacity(spot, need) >= need.amount) {
        spot = sl_pick_tightest(spot, need);
    }
    choose(spot);
    *left = need.amount - sl_fit_slices_led[spot];
    return true;
}

/* All of the level that take anything, but for the one chosen already. */
static void list_level(uint32_t depth, bool leaders_first)
{
    uint32_t end = sl_placing.at.first[depth + 1];
    sl_pick_start(leaders_first);
    for (uint32_t spot = sl_placing.at.first[depth]; spot < end; spot++) {
        bool chosen = sl_chosen.count > 0 && sl_chosen.spots[0] == spot;
        if (!chosen && (sl_fit_slices[spot] > 0 || sl_pick_leaders(spot) > 0)) {
            sl_pick_add(spot);
        }
    }
}

static bool choose_several(uint32_t depth)
{
    struct sl_pick_need need = all_slices();
    int64_t of = need.amount;
    if (need.leaders > 0) {
        list_level(depth, true);
        sl_pick_ready(need);
        if (!choose_leader(depth, &need.amount)) {
            return false;
        }
        need.leaders = 0;
    }
    list_level(depth, false);
    sl_pick_ready(need);
    while (need.amount > 0) {
        uint32_t spot = sl_pick_next();
        if (spot == SL_NO_ID) {
            return sl_placement_no_fit(depth, of - need.amount, of);
        }
        if (!sl_placing.least_free && sl_fit_slices[spot] >= need.amount) {
            spot = sl_pick_tightest(spot, need);
        }
        choose(spot);
        need.amount -= sl_fit_slices[spot];
    }
    return true;
}

/* None of the level takes all, and they may not be spread. */
static bool fail_required(uint32_t depth)
{
    struct sl_pick_need need = all_slices();
    uint32_t top =
        sl_pick_first(sl_placing.at.first[depth], sl_placing.at.first[depth + 1], need, false);
    return sl_placement_no_fit(depth, sl_fit_slices[top], need.amount);
}

bool sl_placement_search(uint32_t *depth)
{
    sl_chosen.count = 0;
    for (uint32_t d = sl_placing.depth + 1; d > 0; d--) {
        if (sl_placing.at.first[d - 1] == sl_placing.at.first[d]) {
            return sl_placement_miss(SL_PLACEMENT_NO_DOMAINS);
        }
        uint32_t single = find_single(d - 1);
        *depth = d - 1;
        if (single != SL_NO_ID) {
            choose(single);
            return true;
        }
        if (sl_placing.required) {
            return fail_required(d - 1);
        }
        if (sl_placing.unconstrained) {
            break;
        }
    }
    return choose_several(*depth);
}
