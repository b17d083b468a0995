/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Contests: every question goes through the question's needs, of which there are few. */
#include "policy/preemption/contest.h"

#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_view.h"
#include "kernel/base/order.h"
#include "kernel/preempt/preempt.h"
#include "policy/preemption/preemption.h"
#include "policy/requests/slices.h"

/* Passed over in this round; a round ends when none is any more. */
static uint64_t passed_over_in[SL_WORKLOADS_MAX];
static uint64_t round_number = 1;

/*@ terminates \true; exits \false; assigns passed_over_in[id]; */
void sl_preemption_pass_over(sl_workload_id id)
{
    if (id < SL_WORKLOADS_MAX) {
        passed_over_in[id] = round_number;
    }
}

/*@ terminates \true; exits \false; assigns round_number; */
void sl_preemption_pass_over_none(void)
{
    round_number++;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool is_over(sl_cell_id cell)
{
    return sl_ledger_usage(cell) > sl_ledger_subtree(cell);
}

/* The qnode's cell of what this need is about; SL_NO_ID = it has none, and so uses none. */
/*@ requires need: need < SL_USAGE_CELLS_MAX && ListsInv; terminates \true; exits \false;
    assigns \nothing; */
static sl_cell_id cell_at(sl_qnode_id qnode, uint32_t need)
{
    sl_cell_id cell = sl_preemption_question.needs[need].cell;
    return sl_ledger_find_cell(qnode, sl_ledger_flavor_of(cell), sl_ledger_resource_of(cell));
}

bool sl_contest_exceeded(sl_qnode_id qnode)
{
    /*@ loop assigns i; loop variant sl_preemption_question.need_count - i; */
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        if (sl_preemption_question.needs[i].contested && is_over(cell_at(qnode, i))) {
            return true;
        }
    }
    return false;
}

bool sl_contest_own_exceeded(void)
{
    return sl_contest_exceeded(sl_preemption_question.cluster_queue);
}

bool sl_contest_own_below(void)
{
    /*@ loop assigns i; loop variant sl_preemption_question.need_count - i; */
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        struct sl_need need = sl_preemption_question.needs[i];
        if (need.contested && sl_ledger_usage(need.cell) >= sl_ledger_subtree(need.cell)) {
            return false;
        }
    }
    return true;
}

/*@ requires question: QuestionSound; terminates \true; exits \false; assigns \nothing; */
static bool is_contested(sl_cell_id cell)
{
    sl_flavor_id flavor = sl_ledger_flavor_of(cell);
    sl_resource_id resource = sl_ledger_resource_of(cell);
    /*@ loop assigns i; loop variant sl_preemption_question.need_count - i; */
    for (uint32_t i = 0; i < sl_preemption_question.need_count; i++) {
        struct sl_need need = sl_preemption_question.needs[i];
        if (need.contested && sl_ledger_flavor_of(need.cell) == flavor &&
            sl_ledger_resource_of(need.cell) == resource) {
            return true;
        }
    }
    return false;
}

/* One whose pods have all given back their quota holds nothing that its eviction would free. */
/*@ requires question: QuestionSound; requires usage: UsageCountsValid; terminates \true;
    exits \false; assigns \nothing; */
static bool holds_contested(sl_workload_id id)
{
    uint32_t count = sl_commit_usage_count(id);
    /*@ loop assigns i; loop variant count - i; */
    for (uint32_t i = 0; i < count; i++) {
        struct sl_cell_amount held = sl_commit_usage(id, i);
        if (held.amount > 0 && is_contested(held.cell)) {
            return true;
        }
    }
    return false;
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool allowed_within(sl_workload_id holder, enum sl_preempt_within within)
{
    sl_workload_id preemptor = sl_preemption_question.preemptor;
    if (within == SL_WITHIN_NEVER) {
        return false;
    }
    return sl_order_lower(holder, preemptor) ||
           (within == SL_WITHIN_LOWER_OR_NEWER_EQUAL && sl_order_newer_equal(holder, preemptor));
}

/*@ terminates \true; exits \false; assigns \nothing; */
static bool allowed_reclaim(sl_workload_id holder, enum sl_preempt_reclaim reclaim)
{
    return reclaim == SL_RECLAIM_ANY || (reclaim == SL_RECLAIM_LOWER_PRIORITY &&
                                         sl_order_lower(holder, sl_preemption_question.preemptor));
}

/* The slice whose place it takes ends with that: it is no victim then. */
/*@ requires usage: UsageCountsValid; terminates \true; exits \false; assigns \nothing; */
static bool is_replaced(sl_workload_id holder, sl_qnode_id queue)
{
    return sl_slices_old(sl_preemption_question.preemptor, queue) == holder;
}

bool sl_contest_allows(sl_workload_id holder, sl_qnode_id queue)
{
    sl_qnode_id own = sl_preemption_question.cluster_queue;
    struct sl_preempt_policy policy = sl_preempt_policy_of(own);
    bool allowed = queue == own ? allowed_within(holder, policy.within)
                                : allowed_reclaim(holder, policy.reclaim);
    return allowed && holder < SL_WORKLOADS_MAX && passed_over_in[holder] != round_number &&
           !is_replaced(holder, own) && holds_contested(holder);
}
