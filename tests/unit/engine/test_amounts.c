/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/records/amounts.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_amounts_what_is_not_listed_is_zero(void **state)
{
    (void)state;
    struct sl_amounts a = {0};
    struct sl_amounts b = {0};
    assert_int_equal(sl_amounts_get(&a, 3), 0);
    sl_amounts_add(&a, 3, 5);
    sl_amounts_add(&a, 3, -5);
    assert_true(sl_amounts_equal(&a, &b));
    sl_amounts_add(&b, 9, 1);
    assert_false(sl_amounts_equal(&a, &b));
    assert_false(sl_amounts_equal(&b, &a));
    sl_amounts_fini(&a);
    sl_amounts_fini(&b);
}

static void test_amounts_sums_may_be_negative_and_are_told_within_range(void **state)
{
    (void)state;
    struct sl_amounts a = {0};
    struct sl_amounts b = {0};
    for (sl_resource_id r = 0; r < 9; r++) {
        sl_amounts_add(&b, r, (int64_t)r);
    }
    sl_amounts_add_all(&a, &b, -1);
    assert_int_equal(sl_amounts_get(&a, 8), -8);
    sl_amounts_add(&a, 1, INT64_MAX);
    sl_amounts_add(&a, 1, INT64_MAX);
    assert_int_equal(sl_amounts_get(&a, 1), INT64_MAX);
    sl_amounts_add(&a, 2, INT64_MIN);
    assert_int_equal(sl_amounts_get(&a, 2), INT64_MIN);
    sl_amounts_fini(&a);
    sl_amounts_fini(&b);
    assert_int_equal(a.count, 0);
}

static void test_amounts_what_was_added_can_be_taken_away_again(void **state)
{
    (void)state;
    struct sl_amounts a = {0};
    struct sl_amounts huge = {0};
    sl_amounts_add(&huge, 1, INT64_MAX);
    sl_amounts_add(&a, 1, 7);
    sl_amounts_add_all(&a, &huge, 1);
    sl_amounts_add_all(&a, &huge, 1);
    sl_amounts_add_all(&a, &huge, -1);
    assert_int_equal(sl_amounts_get(&a, 1), INT64_MAX);
    sl_amounts_add_all(&a, &huge, -1);
    assert_int_equal(sl_amounts_get(&a, 1), 7);
    sl_amounts_fini(&a);
    sl_amounts_fini(&huge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amounts_what_is_not_listed_is_zero),
        cmocka_unit_test(test_amounts_sums_may_be_negative_and_are_told_within_range),
        cmocka_unit_test(test_amounts_what_was_added_can_be_taken_away_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
