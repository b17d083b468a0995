/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The checkers of the guarantees: each rule is broken by hand in a core where all hold, is found, and is whole
 * again. */
#include "places_world.h"

#include <string.h>

#include "kernel/ledger/cells.h"
#include "kernel/commit/workload_usage.h"
#include "kernel/commit/promise.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/guarantees/guarantees.h"
#include "policy/queues/holders.h"
#include "policy/queues/holders.c" /* its lists are nobody else's: only from within can they be broken */

static struct pw_tree tree;
static sl_qnode_id queue;
static sl_workload_id holder, waiting, standing, finished;

/* One that runs, one that waits, one that stands on a host, and one that has ended. */
static int setup(void **state)
{
    (void)state;
    tree = pw_tree(2, 2, 4);
    queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, tree.tree, CPU, 4);
    holder = fx_workload(queue, 0, 1, 3);
    (void)fx_rest();
    finished = fx_workload(queue, 0, 1, 1);
    (void)fx_rest();
    fx_finish(finished);
    standing = pw_workload(queue, 0, 2, 1, LEVEL_RACK);
    (void)fx_rest();
    waiting = fx_workload(queue, 0, 2, 9);
    (void)fx_rest();
    assert_int_equal(sl_topology_assignment_count(standing), 1);
    assert_true(sl_lifecycle_holds_quota(holder) && !sl_lifecycle_holds_quota(waiting));
    (void)sl_guarantees_step(fx_next_id, false);
    return 0;
}

static int teardown(void **state)
{
    return pw_teardown(state);
}

static struct sl_finding find(bool decided)
{
    struct sl_finding f = sl_guarantees_kernel(fx_next_id);
    if (f.rule == SL_RULE_NONE) {
        f = sl_guarantees_policy(fx_next_id);
    }
    return f.rule != SL_RULE_NONE || !decided ? f : sl_guarantees_step(fx_next_id, true);
}

static void expect(struct sl_finding f, enum sl_rule rule, uint32_t object)
{
    assert_int_equal(f.rule, rule);
    assert_int_equal(f.object, object);
}

/* While `what` has another value the rule is broken of that object, and no longer. */
#define BROKEN(what, value, rule, object)                                                          \
    do {                                                                                           \
        __typeof__(what) was = what;                                                               \
        what = value;                                                                              \
        expect(find(false), rule, object);                                                         \
        what = was;                                                                                \
        expect(find(false), SL_RULE_NONE, 0);                                                      \
    } while (0)

/* The same of a step from the state that was seen last; `what` is seen once more as it was. */
#define BROKEN_STEP(what, value, rule, object)                                                     \
    do {                                                                                           \
        __typeof__(what) was = what;                                                               \
        what = value;                                                                              \
        expect(sl_guarantees_step(fx_next_id, true), rule, object);                                \
        what = was;                                                                                \
        (void)sl_guarantees_step(fx_next_id, false);                                               \
        expect(sl_guarantees_step(fx_next_id, true), SL_RULE_NONE, 0);                             \
    } while (0)

static void test_guarantees_hold_in_a_core_that_was_only_used(void **state)
{
    (void)state;
    expect(find(true), SL_RULE_NONE, 0);
    fx_finish(holder);
    expect(find(true), SL_RULE_NONE, 0);
}

static void test_guarantees_name_the_workload_whose_record_is_broken(void **state)
{
    (void)state;
    BROKEN(sl_workloads[waiting].check_count, SL_CHECKS_MAX + 1, SL_RULE_RECORD, waiting);
    BROKEN(sl_workloads[holder].has_admission, false, SL_RULE_RECORD, holder);
    BROKEN(sl_places[holder], SL_PLACE_HEAP, SL_RULE_PLACE, holder);
    BROKEN(sl_places[waiting], SL_PLACE_DONE, SL_RULE_PLACE, waiting);
}

static void test_guarantees_find_what_leaks_from_the_ledger(void **state)
{
    (void)state;
    sl_cell_id cell = sl_commit_usage(holder, 0).cell;
    BROKEN(sl_cell_own[cell], sl_cell_own[cell] + 1, SL_RULE_LEDGER, 0);
    BROKEN(sl_usage_amounts[holder][0], 2, SL_RULE_USAGE, 0);
    BROKEN(sl_usage_counts[finished], 1, SL_RULE_LEAK, finished);
    BROKEN(sl_trail_depth, 1, SL_RULE_TRIAL, 0);
}

static void test_guarantees_find_what_leaks_from_rooms(void **state)
{
    (void)state;
    sl_site_id site = sl_domain_site(sl_topology_assignment_at(standing, 0).domain);
    BROKEN(sl_site_used[site], 0, SL_RULE_TOPOLOGY, 0);
    BROKEN(sl_booking_counts[waiting], 1, SL_RULE_CAPACITY_LEAK, waiting);
    sl_passes_grant(standing, 0, tree.tree, 3);
    expect(find(false), SL_RULE_PODS, standing);
    sl_passes_grant(standing, 0, tree.tree, 2);
    expect(find(false), SL_RULE_NONE, 0);
}

static void test_guarantees_find_lists_that_are_not_what_records_say(void **state)
{
    (void)state;
    sl_holders_remove(holder);
    expect(find(false), SL_RULE_HOLDER, holder);
    sl_holders_add(queue + 1, holder);
    expect(find(false), SL_RULE_HOLDER, holder);
    sl_holders_remove(holder);
    sl_holders_add(queue, holder);
    BROKEN(sl_places[waiting], SL_PLACE_ORPHANED, SL_RULE_QUEUES, 0);
    BROKEN(sl_places[waiting], SL_PLACE_IN_FLIGHT, SL_RULE_IN_FLIGHT, waiting);
    BROKEN(sl_qnode_up[queue], 1, SL_RULE_LEDGER, 0);
}

static void test_guarantees_find_lists_of_holders_that_are_broken(void **state)
{
    (void)state;
    assert_int_equal(sl_holders_count(queue), 2);
    BROKEN(counts[queue], 3, SL_RULE_HOLDERS, 0);
    BROKEN(counts[queue], 1, SL_RULE_HOLDERS, 0);
    BROKEN(first_link[queue], 0, SL_RULE_HOLDERS, 0);
    sl_workload_id second = next_link[first_link[queue] - 1] - 1;
    BROKEN(prev_link[second], 0, SL_RULE_HOLDERS, 0);
    BROKEN(next_link[second], first_link[queue], SL_RULE_HOLDERS, 0); /* without an end */
}

/* A cell that is offered still was given back, and may be another queue's by now. */
static void test_guarantees_find_offers_of_cells_that_are_not_the_queues(void **state)
{
    (void)state;
    sl_qnode_id other = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_cell_id cell = sl_offers_first(other);
    expect(find(false), SL_RULE_NONE, 0);
    assert_int_equal(sl_ledger_set_quota(cell, 0, 0, 0), SL_OK);
    assert_int_equal(sl_ledger_close_qnode(other), SL_OK);
    sl_branches_follow(other);
    expect(find(false), SL_RULE_OFFERS, 0);
    sl_offers_clear(other);
    expect(find(false), SL_RULE_NONE, 0);
}

/* A queue lists somebody of whom nobody else knows. */
static void test_guarantees_find_a_line_that_is_longer_than_those_who_stand_in_it(void **state)
{
    (void)state;
    assert_int_equal(waiting, fx_next_id - 1);
    expect(sl_guarantees_policy(waiting), SL_RULE_LINE, 0);
    expect(sl_guarantees_policy(waiting + 1), SL_RULE_NONE, 0);
}

static void test_guarantees_find_what_was_not_told_to_the_indexes(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_queues_wake_tree(queue);
    sl_queues_flush();
    assert_int_equal(sl_ledger_move_qnode(queue, cohort), SL_OK);
    expect(find(false), SL_RULE_BRANCHES, 0);
    sl_branches_follow(queue);
    sl_queues_wake_tree(queue);
    (void)fx_rest();
    expect(find(false), SL_RULE_NONE, 0);
    struct sl_event gone = {SL_EV_DELETE, waiting, sl_workloads[waiting].generation, 0, 0, 0,
                            fx_now};
    assert_int_equal(sl_placement_event(gone), SL_OK);
    expect(find(false), SL_RULE_ATTACHED, waiting);
    sl_queues_settle(waiting, fx_now);
    expect(find(true), SL_RULE_NONE, 0);
}

static void test_guarantees_find_promises_that_outlive_their_cycle(void **state)
{
    (void)state;
    assert_int_equal(sl_promise_add(sl_commit_usage(holder, 0).cell, 1), SL_OK);
    expect(find(false), SL_RULE_PROMISES, 0);
    sl_promise_clear();
    expect(find(false), SL_RULE_NONE, 0);
}

static void test_guarantees_find_a_second_pass_that_is_lost(void **state)
{
    (void)state;
    sl_site_id site = sl_domain_site(sl_topology_assignment_at(standing, 0).domain);
    assert_int_equal(fx_event(standing, SL_EV_NODE_FAILED, site, 0, 0), SL_OK);
    expect(find(false), SL_RULE_NONE, 0);
    sl_second_pass_cancel(standing);
    expect(find(false), SL_RULE_PASS_LOST, standing);
    sl_passes_settle(standing, fx_now);
    BROKEN(sl_second_passes[0].due_ms, -1, SL_RULE_PASSES, 0);
}

static void test_guarantees_find_steps_that_must_not_be(void **state)
{
    (void)state;
    BROKEN_STEP(sl_workloads[finished].phase, SL_PHASE_PENDING, SL_RULE_FINISHED, finished);
    BROKEN_STEP(sl_workloads[waiting].phase, SL_PHASE_EVICTED, SL_RULE_VICTIM, waiting);
    BROKEN_STEP(sl_workloads[finished].phase, SL_PHASE_ABSENT, SL_RULE_REVIVED, finished);
    sl_workloads[waiting].requeue_at_ms = 50;
    (void)sl_guarantees_step(fx_next_id, false);
    BROKEN_STEP(sl_workloads[waiting].requeue_at_ms, 49, SL_RULE_BACKOFF, waiting);
    sl_workloads[waiting].requeue_at_ms = SL_NEVER;
}

static void test_guarantees_find_an_eviction_within_an_eviction(void **state)
{
    (void)state;
    assert_int_equal(fx_event(holder, SL_EV_PREEMPT, 0, SL_PREEMPT_IN_CLUSTER_QUEUE, 0), SL_OK);
    expect(find(true), SL_RULE_NONE, 0);
    BROKEN_STEP(sl_workloads[holder].eviction_count, 2, SL_RULE_EVICTED_TWICE, holder);
}

static void test_guarantees_find_what_was_given_beyond_quota_or_room(void **state)
{
    (void)state;
    sl_cell_id cell = sl_commit_usage(holder, 0).cell;
    sl_site_id site = sl_domain_site(sl_topology_assignment_at(standing, 0).domain);
    int64_t used = sl_cell_usage[cell];
    sl_cell_usage[cell] = used + 2;
    BROKEN_STEP(sl_cell_own[cell], sl_cell_own[cell] + 2, SL_RULE_OVER_QUOTA, cell);
    sl_cell_usage[cell] = used;
    BROKEN_STEP(sl_site_used[site], PODS_A_HOST + 1, SL_RULE_OVERFULL, site);
}

/* An administrator may cut a quota below what is used: nobody was given more. */
static void test_guarantees_allow_a_quota_that_was_cut(void **state)
{
    (void)state;
    sl_cell_id cell = sl_commit_usage(holder, 0).cell;
    assert_int_equal(sl_ledger_set_quota(cell, 1, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED), SL_OK);
    assert_true(sl_ledger_available(cell) < 0);
    expect(find(true), SL_RULE_NONE, 0);
}

#define GUARANTEE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GUARANTEE_TEST(test_guarantees_hold_in_a_core_that_was_only_used),
        GUARANTEE_TEST(test_guarantees_name_the_workload_whose_record_is_broken),
        GUARANTEE_TEST(test_guarantees_find_what_leaks_from_the_ledger),
        GUARANTEE_TEST(test_guarantees_find_what_leaks_from_rooms),
        GUARANTEE_TEST(test_guarantees_find_lists_that_are_not_what_records_say),
        GUARANTEE_TEST(test_guarantees_find_lists_of_holders_that_are_broken),
        GUARANTEE_TEST(test_guarantees_find_offers_of_cells_that_are_not_the_queues),
        GUARANTEE_TEST(test_guarantees_find_a_line_that_is_longer_than_those_who_stand_in_it),
        GUARANTEE_TEST(test_guarantees_find_what_was_not_told_to_the_indexes),
        GUARANTEE_TEST(test_guarantees_find_promises_that_outlive_their_cycle),
        GUARANTEE_TEST(test_guarantees_find_a_second_pass_that_is_lost),
        GUARANTEE_TEST(test_guarantees_find_steps_that_must_not_be),
        GUARANTEE_TEST(test_guarantees_find_an_eviction_within_an_eviction),
        GUARANTEE_TEST(test_guarantees_find_what_was_given_beyond_quota_or_room),
        GUARANTEE_TEST(test_guarantees_allow_a_quota_that_was_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
