/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* batch/v1 Jobs as Sluice sees them: what is asked of a Job, and the Workload that stands for it. Pure
 * functions over objects; no I/O. */
#ifndef SL_CONTROLLERS_JOB_H
#define SL_CONTROLLERS_JOB_H
#include "api/object.h"

#define SL_LABEL_QUEUE "kueue.x-k8s.io/queue-name"
#define SL_LABEL_PRIORITY_CLASS "kueue.x-k8s.io/priority-class"
#define SL_LABEL_MAX_EXEC_S "kueue.x-k8s.io/max-exec-time-seconds"
#define SL_ANNOTATION_MIN_PODS "kueue.x-k8s.io/job-min-parallelism"
#define SL_ANNOTATION_COMPLETIONS "kueue.x-k8s.io/job-completions-equal-parallelism"
#define SL_LABEL_JOB_UID "kueue.x-k8s.io/job-uid"
#define SL_FINALIZER "kueue.x-k8s.io/resource-in-use"
#define SL_POD_SET_MAIN "main"
#define SL_LABEL_INDEX "batch.kubernetes.io/job-completion-index" /* also an annotation */

const char *sl_job_queue(const struct sl_json *job); /* NULL: not ours to manage */
bool sl_job_suspended(const struct sl_json *job);
int64_t sl_job_active(const struct sl_json *job);  /* pods that still run */
int64_t sl_job_pods(const struct sl_json *job);    /* min(parallelism, completions) */
bool sl_job_pods_ready(const struct sl_json *job); /* succeeded + ready >= pods */
/* Pods that will not be replaced when they have ended, since enough have succeeded: their quota may go. */
int64_t sl_job_reclaimable_pods(const struct sl_json *job);
/* Complete or Failed? Then *success and *message (lent) say how. */
bool sl_job_finished(const struct sl_json *job, bool *success, const char **message);

/* job-<name>-<5 hex>: Kueue's name, so that both address the same Workload. */
void sl_job_workload_name(const char *job_name, const char *job_uid, char out[static 254]);

/* The label's value when it is a whole positive number of seconds, else 0 (no limit). */
int64_t sl_job_execution_s_max(const struct sl_json *job);

/* Partial admission: how few pods would do, from the annotation, when it is a number from 1 to less than all
 * its pods; else 0 (all of them are needed). */
int64_t sl_job_min_pods(const struct sl_json *job);
/* Let the Job run this many pods at a time, and have as many completions where it wants them to be equal
 * (changed in place). */
void sl_job_set_pods(struct sl_json *job, int64_t pods);

bool sl_job_indexed(const struct sl_json *job);
/* Do the topology annotations of its template make sense? INVALID with causes otherwise. */
enum sl_code sl_job_topology_check(const struct sl_json *job, struct sl_error *e);
/* What its pod set asks of a topology (a new map); NULL: nothing. */
struct sl_json *sl_job_topology_new(const struct sl_json *job);

/* Where the priority of a Workload comes from. name "" = no class. */
struct sl_priority {
    const char *group, *kind, *name;
    int64_t value;
};
/* The Workload that the Job should have: metadata and spec (a new object). */
struct sl_json *sl_job_workload_new(const struct sl_json *job, const struct sl_priority *priority);
/* Make the Job the controller of the object: its only owner. */
void sl_job_own(struct sl_json *object, const struct sl_json *job);
/* Is `wl` owned by that Job (same uid)? */
bool sl_job_owns(const struct sl_json *job, const struct sl_json *wl);

/* The (only) pod set of a Workload; NULL when it has none. */
struct sl_json *sl_workload_pod_set(const struct sl_json *wl);
bool sl_workload_has_finalizer(const struct sl_json *wl);
void sl_workload_drop_finalizer(struct sl_json *wl);
#endif
