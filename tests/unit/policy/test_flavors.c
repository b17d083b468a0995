/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment: groups, order, borrowing, exclusions, and what is said when nothing fits. */
#include "flavors_fixture.h"

static void test_flavors_first_that_fits_is_taken(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    fl_assert_fits(fl_asking(4), queue, 0);
    assert_int_equal(fl_chosen(0), SPOT);
    fl_assert_fits(fl_asking(5), queue, 0);
    assert_int_equal(fl_chosen(0), ON_DEMAND);
    fl_assert_attempt(0, SPOT, SL_MODE_NO_FIT, 0);
    fl_assert_attempt(1, ON_DEMAND, SL_MODE_FIT, 0);
    assert_int_equal(sl_assignment.attempts[0].reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
}

static void test_flavors_more_than_could_ever_be_exceeds_max_quota(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    fl_assert_no_fit(fl_asking(13), queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.detail_count, 2);
    fl_assert_detail(0, SL_MISS_MAX_QUOTA, SPOT, CPU, 9);
    fl_assert_detail(1, SL_MISS_MAX_QUOTA, ON_DEMAND, CPU, 3);
}

/* Spot could be had by borrowing were it not in use; of on-demand there is not that much. */
static void test_flavors_reason_is_the_mildest_over_flavors(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = fl_queue(cohort, 4, 4);
    sl_qnode_id sister = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    fl_charge(sister, SPOT, 3);
    fl_assert_no_fit(fl_asking(6), queue, SL_PENDING_WAITING_FOR_QUOTA);
    fl_assert_detail(0, SL_MISS_UNUSED_QUOTA, SPOT, CPU, 1);
    fl_assert_detail(1, SL_MISS_MAX_QUOTA, ON_DEMAND, CPU, 2);
    assert_int_equal(fl_asked, 0);
    fl_release(sister, SPOT, 3);
}

/* Each group of resources is needed; one that found a flavor counts for those that failed. */
static void test_flavors_reason_is_the_gravest_over_resource_groups(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = fl_queue(cohort, 1, 4);
    sl_qnode_id sister = fx_node(cohort);
    sl_cell_id lent = fx_quota(sister, SPOT, MEMORY, 5, 0);
    sl_cell_id cell = fx_quota(queue, SPOT, MEMORY, 5, SL_AMOUNT_UNLIMITED);
    assert_int_equal(sl_offers_add(queue, 1, cell), SL_OK);
    assert_int_equal(sl_ledger_charge(lent, 5), SL_OK);
    sl_workload_id id = fl_asking(1);
    assert_int_equal(sl_requests_add(id, MEMORY, 6), SL_OK);
    fl_assert_no_fit(id, queue, SL_PENDING_WAITING_FOR_QUOTA);
    sl_workload_id more = fl_asking(2);
    assert_int_equal(sl_requests_add(more, MEMORY, 6), SL_OK);
    fl_assert_no_fit(more, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.choice_count, 0);
    assert_int_equal(sl_assignment.detail_count, 1);
    fl_assert_detail(0, SL_MISS_UNUSED_QUOTA, SPOT, MEMORY, 1);
    assert_int_equal(sl_ledger_release(lent, 5), SL_OK);
}

/* The first pod set keeps what it was given, the third is not looked at. */
static void test_flavors_first_pod_set_without_a_place_ends_the_search(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fl_asking(2);
    fx_pod_set(id, 1, CPU, 9);
    fx_pod_set(id, 1, CPU, 1);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_TAINT), SL_OK);
    fl_assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.pod_set_count, 3);
    assert_int_equal(sl_assignment.modes[0], SL_MODE_FIT);
    assert_int_equal(sl_assignment.modes[1], SL_MODE_NO_FIT);
    assert_int_equal(sl_assignment.modes[2], SL_MODE_NO_FIT);
    assert_true(sl_assignment.examined[1]);
    assert_false(sl_assignment.examined[2]);
    assert_int_equal(sl_assignment.choice_count, 1);
    assert_int_equal(sl_assignment.need_count, 1);
    assert_int_equal(sl_assignment.detail_count, 1);
    assert_int_equal(sl_assignment.details[0].pod_set, 1);
}

static void test_flavors_excluded_ones_are_passed_over(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    sl_workload_id id = fl_asking(1);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_TAINT), SL_OK);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(fl_chosen(0), ON_DEMAND);
    fl_assert_attempt(0, SPOT, SL_MODE_NO_FIT, 0);
    assert_int_equal(sl_requests_add_exclusion(id, ON_DEMAND, SL_EXCLUDED_AFFINITY), SL_OK);
    fl_assert_no_fit(id, queue, SL_PENDING_NO_MATCHING_FLAVOR);
    fl_assert_detail(0, SL_MISS_TAINT, SPOT, SL_NO_ID, 0);
    fl_assert_detail(1, SL_MISS_AFFINITY, ON_DEMAND, SL_NO_ID, 0);
}

static void test_flavors_missing_flavor_is_said_so(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fl_asking(1);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_MISSING), SL_OK);
    fl_assert_no_fit(id, queue, SL_PENDING_NO_MATCHING_FLAVOR);
    fl_assert_detail(0, SL_MISS_NO_FLAVOR, SPOT, SL_NO_ID, 0);
}

static void test_flavors_that_are_not_named_are_passed_over(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    sl_workload_id id = fl_asking(1);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_UNNAMED), SL_OK);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(fl_chosen(0), ON_DEMAND);
    fl_assert_attempt(0, SPOT, SL_MODE_NO_FIT, 0);
    assert_int_equal(sl_requests_add_exclusion(id, ON_DEMAND, SL_EXCLUDED_UNNAMED), SL_OK);
    fl_assert_no_fit(id, queue, SL_PENDING_NO_MATCHING_FLAVOR);
    fl_assert_detail(0, SL_MISS_UNNAMED, SPOT, SL_NO_ID, 0);
    fl_assert_detail(1, SL_MISS_UNNAMED, ON_DEMAND, SL_NO_ID, 0);
    assert_int_equal(
        sl_requests_add_exclusion(id, SPOT, (enum sl_exclusion)(SL_EXCLUDED_UNNAMED + 1)),
        SL_REFUSED_BAD_ARGUMENT);
}

static void test_flavors_resource_not_offered_matches_nothing(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fl_asking(1);
    assert_int_equal(sl_requests_add(id, MEMORY, 0), SL_OK);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 1);
    fx_pod_set(id, 1, MEMORY, 5);
    fl_assert_no_fit(id, queue, SL_PENDING_NO_MATCHING_FLAVOR);
    fl_assert_detail(0, SL_MISS_NOT_OFFERED, SL_NO_ID, MEMORY, 5);
}

static void test_flavors_undeclared_resources_may_be_ignored(void **state)
{
    (void)state;
    sl_settings.ignore_undeclared = true;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fl_asking(1);
    assert_int_equal(sl_requests_add(id, MEMORY, 5), SL_OK);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 1);
    assert_int_equal(sl_assignment.needs[0].amount, 1);
}

/* A pod set that asks for nothing that counts does not end the search. */
static void test_flavors_pod_set_that_asks_for_nothing_fits(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, MEMORY, 0);
    fx_pod_set(id, 2, CPU, 2);
    fx_pod_set(id, 3, CPU, 0);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 2);
    assert_int_equal(sl_assignment.need_count, 1);
    assert_int_equal(sl_assignment.needs[0].amount, 4);
    assert_false(sl_assignment.needs[0].contested);
}

static void test_flavors_one_flavor_serves_all_resources_of_a_group(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, SPOT, MEMORY, 10);
    (void)fx_offer(queue, ON_DEMAND, CPU, 4);
    (void)fx_offer(queue, ON_DEMAND, MEMORY, 100);
    sl_workload_id id = fl_asking(1);
    assert_int_equal(sl_requests_add(id, MEMORY, 50), SL_OK);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 2);
    assert_int_equal(fl_chosen(0), ON_DEMAND);
    assert_int_equal(fl_chosen(1), ON_DEMAND);
}

static void test_flavors_groups_choose_separately(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_cell_id cell = fx_quota(queue, ON_DEMAND, MEMORY, 100, 0);
    assert_int_equal(sl_offers_add(queue, 1, cell), SL_OK);
    sl_workload_id id = fl_asking(1);
    assert_int_equal(sl_requests_add(id, MEMORY, 50), SL_OK);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(fl_chosen(0), SPOT);
    assert_int_equal(fl_chosen(1), ON_DEMAND);
    assert_int_equal(sl_assignment.choices[1].cell, cell);
}

/* Cpu comes with gpu, which only the second group offers: there it stays. */
static void test_flavors_resource_of_two_groups_gets_the_later_one(void **state)
{
    (void)state;
    enum { GPU = 9 };
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_cell_id cpu = fx_quota(queue, ON_DEMAND, CPU, 4, 0);
    sl_cell_id gpu = fx_quota(queue, ON_DEMAND, GPU, 4, 0);
    assert_int_equal(sl_offers_add(queue, 1, cpu), SL_OK);
    assert_int_equal(sl_offers_add(queue, 1, gpu), SL_OK);
    fl_assert_fits(fl_asking(1), queue, 0);
    assert_int_equal(fl_chosen(0), SPOT);
    sl_workload_id id = fl_asking(2);
    assert_int_equal(sl_requests_add(id, GPU, 1), SL_OK);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 2);
    assert_int_equal(sl_assignment.choices[0].cell, cpu);
    assert_int_equal(sl_assignment.choices[1].cell, gpu);
    assert_int_equal(sl_assignment.need_count, 2);
    assert_int_equal(sl_assignment.needs[0].amount, 2);
    sl_workload_id more = fl_asking(5);
    assert_int_equal(sl_requests_add(more, GPU, 1), SL_OK);
    fl_assert_no_fit(more, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
}

/* The first in order that has no place is all that is said; pods stand among them. */
static void test_flavors_resources_are_looked_at_in_their_order(void **state)
{
    (void)state;
    sl_offers_set_pods_resource(PODS);
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 1);
    sl_cell_id memory = fx_quota(queue, ON_DEMAND, MEMORY, 1, 0);
    sl_cell_id pods = fx_quota(queue, ON_DEMAND, PODS, 1, 0);
    assert_int_equal(sl_offers_add(queue, 1, memory), SL_OK);
    assert_int_equal(sl_offers_add(queue, 2, pods), SL_OK);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 2, CPU, 1);
    assert_int_equal(sl_requests_add(id, MEMORY, 1), SL_OK);
    static const sl_resource_id orders[][3] = {
        {CPU, MEMORY, PODS}, {MEMORY, PODS, CPU}, {PODS, CPU, MEMORY}, {CPU, PODS, MEMORY}};
    for (size_t i = 0; i < 4; i++) {
        for (uint64_t k = 0; k < 3; k++) {
            sl_offers_set_order(orders[i][k], UINT64_MAX - 2 + k);
            assert_true(sl_offers_order(orders[i][k]) == UINT64_MAX - 2 + k);
        }
        fl_assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
        assert_int_equal(sl_assignment.detail_count, 1);
        assert_int_equal(sl_assignment.details[0].resource, orders[i][0]);
        assert_int_equal(sl_assignment.attempt_count, 1);
    }
    for (uint64_t k = 0; k < 3; k++) {
        sl_offers_set_order(orders[0][k], 0);
    }
    sl_offers_set_order(SL_RESOURCES_MAX, 1);
    assert_true(sl_offers_order(SL_RESOURCES_MAX) == 0);
    sl_offers_set_pods_resource(SL_NO_ID);
}

static void test_flavors_earlier_pod_sets_count_as_used(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 3);
    sl_workload_id id = fl_asking(3);
    fx_pod_set(id, 2, CPU, 1);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(fl_chosen(0), SPOT);
    assert_int_equal(fl_chosen(1), ON_DEMAND);
    fx_pod_set(id, 1, CPU, 2);
    fl_assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    fl_assert_fits(fl_asking(4), queue, 0); /* nothing of that is left behind */
    assert_int_equal(fl_chosen(0), SPOT);
}

/* root (cpu 2) over cohort (cpu 3) over the queue (cpu 4) and a sister (cpu 5). */
static void test_flavors_borrowing_reaches_up_two_levels(void **state)
{
    (void)state;
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id cohort = fx_node(root);
    sl_qnode_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_queue(cohort, SL_BEST_EFFORT_FIFO, 5);
    (void)fx_quota(cohort, SPOT, CPU, 3, SL_AMOUNT_UNLIMITED);
    (void)fx_quota(root, SPOT, CPU, 2, SL_AMOUNT_UNLIMITED);
    fl_assert_fits(fl_asking(4), queue, 0);
    fl_assert_fits(fl_asking(5), queue, 1);
    fl_assert_fits(fl_asking(12), queue, 1);
    fl_assert_fits(fl_asking(13), queue, 2);
    fl_assert_fits(fl_asking(14), queue, 2);
    fl_assert_no_fit(fl_asking(15), queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    fl_assert_detail(0, SL_MISS_MAX_QUOTA, SPOT, CPU, 1);
}

static void test_flavors_borrowing_limit_is_the_most_there_can_be(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, -1);
    (void)fx_queue(cohort, SL_BEST_EFFORT_FIFO, 50);
    assert_int_equal(sl_offers_add(queue, 0, fx_quota(queue, SPOT, CPU, 4, 3)), SL_OK);
    fl_assert_fits(fl_asking(7), queue, 1);
    fl_assert_no_fit(fl_asking(8), queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
}

static void test_flavors_borrowing_stops_the_search_by_default(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    (void)fx_offer(queue, ON_DEMAND, CPU, 10);
    (void)fx_queue(cohort, SL_BEST_EFFORT_FIFO, 50);
    fl_assert_fits(fl_asking(6), queue, 1);
    assert_int_equal(fl_chosen(0), SPOT);
    fl_rules(queue, SL_TRY_NEXT_FLAVOR, SL_TRY_NEXT_FLAVOR, SL_BORROWING_OVER_PREEMPTION);
    fl_assert_fits(fl_asking(6), queue, 0);
    assert_int_equal(fl_chosen(0), ON_DEMAND);
    fl_assert_fits(fl_asking(11), queue, 1); /* nobody borrows less: the first */
    assert_int_equal(fl_chosen(0), SPOT);
}

static void test_flavors_try_next_takes_the_lower_borrow_height(void **state)
{
    (void)state;
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id cohort = fx_node(root);
    sl_qnode_id queue = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 1);
    (void)fx_offer(queue, ON_DEMAND, CPU, 1);
    (void)fx_quota(root, SPOT, CPU, 50, SL_AMOUNT_UNLIMITED);
    (void)fx_quota(cohort, ON_DEMAND, CPU, 50, SL_AMOUNT_UNLIMITED);
    fl_rules(queue, SL_TRY_NEXT_FLAVOR, SL_TRY_NEXT_FLAVOR, SL_BORROWING_OVER_PREEMPTION);
    fl_assert_fits(fl_asking(5), queue, 1);
    assert_int_equal(fl_chosen(0), ON_DEMAND);
}

static void test_flavors_pods_are_counted_where_the_queue_offers_them(void **state)
{
    (void)state;
    sl_offers_set_pods_resource(PODS);
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 100);
    sl_qnode_id counting = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 100);
    (void)fx_offer(counting, SPOT, PODS, 5);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 5, CPU, 1);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 1);
    fl_assert_fits(id, counting, 0);
    assert_int_equal(sl_assignment.choices[1].amount, 5);
    fx_pod_set(id, 1, CPU, 1);
    fl_assert_no_fit(id, counting, SL_PENDING_EXCEEDS_MAX_QUOTA);
    fl_assert_detail(0, SL_MISS_MAX_QUOTA, SPOT, PODS, 1);
    sl_offers_set_pods_resource(SL_NO_ID);
}

static void test_flavors_asking_for_nothing_fits_after_a_quota_cut(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    fl_charge(queue, SPOT, 4);
    assert_int_equal(
        sl_ledger_set_quota(sl_offers_first(queue), 1, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
        SL_OK);
    fl_assert_fits(fl_asking(0), queue, 0);
    fl_assert_mode(fl_asking(1), queue, SL_MODE_PREEMPT, 0);
    fl_assert_detail(0, SL_MISS_UNUSED_QUOTA, SPOT, CPU, 4);
    fl_release(queue, SPOT, 4);
}

static void test_flavors_without_pod_sets_nothing_fits(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    fl_assert_no_fit(fx_create(), queue, SL_PENDING_MISCONFIGURED);
}

static void test_flavors_sums_beyond_the_largest_amount_never_fit(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, -1);
    (void)fx_offer(queue, SPOT, CPU, SL_AMOUNT_UNLIMITED);
    sl_workload_id id = fl_asking(SL_AMOUNT_MAX);
    fl_assert_fits(id, queue, 0);
    for (int i = 0; i < 17; i++) {
        fx_pod_set(id, 1, CPU, SL_AMOUNT_MAX);
    }
    fl_assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    sl_workload_id grouped = fx_create(); /* 2^64 together */
    for (int i = 0; i < 16; i++) {
        fx_pod_set(grouped, 1, CPU, SL_AMOUNT_MAX);
        assert_int_equal(sl_requests_set_group(grouped, 0), SL_OK);
    }
    fl_assert_no_fit(grouped, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
}

/* What is in the way of a group is said for each of its pod sets. */
static void test_flavors_notes_beyond_the_room_are_counted(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_node(SL_NO_ID);
    for (sl_flavor_id flavor = 0; flavor < 30; flavor++) {
        (void)fx_offer(queue, flavor, CPU, 1);
    }
    sl_workload_id id = fx_create();
    for (int i = 0; i < 18; i++) {
        fx_pod_set(id, 1, CPU, 2);
        assert_int_equal(sl_requests_set_group(id, 7), SL_OK);
    }
    fl_assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.detail_count, SL_DETAILS_MAX);
    assert_int_equal(sl_assignment.details_left_out, 18 * 30 - (int)SL_DETAILS_MAX);
    assert_int_equal(sl_assignment.attempt_count, SL_ATTEMPTS_MAX);
    (void)fx_offer(queue, 30, CPU, 36);
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.details_left_out, 0);
}

static void test_flavors_more_cells_than_claims_is_said_so(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_node(SL_NO_ID);
    sl_workload_id id = fx_create();
    for (uint32_t set = 0; set < 9; set++) {
        assert_int_equal(sl_requests_add_pod_set(id, 1), SL_OK);
        for (sl_resource_id i = 0; i < 16; i++) {
            sl_resource_id resource = 40 + 16 * set + i;
            (void)fx_offer(queue, SPOT, resource, 1);
            assert_int_equal(sl_requests_add(id, resource, 1), SL_OK);
        }
    }
    fl_assert_fits(id, queue, 0);
    assert_int_equal(sl_assignment.choice_count, 144);
    assert_int_equal(sl_assignment.need_count, SL_USAGE_CELLS_MAX + 1);
}

static void test_flavors_reduced_counts_ask_for_less(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 5, CPU, 2);
    fx_pod_set(id, 1, CPU, 1);
    fl_assert_no_fit(id, queue, SL_PENDING_EXCEEDS_MAX_QUOTA);
    sl_flavors_counts[0] = 1;
    sl_flavors_counts[1] = 9; /* no more than the spec says */
    sl_flavors_assign_counts(id, queue, fx_now);
    assert_int_equal(sl_assignment.mode, SL_MODE_FIT);
    assert_int_equal(sl_assignment.counts[0], 1);
    assert_int_equal(sl_assignment.counts[1], 1);
    assert_int_equal(sl_assignment.choices[0].amount, 2);
    assert_int_equal(sl_assignment.needs[0].amount, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FL_TEST(test_flavors_first_that_fits_is_taken),
        FL_TEST(test_flavors_more_than_could_ever_be_exceeds_max_quota),
        FL_TEST(test_flavors_reason_is_the_mildest_over_flavors),
        FL_TEST(test_flavors_reason_is_the_gravest_over_resource_groups),
        FL_TEST(test_flavors_excluded_ones_are_passed_over),
        FL_TEST(test_flavors_that_are_not_named_are_passed_over),
        FL_TEST(test_flavors_missing_flavor_is_said_so),
        FL_TEST(test_flavors_resource_not_offered_matches_nothing),
        FL_TEST(test_flavors_one_flavor_serves_all_resources_of_a_group),
        FL_TEST(test_flavors_groups_choose_separately),
        FL_TEST(test_flavors_resource_of_two_groups_gets_the_later_one),
        FL_TEST(test_flavors_resources_are_looked_at_in_their_order),
        FL_TEST(test_flavors_earlier_pod_sets_count_as_used),
        FL_TEST(test_flavors_borrowing_reaches_up_two_levels),
        FL_TEST(test_flavors_borrowing_limit_is_the_most_there_can_be),
        FL_TEST(test_flavors_borrowing_stops_the_search_by_default),
        FL_TEST(test_flavors_try_next_takes_the_lower_borrow_height),
        FL_TEST(test_flavors_pods_are_counted_where_the_queue_offers_them),
        FL_TEST(test_flavors_asking_for_nothing_fits_after_a_quota_cut),
        FL_TEST(test_flavors_without_pod_sets_nothing_fits),
        FL_TEST(test_flavors_sums_beyond_the_largest_amount_never_fit),
        FL_TEST(test_flavors_notes_beyond_the_room_are_counted),
        FL_TEST(test_flavors_more_cells_than_claims_is_said_so),
        FL_TEST(test_flavors_reduced_counts_ask_for_less),
        FL_TEST(test_flavors_undeclared_resources_may_be_ignored),
        FL_TEST(test_flavors_pod_set_that_asks_for_nothing_fits),
        FL_TEST(test_flavors_first_pod_set_without_a_place_ends_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
