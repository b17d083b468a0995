/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* May a pod with this constraint (sl_pod_constraint_new) run on this node, as Kubernetes' scheduler
 * has it: taints, node selector, required and preferred node affinity. Pure functions. */
#ifndef SL_ENGINE_NODE_FIT_H
#define SL_ENGINE_NODE_FIT_H
#include "api/json/json.h"

struct sl_node_view {
    const char *name;
    const struct sl_json *labels;
};

/* Terms are alternatives; an empty term matches no node. No terms at all: any node. */
bool sl_node_fit_affinity(const struct sl_node_view *node, const struct sl_json *terms);
/* Sum of the weights of the preferred terms that match. */
int64_t sl_node_fit_score(const struct sl_node_view *node, const struct sl_json *preferred);
#endif
