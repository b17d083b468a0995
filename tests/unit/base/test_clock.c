/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Times as text and back, and the virtual clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"

static void test_clock_format_and_parse_are_inverse(void **state)
{
    (void)state;
    static const char *const times[] = {"1970-01-01T00:00:00Z", "2026-08-22T10:00:00Z",
                                        "2024-02-29T23:59:59Z", "1969-12-31T23:59:59Z",
                                        "2000-03-01T00:00:00Z", "1900-02-28T12:00:00Z",
                                        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char out[32];
        int64_t ms = sl_clock_parse(times[i]);
        assert_true(ms != INT64_MIN);
        sl_clock_format(ms, out);
        assert_string_equal(out, times[i]);
    }
    assert_int_equal(sl_clock_parse("2026-08-22T10:00:00Z"), 1787392800000);
}

static void test_clock_reads_fractions_and_offsets(void **state)
{
    (void)state;
    int64_t noon = sl_clock_parse("2026-08-22T12:00:00Z");
    assert_int_equal(sl_clock_parse("2026-08-22T14:00:00+02:00"), noon);
    assert_int_equal(sl_clock_parse("2026-08-22T06:30:00-05:30"), noon);
    assert_int_equal(sl_clock_parse("2026-08-22T12:00:00.123456Z"), noon + 123);
    assert_int_equal(sl_clock_parse("2026-08-22T12:00:00.5Z"), noon + 500);
    char micro[40];
    sl_clock_format_micro(noon + 7, micro);
    assert_string_equal(micro, "2026-08-22T12:00:00.007000Z");
}

/* A journal's record may carry any time; the begin of the earliest day is no int64_t. */
static void test_clock_format_of_the_earliest_and_the_latest_time_is_exact(void **state)
{
    (void)state;
    char seconds[32], micro[40];
    sl_clock_format(INT64_MIN, seconds);
    assert_string_equal(seconds, "-292275055-05-16T16:47:04Z");
    sl_clock_format_micro(INT64_MIN, micro);
    assert_string_equal(micro, "-292275055-05-16T16:47:04.192000Z");
    sl_clock_format(INT64_MAX, seconds);
    assert_string_equal(seconds, "292278994-08-17T07:12:55Z");
    sl_clock_format(-1, seconds);
    assert_string_equal(seconds, "1969-12-31T23:59:59Z");
    sl_clock_format(-86400000, seconds);
    assert_string_equal(seconds, "1969-12-31T00:00:00Z");
}

static void test_clock_malformed_time_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "now",
                                      "2026-08-22",
                                      "2026-08-22 10:00:00Z",
                                      "2026-8-22T10:00:00Z",
                                      "2026-08-22T10:00:00",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-02-29T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:60:00Z",
                                      "2026-01-01T00:00:61Z",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00:00+2:00",
                                      "2026-01-01T00:00:00+24:00",
                                      "2026-01-01T00:00:00Zx",
                                      "-026-01-01T00:00:00Z"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (sl_clock_parse(bad[i]) != INT64_MIN) {
            fail_msg("'%s' was taken for a time", bad[i]);
        }
    }
}

static void test_clock_virtual_time_stands_still(void **state)
{
    (void)state;
    int64_t real = sl_clock_now_ms();
    assert_true(real > 1577836800000);
    sl_clock_set_virtual(42);
    assert_int_equal(sl_clock_now_ms(), 42);
    sl_clock_set_virtual(43);
    assert_int_equal(sl_clock_now_ms(), 43);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_format_and_parse_are_inverse),
        cmocka_unit_test(test_clock_format_of_the_earliest_and_the_latest_time_is_exact),
        cmocka_unit_test(test_clock_reads_fractions_and_offsets),
        cmocka_unit_test(test_clock_malformed_time_is_refused),
        cmocka_unit_test(test_clock_virtual_time_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
