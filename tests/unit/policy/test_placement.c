/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Placement of fresh pod sets: which domains, and in what order. */
#include "place_world.h"

/* --- staying together ------------------------------------------------------------------------- */

static void test_placement_required_level_holds_all_pods(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    pw_ask(&d, 15);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 0, 10);
    pw_assert_row(0, 1, NODE + 1, 5);
    assert_int_equal(sl_topology_plan.workload, PLACED);
    assert_int_equal(sl_topology_plan.sets[0].within, RACK);
    assert_int_equal(sl_topology_plan.sets[0].count, 15);
    assert_int_equal(sl_topology_plan.sets[0].request_count, 1);
    assert_int_equal(sl_topology_plan.sets[0].requests[0].per_pod, 10);
}

static void test_placement_required_takes_the_tightest_domain(void **state)
{
    (void)state;
    pw_capacity(5, 3, 100);
    pw_capacity(6, 4, 100);
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    pw_ask(&d, 13);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 4, 10);
    pw_assert_row(0, 1, NODE + 5, 3);
}

static void test_placement_preferred_goes_up_until_it_fits(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 10);
    pw_ask(&d, 21);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 3);
    pw_assert_row(0, 2, NODE + 2, 1);
    assert_int_equal(sl_topology_plan.sets[0].within, SL_NO_ID);
}

static void test_placement_preferred_spreads_over_the_top_at_last(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_HOST, 10);
    pw_ask(&d, 45);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 5);
    pw_assert_row(0, 3, NODE + 3, 10);
    pw_assert_row(0, 4, NODE + 4, 5);
}

static void test_placement_preferred_beyond_everything_finds_none(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 10);
    pw_ask(&d, 81);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.fit, 80);
    assert_int_equal(sl_placement_failure.of, 81);
    assert_int_equal(sl_topology_plan.set_count, 0);
}

static void test_placement_unconstrained_takes_the_fullest_nodes(void **state)
{
    (void)state;
    pw_capacity(5, 3, 100);
    struct sl_topology_request d = pw_together(SL_TOGETHER_UNCONSTRAINED, SL_NO_ID, 10);
    pw_ask(&d, 12);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 0, 9);
    pw_assert_row(0, 1, NODE + 5, 3);
}

static void test_placement_unconstrained_takes_few_nodes_without_mixed_profile(void **state)
{
    (void)state;
    sl_settings.profile_mixed = false;
    pw_capacity(5, 3, 100);
    struct sl_topology_request d = pw_together(SL_TOGETHER_UNCONSTRAINED, SL_NO_ID, 10);
    pw_ask(&d, 12);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 0, 10);
    pw_assert_row(0, 1, NODE + 5, 2);
}

static void test_placement_implied_goes_anywhere(void **state)
{
    (void)state;
    pw_capacity(3, 2, 100);
    struct sl_topology_request d = pw_requests(10);
    pw_ask(&d, 2)->implied = true;
    assert_true(sl_placement_find());
    pw_assert_rows(0, 1);
    pw_assert_row(0, 0, NODE + 3, 2);
}

/* --- slices ----------------------------------------------------------------------------------- */

static void test_placement_slices_stay_whole_in_their_domain(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_BLOCK, 10);
    pw_slices(&d, AT_RACK, 12);
    pw_ask(&d, 24);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 4); /* one slice a rack: 20 pods do not hold two */
    pw_assert_row(0, 0, NODE + 0, 10);
    pw_assert_row(0, 1, NODE + 1, 2);
    pw_assert_row(0, 2, NODE + 2, 10);
    pw_assert_row(0, 3, NODE + 3, 2);
    assert_int_equal(sl_topology_plan.sets[0].layer_count, 1);
    assert_int_equal(sl_topology_plan.sets[0].layers[0].depth, 1);
}

static void test_placement_inner_slices_round_what_nodes_take(void **state)
{
    (void)state;
    pw_capacity(0, 3, 100);
    pw_capacity(1, 3, 100);
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    pw_slices(&d, AT_RACK, 4);
    pw_slices(&d, AT_HOST, 2);
    pw_ask(&d, 4);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 0, 2);
    pw_assert_row(0, 1, NODE + 1, 2);
}

static void test_placement_last_slice_may_be_short(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_BLOCK, 10);
    pw_slices(&d, AT_RACK, 12);
    pw_ask(&d, 15); /* nine have ended already */
    assert_true(sl_placement_find());
    pw_assert_rows(0, 3);
    pw_assert_row(0, 0, NODE + 0, 10);
    pw_assert_row(0, 1, NODE + 1, 2);
    pw_assert_row(0, 2, NODE + 2, 3);
    assert_int_equal(sl_topology_plan.sets[0].within, BLOCK);
    assert_int_equal(sl_topology_plan.sets[0].layer_count, 0);
    sl_placement_question.sets[0].count = 25; /* no room for a third slice */
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
}

static void test_placement_leader_stays_where_the_short_slice_ends(void **state)
{
    (void)state;
    struct sl_topology_request leader = pw_together(SL_TOGETHER_REQUIRED, AT_BLOCK, 95);
    struct sl_topology_request workers = pw_together(SL_TOGETHER_REQUIRED, AT_BLOCK, 5);
    pw_slices(&workers, AT_BLOCK, 4);
    leader.rank_group = 1;
    workers.rank_group = 1;
    for (sl_site_id site = 0; site < NODES; site++) {
        pw_capacity(site, site == 3 ? 10 : 1, site == 3 ? 100 : 5);
    }
    pw_ask(&leader, 1); /* fits on node 3 alone, with one worker beside */
    pw_ask(&workers, 3);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 1);
    pw_assert_row(0, 0, NODE + 3, 1);
    pw_assert_rows(1, 3);
}

static void test_placement_slices_alone_go_anywhere(void **state)
{
    (void)state;
    for (sl_site_id site = 0; site < NODES; site++) {
        pw_capacity(site, 2, 100);
    }
    struct sl_topology_request d = pw_requests(10);
    pw_slices(&d, AT_RACK, 4);
    pw_ask(&d, 12);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 6); /* more than a block holds */
    assert_int_equal(sl_topology_plan.sets[0].within, SL_NO_ID);
}

/* --- several sets ----------------------------------------------------------------------------- */

static void test_placement_leader_stands_with_its_workers(void **state)
{
    (void)state;
    struct sl_topology_request leader = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 100);
    struct sl_topology_request workers = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    leader.rank_group = 1;
    workers.rank_group = 1;
    pw_ask(&leader, 1);
    pw_ask(&workers, 10);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 1);
    pw_assert_rows(1, 1);
    pw_assert_row(0, 0, NODE + 0, 1);
    pw_assert_row(1, 0, NODE + 1, 10);
    assert_int_equal(sl_topology_plan.sets[0].within, RACK);
}

static void test_placement_leader_leaves_too_little_for_its_workers(void **state)
{
    (void)state;
    struct sl_topology_request leader = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 100);
    struct sl_topology_request workers = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    leader.rank_group = 1;
    workers.rank_group = 1;
    pw_ask(&leader, 1);
    pw_ask(&workers, 11);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.pod_set, 1);
    assert_int_equal(sl_placement_failure.fit, 20); /* without the leader */
    assert_int_equal(sl_placement_failure.of, 11);
}

static void test_placement_leader_beside_workers_that_are_spread(void **state)
{
    (void)state;
    struct sl_topology_request leader = pw_together(SL_TOGETHER_UNCONSTRAINED, SL_NO_ID, 60);
    struct sl_topology_request workers = pw_together(SL_TOGETHER_UNCONSTRAINED, SL_NO_ID, 50);
    leader.rank_group = 1;
    workers.rank_group = 1;
    pw_ask(&workers, 14);
    pw_ask(&leader, 1);
    assert_true(sl_placement_find()); /* two a node, but none beside the leader */
    pw_assert_rows(0, 7);
    pw_assert_rows(1, 1);
    pw_assert_row(1, 0, NODE + 0, 1);
    pw_assert_row(0, 0, NODE + 1, 2);
    sl_placement_question.sets[0].count = 15;
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
}

static void test_placement_leader_that_stands_nowhere(void **state)
{
    (void)state;
    struct sl_topology_request leader = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 101);
    struct sl_topology_request workers = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 50);
    leader.rank_group = 1;
    workers.rank_group = 1;
    pw_ask(&leader, 1);
    pw_ask(&workers, 2);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.fit, 0);
}

static void test_placement_earlier_sets_take_room_from_later_ones(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_HOST, 10);
    pw_ask(&d, 8);
    pw_ask(&d, 3);
    pw_ask(&d, 2);
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 0, 8);
    pw_assert_row(1, 0, NODE + 1, 3);
    pw_assert_row(2, 0, NODE + 0, 2); /* just so much is left there */
    assert_true(sl_placement_find()); /* and nothing is left behind */
    pw_assert_row(2, 0, NODE + 0, 2);
}

static void open_other_tree(void)
{
    const struct sl_tree_levels host = {1, {AT_HOST}};
    assert_int_equal(sl_trees_configure(OTHER_TREE, host, true), SL_OK);
    assert_int_equal(sl_trees_open(300, OTHER_TREE, SL_NO_ID, SL_NO_ID, 0), SL_OK);
}

static void close_other_tree(void)
{
    assert_int_equal(sl_trees_close(300), SL_OK);
    assert_int_equal(sl_trees_forget(OTHER_TREE), SL_OK);
    sl_trees_set_rank(TREE, 0);
}

static void test_placement_trees_that_share_sites_share_their_rooms(void **state)
{
    (void)state;
    open_other_tree();
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_HOST, 10);
    pw_ask(&d, 8);
    pw_ask(&d, 3)->tree = OTHER_TREE;
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.tree, OTHER_TREE);
    assert_int_equal(sl_placement_failure.fit, 2);
    /* the other way round both fit */
    sl_trees_set_rank(TREE, 2);
    assert_int_equal(sl_trees_rank(TREE), 2);
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 1, 8);
    pw_assert_row(1, 0, 300, 3);
    close_other_tree();
}

static void test_placement_trees_are_apart_when_overlapping_is_off(void **state)
{
    (void)state;
    sl_settings.overlapping_flavors = false;
    open_other_tree();
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_HOST, 10);
    pw_ask(&d, 8);
    pw_ask(&d, 3)->tree = OTHER_TREE;
    assert_true(sl_placement_find());
    assert_int_equal(sl_topology_check(), SL_REFUSED_CAPACITY); /* the kernel sees to it */
    close_other_tree();
}

/* --- rooms and masks -------------------------------------------------------------------------- */

static void test_placement_assumed_rooms_are_taken_unless_the_cluster_is_empty(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_HOST, 10);
    pw_ask(&d, 10);
    for (sl_site_id site = 0; site < NODES; site++) {
        assert_true(sl_assumed_add(site, CPU, site == 6 ? 0 : 1));
    }
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 6, 10);
    assert_true(sl_assumed_add(6, CPU, 1));
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    sl_placement_question.empty = true;
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 0, 10);
}

static void test_placement_masked_nodes_are_left_out(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    d.mask = 2;
    for (sl_site_id site = 0; site < NODES; site++) {
        sl_verdict verdict = site >= 6 ? SL_VERDICT_MAY : SL_VERDICT_AFFINITY;
        assert_int_equal(sl_masks_set(2, site, verdict), SL_OK);
    }
    pw_ask(&d, 20);
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 6, 10);
    pw_assert_row(0, 1, NODE + 7, 10);
    assert_int_equal(sl_masks_clear(2), SL_OK);
}

static void test_placement_preferred_nodes_come_first_when_asked(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_UNCONSTRAINED, SL_NO_ID, 10);
    d.mask = 2;
    pw_capacity(1, 4, 100);
    assert_int_equal(sl_masks_prefer(2, 5, 10), SL_OK);
    assert_int_equal(sl_masks_prefer(2, 3, 1), SL_OK);
    pw_ask(&d, 4);
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 1, 4);
    sl_settings.prefer_affinity = true;
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 5, 4);
    sl_placement_question.sets[0].count = 14;
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 3, 4);
    pw_assert_row(0, 1, NODE + 5, 10);
    assert_int_equal(sl_masks_clear(2), SL_OK);
}

static void test_placement_required_takes_the_most_preferred_that_fits(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_HOST, 10);
    d.mask = 2;
    sl_settings.prefer_affinity = true;
    pw_capacity(5, 3, 100);
    assert_int_equal(sl_masks_prefer(2, 5, 10), SL_OK);
    assert_int_equal(sl_masks_prefer(2, 6, 1), SL_OK);
    assert_int_equal(sl_masks_prefer(2, 7, 1), SL_OK);
    pw_capacity(7, 9, 100);
    pw_ask(&d, 4);
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 7, 4);
    assert_int_equal(sl_masks_clear(2), SL_OK);
}

static void test_placement_tree_above_nodes_asks_no_mask(void **state)
{
    (void)state;
    const struct sl_tree_levels rack = {1, {AT_RACK}};
    assert_int_equal(sl_trees_configure(OTHER_TREE, rack, false), SL_OK);
    assert_int_equal(sl_trees_open(300, OTHER_TREE, SL_NO_ID, SL_NO_ID, 50), SL_OK);
    pw_capacity(50, 20, 200);
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    d.mask = 2;
    assert_int_equal(sl_masks_set(2, 50, SL_VERDICT_SELECTOR), SL_OK);
    pw_ask(&d, 20)->tree = OTHER_TREE;
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, 300, 20);
    pw_capacity(50, 0, 0);
    assert_int_equal(sl_trees_close(300), SL_OK);
    assert_int_equal(sl_trees_forget(OTHER_TREE), SL_OK);
    assert_int_equal(sl_masks_clear(2), SL_OK);
}

static void test_placement_pods_that_take_nothing_still_take_a_place(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_HOST, 0);
    pw_ask(&d, 11);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.fit, 10);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pw_open, pw_close)
    const struct CMUnitTest tests[] = {
        TEST(test_placement_required_level_holds_all_pods),
        TEST(test_placement_required_takes_the_tightest_domain),
        TEST(test_placement_preferred_goes_up_until_it_fits),
        TEST(test_placement_preferred_spreads_over_the_top_at_last),
        TEST(test_placement_preferred_beyond_everything_finds_none),
        TEST(test_placement_unconstrained_takes_the_fullest_nodes),
        TEST(test_placement_unconstrained_takes_few_nodes_without_mixed_profile),
        TEST(test_placement_implied_goes_anywhere),
        TEST(test_placement_slices_stay_whole_in_their_domain),
        TEST(test_placement_inner_slices_round_what_nodes_take),
        TEST(test_placement_last_slice_may_be_short),
        TEST(test_placement_leader_stays_where_the_short_slice_ends),
        TEST(test_placement_slices_alone_go_anywhere),
        TEST(test_placement_leader_stands_with_its_workers),
        TEST(test_placement_leader_leaves_too_little_for_its_workers),
        TEST(test_placement_leader_beside_workers_that_are_spread),
        TEST(test_placement_leader_that_stands_nowhere),
        TEST(test_placement_earlier_sets_take_room_from_later_ones),
        TEST(test_placement_trees_that_share_sites_share_their_rooms),
        TEST(test_placement_trees_are_apart_when_overlapping_is_off),
        TEST(test_placement_assumed_rooms_are_taken_unless_the_cluster_is_empty),
        TEST(test_placement_masked_nodes_are_left_out),
        TEST(test_placement_preferred_nodes_come_first_when_asked),
        TEST(test_placement_required_takes_the_most_preferred_that_fits),
        TEST(test_placement_tree_above_nodes_asks_no_mask),
        TEST(test_placement_pods_that_take_nothing_still_take_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
