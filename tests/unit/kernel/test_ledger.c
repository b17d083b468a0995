/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The quota forest: a two-level cohort with lending and borrowing limits, and every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/ledger/cells.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/trail.h"
#include "policy/flavors/open_cell.h"

#define NONE SL_AMOUNT_UNLIMITED

enum { ROOT, LEFT, RIGHT, ALPHA, BETA, GAMMA, NODES };

static sl_cell_id cells[NODES];

/* ROOT over LEFT and RIGHT; ALPHA and BETA under LEFT, GAMMA under RIGHT. One flavor, one resource. */
static int setup(void **state)
{
    static const sl_qnode_id parents[NODES] = {SL_NO_ID, ROOT, ROOT, LEFT, LEFT, RIGHT};
    (void)state;
    for (sl_qnode_id node = 0; node < NODES; node++) {
        assert_int_equal(sl_ledger_open_qnode(node), SL_OK);
        assert_int_equal(sl_ledger_move_qnode(node, parents[node]), SL_OK);
    }
    for (sl_qnode_id node = 0; node < NODES; node++) {
        assert_int_equal(sl_ledger_open_cell(node, 7, 9, &cells[node]), SL_OK);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_false(sl_trail_open());
    assert_true(sl_ledger_valid());
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        assert_int_equal(sl_ledger_release(cell, sl_ledger_own(cell)),
                         sl_ledger_qnode_of(cell) == SL_NO_ID ? SL_REFUSED_NO_CELL : SL_OK);
    }
    for (sl_qnode_id node = sl_qnode_limit; node > 0; node--) {
        if (sl_qnode_used[node - 1]) {
            assert_int_equal(sl_ledger_move_qnode(node - 1, SL_NO_ID), SL_OK);
        }
    }
    for (sl_qnode_id node = 0; node < sl_qnode_limit; node++) {
        if (sl_qnode_used[node]) {
            assert_int_equal(sl_ledger_close_qnode(node), SL_OK);
        }
    }
    assert_true(sl_ledger_valid());
    return 0;
}

static void quota(sl_qnode_id node, int64_t nominal, int64_t lending, int64_t borrowing)
{
    assert_int_equal(sl_ledger_set_quota(cells[node], nominal, lending, borrowing), SL_OK);
}

static void reserve(sl_qnode_id node, int64_t amount)
{
    assert_int_equal(sl_ledger_reserve(cells[node], amount), SL_OK);
}

static void expect_usage(int64_t root, int64_t left, int64_t alpha, int64_t beta)
{
    assert_int_equal(sl_ledger_usage(cells[ROOT]), root);
    assert_int_equal(sl_ledger_usage(cells[LEFT]), left);
    assert_int_equal(sl_ledger_usage(cells[ALPHA]), alpha);
    assert_int_equal(sl_ledger_usage(cells[BETA]), beta);
}

/* --- semantics --- */

static void test_ledger_lending_limit_keeps_the_rest(void **state)
{
    (void)state;
    quota(ALPHA, 10, 4, NONE); /* keeps 6, lends 4 */
    quota(BETA, 0, NONE, NONE);

    assert_int_equal(sl_ledger_available(cells[ALPHA]), 10);
    assert_int_equal(sl_ledger_available(cells[BETA]), 4);
    assert_int_equal(sl_ledger_potential(cells[BETA]), 4);

    reserve(ALPHA, 5); /* all of it fits into what is kept */
    expect_usage(0, 0, 5, 0);
    assert_int_equal(sl_ledger_available(cells[BETA]), 4);

    reserve(ALPHA, 3); /* two of these are stored above */
    expect_usage(2, 2, 8, 0);
    assert_int_equal(sl_ledger_available(cells[BETA]), 2);
}

static void test_ledger_borrowing_limit_bounds_what_is_taken_from_above(void **state)
{
    (void)state;
    quota(ALPHA, 10, NONE, 3);
    quota(GAMMA, 100, NONE, NONE);

    assert_int_equal(sl_ledger_available(cells[ALPHA]), 13);
    assert_int_equal(sl_ledger_potential(cells[ALPHA]), 13);
    assert_int_equal(sl_ledger_available(cells[BETA]), 110);
    assert_int_equal(sl_ledger_reserve(cells[ALPHA], 14), SL_REFUSED_QUOTA);
    reserve(ALPHA, 13);
    assert_int_equal(sl_ledger_available(cells[ALPHA]), 0);
    assert_int_equal(sl_ledger_available(cells[BETA]), 97);
}

static void test_ledger_limits_of_the_inner_cohort_bound_its_queues(void **state)
{
    (void)state;
    quota(LEFT, 5, NONE, 2);
    quota(ALPHA, 10, 4, NONE); /* LEFT: 5 + 4, may borrow 2 */
    quota(RIGHT, 50, 1, NONE);

    assert_int_equal(sl_ledger_available(cells[BETA]), 10); /* root 9 + 1 */
    assert_int_equal(sl_ledger_available(cells[ALPHA]), 16);
    quota(RIGHT, 50, 20, NONE);
    assert_int_equal(sl_ledger_available(cells[BETA]), 11); /* 9 + 2 */
    assert_int_equal(sl_ledger_potential(cells[ALPHA]), 17);
}

static void test_ledger_root_ignores_its_limits(void **state)
{
    (void)state;
    quota(ROOT, 10, 0, 0);
    assert_int_equal(sl_ledger_available(cells[ALPHA]), 10);
    reserve(ALPHA, 10);
    assert_int_equal(sl_ledger_usage(cells[ROOT]), 10);
}

static void test_ledger_quota_cut_makes_available_negative(void **state)
{
    (void)state;
    quota(ALPHA, 10, 2, NONE);
    reserve(ALPHA, 9);
    expect_usage(1, 1, 9, 0);

    quota(ALPHA, 4, NONE, NONE); /* keeps nothing now: all 9 are stored above */

    expect_usage(9, 9, 9, 0);
    assert_int_equal(sl_ledger_available(cells[ALPHA]), -5);
    assert_int_equal(sl_ledger_reserve(cells[ALPHA], 0), SL_REFUSED_QUOTA);
    assert_int_equal(sl_ledger_release(cells[ALPHA], 9), SL_OK);
    expect_usage(0, 0, 0, 0);
    assert_int_equal(sl_ledger_available(cells[ALPHA]), 4);
}

static void test_ledger_release_after_reserve_restores(void **state)
{
    (void)state;
    quota(ALPHA, 10, 4, NONE);
    quota(GAMMA, 10, 4, NONE);
    reserve(BETA, 3);
    reserve(ALPHA, 8);
    expect_usage(5, 5, 8, 3);
    assert_int_equal(sl_ledger_release(cells[ALPHA], 8), SL_OK);
    expect_usage(3, 3, 0, 3);
    assert_int_equal(sl_ledger_own(cells[LEFT]), 0);
    assert_int_equal(sl_ledger_own(cells[BETA]), 3);
}

static void test_ledger_charge_does_not_ask_for_quota(void **state)
{
    (void)state;
    assert_int_equal(sl_ledger_charge(cells[BETA], 3), SL_OK);
    expect_usage(3, 3, 0, 3);
    assert_int_equal(sl_ledger_available(cells[BETA]), -3);
}

static void test_ledger_move_takes_usage_and_quota_along(void **state)
{
    (void)state;
    quota(ALPHA, 10, 4, NONE);
    reserve(ALPHA, 9);
    assert_int_equal(sl_ledger_usage(cells[LEFT]), 3);

    assert_int_equal(sl_ledger_move_qnode(ALPHA, RIGHT), SL_OK);

    assert_int_equal(sl_ledger_usage(cells[LEFT]), 0);
    assert_int_equal(sl_ledger_usage(cells[RIGHT]), 3);
    assert_int_equal(sl_ledger_usage(cells[ROOT]), 3);
    assert_int_equal(sl_ledger_available(cells[BETA]), 1);
    assert_int_equal(sl_ledger_parent_qnode(ALPHA), RIGHT);
    assert_int_equal(sl_ledger_root_qnode(ALPHA), ROOT);
}

static void test_ledger_move_of_a_subtree_moves_all_below(void **state)
{
    (void)state;
    quota(ALPHA, 10, NONE, NONE);
    reserve(BETA, 4);

    assert_int_equal(sl_ledger_move_qnode(LEFT, GAMMA), SL_OK);

    assert_true(sl_ledger_valid());
    assert_int_equal(sl_qnode_level[ALPHA], 4);
    assert_int_equal(sl_ledger_usage(cells[GAMMA]), 4);
    assert_int_equal(sl_ledger_available(cells[GAMMA]), 6);
    assert_int_equal(sl_ledger_move_qnode(LEFT, SL_NO_ID), SL_OK);
    assert_int_equal(sl_ledger_usage(cells[ROOT]), 0);
    assert_int_equal(sl_ledger_root_qnode(BETA), LEFT);
    assert_int_equal(sl_ledger_available(cells[GAMMA]), 0);
}

static void test_ledger_move_opens_missing_cells_above(void **state)
{
    sl_cell_id cell = SL_NO_ID, above = SL_NO_ID;
    (void)state;
    assert_int_equal(sl_ledger_move_qnode(ALPHA, SL_NO_ID), SL_OK);
    assert_int_equal(sl_ledger_open_cell(ALPHA, 70, 90, &cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cell, 5, NONE, NONE), SL_OK);
    assert_int_equal(sl_ledger_move_qnode(ALPHA, RIGHT), SL_OK);
    assert_int_equal(sl_ledger_open_cell(ROOT, 70, 90, &above), SL_OK);
    assert_int_equal(sl_ledger_available(above), 5);
    assert_int_equal(sl_ledger_nominal(above), 0);
    assert_int_equal(sl_ledger_flavor_of(above), 70);
    assert_int_equal(sl_ledger_resource_of(above), 90);
    assert_int_equal(sl_ledger_qnode_of(above), ROOT);
}

static void test_ledger_open_cell_twice_finds_it(void **state)
{
    sl_cell_id again = SL_NO_ID;
    (void)state;
    assert_int_equal(sl_ledger_open_cell(BETA, 7, 9, &again), SL_OK);
    assert_int_equal(again, cells[BETA]);
}

static void test_ledger_unlimited_quotas_saturate(void **state)
{
    (void)state;
    quota(ALPHA, NONE, NONE, NONE);
    quota(BETA, NONE, NONE, NONE);
    quota(GAMMA, NONE, NONE, NONE);
    assert_int_equal(sl_ledger_available(cells[ALPHA]), SL_AMOUNT_UNLIMITED);
    assert_int_equal(sl_ledger_potential(cells[ALPHA]), SL_AMOUNT_UNLIMITED);
    reserve(ALPHA, 100);
    assert_int_equal(sl_ledger_available(cells[GAMMA]), SL_AMOUNT_UNLIMITED - 100);
    quota(ALPHA, 1, NONE, NONE);
    quota(BETA, 2, NONE, NONE);
    quota(GAMMA, 97, NONE, NONE);
    assert_int_equal(sl_ledger_available(cells[GAMMA]), 0);
}

static void test_ledger_borrow_height_is_that_of_the_subtree_that_fits(void **state)
{
    (void)state;
    quota(ALPHA, 10, NONE, NONE);
    quota(LEFT, 5, NONE, NONE);
    quota(GAMMA, 100, NONE, NONE);
    assert_int_equal(sl_ledger_borrow_height(cells[ALPHA], 10), 0);
    assert_int_equal(sl_ledger_borrow_height(cells[ALPHA], 15), 1);
    assert_int_equal(sl_ledger_borrow_height(cells[ALPHA], 16), 2);
    assert_int_equal(sl_ledger_borrow_height(cells[ALPHA], 1000), 2);
    assert_int_equal(sl_ledger_borrow_height(cells[ROOT], 1000), 0);
    assert_int_equal(sl_ledger_move_qnode(RIGHT, ALPHA), SL_OK);
    assert_int_equal(sl_ledger_borrow_height(cells[BETA], 200), 4);
}

static void test_ledger_borrow_height_counts_what_is_kept(void **state)
{
    (void)state;
    quota(ALPHA, 10, 4, NONE); /* of 14, six stay, eight go up */
    quota(LEFT, 4, NONE, NONE);
    assert_int_equal(sl_ledger_borrow_height(cells[ALPHA], 14), 1);
    assert_int_equal(sl_ledger_borrow_height(cells[ALPHA], 15), 2);
}

/* --- refusals --- */

static void test_ledger_unknown_cell_is_refused(void **state)
{
    sl_cell_id free_cell = sl_cell_limit;
    (void)state;
    assert_int_equal(sl_ledger_reserve(free_cell, 1), SL_REFUSED_NO_CELL);
    assert_int_equal(sl_ledger_charge(SL_NO_ID, 1), SL_REFUSED_NO_CELL);
    assert_int_equal(sl_ledger_release(SL_CELLS_MAX, 1), SL_REFUSED_NO_CELL);
    assert_int_equal(sl_ledger_set_quota(free_cell, 1, NONE, NONE), SL_REFUSED_NO_CELL);
    assert_int_equal(sl_ledger_qnode_of(free_cell), SL_NO_ID);
    assert_int_equal(sl_ledger_flavor_of(SL_NO_ID), SL_NO_ID);
    assert_int_equal(sl_ledger_resource_of(SL_NO_ID), SL_NO_ID);
    assert_int_equal(sl_ledger_available(SL_NO_ID), 0);
    assert_int_equal(sl_ledger_potential(SL_NO_ID), 0);
    assert_int_equal(sl_ledger_usage(SL_NO_ID), 0);
    assert_int_equal(sl_ledger_own(SL_NO_ID), 0);
    assert_int_equal(sl_ledger_nominal(SL_NO_ID), 0);
    assert_int_equal(sl_ledger_borrow_height(SL_NO_ID, 1), 0);
}

static void test_ledger_unknown_node_is_refused(void **state)
{
    sl_cell_id cell = 4711;
    (void)state;
    assert_int_equal(sl_ledger_open_cell(NODES, 7, 9, &cell), SL_REFUSED_NO_QNODE);
    assert_int_equal(cell, 4711);
    assert_int_equal(sl_ledger_close_qnode(NODES), SL_REFUSED_NO_QNODE);
    assert_int_equal(sl_ledger_move_qnode(NODES, ROOT), SL_REFUSED_NO_QNODE);
    assert_int_equal(sl_ledger_move_qnode(ALPHA, NODES), SL_REFUSED_NO_QNODE);
    assert_int_equal(sl_ledger_root_qnode(NODES), SL_NO_ID);
    assert_int_equal(sl_ledger_parent_qnode(SL_NO_ID), SL_NO_ID);
}

static void test_ledger_node_beyond_capacity_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_ledger_open_qnode(SL_QNODES_MAX), SL_FULL_QNODES);
}

static void test_ledger_node_in_use_is_refused(void **state)
{
    (void)state;
    quota(ALPHA, 10, NONE, NONE);
    reserve(BETA, 1);
    assert_int_equal(sl_ledger_open_qnode(ALPHA), SL_REFUSED_IN_USE);
    assert_int_equal(sl_ledger_close_qnode(LEFT), SL_REFUSED_IN_USE);
    assert_int_equal(sl_ledger_close_qnode(BETA), SL_REFUSED_IN_USE);
    assert_int_equal(sl_ledger_close_qnode(ALPHA), SL_OK);
    assert_int_equal(sl_ledger_qnode_of(cells[ALPHA]), SL_NO_ID);
    assert_int_equal(sl_ledger_available(cells[BETA]), -1);
}

static void test_ledger_cycle_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_ledger_move_qnode(ROOT, ROOT), SL_REFUSED_CYCLE);
    assert_int_equal(sl_ledger_move_qnode(ROOT, BETA), SL_REFUSED_CYCLE);
    assert_int_equal(sl_ledger_move_qnode(LEFT, ALPHA), SL_REFUSED_CYCLE);
    assert_int_equal(sl_ledger_parent_qnode(LEFT), ROOT);
}

static void test_ledger_too_deep_is_refused(void **state)
{
    sl_qnode_id top = NODES;
    (void)state;
    for (sl_qnode_id i = 0; i < SL_LEVELS_MAX; i++) {
        assert_int_equal(sl_ledger_open_qnode(top + i), SL_OK);
        assert_int_equal(sl_ledger_move_qnode(top + i, i == 0 ? SL_NO_ID : top + i - 1), SL_OK);
    }
    assert_int_equal(sl_ledger_move_qnode(ALPHA, top + SL_LEVELS_MAX - 1), SL_REFUSED_TOO_DEEP);
    assert_int_equal(sl_ledger_move_qnode(ROOT, top + SL_LEVELS_MAX - 3), SL_REFUSED_TOO_DEEP);
    assert_int_equal(sl_ledger_parent_qnode(ALPHA), LEFT);
    assert_true(sl_ledger_valid());
    assert_int_equal(sl_ledger_move_qnode(ROOT, top + SL_LEVELS_MAX - 4), SL_OK);
    assert_int_equal(sl_ledger_usage(cells[ROOT]), 0);
}

static void test_ledger_amount_out_of_range_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_ledger_reserve(cells[ALPHA], -1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_ledger_charge(cells[ALPHA], SL_AMOUNT_MAX + 1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_ledger_release(cells[ALPHA], -1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_ledger_set_quota(cells[ALPHA], -1, NONE, NONE), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_ledger_set_quota(cells[ALPHA], 1, SL_AMOUNT_MAX + 1, NONE),
                     SL_REFUSED_AMOUNT);
    assert_int_equal(sl_ledger_set_quota(cells[ALPHA], 1, NONE, INT64_MAX), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_ledger_nominal(cells[ALPHA]), 0);
}

static void test_ledger_usage_too_large_is_refused(void **state)
{
    (void)state;
    quota(ALPHA, NONE, NONE, NONE);
    quota(GAMMA, NONE, NONE, NONE);
    reserve(ALPHA, SL_AMOUNT_MAX - 1);
    assert_int_equal(sl_ledger_reserve(cells[GAMMA], 2), SL_REFUSED_OVERFLOW);
    assert_int_equal(sl_ledger_charge(cells[BETA], 2), SL_REFUSED_OVERFLOW);
    reserve(GAMMA, 1);
    assert_int_equal(sl_ledger_usage(cells[ROOT]), SL_AMOUNT_MAX);
}

static void test_ledger_more_than_held_is_refused(void **state)
{
    (void)state;
    quota(ALPHA, 10, NONE, NONE);
    reserve(ALPHA, 4);
    assert_int_equal(sl_ledger_release(cells[ALPHA], 5), SL_REFUSED_NOT_HELD);
    assert_int_equal(sl_ledger_release(cells[LEFT], 1), SL_REFUSED_NOT_HELD);
    expect_usage(4, 4, 4, 0);
}

static void test_ledger_structure_under_a_trial_is_refused(void **state)
{
    sl_cell_id cell = SL_NO_ID;
    (void)state;
    uint32_t mark = sl_trail_begin();
    assert_int_equal(sl_ledger_open_qnode(NODES), SL_REFUSED_TRIAL_OPEN);
    assert_int_equal(sl_ledger_close_qnode(ALPHA), SL_REFUSED_TRIAL_OPEN);
    assert_int_equal(sl_ledger_move_qnode(ALPHA, ROOT), SL_REFUSED_TRIAL_OPEN);
    assert_int_equal(sl_ledger_set_quota(cells[ALPHA], 1, 1, 1), SL_REFUSED_TRIAL_OPEN);
    assert_int_equal(sl_ledger_open_cell(ALPHA, 1, 1, &cell), SL_REFUSED_TRIAL_OPEN);
    assert_int_equal(sl_ledger_open_cell(ALPHA, 7, 9, &cell), SL_OK);
    assert_int_equal(cell, cells[ALPHA]);
    sl_trail_rollback(mark);
}

static void test_ledger_cells_full_is_refused_and_given_back_cells_are_used_again(void **state)
{
    sl_qnode_id hoard = NODES;
    sl_cell_id cell = 4711;
    (void)state;
    assert_int_equal(sl_ledger_open_qnode(hoard), SL_OK);
    assert_int_equal(sl_ledger_open_qnode(hoard + 1), SL_OK);
    assert_int_equal(sl_ledger_open_cell(hoard + 1, 1, 1, &cell), SL_OK);
    uint32_t limit = sl_cell_limit;
    sl_cell_limit = SL_CELLS_MAX; /* as if all were in use */
    uint32_t spares = sl_cell_spares;
    sl_cell_id spare = sl_cell_spare[0];
    sl_cell_spares = 0;
    assert_int_equal(sl_ledger_open_cell(hoard, 1, 2, &cell), SL_FULL_CELLS);
    assert_int_equal(sl_ledger_move_qnode(hoard + 1, hoard), SL_FULL_CELLS);
    assert_int_equal(sl_ledger_parent_qnode(hoard + 1), SL_NO_ID);
    assert_int_equal(sl_ledger_close_qnode(hoard + 1), SL_OK);
    sl_cell_id given_back = cell;
    assert_int_equal(sl_ledger_open_cell(hoard, 1, 2, &cell), SL_OK);
    assert_int_equal(cell, given_back);
    sl_cell_limit = limit;
    sl_cell_spares = spares;
    sl_cell_spare[0] = spare; /* overwritten by the one that was given back */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ledger_lending_limit_keeps_the_rest),
        TEST(test_ledger_borrowing_limit_bounds_what_is_taken_from_above),
        TEST(test_ledger_limits_of_the_inner_cohort_bound_its_queues),
        TEST(test_ledger_root_ignores_its_limits),
        TEST(test_ledger_quota_cut_makes_available_negative),
        TEST(test_ledger_release_after_reserve_restores),
        TEST(test_ledger_charge_does_not_ask_for_quota),
        TEST(test_ledger_move_takes_usage_and_quota_along),
        TEST(test_ledger_move_of_a_subtree_moves_all_below),
        TEST(test_ledger_move_opens_missing_cells_above),
        TEST(test_ledger_open_cell_twice_finds_it),
        TEST(test_ledger_unlimited_quotas_saturate),
        TEST(test_ledger_borrow_height_is_that_of_the_subtree_that_fits),
        TEST(test_ledger_borrow_height_counts_what_is_kept),
        TEST(test_ledger_unknown_cell_is_refused),
        TEST(test_ledger_unknown_node_is_refused),
        TEST(test_ledger_node_beyond_capacity_is_refused),
        TEST(test_ledger_node_in_use_is_refused),
        TEST(test_ledger_cycle_is_refused),
        TEST(test_ledger_too_deep_is_refused),
        TEST(test_ledger_amount_out_of_range_is_refused),
        TEST(test_ledger_usage_too_large_is_refused),
        TEST(test_ledger_more_than_held_is_refused),
        TEST(test_ledger_structure_under_a_trial_is_refused),
        TEST(test_ledger_cells_full_is_refused_and_given_back_cells_are_used_again),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
