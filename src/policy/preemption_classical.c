/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Classical preemption. Candidates are collected from the preemptor's own queue and, cohort by
 * cohort up to the root, from the queues that use more than their quota. As soon as what is asked
 * for fits in the quota of a subtree, the preemptor has the better right to all that is borrowed
 * from there. Then candidates are taken in order until the preemptor fits, in up to two attempts:
 * with borrowing and without, which opens more candidates but asks for more. */
#include "policy/preemption_classical.h"

#include "kernel/ledger.h"
#include "kernel/ledger_view.h"
#include "kernel/order.h"
#include "kernel/preempt.h"
#include "policy/branches.h"
#include "policy/candidates.h"
#include "policy/contest.h"
#include "policy/preemption.h"
#include "policy/victims.h"

/* Ranks: classes come in this order, those who are being evicted first. */
enum { RANK_HIERARCHY, RANK_PRIORITY, RANK_WITHIN };

/* The climb to the root: what of each need is left for the node at hand, and its cell there. */
static sl_cell_id climb_cells[SL_CLAIMS_MAX];
static int64_t climb_amounts[SL_CLAIMS_MAX];

/* Who was found. */
static bool found_by_hierarchy;
static bool found_in_others;

/* --- collecting ------------------------------------------------------------------------------ */

static void begin_climb(void)
{
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        climb_cells[i] = sl_preemption_question.needs[i].cell;
        climb_amounts[i] = sl_preemption_question.needs[i].amount;
    }
}

/* What is not kept below its parent of the need at this node. */
static int64_t passed_on(uint32_t i)
{
    int64_t spare = sl_ledger_kept(climb_cells[i]) - sl_ledger_usage(climb_cells[i]);
    int64_t left = climb_amounts[i] - (spare > 0 ? spare : 0);
    return left > 0 ? left : 0;
}

/* Does all that is left fit in the quota of the node at hand? Goes on to its parent. */
static bool climb(void)
{
    bool fits = true;
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
static bool below_threshold(sl_workload_id id, struct sl_preempt_policy policy)
{
    return sl_order_lower(id, sl_preemption_question.preemptor) &&
           (!policy.has_threshold || sl_order_of(id).priority <= policy.threshold);
}

static void add_queue(sl_node_id queue, sl_node_id common, bool advantage)
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

/* From what stands under `cohort`, but for the part that was looked at before. Subtrees that keep
 * to their quota are left alone. */
static void add_subtree(sl_node_id cohort, sl_node_id done, bool advantage)
{
    sl_node_id node = sl_branches_walk(cohort, cohort, false);
    while (node != SL_NO_ID) {
        bool skip = node == done || !sl_contest_exceeded(node);
        if (!skip) {
            add_queue(node, cohort, advantage);
        }
        node = sl_branches_walk(cohort, node, skip);
    }
}

static void collect_others(void)
{
    sl_node_id done = sl_preemption_question.cluster_queue;
    begin_climb();
    bool advantage = climb();
    for (sl_node_id cohort = sl_ledger_parent_node(done); cohort != SL_NO_ID;
         cohort = sl_ledger_parent_node(cohort)) {
        add_subtree(cohort, done, advantage);
        advantage = climb() || advantage;
        done = cohort;
    }
}

static void collect(struct sl_preempt_policy policy, int64_t now_ms)
{
    sl_node_id own = sl_preemption_question.cluster_queue;
    struct sl_candidate pattern = {SL_NO_ID, own, SL_NO_ID, SL_RIGHT_WITHIN, 0, RANK_WITHIN};
    found_by_hierarchy = false;
    found_in_others = false;
    sl_candidates_clear();
    if (policy.reclaim != SL_RECLAIM_NEVER) {
        collect_others();
    }
    if (policy.within != SL_WITHIN_NEVER) {
        sl_candidates_add(pattern);
    }
    sl_candidates_sort(now_ms);
}

/* --- taking ---------------------------------------------------------------------------------- */

/* Does every node from the queue up to below the common cohort still exceed its quota? */
static bool still_exceeds(sl_node_id queue, sl_node_id common)
{
    sl_node_id node = queue;
    while (node != SL_NO_ID && node != common && sl_contest_exceeded(node)) {
        node = sl_ledger_parent_node(node);
    }
    return node == common;
}

static enum sl_right right_of(struct sl_candidate candidate, struct sl_preempt_policy policy)
{
    if (candidate.right == SL_RIGHT_NO_BORROWING && policy.borrow_within &&
        below_threshold(candidate.workload, policy)) {
        return SL_RIGHT_BORROWING;
    }
    return candidate.right;
}

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

static bool take_enough(struct sl_preempt_policy policy, bool may_borrow)
{
    for (uint32_t i = 0; i < sl_candidates_count(); i++) {
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

static bool attempt(struct sl_preempt_policy policy, bool may_borrow)
{
    sl_victims_begin();
    bool done = take_enough(policy, may_borrow);
    if (done) {
        sl_victims_spare(may_borrow);
    } else {
        sl_victims.count = 0;
    }
    sl_victims.may_borrow = may_borrow;
    sl_victims_end();
    return done;
}

uint32_t sl_preemption_find_classical(int64_t now_ms)
{
    struct sl_preempt_policy policy = sl_preempt_policy_of(sl_preemption_question.cluster_queue);
    collect(policy, now_ms);
    if (!found_in_others || (!policy.borrow_within && !sl_contest_own_below())) {
        (void)attempt(policy, true);
    } else {
        bool borrow_first = policy.borrow_within || found_by_hierarchy;
        if (!attempt(policy, borrow_first)) {
            (void)attempt(policy, !borrow_first);
        }
    }
    return sl_victims.count;
}
