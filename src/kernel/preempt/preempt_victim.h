/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preempt only: which workloads may be victims. */
#ifndef SL_KERNEL_PREEMPT_VICTIM_H
#define SL_KERNEL_PREEMPT_VICTIM_H
#include "kernel/preempt/preempt.h"
#include "kernel/base/status.h"
#include "kernel/base/types.h"

/* Are the plan's victims distinct and such as the policy of sl_plan's queue allows, and are those
 * of earlier plans distinct, evicted and not victims? Linear time. */
/*@
  requires linked:     QnodesLinked && CellsLinked && WorkloadUsageValid;
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  requires preemptor:  sl_plan.workload < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_PREEMPT_SCRATCH;
  ensures  sound:      \result == SL_OK ==> ListsSound;
  ensures  fair:       ListsSound ==> \result == SL_OK;
*/
enum sl_status sl_preempt_check_victims(void) SL_MUST_CHECK;
#endif
