/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preempt only: what would be, tried on the live ledger and taken back. */
#ifndef SL_KERNEL_PREEMPT_TRIAL_H
#define SL_KERNEL_PREEMPT_TRIAL_H
#include "kernel/preempt/preempt.h"
#include "kernel/base/status.h"

/* Without the victims, does sl_plan fit, and would it not if any one of them stayed? */
/*@
  requires inv:        UsageInv && TrailSound && ClaimsValid && Conserved && sl_trail_depth == 0;
  requires plan:       PlanClaimsSound;
  requires lists:      ListsSound;
  requires promises:   PromisesValid;
  requires rooms:      RoomsReady && RoomsShown;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, sl_preempt_freed[0 .. SL_ROOMS_MAX - 1];
  ensures  inv:        UsageInv && TrailSound && sl_trail_depth == 0;
  ensures  same:       UsageSame{Pre,Post};
  ensures  rooms:      SameFreed{Pre,Post};
  ensures  sound:      \result == SL_OK ==> PlanFits && NoneSpared{Post,Post};
*/
enum sl_status sl_preempt_try(void) SL_MUST_CHECK;

/* Is every claim available, in the trial? */
/*@
  requires inv:        CellsLinked && LimitsInRange && UsageInRange;
  requires count:      sl_plan.claim_count <= SL_CLAIMS_MAX;
  requires claims:     \forall integer k; 0 <= k < sl_plan.claim_count ==>
                         sl_plan.claims[k].cell < SL_CELLS_MAX && 0 <= sl_plan.claims[k].amount <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  available:  \result ==> PlanAvailable;
  ensures  beyond:     PlanAvailable ==> \result;
*/
bool sl_preempt_claims_available(void);

/* Would no claim exceed the quota of its own cell, in the trial? */
/*@
  requires claims:     ClaimsAddable;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  within:     \result ==> \forall integer k; 0 <= k < sl_plan.claim_count ==> ClaimWithinOwn(k);
  ensures  beyond:     !\result ==> \exists integer k; 0 <= k < sl_plan.claim_count && !ClaimWithinOwn(k);
*/
bool sl_preempt_claims_within(void);
#endif
