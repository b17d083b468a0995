/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the pod sets of a Workload ask of the topology: spec.podSets[].topologyRequest, the nodes
 * that they may run on, and what one pod takes of a node. Owns what is kept of it with a pod
 * set. */
#ifndef SL_ENGINE_TOPOLOGY_IN_H
#define SL_ENGINE_TOPOLOGY_IN_H
#include "engine/requests/requests.h"
#include "engine/state.h"

/* Take over the request of a pod set, as spec.podSets[] has it; release gives up what is kept. */
void sl_topology_in_take(struct sl_engine *g, struct sl_pod_set *set, const struct sl_json *item,
                         int64_t now_ms);
void sl_topology_in_release(struct sl_pod_set *set);

/* Into the list of a DEMAND, behind the pod set: nothing where it asks for nothing and no flavor
 * that is offered has a topology. `requests` fresh: read from the object just now. False = it
 * cannot be held. */
bool sl_topology_in_list(struct sl_engine *g, struct sl_pod_set *set,
                         const struct sl_requests *requests, const struct sl_quotas *offered,
                         struct sl_buf *list);
#endif
