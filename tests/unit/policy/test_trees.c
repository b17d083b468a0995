/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Trees: levels, order, rows, and domains that hide while somebody stands on them. */
#include "place_standing.h"

static void test_trees_configured_flavor_knows_its_levels(void **state)
{
    (void)state;
    assert_true(sl_trees_asked(TREE));
    assert_true(sl_trees_known(TREE));
    assert_true(sl_trees_ends_at_nodes(TREE));
    assert_int_equal(sl_trees_depth(TREE), 3);
    assert_int_equal(sl_trees_level(TREE, AT_RACK), 1);
    assert_int_equal(sl_trees_level(TREE, AT_NOWHERE), SL_NO_ID);
    assert_false(sl_trees_asked(OTHER_TREE));
    assert_false(sl_trees_known(SL_NO_ID));
    assert_int_equal(sl_trees_depth(SL_NO_ID), 0);
    assert_int_equal(sl_trees_level(SL_NO_ID, AT_RACK), SL_NO_ID);
}

static void test_trees_missing_topology_is_asked_for_and_not_known(void **state)
{
    (void)state;
    assert_int_equal(sl_trees_configure(OTHER_TREE, (struct sl_tree_levels){0}, true), SL_OK);
    assert_true(sl_trees_asked(OTHER_TREE));
    assert_false(sl_trees_known(OTHER_TREE));
    assert_false(sl_trees_ends_at_nodes(OTHER_TREE));
    assert_int_equal(sl_trees_lay_out(OTHER_TREE).depth_count, 0);
    assert_int_equal(sl_trees_forget(OTHER_TREE), SL_OK);
    assert_false(sl_trees_asked(OTHER_TREE));
}

static void test_trees_bad_levels_are_refused(void **state)
{
    (void)state;
    const struct sl_tree_levels twice = {3, {AT_RACK, AT_HOST, AT_RACK}};
    const struct sl_tree_levels many = {.count = SL_DEPTHS_MAX + 1};
    assert_int_equal(sl_trees_configure(OTHER_TREE, twice, true), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_trees_configure(OTHER_TREE, many, true), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_trees_configure(SL_TREES_MAX, pw_levels, true), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_trees_configure(TREE, pw_levels, true), SL_REFUSED_IN_USE);
    assert_int_equal(sl_trees_forget(TREE), SL_REFUSED_IN_USE);
    assert_false(sl_trees_asked(OTHER_TREE));
}

static void test_trees_siblings_stand_in_the_order_given(void **state)
{
    (void)state;
    assert_int_equal(sl_trees_open(NODE + 8, TREE, RACK + 1, NODE + 2, 8), SL_OK);
    assert_int_equal(sl_trees_open(NODE + 9, TREE, RACK + 1, SL_NO_ID, 9), SL_OK);
    const sl_domain_id order[] = {NODE + 9, NODE + 2, NODE + 8, NODE + 3, SL_NO_ID};
    sl_domain_id at = sl_trees_first_child(RACK + 1);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(at, order[i]);
        at = sl_trees_next(at);
    }
    assert_int_equal(sl_trees_bottom_count(TREE), NODES + 2);
    assert_int_equal(sl_trees_close(NODE + 2), SL_OK);
    assert_int_equal(sl_trees_next(NODE + 9), NODE + 8);
    assert_int_equal(sl_trees_close(NODE + 9), SL_OK);
    assert_int_equal(sl_trees_first_child(RACK + 1), NODE + 8);
    assert_int_equal(sl_trees_close(NODE + 3), SL_OK);
    assert_int_equal(sl_trees_next(NODE + 8), SL_NO_ID);
    assert_int_equal(sl_trees_close(NODE + 8), SL_OK);
    assert_int_equal(sl_trees_first_child(RACK + 1), SL_NO_ID);
    assert_int_equal(sl_trees_first_top(TREE), BLOCK);
    assert_int_equal(sl_trees_next(BLOCK), BLOCK + 1);
    assert_int_equal(sl_trees_first_top(SL_TREES_MAX), SL_NO_ID);
}

static void test_trees_domains_in_wrong_places_are_refused(void **state)
{
    (void)state;
    const sl_domain_id d = 500;
    assert_int_equal(sl_trees_open(d, OTHER_TREE, SL_NO_ID, SL_NO_ID, SL_NO_ID),
                     SL_REFUSED_BAD_ARGUMENT); /* no such tree */
    assert_int_equal(sl_trees_open(d, TREE, RACK, SL_NO_ID, SL_NO_ID),
                     SL_REFUSED_BAD_ARGUMENT); /* lowest, without a site */
    assert_int_equal(sl_trees_open(d, TREE, BLOCK, SL_NO_ID, 20),
                     SL_REFUSED_BAD_ARGUMENT); /* not the lowest, with a site */
    assert_int_equal(sl_trees_open(d, TREE, RACK, NODE + 2, 20),
                     SL_REFUSED_BAD_ARGUMENT); /* after a child of another rack */
    assert_int_equal(sl_trees_open(d, TREE, RACK, SL_NO_ID, 3),
                     SL_REFUSED_BAD_ARGUMENT); /* the tree has the site already */
    assert_int_equal(sl_trees_open(d, TREE, 501, SL_NO_ID, 20),
                     SL_REFUSED_BAD_ARGUMENT); /* below nothing */
    assert_int_equal(sl_trees_open(SL_DOMAINS_MAX, TREE, RACK, SL_NO_ID, 20),
                     SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_trees_open(NODE, TREE, RACK, SL_NO_ID, 20), SL_REFUSED_IN_USE);
    assert_false(sl_trees_shows(d));
    assert_int_equal(sl_trees_close(d), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_trees_close(RACK), SL_REFUSED_IN_USE);
}

static void test_trees_share_a_site(void **state)
{
    (void)state;
    const struct sl_tree_levels host = {1, {AT_HOST}};
    assert_int_equal(sl_trees_configure(OTHER_TREE, host, true), SL_OK);
    assert_int_equal(sl_trees_open(300, OTHER_TREE, SL_NO_ID, SL_NO_ID, 3), SL_OK);
    assert_int_equal(sl_trees_domain_on(TREE, 3), NODE + 3);
    assert_int_equal(sl_trees_domain_on(OTHER_TREE, 3), 300);
    assert_int_equal(sl_trees_domain_on(OTHER_TREE, 4), SL_NO_ID);
    assert_int_equal(sl_trees_domain_on(TREE, SL_NO_ID), SL_NO_ID);
    assert_int_equal(sl_trees_close(300), SL_OK);
    assert_int_equal(sl_trees_domain_on(OTHER_TREE, 3), SL_NO_ID);
    assert_int_equal(sl_trees_domain_on(TREE, 3), NODE + 3);
    assert_int_equal(sl_trees_forget(OTHER_TREE), SL_OK);
}

static void test_trees_rows_follow_changes(void **state)
{
    (void)state;
    struct sl_trees_layout at = sl_trees_lay_out(TREE);
    assert_int_equal(at.depth_count, 3);
    assert_int_equal(at.first[1] - at.first[0], 2);
    assert_int_equal(at.first[2] - at.first[1], 4);
    assert_int_equal(at.first[3] - at.first[2], NODES);
    uint32_t rack = sl_trees_spot(RACK + 2);
    assert_int_equal(sl_spot_domain[rack], RACK + 2);
    assert_int_equal(sl_spot_children[rack], 2);
    assert_int_equal(sl_spot_domain[sl_spot_child[rack] + 1], NODE + 5);
    assert_int_equal(sl_spot_site[sl_spot_child[rack] + 1], 5);
    assert_int_equal(sl_spot_domain[sl_spot_parent[rack]], BLOCK + 1);
    assert_int_equal(sl_spot_parent[at.first[0]], SL_NO_ID);
    assert_int_equal(sl_trees_close(NODE + 4), SL_OK);
    at = sl_trees_lay_out(TREE);
    assert_int_equal(at.first[3] - at.first[2], NODES - 1);
    assert_int_equal(sl_spot_children[sl_trees_spot(RACK + 2)], 1);
}

static void test_trees_rows_start_anew_when_spots_run_out(void **state)
{
    (void)state;
    const uint32_t spots = 2 + 4 + NODES; /* of one layout */
    uint32_t first = sl_trees_lay_out(TREE).first[0];
    for (uint32_t i = 0; i <= SL_SPOTS_MAX / (spots - 1); i++) {
        assert_int_equal(sl_trees_close(NODE + 7), SL_OK);
        (void)sl_trees_lay_out(TREE);
        assert_int_equal(sl_trees_open(NODE + 7, TREE, RACK + 3, NODE + 6, 7), SL_OK);
    }
    struct sl_trees_layout at = sl_trees_lay_out(TREE);
    assert_true(at.first[0] < SL_SPOTS_MAX && at.first[3] - at.first[0] == spots);
    assert_true(at.first[0] < first + SL_SPOTS_MAX);
    assert_int_equal(sl_spot_domain[at.first[3] - 1], NODE + 7);
}

/* --- hidden ----------------------------------------------------------------------------------- */

/* The workload stands on node 2, with one pod. */
static void stand_on_node_2(void)
{
    ps_begin();
    ps_set(0, 0);
    ps_row(NODE + 2, 1);
    ps_assignment();
}

static void test_trees_domain_hides_while_somebody_stands_on_it(void **state)
{
    (void)state;
    stand_on_node_2();
    assert_int_equal(sl_trees_close(NODE + 2), SL_OK);
    assert_false(sl_trees_shows(NODE + 2));
    assert_true(sl_domain_is_open(NODE + 2));
    assert_int_equal(sl_trees_domain_on(TREE, 2), SL_NO_ID);
    assert_int_equal(sl_trees_first_child(RACK + 1), NODE + 3);
    /* the same one comes back; no other may have its id */
    assert_int_equal(sl_trees_open(NODE + 2, TREE, RACK, NODE, 2), SL_REFUSED_IN_USE);
    assert_int_equal(sl_trees_open(NODE + 2, TREE, RACK + 1, SL_NO_ID, 2), SL_OK);
    assert_true(sl_trees_shows(NODE + 2));
    assert_int_equal(sl_trees_domain_on(TREE, 2), NODE + 2);
    ps_tell(SL_EV_DELETE);
}

static void test_trees_hidden_domain_goes_after_the_last_who_stood_on_it(void **state)
{
    (void)state;
    stand_on_node_2();
    assert_int_equal(sl_trees_close(NODE + 2), SL_OK);
    assert_int_equal(sl_trees_close(NODE + 3), SL_OK);
    assert_int_equal(sl_trees_close(RACK + 1), SL_OK); /* hidden with its node */
    assert_true(sl_domain_is_open(RACK + 1));
    ps_tell(SL_EV_DELETE);
    assert_true(sl_domain_is_open(NODE + 2));
    assert_int_equal(sl_trees_close(NODE + 5), SL_OK); /* any change clears up */
    assert_false(sl_domain_is_open(NODE + 2));
    assert_int_equal(sl_trees_close(NODE + 6), SL_OK);
    assert_false(sl_domain_is_open(RACK + 1));
}

static void test_trees_hidden_id_is_free_when_nobody_stands_there(void **state)
{
    (void)state;
    stand_on_node_2();
    assert_int_equal(sl_trees_close(NODE + 2), SL_OK);
    ps_tell(SL_EV_DELETE);
    assert_int_equal(sl_trees_open(NODE + 2, TREE, RACK, NODE, 2), SL_OK);
    assert_int_equal(sl_domain_parent(NODE + 2), RACK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pw_open, pw_close)
    const struct CMUnitTest tests[] = {
        TEST(test_trees_configured_flavor_knows_its_levels),
        TEST(test_trees_missing_topology_is_asked_for_and_not_known),
        TEST(test_trees_bad_levels_are_refused),
        TEST(test_trees_siblings_stand_in_the_order_given),
        TEST(test_trees_domains_in_wrong_places_are_refused),
        TEST(test_trees_share_a_site),
        TEST(test_trees_rows_follow_changes),
        TEST(test_trees_rows_start_anew_when_spots_run_out),
        TEST(test_trees_domain_hides_while_somebody_stands_on_it),
        TEST(test_trees_hidden_domain_goes_after_the_last_who_stood_on_it),
        TEST(test_trees_hidden_id_is_free_when_nobody_stands_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
