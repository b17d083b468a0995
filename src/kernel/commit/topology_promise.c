/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Promised rooms are listed, so that clearing costs what was promised. A promise never grows beyond the largest
 * amount: where that much is promised nothing more fits anyway. */
#include "kernel/topology/topology.h"

uint32_t sl_room_promises;
uint32_t sl_room_promise_rooms[SL_BOOKINGS_MAX];

/*@
  requires room:       room < SL_ROOMS_MAX && 0 <= amount <= SL_AMOUNT_MAX;
  requires inv:        RoomsBounded && PromisesListed && sl_room_promises < SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_room_promises, sl_room_promise_rooms[sl_room_promises], sl_room_promised[room];
  ensures  inv:        RoomsBounded && PromisesListed;
  ensures  longer:     sl_room_promises == \old(sl_room_promises) + 1;
  ensures  promised:   sl_room_promised[room] == \min(SL_AMOUNT_MAX, \old(sl_room_promised[room]) + amount);
*/
static void promise(uint32_t room, int64_t amount)
{
    sl_room_promise_rooms[sl_room_promises] = room;
    sl_room_promises++;
    if (sl_room_promised[room] > SL_AMOUNT_MAX - amount) {
        sl_room_promised[room] = SL_AMOUNT_MAX;
    } else {
        sl_room_promised[room] += amount;
    }
    //@ assert listed: sl_room_promise_rooms[sl_room_promises - 1] == room;
    /*@ assert before: \forall integer i; 0 <= i < sl_room_promises - 1 ==>
          sl_room_promise_rooms[i] == \at(sl_room_promise_rooms[i], Pre); */
}

/*@
  requires needs:      NeedsInRange;
  requires inv:        RoomsBounded && PromisesListed && sl_room_promises + sl_need_count <= SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_room_promises, sl_room_promise_rooms[0 .. SL_BOOKINGS_MAX - 1],
                       sl_room_promised[0 .. SL_ROOMS_MAX - 1];
  ensures  inv:        RoomsBounded && PromisesListed;
  ensures  promised:   \forall integer r; 0 <= r < SL_ROOMS_MAX ==> sl_room_promised[r] ==
                         \min(SL_AMOUNT_MAX, \old(sl_room_promised[r]) + NeedSum(r, sl_need_count));
*/
static void promise_needs(void)
{
    /*@
      loop invariant index:    0 <= i <= sl_need_count;
      loop invariant inv:      RoomsBounded && PromisesListed;
      loop invariant count:    sl_room_promises == \at(sl_room_promises, Pre) + i;
      loop invariant promised: \forall integer r; 0 <= r < SL_ROOMS_MAX ==> sl_room_promised[r] ==
                                 \min(SL_AMOUNT_MAX, \at(sl_room_promised[r], Pre) + NeedSum(r, i));
      loop assigns             i, sl_room_promises, sl_room_promise_rooms[0 .. SL_BOOKINGS_MAX - 1],
                               sl_room_promised[0 .. SL_ROOMS_MAX - 1];
      loop variant             sl_need_count - i;
    */
    for (uint32_t i = 0; i < sl_need_count; i++) {
        promise(sl_need_rooms[i], sl_need_amounts[i]);
    }
}

enum sl_status sl_topology_promise(void)
{
    enum sl_status status = sl_topology_form(true);
    if (status == SL_OK) {
        status = sl_topology_list_needs();
    }
    if (status != SL_OK) {
        return status;
    }
    if (sl_need_count > SL_BOOKINGS_MAX - sl_room_promises) {
        return SL_FULL_BOOKINGS;
    }
    promise_needs();
    return SL_OK;
}

void sl_topology_promise_clear(void)
{
    /*@
      loop invariant inv:    RoomsBounded && PromisesListed;
      loop assigns           sl_room_promises, sl_room_promised[0 .. SL_ROOMS_MAX - 1];
      loop variant           sl_room_promises;
    */
    while (sl_room_promises > 0) {
        sl_room_promises--;
        sl_room_promised[sl_room_promise_rooms[sl_room_promises]] = 0;
    }
}
