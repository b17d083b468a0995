/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A binary heap: building it is linear, taking one out logarithmic. */
#include "policy/search/placement_pick_list.h"

struct sl_pick_entry sl_pick_list[SL_DOMAINS_MAX];
uint32_t sl_pick_count;
bool sl_pick_has_front;
static struct sl_pick_entry front;
static bool leaders_count; /* in the order */

/* clang-format off */
#define LIST sl_pick_list[0 .. SL_DOMAINS_MAX - 1]
/* clang-format on */
/*@
  predicate ListSound{L} = sl_pick_count <= SL_DOMAINS_MAX &&
    \forall integer i; 0 <= i < sl_pick_count ==> sl_pick_list[i].spot < SL_SPOTS_MAX;
  // The entry goes before none right above the at-th place, from `from` on, and none right below
  // goes before it.
  predicate Belongs{L}(integer from, integer at, struct sl_pick_entry entry) =
    (\forall integer i; from <= i && (2 * i + 1 == at || 2 * i + 2 == at) ==>
       !PickBefore(entry, sl_pick_list[i])) &&
    (2 * at + 1 < sl_pick_count ==> !PickBefore(sl_pick_list[2 * at + 1], entry)) &&
    (2 * at + 2 < sl_pick_count ==> !PickBefore(sl_pick_list[2 * at + 2], entry));
  // In order but for what stands below the at-th place.
  predicate OrderedBut{L}(integer from, integer at) =
    \forall integer i; from <= i < sl_pick_count && i != at ==>
    (2 * i + 1 < sl_pick_count ==> !PickBefore(sl_pick_list[2 * i + 1], sl_pick_list[i])) &&
    (2 * i + 2 < sl_pick_count ==> !PickBefore(sl_pick_list[2 * i + 2], sl_pick_list[i]));
  // What is hidden, too.
  predicate PickSound{L} = ListSound && front.spot < SL_SPOTS_MAX;
*/

int64_t sl_pick_capacity(uint32_t spot, struct sl_pick_need need)
{
    if (need.leaders > 0) {
        return need.slices ? sl_fit_slices_led[spot] : sl_fit_pods_led[spot];
    }
    return need.slices ? sl_fit_slices[spot] : sl_fit_pods[spot];
}

uint32_t sl_pick_leaders(uint32_t spot)
{
    return sl_placing.leaders > 0 ? sl_fit_leaders[spot] : 0;
}

/*@ requires known: spot < SL_SPOTS_MAX; terminates \true; exits \false; assigns \nothing; */
static bool takes_all(uint32_t spot, struct sl_pick_need need)
{
    return sl_pick_leaders(spot) >= need.leaders && sl_pick_capacity(spot, need) >= need.amount;
}

/*@ requires known: spot < SL_SPOTS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures spot: \result.spot == spot;
    ensures plain: PickPlain ==> \result.leaders == 0 && \result.score == 0 &&
      \result.slices == sl_fit_slices[spot]; */
static struct sl_pick_entry entry_of(uint32_t spot)
{
    bool led = leaders_count && sl_placing.leaders > 0;
    return (struct sl_pick_entry){.score = sl_placing.preferring ? sl_fit_score[spot] : 0,
                                  .slices = led ? sl_fit_slices_led[spot] : sl_fit_slices[spot],
                                  .pods = led ? sl_fit_pods_led[spot] : sl_fit_pods[spot],
                                  .leaders = led ? sl_fit_leaders[spot] : 0,
                                  .spot = spot};
}

/*@ terminates \true; exits \false; assigns \nothing;
    ensures order: \result <==> PickBefore(a, b); */
static bool before(struct sl_pick_entry a, struct sl_pick_entry b)
{
    if (a.leaders != b.leaders) {
        return a.leaders > b.leaders;
    }
    if (a.score != b.score) {
        return a.score > b.score;
    }
    if (a.slices != b.slices) {
        return sl_placing.least_free ? a.slices < b.slices : a.slices > b.slices;
    }
    if (a.pods != b.pods) {
        return a.pods < b.pods;
    }
    return a.spot < b.spot;
}

/* --- the heap --- */

/*@ requires within: at < SL_DOMAINS_MAX; terminates \true; exits \false;
    assigns sl_pick_list[at];
    ensures put: sl_pick_list[at] == entry;
    ensures others: \forall integer i; 0 <= i < SL_DOMAINS_MAX && i != at ==>
      sl_pick_list[i] == \old(sl_pick_list[i]);
    ensures ordered: \forall integer from; 0 <= from && sl_pick_count <= SL_DOMAINS_MAX &&
      \old(OrderedBut(from, at)) && \old(Belongs(from, at, entry)) ==> PickOrderedFrom(from);
    ensures over: \forall integer v, n; 0 <= n <= SL_DOMAINS_MAX ==> PickOver(v, n) ==
      PickOver{Pre}(v, n) +
      (at < n ? Over(entry.slices, v) - Over(\old(sl_pick_list[at].slices), v) : 0); */
static void put(uint32_t at, struct sl_pick_entry entry)
{
    sl_pick_list[at] = entry;
    /*@ ghost
      /@ loop invariant 0 <= k <= SL_DOMAINS_MAX;
         loop invariant \forall integer v, n; 0 <= n <= k ==> PickOver(v, n) ==
           PickOver{Pre}(v, n) +
           (at < n ? Over(entry.slices, v) - Over(\at(sl_pick_list[at].slices, Pre), v) : 0);
         loop assigns k; loop variant SL_DOMAINS_MAX - k; @/
      for (uint32_t k = 0; k < SL_DOMAINS_MAX; k++) ;
    */
}

/*@ ghost
  /@ terminates \true; exits \false; assigns \nothing;
     ensures turn: !PickBefore(b, a) && !PickBefore(c, b) ==> !PickBefore(c, a); @/
  static void in_turn(struct sl_pick_entry a, struct sl_pick_entry b, struct sl_pick_entry c) { }
*/

/*@ requires sound: ListSound && at < sl_pick_count; terminates \true; exits \false; assigns LIST;
    ensures sound: ListSound;
    ensures ordered: \old(PickOrderedFrom(at + 1)) ==> PickOrderedFrom(at);
    ensures current: \old(PickCurrent) ==> PickCurrent;
    ensures over: \forall integer v; PickAllOver(v) == \old(PickAllOver(v)); */
static void sift_down(uint32_t at)
{
    struct sl_pick_entry moving = sl_pick_list[at];
    //@ ghost uint32_t parent = at;
    /*@
      loop invariant sound: ListSound && \at(at, Pre) <= at < sl_pick_count;
      loop invariant current: \at(PickCurrent, Pre) ==> PickCurrent;
      loop invariant over: \forall integer v; PickAllOver(v) ==
        PickAllOver{Pre}(v) + Over(sl_pick_list[at].slices, v) - Over(moving.slices, v);
      loop invariant first: at == \at(at, Pre) ==> \at(PickOrderedFrom(at + 1), Pre) ==>
        PickOrderedFrom(at + 1);
      loop invariant then: at != \at(at, Pre) ==> \at(PickOrderedFrom(at + 1), Pre) ==>
        PickOrderedFrom(\at(at, Pre));
      loop invariant parent: \at(at, Pre) <= parent <= at;
      loop invariant above: at != \at(at, Pre) ==>
        (at == 2 * parent + 1 || at == 2 * parent + 2) &&
        !PickBefore(moving, sl_pick_list[parent]);
      loop assigns at, parent, LIST;
      loop variant sl_pick_count - at;
    */
    while (at < sl_pick_count / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < sl_pick_count && before(sl_pick_list[child + 1], sl_pick_list[child])) {
            child++;
        }
        //@ ghost in_turn(sl_pick_list[parent], sl_pick_list[at], sl_pick_list[child]);
        //@ ghost in_turn(moving, sl_pick_list[child], sl_pick_list[2 * at + 1]);
        /*@ ghost if (2 * at + 2 < sl_pick_count) {
              in_turn(moving, sl_pick_list[child], sl_pick_list[2 * at + 2]); } */
        if (!before(sl_pick_list[child], moving)) {
            break;
        }
        /*@ assert belongs: \at(PickOrderedFrom(at + 1), Pre) ==>
              Belongs(\at(at, Pre), at, sl_pick_list[child]); */
        //@ assert but: \at(PickOrderedFrom(at + 1), Pre) ==> OrderedBut(\at(at, Pre), at);
        put(at, sl_pick_list[child]);
        //@ ghost parent = at;
        at = child;
    }
    //@ assert belongs: Belongs(\at(at, Pre), at, moving);
    //@ assert but: \at(PickOrderedFrom(at + 1), Pre) ==> OrderedBut(\at(at, Pre), at);
    put(at, moving);
}

/*@ requires sound: PickSound; assigns leaders_count; ensures sound: PickSound; */
void sl_pick_start(bool leaders_first)
{
    sl_pick_count = 0;
    sl_pick_has_front = false;
    leaders_count = leaders_first;
}

/*@ requires sound: PickSound; ensures sound: PickSound; */
void sl_pick_add(uint32_t spot)
{
    if (sl_pick_count < SL_DOMAINS_MAX) {
        put(sl_pick_count, entry_of(spot));
        sl_pick_count++;
    }
}

/* The first spot of the list that can take the leader while all together still take what is
 * needed; SL_NO_ID, or its index. */
/*@ requires ready: PickSound && FitsInRange; terminates \true; exits \false; assigns \nothing;
    ensures known: \result < sl_pick_count || \result == SL_NO_ID; */
static uint32_t find_front(struct sl_pick_need need)
{
    struct sl_pick_need unled = {.slices = need.slices};
    int64_t capacity = 0;
    uint32_t best = SL_NO_ID;
    /*@ loop invariant fit: IsFit(capacity); loop assigns i, capacity;
        loop variant sl_pick_count - i; */
    for (uint32_t i = 0; i < sl_pick_count; i++) {
        capacity = sl_counts_bounded(capacity + sl_pick_capacity(sl_pick_list[i].spot, unled));
    }
    /*@ loop invariant known: i <= sl_pick_count && (best < i || best == SL_NO_ID);
        loop assigns i, best; loop variant sl_pick_count - i; */
    for (uint32_t i = 0; i < sl_pick_count; i++) {
        uint32_t spot = sl_pick_list[i].spot;
        int64_t lost = sl_pick_capacity(spot, unled) - sl_pick_capacity(spot, need);
        if (sl_pick_leaders(spot) >= need.leaders && capacity - lost >= need.amount &&
            (best == SL_NO_ID || before(sl_pick_list[i], sl_pick_list[best]))) {
            best = i;
        }
    }
    return best;
}

/*@ requires sound: ListSound; terminates \true; exits \false; assigns LIST;
    ensures sound: ListSound;
    ensures ordered: PickOrdered;
    ensures current: \old(PickCurrent) ==> PickCurrent;
    ensures over: \forall integer v; PickAllOver(v) == \old(PickAllOver(v)); */
static void build(void)
{
    /*@
      loop invariant sound: ListSound && i <= sl_pick_count;
      loop invariant current: \at(PickCurrent, Pre) ==> PickCurrent;
      loop invariant over: \forall integer v; PickAllOver(v) == PickAllOver{Pre}(v);
      loop invariant ordered: PickOrderedFrom(i);
      loop assigns i, LIST;
      loop variant i;
    */
    for (uint32_t i = sl_pick_count / 2; i > 0; i--) {
        sift_down(i - 1);
    }
}

/*@ requires sound: PickSound; assigns front; ensures sound: PickSound; */
void sl_pick_ready(struct sl_pick_need need)
{
    if (need.leaders > 0 && sl_pick_count > 0) {
        uint32_t best = find_front(need);
        if (best < sl_pick_count) {
            sl_pick_has_front = true;
            front = sl_pick_list[best];
            sl_pick_count--;
            sl_pick_list[best] = sl_pick_list[sl_pick_count];
        }
    }
    build();
}

/*@ ghost
  /@ requires sound: ListSound; terminates \true; exits \false; assigns \nothing;
     ensures first: PickOrdered ==> \forall integer i; 0 <= i < sl_pick_count ==>
       !PickBefore(sl_pick_list[i], sl_pick_list[0]); @/
  static void first_is_first(void)
  {
      /@ loop invariant i <= sl_pick_count;
         loop invariant PickOrdered ==>
           \forall integer j; 0 <= j < 2 * i + 1 && j < sl_pick_count ==>
             !PickBefore(sl_pick_list[j], sl_pick_list[0]);
         loop assigns i; loop variant sl_pick_count - i; @/
      for (uint32_t i = 0; i < sl_pick_count; i++) {
          if (2 * i + 1 < sl_pick_count) {
              in_turn(sl_pick_list[0], sl_pick_list[i], sl_pick_list[2 * i + 1]);
          }
          if (2 * i + 2 < sl_pick_count) {
              in_turn(sl_pick_list[0], sl_pick_list[i], sl_pick_list[2 * i + 2]);
          }
      }
  }
*/

/*@ ghost
  /@ requires within: sl_pick_count <= SL_DOMAINS_MAX; terminates \true; exits \false;
     assigns \nothing;
     ensures none: (\forall integer i; 0 <= i < sl_pick_count ==> sl_pick_list[i].slices <= v) ==>
       PickAllOver(v) == 0; @/
  static void none_is_over(int64_t v)
  {
      /@ loop invariant 0 <= k <= sl_pick_count;
         loop invariant (\forall integer i; 0 <= i < k ==> sl_pick_list[i].slices <= v) ==>
           PickOver(v, k) == 0;
         loop assigns k; loop variant sl_pick_count - k; @/
      for (uint32_t k = 0; k < sl_pick_count; k++) ;
  }
*/

/*@ requires sound: PickSound; ensures sound: PickSound; */
uint32_t sl_pick_next(void)
{
    if (sl_pick_has_front) {
        sl_pick_has_front = false;
        return front.spot;
    }
    if (sl_pick_count == 0) {
        return SL_NO_ID;
    }
    struct sl_pick_entry first = sl_pick_list[0];
    //@ ghost first_is_first();
    //@ ghost none_is_over(first.slices);
    sl_pick_count--;
    if (sl_pick_count > 0) {
        put(0, sl_pick_list[sl_pick_count]);
        sift_down(0);
    }
    return first.spot;
}

/*@ requires sound: PickSound; */
uint32_t sl_pick_tightest(uint32_t taken, struct sl_pick_need need)
{
    struct sl_pick_entry of_taken = entry_of(taken);
    if (sl_pick_count > 0 && sl_pick_list[0].score != of_taken.score) {
        return taken;
    }
    uint32_t best = SL_NO_ID;
    int64_t least = takes_all(taken, need) ? sl_pick_capacity(taken, need) : INT64_MAX;
    /*@ loop invariant known: i <= sl_pick_count && (best < i || best == SL_NO_ID);
        loop assigns i, best, least; loop variant sl_pick_count - i; */
    for (uint32_t i = 0; i < sl_pick_count; i++) {
        uint32_t spot = sl_pick_list[i].spot;
        int64_t capacity = sl_pick_capacity(spot, need);
        if (capacity > least || sl_pick_list[i].score != of_taken.score || !takes_all(spot, need)) {
            continue;
        }
        if (capacity < least || (best != SL_NO_ID && before(sl_pick_list[i], sl_pick_list[best]))) {
            least = capacity;
            best = i;
        }
    }
    return best != SL_NO_ID ? sl_pick_list[best].spot : taken;
}

/* --- without a list --- */

/*@ assigns leaders_count; */
uint32_t sl_pick_first(uint32_t first, uint32_t end, struct sl_pick_need need, bool fitting)
{
    struct sl_pick_entry best = {.spot = SL_NO_ID};
    leaders_count = true;
    /*@ loop invariant known: best.spot < SL_SPOTS_MAX || best.spot == SL_NO_ID;
        loop assigns spot, best; loop variant end - spot; */
    for (uint32_t spot = first; spot < end; spot++) {
        if (!fitting || takes_all(spot, need)) {
            struct sl_pick_entry e = entry_of(spot);
            if (best.spot == SL_NO_ID || before(e, best)) {
                best = e;
            }
        }
    }
    return best.spot;
}

/*@ assigns leaders_count; */
uint32_t sl_pick_tightest_like(uint32_t first, uint32_t end, struct sl_pick_need need,
                               uint32_t like)
{
    leaders_count = true;
    struct sl_pick_entry best = entry_of(like);
    int64_t least = sl_pick_capacity(like, need);
    /*@ loop invariant known: best.spot < SL_SPOTS_MAX; loop assigns spot, best, least;
        loop variant end - spot; */
    for (uint32_t spot = first; spot < end; spot++) {
        int64_t capacity = sl_pick_capacity(spot, need);
        if (capacity > least || !takes_all(spot, need)) {
            continue;
        }
        struct sl_pick_entry e = entry_of(spot);
        if (e.score == best.score && (capacity < least || before(e, best))) {
            least = capacity;
            best = e;
        }
    }
    return best.spot;
}
