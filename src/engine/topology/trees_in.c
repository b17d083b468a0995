/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A tree is laid out anew when its levels change; when only the flavor's labels do, nodes enter
 * and leave it. */
#include "engine/topology/trees_in.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/records/masks_in.h"
#include "engine/records/world.h"
#include <string.h>

/* --- nodes of a tree ----------------------------------------------------------------------- */

static void for_all_nodes(struct sl_engine *g, sl_tree_id tree, int64_t now_ms,
                          void (*what)(struct sl_engine *, struct sl_node_entry *, sl_tree_id,
                                       int64_t))
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(g->world->nodes, &cursor, &key, &value)) {
        what(g, value.pointer, tree, now_ms);
    }
}

/* --- levels ----------------------------------------------------------------------------------- */

void sl_trees_in_lay_out(struct sl_engine *g, sl_tree_id tree, int64_t now_ms)
{
    struct sl_tree_entry *t = sl_world_tree(g, tree);
    static const struct sl_topology_levels none = {0};
    const struct sl_topology_levels *levels =
        t->topology == NULL ? NULL : sl_map_find(g->world->topologies, t->topology);
    const struct sl_topology_levels *taken = levels == NULL ? &none : levels;
    for_all_nodes(g, tree, now_ms, sl_nodes_leave);
    sl_areas_cut(g, tree);
    bool ok = sl_call(g, now_ms, tree, .tree = tree, .asked = t->topology != NULL,
                      .levels = taken->of, .ends_at_nodes = taken->ends_at_nodes) == SL_OK;
    t->levels = ok ? levels : NULL;
    for_all_nodes(g, tree, now_ms, sl_nodes_place);
    sl_areas_sweep(g);
    sl_world_wake(g, tree, SL_TREE_MORE);
    g->world->relaid = true;
}

/* --- ResourceFlavor --------------------------------------------------------------------------- */

/* Trees are looked at in the order of their flavors' names. */
static void rank_trees(struct sl_engine *g, int64_t now_ms)
{
    const struct sl_world *w = g->world;
    for (sl_tree_id tree = 0; tree < w->tree_cap; tree++) {
        uint32_t rank = 0;
        if (sl_world_find_tree(g, tree) == NULL) {
            continue;
        }
        const char *name = sl_intern_name(g->names, SL_INTERN_FLAVOR, tree);
        for (sl_tree_id other = 0; other < w->tree_cap; other++) {
            const char *text = sl_intern_name(g->names, SL_INTERN_FLAVOR, other);
            rank += sl_world_find_tree(g, other) != NULL && strcmp(text, name) < 0;
        }
        if (sl_trees_rank(tree) != rank) {
            sl_tell(g, now_ms, tree_rank, .tree = tree, .rank = rank);
        }
    }
}

static void set_tolerance(struct sl_engine *g, sl_tree_id tree, const struct sl_json *tolerations,
                          int64_t now_ms)
{
    uint32_t tolerance = sl_masks_in_tolerance(g, tolerations, now_ms);
    struct sl_tree_entry *t = sl_world_tree(g, tree);
    if (tolerance != t->tolerance) {
        uint32_t old = t->tolerance;
        t->tolerance = tolerance;
        sl_expect(g, now_ms, tolerance, .tree = tree, .tolerance = tolerance);
        sl_masks_in_leave_tolerance(g, old, now_ms);
        sl_world_wake(g, tree, SL_TREE_MORE);
    }
}

void sl_trees_in_flavor(struct sl_engine *g, sl_flavor_id flavor, const struct sl_json *spec,
                        int64_t now_ms)
{
    SL_PRE(g != NULL);
    const char *topology =
        g->settings.policy.topology ? sl_json_path_text(spec, "topologyName", "") : "";
    const struct sl_json *labels = sl_json_get(spec, "nodeLabels");
    const struct sl_tree_entry *old = sl_world_find_tree(g, flavor);
    if (topology[0] == '\0' && old == NULL) {
        return;
    }
    struct sl_tree_entry *t = sl_world_tree(g, flavor);
    bool renamed = t->topology == NULL || strcmp(t->topology, topology) != 0;
    bool relabelled = !sl_json_equal(t->node_labels, labels);
    sl_json_free(t->node_labels);
    t->node_labels = sl_json_clone(labels);
    set_tolerance(g, flavor, sl_json_get(spec, "tolerations"), now_ms);
    if (renamed) {
        sl_mem_free(t->topology);
        t->topology = topology[0] == '\0' ? NULL : sl_mem_text(topology);
        sl_trees_in_lay_out(g, flavor, now_ms);
        rank_trees(g, now_ms);
    } else if (relabelled) {
        for_all_nodes(g, flavor, now_ms, sl_nodes_place);
        sl_areas_sweep(g);
    }
}
