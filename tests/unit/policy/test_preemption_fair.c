/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fair preemption: shares decide between queues, priorities within one. */
#include "preemption_world.h"

struct trio {
    sl_qnode_id cohort;
    sl_qnode_id a;
    sl_qnode_id b;
    sl_qnode_id c;
};

/* Three equal queues of one cohort. */
static struct trio trio(int64_t cpu)
{
    struct trio t = {.cohort = fx_node(SL_NO_ID)};
    t.a = pw_queue(t.cohort, cpu, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_ANY);
    t.b = pw_queue(t.cohort, cpu, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_ANY);
    t.c = pw_queue(t.cohort, cpu, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_ANY);
    return t;
}

static void hold_many(sl_qnode_id queue, uint32_t count, int64_t cpu)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)pw_holder(queue, 0, cpu);
    }
}

static void weigh(sl_qnode_id node, int64_t hundredths)
{
    assert_int_equal(sl_shares_set_weight(node, hundredths * (SL_WEIGHT_ONE / 100)), SL_OK);
}

static void only_rule(enum sl_share_rule rule)
{
    sl_settings.share_rule_count = 1;
    sl_settings.share_rules[0] = rule;
}

static void assert_victims_of(sl_qnode_id queue, uint32_t count, enum sl_preempt_reason reason)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < sl_victims.count; i++) {
        if (sl_holders_queue_of(sl_victims.workloads[i]) == queue) {
            assert_int_equal(sl_victims.reasons[i], reason);
            found++;
        }
    }
    assert_int_equal(found, count);
}

static void
test_preemption_fair_queue_within_its_quota_takes_back_from_the_largest_share(void **state)
{
    (void)state;
    struct trio t = trio(3);
    (void)pw_holder(t.a, 0, 3);
    (void)pw_holder(t.a, 0, 1);
    (void)pw_holder(t.b, 0, 5);
    assert_int_equal(pw_ask(t.c, 0, 3), 1);
    assert_victims_of(t.b, 1, SL_PREEMPT_RECLAMATION);
    assert_true(sl_victims.may_borrow);
}

static void test_preemption_fair_within_nominal_can_be_switched_off(void **state)
{
    (void)state;
    struct trio t = trio(3);
    hold_many(t.b, 9, 1);
    sl_settings.preempt_within_nominal = false;
    assert_int_equal(pw_ask(t.c, 0, 1), 1);
    assert_victims_of(t.b, 1, SL_PREEMPT_FAIR_SHARING);
}

static void test_preemption_fair_larger_share_gives_to_smaller_one(void **state)
{
    (void)state;
    struct trio t = trio(3);
    hold_many(t.a, 3, 1);
    hold_many(t.b, 5, 1);
    (void)pw_holder(t.c, 0, 1);
    assert_int_equal(pw_ask(t.a, 0, 1), 1);
    assert_victims_of(t.b, 1, SL_PREEMPT_FAIR_SHARING);
}

static void test_preemption_fair_equal_shares_stay_as_they_are(void **state)
{
    (void)state;
    struct trio t = trio(3);
    hold_many(t.a, 4, 1);
    hold_many(t.b, 5, 1);
    assert_int_equal(pw_ask(t.a, 0, 1), 0);
}

static void
test_preemption_fair_large_workload_of_a_queue_that_would_swap_places_stays(void **state)
{
    (void)state;
    struct trio t = trio(3);
    (void)pw_holder(t.a, 0, 2);
    (void)pw_holder(t.b, 0, 7);
    assert_int_equal(pw_ask(t.a, 0, 5), 0);
}

static void test_preemption_fair_weight_doubles_what_a_queue_may_take(void **state)
{
    (void)state;
    struct trio t = trio(3);
    weigh(t.a, 200);
    hold_many(t.a, 3, 1);
    hold_many(t.b, 6, 1);
    assert_int_equal(pw_ask(t.a, 0, 2), 2);
    assert_victims_of(t.b, 2, SL_PREEMPT_FAIR_SHARING);
}

static void test_preemption_fair_queue_without_weight_gives_all_it_borrows(void **state)
{
    (void)state;
    struct trio t = trio(3);
    weigh(t.b, 0);
    hold_many(t.a, 3, 1);
    hold_many(t.b, 6, 1);
    assert_int_equal(pw_ask(t.a, 0, 3), 3);
    assert_victims_of(t.b, 3, SL_PREEMPT_FAIR_SHARING);
    assert_int_equal(pw_ask(t.a, 0, 4), 0);
}

static void test_preemption_fair_queue_without_weight_takes_from_nobody_with_one(void **state)
{
    (void)state;
    struct trio t = trio(3);
    weigh(t.a, 0);
    hold_many(t.a, 3, 1);
    hold_many(t.b, 6, 1);
    assert_int_equal(pw_ask(t.a, 0, 1), 0);
    weigh(t.b, 0);
    assert_int_equal(pw_ask(t.a, 0, 1), 1);
}

static void test_preemption_fair_own_queue_gives_by_priority(void **state)
{
    (void)state;
    sl_qnode_id queue = pw_queue(SL_NO_ID, 2, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_ANY);
    sl_workload_id low = pw_holder(queue, 0, 1);
    (void)pw_holder(queue, 5, 1);
    assert_int_equal(pw_ask(queue, 1, 1), 1);
    pw_assert_victim(low, SL_PREEMPT_IN_CLUSTER_QUEUE);
    assert_int_equal(pw_ask(queue, 1, 2), 0);
}

static void test_preemption_fair_own_and_other_queues_give_together(void **state)
{
    (void)state;
    struct trio t = trio(3);
    sl_workload_id low = pw_holder(t.a, -1, 1);
    hold_many(t.a, 2, 1);
    hold_many(t.b, 6, 1);
    assert_int_equal(pw_ask(t.a, 0, 2), 2);
    pw_assert_victim(low, SL_PREEMPT_IN_CLUSTER_QUEUE);
    assert_victims_of(t.b, 1, SL_PREEMPT_FAIR_SHARING);
}

static void test_preemption_fair_borrower_takes_from_itself_when_shares_are_equal(void **state)
{
    (void)state;
    struct trio t = trio(3);
    sl_workload_id low = pw_holder(t.a, -1, 1);
    hold_many(t.a, 3, 1);
    hold_many(t.b, 5, 1);
    assert_int_equal(pw_ask(t.a, 0, 1), 1);
    pw_assert_victim(low, SL_PREEMPT_IN_CLUSTER_QUEUE);
}

static void test_preemption_fair_priority_policy_spares_higher_ones(void **state)
{
    (void)state;
    struct trio t = trio(3);
    struct sl_preempt_policy policy = {SL_WITHIN_NEVER, SL_RECLAIM_LOWER_PRIORITY, false, false, 0};
    assert_int_equal(sl_preempt_set_policy(t.a, policy), SL_OK);
    hold_many(t.b, 9, 1);
    assert_int_equal(pw_ask(t.a, 0, 1), 0);
    assert_int_equal(pw_ask(t.a, 1, 1), 1);
    policy.reclaim = SL_RECLAIM_NEVER;
    assert_int_equal(sl_preempt_set_policy(t.a, policy), SL_OK);
    assert_int_equal(pw_ask(t.a, 1, 1), 0);
}

/* With both rules, or S2-b alone, the large one goes: it is the lowest in priority, and before it
 * goes its queue's share is the larger. S2-a alone looks at the share after, and takes the small
 * one. */
static void test_preemption_fair_rules_differ_in_what_they_compare(void **state)
{
    (void)state;
    struct trio t = trio(3);
    (void)pw_holder(t.a, 0, 3);
    sl_workload_id large = pw_holder(t.b, 0, 5);
    sl_workload_id small = pw_holder(t.b, 1, 1);
    only_rule(SL_SHARE_INITIAL);
    assert_int_equal(pw_ask(t.a, 0, 1), 1);
    pw_assert_victim(large, SL_PREEMPT_FAIR_SHARING);
    only_rule(SL_SHARE_FINAL);
    assert_int_equal(pw_ask(t.a, 0, 1), 1);
    pw_assert_victim(small, SL_PREEMPT_FAIR_SHARING);
    sl_settings = sl_settings_default();
    sl_settings.fair_sharing = true;
    assert_int_equal(pw_ask(t.a, 0, 1), 1);
    pw_assert_victim(small, SL_PREEMPT_FAIR_SHARING);
}

static void test_preemption_fair_second_rule_helps_when_the_first_finds_too_little(void **state)
{
    (void)state;
    struct trio t = trio(3);
    (void)pw_holder(t.a, 0, 3);
    sl_workload_id large = pw_holder(t.b, 0, 6);
    only_rule(SL_SHARE_FINAL);
    assert_int_equal(pw_ask(t.a, 0, 1), 0);
    sl_settings.share_rule_count = 2;
    sl_settings.share_rules[1] = SL_SHARE_INITIAL;
    assert_int_equal(pw_ask(t.a, 0, 1), 1);
    pw_assert_victim(large, SL_PREEMPT_FAIR_SHARING);
}

static void test_preemption_fair_tie_goes_to_the_lower_priority(void **state)
{
    (void)state;
    struct trio t = trio(4);
    sl_workload_id a = pw_holder(t.a, 2, 6);
    sl_workload_id b = pw_holder(t.b, 1, 6);
    assert_int_equal(pw_ask(t.c, 0, 1), 1);
    pw_assert_victim(b, SL_PREEMPT_RECLAMATION);
    sl_order_set(a, fx_key(0, 1000, a));
    assert_int_equal(pw_ask(t.c, 0, 1), 1);
    pw_assert_victim(a, SL_PREEMPT_RECLAMATION);
    pw_evict(b);
    assert_int_equal(pw_ask(t.c, 0, 1), 1);
    pw_assert_victim(b, SL_PREEMPT_RECLAMATION);
}

static void test_preemption_fair_evicted_one_goes_first(void **state)
{
    (void)state;
    struct trio t = trio(3);
    hold_many(t.b, 8, 1);
    sl_workload_id going = pw_holder(t.b, 7, 1);
    pw_evict(going);
    assert_int_equal(pw_ask(t.a, 0, 1), 1);
    pw_assert_victim(going, SL_PREEMPT_RECLAMATION);
}

static void test_preemption_fair_those_that_need_not_go_are_put_back(void **state)
{
    (void)state;
    struct trio t = trio(3);
    (void)pw_holder(t.a, 0, 0);
    (void)pw_holder_since(t.b, 0, 1, 9000);
    sl_workload_id large = pw_holder_since(t.b, 0, 8, 8000);
    assert_int_equal(pw_ask(t.a, 0, 3), 1);
    pw_assert_victim(large, SL_PREEMPT_RECLAMATION);
}

/* --- hierarchies ----------------------------------------------------------------------------- */

struct forest {
    sl_qnode_id root;
    sl_qnode_id left;
    sl_qnode_id right;
    sl_qnode_id own; /* under left */
    sl_qnode_id near;
    sl_qnode_id far; /* under right */
};

static struct forest forest(int64_t root, int64_t left, int64_t right)
{
    struct forest f = {.root = fx_node(SL_NO_ID)};
    f.left = fx_node(f.root);
    f.right = fx_node(f.root);
    (void)fx_quota(f.root, SPOT, CPU, root, UNLIMITED);
    (void)fx_quota(f.left, SPOT, CPU, left, UNLIMITED);
    (void)fx_quota(f.right, SPOT, CPU, right, UNLIMITED);
    f.own = pw_queue(f.left, 0, SL_WITHIN_NEVER, SL_RECLAIM_ANY);
    f.near = pw_queue(f.left, 0, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    f.far = pw_queue(f.right, 0, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    return f;
}

/* What is compared are the cohorts that stand right under the common one, not the queues. */
static void test_preemption_fair_cohorts_are_compared_below_the_common_one(void **state)
{
    (void)state;
    struct forest f = forest(4, 0, 0);
    hold_many(f.far, 4, 1);
    assert_int_equal(pw_ask(f.own, 0, 2), 2);
    assert_victims_of(f.far, 2, SL_PREEMPT_FAIR_SHARING);
    assert_int_equal(pw_ask(f.own, 0, 3), 0);
    weigh(f.left, 300);
    assert_int_equal(pw_ask(f.own, 0, 3), 3);
    weigh(f.own, 1); /* of no matter between the cohorts */
    assert_int_equal(pw_ask(f.own, 0, 3), 3);
}

static void test_preemption_fair_branch_of_the_preemptor_is_evened_out_too(void **state)
{
    (void)state;
    struct forest f = forest(0, 4, 0);
    hold_many(f.near, 4, 1);
    assert_int_equal(pw_ask(f.own, 0, 1), 1);
    assert_victims_of(f.near, 1, SL_PREEMPT_FAIR_SHARING);
    assert_int_equal(pw_ask(f.own, 0, 3), 0);
}

static void test_preemption_fair_branch_that_borrows_nothing_is_left_alone(void **state)
{
    (void)state;
    struct forest f = forest(0, 0, 4);
    hold_many(f.far, 4, 1);
    assert_int_equal(pw_ask(f.own, 0, 1), 0);
}

static void test_preemption_fair_larger_branch_gives_before_a_queue(void **state)
{
    (void)state;
    struct forest f = forest(6, 0, 0);
    sl_qnode_id direct = pw_queue(f.root, 0, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    hold_many(f.far, 3, 1);
    hold_many(direct, 3, 1);
    assert_int_equal(pw_ask(f.own, 0, 1), 1);
    assert_victims_of(f.far, 1, SL_PREEMPT_FAIR_SHARING); /* of equal shares: the cohort */
    hold_many(direct, 1, 1);
    assert_int_equal(pw_ask(f.own, 0, 2), 3);
    assert_victims_of(direct, 2, SL_PREEMPT_FAIR_SHARING);
}

static void test_preemption_fair_infinite_shares_compare_by_what_is_borrowed(void **state)
{
    (void)state;
    struct trio t = trio(3);
    weigh(t.a, 0);
    weigh(t.b, 0);
    hold_many(t.a, 3, 1);
    hold_many(t.b, 6, 1);
    assert_int_equal(pw_ask(t.a, 0, 2), 0);
    assert_int_equal(pw_ask(t.a, 0, 1), 1);
    assert_victims_of(t.b, 1, SL_PREEMPT_FAIR_SHARING);
}

/* --- the world ------------------------------------------------------------------------------- */

static void test_preemption_fair_ledger_is_as_it_was(void **state)
{
    (void)state;
    struct trio t = trio(3);
    hold_many(t.a, 2, 1);
    hold_many(t.b, 7, 1);
    pw_preemptor(t.a, 0);
    pw_ask_for(SPOT, CPU, 2, true);
    pw_photograph();
    assert_int_equal(sl_preemption_find(fx_now), 2);
    pw_assert_as_photographed();
    sl_preemption_question.needs[0].amount = 400;
    assert_int_equal(sl_preemption_find(fx_now), 0);
    pw_assert_as_photographed();
    sl_preemption_question.needs[0].amount = SL_AMOUNT_MAX;
    assert_int_equal(sl_preemption_find(fx_now), 0);
    pw_assert_as_photographed();
}

static void test_preemption_fair_prospect_says_what_would_be(void **state)
{
    (void)state;
    struct trio t = trio(3);
    sl_cell_id cell = sl_ledger_find_cell(t.a, SPOT, CPU);
    hold_many(t.b, 9, 1);
    pw_preemptor(t.a, 0);
    struct sl_prospect prospect =
        sl_preemption_prospect(sl_preemption_question.preemptor, t.a, cell, 4, fx_now);
    assert_int_equal(prospect.possibility, SL_RECLAIM);
    assert_int_equal(prospect.borrow_height, 1);
}

/* Policy's list of branches may lag behind the ledger; the answer may be poor then, but comes. */
static void test_preemption_fair_tree_whose_branches_are_not_known_ends(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = pw_queue(SL_NO_ID, 3, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_ANY);
    assert_int_equal(sl_ledger_move_qnode(queue, cohort), SL_OK);
    (void)pw_holder(queue, 0, 3);
    sl_settings.preempt_within_nominal = false;
    assert_int_equal(pw_ask(queue, 1, 3), 0);
    sl_branches_follow(queue);
    assert_int_equal(pw_ask(queue, 1, 3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_FAIR_TEST(test_preemption_fair_queue_within_its_quota_takes_back_from_the_largest_share),
        PW_FAIR_TEST(test_preemption_fair_within_nominal_can_be_switched_off),
        PW_FAIR_TEST(test_preemption_fair_larger_share_gives_to_smaller_one),
        PW_FAIR_TEST(test_preemption_fair_equal_shares_stay_as_they_are),
        PW_FAIR_TEST(test_preemption_fair_large_workload_of_a_queue_that_would_swap_places_stays),
        PW_FAIR_TEST(test_preemption_fair_weight_doubles_what_a_queue_may_take),
        PW_FAIR_TEST(test_preemption_fair_queue_without_weight_gives_all_it_borrows),
        PW_FAIR_TEST(test_preemption_fair_queue_without_weight_takes_from_nobody_with_one),
        PW_FAIR_TEST(test_preemption_fair_own_queue_gives_by_priority),
        PW_FAIR_TEST(test_preemption_fair_own_and_other_queues_give_together),
        PW_FAIR_TEST(test_preemption_fair_borrower_takes_from_itself_when_shares_are_equal),
        PW_FAIR_TEST(test_preemption_fair_priority_policy_spares_higher_ones),
        PW_FAIR_TEST(test_preemption_fair_rules_differ_in_what_they_compare),
        PW_FAIR_TEST(test_preemption_fair_second_rule_helps_when_the_first_finds_too_little),
        PW_FAIR_TEST(test_preemption_fair_tie_goes_to_the_lower_priority),
        PW_FAIR_TEST(test_preemption_fair_evicted_one_goes_first),
        PW_FAIR_TEST(test_preemption_fair_those_that_need_not_go_are_put_back),
        PW_FAIR_TEST(test_preemption_fair_cohorts_are_compared_below_the_common_one),
        PW_FAIR_TEST(test_preemption_fair_branch_of_the_preemptor_is_evened_out_too),
        PW_FAIR_TEST(test_preemption_fair_branch_that_borrows_nothing_is_left_alone),
        PW_FAIR_TEST(test_preemption_fair_larger_branch_gives_before_a_queue),
        PW_FAIR_TEST(test_preemption_fair_infinite_shares_compare_by_what_is_borrowed),
        PW_FAIR_TEST(test_preemption_fair_ledger_is_as_it_was),
        PW_FAIR_TEST(test_preemption_fair_prospect_says_what_would_be),
        PW_FAIR_TEST(test_preemption_fair_tree_whose_branches_are_not_known_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
