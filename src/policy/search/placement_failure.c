/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Why there is no place, in figures. Counted only when a pod set does not fit, from the capacities
 * that placement has counted. */
#include "policy/search/placement_state.h"

#include "policy/topology/masks.h"

struct sl_placement_failure sl_placement_failure;

static uint32_t ranks[SL_MEASURES_MAX];

/*@ assigns ranks[0 .. SL_MEASURES_MAX - 1]; */
void sl_placement_rank_measure(sl_measure_id measure, uint32_t rank)
{
    if (measure < SL_MEASURES_MAX) {
        ranks[measure] = rank;
    }
}

bool sl_placement_miss(enum sl_placement_miss miss)
{
    sl_placement_failure = (struct sl_placement_failure){
        .miss = miss, .pod_set = sl_placing.pod_set, .tree = sl_placing.tree, .domain = SL_NO_ID};
    return false;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static uint32_t figure(int64_t amount)
{
    return amount < 0 ? 0 : amount < UINT32_MAX ? (uint32_t)amount : UINT32_MAX - 1;
}

/* --- what keeps pods off nodes --- */

/*@ requires ready: DomainsInv && spot < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns \nothing; */
static bool lies_within(uint32_t spot)
{
    return sl_placing.within == SL_NO_ID ||
           sl_domain_above(sl_spot_domain[spot], sl_domain_depth(sl_placing.within)) ==
               sl_placing.within;
}

/* Is the one named rather than the other, which is SL_NO_ID at first? */
/*@ requires one: other < SL_MEASURES_MAX || other == SL_NO_ID; terminates \true; exits \false;
    assigns \nothing; ensures known: \result ==> measure < SL_MEASURES_MAX; */
static bool named_first(sl_measure_id measure, sl_measure_id other)
{
    return measure < SL_MEASURES_MAX && (other == SL_NO_ID || ranks[measure] < ranks[other] ||
                                         (ranks[measure] == ranks[other] && measure < other));
}

/* The measure of which the site has too little for one pod; SL_NO_ID = none. */
/*@ requires ready: OwnInRange && CapacityBounded && UsedInRange && AssumedInRange; terminates \true;
    exits \false; assigns \nothing;
    ensures known: \result < SL_MEASURES_MAX || \result == SL_NO_ID; */
static sl_measure_id scarce_measure(sl_site_id site)
{
    sl_measure_id scarce = SL_NO_ID;
    /*@ loop invariant known: scarce < SL_MEASURES_MAX || scarce == SL_NO_ID;
        loop assigns i, scarce; loop variant SL_TAKES_MAX - i; */
    for (uint32_t i = 0; i < sl_placing.takes.count && i < SL_TAKES_MAX; i++) {
        struct sl_measure_amount take = sl_placing.takes.of[i];
        if (named_first(take.measure, scarce) &&
            sl_counts_free(site, take.measure) < take.per_pod) {
            scarce = take.measure;
        }
    }
    return scarce;
}

/*@ terminates \true; exits \false; assigns sl_placement_failure; */
static void count_verdict(sl_verdict verdict)
{
    if (verdict == SL_VERDICT_SELECTOR) {
        sl_placement_failure.by_selector++;
    } else if (verdict == SL_VERDICT_AFFINITY) {
        sl_placement_failure.by_affinity++;
    } else if (verdict - SL_VERDICT_TAINT < SL_TAINTS_MAX) {
        sl_placement_failure.by_taint[verdict - SL_VERDICT_TAINT]++;
    }
}

/* Is the node left out, for whatever cause? */
/*@ requires ready: CountsReady && spot < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns sl_placement_failure; */
static bool count_cause(uint32_t spot)
{
    sl_site_id site = sl_spot_site[spot];
    sl_verdict verdict = sl_masks_verdict(sl_placing.mask, site);
    if (verdict != SL_VERDICT_MAY) {
        count_verdict(verdict);
        return true;
    }
    if (!lies_within(spot)) {
        sl_placement_failure.by_domain++;
        return true;
    }
    sl_measure_id scarce = scarce_measure(site);
    if (scarce < SL_MEASURES_MAX) {
        sl_placement_failure.by_measure[scarce]++;
        return true;
    }
    return false;
}

/*@ requires ready: CountsReady; terminates \true; exits \false; assigns sl_placement_failure; */
static void count_causes(void)
{
    uint32_t first = sl_placing.at.first[sl_placing.at.depth_count - 1];
    uint32_t end = sl_placing.at.first[sl_placing.at.depth_count];
    bool any = false;
    /*@ loop assigns spot, any, sl_placement_failure; loop variant end - spot; */
    for (uint32_t spot = first; spot < end; spot++) {
        any = count_cause(spot) || any;
    }
    sl_placement_failure.total_sites = any ? end - first : 0;
}

/* --- with several layers of slices --- */

/* The domain of that level that takes most slices. */
/*@ requires ready: PlacingSound && depth < SL_DEPTHS_MAX; terminates \true; exits \false;
    assigns \nothing; */
static uint32_t best_spot(uint32_t depth)
{
    uint32_t best = sl_placing.at.first[depth];
    uint32_t end = sl_placing.at.first[depth + 1];
    /*@ loop invariant known: best <= spot; loop assigns spot, best; loop variant end - spot; */
    for (uint32_t spot = best; spot < end; spot++) {
        if (sl_fit_slices[spot] > sl_fit_slices[best]) {
            best = spot;
        }
    }
    return best;
}

/*@ requires ready: FitsInRange && 0 < layer.size; terminates \true; exits \false;
    assigns \nothing; ensures fit: IsFit(\result); */
static int64_t slices_below(uint32_t spot, uint32_t depth, struct sl_topology_layer layer)
{
    uint32_t first = spot;
    uint32_t end = spot + 1;
    int64_t slices = 0;
    /*@ loop assigns d, first, end; loop variant layer.depth - d; */
    for (uint32_t d = depth; d < layer.depth && first < end && end <= SL_SPOTS_MAX; d++) {
        uint32_t last = end - 1;
        first = sl_spot_child[first];
        end = sl_spot_child[last] + sl_spot_children[last];
    }
    /*@ loop invariant fit: IsFit(slices); loop assigns s, slices; loop variant SL_SPOTS_MAX - s; */
    for (uint32_t s = first; s < end && s < SL_SPOTS_MAX; s++) {
        slices = sl_counts_bounded(slices + sl_fit_pods[s] / layer.size);
    }
    return slices;
}

/*@ requires ready: CountsReady && depth < SL_DEPTHS_MAX; terminates \true; exits \false;
    assigns sl_placement_failure; */
static void count_levels(uint32_t depth)
{
    uint32_t best = best_spot(depth);
    if (sl_placing.layer_count < 2) {
        return;
    }
    /*@ loop assigns i, sl_placement_failure; loop variant SL_LAYERS_MAX - i; */
    for (uint32_t i = 0; i < sl_placing.layer_count; i++) {
        struct sl_topology_layer layer = sl_placing.layers[i];
        sl_placement_failure.levels[i] =
            (struct sl_placement_level){.depth = layer.depth,
                                        .fit = figure(slices_below(best, depth, layer)),
                                        .of = sl_placing.count / layer.size};
    }
    sl_placement_failure.level_count = sl_placing.layer_count;
}

bool sl_placement_no_fit(uint32_t depth, int64_t fit, int64_t of)
{
    (void)sl_placement_miss(SL_PLACEMENT_NO_FIT);
    sl_placement_failure.slices = sl_placing.slice_size != 1;
    sl_placement_failure.fit = figure(fit);
    sl_placement_failure.of = figure(of);
    count_levels(depth);
    count_causes();
    return false;
}
