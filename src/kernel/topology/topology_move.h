/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What changes bookings: for topology_stage.c and placement.c only. */
#ifndef SL_KERNEL_TOPOLOGY_MOVE_H
#define SL_KERNEL_TOPOLOGY_MOVE_H
#include "kernel/topology/topology_needs.h"
#include "kernel/topology/topology_pool.h"

/* A block of free rows for the items: SL_NO_ID = none. */
/*@
  requires links:      BlockLinks;
  requires needs:      sl_need_count <= SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_POOL;
  ensures  links:      BlockLinks;
  ensures  free:       \result != SL_NO_ID ==> \result < SL_BOOKINGS_MAX && RowsFree(\result, sl_need_count);
*/
uint32_t sl_bookings_reserve(void);

/*@
  requires links:      BlockLinks;
  requires first:      first < SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_POOL;
  ensures  links:      BlockLinks;
  ensures  given:      BlockGiven(first, sl_need_count);
*/
void sl_bookings_unreserve(uint32_t first);

/* Give back everything that the workload has booked. */
/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires inv:        BookingsInv && BlockLinks;
  terminates           \true;
  exits                \false;
  assigns              SL_POOL, sl_booking_owners[0 .. SL_BOOKINGS_MAX - 1], sl_booking_capacities[0 .. SL_BOOKINGS_MAX - 1],
                       sl_booking_amounts[0 .. SL_BOOKINGS_MAX - 1], sl_site_used[0 .. SL_CAPACITIES_MAX - 1],
                       sl_assigned_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_assigned[0 .. SL_DOMAINS_MAX - 1],
                       sl_booking_counts[id], sl_assigned_counts[id];
  ensures  inv:        BookingsInv && BlockLinks;
  ensures  none:       sl_booking_counts[id] == 0 && sl_assigned_counts[id] == 0;
  ensures  block:      \old(sl_booking_counts[id]) != 0 ==>
                         BlockGiven(\old(sl_booking_firsts[id]), \old(sl_booking_counts[id]));
  ensures  given_back: \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_site_used[r] ==
                         \old(sl_site_used[r] - OwnSum(id, r, sl_booking_counts[id]));
  ensures  others:     \forall integer b; 0 <= b < SL_BOOKINGS_MAX && \old(sl_booking_owners[b]) != id + 1 ==>
                         RowSame{Pre,Post}(b);
*/
void sl_bookings_release(sl_workload_id id);

/* Book the items, and keep the plan's rows as its assignment, in that block; what the workload has booked
 * before is released. */
/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires inv:        BookingsInv && BlockLinks && TopologyReady;
  requires plan:       RowsOfSets && NeedsInRange && sl_topology_plan.row_count <= sl_need_count;
  requires block:      RowsFree(first, sl_need_count);
  requires judged:     CapacityJudged(id, 0);
  terminates           \true;
  exits                \false;
  assigns              SL_POOL, sl_booking_owners[0 .. SL_BOOKINGS_MAX - 1], sl_booking_capacities[0 .. SL_BOOKINGS_MAX - 1],
                       sl_booking_amounts[0 .. SL_BOOKINGS_MAX - 1], sl_site_used[0 .. SL_CAPACITIES_MAX - 1],
                       sl_assigned_sets[0 .. SL_BOOKINGS_MAX - 1], sl_assigned_domains[0 .. SL_BOOKINGS_MAX - 1],
                       sl_assigned_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_assigned[0 .. SL_DOMAINS_MAX - 1],
                       sl_booking_firsts[id], sl_booking_counts[id], sl_assigned_counts[id],
                       sl_booking_workload_limit;
  ensures  inv:        BookingsInv && BlockLinks;
  ensures  used:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_used[r] == \old(sl_site_used[r] + More(id, r));
  ensures  booked:     sl_booking_counts[id] == sl_need_count &&
                       \forall integer k; 0 <= k < sl_need_count ==> ItemStored(sl_booking_firsts[id] + k, k);
  ensures  assignments:     sl_assigned_counts[id] == sl_topology_plan.row_count &&
                       \forall integer i; 0 <= i < sl_topology_plan.row_count ==>
                         AssignmentStored(sl_booking_firsts[id] + i, i);
*/
void sl_bookings_replace(sl_workload_id id, uint32_t first);
#endif
