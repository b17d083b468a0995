/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The rules of preemption in words, one holder at a time, and over all. */
#include "engine/why/rights.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/why/limit.h"
#include "kernel/base/order.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_view.h"
#include "kernel/preempt/preempt.h"
#include "policy/common/settings.h"
#include "policy/flavors/flavors.h"

static const char *const within_names[] = {[SL_WITHIN_NEVER] = "Never",
                                           [SL_WITHIN_LOWER_PRIORITY] = "LowerPriority",
                                           [SL_WITHIN_LOWER_OR_NEWER_EQUAL] =
                                               "LowerOrNewerEqualPriority"};
static const char *const reclaim_names[] = {[SL_RECLAIM_NEVER] = "Never",
                                            [SL_RECLAIM_LOWER_PRIORITY] = "LowerPriority",
                                            [SL_RECLAIM_ANY] = "Any"};

static int32_t priority_of(sl_workload_id id)
{
    return sl_order_of(id).priority;
}

static bool not_lower(const struct sl_why_need *need, sl_workload_id holder, struct sl_buf *why)
{
    if (sl_order_lower(holder, need->workload)) {
        return true;
    }
    sl_buf_print(why, "its priority %d is not lower than %d", priority_of(holder),
                 priority_of(need->workload));
    return false;
}

static bool may_within(const struct sl_engine *g, const struct sl_why_need *need,
                       sl_workload_id holder, struct sl_buf *why)
{
    switch (sl_preempt_policy_of(need->queue).within) {
    case SL_WITHIN_NEVER:
        sl_buf_print(why, "withinClusterQueue of ClusterQueue %s is Never",
                     g->qnodes[need->queue]->name);
        return false;
    case SL_WITHIN_LOWER_PRIORITY:
        return not_lower(need, holder, why);
    case SL_WITHIN_LOWER_OR_NEWER_EQUAL:
        break;
    }
    if (sl_order_newer_equal(holder, need->workload)) {
        return true;
    }
    if (priority_of(holder) != priority_of(need->workload)) {
        return not_lower(need, holder, why);
    }
    sl_buf_text(why, "it has the same priority and was queued earlier");
    return false;
}

static bool exceeds(sl_qnode_id queue, sl_cell_id like)
{
    sl_cell_id cell =
        sl_ledger_find_cell(queue, sl_ledger_flavor_of(like), sl_ledger_resource_of(like));
    return cell != SL_NO_ID && sl_ledger_usage(cell) > sl_ledger_subtree(cell);
}

/* Would the ClusterQueue use more than its own quota with it? */
static bool would_borrow(const struct sl_why_need *need)
{
    return sl_ledger_usage(need->cell) + need->amount > sl_ledger_subtree(need->cell);
}

static bool may_reclaim(const struct sl_engine *g, const struct sl_why_need *need,
                        const struct sl_why_holder *holder, struct sl_buf *why)
{
    struct sl_preempt_policy policy = sl_preempt_policy_of(need->queue);
    const char *own = g->qnodes[need->queue]->name;
    if (policy.reclaim == SL_RECLAIM_NEVER) {
        sl_buf_print(why, "reclaimWithinCohort of ClusterQueue %s is Never", own);
        return false;
    }
    if (policy.reclaim == SL_RECLAIM_LOWER_PRIORITY && !not_lower(need, holder->workload, why)) {
        return false;
    }
    if (sl_settings.fair_sharing) {
        return true; /* the shares decide */
    }
    if (!exceeds(holder->queue, need->cell)) {
        sl_buf_print(why, "its ClusterQueue %s does not borrow", g->qnodes[holder->queue]->name);
        return false;
    }
    if (would_borrow(need) && !policy.borrow_within) {
        sl_buf_print(why, "ClusterQueue %s would have to borrow, and borrowWithinCohort is Never",
                     own);
        return false;
    }
    return true;
}

bool sl_why_may_preempt(const struct sl_engine *g, const struct sl_why_need *need,
                        const struct sl_why_holder *holder, struct sl_buf *why)
{
    SL_PRE(g != NULL && need != NULL && holder != NULL);
    return holder->queue == need->queue ? may_within(g, need, holder->workload, why)
                                        : may_reclaim(g, need, holder, why);
}

static struct sl_json *policy_new(sl_qnode_id queue)
{
    struct sl_preempt_policy policy = sl_preempt_policy_of(queue);
    struct sl_json *out = sl_json_new_map();
    sl_json_set_text(out, "withinClusterQueue", within_names[policy.within]);
    sl_json_set_text(out, "reclaimWithinCohort", reclaim_names[policy.reclaim]);
    sl_json_set_text(out, "borrowWithinCohort", policy.borrow_within ? "LowerPriority" : "Never");
    if (policy.borrow_within && policy.has_threshold) {
        sl_json_set_int(out, "maxPriorityThreshold", policy.threshold);
    }
    return out;
}

/* Has policy found workloads to preempt for a flavor of sl_assignment? */
static bool has_candidates(void)
{
    for (uint32_t i = 0; i < sl_assignment.attempt_count; i++) {
        if (sl_assignment.attempts[i].mode == SL_MODE_PREEMPT &&
            sl_assignment.attempts[i].possibility != SL_NO_CANDIDATES) {
            return true;
        }
    }
    return false;
}

static void say_none(const struct sl_engine *g, const struct sl_why_need *need,
                     const struct sl_why_holders *holders, struct sl_buf *out)
{
    struct sl_preempt_policy policy = sl_preempt_policy_of(need->queue);
    struct sl_buf why = {0};
    if (policy.within == SL_WITHIN_NEVER && policy.reclaim == SL_RECLAIM_NEVER) {
        sl_buf_print(out,
                     "ClusterQueue %s preempts no workloads: withinClusterQueue and "
                     "reclaimWithinCohort are Never",
                     g->qnodes[need->queue]->name);
        return;
    }
    sl_buf_text(out, "the workloads that it may preempt would not free enough");
    for (uint32_t i = 0; need->cell != SL_NO_ID && i < holders->count; i++) {
        if (!sl_why_may_preempt(g, need, &holders->at[i], &why)) {
            sl_buf_print(out, "; why it may not preempt the largest of the others: %s", why.data);
            break;
        }
    }
    sl_buf_fini(&why);
}

/* In this order: what happens already, what is forbidden, what was found. */
static const char *judge(const struct sl_engine *g, const struct sl_why_need *need,
                         const struct sl_why_holders *holders, struct sl_buf *out)
{
    const struct sl_workload_entry *e = &g->workloads[need->workload];
    if (sl_workloads[need->workload].pending_reason == SL_PENDING_PREEMPTED_WORKLOADS) {
        sl_buf_text(out, "it has preempted workloads and waits until their jobs have stopped");
        return "Preempting";
    }
    if (e->restrained_ms != SL_NEVER) {
        char until[32];
        sl_clock_format(e->restrained_ms, until);
        sl_buf_print(out,
                     "it may not preempt until %s: %u times it soon lost the quota that it got by "
                     "preemption",
                     until, e->vain_preemptions);
        return "Restrained";
    }
    if (sl_assignment.mode >= SL_MODE_DEFERRED) {
        sl_buf_text(out, "it needs no preemption");
        return "NotNeeded";
    }
    if (has_candidates()) {
        sl_buf_text(out, "there are workloads that it may preempt when its turn comes");
        return "Possible";
    }
    say_none(g, need, holders, out);
    return "Impossible";
}

struct sl_json *sl_why_preemption_new(const struct sl_engine *g, const struct sl_why_need *need,
                                      const struct sl_why_holders *holders)
{
    SL_PRE(g != NULL && need != NULL && holders != NULL);
    struct sl_json *out = sl_json_new_map();
    struct sl_buf message = {0};
    sl_json_set_text(out, "result", judge(g, need, holders, &message));
    sl_json_set_text(out, "message", message.data);
    sl_json_set(out, "policy", policy_new(need->queue));
    sl_buf_fini(&message);
    return out;
}
