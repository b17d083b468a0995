/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the annotations of a pod template ask of a topology: kueue.x-k8s.io/podset-*. Their rules,
 * and the topologyRequest of a pod set that follows from them. */
#ifndef SL_API_TOPOLOGY_REQUEST_H
#define SL_API_TOPOLOGY_REQUEST_H
#include "api/json/json.h"

#define SL_TOPOLOGY_REQUIRED "kueue.x-k8s.io/podset-required-topology"
#define SL_TOPOLOGY_PREFERRED "kueue.x-k8s.io/podset-preferred-topology"
#define SL_TOPOLOGY_UNCONSTRAINED "kueue.x-k8s.io/podset-unconstrained-topology"
#define SL_TOPOLOGY_SLICE_REQUIRED "kueue.x-k8s.io/podset-slice-required-topology"
#define SL_TOPOLOGY_SLICE_SIZE "kueue.x-k8s.io/podset-slice-size"
#define SL_TOPOLOGY_SLICE_LAYERS "kueue.x-k8s.io/podset-slice-required-topology-constraints"
#define SL_TOPOLOGY_GROUP "kueue.x-k8s.io/podset-group-name"
#define SL_TOPOLOGY_LAYERS_MAX 3u

/* INVALID with a cause for each complaint; `where` is the path of the annotations, `pods` how many pods the
 * set has. What does not speak of a topology is not looked at. */
enum sl_code sl_topology_request_check(const struct sl_json *annotations, const char *where,
                                       int64_t pods, struct sl_error *e);
/* A pod set of a job: how many pods it has, and what its template's annotations say at the path `where`. */
struct sl_topology_wish {
    const struct sl_json *annotations;
    const char *where;
    int64_t pods;
};
/* Are groups of pod sets pairs, of which one is one pod and both ask for the same? INVALID with causes otherwise. */
enum sl_code sl_topology_groups_check(const struct sl_topology_wish *sets, size_t count,
                                      struct sl_error *e);
/* The topologyRequest of annotations that check accepts (a new map), or NULL when there is nothing to ask.
 * index_label names the pods' own label with their index; NULL: they have none. */
struct sl_json *sl_topology_request_new(const struct sl_json *annotations, const char *index_label);
#endif
