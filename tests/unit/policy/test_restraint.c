/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For how long a workload that preempts in vain finds no victims, and the flag that says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/lifecycle/lifecycle.h"
#include "policy/preemption/restraint.h"

static void test_restraint_sixteen_cycles_are_free(void **state)
{
    (void)state;
    assert_true(sl_restraint_ms(0) == 0);
    assert_true(sl_restraint_ms(16) == 0);
    assert_true(sl_restraint_ms(17) == 100);
}

static void test_restraint_doubles_up_to_an_hour(void **state)
{
    (void)state;
    int64_t ms = 100;
    for (uint32_t times = 17; times <= 32; times++, ms *= 2) {
        assert_true(sl_restraint_ms(times) == (ms < 3600000 ? ms : 3600000));
    }
    assert_true(sl_restraint_ms(32) == 3276800);
    assert_true(sl_restraint_ms(33) == 3600000);
    assert_true(sl_restraint_ms(UINT32_MAX) == 3600000);
}

static void test_restraint_counts_and_never_starts_anew(void **state)
{
    (void)state;
    assert_int_equal(sl_restraint_count(0), 1);
    assert_true(sl_restraint_count(UINT32_MAX - 1) == UINT32_MAX);
    assert_true(sl_restraint_count(UINT32_MAX) == UINT32_MAX);
}

static void test_restraint_service_of_a_second_makes_up_for_few(void **state)
{
    (void)state;
    assert_int_equal(sl_restraint_after_service(16, true, 999), 16);
    assert_int_equal(sl_restraint_after_service(16, true, 1000), 0);
    assert_int_equal(sl_restraint_after_service(17, true, 999), 17); /* 4 times 100 ms is less */
    assert_int_equal(sl_restraint_after_service(17, true, 1000), 0);
    assert_int_equal(sl_restraint_after_service(1, true, INT64_MIN), 1);
}

static void test_restraint_service_of_four_times_the_restraint_makes_up_for_more(void **state)
{
    (void)state;
    assert_int_equal(sl_restraint_after_service(19, true, 1599), 19);
    assert_int_equal(sl_restraint_after_service(19, true, 1600), 0);
    assert_int_equal(sl_restraint_after_service(1000, true, 14399999), 1000);
    assert_int_equal(sl_restraint_after_service(1000, true, 14400000), 0);
}

static void test_restraint_any_other_end_of_service_makes_up_for_all(void **state)
{
    (void)state;
    assert_int_equal(sl_restraint_after_service(1000, false, 0), 0);
}

static void test_restraint_holds_for_one_incarnation(void **state)
{
    (void)state;
    assert_false(sl_restraint_holds(3));
    sl_restraint_set(3, true);
    assert_true(sl_restraint_holds(3));
    sl_workloads[3].generation++;
    assert_false(sl_restraint_holds(3));
    sl_restraint_set(3, true);
    sl_restraint_set(3, false);
    assert_false(sl_restraint_holds(3));
    sl_restraint_set(SL_WORKLOADS_MAX, true);
    assert_false(sl_restraint_holds(SL_WORKLOADS_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restraint_sixteen_cycles_are_free),
        cmocka_unit_test(test_restraint_doubles_up_to_an_hour),
        cmocka_unit_test(test_restraint_counts_and_never_starts_anew),
        cmocka_unit_test(test_restraint_service_of_a_second_makes_up_for_few),
        cmocka_unit_test(test_restraint_service_of_four_times_the_restraint_makes_up_for_more),
        cmocka_unit_test(test_restraint_any_other_end_of_service_makes_up_for_all),
        cmocka_unit_test(test_restraint_holds_for_one_incarnation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
