/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Assignments: the ghost loops show what writing and wiping one does to the count of rows on its domain. */
#include "kernel/topology/topology_assigned.h"

uint32_t sl_assigned_sets[SL_BOOKINGS_MAX];
sl_domain_id sl_assigned_domains[SL_BOOKINGS_MAX];
uint32_t sl_assigned_pods[SL_BOOKINGS_MAX];
uint32_t sl_assigned_counts[SL_WORKLOADS_MAX];

/*@
  requires ids:        row < SL_BOOKINGS_MAX && domain < SL_DOMAINS_MAX && 0 < pods;
  requires none:       sl_assigned_pods[row] == 0;
  requires counted:    AssignedCounted;
  terminates           \true;
  exits                \false;
  assigns              sl_assigned_domains[row], sl_assigned_pods[row], sl_domain_assigned[domain];
  ensures  counted:    AssignedCounted;
  ensures  stored:     sl_assigned_domains[row] == domain && sl_assigned_pods[row] == pods;
*/
static void write_assignment(uint32_t row, sl_domain_id domain, uint32_t pods)
{
    sl_assigned_domains[row] = domain;
    sl_assigned_pods[row] = pods;
    sl_domain_assigned[domain]++;
    /*@ ghost
      /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
         loop invariant range: \forall integer d; 0 <= AssignedSum(d, n) <= n;
         loop invariant sums:  \forall integer d; AssignedSum(d, n) == AssignedSum{Pre}(d, n) +
                                 (d == domain && row < n ? 1 : 0);
         loop assigns          n;
         loop variant          SL_BOOKINGS_MAX - n;
      @/
      for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
    */
}

/*@
  requires ids:        row < SL_BOOKINGS_MAX && sl_assigned_domains[row] < SL_DOMAINS_MAX;
  requires some:       0 < sl_assigned_pods[row];
  requires counted:    AssignedCounted;
  terminates           \true;
  exits                \false;
  assigns              sl_assigned_pods[row], sl_domain_assigned[sl_assigned_domains[row]];
  ensures  counted:    AssignedCounted;
  ensures  wiped:      sl_assigned_pods[row] == 0;
*/
static void wipe_assignment(uint32_t row)
{
    sl_domain_assigned[sl_assigned_domains[row]]--;
    sl_assigned_pods[row] = 0;
    /*@ ghost
      /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
         loop invariant range: \forall integer d; 0 <= AssignedSum(d, n) <= n;
         loop invariant sums:  \forall integer d; AssignedSum(d, n) == AssignedSum{Pre}(d, n) -
                                 (d == sl_assigned_domains[row] && row < n ? 1 : 0);
         loop assigns          n;
         loop variant          SL_BOOKINGS_MAX - n;
      @/
      for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
    */
}

void sl_assigned_write(sl_workload_id id, uint32_t first)
{
    /*@
      loop invariant index:   0 <= i <= sl_topology_plan.row_count;
      loop invariant counted: AssignedCounted;
      loop invariant placed:  \forall integer b; first <= b < first + i ==> 0 < sl_assigned_pods[b] &&
                                sl_assigned_domains[b] < SL_DOMAINS_MAX && sl_domain_sites[sl_assigned_domains[b]] != 0;
      loop invariant stored:  \forall integer j; 0 <= j < i ==> AssignmentStored(first + j, j);
      loop invariant kept:    \forall integer b; 0 <= b < SL_BOOKINGS_MAX && !(first <= b < first + i) ==>
                                AssignmentSame{Pre,Here}(b);
      loop assigns            i, sl_assigned_sets[0 .. SL_BOOKINGS_MAX - 1], sl_assigned_domains[0 .. SL_BOOKINGS_MAX - 1],
                              sl_assigned_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_assigned[0 .. SL_DOMAINS_MAX - 1];
      loop variant            sl_topology_plan.row_count - i;
    */
    for (uint32_t i = 0; i < sl_topology_plan.row_count; i++) {
        //@ assert placed: RowOfSet(i);
        sl_assigned_sets[first + i] = sl_topology_plan.sets[sl_plan_row_sets[i]].pod_set;
        write_assignment(first + i, sl_topology_plan.rows[i].domain,
                         sl_topology_plan.rows[i].count);
    }
    sl_assigned_counts[id] = sl_topology_plan.row_count;
}

void sl_assigned_wipe(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    /*@
      loop invariant index:   0 <= i <= sl_assigned_counts[id];
      loop invariant counted: AssignedCounted;
      loop invariant wiped:   \forall integer b; first <= b < first + i ==> sl_assigned_pods[b] == 0;
      loop invariant kept:    \forall integer b; 0 <= b < SL_BOOKINGS_MAX && !(first <= b < first + i) ==>
                                sl_assigned_pods[b] == \at(sl_assigned_pods[b], Pre);
      loop assigns            i, sl_assigned_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_assigned[0 .. SL_DOMAINS_MAX - 1];
      loop variant            sl_assigned_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_assigned_counts[id]; i++) {
        wipe_assignment(first + i);
    }
    sl_assigned_counts[id] = 0;
}

uint32_t sl_topology_assignment_count(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? sl_assigned_counts[id] : 0;
}

struct sl_domain_assignment sl_topology_assignment_at(sl_workload_id id, uint32_t index)
{
    struct sl_domain_assignment assignment = {SL_NO_ID, SL_NO_ID, 0};
    if (id < SL_WORKLOADS_MAX && index < sl_assigned_counts[id]) {
        uint32_t row = sl_booking_firsts[id] + index;
        assignment.pod_set = sl_assigned_sets[row];
        assignment.domain = sl_assigned_domains[row];
        assignment.count = sl_assigned_pods[row];
    }
    return assignment;
}
