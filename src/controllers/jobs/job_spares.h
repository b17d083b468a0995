/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Spare Workloads: made by others for a job that has its own. Nothing runs by them, and they would hold quota for
 * nothing. */
#ifndef SL_CONTROLLERS_JOB_SPARES_H
#define SL_CONTROLLERS_JOB_SPARES_H
#include "controllers/jobs/jobs.h"

/* Has it another name than Workloads that are made here for the job that controls it? A prebuilt one has, too. */
bool sl_job_spare_named(const struct sl_framework *f, const struct sl_json *wl);
/* Delete it, or let it go when that was done, if it is a spare of a job of that kind, and the job is managed. */
void sl_job_spare_drop(const struct sl_jobs_of *of, struct sl_reconciler *r,
                       const struct sl_json *wl);
#endif
