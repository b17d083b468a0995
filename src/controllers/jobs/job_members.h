/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The objects of the job of a look. Most jobs are one object, that is suspended and restored (job_run.c); what is here
 * is for gated ones, one or several, that are let in, stopped, deleted, and let go. For each at most one
 * write in a look. */
#ifndef SL_CONTROLLERS_JOB_MEMBERS_H
#define SL_CONTROLLERS_JOB_MEMBERS_H
#include "controllers/jobs/job_run.h"

/* Read the job with that key, all its members if it is composed of several; false when that cannot be done now, or there
 * is none. To be ended in every case. */
bool sl_members_load(struct sl_job_view *v, const struct sl_key *key);
void sl_members_fini(struct sl_job_view *v);

/* Is any of them being deleted? */
bool sl_members_leave(const struct sl_job_view *v);
/* Are any neither held back nor over, nor on their way out? */
bool sl_members_run(const struct sl_job_view *v);
/* Are any held back by their gate that could run? */
bool sl_members_wait(const struct sl_job_view *v);
/* Do all name that class, but those that have ended? */
bool sl_members_name_class(const struct sl_job_view *v, const char *class);
/* Is the Workload bounded by the time that one of them asks for? */
bool sl_members_limit_matches(const struct sl_job_view *v);

/* Let in all that are held back, with what admission adds to them. */
void sl_members_start(struct sl_job_view *v);
/* One step towards members that do not run any more: those that are held back stay, but where the Workload is deleted.
 * True when there is nothing left to do. */
bool sl_members_stop(struct sl_job_view *v, enum sl_stop stop, const char *why);
/* Those that have not been let go are now; true when there were any. */
bool sl_members_let_go(struct sl_job_view *v);
/* The same for those that can run no more. */
void sl_members_let_stopped_go(struct sl_job_view *v);

/* Of a composed job: before it has a Workload, choose the members that it is to be made for, and read their pod sets.
 * False: it cannot be made now. */
bool sl_members_gather(struct sl_job_view *v);
/* Those that its Workload is for; false: it is not this job's any more. */
bool sl_members_match(struct sl_job_view *v);
/* All members own the Workload, and it says whether some have to be replaced; each true when that had to be written. */
bool sl_members_own(struct sl_job_view *v);
bool sl_members_tell_missing(struct sl_job_view *v);
#endif
