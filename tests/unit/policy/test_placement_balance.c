/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Balanced placement: as evenly as can be, on as few domains as will do. */
#include "place_world.h"

static int open_balanced(void **state)
{
    (void)pw_open(state);
    sl_settings.balanced_placement = true;
    return 0;
}

static void test_balanced_spreads_pods_evenly(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 10);
    pw_ask(&d, 15);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 0, 8);
    pw_assert_row(0, 1, NODE + 1, 7);
}

static void test_balanced_is_not_for_required_pods(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    pw_ask(&d, 15);
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 0, 10);
    pw_assert_row(0, 1, NODE + 1, 5);
}

static void test_balanced_prefers_the_higher_threshold(void **state)
{
    (void)state;
    pw_capacity(0, 9, 100); /* the first block's best pair takes 9 and 3 at worst */
    pw_capacity(1, 3, 100);
    pw_capacity(2, 3, 100);
    pw_capacity(3, 3, 100);
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 10);
    pw_ask(&d, 12);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 4, 6);
    pw_assert_row(0, 1, NODE + 5, 6);
}

static void test_balanced_spares_the_larger_domain(void **state)
{
    (void)state;
    const int64_t cpu[] = {100, 100, 100, 100, 100, 100, 40, 60};
    for (sl_site_id site = 0; site < NODES; site++) {
        pw_capacity(site, 10, cpu[site]);
    }
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_HOST, 10);
    pw_ask(&d, 16);
    assert_true(sl_placement_find()); /* in one rack; of two like it, the first */
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 0, 8);
    pw_assert_row(0, 1, NODE + 1, 8);
    sl_placement_question.sets[0].count = 10;
    assert_true(sl_placement_find());
    pw_assert_rows(0, 1);
    pw_assert_row(0, 0, NODE + 0, 10);
}

static void test_balanced_leader_has_room_beside_its_share(void **state)
{
    (void)state;
    struct sl_topology_request leader = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 10);
    struct sl_topology_request workers = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 10);
    leader.rank_group = 1;
    workers.rank_group = 1;
    pw_ask(&leader, 1);
    pw_ask(&workers, 14);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 1);
    pw_assert_rows(1, 2);
    pw_assert_row(0, 0, NODE + 0, 1);
    pw_assert_row(1, 0, NODE + 0, 7);
    pw_assert_row(1, 1, NODE + 1, 7);
}

static void test_balanced_slices_stay_whole(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_BLOCK, 10);
    pw_slices(&d, AT_RACK, 4);
    pw_ask(&d, 24);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 4);
    uint32_t first = sl_topology_plan.rows[0].count + sl_topology_plan.rows[1].count;
    assert_int_equal(first, 12); /* three slices a rack */
}

static void test_balanced_falls_back_when_no_siblings_take_all(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 10);
    pw_ask(&d, 45); /* more than a block */
    assert_true(sl_placement_find());
    pw_assert_rows(0, 5);
    pw_assert_row(0, 0, NODE + 0, 10);
    pw_assert_row(0, 4, NODE + 4, 5);
    sl_placement_question.sets[0].count = 81;
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
}

static void test_balanced_leaves_no_trace_for_the_next_question(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 10);
    pw_ask(&d, 15);
    assert_true(sl_placement_find());
    sl_settings.balanced_placement = false;
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 0, 10);
    sl_settings.balanced_placement = true;
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 0, 8);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_balanced, pw_close)
    const struct CMUnitTest tests[] = {
        TEST(test_balanced_spreads_pods_evenly),
        TEST(test_balanced_is_not_for_required_pods),
        TEST(test_balanced_prefers_the_higher_threshold),
        TEST(test_balanced_spares_the_larger_domain),
        TEST(test_balanced_leader_has_room_beside_its_share),
        TEST(test_balanced_slices_stay_whole),
        TEST(test_balanced_falls_back_when_no_siblings_take_all),
        TEST(test_balanced_leaves_no_trace_for_the_next_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
