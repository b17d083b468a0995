/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* batch/v1 Jobs: what they say, and the framework that the job controller drives them by. Pure functions over
 * objects; no I/O. */
#ifndef SL_CONTROLLERS_JOB_H
#define SL_CONTROLLERS_JOB_H
#include "controllers/work/framework.h"

#define SL_ANNOTATION_MIN_PODS "kueue.x-k8s.io/job-min-parallelism"
#define SL_ANNOTATION_COMPLETIONS "kueue.x-k8s.io/job-completions-equal-parallelism"
#define SL_POD_SET_MAIN "main"
#define SL_LABEL_INDEX "batch.kubernetes.io/job-completion-index" /* also an annotation */

extern const struct sl_framework sl_job_framework;

bool sl_job_suspended(const struct sl_json *job);
int64_t sl_job_active(const struct sl_json *job);  /* pods that still run */
int64_t sl_job_pods(const struct sl_json *job);    /* min(parallelism, completions) */
bool sl_job_pods_ready(const struct sl_json *job); /* succeeded + ready >= pods */
bool sl_job_indexed(const struct sl_json *job);
/* Pods that will not be replaced when they have ended, since enough have succeeded, or enough indexes have ended for
 * good: their quota may go. */
int64_t sl_job_reclaimable_pods(const struct sl_json *job);
/* Complete or Failed? Then *success and *message (lent) say how. */
bool sl_job_finished(const struct sl_json *job, bool *success, const char **message);

/* Make the Job the controller of the object: its only owner. */
void sl_job_own(struct sl_json *object, const struct sl_json *job);

/* Partial admission: how few pods would do, from the annotation, when it is a number from 1 to less than all
 * its pods; else 0 (all of them are needed). */
int64_t sl_job_min_pods(const struct sl_json *job);
/* Let the Job run this many pods at a time, and have as many completions where it wants them to be equal
 * (changed in place). */
void sl_job_set_pods(struct sl_json *job, int64_t pods);

/* How many whole numbers below `end` the lists name together: "0,2-5" as Indexed Jobs have them. What is malformed
 * is left out. */
int64_t sl_job_count_indexes(const char *completed, const char *failed, int64_t end);
/* Append the numbers from `first` to `last` to such a list, which ends before them and does not border on them: three or
 * more as a range. */
void sl_job_print_indexes(struct sl_buf *list, int64_t first, int64_t last);
#endif
