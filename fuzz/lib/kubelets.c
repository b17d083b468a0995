/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What Kubernetes' own controllers do with Jobs and Pods, as far as Sluice sees it. */
#include "base/clock.h"
#include "controllers/jobs/job.h"
#include "controllers/jobs/podjob.h"
#include "fuzz/lib/cluster.h"
#include <string.h>

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
    sl_json_set_int(status, "active", pods);
    sl_json_set_int(status, "ready", pods);
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
        sl_json_set_text(sl_json_path_make(o, "spec"), "nodeName", "n0");
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
