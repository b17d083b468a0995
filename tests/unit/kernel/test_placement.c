/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quota and rooms together: both or neither, given back together, and what a second pass may change. */
#include "topology_fixture.h"

#include "kernel/ledger/ledger.h"
#include "kernel/commit/placement.h"
#include "policy/flavors/open_cell.h"

enum { FLAVOR = 3, QUOTA = 1000, CHECK = 9, NOW = 5000 };

static sl_qnode_id next_queue = 10;
static sl_workload_id next_id = 100;
static sl_qnode_id queue;
static sl_cell_id cell;

static enum sl_status tell(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                           uint32_t reason)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, index, reason, 0, NOW};
    return sl_placement_event(ev);
}

static void happens(sl_workload_id id, enum sl_event_kind kind, uint32_t index, uint32_t reason)
{
    assert_int_equal(tell(id, kind, index, reason), SL_OK);
}

static sl_workload_id in_flight(void)
{
    sl_workload_id id = next_id++;
    happens(id, SL_EV_CREATE, 0, 0);
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    return id;
}

/* Plans for the workload: quota of one cell, and no pod set with topology so far. */
static void plan(sl_workload_id id, int64_t amount)
{
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){cell, amount};
    sl_plan.now_ms = NOW;
    plan_for(id);
}

/* Pods of 40 cpu: two on node 0, one on node 1. */
static sl_workload_id planned(void)
{
    sl_workload_id id = in_flight();
    plan(id, 120);
    struct sl_topology_set *set = plan_set(0, 40);
    plan_row(set, NODE + 0, 2);
    plan_row(set, NODE + 1, 1);
    return id;
}

static sl_workload_id placed(void)
{
    sl_workload_id id = planned();
    assert_int_equal(sl_placement_commit(), SL_OK);
    assert_int_equal(sl_workloads[id].phase, SL_PHASE_ADMITTED);
    return id;
}

static void assert_used(sl_site_id site, int64_t pods, int64_t cpu)
{
    assert_int_equal(sl_site_used_of(site, SL_MEASURE_PODS), pods);
    assert_int_equal(sl_site_used_of(site, CPU), cpu);
}

static void assert_empty(sl_workload_id id)
{
    assert_int_equal(sl_booking_count(id), 0);
    assert_int_equal(sl_topology_assignment_count(id), 0);
    assert_used(0, 0, 0);
    assert_used(1, 0, 0);
}

static void assert_assignment(sl_workload_id id, uint32_t index, sl_domain_id domain, uint32_t pods)
{
    struct sl_domain_assignment assignment = sl_topology_assignment_at(id, index);
    assert_int_equal(assignment.domain, domain);
    assert_int_equal(assignment.count, pods);
}

static int open_all(void **state)
{
    (void)state;
    open_world();
    queue = next_queue++;
    assert_int_equal(sl_ledger_open_qnode(queue), SL_OK);
    assert_int_equal(sl_ledger_open_cell(queue, FLAVOR, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cell, QUOTA, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    return 0;
}

/* Nothing is left when all are gone. */
static int close_all(void **state)
{
    (void)state;
    assert_true(sl_topology_valid());
    assert_true(sl_commit_valid());
    for (sl_workload_id id = 100; id < next_id; id++) {
        assert_true(sl_booking_count(id) == 0 || sl_lifecycle_holds_quota(id));
        if (sl_workloads[id].phase != SL_PHASE_ABSENT) {
            happens(id, SL_EV_DELETE, 0, 0);
        }
    }
    for (sl_workload_id id = 100; id < next_id; id++) {
        assert_empty(id);
    }
    assert_true(sl_topology_valid());
    close_world();
    return 0;
}

static void test_placement_commit_takes_quota_and_rooms(void **state)
{
    (void)state;
    sl_workload_id id = placed();
    assert_int_equal(sl_ledger_usage(cell), 120);
    assert_used(0, 2, 80);
    assert_used(1, 1, 40);
    assert_int_equal(sl_topology_assignment_count(id), 2);
    assert_assignment(id, 0, NODE + 0, 2);
    assert_assignment(id, 1, NODE + 1, 1);
    assert_assignment(id, 2, SL_NO_ID, 0);
    assert_int_equal(sl_booking_count(id), 4);
    struct sl_booking cpu = sl_booking_at(id, 1);
    assert_int_equal(cpu.site, 0);
    assert_int_equal(cpu.measure, CPU);
    assert_int_equal(cpu.amount, 80);
    assert_int_equal(sl_booking_at(id, 4).site, SL_NO_ID);
}

static void test_placement_unknown_workload_stands_nowhere(void **state)
{
    (void)state;
    assert_int_equal(sl_booking_count(SL_WORKLOADS_MAX), 0);
    assert_int_equal(sl_topology_assignment_count(SL_NO_ID), 0);
    assert_int_equal(sl_booking_at(SL_NO_ID, 0).site, SL_NO_ID);
    assert_int_equal(sl_topology_assignment_at(SL_NO_ID, 0).domain, SL_NO_ID);
}

static void test_placement_commit_without_sets_takes_quota_alone(void **state)
{
    (void)state;
    sl_workload_id id = in_flight();
    plan(id, 120);
    assert_int_equal(sl_placement_commit(), SL_OK);
    assert_int_equal(sl_ledger_usage(cell), 120);
    assert_empty(id);
}

static void test_placement_commit_without_room_takes_no_quota(void **state)
{
    (void)state;
    sl_workload_id id = planned();
    sl_topology_plan.sets[0].requests[0].per_pod = 51;
    assert_int_equal(sl_placement_commit(), SL_REFUSED_CAPACITY);
    assert_int_equal(sl_ledger_usage(cell), 0);
    assert_int_equal(sl_place_of(id), SL_PLACE_IN_FLIGHT);
    assert_empty(id);
}

static void test_placement_commit_without_quota_takes_no_room(void **state)
{
    (void)state;
    sl_workload_id id = planned();
    sl_plan.usage[0].amount = QUOTA + 1;
    assert_int_equal(sl_placement_commit(), SL_REFUSED_QUOTA);
    assert_empty(id);
}

static void test_placement_commit_of_two_workloads_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = planned();
    sl_topology_plan.workload = id + 1;
    assert_int_equal(sl_placement_commit(), SL_REFUSED_BAD_ARGUMENT);
    assert_empty(id);
}

static void test_placement_first_phase_books_what_has_a_place(void **state)
{
    (void)state;
    sl_workload_id id = planned();
    sl_plan.topology_pending = true;
    assert_int_equal(sl_placement_commit(), SL_OK);
    assert_used(0, 2, 80);
    assert_int_equal(sl_workloads[id].phase, SL_PHASE_QUOTA_RESERVED);
    plan_for(id);
    plan_row(plan_set(1, 10), NODE + 2, 1);
    assert_int_equal(sl_placement_second_pass(sl_plan.generation, NOW), SL_REFUSED_NOT_KEPT);
    plan_for(id);
    struct sl_topology_set *set = plan_set(0, 40);
    plan_row(set, NODE + 0, 2);
    plan_row(set, NODE + 1, 1);
    plan_row(plan_set(1, 10), NODE + 2, 1);
    assert_int_equal(sl_placement_second_pass(sl_plan.generation, NOW), SL_OK);
    assert_used(2, 1, 10);
}

static void test_placement_capacity_sunk_below_usage_refuses_more(void **state)
{
    (void)state;
    (void)placed();
    assert_int_equal(sl_site_set_capacity(0, CPU, 50), SL_OK);
    sl_workload_id id = in_flight();
    plan(id, 1);
    struct sl_topology_set *set = plan_set(0, 1);
    plan_row(set, NODE + 0, 1);
    assert_int_equal(sl_placement_commit(), SL_REFUSED_CAPACITY);
    set->requests[0].per_pod = 0;
    assert_int_equal(sl_placement_commit(), SL_OK);
}

static void test_placement_restore_asks_for_neither_quota_nor_room(void **state)
{
    (void)state;
    sl_workload_id id = next_id++;
    happens(id, SL_EV_CREATE, 0, 0);
    plan(id, QUOTA + 1);
    struct sl_topology_set *set = plan_set(0, 60);
    plan_row(set, NODE + 0, 3);
    set->within = BLOCK + 1;
    set->layer_count = 1;
    set->layers[0] = (struct sl_topology_layer){2, 2};
    assert_int_equal(sl_placement_restore(), SL_OK);
    assert_used(0, 3, 180);
    assert_int_equal(sl_ledger_usage(cell), QUOTA + 1);
}

static void test_placement_restore_beyond_all_bounds_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = next_id++;
    happens(id, SL_EV_CREATE, 0, 0);
    plan(id, 1);
    struct sl_topology_set *set = plan_set(0, SL_AMOUNT_MAX);
    plan_row(set, NODE + 0, 1);
    assert_int_equal(sl_placement_restore(), SL_OK);
    sl_workload_id other = next_id++;
    happens(other, SL_EV_CREATE, 0, 0);
    plan(other, 1);
    set = plan_set(0, 1);
    plan_row(set, NODE + 0, 1);
    assert_int_equal(sl_placement_restore(), SL_REFUSED_CAPACITY);
    sl_topology_plan.rows[0].domain = RACK;
    assert_int_equal(sl_placement_restore(), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_place_of(other), SL_PLACE_ORPHANED);
    assert_int_equal(sl_booking_count(other), 0);
}

static void test_placement_domain_with_pods_cannot_close(void **state)
{
    (void)state;
    sl_workload_id id = placed();
    assert_int_equal(sl_domain_close(NODE + 0), SL_REFUSED_IN_USE);
    happens(id, SL_EV_DELETE, 0, 0);
    assert_int_equal(sl_domain_close(NODE + 0), SL_OK);
    assert_int_equal(sl_domain_open(NODE + 0, TREE, RACK, 0), SL_OK);
}

static void test_placement_rooms_stay_until_quota_is_given_back(void **state)
{
    (void)state;
    sl_workload_id id = placed();
    happens(id, SL_EV_PREEMPT, 0, SL_PREEMPT_RECLAMATION);
    assert_used(0, 2, 80);
    happens(id, SL_EV_JOB_STOPPED, 0, 0);
    assert_empty(id);
}

static void test_placement_rooms_are_given_back_with_quota(void **state)
{
    (void)state;
    static const enum sl_event_kind ends[] = {SL_EV_FINISH, SL_EV_DELETE, SL_EV_WRITE_FAILED};
    for (uint32_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        sl_workload_id id = placed();
        happens(id, ends[i], 0, ends[i] == SL_EV_FINISH ? SL_FINISH_SUCCEEDED : 0);
        assert_empty(id);
        assert_int_equal(sl_ledger_usage(cell), 0);
    }
}

/* Its quota is free at once, its nodes when its pods are gone: whatever ends the wait for that. */
static void test_placement_deactivated_keeps_its_rooms_until_the_job_has_stopped(void **state)
{
    (void)state;
    static const enum sl_event_kind ends[] = {SL_EV_JOB_STOPPED, SL_EV_FINISH, SL_EV_DELETE};
    for (uint32_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        for (uint32_t evicted = 0; evicted < 2; evicted++) {
            sl_workload_id id = placed();
            if (evicted == 1) {
                happens(id, SL_EV_PREEMPT, 0, SL_PREEMPT_RECLAMATION);
            }
            happens(id, SL_EV_DEACTIVATE, 0, 0);
            assert_int_equal(sl_ledger_usage(cell), 0);
            assert_used(0, 2, 80);
            happens(id, ends[i], 0, ends[i] == SL_EV_FINISH ? SL_FINISH_SUCCEEDED : 0);
            assert_empty(id);
        }
    }
}

static void test_placement_refused_event_gives_nothing_back(void **state)
{
    (void)state;
    sl_workload_id id = placed();
    assert_int_equal(tell(id, SL_EV_UNHOLD, 0, 0), SL_REFUSED_NO_CHANGE);
    assert_used(0, 2, 80);
    assert_int_equal(tell(SL_WORKLOADS_MAX - 1, SL_EV_DELETE, 0, 0), SL_REFUSED_UNKNOWN_WORKLOAD);
}

/* Reserved by the first phase, and its check is ready: a second pass is owed. */
static sl_workload_id delayed(void)
{
    sl_workload_id id = in_flight();
    plan(id, 120);
    sl_plan.topology_pending = true;
    assert_int_equal(sl_placement_commit(), SL_OK);
    assert_int_equal(sl_workloads[id].phase, SL_PHASE_QUOTA_RESERVED);
    struct sl_topology_set *set = plan_set(0, 40);
    plan_row(set, NODE + 0, 2);
    plan_row(set, NODE + 1, 1);
    return id;
}

static enum sl_status pass(sl_workload_id id)
{
    return sl_placement_second_pass(sl_workloads[id].generation, NOW);
}

static void test_placement_second_pass_places_what_was_delayed(void **state)
{
    (void)state;
    sl_workload_id id = delayed();
    assert_int_equal(pass(id), SL_OK);
    assert_int_equal(sl_workloads[id].phase, SL_PHASE_ADMITTED);
    assert_used(0, 2, 80);
    assert_int_equal(sl_ledger_usage(cell), 120);
    assert_int_equal(pass(id), SL_REFUSED_NOT_NEEDED);
}

static void test_placement_second_pass_refusals_change_nothing(void **state)
{
    (void)state;
    sl_workload_id id = delayed();
    uint32_t generation = sl_workloads[id].generation;
    assert_int_equal(sl_placement_second_pass(generation + 1, NOW), SL_REFUSED_STALE);
    assert_int_equal(sl_placement_second_pass(generation, -1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_placement_second_pass(generation, SL_TIME_MAX + 1),
                     SL_REFUSED_BAD_ARGUMENT);
    sl_topology_plan.workload = SL_WORKLOADS_MAX;
    assert_int_equal(sl_placement_second_pass(generation, NOW), SL_REFUSED_UNKNOWN_WORKLOAD);
    sl_topology_plan.workload = SL_WORKLOADS_MAX - 1;
    assert_int_equal(sl_placement_second_pass(0, NOW), SL_REFUSED_UNKNOWN_WORKLOAD);
    sl_topology_plan.workload = id;
    sl_topology_plan.sets[0].requests[0].per_pod = 51;
    assert_int_equal(pass(id), SL_REFUSED_CAPACITY);
    sl_topology_plan.sets[0].requests[0].per_pod = 50;
    uint32_t mark = sl_trail_begin();
    assert_int_equal(pass(id), SL_REFUSED_TRIAL_OPEN);
    sl_trail_rollback(mark);
    sl_topology_plan.set_count = 0;
    assert_int_equal(pass(id), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_workloads[id].phase, SL_PHASE_QUOTA_RESERVED);
    assert_empty(id);
}

/* Node 0 has failed under a placed workload, and the plan is empty. */
static sl_workload_id failed(void)
{
    sl_workload_id id = placed();
    happens(id, SL_EV_NODE_FAILED, 0, 0);
    plan_for(id);
    return id;
}

static void test_placement_second_pass_replaces_the_failed_node(void **state)
{
    (void)state;
    sl_workload_id id = failed();
    struct sl_topology_set *set = plan_set(0, 40);
    plan_row(set, NODE + 1, 2);
    plan_row(set, NODE + 4, 1);
    assert_int_equal(pass(id), SL_OK);
    assert_used(0, 0, 0);
    assert_used(1, 2, 80);
    assert_used(4, 1, 40);
    assert_assignment(id, 1, NODE + 4, 1);
    assert_int_equal(sl_workloads[id].unhealthy_count, 0);
    assert_int_equal(sl_ledger_usage(cell), 120);
}

static void test_placement_second_pass_moves_no_healthy_pod(void **state)
{
    (void)state;
    sl_workload_id id = failed();
    struct sl_topology_set *set = plan_set(0, 40);
    plan_row(set, NODE + 4, 2);
    plan_row(set, NODE + 5, 1);
    assert_int_equal(pass(id), SL_REFUSED_NOT_KEPT);
    assert_used(0, 2, 80);
    assert_used(4, 0, 0);
    assert_assignment(id, 0, NODE + 0, 2);
}

static void test_placement_second_pass_keeps_every_pod_set(void **state)
{
    (void)state;
    sl_workload_id id = in_flight();
    plan(id, 120);
    plan_row(plan_set(0, 10), NODE + 0, 2);
    plan_row(plan_set(2, 10), NODE + 0, 1);
    plan_row(plan_set(3, 10), NODE + 1, 1);
    assert_int_equal(sl_placement_commit(), SL_OK);
    happens(id, SL_EV_NODE_FAILED, 1, 0);
    plan_for(id);
    plan_row(plan_set(0, 10), NODE + 0, 2);
    plan_row(plan_set(3, 10), NODE + 0, 1);
    assert_int_equal(pass(id), SL_REFUSED_NOT_KEPT);
    plan_for(id);
    plan_row(plan_set(0, 10), NODE + 0, 2);
    plan_row(plan_set(2, 10), NODE + 2, 1);
    plan_row(plan_set(3, 10), NODE + 0, 1);
    assert_int_equal(pass(id), SL_REFUSED_NOT_KEPT);
    plan_for(id);
    plan_row(plan_set(0, 10), NODE + 0, 2);
    plan_row(plan_set(2, 10), NODE + 0, 1);
    plan_row(plan_set(3, 10), NODE + 2, 1);
    assert_int_equal(pass(id), SL_OK);
}

static void test_placement_own_bookings_count_as_free(void **state)
{
    (void)state;
    sl_workload_id id = failed();
    assert_int_equal(sl_site_set_capacity(1, CPU, 39), SL_OK);
    struct sl_topology_set *set = plan_set(0, 40);
    plan_row(set, NODE + 1, 1);
    plan_row(set, NODE + 2, 2);
    assert_int_equal(sl_topology_check(), SL_OK);
    assert_int_equal(pass(id), SL_OK);
    assert_used(1, 1, 40);
}

/* So many rows on node 0, each with every measure there is. */
static void plan_wide(sl_workload_id id, uint32_t rows)
{
    plan(id, 1);
    struct sl_topology_set *set = plan_set(0, 0);
    set->request_count = SL_TOPOLOGY_REQUESTS_MAX;
    for (uint32_t k = 0; k < SL_TOPOLOGY_REQUESTS_MAX; k++) {
        set->requests[k] = (struct sl_measure_amount){k, 0};
    }
    for (uint32_t i = 0; i < rows; i++) {
        plan_row(set, NODE + 0, 1);
    }
}

static void test_placement_full_bookings_are_refused(void **state)
{
    (void)state;
    enum { ALL = (SL_BOOKINGS_MAX - 1) / (SL_TOPOLOGY_REQUESTS_MAX + 1) };
    assert_int_equal(sl_site_set_capacity(0, SL_MEASURE_PODS, SL_AMOUNT_MAX), SL_OK);
    sl_workload_id id = in_flight();
    plan_wide(id, SL_TOPOLOGY_ROWS_MAX);
    assert_int_equal(sl_topology_check(), SL_FULL_BOOKINGS);
    assert_int_equal(sl_topology_promise(), SL_FULL_BOOKINGS);
    plan_wide(id, ALL);
    assert_int_equal(sl_topology_check(), SL_OK);
    assert_int_equal(sl_topology_promise(), SL_OK);
    assert_int_equal(sl_topology_promise(), SL_FULL_BOOKINGS);
    assert_int_equal(sl_site_promised_of(0, SL_MEASURE_PODS), ALL);
    sl_topology_promise_clear();
    assert_int_equal(sl_site_promised_of(0, SL_MEASURE_PODS), 0);
    assert_int_equal(sl_placement_commit(), SL_OK);
    sl_workload_id other = in_flight();
    plan_wide(other, 1);
    assert_int_equal(sl_topology_check(), SL_FULL_BOOKINGS);
    assert_int_equal(sl_placement_commit(), SL_FULL_BOOKINGS);
    assert_int_equal(sl_place_of(other), SL_PLACE_IN_FLIGHT);
    happens(id, SL_EV_DELETE, 0, 0);
    assert_int_equal(sl_placement_commit(), SL_OK);
}

static void test_placement_checker_notices_each_defect(void **state)
{
    (void)state;
    sl_workload_id id = placed();
    uint32_t first = sl_booking_firsts[id];
    uint32_t capacity = sl_booking_capacities[first];
#define BROKEN(lvalue, value)                                                                      \
    do {                                                                                           \
        __typeof__(lvalue) good = (lvalue);                                                        \
        (lvalue) = (value);                                                                        \
        assert_false(sl_topology_valid());                                                         \
        (lvalue) = good;                                                                           \
        assert_true(sl_topology_valid());                                                          \
    } while (0)
    BROKEN(sl_domain_depths[NODE], SL_DEPTHS_MAX);
    BROKEN(sl_domain_sites[NODE], SL_SITES_MAX + 1);
    BROKEN(sl_domain_parents[NODE], BLOCK + 1);
    BROKEN(sl_domain_parents[BLOCK], 1);
    BROKEN(sl_domain_up[NODE][2], NODE + 1);
    BROKEN(sl_domain_up[NODE][0], SL_DOMAINS_MAX);
    BROKEN(sl_domain_up[NODE][0], RACK);
    BROKEN(sl_domain_up[RACK][0], BLOCK + 1);
    BROKEN(sl_domain_parents[7], 1);
    BROKEN(sl_domain_sites[7], 1);
    BROKEN(sl_domain_trees[BLOCK], OTHER_TREE + 1);
    BROKEN(sl_domain_assigned[7], 1);
    BROKEN(sl_domain_limit, SL_DOMAINS_MAX + 1);
    BROKEN(sl_booking_firsts[id], SL_BOOKINGS_MAX + 1);
    BROKEN(sl_booking_counts[id], SL_BOOKINGS_MAX);
    BROKEN(sl_assigned_counts[id], sl_booking_counts[id] + 1);
    BROKEN(sl_booking_owners[first], 0);
    BROKEN(sl_booking_capacities[first], SL_CAPACITIES_MAX);
    BROKEN(sl_booking_amounts[first], -1);
    BROKEN(sl_booking_amounts[first], SL_AMOUNT_MAX);
    BROKEN(sl_booking_capacities[first], sl_domain_site_limit);
    BROKEN(sl_booking_amounts[first], 0);
    BROKEN(sl_site_used[capacity], 7);
    BROKEN(sl_site_used[sl_domain_site_limit - 1], 7);
    BROKEN(sl_site_change[capacity], 1);
    BROKEN(sl_domain_sites[sl_assigned_domains[first]], 0);
    BROKEN(sl_assigned_domains[first], 7);
    BROKEN(sl_assigned_pods[first], 0);
    BROKEN(sl_booking_workload_limit, SL_WORKLOADS_MAX + 1);
#undef BROKEN
}

/* Blocks of many sizes come and go, and in the end one plan may have all of the pool again. */
static void test_placement_pool_is_whole_again_after_use(void **state)
{
    (void)state;
    sl_workload_id ids[40];
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 40; i++) {
            ids[i] = in_flight();
            plan(ids[i], 1);
            struct sl_topology_set *set = plan_set(0, 0);
            for (uint32_t k = 0; k <= (i * 7 + round) % 5; k++) {
                plan_row(set, NODE + (i + k) % NODES, 1);
            }
            assert_int_equal(sl_site_set_capacity(i % NODES, SL_MEASURE_PODS, 1000), SL_OK);
            assert_int_equal(sl_placement_commit(), SL_OK);
            if (i % 3 == 2) {
                happens(ids[i - 1], SL_EV_DELETE, 0, 0);
            }
        }
        assert_true(sl_topology_valid());
        for (uint32_t i = 0; i < 40; i++) {
            if (sl_workloads[ids[i]].phase != SL_PHASE_ABSENT) {
                happens(ids[i], SL_EV_DELETE, 0, 0);
            }
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_placement_##name, open_all, close_all)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commit_takes_quota_and_rooms),
        TEST(unknown_workload_stands_nowhere),
        TEST(commit_without_sets_takes_quota_alone),
        TEST(commit_without_room_takes_no_quota),
        TEST(commit_without_quota_takes_no_room),
        TEST(commit_of_two_workloads_is_refused),
        TEST(first_phase_books_what_has_a_place),
        TEST(capacity_sunk_below_usage_refuses_more),
        TEST(restore_asks_for_neither_quota_nor_room),
        TEST(restore_beyond_all_bounds_is_refused),
        TEST(domain_with_pods_cannot_close),
        TEST(rooms_stay_until_quota_is_given_back),
        TEST(rooms_are_given_back_with_quota),
        TEST(deactivated_keeps_its_rooms_until_the_job_has_stopped),
        TEST(refused_event_gives_nothing_back),
        TEST(second_pass_places_what_was_delayed),
        TEST(second_pass_refusals_change_nothing),
        TEST(second_pass_replaces_the_failed_node),
        TEST(second_pass_moves_no_healthy_pod),
        TEST(second_pass_keeps_every_pod_set),
        TEST(own_bookings_count_as_free),
        TEST(full_bookings_are_refused),
        TEST(checker_notices_each_defect),
        TEST(pool_is_whole_again_after_use),
    };
    return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
