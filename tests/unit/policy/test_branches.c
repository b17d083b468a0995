/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The quota forest seen from above. */
#include "preemption_world.h"

static uint32_t child_count(sl_qnode_id node)
{
    uint32_t count = 0;
    for (sl_qnode_id at = sl_branches_first(node); at != SL_NO_ID; at = sl_branches_next(at)) {
        count++;
    }
    return count;
}

static void test_branches_moved_node_is_listed_under_its_new_parent(void **state)
{
    (void)state;
    sl_qnode_id a = fx_node(SL_NO_ID);
    sl_qnode_id b = fx_node(SL_NO_ID);
    sl_qnode_id child = fx_node(a);
    assert_int_equal(sl_branches_first(a), child);
    assert_int_equal(sl_ledger_move_qnode(child, b), SL_OK);
    assert_false(sl_branches_valid());
    sl_branches_follow(child);
    sl_branches_follow(child);
    assert_true(sl_branches_valid());
    assert_int_equal(child_count(a), 0);
    assert_int_equal(child_count(b), 1);
    assert_int_equal(sl_ledger_close_qnode(child), SL_OK);
    sl_branches_follow(child);
    assert_int_equal(child_count(b), 0);
    assert_true(sl_branches_valid());
}

static void test_branches_removal_from_the_middle_keeps_the_rest(void **state)
{
    (void)state;
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id kids[3] = {fx_node(root), fx_node(root), fx_node(root)};
    assert_int_equal(sl_ledger_move_qnode(kids[1], SL_NO_ID), SL_OK);
    sl_branches_follow(kids[1]);
    assert_int_equal(child_count(root), 2);
    assert_int_equal(sl_branches_next(kids[1]), SL_NO_ID);
    assert_true(sl_branches_valid());
}

static void test_branches_walk_meets_every_node_below_once(void **state)
{
    (void)state;
    sl_qnode_id top = fx_node(SL_NO_ID);
    sl_qnode_id root = fx_node(top);
    (void)fx_node(top);
    sl_qnode_id inner = fx_node(root);
    (void)fx_node(root);
    (void)fx_node(inner);
    (void)fx_node(inner);
    uint32_t met = 0;
    uint32_t met_skipping = 0;
    for (sl_qnode_id at = root; at != SL_NO_ID; at = sl_branches_walk(root, at, false)) {
        met++;
    }
    for (sl_qnode_id at = root; at != SL_NO_ID; at = sl_branches_walk(root, at, at == inner)) {
        met_skipping++;
    }
    assert_int_equal(met, 5);
    assert_int_equal(met_skipping, 3);
    assert_int_equal(sl_branches_walk(root, root, true), SL_NO_ID);
}

static void test_branches_ids_out_of_range_are_ignored(void **state)
{
    (void)state;
    sl_branches_follow(SL_NO_ID);
    assert_int_equal(sl_branches_first(SL_NO_ID), SL_NO_ID);
    assert_int_equal(sl_branches_next(SL_NO_ID), SL_NO_ID);
    assert_int_equal(sl_branches_walk(0, SL_NO_ID, false), SL_NO_ID);
    assert_true(sl_branches_valid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_branches_moved_node_is_listed_under_its_new_parent),
        PW_TEST(test_branches_removal_from_the_middle_keeps_the_rest),
        PW_TEST(test_branches_walk_meets_every_node_below_once),
        PW_TEST(test_branches_ids_out_of_range_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
