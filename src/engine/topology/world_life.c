/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Opening and closing of what world.h describes. */
#include "base/mem.h"
#include "base/check.h"
#include "engine/topology/trees_in.h"
#include "engine/records/world.h"

/* Most pods ask for these; the first is SL_MEASURE_PODS. */
static const char *const first_measures[] = {"pods", "cpu", "memory"};

void sl_world_open(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    struct sl_world *w = sl_mem_new(1, sizeof *w);
    w->nodes = sl_map_new();
    w->pods = sl_map_new();
    w->topologies = sl_map_new();
    w->hosts = sl_map_new();
    w->checks = sl_map_new();
    w->masks = sl_mem_new(SL_MASKS_MAX, sizeof *w->masks);
    w->tolerance_count = 1;
    w->first_free_area = SL_NO_ID;
    g->world = w;
    for (size_t i = 0; i < sizeof first_measures / sizeof first_measures[0]; i++) {
        sl_resource_id resource = sl_name_take(g, SL_INTERN_RESOURCE, first_measures[i], 0);
        (void)sl_sites_measure(g, resource, 0);
    }
}

static void free_maps(struct sl_world *w)
{
    sl_map_free_with(w->topologies, sl_mem_free);
    sl_map_free(w->hosts);
    sl_map_free(w->checks);
    sl_pods_free(w);
    sl_nodes_free(w);
}

void sl_world_close(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    for (sl_tree_id tree = 0; tree < w->tree_cap; tree++) {
        sl_trees_in_flavor(g, tree, NULL, 0);
        sl_mem_free(w->trees[tree].tops.items);
    }
    free_maps(w);
    for (uint32_t i = 0; i < w->area_count; i++) {
        sl_mem_free(w->areas[i].value);
        sl_mem_free(w->areas[i].children.items);
    }
    for (uint32_t i = 0; i < w->site_count; i++) {
        sl_mem_free(w->sites[i].key);
        sl_amounts_fini(&w->sites[i].free);
    }
    for (uint32_t i = 0; i < SL_TAINTS_MAX; i++) {
        sl_mem_free(w->taints[i]);
    }
    for (uint32_t i = 1; i < w->tolerance_count; i++) {
        sl_json_free(w->tolerances[i]);
    }
    sl_mem_free(w->tolerances);
    sl_mem_free(w->trees);
    sl_mem_free(w->areas);
    sl_mem_free(w->relics);
    sl_mem_free(w->sites);
    sl_mem_free(w->masks);
    sl_mem_free(w);
    g->world = NULL;
}
