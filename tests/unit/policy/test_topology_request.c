/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topology demands: kept beside the demands, and gone with them. */
#include "place_world.h"

static void assert_asks_nothing(uint32_t record)
{
    struct sl_topology_request d = sl_topology_request_of(record);
    assert_false(d.asked);
    assert_int_equal(d.together, SL_TOGETHER_UNASKED);
    assert_int_equal(d.level, SL_NO_ID);
    assert_int_equal(d.mask, SL_NO_ID);
    assert_int_equal(d.rank_group, SL_NO_ID);
    assert_int_equal(d.layer_count, 0);
    assert_int_equal(d.request_count, 0);
}

static uint32_t add(uint32_t count)
{
    uint32_t record = SL_NO_ID;
    assert_int_equal(sl_requests_add_pod_set(PLACED, count), SL_OK);
    for (uint32_t r = sl_requests_first_pod_set(PLACED); r != SL_NO_ID;
         r = sl_requests_next_pod_set(r)) {
        record = r;
    }
    return record;
}

static int clear(void **state)
{
    (void)state;
    sl_requests_clear(PLACED);
    return 0;
}

static void test_topology_demand_is_kept_for_the_pod_set_added_last(void **state)
{
    (void)state;
    uint32_t first = add(1);
    uint32_t second = add(2);
    struct sl_topology_request d = pw_together(SL_TOGETHER_REQUIRED, AT_RACK, 5);
    d.requests[0].measure = MEMORY;
    d.requests[1] = (struct sl_measure_amount){.measure = CPU, .per_pod = 7};
    d.request_count = 2;
    d.mask = 4;
    d.rank_group = 9;
    pw_slices(&d, AT_RACK, 4);
    pw_slices(&d, AT_HOST, 2);
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_OK);
    assert_asks_nothing(first);
    struct sl_topology_request got = sl_topology_request_of(second);
    assert_true(got.asked);
    assert_int_equal(got.together, SL_TOGETHER_REQUIRED);
    assert_int_equal(got.level, AT_RACK);
    assert_int_equal(got.mask, 4);
    assert_int_equal(got.rank_group, 9);
    assert_int_equal(got.layer_count, 2);
    assert_int_equal(got.layers[1].level, AT_HOST);
    assert_int_equal(got.layers[1].size, 2);
    assert_int_equal(got.request_count, 2); /* in the order of measures */
    assert_int_equal(got.requests[0].measure, CPU);
    assert_int_equal(got.requests[0].per_pod, 7);
    assert_int_equal(got.requests[1].measure, MEMORY);
    assert_asks_nothing(SL_REQUESTS_POD_SETS);
}

static void test_topology_demand_goes_with_its_demand(void **state)
{
    (void)state;
    uint32_t record = add(1);
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 5);
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_OK);
    sl_requests_clear(PLACED);
    assert_asks_nothing(record);
    assert_int_equal(add(1), record);
    assert_asks_nothing(record);
}

static void test_topology_demand_set_again_replaces(void **state)
{
    (void)state;
    uint32_t record = add(1);
    struct sl_topology_request d = pw_together(SL_TOGETHER_PREFERRED, AT_RACK, 5);
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_OK);
    d = pw_requests(9);
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_OK);
    struct sl_topology_request got = sl_topology_request_of(record);
    assert_int_equal(got.together, SL_TOGETHER_UNASKED);
    assert_int_equal(got.request_count, 1);
    assert_int_equal(got.requests[0].per_pod, 9);
}

static void test_topology_demand_mask_can_change(void **state)
{
    (void)state;
    uint32_t record = add(1);
    struct sl_topology_request d = pw_requests(1);
    assert_int_equal(sl_topology_request_set_mask(record, 3), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_OK);
    assert_int_equal(sl_topology_request_set_mask(record, 3), SL_OK);
    assert_int_equal(sl_topology_request_of(record).mask, 3);
    assert_int_equal(sl_topology_request_set_mask(record, SL_MASKS_MAX), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_topology_request_set_mask(SL_REQUESTS_POD_SETS, 3),
                     SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_topology_request_set_mask(record, SL_NO_ID), SL_OK);
    assert_int_equal(sl_topology_request_of(record).mask, SL_NO_ID);
}

static void test_topology_demand_nonsense_is_refused(void **state)
{
    (void)state;
    struct sl_topology_request good = pw_requests(1);
    assert_int_equal(sl_topology_request_set(PLACED, good), SL_REFUSED_BAD_ARGUMENT);
    uint32_t record = add(1);
    struct sl_topology_request d = good;
    d.together = SL_TOGETHER_REQUIRED; /* at no level */
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_REFUSED_BAD_ARGUMENT);
    d = good;
    d.level = AT_RACK; /* of what? */
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_REFUSED_BAD_ARGUMENT);
    d = good;
    d.layer_count = SL_LAYERS_MAX + 1;
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_REFUSED_BAD_ARGUMENT);
    d = good;
    d.mask = SL_MASKS_MAX;
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_REFUSED_BAD_ARGUMENT);
    d = good;
    d.request_count = SL_TOPOLOGY_REQUESTS_MAX + 1;
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_REFUSED_BAD_ARGUMENT);
    d = good;
    d.requests[0].measure = SL_MEASURE_PODS;
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_REFUSED_BAD_ARGUMENT);
    d = good;
    d.requests[1] = d.requests[0];
    d.request_count = 2;
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_REFUSED_BAD_ARGUMENT);
    d = good;
    d.requests[0].per_pod = -1;
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_REFUSED_AMOUNT);
    d.requests[0].per_pod = SL_AMOUNT_MAX + 1;
    assert_int_equal(sl_topology_request_set(PLACED, d), SL_REFUSED_AMOUNT);
    assert_asks_nothing(record);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, clear)
    const struct CMUnitTest tests[] = {
        TEST(test_topology_demand_is_kept_for_the_pod_set_added_last),
        TEST(test_topology_demand_goes_with_its_demand),
        TEST(test_topology_demand_set_again_replaces),
        TEST(test_topology_demand_mask_can_change),
        TEST(test_topology_demand_nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
