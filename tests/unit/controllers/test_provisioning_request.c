/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Names and contents of ProvisioningRequests, and how long to wait for the next one. */
#include "t.h"
#include "controllers/checks/provisioning_state.h"
#include <stdio.h>

static void test_provisioning_request_name_tells_its_attempt(void **state)
{
    (void)state;
    char name[SL_NAME_SIZE];
    sl_provreq_name("w", "c", 12, name);
    assert_string_equal(name, "w-c-12");
    assert_int_equal(sl_provreq_attempt("w-c-12", "w", "c"), 12);
    assert_int_equal(sl_provreq_attempt("w-c-12", "w", "other"), 0);
    assert_int_equal(sl_provreq_attempt("w-c-12x", "w", "c"), 0);
    assert_int_equal(sl_provreq_attempt("w-c--1", "w", "c"), 0);
    assert_int_equal(sl_provreq_attempt("w-c-0", "w", "c"), 0);
    assert_int_equal(sl_provreq_attempt("w-c-012", "w", "c"), 0);
    assert_int_equal(sl_provreq_attempt("nodash", "w", "c"), 0);
    sl_provreq_template_name("w-c-1", "main", name);
    assert_string_equal(name, "ppt-w-c-1-main");
}

static void test_provisioning_request_long_name_is_cut_and_still_tells(void **state)
{
    (void)state;
    char workload[SL_NAME_SIZE], first[SL_NAME_SIZE], second[SL_NAME_SIZE];
    memset(workload, 'w', sizeof workload - 1);
    workload[sizeof workload - 1] = '\0';
    sl_provreq_name(workload, "check", 1, first);
    sl_provreq_name(workload, "check", 2, second);
    assert_int_equal(strlen(first), 253);
    assert_int_equal(strncmp(first, second, 247), 0);
    assert_string_not_equal(first, second);
    assert_int_equal(sl_provreq_attempt(second, workload, "check"), 2);
    assert_int_equal(sl_provreq_attempt(second, workload, "other"), 0);
}

/* Pod sets a, b and c: b has another image than a, c asks for more. */
static struct sl_json *workload(void)
{
    return parse(
        "{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\"},\"spec\":{\"podSets\":["
        "{\"name\":\"a\",\"count\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":1}}}]}}},"
        "{\"name\":\"b\",\"count\":2,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"image\":\"j\",\"resources\":{\"requests\":{\"cpu\":1}}}]}}},"
        "{\"name\":\"c\",\"count\":4,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":2}}}]}}}]},"
        "\"status\":{\"admission\":{\"podSetAssignments\":[{\"name\":\"a\",\"count\":1},"
        "{\"name\":\"b\",\"count\":2},{\"name\":\"c\",\"count\":4}]}}}");
}

static void merges(const char *policy, const char *expected)
{
    char text[128];
    snprintf(text, sizeof text, "{\"spec\":{\"podSetMergePolicy\":\"%s\"}}", policy);
    struct sl_json *wl = workload(), *config = parse(text);
    struct sl_json *pod_sets = sl_provreq_pod_sets_new(wl, config);
    assert_json(pod_sets, expected);
    sl_json_free(pod_sets);
    sl_json_free(config);
    sl_json_free(wl);
}

static void test_provisioning_request_pod_sets_merge_as_the_policy_says(void **state)
{
    (void)state;
    static const char apart[] = "[{\"name\":\"a\",\"count\":1,\"index\":0,\"members\":[\"a\"]},"
                                "{\"name\":\"b\",\"count\":2,\"index\":1,\"members\":[\"b\"]},"
                                "{\"name\":\"c\",\"count\":4,\"index\":2,\"members\":[\"c\"]}]";
    merges("", apart);
    merges("IdenticalPodTemplates", apart);
    merges("IdenticalWorkloadSchedulingRequirements",
           "[{\"name\":\"a\",\"count\":3,\"index\":0,\"members\":[\"a\",\"b\"]},"
           "{\"name\":\"c\",\"count\":4,\"index\":2,\"members\":[\"c\"]}]");
}

static void test_provisioning_request_merged_pod_sets_are_all_led_to_the_nodes(void **state)
{
    (void)state;
    struct sl_json *wl = workload();
    struct sl_json *config = parse("{\"spec\":{\"podSetMergePolicy\":"
                                   "\"IdenticalWorkloadSchedulingRequirements\"}}");
    struct sl_json *request =
        parse("{\"metadata\":{\"name\":\"w-p-1\"},\"status\":{\"conditions\":["
              "{\"type\":\"Provisioned\",\"status\":\"True\",\"message\":\"m\"}]}}");
    struct sl_json *check = parse("{\"name\":\"p\",\"state\":\"Pending\"}");
    struct sl_provreq_view v = {wl, config, request, check};
    struct sl_json *now = sl_provreq_state_new(&v, 0);
    const struct sl_json *updates = sl_json_get(now, "podSetUpdates");
    assert_int_equal(sl_json_len(updates), 3);
    assert_string_equal(sl_json_path_text(updates, "1.name", ""), "b");
    sl_json_free(now);
    sl_json_free(check);
    sl_json_free(request);
    sl_json_free(config);
    sl_json_free(wl);
}

static void test_provisioning_request_pods_that_are_not_admitted_are_not_asked_for(void **state)
{
    (void)state;
    struct sl_json *wl = workload(), *config = parse("{\"spec\":{}}");
    struct sl_json *admission = sl_json_path(wl, "status.admission");
    sl_json_set(admission, "podSetAssignments",
                parse("[{\"name\":\"a\",\"count\":0},{\"name\":\"c\",\"count\":2}]"));
    struct sl_json *pod_sets = sl_provreq_pod_sets_new(wl, config);
    assert_json(pod_sets, "[{\"name\":\"c\",\"count\":2,\"index\":2,\"members\":[\"c\"]}]");
    assert_true(sl_provreq_needed(wl, config));
    sl_json_set(admission, "podSetAssignments", sl_json_new_list());
    assert_false(sl_provreq_needed(wl, config));
    sl_json_free(pod_sets);
    sl_json_free(config);
    sl_json_free(wl);
}

static void test_provisioning_request_annotation_wins_over_the_config(void **state)
{
    (void)state;
    struct sl_json *wl = workload();
    struct sl_json *config =
        parse("{\"spec\":{\"provisioningClassName\":\"x\",\"parameters\":{\"a\":\"1\"}}}");
    sl_json_set_text(sl_json_path_make(wl, "metadata.annotations"), "provreq.kueue.x-k8s.io/a",
                     "2");
    struct sl_json *request = sl_provreq_new(wl, config, "w-p-1");
    assert_json(sl_json_path(request, "spec.parameters"), "{\"a\":\"2\"}");
    assert_true(sl_provreq_current(request, wl, config)); /* or it would be made anew for ever */
    sl_json_set_text(sl_json_path(config, "spec.parameters"), "b", "3");
    assert_false(sl_provreq_current(request, wl, config));
    sl_json_free(request);
    sl_json_free(config);
    sl_json_free(wl);
}

static void test_provisioning_request_template_that_contradicts_its_flavor_is_refused(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *wl = workload(), *injection = parse("{\"nodeSelector\":{\"zone\":\"b\"}}");
    sl_json_set_text(sl_json_path_make(wl, "spec.podSets.0.template.spec.nodeSelector"), "zone",
                     "a");
    assert_null(sl_provreq_template_new(wl, 0, "t", injection, &e));
    assert_non_null(strstr(e.text, "zone"));
    sl_json_free(injection);
    sl_json_free(wl);
}

static void test_provisioning_request_backoff_doubles_up_to_its_limit(void **state)
{
    (void)state;
    static const int64_t defaults[] = {60, 120, 240, 480, 960, 1800, 1800};
    struct sl_json *config = parse("{\"spec\":{}}");
    for (int64_t i = 0; i < 7; i++) {
        assert_int_equal(sl_provreq_backoff_s(config, i + 1), defaults[i]);
    }
    sl_json_free(config);
    config = parse("{\"spec\":{\"retryStrategy\":{\"backoffBaseSeconds\":50,\"backoffMaxSeconds\":"
                   "10}}}");
    assert_int_equal(sl_provreq_backoff_s(config, 1), 50);
    sl_json_free(config);
    config = parse("{\"spec\":{\"retryStrategy\":{\"backoffBaseSeconds\":0}}}");
    assert_int_equal(sl_provreq_backoff_s(config, 1000000), 0);
    sl_json_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_provisioning_request_name_tells_its_attempt),
        cmocka_unit_test(test_provisioning_request_long_name_is_cut_and_still_tells),
        cmocka_unit_test(test_provisioning_request_pod_sets_merge_as_the_policy_says),
        cmocka_unit_test(test_provisioning_request_merged_pod_sets_are_all_led_to_the_nodes),
        cmocka_unit_test(test_provisioning_request_pods_that_are_not_admitted_are_not_asked_for),
        cmocka_unit_test(test_provisioning_request_annotation_wins_over_the_config),
        cmocka_unit_test(test_provisioning_request_template_that_contradicts_its_flavor_is_refused),
        cmocka_unit_test(test_provisioning_request_backoff_doubles_up_to_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
