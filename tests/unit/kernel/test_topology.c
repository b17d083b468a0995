/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Domains, rooms, the form of a plan and what it needs: one test per refusal. */
#include "topology_fixture.h"

static int open_all(void **state)
{
    (void)state;
    open_world();
    plan_for(5);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    sl_topology_promise_clear();
    assert_true(sl_topology_valid());
    close_world();
    assert_true(sl_topology_valid());
    return 0;
}

static void test_topology_domain_knows_its_ancestors(void **state)
{
    (void)state;
    assert_true(sl_domain_is_open(NODE + 5));
    assert_int_equal(sl_domain_parent(NODE + 5), RACK + 2);
    assert_int_equal(sl_domain_parent(BLOCK), SL_NO_ID);
    assert_int_equal(sl_domain_depth(NODE + 5), 2);
    assert_int_equal(sl_domain_site(NODE + 5), 5);
    assert_int_equal(sl_domain_site(RACK), SL_NO_ID);
    assert_int_equal(sl_domain_tree(NODE + 5), TREE);
    assert_int_equal(sl_domain_above(NODE + 5, 0), BLOCK + 1);
    assert_int_equal(sl_domain_above(NODE + 5, 1), RACK + 2);
    assert_int_equal(sl_domain_above(NODE + 5, 2), NODE + 5);
    assert_int_equal(sl_domain_above(NODE + 5, 3), SL_NO_ID);
}

static void test_topology_unknown_domain_answers_nothing(void **state)
{
    (void)state;
    static const sl_domain_id unknown[] = {7, SL_DOMAINS_MAX, SL_NO_ID};
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(sl_domain_is_open(unknown[i]));
        assert_int_equal(sl_domain_parent(unknown[i]), SL_NO_ID);
        assert_int_equal(sl_domain_depth(unknown[i]), 0);
        assert_int_equal(sl_domain_site(unknown[i]), SL_NO_ID);
        assert_int_equal(sl_domain_tree(unknown[i]), SL_NO_ID);
        assert_int_equal(sl_domain_above(unknown[i], 0), SL_NO_ID);
    }
}

static void test_topology_open_bad_argument_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_domain_open(SL_DOMAINS_MAX, TREE, SL_NO_ID, SL_NO_ID),
                     SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_domain_open(7, SL_NO_ID, SL_NO_ID, SL_NO_ID), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_domain_open(7, TREE, SL_NO_ID, SL_SITES_MAX), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_domain_open(7, TREE, 8, SL_NO_ID), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_domain_open(7, TREE, SL_DOMAINS_MAX, SL_NO_ID), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_domain_open(7, OTHER_TREE, RACK, SL_NO_ID), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_domain_open(7, TREE, NODE, SL_NO_ID), SL_REFUSED_BAD_ARGUMENT);
    assert_false(sl_domain_is_open(7));
}

static void test_topology_open_twice_is_in_use(void **state)
{
    (void)state;
    assert_int_equal(sl_domain_open(RACK, TREE, BLOCK, SL_NO_ID), SL_REFUSED_IN_USE);
}

static void test_topology_open_too_deep_is_refused(void **state)
{
    (void)state;
    sl_domain_id parent = SL_NO_ID;
    for (uint32_t k = 0; k < SL_DEPTHS_MAX; k++) {
        assert_int_equal(sl_domain_open(40 + k, OTHER_TREE, parent, SL_NO_ID), SL_OK);
        parent = 40 + k;
    }
    assert_int_equal(sl_domain_open(60, OTHER_TREE, parent, SL_NO_ID), SL_REFUSED_BAD_ARGUMENT);
    for (uint32_t k = SL_DEPTHS_MAX; k > 0; k--) {
        assert_int_equal(sl_domain_close(40 + k - 1), SL_OK);
    }
}

static void test_topology_close_not_open_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_domain_close(7), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_domain_close(SL_DOMAINS_MAX), SL_REFUSED_BAD_ARGUMENT);
}

static void test_topology_close_with_children_is_in_use(void **state)
{
    (void)state;
    assert_int_equal(sl_domain_close(RACK), SL_REFUSED_IN_USE);
}

static void test_topology_capacity_out_of_bounds_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_site_set_capacity(SL_SITES_MAX, CPU, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_site_set_capacity(0, SL_MEASURES_MAX, 1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_site_set_capacity(0, CPU, -1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_site_set_capacity(0, CPU, SL_AMOUNT_MAX + 1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_site_capacity_of(0, CPU), ROOM_CPU);
    assert_int_equal(sl_site_capacity_of(SL_SITES_MAX, CPU), 0);
    assert_int_equal(sl_site_used_of(0, SL_MEASURES_MAX), 0);
    assert_int_equal(sl_site_promised_of(SL_NO_ID, SL_NO_ID), 0);
}

/* Three pods on nodes 0 and 1 of rack 0, 40 cpu each. */
static struct sl_topology_set *good_plan(void)
{
    struct sl_topology_set *set = plan_set(0, 40);
    plan_row(set, NODE + 0, 2);
    plan_row(set, NODE + 1, 1);
    assert_int_equal(sl_topology_check(), SL_OK);
    return set;
}

static void test_topology_check_of_no_sets_is_accepted(void **state)
{
    (void)state;
    assert_int_equal(sl_topology_check(), SL_OK);
    sl_topology_plan.row_count = 1;
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
}

static void test_topology_check_has_no_effect(void **state)
{
    (void)state;
    (void)good_plan();
    assert_int_equal(sl_site_used_of(0, CPU), 0);
    assert_int_equal(sl_booking_count(5), 0);
    assert_int_equal(sl_topology_assignment_count(5), 0);
    assert_int_equal(sl_topology_check(), SL_OK);
}

static void test_topology_unknown_workload_is_refused(void **state)
{
    (void)state;
    (void)good_plan();
    sl_topology_plan.workload = SL_WORKLOADS_MAX;
    assert_int_equal(sl_topology_check(), SL_REFUSED_UNKNOWN_WORKLOAD);
}

static void test_topology_plan_out_of_form_is_refused(void **state)
{
    (void)state;
    static struct sl_topology_plan good;
    struct sl_topology_set *set = good_plan();
    good = sl_topology_plan;
#define BROKEN(change)                                                                             \
    do {                                                                                           \
        sl_topology_plan = good;                                                                   \
        change;                                                                                    \
        assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);                            \
        assert_int_equal(sl_topology_promise(), SL_REFUSED_BAD_ARGUMENT);                          \
    } while (0)
    BROKEN(sl_topology_plan.set_count = SL_TOPOLOGY_SETS_MAX + 1);
    BROKEN(sl_topology_plan.row_count = SL_TOPOLOGY_ROWS_MAX + 1);
    BROKEN(sl_topology_plan.row_count = 3);
    BROKEN(set->count = 0);
    BROKEN(set->count = 4);
    BROKEN(set->first_row = 1);
    BROKEN(set->row_count = 1);
    BROKEN(set->row_count = 3);
    BROKEN(set->tree = OTHER_TREE);
    BROKEN(set->tree = SL_NO_ID);
    BROKEN(set->within = RACK + 1);
    BROKEN(set->within = 7);
    BROKEN(set->within = SL_DOMAINS_MAX);
    BROKEN(sl_topology_plan.rows[0].domain = SL_DOMAINS_MAX);
    BROKEN(sl_topology_plan.rows[0].domain = RACK);
    BROKEN(sl_topology_plan.rows[0].domain = 7);
    BROKEN(sl_topology_plan.rows[0].count = 0);
    BROKEN(sl_topology_plan.rows[0].count = 3);
    BROKEN(set->request_count = SL_TOPOLOGY_REQUESTS_MAX + 1);
    BROKEN(set->requests[0].measure = SL_MEASURES_MAX);
    BROKEN(set->requests[0].per_pod = -1);
    BROKEN(set->requests[0].per_pod = SL_AMOUNT_MAX / 3 + 1);
    BROKEN(set->request_count = 2);
    BROKEN(sl_topology_plan.set_count = 2);
    BROKEN(set->layer_count = SL_LAYERS_MAX + 1);
#undef BROKEN
}

static void test_topology_pod_sets_out_of_order_are_refused(void **state)
{
    (void)state;
    struct sl_topology_set *first = plan_set(1, 1);
    plan_row(first, NODE, 1);
    struct sl_topology_set *second = plan_set(2, 1);
    plan_row(second, NODE, 1);
    assert_int_equal(sl_topology_check(), SL_OK);
    second->pod_set = 1;
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
}

static void test_topology_rows_inside_the_required_domain_are_accepted(void **state)
{
    (void)state;
    struct sl_topology_set *set = good_plan();
    static const sl_domain_id within[] = {RACK, BLOCK};
    for (uint32_t i = 0; i < 2; i++) {
        set->within = within[i];
        assert_int_equal(sl_topology_check(), SL_OK);
    }
    plan_row(set, NODE + 7, 1);
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
    set->within = SL_NO_ID;
    assert_int_equal(sl_topology_check(), SL_OK);
}

static void slices(struct sl_topology_set *set, uint32_t depth, uint32_t size)
{
    set->layers[set->layer_count++] = (struct sl_topology_layer){depth, size};
}

static void test_topology_split_slice_is_refused(void **state)
{
    (void)state;
    struct sl_topology_set *set = plan_set(0, 1);
    plan_row(set, NODE + 0, 1);
    plan_row(set, NODE + 1, 1);
    plan_row(set, NODE + 2, 2);
    plan_row(set, NODE + 4, 4);
    slices(set, 1, 2);
    assert_int_equal(sl_topology_check(), SL_OK);
    set->layers[0].depth = 2;
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
    set->layers[0] = (struct sl_topology_layer){0, 4};
    assert_int_equal(sl_topology_check(), SL_OK);
    slices(set, 1, 2);
    assert_int_equal(sl_topology_check(), SL_OK);
    slices(set, 2, 1);
    assert_int_equal(sl_topology_check(), SL_OK);
    set->layers[1].size = 4;
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
}

static void test_topology_layers_out_of_bounds_are_refused(void **state)
{
    (void)state;
    struct sl_topology_set *set = plan_set(0, 1);
    plan_row(set, NODE + 0, 4);
    slices(set, 1, 2);
    slices(set, 2, 2);
    assert_int_equal(sl_topology_check(), SL_OK);
    set->layers[0].size = 3;
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
    set->layers[0].size = 0;
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
    set->layers[0] = (struct sl_topology_layer){SL_DEPTHS_MAX, 2};
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
    set->layers[0] = (struct sl_topology_layer){2, 2};
    set->layers[1] = (struct sl_topology_layer){1, 2};
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
    set->layers[1] = (struct sl_topology_layer){3, 2};
    assert_int_equal(sl_topology_check(), SL_REFUSED_BAD_ARGUMENT);
}

static void test_topology_too_little_room_is_refused(void **state)
{
    (void)state;
    struct sl_topology_set *set = good_plan();
    set->requests[0].per_pod = 51;
    assert_int_equal(sl_topology_check(), SL_REFUSED_CAPACITY);
    set->requests[0].per_pod = 50;
    assert_int_equal(sl_topology_check(), SL_OK);
    set->requests[0].measure = MEMORY;
    assert_int_equal(sl_topology_check(), SL_REFUSED_CAPACITY);
}

static void test_topology_pods_take_room_of_their_own(void **state)
{
    (void)state;
    struct sl_topology_set *set = plan_set(0, 0);
    plan_row(set, NODE, ROOM_PODS);
    assert_int_equal(sl_topology_check(), SL_OK);
    plan_row(set, NODE, 1);
    assert_int_equal(sl_topology_check(), SL_REFUSED_CAPACITY);
}

static void test_topology_sets_share_a_room(void **state)
{
    (void)state;
    struct sl_topology_set *first = plan_set(0, 60);
    plan_row(first, NODE, 1);
    struct sl_topology_set *second = plan_set(1, 40);
    plan_row(second, NODE, 1);
    assert_int_equal(sl_topology_check(), SL_OK);
    second->requests[0].per_pod = 41;
    assert_int_equal(sl_topology_check(), SL_REFUSED_CAPACITY);
}

static void test_topology_amounts_beyond_all_bounds_are_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_site_set_capacity(0, CPU, SL_AMOUNT_MAX), SL_OK);
    struct sl_topology_set *first = plan_set(0, SL_AMOUNT_MAX);
    plan_row(first, NODE, 1);
    assert_int_equal(sl_topology_check(), SL_OK);
    struct sl_topology_set *second = plan_set(1, SL_AMOUNT_MAX);
    plan_row(second, NODE, 1);
    assert_int_equal(sl_topology_check(), SL_REFUSED_CAPACITY);
    second->requests[0].per_pod = 0;
    assert_int_equal(sl_topology_check(), SL_OK);
}

static void test_topology_promise_takes_room_until_cleared(void **state)
{
    (void)state;
    struct sl_topology_set *set = good_plan();
    assert_int_equal(sl_topology_promise(), SL_OK);
    assert_int_equal(sl_site_promised_of(0, CPU), 80);
    assert_int_equal(sl_site_promised_of(0, SL_MEASURE_PODS), 2);
    assert_int_equal(sl_topology_check(), SL_REFUSED_CAPACITY);
    set->requests[0].per_pod = 10;
    assert_int_equal(sl_topology_check(), SL_OK);
    sl_topology_promise_clear();
    assert_int_equal(sl_site_promised_of(0, CPU), 0);
    set->requests[0].per_pod = 40;
    assert_int_equal(sl_topology_check(), SL_OK);
}

static void test_topology_promise_never_exceeds_the_largest_amount(void **state)
{
    (void)state;
    struct sl_topology_set *set = plan_set(0, SL_AMOUNT_MAX);
    plan_row(set, NODE, 1);
    assert_int_equal(sl_topology_promise(), SL_OK);
    assert_int_equal(sl_topology_promise(), SL_OK);
    assert_true(sl_site_promised_of(0, CPU) == SL_AMOUNT_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_topology_##name, open_all, close_all)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(domain_knows_its_ancestors),
        TEST(unknown_domain_answers_nothing),
        TEST(open_bad_argument_is_refused),
        TEST(open_twice_is_in_use),
        TEST(open_too_deep_is_refused),
        TEST(close_not_open_is_refused),
        TEST(close_with_children_is_in_use),
        TEST(capacity_out_of_bounds_is_refused),
        TEST(check_of_no_sets_is_accepted),
        TEST(check_has_no_effect),
        TEST(unknown_workload_is_refused),
        TEST(plan_out_of_form_is_refused),
        TEST(pod_sets_out_of_order_are_refused),
        TEST(rows_inside_the_required_domain_are_accepted),
        TEST(split_slice_is_refused),
        TEST(layers_out_of_bounds_are_refused),
        TEST(too_little_room_is_refused),
        TEST(pods_take_room_of_their_own),
        TEST(sets_share_a_room),
        TEST(amounts_beyond_all_bounds_are_refused),
        TEST(promise_takes_room_until_cleared),
        TEST(promise_never_exceeds_the_largest_amount),
    };
    return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
