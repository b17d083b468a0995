/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objections: who waits while a check objects is turned away, and is looked at again when none objects any more. */
#include "fixture.h"

#include "policy/queues/objections.h"

#define CHECK 7u

/* It waits in a queue with room, and its check says that. */
static sl_workload_id new_answered(sl_qnode_id queue, enum sl_check_state state)
{
    sl_workload_id id = fx_workload(queue, 0, 1, 2);
    assert_int_equal(fx_event(id, SL_EV_CHECK_ADD, CHECK, 0, 0), SL_OK);
    assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, CHECK, state, 0), SL_OK);
    return id;
}

static void test_objections_that_end_let_it_be_tried_at_once(void **state)
{
    (void)state;
    for (enum sl_strategy s = SL_BEST_EFFORT_FIFO; s <= SL_STRICT_FIFO; s++) {
        for (enum sl_check_state said = SL_CHECK_RETRY; said <= SL_CHECK_REJECTED; said++) {
            sl_qnode_id queue = fx_queue(SL_NO_ID, s, 4);
            sl_workload_id id = new_answered(queue, said);
            assert_true(sl_objections_any(id));
            assert_int_equal(fx_rest(), 0);
            assert_false(sl_queues_ready());
            assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_PENDING, 0), SL_OK);
            assert_false(sl_objections_any(id));
            assert_true(sl_queues_ready());
            assert_int_equal(fx_rest(), 1);
            fx_assert_place(id, SL_PLACE_HOLDING);
        }
    }
}

static void test_objections_end_with_the_check_that_is_dropped(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = new_answered(queue, SL_CHECK_REJECTED);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(fx_event(id, SL_EV_CHECK_DROP, CHECK, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
}

static void test_objections_of_another_check_go_on(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id id = new_answered(queue, SL_CHECK_RETRY);
    assert_int_equal(fx_event(id, SL_EV_CHECK_ADD, CHECK + 1, 0, 0), SL_OK);
    assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, CHECK + 1, SL_CHECK_REJECTED, 0), SL_OK);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_READY, 0), SL_OK);
    assert_false(sl_objections_over(id));
    assert_false(sl_queues_ready());
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
    assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, CHECK + 1, SL_CHECK_READY, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
}

static void test_objections_that_end_wake_nobody_who_waits_for_room(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 1);
    sl_workload_id id = fx_workload(queue, 0, 1, 2);
    assert_int_equal(fx_event(id, SL_EV_CHECK_ADD, CHECK, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_RETRY, 0), SL_OK);
    assert_int_equal(fx_event(id, SL_EV_CHECK_STATE, CHECK, SL_CHECK_PENDING, 0), SL_OK);
    assert_false(sl_queues_ready()); /* it was parked for another reason */
    fx_assert_place(id, SL_PLACE_INADMISSIBLE);
}

static void test_objections_out_of_range_have_no_effect(void **state)
{
    (void)state;
    sl_objections_note(SL_WORKLOADS_MAX);
    sl_objections_forget(SL_NO_ID);
    assert_false(sl_objections_over(SL_WORKLOADS_MAX));
    sl_workload_id id = fx_create();
    assert_false(sl_objections_over(id));
    sl_objections_note(id);
    assert_true(sl_objections_over(id));
    sl_objections_forget(id);
    assert_false(sl_objections_over(id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_objections_that_end_let_it_be_tried_at_once),
        FX_TEST(test_objections_end_with_the_check_that_is_dropped),
        FX_TEST(test_objections_of_another_check_go_on),
        FX_TEST(test_objections_that_end_wake_nobody_who_waits_for_room),
        FX_TEST(test_objections_out_of_range_have_no_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
