/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The job runner over a fake client and a virtual clock. */
#include "t.h"
#include "base/clock.h"
#include "controllers/cluster/runner.h"
#include "fake_client.h"

#define T0 1700000000000

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_runner runner;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_runner_init(&f->runner, &f->fake.client, f->recorder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_runner_fini(&f->runner);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static void put_job(struct fixture *f, const char *annotations, bool suspend, int parallelism)
{
    char text[600];
    snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"j\",\"namespace\":\"n\",\"uid\":\"u\",\"annotations\":{%s}},"
        "\"spec\":{\"suspend\":%s,\"parallelism\":%d,\"completions\":%d,\"template\":{}}}",
        annotations, suspend ? "true" : "false", parallelism, parallelism);
    fake_put(&f->fake, SL_KIND_JOB, parse(text));
}

static struct sl_json *job(struct fixture *f)
{
    return fake_find(&f->fake, SL_KIND_JOB, "n", "j");
}

/* Let the runner see the Job as it is, at that time. */
static void step(struct fixture *f, int64_t at_ms)
{
    sl_clock_set_virtual(at_ms);
    struct sl_json *seen = sl_json_clone(job(f));
    sl_runner_observe(&f->runner, seen, false);
    sl_reconciler_step(&f->runner.jobs, at_ms, 16);
    fake_flush(&f->fake);
    sl_json_free(seen);
}

static void test_runner_unsuspended_job_starts_and_completes_after_its_time(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"sluice.dev/run-for\":\"1500ms\"", false, 3);

    step(f, T0);
    assert_true(sl_json_path_int(job(f), "status.active", 0) == 3);
    assert_string_equal(sl_json_path_text(job(f), "status.startTime", ""), "2023-11-14T22:13:20Z");
    step(f, T0 + 1499);
    assert_false(sl_condition_true(job(f), "Complete"));
    assert_true(sl_work_due_ms(f->runner.jobs.work) == T0 + 1500);
    step(f, T0 + 1500);

    assert_true(sl_condition_true(job(f), "Complete"));
    assert_true(sl_json_path_int(job(f), "status.succeeded", 0) == 3);
    assert_true(sl_json_path_int(job(f), "status.active", 0) == 0);
    assert_non_null(sl_json_path(job(f), "status.completionTime"));
}

static void test_runner_indexed_job_says_which_indexes_are_done(void **state)
{
    struct fixture *f = *state;
    static const char *const done[] = {"0", "0,1", "0-2"};
    for (int n = 1; n <= 3; n++) {
        put_job(f, "", false, n);
        sl_json_set_text(sl_json_get(job(f), "spec"), "completionMode", "Indexed");
        step(f, T0);
        assert_null(sl_json_path(job(f), "status.completedIndexes"));
        step(f, T0 + 1000);
        assert_string_equal(sl_json_path_text(job(f), "status.completedIndexes", ""), done[n - 1]);
        step(f, T0 + 2000);
    }
    put_job(f, "\"sluice.dev/fail\":\"true\"", false, 2);
    sl_json_set_text(sl_json_get(job(f), "spec"), "completionMode", "Indexed");
    step(f, T0);
    step(f, T0 + 1000);
    assert_true(sl_condition_true(job(f), "Failed"));
    assert_null(sl_json_path(job(f), "status.completedIndexes"));
}

static void test_runner_suspended_job_is_left_alone(void **state)
{
    struct fixture *f = *state;
    put_job(f, "", true, 1);
    step(f, T0);
    assert_int_equal(f->fake.write_count, 0);
}

static void test_runner_failing_job_is_failed(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"sluice.dev/fail\":\"true\"", false, 2);
    step(f, T0);
    step(f, T0 + 1000);
    assert_true(sl_condition_true(job(f), "Failed"));
    assert_false(sl_condition_true(job(f), "Complete"));
    assert_true(sl_json_path_int(job(f), "status.failed", 0) == 2);
}

static void test_runner_suspending_stops_it_and_resuming_starts_anew(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"sluice.dev/run-for\":\"10s\"", false, 1);
    step(f, T0);

    sl_json_set_bool(sl_json_get(job(f), "spec"), "suspend", true);
    step(f, T0 + 5000);
    assert_true(sl_json_path_int(job(f), "status.active", 0) == 0);
    assert_true(sl_condition_true(job(f), "Suspended"));

    sl_json_set_bool(sl_json_get(job(f), "spec"), "suspend", false);
    step(f, T0 + 20000);
    assert_true(sl_json_path_int(job(f), "status.active", 0) == 1);
    assert_false(sl_condition_true(job(f), "Suspended"));
    step(f, T0 + 29999);
    assert_false(sl_condition_true(job(f), "Complete"));
    step(f, T0 + 30000);
    assert_true(sl_condition_true(job(f), "Complete"));
}

static void test_runner_bad_annotation_is_reported_and_runs_a_second(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"sluice.dev/run-for\":\"soon\"", false, 1);
    step(f, T0);
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
    step(f, T0 + 999);
    assert_false(sl_condition_true(job(f), "Complete"));
    step(f, T0 + 1000);
    assert_true(sl_condition_true(job(f), "Complete"));
}

static void test_runner_pods_are_ready_when_the_annotation_says(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"sluice.dev/run-for\":\"10s\",\"sluice.dev/ready-after\":\"4s\"", false, 2);
    step(f, T0);
    assert_true(sl_json_path_int(job(f), "status.active", 0) == 2);
    assert_true(sl_json_path_int(job(f), "status.ready", -1) == 0);
    step(f, T0 + 3999);
    assert_true(sl_json_path_int(job(f), "status.ready", -1) == 0);
    assert_true(sl_work_due_ms(f->runner.jobs.work) == T0 + 4000);
    step(f, T0 + 4000);
    assert_true(sl_json_path_int(job(f), "status.ready", -1) == 2);
    assert_false(sl_condition_true(job(f), "Complete"));
    step(f, T0 + 10000);
    assert_true(sl_condition_true(job(f), "Complete"));
}

static void test_runner_bad_ready_annotation_is_reported_and_pods_are_ready(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"sluice.dev/ready-after\":\"later\"", false, 1);
    step(f, T0);
    assert_int_equal(fake_count(&f->fake, SL_KIND_EVENT), 1);
    assert_true(sl_json_path_int(job(f), "status.ready", -1) == 1);
}

static void test_runner_job_that_ends_before_it_is_ready_ends(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"sluice.dev/ready-after\":\"1h\"", false, 1);
    step(f, T0);
    step(f, T0 + 1000);
    assert_true(sl_condition_true(job(f), "Complete"));
}

static void test_runner_after_restart_goes_on_from_the_start_time(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"sluice.dev/run-for\":\"10s\"", false, 1);
    step(f, T0);
    sl_runner_fini(&f->runner);
    sl_runner_init(&f->runner, &f->fake.client, f->recorder);

    step(f, T0 + 4000);
    assert_false(sl_condition_true(job(f), "Complete"));
    assert_true(sl_work_due_ms(f->runner.jobs.work) == T0 + 10000);
    step(f, T0 + 10000);

    assert_true(sl_condition_true(job(f), "Complete"));
}

static void test_runner_conflict_is_tried_again(void **state)
{
    struct fixture *f = *state;
    put_job(f, "", false, 1);
    f->fake.next_code = SL_CODE_CONFLICT;
    step(f, T0);
    assert_null(sl_json_path(job(f), "status.startTime"));

    sl_reconciler_step(&f->runner.jobs, T0, 16);
    fake_flush(&f->fake);

    assert_non_null(sl_json_path(job(f), "status.startTime"));
}

static void test_runner_store_failure_is_tried_again_later(void **state)
{
    struct fixture *f = *state;
    put_job(f, "", false, 1);
    f->fake.next_code = SL_CODE_INTERNAL;
    step(f, T0);
    assert_true(sl_work_due_ms(f->runner.jobs.work) == T0 + SL_RETRY_MS);

    f->fake.read_code = SL_CODE_INTERNAL;
    sl_clock_set_virtual(T0 + SL_RETRY_MS);
    sl_reconciler_step(&f->runner.jobs, T0 + SL_RETRY_MS, 16);
    assert_true(sl_work_due_ms(f->runner.jobs.work) == T0 + 2 * SL_RETRY_MS);
    f->fake.read_code = SL_CODE_OK;
    sl_reconciler_step(&f->runner.jobs, T0 + 2 * SL_RETRY_MS, 16);
    fake_flush(&f->fake);

    assert_non_null(sl_json_path(job(f), "status.startTime"));
}

static void test_runner_deleted_job_is_forgotten(void **state)
{
    struct fixture *f = *state;
    put_job(f, "\"sluice.dev/run-for\":\"10s\"", false, 1);
    step(f, T0);
    struct sl_json *gone = sl_json_clone(job(f));
    struct sl_write w = {.verb = SL_VERB_DELETE, .kind = SL_KIND_JOB, .ns = "n", .name = "j"};
    f->fake.client.write(&f->fake, &w, NULL, NULL);
    sl_runner_observe(&f->runner, gone, true);
    unsigned before = f->fake.write_count;

    sl_reconciler_step(&f->runner.jobs, T0 + 10000, 16);

    assert_int_equal(f->fake.write_count, before);
    sl_json_free(gone);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
/* Its pods are those that it asks for; ready are those that have quota. */
static void test_runner_elastic_job_has_as_many_pods_ready_as_have_quota(void **state)
{
    struct fixture *f = *state;
    struct sl_podbook *book = sl_podbook_new();
    struct sl_elastic_ungater slices;
    sl_elastic_ungater_init(&slices, &f->fake.client, f->recorder, book);
    f->runner.slices = &slices;
    put_job(f, "\"sluice.dev/run-for\":\"1h\"", false, 2);
    sl_json_set_text(sl_json_path_make(job(f), "spec.template.metadata.annotations"),
                     "kueue.x-k8s.io/workload-slice-name", "s");
    fake_put(
        &f->fake, SL_KIND_WORKLOAD,
        parse(
            "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\",\"uid\":\"w\",\"annotations\":{"
            "\"kueue.x-k8s.io/elastic-job\":\"true\"},\"ownerReferences\":[{\"controller\":true,"
            "\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"u\"}]},"
            "\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":2}]},\"status\":{\"conditions\":["
            "{\"type\":\"QuotaReserved\",\"status\":\"True\"},"
            "{\"type\":\"Admitted\",\"status\":\"True\"}]}}"));
    struct sl_json *wl = fake_find(&f->fake, SL_KIND_WORKLOAD, "n", "s");
    sl_elastic_ungater_observe_workload(&slices, wl, false);
    step(f, T0);
    assert_int_equal(sl_json_path_int(job(f), "status.active", 0), 2);
    assert_int_equal(sl_json_path_int(job(f), "status.ready", 0), 2);
    sl_json_set_int(sl_json_get(job(f), "spec"), "parallelism", 5);
    sl_json_set_int(sl_json_get(job(f), "spec"), "completions", 5);
    step(f, T0 + 1000);
    assert_int_equal(sl_json_path_int(job(f), "status.active", 0), 5);
    assert_int_equal(sl_json_path_int(job(f), "status.ready", 0), 2);
    sl_json_set_int(sl_json_at(sl_json_path(wl, "spec.podSets"), 0), "count", 5);
    sl_runner_observe_workload(&f->runner, wl);
    sl_reconciler_step(&f->runner.jobs, T0 + 2000, 16);
    fake_flush(&f->fake);
    assert_int_equal(sl_json_path_int(job(f), "status.ready", 0), 5);
    unsigned writes = f->fake.write_count;
    step(f, T0 + 3000);
    assert_int_equal(f->fake.write_count, writes);
    sl_elastic_ungater_fini(&slices);
    sl_podbook_free(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_runner_unsuspended_job_starts_and_completes_after_its_time),
        TEST(test_runner_elastic_job_has_as_many_pods_ready_as_have_quota),
        TEST(test_runner_indexed_job_says_which_indexes_are_done),
        TEST(test_runner_suspended_job_is_left_alone),
        TEST(test_runner_failing_job_is_failed),
        TEST(test_runner_suspending_stops_it_and_resuming_starts_anew),
        TEST(test_runner_bad_annotation_is_reported_and_runs_a_second),
        TEST(test_runner_pods_are_ready_when_the_annotation_says),
        TEST(test_runner_bad_ready_annotation_is_reported_and_pods_are_ready),
        TEST(test_runner_job_that_ends_before_it_is_ready_ends),
        TEST(test_runner_after_restart_goes_on_from_the_start_time),
        TEST(test_runner_conflict_is_tried_again),
        TEST(test_runner_store_failure_is_tried_again_later),
        TEST(test_runner_deleted_job_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
