/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The makers of pods: how many there are, what they carry, and when they go. */
#include "t.h"
#include "pod_world.h"

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    world_init(w, true);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    world_fini(*state);
    sl_mem_free(*state);
    return 0;
}

static void test_pods_gated_job_gets_as_many_as_its_parallelism(void **state)
{
    struct world *w = *state;
    world_job(w, 3, true, "\"sluice.dev/run-for\":\"5s\"");
    world_turn(w, T0);
    struct sl_json *pod = world_pod(w, 1);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 3);
    assert_int_equal(sl_json_path_int(world_get(w, SL_KIND_JOB, "j"), "status.active", 0), 3);
    assert_string_equal(sl_object_label(pod, SL_LABEL_INDEX), "1");
    assert_string_equal(sl_object_annotation(pod, SL_LABEL_INDEX), "1");
    assert_string_equal(sl_object_label(pod, "kueue.x-k8s.io/podset"), "main");
    assert_string_equal(sl_object_annotation(pod, "kueue.x-k8s.io/workload"), "w");
    assert_string_equal(sl_object_annotation(pod, "sluice.dev/run-for"), "5s");
    assert_string_equal(sl_object_label(pod, "batch.kubernetes.io/job-name"), "j");
    assert_string_equal(sl_json_path_text(pod, "metadata.ownerReferences.0.uid", ""), "u");
    assert_true(strncmp(sl_object_name(pod), "j-1-", 4) == 0);
    assert_true(sl_template_gated(pod));
}

static void test_pods_job_without_the_gate_gets_none(void **state)
{
    struct world *w = *state;
    world_job(w, 3, false, "");
    sl_json_remove(sl_json_path(world_get(w, SL_KIND_JOB, "j"), "spec.template.spec"),
                   "schedulingGates");
    world_turn(w, T0);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 0);
}

static void test_pods_more_than_one_look_writes_are_made_in_several(void **state)
{
    struct world *w = *state;
    world_job(w, 100, false, "");
    world_turn(w, T0);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 100);
}

static void test_pods_deleted_and_failed_ones_are_replaced_with_their_index(void **state)
{
    struct world *w = *state;
    world_job(w, 3, true, "");
    world_turn(w, T0);
    sl_json_set_text(sl_json_path_make(world_pod(w, 2), "status"), "phase", "Failed");
    struct sl_write gone = {.verb = SL_VERB_DELETE,
                            .kind = SL_KIND_POD,
                            .ns = "n",
                            .name = sl_object_name(world_pod(w, 0))};
    fake_apply(&w->fake, &gone);
    world_turn(w, T0 + 1);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 4); /* the failed one is still shown */
    assert_int_equal(world_count(w, "Pending", ""), 3);
    assert_string_equal(sl_object_label(world_pod(w, 2), SL_LABEL_INDEX), "0");
    assert_string_equal(sl_object_label(world_pod(w, 3), SL_LABEL_INDEX), "2");
    assert_int_equal(sl_json_path_int(world_get(w, SL_KIND_JOB, "j"), "status.failed", 0), 1);
}

static void test_pods_suspended_job_loses_its_live_pods_and_then_is_inactive(void **state)
{
    struct world *w = *state;
    world_job(w, 2, false, "");
    world_turn(w, T0);
    sl_json_set_bool(sl_json_path(world_get(w, SL_KIND_JOB, "j"), "spec"), "suspend", true);
    world_turn(w, T0 + 1);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 0);
    struct sl_json *job = world_get(w, SL_KIND_JOB, "j");
    assert_null(sl_json_path(job, "status.active"));
    assert_true(sl_condition_true(job, "Suspended"));
}

/* It was admitted without a topology this time, and pods that have ended are left of the run before. */
static void test_pods_of_an_earlier_run_do_not_stop_what_the_runner_runs(void **state)
{
    struct world *w = *state;
    world_job(w, 2, true, "");
    sl_json_set_int(sl_json_path(world_get(w, SL_KIND_JOB, "j"), "spec"), "completions", 4);
    world_turn(w, T0);
    sl_json_set_text(sl_json_path_make(world_pod(w, 0), "status"), "phase", "Succeeded");
    struct sl_json *job = world_get(w, SL_KIND_JOB, "j");
    sl_json_remove(sl_json_path(job, "spec.template.spec"), "schedulingGates");
    sl_json_set_int(sl_json_path_make(job, "status"), "active", 2);
    world_turn(w, T0 + 1);
    world_turn(w, T0 + 2);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 1);
    assert_int_equal(sl_json_path_int(world_get(w, SL_KIND_JOB, "j"), "status.active", 0), 2);
}

static void test_pods_job_of_fewer_pods_loses_some(void **state)
{
    struct world *w = *state;
    world_job(w, 3, false, "");
    world_turn(w, T0);
    sl_json_set_int(sl_json_path(world_get(w, SL_KIND_JOB, "j"), "spec"), "parallelism", 1);
    world_turn(w, T0 + 1);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 1);
}

static void set_phases(struct world *w, const char *phase)
{
    struct sl_json *pod;
    for (unsigned i = 0; (pod = world_pod(w, i)) != NULL; i++) {
        sl_json_set_text(sl_json_path_make(pod, "status"), "phase", phase);
    }
}

static void test_pods_job_ends_with_its_last_pod_and_clears_up(void **state)
{
    struct world *w = *state;
    world_job(w, 2, true, "");
    sl_json_set_int(sl_json_path(world_get(w, SL_KIND_JOB, "j"), "spec"), "completions", 3);
    world_turn(w, T0);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 2);
    set_phases(w, "Succeeded");
    world_turn(w, T0 + 1);
    struct sl_json *job = world_get(w, SL_KIND_JOB, "j");
    assert_int_equal(sl_json_path_int(job, "status.succeeded", 0), 2);
    assert_int_equal(sl_json_path_int(job, "status.active", 0), 1);
    assert_string_equal(sl_object_label(world_pod(w, 2), SL_LABEL_INDEX), "2");
    set_phases(w, "Succeeded");
    world_turn(w, T0 + 2);
    assert_true(sl_condition_true(world_get(w, SL_KIND_JOB, "j"), "Complete"));
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 0);
}

static void test_pods_indexed_job_says_which_indexes_are_done(void **state)
{
    struct world *w = *state;
    static const char path[] = "status.completedIndexes";
    world_job(w, 5, true, "");
    world_turn(w, T0);
    sl_json_set_text(sl_json_path_make(world_pod(w, 1), "status"), "phase", "Succeeded");
    sl_json_set_text(sl_json_path_make(world_pod(w, 3), "status"), "phase", "Succeeded");
    world_turn(w, T0 + 1);
    assert_string_equal(sl_json_path_text(world_get(w, SL_KIND_JOB, "j"), path, ""), "1,3");
    sl_json_set_text(sl_json_path_make(world_pod(w, 4), "status"), "phase", "Succeeded");
    sl_json_set_text(sl_json_path_make(world_pod(w, 2), "status"), "phase", "Failed");
    world_turn(w, T0 + 2);
    assert_string_equal(sl_json_path_text(world_get(w, SL_KIND_JOB, "j"), path, ""), "1,3,4");
    set_phases(w, "Succeeded");
    world_turn(w, T0 + 3);
    assert_string_equal(sl_json_path_text(world_get(w, SL_KIND_JOB, "j"), path, ""), "0-4");
}

static void test_pods_job_that_is_stopped_when_all_have_succeeded_is_complete(void **state)
{
    struct world *w = *state;
    world_job(w, 2, true, "");
    world_turn(w, T0);
    set_phases(w, "Succeeded");
    sl_json_set_bool(sl_json_path(world_get(w, SL_KIND_JOB, "j"), "spec"), "suspend", true);
    world_turn(w, T0 + 1);
    assert_true(sl_condition_true(world_get(w, SL_KIND_JOB, "j"), "Complete"));
}

static void test_pods_job_that_is_to_fail_fails_with_its_first_pod(void **state)
{
    struct world *w = *state;
    world_job(w, 2, false, "\"sluice.dev/fail\":\"true\"");
    world_turn(w, T0);
    sl_json_set_text(sl_json_path_make(world_pod(w, 0), "status"), "phase", "Failed");
    world_turn(w, T0 + 1);
    assert_true(sl_condition_true(world_get(w, SL_KIND_JOB, "j"), "Failed"));
}

static void test_pods_of_an_earlier_job_of_that_name_do_not_count(void **state)
{
    struct world *w = *state;
    world_job(w, 1, false, "");
    world_turn(w, T0);
    sl_json_set_text(sl_json_path(world_get(w, SL_KIND_JOB, "j"), "metadata"), "uid", "other");
    world_turn(w, T0 + 1);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 2);
}

static void test_pods_bad_run_for_of_their_job_is_reported(void **state)
{
    struct world *w = *state;
    world_job(w, 1, false, "\"sluice.dev/run-for\":\"soon\"");
    world_turn(w, T0);
    assert_int_equal(fake_count(&w->fake, SL_KIND_EVENT), 1);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pods_gated_job_gets_as_many_as_its_parallelism),
        TEST(test_pods_job_without_the_gate_gets_none),
        TEST(test_pods_more_than_one_look_writes_are_made_in_several),
        TEST(test_pods_deleted_and_failed_ones_are_replaced_with_their_index),
        TEST(test_pods_suspended_job_loses_its_live_pods_and_then_is_inactive),
        TEST(test_pods_of_an_earlier_run_do_not_stop_what_the_runner_runs),
        TEST(test_pods_job_of_fewer_pods_loses_some),
        TEST(test_pods_job_ends_with_its_last_pod_and_clears_up),
        TEST(test_pods_indexed_job_says_which_indexes_are_done),
        TEST(test_pods_job_that_is_stopped_when_all_have_succeeded_is_complete),
        TEST(test_pods_job_that_is_to_fail_fails_with_its_first_pod),
        TEST(test_pods_of_an_earlier_job_of_that_name_do_not_count),
        TEST(test_pods_bad_run_for_of_their_job_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
