/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preempt only: what would be, tried on the live ledger and taken back. */
#ifndef SL_KERNEL_PREEMPT_TRIAL_H
#define SL_KERNEL_PREEMPT_TRIAL_H
#include "kernel/preempt.h"
#include "kernel/status.h"

/* With the victims gone, does sl_plan fit, and would it not if any one of them stayed? */
/*@
  requires inv:        UsageInv && TrailSound && ClaimsValid && Conserved && sl_trail_depth == 0;
  requires plan:       PlanClaimsSound;
  requires lists:      ListsSound;
  requires promises:   PromisesValid;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth;
  ensures  inv:        UsageInv && TrailSound && sl_trail_depth == 0;
  ensures  same:       UsageSame{Pre,Post};
  ensures  sound:      \result == SL_OK ==> PlanFits && NoneSpared;
*/
enum sl_status sl_preempt_try(void) SL_MUST_CHECK;
#endif
