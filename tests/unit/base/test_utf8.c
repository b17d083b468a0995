/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is a character of UTF-8, and texts that are cut or repaired to consist of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/utf8.h"

/* As the definition says: a code point, and the one way to write it. */
static size_t len_by_definition(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = at[0] < 0x80             ? 1
                 : (at[0] & 0xe0) == 0xc0 ? 2
                 : (at[0] & 0xf0) == 0xe0 ? 3
                 : (at[0] & 0xf8) == 0xf0 ? 4
                                          : 0;
    if (len == 0 || len > left) {
        return 0;
    }
    uint32_t point = len == 1 ? at[0] : at[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
        point = point << 6 | (at[i] & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point <= 0xdfff;
    return point >= least[len] && point <= 0x10ffff && !surrogate ? len : 0;
}

static void test_utf8_len_is_that_of_every_character_and_of_nothing_else(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 1u << 16; n++) {
        static const unsigned char thirds[] = {0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
        for (size_t third = 0; third < sizeof thirds; third++) {
            unsigned char at[4] = {(unsigned char)(n >> 8), (unsigned char)n, thirds[third], 0xbf};
            for (size_t left = 1; left <= 4; left++) {
                assert_int_equal(sl_utf8_len((const char *)at, left), len_by_definition(at, left));
            }
        }
    }
    assert_int_equal(sl_utf8_len("", 0), 0);
}

static void test_utf8_valid_reads_to_the_end(void **state)
{
    (void)state;
    assert_true(sl_utf8_valid("", 0));
    assert_true(sl_utf8_valid("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10));
    assert_false(sl_utf8_valid("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9));
    assert_false(sl_utf8_valid("ab\xff", 3));
    assert_true(sl_utf8_valid("ab\xff", 2));
}

static void test_utf8_cut_ends_behind_a_character(void **state)
{
    (void)state;
    const char *text = "a\xc3\xa9\xe2\x82\xac";
    static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(sl_utf8_cut(text, i), expected[i]);
    }
}

static void test_utf8_repair_replaces_single_bytes(void **state)
{
    (void)state;
    char *text = sl_utf8_repair("a\xc3\xa9\xe2\x82z\xff");
    assert_string_equal(text, "a\xc3\xa9" SL_UTF8_REPLACEMENT SL_UTF8_REPLACEMENT
                              "z" SL_UTF8_REPLACEMENT);
    sl_mem_free(text);
    text = sl_utf8_repair("");
    assert_string_equal(text, "");
    sl_mem_free(text);
}

static void test_utf8_print_cuts_at_a_character_with_dots(void **state)
{
    (void)state;
    char out[8];
    sl_utf8_print(out, sizeof out, "%s", "abc\xc3\xa9xy");
    assert_string_equal(out, "abc\xc3\xa9xy");
    sl_utf8_print(out, sizeof out, "%s", "abc\xc3\xa9xyz");
    assert_string_equal(out, "abc...");
    sl_utf8_print(out, sizeof out, "%s", "ab\xc3\xa9xyz12");
    assert_string_equal(out, "ab\xc3\xa9...");
}

static void test_error_field_is_cut_at_a_character(void **state)
{
    (void)state;
    struct sl_error e;
    char field[401];
    for (size_t i = 0; i < 400; i += 2) {
        memcpy(field + i, "\xc3\xa9", 3);
    }
    sl_error_clear(&e);
    sl_error_cause(&e, "FieldValueInvalid", field, "%s", field);
    sl_error_cause(&e, "FieldValueInvalid", field + 1, "x%s", field);
    for (size_t i = 0; i < 2; i++) {
        const struct sl_cause_entry *cause = &e.causes[i];
        assert_true(sl_utf8_valid(cause->field + i, strlen(cause->field + i)));
        assert_true(sl_utf8_valid(cause->text, strlen(cause->text)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8_len_is_that_of_every_character_and_of_nothing_else),
        cmocka_unit_test(test_utf8_valid_reads_to_the_end),
        cmocka_unit_test(test_utf8_cut_ends_behind_a_character),
        cmocka_unit_test(test_utf8_repair_replaces_single_bytes),
        cmocka_unit_test(test_utf8_print_cuts_at_a_character_with_dots),
        cmocka_unit_test(test_error_field_is_cut_at_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
