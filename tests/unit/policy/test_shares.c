/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Dominant resource shares: exact, whatever the weight. */
#include "preemption_world.h"

static sl_qnode_id plain_queue(sl_qnode_id parent, int64_t cpu)
{
    return pw_queue(parent, cpu, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
}

static int64_t shown(sl_qnode_id node)
{
    return sl_shares_shown(sl_shares_of(node));
}

static struct sl_share share(int64_t borrowed, int64_t lendable, int64_t weight)
{
    return (struct sl_share){borrowed, lendable, weight, CPU};
}

static void test_shares_node_within_its_quota_has_none(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = plain_queue(cohort, 4000);
    (void)plain_queue(cohort, 6000);
    (void)pw_holder(queue, 0, 4000);
    assert_int_equal(sl_shares_of(queue).borrowed, 0);
    assert_int_equal(sl_shares_of(queue).resource, SL_NO_ID);
    assert_int_equal(shown(queue), 0);
    assert_false(sl_shares_borrows(sl_ledger_find_cell(queue, SPOT, CPU)));
    assert_false(sl_shares_borrows_any(queue));
}

static void test_shares_root_has_none_whatever_it_uses(void **state)
{
    (void)state;
    sl_qnode_id queue = plain_queue(SL_NO_ID, 1000);
    (void)pw_holder(queue, 0, 4000);
    assert_int_equal(shown(queue), 0);
    assert_false(sl_shares_borrows_any(queue));
    assert_int_equal(sl_shares_of(SL_NO_ID).borrowed, 0);
}

static void test_shares_borrowed_is_divided_by_what_the_parent_could_lend(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = plain_queue(cohort, 4000);
    (void)plain_queue(cohort, 6000);
    (void)pw_holder(queue, 0, 5000);
    struct sl_share of_queue = sl_shares_of(queue);
    assert_int_equal(of_queue.borrowed, 1000);
    assert_int_equal(of_queue.lendable, 10000);
    assert_int_equal(of_queue.resource, CPU);
    assert_int_equal(shown(queue), 100);
    assert_true(sl_shares_borrows(sl_ledger_find_cell(queue, SPOT, CPU)));
}

static void test_shares_flavors_of_a_resource_are_added_up(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = plain_queue(cohort, 20);
    (void)fx_offer(queue, ON_DEMAND, CPU, 20);
    sl_qnode_id lender = plain_queue(cohort, 60);
    (void)fx_quota(lender, ON_DEMAND, CPU, 100, UNLIMITED);
    pw_held(queue, SPOT, CPU, 25);
    pw_held(queue, ON_DEMAND, CPU, 25);
    (void)pw_holder_of(queue, 0, fx_now);
    assert_int_equal(sl_shares_of(queue).borrowed, 10);
    assert_int_equal(sl_shares_of(queue).lendable, 200);
    assert_int_equal(shown(queue), 50);
}

/* Its quota of a flavor may be taken out of its spec while workloads hold some. */
static void test_shares_what_a_queue_does_not_list_it_does_not_borrow(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id team = fx_node(cohort);
    sl_qnode_id queue = plain_queue(team, 20);
    sl_qnode_id lender = plain_queue(cohort, 60);
    (void)fx_quota(team, ON_DEMAND, CPU, 10, UNLIMITED);
    (void)fx_offer(lender, ON_DEMAND, CPU, 100);
    pw_held(queue, ON_DEMAND, CPU, 25);
    (void)pw_holder_of(queue, 0, fx_now);
    assert_int_equal(sl_shares_of(queue).borrowed, 0);
    assert_false(sl_shares_borrows_any(queue));
    assert_int_equal(sl_shares_of(team).borrowed, 15);
    assert_true(sl_shares_borrows_any(team));
}

static void test_shares_largest_resource_dominates_and_the_smaller_id_breaks_a_tie(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = plain_queue(cohort, 0);
    sl_qnode_id lender = plain_queue(cohort, 10);
    (void)fx_offer(queue, SPOT, MEMORY, 0);
    (void)fx_offer(lender, SPOT, MEMORY, 20);
    pw_held(queue, SPOT, CPU, 2);
    pw_held(queue, SPOT, MEMORY, 6);
    sl_workload_id id = pw_holder_of(queue, 0, fx_now);
    assert_int_equal(sl_shares_of(queue).resource, MEMORY);
    assert_int_equal(shown(queue), 300);
    fx_finish(id);
    pw_held(queue, SPOT, MEMORY, 4);
    pw_held(queue, SPOT, CPU, 2);
    (void)pw_holder_of(queue, 0, fx_now);
    assert_int_equal(sl_shares_of(queue).resource, CPU);
    assert_int_equal(shown(queue), 200);
}

static void test_shares_weight_divides(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = plain_queue(cohort, 0);
    (void)plain_queue(cohort, 10);
    (void)pw_holder(queue, 0, 1);
    assert_int_equal(sl_shares_weight(queue), SL_WEIGHT_ONE);
    assert_int_equal(shown(queue), 100);
    assert_int_equal(sl_shares_set_weight(queue, 2 * SL_WEIGHT_ONE), SL_OK);
    assert_int_equal(shown(queue), 50);
    assert_int_equal(sl_shares_set_weight(queue, 3 * SL_WEIGHT_ONE), SL_OK);
    assert_int_equal(shown(queue), 34);
    assert_int_equal(sl_shares_set_weight(queue, 1), SL_OK);
    assert_int_equal(shown(queue), 100000000000);
}

static void test_shares_weight_of_nothing_makes_a_borrower_infinite(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = plain_queue(cohort, 5);
    (void)plain_queue(cohort, 5);
    assert_int_equal(sl_shares_set_weight(queue, 0), SL_OK);
    sl_workload_id id = pw_holder(queue, 0, 5);
    assert_int_equal(shown(queue), 0);
    (void)pw_holder(queue, 0, 1);
    assert_int_equal(shown(queue), INT64_MAX);
    fx_finish(id);
    assert_int_equal(shown(queue), 0);
}

static void test_shares_bad_weights_are_refused(void **state)
{
    (void)state;
    sl_qnode_id node = fx_node(SL_NO_ID);
    assert_int_equal(sl_shares_set_weight(SL_QNODES_MAX, 1), SL_REFUSED_NO_QNODE);
    assert_int_equal(sl_shares_set_weight(node, -1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_shares_weight(node), SL_WEIGHT_ONE);
    assert_int_equal(sl_shares_weight(SL_NO_ID), SL_WEIGHT_ONE);
}

static void test_shares_lending_limit_keeps_quota_out_of_what_could_be_lent(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = plain_queue(cohort, 0);
    sl_qnode_id lender = plain_queue(cohort, 0);
    pw_limits(lender, 10, 4, UNLIMITED);
    (void)pw_holder(queue, 0, 1);
    assert_int_equal(sl_shares_of(queue).lendable, 4);
    assert_int_equal(shown(queue), 250);
}

/* A flavor that only another branch has counts for every cohort that could borrow of it. */
static void test_shares_flavors_of_other_branches_could_be_lent_too(void **state)
{
    (void)state;
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id left = fx_node(root);
    sl_qnode_id right = fx_node(root);
    sl_qnode_id queue = plain_queue(left, 0);
    (void)plain_queue(left, 10);
    sl_qnode_id other = plain_queue(right, 10);
    (void)fx_quota(other, ON_DEMAND, CPU, 20, UNLIMITED);
    (void)pw_holder(queue, 0, 15);
    assert_int_equal(sl_shares_of(queue).lendable, 40);
    assert_int_equal(sl_shares_of(left).borrowed, 5);
    assert_int_equal(sl_shares_of(left).lendable, 40);
    assert_int_equal(sl_shares_of(right).borrowed, 0);
    assert_int_equal(shown(left), 125);
}

static void test_shares_borrowing_where_nothing_can_be_lent_counts_for_nothing(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = plain_queue(cohort, 0);
    (void)pw_holder(queue, 0, 3);
    assert_int_equal(shown(queue), 0);
    assert_true(sl_shares_borrows_any(queue));
}

static void test_shares_trial_is_seen_and_forgotten(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = plain_queue(cohort, 1);
    (void)plain_queue(cohort, 9);
    uint32_t mark = sl_trail_begin();
    assert_int_equal(sl_ledger_charge(sl_ledger_find_cell(queue, SPOT, CPU), 3), SL_OK);
    assert_int_equal(shown(queue), 200);
    sl_trail_rollback(mark);
    assert_int_equal(shown(queue), 0);
}

/* --- comparisons ----------------------------------------------------------------------------- */

static void assert_less(struct sl_share a, struct sl_share b)
{
    assert_int_equal(sl_shares_compare(a, b), -1);
    assert_int_equal(sl_shares_compare(b, a), 1);
}

static void assert_equal(struct sl_share a, struct sl_share b)
{
    assert_int_equal(sl_shares_compare(a, b), 0);
    assert_int_equal(sl_shares_compare(b, a), 0);
}

static void test_shares_compare_is_that_of_fractions(void **state)
{
    (void)state;
    assert_equal(share(1, 3, SL_WEIGHT_ONE), share(2, 6, SL_WEIGHT_ONE));
    assert_equal(share(1, 3, SL_WEIGHT_ONE), share(2, 3, 2 * SL_WEIGHT_ONE));
    assert_less(share(1, 3, SL_WEIGHT_ONE), share(1, 2, SL_WEIGHT_ONE));
    assert_less(share(1, 2, 2 * SL_WEIGHT_ONE), share(1, 3, SL_WEIGHT_ONE));
    assert_less(share(0, 0, SL_WEIGHT_ONE), share(1, SL_AMOUNT_UNLIMITED, INT64_MAX));
    assert_equal(share(0, 0, SL_WEIGHT_ONE), share(0, 0, 0));
}

static void test_shares_compare_sees_the_smallest_difference_of_large_numbers(void **state)
{
    (void)state;
    int64_t big = SL_AMOUNT_MAX;
    assert_less(share(big - 1, big, INT64_MAX), share(big, big, INT64_MAX));
    assert_less(share(big - 2, big - 1, INT64_MAX), share(big - 1, big, INT64_MAX));
    assert_equal(share(big, 2 * big, INT64_MAX), share(big / 2, big, INT64_MAX));
}

static void test_shares_compare_puts_infinite_ones_last_by_their_ratio(void **state)
{
    (void)state;
    assert_less(share(SL_AMOUNT_MAX, 1, 1), share(1, SL_AMOUNT_MAX, 0));
    assert_less(share(1, 3, 0), share(1, 2, 0));
    assert_equal(share(1, 2, 0), share(2, 4, 0));
    assert_less(share(0, 0, 0), share(1, 2, 0));
}

static void test_shares_shown_is_rounded_up_and_saturates(void **state)
{
    (void)state;
    assert_int_equal(sl_shares_shown(share(1, 3, SL_WEIGHT_ONE)), 334);
    assert_int_equal(sl_shares_shown(share(1, 2, SL_WEIGHT_ONE)), 500);
    assert_int_equal(sl_shares_shown(share(1, SL_AMOUNT_UNLIMITED, INT64_MAX)), 1);
    assert_int_equal(sl_shares_shown(share(SL_AMOUNT_MAX, 1, 1)), INT64_MAX);
    assert_int_equal(sl_shares_shown(share(1, 1, 0)), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_shares_node_within_its_quota_has_none),
        PW_TEST(test_shares_root_has_none_whatever_it_uses),
        PW_TEST(test_shares_borrowed_is_divided_by_what_the_parent_could_lend),
        PW_TEST(test_shares_flavors_of_a_resource_are_added_up),
        PW_TEST(test_shares_what_a_queue_does_not_list_it_does_not_borrow),
        PW_TEST(test_shares_largest_resource_dominates_and_the_smaller_id_breaks_a_tie),
        PW_TEST(test_shares_weight_divides),
        PW_TEST(test_shares_weight_of_nothing_makes_a_borrower_infinite),
        PW_TEST(test_shares_bad_weights_are_refused),
        PW_TEST(test_shares_lending_limit_keeps_quota_out_of_what_could_be_lent),
        PW_TEST(test_shares_flavors_of_other_branches_could_be_lent_too),
        PW_TEST(test_shares_borrowing_where_nothing_can_be_lent_counts_for_nothing),
        PW_TEST(test_shares_trial_is_seen_and_forgotten),
        PW_TEST(test_shares_compare_is_that_of_fractions),
        PW_TEST(test_shares_compare_sees_the_smallest_difference_of_large_numbers),
        PW_TEST(test_shares_compare_puts_infinite_ones_last_by_their_ratio),
        PW_TEST(test_shares_shown_is_rounded_up_and_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
