/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "api/objects/object.h"

static struct sl_json *parse(const char *text)
{
    struct sl_error e;
    sl_error_clear(&e);
    struct sl_json *v = sl_json_parse(text, strlen(text), &e);
    if (v == NULL) {
        fail_msg("%s", e.text);
    }
    return v;
}

static bool labels_match(const char *selector, const char *labels)
{
    struct sl_error e;
    sl_error_clear(&e);
    struct sl_selector *s = sl_selector_parse_labels(selector, &e);
    if (s == NULL) {
        fail_msg("%s", e.text);
    }
    struct sl_json *map = parse(labels);
    bool result = sl_selector_matches_labels(s, map);
    sl_json_free(map);
    sl_selector_free(s);
    return result;
}

static void test_selector_equality_matches_value(void **state)
{
    (void)state;
    assert_true(labels_match("a=b", "{\"a\":\"b\"}"));
    assert_true(labels_match("a==b, c!=d", "{\"a\":\"b\"}"));
    assert_false(labels_match("a=b", "{\"a\":\"c\"}"));
    assert_false(labels_match("a!=b", "{\"a\":\"b\"}"));
}

static void test_selector_set_matches_members(void **state)
{
    (void)state;
    assert_true(labels_match("a in (x, y)", "{\"a\":\"y\"}"));
    assert_false(labels_match("a in (x,y)", "{\"a\":\"z\"}"));
    assert_true(labels_match("a notin (x,y)", "{}"));
    assert_false(labels_match("a notin (x,y)", "{\"a\":\"x\"}"));
}

static void test_selector_existence_looks_at_keys_only(void **state)
{
    (void)state;
    assert_true(labels_match("a", "{\"a\":\"\"}"));
    assert_false(labels_match("a", "{}"));
    assert_true(labels_match("!a", "{}"));
    assert_false(labels_match("! a", "{\"a\":\"b\"}"));
}

static void test_selector_empty_matches_everything(void **state)
{
    (void)state;
    assert_true(labels_match("", "{}"));
    assert_true(labels_match("  ", "{\"a\":\"b\"}"));
}

static void test_selector_malformed_text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"a in x", "a in (x", "=b",   "a b",
                                      "a=b c",  "a,,b",    "a=b(", "!"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_error e;
        sl_error_clear(&e);
        struct sl_selector *s = sl_selector_parse_labels(bad[i], &e);
        if (s != NULL) {
            fail_msg("\"%s\" was accepted", bad[i]);
        }
        assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
        assert_string_not_equal(e.text, "");
    }
}

static void test_selector_fields_follow_paths(void **state)
{
    (void)state;
    struct sl_error e;
    sl_error_clear(&e);
    struct sl_json *o = parse("{\"metadata\":{\"name\":\"x\"},\"spec\":{\"unschedulable\":true}}");
    struct sl_selector *s =
        sl_selector_parse_fields("metadata.name=x,spec.nodeName=,spec.unschedulable=true", &e);
    assert_non_null(s);
    assert_true(sl_selector_matches(s, o));
    sl_selector_free(s);
    s = sl_selector_parse_fields("metadata.name!=x", &e);
    assert_false(sl_selector_matches(s, o));
    sl_selector_free(s);
    assert_null(sl_selector_parse_fields("metadata.name", &e));
    assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
    sl_json_free(o);
}

static void test_selector_from_json_needs_both_parts(void **state)
{
    (void)state;
    struct sl_error e;
    sl_error_clear(&e);
    struct sl_json *text = parse("{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":["
                                 "{\"key\":\"c\",\"operator\":\"In\",\"values\":[\"d\",\"e\"]},"
                                 "{\"key\":\"f\",\"operator\":\"DoesNotExist\"}]}");
    struct sl_selector *s = sl_selector_from_json(text, &e);
    assert_non_null(s);
    struct sl_json *good = parse("{\"a\":\"b\",\"c\":\"e\"}");
    struct sl_json *bad = parse("{\"a\":\"b\",\"c\":\"e\",\"f\":\"\"}");
    assert_true(sl_selector_matches_labels(s, good));
    assert_false(sl_selector_matches_labels(s, bad));
    sl_json_free(good);
    sl_json_free(bad);
    sl_selector_free(s);
    sl_json_free(text);
}

static void test_selector_from_json_bad_expression_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Like\",\"values\":[\"b\"]}]}",
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}",
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"b\"]}]}",
        "{\"matchExpressions\":[{\"operator\":\"Exists\"}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sl_error e;
        sl_error_clear(&e);
        struct sl_json *text = parse(bad[i]);
        assert_null(sl_selector_from_json(text, &e));
        assert_int_equal(e.code, SL_CODE_INVALID);
        assert_non_null(strstr(e.text, "matchExpressions[0]"));
        sl_json_free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selector_equality_matches_value),
        cmocka_unit_test(test_selector_set_matches_members),
        cmocka_unit_test(test_selector_existence_looks_at_keys_only),
        cmocka_unit_test(test_selector_empty_matches_everything),
        cmocka_unit_test(test_selector_malformed_text_is_refused),
        cmocka_unit_test(test_selector_fields_follow_paths),
        cmocka_unit_test(test_selector_from_json_needs_both_parts),
        cmocka_unit_test(test_selector_from_json_bad_expression_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
