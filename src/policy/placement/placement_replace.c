/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* New domains for the pods on failed sites; the others stay. Where a slice has lost some of its
 * pods, the new ones must go to its domain, at the innermost layer that is broken; whole slices may
 * go wherever the pod set may. */
#include "policy/placement/placement_standing.h"

#include "kernel/commit/placement.h"

/* A row that has failed, until its pods have a new place. */
struct gap {
    sl_domain_id domain;
    uint32_t count;
};
static struct gap gaps[SL_UNHEALTHY_MAX];
static uint32_t gap_count;

/* The slices that the pod set asks for; new pods may be asked for in others. */
static struct {
    uint32_t layer_count;
    struct sl_topology_layer layers[SL_LAYERS_MAX];
    uint32_t slice_size;
    uint32_t slice_depth;
    uint32_t size_at[SL_DEPTHS_MAX];
} asked;

/* clang-format off */
#define GAPS gaps[0 .. SL_UNHEALTHY_MAX - 1]
#define SLICES                                                                                     \
    sl_placing.layer_count, sl_placing.layers[0 .. SL_LAYERS_MAX - 1], sl_placing.slice_size,      \
        sl_placing.slice_depth, sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1]
#define FILLED sl_hidden, sl_placement_failure, sl_placing, sl_chosen, SL_FITS, SL_OWN
/* clang-format on */
/*@
  predicate AskedSound{L} = asked.layer_count <= SL_LAYERS_MAX && 0 < asked.slice_size &&
    asked.slice_depth < sl_placing.at.depth_count &&
    \forall integer i; 0 <= i < asked.layer_count ==> 0 < asked.layers[i].size &&
      asked.layers[i].depth < sl_placing.at.depth_count;
  // What looking for new places relies on, from one to the next.
  predicate ReplaceReady{L} = CountsReady && AskedSound && gap_count <= SL_UNHEALTHY_MAX;
*/

/* --- pods that stay --------------------------------------------------------------------------- */

/*@ terminates \true; exits \false; assigns \nothing; */
static bool has_failed(sl_domain_id domain)
{
    sl_site_id site = sl_domain_site(domain);
    /*@ loop assigns i; loop variant SL_UNHEALTHY_MAX - i; */
    for (uint32_t i = 0; i < sl_placement_failed_count && i < SL_UNHEALTHY_MAX; i++) {
        if (sl_placement_failed[i] == site) {
            return true;
        }
    }
    return false;
}

/* A row of what was committed either stays or leaves a gap. */
/*@ requires ready: gap_count <= SL_UNHEALTHY_MAX; terminates \true; exits \false;
    assigns sl_hidden, GAPS, gap_count, sl_placement_failure;
    ensures ready: gap_count <= SL_UNHEALTHY_MAX; */
static bool sort_out(struct sl_domain_assignment row)
{
    if (has_failed(row.domain)) {
        if (gap_count >= SL_UNHEALTHY_MAX) {
            return sl_placement_miss(SL_PLACEMENT_FULL);
        }
        gaps[gap_count] = (struct gap){.domain = row.domain, .count = row.count};
        gap_count++;
        return true;
    }
    if (!sl_trees_shows(row.domain)) {
        (void)sl_placement_miss(SL_PLACEMENT_STALE);
        sl_placement_failure.domain = row.domain;
        return false;
    }
    sl_standing_add(sl_trees_spot(row.domain), row.count);
    return true;
}

/*@ requires ready: BlocksSound; terminates \true; exits \false;
    assigns sl_hidden, GAPS, gap_count, sl_placement_failure;
    ensures ready: gap_count <= SL_UNHEALTHY_MAX; */
static bool sort_out_all(void)
{
    sl_workload_id id = sl_placement_question.workload;
    uint32_t count = sl_topology_assignment_count(id);
    gap_count = 0;
    /*@
      loop invariant ready: gap_count <= SL_UNHEALTHY_MAX;
      loop assigns i, sl_hidden, GAPS, gap_count, sl_placement_failure;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_domain_assignment row = sl_topology_assignment_at(id, i);
        if (row.pod_set == sl_placing.pod_set && row.domain != SL_NO_ID && !sort_out(row)) {
            return false;
        }
    }
    return true;
}

/* --- slices of new places --------------------------------------------------------------------- */

/*@ requires placing: PlacingSound && LayersSound; terminates \true; exits \false; assigns asked;
    ensures asked: AskedSound; */
static void note_slices(void)
{
    asked.layer_count = sl_placing.layer_count;
    asked.slice_size = sl_placing.slice_size;
    asked.slice_depth = sl_placing.slice_depth;
    /*@
      loop invariant sizes: i <= SL_LAYERS_MAX && \forall integer k; 0 <= k < i ==>
        asked.layers[k].size == sl_placing.layers[k].size &&
        asked.layers[k].depth == sl_placing.layers[k].depth;
      loop assigns i, asked.layers[0 .. SL_LAYERS_MAX - 1];
      loop variant SL_LAYERS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_LAYERS_MAX; i++) {
        asked.layers[i] = sl_placing.layers[i];
    }
    /*@
      loop assigns d, asked.size_at[0 .. SL_DEPTHS_MAX - 1];
      loop variant SL_DEPTHS_MAX - d;
    */
    for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
        asked.size_at[d] = sl_placing.size_at[d];
    }
}

/*@ requires asked: AskedSound; terminates \true; exits \false; assigns SLICES;
    ensures sizes: 0 < sl_placing.slice_size && LayersSound;
    ensures level: sl_placing.slice_depth < sl_placing.at.depth_count; */
static void ask_as_noted(void)
{
    sl_placing.layer_count = asked.layer_count;
    sl_placing.slice_size = asked.slice_size;
    sl_placing.slice_depth = asked.slice_depth;
    /*@
      loop invariant sizes: i <= SL_LAYERS_MAX && \forall integer k; 0 <= k < i ==>
        sl_placing.layers[k].size == asked.layers[k].size &&
        sl_placing.layers[k].depth == asked.layers[k].depth;
      loop assigns i, sl_placing.layers[0 .. SL_LAYERS_MAX - 1];
      loop variant SL_LAYERS_MAX - i;
    */
    for (uint32_t i = 0; i < SL_LAYERS_MAX; i++) {
        sl_placing.layers[i] = asked.layers[i];
    }
    /*@
      loop assigns d, sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1];
      loop variant SL_DEPTHS_MAX - d;
    */
    for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
        sl_placing.size_at[d] = asked.size_at[d];
    }
}

/* In slices of the innermost layer that so many pods come out even in. */
/*@ requires asked: AskedSound; terminates \true; exits \false; assigns SLICES;
    ensures sizes: 0 < sl_placing.slice_size && LayersSound;
    ensures level: sl_placing.slice_depth < sl_placing.at.depth_count; */
static void ask_even(uint32_t count)
{
    sl_placing.layer_count = 0;
    sl_placing.slice_size = 1;
    sl_placing.slice_depth = sl_placing.at.depth_count - 1;
    /*@
      loop assigns d, sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1];
      loop variant SL_DEPTHS_MAX - d;
    */
    for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
        sl_placing.size_at[d] = 0;
    }
    /*@
      loop invariant sizes: 0 < sl_placing.slice_size && sl_placing.layer_count <= 1 &&
        sl_placing.slice_depth < sl_placing.at.depth_count &&
        (sl_placing.layer_count == 1 ==> 0 < sl_placing.layers[0].size &&
           sl_placing.layers[0].depth < sl_placing.at.depth_count);
      loop assigns i, sl_placing.layer_count, sl_placing.slice_size, sl_placing.slice_depth,
                   sl_placing.layers[0];
      loop variant asked.layer_count - i;
    */
    for (uint32_t i = 0; i < asked.layer_count; i++) {
        if (count % asked.layers[i].size == 0) {
            sl_placing.slice_size = asked.layers[i].size;
            sl_placing.slice_depth = asked.layers[i].depth;
            sl_placing.layers[0] = asked.layers[i];
            sl_placing.layer_count = 1;
        }
    }
}

/* --- new places ------------------------------------------------------------------------------- */

/* So many pods, in there; whether slices are broken there decides what slices they come in. */
/*@ requires ready: ReplaceReady; terminates \true; exits \false; assigns FILLED;
    ensures ready: ReplaceReady; */
static bool fill(uint32_t count, sl_domain_id within, bool broken)
{
    if (broken) {
        ask_even(count);
    } else {
        ask_as_noted();
    }
    sl_placing.within = within;
    if (!sl_placement_set_count(count) || !sl_placement_one()) {
        return false;
    }
    sl_standing_take_chosen();
    return true;
}

/* Pods that are missing in the domain, of the gaps that are left. */
/*@ requires ready: DomainsInv && gap_count <= SL_UNHEALTHY_MAX; terminates \true; exits \false;
    assigns \nothing; */
static uint32_t missing_in(sl_domain_id domain, uint32_t depth)
{
    uint32_t missing = 0;
    /*@ loop assigns i, missing; loop variant gap_count - i; */
    for (uint32_t i = 0; i < gap_count; i++) {
        if (sl_domain_above(gaps[i].domain, depth) == domain) {
            missing += gaps[i].count;
        }
    }
    return missing;
}

/*@ requires ready: DomainsInv && gap_count <= SL_UNHEALTHY_MAX; terminates \true; exits \false;
    assigns GAPS; */
static void close_gaps_in(sl_domain_id domain, uint32_t depth)
{
    /*@ loop assigns i, GAPS; loop variant gap_count - i; */
    for (uint32_t i = 0; i < gap_count; i++) {
        if (sl_domain_above(gaps[i].domain, depth) == domain) {
            gaps[i].count = 0;
        }
    }
}

/* The pods of that gap, and of those in the same domain, go where slices of the layer are broken;
 * if none are, the gap stays open. */
/*@ requires ready: ReplaceReady && gap < gap_count && layer.size > 0; terminates \true;
    exits \false; assigns FILLED, GAPS; ensures ready: ReplaceReady; */
static bool mend(uint32_t gap, struct sl_topology_layer layer, bool joined)
{
    sl_domain_id own = sl_domain_above(gaps[gap].domain, layer.depth);
    uint32_t missing = joined ? missing_in(own, layer.depth) : gaps[gap].count;
    if (gaps[gap].count == 0 || missing % layer.size == 0) {
        return true;
    }
    sl_domain_id broken = sl_standing_broken(layer, missing, own);
    if (broken == SL_NO_ID) {
        return true;
    }
    if (!fill(missing, broken, true)) {
        return false;
    }
    if (joined) {
        close_gaps_in(own, layer.depth);
    }
    gaps[gap].count = 0;
    return true;
}

/*@ requires ready: ReplaceReady && layer.size > 0; terminates \true; exits \false;
    assigns FILLED, GAPS; ensures ready: ReplaceReady; */
static bool mend_gaps(struct sl_topology_layer layer, bool joined)
{
    bool mended = true;
    /*@
      loop invariant ready: ReplaceReady;
      loop assigns i, mended, FILLED, GAPS;
      loop variant gap_count - i;
    */
    for (uint32_t i = 0; mended && i < gap_count; i++) {
        mended = mend(i, layer, joined);
    }
    return mended;
}

/* Where pods that must stay together have to come; SL_NO_ID = anywhere. */
/*@ requires ready: DomainsInv; terminates \true; exits \false; assigns \nothing; */
static sl_domain_id common_domain(void)
{
    uint32_t first = sl_standing_first();
    if (!sl_placing.required || first == SL_NO_ID) {
        return SL_NO_ID;
    }
    return sl_domain_above(sl_spot_domain[first], sl_placing.depth);
}

/*@ requires ready: gap_count <= SL_UNHEALTHY_MAX; terminates \true; exits \false;
    assigns \nothing; */
static uint32_t missing_in_all(void)
{
    uint32_t missing = 0;
    /*@ loop assigns i, missing; loop variant gap_count - i; */
    for (uint32_t i = 0; i < gap_count; i++) {
        missing += gaps[i].count;
    }
    return missing;
}

/* From the innermost layer outwards, gaps of one domain together; then those left one by one, since
 * the place of a node in the tree may be unknown after its deletion. */
/*@ requires ready: ReplaceReady; terminates \true; exits \false; assigns FILLED, GAPS;
    ensures ready: ReplaceReady; */
static bool fill_gaps(void)
{
    /*@
      loop invariant ready: ReplaceReady && k <= asked.layer_count;
      loop assigns k, FILLED, GAPS;
      loop variant k;
    */
    for (uint32_t k = asked.layer_count; k > 0; k--) {
        if (!mend_gaps(asked.layers[k - 1], true) || !mend_gaps(asked.layers[k - 1], false)) {
            return false;
        }
    }
    uint32_t missing = missing_in_all();
    return missing == 0 || fill(missing, common_domain(), false);
}

/*@ terminates \true; exits \false; assigns FILLED, SL_SPOTS, GAPS, gap_count, asked; */
bool sl_placement_replace(uint32_t set)
{
    if (!sl_placement_ask(set, SL_NO_ID)) {
        return false;
    }
    note_slices();
    bool found = sort_out_all() && fill_gaps() && sl_standing_put(set);
    ask_as_noted();
    if (found) {
        sl_placement_head(set, false);
        sl_placement_loosen(set);
    }
    sl_standing_clear();
    return found;
}
