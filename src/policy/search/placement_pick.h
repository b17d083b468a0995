/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A list of spots from which the next is taken in the order of placement; as much of it is sorted
 * as is taken. Order: [with leaders first,] higher preference, more slices (fewer when the fullest
 * domains are wanted), fewer pods, the order of the tree. Owns the list; figures of a spot are
 * those of when it was added. */
#ifndef SL_POLICY_PLACEMENT_PICK_H
#define SL_POLICY_PLACEMENT_PICK_H
#include "policy/search/placement_state.h"

/* How much is to be taken, and in what unit. */
struct sl_pick_need {
    int64_t amount; /* slices or pods */
    uint32_t leaders;
    bool slices;
};

/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_pick_start(bool leaders_first);
/*@ requires spot: spot < SL_SPOTS_MAX; terminates \true; exits \false; assigns sl_hidden; */
void sl_pick_add(uint32_t spot);
/* All are in the list. With a leader to be placed, the first spot becomes one where the leader does
 * not take the capacity of too many pods, if there is one. */
/*@ requires fits: FitsInRange; terminates \true; exits \false; assigns sl_hidden; */
void sl_pick_ready(struct sl_pick_need need);
/* Takes the next out of the list; SL_NO_ID = there is none. */
/*@ terminates \true; exits \false; assigns sl_hidden;
    ensures known: \result < SL_SPOTS_MAX || \result == SL_NO_ID; */
uint32_t sl_pick_next(void);
/* Of the spot just taken and those still in the list, among the preferred ones: the one that
 * takes all that is needed and could take least beyond it; the spot itself if there is none. */
/*@ requires known: taken < SL_SPOTS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_SPOTS_MAX; */
uint32_t sl_pick_tightest(uint32_t taken, struct sl_pick_need need);

/* Of the spots first .. end - 1, without any list: the first in order, of those that take all that
 * is needed when `fitting`; SL_NO_ID = none. */
/*@ requires known: end <= SL_SPOTS_MAX; terminates \true; exits \false; assigns sl_hidden;
    ensures known: \result < SL_SPOTS_MAX || \result == SL_NO_ID; */
uint32_t sl_pick_first(uint32_t first, uint32_t end, struct sl_pick_need need, bool fitting);
/* The tightest among them of those that are preferred as much as `like`. */
/*@ requires known: end <= SL_SPOTS_MAX && like < SL_SPOTS_MAX; terminates \true; exits \false;
    assigns sl_hidden; ensures known: \result < SL_SPOTS_MAX; */
uint32_t sl_pick_tightest_like(uint32_t first, uint32_t end, struct sl_pick_need need,
                               uint32_t like);
/* What the spot can take, in that unit. */
/*@ requires known: spot < SL_SPOTS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures result: \result == (need.leaders > 0
      ? (need.slices ? sl_fit_slices_led[spot] : sl_fit_pods_led[spot])
      : (need.slices ? sl_fit_slices[spot] : sl_fit_pods[spot])); */
int64_t sl_pick_capacity(uint32_t spot, struct sl_pick_need need);
/*@ requires known: spot < SL_SPOTS_MAX; terminates \true; exits \false; assigns \nothing; */
uint32_t sl_pick_leaders(uint32_t spot);
#endif
