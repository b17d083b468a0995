/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption and partial admission as the API sees them: who is told what. */
#include "scene.h"

static int setup_preemption(void **state)
{
    (void)setup(state);
    world_add_flavor(&w, "spot", "{}");
    return 0;
}

static void add_queue(const char *more)
{
    world_add_cluster_queue(&w, "cq", "spot", "10", more);
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
}

static void add(const char *name, int count, const char *cpu, int priority)
{
    struct sl_json *o = world_new_workload("team", name, "lq", count, cpu);
    sl_json_set_int(sl_json_get(o, "spec"), "priority", priority);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
}

static void stop(const char *name)
{
    sl_engine_job_stopped(w.engine, world_workload(&w, name), w.now_ms);
    world_settle(&w);
}

#define LOWER ",\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}"

/* What clients of Kueue parse, too. */
static void expect_told(const char *type, const char *job_uid, const char *path)
{
    char wanted[512];
    (void)snprintf(
        wanted, sizeof wanted,
        "Preempted to accommodate a workload (UID: %s, JobUID: %s) due to prioritization "
        "in the ClusterQueue; preemptor path: %s; preemptee path: %s",
        sl_object_uid(world_workload(&w, "high")), job_uid, path, path);
    assert_string_equal(
        sl_json_path_text(sl_condition_find(world_workload(&w, "low"), type), "message", ""),
        wanted);
}

static void test_preemption_victim_is_told_by_whom_and_why(void **state)
{
    (void)state;
    add_queue(LOWER);
    add("low", 1, "8", 1);
    world_settle(&w);
    add("high", 1, "8", 5);
    world_settle(&w);
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    world_expect(&w, "low", "Preempted", "True", "InClusterQueue");
    world_expect(&w, "low", "QuotaReserved", "True", "QuotaReserved");
    expect_told("Preempted", "UNKNOWN", "/cq");
    const struct sl_json *stats =
        sl_json_path(world_workload(&w, "low"), "status.schedulingStats.evictions.0");
    assert_string_equal(sl_json_path_text(stats, "reason", ""), "Preempted");
    assert_int_equal(sl_json_path_int(stats, "count", 0), 1);
}

static void test_preemption_victim_is_told_even_before_its_reservation_was_written(void **state)
{
    (void)state;
    add_queue(LOWER);
    add("low", 1, "8", 1);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    add("high", 1, "8", 5);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    world_settle(&w);
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    const struct sl_json *low = world_workload(&w, "low");
    expect_told("Evicted", "UNKNOWN", "/cq");
    expect_told("Preempted", "UNKNOWN", "/cq");
    assert_string_equal(sl_json_path_text(sl_condition_find(low, "QuotaReserved"), "message", ""),
                        "Quota reserved in ClusterQueue cq");
}

static void test_preemption_victim_is_told_the_job_and_the_way_through_the_cohorts(void **state)
{
    (void)state;
    world_add(&w, SL_KIND_COHORT,
              "{\"metadata\":{\"name\":\"team\"},\"spec\":{\"parentName\":\"all\"}}");
    add_queue(LOWER ",\"cohortName\":\"team\"");
    add("low", 1, "8", 1);
    world_settle(&w);
    struct sl_json *o = world_new_workload("team", "high", "lq", 1, "8");
    sl_json_set_int(sl_json_get(o, "spec"), "priority", 5);
    sl_json_set_text(sl_json_path_make(o, "metadata.labels"), "kueue.x-k8s.io/job-uid", "job-1");
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    expect_told("Preempted", "job-1", "/all/team/cq");
}

static void test_preemption_decision_names_the_preemptor(void **state)
{
    (void)state;
    struct sl_decision d;
    bool seen = false;
    add_queue(LOWER);
    add("low", 1, "8", 1);
    world_settle(&w);
    add("high", 1, "8", 5);
    (void)sl_engine_cycle(w.engine, w.now_ms);
    while (sl_engine_next_decision(w.engine, &d)) {
        assert_true((d.by_name != NULL) == (d.kind == SL_DECIDE_EVICT));
        if (d.kind == SL_DECIDE_EVICT) {
            seen = true;
            assert_string_equal(d.by_ns, "team");
            assert_string_equal(d.by_name, "high");
            assert_string_equal(d.by_uid, sl_object_uid(world_workload(&w, "high")));
        }
    }
    assert_true(seen);
}

static void test_preemption_preemptor_waits_and_follows(void **state)
{
    (void)state;
    add_queue(LOWER);
    add("low", 1, "8", 1);
    world_settle(&w);
    add("high", 1, "8", 5);
    world_settle(&w);
    world_expect(&w, "high", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
    const char *text = sl_json_path_text(
        sl_condition_find(world_workload(&w, "high"), "QuotaReserved"), "message", "");
    assert_non_null(strstr(text, "Pending the preemption of 1 workload(s)"));
    assert_non_null(sl_json_path(world_workload(&w, "high"), "status.resourceRequests"));
    stop("low");
    world_expect(&w, "high", "Admitted", "True", "Admitted");
    world_expect(&w, "low", "Requeued", "True", "Preempted");
    world_expect(&w, "low", "QuotaReserved", "False", "WaitingForQuota");
    assert_null(sl_json_path(world_workload(&w, "low"), "status.admission"));
}

static void test_preemption_nobody_is_evicted_twice(void **state)
{
    (void)state;
    add_queue(LOWER);
    add("low", 1, "8", 1);
    world_settle(&w);
    add("high", 1, "8", 5);
    world_settle(&w);
    unsigned writes = w.writes;
    for (int i = 0; i < 5; i++) {
        world_pass(&w, 1000);
    }
    assert_int_equal(w.writes, writes);
}

static void test_preemption_vanished_victim_counts_as_gone(void **state)
{
    (void)state;
    add_queue(LOWER);
    add("low", 1, "8", 1);
    world_settle(&w);
    add("high", 1, "8", 5);
    world_settle(&w);
    world_delete(&w, SL_KIND_WORKLOAD, "team", "low");
    world_settle(&w);
    world_expect(&w, "high", "Admitted", "True", "Admitted");
}

static void test_preemption_conditions_are_laid_down_on_readmission(void **state)
{
    (void)state;
    add_queue(LOWER);
    add("low", 1, "8", 1);
    world_settle(&w);
    add("high", 1, "8", 5);
    world_settle(&w);
    stop("low");
    world_delete(&w, SL_KIND_WORKLOAD, "team", "high");
    world_settle(&w);
    world_expect(&w, "low", "Admitted", "True", "Admitted");
    world_expect(&w, "low", "Evicted", "False", "QuotaReserved");
    world_expect(&w, "low", "Preempted", "False", "QuotaReserved");
}

static void test_preemption_reclaims_what_the_cohort_borrowed(void **state)
{
    (void)state;
    world_add_cluster_queue(&w, "other", "spot", "10",
                            ",\"cohortName\":\"c\",\"preemption\":{\"reclaimWithinCohort\":"
                            "\"Any\"}");
    world_add_local_queue(&w, "team", "mine", "other");
    add_queue(",\"cohortName\":\"c\"");
    add("borrower", 1, "15", 9);
    world_settle(&w);
    world_expect(&w, "borrower", "Admitted", "True", "Admitted");
    world_add_workload(&w, "owner", "mine", 1, "8");
    world_settle(&w);
    world_expect(&w, "borrower", "Preempted", "True", "InCohortReclamation");
    stop("borrower");
    world_expect(&w, "owner", "Admitted", "True", "Admitted");
}

/* Both borrow, and the victim is older: it would be first again, and they would take turns for ever. */
static void test_preemption_by_a_borrower_sends_the_victim_behind_it(void **state)
{
    (void)state;
    struct sl_engine_settings settings = sl_engine_settings_default();
    settings.policy.priority_sorting_within_cohort = false;
    world_close(&w);
    world_open_with(&w, NULL, &settings);
    world_add_flavor(&w, "spot", "{}");
    world_add_cluster_queue(&w, "other", "spot", "6", ",\"cohortName\":\"c\"");
    world_add_local_queue(&w, "team", "theirs", "other");
    add_queue(",\"cohortName\":\"c\",\"preemption\":{\"reclaimWithinCohort\":\"LowerPriority\","
              "\"borrowWithinCohort\":{\"policy\":\"LowerPriority\"}}");
    world_add_workload(&w, "victim", "theirs", 1, "8");
    world_settle(&w);
    world_expect(&w, "victim", "Admitted", "True", "Admitted");
    world_pass(&w, 1000);
    add("borrower", 1, "12", 5);
    world_settle(&w);
    world_expect(&w, "victim", "Preempted", "True", "InCohortReclaimWhileBorrowing");
    stop("victim");
    world_expect(&w, "borrower", "Admitted", "True", "Admitted");
    world_expect(&w, "victim", "QuotaReserved", "False", "WaitingForQuota");
}

static void test_preemption_of_a_held_queue_waits_until_it_runs_again(void **state)
{
    (void)state;
    world_add_cluster_queue(&w, "other", "spot", "10",
                            ",\"cohortName\":\"c\",\"preemption\":{\"reclaimWithinCohort\":"
                            "\"Any\"}");
    world_add_local_queue(&w, "team", "mine", "other");
    add_queue(",\"cohortName\":\"c\"");
    add("borrower", 1, "15", 9);
    world_settle(&w);
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"Hold\"}}");
    world_settle(&w);
    world_add_workload(&w, "owner", "mine", 1, "8");
    world_settle(&w);
    world_expect(&w, "owner", "QuotaReserved", "False", "WaitingForQuota");
    (void)world_patch(&w, SL_KIND_CLUSTER_QUEUE, "", "cq", "{\"spec\":{\"stopPolicy\":\"None\"}}");
    world_settle(&w);
    world_expect(&w, "borrower", "Preempted", "True", "InCohortReclamation");
}

static void test_preemption_survives_a_restart(void **state)
{
    (void)state;
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    add_queue(LOWER);
    add("low", 1, "8", 1);
    world_settle(&w);
    add("high", 1, "8", 5);
    world_settle(&w);
    world_restart(&w, order, 4);
    world_settle(&w);
    world_expect(&w, "low", "Evicted", "True", "Preempted");
    stop("low");
    world_expect(&w, "high", "Admitted", "True", "Admitted");
}

static void test_partial_admission_writes_the_reduced_count(void **state)
{
    (void)state;
    add_queue("");
    struct sl_json *o = world_new_workload("team", "a", "lq", 8, "2");
    sl_json_set_int(sl_json_path(o, "spec.podSets.0"), "minCount", 3);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
    world_expect(&w, "a", "Admitted", "True", "Admitted");
    const struct sl_json *assignment =
        sl_json_path(world_workload(&w, "a"), "status.admission.podSetAssignments.0");
    assert_int_equal(sl_json_path_int(assignment, "count", 0), 5);
    assert_string_equal(sl_json_path_text(assignment, "resourceUsage.cpu", ""), "10");
    static const enum sl_kind order[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_CLUSTER_QUEUE,
                                         SL_KIND_LOCAL_QUEUE, SL_KIND_WORKLOAD};
    world_restart(&w, order, 4);
    world_settle(&w);
    assert_int_equal(world_count_cq(&w, "admittedWorkloads"), 1);
    world_add_workload(&w, "b", "lq", 1, "1");
    world_settle(&w);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
}

static void test_partial_admission_is_not_told_that_it_can_never_fit(void **state)
{
    (void)state;
    add_queue("");
    world_add_workload(&w, "a", "lq", 5, "2");
    world_settle(&w);
    struct sl_json *o = world_new_workload("team", "b", "lq", 8, "2");
    sl_json_set_int(sl_json_path(o, "spec.podSets.0"), "minCount", 3);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_add_workload(&w, "c", "lq", 8, "2");
    world_settle(&w);
    const struct sl_json *some = sl_condition_find(world_workload(&w, "b"), "QuotaReserved");
    const struct sl_json *all = sl_condition_find(world_workload(&w, "c"), "QuotaReserved");
    const char *says = "partial admission may start it with fewer pods";
    assert_non_null(strstr(sl_json_path_text(some, "message", ""), says));
    assert_null(strstr(sl_json_path_text(all, "message", ""), says));
}

static void test_forced_cycle_looks_at_heads_that_wait(void **state)
{
    (void)state;
    add_queue(",\"queueingStrategy\":\"StrictFIFO\"");
    add("a", 1, "8", 0);
    world_settle(&w);
    add("b", 1, "8", 0);
    world_settle(&w);
    struct sl_engine_counters before;
    struct sl_engine_counters after;
    sl_engine_count(w.engine, &before);
    assert_false(sl_engine_cycle(w.engine, w.now_ms)); /* nothing to try */
    sl_engine_force_cycle(w.engine, w.now_ms);
    sl_engine_count(w.engine, &after);
    assert_int_equal(after.cycles, before.cycles + 1);
    world_settle(&w);
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_preemption, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_preemption_victim_is_told_by_whom_and_why),
        TEST(test_preemption_victim_is_told_even_before_its_reservation_was_written),
        TEST(test_preemption_victim_is_told_the_job_and_the_way_through_the_cohorts),
        TEST(test_preemption_decision_names_the_preemptor),
        TEST(test_preemption_preemptor_waits_and_follows),
        TEST(test_preemption_nobody_is_evicted_twice),
        TEST(test_preemption_vanished_victim_counts_as_gone),
        TEST(test_preemption_conditions_are_laid_down_on_readmission),
        TEST(test_preemption_reclaims_what_the_cohort_borrowed),
        TEST(test_preemption_by_a_borrower_sends_the_victim_behind_it),
        TEST(test_preemption_of_a_held_queue_waits_until_it_runs_again),
        TEST(test_preemption_survives_a_restart),
        TEST(test_partial_admission_writes_the_reduced_count),
        TEST(test_partial_admission_is_not_told_that_it_can_never_fit),
        TEST(test_forced_cycle_looks_at_heads_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
