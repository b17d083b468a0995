/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What booking the items would change, room by room: added up in a scratch array, which is made zero again by
 * taking back each amount. */
#include "kernel/topology/topology_needs.h"

int64_t sl_site_change[SL_CAPACITIES_MAX];

/* Partial sums of items grow, and only capacities that items name have one. */
/*@ ghost
  /@ requires range:     NeedsInRange;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  grows:     \forall integer r, k, m; 0 <= k <= m <= sl_need_count ==>
                           0 <= NeedSum(r, k) <= NeedSum(r, m);
     ensures  named:     \forall integer r; 0 < NeedSum(r, sl_need_count) ==>
                           \exists integer k; 0 <= k < sl_need_count && sl_need_capacities[k] == r;
  @/
  static void lemma_needs(void)
  {
    /@ loop invariant index: 0 <= n <= sl_need_count;
       loop invariant grows: \forall integer r, k, m; 0 <= k <= m <= n ==> 0 <= NeedSum(r, k) <= NeedSum(r, m);
       loop invariant named: \forall integer r; 0 < NeedSum(r, n) ==>
                               \exists integer k; 0 <= k < n && sl_need_capacities[k] == r;
       loop assigns          n;
       loop variant          sl_need_count - n;
    @/
    for (uint32_t n = 0; n < sl_need_count; n++) ;
  }
*/

/* What a workload has booked of a capacity is part of what is used of it. */
/*@ ghost
  /@ requires range:     RowsInRange;
     requires block:     id < SL_WORKLOADS_MAX && sl_booking_firsts[id] + sl_booking_counts[id] <= SL_BOOKINGS_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  part:      \forall integer r, k; 0 <= k <= sl_booking_counts[id] ==>
                           0 <= OwnSum(id, r, k) <= CapacitySum(r, SL_BOOKINGS_MAX);
  @/
  static void lemma_own_is_part(sl_workload_id id)
  {
    /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
       loop invariant grows: \forall integer r, m; 0 <= m <= n ==> 0 <= CapacitySum(r, m) <= CapacitySum(r, n);
       loop assigns          n;
       loop variant          SL_BOOKINGS_MAX - n;
    @/
    for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
    /@ loop invariant index: 0 <= i <= sl_booking_counts[id];
       loop invariant part:  \forall integer r, k; 0 <= k <= i ==>
                               0 <= OwnSum(id, r, k) <= CapacitySum(r, sl_booking_firsts[id] + k);
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
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  count:      \result <= sl_need_count;
  ensures  sums:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_change[r] == NeedSum(r, \result) && 0 <= sl_site_change[r] <= SL_AMOUNT_MAX;
  ensures  fair:       NeedsBounded ==> \result == sl_need_count;
*/
static uint32_t add_needs(void)
{
    uint32_t i = 0;
    //@ ghost lemma_needs();
    /*@
      loop invariant index: 0 <= i <= sl_need_count;
      loop invariant sums:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                              sl_site_change[r] == NeedSum(r, i) && 0 <= sl_site_change[r] <= SL_AMOUNT_MAX;
      loop assigns          i, sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
      loop variant          sl_need_count - i;
    */
    while (i < sl_need_count &&
           sl_site_change[sl_need_capacities[i]] <= SL_AMOUNT_MAX - sl_need_amounts[i]) {
        sl_site_change[sl_need_capacities[i]] += sl_need_amounts[i];
        i++;
    }
    /*@ assert over: i < sl_need_count ==> NeedSum(sl_need_capacities[i], i + 1) > SL_AMOUNT_MAX &&
          NeedSum(sl_need_capacities[i], i + 1) <= NeedSum(sl_need_capacities[i], sl_need_count); */
    return i;
}

/*@
  requires needs:      NeedsInRange && count <= sl_need_count;
  requires sums:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_change[r] == NeedSum(r, count) && sl_site_change[r] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  zero:       ChangeZero;
*/
static void take_back_needs(uint32_t count)
{
    //@ ghost lemma_needs();
    /*@
      loop invariant index: 0 <= i <= count;
      loop invariant sums:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                              sl_site_change[r] == NeedSum(r, count) - NeedSum(r, i);
      loop assigns          i, sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
      loop variant          count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        //@ assert step: 0 <= NeedSum(sl_need_capacities[i], i + 1) <= NeedSum(sl_need_capacities[i], count);
        sl_site_change[sl_need_capacities[i]] -= sl_need_amounts[i];
    }
}

/* What the workload has booked would be free. */
/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires inv:        BookingsInv;
  requires needs:      NeedsInRange;
  requires sums:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_change[r] == NeedSum(r, sl_need_count) && 0 <= sl_site_change[r] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  sums:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_change[r] == More(id, r) && -SL_AMOUNT_MAX <= sl_site_change[r] <= SL_AMOUNT_MAX;
*/
static void add_own(sl_workload_id id)
{
    //@ ghost lemma_own_is_part(id);
    /*@
      loop invariant index: 0 <= i <= sl_booking_counts[id];
      loop invariant sums:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                              sl_site_change[r] == NeedSum(r, sl_need_count) - OwnSum(id, r, i);
      loop assigns          i, sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
      loop variant          sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        uint32_t row = sl_booking_firsts[id] + i;
        //@ assert step: OwnSum(id, sl_booking_capacities[row], i + 1) <= SL_AMOUNT_MAX;
        sl_site_change[sl_booking_capacities[row]] -= sl_booking_amounts[row];
    }
}

/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires inv:        BookingsInv;
  requires needs:      NeedsInRange;
  requires sums:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_change[r] == More(id, r) && -SL_AMOUNT_MAX <= sl_site_change[r] <= SL_AMOUNT_MAX;
  requires most:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> NeedSum(r, sl_need_count) <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  sums:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_change[r] == NeedSum(r, sl_need_count);
*/
static void take_back_own(sl_workload_id id)
{
    //@ ghost lemma_own_is_part(id);
    /*@
      loop invariant index: 0 <= i <= sl_booking_counts[id];
      loop invariant sums:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                              sl_site_change[r] == More(id, r) + OwnSum(id, r, i);
      loop assigns          i, sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
      loop variant          sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        uint32_t row = sl_booking_firsts[id] + i;
        //@ assert step: OwnSum(id, sl_booking_capacities[row], i + 1) <= SL_AMOUNT_MAX;
        sl_site_change[sl_booking_capacities[row]] += sl_booking_amounts[row];
    }
}

/*@
  requires capacity:       capacity < SL_CAPACITIES_MAX;
  requires range:      UsedInRange && CapacityBounded;
  requires change:     -SL_AMOUNT_MAX <= sl_site_change[capacity] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> ChangeFits(capacity, ask);
*/
static bool capacity_suffices(uint32_t capacity, bool ask)
{
    int64_t more = sl_site_change[capacity];
    if (more <= 0) {
        return true;
    }
    return ask ? sl_site_used[capacity] + sl_site_promised[capacity] <=
                     sl_site_capacity[capacity] - more
               : sl_site_used[capacity] <= SL_AMOUNT_MAX - more;
}

/*@
  requires range:      UsedInRange && CapacityBounded;
  requires needs:      NeedsInRange;
  requires change:     \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         -SL_AMOUNT_MAX <= sl_site_change[r] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  suffice:    \result <==> \forall integer k; 0 <= k < sl_need_count ==>
                         ChangeFits(sl_need_capacities[k], ask);
*/
static bool all_capacity_suffices(bool ask)
{
    /*@
      loop invariant index: 0 <= i <= sl_need_count;
      loop invariant suffice: \forall integer k; 0 <= k < i ==> ChangeFits(sl_need_capacities[k], ask);
      loop assigns          i;
      loop variant          sl_need_count - i;
    */
    for (uint32_t i = 0; i < sl_need_count; i++) {
        if (!capacity_suffices(sl_need_capacities[i], ask)) {
            return false;
        }
    }
    return true;
}

enum sl_status sl_topology_judge_needs(sl_workload_id id, bool ask)
{
    //@ ghost lemma_own_is_part(id);
    /*@ assert own: \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
          OwnSum(id, r, sl_booking_counts[id]) <= sl_site_used[r] <= SL_AMOUNT_MAX; */
    /*@ assert less: !NeedsGrow(id) ==> CapacityJudged(id, ask) && NeedsBounded; */
    uint32_t added = add_needs();
    bool good = false;
    if (added == sl_need_count) {
        add_own(id);
        //@ ghost lemma_needs();
        //@ ghost lemma_own_is_part(id);
        good = all_capacity_suffices(ask);
        /*@ assert others: \forall integer r; 0 <= r < SL_CAPACITIES_MAX && NeedSum(r, sl_need_count) <= 0 ==>
              More(id, r) <= 0; */
        //@ assert judged: good ==> CapacityJudged(id, ask);
        //@ assert fair: CapacityJudged(id, ask) ==> good;
        take_back_own(id);
    }
    take_back_needs(added);
    return good ? SL_OK : SL_REFUSED_CAPACITY;
}
