/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Old rows and new sets both ascend by pod set, so that one walk over the old rows meets each set once. Where a
 * domain's new row is, is noted beside the domain and looked at before it is believed. */
#include "kernel/commit/placement_kept.h"

uint32_t sl_plan_row_hints[SL_DOMAINS_MAX];

/*@
  requires id:         id < SL_WORKLOADS_MAX && sl_workloads[id].unhealthy_count <= SL_UNHEALTHY_MAX;
  requires domain:     domain < SL_DOMAINS_MAX && sl_domain_sites[domain] != 0;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> SiteFailed(id, domain);
*/
static bool has_failed(sl_workload_id id, sl_domain_id domain)
{
    /*@
      loop invariant index: 0 <= i <= sl_workloads[id].unhealthy_count;
      loop invariant none:  \forall integer j; 0 <= j < i ==>
                              sl_domain_sites[domain] - 1 != sl_workloads[id].unhealthy[j];
      loop assigns          i;
      loop variant          sl_workloads[id].unhealthy_count - i;
    */
    for (uint32_t i = 0; i < sl_workloads[id].unhealthy_count; i++) {
        if (sl_domain_sites[domain] - 1 == sl_workloads[id].unhealthy[i]) {
            return true;
        }
    }
    return false;
}

/*@
  requires set:        set < SL_TOPOLOGY_SETS_MAX && SetBounded(set);
  requires rows:       RowsPlaced(set, sl_topology_plan.sets[set].row_count);
  terminates           \true;
  exits                \false;
  assigns              sl_plan_row_hints[0 .. SL_DOMAINS_MAX - 1];
  ensures  noted:      RowsNoted(sl_topology_plan.sets[set].first_row, sl_topology_plan.sets[set].row_count);
*/
static void note_rows(uint32_t set)
{
    uint32_t first = sl_topology_plan.sets[set].first_row;
    /*@
      loop invariant index: 0 <= i <= sl_topology_plan.sets[set].row_count;
      loop invariant noted: RowsNoted(first, i);
      loop assigns          i, sl_plan_row_hints[0 .. SL_DOMAINS_MAX - 1];
      loop variant          sl_topology_plan.sets[set].row_count - i;
    */
    for (uint32_t i = 0; i < sl_topology_plan.sets[set].row_count; i++) {
        //@ assert placed: RowPlaced(set, first + i);
        sl_plan_row_hints[sl_topology_plan.rows[first + i].domain] = first + i;
    }
}

/* Does the row at the hint belong to the set, and keep as many pods on the domain? */
/*@
  requires domain:     domain < SL_DOMAINS_MAX;
  requires rows:       RowsOfSets;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  hinted:     \result <==> RowKeeps(set, domain, pods, sl_plan_row_hints[domain]);
  ensures  kept:       \result ==> PlanKeeps(sl_topology_plan.sets[set].pod_set, domain, pods);
*/
static bool keeps_row(uint32_t set, sl_domain_id domain, uint32_t pods)
{
    uint32_t row = sl_plan_row_hints[domain];
    return row < sl_topology_plan.row_count && sl_plan_row_sets[row] == set &&
           sl_topology_plan.rows[row].domain == domain && sl_topology_plan.rows[row].count >= pods;
}

/* Is a row of the pool of that pod set, and kept? */
/*@
  requires id:         id < SL_WORKLOADS_MAX && sl_workloads[id].unhealthy_count <= SL_UNHEALTHY_MAX;
  requires row:        row < SL_BOOKINGS_MAX && 0 < sl_assigned_pods[row];
  requires placed:     AssignedPlaced;
  requires set:        set < sl_topology_plan.set_count && RowsOfSets;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  hinted:     \result <==> AssignmentHinted(id, set, row);
  ensures  kept:       \result ==> AssignmentKept(id, row);
*/
static bool assignment_kept(sl_workload_id id, uint32_t set, uint32_t row)
{
    sl_domain_id domain = sl_assigned_domains[row];
    return sl_assigned_sets[row] == sl_topology_plan.sets[set].pod_set &&
           (has_failed(id, domain) || keeps_row(set, domain, sl_assigned_pods[row]));
}

/* From the row at `index` on, those of the set's pod set: the first that is not kept, or is of another one. */
/*@
  requires inv:        TopologyInv;
  requires id:         sl_topology_plan.workload < SL_WORKLOADS_MAX;
  requires count:      sl_workloads[sl_topology_plan.workload].unhealthy_count <= SL_UNHEALTHY_MAX;
  requires set:        set < sl_topology_plan.set_count && RowsOfSets;
  requires index:      index <= sl_assigned_counts[sl_topology_plan.workload];
  requires before:     AssignedKept(sl_topology_plan.workload, index);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  index:      index <= \result <= sl_assigned_counts[sl_topology_plan.workload];
  ensures  kept:       AssignedKept(sl_topology_plan.workload, \result);
  ensures  first:      \result < sl_assigned_counts[sl_topology_plan.workload] ==>
                         !AssignmentHinted(sl_topology_plan.workload, set,
                           sl_booking_firsts[sl_topology_plan.workload] + \result);
*/
static uint32_t walk(uint32_t set, uint32_t index)
{
    sl_workload_id id = sl_topology_plan.workload;
    uint32_t i = index;
    //@ assert block: BlockSound(id) && AssignedFirst(id);
    /*@
      loop invariant index: index <= i <= sl_assigned_counts[id];
      loop invariant kept:  AssignedKept(id, i);
      loop assigns          i;
      loop variant          sl_assigned_counts[id] - i;
    */
    while (i < sl_assigned_counts[id] && assignment_kept(id, set, sl_booking_firsts[id] + i)) {
        i++;
    }
    return i;
}

enum sl_status sl_placement_keeps(void)
{
    uint32_t index = 0;
    /*@
      loop invariant set:   0 <= s <= sl_topology_plan.set_count;
      loop invariant count: sl_workloads[sl_topology_plan.workload].unhealthy_count <= SL_UNHEALTHY_MAX;
      loop invariant index: index <= sl_assigned_counts[sl_topology_plan.workload];
      loop invariant kept:  AssignedKept(sl_topology_plan.workload, index);
      loop assigns          s, index, sl_plan_row_hints[0 .. SL_DOMAINS_MAX - 1];
      loop variant          sl_topology_plan.set_count - s;
    */
    for (uint32_t s = 0; s < sl_topology_plan.set_count; s++) {
        //@ assert set: SetFollows(s) && SetGood(s, 1);
        note_rows(s);
        index = walk(s, index);
    }
    return index == sl_assigned_counts[sl_topology_plan.workload] ? SL_OK : SL_REFUSED_NOT_KEPT;
}
