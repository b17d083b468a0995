/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What spreads workloads whose pods are late, and how long writes that are refused wait. (The limit and the delay:
 * unit/kernel/test_requeue.c, test_lifecycle.c.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/verdicts/backoff.h"

static void test_backoff_jitter_spreads_uids_and_tries_the_same_way_each_time(void **state)
{
    (void)state;
    uint32_t first = sl_backoff_jitter_ppm(1, 2, 0);
    assert_true(first <= SL_JITTER_PPM_MAX);
    assert_int_equal(sl_backoff_jitter_ppm(1, 2, 0), first);
    assert_int_equal(first, (2 ^ 31) % 101);
    assert_int_equal(sl_backoff_jitter_ppm(0, 100, 0), 100);
    assert_int_equal(sl_backoff_jitter_ppm(0, 101, 0), 0);
    assert_int_equal(sl_backoff_jitter_ppm(0, 0, 1), 2654435761u % 101u);
    assert_true(sl_backoff_jitter_ppm(UINT64_MAX, UINT64_MAX, UINT32_MAX) <= SL_JITTER_PPM_MAX);
}

static void test_backoff_of_writes_doubles_up_to_half_a_minute(void **state)
{
    (void)state;
    const int64_t waits_ms[] = {1000, 1000, 2000, 4000, 8000, 16000, 30000, 30000};
    for (uint32_t refusals = 0; refusals < 8; refusals++) {
        assert_true(sl_backoff_of_write_ms(refusals) == waits_ms[refusals]);
    }
    assert_true(sl_backoff_of_write_ms(UINT32_MAX) == 30000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backoff_of_writes_doubles_up_to_half_a_minute),
        cmocka_unit_test(test_backoff_jitter_spreads_uids_and_tries_the_same_way_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
