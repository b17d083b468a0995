/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/cluster.h"
#include "base/clock.h"
#include "base/log.h"
#include "controllers/control/controllers.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/form.h"
#include "fuzz/lib/joblaw.h"
#include "fuzz/lib/state.h"

enum { STEPS_MAX = 400, WAITS_MAX = 120, NODES = 4, TOPOLOGY_CPU = 2 };
#define REST_MS 90000 /* longer than four failures (jobs_fuzz.c) of whatever is tried again */
#define ALL UINT32_MAX
static const int64_t start_ms = 1800000000000;

static struct {
    struct cluster_setup setup;
    struct sl_engine_settings settings;
    struct sl_engine *engine;
    struct sl_controllers *controllers;
    int64_t now_ms;
    uint32_t quota, checks;
} cluster;

/* --- objects ----------------------------------------------------------------------------------- */

/* Who changes what is theirs leaves finalizers and the status as they are. */
static void put(enum sl_kind kind, struct sl_json *object)
{
    const struct sl_json *live =
        shelf_find(kind, sl_object_namespace(object), sl_object_name(object));
    struct sl_json *finalizers = sl_json_path(live, "metadata.finalizers");
    if (finalizers != NULL) {
        sl_json_set(sl_json_get(object, "metadata"), "finalizers", sl_json_clone(finalizers));
    }
    if (sl_json_get(live, "status") != NULL) {
        sl_json_set(object, "status", sl_json_clone(sl_json_get(live, "status")));
    }
    CHECK(shelf_put(kind, object) == SL_CODE_OK);
}

void cluster_put_queue(const char *cluster_stop, const char *local_stop)
{
    struct sl_json *queue = form_json(
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},\"stopPolicy\":\"%s\","
        "\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"},\"resourceGroups\":[{"
        "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"f0\",\"resources\":[{\"name\":"
        "\"cpu\",\"nominalQuota\":\"%u\"}]},{\"name\":\"f1\",\"resources\":[{\"name\":\"cpu\","
        "\"nominalQuota\":\"%u\"}]}]}]}}",
        cluster_stop, cluster.quota, cluster.quota / 2);
    if (cluster.checks > 0) {
        sl_json_set(sl_json_path_make(queue, "spec.admissionChecksStrategy"), "admissionChecks",
                    form_json(cluster.checks == 1 ? "[{\"name\":\"a\"}]"
                                                  : "[{\"name\":\"a\"},{\"name\":\"b\"}]"));
    }
    put(SL_KIND_CLUSTER_QUEUE, queue);
    for (int i = 0; i < 2; i++) {
        put(SL_KIND_LOCAL_QUEUE,
            form_json("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\"},\"spec\":{"
                      "\"clusterQueue\":\"cq\",\"stopPolicy\":\"%s\"}}",
                      i == 0 ? "lq" : "other", local_stop));
    }
}

void cluster_set_quota(uint32_t cpu)
{
    cluster.quota = cpu;
}

void cluster_set_checks(uint32_t checks)
{
    cluster.checks = checks;
}

void cluster_put_flavor(uint32_t number, const char *pool)
{
    put(SL_KIND_RESOURCE_FLAVOR,
        form_json("{\"metadata\":{\"name\":\"f%u\"},\"spec\":{\"nodeLabels\":{\"pool\":\"%s\"},"
                  "\"tolerations\":[{\"key\":\"pool\",\"value\":\"%s\",\"effect\":"
                  "\"NoSchedule\"}]%s}}",
                  number, pool, pool,
                  number == 0 && cluster.setup.topology ? ",\"topologyName\":\"t\"" : ""));
}

void cluster_put_class(enum sl_kind kind, const char *name, int value)
{
    put(kind, form_json("{\"metadata\":{\"name\":\"%s\"},\"value\":%d}", name, value));
}

static void add_nodes(void)
{
    put(SL_KIND_TOPOLOGY,
        form_json("{\"metadata\":{\"name\":\"t\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"rack\"},"
                  "{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}"));
    for (uint32_t i = 0; i < NODES; i++) {
        put(SL_KIND_NODE,
            form_json("{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"kubernetes.io/hostname\":"
                      "\"n%u\",\"rack\":\"r%u\",\"pool\":\"a\"}},\"status\":{\"allocatable\":{"
                      "\"cpu\":\"%d\",\"pods\":\"9\"},\"conditions\":[{\"type\":\"Ready\","
                      "\"status\":\"True\"}]}}",
                      i, i, i / 2, TOPOLOGY_CPU));
    }
}

static void add_checks(void)
{
    for (int i = 0; i < CLUSTER_CHECKS; i++) {
        put(SL_KIND_ADMISSION_CHECK,
            form_json("{\"metadata\":{\"name\":\"%c\"},\"spec\":{\"controllerName\":"
                      "\"example.com/check\"},\"status\":{\"conditions\":[{\"type\":\"Active\","
                      "\"status\":\"True\",\"reason\":\"Active\",\"message\":\"\","
                      "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}",
                      'a' + i));
    }
}

static void add_cast(void)
{
    put(SL_KIND_NAMESPACE, form_json("{\"metadata\":{\"name\":\"ns\"}}"));
    if (cluster.setup.topology) {
        add_nodes();
    }
    cluster_put_flavor(0, "a");
    cluster_put_flavor(1, "b");
    add_checks();
    cluster_put_class(SL_KIND_WORKLOAD_PRIORITY_CLASS, "high", 100);
    cluster_put_queue("None", "None");
}

/* --- the daemon -------------------------------------------------------------------------------- */

static void begin_daemon(void)
{
    struct sl_error e = {0};
    struct sl_engine_options options = {.settings = &cluster.settings};
    CHECK(sl_engine_open(&options, &cluster.engine, &e) == SL_CODE_OK);
    struct sl_controllers_options rest = {
        .client = shelf_client(), .engine = cluster.engine, .job_rules = {.elastic = true}};
    cluster.controllers = sl_controllers_new(&rest);
    sl_controllers_start(cluster.controllers);
    CHECK(sl_controllers_ready(cluster.controllers));
}

static void end_daemon(void)
{
    shelf_end_client();
    sl_controllers_free(cluster.controllers);
    sl_engine_close(cluster.engine);
}

void cluster_restart(void)
{
    end_daemon();
    begin_daemon();
}

void cluster_open(const struct cluster_setup *setup)
{
    fuzz_state_reset();
    sl_log_setup(SL_LOG_ERROR, false);
    cluster.setup = *setup;
    cluster.now_ms = start_ms;
    cluster.quota = 6;
    cluster.checks = setup->checks;
    sl_clock_set_virtual(cluster.now_ms);
    cluster.settings = sl_engine_settings_default();
    cluster.settings.wait_for_pods_ready = setup->wait_ready;
    cluster.settings.limit_requeues = setup->wait_ready;
    cluster.settings.ready_ms_max = 300000;
    cluster.settings.recovery_ms_max = 120000;
    cluster.settings.requeues_max = 3;
    shelf_open(setup->cached, joblaw_written);
    cluster_begin_jobs();
    add_cast();
    begin_daemon();
}

void cluster_close(void)
{
    end_daemon();
    shelf_close();
}

const struct sl_engine *cluster_engine(void)
{
    return cluster.engine;
}

bool cluster_reads_all(void)
{
    return !cluster.setup.cached;
}

void cluster_pass(int64_t ms)
{
    cluster.now_ms += ms;
    sl_clock_set_virtual(cluster.now_ms);
}

int64_t cluster_now_ms(void)
{
    return cluster.now_ms;
}

void cluster_step(void)
{
    (void)sl_controllers_step(cluster.controllers, cluster.now_ms);
}

/* --- rest -------------------------------------------------------------------------------------- */

/* Changes are told before the answer to the write that has made them. */
static bool turn(void)
{
    bool more = shelf_tell(ALL, ALL);
    more = shelf_answer(ALL) || more;
    more = sl_controllers_step(cluster.controllers, cluster.now_ms) || more;
    more = cluster_run_jobs() || more;
    more = cluster_run_pods() || more;
    more = shelf_collect() || more;
    return more || shelf_busy() || sl_controllers_due_ms(cluster.controllers) <= cluster.now_ms;
}

static void finish_turns(void)
{
    for (unsigned steps = 0; turn(); steps++) {
        CHECK(steps < STEPS_MAX);
    }
}

/* Whatever is tried again after a while goes on for ever. */
void cluster_settle(void)
{
    int64_t until_ms = cluster.now_ms + REST_MS;
    finish_turns();
    for (unsigned waits = 0; waits < WAITS_MAX; waits++) {
        int64_t due_ms = sl_controllers_due_ms(cluster.controllers);
        if (due_ms > until_ms) {
            break;
        }
        cluster_pass(due_ms - cluster.now_ms);
        finish_turns();
    }
    joblaw_at_rest();
}
