/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Scenarios S60 to S62: reactivation, a job that does not stop, a preemptor with two victims. */
#include "../unit/engine/world.h"

#define MINUTE 60000

static struct world w;
static struct sl_engine_settings settings;

static int setup(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_check(&w);
    world_close(&w);
    return 0;
}

static void add(const char *name, const char *queue, const char *cpu, int priority)
{
    struct sl_json *o = world_new_workload("team", name, queue, 1, cpu);
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

static void stop(const char *name)
{
    sl_engine_job_stopped(w.engine, world_workload(&w, name), w.now_ms);
    world_settle(&w);
}

/* --- S60 -------------------------------------------------------------------------------------- */

/* The reason for the deactivation stands in the condition as the daemon wrote it; nobody rewrites it
 * by hand before the workload is reactivated. */
static void test_S60_reactivated_after_the_requeuing_limit_is_queued_and_admitted(void **state)
{
    (void)state;
    settings.ready_ms_max = 5 * MINUTE;
    settings.limit_requeues = true;
    settings.requeues_max = 0;
    world_open_with(&w, NULL, &settings);
    world_add_basics(&w);
    add("a", "lq", "8", 0);
    world_settle(&w);
    world_pass(&w, 5 * MINUTE);
    assert_false(sl_json_path_bool(world_workload(&w, "a"), "spec.active", true));
    world_expect(&w, "a", "Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded");
    stop("a");
    world_expect(&w, "a", "Requeued", "False", "DeactivatedDueToRequeuingLimitExceeded");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    world_expect(&w, "a", "Requeued", "True", "Reactivated");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

/* --- S61 -------------------------------------------------------------------------------------- */

#define LOWER ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}"

/* However long the job of a victim goes on: people are told after ten minutes, its quota is held and
 * shown as held, the conditions say that it is being evicted, and who waits for it is told so. */
static void test_S61_job_that_does_not_stop_is_told_in_time_and_its_quota_is_explicit(void **state)
{
    (void)state;
    world_open_with(&w, NULL, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "10", LOWER);
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    add("stuck", "lq", "8", 1);
    world_settle(&w);
    add("high", "lq", "8", 5);
    world_settle(&w);
    unsigned writes = w.writes;
    w.last_reason[0] = '\0';
    world_pass(&w, 10 * MINUTE - 1);
    assert_string_equal(w.last_reason, "");
    world_pass(&w, 1);
    assert_int_equal(w.last_kind, SL_DECIDE_LATE);
    assert_string_equal(w.last_reason, "StillRunning");
    assert_non_null(strstr(w.last_message, "quota is held"));
    w.last_reason[0] = '\0';
    for (int i = 0; i < 48; i++) { /* told once, and nothing is written for it */
        world_pass(&w, 30 * MINUTE);
    }
    assert_string_equal(w.last_reason, "");
    assert_int_equal(w.writes, writes);
    world_expect(&w, "stuck", "Evicted", "True", "Preempted");
    world_expect(&w, "stuck", "QuotaReserved", "True", "QuotaReserved");
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    world_expect(&w, "high", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
    const char *text = sl_json_path_text(
        sl_condition_find(world_workload(&w, "high"), "QuotaReserved"), "message", "");
    assert_non_null(strstr(text, "Pending the preemption of 1 workload(s)"));
    stop("stuck");
    world_expect(&w, "high", "Admitted", "True", "Admitted");
}

/* --- S62 -------------------------------------------------------------------------------------- */

static void open_cohort(void)
{
    static const char *const more =
        ",\"cohortName\":\"c\",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}";
    settings.policy.prioritize_preemptors = true; /* as the daemon runs unless told otherwise */
    world_open_with(&w, NULL, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "cq", "spot", "8", more);
    world_add_cluster_queue(&w, "other", "spot", "0", ",\"cohortName\":\"c\"");
    world_add_local_queue(&w, "team", "lq", "cq");
    world_add_local_queue(&w, "team", "lo", "other");
    sl_engine_synced(w.engine, w.now_ms);
}

/* What the first victim frees is neither taken by a newcomer of its own queue, however small, nor
 * borrowed by another queue of the cohort. */
static void test_S62_what_the_first_victim_frees_is_held_for_the_preemptor(void **state)
{
    (void)state;
    open_cohort();
    add("a", "lq", "4", 1);
    add("b", "lq", "4", 1);
    world_settle(&w);
    add("high", "lq", "8", 5);
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "Preempted");
    world_expect(&w, "b", "Evicted", "True", "Preempted");
    add("small", "lq", "1", 4);
    add("borrower", "lo", "4", 9);
    stop("a");
    for (int i = 0; i < 5; i++) {
        world_pass(&w, 1000);
    }
    world_expect(&w, "high", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
    assert_false(sl_condition_true(world_workload(&w, "small"), "QuotaReserved"));
    assert_false(sl_condition_true(world_workload(&w, "borrower"), "QuotaReserved"));
    stop("b");
    world_expect(&w, "high", "Admitted", "True", "Admitted");
}

/* One of two victims has stopped, and what it freed is held for "high", which is in a LocalQueue of its own. */
static void wait_for_victims(void)
{
    open_cohort();
    world_add_local_queue(&w, "team", "lh", "cq");
    add("a", "lq", "4", 1);
    add("b", "lq", "4", 1);
    world_settle(&w);
    add("high", "lh", "8", 5);
    world_settle(&w);
    add("small", "lq", "4", 4);
    stop("a");
    world_expect(&w, "high", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
    assert_false(sl_condition_true(world_workload(&w, "small"), "QuotaReserved"));
}

static void expect_free(void)
{
    world_settle(&w);
    world_expect(&w, "small", "Admitted", "True", "Admitted");
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 2); /* b has still to stop */
    stop("b");
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 2);
}

static void test_S62_preemptor_that_is_deleted_leaves_what_was_held(void **state)
{
    (void)state;
    wait_for_victims();
    world_delete(&w, SL_KIND_WORKLOAD, "team", "high");
    expect_free();
}

static void test_S62_preemptor_that_is_deactivated_leaves_what_was_held(void **state)
{
    (void)state;
    wait_for_victims();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "high", "{\"spec\":{\"active\":false}}");
    expect_free();
}

static void test_S62_preemptor_whose_queue_is_held_leaves_what_was_held(void **state)
{
    (void)state;
    wait_for_victims();
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lh",
                      "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    expect_free();
}

/* Its victims belong to another queue, are older, and age decides between queues: the first to stop
 * would be served again at once, and be preempted again. */
static void test_S62_a_victim_does_not_take_back_what_it_freed(void **state)
{
    (void)state;
    static const char *const borrows =
        ",\"cohortName\":\"c\",\"preemption\":{\"reclaimWithinCohort\":\"Any\","
        "\"borrowWithinCohort\":{\"policy\":\"LowerPriority\"}}";
    settings.policy.prioritize_preemptors = true;
    settings.policy.priority_sorting_within_cohort = false;
    world_open_with(&w, NULL, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "lender", "spot", "8", ",\"cohortName\":\"c\"");
    world_add_cluster_queue(&w, "other", "spot", "0", borrows);
    world_add_cluster_queue(&w, "cq", "spot", "0", borrows);
    world_add_local_queue(&w, "team", "lo", "other");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    add("a", "lo", "4", 1);
    add("b", "lo", "4", 1);
    world_settle(&w);
    world_pass(&w, 1000);
    add("high", "lq", "8", 5);
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "Preempted");
    world_expect(&w, "b", "Evicted", "True", "Preempted");
    stop("a");
    world_pass(&w, 1000);
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    stop("b");
    world_expect(&w, "high", "Admitted", "True", "Admitted");
    assert_int_equal(
        sl_json_path_int(world_workload(&w, "a"), "status.schedulingStats.evictions.0.count", 0),
        1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_S60_reactivated_after_the_requeuing_limit_is_queued_and_admitted),
        TEST(test_S61_job_that_does_not_stop_is_told_in_time_and_its_quota_is_explicit),
        TEST(test_S62_what_the_first_victim_frees_is_held_for_the_preemptor),
        TEST(test_S62_a_victim_does_not_take_back_what_it_freed),
        TEST(test_S62_preemptor_that_is_deleted_leaves_what_was_held),
        TEST(test_S62_preemptor_that_is_deactivated_leaves_what_was_held),
        TEST(test_S62_preemptor_whose_queue_is_held_leaves_what_was_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
