/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One look at one job and its Workload. jobs.c decides when to look; job_steps.c what to do. */
#ifndef SL_CONTROLLERS_JOB_STEPS_H
#define SL_CONTROLLERS_JOB_STEPS_H
#include "controllers/jobs/jobs.h"
#include "controllers/work/slices.h"

/* The live objects of one look; wl is NULL when there is none. `job` is the first of its members, of which most jobs
 * have one. */
struct sl_job_view {
    struct sl_jobs *j;
    const struct sl_jobs_of *of;
    const struct sl_framework *f;
    struct sl_reconciler *r;
    const char *key;
    const char *queue; /* "" = none */
    struct sl_json *job, *wl;
    struct sl_members members;
    size_t
        loaded; /* members that have been read; those that are not looked at (any more) come last */
    struct sl_pod_sets
        sets; /* what the job asks for now; of a composed one, when its Workload is made */
    int64_t now_ms;
    bool elastic; /* it has slices, of which wl is the one that it runs by */
    struct sl_slices slices;
    int64_t waiting_pods; /* that it asks for, and wl does not hold */
};
void sl_job_act(struct sl_job_view *v);
/* The priority class that the job names, or the default one, and its kind; the text is lent, "" = none. */
const char *sl_job_class(const struct sl_jobs *j, const struct sl_framework *f,
                         const struct sl_json *job, enum sl_kind *kind);
/* For other controllers of what has Workloads: the one that it should have; NULL while something is missing that it needs; an
 * event says what. */
struct sl_json *sl_job_workload_new(struct sl_job_view *v);
/* Give the Workload its job's admission gates, priority class and queue; true when that had to be written. */
bool sl_job_update_marks(struct sl_job_view *v);
/* Suspend the job of an owner that is not admitted; true when that had to be written. */
void sl_job_suspend_child(struct sl_job_view *v);
/* Write the Finished condition on the Workload. */
void sl_job_finish_workload(struct sl_reconciler *r, const struct sl_json *wl, const char *reason,
                            const char *message, const struct sl_note *note);
/* Of the Workload that the job has: the one that it names, or one made for it. */
void sl_job_workload_name(const struct sl_framework *f, const struct sl_json *job,
                          char out[static 254]);
/* Create this Workload of it, which is taken (NULL: there is none); where another may not be made now, the job is looked at again.
 * What has ended of its pods is given back next. */
void sl_job_make(struct sl_job_view *v, struct sl_json *wl);
/* The rest is looked at when the Workload is seen as it was just written. */
void sl_job_look_on(struct sl_job_view *v, const struct sl_json *wl);
/* Delete a Workload that is not what its job of that kind asks for, with an event about the job. */
void sl_job_delete_workload(struct sl_reconciler *r, enum sl_kind kind, struct sl_json *job,
                            const struct sl_json *wl);
/* Write the object without Sluice's finalizer. */
void sl_job_release_workload(struct sl_reconciler *r, const struct sl_json *wl);
#endif
