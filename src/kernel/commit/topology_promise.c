/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Promised capacities are listed, so that clearing costs what was promised. A promise never grows beyond the largest
 * amount: where that much is promised nothing more fits anyway. */
#include "kernel/topology/topology.h"

uint32_t sl_site_promises;
uint32_t sl_site_promise_capacities[SL_BOOKINGS_MAX];

/*@
  requires capacity:       capacity < SL_CAPACITIES_MAX && 0 <= amount <= SL_AMOUNT_MAX;
  requires inv:        CapacityBounded && PromisesListed && sl_site_promises < SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_site_promises, sl_site_promise_capacities[sl_site_promises], sl_site_promised[capacity];
  ensures  inv:        CapacityBounded && PromisesListed;
  ensures  longer:     sl_site_promises == \old(sl_site_promises) + 1;
  ensures  promised:   sl_site_promised[capacity] == \min(SL_AMOUNT_MAX, \old(sl_site_promised[capacity]) + amount);
*/
static void promise(uint32_t capacity, int64_t amount)
{
    sl_site_promise_capacities[sl_site_promises] = capacity;
    sl_site_promises++;
    if (sl_site_promised[capacity] > SL_AMOUNT_MAX - amount) {
        sl_site_promised[capacity] = SL_AMOUNT_MAX;
    } else {
        sl_site_promised[capacity] += amount;
    }
    //@ assert listed: sl_site_promise_capacities[sl_site_promises - 1] == capacity;
    /*@ assert before: \forall integer i; 0 <= i < sl_site_promises - 1 ==>
          sl_site_promise_capacities[i] == \at(sl_site_promise_capacities[i], Pre); */
}

/*@
  requires needs:      NeedsInRange;
  requires inv:        CapacityBounded && PromisesListed && sl_site_promises + sl_need_count <= SL_BOOKINGS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_site_promises, sl_site_promise_capacities[0 .. SL_BOOKINGS_MAX - 1],
                       sl_site_promised[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        CapacityBounded && PromisesListed;
  ensures  promised:   \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_site_promised[r] ==
                         \min(SL_AMOUNT_MAX, \old(sl_site_promised[r]) + NeedSum(r, sl_need_count));
*/
static void promise_needs(void)
{
    /*@
      loop invariant index:    0 <= i <= sl_need_count;
      loop invariant inv:      CapacityBounded && PromisesListed;
      loop invariant count:    sl_site_promises == \at(sl_site_promises, Pre) + i;
      loop invariant promised: \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_site_promised[r] ==
                                 \min(SL_AMOUNT_MAX, \at(sl_site_promised[r], Pre) + NeedSum(r, i));
      loop assigns             i, sl_site_promises, sl_site_promise_capacities[0 .. SL_BOOKINGS_MAX - 1],
                               sl_site_promised[0 .. SL_CAPACITIES_MAX - 1];
      loop variant             sl_need_count - i;
    */
    for (uint32_t i = 0; i < sl_need_count; i++) {
        promise(sl_need_capacities[i], sl_need_amounts[i]);
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
    if (sl_need_count > SL_BOOKINGS_MAX - sl_site_promises) {
        return SL_FULL_BOOKINGS;
    }
    promise_needs();
    return SL_OK;
}

void sl_topology_promise_clear(void)
{
    /*@
      loop invariant inv:    CapacityBounded && PromisesListed;
      loop assigns           sl_site_promises, sl_site_promised[0 .. SL_CAPACITIES_MAX - 1];
      loop variant           sl_site_promises;
    */
    while (sl_site_promises > 0) {
        sl_site_promises--;
        sl_site_promised[sl_site_promise_capacities[sl_site_promises]] = 0;
    }
}
