/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption for room on nodes: quota is ample here, so a victim is needed only if the plan would not fit on its
 * nodes otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/base/order.h"
#include "kernel/commit/placement.h"
#include "kernel/preempt/preempt.h"
#include "policy/flavors/open_cell.h"

enum { CPU = 1, FLAVOR = 3, NODE_A = 7, NODE_B = 8, DOMAIN_A = 1, DOMAIN_B = 2 };

static sl_cell_id cell;
static sl_qnode_id queue = 10;
static sl_workload_id next_id = 100;

static sl_workload_id head(int32_t priority)
{
    sl_workload_id id = next_id++;
    struct sl_event ev = {.kind = SL_EV_CREATE,
                          .workload = id,
                          .generation = sl_workloads[id].generation,
                          .now_ms = 2000};
    assert_int_equal(sl_placement_event(ev), SL_OK);
    sl_order_set(id, (struct sl_order_key){priority, 100, 0, id});
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    return id;
}

static void plan(sl_workload_id id, sl_domain_id domain, uint32_t pods)
{
    memset(&sl_plan, 0, sizeof(sl_plan));
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){cell, pods};
    sl_plan.now_ms = 2500;
    sl_topology_plan.workload = id;
    sl_topology_plan.set_count = 1;
    sl_topology_plan.row_count = 1;
    sl_topology_plan.rows[0] = (struct sl_topology_row){domain, pods};
    sl_topology_plan.sets[0] = (struct sl_topology_set){
        .count = pods, .tree = FLAVOR, .within = SL_NO_ID, .row_count = 1, .request_count = 1};
    sl_topology_plan.sets[0].requests[0] = (struct sl_measure_amount){1, 1};
    memset(&sl_preempt_plan, 0, sizeof(sl_preempt_plan));
    sl_preempt_plan.may_borrow = true;
}

static sl_workload_id holder(sl_domain_id domain, uint32_t pods)
{
    sl_workload_id id = head(0);
    plan(id, domain, pods);
    assert_int_equal(sl_placement_commit(), SL_OK);
    return id;
}

static void victim(sl_workload_id id)
{
    uint32_t i = sl_preempt_plan.victim_count++;
    sl_preempt_plan.victims[i] = id;
    sl_preempt_plan.reasons[i] = SL_PREEMPT_IN_CLUSTER_QUEUE;
}

/* Two nodes for four pods each, quota for a hundred. */
static int begin(void **state)
{
    (void)state;
    struct sl_preempt_policy policy = {SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_ANY, false, false, 0};
    assert_int_equal(sl_ledger_open_qnode(queue), SL_OK);
    assert_int_equal(sl_ledger_open_cell(queue, FLAVOR, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cell, 100, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
    for (sl_site_id site = NODE_A; site <= NODE_B; site++) {
        sl_domain_id domain = site == NODE_A ? DOMAIN_A : DOMAIN_B;
        assert_int_equal(sl_domain_open(domain, FLAVOR, SL_NO_ID, site), SL_OK);
        assert_int_equal(sl_site_set_capacity(site, SL_MEASURE_PODS, 4), SL_OK);
        assert_int_equal(sl_site_set_capacity(site, 1, 4), SL_OK);
    }
    return 0;
}

static void test_preempt_rooms_victim_in_the_way_is_needed(void **state)
{
    (void)state;
    sl_workload_id low = holder(DOMAIN_A, 3);
    sl_workload_id high = head(5);
    plan(high, DOMAIN_A, 2);
    victim(low);
    assert_int_equal(sl_preempt_commit(), SL_OK);
    assert_int_equal(sl_workloads[low].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_site_used_of(NODE_A, 1), 3); /* until its pods are gone */
}

static void test_preempt_rooms_victim_elsewhere_could_be_spared(void **state)
{
    (void)state;
    sl_workload_id low = holder(DOMAIN_B, 3);
    plan(head(5), DOMAIN_A, 1); /* one is left there beside the victim of the test before */
    victim(low);
    assert_int_equal(sl_preempt_commit(), SL_REFUSED_SPARABLE);
    assert_int_equal(sl_workloads[low].phase, SL_PHASE_ADMITTED);
}

static void test_preempt_rooms_one_of_two_could_be_spared(void **state)
{
    (void)state;
    sl_workload_id other = holder(DOMAIN_B, 1);
    plan(head(5), DOMAIN_B, 1);
    victim(other);
    victim(other - 2); /* three pods, of the test before: either is enough */
    assert_int_equal(sl_preempt_check(), SL_REFUSED_SPARABLE);
}

static void test_preempt_rooms_too_small_with_all_gone_is_refused(void **state)
{
    (void)state;
    plan(head(5), DOMAIN_B, 5);
    victim(next_id - 2 - 1);
    assert_int_equal(sl_preempt_check(), SL_REFUSED_CAPACITY);
}

static void test_preempt_rooms_promised_room_is_taken(void **state)
{
    (void)state;
    sl_workload_id other = next_id - 3; /* one pod on B, beside three */
    plan(head(5), DOMAIN_B, 1);
    assert_int_equal(sl_topology_promise(), SL_OK);
    plan(head(5), DOMAIN_B, 1);
    victim(other);
    assert_int_equal(sl_preempt_check(), SL_REFUSED_CAPACITY);
    sl_topology_promise_clear();
    assert_int_equal(sl_preempt_check(), SL_OK);
}

static void test_preempt_rooms_plan_of_another_workload_is_refused(void **state)
{
    (void)state;
    sl_topology_plan.workload = 1;
    assert_int_equal(sl_preempt_check(), SL_REFUSED_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_preempt_rooms_victim_in_the_way_is_needed),
        cmocka_unit_test(test_preempt_rooms_victim_elsewhere_could_be_spared),
        cmocka_unit_test(test_preempt_rooms_one_of_two_could_be_spared),
        cmocka_unit_test(test_preempt_rooms_too_small_with_all_gone_is_refused),
        cmocka_unit_test(test_preempt_rooms_promised_room_is_taken),
        cmocka_unit_test(test_preempt_rooms_plan_of_another_workload_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
