/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The plan's amounts against the ledger as a trial has left it. */
#include "kernel/ledger/ledger.h"
#include "kernel/preempt/preempt_trial.h"

bool sl_preempt_usage_available(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_plan.usage_count;
      loop invariant all:    \forall integer j; 0 <= j < i ==>
                               sl_plan.usage[j].amount <= available(sl_plan.usage[j].cell);
      loop assigns           i;
      loop variant           sl_plan.usage_count - i;
    */
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        if (sl_plan.usage[i].amount > sl_ledger_available(sl_plan.usage[i].cell)) {
            //@ assert beyond: sl_plan.usage[i].amount > available(sl_plan.usage[i].cell);
            return false;
        }
    }
    return true;
}

bool sl_preempt_usage_within(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_plan.usage_count;
      loop invariant all:    \forall integer j; 0 <= j < i ==> UsageWithinOwn(j);
      loop assigns           i;
      loop variant           sl_plan.usage_count - i;
    */
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        sl_cell_id cell = sl_plan.usage[i].cell;
        if (sl_cell_usage[cell] + sl_plan.usage[i].amount > sl_cell_subtree[cell]) {
            //@ assert beyond: !UsageWithinOwn(i);
            return false;
        }
    }
    return true;
}
