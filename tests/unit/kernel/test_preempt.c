/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption plans (G4): who may be a victim, whether the plan fits with the victims gone, whether one could have
 * been spared; a test for each refusal, none of which may leave a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/commit/commit.h"
#include "kernel/base/order.h"
#include "kernel/preempt/preempt.h"
#include "kernel/base/reasons.h"
#include "policy/flavors/open_cell.h"

enum { CPU = 1, MEMORY = 2, FLAVOR = 3 };

/* A cohort of two queues with 10 cpu each. */
struct world {
    sl_qnode_id mine;
    sl_qnode_id other;
    sl_cell_id my_cpu;
    sl_cell_id other_cpu;
    sl_workload_id preemptor;
};

static sl_qnode_id next_node = 10;
static sl_workload_id next_id = 100;

static enum sl_status happen(sl_workload_id id, enum sl_event_kind kind, uint32_t reason)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, 0, reason, 0, 2000};
    return sl_commit_event(ev);
}

static sl_workload_id head(int32_t priority, int64_t queued_at_ms)
{
    sl_workload_id id = next_id++;
    assert_int_equal(happen(id, SL_EV_CREATE, 0), SL_OK);
    sl_order_set(id, (struct sl_order_key){priority, queued_at_ms, 0, 0});
    assert_int_equal(sl_place_move(id, SL_PLACE_ORPHANED, SL_PLACE_HEAP), SL_OK);
    assert_int_equal(sl_place_move(id, SL_PLACE_HEAP, SL_PLACE_IN_FLIGHT), SL_OK);
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
    sl_plan.now_ms = 1500;
}

static sl_workload_id holder(sl_cell_id cell, int64_t amount, int32_t priority,
                             int64_t queued_at_ms)
{
    sl_workload_id id = head(priority, queued_at_ms);
    plan(id, cell, amount);
    assert_int_equal(sl_commit_apply(), SL_OK);
    return id;
}

static sl_qnode_id queue(sl_qnode_id cohort, sl_cell_id *cell)
{
    sl_qnode_id node = next_node++;
    assert_int_equal(sl_ledger_open_qnode(node), SL_OK);
    assert_int_equal(sl_ledger_move_qnode(node, cohort), SL_OK);
    assert_int_equal(sl_ledger_open_cell(node, FLAVOR, CPU, cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(*cell, 10, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    return node;
}

static void allow(sl_qnode_id node, enum sl_preempt_within within, enum sl_preempt_reclaim reclaim)
{
    struct sl_preempt_policy policy = {within, reclaim, false, false, 0};
    assert_int_equal(sl_preempt_set_policy(node, policy), SL_OK);
}

/* The preemptor has priority 5 and was queued at 100. */
static struct world world(void)
{
    struct world w;
    sl_qnode_id cohort = next_node++;
    assert_int_equal(sl_ledger_open_qnode(cohort), SL_OK);
    w.mine = queue(cohort, &w.my_cpu);
    w.other = queue(cohort, &w.other_cpu);
    w.preemptor = head(5, 100);
    allow(w.mine, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_ANY);
    return w;
}

static void want(struct world w, int64_t amount)
{
    plan(w.preemptor, w.my_cpu, amount);
    memset(&sl_preempt_plan, 0, sizeof(sl_preempt_plan));
    sl_preempt_plan.may_borrow = true;
}

static void victim(sl_workload_id id)
{
    uint32_t i = sl_preempt_plan.victim_count++;
    sl_preempt_plan.victims[i] = id;
    sl_preempt_plan.reasons[i] = SL_PREEMPT_IN_CLUSTER_QUEUE;
}

static void gone(sl_workload_id id)
{
    sl_preempt_plan.gone[sl_preempt_plan.gone_count++] = id;
}

/* Check and commit refuse with this, and leave usage, victims and promises alone. */
static void assert_refused(struct world w, enum sl_status status)
{
    int64_t mine = sl_ledger_usage(w.my_cpu);
    int64_t other = sl_ledger_usage(w.other_cpu);
    uint32_t promises = sl_promise_count();
    enum sl_phase phase = sl_workloads[sl_preempt_plan.victims[0] % SL_WORKLOADS_MAX].phase;
    assert_int_equal(sl_preempt_check(), status);
    assert_int_equal(sl_preempt_commit(), status);
    assert_int_equal(sl_ledger_usage(w.my_cpu), mine);
    assert_int_equal(sl_ledger_usage(w.other_cpu), other);
    assert_int_equal(sl_promise_count(), promises);
    assert_int_equal(sl_workloads[sl_preempt_plan.victims[0] % SL_WORKLOADS_MAX].phase, phase);
}

static void assert_accepted(struct world w)
{
    int64_t mine = sl_ledger_usage(w.my_cpu);
    int64_t other = sl_ledger_usage(w.other_cpu);
    assert_int_equal(sl_preempt_check(), SL_OK);
    assert_int_equal(sl_ledger_usage(w.my_cpu), mine);
    assert_int_equal(sl_ledger_usage(w.other_cpu), other);
    assert_int_equal(sl_preempt_commit(), SL_OK);
    assert_int_equal(sl_ledger_usage(w.my_cpu), mine);
    assert_int_equal(sl_ledger_usage(w.other_cpu), other);
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        assert_int_equal(sl_workloads[sl_preempt_plan.victims[i]].phase, SL_PHASE_EVICTED);
    }
    assert_int_equal(sl_workloads[w.preemptor].phase, SL_PHASE_PENDING);
}

static int teardown(void **state)
{
    (void)state;
    assert_true(sl_commit_valid());
    assert_true(sl_ledger_valid());
    assert_false(sl_trail_open());
    for (sl_workload_id id = 0; id < next_id + 10; id++) {
        assert_true(sl_lifecycle_valid(id));
        assert_true(sl_place_agrees(id));
    }
    sl_promise_clear();
    return 0;
}

static void test_preempt_policy_never_set_forbids_all(void **state)
{
    (void)state;
    struct sl_preempt_policy policy = sl_preempt_policy_of(next_node);
    assert_int_equal(policy.within, SL_WITHIN_NEVER);
    assert_int_equal(policy.reclaim, SL_RECLAIM_NEVER);
    assert_false(policy.borrow_within);
    policy = sl_preempt_policy_of(SL_NO_ID);
    assert_int_equal(policy.reclaim, SL_RECLAIM_NEVER);
}

static void test_preempt_policy_set_is_what_is_found(void **state)
{
    (void)state;
    struct sl_preempt_policy policy = {SL_WITHIN_LOWER_OR_NEWER_EQUAL, SL_RECLAIM_LOWER_PRIORITY,
                                       true, true, -7};
    assert_int_equal(sl_preempt_set_policy(next_node, policy), SL_OK);
    struct sl_preempt_policy found = sl_preempt_policy_of(next_node++);
    assert_int_equal(found.within, SL_WITHIN_LOWER_OR_NEWER_EQUAL);
    assert_int_equal(found.reclaim, SL_RECLAIM_LOWER_PRIORITY);
    assert_true(found.borrow_within);
    assert_true(found.has_threshold);
    assert_int_equal(found.threshold, -7);
}

static void test_preempt_policy_out_of_range_is_refused(void **state)
{
    (void)state;
    struct sl_preempt_policy policy = {SL_WITHIN_NEVER, SL_RECLAIM_NEVER, false, false, 0};
    assert_int_equal(sl_preempt_set_policy(SL_QNODES_MAX, policy), SL_REFUSED_NO_QNODE);
    policy.within = SL_WITHIN_LOWER_OR_NEWER_EQUAL + 1;
    assert_int_equal(sl_preempt_set_policy(next_node, policy), SL_REFUSED_BAD_ARGUMENT);
    policy.within = SL_WITHIN_NEVER;
    policy.reclaim = SL_RECLAIM_ANY + 1;
    assert_int_equal(sl_preempt_set_policy(next_node, policy), SL_REFUSED_BAD_ARGUMENT);
}

static void test_promise_kept_until_cleared(void **state)
{
    (void)state;
    struct world w = world();
    assert_int_equal(sl_promise_add(w.my_cpu, 3), SL_OK);
    assert_int_equal(sl_promise_add(w.other_cpu, SL_AMOUNT_MAX), SL_OK);
    assert_int_equal(sl_promise_count(), 2);
    assert_int_equal(sl_promise_at(0).cell, w.my_cpu);
    assert_int_equal(sl_promise_at(0).amount, 3);
    assert_int_equal(sl_promise_at(1).amount, SL_AMOUNT_MAX);
    assert_int_equal(sl_promise_at(2).cell, SL_NO_ID);
    assert_int_equal(sl_promise_at(2).amount, 0);
    sl_promise_clear();
    assert_int_equal(sl_promise_count(), 0);
    assert_int_equal(sl_promise_at(0).cell, SL_NO_ID);
}

static void test_promise_of_no_cell_or_amount_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    assert_int_equal(sl_promise_add(SL_CELLS_MAX - 1, 3), SL_REFUSED_NO_CELL);
    assert_int_equal(sl_promise_add(SL_NO_ID, 3), SL_REFUSED_NO_CELL);
    assert_int_equal(sl_promise_add(w.my_cpu, -1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_promise_add(w.my_cpu, SL_AMOUNT_MAX + 1), SL_REFUSED_AMOUNT);
    assert_int_equal(sl_promise_count(), 0);
}

static void test_promise_beyond_the_last_row_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    while (sl_promise_count() < SL_PROMISES_MAX) {
        assert_int_equal(sl_promise_add(w.my_cpu, 0), SL_OK);
    }
    assert_int_equal(sl_promise_add(w.my_cpu, 0), SL_FULL_USAGE);
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    holder(w.other_cpu, 10, 1, 50);
    want(w, 1);
    victim(low);
    assert_refused(w, SL_FULL_USAGE);
}

static void test_preempt_lower_priority_of_own_queue_is_evicted_and_quota_promised(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    holder(w.other_cpu, 10, 1, 50);
    want(w, 4);
    victim(low);
    assert_accepted(w);
    assert_int_equal(sl_workloads[low].preempted, SL_PREEMPT_IN_CLUSTER_QUEUE);
    assert_int_equal(sl_workloads[low].evicted, SL_EVICT_PREEMPTED);
    assert_int_equal(sl_promise_count(), 1);
    assert_int_equal(sl_promise_at(0).cell, w.my_cpu);
    assert_int_equal(sl_promise_at(0).amount, 4);
}

static void test_preempt_equal_priority_is_refused_under_lower_priority(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id equal = holder(w.my_cpu, 10, 5, 200);
    holder(w.other_cpu, 10, 1, 50);
    want(w, 4);
    victim(equal);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_newer_equal_is_accepted_where_allowed_and_older_equal_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id newer = holder(w.my_cpu, 6, 5, 101);
    sl_workload_id same = holder(w.my_cpu, 4, 5, 100);
    holder(w.other_cpu, 10, 1, 50);
    allow(w.mine, SL_WITHIN_LOWER_OR_NEWER_EQUAL, SL_RECLAIM_NEVER);
    want(w, 4);
    victim(same);
    assert_refused(w, SL_REFUSED_VICTIM);
    want(w, 4);
    victim(newer);
    assert_accepted(w);
}

static void test_preempt_higher_priority_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id high = holder(w.my_cpu, 10, 6, 200);
    holder(w.other_cpu, 10, 1, 50);
    allow(w.mine, SL_WITHIN_LOWER_OR_NEWER_EQUAL, SL_RECLAIM_ANY);
    want(w, 4);
    victim(high);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_own_queue_is_refused_under_never(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    holder(w.other_cpu, 10, 1, 50);
    allow(w.mine, SL_WITHIN_NEVER, SL_RECLAIM_ANY);
    want(w, 4);
    victim(low);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_reclaim_any_takes_even_higher_priority(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id borrower = holder(w.other_cpu, 20, 9, 50);
    want(w, 10);
    sl_preempt_plan.may_borrow = false;
    victim(borrower);
    assert_accepted(w);
}

static void test_preempt_reclaim_lower_priority_spares_equal_and_takes_lower(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id equal = holder(w.other_cpu, 10, 5, 200);
    sl_workload_id low = holder(w.other_cpu, 10, 4, 50);
    allow(w.mine, SL_WITHIN_LOWER_OR_NEWER_EQUAL, SL_RECLAIM_LOWER_PRIORITY);
    want(w, 10);
    victim(equal);
    assert_refused(w, SL_REFUSED_VICTIM);
    want(w, 10);
    victim(low);
    assert_accepted(w);
}

static void test_preempt_reclaim_never_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id borrower = holder(w.other_cpu, 20, 1, 50);
    allow(w.mine, SL_WITHIN_LOWER_PRIORITY, SL_RECLAIM_NEVER);
    want(w, 10);
    victim(borrower);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_from_another_tree_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    struct world elsewhere = world();
    sl_workload_id stranger = holder(elsewhere.other_cpu, 20, 1, 50);
    holder(w.my_cpu, 10, 9, 50);
    holder(w.other_cpu, 10, 9, 50);
    want(w, 4);
    victim(stranger);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_without_victims_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    want(w, 4);
    assert_refused(w, SL_REFUSED_BAD_ARGUMENT);
}

static void test_preempt_too_many_victims_or_gone_are_refused(void **state)
{
    (void)state;
    struct world w = world();
    want(w, 4);
    sl_preempt_plan.victim_count = SL_VICTIMS_MAX + 1;
    assert_int_equal(sl_preempt_check(), SL_REFUSED_BAD_ARGUMENT);
    sl_preempt_plan.victim_count = 1;
    sl_preempt_plan.gone_count = SL_VICTIMS_MAX + 1;
    assert_int_equal(sl_preempt_check(), SL_REFUSED_BAD_ARGUMENT);
}

static void test_preempt_victim_named_twice_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    holder(w.other_cpu, 10, 1, 50);
    want(w, 4);
    victim(low);
    victim(low);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_unknown_victim_or_gone_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    want(w, 4);
    victim(SL_NO_ID);
    assert_refused(w, SL_REFUSED_UNKNOWN_WORKLOAD);
    want(w, 4);
    victim(holder(w.my_cpu, 1, 1, 50));
    want(w, 4);
    victim(next_id - 1);
    gone(SL_WORKLOADS_MAX);
    assert_refused(w, SL_REFUSED_UNKNOWN_WORKLOAD);
}

static void test_preempt_victim_without_a_reason_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    holder(w.other_cpu, 10, 1, 50);
    want(w, 4);
    victim(low);
    sl_preempt_plan.reasons[0] = SL_PREEMPT_NONE;
    assert_refused(w, SL_REFUSED_BAD_ARGUMENT);
    sl_preempt_plan.reasons[0] = SL_PREEMPT_FLAVOR_MIGRATION;
    assert_refused(w, SL_REFUSED_BAD_ARGUMENT);
}

static void test_preempt_victim_that_holds_nothing_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    holder(w.my_cpu, 10, 9, 50);
    holder(w.other_cpu, 10, 9, 50);
    sl_workload_id pending = head(1, 50);
    sl_workload_id idle = holder(w.my_cpu, 0, 1, 50);
    want(w, 4);
    victim(pending);
    assert_refused(w, SL_REFUSED_VICTIM);
    want(w, 4);
    victim(idle);
    assert_refused(w, SL_REFUSED_VICTIM);
    want(w, 4);
    victim(w.preemptor);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_finished_victim_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id done = holder(w.my_cpu, 10, 1, 50);
    assert_int_equal(happen(done, SL_EV_FINISH, SL_FINISH_SUCCEEDED), SL_OK);
    want(w, 4);
    victim(done);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_gone_that_is_not_evicted_or_is_a_victim_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    sl_workload_id running = holder(w.other_cpu, 10, 1, 50);
    want(w, 4);
    victim(low);
    gone(running);
    assert_refused(w, SL_REFUSED_VICTIM);
    assert_int_equal(happen(low, SL_EV_PREEMPT, SL_PREEMPT_RECLAMATION), SL_OK);
    assert_int_equal(happen(running, SL_EV_PREEMPT, SL_PREEMPT_RECLAMATION), SL_OK);
    want(w, 4);
    victim(low);
    gone(low);
    assert_refused(w, SL_REFUSED_VICTIM);
    want(w, 4);
    victim(low);
    gone(running);
    gone(running);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_that_does_not_fit_even_so_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    holder(w.other_cpu, 10, 9, 50);
    want(w, 11);
    victim(low);
    assert_refused(w, SL_REFUSED_QUOTA);
}

static void test_preempt_one_victim_too_many_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id first = holder(w.my_cpu, 6, 1, 50);
    sl_workload_id second = holder(w.my_cpu, 4, 1, 50);
    holder(w.other_cpu, 10, 9, 50);
    want(w, 4);
    victim(first);
    victim(second);
    assert_refused(w, SL_REFUSED_SPARABLE);
    want(w, 7);
    victim(first);
    victim(second);
    assert_accepted(w);
}

static void test_preempt_victim_needed_only_not_to_borrow_is_accepted(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    want(w, 4);
    victim(low);
    assert_refused(w, SL_REFUSED_SPARABLE);
    sl_preempt_plan.may_borrow = false;
    assert_accepted(w);
}

static void test_preempt_that_borrows_although_it_may_not_is_refused(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id borrower = holder(w.other_cpu, 20, 1, 50);
    want(w, 12);
    victim(borrower);
    sl_preempt_plan.may_borrow = false;
    assert_refused(w, SL_REFUSED_QUOTA);
    sl_preempt_plan.may_borrow = true;
    assert_accepted(w);
}

static void test_preempt_victim_already_evicted_is_not_evicted_again_nor_spared(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id leaving = holder(w.my_cpu, 6, 1, 50);
    sl_workload_id low = holder(w.my_cpu, 4, 1, 50);
    holder(w.other_cpu, 10, 9, 50);
    assert_int_equal(happen(leaving, SL_EV_PREEMPT, SL_PREEMPT_FAIR_SHARING), SL_OK);
    want(w, 10);
    sl_preempt_plan.may_borrow = false;
    victim(leaving);
    victim(low);
    assert_accepted(w);
    assert_int_equal(sl_workloads[leaving].preempted, SL_PREEMPT_FAIR_SHARING);
    assert_int_equal(sl_workloads[leaving].eviction_count, 1);
    want(w, 4);
    victim(leaving);
    victim(low);
    sl_promise_clear();
    assert_accepted(w);
    assert_int_equal(sl_workloads[low].eviction_count, 1);
}

static void test_preempt_what_was_promised_is_taken(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    holder(w.other_cpu, 6, 9, 50);
    assert_int_equal(sl_promise_add(w.other_cpu, 4), SL_OK);
    want(w, 11);
    victim(low);
    assert_refused(w, SL_REFUSED_QUOTA);
    want(w, 10);
    victim(low);
    assert_accepted(w);
}

static void test_preempt_what_is_gone_is_free(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    sl_workload_id leaving = holder(w.other_cpu, 10, 1, 50);
    assert_int_equal(happen(leaving, SL_EV_PREEMPT, SL_PREEMPT_RECLAMATION), SL_OK);
    assert_int_equal(sl_promise_add(w.other_cpu, 4), SL_OK);
    want(w, 11);
    victim(low);
    assert_refused(w, SL_REFUSED_QUOTA);
    gone(leaving);
    assert_accepted(w);
}

/* With the other's victim gone 6 of the 20 are free: enough for 4, so that nobody has to go. */
static void test_preempt_after_others_is_judged_in_their_world(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    sl_workload_id leaving = holder(w.other_cpu, 10, 1, 50);
    assert_int_equal(happen(leaving, SL_EV_PREEMPT, SL_PREEMPT_RECLAMATION), SL_OK);
    assert_int_equal(sl_promise_add(w.other_cpu, 4), SL_OK);
    want(w, 4);
    victim(low);
    gone(leaving);
    sl_preempt_plan.after_others = true;
    assert_refused(w, SL_REFUSED_SPARABLE);
    sl_preempt_plan.after_others = false;
    assert_accepted(w);
}

static void test_preempt_form_of_the_plan_is_checked(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    holder(w.other_cpu, 10, 9, 50);
    want(w, 4);
    victim(low);
    sl_plan.generation++;
    assert_refused(w, SL_REFUSED_STALE);
    want(w, 4);
    victim(low);
    sl_plan.usage[0].cell = w.other_cpu;
    assert_refused(w, SL_REFUSED_PLAN_USAGE);
    want(w, 4);
    victim(low);
    sl_plan.now_ms = -1;
    assert_refused(w, SL_REFUSED_BAD_ARGUMENT);
    want(w, 4);
    victim(low);
    uint32_t mark = sl_trail_begin();
    assert_refused(w, SL_REFUSED_TRIAL_OPEN);
    sl_trail_rollback(mark);
}

/* A promise on a cell that was closed since cannot be counted, unless it is of nothing. */
static void test_preempt_with_a_promise_on_a_closed_cell_is_refused_unless_of_nothing(void **state)
{
    (void)state;
    struct world w = world();
    sl_cell_id cell;
    sl_qnode_id node = queue(SL_NO_ID, &cell);
    sl_workload_id low = holder(w.my_cpu, 10, 1, 50);
    holder(w.other_cpu, 10, 9, 50);
    assert_int_equal(sl_promise_add(cell, 1), SL_OK);
    assert_int_equal(sl_ledger_close_qnode(node), SL_OK);
    want(w, 4);
    victim(low);
    assert_refused(w, SL_REFUSED_NO_CELL);
    sl_promise_clear();
    node = queue(SL_NO_ID, &cell);
    assert_int_equal(sl_promise_add(cell, 0), SL_OK);
    assert_int_equal(sl_ledger_close_qnode(node), SL_OK);
    assert_accepted(w);
}

static void test_preempt_queue_within_its_nominal_quota_loses_nobody(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id theirs = holder(w.other_cpu, 10, 1, 50);
    want(w, 15);
    victim(theirs);
    assert_refused(w, SL_REFUSED_VICTIM);
    holder(w.other_cpu, 1, 1, 50); /* now it borrows */
    want(w, 15);
    victim(theirs);
    assert_accepted(w);
}

/* What an earlier plan of the cycle takes counts for a plan that was made after it, and for no other. */
static void test_preempt_queue_borrows_by_what_is_promised(void **state)
{
    (void)state;
    struct world w = world();
    sl_workload_id theirs = holder(w.other_cpu, 10, 1, 50);
    assert_int_equal(sl_promise_add(w.other_cpu, 1), SL_OK);
    want(w, 15);
    victim(theirs);
    assert_refused(w, SL_REFUSED_VICTIM);
    sl_preempt_plan.after_others = true;
    assert_accepted(w);
}

static void test_preempt_queue_that_borrows_something_else_loses_nobody(void **state)
{
    (void)state;
    struct world w = world();
    sl_cell_id memory = SL_NO_ID;
    sl_workload_id theirs = holder(w.other_cpu, 10, 1, 50);
    assert_int_equal(sl_ledger_open_cell(w.mine, FLAVOR, MEMORY, &memory), SL_OK);
    assert_int_equal(sl_ledger_set_quota(memory, 10, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    assert_int_equal(sl_ledger_open_cell(w.other, FLAVOR, MEMORY, &memory), SL_OK);
    holder(memory, 1, 1, 50);
    want(w, 15);
    victim(theirs);
    assert_refused(w, SL_REFUSED_VICTIM);
}

static void test_preempt_while_borrowing_keeps_to_the_policy(void **state)
{
    (void)state;
    struct world w = world();
    struct sl_preempt_policy policy = {SL_WITHIN_NEVER, SL_RECLAIM_ANY, false, true, 3};
    sl_workload_id theirs = holder(w.other_cpu, 20, 4, 50);
    assert_int_equal(sl_preempt_set_policy(w.mine, policy), SL_OK);
    want(w, 12);
    victim(theirs);
    sl_preempt_plan.reasons[0] = SL_PREEMPT_RECLAIM_WHILE_BORROWING;
    assert_refused(w, SL_REFUSED_VICTIM); /* it may not borrow then */
    policy.borrow_within = true;
    assert_int_equal(sl_preempt_set_policy(w.mine, policy), SL_OK);
    assert_refused(w, SL_REFUSED_VICTIM); /* not to take one of this priority */
    policy.threshold = 4;
    assert_int_equal(sl_preempt_set_policy(w.mine, policy), SL_OK);
    sl_order_set(theirs, (struct sl_order_key){5, 50, 0, 0});
    assert_refused(w, SL_REFUSED_VICTIM); /* nor an equal one */
    sl_order_set(theirs, (struct sl_order_key){4, 50, 0, 0});
    assert_accepted(w);
}

/* Every victim is put back once; the cost is that of what they claim. */
static void test_preempt_many_victims_are_each_needed(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    struct world w = world();
    assert_int_equal(sl_ledger_set_quota(w.my_cpu, MANY, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED),
                     SL_OK);
    holder(w.other_cpu, 10, 9, 50);
    sl_workload_id first = next_id;
    for (uint32_t i = 0; i < MANY; i++) {
        holder(w.my_cpu, 1, 1, 50);
    }
    want(w, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        victim(first + i);
    }
    sl_plan.usage[0].amount = MANY - 1;
    assert_refused(w, SL_REFUSED_SPARABLE);
    sl_plan.usage[0].amount = MANY;
    assert_accepted(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_preempt_policy_never_set_forbids_all, teardown),
        cmocka_unit_test_teardown(test_preempt_policy_set_is_what_is_found, teardown),
        cmocka_unit_test_teardown(test_preempt_policy_out_of_range_is_refused, teardown),
        cmocka_unit_test_teardown(test_promise_kept_until_cleared, teardown),
        cmocka_unit_test_teardown(test_promise_of_no_cell_or_amount_is_refused, teardown),
        cmocka_unit_test_teardown(test_promise_beyond_the_last_row_is_refused, teardown),
        cmocka_unit_test_teardown(
            test_preempt_lower_priority_of_own_queue_is_evicted_and_quota_promised, teardown),
        cmocka_unit_test_teardown(test_preempt_equal_priority_is_refused_under_lower_priority,
                                  teardown),
        cmocka_unit_test_teardown(
            test_preempt_newer_equal_is_accepted_where_allowed_and_older_equal_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_higher_priority_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_own_queue_is_refused_under_never, teardown),
        cmocka_unit_test_teardown(test_preempt_reclaim_any_takes_even_higher_priority, teardown),
        cmocka_unit_test_teardown(test_preempt_reclaim_lower_priority_spares_equal_and_takes_lower,
                                  teardown),
        cmocka_unit_test_teardown(test_preempt_reclaim_never_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_from_another_tree_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_without_victims_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_too_many_victims_or_gone_are_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_victim_named_twice_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_unknown_victim_or_gone_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_victim_without_a_reason_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_victim_that_holds_nothing_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_finished_victim_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_gone_that_is_not_evicted_or_is_a_victim_is_refused,
                                  teardown),
        cmocka_unit_test_teardown(test_preempt_that_does_not_fit_even_so_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_one_victim_too_many_is_refused, teardown),
        cmocka_unit_test_teardown(test_preempt_victim_needed_only_not_to_borrow_is_accepted,
                                  teardown),
        cmocka_unit_test_teardown(test_preempt_that_borrows_although_it_may_not_is_refused,
                                  teardown),
        cmocka_unit_test_teardown(
            test_preempt_victim_already_evicted_is_not_evicted_again_nor_spared, teardown),
        cmocka_unit_test_teardown(test_preempt_what_was_promised_is_taken, teardown),
        cmocka_unit_test_teardown(test_preempt_what_is_gone_is_free, teardown),
        cmocka_unit_test_teardown(test_preempt_after_others_is_judged_in_their_world, teardown),
        cmocka_unit_test_teardown(test_preempt_form_of_the_plan_is_checked, teardown),
        cmocka_unit_test_teardown(
            test_preempt_with_a_promise_on_a_closed_cell_is_refused_unless_of_nothing, teardown),
        cmocka_unit_test_teardown(test_preempt_queue_within_its_nominal_quota_loses_nobody,
                                  teardown),
        cmocka_unit_test_teardown(test_preempt_queue_borrows_by_what_is_promised, teardown),
        cmocka_unit_test_teardown(test_preempt_queue_that_borrows_something_else_loses_nobody,
                                  teardown),
        cmocka_unit_test_teardown(test_preempt_while_borrowing_keeps_to_the_policy, teardown),
        cmocka_unit_test_teardown(test_preempt_many_victims_are_each_needed, teardown),
    };
    return cmocka_run_group_tests_name("preempt", tests, NULL, NULL);
}
