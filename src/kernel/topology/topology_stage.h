/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From judging a plan to booking it: for placement only. */
#ifndef SL_KERNEL_TOPOLOGY_STAGE_H
#define SL_KERNEL_TOPOLOGY_STAGE_H
#include "kernel/topology/topology.h"

/* The block that the plan judged last may be booked in; SL_NO_ID = none. */
extern uint32_t sl_stage_block;

#include "specs/topology_stage.acsl"

/* Judge sl_topology_plan, which has sets, and reserve a block for it. `ask`: as sl_topology_check; else only open
 * bottom domains, and amounts in bounds. What was reserved is booked or dropped next. */
/*@
  requires inv:        TopologyInv;
  terminates           \true;
  exits                \false;
  assigns              SL_NEEDS, sl_site_change[0 .. SL_CAPACITIES_MAX - 1], SL_POOL, sl_stage_block;
  ensures  inv:        TopologyInv;
  ensures  staged:     \result == SL_OK ==> PlanJudged(ask) && BlockStaged;
  ensures  nothing:    \result != SL_OK ==> sl_stage_block == SL_NO_ID;
*/
enum sl_status sl_stage_begin(bool ask) SL_MUST_CHECK;

/* As sl_stage_begin with `ask`, for a plan that is booked in place of all that `old` has booked: that counts as free. A
 * plan that uses no more of any capacity than `old` fits, whatever the capacities are by now. */
/*@
  requires inv:        TopologyInv;
  terminates           \true;
  exits                \false;
  assigns              SL_NEEDS, sl_site_change[0 .. SL_CAPACITIES_MAX - 1], SL_POOL, sl_stage_block;
  ensures  inv:        TopologyInv;
  ensures  staged:     \result == SL_OK ==> old < SL_WORKLOADS_MAX && PlanJudgedBeside(old, 1) && BlockStaged;
  ensures  shrinks:    \result == SL_REFUSED_CAPACITY ==> NeedsGrow(old);
  ensures  nothing:    \result != SL_OK ==> sl_stage_block == SL_NO_ID;
*/
enum sl_status sl_stage_exchange(sl_workload_id old) SL_MUST_CHECK;

/*@
  requires inv:        TopologyInv;
  requires staged:     BlockStaged;
  terminates           \true;
  exits                \false;
  assigns              SL_POOL, sl_stage_block;
  ensures  inv:        TopologyInv;
  ensures  given:      BlockGiven(\old(sl_stage_block), sl_need_count);
  ensures  nothing:    sl_stage_block == SL_NO_ID;
*/
void sl_stage_drop(void);

/*@
  requires inv:        TopologyInv;
  requires staged:     PlanStaged;
  terminates           \true;
  exits                \false;
  assigns              SL_BOOKING, sl_stage_block;
  ensures  inv:        TopologyInv;
  ensures  nothing:    sl_stage_block == SL_NO_ID;
  ensures  booked:     PlanBooked(sl_topology_plan.workload);
  ensures  used:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_used[r] == \old(sl_site_used[r] + More(sl_topology_plan.workload, r));
*/
void sl_stage_book(void);

/* Book what was staged in place of what `old` has booked. */
/*@
  requires inv:        TopologyInv;
  requires staged:     PlanJudgedBeside(old, 0) && BlockStaged;
  requires known:      old < SL_WORKLOADS_MAX && old != sl_topology_plan.workload;
  requires new:        sl_booking_counts[sl_topology_plan.workload] == 0;
  terminates           \true;
  exits                \false;
  assigns              SL_BOOKING, sl_stage_block, sl_booking_counts[old], sl_assigned_counts[old];
  ensures  inv:        TopologyInv;
  ensures  nothing:    sl_stage_block == SL_NO_ID;
  ensures  booked:     PlanBooked(sl_topology_plan.workload);
  ensures  none:       sl_booking_counts[old] == 0 && sl_assigned_counts[old] == 0;
  ensures  used:       CapacityExchanged{Pre,Post}(old, sl_need_count);
*/
void sl_stage_book_exchange(sl_workload_id old);
#endif
