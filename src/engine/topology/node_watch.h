/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What was observed of nodes, by the host name that topologies know them by, and of the pods of
 * workloads that are bound to them: as much as node_health.h needs. */
#ifndef SL_ENGINE_NODE_WATCH_H
#define SL_ENGINE_NODE_WATCH_H
#include "api/objects/object.h"
#include "policy/verdicts/node_failure.h"

struct sl_host {
    char *name;
    uint32_t node_count; /* Nodes of that host name; 0 = only pods name it */
    enum sl_ready ready;
    struct sl_json *taints; /* those that keep pods away, a cordon included; NULL = none */
    struct sl_host_pod *first_pod;
};

struct sl_node_watch;
struct sl_node_watch *sl_node_watch_new(void);
void sl_node_watch_free(struct sl_node_watch *w);

/* NULL = nothing is known of it. */
const struct sl_host *sl_node_watch_find(const struct sl_node_watch *w, const char *host);
/* Is a pod of that workload ("namespace/name") on the host that has neither ended nor is being
 * deleted? */
bool sl_node_watch_has_pod(const struct sl_host *host, const char *workload);

/* The host name of a Node; lent. */
const char *sl_node_watch_name(const struct sl_json *node);
/* The Node was deleted, or has another host name than before: returns its former host name, which
 * the caller frees; NULL = neither. */
char *sl_node_watch_leave(struct sl_node_watch *w, const struct sl_json *node, bool gone);
/* Take the Node as it is now; false: nothing is new. */
bool sl_node_watch_enter(struct sl_node_watch *w, const struct sl_json *node);

struct sl_pod_loss { /* the caller frees both */
    char *workload;
    char *host;
};
/* Take a Pod as it is now, or as deleted. True: it was under way on a node and is so no longer. */
bool sl_node_watch_pod(struct sl_node_watch *w, const struct sl_json *pod, bool gone,
                       struct sl_pod_loss *loss);
#endif
