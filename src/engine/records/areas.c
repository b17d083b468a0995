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

struct siblings {
    uint32_t *count;
    uint32_t *cap;
    sl_domain_id **items;
};

static struct siblings siblings_of(struct sl_engine *g, sl_tree_id tree, sl_domain_id parent)
{
    if (parent == SL_NO_ID) {
        struct sl_tree_entry *t = sl_world_tree(g, tree);
        return (struct siblings){&t->top_count, &t->top_cap, &t->tops};
    }
    struct sl_area *a = &g->world->areas[parent];
    return (struct siblings){&a->child_count, &a->child_cap, &a->children};
}

/* Where the value stands, or would. */
static uint32_t search(const struct sl_world *w, const sl_domain_id *items, uint32_t count,
                       const char *value, bool *found)
{
    uint32_t low = 0;
    uint32_t high = count;
    *found = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(w->areas[items[middle]].value, value);
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
    const struct sl_tree_entry *t = sl_world_find_tree(g, tree);
    bool found = false;
    if (t == NULL) {
        return SL_NO_ID;
    }
    const struct sl_area *a = parent == SL_NO_ID ? NULL : &g->world->areas[parent];
    const sl_domain_id *items = a == NULL ? t->tops : a->children;
    uint32_t at = search(g->world, items, a == NULL ? t->top_count : a->child_count, value, &found);
    return found ? items[at] : SL_NO_ID;
}

static void insert(struct siblings s, uint32_t at, sl_domain_id domain)
{
    if (*s.count == *s.cap) {
        *s.cap = *s.cap == 0 ? 4 : *s.cap * 2;
        *s.items = sl_mem_grow(*s.items, *s.cap, sizeof **s.items);
    }
    memmove(*s.items + at + 1, *s.items + at, (*s.count - at) * sizeof **s.items);
    (*s.items)[at] = domain;
    (*s.count)++;
}

static void take_out(const struct sl_world *w, struct siblings s, sl_domain_id domain)
{
    bool found;
    uint32_t at = search(w, *s.items, *s.count, w->areas[domain].value, &found);
    if (found && (*s.items)[at] == domain) {
        (*s.count)--;
        memmove(*s.items + at, *s.items + at + 1, (*s.count - at) * sizeof **s.items);
    }
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void push(sl_domain_id **items, uint32_t *count, uint32_t *cap, sl_domain_id domain)
{
    if (*count == *cap) {
        *cap = *cap == 0 ? 16 : *cap * 2;
        *items = sl_mem_grow(*items, *cap, sizeof **items);
    }
    (*items)[(*count)++] = domain;
}

static sl_domain_id take_number(struct sl_world *w)
{
    if (w->free_area_count > 0) {
        return w->free_areas[--w->free_area_count];
    }
    if (w->area_count == SL_DOMAINS_MAX) {
        return SL_NO_ID;
    }
    if (w->area_count == w->area_cap) {
        w->area_cap = w->area_cap == 0 ? 64 : w->area_cap * 2;
        w->areas = sl_mem_grow(w->areas, w->area_cap, sizeof *w->areas);
    }
    return w->area_count++;
}

static void give_number(struct sl_engine *g, sl_domain_id domain)
{
    struct sl_world *w = g->world;
    struct sl_area *a = &w->areas[domain];
    if (a->parent == SL_NO_ID || w->areas[a->parent].value != NULL) {
        take_out(w, siblings_of(g, a->tree, a->parent), domain);
    }
    for (uint32_t i = 0; i < a->child_count; i++) {
        w->areas[a->children[i]].parent = SL_NO_ID;
    }
    if (a->site != SL_NO_ID && --w->sites[a->site].area_count == 0) {
        sl_sites_drop(g, a->site);
    }
    sl_mem_free(a->value);
    sl_mem_free(a->children);
    *a = (struct sl_area){.parent = SL_NO_ID, .site = SL_NO_ID};
    push(&w->free_areas, &w->free_area_count, &w->free_area_cap, domain);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The shown sibling before that place. */
static sl_domain_id shown_before(const struct sl_world *w, struct siblings s, uint32_t at)
{
    while (at > 0) {
        if (w->areas[(*s.items)[at - 1]].shown) {
            return (*s.items)[at - 1];
        }
        at--;
    }
    return SL_NO_ID;
}

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
    struct siblings s = siblings_of(g, tree, parent);
    insert(s, search(w, *s.items, *s.count, value, &found), domain);
    if (site != SL_NO_ID) {
        w->sites[site].area_count++;
    }
    return domain;
}

static bool show(struct sl_engine *g, sl_domain_id domain, int64_t now_ms)
{
    struct sl_world *w = g->world;
    struct sl_area *a = &w->areas[domain];
    struct siblings s = siblings_of(g, a->tree, a->parent);
    bool found;
    uint32_t at = search(w, *s.items, *s.count, a->value, &found);
    if (sl_call(g, now_ms, open_domain, .domain = domain, .tree = a->tree, .parent = a->parent,
                .before = shown_before(w, s, at), .site = a->site) != SL_OK) {
        return false;
    }
    a->shown = true;
    if (a->parent != SL_NO_ID) {
        w->areas[a->parent].shown_count++;
    }
    return true;
}

/* Its child of that value, shown. */
static sl_domain_id open_child(struct sl_engine *g, sl_tree_id tree, sl_domain_id parent,
                               const char *value, bool bottom, int64_t now_ms)
{
    const struct sl_tree_entry *t = sl_world_find_tree(g, tree);
    sl_domain_id domain = sl_areas_find(g, tree, parent, value);
    if (domain == SL_NO_ID) {
        sl_site_id site = SL_NO_ID;
        if (bottom) {
            site = sl_sites_take(g, tree, t->ends_at_nodes ? value : NULL);
            if (site == SL_NO_ID) {
                return SL_NO_ID;
            }
        }
        domain = make(g, tree, parent, value, site);
    }
    if (domain != SL_NO_ID && !g->world->areas[domain].shown && !show(g, domain, now_ms)) {
        struct sl_world *w = g->world;
        push(&w->relics, &w->relic_count, &w->relic_cap, domain); /* to be swept */
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
    SL_PRE(t != NULL && t->level_count > 0);
    uint32_t count = t->level_count;
    if (t->ends_at_nodes) {
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

static void hide(struct sl_engine *g, sl_domain_id domain, int64_t now_ms)
{
    struct sl_world *w = g->world;
    struct sl_area *a = &w->areas[domain];
    enum sl_status status = sl_call(g, now_ms, close_domain, .domain = domain);
    SL_ASSERT(status == SL_OK);
    a->shown = false;
    if (a->parent != SL_NO_ID) {
        w->areas[a->parent].shown_count--;
    }
    push(&w->relics, &w->relic_count, &w->relic_cap, domain);
}

void sl_areas_close(struct sl_engine *g, sl_domain_id domain, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    while (domain != SL_NO_ID && w->areas[domain].shown && w->areas[domain].shown_count == 0 &&
           w->areas[domain].node_count == 0) {
        sl_domain_id parent = w->areas[domain].parent;
        hide(g, domain, now_ms);
        domain = parent;
    }
}

void sl_areas_sweep(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->relic_count; i++) {
        sl_domain_id domain = w->relics[i];
        struct sl_area *a = &w->areas[domain];
        if (a->value == NULL || a->shown) {
            continue; /* back again */
        }
        if (sl_domain_is_open(domain)) {
            w->relics[kept++] = domain;
        } else {
            give_number(g, domain);
        }
    }
    w->relic_count = kept;
}

/* As deep as a tree can be. */
static void cut_below(struct sl_engine *g, sl_domain_id domain, int64_t now_ms)
{
    struct sl_world *w = g->world;
    for (uint32_t i = 0; i < w->areas[domain].child_count; i++) {
        cut_below(g, w->areas[domain].children[i], now_ms);
    }
    w->areas[domain].child_count = 0;
    w->areas[domain].node_count = 0;
    if (w->areas[domain].shown) {
        hide(g, domain, now_ms);
    }
}

void sl_areas_cut(struct sl_engine *g, sl_tree_id tree, int64_t now_ms)
{
    struct sl_tree_entry *t = sl_world_tree(g, tree);
    for (uint32_t i = 0; i < t->top_count; i++) {
        cut_below(g, t->tops[i], now_ms);
    }
    t->top_count = 0;
    sl_areas_sweep(g);
}
