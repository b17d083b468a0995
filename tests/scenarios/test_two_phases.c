/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Scenarios S13 to S29: quota first, the place of the pods once a ProvisioningRequest is through. The
 * cluster has no node at first; the checks' answers are set by hand. */
#include "engine/state.h"
#include "policy/fair/usage.h"
#include "scene.h"

static struct world w;
static struct sl_engine_settings settings;

static int setup(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    world_open_with(&w, NULL, &settings);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_check(&w);
    world_close(&w);
    return 0;
}

static void start_with(const char *cpu, const char *more)
{
    scene_add_check(&w, "prov");
    scene_add_queue(&w, cpu, more);
    sl_engine_synced(w.engine, w.now_ms);
}

/* "a" of four pods holds all of its queue's quota and waits for its check. */
static void start(void)
{
    start_with("4", CHECKED);
    scene_add(&w, "a", 4, REQUIRED_RACK, 0);
}

static int64_t quota_of(const char *cluster_queue)
{
    struct sl_json *status =
        sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", cluster_queue);
    int64_t n =
        strtoll(sl_json_path_text(status, "flavorsReservation.0.resources.0.total", "0"), NULL, 10);
    sl_json_free(status);
    return n;
}

static void expect_first_phase(const char *name)
{
    world_expect(&w, name, "QuotaReserved", "True", "QuotaReserved");
    assert_false(sl_condition_true(world_workload(&w, name), "Admitted"));
    assert_string_equal(sl_json_path_text(world_workload(&w, name),
                                          "status.admission.podSetAssignments.0.flavors.cpu", ""),
                        "tas");
    assert_string_equal(scene_delayed(&w, name), "Pending");
    assert_string_equal(scene_where(&w, name), "");
}

static void test_S13_first_phase_reserves_quota_and_nothing_else(void **state)
{
    (void)state;
    start();
    expect_first_phase("a");
    assert_int_equal(quota_of("cq"), 4);
    assert_int_equal(w.writes, 1);
}

static void test_S14_while_the_check_is_pending_there_is_no_pass(void **state)
{
    (void)state;
    start();
    scene_add_racks(&w);
    for (int i = 0; i < 10; i++) {
        world_pass(&w, SECOND);
        assert_int_equal(sl_second_pass_count(), 0);
    }
    expect_first_phase("a");
}

static void test_S15_checks_ready_the_pass_is_due_after_one_second(void **state)
{
    (void)state;
    start();
    scene_add_racks(&w);
    scene_set_check(&w, "a", "Ready");
    assert_int_equal(scene_next_pass(), w.now_ms + SECOND);
    world_expect(&w, "a", "Admitted", "False", "PendingDelayedTopologyRequests");
    world_pass(&w, SECOND - 1);
    expect_first_phase("a");
    world_pass(&w, 1);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_S16_second_phase_places_and_admits_in_one_write(void **state)
{
    (void)state;
    start();
    scene_add_racks(&w);
    scene_set_check(&w, "a", "Ready");
    struct sl_json *flavors = sl_json_clone(
        sl_json_path(world_workload(&w, "a"), "status.admission.podSetAssignments.0.flavors"));
    unsigned writes = w.writes;
    world_pass(&w, SECOND);
    assert_int_equal(w.writes, writes + 1);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(scene_delayed(&w, "a"), "Ready");
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
    assert_true(
        sl_json_equal(flavors, sl_json_path(world_workload(&w, "a"),
                                            "status.admission.podSetAssignments.0.flavors")));
    assert_int_equal(quota_of("cq"), 4);
    sl_json_free(flavors);
}

static void test_S17_without_nodes_it_tries_again_at_growing_delays(void **state)
{
    (void)state;
    static const int delays[] = {2, 4, 8, 16, 30, 30};
    start();
    scene_expect_passes(&w, 0, 0, 0, 0);
    scene_set_check(&w, "a", "Ready");
    scene_expect_passes(&w, 0, 0, 0, 1);
    world_pass(&w, SECOND);
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        unsigned writes = w.writes;
        assert_int_equal(scene_next_pass(), w.now_ms + delays[i] * SECOND);
        world_pass(&w, delays[i] * SECOND);
        assert_int_equal(w.writes, writes);
        expect_first_phase("a");
        assert_int_equal(quota_of("cq"), 4);
    }
    scene_expect_passes(&w, 0, 7, 0, 1);
    scene_add_racks(&w);
    world_pass(&w, 30 * SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    scene_expect_passes(&w, 1, 7, 0, 0);
}

/* S13 reserves the whole quota: the second phase asks for none. */
static void test_S18_quota_that_is_full_of_its_own_reservation_is_no_hindrance(void **state)
{
    (void)state;
    start();
    scene_add_racks(&w);
    assert_int_equal(quota_of("cq"), 4);
    scene_set_check(&w, "a", "Ready");
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(quota_of("cq"), 4);
}

static void test_S19_check_that_asks_to_retry_evicts_and_drops_the_pass(void **state)
{
    (void)state;
    start();
    scene_set_check(&w, "a", "Ready");
    assert_int_equal(sl_second_pass_count(), 1);
    scene_set_check(&w, "a", "Retry");
    world_expect(&w, "a", "Evicted", "True", "AdmissionCheck");
    assert_int_equal(sl_second_pass_count(), 0);
    assert_int_equal(
        sl_json_path_int(world_workload(&w, "a"), "status.admissionChecks.0.retryCount", 0), 1);
    assert_int_equal(quota_of("cq"), 4);
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    scene_stop(&w, "a");
    assert_int_equal(quota_of("cq"), 0);
}

static void test_S20_pod_set_updates_confine_the_second_phase_to_new_nodes(void **state)
{
    (void)state;
    start();
    scene_add_racks(&w);
    for (int i = 5; i <= 6; i++) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"name\":\"x%d\",\"labels\":{\"kubernetes.io/hostname\":"
                       "\"x%d\",\"" RACK "\":\"r3\",\"tas\":\"true\",\"made-for\":\"a\"}},\"spec\":"
                       "{},\"status\":{\"allocatable\":{\"cpu\":\"2\",\"pods\":\"9\"},"
                       "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                       i, i);
        world_add(&w, SL_KIND_NODE, text);
    }
    struct sl_json *copy = sl_json_clone(world_workload(&w, "a"));
    struct sl_json *check = sl_json_path(copy, "status.admissionChecks.0");
    sl_json_set_text(check, "state", "Ready");
    sl_json_set(check, "podSetUpdates",
                world_parse("[{\"name\":\"main\",\"nodeSelector\":{\"made-for\":\"a\"}}]"));
    (void)world_put(&w, SL_KIND_WORKLOAD, copy, NULL);
    world_settle(&w);
    world_pass(&w, SECOND);
    assert_string_equal(scene_where(&w, "a"), "x5=2 x6=2");
}

/* Two pod sets on two flavors with topology; the check is asked for one of them only. */
static void test_S21_only_the_flavor_with_the_check_is_delayed(void **state)
{
    (void)state;
    scene_add_racks(&w);
    scene_add_check(&w, "prov");
    world_add(&w, SL_KIND_TOPOLOGY,
              "{\"metadata\":{\"name\":\"racks\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"" RACK
              "\"},{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}");
    world_add_flavor(&w, "tas", "{\"nodeLabels\":{\"tas\":\"true\"},\"topologyName\":\"racks\"}");
    world_add_flavor(&w, "more", "{\"nodeLabels\":{\"tas\":\"true\"},\"topologyName\":\"racks\"}");
    world_add(&w, SL_KIND_CLUSTER_QUEUE,
              "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},"
              "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":["
              "{\"name\":\"more\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"1\"}]},"
              "{\"name\":\"tas\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"4\"}]}]}],"
              "\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":\"prov\","
              "\"onFlavors\":[\"tas\"]}]}}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    struct sl_json *o = scene_new("a", 1, UNCONSTRAINED);
    struct sl_json *second = sl_json_clone(sl_json_path(o, "spec.podSets.0"));
    sl_json_set_text(second, "name", "more");
    sl_json_set_int(second, "count", 2);
    sl_json_append(sl_json_path(o, "spec.podSets"), second);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    const struct sl_json *sets =
        sl_json_path(world_workload(&w, "a"), "status.admission.podSetAssignments");
    assert_string_equal(sl_json_path_text(sets, "0.flavors.cpu", ""), "more");
    assert_non_null(sl_json_path(sets, "0.topologyAssignment"));
    assert_null(sl_json_path(sets, "0.delayedTopologyRequest"));
    assert_string_equal(sl_json_path_text(sets, "1.flavors.cpu", ""), "tas");
    assert_null(sl_json_path(sets, "1.topologyAssignment"));
    assert_string_equal(sl_json_path_text(sets, "1.delayedTopologyRequest", ""), "Pending");
    scene_set_check(&w, "a", "Ready");
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    sets = sl_json_path(world_workload(&w, "a"), "status.admission.podSetAssignments");
    assert_non_null(sl_json_path(sets, "1.topologyAssignment"));
}

/* --- restarts --------------------------------------------------------------------------------- */

static const enum sl_kind all_kinds[] = {
    SL_KIND_NODE,          SL_KIND_TOPOLOGY,    SL_KIND_RESOURCE_FLAVOR, SL_KIND_ADMISSION_CHECK,
    SL_KIND_CLUSTER_QUEUE, SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};

static void observe_all(enum sl_kind kind)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    struct sl_error e = {0};
    char prefix[16];
    (void)snprintf(prefix, sizeof prefix, "%d/", (int)kind);
    while (sl_map_next(w.objects, &cursor, &key, &value)) {
        if (strncmp(key, prefix, strlen(prefix)) == 0) {
            (void)world_observe(&w, kind, value.pointer, &e);
        }
    }
}

static void test_S22_restart_between_the_phases_counts_usage_and_arms_again(void **state)
{
    (void)state;
    start();
    scene_add_racks(&w);
    scene_set_check(&w, "a", "Ready");
    world_pass(&w, SECOND / 2);
    world_restart(&w, all_kinds, sizeof all_kinds / sizeof all_kinds[0]);
    assert_int_equal(quota_of("cq"), 4);
    world_settle(&w);
    assert_in_range(scene_next_pass(), w.now_ms, w.now_ms + SECOND);
    unsigned writes = w.writes;
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_pass(&w, 60 * SECOND);
    assert_int_equal(w.writes, writes + 1);
}

/* The ClusterQueue has not been read yet when the pass comes due: nothing happens before it has. */
static void
test_S23_restart_before_the_queue_is_read_keeps_the_reservation_and_goes_on(void **state)
{
    (void)state;
    struct sl_error e = {0};
    start();
    scene_add_racks(&w);
    scene_set_check(&w, "a", "Ready");
    sl_engine_close(w.engine);
    assert_int_equal(
        sl_engine_open(&(struct sl_engine_options){.settings = &settings}, &w.engine, &e),
        SL_CODE_OK);
    for (size_t i = 0; i < sizeof all_kinds / sizeof all_kinds[0]; i++) {
        if (all_kinds[i] != SL_KIND_CLUSTER_QUEUE) {
            observe_all(all_kinds[i]);
        }
    }
    unsigned writes = w.writes;
    for (int i = 0; i < 10; i++) {
        world_pass(&w, SECOND);
    }
    assert_int_equal(w.writes, writes);
    observe_all(SL_KIND_CLUSTER_QUEUE);
    sl_engine_synced(w.engine, w.now_ms);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "True", "QuotaReserved");
    world_pass(&w, 30 * SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(quota_of("cq"), 4);
}

/* Nodes that workloads stand on are charged before anything is decided (Kueue: the queue is inactive
 * until its topology's usage is read; here the whole engine decides nothing before). */
static void test_S24_restart_decides_nothing_before_usage_of_nodes_is_known(void **state)
{
    (void)state;
    scene_add_racks(&w);
    start_with("8", "");
    scene_add(&w, "a", 4, REQUIRED_RACK, 0);
    scene_add(&w, "b", 2, REQUIRED_RACK, 0);
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
    assert_string_equal(scene_where(&w, "b"), "x3=2");
    struct sl_json *o = scene_new("c", 4, REQUIRED_RACK);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "c", "QuotaReserved", "False", "WaitingForQuota");
    struct sl_json *d = scene_new("d", 2, REQUIRED_RACK);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "c");
    unsigned writes = w.writes;
    world_restart(&w, all_kinds, sizeof all_kinds / sizeof all_kinds[0]);
    world_settle(&w);
    assert_int_equal(w.writes, writes);
    (void)world_put(&w, SL_KIND_WORKLOAD, d, NULL);
    world_settle(&w);
    assert_string_equal(scene_where(&w, "d"), "x4=2");
}

/* --- heads and queues ------------------------------------------------------------------------- */

static void add_to(const char *name, const char *queue, const char *ns)
{
    struct sl_json *o = scene_new(name, 1, UNCONSTRAINED);
    sl_json_set_text(sl_json_get(o, "spec"), "queueName", queue);
    sl_json_set_text(sl_json_get(o, "metadata"), "namespace", ns);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

static const char *reason_of(const char *ns, const char *name)
{
    const struct sl_json *o = world_get(&w, SL_KIND_WORKLOAD, ns, name);
    return sl_json_path_text(sl_condition_find(o, "QuotaReserved"), "reason", "");
}

static void test_S25_only_valid_heads_are_ordered_and_the_others_are_told_why_once(void **state)
{
    (void)state;
    scene_add_racks(&w);
    world_add(&w, SL_KIND_NAMESPACE,
              "{\"metadata\":{\"name\":\"team\",\"labels\":{\"in\":\"yes\"}}}");
    world_add(&w, SL_KIND_NAMESPACE, "{\"metadata\":{\"name\":\"out\"}}");
    start_with("8", "");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"namespaceSelector\":{\"matchLabels\":{\"in\":\"yes\"}}}}");
    world_add_cluster_queue(&w, "inactive", "no-such-flavor", "8", "");
    world_add_local_queue(&w, "team", "to-inactive", "inactive");
    world_add_local_queue(&w, "team", "to-nothing", "no-such-queue");
    world_add_local_queue(&w, "out", "lq", "cq");
    add_to("valid", "lq", "team");
    add_to("missing", "to-nothing", "team");
    add_to("stands-still", "to-inactive", "team");
    add_to("outside", "lq", "out");
    world_settle(&w);
    assert_string_equal(reason_of("team", "valid"), "QuotaReserved");
    assert_string_equal(reason_of("team", "missing"), "Misconfigured");
    assert_string_equal(reason_of("team", "stands-still"), "Suspended");
    assert_string_equal(reason_of("out", "outside"), "Misconfigured");
    unsigned writes = w.writes;
    for (int i = 0; i < 5; i++) {
        world_pass(&w, SECOND);
    }
    assert_int_equal(w.writes, writes);
}

/* Kueue: of two heads of one queue in one cycle the tournament keeps one. */
static void second_pass_beside_an_ordinary_head(const char *strategy)
{
    char more[400];
    world_close(&w);
    settings.policy.fair_sharing = true;
    world_open_with(&w, NULL, &settings);
    scene_add_racks(&w);
    (void)snprintf(more, sizeof more, CHECKED ",\"queueingStrategy\":\"%s\"", strategy);
    start_with("8", more);
    scene_add(&w, "first", 4, REQUIRED_RACK, 0);
    scene_set_check(&w, "first", "Ready");
    w.now_ms = scene_next_pass();
    sl_clock_set_virtual(w.now_ms);
    struct sl_json *o = scene_new("second", 4, REQUIRED_RACK);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    (void)sl_engine_cycle(w.engine, w.now_ms); /* one cycle serves both */
    assert_int_equal(quota_of("cq"), 8);
    assert_int_equal(sl_second_pass_count(), 0);
    world_settle(&w);
    world_expect(&w, "first", "Admitted", "True", "Admitted");
    expect_first_phase("second");
}

static void test_S26_pass_and_ordinary_head_of_one_queue_are_both_served(void **state)
{
    (void)state;
    second_pass_beside_an_ordinary_head("BestEffortFIFO");
}

static void test_S26_pass_is_served_beside_a_strict_queues_head(void **state)
{
    (void)state;
    second_pass_beside_an_ordinary_head("StrictFIFO");
}

/* Kueue: without any check the second phase never comes, and the quota is held for ever. */
static void test_S27_last_check_removed_while_delayed_is_placed_all_the_same(void **state)
{
    (void)state;
    start();
    scene_add_racks(&w);
    expect_first_phase("a");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"admissionChecksStrategy\":null}}");
    world_settle(&w);
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
}

static void test_S28_blocked_admission_does_not_hold_up_a_second_pass(void **state)
{
    (void)state;
    world_close(&w);
    settings.policy.block_until_ready = true;
    settings.ready_ms_max = 3600 * SECOND;
    world_open_with(&w, NULL, &settings);
    scene_add_racks(&w);
    scene_add_check(&w, "prov");
    scene_add_queue(&w, "8", CHECKED);
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 2, REQUIRED_RACK, 0);
    scene_set_check(&w, "a", "Ready");
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    struct sl_json *ready = sl_json_clone(world_workload(&w, "a"));
    (void)sl_condition_set(sl_json_path(ready, "status"), "PodsReady", true, "Started", "", 1,
                           w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, ready, NULL);
    world_settle(&w);
    scene_add(&w, "b", 2, REQUIRED_RACK, 0);
    expect_first_phase("b");
    struct sl_json *unready = sl_json_clone(world_workload(&w, "a"));
    (void)sl_condition_set(sl_json_path(unready, "status"), "PodsReady", false, "WaitForRecovery",
                           "", 1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, unready, NULL);
    scene_add(&w, "c", 2, REQUIRED_RACK, 0);
    world_expect(&w, "c", "QuotaReserved", "False", "WaitingForPodsReady");
    scene_set_check(&w, "b", "Ready");
    world_pass(&w, SECOND);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

/* What the LocalQueue is held to have used: what was sampled, and the penalty for what was admitted. */
static int64_t used(void)
{
    const struct sl_local_queue *q = sl_local_queue_find(w.engine, "team", "lq");
    sl_resource_id cpu = sl_intern_find(w.engine->names, SL_INTERN_RESOURCE, "cpu");
    assert_non_null(q);
    return sl_usage_add(sl_usage_consumed(q->account, cpu), sl_usage_pending(q->account, cpu))
        .milli;
}

static void test_S29_entry_penalty_is_charged_in_the_first_phase_only(void **state)
{
    (void)state;
    world_close(&w);
    settings.policy.admission_fair_sharing = true;
    settings.usage_half_life_ms = 600 * SECOND;
    settings.usage_sampling_ms = 300 * SECOND;
    world_open_with(&w, NULL, &settings);
    scene_add_racks(&w);
    start_with("4", CHECKED ",\"admissionScope\":{\"admissionMode\":"
                            "\"UsageBasedAdmissionFairSharing\"}");
    assert_int_equal(used(), 0);
    scene_add(&w, "a", 4, REQUIRED_RACK, 0);
    expect_first_phase("a");
    int64_t penalty = used();
    assert_true(penalty > 0);
    scene_set_check(&w, "a", "Ready");
    assert_int_equal(used(), penalty);
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(used(), penalty);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_S13_first_phase_reserves_quota_and_nothing_else),
        TEST(test_S14_while_the_check_is_pending_there_is_no_pass),
        TEST(test_S15_checks_ready_the_pass_is_due_after_one_second),
        TEST(test_S16_second_phase_places_and_admits_in_one_write),
        TEST(test_S17_without_nodes_it_tries_again_at_growing_delays),
        TEST(test_S18_quota_that_is_full_of_its_own_reservation_is_no_hindrance),
        TEST(test_S19_check_that_asks_to_retry_evicts_and_drops_the_pass),
        TEST(test_S20_pod_set_updates_confine_the_second_phase_to_new_nodes),
        TEST(test_S21_only_the_flavor_with_the_check_is_delayed),
        TEST(test_S22_restart_between_the_phases_counts_usage_and_arms_again),
        TEST(test_S23_restart_before_the_queue_is_read_keeps_the_reservation_and_goes_on),
        TEST(test_S24_restart_decides_nothing_before_usage_of_nodes_is_known),
        TEST(test_S25_only_valid_heads_are_ordered_and_the_others_are_told_why_once),
        TEST(test_S26_pass_and_ordinary_head_of_one_queue_are_both_served),
        TEST(test_S26_pass_is_served_beside_a_strict_queues_head),
        TEST(test_S27_last_check_removed_while_delayed_is_placed_all_the_same),
        TEST(test_S28_blocked_admission_does_not_hold_up_a_second_pass),
        TEST(test_S29_entry_penalty_is_charged_in_the_first_phase_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
