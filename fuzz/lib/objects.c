/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kept as arrays by number; names are made of the numbers. */
#include "fuzz/lib/objects.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/conditions/mirror.h"
#include "engine/conditions/released.h"
#include "engine/state.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/form.h"
#include "fuzz/lib/state.h"
#include "kernel/topology/topology.h"
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
static bool has_topology, is_settled;
static uint32_t quota;

/* --- objects ---------------------------------------------------------------------------------- */

static void renew(struct sl_json *object)
{
    is_settled = false;
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

void objects_drop(enum sl_kind kind, const char *name)
{
    for (uint32_t i = 0; i < fixed_count; i++) {
        if (fixed[i].kind == kind && strcmp(sl_object_name(fixed[i].object), name) == 0) {
            struct sl_json *object = fixed[i].object;
            is_settled = false;
            fixed[i] = fixed[--fixed_count];
            sl_engine_forget(engine, kind, object, now_ms);
            sl_json_free(object);
            return;
        }
    }
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

void objects_put_node_as(uint32_t number, const struct objects_node *n)
{
    struct sl_json *node = form_json(
        "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"kubernetes.io/hostname\":\"n%u\","
        "\"rack\":\"r%u\"}},\"spec\":{%s},\"status\":{\"allocatable\":{\"cpu\":\"%u\",\"pods\":"
        "\"9\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
        number, number, n->rack, n->spec, n->cpu, n->ready ? "True" : "False");
    if (nodes[number] != NULL) {
        sl_json_set_text(sl_json_path_make(node, "metadata"), "uid", sl_object_uid(nodes[number]));
        sl_json_free(nodes[number]);
    }
    renew(node);
    nodes[number] = node;
    observe(SL_KIND_NODE, node);
}

void objects_put_node(uint32_t number, bool ready)
{
    objects_put_node_as(
        number, &(struct objects_node){.ready = ready, .rack = number / 2, .cpu = 2, .spec = ""});
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
    struct sl_json *queue = form_json(
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},\"stopPolicy\":"
        "\"%s\",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"},\"resourceGroups\":"
        "[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"f\",\"resources\":[{"
        "\"name\":\"cpu\",\"nominalQuota\":\"%u\"}]}]}],\"admissionChecksStrategy\":{"
        "\"admissionChecks\":[]}}}",
        cluster_stop, quota);
    struct sl_json *list = sl_json_path(queue, "spec.admissionChecksStrategy.admissionChecks");
    for (uint32_t i = 0; i < checks; i++) {
        sl_json_append(list, form_json("{\"name\":\"%c\"}", 'a' + (int)i));
    }
    put_fixed(SL_KIND_CLUSTER_QUEUE, queue);
    objects_put_local_queue("lq", local_stop);
}

void objects_put_local_queue(const char *name, const char *stop)
{
    put_fixed(SL_KIND_LOCAL_QUEUE,
              form_json("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\"},\"spec\":{"
                        "\"clusterQueue\":\"cq\",\"stopPolicy\":\"%s\"}}",
                        name, stop));
}

void objects_set_quota(uint32_t cpu)
{
    quota = cpu;
}

void objects_put_check(uint32_t number, bool active)
{
    put_fixed(SL_KIND_ADMISSION_CHECK,
              form_json("{\"metadata\":{\"name\":\"%c\"},\"spec\":{\"controllerName\":\"%s\"},"
                        "\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"%s\"}]}}",
                        'a' + (int)number,
                        number == 0 ? "kueue.x-k8s.io/provisioning-request" : "example.com/check",
                        active ? "True" : "False"));
}

void objects_put_flavor(const char *spec)
{
    put_fixed(SL_KIND_RESOURCE_FLAVOR,
              form_json("{\"metadata\":{\"name\":\"f\"},\"spec\":{%s%s}}", spec,
                        has_topology ? "\"topologyName\":\"t\"" : "\"nodeLabels\":{}"));
}

void objects_put_topology(bool racks)
{
    put_fixed(SL_KIND_TOPOLOGY,
              form_json("{\"metadata\":{\"name\":\"t\"},\"spec\":{\"levels\":[%s{\"nodeLabel\":"
                        "\"kubernetes.io/hostname\"}]}}",
                        racks ? "{\"nodeLabel\":\"rack\"}," : ""));
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

static void observe_all(void)
{
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

/* --- a restart changes nothing (G10) -------------------------------------------------------------- */

/* What the engine knows of a Workload whose decisions are all written, and of which it has read all; NULL: not so. */
static const struct sl_workload *record_of(const struct sl_json *object)
{
    char key[600];
    if (object == NULL) {
        return NULL;
    }
    (void)snprintf(key, sizeof key, "%s/%s", sl_object_namespace(object), sl_object_name(object));
    sl_workload_id id = sl_intern_find(engine->names, SL_INTERN_WORKLOAD, key);
    const struct sl_workload_entry *e = id == SL_NO_ID ? NULL : &engine->workloads[id];
    bool agrees = e != NULL && e->uid != NULL && strcmp(e->uid, sl_object_uid(object)) == 0 &&
                  e->unwritten_count == 0 && !e->rewrite && !e->paused && e->unread_first == 0 &&
                  e->seen_version == sl_released_version(object);
    return agrees ? &sl_workloads[id] : NULL;
}

/* Of what is reserved: else which checks there are is known with the next reservation, and answers are read then. */
static bool same_checks(const struct sl_workload *a, const struct sl_workload *b)
{
    if (a->phase != SL_PHASE_QUOTA_RESERVED && a->phase != SL_PHASE_ADMITTED) {
        return true;
    }
    for (uint32_t i = 0; i < a->check_count; i++) {
        for (uint32_t k = 0; k < b->check_count; k++) {
            if (a->checks[i].check == b->checks[k].check &&
                a->checks[i].state != b->checks[k].state) {
                return false;
            }
        }
    }
    return a->check_count == b->check_count;
}

/* What it waited for is over for the record; the object says so with the next write. */
static int64_t waits_until(const struct sl_workload *w)
{
    return w->requeue_at_ms > now_ms ? w->requeue_at_ms / 1000 : 0;
}

/* Which of its nodes have failed is read where it stands, which nobody knows as long as its topology is missing. */
static bool lost_failed_nodes(const struct sl_workload *before, const struct sl_workload *w)
{
    bool stands = sl_topology_assignment_count((sl_workload_id)(w - sl_workloads)) != 0;
    return stands && before->unhealthy_count != w->unhealthy_count;
}

/* Of a preemption that is over the object speaks until the next reservation, as of a reason to wait. */
static bool lost_preemption(const struct sl_workload *before, const struct sl_workload *w)
{
    bool over = before->phase == SL_PHASE_PENDING ||
                (before->phase == SL_PHASE_EVICTED && before->preempted == SL_PREEMPT_NONE);
    return !over && before->preempted != w->preempted;
}

/* The same of an eviction, once it was to be reserved again and could not be written. */
static bool lost_eviction(const struct sl_workload *before, const struct sl_workload *w)
{
    bool over = before->phase == SL_PHASE_PENDING && before->evicted == SL_EVICT_NONE;
    return !over && before->evicted != w->evicted;
}

/* Of a check that goes on saying Retry with the same wait the first answer is read, and by a start the newest, which is
 * never for an earlier time. */
static bool lost_time(const struct sl_workload *before, const struct sl_workload *w)
{
    for (uint32_t i = 0; i < before->check_count; i++) {
        if (before->checks[i].state == SL_CHECK_RETRY) {
            return waits_until(before) > waits_until(w);
        }
    }
    return waits_until(before) != waits_until(w);
}

static const char *difference(const struct sl_workload *a, const struct sl_workload *b)
{
    return a->phase != b->phase                                   ? "phase"
           : a->active != b->active || a->gated != b->gated       ? "whether it may be admitted"
           : a->has_admission != b->has_admission                 ? "reservation"
           : a->was_admitted != b->was_admitted                   ? "admission"
           : lost_eviction(a, b)                                  ? "eviction"
           : lost_preemption(a, b)                                ? "preemption"
           : a->requeue_count != b->requeue_count                 ? "count of requeues"
           : lost_time(a, b)                                      ? "time of requeueing"
           : lost_failed_nodes(a, b)                              ? "failed nodes"
           : a->execution_ms_max != b->execution_ms_max           ? "limit on its run time"
           : a->accumulated_ms / 1000 != b->accumulated_ms / 1000 ? "run time so far"
           : !same_checks(a, b)                                   ? "checks"
                                                                  : NULL;
}

void objects_restart(void)
{
    struct sl_workload before[OBJECTS_WORKLOADS];
    bool known[OBJECTS_WORKLOADS];
    for (uint32_t i = 0; i < OBJECTS_WORKLOADS; i++) {
        const struct sl_workload *w = is_settled ? record_of(workloads[i]) : NULL;
        known[i] = w != NULL && w->phase != SL_PHASE_FINISHED;
        before[i] = w != NULL ? *w : (struct sl_workload){0};
    }
    sl_engine_close(engine);
    open_engine();
    observe_all();
    for (uint32_t i = 0; i < OBJECTS_WORKLOADS; i++) {
        const struct sl_workload *w = known[i] ? record_of(workloads[i]) : NULL;
        const char *what = w == NULL ? NULL : difference(&before[i], w);
        if (what != NULL) {
            fprintf(stderr, "G10: a restart changes of w%u: %s\n", i, what);
        }
        CHECK(what == NULL);
    }
}

static void add_cast(uint32_t checks)
{
    objects_put_topology(true);
    objects_put_flavor("");
    for (uint32_t i = 0; i < OBJECTS_CHECKS; i++) {
        objects_put_check(i, true);
    }
    for (uint32_t i = 0; i < OBJECTS_NODES; i++) {
        objects_put_node(i, true);
    }
    objects_put_queue(checks, "None", "None");
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
    has_topology = setup->topology;
    quota = 6;
    add_cast(setup->checks);
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
        bool later = what == SL_TO_WRITE_LATER || what == SL_TO_WRITE_AFTER;
        return later                       ? SL_CODE_UNAVAILABLE
               : what == SL_TO_WRITE_STALE ? SL_CODE_CONFLICT
                                           : SL_CODE_OK;
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
    is_settled = true;
}

void objects_fail(enum sl_code code, uint32_t writes)
{
    fail_code = code;
    fail_count = code == SL_CODE_OK ? 0 : writes;
}

void objects_pass(int64_t ms)
{
    is_settled = false;
    now_ms += ms;
    sl_clock_set_virtual(now_ms);
}

int64_t objects_now_ms(void)
{
    return now_ms;
}
