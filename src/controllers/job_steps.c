/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What to do about one Job and its Workload. Stopping takes up to three writes, in the order that Kubernetes'
 * validation of Jobs asks for: suspend; when no pod runs any more, forget the start time; then restore the
 * template. The annotation `stopping` marks a Job that is on this way. */
#include "controllers/job_steps.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "controllers/job.h"
#include "controllers/template.h"
#include <stdio.h>
#include <string.h>

#define STOPPING "kueue.x-k8s.io/stopping"

static void write_object(struct sl_reconciler *r, enum sl_verb verb, enum sl_kind kind,
                         struct sl_json *o, const struct sl_note *note)
{
    struct sl_write w = {.verb = verb,
                         .kind = kind,
                         .ns = sl_object_namespace(o),
                         .name = sl_object_name(o),
                         .body = o,
                         .uid = sl_object_uid(o)[0] == '\0' ? NULL : sl_object_uid(o)};
    sl_reconciler_write(r, &w, note);
}

static struct sl_note job_note(const struct sl_job_view *v, bool warning, const char *reason)
{
    return (struct sl_note){
        .kind = SL_KIND_JOB, .about = v->job, .warning = warning, .reason = reason};
}

static void report(const struct sl_job_view *v, const char *reason, const char *message)
{
    sl_recorder_record(v->r->events, SL_KIND_JOB, v->job, true, reason, message, v->now_ms);
}

static void finish(struct sl_reconciler *r, const struct sl_json *wl, const char *reason,
                   const char *message, const struct sl_note *note)
{
    struct sl_json *o = sl_json_clone(wl);
    sl_condition_set(sl_json_path_make(o, "status"), "Finished", true, reason, message,
                     sl_object_generation(wl), sl_clock_now_ms());
    write_object(r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, note);
    sl_json_free(o);
}

void sl_job_finish_workload(struct sl_reconciler *r, const struct sl_json *wl, const char *reason,
                            const char *message, const struct sl_note *note)
{
    struct sl_buf key = {0};
    sl_buf_print(&key, "%s/%s", sl_object_namespace(wl), sl_object_name(wl));
    sl_log(SL_LOG_INFO, "finished", "workload", key.data, "reason", reason, NULL);
    sl_buf_fini(&key);
    finish(r, wl, reason, message, note);
}

void sl_job_release_workload(struct sl_reconciler *r, const struct sl_json *wl)
{
    struct sl_json *o = sl_json_clone(wl);
    sl_workload_drop_finalizer(o);
    write_object(r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, NULL);
    sl_json_free(o);
}

/* --- stopping ------------------------------------------------------------------------------------------ */

static bool stopping(const struct sl_json *job)
{
    return sl_object_annotation(job, STOPPING) != NULL;
}

static bool started(const struct sl_json *job)
{
    return sl_json_path(job, "status.startTime") != NULL;
}

static void suspend(struct sl_job_view *v, const char *why)
{
    struct sl_json *o = sl_json_clone(v->job);
    struct sl_note note = job_note(v, false, v->wl == NULL ? "Suspended" : "Stopped");
    snprintf(note.message, sizeof note.message, "%s", why);
    sl_json_set_bool(sl_json_path_make(o, "spec"), "suspend", true);
    if (v->wl != NULL || started(o) || sl_job_active(o) > 0) {
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), STOPPING, "true");
    }
    write_object(v->r, SL_VERB_UPDATE, SL_KIND_JOB, o, &note);
    sl_json_free(o);
}

static void forget_start(struct sl_job_view *v)
{
    struct sl_json *o = sl_json_clone(v->job);
    sl_json_remove(sl_json_get(o, "status"), "startTime");
    write_object(v->r, SL_VERB_UPDATE_STATUS, SL_KIND_JOB, o, NULL);
    sl_json_free(o);
}

static void restore(struct sl_job_view *v)
{
    struct sl_json *o = sl_json_clone(v->job);
    const struct sl_json *pod_set = v->wl == NULL ? NULL : sl_workload_pod_set(v->wl);
    if (sl_json_get(pod_set, "minCount") != NULL) {
        sl_job_set_pods(o, sl_json_path_int(pod_set, "count", sl_job_pods(o)));
    }
    if (v->wl != NULL) {
        sl_template_restore(sl_json_path_make(o, "spec.template"),
                            sl_json_get(pod_set, "template"));
    }
    struct sl_json *annotations = sl_json_path(o, "metadata.annotations");
    sl_json_remove(annotations, STOPPING);
    if (sl_json_len(annotations) == 0) {
        sl_json_remove(sl_json_get(o, "metadata"), "annotations");
    }
    write_object(v->r, SL_VERB_UPDATE, SL_KIND_JOB, o, NULL);
    sl_json_free(o);
}

/* One step towards a stopped, restored Job; true when there is nothing left to do. */
static bool stop(struct sl_job_view *v, const char *why)
{
    if (!sl_job_suspended(v->job)) {
        suspend(v, why);
        return false;
    }
    if (sl_job_active(v->job) > 0) {
        return false; /* whoever runs the pods reports when they have ended */
    }
    if (!stopping(v->job)) {
        return true;
    }
    if (started(v->job)) {
        forget_start(v);
    } else {
        restore(v);
    }
    return false;
}

/* --- creating and matching ----------------------------------------------------------------------------- */

/* The class that the Job names, or the default one; the text is lent. */
static const char *class_of(const struct sl_job_view *v, enum sl_kind *kind)
{
    const char *name = sl_object_label(v->job, SL_LABEL_PRIORITY_CLASS);
    *kind = SL_KIND_WORKLOAD_PRIORITY_CLASS;
    if (name != NULL && name[0] != '\0') {
        return name;
    }
    *kind = SL_KIND_PRIORITY_CLASS;
    name = sl_json_path_text(v->job, "spec.template.spec.priorityClassName", "");
    if (name[0] != '\0') {
        return name;
    }
    size_t cursor = 0;
    union sl_map_value value;
    return sl_map_next(v->j->default_classes, &cursor, &name, &value) ? name : "";
}

/* False when the class does not exist (yet): the Job then waits for it. */
static bool find_priority(struct sl_job_view *v, struct sl_priority *out)
{
    enum sl_kind kind;
    const char *name = class_of(v, &kind);
    *out = (struct sl_priority){
        .group = sl_kind_info(kind)->group, .kind = sl_kind_info(kind)->kind, .name = name};
    if (name[0] == '\0') {
        return true;
    }
    bool absent;
    struct sl_json *class = sl_reconciler_get(v->r, kind, "", name, &absent);
    if (class == NULL) {
        char message[512];
        snprintf(message, sizeof message, "%s \"%s\" does not exist", out->kind, name);
        report(v, "PriorityClassNotFound", message);
        sl_map_put(v->j->blocked, v->key, (union sl_map_value){.number = 0});
        return false;
    }
    out->value = sl_json_path_int(class, "value", 0);
    sl_json_free(class);
    return true;
}

/* An API server without Sluice's rules may have let it through; then it waits for a better template. */
static bool topology_makes_sense(const struct sl_job_view *v)
{
    struct sl_error e = {0};
    if (sl_job_topology_check(v->job, &e) == SL_CODE_OK) {
        return true;
    }
    char message[512];
    snprintf(message, sizeof message, "%s: %s", e.causes[0].field, e.causes[0].text);
    report(v, "InvalidTopologyRequest", message);
    return false;
}

static void create(struct sl_job_view *v)
{
    bool idle = sl_job_suspended(v->job) && !stopping(v->job);
    if (!idle && !stop(v, "Waiting for admission by a queue")) {
        return;
    }
    struct sl_priority priority;
    if (!topology_makes_sense(v) || !find_priority(v, &priority)) {
        return;
    }
    struct sl_json *wl = sl_job_workload_new(v->job, &priority);
    struct sl_note note = job_note(v, false, "CreatedWorkload");
    snprintf(note.message, sizeof note.message, "Created Workload: %s/%s", sl_object_namespace(wl),
             sl_object_name(wl));
    write_object(v->r, SL_VERB_CREATE, SL_KIND_WORKLOAD, wl, &note);
    sl_json_free(wl);
}

/* What the flavors and checks of the admission add to the template; NULL: *e says why not. */
static struct sl_json *injection_new(struct sl_job_view *v, struct sl_error *e)
{
    struct sl_json *injection = sl_json_new_map();
    const struct sl_json *flavors =
        sl_json_path(v->wl, "status.admission.podSetAssignments.0.flavors");
    enum sl_code code = SL_CODE_OK;
    void *it = NULL;
    const char *resource;
    struct sl_json *name;
    while (code == SL_CODE_OK && sl_json_next(flavors, &it, &resource, &name)) {
        bool absent;
        struct sl_json *flavor =
            sl_reconciler_get(v->r, SL_KIND_RESOURCE_FLAVOR, "", sl_json_text(name, ""), &absent);
        code = flavor != NULL
                   ? sl_injection_add_flavor(injection, flavor, e)
                   : sl_error_set(e, SL_CODE_NOT_FOUND, "ResourceFlavor \"%s\" does not exist",
                                  sl_json_text(name, ""));
        sl_json_free(flavor);
    }
    const struct sl_json *checks = sl_json_path(v->wl, "status.admissionChecks");
    for (size_t i = 0; code == SL_CODE_OK && i < sl_json_len(checks); i++) {
        const struct sl_json *update = sl_json_path(sl_json_at(checks, i), "podSetUpdates.0");
        code = sl_injection_add_update(injection, update, e);
    }
    if (code != SL_CODE_OK) {
        sl_json_free(injection);
        return NULL;
    }
    const struct sl_json *assignment = sl_json_path(v->wl, "status.admission.podSetAssignments.0");
    if (sl_json_get(assignment, "topologyAssignment") != NULL) {
        sl_injection_add_topology(injection, sl_object_name(v->wl),
                                  sl_json_path_text(assignment, "name", SL_POD_SET_MAIN),
                                  sl_json_get(sl_workload_pod_set(v->wl), "topologyRequest"));
    }
    return injection;
}

/* What was injected into a Job that runs cannot change any more: Kubernetes keeps its template as it is. */
static bool template_matches(struct sl_job_view *v)
{
    const struct sl_json *template = sl_json_path(v->job, "spec.template");
    const struct sl_json *original = sl_json_get(sl_workload_pod_set(v->wl), "template");
    return sl_template_same_containers(template, original) &&
           (!sl_job_suspended(v->job) || sl_template_same_placement(template, original));
}

/* Fewer pods than it asked for, where its Workload allows that and was admitted so; else -1. */
static int64_t reduced_pods(const struct sl_job_view *v)
{
    const struct sl_json *pod_set = sl_workload_pod_set(v->wl);
    int64_t admitted = sl_json_path_int(v->wl, "status.admission.podSetAssignments.0.count", -1);
    bool fewer = sl_json_get(pod_set, "minCount") != NULL && admitted > 0 &&
                 admitted < sl_json_path_int(pod_set, "count", -1);
    return fewer ? admitted : -1;
}

static bool pods_match(struct sl_job_view *v)
{
    int64_t count = sl_json_path_int(sl_workload_pod_set(v->wl), "count", -1);
    int64_t reduced = sl_job_suspended(v->job) ? -1 : reduced_pods(v);
    return sl_job_pods(v->job) == (reduced > 0 ? reduced : count) && template_matches(v);
}

static bool topology_matches(const struct sl_job_view *v)
{
    struct sl_json *wanted = sl_job_topology_new(v->job);
    bool same = sl_json_equal(wanted, sl_json_get(sl_workload_pod_set(v->wl), "topologyRequest"));
    sl_json_free(wanted);
    return same;
}

/* Queue, class, topology and execution limit, which may change while nothing is reserved. */
static bool wishes_match(const struct sl_job_view *v)
{
    enum sl_kind kind;
    const char *class = class_of(v, &kind);
    return strcmp(sl_json_path_text(v->wl, "spec.queueName", ""), sl_job_queue(v->job)) == 0 &&
           strcmp(sl_json_path_text(v->wl, "spec.priorityClassRef.name", ""), class) == 0 &&
           sl_json_path_int(v->wl, "spec.maximumExecutionTimeSeconds", 0) ==
               sl_job_execution_s_max(v->job) &&
           sl_json_path_int(sl_workload_pod_set(v->wl), "minCount", 0) == sl_job_min_pods(v->job) &&
           topology_matches(v);
}

static void update_workload(struct sl_job_view *v)
{
    struct sl_priority priority;
    if (!find_priority(v, &priority)) {
        return;
    }
    static const char *const members[] = {"queueName", "podSets", "priority", "priorityClassRef",
                                          "maximumExecutionTimeSeconds"};
    struct sl_json *wanted = sl_job_workload_new(v->job, &priority);
    struct sl_json *o = sl_json_clone(v->wl);
    struct sl_json *spec = sl_json_path_make(o, "spec");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const struct sl_json *value = sl_json_get(sl_json_get(wanted, "spec"), members[i]);
        if (value == NULL) {
            sl_json_remove(spec, members[i]);
        } else {
            sl_json_set(spec, members[i], sl_json_clone(value));
        }
    }
    sl_json_free(wanted);
    struct sl_note note = job_note(v, false, "UpdatedWorkload");
    snprintf(note.message, sizeof note.message,
             "Updated Workload to match the suspended Job: %s/%s", sl_object_namespace(o),
             sl_object_name(o));
    write_object(v->r, SL_VERB_UPDATE, SL_KIND_WORKLOAD, o, &note);
    sl_json_free(o);
}

/* The Job asks for other pods than its Workload. Without a reservation the Workload follows; with one it is
 * deleted, which gives the quota back, and made anew. */
static void rematch(struct sl_job_view *v)
{
    if (!sl_job_suspended(v->job)) {
        stop(v, "No longer matches its Workload");
    } else if (!sl_condition_true(v->wl, "QuotaReserved")) {
        update_workload(v);
    } else {
        struct sl_write w = {.verb = SL_VERB_DELETE,
                             .kind = SL_KIND_WORKLOAD,
                             .ns = sl_object_namespace(v->wl),
                             .name = sl_object_name(v->wl),
                             .uid = sl_object_uid(v->wl)};
        struct sl_note note = job_note(v, false, "DeletedWorkload");
        snprintf(note.message, sizeof note.message, "Deleted not matching Workload: %s/%s",
                 sl_object_namespace(v->wl), sl_object_name(v->wl));
        sl_reconciler_write(v->r, &w, &note);
    }
}

/* --- running ------------------------------------------------------------------------------------------- */

static void cannot_start(struct sl_job_view *v, const struct sl_error *e)
{
    if (e->code == SL_CODE_INVALID) {
        struct sl_note note = job_note(v, true, "FailedToStart");
        snprintf(note.message, sizeof note.message, "%s", e->text);
        sl_job_finish_workload(v->r, v->wl, "FailedToStart", e->text, &note);
        return;
    }
    report(v, "FailedToStart", e->text);
    sl_work_add(v->r->work, v->key, v->now_ms + SL_RETRY_MS);
}

static void start(struct sl_job_view *v)
{
    if (started(v->job)) {
        forget_start(v); /* or Kubernetes would refuse to change the template */
        return;
    }
    struct sl_error e = {0};
    struct sl_json *injection = injection_new(v, &e);
    struct sl_json *o = sl_json_clone(v->job);
    if (injection == NULL ||
        sl_template_inject(sl_json_path_make(o, "spec.template"), injection, &e) != SL_CODE_OK) {
        cannot_start(v, &e);
    } else {
        struct sl_note note = job_note(v, false, "Started");
        snprintf(note.message, sizeof note.message, "Admitted by clusterQueue %s",
                 sl_json_path_text(v->wl, "status.admission.clusterQueue", "?"));
        sl_json_set_bool(sl_json_path_make(o, "spec"), "suspend", false);
        if (reduced_pods(v) > 0) {
            sl_job_set_pods(o, reduced_pods(v));
        }
        write_object(v->r, SL_VERB_UPDATE, SL_KIND_JOB, o, &note);
    }
    sl_json_free(o);
    sl_json_free(injection);
}

static void pods_ready(struct sl_job_view *v)
{
    const struct sl_json *condition = sl_condition_find(v->wl, "PodsReady");
    bool was = sl_condition_true(v->wl, "PodsReady");
    bool is = sl_job_pods_ready(v->job);
    if (was == is) {
        return;
    }
    const char *before = sl_json_text(sl_json_get(condition, "reason"), "");
    bool recovered = strcmp(before, "WaitForRecovery") == 0;
    const char *reason = !is ? "WaitForRecovery" : recovered ? "Recovered" : "Started";
    struct sl_json *o = sl_json_clone(v->wl);
    sl_condition_set(sl_json_path_make(o, "status"), "PodsReady", is, reason,
                     is ? "All pods are ready or have succeeded" : "Some pods are no longer ready",
                     sl_object_generation(v->wl), v->now_ms);
    write_object(v->r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, NULL);
    sl_json_free(o);
}

/* Say how many pods have ended for good; true when that had to be written. While quota is held the count only
 * grows: what was given back may be somebody else's by now. */
static bool reclaim(struct sl_job_view *v)
{
    int64_t most = sl_json_path_int(sl_workload_pod_set(v->wl), "count", 1);
    int64_t before = sl_json_path_int(v->wl, "status.reclaimablePods.0.count", 0);
    int64_t pods = sl_job_reclaimable_pods(v->job);
    pods = pods < most ? pods : most; /* a Job that was changed may have more than its Workload */
    bool held = sl_condition_true(v->wl, "QuotaReserved");
    if (pods == before || (held && pods < before) || !sl_engine_reclaims(v->j->engine)) {
        return false;
    }
    struct sl_json *o = sl_json_clone(v->wl);
    struct sl_json *status = sl_json_path_make(o, "status");
    sl_json_remove(status, "reclaimablePods");
    if (pods > 0) {
        struct sl_json *item = sl_json_new_map();
        struct sl_json *list = sl_json_new_list();
        sl_json_set_text(item, "name", sl_json_path_text(sl_workload_pod_set(o), "name", "main"));
        sl_json_set_int(item, "count", pods);
        sl_json_append(list, item);
        sl_json_set(status, "reclaimablePods", list);
    }
    write_object(v->r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, NULL);
    sl_json_free(o);
    return true;
}

static void job_ended(struct sl_job_view *v, bool success, const char *message)
{
    if (v->wl == NULL) {
        return;
    }
    if (!sl_condition_true(v->wl, "Finished")) {
        struct sl_note note = job_note(v, false, "FinishedWorkload");
        snprintf(note.message, sizeof note.message, "Workload '%s/%s' is declared finished",
                 sl_object_namespace(v->wl), sl_object_name(v->wl));
        sl_job_finish_workload(v->r, v->wl, success ? "Succeeded" : "Failed",
                               message[0] != '\0' ? message : "Job finished", &note);
    } else if (sl_workload_has_finalizer(v->wl)) {
        sl_job_release_workload(v->r, v->wl);
    }
}

/* Evicted or being deleted: the Job stops first, then the quota goes. */
static void stop_for(struct sl_job_view *v, const char *condition, const char *fallback)
{
    const struct sl_json *c = sl_condition_find(v->wl, condition);
    if (!stop(v, sl_json_text(sl_json_get(c, "message"), fallback))) {
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

static void act_suspended(struct sl_job_view *v)
{
    if (stopping(v->job)) {
        stop(v, "");
    } else if (!pods_match(v)) {
        rematch(v);
    } else if (sl_condition_true(v->wl, "Admitted")) {
        start(v);
    } else if (!sl_condition_true(v->wl, "QuotaReserved") && !wishes_match(v)) {
        update_workload(v);
    }
}

static void act_running(struct sl_job_view *v)
{
    if (!sl_condition_true(v->wl, "Admitted")) {
        stop(v, "Not admitted by cluster queue");
    } else if (!pods_match(v)) {
        rematch(v);
    } else {
        pods_ready(v);
    }
}

void sl_job_act(struct sl_job_view *v)
{
    SL_PRE(v->job != NULL);
    bool success;
    const char *message;
    if (sl_job_finished(v->job, &success, &message)) {
        job_ended(v, success, message);
    } else if (v->wl == NULL) {
        create(v);
    } else if (sl_object_deleting(v->wl)) {
        stop_for(v, "Evicted", "Its Workload is being deleted");
    } else if (sl_condition_true(v->wl, "Finished") || reclaim(v)) {
        return;
    } else if (sl_condition_true(v->wl, "Evicted")) {
        stop_for(v, "Evicted", "Evicted");
    } else if (sl_job_suspended(v->job)) {
        act_suspended(v);
    } else {
        act_running(v);
    }
}
