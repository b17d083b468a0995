/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/controllers/work/workload_meters.c. */
#include "t.h"
#include "controllers/work/workload_meters.h"
#include <stdio.h>

#define T0 1767225600000 /* 2026-01-01T00:00:00Z */

static struct sl_workload_meters m;

static int setup(void **state)
{
    (void)state;
    sl_workload_meters_init(&m, (struct sl_metered){.on = true});
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sl_workload_meters_fini(&m);
    return 0;
}

static void observe(const char *name, const char *labels, bool gone)
{
    char text[300];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"namespace\":\"n\",\"name\":\"%s\",\"labels\":{%s}}}", name, labels);
    struct sl_json *queue = parse(text);
    sl_workload_meters_observe(&m, SL_KIND_LOCAL_QUEUE, queue, gone);
    sl_json_free(queue);
}

static struct sl_json *workload(const char *conditions)
{
    char text[1200];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"namespace\":\"n\",\"name\":\"w\",\"creationTimestamp\":"
             "\"2026-01-01T00:00:00Z\"},\"spec\":{\"queueName\":\"lq\",\"priorityClassRef\":"
             "{\"name\":\"high\"}},\"status\":{\"admission\":{\"clusterQueue\":\"cq\"},"
             "\"conditions\":[%s]}}",
             conditions);
    return parse(text);
}

#define AT(type, second)                                                                           \
    "{\"type\":\"" type "\",\"status\":\"True\",\"lastTransitionTime\":\"2026-01-01T00:00:" second \
    "Z\"}"

static void expect(const char *name, const char *labels, const char *value)
{
    struct sl_buf out = {0};
    char line[400];
    char family[100];
    snprintf(line, sizeof line, "%s{%s,replica_role=\"leader\"} %s\n", name, labels, value);
    snprintf(family, sizeof family, "%s", name);
    char *suffix = strstr(family, "_seconds_");
    if (suffix != NULL) {
        suffix[strlen("_seconds")] = '\0';
    }
    sl_meters_print(&m.meters, family, "leader", &out);
    if (out.data == NULL || strstr(out.data, line) == NULL) {
        fail_msg("no %s in %s", line, out.data == NULL ? "nothing" : out.data);
    }
    sl_buf_fini(&out);
}

static bool is_empty(const char *name)
{
    struct sl_buf out = {0};
    sl_meters_print(&m.meters, name, "leader", &out);
    bool empty = out.len == 0;
    sl_buf_fini(&out);
    return empty;
}

static const char of_cluster_queue[] = "cluster_queue=\"cq\",priority_class=\"high\"";
static const char of_local_queue[] = "name=\"lq\",namespace=\"n\",priority_class=\"high\"";

static void test_workload_meters_count_by_both_queues(void **state)
{
    (void)state;
    struct sl_json *wl = workload(AT("QuotaReserved", "10") "," AT("Admitted", "30"));
    observe("lq", "", false);
    sl_workload_meters_reserved(&m, wl, T0 + 10000);
    sl_json_set(sl_json_get(wl, "status"), "admissionChecks", parse("[{\"name\":\"c\"}]"));
    sl_workload_meters_admitted(&m, wl, T0 + 30000);
    expect("kueue_quota_reserved_workloads_total", of_cluster_queue, "1");
    expect("kueue_local_queue_quota_reserved_workloads_total", of_local_queue, "1");
    expect("kueue_quota_reserved_wait_time_seconds_sum", of_cluster_queue, "10.000000");
    expect("kueue_local_queue_quota_reserved_wait_time_seconds_sum", of_local_queue, "10.000000");
    expect("kueue_admitted_workloads_total", of_cluster_queue, "1");
    expect("kueue_local_queue_admitted_workloads_total", of_local_queue, "1");
    expect("kueue_admission_wait_time_seconds_sum", of_cluster_queue, "30.000000");
    expect("kueue_local_queue_admission_wait_time_seconds_sum", of_local_queue, "30.000000");
    expect("kueue_admission_checks_wait_time_seconds_sum", of_cluster_queue, "20.000000");
    expect("kueue_local_queue_admission_checks_wait_time_seconds_sum", of_local_queue, "20.000000");
    sl_json_free(wl);
}

static void test_workload_meters_ready_is_timed_from_the_queue_and_the_admission(void **state)
{
    (void)state;
    struct sl_json *wl =
        workload(AT("Requeued", "05") "," AT("Admitted", "30") "," AT("PodsReady", "42"));
    observe("lq", "", false);
    sl_workload_meters_ready(&m, wl, T0 + 43000);
    expect("kueue_ready_wait_time_seconds_sum", of_cluster_queue, "38.000000");
    expect("kueue_local_queue_ready_wait_time_seconds_sum", of_local_queue, "38.000000");
    expect("kueue_admitted_until_ready_wait_time_seconds_sum", of_cluster_queue, "12.000000");
    expect("kueue_local_queue_admitted_until_ready_wait_time_seconds_sum", of_local_queue,
           "12.000000");
    sl_json_free(wl);
}

static void test_workload_meters_evictions_have_their_cause(void **state)
{
    (void)state;
    struct sl_json *wl = workload("");
    observe("lq", "", false);
    sl_json_set(sl_json_get(wl, "status"), "schedulingStats",
                parse("{\"evictions\":[{\"reason\":\"Deactivated\",\"underlyingCause\":"
                      "\"AdmissionCheck\",\"count\":1}]}"));
    sl_workload_meters_evicted(&m, wl, "Deactivated", "AdmissionCheck", INT64_MIN);
    sl_workload_meters_evicted(&m, wl, "Preempted", "", INT64_MIN);
    expect("kueue_evicted_workloads_total",
           "cluster_queue=\"cq\",reason=\"Deactivated\",underlying_cause=\"AdmissionCheck\","
           "priority_class=\"high\"",
           "1");
    expect("kueue_local_queue_evicted_workloads_total",
           "name=\"lq\",namespace=\"n\",reason=\"Preempted\",underlying_cause=\"\","
           "priority_class=\"high\"",
           "1");
    expect("kueue_evicted_workloads_once_total",
           "cluster_queue=\"cq\",reason=\"Deactivated\",underlying_cause=\"AdmissionCheck\","
           "priority_class=\"high\"",
           "1");
    assert_true(is_empty("kueue_local_queue_evicted_workloads_once_total"));
    sl_json_free(wl);
}

static void test_workload_meters_evictions_are_timed_from_readiness_to_the_free_quota(void **state)
{
    (void)state;
    struct sl_json *wl =
        workload("{\"type\":\"Evicted\",\"status\":\"True\",\"reason\":\"Preempted\","
                 "\"lastTransitionTime\":\"2026-01-01T00:00:30Z\"}");
    sl_workload_meters_evicted(&m, wl, "Preempted", "", INT64_MIN); /* its pods were not ready */
    assert_true(is_empty("kueue_pods_ready_to_evicted_time_seconds"));
    sl_workload_meters_evicted(&m, wl, "Preempted", "", T0 + 10000);
    expect("kueue_pods_ready_to_evicted_time_seconds_sum",
           "cluster_queue=\"cq\",reason=\"Preempted\",underlying_cause=\"\"", "20.000000");
    sl_workload_meters_released(&m, wl, "", T0 + 33000); /* it had held none */
    assert_true(is_empty("kueue_workload_eviction_latency_seconds"));
    sl_workload_meters_released(&m, wl, "before", T0 + 33000);
    expect("kueue_workload_eviction_latency_seconds_sum",
           "cluster_queue=\"before\",reason=\"Preempted\"", "3.000000");
    sl_json_free(wl);
    wl = workload("");
    sl_workload_meters_released(&m, wl, "other", T0); /* no eviction */
    expect("kueue_workload_eviction_latency_seconds_count",
           "cluster_queue=\"before\",reason=\"Preempted\"", "1");
    sl_json_free(wl);
}

static bool is_root(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "root") == 0;
}

static void test_workload_meters_admissions_count_for_each_cohort_until_it_is_gone(void **state)
{
    (void)state;
    struct sl_json *wl = workload(""), *cohort = parse("{\"metadata\":{\"name\":\"org\"}}");
    sl_workload_meters_admitted_below(&m, wl, "org");
    sl_workload_meters_admitted_below(&m, wl, "org");
    expect("kueue_cohort_subtree_admitted_workloads_total",
           "cohort=\"org\",priority_class=\"high\"", "2");
    sl_workload_meters_observe(&m, SL_KIND_COHORT, cohort, true);
    assert_true(is_empty("kueue_cohort_subtree_admitted_workloads_total"));
    sl_workload_meters_admitted_below(&m, wl, "root");
    sl_workload_meters_admitted_below(&m, wl, "named"); /* without an object */
    sl_workload_meters_sweep(&m, is_root, NULL);
    expect("kueue_cohort_subtree_admitted_workloads_total",
           "cohort=\"root\",priority_class=\"high\"", "1");
    struct sl_buf out = {0};
    sl_meters_print(&m.meters, "kueue_cohort_subtree_admitted_workloads_total", "leader", &out);
    assert_null(strstr(out.data, "named"));
    sl_buf_fini(&out);
    sl_json_free(cohort);
    sl_json_free(wl);
}

static void test_workload_meters_what_a_write_ends_is_timed_when_it_has_succeeded(void **state)
{
    (void)state;
    struct sl_json *wl = workload(AT("Admitted", "05"));
    struct sl_json *job = parse("{\"metadata\":{\"creationTimestamp\":\"2025-12-31T23:59:58Z\","
                                "\"generation\":1}}");
    assert_null(sl_workload_meters_begin_creation(&m, job, "Job", wl)); /* the gate is off */
    m.metered.creations = true;
    sl_timing_end(sl_workload_meters_begin_creation(&m, job, "Job", wl), NULL);
    assert_true(is_empty("kueue_workload_creation_latency_seconds"));
    sl_timing_end(sl_workload_meters_begin_creation(&m, job, "Job", wl), wl);
    expect("kueue_workload_creation_latency_seconds_sum", "job_kind=\"Job\"", "2.000000");
    expect("kueue_workload_creation_latency_seconds_count", "job_kind=\"Job\"", "1");
    sl_json_set_int(sl_json_get(job, "metadata"), "generation", 2);
    assert_null(sl_workload_meters_begin_creation(&m, job, "Job", wl));
    assert_null(sl_workload_meters_begin_creation(NULL, job, "Job", wl));
    sl_timing_end(sl_workload_meters_begin_ungating(&m, wl, "g", true), wl);
    expect("kueue_pod_scheduling_gate_removal_seconds_count",
           "name=\"g\",cluster_queue=\"cq\",is_group=\"true\"", "1");
    assert_null(sl_workload_meters_begin_ungating(NULL, wl, "g", true));
    sl_json_free(wl);
    wl = workload("");
    assert_null(sl_workload_meters_begin_ungating(&m, wl, "g", true)); /* it is not admitted */
    sl_json_free(wl);
    sl_json_free(job);
}

/* The value that the object has when something is counted; of what is unknown, and what lacks it, "". */
static void test_workload_meters_custom_labels_come_from_the_object(void **state)
{
    (void)state;
    const struct sl_custom_label all[] = {{SL_KIND_CLUSTER_QUEUE, "team", "team", NULL, NULL},
                                          {SL_KIND_LOCAL_QUEUE, "who", NULL, "a/b", NULL},
                                          {SL_KIND_WORKLOAD, "sort", "sort", NULL, NULL}};
    const struct sl_custom_labels custom = {3, all};
    struct sl_json *wl = workload("");
    struct sl_json *queue = parse("{\"metadata\":{\"name\":\"cq\",\"labels\":{\"team\":\"x\"}}}");
    m.metered.custom = &custom;
    observe("lq", "", false);
    sl_workload_meters_admitted(&m, wl, T0);
    expect("kueue_admitted_workloads_total",
           "cluster_queue=\"cq\",priority_class=\"high\",custom_team=\"\"", "1");
    sl_workload_meters_observe(&m, SL_KIND_CLUSTER_QUEUE, queue, false);
    sl_json_set_text(sl_json_path_make(wl, "metadata.labels"), "sort", "s");
    sl_workload_meters_admitted(&m, wl, T0);
    expect("kueue_admitted_workloads_total",
           "cluster_queue=\"cq\",priority_class=\"high\",custom_team=\"x\"", "1");
    expect("kueue_local_queue_admitted_workloads_total",
           "name=\"lq\",namespace=\"n\",priority_class=\"high\",custom_who=\"\",custom_sort=\"s\"",
           "1");
    assert_string_equal(sl_workload_meters_custom(&m, SL_KIND_COHORT, "", "org"), "");
    sl_workload_meters_observe(&m, SL_KIND_CLUSTER_QUEUE, queue, true);
    assert_string_equal(sl_workload_meters_custom(&m, SL_KIND_CLUSTER_QUEUE, "", "cq"),
                        ",custom_team=\"\"");
    sl_json_free(queue);
    sl_json_free(wl);
}

static void test_workload_meters_finished_is_timed_to_eleven_hours_and_beyond(void **state)
{
    (void)state;
    struct sl_json *wl = workload(AT("Admitted", "10") "," AT("Finished", "20"));
    observe("lq", "", false);
    sl_json_set_int(sl_json_get(wl, "status"), "accumulatedPastExecutionTimeSeconds", 30000);
    sl_workload_meters_finished(&m, wl);
    expect("kueue_finished_workloads_total", of_cluster_queue, "1");
    expect("kueue_local_queue_finished_workloads_total", of_local_queue, "1");
    expect("kueue_execution_time_seconds_sum", of_cluster_queue, "30010.000000");
    struct sl_buf out = {0};
    sl_meters_print(&m.meters, "kueue_local_queue_execution_time_seconds", "leader", &out);
    assert_non_null(strstr(out.data, "le=\"20480\"} 0\n"));
    assert_non_null(strstr(out.data, "le=\"40960\"} 1\n"));
    sl_buf_fini(&out);
    sl_json_free(wl);
}

/* Kueue's bounds: those of ClusterQueues go farther. */
static void test_workload_meters_admission_wait_has_kueues_bounds(void **state)
{
    (void)state;
    struct sl_json *wl = workload("");
    struct sl_buf out = {0};
    observe("lq", "", false);
    sl_workload_meters_admitted(&m, wl, T0);
    sl_meters_print(&m.meters, "kueue_admission_wait_time_seconds", "leader", &out);
    assert_non_null(strstr(out.data, "le=\"40960\"} 1\n"));
    sl_buf_reset(&out);
    sl_meters_print(&m.meters, "kueue_local_queue_admission_wait_time_seconds", "leader", &out);
    assert_non_null(strstr(out.data, "le=\"10240\"} 1\n"));
    assert_null(strstr(out.data, "le=\"20480\""));
    sl_buf_fini(&out);
    sl_json_free(wl);
}

static void test_workload_meters_unknown_times_are_not_timed(void **state)
{
    (void)state;
    struct sl_json *wl = workload("");
    sl_json_remove(sl_json_get(wl, "metadata"), "creationTimestamp");
    sl_workload_meters_reserved(&m, wl, T0);
    sl_workload_meters_finished(&m, wl);
    expect("kueue_quota_reserved_workloads_total", of_cluster_queue, "1");
    assert_true(is_empty("kueue_quota_reserved_wait_time_seconds"));
    assert_true(is_empty("kueue_execution_time_seconds"));
    sl_json_free(wl);
}

static void test_workload_meters_queue_that_is_unknown_gone_or_off_has_none(void **state)
{
    (void)state;
    struct sl_json *wl = workload("");
    sl_workload_meters_reserved(&m, wl, T0);
    assert_true(is_empty("kueue_local_queue_quota_reserved_workloads_total"));
    observe("lq", "", false);
    assert_true(sl_workload_meters_has(&m, "n", "lq"));
    sl_workload_meters_reserved(&m, wl, T0);
    assert_false(is_empty("kueue_local_queue_quota_reserved_workloads_total"));
    observe("lq", "", true);
    assert_true(is_empty("kueue_local_queue_quota_reserved_workloads_total"));
    sl_workload_meters_reserved(&m, wl, T0);
    assert_true(is_empty("kueue_local_queue_quota_reserved_workloads_total"));
    m.metered.on = false;
    observe("lq", "", false);
    assert_false(sl_workload_meters_has(&m, "n", "lq"));
    sl_json_free(wl);
}

static void test_workload_meters_selector_chooses_by_the_queues_labels(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_selector *s = sl_selector_parse_labels("tier=gold", &e);
    assert_non_null(s);
    m.metered.selector = s;
    observe("lq", "\"tier\":\"gold\"", false);
    observe("other", "\"tier\":\"tin\"", false);
    assert_true(sl_workload_meters_has(&m, "n", "lq"));
    assert_false(sl_workload_meters_has(&m, "n", "other"));
    observe("lq", "", false); /* it lost the label */
    assert_false(sl_workload_meters_has(&m, "n", "lq"));
    sl_selector_free(s);
}

static void test_workload_meters_cluster_queue_that_is_gone_takes_its_series_along(void **state)
{
    (void)state;
    struct sl_json *wl = workload("");
    struct sl_json *queue = parse("{\"metadata\":{\"name\":\"cq\"}}");
    sl_workload_meters_reserved(&m, wl, T0);
    sl_workload_meters_preempted(&m, "cq", "InClusterQueue");
    expect("kueue_preempted_workloads_total",
           "preempting_cluster_queue=\"cq\",reason=\"InClusterQueue\"", "1");
    sl_workload_meters_attempt(&m, true, 6000);
    sl_workload_meters_observe(&m, SL_KIND_CLUSTER_QUEUE, queue, false);
    assert_false(is_empty("kueue_quota_reserved_workloads_total"));
    sl_workload_meters_observe(&m, SL_KIND_CLUSTER_QUEUE, queue, true);
    assert_true(is_empty("kueue_quota_reserved_workloads_total"));
    assert_true(is_empty("kueue_preempted_workloads_total"));
    expect("kueue_admission_attempts_total", "result=\"success\"", "1");
    expect("kueue_admission_attempt_duration_seconds_count", "result=\"success\"", "1");
    sl_json_free(queue);
    sl_json_free(wl);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_workload_meters_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(count_by_both_queues),
        TEST(ready_is_timed_from_the_queue_and_the_admission),
        TEST(evictions_have_their_cause),
        TEST(evictions_are_timed_from_readiness_to_the_free_quota),
        TEST(admissions_count_for_each_cohort_until_it_is_gone),
        TEST(what_a_write_ends_is_timed_when_it_has_succeeded),
        TEST(custom_labels_come_from_the_object),
        TEST(finished_is_timed_to_eleven_hours_and_beyond),
        TEST(admission_wait_has_kueues_bounds),
        TEST(unknown_times_are_not_timed),
        TEST(queue_that_is_unknown_gone_or_off_has_none),
        TEST(selector_chooses_by_the_queues_labels),
        TEST(cluster_queue_that_is_gone_takes_its_series_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
