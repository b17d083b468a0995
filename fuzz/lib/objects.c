/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kept as arrays by number; names are made of the numbers. */
#include "fuzz/lib/objects.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/conditions/mirror.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/state.h"
#include <stdarg.h>
#include <string.h>

enum { FIXED_MAX = 16, ROUNDS_MAX = 2000 };
static const int64_t start_ms = 1800000000000;

static struct sl_engine *engine;
static struct sl_engine_settings settings;
static struct sl_json *workloads[OBJECTS_WORKLOADS];
static struct sl_json *nodes[OBJECTS_NODES];
static struct {
    enum sl_kind kind;
    struct sl_json *object;
} fixed[FIXED_MAX]; /* flavor, topology, checks, queues */
static uint32_t fixed_count, fail_count;
static enum sl_code fail_code;
static int64_t now_ms;
static long long version;

/* --- objects ---------------------------------------------------------------------------------- */

static struct sl_json *make(const char *format, ...) __attribute__((format(printf, 1, 2)));
static struct sl_json *make(const char *format, ...)
{
    char text[2048];
    va_list args;
    struct sl_error e = {0};
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    CHECK(n > 0 && (size_t)n < sizeof text);
    struct sl_json *v = sl_json_parse(text, (size_t)n, &e);
    CHECK(v != NULL);
    return v;
}

static void renew(struct sl_json *object)
{
    char text[64];
    struct sl_json *meta = sl_json_path_make(object, "metadata");
    version++;
    (void)snprintf(text, sizeof text, "%lld", version);
    sl_json_set_text(meta, "resourceVersion", text);
    if (sl_object_uid(object)[0] == '\0') {
        (void)snprintf(text, sizeof text, "00000000-0000-4000-8000-%012lld", version);
        sl_json_set_text(meta, "uid", text);
        sl_json_set_int(meta, "generation", 1);
        sl_clock_format(now_ms, text);
        sl_json_set_text(meta, "creationTimestamp", text);
    }
}

static void observe(enum sl_kind kind, const struct sl_json *object)
{
    struct sl_error e = {0};
    (void)sl_engine_observe(engine, kind, object, now_ms, &e);
}

/* A later version of one of that name takes its place. */
static void put_fixed(enum sl_kind kind, struct sl_json *object)
{
    uint32_t i = 0;
    while (i < fixed_count && (fixed[i].kind != kind || strcmp(sl_object_name(fixed[i].object),
                                                               sl_object_name(object)) != 0)) {
        i++;
    }
    CHECK(i < FIXED_MAX);
    if (i == fixed_count) {
        fixed_count++;
    } else {
        sl_json_set_text(sl_json_path_make(object, "metadata"), "uid",
                         sl_object_uid(fixed[i].object));
        sl_json_free(fixed[i].object);
    }
    renew(object);
    fixed[i].kind = kind;
    fixed[i].object = object;
    observe(kind, object);
}

const struct sl_json *objects_workload(uint32_t number)
{
    return workloads[number];
}

void objects_put_unseen(uint32_t number, struct sl_json *object)
{
    sl_json_free(workloads[number]);
    renew(object);
    workloads[number] = object;
}

void objects_put_workload(uint32_t number, struct sl_json *object)
{
    objects_put_unseen(number, object);
    observe(SL_KIND_WORKLOAD, object);
}

void objects_delete_workload(uint32_t number)
{
    if (workloads[number] != NULL) {
        sl_engine_forget(engine, SL_KIND_WORKLOAD, workloads[number], now_ms);
        sl_json_free(workloads[number]);
        workloads[number] = NULL;
    }
}

void objects_put_node(uint32_t number, bool ready)
{
    struct sl_json *node =
        make("{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"kubernetes.io/hostname\":\"n%u\","
             "\"rack\":\"r%u\"}},\"status\":{\"allocatable\":{\"cpu\":\"2\",\"pods\":\"9\"},"
             "\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
             number, number, number / 2, ready ? "True" : "False");
    if (nodes[number] != NULL) {
        sl_json_set_text(sl_json_path_make(node, "metadata"), "uid", sl_object_uid(nodes[number]));
        sl_json_free(nodes[number]);
    }
    renew(node);
    nodes[number] = node;
    observe(SL_KIND_NODE, node);
}

void objects_delete_node(uint32_t number)
{
    if (nodes[number] != NULL) {
        sl_engine_forget(engine, SL_KIND_NODE, nodes[number], now_ms);
        sl_json_free(nodes[number]);
        nodes[number] = NULL;
    }
}

void objects_put_queue(uint32_t checks, const char *cluster_stop, const char *local_stop)
{
    struct sl_json *queue =
        make("{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},\"stopPolicy\":"
             "\"%s\",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"},\"resourceGroups\":"
             "[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"f\",\"resources\":[{"
             "\"name\":\"cpu\",\"nominalQuota\":\"6\"}]}]}],\"admissionChecksStrategy\":{"
             "\"admissionChecks\":[]}}}",
             cluster_stop);
    struct sl_json *list = sl_json_path(queue, "spec.admissionChecksStrategy.admissionChecks");
    for (uint32_t i = 0; i < checks; i++) {
        sl_json_append(list, make("{\"name\":\"%c\"}", 'a' + (int)i));
    }
    put_fixed(SL_KIND_CLUSTER_QUEUE, queue);
    put_fixed(SL_KIND_LOCAL_QUEUE,
              make("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"lq\"},\"spec\":{"
                   "\"clusterQueue\":\"cq\",\"stopPolicy\":\"%s\"}}",
                   local_stop));
}

void objects_stop_job(uint32_t number)
{
    if (workloads[number] != NULL) {
        sl_engine_job_stopped(engine, workloads[number], now_ms);
    }
}

/* --- the daemon ------------------------------------------------------------------------------- */

static void open_engine(void)
{
    struct sl_engine_options options = {.settings = &settings};
    struct sl_error e = {0};
    CHECK(sl_engine_open(&options, &engine, &e) == SL_CODE_OK);
}

void objects_restart(void)
{
    sl_engine_close(engine);
    open_engine();
    for (uint32_t i = 0; i < fixed_count; i++) {
        observe(fixed[i].kind, fixed[i].object);
    }
    for (uint32_t i = 0; i < OBJECTS_NODES; i++) {
        if (nodes[i] != NULL) {
            observe(SL_KIND_NODE, nodes[i]);
        }
    }
    for (uint32_t i = 0; i < OBJECTS_WORKLOADS; i++) {
        if (workloads[i] != NULL) {
            observe(SL_KIND_WORKLOAD, workloads[i]);
        }
    }
    sl_engine_synced(engine, now_ms);
}

static void add_cast(const struct objects_setup *setup)
{
    put_fixed(SL_KIND_TOPOLOGY, make("{\"metadata\":{\"name\":\"t\"},\"spec\":{\"levels\":[{"
                                     "\"nodeLabel\":\"rack\"},{\"nodeLabel\":"
                                     "\"kubernetes.io/hostname\"}]}}"));
    put_fixed(SL_KIND_RESOURCE_FLAVOR, make("{\"metadata\":{\"name\":\"f\"},\"spec\":{%s}}",
                                            setup->topology ? "\"topologyName\":\"t\"" : ""));
    for (uint32_t i = 0; i < OBJECTS_CHECKS; i++) {
        put_fixed(SL_KIND_ADMISSION_CHECK,
                  make("{\"metadata\":{\"name\":\"%c\"},\"spec\":{\"controllerName\":\"%s\"},"
                       "\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\"}]}}",
                       'a' + (int)i,
                       i == 0 ? "kueue.x-k8s.io/provisioning-request" : "example.com/check"));
    }
    for (uint32_t i = 0; i < OBJECTS_NODES; i++) {
        objects_put_node(i, true);
    }
    objects_put_queue(setup->checks, "None", "None");
}

void objects_open(const struct objects_setup *setup)
{
    fuzz_state_reset();
    sl_log_setup(SL_LOG_ERROR, false);
    now_ms = start_ms;
    version = 0;
    fail_count = 0;
    sl_clock_set_virtual(now_ms);
    settings = sl_engine_settings_default();
    settings.wait_for_pods_ready = setup->wait_ready;
    settings.limit_requeues = setup->wait_ready;
    settings.ready_ms_max = 300000;
    settings.recovery_ms_max = 120000;
    settings.requeues_max = 5;
    settings.granular_reasons = setup->granular;
    settings.policy.fail_fast = setup->fail_fast;
    open_engine();
    add_cast(setup);
    sl_engine_synced(engine, now_ms);
}

void objects_close(void)
{
    sl_engine_close(engine);
    engine = NULL;
    for (uint32_t i = 0; i < fixed_count; i++) {
        sl_json_free(fixed[i].object);
    }
    fixed_count = 0;
    for (uint32_t i = 0; i < OBJECTS_NODES; i++) {
        sl_json_free(nodes[i]);
        nodes[i] = NULL;
    }
    for (uint32_t i = 0; i < OBJECTS_WORKLOADS; i++) {
        sl_json_free(workloads[i]);
        workloads[i] = NULL;
    }
}

/* --- decisions -------------------------------------------------------------------------------- */

static void request(const char *trouble)
{
    if (trouble != NULL) {
        fprintf(stderr, "%s\n", trouble);
    }
    CHECK(trouble == NULL);
}

static struct sl_json **find_workload(const struct sl_decision *d)
{
    for (uint32_t i = 0; i < OBJECTS_WORKLOADS; i++) {
        if (workloads[i] != NULL && strcmp(sl_object_name(workloads[i]), d->name) == 0) {
            return &workloads[i];
        }
    }
    return NULL;
}

static enum sl_code carry_out(const struct sl_decision *d, struct sl_json **live, bool *written)
{
    struct sl_error e = {0};
    struct sl_json *patch;
    enum sl_to_write what = sl_engine_write(engine, d, *live, &patch);
    *written = false;
    if (patch == NULL) {
        return what == SL_TO_WRITE_LATER ? SL_CODE_UNAVAILABLE : SL_CODE_OK;
    }
    if (fail_count > 0) {
        fail_count--;
        sl_json_free(patch);
        return fail_code;
    }
    struct sl_json *after = sl_json_clone(*live);
    CHECK(sl_patch_merge(&after, patch, &e) == SL_CODE_OK);
    sl_json_free(patch);
    if (what == SL_TO_WRITE_SPEC) {
        sl_json_set_int(sl_json_get(after, "metadata"), "generation",
                        sl_object_generation(*live) + 1);
    }
    request(sl_mirror_written(engine, d, *live, after));
    objects_put_workload((uint32_t)(live - workloads), after);
    *written = true;
    return SL_CODE_OK;
}

static bool decide(void)
{
    struct sl_decision d;
    if (!sl_engine_next_decision(engine, &d)) {
        return false;
    }
    enum sl_then then = SL_THEN_ASK;
    for (unsigned parts = 0; then == SL_THEN_ASK; parts++) {
        bool written = false;
        struct sl_json **live = find_workload(&d);
        CHECK(parts < 3);
        enum sl_code code = live == NULL ? SL_CODE_NOT_FOUND : carry_out(&d, live, &written);
        then = sl_engine_written(engine, &d, code, written ? *live : NULL, now_ms);
    }
    struct sl_json **live = find_workload(&d);
    if (live != NULL && then == SL_THEN_SHOW) {
        sl_engine_show(engine, *live, now_ms);
    }
    return true;
}

void objects_step(uint32_t decisions)
{
    (void)sl_engine_cycle(engine, now_ms);
    for (uint32_t i = 0; i < decisions && decide(); i++) {
    }
}

void objects_settle(void)
{
    const char *broken = NULL;
    bool more = true;
    for (unsigned rounds = 0; more; rounds++) {
        CHECK(rounds < ROUNDS_MAX);
        if (sl_engine_wants_workloads(engine)) {
            for (uint32_t i = 0; i < OBJECTS_WORKLOADS; i++) {
                if (workloads[i] != NULL) {
                    observe(SL_KIND_WORKLOAD, workloads[i]);
                }
            }
        }
        more = sl_engine_cycle(engine, now_ms);
        while (decide()) {
            more = true;
        }
    }
    (void)sl_engine_valid(engine, &broken);
    request(broken);
    for (uint32_t i = 0; i < OBJECTS_WORKLOADS; i++) {
        request(workloads[i] == NULL ? NULL : sl_mirror_settled(engine, workloads[i]));
    }
}

void objects_fail(enum sl_code code, uint32_t writes)
{
    fail_code = code;
    fail_count = code == SL_CODE_OK ? 0 : writes;
}

void objects_pass(int64_t ms)
{
    now_ms += ms;
    sl_clock_set_virtual(now_ms);
}

int64_t objects_now_ms(void)
{
    return now_ms;
}
