/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Small random worlds: whatever is found is enough, spares nobody in vain, takes nobody whom the
 * policy protects, and leaves the ledger as it was. */
#include "preemption_world.h"

enum { WORLDS = 400, QUEUES_MAX = 6, HOLDERS_MAX = 24, ASKED = 6 };

static uint64_t seed;

static uint32_t any(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static sl_qnode_id queues[QUEUES_MAX];
static uint32_t queue_count;
static uint32_t found_count;

static int64_t any_limit(void)
{
    return any(3) == 0 ? (int64_t)any(6) : UNLIMITED;
}

static void set_any_quota(sl_qnode_id node)
{
    for (sl_resource_id resource = CPU; resource <= MEMORY; resource++) {
        sl_cell_id cell = fx_quota(node, SPOT, resource, any(8), UNLIMITED);
        bool is_root = sl_ledger_parent_qnode(node) == SL_NO_ID;
        if (!is_root) {
            assert_int_equal(sl_ledger_set_quota(cell, any(8), any_limit(), any_limit()), SL_OK);
        }
    }
    if (any(3) == 0) {
        assert_int_equal(sl_shares_set_weight(node, any(3) * SL_WEIGHT_ONE), SL_OK);
    }
}

static void make_queue(sl_qnode_id parent)
{
    struct sl_preempt_policy policy = {(enum sl_preempt_within)any(3),
                                       (enum sl_preempt_reclaim)any(3), any(2) == 0, any(2) == 0,
                                       (int32_t)any(3)};
    sl_qnode_id queue = fx_node(parent);
    pw_activate(queue, true);
    set_any_quota(queue);
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
    queues[queue_count++] = queue;
}

static void make_forest(void)
{
    sl_qnode_id root = fx_node(SL_NO_ID);
    sl_qnode_id inner = fx_node(root);
    sl_qnode_id leaf = fx_node(any(2) == 0 ? inner : root);
    sl_qnode_id cohorts[3] = {root, inner, leaf};
    queue_count = 0;
    for (uint32_t i = 0; i < 3; i++) {
        set_any_quota(cohorts[i]);
    }
    for (uint32_t i = 0; i < QUEUES_MAX; i++) {
        make_queue(cohorts[any(3)]);
    }
}

static void make_holders(void)
{
    uint32_t count = any(HOLDERS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        sl_qnode_id queue = queues[any(queue_count)];
        pw_held(queue, SPOT, CPU, any(4));
        if (any(2) == 0) {
            pw_held(queue, SPOT, MEMORY, any(4));
        }
        sl_workload_id id = pw_holder_of(queue, (int32_t)any(4), 1000 + any(3));
        if (any(5) == 0) {
            pw_evict(id);
        }
    }
}

static void release(sl_workload_id id)
{
    for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
        struct sl_cell_amount usage = sl_commit_usage(id, i);
        assert_int_equal(sl_ledger_release(usage.cell, usage.amount), SL_OK);
    }
}

/* Does the preemptor fit with all victims gone but one (or with all gone)? */
static bool fits_without(sl_workload_id but)
{
    bool fits = true;
    uint32_t mark = sl_trail_begin();
    for (uint32_t i = 0; i < sl_victims.count; i++) {
        if (sl_victims.workloads[i] != but) {
            release(sl_victims.workloads[i]);
        }
    }
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        struct sl_need need = sl_preemption_question.needs[i];
        int64_t capacity = sl_ledger_available(need.cell);
        bool within = sl_ledger_usage(need.cell) + need.amount <= sl_ledger_nominal(need.cell);
        fits = fits && (need.amount <= capacity || need.amount == 0) &&
               (sl_victims.may_borrow || within);
    }
    sl_trail_rollback(mark);
    return fits;
}

static void assert_may_go(sl_workload_id id)
{
    sl_qnode_id own = sl_preemption_question.cluster_queue;
    struct sl_preempt_policy policy = sl_preempt_policy_of(own);
    struct sl_order_key victim = sl_order_of(id);
    struct sl_order_key preemptor = sl_order_of(sl_preemption_question.preemptor);
    bool lower = victim.priority < preemptor.priority;
    bool newer =
        victim.priority == preemptor.priority && victim.queued_at_ms > preemptor.queued_at_ms;
    if (sl_holders_queue_of(id) == own) {
        assert_true((policy.within != SL_WITHIN_NEVER && lower) ||
                    (policy.within == SL_WITHIN_LOWER_OR_NEWER_EQUAL && newer));
        return;
    }
    assert_true(policy.reclaim == SL_RECLAIM_ANY ||
                (policy.reclaim == SL_RECLAIM_LOWER_PRIORITY && lower));
    assert_int_equal(sl_ledger_root_qnode(sl_holders_queue_of(id)), sl_ledger_root_qnode(own));
}

static void check_answer(void)
{
    pw_photograph();
    uint32_t count = sl_preemption_find(fx_now);
    pw_assert_as_photographed();
    if (count == 0) {
        return;
    }
    found_count++;
    assert_true(fits_without(SL_NO_ID));
    for (uint32_t i = 0; i < count; i++) {
        assert_may_go(sl_victims.workloads[i]);
        assert_false(fits_without(sl_victims.workloads[i]));
    }
}

static void ask(void)
{
    pw_preemptor(queues[any(queue_count)], (int32_t)any(4));
    pw_ask_for(SPOT, CPU, any(6), true);
    if (any(2) == 0) {
        pw_ask_for(SPOT, MEMORY, any(6), any(2) == 0);
    }
    if (!fits_without(SL_NO_ID)) {
        check_answer();
    }
}

static void run_worlds(void)
{
    found_count = 0;
    for (uint32_t world = 0; world < WORLDS; world++) {
        make_forest();
        make_holders();
        for (uint32_t i = 0; i < ASKED; i++) {
            sl_victims.count = 0;
            sl_victims.may_borrow = true;
            ask();
        }
    }
    assert_true(found_count > WORLDS / 4);
    assert_true(sl_ledger_valid());
}

static void test_preemption_random_classical_answers_are_sound(void **state)
{
    (void)state;
    seed = 1;
    run_worlds();
}

static void test_preemption_random_fair_answers_are_sound(void **state)
{
    (void)state;
    seed = 2;
    sl_settings.fair_sharing = true;
    run_worlds();
}

static void test_preemption_random_single_rules_are_sound(void **state)
{
    (void)state;
    seed = 3;
    sl_settings.fair_sharing = true;
    sl_settings.preempt_within_nominal = false;
    sl_settings.share_rule_count = 1;
    sl_settings.share_rules[0] = SL_SHARE_INITIAL;
    run_worlds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PW_TEST(test_preemption_random_classical_answers_are_sound),
        PW_TEST(test_preemption_random_fair_answers_are_sound),
        PW_TEST(test_preemption_random_single_rules_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
