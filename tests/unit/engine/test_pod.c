/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What pods ask for and which flavors they accept. */
#include "engine/records/pod.h"
#include "world.h"

static __int128 sum_of(const char *spec, const char *resource)
{
    struct sl_pod_requests r = {0};
    struct sl_error e = {0};
    __int128 nano = -1;
    struct sl_json *v = world_parse(spec);
    if (sl_pod_sum_requests(v, "spec", &r, &e) != SL_CODE_OK) {
        fail_msg("%s", e.causes[0].text);
    }
    for (uint32_t i = 0; i < r.count; i++) {
        if (strcmp(r.items[i].resource, resource) == 0) {
            nano = r.items[i].nano;
        }
    }
    sl_json_free(v);
    return nano;
}

static void expect_cpu(const char *spec, long long milli)
{
    assert_true(sum_of(spec, "cpu") == (__int128)milli * 1000000);
}

#define CPU(n) "{\"resources\":{\"requests\":{\"cpu\":\"" n "\"}}}"
#define SIDECAR(n) "{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"" n "\"}}}"

static void test_pod_containers_are_added_up(void **state)
{
    (void)state;
    expect_cpu("{\"containers\":[" CPU("1500m") "," CPU("2") "]}", 3500);
}

static void test_pod_init_container_counts_where_it_is_larger(void **state)
{
    (void)state;
    expect_cpu("{\"containers\":[" CPU("1") "],\"initContainers\":[" CPU("3") "," CPU("2") "]}",
               3000);
    expect_cpu("{\"containers\":[" CPU("4") "],\"initContainers\":[" CPU("3") "]}", 4000);
}

static void test_pod_sidecar_runs_beside_pod_and_later_init_containers(void **state)
{
    (void)state;
    expect_cpu("{\"containers\":[" CPU("1") "],\"initContainers\":[" SIDECAR("2") "]}", 3000);
    expect_cpu("{\"containers\":[" CPU("1") "],\"initContainers\":[" SIDECAR("2") "," CPU("5") "]}",
               7000);
    expect_cpu("{\"containers\":[" CPU("1") "],\"initContainers\":[" CPU("5") "," SIDECAR("2") "]}",
               5000);
}

static void test_pod_overhead_is_added(void **state)
{
    (void)state;
    expect_cpu("{\"containers\":[" CPU("1") "],\"overhead\":{\"cpu\":\"250m\"}}", 1250);
}

static void test_pod_limit_stands_in_for_a_missing_request(void **state)
{
    (void)state;
    expect_cpu("{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"2\"}}}]}", 2000);
    expect_cpu("{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"},\"limits\":{\"cpu\":"
               "\"2\"}}}]}",
               1000);
}

static void test_pod_level_requests_replace_the_sum(void **state)
{
    (void)state;
    expect_cpu("{\"containers\":[" CPU("1") "],\"resources\":{\"requests\":{\"cpu\":\"7\"}}}",
               7000);
}

static void test_pod_request_as_a_number_is_read(void **state)
{
    (void)state;
    expect_cpu("{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":2}}}]}", 2000);
    expect_cpu("{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":0.5}}}]}", 500);
    expect_cpu("{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":1e1}}}]}", 10000);
}

static void expect_refused(const char *spec, const char *part)
{
    struct sl_pod_requests r = {0};
    struct sl_error e = {0};
    struct sl_json *v = world_parse(spec);
    assert_int_equal(sl_pod_sum_requests(v, "spec.x", &r, &e), SL_CODE_INVALID);
    assert_string_equal(e.causes[0].field, "spec.x");
    assert_non_null(strstr(e.causes[0].text, part));
    sl_json_free(v);
}

static void test_pod_malformed_request_is_refused(void **state)
{
    (void)state;
    expect_refused("{\"containers\":[" CPU("lots") "]}", "lots");
    expect_refused("{\"containers\":[" CPU("1") "],\"initContainers\":[" CPU("-1") "]}", "-1");
    expect_refused("{\"containers\":[],\"overhead\":{\"cpu\":[]}}", "must be a text or a number");
    expect_refused("{\"containers\":[],\"overhead\":{\"cpu\":-0.5}}", "a negative number");
}

static void test_pod_more_resources_than_can_be_held_are_refused(void **state)
{
    (void)state;
    struct sl_buf spec = {0};
    sl_buf_text(&spec, "{\"containers\":[{\"resources\":{\"requests\":{\"r0\":1");
    for (int i = 1; i <= (int)SL_POD_RESOURCES_MAX; i++) {
        sl_buf_print(&spec, ",\"r%d\":1", i);
    }
    sl_buf_text(&spec, "}}}]}");
    expect_refused(spec.data, "more than");
    sl_buf_fini(&spec);
}

/* --- flavors ---------------------------------------------------------------------------------- */

static enum sl_pod_fit fit(const char *pod, const char *flavor)
{
    struct sl_json *p = world_parse(pod);
    struct sl_json *f = world_parse(flavor);
    struct sl_json *c = sl_pod_constraint_new(p);
    enum sl_pod_fit answer = sl_pod_fits_flavor(c, f);
    sl_json_free(p);
    sl_json_free(f);
    sl_json_free(c);
    return answer;
}

#define TAINT(effect) "{\"nodeTaints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"" effect "\"}]}"
#define TOLERATE(t) "{\"tolerations\":[{" t "}]}"

static void test_pod_taint_must_be_tolerated(void **state)
{
    (void)state;
    assert_int_equal(fit("{}", TAINT("NoSchedule")), SL_POD_TAINTED);
    assert_int_equal(fit("{}", TAINT("NoExecute")), SL_POD_TAINTED);
    assert_int_equal(fit("{}", TAINT("PreferNoSchedule")), SL_POD_FITS);
    assert_int_equal(fit(TOLERATE("\"key\":\"k\",\"value\":\"v\""), TAINT("NoSchedule")),
                     SL_POD_FITS);
    assert_int_equal(fit(TOLERATE("\"key\":\"k\",\"value\":\"w\""), TAINT("NoSchedule")),
                     SL_POD_TAINTED);
    assert_int_equal(fit(TOLERATE("\"key\":\"k\",\"operator\":\"Exists\""), TAINT("NoSchedule")),
                     SL_POD_FITS);
    assert_int_equal(fit(TOLERATE("\"operator\":\"Exists\""), TAINT("NoExecute")), SL_POD_FITS);
    assert_int_equal(fit(TOLERATE("\"key\":\"k\",\"operator\":\"Exists\",\"effect\":\"NoExecute\""),
                         TAINT("NoSchedule")),
                     SL_POD_TAINTED);
}

static void test_pod_flavor_tolerates_its_own_taint(void **state)
{
    (void)state;
    assert_int_equal(
        fit("{}", "{\"nodeTaints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}],\"tolerations\":[{"
                  "\"key\":\"k\",\"operator\":\"Exists\"}]}"),
        SL_POD_FITS);
}

#define LABELS "{\"nodeLabels\":{\"zone\":\"a\",\"size\":\"8\"}}"
#define SELECT(s) "{\"nodeSelector\":{" s "}}"
#define AFFINITY(terms)                                                                            \
    "{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"        \
    "\"nodeSelectorTerms\":[" terms "]}}}}"
#define TERM(key, op, values)                                                                      \
    "{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":[" values "]}" \
    "]}"

static void test_pod_node_selector_counts_on_the_flavors_own_labels(void **state)
{
    (void)state;
    assert_int_equal(fit(SELECT("\"zone\":\"a\""), LABELS), SL_POD_FITS);
    assert_int_equal(fit(SELECT("\"zone\":\"b\""), LABELS), SL_POD_AFFINITY);
    assert_int_equal(fit(SELECT("\"other\":\"b\""), LABELS), SL_POD_FITS);
    assert_int_equal(fit(SELECT("\"zone\":\"b\""), "{}"), SL_POD_FITS);
}

static void test_pod_affinity_operators(void **state)
{
    (void)state;
    assert_int_equal(fit(AFFINITY(TERM("zone", "In", "\"a\",\"b\"")), LABELS), SL_POD_FITS);
    assert_int_equal(fit(AFFINITY(TERM("zone", "In", "\"b\"")), LABELS), SL_POD_AFFINITY);
    assert_int_equal(fit(AFFINITY(TERM("zone", "NotIn", "\"a\"")), LABELS), SL_POD_AFFINITY);
    assert_int_equal(fit(AFFINITY(TERM("zone", "NotIn", "\"b\"")), LABELS), SL_POD_FITS);
    assert_int_equal(fit(AFFINITY(TERM("zone", "Exists", "")), LABELS), SL_POD_FITS);
    assert_int_equal(fit(AFFINITY(TERM("zone", "DoesNotExist", "")), LABELS), SL_POD_AFFINITY);
    assert_int_equal(fit(AFFINITY(TERM("size", "Gt", "\"7\"")), LABELS), SL_POD_FITS);
    assert_int_equal(fit(AFFINITY(TERM("size", "Gt", "\"8\"")), LABELS), SL_POD_AFFINITY);
    assert_int_equal(fit(AFFINITY(TERM("size", "Lt", "\"9\"")), LABELS), SL_POD_FITS);
    assert_int_equal(fit(AFFINITY(TERM("zone", "Lt", "\"9\"")), LABELS),
                     SL_POD_AFFINITY); /* no number */
    assert_int_equal(fit(AFFINITY(TERM("size", "Gt", "\"7\",\"1\"")), LABELS),
                     SL_POD_AFFINITY); /* not one */
}

static void test_pod_affinity_terms_are_alternatives(void **state)
{
    (void)state;
    assert_int_equal(
        fit(AFFINITY(TERM("zone", "In", "\"b\"") "," TERM("zone", "In", "\"a\"")), LABELS),
        SL_POD_FITS);
    assert_int_equal(
        fit(AFFINITY(TERM("zone", "In", "\"b\"") "," TERM("rack", "In", "\"1\"")), LABELS),
        SL_POD_FITS); /* the second says nothing about this flavor */
    assert_int_equal(
        fit(AFFINITY(TERM("zone", "In", "\"b\"") "," TERM("size", "In", "\"9\"")), LABELS),
        SL_POD_AFFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pod_containers_are_added_up),
        cmocka_unit_test(test_pod_init_container_counts_where_it_is_larger),
        cmocka_unit_test(test_pod_sidecar_runs_beside_pod_and_later_init_containers),
        cmocka_unit_test(test_pod_overhead_is_added),
        cmocka_unit_test(test_pod_limit_stands_in_for_a_missing_request),
        cmocka_unit_test(test_pod_level_requests_replace_the_sum),
        cmocka_unit_test(test_pod_request_as_a_number_is_read),
        cmocka_unit_test(test_pod_malformed_request_is_refused),
        cmocka_unit_test(test_pod_more_resources_than_can_be_held_are_refused),
        cmocka_unit_test(test_pod_taint_must_be_tolerated),
        cmocka_unit_test(test_pod_flavor_tolerates_its_own_taint),
        cmocka_unit_test(test_pod_node_selector_counts_on_the_flavors_own_labels),
        cmocka_unit_test(test_pod_affinity_operators),
        cmocka_unit_test(test_pod_affinity_terms_are_alternatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
