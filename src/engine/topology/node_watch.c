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
    struct sl_host_pod *prev;
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

static struct sl_host *find_host(const struct sl_node_watch *w, const char *name)
{
    union sl_map_value value;
    return sl_map_get(w->hosts, name, &value) ? value.pointer : NULL;
}

const struct sl_host *sl_node_watch_find(const struct sl_node_watch *w, const char *host)
{
    return find_host(w, host);
}

static struct sl_host *take_host(struct sl_node_watch *w, const char *name)
{
    struct sl_host *host = find_host(w, name);
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
    const struct sl_json *list = sl_json_path(node, "status.conditions");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *c = sl_json_at(list, i);
        if (strcmp(sl_json_path_text(c, "type", ""), "Ready") == 0) {
            bool yes = strcmp(sl_json_path_text(c, "status", ""), "True") == 0;
            return yes ? SL_READY_YES : SL_READY_NOT;
        }
    }
    return SL_READY_UNSAID;
}

/* Where nobody taints a node that is cordoned, its cordon does. */
static void add_cordon(struct sl_json *taints)
{
    static const char key[] = "node.kubernetes.io/unschedulable";
    for (size_t i = 0; i < sl_json_len(taints); i++) {
        if (strcmp(sl_json_path_text(sl_json_at(taints, i), "key", ""), key) == 0) {
            return;
        }
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
    union sl_map_value value;
    struct sl_host *host =
        sl_map_get(w->nodes, sl_object_name(node), &value) ? value.pointer : NULL;
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
    union sl_map_value value;
    struct sl_host *host = take_host(w, sl_node_watch_name(node));
    enum sl_ready ready = read_ready(node);
    struct sl_json *taints = taints_new(node);
    bool same = host->node_count > 0 && host->ready == ready && sl_json_equal(host->taints, taints);
    if (!sl_map_get(w->nodes, sl_object_name(node), &value)) {
        sl_map_put(w->nodes, sl_object_name(node), (union sl_map_value){.pointer = host});
        host->node_count++;
    }
    host->ready = ready;
    sl_json_free(host->taints);
    host->taints = taints;
    return !same;
}

/* --- pods ------------------------------------------------------------------------------------- */

static void link_pod(struct sl_host *host, struct sl_host_pod *pod)
{
    pod->host = host;
    pod->prev = NULL;
    pod->next = host->first_pod;
    if (pod->next != NULL) {
        pod->next->prev = pod;
    }
    host->first_pod = pod;
}

static void unlink_pod(struct sl_host_pod *pod)
{
    if (pod->prev != NULL) {
        pod->prev->next = pod->next;
    } else {
        pod->host->first_pod = pod->next;
    }
    if (pod->next != NULL) {
        pod->next->prev = pod->prev;
    }
}

static bool is_under_way(const struct sl_json *pod)
{
    const char *phase = sl_json_path_text(pod, "status.phase", "");
    return !sl_object_deleting(pod) && strcmp(phase, "Succeeded") != 0 &&
           strcmp(phase, "Failed") != 0;
}

static struct sl_pod_loss loss_of(const struct sl_host_pod *pod)
{
    return (struct sl_pod_loss){sl_mem_text(pod->workload), sl_mem_text(pod->host->name)};
}

static bool forget_pod(struct sl_node_watch *w, const char *key, struct sl_pod_loss *loss)
{
    union sl_map_value value;
    if (!sl_map_remove(w->pods, key, &value)) {
        return false;
    }
    struct sl_host_pod *pod = value.pointer;
    bool lost = pod->under_way;
    if (lost) {
        *loss = loss_of(pod);
    }
    unlink_pod(pod);
    drop_unused(w, pod->host);
    free_pod(pod);
    return lost;
}

/* By the name of the node that it is bound to; one that the daemon has not seen goes by that
 * name. */
static struct sl_host *host_of_node(struct sl_node_watch *w, const char *node)
{
    union sl_map_value value;
    return sl_map_get(w->nodes, node, &value) ? value.pointer : take_host(w, node);
}

/* A Pod of a name that was in use before may be another one, of another workload or elsewhere. */
static bool replaced(struct sl_node_watch *w, const char *key, const char *workload,
                     const char *node, struct sl_pod_loss *loss)
{
    union sl_map_value value;
    if (!sl_map_get(w->pods, key, &value)) {
        return false;
    }
    const struct sl_host_pod *pod = value.pointer;
    bool same = pod->host == host_of_node(w, node) && strcmp(pod->workload, workload) == 0;
    return !same && forget_pod(w, key, loss);
}

static struct sl_host_pod *take_pod(struct sl_node_watch *w, const char *key, const char *workload,
                                    const char *node)
{
    union sl_map_value value;
    if (sl_map_get(w->pods, key, &value)) {
        return value.pointer;
    }
    struct sl_host_pod *pod = sl_mem_new(1, sizeof *pod);
    pod->workload = sl_mem_text(workload);
    link_pod(host_of_node(w, node), pod);
    sl_map_put(w->pods, key, (union sl_map_value){.pointer = pod});
    return pod;
}

static bool follow_pod(struct sl_host_pod *known, const struct sl_json *pod,
                       struct sl_pod_loss *loss)
{
    bool was = known->under_way;
    known->under_way = is_under_way(pod);
    if (was && !known->under_way) {
        *loss = loss_of(known);
    }
    return was && !known->under_way;
}

bool sl_node_watch_pod(struct sl_node_watch *w, const struct sl_json *pod, bool gone,
                       struct sl_pod_loss *loss)
{
    const char *ns = sl_object_namespace(pod);
    const char *owner = sl_object_annotation(pod, "kueue.x-k8s.io/workload");
    const char *node = sl_json_path_text(pod, "spec.nodeName", "");
    struct sl_buf key = {0};
    struct sl_buf workload = {0};
    sl_buf_print(&key, "%s/%s", ns, sl_object_name(pod));
    sl_buf_print(&workload, "%s/%s", ns, owner == NULL ? "" : owner);
    bool lost = false;
    if (gone || owner == NULL || node[0] == '\0') {
        lost = forget_pod(w, key.data, loss);
    } else if (replaced(w, key.data, workload.data, node, loss)) {
        take_pod(w, key.data, workload.data, node)->under_way = is_under_way(pod);
        lost = true;
    } else {
        lost = follow_pod(take_pod(w, key.data, workload.data, node), pod, loss);
    }
    sl_buf_fini(&key);
    sl_buf_fini(&workload);
    return lost;
}
