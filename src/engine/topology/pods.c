/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods that no topology workload owns (daemons, pods of queues without topology, others' pods):
 * what they request of the node they are bound to is not free there, until they have ended. */
#include "base/mem.h"
#include "base/check.h"
#include "engine/records/event_in.h"
#include "engine/records/pod.h"
#include "engine/records/world.h"
#include "api/objects/quantity.h"
#include "api/validate/topology_request.h"
#include <string.h>

struct sl_pod_use {
    struct sl_node_entry *node;
    struct sl_amounts amounts; /* with the pod itself */
};

static void free_use(void *value)
{
    struct sl_pod_use *use = value;
    sl_amounts_fini(&use->amounts);
    sl_mem_free(use);
}

void sl_pods_free(struct sl_world *w)
{
    SL_PRE(w != NULL);
    sl_map_free_with(w->pods, free_use);
}

/* What a topology workload owns is counted with its assignment. */
static bool is_placed(const struct sl_json *pod)
{
    static const char *const annotations[] = {
        SL_TOPOLOGY_REQUIRED,       SL_TOPOLOGY_PREFERRED,    SL_TOPOLOGY_UNCONSTRAINED,
        SL_TOPOLOGY_SLICE_REQUIRED, SL_TOPOLOGY_SLICE_LAYERS,
    };
    for (size_t i = 0; i < sizeof annotations / sizeof annotations[0]; i++) {
        if (sl_object_annotation(pod, annotations[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static bool has_ended(const struct sl_json *pod)
{
    const char *phase = sl_json_path_text(pod, "status.phase", "");
    return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static enum sl_code read_amounts(struct sl_engine *g, const struct sl_json *pod,
                                 struct sl_amounts *out, int64_t now_ms, struct sl_error *e)
{
    struct sl_pod_requests requests = {0};
    enum sl_code code = sl_pod_sum_requests(sl_json_get(pod, "spec"), "spec", &requests, e);
    for (uint32_t i = 0; code == SL_CODE_OK && i < requests.count; i++) {
        const char *resource = requests.items[i].resource;
        struct sl_quantity exact = {requests.items[i].nano, SL_QUANTITY_DECIMAL_SI};
        sl_resource_id id = sl_name_take(g, SL_INTERN_RESOURCE, resource, now_ms);
        if (id != SL_NO_ID) {
            sl_amounts_add(out, id, sl_quantity_amount(exact, resource));
        }
    }
    sl_amounts_add(out, g->world->measures[SL_MEASURE_PODS], 1);
    return code;
}

/* sign 1: it takes its room from now on; -1: it gives it back. */
static void charge(struct sl_engine *g, const struct sl_pod_use *use, int sign, int64_t now_ms)
{
    sl_amounts_add_all(&use->node->taken, &use->amounts, sign);
    sl_nodes_shift(g, use->node, &use->amounts, -sign, now_ms);
}

static void release(struct sl_engine *g, const char *key, struct sl_pod_use *use, int64_t now_ms)
{
    struct sl_node_entry *m = use->node;
    charge(g, use, -1, now_ms);
    sl_nodes_wake(g, m, SL_TREE_MORE);
    (void)sl_map_remove(g->world->pods, key, NULL);
    free_use(use);
    m->pod_count--;
    sl_nodes_drop_unused(g, m);
}

static void count(struct sl_engine *g, const char *key, const char *node,
                  struct sl_amounts *amounts, int64_t now_ms)
{
    struct sl_pod_use *use = sl_mem_new(1, sizeof *use);
    use->node = sl_nodes_take(g, node);
    use->node->pod_count++;
    use->amounts = *amounts;
    sl_map_put(g->world->pods, key, (union sl_map_value){.pointer = use});
    charge(g, use, 1, now_ms);
    sl_nodes_wake(g, use->node, SL_TREE_LESS);
}

static enum sl_code take_pod(struct sl_engine *g, const char *key, struct sl_pod_use *use,
                             const struct sl_json *pod, int64_t now_ms, struct sl_error *e)
{
    const char *node = sl_json_path_text(pod, "spec.nodeName", "");
    struct sl_amounts fresh = {0};
    enum sl_code code = read_amounts(g, pod, &fresh, now_ms, e);
    if (use != NULL && strcmp(use->node->name, node) == 0 &&
        sl_amounts_equal(&use->amounts, &fresh)) {
        sl_amounts_fini(&fresh);
        return code;
    }
    if (use != NULL) {
        release(g, key, use, now_ms);
    }
    count(g, key, node, &fresh, now_ms);
    return code;
}

enum sl_code sl_event_from_pod(struct sl_engine *g, const struct sl_json *object, bool gone,
                               int64_t now_ms, struct sl_error *e)
{
    char *key = sl_object_key_new(object);
    struct sl_pod_use *known = sl_map_find(g->world->pods, key);
    enum sl_code code = SL_CODE_OK;
    bool counts = !gone && !has_ended(object) && !is_placed(object) &&
                  sl_json_path_text(object, "spec.nodeName", "")[0] != '\0';
    if (counts) {
        code = take_pod(g, key, known, object, now_ms, e);
    } else if (known != NULL) {
        release(g, key, known, now_ms);
    }
    sl_mem_free(key);
    return code;
}
