/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What each workload holds of which cell. Owns the plan and the amounts; for commit only, which is the door to
 * them. Carries G2's sum: what is charged to a cell is what workloads hold of it. */
#ifndef SL_KERNEL_WORKLOAD_USAGE_H
#define SL_KERNEL_WORKLOAD_USAGE_H
#include "kernel/ledger/ledger.h"
#include "kernel/base/plan.h"
#include "kernel/base/status.h"
#include "kernel/base/types.h"

/* What each workload holds: the first sl_usage_counts[id] of its rows. No workload at or beyond
 * sl_usage_workload_limit, and no cell at or beyond sl_usage_cell_limit, was ever held. */
extern uint32_t sl_usage_counts[SL_WORKLOADS_MAX];
extern sl_cell_id sl_usage_cells[SL_WORKLOADS_MAX][SL_USAGE_CELLS_MAX];
extern int64_t sl_usage_amounts[SL_WORKLOADS_MAX][SL_USAGE_CELLS_MAX];
extern uint32_t sl_usage_workload_limit;
extern uint32_t sl_usage_cell_limit;
extern int64_t sl_usage_sums[SL_CELLS_MAX]; /* scratch of sl_commit_valid */

#include "specs/workload_usage.acsl"

/* Keep the plan's amounts as those of its workload, which has none so far. */
/*@
  requires known:      sl_plan.workload < SL_WORKLOADS_MAX;
  requires valid:      WorkloadUsageValid;
  requires none:       sl_usage_counts[sl_plan.workload] == 0;
  requires usage:     PlanUsageSound;
  terminates           \true;
  exits                \false;
  assigns              sl_usage_counts[sl_plan.workload],
                       sl_usage_cells[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                       sl_usage_amounts[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                       sl_usage_workload_limit, sl_usage_cell_limit;
  ensures  valid:      WorkloadUsageValid;
  ensures  stored:     PlanStored(sl_plan.workload);
  ensures  sum:        \forall integer c; Claimed(c, SL_WORKLOADS_MAX) ==
                         \old(Claimed(c, SL_WORKLOADS_MAX)) + PlanSum(c, sl_plan.usage_count);
*/
void sl_usage_store(void);

/* Give back everything `id` holds, last amount first. Since usage is conserved no release can be refused. */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires inv:        UsageInv && TrailSound && ChargedCellsUsed && WorkloadUsageValid && Conserved;
  requires closed:     sl_trail_depth == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_usage_counts[id];
  ensures  inv:        UsageInv && TrailSound && ChargedCellsUsed && WorkloadUsageValid && Conserved;
  ensures  result:     \result == SL_OK;
  ensures  none:       sl_usage_counts[id] == 0;
  ensures  given_back: \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] ==
                         \old(sl_cell_own[c] - RowSum(id, c, sl_usage_counts[id]));
*/
enum sl_status sl_usage_release(sl_workload_id id) SL_MUST_CHECK;

/* Make one amount of `id` smaller and give back the difference, which cannot be refused either. */
/*@
  requires known:      id < SL_WORKLOADS_MAX && index < sl_usage_counts[id];
  requires smaller:    0 <= amount <= sl_usage_amounts[id][index];
  requires inv:        UsageInv && TrailSound && ChargedCellsUsed && WorkloadUsageValid && Conserved;
  requires closed:     sl_trail_depth == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_usage_amounts[id][index];
  ensures  inv:        UsageInv && TrailSound && ChargedCellsUsed && WorkloadUsageValid && Conserved;
  ensures  result:     \result == SL_OK;
  ensures  amount:     sl_usage_amounts[id][index] == amount;
  ensures  given_back: \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] == \old(sl_cell_own[c]) -
                         (c == sl_usage_cells[id][index] ? \old(sl_usage_amounts[id][index]) - amount : 0);
*/
enum sl_status sl_usage_reduce(sl_workload_id id, uint32_t index, int64_t amount) SL_MUST_CHECK;
#endif
