/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Releases reach the object before the next reservation does, however late they are written. */
#include "scene.h"

static void add(const char *name, int count, const char *cpu, int priority)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, cpu);
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    sl_json_set_int(sl_json_path(o, "spec.podSets.0"), "minCount", 1);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

static int count_of(const char *name)
{
    const struct sl_json *list =
        sl_json_path(world_workload(&w, name), "status.admission.podSetAssignments");
    return (int)sl_json_path_int(sl_json_at(list, 0), "count", 0);
}

static void run_cycles(void)
{
    for (int i = 0; i < 4; i++) {
        (void)sl_engine_cycle(w.engine, w.now_ms);
    }
}

/* `low` ran with five pods, was preempted and has stopped; by now it holds quota for one. */
static void reserve_anew_unwritten(void)
{
    add("low", 5, "2", 1);
    world_settle(&w);
    assert_int_equal(count_of("low"), 5);
    add("high", 1, "8", 5);
    world_settle(&w);
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    w.now_ms += 5000;
    sl_engine_job_stopped(w.engine, world_workload(&w, "low"), w.now_ms);
    run_cycles();
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 2);
}

/* The next decision about `low`, unanswered. */
static struct sl_decision next_of_low(enum sl_decision_kind kind)
{
    struct sl_decision d;
    while (sl_engine_next_decision(w.engine, &d)) {
        if (strcmp(d.name, "low") == 0 && d.kind == kind) {
            return d;
        }
        (void)world_answer(&w, &d, world_write(&w, &d, world_workload(&w, d.name)));
    }
    fail_msg("no decision of kind %d", (int)kind);
    return d;
}

static void carry_out(const struct sl_decision *d)
{
    (void)world_answer(&w, d, world_write(&w, d, world_workload(&w, "low")));
}

static void expect_released(void)
{
    const struct sl_json *low = world_workload(&w, "low");
    assert_null(sl_json_path(low, "status.admission"));
    world_expect(&w, "low", "QuotaReserved", "False", "PendingEvaluation");
    world_expect(&w, "low", "Admitted", "False", "NoReservation");
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    world_expect(&w, "low", "Requeued", "True", "Preempted");
}

static void expect_reserved(void)
{
    const struct sl_json *low = world_workload(&w, "low");
    const struct sl_json *stats = sl_json_path(low, "status.schedulingStats.evictions.0");
    assert_int_equal(count_of("low"), 1);
    world_expect(&w, "low", "Admitted", "True", "Admitted");
    world_expect(&w, "low", "Evicted", "False", "QuotaReserved");
    world_expect(&w, "low", "Preempted", "False", "QuotaReserved");
    assert_int_equal(sl_json_path_int(stats, "count", 0), 1);
}

static void test_released_is_written_before_the_next_reservation(void **state)
{
    (void)state;
    reserve_anew_unwritten();
    struct sl_decision d = next_of_low(SL_DECIDE_RELEASE);
    unsigned writes = w.writes;
    carry_out(&d);
    expect_released();
    d = next_of_low(SL_DECIDE_RESERVE);
    carry_out(&d);
    expect_reserved();
    world_settle(&w);
    expect_reserved();
    assert_int_equal(w.writes,
                     writes + 3); /* release and reservation of low, reservation of high */
}

static void test_released_write_that_fails_is_made_up_for_by_the_reservation(void **state)
{
    (void)state;
    reserve_anew_unwritten();
    struct sl_decision d = next_of_low(SL_DECIDE_RELEASE);
    w.fail_next = SL_CODE_UNAVAILABLE;
    carry_out(&d);
    d = next_of_low(SL_DECIDE_RESERVE);
    unsigned writes = w.writes;
    carry_out(&d);
    assert_int_equal(w.writes, writes + 2);
    expect_reserved();
    world_pass(&w, 2000);
    expect_reserved();
    assert_int_equal(w.writes,
                     writes + 3); /* and the reservation of high, which waited for the release */
}

/* The API took the write, and its reply was lost. */
static void test_released_write_in_doubt_is_not_repeated(void **state)
{
    (void)state;
    reserve_anew_unwritten();
    struct sl_decision d = next_of_low(SL_DECIDE_RELEASE);
    (void)world_write(&w, &d, world_workload(&w, "low"));
    (void)world_answer(&w, &d, SL_CODE_TIMEOUT);
    d = next_of_low(SL_DECIDE_RESERVE);
    unsigned writes = w.writes;
    carry_out(&d);
    assert_int_equal(w.writes, writes + 1);
    expect_reserved();
    world_pass(&w, 2000);
    expect_reserved();
}

/* Lost as well: then the reservation that was written meanwhile stays. */
static void test_released_late_retry_leaves_the_next_reservation_alone(void **state)
{
    (void)state;
    reserve_anew_unwritten();
    struct sl_decision late = next_of_low(SL_DECIDE_RELEASE);
    struct sl_decision d = next_of_low(SL_DECIDE_RESERVE);
    carry_out(&d);
    expect_reserved();
    unsigned writes = w.writes;
    carry_out(&late);
    assert_int_equal(w.writes, writes);
    expect_reserved();
    world_settle(&w);
    expect_reserved();
}

static void test_released_eviction_that_was_overtaken_is_written_with_it(void **state)
{
    (void)state;
    add("low", 5, "2", 1);
    world_settle(&w);
    add("high", 1, "8", 5);
    run_cycles();
    sl_engine_job_stopped(w.engine, world_workload(&w, "low"), w.now_ms);
    run_cycles();
    struct sl_decision d = next_of_low(SL_DECIDE_EVICT);
    assert_non_null(strstr(d.message, "Preempted to accommodate a workload (UID: "));
    carry_out(&d);
    expect_released();
    d = next_of_low(SL_DECIDE_RELEASE);
    unsigned writes = w.writes;
    carry_out(&d);
    assert_int_equal(w.writes, writes);
    d = next_of_low(SL_DECIDE_RESERVE);
    writes = w.writes;
    carry_out(&d);
    assert_int_equal(w.writes, writes + 1);
    expect_reserved();
    world_settle(&w);
    expect_reserved();
}

static void test_released_workload_that_goes_takes_it_along(void **state)
{
    (void)state;
    reserve_anew_unwritten();
    world_delete(&w, SL_KIND_WORKLOAD, "team", "low");
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_preempting, teardown)
/* --- taken back by somebody else -------------------------------------------------------------- */

static const char taken_back[] =
    "{\"status\":{\"admission\":null,\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":"
    "\"False\","
    "\"reason\":\"Pending\",\"message\":\"by hand\",\"lastTransitionTime\":"
    "\"2027-01-15T08:00:00Z\"}]}}";

static void hold_queue(void)
{
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    world_settle(&w);
}

static void test_released_by_others_frees_the_quota(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    hold_queue(); /* what is admitted stays so */
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", taken_back);
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"None\"}}");
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted"); /* and it is tried again */
}

static void test_released_by_others_while_it_stops_is_waited_for_no_longer(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq",
                      "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}");
    world_settle(&w);
    world_expect(&w, "a", "Evicted", "True", "ClusterQueueStopped");
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", taken_back);
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
}

static void test_released_object_older_than_the_reservation_takes_nothing_back(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    struct sl_json *old = sl_json_clone(world_workload(&w, "a"));
    world_settle(&w);
    (void)world_observe(&w, SL_KIND_WORKLOAD, old, NULL);
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    sl_json_free(old);
}

static void test_released_by_others_after_a_restart_frees_the_quota(void **state)
{
    (void)state;
    static const enum sl_kind kinds[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    hold_queue();
    world_restart(&w, kinds, 4);
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1);
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a", taken_back);
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
}

static void test_released_by_others_before_a_restart_is_not_taken_over(void **state)
{
    (void)state;
    static const enum sl_kind kinds[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    hold_queue();
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":"
                      "\"False\",\"reason\":\"Pending\",\"message\":\"by hand\","
                      "\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}}");
    world_restart(&w, kinds, 4); /* the admission still stands in the object */
    assert_non_null(sl_json_path(world_workload(&w, "a"), "status.admission"));
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
}

/* --- evicted by somebody else ----------------------------------------------------------------- */

static void evict_by_others(const char *name, const char *reason)
{
    struct sl_json *o = sl_json_clone(world_workload(&w, name));
    (void)sl_condition_set(sl_json_path_make(o, "status"), "Evicted", true, reason, "by hand", 1,
                           w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
}

/* Its job stops for it, so it must not stay where it is. */
static void test_released_eviction_by_others_ends_when_the_job_has_stopped(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    hold_queue();
    evict_by_others("a", "Preempted");
    world_expect(&w, "a", "Evicted", "True", "Preempted");
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 1); /* until the job has stopped */
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "reservingWorkloads"), 0);
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    const struct sl_json *requeued = sl_condition_find(world_workload(&w, "a"), "Requeued");
    assert_string_equal(sl_json_path_text(requeued, "reason", ""), "Preempted");
    assert_string_equal(sl_json_path_text(requeued, "message", ""), "by hand");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"None\"}}");
    w.now_ms += 5000;
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    world_expect(&w, "a", "Evicted", "False", "QuotaReserved");
}

/* What it says is of no kind that the record knows, and stays what it says. */
static void test_released_eviction_by_others_keeps_its_reason(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    hold_queue();
    evict_by_others("a", "Maintenance");
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms);
    world_settle(&w);
    assert_false(sl_condition_true(world_workload(&w, "a"), "QuotaReserved"));
    world_expect(&w, "a", "Evicted", "True", "Maintenance");
}

static void test_released_eviction_that_others_end_goes_on(void **state)
{
    (void)state;
    world_add_workload(&w, "a", "lq", 1, "1");
    world_settle(&w);
    hold_queue();
    evict_by_others("a", "Preempted");
    struct sl_json *o = sl_json_clone(world_workload(&w, "a"));
    (void)sl_condition_set(sl_json_path_make(o, "status"), "Evicted", false, "ByHand", "go on", 1,
                           w.now_ms);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    sl_engine_job_stopped(w.engine, world_workload(&w, "a"), w.now_ms); /* said too late */
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
}

static void test_released_eviction_that_is_over_is_not_taken_for_anothers(void **state)
{
    (void)state;
    reserve_anew_unwritten();
    world_settle(&w); /* it has quota again, and its object said Evicted until that was written */
    world_expect(&w, "low", "Admitted", "True", "Admitted");
    struct sl_json *seen = sl_json_clone(world_workload(&w, "low"));
    (void)world_observe(&w, SL_KIND_WORKLOAD, seen, NULL);
    world_settle(&w);
    world_expect(&w, "low", "Admitted", "True", "Admitted");
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 2);
    sl_json_free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_released_is_written_before_the_next_reservation),
        TEST(test_released_write_that_fails_is_made_up_for_by_the_reservation),
        TEST(test_released_write_in_doubt_is_not_repeated),
        TEST(test_released_late_retry_leaves_the_next_reservation_alone),
        TEST(test_released_eviction_that_was_overtaken_is_written_with_it),
        TEST(test_released_workload_that_goes_takes_it_along),
        TEST(test_released_by_others_frees_the_quota),
        TEST(test_released_by_others_while_it_stops_is_waited_for_no_longer),
        TEST(test_released_object_older_than_the_reservation_takes_nothing_back),
        TEST(test_released_by_others_after_a_restart_frees_the_quota),
        TEST(test_released_by_others_before_a_restart_is_not_taken_over),
        TEST(test_released_eviction_by_others_ends_when_the_job_has_stopped),
        TEST(test_released_eviction_by_others_keeps_its_reason),
        TEST(test_released_eviction_that_others_end_goes_on),
        TEST(test_released_eviction_that_is_over_is_not_taken_for_anothers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
