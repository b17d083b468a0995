/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A list that only grows until it is cleared. */
#include "kernel/commit/promise.h"

uint32_t sl_promises;
sl_cell_id sl_promise_cells[SL_PROMISES_MAX];
int64_t sl_promise_amounts[SL_PROMISES_MAX];

/* The loop shows that the sum over the earlier rows stays. */
/*@
  requires valid:      PromisesValid;
  requires capacity:       sl_promises < SL_PROMISES_MAX;
  requires amount:     0 <= amount <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_promises, sl_promise_cells[sl_promises], sl_promise_amounts[sl_promises];
  ensures  valid:      PromisesValid;
  ensures  longer:     sl_promises == \old(sl_promises) + 1;
  ensures  promised:   \forall integer c; Promised(c, sl_promises) ==
                         \old(Promised(c, sl_promises)) + (c == cell ? amount : 0);
*/
static void push(sl_cell_id cell, int64_t amount)
{
    sl_promise_cells[sl_promises] = cell;
    sl_promise_amounts[sl_promises] = amount;
    sl_promises++;
    /*@ ghost
      /@ loop invariant 0 <= n < sl_promises;
         loop invariant \forall integer c; Promised(c, n) == Promised{Pre}(c, n);
         loop assigns n;
         loop variant sl_promises - n; @/
      for (uint32_t n = 0; n < sl_promises - 1; n++) ;
    */
}

enum sl_status sl_promise_add(sl_cell_id cell, int64_t amount)
{
    if (cell >= SL_CELLS_MAX || sl_cell_home[cell] == 0) {
        return SL_REFUSED_NO_CELL;
    }
    if (amount < 0 || amount > SL_AMOUNT_MAX) {
        return SL_REFUSED_AMOUNT;
    }
    if (sl_promises == SL_PROMISES_MAX) {
        return SL_FULL_USAGE;
    }
    push(cell, amount);
    return SL_OK;
}

void sl_promise_plan(void)
{
    /*@
      loop invariant index:    0 <= i <= sl_plan.usage_count;
      loop invariant valid:    PromisesValid;
      loop invariant capacity:     sl_promises == \at(sl_promises, Pre) + i;
      loop invariant promised: \forall integer c; Promised(c, sl_promises) ==
                                 Promised{Pre}(c, \at(sl_promises, Pre)) + PlanSum(c, i);
      loop assigns             i, sl_promises, sl_promise_cells[0 .. SL_PROMISES_MAX - 1],
                               sl_promise_amounts[0 .. SL_PROMISES_MAX - 1];
      loop variant             sl_plan.usage_count - i;
    */
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        push(sl_plan.usage[i].cell, sl_plan.usage[i].amount);
    }
}

void sl_promise_clear(void)
{
    sl_promises = 0;
}

uint32_t sl_promise_count(void)
{
    return sl_promises;
}

struct sl_cell_amount sl_promise_at(uint32_t index)
{
    struct sl_cell_amount usage = {SL_NO_ID, 0};
    if (index < sl_promises) {
        usage.cell = sl_promise_cells[index];
        usage.amount = sl_promise_amounts[index];
    }
    return usage;
}
