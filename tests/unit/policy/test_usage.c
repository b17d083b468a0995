/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Admission fair sharing: decay, penalties and the order of accounts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/fair/half_life.h"
#include "policy/requests/offers.h"
#include "policy/fair/usage.h"

enum { CPU = 1, MEMORY = 2 };
#define NANO 1000000000LL
#define START_MS 1000000

static int setup(void **state)
{
    (void)state;
    sl_usage_configure(10000, 1000);
    assert_int_equal(sl_usage_set_resource(CPU, NANO, true), SL_OK);
    assert_int_equal(sl_usage_set_resource(MEMORY, NANO, false), SL_OK);
    for (sl_account_id a = 0; a < 4; a++) {
        sl_usage_close(a);
        sl_usage_sample_begin(a, START_MS);
        sl_usage_sample_end();
    }
    return 0;
}

static void sample(sl_account_id account, int64_t at_ms, int64_t cpu)
{
    sl_usage_sample_begin(account, at_ms);
    sl_usage_sample_running(CPU, cpu);
    sl_usage_sample_end();
}

/* As far as the header says. Long double has the digits for it. */
static void test_half_life_against_libm_is_exact_to_rounding(void **state)
{
    (void)state;
    const long double off = ldexpl(1, -55);
    for (int64_t half = 1; half < 4000000; half = half * 7 + 3) {
        for (int64_t elapsed = 0; elapsed < 20 * half; elapsed += half / 3 + 1) {
            long double expected = exp2l(-(long double)elapsed / (long double)half);
            long double got =
                (long double)sl_half_life_left(elapsed, half) / (long double)SL_FRACTION_ONE;
            assert_true(fabsl(got - expected) < off);
        }
    }
}

static void test_half_life_at_its_edges_is_all_or_nothing(void **state)
{
    (void)state;
    assert_int_equal(sl_half_life_left(0, 10), SL_FRACTION_ONE);
    assert_int_equal(sl_half_life_left(-5, 10), SL_FRACTION_ONE);
    assert_int_equal(sl_half_life_left(5, 0), 0);
    assert_int_equal(sl_half_life_left(INT64_MAX, 1), 0);
    assert_int_equal(sl_half_life_left(10, 10), SL_FRACTION_ONE / 2);
    assert_int_equal(sl_half_life_left(INT64_MAX - 1, INT64_MAX) <= SL_FRACTION_ONE, 1);
    assert_int_equal(sl_half_life_part(-1, SL_FRACTION_ONE), 0);
    assert_int_equal(sl_half_life_part(7, SL_FRACTION_ONE + 1), 0);
    assert_int_equal(sl_half_life_part(7, SL_FRACTION_ONE), 7);
}

static void assert_carried(struct sl_wide3 a, struct sl_wide3 sum)
{
    struct sl_wide3 got = sl_wide_carry(a, 1);
    assert_true(got.high == sum.high && got.middle == sum.middle && got.low == sum.low);
}

static void test_wide_carry_goes_through_all_limbs(void **state)
{
    (void)state;
    const uint64_t full = UINT64_MAX;
    assert_carried((struct sl_wide3){1, 2, 3}, (struct sl_wide3){1, 2, 4});
    assert_carried((struct sl_wide3){1, 2, full}, (struct sl_wide3){1, 3, 0});
    assert_carried((struct sl_wide3){1, full, full}, (struct sl_wide3){2, 0, 0});
    assert_carried((struct sl_wide3){full, full, full}, (struct sl_wide3){full, full, full});
}

static void test_usage_of_a_steady_job_approaches_what_it_runs(void **state)
{
    (void)state;
    sample(0, START_MS + 10000, 8000);
    assert_int_equal(sl_usage_consumed(0, CPU).milli, 4000);
    sample(0, START_MS + 20000, 8000);
    assert_int_equal(sl_usage_consumed(0, CPU).milli, 6000);
    sample(0, START_MS + 30000, 0);
    assert_int_equal(sl_usage_consumed(0, CPU).milli, 3000);
}

static void test_usage_without_half_life_forgets_the_past(void **state)
{
    (void)state;
    sl_usage_restore(0, CPU, (struct sl_usage_amount){5000, 0}, START_MS);
    sl_usage_configure(0, 1000);
    sample(0, START_MS, 8000); /* no time has gone by */
    assert_int_equal(sl_usage_consumed(0, CPU).milli, 5000);
    sample(0, START_MS + 1, 8000);
    assert_int_equal(sl_usage_consumed(0, CPU).milli, 0);
    sl_usage_charge(5, 0, CPU, 10000);
    assert_int_equal(sl_usage_pending(0, CPU).milli, 0);
}

static void test_usage_penalty_counts_until_dropped_or_settled(void **state)
{
    (void)state;
    sl_usage_charge(5, 0, CPU, 10000);
    int64_t penalty = sl_usage_pending(0, CPU).milli; /* 10 cpus for a tenth of a half-life */
    assert_int_equal(penalty, 669);
    assert_int_equal(sl_usage_compare(0, 1), 1);
    sl_usage_drop(5);
    sl_usage_drop(5);
    assert_int_equal(sl_usage_pending(0, CPU).milli, 0);
    assert_int_equal(sl_usage_compare(0, 1), 0);
    sl_usage_charge(5, 0, CPU, 10000);
    sl_usage_charge(5, 0, MEMORY, 3);
    sl_usage_charge(6, 0, CPU, 10000);
    sl_usage_settle(5);
    sl_usage_settle(5);
    assert_int_equal(sl_usage_consumed(0, CPU).milli, penalty);
    assert_int_equal(sl_usage_consumed(0, MEMORY).milli, 200);
    assert_int_equal(sl_usage_pending(0, CPU).milli, penalty);
    sl_usage_drop(6);
}

/* The usual settings: what one cpu adds in five minutes, and loses, is less than a thousandth. */
static void test_usage_of_one_cpu_grows_by_its_penalties_and_samples(void **state)
{
    (void)state;
    const int64_t week_ms = 168 * 3600 * 1000LL, sampling_ms = 300000;
    sl_usage_configure(week_ms, sampling_ms);
    sl_usage_charge(5, 0, CPU, 1000);
    assert_true(sl_usage_pending(0, CPU).milli == 0);
    assert_int_equal(sl_usage_pending(0, CPU).parts, 343763); /* 1 - 2^(-1/2016) */
    assert_int_equal(sl_usage_compare(0, 1), 1);
    sl_usage_settle(5);
    for (int i = 1; i <= 2016; i++) {
        sample(0, START_MS + i * sampling_ms, 1000);
    }
    struct sl_usage_amount half = sl_usage_consumed(0, CPU);
    assert_true(half.milli == 500);                     /* and what is left of the penalty */
    assert_in_range(half.parts, 171880 - 2100, 171883); /* each sample rounds down */
}

/* Five minutes of an hour are a twelfth, which has no end in binary: 10 * (1 - 2^(-1/12)) is
 * 0.56125687318... */
static void test_usage_penalty_is_exact_to_its_last_part(void **state)
{
    (void)state;
    sl_usage_configure(3600000, 300000);
    sl_usage_charge(5, 0, CPU, 10000);
    assert_int_equal(sl_usage_pending(0, CPU).milli, 561);
    assert_int_equal(sl_usage_pending(0, CPU).parts, 256873);
    sl_usage_drop(5);
}

static void test_usage_is_never_below_nothing(void **state)
{
    (void)state;
    sl_usage_configure(168 * 3600 * 1000LL, 300000);
    for (int i = 0; i < 5; i++) {
        sl_usage_charge((sl_workload_id)(5 + i), 0, CPU, 7000 + 13 * i);
    }
    for (int i = 0; i < 5; i++) {
        sl_usage_drop((sl_workload_id)(5 + i));
    }
    assert_int_equal(sl_usage_pending(0, CPU).milli, 0);
    assert_int_equal(sl_usage_pending(0, CPU).parts, 0);
    assert_int_equal(sl_usage_compare(0, 1), 0);
}

static struct sl_usage_amount parts(uint32_t n)
{
    return (struct sl_usage_amount){0, n};
}

static void test_usage_compare_weighs_parts_too(void **state)
{
    (void)state;
    sl_usage_restore(0, CPU, parts(3), START_MS);
    sl_usage_restore(1, CPU, parts(2), START_MS);
    assert_int_equal(sl_usage_compare(0, 1), 1);
    sl_usage_set_weight(0, 2 * NANO);
    assert_int_equal(sl_usage_compare(0, 1), -1); /* 1.5 and 2 */
    sl_usage_set_weight(1, 4 * NANO / 3);
    assert_int_equal(sl_usage_compare(0, 1), -1); /* 3 / 2 and 2 / (4/3), rounded down */
    sl_usage_set_weight(0, NANO);
    sl_usage_set_weight(1, NANO);
    assert_int_equal(sl_usage_set_resource(MEMORY, NANO / 2, false), SL_OK);
    sl_usage_restore(1, MEMORY, parts(2), START_MS);
    assert_int_equal(sl_usage_compare(0, 1), 0); /* 3 = 2 + 2 / 2 */
    sl_usage_restore(0, CPU, parts(SL_USAGE_PARTS - 3), START_MS);
    assert_int_equal(sl_usage_consumed(0, CPU).milli, 1);
    assert_int_equal(sl_usage_consumed(0, CPU).parts, 0);
    sl_usage_restore(1, CPU, parts(SL_USAGE_PARTS - 4), START_MS);
    assert_int_equal(sl_usage_compare(0, 1), 1);
    sl_usage_restore(1, MEMORY, parts(2), START_MS);
    assert_int_equal(sl_usage_compare(0, 1), 0);
}

static void test_usage_compare_weighs_accounts_and_resources(void **state)
{
    (void)state;
    sl_usage_restore(0, CPU, (struct sl_usage_amount){4000, 0}, START_MS);
    sl_usage_restore(1, CPU, (struct sl_usage_amount){3000, 0}, START_MS);
    assert_int_equal(sl_usage_compare(0, 1), 1);
    assert_int_equal(sl_usage_compare(1, 0), -1);
    sl_usage_set_weight(0, 2 * NANO);
    assert_int_equal(sl_usage_compare(0, 1), -1);
    sl_usage_restore(0, MEMORY, (struct sl_usage_amount){2000, 0}, START_MS);
    assert_int_equal(sl_usage_compare(0, 1), 0); /* (4 + 2) / 2 = 3 */
    assert_int_equal(sl_usage_set_resource(MEMORY, 0, false), SL_OK);
    assert_int_equal(sl_usage_compare(0, 1), -1);
}

static void test_usage_of_weight_zero_comes_last(void **state)
{
    (void)state;
    sl_usage_restore(1, CPU, (struct sl_usage_amount){900000, 0}, START_MS);
    sl_usage_set_weight(0, 0);
    assert_int_equal(sl_usage_compare(0, 1), 1);
    assert_int_equal(sl_usage_compare(1, 0), -1);
    sl_usage_set_weight(1, -3);
    assert_int_equal(sl_usage_compare(0, 1), 0);
}

static void test_usage_too_large_saturates(void **state)
{
    (void)state;
    sl_usage_restore(0, CPU, (struct sl_usage_amount){INT64_MAX, 0}, START_MS);
    sl_usage_restore(0, CPU, (struct sl_usage_amount){INT64_MAX, 0}, START_MS);
    assert_int_equal(sl_usage_consumed(0, CPU).milli, SL_USAGE_MAX);
    assert_int_equal(sl_usage_set_resource(CPU, INT64_MAX, true), SL_OK);
    assert_int_equal(sl_usage_compare(0, 1), 1);
    sample(1, START_MS + 100000, INT64_MAX);
    sl_usage_sample_begin(1, START_MS + 100000);
    sl_usage_sample_running(MEMORY, INT64_MAX);
    sl_usage_sample_end();
    assert_int_equal(sl_usage_consumed(1, MEMORY).milli, 0); /* no time has passed */
}

static void test_usage_of_unknown_ids_is_ignored(void **state)
{
    (void)state;
    assert_int_equal(sl_usage_set_resource(SL_RESOURCES_MAX, 1, true), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_usage_set_resource(CPU, -1, true), SL_REFUSED_BAD_ARGUMENT);
    sl_usage_set_weight(SL_ACCOUNTS_MAX, 1);
    sl_usage_close(SL_ACCOUNTS_MAX);
    sl_usage_restore(SL_ACCOUNTS_MAX, CPU, (struct sl_usage_amount){1, 0}, 1);
    sl_usage_charge(SL_WORKLOADS_MAX, 0, CPU, 1);
    sl_usage_charge(1, SL_ACCOUNTS_MAX, CPU, 1);
    sl_usage_restore(0, SL_NO_ID, (struct sl_usage_amount){7, 0}, START_MS);
    sl_usage_charge(1, 0, SL_NO_ID, 1000000);
    assert_int_equal(sl_usage_compare(0, 1), 0);
    sl_usage_drop(SL_WORKLOADS_MAX);
    sl_usage_settle(SL_WORKLOADS_MAX);
    sample(SL_ACCOUNTS_MAX, START_MS, 1);
    assert_int_equal(sl_usage_consumed(SL_ACCOUNTS_MAX, CPU).milli, 0);
    assert_int_equal(sl_usage_pending(SL_ACCOUNTS_MAX, CPU).milli, 0);
    assert_int_equal(sl_usage_compare(SL_ACCOUNTS_MAX, 0), 0);
}

static void test_usage_of_more_resources_than_fit_counts_the_first(void **state)
{
    (void)state;
    for (sl_resource_id r = 10; r < 10 + SL_USAGE_RESOURCES_MAX + 3; r++) {
        sl_usage_restore(0, r, (struct sl_usage_amount){7, 0}, START_MS);
        sl_usage_charge(9, 0, r, 1000000);
    }
    assert_int_equal(sl_usage_consumed(0, 10).milli, 7);
    assert_int_equal(sl_usage_consumed(0, 10 + SL_USAGE_RESOURCES_MAX).milli, 0);
    assert_true(sl_usage_pending(0, 10).milli > 0);
    assert_int_equal(sl_usage_pending(0, 10 + SL_USAGE_RESOURCES_MAX).milli, 0);
    sl_usage_drop(9);
    assert_int_equal(sl_usage_pending(0, 10).milli, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_life_against_libm_is_exact_to_rounding),
        cmocka_unit_test(test_half_life_at_its_edges_is_all_or_nothing),
        cmocka_unit_test(test_wide_carry_goes_through_all_limbs),
        cmocka_unit_test_setup(test_usage_of_a_steady_job_approaches_what_it_runs, setup),
        cmocka_unit_test_setup(test_usage_without_half_life_forgets_the_past, setup),
        cmocka_unit_test_setup(test_usage_penalty_counts_until_dropped_or_settled, setup),
        cmocka_unit_test_setup(test_usage_of_one_cpu_grows_by_its_penalties_and_samples, setup),
        cmocka_unit_test_setup(test_usage_penalty_is_exact_to_its_last_part, setup),
        cmocka_unit_test_setup(test_usage_is_never_below_nothing, setup),
        cmocka_unit_test_setup(test_usage_compare_weighs_parts_too, setup),
        cmocka_unit_test_setup(test_usage_compare_weighs_accounts_and_resources, setup),
        cmocka_unit_test_setup(test_usage_of_weight_zero_comes_last, setup),
        cmocka_unit_test_setup(test_usage_too_large_saturates, setup),
        cmocka_unit_test_setup(test_usage_of_unknown_ids_is_ignored, setup),
        cmocka_unit_test_setup(test_usage_of_more_resources_than_fit_counts_the_first, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
