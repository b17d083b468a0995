/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The autoscaler of standalone mode replaces a cluster autoscaler: it answers ProvisioningRequests
 * of the class fake.sluice.dev as their parameters say, and leaves all others alone. Parameters,
 * all optional:
 *   provision-after   how long it takes ("2s"; default a second)
 *   provision-nodes   Nodes that are added (default 0); they go when the request goes or is revoked
 *   node-labels       their labels, "key=value,key=value"
 *   node-allocatable  what each has, "cpu=8,memory=32Gi,pods=110" (this is the default, but for pods)
 *   provision-fail    so many attempts fail before one succeeds
 *   revoke-after, expire-after   when, after provisioning, capacity is revoked or the booking expires
 * Nodes are labelled sluice.dev/request with the request's uid, which is also in the request's
 * detail "request". */
#ifndef SL_CONTROLLERS_AUTOSCALER_H
#define SL_CONTROLLERS_AUTOSCALER_H
#include "base/map.h"
#include "controllers/work/reconciler.h"

#define SL_FAKE_CLASS "fake.sluice.dev"
#define SL_LABEL_REQUEST "sluice.dev/request"
#define SL_ANNOTATION_REQUEST "sluice.dev/request" /* namespace/name */
#define SL_PROVISION_NODES_MAX 1000

struct sl_autoscaler {
    struct sl_reconciler requests;
    struct sl_map *nodes; /* request -> names of its Nodes (a list) */
    struct sl_map
        *changed_ms; /* request -> its last answer to the millisecond; objects have only seconds */
};
void sl_autoscaler_init(struct sl_autoscaler *a, const struct sl_client *client,
                        struct sl_recorder *events);
void sl_autoscaler_fini(struct sl_autoscaler *a);
/* Kinds it wants to see: ProvisioningRequest, Node. */
void sl_autoscaler_observe(struct sl_autoscaler *a, enum sl_kind kind, const struct sl_json *object,
                           bool deleted);
#endif
