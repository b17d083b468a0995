/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Every rule of docs/lifecycle.md at least once, phase by phase. */
#include "workload_fixture.h"

/* What row E must have left behind. */
static void assert_row_e(sl_workload_id id, enum sl_evict_reason reason, uint32_t evictions)
{
    const struct sl_workload *w = &sl_workloads[id];
    assert_int_equal(w->phase, SL_PHASE_EVICTED);
    assert_int_equal(w->evicted, reason);
    assert_true(w->evicted_at_ms == fixture_now_ms);
    assert_int_equal(w->eviction_count, evictions);
    assert_int_equal(w->unhealthy_count, 0);
    for (uint32_t i = 0; i < w->check_count; i++) {
        assert_int_equal(w->checks[i].state, SL_CHECK_PENDING);
    }
    assert_true(w->has_admission);
}

static void assert_released(sl_workload_id id)
{
    const struct sl_workload *w = &sl_workloads[id];
    assert_int_equal(w->phase, SL_PHASE_PENDING);
    assert_false(w->has_admission);
    assert_false(w->was_admitted);
    assert_false(w->topology_pending);
    assert_true(w->reserved_at_ms == SL_NEVER && w->admitted_at_ms == SL_NEVER);
    assert_false(sl_lifecycle_holds_quota(id));
}

static void test_lifecycle_create_is_pending_and_admissible(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    assert_true(sl_lifecycle_admissible(id));
    assert_false(sl_lifecycle_holds_quota(id));
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_EVALUATION);
}

static void test_lifecycle_reserve_with_open_check_waits(void **state)
{
    (void)state;
    sl_workload_id id = reserved();
    assert_true(sl_lifecycle_holds_quota(id));
    assert_true(sl_workloads[id].has_admission);
    assert_false(sl_workloads[id].was_admitted);
    assert_true(sl_workloads[id].reserved_at_ms == NOW_MS);
}

static void test_lifecycle_reserve_with_nothing_open_admits(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_RESERVE, 0, 0, 0);
    is_in(id, SL_PHASE_ADMITTED);
    assert_true(sl_workloads[id].was_admitted);
    assert_true(sl_workloads[id].admitted_at_ms == NOW_MS);
}

static void test_lifecycle_reserve_after_eviction_makes_it_history(void **state)
{
    (void)state;
    sl_workload_id id = evicted(SL_PREEMPT_IN_CLUSTER_QUEUE);
    happens(id, SL_EV_JOB_STOPPED, 0, 0, 0);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_PREEMPTED);
    happens(id, SL_EV_RESERVE, 0, 0, 0);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_NONE);
    assert_int_equal(sl_workloads[id].preempted, SL_PREEMPT_NONE);
    assert_true(sl_workloads[id].evicted_at_ms == SL_NEVER);
    assert_int_equal(sl_workloads[id].eviction_count, 1);
}

static void test_lifecycle_write_failed_takes_reservation_back(void **state)
{
    (void)state;
    sl_workload_id ids[2] = {reserved(), admitted()};
    for (int i = 0; i < 2; i++) {
        fixture_now_ms += 5000;
        happens(ids[i], SL_EV_WRITE_FAILED, 0, 0, 0);
        assert_released(ids[i]);
        assert_int_equal(sl_workloads[ids[i]].evicted, SL_EVICT_NONE);
        assert_true(sl_workloads[ids[i]].accumulated_ms == 0);
    }
}

static void test_lifecycle_refuse_notes_reason(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_REFUSE, 0, SL_PENDING_WAITING_FOR_QUOTA, 0);
    is_in(id, SL_PHASE_PENDING);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_WAITING_FOR_QUOTA);
    happens(id, SL_EV_REFUSE, 0, SL_PENDING_WAITING_FOR_QUOTA, 0);
}

static void test_lifecycle_checks_change_in_every_live_phase(void **state)
{
    (void)state;
    sl_workload_id ids[4] = {pending(), reserved(), admitted(), evicted(SL_PREEMPT_RECLAMATION)};
    for (int i = 0; i < 4; i++) {
        enum sl_phase phase = sl_workloads[ids[i]].phase;
        uint32_t count = sl_workloads[ids[i]].check_count;
        happens(ids[i], SL_EV_CHECK_ADD, CHECK_B, 0, 0);
        assert_int_equal(sl_workloads[ids[i]].check_count, count + 1);
        happens(ids[i], SL_EV_CHECK_STATE, CHECK_B, SL_CHECK_READY, 0);
        happens(ids[i], SL_EV_CHECK_DROP, CHECK_B, 0, 0);
        assert_int_equal(sl_workloads[ids[i]].check_count, count);
        is_in(ids[i], phase);
    }
}

static void test_lifecycle_last_check_ready_admits(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_CHECK_ADD, CHECK_A, 0, 0);
    happens(id, SL_EV_CHECK_ADD, CHECK_B, 0, 0);
    happens(id, SL_EV_RESERVE, 0, 0, 0);
    happens(id, SL_EV_CHECK_STATE, CHECK_B, SL_CHECK_READY, 0);
    is_in(id, SL_PHASE_QUOTA_RESERVED);
    fixture_now_ms += 10;
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_READY, 0);
    is_in(id, SL_PHASE_ADMITTED);
    assert_true(sl_workloads[id].admitted_at_ms == NOW_MS + 10);
}

static void test_lifecycle_last_open_check_dropped_admits(void **state)
{
    (void)state;
    sl_workload_id id = reserved();
    happens(id, SL_EV_CHECK_DROP, CHECK_A, 0, 0);
    is_in(id, SL_PHASE_ADMITTED);
}

static void test_lifecycle_all_checks_ready_with_topology_pending_waits(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_CHECK_ADD, CHECK_A, 0, 0);
    happens(id, SL_EV_RESERVE, 1, 0, 0);
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_READY, 0);
    is_in(id, SL_PHASE_QUOTA_RESERVED);
    happens(id, SL_EV_SECOND_PASS_MISS, 1, 0, 0);
    is_in(id, SL_PHASE_QUOTA_RESERVED);
    happens(id, SL_EV_SECOND_PASS_FIT, 0, 0, 0);
    is_in(id, SL_PHASE_ADMITTED);
    assert_false(sl_workloads[id].topology_pending);
}

static void test_lifecycle_check_retry_while_pending_only_puts_off(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_CHECK_ADD, CHECK_A, 0, 0);
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, 60000);
    is_in(id, SL_PHASE_PENDING);
    assert_true(sl_workloads[id].requeue_at_ms == NOW_MS + 60000);
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, 10000);
    assert_true(sl_workloads[id].requeue_at_ms == NOW_MS + 60000);
    assert_int_equal(sl_workloads[id].requeue_count, 0);
}

static void test_lifecycle_check_retry_evicts_and_counts(void **state)
{
    (void)state;
    sl_workload_id ids[2] = {reserved(), admitted()};
    for (int i = 0; i < 2; i++) {
        happens(ids[i], SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, 30000);
        assert_row_e(ids[i], SL_EVICT_ADMISSION_CHECK, 1);
        assert_int_equal(sl_workloads[ids[i]].checks[0].retry_count, 1);
        assert_true(sl_workloads[ids[i]].checks[0].retry_after_ms == 30000);
        assert_true(sl_workloads[ids[i]].requeue_at_ms == NOW_MS + 30000);
        assert_true(sl_lifecycle_holds_quota(ids[i]));
    }
}

/* It is evicted for the rejection, when it is deactivated. */
static void test_lifecycle_check_retry_after_a_rejection_evicts_nobody(void **state)
{
    (void)state;
    sl_workload_id ids[2] = {reserved(), admitted()};
    for (int i = 0; i < 2; i++) {
        enum sl_phase phase = sl_workloads[ids[i]].phase;
        happens(ids[i], SL_EV_CHECK_ADD, CHECK_B, 0, 0);
        happens(ids[i], SL_EV_CHECK_STATE, CHECK_B, SL_CHECK_REJECTED, 0);
        happens(ids[i], SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, 30000);
        is_in(ids[i], phase);
        assert_int_equal(sl_workloads[ids[i]].deactivation, SL_CAUSE_ADMISSION_CHECK);
        happens(ids[i], SL_EV_DEACTIVATE, 0, 0, 0);
        assert_row_e(ids[i], SL_EVICT_DEACTIVATED, 1);
    }
}

static void test_lifecycle_check_retry_beyond_time_saturates(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, SL_TIME_MAX);
    assert_true(sl_workloads[id].requeue_at_ms == SL_TIME_MAX);
}

static void test_lifecycle_check_rejected_marks_for_deactivation(void **state)
{
    (void)state;
    sl_workload_id ids[2] = {reserved(), admitted()};
    for (int i = 0; i < 2; i++) {
        enum sl_phase phase = sl_workloads[ids[i]].phase;
        happens(ids[i], SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_REJECTED, 0);
        is_in(ids[i], phase);
        assert_int_equal(sl_workloads[ids[i]].deactivation, SL_CAUSE_ADMISSION_CHECK);
    }
}

static void test_lifecycle_pods_ready_follows_start_and_recovery(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    const enum sl_pods_ready expected[5] = {SL_PODS_WAIT_FOR_START, SL_PODS_STARTED,
                                            SL_PODS_WAIT_FOR_RECOVERY, SL_PODS_RECOVERED,
                                            SL_PODS_WAIT_FOR_RECOVERY};
    for (uint32_t i = 0; i < 5; i++) {
        fixture_now_ms++;
        happens(id, SL_EV_PODS_READY, i % 2, 0, 0);
        assert_int_equal(sl_workloads[id].pods_ready, expected[i]);
        assert_true(sl_workloads[id].pods_ready_at_ms == fixture_now_ms);
    }
    happens(id, SL_EV_PREEMPT, 0, SL_PREEMPT_RECLAMATION, 0);
    happens(id, SL_EV_PODS_READY, 1, 0, 0);
    assert_int_equal(sl_workloads[id].pods_ready, SL_PODS_RECOVERED);
}

/* So many requeues at most, each a delay later. */
static void rules(uint32_t most, int64_t base_ms)
{
    sl_requeue_configure((struct sl_requeue_rules){true, most, base_ms, 3600000});
}

static void test_lifecycle_pods_timeout_evicts_and_backs_off(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    rules(1, 60000);
    happens(id, SL_EV_PODS_READY_TIMEOUT, 50, 0, 0);
    assert_row_e(id, SL_EVICT_PODS_READY_TIMEOUT, 1);
    assert_int_equal(sl_workloads[id].requeue_count, 1);
    assert_true(sl_workloads[id].requeue_at_ms == NOW_MS + 60003); /* with 50 millionths of it */
}

static void test_lifecycle_pods_timeout_rules_out_of_bounds_count_as_none(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    sl_requeue_configure((struct sl_requeue_rules){false, 0, -1, SL_TIME_MAX + 1});
    happens(id, SL_EV_PODS_READY_TIMEOUT, 100, 0, 0);
    assert_true(sl_workloads[id].requeue_at_ms == NOW_MS);
}

static void test_lifecycle_pods_timeout_never_moves_requeue_back(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_CHECK_ADD, CHECK_A, 0, 0);
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, 5000);
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_READY, 0);
    fixture_now_ms += 5000;
    happens(id, SL_EV_RESERVE, 0, 0, 0);
    rules(1, 0);
    happens(id, SL_EV_PODS_READY_TIMEOUT, 0, 0, 0);
    assert_true(sl_workloads[id].requeue_at_ms == NOW_MS + 5000);
}

static void test_lifecycle_pods_timeout_at_limit_marks_for_deactivation(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    rules(0, 60000);
    happens(id, SL_EV_PODS_READY_TIMEOUT, 0, 0, 0);
    is_in(id, SL_PHASE_ADMITTED);
    assert_int_equal(sl_workloads[id].deactivation, SL_CAUSE_REQUEUING_LIMIT);
    assert_int_equal(sl_workloads[id].requeue_count, 0);
    assert_true(sl_workloads[id].requeue_at_ms == SL_NEVER);
    assert_false(sl_lifecycle_admissible(id));
}

static void test_lifecycle_restored_target_has_the_cause_that_was_found(void **state)
{
    (void)state;
    for (uint32_t cause = SL_CAUSE_NONE + 1; cause < SL_CAUSES; cause++) {
        sl_workload_id id = admitted();
        happens(id, SL_EV_RESTORE_TARGET, 0, cause, 0);
        is_in(id, SL_PHASE_ADMITTED);
        assert_int_equal(sl_workloads[id].deactivation, cause);
    }
}

static void test_lifecycle_execution_timeout_forgives_run_time(void **state)
{
    (void)state;
    sl_workload_id id = fixture_next_id++;
    fixture_now_ms = NOW_MS;
    happens(id, SL_EV_CREATE, 0, 0, 10000);
    happens(id, SL_EV_RESERVE, 0, 0, 0);
    fixture_now_ms += 9999;
    assert_int_equal(event(id, SL_EV_EXECUTION_TIMEOUT, 0, 0, 0), SL_REFUSED_TRANSITION);
    fixture_now_ms += 1;
    happens(id, SL_EV_EXECUTION_TIMEOUT, 0, 0, 0);
    assert_int_equal(sl_workloads[id].deactivation, SL_CAUSE_EXECUTION_TIME);
    happens(id, SL_EV_DEACTIVATE, 0, 0, 0);
    happens(id, SL_EV_JOB_STOPPED, 0, 0, 0);
    assert_true(sl_workloads[id].accumulated_ms == 0);
    assert_int_equal(sl_workloads[id].deactivation, SL_CAUSE_EXECUTION_TIME);
}

static void test_lifecycle_drain_evicts_admitted(void **state)
{
    (void)state;
    const enum sl_evict_reason reasons[2] = {SL_EVICT_CLUSTER_QUEUE_STOPPED,
                                             SL_EVICT_LOCAL_QUEUE_STOPPED};
    for (int i = 0; i < 2; i++) {
        sl_workload_id id = admitted();
        happens(id, SL_EV_DRAIN, 0, reasons[i], 0);
        assert_row_e(id, reasons[i], 1);
    }
}

static void test_lifecycle_queue_unusable_releases_without_eviction(void **state)
{
    (void)state;
    sl_workload_id id = reserved();
    happens(id, SL_EV_QUEUE_UNUSABLE, 0, SL_PENDING_SUSPENDED, 0);
    assert_released(id);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_NONE);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_SUSPENDED);
    happens(id, SL_EV_QUEUE_UNUSABLE, 0, SL_PENDING_MISCONFIGURED, 0);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_MISCONFIGURED);
}

static void test_lifecycle_job_stopped_releases_and_requeues_preempted(void **state)
{
    (void)state;
    sl_workload_id id = evicted(SL_PREEMPT_IN_CLUSTER_QUEUE);
    fixture_now_ms += 7999;
    happens(id, SL_EV_JOB_STOPPED, 0, 0, 0);
    assert_released(id);
    assert_int_equal(sl_workloads[id].requeued, SL_REQUEUED_TRUE);
    assert_int_equal(sl_workloads[id].requeue_reason, SL_REQUEUE_PREEMPTED);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_PREEMPTED);
    assert_true(sl_workloads[id].accumulated_ms == 7000);
}

static void test_lifecycle_job_stopped_single_pod_is_not_requeued(void **state)
{
    (void)state;
    sl_workload_id id = evicted(SL_PREEMPT_IN_CLUSTER_QUEUE);
    happens(id, SL_EV_JOB_STOPPED, 1, 0, 0);
    assert_int_equal(sl_workloads[id].requeued, SL_REQUEUED_FALSE);
}

static void test_lifecycle_job_stopped_after_clock_went_back_adds_nothing(void **state)
{
    (void)state;
    sl_workload_id id = evicted(SL_PREEMPT_IN_CLUSTER_QUEUE);
    fixture_now_ms = 1;
    happens(id, SL_EV_JOB_STOPPED, 0, 0, 0);
    assert_true(sl_workloads[id].accumulated_ms == 0);
}

static void test_lifecycle_backoff_over_requeues_timeout(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    rules(1, 100);
    happens(id, SL_EV_PODS_READY_TIMEOUT, 0, 0, 0);
    happens(id, SL_EV_JOB_STOPPED, 0, 0, 0);
    assert_int_equal(sl_workloads[id].requeued, SL_REQUEUED_FALSE);
    assert_int_equal(event(id, SL_EV_RESERVE, 0, 0, 0), SL_REFUSED_NOT_ADMISSIBLE);
    fixture_now_ms += 100;
    happens(id, SL_EV_BACKOFF_OVER, 0, 0, 0);
    assert_int_equal(sl_workloads[id].requeue_reason, SL_REQUEUE_BACKOFF_FINISHED);
    assert_true(sl_workloads[id].requeue_at_ms == SL_NEVER);
    assert_int_equal(sl_workloads[id].requeue_count, 1);
}

static void test_lifecycle_backoff_passed_only_clears_time(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_CHECK_ADD, CHECK_A, 0, 0);
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, 1);
    fixture_now_ms += 1;
    happens(id, SL_EV_BACKOFF_OVER, 0, 0, 0);
    assert_true(sl_workloads[id].requeue_at_ms == SL_NEVER);
    assert_int_equal(sl_workloads[id].requeued, SL_REQUEUED_UNSET);
}

static void test_lifecycle_queue_restarted_requeues_its_own(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    happens(id, SL_EV_DRAIN, 0, SL_EVICT_CLUSTER_QUEUE_STOPPED, 0);
    happens(id, SL_EV_JOB_STOPPED, 0, 0, 0);
    assert_int_equal(event(id, SL_EV_QUEUE_RESTARTED, 0, SL_EVICT_LOCAL_QUEUE_STOPPED, 0),
                     SL_REFUSED_NO_CHANGE);
    happens(id, SL_EV_QUEUE_RESTARTED, 0, SL_EVICT_CLUSTER_QUEUE_STOPPED, 0);
    assert_int_equal(sl_workloads[id].requeued, SL_REQUEUED_TRUE);
    assert_int_equal(sl_workloads[id].requeue_reason, SL_REQUEUE_CLUSTER_QUEUE_RESTARTED);
}

static void test_lifecycle_preempt_evicts_and_keeps_quota(void **state)
{
    (void)state;
    sl_workload_id ids[2] = {reserved(), admitted()};
    for (int i = 0; i < 2; i++) {
        happens(ids[i], SL_EV_PREEMPT, 0, SL_PREEMPT_FAIR_SHARING, 0);
        assert_row_e(ids[i], SL_EVICT_PREEMPTED, 1);
        assert_int_equal(sl_workloads[ids[i]].preempted, SL_PREEMPT_FAIR_SHARING);
        assert_true(sl_lifecycle_holds_quota(ids[i]));
    }
}

static void test_lifecycle_deactivate_pending_resets_and_forgets_backoff(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_CHECK_ADD, CHECK_A, 0, 0);
    happens(id, SL_EV_CHECK_STATE, CHECK_A, SL_CHECK_RETRY, 60000);
    happens(id, SL_EV_DEACTIVATE, 0, 0, 0);
    is_in(id, SL_PHASE_PENDING);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_DEACTIVATED);
    assert_int_equal(sl_workloads[id].checks[0].state, SL_CHECK_PENDING);
    assert_true(sl_workloads[id].requeue_at_ms == SL_NEVER);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_DEACTIVATED);
    assert_false(sl_lifecycle_admissible(id));
}

static void test_lifecycle_deactivate_holder_evicts_and_drops_quota(void **state)
{
    (void)state;
    sl_workload_id ids[2] = {reserved(), admitted()};
    for (int i = 0; i < 2; i++) {
        happens(ids[i], SL_EV_DEACTIVATE, 0, 0, 0);
        assert_row_e(ids[i], SL_EVICT_DEACTIVATED, 1);
        assert_false(sl_lifecycle_holds_quota(ids[i]));
    }
}

static void test_lifecycle_deactivate_evicted_does_not_evict_twice(void **state)
{
    (void)state;
    sl_workload_id id = evicted(SL_PREEMPT_IN_CLUSTER_QUEUE);
    happens(id, SL_EV_DEACTIVATE, 0, 0, 0);
    assert_row_e(id, SL_EVICT_PREEMPTED, 1);
    assert_false(sl_lifecycle_holds_quota(id));
    happens(id, SL_EV_JOB_STOPPED, 0, 0, 0);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_DEACTIVATED);
    happens(id, SL_EV_REACTIVATE, 0, 0, 0);
    happens(id, SL_EV_DEACTIVATE, 0, 0, 0);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_PREEMPTED);
    assert_int_equal(sl_workloads[id].eviction_count, 1);
}

static void test_lifecycle_reactivate_after_auto_deactivation_requeues(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    rules(0, 0);
    happens(id, SL_EV_PODS_READY_TIMEOUT, 0, 0, 0);
    happens(id, SL_EV_DEACTIVATE, 0, 0, 0);
    assert_int_equal(sl_workloads[id].deactivation, SL_CAUSE_REQUEUING_LIMIT);
    happens(id, SL_EV_JOB_STOPPED, 0, 0, 0);
    happens(id, SL_EV_REACTIVATE, 0, 0, 0);
    assert_int_equal(sl_workloads[id].requeued, SL_REQUEUED_TRUE);
    assert_int_equal(sl_workloads[id].requeue_reason, SL_REQUEUE_REACTIVATED);
    assert_int_equal(sl_workloads[id].deactivation, SL_CAUSE_NONE);
    assert_true(sl_lifecycle_admissible(id));
}

static void test_lifecycle_reactivate_never_queued_stays_unset(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_DEACTIVATE, 0, 0, 0);
    happens(id, SL_EV_REACTIVATE, 0, 0, 0);
    assert_int_equal(sl_workloads[id].requeued, SL_REQUEUED_UNSET);
    assert_true(sl_lifecycle_admissible(id));
}

static void test_lifecycle_hold_releases_and_unhold_queues(void **state)
{
    (void)state;
    sl_workload_id ids[3] = {pending(), reserved(), admitted()};
    for (int i = 0; i < 3; i++) {
        happens(ids[i], SL_EV_HOLD, 0, 0, 0);
        assert_released(ids[i]);
        assert_int_equal(sl_workloads[ids[i]].evicted, SL_EVICT_NONE);
        assert_int_equal(sl_workloads[ids[i]].pending_reason, SL_PENDING_ON_HOLD);
        assert_false(sl_lifecycle_admissible(ids[i]));
        happens(ids[i], SL_EV_UNHOLD, 0, 0, 0);
        assert_true(sl_lifecycle_admissible(ids[i]));
    }
    sl_workload_id id = evicted(SL_PREEMPT_RECLAMATION);
    happens(id, SL_EV_HOLD, 0, 0, 0);
    is_in(id, SL_PHASE_EVICTED);
    happens(id, SL_EV_UNHOLD, 0, 0, 0);
    is_in(id, SL_PHASE_EVICTED);
}

static void test_lifecycle_gate_keeps_phase_and_blocks_queue(void **state)
{
    (void)state;
    sl_workload_id ids[4] = {pending(), reserved(), admitted(), evicted(SL_PREEMPT_RECLAMATION)};
    for (int i = 0; i < 4; i++) {
        enum sl_phase phase = sl_workloads[ids[i]].phase;
        happens(ids[i], SL_EV_GATE, 0, 0, 0);
        is_in(ids[i], phase);
        assert_true(sl_workloads[ids[i]].gated);
        assert_false(sl_lifecycle_admissible(ids[i]));
        happens(ids[i], SL_EV_UNGATE, 0, 0, 0);
        assert_int_equal(sl_lifecycle_admissible(ids[i]), phase == SL_PHASE_PENDING);
    }
    happens(ids[0], SL_EV_GATE, 0, 0, 0);
    assert_int_equal(sl_workloads[ids[0]].pending_reason, SL_PENDING_GATED);
}

static void test_lifecycle_rescale_changes_nothing_here(void **state)
{
    (void)state;
    sl_workload_id ids[4] = {pending(), reserved(), admitted(), evicted(SL_PREEMPT_RECLAMATION)};
    for (int i = 0; i < 4; i++) {
        struct sl_workload before = sl_workloads[ids[i]];
        happens(ids[i], SL_EV_RESCALE, 0, 0, 0);
        assert_memory_equal(&before, &sl_workloads[ids[i]], sizeof before);
    }
}

static void test_lifecycle_node_failed_marks_and_recovery_unmarks(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    happens(id, SL_EV_NODE_FAILED, HOST_A, 0, 0);
    is_in(id, SL_PHASE_ADMITTED);
    assert_int_equal(sl_workloads[id].unhealthy_count, 1);
    assert_int_equal(sl_workloads[id].unhealthy[0], HOST_A);
    assert_true(sl_lifecycle_needs_pass(id));
    happens(id, SL_EV_NODE_RECOVERED, HOST_A, 0, 0);
    assert_false(sl_lifecycle_needs_pass(id));
}

static void test_lifecycle_failed_nodes_are_marked_side_by_side(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    happens(id, SL_EV_NODE_FAILED, HOST_A, 0, 0);
    happens(id, SL_EV_NODE_FAILED, HOST_B, 0, 0);
    happens(id, SL_EV_NODE_FAILED, HOST_B + 1, 0, 0);
    assert_int_equal(event(id, SL_EV_NODE_FAILED, HOST_B, 0, 0), SL_REFUSED_NO_CHANGE);
    assert_int_equal(sl_workloads[id].unhealthy_count, 3);
    happens(id, SL_EV_NODE_RECOVERED, HOST_A, 0, 0);
    assert_int_equal(event(id, SL_EV_NODE_RECOVERED, HOST_A, 0, 0), SL_REFUSED_NO_NODE);
    is_in(id, SL_PHASE_ADMITTED);
    assert_int_equal(sl_workloads[id].unhealthy_count, 2);
    assert_int_equal(sl_workloads[id].unhealthy[0], HOST_B + 1);
    assert_int_equal(sl_workloads[id].unhealthy[1], HOST_B);
    assert_true(sl_lifecycle_needs_pass(id));
    happens(id, SL_EV_SECOND_PASS_FIT, 0, 0, 0);
    assert_int_equal(sl_workloads[id].unhealthy_count, 0);
}

static void test_lifecycle_more_failed_nodes_than_marks_evicts(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    for (uint32_t i = 0; i < SL_UNHEALTHY_MAX; i++) {
        happens(id, SL_EV_NODE_FAILED, HOST_A + i, 0, 0);
        is_in(id, SL_PHASE_ADMITTED);
    }
    happens(id, SL_EV_NODE_FAILED, HOST_A + SL_UNHEALTHY_MAX, 0, 0);
    assert_row_e(id, SL_EVICT_NODE_FAILURES, 1);
    happens(id, SL_EV_JOB_STOPPED, 0, 0, 0);
    assert_int_equal(sl_workloads[id].requeue_reason, SL_REQUEUE_NODE_FAILURES);
}

/* As many as the event says, if that is fewer than can be marked. */
static void test_lifecycle_more_failed_nodes_than_are_replaced_evicts(void **state)
{
    (void)state;
    for (uint32_t most = 1; most <= SL_UNHEALTHY_MAX; most++) {
        sl_workload_id id = admitted();
        for (uint32_t i = 0; i < most; i++) {
            happens(id, SL_EV_NODE_FAILED, HOST_A + i, 0, most);
            is_in(id, SL_PHASE_ADMITTED);
        }
        happens(id, SL_EV_NODE_FAILED, HOST_A + most, 0, most);
        assert_row_e(id, SL_EVICT_NODE_FAILURES, 1);
    }
}

static void test_lifecycle_second_pass_replaces_retries_or_evicts(void **state)
{
    (void)state;
    sl_workload_id id = admitted();
    int64_t since = sl_workloads[id].admitted_at_ms;
    happens(id, SL_EV_NODE_FAILED, HOST_A, 0, 0);
    fixture_now_ms += 1000;
    happens(id, SL_EV_SECOND_PASS_MISS, 0, 0, 0);
    assert_int_equal(sl_workloads[id].unhealthy_count, 1);
    happens(id, SL_EV_SECOND_PASS_FIT, 0, 0, 0);
    is_in(id, SL_PHASE_ADMITTED);
    assert_int_equal(sl_workloads[id].unhealthy_count, 0);
    assert_true(sl_workloads[id].admitted_at_ms == since);
    happens(id, SL_EV_NODE_FAILED, HOST_A, 0, 0);
    happens(id, SL_EV_SECOND_PASS_MISS, 1, 0, 0);
    assert_row_e(id, SL_EVICT_NODE_FAILURES, 1);
}

static void test_lifecycle_finish_from_every_live_phase_is_final(void **state)
{
    (void)state;
    sl_workload_id ids[4] = {pending(), reserved(), admitted(), evicted(SL_PREEMPT_RECLAMATION)};
    for (uint32_t i = 0; i < 4; i++) {
        happens(ids[i], SL_EV_FINISH, 0, SL_FINISH_SUCCEEDED + i, 0);
        is_in(ids[i], SL_PHASE_FINISHED);
        assert_int_equal(sl_workloads[ids[i]].finished, SL_FINISH_SUCCEEDED + i);
        assert_false(sl_lifecycle_holds_quota(ids[i]));
        for (uint32_t kind = 0; kind < SL_EVENT_COUNT; kind++) {
            if (kind != SL_EV_DELETE) {
                assert_int_equal(event(ids[i], kind, 0, 0, 0), SL_REFUSED_FINISHED);
            }
        }
    }
}

static void test_lifecycle_delete_ends_incarnation_in_every_phase(void **state)
{
    (void)state;
    sl_workload_id ids[5] = {pending(), reserved(), admitted(), evicted(SL_PREEMPT_RECLAMATION),
                             finished()};
    for (int i = 0; i < 5; i++) {
        uint32_t generation = sl_workloads[ids[i]].generation;
        happens(ids[i], SL_EV_DELETE, 0, 0, 0);
        is_in(ids[i], SL_PHASE_ABSENT);
        assert_int_equal(sl_workloads[ids[i]].generation, generation + 1);
        struct sl_event late = {SL_EV_RESCALE, ids[i], generation, 0, 0, 0, NOW_MS};
        assert_int_equal(sl_lifecycle_apply(late), SL_REFUSED_STALE);
        happens(ids[i], SL_EV_CREATE, 0, 0, 0);
        assert_true(sl_lifecycle_admissible(ids[i]));
        assert_int_equal(sl_workloads[ids[i]].eviction_count, 0);
        assert_int_equal(sl_workloads[ids[i]].check_count, 0);
    }
}

static void test_lifecycle_queue_moved_only_while_pending(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_REFUSE, 0, SL_PENDING_WAITING_FOR_QUOTA, 0);
    happens(id, SL_EV_QUEUE_MOVED, 0, 0, 0);
    assert_int_equal(sl_workloads[id].pending_reason, SL_PENDING_EVALUATION);
}

static void test_lifecycle_restore_pending_history(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_RESTORE_EVICTED, SL_REQUEUED_FALSE, SL_EVICT_PODS_READY_TIMEOUT, 42000);
    happens(id, SL_EV_RESTORE_REQUEUE, 3, 0, NOW_MS + 500);
    is_in(id, SL_PHASE_PENDING);
    assert_int_equal(sl_workloads[id].evicted, SL_EVICT_PODS_READY_TIMEOUT);
    assert_int_equal(sl_workloads[id].requeue_count, 3);
    assert_true(sl_workloads[id].accumulated_ms == 42000);
    fixture_now_ms += 500;
    happens(id, SL_EV_BACKOFF_OVER, 0, 0, 0);
    happens(id, SL_EV_RESERVE, 0, 0, 0);
}

static void test_lifecycle_restore_requeued_true_knows_its_reason(void **state)
{
    (void)state;
    const uint32_t expected[] = {[SL_EVICT_NONE] = SL_REQUEUE_BACKOFF_FINISHED,
                                 [SL_EVICT_PREEMPTED] = SL_REQUEUE_PREEMPTED,
                                 [SL_EVICT_PODS_READY_TIMEOUT] = SL_REQUEUE_BACKOFF_FINISHED,
                                 [SL_EVICT_ADMISSION_CHECK] = SL_REQUEUE_BACKOFF_FINISHED,
                                 [SL_EVICT_CLUSTER_QUEUE_STOPPED] =
                                     SL_REQUEUE_CLUSTER_QUEUE_RESTARTED,
                                 [SL_EVICT_LOCAL_QUEUE_STOPPED] = SL_REQUEUE_LOCAL_QUEUE_RESTARTED,
                                 [SL_EVICT_NODE_FAILURES] = SL_REQUEUE_NODE_FAILURES,
                                 [SL_EVICT_DEACTIVATED] = SL_REQUEUE_REACTIVATED,
                                 [SL_EVICT_FLAVOR_MIGRATION] = SL_REQUEUE_FLAVOR_MIGRATION};
    for (uint32_t reason = 0; reason < sizeof expected / sizeof expected[0]; reason++) {
        sl_workload_id id = pending();
        happens(id, SL_EV_RESTORE_EVICTED, SL_REQUEUED_TRUE, reason, 0);
        assert_int_equal(sl_workloads[id].requeue_reason, expected[reason]);
    }
}

static void test_lifecycle_restore_evicted_holder(void **state)
{
    (void)state;
    sl_workload_id ids[2] = {reserved(), admitted()};
    for (int i = 0; i < 2; i++) {
        happens(ids[i], SL_EV_RESTORE_EVICTED, 0, SL_EVICT_NODE_FAILURES, 5000);
        assert_row_e(ids[i], SL_EVICT_NODE_FAILURES, 1);
        assert_true(sl_workloads[ids[i]].accumulated_ms == 5000);
    }
}

static void test_lifecycle_run_time_saturates(void **state)
{
    (void)state;
    sl_workload_id id = pending();
    happens(id, SL_EV_RESTORE_EVICTED, SL_REQUEUED_UNSET, SL_EVICT_NONE, SL_TIME_MAX);
    happens(id, SL_EV_RESERVE, 0, 0, 0);
    fixture_now_ms += 60000;
    happens(id, SL_EV_HOLD, 0, 0, 0);
    assert_true(sl_workloads[id].accumulated_ms == SL_TIME_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lifecycle_create_is_pending_and_admissible),
        cmocka_unit_test(test_lifecycle_reserve_with_open_check_waits),
        cmocka_unit_test(test_lifecycle_reserve_with_nothing_open_admits),
        cmocka_unit_test(test_lifecycle_reserve_after_eviction_makes_it_history),
        cmocka_unit_test(test_lifecycle_write_failed_takes_reservation_back),
        cmocka_unit_test(test_lifecycle_refuse_notes_reason),
        cmocka_unit_test(test_lifecycle_checks_change_in_every_live_phase),
        cmocka_unit_test(test_lifecycle_last_check_ready_admits),
        cmocka_unit_test(test_lifecycle_last_open_check_dropped_admits),
        cmocka_unit_test(test_lifecycle_all_checks_ready_with_topology_pending_waits),
        cmocka_unit_test(test_lifecycle_check_retry_while_pending_only_puts_off),
        cmocka_unit_test(test_lifecycle_check_retry_evicts_and_counts),
        cmocka_unit_test(test_lifecycle_check_retry_after_a_rejection_evicts_nobody),
        cmocka_unit_test(test_lifecycle_check_retry_beyond_time_saturates),
        cmocka_unit_test(test_lifecycle_check_rejected_marks_for_deactivation),
        cmocka_unit_test(test_lifecycle_pods_ready_follows_start_and_recovery),
        cmocka_unit_test(test_lifecycle_pods_timeout_evicts_and_backs_off),
        cmocka_unit_test(test_lifecycle_pods_timeout_rules_out_of_bounds_count_as_none),
        cmocka_unit_test(test_lifecycle_pods_timeout_never_moves_requeue_back),
        cmocka_unit_test(test_lifecycle_pods_timeout_at_limit_marks_for_deactivation),
        cmocka_unit_test(test_lifecycle_restored_target_has_the_cause_that_was_found),
        cmocka_unit_test(test_lifecycle_execution_timeout_forgives_run_time),
        cmocka_unit_test(test_lifecycle_drain_evicts_admitted),
        cmocka_unit_test(test_lifecycle_queue_unusable_releases_without_eviction),
        cmocka_unit_test(test_lifecycle_job_stopped_releases_and_requeues_preempted),
        cmocka_unit_test(test_lifecycle_job_stopped_single_pod_is_not_requeued),
        cmocka_unit_test(test_lifecycle_job_stopped_after_clock_went_back_adds_nothing),
        cmocka_unit_test(test_lifecycle_backoff_over_requeues_timeout),
        cmocka_unit_test(test_lifecycle_backoff_passed_only_clears_time),
        cmocka_unit_test(test_lifecycle_queue_restarted_requeues_its_own),
        cmocka_unit_test(test_lifecycle_preempt_evicts_and_keeps_quota),
        cmocka_unit_test(test_lifecycle_deactivate_pending_resets_and_forgets_backoff),
        cmocka_unit_test(test_lifecycle_deactivate_holder_evicts_and_drops_quota),
        cmocka_unit_test(test_lifecycle_deactivate_evicted_does_not_evict_twice),
        cmocka_unit_test(test_lifecycle_reactivate_after_auto_deactivation_requeues),
        cmocka_unit_test(test_lifecycle_reactivate_never_queued_stays_unset),
        cmocka_unit_test(test_lifecycle_hold_releases_and_unhold_queues),
        cmocka_unit_test(test_lifecycle_gate_keeps_phase_and_blocks_queue),
        cmocka_unit_test(test_lifecycle_rescale_changes_nothing_here),
        cmocka_unit_test(test_lifecycle_node_failed_marks_and_recovery_unmarks),
        cmocka_unit_test(test_lifecycle_failed_nodes_are_marked_side_by_side),
        cmocka_unit_test(test_lifecycle_more_failed_nodes_than_marks_evicts),
        cmocka_unit_test(test_lifecycle_more_failed_nodes_than_are_replaced_evicts),
        cmocka_unit_test(test_lifecycle_second_pass_replaces_retries_or_evicts),
        cmocka_unit_test(test_lifecycle_finish_from_every_live_phase_is_final),
        cmocka_unit_test(test_lifecycle_delete_ends_incarnation_in_every_phase),
        cmocka_unit_test(test_lifecycle_queue_moved_only_while_pending),
        cmocka_unit_test(test_lifecycle_restore_pending_history),
        cmocka_unit_test(test_lifecycle_restore_requeued_true_knows_its_reason),
        cmocka_unit_test(test_lifecycle_restore_evicted_holder),
        cmocka_unit_test(test_lifecycle_run_time_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
