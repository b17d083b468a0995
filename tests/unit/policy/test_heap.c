/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The heap against a list kept naively, under random operations; and the order of workloads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/queues/heap.h"
#include "kernel/base/order.h"
#include "policy/common/sort.h"

#define IDS 300u
#define BASE 500000u

static uint32_t random_state = 12345;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

static struct sl_order_key random_key(void)
{
    struct sl_order_key key = {(int32_t)draw(3) - 1, (int64_t)draw(4), draw(3), draw(3)};
    return key;
}

static sl_heap_id naive_home[IDS];

static sl_workload_id naive_first(sl_heap_id heap)
{
    sl_workload_id best = SL_NO_ID;
    for (uint32_t i = 0; i < IDS; i++) {
        if (naive_home[i] == heap && (best == SL_NO_ID || sl_order_before(BASE + i, best))) {
            best = BASE + i;
        }
    }
    return best;
}

static uint32_t naive_count(sl_heap_id heap)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < IDS; i++) {
        count += naive_home[i] == heap ? 1u : 0u;
    }
    return count;
}

static void assert_heaps_as_naive(const sl_heap_id *heaps, uint32_t count)
{
    for (uint32_t h = 0; h < count; h++) {
        assert_int_equal(sl_heap_first(heaps[h]), naive_first(heaps[h]));
        assert_int_equal(sl_heap_count(heaps[h]), naive_count(heaps[h]));
    }
    for (uint32_t i = 0; i < IDS; i++) {
        assert_int_equal(sl_heap_of(BASE + i), naive_home[i]);
        assert_true(sl_heap_agrees(BASE + i));
    }
}

static void test_heap_random_operations_agree_with_naive_list(void **state)
{
    (void)state;
    const sl_heap_id heaps[] = {7, SL_HEAP_OF_BACKOFF(7), SL_HEAP_OF_LANE(9)};
    for (uint32_t i = 0; i < IDS; i++) {
        naive_home[i] = SL_NO_ID;
    }
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t i = draw(IDS);
        uint32_t growing = (step / 2000) % 2;
        if (draw(10) < (growing ? 3u : 7u)) {
            sl_heap_remove(BASE + i);
            naive_home[i] = SL_NO_ID;
        } else if (naive_home[i] == SL_NO_ID) {
            sl_heap_id heap = heaps[draw(3)];
            sl_order_set(BASE + i, random_key());
            sl_heap_push(heap, BASE + i);
            naive_home[i] = heap;
        }
        if (step % 50 == 0) {
            assert_heaps_as_naive(heaps, 3);
        }
    }
    assert_heaps_as_naive(heaps, 3);
    for (uint32_t h = 0; h < 3; h++) {
        while (sl_heap_count(heaps[h]) != 0) {
            sl_workload_id first = naive_first(heaps[h]);
            assert_int_equal(sl_heap_first(heaps[h]), first);
            sl_heap_remove(first);
            naive_home[first - BASE] = SL_NO_ID;
        }
        assert_int_equal(sl_heap_first(heaps[h]), SL_NO_ID);
    }
}

static void test_heap_positions_name_every_member_once(void **state)
{
    (void)state;
    uint32_t seen[37] = {0};
    for (uint32_t i = 0; i < 37; i++) {
        sl_order_set(BASE + i, random_key());
        sl_heap_push(5, BASE + i);
    }
    for (uint32_t position = 1; position <= 37; position++) {
        seen[sl_heap_at(5, position) - BASE]++;
    }
    for (uint32_t i = 0; i < 37; i++) {
        assert_int_equal(seen[i], 1);
        sl_heap_remove(BASE + i);
    }
    assert_int_equal(sl_heap_at(5, 1), SL_NO_ID);
    assert_int_equal(sl_heap_at(5, 0), SL_NO_ID);
}

static void test_heap_push_twice_or_out_of_range_changes_nothing(void **state)
{
    (void)state;
    sl_heap_push(5, BASE);
    sl_heap_push(6, BASE);
    sl_heap_push(5, BASE);
    sl_heap_push(5, SL_WORKLOADS_MAX);
    sl_heap_push(SL_HEAPS_MAX, BASE + 1);
    assert_int_equal(sl_heap_count(5), 1);
    assert_int_equal(sl_heap_count(6), 0);
    assert_int_equal(sl_heap_of(BASE + 1), SL_NO_ID);
    sl_heap_remove(BASE + 1);
    sl_heap_remove(SL_WORKLOADS_MAX);
    sl_heap_remove(BASE);
    assert_int_equal(sl_heap_count(5), 0);
}

static void set(sl_workload_id id, int32_t priority, int64_t at, uint64_t high, uint64_t low)
{
    struct sl_order_key key = {priority, at, high, low};
    sl_order_set(id, key);
}

static void assert_before(sl_workload_id a, sl_workload_id b)
{
    assert_true(sl_order_before(a, b));
    assert_false(sl_order_before(b, a));
}

static void test_order_each_key_decides_only_when_those_before_it_tie(void **state)
{
    (void)state;
    set(1, 5, 900, 9, 9);
    set(2, -5, 100, 1, 1);
    assert_before(1, 2);
    set(2, 5, 901, 1, 1);
    assert_before(1, 2);
    set(2, 5, 900, 10, 1);
    assert_before(1, 2);
    set(2, 5, 900, 9, 10);
    assert_before(1, 2);
    set(2, 5, 900, 9, 8);
    assert_before(2, 1);
    set(2, 5, 900, 9, 9);
    assert_before(1, 2);
    assert_false(sl_order_before(1, 1));
}

static void test_order_extreme_priorities_do_not_overflow(void **state)
{
    (void)state;
    set(1, INT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX);
    set(2, INT32_MIN, INT64_MIN, 0, 0);
    assert_before(1, 2);
}

static void test_sort_ranks_first_then_order(void **state)
{
    (void)state;
    sl_sort_clear();
    for (uint32_t i = 0; i < 200; i++) {
        sl_order_set(BASE + i, random_key());
        sl_sort_add(BASE + i, draw(3), i);
    }
    sl_sort_run(true);
    assert_int_equal(sl_sort_count(), 200);
    uint32_t tags = 0;
    for (uint32_t i = 0; i < 200; i++) {
        assert_int_equal(sl_sort_at(i) - BASE, sl_sort_tag(i));
        tags += sl_sort_tag(i);
    }
    assert_int_equal(tags, 199 * 200 / 2);
    sl_sort_clear();
    for (uint32_t i = 0; i < 200; i++) {
        sl_sort_add(BASE + i, 0, 0);
    }
    sl_sort_run(true);
    for (uint32_t i = 1; i < 200; i++) {
        assert_before(sl_sort_at(i - 1), sl_sort_at(i));
    }
    assert_int_equal(sl_sort_at(200), SL_NO_ID);
    assert_int_equal(sl_sort_tag(200), 0);
}

/* What a page of a long queue costs: what is not asked for is not sorted, and not given. */
static void test_sort_is_sorted_as_far_as_it_is_reached(void **state)
{
    (void)state;
    sl_workload_id whole[200];
    for (int pass = 0; pass < 2; pass++) {
        sl_sort_clear();
        for (uint32_t i = 0; i < 200; i++) {
            if (pass == 0) {
                sl_order_set(BASE + i, random_key());
            }
            sl_sort_add(BASE + i, 0, i);
        }
        if (pass == 0) {
            sl_sort_run(true);
            for (uint32_t i = 0; i < 200; i++) {
                whole[i] = sl_sort_at(i);
            }
        }
    }
    sl_sort_begin(true);
    assert_int_equal(sl_sort_count(), 200);
    assert_int_equal(sl_sort_at(0), SL_NO_ID);
    for (uint32_t wanted = 7; wanted < 220; wanted += 50) {
        sl_sort_reach(wanted);
        sl_sort_reach(wanted - 5); /* is sorted already */
        uint32_t sorted = wanted < 200 ? wanted : 200;
        for (uint32_t i = 0; i < sorted; i++) {
            assert_int_equal(sl_sort_at(i), whole[i]);
            assert_int_equal(sl_sort_tag(i), whole[i] - BASE);
        }
        assert_int_equal(sl_sort_at(sorted), SL_NO_ID);
        assert_int_equal(sl_sort_tag(sorted), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap_random_operations_agree_with_naive_list),
        cmocka_unit_test(test_heap_positions_name_every_member_once),
        cmocka_unit_test(test_heap_push_twice_or_out_of_range_changes_nothing),
        cmocka_unit_test(test_order_each_key_decides_only_when_those_before_it_tie),
        cmocka_unit_test(test_order_extreme_priorities_do_not_overflow),
        cmocka_unit_test(test_sort_ranks_first_then_order),
        cmocka_unit_test(test_sort_is_sorted_as_far_as_it_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
