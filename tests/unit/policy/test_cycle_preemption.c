/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption in a cycle: who is evicted for whom, who waits for whom, what is promised and
 * reserved meanwhile, and that nothing spins while victims stop. */
#include "fixture.h"

#include "kernel/preempt/preempt.h"
#include "policy/queues/heads.h"

static sl_qnode_id queue_with(sl_qnode_id cohort, enum sl_strategy strategy, int64_t cpu,
                              enum sl_preempt_within within, enum sl_preempt_reclaim reclaim)
{
    sl_qnode_id queue = fx_queue(cohort, strategy, cpu);
    struct sl_preempt_policy policy = {within, reclaim, false, false, 0};
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
    return queue;
}

/* A workload that holds that much. */
static sl_workload_id holder(sl_qnode_id queue, int32_t priority, int64_t cpu)
{
    sl_workload_id id = fx_workload(queue, priority, 1, cpu);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(id, SL_PLACE_HOLDING);
    return id;
}

static void stop(sl_workload_id id)
{
    assert_int_equal(fx_event(id, SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
}

static const struct sl_cycle_outcome *outcome_of(sl_workload_id id)
{
    for (uint32_t i = 0; i < fx_outcome_count; i++) {
        if (fx_outcomes[i].workload == id) {
            return &fx_outcomes[i];
        }
    }
    fail_msg("no outcome for workload %u", id);
    return NULL;
}

/* The promises of the cycle last for the cycle. */
static void assert_nothing_promised(void)
{
    assert_int_equal(sl_promise_count(), 0);
}

static void test_cycle_preemptor_evicts_waits_and_is_served_when_they_stopped(void **state)
{
    (void)state;
    sl_qnode_id queue =
        queue_with(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER);
    sl_workload_id low = holder(queue, 0, 4);
    sl_workload_id high = fx_workload(queue, 5, 2, 3);
    assert_int_equal(sl_cycle_begin(fx_now), 1);
    assert_true(sl_cycle_next());
    assert_int_equal(sl_cycle_outcome.result, SL_CYCLE_PENDING);
    assert_int_equal(sl_cycle_outcome.status, SL_OK);
    assert_int_equal(sl_cycle_outcome.reason, SL_PENDING_PREEMPTED_WORKLOADS);
    assert_int_equal(sl_cycle_outcome.victim_count, 1);
    assert_int_equal(sl_cycle_outcome.place, SL_PLACE_HEAP);
    assert_int_equal(sl_cycle_evicted.count, 1);
    assert_int_equal(sl_cycle_evicted.workloads[0], low);
    assert_int_equal(sl_cycle_evicted.reasons[0], SL_PREEMPT_IN_CLUSTER_QUEUE);
    assert_int_equal(sl_workloads[low].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_promise_count(), 1);
    assert_false(sl_cycle_next());
    (void)sl_cycle_end();
    assert_nothing_promised();
    assert_int_equal(fx_rest(), 0);
    assert_true(sl_heads_is_preemptor(queue, high));
    stop(low);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(high, SL_PLACE_HOLDING);
    assert_false(sl_heads_is_preemptor(queue, high));
}

static void test_cycle_who_is_being_evicted_is_not_evicted_again(void **state)
{
    (void)state;
    sl_qnode_id queue =
        queue_with(SL_NO_ID, SL_STRICT_FIFO, 4, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER);
    (void)holder(queue, 0, 4);
    (void)fx_workload(queue, 5, 2, 3);
    assert_int_equal(fx_rest(), 0);
    assert_int_equal(sl_cycle_begin_all(fx_now), 1);
    assert_true(sl_cycle_next());
    assert_int_equal(sl_cycle_evicted.count, 0);
    assert_int_equal(sl_cycle_outcome.victim_count, 1);
    assert_int_equal(sl_cycle_outcome.reason, SL_PENDING_PREEMPTED_WORKLOADS);
    assert_false(sl_cycle_outcome.did.news[SL_CHANGED_REASON]);
    assert_false(sl_cycle_next());
    assert_false(sl_cycle_end());
}

/* Two owners reclaim from a borrower; both would choose the same victim. */
struct contest {
    sl_qnode_id first;
    sl_qnode_id second;
    sl_qnode_id borrower;
    sl_workload_id a;
    sl_workload_id b;
};

static struct contest new_contest(sl_workload_id *victims, const int64_t *sizes, uint32_t count)
{
    struct contest c;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    c.first = queue_with(cohort, SL_BEST_EFFORT_FIFO, 4, SL_WITHIN_NEVER, SL_RECLAIM_ANY);
    c.second = queue_with(cohort, SL_BEST_EFFORT_FIFO, 4, SL_WITHIN_NEVER, SL_RECLAIM_ANY);
    c.borrower = queue_with(cohort, SL_BEST_EFFORT_FIFO, 0, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    for (uint32_t i = 0; i < count; i++) {
        victims[i] = holder(c.borrower, (int32_t)i - 10, sizes[i]);
    }
    c.a = fx_workload(c.first, 2, 1, 4);
    c.b = fx_workload(c.second, 1, 1, 4);
    return c;
}

static void test_cycle_overlap_looks_for_other_victims(void **state)
{
    (void)state;
    sl_workload_id victims[2];
    struct contest c = new_contest(victims, (int64_t[]){4, 4}, 2);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(outcome_of(c.a)->recomputed, SL_RECOMPUTED_NOT);
    assert_int_equal(outcome_of(c.b)->recomputed, SL_RECOMPUTED_NEW_VICTIMS);
    assert_int_equal(outcome_of(c.b)->reason, SL_PENDING_PREEMPTED_WORKLOADS);
    assert_int_equal(sl_cycle_recomputed_victims, 1);
    assert_int_equal(sl_workloads[victims[0]].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_workloads[victims[1]].phase, SL_PHASE_EVICTED);
    stop(victims[0]);
    stop(victims[1]);
    assert_int_equal(fx_rest(), 2);
}

static void test_cycle_overlap_without_recomputation_is_skipped(void **state)
{
    (void)state;
    sl_workload_id victims[2];
    sl_settings.recompute_on_overlap = false;
    struct contest c = new_contest(victims, (int64_t[]){4, 4}, 2);
    assert_int_equal(fx_cycle(), 0);
    assert_true(outcome_of(c.b)->overlaps);
    assert_true(outcome_of(c.b)->skipped_preemption);
    assert_int_equal(outcome_of(c.b)->reason, SL_PENDING_WAITING_FOR_QUOTA);
    assert_int_equal(outcome_of(c.b)->place, SL_PLACE_HEAP);
    assert_int_equal(sl_cycle_skipped_preemptions, 1);
    assert_int_equal(sl_workloads[victims[1]].phase, SL_PHASE_ADMITTED);
    assert_int_equal(fx_rest(), 0); /* the next cycle finds the first one's victim being evicted */
    assert_false(sl_queues_ready());
    stop(victims[0]);
    (void)fx_rest();
    stop(victims[1]);
    (void)fx_rest();
    fx_assert_place(c.a, SL_PLACE_HOLDING);
    fx_assert_place(c.b, SL_PLACE_HOLDING);
}

/* One victim is enough for both: the second waits for it as well, and evicts nobody. */
static void test_cycle_overlap_that_fits_is_deferred(void **state)
{
    (void)state;
    sl_workload_id victims[1];
    struct contest c = new_contest(victims, (int64_t[]){8}, 1);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(outcome_of(c.b)->recomputed, SL_RECOMPUTED_DEFERRED);
    assert_int_equal(outcome_of(c.b)->reason, SL_PENDING_PREEMPTED_WORKLOADS);
    assert_int_equal(outcome_of(c.b)->victim_count, 0);
    assert_true(sl_heads_is_sticky(c.second, c.b));
    assert_int_equal(fx_rest(), 0);
    stop(victims[0]);
    assert_int_equal(fx_rest(), 2);
    fx_assert_place(c.a, SL_PLACE_HOLDING);
    fx_assert_place(c.b, SL_PLACE_HOLDING);
}

/* `owner` cannot reclaim what `borrower` has borrowed; what is left of its quota is kept for it
 * while it is tried. */
static void test_cycle_without_victims_quota_is_reserved_for_the_cycle(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id owner = queue_with(cohort, SL_STRICT_FIFO, 4, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    sl_qnode_id borrower =
        queue_with(cohort, SL_BEST_EFFORT_FIFO, 4, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    sl_workload_id big = holder(borrower, 0, 6);
    sl_workload_id waits = fx_workload(owner, 0, 1, 4);
    sl_workload_id small = fx_workload(borrower, 0, 2, 2);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(outcome_of(waits)->reason, SL_PENDING_WAITING_FOR_QUOTA);
    assert_false(outcome_of(waits)->overtaken);
    assert_true(outcome_of(small)->overtaken);
    assert_int_equal(outcome_of(small)->place, SL_PLACE_HEAP);
    assert_int_equal(fx_rest(), 0);
    assert_false(sl_queues_ready());
    assert_int_equal(fx_event(waits, SL_EV_DEACTIVATE, 0, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(small, SL_PLACE_HOLDING);
    fx_finish(big);
}

/* In a BestEffortFIFO queue it is parked, and has nothing reserved from then on. */
static void test_cycle_parked_workload_reserves_nothing(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id owner =
        queue_with(cohort, SL_BEST_EFFORT_FIFO, 4, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    sl_qnode_id borrower =
        queue_with(cohort, SL_BEST_EFFORT_FIFO, 4, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    (void)holder(borrower, 0, 6);
    sl_workload_id waits = fx_workload(owner, 0, 1, 4);
    sl_workload_id small = fx_workload(borrower, 0, 2, 2);
    assert_int_equal(fx_cycle(), 0);
    assert_true(outcome_of(small)->overtaken);
    fx_assert_place(waits, SL_PLACE_INADMISSIBLE);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(small, SL_PLACE_HOLDING);
}

/* Victims hold their quota until they have stopped: who would fit once they are gone, beside the
 * one they go for, has to wait for that. */
static void test_cycle_nobody_is_served_with_what_victims_still_hold(void **state)
{
    (void)state;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id owner = queue_with(cohort, SL_BEST_EFFORT_FIFO, 5, SL_WITHIN_NEVER, SL_RECLAIM_ANY);
    sl_qnode_id full =
        queue_with(cohort, SL_BEST_EFFORT_FIFO, 5, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    sl_qnode_id third =
        queue_with(cohort, SL_BEST_EFFORT_FIFO, 0, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    sl_qnode_id fourth =
        queue_with(cohort, SL_BEST_EFFORT_FIFO, 0, SL_WITHIN_NEVER, SL_RECLAIM_NEVER);
    sl_workload_id victim = holder(full, 0, 6);
    sl_workload_id preemptor = fx_workload(owner, 0, 1, 5);
    sl_workload_id a = fx_workload(third, 0, 2, 2);
    sl_workload_id b = fx_workload(fourth, 0, 3, 3);
    assert_int_equal(fx_cycle(), 1);
    fx_assert_place(a, SL_PLACE_HOLDING);
    assert_int_equal(outcome_of(preemptor)->victim_count, 1);
    assert_int_equal(outcome_of(b)->status, SL_REFUSED_QUOTA);
    assert_true(outcome_of(b)->overtaken);
    (void)fx_rest();
    stop(victim);
    (void)fx_rest();
    fx_assert_place(preemptor, SL_PLACE_HOLDING);
    fx_assert_place(b, SL_PLACE_HOLDING);
}

static void test_cycle_sticky_preemptor_is_not_passed_by_a_newcomer(void **state)
{
    (void)state;
    sl_qnode_id queue =
        queue_with(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER);
    sl_workload_id low = holder(queue, 0, 4);
    sl_workload_id high = fx_workload(queue, 5, 2, 4);
    assert_int_equal(fx_rest(), 0);
    sl_workload_id higher = fx_workload(queue, 9, 3, 4);
    assert_int_equal(fx_rest(), 0);
    stop(low);
    assert_int_equal(fx_cycle(), 1);
    fx_assert_place(high, SL_PLACE_HOLDING);
    fx_assert_place(higher, SL_PLACE_HEAP);
}

static void test_cycle_preemptor_goes_first_with_the_gate(void **state)
{
    (void)state;
    sl_settings.prioritize_preemptors = true;
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id one = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    sl_qnode_id two = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id low = fx_workload(one, 0, 1, 4);
    sl_workload_id high = fx_workload(two, 9, 1, 4);
    sl_heads_set_preemptor(one, low, true);
    assert_int_equal(fx_cycle(), 2);
    assert_int_equal(fx_outcomes[0].workload, low);
    assert_int_equal(fx_outcomes[1].workload, high);
}

/* Who goes first of one of low and one of high priority when the first has evicted so often. */
static sl_workload_id first_after(uint32_t evictions)
{
    sl_qnode_id cohort = fx_node(SL_NO_ID);
    sl_qnode_id one = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    sl_qnode_id two = fx_queue(cohort, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id low = fx_workload(one, 0, 1, 4);
    (void)fx_workload(two, 9, 1, 4);
    sl_heads_set_preemptor(one, low, true);
    for (uint32_t i = 0; i < evictions; i++) {
        sl_heads_count_eviction(low);
        sl_heads_set_preemptor(one, low, true);
    }
    assert_int_equal(fx_cycle(), 2);
    return fx_outcomes[0].workload == low ? low : SL_NO_ID;
}

static void test_cycle_preemptor_that_is_thwarted_goes_first_in_the_end(void **state)
{
    (void)state;
    assert_int_equal(first_after(SL_THWARTED_MAX - 1), SL_NO_ID);
    assert_int_not_equal(first_after(SL_THWARTED_MAX), SL_NO_ID);
    assert_int_not_equal(first_after(SL_THWARTED_MAX + 1), SL_NO_ID);
}

static void test_cycle_preemptor_counts_the_cycles_in_which_it_evicts(void **state)
{
    (void)state;
    sl_qnode_id queue =
        queue_with(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER);
    (void)holder(queue, 0, 4);
    sl_workload_id high = fx_workload(queue, 5, 2, 3);
    sl_heads_set_preemptor(queue, high, true);
    for (uint32_t i = 1; i < SL_THWARTED_MAX; i++) {
        sl_heads_count_eviction(high);
    }
    assert_false(sl_heads_goes_first(queue, high));
    (void)fx_rest(); /* more cycles than one, and one in which it evicts */
    assert_true(sl_heads_goes_first(queue, high));
    sl_heads_set_preemptor(queue, high + 1, true);
    assert_false(sl_heads_goes_first(queue, high + 1)); /* each counts for itself */
    sl_heads_set_preemptor(queue, high, true);
    assert_true(sl_heads_goes_first(queue, high)); /* whoever was the preemptor in between */
    sl_heads_forget(queue, high);
    sl_heads_set_preemptor(queue, high, true);
    assert_false(sl_heads_goes_first(queue, high)); /* it was served */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_cycle_preemptor_evicts_waits_and_is_served_when_they_stopped),
        FX_TEST(test_cycle_who_is_being_evicted_is_not_evicted_again),
        FX_TEST(test_cycle_overlap_looks_for_other_victims),
        FX_TEST(test_cycle_overlap_without_recomputation_is_skipped),
        FX_TEST(test_cycle_overlap_that_fits_is_deferred),
        FX_TEST(test_cycle_without_victims_quota_is_reserved_for_the_cycle),
        FX_TEST(test_cycle_parked_workload_reserves_nothing),
        FX_TEST(test_cycle_nobody_is_served_with_what_victims_still_hold),
        FX_TEST(test_cycle_sticky_preemptor_is_not_passed_by_a_newcomer),
        FX_TEST(test_cycle_preemptor_goes_first_with_the_gate),
        FX_TEST(test_cycle_preemptor_that_is_thwarted_goes_first_in_the_end),
        FX_TEST(test_cycle_preemptor_counts_the_cycles_in_which_it_evicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
