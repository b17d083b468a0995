/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What admission puts into a pod template and eviction takes out again. An injection is a map with the members
 * labels, annotations, nodeSelector (maps), tolerations and schedulingGates (lists). Pure functions over objects. */
#ifndef SL_CONTROLLERS_TEMPLATE_H
#define SL_CONTROLLERS_TEMPLATE_H
#include "api/objects/object.h"

#define SL_GATE_TOPOLOGY "kueue.x-k8s.io/topology"
#define SL_LABEL_POD_SET "kueue.x-k8s.io/podset"
#define SL_ANNOTATION_WORKLOAD "kueue.x-k8s.io/workload"
#define SL_ANNOTATION_SLICE "kueue.x-k8s.io/workload-slice-name" /* of the first: slices.h */
#define SL_ANNOTATION_INDEX_OFFSET "kueue.x-k8s.io/pod-index-offset"

/* Add a flavor's node labels and tolerations. INVALID when a label is already set to another value. */
enum sl_code sl_injection_add_flavor(struct sl_json *injection, const struct sl_json *flavor,
                                     struct sl_error *e);
/* Add one podSetUpdate of an admission check. */
enum sl_code sl_injection_add_update(struct sl_json *injection, const struct sl_json *update,
                                     struct sl_error *e);
/* Add what pods carry that wait for their place in a topology: the gate, and the workload that they
 * belong to. `request` is the pod set's topologyRequest; one that did not ask for a topology is
 * marked as unconstrained. */
void sl_injection_add_topology(struct sl_json *injection, const char *workload, const char *pod_set,
                               const struct sl_json *request);
/* Say what the index of the pods counts from. */
void sl_injection_add_offset(struct sl_json *injection, int64_t offset);
/* Does the template, or pod, carry the topology gate? */
bool sl_template_gated(const struct sl_json *template);
/* Or any gate of that name? */
bool sl_template_has_gate(const struct sl_json *template, const char *gate);
/* Change the template; INVALID, and the template unchanged, when a key is already set to another value. */
enum sl_code sl_template_inject(struct sl_json *template, const struct sl_json *injection,
                                struct sl_error *e);
/* Remove the labels that Kubernetes' job controller puts into a Job's template, but for batch.kubernetes.io/job-name. */
void sl_template_clean(struct sl_json *template);
/* Put back what injection may have changed, from the original template. Returns whether anything differed. */
bool sl_template_restore(struct sl_json *template, const struct sl_json *original);
/* Do both have the same containers and init containers? */
bool sl_template_same_containers(const struct sl_json *a, const struct sl_json *b);
/* Do both have the same node selector and tolerations? */
bool sl_template_same_placement(const struct sl_json *a, const struct sl_json *b);
#endif
