/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the state of its queues means for a workload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/verdicts/queue_state.h"

static const struct sl_queue_sight open_queues = {
    .local_exists = true, .named = true, .exists = true, .active = true};
static const struct sl_own_sight good = {.check_objects = false};

static void test_queue_state_obstacles_come_in_their_order(void **state)
{
    (void)state;
    /* All at once; then one is taken away after the other. */
    struct sl_queue_sight s = {.local_deleting = true,
                               .local_stop = SL_STOP_HOLD,
                               .deleting = true,
                               .stop = SL_STOP_DRAIN};
    struct sl_own_sight own = {true, true, true};
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_LOCAL_MISSING);
    s.local_exists = true;
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_LOCAL_DELETED);
    s.local_deleting = false;
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_LOCAL_STOPPED);
    s.local_stop = SL_STOP_NONE;
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_UNNAMED);
    s.named = true;
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_QUEUE_MISSING);
    s.exists = true;
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_QUEUE_STOPPED);
    s.deleting = false;
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_QUEUE_STOPPED);
    s.stop = SL_STOP_NONE;
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_QUEUE_INACTIVE);
    s.active = true;
    assert_int_equal(sl_queue_state_of_queues(s), SL_OBSTACLE_NONE);
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_CHECK);
    own.check_objects = false;
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_OVERSIZED);
    own.oversized = false;
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_OBJECT);
    assert_int_equal(sl_queue_state_judge(s, good), SL_OBSTACLE_NONE);
    own = (struct sl_own_sight){.oversized = true}; /* means nothing by itself */
    assert_int_equal(sl_queue_state_judge(s, own), SL_OBSTACLE_NONE);
}

static void test_queue_state_deleting_alone_stops_a_queue(void **state)
{
    (void)state;
    struct sl_queue_sight s = open_queues;
    s.deleting = true;
    assert_int_equal(sl_queue_state_of_queues(s), SL_OBSTACLE_QUEUE_STOPPED);
}

static void test_queue_state_reasons(void **state)
{
    (void)state;
    const enum sl_pending_reason reasons[] = {
        [SL_OBSTACLE_NONE] = SL_PENDING_MISCONFIGURED,
        [SL_OBSTACLE_LOCAL_MISSING] = SL_PENDING_MISCONFIGURED,
        [SL_OBSTACLE_LOCAL_DELETED] = SL_PENDING_MISCONFIGURED,
        [SL_OBSTACLE_LOCAL_STOPPED] = SL_PENDING_SUSPENDED,
        [SL_OBSTACLE_UNNAMED] = SL_PENDING_MISCONFIGURED,
        [SL_OBSTACLE_QUEUE_MISSING] = SL_PENDING_MISCONFIGURED,
        [SL_OBSTACLE_QUEUE_STOPPED] = SL_PENDING_SUSPENDED,
        [SL_OBSTACLE_QUEUE_INACTIVE] = SL_PENDING_SUSPENDED,
        [SL_OBSTACLE_CHECK] = SL_PENDING_EVALUATION,
        [SL_OBSTACLE_OVERSIZED] = SL_PENDING_EXCEEDS_MAX_QUOTA,
        [SL_OBSTACLE_OBJECT] = SL_PENDING_MISCONFIGURED};
    for (enum sl_obstacle o = SL_OBSTACLE_NONE; o <= SL_OBSTACLE_OBJECT; o++) {
        assert_int_equal(sl_queue_state_reason(o), reasons[o]);
    }
}

static struct sl_workload pending(enum sl_pending_reason reason)
{
    return (struct sl_workload){
        .phase = SL_PHASE_PENDING, .active = true, .pending_reason = reason};
}

static void assert_step(struct sl_workload w, enum sl_obstacle o, bool told,
                        enum sl_queue_step step)
{
    assert_int_equal(sl_queue_state_unusable(&w, o, told).step, step);
}

static void test_queue_state_pending_workload_gets_the_reason(void **state)
{
    (void)state;
    struct sl_workload w = pending(SL_PENDING_WAITING_FOR_QUOTA);
    for (enum sl_obstacle o = SL_OBSTACLE_LOCAL_MISSING; o <= SL_OBSTACLE_OBJECT; o++) {
        bool own = o == SL_OBSTACLE_CHECK || o == SL_OBSTACLE_OVERSIZED;
        assert_step(w, o, true, own ? SL_QUEUE_STEP_REFUSE : SL_QUEUE_STEP_UNUSABLE);
        assert_int_equal(sl_queue_state_unusable(&w, o, true).reason, sl_queue_state_reason(o));
    }
}

static void test_queue_state_new_words_for_the_same_reason_are_said(void **state)
{
    (void)state;
    struct sl_workload w = pending(SL_PENDING_MISCONFIGURED);
    assert_step(w, SL_OBSTACLE_QUEUE_MISSING, false, SL_QUEUE_STEP_SAY);
    assert_step(w, SL_OBSTACLE_QUEUE_MISSING, true, SL_QUEUE_STEP_NONE);
    assert_step(pending(SL_PENDING_EVALUATION), SL_OBSTACLE_CHECK, false, SL_QUEUE_STEP_NONE);
}

static void test_queue_state_workload_that_is_not_in_line_is_left_alone(void **state)
{
    (void)state;
    struct sl_workload w = pending(SL_PENDING_GATED);
    w.gated = true;
    assert_step(w, SL_OBSTACLE_QUEUE_STOPPED, false, SL_QUEUE_STEP_NONE);
    w.gated = false;
    w.on_hold = true;
    assert_step(w, SL_OBSTACLE_QUEUE_STOPPED, false, SL_QUEUE_STEP_NONE);
    w.on_hold = w.active = false;
    assert_step(w, SL_OBSTACLE_QUEUE_STOPPED, false, SL_QUEUE_STEP_NONE);
    w.active = true;
    w.phase = SL_PHASE_ADMITTED;
    assert_step(w, SL_OBSTACLE_QUEUE_STOPPED, false, SL_QUEUE_STEP_NONE);
}

static void test_queue_state_reservation_is_lost_with_its_queues_only(void **state)
{
    (void)state;
    struct sl_workload w = {.phase = SL_PHASE_QUOTA_RESERVED, .active = true};
    for (enum sl_obstacle o = SL_OBSTACLE_LOCAL_MISSING; o <= SL_OBSTACLE_OBJECT; o++) {
        assert_step(w, o, false,
                    o <= SL_OBSTACLE_QUEUE_STOPPED ? SL_QUEUE_STEP_UNUSABLE : SL_QUEUE_STEP_NONE);
    }
}

static void test_queue_state_restarts_what_stopped_with_its_queue(void **state)
{
    (void)state;
    struct sl_workload w = {
        .active = true, .requeued = SL_REQUEUED_FALSE, .evicted = SL_EVICT_CLUSTER_QUEUE_STOPPED};
    assert_true(sl_queue_state_restarts(&w));
    w.evicted = SL_EVICT_LOCAL_QUEUE_STOPPED;
    assert_true(sl_queue_state_restarts(&w));
    w.evicted = SL_EVICT_PREEMPTED;
    assert_false(sl_queue_state_restarts(&w));
    w.evicted = SL_EVICT_LOCAL_QUEUE_STOPPED;
    w.active = false;
    assert_false(sl_queue_state_restarts(&w));
    w.active = true;
    w.requeued = SL_REQUEUED_TRUE;
    assert_false(sl_queue_state_restarts(&w));
}

static void test_queue_state_reason_of_the_queues_ends_with_it(void **state)
{
    (void)state;
    struct sl_workload w = pending(SL_PENDING_SUSPENDED);
    assert_true(sl_queue_state_is_over(&w, true));
    w = pending(SL_PENDING_MISCONFIGURED);
    assert_true(sl_queue_state_is_over(&w, false));
    assert_false(sl_queue_state_is_over(&w, true));
    w = pending(SL_PENDING_WAITING_FOR_QUOTA);
    assert_false(sl_queue_state_is_over(&w, false));
    w = pending(SL_PENDING_SUSPENDED);
    w.gated = true;
    assert_false(sl_queue_state_is_over(&w, false));
}

static void test_queue_state_draining_of_the_cluster_queue_comes_first(void **state)
{
    (void)state;
    assert_int_equal(sl_queue_state_drains(SL_STOP_DRAIN, SL_STOP_DRAIN),
                     SL_EVICT_CLUSTER_QUEUE_STOPPED);
    assert_int_equal(sl_queue_state_drains(SL_STOP_HOLD, SL_STOP_DRAIN),
                     SL_EVICT_LOCAL_QUEUE_STOPPED);
    assert_int_equal(sl_queue_state_drains(SL_STOP_HOLD, SL_STOP_HOLD), SL_EVICT_NONE);
    assert_int_equal(sl_queue_state_drains(SL_STOP_NONE, SL_STOP_NONE), SL_EVICT_NONE);
}

static void test_queue_state_time_in_line_is_that_of_creation(void **state)
{
    (void)state;
    struct sl_workload w = {.evicted_at_ms = SL_NEVER, .evicted = SL_EVICT_ADMISSION_CHECK};
    assert_true(sl_queue_state_queued_at_ms(&w, 123, true, false) == 123);
    w.evicted_at_ms = 5678;
    w.evicted = SL_EVICT_PREEMPTED;
    assert_true(sl_queue_state_queued_at_ms(&w, 123, true, false) == 123);
    w.evicted = SL_EVICT_PODS_READY_TIMEOUT;
    assert_true(sl_queue_state_queued_at_ms(&w, 123, false, false) == 123);
}

static void test_queue_state_time_in_line_after_some_evictions_is_theirs_to_the_second(void **state)
{
    (void)state;
    struct sl_workload w = {.evicted_at_ms = 5678, .evicted = SL_EVICT_PODS_READY_TIMEOUT};
    assert_true(sl_queue_state_queued_at_ms(&w, 123, true, false) == 5000);
    w.evicted = SL_EVICT_ADMISSION_CHECK;
    assert_true(sl_queue_state_queued_at_ms(&w, 123, false, true) == 5000);
}

static void test_queue_state_time_in_line_is_behind_the_borrower(void **state)
{
    (void)state;
    struct sl_workload w = {.evicted_at_ms = 5678,
                            .evicted = SL_EVICT_PREEMPTED,
                            .preempted = SL_PREEMPT_RECLAIM_WHILE_BORROWING};
    assert_true(sl_queue_state_queued_at_ms(&w, 123, false, false) == 5001);
    assert_true(sl_queue_state_queued_at_ms(&w, 123, false, true) == 123);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_state_obstacles_come_in_their_order),
        cmocka_unit_test(test_queue_state_deleting_alone_stops_a_queue),
        cmocka_unit_test(test_queue_state_reasons),
        cmocka_unit_test(test_queue_state_pending_workload_gets_the_reason),
        cmocka_unit_test(test_queue_state_new_words_for_the_same_reason_are_said),
        cmocka_unit_test(test_queue_state_workload_that_is_not_in_line_is_left_alone),
        cmocka_unit_test(test_queue_state_reservation_is_lost_with_its_queues_only),
        cmocka_unit_test(test_queue_state_restarts_what_stopped_with_its_queue),
        cmocka_unit_test(test_queue_state_reason_of_the_queues_ends_with_it),
        cmocka_unit_test(test_queue_state_draining_of_the_cluster_queue_comes_first),
        cmocka_unit_test(test_queue_state_time_in_line_is_that_of_creation),
        cmocka_unit_test(
            test_queue_state_time_in_line_after_some_evictions_is_theirs_to_the_second),
        cmocka_unit_test(test_queue_state_time_in_line_is_behind_the_borrower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
