/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Nodes: which trees they are in, where, and what is free on them. Most events of a Node are
 * heartbeats that change nothing of this; a change costs the depth of the trees that it
 * concerns. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/records/event_in.h"
#include "engine/records/masks_in.h"
#include "engine/records/names.h"
#include "engine/records/pod.h"
#include "engine/records/world.h"
#include <string.h>

struct sl_node_entry *sl_nodes_take(struct sl_engine *g, const char *name)
{
    SL_PRE(g != NULL);
    struct sl_node_entry *m = sl_map_find(g->world->nodes, name);
    if (m == NULL) {
        m = sl_mem_new(1, sizeof *m);
        m->name = sl_mem_text(name);
        sl_map_put(g->world->nodes, name, (union sl_map_value){.pointer = m});
    }
    return m;
}

static void free_node(void *value)
{
    struct sl_node_entry *m = value;
    sl_json_free(m->labels);
    sl_json_free(m->taints);
    sl_amounts_fini(&m->allocatable);
    sl_amounts_fini(&m->taken);
    sl_mem_free(m->domains);
    sl_mem_free(m->name);
    sl_mem_free(m);
}

void sl_nodes_drop_unused(struct sl_engine *g, struct sl_node_entry *m)
{
    if (!m->exists && m->pod_count == 0) {
        SL_ASSERT(m->domain_count == 0);
        (void)sl_map_remove(g->world->nodes, m->name, NULL);
        free_node(m);
    }
}

void sl_nodes_free(struct sl_world *w)
{
    SL_PRE(w != NULL);
    sl_map_free_with(w->nodes, free_node);
}

/* --- what is free ----------------------------------------------------------------------------- */

/* Is one of its first `count` domains there? A host stands in several trees. */
static bool on_site(const struct sl_node_entry *m, uint32_t count, sl_site_id site)
{
    for (uint32_t i = 0; i < count; i++) {
        if (sl_domain_site(m->domains[i]) == site) {
            return true;
        }
    }
    return false;
}

void sl_nodes_shift(struct sl_engine *g, struct sl_node_entry *m, const struct sl_amounts *amounts,
                    int sign, int64_t now_ms)
{
    SL_PRE(m != NULL);
    for (uint32_t i = 0; i < m->domain_count; i++) {
        sl_site_id site = sl_domain_site(m->domains[i]);
        if (!on_site(m, i, site)) {
            sl_sites_shift(g, site, amounts, sign, now_ms);
        }
    }
}

void sl_nodes_wake(struct sl_engine *g, const struct sl_node_entry *m, enum sl_tree_news news)
{
    SL_PRE(m != NULL);
    for (uint32_t i = 0; i < m->domain_count; i++) {
        sl_world_wake(g, sl_domain_tree(m->domains[i]), news);
    }
}

static struct sl_amounts free_of(const struct sl_node_entry *m)
{
    struct sl_amounts have = {0};
    sl_amounts_add_all(&have, &m->allocatable, 1);
    sl_amounts_add_all(&have, &m->taken, -1);
    return have;
}

/* --- where it stands -------------------------------------------------------------------------- */

/* Its values at the levels of the tree; false: it is not in it. */
static bool belongs(const struct sl_engine *g, const struct sl_node_entry *m,
                    const struct sl_tree_entry *t, const char *values[static SL_DEPTHS_MAX])
{
    if (t->levels == NULL || !m->exists || !m->usable ||
        !sl_pod_selector_holds(t->node_labels, m->labels, false)) {
        return false;
    }
    for (uint32_t i = 0; i < t->levels->of.count; i++) {
        const char *key = sl_intern_name(g->names, SL_INTERN_LEVEL, t->levels->of.ids[i]);
        const struct sl_json *label = sl_json_get(m->labels, key);
        if (label == NULL) {
            return false;
        }
        values[i] = sl_json_text(label, "");
    }
    return true;
}

/* Which of its domains is in that tree; SL_NO_ID = none. */
static uint32_t find_domain(const struct sl_node_entry *m, sl_tree_id tree)
{
    for (uint32_t i = 0; i < m->domain_count; i++) {
        if (sl_domain_tree(m->domains[i]) == tree) {
            return i;
        }
    }
    return SL_NO_ID;
}

static bool has_values(const struct sl_engine *g, sl_domain_id domain, uint32_t count,
                       const char *const *values)
{
    for (uint32_t depth = 0; depth < count; depth++) {
        if (strcmp(sl_names_value(g, sl_domain_above(domain, depth)), values[depth]) != 0) {
            return false;
        }
    }
    return true;
}

static void enter(struct sl_engine *g, struct sl_node_entry *m, sl_domain_id domain, int64_t now_ms)
{
    sl_site_id site = sl_domain_site(domain);
    struct sl_site_entry *s = &g->world->sites[site];
    bool counted = on_site(m, m->domain_count, site);
    m->domains = sl_mem_reach(m->domains, &m->domain_cap, 2, m->domain_count, sizeof *m->domains);
    m->domains[m->domain_count++] = domain;
    g->world->areas[domain].node_count++;
    if (counted) {
        return;
    }
    struct sl_amounts have = free_of(m);
    sl_sites_shift(g, site, &have, 1, now_ms);
    sl_amounts_fini(&have);
    if (s->key != NULL && s->node == NULL) {
        s->node = m;
        sl_masks_in_judge(g, site, now_ms);
    }
}

/* Another node of that name, in the rare case that there is one: its labels and taints count from
 * now on. Linear in nodes. */
static void inherit(struct sl_engine *g, sl_site_id site, const struct sl_node_entry *left,
                    int64_t now_ms)
{
    struct sl_site_entry *s = &g->world->sites[site];
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (s->node == NULL && sl_map_next(g->world->nodes, &cursor, &key, &value)) {
        struct sl_node_entry *m = value.pointer;
        s->node = m != left && on_site(m, m->domain_count, site) ? m : NULL;
    }
    if (s->node != NULL) {
        sl_masks_in_judge(g, site, now_ms);
    }
}

void sl_nodes_leave(struct sl_engine *g, struct sl_node_entry *m, sl_tree_id tree, int64_t now_ms)
{
    uint32_t at = find_domain(m, tree);
    if (at == SL_NO_ID) {
        return;
    }
    sl_domain_id domain = m->domains[at];
    sl_site_id site = sl_domain_site(domain);
    struct sl_site_entry *s = &g->world->sites[site];
    m->domains[at] = m->domains[--m->domain_count];
    if (!on_site(m, m->domain_count, site)) {
        struct sl_amounts have = free_of(m);
        sl_sites_shift(g, site, &have, -1, now_ms);
        sl_amounts_fini(&have);
        s->node = s->node == m ? NULL : s->node;
    }
    g->world->areas[domain].node_count--;
    bool others = s->area_count > 1 || g->world->areas[domain].node_count > 0;
    if (s->key != NULL && s->node == NULL && others) {
        inherit(g, site, m, now_ms);
    }
    sl_areas_close(g, domain, now_ms);
    sl_world_wake(g, tree, SL_TREE_LESS);
}

void sl_nodes_place(struct sl_engine *g, struct sl_node_entry *m, sl_tree_id tree, int64_t now_ms)
{
    const struct sl_tree_entry *t = sl_world_find_tree(g, tree);
    const char *values[SL_DEPTHS_MAX] = {0};
    uint32_t at = find_domain(m, tree);
    bool in = t != NULL && belongs(g, m, t, values);
    if (in && at != SL_NO_ID && has_values(g, m->domains[at], t->levels->of.count, values)) {
        return;
    }
    sl_nodes_leave(g, m, tree, now_ms);
    if (!in) {
        return;
    }
    sl_domain_id domain = sl_areas_open(g, tree, values, now_ms);
    if (domain != SL_NO_ID) {
        enter(g, m, domain, now_ms);
        sl_world_wake(g, tree, SL_TREE_MORE);
    }
}

static void place_everywhere(struct sl_engine *g, struct sl_node_entry *m, int64_t now_ms)
{
    for (sl_tree_id tree = 0; tree < g->world->tree_cap; tree++) {
        sl_nodes_place(g, m, tree, now_ms);
    }
}

/* --- events ----------------------------------------------------------------------------------- */

static enum sl_code read_allocatable(struct sl_engine *g, const struct sl_json *object,
                                     struct sl_amounts *out, int64_t now_ms, struct sl_error *e)
{
    const struct sl_json *list = sl_json_path(object, "status.allocatable");
    enum sl_code code = SL_CODE_OK;
    void *it = NULL;
    const char *resource;
    struct sl_json *value;
    while (sl_json_next(list, &it, &resource, &value)) {
        struct sl_quantity q;
        struct sl_error why = {0};
        sl_resource_id id = sl_name_take(g, SL_INTERN_RESOURCE, resource, now_ms);
        if (sl_quantity_read(value, &q, &why) != SL_CODE_OK || q.nano < 0) {
            sl_error_cause(e, "FieldValueInvalid", "status.allocatable",
                           "%s is not a quantity of zero or more", resource);
            code = SL_CODE_INVALID;
        } else if (id != SL_NO_ID) {
            sl_amounts_add(out, id, sl_quantity_amount(q, resource));
        }
    }
    return code;
}

static void take_allocatable(struct sl_engine *g, struct sl_node_entry *m, struct sl_amounts *fresh,
                             int64_t now_ms)
{
    struct sl_amounts more = {0};
    if (sl_amounts_equal(&m->allocatable, fresh)) {
        sl_amounts_fini(fresh);
        return;
    }
    sl_amounts_add_all(&more, fresh, 1);
    sl_amounts_add_all(&more, &m->allocatable, -1);
    sl_nodes_shift(g, m, &more, 1, now_ms);
    sl_amounts_fini(&more);
    sl_amounts_fini(&m->allocatable);
    m->allocatable = *fresh;
    sl_nodes_wake(g, m, SL_TREE_MORE);
}

/* Keep a copy; true when it is another. */
static bool replace(struct sl_json **known, const struct sl_json *fresh)
{
    if ((sl_json_len(*known) == 0 && sl_json_len(fresh) == 0) || sl_json_equal(*known, fresh)) {
        return false;
    }
    sl_json_free(*known);
    *known = sl_json_clone(fresh);
    return true;
}

static void judge_again(struct sl_engine *g, const struct sl_node_entry *m, int64_t now_ms)
{
    for (uint32_t i = 0; i < m->domain_count; i++) {
        sl_site_id site = sl_domain_site(m->domains[i]);
        if (g->world->sites[site].node == m && !on_site(m, i, site)) {
            sl_masks_in_judge(g, site, now_ms);
        }
    }
    sl_nodes_wake(g, m, SL_TREE_MORE);
}

static void node_gone(struct sl_engine *g, const char *name, int64_t now_ms)
{
    struct sl_node_entry *m = sl_map_find(g->world->nodes, name);
    if (m == NULL) {
        return;
    }
    m->exists = false;
    place_everywhere(g, m, now_ms);
    sl_areas_sweep(g);
    sl_amounts_fini(&m->allocatable);
    sl_nodes_drop_unused(g, m);
}

enum sl_code sl_event_from_node(struct sl_engine *g, const struct sl_json *object, bool gone,
                                int64_t now_ms, struct sl_error *e)
{
    const char *name = sl_object_name(object);
    if (gone) {
        node_gone(g, name, now_ms);
        return SL_CODE_OK;
    }
    struct sl_amounts fresh = {0};
    struct sl_node_entry *m = sl_nodes_take(g, name);
    bool usable = sl_condition_true(object, "Ready") &&
                  !sl_json_path_bool(object, "spec.unschedulable", false);
    enum sl_code code = read_allocatable(g, object, &fresh, now_ms, e);
    bool relabelled = replace(&m->labels, sl_json_path(object, "metadata.labels"));
    bool retainted = replace(&m->taints, sl_json_path(object, "spec.taints"));
    bool moved = relabelled || !m->exists || usable != m->usable;
    m->exists = true;
    m->usable = usable;
    take_allocatable(g, m, &fresh, now_ms);
    if (moved) {
        place_everywhere(g, m, now_ms);
        sl_areas_sweep(g);
    }
    if (relabelled || retainted) {
        judge_again(g, m, now_ms);
    }
    return code;
}
