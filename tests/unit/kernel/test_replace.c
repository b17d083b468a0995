/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A workload in place of another: only what it needs beyond the other has to be available, and whatever is refused
 * leaves both and the ledger as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/commit/replace.h"
#include "policy/flavors/open_cell.h"

enum { CPU = 1, MEMORY = 2, FLAVOR = 3, OTHER_FLAVOR = 4, CHECK = 9 };

/* A queue with 10 cpu and 50 memory, of which it lends nothing, under a cohort; a sibling lends 4 cpu. The old workload
 * holds 6 cpu and 30 memory, the new one is in flight. */
struct scene {
    sl_qnode_id queue, sibling;
    sl_cell_id cohort_cpu, cpu, memory, other;
    sl_workload_id old, new;
    uint32_t generation; /* of the old one */
};

static sl_qnode_id next_node = 10;
static sl_workload_id next_id = 100;

static void happens(sl_workload_id id, enum sl_event_kind kind, uint32_t index, uint32_t reason)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, index, reason, 0, 2000};
    assert_int_equal(sl_commit_event(ev), SL_OK);
}

static sl_cell_id quota(sl_qnode_id node, sl_flavor_id flavor, sl_resource_id resource,
                        int64_t nominal, int64_t lent)
{
    sl_cell_id cell = SL_NO_ID;
    assert_int_equal(sl_ledger_open_cell(node, flavor, resource, &cell), SL_OK);
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

static sl_workload_id in_flight(void)
{
    sl_workload_id id = next_id++;
    happens(id, SL_EV_CREATE, 0, 0);
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
    return id;
}

static void plan(sl_workload_id id, sl_qnode_id queue)
{
    memset(&sl_plan, 0, sizeof sl_plan);
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.now_ms = 1500;
}

static void plan_both(struct scene s, int64_t cpu, int64_t memory)
{
    plan(s.new, s.queue);
    sl_plan.usage_count = 2;
    sl_plan.usage[0] = (struct sl_cell_amount){s.memory, memory};
    sl_plan.usage[1] = (struct sl_cell_amount){s.cpu, cpu};
}

static struct scene scene(void)
{
    struct scene s;
    sl_qnode_id cohort = node_under(SL_NO_ID);
    s.sibling = node_under(cohort);
    s.queue = node_under(cohort);
    s.cohort_cpu = quota(cohort, FLAVOR, CPU, 0, 0);
    (void)quota(s.sibling, FLAVOR, CPU, 4, 4);
    s.cpu = quota(s.queue, FLAVOR, CPU, 10, 0);
    s.memory = quota(s.queue, FLAVOR, MEMORY, 50, 0);
    s.other = quota(s.queue, OTHER_FLAVOR, CPU, 5, 0);
    s.old = in_flight();
    s.generation = sl_workloads[s.old].generation;
    plan(s.old, s.queue);
    sl_plan.usage_count = 2;
    sl_plan.usage[0] = (struct sl_cell_amount){s.cpu, 6};
    sl_plan.usage[1] = (struct sl_cell_amount){s.memory, 30};
    assert_int_equal(sl_commit_apply(), SL_OK);
    s.new = in_flight();
    return s;
}

static void assert_charged(struct scene s, int64_t cpu, int64_t memory)
{
    assert_int_equal(sl_ledger_own(s.cpu), cpu);
    assert_int_equal(sl_ledger_usage(s.cpu), cpu);
    assert_int_equal(sl_ledger_usage(s.cohort_cpu), cpu > 10 ? cpu - 10 : 0);
    assert_int_equal(sl_ledger_own(s.memory), memory);
}

/* Accepted, and done. */
static void assert_replaced(struct scene s)
{
    assert_int_equal(sl_commit_replace_check(s.old, s.generation), SL_OK);
    assert_int_equal(sl_workloads[s.old].phase, SL_PHASE_ADMITTED);
    assert_int_equal(sl_commit_replace(s.old, s.generation), SL_OK);
    assert_int_equal(sl_workloads[s.old].phase, SL_PHASE_FINISHED);
    assert_int_equal(sl_workloads[s.old].finished, SL_FINISH_SLICE_REPLACED);
    assert_int_equal(sl_commit_usage_count(s.old), 0);
    assert_int_equal(sl_place_of(s.old), SL_PLACE_DONE);
    assert_int_equal(sl_workloads[s.new].phase, SL_PHASE_ADMITTED);
    assert_int_equal(sl_place_of(s.new), SL_PLACE_HOLDING);
    assert_int_equal(sl_commit_usage_count(s.new), sl_plan.usage_count);
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        assert_int_equal(sl_commit_usage(s.new, i).cell, sl_plan.usage[i].cell);
        assert_int_equal(sl_commit_usage(s.new, i).amount, sl_plan.usage[i].amount);
    }
}

/* Refused by both for this reason, and nothing has changed. */
static void refuses(struct scene s, sl_workload_id old, uint32_t generation, enum sl_status status)
{
    struct sl_workload before_old = sl_workloads[s.old];
    struct sl_workload before_new = sl_workloads[s.new];
    enum sl_place place_old = sl_place_of(s.old), place_new = sl_place_of(s.new);
    uint32_t count_old = sl_commit_usage_count(s.old), count_new = sl_commit_usage_count(s.new);
    int64_t cpu = sl_ledger_own(s.cpu), memory = sl_ledger_own(s.memory);
    assert_int_equal(sl_commit_replace(old, generation), status);
    assert_memory_equal(&before_old, &sl_workloads[s.old], sizeof before_old);
    assert_memory_equal(&before_new, &sl_workloads[s.new], sizeof before_new);
    assert_int_equal(sl_place_of(s.old), place_old);
    assert_int_equal(sl_place_of(s.new), place_new);
    assert_int_equal(sl_commit_usage_count(s.old), count_old);
    assert_int_equal(sl_commit_usage_count(s.new), count_new);
    assert_charged(s, cpu, memory);
}

static void assert_refused(struct scene s, sl_workload_id old, uint32_t generation,
                           enum sl_status status)
{
    assert_int_equal(sl_commit_replace_check(old, generation), status);
    refuses(s, old, generation, status);
}

static int teardown(void **state)
{
    (void)state;
    assert_false(sl_trail_open());
    assert_true(sl_commit_valid());
    assert_true(sl_ledger_valid());
    for (sl_workload_id id = 100; id < next_id; id++) {
        assert_true(sl_lifecycle_valid(id));
        assert_true(sl_place_agrees(id));
    }
    return 0;
}

/* --- what is accepted ------------------------------------------------------------------------- */

static void test_replace_charges_the_difference_of_one_that_grows(void **state)
{
    (void)state;
    struct scene s = scene();
    plan_both(s, 14, 50);
    assert_int_equal(sl_commit_check(), SL_REFUSED_QUOTA);
    assert_replaced(s);
    assert_charged(s, 14, 50);
    assert_int_equal(sl_ledger_available(s.cpu), 0);
}

static void test_replace_gives_back_the_difference_of_one_that_shrinks(void **state)
{
    (void)state;
    struct scene s = scene();
    plan_both(s, 2, 30);
    assert_replaced(s);
    assert_charged(s, 2, 30);
    assert_int_equal(sl_ledger_available(s.cpu), 12);
}

static void test_replace_by_the_same_is_fine_where_nothing_is_left(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(sl_ledger_set_quota(s.memory, 30, 0, SL_AMOUNT_UNLIMITED), SL_OK);
    assert_int_equal(sl_ledger_available(s.memory), 0);
    plan_both(s, 6, 30);
    assert_replaced(s);
    assert_charged(s, 6, 30);
}

static void test_replace_by_less_is_fine_above_a_limit_that_was_lowered(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(sl_ledger_set_quota(s.memory, 10, 0, 0), SL_OK);
    assert_true(sl_ledger_available(s.memory) < 0);
    plan_both(s, 6, 29);
    assert_replaced(s);
    assert_charged(s, 6, 29);
    assert_true(sl_ledger_available(s.memory) < 0);
}

static void test_replace_may_grow_in_one_cell_and_shrink_in_another(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(sl_ledger_set_quota(s.memory, 10, 0, 0), SL_OK);
    plan_both(s, 11, 20);
    assert_replaced(s);
    assert_charged(s, 11, 20);
}

static void test_replace_may_leave_a_cell_and_take_another(void **state)
{
    (void)state;
    struct scene s = scene();
    plan(s.new, s.queue);
    sl_plan.usage_count = 1;
    sl_plan.usage[0] = (struct sl_cell_amount){s.other, 5};
    assert_replaced(s);
    assert_charged(s, 0, 0);
    assert_int_equal(sl_ledger_own(s.other), 5);
}

static void test_replace_by_one_that_asks_for_nothing_frees_all(void **state)
{
    (void)state;
    struct scene s = scene();
    plan(s.new, s.queue);
    assert_replaced(s);
    assert_charged(s, 0, 0);
}

static void test_replace_leaves_what_others_hold(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_workload_id third = in_flight();
    plan_both(s, 3, 10);
    sl_plan.workload = third;
    sl_plan.generation = sl_workloads[third].generation;
    assert_int_equal(sl_commit_apply(), SL_OK);
    plan_both(s, 8, 30);
    assert_replaced(s);
    assert_charged(s, 11, 40);
    assert_int_equal(sl_commit_usage(third, 1).amount, 3);
    happens(s.new, SL_EV_FINISH, 0, SL_FINISH_SUCCEEDED);
    assert_charged(s, 3, 10);
}

static void test_replace_of_an_amount_reduced_to_nothing_is_fine(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(sl_commit_reduce(s.old, s.generation, 1, 0), SL_OK);
    plan_both(s, 6, 50);
    assert_replaced(s);
    assert_charged(s, 6, 50);
}

static void test_replace_waits_for_checks_like_any_reservation(void **state)
{
    (void)state;
    struct scene s = scene();
    happens(s.new, SL_EV_CHECK_ADD, CHECK, 0);
    plan_both(s, 7, 31);
    assert_int_equal(sl_commit_replace(s.old, s.generation), SL_OK);
    assert_int_equal(sl_workloads[s.new].phase, SL_PHASE_QUOTA_RESERVED);
    assert_int_equal(sl_workloads[s.old].phase, SL_PHASE_FINISHED);
    assert_charged(s, 7, 31);
}

static void test_replace_of_an_evicted_holder_is_fine(void **state)
{
    (void)state;
    struct scene s = scene();
    happens(s.old, SL_EV_PREEMPT, 0, SL_PREEMPT_IN_CLUSTER_QUEUE);
    plan_both(s, 7, 31);
    assert_int_equal(sl_commit_replace(s.old, s.generation), SL_OK);
    assert_int_equal(sl_workloads[s.old].phase, SL_PHASE_FINISHED);
    assert_charged(s, 7, 31);
}

static void test_replace_goes_on_from_slice_to_slice(void **state)
{
    (void)state;
    struct scene s = scene();
    for (int64_t cpu = 7; cpu < 14; cpu++) {
        plan_both(s, cpu, 30);
        assert_replaced(s);
        assert_charged(s, cpu, 30);
        s.old = s.new;
        s.generation = sl_workloads[s.old].generation;
        s.new = in_flight();
    }
}

/* --- what is refused -------------------------------------------------------------------------- */

static void test_replace_beyond_what_is_available_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    plan_both(s, 15, 30);
    assert_refused(s, s.old, s.generation, SL_REFUSED_QUOTA);
    plan_both(s, 6, 51);
    assert_refused(s, s.old, s.generation, SL_REFUSED_QUOTA);
    assert_int_equal(sl_ledger_set_quota(s.memory, 10, 0, 0), SL_OK);
    plan_both(s, 1, 31);
    assert_refused(s, s.old, s.generation, SL_REFUSED_QUOTA);
}

static void test_replace_of_another_incarnation_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    plan_both(s, 6, 30);
    assert_refused(s, s.old, s.generation + 1, SL_REFUSED_STALE);
    assert_refused(s, s.old, s.generation - 1, SL_REFUSED_STALE);
    sl_plan.generation++;
    assert_refused(s, s.old, s.generation, SL_REFUSED_STALE);
}

static void test_replace_of_nobody_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    plan_both(s, 6, 30);
    assert_refused(s, SL_NO_ID, s.generation, SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_refused(s, SL_WORKLOADS_MAX, s.generation, SL_REFUSED_UNKNOWN_WORKLOAD);
    assert_refused(s, next_id, 0, SL_REFUSED_UNKNOWN_WORKLOAD);
    sl_plan.workload = SL_NO_ID;
    assert_refused(s, s.old, s.generation, SL_REFUSED_UNKNOWN_WORKLOAD);
}

static void test_replace_of_itself_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    plan_both(s, 6, 30);
    assert_refused(s, s.new, sl_workloads[s.new].generation, SL_REFUSED_BAD_ARGUMENT);
}

static void test_replace_of_a_finished_one_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    happens(s.old, SL_EV_FINISH, 0, SL_FINISH_SUCCEEDED);
    plan_both(s, 6, 30);
    assert_refused(s, s.old, s.generation, SL_REFUSED_FINISHED);
}

static void test_replace_of_one_that_holds_nothing_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_workload_id pending = next_id++;
    happens(pending, SL_EV_CREATE, 0, 0);
    plan_both(s, 6, 30);
    assert_refused(s, pending, sl_workloads[pending].generation, SL_REFUSED_PLACE);
    happens(s.old, SL_EV_DEACTIVATE, 0, 0);
    assert_refused(s, s.old, s.generation, SL_REFUSED_PLACE);
}

static void test_replace_by_one_that_is_not_in_flight_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(sl_place_move(s.new, SL_PLACE_IN_FLIGHT, SL_PLACE_HEAP), SL_OK);
    plan_both(s, 6, 30);
    assert_refused(s, s.old, s.generation, SL_REFUSED_PLACE);
}

static void test_replace_of_one_that_holds_of_another_queue_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    struct scene other = scene();
    plan_both(s, 6, 30);
    assert_refused(s, other.old, other.generation, SL_REFUSED_PLAN_USAGE);
}

static void test_replace_by_a_plan_out_of_form_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    plan_both(s, -1, 30);
    assert_refused(s, s.old, s.generation, SL_REFUSED_AMOUNT);
    plan_both(s, 6, 30);
    sl_plan.usage[1].cell = s.memory;
    assert_refused(s, s.old, s.generation, SL_REFUSED_PLAN_USAGE);
    sl_plan.usage_count = SL_USAGE_CELLS_MAX + 1;
    assert_refused(s, s.old, s.generation, SL_FULL_USAGE);
    plan_both(s, 6, 30);
    sl_plan.cluster_queue = SL_NO_ID;
    assert_refused(s, s.old, s.generation, SL_REFUSED_NO_QNODE);
}

static void test_replace_in_a_trial_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    plan_both(s, 7, 30);
    uint32_t mark = sl_trail_begin();
    assert_refused(s, s.old, s.generation, SL_REFUSED_TRIAL_OPEN);
    sl_trail_rollback(mark);
    assert_replaced(s);
}

/* The ledger has been changed already when the record says no. */
static void test_replace_by_one_that_is_not_ready_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    happens(s.new, SL_EV_CHECK_ADD, CHECK, 0);
    happens(s.new, SL_EV_CHECK_STATE, CHECK, SL_CHECK_RETRY);
    plan_both(s, 14, 20);
    assert_int_equal(sl_commit_replace_check(s.old, s.generation), SL_OK);
    refuses(s, s.old, s.generation, SL_REFUSED_NOT_ADMISSIBLE);
    happens(s.new, SL_EV_CHECK_STATE, CHECK, SL_CHECK_PENDING);
    sl_plan.now_ms = -1;
    refuses(s, s.old, s.generation, SL_REFUSED_BAD_ARGUMENT);
    sl_plan.now_ms = 1500;
    assert_int_equal(sl_commit_replace(s.old, s.generation), SL_OK);
    assert_charged(s, 14, 20);
}

static void test_replace_by_a_variant_beside_another_that_holds_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(sl_variants_set(s.old, 0, 1), SL_OK);
    assert_int_equal(sl_variants_set(s.new, 0, 0), SL_OK);
    plan_both(s, 2, 30);
    refuses(s, s.old, s.generation, SL_REFUSED_VARIANT);
    assert_int_equal(sl_variants_set(s.old, SL_NO_ID, 0), SL_OK);
    assert_int_equal(sl_commit_replace(s.old, s.generation), SL_OK);
    assert_charged(s, 2, 30);
    assert_int_equal(sl_variants_set(s.new, SL_NO_ID, 0), SL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_replace_charges_the_difference_of_one_that_grows, teardown),
        cmocka_unit_test_teardown(test_replace_gives_back_the_difference_of_one_that_shrinks,
                                  teardown),
        cmocka_unit_test_teardown(test_replace_by_the_same_is_fine_where_nothing_is_left, teardown),
        cmocka_unit_test_teardown(test_replace_by_less_is_fine_above_a_limit_that_was_lowered,
                                  teardown),
        cmocka_unit_test_teardown(test_replace_may_grow_in_one_cell_and_shrink_in_another,
                                  teardown),
        cmocka_unit_test_teardown(test_replace_may_leave_a_cell_and_take_another, teardown),
        cmocka_unit_test_teardown(test_replace_by_one_that_asks_for_nothing_frees_all, teardown),
        cmocka_unit_test_teardown(test_replace_leaves_what_others_hold, teardown),
        cmocka_unit_test_teardown(test_replace_of_an_amount_reduced_to_nothing_is_fine, teardown),
        cmocka_unit_test_teardown(test_replace_waits_for_checks_like_any_reservation, teardown),
        cmocka_unit_test_teardown(test_replace_of_an_evicted_holder_is_fine, teardown),
        cmocka_unit_test_teardown(test_replace_goes_on_from_slice_to_slice, teardown),
        cmocka_unit_test_teardown(test_replace_beyond_what_is_available_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_of_another_incarnation_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_of_nobody_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_of_itself_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_of_a_finished_one_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_of_one_that_holds_nothing_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_by_one_that_is_not_in_flight_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_of_one_that_holds_of_another_queue_is_refused,
                                  teardown),
        cmocka_unit_test_teardown(test_replace_by_a_plan_out_of_form_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_in_a_trial_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_by_one_that_is_not_ready_is_refused, teardown),
        cmocka_unit_test_teardown(test_replace_by_a_variant_beside_another_that_holds_is_refused,
                                  teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
