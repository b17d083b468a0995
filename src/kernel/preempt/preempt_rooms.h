/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preempt only: the rooms that sl_topology_plan wants, without the victims' bookings. Nothing
 * is booked or released for it. Owns the scratch arrays of rooms. */
#ifndef SL_KERNEL_PREEMPT_ROOMS_H
#define SL_KERNEL_PREEMPT_ROOMS_H
#include "kernel/preempt/preempt.h"
#include "kernel/base/status.h"

/* Without the victims and with promises kept, is there capacity for sl_topology_plan (one without
 * sets wants nothing)? Refused: BAD_ARGUMENT (form), FULL_BOOKINGS, ROOM. To be closed afterwards
 * in any case. Linear in the plan and in what victims and those of earlier plans have booked. */
/*@
  requires ready:      RoomsReady && TopologyReady;
  requires zero:       ScratchZero;
  terminates           \true;
  exits                \false;
  assigns              SL_ROOMS_SCRATCH, SL_NEEDS;
  ensures  shown:      \result == SL_OK ==> RoomsShown && RoomsFit && PlanItems;
  ensures  touched:    NeedsInRange && RoomsTouched && WantedTouched;
*/
enum sl_status sl_preempt_rooms_open(void) SL_MUST_CHECK;

/* For open only: sum up the items, and what victims and those of earlier plans have booked. False:
 * a sum is out of bounds. */
/*@
  requires ready:      RoomsReady && NeedsInRange;
  requires zero:       ScratchZero;
  terminates           \true;
  exits                \false;
  assigns              SL_ROOMS_SCRATCH;
  ensures  shown:      \result ==> RoomsShown;
  ensures  touched:    RoomsTouched && WantedTouched;
*/
bool sl_preempt_rooms_sum(void);

/* Would a room that the plan wants overflow if the victim at this index stayed, in the world that the plan was made
 * in? Between open and close. Linear in what the victim has booked. */
/*@
  requires ready:      RoomsReady;
  requires shown:      RoomsShown;
  requires index:      index < sl_preempt_plan.victim_count;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_freed[0 .. SL_ROOMS_MAX - 1];
  ensures  shown:      RoomsShown;
  ensures  same:       SameFreed{Pre,Post};
  ensures  needed:     \result ==> RoomNeeded(index);
*/
bool sl_preempt_rooms_need(uint32_t index);

/*@
  requires ready:      RoomsReady && NeedsInRange;
  requires touched:    RoomsTouched && WantedTouched;
  terminates           \true;
  exits                \false;
  assigns              SL_ROOMS_SCRATCH;
  ensures  zero:       ScratchZero;
*/
void sl_preempt_rooms_close(void);
#endif
