/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kueue's families of workloads, each twice: kueue_NAME by ClusterQueue, kueue_local_queue_NAME by LocalQueue. */
#include "controllers/work/workload_meters.h"
#include "base/check.h"
#include "base/clock.h"
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 96
#define KEY_SIZE 512
#define LABELS_SIZE 1200

void sl_workload_meters_init(struct sl_workload_meters *m, struct sl_metered metered)
{
    SL_PRE(m != NULL);
    *m = (struct sl_workload_meters){.metered = metered, .queues = sl_map_new()};
    sl_meters_init(&m->meters);
}

void sl_workload_meters_fini(struct sl_workload_meters *m)
{
    SL_PRE(m != NULL);
    sl_meters_fini(&m->meters);
    sl_map_free(m->queues);
    *m = (struct sl_workload_meters){0};
}

/* --- which queues ---------------------------------------------------------------------------- */

static void print_key(const char *ns, const char *queue, char out[static KEY_SIZE])
{
    (void)snprintf(out, KEY_SIZE, "%s/%s", ns, queue);
}

static void observe_local_queue(struct sl_workload_meters *m, const struct sl_json *object,
                                bool gone)
{
    const struct sl_selector *s = m->metered.selector;
    char key[KEY_SIZE];
    print_key(sl_object_namespace(object), sl_object_name(object), key);
    if (m->metered.on && !gone && (s == NULL || sl_selector_matches(s, object))) {
        sl_map_put(m->queues, key, (union sl_map_value){0});
    } else if (sl_map_remove(m->queues, key, NULL)) {
        sl_meters_forget(&m->meters, key);
    }
}

void sl_workload_meters_observe(struct sl_workload_meters *m, enum sl_kind kind,
                                const struct sl_json *object, bool gone)
{
    if (kind == SL_KIND_LOCAL_QUEUE) {
        observe_local_queue(m, object, gone);
    } else if (kind == SL_KIND_CLUSTER_QUEUE && gone) {
        sl_meters_forget(&m->meters, sl_object_name(object));
    }
}

bool sl_workload_meters_has(const struct sl_workload_meters *m, const char *ns, const char *queue)
{
    SL_PRE(m != NULL);
    char key[KEY_SIZE];
    print_key(ns, queue, key);
    return sl_map_get(m->queues, key, NULL);
}

/* --- series ---------------------------------------------------------------------------------- */

/* Something about a Workload: counted in the family `counted`, timed in `timed`; either may be NULL. */
struct fact {
    const char *counted, *timed;
    int64_t took_ms; /* INT64_MIN: unknown */
    enum sl_meter_scale scale, local_scale;
    const char *more; /* labels between the queue and the priority class */
};

struct whose {
    const char *prefix, *owner, *labels;
    bool local;
};

static void add(struct sl_meters *m, const struct fact *f, const struct whose *w)
{
    char name[NAME_SIZE];
    struct sl_series s = {.name = name, .owner = w->owner, .labels = w->labels};
    if (f->counted != NULL) {
        (void)snprintf(name, sizeof name, "%s%s", w->prefix, f->counted);
        sl_meters_count(m, &s);
    }
    if (f->timed != NULL && f->took_ms != INT64_MIN) {
        (void)snprintf(name, sizeof name, "%s%s", w->prefix, f->timed);
        sl_meters_time(m, &s, w->local ? f->local_scale : f->scale, f->took_ms * 1000);
    }
}

static const char *cluster_queue_of(const struct sl_json *wl)
{
    return sl_json_path_text(wl, "status.admission.clusterQueue", "");
}

static void add_for_cluster_queue(struct sl_workload_meters *m, const struct fact *f,
                                  const struct sl_json *wl)
{
    char labels[LABELS_SIZE];
    (void)snprintf(labels, sizeof labels, "cluster_queue=\"%s\"%s,priority_class=\"%s\"",
                   cluster_queue_of(wl), f->more == NULL ? "" : f->more,
                   sl_json_path_text(wl, "spec.priorityClassRef.name", ""));
    add(&m->meters, f, &(struct whose){"kueue_", cluster_queue_of(wl), labels, false});
}

static void add_for_queues(struct sl_workload_meters *m, const struct fact *f,
                           const struct sl_json *wl)
{
    const char *ns = sl_object_namespace(wl);
    const char *queue = sl_json_path_text(wl, "spec.queueName", "");
    char key[KEY_SIZE];
    char labels[LABELS_SIZE];
    add_for_cluster_queue(m, f, wl);
    if (sl_workload_meters_has(m, ns, queue)) {
        (void)snprintf(labels, sizeof labels,
                       "name=\"%s\",namespace=\"%s\"%s,priority_class=\"%s\"", queue, ns,
                       f->more == NULL ? "" : f->more,
                       sl_json_path_text(wl, "spec.priorityClassRef.name", ""));
        print_key(ns, queue, key);
        add(&m->meters, f, &(struct whose){"kueue_local_queue_", key, labels, true});
    }
}

/* --- how long -------------------------------------------------------------------------------- */

static int64_t condition_since_ms(const struct sl_json *wl, const char *type)
{
    return sl_clock_parse(sl_json_path_text(sl_condition_find(wl, type), "lastTransitionTime", ""));
}

static int64_t between_ms(int64_t from_ms, int64_t to_ms)
{
    return from_ms == INT64_MIN || to_ms == INT64_MIN ? INT64_MIN : to_ms - from_ms;
}

/* Since its creation, or since it was put back in line. */
static int64_t queued_ms(const struct sl_json *wl, int64_t now_ms)
{
    int64_t since_ms =
        sl_condition_true(wl, "Requeued")
            ? condition_since_ms(wl, "Requeued")
            : sl_clock_parse(sl_json_path_text(wl, "metadata.creationTimestamp", ""));
    return between_ms(since_ms, now_ms);
}

/* From the first admission to the end, without the time in between that it was not admitted. */
static int64_t ran_ms(const struct sl_json *wl)
{
    int64_t past_s = sl_json_int(sl_json_path(wl, "status.accumulatedPastExecutionTimeSeconds"), 0);
    int64_t ms = between_ms(condition_since_ms(wl, "Admitted"), condition_since_ms(wl, "Finished"));
    return ms == INT64_MIN ? ms : past_s * 1000 + ms;
}

/* --- facts ----------------------------------------------------------------------------------- */

void sl_workload_meters_reserved(struct sl_workload_meters *m, const struct sl_json *wl,
                                 int64_t now_ms)
{
    const struct fact f = {.counted = "quota_reserved_workloads_total",
                           .timed = "quota_reserved_wait_time_seconds",
                           .took_ms = queued_ms(wl, now_ms)};
    add_for_queues(m, &f, wl);
}

void sl_workload_meters_admitted(struct sl_workload_meters *m, const struct sl_json *wl,
                                 int64_t now_ms)
{
    const struct fact f = {.counted = "admitted_workloads_total",
                           .timed = "admission_wait_time_seconds",
                           .took_ms = queued_ms(wl, now_ms),
                           .scale = SL_METER_RUNS};
    const struct fact checked = {.timed = "admission_checks_wait_time_seconds",
                                 .took_ms =
                                     between_ms(condition_since_ms(wl, "QuotaReserved"), now_ms)};
    add_for_queues(m, &f, wl);
    if (sl_json_len(sl_json_path(wl, "status.admissionChecks")) > 0) {
        add_for_queues(m, &checked, wl);
    }
}

void sl_workload_meters_ready(struct sl_workload_meters *m, const struct sl_json *wl,
                              int64_t now_ms)
{
    const struct fact f = {.timed = "ready_wait_time_seconds", .took_ms = queued_ms(wl, now_ms)};
    const struct fact started = {.timed = "admitted_until_ready_wait_time_seconds",
                                 .took_ms = between_ms(condition_since_ms(wl, "Admitted"),
                                                       condition_since_ms(wl, "PodsReady"))};
    add_for_queues(m, &f, wl);
    add_for_queues(m, &started, wl);
}

/* How often it has been evicted for that reason and cause, this time included. */
static int64_t evictions_so(const struct sl_json *wl, const char *reason, const char *cause)
{
    const struct sl_json *all = sl_json_path(wl, "status.schedulingStats.evictions");
    for (size_t i = 0; i < sl_json_len(all); i++) {
        const struct sl_json *one = sl_json_at(all, i);
        if (strcmp(sl_json_path_text(one, "reason", ""), reason) == 0 &&
            strcmp(sl_json_path_text(one, "underlyingCause", ""), cause) == 0) {
            return sl_json_int(sl_json_get(one, "count"), 0);
        }
    }
    return 0;
}

void sl_workload_meters_evicted(struct sl_workload_meters *m, const struct sl_json *wl,
                                const char *reason, const char *cause)
{
    char more[160];
    const struct fact f = {.counted = "evicted_workloads_total", .more = more};
    const struct fact once = {.counted = "evicted_workloads_once_total", .more = more};
    (void)snprintf(more, sizeof more, ",reason=\"%s\",underlying_cause=\"%s\"", reason, cause);
    add_for_queues(m, &f, wl);
    if (evictions_so(wl, reason, cause) == 1) {
        add_for_cluster_queue(m, &once, wl);
    }
}

void sl_workload_meters_preempted(struct sl_workload_meters *m, const char *preempting_queue,
                                  const char *reason)
{
    SL_PRE(m != NULL);
    char labels[LABELS_SIZE];
    const struct fact f = {.counted = "preempted_workloads_total"};
    (void)snprintf(labels, sizeof labels, "preempting_cluster_queue=\"%s\",reason=\"%s\"",
                   preempting_queue, reason);
    add(&m->meters, &f, &(struct whose){"kueue_", preempting_queue, labels, false});
}

void sl_workload_meters_finished(struct sl_workload_meters *m, const struct sl_json *wl)
{
    const struct fact f = {.counted = "finished_workloads_total",
                           .timed = "execution_time_seconds",
                           .took_ms = ran_ms(wl),
                           .scale = SL_METER_RUNS,
                           .local_scale = SL_METER_RUNS};
    add_for_queues(m, &f, wl);
}

void sl_workload_meters_attempt(struct sl_workload_meters *m, bool success, int64_t took_us)
{
    const char *labels = success ? "result=\"success\"" : "result=\"inadmissible\"";
    sl_meters_count(&m->meters, &(struct sl_series){"kueue_admission_attempts_total", "", labels});
    sl_meters_time(&m->meters,
                   &(struct sl_series){"kueue_admission_attempt_duration_seconds", "", labels},
                   SL_METER_CALLS, took_us);
}
