/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preempt only: the capacities that sl_topology_plan wants, without the victims' bookings. Nothing
 * is booked or released for it. Owns the scratch arrays of capacities. */
#ifndef SL_KERNEL_PREEMPT_CAPACITY_H
#define SL_KERNEL_PREEMPT_CAPACITY_H
#include "kernel/preempt/preempt.h"
#include "kernel/base/status.h"

/* Without the victims and with promises kept, is there capacity for sl_topology_plan (one without
 * sets wants nothing)? Refused: BAD_ARGUMENT (form), FULL_BOOKINGS, CAPACITY. To be closed afterwards
 * in any case. Linear in the plan and in what victims and those of earlier plans have booked. */
/*@
  requires ready:      CapacityReady && TopologyReady;
  requires zero:       ScratchZero;
  terminates           \true;
  exits                \false;
  assigns              SL_CAPACITY_SCRATCH, SL_NEEDS;
  ensures  shown:      \result == SL_OK ==> CapacityShown && CapacityFits && PlanItems;
  ensures  touched:    NeedsInRange && CapacityTouched && WantedTouched;
*/
enum sl_status sl_preempt_capacity_open(void) SL_MUST_CHECK;

/* For open only: sum up the items, and what victims and those of earlier plans have booked. False:
 * a sum is out of bounds. */
/*@
  requires ready:      CapacityReady && NeedsInRange;
  requires zero:       ScratchZero;
  terminates           \true;
  exits                \false;
  assigns              SL_CAPACITY_SCRATCH;
  ensures  shown:      \result ==> CapacityShown;
  ensures  touched:    CapacityTouched && WantedTouched;
*/
bool sl_preempt_capacity_sum(void);

/* Would a capacity that the plan wants overflow if the victim at this index stayed, in the world that the plan was made
 * in? Between open and close. Linear in what the victim has booked. */
/*@
  requires ready:      CapacityReady;
  requires shown:      CapacityShown;
  requires index:      index < sl_preempt_plan.victim_count;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
  ensures  shown:      CapacityShown;
  ensures  same:       SameFreed{Pre,Post};
  ensures  needed:     \result ==> CapacityNeeded(index);
*/
bool sl_preempt_capacity_need(uint32_t index);

/*@
  requires ready:      CapacityReady && NeedsInRange;
  requires touched:    CapacityTouched && WantedTouched;
  terminates           \true;
  exits                \false;
  assigns              SL_CAPACITY_SCRATCH;
  ensures  zero:       ScratchZero;
*/
void sl_preempt_capacity_close(void);
#endif
