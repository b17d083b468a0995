/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What statuses of HTTP mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"

static void test_error_each_code_is_known_again(void **state)
{
    (void)state;
    for (int i = SL_CODE_BAD_REQUEST; i <= SL_CODE_TIMEOUT; i++) {
        enum sl_code code = (enum sl_code)i;
        assert_int_equal(sl_code_of_http(sl_code_http(code), sl_code_reason(code)), code);
    }
}

static void test_error_other_statuses_are_the_nearest_code(void **state)
{
    (void)state;
    assert_int_equal(sl_code_of_http(409, ""), SL_CODE_CONFLICT);
    assert_int_equal(sl_code_of_http(404, "AlreadyExists"), SL_CODE_NOT_FOUND);
    assert_int_equal(sl_code_of_http(418, ""), SL_CODE_BAD_REQUEST);
    assert_int_equal(sl_code_of_http(502, "BadGateway"), SL_CODE_UNAVAILABLE);
    assert_int_equal(sl_code_of_http(302, ""), SL_CODE_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_each_code_is_known_again),
        cmocka_unit_test(test_error_other_statuses_are_the_nearest_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
