/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The job runner. */
#include "controllers/cluster/runner.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "controllers/work/duration.h"
#include "controllers/jobs/job.h"
#include "controllers/cluster/pods.h"
#include "controllers/work/slices.h"
#include <stdio.h>
#include <string.h>

enum sl_code sl_runner_run_for(const struct sl_json *job, int64_t *ms, struct sl_error *e)
{
    const char *text = sl_object_annotation(job, SL_ANNOTATION_RUN_FOR);
    *ms = SL_RUN_FOR_MS_DEFAULT;
    return text == NULL ? SL_CODE_OK : sl_duration_parse(text, ms, e);
}

enum sl_code sl_runner_ready_after(const struct sl_json *job, int64_t *ms, struct sl_error *e)
{
    const char *text = sl_object_annotation(job, SL_ANNOTATION_READY_AFTER);
    *ms = 0;
    return text == NULL ? SL_CODE_OK : sl_duration_parse(text, ms, e);
}

void sl_runner_ready(struct sl_json *job)
{
    sl_json_set_int(sl_json_path_make(job, "status"), "ready", sl_job_pods(job));
}

void sl_runner_start(struct sl_json *job, int64_t now_ms)
{
    struct sl_error e = {0};
    int64_t ready_after_ms;
    (void)sl_runner_ready_after(job, &ready_after_ms, &e); /* a bad one is reported by the caller */
    char time[32];
    struct sl_json *status = sl_json_path_make(job, "status");
    sl_clock_format(now_ms, time);
    sl_json_set_text(status, "startTime", time);
    sl_json_set_int(status, "active", sl_job_pods(job));
    sl_json_set_int(status, "ready", ready_after_ms > 0 ? 0 : sl_job_pods(job));
    if (sl_condition_true(job, "Suspended")) {
        sl_condition_set(status, "Suspended", false, "JobResumed", "Job resumed", 0, now_ms);
    }
}

static void no_pods(struct sl_json *status)
{
    sl_json_remove(status, "active");
    sl_json_set_int(status, "ready", 0);
}

void sl_runner_stop(struct sl_json *job, int64_t now_ms)
{
    struct sl_json *status = sl_json_path_make(job, "status");
    no_pods(status);
    sl_condition_set(status, "Suspended", true, "JobSuspended", "Job suspended", 0, now_ms);
}

/* Of all its completions. */
static void write_completions(const struct sl_json *job, struct sl_json *status)
{
    int64_t parallelism = sl_json_path_int(job, "spec.parallelism", 1);
    int64_t completions = sl_json_path_int(job, "spec.completions", parallelism);
    struct sl_buf indexes = {0};
    sl_json_set_int(status, "succeeded", completions);
    if (sl_job_indexed(job) && completions > 0) {
        sl_job_print_indexes(&indexes, 0, completions - 1);
        sl_json_set_text(status, "completedIndexes", indexes.data);
    }
    sl_buf_fini(&indexes);
}

void sl_runner_end(struct sl_json *job, int64_t now_ms)
{
    const char *fail = sl_object_annotation(job, SL_ANNOTATION_FAIL);
    struct sl_json *status = sl_json_path_make(job, "status");
    no_pods(status);
    if (fail != NULL && strcmp(fail, "true") == 0) {
        sl_json_set_int(status, "failed", sl_job_pods(job));
        sl_condition_set(status, "Failed", true, "BackoffLimitExceeded",
                         "Job has reached the specified backoff limit", 0, now_ms);
        return;
    }
    char time[32];
    sl_clock_format(now_ms, time);
    write_completions(job, status);
    sl_json_set_text(status, "completionTime", time);
    sl_condition_set(status, "Complete", true, "CompletionsReached",
                     "Reached expected number of succeeded pods", 0, now_ms);
}

static void report(struct sl_recorder *events, const struct sl_json *job, const char *reason,
                   const char *message, int64_t now_ms)
{
    sl_recorder_record(events, SL_KIND_JOB, job, true, reason, message, now_ms);
}

void sl_runner_report(struct sl_recorder *events, const struct sl_json *job, int64_t now_ms)
{
    struct sl_error e = {0};
    int64_t ms;
    char message[640];
    if (sl_runner_run_for(job, &ms, &e) != SL_CODE_OK) {
        snprintf(message, sizeof message, "Annotation %s: %s; it runs for a second instead",
                 SL_ANNOTATION_RUN_FOR, e.text);
        report(events, job, "InvalidRunFor", message, now_ms);
    }
    if (sl_runner_ready_after(job, &ms, &e) != SL_CODE_OK) {
        snprintf(message, sizeof message, "Annotation %s: %s; its pods are ready at once",
                 SL_ANNOTATION_READY_AFTER, e.text);
        report(events, job, "InvalidReadyAfter", message, now_ms);
    }
}

/* How many of its pods can be ready: those that have quota. */
static int64_t pods_with_quota(const struct sl_runner *n, const struct sl_json *job)
{
    char key[SL_KEY_SIZE];
    int64_t pods = sl_job_pods(job);
    const char *slice =
        sl_object_annotation(sl_json_path(job, "spec.template"), SL_ANNOTATION_SLICE);
    if (n->slices == NULL || slice == NULL) {
        return pods;
    }
    sl_key_print(sl_object_namespace(job), slice, key);
    int64_t granted = sl_elastic_ungater_granted(n->slices, key, SL_POD_SET_MAIN);
    return granted < pods ? granted : pods;
}

/* An elastic one has another number of pods by now, or of those that have quota; true when that has to be written. */
static bool adjust(const struct sl_runner *n, struct sl_json *job)
{
    struct sl_json *status = sl_json_path_make(job, "status");
    int64_t active = sl_json_path_int(status, "active", 0), pods = sl_job_pods(job);
    int64_t ready = sl_json_path_int(status, "ready", 0), most = pods_with_quota(n, job);
    if (sl_object_annotation(sl_json_path(job, "spec.template"), SL_ANNOTATION_SLICE) == NULL ||
        (active == pods && (ready == 0 || ready == most))) {
        return false;
    }
    sl_json_set_int(status, "active", pods);
    sl_json_set_int(status, "ready", ready == 0 ? 0 : most);
    return true;
}

static void begin(struct sl_runner *n, struct sl_json *job, int64_t now_ms)
{
    sl_runner_report(n->jobs.events, job, now_ms);
    sl_runner_start(job, now_ms);
    (void)adjust(n, job);
    sl_map_put(n->started_ms, n->jobs.current, (union sl_map_value){.number = (uint64_t)now_ms});
    sl_reconciler_write_status(&n->jobs, SL_KIND_JOB, job);
}

/* When the running Job was started; INT64_MIN when unknown. */
static int64_t start_ms(const struct sl_runner *n, const char *key, const struct sl_json *job)
{
    union sl_map_value known;
    if (sl_map_get(n->started_ms, key, &known)) {
        return (int64_t)known.number;
    }
    return sl_clock_parse(sl_json_path_text(job, "status.startTime", ""));
}

/* When it is to end. */
static int64_t end_ms(const struct sl_runner *n, const char *key, const struct sl_json *job)
{
    struct sl_error e = {0};
    int64_t run_for_ms;
    int64_t from_ms = start_ms(n, key, job);
    (void)sl_runner_run_for(job, &run_for_ms, &e); /* a bad one was reported when it started */
    return from_ms == INT64_MIN ? SL_WORK_NOW : from_ms + run_for_ms;
}

/* When its pods become ready; never when they are. */
static int64_t ready_ms(const struct sl_runner *n, const char *key, const struct sl_json *job)
{
    struct sl_error e = {0};
    int64_t after_ms;
    int64_t from_ms = start_ms(n, key, job);
    if (sl_job_pods_ready(job) ||
        sl_json_path_int(job, "status.ready", 0) >= pods_with_quota(n, job)) {
        return SL_WORK_NEVER;
    }
    (void)sl_runner_ready_after(job, &after_ms, &e);
    return from_ms == INT64_MIN ? SL_WORK_NOW : from_ms + after_ms;
}

static int64_t next_ms(const struct sl_runner *n, const char *key, const struct sl_json *job)
{
    int64_t end = end_ms(n, key, job);
    int64_t ready = ready_ms(n, key, job);
    return end < ready ? end : ready;
}

static void forget(struct sl_runner *n, const char *key)
{
    sl_map_remove(n->started_ms, key, NULL);
}

bool sl_runner_is_running(const struct sl_json *job)
{
    return sl_json_path(job, "status.startTime") != NULL && !sl_condition_true(job, "Suspended");
}

static void run(struct sl_runner *n, struct sl_json *job, int64_t now_ms)
{
    struct sl_reconciler *r = &n->jobs;
    if (!sl_runner_is_running(job)) {
        begin(n, job, now_ms);
    } else if (adjust(n, job)) {
        sl_reconciler_write_status(r, SL_KIND_JOB, job); /* which is seen, and the rest done then */
    } else if (next_ms(n, r->current, job) > now_ms) {
        sl_work_add(r->work, r->current, next_ms(n, r->current, job));
    } else {
        if (end_ms(n, r->current, job) <= now_ms) {
            sl_runner_end(job, now_ms);
        } else {
            sl_runner_ready(job);
            (void)adjust(n, job);
        }
        sl_reconciler_write_status(r, SL_KIND_JOB, job);
    }
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_runner *n = self;
    bool absent;
    bool success;
    const char *message;
    struct sl_json *job = sl_reconciler_get(r, SL_KIND_JOB, key->ns, key->name, &absent);
    if (job == NULL || sl_object_deleting(job) || sl_job_has_pods(job) ||
        sl_job_finished(job, &success, &message)) {
        forget(n, r->current);
    } else if (!sl_job_suspended(job)) {
        run(n, job, now_ms);
    } else {
        forget(n, r->current);
        if (sl_job_active(job) > 0) {
            sl_runner_stop(job, now_ms);
            sl_reconciler_write_status(r, SL_KIND_JOB, job);
        }
    }
    sl_json_free(job);
}

void sl_runner_init(struct sl_runner *n, const struct sl_client *client, struct sl_recorder *events)
{
    SL_PRE(n != NULL);
    *n = (struct sl_runner){.started_ms = sl_map_new()};
    sl_reconciler_init(&n->jobs, "job runner", client, events);
    n->jobs.self = n;
    n->jobs.reconcile = reconcile;
}

void sl_runner_fini(struct sl_runner *n)
{
    SL_PRE(n != NULL);
    sl_reconciler_fini(&n->jobs);
    sl_map_free(n->started_ms);
}

void sl_runner_observe(struct sl_runner *n, const struct sl_json *job, bool deleted)
{
    char key[SL_KEY_SIZE];
    bool success;
    const char *message;
    sl_key_print(sl_object_namespace(job), sl_object_name(job), key);
    bool idle = sl_job_suspended(job) && sl_job_active(job) == 0;
    if (deleted || sl_job_has_pods(job)) {
        forget(n, key);
    } else if (!idle && !sl_job_finished(job, &success, &message)) {
        bool elastic =
            sl_object_annotation(sl_json_path(job, "spec.template"), SL_ANNOTATION_SLICE) != NULL;
        bool wait = !elastic && !sl_job_suspended(job) && sl_runner_is_running(job);
        sl_work_add(n->jobs.work, key, wait ? next_ms(n, key, job) : SL_WORK_NOW);
    }
}

void sl_runner_observe_workload(struct sl_runner *n, const struct sl_json *wl)
{
    char key[SL_KEY_SIZE];
    SL_PRE(n != NULL);
    const struct sl_json *owner = sl_object_controller_ref(wl);
    if (sl_is_elastic(wl) && sl_object_ref_is(owner, SL_KIND_JOB)) {
        sl_key_print(sl_object_namespace(wl), sl_json_path_text(owner, "name", ""), key);
        sl_work_add(n->jobs.work, key, SL_WORK_NOW);
    }
}
