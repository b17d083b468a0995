/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A replacement keeps every pod where it is that does not stand on a failed node: as many as there were, not only one. */
#include "topology_fixture.h"

#include "kernel/ledger/ledger.h"
#include "kernel/commit/placement.h"
#include "policy/flavors/open_cell.h"

enum { QUEUE = 10, FLAVOR = 3, WORKLOAD = 7, NOW = 5000 };

static void happens(enum sl_event_kind kind, uint32_t index)
{
    struct sl_event ev = {kind, WORKLOAD, sl_workloads[WORKLOAD].generation, index, 0, 0, NOW};
    assert_int_equal(sl_placement_event(ev), SL_OK);
}

/* Three pods on node 0, two on node 1, which has failed; and an empty plan. */
static int setup(void **state)
{
    (void)state;
    sl_cell_id cell = SL_NO_ID;
    open_world();
    assert_int_equal(sl_ledger_open_qnode(QUEUE), SL_OK);
    assert_int_equal(sl_ledger_open_cell(QUEUE, FLAVOR, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cell, 9, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED), SL_OK);
    happens(SL_EV_CREATE, 0);
    assert_int_equal(sl_place_move(WORKLOAD, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(WORKLOAD, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = WORKLOAD;
    sl_plan.generation = sl_workloads[WORKLOAD].generation;
    sl_plan.cluster_queue = QUEUE;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){cell, 5};
    sl_plan.now_ms = NOW;
    plan_for(WORKLOAD);
    struct sl_topology_set *set = plan_set(0, 10);
    plan_row(set, NODE + 0, 3);
    plan_row(set, NODE + 1, 2);
    assert_int_equal(sl_placement_commit(), SL_OK);
    happens(SL_EV_NODE_FAILED, 1);
    plan_for(WORKLOAD);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    happens(SL_EV_DELETE, 0);
    assert_true(sl_topology_valid());
    assert_true(sl_commit_valid());
    sl_cell_id cell = sl_ledger_find_cell(QUEUE, FLAVOR, CPU);
    assert_int_equal(sl_ledger_set_quota(cell, 0, 0, 0), SL_OK);
    assert_int_equal(sl_ledger_close_qnode(QUEUE), SL_OK);
    close_world();
    return 0;
}

static enum sl_status pass(void)
{
    assert_int_equal(sl_topology_check(), SL_OK);
    return sl_placement_second_pass(sl_workloads[WORKLOAD].generation, NOW);
}

static uint32_t pods_at(sl_domain_id domain)
{
    uint32_t pods = 0;
    for (uint32_t i = 0; i < sl_topology_assignment_count(WORKLOAD); i++) {
        struct sl_domain_assignment assignment = sl_topology_assignment_at(WORKLOAD, i);
        pods += assignment.domain == domain ? assignment.count : 0;
    }
    return pods;
}

static void test_placement_kept_some_pods_of_a_healthy_node_may_not_move(void **state)
{
    (void)state;
    for (uint32_t kept = 0; kept < 3; kept++) {
        plan_for(WORKLOAD);
        struct sl_topology_set *set = plan_set(0, 10);
        if (kept > 0) {
            plan_row(set, NODE + 0, kept);
        }
        plan_row(set, NODE + 4, 5 - kept);
        assert_int_equal(pass(), SL_REFUSED_NOT_KEPT);
        assert_int_equal(pods_at(NODE + 0), 3);
    }
}

static void test_placement_kept_healthy_node_may_take_more(void **state)
{
    (void)state;
    struct sl_topology_set *set = plan_set(0, 10);
    plan_row(set, NODE + 0, 4);
    plan_row(set, NODE + 4, 1);
    assert_int_equal(pass(), SL_OK);
    assert_int_equal(pods_at(NODE + 0), 4);
    assert_int_equal(pods_at(NODE + 1), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_placement_kept_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(some_pods_of_a_healthy_node_may_not_move),
        TEST(healthy_node_may_take_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
