/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Making and removing the pods of Jobs, and their counts in the Jobs' status. */
#include "controllers/cluster/pods.h"
#include "base/check.h"
#include "base/mem.h"
#include "controllers/jobs/job.h"
#include "controllers/cluster/runner.h"
#include "base/digest.h"
#include "controllers/work/template.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WRITES_PER_LOOK 64u /* pods made or removed at a time */
#define NAME_BASE_MAX 50    /* of a Job's name, in the names of its pods: they are labels too */
#define INDEXES_MAX 100000  /* as Kubernetes */

bool sl_job_has_pods(const struct sl_json *job)
{
    return sl_template_gated(sl_json_path(job, "spec.template"));
}

/* --- one pod ------------------------------------------------------------------------------------------- */

/* What the kubelet of standalone mode has to know, from the Job's own annotations. */
static void add_wishes(struct sl_json *annotations, const struct sl_json *job)
{
    static const char *const keys[] = {SL_ANNOTATION_RUN_FOR, SL_ANNOTATION_FAIL,
                                       SL_ANNOTATION_READY_AFTER};
    char run_for[32];
    snprintf(run_for, sizeof run_for, "%dms", SL_RUN_FOR_MS_DEFAULT);
    sl_json_set_text(annotations, SL_ANNOTATION_RUN_FOR, run_for);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = sl_object_annotation(job, keys[i]);
        if (value != NULL) {
            sl_json_set_text(annotations, keys[i], value);
        }
    }
}

struct sl_json *sl_job_pod_new(const struct sl_json *job, int64_t index, const char *name)
{
    const struct sl_json *template = sl_json_path(job, "spec.template");
    struct sl_json *pod = sl_object_new(SL_KIND_POD, sl_object_namespace(job), name);
    struct sl_json *labels = sl_json_path_make(pod, "metadata.labels");
    struct sl_json *annotations = sl_json_path_make(pod, "metadata.annotations");
    sl_json_set_all(labels, sl_json_path(template, "metadata.labels"));
    sl_json_set_all(annotations, sl_json_path(template, "metadata.annotations"));
    sl_json_set_text(labels, "job-name", sl_object_name(job));
    sl_json_set_text(labels, "batch.kubernetes.io/job-name", sl_object_name(job));
    sl_json_set_text(labels, "controller-uid", sl_object_uid(job));
    sl_json_set_text(labels, "batch.kubernetes.io/controller-uid", sl_object_uid(job));
    if (index >= 0) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, index);
        sl_json_set_text(labels, SL_LABEL_INDEX, text);
        sl_json_set_text(annotations, SL_LABEL_INDEX, text);
    }
    sl_job_own(pod, job);
    sl_json_set(pod, "spec", sl_json_clone(sl_json_get(template, "spec")));
    return pod;
}

/* --- counting ------------------------------------------------------------------------------------------ */

struct tally {
    int64_t live, ready, succeeded, failed;
};

static bool is_of(const struct sl_pod_row *row, const struct sl_json *job)
{
    return strcmp(row->job_uid, sl_object_uid(job)) == 0;
}

static struct tally count(const struct sl_pods *p, const struct sl_json *job)
{
    struct tally t = {0};
    const struct sl_pod_row *row = sl_podbook_first(p->book, SL_PODS_OF_JOB, p->jobs.current);
    for (; row != NULL; row = row->next[SL_PODS_OF_JOB]) {
        if (is_of(row, job)) {
            t.live += sl_pod_row_live(row);
            t.ready += sl_pod_row_live(row) && row->ready;
            t.succeeded += row->phase == SL_POD_SUCCEEDED;
            t.failed += row->phase == SL_POD_FAILED;
        }
    }
    return t;
}

static int64_t completions_of(const struct sl_json *job)
{
    return sl_json_path_int(job, "spec.completions", sl_json_path_int(job, "spec.parallelism", 1));
}

/* How many should live now. */
static int64_t wanted(const struct sl_json *job, const struct tally *t)
{
    int64_t parallelism = sl_json_path_int(job, "spec.parallelism", 1);
    int64_t left = completions_of(job) - t->succeeded;
    left = left < 0 ? 0 : left;
    return left < parallelism ? left : parallelism;
}

/* --- writing ------------------------------------------------------------------------------------------- */

void sl_pod_remove(struct sl_reconciler *r, const struct sl_pod_row *row)
{
    SL_PRE(r != NULL && row != NULL);
    struct sl_key key;
    if (sl_key_parse(row->key, &key)) {
        struct sl_write w = {.verb = SL_VERB_DELETE,
                             .kind = SL_KIND_POD,
                             .ns = key.ns,
                             .name = key.name,
                             .uid = row->uid};
        sl_reconciler_write(r, &w, NULL);
    }
}

void sl_job_pod_name(const struct sl_json *job, int64_t index, uint64_t salt, int64_t now_ms,
                     char out[static SL_JOB_POD_NAME_SIZE])
{
    char text[128];
    char hex[41];
    snprintf(text, sizeof text, "%.64s/%" PRId64 "/%" PRId64 "/%" PRIu64, sl_object_uid(job), index,
             now_ms, salt);
    sl_sha1_hex(text, strlen(text), hex);
    if (index >= 0) {
        snprintf(out, SL_JOB_POD_NAME_SIZE, "%.*s-%" PRId64 "-%.5s", NAME_BASE_MAX,
                 sl_object_name(job), index, hex);
    } else {
        snprintf(out, SL_JOB_POD_NAME_SIZE, "%.*s-%.5s", NAME_BASE_MAX, sl_object_name(job), hex);
    }
}

static void make_pod(struct sl_pods *p, const struct sl_json *job, int64_t index, int64_t now_ms)
{
    char name[SL_JOB_POD_NAME_SIZE];
    sl_job_pod_name(job, index, p->made++, now_ms, name);
    struct sl_json *pod = sl_job_pod_new(job, index, name);
    add_wishes(sl_json_path_make(pod, "metadata.annotations"), job);
    struct sl_write w = {.verb = SL_VERB_CREATE,
                         .kind = SL_KIND_POD,
                         .ns = sl_object_namespace(job),
                         .name = name,
                         .body = pod};
    sl_reconciler_write(&p->jobs, &w, NULL);
    sl_json_free(pod);
}

static int64_t index_count(const struct sl_json *job)
{
    int64_t n = completions_of(job);
    return n < INDEXES_MAX ? n : INDEXES_MAX;
}

/* Which indexes below n have a pod that has succeeded, or one that lives where these count. The caller frees it. */
static bool *taken_indexes(const struct sl_pods *p, const struct sl_json *job, int64_t n,
                           bool or_live)
{
    bool *taken = sl_mem_new((size_t)n + 1, sizeof *taken);
    const struct sl_pod_row *row = sl_podbook_first(p->book, SL_PODS_OF_JOB, p->jobs.current);
    for (; row != NULL; row = row->next[SL_PODS_OF_JOB]) {
        bool holds = (or_live && sl_pod_row_live(row)) || row->phase == SL_POD_SUCCEEDED;
        if (is_of(row, job) && holds && row->index >= 0 && row->index < n) {
            taken[row->index] = true;
        }
    }
    return taken;
}

/* Make `missing` pods, at most so many at a time; those of the lowest free indexes where it has indexes. */
static void make_pods(struct sl_pods *p, const struct sl_json *job, int64_t missing, int64_t now_ms)
{
    bool indexed = sl_job_indexed(job);
    int64_t n = index_count(job);
    int64_t now = missing < WRITES_PER_LOOK ? missing : WRITES_PER_LOOK;
    bool *taken = indexed ? taken_indexes(p, job, n, true) : NULL;
    int64_t index = 0;
    for (int64_t made = 0; made < now; made++) {
        while (indexed && index < n && taken[index]) {
            index++;
        }
        if (!indexed || index < n) {
            make_pod(p, job, indexed ? index++ : -1, now_ms);
        }
    }
    sl_mem_free(taken);
}

/* Remove pods of the Job, the oldest first: all, those that live, or `most` of those that live. */
static void remove_pods(struct sl_pods *p, const struct sl_json *job, bool all, int64_t most)
{
    unsigned removed = 0;
    const struct sl_pod_row *row = sl_podbook_first(p->book, SL_PODS_OF_JOB, p->jobs.current);
    for (; row != NULL && removed < WRITES_PER_LOOK && removed < most;
         row = row->next[SL_PODS_OF_JOB]) {
        if (is_of(row, job) && !row->deleting && (all || sl_pod_row_live(row))) {
            sl_pod_remove(&p->jobs, row);
            removed++;
        }
    }
}

/* --- looking ------------------------------------------------------------------------------------------- */

static void begin(struct sl_pods *p, struct sl_json *job, int64_t now_ms)
{
    sl_runner_report(p->jobs.events, job, now_ms);
    sl_runner_start(job, now_ms);
    sl_json_set_int(sl_json_path_make(job, "status"), "ready", 0);
    sl_reconciler_write_status(&p->jobs, SL_KIND_JOB, job);
}

/* `key` is absent rather than 0, unless it is `ready`. */
static bool set_count(struct sl_json *status, const char *key, int64_t n)
{
    if (sl_json_path_int(status, key, 0) == n) {
        return false;
    }
    if (n == 0 && strcmp(key, "ready") != 0) {
        sl_json_remove(status, key);
    } else {
        sl_json_set_int(status, key, n);
    }
    return true;
}

/* The indexes that are done, as the job controller lists them. */
static bool set_completed_indexes(const struct sl_pods *p, const struct sl_json *job,
                                  struct sl_json *status)
{
    if (!sl_job_indexed(job)) {
        return false;
    }
    int64_t n = index_count(job);
    struct sl_buf list = {0};
    bool *done = taken_indexes(p, job, n, false);
    for (int64_t first = 0; first < n; first++) {
        int64_t end = first;
        while (end < n && done[end]) {
            end++;
        }
        if (end > first) {
            sl_job_print_indexes(&list, first, end - 1);
            first = end;
        }
    }
    bool differs =
        list.len > 0 && strcmp(sl_json_path_text(status, "completedIndexes", ""), list.data) != 0;
    if (differs) {
        sl_json_set_text(status, "completedIndexes", list.data);
    }
    sl_mem_free(done);
    sl_buf_fini(&list);
    return differs;
}

static void write_counts(struct sl_pods *p, struct sl_json *job, const struct tally *t)
{
    struct sl_json *status = sl_json_path_make(job, "status");
    bool changed = set_count(status, "active", t->live);
    changed = set_count(status, "ready", t->ready) || changed;
    changed = set_count(status, "succeeded", t->succeeded) || changed;
    changed = set_count(status, "failed", t->failed) || changed;
    changed = set_completed_indexes(p, job, status) || changed;
    if (changed) {
        sl_reconciler_write_status(&p->jobs, SL_KIND_JOB, job);
    }
}

static bool is_to_fail(const struct sl_json *job)
{
    const char *fail = sl_object_annotation(job, SL_ANNOTATION_FAIL);
    return fail != NULL && strcmp(fail, "true") == 0;
}

static bool is_over(const struct sl_json *job, const struct tally *t)
{
    bool done = completions_of(job) > 0 && t->succeeded >= completions_of(job);
    return done || (is_to_fail(job) && t->failed > 0);
}

/* Pods first, counts once these have settled: both follow from the same look at the book. */
static void run(struct sl_pods *p, struct sl_json *job, int64_t now_ms)
{
    if (!sl_runner_is_running(job)) {
        begin(p, job, now_ms);
        return;
    }
    struct tally t = count(p, job);
    int64_t aim = wanted(job, &t);
    if (is_over(job, &t)) {
        sl_runner_end(job, now_ms);
        sl_reconciler_write_status(&p->jobs, SL_KIND_JOB, job);
    } else if (t.live < aim) {
        make_pods(p, job, aim - t.live, now_ms);
    } else if (t.live > aim) {
        remove_pods(p, job, false, t.live - aim);
    } else {
        write_counts(p, job, &t);
    }
}

static void stop(struct sl_pods *p, struct sl_json *job, int64_t now_ms)
{
    struct tally t = count(p, job);
    if (t.live > 0) {
        remove_pods(p, job, false, t.live);
    } else if (is_over(job, &t)) {
        sl_runner_end(job, now_ms); /* its last pods ended before it could be stopped */
        sl_reconciler_write_status(&p->jobs, SL_KIND_JOB, job);
    } else if (sl_job_active(job) > 0) {
        sl_runner_stop(job, now_ms);
        sl_reconciler_write_status(&p->jobs, SL_KIND_JOB, job);
    }
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_pods *p = self;
    bool absent;
    bool success;
    const char *message;
    struct sl_json *job = sl_reconciler_get(r, SL_KIND_JOB, key->ns, key->name, &absent);
    if (job == NULL || sl_object_deleting(job)) {
        sl_json_free(job); /* its pods go with it */
        return;
    }
    if (sl_job_finished(job, &success, &message)) {
        remove_pods(p, job, true, INT64_MAX);
    } else if (sl_job_suspended(job)) {
        stop(p, job, now_ms);
    } else if (!sl_job_has_pods(job)) {
        remove_pods(p, job, false, INT64_MAX); /* of an earlier run: now it is the runner's */
    } else {
        run(p, job, now_ms);
    }
    sl_json_free(job);
}

void sl_pods_init(struct sl_pods *p, const struct sl_client *client, struct sl_recorder *events,
                  const struct sl_podbook *book)
{
    SL_PRE(p != NULL);
    *p = (struct sl_pods){.book = book};
    sl_reconciler_init(&p->jobs, "pods of jobs", client, events);
    p->jobs.self = p;
    p->jobs.reconcile = reconcile;
}

void sl_pods_fini(struct sl_pods *p)
{
    SL_PRE(p != NULL);
    sl_reconciler_fini(&p->jobs);
}

void sl_pods_observe_job(struct sl_pods *p, const struct sl_json *job, bool deleted)
{
    SL_PRE(p != NULL);
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(job), sl_object_name(job), key);
    bool has = sl_podbook_first(p->book, SL_PODS_OF_JOB, key) != NULL;
    if (!deleted && !p->off && (sl_job_has_pods(job) || has)) {
        sl_work_add(p->jobs.work, key, SL_WORK_NOW);
    }
}

void sl_pods_observe_pod(struct sl_pods *p, const struct sl_json *pod)
{
    char key[SL_KEY_SIZE];
    const struct sl_json *owner = sl_object_controller_ref(pod);
    if (sl_object_ref_is(owner, SL_KIND_JOB)) {
        sl_key_print(sl_object_namespace(pod), sl_json_path_text(owner, "name", ""), key);
        sl_work_add(p->jobs.work, key, SL_WORK_NOW);
    }
}
