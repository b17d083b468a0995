/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* JSON values: parsing with positions, strictness, exact numbers, paths, printing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "api/json/json.h"
#include "base/utf8.h"

static struct sl_json *parse(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *v = sl_json_parse(text, strlen(text), &e);
    if (v == NULL) {
        print_error("%s\n", e.text);
    }
    return v;
}

static void assert_refused(const char *text, size_t len, const char *position, const char *why)
{
    struct sl_error e = {0};
    struct sl_json *v = sl_json_parse(text, len, &e);
    assert_null(v);
    assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
    if (strstr(e.text, position) == NULL || strstr(e.text, why) == NULL) {
        fail_msg("'%s' gave '%s', expected '%s' and '%s'", text, e.text, position, why);
    }
}

static void refused(const char *text, const char *position, const char *why)
{
    assert_refused(text, strlen(text), position, why);
}

static void assert_prints(const struct sl_json *v, const char *expected)
{
    struct sl_buf out = {0};
    sl_json_print(v, &out);
    assert_string_equal(out.data, expected);
    sl_buf_fini(&out);
}

static void round_trip(const char *text)
{
    struct sl_json *v = parse(text);
    assert_non_null(v);
    assert_prints(v, text);
    sl_json_free(v);
}

static void test_json_compact_text_round_trips(void **state)
{
    (void)state;
    round_trip("{\"a\":[1,-2,true,false,null,\"x\"],\"b\":{},\"c\":[],\"\":\"\"}");
    round_trip("{\"max\":9223372036854775807,\"min\":-9223372036854775808}");
    round_trip("{\"real\":1.10,\"exp\":1e-7,\"big\":123456789012345678901.5}");
    round_trip("{\"text\":\"quote \\\" back \\\\ line \\n tab \\t bell \\u0007 \xc3\xa4 "
               "\xf0\x9f\x98\x80\"}");
    round_trip("[[],[[]]]");
    round_trip("17");
    round_trip("\"x\"");
}

static void test_json_prints_utf8_whatever_it_was_made_of(void **state)
{
    (void)state;
    struct sl_json *v = sl_json_new_map();
    struct sl_buf pretty = {0}, yaml = {0};
    sl_json_set_text(v, "cut\xc3", "\xc3\xa9\xe2\x82|\xff");
    sl_json_set_text(v, "l", "a\nb\xc3\n");
    assert_prints(v, "{\"cut\xef\xbf\xbd\":\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\","
                     "\"l\":\"a\\nb\xef\xbf\xbd\\n\"}");
    sl_json_print_pretty(v, &pretty);
    sl_json_print_yaml(v, &yaml);
    assert_true(sl_utf8_valid(pretty.data, pretty.len));
    assert_true(sl_utf8_valid(yaml.data, yaml.len));
    sl_buf_fini(&pretty);
    sl_buf_fini(&yaml);
    sl_json_free(v);
}

static void test_json_escapes_are_decoded(void **state)
{
    (void)state;
    struct sl_json *v = parse("[\"\\u00e4\\ud83d\\ude00\\/\\b\\f\\r\"]");
    assert_string_equal(sl_json_text(sl_json_at(v, 0), ""), "\xc3\xa4\xf0\x9f\x98\x80/\b\f\r");
    sl_json_free(v);
}

static void test_json_malformed_text_names_line_and_column(void **state)
{
    (void)state;
    refused("{\"a\": 1,\n \"b\": }", "line 2, column 7", "unexpected character");
    refused("{\"a\": 1\n \"b\": 2}", "line 2, column 2", "expected ',' or '}'");
    refused("[1 2]", "line 1, column 4", "expected ',' or ']'");
    refused("{\"a\" 1}", "line 1", "expected ':'");
    refused("{a: 1}", "line 1, column 2", "unexpected character");
    refused("{1: 1}", "line 1", "key in double quotes");
    refused("{\"a\":\n\n", "line 3", "ends too early");
    refused("", "line 1, column 1", "ends too early");
    refused("{} {}", "line 1, column 4", "after the end");
    refused("null", "line 1, column 1", "null");
    refused("{\"a\":\"x", "line 1, column 6", "without an end");
}

static void test_json_laxities_are_refused(void **state)
{
    (void)state;
    refused("[1,]", "line 1", "unexpected character");
    refused("{\"a\":1,}", "line 1", "");
    refused("{'a':1}", "column 2", "unexpected character");
    refused("[NaN]", "column 2", "unexpected character");
    refused("[Infinity]", "column 2", "unexpected character");
    refused("[-Infinity]", "column 2", "malformed number");
    refused("[TRUE]", "column 2", "unexpected character");
    refused("[01]", "column 2", "malformed number");
    refused("[1.]", "column 2", "malformed number");
    refused("[.5]", "column 2", "unexpected character");
    refused("[1e]", "column 2", "malformed number");
    refused("[+1]", "column 2", "unexpected character");
    refused("[0x10]", "column 2", "malformed number");
    refused("[1] // comment", "column 5", "unexpected character");
    refused("[1] /* comment */", "column 5", "unexpected character");
    refused("[\"a\nb\"]", "column 4", "control character");
    refused("[\"\\x\"]", "column 4", "unknown escape");
    refused("[\"\\u0000\"]", "column 4", "NUL");
    refused("[\"\xff\"]", "line 1", "UTF-8");
    refused("[\"a\xc0\xaf\"]", "column 4", "UTF-8");     /* longer than need be */
    refused("[\"a\xed\xa0\x80\"]", "column 4", "UTF-8"); /* a surrogate */
    assert_refused("[1]\0", 4, "column 4", "unexpected character");
}

static void test_json_integer_past_64_bits_is_refused(void **state)
{
    (void)state;
    refused("[9223372036854775808]", "column 2", "does not fit 64 bits");
    refused("[1e921]", "column 2", "the number is too large");
    refused("[-1.5e400]", "column 2", "the number is too large");
    refused("[-9223372036854775809]", "column 2", "does not fit 64 bits");
    refused("[1111111111111111111111111111111111111111]", "column 2", "does not fit 64 bits");
}

static void test_json_depth_is_bounded(void **state)
{
    (void)state;
    char text[2 * 65 + 1] = {0};
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    struct sl_json *v = parse(text);
    assert_non_null(v);
    sl_json_free(v);
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    assert_refused(text, 130, "line 1, column 65", "64 levels");
    static char bomb[1000000];
    memset(bomb, '[', sizeof bomb);
    assert_refused(bomb, sizeof bomb, "column 65", "64 levels");
}

static void test_json_getters_fall_back(void **state)
{
    (void)state;
    struct sl_json *v = parse("{\"t\":\"x\",\"n\":5,\"b\":true,\"z\":null,\"l\":[7]}");
    assert_string_equal(sl_json_text(sl_json_get(v, "n"), "no"), "no");
    assert_int_equal(sl_json_int(sl_json_get(v, "t"), -1), -1);
    assert_int_equal(sl_json_int(sl_json_get(v, "n"), -1), 5);
    assert_true(sl_json_bool(sl_json_get(v, "absent"), true));
    assert_true(sl_json_has(v, "z"));
    assert_null(sl_json_get(v, "z"));
    assert_false(sl_json_has(v, "absent"));
    assert_null(sl_json_get(sl_json_get(v, "n"), "deeper"));
    assert_null(sl_json_at(sl_json_get(v, "l"), 1));
    assert_null(sl_json_at(v, 0));
    assert_int_equal(sl_json_len(v), 5);
    assert_int_equal(sl_json_len(NULL), 0);
    assert_int_equal(sl_json_type(NULL), SL_JSON_NULL);
    sl_json_free(v);
}

/* Small maps are walked, large ones looked up. */
static void test_json_members_are_found_in_maps_of_any_size(void **state)
{
    (void)state;
    struct sl_json *map = sl_json_new_map();
    for (int64_t size = 1; size <= 40; size++) {
        char key[16], longer[24];
        snprintf(key, sizeof key, "k%lld", (long long)size);
        assert_null(sl_json_get(map, key));
        assert_false(sl_json_has(map, key));
        sl_json_set_int(map, key, size);
        for (int64_t i = 1; i <= size; i++) {
            snprintf(key, sizeof key, "k%lld", (long long)i);
            snprintf(longer, sizeof longer, "%s-", key);
            assert_int_equal(sl_json_int(sl_json_get(map, key), 0), i);
            assert_true(sl_json_has(map, key));
            assert_false(sl_json_has(map, longer));
        }
    }
    sl_json_set(map, "k1", sl_json_new_null());
    assert_true(sl_json_has(map, "k1"));
    sl_json_remove(map, "k40");
    assert_false(sl_json_has(map, "k40"));
    sl_json_free(map);
}

static void test_json_path_walks_maps_and_lists(void **state)
{
    (void)state;
    struct sl_json *v =
        parse("{\"spec\":{\"podSets\":[{\"count\":3},{\"count\":4,\"name\":\"b\"}]}}");
    assert_int_equal(sl_json_path_int(v, "spec.podSets.1.count", 0), 4);
    assert_string_equal(sl_json_path_text(v, "spec.podSets.1.name", ""), "b");
    assert_int_equal(sl_json_path_int(v, "spec.podSets.2.count", -1), -1);
    assert_int_equal(sl_json_path_int(v, "spec.podSets.x.count", -1), -1);
    assert_false(sl_json_path_bool(v, "spec.active", false));
    struct sl_json *made = sl_json_path_make(v, "status.admission");
    sl_json_set_int(made, "n", 1);
    assert_int_equal(sl_json_path_int(v, "status.admission.n", 0), 1);
    assert_ptr_equal(sl_json_path_make(v, "status.admission"), made);
    sl_json_free(v);
}

static void test_json_path_takes_brackets(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int64_t value; /* 0: there is none */
    } rows[] = {{"a[1].n", 2},
                {"a.[1].n", 2},
                {"[a][1][n]", 2},
                {"a[1]n", 2},
                {"m[x.y/z]", 3},
                {"m.[x.y/z]", 3},
                {"m[x.y/z", 0},
                {"a[5].n", 0},
                {"a[].n", 0},
                {"a[1", 0},
                {"[", 0},
                {"]", 0},
                {"[]", 0},
                {"m[x].y/z", 0},
                {"a]1[n", 0},
                {"odd[key", 4},
                {"odd[key.deeper", 0}};
    struct sl_json *v = parse("{\"a\":[{\"n\":1},{\"n\":2}],\"m\":{\"x.y/z\":3},\"odd[key\":4}");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (sl_json_path_int(v, rows[i].path, 0) != rows[i].value) {
            fail_msg("%s", rows[i].path);
        }
    }
    sl_json_set_int(sl_json_path_make(v, "m[q.r]"), "n", 5);
    assert_int_equal(sl_json_path_int(v, "m[q.r].n", 0), 5);
    sl_json_free(v);
}

static void test_json_path_make_replaces_what_is_no_map(void **state)
{
    (void)state;
    struct sl_json *v = parse("{\"status\":null,\"x\":3}");
    sl_json_set_bool(sl_json_path_make(v, "status.a"), "done", true);
    sl_json_set_bool(sl_json_path_make(v, "x"), "done", true);
    assert_prints(v, "{\"status\":{\"a\":{\"done\":true}},\"x\":{\"done\":true}}");
    sl_json_free(v);
}

static void test_json_path_make_replaces_lists_that_the_path_does_not_enter(void **state)
{
    (void)state;
    struct sl_json *v = parse("{\"a\":[],\"b\":[{\"n\":1},2],\"c\":[{}]}");
    sl_json_set_bool(sl_json_path_make(v, "a"), "done", true);
    sl_json_set_bool(sl_json_path_make(v, "b.0"), "done", true);
    sl_json_set_bool(sl_json_path_make(v, "b.1"), "done", true);
    sl_json_set_bool(sl_json_path_make(v, "c.1"), "done", true);
    assert_prints(v, "{\"a\":{\"done\":true},\"b\":[{\"n\":1,\"done\":true},{\"done\":true}],"
                     "\"c\":{\"1\":{\"done\":true}}}");
    sl_json_free(v);
}

static void test_json_lists_change_in_place(void **state)
{
    (void)state;
    struct sl_json *v = sl_json_new_list();
    sl_json_append(v, sl_json_new_int(1));
    sl_json_append(v, sl_json_new_text("two"));
    sl_json_append(v, sl_json_new_null());
    sl_json_put_at(v, 0, sl_json_new_bool(false));
    sl_json_put_at(v, 3, sl_json_new_int(4));
    sl_json_remove_at(v, 1);
    assert_prints(v, "[false,null,4]");
    sl_json_free(v);
}

static void test_json_clone_is_deep_and_equal_compares_values(void **state)
{
    (void)state;
    struct sl_json *a = parse("{\"x\":{\"y\":[1,2.50]},\"z\":null}");
    struct sl_json *b = sl_json_clone(a);
    assert_true(sl_json_equal(a, b));
    sl_json_set_int(sl_json_get(b, "x"), "w", 1);
    assert_false(sl_json_equal(a, b));
    assert_false(sl_json_equal(a, NULL));
    assert_true(sl_json_equal(NULL, NULL));
    assert_prints(a, "{\"x\":{\"y\":[1,2.50]},\"z\":null}");
    assert_null(sl_json_clone(NULL));
    sl_json_free(a);
    sl_json_free(b);
}

static void test_json_find_by_gives_the_first_item_of_that_name(void **state)
{
    (void)state;
    static const char text[] =
        "[7,{\"name\":\"a\",\"n\":1},{\"name\":\"a\",\"n\":2},{\"key\":\"b\"}]";
    struct sl_json *list = sl_json_parse(text, sizeof text - 1, NULL);
    assert_int_equal(sl_json_path_int(sl_json_find_by(list, "name", "a"), "n", 0), 1);
    assert_ptr_equal(sl_json_find_by(list, "key", "b"), sl_json_at(list, 3));
    assert_null(sl_json_find_by(list, "name", "b"));
    assert_null(sl_json_find_by(NULL, "name", "a"));
    sl_json_free(list);
}

static void test_json_find_text_says_where_a_list_has_it_first(void **state)
{
    (void)state;
    struct sl_json *list = sl_json_new_list();
    assert_int_equal(sl_json_find_text(list, "a"), 0);
    assert_false(sl_json_has_text(list, "a"));
    sl_json_append(list, sl_json_new_int(1));
    sl_json_append(list, sl_json_new_text("a"));
    sl_json_append(list, sl_json_new_text("a"));
    assert_int_equal(sl_json_find_text(list, "a"), 1);
    assert_true(sl_json_has_text(list, "a"));
    assert_int_equal(sl_json_find_text(list, "b"), 3);
    assert_false(sl_json_has_text(list, "b"));
    assert_int_equal(sl_json_find_text(list, ""), 0); /* what is no text reads so */
    assert_false(sl_json_has_text(NULL, ""));
    sl_json_free(list);
}

static void test_json_ref_keeps_a_value_alive(void **state)
{
    (void)state;
    struct sl_json *a = parse("{\"x\":{\"y\":1}}");
    struct sl_json *x = sl_json_ref(sl_json_get(a, "x"));
    sl_json_free(a);
    assert_int_equal(sl_json_path_int(x, "y", 0), 1);
    sl_json_free(x);
}

static void test_json_pretty_sorts_keys_like_kubectl(void **state)
{
    (void)state;
    struct sl_json *v = parse("{\"b\":[1,{\"c\":null}],\"a\":{},\"d\":[]}");
    struct sl_buf out = {0};
    sl_json_print_pretty(v, &out);
    assert_string_equal(out.data, "{\n    \"a\": {},\n    \"b\": [\n        1,\n        {\n"
                                  "            \"c\": null\n        }\n    ],\n    \"d\": []\n}\n");
    sl_buf_fini(&out);
    sl_json_free(v);
}

static size_t weigh(const char *text)
{
    return sl_json_weigh(text, strlen(text));
}

static void test_json_weight_is_known_before_it_is_read(void **state)
{
    (void)state;
    assert_int_equal(weigh("1"), 1);
    assert_int_equal(weigh("[1,2,[3]]"), 5);
    assert_int_equal(weigh("{\"a\":1,\"b\":{\"c\":2}}"), 5 + 2 * SL_JSON_WEIGHT_MAP);
    assert_int_equal(weigh("\"{[,\\\",{{\""), 1); /* in a text it is text */
    assert_int_equal(weigh("\"\\"), 1);           /* and what has no end is looked at to the end */
    assert_int_equal(weigh(""), 1);
}

static void test_json_values_are_counted_up_to_a_limit(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,2,null],\"b\":{\"c\":\"d\"}}";
    struct sl_json *v = sl_json_parse(text, strlen(text), NULL);
    assert_int_equal(sl_json_values(v, 100), 7);
    assert_int_equal(sl_json_values(v, 3), 3);
    assert_int_equal(sl_json_values(NULL, 3), 1);
    sl_json_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_compact_text_round_trips),
        cmocka_unit_test(test_json_prints_utf8_whatever_it_was_made_of),
        cmocka_unit_test(test_json_escapes_are_decoded),
        cmocka_unit_test(test_json_malformed_text_names_line_and_column),
        cmocka_unit_test(test_json_laxities_are_refused),
        cmocka_unit_test(test_json_integer_past_64_bits_is_refused),
        cmocka_unit_test(test_json_depth_is_bounded),
        cmocka_unit_test(test_json_getters_fall_back),
        cmocka_unit_test(test_json_members_are_found_in_maps_of_any_size),
        cmocka_unit_test(test_json_path_walks_maps_and_lists),
        cmocka_unit_test(test_json_path_takes_brackets),
        cmocka_unit_test(test_json_path_make_replaces_what_is_no_map),
        cmocka_unit_test(test_json_path_make_replaces_lists_that_the_path_does_not_enter),
        cmocka_unit_test(test_json_lists_change_in_place),
        cmocka_unit_test(test_json_clone_is_deep_and_equal_compares_values),
        cmocka_unit_test(test_json_find_by_gives_the_first_item_of_that_name),
        cmocka_unit_test(test_json_find_text_says_where_a_list_has_it_first),
        cmocka_unit_test(test_json_ref_keeps_a_value_alive),
        cmocka_unit_test(test_json_pretty_sorts_keys_like_kubectl),
        cmocka_unit_test(test_json_weight_is_known_before_it_is_read),
        cmocka_unit_test(test_json_values_are_counted_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
