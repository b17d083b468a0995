/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What queues offer and what workloads ask for: lists, refusals, pools that come back. */
#include "fixture.h"

#include "policy/requests/shape.h"

static void test_offers_keep_the_order_in_which_they_were_added(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_node(SL_NO_ID);
    sl_cell_id a = fx_offer(queue, SPOT, CPU, 1);
    sl_cell_id b = fx_offer(queue, ON_DEMAND, CPU, 1);
    sl_cell_id c = fx_quota(queue, SPOT, MEMORY, 1, 0);
    assert_int_equal(sl_offers_add(queue, 3, c), SL_OK);
    assert_int_equal(sl_offers_first(queue), a);
    assert_int_equal(sl_offers_next(a), b);
    assert_int_equal(sl_offers_next(b), c);
    assert_int_equal(sl_offers_next(c), SL_NO_ID);
    assert_int_equal(sl_offers_group_of(c), 3);
    assert_true(sl_offers_valid());
}

static void test_offers_refusals_leave_the_list_alone(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_node(SL_NO_ID);
    sl_qnode_id other = fx_node(SL_NO_ID);
    sl_cell_id cell = fx_offer(queue, SPOT, CPU, 1);
    sl_cell_id second = fx_quota(queue, SPOT, MEMORY, 1, 0);
    assert_int_equal(sl_offers_add(queue, 0, cell), SL_REFUSED_IN_USE);
    assert_int_equal(sl_offers_add(other, 0, second), SL_REFUSED_PLAN_USAGE);
    assert_int_equal(sl_offers_add(queue, SL_GROUPS_MAX, second), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_offers_add(SL_QNODES_MAX, 0, second), SL_REFUSED_NO_QNODE);
    assert_int_equal(sl_offers_next(cell), SL_NO_ID);
    struct sl_rules rules = {SL_STRICT_FIFO, SL_TRY_NEXT_FLAVOR, SL_MAY_STOP_SEARCH,
                             SL_PREEMPTION_OVER_BORROWING, false};
    assert_int_equal(sl_offers_set_rules(SL_QNODES_MAX, rules), SL_REFUSED_NO_QNODE);
}

static void test_offers_rules_never_set_are_the_defaults(void **state)
{
    (void)state;
    sl_qnode_id node = fx_node(SL_NO_ID);
    sl_qnode_id asked[] = {node, SL_QNODES_MAX};
    for (size_t i = 0; i < 2; i++) {
        struct sl_rules rules = sl_offers_rules(asked[i]);
        assert_int_equal(rules.strategy, SL_BEST_EFFORT_FIFO);
        assert_int_equal(rules.when_can_borrow, SL_MAY_STOP_SEARCH);
        assert_int_equal(rules.when_can_preempt, SL_TRY_NEXT_FLAVOR);
        assert_int_equal(rules.preference, SL_BORROWING_OVER_PREEMPTION);
    }
    struct sl_rules set = {SL_STRICT_FIFO, SL_TRY_NEXT_FLAVOR, SL_MAY_STOP_SEARCH,
                           SL_PREEMPTION_OVER_BORROWING, false};
    assert_int_equal(sl_offers_set_rules(node, set), SL_OK);
    assert_int_equal(sl_offers_rules(node).when_can_preempt, SL_MAY_STOP_SEARCH);
    assert_int_equal(sl_offers_rules(node).preference, SL_PREEMPTION_OVER_BORROWING);
}

static void test_offers_cleared_may_be_offered_again(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_node(SL_NO_ID);
    sl_cell_id a = fx_offer(queue, SPOT, CPU, 1);
    sl_cell_id b = fx_offer(queue, ON_DEMAND, CPU, 1);
    sl_offers_clear(queue);
    assert_int_equal(sl_offers_first(queue), SL_NO_ID);
    assert_int_equal(sl_offers_group_of(a), SL_NO_ID);
    assert_int_equal(sl_offers_add(queue, 1, b), SL_OK);
    assert_int_equal(sl_offers_first(queue), b);
    assert_int_equal(sl_offers_next(b), SL_NO_ID);
}

static void test_demand_says_what_was_put_in(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    fx_pod_set(id, 3, CPU, 500);
    assert_int_equal(sl_requests_add(id, MEMORY, 7), SL_OK);
    fx_pod_set(id, 0, CPU, SL_AMOUNT_MAX);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_TAINT), SL_OK);
    uint32_t set = sl_requests_first_pod_set(id);
    uint32_t request = sl_requests_first(set);
    assert_int_equal(sl_requests_set_count(id), 2);
    assert_int_equal(sl_requests_pod_count(set), 3);
    assert_int_equal(sl_requests_resource(request), CPU);
    assert_int_equal(sl_requests_amount(request), 1500);
    request = sl_requests_next(request);
    assert_int_equal(sl_requests_amount(request), 21);
    assert_int_equal(sl_requests_next(request), SL_NO_ID);
    assert_int_equal(sl_requests_excludes(set, SPOT), SL_EXCLUDED_NOT);
    set = sl_requests_next_pod_set(set);
    assert_int_equal(sl_requests_amount(sl_requests_first(set)), 0);
    assert_int_equal(sl_requests_excludes(set, SPOT), SL_EXCLUDED_TAINT);
    assert_int_equal(sl_requests_excludes(set, ON_DEMAND), SL_EXCLUDED_NOT);
    assert_int_equal(sl_requests_next_pod_set(set), SL_NO_ID);
}

static void test_demand_bad_arguments_are_refused(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    assert_int_equal(sl_requests_add(id, CPU, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_TAINT),
                     SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_requests_add_pod_set(id, (uint32_t)INT32_MAX + 1u),
                     SL_REFUSED_BAD_ARGUMENT);
    fx_pod_set(id, 2, CPU, 1);
    assert_int_equal(sl_requests_add(id, CPU, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_requests_add(id, SL_NO_ID, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_NOT), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_requests_add_pod_set(SL_WORKLOADS_MAX, 1), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_requests_add(SL_NO_ID, CPU, 1), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_requests_add_exclusion(SL_NO_ID, SPOT, SL_EXCLUDED_TAINT),
                     SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_requests_rows_used(), 1);
}

static void test_demand_least_counts_groups_and_amounts_per_pod(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    fx_pod_set(id, 3, CPU, 500);
    assert_int_equal(sl_requests_set_min_count(id, 2), SL_OK);
    assert_int_equal(sl_requests_set_group(id, 0), SL_OK);
    fx_pod_set(id, 0, CPU, 7);
    uint32_t set = sl_requests_first_pod_set(id);
    assert_int_equal(sl_requests_min_count(set), 2);
    assert_int_equal(sl_requests_group(set), 0);
    assert_int_equal(sl_requests_per_pod(sl_requests_first(set)), 500);
    set = sl_requests_next_pod_set(set);
    assert_int_equal(sl_requests_min_count(set), 0);
    assert_int_equal(sl_requests_group(set), SL_NO_ID);
    assert_int_equal(sl_requests_per_pod(sl_requests_first(set)), 7);
    assert_int_equal(sl_requests_set_group(id, 5), SL_OK);
    assert_int_equal(sl_requests_set_group(id, SL_NO_ID), SL_OK);
    assert_int_equal(sl_requests_group(set), SL_NO_ID);
    sl_requests_clear(id);
    fx_pod_set(id, 4, CPU, 1); /* records come back as new */
    set = sl_requests_first_pod_set(id);
    assert_int_equal(sl_requests_min_count(set), 4);
    assert_int_equal(sl_requests_group(set), SL_NO_ID);
    assert_int_equal(sl_requests_min_count(SL_NO_ID), 0);
    assert_int_equal(sl_requests_group(SL_NO_ID), SL_NO_ID);
    assert_int_equal(sl_requests_per_pod(SL_NO_ID), 0);
}

static void test_demand_fingerprints_are_of_the_pod_set_added_last(void **state)
{
    (void)state;
    const uint64_t number = UINT64_MAX - 1;
    sl_workload_id id = fx_create();
    assert_int_equal(sl_requests_set_fingerprint(id, number), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_requests_set_fingerprint(SL_NO_ID, number), SL_REFUSED_UNKNOWN_WORKLOAD);
    fx_pod_set(id, 3, CPU, 500);
    fx_pod_set(id, 1, CPU, 7);
    assert_int_equal(sl_requests_set_fingerprint(id, number), SL_OK);
    uint32_t set = sl_requests_first_pod_set(id);
    assert_true(sl_requests_fingerprint(set) == 0);
    assert_true(sl_requests_fingerprint(sl_requests_next_pod_set(set)) == number);
    assert_true(sl_requests_fingerprint(SL_NO_ID) == 0);
    sl_requests_clear(id);
    fx_pod_set(id, 3, CPU, 500);
    fx_pod_set(id, 1, CPU, 7);
    set = sl_requests_first_pod_set(id); /* records come back as new */
    assert_true(sl_requests_fingerprint(set) == 0);
    assert_true(sl_requests_fingerprint(sl_requests_next_pod_set(set)) == 0);
}

static void test_demand_bad_least_counts_and_groups_are_refused(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    assert_int_equal(sl_requests_set_min_count(id, 0), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_requests_set_group(id, 1), SL_REFUSED_BAD_ARGUMENT);
    fx_pod_set(id, 2, CPU, 1);
    assert_int_equal(sl_requests_set_min_count(id, 3), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_requests_min_count(sl_requests_first_pod_set(id)), 2);
    assert_int_equal(sl_requests_set_min_count(SL_NO_ID, 0), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_requests_set_group(SL_NO_ID, 0), SL_REFUSED_UNKNOWN_WORKLOAD);
}

static void test_demand_amounts_beyond_the_maximum_are_refused(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    assert_int_equal(sl_requests_add_pod_set(id, 2), SL_OK);
    assert_int_equal(sl_requests_add(id, CPU, -1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_requests_add(id, CPU, SL_AMOUNT_MAX / 2 + 1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_requests_add(id, CPU, SL_AMOUNT_MAX / 2), SL_OK);
    assert_int_equal(sl_requests_add_pod_set(id, 0), SL_OK);
    assert_int_equal(sl_requests_add(id, CPU, SL_AMOUNT_MAX + 1), SL_REFUSED_AMOUNT);
}

static void test_demand_as_many_pod_sets_and_requests_as_allowed_and_no_more(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    for (uint32_t i = 0; i < SL_POD_SETS_MAX; i++) {
        assert_int_equal(sl_requests_add_pod_set(id, 1), SL_OK);
    }
    assert_int_equal(sl_requests_add_pod_set(id, 1), SL_REFUSED_BAD_ARGUMENT);
    for (uint32_t i = 0; i < SL_REQUESTS_MAX; i++) {
        assert_int_equal(sl_requests_add(id, i, 1), SL_OK);
    }
    assert_int_equal(sl_requests_add(id, 99, 1), SL_REFUSED_BAD_ARGUMENT);
}

static void test_demand_cleared_gives_its_records_back(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, 1);
    uint32_t set = sl_requests_first_pod_set(id);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_MISSING), SL_OK);
    sl_requests_clear(id);
    assert_int_equal(sl_requests_sets_used(), 0);
    assert_int_equal(sl_requests_exclusions_used(), 0);
    assert_int_equal(sl_requests_first_pod_set(id), SL_NO_ID);
    fx_pod_set(id, 1, CPU, 1);
    assert_int_equal(sl_requests_first_pod_set(id), set);
    assert_int_equal(sl_requests_excludes(set, SPOT), SL_EXCLUDED_NOT);
}

static void test_demand_of_two_exclusions_the_first_counts(void **state)
{
    (void)state;
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, 1);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_TAINT), SL_OK);
    assert_int_equal(sl_requests_add_exclusion(id, SPOT, SL_EXCLUDED_AFFINITY), SL_OK);
    assert_int_equal(sl_requests_excludes(sl_requests_first_pod_set(id), SPOT), SL_EXCLUDED_TAINT);
    assert_int_equal(sl_requests_exclusions_used(), 1);
}

static sl_workload_id shaped(uint32_t pods, int64_t cpu, sl_flavor_id a, sl_flavor_id b)
{
    sl_workload_id id = fx_create();
    fx_pod_set(id, pods, CPU, cpu);
    assert_int_equal(sl_requests_add_exclusion(id, a, SL_EXCLUDED_TAINT), SL_OK);
    assert_int_equal(sl_requests_add_exclusion(id, b, SL_EXCLUDED_TAINT), SL_OK);
    return id;
}

static void test_shape_tells_what_asks_for_the_same(void **state)
{
    (void)state;
    sl_workload_id a = shaped(2, 10, SPOT, ON_DEMAND);
    sl_workload_id same = shaped(2, 10, ON_DEMAND, SPOT);
    assert_true(sl_shape_equal(a, same));
    assert_int_equal(sl_shape_hash(a), sl_shape_hash(same));
    assert_false(sl_shape_equal(a, shaped(1, 20, SPOT, ON_DEMAND)));
    assert_false(sl_shape_equal(a, shaped(2, 11, SPOT, ON_DEMAND)));
    assert_false(sl_shape_equal(a, shaped(2, 10, SPOT, SPOT)));
    sl_workload_id longer = shaped(2, 10, SPOT, ON_DEMAND);
    assert_int_equal(sl_requests_add(longer, MEMORY, 1), SL_OK);
    assert_false(sl_shape_equal(a, longer));
    assert_false(sl_shape_equal(longer, a));
    fx_pod_set(same, 1, CPU, 1);
    assert_false(sl_shape_equal(a, same));
}

static void test_shape_tells_fingerprints_apart(void **state)
{
    (void)state;
    sl_workload_id a = shaped(2, 10, SPOT, ON_DEMAND);
    sl_workload_id b = shaped(2, 10, SPOT, ON_DEMAND);
    assert_int_equal(sl_requests_set_fingerprint(a, 1), SL_OK);
    assert_false(sl_shape_equal(a, b));
    assert_true(sl_shape_hash(a) != sl_shape_hash(b));
    assert_int_equal(sl_requests_set_fingerprint(b, 1), SL_OK);
    assert_true(sl_shape_equal(a, b));
    assert_true(sl_shape_hash(a) == sl_shape_hash(b));
    assert_int_equal(sl_requests_set_fingerprint(b, (uint64_t)1 << 63), SL_OK);
    assert_false(sl_shape_equal(a, b));
}

static sl_workload_id prioritized(int32_t priority, uint32_t min_count, uint32_t group)
{
    sl_workload_id id = fx_create();
    fx_pod_set(id, 4, CPU, 1);
    assert_int_equal(sl_requests_set_min_count(id, min_count), SL_OK);
    assert_int_equal(sl_requests_set_group(id, group), SL_OK);
    sl_order_set(id, fx_key(priority, 5, id));
    return id;
}

static void test_shape_tells_priorities_least_counts_and_groups_apart(void **state)
{
    (void)state;
    sl_workload_id a = prioritized(-3, 2, 1);
    sl_workload_id others[] = {prioritized(3, 2, 1), prioritized(-3, 3, 1), prioritized(-3, 2, 2),
                               prioritized(-3, 2, SL_NO_ID)};
    assert_true(sl_shape_equal(a, prioritized(-3, 2, 1)));
    assert_true(sl_shape_hash(a) == sl_shape_hash(prioritized(-3, 2, 1)));
    for (size_t i = 0; i < 4; i++) {
        assert_false(sl_shape_equal(a, others[i]));
        assert_false(sl_shape_hash(a) == sl_shape_hash(others[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_offers_keep_the_order_in_which_they_were_added),
        FX_TEST(test_offers_refusals_leave_the_list_alone),
        FX_TEST(test_offers_rules_never_set_are_the_defaults),
        FX_TEST(test_offers_cleared_may_be_offered_again),
        FX_TEST(test_demand_says_what_was_put_in),
        FX_TEST(test_demand_bad_arguments_are_refused),
        FX_TEST(test_demand_least_counts_groups_and_amounts_per_pod),
        FX_TEST(test_demand_fingerprints_are_of_the_pod_set_added_last),
        FX_TEST(test_demand_bad_least_counts_and_groups_are_refused),
        FX_TEST(test_demand_amounts_beyond_the_maximum_are_refused),
        FX_TEST(test_demand_as_many_pod_sets_and_requests_as_allowed_and_no_more),
        FX_TEST(test_demand_cleared_gives_its_records_back),
        FX_TEST(test_demand_of_two_exclusions_the_first_counts),
        FX_TEST(test_shape_tells_what_asks_for_the_same),
        FX_TEST(test_shape_tells_fingerprints_apart),
        FX_TEST(test_shape_tells_priorities_least_counts_and_groups_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
