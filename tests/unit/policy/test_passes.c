/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Second passes: when they are due, in a cycle, and what becomes of those that find no place. */
#include "places_world.h"

#include "kernel/preempt/preempt.h"

enum { CHECK = 7 };

static void delay_all(sl_qnode_id queue)
{
    for (sl_cell_id cell = sl_offers_first(queue); cell != SL_NO_ID; cell = sl_offers_next(cell)) {
        sl_offers_set_delayed(cell, true);
    }
}

/* Holds quota without a place, and waits for its check. */
static sl_workload_id delayed_workload(sl_qnode_id queue, uint32_t pods, int64_t cpu)
{
    delay_all(queue);
    sl_workload_id id = pw_workload(queue, 0, pods, cpu, LEVEL_HOST);
    assert_int_equal(fx_event(id, SL_EV_CHECK_ADD, CHECK, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
    assert_true(sl_workloads[id].topology_pending);
    assert_true(sl_assignment.delayed[0]);
    assert_int_equal(sl_topology_assignment_count(id), 0);
    return id;
}

static void make_ready(sl_workload_id id)
{
    assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_READY, 0), SL_OK);
}

static sl_workload_id admitted(sl_qnode_id queue, uint32_t pods, int64_t cpu, sl_level_id level)
{
    sl_workload_id id = pw_workload(queue, 0, pods, cpu, level);
    assert_int_equal(fx_rest(), 1);
    assert_int_equal(sl_workloads[id].phase, SL_PHASE_ADMITTED);
    return id;
}

static void fail_host(sl_workload_id id, struct pw_tree t, uint32_t host)
{
    assert_int_equal(fx_event(id, SL_EV_NODE_FAILED, t.first_site + host, 0, 0), SL_OK);
    assert_int_equal(sl_site_set_capacity(t.first_site + host, MEASURE_CPU, 0), SL_OK);
}

static void test_passes_delayed_topology_is_placed_when_the_checks_are_ready(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_workload_id id = delayed_workload(pw_queue(SL_NO_ID, t, 100), 1, 3);
    assert_int_equal(sl_passes_due_ms(), SL_NEVER);
    make_ready(id);
    assert_int_equal(sl_passes_due_ms(), fx_now + 1000);
    assert_false(sl_passes_ready(fx_now + 999));
    assert_int_equal(sl_cycle_begin(fx_now), 0);
    assert_false(sl_cycle_next());
    (void)sl_cycle_end();
    fx_now += 1000;
    assert_true(sl_passes_ready(fx_now));
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(pw_outcome(id)->result, SL_CYCLE_PLACED);
    assert_int_equal(sl_assignment.counts[0], 1);
    assert_int_equal(sl_assignment.tree[0], t.tree);
    assert_int_equal(sl_workloads[id].phase, SL_PHASE_ADMITTED);
    assert_int_equal(sl_topology_assignment_count(id), 1);
    assert_int_equal(sl_passes_due_ms(), SL_NEVER);
}

/* No check will report, so nobody else would ask for the second phase. */
static void test_passes_who_is_served_without_checks_is_armed_in_its_cycle(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    delay_all(queue);
    sl_workload_id id = pw_workload(queue, 0, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_cycle(), 1);
    assert_true(sl_second_pass_needed(id));
    assert_int_equal(sl_passes_due_ms(), fx_now + 1000);
}

static void test_passes_who_is_evicted_needs_none_any_more(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 3);
    struct sl_preempt_policy policy = {.within = SL_WITHIN_LOWER_PRIORITY};
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
    sl_workload_id victim = admitted(queue, 1, 3, LEVEL_HOST);
    assert_int_equal(fx_event(victim, SL_EV_NODE_FAILED, t.first_site, 0, 0), SL_OK);
    assert_int_not_equal(sl_passes_due_ms(), SL_NEVER);
    (void)fx_workload(queue, 1, 2, 3);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(sl_workloads[victim].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_passes_due_ms(), SL_NEVER);
}

static void test_passes_delayed_topology_without_room_stays_and_is_tried_later(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_workload_id id = delayed_workload(pw_queue(SL_NO_ID, t, 100), 1, 5);
    int64_t delays_ms[] = {2000, 4000, 8000, 16000, 30000, 30000};
    make_ready(id);
    fx_now += 1000;
    for (uint32_t i = 0; i < sizeof delays_ms / sizeof delays_ms[0]; i++) {
        assert_int_equal(fx_cycle(), 0);
        assert_int_equal(pw_outcome(id)->result, SL_CYCLE_UNPLACED);
        assert_int_equal(sl_assignment.topology_failure.miss, SL_PLACEMENT_NO_FIT);
        assert_int_equal(sl_workloads[id].phase, SL_PHASE_QUOTA_RESERVED);
        assert_int_equal(sl_passes_due_ms(), fx_now + delays_ms[i]);
        fx_now += delays_ms[i];
    }
    assert_int_equal(sl_site_set_capacity(t.first_site, MEASURE_CPU, 5), SL_OK);
    (void)fx_cycle();
    assert_int_equal(pw_outcome(id)->result, SL_CYCLE_PLACED);
}

static void test_passes_come_in_addition_to_the_head_of_their_queue(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_settings.fair_sharing = true;
    sl_workload_id first = admitted(queue, 1, 3, LEVEL_RACK);
    fail_host(first, t, 0);
    sl_workload_id second = pw_workload(queue, 0, 1, 1, LEVEL_HOST);
    fx_now += 1000;
    assert_int_equal(sl_cycle_begin(fx_now), 2);
    (void)sl_cycle_end();
    fx_now += 1000;
    assert_int_equal(fx_cycle(), 1);
    assert_int_equal(pw_outcome(first)->result, SL_CYCLE_PLACED);
    assert_int_equal(pw_outcome(second)->result, SL_CYCLE_RESERVED);
    assert_int_equal(pw_pods_on(first, t, 1), 1);
}

static void test_passes_failed_node_is_replaced_and_the_others_stay(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 3, 4);
    sl_workload_id id = admitted(pw_queue(SL_NO_ID, t, 100), 2, 4, LEVEL_RACK);
    assert_int_equal(pw_pods_on(id, t, 0) + pw_pods_on(id, t, 1), 2);
    fail_host(id, t, 0);
    fx_now += 1000;
    (void)fx_cycle();
    assert_int_equal(pw_outcome(id)->result, SL_CYCLE_PLACED);
    assert_int_equal(pw_pods_on(id, t, 1), 1);
    assert_int_equal(pw_pods_on(id, t, 2), 1);
    assert_int_equal(sl_workloads[id].unhealthy_count, 0);
    assert_int_equal(sl_workloads[id].phase, SL_PHASE_ADMITTED);
}

static void test_passes_without_replacement_evict_when_they_are_to_fail_fast(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_workload_id id = admitted(pw_queue(SL_NO_ID, t, 100), 1, 4, LEVEL_HOST);
    fail_host(id, t, 0);
    fx_now += 1000;
    (void)fx_cycle();
    assert_int_equal(pw_outcome(id)->result, SL_CYCLE_EVICTED);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_NODE_FAILURES);
    assert_int_equal(sl_passes_due_ms(), SL_NEVER);
}

static void test_passes_without_replacement_wait_when_they_need_not_fail_fast(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_settings.fail_fast = false;
    sl_workload_id id = admitted(pw_queue(SL_NO_ID, t, 100), 1, 4, LEVEL_HOST);
    fail_host(id, t, 0);
    fx_now += 1000;
    (void)fx_cycle();
    assert_int_equal(pw_outcome(id)->result, SL_CYCLE_UNPLACED);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_NONE);
    assert_int_equal(sl_passes_due_ms(), fx_now + 2000);
}

static void test_passes_single_pod_stays_where_it_is(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_workload_id id = admitted(pw_queue(SL_NO_ID, t, 100), 1, 4, LEVEL_HOST);
    uint32_t host = pw_pods_on(id, t, 0) == 1 ? 0 : 1;
    sl_requests_set_single_pod(id, true);
    fail_host(id, t, host);
    fx_now += 1000;
    (void)fx_cycle();
    assert_int_equal(pw_outcome(id)->result, SL_CYCLE_PLACED);
    assert_int_equal(pw_pods_on(id, t, host), 1);
    assert_int_equal(sl_workloads[id].unhealthy_count, 0);
}

static void test_passes_failed_rooms_go_to_nobody_in_the_same_cycle(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id first = admitted(queue, 1, 4, LEVEL_RACK);
    uint32_t host = pw_pods_on(first, t, 0) == 1 ? 0 : 1;
    assert_int_equal(fx_event(first, SL_EV_NODE_FAILED, t.first_site + host, 0, 0), SL_OK);
    sl_workload_id second = pw_workload(queue, 0, 1, 4, LEVEL_HOST);
    fx_now += 1000;
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(pw_pods_on(first, t, 1 - host), 1);
    assert_int_equal(pw_outcome(second)->result, SL_CYCLE_PENDING);
    assert_int_equal(sl_assumed_mark(), 0);
}

static void test_passes_of_a_stopped_queue_are_tried_later(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id id = admitted(queue, 1, 4, LEVEL_RACK);
    fail_host(id, t, 0);
    assert_int_equal(sl_queues_configure(queue, sl_offers_rules(queue), false), SL_OK);
    fx_now += 1000;
    (void)fx_cycle();
    assert_int_equal(pw_outcome(id)->result, SL_CYCLE_UNPLACED);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_NONE);
    assert_int_equal(sl_passes_due_ms(), fx_now + 2000);
}

static void test_passes_recovered_node_needs_none(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_workload_id id = admitted(pw_queue(SL_NO_ID, t, 100), 1, 4, LEVEL_HOST);
    assert_int_equal(fx_event(id, SL_EV_NODE_FAILED, t.first_site, 0, 0), SL_OK);
    assert_int_not_equal(sl_passes_due_ms(), SL_NEVER);
    assert_int_equal(fx_event(id, SL_EV_NODE_RECOVERED, t.first_site, 0, 0), SL_OK);
    assert_int_equal(sl_passes_due_ms(), SL_NEVER);
}

static void test_passes_the_next_is_known_whichever_come_and_go(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 3, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    int64_t began_ms = fx_now;
    sl_workload_id ids[3];
    for (uint32_t i = 0; i < 3; i++) {
        ids[i] = admitted(queue, 1, 4, LEVEL_HOST);
    }
    for (uint32_t i = 3; i > 0; i--) { /* the one that was armed last is due first */
        fx_now = began_ms + 10 * (int64_t)i;
        assert_int_equal(fx_event(ids[i - 1], SL_EV_NODE_FAILED, t.first_site, 0, 0), SL_OK);
        assert_int_equal(sl_passes_due_ms(), fx_now + 1000);
    }
    assert_int_equal(fx_event(ids[1], SL_EV_NODE_RECOVERED, t.first_site, 0, 0), SL_OK);
    assert_int_equal(sl_passes_due_ms(), began_ms + 1010);
    assert_int_equal(fx_event(ids[0], SL_EV_NODE_RECOVERED, t.first_site, 0, 0), SL_OK);
    assert_int_equal(sl_passes_due_ms(), began_ms + 1030);
    assert_int_equal(fx_event(ids[2], SL_EV_NODE_RECOVERED, t.first_site, 0, 0), SL_OK);
    assert_int_equal(sl_passes_due_ms(), SL_NEVER);
}

static void test_passes_left_early_are_armed_again(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_workload_id id = admitted(pw_queue(SL_NO_ID, t, 100), 1, 4, LEVEL_RACK);
    fail_host(id, t, 0);
    fx_now += 1000;
    assert_int_equal(sl_cycle_begin(fx_now), 1);
    assert_int_equal(sl_passes_due_ms(), SL_NEVER);
    (void)sl_cycle_end();
    assert_int_equal(sl_passes_due_ms(), fx_now + 1000);
}

/* One pod set has its place at once; the flavor of the other waits for a check. */
static void test_passes_join_what_stands_with_what_was_delayed(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    struct pw_tree u = pw_tree(1, 2, 4);
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, -1);
    (void)fx_offer(queue, t.tree, CPU, 100);
    sl_offers_set_delayed(fx_offer(queue, u.tree, CPU, 100), true);
    sl_workload_id id = fx_create();
    assert_int_equal(fx_event(id, SL_EV_CHECK_ADD, CHECK, 0, 0), SL_OK);
    fx_pod_set(id, 1, CPU, 2);
    assert_int_equal(sl_requests_add_exclusion(id, t.tree, SL_EXCLUDED_TAINT), SL_OK);
    pw_ask(id, SL_TOGETHER_REQUIRED, LEVEL_HOST, 2);
    fx_pod_set(id, 2, CPU, 4);
    pw_ask(id, SL_TOGETHER_REQUIRED, LEVEL_RACK, 4);
    fx_attach(id, queue, 0, 1);
    assert_int_equal(fx_rest(), 1);
    assert_true(sl_assignment.delayed[0]);
    assert_false(sl_assignment.delayed[1]);
    assert_int_equal(sl_topology_assignment_count(id), 2);
    make_ready(id);
    fx_now += 1000;
    (void)fx_cycle();
    assert_int_equal(pw_outcome(id)->result, SL_CYCLE_PLACED);
    assert_int_equal(sl_topology_assignment_count(id), 3);
    assert_int_equal(sl_topology_assignment_at(id, 0).pod_set, 0);
    assert_int_equal(pw_pods_on(id, u, 0) + pw_pods_on(id, u, 1), 1);
    assert_int_equal(pw_pods_on(id, t, 0), 1);
    assert_int_equal(pw_pods_on(id, t, 1), 1);
}

static void test_passes_grants_out_of_bounds_have_no_effect(void **state)
{
    (void)state;
    sl_passes_grant(SL_WORKLOADS_MAX, 0, 1, 1);
    sl_passes_grant(5, SL_POD_SETS_MAX, 1, 1);
    sl_passes_grant(5, 0, SL_NO_ID, 1);
    sl_passes_settle(SL_WORKLOADS_MAX, fx_now);
    assert_int_equal(sl_passes_tree(SL_WORKLOADS_MAX, 0), SL_NO_ID);
    assert_int_equal(sl_passes_tree(5, SL_POD_SETS_MAX), SL_NO_ID);
    assert_int_equal(sl_passes_tree(5, 0), SL_NO_ID);
    assert_int_equal(sl_passes_pods(5, 0), 0);
    assert_int_equal(sl_passes_taken(0xffffffffu), SL_NO_ID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_passes_delayed_topology_is_placed_when_the_checks_are_ready),
        PW_TEST(test_passes_delayed_topology_without_room_stays_and_is_tried_later),
        PW_TEST(test_passes_come_in_addition_to_the_head_of_their_queue),
        PW_TEST(test_passes_failed_node_is_replaced_and_the_others_stay),
        PW_TEST(test_passes_without_replacement_evict_when_they_are_to_fail_fast),
        PW_TEST(test_passes_without_replacement_wait_when_they_need_not_fail_fast),
        PW_TEST(test_passes_single_pod_stays_where_it_is),
        PW_TEST(test_passes_failed_rooms_go_to_nobody_in_the_same_cycle),
        PW_TEST(test_passes_of_a_stopped_queue_are_tried_later),
        PW_TEST(test_passes_recovered_node_needs_none),
        PW_TEST(test_passes_who_is_served_without_checks_is_armed_in_its_cycle),
        PW_TEST(test_passes_who_is_evicted_needs_none_any_more),
        PW_TEST(test_passes_the_next_is_known_whichever_come_and_go),
        PW_TEST(test_passes_left_early_are_armed_again),
        PW_TEST(test_passes_join_what_stands_with_what_was_delayed),
        PW_TEST(test_passes_grants_out_of_bounds_have_no_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
