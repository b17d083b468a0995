/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who stands on which node, as workloads come and go. */
#include "cluster.h"
#include "scene.h"
#include "engine/records/tenants.h"

static int setup_tenants(void **state)
{
    (void)setup(state);
    cluster_add_basics(&w, "{\"topologyName\":\"topo\"}", "40");
    cluster_put_node(&w, "n1", "b1", "r1", "4", "");
    cluster_put_node(&w, "n2", "b1", "r1", "4", "");
    return 0;
}

static void add_workload(const char *name, int count)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, "1");
    sl_json_set(sl_json_path(o, "spec.podSets.0"), "topologyRequest",
                world_parse("{\"preferred\":\"rack\"}"));
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    world_settle(&w);
}

static sl_workload_id id_of(const char *name)
{
    char key[64];
    (void)snprintf(key, sizeof key, "team/%s", name);
    return sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, key);
}

static uint32_t count_on(const char *host)
{
    const struct sl_tenants *t = w.engine->tenants;
    uint32_t count = 0;
    uint32_t row = sl_tenants_first(t, cluster_find_host(w.engine, host));
    for (; row != SL_NO_ID; row = sl_tenants_next(t, row)) {
        assert_int_equal(sl_tenants_site(t, row), cluster_find_host(w.engine, host));
        count++;
    }
    return count;
}

static uint32_t count_of(const char *name)
{
    const struct sl_tenants *t = w.engine->tenants;
    uint32_t count = 0;
    uint32_t row = sl_tenants_first_of(t, id_of(name));
    for (; row != SL_NO_ID; row = sl_tenants_next_of(t, row)) {
        assert_int_equal(sl_tenants_workload(t, row), id_of(name));
        count++;
    }
    return count;
}

static void test_tenants_workloads_of_a_node_are_listed_both_ways(void **state)
{
    (void)state;
    add_workload("a", 6);
    add_workload("b", 1);
    assert_int_equal(count_of("a"), 2);
    assert_int_equal(count_of("b"), 1);
    assert_int_equal(count_on("n1") + count_on("n2"), 3);
    sl_site_id n1 = cluster_find_host(w.engine, "n1");
    assert_int_not_equal(sl_tenants_find(w.engine->tenants, id_of("a"), n1), SL_NO_ID);
}

static void test_tenants_who_leaves_is_listed_no_more_and_others_stay(void **state)
{
    (void)state;
    add_workload("a", 2);
    add_workload("b", 1);
    add_workload("c", 1);
    uint32_t before = count_on("n1");
    assert_int_equal(before, 3);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "b");
    assert_int_equal(count_on("n1"), 2);
    assert_int_equal(count_of("a"), 1);
    assert_int_equal(count_of("c"), 1);
    add_workload("d", 1); /* gets the row that became free */
    assert_int_equal(count_on("n1"), 3);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "c");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "d");
    assert_int_equal(count_on("n1"), 0);
}

static void test_tenants_two_pod_sets_on_one_node_are_one_row(void **state)
{
    (void)state;
    struct sl_json *o = world_new_workload("team", "a", "lq", 1, "1");
    struct sl_json *sets = sl_json_path(o, "spec.podSets");
    struct sl_json *second = sl_json_clone(sl_json_at(sets, 0));
    sl_json_set_text(second, "name", "second");
    sl_json_append(sets, second);
    for (size_t i = 0; i < 2; i++) {
        sl_json_set(sl_json_at(sets, i), "topologyRequest",
                    world_parse("{\"required\":\"kubernetes.io/hostname\"}"));
    }
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    world_settle(&w);
    assert_int_equal(sl_topology_assignment_count(id_of("a")), 2);
    assert_int_equal(count_of("a"), 1);
}

static void test_tenants_loss_is_remembered_until_it_stands_elsewhere(void **state)
{
    (void)state;
    add_workload("a", 1);
    struct sl_tenants *t = w.engine->tenants;
    uint32_t row = sl_tenants_first_of(t, id_of("a"));
    assert_false(sl_tenants_has_lost(t, row));
    sl_tenants_note_loss(t, row);
    assert_true(sl_tenants_has_lost(t, row));
    sl_tenants_list(t, id_of("a"));
    assert_false(sl_tenants_has_lost(t, sl_tenants_first_of(t, id_of("a"))));
}

static void test_tenants_what_was_never_seen_has_no_rows(void **state)
{
    (void)state;
    assert_int_equal(sl_tenants_first(w.engine->tenants, 70000), SL_NO_ID);
    assert_int_equal(sl_tenants_first_of(w.engine->tenants, 70000), SL_NO_ID);
    assert_false(sl_tenants_listed(w.engine->tenants, 70000));
    assert_int_equal(sl_tenants_find(w.engine->tenants, 0, 70000), SL_NO_ID);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_tenants, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_tenants_workloads_of_a_node_are_listed_both_ways),
        TEST(test_tenants_who_leaves_is_listed_no_more_and_others_stay),
        TEST(test_tenants_two_pod_sets_on_one_node_are_one_row),
        TEST(test_tenants_loss_is_remembered_until_it_stands_elsewhere),
        TEST(test_tenants_what_was_never_seen_has_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
