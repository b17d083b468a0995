/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Texts that an API server can send, and sl_json_parse does not take. `make received` makes more of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/json/json.h"

#define CORPUS "tests/received/corpus"

static struct sl_json *read_text(const char *text, size_t len)
{
    struct sl_error e = {0};
    struct sl_json *v = sl_json_parse_received(text, len, &e);
    if (v == NULL) {
        fail_msg("%s: %.300s", e.text, text);
    }
    return v;
}

static void assert_reads(const char *text, const char *expected)
{
    struct sl_json *v = read_text(text, strlen(text));
    struct sl_buf out = {0};
    sl_json_print(v, &out);
    assert_string_equal(out.data, expected);
    sl_buf_fini(&out);
    sl_json_free(v);
}

static void test_received_nul_is_no_end(void **state)
{
    (void)state;
    assert_reads("{\"queue\\u0000x\":\"a\\u0000b\",\"c\":\"\\\\u0000\"}",
                 "{\"queue\xef\xbf\xbdx\":\"a\xef\xbf\xbd"
                 "b\",\"c\":\"\\\\u0000\"}");
}

static void test_received_half_pairs_and_bytes_that_are_no_text_are_replaced(void **state)
{
    (void)state;
    assert_reads(
        "[\"\\ud800\",\"\\ud83d\\ude00\",\"\\udc00\\ud800\",\"\\ud83dA\"]",
        "[\"\xef\xbf\xbd\",\"\xf0\x9f\x98\x80\",\"\xef\xbf\xbd\xef\xbf\xbd\",\"\xef\xbf\xbd"
        "A\"]");
    assert_reads("[\"a\xff\",\"\xed\xa0\x80\"]",
                 "[\"a\xef\xbf\xbd\",\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]");
}

static void test_received_numbers_of_any_size_keep_their_text(void **state)
{
    (void)state;
    assert_reads(
        "[100000000000000000000,-9223372036854775808,1e999,0.5,\"100000000000000000000\"]",
        "[100000000000000000000.0,-9223372036854775808,1e999,0.5,\"100000000000000000000\"]");
}

static void test_received_what_is_no_json_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "[1,]",
                                        "{\"a\":\"\\u00",
                                        "{\"a\":\"\\",
                                        "{\"a\":\"\\x\"}",
                                        "{\"a\":1-2}",
                                        "[\"a\nb\"]",
                                        "\"\xff",
                                        "[01]",
                                        "[-]",
                                        "null"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sl_error e = {0};
        assert_null(sl_json_parse_received(texts[i], strlen(texts[i]), &e));
        assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
    }
}

static void nest(struct sl_buf *out, int depth)
{
    for (int i = 0; i < depth; i++) {
        sl_buf_text(out, "[");
    }
    for (int i = 0; i < depth; i++) {
        sl_buf_text(out, "]");
    }
}

static void test_received_is_as_deep_as_go_reads(void **state)
{
    (void)state;
    struct sl_buf text = {0}, out = {0};
    struct sl_error e = {0};
    nest(&text, 10000);
    struct sl_json *v = read_text(text.data, text.len);
    struct sl_json *copy = sl_json_clone(v);
    assert_true(sl_json_equal(v, copy));
    sl_json_print(copy, &out);
    assert_string_equal(out.data, text.data);
    sl_json_free(copy);
    sl_json_free(v);
    sl_buf_reset(&text);
    nest(&text, 10001);
    assert_null(sl_json_parse_received(text.data, text.len, &e));
    assert_non_null(strstr(e.text, "deeper than 10000"));
    sl_buf_fini(&text);
    sl_buf_fini(&out);
}

static void test_received_corpus_is_read(void **state)
{
    (void)state;
    char *line = NULL;
    size_t size = 0;
    int count = 0;
    FILE *f = fopen(CORPUS, "rb");
    assert_non_null(f);
    for (ssize_t len = getline(&line, &size, f); len > 0; len = getline(&line, &size, f)) {
        sl_json_free(read_text(line, (size_t)len - 1));
        count++;
    }
    assert_in_range(count, 50, 10000);
    free(line);
    (void)fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_received_nul_is_no_end),
        cmocka_unit_test(test_received_half_pairs_and_bytes_that_are_no_text_are_replaced),
        cmocka_unit_test(test_received_numbers_of_any_size_keep_their_text),
        cmocka_unit_test(test_received_what_is_no_json_is_refused),
        cmocka_unit_test(test_received_is_as_deep_as_go_reads),
        cmocka_unit_test(test_received_corpus_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
