/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What to do about one job and its Workload: make the Workload, keep both matching, start and stop the job as
 * the Workload says, finish the Workload when the job ends. */
#include "controllers/jobs/job_steps.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "controllers/jobs/job_run.h"
#include <stdio.h>
#include <string.h>

#define REMAKE_MS 1000
#define MADE_MAX 2u /* Workloads of one job in that time */

void sl_job_workload_name(const struct sl_framework *f, const struct sl_json *job,
                          char out[static 254])
{
    const char *name = sl_job_prebuilt(job);
    if (name != NULL) {
        memcpy(out, name, strlen(name) + 1);
    } else {
        sl_framework_workload_name(f, sl_object_name(job), sl_object_uid(job), out);
    }
}

void sl_job_finish_workload(struct sl_reconciler *r, const struct sl_json *wl, const char *reason,
                            const char *message, const struct sl_note *note)
{
    struct sl_json *o = sl_json_clone(wl);
    sl_condition_set(sl_json_path_make(o, "status"), "Finished", true, reason, message,
                     sl_object_generation(wl), sl_clock_now_ms());
    sl_job_write(r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, note);
    sl_json_free(o);
}

void sl_job_release_workload(struct sl_reconciler *r, const struct sl_json *wl)
{
    struct sl_json *o = sl_json_clone(wl);
    sl_workload_drop_finalizer(o);
    sl_job_write(r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, NULL);
    sl_json_free(o);
}

void sl_job_delete_workload(struct sl_reconciler *r, enum sl_kind kind, struct sl_json *job,
                            const struct sl_json *wl)
{
    struct sl_write w = sl_reconciler_write_of(SL_VERB_DELETE, SL_KIND_WORKLOAD, wl, NULL);
    struct sl_note note = {.kind = kind, .about = job, .reason = "DeletedWorkload"};
    snprintf(note.message, sizeof note.message, "Deleted not matching Workload: %s/%s",
             sl_object_namespace(wl), sl_object_name(wl));
    sl_reconciler_write(r, &w, &note);
}

/* --- creating and matching ----------------------------------------------------------------------------- */

/* The class that the job names, or the default one; the text is lent. */
static const char *class_of(const struct sl_job_view *v, enum sl_kind *kind)
{
    const char *name = sl_object_label(v->job, SL_LABEL_PRIORITY_CLASS);
    *kind = SL_KIND_WORKLOAD_PRIORITY_CLASS;
    if (name != NULL && name[0] != '\0') {
        return name;
    }
    *kind = SL_KIND_PRIORITY_CLASS;
    name = v->f->priority_class(v->f, v->job);
    if (name[0] != '\0') {
        return name;
    }
    size_t cursor = 0;
    union sl_map_value value;
    return sl_map_next(v->j->default_classes, &cursor, &name, &value) ? name : "";
}

/* False when the class does not exist (yet): the job then waits for it. */
static bool find_priority(struct sl_job_view *v, struct sl_priority *out)
{
    enum sl_kind kind;
    const char *name = class_of(v, &kind);
    bool found = sl_priority_find(v->r, kind, name, out);
    if (!found) {
        char message[512];
        bool ours = kind == SL_KIND_WORKLOAD_PRIORITY_CLASS;
        snprintf(message, sizeof message, "%s \"%s\" not found", out->kind, name);
        sl_job_report(v, ours ? "WorkloadPriorityClassNotFound" : "PriorityClassNotFound", message);
        sl_map_put(v->of->blocked, v->key, (union sl_map_value){.number = 0});
    }
    return found;
}

static void report_cause(const struct sl_job_view *v, const char *reason, const struct sl_error *e)
{
    char message[512];
    snprintf(message, sizeof message, "%s: %s", e->causes[0].field, e->causes[0].text);
    sl_job_report(v, reason, e->cause_count > 0 ? message : e->text);
}

/* An API server without Sluice's rules may have let it through; then it waits for a better template. */
static bool topology_makes_sense(const struct sl_job_view *v)
{
    struct sl_error e = {0};
    if (sl_pod_sets_check(&v->sets, &e) == SL_CODE_OK) {
        return true;
    }
    report_cause(v, "InvalidTopologyRequest", &e);
    return false;
}

/* The Workload that the job should have; NULL while something that it needs is missing. */
static struct sl_json *wanted_new(struct sl_job_view *v)
{
    struct sl_workload_plan plan = {.queue = v->queue,
                                    .sets = &v->sets,
                                    .label_key_count = v->j->rules.label_key_count,
                                    .label_keys = v->j->rules.label_keys};
    if (!topology_makes_sense(v) || !find_priority(v, &plan.priority)) {
        return NULL;
    }
    return sl_framework_workload_new(v->f, v->job, &plan);
}

/* Not faster than that: a Workload that is deleted at once, since its job was deleted and our watch
 * has not shown it, would be created again and again. */
static bool may_make(struct sl_job_view *v)
{
    struct sl_jobs *j = v->j;
    if (v->now_ms >= j->made_until_ms || v->now_ms < j->made_until_ms - REMAKE_MS) {
        sl_map_free(j->made);
        j->made = sl_map_new();
        j->made_until_ms = v->now_ms + REMAKE_MS;
    }
    union sl_map_value made = {.number = 0};
    if (sl_map_get(j->made, v->key, &made) && made.number >= MADE_MAX) {
        sl_work_add(v->r->work, v->key, j->made_until_ms);
        return false;
    }
    sl_map_put(j->made, v->key, (union sl_map_value){.number = made.number + 1});
    return true;
}

static void create(struct sl_job_view *v)
{
    bool waits = sl_job_prebuilt(v->job) != NULL;
    bool idle = v->f->suspended(v->f, v->job) && !sl_job_stopping(v) &&
                (v->f->forgets_start || !v->f->active(v->f, v->job));
    if (!idle && !sl_job_stop(v, waits ? "missing workload"
                                       : "Missing Workload; unable to restore pod templates")) {
        return;
    }
    if (waits) { /* it is prebuilt; nothing in it says which job it is for */
        sl_work_add(v->r->work, v->key, v->now_ms + SL_RETRY_MS);
        return;
    }
    struct sl_json *wl = wanted_new(v);
    if (wl == NULL || !may_make(v)) {
        sl_json_free(wl);
        return;
    }
    struct sl_note note = sl_job_note(v, false, "CreatedWorkload");
    snprintf(note.message, sizeof note.message, "Created Workload: %s/%s", sl_object_namespace(wl),
             sl_object_name(wl));
    sl_job_write(v->r, SL_VERB_CREATE, SL_KIND_WORKLOAD, wl, &note);
    sl_json_free(wl);
}

/* What was injected into a job that runs cannot change any more: Kubernetes keeps its template as it is. */
static bool job_matches(struct sl_job_view *v)
{
    return sl_workload_limit_matches(v->wl, v->job) &&
           sl_pod_sets_match(&v->sets, v->wl, v->f->suspended(v->f, v->job));
}

/* Queue, class and topology, which may change while nothing is reserved. */
static bool wishes_match(const struct sl_job_view *v)
{
    enum sl_kind kind;
    const char *class = class_of(v, &kind);
    return strcmp(sl_json_path_text(v->wl, "spec.queueName", ""), v->queue) == 0 &&
           strcmp(sl_json_path_text(v->wl, "spec.priorityClassRef.name", ""), class) == 0 &&
           sl_pod_sets_wish_the_same(&v->sets, v->wl);
}

static void update_workload(struct sl_job_view *v)
{
    struct sl_json *wanted = wanted_new(v);
    if (wanted == NULL) {
        return;
    }
    struct sl_json *o = sl_workload_respecified_new(v->wl, wanted);
    sl_json_free(wanted);
    struct sl_note note = sl_job_note(v, false, "UpdatedWorkload");
    snprintf(note.message, sizeof note.message,
             "Updated not matching Workload for suspended job: %s/%s", sl_object_namespace(o),
             sl_object_name(o));
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
    sl_json_free(o);
}

/* A Workload that holds quota follows its job to another WorkloadPriorityClass; true when that had to be written. */
static bool reprioritize(struct sl_job_view *v)
{
    static const char kind_path[] = "spec.priorityClassRef.kind";
    static const char name_path[] = "spec.priorityClassRef.name";
    const char *name = sl_object_label(v->job, SL_LABEL_PRIORITY_CLASS);
    struct sl_priority priority;
    if (name == NULL || name[0] == '\0' || !sl_condition_true(v->wl, "QuotaReserved") ||
        strcmp(sl_json_path_text(v->wl, kind_path, ""), "WorkloadPriorityClass") != 0 ||
        strcmp(sl_json_path_text(v->wl, name_path, ""), name) == 0 ||
        !find_priority(v, &priority)) {
        return false;
    }
    struct sl_json *o = sl_json_clone(v->wl);
    struct sl_json *spec = sl_json_path_make(o, "spec");
    sl_json_set_int(spec, "priority", priority.value);
    sl_json_set_text(sl_json_path_make(spec, "priorityClassRef"), "name", name);
    struct sl_note note = sl_job_note(v, false, "UpdatedWorkload");
    snprintf(note.message, sizeof note.message, "Updated workload priority class: %s/%s",
             sl_object_namespace(o), sl_object_name(o));
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
    sl_json_free(o);
    return true;
}

/* Others rely on what a Workload says that they have made: it is given up instead of changed. */
static void give_up_prebuilt(struct sl_job_view *v)
{
    sl_job_finish_workload(v->r, v->wl, "OutOfSync",
                           "The prebuilt workload is out of sync with its user job", NULL);
}

static void delete_workload(struct sl_job_view *v)
{
    sl_job_delete_workload(v->r, v->f->kind, v->job, v->wl);
}

/* The job asks for other pods than its Workload, or for another limit. Without a reservation the
 * Workload is updated; with one it is deleted, which releases the quota, and created again. */
static void rematch(struct sl_job_view *v)
{
    if (!v->f->suspended(v->f, v->job)) {
        sl_job_stop(v,
                    "No matching Workload; restoring pod templates according to existent Workload");
    } else if (sl_job_prebuilt(v->job) != NULL) {
        give_up_prebuilt(v);
    } else if (!sl_condition_true(v->wl, "QuotaReserved")) {
        update_workload(v);
    } else {
        delete_workload(v);
    }
}

/* No pods at all: what it had is given back. */
static void want_nothing(struct sl_job_view *v)
{
    if (v->wl == NULL) {
        return;
    }
    if (!sl_object_deleting(v->wl)) {
        delete_workload(v);
    } else if (sl_workload_has_finalizer(v->wl)) {
        sl_job_release_workload(v->r, v->wl);
    }
}

/* The Workload that the job names becomes its own; true when that had to be written. */
static bool adopt(struct sl_job_view *v)
{
    if (sl_object_controller_ref(v->wl) != NULL) {
        return false;
    }
    struct sl_json *o = sl_json_clone(v->wl);
    sl_framework_own(v->f, o, v->job);
    sl_json_set_text(sl_json_path_make(o, "metadata.labels"), SL_LABEL_JOB_UID,
                     sl_object_uid(v->job));
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, NULL);
    sl_json_free(o);
    return true;
}

/* --- what the Workload says ---------------------------------------------------------------------------- */

static void job_ended(struct sl_job_view *v, bool success, const char *message)
{
    if (v->wl == NULL) {
        return;
    }
    if (!sl_condition_true(v->wl, "Finished")) {
        struct sl_note note = sl_job_note(v, false, "FinishedWorkload");
        snprintf(note.message, sizeof note.message, "Workload '%s/%s' is declared finished",
                 sl_object_namespace(v->wl), sl_object_name(v->wl));
        sl_job_finish_workload(v->r, v->wl, success ? "Succeeded" : "Failed",
                               message[0] != '\0' ? message : "Job finished", &note);
    } else if (sl_workload_has_finalizer(v->wl)) {
        sl_job_release_workload(v->r, v->wl);
    }
}

/* Evicted or being deleted: the job stops first, then the quota goes. */
static void stop_for(struct sl_job_view *v, const char *condition, const char *fallback)
{
    const struct sl_json *c = sl_condition_find(v->wl, condition);
    if (!sl_job_stop(v, sl_json_text(sl_json_get(c, "message"), fallback))) {
        return;
    }
    if (sl_object_deleting(v->wl)) {
        if (sl_workload_has_finalizer(v->wl)) {
            sl_job_release_workload(v->r, v->wl);
        }
    } else if (sl_condition_true(v->wl, "QuotaReserved")) {
        sl_engine_job_stopped(v->j->engine, v->wl, v->now_ms);
    }
}

/* The job's admission gates are its Workload's; true when that had to be written. */
static bool follow_gates(struct sl_job_view *v)
{
    struct sl_json *o =
        sl_job_prebuilt(v->job) != NULL ? NULL : sl_workload_with_gates_new(v->wl, v->job);
    if (o == NULL) {
        return false;
    }
    const char *gates = sl_object_annotation(v->job, SL_ANNOTATION_GATED_BY);
    struct sl_note note = sl_job_note(v, false, "UpdatedWorkload");
    snprintf(note.message, sizeof note.message, "Updated workload AdmissionGatedBy to \"%s\"",
             gates == NULL ? "" : gates);
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
    sl_json_free(o);
    return true;
}

/* What it waits for, although it has its quota. */
static void tell_checks(const struct sl_job_view *v)
{
    struct sl_buf message = {0};
    if (sl_condition_true(v->wl, "QuotaReserved") && sl_job_checks_say(v->wl, &message)) {
        sl_recorder_record(v->r->events, v->f->kind, v->job, false, "UpdatedAdmissionCheck",
                           message.data, v->now_ms);
    }
    sl_buf_fini(&message);
}

static void act_suspended(struct sl_job_view *v)
{
    if (sl_job_stopping(v)) {
        sl_job_stop(v, "");
    } else if (!job_matches(v)) {
        rematch(v);
    } else if (sl_condition_true(v->wl, "Admitted")) {
        sl_job_start(v);
    } else if (reprioritize(v)) {
        return;
    } else if (!sl_condition_true(v->wl, "QuotaReserved") && !wishes_match(v) &&
               sl_job_prebuilt(v->job) == NULL) {
        update_workload(v);
    } else {
        tell_checks(v);
    }
}

static void act_running(struct sl_job_view *v)
{
    if (!sl_condition_true(v->wl, "Admitted")) {
        sl_job_stop(v, "Not admitted by cluster queue");
    } else if (!job_matches(v)) {
        rematch(v);
    } else if (!reprioritize(v)) {
        sl_job_tell_ready(v);
    }
}

static void act_with_workload(struct sl_job_view *v)
{
    if (sl_object_deleting(v->wl)) {
        stop_for(v, "Evicted", "Workload is deleted");
    } else if (sl_condition_true(v->wl, "Finished") || adopt(v) || follow_gates(v) ||
               sl_job_reclaim(v)) {
        return;
    } else if (sl_condition_true(v->wl, "Evicted")) {
        stop_for(v, "Evicted", "Evicted");
    } else if (v->f->suspended(v->f, v->job)) {
        act_suspended(v);
    } else {
        act_running(v);
    }
}

/* What it asks for cannot be counted, so it must not run. */
static void refuse(struct sl_job_view *v, const struct sl_error *e)
{
    report_cause(v, "ErrWorkloadCompose", e);
    if (!v->f->suspended(v->f, v->job)) {
        (void)sl_job_stop(v, "What it asks for cannot be counted");
    }
}

void sl_job_act(struct sl_job_view *v)
{
    SL_PRE(v->job != NULL);
    bool success;
    const char *message;
    struct sl_error e = {0};
    if (v->f->finished(v->f, v->job, &success, &message)) {
        job_ended(v, success, message);
        return;
    }
    enum sl_code code = v->f->pod_sets(v->f, v->job, &v->sets, &e);
    if (code == SL_CODE_GONE) {
        want_nothing(v);
    } else if (code != SL_CODE_OK) {
        refuse(v, &e);
    } else if (v->wl == NULL) {
        create(v);
    } else {
        act_with_workload(v);
    }
    sl_pod_sets_fini(&v->sets);
}

void sl_job_suspend_child(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    bool success;
    const char *message;
    if (v->f->suspended(v->f, v->job) || v->f->finished(v->f, v->job, &success, &message)) {
        return;
    }
    struct sl_json *o = sl_json_clone(v->job);
    struct sl_note note = sl_job_note(v, false, "Suspended");
    snprintf(note.message, sizeof note.message, "Kueue managed child job suspended");
    v->f->suspend(v->f, o, true);
    sl_job_write(v->r, SL_VERB_UPDATE, v->f->kind, o, &note);
    sl_json_free(o);
}
