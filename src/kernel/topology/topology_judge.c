/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What booking the items would change, room by room: added up in a scratch array, which is made zero again by
 * taking back each amount. */
#include "kernel/topology/topology_needs.h"

int64_t sl_room_change[SL_ROOMS_MAX];

/* Partial sums of items grow, and only rooms that items name have one. */
/*@ ghost
  /@ requires range:     NeedsInRange;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  grows:     \forall integer r, k, m; 0 <= k <= m <= sl_need_count ==>
                           0 <= NeedSum(r, k) <= NeedSum(r, m);
     ensures  named:     \forall integer r; 0 < NeedSum(r, sl_need_count) ==>
                           \exists integer k; 0 <= k < sl_need_count && sl_need_rooms[k] == r;
  @/
  static void lemma_needs(void)
  {
    /@ loop invariant index: 0 <= n <= sl_need_count;
       loop invariant grows: \forall integer r, k, m; 0 <= k <= m <= n ==> 0 <= NeedSum(r, k) <= NeedSum(r, m);
       loop invariant named: \forall integer r; 0 < NeedSum(r, n) ==>
                               \exists integer k; 0 <= k < n && sl_need_rooms[k] == r;
       loop assigns          n;
       loop variant          sl_need_count - n;
    @/
    for (uint32_t n = 0; n < sl_need_count; n++) ;
  }
*/

/* What a workload has booked of a room is part of what is used of it. */
/*@ ghost
  /@ requires range:     RowsInRange;
     requires block:     id < SL_WORKLOADS_MAX && sl_booking_firsts[id] + sl_booking_counts[id] <= SL_BOOKINGS_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  part:      \forall integer r, k; 0 <= k <= sl_booking_counts[id] ==>
                           0 <= OwnSum(id, r, k) <= RoomSum(r, SL_BOOKINGS_MAX);
  @/
  static void lemma_own_is_part(sl_workload_id id)
  {
    /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
       loop invariant grows: \forall integer r, m; 0 <= m <= n ==> 0 <= RoomSum(r, m) <= RoomSum(r, n);
       loop assigns          n;
       loop variant          SL_BOOKINGS_MAX - n;
    @/
    for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
    /@ loop invariant index: 0 <= i <= sl_booking_counts[id];
       loop invariant part:  \forall integer r, k; 0 <= k <= i ==>
                               0 <= OwnSum(id, r, k) <= RoomSum(r, sl_booking_firsts[id] + k);
       loop assigns          i;
       loop variant          sl_booking_counts[id] - i;
    @/
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) ;
  }
*/

/* Add what is needed; how many items there were before an amount would have been out of bounds. */
/*@
  requires needs:      NeedsInRange;
  requires zero:       ChangeZero;
  terminates           \true;
  exits                \false;
  assigns              sl_room_change[0 .. SL_ROOMS_MAX - 1];
  ensures  count:      \result <= sl_need_count;
  ensures  sums:       \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                         sl_room_change[r] == NeedSum(r, \result) && 0 <= sl_room_change[r] <= SL_AMOUNT_MAX;
  ensures  fair:       NeedsBounded ==> \result == sl_need_count;
*/
static uint32_t add_needs(void)
{
    uint32_t i = 0;
    //@ ghost lemma_needs();
    /*@
      loop invariant index: 0 <= i <= sl_need_count;
      loop invariant sums:  \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                              sl_room_change[r] == NeedSum(r, i) && 0 <= sl_room_change[r] <= SL_AMOUNT_MAX;
      loop assigns          i, sl_room_change[0 .. SL_ROOMS_MAX - 1];
      loop variant          sl_need_count - i;
    */
    while (i < sl_need_count &&
           sl_room_change[sl_need_rooms[i]] <= SL_AMOUNT_MAX - sl_need_amounts[i]) {
        sl_room_change[sl_need_rooms[i]] += sl_need_amounts[i];
        i++;
    }
    /*@ assert over: i < sl_need_count ==> NeedSum(sl_need_rooms[i], i + 1) > SL_AMOUNT_MAX &&
          NeedSum(sl_need_rooms[i], i + 1) <= NeedSum(sl_need_rooms[i], sl_need_count); */
    return i;
}

/*@
  requires needs:      NeedsInRange && count <= sl_need_count;
  requires sums:       \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                         sl_room_change[r] == NeedSum(r, count) && sl_room_change[r] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_room_change[0 .. SL_ROOMS_MAX - 1];
  ensures  zero:       ChangeZero;
*/
static void take_back_needs(uint32_t count)
{
    //@ ghost lemma_needs();
    /*@
      loop invariant index: 0 <= i <= count;
      loop invariant sums:  \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                              sl_room_change[r] == NeedSum(r, count) - NeedSum(r, i);
      loop assigns          i, sl_room_change[0 .. SL_ROOMS_MAX - 1];
      loop variant          count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        //@ assert step: 0 <= NeedSum(sl_need_rooms[i], i + 1) <= NeedSum(sl_need_rooms[i], count);
        sl_room_change[sl_need_rooms[i]] -= sl_need_amounts[i];
    }
}

/* What the workload has booked would be free. */
/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires inv:        BookingsInv;
  requires needs:      NeedsInRange;
  requires sums:       \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                         sl_room_change[r] == NeedSum(r, sl_need_count) && 0 <= sl_room_change[r] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_room_change[0 .. SL_ROOMS_MAX - 1];
  ensures  sums:       \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                         sl_room_change[r] == More(id, r) && -SL_AMOUNT_MAX <= sl_room_change[r] <= SL_AMOUNT_MAX;
*/
static void add_own(sl_workload_id id)
{
    //@ ghost lemma_own_is_part(id);
    /*@
      loop invariant index: 0 <= i <= sl_booking_counts[id];
      loop invariant sums:  \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                              sl_room_change[r] == NeedSum(r, sl_need_count) - OwnSum(id, r, i);
      loop assigns          i, sl_room_change[0 .. SL_ROOMS_MAX - 1];
      loop variant          sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        uint32_t row = sl_booking_firsts[id] + i;
        //@ assert step: OwnSum(id, sl_booking_rooms[row], i + 1) <= SL_AMOUNT_MAX;
        sl_room_change[sl_booking_rooms[row]] -= sl_booking_amounts[row];
    }
}

/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires inv:        BookingsInv;
  requires needs:      NeedsInRange;
  requires sums:       \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                         sl_room_change[r] == More(id, r) && -SL_AMOUNT_MAX <= sl_room_change[r] <= SL_AMOUNT_MAX;
  requires most:       \forall integer r; 0 <= r < SL_ROOMS_MAX ==> NeedSum(r, sl_need_count) <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_room_change[0 .. SL_ROOMS_MAX - 1];
  ensures  sums:       \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                         sl_room_change[r] == NeedSum(r, sl_need_count);
*/
static void take_back_own(sl_workload_id id)
{
    //@ ghost lemma_own_is_part(id);
    /*@
      loop invariant index: 0 <= i <= sl_booking_counts[id];
      loop invariant sums:  \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                              sl_room_change[r] == More(id, r) + OwnSum(id, r, i);
      loop assigns          i, sl_room_change[0 .. SL_ROOMS_MAX - 1];
      loop variant          sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        uint32_t row = sl_booking_firsts[id] + i;
        //@ assert step: OwnSum(id, sl_booking_rooms[row], i + 1) <= SL_AMOUNT_MAX;
        sl_room_change[sl_booking_rooms[row]] += sl_booking_amounts[row];
    }
}

/*@
  requires room:       room < SL_ROOMS_MAX;
  requires range:      UsedInRange && RoomsBounded;
  requires change:     -SL_AMOUNT_MAX <= sl_room_change[room] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> ChangeFits(room, ask);
*/
static bool room_suffices(uint32_t room, bool ask)
{
    int64_t more = sl_room_change[room];
    if (more <= 0) {
        return true;
    }
    return ask ? sl_room_used[room] + sl_room_promised[room] <= sl_room_capacity[room] - more
               : sl_room_used[room] <= SL_AMOUNT_MAX - more;
}

/*@
  requires range:      UsedInRange && RoomsBounded;
  requires needs:      NeedsInRange;
  requires change:     \forall integer r; 0 <= r < SL_ROOMS_MAX ==>
                         -SL_AMOUNT_MAX <= sl_room_change[r] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  suffice:    \result <==> \forall integer k; 0 <= k < sl_need_count ==>
                         ChangeFits(sl_need_rooms[k], ask);
*/
static bool rooms_suffice(bool ask)
{
    /*@
      loop invariant index: 0 <= i <= sl_need_count;
      loop invariant suffice: \forall integer k; 0 <= k < i ==> ChangeFits(sl_need_rooms[k], ask);
      loop assigns          i;
      loop variant          sl_need_count - i;
    */
    for (uint32_t i = 0; i < sl_need_count; i++) {
        if (!room_suffices(sl_need_rooms[i], ask)) {
            return false;
        }
    }
    return true;
}

enum sl_status sl_topology_judge_needs(sl_workload_id id, bool ask)
{
    uint32_t added = add_needs();
    bool good = false;
    if (added == sl_need_count) {
        add_own(id);
        //@ ghost lemma_needs();
        //@ ghost lemma_own_is_part(id);
        good = rooms_suffice(ask);
        /*@ assert others: \forall integer r; 0 <= r < SL_ROOMS_MAX && NeedSum(r, sl_need_count) <= 0 ==>
              More(id, r) <= 0; */
        //@ assert judged: good ==> RoomsJudged(id, ask);
        //@ assert fair: RoomsJudged(id, ask) ==> good;
        take_back_own(id);
    }
    take_back_needs(added);
    return good ? SL_OK : SL_REFUSED_ROOM;
}
