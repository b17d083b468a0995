/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Places: moves in and out of the table, moves that the record forbids, and where events lead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/commit/commit.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"

static sl_workload_id next_id = 100;

/* Each test works on workloads of its own; the core's state lives as long as the process. */
static sl_workload_id created(void)
{
    sl_workload_id id = next_id++;
    struct sl_event ev = {SL_EV_CREATE, id, sl_workloads[id].generation, 0, 0, 0, 1000};
    assert_int_equal(sl_commit_event(ev), SL_OK);
    return id;
}

static enum sl_status happen(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                             uint32_t reason)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, index, reason, 0, 2000};
    return sl_commit_event(ev);
}

static int agrees(void **state)
{
    (void)state;
    for (sl_workload_id id = 0; id < next_id + 10; id++) {
        assert_true(sl_place_agrees(id));
    }
    return 0;
}

static void test_place_new_slot_is_none(void **state)
{
    (void)state;
    assert_int_equal(sl_place_of(7), SL_PLACE_NONE);
    assert_int_equal(sl_place_of(SL_WORKLOADS_MAX), SL_PLACE_NONE);
    assert_int_equal(sl_place_of(SL_NO_ID), SL_PLACE_NONE);
}

static void test_place_created_workload_starts_orphaned(void **state)
{
    (void)state;
    assert_int_equal(sl_place_of(created()), SL_PLACE_ORPHANED);
}

static void test_place_move_through_the_queue_succeeds(void **state)
{
    (void)state;
    sl_workload_id id = created();
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_INADMISSIBLE), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_INADMISSIBLE, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    assert_int_equal(sl_place_of(id), SL_PLACE_IN_FLIGHT);
    assert_int_equal(sl_place_move(id, SL_PLACE_IN_FLIGHT, SL_PLACE_HEAP), SL_OK);
}

static void test_place_move_from_elsewhere_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = created();
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_REFUSED_PLACE);
    assert_int_equal(sl_place_of(id), SL_PLACE_ORPHANED);
}

static void test_place_move_outside_the_table_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = created();
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_IN_FLIGHT), SL_REFUSED_PLACE);
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_ORPHANED), SL_REFUSED_PLACE);
    assert_int_equal(sl_place_of(id), SL_PLACE_ORPHANED);
}

static void test_place_move_against_the_record_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = created();
    /* in the table, but it holds no quota, is not finished, not deleted and not dormant */
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HOLDING), SL_REFUSED_PLACE);
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_DONE), SL_REFUSED_PLACE);
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_NONE), SL_REFUSED_PLACE);
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_DORMANT), SL_REFUSED_PLACE);
}

static void test_place_move_of_unknown_ids_and_places_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = created();
    assert_int_equal(sl_place_move(SL_WORKLOADS_MAX, SL_PLACE_NONE, SL_PLACE_ORPHANED),
                     SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, (enum sl_place)(SL_PLACE_DONE + 1)),
                     SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_place_move(id, (enum sl_place)(SL_PLACE_DONE + 1), SL_PLACE_HEAP),
                     SL_REFUSED_BAD_ARGUMENT);
    /* from * 9 + to of these would be that of a permitted move */
    assert_int_equal(sl_place_move(id, SL_PLACE_NONE, (enum sl_place)12), SL_REFUSED_BAD_ARGUMENT);
}

static void test_place_gated_and_held_workloads_leave_the_line(void **state)
{
    (void)state;
    sl_workload_id id = created();
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(happen(id, SL_EV_GATE, 0, 0), SL_OK);
    assert_int_equal(sl_place_of(id), SL_PLACE_DORMANT);
    assert_int_equal(sl_place_move(id, SL_PLACE_DORMANT, SL_PLACE_INADMISSIBLE), SL_REFUSED_PLACE);
    assert_int_equal(happen(id, SL_EV_UNGATE, 0, 0), SL_OK);
    assert_int_equal(sl_place_of(id), SL_PLACE_INADMISSIBLE);
    assert_int_equal(happen(id, SL_EV_HOLD, 0, 0), SL_OK);
    assert_int_equal(sl_place_of(id), SL_PLACE_DORMANT);
    assert_int_equal(happen(id, SL_EV_UNHOLD, 0, 0), SL_OK);
    assert_int_equal(happen(id, SL_EV_DEACTIVATE, 0, 0), SL_OK);
    assert_int_equal(sl_place_of(id), SL_PLACE_DORMANT);
}

static void test_place_refusal_of_a_cycle_keeps_the_place(void **state)
{
    (void)state;
    sl_workload_id id = created();
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(happen(id, SL_EV_REFUSE, 0, SL_PENDING_WAITING_FOR_QUOTA), SL_OK);
    assert_int_equal(sl_place_of(id), SL_PLACE_HEAP);
}

static void test_place_finished_and_deleted_workloads_are_out(void **state)
{
    (void)state;
    sl_workload_id id = created();
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(happen(id, SL_EV_FINISH, 0, SL_FINISH_SUCCEEDED), SL_OK);
    assert_int_equal(sl_place_of(id), SL_PLACE_DONE);
    assert_int_equal(sl_place_move(id, SL_PLACE_DONE, SL_PLACE_HEAP), SL_REFUSED_PLACE);
    assert_int_equal(sl_place_move(id, SL_PLACE_DONE, SL_PLACE_NONE), SL_REFUSED_PLACE);
    assert_int_equal(happen(id, SL_EV_DELETE, 0, 0), SL_OK);
    assert_int_equal(sl_place_of(id), SL_PLACE_NONE);
    assert_int_equal(sl_place_move(id, SL_PLACE_NONE, SL_PLACE_ORPHANED), SL_REFUSED_PLACE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place_new_slot_is_none),
        cmocka_unit_test(test_place_created_workload_starts_orphaned),
        cmocka_unit_test(test_place_move_through_the_queue_succeeds),
        cmocka_unit_test(test_place_move_from_elsewhere_is_refused),
        cmocka_unit_test(test_place_move_outside_the_table_is_refused),
        cmocka_unit_test(test_place_move_against_the_record_is_refused),
        cmocka_unit_test(test_place_move_of_unknown_ids_and_places_is_refused),
        cmocka_unit_test(test_place_gated_and_held_workloads_leave_the_line),
        cmocka_unit_test(test_place_refusal_of_a_cycle_keeps_the_place),
        cmocka_unit_test(test_place_finished_and_deleted_workloads_are_out),
    };
    return cmocka_run_group_tests_name("place", tests, NULL, agrees);
}
