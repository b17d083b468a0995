/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The job controller: a Job with a queue name gets a Workload, stays suspended until that is admitted, is
 * started with the flavor's node selector and tolerations, stopped and restored when evicted, and finishes
 * its Workload when it ends. Jobs without a queue name are left alone. Level-triggered: each look compares the
 * live Job with its live Workload and makes at most one write. No scheduling decisions are made here. */
#ifndef SL_CONTROLLERS_JOBS_H
#define SL_CONTROLLERS_JOBS_H
#include "controllers/reconciler.h"
#include "engine/engine.h"

struct sl_jobs {
    struct sl_reconciler jobs;      /* keys are Jobs */
    struct sl_reconciler leftovers; /* keys are Workloads whose Job may be gone */
    struct sl_engine *engine;
    struct sl_map *blocked;         /* Jobs that wait for a priority class that does not exist */
    struct sl_map *default_classes; /* PriorityClasses with globalDefault */
};

void sl_jobs_init(struct sl_jobs *j, const struct sl_client *client, struct sl_recorder *events,
                  struct sl_engine *engine);
void sl_jobs_fini(struct sl_jobs *j);
/* A Job, Workload, PriorityClass or WorkloadPriorityClass was added, changed or deleted. */
void sl_jobs_observe(struct sl_jobs *j, enum sl_kind kind, const struct sl_json *object,
                     bool deleted, int64_t now_ms);
/* Look at up to `limit` keys of each sort; true when more are due. */
bool sl_jobs_step(struct sl_jobs *j, int64_t now_ms, unsigned limit);
int64_t sl_jobs_due_ms(const struct sl_jobs *j);
#endif
