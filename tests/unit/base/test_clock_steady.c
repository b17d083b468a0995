/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The clock that durations are measured with, where the system's is set while the process runs, or makes no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/clock.h"

#define DAY_MS 86400000ll
#define NOON_MS 1787392800000ll /* 2026-08-22T10:00:00Z */

static struct {
    int64_t wall_ms, steady_ms;
} machine;

int clock_gettime(clockid_t which, struct timespec *out)
{
    int64_t ms = which == CLOCK_REALTIME ? machine.wall_ms : machine.steady_ms;
    int64_t s = ms >= 0 ? ms / 1000 : -((-ms + 999) / 1000);
    *out = (struct timespec){.tv_sec = s, .tv_nsec = (ms - s * 1000) * 1000000};
    return 0;
}

static void pass(int64_t ms)
{
    machine.wall_ms += ms;
    machine.steady_ms += ms;
}

/* A process begins at that time. */
static int begin(int64_t wall_ms)
{
    machine.wall_ms = wall_ms;
    machine.steady_ms += 1000000;
    sl_clock_begin();
    return 0;
}

static void test_clock_goes_with_the_system(void **state)
{
    (void)state;
    begin(NOON_MS);
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(sl_clock_now_ms(), machine.wall_ms);
        pass(1 + i % 700);
    }
}

/* An hour takes an hour, give or take a part in a hundred, however the clock is set. */
static void test_clock_that_is_set_changes_no_duration(void **state)
{
    static const int64_t jumps[] = {
        DAY_MS,          -DAY_MS,          3600000,        -3600000,
        3650 * DAY_MS,   -3650 * DAY_MS,   83950 * DAY_MS, -20440 * DAY_MS,
        -25000 * DAY_MS, 2920000 * DAY_MS, 2000,           -2000};
    (void)state;
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        begin(NOON_MS);
        int64_t start = sl_clock_now_ms(), last = start;
        machine.wall_ms += jumps[i];
        for (int64_t spent = 0; spent < 3600000; spent += 500) {
            int64_t now = sl_clock_now_ms();
            assert_true(now >= last); /* it never goes back */
            assert_true(now - start >= spent - spent / 100 - 1);
            assert_true(now - start <= spent + spent / 100 + 1);
            last = now;
            pass(500);
        }
    }
}

/* What a process says is the time comes to what the system says. */
static void test_clock_follows_small_corrections(void **state)
{
    (void)state;
    static const int64_t jumps[] = {5000, -5000};
    for (size_t i = 0; i < 2; i++) {
        begin(NOON_MS);
        machine.wall_ms += jumps[i];
        for (int n = 0; n < 1200; n++) {
            (void)sl_clock_now_ms();
            pass(1000);
        }
        assert_int_equal(sl_clock_now_ms(), machine.wall_ms);
        assert_int_equal(sl_clock_wall_ms(), machine.wall_ms);
    }
}

static void test_clock_that_makes_no_sense_is_taken_for_the_next_that_does(void **state)
{
    char text[32];
    (void)state;
    begin(-60 * 365 * DAY_MS);
    assert_int_equal(sl_clock_now_ms(), 0);
    pass(1000);
    assert_true(sl_clock_now_ms() >= 990);
    begin(8000ll * 365 * DAY_MS);
    sl_clock_format(sl_clock_now_ms(), text);
    assert_string_equal(text, "9000-01-01T00:00:00Z");
    pass(DAY_MS);
    assert_true(sl_clock_now_ms() >= sl_clock_parse("9000-01-01T23:00:00Z"));
}

/* Set from 2026 to before 1970 while it runs: time goes on. */
static void test_clock_set_before_1970_goes_on(void **state)
{
    (void)state;
    begin(NOON_MS);
    int64_t start = sl_clock_now_ms();
    machine.wall_ms = -DAY_MS;
    pass(100000);
    assert_true(sl_clock_now_ms() >= start + 99000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_goes_with_the_system),
        cmocka_unit_test(test_clock_that_is_set_changes_no_duration),
        cmocka_unit_test(test_clock_follows_small_corrections),
        cmocka_unit_test(test_clock_that_makes_no_sense_is_taken_for_the_next_that_does),
        cmocka_unit_test(test_clock_set_before_1970_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
