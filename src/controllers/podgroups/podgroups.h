/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The pod controller: plain Pods that admission has marked and gated, alone or in groups. Each pod or group gets a
 * Workload; its pods lose their gate when that is admitted, are deleted when it is evicted, and keep a finalizer
 * until they are counted. Pods that failed wait to be replaced; those beyond the group's count are deleted.
 * Level-triggered, as the job controller is. Owns which pods belong to which group. */
#ifndef SL_CONTROLLERS_PODGROUPS_H
#define SL_CONTROLLERS_PODGROUPS_H
#include "controllers/jobs/jobs.h"
#include "controllers/work/reconciler.h"
#include "engine/engine.h"

/* Do the rules want Pods to be managed? integrations.frameworks names "pod", or nothing at all. */
bool sl_podgroups_wanted(const struct sl_job_rules *rules);

struct sl_podgroups {
    struct sl_reconciler pods;   /* keys are pods without a group */
    struct sl_reconciler groups; /* keys are "namespace/group" */
    struct sl_reconciler widows; /* keys are Workloads whose pods may all be deleted */
    struct sl_map *members;      /* "namespace/group" -> struct sl_map * of the names of its pods */
    struct sl_engine *engine;
    const struct sl_job_rules *rules; /* lent */
    bool enabled;
};
void sl_podgroups_init(struct sl_podgroups *p, const struct sl_client *client,
                       struct sl_recorder *events, struct sl_engine *engine,
                       const struct sl_job_rules *rules);
void sl_podgroups_fini(struct sl_podgroups *p);
/* Kinds it wants to see: Pod, Workload. */
void sl_podgroups_observe(struct sl_podgroups *p, enum sl_kind kind, const struct sl_json *object,
                          bool deleted);
bool sl_podgroups_step(struct sl_podgroups *p, int64_t now_ms, unsigned limit);
int64_t sl_podgroups_due_ms(const struct sl_podgroups *p);
#endif
