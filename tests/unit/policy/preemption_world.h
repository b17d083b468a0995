/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For tests of preemption: queues with policies, workloads that hold quota, a question and its
 * answer. Built on the fixture. */
#ifndef SL_TESTS_POLICY_PREEMPTION_WORLD_H
#define SL_TESTS_POLICY_PREEMPTION_WORLD_H
#include "fixture.h"

#include <string.h>

#include "kernel/ledger/cells.h"
#include "kernel/base/order.h"
#include "kernel/preempt/preempt.h"
#include "policy/queues/holders.h"
#include "policy/preemption/preemption.h"
#include "policy/common/settings.h"
#include "policy/fair/shares.h"

#define UNLIMITED SL_AMOUNT_UNLIMITED

static inline void pw_activate(sl_qnode_id queue, bool active)
{
    assert_int_equal(sl_queues_configure(queue, sl_offers_rules(queue), active), SL_OK);
}

/* An active queue that offers some cpu of one flavor, with a policy. */
static inline sl_qnode_id pw_queue(sl_qnode_id parent, int64_t cpu, enum sl_preempt_within within,
                                   enum sl_preempt_reclaim reclaim)
{
    struct sl_preempt_policy policy = {within, reclaim, false, false, 0};
    sl_qnode_id node = fx_node(parent);
    pw_activate(node, true);
    (void)fx_offer(node, SPOT, CPU, cpu);
    assert_int_equal(sl_preempt_set_policy(node, policy), SL_OK);
    return node;
}

static inline void pw_borrow_within(sl_qnode_id queue, bool has_threshold, int32_t threshold)
{
    struct sl_preempt_policy policy = sl_preempt_policy_of(queue);
    policy.borrow_within = true;
    policy.has_threshold = has_threshold;
    policy.threshold = threshold;
    assert_int_equal(sl_preempt_set_policy(queue, policy), SL_OK);
}

static inline void pw_limits(sl_qnode_id node, int64_t nominal, int64_t lending, int64_t borrowing)
{
    sl_cell_id cell = sl_ledger_find_cell(node, SPOT, CPU);
    assert_int_equal(sl_ledger_set_quota(cell, nominal, lending, borrowing), SL_OK);
}

/* Begin the claims of the next holder, with one. */
static inline void pw_held(sl_qnode_id queue, sl_flavor_id flavor, sl_resource_id resource,
                           int64_t amount)
{
    sl_cell_id cell = SL_NO_ID;
    assert_int_equal(sl_ledger_open_cell(queue, flavor, resource, &cell), SL_OK);
    sl_plan.usage[sl_plan.usage_count++] = (struct sl_cell_amount){cell, amount};
}

/* A workload that holds what was claimed since the last one. */
static inline sl_workload_id pw_holder_of(sl_qnode_id queue, int32_t priority,
                                          int64_t reserved_at_ms)
{
    sl_workload_id id = fx_create();
    int64_t now = fx_now;
    fx_now = reserved_at_ms;
    sl_order_set(id, fx_key(priority, 1000, id));
    sl_plan.workload = id;
    sl_plan.generation = sl_workloads[id].generation;
    sl_plan.cluster_queue = queue;
    sl_plan.topology_pending = false;
    sl_plan.now_ms = reserved_at_ms;
    assert_int_equal(sl_commit_restore(), SL_OK);
    sl_queues_settle(id, reserved_at_ms);
    sl_plan.usage_count = 0;
    fx_now = now;
    return id;
}

static inline sl_workload_id pw_holder_since(sl_qnode_id queue, int32_t priority, int64_t cpu,
                                             int64_t reserved_at_ms)
{
    pw_held(queue, SPOT, CPU, cpu);
    return pw_holder_of(queue, priority, reserved_at_ms);
}

static inline sl_workload_id pw_holder(sl_qnode_id queue, int32_t priority, int64_t cpu)
{
    return pw_holder_since(queue, priority, cpu, fx_now);
}

static inline void pw_evict(sl_workload_id id)
{
    assert_int_equal(fx_event(id, SL_EV_PREEMPT, 0, SL_PREEMPT_IN_CLUSTER_QUEUE, 0), SL_OK);
}

static inline void pw_ask_for(sl_flavor_id flavor, sl_resource_id resource, int64_t amount,
                              bool contested)
{
    sl_cell_id cell = SL_NO_ID;
    sl_qnode_id queue = sl_preemption_question.cluster_queue;
    assert_int_equal(sl_ledger_open_cell(queue, flavor, resource, &cell), SL_OK);
    sl_preemption_question.needs[sl_preemption_question.need_count++] =
        (struct sl_need){cell, amount, contested};
}

/* Who asks; for what follows with pw_ask_for. */
static inline void pw_preemptor(sl_qnode_id queue, int32_t priority)
{
    sl_workload_id id = fx_create();
    sl_order_set(id, fx_key(priority, 500, id));
    for (uint32_t i = 0; i < SL_USAGE_CELLS_MAX; i++) { /* of no matter beyond the count */
        sl_preemption_question.needs[i] =
            (struct sl_need){sl_ledger_find_cell(queue, SPOT, CPU), SL_AMOUNT_MAX / 2, true};
    }
    sl_preemption_question.preemptor = id;
    sl_preemption_question.cluster_queue = queue;
    sl_preemption_question.need_count = 0;
}

static inline uint32_t pw_ask(sl_qnode_id queue, int32_t priority, int64_t cpu)
{
    pw_preemptor(queue, priority);
    pw_ask_for(SPOT, CPU, cpu, true);
    return sl_preemption_find(fx_now);
}

static inline void pw_assert_victim(sl_workload_id id, enum sl_preempt_reason reason)
{
    for (uint32_t i = 0; i < sl_victims.count; i++) {
        if (sl_victims.workloads[i] == id) {
            assert_int_equal(sl_victims.reasons[i], reason);
            return;
        }
    }
    fail_msg("workload %u is not among the %u victims", id, sl_victims.count);
}

/* Every cell's numbers at a time, to be compared with those at another. */
#define PW_CELLS 65536u
static int64_t pw_own[PW_CELLS];
static int64_t pw_usage[PW_CELLS];

static inline void pw_photograph(void)
{
    assert_true(sl_cell_limit <= PW_CELLS);
    memcpy(pw_own, sl_cell_own, sizeof pw_own);
    memcpy(pw_usage, sl_cell_usage, sizeof pw_usage);
}

static inline void pw_assert_as_photographed(void)
{
    assert_memory_equal(pw_own, sl_cell_own, sizeof pw_own);
    assert_memory_equal(pw_usage, sl_cell_usage, sizeof pw_usage);
}

static inline int pw_setup(void **state)
{
    (void)state;
    sl_settings = sl_settings_default();
    sl_plan.usage_count = 0;
    return 0;
}

static inline int pw_setup_fair(void **state)
{
    (void)pw_setup(state);
    sl_settings.fair_sharing = true;
    return 0;
}

static inline int pw_teardown(void **state)
{
    bool sound = !sl_trail_open() && sl_branches_valid() && sl_holders_valid();
    sl_preemption_pass_over_none();
    sl_settings = sl_settings_default();
    return fx_teardown(state) == 0 && sound && sl_holders_valid() ? 0 : -1;
}

#define PW_TEST(name) cmocka_unit_test_setup_teardown(name, pw_setup, pw_teardown)
#define PW_FAIR_TEST(name) cmocka_unit_test_setup_teardown(name, pw_setup_fair, pw_teardown)
#endif
