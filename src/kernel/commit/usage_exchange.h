/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For replace.c only: the ledger's part of a replacement. What the old workload holds is taken back, and what the plan
 * says is charged, in one trial; no row of any workload changes meanwhile. */
#ifndef SL_KERNEL_USAGE_EXCHANGE_H
#define SL_KERNEL_USAGE_EXCHANGE_H
#include "kernel/commit/commit.h"

#include "specs/replace.acsl"

/* How much `id` holds of the cell: the sum, if several of its rows are on it. */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires cell:       cell < SL_CELLS_MAX;
  requires sums:       WorkloadUsageValid && Conserved && UsageInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == Held(id, cell);
  ensures  range:      0 <= \result <= SL_AMOUNT_MAX;
*/
int64_t sl_usage_held(sl_workload_id id, sl_cell_id cell);

/* Take back all that `old` holds, and charge the plan; the caller's trial takes back what a refusal leaves half done.
 * What the plan says beyond what `old` holds has to be available. */
/*@
  requires known:      old < SL_WORKLOADS_MAX;
  requires plan:       PlanUsageSound;
  requires sums:       WorkloadUsageValid && Conserved;
  requires inv:        UsageInv && TrailSound && ChargedCellsUsed;
  requires trial:      sl_trail_depth > 0;
  terminates           \true;
  exits                \false;
  assigns              SL_EXCHANGED;
  ensures  inv:        UsageInv && TrailSound;
  ensures  used:       \result == SL_OK ==> ChargedCellsUsed;
  ensures  charged:    \result == SL_OK ==> Exchanged{Pre,Post}(old);
  ensures  limits:     \result == SL_OK ==> GrowthWithin{Pre,Post};
  ensures  shrinks:    \result == SL_REFUSED_QUOTA ==> Grows(old);
  ensures  says:       \result != SL_REFUSED_CAPACITY;
  ensures  past:       SamePast{Pre,Post}(0);
*/
enum sl_status sl_usage_exchange(sl_workload_id old) SL_MUST_CHECK;

/* Forget what `id` holds: no longer charged to it. */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires valid:      WorkloadUsageValid;
  terminates           \true;
  exits                \false;
  assigns              sl_usage_counts[id];
  ensures  valid:      WorkloadUsageValid;
  ensures  none:       sl_usage_counts[id] == 0;
  ensures  sum:        \forall integer c; Claimed(c, SL_WORKLOADS_MAX) ==
                         \old(Claimed(c, SL_WORKLOADS_MAX) - Held(id, c));
*/
void sl_usage_forget(sl_workload_id id);
#endif
