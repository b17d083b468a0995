/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writing and clearing topology assignments: for topology_bookings.c only. */
#ifndef SL_KERNEL_TOPOLOGY_ASSIGNED_H
#define SL_KERNEL_TOPOLOGY_ASSIGNED_H
#include "kernel/topology/topology_needs.h"

/* Note the plan's rows in the first rows of the workload's block, which has no assignment so
 * far. */
/*@
  requires ids:        id < SL_WORKLOADS_MAX && first + sl_topology_plan.row_count <= SL_BOOKINGS_MAX;
  requires ready:      TopologyReady;
  requires rows:       RowsOfSets;
  requires counted:    AssignedCounted;
  requires none:       \forall integer b; first <= b < first + sl_topology_plan.row_count ==> sl_assigned_pods[b] == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_assigned_sets[0 .. SL_BOOKINGS_MAX - 1], sl_assigned_domains[0 .. SL_BOOKINGS_MAX - 1],
                       sl_assigned_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_assigned[0 .. SL_DOMAINS_MAX - 1],
                       sl_assigned_counts[id];
  ensures  counted:    AssignedCounted;
  ensures  count:      sl_assigned_counts[id] == sl_topology_plan.row_count;
  ensures  placed:     \forall integer b; first <= b < first + sl_topology_plan.row_count ==> 0 < sl_assigned_pods[b] &&
                         sl_assigned_domains[b] < SL_DOMAINS_MAX && sl_domain_sites[sl_assigned_domains[b]] != 0;
  ensures  stored:     \forall integer i; 0 <= i < sl_topology_plan.row_count ==> AssignmentStored(first + i, i);
  ensures  kept:       \forall integer b; 0 <= b < SL_BOOKINGS_MAX &&
                         !(first <= b < first + sl_topology_plan.row_count) ==> AssignmentSame{Pre,Post}(b);
*/
void sl_assigned_write(sl_workload_id id, uint32_t first);

/* The workload has no assignment any more. */
/*@
  requires id:         id < SL_WORKLOADS_MAX && sl_booking_firsts[id] + sl_assigned_counts[id] <= SL_BOOKINGS_MAX;
  requires counted:    AssignedCounted && AssignedPlaced;
  requires some:       \forall integer b; sl_booking_firsts[id] <= b < sl_booking_firsts[id] + sl_assigned_counts[id] ==>
                         sl_assigned_pods[b] > 0;
  terminates           \true;
  exits                \false;
  assigns              sl_assigned_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_assigned[0 .. SL_DOMAINS_MAX - 1],
                       sl_assigned_counts[id];
  ensures  counted:    AssignedCounted;
  ensures  count:      sl_assigned_counts[id] == 0;
  ensures  wiped:      \forall integer b;
                         sl_booking_firsts[id] <= b < sl_booking_firsts[id] + \old(sl_assigned_counts[id]) ==>
                         sl_assigned_pods[b] == 0;
  ensures  kept:       \forall integer b; 0 <= b < SL_BOOKINGS_MAX &&
                         !(sl_booking_firsts[id] <= b < sl_booking_firsts[id] + \old(sl_assigned_counts[id])) ==>
                         sl_assigned_pods[b] == \old(sl_assigned_pods[b]);
*/
void sl_assigned_wipe(sl_workload_id id);
#endif
