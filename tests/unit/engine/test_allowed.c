/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavors that an annotation of a Workload allows it. */
#include "engine/requests/allowed.h"
#include "scene.h"

#define ANNOTATION "kueue.x-k8s.io/workload-allowed-resource-flavors"

static int setup_as(bool on)
{
    static struct sl_engine_settings s;
    s = sl_engine_settings_default();
    s.concurrent_admission = on;
    world_open_with(&w, NULL, &s);
    world_add_flavor(&w, "first", "{}");
    world_add_flavor(&w, "second", "{}");
    world_add(
        &w, SL_KIND_CLUSTER_QUEUE,
        "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},"
        "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":["
        "{\"name\":\"first\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"10\"}]},"
        "{\"name\":\"second\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"10\"}]}]}]}}");
    world_add_local_queue(&w, "team", "lq", "cq");
    sl_engine_synced(w.engine, w.now_ms);
    return 0;
}

static int setup_allowed(void **state)
{
    (void)state;
    return setup_as(true);
}

static int setup_without(void **state)
{
    (void)state;
    return setup_as(false);
}

static void add(const char *name, const char *allowed)
{
    struct sl_json *o = world_new_workload("team", name, "lq", 1, "8");
    if (allowed != NULL) {
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), ANNOTATION, allowed);
    }
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
}

static const char *flavor_of(const char *name)
{
    return sl_json_path_text(world_workload(&w, name),
                             "status.admission.podSetAssignments.0.flavors.cpu", "");
}

static void test_allowed_names_between_commas(void **state)
{
    (void)state;
    assert_true(sl_allowed_has(NULL, "a"));
    assert_true(sl_allowed_has("a", "a"));
    assert_true(sl_allowed_has("b,a", "a"));
    assert_true(sl_allowed_has(" b , a , c", "a"));
    assert_false(sl_allowed_has("", "a"));
    assert_false(sl_allowed_has("ab,b a", "a"));
    assert_false(sl_allowed_has("a", "ab"));
}

static void test_allowed_flavor_is_given(void **state)
{
    (void)state;
    add("a", "second");
    assert_string_equal(flavor_of("a"), "second");
    add("b", NULL);
    assert_string_equal(flavor_of("b"), "first");
}

static void test_allowed_flavor_that_is_in_use_is_waited_for(void **state)
{
    (void)state;
    add("a", "second");
    add("b", "second");
    world_expect(&w, "b", "QuotaReserved", "False", "WaitingForQuota");
    const char *text = sl_json_path_text(
        sl_condition_find(world_workload(&w, "b"), "QuotaReserved"), "message", "");
    assert_non_null(strstr(
        text, "skipping flavor first due to WorkloadAllowedResourceFlavorAnnotation annotation"));
}

static void test_allowed_flavor_that_is_not_offered_matches_nothing(void **state)
{
    (void)state;
    add("a", "third");
    world_expect(&w, "a", "QuotaReserved", "False", "NoMatchingFlavor");
    /* The annotation changes, and no generation does. */
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"metadata\":{\"annotations\":{\"" ANNOTATION "\":\"third, second\"}}}");
    world_settle(&w);
    assert_string_equal(flavor_of("a"), "second");
}

static void test_allowed_flavors_are_all_once_the_annotation_is_gone(void **state)
{
    (void)state;
    add("a", "third");
    (void)world_patch(&w, SL_KIND_WORKLOAD, "team", "a",
                      "{\"metadata\":{\"annotations\":{\"" ANNOTATION "\":null}}}");
    world_settle(&w);
    assert_string_equal(flavor_of("a"), "first");
}

static void test_allowed_flavors_do_not_count_without_the_feature_gate(void **state)
{
    (void)state;
    add("a", "second");
    assert_string_equal(flavor_of("a"), "first");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_allowed, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allowed_names_between_commas),
        TEST(test_allowed_flavor_is_given),
        TEST(test_allowed_flavor_that_is_in_use_is_waited_for),
        TEST(test_allowed_flavor_that_is_not_offered_matches_nothing),
        TEST(test_allowed_flavors_are_all_once_the_annotation_is_gone),
        cmocka_unit_test_setup_teardown(test_allowed_flavors_do_not_count_without_the_feature_gate,
                                        setup_without, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
