/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment over several questions: scan progress, pins; and groups of pod sets. */
#include "flavors_fixture.h"

/* A queue whose first two of three flavors can be preempted for, and stop the search. */
static sl_qnode_id stopping_queue(void)
{
    sl_qnode_id queue = fx_node(SL_NO_ID);
    for (sl_flavor_id flavor = 1; flavor <= 3; flavor++) {
        (void)fx_offer(queue, flavor, CPU, 4);
        fl_charge(queue, flavor, 4);
        fl_answer(flavor, SL_PREEMPT, 0);
    }
    fl_rules(queue, SL_MAY_STOP_SEARCH, SL_MAY_STOP_SEARCH, SL_BORROWING_OVER_PREEMPTION);
    return queue;
}

static void clear_queue(sl_qnode_id queue)
{
    for (sl_flavor_id flavor = 1; flavor <= 3; flavor++) {
        fl_release(queue, flavor, 4);
    }
}

/* Assign and remember in that cycle, as a cycle does. */
static void try_in_cycle(sl_workload_id id, sl_qnode_id queue, uint64_t cycle)
{
    sl_flavors_set_cycle(cycle);
    sl_flavors_assign(id, queue, fx_now);
    sl_flavors_remember(cycle);
}

static void test_flavors_scan_goes_on_where_it_stopped_and_begins_again(void **state)
{
    (void)state;
    sl_qnode_id queue = stopping_queue();
    sl_workload_id id = fl_asking(2);
    assert_false(sl_flavors_left_to_try(id));
    for (uint64_t round = 0; round < 2; round++) {
        try_in_cycle(id, queue, 10 + 3 * round);
        fl_assert_choice(0, 1, SL_MODE_PREEMPT, 0);
        assert_true(sl_flavors_left_to_try(id));
        try_in_cycle(id, queue, 11 + 3 * round);
        fl_assert_choice(0, 2, SL_MODE_PREEMPT, 1);
        assert_int_equal(sl_assignment.attempt_count, 1);
        try_in_cycle(id, queue, 12 + 3 * round);
        fl_assert_choice(0, 3, SL_MODE_PREEMPT, -1);
        assert_false(sl_flavors_left_to_try(id));
    }
    sl_flavors_forget(id);
    clear_queue(queue);
}

static void test_flavors_forgotten_progress_starts_over(void **state)
{
    (void)state;
    sl_qnode_id queue = stopping_queue();
    sl_workload_id id = fl_asking(2);
    try_in_cycle(id, queue, 20);
    sl_flavors_forget(id);
    assert_false(sl_flavors_left_to_try(id));
    try_in_cycle(id, queue, 21);
    fl_assert_choice(0, 1, SL_MODE_PREEMPT, 0);
    sl_flavors_forget(id);
    clear_queue(queue);
}

static void test_flavors_touched_progress_is_void_after_the_next_cycle(void **state)
{
    (void)state;
    sl_qnode_id queue = stopping_queue();
    sl_workload_id id = fl_asking(2);
    try_in_cycle(id, queue, 30);
    sl_flavors_touch_queue(queue);
    try_in_cycle(id, queue, 31); /* the cycle before: still good */
    fl_assert_choice(0, 2, SL_MODE_PREEMPT, 1);
    sl_flavors_set_cycle(40);
    sl_flavors_assign(id, queue, fx_now); /* old, but nothing has happened */
    fl_assert_choice(0, 3, SL_MODE_PREEMPT, -1);
    sl_flavors_touch_tree(queue);
    sl_flavors_assign(id, queue, fx_now);
    fl_assert_choice(0, 1, SL_MODE_PREEMPT, 0);
    sl_flavors_forget(id);
    clear_queue(queue);
}

static void test_flavors_touch_reaches_tree_or_queue_and_no_farther(void **state)
{
    (void)state;
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id queue = stopping_queue();
    sl_qnode_id sister = fx_node(root);
    sl_workload_id id = fl_asking(2);
    assert_int_equal(sl_ledger_move_qnode(queue, root), SL_OK);
    try_in_cycle(id, queue, 50);
    sl_flavors_set_cycle(60);
    sl_flavors_touch_queue(sister);
    sl_flavors_touch_tree(fx_node(SL_NO_ID));
    sl_flavors_assign(id, queue, fx_now);
    fl_assert_choice(0, 2, SL_MODE_PREEMPT, 1);
    sl_flavors_touch_tree(sister);
    sl_flavors_assign(id, queue, fx_now);
    fl_assert_choice(0, 1, SL_MODE_PREEMPT, 0);
    sl_flavors_forget(id);
    clear_queue(queue);
}

static void test_flavors_changed_shape_starts_over_unless_hashing_is_off(void **state)
{
    (void)state;
    sl_qnode_id queue = stopping_queue();
    sl_workload_id id = fl_asking(2);
    try_in_cycle(id, queue, 70);
    sl_requests_clear(id);
    fx_pod_set(id, 1, CPU, 3);
    sl_flavors_assign(id, queue, fx_now);
    fl_assert_choice(0, 1, SL_MODE_PREEMPT, 0);
    sl_settings.equivalence_hashing = false;
    sl_flavors_assign(id, queue, fx_now);
    fl_assert_choice(0, 2, SL_MODE_PREEMPT, 1);
    sl_flavors_forget(id);
    clear_queue(queue);
}

static void test_flavors_without_its_gate_progress_is_void_once_touched(void **state)
{
    (void)state;
    sl_settings.preserve_scan_progress = false;
    sl_qnode_id queue = stopping_queue();
    sl_workload_id id = fl_asking(2);
    try_in_cycle(id, queue, 80);
    try_in_cycle(id, queue, 81);
    fl_assert_choice(0, 2, SL_MODE_PREEMPT, 1);
    sl_flavors_touch_queue(queue);
    try_in_cycle(id, queue, 82);
    fl_assert_choice(0, 1, SL_MODE_PREEMPT, 0);
    sl_flavors_forget(id);
    clear_queue(queue);
}

static void test_flavors_progress_beyond_fewer_flavors_starts_over(void **state)
{
    (void)state;
    sl_qnode_id queue = stopping_queue();
    sl_workload_id id = fl_asking(2);
    try_in_cycle(id, queue, 90);
    try_in_cycle(id, queue, 91);
    sl_cell_id first = sl_offers_first(queue);
    sl_offers_clear(queue);
    assert_int_equal(sl_offers_add(queue, 0, first), SL_OK);
    try_in_cycle(id, queue, 92);
    fl_assert_choice(0, 1, SL_MODE_PREEMPT, -1);
    clear_queue(queue);
}

static void test_flavors_each_resource_group_has_its_own_progress(void **state)
{
    (void)state;
    sl_qnode_id queue = stopping_queue();
    sl_cell_id memory = fx_quota(queue, 4, MEMORY, 9, 0);
    sl_cell_id more = fx_quota(queue, 5, MEMORY, 9, 0);
    assert_int_equal(sl_offers_add(queue, 1, memory), SL_OK);
    assert_int_equal(sl_offers_add(queue, 1, more), SL_OK);
    sl_workload_id id = fl_asking(2);
    assert_int_equal(sl_requests_add(id, MEMORY, 1), SL_OK);
    try_in_cycle(id, queue, 100);
    fl_assert_choice(0, 1, SL_MODE_PREEMPT, 0);
    fl_assert_choice(1, 4, SL_MODE_FIT, 0);
    try_in_cycle(id, queue, 101);
    fl_assert_choice(0, 2, SL_MODE_PREEMPT, 1);
    fl_assert_choice(1, 5, SL_MODE_FIT, -1);
    try_in_cycle(id, queue, 102);
    fl_assert_choice(0, 3, SL_MODE_PREEMPT, -1);
    fl_assert_choice(1, 4, SL_MODE_FIT, 0);
    sl_flavors_forget(id);
    clear_queue(queue);
}

static void test_flavors_without_fungibility_scans_never_end(void **state)
{
    (void)state;
    sl_settings.flavor_fungibility = false;
    sl_qnode_id queue = stopping_queue();
    sl_workload_id id = fl_asking(2);
    try_in_cycle(id, queue, 110);
    assert_true(sl_flavors_left_to_try(id));
    try_in_cycle(id, queue, 111);
    fl_assert_choice(0, 1, SL_MODE_PREEMPT, 0);
    sl_flavors_forget(id);
    clear_queue(queue);
}

static void test_flavors_nothing_is_remembered_of_no_workload(void **state)
{
    (void)state;
    sl_qnode_id queue = stopping_queue();
    sl_flavors_assign(SL_NO_ID, queue, fx_now);
    assert_int_equal(sl_assignment.mode, SL_MODE_NO_FIT);
    sl_flavors_remember(120);
    sl_flavors_forget(SL_NO_ID);
    sl_flavors_touch_tree(SL_NO_ID);
    sl_flavors_touch_queue(SL_NO_ID);
    assert_false(sl_flavors_left_to_try(SL_NO_ID));
    clear_queue(queue);
}

/* --- pins ------------------------------------------------------------------------------------ */

static void test_flavors_pinned_only_the_nominated_one_counts(void **state)
{
    (void)state;
    sl_qnode_id queue = stopping_queue();
    sl_workload_id id = fl_asking(2);
    try_in_cycle(id, queue, 130);
    try_in_cycle(id, queue, 131);
    fl_assert_choice(0, 2, SL_MODE_PREEMPT, 1);
    sl_flavors_pin();
    fl_release(queue, 1, 4); /* would fit now */
    sl_flavors_assign(id, queue, fx_now);
    fl_assert_choice(0, 2, SL_MODE_PREEMPT, 1);
    fl_charge(queue, 1, 4);
    fx_pod_set(id, 1, CPU, 1); /* the nomination says nothing of it */
    fl_assert_no_fit(id, queue, SL_PENDING_NO_MATCHING_FLAVOR);
    assert_int_equal(sl_assignment.detail_count, 1); /* of the first */
    assert_int_equal(sl_assignment.details[0].pod_set, 0);
    sl_flavors_unpin();
    fl_assert_mode(id, queue, SL_MODE_PREEMPT, 0);
    sl_flavors_forget(id);
    clear_queue(queue);
}

/* --- groups ---------------------------------------------------------------------------------- */

static void add_to_group(sl_workload_id id, uint32_t count, sl_resource_id resource,
                         int64_t per_pod, uint32_t group)
{
    fx_pod_set(id, count, resource, per_pod);
    assert_int_equal(sl_requests_set_group(id, group), SL_OK);
}

static void test_flavors_pod_sets_of_a_group_share_their_flavor(void **state)
{
    (void)state;
    sl_qnode_id queue = fl_queue(SL_NO_ID, 4, 6);
    sl_workload_id id = fx_create();
    add_to_group(id, 4, CPU, 1, 0);
    fx_pod_set(id, 1, CPU, 2);
    add_to_group(id, 1, CPU, 1, 0);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 3);
    assert_int_equal(sl_assignment.choices[0].pod_set, 0);
    assert_int_equal(sl_assignment.choices[1].pod_set, 2);
    assert_int_equal(sl_assignment.choices[2].pod_set, 1);
    fl_assert_choice(0, ON_DEMAND, SL_MODE_FIT, -1);
    fl_assert_choice(1, ON_DEMAND, SL_MODE_FIT, -1);
    fl_assert_choice(2, SPOT, SL_MODE_FIT, 0);
    assert_int_equal(sl_assignment.needs[0].amount, 5);
}

static void test_flavors_group_passes_over_what_one_of_it_must_not_get(void **state)
{
    (void)state;
    sl_qnode_id queue = fl_queue(SL_NO_ID, 9, 9);
    sl_workload_id id = fx_create();
    add_to_group(id, 1, CPU, 1, 3);
    add_to_group(id, 1, CPU, 1, 3);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_AFFINITY), SL_OK);
    fl_assert_fits(id, queue, 0);
    fl_assert_choice(0, ON_DEMAND, SL_MODE_FIT, -1);
    assert_int_equal(sl_assignment.attempt_count, 4);
}

static void test_flavors_group_without_a_place_fails_as_one(void **state)
{
    (void)state;
    sl_qnode_id queue = fl_queue(SL_NO_ID, 4, 3);
    sl_workload_id id = fx_create();
    add_to_group(id, 4, CPU, 1, 3);
    add_to_group(id, 1, CPU, 1, 3);
    fl_assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.choice_count, 0);
    assert_int_equal(sl_assignment.detail_count, 4);
    assert_int_equal(sl_assignment.details[1].pod_set, 1);
    assert_true(sl_assignment.examined[1]);
}

/* Of a resource that only one of them asks for the other gets nothing. */
static void test_flavors_group_members_get_what_they_ask_for(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, SPOT, MEMORY, 4);
    sl_workload_id id = fx_create();
    add_to_group(id, 2, CPU, 1, 3);
    add_to_group(id, 1, MEMORY, 3, 3);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 2);
    assert_int_equal(sl_assignment.choices[0].resource, CPU);
    assert_int_equal(sl_assignment.choices[0].amount, 2);
    assert_int_equal(sl_assignment.choices[1].pod_set, 1);
    assert_int_equal(sl_assignment.choices[1].resource, MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FL_TEST(test_flavors_scan_goes_on_where_it_stopped_and_begins_again),
        FL_TEST(test_flavors_forgotten_progress_starts_over),
        FL_TEST(test_flavors_touched_progress_is_void_after_the_next_cycle),
        FL_TEST(test_flavors_touch_reaches_tree_or_queue_and_no_farther),
        FL_TEST(test_flavors_changed_shape_starts_over_unless_hashing_is_off),
        FL_TEST(test_flavors_without_its_gate_progress_is_void_once_touched),
        FL_TEST(test_flavors_progress_beyond_fewer_flavors_starts_over),
        FL_TEST(test_flavors_each_resource_group_has_its_own_progress),
        FL_TEST(test_flavors_without_fungibility_scans_never_end),
        FL_TEST(test_flavors_nothing_is_remembered_of_no_workload),
        FL_TEST(test_flavors_pinned_only_the_nominated_one_counts),
        FL_TEST(test_flavors_pod_sets_of_a_group_share_their_flavor),
        FL_TEST(test_flavors_group_passes_over_what_one_of_it_must_not_get),
        FL_TEST(test_flavors_group_without_a_place_fails_as_one),
        FL_TEST(test_flavors_group_members_get_what_they_ask_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
