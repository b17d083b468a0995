/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "server/scales.h"

#include <string.h>

#define APPS(kind)                                                                                 \
    {                                                                                              \
        "apps", kind, "spec.replicas", "status.replicas", "spec.selector", true, true              \
    }
#define WORKERS(kind_name, specs)                                                                  \
    {                                                                                              \
        .group = "kubeflow.org", .kind = kind_name, .spec = "spec." specs ".Worker.replicas",      \
        .status = "status.replicaStatuses.Worker.active",                                          \
        .selector = "status.replicaStatuses.Worker.selector"                                       \
    }
static const struct sl_scale scales[] = {
    APPS("Deployment"),
    APPS("ReplicaSet"),
    APPS("StatefulSet"),
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "spec.replicas", "status.replicas",
     "status.hpaPodSelector", true, false},
    WORKERS("JAXJob", "jaxReplicaSpecs"),
    WORKERS("PaddleJob", "paddleReplicaSpecs"),
    WORKERS("PyTorchJob", "pytorchReplicaSpecs"),
};

const struct sl_scale *sl_scales_find(enum sl_kind kind)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        if (strcmp(scales[i].group, info->group) == 0 && strcmp(scales[i].kind, info->kind) == 0) {
            return &scales[i];
        }
    }
    return NULL;
}

bool sl_scales_has(enum sl_kind kind)
{
    return sl_scales_find(kind) != NULL;
}
