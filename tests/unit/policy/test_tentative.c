/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a cycle has promised and whom it has evicted, tree by tree. */
#include "fixture.h"

#include "kernel/commit/promise.h"
#include "policy/preemption/tentative.h"

static int forget_all(void **state)
{
    sl_tentative_clear();
    return fx_teardown(state);
}

static void test_tentative_promises_are_taken_tree_by_tree(void **state)
{
    (void)state;
    sl_qnode_id one = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_qnode_id two = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_cell_id cell = sl_offers_first(one);
    assert_true(sl_tentative_promise(one, cell, 3, true));
    assert_true(sl_tentative_promise(one, cell, 4, false));
    assert_true(sl_tentative_promise(two, sl_offers_first(two), 5, true));
    assert_int_equal(sl_promise_count(), 2); /* what the kernel has been told */
    uint32_t mark = sl_trail_begin();
    assert_true(sl_tentative_take_promised(one));
    assert_int_equal(sl_ledger_usage(cell), 7);
    assert_int_equal(sl_ledger_usage(sl_offers_first(two)), 0);
    sl_trail_rollback(mark);
    assert_int_equal(sl_ledger_usage(cell), 0);
    sl_tentative_clear();
    assert_int_equal(sl_promise_count(), 0);
    mark = sl_trail_begin();
    assert_true(sl_tentative_take_promised(one));
    assert_int_equal(sl_ledger_usage(cell), 0);
    sl_trail_rollback(mark);
}

static void test_tentative_bad_promise_is_refused(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    assert_false(sl_tentative_promise(SL_QNODES_MAX, sl_offers_first(queue), 1, true));
    assert_false(sl_tentative_promise(queue, sl_offers_first(queue), -1, true));
    assert_false(sl_tentative_promise(queue, SL_NO_ID, 1, true));
    assert_int_equal(sl_promise_count(), 0);
    uint32_t mark = sl_trail_begin();
    assert_true(sl_tentative_take_promised(queue));
    assert_true(sl_tentative_take_promised(SL_QNODES_MAX));
    sl_trail_rollback(mark);
}

static void test_tentative_promise_that_cannot_be_charged_is_said(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_cell_id cell = sl_offers_first(queue);
    assert_true(sl_tentative_promise(queue, cell, SL_AMOUNT_MAX, true));
    assert_true(sl_tentative_promise(queue, cell, SL_AMOUNT_MAX, true));
    uint32_t mark = sl_trail_begin();
    assert_false(sl_tentative_take_promised(queue));
    sl_trail_rollback(mark);
}

static void test_tentative_victims_are_listed_once_and_free_what_they_hold(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_workload_id a = fx_workload(queue, 2, 1, 4);
    sl_workload_id b = fx_workload(queue, 1, 1, 3);
    assert_int_equal(fx_rest(), 2);
    sl_tentative_evict(queue, a);
    sl_tentative_evict(queue, b);
    sl_tentative_evict(queue, a);
    sl_tentative_evict(SL_QNODES_MAX, a);
    assert_int_equal(sl_tentative_gone_count(queue), 2);
    assert_int_equal(sl_tentative_first_gone(queue), a);
    assert_int_equal(sl_tentative_next_gone(a), b);
    assert_int_equal(sl_tentative_next_gone(b), SL_NO_ID);
    assert_true(sl_tentative_is_gone(b));
    assert_false(sl_tentative_is_gone(SL_NO_ID));
    uint32_t mark = sl_trail_begin();
    assert_true(sl_tentative_free(b));
    assert_int_equal(sl_ledger_usage(sl_offers_first(queue)), 4);
    assert_false(sl_tentative_free_gone(queue)); /* b holds nothing any more */
    sl_trail_rollback(mark);
    mark = sl_trail_begin();
    assert_true(sl_tentative_free_gone(queue));
    assert_int_equal(sl_ledger_usage(sl_offers_first(queue)), 0);
    sl_trail_rollback(mark);
    assert_int_equal(sl_ledger_usage(sl_offers_first(queue)), 7);
    sl_tentative_clear();
    assert_false(sl_tentative_is_gone(a));
    assert_int_equal(sl_tentative_first_gone(queue), SL_NO_ID);
    assert_int_equal(sl_tentative_gone_count(queue), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_tentative_promises_are_taken_tree_by_tree, forget_all),
        cmocka_unit_test_teardown(test_tentative_bad_promise_is_refused, forget_all),
        cmocka_unit_test_teardown(test_tentative_promise_that_cannot_be_charged_is_said,
                                  forget_all),
        cmocka_unit_test_teardown(test_tentative_victims_are_listed_once_and_free_what_they_hold,
                                  forget_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
