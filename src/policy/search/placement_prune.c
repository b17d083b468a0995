/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Ranges of spots whose figures are tried out: domains that take too little are left out with all
 * that is below them, and the old figures can be restored. */
#include "policy/search/placement_balance.h"

static int64_t kept_pods[SL_SPOTS_MAX];
static int64_t kept_slices[SL_SPOTS_MAX];
static int64_t kept_pods_led[SL_SPOTS_MAX];
static int64_t kept_slices_led[SL_SPOTS_MAX];
static uint32_t kept_leaders[SL_SPOTS_MAX];

/* clang-format off */
#define KEPT                                                                                       \
    kept_pods[0 .. SL_SPOTS_MAX - 1], kept_slices[0 .. SL_SPOTS_MAX - 1],                          \
        kept_pods_led[0 .. SL_SPOTS_MAX - 1], kept_slices_led[0 .. SL_SPOTS_MAX - 1],              \
        kept_leaders[0 .. SL_SPOTS_MAX - 1]
#define SIZES sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1]
/* clang-format on */
/*@
  predicate KeptInRange{L} = \forall integer s; 0 <= s < SL_SPOTS_MAX ==>
    IsFit(kept_pods[s]) && IsFit(kept_slices[s]) && IsFit(kept_pods_led[s]) &&
    IsFit(kept_slices_led[s]);
*/

struct sl_spot_range sl_balance_below(struct sl_spot_range r)
{
    if (r.first >= r.end) {
        return (struct sl_spot_range){0, 0};
    }
    uint32_t end = sl_spot_child[r.end - 1] + sl_spot_children[r.end - 1];
    return (struct sl_spot_range){sl_spot_child[r.first], end < SL_SPOTS_MAX ? end : SL_SPOTS_MAX};
}

/* --- figures kept while others are tried --- */

/*@ requires kept: KeptInRange && FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true;
    exits \false; assigns KEPT; ensures kept: KeptInRange; */
static void keep(struct sl_spot_range r)
{
    /*@ loop invariant kept: KeptInRange; loop assigns spot, KEPT; loop variant r.end - spot; */
    for (uint32_t spot = r.first; spot < r.end; spot++) {
        kept_pods[spot] = sl_fit_pods[spot];
        kept_slices[spot] = sl_fit_slices[spot];
        kept_pods_led[spot] = sl_fit_pods_led[spot];
        kept_slices_led[spot] = sl_fit_slices_led[spot];
        kept_leaders[spot] = sl_fit_leaders[spot];
    }
}

/*@ requires kept: KeptInRange && FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true;
    exits \false; assigns SL_FITS; ensures fits: FitsInRange; */
static void put_back(struct sl_spot_range r)
{
    /*@ loop invariant fits: FitsInRange; loop assigns spot, SL_FITS; loop variant r.end - spot; */
    for (uint32_t spot = r.first; spot < r.end; spot++) {
        sl_fit_pods[spot] = kept_pods[spot];
        sl_fit_slices[spot] = kept_slices[spot];
        sl_fit_pods_led[spot] = kept_pods_led[spot];
        sl_fit_slices_led[spot] = kept_slices_led[spot];
        sl_fit_leaders[spot] = kept_leaders[spot];
    }
}

/*@ requires kept: KeptInRange; terminates \true; exits \false; assigns KEPT;
    ensures kept: KeptInRange; */
void sl_balance_keep(struct sl_spot_range r)
{
    /*@
      loop invariant kept: KeptInRange && r.end <= SL_SPOTS_MAX;
      loop assigns depth, r, KEPT;
      loop variant sl_placing.at.depth_count - depth;
    */
    for (uint32_t depth = sl_placing.depth; depth < sl_placing.at.depth_count; depth++) {
        keep(r);
        r = depth + 1 < sl_placing.at.depth_count ? sl_balance_below(r) : r;
    }
}

/*@ requires kept: KeptInRange; terminates \true; exits \false; assigns SL_FITS; */
void sl_balance_put_back(struct sl_spot_range r)
{
    /*@
      loop invariant fits: FitsInRange && r.end <= SL_SPOTS_MAX;
      loop assigns depth, r, SL_FITS;
      loop variant sl_placing.at.depth_count - depth;
    */
    for (uint32_t depth = sl_placing.depth; depth < sl_placing.at.depth_count; depth++) {
        put_back(r);
        r = depth + 1 < sl_placing.at.depth_count ? sl_balance_below(r) : r;
    }
}

/* --- leaving domains out --- */

/*@ requires ready: FitsInRange && spot < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns sl_fit_pods_led[spot], sl_fit_slices_led[spot], sl_fit_leaders[spot];
    ensures fits: FitsInRange; */
static void clear_led(uint32_t spot)
{
    sl_fit_pods_led[spot] = 0;
    sl_fit_slices_led[spot] = 0;
    sl_fit_leaders[spot] = 0;
}

/*@ requires ready: FitsInRange && spot < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns sl_fit_pods[spot], sl_fit_slices[spot], sl_fit_pods_led[spot],
      sl_fit_slices_led[spot], sl_fit_leaders[spot];
    ensures fits: FitsInRange; */
static void clear_all(uint32_t spot)
{
    sl_fit_pods[spot] = 0;
    sl_fit_slices[spot] = 0;
    clear_led(spot);
}

/*@ requires ready: FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true; exits \false;
    assigns SL_FITS; ensures fits: FitsInRange; */
static void clear_range(struct sl_spot_range r, bool leader_only)
{
    /*@ loop invariant fits: FitsInRange; loop assigns spot, SL_FITS; loop variant r.end - spot; */
    for (uint32_t spot = r.first; spot < r.end; spot++) {
        if (leader_only) {
            clear_led(spot);
        } else {
            clear_all(spot);
        }
    }
}

/* The spot and everything below it. */
/*@ requires ready: PlacingSound && FitsInRange && spot < SL_SPOTS_MAX; terminates \true;
    exits \false; assigns SL_FITS; ensures fits: FitsInRange; */
static void clear_subtree(uint32_t spot, uint32_t depth, bool leader_only)
{
    struct sl_spot_range r = {spot, spot + 1};
    /*@
      loop invariant fits: FitsInRange && r.end <= SL_SPOTS_MAX;
      loop assigns d, r, SL_FITS;
      loop variant sl_placing.at.depth_count - d;
    */
    for (uint32_t d = depth; d < sl_placing.at.depth_count; d++) {
        clear_range(r, leader_only);
        r = d + 1 < sl_placing.at.depth_count ? sl_balance_below(r) : r;
    }
}

/* Those of the range that take fewer slices, or fewer with the leader. */
/*@ requires ready: PlacingSound && FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true;
    exits \false; assigns SL_FITS; ensures fits: FitsInRange; */
static void clear_small(struct sl_spot_range r, uint32_t depth, int64_t threshold)
{
    /*@ loop invariant fits: FitsInRange; loop assigns spot, SL_FITS; loop variant r.end - spot; */
    for (uint32_t spot = r.first; spot < r.end; spot++) {
        if (sl_fit_slices[spot] < threshold) {
            clear_subtree(spot, depth, false);
        } else if (sl_pick_leaders(spot) > 0 && sl_fit_slices_led[spot] < threshold) {
            clear_subtree(spot, depth, true);
        }
    }
}

/* --- counting again what is left --- */

/*@ requires ready: PlacingSound && FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true;
    exits \false; assigns SL_FITS; ensures fits: FitsInRange; */
static void sum_range(struct sl_spot_range r, uint32_t depth)
{
    /*@ loop invariant fits: FitsInRange; loop assigns spot, SL_FITS; loop variant r.end - spot; */
    for (uint32_t spot = r.first; spot < r.end; spot++) {
        sl_counts_sum(spot, depth);
    }
}

/* From the lowest level up to the range's. */
/*@ requires ready: PlacingSound && FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true;
    exits \false; assigns SL_FITS; ensures fits: FitsInRange; */
static void sum_up_to(struct sl_spot_range r)
{
    struct sl_spot_range at[SL_DEPTHS_MAX];
    uint32_t lowest = sl_placing.at.depth_count - 1;
    /*@
      loop invariant within: r.end <= SL_SPOTS_MAX && d <= SL_DEPTHS_MAX &&
        \forall integer k; 0 <= k < d ==> at[k].end <= SL_SPOTS_MAX;
      loop assigns d, r, at[0 .. SL_DEPTHS_MAX - 1];
      loop variant SL_DEPTHS_MAX - d;
    */
    for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
        at[d] = r;
        r = d >= sl_placing.depth && d < lowest ? sl_balance_below(r) : r;
    }
    /*@
      loop invariant fits: FitsInRange && d <= lowest;
      loop assigns d, SL_FITS;
      loop variant d;
    */
    for (uint32_t d = lowest; d > sl_placing.depth; d--) {
        sum_range(at[d - 1], d - 1);
    }
}

/* Without inner slices. */
/*@ requires ready: PlacingSound && FitsInRange && r.end <= SL_SPOTS_MAX; terminates \true;
    exits \false; assigns SL_FITS, SIZES; ensures ready: PlacingSound && FitsInRange; */
static void count_anew(struct sl_spot_range r)
{
    uint32_t sizes[SL_DEPTHS_MAX];
    /*@
      loop invariant ready: PlacingSound;
      loop assigns d, sizes[0 .. SL_DEPTHS_MAX - 1], SIZES;
      loop variant SL_DEPTHS_MAX - d;
    */
    for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
        sizes[d] = sl_placing.size_at[d];
        sl_placing.size_at[d] = 0;
    }
    sum_up_to(r);
    /*@
      loop invariant ready: PlacingSound;
      loop assigns d, SIZES;
      loop variant SL_DEPTHS_MAX - d;
    */
    for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
        sl_placing.size_at[d] = sizes[d];
    }
}

void sl_balance_prune(struct sl_spot_range r, int64_t threshold)
{
    if (sl_placing.depth + 1 < sl_placing.at.depth_count) {
        clear_small(sl_balance_below(r), sl_placing.depth + 1, threshold);
    }
    count_anew(r);
    clear_small(r, sl_placing.depth, threshold);
}
