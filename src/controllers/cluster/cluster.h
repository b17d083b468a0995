/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Everything about pods and nodes together: the books of both, the ungaters, failure recovery and, in standalone mode,
 * what replaces a Kubernetes cluster: the makers of pods, the scheduler and the kubelets, and what lets jobs run after
 * others. */
#ifndef SL_CONTROLLERS_CLUSTER_H
#define SL_CONTROLLERS_CLUSTER_H
#include "controllers/cluster/dependencies.h"
#include "controllers/cluster/elastic_ungater.h"
#include "controllers/cluster/kubelet.h"
#include "controllers/cluster/pods.h"
#include "controllers/cluster/recovery.h"
#include "controllers/cluster/scheduler.h"
#include "controllers/cluster/ungater.h"

#define SL_CLUSTER_PARTS 8
struct sl_cluster {
    struct sl_podbook *pods;
    struct sl_nodebook *nodes;
    struct sl_ungater ungater;
    struct sl_elastic_ungater slices;
    struct sl_recovery recovery;
    bool simulated; /* standalone mode; otherwise the rest has nothing to do */
    bool
        processes; /* standalone mode, and pods are run by others: nor have makers, scheduler and kubelet */
    struct sl_pods makers;
    struct sl_scheduler scheduler;
    struct sl_kubelet kubelet;
    struct sl_dependencies dependencies;
    struct sl_reconciler
        *parts[SL_CLUSTER_PARTS]; /* to be stepped only after every Node and Pod was seen */
};
void sl_cluster_init(struct sl_cluster *c, const struct sl_client *client,
                     struct sl_recorder *events, bool simulated);
void sl_cluster_fini(struct sl_cluster *c);
/* A Job, Workload, Pod or Node was added, changed or deleted; other kinds do not matter. */
void sl_cluster_observe(struct sl_cluster *c, enum sl_kind kind, const struct sl_json *object,
                        bool deleted, int64_t now_ms);
#endif
