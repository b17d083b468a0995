/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Elastic jobs: which of its slices a job runs by, new ones when it grows, and the end of those that are not needed. That a
 * slice takes the place of another is the engine's decision. */
#ifndef SL_CONTROLLERS_JOB_SLICES_H
#define SL_CONTROLLERS_JOB_SLICES_H
#include "controllers/jobs/job_steps.h"

/* May that job of that kind change its number of pods while it runs? */
bool sl_job_is_elastic(const struct sl_jobs *j, const struct sl_framework *f,
                       const struct sl_json *job);
/* A Workload was seen or deleted that is for one of those jobs; NULL: for none that is managed. */
void sl_job_slices_observe(struct sl_jobs_of *of, const struct sl_json *wl, bool deleted);
/* Is a slice of the job known? */
bool sl_job_slices_known(const struct sl_jobs *j, const struct sl_json *job);
/* Has it slices by one of which it may run? *unread: one of them cannot be read now. */
bool sl_job_slices_admit(struct sl_jobs *j, struct sl_reconciler *r, const struct sl_json *job,
                         bool *unread);
/* Look at every slice of the job once it was deleted. */
void sl_job_slices_leave(struct sl_jobs *j, const struct sl_json *job, int64_t due_ms);
/* Its Workload is the slice that it runs by, where it has slices; false: they cannot be read now. */
bool sl_job_slices_read(struct sl_job_view *v);
/* One look at a job that has slices. */
void sl_job_slices_act(struct sl_job_view *v);
/* The Workloads get the numbers of pods that the job has now, or a new one is made; from then on the view's pod sets are those
 * that it runs with. True when the rest is for another look. */
bool sl_job_slices_scale(struct sl_job_view *v);
/* May it go on without being admitted? It has quota in the place of another slice, and its checks are not through. */
bool sl_job_slices_go_on(const struct sl_job_view *v);
#endif
