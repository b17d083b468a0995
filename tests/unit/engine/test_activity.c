/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The condition Active of ClusterQueues and LocalQueues, word for word: programs match it. */
#include "cluster.h"
#include "scene.h"

static int setup_activity(void **state)
{
    (void)setup(state);
    sl_engine_synced(w.engine, w.now_ms);
    return 0;
}

static void add_check(const char *name, const char *controller, const char *active)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"controllerName\":\"%s\"},"
                   "\"status\":{\"conditions\":%s%s%s}}",
                   name, controller, active == NULL ? "[" : "[{\"type\":\"Active\",\"status\":\"",
                   active == NULL ? "" : active, active == NULL ? "]" : "\"}]");
    world_add(&w, SL_KIND_ADMISSION_CHECK, text);
}

/* Two flavors, and those checks. */
static void add_queue(const char *checks, const char *more)
{
    char text[1200];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{"
        "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"spot\",\"resources\":[{\"name\":"
        "\"cpu\",\"nominalQuota\":\"1\"}]},{\"name\":\"arm\",\"resources\":[{\"name\":\"cpu\","
        "\"nominalQuota\":\"1\"}]}]}],\"admissionChecksStrategy\":{\"admissionChecks\":[%s]}%s}}",
        checks, more);
    world_add(&w, SL_KIND_CLUSTER_QUEUE, text);
}

static void expect(enum sl_kind kind, const char *ns, const char *name, const char *reason,
                   const char *message)
{
    struct sl_json *status = sl_engine_queue_status(w.engine, kind, ns, name);
    assert_string_equal(sl_json_path_text(status, "active.reason", ""), reason);
    assert_string_equal(sl_json_path_text(status, "active.message", ""), message);
    sl_json_free(status);
}

static void expect_queue(const char *reason, const char *message)
{
    expect(SL_KIND_CLUSTER_QUEUE, "", "cq", reason, message);
}

static void test_activity_names_missing_flavors_until_all_are_there(void **state)
{
    (void)state;
    add_queue("", "");
    expect_queue("FlavorNotFound",
                 "Can't admit new workloads: references missing ResourceFlavor(s): spot,arm.");
    world_add_flavor(&w, "spot", "{}");
    expect_queue("FlavorNotFound",
                 "Can't admit new workloads: references missing ResourceFlavor(s): arm.");
    world_add_flavor(&w, "arm", "{}");
    expect_queue("Ready", "Can admit new workloads");
}

static void test_activity_names_missing_and_inactive_checks_by_name(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_flavor(&w, "arm", "{}");
    add_queue("{\"name\":\"b\"},{\"name\":\"a\"}", "");
    expect_queue("AdmissionCheckNotFound",
                 "Can't admit new workloads: references missing AdmissionCheck(s): a,b.");
    add_check("a", "example.com/check", NULL); /* its controller has not said anything */
    expect_queue("AdmissionCheckNotFound",
                 "Can't admit new workloads: references missing AdmissionCheck(s): b, references "
                 "inactive AdmissionCheck(s): a.");
    add_check("b", "example.com/check", "False");
    expect_queue("AdmissionCheckInactive",
                 "Can't admit new workloads: references inactive AdmissionCheck(s): a,b.");
    add_check("a", "example.com/check", "True");
    add_check("b", "example.com/check", "True");
    expect_queue("Ready", "Can admit new workloads");
}

static void test_activity_names_what_another_cluster_cannot_do(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_flavor(&w, "arm", "{}");
    add_check("one", "kueue.x-k8s.io/multikueue", "True");
    add_check("two", "kueue.x-k8s.io/multikueue", "True");
    add_check("prov", "kueue.x-k8s.io/provisioning-request", "True");
    add_queue("{\"name\":\"two\"},{\"name\":\"one\"}", "");
    expect_queue("MultipleMultiKueueAdmissionChecks",
                 "Can't admit new workloads: Cannot use multiple MultiKueue AdmissionChecks on the "
                 "same ClusterQueue, found: one,two.");
    add_queue("{\"name\":\"one\",\"onFlavors\":[\"arm\"]}", "");
    expect_queue("MultiKueueAdmissionCheckAppliedPerFlavor",
                 "Can't admit new workloads: Cannot specify MultiKueue AdmissionCheck per flavor, "
                 "found: one.");
    add_queue("{\"name\":\"one\",\"onFlavors\":[\"arm\",\"spot\"]}", "");
    expect_queue("Ready", "Can admit new workloads");
    add_queue("{\"name\":\"one\"},{\"name\":\"prov\"}", "");
    expect_queue("MultiKueueWithProvisioningRequest",
                 "Can't admit new workloads: Cannot use both MultiKueue and ProvisioningRequest "
                 "AdmissionChecks together, found: one, prov.");
}

static void test_activity_names_every_flavor_without_its_topology(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{\"topologyName\":\"racks\"}");
    world_add_flavor(&w, "arm", "{\"topologyName\":\"racks\"}");
    add_queue("", "");
    expect_queue("TopologyNotFound",
                 "Can't admit new workloads: there is no Topology \"racks\" for TAS flavor "
                 "\"spot\", there is no Topology \"racks\" for TAS flavor \"arm\".");
    cluster_add_topology(&w, "racks");
    expect_queue("Ready", "Can admit new workloads");
}

static void test_activity_stopped_queue_says_what_else_is_missing(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    add_queue("", ",\"stopPolicy\":\"Hold\"");
    expect_queue("Stopped", "Can't admit new workloads: is stopped, references missing "
                            "ResourceFlavor(s): arm.");
    world_add_flavor(&w, "arm", "{}");
    expect_queue("Stopped", "Can't admit new workloads: is stopped.");
}

static void test_activity_local_queue_follows_its_cluster_queue(void **state)
{
    static const char no[] = "Can't submit new workloads to clusterQueue";
    (void)state;
    world_add_local_queue(&w, "team", "lq", "cq");
    expect(SL_KIND_LOCAL_QUEUE, "team", "lq", "ClusterQueueDoesNotExist", no);
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_LOCAL_QUEUE, "team", "lq");
    assert_int_equal(sl_json_type(sl_json_get(status, "flavorsUsage")), SL_JSON_NULL);
    sl_json_free(status);
    add_queue("", "");
    expect(SL_KIND_LOCAL_QUEUE, "team", "lq", "ClusterQueueIsInactive", no);
    world_add_flavor(&w, "spot", "{}");
    world_add_flavor(&w, "arm", "{}");
    expect(SL_KIND_LOCAL_QUEUE, "team", "lq", "Ready", "Can submit new workloads to localQueue");
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    expect(SL_KIND_LOCAL_QUEUE, "team", "lq", "Stopped", "LocalQueue is stopped");
}

static void expect_waits(const char *name, const char *reason, const char *message)
{
    const struct sl_json *o = world_workload(&w, name);
    world_settle(&w);
    o = world_workload(&w, name);
    const struct sl_json *c = sl_condition_find(o, "QuotaReserved");
    assert_string_equal(sl_json_path_text(c, "reason", ""), reason);
    assert_string_equal(sl_json_path_text(c, "message", ""), message);
    c = sl_condition_find(o, "Admitted");
    assert_string_equal(sl_json_path_text(c, "message", ""), "The workload has no reservation");
}

/* From its creation on, and as its queues come, go and stop. */
static void test_activity_workload_is_told_what_its_queues_lack(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    expect_waits("a", "Misconfigured", "LocalQueue lq doesn't exist");
    world_add_local_queue(&w, "team", "lq", "cq");
    expect_waits("a", "Misconfigured", "ClusterQueue cq doesn't exist");
    add_queue("", "");
    expect_waits("a", "Suspended", "ClusterQueue cq is inactive");
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    expect_waits("a", "Suspended", "LocalQueue lq is inactive");
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"None\"}}");
    expect_waits("a", "Suspended", "ClusterQueue cq is inactive");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_activity, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_activity_names_missing_flavors_until_all_are_there),
        TEST(test_activity_names_missing_and_inactive_checks_by_name),
        TEST(test_activity_names_what_another_cluster_cannot_do),
        TEST(test_activity_names_every_flavor_without_its_topology),
        TEST(test_activity_stopped_queue_says_what_else_is_missing),
        TEST(test_activity_local_queue_follows_its_cluster_queue),
        TEST(test_activity_workload_is_told_what_its_queues_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
