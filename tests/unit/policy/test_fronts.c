/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Queues that admit by usage: whose account used less goes first. */
#include "fixture.h"

#include "policy/queues/fronts.h"
#include "policy/common/settings.h"

enum { ALICE = 10, BOB = 11 };

static sl_qnode_id queue_by_usage(int64_t cpu)
{
    sl_qnode_id node = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, cpu);
    struct sl_rules rules = sl_offers_rules(node);
    rules.by_usage = true;
    assert_int_equal(sl_queues_configure(node, rules, true), SL_OK);
    sl_usage_configure(10000, 1000);
    assert_int_equal(sl_usage_set_resource(CPU, 1000000000, true), SL_OK);
    sl_usage_close(ALICE);
    sl_usage_close(BOB);
    return node;
}

static sl_workload_id workload_of(sl_account_id account, sl_qnode_id queue, int64_t queued_at_ms,
                                  int64_t cpu)
{
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, cpu);
    sl_usage_set_account(id, account);
    fx_attach(id, queue, 0, queued_at_ms);
    return id;
}

static void test_fronts_by_usage_alternate_between_accounts(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_by_usage(4);
    sl_workload_id a1 = workload_of(ALICE, queue, 1, 1);
    sl_workload_id a2 = workload_of(ALICE, queue, 2, 1);
    sl_workload_id b1 = workload_of(BOB, queue, 3, 1);
    assert_int_equal(sl_queues_heap_count(queue), 3);
    assert_int_equal(fx_cycle(), 1);
    fx_assert_place(a1, SL_PLACE_HOLDING);
    assert_true(sl_usage_consumed(ALICE, CPU).milli + sl_usage_pending(ALICE, CPU).milli >= 0);
    sl_usage_restore(ALICE, CPU, (struct sl_usage_amount){1000, 0}, fx_now);
    assert_int_equal(fx_cycle(), 1);
    fx_assert_place(b1, SL_PLACE_HOLDING);
    assert_int_equal(fx_cycle(), 1);
    fx_assert_place(a2, SL_PLACE_HOLDING);
}

static void test_fronts_by_usage_change_the_head_without_a_new_arrival(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_by_usage(1);
    sl_workload_id a = workload_of(ALICE, queue, 1, 1);
    sl_workload_id b = workload_of(BOB, queue, 2, 1);
    assert_int_equal(sl_fronts_first(queue, SL_NO_ID), a);
    sl_usage_restore(ALICE, CPU, (struct sl_usage_amount){5000, 0}, fx_now);
    assert_int_equal(sl_fronts_first(queue, SL_NO_ID), b);
    assert_int_equal(sl_fronts_first(queue, a), b); /* sticky within its own account only */
    sl_usage_restore(BOB, CPU, (struct sl_usage_amount){9000, 0}, fx_now);
    assert_int_equal(sl_fronts_first(queue, b), a);
}

static void test_fronts_of_one_shape_are_parked_together_whatever_the_account(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_by_usage(2);
    sl_workload_id a = workload_of(ALICE, queue, 1, 5);
    sl_workload_id b = workload_of(BOB, queue, 2, 5);
    assert_int_equal(fx_cycle(), 0);
    fx_assert_place(a, SL_PLACE_INADMISSIBLE);
    fx_assert_place(b, SL_PLACE_INADMISSIBLE);
    sl_workload_id later = workload_of(12, queue, 3, 5);
    fx_assert_place(later, SL_PLACE_INADMISSIBLE);
    assert_int_equal(sl_queues_parked_count(queue), 3);
    sl_queues_wake_queue(queue);
    sl_queues_flush();
    assert_int_equal(sl_queues_heap_count(queue), 3);
    assert_true(sl_queues_valid());
}

static void test_fronts_are_listed_in_the_order_of_usage(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_by_usage(2);
    sl_workload_id a1 = workload_of(ALICE, queue, 1, 5);
    sl_workload_id a2 = workload_of(ALICE, queue, 2, 5);
    sl_workload_id b = workload_of(BOB, queue, 3, 5);
    assert_int_equal(fx_cycle(), 0);
    sl_workload_id never_tried =
        workload_of(12, queue, 4, 5); /* goes to its like, which are parked */
    sl_usage_restore(ALICE, CPU, (struct sl_usage_amount){5000, 0}, fx_now);
    sl_usage_restore(BOB, CPU, (struct sl_usage_amount){2000, 0}, fx_now);
    const sl_workload_id order[] = {never_tried, b, a1, a2};
    for (int again = 0; again < 2; again++) {
        assert_int_equal(sl_queues_list(queue), 4);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(sl_queues_listed(i), order[i]);
        }
    }
}

static void test_fronts_of_a_queue_that_stops_ranking_by_usage_are_ordered_by_time(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_by_usage(1);
    sl_workload_id a = workload_of(ALICE, queue, 1, 1);
    (void)workload_of(BOB, queue, 2, 1);
    sl_usage_restore(ALICE, CPU, (struct sl_usage_amount){5000, 0}, fx_now);
    struct sl_rules rules = sl_offers_rules(queue);
    rules.by_usage = false;
    assert_int_equal(sl_queues_configure(queue, rules, true), SL_OK);
    assert_true(sl_queues_valid());
    assert_int_equal(sl_fronts_first(queue, SL_NO_ID), a);
    assert_int_equal(sl_fronts_account(queue, a), SL_NO_ID);
}

static void test_fronts_of_an_account_that_moves_stand_at_the_new_queue(void **state)
{
    (void)state;
    sl_qnode_id here = queue_by_usage(1);
    sl_qnode_id there = queue_by_usage(1);
    sl_workload_id a = workload_of(ALICE, here, 1, 1);
    sl_workload_id b = workload_of(BOB, here, 2, 1);
    fx_attach(a, there, 0, 1);
    assert_int_equal(sl_fronts_first(there, SL_NO_ID), a);
    assert_int_equal(sl_fronts_first(here, SL_NO_ID), b);
    assert_int_equal(sl_fronts_count(here), 1);
    assert_false(sl_fronts_stands(here, a));
    assert_false(sl_fronts_stands(SL_QNODES_MAX, a));
    assert_int_equal(sl_fronts_first(SL_QNODES_MAX, a), SL_NO_ID);
    assert_int_equal(sl_fronts_count(SL_QNODES_MAX), 0);
    assert_true(sl_queues_valid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_fronts_by_usage_alternate_between_accounts),
        FX_TEST(test_fronts_by_usage_change_the_head_without_a_new_arrival),
        FX_TEST(test_fronts_of_one_shape_are_parked_together_whatever_the_account),
        FX_TEST(test_fronts_are_listed_in_the_order_of_usage),
        FX_TEST(test_fronts_of_a_queue_that_stops_ranking_by_usage_are_ordered_by_time),
        FX_TEST(test_fronts_of_an_account_that_moves_stand_at_the_new_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
