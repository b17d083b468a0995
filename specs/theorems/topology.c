/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What follows from topology's contracts alone; nothing here is part of the program. Nodes that come and go, and
 * capacities that change, keep what holds between any two calls (KernelInv), as the doors of doors.c do; no workload is
 * left on a closed domain. */
#include "kernel/commit/placement.h"
#include "kernel/preempt/preempt.h"
#include "specs/kernel.acsl"

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

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_domain_trees[0 .. SL_DOMAINS_MAX - 1], sl_domain_parents[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_sites[0 .. SL_DOMAINS_MAX - 1], sl_domain_children[0 .. SL_DOMAINS_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_close_keeps_all(sl_domain_id domain)
{
    return theorem_close_keeps(domain);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_domain_trees[0 .. SL_DOMAINS_MAX - 1], sl_domain_parents[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_sites[0 .. SL_DOMAINS_MAX - 1], sl_domain_depths[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_children[0 .. SL_DOMAINS_MAX - 1],
                       sl_domain_up[0 .. SL_DOMAINS_MAX - 1][0 .. SL_DEPTHS_MAX - 1], sl_domain_limit,
                       sl_domain_site_limit;
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_open_keeps_all(sl_domain_id domain, sl_tree_id tree, sl_domain_id parent, sl_site_id site)
{
    return theorem_open_keeps(domain, tree, parent, site);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_site_capacity[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_capacity_keeps_all(sl_site_id site, sl_measure_id measure, int64_t amount)
{
    return theorem_capacity_keeps(site, measure, amount);
}
