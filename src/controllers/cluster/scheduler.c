/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Binding pods to nodes. */
#include "controllers/cluster/scheduler.h"
#include "base/check.h"
#include "api/objects/quantity.h"
#include "base/map.h"
#include "base/mem.h"
#include <string.h>

#define HOSTNAME "kubernetes.io/hostname"
#define DEFAULT_SCHEDULER "default-scheduler"
#define NANO 1000000000

static __int128 request_of(const struct sl_pod_row *pod, const char *resource)
{
    for (uint32_t i = 0; i < pod->request_count; i++) {
        if (strcmp(pod->requests[i].resource, resource) == 0) {
            return pod->requests[i].nano;
        }
    }
    return 0;
}

/* What the node has of a resource; nothing when it does not say. */
static __int128 allocatable_of(const struct sl_node_row *node, const char *resource)
{
    struct sl_quantity q;
    const struct sl_json *value = sl_json_get(node->allocatable, resource);
    return value != NULL && sl_quantity_read(value, &q, NULL) == SL_CODE_OK ? q.nano : 0;
}

/* What pods take of a node: an amount of the resource each, or, with NULL, one each. */
static __int128 share_of(const struct sl_pod_row *pod, const char *resource)
{
    return resource == NULL ? 1 : request_of(pod, resource);
}

/* Of the pods that are bound there, and of those that are being bound. */
static __int128 used_of(const struct sl_scheduler *s, const struct sl_node_row *node,
                        const char *resource)
{
    __int128 used = 0;
    const struct sl_pod_row *row = sl_podbook_first(s->book, SL_PODS_OF_NODE, node->name);
    for (; row != NULL; row = row->next[SL_PODS_OF_NODE]) {
        bool ended = row->phase == SL_POD_SUCCEEDED || row->phase == SL_POD_FAILED;
        used += !ended && strcmp(row->node, node->name) == 0 ? share_of(row, resource) : 0;
    }
    for (struct sl_map_item e = {0}; sl_map_each(s->assumed, &e);) {
        row = strcmp(e.value.pointer, node->name) == 0 ? sl_podbook_find(s->book, e.key) : NULL;
        used += row != NULL ? share_of(row, resource) : 0;
    }
    return used;
}

static bool has_room(const struct sl_scheduler *s, const struct sl_node_row *node,
                     const struct sl_pod_row *pod)
{
    for (uint32_t i = 0; i < pod->request_count; i++) {
        const struct sl_pod_amount *request = &pod->requests[i];
        if (request->nano > 0 && used_of(s, node, request->resource) + request->nano >
                                     allocatable_of(node, request->resource)) {
            return false;
        }
    }
    return sl_json_get(node->allocatable, "pods") == NULL ||
           (used_of(s, node, NULL) + 1) * NANO <= allocatable_of(node, "pods");
}

static bool suits(const struct sl_scheduler *s, const struct sl_node_row *node,
                  const struct sl_pod_row *row, const struct sl_json *pod)
{
    return sl_node_takes(node, sl_json_path(pod, "spec.tolerations")) &&
           sl_node_matches(node, row->node_selector) && has_room(s, node, row);
}

/* A pod that names its host needs no search, where the node is called like it. */
static const struct sl_node_row *find_node(const struct sl_scheduler *s,
                                           const struct sl_pod_row *row, const struct sl_json *pod)
{
    const char *host = sl_json_text(sl_json_get(row->node_selector, HOSTNAME), "");
    const struct sl_node_row *node = sl_nodebook_find(s->nodes, host);
    if (node != NULL && sl_node_matches(node, row->node_selector)) {
        return suits(s, node, row, pod) ? node : NULL;
    }
    size_t cursor = 0;
    do {
        node = sl_nodebook_next(s->nodes, &cursor);
    } while (node != NULL && !suits(s, node, row, pod));
    return node;
}

static bool waits(const struct sl_pod_row *row)
{
    return sl_pod_row_live(row) && row->phase == SL_POD_PENDING && row->node[0] == '\0';
}

static bool is_ours(const struct sl_json *pod)
{
    return strcmp(sl_json_path_text(pod, "spec.schedulerName", DEFAULT_SCHEDULER),
                  DEFAULT_SCHEDULER) == 0 &&
           sl_json_len(sl_json_path(pod, "spec.schedulingGates")) == 0;
}

static void forget(struct sl_scheduler *s, const char *key)
{
    union sl_map_value value;
    if (sl_map_remove(s->assumed, key, &value)) {
        sl_mem_free(value.pointer);
    }
}

static void bind(struct sl_scheduler *s, struct sl_json *pod, const char *node)
{
    struct sl_reconciler *r = &s->pods;
    sl_map_put(s->assumed, r->current, (union sl_map_value){.pointer = sl_mem_text(node)});
    sl_json_set_text(sl_json_path_make(pod, "spec"), "nodeName", node);
    struct sl_write w = sl_reconciler_write_of(SL_VERB_UPDATE, SL_KIND_POD, pod, pod);
    sl_reconciler_write(r, &w, NULL);
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_scheduler *s = self;
    bool absent;
    const struct sl_pod_row *row = sl_podbook_find(s->book, r->current);
    forget(s, r->current); /* the write failed, or it is another pod */
    if (row == NULL || !waits(row)) {
        return;
    }
    struct sl_json *pod = sl_reconciler_get(r, SL_KIND_POD, key->ns, key->name, &absent);
    if (pod != NULL && is_ours(pod)) {
        const struct sl_node_row *node = find_node(s, row, pod);
        if (node != NULL) {
            bind(s, pod, node->name);
        } else {
            sl_work_add(r->work, r->current, now_ms + SL_SCHEDULE_RETRY_MS);
        }
    }
    sl_json_free(pod);
}

void sl_scheduler_init(struct sl_scheduler *s, const struct sl_client *client,
                       struct sl_recorder *events, const struct sl_podbook *book,
                       const struct sl_nodebook *nodes)
{
    SL_PRE(s != NULL);
    *s = (struct sl_scheduler){.book = book, .nodes = nodes, .assumed = sl_map_new()};
    sl_reconciler_init(&s->pods, "pod scheduler", client, events);
    s->pods.self = s;
    s->pods.reconcile = reconcile;
}

void sl_scheduler_fini(struct sl_scheduler *s)
{
    SL_PRE(s != NULL);
    sl_map_free_with(s->assumed, sl_mem_free);
    sl_reconciler_fini(&s->pods);
}

void sl_scheduler_observe_pod(struct sl_scheduler *s, const struct sl_json *pod)
{
    SL_PRE(s != NULL);
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(pod), sl_object_name(pod), key);
    const struct sl_pod_row *row = sl_podbook_find(s->book, key);
    if (row == NULL || row->node[0] != '\0') {
        forget(s, key);
    }
    if (row != NULL && waits(row) && is_ours(pod)) {
        sl_work_add(s->pods.work, key, SL_WORK_NOW);
    }
}
