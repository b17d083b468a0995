/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The search for reduced counts: which are tried, in what order, and which are found. */
#include "fixture.h"

#include "policy/flavors/reducer.h"

static uint32_t probes;
static uint32_t probed[64]; /* of the first pod set */

static void add_pod_set(sl_workload_id id, uint32_t count, uint32_t min_count)
{
    assert_int_equal(sl_requests_add_pod_set(id, count), SL_OK);
    assert_int_equal(sl_requests_set_min_count(id, min_count), SL_OK);
}

/* As if there were room for that many pods. */
static bool search(sl_workload_id id, uint32_t capacity)
{
    probes = 0;
    sl_reducer_begin(id);
    while (sl_reducer_next()) {
        uint32_t total = 0;
        for (uint32_t i = 0; i < sl_requests_set_count(id); i++) {
            total += sl_flavors_counts[i];
        }
        assert_true(probes < 64);
        probed[probes] = sl_flavors_counts[0];
        probes++;
        sl_reducer_report(total <= capacity);
    }
    return sl_reducer_found();
}

static void test_reducer_pod_sets_give_their_proportion(void **state)
{
    (void)state;
    static const uint32_t expected[] = {4, 4, 3, 4};
    sl_workload_id id = fx_create();
    add_pod_set(id, 5, 3);
    add_pod_set(id, 5, 4);
    add_pod_set(id, 5, 1);
    add_pod_set(id, 5, 2);
    assert_false(search(id, 9));
    assert_true(search(id, 16));
    assert_int_equal(sl_flavors_counts[0], 4);
    assert_int_equal(sl_flavors_counts[1], 5);
    assert_int_equal(sl_flavors_counts[2], 3);
    assert_int_equal(sl_flavors_counts[3], 4);
    assert_true(search(id, 10));
    assert_int_equal(probes, 4);
    assert_memory_equal(probed, expected, sizeof expected);
    assert_int_equal(sl_flavors_counts[0], 3); /* not what was tried last */
    assert_int_equal(sl_flavors_counts[2], 1);
}

static void test_reducer_large_counts_take_few_probes(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    add_pod_set(id, 150000, 1);
    add_pod_set(id, 1, 1);
    assert_true(search(id, 149994));
    assert_int_equal(probes, 17);
    assert_int_equal(probed[0], 75000);
    assert_int_equal(probed[1], 112500);
    assert_int_equal(probed[2], 131250);
    assert_int_equal(sl_flavors_counts[0], 149993);
    assert_int_equal(sl_flavors_counts[1], 1);
}

static void test_reducer_full_counts_are_among_those_tried(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    add_pod_set(id, 3, 1);
    assert_true(search(id, 100));
    assert_int_equal(sl_flavors_counts[0], 3);
}

static void test_reducer_nothing_fits(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    add_pod_set(id, 10, 2);
    assert_false(search(id, 1));
    assert_int_equal(probed[probes - 1], 2);
}

static void test_reducer_without_least_counts_nothing_is_tried(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    add_pod_set(id, 10, 10);
    assert_false(search(id, 100));
    assert_int_equal(probes, 0);
    assert_false(search(fx_create(), 100));
    assert_int_equal(probes, 0);
}

static void test_reducer_largest_counts_do_not_overflow(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    for (uint32_t i = 0; i < SL_POD_SETS_MAX; i++) {
        add_pod_set(id, INT32_MAX, 0);
    }
    sl_reducer_begin(id);
    while (sl_reducer_next()) {
        sl_reducer_report(sl_flavors_counts[17] <= 5);
    }
    assert_true(sl_reducer_found());
    assert_int_equal(sl_flavors_counts[0], 5);
    assert_int_equal(sl_flavors_counts[17], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_reducer_pod_sets_give_their_proportion),
        FX_TEST(test_reducer_large_counts_take_few_probes),
        FX_TEST(test_reducer_full_counts_are_among_those_tried),
        FX_TEST(test_reducer_nothing_fits),
        FX_TEST(test_reducer_without_least_counts_nothing_is_tried),
        FX_TEST(test_reducer_largest_counts_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
