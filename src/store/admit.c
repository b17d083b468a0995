/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What mutating admission policies do to jobs where there is an API server: api/admit has the rules, the store knows what they ask
 * for. What belongs to a job is left alone. */
#include "api/admit/admit.h"
#include "store/internal.h"
#include "base/check.h"

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

/* By the label that their makers give them. */
static void select_pods(struct sl_json *job)
{
    struct sl_json *spec = sl_json_path_make(job, "spec");
    if (sl_json_get(spec, "selector") == NULL) {
        sl_json_set_text(sl_json_path_make(spec, "selector.matchLabels"),
                         "batch.kubernetes.io/controller-uid", sl_object_uid(job));
    }
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
