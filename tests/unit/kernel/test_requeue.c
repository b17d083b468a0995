/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Backoff: Kueue's defaults as people know them, and the ends of every range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/lifecycle/requeue.h"

static void test_requeue_delay_doubles_up_to_an_hour(void **state)
{
    (void)state;
    const int64_t seconds[9] = {60, 120, 240, 480, 960, 1920, 3600, 3600, 3600};
    for (uint32_t n = 1; n <= 9; n++) {
        assert_true(sl_requeue_delay_ms(60000, 3600000, n, 0) == seconds[n - 1] * 1000);
    }
}

static void test_requeue_delay_exact_at_the_cap(void **state)
{
    (void)state;
    assert_true(sl_requeue_delay_ms(1, 8, 4, 0) == 8);
    assert_true(sl_requeue_delay_ms(1, 7, 4, 0) == 7);
    assert_true(sl_requeue_delay_ms(1, 9, 4, 0) == 8);
}

static void test_requeue_delay_base_above_cap_comes_first(void **state)
{
    (void)state;
    assert_true(sl_requeue_delay_ms(100, 10, 1, 0) == 100);
    assert_true(sl_requeue_delay_ms(100, 10, 2, 0) == 10);
    assert_true(sl_requeue_delay_ms(100, 0, 3, 0) == 0);
}

static void test_requeue_delay_without_base_is_none(void **state)
{
    (void)state;
    assert_true(sl_requeue_delay_ms(0, 3600000, 1, 100) == 0);
    assert_true(sl_requeue_delay_ms(0, 3600000, UINT32_MAX, 100) == 0);
}

static void test_requeue_delay_never_overflows(void **state)
{
    (void)state;
    assert_true(sl_requeue_delay_ms(1, SL_TIME_MAX, UINT32_MAX, 0) == SL_TIME_MAX);
    assert_true(sl_requeue_delay_ms(1, SL_TIME_MAX, 63, 0) == SL_TIME_MAX);
    assert_true(sl_requeue_delay_ms(1, SL_TIME_MAX, 62, 0) == SL_TIME_MAX / 2);
    assert_true(sl_requeue_delay_ms(SL_TIME_MAX, SL_TIME_MAX, 2, SL_JITTER_PPM_MAX) == SL_TIME_MAX);
}

static void test_requeue_delay_jitter_adds_its_share(void **state)
{
    (void)state;
    assert_true(sl_requeue_delay_ms(3600000, 3600000, 1, 100) == 3600360);
    assert_true(sl_requeue_delay_ms(9999, 3600000, 1, 100) == 9999);
    assert_true(sl_requeue_delay_ms(10000, 3600000, 1, 100) == 10001);
}

static void test_requeue_check_delay_counts_tries_behind(void **state)
{
    (void)state;
    const int64_t seconds[7] = {60, 120, 240, 480, 960, 1800, 1800};
    for (uint32_t tries = 0; tries < 7; tries++) {
        assert_true(sl_requeue_check_delay_s(60, 1800, tries) == seconds[tries]);
    }
    assert_true(sl_requeue_check_delay_s(60, 1800, UINT32_MAX) == 1800);
}

static void test_requeue_limit_is_reached_by_one_more(void **state)
{
    (void)state;
    sl_requeue_configure((struct sl_requeue_rules){.limited = true});
    assert_true(sl_requeue_ruled_out(0));
    sl_requeue_configure((struct sl_requeue_rules){.limited = true, .count_max = 3});
    assert_false(sl_requeue_ruled_out(2));
    assert_true(sl_requeue_ruled_out(3));
    sl_requeue_configure((struct sl_requeue_rules){.limited = true, .count_max = UINT32_MAX});
    assert_true(sl_requeue_ruled_out(UINT32_MAX));
    sl_requeue_configure((struct sl_requeue_rules){.limited = false, .count_max = 3});
    assert_false(sl_requeue_ruled_out(UINT32_MAX));
}

static void test_requeue_rules_give_each_try_its_delay(void **state)
{
    (void)state;
    sl_requeue_configure((struct sl_requeue_rules){.base_ms = 10000, .ms_max = 3600000});
    assert_true(sl_requeue_ruled_delay_ms(0, 0) == 10000);
    assert_true(sl_requeue_ruled_delay_ms(2, 100) == 40004);
    assert_true(sl_requeue_ruled_delay_ms(UINT32_MAX, 0) == 3600000);
    sl_requeue_configure((struct sl_requeue_rules){.base_ms = -1, .ms_max = SL_TIME_MAX + 1});
    assert_true(sl_requeue_ruled_delay_ms(5, 100) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requeue_delay_doubles_up_to_an_hour),
        cmocka_unit_test(test_requeue_delay_exact_at_the_cap),
        cmocka_unit_test(test_requeue_delay_base_above_cap_comes_first),
        cmocka_unit_test(test_requeue_delay_without_base_is_none),
        cmocka_unit_test(test_requeue_delay_never_overflows),
        cmocka_unit_test(test_requeue_delay_jitter_adds_its_share),
        cmocka_unit_test(test_requeue_check_delay_counts_tries_behind),
        cmocka_unit_test(test_requeue_limit_is_reached_by_one_more),
        cmocka_unit_test(test_requeue_rules_give_each_try_its_delay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
