/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Bookings and assignments: which workload has booked what, and its topology assignment. Both are rows
 * of one pool; a workload's rows are one block of it. Owns the pool; for topology and placement
 * only, but for the functions that look. Carries G2 for capacities: what is used of a capacity is what is
 * booked there. */
#ifndef SL_KERNEL_TOPOLOGY_BOOKINGS_H
#define SL_KERNEL_TOPOLOGY_BOOKINGS_H
#include "kernel/topology/topology_domains.h"
#include "kernel/topology/topology_capacity.h"

/* Row b: its owner's id + 1 (0: free), and what it books. The first sl_assigned_counts[w] rows of a
 * workload's block are its assignment as well; stand_pods is 0 in all other rows. */
extern uint32_t sl_booking_owners[SL_BOOKINGS_MAX];
extern uint32_t sl_booking_capacities[SL_BOOKINGS_MAX];
extern int64_t sl_booking_amounts[SL_BOOKINGS_MAX];
extern uint32_t sl_assigned_sets[SL_BOOKINGS_MAX];
extern sl_domain_id sl_assigned_domains[SL_BOOKINGS_MAX];
extern uint32_t sl_assigned_pods[SL_BOOKINGS_MAX];

extern uint32_t sl_booking_firsts[SL_WORKLOADS_MAX];
extern uint32_t sl_booking_counts[SL_WORKLOADS_MAX];
extern uint32_t sl_assigned_counts[SL_WORKLOADS_MAX];
extern uint32_t sl_booking_workload_limit; /* no workload at or beyond it ever booked anything */

#include "specs/topology_bookings.acsl"

struct sl_domain_assignment {
    uint32_t pod_set;
    sl_domain_id domain; /* SL_NO_ID = no such row */
    uint32_t count;
};
/* Rows of the workload's plan as committed, in the plan's order. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (id < SL_WORKLOADS_MAX ? sl_assigned_counts[id] : 0);
*/
uint32_t sl_topology_assignment_count(sl_workload_id id);

/*@
  requires block:      id < SL_WORKLOADS_MAX ==> BlockBounded(id);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  assignment:      id < SL_WORKLOADS_MAX && index < sl_assigned_counts[id] ==>
                         \result.pod_set == sl_assigned_sets[sl_booking_firsts[id] + index] &&
                         \result.domain == sl_assigned_domains[sl_booking_firsts[id] + index] &&
                         \result.count == sl_assigned_pods[sl_booking_firsts[id] + index];
  ensures  none:       !(id < SL_WORKLOADS_MAX && index < sl_assigned_counts[id]) ==>
                         \result.domain == SL_NO_ID && \result.count == 0;
*/
struct sl_domain_assignment sl_topology_assignment_at(sl_workload_id id, uint32_t index);

/* What the workload has booked: capacities and amounts, one row per capacity or more. */
struct sl_booking {
    sl_site_id site; /* SL_NO_ID = no such booking */
    sl_measure_id measure;
    int64_t amount;
};
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (id < SL_WORKLOADS_MAX ? sl_booking_counts[id] : 0);
*/
uint32_t sl_booking_count(sl_workload_id id);

/*@
  requires block:      id < SL_WORKLOADS_MAX ==> BlockBounded(id);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  booking:    id < SL_WORKLOADS_MAX && index < sl_booking_counts[id] ==>
                         \result.measure * SL_SITES_MAX + \result.site ==
                           sl_booking_capacities[sl_booking_firsts[id] + index] && \result.site < SL_SITES_MAX &&
                         \result.amount == sl_booking_amounts[sl_booking_firsts[id] + index];
  ensures  none:       !(id < SL_WORKLOADS_MAX && index < sl_booking_counts[id]) ==>
                         \result.site == SL_NO_ID && \result.amount == 0;
*/
struct sl_booking sl_booking_at(sl_workload_id id, uint32_t index);
#endif
