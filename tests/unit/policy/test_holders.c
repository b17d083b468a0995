/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The lists of holders. */
#include "preemption_world.h"

static bool listed(sl_qnode_id queue, sl_workload_id id)
{
    sl_workload_id at = sl_holders_first(queue);
    while (at != SL_NO_ID && at != id) {
        at = sl_holders_next(at);
    }
    return at == id;
}

static void test_holders_workload_that_gets_quota_is_listed(void **state)
{
    (void)state;
    sl_qnode_id queue = pw_queue(SL_NO_ID, 10, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    sl_workload_id a = pw_holder(queue, 0, 1);
    sl_workload_id b = pw_holder(queue, 0, 1);
    assert_true(listed(queue, a));
    assert_true(listed(queue, b));
    assert_int_equal(sl_holders_count(queue), 2);
    assert_int_equal(sl_holders_queue_of(a), queue);
    assert_true(sl_holders_valid());
}

static void test_holders_evicted_workload_stays_until_it_has_stopped(void **state)
{
    (void)state;
    sl_qnode_id queue = pw_queue(SL_NO_ID, 10, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    sl_workload_id id = pw_holder(queue, 0, 1);
    pw_evict(id);
    assert_true(listed(queue, id));
    fx_finish(id);
    assert_false(listed(queue, id));
    assert_int_equal(sl_holders_count(queue), 0);
    assert_int_equal(sl_holders_queue_of(id), SL_NO_ID);
}

static void test_holders_removal_from_the_middle_keeps_the_rest(void **state)
{
    (void)state;
    sl_qnode_id queue = pw_queue(SL_NO_ID, 10, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    sl_workload_id ids[4];
    for (uint32_t i = 0; i < 4; i++) {
        ids[i] = pw_holder(queue, 0, 1);
    }
    fx_finish(ids[1]);
    fx_finish(ids[3]);
    assert_true(listed(queue, ids[0]));
    assert_true(listed(queue, ids[2]));
    assert_int_equal(sl_holders_count(queue), 2);
    fx_finish(ids[0]);
    assert_int_equal(sl_holders_first(queue), ids[2]);
    assert_int_equal(sl_holders_next(ids[2]), SL_NO_ID);
    assert_true(sl_holders_valid());
}

static void test_holders_added_twice_is_listed_once_and_elsewhere_is_moved(void **state)
{
    (void)state;
    sl_holders_add(7, 3);
    sl_holders_add(7, 3);
    assert_int_equal(sl_holders_count(7), 1);
    sl_holders_add(8, 3);
    assert_int_equal(sl_holders_count(7), 0);
    assert_int_equal(sl_holders_first(8), 3);
    sl_holders_remove(3);
    sl_holders_remove(3);
    assert_int_equal(sl_holders_first(8), SL_NO_ID);
    assert_true(sl_holders_valid());
}

static void test_holders_ids_out_of_range_are_ignored(void **state)
{
    (void)state;
    sl_holders_add(SL_QNODES_MAX, 3);
    sl_holders_add(7, SL_WORKLOADS_MAX);
    sl_holders_remove(SL_NO_ID);
    assert_int_equal(sl_holders_queue_of(3), SL_NO_ID);
    assert_int_equal(sl_holders_queue_of(SL_NO_ID), SL_NO_ID);
    assert_int_equal(sl_holders_first(SL_NO_ID), SL_NO_ID);
    assert_int_equal(sl_holders_next(SL_NO_ID), SL_NO_ID);
    assert_int_equal(sl_holders_count(SL_NO_ID), 0);
    assert_true(sl_holders_valid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_holders_workload_that_gets_quota_is_listed),
        PW_TEST(test_holders_evicted_workload_stays_until_it_has_stopped),
        PW_TEST(test_holders_removal_from_the_middle_keeps_the_rest),
        PW_TEST(test_holders_added_twice_is_listed_once_and_elsewhere_is_moved),
        PW_TEST(test_holders_ids_out_of_range_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
