/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The kubelets of standalone mode, and what Kubernetes does when one falls silent. A bound pod
 * runs: it is ready at once or when sluice.dev/ready-after has passed, and succeeds (or fails, with
 * sluice.dev/fail: "true") when sluice.dev/run-for has passed since it was bound; without that
 * annotation it runs on. On a node that is not ready nothing happens to pods, until after
 * SL_NODE_GRACE_MS they are deleted; where the node was deleted, or has a taint with effect
 * NoExecute that they do not tolerate, they are deleted at once. */
#ifndef SL_CONTROLLERS_KUBELET_H
#define SL_CONTROLLERS_KUBELET_H
#include "controllers/cluster/nodebook.h"
#include "controllers/cluster/podbook.h"
#include "controllers/work/reconciler.h"

#define SL_NODE_GRACE_MS 1000

struct sl_kubelet {
    struct sl_reconciler pods;
    struct sl_podbook *book; /* lent */
    const struct sl_nodebook *nodes;
};
void sl_kubelet_init(struct sl_kubelet *k, const struct sl_client *client,
                     struct sl_recorder *events, struct sl_podbook *book,
                     const struct sl_nodebook *nodes);
void sl_kubelet_fini(struct sl_kubelet *k);
/* After the books have observed it, or forgotten it. */
void sl_kubelet_observe_pod(struct sl_kubelet *k, const struct sl_json *pod);
void sl_kubelet_observe_node(struct sl_kubelet *k, const char *node);
#endif
