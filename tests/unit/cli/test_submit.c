/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Job that submit makes, and what it refuses to make. */
#include "t.h"
#include "cli/ctl/submit.h"

static void test_submit_job_carries_all_that_was_asked_for(void **state)
{
    (void)state;
    struct sl_submit s = {.ns = "lab",
                          .queue = "main",
                          .cpu = "2",
                          .memory = "1Gi",
                          .priority_class = "high",
                          .run_for = "5s",
                          .name = "pi",
                          .parallelism = 3,
                          .fail = true};
    struct sl_error e = {0};
    assert_int_equal(sl_submit_check(&s, &e), SL_CODE_OK);
    struct sl_json *job = sl_submit_job_new(&s);
    assert_string_equal(sl_object_name(job), "pi");
    assert_string_equal(sl_object_namespace(job), "lab");
    assert_string_equal(sl_object_label(job, "kueue.x-k8s.io/queue-name"), "main");
    assert_string_equal(sl_object_label(job, "kueue.x-k8s.io/priority-class"), "high");
    assert_string_equal(sl_object_annotation(job, "sluice.dev/run-for"), "5s");
    assert_string_equal(sl_object_annotation(job, "sluice.dev/fail"), "true");
    assert_true(sl_json_path_int(job, "spec.parallelism", 0) == 3);
    assert_true(sl_json_path_bool(job, "spec.suspend", false));
    const struct sl_json *requests =
        sl_json_path(job, "spec.template.spec.containers.0.resources.requests");
    assert_string_equal(sl_json_path_text(requests, "cpu", ""), "2");
    assert_string_equal(sl_json_path_text(requests, "memory", ""), "1Gi");
    sl_json_free(job);
}

static void test_submit_without_name_asks_for_a_generated_one(void **state)
{
    (void)state;
    struct sl_submit s = {.ns = "default", .queue = "main", .cpu = "1", .parallelism = 1};
    struct sl_json *job = sl_submit_job_new(&s);
    assert_string_equal(sl_object_name(job), "");
    assert_string_equal(sl_json_path_text(job, "metadata.generateName", ""), "run-");
    sl_json_free(job);
}

static void test_submit_bad_flags_are_refused_and_named(void **state)
{
    (void)state;
    const struct sl_submit good = {.ns = "n", .queue = "q", .cpu = "1", .parallelism = 1};
    struct sl_submit bad[6] = {good, good, good, good, good, good};
    static const char *const parts[6] = {"--queue",       "--cpu",     "--memory",
                                         "--parallelism", "--run-for", "--cpu"};
    bad[0].queue = NULL;
    bad[1].cpu = "lots";
    bad[2].memory = "1GB5";
    bad[3].parallelism = 0;
    bad[4].run_for = "soon";
    bad[5].cpu = "-1";
    for (size_t i = 0; i < 6; i++) {
        struct sl_error e = {0};
        assert_int_equal(sl_submit_check(&bad[i], &e), SL_CODE_BAD_REQUEST);
        assert_has(e.text, parts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submit_job_carries_all_that_was_asked_for),
        cmocka_unit_test(test_submit_without_name_asks_for_a_generated_one),
        cmocka_unit_test(test_submit_bad_flags_are_refused_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
