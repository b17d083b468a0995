/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is wanted, and what would be free, is summed up room by room before the plan is judged. */
#include "kernel/preempt/preempt_capacity.h"

/* Sums are not negative, and none is less than one of its parts. */
/*@ ghost
  /@ requires ready:     CapacityReady;
     requires known:     id < SL_WORKLOADS_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  booked:    \forall integer r, n; 0 <= n <= sl_booking_counts[id] ==>
                           0 <= OwnSum(id, r, n) <= Booked(id, r);
  @/
  static void lemma_booked(sl_workload_id id)
  {
    /@ loop invariant index: 0 <= i <= sl_booking_counts[id];
       loop invariant least: \forall integer r, n; 0 <= n <= i ==> 0 <= OwnSum(id, r, n) <= OwnSum(id, r, i);
       loop assigns          i;
       loop variant          sl_booking_counts[id] - i;
    @/
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
    }
  }
*/

/*@ ghost
  /@ requires ready:     CapacityReady;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  victims:   \forall integer r; 0 <= VictimsBooked(r, sl_preempt_plan.victim_count);
     ensures  parts:     \forall integer r, i; 0 <= i < sl_preempt_plan.victim_count ==>
                           0 <= Booked(sl_preempt_plan.victims[i], r) <=
                             VictimsBooked(r, sl_preempt_plan.victim_count);
  @/
  static void lemma_victims(void)
  {
    /@ loop invariant index: 0 <= i <= sl_preempt_plan.victim_count;
       loop invariant least: \forall integer r; 0 <= VictimsBooked(r, i);
       loop invariant parts: \forall integer r, j; 0 <= j < i ==>
                               0 <= Booked(sl_preempt_plan.victims[j], r) <= VictimsBooked(r, i);
       loop assigns          i;
       loop variant          sl_preempt_plan.victim_count - i;
    @/
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
      lemma_booked(sl_preempt_plan.victims[i]);
    }
  }
*/

/*@ ghost
  /@ requires ready:     CapacityReady;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  gone:      \forall integer r; 0 <= GoneBooked(r, sl_preempt_plan.gone_count);
  @/
  static void lemma_gone(void)
  {
    /@ loop invariant index: 0 <= i <= sl_preempt_plan.gone_count;
       loop invariant least: \forall integer r; 0 <= GoneBooked(r, i);
       loop assigns          i;
       loop variant          sl_preempt_plan.gone_count - i;
    @/
    for (uint32_t i = 0; i < sl_preempt_plan.gone_count; i++) {
      lemma_booked(sl_preempt_plan.gone[i]);
    }
  }
*/

/*@ ghost
  /@ requires items:     NeedsInRange;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  wanted:    \forall integer r, n; 0 <= n <= sl_need_count ==>
                           0 <= NeedSum(r, n) <= NeedSum(r, sl_need_count);
  @/
  static void lemma_wanted(void)
  {
    /@ loop invariant index: 0 <= i <= sl_need_count;
       loop invariant least: \forall integer r, n; 0 <= n <= i ==> 0 <= NeedSum(r, n) <= NeedSum(r, i);
       loop assigns          i;
       loop variant          sl_need_count - i;
    @/
    for (uint32_t i = 0; i < sl_need_count; i++) {
    }
  }
*/

/* Does a capacity suffice, if it is wanted? `cycle`: promises are kept there, and those of earlier plans are gone. */
/*@
  requires range:      UsedInRange && CapacityBounded && capacity < SL_CAPACITIES_MAX;
  requires sums:       0 <= sl_preempt_wanted[capacity] <= SL_AMOUNT_MAX &&
                         0 <= sl_preempt_freed[capacity] <= SL_AMOUNT_MAX &&
                         0 <= sl_preempt_left[capacity] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> sl_preempt_wanted[capacity] == 0 ||
                         sl_site_used[capacity] - sl_preempt_freed[capacity] + sl_preempt_wanted[capacity] +
                         (cycle ? sl_site_promised[capacity] - sl_preempt_left[capacity] : 0) <= sl_site_capacity[capacity];
*/
static bool suffices(uint32_t capacity, bool cycle)
{
    int64_t others = sl_site_used[capacity] - sl_preempt_freed[capacity];
    if (cycle) {
        others += sl_site_promised[capacity] - sl_preempt_left[capacity];
    }
    return sl_preempt_wanted[capacity] == 0 ||
           others + sl_preempt_wanted[capacity] <= sl_site_capacity[capacity];
}

/*@
  requires ready:      CapacityReady;
  requires shown:      CapacityShown;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  fit:        \result ==> CapacityFits;
*/
static bool all_suffice(void)
{
    //@ ghost lemma_victims();
    //@ ghost lemma_gone();
    //@ ghost lemma_wanted();
    /*@
      loop invariant index:  0 <= i <= sl_need_count;
      loop invariant fit:    \forall integer r; 0 <= r < SL_CAPACITIES_MAX && 0 < NeedSum(r, i) ==>
                               others_if(r, 1, 0) + NeedSum(r, sl_need_count) <= sl_site_capacity[r];
      loop assigns           i;
      loop variant           sl_need_count - i;
    */
    for (uint32_t i = 0; i < sl_need_count; i++) {
        if (!suffices(sl_need_capacities[i], true)) {
            return false;
        }
    }
    return true;
}

/* What the plan wants, when it wants anything at all. */
/*@
  requires ready:      TopologyReady;
  terminates           \true;
  exits                \false;
  assigns              SL_NEEDS;
  ensures  items:      NeedsInRange;
  ensures  listed:     \result == SL_OK ==> PlanItems;
  ensures  none:       sl_topology_plan.set_count == 0 ==> \result == SL_OK;
  ensures  refused:    \result != SL_OK ==> sl_need_count == 0;
*/
static enum sl_status list_wanted(void)
{
    enum sl_status status = SL_OK;
    sl_need_count = 0;
    if (sl_topology_plan.set_count == 0) {
        return SL_OK;
    }
    if (sl_topology_plan.workload != sl_plan.workload) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    status = sl_topology_form(true);
    if (status == SL_OK) {
        status = sl_topology_list_needs();
    }
    if (status != SL_OK) {
        sl_need_count = 0;
    }
    return status;
}

enum sl_status sl_preempt_capacity_open(void)
{
    enum sl_status status = list_wanted();
    bool summed = sl_preempt_capacity_sum();
    if (status != SL_OK) {
        return status;
    }
    return summed && all_suffice() ? SL_OK : SL_REFUSED_CAPACITY;
}

/* Take back, or give again, what one victim has booked. */
/*@
  requires ready:      CapacityReady;
  requires victim:     id < SL_WORKLOADS_MAX;
  requires enough:     \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         Booked(id, r) <= sl_preempt_freed[r] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
  ensures  less:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_preempt_freed[r] == \old(sl_preempt_freed[r]) - Booked(id, r);
*/
static void hold(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    //@ ghost lemma_booked(id);
    /*@
      loop invariant index:  0 <= i <= sl_booking_counts[id];
      loop invariant less:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                               sl_preempt_freed[r] == \at(sl_preempt_freed[r], Pre) - OwnSum(id, r, i);
      loop assigns           i, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        sl_preempt_freed[sl_booking_capacities[first + i]] -= sl_booking_amounts[first + i];
    }
}

/*@
  requires ready:      CapacityReady;
  requires victim:     id < SL_WORKLOADS_MAX;
  requires capacity:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         0 <= sl_preempt_freed[r] && sl_preempt_freed[r] + Booked(id, r) <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
  ensures  more:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_preempt_freed[r] == \old(sl_preempt_freed[r]) + Booked(id, r);
*/
static void give(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    //@ ghost lemma_booked(id);
    /*@
      loop invariant index:  0 <= i <= sl_booking_counts[id];
      loop invariant more:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                               sl_preempt_freed[r] == \at(sl_preempt_freed[r], Pre) + OwnSum(id, r, i);
      loop assigns           i, sl_preempt_freed[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        sl_preempt_freed[sl_booking_capacities[first + i]] += sl_booking_amounts[first + i];
    }
}

/* Does one of the capacities that the victim has booked overflow? */
/*@
  requires ready:      CapacityReady;
  requires victim:     id < SL_WORKLOADS_MAX;
  requires sums:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         0 <= sl_preempt_wanted[r] <= SL_AMOUNT_MAX && 0 <= sl_preempt_freed[r] <= SL_AMOUNT_MAX &&
                         0 <= sl_preempt_left[r] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  found:      \result ==> \exists integer r; 0 <= r < SL_CAPACITIES_MAX && 0 < sl_preempt_wanted[r] &&
                         sl_site_capacity[r] < sl_site_used[r] - sl_preempt_freed[r] + sl_preempt_wanted[r] +
                           (sl_preempt_plan.after_others ? sl_site_promised[r] - sl_preempt_left[r] : 0);
  ensures  none:       !\result ==> \forall integer i; 0 <= i < sl_booking_counts[id] ==>
                         CapacitySuffices(sl_booking_capacities[sl_booking_firsts[id] + i]);
*/
static bool overflows(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    /*@
      loop invariant index:  0 <= i <= sl_booking_counts[id];
      loop invariant none:   \forall integer j; 0 <= j < i ==> CapacitySuffices(sl_booking_capacities[first + j]);
      loop assigns           i;
      loop variant           sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        if (!suffices(sl_booking_capacities[first + i], sl_preempt_plan.after_others)) {
            return true;
        }
        //@ assert enough: CapacitySuffices(sl_booking_capacities[first + i]);
        /*@ assert so_far: \forall integer j; 0 <= j <= i ==> CapacitySuffices(sl_booking_capacities[first + j]); */
    }
    return false;
}

bool sl_preempt_capacity_need(uint32_t index)
{
    sl_workload_id id = sl_preempt_plan.victims[index];
    //@ ghost lemma_victims();
    //@ ghost lemma_gone();
    //@ ghost lemma_wanted();
    hold(id);
    bool needed = overflows(id);
    give(id);
    return needed;
}
