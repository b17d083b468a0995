/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Looks up what world.h holds. */
#include "engine/records/names.h"
#include "base/check.h"
#include "engine/records/world.h"
#include <string.h>

/* --- hosts ------------------------------------------------------------------------------------ */

const char *sl_names_host(const struct sl_engine *g, sl_site_id site)
{
    SL_PRE(g != NULL);
    const struct sl_world *w = g->world;
    bool host = site < w->site_count && w->sites[site].key != NULL;
    return host ? w->sites[site].key + w->sites[site].host_at : "";
}

sl_site_id sl_names_find_host_in(const struct sl_engine *g, sl_tree_id tree, const char *host)
{
    return sl_world_find_tree(g, tree) == NULL ? SL_NO_ID : sl_sites_find(g, tree, host);
}

/* --- trees and levels ------------------------------------------------------------------------- */

uint32_t sl_names_level_count(const struct sl_engine *g, sl_tree_id tree)
{
    const struct sl_tree_entry *t = sl_world_find_tree(g, tree);
    return t != NULL && t->levels != NULL ? t->levels->of.count : 0;
}

const char *sl_names_level_key(const struct sl_engine *g, uint32_t level)
{
    SL_PRE(g != NULL);
    const char *key = sl_intern_name(g->names, SL_INTERN_LEVEL, level);
    return key == NULL ? "" : key;
}

const char *sl_names_level(const struct sl_engine *g, sl_tree_id tree, uint32_t depth)
{
    return depth < sl_names_level_count(g, tree)
               ? sl_names_level_key(g, sl_world_find_tree(g, tree)->levels->of.ids[depth])
               : "";
}

const char *sl_names_topology(const struct sl_engine *g, sl_tree_id tree)
{
    const struct sl_tree_entry *t = sl_world_find_tree(g, tree);
    return t == NULL ? "" : t->topology;
}

/* --- domains ---------------------------------------------------------------------------------- */

const char *sl_names_value(const struct sl_engine *g, sl_domain_id domain)
{
    SL_PRE(g != NULL);
    const struct sl_world *w = g->world;
    return domain < w->area_count && w->areas[domain].value != NULL ? w->areas[domain].value : "";
}

/* A host stands in the tree where it is shown, or else where a workload still stands on it. */
static sl_domain_id find_host_domain(const struct sl_engine *g, sl_tree_id tree, const char *host)
{
    sl_site_id site = sl_sites_find(g, tree, host);
    sl_domain_id domain = site == SL_NO_ID ? SL_NO_ID : sl_trees_domain_on(tree, site);
    for (uint32_t i = 0; domain == SL_NO_ID && site != SL_NO_ID && i < g->world->relic_count; i++) {
        const struct sl_area *a = &g->world->areas[g->world->relics[i]];
        if (a->value != NULL && a->tree == tree && a->site == site) {
            domain = g->world->relics[i];
        }
    }
    return domain;
}

sl_domain_id sl_names_find_domain(const struct sl_engine *g, sl_tree_id tree,
                                  const char *const *values, uint32_t count)
{
    const struct sl_tree_entry *t = sl_world_find_tree(g, tree);
    sl_domain_id domain = SL_NO_ID;
    if (t == NULL || t->levels == NULL || count == 0) {
        return SL_NO_ID;
    }
    if (t->levels->ends_at_nodes) {
        return find_host_domain(g, tree, values[count - 1]);
    }
    for (uint32_t depth = 0; depth < count; depth++) {
        domain = sl_areas_find(g, tree, domain, values[depth]);
        if (domain == SL_NO_ID) {
            return SL_NO_ID;
        }
    }
    return count == t->levels->of.count ? domain : SL_NO_ID;
}

/* The values of a domain that is not shown, from the top; false: they are not those of its tree any
 * more. */
static bool path_of(const struct sl_engine *g, uint32_t depth, sl_domain_id domain,
                    const char *values[static SL_DEPTHS_MAX])
{
    while (domain != SL_NO_ID && depth > 0) {
        values[--depth] = g->world->areas[domain].value;
        domain = g->world->areas[domain].parent;
    }
    return domain == SL_NO_ID && depth == 0;
}

sl_domain_id sl_names_take_domain(struct sl_engine *g, sl_tree_id tree, const char *const *values,
                                  uint32_t count, int64_t now_ms)
{
    uint32_t level_count = sl_names_level_count(g, tree);
    const char *all[SL_DEPTHS_MAX];
    sl_domain_id domain = sl_names_find_domain(g, tree, values, count);
    if (sl_trees_shows(domain)) {
        return domain;
    }
    if (count == 0 || count > level_count) {
        return SL_NO_ID;
    }
    /* One that is hidden is shown until it is settled: else it may go before anybody stands
     * there. */
    if (domain == SL_NO_ID || !path_of(g, level_count, domain, all)) {
        uint32_t given = level_count - count; /* what is above it is not said */
        for (uint32_t depth = 0; depth < level_count; depth++) {
            all[depth] = depth < given ? "" : values[depth - given];
        }
    }
    return sl_areas_open(g, tree, all, now_ms);
}

void sl_names_settle_domains(struct sl_engine *g, const sl_domain_id *domains, uint32_t count,
                             int64_t now_ms)
{
    for (uint32_t i = 0; i < count; i++) {
        sl_areas_close(g, domains[i], now_ms);
    }
    sl_areas_sweep(g);
}

/* --- measures and taints ---------------------------------------------------------------------- */

const char *sl_names_measure(const struct sl_engine *g, sl_measure_id measure)
{
    SL_PRE(g != NULL);
    const struct sl_world *w = g->world;
    const char *name = measure < w->measure_count
                           ? sl_intern_name(g->names, SL_INTERN_RESOURCE, w->measures[measure])
                           : NULL;
    return name == NULL ? "" : name;
}

const char *sl_names_taint(const struct sl_engine *g, uint32_t taint)
{
    const char *text = taint < SL_TAINTS_MAX ? g->world->taints[taint] : NULL;
    return text == NULL ? "" : text;
}
