/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writing and clearing topology assignments: for topology_bookings.c only. */
#ifndef SL_KERNEL_TOPOLOGY_STANDS_H
#define SL_KERNEL_TOPOLOGY_STANDS_H
#include "kernel/topology/topology_needs.h"

/* Note the plan's rows in the first rows of the workload's block, which has no assignment so
 * far. */
/*@
  requires ids:        id < SL_WORKLOADS_MAX && first + sl_topology_plan.row_count <= SL_BOOKINGS_MAX;
  requires ready:      TopologyReady;
  requires rows:       RowsOfSets;
  requires counted:    StandsCounted;
  requires none:       \forall integer b; first <= b < first + sl_topology_plan.row_count ==> sl_stand_pods[b] == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_stand_sets[0 .. SL_BOOKINGS_MAX - 1], sl_stand_domains[0 .. SL_BOOKINGS_MAX - 1],
                       sl_stand_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_stands[0 .. SL_DOMAINS_MAX - 1],
                       sl_stand_counts[id];
  ensures  counted:    StandsCounted;
  ensures  count:      sl_stand_counts[id] == sl_topology_plan.row_count;
  ensures  placed:     \forall integer b; first <= b < first + sl_topology_plan.row_count ==> 0 < sl_stand_pods[b] &&
                         sl_stand_domains[b] < SL_DOMAINS_MAX && sl_domain_sites[sl_stand_domains[b]] != 0;
  ensures  stored:     \forall integer i; 0 <= i < sl_topology_plan.row_count ==> StandStored(first + i, i);
  ensures  kept:       \forall integer b; 0 <= b < SL_BOOKINGS_MAX &&
                         !(first <= b < first + sl_topology_plan.row_count) ==> StandSame{Pre,Post}(b);
*/
void sl_stands_write(sl_workload_id id, uint32_t first);

/* The workload has no assignment any more. */
/*@
  requires id:         id < SL_WORKLOADS_MAX && sl_booking_firsts[id] + sl_stand_counts[id] <= SL_BOOKINGS_MAX;
  requires counted:    StandsCounted && StandsPlaced;
  requires some:       \forall integer b; sl_booking_firsts[id] <= b < sl_booking_firsts[id] + sl_stand_counts[id] ==>
                         sl_stand_pods[b] > 0;
  terminates           \true;
  exits                \false;
  assigns              sl_stand_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_stands[0 .. SL_DOMAINS_MAX - 1],
                       sl_stand_counts[id];
  ensures  counted:    StandsCounted;
  ensures  count:      sl_stand_counts[id] == 0;
  ensures  wiped:      \forall integer b;
                         sl_booking_firsts[id] <= b < sl_booking_firsts[id] + \old(sl_stand_counts[id]) ==>
                         sl_stand_pods[b] == 0;
  ensures  kept:       \forall integer b; 0 <= b < SL_BOOKINGS_MAX &&
                         !(sl_booking_firsts[id] <= b < sl_booking_firsts[id] + \old(sl_stand_counts[id])) ==>
                         sl_stand_pods[b] == \old(sl_stand_pods[b]);
*/
void sl_stands_wipe(sl_workload_id id);
#endif
