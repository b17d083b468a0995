/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topologies: their levels, for the trees of all flavors that name them. */
#include "base/mem.h"
#include "engine/records/event_in.h"
#include "engine/topology/trees_in.h"
#include "engine/records/world.h"
#include <string.h>

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
        out->of.ids[out->of.count++] = level;
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
    const char *name = sl_object_name(object);
    struct sl_topology_levels *old = sl_map_find(g->world->topologies, name);
    struct sl_topology_levels *fresh = sl_mem_new(1, sizeof *fresh);
    enum sl_code code = gone ? SL_CODE_OK : read_levels(g, object, fresh, now_ms, e);
    bool missing = gone || code != SL_CODE_OK;
    if (missing ? old == NULL : old != NULL && memcmp(&old->of, &fresh->of, sizeof old->of) == 0) {
        sl_mem_free(fresh);
        return code;
    }
    if (missing) {
        (void)sl_map_remove(g->world->topologies, name, NULL);
        sl_mem_free(fresh);
    } else {
        sl_map_put(g->world->topologies, name, (union sl_map_value){.pointer = fresh});
    }
    tell_trees(g, name, now_ms);
    sl_mem_free(old); /* each tree has used it until now */
    return code;
}
