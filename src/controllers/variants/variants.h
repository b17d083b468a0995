/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Concurrent admission: a Workload of a ClusterQueue with a concurrentAdmissionPolicy becomes the parent of variants, one for each
 * flavor of the queue. They are in line in its place; the parent, and with it the job, gets what the one that is admitted
 * has, and what the job says goes to that one. Keys are those of parents. */
#ifndef SL_CONTROLLERS_VARIANTS_H
#define SL_CONTROLLERS_VARIANTS_H
#include "controllers/work/job_children.h"
#include "controllers/work/reconciler.h"
#include "engine/parents.h"

struct sl_variants {
    bool on; /* the feature gate; else nothing is watched */
    struct sl_engine *engine;
    struct sl_reconciler parents;
    struct sl_job_children *variants; /* of each parent, by its uid */
    struct sl_map *generations;       /* of queues, when their Workloads were last looked at */
};

void sl_variants_init(struct sl_variants *v, bool on, const struct sl_client *client,
                      struct sl_recorder *events, struct sl_engine *engine);
void sl_variants_fini(struct sl_variants *v);
void sl_variants_observe(struct sl_variants *v, enum sl_kind kind, const struct sl_json *object,
                         bool deleted);
/* The variants that this Workload has, or would be given if it were new. NULL: it is no parent. The caller frees the list. */
struct sl_json *sl_variants_wish_new(const struct sl_variants *v, const struct sl_json *workload,
                                     int64_t now_ms);
#endif
