/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Sets of fields, and merges and removals by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "api/fields/fields.h"
#include "fixture.h"

static void merges(enum sl_kind kind, const char *object, const char *applied, const char *expected)
{
    struct sl_json *o = yaml(object), *a = yaml(applied), *result = sl_json_clone(o);
    struct sl_json *before = sl_json_clone(o);
    sl_fields_merge(kind, result, a);
    assert_json(result, expected);
    assert_true(sl_json_equal(o, before));
    sl_json_free(before);
    sl_json_free(result);
    sl_json_free(a);
    sl_json_free(o);
}

static void test_fields_merge_maps_and_lists_with_keys(void **state)
{
    (void)state;
    merges(SL_KIND_POD, "{spec: {containers: [{name: a, image: i}, {name: b}]}}",
           "{spec: {containers: [{name: b, image: j}]}}",
           "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"i\"},{\"name\":\"b\",\"image\":"
           "\"j\"}]}}");
    merges(SL_KIND_POD, "{spec: {nodeSelector: {a: b}, tolerations: [{key: a}]}}",
           "{spec: {nodeSelector: {c: d}, tolerations: [{key: b}]}}",
           "{\"spec\":{\"nodeSelector\":{\"c\":\"d\"},\"tolerations\":[{\"key\":\"b\"}]}}");
    merges(SL_KIND_POD, "{metadata: {finalizers: [a/b], labels: {a: b}}}",
           "{metadata: {finalizers: [a/b, c/d], labels: {a: null, c: d}}}",
           "{\"metadata\":{\"finalizers\":[\"a/b\",\"c/d\"],\"labels\":{\"c\":\"d\"}}}");
    merges(SL_KIND_POD, "{spec: {a: 1, containers: [{name: a}, {name: a}]}}",
           "{spec: {a: {b: c}, containers: [{name: b}]}}",
           "{\"spec\":{\"a\":{\"b\":\"c\"},\"containers\":[{\"name\":\"b\"}]}}");
}

/* Applied items are in the order of what is applied; others keep their place as far as that is possible. */
static void test_fields_merge_in_order(void **state)
{
    (void)state;
    static const char *const cases[][3] = {{"[a, x, b]", "[b, a]", "[\"x\",\"b\",\"a\"]"},
                                           {"[a, b, c]", "[c]", "[\"a\",\"b\",\"c\"]"},
                                           {"[a, b]", "[b, c]", "[\"a\",\"b\",\"c\"]"},
                                           {"[a]", "[b, a]", "[\"b\",\"a\"]"},
                                           {"[]", "[b, a]", "[\"b\",\"a\"]"},
                                           {"[a, b, c, d]", "[d, b]", "[\"a\",\"c\",\"d\",\"b\"]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char object[128], applied[128], expected[128];
        snprintf(object, sizeof object, "{metadata: {finalizers: %s}}", cases[i][0]);
        snprintf(applied, sizeof applied, "{metadata: {finalizers: %s}}", cases[i][1]);
        snprintf(expected, sizeof expected, "{\"metadata\":{\"finalizers\":%s}}", cases[i][2]);
        merges(SL_KIND_POD, object, applied, expected);
    }
}

static void differs(enum sl_kind kind, const char *before, const char *after, const char *modified,
                    const char *added, const char *removed)
{
    struct sl_json *b = yaml(before), *a = yaml(after);
    struct sl_fields_change change;
    sl_fields_compare(kind, b, a, &change);
    assert_json(change.modified, modified);
    assert_json(change.added, added);
    assert_json(change.removed, removed);
    sl_fields_fini(&change);
    sl_json_free(a);
    sl_json_free(b);
}

static void test_fields_compare(void **state)
{
    (void)state;
    const enum sl_kind pod = SL_KIND_POD;
    differs(pod, "{spec: {a: 1, b: 2}}", "{spec: {a: 1, c: 3}}", "null",
            "{\"f:spec\":{\"f:c\":{}}}", "{\"f:spec\":{\"f:b\":{}}}");
    differs(pod, "{spec: {a: 1}}", "{spec: {a: 2}}", "{\"f:spec\":{\"f:a\":{}}}", "null", "null");
    differs(pod, "{}", "{spec: {b: {c: 1}, a: []}}", "null",
            "{\"f:spec\":{\".\":{},\"f:a\":{},\"f:b\":{\".\":{},\"f:c\":{}}}}", "null");
    differs(pod, "{spec: {a: {b: 1}}}", "{spec: {a: 1}}", "{\"f:spec\":{\"f:a\":{}}}", "null",
            "null");
    differs(pod, "{spec: {containers: [{name: a, x: 1}, {name: b}]}}",
            "{spec: {containers: [{name: b}, {name: a, x: 2}]}}",
            "{\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"a\\\"}\":{\"f:x\":{}}}}}", "null",
            "null");
    differs(pod, "{spec: {containers: [{name: a}]}}", "{spec: {containers: [{image: a}]}}",
            "{\"f:spec\":{\"f:containers\":{}}}", "null", "null"); /* it has no key */
    differs(pod, "{metadata: {finalizers: [a, b]}}", "{metadata: {finalizers: [b, c]}}", "null",
            "{\"f:metadata\":{\"f:finalizers\":{\"v:\\\"c\\\"\":{}}}}",
            "{\"f:metadata\":{\"f:finalizers\":{\"v:\\\"a\\\"\":{}}}}");
    differs(pod, "{spec: {overhead: {cpu: '1', memory: 1Gi}}}",
            "{spec: {overhead: {cpu: 1000m, memory: 2Gi}}}",
            "{\"f:spec\":{\"f:overhead\":{\"f:memory\":{}}}}", "null", "null");
    differs(SL_KIND_JOB, "{status: {conditions: []}}", "{status: {conditions: [{type: a}]}}",
            "{\"f:status\":{\"f:conditions\":{}}}", "null", "null"); /* atomic in Kubernetes */
}

static void prunes(const char *object, const char *last, const char *owned, const char *expected)
{
    struct sl_json *o = yaml(object), *l = yaml(last), *w = yaml(owned);
    sl_fields_prune(SL_KIND_POD, o, l, w);
    assert_json(o, expected);
    sl_json_free(w);
    sl_json_free(l);
    sl_json_free(o);
}

static void test_fields_prune_what_nobody_has_any_more(void **state)
{
    (void)state;
    prunes("{spec: {a: 1, b: 2, c: 3}}", "{f:spec: {f:a: {}, f:b: {}}}", "{f:spec: {f:b: {}}}",
           "{\"spec\":{\"b\":2,\"c\":3}}");
    prunes("{spec: {a: {b: 1, c: 2}}}", "{f:spec: {f:a: {f:b: {}}}}", "{}", "{}");
    prunes("{metadata: {labels: {a: b, c: d}}}", "{f:metadata: {f:labels: {f:a: {}}}}",
           "{f:metadata: {f:labels: {f:c: {}}}}", "{\"metadata\":{\"labels\":{\"c\":\"d\"}}}");
    prunes("{spec: {containers: [{name: a, x: 1}, {name: b}, {x: 1}]}}",
           "{f:spec: {f:containers: {'k:{\"name\":\"a\"}': {., f:x: {}}, 'k:{\"name\":\"b\"}': {.: "
           "{}}}}}",
           "{f:spec: {f:containers: {'k:{\"name\":\"a\"}': {.: {}}}}}",
           "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"x\":1}]}}");
    prunes("{metadata: {finalizers: [a, b]}}", "{f:metadata: {f:finalizers: {'v:\"a\"': {}}}}",
           "{f:metadata: {f:finalizers: {'v:\"b\"': {}}}}",
           "{\"metadata\":{\"finalizers\":[\"b\"]}}");
    prunes("{spec: {a: 1}}", "{f:spec: {f:b: {}}}", "{}",
           "{}"); /* whoever has set the rest says so */
}

static struct sl_json *set_of(const char *text)
{
    struct sl_json *read = yaml(text), *set = sl_set_root_new(read);
    sl_json_free(read);
    return set;
}

static void combines(const char *a_text, const char *b_text, const char *both, const char *common,
                     const char *without)
{
    struct sl_json *a = set_of(a_text), *b = set_of(b_text);
    struct sl_json *u = sl_set_union_new(a, b), *c = sl_set_common_new(a, b);
    struct sl_json *w = sl_set_without_new(a, b);
    assert_json(u, both);
    assert_json(c, common);
    assert_json(w, without);
    sl_json_free(w);
    sl_json_free(c);
    sl_json_free(u);
    sl_json_free(b);
    sl_json_free(a);
}

static void test_sets_are_combined(void **state)
{
    (void)state;
    combines("{}", "{}", "null", "null", "null");
    combines("{f:a: {}}", "{}", "{\"f:a\":{}}", "null", "{\"f:a\":{}}");
    combines("{f:a: {}}", "{f:a: {}}", "{\"f:a\":{}}", "{\"f:a\":{}}", "null");
    combines("{f:a: {f:b: {}}}", "{f:a: {}}", "{\"f:a\":{\".\":{},\"f:b\":{}}}", "null",
             "{\"f:a\":{\"f:b\":{}}}");
    combines("{f:a: {.: {}, f:b: {}}, f:d: {}}", "{f:a: {f:b: {}}, f:c: {}}",
             "{\"f:a\":{\".\":{},\"f:b\":{}},\"f:c\":{},\"f:d\":{}}", "{\"f:a\":{\"f:b\":{}}}",
             "{\"f:a\":{},\"f:d\":{}}");
}

static void add_path(void *context, const char *path)
{
    sl_buf_print(context, "%s ", path);
}

static void test_paths_are_kubernetes(void **state)
{
    (void)state;
    struct sl_buf paths = {0};
    struct sl_json *set = set_of("{f:a: {.: {}, f:b: {}}, 'k:{\"p\":1,\"n\":\"x\"}': {f:c: {}}, "
                                 "f:d: {'v:\"w\"': {}}, 'k:broken': {}, x: {}}");
    sl_set_paths(set, add_path, &paths);
    assert_string_equal(paths.data, ".a [] [] .a.b [p=1,n=\"x\"].c .d[=\"w\"] ");
    sl_buf_fini(&paths);
    sl_json_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_merge_maps_and_lists_with_keys),
        cmocka_unit_test(test_fields_merge_in_order),
        cmocka_unit_test(test_fields_compare),
        cmocka_unit_test(test_fields_prune_what_nobody_has_any_more),
        cmocka_unit_test(test_sets_are_combined),
        cmocka_unit_test(test_paths_are_kubernetes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
