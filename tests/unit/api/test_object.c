/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Metadata, kinds, conditions and Status objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "fixture.h"

static void test_kinds_are_found_by_every_name(void **state)
{
    (void)state;
    assert_int_equal(sl_kind_find("kueue.x-k8s.io", "v1beta2", "workloads"), SL_KIND_WORKLOAD);
    assert_int_equal(sl_kind_find("", "v1", "pods"), SL_KIND_POD);
    assert_int_equal(sl_kind_find("", "v1", "pod"), SL_KIND_COUNT);
    assert_int_equal(sl_kind_find("batch", "v2", "jobs"), SL_KIND_COUNT);
    assert_int_equal(sl_kind_find_object("batch/v1", "Job"), SL_KIND_JOB);
    assert_int_equal(sl_kind_find_object("v1", "Namespace"), SL_KIND_NAMESPACE);
    assert_int_equal(sl_kind_find_object("v1", "Job"), SL_KIND_COUNT);
    assert_int_equal(sl_kind_find_name("CQ"), SL_KIND_CLUSTER_QUEUE);
    assert_int_equal(sl_kind_find_name("queues"), SL_KIND_LOCAL_QUEUE);
    assert_int_equal(sl_kind_find_name("Workload"), SL_KIND_WORKLOAD);
    assert_int_equal(sl_kind_find_name("queue,queues"), SL_KIND_COUNT);
    assert_int_equal(sl_kind_find_name(""), SL_KIND_COUNT);
    for (size_t i = 0; i < SL_KIND_CUSTOM; i++) {
        const struct sl_kind_info *info = sl_kind_info((enum sl_kind)i);
        assert_int_equal(sl_kind_find_object(info->api_version, info->kind), i);
        assert_int_equal(sl_kind_find(info->group, info->version, info->plural), i);
    }
}

static void test_object_metadata_is_read(void **state)
{
    (void)state;
    struct sl_json *o =
        yaml("metadata:\n  name: a\n  namespace: ns\n  uid: u\n  resourceVersion: '7'\n"
             "  generation: 3\n  creationTimestamp: 1970-01-01T00:00:01Z\n"
             "  labels: {a.b/c: d}\n  annotations: {x: z}\n  ownerReferences:\n"
             "  - {name: first}\n  - {name: second, controller: true}\n");
    assert_string_equal(sl_object_name(o), "a");
    assert_string_equal(sl_object_namespace(o), "ns");
    assert_string_equal(sl_object_uid(o), "u");
    char *key = sl_object_key_new(o);
    assert_string_equal(key, "ns/a");
    sl_mem_free(key);
    assert_string_equal(sl_object_resource_version(o), "7");
    assert_int_equal(sl_object_generation(o), 3);
    assert_int_equal(sl_object_created_ms(o), 1000);
    assert_string_equal(sl_object_label(o, "a.b/c"), "d");
    assert_string_equal(sl_object_annotation(o, "x"), "z");
    assert_null(sl_object_annotation(o, "nothing"));
    assert_false(sl_object_deleting(o));
    assert_string_equal(sl_json_path_text(sl_object_controller_ref(o), "name", ""), "second");
    sl_json_free(o);
}

static void test_object_without_metadata_reads_as_empty(void **state)
{
    (void)state;
    assert_string_equal(sl_object_name(NULL), "");
    assert_int_equal(sl_object_created_ms(NULL), INT64_MIN);
    assert_null(sl_object_label(NULL, "a"));
    assert_null(sl_object_controller_ref(NULL));
}

static void test_object_finalizer_is_found_and_dropped_by_name(void **state)
{
    (void)state;
    struct sl_json *o = yaml("metadata: {finalizers: [a, b, 3]}");
    assert_true(sl_object_has_finalizer(o, "a"));
    assert_true(sl_object_has_finalizer(o, "b"));
    assert_false(sl_object_has_finalizer(o, "c"));
    assert_false(sl_object_has_finalizer(NULL, "a"));
    assert_false(sl_object_drop_finalizer(o, "c"));
    assert_true(sl_object_drop_finalizer(o, "b"));
    assert_false(sl_object_drop_finalizer(o, "b"));
    assert_json(o, "{\"metadata\":{\"finalizers\":[\"a\",3]}}");
    sl_json_free(o);
    o = yaml("metadata: {finalizers: [a]}");
    assert_true(sl_object_drop_finalizer(o, "a"));
    assert_json(o, "{\"metadata\":{\"finalizers\":[]}}");
    sl_json_free(o);
}

static void test_object_new_has_type_and_name(void **state)
{
    (void)state;
    struct sl_json *o = sl_object_new(SL_KIND_JOB, "n", "a");
    assert_json(o, "{\"apiVersion\":\"batch/"
                   "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}");
    sl_json_free(o);
    o = sl_object_new(SL_KIND_NODE, "", "a");
    assert_json(o, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}");
    sl_json_free(o);
}

static void test_condition_transition_time_moves_only_with_status(void **state)
{
    (void)state;
    struct sl_json *o = sl_json_new_map();
    struct sl_json *status = sl_json_path_make(o, "status");
    assert_true(sl_condition_set(status, "Ready", false, "Waits", "for a", 1, 1000));
    assert_false(sl_condition_set(status, "Ready", false, "Waits", "for a", 1, 2000));
    assert_true(sl_condition_set(status, "Ready", false, "Waits", "for b", 2, 3000));
    assert_json(
        sl_condition_find(o, "Ready"),
        "{\"type\":\"Ready\",\"status\":\"False\",\"lastTransitionTime\":\"1970-01-01T00:00:01Z\","
        "\"reason\":\"Waits\",\"message\":\"for b\",\"observedGeneration\":2}");
    assert_false(sl_condition_true(o, "Ready"));
    assert_true(sl_condition_set(status, "Ready", true, "Done", "", 2, 4000));
    assert_true(sl_condition_true(o, "Ready"));
    assert_string_equal(sl_json_path_text(sl_condition_find(o, "Ready"), "lastTransitionTime", ""),
                        "1970-01-01T00:00:04Z");
    assert_true(sl_condition_set(status, "Other", true, "Done", "", 0, 4000));
    assert_int_equal(sl_json_len(sl_json_get(status, "conditions")), 2);
    assert_true(sl_condition_remove(status, "Ready"));
    assert_false(sl_condition_remove(status, "Ready"));
    assert_null(sl_condition_find(o, "Ready"));
    assert_true(sl_condition_true(o, "Other"));
    sl_json_free(o);
}

static void test_condition_message_is_repaired_once(void **state)
{
    (void)state;
    struct sl_json *status = sl_json_new_map();
    assert_true(sl_condition_set(status, "T", true, "R", "cut \xc3|", 0, 0));
    assert_false(sl_condition_set(status, "T", true, "R", "cut \xc3|", 0, 0));
    assert_string_equal(sl_json_path_text(status, "conditions.0.message", ""), "cut \xef\xbf\xbd|");
    sl_json_free(status);
}

static void test_condition_message_is_cut_at_a_character(void **state)
{
    (void)state;
    size_t len = 40001;
    char *message = sl_mem_new(len + 1, 1);
    message[0] = 'x';
    for (size_t i = 1; i + 1 < len; i += 2) {
        memcpy(message + i, "\xc3\xa4", 2);
    }
    struct sl_json *status = sl_json_new_map();
    assert_true(sl_condition_set(status, "T", true, "R", message, 0, 0));
    assert_false(sl_condition_set(status, "T", true, "R", message, 0, 0));
    assert_int_equal(strlen(sl_json_path_text(status, "conditions.0.message", "")), 32767);
    sl_mem_free(message);
    sl_json_free(status);
}

static void test_status_names_the_resource_or_the_kind(void **state)
{
    (void)state;
    struct sl_error e = {0};
    sl_error_set(&e, SL_CODE_NOT_FOUND, "jobs.batch \"x\" not found");
    struct sl_json *s = sl_status_new(&e, SL_KIND_JOB, "x");
    assert_json(
        s, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
           "\"message\":\"jobs.batch \\\"x\\\" not found\",\"reason\":\"NotFound\",\"details\":"
           "{\"name\":\"x\",\"group\":\"batch\",\"kind\":\"jobs\"},\"code\":404}");
    sl_json_free(s);
    sl_error_clear(&e);
    sl_error_cause(&e, "FieldValueRequired", "spec.a", "Required value");
    sl_error_cause(&e, "FieldValueInvalid", "spec.b", "Invalid value: 1: no");
    s = sl_status_new(&e, SL_KIND_JOB, "x");
    assert_string_equal(
        sl_json_path_text(s, "message", ""),
        "Job.batch \"x\" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: no]");
    assert_string_equal(sl_json_path_text(s, "details.kind", ""), "Job");
    assert_json(
        sl_json_path(s, "details.causes.0"),
        "{\"reason\":\"FieldValueRequired\",\"message\":\"Required value\",\"field\":\"spec.a\"}");
    sl_json_free(s);
}

static void test_status_without_a_kind_has_no_details(void **state)
{
    (void)state;
    struct sl_error e = {0};
    sl_error_set(&e, SL_CODE_BAD_REQUEST, "malformed");
    struct sl_json *s = sl_status_new(&e, SL_KIND_COUNT, "");
    assert_false(sl_json_has(s, "details"));
    assert_int_equal(sl_json_path_int(s, "code", 0), 400);
    sl_json_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_are_found_by_every_name),
        cmocka_unit_test(test_object_metadata_is_read),
        cmocka_unit_test(test_object_without_metadata_reads_as_empty),
        cmocka_unit_test(test_object_finalizer_is_found_and_dropped_by_name),
        cmocka_unit_test(test_object_new_has_type_and_name),
        cmocka_unit_test(test_condition_transition_time_moves_only_with_status),
        cmocka_unit_test(test_condition_message_is_repaired_once),
        cmocka_unit_test(test_condition_message_is_cut_at_a_character),
        cmocka_unit_test(test_status_names_the_resource_or_the_kind),
        cmocka_unit_test(test_status_without_a_kind_has_no_details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
