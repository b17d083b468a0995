/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Entries of a cycle: what was answered comes back as it was, and full pools say so. */
#include "fixture.h"

#include "policy/entries/entries.h"

/* An answer with something in every list. */
static void answer(sl_workload_id id, uint32_t size)
{
    sl_assignment = (struct sl_assignment){.workload = id,
                                           .cluster_queue = 7,
                                           .mode = SL_MODE_PREEMPT,
                                           .borrow_height = 2,
                                           .pod_set_count = 1,
                                           .choice_count = size,
                                           .need_count = 2,
                                           .detail_count = size,
                                           .details_left_out = 3,
                                           .attempt_count = size};
    sl_assignment.counts[0] = id;
    sl_assignment.modes[0] = SL_MODE_PREEMPT;
    sl_assignment.examined[0] = true;
    sl_assignment.needs[0] = (struct sl_need){id, 10, true};
    sl_assignment.needs[1] = (struct sl_need){id + 1, 20, false};
    sl_victims.count = 2;
    sl_victims.may_borrow = true;
    sl_victims.workloads[0] = id + 5;
    sl_victims.workloads[1] = id + 6;
    sl_victims.reasons[1] = SL_PREEMPT_IN_CLUSTER_QUEUE;
    for (uint32_t i = 0; i < size; i++) {
        sl_assignment.choices[i].amount = id + i;
        sl_assignment.details[i].amount = id + i;
        sl_assignment.attempts[i].flavor = id + i;
    }
}

static void assert_answer(uint32_t entry, sl_workload_id id, uint32_t size)
{
    sl_entries_recall(entry);
    assert_int_equal(sl_assignment.workload, id);
    assert_int_equal(sl_assignment.cluster_queue, 7);
    assert_int_equal(sl_assignment.mode, SL_MODE_PREEMPT);
    assert_int_equal(sl_assignment.borrow_height, 2);
    assert_int_equal(sl_assignment.pod_set_count, 1);
    assert_int_equal(sl_assignment.counts[0], id);
    assert_true(sl_assignment.examined[0]);
    assert_int_equal(sl_assignment.modes[0], SL_MODE_PREEMPT);
    assert_int_equal(sl_assignment.choice_count, size);
    assert_int_equal(sl_assignment.choices[size - 1].amount, id + size - 1);
    assert_int_equal(sl_assignment.need_count, 2);
    assert_int_equal(sl_assignment.needs[1].amount, 20);
    assert_int_equal(sl_assignment.detail_count, size);
    assert_int_equal(sl_assignment.details[size - 1].amount, id + size - 1);
    assert_int_equal(sl_assignment.details_left_out, 3);
    assert_int_equal(sl_assignment.attempts[size - 1].flavor, id + size - 1);
}

static int forget_entries(void **state)
{
    sl_entries_clear();
    sl_victims.count = 0;
    return fx_teardown(state);
}

static void test_entries_recall_what_was_answered(void **state)
{
    (void)state;
    answer(100, 3);
    assert_int_equal(sl_entries_add(true), 0);
    answer(200, 1);
    assert_int_equal(sl_entries_add(false), 1);
    assert_int_equal(sl_entries_count(), 2);
    answer(300, 5);
    assert_answer(0, 100, 3);
    assert_answer(1, 200, 1);
    assert_true(sl_entries[0].may_borrow);
    assert_int_equal(sl_entries[0].victims.count, 2);
    assert_int_equal(sl_entries_victim(0, 1), 106);
    assert_int_equal(sl_entries_victim_reason(0, 1), SL_PREEMPT_IN_CLUSTER_QUEUE);
    assert_int_equal(sl_entries_need(0, 0).cell, 100);
    assert_int_equal(sl_entries[1].victims.count, 0);
    assert_int_equal(sl_entries_victim(1, 0), SL_NO_ID);
    assert_int_equal(sl_entries_victim_reason(1, 0), SL_PREEMPT_NONE);
    assert_int_equal(sl_entries_need(1, 2).cell, SL_NO_ID);
    sl_entries_recall(2); /* none such: nothing happens */
    assert_int_equal(sl_assignment.workload, 200);
}

static void test_entries_renewed_entry_has_the_new_answer(void **state)
{
    (void)state;
    answer(100, 3);
    assert_int_equal(sl_entries_add(true), 0);
    answer(400, 2);
    assert_true(sl_entries_renew(0, false));
    sl_assignment.workload = 0;
    sl_entries_recall(0);
    assert_int_equal(sl_assignment.workload, 100); /* it is still hers */
    assert_int_equal(sl_assignment.counts[0], 400);
    assert_int_equal(sl_entries[0].victims.count, 0);
    assert_false(sl_entries_renew(1, false));
}

static void test_entries_more_needs_than_may_be_claimed_are_not_kept(void **state)
{
    (void)state;
    answer(100, 1);
    sl_assignment.need_count = SL_USAGE_CELLS_MAX + 1;
    assert_int_equal(sl_entries_add(false), 0);
    assert_int_equal(sl_entries[0].needs.count, 0);
}

static void test_entries_full_pool_is_said_and_leaves_the_others(void **state)
{
    (void)state;
    uint32_t count = 0;
    answer(100, SL_DETAILS_MAX);
    while (sl_entries_add(true) != SL_NO_ID) {
        count++;
    }
    assert_int_equal(count, 1048576 / SL_DETAILS_MAX);
    assert_int_equal(sl_entries_count(), count);
    assert_false(sl_entries_renew(0, true));
    assert_answer(count - 1, 100, SL_DETAILS_MAX);
    sl_entries_clear();
    assert_int_equal(sl_entries_count(), 0);
    answer(100, 0);
    for (count = 0; sl_entries_add(false) != SL_NO_ID; count++) {
    }
    assert_int_equal(count, SL_ENTRIES_MAX < 524288 ? SL_ENTRIES_MAX : 524288);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_entries_recall_what_was_answered, forget_entries),
        cmocka_unit_test_teardown(test_entries_renewed_entry_has_the_new_answer, forget_entries),
        cmocka_unit_test_teardown(test_entries_more_needs_than_may_be_claimed_are_not_kept,
                                  forget_entries),
        cmocka_unit_test_teardown(test_entries_full_pool_is_said_and_leaves_the_others,
                                  forget_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
