/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods that are jobs of their own, alone or as a group (Kueue's pkg/controller/jobs/pod): what
 * their labels and annotations say, their state, the role that a pod has in its group, and the
 * frameworks that the job controller drives them by. Pure functions over objects; no I/O. */
#ifndef SL_CONTROLLERS_PODJOB_H
#define SL_CONTROLLERS_PODJOB_H
#include "controllers/work/framework.h"

#define SL_POD_GATE "kueue.x-k8s.io/admission"
#define SL_POD_MANAGED "kueue.x-k8s.io/managed" /* the label, "true", and the finalizer */
#define SL_POD_GROUP "kueue.x-k8s.io/pod-group-name"
#define SL_POD_GROUP_COUNT "kueue.x-k8s.io/pod-group-total-count"
#define SL_POD_GROUP_FAST "kueue.x-k8s.io/pod-group-fast-admission"
#define SL_POD_GROUP_SERVING "kueue.x-k8s.io/pod-group-serving"
#define SL_POD_GROUP_INDEX "kueue.x-k8s.io/pod-group-pod-index"
#define SL_POD_RETRIABLE "kueue.x-k8s.io/retriable-in-group"
#define SL_POD_ROLE "kueue.x-k8s.io/role-hash"
#define SL_POD_PARENT "kueue.x-k8s.io/pod-suspending-parent" /* the framework of what made it */
#define SL_GROUP_WORKLOAD "kueue.x-k8s.io/is-group-workload"
#define SL_ROLE_SIZE 64u

/* One Pod is a job, or a group of them is (podgroup.c). Both are "pod" to integrations.frameworks. */
extern const struct sl_framework sl_pod_framework, sl_pod_group_framework;

bool sl_podjob_managed(const struct sl_json *pod);      /* admission has marked it */
const char *sl_podjob_group(const struct sl_json *pod); /* NULL: it has no group */
bool sl_podjob_says(const struct sl_json *pod, const char *annotation, const char *value);
/* The total count of its group, at least 1; 0: the annotation is missing or no such number. */
int64_t sl_podjob_total(const struct sl_json *pod);
/* Of the annotation, or by the parts of the spec that admission looks at: 8 hexadecimal digits. */
void sl_podjob_role(const struct sl_json *pod, char out[static SL_ROLE_SIZE]);
/* Write it into the annotation, in place: what admission injects would give it another role. */
void sl_podjob_keep_role(struct sl_json *pod);

bool sl_podjob_gated(const struct sl_json *pod);
bool sl_podjob_succeeded(const struct sl_json *pod);
bool sl_podjob_ended(const struct sl_json *pod); /* succeeded or failed */
/* Does it run, may it still, or has it succeeded? */
bool sl_podjob_counts(const struct sl_json *pod);
/* Does it run, and is its deletion not overdue? */
bool sl_podjob_active(const struct sl_json *pod, int64_t now_ms);
bool sl_podjob_ready(const struct sl_json *pod);
bool sl_podjob_has_finalizer(const struct sl_json *pod);

/* Start it with what its admission adds (template.h): changed in place. INVALID: it contradicts what is there. */
enum sl_code sl_podjob_start(struct sl_json *pod, const struct sl_json *injection,
                             struct sl_error *e);

/* Count so many pods like this one in the pod set of that name. INVALID: that would be one too many. */
enum sl_code sl_podjob_add(struct sl_pod_sets *sets, const char *name, const struct sl_json *pod,
                           int64_t count, struct sl_error *e);

/* What makes a pod a member of the group that its parent has a Workload for; texts are lent. */
struct sl_pod_membership {
    const char *group, *role;
    const char *queue, *class; /* "" = none */
    int64_t total;
    bool fast;
};
/* Write it into the pod, in place; false: it says so already. The queue of one that is not held back any more stays. */
bool sl_podjob_join(struct sl_json *pod, const struct sl_pod_membership *m);

/* podgroup.c: what a job of many pods is more than one. */
extern const struct sl_composition sl_pod_composition;
#endif
