/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The scheduler of standalone mode: which node a pod is bound to, and when it waits. */
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

/* A pod of its own with that selector and cpu request. */
static void put_pod(struct world *w, const char *name, const char *selector, const char *cpu)
{
    char text[600];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"%s\"},\"spec\":{"
             "\"nodeSelector\":{%s},\"containers\":[{\"name\":\"c\",\"resources\":{"
             "\"requests\":{\"cpu\":\"%s\"}}}]}}",
             name, name, selector, cpu);
    fake_put(&w->fake, SL_KIND_POD, parse(text));
}

static const char *node_of(struct world *w, const char *name)
{
    return sl_json_path_text(world_get(w, SL_KIND_POD, name), "spec.nodeName", "");
}

static void test_scheduler_binds_to_the_node_of_the_selector(void **state)
{
    struct world *w = *state;
    world_node(w, "h1", "a", true);
    world_node(w, "h2", "b", true);
    put_pod(w, "p", "\"kubernetes.io/hostname\":\"h2\"", "1");
    put_pod(w, "q", "\"rack\":\"b\"", "1");
    put_pod(w, "r", "\"rack\":\"b\",\"kubernetes.io/hostname\":\"h1\"", "1");
    world_turn(w, T0);
    assert_string_equal(node_of(w, "p"), "h2");
    assert_string_equal(node_of(w, "q"), "h2");
    assert_string_equal(node_of(w, "r"), "");
}

static void test_scheduler_full_node_takes_no_more_until_one_ends(void **state)
{
    struct world *w = *state;
    world_node(w, "h1", "a", true); /* two cpus */
    put_pod(w, "p", "", "1500m");
    put_pod(w, "q", "", "1");
    put_pod(w, "r", "", "500m");
    world_turn(w, T0);
    assert_string_equal(node_of(w, "p"), "h1");
    assert_string_equal(node_of(w, "q"), "");
    assert_string_equal(node_of(w, "r"), "h1");
    sl_json_set_text(sl_json_path_make(world_get(w, SL_KIND_POD, "p"), "status"), "phase",
                     "Succeeded");
    world_turn(w, T0 + SL_SCHEDULE_RETRY_MS);
    assert_string_equal(node_of(w, "q"), "h1");
}

static void test_scheduler_node_counts_its_pods(void **state)
{
    struct world *w = *state;
    world_node(w, "h1", "a", true);
    sl_json_set_text(sl_json_path(world_get(w, SL_KIND_NODE, "h1"), "status.allocatable"), "pods",
                     "1");
    put_pod(w, "p", "", "0");
    put_pod(w, "q", "", "0");
    world_turn(w, T0);
    assert_string_equal(node_of(w, "p"), "h1");
    assert_string_equal(node_of(w, "q"), "");
}

static void test_scheduler_request_that_the_node_does_not_have_waits(void **state)
{
    struct world *w = *state;
    world_node(w, "h1", "a", true);
    put_pod(w, "p", "", "1");
    sl_json_set(sl_json_path(world_get(w, SL_KIND_POD, "p"), "spec.containers.0"), "resources",
                parse("{\"requests\":{\"example.com/gpu\":1}}"));
    world_turn(w, T0);
    assert_string_equal(node_of(w, "p"), "");
}

static void test_scheduler_passes_over_nodes_that_take_no_pods(void **state)
{
    struct world *w = *state;
    static const char *const specs[] = {
        "{\"unschedulable\":true}",
        "{\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]}"};
    world_node(w, "h0", "a", false);
    for (int i = 0; i < 2; i++) {
        char name[8];
        snprintf(name, sizeof name, "h%d", i + 1);
        world_node(w, name, "a", true);
        sl_json_set(world_get(w, SL_KIND_NODE, name), "spec", parse(specs[i]));
    }
    put_pod(w, "p", "", "1");
    world_turn(w, T0);
    assert_string_equal(node_of(w, "p"), "");
    sl_json_set(sl_json_path(world_get(w, SL_KIND_POD, "p"), "spec"), "tolerations",
                parse("[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]"));
    world_turn(w, T0 + SL_SCHEDULE_RETRY_MS);
    assert_string_equal(node_of(w, "p"), "h2");
}

static void test_scheduler_leaves_gated_pods_and_those_of_others(void **state)
{
    struct world *w = *state;
    world_node(w, "h1", "a", true);
    put_pod(w, "p", "", "1");
    put_pod(w, "q", "", "1");
    sl_json_set(sl_json_path(world_get(w, SL_KIND_POD, "p"), "spec"), "schedulingGates",
                parse("[{\"name\":\"some/gate\"}]"));
    sl_json_set_text(sl_json_path(world_get(w, SL_KIND_POD, "q"), "spec"), "schedulerName",
                     "another");
    world_turn(w, T0);
    world_turn(w, T0 + 5000);
    assert_string_equal(node_of(w, "p"), "");
    assert_string_equal(node_of(w, "q"), "");
}

static void test_scheduler_outside_standalone_mode_does_nothing(void **state)
{
    struct world *w = *state;
    world_fini(w);
    world_init(w, false);
    world_node(w, "h1", "a", true);
    put_pod(w, "p", "", "1");
    world_job(w, 1, false, "");
    world_turn(w, T0);
    assert_string_equal(node_of(w, "p"), "");
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_scheduler_binds_to_the_node_of_the_selector),
        TEST(test_scheduler_full_node_takes_no_more_until_one_ends),
        TEST(test_scheduler_node_counts_its_pods),
        TEST(test_scheduler_request_that_the_node_does_not_have_waits),
        TEST(test_scheduler_passes_over_nodes_that_take_no_pods),
        TEST(test_scheduler_leaves_gated_pods_and_those_of_others),
        TEST(test_scheduler_outside_standalone_mode_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
