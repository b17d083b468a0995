/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The door of the core: what changes a workload, its quota and its capacities changes them here, together. Adds topology
 * to commit.h; between any two calls capacities are booked only by workloads that hold quota. Owns nothing. Carries G5
 * and G6. */
#ifndef SL_KERNEL_PLACEMENT_H
#define SL_KERNEL_PLACEMENT_H
#include "kernel/commit/commit.h"
#include "kernel/lifecycle/second_pass.h"
#include "kernel/topology/topology_stage.h"

/* For the kernel: where in the plan a domain may be found. */
extern uint32_t sl_plan_row_hints[SL_DOMAINS_MAX];

#include "specs/placement.acsl"

/* Apply sl_plan and sl_topology_plan (of the same workload; no sets: quota alone), or refuse both with everything
 * as it was. With sl_plan.topology_pending some pod sets have no place yet: the first phase of two. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_plan.workload), SL_USAGE_ROWS, SL_STAGE, SL_BOOKING;
  ensures  inv:        PlacementInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload) &&
                         TopologySame{Pre,Post};
  ensures  quota:      \result == SL_OK ==> \old(PlanNames(SL_PLACE_IN_FLIGHT) && PlanAvailable) &&
                         PlanStored(sl_plan.workload) && HoldsQuota(sl_plan.workload);
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  limits:     \result == SL_OK ==> LimitsKept{Pre,Post};
  ensures  variant:    \result == SL_OK ==> \old(Alone(sl_plan.workload));
  ensures  alone:      \result == SL_OK && sl_topology_plan.set_count == 0 ==> TopologySame{Pre,Post};
  ensures  placed:     \result == SL_OK && sl_topology_plan.set_count > 0 ==>
                         sl_topology_plan.workload == sl_plan.workload &&
                         PlanInPlace{Pre,Post}(sl_plan.workload, 1);
  ensures  capacity:       NoSiteOverfull{Pre,Post};
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_placement_commit(void) SL_MUST_CHECK;

/* As commit, for what the API says is so already (restart): neither quota nor room is asked for. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_plan.workload), SL_USAGE_ROWS, SL_STAGE, SL_BOOKING;
  ensures  inv:        PlacementInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload) &&
                         TopologySame{Pre,Post};
  ensures  quota:      \result == SL_OK ==> \old(PlanNames(SL_PLACE_ORPHANED)) &&
                         PlanStored(sl_plan.workload) && HoldsQuota(sl_plan.workload);
  ensures  alone:      \result == SL_OK && sl_topology_plan.set_count == 0 ==> TopologySame{Pre,Post};
  ensures  placed:     \result == SL_OK && sl_topology_plan.set_count > 0 ==>
                         sl_topology_plan.workload == sl_plan.workload &&
                         PlanInPlace{Pre,Post}(sl_plan.workload, 0);
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_placement_restore(void) SL_MUST_CHECK;

/* Commit sl_topology_plan as a second pass of its workload (`generation`): only one that needs it
 * (NeedsPass on the live record), changes nothing but topology: quota stays as it is. Every row on a
 * site that the record does not name as failed stays with at least as many pods as before; the pods
 * of the failed ones may go wherever the plan says. The record gets SL_EV_SECOND_PASS_FIT.
 * All or nothing. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_topology_plan.workload), SL_STAGE, SL_BOOKING,
                       sl_plan_row_hints[0 .. SL_DOMAINS_MAX - 1];
  ensures  inv:        PlacementInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} &&
                         WorkloadSame{Pre,Post}(sl_topology_plan.workload) && TopologySame{Pre,Post};
  ensures  gate:       \result == SL_OK ==> sl_topology_plan.workload < SL_WORKLOADS_MAX &&
                         \old(NeedsPass(sl_topology_plan.workload) &&
                              sl_workloads[sl_topology_plan.workload].generation == generation);
  ensures  move:       \result == SL_OK ==> MoveAllowed(SL_EV_SECOND_PASS_FIT,
                         \old(sl_workloads[sl_topology_plan.workload].phase),
                         sl_workloads[sl_topology_plan.workload].phase);
  ensures  admitted:   \result == SL_OK ==> PassAdmits{Pre,Post}(sl_topology_plan.workload, now_ms);
  ensures  quota:      \result == SL_OK ==> HoldsQuota(sl_topology_plan.workload) && UsageSame{Pre,Post} &&
                         WorkloadUsageSame{Pre,Post}(sl_topology_plan.workload);
  ensures  placed:     \result == SL_OK ==> PlanInPlace{Pre,Post}(sl_topology_plan.workload, 1);
  ensures  kept:       \result == SL_OK ==> AssignedStay{Pre,Post}(sl_topology_plan.workload);
  ensures  capacity:       NoSiteOverfull{Pre,Post};
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_placement_second_pass(uint32_t generation, int64_t now_ms) SL_MUST_CHECK;

/* As sl_commit_event; capacities are released when its pods have stopped, which is together with the
 * quota, or later where it was deactivated. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(ev.workload), SL_POOL, sl_booking_owners[0 .. SL_BOOKINGS_MAX - 1],
                       sl_booking_capacities[0 .. SL_BOOKINGS_MAX - 1], sl_booking_amounts[0 .. SL_BOOKINGS_MAX - 1],
                       sl_site_used[0 .. SL_CAPACITIES_MAX - 1], sl_assigned_pods[0 .. SL_BOOKINGS_MAX - 1],
                       sl_domain_assigned[0 .. SL_DOMAINS_MAX - 1], sl_booking_counts[ev.workload],
                       sl_assigned_counts[ev.workload];
  ensures  inv:        PlacementInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(ev.workload) &&
                         TopologySame{Pre,Post};
  ensures  says:       \result != SL_OK ==> EventRefusalTrue{Pre}(ev, \result);
  ensures  allowed:    \result == SL_OK ==> ev.workload < SL_WORKLOADS_MAX &&
                         ev.kind != SL_EV_RESERVE && MoveAllowed(ev.kind,
                           \old(sl_workloads[ev.workload].phase), sl_workloads[ev.workload].phase);
  ensures  applied:    MustApply{Pre}(ev) && ev.kind != SL_EV_RESERVE && \old(sl_trail_depth) == 0 ==>
                         \result == SL_OK;
  ensures  made:       \result == SL_OK ==> MoveMade(ev.kind,
                         \old(sl_workloads[ev.workload].phase), sl_workloads[ev.workload].phase);
  ensures  quota:      \result == SL_OK ==> QuotaMoved{Pre,Post}(ev.kind, ev.workload);
  ensures  since:      \result == SL_OK ==> AdmittedSince{Pre,Post}(ev.workload, ev.now_ms);
  ensures  missed:     \result == SL_OK && ev.kind == SL_EV_SECOND_PASS_MISS ==> \old(MissTold(ev)) &&
                         MissMoves(ev.index, \old(sl_workloads[ev.workload].phase),
                                   sl_workloads[ev.workload].phase);
  ensures  kept:       \result == SL_OK && HoldsQuota(ev.workload) ==>
                         UsageSame{Pre,Post} && WorkloadUsageSame{Pre,Post}(ev.workload);
  ensures  stays:      \result == SL_OK && HoldsCapacity(ev.workload) ==> TopologySame{Pre,Post};
  ensures  released:   \result == SL_OK && !HoldsQuota(ev.workload) ==> sl_usage_counts[ev.workload] == 0;
  ensures  left:       \result == SL_OK && !HoldsCapacity(ev.workload) ==>
                         sl_booking_counts[ev.workload] == 0 && sl_assigned_counts[ev.workload] == 0;
  ensures  given_back: \result == SL_OK && !HoldsQuota(ev.workload) ==>
                         \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] ==
                           \old(sl_cell_own[c] - RowSum(ev.workload, c, sl_usage_counts[ev.workload]));
  ensures  room_back:  \result == SL_OK && !HoldsCapacity(ev.workload) ==>
                         \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_site_used[r] ==
                           \old(sl_site_used[r] - OwnSum(ev.workload, r, sl_booking_counts[ev.workload]));
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_placement_event(struct sl_event ev) SL_MUST_CHECK;
#endif
