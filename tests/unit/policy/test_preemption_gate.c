/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption gates: whoever has a closed one takes what is free, evicts no workload, and stands in nobody's way. */
#include "fixture.h"

#include "kernel/preempt/preempt.h"
#include "policy/requests/preemption_gate.h"

static sl_qnode_id queue_of(enum sl_strategy strategy)
{
    sl_qnode_id queue = fx_queue(SL_NO_ID, strategy, 4);
    struct sl_preempt_policy policy = {SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER, false, false, 0};
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
    return queue;
}

static sl_workload_id new_gated(sl_qnode_id queue, int32_t priority, int64_t cpu)
{
    sl_workload_id id = fx_workload(queue, priority, 1, cpu);
    sl_preemption_gate_set(id, true);
    assert_true(sl_preemption_gate_closed(id));
    return id;
}

static void open_gate(sl_workload_id id)
{
    sl_preemption_gate_set(id, false);
    assert_false(sl_preemption_gate_closed(id));
    sl_queues_retry(id, fx_now);
}

/* One that holds three of four. */
static sl_workload_id holder(sl_qnode_id queue)
{
    sl_workload_id id = fx_workload(queue, 0, 1, 3);
    assert_int_equal(fx_rest(), 1);
    return id;
}

static void assert_gated(sl_workload_id id, sl_workload_id spared)
{
    assert_int_equal(fx_outcomes[0].workload, id);
    assert_int_equal(fx_outcomes[0].result, SL_CYCLE_PENDING);
    assert_int_equal(fx_outcomes[0].status, SL_OK);
    assert_int_equal(fx_outcomes[0].reason, SL_PENDING_GATED);
    assert_int_equal(fx_outcomes[0].victim_count, 0);
    assert_int_equal(sl_cycle_evicted.count, 0);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_GATED);
    assert_int_equal(sl_workloads[spared].phase, SL_PHASE_ADMITTED);
    assert_int_equal(sl_promise_count(), 0);
    assert_true(sl_queues_valid());
}

static void test_preemption_gate_keeps_victims(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_BEST_EFFORT_FIFO);
    sl_workload_id low = holder(queue);
    sl_workload_id high = new_gated(queue, 5, 2);
    assert_int_equal(fx_cycle(), 0);
    assert_gated(high, low);
    fx_assert_place(high, SL_PLACE_INADMISSIBLE);
    assert_false(sl_queues_ready());
    open_gate(high);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(fx_outcomes[0].reason, SL_PENDING_PREEMPTED_WORKLOADS);
    assert_int_equal(sl_workloads[low].phase, SL_PHASE_EVICTED);
}

static void test_preemption_gate_lets_lower_priorities_pass(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_BEST_EFFORT_FIFO);
    sl_workload_id low = holder(queue);
    (void)new_gated(queue, 5, 2);
    sl_workload_id small = fx_workload(queue, 0, 2, 1);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(small, SL_PLACE_HOLDING);
    assert_int_equal(sl_workloads[low].phase, SL_PHASE_ADMITTED);
}

/* Kueue tries the head of a strict queue again and again; here it takes part whenever others in its tree do. */
static void test_preemption_gate_holds_up_a_strict_queue(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_STRICT_FIFO);
    sl_workload_id low = holder(queue);
    sl_workload_id high = new_gated(queue, 5, 2);
    sl_workload_id small = fx_workload(queue, 0, 2, 1);
    assert_int_equal(fx_cycle(), 0);
    assert_gated(high, low);
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(high, SL_PLACE_HEAP);
    fx_assert_place(small, SL_PLACE_HEAP);
    open_gate(high);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[low].phase, SL_PHASE_EVICTED);
}

static void test_preemption_gate_is_no_matter_where_it_fits(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_BEST_EFFORT_FIFO);
    (void)holder(queue);
    sl_workload_id id = new_gated(queue, 5, 1);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
}

/* What has no victims is told so, as without a gate. */
static void test_preemption_gate_is_no_matter_where_there_are_no_victims(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_BEST_EFFORT_FIFO);
    (void)holder(queue);
    (void)new_gated(queue, 0, 2);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(fx_outcomes[0].reason, SL_PENDING_WAITING_FOR_QUOTA);
}

/* Two of one shape: the gate is the one's alone. */
static void test_preemption_gate_is_no_matter_for_others_of_the_shape(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_BEST_EFFORT_FIFO);
    sl_workload_id low = holder(queue);
    sl_workload_id high = new_gated(queue, 5, 2);
    sl_workload_id like = fx_workload(queue, 5, 2, 2);
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(high, SL_PLACE_INADMISSIBLE);
    assert_int_equal(sl_workloads[high].pending_reason, SL_PENDING_GATED);
    assert_int_equal(sl_workloads[like].pending_reason, SL_PENDING_PREEMPTED_WORKLOADS);
    assert_int_equal(sl_workloads[low].phase, SL_PHASE_EVICTED);
}

static void test_preemption_gate_wakes_with_its_queue(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_BEST_EFFORT_FIFO);
    sl_workload_id low = holder(queue);
    sl_workload_id high = new_gated(queue, 5, 2);
    assert_int_equal(fx_rest(), 0);
    fx_finish(low);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(high, SL_PLACE_HOLDING);
}

/* Two of one shape that find no victims: whoever opens gates has to hear of both. */
static void test_preemption_gate_lets_each_be_tried(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_BEST_EFFORT_FIFO);
    (void)holder(queue);
    sl_workload_id first = new_gated(queue, 0, 2);
    assert_int_equal(fx_rest(), 0);
    sl_workload_id second = new_gated(queue, 0, 2);
    sl_queues_retry(second, fx_now);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[first].pending_reason, SL_PENDING_WAITING_FOR_QUOTA);
    assert_int_equal(sl_workloads[second].pending_reason, SL_PENDING_WAITING_FOR_QUOTA);
    sl_workload_id plain = fx_workload(queue, 0, 3, 2); /* it waits with those of its shape */
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[plain].pending_reason, SL_PENDING_EVALUATION);
    sl_queues_wake_queue(queue);
    assert_int_equal(fx_rest(), 0);
    assert_true(sl_queues_valid());
}

/* While it was closed a newer one of its shape, which has fewer victims, had all of them parked. */
static void test_preemption_gate_opens_though_its_shape_is_parked(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_BEST_EFFORT_FIFO);
    struct sl_preempt_policy policy = {SL_WITHIN_LOWER_OR_NEWER_EQUAL, SL_RECLAIM_NEVER, false,
                                       false, 0};
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
    sl_workload_id victim = fx_workload(queue, 0, 5, 3);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id older = fx_workload(queue, 0, 1, 2);
    sl_preemption_gate_set(older, true);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[older].pending_reason, SL_PENDING_GATED);
    sl_workload_id newer = fx_workload(queue, 0, 9, 2);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[newer].pending_reason, SL_PENDING_WAITING_FOR_QUOTA);
    open_gate(older);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[victim].phase, SL_PHASE_EVICTED);
}

/* What is left of it in its slot is not the next one's. */
static void test_preemption_gate_is_no_news_of_the_next_in_its_slot(void **state)
{
    (void)state;
    sl_qnode_id queue = queue_of(SL_BEST_EFFORT_FIFO);
    (void)holder(queue);
    sl_workload_id id = new_gated(queue, 0, 2);
    assert_true(sl_preemption_gate_is_news(id));
    assert_int_equal(fx_event(id, SL_EV_DELETE, 0, 0, 0), SL_OK);
    assert_false(sl_preemption_gate_is_news(id));
    sl_preemption_gate_set(id, false);
    sl_queues_retry(id, fx_now);
    assert_false(sl_preemption_gate_is_news(id));
}

static void test_preemption_gate_of_no_workload_is_open(void **state)
{
    (void)state;
    sl_preemption_gate_set(SL_WORKLOADS_MAX, true);
    sl_preemption_gate_set(SL_NO_ID, true);
    assert_false(sl_preemption_gate_closed(SL_WORKLOADS_MAX));
    assert_false(sl_preemption_gate_closed(SL_NO_ID));
    sl_preemption_gate_note_tried(SL_WORKLOADS_MAX);
    assert_false(sl_preemption_gate_is_news(SL_WORKLOADS_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_preemption_gate_keeps_victims),
        FX_TEST(test_preemption_gate_lets_lower_priorities_pass),
        FX_TEST(test_preemption_gate_holds_up_a_strict_queue),
        FX_TEST(test_preemption_gate_is_no_matter_where_it_fits),
        FX_TEST(test_preemption_gate_is_no_matter_where_there_are_no_victims),
        FX_TEST(test_preemption_gate_is_no_matter_for_others_of_the_shape),
        FX_TEST(test_preemption_gate_wakes_with_its_queue),
        FX_TEST(test_preemption_gate_lets_each_be_tried),
        FX_TEST(test_preemption_gate_opens_though_its_shape_is_parked),
        FX_TEST(test_preemption_gate_is_no_news_of_the_next_in_its_slot),
        FX_TEST(test_preemption_gate_of_no_workload_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
