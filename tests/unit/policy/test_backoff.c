/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Backoff of workloads whose pods are late: the limit, the delay, and values out of bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/verdicts/backoff.h"

static const struct sl_backoff_rules kueues = {
    .limited = true, .count_max = 3, .base_ms = 60000, .ms_max = 3600000};

static void test_backoff_is_over_at_the_limit(void **state)
{
    (void)state;
    assert_false(sl_backoff_next(kueues, 2, 0, 0).over);
    assert_true(sl_backoff_next(kueues, 3, 0, 0).over);
    struct sl_backoff_rules rules = kueues;
    rules.count_max = 0;
    assert_true(sl_backoff_next(rules, 0, 0, 0).over);
    rules.limited = false;
    assert_false(sl_backoff_next(rules, UINT32_MAX, 0, 0).over);
}

static void test_backoff_doubles_with_each_requeue(void **state)
{
    (void)state;
    assert_true(sl_backoff_next(kueues, 0, 0, 5).at_ms == 60005);
    assert_true(sl_backoff_next(kueues, 1, 0, 5).at_ms == 120005);
    assert_true(sl_backoff_next(kueues, 5, 0, 5).at_ms == 1920005);
    assert_true(sl_backoff_next(kueues, 6, 0, 5).at_ms == 3600005);
    assert_true(sl_backoff_next(kueues, UINT32_MAX, 0, 5).at_ms == 3600005);
}

static void test_backoff_jitter_makes_it_longer(void **state)
{
    (void)state;
    assert_true(sl_backoff_next(kueues, 6, SL_JITTER_PPM_MAX, 0).at_ms == 3600360);
    assert_true(sl_backoff_next(kueues, 6, UINT32_MAX, 0).at_ms == 3600360);
}

static void test_backoff_of_values_out_of_bounds_stays_within_them(void **state)
{
    (void)state;
    struct sl_backoff_rules rules = {.base_ms = -1, .ms_max = INT64_MAX};
    assert_true(sl_backoff_next(rules, 0, 0, 7).at_ms == 7);
    rules = (struct sl_backoff_rules){.base_ms = SL_TIME_MAX, .ms_max = SL_TIME_MAX};
    assert_true(sl_backoff_next(rules, 0, 0, 1).at_ms == SL_TIME_MAX);
    assert_true(sl_backoff_next(kueues, 0, 0, -1).at_ms == 60000);
    assert_true(sl_backoff_next(kueues, 0, 0, SL_TIME_MAX).at_ms == SL_TIME_MAX);
}

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
        cmocka_unit_test(test_backoff_is_over_at_the_limit),
        cmocka_unit_test(test_backoff_of_writes_doubles_up_to_half_a_minute),
        cmocka_unit_test(test_backoff_doubles_with_each_requeue),
        cmocka_unit_test(test_backoff_jitter_makes_it_longer),
        cmocka_unit_test(test_backoff_of_values_out_of_bounds_stays_within_them),
        cmocka_unit_test(test_backoff_jitter_spreads_uids_and_tries_the_same_way_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
