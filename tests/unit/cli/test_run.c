/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Job that run makes of a command, and what it refuses to make. */
#include "t.h"
#include "cli/common/run.h"
#include <stdlib.h>

static char *const words[] = {"/usr/bin/Python3.11", "train.py", "--epochs", "3"};

static struct sl_submit submit_base(void)
{
    return (struct sl_submit){.ns = "lab", .queue = "main", .cpu = "2", .parallelism = 1};
}

static struct sl_json *made(struct sl_run *r, struct sl_submit *s)
{
    struct sl_error e = {0};
    r->words = r->words == NULL ? words : r->words;
    r->word_count = r->word_count == 0 ? 4 : r->word_count;
    assert_int_equal(sl_run_check(r, s, &e), SL_CODE_OK);
    return sl_run_job_new(r, s);
}

static void test_run_job_has_the_program_and_is_not_tried_again(void **state)
{
    (void)state;
    struct sl_run r = {.workdir = "/data/a b"};
    struct sl_submit s = submit_base();
    setenv("SL_TEST_SEED", "7", 1);
    r.env = (struct sl_flag_list){{"A=x=y", "SL_TEST_SEED", "EMPTY="}, 3};
    struct sl_json *job = made(&r, &s);
    const struct sl_json *c = sl_json_path(job, "spec.template.spec.containers.0");
    assert_string_equal(sl_json_path_text(job, "metadata.generateName", ""), "python3-11-");
    assert_true(sl_json_path_bool(job, "spec.suspend", false));
    assert_int_equal(sl_json_path_int(job, "spec.backoffLimit", 6), 0);
    assert_int_equal(sl_json_path_int(job, "spec.completions", 0), 1);
    assert_string_equal(sl_json_path_text(job, "spec.template.spec.restartPolicy", ""), "Never");
    assert_string_equal(sl_object_label(job, "kueue.x-k8s.io/queue-name"), "main");
    assert_null(sl_object_annotation(job, "kueue.x-k8s.io/admission-gated-by"));
    assert_null(sl_object_annotation(job, "kueue.x-k8s.io/job-min-parallelism"));
    assert_int_equal(sl_json_len(sl_json_get(c, "command")), 4);
    assert_string_equal(sl_json_path_text(c, "command.0", ""), "/usr/bin/Python3.11");
    assert_string_equal(sl_json_path_text(c, "command.3", ""), "3");
    assert_null(sl_json_get(c, "image"));
    assert_string_equal(sl_json_path_text(c, "workingDir", ""), "/data/a b");
    assert_string_equal(sl_json_path_text(c, "env.0.value", ""), "x=y");
    assert_string_equal(sl_json_path_text(c, "env.1.name", ""), "SL_TEST_SEED");
    assert_string_equal(sl_json_path_text(c, "env.1.value", ""), "7");
    assert_string_equal(sl_json_path_text(c, "env.2.value", "?"), "");
    sl_json_free(job);
}

static void test_run_array_is_an_indexed_job_that_may_start_with_less(void **state)
{
    (void)state;
    struct sl_run r = {.array = "100%4", .image = "python:3"};
    struct sl_submit s = submit_base();
    struct sl_json *job = made(&r, &s);
    assert_string_equal(sl_json_path_text(job, "spec.completionMode", ""), "Indexed");
    assert_int_equal(sl_json_path_int(job, "spec.completions", 0), 100);
    assert_int_equal(sl_json_path_int(job, "spec.parallelism", 0), 4);
    assert_string_equal(sl_object_annotation(job, "kueue.x-k8s.io/job-min-parallelism"), "1");
    assert_string_equal(sl_json_path_text(job, "spec.template.spec.containers.0.image", ""),
                        "python:3");
    sl_json_free(job);

    r.array = "1";
    s = submit_base();
    job = made(&r, &s);
    assert_string_equal(sl_json_path_text(job, "spec.completionMode", ""), "Indexed");
    assert_int_equal(sl_json_path_int(job, "spec.parallelism", 0), 1);
    assert_null(sl_object_annotation(job, "kueue.x-k8s.io/job-min-parallelism"));
    sl_json_free(job);
}

static void test_run_after_is_gated_from_the_beginning(void **state)
{
    (void)state;
    struct sl_run r = {.after = {{"prep:u1", "fetch:u2"}, 2}};
    struct sl_submit s = submit_base();
    s.name = "train";
    struct sl_json *job = made(&r, &s);
    assert_string_equal(sl_object_name(job), "train");
    assert_string_equal(sl_object_annotation(job, "sluice.dev/after"), "prep:u1,fetch:u2");
    assert_string_equal(sl_object_annotation(job, "kueue.x-k8s.io/admission-gated-by"),
                        "sluice.dev/after");
    sl_json_free(job);
}

static void test_run_names_jobs_by_what_their_programs_are_called(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"sh", "sh-"}, {"./a_b.sh", "a-b-sh-"}, {"/x/y/", "run-"}, {"__", "run-"}, {"x_", "x-"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char *const one[] = {(char *)(uintptr_t)pairs[i][0]};
        struct sl_run r = {.words = one, .word_count = 1};
        struct sl_submit s = submit_base();
        struct sl_json *job = made(&r, &s);
        assert_string_equal(sl_json_path_text(job, "metadata.generateName", ""), pairs[i][1]);
        sl_json_free(job);
    }
}

static void test_run_bad_options_are_refused_and_named(void **state)
{
    (void)state;
    static const char *const arrays[] = {"0",  "x",      "3%", "3%0",  "-1",
                                         "4x", "100001", "%2", "3%2%1"};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        struct sl_run r = {.words = words, .word_count = 4, .array = arrays[i]};
        struct sl_submit s = submit_base();
        struct sl_error e = {0};
        assert_int_equal(sl_run_check(&r, &s, &e), SL_CODE_BAD_REQUEST);
        assert_has(e.text, "--array");
    }
    unsetenv("SL_TEST_UNSET");
    const struct {
        struct sl_run run;
        const char *part;
    } bad[] = {
        {{.word_count = 0}, "needs a command"},
        {{.words = words, .word_count = 4, .workdir = "here"}, "--workdir"},
        {{.words = words, .word_count = 4, .env = {{"=x"}, 1}}, "--env"},
        {{.words = words, .word_count = 4, .env = {{"SL_TEST_UNSET"}, 1}}, "SL_TEST_UNSET"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_submit s = submit_base();
        struct sl_error e = {0};
        assert_int_equal(sl_run_check(&bad[i].run, &s, &e), SL_CODE_BAD_REQUEST);
        assert_has(e.text, bad[i].part);
    }
    struct sl_run r = {.words = words, .word_count = 4};
    struct sl_submit s = submit_base();
    struct sl_error e = {0};
    s.cpu = "much";
    assert_int_equal(sl_run_check(&r, &s, &e), SL_CODE_BAD_REQUEST);
    assert_has(e.text, "--cpu");
    s = submit_base();
    s.queue = NULL; /* it may be found out later */
    assert_int_equal(sl_run_check(&r, &s, &e), SL_CODE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_job_has_the_program_and_is_not_tried_again),
        cmocka_unit_test(test_run_array_is_an_indexed_job_that_may_start_with_less),
        cmocka_unit_test(test_run_after_is_gated_from_the_beginning),
        cmocka_unit_test(test_run_names_jobs_by_what_their_programs_are_called),
        cmocka_unit_test(test_run_bad_options_are_refused_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
