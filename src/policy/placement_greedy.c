/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The greedy way: first a domain for the leader, then those that take most. */
#include "policy/placement_balance.h"

#include "specs/greedy.acsl"

/*@ requires ready: FitsInRange && BalanceListed; terminates \true; exits \false;
    assigns sl_hidden; */
static void list_but(uint32_t spot, bool leaders_first)
{
    sl_pick_start(leaders_first);
    /*@ loop invariant within: i <= sl_balance_domains.count; loop assigns i, sl_hidden;
        loop variant sl_balance_domains.count - i; */
    for (uint32_t i = 0; i < sl_balance_domains.count; i++) {
        if (sl_balance_domains.spots[i] != spot) {
            sl_pick_add(sl_balance_domains.spots[i]);
        }
    }
    sl_pick_ready((struct sl_pick_need){.slices = true});
}

/*@ ghost
  /@ requires within: at < SL_DOMAINS_MAX; terminates \true; exits \false;
     assigns sl_greedy_holds[at];
     ensures same: \forall integer n; 0 <= n <= at ==> Held(n) == Held{Pre}(n);
     ensures more: Held(at + 1) == Held{Pre}(at) + amount;
     ensures set: sl_greedy_holds[at] == amount; @/
  static void hold(uint32_t at, int64_t amount)
  {
      sl_greedy_holds[at] = amount;
      /@ loop invariant i <= at;
         loop invariant \forall integer n; 0 <= n <= i ==> Held(n) == Held{Pre}(n);
         loop assigns i; loop variant at - i; @/
      for (uint32_t i = 0; i < at; i++) ;
  }
*/

/*@ ghost
  /@ requires within: k <= SL_DOMAINS_MAX; terminates \true; exits \false; assigns \nothing;
     ensures taken: TakenFirst(k) ==> \forall integer n; 0 <= n <= k ==> Offered(n) == Held(n);
     ensures rest: TakenFirst(k) && Descending &&
       (k < sl_greedy_offer_count ==> sl_greedy_offers[k] <= 0) ==>
       Offered(sl_greedy_offer_count) == Offered(k);
     ensures others: Descending ==>
       0 <= OtherCount(sl_greedy_offer_count) <= sl_greedy_offer_count &&
       OtherHeld(sl_greedy_offer_count) <= Offered(OtherCount(sl_greedy_offer_count)); @/
  static void compare(uint32_t k)
  {
      /@ loop invariant i <= k;
         loop invariant TakenFirst(k) ==>
           \forall integer n; 0 <= n <= i ==> Offered(n) == Held(n);
         loop assigns i; loop variant k - i; @/
      for (uint32_t i = 0; i < k; i++) ;
      /@ loop invariant k <= i;
         loop invariant TakenFirst(k) ==> i <= sl_greedy_offer_count;
         loop invariant TakenFirst(k) && Descending &&
           (k < sl_greedy_offer_count ==> sl_greedy_offers[k] <= 0) ==> Offered(i) == Offered(k);
         loop assigns i; loop variant sl_greedy_offer_count - i; @/
      for (uint32_t i = k; i < sl_greedy_offer_count; i++) ;
      /@ loop invariant i <= sl_greedy_offer_count;
         loop invariant Descending ==>
           0 <= OtherCount(i) <= i && OtherHeld(i) <= Offered(OtherCount(i));
         loop assigns i; loop variant sl_greedy_offer_count - i; @/
      for (uint32_t i = 0; i < sl_greedy_offer_count; i++) ;
  }
*/

/* So many slices on the next of the list: on no more of them than it takes in that order. If the
 * list comes in descending order, that is: whenever all of it suffices, and on the fewest that
 * do, since any choice of fewer takes less. */
/*@ requires ready: FitsInRange && left <= 2 * SL_AMOUNT_MAX && greedy.count <= 1 && !greedy.fits &&
      (greedy.last < SL_SPOTS_MAX || greedy.last == SL_NO_ID);
    terminates \true; exits \false; assigns sl_hidden, SL_GREEDY;
    ensures led: \result.last_led == greedy.last_led;
    ensures known: \result.last < SL_SPOTS_MAX || \result.last == SL_NO_ID;
    ensures count: greedy.count <= \result.count <= greedy.count + SL_DOMAINS_MAX;
    ensures enough: \result.fits <==> left <= Held(\result.count - greedy.count);
    ensures first: \forall integer n; 0 <= n < \result.count - greedy.count ==> Held(n) < left;
    ensures succeeds: InOrder(\result.count - greedy.count, \result.fits) &&
      Offered(sl_greedy_offer_count) >= left ==> \result.fits;
    ensures fewest: InOrder(\result.count - greedy.count, \result.fits) && \result.fits &&
      OtherCount(sl_greedy_offer_count) < \result.count - greedy.count ==>
      OtherHeld(sl_greedy_offer_count) < left; */
static struct sl_greedy take_next(struct sl_greedy greedy, int64_t left)
{
    //@ ghost uint32_t before = greedy.count;
    /*@
      loop invariant steps: steps <= SL_DOMAINS_MAX &&
        greedy.count == \at(greedy.count, Pre) + steps;
      loop invariant known: greedy.last_led == \at(greedy.last_led, Pre) && !greedy.fits &&
        (greedy.last < SL_SPOTS_MAX || greedy.last == SL_NO_ID);
      loop invariant left: left == \at(left, Pre) - Held(steps) && left <= \at(left, Pre);
      loop invariant range: left >= -SL_AMOUNT_MAX || left == \at(left, Pre);
      loop invariant fewest: \forall integer n; 0 <= n < steps ==> Held(n) < \at(left, Pre);
      loop assigns steps, left, greedy, sl_hidden, SL_GREEDY;
      loop variant SL_DOMAINS_MAX - steps;
    */
    for (uint32_t steps = 0; left > 0; steps++) {
        uint32_t spot = sl_pick_next();
        if (spot == SL_NO_ID || sl_fit_slices[spot] <= 0 || steps == SL_DOMAINS_MAX) {
            //@ ghost sl_greedy_next = spot == SL_NO_ID ? 0 : sl_fit_slices[spot];
            //@ ghost compare(steps);
            return greedy;
        }
        //@ ghost hold(steps, sl_fit_slices[spot]);
        greedy.last = spot;
        greedy.count++;
        left -= sl_fit_slices[spot];
    }
    //@ ghost compare(greedy.count - before);
    greedy.fits = true;
    return greedy;
}

/*@ requires ready: PlacingSound && FitsInRange && BalanceListed; terminates \true; exits \false;
    assigns sl_hidden, SL_GREEDY;
    ensures succeeds: sl_placing.leaders == 0 && InOrder(\result.count, \result.fits) &&
      Offered(sl_greedy_offer_count) >= sl_placing.count / sl_placing.slice_size ==> \result.fits;
    ensures fewest: sl_placing.leaders == 0 && InOrder(\result.count, \result.fits) &&
      \result.fits && OtherCount(sl_greedy_offer_count) < \result.count ==>
      OtherHeld(sl_greedy_offer_count) < sl_placing.count / sl_placing.slice_size; */
struct sl_greedy sl_balance_greedy(void)
{
    struct sl_greedy greedy = {.last_led = SL_NO_ID, .last = SL_NO_ID};
    int64_t left = sl_placing.count / sl_placing.slice_size;
    if (sl_placing.leaders > 0) {
        list_but(SL_NO_ID, true);
        uint32_t spot = sl_pick_next();
        if (spot == SL_NO_ID || sl_pick_leaders(spot) == 0) {
            return greedy;
        }
        greedy.last_led = spot;
        greedy.count = 1;
        left -= sl_fit_slices_led[spot];
    }
    list_but(greedy.last_led, false);
    return take_next(greedy, left);
}
