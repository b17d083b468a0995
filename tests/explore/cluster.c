/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "tests/explore/cluster.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/conditions/mirror.h"
#include "engine/conditions/released.h"
#include "tests/explore/core.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFLICTS_MAX = 3 };
static const int64_t start_ms = 1800000000000;

struct cluster cluster;

/* --- objects ------------------------------------------------------------------------------------ */

static struct sl_json *make(const char *format, ...) __attribute__((format(printf, 1, 2)));
static struct sl_json *make(const char *format, ...)
{
    char text[2048];
    va_list args;
    struct sl_error e = {0};
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct sl_json *v = sl_json_parse(text, (size_t)n, &e);
    if (v == NULL) {
        broken("no JSON: %s", text);
    }
    return v;
}

uint64_t cluster_version(const struct sl_json *object)
{
    return object == NULL ? 0 : sl_released_version(object);
}

static void renew(struct sl_json *object)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)++cluster.version);
    sl_json_set_text(sl_json_path_make(object, "metadata"), "resourceVersion", text);
}

/* Fixed objects have uids that say their names. */
static void observe(enum sl_kind kind, struct sl_json *object)
{
    struct sl_error e = {0};
    renew(object);
    sl_json_set_text(sl_json_path_make(object, "metadata"), "uid", sl_object_name(object));
    (void)sl_engine_observe(cluster.engine, kind, object, cluster.now_ms, &e);
    sl_json_free(object);
}

struct sl_json *cluster_copy(uint32_t w)
{
    return sl_json_clone(cluster.workloads[w]);
}

bool cluster_says(uint32_t w, const char *condition)
{
    return cluster.workloads[w] != NULL && sl_condition_true(cluster.workloads[w], condition);
}

void cluster_put(uint32_t w, struct sl_json *object)
{
    sl_json_free(cluster.workloads[w]);
    renew(object);
    cluster.workloads[w] = object;
    if ((cluster.world->may & MAY_TELL_LATE) == 0) {
        cluster_tell(w);
    }
}

void cluster_make(uint32_t w)
{
    static const char requests[] = "{\"cpu\":\"1\"}";
    const struct world_workload *of = &cluster.world->workloads[w];
    char at[32];
    cluster.made[w]++;
    sl_clock_format(cluster.now_ms, at);
    cluster_put(
        w, make("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"w%u\",\"generation\":1,"
                "\"creationTimestamp\":\"%s\",\"uid\":\"00000000-0000-4000-8000-%06u%06u\"},"
                "\"spec\":{\"queueName\":\"%c\",\"priority\":%d,\"podSets\":[{\"name\":\"main\","
                "\"count\":%d,\"topologyRequest\":%s,\"template\":{\"spec\":{\"containers\":[{"
                "\"name\":\"c\",\"resources\":{\"requests\":%s}}]}}}]}}",
                w, at, w, cluster.made[w], of->queue, of->priority, of->pods,
                cluster.world->topology ? "{\"unconstrained\":true}" : "null", requests));
}

void cluster_delete(uint32_t w)
{
    sl_json_free(cluster.workloads[w]);
    cluster.workloads[w] = NULL;
    if ((cluster.world->may & MAY_TELL_LATE) == 0) {
        cluster_tell(w);
    }
}

/* --- watches ------------------------------------------------------------------------------------ */

static bool is_same(const struct sl_json *a, const struct sl_json *b)
{
    return strcmp(sl_object_uid(a), sl_object_uid(b)) == 0;
}

bool cluster_is_untold(uint32_t w)
{
    return cluster_version(cluster.workloads[w]) != cluster_version(cluster.shown[w]);
}

/* As feed_workload of src/controllers/control/controllers.c does: what may be an echo waits for the answer. */
static bool feed(const struct sl_json *object)
{
    struct sl_error e = {0};
    enum sl_sight sight = sl_engine_recognise(cluster.engine, object, cluster.now_ms);
    if (sight == SL_SIGHT_NEWS) {
        (void)sl_engine_observe(cluster.engine, SL_KIND_WORKLOAD, object, cluster.now_ms, &e);
    }
    return sight != SL_SIGHT_UNSURE;
}

void cluster_tell(uint32_t w)
{
    struct sl_json *now = cluster.workloads[w];
    struct sl_json *shown = cluster.shown[w];
    if (shown != NULL && (now == NULL || !is_same(shown, now))) {
        sl_engine_forget(cluster.engine, SL_KIND_WORKLOAD, shown, cluster.now_ms);
        sl_json_free(shown);
        cluster.shown[w] = shown = NULL;
    }
    if (now != NULL && cluster_is_untold(w) && feed(now)) {
        sl_json_free(shown);
        cluster.shown[w] = sl_json_clone(now);
    }
}

void cluster_tell_node(uint32_t n)
{
    observe(SL_KIND_NODE,
            make("{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"kubernetes.io/hostname\":\"n%u\"}},"
                 "\"status\":{\"allocatable\":{\"cpu\":\"1\",\"pods\":\"9\"},\"conditions\":[{"
                 "\"type\":\"Ready\",\"status\":\"%s\"}]}}",
                 n, n, cluster.node_down[n] ? "False" : "True"));
}

static void tell_queue(uint32_t q)
{
    static const char *const stops[] = {"None", "Hold", "HoldAndDrain"};
    const struct world *world = cluster.world;
    const char *preemption =
        world->preempts ? "{\"withinClusterQueue\":\"LowerPriority\",\"reclaimWithinCohort\":"
                          "\"Any\",\"borrowWithinCohort\":{\"policy\":\"LowerPriority\"}}"
                        : "{}";
    observe(SL_KIND_CLUSTER_QUEUE,
            make("{\"metadata\":{\"name\":\"cq%c\"},\"spec\":{\"cohortName\":\"co\","
                 "\"namespaceSelector\":{},\"stopPolicy\":\"%s\",\"preemption\":%s,"
                 "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"f\","
                 "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"%d\"}]}]}],"
                 "\"admissionChecksStrategy\":{\"admissionChecks\":[%s]}}}",
                 'a' + (int)q, q == 0 ? stops[cluster.stopped] : "None", preemption,
                 cluster.cut[q] ? 0 : world->quota,
                 world->check && !cluster.unchecked ? "{\"name\":\"check\"}" : ""));
}

static bool is_there(uint32_t q)
{
    bool named = false;
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        const struct world_workload *of = &cluster.world->workloads[w];
        named = named || (of->pods > 0 && of->queue == 'a' + (char)q);
    }
    return named && (q > 0 || !cluster.dropped);
}

void cluster_tell_queues(void)
{
    for (uint32_t q = 0; q < WORLD_QUEUES; q++) {
        if (is_there(q)) {
            tell_queue(q);
        }
    }
}

int cluster_queue_count(void)
{
    int count = 0;
    for (uint32_t q = 0; q < WORLD_QUEUES; q++) {
        count += is_there(q) ? 1 : 0;
    }
    return count;
}

void cluster_drop_queue(void)
{
    struct sl_json *queue = make("{\"metadata\":{\"name\":\"cqa\"}}");
    cluster.dropped = true;
    sl_engine_forget(cluster.engine, SL_KIND_CLUSTER_QUEUE, queue, cluster.now_ms);
    sl_json_free(queue);
}

/* Only a job whose Workload says that it is evicted and still holds quota is asked for (src/controllers/jobs/job_steps.c). */
void cluster_stop_job(uint32_t w)
{
    sl_engine_job_stopped(cluster.engine, cluster.workloads[w], cluster.now_ms);
}

/* --- the daemon --------------------------------------------------------------------------------- */

static struct sl_engine_settings settings_of(const struct world *world)
{
    struct sl_engine_settings s = sl_engine_settings_default();
    s.wait_for_pods_ready = world->wait_ready;
    s.limit_requeues = world->wait_ready;
    s.requeues_max = 1;
    s.ready_ms_max = 300000;
    s.recovery_ms_max = 300000;
    s.policy.fair_sharing = world->fair;
    s.policy.fail_fast = world->fast;
    s.policy.replace_several = world->several;
    return s;
}

static void tell_all(void)
{
    observe(SL_KIND_TOPOLOGY, make("{\"metadata\":{\"name\":\"t\"},\"spec\":{\"levels\":[{"
                                   "\"nodeLabel\":\"kubernetes.io/hostname\"}]}}"));
    observe(SL_KIND_RESOURCE_FLAVOR, make("{\"metadata\":{\"name\":\"f\"},\"spec\":{%s}}",
                                          cluster.world->topology ? "\"topologyName\":\"t\"" : ""));
    if (cluster.world->check) {
        observe(SL_KIND_ADMISSION_CHECK,
                make("{\"metadata\":{\"name\":\"check\"},\"spec\":{\"controllerName\":\"%s\"},"
                     "\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\"}]}}",
                     cluster.world->topology ? "kueue.x-k8s.io/provisioning-request"
                                             : "example.com/check"));
    }
    for (uint32_t n = 0; cluster.world->topology && n < WORLD_NODES; n++) {
        cluster_tell_node(n);
    }
    cluster_tell_queues();
    for (uint32_t q = 0; q < WORLD_QUEUES; q++) {
        observe(SL_KIND_LOCAL_QUEUE,
                make("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%c\"},\"spec\":{"
                     "\"clusterQueue\":\"cq%c\"}}",
                     'a' + (int)q, 'a' + (int)q));
    }
}

static void open_engine(void)
{
    struct sl_engine_settings settings = settings_of(cluster.world);
    struct sl_engine_options options = {.settings = &settings};
    struct sl_error e = {0};
    if (sl_engine_open(&options, &cluster.engine, &e) != SL_CODE_OK) {
        broken("the engine does not open: %s", e.text);
    }
    tell_all();
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        if (cluster.workloads[w] != NULL) {
            (void)sl_engine_observe(cluster.engine, SL_KIND_WORKLOAD, cluster.workloads[w],
                                    cluster.now_ms, &e);
            cluster.shown[w] = sl_json_clone(cluster.workloads[w]);
        }
    }
    sl_engine_synced(cluster.engine, cluster.now_ms);
}

void cluster_open(const struct world *world, uint32_t troubles)
{
    sl_log_setup(SL_LOG_ERROR, false);
    cluster.world = world;
    cluster.troubles = troubles;
    cluster_pass(start_ms);
    open_engine();
    for (uint32_t w = 0; world->begun && w < WORLD_WORKLOADS; w++) {
        if (world->workloads[w].pods > 0) {
            cluster_make(w);
            cluster_tell(w);
        }
    }
}

static void end_flight(struct flight *f)
{
    sl_json_free(f->patch);
    *f = (struct flight){0};
}

/* What was under way is lost with the process; what the core knew is, too. */
void cluster_restart(void)
{
    sl_engine_close(cluster.engine);
    core_forget();
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        end_flight(&cluster.flights[w]);
        sl_json_free(cluster.shown[w]);
        cluster.shown[w] = NULL;
    }
    open_engine();
}

bool cluster_cycle_is_due(void)
{
    return sl_engine_due_ms(cluster.engine) <= cluster.now_ms;
}

static void read_again(void)
{
    struct sl_error e = {0};
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        if (cluster.workloads[w] != NULL) {
            (void)sl_engine_observe(cluster.engine, SL_KIND_WORKLOAD, cluster.workloads[w],
                                    cluster.now_ms, &e);
        }
    }
}

void cluster_cycle(void)
{
    if (sl_engine_wants_workloads(cluster.engine)) {
        read_again();
    }
    (void)sl_engine_cycle(cluster.engine, cluster.now_ms);
}

void cluster_pass(int64_t ms)
{
    cluster.now_ms += ms;
    sl_clock_set_virtual(cluster.now_ms);
}

/* --- writes ------------------------------------------------------------------------------------- */

static uint32_t number_of(const char *name)
{
    return (uint32_t)(name[1] - '0');
}

static struct flight *flight_of_next(void)
{
    const struct sl_queued_decision *q = core_next_decision(cluster.engine);
    return q == NULL ? NULL : &cluster.flights[number_of(core_name_of(cluster.engine, q))];
}

bool cluster_can_send(void)
{
    const struct flight *f = flight_of_next();
    return f != NULL && !f->used;
}

static struct sl_json *live_of(const struct flight *f, uint32_t w)
{
    struct sl_json *live = cluster.workloads[w];
    return live != NULL && strcmp(sl_object_uid(live), f->uid) == 0 ? live : NULL;
}

static void finish(struct flight *f, uint32_t w, enum sl_code code, struct sl_json *written)
{
    enum sl_then then = sl_engine_written(cluster.engine, &f->d, code, written, cluster.now_ms);
    struct sl_json *live = live_of(f, w);
    end_flight(f);
    if (then == SL_THEN_SHOW && live != NULL) {
        sl_engine_show(cluster.engine, live, cluster.now_ms);
    }
}

/* The object as it is now, and what is to be written about it. */
static void look(struct flight *f, uint32_t w)
{
    struct sl_json *live = live_of(f, w);
    struct sl_error e = {0};
    sl_json_free(f->patch);
    f->patch = NULL;
    if (live == NULL) {
        finish(f, w, SL_CODE_NOT_FOUND, NULL);
        return;
    }
    f->what = sl_engine_write(cluster.engine, &f->d, live, &f->patch);
    f->version = cluster_version(live);
    if (f->patch == NULL) {
        bool later = f->what == SL_TO_WRITE_LATER || f->what == SL_TO_WRITE_AFTER;
        bool stale = f->what == SL_TO_WRITE_STALE;
        finish(f, w, later ? SL_CODE_UNAVAILABLE : stale ? SL_CODE_CONFLICT : SL_CODE_OK, NULL);
        return;
    }
    struct sl_json *after = sl_json_clone(live);
    if (sl_patch_merge(&after, f->patch, &e) != SL_CODE_OK) {
        broken("a patch that cannot be applied: %s", e.text);
    }
    const char *trouble = sl_mirror_written(cluster.engine, &f->d, live, after);
    sl_json_free(after);
    if (trouble != NULL) {
        broken("%s", trouble);
    }
}

void cluster_send(void)
{
    struct sl_decision d;
    struct flight *f = flight_of_next();
    if (!sl_engine_next_decision(cluster.engine, &d)) {
        return; /* who it was about is gone */
    }
    *f = (struct flight){.used = true, .d = d};
    (void)snprintf(f->name, sizeof f->name, "%s", d.name);
    (void)snprintf(f->uid, sizeof f->uid, "%s", d.uid);
    (void)snprintf(f->reason, sizeof f->reason, "%s", d.reason == NULL ? "" : d.reason);
    f->d.ns = "ns";
    f->d.name = f->name;
    f->d.uid = f->uid;
    f->d.reason = f->reason;
    f->d.by_ns = f->d.by_name = f->d.by_uid = NULL;
    uint32_t w = number_of(f->name);
    look(f, w);
    while (f->used && (cluster.world->may & MAY_TELL_LATE) == 0) {
        cluster_answer(w, ARRIVES);
    }
}

/* G9, G1, G5: what no write may do to an object, whatever the record says. */
static void check_write(const struct sl_json *before, const struct sl_json *after)
{
    bool runs = sl_condition_true(after, "QuotaReserved") && !sl_condition_true(after, "Evicted");
    if (sl_condition_true(before, "Finished")) {
        broken("a write about a workload that has finished");
    }
    if (runs && sl_condition_true(before, "Evicted") &&
        sl_condition_true(before, "QuotaReserved")) {
        broken("a write takes an eviction back that was not over");
    }
}

/* A write that was made of another version is a conflict: then the object is looked at once more. */
void cluster_answer(uint32_t w, enum flight_end end)
{
    struct flight *f = &cluster.flights[w];
    struct sl_json *live = live_of(f, w);
    struct sl_error e = {0};
    if (end == IS_LOST || end == IS_REFUSED) {
        finish(f, w, end == IS_LOST ? SL_CODE_TIMEOUT : SL_CODE_FORBIDDEN, NULL);
        return;
    }
    if (live == NULL) {
        finish(f, w, SL_CODE_NOT_FOUND, NULL);
        return;
    }
    if (sl_json_path(f->patch, "metadata.resourceVersion") != NULL &&
        cluster_version(live) != f->version) {
        if (++f->tries < CONFLICTS_MAX) {
            look(f, w);
        } else {
            finish(f, w, SL_CODE_CONFLICT, NULL);
        }
        return;
    }
    struct sl_json *after = sl_json_clone(live);
    (void)sl_patch_merge(&after, f->patch, &e);
    check_write(live, after);
    if (f->what == SL_TO_WRITE_SPEC) {
        sl_json_set_int(sl_json_get(after, "metadata"), "generation",
                        sl_object_generation(live) + 1);
    }
    cluster_put(w, after);
    if (end == ARRIVES_UNANSWERED) {
        finish(f, w, SL_CODE_TIMEOUT, NULL);
        return;
    }
    enum sl_then then = sl_engine_written(cluster.engine, &f->d, SL_CODE_OK, after, cluster.now_ms);
    if (then == SL_THEN_ASK) {
        look(f, w);
        return;
    }
    end_flight(f);
    if (then == SL_THEN_SHOW) {
        sl_engine_show(cluster.engine, cluster.workloads[w], cluster.now_ms);
    }
    if ((cluster.world->may & MAY_TELL_LATE) == 0) {
        cluster_tell(w);
    }
}
