/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Hosts by name, each with the list of its pods. A host stands here for as long as it has a Node or
 * pods. */
#include "engine/topology/node_watch.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include <string.h>

struct sl_host_pod {
    char *workload; /* "namespace/name" */
    bool under_way; /* neither ended nor being deleted */
    struct sl_host *host;
    struct sl_host_pod *next; /* on the same host */
};

struct sl_node_watch {
    struct sl_map *hosts; /* host name -> struct sl_host * */
    struct sl_map *nodes; /* node name -> its struct sl_host * */
    struct sl_map *pods;  /* "namespace/name" -> struct sl_host_pod * */
};

/* --- records ---------------------------------------------------------------------------------- */

struct sl_node_watch *sl_node_watch_new(void)
{
    struct sl_node_watch *w = sl_mem_new(1, sizeof *w);
    w->hosts = sl_map_new();
    w->nodes = sl_map_new();
    w->pods = sl_map_new();
    return w;
}

static void free_host(void *value)
{
    struct sl_host *host = value;
    sl_json_free(host->taints);
    sl_mem_free(host->name);
    sl_mem_free(host);
}

static void free_pod(void *value)
{
    struct sl_host_pod *pod = value;
    sl_mem_free(pod->workload);
    sl_mem_free(pod);
}

void sl_node_watch_free(struct sl_node_watch *w)
{
    SL_PRE(w != NULL);
    sl_map_free_with(w->pods, free_pod);
    sl_map_free_with(w->hosts, free_host);
    sl_map_free(w->nodes);
    sl_mem_free(w);
}

const struct sl_host *sl_node_watch_find(const struct sl_node_watch *w, const char *host)
{
    return sl_map_find(w->hosts, host);
}

static struct sl_host *take_host(struct sl_node_watch *w, const char *name)
{
    struct sl_host *host = sl_map_find(w->hosts, name);
    if (host == NULL) {
        host = sl_mem_new(1, sizeof *host);
        host->name = sl_mem_text(name);
        sl_map_put(w->hosts, name, (union sl_map_value){.pointer = host});
    }
    return host;
}

static void drop_unused(struct sl_node_watch *w, struct sl_host *host)
{
    if (host->node_count == 0 && host->first_pod == NULL) {
        (void)sl_map_remove(w->hosts, host->name, NULL);
        free_host(host);
    }
}

bool sl_node_watch_has_pod(const struct sl_host *host, const char *workload)
{
    SL_PRE(host != NULL);
    for (const struct sl_host_pod *p = host->first_pod; p != NULL; p = p->next) {
        if (p->under_way && strcmp(p->workload, workload) == 0) {
            return true;
        }
    }
    return false;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static enum sl_ready read_ready(const struct sl_json *node)
{
    return sl_condition_true(node, "Ready")           ? SL_READY_YES
           : sl_condition_find(node, "Ready") != NULL ? SL_READY_NOT
                                                      : SL_READY_UNSAID;
}

/* Where nobody taints a node that is cordoned, its cordon does. */
static void add_cordon(struct sl_json *taints)
{
    static const char key[] = "node.kubernetes.io/unschedulable";
    if (sl_json_find_by(taints, "key", key) != NULL) {
        return;
    }
    struct sl_json *taint = sl_json_new_map();
    sl_json_set_text(taint, "key", key);
    sl_json_set_text(taint, "effect", "NoSchedule");
    sl_json_append(taints, taint);
}

/* Those that keep pods away; NULL = none. */
static struct sl_json *taints_new(const struct sl_json *node)
{
    const struct sl_json *list = sl_json_path(node, "spec.taints");
    struct sl_json *taints = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *effect = sl_json_path_text(sl_json_at(list, i), "effect", "");
        if (strcmp(effect, "NoSchedule") == 0 || strcmp(effect, "NoExecute") == 0) {
            sl_json_append(taints, sl_json_clone(sl_json_at(list, i)));
        }
    }
    if (sl_json_path_bool(node, "spec.unschedulable", false)) {
        add_cordon(taints);
    }
    if (sl_json_len(taints) == 0) {
        sl_json_free(taints);
        return NULL;
    }
    return taints;
}

const char *sl_node_watch_name(const struct sl_json *node)
{
    const char *label = sl_object_label(node, "kubernetes.io/hostname");
    return label == NULL ? sl_object_name(node) : label;
}

char *sl_node_watch_leave(struct sl_node_watch *w, const struct sl_json *node, bool gone)
{
    SL_PRE(w != NULL);
    struct sl_host *host = sl_map_find(w->nodes, sl_object_name(node));
    if (host == NULL || (!gone && strcmp(host->name, sl_node_watch_name(node)) == 0)) {
        return NULL;
    }
    char *name = sl_mem_text(host->name);
    (void)sl_map_remove(w->nodes, sl_object_name(node), NULL);
    if (--host->node_count == 0) {
        sl_json_free(host->taints);
        host->taints = NULL;
    }
    drop_unused(w, host);
    return name;
}

/* Most that is heard of nodes is heartbeats. Of several Nodes with one host name the last one heard
 * of counts. */
bool sl_node_watch_enter(struct sl_node_watch *w, const struct sl_json *node)
{
    SL_PRE(w != NULL);
    struct sl_host *host = take_host(w, sl_node_watch_name(node));
    enum sl_ready ready = read_ready(node);
    struct sl_json *taints = taints_new(node);
    bool same = host->node_count > 0 && host->ready == ready && sl_json_equal(host->taints, taints);
    if (sl_map_find(w->nodes, sl_object_name(node)) == NULL) {
        sl_map_put(w->nodes, sl_object_name(node), (union sl_map_value){.pointer = host});
        host->node_count++;
    }
    host->ready = ready;
    sl_json_free(host->taints);
    host->taints = taints;
    return !same;
}

/* --- pods ------------------------------------------------------------------------------------- */

static void add_pod(struct sl_node_watch *w, const char *key, const char *workload,
                    struct sl_host *host, bool under_way)
{
    struct sl_host_pod *pod = sl_mem_new(1, sizeof *pod);
    *pod = (struct sl_host_pod){sl_mem_text(workload), under_way, host, host->first_pod};
    host->first_pod = pod;
    sl_map_put(w->pods, key, (union sl_map_value){.pointer = pod});
}

static void drop_pod(struct sl_node_watch *w, struct sl_host_pod *pod)
{
    SL_PRE(pod->host != NULL); /* and it is in its list */
    struct sl_host_pod **at = &pod->host->first_pod;
    while (*at != pod) {
        at = &(*at)->next;
    }
    *at = pod->next;
    drop_unused(w, pod->host);
    free_pod(pod);
}

static bool is_under_way(const struct sl_json *pod)
{
    const char *phase = sl_json_path_text(pod, "status.phase", "");
    return !sl_object_deleting(pod) && strcmp(phase, "Succeeded") != 0 &&
           strcmp(phase, "Failed") != 0;
}

/* By the name of the node that it is bound to; one that the daemon has not seen goes by that
 * name. */
static struct sl_host *host_of_node(struct sl_node_watch *w, const char *node)
{
    struct sl_host *host = sl_map_find(w->nodes, node);
    return host != NULL ? host : take_host(w, node);
}

/* `host` NULL: it is not there. A Pod of a name that was in use before may be another one, of another workload or
 * elsewhere. */
static bool take_pod(struct sl_node_watch *w, const char *key, const char *workload,
                     struct sl_host *host, bool under_way, struct sl_pod_loss *loss)
{
    struct sl_host_pod *known = sl_map_find(w->pods, key);
    bool same = known != NULL && known->host == host && strcmp(known->workload, workload) == 0;
    bool lost = known != NULL && known->under_way && !(same && under_way);
    if (lost) {
        SL_ASSERT(known->host != NULL);
        *loss = (struct sl_pod_loss){sl_mem_text(known->workload), sl_mem_text(known->host->name)};
    }
    if (same) {
        known->under_way = under_way;
        return lost;
    }
    if (host != NULL) {
        add_pod(w, key, workload, host, under_way);
    } else {
        (void)sl_map_remove(w->pods, key, NULL);
    }
    if (known != NULL) {
        drop_pod(w, known);
    }
    return lost;
}

bool sl_node_watch_pod(struct sl_node_watch *w, const struct sl_json *pod, bool gone,
                       struct sl_pod_loss *loss)
{
    const char *owner = sl_object_annotation(pod, "kueue.x-k8s.io/workload");
    const char *node = sl_json_path_text(pod, "spec.nodeName", "");
    bool bound = !gone && owner != NULL && node[0] != '\0';
    char *key = sl_object_key_new(pod);
    struct sl_buf workload = {0};
    sl_buf_print(&workload, "%s/%s", sl_object_namespace(pod), owner == NULL ? "" : owner);
    bool lost = take_pod(w, key, workload.data, bound ? host_of_node(w, node) : NULL,
                         is_under_way(pod), loss);
    sl_mem_free(key);
    sl_buf_fini(&workload);
    return lost;
}
