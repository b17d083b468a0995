/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a domain can take by what its children can: pods, whole slices, and with a leader. */
#include "policy/search/placement_state.h"

/*@ requires fit: IsFit(pods) && size > 0; terminates \true; exits \false; assigns \nothing;
    ensures fit: IsFit(\result); */
static int64_t part(int64_t pods, int64_t size)
{
    return size == 1 ? pods : pods / size;
}

void sl_counts_slices(uint32_t spot)
{
    sl_fit_slices[spot] = part(sl_fit_pods[spot], sl_placing.slice_size);
    if (sl_placing.leaders != 0) {
        sl_fit_slices_led[spot] = part(sl_fit_pods_led[spot], sl_placing.slice_size);
    }
}

/*@ requires fit: IsFit(pods); terminates \true; exits \false; assigns \nothing;
    ensures fit: IsFit(\result); */
static int64_t whole(int64_t pods, uint32_t size)
{
    return size > 1 ? pods - pods % size : pods;
}

int64_t sl_counts_bounded(int64_t amount)
{
    return amount > SL_AMOUNT_MAX    ? SL_AMOUNT_MAX
           : amount < -SL_AMOUNT_MAX ? -SL_AMOUNT_MAX
                                     : amount;
}

/*@ requires ready: FitsInRange && spot < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns sl_fit_pods[spot], sl_fit_slices[spot], sl_fit_score[spot];
    ensures fits: FitsInRange; */
static void sum_up(uint32_t spot, uint32_t size)
{
    int64_t pods = 0;
    int64_t slices = 0;
    int64_t score = 0;
    uint32_t end = sl_spot_child[spot] + sl_spot_children[spot];
    /*@
      loop invariant fits: IsFit(pods) && IsFit(slices) && IsFit(score);
      loop assigns child, pods, slices, score;
      loop variant SL_SPOTS_MAX - child;
    */
    for (uint32_t child = sl_spot_child[spot]; child < end && child < SL_SPOTS_MAX; child++) {
        pods = sl_counts_bounded(pods + whole(sl_fit_pods[child], size));
        slices = sl_counts_bounded(slices + sl_fit_slices[child]);
        score = sl_counts_bounded(score + (sl_placing.preferring ? sl_fit_score[child] : 0));
    }
    sl_fit_pods[spot] = pods;
    sl_fit_slices[spot] = slices;
    sl_fit_score[spot] = score;
}

/*@ terminates \true; exits \false; assigns \nothing;
    ensures smaller: \result == (a < b ? a : b); */
static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The leader goes where it costs least. */
/*@ requires ready: FitsInRange && spot < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns sl_fit_leaders[spot], sl_fit_pods_led[spot], sl_fit_slices_led[spot];
    ensures fits: FitsInRange; */
static void sum_up_led(uint32_t spot, uint32_t size)
{
    int64_t pods = SL_AMOUNT_UNLIMITED;
    int64_t slices = SL_AMOUNT_UNLIMITED;
    uint32_t leaders = 0;
    uint32_t end = sl_spot_child[spot] + sl_spot_children[spot];
    /*@
      loop invariant pods: -SL_AMOUNT_UNLIMITED <= pods <= SL_AMOUNT_UNLIMITED;
      loop invariant slices: -SL_AMOUNT_UNLIMITED <= slices <= SL_AMOUNT_UNLIMITED;
      loop assigns child, pods, slices, leaders;
      loop variant SL_SPOTS_MAX - child;
    */
    for (uint32_t child = sl_spot_child[spot]; child < end && child < SL_SPOTS_MAX; child++) {
        if (sl_fit_leaders[child] > 0) {
            leaders = 1;
            pods = smaller(pods,
                           whole(sl_fit_pods[child], size) - whole(sl_fit_pods_led[child], size));
            slices = smaller(slices, sl_fit_slices[child] - sl_fit_slices_led[child]);
        }
    }
    sl_fit_leaders[spot] = leaders;
    sl_fit_pods_led[spot] = leaders > 0 ? sl_counts_bounded(sl_fit_pods[spot] - pods) : 0;
    sl_fit_slices_led[spot] = leaders > 0 ? sl_counts_bounded(sl_fit_slices[spot] - slices) : 0;
}

void sl_counts_sum(uint32_t spot, uint32_t depth)
{
    uint32_t below = depth < SL_DEPTHS_MAX - 1 ? depth + 1 : 0;
    uint32_t size = below > 0 ? sl_placing.size_at[below] : 0;
    sum_up(spot, size);
    if (sl_placing.leaders != 0) {
        sum_up_led(spot, size);
    }
    if (depth == sl_placing.slice_depth) {
        sl_counts_slices(spot);
    }
}
