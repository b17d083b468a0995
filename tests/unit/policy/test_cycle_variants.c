/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variants of one workload: those that come after the holder wait, one that comes before it takes its place, if it may. */
#include "fixture.h"

#include "kernel/commit/variants.h"
#include "policy/requests/migration_limit.h"

static sl_workload_id variant(sl_qnode_id queue, uint32_t family, uint32_t rank)
{
    sl_workload_id id = fx_workload(queue, 0, 1, 1);
    assert_int_equal(sl_variants_set(id, family, rank), SL_OK);
    return id;
}

static void test_cycle_variants_that_come_later_wait(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id best = variant(queue, 1, 0);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id worse = variant(queue, 1, 1);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(fx_outcomes[0].workload, worse);
    assert_int_equal(fx_outcomes[0].reason, SL_PENDING_EVALUATION);
    assert_int_equal(fx_outcomes[0].variant, SL_VARIANT_COMES_LATER);
    assert_int_equal(sl_cycle_evicted.count, 0);
    fx_assert_place(worse, SL_PLACE_HEAP);
    fx_finish(best);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(worse, SL_PLACE_HOLDING);
    assert_true(sl_queues_valid());
}

/* Nobody stands behind it while the other waits for a check. */
static void test_cycle_variants_wait_aside_for_checks(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id best = variant(queue, 1, 0);
    assert_int_equal(fx_event(best, SL_EV_CHECK_ADD, 3, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
    assert_int_equal(sl_workloads[best].phase, SL_PHASE_QUOTA_RESERVED);
    sl_workload_id worse = variant(queue, 1, 1);
    assert_int_equal(fx_cycle(), 0);
    fx_assert_place(worse, SL_PLACE_INADMISSIBLE);
    sl_workload_id other = fx_workload(queue, 0, 2, 1);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(other, SL_PLACE_HOLDING);
    fx_finish(best);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(worse, SL_PLACE_HOLDING);
}

static void test_cycle_variants_migrate(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_workload_id worse = variant(queue, 1, 1);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id best = variant(queue, 1, 0);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(fx_outcomes[0].workload, best);
    assert_int_equal(fx_outcomes[0].reason, SL_PENDING_PREEMPTED_WORKLOADS);
    assert_int_equal(fx_outcomes[0].variant, SL_VARIANT_MIGRATES);
    assert_int_equal(fx_outcomes[0].victim_count, 1);
    assert_int_equal(sl_workloads[worse].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_workloads[worse].evicted, SL_EVICT_FLAVOR_MIGRATION);
    assert_int_equal(fx_rest(), 0); /* until it has stopped, and its quota is given back */
    fx_assert_place(best, SL_PLACE_HEAP);
    assert_int_equal(fx_event(worse, SL_EV_JOB_STOPPED, 0, 0, 0), SL_OK);
    sl_queues_settle(worse, fx_now);
    assert_int_equal(fx_rest(), 1);
    fx_assert_place(best, SL_PLACE_HOLDING);
    assert_true(sl_queues_valid());
}

static void test_cycle_variants_keep_to_the_limit(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_migration_limit_set(queue, 1);
    assert_int_equal(sl_migration_limit(queue), 1);
    sl_workload_id last = variant(queue, 1, 2);
    assert_int_equal(fx_rest(), 1);
    sl_workload_id middle = variant(queue, 1, 1);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(fx_outcomes[0].workload, middle);
    assert_int_equal(fx_outcomes[0].reason, SL_PENDING_EVALUATION);
    assert_int_equal(fx_outcomes[0].variant, SL_VARIANT_BELOW_LIMIT);
    assert_int_equal(sl_workloads[last].phase, SL_PHASE_ADMITTED);
    fx_finish(middle);
    (void)variant(queue, 1, 0);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(sl_workloads[last].phase, SL_PHASE_EVICTED);
    sl_migration_limit_set(SL_QNODES_MAX, 1);
    assert_int_equal(sl_migration_limit(SL_QNODES_MAX), SL_NO_ID);
    sl_migration_limit_set(queue, SL_NO_ID);
    assert_int_equal(sl_migration_limit(queue), SL_NO_ID);
}

/* What is not admitted yet is nothing that runs: the limit is about those that do. */
static void test_cycle_variants_pass_one_that_waits_for_checks(void **state)
{
    (void)state;
    sl_qnode_id queue = fx_queue(SL_NO_ID, SL_BEST_EFFORT_FIFO, 4);
    sl_migration_limit_set(queue, 0);
    sl_workload_id worse = variant(queue, 1, 1);
    assert_int_equal(fx_event(worse, SL_EV_CHECK_ADD, 3, 0, 0), SL_OK);
    assert_int_equal(fx_rest(), 1);
    (void)variant(queue, 1, 0);
    assert_int_equal(fx_cycle(), 0);
    assert_int_equal(sl_workloads[worse].phase, SL_PHASE_EVICTED);
    sl_migration_limit_set(queue, SL_NO_ID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FX_TEST(test_cycle_variants_that_come_later_wait),
        FX_TEST(test_cycle_variants_wait_aside_for_checks),
        FX_TEST(test_cycle_variants_migrate),
        FX_TEST(test_cycle_variants_keep_to_the_limit),
        FX_TEST(test_cycle_variants_pass_one_that_waits_for_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
