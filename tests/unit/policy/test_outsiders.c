/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Outsiders: each is turned away when a cycle comes to it, once, and stands in nobody's way. */
#include "fixture.h"

#include "policy/queues/outsiders.h"

static sl_workload_id new_outsider(sl_qnode_id queue, int64_t queued_at_ms, int64_t cpu)
{
    sl_workload_id id = fx_workload(queue, 0, queued_at_ms, cpu);
    sl_outsiders_set(id, true);
    sl_queues_retry(id, fx_now);
    return id;
}

static void assert_turned_away(sl_workload_id id, sl_qnode_id queue)
{
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    assert_int_equal(sl_queues_queue_of(id), queue);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_MISCONFIGURED);
    assert_false(sl_queues_awaits_turn(id));
    assert_true(sl_outsiders_turned_away(id));
    assert_true(sl_queues_valid());
}

static void test_outsiders_are_turned_away_one_a_cycle(void **state)
{
    (void)state;
    for (enum sl_strategy s = SL_BEST_EFFORT_FIFO; s <= SL_STRICT_FIFO; s++) {
        sl_qnode_id queue = fx_queue(SL_NO_ID, s, 4);
        sl_workload_id first = new_outsider(queue, 1, 2);
        sl_workload_id second = new_outsider(queue, 2, 2);
        sl_workload_id third = fx_workload(queue, 0, 3, 2);
        assert_int_equal(fx_cycle(), 0);
        assert_int_equal(fx_outcome_count, 1);
        assert_int_equal(fx_outcomes[0].workload, first);
        assert_int_equal(fx_outcomes[0].reason, SL_PENDING_MISCONFIGURED);
        assert_true(fx_outcomes[0].outsider);
        assert_true(fx_outcomes[0].did.news[SL_CHANGED_REASON]);
        assert_turned_away(first, queue);
        assert_int_not_equal(sl_workloads[second].pending_reason, SL_PENDING_MISCONFIGURED);
        assert_int_equal(fx_rest(), 1);
        assert_turned_away(second, queue);
        fx_assert_place(third, SL_PLACE_HOLDING);
        assert_int_equal(sl_queues_parked_count(queue), 2);
    }
}

static void test_outsiders_are_passed_over_by_wake_ups(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = new_outsider(queue, 1, 2);
    assert_int_equal(fx_rest(), 0);
    sl_queues_wake_tree(queue);
    sl_queues_wake_queue(queue);
    sl_queues_flush();
    sl_queues_owe(id);
    sl_queues_pay();
    sl_queues_settle(id, fx_now);
    sl_queues_retry(id, fx_now);
    sl_queues_set_key(id, fx_key(7, 1, id));
    assert_turned_away(id, queue);
    assert_false(sl_queues_ready());
    assert_int_equal(sl_cycle_begin(fx_now), 0);
    assert_false(sl_cycle_end());
}

static void test_outsiders_that_are_none_any_more_are_tried_at_once(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_STRICT_FIFO, 4);
    sl_workload_id id = new_outsider(queue, 1, 2);
    assert_int_equal(fx_rest(), 0);
    sl_outsiders_set(id, true);
    assert_turned_away(id, queue);
    sl_outsiders_set(id, false);
    sl_queues_retry(id, fx_now);
    fx_assert_place(id, SL_PLACE_HEAP);
    assert_true(sl_queues_ready());
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
}

static void test_outsiders_keep_nobody_of_their_shape_waiting(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 2);
    sl_workload_id outsider = new_outsider(queue, 1, 2);
    sl_workload_id served = fx_workload(queue, 0, 2, 2);
    sl_workload_id waits = fx_workload(queue, 0, 3, 2);
    assert_int_equal(fx_rest(), 1);
    assert_turned_away(outsider, queue);
    fx_assert_place(served, SL_PLACE_HOLDING);
    fx_finish(served);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(waits, SL_PLACE_HOLDING);
    assert_turned_away(outsider, queue);
}

static void test_outsiders_that_come_back_are_turned_away_anew(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = new_outsider(queue, 1, 2);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(fx_event(id, SL_EV_DEACTIVATE, 0, 0, 0), SL_OK);
    assert_false(sl_outsiders_turned_away(id));
    assert_int_equal(fx_event(id, SL_EV_REACTIVATE, 0, 0, 0), SL_OK);
    fx_assert_place(id, SL_PLACE_HEAP);
    assert_int_not_equal(sl_workloads[id].pending_reason, SL_PENDING_MISCONFIGURED);
    assert_int_equal(fx_rest(), 0);
    assert_turned_away(id, queue);
}

static void test_outsiders_are_so_in_one_queue_only(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_qnode_id other = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = new_outsider(queue, 1, 2);
    assert_int_equal(fx_rest(), 0);
    fx_attach(id, other, 0, 1);
    assert_false(sl_outsiders_is(id));
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
}

static void test_outsiders_forgotten_with_the_workload(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = new_outsider(queue, 1, 2);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(fx_event(id, SL_EV_DELETE, 0, 0, 0), SL_OK);
    assert_false(sl_outsiders_is(id));
    assert_false(sl_outsiders_turned_away(id));
    assert_int_equal(sl_queues_parked_count(queue), 0);
}

static void test_outsiders_out_of_range_have_no_effect(void **state)
{
    (void)state;
    sl_outsiders_set(SL_WORKLOADS_MAX, true);
    sl_outsiders_turn_away(SL_WORKLOADS_MAX);
    sl_outsiders_forget(SL_NO_ID);
    assert_false(sl_outsiders_is(SL_WORKLOADS_MAX));
    assert_false(sl_outsiders_turned_away(SL_NO_ID));
    sl_workload_id id = fx_create();
    sl_outsiders_turn_away(id); /* it is none */
    assert_false(sl_outsiders_turned_away(id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_outsiders_are_turned_away_one_a_cycle),
        FX_TEST(test_outsiders_are_passed_over_by_wake_ups),
        FX_TEST(test_outsiders_that_are_none_any_more_are_tried_at_once),
        FX_TEST(test_outsiders_keep_nobody_of_their_shape_waiting),
        FX_TEST(test_outsiders_that_come_back_are_turned_away_anew),
        FX_TEST(test_outsiders_are_so_in_one_queue_only),
        FX_TEST(test_outsiders_forgotten_with_the_workload),
        FX_TEST(test_outsiders_out_of_range_have_no_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
