/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads that have lost their job, or never had one; and spare ones, made by others for a job that has its own. */
#ifndef SL_CONTROLLERS_JOB_LEFTOVERS_H
#define SL_CONTROLLERS_JOB_LEFTOVERS_H
#include "controllers/jobs/jobs.h"

/* What becomes of a Workload that no job needs any more. */
void sl_leftover_tidy_up(struct sl_reconciler *r, struct sl_json *wl, bool job_gone);
/* Has it another name than Workloads that are made here for the job that controls it? A prebuilt one has, too. */
bool sl_leftover_spare_named(const struct sl_framework *f, const struct sl_json *wl);
/* One look at the Workload with that key; `self` is the struct sl_jobs. */
void sl_leftover_reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key,
                           int64_t now_ms);
#endif
