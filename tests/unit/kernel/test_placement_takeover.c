/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A placed workload in place of another: in one step its rooms are booked and those of the old one are free. */
#include "topology_fixture.h"

#include "kernel/commit/placement_takeover.h"
#include "kernel/ledger/ledger.h"
#include "policy/flavors/open_cell.h"

enum { FLAVOR = 3, QUOTA = 200, NOW = 5000 };

static sl_qnode_id next_queue = 10;
static sl_workload_id next_id = 100;
static sl_qnode_id queue;
static sl_cell_id cell;

static void happens(sl_workload_id id, enum sl_event_kind kind)
{
    struct sl_event ev = {
        .kind = kind, .workload = id, .generation = sl_workloads[id].generation, .now_ms = NOW};
    assert_int_equal(sl_placement_event(ev), SL_OK);
}

static sl_workload_id in_flight(void)
{
    sl_workload_id id = next_id++;
    happens(id, SL_EV_CREATE);
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    return id;
}

/* Pods of 10 cpu on node 0. */
static sl_workload_id planned(uint32_t pods)
{
    sl_workload_id id = in_flight();
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){cell, 10 * (int64_t)pods};
    sl_plan.now_ms = NOW;
    plan_for(id);
    plan_row(plan_set(0, 10), NODE, pods);
    return id;
}

static sl_workload_id placed(uint32_t pods)
{
    sl_workload_id id = planned(pods);
    assert_int_equal(sl_placement_commit(), SL_OK);
    return id;
}

static enum sl_status replaced(sl_workload_id old)
{
    return sl_placement_take_over(old, sl_workloads[old].generation);
}

static void assert_used(int64_t pods)
{
    assert_int_equal(sl_site_used_of(0, SL_MEASURE_PODS), pods);
    assert_int_equal(sl_site_used_of(0, CPU), 10 * pods);
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

static int close_all(void **state)
{
    (void)state;
    assert_true(sl_topology_valid());
    assert_true(sl_commit_valid());
    for (sl_workload_id id = 100; id < next_id; id++) {
        assert_true(sl_booking_count(id) == 0 || sl_lifecycle_holds_quota(id));
        if (sl_workloads[id].phase != SL_PHASE_ABSENT) {
            happens(id, SL_EV_DELETE);
        }
    }
    assert_used(0);
    close_world();
    return 0;
}

static void test_placement_takeover_gives_back_the_rooms_of_the_old(void **state)
{
    (void)state;
    sl_workload_id old = placed(3), new = planned(4);
    assert_int_equal(replaced(old), SL_OK);
    assert_used(4);
    assert_int_equal(sl_ledger_usage(cell), 40);
    assert_int_equal(sl_booking_count(old), 0);
    assert_int_equal(sl_topology_assignment_count(old), 0);
    assert_int_equal(sl_topology_assignment_at(new, 0).count, 4);
    assert_int_equal(sl_workloads[old].phase, SL_PHASE_FINISHED);
    assert_int_equal(sl_workloads[new].phase, SL_PHASE_ADMITTED);
}

static void test_placement_takeover_without_sets_gives_them_back_too(void **state)
{
    (void)state;
    sl_workload_id old = placed(3), new = planned(4);
    plan_for(new);
    assert_int_equal(replaced(old), SL_OK);
    assert_used(0);
    assert_int_equal(sl_ledger_usage(cell), 40);
    assert_int_equal(sl_booking_count(new), 0);
}

/* Ten pods find room. */
static void test_placement_takeover_grows_where_the_old_one_is(void **state)
{
    (void)state;
    sl_workload_id old = placed(6), new = planned(10);
    assert_int_equal(replaced(old), SL_OK);
    assert_used(10);
    assert_int_equal(sl_ledger_usage(cell), 100);
    assert_int_equal(sl_topology_assignment_at(new, 0).count, 10);
    assert_int_equal(sl_workloads[old].phase, SL_PHASE_FINISHED);
}

static void test_placement_takeover_takes_no_room_of_others(void **state)
{
    (void)state;
    sl_workload_id other = placed(4), old = placed(5), new = planned(6);
    assert_int_equal(replaced(old), SL_OK);
    assert_used(10);
    assert_int_equal(sl_topology_assignment_at(other, 0).count, 4);
    old = new;
    (void)planned(7);
    assert_int_equal(replaced(old), SL_REFUSED_CAPACITY);
    assert_used(10);
    assert_int_equal(sl_topology_assignment_at(old, 0).count, 6);
}

/* The node has become smaller than what is booked on it. */
static void test_placement_takeover_that_shrinks_is_never_refused(void **state)
{
    (void)state;
    sl_workload_id old = placed(6), new = planned(5);
    assert_int_equal(sl_site_set_capacity(0, CPU, 10), SL_OK);
    assert_int_equal(replaced(old), SL_OK);
    assert_used(5);
    old = new;
    (void)planned(5);
    assert_int_equal(replaced(old), SL_OK);
    old = sl_plan.workload;
    (void)planned(6);
    assert_int_equal(replaced(old), SL_REFUSED_CAPACITY);
    assert_used(5);
}

static void test_placement_takeover_without_room_changes_nothing(void **state)
{
    (void)state;
    sl_workload_id old = placed(6), new = planned(11);
    assert_int_equal(replaced(old), SL_REFUSED_CAPACITY);
    assert_used(6);
    assert_int_equal(sl_ledger_usage(cell), 60);
    assert_int_equal(sl_workloads[old].phase, SL_PHASE_ADMITTED);
    assert_int_equal(sl_place_of(new), SL_PLACE_IN_FLIGHT);
}

static void test_placement_takeover_without_quota_takes_no_room(void **state)
{
    (void)state;
    sl_workload_id old = placed(3), new = planned(4);
    sl_plan.usage[0].amount = QUOTA + 1;
    assert_int_equal(replaced(old), SL_REFUSED_QUOTA);
    assert_used(3);
    assert_int_equal(sl_ledger_usage(cell), 30);
    assert_int_equal(sl_booking_count(new), 0);
    assert_int_equal(sl_workloads[old].phase, SL_PHASE_ADMITTED);
}

static void test_placement_takeover_of_two_plans_is_refused(void **state)
{
    (void)state;
    sl_workload_id old = placed(3), new = planned(4);
    sl_topology_plan.workload = old;
    assert_int_equal(replaced(old), SL_REFUSED_BAD_ARGUMENT);
    assert_used(3);
    assert_int_equal(sl_place_of(new), SL_PLACE_IN_FLIGHT);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_placement_takeover_##name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gives_back_the_rooms_of_the_old), TEST(without_sets_gives_them_back_too),
        TEST(grows_where_the_old_one_is),      TEST(takes_no_room_of_others),
        TEST(that_shrinks_is_never_refused),   TEST(without_room_changes_nothing),
        TEST(without_quota_takes_no_room),     TEST(of_two_plans_is_refused),
    };
    return cmocka_run_group_tests_name("placement_takeover", tests, NULL, NULL);
}
