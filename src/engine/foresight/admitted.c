/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/foresight/admitted.h"
#include "base/check.h"
#include "engine/foresight.h"
#include "engine/topology/topology_out.h"

static struct sl_json *pod_set_new(const struct sl_engine *g, sl_workload_id id, uint32_t pod_set)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    struct sl_json *item = sl_json_new_map();
    struct sl_json *flavors = sl_json_new_map();
    if (pod_set < e->pod_set_count) {
        sl_json_set_text(item, "name", e->pod_sets[pod_set].name);
    }
    sl_json_set_int(item, "count", e->admission->counts[pod_set]);
    for (uint32_t i = 0; i < e->admission->choice_count; i++) {
        const struct sl_choice *c = &e->admission->choices[i];
        if (c->pod_set == pod_set) {
            sl_json_set_text(flavors, sl_intern_name(g->names, SL_INTERN_RESOURCE, c->resource),
                             sl_intern_name(g->names, SL_INTERN_FLAVOR, c->flavor));
        }
    }
    sl_json_set_filled(item, "flavors", flavors);
    sl_topology_out_write(g, id, pod_set, item);
    return item;
}

struct sl_json *sl_admitted_pod_sets_new(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL && id < g->workload_cap);
    const struct sl_admission *a = g->workloads[id].admission;
    if (a == NULL) {
        return NULL;
    }
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < a->pod_set_count; i++) {
        sl_json_append(list, pod_set_new(g, id, i));
    }
    return list;
}

bool sl_engine_admitted(const struct sl_engine *g, const char *key, int64_t *admitted_ms)
{
    SL_PRE(g != NULL && key != NULL && admitted_ms != NULL);
    sl_workload_id id = sl_intern_find(g->names, SL_INTERN_WORKLOAD, key);
    if (id == SL_NO_ID || g->workloads[id].uid == NULL) {
        return false;
    }
    *admitted_ms = sl_workloads[id].admitted_at_ms;
    return true;
}
