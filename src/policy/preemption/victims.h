/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preemption only: victims are taken out of the ledger one by one, in a trial, until the
 * preemptor fits; then every victim that is not needed is put back. Owns sl_victims. */
#ifndef SL_POLICY_VICTIMS_H
#define SL_POLICY_VICTIMS_H
#include "kernel/commit/workload_usage.h"
#include "kernel/base/types.h"
#include "policy/preemption/preemption.h"
#include "specs/victims.acsl"

/* Open the trial, with no victim; returns its mark. Close it, with everything as it was before. The
 * list stays. */
/*@ requires ready: TrialReady && WorkloadUsageValid && PlaceReady && QuestionAsked &&
      sl_trail_depth < INT32_MAX;
    terminates \true; exits \false; assigns sl_hidden, sl_victims.count, sl_trail_depth;
    ensures tried: VictimsTried && sl_victims.count == 0;
    ensures mark: \result == sl_trail_count && ExactBefore(\result) &&
      \forall integer c; 0 <= c < SL_CELLS_MAX ==> own_before(c, \result) == sl_cell_own[c] &&
        usage_before(c, \result) == sl_cell_usage[c];
    ensures open: sl_trail_depth == \old(sl_trail_depth) + 1 &&
      (sl_trail_depth == 1 ==> \result == 0);
    ensures past: SamePast{Pre, Post}(sl_trail_count); */
uint32_t sl_victims_begin(void);
/*@ requires tried: LedgerReady && SharesReady && AssumedInRange && sl_trail_depth > 0;
    requires mark: mark <= sl_trail_count && (sl_trail_depth == 1 ==> mark == 0) &&
      ExactBefore(mark);
    terminates \true; exits \false; assigns sl_hidden, SL_ASSUMED, SL_TRIED, sl_trail_depth;
    ensures ready: LedgerReady && SharesReady && AssumedInRange;
    ensures back: \forall integer c; 0 <= c < SL_CELLS_MAX ==>
      sl_cell_own[c] == \old(own_before(c, mark)) &&
      sl_cell_usage[c] == \old(usage_before(c, mark));
    ensures closed: sl_trail_depth == \old(sl_trail_depth) - 1 && sl_trail_count == mark;
    ensures past: SamePast{Pre, Post}(mark); */
void sl_victims_end(uint32_t mark);

/* One more goes. False: there is no room, in list or trail. */
/*@ requires tried: VictimsTried; terminates \true; exits \false;
    assigns sl_hidden, sl_victims, SL_TRIED, SL_ASSUMED;
    ensures tried: VictimsTried && PastKept{Pre, Post}; */
bool sl_victims_take(sl_workload_id id, enum sl_preempt_reason reason);
/* Would the preemptor fit now, borrowing if it may, and find a place where it asks for one, or have that which was found? */
/*@ requires ledger: LedgerReady && PlaceReady && QuestionAsked; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED, SL_PLACED;
    ensures capacities: PlaceReady;
    ensures met: \result ==> NeedsMet(may_borrow);
    ensures unmet: !\result && sl_preemption_question.places == 0 ==> !NeedsMet(may_borrow); */
bool sl_victims_suffice(bool may_borrow);
/* Put back the victims that it does not need, the one taken last first. It needs every one that
 * remains; a single one is tried only for places that were found, for victims are sought where the preemptor does not fit
 * without any. False: the trail has no room to try that. */
/*@ requires tried: VictimsTried; requires met: NeedsMet(may_borrow); terminates \true;
    exits \false; assigns sl_hidden, sl_victims, SL_TRIED, sl_trail_depth, SL_ASSUMED, SL_PLACED;
    ensures tried: VictimsTried && PastKept{Pre, Post} && sl_trail_depth == \old(sl_trail_depth);
    ensures met: NeedsMet(may_borrow);
    ensures needed: \result && !\old(OneFits(may_borrow)) ==> NoneSparable(may_borrow, 0); */
bool sl_victims_spare(bool may_borrow);
#endif
