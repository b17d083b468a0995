/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
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

static void check(const char *object, const char *patch, const char *expected)
{
    struct sl_error e;
    sl_error_clear(&e);
    struct sl_json *o = parse(object), *p = parse(patch), *x = parse(expected);
    assert_int_equal(sl_patch_strategic(&o, p, &e), SL_CODE_OK);
    if (!sl_json_equal(o, x)) {
        struct sl_buf text = {0};
        sl_json_print(o, &text);
        fail_msg("%s", text.data);
    }
    sl_json_free(o);
    sl_json_free(p);
    sl_json_free(x);
}

static void test_patch_strategic_named_containers_merge(void **state)
{
    (void)state;
    check("{\"containers\":[{\"name\":\"a\",\"image\":\"1\"},{\"name\":\"b\"}]}",
          "{\"containers\":[{\"name\":\"a\",\"image\":\"2\"},{\"name\":\"c\"}]}",
          "{\"containers\":[{\"name\":\"a\",\"image\":\"2\"},{\"name\":\"b\"},{\"name\":\"c\"}]}");
}

static void test_patch_strategic_plain_lists_are_replaced(void **state)
{
    (void)state;
    check("{\"args\":[\"a\",\"b\"],\"tolerations\":[{\"key\":\"x\"}]}",
          "{\"args\":[\"c\"],\"tolerations\":[{\"key\":\"y\"}]}",
          "{\"args\":[\"c\"],\"tolerations\":[{\"key\":\"y\"}]}");
}

static void test_patch_strategic_null_removes(void **state)
{
    (void)state;
    check("{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"b\":null}}", "{\"a\":{\"c\":2}}");
    check("{}", "{\"a\":{\"b\":null,\"c\":1}}", "{\"a\":{\"c\":1}}");
}

static void test_patch_strategic_delete_directive_removes_item(void **state)
{
    (void)state;
    check("{\"env\":[{\"name\":\"A\"},{\"name\":\"B\"}]}",
          "{\"env\":[{\"name\":\"A\",\"$patch\":\"delete\"}]}", "{\"env\":[{\"name\":\"B\"}]}");
}

static void test_patch_strategic_replace_directive_replaces(void **state)
{
    (void)state;
    check("{\"env\":[{\"name\":\"A\"},{\"name\":\"B\"}]}",
          "{\"env\":[{\"$patch\":\"replace\"},{\"name\":\"C\"}]}", "{\"env\":[{\"name\":\"C\"}]}");
    check("{\"s\":{\"a\":1,\"b\":2}}", "{\"s\":{\"$patch\":\"replace\",\"c\":3}}",
          "{\"s\":{\"c\":3}}");
}

static void test_patch_strategic_element_order_is_read_past(void **state)
{
    (void)state;
    check(
        "{\"env\":[{\"name\":\"A\"}]}",
        "{\"$setElementOrder/env\":[{\"name\":\"B\"},{\"name\":\"A\"}],\"env\":[{\"name\":\"B\"}]}",
        "{\"env\":[{\"name\":\"A\"},{\"name\":\"B\"}]}");
}

static void test_patch_strategic_primitive_lists_grow_and_shrink(void **state)
{
    (void)state;
    check("{\"finalizers\":[\"a\"]}", "{\"finalizers\":[\"b\",\"a\"]}",
          "{\"finalizers\":[\"a\",\"b\"]}");
    check("{\"finalizers\":[\"a\",\"b\"]}", "{\"$deleteFromPrimitiveList/finalizers\":[\"a\"]}",
          "{\"finalizers\":[\"b\"]}");
}

static void test_patch_strategic_retain_keys_drops_others(void **state)
{
    (void)state;
    check("{\"strategy\":{\"type\":\"A\",\"rolling\":1}}",
          "{\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"B\"}}",
          "{\"strategy\":{\"type\":\"B\"}}");
}

static void test_patch_strategic_of_a_list_is_refused_untouched(void **state)
{
    (void)state;
    struct sl_error e;
    sl_error_clear(&e);
    struct sl_json *o = parse("{\"a\":1}"), *p = parse("[1]"), *same = o;
    assert_int_equal(sl_patch_strategic(&o, p, &e), SL_CODE_BAD_REQUEST);
    assert_ptr_equal(o, same);
    sl_json_free(o);
    sl_json_free(p);
}

static void expect_refusal(const char *patch, const char *text)
{
    struct sl_error e;
    sl_error_clear(&e);
    struct sl_json *o = parse("{\"spec\":{\"containers\":[\"odd\",{\"name\":\"a\"}]}}"),
                   *p = parse(patch);
    struct sl_json *before = sl_json_clone(o);
    assert_int_equal(sl_patch_strategic(&o, p, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, text));
    assert_true(sl_json_equal(o, before));
    sl_json_free(before);
    sl_json_free(o);
    sl_json_free(p);
}

static void test_patch_strategic_items_without_their_key_are_refused(void **state)
{
    (void)state;
    expect_refusal("{\"spec\":{\"containers\":[{\"image\":\"i\"}]}}", "spec.containers[0]: ");
    expect_refusal("{\"spec\":{\"containers\":[{\"name\":null}]}}", "merge key \"name\"");
    expect_refusal("{\"spec\":{\"containers\":[{\"name\":\"a\"},\"b\"]}}", "spec.containers[1]: ");
    expect_refusal("{\"spec\":{\"containers\":[{\"name\":\"a\",\"env\":[{\"value\":\"v\"}]}]}}",
                   "spec.containers[0].env[0]: ");
    expect_refusal("{\"spec\":{\"containers\":[{\"$patch\":\"replace\"},{\"image\":\"i\"}]}}",
                   "spec.containers[1]: ");
}

static void test_patch_strategic_ports_merge_by_the_key_that_they_have(void **state)
{
    (void)state;
    check(
        "{\"ports\":[{\"containerPort\":1,\"name\":\"a\"},{\"containerPort\":2}]}",
        "{\"ports\":[{\"containerPort\":2,\"name\":\"b\"}]}",
        "{\"ports\":[{\"containerPort\":1,\"name\":\"a\"},{\"containerPort\":2,\"name\":\"b\"}]}");
    check("{\"ports\":[{\"port\":1},{\"port\":2}]}",
          "{\"ports\":[{\"port\":1},{\"port\":2,\"name\":\"b\"},{\"port\":3}]}",
          "{\"ports\":[{\"port\":1},{\"port\":2,\"name\":\"b\"},{\"port\":3}]}");
}

static void test_patch_strategic_removal_from_what_is_no_list_removes_nothing(void **state)
{
    (void)state;
    check("{\"a\":{\"b\":1}}", "{\"$deleteFromPrimitiveList/a\":[null]}", "{\"a\":{\"b\":1}}");
    check("{\"a\":{\"b\":1}}", "{\"$deleteFromPrimitiveList/a\":{\"c\":1}}", "{\"a\":{\"b\":1}}");
}

/* As long as a request allows. No time is measured: it took minutes when each item was looked for in the whole list. */
static void test_patch_strategic_long_lists_merge(void **state)
{
    (void)state;
    enum { ITEMS = 10000 };
    static const char *const keys[] = {"name", NULL};
    for (size_t k = 0; k < 2; k++) {
        struct sl_json *o = sl_json_new_map(), *patch = sl_json_new_map();
        const char *field = keys[k] != NULL ? "env" : "finalizers";
        struct sl_json *old = sl_json_new_list(), *new = sl_json_new_list();
        for (int i = 0; i < ITEMS; i++) {
            char name[24];
            (void)snprintf(name, sizeof name, "n/%d", i);
            struct sl_json *item = keys[k] != NULL ? sl_json_new_map() : sl_json_new_text(name);
            if (keys[k] != NULL) {
                sl_json_set_text(item, keys[k], name);
            }
            sl_json_append(old, item);
            sl_json_append(new, sl_json_clone(item));
        }
        sl_json_set(o, field, old);
        sl_json_set(patch, field, new);
        assert_int_equal(sl_patch_strategic(&o, patch, NULL), SL_CODE_OK);
        assert_int_equal(sl_json_len(sl_json_get(o, field)), ITEMS);
        sl_json_free(o);
        sl_json_free(patch);
    }
}

static void test_patch_strategic_deleted_item_may_come_again(void **state)
{
    (void)state;
    check("{\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\"},{\"name\":\"C\"}]}",
          "{\"env\":[{\"name\":\"A\",\"$patch\":\"delete\"},{\"name\":\"C\",\"$patch\":\"delete\"},"
          "{\"name\":\"A\",\"value\":\"2\"}]}",
          "{\"env\":[{\"name\":\"B\"},{\"name\":\"A\",\"value\":\"2\"}]}");
}

/* Each of many small items has the whole of a long list to look through, though there is only one such list. */
static void test_patch_strategic_has_a_limit_of_work(void **state)
{
    static const char *const lists[] = {"env", "finalizers"};
    (void)state;
    for (size_t l = 0; l < 2; l++) {
        struct sl_error e = {0};
        struct sl_buf object = {0}, patch = {0};
        sl_buf_print(&object, "{\"containers\":[{\"name\":\"a\",\"%s\":[", lists[l]);
        for (unsigned i = 0; i < 1000; i++) {
            sl_buf_print(&object, l == 0 ? "%s{\"name\":\"e%u\"}" : "%s\"e%u\"", i > 0 ? "," : "",
                         i);
        }
        sl_buf_text(&object, "]}]}");
        sl_buf_text(&patch, "{\"containers\":[");
        for (unsigned i = 0; i < 1000; i++) {
            sl_buf_print(&patch, "%s{\"name\":\"a\",\"%s\":[%s]}", i > 0 ? "," : "", lists[l],
                         l == 0 ? "{\"name\":\"e1\"}" : "\"e1\"");
        }
        sl_buf_text(&patch, "]}");
        struct sl_json *o = parse(object.data), *p = parse(patch.data), *before = sl_json_clone(o);
        assert_int_equal(sl_patch_strategic(&o, p, &e), SL_CODE_TOO_LARGE);
        assert_non_null(strstr(e.text, lists[l]));
        assert_true(sl_json_equal(o, before));
        sl_json_free(before);
        sl_json_free(o);
        sl_json_free(p);
        sl_buf_fini(&object);
        sl_buf_fini(&patch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patch_strategic_named_containers_merge),
        cmocka_unit_test(test_patch_strategic_plain_lists_are_replaced),
        cmocka_unit_test(test_patch_strategic_null_removes),
        cmocka_unit_test(test_patch_strategic_delete_directive_removes_item),
        cmocka_unit_test(test_patch_strategic_replace_directive_replaces),
        cmocka_unit_test(test_patch_strategic_element_order_is_read_past),
        cmocka_unit_test(test_patch_strategic_primitive_lists_grow_and_shrink),
        cmocka_unit_test(test_patch_strategic_retain_keys_drops_others),
        cmocka_unit_test(test_patch_strategic_of_a_list_is_refused_untouched),
        cmocka_unit_test(test_patch_strategic_items_without_their_key_are_refused),
        cmocka_unit_test(test_patch_strategic_ports_merge_by_the_key_that_they_have),
        cmocka_unit_test(test_patch_strategic_removal_from_what_is_no_list_removes_nothing),
        cmocka_unit_test(test_patch_strategic_long_lists_merge),
        cmocka_unit_test(test_patch_strategic_deleted_item_may_come_again),
        cmocka_unit_test(test_patch_strategic_has_a_limit_of_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
