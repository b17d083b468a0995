/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads of namespaces that their ClusterQueue does not take: told once, by the cycle that comes
 * to them; tried as soon as that changes. */
#include "scene.h"

#define REFUSAL "workload namespace doesn't match ClusterQueue selector"

/* Namespace "team" without labels, and a queue that takes those of department x alone. */
static int setup_outsiders(void **state)
{
    (void)setup(state);
    world_add(&w, SL_KIND_NAMESPACE, "{\"metadata\":{\"name\":\"team\"}}");
    world_add_basics(&w);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"namespaceSelector\":{\"matchLabels\":{\"dept\":\"x\"}}}}");
    return 0;
}

static void assert_refused(const char *name)
{
    world_expect(&w, name, "QuotaReserved", "False", "Misconfigured");
    const struct sl_json *c = sl_condition_find(world_workload(&w, name), "QuotaReserved");
    assert_string_equal(sl_json_path_text(c, "message", ""), REFUSAL);
}

static void label(const char *dept)
{
    char patch[100];
    (void)snprintf(patch, sizeof patch, "{\"metadata\":{\"labels\":{\"dept\":\"%s\"}}}", dept);
    (void)world_patch(&w, SL_KIND_NAMESPACE, "", "team", patch);
}

static void test_outsiders_are_refused_one_a_cycle(void **state)
{
    (void)state;
    struct sl_decision d;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_add_workload(&w, "b", "lq", 1, "1");
    assert_false(sl_engine_next_decision(w.engine, &d)); /* not before its turn */
    (void)sl_engine_cycle(w.engine, w.now_ms);
    assert_true(sl_engine_next_decision(w.engine, &d));
    assert_string_equal(d.name, "a");
    assert_string_equal(d.message, REFUSAL);
    (void)world_answer(&w, &d, world_write(&w, &d, world_workload(&w, "a")));
    assert_false(sl_engine_next_decision(w.engine, &d));
    world_settle(&w);
    assert_refused("a");
    assert_refused("b");
    assert_int_equal(world_count_cq(&w, "pendingWorkloads"), 2);
}

static void test_outsiders_are_not_tried_again_in_vain(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    assert_int_equal(w.writes, 1);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"queueingStrategy\":\"StrictFIFO\"}}");
    label("y");
    world_add_flavor(&w, "spot", "{\"nodeLabels\":{\"type\":\"spot\"}}");
    world_pass(&w, 60000);
    assert_int_equal(w.writes, 1);
    assert_refused("a");
}

static void test_outsiders_are_admitted_once_their_namespace_is_labelled(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    label("x");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_outsiders_are_admitted_once_the_selector_takes_them(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"namespaceSelector\":{\"matchLabels\":null}}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_outsiders_do_not_hold_up_others_of_a_strict_queue(void **state)
{
    (void)state;
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"queueingStrategy\":\"StrictFIFO\"}}");
    world_add(&w, SL_KIND_NAMESPACE,
              "{\"metadata\":{\"name\":\"in\",\"labels\":{\"dept\":\"x\"}}}");
    world_add_local_queue(&w, "in", "lq", "cq");
    world_add_workload(&w, "a", "lq", 1, "1");
    (void)world_put(&w, SL_KIND_WORKLOAD, world_new_workload("in", "b", "lq", 1, "1"), NULL);
    world_settle(&w);
    assert_refused("a");
    assert_true(sl_condition_true(world_get(&w, SL_KIND_WORKLOAD, "in", "b"), "Admitted"));
}

static void test_outsiders_keep_the_quota_that_they_hold(void **state)
{
    (void)state;
    label("x");
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    label("y");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    assert_refused("a");
}

static void test_outsiders_told_something_else_before_are_told(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "later", 1, "1");
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "Misconfigured");
    world_add_local_queue(&w, "team", "later", "cq");
    world_settle(&w);
    assert_refused("a");
}

static void test_outsiders_are_not_told_again_after_a_restart(void **state)
{
    (void)state;
    static const enum sl_kind order[] = {SL_KIND_WORKLOAD, SL_KIND_NAMESPACE,
                                         SL_KIND_RESOURCE_FLAVOR, SL_KIND_LOCAL_QUEUE,
                                         SL_KIND_CLUSTER_QUEUE};
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    assert_int_equal(w.writes, 1);
    world_restart(&w, order, sizeof order / sizeof order[0]);
    world_settle(&w);
    assert_int_equal(w.writes, 1);
    assert_refused("a");
    label("x");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_outsiders_are_listed_with_what_is_in_their_way(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    struct sl_json *list = world_pending(&w, "cq", NULL);
    assert_int_equal(sl_json_len(list), 1);
    assert_string_equal(sl_json_path_text(sl_json_at(list, 0), "place", ""), "parked");
    assert_string_equal(sl_json_path_text(sl_json_at(list, 0), "message", ""), REFUSAL);
    sl_json_free(list);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_outsiders, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_outsiders_are_refused_one_a_cycle),
        TEST(test_outsiders_are_not_tried_again_in_vain),
        TEST(test_outsiders_are_admitted_once_their_namespace_is_labelled),
        TEST(test_outsiders_are_admitted_once_the_selector_takes_them),
        TEST(test_outsiders_do_not_hold_up_others_of_a_strict_queue),
        TEST(test_outsiders_keep_the_quota_that_they_hold),
        TEST(test_outsiders_told_something_else_before_are_told),
        TEST(test_outsiders_are_not_told_again_after_a_restart),
        TEST(test_outsiders_are_listed_with_what_is_in_their_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
