/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Does a plan that replaces the sites that its workload's record names as failed leave the pods on other
 * sites alone? For placement only. */
#ifndef SL_KERNEL_PLACEMENT_KEPT_H
#define SL_KERNEL_PLACEMENT_KEPT_H
#include "kernel/commit/placement.h"

/* The plan is in form, of a known workload. Refused: NOT_KEPT. */
/*@
  requires inv:        TopologyInv;
  requires plan:       sl_topology_plan.workload < SL_WORKLOADS_MAX && PlanForm(1) && RowsOfSets;
  requires record:     sl_workloads[sl_topology_plan.workload].unhealthy_count <= SL_UNHEALTHY_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_plan_row_hints[0 .. SL_DOMAINS_MAX - 1];
  ensures  kept:       \result == SL_OK ==>
                         AssignedKept(sl_topology_plan.workload, sl_assigned_counts[sl_topology_plan.workload]);
*/
enum sl_status sl_placement_keeps(void) SL_MUST_CHECK;
#endif
