/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The door of replace.h with topology: in one step the new workload is placed, and what the old one has booked is given
 * back. Owns nothing. Carries G6 as placement.h does. */
#ifndef SL_KERNEL_PLACEMENT_TAKEOVER_H
#define SL_KERNEL_PLACEMENT_TAKEOVER_H
#include "kernel/commit/placement.h"
#include "kernel/commit/replace.h"

/* Apply sl_plan and sl_topology_plan (of the same workload; no sets: quota alone) and finish `old`, or refuse all of it
 * with everything as it was. What `old` has booked counts as free for the new workload, and for no other: a capacity
 * of which it uses no more than `old` is enough, whatever it is by now; of more, the difference has to be there, what is
 * promised taken. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_REPLACES(old), SL_STAGE, SL_BOOKING, sl_booking_counts[old],
                       sl_assigned_counts[old];
  ensures  inv:        PlacementInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload) &&
                         WorkloadSame{Pre,Post}(old) && TopologySame{Pre,Post};
  ensures  checked:    \result == SL_OK ==> \old(PlanFormed && OldNamed(old, generation) && GrowthAvailable(old));
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  quota:      \result == SL_OK ==> PlanStored(sl_plan.workload) && HoldsQuota(sl_plan.workload);
  ensures  variant:    \result == SL_OK ==> \old(Alone(sl_plan.workload));
  ensures  limits:     \result == SL_OK ==> GrowthWithin{Pre,Post};
  ensures  charged:    \result == SL_OK ==> Exchanged{Pre,Post}(old);
  ensures  finished:   \result == SL_OK ==> sl_workloads[old].phase == SL_PHASE_FINISHED &&
                         sl_usage_counts[old] == 0 && sl_booking_counts[old] == 0;
  ensures  placed:     \result == SL_OK && sl_topology_plan.set_count > 0 ==>
                         sl_topology_plan.workload == sl_plan.workload && PlanBooked(sl_plan.workload);
  ensures  moved:      \result == SL_OK ==>
                         CapacityExchanged{Pre,Post}(old, sl_topology_plan.set_count > 0 ? sl_need_count : 0);
  ensures  shrinks:    \result == SL_REFUSED_CAPACITY ==> NeedsGrow(old);
  ensures  capacity:   NoSiteOverfull{Pre,Post};
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_placement_take_over(sl_workload_id old, uint32_t generation) SL_MUST_CHECK;
#endif
