/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Of the domains one level above the one that is asked for: in which can the pods be spread so that
 * every domain used takes as many slices as possible, at least? Domains that take fewer are left
 * out, and the pods spread over as few of the others as will do. */
#include "policy/placement_balance.h"

struct sl_spot_list sl_balance_domains;
struct sl_spot_list sl_balance_picked;

/* The siblings chosen so far. */
struct siblings {
    uint32_t first;
    uint32_t end;
    int64_t threshold; /* slices that each domain used takes at least; 0 = no siblings chosen */
    uint32_t count;    /* domains used of the level that is asked for */
};

/* --- states kept while others are tried ------------------------------------------------------- */

static int64_t kept_pods[SL_SPOTS_MAX];
static int64_t kept_slices[SL_SPOTS_MAX];
static int64_t kept_pods_led[SL_SPOTS_MAX];
static int64_t kept_slices_led[SL_SPOTS_MAX];
static uint32_t kept_leaders[SL_SPOTS_MAX];

static void keep(uint32_t first, uint32_t end)
{
    for (uint32_t spot = first; spot < end; spot++) {
        kept_pods[spot] = sl_fit_pods[spot];
        kept_slices[spot] = sl_fit_slices[spot];
        kept_pods_led[spot] = sl_fit_pods_led[spot];
        kept_slices_led[spot] = sl_fit_slices_led[spot];
        kept_leaders[spot] = sl_fit_leaders[spot];
    }
}

static void put_back(uint32_t first, uint32_t end)
{
    for (uint32_t spot = first; spot < end; spot++) {
        sl_fit_pods[spot] = kept_pods[spot];
        sl_fit_slices[spot] = kept_slices[spot];
        sl_fit_pods_led[spot] = kept_pods_led[spot];
        sl_fit_slices_led[spot] = kept_slices_led[spot];
        sl_fit_leaders[spot] = kept_leaders[spot];
    }
}

/* The spots below a range of one level, level by level. */
struct range {
    uint32_t first;
    uint32_t end;
};
static struct range below(struct range r)
{
    if (r.first >= r.end) {
        return (struct range){0, 0};
    }
    return (struct range){sl_spot_child[r.first],
                          sl_spot_child[r.end - 1] + sl_spot_children[r.end - 1]};
}

static void keep_all(struct range r, bool back)
{
    for (uint32_t depth = sl_placing.depth; depth < sl_placing.at.depth_count; depth++) {
        if (back) {
            put_back(r.first, r.end);
        } else {
            keep(r.first, r.end);
        }
        r = depth + 1 < sl_placing.at.depth_count ? below(r) : r;
    }
}

/* --- leaving domains out ---------------------------------------------------------------------- */

static void clear_led(uint32_t spot)
{
    sl_fit_pods_led[spot] = 0;
    sl_fit_slices_led[spot] = 0;
    sl_fit_leaders[spot] = 0;
}

static void clear_all(uint32_t spot)
{
    sl_fit_pods[spot] = 0;
    sl_fit_slices[spot] = 0;
    clear_led(spot);
}

/* The spot and everything below it. */
static void clear_subtree(uint32_t spot, uint32_t depth, bool leader_only)
{
    struct range r = {spot, spot + 1};
    for (uint32_t d = depth; d < sl_placing.at.depth_count; d++) {
        for (uint32_t s = r.first; s < r.end; s++) {
            if (leader_only) {
                clear_led(s);
            } else {
                clear_all(s);
            }
        }
        r = d + 1 < sl_placing.at.depth_count ? below(r) : r;
    }
}

static void prune_one(uint32_t spot, uint32_t depth, int64_t threshold)
{
    if (sl_fit_slices[spot] < threshold) {
        clear_subtree(spot, depth, false);
    } else if (sl_pick_leaders(spot) > 0 && sl_fit_slices_led[spot] < threshold) {
        clear_subtree(spot, depth, true);
    }
}

/* Counts anew what is left, without inner slices. */
static void count_anew(struct range r)
{
    uint32_t sizes[SL_DEPTHS_MAX];
    struct range at[SL_DEPTHS_MAX];
    uint32_t lowest = sl_placing.at.depth_count - 1;
    for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
        sizes[d] = sl_placing.size_at[d];
        sl_placing.size_at[d] = 0;
        at[d] = r;
        r = d >= sl_placing.depth && d < lowest ? below(r) : r;
    }
    for (uint32_t d = lowest; d > sl_placing.depth; d--) {
        for (uint32_t spot = at[d - 1].first; spot < at[d - 1].end; spot++) {
            sl_counts_sum(spot, d - 1);
        }
    }
    for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
        sl_placing.size_at[d] = sizes[d];
    }
}

static void prune(struct range r, int64_t threshold)
{
    uint32_t lowest = sl_placing.at.depth_count - 1;
    struct range children = sl_placing.depth < lowest ? below(r) : (struct range){0, 0};
    for (uint32_t spot = children.first; spot < children.end; spot++) {
        prune_one(spot, sl_placing.depth + 1, threshold);
    }
    count_anew(r);
    for (uint32_t spot = r.first; spot < r.end; spot++) {
        prune_one(spot, sl_placing.depth, threshold);
    }
}

/* --- which siblings --------------------------------------------------------------------------- */

static void list_range(struct range r)
{
    uint32_t count = 0;
    for (uint32_t spot = r.first; spot < r.end && count < SL_DOMAINS_MAX; spot++) {
        sl_balance_domains.spots[count] = spot;
        count++;
    }
    sl_balance_domains.count = count;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static struct sl_greedy greedy_pruned(struct range r, int64_t threshold)
{
    keep_all(r, false);
    prune(r, threshold);
    list_range(r);
    struct sl_greedy greedy = sl_balance_greedy();
    keep_all(r, true);
    return greedy;
}

/* Better than the best so far? Then they are. */
static void try_siblings(struct range r, struct siblings *best)
{
    int64_t slices = sl_placing.count / sl_placing.slice_size;
    list_range(sl_placing.depth < sl_placing.slice_depth ? below(r) : r);
    struct sl_greedy greedy = sl_balance_greedy();
    if (!greedy.fits || greedy.count == 0) {
        return;
    }
    int64_t threshold = slices / greedy.count;
    if (greedy.last_led != SL_NO_ID) {
        threshold = smaller(threshold, sl_fit_slices_led[greedy.last_led]);
    }
    if (greedy.last != SL_NO_ID) {
        threshold = smaller(threshold, sl_fit_slices[greedy.last]);
    }
    int64_t led = sl_placing.leaders > 0 && greedy.last != SL_NO_ID
                      ? smaller(threshold, sl_fit_slices_led[greedy.last])
                      : threshold;
    if (threshold < best->threshold) {
        return;
    }
    greedy = greedy_pruned(r, threshold);
    if (!greedy.fits && led < threshold && led > 0 && led >= best->threshold) {
        threshold = led;
        greedy = greedy_pruned(r, threshold);
    }
    if (greedy.fits && (threshold > best->threshold ||
                        (threshold == best->threshold && greedy.count < best->count))) {
        *best = (struct siblings){r.first, r.end, threshold, greedy.count};
    }
}

static struct siblings find_siblings(void)
{
    struct siblings best = {0};
    const uint32_t *at = sl_placing.at.first;
    uint32_t depth = sl_placing.depth;
    if (depth == 0) {
        try_siblings((struct range){at[0], at[1]}, &best);
        return best;
    }
    for (uint32_t parent = at[depth - 1]; parent < at[depth]; parent++) {
        try_siblings(
            (struct range){sl_spot_child[parent], sl_spot_child[parent] + sl_spot_children[parent]},
            &best);
    }
    return best;
}

/* --- spreading -------------------------------------------------------------------------------- */

/* Every domain takes the threshold, and the first ones what is over. */
static bool spread(int64_t threshold)
{
    int64_t extra =
        sl_placing.count / sl_placing.slice_size - (int64_t)sl_balance_picked.count * threshold;
    uint32_t leaders = sl_placing.leaders;
    if (extra < 0) {
        return false;
    }
    sl_pick_start(true);
    for (uint32_t i = 0; i < sl_balance_picked.count; i++) {
        sl_pick_add(sl_balance_picked.spots[i]);
    }
    sl_pick_ready((struct sl_pick_need){.slices = true});
    sl_chosen.count = sl_balance_picked.count;
    for (uint32_t i = 0; i < sl_balance_picked.count; i++) {
        uint32_t spot = sl_pick_next();
        int64_t room = leaders > 0 ? sl_fit_slices_led[spot] : sl_fit_slices[spot];
        int64_t more = leaders > 0 || extra > 0 ? smaller(room - threshold, extra) : 0;
        sl_fit_slices[spot] = threshold + more;
        sl_fit_slices_led[spot] = threshold + more;
        sl_fit_pods[spot] = (threshold + more) * sl_placing.slice_size;
        sl_fit_pods_led[spot] = sl_fit_pods[spot] - leaders;
        sl_fit_leaders[spot] = leaders;
        sl_chosen.spots[i] = spot;
        extra -= more;
        leaders = 0;
    }
    return extra <= 0;
}

/* False = it does not work out after all. */
static bool apply(const struct siblings *best, uint32_t *depth)
{
    prune((struct range){best->first, best->end}, best->threshold);
    list_range((struct range){best->first, best->end});
    *depth = sl_placing.depth;
    if (sl_placing.depth < sl_placing.slice_depth) {
        sl_balance_sort_even();
        if (!sl_balance_subset()) {
            return false;
        }
        sl_balance_domains.count = 0;
        for (uint32_t i = 0; i < sl_balance_picked.count; i++) {
            uint32_t parent = sl_balance_picked.spots[i];
            for (uint32_t c = 0; c < sl_spot_children[parent]; c++) {
                sl_balance_domains.spots[sl_balance_domains.count] = sl_spot_child[parent] + c;
                sl_balance_domains.count++;
            }
        }
        (*depth)++;
    }
    sl_chosen.count = sl_balance_domains.count;
    for (uint32_t i = 0; i < sl_balance_domains.count; i++) {
        sl_chosen.spots[i] = sl_balance_domains.spots[i];
    }
    sl_placement_sort_chosen(); /* the order of the tree */
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        sl_balance_domains.spots[i] = sl_chosen.spots[i];
    }
    return sl_balance_subset() && spread(best->threshold);
}

bool sl_placement_balance(uint32_t *depth)
{
    struct siblings best = find_siblings();
    if (best.threshold <= 0) {
        return false;
    }
    struct range r = {best.first, best.end};
    keep_all(r, false);
    if (apply(&best, depth)) {
        return true;
    }
    keep_all(r, true);
    return false;
}
