/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Places of a slice that takes the place of another: pods that run stay where they are, and capacities are asked for the
 * others alone. */
#include "places_world.h"

#include "policy/placement/held_places.h"
#include "policy/placement/placement_holds.h"
#include "policy/requests/shape.h"
#include "policy/requests/slices.h"

enum { HOSTS = 4, CPU_A_HOST = 4 };

static sl_workload_id elastic(sl_qnode_id queue, int32_t priority, uint32_t pods,
                              enum sl_together together)
{
    sl_workload_id id = fx_create();
    struct sl_topology_request request = {
        .together = together,
        .level = together == SL_TOGETHER_UNCONSTRAINED ? SL_NO_ID : (sl_level_id)LEVEL_RACK,
        .asked = true,
        .elastic = true,
        .mask = SL_NO_ID,
        .rank_group = SL_NO_ID,
        .request_count = 1,
        .requests = {{MEASURE_CPU, 1}}};
    fx_pod_set(id, pods, CPU, 1);
    assert_int_equal(sl_topology_request_set(id, request), SL_OK);
    fx_attach(id, queue, priority, id);
    return id;
}

static sl_workload_id holder(sl_qnode_id queue, uint32_t pods)
{
    sl_workload_id id = elastic(queue, 0, pods, SL_TOGETHER_UNCONSTRAINED);
    (void)fx_rest();
    fx_assert_place(id, SL_PLACE_HOLDING);
    return id;
}

static sl_workload_id slice_of(sl_qnode_id queue, sl_workload_id old, struct pw_tree t,
                               uint32_t pods)
{
    sl_workload_id id = elastic(queue, 0, pods, SL_TOGETHER_UNCONSTRAINED);
    sl_slices_set(id, old, sl_workloads[old].generation);
    assert_int_equal(sl_slices_keep(id, 0, t.tree), SL_OK);
    sl_queues_retry(id, fx_now);
    return id;
}

static void assert_hosts(sl_workload_id id, struct pw_tree t, uint32_t a, uint32_t b, uint32_t c,
                         uint32_t d)
{
    const uint32_t pods[HOSTS] = {a, b, c, d};
    for (uint32_t host = 0; host < HOSTS; host++) {
        assert_int_equal(pw_pods_on(id, t, host), pods[host]);
        assert_true(sl_site_used_of(t.first_site + host, MEASURE_CPU) <= CPU_A_HOST);
    }
}

static int begin(void **state)
{
    (void)state;
    sl_settings.place_slices = true;
    return 0;
}

static int end(void **state)
{
    sl_settings.place_slices = false;
    return pw_teardown(state);
}

static void test_slice_places_grow_beside_the_pods_that_run(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id old = holder(queue, 6);
    assert_hosts(old, t, 4, 2, 0, 0);
    sl_workload_id id = slice_of(queue, old, t, 15);
    (void)fx_rest();
    fx_assert_place(id, SL_PLACE_HOLDING);
    assert_hosts(id, t, 4, 4, 4, 3);
    assert_int_equal(sl_booking_count(old), 0);
    assert_int_equal(sl_workloads[old].phase, SL_PHASE_FINISHED);
}

/* They would find room for all of them together elsewhere. */
static void test_slice_places_stay_though_others_would_be_tighter(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id other = holder(queue, 3);
    sl_workload_id old = holder(queue, 2);
    assert_hosts(old, t, 0, 2, 0, 0);
    fx_finish(other);
    sl_workload_id id = slice_of(queue, old, t, 4);
    (void)fx_rest();
    assert_int_equal(pw_pods_on(id, t, 1) >= 2, 1);
    assert_int_equal(pw_pods_on(id, t, 0) + pw_pods_on(id, t, 1), 4);
}

static void test_slice_places_are_given_up_from_the_last(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id old = holder(queue, 10);
    assert_hosts(old, t, 4, 4, 2, 0);
    sl_workload_id id = slice_of(queue, old, t, 5);
    (void)fx_rest();
    assert_hosts(id, t, 4, 1, 0, 0);
    sl_workload_id same = slice_of(queue, id, t, 5);
    (void)fx_rest();
    assert_hosts(same, t, 4, 1, 0, 0);
}

/* The host has become smaller than what runs on it. */
static void test_slice_places_hold_where_there_is_no_room_any_more(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id old = holder(queue, 4);
    assert_int_equal(sl_site_set_capacity(t.first_site, MEASURE_CPU, 1), SL_OK);
    sl_workload_id id = slice_of(queue, old, t, 6);
    (void)fx_rest();
    fx_assert_place(id, SL_PLACE_HOLDING);
    assert_int_equal(pw_pods_on(id, t, 0), 4);
    assert_int_equal(pw_pods_on(id, t, 1), 2);
}

static void test_slice_places_wait_for_room_for_the_difference(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id old = holder(queue, 10);
    sl_workload_id other = holder(queue, 4);
    sl_workload_id id = slice_of(queue, old, t, 13);
    (void)fx_rest();
    assert_false(sl_lifecycle_holds_quota(id));
    assert_int_equal(sl_topology_assignment_count(old), 3);
    fx_finish(other);
    pw_wake_users(t);
    (void)fx_rest();
    fx_assert_place(id, SL_PLACE_HOLDING);
    assert_int_equal(sl_topology_assignment_count(id) >= 3, 1);
}

/* One of them is on a host that is gone. */
static void test_slice_places_that_are_gone_are_found_anew(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id old = holder(queue, 2);
    assert_hosts(old, t, 2, 0, 0, 0);
    assert_int_equal(sl_trees_close(sl_topology_assignment_at(old, 0).domain), SL_OK);
    sl_workload_id id = slice_of(queue, old, t, 3);
    (void)fx_rest();
    fx_assert_place(id, SL_PLACE_HOLDING);
    assert_hosts(id, t, 0, 3, 0, 0);
}

static void test_slice_places_are_found_anew_without_the_gate(void **state)
{
    (void)state;
    sl_settings.place_slices = false;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id old = holder(queue, 3);
    sl_workload_id id = slice_of(queue, old, t, 4);
    (void)fx_rest();
    fx_assert_place(id, SL_PLACE_HOLDING);
    assert_hosts(id, t, 0, 4, 0, 0);
}

static void test_slice_places_cannot_be_required_or_preferred(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    static const enum sl_together kinds[] = {SL_TOGETHER_REQUIRED, SL_TOGETHER_PREFERRED};
    for (uint32_t i = 0; i < 2; i++) {
        sl_workload_id id = elastic(queue, 0, 2, kinds[i]);
        sl_flavors_assign(id, queue, fx_now);
        assert_int_equal(sl_assignment.mode, SL_MODE_NO_FIT);
        assert_int_equal(sl_assignment.reason, SL_PENDING_TOPOLOGY_FAILED);
        assert_int_equal(sl_assignment.topology_failure.miss, SL_PLACEMENT_ELASTIC);
        assert_int_equal(sl_assignment.topology_failure.pod_set, 0);
        sl_settings.place_slices = false;
        sl_flavors_assign(id, queue, fx_now);
        assert_int_equal(sl_assignment.mode, SL_MODE_FIT);
        sl_settings.place_slices = true;
    }
    sl_workload_id id = elastic(queue, 0, 2, SL_TOGETHER_UNCONSTRAINED);
    sl_flavors_assign(id, queue, fx_now);
    assert_int_equal(sl_assignment.mode, SL_MODE_FIT);
}

static void test_slice_places_of_elastic_jobs_are_alike_to_those_of_elastic_jobs(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 1);
    sl_workload_id a = elastic(queue, 0, 2, SL_TOGETHER_REQUIRED);
    sl_workload_id b = elastic(queue, 0, 2, SL_TOGETHER_REQUIRED);
    sl_workload_id c = pw_workload(queue, 0, 2, 1, LEVEL_RACK);
    assert_true(sl_shape_equal(a, b));
    assert_false(sl_shape_equal(a, c));
}

/* --- what goes beyond them --- */

static void test_slice_places_beyond_the_old_ones_are_what_is_left(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id old = holder(queue, 6);
    sl_domain_id first = sl_topology_assignment_at(old, 0).domain;
    sl_topology_plan.set_count = 2;
    sl_topology_plan.row_count = 4;
    sl_topology_plan.sets[0] = (struct sl_topology_set){.pod_set = 0,
                                                        .count = 9,
                                                        .tree = t.tree,
                                                        .layer_count = 1,
                                                        .first_row = 0,
                                                        .row_count = 3,
                                                        .request_count = 1,
                                                        .requests = {{MEASURE_CPU, 1}}};
    sl_topology_plan.sets[1] = (struct sl_topology_set){
        .pod_set = 1, .count = 1, .tree = t.tree, .first_row = 3, .row_count = 1};
    for (uint32_t i = 0; i < 3; i++) {
        sl_topology_plan.rows[i] = (struct sl_topology_row){first + i, 3};
    }
    sl_topology_plan.rows[3] = (struct sl_topology_row){first, 1};
    assert_true(sl_placement_holds(old));
    assert_false(sl_placement_holds(SL_NO_ID));
    sl_held_places_leave_out(old);
    assert_int_equal(sl_topology_plan.set_count, 2);
    assert_int_equal(sl_topology_plan.row_count, 3);
    assert_int_equal(sl_topology_plan.sets[0].count, 4);
    assert_int_equal(sl_topology_plan.sets[0].layer_count, 0);
    assert_int_equal(sl_topology_plan.sets[0].row_count, 2);
    assert_int_equal(sl_topology_plan.rows[0].domain, first + 1);
    assert_int_equal(sl_topology_plan.rows[0].count, 1);
    assert_int_equal(sl_topology_plan.rows[1].count, 3);
    assert_int_equal(sl_topology_plan.sets[1].first_row, 2); /* nobody had that pod set */
    assert_int_equal(sl_topology_plan.sets[1].count, 1);
    assert_int_equal(sl_held_places_on(first), 0);
    assert_int_equal(sl_held_places_on(SL_NO_ID), 0);
    sl_topology_plan.set_count = 1;
    sl_topology_plan.row_count = 2;
    sl_topology_plan.rows[0] = (struct sl_topology_row){first, 4};
    sl_topology_plan.rows[1] = (struct sl_topology_row){first + 1, 1};
    sl_held_places_leave_out(old);
    assert_int_equal(sl_topology_plan.set_count, 0);
    assert_int_equal(sl_topology_plan.row_count, 0);
}

/* The slice waits for victims; what is promised to it is the difference, so that the rest is free for others. */
static void test_slice_places_are_promised_beyond_the_old_ones_only(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, HOSTS, CPU_A_HOST);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    struct sl_preempt_policy policy = {SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER, false, false, 0};
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
    sl_workload_id low = elastic(queue, -1, 8, SL_TOGETHER_UNCONSTRAINED);
    (void)fx_rest();
    sl_workload_id old = holder(queue, 6);
    sl_workload_id id = slice_of(queue, old, t, 9);
    (void)fx_cycle();
    assert_int_equal(sl_workloads[low].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_workloads[old].phase, SL_PHASE_ADMITTED);
    assert_int_equal(fx_event(low, SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
    sl_queues_settle(low, fx_now);
    (void)fx_rest();
    fx_assert_place(id, SL_PLACE_HOLDING);
    assert_int_equal(sl_workloads[old].phase, SL_PHASE_FINISHED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_slice_places_##name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(grow_beside_the_pods_that_run),
        TEST(stay_though_others_would_be_tighter),
        TEST(are_given_up_from_the_last),
        TEST(hold_where_there_is_no_room_any_more),
        TEST(wait_for_room_for_the_difference),
        TEST(that_are_gone_are_found_anew),
        TEST(are_found_anew_without_the_gate),
        TEST(cannot_be_required_or_preferred),
        TEST(of_elastic_jobs_are_alike_to_those_of_elastic_jobs),
        TEST(beyond_the_old_ones_are_what_is_left),
        TEST(are_promised_beyond_the_old_ones_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
