/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment with topology: which flavors pod sets may be given that ask for topology, and
 * those that do not, and what is said of the others. */
#include "places_world.h"

/* A queue that offers cpu of plain SPOT, then of the tree's flavor. */
static sl_qnode_id mixed_queue(struct pw_tree t)
{
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 100);
    (void)fx_offer(queue, t.tree, CPU, 100);
    return queue;
}

static void assign(sl_workload_id id, sl_qnode_id queue)
{
    sl_flavors_assign(id, queue, fx_now);
}

static sl_workload_id asking(enum sl_together together, sl_level_id level)
{
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, 1);
    pw_ask(id, together, level, 1);
    return id;
}

static void assert_detail(uint32_t index, enum sl_miss miss, sl_flavor_id flavor)
{
    assert_true(index < sl_assignment.detail_count);
    assert_int_equal(sl_assignment.details[index].miss, miss);
    assert_int_equal(sl_assignment.details[index].flavor, flavor);
}

static void test_flavors_topology_who_asks_gets_the_flavor_that_has_one(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    assign(asking(SL_TOGETHER_PREFERRED, LEVEL_RACK), mixed_queue(t));
    assert_int_equal(sl_assignment.mode, SL_MODE_FIT);
    assert_int_equal(sl_assignment.choices[0].flavor, t.tree);
    assert_int_equal(sl_assignment.tree[0], t.tree);
    assert_int_equal(sl_topology_plan.set_count, 1);
    assert_int_equal(sl_topology_plan.row_count, 1);
}

static void test_flavors_topology_who_does_not_ask_gets_the_flavor_without(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, -1);
    (void)fx_offer(queue, t.tree, CPU, 100);
    (void)fx_offer(queue, SPOT, CPU, 0);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, 1);
    assign(id, queue);
    assert_int_equal(sl_assignment.mode, SL_MODE_NO_FIT);
    assert_detail(0, SL_MISS_ONLY_TOPOLOGY, t.tree);
    assert_int_equal(sl_topology_plan.set_count, 0);
}

static void test_flavors_topology_queue_with_only_such_flavors_places_everybody(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 3, CPU, 1);
    assign(id, pw_queue(SL_NO_ID, t, 100));
    assert_int_equal(sl_assignment.mode, SL_MODE_FIT);
    assert_int_equal(sl_assignment.tree[0], t.tree);
    assert_int_equal(sl_topology_plan.rows[0].count, 3);
}

static void test_flavors_topology_flavors_without_it_or_the_level_are_named(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    assign(asking(SL_TOGETHER_REQUIRED, LEVEL_OTHER), mixed_queue(t));
    assert_int_equal(sl_assignment.mode, SL_MODE_NO_FIT);
    assert_int_equal(sl_assignment.reason, SL_PENDING_NO_MATCHING_FLAVOR);
    assert_detail(0, SL_MISS_NO_TOPOLOGY, SPOT);
    assert_detail(1, SL_MISS_NO_LEVEL, t.tree);
}

static void test_flavors_topology_missing_tree_is_named(void **state)
{
    (void)state;
    struct pw_tree t = {pw_next_tree++, 0};
    struct sl_tree_levels none = {0};
    assert_int_equal(sl_trees_configure(t.tree, none, false), SL_OK);
    assign(asking(SL_TOGETHER_UNCONSTRAINED, SL_NO_ID), pw_queue(SL_NO_ID, t, 100));
    assert_int_equal(sl_assignment.mode, SL_MODE_NO_FIT);
    assert_detail(0, SL_MISS_NO_TREE, t.tree);
}

static void test_flavors_topology_asking_for_no_level_at_all_matches_nothing(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    assign(asking(SL_TOGETHER_UNASKED, SL_NO_ID), pw_queue(SL_NO_ID, t, 100));
    assert_detail(0, SL_MISS_NO_LEVEL, t.tree);
}

/* What is derived from requests, and no pod asks for itself, may come from any flavor. */
static void test_flavors_topology_quota_alone_may_come_from_a_flavor_without(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_cell_id cell = fx_quota(queue, SPOT, MEMORY, 100, SL_AMOUNT_UNLIMITED);
    assert_int_equal(sl_offers_add(queue, 1, cell), SL_OK);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, 1);
    assert_int_equal(sl_requests_add(id, MEMORY, 5), SL_OK);
    pw_ask(id, SL_TOGETHER_REQUIRED, LEVEL_HOST, 1);
    assign(id, queue);
    assert_int_equal(sl_assignment.mode, SL_MODE_FIT);
    assert_int_equal(sl_assignment.choice_count, 2);
    assert_int_equal(sl_assignment.tree[0], t.tree);
}

static void test_flavors_topology_two_trees_for_one_pod_set_do_not_fit(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    struct pw_tree u = pw_tree(1, 1, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_cell_id cell = fx_quota(queue, u.tree, MEMORY, 100, SL_AMOUNT_UNLIMITED);
    assert_int_equal(sl_offers_add(queue, 1, cell), SL_OK);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, 1);
    assert_int_equal(sl_requests_add(id, MEMORY, 5), SL_OK);
    assign(id, queue);
    assert_int_equal(sl_assignment.mode, SL_MODE_NO_FIT);
    assert_int_equal(sl_assignment.topology_failure.miss, SL_PLACEMENT_NO_TREE);
    assert_int_equal(sl_assignment.tree[0], SL_NO_ID);
}

/* A leader that asks for nothing goes where its group goes. */
static void test_flavors_topology_leader_without_requests_goes_along(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id id = fx_create();
    struct sl_topology_request leader = {.together = SL_TOGETHER_REQUIRED,
                                         .level = LEVEL_RACK,
                                         .asked = true,
                                         .mask = SL_NO_ID,
                                         .rank_group = 1};
    struct sl_topology_request workers = leader;
    workers.request_count = 1;
    workers.requests[0] = (struct sl_measure_amount){MEASURE_CPU, 1};
    assert_int_equal(sl_requests_add_pod_set(id, 1), SL_OK);
    assert_int_equal(sl_requests_set_group(id, 1), SL_OK);
    assert_int_equal(sl_topology_request_set(id, leader), SL_OK);
    fx_pod_set(id, 3, CPU, 1);
    assert_int_equal(sl_requests_set_group(id, 1), SL_OK);
    assert_int_equal(sl_topology_request_set(id, workers), SL_OK);
    assign(id, queue);
    assert_int_equal(sl_assignment.mode, SL_MODE_FIT);
    assert_int_equal(sl_assignment.tree[0], t.tree);
    assert_int_equal(sl_assignment.tree[1], t.tree);
    assert_int_equal(sl_assignment.choices[0].amount, 0);
    assert_int_equal(sl_assignment.need_count, 1);
    assert_int_equal(sl_topology_plan.set_count, 2);
}

static void test_flavors_topology_no_place_counts_less_than_too_little_quota(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 1, 4);
    struct pw_tree u = pw_tree(1, 1, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 2);
    (void)fx_offer(queue, u.tree, CPU, 100);
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, 9);
    pw_ask(id, SL_TOGETHER_REQUIRED, LEVEL_HOST, 9);
    assign(id, queue);
    assert_int_equal(sl_assignment.mode, SL_MODE_NO_FIT);
    assert_int_equal(sl_assignment.reason, SL_PENDING_TOPOLOGY_FAILED);
    assert_int_equal(sl_assignment.attempts[0].reason, SL_PENDING_EXCEEDS_MAX_QUOTA);
    assert_int_equal(sl_assignment.attempts[1].mode, SL_MODE_NO_FIT);
    assert_int_equal(sl_assignment.attempts[1].reason, SL_PENDING_TOPOLOGY_FAILED);
}

/* Only what asks the same of the topology is parked together. */
static void test_flavors_topology_shapes_differ_by_what_is_asked(void **state)
{
    (void)state;
    struct pw_tree t = pw_tree(1, 2, 4);
    sl_qnode_id queue = pw_queue(SL_NO_ID, t, 100);
    sl_workload_id narrow = pw_workload(queue, 0, 4, 2, LEVEL_HOST);
    sl_workload_id same = pw_workload(queue, 0, 4, 2, LEVEL_HOST);
    sl_workload_id wide = pw_workload(queue, 0, 4, 2, LEVEL_RACK);
    assert_int_equal(fx_cycle(), 0);
    fx_assert_place(narrow, SL_PLACE_INADMISSIBLE);
    fx_assert_place(same, SL_PLACE_INADMISSIBLE);
    fx_assert_place(wide, SL_PLACE_HEAP);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(wide, SL_PLACE_HOLDING);
}

static void test_flavors_topology_offers_are_listed_by_flavor_until_cleared(void **state)
{
    (void)state;
    sl_flavor_id flavor = pw_next_tree++;
    sl_qnode_id one = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, -1);
    sl_qnode_id two = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, -1);
    sl_cell_id a = fx_offer(one, flavor, CPU, 1);
    sl_cell_id b = fx_offer(one, flavor, MEMORY, 1);
    sl_cell_id c = fx_offer(two, flavor, CPU, 1);
    uint32_t count = 0;
    for (sl_cell_id i = sl_offers_first_of(flavor); i != SL_NO_ID; i = sl_offers_next_of(i)) {
        assert_true(i == a || i == b || i == c);
        count++;
    }
    assert_int_equal(count, 3);
    sl_offers_clear(one);
    assert_int_equal(sl_offers_first_of(flavor), c);
    assert_int_equal(sl_offers_next_of(c), SL_NO_ID);
    sl_offers_clear(two);
    assert_int_equal(sl_offers_first_of(flavor), SL_NO_ID);
    assert_int_equal(sl_offers_first_of(SL_USED_FLAVORS_MAX), SL_NO_ID);
}

static void test_flavors_topology_delay_ends_with_the_offer(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 1);
    sl_cell_id cell = sl_offers_first(queue);
    sl_offers_set_delayed(cell, true);
    assert_true(sl_offers_is_delayed(cell));
    sl_offers_clear(queue);
    assert_false(sl_offers_is_delayed(cell));
    sl_offers_set_delayed(cell, true); /* it is offered by nobody */
    assert_int_equal(sl_offers_add(queue, 0, cell), SL_OK);
    assert_false(sl_offers_is_delayed(cell));
    sl_offers_set_delayed(SL_NO_ID, true);
    assert_false(sl_offers_is_delayed(SL_NO_ID));
}

static void test_flavors_topology_resources_know_their_measure(void **state)
{
    (void)state;
    assert_int_equal(sl_offers_measure(77), SL_NO_ID);
    sl_offers_set_measure(77, 5);
    assert_int_equal(sl_offers_measure(77), 5);
    sl_offers_set_measure(77, SL_NO_ID);
    assert_int_equal(sl_offers_measure(77), SL_NO_ID);
    sl_offers_set_measure(SL_RESOURCES_MAX, 5);
    assert_int_equal(sl_offers_measure(SL_RESOURCES_MAX), SL_NO_ID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_flavors_topology_who_asks_gets_the_flavor_that_has_one),
        PW_TEST(test_flavors_topology_who_does_not_ask_gets_the_flavor_without),
        PW_TEST(test_flavors_topology_queue_with_only_such_flavors_places_everybody),
        PW_TEST(test_flavors_topology_flavors_without_it_or_the_level_are_named),
        PW_TEST(test_flavors_topology_missing_tree_is_named),
        PW_TEST(test_flavors_topology_asking_for_no_level_at_all_matches_nothing),
        PW_TEST(test_flavors_topology_quota_alone_may_come_from_a_flavor_without),
        PW_TEST(test_flavors_topology_two_trees_for_one_pod_set_do_not_fit),
        PW_TEST(test_flavors_topology_leader_without_requests_goes_along),
        PW_TEST(test_flavors_topology_no_place_counts_less_than_too_little_quota),
        PW_TEST(test_flavors_topology_shapes_differ_by_what_is_asked),
        PW_TEST(test_flavors_topology_offers_are_listed_by_flavor_until_cleared),
        PW_TEST(test_flavors_topology_delay_ends_with_the_offer),
        PW_TEST(test_flavors_topology_resources_know_their_measure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
