/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Commit: plans applied whole or refused whole, one test per refusal, and claims that come back exactly once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include "kernel/ledger/trail.h"
#include "policy/flavors/open_cell.h"

enum { CPU = 1, MEMORY = 2, FLAVOR = 3 };

struct scene {
    sl_qnode_id queue;
    sl_cell_id cpu;
    sl_cell_id memory;
    sl_workload_id id;
};

static sl_qnode_id next_node = 10;
static sl_workload_id next_id = 100;

static enum sl_status happen(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                             uint32_t reason)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, index, reason, 0, 2000};
    return sl_commit_event(ev);
}

static sl_workload_id created(void)
{
    sl_workload_id id = next_id++;
    assert_int_equal(happen(id, SL_EV_CREATE, 0, 0), SL_OK);
    return id;
}

static void to_flight(sl_workload_id id)
{
    if (sl_place_of(id) == SL_PLACE_ORPHANED) {
        assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    } else {
        assert_int_equal(sl_place_move(id, SL_PLACE_INADMISSIBLE, SL_PLACE_HEAP), SL_OK);
    }
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
}

/* A queue of its own with 10 cpu and 100 memory, a head in flight, and a plan for 4 cpu and 30 memory. */
static struct scene scene(void)
{
    struct scene s = {.queue = next_node++, .id = created()};
    assert_int_equal(sl_ledger_open_qnode(s.queue), SL_OK);
    assert_int_equal(sl_ledger_open_cell(s.queue, FLAVOR, CPU, &s.cpu), SL_OK);
    assert_int_equal(sl_ledger_open_cell(s.queue, FLAVOR, MEMORY, &s.memory), SL_OK);
    assert_int_equal(sl_ledger_set_quota(s.cpu, 10, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    assert_int_equal(sl_ledger_set_quota(s.memory, 100, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    to_flight(s.id);
    memset(&sl_plan, 0, sizeof(sl_plan));
    sl_plan.workload = s.id;
    sl_plan.generation = sl_workloads[s.id].generation;
    sl_plan.cluster_queue = s.queue;
    sl_plan.usage_count = 2;
    sl_plan.usage[0] = (struct sl_cell_amount){s.cpu, 4};
    sl_plan.usage[1] = (struct sl_cell_amount){s.memory, 30};
    sl_plan.now_ms = 1500;
    return s;
}

static struct scene held(void)
{
    struct scene s = scene();
    assert_int_equal(sl_commit_apply(), SL_OK);
    return s;
}

/* Everything as scene() left it: nothing charged, nothing stored, still pending and in flight. */
static void assert_untouched(struct scene s)
{
    assert_int_equal(sl_ledger_usage(s.cpu), 0);
    assert_int_equal(sl_ledger_usage(s.memory), 0);
    assert_int_equal(sl_commit_usage_count(s.id), 0);
    assert_int_equal(sl_workloads[s.id].phase, SL_PHASE_PENDING);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_IN_FLIGHT);
    assert_false(sl_trail_open());
}

static void assert_refused(struct scene s, enum sl_status status)
{
    assert_int_equal(sl_commit_check(), status);
    assert_int_equal(sl_commit_apply(), status);
    assert_untouched(s);
}

static int teardown(void **state)
{
    (void)state;
    assert_true(sl_commit_valid());
    assert_true(sl_ledger_valid());
    for (sl_workload_id id = 0; id < next_id + 10; id++) {
        assert_true(sl_lifecycle_valid(id));
        assert_true(sl_place_agrees(id));
    }
    return 0;
}

static void test_commit_good_plan_is_applied_whole(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(sl_commit_check(), SL_OK);
    assert_untouched(s);
    assert_int_equal(sl_commit_apply(), SL_OK);
    assert_int_equal(sl_ledger_own(s.cpu), 4);
    assert_int_equal(sl_ledger_own(s.memory), 30);
    assert_int_equal(sl_commit_usage_count(s.id), 2);
    assert_int_equal(sl_commit_usage(s.id, 1).cell, s.memory);
    assert_int_equal(sl_commit_usage(s.id, 1).amount, 30);
    assert_int_equal(sl_commit_usage(s.id, 2).cell, SL_NO_ID);
    assert_true(sl_lifecycle_holds_quota(s.id));
    assert_int_equal(sl_place_of(s.id), SL_PLACE_HOLDING);
    assert_false(sl_trail_open());
}

static void test_commit_exactly_the_rest_is_accepted(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.usage[0].amount = 10;
    assert_int_equal(sl_commit_apply(), SL_OK);
    assert_int_equal(sl_ledger_available(s.cpu), 0);
}

static void test_commit_plan_without_claims_reserves(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.usage_count = 0;
    assert_int_equal(sl_commit_apply(), SL_OK);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_HOLDING);
    assert_int_equal(sl_commit_usage_count(s.id), 0);
}

static void test_commit_unknown_workload_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.workload = SL_WORKLOADS_MAX;
    assert_refused(s, SL_REFUSED_UNKNOWN_WORKLOAD);
    sl_plan.workload = next_id + 5;
    sl_plan.generation = 0;
    assert_refused(s, SL_REFUSED_UNKNOWN_WORKLOAD);
}

static void test_commit_stale_generation_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.generation--;
    assert_refused(s, SL_REFUSED_STALE);
}

static void test_commit_finished_workload_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(happen(s.id, SL_EV_FINISH, 0, SL_FINISH_SUCCEEDED), SL_OK);
    assert_int_equal(sl_commit_apply(), SL_REFUSED_FINISHED);
    assert_int_equal(sl_commit_restore(), SL_REFUSED_FINISHED);
    assert_int_equal(sl_ledger_usage(s.cpu), 0);
}

static void test_commit_workload_elsewhere_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(sl_place_move(s.id, SL_PLACE_IN_FLIGHT, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_commit_apply(), SL_REFUSED_PLACE);
    assert_int_equal(happen(s.id, SL_EV_GATE, 0, 0), SL_OK);
    assert_int_equal(sl_commit_apply(), SL_REFUSED_PLACE);
    assert_int_equal(sl_ledger_usage(s.cpu), 0);
}

static void test_commit_same_plan_twice_is_refused(void **state)
{
    (void)state;
    struct scene s = held();
    assert_int_equal(sl_commit_apply(), SL_REFUSED_PLACE);
    assert_int_equal(sl_ledger_own(s.cpu), 4);
    assert_int_equal(sl_commit_usage_count(s.id), 2);
}

static void test_commit_while_a_trial_is_open_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    uint32_t mark = sl_trail_begin();
    assert_int_equal(sl_commit_check(), SL_REFUSED_TRIAL_OPEN);
    assert_int_equal(sl_commit_apply(), SL_REFUSED_TRIAL_OPEN);
    assert_int_equal(happen(s.id, SL_EV_GATE, 0, 0), SL_REFUSED_TRIAL_OPEN);
    sl_trail_rollback(mark);
    assert_untouched(s);
}

static void test_commit_too_many_claims_are_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.usage_count = SL_USAGE_CELLS_MAX + 1;
    assert_refused(s, SL_FULL_USAGE);
}

static void test_commit_unknown_queue_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.cluster_queue = SL_NO_ID;
    assert_refused(s, SL_REFUSED_NO_QNODE);
}

static void test_commit_claim_on_another_queue_is_refused(void **state)
{
    (void)state;
    struct scene other = scene();
    struct scene s = scene();
    sl_plan.usage[1].cell = other.memory;
    assert_refused(s, SL_REFUSED_PLAN_USAGE);
    sl_plan.usage[1].cell = SL_NO_ID;
    assert_refused(s, SL_REFUSED_PLAN_USAGE);
}

static void test_commit_cell_claimed_twice_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.usage[1] = (struct sl_cell_amount){s.cpu, 1};
    assert_refused(s, SL_REFUSED_PLAN_USAGE);
}

static void test_commit_amount_out_of_range_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.usage[1].amount = -1;
    assert_refused(s, SL_REFUSED_AMOUNT);
    sl_plan.usage[1].amount = SL_AMOUNT_MAX + 1;
    assert_refused(s, SL_REFUSED_AMOUNT);
}

static void test_commit_beyond_quota_is_refused_whole(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.usage[1].amount = 101; /* the first claim alone would fit */
    assert_refused(s, SL_REFUSED_QUOTA);
}

static void test_commit_after_a_quota_cut_is_refused_until_usage_is_under_it(void **state)
{
    (void)state;
    struct scene s = held();
    assert_int_equal(sl_ledger_set_quota(s.cpu, 3, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    assert_int_equal(sl_ledger_available(s.cpu), -1);
    sl_workload_id second = created();
    to_flight(second);
    sl_plan.workload = second;
    sl_plan.generation = sl_workloads[second].generation;
    sl_plan.usage_count = 1;
    sl_plan.usage[0].amount = 0;
    assert_int_equal(sl_commit_apply(), SL_REFUSED_QUOTA);
    assert_int_equal(happen(s.id, SL_EV_FINISH, 0, SL_FINISH_FAILED), SL_OK);
    sl_plan.usage[0].amount = 3;
    assert_int_equal(sl_commit_apply(), SL_OK);
}

static void test_commit_refused_by_the_record_rolls_the_charges_back(void **state)
{
    (void)state;
    struct scene s = scene();
    sl_plan.now_ms = -1; /* only the lifecycle looks at it, after the claims were charged */
    assert_int_equal(sl_commit_check(), SL_OK);
    assert_int_equal(sl_commit_apply(), SL_REFUSED_BAD_ARGUMENT);
    assert_untouched(s);
}

static void test_commit_restore_asks_for_no_availability(void **state)
{
    (void)state;
    struct scene s = held();
    sl_workload_id second = created();
    sl_plan.workload = second;
    sl_plan.generation = sl_workloads[second].generation;
    sl_plan.usage[0].amount = 50;
    assert_int_equal(sl_commit_restore(), SL_OK);
    assert_int_equal(sl_ledger_own(s.cpu), 54);
    assert_int_equal(sl_place_of(second), SL_PLACE_HOLDING);
    assert_int_equal(sl_commit_usage(second, 0).amount, 50);
    assert_int_equal(sl_commit_restore(), SL_REFUSED_PLACE);
}

static void test_commit_restore_too_large_is_refused_whole(void **state)
{
    (void)state;
    struct scene s = held();
    sl_workload_id second = created();
    sl_plan.workload = second;
    sl_plan.generation = sl_workloads[second].generation;
    sl_plan.usage[1].amount = SL_AMOUNT_MAX;
    assert_int_equal(sl_commit_restore(), SL_REFUSED_OVERFLOW);
    assert_int_equal(sl_ledger_own(s.cpu), 4);
    assert_int_equal(sl_ledger_own(s.memory), 30);
    assert_int_equal(sl_commit_usage_count(second), 0);
    assert_int_equal(sl_place_of(second), SL_PLACE_ORPHANED);
}

static void test_commit_event_reserve_without_a_plan_is_refused(void **state)
{
    (void)state;
    struct scene s = scene();
    assert_int_equal(happen(s.id, SL_EV_RESERVE, 0, 0), SL_REFUSED_BAD_ARGUMENT);
    assert_untouched(s);
}

static void test_commit_event_for_an_unknown_id_is_refused(void **state)
{
    (void)state;
    struct sl_event ev = {SL_EV_DELETE, SL_WORKLOADS_MAX, 0, 0, 0, 0, 0};
    assert_int_equal(sl_commit_event(ev), SL_REFUSED_UNKNOWN_WORKLOAD);
}

static void test_commit_event_refused_by_the_record_changes_nothing(void **state)
{
    (void)state;
    struct scene s = held();
    struct sl_event ev = {SL_EV_FINISH, s.id, sl_workloads[s.id].generation + 1, 0, 0, 0, 0};
    assert_int_equal(sl_commit_event(ev), SL_REFUSED_STALE);
    assert_int_equal(sl_ledger_own(s.cpu), 4);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_HOLDING);
}

static void test_commit_preempted_holds_until_its_job_has_stopped(void **state)
{
    (void)state;
    struct scene s = held();
    assert_int_equal(happen(s.id, SL_EV_PREEMPT, 0, SL_PREEMPT_IN_CLUSTER_QUEUE), SL_OK);
    assert_int_equal(sl_ledger_own(s.cpu), 4);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_HOLDING);
    assert_int_equal(happen(s.id, SL_EV_JOB_STOPPED, 0, 0), SL_OK);
    assert_int_equal(sl_ledger_own(s.cpu), 0);
    assert_int_equal(sl_commit_usage_count(s.id), 0);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_INADMISSIBLE);
}

static void test_commit_deactivated_holder_gives_quota_back_at_once_and_only_once(void **state)
{
    (void)state;
    struct scene s = held();
    assert_int_equal(happen(s.id, SL_EV_DEACTIVATE, 0, 0), SL_OK);
    assert_int_equal(sl_workloads[s.id].phase, SL_PHASE_EVICTED);
    assert_int_equal(sl_ledger_own(s.cpu), 0);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_DORMANT);
    assert_int_equal(happen(s.id, SL_EV_JOB_STOPPED, 0, 0), SL_OK);
    assert_int_equal(sl_ledger_own(s.cpu), 0);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_DORMANT);
    assert_int_equal(happen(s.id, SL_EV_REACTIVATE, 0, 0), SL_OK);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_INADMISSIBLE);
}

static void test_commit_finished_and_deleted_holders_give_back(void **state)
{
    (void)state;
    struct scene finished = held();
    assert_int_equal(happen(finished.id, SL_EV_FINISH, 0, SL_FINISH_SUCCEEDED), SL_OK);
    assert_int_equal(sl_ledger_usage(finished.memory), 0);
    assert_int_equal(sl_place_of(finished.id), SL_PLACE_DONE);
    struct scene deleted = held();
    assert_int_equal(happen(deleted.id, SL_EV_DELETE, 0, 0), SL_OK);
    assert_int_equal(sl_ledger_usage(deleted.memory), 0);
    assert_int_equal(sl_place_of(deleted.id), SL_PLACE_NONE);
}

static void test_commit_unwritten_reservation_goes_back_in_line(void **state)
{
    (void)state;
    struct scene s = held();
    assert_int_equal(happen(s.id, SL_EV_WRITE_FAILED, 0, 0), SL_OK);
    assert_int_equal(sl_ledger_own(s.cpu), 0);
    assert_int_equal(sl_place_of(s.id), SL_PLACE_INADMISSIBLE);
    to_flight(s.id);
    assert_int_equal(sl_commit_apply(), SL_OK);
    assert_int_equal(sl_ledger_own(s.cpu), 4);
}

static void test_commit_valid_sees_a_charge_without_a_claim(void **state)
{
    (void)state;
    struct scene s = held();
    assert_true(sl_commit_valid());
    assert_int_equal(sl_ledger_charge(s.cpu, 1), SL_OK);
    assert_false(sl_commit_valid());
    assert_int_equal(sl_ledger_release(s.cpu, 1), SL_OK);
    assert_true(sl_commit_valid());
}

static void test_commit_valid_sees_claims_that_are_broken(void **state)
{
    (void)state;
    struct scene s = held();
    struct usage_row {
        sl_cell_id cell;
        int64_t amount;
    } good = {sl_usage_cells[s.id][0], sl_usage_amounts[s.id][0]};
    const struct usage_row bad[] = {{good.cell, good.amount - 1},
                                    {good.cell, -1},
                                    {good.cell, SL_AMOUNT_MAX + 1},
                                    {sl_usage_cell_limit, good.amount}};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sl_usage_cells[s.id][0] = bad[i].cell;
        sl_usage_amounts[s.id][0] = bad[i].amount;
        assert_false(sl_commit_valid());
    }
    sl_usage_cells[s.id][0] = good.cell;
    sl_usage_amounts[s.id][0] = good.amount;
    uint32_t limit = sl_usage_workload_limit;
    sl_usage_workload_limit = SL_WORKLOADS_MAX + 1;
    assert_false(sl_commit_valid());
    sl_usage_workload_limit = limit;
    assert_true(sl_commit_valid());
}

/* Two claims that are amounts, and their sum is none, though it is what the ledger says. */
static void test_commit_valid_sees_a_sum_that_is_no_amount(void **state)
{
    (void)state;
    struct scene s = held();
    struct scene t = held();
    sl_cell_id cell = sl_usage_cells[t.id][0];
    int64_t own = sl_cell_own[cell];
    sl_usage_cells[t.id][0] = s.cpu;
    sl_cell_own[cell] = 0;
    int64_t large = SL_AMOUNT_MAX - sl_cell_own[s.cpu];
    int64_t was = sl_usage_amounts[t.id][0];
    sl_usage_amounts[t.id][0] = large;
    sl_cell_own[s.cpu] += large;
    assert_true(sl_commit_valid());
    sl_usage_amounts[t.id][0]++;
    sl_cell_own[s.cpu]++;
    assert_false(sl_commit_valid());
    sl_cell_own[s.cpu] -= large + 1;
    sl_usage_amounts[t.id][0] = was;
    sl_usage_cells[t.id][0] = cell;
    sl_cell_own[cell] = own;
    assert_true(sl_commit_valid());
}

static void test_commit_claims_of_unknown_workloads_are_none(void **state)
{
    (void)state;
    assert_int_equal(sl_commit_usage_count(SL_NO_ID), 0);
    assert_int_equal(sl_commit_usage(SL_NO_ID, 0).cell, SL_NO_ID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commit_good_plan_is_applied_whole),
        cmocka_unit_test(test_commit_exactly_the_rest_is_accepted),
        cmocka_unit_test(test_commit_plan_without_claims_reserves),
        cmocka_unit_test(test_commit_unknown_workload_is_refused),
        cmocka_unit_test(test_commit_stale_generation_is_refused),
        cmocka_unit_test(test_commit_finished_workload_is_refused),
        cmocka_unit_test(test_commit_workload_elsewhere_is_refused),
        cmocka_unit_test(test_commit_same_plan_twice_is_refused),
        cmocka_unit_test(test_commit_while_a_trial_is_open_is_refused),
        cmocka_unit_test(test_commit_too_many_claims_are_refused),
        cmocka_unit_test(test_commit_unknown_queue_is_refused),
        cmocka_unit_test(test_commit_claim_on_another_queue_is_refused),
        cmocka_unit_test(test_commit_cell_claimed_twice_is_refused),
        cmocka_unit_test(test_commit_amount_out_of_range_is_refused),
        cmocka_unit_test(test_commit_beyond_quota_is_refused_whole),
        cmocka_unit_test(test_commit_after_a_quota_cut_is_refused_until_usage_is_under_it),
        cmocka_unit_test(test_commit_refused_by_the_record_rolls_the_charges_back),
        cmocka_unit_test(test_commit_restore_asks_for_no_availability),
        cmocka_unit_test(test_commit_restore_too_large_is_refused_whole),
        cmocka_unit_test(test_commit_event_reserve_without_a_plan_is_refused),
        cmocka_unit_test(test_commit_event_for_an_unknown_id_is_refused),
        cmocka_unit_test(test_commit_event_refused_by_the_record_changes_nothing),
        cmocka_unit_test(test_commit_preempted_holds_until_its_job_has_stopped),
        cmocka_unit_test(test_commit_deactivated_holder_gives_quota_back_at_once_and_only_once),
        cmocka_unit_test(test_commit_finished_and_deleted_holders_give_back),
        cmocka_unit_test(test_commit_unwritten_reservation_goes_back_in_line),
        cmocka_unit_test(test_commit_valid_sees_a_charge_without_a_claim),
        cmocka_unit_test(test_commit_valid_sees_claims_that_are_broken),
        cmocka_unit_test(test_commit_valid_sees_a_sum_that_is_no_amount),
        cmocka_unit_test(test_commit_claims_of_unknown_workloads_are_none),
    };
    return cmocka_run_group_tests_name("commit", tests, NULL, teardown);
}
