/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What mutating admission policies do to jobs where there is an API server: api/admit has the rules, the store knows what they ask
 * for. What belongs to a job is left alone. */
#include "api/admit/admit.h"
#include "store/internal.h"
#include "base/check.h"

#include <stdio.h>
#include <string.h>

#define PARENT "kueue.x-k8s.io/pod-suspending-parent"
#define DEFAULT_NAME "default" /* of the queue and of the priority class */

static bool has_queue(void *context, const char *ns)
{
    return sl_rows_has(context, SL_KIND_LOCAL_QUEUE, ns, DEFAULT_NAME, NULL);
}

static bool has_class(void *context)
{
    return sl_rows_has(context, SL_KIND_WORKLOAD_PRIORITY_CLASS, "", DEFAULT_NAME, NULL);
}

static struct sl_admit_world world_of(struct sl_store *s)
{
    return (struct sl_admit_world){has_queue, has_class, s};
}

static bool spared(const char *ns)
{
    return strcmp(ns, "kube-system") == 0 || strcmp(ns, "kueue-system") == 0;
}

/* The labels that a Job selects its pods by, under their names of now and of old. */
static const char *const uids[] = {"batch.kubernetes.io/controller-uid", "controller-uid"};
static const char *const names[] = {"batch.kubernetes.io/job-name", "job-name"};

static void add_label(struct sl_json *labels, const char *label, const char *value)
{
    if (sl_json_get(labels, label) == NULL) {
        sl_json_set_text(labels, label, value);
    }
}

/* By a label of their own, unless the Job says that its selector is its maker's business. */
static void select_pods(struct sl_json *job)
{
    if (sl_json_path_bool(job, "spec.manualSelector", false)) {
        return;
    }
    struct sl_json *labels = sl_json_path_make(job, "spec.template.metadata.labels");
    for (size_t i = 0; i < 2; i++) {
        add_label(labels, names[i], sl_object_name(job));
        add_label(labels, uids[i], sl_object_uid(job));
    }
    add_label(sl_json_path_make(job, "spec.selector.matchLabels"), uids[0], sl_object_uid(job));
}

static void check_label(const struct sl_json *labels, const char *label, const char *due,
                        struct sl_error *causes)
{
    char field[96];
    const char *value = sl_json_text(sl_json_get(labels, label), "");
    if (strcmp(value, due) != 0) {
        (void)snprintf(field, sizeof field, "spec.template.metadata.labels[%s]", label);
        sl_error_cause(causes, "FieldValueInvalid", field,
                       "Invalid value: \"%.63s\": must be '%.63s'", value, due);
    }
}

static enum sl_code check_selected(const struct sl_store *s, enum sl_kind kind,
                                   const struct sl_json *job, struct sl_error *causes)
{
    if (!s->select_pods || kind != SL_KIND_JOB ||
        sl_json_path_bool(job, "spec.manualSelector", false)) {
        return SL_CODE_OK;
    }
    const struct sl_json *labels = sl_json_path(job, "spec.template.metadata.labels");
    for (size_t i = 0; i < 2; i++) {
        check_label(labels, uids[i], sl_object_uid(job), causes);
        check_label(labels, names[i], sl_object_name(job), causes);
    }
    return causes->cause_count == 0 ? SL_CODE_OK : SL_CODE_INVALID;
}

/* Is the object of that kind controlled by a job that is there? What that one has made runs with it; a name alone is no owner. */
static bool of_a_job(struct sl_store *s, enum sl_kind of, const struct sl_json *object)
{
    if (of == SL_KIND_POD && sl_object_annotation(object, PARENT) != NULL) {
        return false; /* its parent queues it as a pod */
    }
    const struct sl_json *owner = sl_object_controller_ref(object);
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                            sl_json_path_text(owner, "kind", ""));
    bool job = kind == SL_KIND_JOB && of == SL_KIND_POD; /* which makes pods only */
    job = job || (kind >= SL_KIND_CUSTOM && sl_kind_is_job(kind));
    return job &&
           sl_rows_has(s, kind, sl_object_namespace(object), sl_json_path_text(owner, "name", ""),
                       sl_json_path_text(owner, "uid", ""));
}

/* A Job that is queued starts suspended by its defaults. */
void sl_admit_object(struct sl_store *s, enum sl_kind kind, struct sl_json *object)
{
    const struct sl_admit_world world = world_of(s);
    bool job = sl_kind_is_job(kind);
    if (s->select_pods && kind == SL_KIND_JOB) {
        select_pods(object);
    }
    if (s->guard_queues && (kind == SL_KIND_CLUSTER_QUEUE || kind == SL_KIND_RESOURCE_FLAVOR)) {
        sl_admit_new(&world, SL_ADMIT_GUARD, false, "", object);
    }
    if ((!job && (kind != SL_KIND_POD || !s->gate_pods)) || spared(sl_object_namespace(object)) ||
        of_a_job(s, kind, object)) {
        return;
    }
    unsigned more = job ? SL_ADMIT_PARENT : SL_ADMIT_GATE;
    sl_admit_new(&world, SL_ADMIT_QUEUE | SL_ADMIT_CLASS | more, false, sl_object_namespace(object),
                 object);
}

void sl_admit_update(struct sl_store *s, enum sl_kind kind, struct sl_json *object)
{
    const struct sl_admit_world world = world_of(s);
    if (kind >= SL_KIND_CUSTOM && !spared(sl_object_namespace(object)) &&
        !of_a_job(s, kind, object)) {
        sl_admit_new(&world, SL_ADMIT_PARENT, false, sl_object_namespace(object), object);
    }
}

enum sl_code sl_admit_job_change(struct sl_store *s, enum sl_kind kind, const struct sl_json *job,
                                 const struct sl_json *old, struct sl_error *causes)
{
    const struct sl_admit_world world = world_of(s);
    bool is_job = sl_kind_is_job(kind);
    sl_error_clear(causes);
    if (old == NULL) {
        return check_selected(s, kind, job, causes);
    }
    return is_job ? sl_admit_change(&world, sl_object_namespace(old), job, old, causes)
                  : SL_CODE_OK;
}

void sl_store_gate_pods(struct sl_store *s, bool on)
{
    SL_PRE(s != NULL);
    s->gate_pods = on;
}

void sl_store_guard_queues(struct sl_store *s, bool on)
{
    SL_PRE(s != NULL);
    s->guard_queues = on;
}

void sl_store_select_pods(struct sl_store *s, bool on)
{
    SL_PRE(s != NULL);
    s->select_pods = on;
}
