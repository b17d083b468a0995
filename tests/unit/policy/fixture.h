/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A small cluster for the policy's tests: every test takes new node and workload ids, and its
 * teardown deletes its workloads and asks every checker. */
#ifndef SL_TESTS_POLICY_FIXTURE_H
#define SL_TESTS_POLICY_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include "kernel/commit/placement.h"
#include "policy/fair/branches.h"
#include "policy/cycle/cycle.h"
#include "policy/requests/requests.h"
#include "policy/flavors/flavors.h"
#include "policy/queues/heap.h"
#include "policy/queues/lanes.h"
#include "policy/requests/offers.h"
#include "policy/queues/passes.h"
#include "policy/queues/queues.h"
#include "policy/common/settings.h"
#include "policy/flavors/open_cell.h"

enum { CPU = 1, MEMORY = 2, PODS = 3, SPOT = 1, ON_DEMAND = 2 };

static sl_qnode_id fx_next_node = 100;
static sl_workload_id fx_next_id = 1000;
static sl_workload_id fx_first_id = 1000;
static int64_t fx_now = 1000000;

static inline sl_qnode_id fx_node(sl_qnode_id parent)
{
    sl_qnode_id node = fx_next_node++;
    assert_int_equal(sl_ledger_open_qnode(node), SL_OK);
    if (parent != SL_NO_ID) {
        assert_int_equal(sl_ledger_move_qnode(node, parent), SL_OK);
    }
    sl_branches_follow(node);
    return node;
}

static inline sl_cell_id fx_quota(sl_qnode_id node, sl_flavor_id flavor, sl_resource_id resource,
                                  int64_t nominal, int64_t borrowing)
{
    sl_cell_id cell = SL_NO_ID;
    assert_int_equal(sl_ledger_open_cell(node, flavor, resource, &cell), SL_OK);
    assert_int_equal(sl_ledger_set_quota(cell, nominal, SL_AMOUNT_UNLIMITED, borrowing), SL_OK);
    return cell;
}

static inline sl_cell_id fx_offer(sl_qnode_id node, sl_flavor_id flavor, sl_resource_id resource,
                                  int64_t nominal)
{
    sl_cell_id cell = fx_quota(node, flavor, resource, nominal, SL_AMOUNT_UNLIMITED);
    assert_int_equal(sl_offers_add(node, 0, cell), SL_OK);
    return cell;
}

/* An active queue that offers cpu of one flavor. */
static inline sl_qnode_id fx_queue(sl_qnode_id parent, enum sl_strategy strategy, int64_t cpu)
{
    sl_qnode_id node = fx_node(parent);
    struct sl_rules rules = {strategy, SL_MAY_STOP_SEARCH, SL_TRY_NEXT_FLAVOR,
                             SL_BORROWING_OVER_PREEMPTION, false};
    assert_int_equal(sl_queues_configure(node, rules, true), SL_OK);
    if (cpu >= 0) {
        (void)fx_offer(node, SPOT, CPU, cpu);
    }
    return node;
}

static inline enum sl_status fx_event(sl_workload_id id, enum sl_event_kind kind, uint32_t index,
                                      uint32_t reason, int64_t value)
{
    struct sl_event ev = {kind, id, sl_workloads[id].generation, index, reason, value, fx_now};
    enum sl_status status = sl_placement_event(ev);
    sl_queues_settle(id, fx_now);
    sl_passes_settle(id, fx_now);
    return status;
}

static inline sl_workload_id fx_create(void)
{
    sl_workload_id id = fx_next_id++;
    assert_int_equal(fx_event(id, SL_EV_CREATE, 0, 0, 0), SL_OK);
    return id;
}

static inline void fx_pod_set(sl_workload_id id, uint32_t count, sl_resource_id resource,
                              int64_t per_pod)
{
    assert_int_equal(sl_requests_add_pod_set(id, count), SL_OK);
    assert_int_equal(sl_requests_add(id, resource, per_pod), SL_OK);
}

static inline struct sl_order_key fx_key(int32_t priority, int64_t queued_at_ms, uint64_t uid)
{
    struct sl_order_key key = {priority, queued_at_ms, 0, uid};
    return key;
}

static inline void fx_attach(sl_workload_id id, sl_qnode_id queue, int32_t priority,
                             int64_t queued_at_ms)
{
    assert_int_equal(sl_queues_attach(id, queue, fx_key(priority, queued_at_ms, id)), SL_OK);
    sl_queues_settle(id, fx_now);
}

/* A workload of one pod that asks for that much cpu, in line in the queue. */
static inline sl_workload_id fx_workload(sl_qnode_id queue, int32_t priority, int64_t queued_at_ms,
                                         int64_t cpu)
{
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, cpu);
    fx_attach(id, queue, priority, queued_at_ms);
    return id;
}

static inline void fx_finish(sl_workload_id id)
{
    assert_int_equal(fx_event(id, SL_EV_FINISH, 0, 1, 0), SL_OK);
}

/* One cycle; how many got quota. What happened is in fx_outcomes. */
static struct sl_cycle_outcome fx_outcomes[256];
static uint32_t fx_outcome_count;

static inline uint32_t fx_cycle(void)
{
    uint32_t reserved = 0;
    fx_outcome_count = 0;
    (void)sl_cycle_begin(fx_now);
    while (sl_cycle_next()) {
        assert_true(fx_outcome_count < 256);
        fx_outcomes[fx_outcome_count++] = sl_cycle_outcome;
        reserved += sl_cycle_outcome.result == SL_CYCLE_RESERVED ? 1u : 0u;
    }
    (void)sl_cycle_end();
    return reserved;
}

/* Cycles until nothing is left to try; how many got quota. Fails when it does not come to rest. */
static inline uint32_t fx_rest(void)
{
    uint32_t reserved = 0;
    uint32_t cycles = 0;
    while (sl_queues_ready()) {
        reserved += fx_cycle();
        assert_true(cycles++ < 100000);
    }
    return reserved;
}

static inline void fx_assert_place(sl_workload_id id, enum sl_place place)
{
    assert_int_equal(sl_place_of(id), place);
}

static int fx_teardown(void **state)
{
    (void)state;
    bool sound = sl_queues_valid() && sl_offers_valid() && sl_commit_valid() && sl_ledger_valid();
    for (sl_workload_id id = fx_first_id; id < fx_next_id; id++) {
        sound = sound && sl_place_agrees(id);
        if (sl_place_of(id) != SL_PLACE_NONE) {
            sound = fx_event(id, SL_EV_DELETE, 0, 0, 0) == SL_OK && sound;
        }
    }
    fx_first_id = fx_next_id;
    sl_queues_pay();
    sl_settings = sl_settings_default();
    return sound && sl_queues_valid() && sl_commit_valid() && !sl_queues_ready() &&
                   sl_requests_sets_used() == 0 && sl_requests_rows_used() == 0 &&
                   sl_requests_exclusions_used() == 0
               ? 0
               : -1;
}

#define FX_TEST(name) cmocka_unit_test_teardown(name, fx_teardown)
#endif
