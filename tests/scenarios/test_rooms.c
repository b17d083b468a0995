/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Scenarios S63 to S66: rooms on nodes that are given back late, and nodes that come while somebody
 * waits for them. Racks r1 and r2 have two nodes of two cpu each: x1, x2 and x3, x4. */
#include "scene.h"

static struct world w;

static int setup(void **state)
{
    (void)state;
    world_open(&w, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_check(&w);
    world_close(&w);
    return 0;
}

static const enum sl_kind order[] = {
    SL_KIND_TOPOLOGY,      SL_KIND_RESOURCE_FLAVOR, SL_KIND_ADMISSION_CHECK, SL_KIND_NODE,
    SL_KIND_CLUSTER_QUEUE, SL_KIND_LOCAL_QUEUE,     SL_KIND_WORKLOAD};

/* "a" stands on all nodes and is deactivated; "b" wants the same nodes, and there is quota for both. */
static void deactivate(void)
{
    scene_add_racks(&w);
    scene_add_queue(&w, "20", "");
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 8, UNCONSTRAINED, 0);
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2 x3=2 x4=2");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "Deactivated");
    scene_add(&w, "b", 8, UNCONSTRAINED, 0);
}

static void expect_waits(const char *name)
{
    assert_false(sl_condition_true(world_workload(&w, name), "QuotaReserved"));
    assert_string_equal(scene_where(&w, name), "");
}

static void test_S63_deactivated_keeps_its_nodes_until_its_job_has_stopped(void **state)
{
    (void)state;
    deactivate();
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    world_pass(&w, 60 * SECOND);
    expect_waits("b");
    scene_stop(&w, "a");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    assert_string_equal(scene_where(&w, "b"), "x1=2 x2=2 x3=2 x4=2");
}

static void test_S63_deactivated_keeps_its_nodes_over_a_restart(void **state)
{
    (void)state;
    deactivate();
    world_restart(&w, order, sizeof order / sizeof order[0]);
    world_settle(&w);
    world_pass(&w, 60 * SECOND);
    expect_waits("b");
    scene_stop(&w, "a");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

static void test_S63_deactivated_that_is_deleted_leaves_its_nodes(void **state)
{
    (void)state;
    deactivate();
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

/* --- nodes that come ------------------------------------------------------------------------------ */

/* "a" of four pods holds its quota, and its second pass has failed so often that the next one is half a
 * minute away. */
static void wait_for_nodes(void)
{
    scene_add_check(&w, "prov");
    scene_add_queue(&w, "4", CHECKED);
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 4, REQUIRED_RACK, 0);
    scene_set_check(&w, "a", "Ready");
    for (unsigned i = 0; i < 120 && scene_next_pass() <= w.now_ms + 29 * SECOND; i++) {
        world_pass(&w, SECOND);
    }
    assert_true(scene_next_pass() > w.now_ms + 28 * SECOND);
}

static void test_S64_nodes_that_come_make_the_next_pass_due_in_a_second(void **state)
{
    (void)state;
    wait_for_nodes();
    scene_add_racks(&w);
    world_settle(&w);
    assert_int_equal(scene_next_pass(), w.now_ms + SECOND);
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
}

/* It is not enough: the backoff goes on as if nothing had come. */
static void test_S64_a_node_that_does_not_suffice_does_not_begin_the_backoff_anew(void **state)
{
    (void)state;
    wait_for_nodes();
    scene_add_node(&w, "x1", "r1", 2);
    world_settle(&w);
    world_pass(&w, SECOND);
    assert_string_equal(scene_where(&w, "a"), "");
    assert_int_equal(scene_next_pass(), w.now_ms + 30 * SECOND);
}

static void test_S64_a_node_elsewhere_wakes_nobody(void **state)
{
    (void)state;
    wait_for_nodes();
    int64_t due_ms = scene_next_pass();
    world_add(&w, SL_KIND_NODE,
              "{\"metadata\":{\"name\":\"z\",\"labels\":{\"kubernetes.io/hostname\":\"z\"}},"
              "\"status\":{\"allocatable\":{\"cpu\":\"8\",\"pods\":\"110\"},\"conditions\":[{"
              "\"type\":\"Ready\",\"status\":\"True\"}]}}");
    world_settle(&w);
    assert_int_equal(scene_next_pass(), due_ms);
}

/* The nodes are there, and another workload stands on them. */
static void test_S65_nodes_that_another_leaves_make_the_next_pass_due_in_a_second(void **state)
{
    (void)state;
    wait_for_nodes();
    world_add_cluster_queue(&w, "other", "tas", "20", "");
    world_add_local_queue(&w, "team", "others", "other");
    struct sl_json *o = world_new_workload("team", "b", "others", 4, "2");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest", world_parse(UNCONSTRAINED));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    scene_add_racks(&w);
    world_settle(&w);
    world_expect(&w, "b", "Admitted", "True", "Admitted");
    world_pass(&w, 5 * SECOND);
    assert_string_equal(scene_where(&w, "a"), "");
    assert_true(scene_next_pass() > w.now_ms + 2 * SECOND);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "b");
    world_settle(&w);
    assert_true(scene_next_pass() <= w.now_ms + SECOND);
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

/* It asks for no topology, and was granted a flavor that has one; its queue offers that no more when nodes come. */
static void lose_the_topology(void)
{
    scene_add_check(&w, "prov");
    scene_add_queue(&w, "4", CHECKED);
    world_add_flavor(&w, "plain", "{}");
    sl_engine_synced(w.engine, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, world_new_workload("team", "a", "lq", 4, "1"), NULL);
    world_settle(&w);
    scene_set_check(&w, "a", "Ready");
    assert_string_equal(scene_delayed(&w, "a"), "Pending");
    world_add_cluster_queue(&w, "cq", "plain", "4", CHECKED);
    world_settle(&w);
}

static void expect_placed(void)
{
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
}

static void test_S66_queue_without_its_topology_places_it_by_all_that_its_pods_ask(void **state)
{
    (void)state;
    lose_the_topology();
    scene_add_racks(&w);
    world_pass(&w, 60 * SECOND);
    expect_placed();
}

static void test_S66_the_same_after_a_restart(void **state)
{
    (void)state;
    lose_the_topology();
    world_restart(&w, order, sizeof order / sizeof order[0]);
    world_settle(&w);
    scene_add_racks(&w);
    world_pass(&w, 60 * SECOND);
    expect_placed();
}

/* Its priority was changed, so that its demand is made anew while it waits for nodes. */
static void test_S66_the_same_where_its_object_is_changed_meanwhile(void **state)
{
    (void)state;
    lose_the_topology();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"priority\":3}}");
    world_settle(&w);
    scene_add_racks(&w);
    world_pass(&w, 60 * SECOND);
    expect_placed();
}

/* Evicted, it asks for no topology again, and has what its queue offers now. */
static void test_S66_evicted_it_takes_what_its_queue_offers(void **state)
{
    (void)state;
    lose_the_topology();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    scene_stop(&w, "a");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    scene_set_check(&w, "a", "Ready");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(scene_where(&w, "a"), "");
}

/* It stands on nodes: what it leaves after one has failed is as much as its pods ask for. */
static void test_S66_its_pods_move_by_all_that_they_ask_after_a_restart(void **state)
{
    (void)state;
    lose_the_topology();
    scene_add_racks(&w);
    world_pass(&w, 60 * SECOND);
    expect_placed();
    world_restart(&w, order, sizeof order / sizeof order[0]);
    world_settle(&w);
    world_delete(&w, SL_KIND_NODE, "", "x1");
    world_settle(&w);
    world_pass(&w, 60 * SECOND);
    assert_string_equal(scene_where(&w, "a"), "x2=2 x3=2");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_S63_deactivated_keeps_its_nodes_until_its_job_has_stopped),
        TEST(test_S63_deactivated_keeps_its_nodes_over_a_restart),
        TEST(test_S63_deactivated_that_is_deleted_leaves_its_nodes),
        TEST(test_S64_nodes_that_come_make_the_next_pass_due_in_a_second),
        TEST(test_S64_a_node_that_does_not_suffice_does_not_begin_the_backoff_anew),
        TEST(test_S64_a_node_elsewhere_wakes_nobody),
        TEST(test_S66_queue_without_its_topology_places_it_by_all_that_its_pods_ask),
        TEST(test_S66_the_same_after_a_restart),
        TEST(test_S66_the_same_where_its_object_is_changed_meanwhile),
        TEST(test_S66_evicted_it_takes_what_its_queue_offers),
        TEST(test_S66_its_pods_move_by_all_that_they_ask_after_a_restart),
        TEST(test_S65_nodes_that_another_leaves_make_the_next_pass_due_in_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
