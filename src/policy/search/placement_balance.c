/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Of the domains one level above the one that is asked for: in which can the pods be spread so that
 * every domain used takes as many slices as possible, at least? Domains that take fewer are left
 * out, and the pods spread over as few of the others as will do. */
#include "policy/search/placement_balance.h"

/* The siblings chosen so far. */
struct siblings {
    struct sl_spot_range range;
    int64_t threshold; /* slices that each domain used takes at least; 0 = no siblings chosen */
    uint32_t count;    /* domains used of the level that is asked for */
};

/* clang-format off */
#define TRIED sl_hidden, SL_FITS, sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1], sl_balance_domains
/* clang-format on */
/*@
  predicate Ready{L} = PlacingSound && FitsInRange;
  // What each domain takes at least is a number of the slices there are.
  predicate SiblingsSound{L}(struct siblings s) =
    s.range.end <= SL_SPOTS_MAX && 0 <= s.threshold <= UINT32_MAX;
*/

/*@ terminates \true; exits \false; assigns \nothing;
    ensures smaller: \result == (a < b ? a : b); */
static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*@ requires ready: PlacingSound; terminates \true; exits \false; assigns \nothing;
    ensures slices: \result == sl_placing.count / sl_placing.slice_size &&
      0 <= \result <= UINT32_MAX; */
static int64_t slices_in_all(void)
{
    return sl_placing.count / sl_placing.slice_size;
}

/* Slices are spread over a level below the one asked for. */
/*@ requires ready: PlacingSound; terminates \true; exits \false; assigns \nothing;
    ensures level: \result ==> sl_placing.depth + 1 < sl_placing.at.depth_count; */
static bool spread_below(void)
{
    return sl_placing.depth < sl_placing.slice_depth;
}

/* --- the domains in question --- */

/*@ requires listed: BalanceListed && r.end <= SL_SPOTS_MAX; terminates \true; exits \false;
    assigns sl_balance_domains; ensures listed: BalanceListed; */
static void list_more(struct sl_spot_range r)
{
    /*@
      loop invariant listed: BalanceListed;
      loop assigns spot, sl_balance_domains;
      loop variant r.end - spot;
    */
    for (uint32_t spot = r.first; spot < r.end; spot++) {
        if (sl_balance_domains.count >= SL_DOMAINS_MAX) {
            return;
        }
        sl_balance_domains.spots[sl_balance_domains.count] = spot;
        sl_balance_domains.count++;
    }
}

/*@ requires within: r.end <= SL_SPOTS_MAX; terminates \true; exits \false;
    assigns sl_balance_domains; ensures listed: BalanceListed; */
static void list_range(struct sl_spot_range r)
{
    sl_balance_domains.count = 0;
    list_more(r);
}

/*@ requires picked: BalancePicked; terminates \true; exits \false; assigns sl_balance_domains;
    ensures listed: BalanceListed; */
static void list_children_of_picked(void)
{
    sl_balance_domains.count = 0;
    /*@
      loop invariant listed: BalanceListed;
      loop assigns i, sl_balance_domains;
      loop variant sl_balance_picked.count - i;
    */
    for (uint32_t i = 0; i < sl_balance_picked.count; i++) {
        uint32_t parent = sl_balance_picked.spots[i];
        list_more(sl_balance_below((struct sl_spot_range){parent, parent + 1}));
    }
}

/* In the order of the tree; the chosen ones are overwritten. */
/*@ requires listed: BalanceListed; terminates \true; exits \false;
    assigns sl_hidden, sl_chosen, sl_balance_domains; ensures listed: BalanceListed; */
static void sort_domains(void)
{
    /*@
      loop invariant within: i <= sl_balance_domains.count;
      loop invariant chosen: \forall integer k; 0 <= k < i ==> sl_chosen.spots[k] < SL_SPOTS_MAX;
      loop assigns i, sl_chosen.spots[0 .. SL_DOMAINS_MAX - 1];
      loop variant sl_balance_domains.count - i;
    */
    for (uint32_t i = 0; i < sl_balance_domains.count; i++) {
        sl_chosen.spots[i] = sl_balance_domains.spots[i];
    }
    sl_chosen.count = sl_balance_domains.count;
    sl_placement_sort_chosen();
    /*@
      loop invariant listed: BalanceListed && i <= sl_chosen.count;
      loop assigns i, sl_balance_domains.spots[0 .. SL_DOMAINS_MAX - 1];
      loop variant sl_chosen.count - i;
    */
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        sl_balance_domains.spots[i] = sl_chosen.spots[i];
    }
}

/* --- which siblings --- */

/* The greedy way where all that take fewer slices are left out. */
/*@ requires ready: Ready && r.end <= SL_SPOTS_MAX; terminates \true; exits \false; assigns TRIED;
    ensures ready: Ready; */
static struct sl_greedy greedy_pruned(struct sl_spot_range r, int64_t threshold)
{
    sl_balance_keep(r);
    sl_balance_prune(r, threshold);
    list_range(r);
    struct sl_greedy greedy = sl_balance_greedy();
    sl_balance_put_back(r);
    return greedy;
}

/* What each domain takes at least if all take as much as the last of the greedy way. */
/*@ requires ready: Ready && greedy.count > 0;
    requires known: (greedy.last_led < SL_SPOTS_MAX || greedy.last_led == SL_NO_ID) &&
      (greedy.last < SL_SPOTS_MAX || greedy.last == SL_NO_ID);
    terminates \true; exits \false; assigns \nothing;
    ensures range: -SL_AMOUNT_MAX <= \result <= UINT32_MAX; */
static int64_t threshold_of(struct sl_greedy greedy)
{
    int64_t threshold = slices_in_all() / greedy.count;
    if (greedy.last_led != SL_NO_ID) {
        threshold = smaller(threshold, sl_fit_slices_led[greedy.last_led]);
    }
    if (greedy.last != SL_NO_ID) {
        threshold = smaller(threshold, sl_fit_slices[greedy.last]);
    }
    return threshold;
}

/* The better of them and the best so far. */
/*@ requires ready: Ready && r.end <= SL_SPOTS_MAX && SiblingsSound(best); terminates \true;
    exits \false; assigns TRIED; ensures ready: Ready && SiblingsSound(\result); */
static struct siblings try_siblings(struct sl_spot_range r, struct siblings best)
{
    list_range(spread_below() ? sl_balance_below(r) : r);
    struct sl_greedy greedy = sl_balance_greedy();
    if (!greedy.fits || greedy.count == 0) {
        return best;
    }
    int64_t threshold = threshold_of(greedy);
    int64_t led = sl_placing.leaders > 0 && greedy.last != SL_NO_ID
                      ? smaller(threshold, sl_fit_slices_led[greedy.last])
                      : threshold;
    if (threshold < best.threshold) {
        return best;
    }
    greedy = greedy_pruned(r, threshold);
    if (!greedy.fits && led < threshold && led > 0 && led >= best.threshold) {
        threshold = led;
        greedy = greedy_pruned(r, threshold);
    }
    if (greedy.fits && (threshold > best.threshold ||
                        (threshold == best.threshold && greedy.count < best.count))) {
        best = (struct siblings){r, threshold, greedy.count};
    }
    return best;
}

/*@ requires ready: Ready; terminates \true; exits \false; assigns TRIED;
    ensures ready: Ready && SiblingsSound(\result); */
static struct siblings find_siblings(void)
{
    struct siblings best = {.range = {0, 0}};
    uint32_t depth = sl_placing.depth;
    if (depth == 0) {
        return try_siblings((struct sl_spot_range){sl_placing.at.first[0], sl_placing.at.first[1]},
                            best);
    }
    uint32_t end = sl_placing.at.first[depth];
    /*@
      loop invariant ready: Ready && SiblingsSound(best);
      loop assigns parent, best, TRIED;
      loop variant end - parent;
    */
    for (uint32_t parent = sl_placing.at.first[depth - 1]; parent < end; parent++) {
        best = try_siblings(sl_balance_below((struct sl_spot_range){parent, parent + 1}), best);
    }
    return best;
}

/* --- spreading --- */

/* The spot takes so many slices. */
/*@ requires ready: Ready && spot < SL_SPOTS_MAX && 0 <= slices <= UINT32_MAX && leaders <= 1;
    terminates \true; exits \false;
    assigns sl_fit_pods[spot], sl_fit_slices[spot], sl_fit_pods_led[spot],
      sl_fit_slices_led[spot], sl_fit_leaders[spot];
    ensures fits: FitsInRange; */
static void give(uint32_t spot, int64_t slices, uint32_t leaders)
{
    int64_t pods = sl_counts_bounded(smaller(slices, INT32_MAX) * sl_placing.slice_size);
    sl_fit_slices[spot] = slices;
    sl_fit_slices_led[spot] = slices;
    sl_fit_pods[spot] = pods;
    sl_fit_pods_led[spot] = sl_counts_bounded(pods - leaders);
    sl_fit_leaders[spot] = leaders;
}

/*@ requires ready: FitsInRange && BalancePicked; terminates \true; exits \false;
    assigns sl_hidden; */
static void order_picked(void)
{
    sl_pick_start(true);
    /*@ loop assigns i, sl_hidden; loop variant sl_balance_picked.count - i; */
    for (uint32_t i = 0; i < sl_balance_picked.count; i++) {
        sl_pick_add(sl_balance_picked.spots[i]);
    }
    sl_pick_ready((struct sl_pick_need){.slices = true});
}

/* Every domain takes the threshold, and the first ones what is over. */
/*@ requires ready: Ready && BalancePicked && 0 <= threshold <= UINT32_MAX; terminates \true;
    exits \false; assigns sl_hidden, SL_FITS, sl_chosen; ensures fits: FitsInRange;
    ensures chosen: \result ==> ChosenSound; */
static bool spread(int64_t threshold)
{
    int64_t extra = slices_in_all() - (int64_t)sl_balance_picked.count * threshold;
    uint32_t leaders = sl_placing.leaders;
    if (extra < 0) {
        return false;
    }
    order_picked();
    sl_chosen.count = sl_balance_picked.count;
    /*@
      loop invariant fits: FitsInRange && i <= sl_chosen.count <= SL_DOMAINS_MAX && leaders <= 1;
      loop invariant extra: 0 <= extra && (i < sl_chosen.count ==> threshold + extra <= UINT32_MAX);
      loop invariant chosen: \forall integer k; 0 <= k < i ==> sl_chosen.spots[k] < SL_SPOTS_MAX;
      loop assigns i, extra, leaders, sl_hidden, SL_FITS, sl_chosen.spots[0 .. SL_DOMAINS_MAX - 1];
      loop variant sl_chosen.count - i;
    */
    for (uint32_t i = 0; i < sl_chosen.count; i++) {
        uint32_t spot = sl_pick_next();
        if (spot == SL_NO_ID) {
            return false;
        }
        int64_t capacity = leaders > 0 ? sl_fit_slices_led[spot] : sl_fit_slices[spot];
        if (capacity < threshold) {
            return false;
        }
        int64_t more = smaller(capacity - threshold, extra);
        give(spot, threshold + more, leaders);
        sl_chosen.spots[i] = spot;
        extra -= more;
        leaders = 0;
    }
    return extra == 0;
}

/* The level at which they are spread; SL_NO_ID = it does not work out after all. */
/*@ requires ready: Ready && SiblingsSound(best); terminates \true; exits \false;
    assigns TRIED, sl_balance_picked, sl_chosen; ensures ready: Ready;
    ensures chosen: \result != SL_NO_ID ==> ChosenSound;
    ensures level: \result < sl_placing.at.depth_count || \result == SL_NO_ID; */
static uint32_t apply(struct siblings best)
{
    uint32_t depth = sl_placing.depth;
    sl_balance_prune(best.range, best.threshold);
    list_range(best.range);
    if (spread_below()) {
        sl_balance_sort_even();
        if (!sl_balance_subset()) {
            return SL_NO_ID;
        }
        list_children_of_picked();
        depth++;
    }
    sort_domains();
    return sl_balance_subset() && spread(best.threshold) ? depth : SL_NO_ID;
}

/*@ requires ready: CountsReady; terminates \true; exits \false;
    assigns TRIED, sl_balance_picked, sl_chosen; */
uint32_t sl_placement_balance(void)
{
    struct siblings best = find_siblings();
    if (best.threshold == 0) {
        return SL_NO_ID;
    }
    sl_balance_keep(best.range);
    uint32_t depth = apply(best);
    if (depth == SL_NO_ID) {
        sl_balance_put_back(best.range);
    }
    return depth;
}
