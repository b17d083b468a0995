/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment where preemption might help: when it is asked for, and which flavor is the
 * better one. */
#include "flavors_fixture.h"

#include "kernel/preempt/preempt.h"

static void set_policy(sl_qnode_id queue, enum sl_preempt_reclaim reclaim, bool borrow_within)
{
    struct sl_preempt_policy policy = {SL_WITHIN_LOWER_PRIORITY, reclaim, borrow_within, false, 0};
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
}

static void test_flavors_within_nominal_quota_preemption_is_asked_for(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    fl_charge(queue, SPOT, 3);
    fl_answer(SPOT, SL_PREEMPT, 0);
    fl_assert_mode(fl_asking(2), queue, SL_MODE_PREEMPT, 0);
    assert_int_equal(fl_asked, 1);
    assert_int_equal(fl_asked_amount, 2);
    fl_assert_choice(0, SPOT, SL_MODE_PREEMPT, -1);
    fl_assert_detail(0, SL_MISS_UNUSED_QUOTA, SPOT, CPU, 1);
    fl_assert_attempt(0, SPOT, SL_MODE_PREEMPT, 0);
    assert_int_equal(sl_assignment.attempts[0].possibility, SL_PREEMPT);
    assert_int_equal(sl_assignment.modes[0], SL_MODE_PREEMPT);
    assert_int_equal(sl_assignment.needs[0].amount, 2);
    assert_true(sl_assignment.needs[0].contested);
    fl_release(queue, SPOT, 3);
}

static void test_flavors_without_candidates_the_mode_is_still_preempt(void **state)
{
    (void)state;
    sl_qnode_id queue = fl_queue(SL_NO_ID, 4, 2);
    fl_charge(queue, SPOT, 3);
    fl_assert_mode(fl_asking(3), queue, SL_MODE_PREEMPT, 0);
    assert_int_equal(sl_assignment.attempts[0].possibility, SL_NO_CANDIDATES);
    assert_int_equal(sl_assignment.attempt_count, 2); /* always on to the next flavor */
    fl_rules(queue, SL_MAY_STOP_SEARCH, SL_MAY_STOP_SEARCH, SL_BORROWING_OVER_PREEMPTION);
    fl_assert_mode(fl_asking(2), queue, SL_MODE_FIT, 0);
    fl_assert_choice(0, ON_DEMAND, SL_MODE_FIT, -1);
    fl_release(queue, SPOT, 3);
}

static void test_flavors_preemption_stops_the_search_when_it_may(void **state)
{
    (void)state;
    sl_qnode_id queue = fl_queue(SL_NO_ID, 4, 4);
    fl_charge(queue, SPOT, 3);
    fl_answer(SPOT, SL_PREEMPT, 0);
    fl_assert_fits(fl_asking(2), queue, 0);
    fl_assert_choice(0, ON_DEMAND, SL_MODE_FIT, -1);
    fl_rules(queue, SL_MAY_STOP_SEARCH, SL_MAY_STOP_SEARCH, SL_BORROWING_OVER_PREEMPTION);
    fl_assert_mode(fl_asking(2), queue, SL_MODE_PREEMPT, 0);
    fl_assert_choice(0, SPOT, SL_MODE_PREEMPT, 0);
    assert_int_equal(sl_assignment.attempt_count, 1);
    fl_release(queue, SPOT, 3);
}

static void test_flavors_preemption_that_borrows_looks_on_when_borrowing_does(void **state)
{
    (void)state;
    sl_qnode_id queue = fl_queue(SL_NO_ID, 4, 4);
    fl_charge(queue, SPOT, 3);
    fl_answer(SPOT, SL_PREEMPT, 1);
    fl_rules(queue, SL_TRY_NEXT_FLAVOR, SL_MAY_STOP_SEARCH, SL_BORROWING_OVER_PREEMPTION);
    fl_assert_fits(fl_asking(2), queue, 0);
    fl_assert_choice(0, ON_DEMAND, SL_MODE_FIT, -1);
    fl_release(queue, SPOT, 3);
}

static void test_flavors_reclaim_is_better_than_preemption(void **state)
{
    (void)state;
    sl_qnode_id queue = fl_queue(SL_NO_ID, 4, 4);
    fl_charge(queue, SPOT, 3);
    fl_charge(queue, ON_DEMAND, 3);
    fl_answer(SPOT, SL_PREEMPT, 0);
    fl_answer(ON_DEMAND, SL_RECLAIM, 0);
    fl_assert_mode(fl_asking(2), queue, SL_MODE_PREEMPT, 0);
    fl_assert_choice(0, ON_DEMAND, SL_MODE_PREEMPT, -1);
    fl_answer(ON_DEMAND, SL_PREEMPT, 0);
    fl_assert_mode(fl_asking(2), queue, SL_MODE_PREEMPT, 0);
    fl_assert_choice(0, SPOT, SL_MODE_PREEMPT, -1); /* of equal ones the first */
    fl_release(queue, SPOT, 3);
    fl_release(queue, ON_DEMAND, 3);
}

/* Spot can be borrowed, on-demand preempted for within the queue's own quota. */
static void test_flavors_preference_decides_between_borrowing_and_preemption(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = fl_queue(cohort, 1, 4);
    (void)fx_quota(cohort, SPOT, CPU, 10, SL_AMOUNT_UNLIMITED);
    fl_charge(queue, ON_DEMAND, 3);
    fl_answer(ON_DEMAND, SL_PREEMPT, 0);
    fl_rules(queue, SL_TRY_NEXT_FLAVOR, SL_TRY_NEXT_FLAVOR, SL_BORROWING_OVER_PREEMPTION);
    fl_assert_fits(fl_asking(2), queue, 1);
    fl_assert_choice(0, SPOT, SL_MODE_FIT, -1);
    fl_rules(queue, SL_TRY_NEXT_FLAVOR, SL_TRY_NEXT_FLAVOR, SL_PREEMPTION_OVER_BORROWING);
    fl_assert_mode(fl_asking(2), queue, SL_MODE_PREEMPT, 0);
    fl_assert_choice(0, ON_DEMAND, SL_MODE_PREEMPT, -1);
    fl_answer(ON_DEMAND, SL_NO_CANDIDATES, 0); /* cannot be admitted now: behind all that can */
    fl_assert_fits(fl_asking(2), queue, 1);
    fl_assert_choice(0, SPOT, SL_MODE_FIT, -1);
    fl_release(queue, ON_DEMAND, 3);
}

static void test_flavors_beyond_nominal_quota_policy_must_allow_preemption(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 1);
    sl_qnode_id sister = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 10);
    fl_charge(sister, SPOT, 8);
    fl_answer(SPOT, SL_RECLAIM, 1);
    fl_assert_no_fit(fl_asking(4), queue, SL_PENDING_WAITING_FOR_QUOTA);
    fl_assert_attempt(0, SPOT, SL_MODE_NO_FIT, 1);
    set_policy(queue, SL_RECLAIM_ANY, false);
    fl_assert_no_fit(fl_asking(4), queue, SL_PENDING_WAITING_FOR_QUOTA);
    sl_settings.fair_sharing = true;
    fl_assert_mode(fl_asking(4), queue, SL_MODE_PREEMPT, 1);
    set_policy(queue, SL_RECLAIM_NEVER, false);
    fl_assert_no_fit(fl_asking(4), queue, SL_PENDING_WAITING_FOR_QUOTA);
    sl_settings.fair_sharing = false;
    set_policy(queue, SL_RECLAIM_NEVER, true);
    fl_assert_mode(fl_asking(4), queue, SL_MODE_PREEMPT, 1);
    fl_release(sister, SPOT, 8);
}

/* The cohort has the quota, others of the whole tree use it: that may be reclaimed. */
static void test_flavors_quota_of_a_subtree_may_be_reclaimed(void **state)
{
    (void)state;
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id cohort = fx_node(root);
    sl_qnode_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 1);
    sl_qnode_id other = fx_queue(root, SL_BEST_EFFORT_FIFO, 0);
    (void)fx_quota(cohort, SPOT, CPU, 4, SL_AMOUNT_UNLIMITED);
    (void)fx_quota(root, SPOT, CPU, 1, SL_AMOUNT_UNLIMITED);
    fl_charge(other, SPOT, 5);
    fl_answer(SPOT, SL_RECLAIM, 1);
    fl_assert_mode(fl_asking(5), queue, SL_MODE_PREEMPT, 1);
    fl_assert_no_fit(fl_asking(6), queue, SL_PENDING_WAITING_FOR_QUOTA);
    fl_release(other, SPOT, 5);
}

/* What is kept from the cohort goes first. */
static void test_flavors_what_is_not_lent_counts_before_the_subtree(void **state)
{
    (void)state;
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id cohort = fx_node(root);
    sl_qnode_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 3);
    sl_qnode_id other = fx_queue(root, SL_BEST_EFFORT_FIFO, 0);
    assert_int_equal(sl_ledger_set_quota(sl_offers_first(queue), 3, 1, SL_AMOUNT_UNLIMITED), SL_OK);
    (void)fx_quota(cohort, SPOT, CPU, 1, SL_AMOUNT_UNLIMITED);
    (void)fx_quota(root, SPOT, CPU, 1, SL_AMOUNT_UNLIMITED);
    fl_charge(other, SPOT, 3);
    fl_answer(SPOT, SL_RECLAIM, 1);
    fl_assert_mode(fl_asking(4), queue, SL_MODE_PREEMPT, 1);
    fl_assert_no_fit(fl_asking(5), queue, SL_PENDING_WAITING_FOR_QUOTA);
    fl_release(other, SPOT, 3);
}

static void test_flavors_worst_resource_decides_and_each_keeps_its_mode(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_cell_id memory = fx_offer(queue, SPOT, MEMORY, 4);
    assert_int_equal(sl_ledger_charge(memory, 4), SL_OK);
    fl_answer(SPOT, SL_RECLAIM, 0);
    sl_workload_id id = fl_asking(1);
    assert_int_equal(sl_requests_add(id, MEMORY, 2), SL_OK);
    fl_assert_mode(id, queue, SL_MODE_PREEMPT, 0);
    fl_assert_choice(0, SPOT, SL_MODE_FIT, -1);
    fl_assert_choice(1, SPOT, SL_MODE_PREEMPT, -1);
    assert_false(sl_assignment.needs[0].contested);
    assert_true(sl_assignment.needs[1].contested);
    assert_int_equal(sl_assignment.needs[1].cell, memory);
    assert_int_equal(sl_ledger_release(memory, 4), SL_OK);
}

/* Borrowing looks on, and what it meets ends the search, though by preference it is the worse. */
static void test_flavors_borrowing_is_left_for_preemption_where_only_that_stops(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = fl_queue(cohort, 1, 1);
    sl_cell_id on_demand = sl_offers_next(sl_offers_first(queue));
    (void)fx_quota(cohort, SPOT, CPU, 10, SL_AMOUNT_UNLIMITED);
    assert_int_equal(sl_ledger_charge(on_demand, 1), SL_OK);
    fl_answer(ON_DEMAND, SL_PREEMPT, 0);
    fl_rules(queue, SL_TRY_NEXT_FLAVOR, SL_MAY_STOP_SEARCH, SL_BORROWING_OVER_PREEMPTION);
    sl_workload_id id = fl_asking(1);
    fl_assert_fits(id, queue, 0);
    fl_assert_choice(0, SPOT, SL_MODE_FIT, 0);
    fl_charge(queue, SPOT, 1);
    fl_assert_mode(id, queue, SL_MODE_PREEMPT, 0);
    fl_assert_choice(0, ON_DEMAND, SL_MODE_PREEMPT, -1);
    fl_release(queue, SPOT, 1);
    assert_int_equal(sl_ledger_release(on_demand, 1), SL_OK);
}

static void test_flavors_later_pod_sets_ask_for_what_earlier_ones_got_too(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    fl_charge(queue, SPOT, 2);
    fl_answer(SPOT, SL_PREEMPT, 0);
    sl_workload_id id = fl_asking(2);
    fx_pod_set(id, 1, CPU, 1);
    fl_assert_mode(id, queue, SL_MODE_PREEMPT, 0);
    assert_int_equal(fl_asked, 1);
    assert_int_equal(fl_asked_amount, 3);
    assert_int_equal(sl_assignment.modes[0], SL_MODE_FIT);
    assert_int_equal(sl_assignment.modes[1], SL_MODE_PREEMPT);
    assert_int_equal(sl_assignment.need_count, 1);
    assert_int_equal(sl_assignment.needs[0].amount, 3);
    assert_true(sl_assignment.needs[0].contested);
    assert_int_equal(sl_assignment.details[0].pod_set, 1);
    fl_release(queue, SPOT, 2);
}

static void test_flavors_preemption_for_one_does_not_help_the_other(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    fl_charge(queue, SPOT, 4);
    fl_answer(SPOT, SL_PREEMPT, 0);
    sl_workload_id id = fl_asking(2);
    fx_pod_set(id, 1, CPU, 3);
    fl_assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.modes[0], SL_MODE_PREEMPT);
    assert_int_equal(sl_assignment.modes[1], SL_MODE_NO_FIT);
    fl_release(queue, SPOT, 4);
}

/* Cpu could be preempted for; that is no news where memory has no place. */
static void test_flavors_only_what_has_no_place_is_said(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_cell_id memory = fx_quota(queue, ON_DEMAND, MEMORY, 4, 0);
    assert_int_equal(sl_offers_add(queue, 1, memory), SL_OK);
    fl_charge(queue, SPOT, 3);
    fl_answer(SPOT, SL_PREEMPT, 0);
    sl_workload_id id = fl_asking(2);
    fx_pod_set(id, 1, CPU, 1);
    assert_int_equal(sl_requests_add(id, MEMORY, 5), SL_OK);
    fl_assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.detail_count, 2);
    fl_assert_detail(0, SL_MISS_UNUSED_QUOTA, SPOT, CPU, 1); /* of the first pod set */
    fl_assert_detail(1, SL_MISS_MAX_QUOTA, ON_DEMAND, MEMORY, 1);
    assert_int_equal(sl_assignment.details[1].pod_set, 1);
    fl_release(queue, SPOT, 3);
}

/* Gate FlavorFungibility off: the best mode wins, rules and heights do not matter, and no scan is
 * remembered. */
static void test_flavors_without_fungibility_the_first_that_fits_ends_the_search(void **state)
{
    (void)state;
    sl_settings.flavor_fungibility = false;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = fl_queue(cohort, 1, 4);
    (void)fx_quota(cohort, SPOT, CPU, 3, SL_AMOUNT_UNLIMITED);
    fl_rules(queue, SL_TRY_NEXT_FLAVOR, SL_MAY_STOP_SEARCH, SL_BORROWING_OVER_PREEMPTION);
    fl_assert_fits(fl_asking(4), queue, 1);
    fl_assert_choice(0, SPOT, SL_MODE_FIT, 0);
    fl_charge(queue, SPOT, 1);
    fl_charge(queue, ON_DEMAND, 1);
    fl_answer(SPOT, SL_PREEMPT, 0);
    fl_answer(ON_DEMAND, SL_RECLAIM, 0);
    fl_assert_mode(fl_asking(4), queue, SL_MODE_PREEMPT, 0);
    fl_assert_choice(0, ON_DEMAND, SL_MODE_PREEMPT, 0);
    fl_release(queue, SPOT, 1);
    fl_release(queue, ON_DEMAND, 1);
}

static void test_flavors_inside_a_trial_its_state_counts(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    fl_charge(queue, SPOT, 4);
    fl_answer(SPOT, SL_PREEMPT, 0);
    sl_workload_id id = fl_asking(3);
    uint32_t mark = sl_trail_begin();
    assert_int_equal(sl_ledger_release(sl_offers_first(queue), 3), SL_OK);
    fl_assert_fits(id, queue, 0);
    sl_trail_rollback(mark);
    fl_assert_mode(id, queue, SL_MODE_PREEMPT, 0);
    fl_release(queue, SPOT, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FL_TEST(test_flavors_within_nominal_quota_preemption_is_asked_for),
        FL_TEST(test_flavors_without_candidates_the_mode_is_still_preempt),
        FL_TEST(test_flavors_preemption_stops_the_search_when_it_may),
        FL_TEST(test_flavors_preemption_that_borrows_looks_on_when_borrowing_does),
        FL_TEST(test_flavors_reclaim_is_better_than_preemption),
        FL_TEST(test_flavors_preference_decides_between_borrowing_and_preemption),
        FL_TEST(test_flavors_beyond_nominal_quota_policy_must_allow_preemption),
        FL_TEST(test_flavors_quota_of_a_subtree_may_be_reclaimed),
        FL_TEST(test_flavors_what_is_not_lent_counts_before_the_subtree),
        FL_TEST(test_flavors_worst_resource_decides_and_each_keeps_its_mode),
        FL_TEST(test_flavors_borrowing_is_left_for_preemption_where_only_that_stops),
        FL_TEST(test_flavors_later_pod_sets_ask_for_what_earlier_ones_got_too),
        FL_TEST(test_flavors_preemption_for_one_does_not_help_the_other),
        FL_TEST(test_flavors_only_what_has_no_place_is_said),
        FL_TEST(test_flavors_without_fungibility_the_first_that_fits_ends_the_search),
        FL_TEST(test_flavors_inside_a_trial_its_state_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
