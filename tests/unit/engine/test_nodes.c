/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cluster.h"
#include "scene.h"
#include "engine/records/world.h"

static const char FLAVOR[] = "{\"topologyName\":\"topo\"}";
static void test_nodes_nodes_stand_in_the_order_of_values(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n3", "b2", "r1", "3", "");
    cluster_put_node(&w, "n1", "b1", "r2", "1", "");
    cluster_put_node(&w, "n10", "b1", "r1", "10", "");
    cluster_put_node(&w, "n2", "b1", "r1", "2500m", "");
    cluster_expect(&w, "tas", "b1[r1[n10=10000 n2=2500] r2[n1=1000]] b2[r1[n3=3000]]");
    world_check(&w);
}

static void test_nodes_node_seen_before_flavor_and_topology_stands_the_same(void **state)
{
    (void)state;
    cluster_put_node(&w, "n1", "b1", "r2", "1", "");
    world_add_flavor(&w, "tas", FLAVOR);
    cluster_expect(&w, "tas", "");
    cluster_add_topology(&w, "topo");
    cluster_expect(&w, "tas", "b1[r2[n1=1000]]");
}

static void test_nodes_heartbeat_changes_nothing(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    world_settle(&w);
    uint64_t before = sl_journal_sequence(w.engine->journal);
    struct sl_json *o = cluster_new_node("n1", "b1", "r1", "1000m", "\"podCIDR\":\"10.0.0.0/24\"");
    sl_json_set_text(sl_json_path_make(o, "status.nodeInfo"), "bootID", "x");
    assert_int_equal(world_put(&w, SL_KIND_NODE, o, NULL), SL_CODE_OK);
    assert_int_equal(sl_journal_sequence(w.engine->journal), before + 1); /* that it was seen */
    assert_false(sl_world_woken(w.engine));
}

static void test_nodes_node_not_ready_or_cordoned_leaves_and_comes_back(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    cluster_put_node(&w, "n2", "b1", "r1", "2", "");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "\"unschedulable\":true");
    cluster_expect(&w, "tas", "b1[r1[n2=2000]]");
    world_patch(&w, SL_KIND_NODE, "", "n2",
                "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}}");
    cluster_expect(&w, "tas", "");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    cluster_expect(&w, "tas", "b1[r1[n1=1000]]");
    assert_true(sl_world_woken(w.engine));
    world_settle(&w);
    assert_false(sl_world_woken(w.engine));
}

static void test_nodes_node_gone_has_no_room(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    sl_site_id site = cluster_find_host(w.engine, "n1");
    assert_string_equal(sl_names_host(w.engine, site), "n1");
    assert_int_equal(sl_site_capacity_of(site, SL_MEASURE_PODS), 10);
    world_delete(&w, SL_KIND_NODE, "", "n1");
    cluster_expect(&w, "tas", "");
    assert_int_equal(sl_site_capacity_of(site, SL_MEASURE_PODS), 0);
    assert_int_equal(sl_site_capacity_of(site, 1), 0);
    assert_int_equal(cluster_find_host(w.engine, "n1"), SL_NO_ID);
    world_check(&w);
}

static void test_nodes_node_with_other_labels_moves(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    cluster_put_node(&w, "n2", "b1", "r1", "2", "");
    cluster_put_node(&w, "n1", "b1", "r9", "1", "");
    cluster_expect(&w, "tas", "b1[r1[n2=2000] r9[n1=1000]]");
    world_patch(&w, SL_KIND_NODE, "", "n2", "{\"metadata\":{\"labels\":{\"rack\":null}}}");
    cluster_expect(&w, "tas", "b1[r9[n1=1000]]"); /* it has no such level any more */
}

/* A label that a flavor wants empty has to be there. */
static void test_nodes_label_wanted_empty_must_be_there(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\",\"nodeLabels\":{\"gpu\":\"\"}}", "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    struct sl_json *labelled = cluster_new_node("n2", "b1", "r1", "2", "");
    sl_json_set_text(sl_json_path(labelled, "metadata.labels"), "gpu", "");
    assert_int_equal(world_put(&w, SL_KIND_NODE, labelled, NULL), SL_CODE_OK);
    cluster_expect(&w, "tas", "b1[r1[n2=2000]]");
}

static void test_nodes_flavor_labels_choose_nodes(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\",\"nodeLabels\":{\"rack\":\"r1\"}}", "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    cluster_put_node(&w, "n2", "b1", "r2", "2", "");
    cluster_expect(&w, "tas", "b1[r1[n1=1000]]");
    world_add_flavor(&w, "tas", "{\"topologyName\":\"topo\",\"nodeLabels\":{\"rack\":\"r2\"}}");
    cluster_expect(&w, "tas", "b1[r2[n2=2000]]");
    world_add_flavor(&w, "tas", "{}");
    cluster_expect(&w, "tas", "");
    assert_false(sl_trees_asked(cluster_tree(&w, "tas")));
}

static void test_nodes_flavors_share_a_host_and_its_room(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    world_add_flavor(&w, "too", FLAVOR);
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    cluster_expect(&w, "tas", "b1[r1[n1=1000]]");
    cluster_expect(&w, "too", "b1[r1[n1=1000]]");
    sl_site_id site = cluster_find_host(w.engine, "n1");
    assert_int_equal(sl_domain_site(sl_trees_domain_on(cluster_tree(&w, "too"), site)), site);
    assert_int_not_equal(sl_trees_rank(cluster_tree(&w, "tas")),
                         sl_trees_rank(cluster_tree(&w, "too")));
    world_delete(&w, SL_KIND_RESOURCE_FLAVOR, "", "tas");
    cluster_expect(&w, "too", "b1[r1[n1=1000]]");
}

static void test_nodes_trees_that_do_not_share_hosts_have_their_own(void **state)
{
    (void)state;
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.policy.overlapping_flavors = false;
    world_close(&w);
    world_open_with(&w, NULL, &settings);
    cluster_add_basics(&w, FLAVOR, "10");
    world_add_flavor(&w, "too", FLAVOR);
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    sl_site_id one = sl_names_find_host_in(w.engine, cluster_tree(&w, "tas"), "n1");
    sl_site_id other = sl_names_find_host_in(w.engine, cluster_tree(&w, "too"), "n1");
    assert_int_not_equal(one, other);
    assert_string_equal(sl_names_host(w.engine, other), "n1");
    cluster_expect(&w, "too", "b1[r1[n1=1000]]");
}

static void test_nodes_bad_allocatable_is_named_and_counts_as_nothing(void **state)
{
    (void)state;
    struct sl_error e = {0};
    cluster_add_basics(&w, FLAVOR, "10");
    assert_int_equal(
        world_put(&w, SL_KIND_NODE, cluster_new_node("n1", "b1", "r1", "lots", ""), &e),
        SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "status.allocatable");
    cluster_expect(&w, "tas", "b1[r1[n1=0]]");
}

/* The second node of a host name stands nowhere, and leaves nothing behind. */
static void test_nodes_host_in_two_racks_stands_in_the_first_alone(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    struct sl_json *twin = cluster_new_node("twin", "b2", "r2", "2", "");
    sl_json_set_text(sl_json_path(twin, "metadata.labels"), "kubernetes.io/hostname", "n1");
    assert_int_equal(world_put(&w, SL_KIND_NODE, twin, NULL), SL_CODE_OK);
    cluster_expect(&w, "tas", "b1[r1[n1=1000]]");
    world_delete(&w, SL_KIND_NODE, "", "twin");
    world_delete(&w, SL_KIND_NODE, "", "n1");
    assert_int_equal(cluster_find_host(w.engine, "n1"), SL_NO_ID);
    for (sl_domain_id d = 0; d < w.engine->world->area_count; d++) {
        assert_null(w.engine->world->areas[d].value);
    }
    assert_int_equal(w.engine->world->free_site_count, w.engine->world->site_count);
}

static void test_nodes_change_wakes_queues_that_offer_the_tree_alone(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "other", "spot", "10", "");
    world_settle(&w);
    uint64_t before = sl_journal_sequence(w.engine->journal);
    sl_world_wake(w.engine, cluster_tree(&w, "tas"), SL_TREE_MORE);
    sl_world_flush(w.engine, w.now_ms);
    assert_int_equal(sl_journal_sequence(w.engine->journal), before + 1);
    assert_false(sl_world_woken(w.engine));
}

/* "a.com/gpu" comes before "cpu", whichever was heard of first. */
static void test_nodes_first_scarce_resource_by_name_is_told(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    assert_int_not_equal(cluster_take_measure(w.engine, "a.com/gpu", w.now_ms), SL_NO_ID);
    world_add_cluster_queue(&w, "cq", "tas", "10", "");
    world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                "{\"spec\":{\"resourceGroups\":[{\"coveredResources\":[\"cpu\",\"a.com/gpu\"],"
                "\"flavors\":[{\"name\":\"tas\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":"
                "\"10\"},{\"name\":\"a.com/gpu\",\"nominalQuota\":\"10\"}]}]}]}}");
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "2");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"required\":\"rack\"}"));
    sl_json_set_text(sl_json_path(sl_json_at(sl_json_path(o, "spec.podSets.0.template.spec."
                                                             "containers"),
                                             0),
                                  "resources.requests"),
                     "a.com/gpu", "1");
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    world_settle(&w);
    const struct sl_json *c = sl_condition_find(world_workload(&w, "a"), "QuotaReserved");
    assert_non_null(strstr(sl_json_path_text(c, "message", ""), "resource \"a.com/gpu\": "));
}

static void test_nodes_new_measure_is_known_of_nodes_seen_before(void **state)
{
    (void)state;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    world_patch(&w, SL_KIND_NODE, "", "n1", "{\"status\":{\"allocatable\":{\"x.com/gpu\":\"8\"}}}");
    sl_measure_id gpu = cluster_take_measure(w.engine, "x.com/gpu", w.now_ms);
    assert_int_equal(sl_site_capacity_of(cluster_find_host(w.engine, "n1"), gpu), 8);
    assert_string_equal(sl_names_measure(w.engine, gpu), "x.com/gpu");
    assert_int_equal(cluster_take_measure(w.engine, "x.com/gpu", w.now_ms), gpu);
}

static void test_nodes_measure_that_nobody_needs_makes_room_for_another(void **state)
{
    (void)state;
    char name[32];
    uint32_t taken = 0;
    cluster_add_basics(&w, FLAVOR, "10");
    cluster_put_node(&w, "n1", "b1", "r1", "4", "");
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"required\":\"rack\"}"));
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    world_settle(&w);
    sl_measure_id cpu = cluster_take_measure(w.engine, "cpu", w.now_ms);
    world_add(&w, SL_KIND_NAMESPACE, "{\"metadata\":{\"name\":\"one\"}}");
    do {
        (void)snprintf(name, sizeof name, "x.com/r%u", taken++);
    } while (cluster_take_measure(w.engine, name, w.now_ms) != SL_NO_ID);
    assert_true(taken < SL_MEASURES_MAX);
    world_add(&w, SL_KIND_NAMESPACE, "{\"metadata\":{\"name\":\"two\"}}");
    world_patch(&w, SL_KIND_NODE, "", "n1", "{\"status\":{\"allocatable\":{\"y.com/gpu\":\"8\"}}}");
    sl_measure_id gpu = cluster_take_measure(w.engine, "y.com/gpu", w.now_ms);
    assert_int_not_equal(gpu, SL_NO_ID);
    assert_int_not_equal(gpu, cpu); /* which somebody has booked */
    assert_string_equal(sl_names_measure(w.engine, gpu), "y.com/gpu");
    assert_int_equal(sl_site_capacity_of(cluster_find_host(w.engine, "n1"), gpu), 8);
    world_check(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nodes_nodes_stand_in_the_order_of_values, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_nodes_node_seen_before_flavor_and_topology_stands_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_heartbeat_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_measure_that_nobody_needs_makes_room_for_another,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_node_not_ready_or_cordoned_leaves_and_comes_back,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_node_gone_has_no_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_node_with_other_labels_moves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_label_wanted_empty_must_be_there, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_nodes_flavor_labels_choose_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_flavors_share_a_host_and_its_room, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_nodes_trees_that_do_not_share_hosts_have_their_own,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_bad_allocatable_is_named_and_counts_as_nothing,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_host_in_two_racks_stands_in_the_first_alone,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_change_wakes_queues_that_offer_the_tree_alone,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes_first_scarce_resource_by_name_is_told, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_nodes_new_measure_is_known_of_nodes_seen_before, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
