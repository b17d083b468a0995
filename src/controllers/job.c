/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading Jobs and building their Workloads. */
#include "controllers/job.h"
#include "api/topology_request.h"
#include "base/check.h"
#include "controllers/provisioning_request.h"
#include "controllers/sha1.h"
#include "controllers/template.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LENGTH_MAX 253
#define HASH_LENGTH 5

const char *sl_job_queue(const struct sl_json *job)
{
    const char *queue = sl_object_label(job, SL_LABEL_QUEUE);
    return queue != NULL && queue[0] != '\0' ? queue : NULL;
}

bool sl_job_suspended(const struct sl_json *job)
{
    return sl_json_path_bool(job, "spec.suspend", false);
}

int64_t sl_job_active(const struct sl_json *job)
{
    return sl_json_path_int(job, "status.active", 0);
}

int64_t sl_job_pods(const struct sl_json *job)
{
    int64_t parallelism = sl_json_path_int(job, "spec.parallelism", 1);
    int64_t completions = sl_json_path_int(job, "spec.completions", parallelism);
    return completions < parallelism ? completions : parallelism;
}

bool sl_job_pods_ready(const struct sl_json *job)
{
    int64_t ready = sl_json_path_int(job, "status.ready", 0);
    return sl_json_path_int(job, "status.succeeded", 0) + ready >= sl_job_pods(job);
}

int64_t sl_job_reclaimable_pods(const struct sl_json *job)
{
    int64_t parallelism = sl_json_path_int(job, "spec.parallelism", 1);
    int64_t remaining = sl_json_path_int(job, "spec.completions", parallelism) -
                        sl_json_path_int(job, "status.succeeded", 0);
    int64_t pods = sl_job_pods(job);
    remaining = remaining < 0 ? 0 : remaining;
    return parallelism > 1 && remaining < pods ? pods - remaining : 0;
}

bool sl_job_finished(const struct sl_json *job, bool *success, const char **message)
{
    bool failed = sl_condition_true(job, "Failed");
    if (!failed && !sl_condition_true(job, "Complete")) {
        return false;
    }
    const struct sl_json *condition = sl_condition_find(job, failed ? "Failed" : "Complete");
    *success = !failed;
    *message = sl_json_text(sl_json_get(condition, "message"), "");
    return true;
}

void sl_job_workload_name(const char *job_name, const char *job_uid, char out[static 254])
{
    struct sl_sha1 hash;
    char hex[41];
    char prefix[NAME_LENGTH_MAX + 16];
    const char *parts[] = {"Job", "\n", "batch", "\n", job_name, "\n", job_uid};
    sl_sha1_init(&hash);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        sl_sha1_add(&hash, parts[i], strlen(parts[i]));
    }
    sl_sha1_hex(&hash, hex);
    snprintf(prefix, sizeof prefix, "job-%s", job_name);
    snprintf(out, NAME_LENGTH_MAX + 1, "%.*s-%.*s", NAME_LENGTH_MAX - 1 - HASH_LENGTH, prefix,
             HASH_LENGTH, hex);
}

/* The pod template without what the job controller itself puts there. */
static struct sl_json *clean_template(const struct sl_json *job)
{
    struct sl_json *template = sl_json_clone(sl_json_path(job, "spec.template"));
    if (template == NULL) {
        return sl_json_new_map();
    }
    sl_template_clean(template);
    return template;
}

void sl_job_own(struct sl_json *object, const struct sl_json *job)
{
    struct sl_json *owner = sl_json_new_map();
    sl_json_set_text(owner, "apiVersion", "batch/v1");
    sl_json_set_text(owner, "kind", "Job");
    sl_json_set_text(owner, "name", sl_object_name(job));
    sl_json_set_text(owner, "uid", sl_object_uid(job));
    sl_json_set_bool(owner, "controller", true);
    sl_json_set_bool(owner, "blockOwnerDeletion", true);
    struct sl_json *owners = sl_json_new_list();
    sl_json_append(owners, owner);
    sl_json_set(sl_json_path_make(object, "metadata"), "ownerReferences", owners);
}

static void add_metadata(struct sl_json *wl, const struct sl_json *job)
{
    struct sl_json *finalizers = sl_json_new_list();
    sl_json_append(finalizers, sl_json_new_text(SL_FINALIZER));
    struct sl_json *metadata = sl_json_path_make(wl, "metadata");
    sl_json_set_text(sl_json_path_make(metadata, "labels"), SL_LABEL_JOB_UID, sl_object_uid(job));
    sl_json_set(metadata, "finalizers", finalizers);
    sl_job_own(wl, job);
}

static void set_priority(struct sl_json *spec, const struct sl_priority *priority)
{
    sl_json_set_int(spec, "priority", priority->value);
    if (priority->name[0] == '\0') {
        return;
    }
    struct sl_json *ref = sl_json_path_make(spec, "priorityClassRef");
    sl_json_set_text(ref, "group", priority->group);
    sl_json_set_text(ref, "kind", priority->kind);
    sl_json_set_text(ref, "name", priority->name);
}

int64_t sl_job_execution_s_max(const struct sl_json *job)
{
    const char *text = sl_object_label(job, SL_LABEL_MAX_EXEC_S);
    if (text == NULL || !isdigit((unsigned char)text[0])) {
        return 0;
    }
    char *end;
    long value = strtol(text, &end, 10);
    return *end == '\0' && value > 0 && value <= INT32_MAX ? value : 0;
}

int64_t sl_job_min_pods(const struct sl_json *job)
{
    const char *text = sl_object_annotation(job, SL_ANNOTATION_MIN_PODS);
    if (text == NULL || !isdigit((unsigned char)text[0])) {
        return 0;
    }
    char *end;
    long value = strtol(text, &end, 10);
    bool fewer = value < sl_json_path_int(job, "spec.parallelism", 1) && value < sl_job_pods(job);
    return *end == '\0' && value > 0 && fewer ? value : 0;
}

void sl_job_set_pods(struct sl_json *job, int64_t pods)
{
    const char *equal = sl_object_annotation(job, SL_ANNOTATION_COMPLETIONS);
    struct sl_json *spec = sl_json_path_make(job, "spec");
    sl_json_set_int(spec, "parallelism", pods);
    if (equal != NULL && strcmp(equal, "true") == 0) {
        sl_json_set_int(spec, "completions", pods);
    }
}

bool sl_job_indexed(const struct sl_json *job)
{
    return strcmp(sl_json_path_text(job, "spec.completionMode", ""), "Indexed") == 0;
}

enum sl_code sl_job_topology_check(const struct sl_json *job, struct sl_error *e)
{
    return sl_topology_request_check(sl_json_path(job, "spec.template.metadata.annotations"),
                                     "spec.template.metadata.annotations", sl_job_pods(job), e);
}

struct sl_json *sl_job_topology_new(const struct sl_json *job)
{
    return sl_topology_request_new(sl_json_path(job, "spec.template.metadata.annotations"),
                                   sl_job_indexed(job) ? SL_LABEL_INDEX : NULL);
}

/* What the Job says to a provisioner goes with its Workload. */
static void copy_parameters(struct sl_json *wl, const struct sl_json *job)
{
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(sl_json_path(job, "metadata.annotations"), &it, &key, &value)) {
        if (strncmp(key, SL_PREFIX_PROVISIONING, sizeof SL_PREFIX_PROVISIONING - 1) == 0) {
            sl_json_set(sl_json_path_make(wl, "metadata.annotations"), key, sl_json_clone(value));
        }
    }
}

struct sl_json *sl_job_workload_new(const struct sl_json *job, const struct sl_priority *priority)
{
    SL_PRE(sl_job_queue(job) != NULL);
    char name[254];
    sl_job_workload_name(sl_object_name(job), sl_object_uid(job), name);
    struct sl_json *wl = sl_object_new(SL_KIND_WORKLOAD, sl_object_namespace(job), name);
    add_metadata(wl, job);
    copy_parameters(wl, job);
    struct sl_json *spec = sl_json_path_make(wl, "spec");
    sl_json_set_text(spec, "queueName", sl_job_queue(job));
    set_priority(spec, priority);
    if (sl_job_execution_s_max(job) > 0) {
        sl_json_set_int(spec, "maximumExecutionTimeSeconds", sl_job_execution_s_max(job));
    }
    struct sl_json *pod_set = sl_json_new_map();
    sl_json_set_text(pod_set, "name", SL_POD_SET_MAIN);
    sl_json_set_int(pod_set, "count", sl_job_pods(job));
    if (sl_job_min_pods(job) > 0) {
        sl_json_set_int(pod_set, "minCount", sl_job_min_pods(job));
    }
    sl_json_set(pod_set, "template", clean_template(job));
    struct sl_json *topology = sl_job_topology_new(job);
    if (topology != NULL) {
        sl_json_set(pod_set, "topologyRequest", topology);
    }
    struct sl_json *pod_sets = sl_json_new_list();
    sl_json_append(pod_sets, pod_set);
    sl_json_set(spec, "podSets", pod_sets);
    return wl;
}

bool sl_job_owns(const struct sl_json *job, const struct sl_json *wl)
{
    const char *uid = sl_json_text(sl_json_get(sl_object_controller_ref(wl), "uid"), "");
    return uid[0] != '\0' && strcmp(uid, sl_object_uid(job)) == 0;
}

struct sl_json *sl_workload_pod_set(const struct sl_json *wl)
{
    return sl_json_path(wl, "spec.podSets.0");
}

static size_t finalizer_index(const struct sl_json *wl)
{
    const struct sl_json *list = sl_json_path(wl, "metadata.finalizers");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (strcmp(sl_json_text(sl_json_at(list, i), ""), SL_FINALIZER) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

bool sl_workload_has_finalizer(const struct sl_json *wl)
{
    return finalizer_index(wl) != SIZE_MAX;
}

void sl_workload_drop_finalizer(struct sl_json *wl)
{
    size_t index = finalizer_index(wl);
    if (index != SIZE_MAX) {
        sl_json_remove_at(sl_json_path(wl, "metadata.finalizers"), index);
    }
}
