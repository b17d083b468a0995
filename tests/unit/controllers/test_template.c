/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Injecting into and restoring pod templates. */
#include "t.h"
#include "controllers/work/template.h"
#include <stdio.h>

static const char flavor_text[] =
    "{\"spec\":{\"nodeLabels\":{\"machine\":\"spot\"},"
    "\"tolerations\":[{\"key\":\"machine\",\"operator\":\"Exists\"}]}}";

static struct sl_json *injection_of(const char *flavor)
{
    struct sl_json *injection = sl_json_new_map();
    struct sl_json *f = parse(flavor);
    struct sl_error e = {0};
    assert_int_equal(sl_injection_add_flavor(injection, f, &e), SL_CODE_OK);
    sl_json_free(f);
    return injection;
}

static void test_template_inject_adds_selector_and_tolerations(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *injection = injection_of(flavor_text);
    struct sl_json *template =
        parse("{\"spec\":{\"nodeSelector\":{\"zone\":\"a\"},\"containers\":[],"
              "\"tolerations\":[{\"key\":\"own\"}]}}");

    assert_int_equal(sl_template_inject(template, injection, &e), SL_CODE_OK);

    assert_json(
        template,
        "{\"spec\":{\"nodeSelector\":{\"zone\":\"a\",\"machine\":\"spot\"},\"containers\":[],"
        "\"tolerations\":[{\"key\":\"own\"},{\"key\":\"machine\",\"operator\":\"Exists\"}]}}");
    sl_json_free(template);
    sl_json_free(injection);
}

static void test_template_inject_twice_changes_nothing_more(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *injection = injection_of(flavor_text);
    struct sl_json *template = parse("{\"spec\":{\"containers\":[]}}");
    assert_int_equal(sl_template_inject(template, injection, &e), SL_CODE_OK);
    struct sl_json *once = sl_json_clone(template);

    assert_int_equal(sl_template_inject(template, injection, &e), SL_CODE_OK);

    assert_true(sl_json_equal(template, once));
    sl_json_free(once);
    sl_json_free(template);
    sl_json_free(injection);
}

static void test_template_inject_against_own_selector_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *injection = injection_of(flavor_text);
    const char *text = "{\"spec\":{\"nodeSelector\":{\"machine\":\"on-demand\"}}}";
    struct sl_json *template = parse(text);

    assert_int_equal(sl_template_inject(template, injection, &e), SL_CODE_INVALID);

    assert_json(template, text);
    assert_non_null(strstr(e.text, "machine"));
    sl_json_free(template);
    sl_json_free(injection);
}

static void test_injection_two_flavors_that_disagree_are_refused(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *injection = injection_of(flavor_text);
    struct sl_json *other = parse("{\"spec\":{\"nodeLabels\":{\"machine\":\"big\"}}}");
    assert_int_equal(sl_injection_add_flavor(injection, other, &e), SL_CODE_INVALID);
    sl_json_free(other);
    sl_json_free(injection);
}

static void test_injection_update_of_a_check_adds_labels_and_annotations(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *injection = sl_json_new_map();
    struct sl_json *update =
        parse("{\"name\":\"main\",\"labels\":{\"l\":\"1\"},\"annotations\":{\"a\":\"2\"}}");
    struct sl_json *template = parse("{\"spec\":{}}");

    assert_int_equal(sl_injection_add_update(injection, update, &e), SL_CODE_OK);
    assert_int_equal(sl_template_inject(template, injection, &e), SL_CODE_OK);

    assert_json(sl_json_get(template, "metadata"),
                "{\"labels\":{\"l\":\"1\"},\"annotations\":{\"a\":\"2\"}}");
    sl_json_free(template);
    sl_json_free(update);
    sl_json_free(injection);
}

static void test_injection_update_that_disagrees_is_refused_whole(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *injection = injection_of(flavor_text);
    struct sl_json *before = sl_json_clone(injection);
    struct sl_json *update =
        parse("{\"labels\":{\"l\":\"1\"},\"nodeSelector\":{\"machine\":\"x\"}}");

    assert_int_equal(sl_injection_add_update(injection, update, &e), SL_CODE_INVALID);

    assert_true(sl_json_equal(injection, before));
    sl_json_free(update);
    sl_json_free(before);
    sl_json_free(injection);
}

static void test_template_restore_undoes_inject(void **state)
{
    (void)state;
    struct sl_error e = {0};
    const char *text =
        "{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":[{\"name\":\"c\"}],"
        "\"nodeSelector\":{\"zone\":\"a\"}}}";
    struct sl_json *original = parse(text);
    struct sl_json *template = parse(text);
    struct sl_json *injection = injection_of(flavor_text);
    assert_int_equal(sl_template_inject(template, injection, &e), SL_CODE_OK);
    assert_false(sl_template_same_placement(template, original));
    assert_true(sl_template_same_containers(template, original));

    assert_true(sl_template_restore(template, original));

    assert_json(template, text);
    assert_false(sl_template_restore(template, original));
    sl_json_free(injection);
    sl_json_free(template);
    sl_json_free(original);
}

static void test_template_restore_keeps_the_job_controllers_labels(void **state)
{
    (void)state;
    struct sl_json *original = parse("{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{}}");
    struct sl_json *template = parse("{\"metadata\":{\"labels\":{\"app\":\"x\",\"job-name\":\"j\","
                                     "\"added\":\"y\"}},\"spec\":{}}");
    assert_true(sl_template_restore(template, original));
    assert_json(sl_json_path(template, "metadata.labels"), "{\"app\":\"x\",\"job-name\":\"j\"}");
    sl_json_free(template);
    sl_json_free(original);
}

static void test_template_same_compares_quantities_by_value(void **state)
{
    (void)state;
    static const char form[] =
        "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":%s},"
        "\"limits\":{\"memory\":\"%s\"}}}]}}";
    static const char *const cpus[] = {"\"1\"", "1", "\"1\"", "\"2\""};
    static const char *const memories[] = {"1Gi", "1024Mi", "2Gi", "1Gi"};
    char text[200];
    snprintf(text, sizeof text, form, cpus[0], memories[0]);
    struct sl_json *a = parse(text);
    for (size_t i = 0; i < 4; i++) {
        snprintf(text, sizeof text, form, cpus[i], memories[i]);
        struct sl_json *b = parse(text);
        assert_int_equal(sl_template_same_containers(a, b), i < 2);
        sl_json_free(b);
    }
    sl_json_free(a);
}

static void test_template_same_takes_absent_for_empty_and_sees_differences(void **state)
{
    (void)state;
    struct sl_json *a = parse("{\"spec\":{\"containers\":[{\"name\":\"c\"}],\"tolerations\":[]}}");
    struct sl_json *b = parse("{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}");
    struct sl_json *c = parse("{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
                              "\"nodeSelector\":{\"a\":\"b\"}}}");
    assert_true(sl_template_same_containers(a, b));
    assert_true(sl_template_same_placement(a, b));
    assert_false(sl_template_same_containers(a, c));
    assert_false(sl_template_same_placement(a, c));
    sl_json_free(a);
    sl_json_free(b);
    sl_json_free(c);
}

static void test_injection_topology_gates_the_pods_and_restore_opens_them(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *injection = sl_json_new_map();
    struct sl_json *request = parse("{\"required\":\"rack\"}");
    struct sl_json *original = parse("{\"spec\":{\"schedulingGates\":[{\"name\":\"own/gate\"}]}}");
    struct sl_json *template = sl_json_clone(original);
    sl_injection_add_topology(injection, "w", "main", request);
    assert_int_equal(sl_template_inject(template, injection, &e), SL_CODE_OK);

    assert_json(template, "{\"spec\":{\"schedulingGates\":[{\"name\":\"own/gate\"},"
                          "{\"name\":\"kueue.x-k8s.io/topology\"}]},\"metadata\":{"
                          "\"labels\":{\"kueue.x-k8s.io/podset\":\"main\"},"
                          "\"annotations\":{\"kueue.x-k8s.io/workload\":\"w\"}}}");
    assert_true(sl_template_gated(template));
    assert_false(sl_template_gated(original));
    assert_true(sl_template_restore(template, original));
    assert_json(sl_json_get(template, "spec"), "{\"schedulingGates\":[{\"name\":\"own/gate\"}]}");
    assert_int_equal(sl_json_len(sl_json_path(template, "metadata.annotations")), 0);
    sl_json_free(template);
    sl_json_free(original);
    sl_json_free(request);
    sl_json_free(injection);
}

static void test_injection_topology_that_was_not_asked_for_is_unconstrained(void **state)
{
    (void)state;
    struct sl_json *injection = sl_json_new_map();
    sl_injection_add_topology(injection, "w", "main", NULL);
    assert_json(sl_json_get(injection, "annotations"),
                "{\"kueue.x-k8s.io/workload\":\"w\","
                "\"kueue.x-k8s.io/podset-unconstrained-topology\":\"true\"}");
    sl_json_free(injection);
}

/* A pod template of slices that came before says so; any other annotation is its user's. */
static void test_template_stale_slice_name_is_replaced(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *template = parse("{\"metadata\":{\"annotations\":{"
                                     "\"kueue.x-k8s.io/workload-slice-name\":\"old\","
                                     "\"kueue.x-k8s.io/workload\":\"old\"}}}");
    struct sl_json *injection = parse("{\"annotations\":{\"kueue.x-k8s.io/workload\":\"new\"}}");
    assert_int_equal(sl_template_inject(template, injection, &e), SL_CODE_INVALID);
    sl_json_set_text(sl_json_get(injection, "annotations"), SL_ANNOTATION_SLICE, "new");
    assert_int_equal(sl_template_inject(template, injection, &e), SL_CODE_OK);
    assert_json(template, "{\"metadata\":{\"annotations\":{"
                          "\"kueue.x-k8s.io/workload-slice-name\":\"new\","
                          "\"kueue.x-k8s.io/workload\":\"new\"}}}");
    sl_json_free(injection);
    sl_json_free(template);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_template_inject_adds_selector_and_tolerations),
        cmocka_unit_test(test_template_stale_slice_name_is_replaced),
        cmocka_unit_test(test_template_inject_twice_changes_nothing_more),
        cmocka_unit_test(test_template_inject_against_own_selector_is_refused_and_changes_nothing),
        cmocka_unit_test(test_injection_two_flavors_that_disagree_are_refused),
        cmocka_unit_test(test_injection_update_of_a_check_adds_labels_and_annotations),
        cmocka_unit_test(test_injection_update_that_disagrees_is_refused_whole),
        cmocka_unit_test(test_template_restore_undoes_inject),
        cmocka_unit_test(test_template_restore_keeps_the_job_controllers_labels),
        cmocka_unit_test(test_injection_topology_gates_the_pods_and_restore_opens_them),
        cmocka_unit_test(test_injection_topology_that_was_not_asked_for_is_unconstrained),
        cmocka_unit_test(test_template_same_compares_quantities_by_value),
        cmocka_unit_test(test_template_same_takes_absent_for_empty_and_sees_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
