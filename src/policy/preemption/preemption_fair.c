/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fair preemption. The preemptor counts as if it had been admitted, so that shares say what would
 * be. Queue by queue, the largest share first, candidates go while the rule in force allows it:
 * the preemptor's share must not exceed that of the other side after (S2-a), or stay below that
 * before (S2-b). Candidates of the preemptor's own queue go by priority alone, and a preemptor
 * that stays within its queue's quota takes back what is its own whatever the shares. */
#include "policy/preemption/preemption_fair.h"

#include "kernel/ledger/ledger.h"
#include "kernel/preempt/preempt.h"
#include "policy/fair/branches.h"
#include "policy/preemption/candidates.h"
#include "policy/preemption/contest.h"
#include "policy/preemption/preemption.h"
#include "policy/common/settings.h"
#include "policy/fair/shares.h"
#include "policy/preemption/targets.h"
#include "policy/preemption/victims.h"

enum outcome { GOES_ON, ENOUGH, NO_CAPACITY };

/* clang-format off */
#define TAKING sl_hidden, sl_victims, SL_TRIED, sl_trail_depth, SL_ASSUMED, SL_PLACED
/* clang-format on */

/* --- collecting ------------------------------------------------------------------------------ */

/*@ requires question: QuestionSound && UsageCountsValid; terminates \true; exits \false;
    assigns sl_hidden; */
static void add_queue(sl_qnode_id queue)
{
    struct sl_candidate pattern = {SL_NO_ID, queue, SL_NO_ID, SL_RIGHT_SHARE, queue, 0};
    sl_candidates_add(pattern);
}

/*@ requires question: QuestionSound && UsageCountsValid && ListsInv && QnodesLinked;
    terminates \true; exits \false; assigns sl_hidden; */
static void collect(int64_t now_ms)
{
    sl_qnode_id own = sl_preemption_question.cluster_queue;
    sl_qnode_id root = sl_ledger_root_qnode(own);
    struct sl_preempt_policy policy = sl_preempt_policy_of(own);
    sl_candidates_clear();
    if (policy.within != SL_WITHIN_NEVER) {
        add_queue(own);
    }
    if (policy.reclaim != SL_RECLAIM_NEVER && root != own) {
        sl_qnode_id qnode = root;
        /*@ loop assigns steps, qnode, sl_hidden; loop variant SL_QNODES_MAX - steps; */
        for (uint32_t steps = 0; qnode != SL_NO_ID && steps < SL_QNODES_MAX; steps++) {
            if (qnode != own && sl_branches_first(qnode) == SL_NO_ID &&
                sl_contest_exceeded(qnode)) {
                add_queue(qnode);
            }
            qnode = sl_branches_walk(root, qnode, false);
        }
    }
    sl_candidates_sort(now_ms);
}

/* --- the preemptor's usage ------------------------------------------------------------------- */

/*@ requires ledger: LedgerReady && QuestionSound; terminates \true; exits \false;
    assigns SL_TRIED; ensures ledger: LedgerReady && PastKept{Pre, Post}; */
static bool charge_preemptor(void)
{
    /*@
      loop invariant ledger: LedgerReady && PastKept{Pre, Here};
      loop assigns i, SL_TRIED;
      loop variant sl_preemption_question.need_count - i;
    */
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        struct sl_need need = sl_preemption_question.needs[i];
        if (sl_ledger_charge(need.cell, need.amount) != SL_OK) {
            return false;
        }
    }
    return true;
}

/*@ requires ledger: LedgerReady && QuestionSound; terminates \true; exits \false;
    assigns SL_TRIED; ensures ledger: LedgerReady && PastKept{Pre, Post}; */
static bool release_preemptor(void)
{
    /*@
      loop invariant ledger: LedgerReady && PastKept{Pre, Here};
      loop assigns i, SL_TRIED;
      loop variant sl_preemption_question.need_count - i;
    */
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        struct sl_need need = sl_preemption_question.needs[i];
        if (sl_ledger_release(need.cell, need.amount) != SL_OK) {
            return false;
        }
    }
    return true;
}

/* --- taking ---------------------------------------------------------------------------------- */

/* One goes; is it enough then, were the preemptor's usage not there yet? */
/*@ requires tried: VictimsTried; terminates \true; exits \false; assigns TAKING;
    ensures tried: VictimsTried && sl_trail_depth == \old(sl_trail_depth);
    ensures past: PastKept{Pre, Post}; */
static enum outcome take(sl_qnode_id queue, sl_workload_id id, enum sl_preempt_reason reason)
{
    if (!sl_victims_take(id, reason)) {
        return NO_CAPACITY;
    }
    sl_targets_changed(queue);
    uint32_t mark = sl_trail_begin();
    bool enough = release_preemptor() && sl_victims_suffice(true);
    sl_trail_rollback(mark);
    return enough ? ENOUGH : GOES_ON;
}

/*@ requires trial: TrialReady; terminates \true; exits \false;
    assigns sl_hidden, SL_TRIED, sl_trail_depth;
    ensures trial: TrialReady && sl_trail_depth == \old(sl_trail_depth);
    ensures past: PastKept{Pre, Post}; */
static bool rule_allows(enum sl_share_rule rule, sl_qnode_id queue, sl_workload_id id)
{
    struct sl_share preemptor = sl_targets_preemptor_share(queue);
    if (rule == SL_SHARE_INITIAL) {
        return sl_shares_compare(preemptor, sl_targets_share(queue)) < 0;
    }
    return sl_shares_compare(preemptor, sl_targets_share_without(queue, id)) <= 0;
}

/* Without one of its workloads no share is larger than with it: when the preemptor's is, no
 * candidate of the queue can be allowed. */
/*@ requires ledger: SharesReady; terminates \true; exits \false; assigns sl_hidden; */
static bool rule_may_allow(sl_qnode_id queue)
{
    return sl_shares_compare(sl_targets_preemptor_share(queue), sl_targets_share(queue)) <= 0;
}

/* The first candidate of the queue that the rule allows goes, the ones before are kept. */
/*@ requires tried: VictimsTried; terminates \true; exits \false; assigns TAKING;
    ensures tried: VictimsTried && sl_trail_depth == \old(sl_trail_depth);
    ensures past: PastKept{Pre, Post}; */
static enum outcome take_by_rule(enum sl_share_rule rule, sl_qnode_id queue)
{
    bool possible = rule_may_allow(queue);
    sl_workload_id id = sl_targets_pop(queue);
    /*@
      loop invariant tried: VictimsTried && sl_trail_depth == \at(sl_trail_depth, Pre);
      loop invariant past: PastKept{Pre, Here};
      loop assigns steps, id, sl_hidden, SL_TRIED, sl_trail_depth;
      loop variant SL_WORKLOADS_MAX - steps;
    */
    for (uint32_t steps = 0; id != SL_NO_ID && steps < SL_WORKLOADS_MAX; steps++) {
        if (possible && rule_allows(rule, queue, id)) {
            return take(queue, id, SL_PREEMPT_FAIR_SHARING);
        }
        sl_targets_keep(queue, id);
        id = sl_targets_pop(queue);
    }
    return GOES_ON;
}

/*@ requires tried: VictimsTried; terminates \true; exits \false; assigns TAKING;
    ensures tried: VictimsTried && sl_trail_depth == \old(sl_trail_depth);
    ensures past: PastKept{Pre, Post}; */
static enum outcome take_next(sl_qnode_id queue, bool within_nominal)
{
    if (queue == sl_preemption_question.cluster_queue) {
        return take(queue, sl_targets_pop(queue), SL_PREEMPT_IN_CLUSTER_QUEUE);
    }
    if (within_nominal) {
        return take(queue, sl_targets_pop(queue), SL_PREEMPT_RECLAMATION);
    }
    return take_by_rule(sl_settings.share_rules[0], queue);
}

/*@ requires tried: VictimsTried && ListsInv; terminates \true; exits \false; assigns TAKING;
    ensures tried: VictimsTried && sl_trail_depth == \old(sl_trail_depth);
    ensures past: PastKept{Pre, Post}; */
static enum outcome run_first_rule(int64_t now_ms)
{
    bool within_nominal = sl_settings.preempt_within_nominal && !sl_contest_own_exceeded();
    enum outcome outcome = GOES_ON;
    sl_targets_begin(now_ms);
    sl_qnode_id queue = sl_targets_next();
    /*@
      loop invariant tried: VictimsTried && sl_trail_depth == \at(sl_trail_depth, Pre);
      loop invariant past: PastKept{Pre, Here};
      loop assigns steps, queue, outcome, TAKING;
      loop variant SL_WORKLOADS_MAX - steps;
    */
    for (uint32_t steps = 0; queue != SL_NO_ID && steps < SL_WORKLOADS_MAX; steps++) {
        outcome = take_next(queue, within_nominal);
        queue = outcome == GOES_ON ? sl_targets_next() : SL_NO_ID;
    }
    return outcome;
}

/* Of those that the first rule kept, at most one of each queue. */
/*@ requires tried: VictimsTried; terminates \true; exits \false; assigns TAKING;
    ensures tried: VictimsTried && sl_trail_depth == \old(sl_trail_depth);
    ensures past: PastKept{Pre, Post}; */
static enum outcome run_second_rule(void)
{
    enum outcome outcome = GOES_ON;
    sl_targets_begin_again();
    sl_qnode_id queue = sl_targets_next();
    /*@
      loop invariant tried: VictimsTried && sl_trail_depth == \at(sl_trail_depth, Pre);
      loop invariant past: PastKept{Pre, Here};
      loop assigns steps, queue, outcome, TAKING;
      loop variant SL_QNODES_MAX - steps;
    */
    for (uint32_t steps = 0; queue != SL_NO_ID && steps < SL_QNODES_MAX; steps++) {
        sl_workload_id id = sl_targets_pop(queue);
        if (rule_allows(SL_SHARE_INITIAL, queue, id)) {
            outcome = take(queue, id, SL_PREEMPT_FAIR_SHARING);
        }
        sl_targets_drop(queue);
        queue = outcome == GOES_ON ? sl_targets_next() : SL_NO_ID;
    }
    return outcome;
}

/*@ requires tried: VictimsTried && ListsInv; terminates \true; exits \false; assigns TAKING;
    ensures tried: VictimsTried && sl_trail_depth == \old(sl_trail_depth);
    ensures past: PastKept{Pre, Post};
    ensures met: \result ==> NeedsMet(1); */
static bool take_enough(int64_t now_ms)
{
    if (!charge_preemptor()) {
        return false;
    }
    enum outcome outcome = run_first_rule(now_ms);
    //@ assert past: PastKept{Pre, Here};
    if (outcome == GOES_ON && sl_settings.share_rule_count > 1) {
        outcome = run_second_rule();
    }
    //@ assert past: PastKept{Pre, Here};
    bool enough = outcome == ENOUGH && release_preemptor() && sl_victims_suffice(true);
    //@ assert ledger: LedgerReady && SharesReady;
    //@ assert capacities: PlaceReady;
    return enough;
}

uint32_t sl_preemption_find_fair(int64_t now_ms)
{
    collect(now_ms);
    sl_victims.count = 0;
    if (sl_candidates_count() == 0) {
        return 0;
    }
    uint32_t mark = sl_victims_begin();
    if (!take_enough(now_ms) || !sl_victims_spare(true)) {
        sl_victims.count = 0;
    }
    sl_victims.may_borrow = true;
    //@ assert past: SamePast{Pre, Here}(mark) && mark <= sl_trail_count;
    sl_victims_end(mark);
    //@ assert same: UsageSame{Pre, Here};
    //@ assert past: PastKept{Pre, Here};
    return sl_victims.count;
}
