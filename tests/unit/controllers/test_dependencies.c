/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Jobs that run after others, over a fake client and a virtual clock. */
#include "t.h"
#include "base/clock.h"
#include "controllers/cluster/dependencies.h"
#include "controllers/work/framework.h"
#include "fake_client.h"

#define T0 1700000000000

struct fixture {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_dependencies dependencies;
};

static int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    sl_clock_set_virtual(T0);
    fake_init(&f->fake);
    f->recorder = sl_recorder_new(&f->fake.client);
    sl_dependencies_init(&f->dependencies, &f->fake.client, f->recorder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fake_flush(&f->fake);
    sl_dependencies_fini(&f->dependencies);
    fake_fini(&f->fake);
    sl_recorder_free(f->recorder);
    sl_mem_free(f);
    return 0;
}

static struct sl_json *job(struct fixture *f, const char *name)
{
    return fake_find(&f->fake, SL_KIND_JOB, "n", name);
}

static void look(struct fixture *f, int64_t at_ms)
{
    sl_clock_set_virtual(at_ms);
    for (int i = 0; i < 4; i++) {
        sl_reconciler_step(&f->dependencies.jobs, at_ms, 16);
        fake_flush(&f->fake);
    }
}

static void see(struct fixture *f, const char *name)
{
    struct sl_json *seen = sl_json_clone(job(f, name));
    sl_dependencies_observe(&f->dependencies, seen);
    sl_json_free(seen);
    look(f, T0);
}

/* Its UID is "u-" and its name. */
static void put(struct fixture *f, const char *name, const char *after, const char *gates)
{
    char text[800];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"u-%s\","
             "\"resourceVersion\":\"1\",\"annotations\":{\"sluice.dev/after\":\"%s\","
             "\"kueue.x-k8s.io/admission-gated-by\":\"%s\"}},"
             "\"spec\":{\"suspend\":true,\"template\":{}}}",
             name, name, after, gates);
    fake_put(&f->fake, SL_KIND_JOB, parse(text));
}

static void end(struct fixture *f, const char *name, const char *condition)
{
    sl_condition_set(sl_json_path_make(job(f, name), "status"), condition, true, "Test", "", 0, T0);
}

static const char *gates(struct fixture *f, const char *name)
{
    return sl_object_annotation(job(f, name), SL_ANNOTATION_GATED_BY);
}

static const char *failure(struct fixture *f, const char *name)
{
    const struct sl_json *c = sl_condition_find(job(f, name), "Failed");
    return sl_json_path_text(c, "message", "");
}

static void test_dependencies_open_the_gate_when_the_job_is_complete(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "", "");
    put(f, "b", "a:u-a", "sluice.dev/after");
    see(f, "b");
    assert_string_equal(gates(f, "b"), "sluice.dev/after");
    see(f, "a"); /* it has begun, or something else about it has changed */
    assert_string_equal(gates(f, "b"), "sluice.dev/after");

    end(f, "a", "Complete");
    see(f, "a");
    assert_null(gates(f, "b"));
    assert_string_equal(failure(f, "b"), "");
}

static void test_dependencies_wait_for_all_and_leave_other_gates(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "", "");
    put(f, "b", "", "");
    put(f, "c", "a:u-a, b", "x.com/y,sluice.dev/after");
    end(f, "b", "Complete");
    see(f, "c");
    assert_string_equal(gates(f, "c"), "x.com/y,sluice.dev/after");
    end(f, "a", "Complete");
    see(f, "a");
    assert_string_equal(gates(f, "c"), "x.com/y");
}

static void test_dependencies_fail_the_job_when_one_has_failed(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "", "");
    put(f, "b", "a", "sluice.dev/after");
    put(f, "c", "b:u-b", "sluice.dev/after");
    see(f, "b");
    see(f, "c");
    end(f, "a", "Failed");
    see(f, "a");
    assert_string_equal(failure(f, "b"), "Job a, which it was to run after, has failed");
    assert_string_equal(gates(f, "b"), "sluice.dev/after"); /* it is not queued */
    see(f, "b");                                            /* and so on down the line */
    assert_string_equal(failure(f, "c"), "Job b, which it was to run after, has failed");
}

static void test_dependencies_fail_the_job_when_one_is_deleted(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "", "");
    put(f, "b", "a:u-a", "sluice.dev/after");
    see(f, "b");
    struct sl_json *last = sl_json_clone(job(f, "a"));
    fake_remove(&f->fake, SL_KIND_JOB, "n", "a");
    sl_dependencies_observe(&f->dependencies, last);
    look(f, T0);
    sl_json_free(last);
    assert_string_equal(failure(f, "b"), "Job a, which it was to run after, was deleted");
}

static void test_dependencies_another_job_of_that_name_does_not_count(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "", "");
    end(f, "a", "Complete");
    put(f, "b", "a:u-before", "sluice.dev/after");
    see(f, "b");
    assert_string_equal(failure(f, "b"), "Job a, which it was to run after, was deleted");
}

static void test_dependencies_wait_for_a_name_that_is_yet_to_come(void **state)
{
    struct fixture *f = *state;
    put(f, "b", "a", "sluice.dev/after");
    see(f, "b");
    assert_string_equal(failure(f, "b"), "");
    put(f, "a", "", "");
    see(f, "a");
    assert_string_equal(gates(f, "b"), "sluice.dev/after");
    end(f, "a", "Complete");
    see(f, "a");
    assert_null(gates(f, "b"));
}

static void test_dependencies_leave_others_alone(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "", "");
    end(f, "a", "Complete");
    put(f, "b", "a", "x.com/y"); /* somebody else's gate */
    put(f, "c", "a", "sluice.dev/after");
    end(f, "c", "Failed");
    see(f, "b");
    see(f, "c");
    assert_string_equal(gates(f, "b"), "x.com/y");
    assert_string_equal(gates(f, "c"), "sluice.dev/after");
}

static void test_dependencies_a_read_that_fails_is_tried_again(void **state)
{
    struct fixture *f = *state;
    put(f, "a", "", "");
    end(f, "a", "Complete");
    put(f, "b", "a:u-a", "sluice.dev/after");
    f->fake.read_code = SL_CODE_UNAVAILABLE;
    see(f, "b");
    assert_string_equal(gates(f, "b"), "sluice.dev/after");
    f->fake.read_code = SL_CODE_OK;
    look(f, T0 + SL_RETRY_MS);
    assert_null(gates(f, "b"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_dependencies_open_the_gate_when_the_job_is_complete),
        TEST(test_dependencies_wait_for_all_and_leave_other_gates),
        TEST(test_dependencies_fail_the_job_when_one_has_failed),
        TEST(test_dependencies_fail_the_job_when_one_is_deleted),
        TEST(test_dependencies_another_job_of_that_name_does_not_count),
        TEST(test_dependencies_wait_for_a_name_that_is_yet_to_come),
        TEST(test_dependencies_leave_others_alone),
        TEST(test_dependencies_a_read_that_fails_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
