/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The kubelets of standalone mode: pods run, end, and leave nodes that failed. */
#include "t.h"
#include "pod_world.h"

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    world_init(w, true);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    world_fini(*state);
    sl_mem_free(*state);
    return 0;
}

/* One pod of a Job with these annotations, bound to h1. */
static void run_one(struct world *w, const char *annotations)
{
    world_node(w, "h1", "a", true);
    world_workload(w, 1, SLICE("h1", 1), "");
    world_job(w, 1, true, annotations);
    world_turn(w, T0);
    world_turn(w, T0 + 100);
    assert_int_equal(world_count(w, "Running", "h1"), 1);
}

static void test_kubelet_pod_runs_for_its_time_since_it_was_bound(void **state)
{
    struct world *w = *state;
    run_one(w, "\"sluice.dev/run-for\":\"2500ms\"");
    assert_true(sl_condition_true(world_pod(w, 0), "Ready"));
    assert_string_equal(sl_json_path_text(world_pod(w, 0), "status.startTime", ""),
                        "2023-11-14T22:13:20Z");
    assert_true(sl_json_path_bool(world_pod(w, 0), "status.containerStatuses.0.ready", false));
    assert_int_equal(sl_json_path_int(world_get(w, SL_KIND_JOB, "j"), "status.ready", 0), 1);
    world_turn(w, T0 + 100 + 2499);
    assert_int_equal(world_count(w, "Running", ""), 1);
    world_turn(w, T0 + 100 + 2500);
    assert_true(sl_condition_true(world_get(w, SL_KIND_JOB, "j"), "Complete"));
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 0);
}

static void test_kubelet_pod_becomes_ready_after_its_time(void **state)
{
    struct world *w = *state;
    run_one(w, "\"sluice.dev/run-for\":\"9s\",\"sluice.dev/ready-after\":\"2s\"");
    assert_false(sl_condition_true(world_pod(w, 0), "Ready"));
    world_turn(w, T0 + 2099);
    assert_false(sl_condition_true(world_pod(w, 0), "Ready"));
    world_turn(w, T0 + 2100);
    assert_true(sl_condition_true(world_pod(w, 0), "Ready"));
}

static void test_kubelet_pod_that_is_to_fail_fails(void **state)
{
    struct world *w = *state;
    run_one(w, "\"sluice.dev/fail\":\"true\"");
    world_turn(w, T0 + 1100);
    assert_true(sl_condition_true(world_get(w, SL_KIND_JOB, "j"), "Failed"));
}

static void test_kubelet_pod_on_its_own_runs_on(void **state)
{
    struct world *w = *state;
    world_node(w, "h1", "a", true);
    fake_put(&w->fake, SL_KIND_POD,
             parse("{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"p\"},"
                   "\"spec\":{\"nodeName\":\"h1\"}}"));
    world_turn(w, T0);
    world_turn(w, T0 + 1000000);
    assert_int_equal(world_count(w, "Running", "h1"), 1);
}

static void test_kubelet_deleted_pod_that_somebody_holds_is_stopped(void **state)
{
    struct world *w = *state;
    world_node(w, "h1", "a", true);
    fake_put(&w->fake, SL_KIND_POD,
             parse("{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"p\",\"finalizers\":"
                   "[\"x/y\"],"
                   "\"deletionTimestamp\":\"2023-11-14T22:13:20Z\"},\"spec\":{\"nodeName\":\"h1\"},"
                   "\"status\":{\"phase\":\"Running\"}}"));
    world_turn(w, T0);
    assert_int_equal(world_count(w, "Failed", "h1"), 1);
    assert_false(sl_condition_true(world_pod(w, 0), "Ready"));
}

/* The whole way of a replacement, but for the Workload's new assignment, which the engine writes. */
static void test_kubelet_pod_of_a_failed_node_leaves_and_another_takes_its_place(void **state)
{
    struct world *w = *state;
    run_one(w, "\"sluice.dev/run-for\":\"600s\"");
    world_node(w, "h2", "a", true);
    world_node(w, "h1", "a", false);
    world_turn(w, T0 + 5000);
    assert_int_equal(world_count(w, "Running", "h1"), 1); /* a moment of grace */
    world_turn(w, T0 + 5000 + SL_NODE_GRACE_MS);
    assert_int_equal(world_count(w, "Running", ""), 0);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 1);
    assert_true(sl_template_gated(world_pod(w, 0))); /* not released onto the failed node */
    world_workload(w, 1, SLICE("h2", 1), "");
    world_turn(w, T0 + 8000);
    world_turn(w, T0 + 8100);
    assert_int_equal(world_count(w, "Running", "h2"), 1);
    assert_int_equal(world_count(w, "Failed", ""), 0);
}

static void test_kubelet_node_that_recovers_in_time_keeps_its_pods(void **state)
{
    struct world *w = *state;
    run_one(w, "\"sluice.dev/run-for\":\"600s\"");
    world_node(w, "h1", "a", false);
    world_turn(w, T0 + 5000);
    world_node(w, "h1", "a", true);
    world_turn(w, T0 + 5500);
    world_turn(w, T0 + 9000);
    assert_int_equal(world_count(w, "Running", "h1"), 1);
}

static void test_kubelet_nothing_ends_on_a_silent_node(void **state)
{
    struct world *w = *state;
    run_one(w, "\"sluice.dev/run-for\":\"5s\"");
    world_node(w, "h1", "a", false);
    world_turn(w, T0 + 4500);
    world_turn(w, T0 + 5400);
    assert_int_equal(world_count(w, "Running", "h1"), 1);
    assert_false(sl_condition_true(world_get(w, SL_KIND_JOB, "j"), "Complete"));
}

static void test_kubelet_pod_of_a_deleted_or_tainted_node_leaves_at_once(void **state)
{
    struct world *w = *state;
    run_one(w, "\"sluice.dev/run-for\":\"600s\"");
    sl_json_set(world_get(w, SL_KIND_NODE, "h1"), "spec",
                parse("{\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}"));
    world_turn(w, T0 + 200);
    assert_int_equal(world_count(w, "Running", "h1"), 1); /* who runs may stay */
    sl_json_set(world_get(w, SL_KIND_NODE, "h1"), "spec",
                parse("{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]}"));
    world_turn(w, T0 + 300);
    assert_int_equal(world_count(w, "Running", ""), 0);
}

static void test_kubelet_pod_of_a_deleted_node_leaves_at_once(void **state)
{
    struct world *w = *state;
    run_one(w, "\"sluice.dev/run-for\":\"600s\"");
    struct sl_write gone = {.verb = SL_VERB_DELETE, .kind = SL_KIND_NODE, .ns = "", .name = "h1"};
    fake_apply(&w->fake, &gone);
    world_turn(w, T0 + 200);
    assert_int_equal(world_count(w, "Running", ""), 0);
}

/* A new process knows the start to the second only, and goes on from there. */
static void test_kubelet_restart_goes_on_from_the_pods_start(void **state)
{
    struct world *w = *state;
    run_one(w, "\"sluice.dev/run-for\":\"30s\"");
    sl_cluster_fini(&w->cluster);
    sl_cluster_init(&w->cluster, &w->fake.client, w->recorder, true);
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(w->seen, &cursor, &key, &value)) {
        sl_cluster_observe(&w->cluster, world_kind(key), value.pointer, false, T0 + 10000);
    }
    world_turn(w, T0 + 29999);
    assert_int_equal(world_count(w, "Running", ""), 1);
    world_turn(w, T0 + 30100);
    assert_true(sl_condition_true(world_get(w, SL_KIND_JOB, "j"), "Complete"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kubelet_pod_runs_for_its_time_since_it_was_bound),
        TEST(test_kubelet_deleted_pod_that_somebody_holds_is_stopped),
        TEST(test_kubelet_pod_becomes_ready_after_its_time),
        TEST(test_kubelet_pod_that_is_to_fail_fails),
        TEST(test_kubelet_pod_on_its_own_runs_on),
        TEST(test_kubelet_pod_of_a_failed_node_leaves_and_another_takes_its_place),
        TEST(test_kubelet_node_that_recovers_in_time_keeps_its_pods),
        TEST(test_kubelet_nothing_ends_on_a_silent_node),
        TEST(test_kubelet_pod_of_a_deleted_or_tainted_node_leaves_at_once),
        TEST(test_kubelet_pod_of_a_deleted_node_leaves_at_once),
        TEST(test_kubelet_restart_goes_on_from_the_pods_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
