/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the tests of flavor assignment: answers in place of preemption (its question is sent here by
 * the linker), and what they all assert. */
#ifndef SL_TESTS_POLICY_FLAVORS_FIXTURE_H
#define SL_TESTS_POLICY_FLAVORS_FIXTURE_H
#include "fixture.h"

#include "policy/preemption/preemption.h"
#include "policy/common/settings.h"

/* What preemption would find for a flavor's cpu; what was asked last. */
static struct sl_prospect fl_prospects[8];
static uint32_t fl_asked;
static int64_t fl_asked_amount;

struct sl_prospect __wrap_sl_preemption_prospect(sl_workload_id preemptor, sl_qnode_id queue,
                                                 sl_cell_id cell, int64_t amount, int64_t now_ms);
struct sl_prospect __wrap_sl_preemption_prospect(sl_workload_id preemptor, sl_qnode_id queue,
                                                 sl_cell_id cell, int64_t amount, int64_t now_ms)
{
    assert_int_equal(preemptor, sl_assignment.workload);
    assert_int_equal(sl_ledger_qnode_of(cell), queue);
    assert_int_equal(now_ms, fx_now);
    fl_asked++;
    fl_asked_amount = amount;
    return fl_prospects[sl_ledger_flavor_of(cell)];
}

static inline void fl_answer(sl_flavor_id flavor, enum sl_possibility possibility, uint32_t height)
{
    struct sl_prospect prospect = {possibility, height};
    fl_prospects[flavor] = prospect;
}

static inline int fl_setup(void **state)
{
    (void)state;
    sl_settings = sl_settings_default();
    fl_asked = 0;
    for (sl_flavor_id flavor = 0; flavor < 8; flavor++) {
        fl_answer(flavor, SL_NO_CANDIDATES, 0);
    }
    return 0;
}

static inline int fl_teardown(void **state)
{
    sl_settings = sl_settings_default();
    sl_flavors_unpin();
    return fx_teardown(state);
}

#define FL_TEST(name) cmocka_unit_test_setup_teardown(name, fl_setup, fl_teardown)

static inline void fl_rules(sl_qnode_id queue, enum sl_fungibility borrow,
                            enum sl_fungibility preempt, enum sl_preference preference)
{
    struct sl_rules rules = {SL_BEST_EFFORT_FIFO, borrow, preempt, preference, false};
    assert_int_equal(sl_offers_set_rules(queue, rules), SL_OK);
}

/* A queue with cpu of these two flavors. */
static inline sl_qnode_id fl_queue(sl_qnode_id parent, int64_t spot, int64_t on_demand)
{
    sl_qnode_id queue = fx_queue(parent, SL_BEST_EFFORT_FIFO, spot);
    (void)fx_offer(queue, ON_DEMAND, CPU, on_demand);
    fl_rules(queue, SL_MAY_STOP_SEARCH, SL_TRY_NEXT_FLAVOR, SL_BORROWING_OVER_PREEMPTION);
    return queue;
}

static inline sl_workload_id fl_asking(int64_t cpu)
{
    sl_workload_id id = fx_create();
    fx_pod_set(id, 1, CPU, cpu);
    return id;
}

static inline void fl_charge(sl_qnode_id node, sl_flavor_id flavor, int64_t cpu)
{
    sl_cell_id cell = SL_NO_ID;
    assert_int_equal(sl_ledger_open_cell(node, flavor, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_charge(cell, cpu), SL_OK);
}

/* Give back what `charge` took, so that ledger and claims agree in the end. */
static inline void fl_release(sl_qnode_id node, sl_flavor_id flavor, int64_t cpu)
{
    sl_cell_id cell = SL_NO_ID;
    assert_int_equal(sl_ledger_open_cell(node, flavor, CPU, &cell), SL_OK);
    assert_int_equal(sl_ledger_release(cell, cpu), SL_OK);
}

static inline void fl_assert_mode(sl_workload_id id, sl_qnode_id queue, enum sl_mode mode,
                                  uint32_t height)
{
    sl_flavors_assign(id, queue, fx_now);
    assert_int_equal(sl_assignment.mode, mode);
    assert_int_equal(sl_assignment.borrow_height, height);
}

static inline void fl_assert_fits(sl_workload_id id, sl_qnode_id queue, uint32_t height)
{
    fl_assert_mode(id, queue, SL_MODE_FIT, height);
    assert_int_equal(sl_assignment.detail_count, 0);
}

static inline void fl_assert_no_fit(sl_workload_id id, sl_qnode_id queue,
                                    enum sl_pending_reason reason)
{
    sl_flavors_assign(id, queue, fx_now);
    assert_int_equal(sl_assignment.mode, SL_MODE_NO_FIT);
    assert_int_equal(sl_assignment.reason, reason);
}

static inline void fl_assert_choice(uint32_t index, sl_flavor_id flavor, enum sl_mode mode,
                                    int32_t tried)
{
    assert_true(index < sl_assignment.choice_count);
    assert_int_equal(sl_assignment.choices[index].flavor, flavor);
    assert_int_equal(sl_assignment.choices[index].mode, mode);
    assert_int_equal(sl_assignment.choices[index].tried_flavor, tried);
}

static inline sl_flavor_id fl_chosen(uint32_t index)
{
    assert_true(index < sl_assignment.choice_count);
    return sl_assignment.choices[index].flavor;
}

static inline void fl_assert_detail(uint32_t index, enum sl_miss miss, sl_flavor_id flavor,
                                    sl_resource_id resource, int64_t amount)
{
    assert_true(index < sl_assignment.detail_count);
    assert_int_equal(sl_assignment.details[index].miss, miss);
    assert_int_equal(sl_assignment.details[index].flavor, flavor);
    assert_int_equal(sl_assignment.details[index].resource, resource);
    assert_int_equal(sl_assignment.details[index].amount, amount);
}

static inline void fl_assert_attempt(uint32_t index, sl_flavor_id flavor, enum sl_mode mode,
                                     uint32_t height)
{
    assert_true(index < sl_assignment.attempt_count);
    assert_int_equal(sl_assignment.attempts[index].flavor, flavor);
    assert_int_equal(sl_assignment.attempts[index].mode, mode);
    assert_int_equal(sl_assignment.attempts[index].borrow_height, height);
}
#endif
