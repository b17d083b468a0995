/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The cycle: who gets quota, who waits and why, and that everything comes to rest. */
#include "fixture.h"

static const struct sl_cycle_outcome *outcome_of(sl_workload_id id)
{
    for (uint32_t i = 0; i < fx_outcome_count; i++) {
        if (fx_outcomes[i].workload == id) {
            return &fx_outcomes[i];
        }
    }
    fail_msg("no outcome for workload %u", id);
    return NULL;
}

static void test_cycle_head_that_fits_gets_quota(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_workload_id id = fx_workload(queue, 0, 1, 4);
    fx_assert_place(id, SL_PLACE_HEAP);
    assert_int_equal(sl_cycle_begin(fx_now), 1);
    fx_assert_place(id, SL_PLACE_IN_FLIGHT);
    assert_true(sl_cycle_next());
    assert_int_equal(sl_cycle_outcome.workload, id);
    assert_int_equal(sl_cycle_outcome.generation, sl_workloads[id].generation);
    assert_int_equal(sl_cycle_outcome.cluster_queue, queue);
    assert_int_equal(sl_cycle_outcome.result, SL_CYCLE_RESERVED);
    assert_int_equal(sl_cycle_outcome.status, SL_OK);
    assert_int_equal(sl_cycle_outcome.place, SL_PLACE_HOLDING);
    assert_int_equal(sl_assignment.choice_count, 1);
    assert_int_equal(sl_assignment.choices[0].flavor, SPOT);
    assert_int_equal(sl_assignment.choices[0].amount, 4);
    assert_false(sl_cycle_next());
    assert_false(sl_cycle_end());
    assert_int_equal(sl_ledger_usage(sl_offers_first(queue)), 4);
}

static void test_cycle_nothing_to_try_gives_no_outcome(void **state)
{
    (void)state;
    assert_int_equal(sl_cycle_begin(fx_now), 0);
    assert_false(sl_cycle_next());
    assert_false(sl_cycle_end());
}

static void test_cycle_ties_are_decided_by_uid(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id first = fx_workload(queue, 0, 1, 4);
    sl_workload_id second = fx_workload(queue, 0, 1, 4);
    sl_queues_set_key(first, fx_key(0, 1, 20));
    sl_queues_set_key(second, fx_key(0, 1, 10));
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(second, SL_PLACE_HOLDING);
    fx_assert_place(first, SL_PLACE_INADMISSIBLE);
}

static void test_cycle_best_effort_lets_smaller_ones_pass(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id running = fx_workload(queue, 9, 1, 1);
    sl_workload_id large = fx_workload(queue, 5, 1, 4);
    sl_workload_id small = fx_workload(queue, 0, 1, 3);
    assert_int_equal(fx_rest(), 2);
    fx_assert_place(running, SL_PLACE_HOLDING);
    fx_assert_place(small, SL_PLACE_HOLDING);
    fx_assert_place(large, SL_PLACE_INADMISSIBLE);
    assert_int_equal(sl_workloads[large].pending_reason, SL_PENDING_WAITING_FOR_QUOTA);
    assert_int_equal(sl_queues_parked_count(queue), 1);
}

static void test_cycle_strict_head_holds_up_its_queue_and_does_not_spin(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_STRICT_FIFO, 4);
    sl_workload_id running = fx_workload(queue, 9, 1, 1);
    sl_workload_id large = fx_workload(queue, 5, 1, 4);
    sl_workload_id small = fx_workload(queue, 0, 1, 3);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(large, SL_PLACE_HEAP);
    fx_assert_place(small, SL_PLACE_HEAP);
    assert_false(sl_queues_ready());
    assert_int_equal(sl_workloads[large].pending_reason, SL_PENDING_WAITING_FOR_QUOTA);
    assert_int_equal(sl_workloads[small].pending_reason, SL_PENDING_EVALUATION);
    fx_finish(running);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(large, SL_PLACE_HOLDING);
    fx_assert_place(small, SL_PLACE_HEAP);
}

static void test_cycle_strict_queue_moves_on_when_its_head_goes(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_STRICT_FIFO, 4);
    sl_workload_id large = fx_workload(queue, 5, 1, 5);
    sl_workload_id small = fx_workload(queue, 0, 1, 3);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[large].pending_reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(fx_event(large, SL_EV_DEACTIVATE, 0, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(small, SL_PLACE_HOLDING);
    fx_assert_place(large, SL_PLACE_DORMANT);
}

static void test_cycle_strict_queue_moves_on_when_a_better_head_comes(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_STRICT_FIFO, 4);
    sl_workload_id large = fx_workload(queue, 5, 1, 5);
    assert_int_equal(fx_rest(), 0);
    sl_workload_id urgent = fx_workload(queue, 8, 1, 3);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(urgent, SL_PLACE_HOLDING);
    fx_assert_place(large, SL_PLACE_HEAP);
}

static void test_cycle_strict_head_is_tried_again_after_its_spec_changed(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_STRICT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 5, 1, 5);
    assert_int_equal(fx_rest(), 0);
    sl_requests_clear(id);
    fx_pod_set(id, 1, CPU, 4);
    sl_queues_retry(id, fx_now);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
}

/* Two queues of a cohort, each head fits alone, not both: who borrows less goes first. */
static void test_cycle_lower_borrow_height_goes_before_priority(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id small = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 2);
    sl_qnode_id large = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 8);
    sl_workload_id borrower = fx_workload(small, 100, 1, 6);
    sl_workload_id owner = fx_workload(large, 0, 1, 8);
    assert_int_equal(fx_cycle(), 1);
    assert_int_equal(fx_outcome_count, 2);
    assert_int_equal(fx_outcomes[0].workload, owner);
    assert_int_equal(fx_outcomes[0].result, SL_CYCLE_RESERVED);
    assert_int_equal(fx_outcomes[1].workload, borrower);
    assert_int_equal(fx_outcomes[1].result, SL_CYCLE_PENDING);
    assert_true(fx_outcomes[1].overtaken);
    assert_int_equal(fx_outcomes[1].status, SL_OK);
    assert_int_equal(fx_outcomes[1].place, SL_PLACE_HEAP);
    assert_int_equal(fx_cycle(), 0); /* tried once more, as it was overtaken; then it waits */
    fx_assert_place(borrower, SL_PLACE_INADMISSIBLE);
    assert_false(sl_queues_ready());
}

static void test_cycle_of_equal_height_higher_priority_goes_first(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id one = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 2);
    sl_qnode_id two = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 2);
    (void)fx_quota(cohort, SPOT, CPU, 4, SL_AMOUNT_UNLIMITED);
    sl_workload_id low = fx_workload(one, 1, 1, 6);
    sl_workload_id high = fx_workload(two, 2, 5, 6);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(high, SL_PLACE_HOLDING);
    fx_assert_place(low, SL_PLACE_INADMISSIBLE);
}

static void test_cycle_of_equal_priority_earlier_goes_first(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id one = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 2);
    sl_qnode_id two = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 2);
    (void)fx_quota(cohort, SPOT, CPU, 4, SL_AMOUNT_UNLIMITED);
    sl_workload_id late = fx_workload(one, 1, 7, 6);
    sl_workload_id early = fx_workload(two, 1, 5, 6);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(early, SL_PLACE_HOLDING);
    fx_assert_place(late, SL_PLACE_INADMISSIBLE);
}

static void test_cycle_strict_head_that_was_overtaken_is_tried_again_then_blocks(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id small = fx_queue(cohort, SL_STRICT_FIFO, 2);
    sl_qnode_id large = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 8);
    sl_workload_id borrower = fx_workload(small, 100, 1, 6);
    sl_workload_id owner = fx_workload(large, 0, 1, 8);
    assert_int_equal(fx_cycle(), 1);
    assert_true(outcome_of(borrower)->overtaken);
    assert_true(sl_queues_ready());
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(borrower, SL_PLACE_HEAP);
    fx_finish(owner);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(borrower, SL_PLACE_HOLDING);
}

static void test_cycle_reason_is_reported_as_changed_once(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 0, 1, 9);
    (void)fx_cycle();
    assert_true(outcome_of(id)->did.news[SL_CHANGED_REASON]);
    assert_int_equal(outcome_of(id)->reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
    sl_queues_wake_queue(queue);
    (void)fx_cycle();
    assert_false(outcome_of(id)->did.news[SL_CHANGED_REASON]);
}

static void test_cycle_several_pod_sets_of_one_flavor_make_one_claim(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, 4);
    fx_pod_set(id, 3, CPU, 2);
    fx_pod_set(id, 3, CPU, 0);
    fx_attach(id, queue, 0, 1);
    assert_int_equal(fx_cycle(), 1);
    assert_int_equal(sl_commit_usage_count(id), 1);
    assert_int_equal(sl_commit_usage(id, 0).amount, 10);
}

static void test_cycle_more_claims_than_one_may_hold_is_misconfigured(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_node(SL_NO_ID);
    struct sl_rules rules = {.strategy = SL_BEST_EFFORT_FIFO};
    assert_int_equal(sl_queues_configure(queue, rules, true), SL_OK);
    for (sl_flavor_id flavor = 0; flavor < 9; flavor++) {
        for (sl_resource_id resource = 0; resource < 16; resource++) {
            (void)fx_offer(queue, flavor, resource, 1);
        }
    }
    sl_workload_id id = fx_create();
    for (int set = 0; set < 9; set++) {
        fx_pod_set(id, 1, 0, 1);
        for (sl_resource_id resource = 1; resource < 16; resource++) {
            assert_int_equal(sl_requests_add(id, resource, 1), SL_OK);
        }
    }
    fx_attach(id, queue, 0, 1);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(outcome_of(id)->status, SL_FULL_USAGE);
    assert_int_equal(outcome_of(id)->reason, SL_PENDING_MISCONFIGURED);
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
}

static void test_cycle_left_early_puts_everything_back(void **state)
{
    (void)state;
    sl_qnode_id one = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_qnode_id two = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id a = fx_workload(one, 2, 1, 4);
    sl_workload_id b = fx_workload(two, 1, 1, 4);
    (void)sl_cycle_begin(fx_now);
    assert_true(sl_cycle_next());
    assert_true(sl_cycle_end());
    fx_assert_place(a, SL_PLACE_HOLDING);
    fx_assert_place(b, SL_PLACE_HEAP);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(b, SL_PLACE_HOLDING);
}

static void test_cycle_begun_again_puts_the_open_one_back_first(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 2, 1, 4);
    (void)sl_cycle_begin(fx_now);
    fx_assert_place(id, SL_PLACE_IN_FLIGHT);
    assert_int_equal(fx_cycle(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
}

static void test_cycle_workload_that_asks_for_nothing_is_reserved(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 0);
    sl_workload_id id = fx_workload(queue, 0, 1, 0);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
    assert_int_equal(sl_commit_usage_count(id), 0);
}

static void test_cycle_without_the_gate_time_goes_before_priority(void **state)
{
    (void)state;
    sl_settings.priority_sorting_within_cohort = false;
    sl_workload_id urgent = fx_workload(fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4), 9, 2, 4);
    sl_workload_id early = fx_workload(fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4), 0, 1, 4);
    assert_int_equal(fx_cycle(), 2);
    assert_int_equal(fx_outcomes[0].workload, early);
    assert_int_equal(fx_outcomes[1].workload, urgent);
}

static void test_cycle_partial_admission_takes_as_many_pods_as_fit(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 8, CPU, 2);
    assert_int_equal(sl_requests_set_min_count(id, 3), SL_OK);
    fx_attach(id, queue, 0, 1);
    assert_int_equal(fx_cycle(), 1);
    assert_int_equal(sl_assignment.counts[0], 5);
    assert_int_equal(sl_commit_usage(id, 0).amount, 10);
    sl_settings.partial_admission = false;
    sl_workload_id other = fx_create();
    fx_pod_set(other, 8, CPU, 2);
    assert_int_equal(sl_requests_set_min_count(other, 3), SL_OK);
    fx_attach(other, fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10), 0, 1);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(outcome_of(other)->reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
}

/* Less than the least count does not fit either: the reason is that of the full count. */
static void test_cycle_partial_admission_that_fails_says_why_all_do_not_fit(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 8, CPU, 2);
    assert_int_equal(sl_requests_set_min_count(id, 6), SL_OK);
    fx_attach(id, queue, 0, 1);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(sl_assignment.counts[0], 8);
    assert_int_equal(outcome_of(id)->reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
}

static void test_cycle_nobody_is_served_while_pods_are_not_ready(void **state)
{
    (void)state;
    sl_settings.block_until_ready = true;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_qnode_id elsewhere = fx_queue(SL_NO_ID, SL_STRICT_FIFO, 4);
    sl_workload_id first = fx_workload(queue, 5, 1, 1);
    sl_workload_id second = fx_workload(queue, 4, 1, 1);
    sl_workload_id third = fx_workload(elsewhere, 3, 1, 1);
    assert_int_equal(fx_cycle(), 1);
    assert_int_equal(outcome_of(third)->reason, SL_PENDING_PODS_READY);
    assert_false(outcome_of(third)->overtaken);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[second].pending_reason, SL_PENDING_PODS_READY);
    assert_false(sl_queues_ready());
    assert_int_equal(fx_event(first, SL_EV_PODS_READY, 1, 0, 0), SL_OK);
    assert_true(sl_queues_ready());
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(second, SL_PLACE_HOLDING);
    assert_int_equal(fx_event(second, SL_EV_DELETE, 0, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(third, SL_PLACE_HOLDING);
}

static void test_cycle_failed_check_keeps_a_workload_out(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_workload(queue, 5, 1, 1);
    assert_int_equal(fx_event(id, SL_EV_CHECK_ADD, 7, 0, 0), SL_OK);
    assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, 7, SL_CHECK_RETRY, 0), SL_OK);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(outcome_of(id)->reason, SL_PENDING_EVALUATION);
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, 7, SL_CHECK_PENDING, 0), SL_OK);
    sl_queues_retry(id, fx_now);
    assert_int_equal(fx_rest(), 1);
}

static void test_cycle_where_heads_go_back_to(void **state)
{
    (void)state;
    static const enum sl_put best_effort[] = {SL_PUT_ALONE, SL_PUT_PARKED, SL_PUT_PARKED,
                                              SL_PUT_HELD,  SL_PUT_HELD,   SL_PUT_ALONE};
    static const enum sl_put strict[] = {SL_PUT_BLOCKED, SL_PUT_BLOCKED, SL_PUT_HELD,
                                         SL_PUT_HELD,    SL_PUT_HELD,    SL_PUT_HELD};
    for (enum sl_back why = SL_BACK_INVALID; why <= SL_BACK_GATED; why++) {
        assert_int_equal(sl_cycle_back_to(SL_BEST_EFFORT_FIFO, why, false), best_effort[why]);
        assert_int_equal(sl_cycle_back_to(SL_STRICT_FIFO, why, false), strict[why]);
        assert_int_equal(sl_cycle_back_to(SL_BEST_EFFORT_FIFO, why, true), SL_PUT_HEAP);
        assert_int_equal(sl_cycle_back_to(SL_STRICT_FIFO, why, true), SL_PUT_HEAP);
    }
    sl_settings.flavor_fungibility = false;
    assert_int_equal(sl_cycle_back_to(SL_BEST_EFFORT_FIFO, SL_BACK_NO_FIT, true), SL_PUT_HELD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_cycle_head_that_fits_gets_quota),
        FX_TEST(test_cycle_nothing_to_try_gives_no_outcome),
        FX_TEST(test_cycle_ties_are_decided_by_uid),
        FX_TEST(test_cycle_best_effort_lets_smaller_ones_pass),
        FX_TEST(test_cycle_strict_head_holds_up_its_queue_and_does_not_spin),
        FX_TEST(test_cycle_strict_queue_moves_on_when_its_head_goes),
        FX_TEST(test_cycle_strict_queue_moves_on_when_a_better_head_comes),
        FX_TEST(test_cycle_strict_head_is_tried_again_after_its_spec_changed),
        FX_TEST(test_cycle_lower_borrow_height_goes_before_priority),
        FX_TEST(test_cycle_of_equal_height_higher_priority_goes_first),
        FX_TEST(test_cycle_of_equal_priority_earlier_goes_first),
        FX_TEST(test_cycle_strict_head_that_was_overtaken_is_tried_again_then_blocks),
        FX_TEST(test_cycle_reason_is_reported_as_changed_once),
        FX_TEST(test_cycle_several_pod_sets_of_one_flavor_make_one_claim),
        FX_TEST(test_cycle_more_claims_than_one_may_hold_is_misconfigured),
        FX_TEST(test_cycle_left_early_puts_everything_back),
        FX_TEST(test_cycle_begun_again_puts_the_open_one_back_first),
        FX_TEST(test_cycle_workload_that_asks_for_nothing_is_reserved),
        FX_TEST(test_cycle_without_the_gate_time_goes_before_priority),
        FX_TEST(test_cycle_partial_admission_takes_as_many_pods_as_fit),
        FX_TEST(test_cycle_partial_admission_that_fails_says_why_all_do_not_fit),
        FX_TEST(test_cycle_nobody_is_served_while_pods_are_not_ready),
        FX_TEST(test_cycle_failed_check_keeps_a_workload_out),
        FX_TEST(test_cycle_where_heads_go_back_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
