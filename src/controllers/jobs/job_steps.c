/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What to do about one job and its Workload: make the Workload, keep both matching, start and stop the job as
 * the Workload says, finish the Workload when the job ends. */
#include "controllers/jobs/job_steps.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "controllers/jobs/job_hold.h"
#include "controllers/jobs/job_members.h"
#include "controllers/jobs/job_slices.h"
#include <stdio.h>
#include <string.h>

#define REMAKE_MS 1000
#define MADE_MAX 2u /* Workloads of one job in that time */

void sl_job_workload_name(const struct sl_framework *f, const struct sl_json *job,
                          char out[static 254])
{
    const char *name = f->composition == NULL ? sl_job_prebuilt(job) : f->composition->group(job);
    if (name != NULL) {
        (void)snprintf(out, 254, "%.253s", name);
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
}

void sl_job_release_workload(struct sl_reconciler *r, const struct sl_json *wl)
{
    struct sl_json *o = sl_json_clone(wl);
    sl_workload_drop_finalizer(o);
    sl_job_write(r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, NULL);
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

const char *sl_job_class(const struct sl_jobs *j, const struct sl_framework *f,
                         const struct sl_json *job, enum sl_kind *kind)
{
    SL_PRE(j != NULL && f != NULL && kind != NULL);
    const char *name = sl_object_label(job, SL_LABEL_PRIORITY_CLASS);
    *kind = SL_KIND_WORKLOAD_PRIORITY_CLASS;
    if (name != NULL && name[0] != '\0') {
        return name;
    }
    *kind = SL_KIND_PRIORITY_CLASS;
    name = f->priority_class(f, job);
    if (name[0] != '\0') {
        return name;
    }
    size_t cursor = 0;
    union sl_map_value value;
    return sl_map_next(j->default_classes, &cursor, &name, &value) ? name : "";
}

/* False when the class does not exist (yet): the job then waits for it. "" as its name: none. */
static bool find_priority(struct sl_job_view *v, struct sl_priority *out)
{
    enum sl_kind kind;
    bool absent;
    const char *name = sl_job_class(v->j, v->f, v->job, &kind);
    *out = (struct sl_priority){
        .group = sl_kind_info(kind)->group, .kind = sl_kind_info(kind)->kind, .name = name};
    if (name[0] == '\0') {
        return true;
    }
    struct sl_json *class = sl_reconciler_get(v->r, kind, "", name, &absent);
    bool found = class != NULL;
    out->value = sl_json_path_int(class, "value", 0);
    sl_json_free(class);
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

static bool members_agree(const struct sl_job_view *v)
{
    char message[80];
    const char *about = sl_members_disagree(&v->members, &v->j->rules.copied);
    if (about != NULL) {
        (void)snprintf(message, sizeof message,
                       "constructing workload: pods have different %s values", about);
        sl_job_report(v, "ErrWorkloadCompose", message);
    }
    return about == NULL;
}

/* The Workload that the job should have; NULL while something that it needs is missing. */
static struct sl_json *wanted_new(struct sl_job_view *v)
{
    struct sl_workload_plan plan = {
        .queue = v->queue, .sets = &v->sets, .copied = v->j->rules.copied, .members = &v->members};
    if ((v->f->composition != NULL && !sl_members_gather(v)) || !topology_makes_sense(v) ||
        !members_agree(v) || !find_priority(v, &plan.priority)) {
        return NULL;
    }
    struct sl_json *wl = sl_framework_workload_new(v->f, v->job, &plan);
    if (v->elastic) {
        sl_slice_make(v->f, wl, v->job, v->wl);
    }
    return wl;
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

void sl_job_look_on(struct sl_job_view *v, const struct sl_json *wl)
{
    SL_PRE(v != NULL);
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(wl), sl_object_name(wl), key);
    sl_map_put(v->j->changed, key, (union sl_map_value){.number = 0});
}

void sl_job_make(struct sl_job_view *v, struct sl_json *wl)
{
    if (wl == NULL || !may_make(v)) {
        sl_json_free(wl);
        return;
    }
    struct sl_note note = sl_job_note(v, "CreatedWorkload", "Created Workload: %s/%s",
                                      sl_object_namespace(wl), sl_object_name(wl));
    note.timing =
        sl_workload_meters_begin_creation(v->j->meters, v->job, sl_kind_info(v->f->kind)->kind, wl);
    if (sl_job_has_ended_pods(v)) {
        sl_job_look_on(v, wl);
    }
    sl_job_write(v->r, SL_VERB_CREATE, SL_KIND_WORKLOAD, wl, &note);
}

static void create(struct sl_job_view *v)
{
    bool waits = sl_job_prebuilt(v->job) != NULL;
    bool idle = v->f->gated == NULL && v->f->suspended(v->f, v->job) && !sl_job_stopping(v) &&
                (v->f->forgets_start || !v->f->active(v->f, v->job));
    if (!idle && !sl_job_stop(v, SL_STOP_NO_MATCH,
                              waits ? "missing workload"
                                    : "Missing Workload; unable to restore pod templates")) {
        return;
    }
    if (waits) { /* it is prebuilt; nothing in it says which job it is for */
        sl_members_let_stopped_go(v);
        sl_work_add(v->r->work, v->key, v->now_ms + SL_RETRY_MS);
        return;
    }
    sl_job_make(v, wanted_new(v));
}

/* What was injected into a job that runs cannot change any more: Kubernetes keeps its template as it is. */
static bool job_matches(struct sl_job_view *v)
{
    bool prebuilt = sl_job_prebuilt(v->job) != NULL;
    if (v->f->composition != NULL) { /* of its pod sets sl_members_match has found some */
        return prebuilt || sl_members_limit_matches(v);
    }
    bool counted = v->f->elastic && v->sets.count > 0; /* in this look: see act_lacking */
    if (v->f->refers != NULL && !counted && !v->f->suspended(v->f, v->job)) {
        return sl_members_limit_matches(v); /* it was counted when it started */
    }
    /* The node selector of a gated one may still change; a prebuilt Workload need not have it. */
    bool placed = v->f->suspended(v->f, v->job) && (v->f->gated == NULL || !prebuilt);
    return sl_members_limit_matches(v) && (sl_pod_sets_match(&v->sets, v->wl, placed) ||
                                           (v->f->gated == NULL && sl_job_as_admitted(v)));
}

static void update_workload(struct sl_job_view *v)
{
    struct sl_json *wanted = wanted_new(v);
    if (wanted == NULL) {
        return;
    }
    struct sl_json *o = sl_workload_respecified_new(v->wl, wanted);
    sl_json_free(wanted);
    struct sl_note note =
        sl_job_note(v, "UpdatedWorkload", "Updated not matching Workload for suspended job: %s/%s",
                    sl_object_namespace(o), sl_object_name(o));
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
}

/* From one class of ours to another, and before quota is reserved also from or to none: later it cannot be added. */
static bool may_change(const struct sl_json *wl, const char *class)
{
    const char *kind = sl_json_path_text(wl, "spec.priorityClassRef.kind", "");
    return strcmp(kind, "WorkloadPriorityClass") == 0
               ? class[0] != '\0' || !sl_condition_true(wl, "QuotaReserved")
               : kind[0] == '\0' && !sl_condition_true(wl, "QuotaReserved");
}

/* To the WorkloadPriorityClass that its job has now; true when that had to be written. */
static bool reprioritize(struct sl_job_view *v)
{
    const char *class = sl_object_label(v->job, SL_LABEL_PRIORITY_CLASS);
    struct sl_priority priority;
    class = class == NULL ? "" : class;
    if (strcmp(sl_json_path_text(v->wl, "spec.priorityClassRef.name", ""), class) == 0 ||
        sl_job_prebuilt(v->job) != NULL || !may_change(v->wl, class) ||
        !sl_members_name_class(v, class) || !find_priority(v, &priority)) {
        return false;
    }
    struct sl_json *o = sl_json_clone(v->wl);
    sl_workload_set_priority(sl_json_path_make(o, "spec"), &priority);
    struct sl_note note =
        sl_job_note(v, "UpdatedWorkload", "Updated workload priority class: %s/%s",
                    sl_object_namespace(o), sl_object_name(o));
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
    return true;
}

/* And to its queue, which may change while nothing is reserved. */
static bool change_queue(struct sl_job_view *v)
{
    bool serves = v->f->composition != NULL && v->f->composition->serves(&v->members);
    if (strcmp(sl_json_path_text(v->wl, "spec.queueName", ""), v->queue) == 0 || serves ||
        sl_job_prebuilt(v->job) != NULL || sl_condition_true(v->wl, "QuotaReserved")) {
        return false;
    }
    struct sl_json *o = sl_json_clone(v->wl);
    struct sl_json *spec = sl_json_path_make(o, "spec");
    sl_json_remove(spec, "queueName");
    if (v->queue[0] != '\0') {
        sl_json_set_text(spec, "queueName", v->queue);
    }
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, NULL);
    return true;
}

/* Others rely on what a Workload says that they have made: it is given up instead of changed. */
static void give_up_prebuilt(struct sl_job_view *v)
{
    sl_job_finish_workload(v->r, v->wl, "OutOfSync",
                           "The prebuilt workload is out of sync with its user job", NULL);
}

/* A Workload that is seen to be deleted takes gated objects along: its finalizer goes first, and these stay. */
static void delete_workload(struct sl_job_view *v)
{
    if (v->f->gated != NULL && sl_workload_has_finalizer(v->wl)) {
        sl_job_release_workload(v->r, v->wl);
    } else {
        sl_job_delete_workload(v->r, v->f->kind, v->job, v->wl);
    }
}

/* Does it run, or may it? */
static bool runs(const struct sl_job_view *v)
{
    return v->f->gated == NULL ? !v->f->suspended(v->f, v->job) : sl_members_run(v);
}

/* The job asks for other pods than its Workload, or for another limit. Without a reservation the
 * Workload is updated; with one it is deleted, which releases the quota, and created again. */
static void rematch(struct sl_job_view *v)
{
    if (runs(v) || (v->f->gated == NULL && sl_job_has_traces(v))) {
        sl_job_stop(v, SL_STOP_NO_MATCH,
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

/* The Workload that the job names becomes its own, or every member's; true when that had to be written. */
static bool adopt(struct sl_job_view *v)
{
    if (v->f->composition != NULL) {
        return sl_members_own(v);
    }
    if (sl_object_controller_ref(v->wl) != NULL) {
        return false;
    }
    struct sl_json *o = sl_json_clone(v->wl);
    sl_framework_own(v->f, o, v->job);
    sl_json_set_text(sl_json_path_make(o, "metadata.labels"), SL_LABEL_JOB_UID,
                     sl_object_uid(v->job));
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, NULL);
    return true;
}

/* --- what the Workload says ---------------------------------------------------------------------------- */

/* Nothing holds it any more; but a Workload says what becomes of gated objects, and goes after them. */
static void let_go(struct sl_job_view *v)
{
    if (!sl_members_let_go(v) && v->wl != NULL && sl_workload_has_finalizer(v->wl)) {
        sl_job_release_workload(v->r, v->wl);
    }
}

static void job_ended(struct sl_job_view *v, bool success, const char *message)
{
    if (v->wl == NULL) {
        let_go(v);
        return;
    }
    struct sl_note note =
        sl_job_note(v, "FinishedWorkload", "Workload '%s/%s' is declared finished",
                    sl_object_namespace(v->wl), sl_object_name(v->wl));
    sl_job_finish_workload(v->r, v->wl, success ? "Succeeded" : "Failed",
                           message[0] != '\0' ? message : "Job finished", &note);
}

static void stop_for_deletion(struct sl_job_view *v)
{
    if (sl_job_stop(v, SL_STOP_DELETED, "Workload is deleted") &&
        sl_workload_has_finalizer(v->wl)) {
        sl_job_release_workload(v->r, v->wl);
    }
}

/* The job stops first, then the quota goes. */
static void stop_for_eviction(struct sl_job_view *v)
{
    const struct sl_json *c = sl_condition_find(v->wl, "Evicted");
    if (sl_job_stop(v, SL_STOP_EVICTED, sl_json_path_text(c, "message", "Evicted")) &&
        sl_condition_true(v->wl, "QuotaReserved")) {
        sl_job_note_stopped(v);
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
    struct sl_note note =
        sl_job_note(v, "UpdatedWorkload", "Updated workload AdmissionGatedBy to \"%s\"",
                    gates == NULL ? "" : gates);
    sl_job_write(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
    return true;
}

/* What it waits for, although it has its quota. */
static void tell_checks(const struct sl_job_view *v)
{
    struct sl_buf message = {0};
    if (sl_condition_true(v->wl, "QuotaReserved") && sl_job_checks_say(v->wl, &message)) {
        for (size_t i = 0; i < v->members.count; i++) {
            sl_recorder_record(v->r->events, v->f->kind, v->members.at[i].object, false,
                               "UpdatedAdmissionCheck", message.data, v->now_ms);
        }
    }
    sl_buf_fini(&message);
}

static void act_suspended(struct sl_job_view *v)
{
    if (sl_job_stopping(v)) {
        sl_job_stop(v, SL_STOP_NO_MATCH, "");
    } else if (!job_matches(v)) {
        rematch(v);
    } else if (sl_condition_true(v->wl, "Admitted")) {
        sl_job_start(v);
    } else if (!sl_condition_true(v->wl, "QuotaReserved") && sl_job_prebuilt(v->job) == NULL &&
               !sl_pod_sets_wish_the_same(&v->sets, v->wl)) {
        update_workload(v);
    } else {
        tell_checks(v);
    }
}

static void act_running(struct sl_job_view *v)
{
    if (!sl_condition_true(v->wl, "Admitted") && v->elastic && sl_job_slices_go_on(v)) {
        return;
    }
    if (!sl_condition_true(v->wl, "Admitted")) {
        sl_job_stop(v, SL_STOP_NOT_ADMITTED, "Not admitted by cluster queue");
    } else if (!job_matches(v)) {
        rematch(v);
    } else {
        sl_job_tell_ready(v);
    }
}

/* True when something had to be written. */
static bool keep_up(struct sl_job_view *v)
{
    return adopt(v) || follow_gates(v) || reprioritize(v) || change_queue(v) ||
           (v->f->composition != NULL && sl_members_tell_missing(v)) || sl_job_reclaim(v);
}

static void act_with_workload(struct sl_job_view *v)
{
    bool admitted = sl_condition_true(v->wl, "Admitted");
    bool reserved = sl_condition_true(v->wl, "QuotaReserved");
    if (sl_object_deleting(v->wl)) {
        stop_for_deletion(v);
    } else if (v->f->composition != NULL && !sl_members_match(v)) {
        rematch(v);
    } else if (keep_up(v)) {
        sl_job_look_on(v, v->wl);
    } else if (sl_condition_true(v->wl, "Evicted") && (reserved || runs(v))) {
        stop_for_eviction(v);
    } else if (v->f->gated != NULL && admitted ? sl_members_wait(v) : !runs(v)) {
        act_suspended(v);
    } else {
        act_running(v);
    }
}

/* What it asks for cannot be counted, so it must not run. A Workload of before that is being deleted goes all the same. */
static void refuse(struct sl_job_view *v, const struct sl_error *e)
{
    report_cause(v, "ErrWorkloadCompose", e);
    if (v->wl != NULL && sl_object_deleting(v->wl)) {
        stop_for_deletion(v);
    } else if (!v->f->suspended(v->f, v->job)) {
        (void)sl_job_stop(v, SL_STOP_NO_MATCH, "What it asks for cannot be counted");
    }
}

/* An object that the job refers to is not there, or cannot be read: it is unknown which pods the job has. One that runs
 * goes on: its controller made its pods of what the object was then. One that does not run waits, and what it would hold
 * goes back; not while it is only unread, which passes. */
static void act_lacking(struct sl_job_view *v, const struct sl_error *e)
{
    bool admitted = v->wl != NULL && sl_condition_true(v->wl, "Admitted");
    bool evicted = v->wl != NULL && sl_condition_true(v->wl, "Evicted") &&
                   (sl_condition_true(v->wl, "QuotaReserved") || runs(v));
    bool deleting = v->wl != NULL && sl_object_deleting(v->wl);
    if (e->code == SL_CODE_UNAVAILABLE) {
        sl_work_add(v->r->work, v->key, v->now_ms + SL_RETRY_MS);
    }
    if (deleting || evicted || (admitted && runs(v))) {
        act_with_workload(v);
        return;
    }
    report_cause(v, "ErrWorkloadCompose", e);
    if (!v->f->suspended(v->f, v->job)) {
        (void)sl_job_stop(v, SL_STOP_NO_MATCH, "What it asks for cannot be counted");
    } else if (v->wl != NULL && e->code == SL_CODE_NOT_FOUND && sl_job_prebuilt(v->job) == NULL) {
        delete_workload(v);
    }
}

static void act_on_pod_sets(struct sl_job_view *v)
{
    struct sl_error e = {0};
    enum sl_code code =
        v->f->composition != NULL ? SL_CODE_OK : v->f->pod_sets(v->f, v->job, &v->sets, &e);
    if (code == SL_CODE_GONE) {
        want_nothing(v);
    } else if (code == SL_CODE_NOT_FOUND || code == SL_CODE_UNAVAILABLE) {
        act_lacking(v, &e);
    } else if (code != SL_CODE_OK) {
        refuse(v, &e);
    } else if (v->wl == NULL) {
        create(v);
    } else if (!v->elastic || !sl_job_slices_scale(v)) {
        act_with_workload(v);
    }
    sl_pod_sets_fini(&v->sets);
}

/* A gated object that is deleted by itself. Others may hold it longer than it runs. */
static void act_leaving(struct sl_job_view *v)
{
    bool held = v->wl != NULL && sl_condition_true(v->wl, "QuotaReserved");
    if (!sl_members_let_go(v) && held && sl_condition_true(v->wl, "Evicted")) {
        stop_for_eviction(v);
    }
}

static bool has_finished(const struct sl_job_view *v, bool *success, struct sl_buf *message)
{
    const char *text = "";
    if (v->f->composition != NULL) {
        return v->f->composition->finished(&v->members, success, message);
    }
    bool yes = v->f->finished(v->f, v->job, success, &text);
    sl_buf_text(message, yes ? text : "");
    return yes;
}

void sl_job_act(struct sl_job_view *v)
{
    SL_PRE(v->job != NULL);
    bool success;
    bool gated = v->f->gated != NULL;
    struct sl_buf message = {0};
    if (v->wl != NULL && sl_condition_true(v->wl, "Finished")) {
        let_go(v);
    } else if (v->wl != NULL && gated && sl_object_deleting(v->wl)) {
        stop_for_deletion(v); /* those that have ended go with it, too */
    } else if (has_finished(v, &success, &message)) {
        job_ended(v, success, message.len == 0 ? "" : message.data);
    } else if (gated && v->f->composition == NULL && sl_object_deleting(v->job)) {
        act_leaving(v);
    } else if (!sl_job_hold(v)) {
        act_on_pod_sets(v);
    }
    sl_buf_fini(&message);
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
    struct sl_note note = sl_job_note(v, "Suspended", "Kueue managed child job suspended");
    v->f->suspend(v->f, o, true);
    sl_job_write(v->r, SL_VERB_UPDATE, v->f->kind, o, &note);
}

struct sl_json *sl_job_workload_new(struct sl_job_view *v)
{
    SL_PRE(v->job != NULL);
    return wanted_new(v);
}

bool sl_job_update_marks(struct sl_job_view *v)
{
    SL_PRE(v->wl != NULL);
    return follow_gates(v) || reprioritize(v) || change_queue(v);
}
