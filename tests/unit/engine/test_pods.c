/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cluster.h"
#include "scene.h"

static int64_t free_cpu(const char *host)
{
    return sl_site_capacity_of(cluster_find_host(w.engine, host), 1);
}

static int64_t free_pods(const char *host)
{
    return sl_site_capacity_of(cluster_find_host(w.engine, host), SL_MEASURE_PODS);
}

static void start(void)
{
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    cluster_put_node(&w, "n1", "b1", "r1", "4", "");
    cluster_put_node(&w, "n2", "b1", "r1", "4", "");
}

static void test_pods_bound_to_a_node_take_its_room_until_they_end(void **state)
{
    (void)state;
    start();
    cluster_put_pod(&w, "p1", "n1", "1", "Running");
    cluster_put_pod(&w, "p2", "n1", "500m", "Pending");
    assert_int_equal(free_cpu("n1"), 2500);
    assert_int_equal(free_pods("n1"), 8);
    world_settle(&w);
    cluster_put_pod(&w, "p1", "n1", "1", "Succeeded");
    assert_int_equal(free_cpu("n1"), 3500);
    assert_true(sl_world_woken(w.engine));
    world_delete(&w, SL_KIND_POD, "team", "p2");
    assert_int_equal(free_cpu("n1"), 4000);
    assert_int_equal(free_pods("n1"), 10);
}

static void test_pods_not_bound_yet_take_nothing(void **state)
{
    (void)state;
    start();
    cluster_put_pod(&w, "p1", "", "1", "Pending");
    assert_int_equal(free_cpu("n1"), 4000);
    cluster_put_pod(&w, "p1", "n2", "1", "Pending");
    assert_int_equal(free_cpu("n2"), 3000);
}

static void test_pods_of_topology_workloads_are_not_counted_twice(void **state)
{
    (void)state;
    start();
    world_add(
        &w, SL_KIND_POD,
        "{\"metadata\":{\"namespace\":\"team\",\"name\":\"p\",\"annotations\":{"
        "\"kueue.x-k8s.io/podset-required-topology\":\"rack\"}},\"spec\":{\"nodeName\":\"n1\","
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}");
    assert_int_equal(free_cpu("n1"), 4000);
}

static void test_pods_more_than_the_node_has_leave_none(void **state)
{
    (void)state;
    start();
    cluster_put_pod(&w, "p1", "n1", "3", "Running");
    cluster_put_pod(&w, "p2", "n1", "3", "Running");
    assert_int_equal(free_cpu("n1"), 0);
    cluster_put_pod(&w, "p1", "n1", "3", "Failed");
    assert_int_equal(free_cpu("n1"), 1000);
}

static void test_pods_that_ask_for_everything_give_it_back_and_no_more(void **state)
{
    (void)state;
    start();
    cluster_put_pod(&w, "p1", "n1", "1", "Running");
    for (int i = 0; i < 10; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "huge%d", i);
        cluster_put_pod(&w, name, "n1", "9223372036854775807", "Running");
    }
    assert_int_equal(free_cpu("n1"), 0);
    cluster_put_node(&w, "n1", "b1", "r1", "6", "");
    for (int i = 0; i < 10; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "huge%d", i);
        world_delete(&w, SL_KIND_POD, "team", name);
    }
    assert_int_equal(free_cpu("n1"), 5000);
    world_delete(&w, SL_KIND_NODE, "", "n1");
    cluster_put_node(&w, "n1", "b1", "r1", "4", "");
    assert_int_equal(free_cpu("n1"), 3000);
}

static void test_pods_seen_before_their_node_count_there(void **state)
{
    (void)state;
    cluster_put_pod(&w, "p1", "n3", "1", "Running");
    start();
    cluster_put_node(&w, "n3", "b1", "r1", "4", "");
    assert_int_equal(free_cpu("n3"), 3000);
    world_delete(&w, SL_KIND_NODE, "", "n3");
    cluster_put_node(&w, "n3", "b1", "r1", "4", "");
    assert_int_equal(free_cpu("n3"), 3000);
    world_delete(&w, SL_KIND_POD, "team", "p1");
    assert_int_equal(free_cpu("n3"), 4000);
}

static void test_pods_made_again_on_another_node_move_what_they_take(void **state)
{
    (void)state;
    start();
    cluster_put_pod(&w, "p1", "n1", "1", "Running");
    cluster_put_pod(&w, "p1", "n2", "2", "Running");
    assert_int_equal(free_cpu("n1"), 4000);
    assert_int_equal(free_cpu("n2"), 2000);
    cluster_put_pod(&w, "p1", "n2", "3", "Running"); /* resized */
    assert_int_equal(free_cpu("n2"), 1000);
}

static void test_pods_with_bad_requests_are_named_and_count_as_one_pod(void **state)
{
    (void)state;
    struct sl_error e = {0};
    start();
    struct sl_json *pod = world_parse(
        "{\"metadata\":{\"namespace\":\"team\",\"name\":\"p\"},\"spec\":{\"nodeName\":\"n1\","
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"x\"}}}]}}");
    assert_int_equal(world_put(&w, SL_KIND_POD, pod, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec");
    assert_int_equal(free_cpu("n1"), 4000);
    assert_int_equal(free_pods("n1"), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pods_bound_to_a_node_take_its_room_until_they_end,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_pods_not_bound_yet_take_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pods_of_topology_workloads_are_not_counted_twice,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_pods_that_ask_for_everything_give_it_back_and_no_more,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_pods_more_than_the_node_has_leave_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_pods_seen_before_their_node_count_there, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_pods_made_again_on_another_node_move_what_they_take,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_pods_with_bad_requests_are_named_and_count_as_one_pod,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
