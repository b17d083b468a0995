/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* ProvisioningRequests as Sluice makes and reads them: what they are called, whether a Workload needs one, what
 * is in it and in its PodTemplates. Names, labels and parameters are Kueue's. Pure functions over objects. */
#ifndef SL_CONTROLLERS_PROVISIONING_REQUEST_H
#define SL_CONTROLLERS_PROVISIONING_REQUEST_H
#include "api/objects/object.h"

#define SL_CHECK_CONTROLLER_PROVISIONING "kueue.x-k8s.io/provisioning-request"
#define SL_LABEL_MANAGED "kueue.x-k8s.io/managed"
#define SL_PREFIX_PROVISIONING "provreq.kueue.x-k8s.io/" /* annotations that become parameters */
#define SL_ANNOTATION_CONSUME "autoscaling.x-k8s.io/consume-provisioning-request"
#define SL_ANNOTATION_CLASS "autoscaling.x-k8s.io/provisioning-class-name"
#define SL_NAME_SIZE 254u

/* <workload>-<check>-<attempt>, the first attempt is 1. */
void sl_provreq_name(const char *workload, const char *check, int64_t attempt,
                     char out[static SL_NAME_SIZE]);
/* Which attempt that name is; 0 when it is of another check or Workload. */
int64_t sl_provreq_attempt(const char *request, const char *workload, const char *check);
/* ppt-<request>-<pod set> */
void sl_provreq_template_name(const char *request, const char *pod_set,
                              char out[static SL_NAME_SIZE]);

/* Does any pod set with pods ask for a resource that the config manages? The Workload has its admission. */
bool sl_provreq_needed(const struct sl_json *workload, const struct sl_json *config);
/* Is it what the config asks for now? */
bool sl_provreq_current(const struct sl_json *request, const struct sl_json *workload,
                        const struct sl_json *config);

/* The pod sets to ask for, merged as the config says: a list of {name, count, index, members}, where name and
 * index are those of the first of the Workload's pod sets that were merged, and members the names of all. */
struct sl_json *sl_provreq_pod_sets_new(const struct sl_json *workload,
                                        const struct sl_json *config);
struct sl_json *sl_provreq_new(const struct sl_json *workload, const struct sl_json *config,
                               const char *name);
/* The PodTemplate of the Workload's pod set; `injection` (template.h) is what its flavors add. */
struct sl_json *sl_provreq_template_new(const struct sl_json *workload, size_t index,
                                        const char *name, const struct sl_json *injection,
                                        struct sl_error *e); /* NULL: *e says why */
/* Give `object` the one controlling owner. */
void sl_provreq_set_owner(struct sl_json *object, enum sl_kind kind, const struct sl_json *owner);
#endif
