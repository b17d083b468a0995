/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From what a pod set asks, in words of the API, to levels, slice sizes and amounts. */
#include "policy/placement_state.h"

#include "policy/settings.h"
#include "policy/tolerances.h"

struct sl_placing sl_placing;

static struct sl_takes takes_of(const struct sl_topology_demand *demand)
{
    struct sl_takes takes = {.count = 1, .of = {{.measure = SL_MEASURE_PODS, .per_pod = 1}}};
    for (uint32_t i = 0; i < demand->request_count && i < SL_TOPOLOGY_REQUESTS_MAX; i++) {
        if (demand->requests[i].per_pod > 0) {
            takes.of[takes.count] = demand->requests[i];
            takes.count++;
        }
    }
    return takes;
}

/* Slices alone are asked for: each slice together, and the slices anywhere. */
static bool slices_alone(const struct sl_topology_demand *demand)
{
    return demand->layer_count > 0 && demand->together != SL_TOGETHER_REQUIRED &&
           demand->together != SL_TOGETHER_PREFERRED;
}

static bool find_depth(const struct sl_topology_demand *demand, bool implied)
{
    uint32_t lowest = sl_placing.at.depth_count - 1;
    sl_placing.required = demand->together == SL_TOGETHER_REQUIRED;
    sl_placing.unconstrained = !sl_placing.required && demand->together != SL_TOGETHER_PREFERRED;
    if (!sl_placing.unconstrained) {
        sl_placing.depth = sl_trees_level(sl_placing.tree, demand->level);
    } else if (slices_alone(demand)) {
        sl_placing.depth = 0;
    } else if (demand->together == SL_TOGETHER_UNCONSTRAINED || implied) {
        sl_placing.depth = lowest;
    } else {
        sl_placing.depth = SL_NO_ID;
    }
    return sl_placing.depth <= lowest || sl_placement_miss(SL_PLACEMENT_NO_LEVEL);
}

/* One layer of slices, inside the one before it. */
static bool add_layer(uint32_t layer, sl_level_id level, uint32_t size)
{
    uint32_t depth = sl_trees_level(sl_placing.tree, level);
    if (size == 0) {
        return sl_placement_miss(SL_PLACEMENT_SLICE_SIZE);
    }
    if (depth >= sl_placing.at.depth_count) {
        return sl_placement_miss(SL_PLACEMENT_NO_SLICE_LEVEL);
    }
    if (layer == 0) {
        if (depth < sl_placing.depth) {
            return sl_placement_miss(SL_PLACEMENT_SLICE_ABOVE);
        }
        sl_placing.slice_depth = depth;
        sl_placing.slice_size = size;
    } else {
        const struct sl_topology_layer *outer = &sl_placing.layers[layer - 1];
        if (depth <= outer->depth) {
            return sl_placement_miss(SL_PLACEMENT_SLICE_ABOVE);
        }
        if (outer->size % size != 0) {
            return sl_placement_miss(SL_PLACEMENT_SLICE_SIZE);
        }
        for (uint32_t d = outer->depth + 1; d <= depth && d < SL_DEPTHS_MAX; d++) {
            sl_placing.size_at[d] = size;
        }
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

static bool find_layers(const struct sl_topology_demand *demand)
{
    sl_placing.slice_size = 1;
    sl_placing.slice_depth = sl_placing.at.depth_count - 1;
    for (uint32_t i = 0; i < demand->layer_count && i < SL_LAYERS_MAX; i++) {
        if (!add_layer(i, demand->layers[i].level, demand->layers[i].size)) {
            return false;
        }
    }
    return true;
}

bool sl_placement_ask(const struct sl_placement_set *set, const struct sl_placement_set *leader)
{
    struct sl_topology_demand demand = sl_topology_demand_of(set->record);
    sl_placing = (struct sl_placing){.tree = set->tree,
                                     .at = sl_trees_lay_out(set->tree),
                                     .pod_set = set->pod_set,
                                     .empty = sl_placement_question.empty,
                                     .mask = SL_NO_ID,
                                     .within = SL_NO_ID,
                                     .takes = takes_of(&demand)};
    if (sl_placing.at.depth_count == 0) {
        return sl_placement_miss(SL_PLACEMENT_NO_TREE);
    }
    if (leader != NULL) {
        struct sl_topology_demand other = sl_topology_demand_of(leader->record);
        sl_placing.leaders = 1;
        sl_placing.leader_takes = takes_of(&other);
    }
    if (sl_trees_ends_at_nodes(set->tree)) {
        sl_placing.mask = sl_tolerances_mask(demand.mask, set->tree);
    }
    if (!find_depth(&demand, set->implied)) {
        return false;
    }
    sl_placing.least_free = sl_placing.unconstrained && sl_settings.profile_mixed;
    sl_placing.preferring = sl_settings.prefer_affinity && sl_masks_prefers(sl_placing.mask);
    return find_layers(&demand) && sl_placement_set_count(set->count);
}
