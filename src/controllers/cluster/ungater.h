/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The topology ungater: pods of an admitted workload with a topology assignment wait behind a scheduling gate; here
 * they are released onto their domains, never onto a node that the workload has marked as unhealthy. A pod that was
 * released onto a node which its workload has since left, or which takes no pods any more, and that is bound
 * nowhere, is late: it is marked as failed, so that another takes its place. So is one that asked for a topology and
 * is pinned to a node although its workload has no admission. */
#ifndef SL_CONTROLLERS_UNGATER_H
#define SL_CONTROLLERS_UNGATER_H
#include "controllers/cluster/nodebook.h"
#include "controllers/cluster/podbook.h"
#include "controllers/work/reconciler.h"

#define SL_UNGATE_BATCH_MS 50 /* pods come in crowds */

struct sl_ungater {
    struct sl_reconciler workloads;
    struct sl_reconciler late;     /* keys are pods that are released and not bound */
    const struct sl_podbook *pods; /* lent */
    const struct sl_nodebook *nodes;
    const struct sl_elastic_ungater *slices; /* lent */
    struct sl_workload_meters *meters;       /* lent; NULL: nothing is measured */
};
void sl_ungater_init(struct sl_ungater *u, const struct sl_client *client,
                     struct sl_recorder *events, const struct sl_podbook *pods,
                     const struct sl_nodebook *nodes, const struct sl_elastic_ungater *slices);
void sl_ungater_fini(struct sl_ungater *u);
void sl_ungater_observe_workload(struct sl_ungater *u, const struct sl_json *wl, bool deleted);
/* After the book has observed the pod, or forgotten it. */
void sl_ungater_observe_pod(struct sl_ungater *u, const struct sl_json *pod, int64_t now_ms);
void sl_ungater_observe_node(struct sl_ungater *u, const char *node, int64_t now_ms);

/* Release the pod onto the domain with those values (changed in place). */
void sl_pod_ungate(struct sl_json *pod, const char *const *levels, char *const *values,
                   uint32_t level_count);
#endif
