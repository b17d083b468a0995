/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A cycle with topology: quota and places come together or not at all, and whoever waits keeps the
 * rooms that will be its own. */
#include "places_world.h"

#include "kernel/commit/variants.h"
#include "kernel/preempt/preempt.h"
#include "policy/cycle/cycle_steps.h"

static sl_qnode_id preempting_queue(sl_qnode_id cohort, struct pw_tree t, int64_t cpu)
{
    sl_qnode_id queue = pw_queue(cohort, t, cpu);
    struct sl_preempt_policy policy = {SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER, false, false, 0};
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
    return queue;
}

static void test_cycle_topology_pods_stand_together_in_one_rack(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(2, 2, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id id = pw_workload(queue, 0, 4, 2, LEVEL_RACK);
    assert_int_equal(sl_cycle_begin(fx_now), 1);
    assert_true(sl_cycle_next());
    assert_int_equal(sl_cycle_outcome.result, SL_CYCLE_RESERVED);
    assert_int_equal(sl_assignment.tree[0], t.tree);
    assert_false(sl_assignment.delayed[0]);
    assert_int_equal(sl_assignment.topology_failure.miss, SL_PLACEMENT_OK);
    (void)sl_cycle_end();
    assert_int_equal(pw_pods_on(id, t, 0), 2);
    assert_int_equal(pw_pods_on(id, t, 1), 2);
    assert_int_equal(sl_site_used_of(t.first_site, MEASURE_CPU), 4);
    assert_int_equal(sl_passes_tree(id, 0), t.tree);
    assert_int_equal(sl_passes_pods(id, 0), 4);
    fx_finish(id);
    assert_int_equal(sl_site_used_of(t.first_site, MEASURE_CPU), 0);
    assert_int_equal(sl_passes_tree(id, 0), SL_NO_ID);
}

static void test_cycle_topology_too_large_for_empty_nodes_finds_no_fit(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(2, 2, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id id = pw_workload(queue, 0, 5, 2, LEVEL_RACK);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(pw_outcome(id)->reason, SL_PENDING_TOPOLOGY_FAILED);
    assert_int_equal(sl_assignment.mode, SL_MODE_NO_FIT);
    assert_int_equal(sl_assignment.topology_failure.miss, SL_PLACEMENT_NO_FIT);
    assert_int_equal(sl_assignment.topology_failure.fit, 4);
    assert_int_equal(sl_assignment.topology_failure.of, 5);
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    assert_int_equal(sl_ledger_usage(sl_offers_first(queue)), 0);
}

static void test_cycle_topology_full_nodes_wait_until_room_comes(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id first = pw_workload(queue, 0, 1, 3, LEVEL_HOST);
    sl_workload_id second = pw_workload(queue, 0, 1, 2, LEVEL_HOST);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(first, SL_PLACE_HOLDING);
    assert_int_equal(sl_workloads[second].pending_reason, SL_PENDING_WAITING_FOR_QUOTA);
    assert_int_equal(sl_assignment.mode, SL_MODE_PREEMPT);
    assert_int_equal(sl_assignment.topology_failure.miss, SL_PLACEMENT_NO_FIT);
    fx_finish(first);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(second, SL_PLACE_HOLDING);
}

static void test_cycle_topology_room_is_told_beyond_the_cohort(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id one = pw_queue(SL_NO_ID, t, 100);
    sl_qnode_id other = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id first = pw_workload(one, 0, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id second = pw_workload(other, 0, 1, 2, LEVEL_HOST);
    assert_int_equal(fx_rest(), 0);
    fx_finish(first);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(second, SL_PLACE_HOLDING);
}

static void test_cycle_topology_woken_users_are_tried_again(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id id = pw_workload(queue, 0, 1, 6, LEVEL_HOST);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_site_set_capacity(t.first_site, MEASURE_CPU, 6), SL_OK);
    assert_int_equal(fx_rest(), 0);
    pw_wake_users(t);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
}

/* Both heads choose the same host when nominated. */
static void test_cycle_topology_second_head_is_placed_elsewhere_in_the_same_cycle(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_workload_id first = pw_workload(pw_queue(SL_NO_ID, t, 10), 0, 1, 3, LEVEL_HOST);
    sl_workload_id second = pw_workload(pw_queue(SL_NO_ID, t, 10), 0, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_cycle(), 2);
    assert_int_equal(pw_pods_on(first, t, 0) + pw_pods_on(second, t, 0), 1);
    assert_int_equal(pw_pods_on(first, t, 1) + pw_pods_on(second, t, 1), 1);
}

static void test_cycle_topology_without_recomputation_the_second_head_is_overtaken(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_settings.recompute_placement = false;
    sl_workload_id first = pw_workload(pw_queue(SL_NO_ID, t, 10), 1, 1, 3, LEVEL_HOST);
    sl_workload_id second = pw_workload(pw_queue(SL_NO_ID, t, 10), 0, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_cycle(), 1);
    assert_int_equal(pw_outcome(first)->result, SL_CYCLE_RESERVED);
    assert_int_equal(pw_outcome(second)->result, SL_CYCLE_PENDING);
    assert_true(pw_outcome(second)->overtaken);
    assert_int_equal(fx_rest(), 1);
}

static void test_cycle_topology_who_waits_keeps_the_rooms_from_others(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_workload_id holder = pw_workload(pw_queue(SL_NO_ID, t, 10), 0, 1, 2, LEVEL_HOST);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id large = pw_workload(pw_queue(SL_NO_ID, t, 10), 5, 1, 4, LEVEL_HOST);
    sl_workload_id small = pw_workload(pw_queue(SL_NO_ID, t, 10), 0, 1, 2, LEVEL_HOST);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(pw_outcome(large)->result, SL_CYCLE_PENDING);
    assert_int_equal(pw_outcome(small)->result, SL_CYCLE_PENDING);
    assert_int_equal(sl_site_promised_of(t.first_site, MEASURE_CPU), 0); /* for the cycle only */
    fx_finish(holder);
    pw_wake_users(t);
    assert_int_equal(fx_cycle(), 1);
    fx_assert_place(large, SL_PLACE_HOLDING);
}

static void test_cycle_topology_lower_priority_goes_for_its_rooms_alone(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_qnode_id queue = preempting_queue(SL_NO_ID, t, 100);
    sl_workload_id low = pw_workload(queue, 0, 1, 3, LEVEL_HOST);
    sl_workload_id other = pw_workload(queue, 1, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_rest(), 2);
    sl_workload_id high = pw_workload(queue, 9, 1, 4, LEVEL_HOST);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(pw_outcome(high)->status, SL_OK);
    assert_int_equal(pw_outcome(high)->reason, SL_PENDING_PREEMPTED_WORKLOADS);
    assert_int_equal(pw_outcome(high)->victim_count, 1);
    assert_int_equal(sl_workloads[low].evicted, SL_EVICT_PREEMPTED);
    assert_int_equal(sl_workloads[other].evicted, SL_EVICT_NONE);
    assert_int_equal(fx_event(low, SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
    (void)fx_rest();
    fx_assert_place(high, SL_PLACE_HOLDING);
    fx_assert_place(other, SL_PLACE_HOLDING);
}

static void test_cycle_topology_victims_that_leave_too_little_room_stay(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = preempting_queue(SL_NO_ID, t, 100);
    sl_workload_id equal = pw_workload(queue, 9, 1, 2, LEVEL_HOST);
    sl_workload_id low = pw_workload(queue, 0, 1, 1, LEVEL_HOST);
    assert_int_equal(fx_rest(), 2);
    sl_workload_id high = pw_workload(queue, 9, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(pw_outcome(high)->victim_count, 0);
    assert_int_equal(sl_workloads[low].evicted, SL_EVICT_NONE);
    fx_assert_place(equal, SL_PLACE_HOLDING);
}

/* It takes part wherever somebody is tried who could take its rooms, be it in another Cohort. */
static void test_cycle_topology_held_head_keeps_its_rooms_from_other_cohorts(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = preempting_queue(SL_NO_ID, t, 100);
    sl_workload_id low = pw_workload(queue, 0, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id high = pw_workload(queue, 9, 1, 4, LEVEL_HOST);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[low].evicted, SL_EVICT_PREEMPTED);
    sl_workload_id other = pw_workload(pw_queue(SL_NO_ID, t, 100), 0, 1, 1, LEVEL_HOST);
    assert_int_equal(fx_rest(), 0);
    assert_int_not_equal(sl_place_of(other), SL_PLACE_HOLDING);
    assert_int_equal(fx_event(low, SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(high, SL_PLACE_HOLDING);
    fx_finish(high);
    (void)fx_rest();
    fx_assert_place(other, SL_PLACE_HOLDING);
}

static void test_cycle_topology_rooms_of_a_held_head_that_goes_are_free(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = preempting_queue(SL_NO_ID, t, 100);
    sl_workload_id low = pw_workload(queue, 0, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id high = pw_workload(queue, 9, 1, 4, LEVEL_HOST);
    assert_int_equal(fx_rest(), 0);
    sl_workload_id other = pw_workload(pw_queue(SL_NO_ID, t, 100), 0, 1, 1, LEVEL_HOST);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(fx_event(high, SL_EV_DEACTIVATE, 0, 0, 0), SL_OK);
    (void)fx_rest();
    fx_assert_place(other, SL_PLACE_HOLDING);
    fx_assert_place(low, SL_PLACE_HOLDING);
}

/* A better variant of its workload holds quota meanwhile, and waits for a check: it waits for that by itself. */
static void test_cycle_topology_rooms_of_a_variant_that_comes_later_are_free(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = preempting_queue(cohort, t, 100);
    sl_workload_id low = pw_workload(queue, 0, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id worse = pw_workload(queue, 9, 1, 4, LEVEL_HOST);
    assert_int_equal(sl_variants_set(worse, 7, 1), SL_OK);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[low].evicted, SL_EVICT_PREEMPTED);
    sl_workload_id other = pw_workload(pw_queue(SL_NO_ID, t, 100), 0, 1, 1, LEVEL_HOST);
    assert_int_equal(fx_rest(), 0);
    sl_workload_id best = pw_workload(pw_queue(cohort, pw_tree(1, 1, 4), 100), 9, 1, 4, LEVEL_HOST);
    assert_int_equal(sl_variants_set(best, 7, 0), SL_OK);
    assert_int_equal(fx_event(best, SL_EV_CHECK_ADD, 3, 0, 0), SL_OK);
    sl_queues_wake_tree(queue); /* it is not held any more, and still counts on its rooms */
    assert_int_equal(fx_rest(), 2);
    assert_int_equal(sl_workloads[best].phase, SL_PHASE_QUOTA_RESERVED);
    fx_assert_place(worse, SL_PLACE_INADMISSIBLE);
    fx_assert_place(other, SL_PLACE_HOLDING);
}

static void test_cycle_topology_gate_off_places_nothing(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_settings.topology = false;
    sl_workload_id id = pw_workload(pw_queue(SL_NO_ID, t, 100), 0, 5, 4, LEVEL_HOST);
    assert_int_equal(fx_rest(), 1);
    assert_int_equal(sl_topology_assignment_count(id), 0);
    assert_int_equal(sl_passes_tree(id, 0), SL_NO_ID);
}

/* Nominated anew because another head took its room, it would do with fewer pods, without borrowing,
 * and so might reclaim: but not from the one who was served in this cycle. */
static void test_cycle_topology_who_was_served_in_the_cycle_is_no_victim_in_it(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 7);
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    struct sl_preempt_policy reclaims = {SL_WITHIN_NEVER, SL_RECLAIM_ANY, false, false, 0};
    sl_qnode_id queue = pw_queue(cohort, t, 4);
    (void)pw_queue(cohort, t, 20);
    assert_int_equal(sl_preempt_set_policy(queue, reclaims), SL_OK);
    sl_workload_id first = pw_workload(pw_queue(cohort, t, 3), 9, 1, 4, LEVEL_HOST);
    sl_workload_id second = fx_create();
    fx_pod_set(second, 3, CPU, 2);
    assert_int_equal(sl_requests_set_min_count(second, 2), SL_OK);
    pw_ask(second, SL_TOGETHER_REQUIRED, LEVEL_HOST, 2);
    fx_attach(second, queue, 0, second);
    assert_int_equal(fx_cycle(), 1);
    assert_int_equal(pw_outcome(first)->result, SL_CYCLE_RESERVED);
    assert_int_equal(pw_outcome(second)->victim_count, 0);
    assert_int_equal(sl_workloads[first].evicted, SL_EVICT_NONE);
    fx_assert_place(first, SL_PLACE_HOLDING);
    assert_int_equal(fx_cycle(), 0); /* in the next one it is a victim as any other */
    assert_int_equal(pw_outcome(second)->victim_count, 1);
    assert_int_equal(sl_workloads[first].evicted, SL_EVICT_PREEMPTED);
}

/* All its pods are more than the quota; for as many as the quota would do there is no room yet. */
static void test_cycle_topology_who_would_do_with_fewer_pods_hears_of_room(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_workload_id holder = pw_workload(pw_queue(SL_NO_ID, t, 4), 0, 1, 4, LEVEL_HOST);
    assert_int_equal(fx_rest(), 1);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 2);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 3, CPU, 1);
    assert_int_equal(sl_requests_set_min_count(id, 1), SL_OK);
    pw_ask(id, SL_TOGETHER_REQUIRED, LEVEL_HOST, 2);
    fx_attach(id, queue, 0, id);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
    fx_finish(holder);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
}

/* How often in a row it is owed another try. */
static uint32_t tries_owed(sl_workload_id id)
{
    uint32_t tries = 0;
    bool owed = true;
    while (owed && tries < 100) {
        sl_cycle_note_outdone(id);
        owed = sl_queues_ready();
        sl_queues_pay();
        tries += owed ? 1u : 0u;
    }
    return tries;
}

static void test_cycle_topology_tries_of_one_who_is_gone_are_forgotten(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    assert_int_equal(tries_owed(id), 4);
    assert_int_equal(tries_owed(id), 0);
    assert_int_equal(fx_event(id, SL_EV_DELETE, 0, 0, 0), SL_OK);
    assert_int_equal(fx_event(id, SL_EV_CREATE, 0, 0, 0), SL_OK); /* in the same slot */
    assert_int_equal(tries_owed(id), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_cycle_topology_pods_stand_together_in_one_rack),
        PW_TEST(test_cycle_topology_too_large_for_empty_nodes_finds_no_fit),
        PW_TEST(test_cycle_topology_full_nodes_wait_until_room_comes),
        PW_TEST(test_cycle_topology_room_is_told_beyond_the_cohort),
        PW_TEST(test_cycle_topology_woken_users_are_tried_again),
        PW_TEST(test_cycle_topology_second_head_is_placed_elsewhere_in_the_same_cycle),
        PW_TEST(test_cycle_topology_without_recomputation_the_second_head_is_overtaken),
        PW_TEST(test_cycle_topology_who_waits_keeps_the_rooms_from_others),
        PW_TEST(test_cycle_topology_lower_priority_goes_for_its_rooms_alone),
        PW_TEST(test_cycle_topology_victims_that_leave_too_little_room_stay),
        PW_TEST(test_cycle_topology_held_head_keeps_its_rooms_from_other_cohorts),
        PW_TEST(test_cycle_topology_rooms_of_a_held_head_that_goes_are_free),
        PW_TEST(test_cycle_topology_rooms_of_a_variant_that_comes_later_are_free),
        PW_TEST(test_cycle_topology_who_was_served_in_the_cycle_is_no_victim_in_it),
        PW_TEST(test_cycle_topology_who_would_do_with_fewer_pods_hears_of_room),
        PW_TEST(test_cycle_topology_gate_off_places_nothing),
        PW_TEST(test_cycle_topology_tries_of_one_who_is_gone_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
