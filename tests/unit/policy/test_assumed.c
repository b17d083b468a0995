/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Assumed rooms: trials that nest, and leave nothing behind. */
#include "place_world.h"

static void test_assumed_room_is_what_would_be_free(void **state)
{
    (void)state;
    assert_int_equal(sl_assumed_capacity(3, CPU), ROOM_CPU);
    assert_true(sl_assumed_add(3, CPU, 30));
    assert_int_equal(sl_assumed_capacity(3, CPU), ROOM_CPU - 30);
    assert_true(sl_assumed_add(3, CPU, -50));
    assert_int_equal(sl_assumed_capacity(3, CPU), ROOM_CPU + 20);
    assert_int_equal(sl_assumed_capacity(2, CPU), ROOM_CPU);
    assert_int_equal(sl_assumed_capacity(SL_SITES_MAX, CPU), 0);
    assert_int_equal(sl_assumed_capacity(3, SL_MEASURES_MAX), 0);
    assert_true(sl_assumed_add(3, CPU, 500)); /* it may be less than nothing */
    assert_int_equal(sl_assumed_capacity(3, CPU), ROOM_CPU + 20 - 500);
}

static void test_assumed_back_undoes_to_the_mark(void **state)
{
    (void)state;
    uint32_t outer = sl_assumed_mark();
    assert_true(sl_assumed_add(1, CPU, 10));
    uint32_t inner = sl_assumed_mark();
    assert_true(sl_assumed_add(1, CPU, 20));
    assert_true(sl_assumed_add(2, SL_MEASURE_PODS, 1));
    sl_assumed_back(inner);
    assert_int_equal(sl_assumed_capacity(1, CPU), ROOM_CPU - 10);
    assert_int_equal(sl_assumed_capacity(2, SL_MEASURE_PODS), ROOM_PODS);
    sl_assumed_back(outer);
    assert_int_equal(sl_assumed_capacity(1, CPU), ROOM_CPU);
    assert_int_equal(sl_assumed[CPU * SL_SITES_MAX + 1], 0);
    sl_assumed_back(1000); /* nothing beyond the end */
    assert_int_equal(sl_assumed_mark(), outer);
}

static void test_assumed_out_of_bounds_is_not_noted(void **state)
{
    (void)state;
    uint32_t mark = sl_assumed_mark();
    assert_false(sl_assumed_add(SL_SITES_MAX, CPU, 1));
    assert_false(sl_assumed_add(0, SL_MEASURES_MAX, 1));
    assert_false(sl_assumed_add(0, CPU, SL_AMOUNT_MAX + 1));
    assert_false(sl_assumed_add(0, CPU, -SL_AMOUNT_MAX - 1));
    assert_true(sl_assumed_add(0, CPU, SL_AMOUNT_MAX));
    assert_true(sl_assumed_add(0, CPU, SL_AMOUNT_MAX));
    assert_false(sl_assumed_add(0, CPU, 1)); /* the sum must stay exact */
    sl_assumed_back(mark);
    assert_int_equal(sl_assumed_capacity(0, CPU), ROOM_CPU);
}

static void test_assumed_notes_so_much_and_no_more(void **state)
{
    (void)state;
    uint32_t mark = sl_assumed_mark();
    for (uint32_t i = mark; i < SL_ASSUMED_MAX; i++) {
        if (!sl_assumed_add(i % NODES, CPU, 1)) {
            fail();
        }
    }
    assert_false(sl_assumed_add(0, CPU, 1));
    sl_assumed_back(mark);
    assert_int_equal(sl_assumed_capacity(0, CPU), ROOM_CPU);
}

static void test_assumed_free_of_nobody_changes_nothing(void **state)
{
    (void)state;
    uint32_t mark = sl_assumed_mark();
    assert_true(sl_assumed_free(PLACED));
    assert_true(sl_assumed_free(SL_NO_ID));
    assert_int_equal(sl_assumed_mark(), mark);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pw_open, pw_close)
    const struct CMUnitTest tests[] = {
        TEST(test_assumed_room_is_what_would_be_free),
        TEST(test_assumed_back_undoes_to_the_mark),
        TEST(test_assumed_out_of_bounds_is_not_noted),
        TEST(test_assumed_notes_so_much_and_no_more),
        TEST(test_assumed_free_of_nobody_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
