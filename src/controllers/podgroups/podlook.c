/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What to do about pods and their Workload: make it, keep both matching, start the pods when it is admitted, delete
 * them when it is evicted, finish it when they have ended. For each object at most one write. */
#include "controllers/podgroups/podlook.h"
#include "base/check.h"
#include "controllers/jobs/job_run.h"
#include "controllers/podgroups/podjob.h"
#include "controllers/work/template.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- writes ----------------------------------------------------------------------------------- */

static struct sl_note note_of(struct sl_json *pod, const char *reason)
{
    return (struct sl_note){.kind = SL_KIND_POD, .about = pod, .reason = reason};
}

void sl_pod_look_report(struct sl_pod_look *l, const char *reason, const char *message)
{
    SL_PRE(l != NULL);
    sl_recorder_record(l->r->events, SL_KIND_POD, l->pods[0], true, reason, message, l->now_ms);
}

void sl_pod_look_let_go(struct sl_pod_look *l, struct sl_json *pod)
{
    SL_PRE(l != NULL);
    struct sl_json *o = sl_json_clone(pod);
    sl_podjob_drop_finalizer(o);
    sl_job_write(l->r, SL_VERB_UPDATE, SL_KIND_POD, o, NULL);
    sl_json_free(o);
}

void sl_pod_look_delete(struct sl_pod_look *l, struct sl_json *pod, const char *reason,
                        const char *message)
{
    SL_PRE(l != NULL);
    struct sl_write w = sl_reconciler_write_of(SL_VERB_DELETE, SL_KIND_POD, pod, NULL);
    struct sl_note note = note_of(pod, reason);
    (void)snprintf(note.message, sizeof note.message, "%s", message);
    sl_reconciler_write(l->r, &w, &note);
}

/* First it is said why, then it is deleted: one step for each look. */
static void stop(struct sl_pod_look *l, struct sl_json *pod, const char *reason,
                 const char *message)
{
    if (sl_condition_true(pod, SL_TERMINATION_TARGET)) {
        sl_pod_look_delete(l, pod, "Stopped", message);
        return;
    }
    struct sl_json *o = sl_json_clone(pod);
    sl_condition_set(sl_json_path_make(o, "status"), SL_TERMINATION_TARGET, true, reason, message,
                     0, l->now_ms);
    sl_job_write(l->r, SL_VERB_UPDATE_STATUS, SL_KIND_POD, o, NULL);
    sl_json_free(o);
}

/* Pods that still run, or may: those that wait behind their gate stay, unless `all` go. */
static void stop_all(struct sl_pod_look *l, bool all, const char *reason, const char *message)
{
    for (size_t i = 0; i < l->count; i++) {
        struct sl_json *pod = l->pods[i];
        bool idle = sl_podjob_ended(pod) || sl_podjob_gated(pod);
        if (!sl_object_deleting(pod) && (all || !idle)) {
            stop(l, pod, reason, message);
        }
    }
}

static bool let_all_go(struct sl_pod_look *l)
{
    bool any = false;
    for (size_t i = 0; i < l->count; i++) {
        if (sl_podjob_has_finalizer(l->pods[i])) {
            sl_pod_look_let_go(l, l->pods[i]);
            any = true;
        }
    }
    return any;
}

/* Pods that will not run any more, of a group that cannot run now: their replacement is not waited
 * for. */
static void let_stopped_go(struct sl_pod_look *l)
{
    for (size_t i = 0; i < l->count; i++) {
        if (!sl_podjob_counts(l->pods[i]) && sl_podjob_has_finalizer(l->pods[i])) {
            sl_pod_look_let_go(l, l->pods[i]);
        }
    }
}

/* The Workload is deleted after its pods: only it says that they have to be deleted. */
static void let_go_with_workload(struct sl_pod_look *l)
{
    if (!let_all_go(l) && sl_workload_has_finalizer(l->wl)) {
        sl_job_release_workload(l->r, l->wl);
    }
}

/* --- the end ---------------------------------------------------------------------------------- */

static bool says_any(const struct sl_pod_look *l, const char *annotation, const char *value)
{
    for (size_t i = 0; i < l->count; i++) {
        if (sl_podjob_says(l->pods[i], annotation, value)) {
            return true;
        }
    }
    return false;
}

static bool group_finished(const struct sl_pod_look *l, struct sl_buf *message)
{
    int64_t total = sl_podjob_total(l->pods[0]);
    int64_t succeeded = 0;
    bool open = false;
    for (size_t i = 0; i < l->count; i++) {
        succeeded += sl_podjob_succeeded(l->pods[i]);
        open = open || !sl_podjob_ended(l->pods[i]);
    }
    sl_buf_print(message, "Pods succeeded: %" PRId64 "/%" PRId64 ".", succeeded, total);
    return (total > 0 && succeeded == total) || (!open && says_any(l, SL_POD_RETRIABLE, "false"));
}

static bool finished(const struct sl_pod_look *l, bool *success, struct sl_buf *message)
{
    *success = true;
    if (l->group != NULL) {
        return !sl_pod_look_serves(l) && group_finished(l, message);
    }
    *success = sl_podjob_succeeded(l->pods[0]);
    sl_buf_text(message, sl_json_path_text(l->pods[0], "status.message", ""));
    return sl_podjob_ended(l->pods[0]);
}

static void end(struct sl_pod_look *l, bool success, const char *message)
{
    if (l->wl == NULL) {
        (void)let_all_go(l);
        return;
    }
    struct sl_note note = note_of(l->pods[0], "FinishedWorkload");
    (void)snprintf(note.message, sizeof note.message, "Workload '%s/%s' is declared finished",
                   sl_object_namespace(l->wl), sl_object_name(l->wl));
    sl_job_finish_workload(l->r, l->wl, success ? "Succeeded" : "Failed",
                           message[0] != '\0' ? message : "Job finished", &note);
}

/* --- making the Workload ---------------------------------------------------------------------- */

static void make_group_workload(const struct sl_pod_look *l, struct sl_json *wl)
{
    struct sl_json *metadata = sl_json_get(wl, "metadata");
    sl_json_set_text(metadata, "name", l->group);
    sl_json_remove(metadata, "ownerReferences");
    sl_json_remove(sl_json_get(metadata, "labels"), SL_LABEL_JOB_UID);
    sl_json_set_text(sl_json_path_make(metadata, "annotations"), SL_GROUP_WORKLOAD, "true");
    (void)sl_pod_look_own_all(l, wl);
}

static bool read_sets(struct sl_pod_look *l, struct sl_pod_sets *sets)
{
    struct sl_error e = {0};
    bool fast = l->group != NULL && sl_podjob_says(l->pods[0], SL_POD_GROUP_FAST, "true");
    int64_t total = fast ? sl_podjob_total(l->pods[0]) : 0;
    if (sl_podjob_sets(l->pods, l->count, total, l->group != NULL, sets, &e) != SL_CODE_OK) {
        sl_pod_look_report(l, "ErrWorkloadCompose", e.text);
        return false;
    }
    if (sl_pod_sets_check(sets, &e) != SL_CODE_OK) {
        sl_pod_look_report(l, "InvalidTopologyRequest",
                           e.cause_count > 0 ? e.causes[0].text : e.text);
        return false;
    }
    return true;
}

/* Labels that the Workload of a group gets too: false when two of its pods differ in one. */
static bool copy_labels(struct sl_pod_look *l, struct sl_json *wl)
{
    const struct sl_job_rules *rules = l->p->rules;
    for (size_t n = 0; n < rules->label_key_count * l->count; n++) {
        const char *key = rules->label_keys[n / l->count];
        const char *own = sl_object_label(l->pods[n % l->count], key);
        const char *others = sl_object_label(wl, key);
        if (own != NULL && others != NULL && strcmp(own, others) != 0) {
            sl_pod_look_report(l, "ErrWorkloadCompose",
                               "constructing workload: pods have different label values");
            return false;
        }
        if (own != NULL) {
            sl_json_set_text(sl_json_path_make(wl, "metadata.labels"), key, own);
        }
    }
    return true;
}

/* The Workload that the pods should have; NULL while something that it needs is missing. */
static struct sl_json *compose_new(struct sl_pod_look *l, const struct sl_pod_sets *sets)
{
    const char *queue = sl_job_queue(l->pods[0]);
    struct sl_workload_plan plan = {.queue = queue == NULL ? "" : queue,
                                    .sets = sets,
                                    .label_key_count = l->p->rules->label_key_count,
                                    .label_keys = l->p->rules->label_keys};
    if (!sl_pod_look_priority(l, &plan.priority)) {
        return NULL;
    }
    struct sl_json *wl = sl_framework_workload_new(&sl_pod_framework, l->pods[0], &plan);
    if (l->group != NULL) {
        make_group_workload(l, wl);
    }
    if (!copy_labels(l, wl)) {
        sl_json_free(wl);
        return NULL;
    }
    return wl;
}

static struct sl_json *wanted_new(struct sl_pod_look *l)
{
    struct sl_pod_sets sets = {.count = 0};
    bool ok = (l->group == NULL || sl_pod_look_gather(l)) && read_sets(l, &sets);
    struct sl_json *wl = ok ? compose_new(l, &sets) : NULL;
    sl_pod_sets_fini(&sets);
    return wl;
}

static void tell_workload(struct sl_note *note, const char *what, const struct sl_json *wl)
{
    (void)snprintf(note->message, sizeof note->message, "%s: %s/%s", what, sl_object_namespace(wl),
                   sl_object_name(wl));
}

static void write_new(struct sl_pod_look *l)
{
    struct sl_json *wl = wanted_new(l);
    struct sl_note note = note_of(l->pods[0], "CreatedWorkload");
    if (wl != NULL) {
        tell_workload(&note, "Created Workload", wl);
        sl_job_write(l->r, SL_VERB_CREATE, SL_KIND_WORKLOAD, wl, &note);
    }
    sl_json_free(wl);
}

/* Pods that are neither held back nor over, nor on their way out. */
static bool any_to_stop(const struct sl_pod_look *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct sl_json *pod = l->pods[i];
        if (!sl_podjob_ended(pod) && !sl_podjob_gated(pod) && !sl_object_deleting(pod)) {
            return true;
        }
    }
    return false;
}

static void create(struct sl_pod_look *l)
{
    if (any_to_stop(l)) {
        stop_all(l, false, "NoMatchingWorkload", "missing workload");
        return;
    }
    if (l->prebuilt != NULL) { /* it is prebuilt; nothing in it says which pods it is for */
        let_stopped_go(l);
        sl_work_add(l->r->work, l->key, l->now_ms + SL_RETRY_MS);
        return;
    }
    write_new(l);
}

/* --- starting --------------------------------------------------------------------------------- */

static size_t set_of(const struct sl_pod_look *l, const struct sl_json *pod)
{
    const struct sl_json *sets = sl_json_path(l->wl, "spec.podSets");
    char role[SL_ROLE_SIZE];
    size_t i = 0;
    if (l->group == NULL) {
        return 0;
    }
    sl_podjob_role(pod, role);
    while (i < sl_json_len(sets) &&
           strcmp(sl_json_path_text(sl_json_at(sets, i), "name", ""), role) != 0) {
        i++;
    }
    return i;
}

/* False: it cannot be started, and *e says why. */
static bool start(struct sl_pod_look *l, struct sl_json *pod, const struct sl_json *injection,
                  struct sl_error *e)
{
    struct sl_json *o = sl_json_clone(pod);
    struct sl_note note = note_of(pod, "Started");
    bool ok = sl_podjob_start(o, injection, e) == SL_CODE_OK;
    (void)snprintf(note.message, sizeof note.message, "Admitted by clusterQueue %s",
                   sl_json_path_text(l->wl, "status.admission.clusterQueue", "?"));
    if (ok) {
        sl_job_write(l->r, SL_VERB_UPDATE, SL_KIND_POD, o, &note);
    }
    sl_json_free(o);
    return ok;
}

static void cannot_start(struct sl_pod_look *l, const struct sl_error *e)
{
    sl_pod_look_report(l, "FailedToStart", e->text);
    if (e->code == SL_CODE_INVALID) {
        sl_job_finish_workload(l->r, l->wl, "FailedToStart", e->text, NULL);
    } else {
        sl_work_add(l->r->work, l->key, l->now_ms + SL_RETRY_MS);
    }
}

static bool start_set(struct sl_pod_look *l, size_t index)
{
    struct sl_error e = {0};
    struct sl_json *injection = NULL;
    bool ok = true;
    for (size_t i = 0; i < l->count && ok; i++) {
        if (!sl_podjob_gated(l->pods[i]) || !sl_podjob_counts(l->pods[i]) ||
            set_of(l, l->pods[i]) != index) {
            continue;
        }
        injection =
            injection == NULL ? sl_admission_injection_new(l->r, l->wl, index, &e) : injection;
        ok = injection != NULL && start(l, l->pods[i], injection, &e);
    }
    sl_json_free(injection);
    if (!ok) {
        cannot_start(l, &e);
    }
    return ok;
}

static void start_all(struct sl_pod_look *l)
{
    size_t sets = sl_json_len(sl_json_path(l->wl, "spec.podSets"));
    for (size_t i = 0; i < sets && start_set(l, i); i++) {
    }
}

/* --- what the Workload says ------------------------------------------------------------------- */

static bool any_active(const struct sl_pod_look *l)
{
    for (size_t i = 0; i < l->count; i++) {
        if (sl_podjob_active(l->pods[i], l->now_ms)) {
            return true;
        }
    }
    return false;
}

/* The quota goes when no pod runs any more. */
static void act_evicted(struct sl_pod_look *l)
{
    const struct sl_json *c = sl_condition_find(l->wl, "Evicted");
    char reason[96];
    if (any_to_stop(l)) {
        (void)snprintf(reason, sizeof reason, "WorkloadEvictedDueTo%.70s",
                       sl_json_path_text(c, "reason", ""));
        stop_all(l, false, reason, sl_json_path_text(c, "message", "Evicted"));
    } else if (any_active(l)) {
        sl_work_add(l->r->work, l->key, l->now_ms + SL_RETRY_MS); /* until its grace is over */
    } else if (sl_condition_true(l->wl, "QuotaReserved")) {
        sl_engine_job_stopped(l->p->engine, l->wl, l->now_ms);
    }
}

/* When a Workload is deleted, its pods are deleted with it. */
static void act_deleted(struct sl_pod_look *l)
{
    bool gone = true;
    for (size_t i = 0; i < l->count; i++) {
        gone = gone && sl_object_deleting(l->pods[i]);
    }
    if (!gone) {
        stop_all(l, true, "WorkloadDeleted", "Workload is deleted");
        return;
    }
    let_go_with_workload(l);
}

static void update_workload(struct sl_pod_look *l)
{
    struct sl_json *wanted = wanted_new(l);
    if (wanted == NULL) {
        return;
    }
    struct sl_json *o = sl_workload_respecified_new(l->wl, wanted);
    struct sl_note note = note_of(l->pods[0], "UpdatedWorkload");
    tell_workload(&note, "Updated not matching Workload for suspended job", o);
    sl_job_write(l->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
    sl_json_free(o);
    sl_json_free(wanted);
}

/* Its finalizer first: a Workload that is seen to be deleted takes its pods along, and these stay. */
static void give_up(struct sl_pod_look *l)
{
    if (sl_workload_has_finalizer(l->wl)) {
        sl_job_release_workload(l->r, l->wl);
        return;
    }
    struct sl_write w = sl_reconciler_write_of(SL_VERB_DELETE, SL_KIND_WORKLOAD, l->wl, NULL);
    struct sl_note note = note_of(l->pods[0], "DeletedWorkload");
    tell_workload(&note, "Deleted not matching Workload", l->wl);
    sl_reconciler_write(l->r, &w, &note);
}

/* The pods ask for something else than their Workload. Those that run stop. Without a reservation
 * the Workload is updated; with one it is deleted, which releases the quota, and created again. */
static void rematch(struct sl_pod_look *l)
{
    if (l->prebuilt != NULL) {
        sl_job_finish_workload(l->r, l->wl, "OutOfSync",
                               "The prebuilt workload is out of sync with its user job", NULL);
    } else if (any_to_stop(l)) {
        stop_all(l, false, "NoMatchingWorkload",
                 "No matching Workload; restoring pod templates according to existent Workload");
    } else if (!sl_condition_true(l->wl, "QuotaReserved")) {
        update_workload(l);
    } else {
        give_up(l);
    }
}

static bool any_to_start(const struct sl_pod_look *l)
{
    for (size_t i = 0; i < l->count; i++) {
        if (sl_podjob_gated(l->pods[i]) && sl_podjob_counts(l->pods[i])) {
            return true;
        }
    }
    return false;
}

/* Labels of a group change one pod after the other: its limit holds until the last pod asks for another. */
static bool limit_matches(const struct sl_pod_look *l)
{
    for (size_t i = 0; i < l->count; i++) {
        if (sl_workload_limit_matches(l->wl, l->pods[i])) {
            return true;
        }
    }
    return false;
}

/* The node selector of a gated pod may still change; a prebuilt Workload need not have it. */
static bool same_pod(const struct sl_pod_look *l)
{
    struct sl_pod_sets sets = {.count = 0};
    struct sl_error e = {0};
    bool gated = sl_podjob_gated(l->pods[0]);
    bool same = sl_podjob_sets(l->pods, 1, 0, false, &sets, &e) == SL_CODE_OK &&
                sl_pod_sets_match(&sets, l->wl, gated && l->prebuilt == NULL);
    sl_pod_sets_fini(&sets);
    return same;
}

static bool in_sync(struct sl_pod_look *l)
{
    if (l->group == NULL) {
        return limit_matches(l) && same_pod(l);
    }
    size_t all = l->count;
    bool same = (l->prebuilt != NULL || limit_matches(l)) && sl_pod_look_match(l);
    l->count = same ? l->count : all;
    return same;
}

/* What they wait for, although they have their quota. */
static void tell_checks(struct sl_pod_look *l)
{
    struct sl_buf message = {0};
    if (sl_condition_true(l->wl, "QuotaReserved") && sl_job_checks_say(l->wl, &message)) {
        for (size_t i = 0; i < l->count; i++) {
            sl_recorder_record(l->r->events, SL_KIND_POD, l->pods[i], false,
                               "UpdatedAdmissionCheck", message.data, l->now_ms);
        }
    }
    sl_buf_fini(&message);
}

static void act_with_workload(struct sl_pod_look *l)
{
    bool admitted = sl_condition_true(l->wl, "Admitted");
    if (!in_sync(l)) {
        rematch(l);
    } else if (sl_pod_look_reprioritize(l) || sl_pod_look_tell_spec(l) ||
               (l->group != NULL && sl_pod_look_tell_pods(l))) {
        return;
    } else if (sl_condition_true(l->wl, "Evicted")) {
        act_evicted(l);
    } else if (!admitted && any_to_stop(l)) {
        stop_all(l, false, "NotAdmitted", "Not admitted by cluster queue");
    } else if (admitted && any_to_start(l)) {
        start_all(l);
    } else if (admitted) {
        sl_pod_look_tell_ready(l);
    } else {
        tell_checks(l);
    }
}

static void report_conflict(struct sl_pod_look *l)
{
    char text[400];
    bool group = l->group != NULL;
    (void)snprintf(text, sizeof text, "A Workload named \"%s\" already exists but %s",
                   sl_object_name(l->wl),
                   group ? "is not a pod group workload; this pod group cannot be admitted"
                         : "belongs to something else; this pod cannot be admitted");
    sl_pod_look_report(l, "WorkloadNameConflict", text);
}

/* Somebody else's of the name that this group's would have. */
static bool is_foreign(struct sl_pod_look *l)
{
    const char *mark = sl_object_annotation(l->wl, SL_GROUP_WORKLOAD);
    bool foreign = l->group != NULL ? mark == NULL || strcmp(mark, "true") != 0
                                    : !sl_pod_look_owned_by(l->wl, l->pods[0]);
    if (l->prebuilt != NULL && sl_object_controller_ref(l->wl) == NULL) {
        foreign = false;
    }
    if (foreign) {
        let_stopped_go(l);
        report_conflict(l);
    }
    return foreign;
}

/* Others may hold it longer than it runs. */
static void act_deleted_alone(struct sl_pod_look *l)
{
    bool held = l->wl != NULL && sl_condition_true(l->wl, "QuotaReserved");
    if (!let_all_go(l) && held && sl_condition_true(l->wl, "Evicted")) {
        act_evicted(l);
    }
}

void sl_pod_look_act(struct sl_pod_look *l)
{
    SL_PRE(l->count > 0);
    bool success;
    struct sl_buf message = {0};
    if (l->wl != NULL && is_foreign(l)) {
        return;
    }
    if (l->wl != NULL && sl_condition_true(l->wl, "Finished")) {
        let_go_with_workload(l);
    } else if (l->wl != NULL && sl_object_deleting(l->wl)) {
        act_deleted(l);
    } else if (finished(l, &success, &message)) {
        end(l, success, message.len == 0 ? "" : message.data);
    } else if (l->group == NULL && sl_object_deleting(l->pods[0])) {
        act_deleted_alone(l);
    } else if (l->wl == NULL) {
        create(l);
    } else {
        act_with_workload(l);
    }
    sl_buf_fini(&message);
}
