/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Names, ids and timers. */
#include "engine/journal/intern.h"
#include "engine/records/timers.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_intern_name_keeps_its_id(void **state)
{
    (void)state;
    struct sl_intern *t = sl_intern_new();
    bool is_new;
    uint32_t a = sl_intern_add(t, SL_INTERN_FLAVOR, "a", &is_new);
    assert_true(is_new);
    assert_int_equal(sl_intern_add(t, SL_INTERN_FLAVOR, "b", &is_new), a + 1);
    assert_int_equal(sl_intern_add(t, SL_INTERN_FLAVOR, "a", &is_new), a);
    assert_false(is_new);
    assert_int_equal(sl_intern_find(t, SL_INTERN_FLAVOR, "a"), a);
    assert_int_equal(sl_intern_find(t, SL_INTERN_RESOURCE, "a"), SL_NO_ID); /* classes are apart */
    assert_string_equal(sl_intern_name(t, SL_INTERN_FLAVOR, a), "a");
    assert_int_equal(sl_intern_count(t, SL_INTERN_FLAVOR), 2);
    sl_intern_free(t);
}

static void test_intern_dropped_id_is_given_out_again(void **state)
{
    (void)state;
    struct sl_intern *t = sl_intern_new();
    bool is_new;
    uint32_t a = sl_intern_add(t, SL_INTERN_WORKLOAD, "ns/a", &is_new);
    (void)sl_intern_add(t, SL_INTERN_WORKLOAD, "ns/b", &is_new);
    sl_intern_drop(t, SL_INTERN_WORKLOAD, a);
    assert_null(sl_intern_name(t, SL_INTERN_WORKLOAD, a));
    assert_int_equal(sl_intern_find(t, SL_INTERN_WORKLOAD, "ns/a"), SL_NO_ID);
    assert_int_equal(sl_intern_add(t, SL_INTERN_WORKLOAD, "ns/c", &is_new), a);
    sl_intern_free(t);
}

static void test_intern_full_class_gives_no_id(void **state)
{
    (void)state;
    struct sl_intern *t = sl_intern_new();
    bool is_new;
    char name[16];
    for (uint32_t i = 0; i < sl_intern_capacity(SL_INTERN_CHECK); i++) {
        (void)snprintf(name, sizeof name, "c%u", i);
        assert_int_equal(sl_intern_add(t, SL_INTERN_CHECK, name, &is_new), i);
    }
    assert_int_equal(sl_intern_add(t, SL_INTERN_CHECK, "one more", &is_new), SL_NO_ID);
    assert_false(is_new);
    sl_intern_free(t);
}

static void test_timers_come_up_in_order_of_time_then_arming(void **state)
{
    (void)state;
    struct sl_timers t = {0};
    struct sl_timer out;
    static const int64_t due[] = {50, 10, 30, 10, 40, 20, 10};
    for (uint32_t i = 0; i < 7; i++) {
        sl_timers_arm(&t, due[i], SL_TIMER_BACKOFF, i, 1);
    }
    static const uint32_t order[] = {1, 3, 6, 5, 2, 4, 0};
    assert_int_equal(sl_timers_due_ms(&t), 10);
    assert_false(sl_timers_take(&t, 9, &out));
    for (unsigned i = 0; i < 7; i++) {
        assert_true(sl_timers_take(&t, 50, &out));
        assert_int_equal(out.id, order[i]);
    }
    assert_false(sl_timers_take(&t, INT64_MAX, &out));
    assert_int_equal(sl_timers_due_ms(&t), INT64_MAX);
    sl_timers_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intern_name_keeps_its_id),
        cmocka_unit_test(test_intern_dropped_id_is_given_out_again),
        cmocka_unit_test(test_intern_full_class_gives_no_id),
        cmocka_unit_test(test_timers_come_up_in_order_of_time_then_arming),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
