/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topologies: their levels, for the trees of all flavors that name them. */
#include "base/mem.h"
#include "engine/records/event_in.h"
#include "engine/topology/trees_in.h"
#include "engine/records/world.h"
#include <string.h>

static bool levels_equal(const struct sl_topology_levels *a, const struct sl_topology_levels *b)
{
    return a->count == b->count && memcmp(a->levels, b->levels, a->count * sizeof *a->levels) == 0;
}

static enum sl_code read_levels(struct sl_engine *g, const struct sl_json *object,
                                struct sl_topology_levels *out, int64_t now_ms, struct sl_error *e)
{
    const struct sl_json *list = sl_json_path(object, "spec.levels");
    size_t count = sl_json_len(list);
    const char *key = "";
    if (count == 0 || count > SL_DEPTHS_MAX) {
        sl_error_cause(e, "FieldValueInvalid", "spec.levels", "must be from 1 to %u levels",
                       SL_DEPTHS_MAX);
        return SL_CODE_INVALID;
    }
    for (size_t i = 0; i < count; i++) {
        key = sl_json_path_text(sl_json_at(list, i), "nodeLabel", "");
        sl_level_id level = sl_name_take(g, SL_INTERN_LEVEL, key, now_ms);
        if (key[0] == '\0' || level == SL_NO_ID) {
            sl_error_cause(e, "FieldValueInvalid", "spec.levels",
                           key[0] == '\0' ? "nodeLabel must not be empty"
                                          : "more labels are used as levels than can be held");
            return SL_CODE_INVALID;
        }
        out->levels[out->count++] = level;
    }
    out->ends_at_nodes = strcmp(key, SL_HOST_LABEL) == 0;
    return SL_CODE_OK;
}

static void tell_trees(struct sl_engine *g, const char *topology, int64_t now_ms)
{
    for (sl_tree_id tree = 0; tree < g->world->tree_cap; tree++) {
        const struct sl_tree_entry *t = sl_world_find_tree(g, tree);
        if (t != NULL && strcmp(t->topology, topology) == 0) {
            sl_trees_in_lay_out(g, tree, now_ms);
            sl_event_flavor_users(g, tree, now_ms);
        }
    }
}

enum sl_code sl_event_from_topology(struct sl_engine *g, const struct sl_json *object, bool gone,
                                    int64_t now_ms, struct sl_error *e)
{
    struct sl_topology_levels fresh = {0};
    const char *name = sl_object_name(object);
    union sl_map_value value;
    enum sl_code code = gone ? SL_CODE_OK : read_levels(g, object, &fresh, now_ms, e);
    bool known = sl_map_get(g->world->topologies, name, &value);
    if (gone || code != SL_CODE_OK) {
        if (known) {
            (void)sl_map_remove(g->world->topologies, name, NULL);
            sl_mem_free(value.pointer);
            tell_trees(g, name, now_ms);
        }
        return code;
    }
    if (known && levels_equal(value.pointer, &fresh)) {
        return SL_CODE_OK;
    }
    struct sl_topology_levels *levels = known ? value.pointer : sl_mem_new(1, sizeof *levels);
    *levels = fresh;
    if (!known) {
        sl_map_put(g->world->topologies, name, (union sl_map_value){.pointer = levels});
    }
    tell_trees(g, name, now_ms);
    return SL_CODE_OK;
}
