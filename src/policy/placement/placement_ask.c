/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From what a pod set asks, in words of the API, to levels, slice sizes and amounts. */
#include "policy/search/placement_state.h"

#include "policy/common/settings.h"
#include "policy/topology/tolerances.h"

/* clang-format off */
#define LAYERED                                                                                    \
    sl_placement_failure, sl_placing.slice_depth, sl_placing.slice_size, sl_placing.layer_count,   \
        sl_placing.layers[0 .. SL_LAYERS_MAX - 1], sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1]
/* clang-format on */
/*@
  // The tree has levels.
  predicate Laid{L} = 0 < sl_placing.at.depth_count <= SL_DEPTHS_MAX && sl_placing.leaders <= 1 &&
    (\forall integer d; 0 <= d <= SL_DEPTHS_MAX ==> sl_placing.at.first[d] <= SL_SPOTS_MAX);
  // What the first of them takes, and how much, is known.
  predicate Positive{L}(struct sl_takes takes) = takes.count <= SL_TAKES_MAX &&
    \forall integer i; 0 <= i < takes.count ==> 0 < takes.of[i].per_pod <= SL_AMOUNT_MAX;
*/

/*@ terminates \true; exits \false; assigns \nothing; ensures positive: Positive(\result); */
static struct sl_takes takes_of(struct sl_topology_request request)
{
    struct sl_takes takes = {.count = 1, .of = {{.measure = SL_MEASURE_PODS, .per_pod = 1}}};
    /*@
      loop invariant positive: Positive(takes) && i <= SL_TOPOLOGY_REQUESTS_MAX &&
        takes.count <= i + 1;
      loop assigns i, takes;
      loop variant SL_TOPOLOGY_REQUESTS_MAX - i;
    */
    for (uint32_t i = 0; i < request.request_count && i < SL_TOPOLOGY_REQUESTS_MAX; i++) {
        int64_t per_pod = sl_counts_bounded(request.requests[i].per_pod);
        if (per_pod > 0) {
            takes.of[takes.count].measure = request.requests[i].measure;
            takes.of[takes.count].per_pod = per_pod;
            takes.count++;
        }
    }
    return takes;
}

/*@ requires laid: Laid; terminates \true; exits \false;
    assigns sl_placing.required, sl_placing.unconstrained, sl_placing.depth, sl_placement_failure;
    ensures depth: \result ==> sl_placing.depth < sl_placing.at.depth_count; */
static bool find_depth(struct sl_topology_request request, bool implied)
{
    uint32_t lowest = sl_placing.at.depth_count - 1;
    sl_placing.required = request.together == SL_TOGETHER_REQUIRED;
    sl_placing.unconstrained = !sl_placing.required && request.together != SL_TOGETHER_PREFERRED;
    if (!sl_placing.unconstrained) {
        sl_placing.depth = sl_trees_level(sl_placing.tree, request.level);
    } else if (request.layer_count > 0) { /* each slice together, and the slices anywhere */
        sl_placing.depth = 0;
    } else if (request.together == SL_TOGETHER_UNCONSTRAINED || implied) {
        sl_placing.depth = lowest;
    } else {
        sl_placing.depth = SL_NO_ID;
    }
    if (sl_placing.depth > lowest) {
        return sl_placement_miss(SL_PLACEMENT_NO_LEVEL);
    }
    return true;
}

/* The outermost slices. */
/*@ requires size: 0 < size && 0 < sl_placing.slice_size; terminates \true; exits \false;
    assigns sl_placement_failure, sl_placing.slice_depth, sl_placing.slice_size;
    ensures size: 0 < sl_placing.slice_size;
    ensures level: sl_placing.slice_depth == \old(sl_placing.slice_depth) ||
      sl_placing.slice_depth == depth; */
static bool add_outermost(uint32_t depth, uint32_t size)
{
    if (depth < sl_placing.depth) {
        return sl_placement_miss(SL_PLACEMENT_SLICE_ABOVE);
    }
    sl_placing.slice_depth = depth;
    sl_placing.slice_size = size;
    return true;
}

/* Slices inside others. */
/*@ requires size: 0 < size; requires level: depth < SL_DEPTHS_MAX; terminates \true;
    exits \false; assigns sl_placement_failure, sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1]; */
static bool add_inner(struct sl_topology_layer outer, uint32_t depth, uint32_t size)
{
    if (depth <= outer.depth) {
        return sl_placement_miss(SL_PLACEMENT_SLICE_ABOVE);
    }
    if (outer.size % size != 0) {
        return sl_placement_miss(SL_PLACEMENT_SLICE_SIZE);
    }
    /*@
      loop assigns d, sl_placing.size_at[0 .. SL_DEPTHS_MAX - 1];
      loop variant SL_DEPTHS_MAX - d;
    */
    for (uint32_t d = outer.depth + 1; d <= depth; d++) {
        sl_placing.size_at[d] = size;
    }
    return true;
}

/* One layer of slices, inside the one before it. */
/*@ requires ready: PlacingSound && LayersSound && layer == sl_placing.layer_count < SL_LAYERS_MAX;
    terminates \true; exits \false; assigns LAYERED; ensures ready: PlacingSound && LayersSound;
    ensures count: \result ==> sl_placing.layer_count == layer + 1; */
static bool add_layer(uint32_t layer, sl_level_id level, uint32_t size)
{
    uint32_t depth = sl_trees_level(sl_placing.tree, level);
    if (size == 0) {
        return sl_placement_miss(SL_PLACEMENT_SLICE_SIZE);
    }
    if (depth >= sl_placing.at.depth_count) {
        return sl_placement_miss(SL_PLACEMENT_NO_SLICE_LEVEL);
    }
    bool fits = layer == 0 ? add_outermost(depth, size)
                           : add_inner(sl_placing.layers[layer - 1], depth, size);
    if (!fits) {
        return false;
    }
    sl_placing.layers[layer] = (struct sl_topology_layer){.depth = depth, .size = size};
    sl_placing.layer_count = layer + 1;
    return true;
}

bool sl_placement_set_count(uint32_t count)
{
    uint64_t size = sl_placing.slice_size;
    uint64_t whole = (count + size - 1) / size * size;
    if (whole > INT32_MAX) {
        return sl_placement_miss(SL_PLACEMENT_SLICE_SIZE);
    }
    sl_placing.count = (uint32_t)whole;
    sl_placing.surplus = (uint32_t)(whole - count);
    return true;
}

/*@ requires ready: Laid && sl_placing.depth < sl_placing.at.depth_count;
    requires none: sl_placing.layer_count == 0; terminates \true; exits \false; assigns LAYERED;
    ensures ready: PlacingSound && LayersSound; */
static bool find_layers(struct sl_topology_request request)
{
    sl_placing.slice_size = 1;
    sl_placing.slice_depth = sl_placing.at.depth_count - 1;
    /*@
      loop invariant ready: PlacingSound && LayersSound;
      loop invariant count: i <= SL_LAYERS_MAX && sl_placing.layer_count == i;
      loop assigns i, LAYERED;
      loop variant SL_LAYERS_MAX - i;
    */
    for (uint32_t i = 0; i < request.layer_count && i < SL_LAYERS_MAX; i++) {
        if (!add_layer(i, request.layers[i].level, request.layers[i].size)) {
            return false;
        }
    }
    return true;
}

/* What its pods, and the leader's, take; nothing else of it is known. False = there is no tree. */
/*@ requires sets: set < SL_TOPOLOGY_SETS_MAX &&
      (leader < SL_TOPOLOGY_SETS_MAX || leader == SL_NO_ID);
    terminates \true; exits \false;
    assigns sl_hidden, SL_SPOTS, sl_placing, sl_placement_failure;
    ensures laid: \result ==> Laid && TakesSound && sl_placing.layer_count == 0; */
static bool start(uint32_t set, uint32_t leader)
{
    const struct sl_placement_set q = sl_placement_question.sets[set];
    sl_placing = (struct sl_placing){.tree = q.tree,
                                     .at = sl_trees_lay_out(q.tree),
                                     .pod_set = q.pod_set,
                                     .empty = sl_placement_question.empty,
                                     .mask = SL_NO_ID,
                                     .within = SL_NO_ID,
                                     .takes = takes_of(sl_topology_request_of(q.record))};
    if (sl_placing.at.depth_count == 0) {
        return sl_placement_miss(SL_PLACEMENT_NO_TREE);
    }
    if (leader != SL_NO_ID) {
        sl_placing.leaders = 1;
        sl_placing.leader_takes =
            takes_of(sl_topology_request_of(sl_placement_question.sets[leader].record));
    }
    return true;
}

bool sl_placement_ask(uint32_t set, uint32_t leader)
{
    const struct sl_placement_set q = sl_placement_question.sets[set];
    const struct sl_topology_request request = sl_topology_request_of(q.record);
    if (!start(set, leader)) {
        return false;
    }
    if (sl_trees_ends_at_nodes(q.tree)) {
        sl_placing.mask = sl_tolerances_mask(request.mask, q.tree);
    }
    if (!find_depth(request, q.implied)) {
        return false;
    }
    //@ assert found: Laid && TakesSound && sl_placing.depth < sl_placing.at.depth_count;
    sl_placing.least_free = sl_placing.unconstrained && sl_settings.profile_mixed;
    sl_placing.preferring = sl_settings.prefer_affinity && sl_masks_prefers(sl_placing.mask);
    if (!find_layers(request)) {
        return false;
    }
    //@ assert layered: PlacingSound && LayersSound && TakesSound;
    return sl_placement_set_count(q.count);
}
