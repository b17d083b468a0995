/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kueue's families of workloads, each twice: kueue_NAME by ClusterQueue, kueue_local_queue_NAME by LocalQueue. */
#include "controllers/work/workload_meters.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 96
#define KEY_SIZE 512
#define CLASS_SIZE 300
#define COHORT "cohort " /* before its name, as an owner of series */

void sl_workload_meters_init(struct sl_workload_meters *m, struct sl_metered metered)
{
    SL_PRE(m != NULL);
    *m = (struct sl_workload_meters){
        .metered = metered, .queues = sl_map_new(), .custom = sl_map_new()};
    sl_meters_init(&m->meters);
}

void sl_workload_meters_fini(struct sl_workload_meters *m)
{
    SL_PRE(m != NULL);
    sl_meters_fini(&m->meters);
    sl_map_free(m->queues);
    sl_map_free_with(m->custom, sl_mem_free);
    *m = (struct sl_workload_meters){0};
}

/* --- which queues ---------------------------------------------------------------------------- */

static void print_key(const char *ns, const char *queue, char out[static KEY_SIZE])
{
    (void)snprintf(out, KEY_SIZE, "%s/%s", ns, queue);
}

/* --- custom labels ---------------------------------------------------------------------------- */

static void print_custom_key(enum sl_kind kind, const char *ns, const char *name,
                             char out[static KEY_SIZE])
{
    (void)snprintf(out, KEY_SIZE, "%d/%s/%s", (int)kind, ns, name);
}

/* "" as a name: what one of which nothing was seen has. */
static void put_custom(const struct sl_workload_meters *m, enum sl_kind kind, const char *ns,
                       const char *name, const struct sl_json *object)
{
    char key[KEY_SIZE];
    union sl_map_value old;
    struct sl_buf text = {0};
    print_custom_key(kind, ns, name, key);
    sl_custom_labels_print(m->metered.custom, kind, object, &text);
    if (sl_map_remove(m->custom, key, &old)) {
        sl_mem_free(old.pointer);
    }
    sl_map_put(m->custom, key, (union sl_map_value){.pointer = sl_buf_take(&text)});
}

static void observe_custom(struct sl_workload_meters *m, enum sl_kind kind,
                           const struct sl_json *object, bool gone)
{
    char key[KEY_SIZE];
    union sl_map_value old;
    if (!sl_custom_labels_from(m->metered.custom, kind)) {
        return;
    }
    print_custom_key(kind, sl_object_namespace(object), sl_object_name(object), key);
    if (!gone) {
        put_custom(m, kind, sl_object_namespace(object), sl_object_name(object), object);
    } else if (sl_map_remove(m->custom, key, &old)) {
        sl_mem_free(old.pointer);
    }
}

const char *sl_workload_meters_custom(const struct sl_workload_meters *m, enum sl_kind kind,
                                      const char *ns, const char *name)
{
    SL_PRE(m != NULL);
    char key[KEY_SIZE];
    if (!sl_custom_labels_from(m->metered.custom, kind)) {
        return "";
    }
    print_custom_key(kind, ns, name, key);
    if (!sl_map_get(m->custom, key, NULL)) {
        print_custom_key(kind, "", "", key);
        if (!sl_map_get(m->custom, key, NULL)) {
            put_custom(m, kind, "", "", NULL);
        }
    }
    return sl_map_find(m->custom, key);
}

/* Unlike any name of a queue. */
static void print_cohort(const char *cohort, char out[static KEY_SIZE])
{
    (void)snprintf(out, KEY_SIZE, COHORT "%s", cohort);
}

struct tree {
    bool (*has_cohort)(void *context, const char *name);
    void *context;
};

static bool is_in_tree(void *context, const char *owner)
{
    const struct tree *t = context;
    return t->has_cohort(t->context, owner + strlen(COHORT));
}

void sl_workload_meters_sweep(struct sl_workload_meters *m,
                              bool (*has_cohort)(void *context, const char *name), void *context)
{
    SL_PRE(m != NULL && has_cohort != NULL);
    struct tree t = {has_cohort, context};
    sl_meters_sweep(&m->meters, COHORT, is_in_tree, &t);
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
    observe_custom(m, kind, object, gone);
    if (kind == SL_KIND_LOCAL_QUEUE) {
        observe_local_queue(m, object, gone);
    } else if (kind == SL_KIND_CLUSTER_QUEUE && gone) {
        sl_meters_forget(&m->meters, sl_object_name(object));
    } else if (kind == SL_KIND_COHORT && gone) {
        char owner[KEY_SIZE];
        print_cohort(sl_object_name(object), owner);
        sl_meters_forget(&m->meters, owner);
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
    bool of_workload; /* the LocalQueue's family has the Workload's custom labels */
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

/* For a ClusterQueue; `key` names the queue in the labels. */
static void add_for_named(struct sl_workload_meters *m, const struct fact *f, const char *key,
                          const char *queue, const char *rest)
{
    struct sl_buf labels = {0};
    sl_buf_print(&labels, "%s=\"%s\"%s%s%s", key, queue, f->more == NULL ? "" : f->more, rest,
                 sl_workload_meters_custom(m, SL_KIND_CLUSTER_QUEUE, "", queue));
    add(&m->meters, f, &(struct whose){"kueue_", queue, labels.data, false});
    sl_buf_fini(&labels);
}

static void print_class(const struct sl_json *wl, char out[static CLASS_SIZE])
{
    (void)snprintf(out, CLASS_SIZE, ",priority_class=\"%s\"",
                   sl_json_path_text(wl, "spec.priorityClassRef.name", ""));
}

static void add_for_cluster_queue(struct sl_workload_meters *m, const struct fact *f,
                                  const struct sl_json *wl)
{
    char class[CLASS_SIZE];
    print_class(wl, class);
    add_for_named(m, f, "cluster_queue", cluster_queue_of(wl), class);
}

static void add_for_local_queue(struct sl_workload_meters *m, const struct fact *f,
                                const struct sl_json *wl)
{
    const char *ns = sl_object_namespace(wl);
    const char *queue = sl_json_path_text(wl, "spec.queueName", "");
    char key[KEY_SIZE];
    char class[CLASS_SIZE];
    struct sl_buf labels = {0};
    print_key(ns, queue, key);
    print_class(wl, class);
    sl_buf_print(&labels, "name=\"%s\",namespace=\"%s\"%s%s%s", queue, ns,
                 f->more == NULL ? "" : f->more, class,
                 sl_workload_meters_custom(m, SL_KIND_LOCAL_QUEUE, ns, queue));
    if (f->of_workload) {
        sl_custom_labels_print(m->metered.custom, SL_KIND_WORKLOAD, wl, &labels);
    }
    add(&m->meters, f, &(struct whose){"kueue_local_queue_", key, labels.data, true});
    sl_buf_fini(&labels);
}

static void add_for_queues(struct sl_workload_meters *m, const struct fact *f,
                           const struct sl_json *wl)
{
    add_for_cluster_queue(m, f, wl);
    if (sl_workload_meters_has(m, sl_object_namespace(wl),
                               sl_json_path_text(wl, "spec.queueName", ""))) {
        add_for_local_queue(m, f, wl);
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

int64_t sl_workload_queued_ms(const struct sl_json *wl, int64_t now_ms)
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
                           .took_ms = sl_workload_queued_ms(wl, now_ms)};
    add_for_queues(m, &f, wl);
}

void sl_workload_meters_admitted(struct sl_workload_meters *m, const struct sl_json *wl,
                                 int64_t now_ms)
{
    const struct fact f = {.counted = "admitted_workloads_total",
                           .timed = "admission_wait_time_seconds",
                           .took_ms = sl_workload_queued_ms(wl, now_ms),
                           .scale = SL_METER_RUNS,
                           .of_workload = true};
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
    const struct fact f = {.timed = "ready_wait_time_seconds",
                           .took_ms = sl_workload_queued_ms(wl, now_ms)};
    const struct fact started = {.timed = "admitted_until_ready_wait_time_seconds",
                                 .took_ms = between_ms(condition_since_ms(wl, "Admitted"),
                                                       condition_since_ms(wl, "PodsReady"))};
    add_for_queues(m, &f, wl);
    add_for_queues(m, &started, wl);
}

void sl_workload_meters_released(struct sl_workload_meters *m, const struct sl_json *wl,
                                 const char *cluster_queue, int64_t now_ms)
{
    SL_PRE(m != NULL);
    char more[160];
    const char *reason = sl_json_path_text(sl_condition_find(wl, "Evicted"), "reason", "");
    if (!sl_condition_true(wl, "Evicted") || cluster_queue[0] == '\0') {
        return;
    }
    (void)snprintf(more, sizeof more, ",reason=\"%s\"", reason);
    const struct fact f = {.timed = "workload_eviction_latency_seconds",
                           .took_ms = between_ms(condition_since_ms(wl, "Evicted"), now_ms)};
    add_for_named(m, &f, "cluster_queue", cluster_queue, more);
}

void sl_workload_meters_admitted_below(struct sl_workload_meters *m, const struct sl_json *wl,
                                       const char *cohort)
{
    SL_PRE(m != NULL);
    struct sl_buf labels = {0};
    char owner[KEY_SIZE];
    char class[CLASS_SIZE];
    print_cohort(cohort, owner);
    print_class(wl, class);
    sl_buf_print(&labels, "cohort=\"%s\"%s%s", cohort, class,
                 sl_workload_meters_custom(m, SL_KIND_COHORT, "", cohort));
    sl_meters_count(&m->meters, &(struct sl_series){"kueue_cohort_subtree_admitted_workloads_total",
                                                    owner, labels.data});
    sl_buf_fini(&labels);
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
                                const char *reason, const char *cause, int64_t ready_ms)
{
    char more[160];
    const struct fact f = {.counted = "evicted_workloads_total", .more = more};
    const struct fact once = {.counted = "evicted_workloads_once_total", .more = more};
    (void)snprintf(more, sizeof more, ",reason=\"%s\",underlying_cause=\"%s\"", reason, cause);
    add_for_queues(m, &f, wl);
    if (evictions_so(wl, reason, cause) == 1) {
        add_for_cluster_queue(m, &once, wl);
    }
    const struct fact stood = {.timed = "pods_ready_to_evicted_time_seconds",
                               .took_ms = between_ms(ready_ms, condition_since_ms(wl, "Evicted")),
                               .more = more};
    add_for_named(m, &stood, "cluster_queue", cluster_queue_of(wl), "");
}

void sl_workload_meters_preempted(struct sl_workload_meters *m, const char *preempting_queue,
                                  const char *reason)
{
    SL_PRE(m != NULL);
    char rest[160];
    const struct fact f = {.counted = "preempted_workloads_total"};
    (void)snprintf(rest, sizeof rest, ",reason=\"%s\"", reason);
    add_for_named(m, &f, "preempting_cluster_queue", preempting_queue, rest);
}

void sl_workload_meters_finished(struct sl_workload_meters *m, const struct sl_json *wl)
{
    const struct fact f = {.counted = "finished_workloads_total",
                           .timed = "execution_time_seconds",
                           .took_ms = ran_ms(wl),
                           .scale = SL_METER_RUNS,
                           .local_scale = SL_METER_RUNS};
    const struct fact replaced = {.counted = "replaced_workload_slices_total"};
    const char *reason = sl_json_path_text(sl_condition_find(wl, "Finished"), "reason", "");
    add_for_queues(m, &f, wl);
    if (strcmp(reason, "WorkloadSliceReplaced") == 0) {
        add_for_named(m, &replaced, "cluster_queue", cluster_queue_of(wl), "");
    }
}

void sl_workload_meters_attempt(struct sl_workload_meters *m, bool success, int64_t took_us)
{
    const char *labels = success ? "result=\"success\"" : "result=\"inadmissible\"";
    sl_meters_count(&m->meters, &(struct sl_series){"kueue_admission_attempts_total", "", labels});
    sl_meters_time(&m->meters,
                   &(struct sl_series){"kueue_admission_attempt_duration_seconds", "", labels},
                   SL_METER_CALLS, took_us);
}

/* --- what a write ends ------------------------------------------------------------------------ */

struct sl_timing {
    struct sl_meters *meters;
    const char *family;
    enum sl_meter_scale scale;
    int64_t since_ms;
    bool born; /* until the object that was written was made; else until now */
    char owner[KEY_SIZE];
    struct sl_buf labels;
};

static struct sl_timing *begin(struct sl_workload_meters *m, const char *family,
                               enum sl_meter_scale scale, int64_t since_ms)
{
    struct sl_timing *t = sl_mem_new(1, sizeof *t);
    t->meters = &m->meters;
    t->family = family;
    t->scale = scale;
    t->since_ms = since_ms;
    return t;
}

/* Of a job that has been changed it is not known how long it has asked for one. */
struct sl_timing *sl_workload_meters_begin_creation(struct sl_workload_meters *m,
                                                    const struct sl_json *job, const char *kind,
                                                    const struct sl_json *wl)
{
    int64_t since_ms = sl_clock_parse(sl_json_path_text(job, "metadata.creationTimestamp", ""));
    if (m == NULL || !m->metered.creations || since_ms == INT64_MIN ||
        sl_object_generation(job) > 1) {
        return NULL;
    }
    struct sl_timing *t =
        begin(m, "kueue_workload_creation_latency_seconds", SL_METER_BIRTHS, since_ms);
    t->born = true;
    sl_buf_print(&t->labels, "job_kind=\"%s\"%s", kind,
                 sl_workload_meters_custom(m, SL_KIND_LOCAL_QUEUE, sl_object_namespace(wl),
                                           sl_json_path_text(wl, "spec.queueName", "")));
    return t;
}

struct sl_timing *sl_workload_meters_begin_ungating(struct sl_workload_meters *m,
                                                    const struct sl_json *wl, const char *gate,
                                                    bool group)
{
    int64_t since_ms = condition_since_ms(wl, "Admitted");
    if (m == NULL || !sl_condition_true(wl, "Admitted") || since_ms == INT64_MIN) {
        return NULL;
    }
    struct sl_timing *t =
        begin(m, "kueue_pod_scheduling_gate_removal_seconds", SL_METER_CALLS, since_ms);
    (void)snprintf(t->owner, sizeof t->owner, "%s", cluster_queue_of(wl));
    sl_buf_print(&t->labels, "name=\"%s\",cluster_queue=\"%s\",is_group=\"%s\"%s", gate, t->owner,
                 group ? "true" : "false",
                 sl_workload_meters_custom(m, SL_KIND_CLUSTER_QUEUE, "", t->owner));
    return t;
}

void sl_timing_end(struct sl_timing *t, const struct sl_json *result)
{
    if (t == NULL) {
        return;
    }
    int64_t until_ms =
        t->born ? sl_clock_parse(sl_json_path_text(result, "metadata.creationTimestamp", ""))
                : sl_clock_now_ms();
    if (result != NULL && until_ms != INT64_MIN) {
        sl_meters_time(t->meters, &(struct sl_series){t->family, t->owner, t->labels.data},
                       t->scale, (until_ms - t->since_ms) * 1000);
    }
    sl_buf_fini(&t->labels);
    sl_mem_free(t);
}
