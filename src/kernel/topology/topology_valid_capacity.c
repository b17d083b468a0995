/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The checker's half for capacities: adds up what every workload has booked and compares with what is used. */
#include "kernel/topology/topology.h"
#include "kernel/topology/topology_valid.h"

/* More rows never book less: so a sum that has become too large stays too large. */
/*@ ghost
  /@ requires block:      0 <= id < SL_WORKLOADS_MAX && BlockValid(id);
     terminates           \true;
     exits                \false;
     assigns              \nothing;
     ensures  grows:      \forall integer r, k; 0 <= k <= sl_booking_counts[id] ==>
                            0 <= OwnSum(id, r, k) <= OwnSum(id, r, sl_booking_counts[id]);
  @/
  void lemma_block_grows(sl_workload_id id)
  {
    /@ loop invariant index: 0 <= i <= sl_booking_counts[id];
       loop invariant grows: \forall integer r, k; 0 <= k <= i ==> 0 <= OwnSum(id, r, k) <= OwnSum(id, r, i);
       loop assigns          i;
       loop variant          sl_booking_counts[id] - i;
    @/
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
      /@ assert row: RowValid(id, sl_booking_firsts[id] + i); @/
      /@ assert next: \forall integer r; OwnSum(id, r, i) <= OwnSum(id, r, i + 1); @/
      ;
    }
  }
*/

/*@ ghost
  /@ requires blocks:     0 <= n <= SL_WORKLOADS_MAX && BlocksValid(n);
     terminates           \true;
     exits                \false;
     assigns              \nothing;
     ensures  grows:      \forall integer r, w; 0 <= w <= n ==> 0 <= BookedSum(r, w) <= BookedSum(r, n);
  @/
  void lemma_booked_grows(uint32_t n)
  {
    /@ loop invariant index: 0 <= i <= n;
       loop invariant grows: \forall integer r, w; 0 <= w <= i ==> 0 <= BookedSum(r, w) <= BookedSum(r, i);
       loop assigns          i;
       loop variant          n - i;
    @/
    for (uint32_t i = 0; i < n; i++) {
      /@ assert block: BlockValid(i); @/
      lemma_block_grows(i);
      /@ assert next: \forall integer r; BookedSum(r, i) <= BookedSum(r, i + 1); @/
    }
  }
*/

/* Add what the workload has booked to the scratch array; false when that is more of a capacity than may be. */
/*@
  requires block:      id < SL_WORKLOADS_MAX && BlockValid(id);
  requires range:      \forall integer r; CapacityKnown(r) ==> 0 <= sl_site_change[r] <= SL_AMOUNT_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  range:      \forall integer r; CapacityKnown(r) ==> 0 <= sl_site_change[r] <= SL_AMOUNT_MAX;
  ensures  sum:        \result ==> \forall integer r; CapacityKnown(r) ==>
                         sl_site_change[r] == \old(sl_site_change[r]) + OwnSum(id, r, sl_booking_counts[id]);
  ensures  fair:       !\result ==> \exists integer r; CapacityKnown(r) &&
                         \old(sl_site_change)[r] + OwnSum(id, r, sl_booking_counts[id]) > SL_AMOUNT_MAX;
  ensures  kept:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX && !CapacityKnown(r) ==>
                         sl_site_change[r] == \old(sl_site_change[r]);
*/
static bool add_up(sl_workload_id id)
{
    uint32_t first = sl_booking_firsts[id];
    //@ ghost lemma_block_grows(id);
    /*@
      loop invariant index: 0 <= i <= sl_booking_counts[id];
      loop invariant range: \forall integer r; CapacityKnown(r) ==> 0 <= sl_site_change[r] <= SL_AMOUNT_MAX;
      loop invariant sum:   \forall integer r; CapacityKnown(r) ==>
                              sl_site_change[r] == \at(sl_site_change[r], Pre) + OwnSum(id, r, i);
      loop invariant kept:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX && !CapacityKnown(r) ==>
                              sl_site_change[r] == \at(sl_site_change[r], Pre);
      loop assigns          i, sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
      loop variant          sl_booking_counts[id] - i;
    */
    for (uint32_t i = 0; i < sl_booking_counts[id]; i++) {
        uint32_t capacity = sl_booking_capacities[first + i];
        int64_t amount = sl_booking_amounts[first + i];
        //@ assert row: RowValid(id, first + i);
        //@ assert known: CapacityKnown(capacity);
        if (sl_site_change[capacity] > SL_AMOUNT_MAX - amount) {
            /*@ assert large: \at(sl_site_change, Pre)[capacity] + OwnSum(id, capacity, i + 1) > SL_AMOUNT_MAX; */
            return false;
        }
        sl_site_change[capacity] += amount;
    }
    return true;
}

/* The same for all workloads. */
/*@
  requires limit:      sl_booking_workload_limit <= SL_WORKLOADS_MAX && BlocksValid(sl_booking_workload_limit);
  requires zero:       CapacityUnchanged;
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  sum:        \result ==> \forall integer r; CapacityKnown(r) ==>
                         sl_site_change[r] == BookedSum(r, sl_booking_workload_limit) <= SL_AMOUNT_MAX;
  ensures  fair:       !\result ==> \exists integer r; CapacityKnown(r) &&
                         BookedSum(r, sl_booking_workload_limit) > SL_AMOUNT_MAX;
  ensures  kept:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX && !CapacityKnown(r) ==>
                         sl_site_change[r] == \old(sl_site_change[r]);
*/
static bool add_all_up(void)
{
    //@ ghost lemma_booked_grows(sl_booking_workload_limit);
    /*@
      loop invariant index: 0 <= id <= sl_booking_workload_limit;
      loop invariant range: \forall integer r; CapacityKnown(r) ==> 0 <= sl_site_change[r] <= SL_AMOUNT_MAX;
      loop invariant sum:   \forall integer r; CapacityKnown(r) ==> sl_site_change[r] == BookedSum(r, id);
      loop invariant kept:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX && !CapacityKnown(r) ==>
                              sl_site_change[r] == \at(sl_site_change[r], Pre);
      loop assigns          id, sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
      loop variant          sl_booking_workload_limit - id;
    */
    for (sl_workload_id id = 0; id < sl_booking_workload_limit; id++) {
        //@ assert block: BlockValid(id);
        if (!add_up(id)) {
            /*@ assert large: \exists integer r; CapacityKnown(r) && BookedSum(r, id + 1) > SL_AMOUNT_MAX; */
            return false;
        }
    }
    return true;
}

/* Are these the known capacities of the measure? They follow one another. */
/*@ ghost
  /@ requires measure:    0 <= m < SL_MEASURES_MAX && sl_domain_site_limit <= SL_SITES_MAX;
     terminates           \true;
     exits                \false;
     assigns              \nothing;
     ensures  row:        \forall integer r; CapacityKnown(r) && m * SL_SITES_MAX <= r < (m + 1) * SL_SITES_MAX <==>
                            m * SL_SITES_MAX <= r < m * SL_SITES_MAX + sl_domain_site_limit;
  @/
  void lemma_capacities_of(uint32_t m)
  {
    /@ assert rest: \forall integer r; m * SL_SITES_MAX <= r < (m + 1) * SL_SITES_MAX ==>
         r % SL_SITES_MAX == r - m * SL_SITES_MAX; @/
    ;
  }
*/

/* Is the scratch array zero for the measure? */
/*@
  requires measure:    measure < SL_MEASURES_MAX && sl_domain_site_limit <= SL_SITES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  zero:       \result <==> \forall integer r; measure * SL_SITES_MAX <= r <
                         measure * SL_SITES_MAX + sl_domain_site_limit ==> sl_site_change[r] == 0;
*/
static bool measure_unchanged(sl_measure_id measure)
{
    uint32_t first = measure * SL_SITES_MAX;
    /*@
      loop invariant index: 0 <= i <= sl_domain_site_limit;
      loop invariant zero:  \forall integer r; first <= r < first + i ==> sl_site_change[r] == 0;
      loop assigns          i;
      loop variant          sl_domain_site_limit - i;
    */
    for (uint32_t i = 0; i < sl_domain_site_limit; i++) {
        if (sl_site_change[first + i] != 0) {
            return false;
        }
    }
    return true;
}

/*@
  requires limit:      sl_domain_site_limit <= SL_SITES_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  zero:       \result <==> CapacityUnchanged;
*/
static bool capacity_unchanged(void)
{
    /*@
      loop invariant index: 0 <= m <= SL_MEASURES_MAX;
      loop invariant zero:  \forall integer r; CapacityBelow(r, m) ==> sl_site_change[r] == 0;
      loop assigns          m;
      loop variant          SL_MEASURES_MAX - m;
    */
    for (sl_measure_id m = 0; m < SL_MEASURES_MAX; m++) {
        //@ ghost lemma_capacities_of(m);
        if (!measure_unchanged(m)) {
            return false;
        }
    }
    return true;
}

/* Is what is used of the measure on each site what was added up? The scratch array is zero again after that; it is
 * not written where it is, for a page that is only read takes no memory. */
/*@
  requires measure:    measure < SL_MEASURES_MAX && sl_domain_site_limit <= SL_SITES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[measure * SL_SITES_MAX .. (measure + 1) * SL_SITES_MAX - 1];
  ensures  same:       \result <==> \forall integer r; measure * SL_SITES_MAX <= r <
                         measure * SL_SITES_MAX + sl_domain_site_limit ==> sl_site_used[r] == \old(sl_site_change)[r];
  ensures  zero:       \forall integer r; measure * SL_SITES_MAX <= r <
                         measure * SL_SITES_MAX + sl_domain_site_limit ==> sl_site_change[r] == 0;
  ensures  kept:       \forall integer r; measure * SL_SITES_MAX + sl_domain_site_limit <= r <
                         (measure + 1) * SL_SITES_MAX ==> sl_site_change[r] == \old(sl_site_change)[r];
*/
static bool measure_used(sl_measure_id measure)
{
    bool same = true;
    uint32_t first = measure * SL_SITES_MAX;
    /*@
      loop invariant index: 0 <= i <= sl_domain_site_limit;
      loop invariant same:  same <==> \forall integer r; first <= r < first + i ==>
                              sl_site_used[r] == \at(sl_site_change, Pre)[r];
      loop invariant zero:  \forall integer r; first <= r < first + i ==> sl_site_change[r] == 0;
      loop invariant kept:  \forall integer r; first + i <= r < first + SL_SITES_MAX ==>
                              sl_site_change[r] == \at(sl_site_change, Pre)[r];
      loop assigns          i, same, sl_site_change[first .. first + SL_SITES_MAX - 1];
      loop variant          sl_domain_site_limit - i;
    */
    for (uint32_t i = 0; i < sl_domain_site_limit; i++) {
        same = same && sl_site_used[first + i] == sl_site_change[first + i];
        if (sl_site_change[first + i] != 0) {
            sl_site_change[first + i] = 0;
        }
    }
    return same;
}

/*@
  requires limit:      sl_domain_site_limit <= SL_SITES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  same:       \result <==> \forall integer r; CapacityKnown(r) ==> sl_site_used[r] == \old(sl_site_change)[r];
  ensures  zero:       CapacityUnchanged;
  ensures  kept:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX && !CapacityKnown(r) ==>
                         sl_site_change[r] == \old(sl_site_change)[r];
*/
static bool capacity_used(void)
{
    bool same = true;
    /*@
      loop invariant index: 0 <= m <= SL_MEASURES_MAX;
      loop invariant same:  same <==> \forall integer r; CapacityBelow(r, m) ==>
                              sl_site_used[r] == \at(sl_site_change, Pre)[r];
      loop invariant zero:  \forall integer r; CapacityBelow(r, m) ==> sl_site_change[r] == 0;
      loop invariant kept:  \forall integer r; 0 <= r < SL_CAPACITIES_MAX && !CapacityBelow(r, m) ==>
                              sl_site_change[r] == \at(sl_site_change, Pre)[r];
      loop assigns          m, same, sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
      loop variant          SL_MEASURES_MAX - m;
    */
    for (sl_measure_id m = 0; m < SL_MEASURES_MAX; m++) {
        //@ ghost lemma_capacities_of(m);
        same = measure_used(m) && same;
    }
    return same;
}

bool sl_topology_capacity_valid(void)
{
    if (!capacity_unchanged()) {
        return false;
    }
    bool added = add_all_up();
    return capacity_used() && added;
}
