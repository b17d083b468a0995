/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Arrays that grow to reach an index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"

static void assert_zeroed(const int64_t *list, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        assert_int_equal(list[i], 0);
    }
}

static void test_mem_reach_begins_with_the_first_size_and_zeroes(void **state)
{
    (void)state;
    uint32_t cap = 0;
    int64_t *list = sl_mem_reach(NULL, &cap, 4, 0, sizeof *list);
    assert_int_equal(cap, 4);
    assert_zeroed(list, 0, cap);
    sl_mem_free(list);
}

static void test_mem_reach_doubles_until_the_index_has_room(void **state)
{
    (void)state;
    uint32_t cap = 0;
    int64_t *list = sl_mem_reach(NULL, &cap, 4, 3, sizeof *list);
    assert_int_equal(cap, 4);
    list[3] = 7;
    list = sl_mem_reach(list, &cap, 4, 16, sizeof *list);
    assert_int_equal(cap, 32);
    assert_int_equal(list[3], 7);
    assert_zeroed(list, 4, cap);
    sl_mem_free(list);
}

static void test_mem_reach_leaves_what_has_room_where_it_is(void **state)
{
    (void)state;
    uint32_t cap = 0;
    int64_t *list = sl_mem_reach(NULL, &cap, 4, 0, sizeof *list);
    list[3] = 7;
    assert_ptr_equal(sl_mem_reach(list, &cap, 4, 3, sizeof *list), list);
    assert_int_equal(cap, 4);
    assert_int_equal(list[3], 7);
    sl_mem_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mem_reach_begins_with_the_first_size_and_zeroes),
        cmocka_unit_test(test_mem_reach_doubles_until_the_index_has_room),
        cmocka_unit_test(test_mem_reach_leaves_what_has_room_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
