/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Merge patches and JSON patches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

static void merges(const char *object, const char *patch, const char *expected)
{
    struct sl_json *o = yaml(object), *p = yaml(patch);
    assert_int_equal(sl_patch_merge(&o, p, NULL), SL_CODE_OK);
    assert_json(o, expected);
    sl_json_free(o);
    sl_json_free(p);
}

static void test_patch_merge_follows_the_rfc(void **state)
{
    (void)state;
    merges("{a: b}", "{a: c}", "{\"a\":\"c\"}");
    merges("{a: b}", "{b: c}", "{\"a\":\"b\",\"b\":\"c\"}");
    merges("{a: b}", "{a: null}", "{}");
    merges("{a: [b]}", "{a: c}", "{\"a\":\"c\"}");
    merges("{a: {b: c}}", "{a: {b: d, c: null}}", "{\"a\":{\"b\":\"d\"}}");
    merges("{a: [{b: c}]}", "{a: [1]}", "{\"a\":[1]}");
    merges("{a: foo}", "{a: {b: {c: null, d: 1}}}", "{\"a\":{\"b\":{\"d\":1}}}");
    merges("{e: null}", "{a: 1}", "{\"e\":null,\"a\":1}");
}

static void test_patch_merge_of_no_object_is_refused(void **state)
{
    (void)state;
    struct sl_json *o = yaml("{a: b}"), *p = yaml("[1]");
    struct sl_error e = {0};
    assert_int_equal(sl_patch_merge(&o, p, &e), SL_CODE_BAD_REQUEST);
    assert_json(o, "{\"a\":\"b\"}");
    sl_json_free(o);
    sl_json_free(p);
}

static void applies(const char *object, const char *patch, const char *expected)
{
    struct sl_json *o = yaml(object), *changed = patched(o, patch);
    assert_json(changed, expected);
    sl_json_free(o);
    sl_json_free(changed);
}

static void test_patch_json_operations_follow_the_rfc(void **state)
{
    (void)state;
    applies("{foo: bar}", "[{op: add, path: /baz, value: qux}]",
            "{\"foo\":\"bar\",\"baz\":\"qux\"}");
    applies("{foo: [bar, baz]}", "[{op: add, path: /foo/1, value: qux}]",
            "{\"foo\":[\"bar\",\"qux\",\"baz\"]}");
    applies("{foo: [bar]}", "[{op: add, path: /foo/-, value: [a]}]", "{\"foo\":[\"bar\",[\"a\"]]}");
    applies("{foo: [bar]}", "[{op: add, path: /foo/1, value: a}]", "{\"foo\":[\"bar\",\"a\"]}");
    applies("{foo: 1}", "[{op: add, path: /foo, value: null}]", "{\"foo\":null}");
    applies("{a: 1, b: 2}", "[{op: remove, path: /a}]", "{\"b\":2}");
    applies("{a: [1, 2, 3]}", "[{op: remove, path: /a/1}]", "{\"a\":[1,3]}");
    applies("{a: 1}", "[{op: replace, path: /a, value: {b: c}}]", "{\"a\":{\"b\":\"c\"}}");
    applies("{a: [1, 2]}", "[{op: replace, path: /a/0, value: 3}]", "{\"a\":[3,2]}");
    applies("{a: {b: 1}, c: {}}", "[{op: move, from: /a/b, path: /c/d}]",
            "{\"a\":{},\"c\":{\"d\":1}}");
    applies("{a: [1, 2, 3]}", "[{op: move, from: /a/0, path: /a/2}]", "{\"a\":[2,3,1]}");
    applies("{a: {b: 1}}", "[{op: copy, from: /a, path: /c}, {op: replace, path: /c/b, value: 2}]",
            "{\"a\":{\"b\":1},\"c\":{\"b\":2}}");
    applies("{a: 1}", "[{op: test, path: /a, value: 1}]", "{\"a\":1}");
    applies("{a: 1}", "[{op: replace, path: '', value: {b: 2}}]", "{\"b\":2}");
    applies("{a/b: 1, m~n: 2}", "[{op: replace, path: /a~1b, value: 3}, {op: remove, path: /m~0n}]",
            "{\"a/b\":3}");
    applies("{'': 1}", "[{op: replace, path: /, value: 2}]", "{\"\":2}");
}

static void refuses(const char *object, const char *patch, enum sl_code code, const char *why)
{
    struct sl_json *o = yaml(object), *before = sl_json_clone(o), *p = yaml(patch);
    struct sl_error e = {0};
    assert_int_equal(sl_patch_json(&o, p, &e), code);
    if (strstr(e.text, why) == NULL) {
        fail_msg("%s: expected '%s', got '%s'", patch, why, e.text);
    }
    assert_true(sl_json_equal(o, before));
    sl_json_free(o);
    sl_json_free(before);
    sl_json_free(p);
}

static void test_patch_json_refusal_leaves_no_trace(void **state)
{
    (void)state;
    const enum sl_code bad = SL_CODE_BAD_REQUEST, invalid = SL_CODE_INVALID;
    refuses("{a: 1}", "[{op: add, path: /b, value: 1}, {op: test, path: /a, value: 2}]", invalid,
            "operation 1 (test /a): the test failed");
    refuses("{a: 1}", "{op: add}", bad, "must be a list");
    refuses("{a: 1}", "[{op: jump, path: /a}]", bad, "unknown operation");
    refuses("{a: 1}", "[{path: /a}]", bad, "unknown operation");
    refuses("{a: 1}", "[{op: add, value: 1}]", bad, "needs a path");
    refuses("{a: 1}", "[3]", bad, "needs a path");
    refuses("{a: 1}", "[{op: add, path: /b}]", bad, "needs a value");
    refuses("{a: 1}", "[{op: add, path: b, value: 1}]", bad, "start with '/'");
    refuses("{a: 1}", "[{op: add, path: /b~2, value: 1}]", bad, "'~'");
    refuses("{a: 1}", "[{op: add, path: /b/c, value: 1}]", invalid, "does not exist");
    refuses("{a: 1}", "[{op: add, path: /a/c, value: 1}]", invalid, "does not exist");
    refuses("{a: 1}", "[{op: remove, path: /b}]", invalid, "does not exist");
    refuses("{a: 1}", "[{op: replace, path: /b, value: 1}]", invalid, "does not exist");
    refuses("{a: [1]}", "[{op: add, path: /a/2, value: 1}]", invalid, "no such index");
    refuses("{a: [1]}", "[{op: add, path: /a/01, value: 1}]", invalid, "no such index");
    refuses("{a: [1]}", "[{op: add, path: /a/x, value: 1}]", invalid, "no such index");
    refuses("{a: [1]}", "[{op: remove, path: /a/-}]", invalid, "does not exist");
    refuses("{a: [1]}", "[{op: replace, path: /a/99999999999999999999, value: 1}]", invalid,
            "does not exist");
    refuses("{a: 1}", "[{op: remove, path: ''}]", invalid, "whole document");
    refuses("{a: 1}", "[{op: replace, path: '', value: 3}]", invalid, "not an object");
    refuses("{a: 1}", "[{op: move, path: /b}]", bad, "needs a from");
    refuses("{a: 1}", "[{op: move, from: /c, path: /b}]", invalid, "does not exist");
    refuses("{a: 1}", "[{op: copy, from: /a, path: /b/c}]", invalid, "does not exist");
    refuses("{a: {b: 1}}", "[{op: move, from: /a, path: /a/c}]", invalid, "into itself");
}

static void test_patch_json_cannot_grow_without_bound(void **state)
{
    (void)state;
    struct sl_buf patch = {0};
    sl_buf_text(&patch, "[");
    for (int i = 0; i < 40; i++) {
        sl_buf_print(&patch, "%s{\"op\":\"copy\",\"from\":\"\",\"path\":\"/x%d\"}",
                     i > 0 ? "," : "", i);
    }
    sl_buf_text(&patch, "]");
    refuses("{a: 0123456789012345678901234567890123456789}", patch.data, SL_CODE_TOO_LARGE,
            "goes through more than");
    sl_buf_reset(&patch);
    sl_buf_text(&patch, "[");
    for (int i = 0; i < 70; i++) {
        sl_buf_print(&patch, "%s{\"op\":\"add\",\"path\":\"", i > 0 ? "," : "");
        for (int k = 0; k <= i; k++) {
            sl_buf_text(&patch, "/a");
        }
        sl_buf_text(&patch, "\",\"value\":{}}");
    }
    sl_buf_text(&patch, "]");
    refuses("{}", patch.data, SL_CODE_INVALID, "64 levels");
    sl_buf_fini(&patch);
}

/* A list of so many zeros, in {"a": ...}. */
static struct sl_json *zeros_new(unsigned count)
{
    struct sl_json *o = sl_json_new_map(), *list = sl_json_new_list();
    for (unsigned i = 0; i < count; i++) {
        sl_json_append(list, sl_json_new_int(0));
    }
    sl_json_set(o, "a", list);
    return o;
}

/* So many times the same, two operations each. */
static struct sl_json *operations_new(unsigned times, const char *first, const char *second)
{
    struct sl_json *patch = sl_json_new_list();
    struct sl_json *one = yaml(first), *other = yaml(second);
    for (unsigned i = 0; i < times; i++) {
        sl_json_append(patch, sl_json_clone(one));
        sl_json_append(patch, sl_json_clone(other));
    }
    sl_json_free(one);
    sl_json_free(other);
    return patch;
}

static enum sl_code patch_zeros(unsigned count, struct sl_json *patch, struct sl_error *e)
{
    struct sl_json *o = zeros_new(count), *before = sl_json_clone(o);
    *e = (struct sl_error){0};
    enum sl_code code = sl_patch_json(&o, patch, e);
    assert_true(code == SL_CODE_OK || sl_json_equal(o, before));
    sl_json_free(before);
    sl_json_free(o);
    sl_json_free(patch);
    return code;
}

static void test_patch_json_has_a_limit_of_work(void **state)
{
    static const char *const pairs[][2] = {
        {"{op: add, path: /a/0, value: 1}", "{op: remove, path: /a/0}"},
        {"{op: move, from: /a, path: /b}", "{op: move, from: /b, path: /a}"},
        {"{op: test, path: /a/0, value: 0}", "{op: move, from: /a/1, path: /a/0}"}};
    struct sl_error e;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct sl_json *many = operations_new(500, pairs[i][0], pairs[i][1]);
        assert_int_equal(patch_zeros(10000, many, &e), SL_CODE_TOO_LARGE);
        assert_non_null(strstr(e.text, "JSON patch operation "));
        assert_non_null(strstr(e.text, "goes through more than"));
        assert_int_equal(patch_zeros(100, operations_new(50, pairs[i][0], pairs[i][1]), &e),
                         SL_CODE_OK);
    }
    /* Removals alone are cheap, but not for ever. */
    struct sl_json *removals =
        operations_new(5000, "{op: remove, path: /a/0}", "{op: remove, path: /a/0}");
    assert_int_equal(patch_zeros(100000, removals, &e), SL_CODE_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patch_merge_follows_the_rfc),
        cmocka_unit_test(test_patch_merge_of_no_object_is_refused),
        cmocka_unit_test(test_patch_json_operations_follow_the_rfc),
        cmocka_unit_test(test_patch_json_refusal_leaves_no_trace),
        cmocka_unit_test(test_patch_json_cannot_grow_without_bound),
        cmocka_unit_test(test_patch_json_has_a_limit_of_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
