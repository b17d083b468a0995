/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preempt only: which workloads may be victims. */
#ifndef SL_KERNEL_PREEMPT_VICTIM_H
#define SL_KERNEL_PREEMPT_VICTIM_H
#include "kernel/preempt/preempt.h"
#include "kernel/base/status.h"
#include "kernel/base/types.h"

/* May a workload of the same queue go? */
/*@
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  requires known:      victim < SL_WORKLOADS_MAX;
  requires preemptor:  sl_plan.workload < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> AllowedWithin(victim);
*/
bool sl_preempt_allows_within(sl_workload_id victim);

/* May a workload of another queue of the same cohort tree go? */
/*@
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  requires known:      victim < SL_WORKLOADS_MAX;
  requires preemptor:  sl_plan.workload < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> AllowedReclaim(victim);
*/
bool sl_preempt_allows_reclaim(sl_workload_id victim);

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
