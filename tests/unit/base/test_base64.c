/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Base64, there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/base64.h"

static void test_base64_is_that_of_the_rfc(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"f", "Zg=="},           {"fo", "Zm8="},
                                          {"foo", "Zm9v"},         {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},   {"foobar", "Zm9vYmFy"},
                                          {"\xff\xfe\xfb", "//77"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_buf out = {0}, back = {0};
        sl_base64_print(rows[i][0], strlen(rows[i][0]), &out);
        assert_string_equal(out.data, rows[i][1]);
        assert_true(sl_base64_read(out.data, &back));
        assert_string_equal(back.data, rows[i][0]);
        sl_buf_fini(&out);
        sl_buf_fini(&back);
    }
}

static void test_base64_of_nothing_is_nothing(void **state)
{
    (void)state;
    struct sl_buf out = {0};
    sl_base64_print(NULL, 0, &out);
    assert_int_equal(out.len, 0);
    assert_true(sl_base64_read("", &out));
    assert_int_equal(out.len, 0);
    sl_buf_fini(&out);
}

static void test_base64_that_is_none_adds_nothing(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "Z", "Zg", "Zg=", "Zg=a", "=g==", "Zm9v*", "Zm9vZm", "Z*==", "Zg==Zg==", "Zm9v\n"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_buf out = {0};
        sl_buf_text(&out, "as before");
        assert_false(sl_base64_read(rows[i], &out));
        assert_string_equal(out.data, "as before");
        sl_buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64_is_that_of_the_rfc),
        cmocka_unit_test(test_base64_of_nothing_is_nothing),
        cmocka_unit_test(test_base64_that_is_none_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
