/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Victims: usage follows from what is charged, so that a victim that is put back leaves no trace,
 * whatever was taken in between. */
#include "policy/preemption/victims.h"

#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_view.h"
#include "kernel/ledger/trail.h"
#include "policy/topology/assumed.h"
#include "policy/placement/placement.h"
#include "policy/placement/placement_holds.h"
#include "policy/preemption/tentative.h"

struct sl_victims sl_victims;

static uint32_t capacity_mark;

/* --- victims that are put back --------------------------------------------------------------- */

/* False: there is no room to try it. */
/*@ requires ledger: LedgerReady && WorkloadUsageValid && sl_trail_depth > 0; terminates \true;
    exits \false; assigns SL_TRIED; ensures ledger: LedgerReady && PastKept{Pre, Post};
    ensures own: \result ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
      sl_cell_own[c] == \old(own_with(c, id)) && sl_cell_own[c] >= \old(sl_cell_own[c]); */
static bool charge(sl_workload_id id)
{
    uint32_t count = sl_commit_usage_count(id);
    /*@
      loop invariant index: 0 <= i <= count;
      loop invariant ledger: LedgerReady && PastKept{Pre, Here};
      loop invariant own: \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] ==
        \at(sl_cell_own[c], Pre) + (id < SL_WORKLOADS_MAX ? RowSum(id, c, i) : 0);
      loop invariant grown: \forall integer c; 0 <= c < SL_CELLS_MAX ==>
        sl_cell_own[c] >= \at(sl_cell_own[c], Pre);
      loop assigns i, SL_TRIED;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_cell_amount usage = sl_commit_usage(id, i);
        if (usage.amount > 0 && sl_ledger_charge(usage.cell, usage.amount) != SL_OK) {
            return false;
        }
    }
    return true;
}

/* The capacities are looked at only where a place is asked for. */
/*@ requires ready: PlaceReady; terminates \true; exits \false; assigns sl_hidden, SL_ASSUMED;
    ensures ready: PlaceReady; */
static bool release_capacity(sl_workload_id id)
{
    return !sl_preemption_question.places || sl_assumed_free(id);
}

/*@ requires ready: PlaceReady; terminates \true; exits \false; assigns sl_hidden, SL_ASSUMED;
    ensures ready: PlaceReady;
    ensures unasked: sl_preemption_question.places == 0 ==> \result; */
static bool occupy_capacity(sl_workload_id id)
{
    uint32_t count = sl_preemption_question.places ? sl_booking_count(id) : 0;
    /*@
      loop invariant ready: PlaceReady;
      loop assigns i, sl_hidden, SL_ASSUMED;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_booking booking = sl_booking_at(id, i);
        if (!sl_assumed_add(booking.site, booking.measure, booking.amount)) {
            return false;
        }
    }
    return true;
}

/* --- the trial ------------------------------------------------------------------------------- */

/*@ assigns sl_victims.count, capacity_mark, sl_trail_depth; */
uint32_t sl_victims_begin(void)
{
    sl_victims.count = 0;
    capacity_mark = sl_assumed_mark();
    return sl_trail_begin();
}

void sl_victims_end(uint32_t mark)
{
    sl_trail_rollback(mark);
    sl_assumed_back(capacity_mark);
}

bool sl_victims_take(sl_workload_id id, enum sl_preempt_reason reason)
{
    if (sl_victims.count == SL_VICTIMS_MAX || !sl_tentative_free(id) || !release_capacity(id)) {
        return false;
    }
    sl_victims.workloads[sl_victims.count] = id;
    sl_victims.reasons[sl_victims.count] = reason;
    sl_victims.count++;
    return true;
}

/*@ requires ledger: LedgerReady; requires need: QuestionAsked &&
      index < sl_preemption_question.need_count; terminates \true;
    exits \false; assigns \nothing; ensures met: \result <==> NeedMet(index, may_borrow); */
static bool need_met(uint32_t index, bool may_borrow)
{
    struct sl_need need = sl_preemption_question.needs[index];
    int64_t available = sl_ledger_available(need.cell);
    if (!may_borrow && sl_ledger_usage(need.cell) + need.amount > sl_ledger_subtree(need.cell)) {
        return false;
    }
    return need.amount <= (available > 0 ? available : 0);
}

bool sl_victims_suffice(bool may_borrow)
{
    /*@
      loop invariant met: \forall integer j; 0 <= j < i ==> NeedMet(j, may_borrow);
      loop invariant index: i <= sl_preemption_question.need_count;
      loop assigns i;
      loop variant sl_preemption_question.need_count - i;
    */
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        if (!need_met(i, may_borrow)) {
            return false;
        }
    }
    if (!sl_preemption_question.places) {
        return true;
    }
    if (!sl_preemption_question.placed) {
        return sl_placement_find();
    }
    return sl_placement_holds(sl_placement_question.keeps ? sl_placement_question.old : SL_NO_ID);
}

/* --- sparing --------------------------------------------------------------------------------- */

enum outcome { BACK, NEEDED, NO_CAPACITY };

/* Take back what was charged for one. What did not fit then is what would not fit with it: usage
 * follows from what is charged, shown from the deepest level upwards, and what is available from
 * usage, shown from the roots downwards. */
/*@ requires ledger: LedgerReady && PlaceReady && QuestionAsked && sl_trail_depth > 0;
    requires mark: mark <= sl_trail_count && (sl_trail_depth == 1 ==> mark == 0) &&
      ExactBefore(mark);
    requires charged: \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] ==
      own_before(c, mark) + (id < SL_WORKLOADS_MAX ? RowSum(id, c, sl_usage_counts[id]) : 0);
    terminates \true; exits \false;
    assigns sl_hidden, SL_TRIED, sl_trail_depth, SL_ASSUMED;
    ensures ledger: LedgerReady && PlaceReady && SamePast{Pre, Post}(mark) &&
      sl_trail_count == mark && sl_trail_depth == \old(sl_trail_depth) - 1;
    ensures back: \forall integer c; 0 <= c < SL_CELLS_MAX ==>
      sl_cell_own[c] == \old(own_before(c, mark)) &&
      sl_cell_usage[c] == \old(usage_before(c, mark));
    ensures needed: \forall integer b; !\old(NeedsMet(b)) ==> !NeedsMetWith(b, id); */
static void take_back(uint32_t mark, uint32_t capacities, sl_workload_id id)
{
    (void)id;
    sl_trail_rollback(mark);
    sl_assumed_back(capacities);
    /*@ ghost
      uint32_t l = SL_LEVELS_MAX;
      /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
         loop invariant \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) >= l ==>
             \at(sl_cell_usage[c], Pre) == usage_with(c, id);
         loop assigns l;
         loop variant l; @/
      while (l > 0) {
        l--;
        /@ loop invariant 0 <= k <= SL_CELLS_MAX;
           loop invariant \forall integer p; 0 <= p < SL_CELLS_MAX && cell_level(p) == l ==>
               stored_sum{Pre}(p, k) == stored_with(p, k, id);
           loop assigns k;
           loop variant SL_CELLS_MAX - k; @/
        for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
      }
      /@ loop invariant 0 <= m <= SL_LEVELS_MAX;
         loop invariant \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) < m ==>
             available{Pre}(c) == available_with(c, id);
         loop assigns m;
         loop variant SL_LEVELS_MAX - m; @/
      for (uint32_t m = 0; m < SL_LEVELS_MAX; m++) ;
    */
}

/* Put one back, unless the preemptor would not fit any more. */
/*@ requires tried: VictimsTried; terminates \true; exits \false;
    assigns sl_hidden, SL_TRIED, sl_trail_depth, SL_ASSUMED, SL_PLACED;
    ensures tried: VictimsTried && PastKept{Pre, Post} && sl_trail_depth == \old(sl_trail_depth);
    ensures same: \result != BACK ==> UsageSame{Pre, Post};
    ensures met: \result == BACK ==> NeedsMet(may_borrow);
    ensures needed: \result == NEEDED && sl_preemption_question.places == 0 ==>
      !NeedsMetWith(may_borrow, id);
    ensures grown: \forall integer c; 0 <= c < SL_CELLS_MAX ==>
      sl_cell_own[c] >= \old(sl_cell_own[c]); */
static enum outcome try_back(sl_workload_id id, bool may_borrow)
{
    uint32_t mark = sl_trail_begin();
    uint32_t capacities = sl_assumed_mark();
    enum outcome outcome = NEEDED;
    if (!charge(id)) {
        outcome = NO_CAPACITY;
        sl_trail_rollback(mark);
        //@ assert same: UsageSame{Pre, Here};
        //@ assert past: SamePast{Pre, Here}(sl_trail_count) && sl_trail_count == mark;
    } else if (occupy_capacity(id) && sl_victims_suffice(may_borrow)) {
        outcome = BACK;
        sl_trail_keep(mark);
        //@ assert kept: PastKept{Pre, Here} && LedgerReady;
    } else {
        take_back(mark, capacities, id);
        //@ assert same: UsageSame{Pre, Here};
        //@ assert past: SamePast{Pre, Here}(sl_trail_count) && sl_trail_count == mark;
    }
    //@ assert past: PastKept{Pre, Here};
    //@ assert ledger: LedgerReady;
    return outcome;
}

/* The same. The preemptor fits as before: what is available follows from usage, shown from the roots
 * downwards. */
/*@ requires tried: VictimsTried; requires met: NeedsMet(may_borrow); terminates \true;
    exits \false; assigns sl_hidden, SL_TRIED, sl_trail_depth, SL_ASSUMED, SL_PLACED;
    ensures tried: VictimsTried && PastKept{Pre, Post} && sl_trail_depth == \old(sl_trail_depth);
    ensures met: NeedsMet(may_borrow);
    ensures needed: \result == NEEDED && sl_preemption_question.places == 0 ==>
      !NeedsMetWith(may_borrow, id);
    ensures grown: \forall integer c; 0 <= c < SL_CELLS_MAX ==>
      sl_cell_own[c] >= \old(sl_cell_own[c]); */
static enum outcome put_back(sl_workload_id id, bool may_borrow)
{
    enum outcome outcome = try_back(id, may_borrow);
    /*@ ghost
      /@ loop invariant 0 <= m <= SL_LEVELS_MAX;
         loop invariant \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) < m &&
             outcome != BACK ==> available(c) == available{Pre}(c);
         loop assigns m;
         loop variant SL_LEVELS_MAX - m; @/
      for (uint32_t m = 0; m < SL_LEVELS_MAX; m++) {
        /@ assert \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) == m &&
               outcome != BACK ==> available(c) == available{Pre}(c); @/
      }
    */
    return outcome;
}

/* The same. Whatever became of it, nothing is charged less than before, so that no other victim can
 * be spared that could not be before. */
/*@ requires tried: VictimsTried; requires met: NeedsMet(may_borrow); terminates \true;
    exits \false; assigns sl_hidden, SL_TRIED, sl_trail_depth, SL_ASSUMED, SL_PLACED;
    ensures tried: VictimsTried && PastKept{Pre, Post} && sl_trail_depth == \old(sl_trail_depth);
    ensures met: NeedsMet(may_borrow);
    ensures needed: \result == NEEDED && sl_preemption_question.places == 0 ==>
      !NeedsMetWith(may_borrow, id);
    ensures others: \forall integer w; !\old(NeedsMetWith(may_borrow, w)) ==>
      !NeedsMetWith(may_borrow, w); */
static enum outcome spare_one(sl_workload_id id, bool may_borrow)
{
    enum outcome outcome = put_back(id, may_borrow);
    /*@ ghost
      uint32_t l = SL_LEVELS_MAX;
      /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
         loop invariant \forall integer c, w; 0 <= c < SL_CELLS_MAX && cell_level(c) >= l ==>
             usage_with{Pre}(c, w) <= usage_with(c, w);
         loop assigns l;
         loop variant l; @/
      while (l > 0) {
        l--;
        /@ loop invariant 0 <= k <= SL_CELLS_MAX;
           loop invariant \forall integer p, w; 0 <= p < SL_CELLS_MAX && cell_level(p) == l ==>
               stored_with{Pre}(p, k, w) <= stored_with(p, k, w);
           loop assigns k;
           loop variant SL_CELLS_MAX - k; @/
        for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
      }
      /@ loop invariant 0 <= m <= SL_LEVELS_MAX;
         loop invariant \forall integer c, w; 0 <= c < SL_CELLS_MAX && cell_level(c) < m ==>
             available_with(c, w) <= available_with{Pre}(c, w);
         loop assigns m;
         loop variant SL_LEVELS_MAX - m; @/
      for (uint32_t m = 0; m < SL_LEVELS_MAX; m++) ;
    */
    return outcome;
}

/* Of those from `kept` on each is needed. Nobody is put back any more. */
/*@ requires victims: VictimsSound && kept <= sl_victims.count;
    terminates \true; exits \false; assigns sl_victims; ensures victims: VictimsSound;
    ensures needed: \old(NoneSparable(may_borrow, kept)) ==> NoneSparable(may_borrow, 0); */
static void move_up(uint32_t kept, bool may_borrow)
{
    uint32_t count = sl_victims.count;
    (void)may_borrow;
    /*@
      loop invariant index: kept <= i <= count;
      loop invariant moved: \forall integer j; 0 <= j < i - kept ==>
        sl_victims.workloads[j] == \at(sl_victims.workloads[j + kept], Pre);
      loop invariant left: \forall integer j; i <= j < count ==>
        sl_victims.workloads[j] == \at(sl_victims.workloads[j], Pre);
      loop assigns i, sl_victims.workloads[0 .. SL_VICTIMS_MAX - 1],
                   sl_victims.reasons[0 .. SL_VICTIMS_MAX - 1];
      loop variant count - i;
    */
    for (uint32_t i = kept; i < count; i++) {
        sl_victims.workloads[i - kept] = sl_victims.workloads[i];
        sl_victims.reasons[i - kept] = sl_victims.reasons[i];
    }
    sl_victims.count = count - kept;
}

bool sl_victims_spare(bool may_borrow)
{
    uint32_t kept = sl_victims.count; /* from here to the end are the victims that are needed */
    enum outcome outcome = BACK;
    if (kept <= 1 && !sl_preemption_question.placed) {
        return true;
    }
    /*@
      loop invariant index: 0 <= i <= kept <= sl_victims.count;
      loop invariant tried: VictimsTried && PastKept{Pre, Here} && NeedsMet(may_borrow) &&
        sl_trail_depth == \at(sl_trail_depth, Pre);
      loop invariant needed: NoneSparable(may_borrow, kept);
      loop assigns i, kept, outcome, sl_hidden, sl_victims.workloads[0 .. SL_VICTIMS_MAX - 1],
                   sl_victims.reasons[0 .. SL_VICTIMS_MAX - 1], SL_TRIED, sl_trail_depth,
                   SL_ASSUMED, SL_PLACED;
      loop variant i;
    */
    for (uint32_t i = kept; i > 0 && outcome != NO_CAPACITY; i--) {
        outcome = spare_one(sl_victims.workloads[i - 1], may_borrow);
        if (outcome == NEEDED) {
            kept--;
            sl_victims.workloads[kept] = sl_victims.workloads[i - 1];
            sl_victims.reasons[kept] = sl_victims.reasons[i - 1];
        }
    }
    move_up(kept, may_borrow);
    return outcome != NO_CAPACITY;
}
