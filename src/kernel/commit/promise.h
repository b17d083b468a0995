/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Promises: quota that the running cycle has promised to workloads that wait for their victims to
 * stop. Nothing is charged for them; later workloads of the cycle count them as taken. Owns the
 * list. */
#ifndef SL_KERNEL_PROMISE_H
#define SL_KERNEL_PROMISE_H
#include "kernel/ledger/cells.h"
#include "kernel/commit/workload_usage.h"
#include "kernel/base/status.h"
#include "kernel/base/types.h"

#define SL_PROMISES_MAX 1048576u

/* For the kernel: the first sl_promises rows are promises. */
extern uint32_t sl_promises;
extern sl_cell_id sl_promise_cells[SL_PROMISES_MAX];
extern int64_t sl_promise_amounts[SL_PROMISES_MAX];

#include "specs/promise.acsl"

/* Until the cycle ends. Refused: NO_CELL, AMOUNT, FULL_USAGE. */
/*@
  requires valid:      PromisesValid;
  terminates           \true;
  exits                \false;
  assigns              sl_promises, sl_promise_cells[0 .. SL_PROMISES_MAX - 1],
                       sl_promise_amounts[0 .. SL_PROMISES_MAX - 1];
  ensures  valid:      PromisesValid;
  behavior done:
    assumes known:     Chargeable(cell, amount) && sl_promises < SL_PROMISES_MAX;
    ensures result:    \result == SL_OK;
    ensures promised:  \forall integer c; Promised(c, sl_promises) ==
                         \old(Promised(c, sl_promises)) + (c == cell ? amount : 0);
  behavior refused:
    assumes reason:    !(Chargeable(cell, amount) && sl_promises < SL_PROMISES_MAX);
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_CELL || \result == SL_REFUSED_AMOUNT ||
                       \result == SL_FULL_USAGE;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_promise_add(sl_cell_id cell, int64_t amount) SL_MUST_CHECK;

/*@
  terminates           \true;
  exits                \false;
  assigns              sl_promises;
  ensures  none:       sl_promises == 0 && PromisesValid;
*/
void sl_promise_clear(void);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == sl_promises;
*/
uint32_t sl_promise_count(void);

/* {SL_NO_ID, 0} beyond the last. */
/*@
  requires valid:      PromisesValid;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  promise:    index < sl_promises ==> \result.cell == sl_promise_cells[index] &&
                         \result.amount == sl_promise_amounts[index];
  ensures  beyond:     index >= sl_promises ==> \result.cell == SL_NO_ID && \result.amount == 0;
*/
struct sl_cell_amount sl_promise_at(uint32_t index);

/* For preempt only: promise all that sl_plan asks for. */
/*@
  requires valid:      PromisesValid;
  requires plan:       PlanUsageSound;
  requires capacity:       sl_promises <= SL_PROMISES_MAX - SL_USAGE_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_promises, sl_promise_cells[0 .. SL_PROMISES_MAX - 1],
                       sl_promise_amounts[0 .. SL_PROMISES_MAX - 1];
  ensures  valid:      PromisesValid;
  ensures  promised:   \forall integer c; Promised(c, sl_promises) ==
                         \old(Promised(c, sl_promises)) + PlanSum(c, sl_plan.usage_count);
*/
void sl_promise_plan(void);
#endif
