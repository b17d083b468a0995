/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The pods of standalone mode's Jobs: replaces the part of Kubernetes' job controller that makes
 * Pods, for Jobs whose template carries the topology gate. As many live pods as the Job's
 * parallelism asks for; a pod that failed or was deleted is replaced; none is left when the Job is
 * suspended or over. What the pods do afterwards is the business of the ungater, the scheduler and
 * the kubelet. Jobs without the gate have no pods (see runner.h). */
#ifndef SL_CONTROLLERS_PODS_H
#define SL_CONTROLLERS_PODS_H
#include "controllers/cluster/podbook.h"
#include "controllers/work/reconciler.h"

struct sl_pods {
    struct sl_reconciler jobs;
    const struct sl_podbook *book; /* lent */
    uint64_t made;                 /* pods so far: no two names are alike */
    bool off;                      /* others make the pods of all Jobs */
};
void sl_pods_init(struct sl_pods *p, const struct sl_client *client, struct sl_recorder *events,
                  const struct sl_podbook *book);
void sl_pods_fini(struct sl_pods *p);
void sl_pods_observe_job(struct sl_pods *p, const struct sl_json *job, bool deleted);
/* Before the book forgets a deleted pod, or after it has observed one. */
void sl_pods_observe_pod(struct sl_pods *p, const struct sl_json *pod);

/* Does the Job have real pods? */
bool sl_job_has_pods(const struct sl_json *job);

/* For makers of a Job's pods: the pod with that completion index (-1: none) and that name (a new object, owned by the
 * Job), and a name for it, another one for each `salt`. */
#define SL_JOB_POD_NAME_SIZE 82u
struct sl_json *sl_job_pod_new(const struct sl_json *job, int64_t index, const char *name);
void sl_job_pod_name(const struct sl_json *job, int64_t index, uint64_t salt, int64_t now_ms,
                     char out[static SL_JOB_POD_NAME_SIZE]);
void sl_pod_remove(struct sl_reconciler *r,
                   const struct sl_pod_row *row); /* that one, by its uid */
#endif
