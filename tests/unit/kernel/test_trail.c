/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Trials on the live ledger: rolled back exactly, kept, nested, and full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/ledger/ledger.h"
#include "kernel/ledger/trail.h"
#include "policy/flavors/open_cell.h"

enum { TOP, QUEUE, OTHER };

static sl_cell_id top, queue, other;

/* QUEUE and OTHER under TOP, ten each, of which OTHER lends four. */
static int setup(void **state)
{
    (void)state;
    for (sl_qnode_id node = TOP; node <= OTHER; node++) {
        assert_int_equal(sl_ledger_open_qnode(node), SL_OK);
    }
    assert_int_equal(sl_ledger_move_qnode(QUEUE, TOP), SL_OK);
    assert_int_equal(sl_ledger_move_qnode(OTHER, TOP), SL_OK);
    assert_int_equal(sl_ledger_open_cell(QUEUE, 0, 0, &queue), SL_OK);
    assert_int_equal(sl_ledger_open_cell(OTHER, 0, 0, &other), SL_OK);
    assert_int_equal(sl_ledger_open_cell(TOP, 0, 0, &top), SL_OK);
    assert_int_equal(sl_ledger_set_quota(queue, 10, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    assert_int_equal(sl_ledger_set_quota(other, 10, 4, SL_AMOUNT_UNLIMITED), SL_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_false(sl_trail_open());
    assert_true(sl_ledger_valid());
    assert_int_equal(sl_ledger_release(queue, sl_ledger_own(queue)), SL_OK);
    assert_int_equal(sl_ledger_release(other, sl_ledger_own(other)), SL_OK);
    assert_int_equal(sl_ledger_close_qnode(QUEUE), SL_OK);
    assert_int_equal(sl_ledger_close_qnode(OTHER), SL_OK);
    assert_int_equal(sl_ledger_close_qnode(TOP), SL_OK);
    return 0;
}

static void expect(int64_t in_top, int64_t in_queue, int64_t in_other)
{
    assert_int_equal(sl_ledger_usage(top), in_top);
    assert_int_equal(sl_ledger_usage(queue), in_queue);
    assert_int_equal(sl_ledger_usage(other), in_other);
    assert_int_equal(sl_ledger_own(queue), in_queue);
    assert_int_equal(sl_ledger_own(other), in_other);
    assert_true(sl_ledger_valid());
}

static void test_trail_rollback_restores_every_array(void **state)
{
    (void)state;
    assert_int_equal(sl_ledger_reserve(queue, 3), SL_OK);
    assert_int_equal(sl_ledger_reserve(other, 8), SL_OK);
    expect(5, 3, 8);

    uint32_t mark = sl_trail_begin();
    assert_int_equal(sl_ledger_release(other, 8), SL_OK);
    assert_int_equal(sl_ledger_reserve(queue, 9), SL_OK);
    assert_int_equal(sl_ledger_release(queue, 2), SL_OK);
    assert_int_equal(sl_ledger_charge(queue, 100), SL_OK);
    expect(110, 110, 0);
    sl_trail_rollback(mark);

    expect(5, 3, 8);
}

static void test_trail_keep_leaves_the_changes(void **state)
{
    (void)state;
    uint32_t mark = sl_trail_begin();
    assert_true(sl_trail_open());
    assert_int_equal(sl_ledger_reserve(queue, 4), SL_OK);
    sl_trail_keep(mark);
    assert_false(sl_trail_open());
    expect(4, 4, 0);
}

static void test_trail_outer_rollback_takes_back_what_inner_kept(void **state)
{
    (void)state;
    uint32_t outer = sl_trail_begin();
    assert_int_equal(sl_ledger_reserve(queue, 4), SL_OK);
    uint32_t inner = sl_trail_begin();
    assert_int_equal(sl_ledger_reserve(other, 7), SL_OK);
    sl_trail_keep(inner);
    expect(5, 4, 7);
    assert_true(sl_trail_open());
    sl_trail_rollback(outer);
    expect(0, 0, 0);
}

static void test_trail_inner_rollback_leaves_what_outer_did(void **state)
{
    (void)state;
    uint32_t outer = sl_trail_begin();
    assert_int_equal(sl_ledger_reserve(queue, 4), SL_OK);
    uint32_t inner = sl_trail_begin();
    assert_int_equal(sl_ledger_reserve(other, 7), SL_OK);
    sl_trail_rollback(inner);
    expect(4, 4, 0);
    sl_trail_keep(outer);
    expect(4, 4, 0);
}

static void test_trail_full_is_refused_without_effect(void **state)
{
    (void)state;
    uint32_t mark = sl_trail_begin();
    enum sl_status status = SL_OK;
    for (uint32_t i = 0; i < SL_TRAIL_MAX && status == SL_OK; i++) {
        status = sl_ledger_reserve(queue, 1);
        if (status == SL_OK) {
            status = sl_ledger_release(queue, 1);
        }
    }
    assert_int_equal(status, SL_FULL_TRAIL);
    assert_int_equal(sl_ledger_charge(queue, 1), SL_FULL_TRAIL);
    assert_int_equal(sl_ledger_release(queue, 0), SL_FULL_TRAIL);
    sl_trail_rollback(mark);
    expect(0, 0, 0);
    assert_int_equal(sl_ledger_reserve(queue, 1), SL_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_trail_rollback_restores_every_array),
        TEST(test_trail_keep_leaves_the_changes),
        TEST(test_trail_outer_rollback_takes_back_what_inner_kept),
        TEST(test_trail_inner_rollback_leaves_what_outer_did),
        TEST(test_trail_full_is_refused_without_effect),
    };
    return cmocka_run_group_tests_name("trail", tests, NULL, NULL);
}
