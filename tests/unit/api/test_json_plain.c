/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The reader for plain JSON: what it reads it reads correctly, all else it leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "api/json/json_plain.h"

static void taken(const char *text, const char *printed)
{
    struct sl_buf out = {0};
    struct sl_json *v = sl_json_parse_plain(text, strlen(text));
    if (v == NULL) {
        fail_msg("'%s' was left alone", text);
    }
    sl_json_print(v, &out);
    assert_string_equal(out.data, printed);
    sl_buf_fini(&out);
    sl_json_free(v);
}

static void left(const char *text)
{
    struct sl_json *v = sl_json_parse_plain(text, strlen(text));
    if (v != NULL) {
        fail_msg("'%s' was taken", text);
    }
}

static void test_json_plain_values_are_read(void **state)
{
    (void)state;
    taken("{\"a\":[1,-2,true,false,null,\"x\"],\"b\":{},\"c\":[],\"\":\"\"}",
          "{\"a\":[1,-2,true,false,null,\"x\"],\"b\":{},\"c\":[],\"\":\"\"}");
    taken(" { \"a\" :\t[ 0 ,\r\n-999999999999999999 ] } \n", "{\"a\":[0,-999999999999999999]}");
    taken("[[],[[]],{}]", "[[],[[]],{}]");
    taken("999999999999999999", "999999999999999999");
    taken("\"/\"", "\"/\"");
    taken("[\"\\\"a\\\\b\\/\\b\\f\\n\\r\\t\\\\\",\"x\"]",
          "[\"\\\"a\\\\b/\\b\\f\\n\\r\\t\\\\\",\"x\"]");
}

static void test_json_plain_repeated_key_keeps_the_last(void **state)
{
    (void)state;
    taken("{\"a\":{\"b\":1},\"c\":2,\"a\":3}", "{\"a\":3,\"c\":2}");
}

static void test_json_plain_correct_but_not_plain_is_left_alone(void **state)
{
    (void)state;
    left("[\"\\u000a\"]");
    left("[\"\\x\"]");
    left("[\"\\\"]");
    left("[\"\\\n\"]");
    left("{\"\\n\":1}");
    left("{\"\\u0061\":1}");
    left("[\"\xc3\xa4\"]");
    left("[\"\x7f\"]");
    left("[1.5]");
    left("[1e3]");
    left("[-0]");
    left("[1000000000000000000]");
    left("null");
}

static void test_json_plain_malformed_text_is_left_alone(void **state)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "[",
                                        "[1",
                                        "[1,",
                                        "[1,]",
                                        "[,1]",
                                        "[1 2]",
                                        "]",
                                        "{",
                                        "{\"a\"",
                                        "{\"a\":",
                                        "{\"a\":}",
                                        "{\"a\":1",
                                        "{a:1}",
                                        "{1:1}",
                                        "{,}",
                                        "{\"a\":1,}",
                                        "{} {}",
                                        "[01]",
                                        "[-01]",
                                        "[-]",
                                        "-",
                                        "[+1]",
                                        "[1a]",
                                        "[tru]",
                                        "[truex]",
                                        "[nul]",
                                        "[falsey]",
                                        "[TRUE]",
                                        "[NaN]",
                                        "[\"x]",
                                        "[\"a\nb\"]",
                                        "[\"\xff\"]",
                                        "[1] // x",
                                        "{\"a\" 1}",
                                        "{\"a\":1 \"b\":2}",
                                        "[\"a\":1]",
                                        "[true\"x\"]"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        left(texts[i]);
    }
    assert_null(sl_json_parse_plain("[1]\0", 4));
    assert_null(sl_json_parse_plain("[t\0ue]", 6));
    assert_null(sl_json_parse_plain("[1\0]", 4));
}

static void test_json_plain_reads_no_further_than_the_length(void **state)
{
    (void)state;
    assert_null(sl_json_parse_plain("[true]", 5));
    assert_null(sl_json_parse_plain("[true]", 3));
    assert_null(sl_json_parse_plain("\"xy\"", 3));
    struct sl_json *v = sl_json_parse_plain("1234", 2);
    assert_int_equal(sl_json_int(v, 0), 12);
    sl_json_free(v);
}

static void test_json_plain_depth_is_bounded(void **state)
{
    (void)state;
    char text[2 * (SL_JSON_DEPTH_MAX + 1)];
    memset(text, '[', SL_JSON_DEPTH_MAX);
    memset(text + SL_JSON_DEPTH_MAX, ']', SL_JSON_DEPTH_MAX);
    struct sl_json *v = sl_json_parse_plain(text, 2 * SL_JSON_DEPTH_MAX);
    assert_non_null(v);
    sl_json_free(v);
    memset(text, '[', SL_JSON_DEPTH_MAX + 1);
    memset(text + SL_JSON_DEPTH_MAX + 1, ']', SL_JSON_DEPTH_MAX + 1);
    assert_null(sl_json_parse_plain(text, sizeof text));
}

static void test_json_plain_key_of_256_bytes_is_left_alone(void **state)
{
    (void)state;
    char text[300] = "{\"";
    memset(text + 2, 'k', 255);
    strcpy(text + 257, "\":1}");
    taken(text, text);
    memset(text + 2, 'k', 256);
    strcpy(text + 258, "\":1}");
    left(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_plain_values_are_read),
        cmocka_unit_test(test_json_plain_repeated_key_keeps_the_last),
        cmocka_unit_test(test_json_plain_correct_but_not_plain_is_left_alone),
        cmocka_unit_test(test_json_plain_malformed_text_is_left_alone),
        cmocka_unit_test(test_json_plain_reads_no_further_than_the_length),
        cmocka_unit_test(test_json_plain_depth_is_bounded),
        cmocka_unit_test(test_json_plain_key_of_256_bytes_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
