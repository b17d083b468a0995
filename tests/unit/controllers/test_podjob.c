/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pods as jobs of their own: what they say, their roles and pod sets, starting them. */
#include "t.h"
#include "controllers/jobs/podjob.h"
#include <stdio.h>

#define CPU1                                                                                       \
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}" \
    "}]"

static struct sl_json *pod_new(const char *annotations, const char *spec, const char *status)
{
    char text[2048];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"p\",\"annotations\":{%s}},\"spec\":{%s},\"status\":{%s}}",
        annotations, spec, status);
    return parse(text);
}

static void expect_role(const char *annotations, const char *spec, const char *role)
{
    char out[SL_ROLE_SIZE];
    struct sl_json *pod = pod_new(annotations, spec, "");
    sl_podjob_role(pod, out);
    assert_string_equal(out, role);
    sl_json_free(pod);
}

/* The number is the one that Kueue gives such a pod. */
static void test_podjob_role_is_kueues_hash_of_the_shape(void **state)
{
    (void)state;
    expect_role("", CPU1, "dc85db45");
    expect_role("", CPU1 ",\"schedulingGates\":[{\"name\":\"x\"}],\"nodeName\":\"n\"", "dc85db45");
    expect_role("\"kueue.x-k8s.io/role-hash\":\"mine\"", CPU1, "mine");
}

static void test_podjob_role_differs_with_what_admission_looks_at(void **state)
{
    (void)state;
    static const char *const specs[] = {
        CPU1,
        CPU1 ",\"nodeSelector\":{\"a\":\"b\"}",
        CPU1 ",\"priority\":7",
        CPU1 ",\"tolerations\":[{\"key\":\"k\"}]",
        CPU1 ",\"resources\":{\"requests\":{\"cpu\":\"3\"}}",
        "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]"};
    char roles[6][SL_ROLE_SIZE];
    for (size_t i = 0; i < 6; i++) {
        struct sl_json *pod = pod_new("", specs[i], "");
        sl_podjob_role(pod, roles[i]);
        sl_json_free(pod);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(roles[i], roles[k]);
        }
    }
}

static void expect_total(const char *value, int64_t total)
{
    char annotation[128];
    (void)snprintf(annotation, sizeof annotation, "\"%s\":\"%s\"", SL_POD_GROUP_COUNT, value);
    struct sl_json *pod = pod_new(annotation, "", "");
    assert_true(sl_podjob_total(pod) == total);
    sl_json_free(pod);
}

static void test_podjob_total_is_a_whole_number_from_one_on(void **state)
{
    (void)state;
    expect_total("1", 1);
    expect_total("4096", 4096);
    expect_total("0", 0);
    expect_total("-1", 0);
    expect_total("2x", 0);
    expect_total(" 2", 0);
    expect_total("", 0);
    expect_total("99999999999", 0);
    struct sl_json *pod = pod_new("", "", "");
    assert_true(sl_podjob_total(pod) == 0);
    sl_json_free(pod);
}

static void test_podjob_counts_what_runs_may_run_or_has_succeeded(void **state)
{
    (void)state;
    static const struct {
        const char *pod;
        bool counts, ended;
    } cases[] = {
        {"{\"status\":{\"phase\":\"Pending\"}}", true, false},
        {"{\"status\":{\"phase\":\"Running\"}}", true, false},
        {"{\"status\":{\"phase\":\"Succeeded\"}}", true, true},
        {"{\"status\":{\"phase\":\"Failed\"}}", false, true},
        {"{\"metadata\":{\"deletionTimestamp\":\"2024-01-01T00:00:00Z\"},\"status\":{\"phase\":"
         "\"Pending\"}}",
         false, false},
        {"{\"metadata\":{\"deletionTimestamp\":\"2024-01-01T00:00:00Z\"},\"spec\":{\"nodeName\":"
         "\"n\"},\"status\":{\"phase\":\"Running\"}}",
         true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_json *pod = parse(cases[i].pod);
        assert_int_equal(sl_podjob_counts(pod), cases[i].counts);
        assert_int_equal(sl_podjob_ended(pod), cases[i].ended);
        sl_json_free(pod);
    }
}

static void test_podjob_is_active_until_its_grace_is_over(void **state)
{
    (void)state;
    struct sl_json *pod =
        parse("{\"metadata\":{\"deletionTimestamp\":\"2024-01-01T00:00:00Z\","
              "\"deletionGracePeriodSeconds\":30},\"status\":{\"phase\":\"Running\"}}");
    const int64_t deleted_ms = 1704067200000;
    assert_true(sl_podjob_active(pod, deleted_ms));
    assert_true(sl_podjob_active(pod, deleted_ms + 29999));
    assert_false(sl_podjob_active(pod, deleted_ms + 30000));
    sl_json_free(pod);
}

static struct sl_json *injection_new(bool placed)
{
    struct sl_json *injection = parse(
        "{\"labels\":{\"l\":\"1\"},\"nodeSelector\":{\"pool\":\"x\"},\"tolerations\":[{\"key\":"
        "\"t\"}]}");
    if (placed) {
        sl_json_set(injection, "schedulingGates",
                    parse("[{\"name\":\"kueue.x-k8s.io/topology\"}]"));
    }
    return injection;
}

static void start(bool placed, const char *gates)
{
    struct sl_error e = {0};
    struct sl_json *injection = injection_new(placed);
    struct sl_json *pod = pod_new("",
                                  CPU1 ",\"schedulingGates\":[{\"name\":\"other\"},{\"name\":"
                                       "\"kueue.x-k8s.io/admission\"},{\"name\":"
                                       "\"kueue.x-k8s.io/topology\"}]",
                                  "");
    assert_true(sl_podjob_gated(pod));
    assert_int_equal(sl_podjob_start(pod, injection, &e), SL_CODE_OK);
    assert_false(sl_podjob_gated(pod));
    assert_json(sl_json_path(pod, "spec.schedulingGates"), gates);
    assert_json(sl_json_path(pod, "spec.nodeSelector"), "{\"pool\":\"x\"}");
    assert_string_equal(sl_object_annotation(pod, SL_POD_ROLE), "dc85db45");
    sl_json_free(injection);
    sl_json_free(pod);
}

static void test_podjob_start_takes_its_gates_away_and_keeps_its_role(void **state)
{
    (void)state;
    start(false, "[{\"name\":\"other\"}]");
    start(true, "[{\"name\":\"other\"},{\"name\":\"kueue.x-k8s.io/topology\"}]");
}

static void test_podjob_start_against_its_own_selector_is_refused(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *injection = injection_new(false);
    struct sl_json *pod = pod_new("", CPU1 ",\"nodeSelector\":{\"pool\":\"y\"}", "");
    assert_int_equal(sl_podjob_start(pod, injection, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "pool"));
    sl_json_free(injection);
    sl_json_free(pod);
}

static void test_podjob_pod_without_a_group_is_one_set(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_pod_sets sets;
    struct sl_json *pod = pod_new("\"kueue.x-k8s.io/role-hash\":\"b\"", CPU1, "");
    assert_int_equal(sl_pod_framework.pod_sets(&sl_pod_framework, pod, &sets, &e), SL_CODE_OK);
    assert_int_equal(sets.count, 1);
    assert_string_equal(sets.at[0].name, "main");
    sl_pod_sets_fini(&sets);
    sl_json_free(pod);
}

static void test_podjob_sets_are_one_for_each_role_in_order(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_pod_sets sets;
    struct sl_member at[] = {
        {.object = pod_new("\"kueue.x-k8s.io/role-hash\":\"b\"", CPU1, "")},
        {.object = pod_new("\"kueue.x-k8s.io/role-hash\":\"a\"", CPU1, "")},
        {.object = pod_new("\"kueue.x-k8s.io/role-hash\":\"b\"", CPU1, "")},
        {.object = pod_new("\"kueue.x-k8s.io/role-hash\":\"c\"", CPU1, "\"phase\":\"Failed\"")}};
    struct sl_members m = {.group = "g", .count = 4, .at = at};
    assert_int_equal(sl_pod_composition.pod_sets(&m, &sets, &e), SL_CODE_OK);
    assert_int_equal(sets.count, 2);
    assert_string_equal(sets.at[0].name, "a");
    assert_int_equal(sets.at[0].count, 1);
    assert_string_equal(sets.at[1].name, "b");
    assert_int_equal(sets.at[1].count, 2);
    sl_pod_sets_fini(&sets);
    struct sl_json *first = sl_json_path(at[0].object, "metadata.annotations");
    sl_json_set_text(first, SL_POD_GROUP_FAST, "true");
    sl_json_set_text(first, SL_POD_GROUP_COUNT, "9");
    assert_int_equal(sl_pod_composition.pod_sets(&m, &sets, &e), SL_CODE_OK);
    assert_int_equal(sets.count, 1); /* the first stands for all */
    assert_int_equal(sets.at[0].count, 9);
    sl_pod_sets_fini(&sets);
    m.at = at + 3;
    m.count = 1;
    assert_int_equal(sl_pod_composition.pod_sets(&m, &sets, &e), SL_CODE_INVALID);
    sl_pod_sets_fini(&sets);
    for (size_t i = 0; i < 4; i++) {
        sl_json_free(at[i].object);
    }
}

static void test_podjob_sets_more_roles_than_can_be_held_are_refused(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_pod_sets sets;
    struct sl_member at[SL_POD_SETS_MAX + 1];
    struct sl_members m = {.group = "g", .count = SL_POD_SETS_MAX + 1, .at = at};
    for (size_t i = 0; i <= SL_POD_SETS_MAX; i++) {
        char role[64];
        (void)snprintf(role, sizeof role, "\"kueue.x-k8s.io/role-hash\":\"r%zu\"", i);
        at[i] = (struct sl_member){.object = pod_new(role, CPU1, "")};
    }
    assert_int_equal(sl_pod_composition.pod_sets(&m, &sets, &e), SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "roles"));
    sl_pod_sets_fini(&sets);
    for (size_t i = 0; i <= SL_POD_SETS_MAX; i++) {
        sl_json_free(at[i].object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_podjob_role_is_kueues_hash_of_the_shape),
        cmocka_unit_test(test_podjob_role_differs_with_what_admission_looks_at),
        cmocka_unit_test(test_podjob_total_is_a_whole_number_from_one_on),
        cmocka_unit_test(test_podjob_counts_what_runs_may_run_or_has_succeeded),
        cmocka_unit_test(test_podjob_is_active_until_its_grace_is_over),
        cmocka_unit_test(test_podjob_start_takes_its_gates_away_and_keeps_its_role),
        cmocka_unit_test(test_podjob_start_against_its_own_selector_is_refused),
        cmocka_unit_test(test_podjob_pod_without_a_group_is_one_set),
        cmocka_unit_test(test_podjob_sets_are_one_for_each_role_in_order),
        cmocka_unit_test(test_podjob_sets_more_roles_than_can_be_held_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
