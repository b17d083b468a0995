/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Job that submit makes, and what it refuses to make. */
#include "t.h"
#include "cli/common/submit.h"

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

static void test_submit_resources_marks_and_places(void **state)
{
    (void)state;
    struct sl_submit s = {.ns = "lab",
                          .queue = "main",
                          .cpu = "1",
                          .gpu = "2",
                          .time_limit = "90m",
                          .topology_preferred = "example.com/rack",
                          .requests = {{"ephemeral-storage=1Gi", "example.com/fpga=1"}, 2},
                          .labels = {{"team=vision", "empty="}, 2},
                          .annotations = {{"note=a=b"}, 1},
                          .parallelism = 4,
                          .min_parallelism = 2};
    struct sl_error e = {0};
    assert_int_equal(sl_submit_check(&s, &e), SL_CODE_OK);
    struct sl_json *job = sl_submit_job_new(&s);
    const struct sl_json *resources =
        sl_json_path(job, "spec.template.spec.containers.0.resources");
    const struct sl_json *requests = sl_json_get(resources, "requests");
    const struct sl_json *limits = sl_json_get(resources, "limits");
    assert_int_equal(sl_json_len(requests), 4);
    assert_string_equal(sl_json_text(sl_json_get(requests, "nvidia.com/gpu"), ""), "2");
    assert_string_equal(sl_json_text(sl_json_get(requests, "ephemeral-storage"), ""), "1Gi");
    assert_int_equal(sl_json_len(limits), 2); /* of extended resources alone */
    assert_string_equal(sl_json_text(sl_json_get(limits, "nvidia.com/gpu"), ""), "2");
    assert_string_equal(sl_json_text(sl_json_get(limits, "example.com/fpga"), ""), "1");
    assert_string_equal(sl_object_label(job, "team"), "vision");
    assert_string_equal(sl_object_label(job, "empty"), "");
    assert_string_equal(sl_object_label(job, "kueue.x-k8s.io/max-exec-time-seconds"), "5400");
    assert_string_equal(sl_object_annotation(job, "note"), "a=b");
    assert_string_equal(sl_object_annotation(job, "kueue.x-k8s.io/job-min-parallelism"), "2");
    const struct sl_json *marks = sl_json_path(job, "spec.template.metadata.annotations");
    assert_int_equal(sl_json_len(marks), 1);
    assert_string_equal(
        sl_json_text(sl_json_get(marks, "kueue.x-k8s.io/podset-preferred-topology"), ""),
        "example.com/rack");
    sl_json_free(job);
}

static void test_submit_bad_flags_are_refused_and_named(void **state)
{
    (void)state;
    const struct sl_submit good = {.ns = "n", .queue = "q", .cpu = "1", .parallelism = 1};
    struct sl_submit bad[16];
    static const char *const parts[16] = {"--queue",
                                          "--cpu",
                                          "--memory",
                                          "--parallelism",
                                          "--run-for",
                                          "--cpu",
                                          "--gpu",
                                          "--time-limit",
                                          "less than a second",
                                          "--min-parallelism",
                                          "--request",
                                          "--request",
                                          "--label",
                                          "--annotation",
                                          "do not go together",
                                          "--min-parallelism must be at least 1"};
    for (size_t i = 0; i < 16; i++) {
        bad[i] = good;
    }
    bad[0].queue = NULL;
    bad[1].cpu = "lots";
    bad[2].memory = "1GB5";
    bad[3].parallelism = 0;
    bad[4].run_for = "soon";
    bad[5].cpu = "-1";
    bad[6].gpu = "all";
    bad[7].time_limit = "soon";
    bad[8].time_limit = "10ms";
    bad[9].min_parallelism = 1;
    bad[10].requests = (struct sl_flag_list){{"fpga"}, 1};
    bad[11].requests = (struct sl_flag_list){{"fpga=few"}, 1};
    bad[12].labels = (struct sl_flag_list){{"=x"}, 1};
    bad[13].annotations = (struct sl_flag_list){{"good=", "bad"}, 2};
    bad[14].topology_required = bad[14].topology_preferred = "rack";
    bad[15].min_parallelism = -1;
    for (size_t i = 0; i < 16; i++) {
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
        cmocka_unit_test(test_submit_resources_marks_and_places),
        cmocka_unit_test(test_submit_bad_flags_are_refused_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
