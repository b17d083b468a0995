/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cluster.h"
#include "scene.h"
#include "policy/requests/requests.h"
#include "policy/requests/topology_request.h"

/* The workload's only pod set, with that request and template. */
static struct sl_topology_request ask_with(const char *name, const char *request, const char *spec)
{
    char text[2048];
    char key[64];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"team\",\"name\":\"%s\"},\"spec\":{\"queueName\":"
                   "\"lq\",\"podSets\":[{\"name\":\"main\",\"count\":1%s,\"template\":{\"spec\":"
                   "%s}}]}}",
                   name, request, spec);
    world_add(&w, SL_KIND_WORKLOAD, text);
    (void)snprintf(key, sizeof key, "team/%s", name);
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, key);
    return sl_topology_request_of(sl_requests_first_pod_set(id));
}

static struct sl_topology_request ask(const char *name, const char *request)
{
    return ask_with(
        name, request,
        "{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}");
}

static void expect_level(sl_level_id level, const char *key)
{
    assert_string_equal(sl_names_level_key(w.engine, level), key);
}

static void test_topology_in_required_and_preferred_name_a_level(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    struct sl_topology_request d = ask("a", ",\"topologyRequest\":{\"required\":\"rack\"}");
    assert_int_equal(d.together, SL_TOGETHER_REQUIRED);
    assert_true(d.asked);
    expect_level(d.level, "rack");
    assert_int_equal(d.rank_group, SL_NO_ID);
    d = ask("b", ",\"topologyRequest\":{\"preferred\":\"block\"}");
    assert_int_equal(d.together, SL_TOGETHER_PREFERRED);
    expect_level(d.level, "block");
    d = ask("c", ",\"topologyRequest\":{\"unconstrained\":true}");
    assert_int_equal(d.together, SL_TOGETHER_UNCONSTRAINED);
    assert_int_equal(d.level, SL_NO_ID);
}

static void test_topology_in_slices_stand_outermost_first(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    struct sl_topology_request d = ask("a", ",\"topologyRequest\":{\"podSetSliceRequiredTopology\":"
                                            "\"rack\",\"podSetSliceSize\":2}");
    assert_int_equal(d.together, SL_TOGETHER_UNASKED);
    assert_true(d.asked);
    assert_int_equal(d.layer_count, 1);
    assert_int_equal(d.layers[0].size, 2);
    expect_level(d.layers[0].level, "rack");
    d = ask("b", ",\"topologyRequest\":{\"required\":\"block\","
                 "\"podsetSliceRequiredTopologyConstraints\":[{\"topology\":\"rack\",\"size\":4},{"
                 "\"topology\":\"kubernetes.io/hostname\",\"size\":2}]}");
    assert_int_equal(d.layer_count, 2);
    assert_int_equal(d.layers[0].size, 4);
    assert_int_equal(d.layers[1].size, 2);
    expect_level(d.layers[1].level, "kubernetes.io/hostname");
    d = ask("c", ",\"topologyRequest\":{\"podSetSliceRequiredTopology\":\"rack\"}");
    assert_int_equal(d.layer_count, 1);
    assert_int_equal(d.layers[0].size, 0);
}

static void test_topology_in_pods_ask_what_their_spec_does(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    struct sl_topology_request d = ask_with(
        "a", ",\"topologyRequest\":{\"required\":\"rack\"}",
        "{\"overhead\":{\"cpu\":\"100m\"},\"initContainers\":[{\"name\":\"i\",\"resources\":{"
        "\"requests\":{\"cpu\":\"3\"}}}],\"containers\":[{\"name\":\"c\",\"resources\":{"
        "\"requests\":{\"cpu\":\"1\",\"memory\":\"1Ki\",\"x.com/none\":\"0\"}}}]}");
    assert_int_equal(d.request_count, 2);
    assert_string_equal(sl_names_measure(w.engine, d.requests[0].measure), "cpu");
    assert_int_equal(d.requests[0].per_pod, 3100);
    assert_string_equal(sl_names_measure(w.engine, d.requests[1].measure), "memory");
    assert_int_equal(d.requests[1].per_pod, 1024);
}

static void test_topology_in_quota_that_is_counted_otherwise_changes_nothing_on_nodes(void **state)
{
    (void)state;
    static const char *const excluded[] = {"memory"};
    static const struct sl_transformation_output outputs[] = {{"credits", 5000}};
    static const struct sl_transformation transformations[] = {
        {.input = "cpu", .output_count = 1, .outputs = outputs}};
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.excluded_prefix_count = 1;
    settings.excluded_prefixes = excluded;
    settings.transformation_count = 1;
    settings.transformations = transformations;
    world_close(&w);
    world_open_with(&w, NULL, &settings);
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    struct sl_topology_request d =
        ask_with("a", ",\"topologyRequest\":{\"required\":\"rack\"}",
                 "{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\","
                 "\"memory\":\"1Ki\"}}}]}");
    assert_int_equal(d.request_count, 2);
    assert_int_equal(d.requests[0].per_pod, 2000);
    assert_int_equal(d.requests[1].per_pod, 1024);
    world_add_flavor(&w, "tas", "{\"topologyName\":\"topo\",\"nodeLabels\":{\"a\":\"b\"}}");
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, "team/a");
    d = sl_topology_request_of(sl_requests_first_pod_set(id)); /* made anew for the flavor */
    assert_int_equal(d.request_count, 2);
    assert_int_equal(d.requests[0].per_pod, 2000);
}

static void test_topology_in_groups_are_numbered(void **state)
{
    (void)state;
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "10");
    world_add(&w, SL_KIND_WORKLOAD,
              "{\"metadata\":{\"namespace\":\"team\",\"name\":\"a\"},\"spec\":{\"queueName\":"
              "\"lq\",\"podSets\":[{\"name\":\"x\",\"count\":1,\"template\":{\"spec\":{}}},{"
              "\"name\":\"l\",\"count\":1,\"topologyRequest\":{\"required\":\"rack\","
              "\"podSetGroupName\":\"g\"},\"template\":{\"spec\":{}}},{\"name\":\"m\",\"count\":2,"
              "\"topologyRequest\":{\"required\":\"rack\",\"podSetGroupName\":\"g\"},\"template\":{"
              "\"spec\":{}}}]}}");
    uint32_t set =
        sl_requests_first_pod_set(sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, "team/a"));
    assert_int_equal(sl_topology_request_of(set).rank_group, SL_NO_ID);
    set = sl_requests_next_pod_set(set);
    uint32_t group = sl_topology_request_of(set).rank_group;
    assert_int_not_equal(group, SL_NO_ID);
    set = sl_requests_next_pod_set(set);
    assert_int_equal(sl_topology_request_of(set).rank_group, group);
}

static void test_topology_in_nothing_is_said_where_nothing_asks(void **state)
{
    (void)state;
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", "");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    assert_int_equal(ask("a", "").request_count, 0);
    cluster_add_topology(&w, "topo");
    world_add_flavor(&w, "spot", "{\"topologyName\":\"topo\"}");
    struct sl_topology_request d = ask("b", ""); /* implied: the queue has nothing else */
    assert_int_equal(d.together, SL_TOGETHER_UNASKED);
    assert_false(d.asked);
    assert_int_equal(d.request_count, 1);
    assert_int_not_equal(d.mask, SL_NO_ID);
    sl_workload_id id = sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, "team/a");
    assert_int_equal(sl_topology_request_of(sl_requests_first_pod_set(id)).request_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_topology_in_required_and_preferred_name_a_level, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_topology_in_slices_stand_outermost_first, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_topology_in_pods_ask_what_their_spec_does, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_topology_in_quota_that_is_counted_otherwise_changes_nothing_on_nodes, setup,
            teardown),
        cmocka_unit_test_setup_teardown(test_topology_in_groups_are_numbered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_topology_in_nothing_is_said_where_nothing_asks, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
