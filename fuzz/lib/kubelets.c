/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What Kubernetes' own controllers do with Jobs and Pods, as far as Sluice sees it. */
#include "base/clock.h"
#include "api/kinds/elastic.h"
#include "controllers/cluster/pods.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/podjob.h"
#include "fuzz/lib/cluster.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t pods_made; /* no two names are alike */

void cluster_begin_jobs(void)
{
    pods_made = 0;
}

/* Takes the object; true when it differs. */
static bool put(enum sl_kind kind, struct sl_json *o, const struct sl_json *before)
{
    bool differs = !sl_json_equal(o, before);
    if (differs) {
        (void)shelf_put(kind, o);
    } else {
        sl_json_free(o);
    }
    return differs;
}

/* --- pods of elastic Jobs; what others have is only a number in their status --------------------------- */

static bool is_of(const struct sl_json *pod, const struct sl_json *job)
{
    return strcmp(sl_json_path_text(sl_object_controller_ref(pod), "uid", ""),
                  sl_object_uid(job)) == 0;
}

/* So many live ones. *last is one that has ended, else one that waits, else one that runs; not one that is being deleted. */
static int64_t count_pods(const struct sl_json *job, const struct sl_json **last, int64_t *ready)
{
    size_t cursor = 0;
    int64_t live = 0;
    int best = 0;
    *ready = 0;
    for (const struct sl_json *o; (o = shelf_next(SL_KIND_POD, &cursor)) != NULL;) {
        if (!is_of(o, job) || sl_object_deleting(o)) {
            continue;
        }
        int order = sl_podjob_ended(o)                                            ? 3
                    : strcmp(sl_json_path_text(o, "status.phase", ""), "Running") ? 2
                                                                                  : 1;
        live += order < 3;
        *ready += order < 3 && sl_condition_true(o, "Ready");
        *last = order >= best ? o : *last;
        best = order > best ? order : best;
    }
    return live;
}

/* One that has ended is counted, and goes. */
static void count_ended(const struct sl_json *job, const struct sl_json *pod)
{
    if (sl_podjob_succeeded(pod)) {
        char text[32];
        struct sl_json *o = sl_json_clone(job);
        struct sl_json *status = sl_json_path_make(o, "status");
        int64_t before = sl_json_path_int(status, "succeeded", 0);
        sl_json_set_int(status, "succeeded", before + 1);
        (void)snprintf(text, sizeof text, "0-%" PRId64, before);
        sl_json_set_text(status, "completedIndexes", text);
        (void)shelf_put(SL_KIND_JOB, o);
    }
    shelf_delete(SL_KIND_POD, "ns", sl_object_name(pod));
}

/* As many as the Job should have; true when there was one too many, or too few. */
static bool scale(const struct sl_json *job, int64_t pods)
{
    char name[SL_JOB_POD_NAME_SIZE];
    int64_t ready;
    const struct sl_json *last = NULL;
    int64_t live = count_pods(job, &last, &ready);
    if (last != NULL && sl_podjob_ended(last)) {
        count_ended(job, last);
    } else if (live > pods) {
        shelf_delete(SL_KIND_POD, "ns", sl_object_name(last));
    } else if (live < pods) {
        (void)snprintf(name, sizeof name, "%s-%" PRIu64, sl_object_name(job), pods_made++);
        (void)shelf_put(SL_KIND_POD, sl_job_pod_new(job, -1, name));
    } else {
        return false;
    }
    return true;
}

/* --- Jobs ------------------------------------------------------------------------------------------- */

/* Pods of a suspended Job go; one that runs has as many as it still needs, and all are ready. */
static bool run_job(const struct sl_json *job)
{
    bool success;
    const char *message;
    struct sl_json *o = sl_json_clone(job);
    struct sl_json *status = sl_json_path_make(o, "status");
    bool runs = !sl_json_path_bool(job, "spec.suspend", false) && !sl_object_deleting(job) &&
                !sl_job_finished(job, &success, &message);
    int64_t left = sl_json_path_int(job, "spec.completions", INT32_MAX) -
                   sl_json_path_int(job, "status.succeeded", 0);
    int64_t pods = sl_json_path_int(job, "spec.parallelism", 1);
    pods = runs ? (pods < left ? pods : left > 0 ? left : 0) : 0;
    int64_t ready = pods;
    if (sl_is_elastic(job)) {
        const struct sl_json *last = NULL;
        if (scale(job, pods)) {
            sl_json_free(o);
            return true;
        }
        (void)count_pods(job, &last, &ready);
    }
    sl_json_set_int(status, "active", pods);
    sl_json_set_int(status, "ready", ready);
    if (runs && sl_json_get(status, "startTime") == NULL) {
        char text[32];
        sl_clock_format(cluster_now_ms(), text);
        sl_json_set_text(status, "startTime", text);
    }
    return put(SL_KIND_JOB, o, job);
}

bool cluster_run_jobs(void)
{
    size_t cursor = 0;
    for (const struct sl_json *o; (o = shelf_next(SL_KIND_JOB, &cursor)) != NULL;) {
        if (run_job(o)) {
            return true;
        }
    }
    return false;
}

static void set_ready(struct sl_json *o, bool ready)
{
    (void)sl_condition_set(sl_json_path_make(o, "status"), "Ready", ready, "Seen", "", 0,
                           cluster_now_ms());
}

static const char *node_of(const struct sl_json *pod)
{
    const struct sl_json *selector = sl_json_path(pod, "spec.nodeSelector");
    const char *named = sl_json_text(sl_json_get(selector, "kubernetes.io/hostname"), NULL);
    return sl_object_controller_ref(pod) == NULL ? "n0" : named == NULL ? "elsewhere" : named;
}

static bool run_pod(const struct sl_json *pod)
{
    struct sl_json *o = sl_json_clone(pod);
    struct sl_json *status = sl_json_path_make(o, "status");
    const char *phase = sl_json_path_text(pod, "status.phase", "");
    if (strcmp(phase, "Running") == 0 && sl_object_deleting(pod)) {
        sl_json_set_text(status, "phase", "Failed");
        set_ready(o, false);
    } else if (strcmp(phase, "Pending") == 0 && !sl_object_deleting(pod) &&
               sl_json_len(sl_json_path(pod, "spec.schedulingGates")) == 0) {
        sl_json_set_text(status, "phase", "Running");
        sl_json_set_text(sl_json_path_make(o, "spec"), "nodeName", node_of(pod));
        set_ready(o, true);
    }
    return put(SL_KIND_POD, o, pod);
}

bool cluster_run_pods(void)
{
    size_t cursor = 0;
    for (const struct sl_json *o; (o = shelf_next(SL_KIND_POD, &cursor)) != NULL;) {
        if (run_pod(o)) {
            return true;
        }
    }
    return false;
}
