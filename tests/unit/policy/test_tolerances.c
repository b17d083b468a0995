/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "policy/topology/tolerances.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_tolerances_tree_that_tolerates_nothing_has_the_base(void **state)
{
    (void)state;
    assert_int_equal(sl_tolerances_mask(5, 0), 5);
    assert_int_equal(sl_tolerances_mask(SL_NO_ID, 0), SL_NO_ID);
}

static void test_tolerances_link_stands_in_for_the_base_in_its_trees(void **state)
{
    (void)state;
    assert_int_equal(sl_tolerances_set(7, 3), SL_OK);
    assert_int_equal(sl_tolerances_mask(5, 7), 5); /* nothing is linked yet */
    assert_int_equal(sl_tolerances_link(5, 3, 0), SL_OK);
    assert_int_equal(sl_tolerances_mask(5, 7), 0);
    assert_int_equal(sl_tolerances_mask(6, 7), 6);
    assert_int_equal(sl_tolerances_mask(5, 8), 5);
    assert_int_equal(sl_tolerances_link(5, 3, SL_NO_ID), SL_OK);
    assert_int_equal(sl_tolerances_mask(5, 7), 5);
    assert_int_equal(sl_tolerances_set(7, 0), SL_OK);
}

static void test_tolerances_out_of_bounds_are_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_tolerances_set(SL_TOLERANCE_TREES_MAX, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_tolerances_set(1, SL_TOLERANCES_MAX), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_tolerances_link(SL_MASKS_MAX, 1, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_tolerances_link(1, 0, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_tolerances_link(1, SL_TOLERANCES_MAX, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_tolerances_link(1, 1, SL_MASKS_MAX), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_tolerances_mask(1, SL_TOLERANCE_TREES_MAX), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tolerances_tree_that_tolerates_nothing_has_the_base),
        cmocka_unit_test(test_tolerances_link_stands_in_for_the_base_in_its_trees),
        cmocka_unit_test(test_tolerances_out_of_bounds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
