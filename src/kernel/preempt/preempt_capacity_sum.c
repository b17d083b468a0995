/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Sums per capacity are made by adding up lists, and made zero again by going over the same lists. */
#include "kernel/preempt/preempt_capacity.h"

int64_t sl_preempt_wanted[SL_CAPACITIES_MAX];
int64_t sl_preempt_freed[SL_CAPACITIES_MAX];
int64_t sl_preempt_left[SL_CAPACITIES_MAX];

/* No part of a workload's rows has more of a capacity than all of them. */
/*@ ghost
  /@ requires ready:     CapacityReady;
     requires known:     id < SL_WORKLOADS_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  rows:      \forall integer r, n; 0 <= n <= sl_booking_counts[id] ==>
                           0 <= RowsAt(id, r, n) <= RowsAt(id, r, sl_booking_counts[id]);
  @/
  static void lemma_rows(sl_workload_id id)
  {
    /@ loop invariant index: 0 <= i <= sl_booking_counts[id];
       loop invariant rows:  \forall integer r, n; 0 <= n <= i ==> 0 <= RowsAt(id, r, n) <= RowsAt(id, r, i);
       loop assigns          i;
       loop variant          sl_booking_counts[id] - i;
    @/
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
    }
  }
*/

/* How far the items were added before one would be out of bounds. */
/*@
  requires items:      NeedsInRange;
  requires zero:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_preempt_wanted[r] == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_wanted[0 .. SL_CAPACITIES_MAX - 1];
  ensures  sums:       \result ==> \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         0 <= sl_preempt_wanted[r] == NeedSum(r, sl_need_count) <= SL_AMOUNT_MAX;
  ensures  others:     \forall integer r; 0 <= r < SL_CAPACITIES_MAX && sl_preempt_wanted[r] != 0 ==>
                         \exists integer k; 0 <= k < sl_need_count && sl_need_capacities[k] == r;
*/
static bool want_all(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_need_count;
      loop invariant sums:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                               0 <= sl_preempt_wanted[r] == NeedSum(r, i) <= SL_AMOUNT_MAX;
      loop invariant others: \forall integer r; 0 <= r < SL_CAPACITIES_MAX && sl_preempt_wanted[r] != 0 ==>
                               \exists integer k; 0 <= k < i && sl_need_capacities[k] == r;
      loop assigns           i, sl_preempt_wanted[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_need_count - i;
    */
    for (uint32_t i = 0; i < sl_need_count; i++) {
        uint32_t capacity = sl_need_capacities[i];
        if (sl_preempt_wanted[capacity] > SL_AMOUNT_MAX - sl_need_amounts[i]) {
            return false;
        }
        sl_preempt_wanted[capacity] += sl_need_amounts[i];
    }
    return true;
}

/* Add what one victim has booked. More than is used would be a defect of the bookings: it is refused. */
/*@
  requires ready:      CapacityReady;
  requires victim:     index < sl_preempt_plan.victim_count;
  requires sums:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         0 <= sl_preempt_freed[r] == VictimsBooked(r, index) <= sl_site_used[r];
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
  ensures  sums:       \result ==> \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         0 <= sl_preempt_freed[r] == VictimsBooked(r, index + 1) <= sl_site_used[r];
  ensures  others:     \forall integer r; 0 <= r < SL_CAPACITIES_MAX && sl_preempt_freed[r] != \old(sl_preempt_freed[r]) ==>
                         BooksCapacity(sl_preempt_plan.victims[index], r);
*/
static bool free_victim(uint32_t index)
{
    sl_workload_id id = sl_preempt_plan.victims[index];
    uint32_t first = sl_booking_firsts[id];
    //@ ghost lemma_rows(id);
    /*@
      loop invariant index:  0 <= i <= sl_booking_counts[id];
      loop invariant sums:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                               0 <= sl_preempt_freed[r] == VictimsBooked(r, index) + OwnSum(id, r, i) <=
                               sl_site_used[r];
      loop invariant others: \forall integer r; 0 <= r < SL_CAPACITIES_MAX && RowsAt(id, r, i) == 0 ==>
                               sl_preempt_freed[r] == \at(sl_preempt_freed[r], Pre);
      loop assigns           i, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        uint32_t capacity = sl_booking_capacities[first + i];
        if (sl_booking_amounts[first + i] > sl_site_used[capacity] - sl_preempt_freed[capacity]) {
            return false;
        }
        sl_preempt_freed[capacity] += sl_booking_amounts[first + i];
    }
    return true;
}

/* The same of one that is gone. */
/*@
  requires ready:      CapacityReady;
  requires gone:       index < sl_preempt_plan.gone_count;
  requires sums:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         0 <= sl_preempt_left[r] == GoneBooked(r, index) <= sl_site_used[r];
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_left[0 .. SL_CAPACITIES_MAX - 1];
  ensures  sums:       \result ==> \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         0 <= sl_preempt_left[r] == GoneBooked(r, index + 1) <= sl_site_used[r];
  ensures  others:     \forall integer r; 0 <= r < SL_CAPACITIES_MAX && sl_preempt_left[r] != \old(sl_preempt_left[r]) ==>
                         BooksCapacity(sl_preempt_plan.gone[index], r);
*/
static bool leave_gone(uint32_t index)
{
    sl_workload_id id = sl_preempt_plan.gone[index];
    uint32_t first = sl_booking_firsts[id];
    //@ ghost lemma_rows(id);
    /*@
      loop invariant index:  0 <= i <= sl_booking_counts[id];
      loop invariant sums:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                               0 <= sl_preempt_left[r] == GoneBooked(r, index) + OwnSum(id, r, i) <=
                               sl_site_used[r];
      loop invariant others: \forall integer r; 0 <= r < SL_CAPACITIES_MAX && RowsAt(id, r, i) == 0 ==>
                               sl_preempt_left[r] == \at(sl_preempt_left[r], Pre);
      loop assigns           i, sl_preempt_left[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        uint32_t capacity = sl_booking_capacities[first + i];
        if (sl_booking_amounts[first + i] > sl_site_used[capacity] - sl_preempt_left[capacity]) {
            return false;
        }
        sl_preempt_left[capacity] += sl_booking_amounts[first + i];
    }
    return true;
}

/*@
  requires ready:      CapacityReady;
  requires zero:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_preempt_freed[r] == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
  ensures  sums:       \result ==> \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         0 <= sl_preempt_freed[r] == VictimsBooked(r, sl_preempt_plan.victim_count) <=
                         sl_site_used[r];
  ensures  others:     FreedTouched(sl_preempt_plan.victim_count);
*/
static bool free_all(void)
{
    bool done = true;
    /*@
      loop invariant index:  0 <= i <= sl_preempt_plan.victim_count;
      loop invariant sums:   done ==> \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                               0 <= sl_preempt_freed[r] == VictimsBooked(r, i) <= sl_site_used[r];
      loop invariant others: FreedTouched(i);
      loop assigns           i, done, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_preempt_plan.victim_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count && done; i++) {
        done = free_victim(i);
    }
    return done;
}

/*@
  requires ready:      CapacityReady;
  requires zero:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_preempt_left[r] == 0;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_left[0 .. SL_CAPACITIES_MAX - 1];
  ensures  sums:       \result ==> \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         0 <= sl_preempt_left[r] == GoneBooked(r, sl_preempt_plan.gone_count) <=
                         sl_site_used[r];
  ensures  others:     LeftTouched(sl_preempt_plan.gone_count);
*/
static bool leave_all(void)
{
    bool done = true;
    /*@
      loop invariant index:  0 <= i <= sl_preempt_plan.gone_count;
      loop invariant sums:   done ==> \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                               0 <= sl_preempt_left[r] == GoneBooked(r, i) <= sl_site_used[r];
      loop invariant others: LeftTouched(i);
      loop assigns           i, done, sl_preempt_left[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_preempt_plan.gone_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.gone_count && done; i++) {
        done = leave_gone(i);
    }
    return done;
}

bool sl_preempt_capacity_sum(void)
{
    bool wanted = want_all();
    bool freed = free_all();
    bool left = leave_all();
    return wanted && freed && left;
}

/* Make zero whatever a workload may have added. */
/*@
  requires ready:      CapacityReady;
  requires known:      id < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1], sl_preempt_left[0 .. SL_CAPACITIES_MAX - 1];
  ensures  zero:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX && BooksCapacity(id, r) ==>
                         sl_preempt_freed[r] == 0 && sl_preempt_left[r] == 0;
  ensures  same:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX && !BooksCapacity(id, r) ==>
                         sl_preempt_freed[r] == \old(sl_preempt_freed[r]) &&
                         sl_preempt_left[r] == \old(sl_preempt_left[r]);
*/
static void wipe(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    //@ ghost lemma_rows(id);
    /*@
      loop invariant index:  0 <= i <= sl_booking_counts[id];
      loop invariant zero:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX && RowsAt(id, r, i) > 0 ==>
                               sl_preempt_freed[r] == 0 && sl_preempt_left[r] == 0;
      loop invariant same:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX && RowsAt(id, r, i) == 0 ==>
                               sl_preempt_freed[r] == \at(sl_preempt_freed[r], Pre) &&
                               sl_preempt_left[r] == \at(sl_preempt_left[r], Pre);
      loop assigns           i, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1], sl_preempt_left[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        uint32_t capacity = sl_booking_capacities[first + i];
        sl_preempt_freed[capacity] = 0;
        sl_preempt_left[capacity] = 0;
    }
}

/* Every room that somebody of the lists has booked is zero again. */
/*@
  requires ready:      CapacityReady;
  requires touched:    CapacityTouched;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1], sl_preempt_left[0 .. SL_CAPACITIES_MAX - 1];
  ensures  zero:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_preempt_freed[r] == 0 && sl_preempt_left[r] == 0;
*/
static void wipe_all(void)
{
    /*@
      loop invariant index:  0 <= i <= sl_preempt_plan.victim_count;
      loop invariant freed:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX && (\forall integer j; i <= j <
                               sl_preempt_plan.victim_count ==> !BooksCapacity(sl_preempt_plan.victims[j], r)) ==>
                               sl_preempt_freed[r] == 0;
      loop invariant left:   LeftTouched(sl_preempt_plan.gone_count);
      loop assigns           i, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1], sl_preempt_left[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_preempt_plan.victim_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        wipe(sl_preempt_plan.victims[i]);
    }
    /*@
      loop invariant index:  0 <= i <= sl_preempt_plan.gone_count;
      loop invariant freed:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_preempt_freed[r] == 0;
      loop invariant left:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX && (\forall integer j; i <= j <
                               sl_preempt_plan.gone_count ==> !BooksCapacity(sl_preempt_plan.gone[j], r)) ==>
                               sl_preempt_left[r] == 0;
      loop assigns           i, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1], sl_preempt_left[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_preempt_plan.gone_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.gone_count; i++) {
        wipe(sl_preempt_plan.gone[i]);
    }
}

void sl_preempt_capacity_close(void)
{
    wipe_all();
    /*@
      loop invariant index:  0 <= i <= sl_need_count;
      loop invariant wanted: \forall integer r; 0 <= r < SL_CAPACITIES_MAX && sl_preempt_wanted[r] != 0 ==>
                               \exists integer k; i <= k < sl_need_count && sl_need_capacities[k] == r;
      loop assigns           i, sl_preempt_wanted[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_need_count - i;
    */
    for (uint32_t i = 0; i < sl_need_count; i++) {
        sl_preempt_wanted[sl_need_capacities[i]] = 0;
    }
}
