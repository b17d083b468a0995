/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fingerprints of pod sets, and what they do to workloads that wait. */
#include "engine/requests/fingerprint.h"
#include "engine/state.h"
#include "policy/requests/requests.h"
#include "policy/requests/shape.h"
#include "scene.h"

/* --- the number ------------------------------------------------------------------------------- */

static uint64_t of(const char *pod_set, const char *pod_spec)
{
    struct sl_json *set = world_parse(pod_set);
    struct sl_json *spec = world_parse(pod_spec);
    uint64_t number = sl_fingerprint(set, spec);
    sl_json_free(set);
    sl_json_free(spec);
    return number;
}

#define SET "{\"name\":\"main\",\"count\":1}"
#define CONTAINERS                                                                                 \
    "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]"
#define SPEC "{" CONTAINERS ",\"nodeSelector\":{\"a\":\"1\",\"b\":\"2\"}}"

static void test_fingerprint_order_of_keys_does_not_matter(void **state)
{
    (void)state;
    assert_true(of(SET, SPEC) == of("{\"count\":1,\"name\":\"main\"}",
                                    "{\"nodeSelector\":{\"b\":\"2\",\"a\":\"1\"},\"containers\":[{"
                                    "\"resources\":{\"requests\":{\"memory\":\"1Gi\",\"cpu\":"
                                    "\"1\"}}}]}"));
}

static void test_fingerprint_sees_what_admission_looks_at(void **state)
{
    (void)state;
    static const char *const specs[] = {
        SPEC,
        "{" CONTAINERS "}",
        "{" CONTAINERS ",\"nodeSelector\":{\"a\":\"2\",\"b\":\"1\"}}",
        "{" CONTAINERS ",\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]}",
        "{" CONTAINERS ",\"tolerations\":[{\"key\":\"l\",\"operator\":\"Exists\"}]}",
        "{" CONTAINERS ",\"affinity\":{\"nodeAffinity\":{}}}",
        "{" CONTAINERS ",\"runtimeClassName\":\"r\"}",
        "{" CONTAINERS ",\"priority\":1}",
        "{" CONTAINERS ",\"topologySpreadConstraints\":[{\"maxSkew\":1}]}",
        "{" CONTAINERS ",\"overhead\":{\"cpu\":\"1\"}}",
        "{" CONTAINERS ",\"resourceClaims\":[{\"name\":\"gpu\"}]}",
        "{" CONTAINERS ",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}",
        "{\"initContainers\":[{}]," CONTAINERS "}",
        "{\"containers\":[{\"ports\":[{\"containerPort\":80}],\"resources\":{\"requests\":{"
        "\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]}"};
    enum { COUNT = sizeof specs / sizeof specs[0] };
    uint64_t numbers[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        numbers[i] = of(SET, specs[i]);
        for (size_t k = 0; k < i; k++) {
            assert_true(numbers[i] != numbers[k]);
        }
    }
}

static void test_fingerprint_sees_name_least_count_and_topology(void **state)
{
    (void)state;
    uint64_t plain = of(SET, SPEC);
    assert_true(plain != of("{\"name\":\"other\",\"count\":1}", SPEC));
    assert_true(plain != of("{\"name\":\"main\",\"count\":1,\"minCount\":1}", SPEC));
    assert_true(plain !=
                of("{\"name\":\"main\",\"topologyRequest\":{\"required\":\"rack\"}}", SPEC));
}

static void test_fingerprint_overlooks_what_decides_nothing(void **state)
{
    (void)state;
    assert_true(of(SET, SPEC) ==
                of("{\"name\":\"main\",\"count\":7}",
                   "{\"nodeSelector\":{\"a\":\"1\",\"b\":\"2\"},\"volumes\":[{}],\"containers\":[{"
                   "\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"1\","
                   "\"memory\":\"1Gi\"},\"limits\":{\"cpu\":\"2\"}}}]}"));
}

static void test_fingerprint_takes_limits_for_missing_requests(void **state)
{
    (void)state;
    static const char limits[] =
        "{\"containers\":[{\"resources\":{\"limits\":{\"memory\":\"1024Mi\",\"cpu\":\"1000m\"}}}],"
        "\"nodeSelector\":{\"a\":\"1\",\"b\":\"2\"}}";
    assert_true(of(SET, SPEC) == of(SET, limits));
}

/* --- what it does ----------------------------------------------------------------------------- */

static sl_workload_id add(const char *name, const char *member, const char *value)
{
    char key[64];
    struct sl_json *o = world_new_workload("team", name, "lq", 1, "4");
    if (member != NULL) {
        sl_json_set(sl_json_path(o, "spec.podSets.0.template.spec"), member, world_parse(value));
    }
    assert_int_equal(world_put(&w, SL_KIND_WORKLOAD, o, NULL), SL_CODE_OK);
    (void)snprintf(key, sizeof key, "team/%s", name);
    return sl_intern_find(w.engine->names, SL_INTERN_WORKLOAD, key);
}

static void add_holder(void)
{
    world_add_basics(&w);
    world_add_workload(&w, "holder", "lq", 1, "8");
    world_settle(&w);
}

static void expect_tried(const char *name, bool tried)
{
    const struct sl_json *o = world_workload(&w, name);
    assert_int_equal(sl_condition_find(o, "QuotaReserved") != NULL, tried);
}

#define TOLERATIONS "[{\"key\":\"k\",\"operator\":\"Exists\"}]"

static void test_fingerprint_sets_apart_what_tolerates_or_selects_differently(void **state)
{
    (void)state;
    add_holder();
    (void)add("plain", NULL, NULL);
    (void)add("alike", NULL, NULL);
    (void)add("tolerates", "tolerations", TOLERATIONS);
    (void)add("selects", "nodeSelector", "{\"a\":\"b\"}");
    world_settle(&w);
    expect_tried("plain", true);
    expect_tried("alike", false);
    expect_tried("tolerates", true);
    expect_tried("selects", true);
}

static void test_fingerprint_parks_with_requests_what_has_only_limits(void **state)
{
    (void)state;
    add_holder();
    sl_workload_id requests = add("requests", NULL, NULL);
    sl_workload_id limits =
        add("limits", "containers", "[{\"resources\":{\"limits\":{\"cpu\":\"4000m\"}}}]");
    assert_true(sl_shape_equal(requests, limits));
    world_settle(&w);
    expect_tried("requests", true);
    expect_tried("limits", false);
}

static void test_fingerprint_stays_when_the_demand_is_made_for_other_flavors(void **state)
{
    (void)state;
    add_holder();
    sl_workload_id plain = add("plain", NULL, NULL);
    sl_workload_id tolerates = add("tolerates", "tolerations", TOLERATIONS);
    uint64_t number = sl_requests_fingerprint(sl_requests_first_pod_set(tolerates));
    assert_false(sl_shape_equal(plain, tolerates));
    world_add_flavor(&w, "spot", "{\"nodeLabels\":{\"a\":\"b\"}}");
    assert_true(sl_requests_fingerprint(sl_requests_first_pod_set(tolerates)) == number);
    assert_false(sl_shape_equal(plain, tolerates));
}

static void test_fingerprint_follows_the_object(void **state)
{
    (void)state;
    add_holder();
    sl_workload_id plain = add("plain", NULL, NULL);
    sl_workload_id tolerates = add("tolerates", "tolerations", TOLERATIONS);
    world_settle(&w);
    (void)world_patch(
        &w, SL_KIND_WORKLOAD, "team", "tolerates",
        "{\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{"
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"4\"}}}]}}}"
        "]}}");
    assert_true(sl_shape_equal(plain, tolerates));
    world_settle(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprint_order_of_keys_does_not_matter),
        cmocka_unit_test(test_fingerprint_sees_what_admission_looks_at),
        cmocka_unit_test(test_fingerprint_sees_name_least_count_and_topology),
        cmocka_unit_test(test_fingerprint_overlooks_what_decides_nothing),
        cmocka_unit_test(test_fingerprint_takes_limits_for_missing_requests),
        cmocka_unit_test_setup_teardown(test_fingerprint_parks_with_requests_what_has_only_limits,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_fingerprint_sets_apart_what_tolerates_or_selects_differently, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_fingerprint_stays_when_the_demand_is_made_for_other_flavors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fingerprint_follows_the_object, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
