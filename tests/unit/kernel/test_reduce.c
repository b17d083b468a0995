/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reducing what a holder claims: the difference is free on the whole way to the root, and whatever is refused
 * leaves everything as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/commit/commit.h"
#include "policy/flavors/open_cell.h"

enum { CPU = 1, MEMORY = 2, FLAVOR = 3 };

/* A queue with 10 cpu and 50 memory, of which it lends nothing, under a cohort; a sibling lends 14 cpu. */
struct scene {
    sl_qnode_id cohort;
    sl_qnode_id sibling;
    sl_qnode_id queue;
    sl_cell_id cohort_cpu;
    sl_cell_id cpu;
    sl_cell_id memory;
    sl_workload_id id;
    uint32_t generation;
};

static sl_qnode_id next_node = 10;
static sl_workload_id next_id = 100;

static void happens(sl_workload_id id, enum sl_event_kind kind, uint32_t reason)
{
    struct sl_event ev = {.kind = kind,
                          .workload = id,
                          .generation = sl_workloads[id].generation,
                          .reason = reason,
                          .now_ms = 2000};
    assert_int_equal(sl_commit_event(ev), SL_OK);
}

static sl_cell_id quota(sl_qnode_id node, sl_resource_id resource, int64_t nominal, int64_t lent)
{
    sl_cell_id cell = SL_NO_ID;
    assert_int_equal(sl_ledger_open_cell(node, FLAVOR, resource, &cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cell, nominal, lent, SL_AMOUNT_UNLIMITED), SL_OK);
    return cell;
}

static sl_qnode_id node_under(sl_qnode_id parent)
{
    sl_qnode_id node = next_node++;
    assert_int_equal(sl_ledger_open_qnode(node), SL_OK);
    if (parent != SL_NO_ID) {
        assert_int_equal(sl_ledger_move_qnode(node, parent), SL_OK);
    }
    return node;
}

/* Holds 20 cpu, 10 of them borrowed, and 30 memory. */
static struct scene holder(void)
{
    struct scene s = {.cohort = node_under(SL_NO_ID), .id = next_id++};
    s.sibling = node_under(s.cohort);
    s.queue = node_under(s.cohort);
    s.cohort_cpu = quota(s.cohort, CPU, 0, 0);
    (void)quota(s.sibling, CPU, 14, 14);
    s.cpu = quota(s.queue, CPU, 10, 0);
    s.memory = quota(s.queue, MEMORY, 50, 0);
    happens(s.id, SL_EV_CREATE, 0);
    s.generation = sl_workloads[s.id].generation;
    assert_int_equal(sl_place_move(s.id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(s.id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = s.id;
    sl_plan.generation = s.generation;
    sl_plan.cluster_queue = s.queue;
    sl_plan.usage_count = 2;
    sl_plan.usage[0] = (struct sl_cell_amount){s.cpu, 20};
    sl_plan.usage[1] = (struct sl_cell_amount){s.memory, 30};
    sl_plan.now_ms = 1500;
    assert_int_equal(sl_commit_apply(), SL_OK);
    return s;
}

static void assert_holds(struct scene s, int64_t cpu, int64_t memory)
{
    assert_int_equal(sl_commit_usage_count(s.id), 2);
    assert_int_equal(sl_commit_usage(s.id, 0).cell, s.cpu);
    assert_int_equal(sl_commit_usage(s.id, 0).amount, cpu);
    assert_int_equal(sl_commit_usage(s.id, 1).cell, s.memory);
    assert_int_equal(sl_commit_usage(s.id, 1).amount, memory);
    assert_int_equal(sl_ledger_own(s.cpu), cpu);
    assert_int_equal(sl_ledger_own(s.memory), memory);
    assert_int_equal(sl_ledger_usage(s.cohort_cpu), cpu > 10 ? cpu - 10 : 0);
}

/* Refused for this reason, whatever the answer, and nothing has changed. */
static void assert_refused(struct scene s, uint32_t index, int64_t amount, enum sl_status status)
{
    struct sl_workload before = sl_workloads[s.id];
    assert_int_equal(sl_commit_reduce(s.id, s.generation, index, amount), status);
    assert_memory_equal(&before, &sl_workloads[s.id], sizeof before);
    assert_holds(s, 20, 30);
}

static int teardown(void **state)
{
    (void)state;
    assert_true(sl_commit_valid());
    assert_true(sl_ledger_valid());
    for (sl_workload_id id = 100; id < next_id; id++) {
        assert_true(sl_lifecycle_valid(id));
        assert_true(sl_place_agrees(id));
    }
    return 0;
}

static void test_reduce_frees_what_was_borrowed_first(void **state)
{
    (void)state;
    struct scene s = holder();
    assert_int_equal(sl_ledger_available(s.cpu), 4);
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 0, 12), SL_OK);
    assert_holds(s, 12, 30);
    assert_int_equal(sl_ledger_available(s.cpu), 12);
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 0, 7), SL_OK);
    assert_holds(s, 7, 30);
    assert_int_equal(sl_ledger_available(s.cpu), 17);
}

static void test_reduce_changes_only_the_claim(void **state)
{
    (void)state;
    struct scene s = holder();
    struct scene other = holder();
    struct sl_workload before = sl_workloads[s.id];
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 1, 5), SL_OK);
    assert_memory_equal(&before, &sl_workloads[s.id], sizeof before);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_HOLDING);
    assert_holds(s, 20, 5);
    assert_holds(other, 20, 30);
}

static void test_reduce_to_nothing_and_to_the_same_are_fine(void **state)
{
    (void)state;
    struct scene s = holder();
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 0, 20), SL_OK);
    assert_holds(s, 20, 30);
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 0, 0), SL_OK);
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 0, 0), SL_OK);
    assert_holds(s, 0, 30);
    assert_true(sl_lifecycle_holds_quota(s.id));
}

static void test_reduce_then_release_gives_back_the_rest_once(void **state)
{
    (void)state;
    struct scene s = holder();
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 0, 13), SL_OK);
    happens(s.id, SL_EV_FINISH, SL_FINISH_SUCCEEDED);
    assert_int_equal(sl_ledger_usage(s.cpu), 0);
    assert_int_equal(sl_ledger_usage(s.cohort_cpu), 0);
    assert_int_equal(sl_ledger_usage(s.memory), 0);
    assert_int_equal(sl_commit_usage_count(s.id), 0);
}

static void test_reduce_of_an_evicted_holder_is_fine(void **state)
{
    (void)state;
    struct scene s = holder();
    happens(s.id, SL_EV_PREEMPT, SL_PREEMPT_IN_CLUSTER_QUEUE);
    assert_int_equal(sl_workloads[s.id].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 0, 1), SL_OK);
    assert_holds(s, 1, 30);
}

static void test_reduce_more_than_now_is_refused(void **state)
{
    (void)state;
    struct scene s = holder();
    assert_refused(s, 0, 21, SL_REFUSED_BAD_ARGUMENT);
    assert_refused(s, 1, INT64_MAX, SL_REFUSED_BAD_ARGUMENT);
}

static void test_reduce_below_zero_is_refused(void **state)
{
    (void)state;
    struct scene s = holder();
    assert_refused(s, 0, -1, SL_REFUSED_AMOUNT);
    assert_refused(s, 0, INT64_MIN, SL_REFUSED_AMOUNT);
}

static void test_reduce_of_no_claim_is_refused(void **state)
{
    (void)state;
    struct scene s = holder();
    assert_refused(s, 2, 0, SL_REFUSED_PLAN_USAGE);
    assert_refused(s, SL_USAGE_CELLS_MAX, 0, SL_REFUSED_PLAN_USAGE);
    assert_refused(s, UINT32_MAX, 0, SL_REFUSED_PLAN_USAGE);
}

static void test_reduce_of_another_incarnation_is_refused(void **state)
{
    (void)state;
    struct scene s = holder();
    assert_int_equal(sl_commit_reduce(s.id, s.generation + 1, 0, 1), SL_REFUSED_STALE);
    assert_int_equal(sl_commit_reduce(s.id, s.generation - 1, 0, 1), SL_REFUSED_STALE);
    assert_holds(s, 20, 30);
}

static void test_reduce_of_nobody_is_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_commit_reduce(SL_WORKLOADS_MAX, 0, 0, 0), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_commit_reduce(SL_NO_ID, 0, 0, 0), SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_int_equal(sl_commit_reduce(next_id, 0, 0, 0), SL_REFUSED_UNKNOWN_WORKLOAD);
}

static void test_reduce_of_one_that_holds_nothing_is_refused(void **state)
{
    (void)state;
    sl_workload_id id = next_id++;
    happens(id, SL_EV_CREATE, 0);
    assert_int_equal(sl_commit_reduce(id, sl_workloads[id].generation, 0, 0), SL_REFUSED_PLACE);
    struct scene s = holder();
    happens(s.id, SL_EV_FINISH, SL_FINISH_SUCCEEDED);
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 0, 0), SL_REFUSED_PLACE);
}

static void test_reduce_in_a_trial_is_refused(void **state)
{
    (void)state;
    struct scene s = holder();
    uint32_t mark = sl_trail_begin();
    assert_refused(s, 0, 1, SL_REFUSED_TRIAL_OPEN);
    sl_trail_rollback(mark);
    assert_int_equal(sl_commit_reduce(s.id, s.generation, 0, 1), SL_OK);
    assert_holds(s, 1, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_reduce_frees_what_was_borrowed_first, teardown),
        cmocka_unit_test_teardown(test_reduce_changes_only_the_claim, teardown),
        cmocka_unit_test_teardown(test_reduce_to_nothing_and_to_the_same_are_fine, teardown),
        cmocka_unit_test_teardown(test_reduce_then_release_gives_back_the_rest_once, teardown),
        cmocka_unit_test_teardown(test_reduce_of_an_evicted_holder_is_fine, teardown),
        cmocka_unit_test_teardown(test_reduce_more_than_now_is_refused, teardown),
        cmocka_unit_test_teardown(test_reduce_below_zero_is_refused, teardown),
        cmocka_unit_test_teardown(test_reduce_of_no_claim_is_refused, teardown),
        cmocka_unit_test_teardown(test_reduce_of_another_incarnation_is_refused, teardown),
        cmocka_unit_test_teardown(test_reduce_of_nobody_is_refused, teardown),
        cmocka_unit_test_teardown(test_reduce_of_one_that_holds_nothing_is_refused, teardown),
        cmocka_unit_test_teardown(test_reduce_in_a_trial_is_refused, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
