/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "controllers/control/run_times.h"
#include "base/check.h"
#include "controllers/cluster/pods.h"
#include "controllers/cluster/runner.h"
#include "controllers/jobs/job.h"

/* Pods that run one after the other, as many at a time as the Job allows. */
static int64_t rounds(const struct sl_json *job)
{
    int64_t parallelism = sl_json_path_int(job, "spec.parallelism", 1);
    int64_t completions = sl_json_path_int(job, "spec.completions", parallelism);
    return parallelism <= 0 || completions <= parallelism
               ? 1
               : (completions + parallelism - 1) / parallelism;
}

enum sl_run_basis sl_run_time_said(enum sl_kind kind, const struct sl_json *job, bool simulated,
                                   int64_t *ms)
{
    SL_PRE(ms != NULL);
    struct sl_error ignored = {0};
    int64_t deadline_s = sl_json_path_int(job, "spec.activeDeadlineSeconds", 0);
    bool pod = kind == SL_KIND_POD && sl_object_annotation(job, SL_ANNOTATION_RUN_FOR) != NULL;
    if (simulated && (kind == SL_KIND_JOB || pod)) {
        (void)sl_runner_run_for(job, ms, &ignored);
        *ms *= kind == SL_KIND_JOB && sl_job_has_pods(job) ? rounds(job) : 1;
        return SL_RUN_FOR;
    }
    if (simulated) {
        return SL_RUN_UNKNOWN; /* no deadline ends anything there */
    }
    *ms = deadline_s > 0 && deadline_s < INT32_MAX ? deadline_s * 1000 : 0;
    return *ms > 0 ? SL_RUN_DEADLINE : SL_RUN_UNKNOWN;
}

static bool is_over(enum sl_kind kind, const struct sl_json *job)
{
    bool success;
    const char *message;
    return kind == SL_KIND_JOB && sl_job_finished(job, &success, &message);
}

void sl_run_times_observe(struct sl_engine *engine, enum sl_kind kind, const struct sl_json *job,
                          bool deleted, bool simulated)
{
    int64_t ms = 0;
    if (kind != SL_KIND_POD && !sl_kind_is_job(kind)) {
        return;
    }
    bool over = deleted || is_over(kind, job);
    enum sl_run_basis basis = over ? SL_RUN_UNKNOWN : sl_run_time_said(kind, job, simulated, &ms);
    sl_engine_say_run_time(engine, sl_object_uid(job), basis, ms);
}
