/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Of several answers the one that rejects counts, then one that asks to retry, in whatever order they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/commit/reports.h"

/* All answers of three checks there are. */
static void test_reports_rejection_goes_first_then_retry(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 64; n++) {
        struct sl_report r[3] = {{1, (enum sl_check_state)(n % 4), 0},
                                 {2, (enum sl_check_state)(n / 4 % 4), 0},
                                 {3, (enum sl_check_state)(n / 16), 0}};
        enum sl_check_state most = r[0].state;
        for (int i = 0; i < 3; i++) {
            most = r[i].state > most ? r[i].state : most;
        }
        enum sl_check_state first = r[sl_reports_first(r, 3)].state;
        assert_int_equal(first, most >= SL_CHECK_RETRY ? most : r[0].state);
    }
}

static void test_reports_longest_of_those_who_ask_counts(void **state)
{
    (void)state;
    struct sl_report r[4] = {{1, SL_CHECK_RETRY, 10},
                             {2, SL_CHECK_RETRY, SL_TIME_MAX},
                             {3, SL_CHECK_RETRY, 0},
                             {4, SL_CHECK_RETRY, 20}};
    assert_true(sl_reports_wait_ms(r, 4) == SL_TIME_MAX);
    r[1].state = SL_CHECK_REJECTED;
    assert_true(sl_reports_wait_ms(r, 4) == 20);
    assert_true(sl_reports_wait_ms(r, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reports_rejection_goes_first_then_retry),
        cmocka_unit_test(test_reports_longest_of_those_who_ask_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
