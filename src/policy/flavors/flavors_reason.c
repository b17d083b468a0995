/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavor assignment, what is said: details and attempts, and the reason why nothing fits. Of the
 * flavors of a resource group the least grave reason counts (any of them would do), of the
 * resource groups the gravest (all of them are needed). */
#include "policy/flavors/flavors_scan.h"

static enum sl_gravity least_grave; /* of this resource group's flavors; NONE = no failure yet */
static enum sl_gravity gravest;     /* of the resource groups before */

static const enum sl_pending_reason reasons[] = {
    [SL_GRAVITY_NONE] = SL_PENDING_NO_MATCHING_FLAVOR, /* nothing was tried */
    [SL_GRAVITY_WAITING] = SL_PENDING_WAITING_FOR_QUOTA,
    [SL_GRAVITY_EXCEEDS] = SL_PENDING_EXCEEDS_MAX_QUOTA,
    [SL_GRAVITY_NO_MATCH] = SL_PENDING_NO_MATCHING_FLAVOR,
};

/*@
  predicate Graves{L} = least_grave <= SL_GRAVITY_NO_MATCH && gravest <= SL_GRAVITY_NO_MATCH;
*/

void sl_flavors_note(enum sl_miss miss, sl_flavor_id flavor, sl_resource_id resource,
                     int64_t amount)
{
    /*@
      loop invariant sound: AssignmentSound;
      loop invariant more: sl_assignment.detail_count >= \at(sl_assignment.detail_count, Pre);
      loop assigns i, SL_DETAILS;
      loop variant sl_want.set_count - i;
    */
    for (uint32_t i = 0; i < sl_want.set_count; i++) {
        if (sl_assignment.detail_count >= SL_DETAILS_MAX) {
            sl_assignment.details_left_out++;
        } else {
            struct sl_detail detail = {sl_want.indexes[i], miss, flavor, resource, amount};
            sl_assignment.details[sl_assignment.detail_count] = detail;
            sl_assignment.detail_count++;
        }
    }
}

/*@ terminates \true; exits \false; assigns \nothing; */
static enum sl_possibility possibility_of(enum sl_fit fit)
{
    switch (fit) {
    case SL_FIT_PREEMPT:
        return SL_PREEMPT;
    case SL_FIT_RECLAIM:
        return SL_RECLAIM;
    default:
        return SL_NO_CANDIDATES;
    }
}

/*@ requires graves: Graves; terminates \true; exits \false; assigns least_grave;
    ensures graves: Graves; */
void sl_flavors_note_attempt(sl_flavor_id flavor, struct sl_verdict verdict)
{
    if (verdict.fit == SL_FIT_NOT &&
        (least_grave == SL_GRAVITY_NONE || verdict.gravity < least_grave)) {
        least_grave = verdict.gravity;
    }
    /*@
      loop invariant sound: AssignmentSound;
      loop assigns i, sl_assignment.attempts[0 .. SL_ATTEMPTS_MAX - 1],
                   sl_assignment.attempt_count;
      loop variant sl_want.set_count - i;
    */
    for (uint32_t i = 0; i < sl_want.set_count; i++) {
        if (sl_assignment.attempt_count < SL_ATTEMPTS_MAX) {
            struct sl_attempt attempt = {sl_want.indexes[i],           flavor,
                                         sl_flavors_mode(verdict.fit), possibility_of(verdict.fit),
                                         verdict.borrow_height,        reasons[verdict.gravity]};
            sl_assignment.attempts[sl_assignment.attempt_count] = attempt;
            sl_assignment.attempt_count++;
        }
    }
}

struct sl_notes_mark sl_flavors_mark_notes(void)
{
    struct sl_notes_mark mark = {sl_assignment.detail_count, sl_assignment.details_left_out};
    return mark;
}

void sl_flavors_drop_notes(struct sl_notes_mark from, struct sl_notes_mark to)
{
    uint32_t gone = to.details - from.details;
    /*@
      loop invariant i: to.details <= i;
      loop assigns i, sl_assignment.details[0 .. SL_DETAILS_MAX - 1];
      loop variant sl_assignment.detail_count - i;
    */
    for (uint32_t i = to.details; i < sl_assignment.detail_count; i++) {
        sl_assignment.details[i - gone] = sl_assignment.details[i];
    }
    sl_assignment.detail_count -= gone;
    sl_assignment.details_left_out -= to.left_out - from.left_out;
}

/*@ terminates \true; exits \false; assigns least_grave, gravest; ensures graves: Graves; */
void sl_flavors_begin_reason(void)
{
    least_grave = SL_GRAVITY_NONE;
    gravest = SL_GRAVITY_NONE;
}

/*@ requires graves: Graves; terminates \true; exits \false; assigns least_grave, gravest;
    ensures graves: Graves; */
void sl_flavors_end_resource_group(void)
{
    gravest = least_grave > gravest ? least_grave : gravest;
    least_grave = SL_GRAVITY_NONE;
}

/*@ requires graves: Graves; terminates \true; exits \false; assigns \nothing; */
enum sl_pending_reason sl_flavors_reason(void)
{
    return reasons[gravest];
}
