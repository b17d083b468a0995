/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preempt only: whose quota is taken (G4). */
#ifndef SL_KERNEL_PREEMPT_NOMINAL_H
#define SL_KERNEL_PREEMPT_NOMINAL_H
#include "kernel/preempt/preempt.h"
#include "kernel/base/status.h"

/* Does each victim of another queue belong to one that borrows, and may each that goes while the preemptor borrows go
 * then? The time is that of what victims hold, times what the plan asks for; with `after_others` times the promises. */
/*@
  requires inv:        CoreInv && ListsInv && sl_trail_depth == 0;
  requires promises:   PromisesValid;
  requires plan:       PlanUsageSound && sl_plan.workload < SL_WORKLOADS_MAX;
  requires lists:      ListsSound;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result == SL_OK ==> NominalKept(sl_preempt_plan.victim_count);
  ensures  refused:    \result != SL_OK ==> \result == SL_REFUSED_VICTIM;
*/
enum sl_status sl_preempt_check_nominal(void) SL_MUST_CHECK;
#endif
