/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Domains by their values. A domain that is closed while workloads stand on it becomes a relic: it
 * keeps its number and its place among its siblings until they are gone or its value comes back. */
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/records/world.h"
#include <string.h>

/* --- siblings --------------------------------------------------------------------------------- */

static struct sl_siblings *siblings_of(const struct sl_world *w, sl_tree_id tree,
                                       sl_domain_id parent)
{
    return parent == SL_NO_ID ? &w->trees[tree].tops : &w->areas[parent].children;
}

/* Where the value stands, or would. */
static uint32_t search(const struct sl_world *w, const struct sl_siblings *s, const char *value,
                       bool *found)
{
    uint32_t low = 0;
    uint32_t high = s->count;
    *found = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(w->areas[s->items[middle]].value, value);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

sl_domain_id sl_areas_find(const struct sl_engine *g, sl_tree_id tree, sl_domain_id parent,
                           const char *value)
{
    const struct sl_siblings *s = siblings_of(g->world, tree, parent);
    bool found;
    uint32_t at = search(g->world, s, value, &found);
    return found && s->items != NULL ? s->items[at] : SL_NO_ID;
}

static void insert(struct sl_siblings *s, uint32_t at, sl_domain_id domain)
{
    s->items = sl_mem_reach(s->items, &s->cap, 4, s->count, sizeof *s->items);
    memmove(s->items + at + 1, s->items + at, (s->count - at) * sizeof *s->items);
    s->items[at] = domain;
    s->count++;
}

static void take_out(const struct sl_world *w, struct sl_siblings *s, sl_domain_id domain)
{
    bool found;
    uint32_t at = search(w, s, w->areas[domain].value, &found);
    if (found && s->items[at] == domain) {
        s->count--;
        memmove(s->items + at, s->items + at + 1, (s->count - at) * sizeof *s->items);
    }
}

/* --- numbers ---------------------------------------------------------------------------------- */

static sl_domain_id take_number(struct sl_world *w)
{
    sl_domain_id domain = w->first_free_area;
    if (domain != SL_NO_ID) {
        w->first_free_area = w->areas[domain].parent;
        return domain;
    }
    if (w->area_count == SL_DOMAINS_MAX) {
        return SL_NO_ID;
    }
    w->areas = sl_mem_reach(w->areas, &w->area_cap, 64, w->area_count, sizeof *w->areas);
    return w->area_count++;
}

static void give_number(struct sl_engine *g, sl_domain_id domain)
{
    struct sl_world *w = g->world;
    struct sl_area *a = &w->areas[domain];
    if (a->parent == SL_NO_ID || w->areas[a->parent].value != NULL) {
        take_out(w, siblings_of(w, a->tree, a->parent), domain);
    }
    if (a->site != SL_NO_ID && --w->sites[a->site].area_count == 0) {
        sl_sites_drop(g, a->site);
    }
    sl_mem_free(a->value);
    sl_mem_free(a->children.items);
    *a = (struct sl_area){.parent = w->first_free_area, .site = SL_NO_ID};
    w->first_free_area = domain;
}

static void note_closed(struct sl_world *w, sl_domain_id domain)
{
    w->relics = sl_mem_reach(w->relics, &w->relic_cap, 16, w->relic_count, sizeof *w->relics);
    w->relics[w->relic_count++] = domain;
}

/* --- opening ---------------------------------------------------------------------------------- */

static sl_domain_id make(struct sl_engine *g, sl_tree_id tree, sl_domain_id parent,
                         const char *value, sl_site_id site)
{
    struct sl_world *w = g->world;
    sl_domain_id domain = take_number(w);
    bool found;
    if (domain == SL_NO_ID) {
        if (site != SL_NO_ID && w->sites[site].area_count == 0) {
            sl_sites_drop(g, site);
        }
        return SL_NO_ID;
    }
    w->areas[domain] =
        (struct sl_area){.tree = tree, .parent = parent, .site = site, .value = sl_mem_text(value)};
    struct sl_siblings *s = siblings_of(w, tree, parent);
    insert(s, search(w, s, value, &found), domain);
    if (site != SL_NO_ID) {
        w->sites[site].area_count++;
    }
    return domain;
}

/* Behind the shown sibling before it. */
static bool show(struct sl_engine *g, sl_domain_id domain, int64_t now_ms)
{
    const struct sl_area *a = &g->world->areas[domain];
    const struct sl_siblings *s = siblings_of(g->world, a->tree, a->parent);
    bool found;
    uint32_t at = search(g->world, s, a->value, &found);
    while (at > 0 && !sl_trees_shows(s->items[at - 1])) {
        at--;
    }
    return sl_call(g, now_ms, open_domain, .domain = domain, .tree = a->tree, .parent = a->parent,
                   .before = at > 0 ? s->items[at - 1] : SL_NO_ID, .site = a->site) == SL_OK;
}

/* Its child of that value, shown. */
static sl_domain_id open_child(struct sl_engine *g, sl_tree_id tree, sl_domain_id parent,
                               const char *value, bool bottom, int64_t now_ms)
{
    sl_domain_id domain = sl_areas_find(g, tree, parent, value);
    if (domain == SL_NO_ID) {
        sl_site_id site = SL_NO_ID;
        if (bottom) {
            site = sl_sites_take(g, tree, sl_trees_ends_at_nodes(tree) ? value : NULL);
            if (site == SL_NO_ID) {
                return SL_NO_ID;
            }
        }
        domain = make(g, tree, parent, value, site);
    }
    if (domain != SL_NO_ID && !sl_trees_shows(domain) && !show(g, domain, now_ms)) {
        note_closed(g->world, domain); /* to be swept */
        return SL_NO_ID;
    }
    return domain;
}

/* A host has one place in a tree: one that it stood at before, and that was only opened again for
 * those who stand there, makes room. */
static void clear_host(struct sl_engine *g, sl_tree_id tree, const char *host, int64_t now_ms)
{
    sl_site_id site = sl_sites_find(g, tree, host);
    sl_domain_id other = site == SL_NO_ID ? SL_NO_ID : sl_trees_domain_on(tree, site);
    if (other != SL_NO_ID && g->world->areas[other].node_count == 0) {
        sl_areas_close(g, other, now_ms);
    }
}

sl_domain_id sl_areas_open(struct sl_engine *g, sl_tree_id tree, const char *const *values,
                           int64_t now_ms)
{
    const struct sl_tree_entry *t = sl_world_find_tree(g, tree);
    sl_domain_id domain = SL_NO_ID;
    SL_PRE(t != NULL && t->levels != NULL);
    uint32_t count = t->levels->of.count;
    if (t->levels->ends_at_nodes) {
        clear_host(g, tree, values[count - 1], now_ms);
    }
    for (uint32_t depth = 0; depth < count; depth++) {
        sl_domain_id child = open_child(g, tree, domain, values[depth], depth + 1 == count, now_ms);
        if (child == SL_NO_ID) {
            if (domain != SL_NO_ID) {
                sl_areas_close(g, domain, now_ms);
            }
            return SL_NO_ID;
        }
        domain = child;
    }
    return domain;
}

/* --- closing ---------------------------------------------------------------------------------- */

void sl_areas_close(struct sl_engine *g, sl_domain_id domain, int64_t now_ms)
{
    SL_PRE(g != NULL);
    while (sl_trees_shows(domain) && sl_trees_first_child(domain) == SL_NO_ID &&
           g->world->areas[domain].node_count == 0) {
        sl_expect(g, now_ms, close_domain, .domain = domain);
        note_closed(g->world, domain);
        domain = g->world->areas[domain].parent;
    }
}

void sl_areas_sweep(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->relic_count; i++) {
        sl_domain_id domain = w->relics[i];
        if (sl_trees_shows(domain)) {
            continue; /* back again */
        }
        if (sl_domain_is_open(domain)) {
            w->relics[kept++] = domain;
        } else if (w->areas[domain].value != NULL) {
            give_number(g, domain);
        }
    }
    w->relic_count = kept;
}

void sl_areas_cut(struct sl_engine *g, sl_tree_id tree)
{
    SL_PRE(sl_trees_first_top(tree) == SL_NO_ID);
    sl_world_tree(g, tree)->tops.count = 0;
    sl_areas_sweep(g);
}
