/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* All controllers together: they watch through the one client interface, feed the engine, and do a bounded
 * amount of work at a time. Whoever has the loop calls sl_controllers_step while it returns true, and again
 * when sl_controllers_due_ms is reached; `kick` says that there is new work. One thread; time comes in. */
#ifndef SL_CONTROLLERS_CONTROLLERS_H
#define SL_CONTROLLERS_CONTROLLERS_H
#include "controllers/checks/capacity.h"
#include "controllers/cluster/cluster.h"
#include "controllers/jobs/jobs.h"
#include "controllers/control/queues.h"
#include "controllers/cluster/runner.h"
#include "controllers/control/workloads.h"
#include "engine/foresight.h"

struct sl_controllers_options {
    struct sl_client client;
    struct sl_engine *engine; /* lent */
    /* Stand in for Kubernetes' job controller, scheduler and kubelets, and for a cluster autoscaler. */
    bool run_jobs;
    bool
        processes; /* with run_jobs: pods are run by what sl_controllers_run_by has said, and nothing is simulated */
    struct sl_job_rules job_rules; /* which jobs are managed; zeroed: those with a queue name */
    bool keep_requests;            /* ProvisioningRequests of evicted Workloads stay */
    bool force_lost_pods;          /* recovery.h */
    struct sl_metered metered;     /* zeroed: neither LocalQueues nor cohorts */
    unsigned events_per_s;         /* 0: a store of our own, see recorder.h */
    unsigned events_burst;
    unsigned statuses_per_s; /* of queues and cohorts, all together; 0: no limit */
    unsigned statuses_burst;
    unsigned reasons_per_s; /* why Workloads wait; 0: no limit */
    unsigned reasons_burst;
    void (*kick)(void *context); /* called when something has to be done soon; may be NULL */
    void *kick_context;
};
struct sl_controllers;
/* The kinds that they watch; `devices`: also those by which devices are counted. */
const enum sl_kind *sl_controllers_kinds(bool devices, size_t *count);
struct sl_controllers *sl_controllers_new(const struct sl_controllers_options *options);
void sl_controllers_free(
    struct sl_controllers *c); /* no watch event or reply may arrive afterwards */
/* What runs Jobs in place of a cluster: stepped as one of the controllers, once all kinds have been listed. Lent. Before the
 * start; and where events are recorded. */
void sl_controllers_run_by(struct sl_controllers *c, struct sl_reconciler *const *parts,
                           size_t count);
struct sl_recorder *sl_controllers_events(const struct sl_controllers *c);
/* Start watching; decisions begin when every kind's objects have been seen. */
void sl_controllers_start(struct sl_controllers *c);
bool sl_controllers_step(struct sl_controllers *c, int64_t now_ms);
int64_t sl_controllers_due_ms(const struct sl_controllers *c);
bool sl_controllers_ready(const struct sl_controllers *c); /* are decisions being made? */

struct sl_controller_counters {
    struct sl_workload_counters workloads;
    const struct sl_workload_meters *meters;
    uint64_t events_dropped;
    size_t jobs_waiting; /* keys in the work queues */
};
void sl_controllers_count(const struct sl_controllers *c, struct sl_controller_counters *out);
/* An object as it would come to the engine if it were applied now: a job becomes its Workload, with what it says about how
 * long it runs; what is to be new gets what an API server adds. Nothing is written. Takes *object and gives another. */
struct sl_controllers_run {
    enum sl_run_basis basis;
    int64_t ms;
};
enum sl_code sl_controllers_wish(struct sl_controllers *c, struct sl_json **object,
                                 struct sl_controllers_run *run, struct sl_error *e);
/* Of a parent of variants: those that it has, or would get; they are what comes to the engine. NULL: of any other Workload. */
struct sl_json *sl_controllers_variants_new(const struct sl_controllers *c,
                                            const struct sl_json *workload);
/* What is going on, into the log: state_log.h. */
void sl_controllers_log_state(const struct sl_controllers *c);
#endif
