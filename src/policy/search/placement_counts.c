/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How many pods and slices each domain can take: measure by measure over all sites, then upwards
 * (placement_sums.c). Every domain of the tree is read once; what it costs is linear in the tree. */
#include "policy/search/placement_state.h"

#include "policy/topology/assumed.h"
#include "policy/topology/masks.h"

#define PODS_MAX INT32_MAX /* on one site */

/* clang-format off */
#define PODS sl_fit_pods[0 .. SL_SPOTS_MAX - 1]
#define LED sl_fit_pods_led[0 .. SL_SPOTS_MAX - 1], sl_fit_leaders[0 .. SL_SPOTS_MAX - 1]
#define SLICES sl_fit_slices[0 .. SL_SPOTS_MAX - 1], sl_fit_slices_led[0 .. SL_SPOTS_MAX - 1]
/* clang-format on */
/*@
  logic integer First{L} = sl_placing.at.first[sl_placing.at.depth_count - 1];
  logic integer End{L} = sl_placing.at.first[sl_placing.at.depth_count];
  // The sites before that spot have no more pods than fit on a site.
  predicate Counted{L}(integer end) =
    \forall integer s; First <= s < end ==> 0 <= sl_fit_pods[s] <= PODS_MAX;
  predicate CapacityReady{L} = OwnInRange && CapacityBounded && UsedInRange && AssumedInRange;
*/

int64_t sl_counts_free(sl_site_id site, sl_measure_id measure)
{
    if (site >= SL_SITES_MAX || measure >= SL_MEASURES_MAX) {
        return 0;
    }
    uint32_t capacity = measure * SL_SITES_MAX + site;
    int64_t amount = sl_site_capacity[capacity];
    if (!sl_placing.empty) {
        amount -= sl_site_used[capacity] + sl_site_promised[capacity] + sl_assumed[capacity];
    }
    return sl_placement_has_own ? amount - sl_placement_own[capacity] : amount;
}

/* How often it goes into what is free, `most` times or fewer. */
/*@ requires takes: 0 < per_pod && 0 <= most <= PODS_MAX; terminates \true; exits \false;
    assigns \nothing; ensures fewer: 0 <= \result <= most; */
static int64_t times(int64_t capacity, int64_t per_pod, int64_t most)
{
    if (capacity <= 0) {
        return 0;
    }
    if (per_pod <= UINT32_MAX && most * per_pod <= capacity) {
        return most;
    }
    int64_t count = capacity / per_pod;
    return count < most ? count : most;
}

/*@ requires placing: PlacingSound; terminates \true; exits \false; assigns \nothing;
    ensures result: \result == First; */
static uint32_t bottom_first(void)
{
    return sl_placing.at.first[sl_placing.at.depth_count - 1];
}

/*@ requires placing: PlacingSound; terminates \true; exits \false; assigns \nothing;
    ensures result: \result == End && \result <= SL_SPOTS_MAX; */
static uint32_t bottom_end(void)
{
    return sl_placing.at.first[sl_placing.at.depth_count];
}

/* No pods where none may run, and any number elsewhere. */
/*@ requires ready: PlacingSound && FitsInRange; terminates \true; exits \false;
    assigns PODS, sl_fit_leaders[0 .. SL_SPOTS_MAX - 1];
    ensures fits: FitsInRange && Counted(End); */
static void start_counts(void)
{
    uint32_t end = bottom_end();
    /*@
      loop invariant fits: FitsInRange && First <= spot && Counted(spot);
      loop assigns spot, PODS, sl_fit_leaders[0 .. SL_SPOTS_MAX - 1];
      loop variant end - spot;
    */
    for (uint32_t spot = bottom_first(); spot < end; spot++) {
        sl_fit_pods[spot] = PODS_MAX;
        sl_fit_leaders[spot] = 0;
    }
    if (sl_placing.mask == SL_NO_ID) {
        return;
    }
    /*@
      loop invariant fits: FitsInRange && Counted(End);
      loop assigns spot, PODS;
      loop variant end - spot;
    */
    for (uint32_t spot = bottom_first(); spot < end; spot++) {
        if (sl_masks_verdict(sl_placing.mask, sl_spot_site[spot]) != SL_VERDICT_MAY) {
            sl_fit_pods[spot] = 0;
        }
    }
}

/*@ requires ready: PlacingSound && FitsInRange && Counted(End) && DomainsInv; terminates \true;
    exits \false; assigns PODS; ensures fits: FitsInRange && Counted(End); */
static void keep_within(void)
{
    if (sl_placing.within == SL_NO_ID) {
        return;
    }
    uint32_t depth = sl_domain_depth(sl_placing.within);
    uint32_t end = bottom_end();
    /*@
      loop invariant fits: FitsInRange && Counted(End);
      loop assigns spot, PODS;
      loop variant end - spot;
    */
    for (uint32_t spot = bottom_first(); spot < end; spot++) {
        if (sl_domain_above(sl_spot_domain[spot], depth) != sl_placing.within) {
            sl_fit_pods[spot] = 0;
        }
    }
}

/*@ requires ready: PlacingSound && FitsInRange && Counted(End) && CapacityReady && per_pod > 0;
    terminates \true; exits \false; assigns PODS;
    ensures fits: FitsInRange && Counted(End); */
static void count_measure(sl_measure_id measure, int64_t per_pod)
{
    uint32_t end = bottom_end();
    /*@
      loop invariant fits: FitsInRange && First <= spot && Counted(End);
      loop assigns spot, PODS;
      loop variant end - spot;
    */
    for (uint32_t spot = bottom_first(); spot < end; spot++) {
        if (sl_fit_pods[spot] > 0) {
            int64_t capacity = sl_counts_free(sl_spot_site[spot], measure);
            sl_fit_pods[spot] = times(capacity, per_pod, sl_fit_pods[spot]);
        }
    }
}

/* --- with a leader --- */

/* What the leader takes, by measure. */
static int64_t leader_part[SL_MEASURES_MAX];
/*@
  predicate PartsInRange{L} =
    \forall integer m; 0 <= m < SL_MEASURES_MAX ==> 0 <= leader_part[m] <= SL_AMOUNT_MAX;
*/

/*@ requires takes: TakesSound; terminates \true; exits \false;
    assigns leader_part[0 .. SL_MEASURES_MAX - 1]; ensures parts: PartsInRange; */
static void note_leader(void)
{
    /*@
      loop invariant none: m <= SL_MEASURES_MAX && \forall integer k; 0 <= k < m ==> leader_part[k] == 0;
      loop assigns m, leader_part[0 .. SL_MEASURES_MAX - 1];
      loop variant SL_MEASURES_MAX - m;
    */
    for (uint32_t m = 0; m < SL_MEASURES_MAX; m++) {
        leader_part[m] = 0;
    }
    /*@
      loop invariant parts: PartsInRange;
      loop assigns i, leader_part[0 .. SL_MEASURES_MAX - 1];
      loop variant SL_TAKES_MAX - i;
    */
    for (uint32_t i = 0; i < sl_placing.leader_takes.count && i < SL_TAKES_MAX; i++) {
        if (sl_placing.leader_takes.of[i].measure < SL_MEASURES_MAX) {
            leader_part[sl_placing.leader_takes.of[i].measure] =
                sl_placing.leader_takes.of[i].per_pod;
        }
    }
}

/*@ requires capacities: CapacityReady; terminates \true; exits \false; assigns \nothing; */
static bool leader_fits(sl_site_id site)
{
    /*@ loop assigns i; loop variant SL_TAKES_MAX - i; */
    for (uint32_t i = 0; i < sl_placing.leader_takes.count && i < SL_TAKES_MAX; i++) {
        if (sl_counts_free(site, sl_placing.leader_takes.of[i].measure) <
            sl_placing.leader_takes.of[i].per_pod) {
            return false;
        }
    }
    return true;
}

/*@ requires ready: CapacityReady && TakesSound && PartsInRange; terminates \true; exits \false;
    assigns \nothing; ensures count: 0 <= \result <= PODS_MAX; */
static int64_t pods_besides_leader(sl_site_id site)
{
    int64_t count = PODS_MAX;
    /*@
      loop invariant count: 0 <= count <= PODS_MAX;
      loop assigns i, count;
      loop variant SL_TAKES_MAX - i;
    */
    for (uint32_t i = 0; i < sl_placing.takes.count && i < SL_TAKES_MAX && count > 0; i++) {
        sl_measure_id measure = sl_placing.takes.of[i].measure;
        int64_t part = measure < SL_MEASURES_MAX ? leader_part[measure] : 0;
        int64_t capacity = sl_counts_free(site, measure) - part;
        count = times(capacity, sl_placing.takes.of[i].per_pod, count);
    }
    return count;
}

/* Where nodes are left out before, no leader may go either. */
/*@ requires ready: PlacingSound && FitsInRange && CapacityReady && TakesSound; terminates \true;
    exits \false; assigns LED, leader_part[0 .. SL_MEASURES_MAX - 1];
    ensures fits: FitsInRange; */
static void count_led(void)
{
    uint32_t end = bottom_end();
    note_leader();
    /*@
      loop invariant fits: FitsInRange;
      loop assigns spot, LED;
      loop variant end - spot;
    */
    for (uint32_t spot = bottom_first(); spot < end; spot++) {
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

/*@ requires ready: PlacingSound && FitsInRange; terminates \true; exits \false; assigns SLICES;
    ensures fits: FitsInRange; */
static void fill_bottom(void)
{
    bool in_slices = sl_placing.slice_depth == sl_placing.at.depth_count - 1;
    uint32_t end = bottom_end();
    /*@ loop invariant fits: FitsInRange; loop assigns spot, SLICES; loop variant end - spot; */
    for (uint32_t spot = bottom_first(); spot < end; spot++) {
        sl_fit_slices[spot] = 0;
        sl_fit_slices_led[spot] = 0;
        if (in_slices) {
            sl_counts_slices(spot);
        }
    }
}

/* Nodes that none may use count for no preference either. */
/*@ requires ready: PlacingSound && FitsInRange; terminates \true; exits \false;
    assigns sl_fit_score[0 .. SL_SPOTS_MAX - 1]; ensures fits: FitsInRange; */
static void fill_scores(void)
{
    uint32_t end = bottom_end();
    /*@
      loop invariant fits: FitsInRange;
      loop assigns spot, sl_fit_score[0 .. SL_SPOTS_MAX - 1];
      loop variant end - spot;
    */
    for (uint32_t spot = bottom_first(); spot < end; spot++) {
        bool may = sl_masks_verdict(sl_placing.mask, sl_spot_site[spot]) == SL_VERDICT_MAY;
        int64_t score = sl_masks_score(sl_placing.mask, sl_spot_site[spot]);
        sl_fit_score[spot] = may ? score : 0;
    }
}

/* What one pod, and one with the leader, takes decides what the sites have room for. */
/*@ requires ready: CountsReady; terminates \true; exits \false;
    assigns PODS, LED, leader_part[0 .. SL_MEASURES_MAX - 1]; ensures fits: FitsInRange; */
static void fill_sites(void)
{
    uint32_t end = bottom_end();
    start_counts();
    keep_within();
    if (sl_placing.leaders != 0) {
        /*@ loop assigns spot, sl_fit_leaders[0 .. SL_SPOTS_MAX - 1]; loop variant end - spot; */
        for (uint32_t spot = bottom_first(); spot < end; spot++) {
            sl_fit_leaders[spot] = sl_fit_pods[spot] > 0;
        }
    }
    /*@
      loop invariant fits: FitsInRange && Counted(End);
      loop assigns i, PODS;
      loop variant SL_TAKES_MAX - i;
    */
    for (uint32_t i = 0; i < sl_placing.takes.count && i < SL_TAKES_MAX; i++) {
        count_measure(sl_placing.takes.of[i].measure, sl_placing.takes.of[i].per_pod);
    }
    if (sl_placing.leaders != 0) {
        count_led();
    }
}

/*@ requires ready: CountsReady && 0 < depth <= SL_DEPTHS_MAX; terminates \true; exits \false;
    assigns SL_FITS; ensures fits: FitsInRange; */
static void sum_level(uint32_t depth)
{
    uint32_t end = sl_placing.at.first[depth];
    /*@ loop invariant fits: FitsInRange; loop assigns spot, SL_FITS; loop variant end - spot; */
    for (uint32_t spot = sl_placing.at.first[depth - 1]; spot < end; spot++) {
        sl_counts_sum(spot, depth - 1);
    }
}

/*@ requires ready: CountsReady; terminates \true; exits \false;
    assigns SL_FITS, leader_part[0 .. SL_MEASURES_MAX - 1]; ensures fits: FitsInRange; */
void sl_counts_fill(void)
{
    fill_sites();
    if (sl_placing.preferring) {
        fill_scores();
    }
    fill_bottom();
    /*@
      loop invariant fits: FitsInRange && depth < sl_placing.at.depth_count;
      loop assigns depth, SL_FITS;
      loop variant depth;
    */
    for (uint32_t depth = sl_placing.at.depth_count - 1; depth > 0; depth--) {
        sum_level(depth);
    }
}
