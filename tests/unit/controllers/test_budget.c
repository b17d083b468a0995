/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/controllers/work/budget.c. */
#include "t.h"
#include "controllers/work/budget.h"

#define T0 1700000000000

static void test_budget_burst_is_there_at_once_and_no_more(void **state)
{
    (void)state;
    struct sl_budget b = sl_budget_new(10, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(sl_budget_has(&b, T0));
        sl_budget_spend(&b, T0);
    }
    assert_false(sl_budget_has(&b, T0));
    assert_true(sl_budget_due_ms(&b) == T0 + 100);
    assert_false(sl_budget_has(&b, T0 + 99));
    assert_true(sl_budget_has(&b, T0 + 100));
    assert_true(sl_budget_due_ms(&b) == INT64_MIN);
}

static void test_budget_does_not_gather_more_than_its_burst(void **state)
{
    (void)state;
    struct sl_budget b = sl_budget_new(10, 2);
    sl_budget_spend(&b, T0);
    sl_budget_spend(&b, T0);
    assert_true(sl_budget_has(&b, T0 + 3600000));
    sl_budget_spend(&b, T0 + 3600000);
    sl_budget_spend(&b, T0 + 3600000);
    assert_false(sl_budget_has(&b, T0 + 3600000));
    assert_false(sl_budget_has(&b, T0)); /* a clock that jumps back gives nothing */
}

static void test_budget_without_a_rate_has_no_limit(void **state)
{
    (void)state;
    struct sl_budget b = sl_budget_new(0, 0);
    for (int i = 0; i < 1000; i++) {
        sl_budget_spend(&b, T0);
    }
    assert_true(sl_budget_has(&b, T0));
    assert_true(sl_budget_due_ms(&b) == INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget_burst_is_there_at_once_and_no_more),
        cmocka_unit_test(test_budget_does_not_gather_more_than_its_burst),
        cmocka_unit_test(test_budget_without_a_rate_has_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
