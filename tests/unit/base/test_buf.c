/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Strings that grow, memory and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

static void test_buf_grows_and_stays_terminated(void **state)
{
    (void)state;
    struct sl_buf b = {0};
    for (int i = 0; i < 1000; i++) {
        sl_buf_text(&b, "0123456789");
    }
    sl_buf_add(&b, "\0x", 2);
    assert_int_equal(b.len, 10002);
    assert_int_equal(b.data[10002], '\0');
    sl_buf_reset(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.data, "");
    sl_buf_fini(&b);
}

static void test_buf_print_longer_than_the_room_is_whole(void **state)
{
    (void)state;
    struct sl_buf b = {0};
    char longer[500];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    sl_buf_print(&b, "%d %s|", 7, longer);
    assert_int_equal(b.len, 2 + 499 + 1);
    assert_int_equal(b.data[b.len - 1], '|');
    sl_buf_fini(&b);
}

static void test_buf_that_is_expected_to_grow_stays_where_it_is(void **state)
{
    (void)state;
    struct sl_buf b = {0};
    sl_buf_expect(&b, 1000);
    sl_buf_text(&b, "a");
    const char *before = b.data;
    for (int i = 0; i < 998; i++) {
        sl_buf_text(&b, "a");
    }
    assert_ptr_equal(b.data, before);
    sl_buf_expect(&b, 10); /* it has more already */
    assert_int_equal(b.len, 999);
    sl_buf_fini(&b);
}

static void test_buf_take_gives_the_text_away(void **state)
{
    (void)state;
    struct sl_buf b = {0};
    char *empty = sl_buf_take(&b);
    assert_string_equal(empty, "");
    sl_mem_free(empty);
    sl_buf_text(&b, "abc");
    char *text = sl_buf_take(&b);
    assert_null(b.data);
    assert_string_equal(text, "abc");
    sl_mem_free(text);
}

static void test_mem_text_copies(void **state)
{
    (void)state;
    assert_null(sl_mem_text(NULL));
    char *part = sl_mem_text_n("abcdef", 3);
    assert_string_equal(part, "abc");
    sl_mem_free(part);
    int *zeroed = sl_mem_new(4, sizeof *zeroed);
    assert_int_equal(zeroed[3], 0);
    zeroed = sl_mem_grow(zeroed, 8, sizeof *zeroed);
    assert_int_equal(zeroed[3], 0);
    sl_mem_free(zeroed);
}

static void test_error_causes_past_the_limit_are_counted_not_kept(void **state)
{
    (void)state;
    struct sl_error e = {0};
    for (int i = 0; i < 20; i++) {
        sl_error_cause(&e, "FieldValueInvalid", "spec.x", "number %d", i);
    }
    assert_int_equal(e.code, SL_CODE_INVALID);
    assert_int_equal(e.cause_count, 20);
    assert_string_equal(e.causes[15].text, "number 15");
    sl_error_clear(&e);
    assert_int_equal(e.cause_count, 0);
    assert_int_equal(e.code, SL_CODE_OK);
}

static void test_error_long_text_is_cut_at_a_character(void **state)
{
    (void)state;
    struct sl_error e = {0};
    char longer[1200] = "x";
    for (size_t i = 1; i + 2 < sizeof longer; i += 2) {
        memcpy(longer + i, "\xc3\xa4", 2);
    }
    assert_int_equal(sl_error_set(&e, SL_CODE_GONE, "%s", longer), SL_CODE_GONE);
    size_t len = strlen(e.text);
    assert_true(len < sizeof e.text);
    assert_string_equal(e.text + len - 3, "...");
    assert_int_equal((unsigned char)e.text[len - 4], 0xa4);
    assert_int_equal(sl_error_set(NULL, SL_CODE_GONE, "lost"), SL_CODE_GONE);
    sl_error_cause(NULL, "r", "f", "lost");
    sl_error_clear(NULL);
}

static void test_error_codes_have_status_and_reason(void **state)
{
    (void)state;
    assert_int_equal(sl_code_http(SL_CODE_INVALID), 422);
    assert_string_equal(sl_code_reason(SL_CODE_GONE), "Expired");
    assert_int_equal(sl_code_http(SL_CODE_ALREADY_EXISTS), 409);
    for (int code = SL_CODE_BAD_REQUEST; code <= SL_CODE_TIMEOUT; code++) {
        assert_true(sl_code_http((enum sl_code)code) >= 400);
        assert_true(sl_code_reason((enum sl_code)code)[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buf_grows_and_stays_terminated),
        cmocka_unit_test(test_buf_print_longer_than_the_room_is_whole),
        cmocka_unit_test(test_buf_that_is_expected_to_grow_stays_where_it_is),
        cmocka_unit_test(test_buf_take_gives_the_text_away),
        cmocka_unit_test(test_mem_text_copies),
        cmocka_unit_test(test_error_causes_past_the_limit_are_counted_not_kept),
        cmocka_unit_test(test_error_long_text_is_cut_at_a_character),
        cmocka_unit_test(test_error_codes_have_status_and_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
