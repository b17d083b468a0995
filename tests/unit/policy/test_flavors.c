/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment: groups, order, borrowing, exclusions, and what is said when nothing fits. */
#include "fixture.h"

static sl_flavor_id chosen(uint32_t index)
{
    assert_true(index < sl_assignment.choice_count);
    return sl_assignment.choices[index].flavor;
}

static void assert_fits(sl_workload_id id, sl_node_id queue, uint32_t height)
{
    sl_flavors_assign(id, queue);
    assert_true(sl_assignment.fits);
    assert_int_equal(sl_assignment.borrow_height, height);
}

static void assert_no_fit(sl_workload_id id, sl_node_id queue, enum sl_pending_reason reason)
{
    sl_flavors_assign(id, queue);
    assert_false(sl_assignment.fits);
    assert_int_equal(sl_assignment.reason, reason);
}

static void assert_detail(uint32_t index, enum sl_miss miss, sl_flavor_id flavor,
                          sl_resource_id resource, int64_t amount)
{
    assert_true(index < sl_assignment.detail_count);
    assert_int_equal(sl_assignment.details[index].miss, miss);
    assert_int_equal(sl_assignment.details[index].flavor, flavor);
    assert_int_equal(sl_assignment.details[index].resource, resource);
    assert_int_equal(sl_assignment.details[index].amount, amount);
}

static sl_workload_id asking(int64_t cpu)
{
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, cpu);
    return id;
}

static void charge(sl_node_id node, sl_flavor_id flavor, int64_t cpu)
{
    sl_cell_id cell = SL_NO_ID;
    assert_int_equal(sl_ledger_open_cell(node, flavor, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_charge(cell, cpu), SL_OK);
}

/* Give back what `charge` took, so that ledger and claims agree in the end. */
static void uncharge(sl_node_id node, sl_flavor_id flavor, int64_t cpu)
{
    sl_cell_id cell = SL_NO_ID;
    assert_int_equal(sl_ledger_open_cell(node, flavor, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_release(cell, cpu), SL_OK);
}

static void test_flavors_first_that_fits_is_taken(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    assert_fits(asking(4), queue, 0);
    assert_int_equal(chosen(0), SPOT);
    assert_fits(asking(5), queue, 0);
    assert_int_equal(chosen(0), ON_DEMAND);
    assert_detail(0, SL_MISS_MAX_QUOTA, SPOT, CPU, 1);
}

static void test_flavors_more_than_could_ever_be_exceeds_max_quota(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    assert_no_fit(asking(13), queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.detail_count, 2);
    assert_detail(0, SL_MISS_MAX_QUOTA, SPOT, CPU, 9);
    assert_detail(1, SL_MISS_MAX_QUOTA, ON_DEMAND, CPU, 3);
}

static void test_flavors_reason_is_the_mildest_over_flavors(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    charge(queue, ON_DEMAND, 8);
    assert_no_fit(asking(5), queue, SL_PENDING_WAITING_FOR_QUOTA);
    assert_detail(1, SL_MISS_UNUSED_QUOTA, ON_DEMAND, CPU, 3);
    uncharge(queue, ON_DEMAND, 8);
}

static void test_flavors_reason_is_the_gravest_over_pod_sets(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    charge(queue, SPOT, 3);
    sl_workload_id id = asking(2);
    assert_no_fit(id, queue, SL_PENDING_WAITING_FOR_QUOTA);
    fx_pod_set(id, 1, CPU, 9);
    assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    fx_pod_set(id, 1, CPU, 1);
    assert_int_equal(sl_demand_add_exclusion(id, SPOT, SL_EXCLUDED_TAINT), SL_OK);
    assert_no_fit(id, queue, SL_PENDING_NO_MATCHING_FLAVOR);
    assert_int_equal(sl_assignment.details[2].pod_set, 2);
    uncharge(queue, SPOT, 3);
}

static void test_flavors_excluded_ones_are_passed_over(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    sl_workload_id id = asking(1);
    assert_int_equal(sl_demand_add_exclusion(id, SPOT, SL_EXCLUDED_TAINT), SL_OK);
    assert_fits(id, queue, 0);
    assert_int_equal(chosen(0), ON_DEMAND);
    assert_detail(0, SL_MISS_TAINT, SPOT, SL_NO_ID, 0);
    assert_int_equal(sl_demand_add_exclusion(id, ON_DEMAND, SL_EXCLUDED_AFFINITY), SL_OK);
    assert_no_fit(id, queue, SL_PENDING_NO_MATCHING_FLAVOR);
    assert_detail(1, SL_MISS_AFFINITY, ON_DEMAND, SL_NO_ID, 0);
}

static void test_flavors_missing_flavor_is_said_so(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = asking(1);
    assert_int_equal(sl_demand_add_exclusion(id, SPOT, SL_EXCLUDED_MISSING), SL_OK);
    assert_no_fit(id, queue, SL_PENDING_NO_MATCHING_FLAVOR);
    assert_detail(0, SL_MISS_NO_FLAVOR, SPOT, SL_NO_ID, 0);
}

static void test_flavors_resource_not_offered_matches_nothing(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = asking(1);
    assert_int_equal(sl_demand_add_request(id, MEMORY, 0), SL_OK);
    assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 1);
    fx_pod_set(id, 1, MEMORY, 5);
    assert_no_fit(id, queue, SL_PENDING_NO_MATCHING_FLAVOR);
    assert_detail(0, SL_MISS_NOT_OFFERED, SL_NO_ID, MEMORY, 5);
}

static void test_flavors_one_flavor_serves_all_resources_of_a_group(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, SPOT, MEMORY, 10);
    (void)fx_offer(queue, ON_DEMAND, CPU, 4);
    (void)fx_offer(queue, ON_DEMAND, MEMORY, 100);
    sl_workload_id id = asking(1);
    assert_int_equal(sl_demand_add_request(id, MEMORY, 50), SL_OK);
    assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 2);
    assert_int_equal(chosen(0), ON_DEMAND);
    assert_int_equal(chosen(1), ON_DEMAND);
}

static void test_flavors_groups_choose_separately(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_cell_id cell = fx_quota(queue, ON_DEMAND, MEMORY, 100, 0);
    assert_int_equal(sl_offers_add(queue, 1, cell), SL_OK);
    sl_workload_id id = asking(1);
    assert_int_equal(sl_demand_add_request(id, MEMORY, 50), SL_OK);
    assert_fits(id, queue, 0);
    assert_int_equal(chosen(0), SPOT);
    assert_int_equal(chosen(1), ON_DEMAND);
    assert_int_equal(sl_assignment.choices[1].cell, cell);
}

static void test_flavors_earlier_pod_sets_count_as_used(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 3);
    sl_workload_id id = asking(3);
    fx_pod_set(id, 2, CPU, 1);
    assert_fits(id, queue, 0);
    assert_int_equal(chosen(0), SPOT);
    assert_int_equal(chosen(1), ON_DEMAND);
    fx_pod_set(id, 1, CPU, 2);
    assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_fits(asking(4), queue, 0); /* nothing of that is left behind */
    assert_int_equal(chosen(0), SPOT);
}

/* root (cpu 2) over cohort (cpu 3) over the queue (cpu 4) and a sister (cpu 5). */
static void test_flavors_borrowing_reaches_up_two_levels(void **state)
{
    (void)state;
    sl_node_id root = fx_node(SL_NO_ID);
    sl_node_id cohort = fx_node(root);
    sl_node_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_queue(cohort, SL_BEST_EFFORT_FIFO, 5);
    (void)fx_quota(cohort, SPOT, CPU, 3, SL_AMOUNT_UNLIMITED);
    (void)fx_quota(root, SPOT, CPU, 2, SL_AMOUNT_UNLIMITED);
    assert_fits(asking(4), queue, 0);
    assert_fits(asking(5), queue, 1);
    assert_fits(asking(12), queue, 1);
    assert_fits(asking(13), queue, 2);
    assert_fits(asking(14), queue, 2);
    assert_no_fit(asking(15), queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_detail(0, SL_MISS_MAX_QUOTA, SPOT, CPU, 1);
}

static void test_flavors_borrowing_limit_is_the_most_there_can_be(void **state)
{
    (void)state;
    sl_node_id cohort = fx_node(SL_NO_ID);
    sl_node_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, -1);
    (void)fx_queue(cohort, SL_BEST_EFFORT_FIFO, 50);
    assert_int_equal(sl_offers_add(queue, 0, fx_quota(queue, SPOT, CPU, 4, 3)), SL_OK);
    assert_fits(asking(7), queue, 1);
    assert_no_fit(asking(8), queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
}

static void test_flavors_borrowing_stops_the_search_by_default(void **state)
{
    (void)state;
    sl_node_id cohort = fx_node(SL_NO_ID);
    sl_node_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    (void)fx_queue(cohort, SL_BEST_EFFORT_FIFO, 50);
    assert_fits(asking(6), queue, 1);
    assert_int_equal(chosen(0), SPOT);
    struct sl_rules rules = {SL_BEST_EFFORT_FIFO, SL_TRY_NEXT_FLAVOR};
    assert_int_equal(sl_offers_set_rules(queue, rules), SL_OK);
    assert_fits(asking(6), queue, 0);
    assert_int_equal(chosen(0), ON_DEMAND);
    assert_fits(asking(11), queue, 1); /* nobody borrows less: the first */
    assert_int_equal(chosen(0), SPOT);
}

static void test_flavors_try_next_takes_the_lower_borrow_height(void **state)
{
    (void)state;
    sl_node_id root = fx_node(SL_NO_ID);
    sl_node_id cohort = fx_node(root);
    sl_node_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 1);
    (void)fx_offer(queue, ON_DEMAND, CPU, 1);
    (void)fx_quota(root, SPOT, CPU, 50, SL_AMOUNT_UNLIMITED);
    (void)fx_quota(cohort, ON_DEMAND, CPU, 50, SL_AMOUNT_UNLIMITED);
    struct sl_rules rules = {SL_BEST_EFFORT_FIFO, SL_TRY_NEXT_FLAVOR};
    assert_int_equal(sl_offers_set_rules(queue, rules), SL_OK);
    assert_fits(asking(5), queue, 1);
    assert_int_equal(chosen(0), ON_DEMAND);
}

static void test_flavors_pods_are_counted_where_the_queue_offers_them(void **state)
{
    (void)state;
    sl_offers_set_pods_resource(PODS);
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 100);
    sl_node_id counting = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 100);
    (void)fx_offer(counting, SPOT, PODS, 5);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 5, CPU, 1);
    assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 1);
    assert_fits(id, counting, 0);
    assert_int_equal(sl_assignment.choices[1].amount, 5);
    fx_pod_set(id, 1, CPU, 1);
    assert_no_fit(id, counting, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_detail(0, SL_MISS_MAX_QUOTA, SPOT, PODS, 1);
    sl_offers_set_pods_resource(SL_NO_ID);
}

static void test_flavors_asking_for_nothing_fits_after_a_quota_cut(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    charge(queue, SPOT, 4);
    assert_int_equal(
        sl_ledger_set_quota(sl_offers_first(queue), 1, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
        SL_OK);
    assert_fits(asking(0), queue, 0);
    assert_no_fit(asking(1), queue, SL_PENDING_WAITING_FOR_QUOTA);
    assert_detail(0, SL_MISS_UNUSED_QUOTA, SPOT, CPU, 1);
    uncharge(queue, SPOT, 4);
}

static void test_flavors_without_pod_sets_nothing_fits(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    assert_no_fit(fx_create(), queue, SL_PENDING_MISCONFIGURED);
}

static void test_flavors_sums_beyond_the_largest_amount_never_fit(void **state)
{
    (void)state;
    sl_node_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, -1);
    (void)fx_offer(queue, SPOT, CPU, SL_AMOUNT_UNLIMITED);
    sl_workload_id id = asking(SL_AMOUNT_MAX);
    assert_fits(id, queue, 0);
    for (int i = 0; i < 17; i++) {
        fx_pod_set(id, 1, CPU, SL_AMOUNT_MAX);
    }
    assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
}

static void test_flavors_details_beyond_the_room_are_counted(void **state)
{
    (void)state;
    sl_node_id queue = fx_node(SL_NO_ID);
    for (sl_flavor_id flavor = 0; flavor < 20; flavor++) {
        (void)fx_offer(queue, flavor, CPU, 1);
    }
    sl_workload_id id = fx_create();
    for (int i = 0; i < 18; i++) {
        fx_pod_set(id, 1, CPU, 2);
    }
    assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.detail_count, SL_DETAILS_MAX);
    assert_int_equal(sl_assignment.details_left_out, 18 * 20 - (int)SL_DETAILS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_flavors_first_that_fits_is_taken),
        FX_TEST(test_flavors_more_than_could_ever_be_exceeds_max_quota),
        FX_TEST(test_flavors_reason_is_the_mildest_over_flavors),
        FX_TEST(test_flavors_reason_is_the_gravest_over_pod_sets),
        FX_TEST(test_flavors_excluded_ones_are_passed_over),
        FX_TEST(test_flavors_missing_flavor_is_said_so),
        FX_TEST(test_flavors_resource_not_offered_matches_nothing),
        FX_TEST(test_flavors_one_flavor_serves_all_resources_of_a_group),
        FX_TEST(test_flavors_groups_choose_separately),
        FX_TEST(test_flavors_earlier_pod_sets_count_as_used),
        FX_TEST(test_flavors_borrowing_reaches_up_two_levels),
        FX_TEST(test_flavors_borrowing_limit_is_the_most_there_can_be),
        FX_TEST(test_flavors_borrowing_stops_the_search_by_default),
        FX_TEST(test_flavors_try_next_takes_the_lower_borrow_height),
        FX_TEST(test_flavors_pods_are_counted_where_the_queue_offers_them),
        FX_TEST(test_flavors_asking_for_nothing_fits_after_a_quota_cut),
        FX_TEST(test_flavors_without_pod_sets_nothing_fits),
        FX_TEST(test_flavors_sums_beyond_the_largest_amount_never_fit),
        FX_TEST(test_flavors_details_beyond_the_room_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
