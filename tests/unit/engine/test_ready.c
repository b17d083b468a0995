/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Waiting for pods to be ready, requeueing with backoff, and how long what ended is kept. */
#include "scene.h"

#define MINUTE 60000

static struct sl_engine_settings settings;

static int setup_ready(void **state)
{
    (void)state;
    settings = sl_engine_settings_default();
    settings.ready_ms_max = 5 * MINUTE;
    settings.recovery_ms_max = 2 * MINUTE;
    return 0;
}

static void start(void)
{
    world_open_with(&w, NULL, &settings);
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "8");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void report(const char *name, bool ready, const char *reason)
{
    struct sl_json *copy = sl_json_clone(world_workload(&w, name));
    (void)sl_condition_set(sl_json_path_make(copy, "status"), "PodsReady", ready, reason, "pods", 1,
                           w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, copy, NULL);
    world_settle(&w);
}

static void stop(const char *name)
{
    sl_engine_job_stopped(w.engine, world_workload(&w, name), w.now_ms);
    world_settle(&w);
}

static int64_t requeue_count(void)
{
    return sl_json_path_int(world_workload(&w, "a"), "status.requeueState.count", 0);
}

static const char *evicted_status(void)
{
    return sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Evicted"), "status", "");
}

/* Its eviction is written with its reservation, which was long on its way. */
static void test_ready_workload_that_was_late_before_it_was_written_says_so(void **state)
{
    (void)state;
    world_open_with(&w, NULL, &settings);
    world_add_basics(&w);
    world_add_workload(&w, "a", "lq", 1, "1");
    while (sl_engine_cycle(w.engine, w.now_ms)) {
    }
    w.now_ms += 5 * MINUTE;
    sl_clock_set_virtual(w.now_ms);
    world_settle(&w);
    const struct sl_json *evicted = sl_condition_find(world_workload(&w, "a"), "Evicted");
    assert_string_equal(sl_json_path_text(evicted, "message", ""),
                        "Exceeded the PodsReady timeout team/a");
}

/* As Kueue says it, and in the write that admits: none is spent on it. */
static void test_ready_admission_says_that_pods_are_waited_for(void **state)
{
    (void)state;
    start();
    world_expect(&w, "a", "PodsReady", "False", "WaitForStart");
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "PodsReady"), "message", ""),
        "Not all pods are ready or succeeded");
    assert_int_equal(w.writes, 1);
    report("a", true, "Started");
    world_pass(&w, 60 * MINUTE);
    world_expect(&w, "a", "PodsReady", "True", "Started");
}

static void test_ready_is_not_spoken_of_where_that_is_off(void **state)
{
    (void)state;
    settings.wait_for_pods_ready = false;
    start();
    assert_null(sl_condition_find(world_workload(&w, "a"), "PodsReady"));
}

static void test_ready_workload_that_never_starts_is_evicted_in_time(void **state)
{
    (void)state;
    start();
    world_pass(&w, 5 * MINUTE - 1);
    assert_string_equal(evicted_status(), "");
    world_pass(&w, 1);
    world_expect(&w, "a", "Evicted", "True", "PodsReadyTimeout");
    assert_int_equal(requeue_count(), 1);
    const struct sl_json *stats =
        sl_json_path(world_workload(&w, "a"), "status.schedulingStats.evictions.0");
    assert_string_equal(sl_json_path_text(stats, "underlyingCause", ""), "WaitForStart");
}

/* The daemon was away, or another controller admitted it: its pods may have been ready for long. */
static void test_ready_workload_of_before_the_start_has_its_time_from_then(void **state)
{
    (void)state;
    static const enum sl_kind kinds[] = {SL_KIND_NAMESPACE, SL_KIND_RESOURCE_FLAVOR,
                                         SL_KIND_CLUSTER_QUEUE, SL_KIND_LOCAL_QUEUE,
                                         SL_KIND_WORKLOAD};
    start();
    w.now_ms += 60 * MINUTE;
    world_restart(&w, kinds, sizeof kinds / sizeof kinds[0]);
    world_pass(&w, 5 * MINUTE - 1);
    assert_string_equal(evicted_status(), "");
    world_pass(&w, 1);
    world_expect(&w, "a", "Evicted", "True", "PodsReadyTimeout");
}

static void test_ready_workload_is_left_alone(void **state)
{
    (void)state;
    start();
    world_pass(&w, MINUTE);
    report("a", true, "Started");
    world_pass(&w, 60 * MINUTE);
    assert_string_equal(evicted_status(), "");
}

static void test_ready_workload_that_does_not_recover_is_evicted(void **state)
{
    (void)state;
    start();
    report("a", true, "Started");
    world_pass(&w, 30 * MINUTE);
    report("a", false, "WaitForRecovery");
    world_pass(&w, 2 * MINUTE - 1);
    assert_string_equal(evicted_status(), "");
    world_pass(&w, 1);
    world_expect(&w, "a", "Evicted", "True", "PodsReadyTimeout");
    world_expect(&w, "a", "PodsReady", "False", "WaitForStart");
    const struct sl_json *ready = sl_condition_find(world_workload(&w, "a"), "PodsReady");
    assert_string_equal(sl_json_path_text(ready, "message", ""),
                        "Not all pods are ready or succeeded");
    const struct sl_json *stats =
        sl_json_path(world_workload(&w, "a"), "status.schedulingStats.evictions.0");
    assert_string_equal(sl_json_path_text(stats, "underlyingCause", ""), "WaitForRecovery");
    /* Its next run starts afresh. */
    stop("a");
    world_pass(&w, 2 * MINUTE);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_expect(&w, "a", "Evicted", "False", "QuotaReserved");
    world_pass(&w, 4 * MINUTE);
    assert_string_equal(evicted_status(), "False");
}

/* Its pods were ready for less time than it takes to see that, or another client says so. */
static void test_ready_workload_that_was_not_seen_ready_has_to_recover_in_time(void **state)
{
    (void)state;
    start();
    world_expect(&w, "a", "PodsReady", "False", "WaitForStart");
    report("a", false, "WaitForStart");
    report("a", false, "WaitForRecovery");
    world_pass(&w, 2 * MINUTE - 1);
    assert_string_equal(evicted_status(), "");
    world_pass(&w, 1);
    world_expect(&w, "a", "Evicted", "True", "PodsReadyTimeout");
}

static void test_ready_recovery_may_take_for_ever(void **state)
{
    (void)state;
    settings.recovery_ms_max = 0;
    start();
    report("a", true, "Started");
    report("a", false, "WaitForRecovery");
    world_pass(&w, 600 * MINUTE);
    assert_string_equal(evicted_status(), "");
}

static void test_ready_is_not_waited_for_where_that_is_off(void **state)
{
    (void)state;
    settings.wait_for_pods_ready = false;
    start();
    world_pass(&w, 600 * MINUTE);
    assert_string_equal(evicted_status(), "");
}

static void test_ready_backoff_doubles_and_ends_by_itself(void **state)
{
    (void)state;
    start();
    world_pass(&w, 5 * MINUTE);
    int64_t evicted_ms = w.now_ms;
    stop("a");
    world_expect(&w, "a", "Requeued", "False", "PodsReadyTimeout");
    int64_t at = sl_clock_parse(
        sl_json_path_text(world_workload(&w, "a"), "status.requeueState.requeueAt", ""));
    assert_in_range(at, evicted_ms + 59000, evicted_ms + 61000);
    world_pass(&w, 62000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_pass(&w, 5 * MINUTE);
    evicted_ms = w.now_ms;
    assert_int_equal(requeue_count(), 2);
    at = sl_clock_parse(
        sl_json_path_text(world_workload(&w, "a"), "status.requeueState.requeueAt", ""));
    assert_in_range(at, evicted_ms + 119000, evicted_ms + 121000);
}

/* The backoff is over before the job has stopped: its timer is refused, and has to fire again. */
static void test_ready_backoff_that_ends_before_the_job_stops_is_not_lost(void **state)
{
    (void)state;
    start();
    world_pass(&w, 5 * MINUTE);
    world_expect(&w, "a", "Evicted", "True", "PodsReadyTimeout");
    world_pass(&w, 3 * MINUTE); /* the backoff is one minute */
    stop("a");
    world_pass(&w, MINUTE);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void deactivate_by_limit(void)
{
    settings.limit_requeues = true;
    settings.requeues_max = 1;
    start();
    world_pass(&w, 5 * MINUTE);
    stop("a");
    world_pass(&w, 62000);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_pass(&w, 5 * MINUTE);
}

static void test_ready_limit_of_requeues_deactivates(void **state)
{
    (void)state;
    deactivate_by_limit();
    assert_false(sl_json_path_bool(world_workload(&w, "a"), "spec.active", true));
    world_expect(&w, "a", "Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded");
    assert_null(sl_json_path(world_workload(&w, "a"), "status.requeueState"));
}

/* S60: it comes back as Reactivated, whatever had deactivated it. */
static void test_ready_reactivated_workload_is_queued_again(void **state)
{
    (void)state;
    deactivate_by_limit();
    stop("a");
    world_expect(&w, "a", "Requeued", "False", "DeactivatedDueToRequeuingLimitExceeded");
    assert_non_null(strstr(
        sl_json_path_text(sl_condition_find(world_workload(&w, "a"), "Requeued"), "message", ""),
        "exceeding the maximum number of re-queuing retries"));
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":true}}");
    world_settle(&w);
    world_expect(&w, "a", "Requeued", "True", "Reactivated");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    assert_int_equal(requeue_count(), 0);
}

static void test_ready_reactivated_while_the_daemon_was_away_is_queued_again(void **state)
{
    (void)state;
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    deactivate_by_limit();
    stop("a");
    struct sl_json *o = world_workload(&w, "a");
    sl_json_set_bool(sl_json_get(o, "spec"), "active", true);
    world_restart(&w, order, 4);
    world_settle(&w);
    world_expect(&w, "a", "Requeued", "True", "Reactivated");
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_ready_blocked_admission_waits_for_the_others(void **state)
{
    (void)state;
    settings.policy.block_until_ready = true;
    start();
    world_add_workload(&w, "b", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForPodsReady");
    world_pass(&w, MINUTE);
    report("a", true, "Started");
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

/* Both "a", which was evicted, and "b", which came before that, wait when the queue is opened. */
static void meet_again(void)
{
    start();
    world_pass(&w, MINUTE);
    world_add_workload(&w, "b", "lq", 1, "8");
    world_pass(&w, 4 * MINUTE);
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    stop("a");
    world_pass(&w, 2 * MINUTE);
    (void)world_patch(&w, SL_KIND_LOCAL_QUEUE, "team", "lq",
                      "{\"spec\":{\"stopPolicy\":\"None\"}}");
    world_settle(&w);
}

static void test_ready_late_workload_goes_behind_those_that_came_meanwhile(void **state)
{
    (void)state;
    meet_again();
    world_expect(&w, "b", "Admitted", "True", "Admitted");
}

static void test_ready_late_workload_keeps_its_age_where_creation_counts(void **state)
{
    (void)state;
    settings.policy.requeue_at_eviction = false;
    meet_again();
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

/* --- retention -------------------------------------------------------------------------------- */

static bool asked_to_delete(const char *name)
{
    struct sl_decision d;
    bool asked = false;
    (void)sl_engine_cycle(w.engine, w.now_ms);
    while (sl_engine_next_decision(w.engine, &d)) {
        asked = asked || (d.kind == SL_DECIDE_DELETE && strcmp(d.name, name) == 0);
        struct sl_json *patch = NULL;
        assert_true(d.kind != SL_DECIDE_DELETE ||
                    sl_engine_write(w.engine, &d, world_workload(&w, name), &patch) ==
                        SL_TO_WRITE_DELETE);
        assert_null(patch);
        (void)world_answer(&w, &d, SL_CODE_OK);
    }
    return asked;
}

static void test_retention_finished_workload_goes_after_its_time(void **state)
{
    (void)state;
    settings.retain_finished_ms = 10 * MINUTE;
    start();
    struct sl_json *copy = sl_json_clone(world_workload(&w, "a"));
    (void)sl_condition_set(sl_json_path_make(copy, "status"), "Finished", true, "Succeeded", "done",
                           1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, copy, NULL);
    world_settle(&w);
    w.now_ms += 10 * MINUTE - 1;
    assert_false(asked_to_delete("a"));
    w.now_ms += 1;
    assert_true(sl_engine_due_ms(w.engine) <= w.now_ms);
    assert_true(asked_to_delete("a"));
    assert_false(asked_to_delete("a"));
}

static void test_retention_finished_workload_stays_without_a_policy(void **state)
{
    (void)state;
    start();
    struct sl_json *copy = sl_json_clone(world_workload(&w, "a"));
    (void)sl_condition_set(sl_json_path_make(copy, "status"), "Finished", true, "Succeeded", "done",
                           1, w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, copy, NULL);
    w.now_ms += 100000LL * MINUTE;
    assert_false(asked_to_delete("a"));
}

static void test_retention_counts_only_deactivation_by_a_rule(void **state)
{
    (void)state;
    settings.retain_deactivated_ms = 10 * MINUTE;
    deactivate_by_limit();
    w.now_ms += 10 * MINUTE;
    assert_true(asked_to_delete("a"));
    world_add_workload(&w, "b", "lq", 1, "1");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "b", "{\"spec\":{\"active\":false}}");
    world_settle(&w);
    w.now_ms += 100 * MINUTE;
    assert_false(asked_to_delete("b"));
}

static void test_retention_reactivated_workload_stays(void **state)
{
    (void)state;
    settings.retain_deactivated_ms = 10 * MINUTE;
    deactivate_by_limit();
    stop("a");
    world_pass(&w, MINUTE);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", "{\"spec\":{\"active\":true}}");
    report("a", true, "Started");
    w.now_ms += 100 * MINUTE;
    assert_false(asked_to_delete("a"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_ready, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ready_workload_that_was_late_before_it_was_written_says_so),
        TEST(test_ready_admission_says_that_pods_are_waited_for),
        TEST(test_ready_is_not_spoken_of_where_that_is_off),
        TEST(test_ready_workload_that_never_starts_is_evicted_in_time),
        TEST(test_ready_workload_of_before_the_start_has_its_time_from_then),
        TEST(test_ready_workload_is_left_alone),
        TEST(test_ready_workload_that_does_not_recover_is_evicted),
        TEST(test_ready_workload_that_was_not_seen_ready_has_to_recover_in_time),
        TEST(test_ready_recovery_may_take_for_ever),
        TEST(test_ready_is_not_waited_for_where_that_is_off),
        TEST(test_ready_backoff_doubles_and_ends_by_itself),
        TEST(test_ready_backoff_that_ends_before_the_job_stops_is_not_lost),
        TEST(test_ready_limit_of_requeues_deactivates),
        TEST(test_ready_reactivated_workload_is_queued_again),
        TEST(test_ready_reactivated_while_the_daemon_was_away_is_queued_again),
        TEST(test_ready_blocked_admission_waits_for_the_others),
        TEST(test_ready_late_workload_goes_behind_those_that_came_meanwhile),
        TEST(test_ready_late_workload_keeps_its_age_where_creation_counts),
        TEST(test_retention_finished_workload_goes_after_its_time),
        TEST(test_retention_finished_workload_stays_without_a_policy),
        TEST(test_retention_counts_only_deactivation_by_a_rule),
        TEST(test_retention_reactivated_workload_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
