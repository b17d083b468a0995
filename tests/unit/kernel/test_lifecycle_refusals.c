/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Every refusal code of the lifecycle, every bound of every field, and that no event is left without an answer. */
#include "workload_fixture.h"
#include "kernel/base/reasons.h"

static void assert_refused(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                           uint32_t reason, int64_t value, enum sl_status expected)
{
    assert_int_equal(event(id, kind, index, reason, value), expected);
}

static void test_lifecycle_unknown_id_is_refused(void **state)
{
    (void)state;
    struct sl_event ev = {SL_EV_CREATE, SL_WORKLOADS_MAX, 0, 0, 0, 0, NOW_MS};
    assert_int_equal(sl_lifecycle_apply(ev), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_false(sl_lifecycle_holds_quota(SL_WORKLOADS_MAX));
    assert_false(sl_lifecycle_admissible(SL_WORKLOADS_MAX));
    assert_false(sl_lifecycle_needs_pass(SL_WORKLOADS_MAX));
    assert_false(sl_lifecycle_valid(SL_WORKLOADS_MAX));
}

static void test_lifecycle_event_on_free_slot_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = fixture_next_id++;
    for (uint32_t kind = 0; kind < SL_EVENT_COUNT; kind++) {
        if (kind != SL_EV_CREATE) {
            assert_refused(id, kind, 0, 0, 0, SL_REFUSED_UNKNOWN_WORKLOAD);
        }
    }
}

static void test_lifecycle_other_generation_is_stale(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    struct sl_workload before = sl_workloads[id];
    struct sl_event ev = {SL_EV_DELETE, id, before.generation + 1, 0, 0, 0, NOW_MS};
    assert_int_equal(sl_lifecycle_apply(ev), SL_REFUSED_STALE);
    assert_memory_equal(&before, &sl_workloads[id], sizeof before);
}

static void test_lifecycle_used_up_slot_is_full(void **state)
{
    (void)state;
    sl_workload_id id = fixture_next_id++;
    sl_workloads[id].generation = UINT32_MAX;
    assert_refused(id, SL_EV_CREATE, 0, 0, 0, SL_FULL_WORKLOADS);
}

static void test_lifecycle_create_twice_is_refused(void **state)
{
    (void)state;
    assert_refused(pending(), SL_EV_CREATE, 0, 0, 0, SL_REFUSED_TRANSITION);
}

static void test_lifecycle_clock_out_of_range_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    fixture_now_ms = -1;
    assert_refused(id, SL_EV_RESCALE, 0, 0, 0, SL_REFUSED_BAD_ARGUMENT);
    fixture_now_ms = SL_TIME_MAX + 1;
    assert_refused(id, SL_EV_RESCALE, 0, 0, 0, SL_REFUSED_BAD_ARGUMENT);
    fixture_now_ms = SL_TIME_MAX;
    happens(id, SL_EV_RESCALE, 0, 0, 0);
    fixture_now_ms = NOW_MS;
    assert_refused(id, SL_EVENT_COUNT, 0, 0, 0, SL_REFUSED_BAD_ARGUMENT);
}

static void test_lifecycle_field_out_of_range_is_refused(void **state)
{
    (void)state;
    const struct {
        enum sl_event_kind kind;
        uint32_t index;
        uint32_t reason;
        int64_t value;
    } bad[] = {
        {SL_EV_RESERVE, 2, 0, 0},
        {SL_EV_REFUSE, 0, SL_PENDING_REASONS, 0},
        {SL_EV_CHECK_ADD, SL_NO_ID, 0, 0},
        {SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_REJECTED + 1, 0},
        {SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, -1},
        {SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, SL_TIME_MAX + 1},
        {SL_EV_PODS_READY, 2, 0, 0},
        {SL_EV_PODS_READY_TIMEOUT, SL_JITTER_PPM_MAX + 1, 0, 0},
        {SL_EV_DRAIN, 0, SL_EVICT_PREEMPTED, 0},
        {SL_EV_QUEUE_UNUSABLE, 0, SL_PENDING_EVALUATION, 0},
        {SL_EV_QUEUE_RESTARTED, 0, SL_EVICT_NONE, 0},
        {SL_EV_PREEMPT, 0, SL_PREEMPT_NONE, 0},
        {SL_EV_PREEMPT, 0, SL_PREEMPT_REASONS, 0},
        {SL_EV_JOB_STOPPED, 2, 0, 0},
        {SL_EV_NODE_FAILED, SL_NO_ID, 0, 0},
        {SL_EV_SECOND_PASS_MISS, 2, 0, 0},
        {SL_EV_FINISH, 0, SL_FINISH_NONE, 0},
        {SL_EV_FINISH, 0, SL_FINISH_REASONS, 0},
        {SL_EV_RESTORE_REQUEUE, 0, 0, -1},
        {SL_EV_RESTORE_EVICTED, SL_REQUEUED_FALSE + 1, SL_EVICT_PREEMPTED, 0},
        {SL_EV_RESTORE_EVICTED, 0, SL_EVICT_REASONS, 0},
        {SL_EV_RESTORE_EVICTED, 0, SL_EVICT_PREEMPTED, -1},
        {SL_EV_RESTORE_EVICTED, 0, SL_EVICT_NONE, 0},
        {SL_EV_RESTORE_EVICTED, 0, SL_EVICT_DEACTIVATED, 0},
        {SL_EV_RESTORE_TARGET, 0, SL_CAUSE_NONE, 0},
        {SL_EV_RESTORE_TARGET, 0, SL_CAUSES, 0},
    };
    sl_workload_id id = admitted();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_refused(id, bad[i].kind, bad[i].index, bad[i].reason, bad[i].value,
                       SL_REFUSED_BAD_ARGUMENT);
    }
    sl_workload_id free_id = fixture_next_id++;
    assert_refused(free_id, SL_EV_CREATE, 0, 0, -1, SL_REFUSED_BAD_ARGUMENT);
    assert_refused(free_id, SL_EV_CREATE, 0, 0, SL_TIME_MAX + 1, SL_REFUSED_BAD_ARGUMENT);
}

static void test_lifecycle_step_without_row_is_refused(void **state)
{
    (void)state;
    const struct {
        sl_workload_id id;
        enum sl_event_kind kind;
        uint32_t reason;
    } none[] = {
        {pending(), SL_EV_WRITE_FAILED, 0},
        {pending(), SL_EV_PREEMPT, SL_PREEMPT_RECLAMATION},
        {pending(), SL_EV_JOB_STOPPED, 0},
        {pending(), SL_EV_DRAIN, SL_EVICT_CLUSTER_QUEUE_STOPPED},
        {pending(), SL_EV_PODS_READY, 0},
        {pending(), SL_EV_PODS_READY_TIMEOUT, 0},
        {pending(), SL_EV_RESTORE_TARGET, SL_CAUSE_EXECUTION_TIME},
        {pending(), SL_EV_EXECUTION_TIMEOUT, 0},
        {pending(), SL_EV_NODE_FAILED, 0},
        {reserved(), SL_EV_RESERVE, 0},
        {reserved(), SL_EV_REFUSE, SL_PENDING_WAITING_FOR_QUOTA},
        {reserved(), SL_EV_DRAIN, SL_EVICT_CLUSTER_QUEUE_STOPPED},
        {reserved(), SL_EV_NODE_FAILED, 0},
        {reserved(), SL_EV_JOB_STOPPED, 0},
        {admitted(), SL_EV_QUEUE_UNUSABLE, SL_PENDING_SUSPENDED},
        {admitted(), SL_EV_QUEUE_MOVED, 0},
        {evicted(SL_PREEMPT_RECLAMATION), SL_EV_PREEMPT, SL_PREEMPT_RECLAMATION},
        {evicted(SL_PREEMPT_RECLAMATION), SL_EV_WRITE_FAILED, 0},
        {evicted(SL_PREEMPT_RECLAMATION), SL_EV_RESERVE, 0},
        {evicted(SL_PREEMPT_RECLAMATION), SL_EV_DRAIN, SL_EVICT_LOCAL_QUEUE_STOPPED},
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_refused(none[i].id, none[i].kind, 0, none[i].reason, 0, SL_REFUSED_TRANSITION);
    }
}

static void test_lifecycle_reactivate_while_job_still_stops_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    happens(id, SL_EV_DEACTIVATE, 0, 0, 0);
    assert_refused(id, SL_EV_REACTIVATE, 0, 0, 0, SL_REFUSED_TRANSITION);
}

static void test_lifecycle_timeout_of_ready_pods_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    happens(id, SL_EV_PODS_READY, 1, 0, 0);
    assert_refused(id, SL_EV_PODS_READY_TIMEOUT, 0, 0, NOW_MS, SL_REFUSED_TRANSITION);
}

static void test_lifecycle_inactive_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_DEACTIVATE, 0, 0, 0);
    assert_refused(id, SL_EV_RESERVE, 0, 0, 0, SL_REFUSED_INACTIVE);
    assert_refused(id, SL_EV_REFUSE, 0, SL_PENDING_WAITING_FOR_QUOTA, 0, SL_REFUSED_INACTIVE);
    assert_refused(id, SL_EV_BACKOFF_OVER, 0, 0, 0, SL_REFUSED_INACTIVE);
    assert_refused(id, SL_EV_RESTORE_REQUEUE, 1, 0, 0, SL_REFUSED_INACTIVE);
}

static void test_lifecycle_not_admissible_is_refused(void **state)
{
    (void)state;
    sl_workload_id gated = pending();
    happens(gated, SL_EV_GATE, 0, 0, 0);
    assert_refused(gated, SL_EV_RESERVE, 0, 0, 0, SL_REFUSED_NOT_ADMISSIBLE);
    assert_refused(gated, SL_EV_REFUSE, 0, SL_PENDING_WAITING_FOR_QUOTA, 0,
                   SL_REFUSED_NOT_ADMISSIBLE);
    sl_workload_id held = pending();
    happens(held, SL_EV_HOLD, 0, 0, 0);
    assert_refused(held, SL_EV_RESERVE, 0, 0, 0, SL_REFUSED_NOT_ADMISSIBLE);
    sl_workload_id later = pending();
    happens(later, SL_EV_RESTORE_REQUEUE, 0, 0, NOW_MS + 1);
    assert_refused(later, SL_EV_RESERVE, 0, 0, 0, SL_REFUSED_NOT_ADMISSIBLE);
    assert_refused(later, SL_EV_BACKOFF_OVER, 0, 0, 0, SL_REFUSED_NOT_ADMISSIBLE);
    sl_workload_id objected = pending();
    happens(objected, SL_EV_CHECK_ADD, CHECK_A, 0, 0);
    happens(objected, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_REJECTED, 0);
    assert_refused(objected, SL_EV_RESERVE, 0, 0, 0, SL_REFUSED_NOT_ADMISSIBLE);
    sl_workload_id marked = reserved();
    happens(marked, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_REJECTED, 0);
    happens(marked, SL_EV_QUEUE_UNUSABLE, 0, SL_PENDING_SUSPENDED, 0);
    happens(marked, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_READY, 0);
    assert_refused(marked, SL_EV_RESERVE, 0, 0, 0, SL_REFUSED_NOT_ADMISSIBLE);
}

static void test_lifecycle_unknown_check_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = reserved();
    assert_refused(id, SL_EV_CHECK_DROP, CHECK_B, 0, 0, SL_REFUSED_NO_CHECK);
    assert_refused(id, SL_EV_CHECK_STATE, CHECK_B, SL_CHECK_READY, 0, SL_REFUSED_NO_CHECK);
}

static void test_lifecycle_ninth_check_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    for (uint32_t check = 0; check < SL_CHECKS_MAX; check++) {
        happens(id, SL_EV_CHECK_ADD, check, 0, 0);
    }
    assert_refused(id, SL_EV_CHECK_ADD, SL_CHECKS_MAX, 0, 0, SL_FULL_CHECKS);
}

static void test_lifecycle_unmarked_node_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    assert_refused(id, SL_EV_NODE_RECOVERED, HOST_A, 0, 0, SL_REFUSED_NO_NODE);
    happens(id, SL_EV_NODE_FAILED, HOST_B, 0, 0);
    assert_refused(id, SL_EV_NODE_RECOVERED, HOST_A, 0, 0, SL_REFUSED_NO_NODE);
}

static void test_lifecycle_nothing_new_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    happens(id, SL_EV_PODS_READY, 0, 0, 0);
    happens(id, SL_EV_NODE_FAILED, HOST_A, 0, 0);
    assert_refused(id, SL_EV_CHECK_ADD, CHECK_A, 0, 0, SL_REFUSED_NO_CHANGE);
    assert_refused(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_READY, 0, SL_REFUSED_NO_CHANGE);
    assert_refused(id, SL_EV_PODS_READY, 0, 0, 0, SL_REFUSED_NO_CHANGE);
    assert_refused(id, SL_EV_NODE_FAILED, HOST_A, 0, 0, SL_REFUSED_NO_CHANGE);
    assert_refused(id, SL_EV_REACTIVATE, 0, 0, 0, SL_REFUSED_NO_CHANGE);
    assert_refused(id, SL_EV_UNHOLD, 0, 0, 0, SL_REFUSED_NO_CHANGE);
    assert_refused(id, SL_EV_UNGATE, 0, 0, 0, SL_REFUSED_NO_CHANGE);
    sl_requeue_configure((struct sl_requeue_rules){.limited = true});
    happens(id, SL_EV_PODS_READY_TIMEOUT, 0, 0, 0);
    assert_refused(id, SL_EV_PODS_READY_TIMEOUT, 0, 0, 0, SL_REFUSED_NO_CHANGE);
    assert_refused(id, SL_EV_RESTORE_TARGET, 0, SL_CAUSE_EXECUTION_TIME, 0, SL_REFUSED_NO_CHANGE);
    happens(id, SL_EV_DEACTIVATE, 0, 0, 0);
    assert_refused(id, SL_EV_DEACTIVATE, 0, 0, 0, SL_REFUSED_NO_CHANGE);
    assert_refused(pending(), SL_EV_BACKOFF_OVER, 0, 0, 0, SL_REFUSED_NO_CHANGE);
}

static void test_lifecycle_second_pass_without_need_is_refused(void **state)
{
    (void)state;
    assert_refused(admitted(), SL_EV_SECOND_PASS_FIT, 0, 0, 0, SL_REFUSED_NOT_NEEDED);
    assert_refused(reserved(), SL_EV_SECOND_PASS_MISS, 1, 0, 0, SL_REFUSED_NOT_NEEDED);
    assert_refused(evicted(SL_PREEMPT_RECLAMATION), SL_EV_SECOND_PASS_FIT, 0, 0, 0,
                   SL_REFUSED_NOT_NEEDED);
}

static void test_lifecycle_restore_into_a_lived_life_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = evicted(SL_PREEMPT_RECLAMATION);
    assert_refused(id, SL_EV_RESTORE_EVICTED, 0, SL_EVICT_PREEMPTED, 0, SL_REFUSED_TRANSITION);
    assert_refused(id, SL_EV_RESTORE_REQUEUE, 1, 0, 0, SL_REFUSED_TRANSITION);
    id = pending();
    happens(id, SL_EV_RESTORE_REQUEUE, 1, 0, SL_NEVER);
    assert_refused(id, SL_EV_RESTORE_REQUEUE, 2, 0, SL_NEVER, SL_REFUSED_TRANSITION);
}

/* A record that broke any one rule would be noticed. */
static void test_lifecycle_valid_notices_broken_records(void **state)
{
    (void)state;
    struct sl_workload *w = &sl_workloads[admitted()];
    sl_workload_id id = fixture_next_id - 1;
    struct sl_workload good = *w;
#define BROKEN(change)                                                                             \
    *w = good;                                                                                     \
    change;                                                                                        \
    assert_false(sl_lifecycle_valid(id))
    BROKEN(w->phase = SL_PHASE_FINISHED + 1);
    BROKEN(w->phase = SL_PHASE_PENDING);
    BROKEN(w->phase = SL_PHASE_QUOTA_RESERVED);
    BROKEN(w->phase = SL_PHASE_EVICTED);
    BROKEN(w->phase = SL_PHASE_FINISHED);
    BROKEN(w->generation = UINT32_MAX);
    BROKEN(w->active = false);
    BROKEN(w->on_hold = true);
    BROKEN(w->has_admission = false);
    BROKEN(w->was_admitted = false);
    BROKEN(w->topology_pending = true);
    BROKEN(w->pending_reason = SL_PENDING_DEACTIVATED + 1);
    BROKEN(w->evicted = SL_EVICT_PREEMPTED);
    BROKEN(w->preempted = SL_PREEMPT_RECLAMATION);
    BROKEN(w->deactivation = SL_CAUSE_EXECUTION_TIME + 1);
    BROKEN(w->finished = SL_FINISH_FAILED);
    BROKEN(w->requeued = SL_REQUEUED_TRUE);
    BROKEN(w->requeue_reason = SL_REQUEUE_PREEMPTED);
    BROKEN(w->pods_ready = SL_PODS_RECOVERED + 1);
    BROKEN(w->requeue_at_ms = -1);
    BROKEN(w->reserved_at_ms = SL_NEVER);
    BROKEN(w->admitted_at_ms = SL_TIME_MAX + 1);
    BROKEN(w->evicted_at_ms = 1);
    BROKEN(w->accumulated_ms = -1);
    BROKEN(w->execution_ms_max = -1);
    BROKEN(w->check_count = SL_CHECKS_MAX + 1);
    BROKEN(w->checks[0].state = SL_CHECK_REJECTED + 1);
    BROKEN(w->checks[0].retry_after_ms = -1);
    BROKEN(w->check_count = 2; w->checks[1] = w->checks[0]);
    BROKEN(w->unhealthy_count = SL_UNHEALTHY_MAX + 1);
#undef BROKEN
    *w = good;
    assert_true(sl_lifecycle_valid(id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lifecycle_unknown_id_is_refused),
        cmocka_unit_test(test_lifecycle_event_on_free_slot_is_refused),
        cmocka_unit_test(test_lifecycle_other_generation_is_stale),
        cmocka_unit_test(test_lifecycle_used_up_slot_is_full),
        cmocka_unit_test(test_lifecycle_create_twice_is_refused),
        cmocka_unit_test(test_lifecycle_clock_out_of_range_is_refused),
        cmocka_unit_test(test_lifecycle_field_out_of_range_is_refused),
        cmocka_unit_test(test_lifecycle_step_without_row_is_refused),
        cmocka_unit_test(test_lifecycle_reactivate_while_job_still_stops_is_refused),
        cmocka_unit_test(test_lifecycle_timeout_of_ready_pods_is_refused),
        cmocka_unit_test(test_lifecycle_inactive_is_refused),
        cmocka_unit_test(test_lifecycle_not_admissible_is_refused),
        cmocka_unit_test(test_lifecycle_unknown_check_is_refused),
        cmocka_unit_test(test_lifecycle_ninth_check_is_refused),
        cmocka_unit_test(test_lifecycle_unmarked_node_is_refused),
        cmocka_unit_test(test_lifecycle_nothing_new_is_refused),
        cmocka_unit_test(test_lifecycle_second_pass_without_need_is_refused),
        cmocka_unit_test(test_lifecycle_restore_into_a_lived_life_is_refused),
        cmocka_unit_test(test_lifecycle_valid_notices_broken_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
