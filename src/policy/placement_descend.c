/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From the chosen domains down to the lowest level, in as few domains of each as will do. Above the
 * level of slices all domains share the pods; from there on each gives its own to its children. */
#include "policy/placement_pick.h"

static struct sl_spot_list lower;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* So many of its pods stand there. */
static void settle(uint32_t spot, int64_t amount, uint32_t leaders, uint32_t size)
{
    sl_fit_pods[spot] = amount * size;
    sl_fit_slices[spot] = amount;
    sl_fit_leaders[spot] = leaders;
}

/* Domains that were looked at and got nothing count only for the leader, which may still go below
 * them. */
static void add_lower(uint32_t spot)
{
    if (lower.count < SL_DOMAINS_MAX && (sl_fit_pods[spot] > 0 || sl_placing.leaders > 0)) {
        lower.spots[lower.count] = spot;
        lower.count++;
    }
}

/* Pods, and perhaps a leader, on the next domains of the list, until all stand. False = there is
 * not enough room for them. */
static bool take(struct sl_pick_need need, uint32_t size)
{
    while (need.amount > 0 || need.leaders > 0) {
        uint32_t spot = sl_pick_next();
        if (spot == SL_NO_ID) {
            return false;
        }
        if (!sl_placing.least_free && sl_pick_capacity(spot, need) >= need.amount &&
            sl_pick_leaders(spot) >= need.leaders) {
            spot = sl_pick_tightest(spot, need);
        }
        int64_t amount = smaller(sl_pick_capacity(spot, need), need.amount);
        uint32_t leaders = need.leaders > 0 ? sl_pick_leaders(spot) : 0;
        settle(spot, amount, leaders, need.slices ? size : 1);
        add_lower(spot);
        need.amount -= amount;
        need.leaders -= leaders;
    }
    return true;
}

/* What search or balance has chosen, in that order, takes no more than is needed. */
static bool settle_chosen(void)
{
    struct sl_pick_need need = {.amount = sl_placing.count / sl_placing.slice_size,
                                .leaders = sl_placing.leaders,
                                .slices = true};
    lower.count = 0;
    for (uint32_t i = 0; i < sl_chosen.count && i < SL_DOMAINS_MAX; i++) {
        uint32_t spot = sl_chosen.spots[i];
        int64_t amount = smaller(sl_pick_capacity(spot, need), need.amount);
        uint32_t leaders = need.leaders > 0 ? sl_pick_leaders(spot) : 0;
        settle(spot, amount, leaders, sl_placing.slice_size);
        add_lower(spot);
        need.amount -= amount;
        need.leaders -= leaders;
    }
    return need.amount == 0 && need.leaders == 0;
}

static void use_lower(void)
{
    sl_chosen.count = lower.count;
    for (uint32_t i = 0; i < lower.count && i < SL_DOMAINS_MAX; i++) {
        sl_chosen.spots[i] = lower.spots[i];
    }
}

static void list_children(uint32_t parent)
{
    uint32_t end = sl_spot_child[parent] + sl_spot_children[parent];
    for (uint32_t child = sl_spot_child[parent]; child < end; child++) {
        if (sl_fit_pods[child] > 0 || sl_pick_leaders(child) > 0) {
            sl_pick_add(child);
        }
    }
}

/* One level down, still above the slices. */
static bool descend_together(void)
{
    struct sl_pick_need need = {.amount = sl_placing.count / sl_placing.slice_size,
                                .leaders = sl_placing.leaders,
                                .slices = true};
    sl_pick_start(false);
    for (uint32_t i = 0; i < sl_chosen.count && i < SL_DOMAINS_MAX; i++) {
        list_children(sl_chosen.spots[i]);
    }
    sl_pick_ready(need);
    lower.count = 0;
    if (!take(need, sl_placing.slice_size)) {
        return false;
    }
    use_lower();
    return true;
}

/* The children of that level come in slices of another size than counted. */
static void count_anew(uint32_t parent, uint32_t size)
{
    uint32_t end = sl_spot_child[parent] + sl_spot_children[parent];
    for (uint32_t child = sl_spot_child[parent]; child < end; child++) {
        sl_fit_slices[child] = sl_fit_pods[child] / size;
        if (sl_placing.leaders > 0) {
            sl_fit_slices_led[child] = sl_fit_pods_led[child] / size;
        }
    }
}

/* The pods of one domain on its children. They are listed as they were counted, and then taken by
 * slices of this level. */
static bool descend_one(uint32_t parent, uint32_t size)
{
    struct sl_pick_need need = {.amount = sl_fit_pods[parent] / size,
                                .leaders = sl_pick_leaders(parent),
                                .slices = size > 1};
    sl_pick_start(false);
    list_children(parent);
    if (size > 1) {
        count_anew(parent, size);
    }
    sl_pick_ready(need);
    return take(need, size);
}

/* Of what size slices are between this level and the next. */
static uint32_t size_below(uint32_t depth)
{
    if (depth < sl_placing.slice_depth) {
        return sl_placing.slice_size;
    }
    uint32_t size = depth + 1 < SL_DEPTHS_MAX ? sl_placing.size_at[depth + 1] : 0;
    return size > 1 ? size : 1;
}

static bool descend_each(uint32_t depth)
{
    uint32_t size = size_below(depth);
    lower.count = 0;
    for (uint32_t i = 0; i < sl_chosen.count && i < SL_DOMAINS_MAX; i++) {
        if (!descend_one(sl_chosen.spots[i], size)) {
            return false;
        }
    }
    use_lower();
    return true;
}

bool sl_placement_descend(uint32_t depth, bool balanced)
{
    uint32_t lowest = sl_placing.at.depth_count - 1;
    bool fits = settle_chosen();
    use_lower();
    while (fits && !balanced && depth < lowest && depth < sl_placing.slice_depth) {
        fits = descend_together();
        depth++;
    }
    while (fits && depth < lowest) {
        fits = descend_each(depth);
        depth++;
    }
    return fits || sl_placement_no_fit(depth, 0, sl_placing.count / sl_placing.slice_size);
}
