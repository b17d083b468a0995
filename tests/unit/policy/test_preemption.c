/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Classical preemption: who goes, by what right, in what order, and who is spared. */
#include "preemption_world.h"

#include "policy/preemption/restraint.h"
#include "policy/fair/usage.h"

static sl_qnode_id lone_queue(int64_t cpu)
{
    return pw_queue(SL_NO_ID, cpu, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER);
}

/* --- within the queue ------------------------------------------------------------------------ */

static void test_preemption_lowest_priority_goes_first(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(6);
    sl_workload_id low = pw_holder(queue, -1, 2);
    (void)pw_holder(queue, 0, 2);
    (void)pw_holder(queue, 2, 2);
    assert_int_equal(pw_ask(queue, 1, 2), 1);
    pw_assert_victim(low, SL_PREEMPT_IN_CLUSTER_QUEUE);
    assert_true(sl_victims.may_borrow);
}

static void test_preemption_several_go_lowest_first(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(6);
    sl_workload_id low = pw_holder(queue, -1, 2);
    sl_workload_id middle = pw_holder(queue, 0, 2);
    (void)pw_holder(queue, 2, 2);
    assert_int_equal(pw_ask(queue, 1, 4), 2);
    assert_int_equal(sl_victims.workloads[0], low);
    assert_int_equal(sl_victims.workloads[1], middle);
}

static void test_preemption_equal_priority_stays(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(4);
    (void)pw_holder(queue, 1, 4);
    assert_int_equal(pw_ask(queue, 1, 1), 0);
}

static void test_preemption_newer_of_equal_priority_goes_where_policy_says(void **state)
{
    (void)state;
    sl_qnode_id queue = pw_queue(SL_NO_ID, 4, SL_WITHIN_LOWER_OR_NEWER_EQUAL, SL_RECLAIM_NEVER);
    sl_workload_id older = pw_holder(queue, 1, 2);
    sl_workload_id newer = pw_holder(queue, 1, 2);
    sl_order_set(older, fx_key(1, 400, older)); /* the preemptor's time is 500 */
    assert_int_equal(pw_ask(queue, 1, 2), 1);
    pw_assert_victim(newer, SL_PREEMPT_IN_CLUSTER_QUEUE);
    assert_int_equal(pw_ask(queue, 1, 4), 0);
}

static void test_preemption_policy_never_spares_all(void **state)
{
    (void)state;
    sl_qnode_id queue = pw_queue(SL_NO_ID, 4, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    (void)pw_holder(queue, -9, 4);
    assert_int_equal(pw_ask(queue, 1, 1), 0);
}

static void test_preemption_more_than_all_candidates_hold_finds_none(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(4);
    (void)pw_holder(queue, -1, 2);
    (void)pw_holder(queue, 1, 2);
    assert_int_equal(pw_ask(queue, 1, 3), 0);
}

static void test_preemption_latest_reservation_goes_first(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(6);
    (void)pw_holder_since(queue, 0, 2, 5000);
    sl_workload_id late = pw_holder_since(queue, 0, 2, 7000);
    (void)pw_holder_since(queue, 0, 2, 6000);
    assert_int_equal(pw_ask(queue, 1, 2), 1);
    pw_assert_victim(late, SL_PREEMPT_IN_CLUSTER_QUEUE);
}

static void test_preemption_smaller_uid_breaks_the_tie(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(6);
    sl_workload_id a = pw_holder(queue, 0, 3);
    sl_workload_id b = pw_holder(queue, 0, 3);
    sl_order_set(a, (struct sl_order_key){0, 1000, 2, 1});
    sl_order_set(b, (struct sl_order_key){0, 1000, 1, 9});
    assert_int_equal(pw_ask(queue, 1, 3), 1);
    pw_assert_victim(b, SL_PREEMPT_IN_CLUSTER_QUEUE);
    sl_order_set(a, (struct sl_order_key){0, 1000, 1, 1});
    assert_int_equal(pw_ask(queue, 1, 3), 1);
    pw_assert_victim(a, SL_PREEMPT_IN_CLUSTER_QUEUE);
}

/* By usage only where the queue says so. */
static void test_preemption_local_queue_that_used_more_gives_first(void **state)
{
    (void)state;
    enum { THRIFTY = 11, GREEDY };
    sl_qnode_id queue = lone_queue(4);
    sl_workload_id thrifty = pw_holder(queue, -5, 2);
    sl_workload_id greedy = pw_holder(queue, 0, 2);
    sl_usage_set_account(thrifty, THRIFTY);
    sl_usage_set_account(greedy, GREEDY);
    sl_usage_restore(GREEDY, CPU, (struct sl_usage_amount){1000, 0}, fx_now);
    assert_int_equal(pw_ask(queue, 1, 2), 1);
    pw_assert_victim(thrifty, SL_PREEMPT_IN_CLUSTER_QUEUE);
    struct sl_rules rules = sl_offers_rules(queue);
    rules.by_usage = true;
    assert_int_equal(sl_queues_configure(queue, rules, true), SL_OK);
    assert_int_equal(pw_ask(queue, 1, 2), 1);
    pw_assert_victim(greedy, SL_PREEMPT_IN_CLUSTER_QUEUE);
    sl_usage_close(GREEDY);
}

static void test_preemption_evicted_one_is_taken_before_lower_priorities(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(6);
    (void)pw_holder(queue, -5, 3);
    sl_workload_id going = pw_holder(queue, 0, 3);
    pw_evict(going);
    assert_int_equal(pw_ask(queue, 1, 3), 1);
    pw_assert_victim(going, SL_PREEMPT_IN_CLUSTER_QUEUE);
}

static void test_preemption_those_that_need_not_go_are_put_back(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(10);
    (void)pw_holder(queue, -3, 1);
    (void)pw_holder(queue, -2, 2);
    sl_workload_id large = pw_holder(queue, -1, 7);
    assert_int_equal(pw_ask(queue, 1, 7), 1);
    pw_assert_victim(large, SL_PREEMPT_IN_CLUSTER_QUEUE);
}

/* Of two that were chosen, too. */
static void test_preemption_first_of_two_is_put_back_where_the_second_is_enough(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(10);
    (void)pw_holder(queue, -3, 3);
    sl_workload_id large = pw_holder(queue, -1, 7);
    assert_int_equal(pw_ask(queue, 1, 7), 1);
    pw_assert_victim(large, SL_PREEMPT_IN_CLUSTER_QUEUE);
}

static void test_preemption_holders_of_other_flavors_stay(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(4);
    (void)fx_quota(queue, ON_DEMAND, CPU, 4, UNLIMITED);
    pw_held(queue, ON_DEMAND, CPU, 4);
    (void)pw_holder_of(queue, -5, fx_now);
    sl_workload_id id = pw_holder(queue, 0, 4);
    assert_int_equal(pw_ask(queue, 1, 4), 1);
    pw_assert_victim(id, SL_PREEMPT_IN_CLUSTER_QUEUE);
}

/* Only what is contested makes a candidate, but all of the request has to fit. */
static void test_preemption_uncontested_needs_have_to_fit_too(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(4);
    (void)fx_quota(queue, SPOT, MEMORY, 8, UNLIMITED);
    pw_held(queue, SPOT, CPU, 2);
    pw_held(queue, SPOT, MEMORY, 4);
    (void)pw_holder_of(queue, -5, fx_now);
    pw_held(queue, SPOT, CPU, 2);
    pw_held(queue, SPOT, MEMORY, 1);
    (void)pw_holder_of(queue, -6, fx_now);
    pw_preemptor(queue, 1);
    pw_ask_for(SPOT, CPU, 2, true);
    pw_ask_for(SPOT, MEMORY, 3, false);
    assert_int_equal(sl_preemption_find(fx_now), 1);
    pw_preemptor(queue, 1);
    pw_ask_for(SPOT, CPU, 2, true);
    pw_ask_for(SPOT, MEMORY, 9, false);
    assert_int_equal(sl_preemption_find(fx_now), 0);
}

static void test_preemption_nothing_contested_finds_none(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(4);
    (void)pw_holder(queue, -5, 4);
    pw_preemptor(queue, 1);
    pw_ask_for(SPOT, CPU, 2, false);
    assert_int_equal(sl_preemption_find(fx_now), 0);
}

static void test_preemption_bad_question_finds_none(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(4);
    (void)pw_holder(queue, -5, 4);
    assert_int_equal(pw_ask(queue, 1, 2), 1);
    sl_preemption_question.need_count = SL_USAGE_CELLS_MAX + 1;
    assert_int_equal(sl_preemption_find(fx_now), 0);
    sl_preemption_question.need_count = 1;
    sl_preemption_question.cluster_queue = SL_NO_ID;
    assert_int_equal(sl_preemption_find(fx_now), 0);
    sl_preemption_question.cluster_queue = queue;
    sl_preemption_question.preemptor = SL_NO_ID;
    assert_int_equal(sl_preemption_find(fx_now), 0);
}

/* --- reclaiming from the cohort -------------------------------------------------------------- */

struct pair {
    sl_qnode_id cohort;
    sl_qnode_id own;
    sl_qnode_id other;
};

static struct pair two_queues(enum sl_preempt_reclaim reclaim)
{
    struct pair p = {.cohort = fx_node(SL_NO_ID)};
    p.own = pw_queue(p.cohort, 6, SL_WITHIN_LOWER_PRIORITY, reclaim);
    p.other = pw_queue(p.cohort, 6, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    return p;
}

static void test_preemption_own_quota_is_reclaimed_from_a_borrower(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_ANY);
    (void)pw_holder(p.other, 0, 6);
    sl_workload_id borrower = pw_holder_since(p.other, 9, 3, fx_now + 5);
    (void)pw_holder(p.own, 0, 3);
    (void)pw_holder_since(p.other, 99, 0, 1);
    assert_int_equal(pw_ask(p.own, 1, 3), 1);
    pw_assert_victim(sl_victims.workloads[0], SL_PREEMPT_RECLAMATION);
    assert_int_not_equal(sl_victims.workloads[0], borrower); /* its priority is higher */
    assert_int_equal(sl_holders_queue_of(sl_victims.workloads[0]), p.other);
}

static void test_preemption_reclaim_by_priority_spares_higher_ones(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_LOWER_PRIORITY);
    (void)pw_holder(p.other, 5, 12);
    assert_int_equal(pw_ask(p.own, 5, 3), 0);
    assert_int_equal(pw_ask(p.own, 6, 3), 1);
}

static void test_preemption_queue_within_its_quota_is_left_alone(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_ANY);
    (void)pw_holder(p.other, -5, 6);
    (void)pw_holder(p.own, 2, 6);
    assert_int_equal(pw_ask(p.own, 1, 1), 0);
}

static void test_preemption_inactive_queue_is_left_alone(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_ANY);
    (void)pw_holder(p.other, 0, 12);
    pw_activate(p.other, false);
    assert_int_equal(pw_ask(p.own, 1, 3), 0);
    sl_settings.fair_sharing = true;
    assert_int_equal(pw_ask(p.own, 1, 3), 0);
    pw_activate(p.other, true);
    assert_int_equal(pw_ask(p.own, 1, 3), 1);
}

static void test_preemption_stops_at_a_queue_that_borrows_no_more(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_ANY);
    for (uint32_t i = 0; i < 4; i++) {
        (void)pw_holder(p.other, 0, 2);
    }
    (void)pw_holder(p.own, 2, 4);
    assert_int_equal(pw_ask(p.own, 1, 2), 1);
    assert_int_equal(pw_ask(p.own, 1, 3), 0);
}

static void test_preemption_other_queues_come_before_the_own_one(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_ANY);
    (void)pw_holder(p.own, -9, 2);
    sl_workload_id other = pw_holder(p.other, 0, 10);
    assert_int_equal(pw_ask(p.own, 1, 4), 1);
    pw_assert_victim(other, SL_PREEMPT_RECLAMATION);
}

static void test_preemption_evicted_one_of_the_own_queue_comes_before_other_queues(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_ANY);
    sl_workload_id going = pw_holder(p.own, -9, 4);
    (void)pw_holder(p.other, 0, 8);
    pw_evict(going);
    assert_int_equal(pw_ask(p.own, 1, 4), 1);
    pw_assert_victim(going, SL_PREEMPT_IN_CLUSTER_QUEUE);
}

/* At its quota, the own queue asks for more: others may not be touched then, unless borrowing
 * within the cohort is on. */
static void test_preemption_queue_at_its_quota_takes_from_itself(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_ANY);
    sl_workload_id own = pw_holder(p.own, 0, 6);
    (void)pw_holder(p.other, -9, 6);
    (void)fx_quota(p.cohort, SPOT, CPU, 1, UNLIMITED);
    (void)pw_holder(p.other, -9, 1);
    assert_int_equal(pw_ask(p.own, 1, 6), 1);
    pw_assert_victim(own, SL_PREEMPT_IN_CLUSTER_QUEUE);
    assert_true(sl_victims.may_borrow);
}

static void test_preemption_without_borrowing_is_tried_first(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_ANY);
    sl_workload_id own = pw_holder(p.own, 0, 4);
    sl_workload_id other = pw_holder(p.other, -9, 8);
    assert_int_equal(pw_ask(p.own, 1, 6), 2);
    pw_assert_victim(other, SL_PREEMPT_RECLAMATION);
    pw_assert_victim(own, SL_PREEMPT_IN_CLUSTER_QUEUE);
}

/* --- borrowing within the cohort ------------------------------------------------------------- */

static void test_preemption_borrower_takes_lower_priorities_where_it_may(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_LOWER_PRIORITY);
    (void)pw_holder(p.own, 9, 5);
    sl_workload_id other = pw_holder(p.other, 0, 7);
    assert_int_equal(pw_ask(p.own, 1, 2), 0);
    pw_borrow_within(p.own, false, 0);
    assert_int_equal(pw_ask(p.own, 1, 2), 1);
    pw_assert_victim(other, SL_PREEMPT_RECLAIM_WHILE_BORROWING);
    assert_true(sl_victims.may_borrow);
}

static void test_preemption_borrower_spares_priorities_above_the_threshold(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_LOWER_PRIORITY);
    pw_borrow_within(p.own, true, 0);
    (void)pw_holder(p.own, 9, 5);
    sl_workload_id other = pw_holder(p.other, 1, 7);
    assert_int_equal(pw_ask(p.own, 2, 2), 0);
    sl_order_set(other, fx_key(0, 1000, other));
    assert_int_equal(pw_ask(p.own, 2, 2), 1);
    pw_assert_victim(other, SL_PREEMPT_RECLAIM_WHILE_BORROWING);
}

static void test_preemption_threshold_does_not_matter_without_borrowing(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_LOWER_PRIORITY);
    pw_borrow_within(p.own, true, 0);
    sl_workload_id other = pw_holder(p.other, 1, 12);
    pw_limits(p.own, 6, UNLIMITED, 0);
    assert_int_equal(pw_ask(p.own, 2, 6), 1);
    pw_assert_victim(other, SL_PREEMPT_RECLAMATION);
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

static struct forest forest(int64_t left, int64_t right)
{
    struct forest f = {.root = fx_node(SL_NO_ID)};
    f.left = fx_node(f.root);
    f.right = fx_node(f.root);
    (void)fx_quota(f.left, SPOT, CPU, left, UNLIMITED);
    (void)fx_quota(f.right, SPOT, CPU, right, UNLIMITED);
    f.own = pw_queue(f.left, 0, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_LOWER_PRIORITY);
    f.near = pw_queue(f.left, 0, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    f.far = pw_queue(f.right, 0, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    return f;
}

/* The left cohort's quota is lent to the far queue: the own one has the better right to it. */
static void test_preemption_cohort_takes_back_from_another_branch(void **state)
{
    (void)state;
    struct forest f = forest(4, 4);
    sl_workload_id far = pw_holder(f.far, 0, 8);
    assert_int_equal(pw_ask(f.own, 1, 4), 1);
    pw_assert_victim(far, SL_PREEMPT_RECLAMATION);
}

/* What the near queue uses is the left cohort's own: nobody has the better right, and the
 * preemptor would borrow. */
static void test_preemption_sibling_needs_borrowing_within_the_cohort(void **state)
{
    (void)state;
    struct forest f = forest(4, 0);
    sl_workload_id near = pw_holder(f.near, 0, 4);
    assert_int_equal(pw_ask(f.own, 1, 4), 0);
    pw_borrow_within(f.own, false, 0);
    assert_int_equal(pw_ask(f.own, 1, 4), 1);
    pw_assert_victim(near, SL_PREEMPT_RECLAIM_WHILE_BORROWING);
}

static void test_preemption_branch_within_its_quota_is_left_alone(void **state)
{
    (void)state;
    struct forest f = forest(4, 6);
    pw_borrow_within(f.own, false, 0);
    (void)pw_holder(f.far, -9, 6);
    sl_workload_id near = pw_holder(f.near, 0, 4);
    assert_int_equal(pw_ask(f.own, 1, 2), 1);
    pw_assert_victim(near, SL_PREEMPT_RECLAIM_WHILE_BORROWING);
}

static void test_preemption_better_right_comes_before_priority(void **state)
{
    (void)state;
    struct forest f = forest(4, 2);
    pw_borrow_within(f.own, false, 0);
    sl_workload_id far = pw_holder(f.far, 0, 4);
    (void)pw_holder(f.near, -9, 2);
    assert_int_equal(pw_ask(f.own, 1, 2), 1);
    pw_assert_victim(far, SL_PREEMPT_RECLAMATION);
}

/* Once the right branch keeps to its quota, nothing more is taken from it. */
static void test_preemption_stops_at_a_branch_that_borrows_no_more(void **state)
{
    (void)state;
    struct forest f = forest(4, 4);
    (void)pw_holder(f.near, 9, 2);
    (void)pw_holder(f.far, 0, 2);
    (void)pw_holder(f.far, 0, 4);
    assert_int_equal(pw_ask(f.own, 1, 2), 1);
    assert_int_equal(pw_ask(f.own, 1, 3), 0);
}

static void test_preemption_lending_limit_keeps_the_request_in_the_branch(void **state)
{
    (void)state;
    struct forest f = forest(0, 4);
    pw_borrow_within(f.own, false, 0);
    pw_limits(f.near, 4, 0, UNLIMITED);
    (void)pw_holder(f.near, -9, 4);
    sl_workload_id far = pw_holder(f.far, 0, 4);
    assert_int_equal(pw_ask(f.own, 1, 4), 0); /* each keeps to its quota */
    (void)far;
}

/* --- trials, passing over, the oracle -------------------------------------------------------- */

static void test_preemption_ledger_is_as_it_was(void **state)
{
    (void)state;
    struct forest f = forest(4, 4);
    (void)pw_holder(f.far, 0, 3);
    (void)pw_holder(f.far, 0, 5);
    pw_preemptor(f.own, 1);
    pw_ask_for(SPOT, CPU, 4, true);
    pw_photograph();
    assert_true(sl_preemption_find(fx_now) > 0);
    pw_assert_as_photographed();
    sl_preemption_question.needs[0].amount = 400;
    assert_int_equal(sl_preemption_find(fx_now), 0);
    pw_assert_as_photographed();
}

static void test_preemption_open_trial_counts_as_the_world(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(4);
    sl_workload_id a = pw_holder(queue, -2, 2);
    sl_workload_id b = pw_holder(queue, -1, 2);
    pw_preemptor(queue, 1);
    pw_ask_for(SPOT, CPU, 4, true);
    uint32_t mark = sl_trail_begin();
    assert_int_equal(sl_ledger_release(sl_commit_usage(a, 0).cell, 2), SL_OK);
    sl_preemption_pass_over(a);
    assert_int_equal(sl_preemption_find(fx_now), 1);
    pw_assert_victim(b, SL_PREEMPT_IN_CLUSTER_QUEUE);
    sl_trail_rollback(mark);
    assert_int_equal(sl_preemption_find(fx_now), 0);
    sl_preemption_pass_over_none();
    sl_preemption_pass_over(SL_NO_ID);
    assert_int_equal(sl_preemption_find(fx_now), 2);
}

/* A trial whose trail has room for no more than so many notes. */
static uint32_t begin_with_room_for(sl_qnode_id queue, uint32_t notes)
{
    uint32_t mark = sl_trail_begin();
    sl_cell_id cell = sl_ledger_find_cell(queue, SPOT, CPU);
    while (sl_trail_count < SL_TRAIL_MAX - SL_LEVELS_MAX - notes) {
        assert_int_equal(sl_ledger_charge(cell, 1), SL_OK);
        assert_int_equal(sl_ledger_release(cell, 1), SL_OK);
    }
    return mark;
}

/* Whatever the ledger refuses on the way, nobody is named in vain and nothing changes. */
static void ask_with_a_full_trail(sl_qnode_id queue)
{
    uint32_t found = 0;
    for (uint32_t notes = 0; notes < 8; notes++) {
        uint32_t mark = begin_with_room_for(queue, notes);
        pw_photograph();
        uint32_t count = sl_preemption_find(fx_now);
        pw_assert_as_photographed();
        sl_trail_rollback(mark);
        assert_true(count == 0 || count == 2);
        assert_true(notes > 0 || count == 0);
        found += count == 2 ? 1u : 0u;
    }
    assert_true(found > 0);
}

static void test_preemption_full_trail_finds_none(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(5);
    (void)pw_holder(queue, -3, 1);
    (void)pw_holder(queue, -2, 2);
    (void)pw_holder(queue, -1, 2);
    pw_preemptor(queue, 1);
    pw_ask_for(SPOT, CPU, 4, true);
    ask_with_a_full_trail(queue);
    sl_settings.fair_sharing = true;
    ask_with_a_full_trail(queue);
}

static void test_preemption_what_is_no_amount_of_a_cell_finds_none(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(UNLIMITED);
    (void)pw_holder(queue, -1, 2);
    assert_int_equal(pw_ask(queue, 1, SL_AMOUNT_MAX), 1); /* whether it fits anyway is not asked */
    assert_int_equal(pw_ask(queue, 1, SL_AMOUNT_MAX + 1), 0);
    assert_int_equal(pw_ask(queue, 1, -1), 0);
    pw_preemptor(queue, 1);
    sl_preemption_question.needs[0] = (struct sl_need){SL_NO_ID, 0, true};
    sl_preemption_question.need_count = 1;
    assert_int_equal(sl_preemption_find(fx_now), 0);
}

static void test_preemption_prospect_says_what_would_be(void **state)
{
    (void)state;
    struct pair p = two_queues(SL_RECLAIM_ANY);
    sl_cell_id cell = sl_ledger_find_cell(p.own, SPOT, CPU);
    sl_workload_id other = pw_holder(p.other, 0, 12);
    pw_preemptor(p.own, 1);
    sl_workload_id preemptor = sl_preemption_question.preemptor;
    struct sl_prospect prospect = sl_preemption_prospect(preemptor, p.own, cell, 6, fx_now);
    assert_int_equal(prospect.possibility, SL_RECLAIM);
    assert_int_equal(prospect.borrow_height, 0);
    prospect = sl_preemption_prospect(preemptor, p.own, cell, 13, fx_now);
    assert_int_equal(prospect.possibility, SL_NO_CANDIDATES);
    assert_int_equal(prospect.borrow_height, 1);
    fx_finish(other);
    (void)pw_holder(p.own, 0, 6);
    (void)pw_holder(p.other, 9, 6);
    prospect = sl_preemption_prospect(preemptor, p.own, cell, 6, fx_now);
    assert_int_equal(prospect.possibility, SL_PREEMPT);
    assert_int_equal(prospect.borrow_height, 0);
}

/* --- restraint ------------------------------------------------------------------------------- */

static void test_preemption_restrained_workload_finds_none(void **state)
{
    (void)state;
    sl_qnode_id queue = lone_queue(4);
    (void)pw_holder(queue, -1, 4);
    assert_int_equal(pw_ask(queue, 1, 2), 1);
    sl_workload_id id = sl_preemption_question.preemptor;
    sl_cell_id cell = sl_ledger_find_cell(queue, SPOT, CPU);
    sl_restraint_set(id, true);
    assert_int_equal(sl_preemption_find(fx_now), 0);
    assert_int_equal(sl_preemption_prospect(id, queue, cell, 2, fx_now).possibility,
                     SL_NO_CANDIDATES);
    sl_restraint_set(id, false);
    assert_int_equal(sl_preemption_find(fx_now), 1);
}

static void test_preemption_restraint_ends_with_the_workload(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    sl_restraint_set(id, true);
    assert_true(sl_restraint_holds(id));
    assert_int_equal(fx_event(id, SL_EV_DELETE, 0, 0, 0), SL_OK);
    fx_next_id = id;
    assert_int_equal(fx_create(), id); /* the slot's next owner */
    assert_false(sl_restraint_holds(id));
    sl_restraint_set(SL_WORKLOADS_MAX, true);
    assert_false(sl_restraint_holds(SL_WORKLOADS_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_preemption_lowest_priority_goes_first),
        PW_TEST(test_preemption_several_go_lowest_first),
        PW_TEST(test_preemption_equal_priority_stays),
        PW_TEST(test_preemption_newer_of_equal_priority_goes_where_policy_says),
        PW_TEST(test_preemption_policy_never_spares_all),
        PW_TEST(test_preemption_more_than_all_candidates_hold_finds_none),
        PW_TEST(test_preemption_latest_reservation_goes_first),
        PW_TEST(test_preemption_smaller_uid_breaks_the_tie),
        PW_TEST(test_preemption_local_queue_that_used_more_gives_first),
        PW_TEST(test_preemption_evicted_one_is_taken_before_lower_priorities),
        PW_TEST(test_preemption_those_that_need_not_go_are_put_back),
        PW_TEST(test_preemption_first_of_two_is_put_back_where_the_second_is_enough),
        PW_TEST(test_preemption_holders_of_other_flavors_stay),
        PW_TEST(test_preemption_uncontested_needs_have_to_fit_too),
        PW_TEST(test_preemption_nothing_contested_finds_none),
        PW_TEST(test_preemption_bad_question_finds_none),
        PW_TEST(test_preemption_own_quota_is_reclaimed_from_a_borrower),
        PW_TEST(test_preemption_reclaim_by_priority_spares_higher_ones),
        PW_TEST(test_preemption_queue_within_its_quota_is_left_alone),
        PW_TEST(test_preemption_inactive_queue_is_left_alone),
        PW_TEST(test_preemption_stops_at_a_queue_that_borrows_no_more),
        PW_TEST(test_preemption_other_queues_come_before_the_own_one),
        PW_TEST(test_preemption_evicted_one_of_the_own_queue_comes_before_other_queues),
        PW_TEST(test_preemption_queue_at_its_quota_takes_from_itself),
        PW_TEST(test_preemption_without_borrowing_is_tried_first),
        PW_TEST(test_preemption_borrower_takes_lower_priorities_where_it_may),
        PW_TEST(test_preemption_borrower_spares_priorities_above_the_threshold),
        PW_TEST(test_preemption_threshold_does_not_matter_without_borrowing),
        PW_TEST(test_preemption_cohort_takes_back_from_another_branch),
        PW_TEST(test_preemption_sibling_needs_borrowing_within_the_cohort),
        PW_TEST(test_preemption_branch_within_its_quota_is_left_alone),
        PW_TEST(test_preemption_better_right_comes_before_priority),
        PW_TEST(test_preemption_stops_at_a_branch_that_borrows_no_more),
        PW_TEST(test_preemption_lending_limit_keeps_the_request_in_the_branch),
        PW_TEST(test_preemption_ledger_is_as_it_was),
        PW_TEST(test_preemption_open_trial_counts_as_the_world),
        PW_TEST(test_preemption_full_trail_finds_none),
        PW_TEST(test_preemption_what_is_no_amount_of_a_cell_finds_none),
        PW_TEST(test_preemption_prospect_says_what_would_be),
        PW_TEST(test_preemption_restrained_workload_finds_none),
        PW_TEST(test_preemption_restraint_ends_with_the_workload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
