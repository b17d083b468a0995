/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which pod goes to which domain: ranks at their bounds, and that no domain gets more than its count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/verdicts/pod_places.h"

#define NONE SL_NO_ID
#define NO_RANK SL_POD_NO_RANK

static const struct sl_pod_labels plain = {.index = 4, .first = 1, .count = 4};

static int64_t rank_with(int64_t index, int64_t first, int64_t count)
{
    return sl_pod_places_rank(
        (struct sl_pod_labels){.index = index, .first = first, .count = count});
}

static void test_pod_places_rank_counts_from_the_first(void **state)
{
    (void)state;
    assert_true(sl_pod_places_rank(plain) == 3);
    assert_true(rank_with(1, 1, 4) == 0);
    assert_true(rank_with(0, 1, 4) == NO_RANK);
    assert_true(rank_with(5, 1, 4) == NO_RANK);
    assert_true(rank_with(0, 0, 0) == NO_RANK);
}

static void test_pod_places_rank_out_of_bounds_is_none(void **state)
{
    (void)state;
    assert_true(rank_with(SL_POD_NO_RANK, 0, 4) == NO_RANK);
    assert_true(rank_with(INT64_MAX, INT64_MAX - 1, 4) == NO_RANK);
    assert_true(rank_with(0, INT64_MIN, 4) == NO_RANK);
    assert_true(rank_with(0, 0, INT64_MAX) == NO_RANK);
    assert_true(rank_with(0, 0, -1) == NO_RANK);
    assert_true(rank_with(SL_POD_INDEX_MAX, SL_POD_INDEX_MAX, SL_POD_INDEX_MAX) == 0);
}

static void test_pod_places_rank_of_sub_groups_lines_them_up(void **state)
{
    (void)state;
    struct sl_pod_labels l = {.index = 1, .count = 6, .grouped = true, .groups = 3, .group = 2};
    assert_true(sl_pod_places_rank(l) == 5);
    l.index = 2; /* two pods a group */
    assert_true(sl_pod_places_rank(l) == NO_RANK);
    l.index = 0;
    l.group = 3;
    assert_true(sl_pod_places_rank(l) == NO_RANK);
    l.group = -1;
    assert_true(sl_pod_places_rank(l) == NO_RANK);
    l.group = l.groups = 0;
    assert_true(sl_pod_places_rank(l) == NO_RANK);
    l.groups = INT64_MAX; /* more groups than pods: none has a pod */
    assert_true(sl_pod_places_rank(l) == NO_RANK);
}

static void test_pod_places_the_smaller_pod_set_of_a_group_leads(void **state)
{
    (void)state;
    assert_true(sl_pod_places_behind(4, 1, false));
    assert_false(sl_pod_places_behind(1, 4, true));
    assert_true(sl_pod_places_behind(2, 2, true));
    assert_false(sl_pod_places_behind(2, 2, false));
}

/* Three domains: two pods, one, one. */
static void assert_places(const struct sl_pod_at *pods, uint32_t n, const uint32_t *expected)
{
    const uint32_t counts[3] = {2, 1, 1};
    uint32_t scratch[4], rows[8];
    sl_pod_places_find(pods, n, counts, 3, scratch, 4, rows);
    for (uint32_t i = 0; i < n; i++) {
        if (rows[i] != expected[i]) {
            fail_msg("pod %u goes to %u, expected %u", i, rows[i], expected[i]);
        }
    }
}
#define PODS(...) ((const struct sl_pod_at[]){__VA_ARGS__})
#define ROWS(...) ((const uint32_t[]){__VA_ARGS__})

static void test_pod_places_by_rank(void **state)
{
    (void)state;
    assert_places(PODS({3, true, NONE}, {0, true, NONE}, {2, true, NONE}, {1, false, 0}), 4,
                  ROWS(2, 0, 1, NONE));
}

static void test_pod_places_rank_twice_or_without_place_is_in_order(void **state)
{
    (void)state;
    assert_places(PODS({3, true, NONE}, {3, true, NONE}), 2, ROWS(0, 0));
    assert_places(PODS({3, true, NONE}, {4, true, NONE}), 2, ROWS(0, 0));
    assert_places(PODS({3, true, NONE}, {NO_RANK, true, NONE}), 2, ROWS(0, 0));
    assert_places(PODS({3, true, NONE}, {0, false, 1}), 2, ROWS(0, NONE));
}

static void test_pod_places_in_order_fill_what_is_left(void **state)
{
    (void)state;
    assert_places(PODS({NO_RANK, true, NONE}, {NO_RANK, false, 0}, {NO_RANK, true, NONE},
                       {NO_RANK, true, NONE}, {NO_RANK, true, NONE}),
                  5, ROWS(0, NONE, 1, 2, NONE));
    assert_places(PODS({NO_RANK, false, NONE}, {NO_RANK, true, NONE}), 2, ROWS(NONE, 0));
    /* More in a domain than it has places: it gets none. */
    assert_places(PODS({NO_RANK, false, 1}, {NO_RANK, false, 1}, {NO_RANK, true, NONE},
                       {NO_RANK, true, NONE}, {NO_RANK, true, NONE}),
                  5, ROWS(NONE, NONE, 0, 0, 2));
}

static void test_pod_places_of_nothing(void **state)
{
    (void)state;
    uint32_t scratch[1], rows[1] = {7};
    struct sl_pod_at pod = {0, true, NONE};
    sl_pod_places_find(&pod, 0, rows, 0, scratch, 0, rows);
    assert_int_equal(rows[0], 7);
    sl_pod_places_find(&pod, 1, scratch, 0, scratch, 0, rows);
    assert_int_equal(rows[0], NONE);
}

static void test_pod_places_without_scratch_for_ranks_are_in_order(void **state)
{
    (void)state;
    const uint32_t counts[2] = {UINT32_MAX, 1};
    const struct sl_pod_at pods[1] = {{2, true, NONE}};
    uint32_t scratch[2], rows[1];
    sl_pod_places_find(pods, 1, counts, 2, scratch, 2, rows);
    assert_int_equal(rows[0], 0);
}

/* A pod of an admitted workload on one of its nodes, which takes it. */
static const struct sl_pinned_sight at_home = {
    .known = true, .placed = true, .assigned = true, .node_known = true, .asks = true};
/* One whose workload is to be admitted yet. */
static const struct sl_pinned_sight stray = {.known = true, .node_known = true, .asks = true};

static void test_pod_places_pod_is_lost_off_its_places_or_where_none_is_taken(void **state)
{
    (void)state;
    struct sl_pinned_sight s = at_home;
    assert_false(sl_pod_places_is_lost(s));
    s.closed = true;
    assert_true(sl_pod_places_is_lost(s));
    s = at_home;
    s.assigned = false;
    assert_true(sl_pod_places_is_lost(s));
    s.node_known = s.asks = false; /* does not count for one that has its places */
    assert_true(sl_pod_places_is_lost(s));
    s.known = false;
    assert_false(sl_pod_places_is_lost(s));
}

static void
test_pod_places_pod_without_an_admission_is_lost_unless_something_explains_it(void **state)
{
    (void)state;
    struct sl_pinned_sight s = stray;
    assert_true(sl_pod_places_is_lost(s));
    s.asks = false;
    assert_false(sl_pod_places_is_lost(s));
    s = stray;
    s.gated = true;
    assert_false(sl_pod_places_is_lost(s));
    s = stray;
    s.decided = true;
    assert_false(sl_pod_places_is_lost(s));
    s = stray;
    s.node_known = false;
    assert_false(sl_pod_places_is_lost(s));
    s = stray;
    s.known = false;
    assert_false(sl_pod_places_is_lost(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pod_places_rank_counts_from_the_first),
        cmocka_unit_test(test_pod_places_rank_out_of_bounds_is_none),
        cmocka_unit_test(test_pod_places_rank_of_sub_groups_lines_them_up),
        cmocka_unit_test(test_pod_places_the_smaller_pod_set_of_a_group_leads),
        cmocka_unit_test(test_pod_places_by_rank),
        cmocka_unit_test(test_pod_places_pod_is_lost_off_its_places_or_where_none_is_taken),
        cmocka_unit_test(
            test_pod_places_pod_without_an_admission_is_lost_unless_something_explains_it),
        cmocka_unit_test(test_pod_places_rank_twice_or_without_place_is_in_order),
        cmocka_unit_test(test_pod_places_in_order_fill_what_is_left),
        cmocka_unit_test(test_pod_places_of_nothing),
        cmocka_unit_test(test_pod_places_without_scratch_for_ranks_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
