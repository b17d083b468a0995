/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The provisioning controller: for every Workload that holds quota and waits for a check of the
 * controller kueue.x-k8s.io/provisioning-request it makes PodTemplates and a ProvisioningRequest,
 * and writes what becomes of the request into the check's state. Requests that are out of date, of
 * Workloads that have ended, or (unless configured otherwise) that were evicted, are deleted. Each
 * step is one write; its watch event leads to the next. */
#ifndef SL_CONTROLLERS_PROVISIONING_H
#define SL_CONTROLLERS_PROVISIONING_H
#include "base/map.h"
#include "controllers/work/reconciler.h"

struct sl_provisioning {
    struct sl_reconciler workloads;
    struct sl_map *known; /* Workload with checks or requests -> names of its requests (a list) */
    bool keep_evicted;    /* requests of evicted Workloads stay */
};
void sl_provisioning_init(struct sl_provisioning *p, const struct sl_client *client,
                          struct sl_recorder *events);
void sl_provisioning_fini(struct sl_provisioning *p);
/* Kinds it wants to see: Workload, AdmissionCheck, ProvisioningRequestConfig, ProvisioningRequest, PodTemplate. */
void sl_provisioning_observe(struct sl_provisioning *p, enum sl_kind kind,
                             const struct sl_json *object, bool deleted);
#endif
