/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* JSON patches that make one object of another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fixture.h"

static void differs(const char *before, const char *after, const char *expected)
{
    struct sl_json *a = yaml(before), *b = yaml(after);
    struct sl_json *patch = sl_patch_json_between_new(a, b);
    assert_json(patch, expected);
    assert_int_equal(sl_patch_json(&a, patch, NULL), SL_CODE_OK);
    assert_true(sl_json_equal(a, b));
    sl_json_free(patch);
    sl_json_free(a);
    sl_json_free(b);
}

static void test_patch_between_says_only_what_changes(void **state)
{
    (void)state;
    differs("{a: b}", "{a: b}", "[]");
    differs("{a: b}", "{a: c}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":\"c\"}]");
    differs("{a: {b: c}}", "{a: {b: c, d: 1}}", "[{\"op\":\"add\",\"path\":\"/a/d\",\"value\":1}]");
    differs("{a: {b: c, d: 1}}", "{a: {b: c}}", "[{\"op\":\"remove\",\"path\":\"/a/d\"}]");
    differs("{a: b}", "{a: b, x/y~z: {}}", "[{\"op\":\"add\",\"path\":\"/x~1y~0z\",\"value\":{}}]");
    differs("{a: {b: c}}", "{a: [1]}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":[1]}]");
}

static void test_patch_between_adds_to_lists_at_their_end(void **state)
{
    (void)state;
    differs("{a: [1]}", "{a: [1, 2, 3]}",
            "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":2},{\"op\":\"add\",\"path\":\"/a/-\","
            "\"value\":3}]");
    differs("{a: [1, 2]}", "{a: [2]}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":[2]}]");
    differs("{a: [1, 2]}", "{a: [1]}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":[1]}]");
    differs("{a: [], b: 1}", "{a: [{c: d}], b: 2}",
            "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":{\"c\":\"d\"}},{\"op\":\"replace\","
            "\"path\":\"/b\",\"value\":2}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patch_between_says_only_what_changes),
        cmocka_unit_test(test_patch_between_adds_to_lists_at_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
