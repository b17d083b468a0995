/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Scenarios S01 to S12: who is taken by a second pass for failed nodes, and that what marks them is
 * written together with what it marks. Four nodes in two racks; "a" has four pods on all of r1. */
#include "scene.h"

static struct world w;
static struct sl_engine_settings settings;

static int setup(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    world_open_with(&w, NULL, &settings);
    scene_add_racks(&w);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_check(&w);
    world_close(&w);
    return 0;
}

static void start(void)
{
    scene_add_queue(&w, "8", "");
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 4, PREFERRED_RACK, 0);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
}

static void finish(const char *name)
{
    struct sl_json *copy = sl_json_clone(world_workload(&w, name));
    (void)sl_condition_set(sl_json_path_make(copy, "status"), "Finished", true, "Succeeded", "done",
                           1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, copy, NULL);
    world_settle(&w);
}

static void expect_no_pass(void)
{
    unsigned writes = w.writes;
    assert_int_equal(sl_second_pass_count(), 0);
    for (int i = 0; i < 40; i++) {
        world_pass(&w, SECOND);
    }
    assert_int_equal(w.writes, writes);
    assert_int_equal(sl_second_pass_count(), 0);
}

static void test_S01_finished_with_a_mark_takes_no_pass_and_is_not_written(void **state)
{
    (void)state;
    start();
    finish("a");
    unsigned writes = w.writes;
    scene_mark(&w, "a", "x1");
    world_settle(&w);
    scene_delete_node(&w, "x1");
    world_pass(&w, SETTLE_MS);
    assert_int_equal(w.writes, writes);
    expect_no_pass();
}

static void test_S02_evicted_and_still_reserved_takes_no_pass_and_stops(void **state)
{
    (void)state;
    start();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "Deactivated");
    scene_mark(&w, "a", "x1");
    world_settle(&w);
    scene_delete_node(&w, "x1");
    world_pass(&w, SETTLE_MS);
    assert_int_equal(sl_second_pass_count(), 0);
    scene_stop(&w, "a");
    assert_string_equal(scene_marked(&w, "a"), "");
    assert_null(sl_json_path(world_workload(&w, "a"), "status.admission"));
    expect_no_pass();
}

static void test_S03_without_a_reservation_goes_the_ordinary_way(void **state)
{
    (void)state;
    scene_add_queue(&w, "8", "");
    sl_engine_synced(w.engine, w.now_ms);
    struct sl_json *o = scene_new("a", 4, PREFERRED_RACK);
    sl_json_set(sl_json_path_make(o, "status"), "unhealthyNodes",
                world_parse("[{\"name\":\"x1\"}]"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    assert_int_equal(sl_second_pass_count(), 0);
    assert_int_equal(sl_place_of(0), SL_PLACE_HEAP);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(scene_marked(&w, "a"), "");
}

static void test_S04_mark_on_a_node_outside_the_assignment_takes_no_pass(void **state)
{
    (void)state;
    start();
    scene_mark(&w, "a", "x9");
    world_settle(&w);
    world_pass(&w, SETTLE_MS);
    expect_no_pass();
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
}

static void test_S05_on_hold_with_a_mark_is_neither_passed_nor_admissible(void **state)
{
    (void)state;
    start();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"status\":{\"admission\":null,\"conditions\":[{\"type\":"
                      "\"QuotaReserved\",\"status\":\"False\",\"reason\":\"OnHold\"}]}}");
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    scene_mark(&w, "a", "x1");
    world_settle(&w);
    expect_no_pass();
    assert_int_not_equal(sl_place_of(0), SL_PLACE_HEAP);
}

static void test_S06_evicted_before_it_is_due_drops_the_pass(void **state)
{
    (void)state;
    start();
    scene_delete_node(&w, "x1");
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "x1");
    assert_int_equal(sl_second_pass_count(), 1);
    world_pass(&w, 300);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "Deactivated");
    assert_int_equal(sl_second_pass_count(), 0);
    scene_stop(&w, "a");
    expect_no_pass();
}

/* The pass is due, and in the same moment the node is back. */
static void test_S07_mark_removed_before_cycle_drops_pass_and_keeps_reservation(void **state)
{
    (void)state;
    start();
    scene_delete_node(&w, "x1");
    world_pass(&w, SETTLE_MS);
    assert_int_equal(sl_second_pass_count(), 1);
    w.now_ms = scene_next_pass();
    sl_clock_set_virtual(w.now_ms);
    scene_add_node(&w, "x1", "r1", 2);
    world_settle(&w);
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "");
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
    scene_expect_untouched(&w, "a");
    expect_no_pass();
}

static void fill(const char *where)
{
    scene_add(&w, "filler", 4, REQUIRED_RACK, 0);
    assert_string_equal(scene_where(&w, "filler"), where);
}

/* Kueue: a retry that finds another one armed takes the reservation back. */
static void test_S08_attempt_that_fails_while_a_retry_is_armed_keeps_the_reservation(void **state)
{
    (void)state;
    world_close(&w);
    settings.policy.fail_fast = false;
    world_open_with(&w, NULL, &settings);
    scene_add_racks(&w);
    start();
    fill("x3=2 x4=2");
    scene_delete_node(&w, "x1");
    world_pass(&w, SETTLE_MS);
    for (int i = 0; i < 5; i++) { /* events in between arm it again and again */
        world_pass(&w, SECOND);
        assert_int_equal(sl_second_pass_count(), 1);
        (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                          "{\"metadata\":{\"labels\":{\"seen\":\"again\"}}}");
        world_settle(&w);
        scene_expect_untouched(&w, "a");
    }
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 2);
}

/* Kueue: with the mark left over, flavors are admitted without a place for the pods. */
static void test_S09_mark_without_a_reservation_is_placed_anew_or_refused_for_a_reason(void **state)
{
    (void)state;
    scene_add_queue(&w, "8", "");
    sl_engine_synced(w.engine, w.now_ms);
    fill("x1=2 x2=2");
    scene_delete_node(&w, "x3");
    struct sl_json *o = scene_new("a", 4, REQUIRED_RACK);
    sl_json_set(sl_json_path_make(o, "status"), "unhealthyNodes",
                world_parse("[{\"name\":\"x3\"}]"));
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "QuotaReserved", "False", "WaitingForQuota");
    assert_null(sl_json_path(world_workload(&w, "a"), "status.admission"));
    scene_add_node(&w, "x3", "r2", 2);
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_string_equal(scene_where(&w, "a"), "x3=2 x4=2");
    assert_string_equal(scene_marked(&w, "a"), "");
}

/* Kueue: a pass captured before the replacement was written replays the old assignment. */
static void test_S10_pass_after_a_replacement_does_not_replace_it_again(void **state)
{
    (void)state;
    start();
    scene_delete_node(&w, "x1");
    world_pass(&w, SETTLE_MS);
    world_pass(&w, SECOND);
    assert_string_equal(scene_marked(&w, "a"), "");
    char first[256];
    (void)snprintf(first, sizeof first, "%s", scene_where(&w, "a"));
    assert_null(strstr(first, "x1"));
    unsigned writes = w.writes;
    for (int i = 0; i < 10; i++) { /* the same object seen again arms nothing */
        (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{}");
        world_pass(&w, SECOND);
    }
    assert_int_equal(w.writes, writes);
    assert_string_equal(scene_where(&w, "a"), first);
    scene_expect_untouched(&w, "a");
}

/* One patch, whatever the way of the eviction (engine/conditions/mirror.h looks at all): here deactivation of a workload with a
 * mark. */
static void test_S11_eviction_resets_checks_and_marks_in_one_patch(void **state)
{
    (void)state;
    world_close(&w);
    settings.policy.fail_fast = false;
    world_open_with(&w, NULL, &settings);
    scene_add_racks(&w);
    scene_add_check(&w, "prov");
    scene_add_queue(&w, "8", CHECKED ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 4, REQUIRED_RACK, 1);
    scene_set_check(&w, "a", "Ready");
    world_pass(&w, SECOND);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    const char *node = scene_where(&w, "a")[1] == '1' ? "x1" : "x3";
    scene_delete_node(&w, node);
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), node);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"status\":{\"clusterName\":\"worker\","
                      "\"nominatedClusterNames\":[\"worker\"]}}");
    unsigned writes = w.writes;
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    const struct sl_json *o = world_workload(&w, "a");
    world_expect(&w, "a", "Evicted", "True", "Deactivated");
    assert_int_equal(w.writes, writes + 1);
    assert_string_equal(scene_marked(&w, "a"), "");
    assert_string_equal(sl_json_path_text(o, "status.admissionChecks.0.state", ""), "Pending");
    assert_null(sl_json_path(o, "status.clusterName"));
    assert_null(sl_json_path(o, "status.nominatedClusterNames"));
}

static void test_S12_conflict_on_the_mark_is_tried_again_from_the_live_object(void **state)
{
    (void)state;
    start();
    scene_delete_node(&w, "x1");
    w.fail_next = SL_CODE_CONFLICT;
    world_pass(&w, SETTLE_MS);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"metadata\":{\"labels\":{\"by\":\"somebody\"}}}");
    world_settle(&w);
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "x1");
    assert_string_equal(sl_json_path_text(world_workload(&w, "a"), "metadata.labels.by", ""),
                        "somebody");
}

static void test_S12_conflict_on_the_replacement_keeps_everything_and_is_tried_again(void **state)
{
    (void)state;
    start();
    scene_delete_node(&w, "x1");
    world_pass(&w, SETTLE_MS);
    w.fail_next = SL_CODE_CONFLICT;
    world_pass(&w, SECOND);
    scene_expect_untouched(&w, "a");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"metadata\":{\"labels\":{\"by\":\"somebody\"}}}");
    world_pass(&w, 30 * SECOND);
    assert_null(strstr(scene_where(&w, "a"), "x1"));
    assert_string_equal(scene_marked(&w, "a"), "");
    scene_expect_untouched(&w, "a");
}

static void test_S12_conflict_because_it_finished_leaves_it_alone(void **state)
{
    (void)state;
    start();
    scene_delete_node(&w, "x1");
    w.fail_next = SL_CODE_CONFLICT;
    world_pass(&w, SETTLE_MS);
    finish("a");
    unsigned writes = w.writes;
    world_pass(&w, SECOND);
    assert_int_equal(w.writes, writes);
    assert_string_equal(scene_marked(&w, "a"), "");
    expect_no_pass();
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_S01_finished_with_a_mark_takes_no_pass_and_is_not_written),
        TEST(test_S02_evicted_and_still_reserved_takes_no_pass_and_stops),
        TEST(test_S03_without_a_reservation_goes_the_ordinary_way),
        TEST(test_S04_mark_on_a_node_outside_the_assignment_takes_no_pass),
        TEST(test_S05_on_hold_with_a_mark_is_neither_passed_nor_admissible),
        TEST(test_S06_evicted_before_it_is_due_drops_the_pass),
        TEST(test_S07_mark_removed_before_cycle_drops_pass_and_keeps_reservation),
        TEST(test_S08_attempt_that_fails_while_a_retry_is_armed_keeps_the_reservation),
        TEST(test_S09_mark_without_a_reservation_is_placed_anew_or_refused_for_a_reason),
        TEST(test_S10_pass_after_a_replacement_does_not_replace_it_again),
        TEST(test_S11_eviction_resets_checks_and_marks_in_one_patch),
        TEST(test_S12_conflict_on_the_mark_is_tried_again_from_the_live_object),
        TEST(test_S12_conflict_on_the_replacement_keeps_everything_and_is_tried_again),
        TEST(test_S12_conflict_because_it_finished_leaves_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
