/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Classical preemption. Candidates are collected from the preemptor's own queue and, cohort by
 * cohort up to the root, from the queues that use more than their quota. As soon as what is asked
 * for fits in the quota of a subtree, the preemptor has the better right to all that is borrowed
 * from there. Then candidates are taken in order until the preemptor fits, in up to two attempts:
 * with borrowing and without, which opens more candidates but asks for more. */
#include "policy/preemption/preemption_classical.h"

#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_view.h"
#include "kernel/base/order.h"
#include "kernel/preempt/preempt.h"
#include "policy/fair/branches.h"
#include "policy/preemption/candidates.h"
#include "policy/preemption/contest.h"
#include "policy/preemption/preemption.h"
#include "policy/preemption/victims.h"

/* Ranks: classes come in this order, workloads that are being evicted first. */
enum { RANK_HIERARCHY, RANK_PRIORITY, RANK_WITHIN };

/* The climb to the root: what of each need is left for the qnode at hand, and its cell there. */
static sl_cell_id climb_cells[SL_USAGE_CELLS_MAX];
static int64_t climb_amounts[SL_USAGE_CELLS_MAX];

/* Who was found. */
static bool found_by_hierarchy;
static bool found_in_others;

/* clang-format off */
#define CLIMB climb_cells[0 .. SL_USAGE_CELLS_MAX - 1], climb_amounts[0 .. SL_USAGE_CELLS_MAX - 1]
#define FOUND found_by_hierarchy, found_in_others
/* clang-format on */

/*@
  predicate Climbing{L} = \forall integer i; 0 <= i < sl_preemption_question.need_count ==>
    0 <= climb_amounts[i] <= SL_AMOUNT_MAX;
*/

/* --- collecting ------------------------------------------------------------------------------ */

/*@ requires asked: QuestionAsked; terminates \true; exits \false; assigns CLIMB;
    ensures climbing: Climbing; */
static void begin_climb(void)
{
    /*@
      loop invariant climbing: \forall integer j; 0 <= j < i ==>
        0 <= climb_amounts[j] <= SL_AMOUNT_MAX;
      loop assigns i, CLIMB;
      loop variant sl_preemption_question.need_count - i;
    */
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        climb_cells[i] = sl_preemption_question.needs[i].cell;
        climb_amounts[i] = sl_preemption_question.needs[i].amount;
    }
}

/* What is not kept below its parent of the need at this qnode. */
/*@ requires ledger: LimitsInRange && UsageInRange;
    requires need: Climbing && QuestionSound && i < sl_preemption_question.need_count;
    terminates \true; exits \false; assigns \nothing;
    ensures amount: 0 <= \result <= SL_AMOUNT_MAX; */
static int64_t passed_on(uint32_t i)
{
    int64_t spare = sl_ledger_kept(climb_cells[i]) - sl_ledger_usage(climb_cells[i]);
    int64_t left = climb_amounts[i] - (spare > 0 ? spare : 0);
    return left > 0 ? left : 0;
}

/* Does all that is left fit in the quota of the qnode at hand? Goes on to its parent. */
/*@ requires ledger: LimitsInRange && UsageInRange; requires needs: Climbing && QuestionSound;
    terminates \true; exits \false; assigns CLIMB; ensures climbing: Climbing; */
static bool climb(void)
{
    bool fits = true;
    /*@
      loop invariant climbing: Climbing;
      loop assigns i, fits, CLIMB;
      loop variant sl_preemption_question.need_count - i;
    */
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        if (sl_ledger_usage(climb_cells[i]) + climb_amounts[i] >
            sl_ledger_subtree(climb_cells[i])) {
            fits = false;
        }
        climb_amounts[i] = passed_on(i);
        climb_cells[i] = sl_ledger_parent_cell(climb_cells[i]);
    }
    return fits;
}

/* May candidates of this priority be taken while the preemptor borrows? */
/*@ terminates \true; exits \false; assigns \nothing; */
static bool below_threshold(sl_workload_id id, struct sl_preempt_policy policy)
{
    return sl_order_lower(id, sl_preemption_question.preemptor) &&
           (!policy.has_threshold || sl_order_of(id).priority <= policy.threshold);
}

/*@ requires question: QuestionSound && UsageCountsValid; terminates \true; exits \false;
    assigns sl_hidden, FOUND; */
static void add_queue(sl_qnode_id queue, sl_qnode_id common, bool advantage)
{
    uint32_t before = sl_candidates_count();
    struct sl_candidate pattern = {SL_NO_ID, queue,        common, SL_RIGHT_NO_BORROWING,
                                   0,        RANK_PRIORITY};
    if (advantage) {
        pattern.right = SL_RIGHT_HIERARCHY;
        pattern.rank = RANK_HIERARCHY;
    }
    sl_candidates_add(pattern);
    if (sl_candidates_count() > before) {
        found_in_others = true;
        found_by_hierarchy = found_by_hierarchy || advantage;
    }
}

/* From the subtree of `cohort`, but for the part that was searched before. Subtrees that keep to
 * their quota are left alone. */
/*@ requires question: QuestionSound && UsageCountsValid && ListsInv; terminates \true;
    exits \false; assigns sl_hidden, FOUND; */
static void add_subtree(sl_qnode_id cohort, sl_qnode_id done, bool advantage)
{
    sl_qnode_id qnode = sl_branches_walk(cohort, cohort, false);
    /*@ loop assigns steps, qnode, sl_hidden, FOUND; loop variant SL_QNODES_MAX - steps; */
    for (uint32_t steps = 0; qnode != SL_NO_ID && steps < SL_QNODES_MAX; steps++) {
        bool skip = qnode == done || !sl_contest_exceeded(qnode);
        if (!skip) {
            add_queue(qnode, cohort, advantage);
        }
        qnode = sl_branches_walk(cohort, qnode, skip);
    }
}

/* Is borrowing the only way, for a queue that may take others' only by the right of hierarchy
 * then? */
/*@ requires question: QuestionSound; terminates \true; exits \false; assigns \nothing; */
static bool must_borrow(struct sl_preempt_policy policy)
{
    return !policy.borrow_within && !sl_contest_own_below();
}

/*@ requires question: QuestionAsked && UsageCountsValid && ListsInv;
    requires ledger: LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns sl_hidden, FOUND, CLIMB; */
static void collect_others(bool only_by_hierarchy)
{
    sl_qnode_id done = sl_preemption_question.cluster_queue;
    begin_climb();
    bool advantage = climb();
    sl_qnode_id cohort = sl_ledger_parent_qnode(done);
    /*@
      loop invariant climbing: Climbing;
      loop assigns steps, cohort, done, advantage, sl_hidden, FOUND, CLIMB;
      loop variant SL_LEVELS_MAX - steps;
    */
    for (uint32_t steps = 0; cohort != SL_NO_ID && steps < SL_LEVELS_MAX; steps++) {
        if (advantage || !only_by_hierarchy) {
            add_subtree(cohort, done, advantage);
        }
        advantage = climb() || advantage;
        done = cohort;
        cohort = sl_ledger_parent_qnode(cohort);
    }
}

/*@ requires question: QuestionAsked && UsageCountsValid && ListsInv;
    requires ledger: LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns sl_hidden, FOUND, CLIMB; */
static void collect(struct sl_preempt_policy policy, int64_t now_ms)
{
    sl_qnode_id own = sl_preemption_question.cluster_queue;
    struct sl_candidate pattern = {SL_NO_ID, own, SL_NO_ID, SL_RIGHT_WITHIN, 0, RANK_WITHIN};
    found_by_hierarchy = false;
    found_in_others = false;
    sl_candidates_clear();
    if (policy.reclaim != SL_RECLAIM_NEVER) {
        collect_others(must_borrow(policy));
    }
    if (policy.within != SL_WITHIN_NEVER) {
        sl_candidates_add(pattern);
    }
    sl_candidates_sort(now_ms);
}

/* --- taking ---------------------------------------------------------------------------------- */

/* Does every qnode from the queue up to below the common cohort still exceed its quota? */
/*@ requires question: QuestionSound && ListsInv; terminates \true; exits \false;
    assigns \nothing; */
static bool still_exceeds(sl_qnode_id queue, sl_qnode_id common)
{
    sl_qnode_id qnode = queue;
    /*@ loop assigns steps, qnode; loop variant SL_LEVELS_MAX - steps; */
    for (uint32_t steps = 0; qnode != SL_NO_ID && qnode != common && sl_contest_exceeded(qnode) &&
                             steps < SL_LEVELS_MAX;
         steps++) {
        qnode = sl_ledger_parent_qnode(qnode);
    }
    return qnode == common;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static enum sl_right right_of(struct sl_candidate candidate, struct sl_preempt_policy policy)
{
    if (candidate.right == SL_RIGHT_NO_BORROWING && policy.borrow_within &&
        below_threshold(candidate.workload, policy)) {
        return SL_RIGHT_BORROWING;
    }
    return candidate.right;
}

/*@ requires question: QuestionSound && ListsInv; terminates \true; exits \false;
    assigns \nothing; */
static bool may_take(struct sl_candidate candidate, enum sl_right right, bool may_borrow)
{
    if (right == SL_RIGHT_WITHIN) {
        return true;
    }
    if (right == SL_RIGHT_NO_BORROWING && may_borrow) {
        return false;
    }
    return still_exceeds(candidate.queue, candidate.common);
}

/*@ terminates \true; exits \false; assigns \nothing; */
static enum sl_preempt_reason reason_for(enum sl_right right)
{
    switch (right) {
    case SL_RIGHT_WITHIN:
        return SL_PREEMPT_IN_CLUSTER_QUEUE;
    case SL_RIGHT_BORROWING:
        return SL_PREEMPT_RECLAIM_WHILE_BORROWING;
    default:
        return SL_PREEMPT_RECLAMATION;
    }
}

/*@ requires tried: VictimsTried && ListsInv; terminates \true; exits \false;
    assigns sl_hidden, sl_victims, SL_TRIED, SL_ASSUMED, SL_PLACED;
    ensures tried: VictimsTried;
    ensures past: PastKept{Pre, Post};
    ensures met: \result ==> NeedsMet(may_borrow); */
static bool take_enough(struct sl_preempt_policy policy, bool may_borrow)
{
    uint32_t count = sl_candidates_count();
    /*@
      loop invariant ledger: LedgerReady && SharesReady;
      loop invariant capacities: PlaceReady;
      loop invariant victims: VictimsSound && QuestionAsked && WorkloadUsageValid && sl_trail_depth > 0;
      loop invariant past: PastKept{Pre, Here};
      loop assigns i, sl_hidden, sl_victims, SL_TRIED, SL_ASSUMED, SL_PLACED;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_candidate candidate = sl_candidates_at(i);
        enum sl_right right = right_of(candidate, policy);
        if (!may_take(candidate, right, may_borrow)) {
            continue;
        }
        if (!sl_victims_take(candidate.workload, reason_for(right))) {
            return false;
        }
        if (sl_victims_suffice(may_borrow)) {
            return true;
        }
    }
    return false;
}

/*@ requires ready: PreemptionReady && QuestionAsked; terminates \true; exits \false;
    assigns sl_hidden, SL_SOUGHT;
    ensures ready: PreemptionReady;
    ensures back: TakenBack{Pre, Post};
    ensures victims: VictimsSound; */
static bool attempt(struct sl_preempt_policy policy, bool may_borrow)
{
    uint32_t mark = sl_victims_begin();
    bool done = take_enough(policy, may_borrow) && sl_victims_spare(may_borrow);
    if (!done) {
        sl_victims.count = 0;
    }
    sl_victims.may_borrow = may_borrow;
    //@ assert past: SamePast{Pre, Here}(mark) && mark <= sl_trail_count;
    sl_victims_end(mark);
    //@ assert same: UsageSame{Pre, Here};
    //@ assert past: PastKept{Pre, Here};
    return done;
}

/*@ assigns sl_hidden, SL_SOUGHT, FOUND, CLIMB; */
uint32_t sl_preemption_find_classical(int64_t now_ms)
{
    struct sl_preempt_policy policy = sl_preempt_policy_of(sl_preemption_question.cluster_queue);
    collect(policy, now_ms);
    if (!found_in_others || must_borrow(policy)) {
        (void)attempt(policy, true);
    } else {
        bool borrow_first = policy.borrow_within || found_by_hierarchy;
        if (!attempt(policy, borrow_first)) {
            //@ assert past: PastKept{Pre, Here};
            //@ assert same: UsageSame{Pre, Here};
            (void)attempt(policy, !borrow_first);
        }
    }
    //@ assert past: PastKept{Pre, Here};
    //@ assert same: UsageSame{Pre, Here};
    return sl_victims.count;
}
