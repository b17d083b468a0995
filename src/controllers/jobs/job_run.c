/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Starting and stopping. Kubernetes lets the template of a Job change only while the Job is suspended and has no
 * start time, so stopping one takes up to three writes: suspend; when no pod runs any more, forget the start
 * time; then restore the template. The annotation `stopping` marks a Job that is on this way. Jobs of other kinds
 * are suspended and restored at once, or (restored_later) restored when no pod runs any more; gated ones see
 * job_members.c. */
#include "controllers/jobs/job_run.h"
#include "engine/parents.h"
#include "base/check.h"
#include "controllers/jobs/job_members.h"
#include "controllers/work/slices.h"
#include "controllers/work/template.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STOPPING "kueue.x-k8s.io/stopping"
#define LABEL_LOCAL_QUEUE "kueue.x-k8s.io/local-queue-name"
#define LABEL_CLUSTER_QUEUE "kueue.x-k8s.io/cluster-queue-name"
#define LABEL_LENGTH_MAX 63

void sl_job_write(struct sl_reconciler *r, enum sl_verb verb, enum sl_kind kind, struct sl_json *o,
                  const struct sl_note *note)
{
    struct sl_write w = {.verb = verb,
                         .kind = kind,
                         .ns = sl_object_namespace(o),
                         .name = sl_object_name(o),
                         .body = o,
                         .uid = sl_object_uid(o)[0] == '\0' ? NULL : sl_object_uid(o)};
    sl_reconciler_write(r, &w, note);
    sl_json_free(o);
}

struct sl_note sl_job_note(const struct sl_job_view *v, const char *reason, const char *format, ...)
{
    SL_PRE(v != NULL);
    va_list arguments;
    struct sl_note note = {.kind = v->f->kind, .about = v->job, .reason = reason};
    va_start(arguments, format);
    (void)vsnprintf(note.message, sizeof note.message, format, arguments);
    va_end(arguments);
    return note;
}

void sl_job_report(const struct sl_job_view *v, const char *reason, const char *message)
{
    SL_PRE(v != NULL);
    sl_recorder_record(v->r->events, v->f->kind, v->job, true, reason, message, v->now_ms);
}

/* --- stopping ------------------------------------------------------------------------------------------ */

bool sl_job_stopping(const struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    return v->f->forgets_start && sl_object_annotation(v->job, STOPPING) != NULL;
}

static bool started(const struct sl_job_view *v)
{
    return v->f->forgets_start && sl_json_path(v->job, "status.startTime") != NULL;
}

/* Was it suspended while it ran, and not by this controller? */
static bool by_hand(const struct sl_job_view *v)
{
    return v->f->suspended(v->f, v->job) && !sl_job_stopping(v);
}

/* What the set with that number was before it was admitted. How many pods its user has asked for since, that stays. */
static struct sl_json *original_new(const struct sl_job_view *v, size_t index)
{
    struct sl_json *pod_set = sl_json_clone(sl_workload_pod_set(v->wl, index));
    if (by_hand(v) && index < v->sets.count &&
        sl_workload_reduced_pods(v->wl, index) != v->sets.at[index].count) {
        sl_json_remove(pod_set, "minCount");
    }
    return pod_set;
}

static void restore_all(const struct sl_job_view *v, struct sl_json *o)
{
    size_t count = v->f->restored_later ? SL_POD_SETS_MAX : v->sets.count;
    for (size_t i = 0; v->wl != NULL && i < count; i++) {
        if (sl_workload_pod_set(v->wl, i) != NULL) {
            struct sl_json *pod_set = original_new(v, i);
            v->f->restore(v->f, o, i, pod_set);
            sl_json_free(pod_set);
        }
    }
}

static void suspend(struct sl_job_view *v, const char *why)
{
    struct sl_json *o = sl_json_clone(v->job);
    struct sl_note note = sl_job_note(v, "Stopped", "%s", why);
    v->f->suspend(v->f, o, true);
    if (!v->f->forgets_start && !v->f->restored_later) {
        restore_all(v, o);
    } else if (v->f->forgets_start && (v->wl != NULL || started(v) || v->f->active(v->f, o))) {
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), STOPPING, "true");
    }
    sl_job_write(v->r, SL_VERB_UPDATE, v->f->kind, o, &note);
}

static void forget_start(struct sl_job_view *v)
{
    struct sl_json *o = sl_json_clone(v->job);
    sl_json_remove(sl_json_get(o, "status"), "startTime");
    sl_job_write(v->r, SL_VERB_UPDATE_STATUS, v->f->kind, o, NULL);
}

/* Has the template of that set the label that admission adds to each, and the Workload's has not? In a Job that
 * has started it cannot change: all that it has more is admission's, even where the flavor or the number of pods is
 * another one by now. */
static bool is_marked(const struct sl_job_view *v, size_t index)
{
    const struct sl_json *original = sl_json_get(sl_workload_pod_set(v->wl, index), "template");
    return v->f->forgets_start && original != NULL &&
           sl_json_has(sl_json_path(v->sets.at[index].template, "metadata.labels"),
                       SL_LABEL_POD_SET) &&
           !sl_json_has(sl_json_path(original, "metadata.labels"), SL_LABEL_POD_SET);
}

/* Is there more in the template of that set than in the Workload's? */
static bool can_be_restored(const struct sl_job_view *v, size_t index)
{
    struct sl_json *template = sl_json_clone(v->sets.at[index].template);
    bool more =
        sl_template_restore(template, sl_json_get(sl_workload_pod_set(v->wl, index), "template"));
    sl_json_free(template);
    return more;
}

/* Is there something in the job that admission added, and that goes when it has stopped? */
static bool has_additions(const struct sl_job_view *v)
{
    struct sl_json *o = sl_json_clone(v->job);
    restore_all(v, o);
    bool more = !sl_json_equal(o, v->job);
    sl_json_free(o);
    return more;
}

bool sl_job_has_traces(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    if (v->f->restored_later) {
        return v->wl != NULL && has_additions(v);
    }
    bool traces = false;
    bool injected = v->wl != NULL && sl_job_as_admitted(v);
    for (size_t i = 0; v->wl != NULL && i < v->sets.count && !traces; i++) {
        traces = (injected || is_marked(v, i)) && can_be_restored(v, i);
    }
    return traces;
}

static void restore(struct sl_job_view *v)
{
    struct sl_json *o = sl_json_clone(v->job);
    if (sl_job_has_traces(v)) { /* else its template is still its user's */
        restore_all(v, o);
    }
    struct sl_json *annotations = sl_json_path(o, "metadata.annotations");
    sl_json_remove(annotations, STOPPING);
    if (sl_json_len(annotations) == 0) {
        sl_json_remove(sl_json_get(o, "metadata"), "annotations");
    }
    sl_job_write(v->r, SL_VERB_UPDATE, v->f->kind, o, NULL);
}

bool sl_job_stop(struct sl_job_view *v, enum sl_stop stop, const char *why)
{
    if (v->f->gated != NULL) {
        return sl_members_stop(v, stop, why);
    }
    if (!v->f->suspended(v->f, v->job)) {
        suspend(v, why);
        return false;
    }
    if (v->f->active(v->f, v->job)) {
        return false; /* the component that runs the pods reports when they have ended */
    }
    if (!sl_job_stopping(v) && !sl_job_has_traces(v)) {
        return true;
    }
    if (started(v)) {
        forget_start(v);
    } else {
        restore(v);
    }
    return false;
}

/* --- starting ------------------------------------------------------------------------------------------ */

static enum sl_code add_flavors(struct sl_reconciler *r, const struct sl_json *assignment,
                                struct sl_json *injection, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    void *it = NULL;
    const char *resource;
    struct sl_json *name;
    while (code == SL_CODE_OK &&
           sl_json_next(sl_json_get(assignment, "flavors"), &it, &resource, &name)) {
        bool absent;
        struct sl_json *flavor =
            sl_reconciler_get(r, SL_KIND_RESOURCE_FLAVOR, "", sl_json_text(name, ""), &absent);
        code = flavor != NULL
                   ? sl_injection_add_flavor(injection, flavor, e)
                   : sl_error_set(e, SL_CODE_NOT_FOUND, "ResourceFlavor \"%s\" does not exist",
                                  sl_json_text(name, ""));
        sl_json_free(flavor);
    }
    return code;
}

/* The podSetUpdates of that pod set, of every check. */
static enum sl_code add_updates(const struct sl_json *wl, const char *pod_set,
                                struct sl_json *injection, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    const struct sl_json *checks = sl_json_path(wl, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *updates = sl_json_path(sl_json_at(checks, i), "podSetUpdates");
        for (size_t k = 0; code == SL_CODE_OK && k < sl_json_len(updates); k++) {
            const struct sl_json *update = sl_json_at(updates, k);
            if (strcmp(sl_json_path_text(update, "name", ""), pod_set) == 0) {
                code = sl_injection_add_update(injection, update, e);
            }
        }
    }
    return code;
}

/* Which queues let the pods in. */
static void add_queue_labels(const struct sl_json *wl, struct sl_json *labels)
{
    const char *local = sl_json_path_text(wl, "spec.queueName", "");
    const char *cluster = sl_json_path_text(wl, "status.admission.clusterQueue", "");
    if (local[0] != '\0' && strlen(local) <= LABEL_LENGTH_MAX) {
        sl_json_set_text(labels, LABEL_LOCAL_QUEUE, local);
    }
    if (cluster[0] != '\0' && strlen(cluster) <= LABEL_LENGTH_MAX && strchr(cluster, '.') == NULL) {
        sl_json_set_text(labels, LABEL_CLUSTER_QUEUE, cluster);
    }
}

/* Pods that are placed by their index have to say what it counts from; a template that says it already is left alone. */
static void add_offset(const struct sl_job_view *v, size_t index, struct sl_json *injection)
{
    const struct sl_json *template = sl_json_get(sl_workload_pod_set(v->wl, index), "template");
    bool said =
        sl_json_has(sl_json_path(template, "metadata.annotations"), SL_ANNOTATION_INDEX_OFFSET);
    if (index < v->sets.count && v->sets.at[index].index_offset != 0 && !said) {
        sl_injection_add_offset(injection, v->sets.at[index].index_offset);
    }
}

struct sl_json *sl_admission_injection_new(struct sl_job_view *v, size_t index, struct sl_error *e)
{
    const struct sl_json *wl = v->wl;
    const struct sl_json *assignment =
        sl_json_at(sl_json_path(wl, "status.admission.podSetAssignments"), index);
    const char *pod_set = sl_json_path_text(sl_workload_pod_set(wl, index), "name", "");
    struct sl_json *injection = sl_json_new_map();
    enum sl_code code = add_flavors(v->r, assignment, injection, e);
    code = code == SL_CODE_OK ? add_updates(wl, pod_set, injection, e) : code;
    if (code != SL_CODE_OK) {
        sl_json_free(injection);
        return NULL;
    }
    struct sl_json *labels = sl_json_path_make(injection, "labels");
    sl_json_set_text(labels, SL_LABEL_POD_SET, pod_set);
    if (!v->j->rules.no_queue_labels) {
        add_queue_labels(wl, labels);
    }
    if (v->elastic) {
        sl_injection_add_slice(injection, wl);
    }
    if (sl_json_get(assignment, "topologyAssignment") != NULL) {
        sl_injection_add_topology(injection, sl_object_name(wl), pod_set,
                                  sl_json_get(sl_workload_pod_set(wl, index), "topologyRequest"));
        add_offset(v, index, injection);
    }
    return injection;
}

/* Is the template of that set what admission makes of the Workload's? */
static bool is_injected(struct sl_job_view *v, size_t index)
{
    struct sl_error e = {0};
    struct sl_json *injection = sl_admission_injection_new(v, index, &e);
    struct sl_json *template =
        sl_json_clone(sl_json_get(sl_workload_pod_set(v->wl, index), "template"));
    bool yes = injection != NULL && sl_json_type(template) == SL_JSON_MAP &&
               sl_template_inject(template, injection, &e) == SL_CODE_OK &&
               sl_template_same_placement(v->sets.at[index].template, template);
    sl_json_free(injection);
    sl_json_free(template);
    return yes;
}

bool sl_job_as_admitted(struct sl_job_view *v)
{
    SL_PRE(v->wl != NULL);
    bool yes = sl_condition_true(v->wl, "QuotaReserved") &&
               sl_json_path(v->wl, "status.admission") != NULL &&
               sl_pod_sets_match(&v->sets, v->wl, false);
    for (size_t i = 0; i < v->sets.count && yes; i++) {
        yes = is_injected(v, i);
    }
    return yes;
}

static enum sl_code inject_all(struct sl_job_view *v, struct sl_json *o, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; code == SL_CODE_OK && i < v->sets.count; i++) {
        struct sl_json *injection = sl_admission_injection_new(v, i, e);
        code = injection == NULL ? e->code : v->f->inject(v->f, o, i, injection, e);
        sl_json_free(injection);
        int64_t reduced = sl_workload_reduced_pods(v->wl, i);
        if (code == SL_CODE_OK && reduced > 0 && v->f->set_count != NULL) {
            v->f->set_count(v->f, o, reduced);
        }
    }
    return code;
}

void sl_job_cannot_start(struct sl_job_view *v, const struct sl_error *e)
{
    SL_PRE(v != NULL);
    if (e->code == SL_CODE_INVALID) {
        struct sl_note note = sl_job_note(v, "FailedToStart", "%s", e->text);
        note.warning = true;
        sl_job_finish_workload(v->r, v->wl, "FailedToStart", e->text, &note);
        return;
    }
    sl_job_report(v, "FailedToStart", e->text);
    sl_work_add(v->r->work, v->key, v->now_ms + SL_RETRY_MS);
}

struct sl_note sl_job_note_start(const struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    return sl_job_note(v, "Started", "Admitted by clusterQueue %s",
                       sl_json_path_text(v->wl, "status.admission.clusterQueue", "?"));
}

void sl_job_start(struct sl_job_view *v)
{
    if (v->f->gated != NULL) {
        sl_members_start(v);
        return;
    }
    if (started(v)) {
        forget_start(v); /* or Kubernetes would refuse to change the template */
        return;
    }
    struct sl_error e = {0};
    struct sl_json *o = sl_json_clone(v->job);
    if (inject_all(v, o, &e) != SL_CODE_OK) {
        sl_job_cannot_start(v, &e);
        sl_json_free(o);
        return;
    }
    struct sl_note note = sl_job_note_start(v);
    v->f->suspend(v->f, o, false);
    sl_job_write(v->r, SL_VERB_UPDATE, v->f->kind, o, &note);
}

/* The parent of variants is known to no engine: what it holds is its variant's, which gives it back after this. */
static void release_parent(struct sl_job_view *v)
{
    struct sl_json *o = sl_json_clone(v->wl);
    struct sl_json *status = sl_json_path_make(o, "status");
    int64_t generation = sl_object_generation(o);
    const char *text =
        sl_json_path_text(sl_condition_find(v->wl, "Evicted"), "message", "The job was stopped");
    sl_json_remove(status, "admission");
    sl_condition_set(status, "QuotaReserved", false, "Pending", text, generation, v->now_ms);
    sl_condition_set(status, "Admitted", false, "NoReservation", "The workload has no reservation",
                     generation, v->now_ms);
    sl_job_write(v->r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, NULL);
}

void sl_job_note_stopped(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    if (sl_engine_is_parent(v->j->engine, v->wl)) {
        release_parent(v);
    } else {
        sl_engine_job_stopped(v->j->engine, v->wl, v->now_ms);
    }
}

bool sl_job_checks_say(const struct sl_json *wl, struct sl_buf *out)
{
    const struct sl_json *checks = sl_json_path(wl, "status.admissionChecks");
    bool any = false;
    for (size_t i = 0; i < sl_json_len(checks); i++) {
        const struct sl_json *check = sl_json_at(checks, i);
        const char *message = sl_json_path_text(check, "message", "");
        if (message[0] == '\0' || strcmp(sl_json_path_text(check, "state", ""), "Pending") != 0) {
            continue;
        }
        if (out != NULL) {
            sl_buf_print(out, "%s%s: %s", any ? "; " : "", sl_json_path_text(check, "name", ""),
                         message);
        }
        any = true;
    }
    return any;
}

/* --- how its pods are ---------------------------------------------------------------------------------- */

/* Its admission says that pods are waited for; only where another has admitted it that is to be added. */
static struct sl_json *readiness_new(const struct sl_json *wl, bool ready, int64_t now_ms)
{
    const struct sl_json *condition = sl_condition_find(wl, "PodsReady");
    if (condition != NULL && ready == sl_condition_true(wl, "PodsReady")) {
        return NULL;
    }
    bool recovers = strcmp(sl_json_path_text(condition, "reason", ""), "WaitForRecovery") == 0;
    const char *reason = ready ? "Started" : "WaitForRecovery";
    const char *message = ready ? "All pods reached readiness and the workload is running"
                                : "At least one pod has failed, waiting for recovery";
    if (ready && recovers) {
        reason = "Recovered";
    } else if (!ready && condition == NULL) {
        reason = "WaitForStart";
        message = "Not all pods are ready or succeeded";
    }
    struct sl_json *o = sl_json_clone(wl);
    sl_condition_set(sl_json_path_make(o, "status"), "PodsReady", ready, reason, message,
                     sl_object_generation(wl), now_ms);
    return o;
}

void sl_job_tell_ready(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    if (!sl_engine_waits_for_pods(v->j->engine) || v->waiting_pods > 0) {
        return; /* more than it may have cannot be ready */
    }
    bool ready = v->f->composition == NULL ? v->f->pods_ready(v->f, v->job)
                                           : v->f->composition->pods_ready(&v->members);
    struct sl_json *o = readiness_new(v->wl, ready, v->now_ms);
    if (o != NULL) {
        sl_job_write(v->r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, NULL);
    }
}

static int64_t reclaimed_before(const struct sl_json *wl, const char *pod_set)
{
    const struct sl_json *list = sl_json_path(wl, "status.reclaimablePods");
    return sl_json_path_int(sl_json_find_by(list, "name", pod_set), "count", 0);
}

static int64_t reclaimable(const struct sl_job_view *v, size_t index, const char *pod_set)
{
    return v->f->composition == NULL ? v->f->reclaimable(v->f, v->job, index)
                                     : v->f->composition->reclaimable(&v->members, pod_set);
}

/* Of fewer pods than it was admitted with, or is about to have, fewer are given back. */
static bool shrinks(const struct sl_job_view *v, size_t index)
{
    const struct sl_json *all = sl_json_path(v->wl, "status.admission.podSetAssignments");
    int64_t count = sl_json_path_int(sl_workload_pod_set(v->wl, index), "count", 1);
    bool has = sl_json_path_int(sl_json_at(all, index), "count", 0) > count;
    return sl_is_elastic(v->wl) &&
           (has || (index < v->sets.count && v->sets.at[index].count < count));
}

/* The whole list, and whether it says something else than before. */
static struct sl_json *reclaimable_new(const struct sl_job_view *v, bool *differs)
{
    bool held = sl_condition_true(v->wl, "QuotaReserved");
    const struct sl_json *sets = sl_json_path(v->wl, "spec.podSets");
    struct sl_json *list = sl_json_new_list();
    *differs = false;
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const char *name = sl_json_path_text(sl_json_at(sets, i), "name", "");
        int64_t most = sl_json_path_int(sl_json_at(sets, i), "count", 1);
        int64_t before = reclaimed_before(v->wl, name);
        int64_t pods = reclaimable(v, i, name);
        pods -= pods > 0 && v->waiting_pods > 0 ? v->waiting_pods : 0;
        pods =
            pods < most ? pods : most; /* a job that was changed may have more than its Workload */
        pods = pods > 0 ? pods : 0;    /* nothing has checked what the status of a job says */
        pods = held && pods < before && !shrinks(v, i) ? before : pods;
        *differs = *differs || pods != before;
        if (pods > 0) {
            struct sl_json *item = sl_json_new_map();
            sl_json_set_text(item, "name", name);
            sl_json_set_int(item, "count", pods);
            sl_json_append(list, item);
        }
    }
    return list;
}

bool sl_job_has_ended_pods(const struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    bool any = false;
    bool asks = v->f->reclaimable != NULL && sl_engine_reclaims(v->j->engine);
    for (size_t i = 0; asks && i < v->sets.count && !any; i++) {
        any = v->f->reclaimable(v->f, v->job, i) > 0;
    }
    return any;
}

bool sl_job_reclaim(struct sl_job_view *v)
{
    SL_PRE(v != NULL);
    bool differs = false;
    if ((v->f->reclaimable == NULL && v->f->composition == NULL) ||
        !sl_engine_reclaims(v->j->engine)) {
        return false;
    }
    struct sl_json *list = reclaimable_new(v, &differs);
    if (differs) {
        struct sl_json *o = sl_json_clone(v->wl);
        struct sl_json *status = sl_json_path_make(o, "status");
        sl_json_remove(status, "reclaimablePods");
        if (sl_json_len(list) > 0) {
            sl_json_set(status, "reclaimablePods", sl_json_ref(list));
        }
        sl_job_write(v->r, SL_VERB_UPDATE_STATUS, SL_KIND_WORKLOAD, o, NULL);
    }
    sl_json_free(list);
    return differs;
}
