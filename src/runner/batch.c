/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs whose pods are processes. */
#include "runner/batch.h"
#include "base/check.h"
#include "base/clock.h"
#include "controllers/cluster/pods.h"
#include "controllers/cluster/runner.h"
#include "controllers/jobs/job.h"
#include "runner/plan.h"
#include "runner/tally.h"
#include "runner/values.h"
#include <stdio.h>
#include <string.h>

#define WRITES_PER_LOOK 64u /* pods made or removed at a time */
#define CONTROLLER "kubernetes.io/job-controller"
#define NO_TTL (-1)
#define LOOKUP_MS 5000 /* after the look-up of a user failed */

static bool is_of(const struct sl_pod_row *row, const struct sl_json *job)
{
    return strcmp(row->job_uid, sl_object_uid(job)) == 0;
}

static const struct sl_pod_row *first_of(const struct sl_batch *b)
{
    return sl_podbook_first(b->book, SL_PODS_OF_JOB, b->jobs.current);
}

static void write_status(struct sl_batch *b, struct sl_json *job)
{
    sl_reconciler_write_status(&b->jobs, SL_KIND_JOB, job);
}

static void note(struct sl_batch *b, const struct sl_json *job, bool warning, const char *reason,
                 const char *message, int64_t now_ms)
{
    sl_recorder_record(b->jobs.events, SL_KIND_JOB, job, warning, reason, message, now_ms);
}

/* --- pods ----------------------------------------------------------------------------------------------- */

/* It is whose the Job is, whatever its template says. */
static void mark_user(struct sl_json *pod, const struct sl_json *job)
{
    static const char *const marks[] = {SL_ANNOTATION_SUBMITTER, SL_ANNOTATION_RUN_AS};
    struct sl_json *annotations = sl_json_path(pod, "metadata.annotations");
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *value = sl_object_annotation(job, marks[i]);
        if (value != NULL) {
            annotations = sl_json_path_make(pod, "metadata.annotations");
            sl_json_set_text(annotations, marks[i], value);
        } else {
            sl_json_remove(annotations, marks[i]);
        }
    }
}

static void make_pod(struct sl_batch *b, struct sl_json *job, int64_t index, int64_t now_ms)
{
    char name[SL_JOB_POD_NAME_SIZE];
    sl_job_pod_name(job, index, b->made++, now_ms, name);
    struct sl_json *pod = sl_job_pod_new(job, index, name);
    struct sl_json *finalizers = sl_json_new_list();
    struct sl_json *spec = sl_json_path_make(pod, "spec");
    mark_user(pod, job);
    sl_json_append(finalizers, sl_json_new_text(SL_FINALIZER_JOB_TRACKING));
    sl_json_set(sl_json_path_make(pod, "metadata"), "finalizers", finalizers);
    if (sl_json_len(sl_json_get(spec, "schedulingGates")) == 0) {
        sl_json_set_text(spec, "nodeName", b->node); /* there is one node, and it was admitted */
    }
    struct sl_write w = {.verb = SL_VERB_CREATE,
                         .kind = SL_KIND_POD,
                         .ns = sl_object_namespace(job),
                         .name = name,
                         .body = pod};
    struct sl_note n = {.kind = SL_KIND_JOB, .about = job, .reason = "SuccessfulCreate"};
    snprintf(n.message, sizeof n.message, "Created pod: %s", name);
    sl_reconciler_write(&b->jobs, &w, &n);
    sl_json_free(pod);
}

/* How many of the missing pods may be made now, which are made with `make`, and when the next one may be. */
static int64_t make_pods(struct sl_batch *b, struct sl_json *job, const struct sl_tally *t,
                         int64_t missing, bool make, int64_t now_ms, int64_t *next_ms)
{
    int64_t index = 0, made = 0, due_ms;
    *next_ms = INT64_MAX;
    while (missing-- > 0 && made < WRITES_PER_LOOK && sl_tally_next(t, job, &index, &due_ms)) {
        if (due_ms > now_ms) {
            *next_ms = due_ms < *next_ms ? due_ms : *next_ms;
        } else {
            made++;
            if (make) {
                make_pod(b, job, index, now_ms);
            }
        }
        index = index < 0 ? 0 : index + 1;
    }
    return made;
}

/* The oldest first, at most so many. */
static void remove_live(struct sl_batch *b, const struct sl_json *job, int64_t most)
{
    int64_t removed = 0;
    const struct sl_pod_row *row = first_of(b);
    for (; row != NULL && removed < (int64_t)WRITES_PER_LOOK && removed < most;
         row = row->next[SL_PODS_OF_JOB]) {
        if (is_of(row, job) && sl_pod_row_live(row)) {
            sl_pod_remove(&b->jobs, row);
            removed++;
        }
    }
}

static void release(struct sl_batch *b, const struct sl_pod_row *row)
{
    bool absent;
    struct sl_key key;
    if (!sl_key_parse(row->key, &key)) {
        return;
    }
    struct sl_json *pod = sl_reconciler_get(&b->jobs, SL_KIND_POD, key.ns, key.name, &absent);
    if (pod != NULL && sl_object_drop_finalizer(pod, SL_FINALIZER_JOB_TRACKING)) {
        struct sl_write w = sl_reconciler_write_of(SL_VERB_UPDATE, SL_KIND_POD, pod, pod);
        sl_reconciler_write(&b->jobs, &w, NULL);
    }
    sl_json_free(pod);
}

/* Pods that have ended need not be counted any more: those of an earlier Job of that name, and with `own` of this one (NULL:
 * there is none). */
static void release_pods(struct sl_batch *b, const struct sl_json *job, bool own)
{
    unsigned released = 0;
    const struct sl_pod_row *row = first_of(b);
    for (; row != NULL && released < WRITES_PER_LOOK; row = row->next[SL_PODS_OF_JOB]) {
        bool ended = row->phase == SL_POD_SUCCEEDED || row->phase == SL_POD_FAILED;
        bool counts = job != NULL && is_of(row, job) && !own;
        if (row->tracked && ended && !counts) {
            release(b, row);
            released++;
        }
    }
}

/* --- from start to end ---------------------------------------------------------------------------------- */

static void fail(struct sl_batch *b, struct sl_json *job, const char *reason, const char *message,
                 int64_t now_ms)
{
    sl_condition_set(sl_json_path_make(job, "status"), "Failed", true, reason, message, 0, now_ms);
    note(b, job, true, reason, message, now_ms);
    write_status(b, job);
}

/* What its pods would not be given either. */
static bool is_without_user(struct sl_batch *b, struct sl_json *job, int64_t now_ms)
{
    struct sl_account account = {.name = NULL};
    struct sl_error e = {0};
    if (!b->as_submitter) {
        return false;
    }
    enum sl_code code = sl_account_of(job, &account, &e);
    if (code == SL_CODE_UNAVAILABLE) {
        note(b, job, true, "UserLookupFailed", e.text, now_ms);
        sl_work_add(b->jobs.work, b->jobs.current, now_ms + LOOKUP_MS);
    } else if (code != SL_CODE_OK) {
        fail(b, job, "UnknownUser", e.text, now_ms);
    } else {
        sl_account_fini(&account);
    }
    return code != SL_CODE_OK;
}

/* What would not be done as it says is not begun. */
static bool is_refused(struct sl_batch *b, struct sl_json *job, int64_t now_ms)
{
    static const char *const unknown[] = {"spec.podFailurePolicy", "spec.successPolicy"};
    const struct sl_plan_facts facts = {.node = b->node, .runtime = b->runtime};
    struct sl_error e = {0};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        if (sl_json_path(job, unknown[i]) != NULL) {
            (void)sl_error_set(&e, SL_CODE_INVALID, "%s: is not known here", unknown[i]);
        }
    }
    struct sl_json *pod = sl_job_pod_new(job, sl_job_indexed(job) ? 0 : -1, "pod");
    struct sl_json *filled =
        e.code == SL_CODE_OK ? sl_values_new(pod, "spec.template.spec", NULL, &e) : NULL;
    struct sl_json *plan =
        filled == NULL ? NULL : sl_plan_new(filled, "spec.template.spec", &facts, &e);
    sl_json_free(plan);
    sl_json_free(filled);
    sl_json_free(pod);
    if (e.code != SL_CODE_OK) {
        fail(b, job, "UnsupportedSpec", e.text, now_ms);
    }
    return e.code != SL_CODE_OK;
}

static void say_ignored(struct sl_batch *b, const struct sl_json *job, int64_t now_ms)
{
    struct sl_json *ignored = sl_json_new_list();
    sl_plan_ignored(sl_json_path(job, "spec.template.spec"), b->runtime != NULL, ignored);
    for (size_t i = 0; i < sl_json_len(ignored); i++) {
        char text[256];
        snprintf(text, sizeof text, "spec.template.%s", sl_json_text(sl_json_at(ignored, i), ""));
        note(b, job, true, "FieldIgnored", text, now_ms);
    }
    sl_json_free(ignored);
}

/* `active` says from now on that quota is in use, before a pod is. */
static void begin(struct sl_batch *b, struct sl_json *job, int64_t now_ms)
{
    char time[32];
    if (is_without_user(b, job, now_ms) || is_refused(b, job, now_ms)) {
        return;
    }
    say_ignored(b, job, now_ms);
    struct sl_json *status = sl_json_path_make(job, "status");
    sl_clock_format(now_ms, time);
    sl_json_set_text(status, "startTime", time);
    sl_json_set_int(status, "active", sl_job_pods(job));
    sl_json_set_int(status, "ready", 0);
    if (sl_condition_true(job, "Suspended")) {
        sl_condition_set(status, "Suspended", false, "JobResumed", "Job resumed", 0, now_ms);
    }
    write_status(b, job);
}

static void complete(struct sl_batch *b, struct sl_json *job, const struct sl_tally *t,
                     int64_t now_ms)
{
    char time[32];
    static const char reason[] = "CompletionsReached";
    static const char message[] = "Reached expected number of succeeded pods";
    struct sl_json *status = sl_json_path_make(job, "status");
    sl_clock_format(now_ms, time);
    (void)sl_tally_write(t, job);
    sl_json_set_text(status, "completionTime", time);
    sl_condition_set(status, "SuccessCriteriaMet", true, reason, message, 0, now_ms);
    sl_condition_set(status, "Complete", true, reason, message, 0, now_ms);
    note(b, job, false, "Completed", "Job completed", now_ms);
    write_status(b, job);
}

/* Once it is decided it stays so; it has failed when its last process has ended. */
static void go_down(struct sl_batch *b, struct sl_json *job, const struct sl_tally *t,
                    int64_t now_ms)
{
    const struct sl_json *target = sl_condition_find(job, "FailureTarget");
    if (t->live > 0) {
        remove_live(b, job, INT64_MAX);
    } else if (t->ending == 0) {
        (void)sl_tally_write(t, job);
        char reason[64], message[256];
        snprintf(reason, sizeof reason, "%s", sl_json_path_text(target, "reason", ""));
        snprintf(message, sizeof message, "%s", sl_json_path_text(target, "message", ""));
        fail(b, job, reason, message, now_ms);
    } else if (sl_tally_write(t, job)) {
        write_status(b, job);
    }
}

/* Pods up to that number. The status says that they are there before they are: a Job that is suspended with none
 * of them has none. */
static void make_up(struct sl_batch *b, struct sl_json *job, const struct sl_tally *t,
                    int64_t wanted, int64_t now_ms)
{
    int64_t busy = t->live + t->ending, next_ms;
    int64_t due = make_pods(b, job, t, wanted - busy, false, now_ms, &next_ms);
    if (due > 0 && sl_job_active(job) < busy + due) {
        sl_json_set_int(sl_json_path_make(job, "status"), "active", busy + due);
        write_status(b, job);
    } else if (due > 0) {
        (void)make_pods(b, job, t, wanted - busy, true, now_ms, &next_ms);
    } else if (sl_tally_write(t, job)) {
        write_status(b, job);
    }
    if (next_ms != INT64_MAX) {
        sl_work_add(b->jobs.work, b->jobs.current, next_ms);
    }
}

static void go_on(struct sl_batch *b, struct sl_json *job, const struct sl_tally *t, int64_t now_ms)
{
    const char *message;
    struct sl_json *status = sl_json_path_make(job, "status");
    int64_t wanted = sl_tally_wanted(t, job);
    int64_t busy = t->live + t->ending;
    const char *reason = sl_tally_failure(t, job, now_ms, &message);
    if (sl_tally_complete(t, job) && busy == 0) {
        complete(b, job, t, now_ms);
    } else if (reason != NULL && !sl_tally_complete(t, job)) {
        sl_condition_set(status, "FailureTarget", true, reason, message, 0, now_ms);
        write_status(b, job);
    } else if (t->live > wanted) {
        remove_live(b, job, t->live - wanted);
    } else {
        make_up(b, job, t, wanted, now_ms);
    }
}

static void run(struct sl_batch *b, struct sl_json *job, int64_t now_ms)
{
    struct sl_tally t;
    if (!sl_runner_is_running(job)) {
        begin(b, job, now_ms);
        return;
    }
    int64_t due_ms = sl_job_deadline_ms(job);
    sl_tally_init(&t, b->book, job, b->jobs.current);
    if (sl_condition_true(job, "FailureTarget")) {
        go_down(b, job, &t, now_ms);
    } else {
        go_on(b, job, &t, now_ms);
    }
    if (due_ms != INT64_MAX && due_ms > now_ms) {
        sl_work_add(b->jobs.work, b->jobs.current, due_ms);
    }
    sl_tally_fini(&t);
}

static void stop(struct sl_batch *b, struct sl_json *job, int64_t now_ms)
{
    struct sl_tally t;
    sl_tally_init(&t, b->book, job, b->jobs.current);
    if (t.live > 0) {
        remove_live(b, job, INT64_MAX);
    } else if (t.ending > 0) {
        if (sl_tally_write(&t, job)) {
            write_status(b, job);
        }
    } else if (sl_tally_complete(&t, job)) {
        complete(b, job, &t, now_ms); /* its last pods ended before it could be stopped */
    } else if (sl_runner_is_running(job) || sl_job_active(job) > 0) {
        (void)sl_tally_write(&t, job);
        sl_condition_set(sl_json_path_make(job, "status"), "Suspended", true, "JobSuspended",
                         "Job suspended", 0, now_ms);
        write_status(b, job);
    }
    sl_tally_fini(&t);
}

/* --- afterwards ----------------------------------------------------------------------------------------- */

static int64_t finished_ms(const struct sl_json *job)
{
    const char *type = sl_condition_true(job, "Failed") ? "Failed" : "Complete";
    return sl_clock_parse(
        sl_json_path_text(sl_condition_find(job, type), "lastTransitionTime", ""));
}

static void retire(struct sl_batch *b, struct sl_json *job, int64_t now_ms)
{
    int64_t ttl_s = sl_json_path_int(job, "spec.ttlSecondsAfterFinished", NO_TTL);
    int64_t due_ms = finished_ms(job) + ttl_s * 1000;
    remove_live(b, job, INT64_MAX);
    release_pods(b, job, true);
    if (ttl_s == NO_TTL || finished_ms(job) == INT64_MIN) {
        return;
    }
    if (due_ms > now_ms) {
        sl_work_add(b->jobs.work, b->jobs.current, due_ms);
    } else {
        struct sl_write w = sl_reconciler_write_of(SL_VERB_DELETE, SL_KIND_JOB, job, NULL);
        sl_reconciler_write(&b->jobs, &w, NULL);
    }
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    struct sl_batch *b = self;
    bool absent, success;
    const char *message;
    struct sl_json *job = sl_reconciler_get(r, SL_KIND_JOB, key->ns, key->name, &absent);
    if (job == NULL) {
        if (absent) {
            release_pods(b, NULL, true);
        }
        return;
    }
    const char *by = sl_json_path_text(job, "spec.managedBy", CONTROLLER);
    if (sl_object_deleting(job)) {
        remove_live(b, job, INT64_MAX);
        release_pods(b, job, true);
    } else if (strcmp(by, CONTROLLER) == 0) {
        if (sl_job_finished(job, &success, &message)) {
            retire(b, job, now_ms);
            sl_json_free(job);
            return;
        }
        release_pods(b, job, false);
        if (sl_job_suspended(job)) {
            stop(b, job, now_ms);
        } else {
            run(b, job, now_ms);
        }
    }
    sl_json_free(job);
}

void sl_batch_init(struct sl_batch *b, const struct sl_client *client, struct sl_recorder *events)
{
    SL_PRE(b != NULL && b->book != NULL && b->node != NULL);
    sl_reconciler_init(&b->jobs, "jobs as processes", client, events);
    b->jobs.self = b;
    b->jobs.reconcile = reconcile;
}

void sl_batch_fini(struct sl_batch *b)
{
    SL_PRE(b != NULL);
    sl_reconciler_fini(&b->jobs);
}

void sl_batch_observe_job(struct sl_batch *b, const struct sl_json *job)
{
    SL_PRE(b != NULL);
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(job), sl_object_name(job), key);
    sl_work_add(b->jobs.work, key, SL_WORK_NOW);
}

void sl_batch_observe_pod(struct sl_batch *b, const struct sl_json *pod)
{
    SL_PRE(b != NULL);
    char key[SL_KEY_SIZE];
    const struct sl_json *owner = sl_object_controller_ref(pod);
    if (sl_object_ref_is(owner, SL_KIND_JOB)) {
        sl_key_print(sl_object_namespace(pod), sl_json_path_text(owner, "name", ""), key);
        sl_work_add(b->jobs.work, key, SL_WORK_NOW);
    }
}
