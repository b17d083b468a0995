/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Wiring of the controllers: watch events in, work in bounded steps. */
#include "controllers/control/controllers.h"
#include "base/check.h"
#include "controllers/work/state_log.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "controllers/adapters/adapter.h"
#include "controllers/control/run_times.h"
#include "controllers/jobs/job_wish.h"
#include "controllers/serving/parents.h"
#include "controllers/variants/variants.h"
#include "controllers/work/classes.h"
#include "engine/figures.h"
#include <string.h>

#define STEP_LIMIT 32u /* keys or decisions per controller and step */
#define CYCLES_PER_STEP 16u

/* Nodes, queues and classes come before Workloads, Pods and Jobs: a restart then rebuilds bottom up. */
static const enum sl_kind watched[] = {SL_KIND_NAMESPACE,
                                       SL_KIND_LIMIT_RANGE,
                                       SL_KIND_RUNTIME_CLASS,
                                       SL_KIND_TOPOLOGY,
                                       SL_KIND_NODE,
                                       SL_KIND_RESOURCE_FLAVOR,
                                       SL_KIND_PROVISIONING_REQUEST_CONFIG,
                                       SL_KIND_ADMISSION_CHECK,
                                       SL_KIND_COHORT,
                                       SL_KIND_CLUSTER_QUEUE,
                                       SL_KIND_LOCAL_QUEUE,
                                       SL_KIND_PRIORITY_CLASS,
                                       SL_KIND_WORKLOAD_PRIORITY_CLASS,
                                       SL_KIND_WORKLOAD,
                                       SL_KIND_POD_TEMPLATE,
                                       SL_KIND_PROVISIONING_REQUEST,
                                       SL_KIND_POD,
                                       SL_KIND_JOB};
#define WATCHED_COUNT (sizeof watched / sizeof watched[0])
/* Before them, where devices are counted. */
static const enum sl_kind counted_by[] = {SL_KIND_DEVICE_CLASS, SL_KIND_RESOURCE_SLICE,
                                          SL_KIND_RESOURCE_CLAIM_TEMPLATE};
#define COUNTED_BY_COUNT (sizeof counted_by / sizeof counted_by[0])
#define DEVICES_MS 1000 /* they often come several at a time */

struct sl_controllers {
    struct sl_controllers_options options;
    struct sl_recorder *events;
    struct sl_workloads workloads;
    struct sl_queues queues;
    struct sl_guards guards;
    struct sl_classes classes;
    struct sl_jobs jobs;
    struct sl_parents parents;
    struct sl_variants variants;
    struct sl_runner runner;
    struct sl_cluster cluster;
    struct sl_capacity capacity;
    struct sl_reconciler *const *running; /* sl_controllers_run_by */
    size_t running_count;
    bool synced[SL_KIND_COUNT];
    size_t synced_count;
    bool cycle_due;
    int64_t
        reread_due_ms; /* Workloads could not be read again: when they are to be; INT64_MAX = never */
    int64_t settle_due_ms; /* the same of what devices count for */
    struct sl_map
        *unsure; /* "namespace/name" -> a Workload that may be an echo: sl_engine_recognise */
    bool events_loaded; /* those of earlier runs; not before the start is over */
};

static void look_at_job_again(void *context, struct sl_json *workload)
{
    struct sl_controllers *c = context;
    sl_jobs_observe(&c->jobs, SL_KIND_WORKLOAD, workload, false, sl_clock_now_ms());
}

const enum sl_kind *sl_controllers_kinds(bool devices, size_t *count)
{
    static enum sl_kind kinds[COUNTED_BY_COUNT + WATCHED_COUNT + SL_KIND_CUSTOM_MAX];
    *count = devices ? COUNTED_BY_COUNT : 0;
    memcpy(kinds, counted_by, *count * sizeof kinds[0]);
    memcpy(&kinds[*count], watched, sizeof watched);
    *count += WATCHED_COUNT;
    const enum sl_kind *referred;
    size_t referred_count = sl_adapters_referred(&referred);
    for (size_t i = 0; i < referred_count; i++) { /* before the jobs that refer to them */
        if (!sl_kind_is_job(referred[i])) {
            kinds[(*count)++] = referred[i];
        }
    }
    for (size_t i = 0; i < sl_adapters_count(); i++) {
        kinds[(*count)++] = sl_adapters_at(i)->kind;
    }
    for (enum sl_kind kind = SL_KIND_CUSTOM; kind < sl_kind_end(); kind++) {
        if (sl_kind_info(kind)->by_name) { /* owners of jobs */
            kinds[(*count)++] = kind;
        }
    }
    return kinds;
}

/* Do jobs last as long as they say? */
static bool simulates(const struct sl_controllers_options *options)
{
    return options->run_jobs && !options->processes;
}

struct sl_controllers *sl_controllers_new(const struct sl_controllers_options *options)
{
    SL_PRE(options->engine != NULL && options->client.watch != NULL);
    struct sl_controllers *c = sl_mem_new(1, sizeof *c);
    c->options = *options;
    const struct sl_client *client = &c->options.client;
    c->events = sl_recorder_new(client);
    c->unsure = sl_map_new();
    c->reread_due_ms = c->settle_due_ms = INT64_MAX;
    if (options->events_per_s > 0) {
        sl_recorder_limit(c->events, options->events_per_s, options->events_burst);
    }
    sl_workloads_init(&c->workloads, client, c->events, options->engine);
    c->workloads.budget = sl_budget_new(options->reasons_per_s, options->reasons_burst);
    c->workloads.meters.metered = options->metered;
    c->workloads.evicted_already = look_at_job_again;
    c->workloads.context = c;
    sl_queues_init(&c->queues, client, c->events, options->engine);
    sl_guards_init(&c->guards, client, c->events, options->engine);
    sl_classes_init(&c->classes, client);
    c->queues.guards = &c->guards;
    c->queues.budget = sl_budget_new(options->statuses_per_s, options->statuses_burst);
    sl_jobs_init(&c->jobs, client, c->events, options->engine, &options->job_rules);
    sl_parents_init(&c->parents, &c->jobs, client, c->events);
    sl_variants_init(&c->variants, sl_engine_admits_concurrently(options->engine), client,
                     c->events, options->engine);
    sl_runner_init(&c->runner, client, c->events);
    sl_cluster_init(&c->cluster, client, c->events, options->run_jobs);
    c->cluster.processes = c->cluster.makers.off = options->processes;
    c->cluster.recovery.on = options->force_lost_pods;
    c->jobs.meters = c->cluster.ungater.meters = c->cluster.slices.meters = &c->workloads.meters;
    c->runner.slices = &c->cluster.slices;
    sl_capacity_init(&c->capacity, client, c->events, simulates(options), options->keep_requests);
    return c;
}

void sl_controllers_free(struct sl_controllers *c)
{
    if (c == NULL) {
        return;
    }
    sl_capacity_fini(&c->capacity);
    sl_cluster_fini(&c->cluster);
    sl_runner_fini(&c->runner);
    sl_variants_fini(&c->variants);
    sl_parents_fini(&c->parents);
    sl_jobs_fini(&c->jobs);
    sl_guards_fini(&c->guards);
    sl_classes_fini(&c->classes);
    sl_queues_fini(&c->queues);
    sl_workloads_fini(&c->workloads);
    sl_map_free_with(c->unsure, sl_json_free_value);
    sl_recorder_free(c->events);
    sl_mem_free(c);
}

void sl_controllers_run_by(struct sl_controllers *c, struct sl_reconciler *const *parts,
                           size_t count)
{
    SL_PRE(c != NULL && c->options.processes);
    c->running = parts;
    c->running_count = count;
}

struct sl_recorder *sl_controllers_events(const struct sl_controllers *c)
{
    SL_PRE(c != NULL);
    return c->events;
}

static void kick(struct sl_controllers *c)
{
    if (c->options.kick != NULL) {
        c->options.kick(c->options.kick_context);
    }
}

/* Kinds that are read whole before anything is decided. */
static size_t needed_count(const struct sl_controllers *c)
{
    size_t devices = sl_engine_counts_devices(c->options.engine) ? COUNTED_BY_COUNT : 0;
    return devices + WATCHED_COUNT + sl_adapters_count();
}

static void note_synced(struct sl_controllers *c, enum sl_kind kind)
{
    if (c->synced[kind]) {
        return;
    }
    c->synced[kind] = true;
    if (kind >= SL_KIND_CUSTOM && !sl_kind_is_job(kind)) {
        return; /* jobs wait for what they refer to; the others need not */
    }
    if (++c->synced_count == needed_count(c)) {
        sl_engine_synced(c->options.engine, sl_clock_now_ms());
        c->cycle_due = true;
        sl_log(SL_LOG_INFO, "all objects have been read", NULL);
    }
}

static void feed_engine(struct sl_controllers *c, enum sl_kind kind, const struct sl_json *object,
                        bool deleted)
{
    int64_t now_ms = sl_clock_now_ms();
    if (kind == SL_KIND_JOB || kind >= SL_KIND_CUSTOM || kind == SL_KIND_POD_TEMPLATE ||
        kind == SL_KIND_PROVISIONING_REQUEST || kind == SL_KIND_PROVISIONING_REQUEST_CONFIG) {
        return; /* the engine knows what their controllers write into Workloads */
    }
    c->cycle_due = true;
    if (deleted) {
        sl_engine_forget(c->options.engine, kind, object, now_ms);
        sl_queues_forget(&c->queues, kind, object);
        return;
    }
    struct sl_error e = {0};
    if (sl_engine_observe(c->options.engine, kind, object, now_ms, &e) != SL_CODE_OK) {
        sl_log(SL_LOG_WARN, "object cannot be used", "kind", sl_kind_info(kind)->kind, "namespace",
               sl_object_namespace(object), "name", sl_object_name(object), "error",
               e.cause_count > 0 ? e.causes[0].text : e.text, NULL);
        sl_recorder_record(c->events, kind, object, true, "Unusable",
                           e.cause_count > 0 ? e.causes[0].text : e.text, now_ms);
    }
    if (kind == SL_KIND_WORKLOAD && sl_controllers_ready(c)) {
        sl_workloads_count_news(&c->workloads, object);
    }
}

/* --- what may be an echo ---------------------------------------------------------------------- */

/* Watches tell a version just before the answer comes to the write that has made it. So a Workload of which a write is
 * under way is fed when all has been told, and not at all if it was that one. */

static void feed_or_recognise(struct sl_controllers *c, struct sl_json *workload)
{
    int64_t now_ms = sl_clock_now_ms();
    if (sl_engine_recognise(c->options.engine, workload, now_ms) != SL_SIGHT_ECHO) {
        feed_engine(c, SL_KIND_WORKLOAD, workload, false);
    }
}

static void feed_unsure_one(struct sl_controllers *c, const char *key)
{
    union sl_map_value held;
    if (sl_map_remove(c->unsure, key, &held)) {
        feed_or_recognise(c, held.pointer);
        sl_json_free(held.pointer);
    }
}

static void feed_unsure(struct sl_controllers *c)
{
    for (struct sl_map_item e = {0}; sl_map_count(c->unsure) > 0 && sl_map_each(c->unsure, &e);) {
        sl_map_remove(c->unsure, e.key, NULL);
        feed_or_recognise(c, e.value.pointer);
        sl_json_free(e.value.pointer);
    }
}

/* Versions of one Workload are fed in their order. */
static void feed_workload(struct sl_controllers *c, struct sl_json *object, bool deleted)
{
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(object), sl_object_name(object), key);
    feed_unsure_one(c, key);
    enum sl_sight sight =
        deleted ? SL_SIGHT_NEWS : sl_engine_recognise(c->options.engine, object, sl_clock_now_ms());
    if (sight == SL_SIGHT_NEWS) {
        feed_engine(c, SL_KIND_WORKLOAD, object, deleted);
    } else if (sight == SL_SIGHT_UNSURE) {
        sl_map_put(c->unsure, key, (union sl_map_value){.pointer = sl_json_ref(object)});
    }
    if (!deleted && sl_custom_labels_from(c->options.metered.custom, SL_KIND_WORKLOAD)) {
        sl_engine_mark(c->options.engine, object,
                       sl_custom_labels_mark(c->options.metered.custom, object));
    }
    if (deleted && sl_controllers_ready(c)) {
        sl_workloads_log_gone(object);
    }
}

static void feed_again(void *context, struct sl_json *workload)
{
    feed_engine(context, SL_KIND_WORKLOAD, workload, false);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Workloads are read with the limits of their namespace and the overhead of their class: again, when these
 * change. */
static void read_again(struct sl_controllers *c, enum sl_kind kind, const struct sl_json *object)
{
    struct sl_error e = {0};
    const struct sl_client *client = &c->options.client;
    bool limits = kind == SL_KIND_LIMIT_RANGE || kind == SL_KIND_RUNTIME_CLASS;
    bool moved = sl_engine_wants_workloads(c->options.engine); /* or a check is requested again */
    const char *ns = moved ? "" : sl_object_namespace(object);
    if (sl_engine_wants_requests(c->options.engine) && c->synced[SL_KIND_WORKLOAD]) {
        c->settle_due_ms = earlier(c->settle_due_ms, sl_clock_now_ms() + DEVICES_MS);
    }
    if (!(limits || moved) || !c->synced[SL_KIND_WORKLOAD]) {
        return;
    }
    feed_unsure(c);
    if (client->list(client->self, SL_KIND_WORKLOAD, ns, feed_again, c, &e) != SL_CODE_OK) {
        sl_log(SL_LOG_WARN, "workloads cannot be read again", "error", e.text, NULL);
        sl_engine_want_workloads(c->options.engine);
        c->reread_due_ms = sl_clock_now_ms() + SL_RETRY_MS;
    }
}

static bool has_cohort(void *context, const char *name)
{
    const struct sl_controllers *c = context;
    return sl_engine_has_cohort(c->options.engine, name);
}

static void on_watch(void *context, enum sl_watch_type type, enum sl_kind kind,
                     struct sl_json *object)
{
    struct sl_controllers *c = context;
    if (type == SL_WATCH_SYNCED) {
        note_synced(c, kind);
    } else if (type == SL_WATCH_UNREADABLE) {
        sl_recorder_record(c->events, kind, object, true, "Unreadable",
                           "This state of the object cannot be read: its last known state "
                           "is kept, with the quota that it holds",
                           sl_clock_now_ms());
    } else {
        bool deleted = type == SL_WATCH_DELETED;
        if (kind == SL_KIND_WORKLOAD) {
            feed_workload(c, object, deleted);
        } else {
            feed_engine(c, kind, object, deleted);
            sl_workload_meters_observe(&c->workloads.meters, kind, object, deleted);
            if (deleted && (kind == SL_KIND_COHORT || kind == SL_KIND_CLUSTER_QUEUE)) {
                sl_workload_meters_sweep(&c->workloads.meters, has_cohort, c);
            }
        }
        read_again(c, kind, object);
        sl_jobs_observe(&c->jobs, kind, object, deleted, sl_clock_now_ms());
        sl_parents_observe(&c->parents, kind, object, deleted);
        sl_variants_observe(&c->variants, kind, object, deleted);
        sl_cluster_observe(&c->cluster, kind, object, deleted, sl_clock_now_ms());
        sl_capacity_observe(&c->capacity, kind, object, deleted);
        sl_guards_observe(&c->guards, kind, object, deleted);
        sl_classes_observe(&c->classes, kind, object, deleted);
        sl_run_times_observe(c->options.engine, kind, object, deleted, simulates(&c->options));
        if (kind == SL_KIND_JOB && simulates(&c->options)) {
            sl_runner_observe(&c->runner, object, deleted);
        } else if (kind == SL_KIND_WORKLOAD && simulates(&c->options)) {
            sl_runner_observe_workload(&c->runner, object);
        }
    }
    kick(c);
}

void sl_controllers_start(struct sl_controllers *c)
{
    SL_PRE(c != NULL);
    const struct sl_client *client = &c->options.client;
    size_t count;
    const enum sl_kind *kinds =
        sl_controllers_kinds(sl_engine_counts_devices(c->options.engine), &count);
    for (size_t i = 0; i < count; i++) {
        client->watch(client->self, kinds[i], on_watch, c);
    }
}

/* An attempt is a cycle that considered a workload. */
static bool attempt(struct sl_controllers *c, int64_t now_ms)
{
    int64_t began_us = sl_clock_monotonic_us();
    bool more = sl_engine_cycle(c->options.engine, now_ms);
    unsigned news = sl_engine_news(c->options.engine);
    if ((news & SL_NEWS_CYCLE) != 0) {
        sl_workload_meters_attempt(&c->workloads.meters, (news & SL_NEWS_RESERVED) != 0,
                                   sl_clock_monotonic_us() - began_us);
    }
    return more;
}

/* Cycles until the engine has nothing more to decide at once; true when it has. */
static bool run_cycles(struct sl_controllers *c, int64_t now_ms)
{
    c->cycle_due = false;
    for (unsigned i = 0; i < CYCLES_PER_STEP; i++) {
        if (!attempt(c, now_ms)) {
            return false;
        }
    }
    c->cycle_due = true;
    return true;
}

bool sl_controllers_step(struct sl_controllers *c, int64_t now_ms)
{
    if (!sl_controllers_ready(c)) {
        return false;
    }
    if (!c->events_loaded) {
        c->events_loaded = true;
        sl_recorder_load(c->events, now_ms);
    }
    feed_unsure(c);
    if (now_ms >= c->settle_due_ms) {
        c->settle_due_ms = INT64_MAX;
        c->reread_due_ms = sl_engine_settle_requests(c->options.engine) ? now_ms : c->reread_due_ms;
    }
    if (now_ms >= c->reread_due_ms) {
        c->reread_due_ms = INT64_MAX;
        sl_engine_want_workloads(c->options.engine);
        read_again(c, SL_KIND_WORKLOAD, NULL);
    }
    read_again(c, SL_KIND_WORKLOAD, NULL); /* where a write that failed asks for it */
    bool more = sl_jobs_step(&c->jobs, now_ms, STEP_LIMIT);
    more = sl_parents_step(&c->parents, now_ms, STEP_LIMIT) || more;
    more = sl_reconciler_step(&c->variants.parents, now_ms, STEP_LIMIT) || more;
    bool looked_at_all = !more;
    more = run_cycles(c, now_ms) || more;
    more = sl_workloads_step(&c->workloads, now_ms, STEP_LIMIT) || more;
    /* What runs Jobs comes after: one that must not run is suspended before it could start. */
    if (looked_at_all) {
        more = sl_reconciler_step(&c->runner.jobs, now_ms, STEP_LIMIT) || more;
        more = sl_reconcilers_step(c->cluster.parts, SL_CLUSTER_PARTS, now_ms, STEP_LIMIT) || more;
        more = sl_reconcilers_step(c->running, c->running_count, now_ms, STEP_LIMIT) || more;
    }
    more = sl_reconcilers_step(c->capacity.parts, SL_CAPACITY_PARTS, now_ms, STEP_LIMIT) || more;
    more = sl_queues_step(&c->queues, now_ms, STEP_LIMIT) || more;
    more = sl_guards_step(&c->guards, now_ms, STEP_LIMIT) || more;
    return sl_recorder_trim(c->events) || more;
}

int64_t sl_controllers_due_ms(const struct sl_controllers *c)
{
    if (!sl_controllers_ready(c)) {
        return INT64_MAX;
    }
    bool at_once = c->cycle_due || sl_map_count(c->unsure) > 0;
    int64_t due = at_once ? INT64_MIN : sl_engine_due_ms(c->options.engine);
    due = earlier(due, earlier(c->reread_due_ms, c->settle_due_ms));
    due = earlier(due, sl_workloads_due_ms(&c->workloads));
    due = earlier(due, sl_jobs_due_ms(&c->jobs));
    due = earlier(due, sl_parents_due_ms(&c->parents));
    due = earlier(due, sl_work_due_ms(c->variants.parents.work));
    due = earlier(due, sl_work_due_ms(c->runner.jobs.work));
    due = earlier(due, sl_reconcilers_due_ms(c->cluster.parts, SL_CLUSTER_PARTS));
    due = earlier(due, sl_reconcilers_due_ms(c->running, c->running_count));
    due = earlier(due, sl_reconcilers_due_ms(c->capacity.parts, SL_CAPACITY_PARTS));
    due = earlier(due, sl_guards_due_ms(&c->guards));
    return earlier(due, sl_queues_due_ms(&c->queues));
}

bool sl_controllers_ready(const struct sl_controllers *c)
{
    SL_PRE(c != NULL);
    return c->synced_count == needed_count(c);
}

void sl_controllers_count(const struct sl_controllers *c, struct sl_controller_counters *out)
{
    SL_PRE(c != NULL);
    *out = (struct sl_controller_counters){.workloads = c->workloads.counters,
                                           .meters = &c->workloads.meters,
                                           .events_dropped = sl_recorder_dropped(c->events),
                                           .jobs_waiting = sl_jobs_waiting(&c->jobs)};
}

/* Is it something that the engine knows under its name? */
static bool is_there(const struct sl_controllers *c, const struct sl_json *workload)
{
    struct sl_json *known = NULL;
    const struct sl_client *client = &c->options.client;
    enum sl_code code = client->get(client->self, SL_KIND_WORKLOAD, sl_object_namespace(workload),
                                    sl_object_name(workload), &known, NULL);
    bool same = code == SL_CODE_OK && strcmp(sl_object_uid(known), sl_object_uid(workload)) == 0;
    sl_json_free(known);
    return same;
}

enum sl_code sl_controllers_wish(struct sl_controllers *c, struct sl_json **object,
                                 struct sl_controllers_run *run, struct sl_error *e)
{
    SL_PRE(c != NULL && object != NULL && *object != NULL && run != NULL);
    struct sl_json *workload = NULL;
    int64_t now_ms = sl_clock_now_ms();
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(*object, "apiVersion", ""),
                                            sl_json_path_text(*object, "kind", ""));
    bool job = kind == SL_KIND_POD || sl_kind_is_job(kind);
    *run = (struct sl_controllers_run){.basis = SL_RUN_UNKNOWN};
    if (kind == SL_KIND_WORKLOAD && !is_there(c, *object)) {
        sl_job_wish_complete(*object, now_ms);
    }
    if (!job) {
        return SL_CODE_OK;
    }
    enum sl_code code = sl_job_wish_new(&c->jobs, kind, *object, now_ms, &workload, e);
    if (code == SL_CODE_OK) {
        run->basis = sl_run_time_said(kind, *object, simulates(&c->options), &run->ms);
        sl_json_free(*object);
        *object = workload;
    }
    return code;
}

struct sl_json *sl_controllers_variants_new(const struct sl_controllers *c,
                                            const struct sl_json *workload)
{
    SL_PRE(c != NULL);
    bool is = strcmp(sl_json_path_text(workload, "kind", ""), "Workload") == 0;
    return is ? sl_variants_wish_new(&c->variants, workload, sl_clock_now_ms()) : NULL;
}

void sl_controllers_log_state(const struct sl_controllers *c)
{
    SL_PRE(c != NULL);
    sl_state_log(c->options.engine, &c->options.client);
}
