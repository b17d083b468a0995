/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Victims beside places: the search for places is no exhaustive one, so that it may find none beside a victim whom the
 * places that it finds in the end do not need. */
#include "places_world.h"

#include "policy/placement/placement_holds.h"
#include "policy/preemption/preemption.h"

enum { HOSTS = 3, CPU_A_HOST = 4 };

/* A queue with one workload on each of the first two hosts of a rack, and one in line that asks for a whole host. */
struct world {
    struct pw_tree tree;
    sl_workload_id holders[2];
    sl_domain_id hosts[HOSTS];
};

static struct world begin(int64_t quota)
{
    struct world w = {.tree = pw_tree(1, HOSTS, CPU_A_HOST)};
    sl_qnode_id queue = pw_queue(SL_NO_ID, w.tree, quota);
    for (uint32_t i = 0; i < 2; i++) {
        w.holders[i] = pw_workload(queue, 0, 1, CPU_A_HOST, LEVEL_HOST);
        assert_int_equal(fx_cycle(), 1);
        w.hosts[i] = sl_topology_assignment_at(w.holders[i], 0).domain;
        sl_victims.workloads[i] = w.holders[i];
        sl_victims.reasons[i] = SL_PREEMPT_IN_CLUSTER_QUEUE;
    }
    w.hosts[2] = w.hosts[1] + 1;
    sl_victims.count = 2;
    sl_victims.may_borrow = true;
    sl_preemption_question = (struct sl_preemption_question){
        .preemptor = fx_create(), .cluster_queue = queue, .places = true, .need_count = 1};
    sl_preemption_question.needs[0] =
        (struct sl_need){sl_ledger_find_cell(queue, w.tree.tree, CPU), CPU_A_HOST, true};
    return w;
}

/* What was found: the whole of one host. */
static void place_on(struct world w, uint32_t host)
{
    sl_topology_plan.workload = sl_preemption_question.preemptor;
    sl_topology_plan.set_count = 1;
    sl_topology_plan.row_count = 1;
    sl_topology_plan.sets[0] = (struct sl_topology_set){
        .count = 1, .tree = w.tree.tree, .within = SL_NO_ID, .row_count = 1, .request_count = 1};
    sl_topology_plan.sets[0].requests[0] = (struct sl_measure_amount){MEASURE_CPU, CPU_A_HOST};
    sl_topology_plan.rows[0] = (struct sl_topology_row){w.hosts[host], 1};
}

static void assert_untouched(struct world w)
{
    assert_false(sl_preemption_question.placed);
    assert_int_equal(sl_assumed_mark(), 0);
    assert_int_equal(sl_ledger_usage(sl_preemption_question.needs[0].cell), 2 * CPU_A_HOST);
    assert_int_equal(sl_assumed_capacity(w.tree.first_site, MEASURE_CPU), 0);
}

static void test_beside_places_only_the_one_in_the_way_goes(void **state)
{
    (void)state;
    for (uint32_t host = 0; host < 2; host++) {
        struct world w = begin(HOSTS * CPU_A_HOST);
        place_on(w, host);
        assert_int_equal(sl_preemption_spare_beside_places(), 1);
        assert_int_equal(sl_victims.workloads[0], w.holders[host]);
        assert_int_equal(sl_victims.reasons[0], SL_PREEMPT_IN_CLUSTER_QUEUE);
        assert_true(sl_victims.may_borrow);
        assert_untouched(w);
    }
}

static void test_beside_places_nobody_goes_for_a_free_host(void **state)
{
    (void)state;
    struct world w = begin(HOSTS * CPU_A_HOST);
    place_on(w, 2);
    assert_true(sl_placement_holds(SL_NO_ID));
    assert_int_equal(sl_preemption_spare_beside_places(), 0);
    assert_untouched(w);
}

static void test_beside_places_quota_may_need_one_all_the_same(void **state)
{
    (void)state;
    struct world w = begin(2 * CPU_A_HOST);
    place_on(w, 2);
    assert_int_equal(sl_preemption_spare_beside_places(), 1);
    assert_int_equal(sl_victims.workloads[0], w.holders[0]);
    assert_untouched(w);
}

static void test_beside_places_all_stay_victims_where_the_places_do_not_hold(void **state)
{
    (void)state;
    struct world w = begin(HOSTS * CPU_A_HOST);
    place_on(w, 0);
    sl_topology_plan.sets[0].requests[0].per_pod = CPU_A_HOST + 1;
    assert_false(sl_placement_holds(SL_NO_ID));
    assert_int_equal(sl_preemption_spare_beside_places(), 2);
    assert_int_equal(sl_victims.workloads[0], w.holders[0]);
    assert_int_equal(sl_victims.workloads[1], w.holders[1]);
    assert_untouched(w);
}

static void test_beside_places_a_question_of_quota_alone_is_left_as_it_is(void **state)
{
    (void)state;
    struct world w = begin(HOSTS * CPU_A_HOST);
    place_on(w, 2);
    sl_preemption_question.places = false;
    assert_int_equal(sl_preemption_spare_beside_places(), 2);
    assert_untouched(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_beside_places_only_the_one_in_the_way_goes),
        PW_TEST(test_beside_places_nobody_goes_for_a_free_host),
        PW_TEST(test_beside_places_quota_may_need_one_all_the_same),
        PW_TEST(test_beside_places_all_stay_victims_where_the_places_do_not_hold),
        PW_TEST(test_beside_places_a_question_of_quota_alone_is_left_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
