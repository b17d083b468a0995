/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What mutating admission policies do to jobs where there is an API server: in a namespace with the LocalQueue "default"
 * those that name no queue get that one, and those with a queue but without a priority class the WorkloadPriorityClass
 * "default", if there is one. Plain Pods that name a queue are marked and wait behind gates until their Workload is
 * admitted. What belongs to a job is left alone. */
#include "store/internal.h"
#include "base/check.h"

#include <string.h>

#define QUEUE "kueue.x-k8s.io/queue-name"
#define MANAGED "kueue.x-k8s.io/managed"
#define PRIORITY_CLASS "kueue.x-k8s.io/priority-class"
#define DEFAULT_NAME "default" /* of either */

static bool spared(const char *ns)
{
    return strcmp(ns, "kube-system") == 0 || strcmp(ns, "kueue-system") == 0;
}

static void append_missing(struct sl_json *parent, const char *key, const char *field,
                           const char *text)
{
    struct sl_json *list = sl_json_get(parent, key);
    if (list == NULL) {
        list = sl_json_new_list();
        sl_json_set(parent, key, list);
    }
    if (sl_json_type(list) != SL_JSON_LIST) {
        return; /* validation says what is wrong with it */
    }
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *item = sl_json_at(list, i);
        const char *old =
            field == NULL ? sl_json_text(item, "") : sl_json_path_text(item, field, "");
        if (strcmp(old, text) == 0) {
            return;
        }
    }
    struct sl_json *item = field == NULL ? sl_json_new_text(text) : sl_json_new_map();
    if (field != NULL) {
        sl_json_set_text(item, field, text);
    }
    sl_json_append(list, item);
}

static bool has_label(const struct sl_json *object, const char *key)
{
    const char *value = sl_object_label(object, key);
    return value != NULL && value[0] != '\0';
}

static void set_label(struct sl_json *object, const char *key)
{
    sl_json_set_text(sl_json_path_make(object, "metadata.labels"), key, DEFAULT_NAME);
}

/* Is the object of that kind controlled by a job that is there? What that one has made runs with it; a name alone is no owner. */
static bool of_a_job(struct sl_store *s, enum sl_kind of, const struct sl_json *object)
{
    const struct sl_json *owner = sl_object_controller_ref(object);
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(owner, "apiVersion", ""),
                                            sl_json_path_text(owner, "kind", ""));
    bool job = kind == SL_KIND_JOB && of == SL_KIND_POD; /* which makes pods only */
    job = job || (kind >= SL_KIND_CUSTOM && kind < SL_KIND_COUNT);
    return job &&
           sl_rows_has(s, kind, sl_object_namespace(object), sl_json_path_text(owner, "name", ""),
                       sl_json_path_text(owner, "uid", ""));
}

void sl_admit_job(struct sl_store *s, enum sl_kind kind, struct sl_json *job)
{
    const char *ns = sl_object_namespace(job);
    if (spared(ns) || of_a_job(s, kind, job)) {
        return;
    }
    if (!has_label(job, QUEUE) && sl_rows_has(s, SL_KIND_LOCAL_QUEUE, ns, DEFAULT_NAME, NULL)) {
        set_label(job, QUEUE);
    }
    if (has_label(job, QUEUE) && !has_label(job, PRIORITY_CLASS) &&
        sl_rows_has(s, SL_KIND_WORKLOAD_PRIORITY_CLASS, "", DEFAULT_NAME, NULL)) {
        set_label(job, PRIORITY_CLASS);
    }
}

enum sl_code sl_admit_job_change(struct sl_store *s, enum sl_kind kind, const struct sl_json *job,
                                 const struct sl_json *old, struct sl_error *causes)
{
    bool is_job = kind == SL_KIND_JOB || kind >= SL_KIND_CUSTOM;
    sl_error_clear(causes);
    if (!is_job || has_label(job, QUEUE) || !has_label(old, QUEUE) ||
        !sl_rows_has(s, SL_KIND_LOCAL_QUEUE, sl_object_namespace(old), DEFAULT_NAME, NULL)) {
        return SL_CODE_OK;
    }
    sl_error_cause(causes, "FieldValueForbidden", "metadata.labels[" QUEUE "]",
                   "Forbidden: must not be emptied in a namespace with a default queue");
    return SL_CODE_INVALID;
}

void sl_admit_pod(struct sl_store *s, struct sl_json *pod)
{
    const char *queue = sl_object_label(pod, QUEUE);
    struct sl_json *metadata = sl_json_path_make(pod, "metadata");
    struct sl_json *spec = sl_json_path_make(pod, "spec");
    if (queue == NULL || queue[0] == '\0' || spared(sl_object_namespace(pod)) ||
        of_a_job(s, SL_KIND_POD, pod)) {
        return;
    }
    sl_json_set_text(sl_json_path_make(metadata, "labels"), MANAGED, "true");
    append_missing(metadata, "finalizers", NULL, MANAGED);
    append_missing(spec, "schedulingGates", "name", "kueue.x-k8s.io/admission");
    append_missing(spec, "schedulingGates", "name", "kueue.x-k8s.io/topology");
}

void sl_store_gate_pods(struct sl_store *s, bool on)
{
    SL_PRE(s != NULL);
    s->gate_pods = on;
}
