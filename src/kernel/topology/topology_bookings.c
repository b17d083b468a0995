/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rows of bookings are written by one function and wiped by another; the ghost loops show what each does to the
 * sum over all rows. */
#include "kernel/topology/topology_move.h"
#include "kernel/topology/topology_assigned.h"

uint32_t sl_booking_owners[SL_BOOKINGS_MAX];
uint32_t sl_booking_capacities[SL_BOOKINGS_MAX];
int64_t sl_booking_amounts[SL_BOOKINGS_MAX];
uint32_t sl_booking_firsts[SL_WORKLOADS_MAX];
uint32_t sl_booking_counts[SL_WORKLOADS_MAX];
uint32_t sl_booking_workload_limit;

/* Are these rows of the pool, and free? */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> first < SL_BOOKINGS_MAX && RowsFree(first, count);
*/
static bool rows_free(uint32_t first, uint32_t count)
{
    if (first >= SL_BOOKINGS_MAX || count > SL_BOOKINGS_MAX - first) {
        return false;
    }
    /*@
      loop invariant index: 0 <= i <= count;
      loop invariant free:  \forall integer b; first <= b < first + i ==> sl_booking_owners[b] == 0;
      loop assigns          i;
      loop variant          count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        if (sl_booking_owners[first + i] != 0) {
            return false;
        }
    }
    return true;
}

uint32_t sl_bookings_reserve(void)
{
    uint32_t first = sl_topology_pool_take(sl_need_count);
    return rows_free(first, sl_need_count) ? first : SL_NO_ID;
}

void sl_bookings_unreserve(uint32_t first)
{
    sl_topology_pool_give(first, sl_need_count);
}

/*@
  requires ids:        row < SL_BOOKINGS_MAX && capacity < SL_CAPACITIES_MAX && id < SL_WORKLOADS_MAX;
  requires none:       sl_booking_amounts[row] == 0;
  requires fits:       0 <= amount && sl_site_used[capacity] + amount <= SL_AMOUNT_MAX;
  requires exact:      UsedExact && UsedInRange;
  terminates           \true;
  exits                \false;
  assigns              sl_booking_owners[row], sl_booking_capacities[row], sl_booking_amounts[row], sl_site_used[capacity];
  ensures  exact:      UsedExact && UsedInRange;
  ensures  stored:     sl_booking_owners[row] == id + 1 && sl_booking_capacities[row] == capacity &&
                       sl_booking_amounts[row] == amount;
  ensures  used:       sl_site_used[capacity] == \old(sl_site_used[capacity]) + amount;
*/
static void write_booking(uint32_t row, sl_workload_id id, uint32_t capacity, int64_t amount)
{
    sl_booking_owners[row] = id + 1;
    sl_booking_capacities[row] = capacity;
    sl_booking_amounts[row] = amount;
    sl_site_used[capacity] += amount;
    /*@ ghost
      /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
         loop invariant sums:  \forall integer r; CapacitySum(r, n) == CapacitySum{Pre}(r, n) +
                                 (r == capacity && row < n ? amount : 0);
         loop assigns          n;
         loop variant          SL_BOOKINGS_MAX - n;
      @/
      for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
    */
}

/* What a row books is no more than what is booked of its capacity. */
/*@ ghost
  /@ requires range:     RowsInRange;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  part:      \forall integer b; 0 <= b < SL_BOOKINGS_MAX ==>
                           sl_booking_amounts[b] <= CapacitySum(sl_booking_capacities[b], SL_BOOKINGS_MAX);
  @/
  static void lemma_row_is_part(void)
  {
    /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
       loop invariant least: \forall integer r; 0 <= CapacitySum(r, n);
       loop invariant part:  \forall integer b; 0 <= b < n ==>
                               sl_booking_amounts[b] <= CapacitySum(sl_booking_capacities[b], n);
       loop assigns          n;
       loop variant          SL_BOOKINGS_MAX - n;
    @/
    for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
  }
*/

/*@
  requires row:        row < SL_BOOKINGS_MAX;
  requires exact:      UsedExact && UsedInRange && RowsInRange;
  terminates           \true;
  exits                \false;
  assigns              sl_booking_owners[row], sl_booking_amounts[row], sl_site_used[sl_booking_capacities[row]];
  ensures  exact:      UsedExact && UsedInRange && RowsInRange;
  ensures  wiped:      sl_booking_owners[row] == 0 && sl_booking_amounts[row] == 0;
  ensures  used:       sl_site_used[sl_booking_capacities[row]] ==
                         \old(sl_site_used[sl_booking_capacities[row]] - sl_booking_amounts[row]);
*/
static void wipe_booking(uint32_t row)
{
    //@ ghost lemma_row_is_part();
    sl_site_used[sl_booking_capacities[row]] -= sl_booking_amounts[row];
    sl_booking_amounts[row] = 0;
    sl_booking_owners[row] = 0;
    /*@ ghost
      /@ loop invariant index: 0 <= n <= SL_BOOKINGS_MAX;
         loop invariant sums:  \forall integer r; CapacitySum(r, n) == CapacitySum{Pre}(r, n) -
                                 (r == sl_booking_capacities[row] && row < n ? \at(sl_booking_amounts[row], Pre) : 0);
         loop assigns          n;
         loop variant          SL_BOOKINGS_MAX - n;
      @/
      for (uint32_t n = 0; n < SL_BOOKINGS_MAX; n++) ;
    */
}

/* Wipe the rows of the workload's block. */
/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires block:      sl_booking_firsts[id] + sl_booking_counts[id] <= SL_BOOKINGS_MAX;
  requires exact:      UsedExact && UsedInRange && RowsInRange;
  terminates           \true;
  exits                \false;
  assigns              sl_booking_owners[0 .. SL_BOOKINGS_MAX - 1], sl_booking_amounts[0 .. SL_BOOKINGS_MAX - 1],
                       sl_site_used[0 .. SL_CAPACITIES_MAX - 1], sl_booking_counts[id];
  ensures  exact:      UsedExact && UsedInRange && RowsInRange;
  ensures  none:       sl_booking_counts[id] == 0;
  ensures  given_back: \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_site_used[r] ==
                         \old(sl_site_used[r] - OwnSum(id, r, sl_booking_counts[id]));
  ensures  wiped:      \forall integer b;
                         sl_booking_firsts[id] <= b < sl_booking_firsts[id] + \old(sl_booking_counts[id]) ==>
                         sl_booking_owners[b] == 0 && sl_booking_amounts[b] == 0;
  ensures  kept:       \forall integer b; 0 <= b < SL_BOOKINGS_MAX &&
                         !(sl_booking_firsts[id] <= b < sl_booking_firsts[id] + \old(sl_booking_counts[id])) ==>
                         sl_booking_owners[b] == \old(sl_booking_owners[b]) &&
                         sl_booking_amounts[b] == \old(sl_booking_amounts[b]);
*/
static void wipe_bookings(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    /*@
      loop invariant index: 0 <= i <= sl_booking_counts[id];
      loop invariant exact: UsedExact && UsedInRange && RowsInRange;
      loop invariant used:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                              sl_site_used[r] == \at(sl_site_used[r], Pre) - OwnSum{Pre}(id, r, i);
      loop invariant wiped: \forall integer b; first <= b < first + i ==>
                              sl_booking_owners[b] == 0 && sl_booking_amounts[b] == 0;
      loop invariant kept:  \forall integer b; 0 <= b < SL_BOOKINGS_MAX && !(first <= b < first + i) ==>
                              sl_booking_owners[b] == \at(sl_booking_owners[b], Pre) &&
                              sl_booking_amounts[b] == \at(sl_booking_amounts[b], Pre);
      loop assigns          i, sl_booking_owners[0 .. SL_BOOKINGS_MAX - 1],
                            sl_booking_amounts[0 .. SL_BOOKINGS_MAX - 1], sl_site_used[0 .. SL_CAPACITIES_MAX - 1];
      loop variant          sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        wipe_booking(first + i);
    }
    sl_booking_counts[id] = 0;
}

void sl_bookings_release(sl_workload_id id)
{
    uint32_t count = sl_booking_counts[id];
    if (count == 0) {
        return;
    }
    sl_assigned_wipe(id);
    wipe_bookings(id);
    sl_topology_pool_give(sl_booking_firsts[id], count);
}

/* Partial sums of the items grow. */
/*@ ghost
  /@ requires range:     NeedsInRange;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  grows:     \forall integer r, k; 0 <= k <= sl_need_count ==>
                           0 <= NeedSum(r, k) <= NeedSum(r, sl_need_count);
  @/
  static void lemma_needs_grow(void)
  {
    /@ loop invariant index: 0 <= n <= sl_need_count;
       loop invariant grows: \forall integer r, k; 0 <= k <= n ==> 0 <= NeedSum(r, k) <= NeedSum(r, n);
       loop assigns          n;
       loop variant          sl_need_count - n;
    @/
    for (uint32_t n = 0; n < sl_need_count; n++) ;
  }
*/

/* Book the items in a block of free rows, for a workload that has none. */
/*@
  requires id:         id < SL_WORKLOADS_MAX && sl_booking_counts[id] == 0;
  requires needs:      NeedsInRange;
  requires block:      RowsFree(first, sl_need_count);
  requires exact:      UsedExact && UsedInRange && RowsInRange;
  requires fits:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_used[r] + NeedSum(r, sl_need_count) <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_booking_owners[0 .. SL_BOOKINGS_MAX - 1], sl_booking_capacities[0 .. SL_BOOKINGS_MAX - 1],
                       sl_booking_amounts[0 .. SL_BOOKINGS_MAX - 1], sl_site_used[0 .. SL_CAPACITIES_MAX - 1],
                       sl_booking_firsts[id], sl_booking_counts[id], sl_booking_workload_limit;
  ensures  exact:      UsedExact && UsedInRange && RowsInRange;
  ensures  used:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                         sl_site_used[r] == \old(sl_site_used[r]) + NeedSum(r, sl_need_count);
  ensures  count:      sl_booking_firsts[id] == first && sl_booking_counts[id] == sl_need_count;
  ensures  limit:      sl_booking_workload_limit == \max(\old(sl_booking_workload_limit), id + 1);
  ensures  owned:      \forall integer b; first <= b < first + sl_need_count ==> sl_booking_owners[b] == id + 1;
  ensures  booked:     \forall integer k; 0 <= k < sl_need_count ==> ItemStored(first + k, k);
  ensures  kept:       \forall integer b; 0 <= b < SL_BOOKINGS_MAX && !(first <= b < first + sl_need_count) ==>
                         sl_booking_owners[b] == \old(sl_booking_owners[b]) &&
                         sl_booking_capacities[b] == \old(sl_booking_capacities[b]) &&
                         sl_booking_amounts[b] == \old(sl_booking_amounts[b]);
*/
static void write_bookings(sl_workload_id id, uint32_t first)
{
    //@ ghost lemma_needs_grow();
    /*@
      loop invariant index:  0 <= i <= sl_need_count;
      loop invariant exact:  UsedExact && UsedInRange && RowsInRange;
      loop invariant used:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
                               sl_site_used[r] == \at(sl_site_used[r], Pre) + NeedSum(r, i);
      loop invariant owned:  \forall integer b; first <= b < first + i ==> sl_booking_owners[b] == id + 1;
      loop invariant booked: \forall integer k; 0 <= k < i ==> ItemStored(first + k, k);
      loop invariant kept:   \forall integer b; 0 <= b < SL_BOOKINGS_MAX && !(first <= b < first + i) ==>
                               sl_booking_owners[b] == \at(sl_booking_owners[b], Pre) &&
                               sl_booking_capacities[b] == \at(sl_booking_capacities[b], Pre) &&
                               sl_booking_amounts[b] == \at(sl_booking_amounts[b], Pre);
      loop assigns           i, sl_booking_owners[0 .. SL_BOOKINGS_MAX - 1], sl_booking_capacities[0 .. SL_BOOKINGS_MAX - 1],
                             sl_booking_amounts[0 .. SL_BOOKINGS_MAX - 1], sl_site_used[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_need_count - i;
    */
    for (uint32_t i = 0; i < sl_need_count; i++) {
        //@ assert part: NeedSum(sl_need_capacities[i], i + 1) <= NeedSum(sl_need_capacities[i], sl_need_count);
        write_booking(first + i, id, sl_need_capacities[i], sl_need_amounts[i]);
    }
    sl_booking_firsts[id] = first;
    sl_booking_counts[id] = sl_need_count;
    if (id >= sl_booking_workload_limit) {
        sl_booking_workload_limit = id + 1;
    }
}

void sl_bookings_replace(sl_workload_id id, uint32_t first)
{
    sl_bookings_release(id);
    //@ assert nobody: \forall integer b; 0 <= b < SL_BOOKINGS_MAX ==> sl_booking_owners[b] != id + 1;
    //@ ghost L1: ;
    write_bookings(id, first);
    sl_assigned_write(id, first);
    /*@ assert apart: \forall integer w, b; 0 <= w < SL_WORKLOADS_MAX && w != id &&
          sl_booking_firsts[w] <= b < sl_booking_firsts[w] + sl_booking_counts[w] ==>
            \at(sl_booking_owners[b], L1) == w + 1 && !(first <= b < first + sl_need_count) &&
            sl_assigned_pods[b] == \at(sl_assigned_pods[b], L1); */
    //@ assert block: BlockSound(id);
    //@ assert blocks: BlocksSound;
    //@ assert assignments: AssignedPlaced;
    //@ assert own: AssignedFirst(id);
    //@ assert others: \forall integer w; 0 <= w < SL_WORKLOADS_MAX && w != id ==> AssignedFirst(w);
}

uint32_t sl_booking_count(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? sl_booking_counts[id] : 0;
}

struct sl_booking sl_booking_at(sl_workload_id id, uint32_t index)
{
    struct sl_booking booking = {SL_NO_ID, SL_NO_ID, 0};
    if (id < SL_WORKLOADS_MAX && index < sl_booking_counts[id]) {
        uint32_t row = sl_booking_firsts[id] + index;
        booking.site = sl_booking_capacities[row] % SL_SITES_MAX;
        booking.measure = sl_booking_capacities[row] / SL_SITES_MAX;
        booking.amount = sl_booking_amounts[row];
    }
    return booking;
}
