/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How many pods and slices each domain can take: measure by measure over all sites, then upwards.
 * Every domain of the tree is read once; what it costs is linear in the tree. */
#include "policy/placement_state.h"

#include "policy/assumed.h"
#include "policy/masks.h"

int64_t sl_fit_pods[SL_SPOTS_MAX];
int64_t sl_fit_slices[SL_SPOTS_MAX];
int64_t sl_fit_score[SL_SPOTS_MAX];
int64_t sl_fit_pods_led[SL_SPOTS_MAX];
int64_t sl_fit_slices_led[SL_SPOTS_MAX];
uint32_t sl_fit_leaders[SL_SPOTS_MAX];

int64_t sl_placement_own[SL_ROOMS_MAX];
bool sl_placement_has_own;

#define PODS_MAX INT32_MAX /* on one site */

int64_t sl_counts_free(sl_site_id site, sl_measure_id measure)
{
    if (site >= SL_SITES_MAX || measure >= SL_MEASURES_MAX) {
        return 0;
    }
    uint32_t room = measure * SL_SITES_MAX + site;
    int64_t amount = sl_room_capacity[room];
    if (!sl_placing.empty) {
        amount -= sl_room_used[room] + sl_room_promised[room] + sl_assumed[room];
    }
    return sl_placement_has_own ? amount - sl_placement_own[room] : amount;
}

/* How often it goes into what is free, `most` times or fewer. */
static int64_t times(int64_t room, int64_t per_pod, int64_t most)
{
    if (room <= 0) {
        return 0;
    }
    if (per_pod <= UINT32_MAX && most * per_pod <= room) {
        return most;
    }
    int64_t count = room / per_pod;
    return count < most ? count : most;
}

static uint32_t bottom_first(void)
{
    return sl_placing.at.first[sl_placing.at.depth_count - 1];
}

static uint32_t bottom_end(void)
{
    return sl_placing.at.first[sl_placing.at.depth_count];
}

/* No pods where none may run, and any number elsewhere. */
static void start_counts(void)
{
    for (uint32_t spot = bottom_first(); spot < bottom_end(); spot++) {
        sl_fit_pods[spot] = PODS_MAX;
        sl_fit_leaders[spot] = 0;
    }
    if (sl_placing.mask == SL_NO_ID) {
        return;
    }
    for (uint32_t spot = bottom_first(); spot < bottom_end(); spot++) {
        if (sl_masks_verdict(sl_placing.mask, sl_spot_site[spot]) != SL_VERDICT_MAY) {
            sl_fit_pods[spot] = 0;
        }
    }
}

static void keep_within(void)
{
    if (sl_placing.within == SL_NO_ID) {
        return;
    }
    uint32_t depth = sl_domain_depth(sl_placing.within);
    for (uint32_t spot = bottom_first(); spot < bottom_end(); spot++) {
        if (sl_domain_above(sl_spot_domain[spot], depth) != sl_placing.within) {
            sl_fit_pods[spot] = 0;
        }
    }
}

static void count_measure(sl_measure_id measure, int64_t per_pod)
{
    for (uint32_t spot = bottom_first(); spot < bottom_end(); spot++) {
        if (sl_fit_pods[spot] > 0) {
            int64_t room = sl_counts_free(sl_spot_site[spot], measure);
            sl_fit_pods[spot] = times(room, per_pod, sl_fit_pods[spot]);
        }
    }
}

/* --- with a leader --- */

/* What the leader takes, by measure. */
static int64_t leader_part[SL_MEASURES_MAX];

static void note_leader(void)
{
    for (uint32_t m = 0; m < SL_MEASURES_MAX; m++) {
        leader_part[m] = 0;
    }
    for (uint32_t i = 0; i < sl_placing.leader_takes.count && i < SL_TAKES_MAX; i++) {
        leader_part[sl_placing.leader_takes.of[i].measure] = sl_placing.leader_takes.of[i].per_pod;
    }
}

static bool leader_fits(sl_site_id site)
{
    for (uint32_t i = 0; i < sl_placing.leader_takes.count && i < SL_TAKES_MAX; i++) {
        if (sl_counts_free(site, sl_placing.leader_takes.of[i].measure) <
            sl_placing.leader_takes.of[i].per_pod) {
            return false;
        }
    }
    return true;
}

static int64_t pods_besides_leader(sl_site_id site)
{
    int64_t count = PODS_MAX;
    for (uint32_t i = 0; i < sl_placing.takes.count && i < SL_TAKES_MAX && count > 0; i++) {
        sl_measure_id measure = sl_placing.takes.of[i].measure;
        int64_t room = sl_counts_free(site, measure) - leader_part[measure];
        count = times(room, sl_placing.takes.of[i].per_pod, count);
    }
    return count;
}

/* Where nodes are left out before, no leader may stand either. */
static void count_led(void)
{
    note_leader();
    for (uint32_t spot = bottom_first(); spot < bottom_end(); spot++) {
        sl_fit_pods_led[spot] = sl_fit_pods[spot];
        if (sl_fit_leaders[spot] != 0) {
            bool fits = leader_fits(sl_spot_site[spot]);
            sl_fit_leaders[spot] = fits ? 1 : 0;
            sl_fit_pods_led[spot] =
                fits ? pods_besides_leader(sl_spot_site[spot]) : sl_fit_pods[spot];
        }
    }
}

/* --- upwards --- */

static void count_slices(uint32_t spot)
{
    int64_t size = sl_placing.slice_size;
    sl_fit_slices[spot] = size == 1 ? sl_fit_pods[spot] : sl_fit_pods[spot] / size;
    if (sl_placing.leaders != 0) {
        sl_fit_slices_led[spot] = size == 1 ? sl_fit_pods_led[spot] : sl_fit_pods_led[spot] / size;
    }
}

static int64_t whole(int64_t pods, uint32_t size)
{
    return size > 1 ? pods - pods % size : pods;
}

static void sum_up(uint32_t spot, uint32_t size)
{
    int64_t pods = 0;
    int64_t slices = 0;
    int64_t score = 0;
    uint32_t end = sl_spot_child[spot] + sl_spot_children[spot];
    for (uint32_t child = sl_spot_child[spot]; child < end; child++) {
        pods += whole(sl_fit_pods[child], size);
        slices += sl_fit_slices[child];
        score += sl_placing.preferring ? sl_fit_score[child] : 0;
    }
    sl_fit_pods[spot] = pods;
    sl_fit_slices[spot] = slices;
    sl_fit_score[spot] = score;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The leader goes where it costs least. */
static void sum_up_led(uint32_t spot, uint32_t size)
{
    int64_t pods = INT64_MAX;
    int64_t slices = INT64_MAX;
    uint32_t leaders = 0;
    uint32_t end = sl_spot_child[spot] + sl_spot_children[spot];
    for (uint32_t child = sl_spot_child[spot]; child < end; child++) {
        if (sl_fit_leaders[child] > 0) {
            leaders = 1;
            pods = smaller(pods,
                           whole(sl_fit_pods[child], size) - whole(sl_fit_pods_led[child], size));
            slices = smaller(slices, sl_fit_slices[child] - sl_fit_slices_led[child]);
        }
    }
    sl_fit_leaders[spot] = leaders;
    sl_fit_pods_led[spot] = leaders > 0 ? sl_fit_pods[spot] - pods : 0;
    sl_fit_slices_led[spot] = leaders > 0 ? sl_fit_slices[spot] - slices : 0;
}

void sl_counts_sum(uint32_t spot, uint32_t depth)
{
    uint32_t size = depth + 1 < SL_DEPTHS_MAX ? sl_placing.size_at[depth + 1] : 0;
    sum_up(spot, size);
    if (sl_placing.leaders != 0) {
        sum_up_led(spot, size);
    }
    if (depth == sl_placing.slice_depth) {
        count_slices(spot);
    }
}

static void fill_bottom(void)
{
    bool in_slices = sl_placing.slice_depth == sl_placing.at.depth_count - 1;
    for (uint32_t spot = bottom_first(); spot < bottom_end(); spot++) {
        sl_fit_slices[spot] = 0;
        sl_fit_slices_led[spot] = 0;
        if (in_slices) {
            count_slices(spot);
        }
    }
}

/* Nodes that none may use count for no preference either. */
static void fill_scores(void)
{
    for (uint32_t spot = bottom_first(); spot < bottom_end(); spot++) {
        bool may = sl_masks_verdict(sl_placing.mask, sl_spot_site[spot]) == SL_VERDICT_MAY;
        sl_fit_score[spot] = may ? sl_masks_score(sl_placing.mask, sl_spot_site[spot]) : 0;
    }
}

void sl_counts_fill(void)
{
    start_counts();
    keep_within();
    if (sl_placing.leaders != 0) {
        for (uint32_t spot = bottom_first(); spot < bottom_end(); spot++) {
            sl_fit_leaders[spot] = sl_fit_pods[spot] > 0;
        }
    }
    for (uint32_t i = 0; i < sl_placing.takes.count && i < SL_TAKES_MAX; i++) {
        count_measure(sl_placing.takes.of[i].measure, sl_placing.takes.of[i].per_pod);
    }
    if (sl_placing.leaders != 0) {
        count_led();
    }
    if (sl_placing.preferring) {
        fill_scores();
    }
    fill_bottom();
    for (uint32_t depth = sl_placing.at.depth_count - 1; depth > 0; depth--) {
        for (uint32_t spot = sl_placing.at.first[depth - 1]; spot < sl_placing.at.first[depth];
             spot++) {
            sl_counts_sum(spot, depth - 1);
        }
    }
}
