/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Failure recovery: a pod that ends on a node which cannot be reached never ends, because no kubelet says so. One that
 * carries the annotation is marked as failed a minute after it should have gone, and deleted without more waiting, so that
 * its job can go on elsewhere. */
#ifndef SL_CONTROLLERS_RECOVERY_H
#define SL_CONTROLLERS_RECOVERY_H
#include "controllers/cluster/nodebook.h"
#include "controllers/cluster/podbook.h"
#include "controllers/work/reconciler.h"

#define SL_ANNOTATION_FORCE "kueue.x-k8s.io/safe-to-forcefully-delete"
#define SL_RECOVERY_WAIT_MS 60000 /* after its own time to end */

struct sl_recovery {
    struct sl_reconciler pods;
    const struct sl_podbook *book;   /* lent */
    const struct sl_nodebook *nodes; /* lent */
    bool on;                         /* the feature gate FailureRecoveryPolicy */
};
void sl_recovery_init(struct sl_recovery *r, const struct sl_client *client,
                      struct sl_recorder *events, const struct sl_podbook *book,
                      const struct sl_nodebook *nodes);
void sl_recovery_fini(struct sl_recovery *r);
/* After the books have observed the pod or the node, or forgotten it. */
void sl_recovery_observe_pod(struct sl_recovery *r, const struct sl_json *pod);
void sl_recovery_observe_node(struct sl_recovery *r, const char *node);
#endif
