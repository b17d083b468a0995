/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The list of placement_pick.h itself, for placement_pick.c and for proofs about the order in which
 * it is handed out: no other file includes this. While spots are added they are in the order of
 * adding. When all are there the list is a heap: each comes before the two that are twice as far
 * from the start. */
#ifndef SL_POLICY_PLACEMENT_PICK_LIST_H
#define SL_POLICY_PLACEMENT_PICK_LIST_H
#include "policy/search/placement_pick.h"

struct sl_pick_entry {
    int64_t score;
    int64_t slices;
    int64_t pods;
    uint32_t leaders;
    uint32_t spot;
};
extern struct sl_pick_entry sl_pick_list[SL_DOMAINS_MAX];
extern uint32_t sl_pick_count;
extern bool sl_pick_has_front; /* one that goes before all others, and is not in the list */

/* clang-format off */
#define SL_PICK_LIST sl_pick_list[0 .. SL_DOMAINS_MAX - 1], sl_pick_count, sl_pick_has_front
/* clang-format on */

#include "specs/pick.acsl"

/*@ assigns SL_PICK_LIST; ensures none: sl_pick_count == 0 && PickCurrent; */
void sl_pick_start(bool leaders_first);
/*@ assigns SL_PICK_LIST;
    ensures one: \old(sl_pick_count) < SL_DOMAINS_MAX ==> sl_pick_count == \old(sl_pick_count) + 1;
    ensures current: PickPlain && \old(PickCurrent) ==> PickCurrent;
    ensures over: PickPlain && \old(sl_pick_count) < SL_DOMAINS_MAX ==> \forall integer v;
      PickAllOver(v) == \old(PickAllOver(v)) + Over(sl_fit_slices[spot], v); */
void sl_pick_add(uint32_t spot);
/*@ assigns SL_PICK_LIST;
    ensures current: need.leaders == 0 && \old(PickCurrent) ==> PickCurrent;
    ensures same: need.leaders == 0 ==> sl_pick_count == \old(sl_pick_count) &&
      \forall integer v; PickAllOver(v) == \old(PickAllOver(v));
    ensures ordered: PickOrdered; */
void sl_pick_ready(struct sl_pick_need need);
/* In the plain case the one that takes most, as many as any of those that stay. */
/*@ assigns SL_PICK_LIST;
    ensures ordered: \old(PickOrdered) ==> PickOrdered;
    ensures current: \old(PickCurrent) ==> PickCurrent;
    ensures none: \old(PickCurrent) && \result == SL_NO_ID ==>
      \old(sl_pick_count) == 0 && sl_pick_count == 0;
    ensures one: \old(PickCurrent) && \result != SL_NO_ID ==>
      sl_pick_count == \old(sl_pick_count) - 1 && \forall integer v;
      PickAllOver(v) == \old(PickAllOver(v)) - Over(sl_fit_slices[\result], v);
    ensures most: PickPlain && \old(PickCurrent && PickOrdered) && \result != SL_NO_ID ==>
      PickAllOver(sl_fit_slices[\result]) == 0; */
uint32_t sl_pick_next(void);
#endif
