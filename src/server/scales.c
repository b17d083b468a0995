/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "server/scales.h"

#include <string.h>

#include "api/defined/defined.h"

#define APPS(kind)                                                                                 \
    {                                                                                              \
        "apps", kind, "spec.replicas", "status.replicas", "spec.selector", true, true, false       \
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
     "status.hpaPodSelector", true, false, false},
    WORKERS("JAXJob", "jaxReplicaSpecs"),
    WORKERS("PaddleJob", "paddleReplicaSpecs"),
    WORKERS("PyTorchJob", "pytorchReplicaSpecs"),
};

/* What the definitions in the slots say. */
static struct sl_scale of_definitions[SL_KIND_DEFINED_MAX];

static const struct sl_scale *find_defined(enum sl_kind kind)
{
    const struct sl_json *scale = sl_defined_scale(kind);
    struct sl_scale *of = &of_definitions[kind - SL_KIND_DEFINED];
    if (scale == NULL) {
        return NULL;
    }
    *of = (struct sl_scale){
        .group = sl_kind_info(kind)->group,
        .kind = sl_kind_info(kind)->kind,
        .spec = sl_json_path_text(scale, "specReplicasPath", ".") + 1,
        .status = sl_json_path_text(scale, "statusReplicasPath", ".") + 1,
        .selector = sl_json_path_text(scale, "labelSelectorPath", ".") + 1,
        .defined = true,
    };
    return of;
}

const struct sl_scale *sl_scales_find(enum sl_kind kind)
{
    if (kind >= SL_KIND_DEFINED) {
        return find_defined(kind);
    }
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
