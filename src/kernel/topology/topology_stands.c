/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Stands: the ghost loops show what writing and wiping one does to the count of stands on its domain. */
#include "kernel/topology/topology_stands.h"

uint32_t sl_stand_sets[SL_BOOKINGS_MAX];
sl_domain_id sl_stand_domains[SL_BOOKINGS_MAX];
uint32_t sl_stand_pods[SL_BOOKINGS_MAX];
uint32_t sl_stand_counts[SL_WORKLOADS_MAX];

/*@
  requires ids:        row < SL_BOOKINGS_MAX && domain < SL_DOMAINS_MAX && 0 < pods;
  requires none:       sl_stand_pods[row] == 0;
  requires counted:    StandsCounted;
  terminates           \true;
  exits                \false;
  assigns              sl_stand_domains[row], sl_stand_pods[row], sl_domain_stands[domain];
  ensures  counted:    StandsCounted;
  ensures  stored:     sl_stand_domains[row] == domain && sl_stand_pods[row] == pods;
*/
static void write_stand(uint32_t row, sl_domain_id domain, uint32_t pods)
{
    sl_stand_domains[row] = domain;
    sl_stand_pods[row] = pods;
    sl_domain_stands[domain]++;
    /*@ ghost
      /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
         loop invariant range: \forall integer d; 0 <= StandSum(d, n) <= n;
         loop invariant sums:  \forall integer d; StandSum(d, n) == StandSum{Pre}(d, n) +
                                 (d == domain && row < n ? 1 : 0);
         loop assigns          n;
         loop variant          SL_BOOKINGS_MAX - n;
      @/
      for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
    */
}

/*@
  requires ids:        row < SL_BOOKINGS_MAX && sl_stand_domains[row] < SL_DOMAINS_MAX;
  requires some:       0 < sl_stand_pods[row];
  requires counted:    StandsCounted;
  terminates           \true;
  exits                \false;
  assigns              sl_stand_pods[row], sl_domain_stands[sl_stand_domains[row]];
  ensures  counted:    StandsCounted;
  ensures  wiped:      sl_stand_pods[row] == 0;
*/
static void wipe_stand(uint32_t row)
{
    sl_domain_stands[sl_stand_domains[row]]--;
    sl_stand_pods[row] = 0;
    /*@ ghost
      /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
         loop invariant range: \forall integer d; 0 <= StandSum(d, n) <= n;
         loop invariant sums:  \forall integer d; StandSum(d, n) == StandSum{Pre}(d, n) -
                                 (d == sl_stand_domains[row] && row < n ? 1 : 0);
         loop assigns          n;
         loop variant          SL_BOOKINGS_MAX - n;
      @/
      for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
    */
}

void sl_stands_write(sl_workload_id id, uint32_t first)
{
    /*@
      loop invariant index:   0 <= i <= sl_topology_plan.row_count;
      loop invariant counted: StandsCounted;
      loop invariant placed:  \forall integer b; first <= b < first + i ==> 0 < sl_stand_pods[b] &&
                                sl_stand_domains[b] < SL_DOMAINS_MAX && sl_domain_sites[sl_stand_domains[b]] != 0;
      loop invariant stored:  \forall integer j; 0 <= j < i ==> StandStored(first + j, j);
      loop invariant kept:    \forall integer b; 0 <= b < SL_BOOKINGS_MAX && !(first <= b < first + i) ==>
                                StandSame{Pre,Here}(b);
      loop assigns            i, sl_stand_sets[0 .. SL_BOOKINGS_MAX - 1], sl_stand_domains[0 .. SL_BOOKINGS_MAX - 1],
                              sl_stand_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_stands[0 .. SL_DOMAINS_MAX - 1];
      loop variant            sl_topology_plan.row_count - i;
    */
    for (uint32_t i = 0; i < sl_topology_plan.row_count; i++) {
        //@ assert placed: RowOfSet(i);
        sl_stand_sets[first + i] = sl_topology_plan.sets[sl_plan_row_sets[i]].pod_set;
        write_stand(first + i, sl_topology_plan.rows[i].domain, sl_topology_plan.rows[i].count);
    }
    sl_stand_counts[id] = sl_topology_plan.row_count;
}

void sl_stands_wipe(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    /*@
      loop invariant index:   0 <= i <= sl_stand_counts[id];
      loop invariant counted: StandsCounted;
      loop invariant wiped:   \forall integer b; first <= b < first + i ==> sl_stand_pods[b] == 0;
      loop invariant kept:    \forall integer b; 0 <= b < SL_BOOKINGS_MAX && !(first <= b < first + i) ==>
                                sl_stand_pods[b] == \at(sl_stand_pods[b], Pre);
      loop assigns            i, sl_stand_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_stands[0 .. SL_DOMAINS_MAX - 1];
      loop variant            sl_stand_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_stand_counts[id]; i++) {
        wipe_stand(first + i);
    }
    sl_stand_counts[id] = 0;
}

uint32_t sl_topology_stand_count(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? sl_stand_counts[id] : 0;
}

struct sl_topology_stand sl_topology_stand_at(sl_workload_id id, uint32_t index)
{
    struct sl_topology_stand stand = {SL_NO_ID, SL_NO_ID, 0};
    if (id < SL_WORKLOADS_MAX && index < sl_stand_counts[id]) {
        uint32_t row = sl_booking_firsts[id] + index;
        stand.pod_set = sl_stand_sets[row];
        stand.domain = sl_stand_domains[row];
        stand.count = sl_stand_pods[row];
    }
    return stand;
}
