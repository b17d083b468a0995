/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The ungater: who is released where, who waits, and who is late. */
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

static void test_ungater_admitted_pods_go_to_the_nodes_of_their_ranks(void **state)
{
    struct world *w = *state;
    world_workload(w, 3, SLICE("h1", 2) "," SLICE("h2", 1), "");
    world_job(w, 3, true, "");
    world_turn(w, T0);
    assert_string_equal(world_host(w, 0), ""); /* a moment, until all have come */
    world_turn(w, T0 + SL_UNGATE_BATCH_MS);
    assert_string_equal(world_host(w, 0), "h1");
    assert_string_equal(world_host(w, 1), "h1");
    assert_string_equal(world_host(w, 2), "h2");
    assert_null(sl_json_path(world_pod(w, 0), "spec.schedulingGates"));
}

static void test_ungater_pods_keep_their_other_gates_and_selectors(void **state)
{
    struct world *w = *state;
    struct sl_json *pod = parse("{\"spec\":{\"schedulingGates\":[{\"name\":\"a/b\"},"
                                "{\"name\":\"kueue.x-k8s.io/topology\"}],"
                                "\"nodeSelector\":{\"disk\":\"fast\"}}}");
    char rack[] = "a";
    sl_pod_ungate(pod, (const char *const[]){"rack"}, (char *const[]){rack}, 1);
    assert_json(pod, "{\"spec\":{\"schedulingGates\":[{\"name\":\"a/b\"}],"
                     "\"nodeSelector\":{\"disk\":\"fast\",\"rack\":\"a\"}}}");
    sl_json_free(pod);
    (void)w;
}

static void test_ungater_workload_that_is_not_admitted_keeps_them_gated(void **state)
{
    struct world *w = *state;
    static const char *const conditions[] = {
        "[]", "[{\"type\":\"Admitted\",\"status\":\"False\"}]",
        "[{\"type\":\"Admitted\",\"status\":\"True\"},{\"type\":\"Evicted\",\"status\":\"True\"}]",
        "[{\"type\":\"Admitted\",\"status\":\"True\"},{\"type\":\"Finished\",\"status\":\"True\"}"
        "]"};
    world_job(w, 1, true, "");
    for (int i = 0; i < 4; i++) {
        world_workload(w, 1, SLICE("h1", 1), "");
        sl_json_set(sl_json_path(world_get(w, SL_KIND_WORKLOAD, "w"), "status"), "conditions",
                    parse(conditions[i]));
        world_turn(w, T0 + (i + 1) * 1000);
        assert_true(sl_template_gated(world_pod(w, 0)));
    }
    world_workload(w, 1, SLICE("h1", 1), "");
    world_turn(w, T0 + 9000);
    assert_string_equal(world_host(w, 0), "h1");
}

static void test_ungater_never_releases_onto_an_unhealthy_node(void **state)
{
    struct world *w = *state;
    world_workload(w, 2, SLICE("h1", 1) "," SLICE("h2", 1), "{\"name\":\"h1\"}");
    world_job(w, 2, true, "");
    world_turn(w, T0);
    world_turn(w, T0 + 100);
    assert_string_equal(world_host(w, 0), "");
    assert_string_equal(world_host(w, 1), "h2");
    /* the scheduler has found another */
    world_workload(w, 2, SLICE("h2", 1) "," SLICE("h3", 1), "");
    world_turn(w, T0 + 200);
    assert_string_equal(world_host(w, 0), "h3");
}

static void test_ungater_waits_while_the_assigned_node_takes_no_pods(void **state)
{
    struct world *w = *state;
    world_node(w, "h1", "a", false);
    world_workload(w, 1, SLICE("h1", 1), "");
    world_job(w, 1, true, "");
    world_turn(w, T0);
    world_turn(w, T0 + 100);
    assert_true(sl_template_gated(world_pod(w, 0)));
    world_node(w, "h1", "a", true);
    world_turn(w, T0 + 1200);
    assert_string_equal(world_host(w, 0), "h1");
}

static void test_ungater_many_pods_are_released_over_several_looks(void **state)
{
    struct world *w = *state;
    world_workload(w, 60, SLICE("h1", 60), "");
    world_job(w, 60, false, "");
    world_turn(w, T0);
    world_turn(w, T0 + 100);
    for (unsigned i = 0; i < 60; i++) {
        assert_string_equal(world_host(w, i), "h1");
    }
}

/* Released onto h1, which the assignment has left before the pod was bound. */
static void test_ungater_pod_for_a_node_that_was_left_is_failed_and_replaced(void **state)
{
    struct world *w = *state;
    world_workload(w, 1, SLICE("h1", 1), "");
    world_job(w, 1, true, "");
    world_turn(w, T0);
    world_turn(w, T0 + 100); /* there is no node h1: it is bound nowhere */
    assert_string_equal(world_host(w, 0), "h1");
    world_workload(w, 1, SLICE("h2", 1), "");
    world_turn(w, T0 + 300);
    world_turn(w, T0 + 500);
    assert_string_equal(sl_json_path_text(world_pod(w, 0), "status.phase", ""), "Failed");
    const struct sl_json *c = sl_condition_find(world_pod(w, 0), "TerminatedByKueue");
    assert_string_equal(sl_json_path_text(c, "status", ""), "True");
    assert_string_equal(sl_json_path_text(c, "reason", ""), "UnschedulableOnAssignedNode");
    assert_string_equal(world_host(w, 1), "h2");
}

static void test_ungater_pod_that_its_node_takes_no_more_is_failed(void **state)
{
    struct world *w = *state;
    world_node(w, "h1", "a", true);
    world_workload(w, 1, SLICE("h1", 1), "");
    world_job(w, 1, true, "");
    sl_json_set_text(sl_json_path(world_get(w, SL_KIND_JOB, "j"), "spec.template.spec"),
                     "schedulerName", "somebody-slow");
    world_turn(w, T0);
    world_turn(w, T0 + 100);
    assert_string_equal(world_host(w, 0), "h1");
    assert_int_equal(world_count(w, "Failed", ""), 0);
    sl_json_set_bool(sl_json_path(world_get(w, SL_KIND_NODE, "h1"), "spec"), "unschedulable", true);
    world_turn(w, T0 + 300);
    world_turn(w, T0 + 500);
    assert_int_equal(world_count(w, "Failed", ""), 1);
}

static void test_ungater_pod_without_its_workload_is_left_alone(void **state)
{
    struct world *w = *state;
    world_job(w, 1, true, "");
    world_turn(w, T0);
    world_turn(w, T0 + 5000);
    assert_true(sl_template_gated(world_pod(w, 0)));
    assert_int_equal(world_count(w, "Failed", ""), 0);
}

/* A pod that somebody else's scheduler has not bound yet, pinned to h1; `about` are its annotations. */
static void put_pinned(struct world *w, const char *about, const char *gates)
{
    char text[700];
    snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"annotations\":{%s}},"
        "\"spec\":{\"schedulerName\":\"somebody-slow\",\"schedulingGates\":[%s],"
        "\"nodeSelector\":{\"kubernetes.io/hostname\":\"h1\"},\"containers\":[{\"name\":\"c\"}]},"
        "\"status\":{\"phase\":\"Pending\"}}",
        about, gates);
    fake_put(&w->fake, SL_KIND_POD, parse(text));
}

static void put_unplaced(struct world *w, const char *status)
{
    char text[400];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"},"
             "\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":1}]},\"status\":{%s}}",
             status);
    fake_put(&w->fake, SL_KIND_WORKLOAD, parse(text));
}

#define OF_W "\"kueue.x-k8s.io/workload\":\"w\""
#define OF_W_PLACED OF_W ",\"kueue.x-k8s.io/podset-unconstrained-topology\":\"true\""

/* Its workload has no admission: whatever released it, it has no place there. */
static void test_ungater_pinned_pod_of_a_workload_without_admission_is_failed(void **state)
{
    struct world *w = *state;
    put_unplaced(w, "");
    put_pinned(w, OF_W_PLACED, "");
    world_turn(w, T0);
    world_turn(w, T0 + 500);
    assert_int_equal(world_count(w, "Failed", ""), 0); /* no node of that name is known */
    world_node(w, "h1", "a", true);
    world_turn(w, T0 + 1000);
    world_turn(w, T0 + 1500);
    assert_int_equal(world_count(w, "Failed", ""), 1);
}

static void test_ungater_pinned_pod_that_waits_or_asked_for_no_topology_is_left_alone(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *about, *gates, *status;
    } cases[] = {
        {OF_W, "", ""}, /* its owner's own wish */
        {OF_W_PLACED, "{\"name\":\"kueue.x-k8s.io/admission\"}", ""},
        {OF_W_PLACED, "", "\"conditions\":[{\"type\":\"Evicted\",\"status\":\"True\"}]"},
        {OF_W_PLACED, "", "\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]"},
        {OF_W_PLACED, "", "\"admission\":{\"podSetAssignments\":[{\"name\":\"main\"}]}"},
    };
    world_node(w, "h1", "a", true);
    for (int i = 0; i < 5; i++) {
        put_unplaced(w, cases[i].status);
        put_pinned(w, cases[i].about, cases[i].gates);
        world_turn(w, T0 + i * 1000);
        world_turn(w, T0 + i * 1000 + 500);
        assert_int_equal(world_count(w, "Failed", ""), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ungater_admitted_pods_go_to_the_nodes_of_their_ranks),
        TEST(test_ungater_pods_keep_their_other_gates_and_selectors),
        TEST(test_ungater_workload_that_is_not_admitted_keeps_them_gated),
        TEST(test_ungater_never_releases_onto_an_unhealthy_node),
        TEST(test_ungater_waits_while_the_assigned_node_takes_no_pods),
        TEST(test_ungater_many_pods_are_released_over_several_looks),
        TEST(test_ungater_pod_for_a_node_that_was_left_is_failed_and_replaced),
        TEST(test_ungater_pod_that_its_node_takes_no_more_is_failed),
        TEST(test_ungater_pod_without_its_workload_is_left_alone),
        TEST(test_ungater_pinned_pod_of_a_workload_without_admission_is_failed),
        TEST(test_ungater_pinned_pod_that_waits_or_asked_for_no_topology_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
