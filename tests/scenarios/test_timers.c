/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Scenarios S29 to S35 with topology: a second pass that is armed does not outlive what it is for, and
 * none is lost; usage is charged once; victims free the nodes they stand on. */
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

/* "a" of two pods on x1; its second pass for that node is armed. */
static void start(void)
{
    scene_add_queue(&w, "8", "");
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 2, UNCONSTRAINED, 0);
    assert_string_equal(scene_where(&w, "a"), "x1=2");
    scene_delete_node(&w, "x1");
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "x1");
    assert_int_equal(sl_second_pass_count(), 1);
}

static void test_S30_deleted_while_armed_never_comes_back(void **state)
{
    (void)state;
    start();
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    assert_int_equal(sl_second_pass_count(), 0);
    assert_int_equal(sl_place_of(0), SL_PLACE_NONE);
    unsigned writes = w.writes;
    world_pass(&w, 60 * SECOND);
    assert_int_equal(w.writes, writes);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    assert_int_equal(world_count_cq(&w, "pendingWorkloads"), 0);
}

/* Kueue keys the timer by the name alone. */
static void test_S31_another_of_that_name_is_not_taken_for_the_deleted_one(void **state)
{
    (void)state;
    start();
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    scene_add(&w, "a", 2, UNCONSTRAINED, 0);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    char where[64];
    (void)snprintf(where, sizeof where, "%s", scene_where(&w, "a"));
    assert_int_equal(sl_second_pass_count(), 0);
    unsigned writes = w.writes;
    world_pass(&w, 60 * SECOND);
    assert_int_equal(w.writes, writes);
    assert_string_equal(scene_where(&w, "a"), where);
}

/* And its own pass is due a full second after it was armed, not when the old one would have been. */
static void test_S31_its_own_pass_is_not_consumed_by_the_old_timer(void **state)
{
    (void)state;
    start();
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    scene_add(&w, "a", 2, UNCONSTRAINED, 0);
    char node[64];
    (void)snprintf(node, sizeof node, "%.2s", scene_where(&w, "a"));
    world_pass(&w, 300);
    scene_delete_node(&w, node);
    world_pass(&w, SETTLE_MS);
    assert_int_equal(sl_second_pass_count(), 1);
    int64_t due = scene_next_pass();
    assert_in_range(due, w.now_ms + SECOND - SETTLE_MS, w.now_ms + SECOND);
    world_pass(&w, due - w.now_ms);
    assert_null(strstr(scene_where(&w, "a"), node));
    assert_string_equal(scene_marked(&w, "a"), "");
}

/* Kueue: the second failure finds a timer, which then finds nothing to do, and nobody comes again. */
static void test_S32_second_failure_within_the_delay_is_not_lost(void **state)
{
    (void)state;
    scene_add_queue(&w, "8", "");
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "a", 4, PREFERRED_RACK, 0);
    assert_string_equal(scene_where(&w, "a"), "x1=2 x2=2");
    scene_delete_node(&w, "x1");
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "x1");
    scene_add_node(&w, "x1", "r1", 2);
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "");
    scene_delete_node(&w, "x2");
    world_pass(&w, SETTLE_MS);
    assert_string_equal(scene_marked(&w, "a"), "x2");
    world_pass(&w, SECOND);
    assert_string_equal(scene_marked(&w, "a"), "");
    assert_null(strstr(scene_where(&w, "a"), "x2"));
    scene_expect_untouched(&w, "a");
}

/* Kueue returns before it looks at the second pass when the LocalQueue is gone. */
static void test_S33_local_queue_deleted_first_leaves_no_pass_behind(void **state)
{
    (void)state;
    start();
    world_delete(&w, SL_KIND_LOCAL_QUEUE, "team", "lq");
    world_settle(&w);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "a");
    world_settle(&w);
    assert_int_equal(sl_second_pass_count(), 0);
    unsigned writes = w.writes;
    world_pass(&w, 60 * SECOND);
    assert_int_equal(w.writes, writes);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
}

/* After each step: pods on a node never exceed what it has. */
static void expect_capacity(void)
{
    static const char *const names[] = {"low", "mid", "high"};
    unsigned on[5] = {0};
    for (size_t i = 0; i < 3; i++) {
        if (world_get(&w, SL_KIND_WORKLOAD, "team", names[i]) == NULL) {
            continue;
        }
        for (const char *at = scene_where(&w, names[i]); *at != '\0';
             at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ')) {
            on[at[1] - '0'] += (unsigned)(at[3] - '0');
        }
    }
    for (size_t n = 1; n <= 4; n++) {
        assert_true(on[n] <= 2);
    }
}

static void test_S35_low_and_mid_make_room_for_high_and_no_node_is_overbooked(void **state)
{
    (void)state;
    scene_add_queue(&w, "16", ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}");
    sl_engine_synced(w.engine, w.now_ms);
    scene_add(&w, "low", 4, REQUIRED_RACK, 1);
    scene_add(&w, "mid", 4, REQUIRED_RACK, 2);
    expect_capacity();
    scene_add(&w, "high", 8, UNCONSTRAINED, 5);
    world_expect(&w, "low", "Preempted", "True", "InClusterQueue");
    world_expect(&w, "mid", "Preempted", "True", "InClusterQueue");
    world_expect(&w, "high", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
    expect_capacity();
    scene_stop(&w, "low");
    world_pass(&w, SECOND);
    assert_false(sl_condition_true(world_workload(&w, "high"), "QuotaReserved"));
    expect_capacity();
    scene_stop(&w, "mid");
    world_pass(&w, SECOND);
    world_expect(&w, "high", "Admitted", "True", "Admitted");
    assert_string_equal(scene_where(&w, "high"), "x1=2 x2=2 x3=2 x4=2");
    expect_capacity();
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_S30_deleted_while_armed_never_comes_back),
        TEST(test_S31_another_of_that_name_is_not_taken_for_the_deleted_one),
        TEST(test_S31_its_own_pass_is_not_consumed_by_the_old_timer),
        TEST(test_S32_second_failure_within_the_delay_is_not_lost),
        TEST(test_S33_local_queue_deleted_first_leaves_no_pass_behind),
        TEST(test_S35_low_and_mid_make_room_for_high_and_no_node_is_overbooked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
