/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading Jobs and building Workloads from them. */
#include "t.h"
#include "controllers/jobs/job.h"

static const char job_text[] =
    "{\"apiVersion\":\"batch/"
    "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"pi\",\"namespace\":\"lab\","
    "\"uid\":\"u-1\",\"labels\":{\"kueue.x-k8s.io/"
    "queue-name\":\"main\"}},\"spec\":{\"suspend\":true,"
    "\"parallelism\":3,\"completions\":2,\"template\":{\"metadata\":{\"labels\":{\"job-name\":"
    "\"pi\","
    "\"batch.kubernetes.io/job-name\":\"pi\",\"batch.kubernetes.io/controller-uid\":\"u-1\","
    "\"controller-uid\":\"u-1\",\"app\":\"pi\"}},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}}";
static const struct sl_priority no_class = {.group = "", .kind = "", .name = ""};

static struct sl_json *workload_new(const struct sl_json *job, const struct sl_priority *priority)
{
    struct sl_pod_sets sets;
    struct sl_error e = {0};
    assert_int_equal(sl_job_framework.pod_sets(&sl_job_framework, job, &sets, &e), SL_CODE_OK);
    const struct sl_workload_plan plan = {
        .queue = sl_job_queue(job), .priority = *priority, .sets = &sets};
    struct sl_json *wl = sl_framework_workload_new(&sl_job_framework, job, &plan);
    assert_true(sl_pod_sets_match(&sets, wl, true));
    assert_true(sl_pod_sets_wish_the_same(&sets, wl));
    sl_pod_sets_fini(&sets);
    return wl;
}

static void test_job_workload_name_is_kueues(void **state)
{
    (void)state;
    char name[254];
    /* sha1("Job\nbatch\npi\nu-1") begins with these five digits */
    sl_framework_workload_name(&sl_job_framework, "pi", "u-1", name);
    assert_string_equal(name, "job-pi-b921a");
    char again[254];
    sl_framework_workload_name(&sl_job_framework, "pi", "u-2", again);
    assert_string_not_equal(name, again);
}

static void test_job_workload_name_of_long_job_is_cut_to_253(void **state)
{
    (void)state;
    char job[254];
    char name[254];
    memset(job, 'j', 253);
    job[253] = '\0';
    sl_framework_workload_name(&sl_job_framework, job, "u", name);
    assert_int_equal(strlen(name), 253);
    assert_int_equal(name[247], '-');
}

static void test_job_pods_are_the_smaller_of_parallelism_and_completions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t pods;
    } cases[] = {{"{\"spec\":{}}", 1},
                 {"{\"spec\":{\"parallelism\":5}}", 5},
                 {"{\"spec\":{\"parallelism\":5,\"completions\":2}}", 2},
                 {"{\"spec\":{\"parallelism\":2,\"completions\":9}}", 2},
                 {"{\"spec\":{\"parallelism\":0}}", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_json *job = parse(cases[i].text);
        assert_true(sl_job_pods(job) == cases[i].pods);
        sl_json_free(job);
    }
}

static void test_job_reclaimable_pods_are_those_that_nobody_waits_for(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t pods;
    } cases[] = {
        {"{\"spec\":{\"parallelism\":4,\"completions\":10},\"status\":{\"succeeded\":6}}", 0},
        {"{\"spec\":{\"parallelism\":4,\"completions\":10},\"status\":{\"succeeded\":7}}", 1},
        {"{\"spec\":{\"parallelism\":4,\"completions\":10},\"status\":{\"succeeded\":10}}", 4},
        {"{\"spec\":{\"parallelism\":4,\"completions\":10},\"status\":{\"succeeded\":11}}", 4},
        {"{\"spec\":{\"parallelism\":4,\"completions\":2},\"status\":{\"succeeded\":1}}", 1},
        {"{\"spec\":{\"parallelism\":4,\"completions\":2}}", 0},
        {"{\"spec\":{\"parallelism\":3},\"status\":{\"succeeded\":1}}", 1},
        {"{\"spec\":{\"parallelism\":1,\"completions\":1},\"status\":{\"succeeded\":1}}", 0},
        {"{\"spec\":{\"parallelism\":0},\"status\":{\"succeeded\":1}}", 0},
        {"{\"spec\":{}}", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_json *job = parse(cases[i].text);
        assert_int_equal(sl_job_reclaimable_pods(job), cases[i].pods);
        sl_json_free(job);
    }
}

static void test_job_without_or_with_empty_queue_label_is_not_ours(void **state)
{
    (void)state;
    struct sl_json *none = parse("{\"metadata\":{}}");
    struct sl_json *empty =
        parse("{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"\"}}}");
    assert_null(sl_job_queue(none));
    assert_null(sl_job_queue(empty));
    sl_json_free(none);
    sl_json_free(empty);
}

static void test_job_finished_tells_success_and_message(void **state)
{
    (void)state;
    bool success = false;
    const char *message = NULL;
    struct sl_json *job =
        parse("{\"status\":{\"conditions\":[{\"type\":\"Complete\",\"status\":\"False\"}]}}");
    assert_false(sl_job_finished(job, &success, &message));
    sl_json_free(job);

    job = parse("{\"status\":{\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\","
                "\"message\":\"m\"}]}}");
    assert_true(sl_job_finished(job, &success, &message));
    assert_true(success);
    assert_string_equal(message, "m");
    sl_json_free(job);

    job = parse("{\"status\":{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]}}");
    assert_true(sl_job_finished(job, &success, &message));
    assert_false(success);
    sl_json_free(job);
}

static void test_job_workload_has_owner_finalizer_pod_set_and_one_managed_label(void **state)
{
    (void)state;
    struct sl_json *job = parse(job_text);
    struct sl_json *wl = workload_new(job, &no_class);

    assert_string_equal(sl_object_namespace(wl), "lab");
    assert_string_equal(sl_object_label(wl, SL_LABEL_JOB_UID), "u-1");
    assert_true(sl_job_owns(job, wl));
    assert_true(sl_workload_has_finalizer(wl));
    assert_json(sl_json_path(wl, "metadata.ownerReferences"),
                "[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"pi\",\"uid\":\"u-1\","
                "\"controller\":true,\"blockOwnerDeletion\":true}]");
    assert_json(
        sl_json_get(wl, "spec"),
        "{\"queueName\":\"main\",\"priority\":0,\"podSets\":[{\"name\":\"main\",\"count\":2,"
        "\"template\":{\"metadata\":{\"labels\":{\"batch.kubernetes.io/"
        "job-name\":\"pi\",\"app\":\"pi\"}},"
        "\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}]}");
    sl_json_free(wl);
    sl_json_free(job);
}

static void test_job_workload_carries_class_priority_and_time_limit(void **state)
{
    (void)state;
    struct sl_json *job = parse(job_text);
    struct sl_priority priority = {
        .group = "kueue.x-k8s.io", .kind = "WorkloadPriorityClass", .name = "high", .value = -7};
    sl_json_set_text(sl_json_path(job, "metadata.labels"), SL_LABEL_MAX_EXEC_S, "90");
    struct sl_json *wl = workload_new(job, &priority);

    assert_json(
        sl_json_path(wl, "spec.priorityClassRef"),
        "{\"group\":\"kueue.x-k8s.io\",\"kind\":\"WorkloadPriorityClass\",\"name\":\"high\"}");
    assert_true(sl_json_path_int(wl, "spec.priority", 0) == -7);
    assert_true(sl_json_path_int(wl, "spec.maximumExecutionTimeSeconds", 0) == 90);
    sl_json_free(wl);
    sl_json_free(job);
}

static void test_job_bad_time_limit_label_means_none(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "0", "-5", "5s", "1e3", " 7", "99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_json *job = parse(job_text);
        sl_json_set_text(sl_json_path(job, "metadata.labels"), SL_LABEL_MAX_EXEC_S, bad[i]);
        assert_true(sl_job_execution_s_max(job) == 0);
        sl_json_free(job);
    }
}

/* Whether or not the Job is Indexed, as in Kueue. */
static void test_job_topology_annotations_and_index_become_the_request(void **state)
{
    (void)state;
    static const char *const modes[] = {"Indexed", "NonIndexed"};
    for (size_t i = 0; i < 2; i++) {
        struct sl_json *job = parse(job_text);
        sl_json_set_text(sl_json_path_make(job, "spec"), "completionMode", modes[i]);
        sl_json_set_text(sl_json_path_make(job, "spec.template.metadata.annotations"),
                         "kueue.x-k8s.io/podset-required-topology", "rack");
        struct sl_json *wl = workload_new(job, &(struct sl_priority){.name = ""});
        assert_json(sl_json_path(wl, "spec.podSets.0.topologyRequest"),
                    "{\"required\":\"rack\","
                    "\"podIndexLabel\":\"batch.kubernetes.io/job-completion-index\"}");
        sl_json_free(wl);
        sl_json_free(job);
    }
}

static void test_job_ended_indexes_are_counted_once(void **state)
{
    (void)state;
    static const struct {
        const char *completed, *failed;
        int64_t end, count;
    } rows[] = {{"", "", 5, 0},
                {"0-2,4", "", 5, 4},
                {"0-2", "1-3", 5, 4},
                {"4,0-1", "", 5, 3},
                {"0-9", "", 5, 5},
                {"x,1-,3-2,2", "", 5, 1},
                {"", "7", 5, 0},
                {"0,2,4", "1,3", 5, 5},
                {"1-1", "1", 5, 1},
                {"0-9223372036854775807", "", 5, 0},
                {"2147483648", "0-2147483647", 7, 7},
                {"99999999999999999999,1", "3", 5, 2},
                {",,,2,", ",", 5, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(sl_job_count_indexes(rows[i].completed, rows[i].failed, rows[i].end),
                         rows[i].count);
    }
}

static void test_job_indexes_are_printed_as_ranges_of_three_or_more(void **state)
{
    (void)state;
    struct sl_buf list = {0};
    sl_job_print_indexes(&list, 0, 0);
    assert_string_equal(list.data, "0");
    sl_job_print_indexes(&list, 2, 3);
    sl_job_print_indexes(&list, 5, 7);
    assert_string_equal(list.data, "0,2,3,5-7");
    assert_int_equal(sl_job_count_indexes(list.data, "", 100), 6);
    sl_buf_fini(&list);
}

static void test_job_indexed_gives_back_what_failed_for_good_too(void **state)
{
    (void)state;
    struct sl_json *job =
        parse("{\"spec\":{\"parallelism\":4,\"completions\":4,\"completionMode\":\"Indexed\"},"
              "\"status\":{\"succeeded\":1,\"completedIndexes\":\"0\",\"failedIndexes\":\"2\"}}");
    assert_int_equal(sl_job_reclaimable_pods(job), 2);
    sl_json_free(job);
}

static void test_job_with_fewer_than_no_ended_pods_gives_none_back(void **state)
{
    (void)state;
    struct sl_json *job = parse("{\"spec\":{\"parallelism\":4,\"completions\":4},"
                                "\"status\":{\"succeeded\":-9223372036854775808}}");
    assert_int_equal(sl_job_reclaimable_pods(job), 0);
    sl_json_free(job);
}

static void test_job_labels_are_copied_where_they_are_named(void **state)
{
    (void)state;
    static const char *const keys[] = {"team", "absent"};
    struct sl_json *job = parse(job_text);
    struct sl_pod_sets sets;
    sl_json_set_text(sl_json_path(job, "metadata.labels"), "team", "a");
    sl_json_set_text(sl_json_path_make(job, "metadata.annotations"), "team", "b");
    (void)sl_job_framework.pod_sets(&sl_job_framework, job, &sets, NULL);
    const struct sl_workload_plan plan = {
        .queue = "",
        .priority = no_class,
        .sets = &sets,
        .copied = {.label_count = 2, .labels = keys, .annotation_count = 2, .annotations = keys}};
    struct sl_json *wl = sl_framework_workload_new(&sl_job_framework, job, &plan);
    assert_json(sl_json_path(wl, "metadata.labels"),
                "{\"team\":\"a\",\"kueue.x-k8s.io/job-uid\":\"u-1\"}");
    assert_json(sl_json_path(wl, "metadata.annotations"), "{\"team\":\"b\"}");
    assert_false(sl_json_has(sl_json_get(wl, "spec"), "queueName"));
    sl_pod_sets_fini(&sets);
    sl_json_free(wl);
    sl_json_free(job);
}

static void test_workload_drop_finalizer_leaves_the_others(void **state)
{
    (void)state;
    struct sl_json *wl = parse(
        "{\"metadata\":{\"finalizers\":[\"a/b\",\"kueue.x-k8s.io/resource-in-use\",\"c/d\"]}}");
    sl_workload_drop_finalizer(wl);
    assert_json(sl_json_path(wl, "metadata.finalizers"), "[\"a/b\",\"c/d\"]");
    sl_workload_drop_finalizer(wl);
    assert_int_equal(sl_json_len(sl_json_path(wl, "metadata.finalizers")), 2);
    sl_json_free(wl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_workload_name_is_kueues),
        cmocka_unit_test(test_job_workload_name_of_long_job_is_cut_to_253),
        cmocka_unit_test(test_job_pods_are_the_smaller_of_parallelism_and_completions),
        cmocka_unit_test(test_job_reclaimable_pods_are_those_that_nobody_waits_for),
        cmocka_unit_test(test_job_without_or_with_empty_queue_label_is_not_ours),
        cmocka_unit_test(test_job_finished_tells_success_and_message),
        cmocka_unit_test(test_job_workload_has_owner_finalizer_pod_set_and_one_managed_label),
        cmocka_unit_test(test_job_workload_carries_class_priority_and_time_limit),
        cmocka_unit_test(test_job_bad_time_limit_label_means_none),
        cmocka_unit_test(test_job_topology_annotations_and_index_become_the_request),
        cmocka_unit_test(test_job_ended_indexes_are_counted_once),
        cmocka_unit_test(test_job_indexes_are_printed_as_ranges_of_three_or_more),
        cmocka_unit_test(test_job_indexed_gives_back_what_failed_for_good_too),
        cmocka_unit_test(test_job_with_fewer_than_no_ended_pods_gives_none_back),
        cmocka_unit_test(test_job_labels_are_copied_where_they_are_named),
        cmocka_unit_test(test_workload_drop_finalizer_leaves_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
