/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The greedy way: first a domain for the leader, then those that take most. */
#include "policy/search/placement_balance.h"
#include "policy/search/placement_pick_list.h"

#include "specs/greedy.acsl"

/*@ requires ready: FitsInRange && BalanceListed; terminates \true; exits \false;
    assigns sl_hidden, SL_PICK_LIST;
    ensures first: PickPlain && spot == SL_NO_ID ==> GreedyFirst(0); */
static void list_but(uint32_t spot, bool leaders_first)
{
    sl_pick_start(leaders_first);
    /*@ loop invariant within: i <= sl_balance_domains.count;
        loop invariant all: PickPlain && spot == SL_NO_ID ==> PickCurrent && sl_pick_count == i &&
          \forall integer v; PickAllOver(v) == OfferedOver(v, i);
        loop assigns i, sl_hidden, SL_PICK_LIST; loop variant sl_balance_domains.count - i; */
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
     ensures over: \forall integer v, n; 0 <= n <= at ==> HeldOver(v, n) == HeldOver{Pre}(v, n);
     ensures more: Held(at + 1) == Held{Pre}(at) + amount;
     ensures set: sl_greedy_holds[at] == amount; @/
  static void hold(uint32_t at, int64_t amount)
  {
      sl_greedy_holds[at] = amount;
      /@ loop invariant i <= at;
         loop invariant \forall integer n; 0 <= n <= i ==> Held(n) == Held{Pre}(n);
         loop invariant \forall integer v, n; 0 <= n <= i ==> HeldOver(v, n) == HeldOver{Pre}(v, n);
         loop assigns i; loop variant at - i; @/
      for (uint32_t i = 0; i < at; i++) ;
  }
*/

/*@ ghost
  /@ terminates \true; exits \false; assigns \nothing;
     ensures least: \forall integer v; 0 <= PickAllOver(v);
     ensures falls: \forall integer v, w; v <= w ==> PickAllOver(w) <= PickAllOver(v); @/
  static void never_below(void)
  {
      /@ loop invariant i <= sl_pick_count && \forall integer v; 0 <= PickOver(v, i);
         loop invariant \forall integer v, w; v <= w ==> PickOver(w, i) <= PickOver(v, i);
         loop assigns i; loop variant sl_pick_count - i; @/
      for (uint32_t i = 0; i < sl_pick_count; i++) ;
  }
*/

/* Those in question take no more than those that were taken when none of the others takes any. */
/*@ ghost
  /@ terminates \true; exits \false; assigns \nothing;
     ensures all: (\forall integer i; 0 <= i < k ==> sl_greedy_holds[i] > 0) &&
       HeldOver(0, k) == OfferedOver(0, sl_balance_domains.count) ==>
       Offered(sl_balance_domains.count) <= Held(k); @/
  static void nothing_left(uint32_t k)
  {
      /@ loop invariant i <= k;
         loop invariant (\forall integer j; 0 <= j < i ==> sl_greedy_holds[j] > 0) ==>
           Held(i) == HeldOver(0, i);
         loop assigns i; loop variant k - i; @/
      for (uint32_t i = 0; i < k; i++) ;
      /@ loop invariant i <= sl_balance_domains.count;
         loop invariant Offered(i) <= OfferedOver(0, i);
         loop assigns i; loop variant sl_balance_domains.count - i; @/
      for (uint32_t i = 0; i < sl_balance_domains.count; i++) ;
  }
*/

/* Fewer others take no more than all but the last of those that were taken. */
/*@ ghost
  /@ requires within: k <= SL_DOMAINS_MAX; terminates \true; exits \false; assigns \nothing;
     ensures others: GreedyFirst(k) && OtherCount(sl_balance_domains.count) < k ==>
       OtherHeld(sl_balance_domains.count) <= Held(k - 1);
     ensures count: 0 <= OtherCount(sl_balance_domains.count); @/
  static void fewer_hold_less(uint32_t k)
  {
      int64_t last = k > 0 ? sl_greedy_holds[k - 1] : 0;
      /@ loop invariant i <= k;
         loop invariant (\forall integer j; 0 <= j < i ==> sl_greedy_holds[j] >= last) ==>
           Held(i) == HeldOver(last, i) + Times(last, i);
         loop assigns i; loop variant k - i; @/
      for (uint32_t i = 0; i < k; i++) ;
      /@ loop invariant i <= sl_balance_domains.count;
         loop invariant 0 <= OtherCount(i);
         loop invariant
           last >= 0 ==> OtherHeld(i) <= OfferedOver(last, i) + Times(last, OtherCount(i));
         loop assigns i; loop variant sl_balance_domains.count - i; @/
      for (uint32_t i = 0; i < sl_balance_domains.count; i++) ;
      /@ loop invariant i == 0 || i < k;
         loop invariant last >= 0 ==>
           \forall integer n; 0 <= n <= i ==> Times(last, n) <= Times(last, i);
         loop assigns i; loop variant k - i; @/
      for (uint32_t i = 0; i + 1 < k; i++) ;
  }
*/

/* So many slices on the next of the list: on no more of them than it takes in that order. When the
 * order is that of what they take, that is: whenever all of them suffice, and on the fewest that
 * do, since any choice of fewer takes less. */
/*@ requires ready: FitsInRange && BalanceListed && left <= 2 * SL_AMOUNT_MAX &&
      greedy.count <= 1 && !greedy.fits && (greedy.last < SL_SPOTS_MAX || greedy.last == SL_NO_ID);
    terminates \true; exits \false; assigns sl_hidden, SL_PICK_LIST, SL_GREEDY;
    ensures led: \result.last_led == greedy.last_led;
    ensures known: \result.last < SL_SPOTS_MAX || \result.last == SL_NO_ID;
    ensures count: greedy.count <= \result.count <= greedy.count + SL_DOMAINS_MAX;
    ensures enough: \result.fits <==> left <= Held(\result.count - greedy.count);
    ensures first: \forall integer n; 0 <= n < \result.count - greedy.count ==> Held(n) < left;
    ensures succeeds: \old(GreedyFirst(0)) && Offered(sl_balance_domains.count) >= left ==>
      \result.fits;
    ensures fewest: \old(GreedyFirst(0)) && \result.fits &&
      OtherCount(sl_balance_domains.count) < \result.count - greedy.count ==>
      OtherHeld(sl_balance_domains.count) < left; */
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
      loop invariant first: \at(GreedyFirst(0), Pre) ==> GreedyFirst(steps);
      loop assigns steps, left, greedy, sl_hidden, SL_PICK_LIST, SL_GREEDY;
      loop variant SL_DOMAINS_MAX - steps;
    */
    for (uint32_t steps = 0; left > 0; steps++) {
        uint32_t spot = sl_pick_next();
        //@ ghost never_below();
        if (spot == SL_NO_ID || sl_fit_slices[spot] <= 0 || steps == SL_DOMAINS_MAX) {
            //@ ghost nothing_left(steps);
            return greedy;
        }
        //@ ghost hold(steps, sl_fit_slices[spot]);
        greedy.last = spot;
        greedy.count++;
        left -= sl_fit_slices[spot];
    }
    //@ ghost fewer_hold_less(greedy.count - before);
    greedy.fits = true;
    return greedy;
}

/*@ requires ready: PlacingSound && FitsInRange && BalanceListed; terminates \true; exits \false;
    assigns sl_hidden, SL_PICK_LIST, SL_GREEDY;
    ensures succeeds: PickPlain &&
      Offered(sl_balance_domains.count) >= sl_placing.count / sl_placing.slice_size ==>
      \result.fits;
    ensures fewest: PickPlain && \result.fits &&
      OtherCount(sl_balance_domains.count) < \result.count ==>
      OtherHeld(sl_balance_domains.count) < sl_placing.count / sl_placing.slice_size; */
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
