/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fair preemption. The preemptor counts as if it had been admitted, so that shares say what would
 * be. Queue by queue, the largest share first, candidates go while the rule in force allows it:
 * the preemptor's share must not exceed that of the other side after (S2-a), or stay below that
 * before (S2-b). Candidates of the preemptor's own queue go by priority alone, and a preemptor
 * that stays within its queue's quota takes back what is its own whatever the shares. */
#include "policy/preemption_fair.h"

#include "kernel/ledger.h"
#include "kernel/preempt.h"
#include "policy/branches.h"
#include "policy/candidates.h"
#include "policy/contest.h"
#include "policy/preemption.h"
#include "policy/settings.h"
#include "policy/shares.h"
#include "policy/targets.h"
#include "policy/victims.h"

enum outcome { GOES_ON, ENOUGH, NO_ROOM };

/* --- collecting ------------------------------------------------------------------------------ */

static void add_queue(sl_node_id queue)
{
    struct sl_candidate pattern = {SL_NO_ID, queue, SL_NO_ID, SL_RIGHT_SHARE, queue, 0};
    sl_candidates_add(pattern);
}

static void collect(int64_t now_ms)
{
    sl_node_id own = sl_preemption_question.cluster_queue;
    sl_node_id root = sl_ledger_root_node(own);
    struct sl_preempt_policy policy = sl_preempt_policy_of(own);
    sl_candidates_clear();
    if (policy.within != SL_WITHIN_NEVER) {
        add_queue(own);
    }
    if (policy.reclaim != SL_RECLAIM_NEVER && root != own) {
        for (sl_node_id node = root; node != SL_NO_ID; node = sl_branches_walk(root, node, false)) {
            if (node != own && sl_branches_first(node) == SL_NO_ID && sl_contest_exceeded(node)) {
                add_queue(node);
            }
        }
    }
    sl_candidates_sort(now_ms);
}

/* --- the preemptor's usage ------------------------------------------------------------------- */

static bool charge_preemptor(void)
{
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        struct sl_need need = sl_preemption_question.needs[i];
        if (sl_ledger_charge(need.cell, need.amount) != SL_OK) {
            return false;
        }
    }
    return true;
}

static bool release_preemptor(void)
{
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
static enum outcome take(sl_node_id queue, sl_workload_id id, enum sl_preempt_reason reason)
{
    if (!sl_victims_take(id, reason)) {
        return NO_ROOM;
    }
    sl_targets_changed(queue);
    uint32_t mark = sl_trail_begin();
    bool enough = release_preemptor() && sl_victims_suffice(true);
    sl_trail_rollback(mark);
    return enough ? ENOUGH : GOES_ON;
}

static bool rule_allows(enum sl_share_rule rule, sl_node_id queue, sl_workload_id id)
{
    struct sl_share preemptor = sl_targets_preemptor_share(queue);
    if (rule == SL_SHARE_INITIAL) {
        return sl_shares_compare(preemptor, sl_targets_share(queue)) < 0;
    }
    return sl_shares_compare(preemptor, sl_targets_share_without(queue, id)) <= 0;
}

/* Without one of its workloads no share is larger than with it: when the preemptor's is, no
 * candidate of the queue can be allowed. */
static bool rule_may_allow(sl_node_id queue)
{
    return sl_shares_compare(sl_targets_preemptor_share(queue), sl_targets_share(queue)) <= 0;
}

/* The first candidate of the queue that the rule allows goes, the ones before are kept. */
static enum outcome take_by_rule(enum sl_share_rule rule, sl_node_id queue)
{
    bool possible = rule_may_allow(queue);
    for (sl_workload_id id = sl_targets_pop(queue); id != SL_NO_ID; id = sl_targets_pop(queue)) {
        if (possible && rule_allows(rule, queue, id)) {
            return take(queue, id, SL_PREEMPT_FAIR_SHARING);
        }
        sl_targets_keep(queue, id);
    }
    return GOES_ON;
}

static enum outcome take_next(sl_node_id queue, bool within_nominal)
{
    if (queue == sl_preemption_question.cluster_queue) {
        return take(queue, sl_targets_pop(queue), SL_PREEMPT_IN_CLUSTER_QUEUE);
    }
    if (within_nominal) {
        return take(queue, sl_targets_pop(queue), SL_PREEMPT_RECLAMATION);
    }
    return take_by_rule(sl_settings.share_rules[0], queue);
}

static enum outcome run_first_rule(int64_t now_ms)
{
    bool within_nominal = sl_settings.preempt_within_nominal && !sl_contest_own_exceeded();
    enum outcome outcome = GOES_ON;
    sl_targets_begin(now_ms);
    sl_node_id queue = sl_targets_next();
    while (queue != SL_NO_ID) {
        outcome = take_next(queue, within_nominal);
        queue = outcome == GOES_ON ? sl_targets_next() : SL_NO_ID;
    }
    return outcome;
}

/* Of those that the first rule kept, at most one of each queue. */
static enum outcome run_second_rule(void)
{
    enum outcome outcome = GOES_ON;
    sl_targets_begin_again();
    sl_node_id queue = sl_targets_next();
    while (queue != SL_NO_ID) {
        sl_workload_id id = sl_targets_pop(queue);
        if (rule_allows(SL_SHARE_INITIAL, queue, id)) {
            outcome = take(queue, id, SL_PREEMPT_FAIR_SHARING);
        }
        sl_targets_drop(queue);
        queue = outcome == GOES_ON ? sl_targets_next() : SL_NO_ID;
    }
    return outcome;
}

static bool take_enough(int64_t now_ms)
{
    if (!charge_preemptor()) {
        return false;
    }
    enum outcome outcome = run_first_rule(now_ms);
    if (outcome == GOES_ON && sl_settings.share_rule_count > 1) {
        outcome = run_second_rule();
    }
    return outcome == ENOUGH && release_preemptor();
}

uint32_t sl_preemption_find_fair(int64_t now_ms)
{
    collect(now_ms);
    sl_victims.count = 0;
    if (sl_candidates_count() == 0) {
        return 0;
    }
    sl_victims_begin();
    if (take_enough(now_ms)) {
        sl_victims_spare(true);
    } else {
        sl_victims.count = 0;
    }
    sl_victims.may_borrow = true;
    sl_victims_end();
    return sl_victims.count;
}
