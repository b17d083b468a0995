/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The order of a cycle under fair sharing: the tournament in a cohort tree. */
#include "fixture.h"

#include "policy/fair/shares.h"

static void expect_order(const sl_workload_id *ids, uint32_t count)
{
    assert_int_equal(fx_outcome_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(fx_outcomes[i].workload, ids[i]);
    }
}

/* A cohort with something to borrow, whose queues own nothing. */
static sl_qnode_id new_cohort(int64_t cpu)
{
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    (void)fx_quota(cohort, SPOT, CPU, cpu, SL_AMOUNT_UNLIMITED);
    sl_settings.fair_sharing = true;
    return cohort;
}

static sl_qnode_id poor_queue(sl_qnode_id cohort)
{
    return fx_queue(cohort, SL_BEST_EFFORT_FIFO, 0);
}

static void test_cycle_fair_lower_share_goes_before_priority(void **state)
{
    (void)state;
    sl_qnode_id cohort = new_cohort(20);
    sl_qnode_id one = poor_queue(cohort);
    sl_qnode_id two = poor_queue(cohort);
    (void)fx_workload(one, 0, 1, 6);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id rich = fx_workload(one, 9, 1, 2);
    sl_workload_id poor = fx_workload(two, 0, 2, 4);
    assert_int_equal(fx_cycle(), 2);
    expect_order((sl_workload_id[]){poor, rich}, 2);
}

/* What counts is the share with the workload served. */
static void test_cycle_fair_share_is_that_after_service(void **state)
{
    (void)state;
    sl_qnode_id cohort = new_cohort(20);
    sl_workload_id large = fx_workload(poor_queue(cohort), 9, 1, 8);
    sl_workload_id small = fx_workload(poor_queue(cohort), 0, 2, 3);
    assert_int_equal(fx_cycle(), 2);
    expect_order((sl_workload_id[]){small, large}, 2);
}

static void test_cycle_fair_weight_divides_the_share(void **state)
{
    (void)state;
    sl_qnode_id cohort = new_cohort(20);
    sl_qnode_id heavy = poor_queue(cohort);
    assert_int_equal(sl_shares_set_weight(heavy, 4 * SL_WEIGHT_ONE), SL_OK);
    sl_workload_id large = fx_workload(heavy, 0, 2, 8);
    sl_workload_id small = fx_workload(poor_queue(cohort), 9, 1, 3);
    assert_int_equal(fx_cycle(), 2);
    expect_order((sl_workload_id[]){large, small}, 2);
}

static void test_cycle_fair_equal_shares_are_decided_by_priority_then_time(void **state)
{
    (void)state;
    sl_qnode_id cohort = new_cohort(20);
    sl_workload_id late = fx_workload(poor_queue(cohort), 1, 9, 2);
    sl_workload_id early = fx_workload(poor_queue(cohort), 1, 5, 2);
    sl_workload_id urgent = fx_workload(poor_queue(cohort), 2, 9, 2);
    assert_int_equal(fx_cycle(), 3);
    expect_order((sl_workload_id[]){urgent, early, late}, 3);
    sl_settings.priority_sorting_within_cohort = false;
    cohort = new_cohort(20);
    urgent = fx_workload(poor_queue(cohort), 2, 9, 2);
    early = fx_workload(poor_queue(cohort), 1, 5, 2);
    assert_int_equal(fx_cycle(), 2);
    expect_order((sl_workload_id[]){early, urgent}, 2);
}

/* A queue of weight zero that borrows has an infinite share, and one that would use only its own
 * quota comes first whatever its share of something else. */
static void test_cycle_fair_within_nominal_goes_first(void **state)
{
    (void)state;
    sl_qnode_id cohort = new_cohort(20);
    (void)fx_quota(cohort, SPOT, MEMORY, 20, SL_AMOUNT_UNLIMITED);
    sl_qnode_id owner = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(owner, SPOT, MEMORY, 0);
    sl_workload_id hog = fx_create();
    fx_pod_set(hog, 1, MEMORY, 15);
    fx_attach(hog, owner, 0, 1);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id within = fx_workload(owner, 0, 2, 4);
    sl_workload_id borrows = fx_workload(poor_queue(cohort), 9, 1, 1);
    assert_int_equal(fx_cycle(), 2);
    expect_order((sl_workload_id[]){within, borrows}, 2);
    sl_settings.prioritize_non_borrowing = false;
    within = fx_workload(owner, 0, 2, 0);
    borrows = fx_workload(poor_queue(cohort), 9, 1, 1);
    assert_int_equal(fx_cycle(), 2);
    expect_order((sl_workload_id[]){borrows, within}, 2);
}

/* Branches compete first: the best of the branch that has the lower share wins. */
static void test_cycle_fair_tournament_goes_level_by_level(void **state)
{
    (void)state;
    sl_qnode_id root = new_cohort(40);
    sl_qnode_id left = fx_node(root);
    sl_qnode_id right = fx_node(root);
    (void)fx_quota(left, SPOT, CPU, 0, SL_AMOUNT_UNLIMITED);
    (void)fx_quota(right, SPOT, CPU, 0, SL_AMOUNT_UNLIMITED);
    sl_qnode_id left_one = poor_queue(left);
    sl_qnode_id left_two = poor_queue(left);
    sl_qnode_id right_one = poor_queue(right);
    (void)fx_workload(left_one, 0, 1, 10);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id a = fx_workload(left_one, 9, 1, 1);
    sl_workload_id b = fx_workload(left_two, 0, 1, 1);
    sl_workload_id c = fx_workload(right_one, 0, 2, 5);
    assert_int_equal(fx_cycle(), 3);
    expect_order((sl_workload_id[]){c, b, a}, 3);
}

/* Who finds no place competes all the same, and is told in its turn. */
static void test_cycle_fair_one_that_does_not_fit_takes_part(void **state)
{
    (void)state;
    sl_qnode_id cohort = new_cohort(4);
    sl_workload_id fits = fx_workload(poor_queue(cohort), 0, 2, 4);
    sl_workload_id too_large = fx_workload(poor_queue(cohort), 9, 1, 99);
    assert_int_equal(fx_cycle(), 1);
    expect_order((sl_workload_id[]){too_large, fits}, 2);
    assert_int_equal(fx_outcomes[0].result, SL_CYCLE_PENDING);
    assert_int_equal(fx_outcomes[0].reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
    fx_assert_place(too_large, SL_PLACE_INADMISSIBLE);
}

static void test_cycle_fair_overtaken_head_is_tried_again(void **state)
{
    (void)state;
    sl_qnode_id cohort = new_cohort(5);
    sl_workload_id small = fx_workload(poor_queue(cohort), 0, 2, 3);
    sl_workload_id large = fx_workload(poor_queue(cohort), 0, 1, 4);
    assert_int_equal(fx_cycle(), 1);
    expect_order((sl_workload_id[]){small, large}, 2);
    assert_true(fx_outcomes[1].overtaken);
    assert_int_equal(fx_rest(), 0);
    fx_finish(small);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(large, SL_PLACE_HOLDING);
}

static void test_cycle_fair_queues_without_a_cohort_do_not_compete(void **state)
{
    (void)state;
    sl_settings.fair_sharing = true;
    sl_workload_id a = fx_workload(fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4), 0, 1, 4);
    sl_workload_id b = fx_workload(fx_queue(SL_NO_ID, SL_STRICT_FIFO, 4), 0, 1, 4);
    assert_int_equal(fx_cycle(), 2);
    fx_assert_place(a, SL_PLACE_HOLDING);
    fx_assert_place(b, SL_PLACE_HOLDING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_cycle_fair_lower_share_goes_before_priority),
        FX_TEST(test_cycle_fair_share_is_that_after_service),
        FX_TEST(test_cycle_fair_weight_divides_the_share),
        FX_TEST(test_cycle_fair_equal_shares_are_decided_by_priority_then_time),
        FX_TEST(test_cycle_fair_within_nominal_goes_first),
        FX_TEST(test_cycle_fair_tournament_goes_level_by_level),
        FX_TEST(test_cycle_fair_one_that_does_not_fit_takes_part),
        FX_TEST(test_cycle_fair_overtaken_head_is_tried_again),
        FX_TEST(test_cycle_fair_queues_without_a_cohort_do_not_compete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
