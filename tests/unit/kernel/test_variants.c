/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variants of one workload: one of them at most is given quota, and one that holds it makes way for another that comes before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/base/order.h"
#include "kernel/commit/placement.h"
#include "kernel/preempt/migration.h"
#include "policy/flavors/open_cell.h"

enum { CPU = 1, FLAVOR = 3, NOW = 1500 };

static sl_qnode_id next_node = 10;
static sl_workload_id next_id = 100;
static uint32_t next_family = 7;

static enum sl_status happen(sl_workload_id id, enum sl_event_kind kind, uint32_t reason)
{
    return sl_commit_event(
        (struct sl_event){kind, id, sl_workloads[id].generation, 0, reason, 0, 2000});
}

static sl_cell_id cell_with(int64_t quota)
{
    sl_qnode_id node = next_node++;
    sl_cell_id cell = SL_NO_ID;
    assert_int_equal(sl_ledger_open_qnode(node), SL_OK);
    assert_int_equal(sl_ledger_open_cell(node, FLAVOR, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cell, quota, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    return cell;
}

static sl_workload_id variant(uint32_t family, uint32_t rank)
{
    sl_workload_id id = next_id++;
    assert_int_equal(happen(id, SL_EV_CREATE, 0), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    assert_int_equal(sl_variants_set(id, family, rank), SL_OK);
    return id;
}

static void plan(sl_workload_id id, sl_cell_id cell, int64_t amount)
{
    memset(&sl_plan, 0, sizeof(sl_plan));
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = sl_ledger_qnode_of(cell);
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){cell, amount};
    sl_plan.now_ms = NOW;
}

static void give(sl_workload_id id, sl_cell_id cell)
{
    plan(id, cell, 1);
    assert_int_equal(sl_commit_apply(), SL_OK);
}

static void one_of_them_holds_quota(void **state)
{
    (void)state;
    sl_cell_id cell = cell_with(10);
    uint32_t family = next_family++;
    sl_workload_id first = variant(family, 0);
    sl_workload_id second = variant(family, 1);
    sl_workload_id stranger = variant(SL_NO_ID, 0);
    assert_int_equal(sl_variants_holder(first), SL_NO_ID);
    give(second, cell);
    assert_int_equal(sl_variants_holder(first), second);
    assert_int_equal(sl_variants_holder(second), SL_NO_ID);
    plan(first, cell, 1);
    assert_int_equal(sl_commit_apply(), SL_REFUSED_VARIANT);
    assert_int_equal(sl_ledger_own(cell), 1);
    assert_int_equal(sl_places[first], SL_PLACE_IN_FLIGHT);
    give(stranger, cell);
    assert_int_equal(happen(second, SL_EV_HOLD, 0), SL_OK); /* it has given it back */
    give(first, cell);
    assert_int_equal(sl_ledger_own(cell), 2);
}

/* Not even while its job is stopping. */
static void evicted_it_still_holds(void **state)
{
    (void)state;
    sl_cell_id cell = cell_with(10);
    uint32_t family = next_family++;
    sl_workload_id first = variant(family, 0);
    sl_workload_id second = variant(family, 1);
    give(first, cell);
    assert_int_equal(happen(first, SL_EV_PREEMPT, SL_PREEMPT_RECLAMATION), SL_OK);
    plan(second, cell, 1);
    assert_int_equal(sl_commit_apply(), SL_REFUSED_VARIANT);
    assert_int_equal(happen(first, SL_EV_JOB_STOPPED, 0), SL_OK);
    assert_int_equal(sl_commit_apply(), SL_OK);
}

static void of_two_that_were_restored_the_first_counts(void **state)
{
    (void)state;
    sl_cell_id cell = cell_with(10);
    uint32_t family = next_family++;
    sl_workload_id last = variant(family, 2);
    sl_workload_id middle = variant(family, 1);
    sl_workload_id best = variant(family, 0);
    give(last, cell);
    assert_int_equal(sl_variants_set(middle, SL_NO_ID, 0), SL_OK);
    give(middle, cell);
    assert_int_equal(sl_variants_set(middle, family, 1), SL_OK);
    assert_int_equal(sl_variants_holder(best), middle);
}

static void it_makes_way(void **state)
{
    (void)state;
    sl_cell_id cell = cell_with(10);
    uint32_t family = next_family++;
    sl_workload_id first = variant(family, 0);
    sl_workload_id second = variant(family, 1);
    give(second, cell);
    sl_promise_clear();
    plan(first, cell, 3);
    assert_int_equal(sl_migration_commit(second), SL_OK);
    assert_int_equal(sl_workloads[second].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_workloads[second].evicted, SL_EVICT_FLAVOR_MIGRATION);
    assert_int_equal(sl_workloads[second].preempted, SL_PREEMPT_NONE);
    assert_int_equal(sl_workloads[second].evicted_at_ms, NOW);
    assert_int_equal(sl_promise_count(), 1);
    assert_int_equal(sl_promise_at(0).amount, 3);
    /* nobody is evicted twice, and what was promised in an earlier cycle is not promised any more */
    sl_promise_clear();
    sl_plan.now_ms = NOW + 1;
    assert_int_equal(sl_migration_commit(second), SL_OK);
    assert_int_equal(sl_workloads[second].evicted_at_ms, NOW);
    assert_int_equal(sl_promise_count(), 1);
    sl_promise_clear();
    assert_int_equal(happen(second, SL_EV_JOB_STOPPED, 0), SL_OK);
    assert_int_equal(sl_workloads[second].requeued, SL_REQUEUED_TRUE);
    assert_int_equal(sl_workloads[second].requeue_reason, SL_REQUEUE_FLAVOR_MIGRATION);
    assert_int_equal(sl_commit_apply(), SL_OK);
}

static void no_way_is_made(void **state)
{
    (void)state;
    sl_cell_id cell = cell_with(10);
    uint32_t family = next_family++;
    sl_workload_id first = variant(family, 0);
    sl_workload_id second = variant(family, 1);
    sl_workload_id same = variant(family, 1);
    sl_workload_id idle = variant(family, 2);
    sl_workload_id stranger = variant(next_family++, 5);
    sl_workload_id lonely = variant(SL_NO_ID, 0);
    give(second, cell);
    give(stranger, cell);
    sl_promise_clear();
    plan(first, cell, 1);
    assert_int_equal(sl_migration_commit(idle), SL_REFUSED_NO_MIGRATION); /* it holds nothing */
    assert_int_equal(sl_migration_commit(first), SL_REFUSED_NO_MIGRATION);
    assert_int_equal(sl_migration_commit(stranger), SL_REFUSED_NO_MIGRATION);
    assert_int_equal(sl_migration_commit(SL_WORKLOADS_MAX), SL_REFUSED_NO_MIGRATION);
    sl_plan.now_ms = -1;
    assert_int_equal(sl_migration_commit(second), SL_REFUSED_BAD_ARGUMENT);
    plan(first, cell, 9);
    assert_int_equal(sl_migration_commit(second), SL_REFUSED_QUOTA);
    plan(same, cell, 1);
    assert_int_equal(sl_migration_commit(second), SL_REFUSED_NO_MIGRATION); /* as good as it is */
    plan(lonely, cell, 1);
    assert_int_equal(sl_migration_commit(second), SL_REFUSED_NO_MIGRATION);
    plan(first, cell, 1);
    sl_promises = SL_PROMISES_MAX;
    assert_int_equal(sl_migration_commit(second), SL_FULL_USAGE);
    sl_promise_clear();
    assert_int_equal(sl_workloads[second].phase, SL_PHASE_ADMITTED);
    assert_int_equal(sl_promise_count(), 0);
}

static void families_are_joined_and_left(void **state)
{
    (void)state;
    uint32_t family = next_family++;
    sl_workload_id ids[SL_VARIANTS_MAX];
    for (uint32_t i = 0; i < SL_VARIANTS_MAX; i++) {
        ids[i] = variant(family, i);
        assert_int_equal(sl_variants_rank(ids[i]), i);
    }
    sl_workload_id late = variant(SL_NO_ID, 0);
    assert_int_equal(sl_variants_rank(late), SL_NO_ID);
    assert_int_equal(sl_variants_rank(SL_WORKLOADS_MAX), SL_NO_ID);
    assert_int_equal(sl_variants_set(late, family, 3), SL_FULL_VARIANTS);
    assert_int_equal(sl_variants_rank(late), SL_NO_ID);
    assert_int_equal(sl_variants_set(ids[3], family, 20), SL_OK); /* only its rank changes */
    assert_int_equal(sl_variants_rank(ids[3]), 20);
    assert_int_equal(sl_variants_set(ids[3], next_family++, 0),
                     SL_OK); /* it moves, and there is room */
    assert_int_equal(sl_variants_set(late, family, 3), SL_OK);
    assert_int_equal(sl_variants_rank(late), 3);
    assert_int_equal(sl_variants_set(SL_WORKLOADS_MAX, family, 0), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_variants_set(late, SL_FAMILIES_MAX, 0), SL_REFUSED_BAD_ARGUMENT);
    assert_int_equal(sl_variants_holder(SL_WORKLOADS_MAX), SL_NO_ID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_them_holds_quota),
        cmocka_unit_test(evicted_it_still_holds),
        cmocka_unit_test(of_two_that_were_restored_the_first_counts),
        cmocka_unit_test(it_makes_way),
        cmocka_unit_test(no_way_is_made),
        cmocka_unit_test(families_are_joined_and_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
