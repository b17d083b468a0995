/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A plan becomes a flat list of capacities and amounts. */
#include "kernel/topology/topology_needs.h"

uint32_t sl_need_count;
uint32_t sl_need_capacities[SL_BOOKINGS_MAX];
int64_t sl_need_amounts[SL_BOOKINGS_MAX];
uint32_t sl_need_firsts[SL_TOPOLOGY_ROWS_MAX];

/*@
  requires range:      NeedsInRange && sl_need_count < SL_BOOKINGS_MAX;
  requires ids:        measure < SL_MEASURES_MAX && site < SL_SITES_MAX && 0 <= amount <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_need_count, sl_need_capacities[sl_need_count], sl_need_amounts[sl_need_count];
  ensures  range:      NeedsInRange;
  ensures  longer:     sl_need_count == \old(sl_need_count) + 1;
  ensures  item:       IsItem(\old(sl_need_count), CapacityOf(measure, site), amount);
*/
static void put_need(sl_measure_id measure, sl_site_id site, int64_t amount)
{
    sl_need_capacities[sl_need_count] = measure * SL_SITES_MAX + site;
    sl_need_amounts[sl_need_count] = amount;
    sl_need_count++;
}

/* The items of one row: its pods, and what they request. */
/*@
  requires ready:      TopologyReady;
  requires rows:       RowsOfSets && row < sl_topology_plan.row_count;
  requires range:      NeedsInRange && sl_need_count < SL_BOOKINGS_MAX - SL_TOPOLOGY_REQUESTS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_need_count, sl_need_capacities[sl_need_count .. SL_BOOKINGS_MAX - 1],
                       sl_need_amounts[sl_need_count .. SL_BOOKINGS_MAX - 1], sl_need_firsts[row];
  ensures  range:      NeedsInRange;
  ensures  first:      sl_need_firsts[row] == \old(sl_need_count);
  ensures  longer:     sl_need_count == ItemsEnd(row + 1);
  ensures  listed:     RowListed(row);
*/
static void list_row(uint32_t row)
{
    uint32_t set = sl_plan_row_sets[row];
    sl_site_id site = sl_domain_sites[sl_topology_plan.rows[row].domain] - 1;
    uint32_t pods = sl_topology_plan.rows[row].count;
    uint32_t first = sl_need_count;
    sl_need_firsts[row] = first;
    put_need(SL_MEASURE_PODS, site, pods);
    /*@
      loop invariant index:  0 <= k <= sl_topology_plan.sets[set].request_count;
      loop invariant range:  NeedsInRange;
      loop invariant count:  sl_need_count == first + 1 + k;
      loop invariant pods:   IsItem(first, CapacityOf(SL_MEASURE_PODS, site), pods);
      loop invariant listed: \forall integer j; 0 <= j < k ==> IsItem(first + 1 + j,
                               CapacityOf(sl_topology_plan.sets[set].requests[j].measure, site),
                               sl_topology_plan.sets[set].requests[j].per_pod * pods);
      loop assigns           k, sl_need_count, sl_need_capacities[first + 1 .. SL_BOOKINGS_MAX - 1],
                             sl_need_amounts[first + 1 .. SL_BOOKINGS_MAX - 1];
      loop variant           sl_topology_plan.sets[set].request_count - k;
    */
    for (uint32_t k = 0; k < sl_topology_plan.sets[set].request_count; k++) {
        int64_t per_pod = sl_topology_plan.sets[set].requests[k].per_pod;
        //@ assert good: RequestGood(set, k) && RowPlaced(set, row);
        //@ assert less: 0 <= per_pod * pods <= per_pod * sl_topology_plan.sets[set].count;
        put_need(sl_topology_plan.sets[set].requests[k].measure, site, per_pod * (int64_t)pods);
    }
}

enum sl_status sl_topology_list_needs(void)
{
    sl_need_count = 0;
    /*@
      loop invariant index:  0 <= i <= sl_topology_plan.row_count;
      loop invariant range:  NeedsInRange;
      loop invariant listed: RowsListed(i);
      loop invariant capacity:   i <= sl_need_count;
      loop assigns           i, sl_need_count, sl_need_capacities[0 .. SL_BOOKINGS_MAX - 1],
                             sl_need_amounts[0 .. SL_BOOKINGS_MAX - 1],
                             sl_need_firsts[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
      loop variant           sl_topology_plan.row_count - i;
    */
    for (uint32_t i = 0; i < sl_topology_plan.row_count; i++) {
        if (sl_need_count >= SL_BOOKINGS_MAX - SL_TOPOLOGY_REQUESTS_MAX) {
            return SL_FULL_BOOKINGS;
        }
        //@ ghost before: ;
        list_row(i);
        /*@ assert ends: \forall integer j; 0 <= j < i ==>
              sl_need_firsts[j] < ItemsEnd(j + 1) <= \at(sl_need_count, before); */
        //@ assert firsts: \forall integer j; 0 <= j < i ==> sl_need_firsts[j] == \at(sl_need_firsts[j], before);
        /*@ assert kept: \forall integer k; 0 <= k < \at(sl_need_count, before) ==>
              sl_need_capacities[k] == \at(sl_need_capacities[k], before) &&
              sl_need_amounts[k] == \at(sl_need_amounts[k], before); */
        /*@ assert inside: \forall integer j, k; 0 <= j < i &&
              0 <= k < sl_topology_plan.sets[sl_plan_row_sets[j]].request_count ==>
                sl_need_firsts[j] + 1 + k < \at(sl_need_count, before); */
        //@ assert were: \forall integer j; 0 <= j < i ==> \at(RowListed(j), before);
        /*@ assert same: \forall integer j, k; 0 <= j < i &&
              0 <= k < sl_topology_plan.sets[sl_plan_row_sets[j]].request_count ==>
                \let n = sl_need_firsts[j] + 1 + k; 0 <= n < \at(sl_need_count, before) &&
                n == \at(sl_need_firsts[j], before) + 1 + k; */
        /*@ assert pods: \forall integer j; 0 <= j < i ==>
              IsItem(sl_need_firsts[j], CapacityOf(SL_MEASURE_PODS, RowSite(j)), sl_topology_plan.rows[j].count); */
        /*@ assert asked: \forall integer j, k; 0 <= j < i &&
              0 <= k < sl_topology_plan.sets[sl_plan_row_sets[j]].request_count ==>
                IsItem(sl_need_firsts[j] + 1 + k,
                       CapacityOf(sl_topology_plan.sets[sl_plan_row_sets[j]].requests[k].measure, RowSite(j)),
                       sl_topology_plan.sets[sl_plan_row_sets[j]].requests[k].per_pod *
                         sl_topology_plan.rows[j].count); */
        //@ assert rows: \forall integer j; 0 <= j <= i ==> RowListed(j);
        /*@ assert order: \forall integer j; 0 <= j <= i ==>
              sl_need_firsts[j] == ItemsEnd(j) && ItemsEnd(j + 1) <= sl_need_count; */
    }
    return SL_OK;
}
