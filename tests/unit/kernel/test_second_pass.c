/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The second pass: who needs one, and that no timer does what the live workload does not need. */
#include "workload_fixture.h"

#include "kernel/lifecycle/second_pass.h"

static sl_workload_id marked(void)
{
    sl_workload_id id = admitted();
    happens(id, SL_EV_NODE_FAILED, HOST_A, 0, 0);
    return id;
}

static sl_workload_id delayed(void)
{
    sl_workload_id id = pending();
    happens(id, SL_EV_CHECK_ADD, CHECK_A, 0, 0);
    happens(id, SL_EV_RESERVE, 1, 0, 0);
    return id;
}

static void arms(sl_workload_id id)
{
    assert_int_equal(sl_second_pass_arm(id, 0, fixture_now_ms), SL_OK);
    assert_true(sl_second_pass_valid());
}

static enum sl_status take(sl_workload_id id)
{
    struct sl_workload before = sl_workloads[id];
    enum sl_status status = sl_second_pass_take(id, fixture_now_ms + 1000);
    assert_memory_equal(&before, &sl_workloads[id], sizeof before);
    assert_true(sl_second_pass_valid());
    return status;
}

static void test_second_pass_needed_by_delayed_topology_once_checks_are_ready(void **state)
{
    (void)state;
    sl_workload_id id = delayed();
    assert_false(sl_second_pass_needed(id));
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_READY, 0);
    assert_true(sl_second_pass_needed(id));
}

static void test_second_pass_needed_when_last_check_disappears(void **state)
{
    (void)state;
    sl_workload_id id = delayed();
    happens(id, SL_EV_CHECK_DROP, CHECK_A, 0, 0);
    is_in(id, SL_PHASE_QUOTA_RESERVED);
    assert_true(sl_second_pass_needed(id));
    arms(id);
    assert_int_equal(take(id), SL_OK);
    happens(id, SL_EV_SECOND_PASS_FIT, 0, 0, 0);
    is_in(id, SL_PHASE_ADMITTED);
}

static void test_second_pass_not_needed_by_others(void **state)
{
    (void)state;
    sl_workload_id ids[5] = {pending(), reserved(), admitted(), evicted(SL_PREEMPT_RECLAMATION),
                             finished()};
    for (int i = 0; i < 5; i++) {
        assert_false(sl_second_pass_needed(ids[i]));
        assert_int_equal(sl_second_pass_arm(ids[i], 0, NOW_MS), SL_REFUSED_NOT_NEEDED);
    }
    assert_false(sl_second_pass_needed(SL_WORKLOADS_MAX));
}

static void test_second_pass_finished_with_mark_is_not_armed(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    happens(id, SL_EV_FINISH, 0, SL_FINISH_FAILED, 0);
    assert_int_equal(sl_second_pass_arm(id, 0, NOW_MS), SL_REFUSED_NOT_NEEDED);
}

static void test_second_pass_delay_doubles_to_thirty_seconds(void **state)
{
    (void)state;
    const int64_t seconds[8] = {1, 2, 4, 8, 16, 30, 30, 30};
    for (uint32_t i = 0; i < 8; i++) {
        sl_workload_id id = marked();
        assert_int_equal(sl_second_pass_arm(id, i == 7 ? UINT32_MAX : i, NOW_MS), SL_OK);
        assert_true(sl_second_pass_due_ms(id) == NOW_MS + seconds[i] * 1000);
        sl_second_pass_cancel(id);
        assert_true(sl_second_pass_due_ms(id) == SL_NEVER);
    }
}

static void test_second_pass_due_saturates(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    assert_int_equal(sl_second_pass_arm(id, 9, SL_TIME_MAX), SL_OK);
    assert_true(sl_second_pass_due_ms(id) == SL_TIME_MAX);
    sl_second_pass_cancel(id);
}

static void test_second_pass_evicted_before_due_is_dropped(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    arms(id);
    happens(id, SL_EV_PREEMPT, 0, SL_PREEMPT_RECLAMATION, 0);
    assert_int_equal(take(id), SL_REFUSED_NOT_NEEDED);
    assert_int_equal(take(id), SL_REFUSED_NOT_ARMED);
    assert_true(sl_lifecycle_holds_quota(id));
}

static void test_second_pass_mark_removed_before_due_keeps_reservation(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    arms(id);
    happens(id, SL_EV_NODE_RECOVERED, HOST_A, 0, 0);
    assert_int_equal(take(id), SL_REFUSED_NOT_NEEDED);
    is_in(id, SL_PHASE_ADMITTED);
    assert_true(sl_lifecycle_holds_quota(id));
}

static void test_second_pass_armed_twice_changes_nothing(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    arms(id);
    int64_t due_ms = sl_second_pass_due_ms(id);
    uint32_t count = sl_second_pass_count();
    struct sl_workload before = sl_workloads[id];
    assert_int_equal(sl_second_pass_arm(id, 3, NOW_MS + 500), SL_REFUSED_ARMED);
    assert_true(sl_second_pass_due_ms(id) == due_ms);
    assert_int_equal(sl_second_pass_count(), count);
    assert_memory_equal(&before, &sl_workloads[id], sizeof before);
    assert_int_equal(take(id), SL_OK);
}

static void test_second_pass_second_failure_within_delay_is_not_lost(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    arms(id);
    happens(id, SL_EV_NODE_RECOVERED, HOST_A, 0, 0);
    happens(id, SL_EV_NODE_FAILED, HOST_B, 0, 0);
    assert_int_equal(sl_second_pass_arm(id, 0, fixture_now_ms), SL_REFUSED_ARMED);
    assert_int_equal(take(id), SL_OK);
}

static void test_second_pass_deleted_and_recreated_is_stale(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    arms(id);
    happens(id, SL_EV_DELETE, 0, 0, 0);
    happens(id, SL_EV_CREATE, 0, 0, 0);
    assert_int_equal(take(id), SL_REFUSED_STALE);
    assert_int_equal(take(id), SL_REFUSED_NOT_ARMED);
}

static void test_second_pass_new_incarnation_replaces_old_entry(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    arms(id);
    uint32_t count = sl_second_pass_count();
    happens(id, SL_EV_DELETE, 0, 0, 0);
    happens(id, SL_EV_CREATE, 0, 0, 0);
    happens(id, SL_EV_RESERVE, 0, 0, 0);
    happens(id, SL_EV_NODE_FAILED, HOST_B, 0, 0);
    arms(id);
    assert_int_equal(sl_second_pass_count(), count);
    assert_int_equal(take(id), SL_OK);
}

static void test_second_pass_deleted_workload_can_be_cancelled(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    arms(id);
    uint32_t count = sl_second_pass_count();
    happens(id, SL_EV_DELETE, 0, 0, 0);
    sl_second_pass_cancel(id);
    assert_int_equal(sl_second_pass_count(), count - 1);
    sl_second_pass_cancel(id);
    sl_second_pass_cancel(SL_WORKLOADS_MAX);
    assert_int_equal(sl_second_pass_count(), count - 1);
}

static void test_second_pass_before_due_stays(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    arms(id);
    assert_int_equal(sl_second_pass_take(id, fixture_now_ms + 999), SL_REFUSED_NOT_DUE);
    assert_int_equal(take(id), SL_OK);
}

static void test_second_pass_bad_arguments_are_refused(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    assert_int_equal(sl_second_pass_arm(SL_WORKLOADS_MAX, 0, NOW_MS), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_second_pass_take(SL_WORKLOADS_MAX, NOW_MS), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_second_pass_arm(id, 0, -1), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_second_pass_arm(id, 0, SL_TIME_MAX + 1), SL_REFUSED_BAD_ARGUMENT);
    assert_true(sl_second_pass_due_ms(SL_WORKLOADS_MAX) == SL_NEVER);
}

static void test_second_pass_full_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    uint32_t total = sl_second_pass_total;
    sl_second_pass_total = SL_WORKLOADS_MAX;
    assert_int_equal(sl_second_pass_arm(id, 0, NOW_MS), SL_FULL_WORKLOADS);
    sl_second_pass_total = SL_WORKLOADS_MAX + 1;
    assert_false(sl_second_pass_valid());
    sl_second_pass_total = total;
}

static void test_second_pass_enumerates_what_is_armed(void **state)
{
    (void)state;
    while (sl_second_pass_count() > 0) {
        sl_second_pass_cancel(sl_second_pass_at(0));
    }
    sl_workload_id ids[3] = {marked(), marked(), marked()};
    for (int i = 0; i < 3; i++) {
        arms(ids[i]);
    }
    sl_second_pass_cancel(ids[0]);
    assert_int_equal(sl_second_pass_count(), 2);
    assert_int_equal(sl_second_pass_at(0), ids[2]);
    assert_int_equal(sl_second_pass_at(1), ids[1]);
    assert_int_equal(sl_second_pass_at(2), SL_NO_ID);
}

static void test_second_pass_valid_notices_broken_entries(void **state)
{
    (void)state;
    sl_workload_id id = marked();
    arms(id);
    uint32_t i = sl_second_pass_index[id];
    struct sl_second_pass good = sl_second_passes[i];
    sl_second_passes[i].workload = SL_WORKLOADS_MAX;
    assert_false(sl_second_pass_valid());
    sl_second_passes[i] = good;
    sl_second_passes[i].due_ms = -1;
    assert_false(sl_second_pass_valid());
    sl_second_passes[i] = good;
    sl_second_pass_index[id] = i + 1;
    assert_false(sl_second_pass_valid());
    sl_second_pass_index[id] = i;
    assert_true(sl_second_pass_valid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_pass_needed_by_delayed_topology_once_checks_are_ready),
        cmocka_unit_test(test_second_pass_needed_when_last_check_disappears),
        cmocka_unit_test(test_second_pass_not_needed_by_others),
        cmocka_unit_test(test_second_pass_finished_with_mark_is_not_armed),
        cmocka_unit_test(test_second_pass_delay_doubles_to_thirty_seconds),
        cmocka_unit_test(test_second_pass_due_saturates),
        cmocka_unit_test(test_second_pass_evicted_before_due_is_dropped),
        cmocka_unit_test(test_second_pass_mark_removed_before_due_keeps_reservation),
        cmocka_unit_test(test_second_pass_armed_twice_changes_nothing),
        cmocka_unit_test(test_second_pass_second_failure_within_delay_is_not_lost),
        cmocka_unit_test(test_second_pass_deleted_and_recreated_is_stale),
        cmocka_unit_test(test_second_pass_new_incarnation_replaces_old_entry),
        cmocka_unit_test(test_second_pass_deleted_workload_can_be_cancelled),
        cmocka_unit_test(test_second_pass_before_due_stays),
        cmocka_unit_test(test_second_pass_bad_arguments_are_refused),
        cmocka_unit_test(test_second_pass_full_is_refused),
        cmocka_unit_test(test_second_pass_enumerates_what_is_armed),
        cmocka_unit_test(test_second_pass_valid_notices_broken_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
