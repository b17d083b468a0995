/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What follows from topology's contracts alone; nothing here is part of the program. Nodes that come and go,
 * capacities that change, and preemptions keep what holds between any two calls; nobody is left standing on a closed
 * domain. */
#include "kernel/commit/placement.h"
#include "kernel/preempt/preempt.h"

/* A domain that nobody is counted on has nobody. */
/*@ ghost
  /@ terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  counted:   \forall integer b; 0 <= b < SL_BOOKINGS_MAX && sl_assigned_pods[b] > 0 ==>
                           0 < AssignedSum(sl_assigned_domains[b], SL_BOOKINGS_MAX);
  @/
  void theorem_assigned_count(void)
  {
    /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
       loop invariant least: \forall integer d; 0 <= AssignedSum(d, n);
       loop invariant some:  \forall integer b; 0 <= b < n && sl_assigned_pods[b] > 0 ==>
                               0 < AssignedSum(sl_assigned_domains[b], n);
       loop assigns          n;
       loop variant          SL_BOOKINGS_MAX - n;
    @/
    for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
  }
*/

/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              sl_domain_trees[0 .. SL_DOMAINS_MAX - 1], sl_domain_parents[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_sites[0 .. SL_DOMAINS_MAX - 1], sl_domain_children[0 .. SL_DOMAINS_MAX - 1];
  ensures  domains:    DomainsInv;
  ensures  assignments:     AssignedPlaced;
  ensures  bookings:   BookingsInv;
  ensures  rest:       CoreInv && BookedHeld && CapacityBounded && ChangeZero && BlockLinks;
  ensures  inv:        PlacementInv;
*/
enum sl_status theorem_close_keeps(sl_domain_id domain)
{
    //@ ghost theorem_assigned_count();
    enum sl_status status = sl_domain_close(domain);
    /*@ assert nobody: status == SL_OK ==> \forall integer b; 0 <= b < SL_BOOKINGS_MAX && sl_assigned_pods[b] > 0 ==>
          sl_assigned_domains[b] != domain; */
    return status;
}

/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              sl_domain_trees[0 .. SL_DOMAINS_MAX - 1], sl_domain_parents[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_sites[0 .. SL_DOMAINS_MAX - 1], sl_domain_depths[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_children[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_up[0 .. SL_DOMAINS_MAX - 1][0 .. SL_DEPTHS_MAX - 1], sl_domain_limit,
                       sl_domain_site_limit;
  ensures  domains:    DomainsInv;
  ensures  assignments:     AssignedPlaced;
  ensures  bookings:   BookingsInv;
  ensures  rest:       CoreInv && BookedHeld && CapacityBounded && ChangeZero && BlockLinks;
  ensures  inv:        PlacementInv;
*/
enum sl_status theorem_open_keeps(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent, sl_site_id site)
{
    /*@ assert standing: \forall integer b; 0 <= b < SL_BOOKINGS_MAX && sl_assigned_pods[b] > 0 ==>
          DomainOpen(sl_assigned_domains[b]); */
    return sl_domain_open(domain, tree, parent, site);
}

/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              sl_site_capacity[0 .. SL_CAPACITIES_MAX - 1];
  ensures  capacities:      CapacityBounded;
  ensures  inv:        PlacementInv;
*/
enum sl_status theorem_capacity_keeps(sl_site_id site, sl_measure_id measure, int64_t amount)
{
    return sl_site_set_capacity(site, measure, amount);
}

/* Victims keep quota and capacities until their jobs have stopped. */
/*@
  requires inv:        PlacementInv && QnodesLinked && PromisesValid && ScratchZero;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, SL_PREEMPT_SCRATCH, SL_CAPACITY_SCRATCH, SL_NEEDS,
                       sl_workloads[0 .. SL_WORKLOADS_MAX - 1], sl_places[0 .. SL_WORKLOADS_MAX - 1],
                       sl_usage_counts[0 .. SL_WORKLOADS_MAX - 1], sl_promises,
                       sl_promise_cells[0 .. SL_PROMISES_MAX - 1], sl_promise_amounts[0 .. SL_PROMISES_MAX - 1];
  ensures  held:       BookedHeld;
  ensures  inv:        PlacementInv;
*/
enum sl_status theorem_preemption_keeps(void)
{
    return sl_preempt_commit();
}
