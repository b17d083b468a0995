/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A pod takes of a node what its spec requests, whatever of it counts for quota. Where the settings
 * leave quota as the spec has it, the workload's own requests say it. */
#include "engine/topology/topology_in.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/records/masks_in.h"
#include "engine/records/names.h"
#include "engine/records/world.h"

static sl_level_id level_of(struct sl_engine *g, const char *key, int64_t now_ms)
{
    return key[0] == '\0' ? SL_NO_ID : sl_name_take(g, SL_INTERN_LEVEL, key, now_ms);
}

static void take_layer(struct sl_engine *g, struct sl_topology_ask *ask, const char *key,
                       int64_t size, int64_t now_ms)
{
    if (ask->layer_count < SL_LAYERS_MAX) {
        ask->layers[ask->layer_count].level = level_of(g, key, now_ms);
        ask->layers[ask->layer_count].size = size <= 0 || size > INT32_MAX ? 0 : (uint32_t)size;
        ask->layer_count++;
    }
}

static void take_layers(struct sl_engine *g, struct sl_topology_ask *ask,
                        const struct sl_json *request, int64_t now_ms)
{
    const struct sl_json *list = sl_json_get(request, "podsetSliceRequiredTopologyConstraints");
    const char *key = sl_json_path_text(request, "podSetSliceRequiredTopology", "");
    int64_t size = sl_json_path_int(request, "podSetSliceSize", 0);
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *item = sl_json_at(list, i);
        take_layer(g, ask, sl_json_path_text(item, "topology", ""),
                   sl_json_path_int(item, "size", 0), now_ms);
    }
    if (ask->layer_count == 0 && key[0] != '\0') {
        take_layer(g, ask, key, size, now_ms);
    }
    ask->asked = ask->layer_count > 0 || sl_json_has(request, "podSetSliceSize");
}

void sl_topology_in_take(struct sl_engine *g, struct sl_pod_set *set, const struct sl_json *item,
                         int64_t now_ms)
{
    const struct sl_json *request = sl_json_get(item, "topologyRequest");
    const char *required = sl_json_path_text(request, "required", "");
    const char *preferred = sl_json_path_text(request, "preferred", "");
    if (sl_json_len(request) == 0) {
        return;
    }
    set->ask = sl_mem_new(1, sizeof *set->ask);
    set->ask->level = SL_NO_ID;
    take_layers(g, set->ask, request, now_ms);
    if (required[0] != '\0') {
        set->ask->together = SL_TOGETHER_REQUIRED;
        set->ask->level = level_of(g, required, now_ms);
    } else if (preferred[0] != '\0') {
        set->ask->together = SL_TOGETHER_PREFERRED;
        set->ask->level = level_of(g, preferred, now_ms);
    } else if (sl_json_path_bool(request, "unconstrained", false)) {
        set->ask->together = SL_TOGETHER_UNCONSTRAINED;
    }
    set->ask->asked = set->ask->asked || set->ask->together != SL_TOGETHER_UNASKED ||
                      sl_json_has(request, "unconstrained");
}

void sl_topology_in_release(struct sl_pod_set *set)
{
    SL_PRE(set != NULL);
    sl_mem_free(set->ask);
    sl_amounts_fini(&set->amounts);
}

/* --- the requests ----------------------------------------------------------------------------- */

static bool offers_topology(const struct sl_engine *g, const struct sl_quotas *offered)
{
    for (uint32_t i = 0; i < offered->group_count; i++) {
        for (uint32_t f = 0; f < offered->groups[i].flavor_count; f++) {
            if (sl_world_find_tree(g, offered->groups[i].flavors[f]) != NULL) {
                return true;
            }
        }
    }
    return false;
}

static void keep_amounts(struct sl_pod_set *set, const struct sl_requests *r)
{
    sl_amounts_fini(&set->amounts);
    for (uint32_t i = 0; i < r->spec_count; i++) {
        sl_amounts_add(&set->amounts, r->spec[i].resource, r->spec[i].per_pod);
    }
}

static bool add_request(struct sl_engine *g, struct sl_topology_request *d, sl_resource_id resource,
                        int64_t per_pod)
{
    sl_measure_id measure = sl_sites_measure(g, resource, g->now_ms);
    if (measure == SL_NO_ID || per_pod < 0 || per_pod > SL_AMOUNT_MAX) {
        return false;
    }
    if (measure != SL_MEASURE_PODS && per_pod > 0) {
        d->requests[d->request_count++] = (struct sl_measure_amount){measure, per_pod};
    }
    return true;
}

static bool add_requests(struct sl_engine *g, const struct sl_pod_set *set,
                         const struct sl_requests *r, struct sl_topology_request *d)
{
    bool ok = true;
    if (set->amounts.count > 0) {
        for (uint32_t i = 0; i < set->amounts.count && ok; i++) {
            sl_resource_id resource = set->amounts.items[i].resource;
            ok = add_request(g, d, resource, sl_amounts_get(&set->amounts, resource));
        }
        return ok;
    }
    for (uint32_t i = 0; i < r->count && ok; i++) {
        ok = add_request(g, d, r->items[i].resource, r->items[i].per_pod);
    }
    return ok;
}

static struct sl_topology_request start_requests(const struct sl_pod_set *set, uint32_t group)
{
    const struct sl_topology_ask *ask = set->ask;
    struct sl_topology_request d = {
        .level = SL_NO_ID, .rank_group = group, .elastic = set->elastic};
    if (ask != NULL) {
        d.together = (enum sl_together)ask->together;
        d.level = ask->level;
        d.asked = ask->asked;
        d.layer_count = ask->layer_count;
        for (uint32_t i = 0; i < ask->layer_count; i++) {
            d.layers[i].level = ask->layers[i].level;
            d.layers[i].size = ask->layers[i].size;
        }
    }
    return d;
}

static void list_topology(struct sl_buf *list, const struct sl_topology_request *d)
{
    for (uint32_t i = 0; i < d->layer_count; i++) {
        sl_item_add(list, layer, .level = d->layers[i].level, .size = d->layers[i].size);
    }
    for (uint32_t i = 0; i < d->request_count; i++) {
        sl_item_add(list, need, .measure = d->requests[i].measure,
                    .per_pod = d->requests[i].per_pod);
    }
    sl_item_add(list, topology, .together = d->together, .level = d->level, .asked = d->asked,
                .elastic = d->elastic, .mask = d->mask, .rank_group = d->rank_group);
}

bool sl_topology_in_list(struct sl_engine *g, struct sl_pod_set *set,
                         const struct sl_requests *requests, const struct sl_quotas *offered,
                         struct sl_buf *list)
{
    SL_PRE(requests != NULL);
    if (requests->spec_count > 0) {
        keep_amounts(set, requests);
    }
    bool asked = set->ask != NULL && set->ask->asked;
    /* who has its quota and waits for its place may be in a queue that offers no topology any more */
    bool offered_once = set->placed || offers_topology(g, offered);
    set->placed = g->settings.policy.topology && (asked || offered_once);
    if (!set->placed) {
        return true;
    }
    struct sl_topology_request d = start_requests(set, requests->group);
    uint32_t constraint = set->refined != 0 ? set->refined : set->constraint;
    d.mask = sl_masks_in_take(g, constraint, g->now_ms);
    if (d.mask == SL_NO_ID || !add_requests(g, set, requests, &d)) {
        return false;
    }
    list_topology(list, &d);
    return true;
}
