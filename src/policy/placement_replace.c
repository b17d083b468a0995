/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* New places for the pods that stand on failed sites; the others stay. Where a slice has lost some
 * of its pods, the new ones must come into its domain, at the innermost layer that is broken; whole
 * slices go wherever the pod set may. */
#include "policy/placement_state.h"

#include "kernel/placement.h"

/* A row that has failed, until its pods have a new place. */
struct gap {
    sl_domain_id domain;
    uint32_t count;
};
static struct gap gaps[SL_UNHEALTHY_MAX];
static uint32_t gap_count;

static struct sl_spot_list standing;        /* where pods stay, and where new ones come */
static int64_t standing_pods[SL_SPOTS_MAX]; /* 0 = not in the list */
static struct sl_placing whole;             /* the pod set as it asks */
static int64_t sums[SL_SPOTS_MAX];          /* all 0 between uses */

/* --- what stands ------------------------------------------------------------------------------ */

static void stand(uint32_t spot, int64_t pods)
{
    if (standing_pods[spot] == 0 && standing.count < SL_DOMAINS_MAX) {
        standing.spots[standing.count] = spot;
        standing.count++;
    }
    standing_pods[spot] += pods;
}

static void clear_standing(void)
{
    for (uint32_t i = 0; i < standing.count && i < SL_DOMAINS_MAX; i++) {
        standing_pods[standing.spots[i]] = 0;
    }
    standing.count = 0;
}

static bool has_failed(sl_domain_id domain)
{
    sl_site_id site = sl_domain_site(domain);
    for (uint32_t i = 0; i < sl_placement_failed_count && i < SL_UNHEALTHY_MAX; i++) {
        if (sl_placement_failed[i] == site) {
            return true;
        }
    }
    return false;
}

/* A row of what was committed either stays or leaves a gap. */
static bool sort_out(struct sl_topology_stand row)
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
    stand(sl_trees_spot(row.domain), row.count);
    return true;
}

static bool sort_out_all(uint32_t pod_set)
{
    sl_workload_id id = sl_placement_question.workload;
    uint32_t count = sl_topology_stand_count(id);
    for (uint32_t i = 0; i < count; i++) {
        struct sl_topology_stand row = sl_topology_stand_at(id, i);
        if (row.pod_set == pod_set && row.domain != SL_NO_ID && !sort_out(row)) {
            return false;
        }
    }
    return true;
}

/* --- new places ------------------------------------------------------------------------------- */

/* So many pods, in there, in slices of the innermost layer that they come out even in; without
 * `layers` being broken that is all layers. */
static bool fill(uint32_t count, sl_domain_id within, bool broken)
{
    sl_placing = whole;
    sl_placing.within = within;
    if (broken) {
        sl_placing.layer_count = 0;
        sl_placing.slice_size = 1;
        sl_placing.slice_depth = whole.at.depth_count - 1;
        for (uint32_t d = 0; d < SL_DEPTHS_MAX; d++) {
            sl_placing.size_at[d] = 0;
        }
        for (uint32_t i = 0; i < whole.layer_count && i < SL_LAYERS_MAX; i++) {
            if (count % whole.layers[i].size == 0) {
                sl_placing.slice_size = whole.layers[i].size;
                sl_placing.slice_depth = whole.layers[i].depth;
                sl_placing.layers[0] = whole.layers[i];
                sl_placing.layer_count = 1;
            }
        }
    }
    if (!sl_placement_set_count(count) || !sl_placement_one()) {
        return false;
    }
    for (uint32_t i = 0; i < sl_chosen.count && i < SL_DOMAINS_MAX; i++) {
        uint32_t spot = sl_chosen.spots[i];
        if (sl_fit_pods[spot] > 0) {
            sl_placement_take_own(spot, false);
            stand(spot, sl_fit_pods[spot]);
        }
    }
    return true;
}

/* Pods that are missing in the domain, of the gaps that are left. */
static uint32_t missing_in(sl_domain_id domain, uint32_t depth)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < gap_count && i < SL_UNHEALTHY_MAX; i++) {
        if (sl_domain_above(gaps[i].domain, depth) == domain) {
            missing += gaps[i].count;
        }
    }
    return missing;
}

static void close_gaps_in(sl_domain_id domain, uint32_t depth)
{
    for (uint32_t i = 0; i < gap_count && i < SL_UNHEALTHY_MAX; i++) {
        if (sl_domain_above(gaps[i].domain, depth) == domain) {
            gaps[i].count = 0;
        }
    }
}

static uint32_t spot_above(uint32_t spot, uint32_t depth)
{
    for (uint32_t d = whole.at.depth_count - 1; d > depth && spot < SL_SPOTS_MAX; d--) {
        spot = sl_spot_parent[spot];
    }
    return spot;
}

/* The first domain of the layer whose slices are broken, and whole with so many pods more; `own`
 * before all others. SL_NO_ID = there is none. */
static sl_domain_id find_broken(struct sl_topology_layer layer, uint32_t more, sl_domain_id own)
{
    uint32_t found = SL_NO_ID;
    for (uint32_t i = 0; i < standing.count && i < SL_DOMAINS_MAX; i++) {
        sums[spot_above(standing.spots[i], layer.depth)] += standing_pods[standing.spots[i]];
    }
    for (uint32_t i = 0; i < standing.count && i < SL_DOMAINS_MAX; i++) {
        uint32_t spot = spot_above(standing.spots[i], layer.depth);
        bool broken = sums[spot] % layer.size != 0 && (sums[spot] + more) % layer.size == 0;
        if (broken && (sl_spot_domain[spot] == own || found == SL_NO_ID ||
                       (sl_spot_domain[found] != own && spot < found))) {
            found = spot;
        }
    }
    for (uint32_t i = 0; i < standing.count && i < SL_DOMAINS_MAX; i++) {
        sums[spot_above(standing.spots[i], layer.depth)] = 0;
    }
    return found != SL_NO_ID ? sl_spot_domain[found] : SL_NO_ID;
}

/* The pods of that gap, and of those in the same domain, go where slices of the layer are broken;
 * if none are, the gap stays open. */
static bool mend(uint32_t gap, struct sl_topology_layer layer, bool joined)
{
    sl_domain_id own = sl_domain_above(gaps[gap].domain, layer.depth);
    uint32_t missing = joined ? missing_in(own, layer.depth) : gaps[gap].count;
    if (gaps[gap].count == 0 || missing % layer.size == 0) {
        return true;
    }
    sl_domain_id broken = find_broken(layer, missing, own);
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

/* Gaps of one domain together; then those left one by one, since where a node stood before it went
 * may not be known. */
static bool mend_layer(struct sl_topology_layer layer)
{
    bool mended = true;
    for (uint32_t i = 0; mended && i < gap_count && i < SL_UNHEALTHY_MAX; i++) {
        mended = mend(i, layer, true);
    }
    for (uint32_t i = 0; mended && i < gap_count && i < SL_UNHEALTHY_MAX; i++) {
        mended = mend(i, layer, false);
    }
    return mended;
}

/* Where pods that must stay together have to come; SL_NO_ID = anywhere. */
static sl_domain_id common_domain(void)
{
    if (!whole.required || standing.count == 0) {
        return SL_NO_ID;
    }
    return sl_domain_above(sl_spot_domain[standing.spots[0]], whole.depth);
}

static bool fill_gaps(void)
{
    uint32_t missing = 0;
    for (uint32_t k = whole.layer_count; k > 0; k--) {
        if (!mend_layer(whole.layers[k - 1])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < gap_count && i < SL_UNHEALTHY_MAX; i++) {
        missing += gaps[i].count;
    }
    return missing == 0 || fill(missing, common_domain(), false);
}

/* --- the answer ------------------------------------------------------------------------------- */

static bool put_standing(uint32_t set)
{
    sl_chosen.count = standing.count;
    for (uint32_t i = 0; i < standing.count && i < SL_DOMAINS_MAX; i++) {
        sl_chosen.spots[i] = standing.spots[i];
    }
    sl_placement_sort_chosen();
    for (uint32_t i = 0; i < sl_chosen.count && i < SL_DOMAINS_MAX; i++) {
        uint32_t spot = sl_chosen.spots[i];
        if (!sl_placement_put(set, sl_spot_domain[spot], standing_pods[spot])) {
            return false;
        }
    }
    return true;
}

bool sl_placement_replace(uint32_t set)
{
    const struct sl_placement_set *q = &sl_placement_question.sets[set];
    gap_count = 0;
    standing.count = 0;
    if (!sl_placement_ask(q, NULL)) {
        return false;
    }
    whole = sl_placing;
    bool found = sort_out_all(q->pod_set) && fill_gaps();
    sl_placing = whole;
    found = found && put_standing(set);
    if (found) {
        sl_placement_head(set, &sl_placing.takes, true);
        sl_placement_loosen(set);
    }
    clear_standing();
    return found;
}
