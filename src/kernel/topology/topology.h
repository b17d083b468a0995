/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topology: trees of domains, and what the places at their bottom have room for. A *site* is such a place: one
 * node, shared by all trees that end at nodes, or a bottom domain of several nodes where a tree ends above them. A
 * *measure* is a resource that counts on sites (SL_MEASURE_PODS: the pods themselves). Workloads book room on sites;
 * what is used of a site is exactly what is booked on it. Owns domains, capacities and bookings. Carries G6 and, for
 * capacities, G2. Bounds: amounts 0 .. SL_AMOUNT_MAX. */
#ifndef SL_KERNEL_TOPOLOGY_H
#define SL_KERNEL_TOPOLOGY_H
#include "kernel/base/status.h"
#include "kernel/topology/topology_bookings.h"
#include "kernel/topology/topology_domains.h"
#include "kernel/topology/topology_needs.h"
#include "kernel/base/topology_plan.h"
#include "kernel/topology/topology_pool.h"
#include "kernel/topology/topology_capacity.h"

#include "specs/topology.acsl"
#include "specs/topology_valid.acsl"

/* Would sl_topology_plan be accepted: in form, and by the capacities as they are, what is promised taken (G6)? What the
 * workload itself has booked counts as free; a capacity that needs to give no more than before is enough. No effect.
 * Refused: BAD_ARGUMENT (form), CAPACITY, FULL_BOOKINGS. Linear in the plan and in what the workload has booked. */
/*@
  requires inv:        TopologyInv;
  terminates           \true;
  exits                \false;
  assigns              SL_NEEDS, sl_site_change[0 .. SL_CAPACITIES_MAX - 1], SL_POOL;
  ensures  inv:        TopologyInv;
  ensures  judged:     \result == SL_OK && sl_topology_plan.set_count > 0 ==> PlanJudged(1);
  ensures  fair:       sl_topology_plan.workload < SL_WORKLOADS_MAX && PlanForm(1) && NeedsBounded &&
                         CapacityJudged(sl_topology_plan.workload, 1) ==>
                         \result == SL_OK || \result == SL_FULL_BOOKINGS;
  ensures  none:       sl_topology_plan.set_count == 0 ==>
                         (\result == SL_OK <==> sl_topology_plan.row_count == 0);
*/
enum sl_status sl_topology_check(void) SL_MUST_CHECK;

/* Promise the plan's capacities to a workload that waits, until the cycle ends. Refused: as check, but
 * for CAPACITY. */
/*@
  requires inv:        TopologyInv && PromisesListed;
  terminates           \true;
  exits                \false;
  assigns              SL_NEEDS, sl_site_promises, sl_site_promise_capacities[0 .. SL_BOOKINGS_MAX - 1],
                       sl_site_promised[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        TopologyInv && PromisesListed;
  ensures  promised:   \result == SL_OK ==> \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_promised[r] ==
                           \min(SL_AMOUNT_MAX, \old(sl_site_promised[r]) + NeedSum(r, sl_need_count));
  ensures  form:       \result == SL_OK ==> PlanForm(1) && RowsListed(sl_topology_plan.row_count);
  ensures  refused:    \result != SL_OK ==> \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_promised[r] == \old(sl_site_promised[r]);
*/
enum sl_status sl_topology_promise(void) SL_MUST_CHECK;

/*@
  requires inv:        TopologyInv && PromisesListed;
  terminates           \true;
  exits                \false;
  assigns              sl_site_promises, sl_site_promised[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        TopologyInv && PromisesListed;
  ensures  none:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_site_promised[r] == 0;
*/
void sl_topology_promise_clear(void);

/* Are domains, blocks and bookings sound, and is what is used of each capacity what is booked there? Linear in what was
 * ever in use; asked between two calls only. Equal to TopologyChecked by proof. */
/*@
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  checked:    \result <==> \old(TopologyChecked);
  ensures  kept:       \old(ChangeZero) ==> ChangeZero;
*/
bool sl_topology_valid(void);
#endif
