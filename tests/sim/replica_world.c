/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The cluster around the replicas: jobs run, pods are made, bound and run, machines are provided. It has no faults of
 * its own. */
#include "base/mem.h"
#include "controllers/checks/autoscaler.h"
#include "controllers/cluster/cluster.h"
#include "controllers/cluster/runner.h"
#include "replica.h"

#define STEP_LIMIT 32u

struct sim_stands {
    struct sim *sim;
    struct sl_client client;
    struct sl_recorder *events;
    struct sl_podbook *pods;
    struct sl_nodebook *nodes;
    struct sl_runner runner;
    struct sl_pods makers;
    struct sl_scheduler scheduler;
    struct sl_kubelet kubelet;
    struct sl_autoscaler autoscaler;
};

static void on_wake(void *context)
{
    ((struct sim *)context)->kicked = true;
}

static void observe_pod(struct sim_stands *w, const struct sl_json *pod, bool deleted)
{
    if (deleted) {
        sl_podbook_forget(w->pods, pod);
    } else {
        (void)sl_podbook_observe(w->pods, pod);
    }
    sl_pods_observe_pod(&w->makers, pod);
    sl_scheduler_observe_pod(&w->scheduler, pod);
    sl_kubelet_observe_pod(&w->kubelet, pod);
}

static void observe_node(struct sim_stands *w, const struct sl_json *node, bool deleted)
{
    if (deleted) {
        sl_nodebook_forget(w->nodes, sl_object_name(node));
    } else {
        (void)sl_nodebook_observe(w->nodes, node, w->sim->now_ms);
    }
    sl_kubelet_observe_node(&w->kubelet, sl_object_name(node));
}

static void on_watch(void *context, enum sl_watch_type type, enum sl_kind kind,
                     struct sl_json *object)
{
    struct sim_stands *w = context;
    bool deleted = type == SL_WATCH_DELETED;
    w->sim->kicked = true;
    if (type == SL_WATCH_SYNCED) {
        return;
    }
    sl_autoscaler_observe(&w->autoscaler, kind, object, deleted);
    if (kind == SL_KIND_POD) {
        observe_pod(w, object, deleted);
    } else if (kind == SL_KIND_NODE) {
        observe_node(w, object, deleted);
    } else if (kind == SL_KIND_JOB) {
        sl_runner_observe(&w->runner, object, deleted);
        sl_pods_observe_job(&w->makers, object, deleted);
    }
}

struct sim_stands *sim_stands_new(struct sim *s)
{
    static const enum sl_kind kinds[] = {SL_KIND_NODE, SL_KIND_PROVISIONING_REQUEST, SL_KIND_POD,
                                         SL_KIND_JOB};
    struct sim_stands *w = sl_mem_new(1, sizeof *w);
    w->sim = s;
    sl_store_client(s->store, on_wake, s, &w->client);
    w->events = sl_recorder_new(&w->client);
    w->pods = sl_podbook_new();
    w->nodes = sl_nodebook_new();
    sl_runner_init(&w->runner, &w->client, w->events);
    sl_pods_init(&w->makers, &w->client, w->events, w->pods);
    sl_scheduler_init(&w->scheduler, &w->client, w->events, w->pods, w->nodes);
    sl_kubelet_init(&w->kubelet, &w->client, w->events, w->pods, w->nodes);
    sl_autoscaler_init(&w->autoscaler, &w->client, w->events);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        w->client.watch(w->client.self, kinds[i], on_watch, w);
    }
    return w;
}

/* After the store, which tells nobody any more. */
void sim_stands_free(struct sim_stands *w)
{
    sl_autoscaler_fini(&w->autoscaler);
    sl_kubelet_fini(&w->kubelet);
    sl_scheduler_fini(&w->scheduler);
    sl_pods_fini(&w->makers);
    sl_runner_fini(&w->runner);
    sl_nodebook_free(w->nodes);
    sl_podbook_free(w->pods);
    sl_recorder_free(w->events);
    sl_mem_free(w);
}

bool sim_stands_step(struct sim_stands *w, int64_t now_ms)
{
    bool more = sl_reconciler_step(&w->runner.jobs, now_ms, STEP_LIMIT);
    more = sl_reconciler_step(&w->makers.jobs, now_ms, STEP_LIMIT) || more;
    more = sl_reconciler_step(&w->scheduler.pods, now_ms, STEP_LIMIT) || more;
    more = sl_reconciler_step(&w->kubelet.pods, now_ms, STEP_LIMIT) || more;
    more = sl_reconciler_step(&w->autoscaler.requests, now_ms, STEP_LIMIT) || more;
    return sl_recorder_trim(w->events) || more;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t sim_stands_due_ms(const struct sim_stands *w)
{
    int64_t due = earlier(sl_work_due_ms(w->runner.jobs.work), sl_work_due_ms(w->makers.jobs.work));
    due = earlier(due, sl_work_due_ms(w->scheduler.pods.work));
    due = earlier(due, sl_work_due_ms(w->kubelet.pods.work));
    return earlier(due, sl_work_due_ms(w->autoscaler.requests.work));
}
