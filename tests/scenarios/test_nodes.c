/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Scenarios S42 to S55, S58 and S59: nodes fail, and only the pods on them move. Rack r1 has the
 * nodes x1 to x5 and r2 has y1 to y5, one cpu each. */
#include "scene.h"

static struct world w;
static struct sl_engine_settings settings;

static void open_world(void)
{
    world_open_with(&w, NULL, &settings);
    for (int i = 1; i <= 5; i++) {
        char x[4];
        char y[4];
        (void)snprintf(x, sizeof x, "x%d", i);
        (void)snprintf(y, sizeof y, "y%d", i);
        scene_add_node(&w, x, "r1", 1);
        scene_add_node(&w, y, "r2", 1);
    }
}

static int setup(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    open_world();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_check(&w);
    world_close(&w);
    return 0;
}

static void reopen(void)
{
    world_close(&w);
    open_world();
}

static void start(const char *request)
{
    scene_add_queue(&w, "20", ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 4, request, 0);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(scene_where(&w, "a"), "x1=1 x2=1 x3=1 x4=1");
}

/* Of one pod, so that it takes a node and nothing else. */
static void occupy(const char *name, const char *node)
{
    struct sl_json *o = scene_new(name, 1, UNCONSTRAINED);
    sl_json_set(sl_json_path(o, "spec.podSets.0.template.spec"), "nodeSelector", sl_json_new_map());
    sl_json_set_text(sl_json_path(o, "spec.podSets.0.template.spec.nodeSelector"),
                     "kubernetes.io/hostname", node);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    char where[40];
    (void)snprintf(where, sizeof where, "%s=1", node);
    assert_string_equal(scene_where(&w, name), where);
}

static void lose(const char *node)
{
    scene_delete_node(&w, node);
    world_pass(&w, SETTLE_MS);
}

static void set_ready(const char *node, const char *rack, bool ready)
{
    scene_put_node(&w, node, rack, 1, ready ? "True" : "False", "[]");
    world_pass(&w, SETTLE_MS);
}

static void taint(const char *node, const char *rack, const char *effect)
{
    char taints[100];
    (void)snprintf(taints, sizeof taints, "[{\"key\":\"broken\",\"effect\":\"%s\"}]", effect);
    scene_put_node(&w, node, rack, 1, "True", taints);
    world_pass(&w, SETTLE_MS);
}

static void put_pods(const char *phase)
{
    static const char *const nodes[] = {"x1", "x2", "x3", "x4"};
    for (size_t i = 0; i < 4; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "p%zu", i + 1);
        scene_put_pod(&w, name, "a", nodes[i], phase);
    }
}

static void expect_where(const char *workload, const char *where)
{
    assert_string_equal(scene_where(&w, workload), where);
}

/* --- in place --------------------------------------------------------------------------------- */

static void test_S42_only_the_pod_of_the_deleted_node_moves_within_the_rack(void **state)
{
    (void)state;
    start(REQUIRED_RACK);
    struct sl_json *admitted =
        sl_json_clone(sl_condition_find(world_workload(&w, "a"), "Admitted"));
    lose("x1");
    assert_string_equal(scene_marked(&w, "a"), "x1");
    expect_where("a", "x1=1 x2=1 x3=1 x4=1");
    unsigned writes = w.writes;
    world_pass(&w, SECOND);
    assert_int_equal(w.writes, writes + 1);
    expect_where("a", "x2=1 x3=1 x4=1 x5=1");
    assert_string_equal(scene_marked(&w, "a"), "");
    scene_expect_untouched(&w, "a");
    assert_true(sl_json_equal(admitted, sl_condition_find(world_workload(&w, "a"), "Admitted")));
    sl_json_free(admitted);
    scene_expect_passes(&w, 0, 0, 1, 0);
}

static void test_S43_preferred_rack_that_is_full_lets_it_move_to_another(void **state)
{
    (void)state;
    start(PREFERRED_RACK);
    occupy("filler", "x5");
    lose("x1");
    world_pass(&w, SECOND);
    expect_where("a", "x2=1 x3=1 x4=1 y1=1");
    scene_expect_untouched(&w, "a");
}

static void test_S44_required_rack_that_is_full_evicts_and_places_elsewhere(void **state)
{
    (void)state;
    start(REQUIRED_RACK);
    occupy("filler", "x5");
    lose("x1");
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Evicted", "True", "NodeFailures");
    const char *text =
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", "");
    assert_non_null(strstr(text, "x1"));
    assert_string_equal(scene_marked(&w, "a"), "");
    scene_stop(&w, "a");
    world_expect(&w, "a", "Requeued", "True", "NodeFailures");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    expect_where("a", "y1=1 y2=1 y3=1 y4=1");
}

/* In its queue it keeps the place that its priority gives it. */
static void test_S44_evicted_for_its_node_it_goes_before_lower_priorities(void **state)
{
    (void)state;
    start(REQUIRED_RACK);
    occupy("filler", "x5");
    lose("x1");
    scene_add(&w, "low", 4, REQUIRED_RACK, -5);
    expect_where("low", "y1=1 y2=1 y3=1 y4=1");
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Evicted", "True", "NodeFailures");
    scene_stop(&w, "a");
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    scene_stop(&w, "low");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    expect_where("a", "y1=1 y2=1 y3=1 y4=1");
}

static void test_S45_without_fail_fast_it_tries_until_a_node_is_free(void **state)
{
    (void)state;
    static const int delays[] = {2, 4, 8, 16, 30, 30};
    settings.policy.fail_fast = false;
    reopen();
    start(REQUIRED_RACK);
    occupy("filler", "x5");
    lose("x1");
    world_pass(&w, SECOND);
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        assert_string_equal(scene_marked(&w, "a"), "x1");
        scene_expect_untouched(&w, "a");
        assert_int_equal(scene_next_pass(), w.now_ms + delays[i] * SECOND);
        world_pass(&w, delays[i] * SECOND);
    }
    scene_add_node(&w, "x6", "r1", 1);
    world_pass(&w, 30 * SECOND);
    expect_where("a", "x2=1 x3=1 x4=1 x6=1");
    assert_string_equal(scene_marked(&w, "a"), "");
    scene_expect_untouched(&w, "a");
    scene_expect_passes(&w, 0, 7, 1, 0);
}

/* Kueue evicts at the second failure. */
static void test_S46_several_failed_nodes_are_replaced_in_one_pass(void **state)
{
    (void)state;
    start(PREFERRED_RACK);
    lose("x1");
    lose("x2");
    assert_string_equal(scene_marked(&w, "a"), "x1,x2");
    unsigned writes = w.writes;
    world_pass(&w, SECOND);
    assert_int_equal(w.writes, writes + 1);
    expect_where("a", "x3=1 x4=1 y1=1 y2=1"); /* the two that move stay together */
    assert_string_equal(scene_marked(&w, "a"), "");
    scene_expect_untouched(&w, "a");
}

static void test_S46_several_failed_nodes_without_a_place_evict_and_name_both(void **state)
{
    (void)state;
    start(REQUIRED_RACK);
    lose("x1");
    lose("x2");
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Evicted", "True", "NodeFailures");
    const char *text =
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", "");
    assert_non_null(strstr(text, "x1"));
    assert_non_null(strstr(text, "x2"));
}

/* As Kueue does it, where that is asked for. */
static void test_S46_second_failed_node_evicts_where_one_is_replaced(void **state)
{
    (void)state;
    settings.policy.replace_several = false;
    reopen();
    start(PREFERRED_RACK);
    lose("x1");
    assert_string_equal(scene_marked(&w, "a"), "x1");
    lose("x2");
    world_expect(&w, "a", "Evicted", "True", "NodeFailures");
    const char *text =
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "message", "");
    assert_non_null(strstr(text, "x1"));
    assert_non_null(strstr(text, "x2"));
    scene_stop(&w, "a");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_S46_one_failed_node_after_the_other_is_replaced_where_one_is(void **state)
{
    (void)state;
    settings.policy.replace_several = false;
    reopen();
    start(REQUIRED_RACK);
    lose("x1");
    world_pass(&w, SECOND);
    expect_where("a", "x2=1 x3=1 x4=1 x5=1");
    scene_add_node(&w, "x6", "r1", 1);
    world_settle(&w);
    lose("x2");
    world_pass(&w, SECOND);
    expect_where("a", "x3=1 x4=1 x5=1 x6=1");
    scene_expect_untouched(&w, "a");
}

/* --- when a node counts as failed ------------------------------------------------------------- */

static void test_S47_unready_node_is_marked_once_its_pod_is_gone(void **state)
{
    (void)state;
    start(REQUIRED_RACK);
    put_pods("Running");
    set_ready("x1", "r1", false);
    world_pass(&w, 60 * SECOND);
    assert_string_equal(scene_marked(&w, "a"), "");
    expect_where("a", "x1=1 x2=1 x3=1 x4=1");
    world_delete(&w, SL_KIND_POD, "team", "p1");
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "x1");
    world_pass(&w, SECOND);
    expect_where("a", "x2=1 x3=1 x4=1 x5=1");
}

static void test_S47_a_pod_that_is_terminating_does_not_hold_up_the_mark(void **state)
{
    (void)state;
    start(REQUIRED_RACK);
    put_pods("Running");
    set_ready("x1", "r1", false);
    (void)world_patch(&w, SL_KIND_POD, "team", "p1",
                      "{\"metadata\":{\"deletionTimestamp\":\"2027-01-15T08:00:00Z\"}}");
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "x1");
}

static void test_S48_tolerated_eviction_taint_marks_once_the_pods_are_gone(void **state)
{
    (void)state;
    scene_add_queue(&w, "20", "");
    sl_engine_synced(w.engine, w.now_ms);
    struct sl_json *o = scene_new("a", 4, REQUIRED_RACK);
    sl_json_set(sl_json_path(o, "spec.podSets.0.template.spec"), "tolerations",
                world_parse("[{\"key\":\"broken\",\"operator\":\"Exists\",\"effect\":"
                            "\"NoExecute\",\"tolerationSeconds\":300}]"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    expect_where("a", "x1=1 x2=1 x3=1 x4=1");
    put_pods("Running");
    taint("x1", "r1", "NoExecute");
    world_pass(&w, 10 * SECOND);
    assert_string_equal(scene_marked(&w, "a"), "");
    world_delete(&w, SL_KIND_POD, "team", "p1");
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "x1");
}

static void test_S49_taint_against_new_pods_marks_once_none_runs_there(void **state)
{
    (void)state;
    start(REQUIRED_RACK);
    put_pods("Running");
    taint("x1", "r1", "NoSchedule");
    world_pass(&w, 60 * SECOND);
    assert_string_equal(scene_marked(&w, "a"), "");
    scene_put_pod(&w, "p1", "a", "x1", "Failed");
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "x1");
    world_pass(&w, SECOND);
    expect_where("a", "x2=1 x3=1 x4=1 x5=1");
}

static void test_S50_node_that_recovers_in_time_changes_nothing(void **state)
{
    (void)state;
    start(REQUIRED_RACK);
    lose("x1");
    assert_string_equal(scene_marked(&w, "a"), "x1");
    assert_int_equal(sl_second_pass_count(), 1);
    scene_add_node(&w, "x1", "r1", 1);
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "");
    assert_int_equal(sl_second_pass_count(), 0);
    world_pass(&w, 10 * SECOND);
    expect_where("a", "x1=1 x2=1 x3=1 x4=1");
    scene_expect_untouched(&w, "a");
}

/* --- others ----------------------------------------------------------------------------------- */

static void test_S51_of_two_workloads_one_gets_the_last_spare_node(void **state)
{
    (void)state;
    settings.policy.fail_fast = false;
    reopen();
    scene_add_queue(&w, "20", "");
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 2, REQUIRED_RACK, 0);
    expect_where("a", "x1=1 x2=1");
    scene_add(&w, "b", 2, REQUIRED_RACK, 0);
    expect_where("b", "x3=1 x4=1");
    scene_delete_node(&w, "x1");
    scene_delete_node(&w, "x3");
    world_pass(&w, SETTLE_MS);
    world_pass(&w, SECOND);
    bool a = strcmp(scene_where(&w, "a"), "x2=1 x5=1") == 0;
    bool b = strcmp(scene_where(&w, "b"), "x4=1 x5=1") == 0;
    assert_true(a != b);
    assert_string_equal(scene_marked(&w, a ? "b" : "a"), a ? "x3" : "x1");
    scene_expect_untouched(&w, "a");
    scene_expect_untouched(&w, "b");
}

static void test_S54_other_node_of_the_assignment_that_is_gone_is_named(void **state)
{
    (void)state;
    settings.policy.fail_fast = false;
    reopen();
    start(REQUIRED_RACK);
    /* x2 loses the label of the flavor: it is there, and no place of the topology any more */
    world_add(&w, SL_KIND_NODE,
              "{\"metadata\":{\"name\":\"x2\",\"labels\":{\"kubernetes.io/hostname\":\"x2\"}},"
              "\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"1\",\"pods\":\"9\"},"
              "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
    world_pass(&w, SETTLE_MS);
    lose("x1");
    w.last_message[0] = '\0';
    world_pass(&w, SECOND);
    expect_where("a", "x1=1 x2=1 x3=1 x4=1");
    assert_non_null(strstr(w.last_message, "x2"));
    scene_expect_untouched(&w, "a");
}

static void test_S55_workload_of_a_single_pod_keeps_its_place_and_loses_the_mark(void **state)
{
    (void)state;
    scene_add_queue(&w, "20", "");
    sl_engine_synced(w.engine, w.now_ms);
    struct sl_json *o = scene_new("a", 1, REQUIRED_RACK);
    sl_json_set(sl_json_get(o, "metadata"), "ownerReferences",
                world_parse("[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":"
                            "\"00000000-0000-4000-8000-00000000aaaa\",\"controller\":true}]"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    expect_where("a", "x1=1");
    lose("x1");
    scene_mark(&w, "a", "x1");
    world_settle(&w);
    assert_string_equal(scene_marked(&w, "a"), "x1");
    world_pass(&w, SECOND);
    expect_where("a", "x1=1");
    assert_string_equal(scene_marked(&w, "a"), "");
    scene_expect_untouched(&w, "a");
    world_pass(&w, 60 * SECOND);
    assert_string_equal(scene_marked(&w, "a"), "");
}

static void test_S58_recovery_timeout_evicts_while_a_node_is_marked(void **state)
{
    (void)state;
    settings.policy.fail_fast = false;
    settings.ready_ms_max = 300 * SECOND;
    settings.recovery_ms_max = 60 * SECOND;
    reopen();
    start(REQUIRED_RACK);
    occupy("filler", "x5");
    struct sl_json *ready = sl_json_clone(world_workload(&w, "a"));
    (void)sl_condition_set(sl_json_path(ready, "status"), "PodsReady", true, "Started", "", 1,
                           w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, ready, NULL);
    world_settle(&w);
    world_pass(&w, SECOND);
    lose("x1");
    struct sl_json *unready = sl_json_clone(world_workload(&w, "a"));
    (void)sl_condition_set(sl_json_path(unready, "status"), "PodsReady", false, "WaitForRecovery",
                           "", 1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, unready, NULL);
    world_settle(&w);
    world_pass(&w, 59 * SECOND);
    assert_string_equal(scene_marked(&w, "a"), "x1");
    assert_false(sl_condition_true(world_workload(&w, "a"), "Evicted"));
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Evicted", "True", "PodsReadyTimeout");
    assert_string_equal(scene_marked(&w, "a"), "");
    assert_int_equal(sl_second_pass_count(), 0);
}

/* A spare node with a workload of lower priority on it is no spare node. */
static void test_S59_replacement_never_preempts(void **state)
{
    (void)state;
    settings.policy.fail_fast = false;
    reopen();
    scene_add_queue(&w, "20", ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 4, REQUIRED_RACK, 10);
    expect_where("a", "x1=1 x2=1 x3=1 x4=1");
    occupy("low", "x5");
    lose("x1");
    world_pass(&w, 60 * SECOND);
    assert_string_equal(scene_marked(&w, "a"), "x1");
    assert_null(sl_condition_find(world_workload(&w, "low"), "Preempted"));
    assert_null(sl_condition_find(world_workload(&w, "low"), "Evicted"));
    scene_expect_untouched(&w, "a");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
/* --- S34: a victim that stands on the nodes, and vanishes while its eviction is written --------- */

/* Nobody tells of its deletion but the write: that it is not found has to free its nodes. */
static void test_S34_victim_on_nodes_that_is_not_found_leaves_them_to_the_preemptor(void **state)
{
    (void)state;
    struct sl_decision d;
    bool evicting = false;
    start(REQUIRED_RACK);
    (void)world_put(&w, SL_KIND_WORKLOAD, scene_new("high", 10, UNCONSTRAINED), NULL);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "high", "{\"spec\":{\"priority\":5}}");
    (void)sl_engine_cycle(w.engine, w.now_ms);
    while (sl_engine_next_decision(w.engine, &d)) {
        bool victim = strcmp(d.name, "a") == 0;
        evicting = evicting || (victim && d.kind == SL_DECIDE_EVICT);
        enum sl_code code =
            victim ? SL_CODE_NOT_FOUND
                   : world_write(&w, &d, world_get(&w, SL_KIND_WORKLOAD, d.ns, d.name));
        (void)world_answer(&w, &d, code);
    }
    assert_true(evicting);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    for (int i = 0; i < 3; i++) {
        (void)sl_engine_cycle(w.engine, w.now_ms);
    }
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a"); /* told late */
    world_settle(&w);
    world_expect(&w, "high", "Admitted", "True", "Admitted");
    expect_where("high", "x1=1 x2=1 x3=1 x4=1 x5=1 y1=1 y2=1 y3=1 y4=1 y5=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_S34_victim_on_nodes_that_is_not_found_leaves_them_to_the_preemptor),
        TEST(test_S42_only_the_pod_of_the_deleted_node_moves_within_the_rack),
        TEST(test_S43_preferred_rack_that_is_full_lets_it_move_to_another),
        TEST(test_S44_required_rack_that_is_full_evicts_and_places_elsewhere),
        TEST(test_S44_evicted_for_its_node_it_goes_before_lower_priorities),
        TEST(test_S45_without_fail_fast_it_tries_until_a_node_is_free),
        TEST(test_S46_several_failed_nodes_are_replaced_in_one_pass),
        TEST(test_S46_several_failed_nodes_without_a_place_evict_and_name_both),
        TEST(test_S46_second_failed_node_evicts_where_one_is_replaced),
        TEST(test_S46_one_failed_node_after_the_other_is_replaced_where_one_is),
        TEST(test_S47_unready_node_is_marked_once_its_pod_is_gone),
        TEST(test_S47_a_pod_that_is_terminating_does_not_hold_up_the_mark),
        TEST(test_S48_tolerated_eviction_taint_marks_once_the_pods_are_gone),
        TEST(test_S49_taint_against_new_pods_marks_once_none_runs_there),
        TEST(test_S50_node_that_recovers_in_time_changes_nothing),
        TEST(test_S51_of_two_workloads_one_gets_the_last_spare_node),
        TEST(test_S54_other_node_of_the_assignment_that_is_gone_is_named),
        TEST(test_S55_workload_of_a_single_pod_keeps_its_place_and_loses_the_mark),
        TEST(test_S58_recovery_timeout_evicts_while_a_node_is_marked),
        TEST(test_S59_replacement_never_preempts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
