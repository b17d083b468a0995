/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Replacement: what stands on failed sites moves, and nothing else does. */
#include "place_standing.h"

/* The set that stands, with that demand. */
static void assignment(const struct sl_topology_request *d, uint32_t rows,
                       const struct sl_topology_row *row)
{
    uint32_t count = 0;
    ps_begin();
    ps_set(0, d->requests[0].per_pod);
    for (uint32_t i = 0; i < rows; i++) {
        ps_row(row[i].domain, row[i].count);
        count += row[i].count;
    }
    ps_assignment();
    pw_ask(d, count);
}

static void test_replacement_moves_the_pods_of_the_failed_node(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 5}, {NODE + 1, 5}, {NODE + 6, 5}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 20);
    assignment(&d, 3, rows);
    assert_int_equal(sl_trees_close(NODE + 1), SL_OK);
    ps_fail(1);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 3);
    pw_assert_row(0, 0, NODE + 0, 5);
    pw_assert_row(0, 1, NODE + 6, 5);
    pw_assert_row(0, 2, NODE + 7, 5); /* the tightest rack */
}

static void test_replacement_joins_a_row_that_stays(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 2}, {NODE + 1, 2}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 20);
    assignment(&d, 2, rows);
    assert_int_equal(sl_trees_close(NODE + 1), SL_OK);
    ps_fail(1);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 1);
    pw_assert_row(0, 0, NODE + 0, 4);
    assert_int_equal(sl_topology_plan.sets[0].within, RACK);
}

static void test_replacement_stays_in_the_required_domain(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 5}, {NODE + 1, 5}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 20);
    assignment(&d, 2, rows);
    assert_int_equal(sl_trees_close(NODE + 1), SL_OK);
    ps_fail(1);
    pw_assert_miss(SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_placement_failure.fit, 0);
    assert_int_equal(sl_placement_failure.of, 5);
    assert_int_equal(sl_placement_failure.total_sites, 7);
    assert_int_equal(sl_placement_failure.by_domain, 6);
    assert_int_equal(sl_placement_failure.by_measure[CPU], 1);
}

static void test_replacement_of_all_nodes_is_a_fresh_placement(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 5}, {NODE + 1, 5}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 20);
    assignment(&d, 2, rows);
    assert_int_equal(sl_trees_close(NODE + 0), SL_OK);
    assert_int_equal(sl_trees_close(NODE + 1), SL_OK);
    ps_fail(0);
    ps_fail(1);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 2, 5);
    pw_assert_row(0, 1, NODE + 3, 5);
    assert_int_equal(sl_topology_plan.sets[0].within, RACK + 1);
}

static void test_replacement_refuses_another_site_that_is_gone(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 5}, {NODE + 6, 5}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 20);
    assignment(&d, 2, rows);
    assert_int_equal(sl_trees_close(NODE + 0), SL_OK);
    assert_int_equal(sl_trees_close(NODE + 6), SL_OK);
    ps_fail(0);
    pw_assert_miss(SL_PLACEMENT_STALE);
    assert_int_equal(sl_placement_failure.domain, NODE + 6);
    ps_fail(6); /* both marked: both move */
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
}

static void test_replacement_mends_a_slice_where_it_was_broken(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {
        {NODE + 0, 2}, {NODE + 1, 2}, {NODE + 4, 2}, {NODE + 5, 2}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_BLOCK, 25);
    pw_slices(&d, AT_RACK, 4);
    assignment(&d, 4, rows);
    assert_int_equal(sl_trees_close(NODE + 5), SL_OK);
    ps_fail(5);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 3);
    pw_assert_row(0, 2, NODE + 4, 4); /* not in another rack */
}

static void test_replacement_of_whole_slices_may_leave_their_domain(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 4}, {NODE + 4, 4}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_BLOCK, 25);
    pw_slices(&d, AT_RACK, 4);
    assignment(&d, 2, rows);
    pw_capacity(5, 3, 100);
    assert_int_equal(sl_trees_close(NODE + 4), SL_OK);
    ps_fail(4);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 1, NODE + 6, 4); /* the tighter block */
}

static void test_replacement_mends_slices_of_several_racks_at_once(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {
        {NODE + 0, 2}, {NODE + 1, 2}, {NODE + 4, 2}, {NODE + 5, 2}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_BLOCK, 25);
    pw_slices(&d, AT_RACK, 4);
    assignment(&d, 4, rows);
    assert_int_equal(sl_trees_close(NODE + 0), SL_OK);
    assert_int_equal(sl_trees_close(NODE + 5), SL_OK);
    ps_fail(0);
    ps_fail(5);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 1, 4);
    pw_assert_row(0, 1, NODE + 4, 4);
}

static void test_replacement_moves_a_slice_that_has_lost_all_its_nodes(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {
        {NODE + 0, 2}, {NODE + 1, 2}, {NODE + 4, 2}, {NODE + 5, 2}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_BLOCK, 25);
    pw_slices(&d, AT_RACK, 4);
    ps_begin();
    ps_set(0, 25);
    for (uint32_t i = 0; i < 2; i++) {
        ps_row(rows[i].domain, rows[i].count);
    }
    ps_assignment();
    pw_ask(&d, 4);
    assert_int_equal(sl_trees_close(NODE + 0), SL_OK);
    assert_int_equal(sl_trees_close(NODE + 1), SL_OK);
    ps_fail(0);
    ps_fail(1);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 1);
    pw_assert_row(0, 0, NODE + 2, 4);
}

static void test_replacement_keeps_inner_slices_that_come_out_even(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 4}, {NODE + 1, 2}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_BLOCK, 10);
    pw_slices(&d, AT_RACK, 6);
    pw_slices(&d, AT_HOST, 2);
    assignment(&d, 2, rows);
    assert_int_equal(sl_trees_open(NODE + 8, TREE, RACK, NODE + 1, 8), SL_OK);
    pw_capacity(8, 1, 100); /* takes one pod, but no slice of two */
    pw_capacity(0, 6, 100);
    assert_int_equal(sl_trees_close(NODE + 1), SL_OK);
    ps_fail(1);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 1);
    pw_assert_row(0, 0, NODE + 0, 6);
    pw_capacity(8, 0, 0);
    assert_int_equal(sl_trees_close(NODE + 8), SL_OK);
}

static void test_replacement_of_a_slice_that_was_short(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 4}, {NODE + 4, 1}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_BLOCK, 50);
    pw_slices(&d, AT_RACK, 4); /* four need two nodes, of which one stays empty */
    for (sl_site_id site = 0; site < NODES; site++) {
        pw_capacity(site, ROOM_PODS, site == 0 ? 200 : 100);
    }
    assignment(&d, 2, rows);
    assert_int_equal(sl_trees_close(NODE + 4), SL_OK);
    ps_fail(4);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 0, 4);
    assert_int_equal(sl_topology_plan.rows[1].count, 1);
}

/* After a restart a node that is gone stands where nobody knows. */
static void open_lost_nodes(void)
{
    assert_int_equal(sl_trees_open(60, TREE, SL_NO_ID, BLOCK + 1, SL_NO_ID), SL_OK);
    assert_int_equal(sl_trees_open(61, TREE, 60, SL_NO_ID, SL_NO_ID), SL_OK);
    assert_int_equal(sl_trees_open(62, TREE, 61, SL_NO_ID, 20), SL_OK);
    assert_int_equal(sl_trees_open(63, TREE, 61, 62, 21), SL_OK);
}

static void close_lost_nodes(void)
{
    assert_int_equal(sl_trees_close(63), SL_OK);
    assert_int_equal(sl_trees_close(62), SL_OK);
    assert_int_equal(sl_trees_close(61), SL_OK);
    assert_int_equal(sl_trees_close(60), SL_OK);
}

static void test_replacement_finds_the_broken_slices_of_nodes_that_are_lost(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 2}, {NODE + 4, 2}, {62, 2}, {63, 2}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_BLOCK, 25);
    pw_slices(&d, AT_RACK, 4);
    open_lost_nodes();
    assignment(&d, 4, rows);
    close_lost_nodes();
    ps_fail(20);
    ps_fail(21);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2);
    pw_assert_row(0, 0, NODE + 0, 4);
    pw_assert_row(0, 1, NODE + 4, 4);
    ps_tell(SL_EV_DELETE);
    sl_placement_failed_count = 0;
    for (uint32_t i = 0; i < 4; i++) { /* any changes clear up */
        assert_int_equal(sl_trees_close(NODE + i), SL_OK);
    }
    assert_false(sl_domain_is_open(60));
}

static void test_replacement_promises_nothing_that_the_rows_that_stay_break(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 1}, {NODE + 2, 1}, {NODE + 6, 2}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 10);
    pw_slices(&d, AT_RACK, 2);
    assignment(&d, 3, rows);
    assert_int_equal(sl_trees_close(NODE + 6), SL_OK);
    ps_fail(6);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 2); /* beside the first, as Kueue does */
    pw_assert_row(0, 0, NODE + 0, 3);
    pw_assert_row(0, 1, NODE + 2, 1);
    assert_int_equal(sl_topology_plan.sets[0].within, SL_NO_ID);
    assert_int_equal(sl_topology_plan.sets[0].layer_count, 0);
}

static void test_replacement_makes_slices_whole_that_never_were(void **state)
{
    (void)state;
    const struct sl_topology_row rows[] = {{NODE + 0, 3}, {NODE + 4, 5}};
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_BLOCK, 10);
    pw_slices(&d, AT_RACK, 4);
    assignment(&d, 2, rows);
    assert_int_equal(sl_trees_close(NODE + 4), SL_OK);
    ps_fail(4);
    assert_true(sl_placement_find()); /* to where a slice lacks one */
    pw_assert_rows(0, 1);
    pw_assert_row(0, 0, NODE + 0, 8);
    sl_placement_failed_count = 0;
    ps_fail(0);
    assert_int_equal(sl_trees_open(NODE + 4, TREE, RACK + 2, SL_NO_ID, 4), SL_OK);
    assert_true(sl_placement_find());
    pw_assert_row(0, 0, NODE + 4, 8);
}

static void test_replacement_counts_what_the_first_set_got_for_the_second(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 50);
    ps_begin();
    ps_set(0, 50);
    ps_row(NODE + 1, 1);
    ps_row(NODE + 2, 1);
    ps_set(1, 50);
    ps_row(NODE + 2, 1);
    ps_row(NODE + 3, 1);
    ps_assignment();
    d.together = SL_TOGETHER_UNCONSTRAINED;
    d.level = SL_NO_ID;
    pw_ask(&d, 2);
    pw_ask(&d, 2);
    assert_int_equal(sl_trees_close(NODE + 2), SL_OK);
    ps_fail(2);
    assert_true(sl_placement_find());
    pw_assert_rows(0, 1);
    pw_assert_row(0, 0, NODE + 1, 2); /* the fullest that has room */
    pw_assert_rows(1, 1);
    pw_assert_row(1, 0, NODE + 3, 2); /* node 1 is taken now */
}

static void test_replacement_leaves_sets_alone_that_lost_nothing(void **state)
{
    (void)state;
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_HOST, 50);
    ps_begin();
    ps_set(0, 50);
    ps_row(NODE + 1, 1);
    ps_set(2, 50);
    ps_row(NODE + 2, 1);
    ps_assignment();
    pw_ask(&d, 1);
    pw_ask(&d, 1); /* stands nowhere */
    pw_ask(&d, 1);
    assert_int_equal(sl_trees_close(NODE + 2), SL_OK);
    ps_fail(2);
    assert_true(sl_placement_find());
    assert_int_equal(sl_topology_plan.set_count, 2);
    assert_int_equal(sl_topology_plan.sets[1].pod_set, 2);
    pw_assert_row(0, 0, NODE + 1, 1);
    pw_assert_row(1, 0, NODE + 1, 1); /* the tightest node */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pw_open, ps_close)
    const struct CMUnitTest tests[] = {
        TEST(test_replacement_moves_the_pods_of_the_failed_node),
        TEST(test_replacement_joins_a_row_that_stays),
        TEST(test_replacement_stays_in_the_required_domain),
        TEST(test_replacement_of_all_nodes_is_a_fresh_placement),
        TEST(test_replacement_refuses_another_site_that_is_gone),
        TEST(test_replacement_mends_a_slice_where_it_was_broken),
        TEST(test_replacement_of_whole_slices_may_leave_their_domain),
        TEST(test_replacement_mends_slices_of_several_racks_at_once),
        TEST(test_replacement_moves_a_slice_that_has_lost_all_its_nodes),
        TEST(test_replacement_keeps_inner_slices_that_come_out_even),
        TEST(test_replacement_of_a_slice_that_was_short),
        TEST(test_replacement_finds_the_broken_slices_of_nodes_that_are_lost),
        TEST(test_replacement_promises_nothing_that_the_rows_that_stay_break),
        TEST(test_replacement_makes_slices_whole_that_never_were),
        TEST(test_replacement_counts_what_the_first_set_got_for_the_second),
        TEST(test_replacement_leaves_sets_alone_that_lost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
