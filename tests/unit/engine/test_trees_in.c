/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cluster.h"
#include "scene.h"

static void add_rack_topology(const char *name)
{
    char text[256];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"block\"},"
        "{\"nodeLabel\":\"rack\"}]}}",
        name);
    world_add(&w, SL_KIND_TOPOLOGY, text);
}

static void test_trees_in_bottom_above_nodes_sums_its_nodes(void **state)
{
    (void)state;
    add_rack_topology("racks");
    world_add_flavor(&w, "tas", "{\"topologyName\":\"racks\"}");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    cluster_put_node(&w, "n2", "b1", "r1", "2", "");
    cluster_put_node(&w, "n3", "b1", "r2", "4", "");
    cluster_expect(&w, "tas", "b1[r1=3000 r2=4000]");
    cluster_put_pod(&w, "p", "n2", "500m", "Running");
    cluster_expect(&w, "tas", "b1[r1=2500 r2=4000]");
    world_delete(&w, SL_KIND_NODE, "", "n2");
    cluster_expect(&w, "tas", "b1[r1=1000 r2=4000]");
    cluster_put_node(&w, "n3", "b1", "r1", "4", "");
    cluster_expect(&w, "tas", "b1[r1=5000]");
    assert_false(sl_trees_ends_at_nodes(cluster_tree(&w, "tas")));
}

static void test_trees_in_bottom_above_nodes_belongs_to_its_flavor_alone(void **state)
{
    (void)state;
    add_rack_topology("racks");
    world_add_flavor(&w, "tas", "{\"topologyName\":\"racks\"}");
    world_add_flavor(&w, "too", "{\"topologyName\":\"racks\"}");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    sl_domain_id one = sl_trees_first_child(sl_trees_first_top(cluster_tree(&w, "tas")));
    sl_domain_id other = sl_trees_first_child(sl_trees_first_top(cluster_tree(&w, "too")));
    assert_int_not_equal(sl_domain_site(one), sl_domain_site(other));
    assert_string_equal(sl_names_host(w.engine, sl_domain_site(one)), "");
}

static void test_trees_in_names_lead_there_and_back(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    sl_tree_id tree = cluster_tree(&w, "tas");
    const char *host[] = {"n1"};
    sl_domain_id domain = sl_names_find_domain(w.engine, tree, host, 1);
    assert_int_not_equal(domain, SL_NO_ID);
    assert_string_equal(sl_names_value(w.engine, domain), "n1");
    assert_string_equal(sl_names_value(w.engine, sl_domain_above(domain, 0)), "b1");
    assert_int_equal(sl_names_level_count(w.engine, tree), 3);
    assert_string_equal(sl_names_level(w.engine, tree, 1), "rack");
    assert_string_equal(sl_names_level(w.engine, tree, 3), "");
    assert_string_equal(sl_names_topology(w.engine, tree), "topo");
    add_rack_topology("racks");
    world_add_flavor(&w, "rk", "{\"topologyName\":\"racks\"}");
    const char *path[] = {"b1", "r1"};
    const char *wrong[] = {"b1", "r2"};
    sl_tree_id racks = cluster_tree(&w, "rk");
    assert_int_not_equal(sl_names_find_domain(w.engine, racks, path, 2), SL_NO_ID);
    assert_int_equal(sl_names_find_domain(w.engine, racks, wrong, 2), SL_NO_ID);
    assert_int_equal(sl_names_find_domain(w.engine, racks, path, 1), SL_NO_ID);
}

static void test_trees_in_domain_of_a_missing_node_is_hidden_again(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    sl_tree_id tree = cluster_tree(&w, "tas");
    const char *host[] = {"gone"};
    sl_domain_id domain = sl_names_take_domain(w.engine, tree, host, 1, w.now_ms);
    assert_int_not_equal(domain, SL_NO_ID);
    assert_int_equal(sl_site_capacity_of(sl_domain_site(domain), 1), 0);
    sl_names_settle_domains(w.engine, &domain, 1, w.now_ms);
    cluster_expect(&w, "tas", "b1[r1[n1=1000]]");
    assert_int_equal(sl_names_find_domain(w.engine, tree, host, 1), SL_NO_ID);
    domain = sl_names_take_domain(w.engine, tree, host, 1, w.now_ms);
    cluster_put_node(&w, "gone", "b2", "r1", "2", ""); /* comes before anybody has settled it */
    cluster_expect(&w, "tas", "b1[r1[n1=1000]] b2[r1[gone=2000]]");
    world_check(&w);
}

static void test_trees_in_topology_missing_makes_queues_inactive(void **state)
{
    (void)state;
    world_add_flavor(&w, "tas", "{\"topologyName\":\"topo\"}");
    world_add_cluster_queue(&w, "cq", "tas", "10", "");
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    assert_string_equal(sl_json_path_text(status, "active.reason", ""), "TopologyNotFound");
    sl_json_free(status);
    assert_true(sl_trees_asked(cluster_tree(&w, "tas")));
    assert_false(sl_trees_known(cluster_tree(&w, "tas")));
    cluster_add_topology(&w, "topo");
    status = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    assert_string_equal(sl_json_path_text(status, "active.reason", ""), "Ready");
    sl_json_free(status);
    world_delete(&w, SL_KIND_TOPOLOGY, "", "topo");
    status = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    assert_string_equal(sl_json_path_text(status, "active.reason", ""), "TopologyNotFound");
    sl_json_free(status);
}

static void test_trees_in_other_levels_lay_the_tree_out_anew(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    cluster_put_node(&w, "n1", "b1", "r1", "1", "");
    cluster_put_node(&w, "n2", "b1", "r2", "2", "");
    world_add(&w, SL_KIND_TOPOLOGY,
              "{\"metadata\":{\"name\":\"topo\"},\"spec\":{\"levels\":[{\"nodeLabel\":\"rack\"},{"
              "\"nodeLabel\":\"kubernetes.io/hostname\"}]}}");
    cluster_expect(&w, "tas", "r1[n1=1000] r2[n2=2000]");
    world_check(&w);
}

/* Levels "l1" and so on, the last one that of nodes. */
static struct sl_json *topology_of(unsigned levels)
{
    char text[2048];
    int at =
        snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"deep\"},\"spec\":{\"levels\":[");
    for (unsigned i = 1; i < levels; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "{\"nodeLabel\":\"l%u\"},", i);
    }
    (void)snprintf(text + at, sizeof text - (size_t)at,
                   "{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}");
    return world_parse(text);
}

static void test_trees_in_sixteen_levels_and_no_more(void **state)
{
    (void)state;
    struct sl_error e = {0};
    char labels[1024];
    int at = snprintf(labels, sizeof labels, "\"kubernetes.io/hostname\":\"n1\"");
    for (unsigned i = 1; i < SL_DEPTHS_MAX; i++) {
        at += snprintf(labels + at, sizeof labels - (size_t)at, ",\"l%u\":\"d%u\"", i, i);
    }
    char node[2048];
    (void)snprintf(
        node, sizeof node,
        "{\"metadata\":{\"name\":\"n1\",\"labels\":{%s}},\"status\":{\"allocatable\":{\"cpu\":"
        "\"2\",\"pods\":\"10\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
        labels);
    assert_int_equal(world_put(&w, SL_KIND_TOPOLOGY, topology_of(SL_DEPTHS_MAX), &e), SL_CODE_OK);
    world_add_flavor(&w, "tas", "{\"topologyName\":\"deep\"}");
    world_add(&w, SL_KIND_NODE, node);
    cluster_expect(&w, "tas",
                   "d1[d2[d3[d4[d5[d6[d7[d8[d9[d10[d11[d12[d13[d14[d15[n1=2000]]]]]]]]]]]]]]]");
    assert_int_equal(world_put(&w, SL_KIND_TOPOLOGY, topology_of(SL_DEPTHS_MAX + 1), &e),
                     SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.levels");
}

static void test_trees_in_bad_levels_are_named(void **state)
{
    (void)state;
    struct sl_error e = {0};
    world_add_flavor(&w, "tas", "{\"topologyName\":\"topo\"}");
    assert_int_equal(
        world_put(&w, SL_KIND_TOPOLOGY,
                  world_parse("{\"metadata\":{\"name\":\"topo\"},\"spec\":{\"levels\":[]}}"), &e),
        SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.levels");
    e = (struct sl_error){0};
    assert_int_equal(
        world_put(&w, SL_KIND_TOPOLOGY,
                  world_parse("{\"metadata\":{\"name\":\"topo\"},\"spec\":{\"levels\":[{"
                              "\"nodeLabel\":\"\"}]}}"),
                  &e),
        SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.levels");
    assert_false(sl_trees_known(cluster_tree(&w, "tas")));
}

static void test_trees_in_without_the_gate_flavors_have_no_topology(void **state)
{
    (void)state;
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.policy.topology = false;
    world_close(&w);
    world_open_with(&w, NULL, &settings);
    world_add_flavor(&w, "tas", "{\"topologyName\":\"topo\"}");
    world_add_cluster_queue(&w, "cq", "tas", "10", "");
    assert_false(sl_trees_asked(cluster_tree(&w, "tas")));
    struct sl_json *status = sl_engine_queue_status(w.engine, SL_KIND_CLUSTER_QUEUE, "", "cq");
    assert_string_equal(sl_json_path_text(status, "active.reason", ""), "Ready");
    sl_json_free(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trees_in_bottom_above_nodes_sums_its_nodes, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_trees_in_bottom_above_nodes_belongs_to_its_flavor_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trees_in_names_lead_there_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trees_in_domain_of_a_missing_node_is_hidden_again,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_trees_in_topology_missing_makes_queues_inactive, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_trees_in_other_levels_lay_the_tree_out_anew, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_trees_in_sixteen_levels_and_no_more, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trees_in_bad_levels_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trees_in_without_the_gate_flavors_have_no_topology,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
