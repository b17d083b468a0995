/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workload slices: which one takes whose place, which flavors it keeps, and what a cycle makes of that. */
#include "fixture.h"

#include "policy/requests/shape.h"
#include "policy/requests/slices.h"

static sl_workload_id holder(sl_qnode_id queue, int64_t cpu)
{
    sl_workload_id id = fx_workload(queue, 0, 1, cpu);
    (void)fx_rest();
    fx_assert_place(id, SL_PLACE_HOLDING);
    return id;
}

static sl_workload_id slice_of(sl_qnode_id queue, sl_workload_id old, int64_t cpu)
{
    sl_workload_id id = fx_workload(queue, 0, 2, cpu);
    sl_slices_set(id, old, sl_workloads[old].generation);
    assert_int_equal(sl_slices_keep(id, 0, SPOT), SL_OK);
    sl_queues_retry(id, fx_now);
    return id;
}

static void test_slices_are_asked_of_whoever_stays(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_qnode_id other = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_workload_id old = holder(queue, 4);
    sl_workload_id id = slice_of(queue, old, 5);
    assert_true(sl_slices_is(id));
    assert_false(sl_slices_is(old));
    assert_int_equal(sl_slices_old(id, queue), old);
    assert_int_equal(sl_slices_old(id, other), SL_NO_ID);
    assert_int_equal(sl_slices_old(old, queue), SL_NO_ID);
    sl_slices_set(id, old, sl_workloads[old].generation + 1); /* another one had that slot */
    assert_int_equal(sl_slices_old(id, queue), SL_NO_ID);
    sl_slices_set(id, id, sl_workloads[id].generation);
    assert_int_equal(sl_slices_old(id, queue), SL_NO_ID);
    sl_slices_set(id, SL_NO_ID, 0);
    assert_int_equal(sl_slices_old(id, queue), SL_NO_ID);
    assert_true(sl_slices_is(id));
    sl_slices_set(id, old, sl_workloads[old].generation);
    assert_int_equal(fx_event(old, SL_EV_RESTORE_EVICTED, 0, SL_EVICT_NODE_FAILURES, 0), SL_OK);
    assert_int_equal(sl_workloads[old].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_slices_old(id, queue), SL_NO_ID);
    sl_slices_forget(id);
    assert_false(sl_slices_is(id));
}

static void test_slices_refusals(void **state)
{
    (void)state;
    sl_workload_id old = fx_create();
    sl_workload_id id = fx_create();
    assert_int_equal(sl_slices_keep(SL_WORKLOADS_MAX, 0, SPOT), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_slices_keep(id, 0, SPOT), SL_REFUSED_BAD_ARGUMENT);
    sl_slices_set(id, old, 0);
    for (uint32_t i = 0; i < SL_SLICE_ROWS_MAX; i++) {
        assert_int_equal(sl_slices_keep(id, i, SPOT), SL_OK);
    }
    assert_int_equal(sl_slices_keep(id, 0, SPOT), SL_REFUSED_BAD_ARGUMENT);
    sl_slices_forget(id);
    sl_slices_set(SL_WORKLOADS_MAX, old, 0);
    sl_slices_forget(SL_WORKLOADS_MAX);
    assert_false(sl_slices_is(SL_WORKLOADS_MAX));
    assert_int_equal(sl_slices_old(SL_WORKLOADS_MAX, 0), SL_NO_ID);
    assert_true(sl_slices_may_have(SL_WORKLOADS_MAX, 0, SPOT));
    assert_int_equal(sl_slices_held(SL_NO_ID, 0), 0);
}

static void test_slices_rows_come_back(void **state)
{
    (void)state;
    uint32_t count = SL_SLICE_ROWS / SL_SLICE_ROWS_MAX + 1;
    enum sl_status status = SL_OK;
    for (uint32_t round = 0; round < 2; round++) {
        for (sl_workload_id id = 0; id < count; id++) {
            sl_slices_set(id, count, 0);
            status = SL_OK;
            for (uint32_t i = 0; i < SL_SLICE_ROWS_MAX && status == SL_OK; i++) {
                status = sl_slices_keep(id, i, SPOT);
            }
            assert_int_equal(status, id < count - 1 ? SL_OK : SL_FULL_WORKLOADS);
        }
        for (sl_workload_id id = 0; id < count; id++) {
            sl_slices_forget(id);
        }
    }
}

static void test_slices_keep_flavors(void **state)
{
    (void)state;
    sl_workload_id old = fx_create();
    sl_workload_id id = fx_create();
    sl_slices_set(id, old, 0);
    assert_int_equal(sl_slices_keep(id, 0, SPOT), SL_OK);
    assert_int_equal(sl_slices_keep(id, 1, ON_DEMAND), SL_OK);
    assert_true(sl_slices_may_have(id, 0, SPOT));
    assert_false(sl_slices_may_have(id, 0, ON_DEMAND));
    assert_true(sl_slices_may_have(id, 1, ON_DEMAND));
    assert_true(sl_slices_may_have(id, 2, ON_DEMAND)); /* it asked for nothing */
    sl_slices_set(id, old, 0);                         /* told anew */
    assert_true(sl_slices_may_have(id, 0, ON_DEMAND));
}

static void test_slices_are_alike_to_nobody(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 1);
    sl_workload_id a = fx_workload(queue, 0, 1, 5);
    sl_workload_id b = fx_workload(queue, 0, 1, 5);
    assert_true(sl_shape_equal(a, b));
    assert_int_equal(sl_shape_hash(a), sl_shape_hash(b));
    sl_slices_set(b, SL_NO_ID, 0);
    sl_queues_retry(b, fx_now);
    assert_false(sl_shape_equal(a, b));
    assert_false(sl_shape_equal(b, a));
    assert_true(sl_shape_equal(b, b));
}

static void test_slices_take_the_place_in_one_step(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_workload_id old = holder(queue, 6);
    sl_workload_id id = slice_of(queue, old, 10);
    assert_int_equal(sl_cycle_begin(fx_now), 1);
    assert_true(sl_cycle_next());
    assert_int_equal(sl_cycle_outcome.result, SL_CYCLE_RESERVED);
    assert_int_equal(sl_cycle_outcome.did.to, SL_PHASE_ADMITTED);
    assert_int_equal(sl_cycle_outcome.replaced, old);
    assert_int_equal(sl_cycle_outcome.replaced_did.from, SL_PHASE_ADMITTED);
    assert_int_equal(sl_cycle_outcome.replaced_did.to, SL_PHASE_FINISHED);
    assert_int_equal(sl_assignment.replaces, old);
    assert_int_equal(sl_assignment.choices[0].amount, 10);
    assert_int_equal(sl_assignment.needs[0].amount, 4);
    assert_false(sl_cycle_next());
    (void)sl_cycle_end();
    fx_assert_place(id, SL_PLACE_HOLDING);
    fx_assert_place(old, SL_PLACE_DONE);
    assert_int_equal(sl_ledger_usage(sl_offers_first(queue)), 10);
}

static void test_slices_that_need_no_more_always_fit(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_workload_id old = holder(queue, 6);
    assert_int_equal(sl_ledger_set_quota(sl_offers_first(queue), 3, 0, SL_AMOUNT_UNLIMITED), SL_OK);
    sl_workload_id id = slice_of(queue, old, 5);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
    fx_assert_place(old, SL_PLACE_DONE);
    assert_int_equal(sl_ledger_usage(sl_offers_first(queue)), 5);
}

static void test_slices_wait_for_what_they_add(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 10);
    sl_workload_id old = holder(queue, 6);
    sl_workload_id other = holder(queue, 3);
    sl_workload_id id = slice_of(queue, old, 8);
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(old, SL_PLACE_HOLDING);
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_WAITING_FOR_QUOTA);
    fx_finish(other);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
    fx_assert_place(old, SL_PLACE_DONE);
}

/* The other flavor has room, and is not what the pods of the old one have. */
static void test_slices_get_no_other_flavor(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 6);
    (void)fx_offer(queue, ON_DEMAND, CPU, 20);
    sl_workload_id old = holder(queue, 6);
    sl_workload_id id = slice_of(queue, old, 8);
    assert_int_equal(fx_rest(), 0);
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    sl_flavors_assign(id, queue, fx_now);
    assert_int_equal(sl_assignment.mode, SL_MODE_PREEMPT); /* nobody may be preempted for it */
    assert_int_equal(sl_assignment.detail_count, 2);
    assert_int_equal(sl_assignment.details[0].miss, SL_MISS_UNUSED_QUOTA);
    assert_int_equal(sl_assignment.details[0].amount, 2);
    assert_int_equal(sl_assignment.details[1].miss, SL_MISS_SLICE);
    assert_int_equal(sl_assignment.details[1].flavor, ON_DEMAND);
    fx_finish(old);
    assert_int_equal(fx_rest(), 1); /* it is like any other by now */
    assert_int_equal(sl_ledger_flavor_of(sl_commit_usage(id, 0).cell), ON_DEMAND);
}

/* Somebody of the same cycle preempts the old one first. */
static void test_slices_wait_when_the_old_one_is_preempted(void **state)
{
    (void)state;
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id lender = fx_queue(root, SL_BEST_EFFORT_FIFO, 10);
    sl_qnode_id queue = fx_queue(root, SL_BEST_EFFORT_FIFO, 2);
    struct sl_preempt_policy policy = {.reclaim = SL_RECLAIM_ANY};
    assert_int_equal(sl_preempt_set_policy(lender, policy), SL_OK);
    sl_workload_id old = holder(queue, 8);
    sl_workload_id id = slice_of(queue, old, 9);
    sl_workload_id high = fx_workload(lender, 5, 1, 10);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(sl_workloads[old].phase, SL_PHASE_EVICTED);
    assert_int_not_equal(sl_place_of(id), SL_PLACE_HOLDING);
    assert_int_equal(fx_event(old, SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
    (void)fx_rest();
    fx_assert_place(high, SL_PLACE_HOLDING);
    assert_int_not_equal(sl_place_of(id), SL_PLACE_HOLDING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_slices_are_asked_of_whoever_stays),
        FX_TEST(test_slices_refusals),
        FX_TEST(test_slices_rows_come_back),
        FX_TEST(test_slices_keep_flavors),
        FX_TEST(test_slices_are_alike_to_nobody),
        FX_TEST(test_slices_take_the_place_in_one_step),
        FX_TEST(test_slices_that_need_no_more_always_fit),
        FX_TEST(test_slices_wait_for_what_they_add),
        FX_TEST(test_slices_get_no_other_flavor),
        FX_TEST(test_slices_wait_when_the_old_one_is_preempted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
