/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is held beyond all that quotas allow, after one was lowered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/ledger/cells.h"
#include "kernel/lifecycle/excess.h"
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

static void expect_excess(int64_t alpha, int64_t beta, int64_t gamma)
{
    assert_int_equal(sl_excess_of(cells[ALPHA]), alpha);
    assert_int_equal(sl_excess_of(cells[BETA]), beta);
    assert_int_equal(sl_excess_of(cells[GAMMA]), gamma);
}

static void test_excess_what_the_cohort_allows_is_none(void **state)
{
    (void)state;
    quota(ALPHA, 4, NONE, NONE);
    quota(GAMMA, 6, NONE, NONE);
    reserve(ALPHA, 10); /* six of it borrowed */
    expect_excess(0, 0, 0);
}

/* Who keeps to its own quota has no part in it. */
static void test_excess_is_of_those_above_their_own_quota(void **state)
{
    (void)state;
    quota(ALPHA, 4, NONE, NONE);
    quota(GAMMA, 6, NONE, NONE);
    reserve(ALPHA, 4);
    reserve(GAMMA, 6);
    quota(GAMMA, 1, NONE, NONE);
    expect_excess(0, 0, 5);
    quota(ALPHA, 2, NONE, NONE);
    expect_excess(2, 0, 5);
}

static void test_excess_is_no_more_than_nobody_else_has_left(void **state)
{
    (void)state;
    quota(ALPHA, 4, NONE, NONE);
    quota(BETA, 3, NONE, NONE);
    reserve(ALPHA, 4);
    quota(ALPHA, 0, NONE, NONE); /* three of it are borrowed now */
    expect_excess(1, 0, 0);
}

static void test_excess_over_the_borrowing_limit(void **state)
{
    (void)state;
    quota(ALPHA, 4, NONE, NONE);
    quota(GAMMA, 10, NONE, NONE);
    reserve(ALPHA, 9);
    quota(ALPHA, 4, NONE, 2);
    expect_excess(3, 0, 0);
}

static void test_excess_of_no_cell_is_none(void **state)
{
    (void)state;
    assert_int_equal(sl_excess_of(SL_NO_ID), 0);
    expect_excess(0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_excess_what_the_cohort_allows_is_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_excess_is_of_those_above_their_own_quota, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_excess_is_no_more_than_nobody_else_has_left, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_excess_over_the_borrowing_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_excess_of_no_cell_is_none, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
