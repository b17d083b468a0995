/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/write_all.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_write_all_writes_every_byte(void **state)
{
    (void)state;
    int ends[2];
    char got[8] = "";
    assert_int_equal(pipe(ends), 0);
    assert_true(sl_write_all(ends[1], "sluice", 6));
    assert_true(sl_write_all(ends[1], NULL, 0));
    assert_int_equal(read(ends[0], got, sizeof got), 6);
    assert_string_equal(got, "sluice");
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void test_write_all_says_that_it_could_not(void **state)
{
    (void)state;
    assert_false(sl_write_all(-1, "x", 1));
    assert_int_equal(errno, EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_all_writes_every_byte),
        cmocka_unit_test(test_write_all_says_that_it_could_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
