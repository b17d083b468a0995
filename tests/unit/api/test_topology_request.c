/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topology annotations of pod templates: what is refused and why, and what they ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "api/validate/topology_request.h"
#include "fixture.h"

#define K "kueue.x-k8s.io/podset-"

static struct sl_json *map_of(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *map = sl_json_parse(text, strlen(text), &e);
    assert_non_null(map);
    return map;
}

static void assert_refused(const char *annotations, const char *field, const char *why)
{
    struct sl_error e = {0};
    struct sl_json *map = map_of(annotations);
    assert_int_equal(sl_topology_request_check(map, "a", 8, &e), SL_CODE_INVALID);
    bool found = false;
    for (unsigned i = 0; i < e.cause_count && i < SL_CAUSES_MAX; i++) {
        found = found ||
                (strcmp(e.causes[i].field, field) == 0 && strstr(e.causes[i].text, why) != NULL);
    }
    if (!found) {
        fail_msg("%s: first complaint is %s: %s", annotations, e.causes[0].field, e.causes[0].text);
    }
    sl_json_free(map);
}

static void assert_request(const char *annotations, const char *index_label, const char *expected)
{
    struct sl_error e = {0};
    struct sl_json *map = map_of(annotations);
    struct sl_json *wanted = expected == NULL ? NULL : map_of(expected);
    assert_int_equal(sl_topology_request_check(map, "a", 8, &e), SL_CODE_OK);
    struct sl_json *request = sl_topology_request_new(map, index_label);
    assert_true(sl_json_equal(request, wanted));
    sl_json_free(request);
    sl_json_free(wanted);
    sl_json_free(map);
}

static void test_topology_request_of_each_mode_names_its_level(void **state)
{
    (void)state;
    assert_request("{}", NULL, NULL);
    assert_request("{\"x\":\"y\"}", "i", "{\"podIndexLabel\":\"i\"}");
    assert_request("{\"" K "required-topology\":\"c/rack\"}", NULL, "{\"required\":\"c/rack\"}");
    assert_request("{\"" K "preferred-topology\":\"rack\",\"" K "group-name\":\"g\"}", "i",
                   "{\"preferred\":\"rack\",\"podIndexLabel\":\"i\",\"podSetGroupName\":\"g\"}");
    assert_request("{\"" K "unconstrained-topology\":\"True\"}", NULL, "{\"unconstrained\":true}");
    assert_request("{\"" K "unconstrained-topology\":\"f\"}", NULL, "{\"unconstrained\":false}");
}

static void test_topology_request_of_slices_has_size_or_layers(void **state)
{
    (void)state;
    assert_request("{\"" K "required-topology\":\"block\",\"" K
                   "slice-required-topology\":\"rack\",\"" K "slice-size\":\"4\"}",
                   NULL,
                   "{\"required\":\"block\",\"podSetSliceRequiredTopology\":\"rack\","
                   "\"podSetSliceSize\":4}");
    assert_request("{\"" K "slice-required-topology-constraints\":"
                   "\"[{\\\"topology\\\":\\\"rack\\\",\\\"size\\\":4},"
                   "{\\\"topology\\\":\\\"host\\\",\\\"size\\\":2}]\"}",
                   NULL,
                   "{\"podsetSliceRequiredTopologyConstraints\":[{\"topology\":\"rack\",\"size\":4}"
                   ",{\"topology\":\"host\",\"size\":2}]}");
}

static void test_topology_check_refuses_two_modes_and_bad_values(void **state)
{
    (void)state;
    assert_refused("{\"" K "required-topology\":\"r\",\"" K "preferred-topology\":\"r\"}", "a",
                   "more than one topology annotation");
    assert_refused("{\"" K "required-topology\":\"\"}", "a[" K "required-topology]", "");
    assert_refused("{\"" K "preferred-topology\":\"a b\"}", "a[" K "preferred-topology]", "");
    assert_refused("{\"" K "unconstrained-topology\":\"yes\"}", "a[" K "unconstrained-topology]",
                   "must be a boolean value");
}

static void test_topology_check_refuses_group_without_mode_or_with_slices(void **state)
{
    (void)state;
    assert_refused("{\"" K "group-name\":\"g\"}", "a[" K "group-name]", "when neither");
    assert_refused("{\"" K "required-topology\":\"r\",\"" K "group-name\":\"12\"}",
                   "a[" K "group-name]", "must not be a number");
    assert_refused("{\"" K "required-topology\":\"r\",\"" K "group-name\":\"g\",\"" K
                   "slice-required-topology\":\"h\",\"" K "slice-size\":\"2\"}",
                   "a[" K "group-name]", "may not be set when");
}

static void test_topology_check_refuses_half_and_bad_slices(void **state)
{
    (void)state;
    assert_refused("{\"" K "slice-required-topology\":\"h\"}", "a[" K "slice-size]",
                   "Required value");
    assert_refused("{\"" K "slice-size\":\"2\"}", "a[" K "slice-size]", "is not specified");
    assert_refused("{\"" K "slice-required-topology\":\"h\",\"" K "slice-size\":\"two\"}",
                   "a[" K "slice-size]", "must be a number");
    assert_refused("{\"" K "slice-required-topology\":\"h\",\"" K "slice-size\":\"0\"}",
                   "a[" K "slice-size]", "greater than or equal to 1");
    assert_refused("{\"" K "slice-required-topology\":\"h\",\"" K "slice-size\":\"9\"}",
                   "a[" K "slice-size]", "pod set count 8");
}

static void assert_layers_refused(const char *layers, const char *field, const char *why)
{
    struct sl_json *map = sl_json_new_map();
    struct sl_buf text = {0};
    sl_json_set_text(map, SL_TOPOLOGY_SLICE_LAYERS, layers);
    sl_json_print(map, &text);
    assert_refused(text.data, field, why);
    sl_buf_fini(&text);
    sl_json_free(map);
}

static void test_topology_check_refuses_bad_layers(void **state)
{
    (void)state;
    static const char at[] = "a[" SL_TOPOLOGY_SLICE_LAYERS "]";
    char field[200];
    assert_layers_refused("nonsense", at, "valid JSON array");
    assert_layers_refused("[]", at, "between 1 and 3");
    assert_layers_refused("[{\"topology\":\"r\",\"size\":9}]", at, "pod set count 8");
    snprintf(field, sizeof field, "%s[0].size", at);
    assert_layers_refused("[{\"topology\":\"r\"}]", field, "greater than or equal to 1");
    snprintf(field, sizeof field, "%s[1].size", at);
    assert_layers_refused("[{\"topology\":\"r\",\"size\":4},{\"topology\":\"h\",\"size\":3}]",
                          field, "evenly divide the parent layer size 4");
    snprintf(field, sizeof field, "%s[1].topology", at);
    assert_layers_refused("[{\"topology\":\"r\",\"size\":4},{\"topology\":\"r\",\"size\":2}]",
                          field, "Duplicate");
    snprintf(field, sizeof field, "%s[2].topology", at);
    assert_layers_refused("[{\"topology\":\"r\",\"size\":4},{\"topology\":\"h\",\"size\":2},"
                          "{\"topology\":\"r\",\"size\":1}]",
                          field, "Duplicate");
}

static void test_job_with_bad_topology_annotation_is_refused_only_with_a_queue(void **state)
{
    (void)state;
    static const char spec[] =
        "\"spec\":{\"suspend\":true,\"parallelism\":2,\"completions\":2,\"template\":{\"metadata\":"
        "{"
        "\"annotations\":{\"" K "slice-size\":\"2\"}},\"spec\":{\"restartPolicy\":\"Never\","
        "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}";
    for (int queued = 0; queued < 2; queued++) {
        struct sl_error e = {0};
        char text[800];
        snprintf(text, sizeof text,
                 "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\","
                 "\"namespace\":\"n\",\"labels\":{\"%s\":\"q\"}},%s",
                 queued ? "kueue.x-k8s.io/queue-name" : "other", spec);
        struct sl_json *job = map_of(text);
        enum sl_code code = sl_object_validate(SL_KIND_JOB, job, NULL, &e);
        assert_int_equal(code, queued ? SL_CODE_INVALID : SL_CODE_OK);
        if (queued) {
            assert_string_equal(e.causes[0].field,
                                "spec.template.metadata.annotations[" K "slice-size]");
        }
        sl_json_free(job);
    }
}

static void test_topology_groups_are_pairs(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *asks = map_of("{\"" K "group-name\":\"g\",\"" K "required-topology\":\"r\"}");
    struct sl_json *idle =
        map_of("{\"" K "group-name\":\"g\"}"); /* without a level it is in none */
    struct sl_topology_wish three[] = {{asks, "a", 1}, {asks, "b", 2}, {asks, "c", 1}};
    struct sl_topology_wish pair[] = {{asks, "a", 4}, {idle, "b", 2}, {asks, "c", 2}};
    assert_int_equal(sl_topology_groups_check(three, 3, &e), SL_CODE_INVALID);
    assert_int_equal(e.cause_count, 3);
    assert_string_equal(e.causes[2].field, "c[" SL_TOPOLOGY_GROUP "]");
    assert_non_null(strstr(e.causes[2].text, "exactly 2 pod sets, got: 3"));
    e = (struct sl_error){0};
    assert_int_equal(sl_topology_groups_check(pair, 3, &e), SL_CODE_INVALID);
    assert_int_equal(e.cause_count, 2);
    assert_string_equal(e.causes[1].field, "c[" SL_TOPOLOGY_GROUP "]");
    assert_non_null(strstr(e.causes[0].text, "got: 4 replica(s) and 2 replica(s)"));
    e = (struct sl_error){0};
    pair[2].pods = 1;
    assert_int_equal(sl_topology_groups_check(pair, 3, &e), SL_CODE_OK);
    assert_int_equal(sl_topology_groups_check(pair, 0, &e), SL_CODE_OK);
    sl_json_free(asks);
    sl_json_free(idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topology_request_of_each_mode_names_its_level),
        cmocka_unit_test(test_topology_request_of_slices_has_size_or_layers),
        cmocka_unit_test(test_topology_check_refuses_two_modes_and_bad_values),
        cmocka_unit_test(test_topology_check_refuses_group_without_mode_or_with_slices),
        cmocka_unit_test(test_topology_check_refuses_half_and_bad_slices),
        cmocka_unit_test(test_topology_check_refuses_bad_layers),
        cmocka_unit_test(test_topology_groups_are_pairs),
        cmocka_unit_test(test_job_with_bad_topology_annotation_is_refused_only_with_a_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
