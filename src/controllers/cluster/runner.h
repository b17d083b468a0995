/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The job runner of standalone mode replaces Kubernetes' job controller and kubelet: an unsuspended
 * Job runs for as long as the annotation sluice.dev/run-for says (default a second), then it is
 * Complete, or Failed when sluice.dev/fail is "true". Its pods are ready at once, or when
 * sluice.dev/ready-after has passed; of an elastic one as many as have quota. Suspending stops it. It makes no Pods: Jobs that have some are
 * left to pods.h. Across a restart a run goes on from its start time. */
#ifndef SL_CONTROLLERS_RUNNER_H
#define SL_CONTROLLERS_RUNNER_H
#include "controllers/cluster/elastic_ungater.h"
#include "controllers/work/reconciler.h"

#define SL_ANNOTATION_RUN_FOR "sluice.dev/run-for"
#define SL_ANNOTATION_FAIL "sluice.dev/fail"
#define SL_ANNOTATION_READY_AFTER "sluice.dev/ready-after"
#define SL_RUN_FOR_MS_DEFAULT 1000

struct sl_runner {
    struct sl_reconciler jobs;
    const struct sl_elastic_ungater *slices; /* lent; NULL: no job is elastic */
    struct sl_map *started_ms;               /* to the millisecond; the object has only seconds */
};
void sl_runner_init(struct sl_runner *n, const struct sl_client *client,
                    struct sl_recorder *events);
void sl_runner_fini(struct sl_runner *n);
void sl_runner_observe(struct sl_runner *n, const struct sl_json *job, bool deleted);
/* More pods of its job may have quota now. */
void sl_runner_observe_workload(struct sl_runner *n, const struct sl_json *wl);

/* How long the Job runs; the default, and the error, when its annotation is not a duration. */
enum sl_code sl_runner_run_for(const struct sl_json *job, int64_t *ms, struct sl_error *e);
/* How long its pods take to become ready; 0, and the error, when its annotation is not a duration. */
enum sl_code sl_runner_ready_after(const struct sl_json *job, int64_t *ms, struct sl_error *e);
/* Say so when one of the two is not; `job` is about to start. */
void sl_runner_report(struct sl_recorder *events, const struct sl_json *job, int64_t now_ms);
bool sl_runner_is_running(const struct sl_json *job); /* has it started, and not been stopped? */
/* The status of a Job that starts, whose pods are ready, that is stopped, or ends (changed in place). */
void sl_runner_start(struct sl_json *job, int64_t now_ms);
void sl_runner_ready(struct sl_json *job);
void sl_runner_stop(struct sl_json *job, int64_t now_ms);
void sl_runner_end(struct sl_json *job, int64_t now_ms);
#endif
