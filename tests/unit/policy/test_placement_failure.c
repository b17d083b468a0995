/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Why there is no place: causes, and figures. */
#include "place_world.h"

static void test_placement_failure_unknown_tree(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    pw_ask(&d, 1)->tree = OTHER_TREE;
    pw_assert_miss(SL_PLACEMENT_NO_TREE);
    assert_int_equal(sl_placement_failure.tree, OTHER_TREE);
    sl_placement_question.sets[0].tree = SL_NO_ID;
    pw_assert_miss(SL_PLACEMENT_NO_TREE);
}

static void test_placement_failure_level_that_the_tree_lacks(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_NOWHERE, 10);
    pw_ask(&d, 1);
    pw_assert_miss(SL_PLACEMENT_NO_LEVEL);
}

static void test_placement_failure_no_level_asked_for(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_requests(10);
    pw_ask(&d, 1);
    pw_assert_miss(SL_PLACEMENT_NO_LEVEL);
}

static void test_placement_failure_tree_without_nodes(void **state)
{
    (void)state;
    const struct sl_tree_levels host = {1, {AT_HOST}};
    assert_int_equal(sl_trees_configure(OTHER_TREE, host, true), SL_OK);
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_HOST, 10);
    pw_ask(&d, 1)->tree = OTHER_TREE;
    pw_assert_miss(SL_PLACEMENT_NO_DOMAINS);
    assert_int_equal(sl_trees_forget(OTHER_TREE), SL_OK);
}

static enum sl_placement_miss miss_of(struct sl_topology_request d, uint32_t count)
{
    sl_requests_clear(PLACED);
    sl_placement_question.set_count = 0;
    pw_ask(&d, count);
    return sl_placement_find() ? SL_PLACEMENT_OK : sl_placement_failure.miss;
}

static void test_placement_failure_slices_that_make_no_sense(void **state)
{
    (void)state;
    const struct sl_topology_request in_rack = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    struct sl_topology_request d = in_rack;
    pw_slices(&d, AT_NOWHERE, 2);
    assert_int_equal(miss_of(d, 4), SL_PLACEMENT_NO_SLICE_LEVEL);
    d = in_rack;
    pw_slices(&d, AT_BLOCK, 2); /* above the pod set */
    assert_int_equal(miss_of(d, 4), SL_PLACEMENT_SLICE_ABOVE);
    d = in_rack;
    pw_slices(&d, AT_RACK, 0); /* without a size */
    assert_int_equal(miss_of(d, 4), SL_PLACEMENT_SLICE_SIZE);
    d = in_rack;
    pw_slices(&d, AT_RACK, 4);
    pw_slices(&d, AT_HOST, 3); /* does not divide the outer one */
    assert_int_equal(miss_of(d, 4), SL_PLACEMENT_SLICE_SIZE);
    d.layers[1].size = 2;
    assert_int_equal(miss_of(d, INT32_MAX), SL_PLACEMENT_SLICE_SIZE); /* beyond all counting */
    assert_int_equal(miss_of(d, 8), SL_PLACEMENT_OK);
    d.layers[1].level = AT_RACK; /* not below the outer one */
    assert_int_equal(miss_of(d, 4), SL_PLACEMENT_SLICE_ABOVE);
    d.layers[1].level = AT_NOWHERE;
    assert_int_equal(miss_of(d, 4), SL_PLACEMENT_NO_SLICE_LEVEL);
}

static void test_placement_failure_too_many_sets(void **state)
{
    (void)state;
    sl_placement_question.set_count = SL_TOPOLOGY_SETS_MAX + 1;
    pw_assert_miss(SL_PLACEMENT_FULL);
}

/* Each of many trees has the same sites, one pod fits on each, and no tree minds the others. */
static void test_placement_failure_more_rows_than_a_plan_has(void **state)
{
    (void)state;
    enum { TREES = 14, SITES = 20000, FIRST = 1000, FIRST_TREE = 10 };
    const struct sl_tree_levels host = {1, {AT_HOST}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_UNCONSTRAINED, SL_NO_ID, 51);
    sl_settings.overlapping_flavors = false;
    for (sl_site_id site = 0; site < SITES; site++) {
        pw_capacity(FIRST + site, ROOM_PODS, ROOM_CPU);
    }
    for (uint32_t t = 0; t < TREES; t++) {
        assert_int_equal(sl_trees_configure(FIRST_TREE + t, host, true), SL_OK);
        sl_domain_id after = SL_NO_ID;
        for (sl_site_id site = 0; site < SITES; site++) {
            sl_domain_id domain = FIRST + t * SITES + site;
            assert_int_equal(sl_trees_open(domain, FIRST_TREE + t, SL_NO_ID, after, FIRST + site),
                             SL_OK);
            after = domain;
        }
        pw_ask(&d, SITES)->tree = FIRST_TREE + t;
    }
    pw_assert_miss(SL_PLACEMENT_FULL);
    sl_placement_question.set_count = TREES - 1;
    assert_true(sl_placement_find());
    for (uint32_t t = 0; t < TREES; t++) {
        for (sl_site_id site = 0; site < SITES; site++) {
            assert_int_equal(sl_trees_close(FIRST + t * SITES + site), SL_OK);
        }
        assert_int_equal(sl_trees_forget(FIRST_TREE + t), SL_OK);
    }
}

static void test_placement_failure_counts_nodes_by_cause(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 20);
    d.mask = 2;
    assert_int_equal(sl_masks_set(2, 0, SL_VERDICT_SELECTOR), SL_OK);
    assert_int_equal(sl_masks_set(2, 1, SL_VERDICT_SELECTOR), SL_OK);
    assert_int_equal(sl_masks_set(2, 2, SL_VERDICT_AFFINITY), SL_OK);
    assert_int_equal(sl_masks_set(2, 3, SL_VERDICT_TAINT + 5), SL_OK);
    pw_capacity(4, 10, 19);
    pw_capacity(5, 0, 100);
    pw_ask(&d, 11);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_false(sl_placement_failure.slices);
    assert_int_equal(sl_placement_failure.fit, 10);
    assert_int_equal(sl_placement_failure.of, 11);
    assert_int_equal(sl_placement_failure.total_sites, NODES);
    assert_int_equal(sl_placement_failure.by_selector, 2);
    assert_int_equal(sl_placement_failure.by_affinity, 1);
    assert_int_equal(sl_placement_failure.by_taint[5], 1);
    assert_int_equal(sl_placement_failure.by_measure[CPU], 1);
    assert_int_equal(sl_placement_failure.by_measure[SL_MEASURE_PODS], 1);
    assert_int_equal(sl_placement_failure.by_domain, 0);
    assert_int_equal(sl_masks_clear(2), SL_OK);
}

static void test_placement_failure_names_no_nodes_when_all_take_some(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 20);
    pw_ask(&d, 11);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.total_sites, 0);
}

static void test_placement_failure_names_the_measure_of_lowest_rank(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_HOST, 101);
    for (sl_site_id site = 0; site < NODES; site++) {
        pw_capacity(site, 0, 100);
    }
    pw_ask(&d, 1);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.by_measure[SL_MEASURE_PODS], NODES);
    sl_placement_rank_measure(SL_MEASURE_PODS, 1); /* "cpu" comes before "pods" */
    sl_placement_rank_measure(SL_MEASURES_MAX, 1);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.by_measure[CPU], NODES);
    assert_int_equal(sl_placement_failure.by_measure[SL_MEASURE_PODS], 0);
    sl_placement_rank_measure(SL_MEASURE_PODS, 0);
}

static void test_placement_failure_counts_slices(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    pw_slices(&d, AT_HOST, 4);
    pw_ask(&d, 24);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_true(sl_placement_failure.slices);
    assert_int_equal(sl_placement_failure.fit, 4);
    assert_int_equal(sl_placement_failure.of, 6);
    assert_int_equal(sl_placement_failure.level_count, 0);
}

static void test_placement_failure_counts_each_layer_of_slices(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_BLOCK, 10);
    pw_slices(&d, AT_RACK, 8);
    pw_slices(&d, AT_HOST, 4);
    pw_capacity(4, 0, 100); /* the first block takes more */
    pw_ask(&d, 40);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.level_count, 2);
    assert_int_equal(sl_placement_failure.levels[0].depth, 1);
    assert_int_equal(sl_placement_failure.levels[0].fit, 4);
    assert_int_equal(sl_placement_failure.levels[0].of, 5);
    assert_int_equal(sl_placement_failure.levels[1].depth, 2);
    assert_int_equal(sl_placement_failure.levels[1].fit, 8);
    assert_int_equal(sl_placement_failure.levels[1].of, 10);
}

static void test_placement_failure_clears_when_the_next_is_placed(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 20);
    pw_ask(&d, 11);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    sl_placement_question.sets[0].count = 10;
    assert_true(sl_placement_find());
    assert_int_equal(sl_placement_failure.miss, SL_PLACEMENT_OK);
    assert_int_equal(sl_placement_failure.of, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pw_open, pw_close)
    const struct CMUnitTest tests[] = {
        TEST(test_placement_failure_unknown_tree),
        TEST(test_placement_failure_level_that_the_tree_lacks),
        TEST(test_placement_failure_no_level_asked_for),
        TEST(test_placement_failure_tree_without_nodes),
        TEST(test_placement_failure_slices_that_make_no_sense),
        TEST(test_placement_failure_too_many_sets),
        TEST(test_placement_failure_more_rows_than_a_plan_has),
        TEST(test_placement_failure_counts_nodes_by_cause),
        TEST(test_placement_failure_names_no_nodes_when_all_take_some),
        TEST(test_placement_failure_names_the_measure_of_lowest_rank),
        TEST(test_placement_failure_counts_slices),
        TEST(test_placement_failure_counts_each_layer_of_slices),
        TEST(test_placement_failure_clears_when_the_next_is_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
