/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preempt only: what would be, tried on the live ledger and taken back. */
#ifndef SL_KERNEL_PREEMPT_TRIAL_H
#define SL_KERNEL_PREEMPT_TRIAL_H
#include "kernel/preempt/preempt.h"
#include "kernel/base/status.h"

/* Without the victims, does sl_plan fit, and would it not if any one of them stayed? */
/*@
  requires inv:        UsageInv && TrailSound && WorkloadUsageValid && Conserved && sl_trail_depth == 0;
  requires plan:       PlanUsageSound;
  requires lists:      ListsSound;
  requires promises:   PromisesValid;
  requires capacities:      CapacityReady && CapacityShown;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        UsageInv && TrailSound && sl_trail_depth == 0;
  ensures  same:       UsageSame{Pre,Post};
  ensures  capacities:      SameFreed{Pre,Post};
  ensures  sound:      \result == SL_OK ==> PlanFits && NoneSpared{Post,Post};
*/
enum sl_status sl_preempt_try(void) SL_MUST_CHECK;

/* Is every amount available, in the trial? */
/*@
  requires inv:        CellsLinked && LimitsInRange && UsageInRange;
  requires count:      sl_plan.usage_count <= SL_USAGE_CELLS_MAX;
  requires usage:     \forall integer k; 0 <= k < sl_plan.usage_count ==>
                         sl_plan.usage[k].cell < SL_CELLS_MAX && 0 <= sl_plan.usage[k].amount <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  available:  \result ==> PlanAvailable;
  ensures  beyond:     PlanAvailable ==> \result;
*/
bool sl_preempt_usage_available(void);

/* Would no amount exceed the quota of its own cell, in the trial? */
/*@
  requires usage:     UsageAddable;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  within:     \result ==> \forall integer k; 0 <= k < sl_plan.usage_count ==> UsageWithinOwn(k);
  ensures  beyond:     !\result ==> \exists integer k; 0 <= k < sl_plan.usage_count && !UsageWithinOwn(k);
*/
bool sl_preempt_usage_within(void);
#endif
