/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What plans are judged by, and the plan itself. */
#include "kernel/preempt/preempt_victim.h"

struct sl_preempt_plan sl_preempt_plan;
struct sl_preempt_policy sl_preempt_policies[SL_QNODES_MAX];

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> PolicyValid(policy.within, policy.reclaim);
*/
static bool is_policy(struct sl_preempt_policy policy)
{
    return policy.within <= SL_WITHIN_LOWER_OR_NEWER_EQUAL && policy.reclaim <= SL_RECLAIM_ANY;
}

enum sl_status sl_preempt_set_policy(sl_qnode_id qnode, struct sl_preempt_policy policy)
{
    if (qnode >= SL_QNODES_MAX) {
        return SL_REFUSED_NO_QNODE;
    }
    if (!is_policy(policy)) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    sl_preempt_policies[qnode] = policy;
    return SL_OK;
}

struct sl_preempt_policy sl_preempt_policy_of(sl_qnode_id qnode)
{
    struct sl_preempt_policy none = {SL_WITHIN_NEVER, SL_RECLAIM_NEVER, false, false, 0};
    return qnode < SL_QNODES_MAX ? sl_preempt_policies[qnode] : none;
}

bool sl_preempt_allows_within(sl_workload_id victim)
{
    enum sl_preempt_within within = sl_preempt_policies[sl_plan.cluster_queue].within;
    if (within == SL_WITHIN_NEVER) {
        return false;
    }
    return sl_order_lower(victim, sl_plan.workload) ||
           (within == SL_WITHIN_LOWER_OR_NEWER_EQUAL &&
            sl_order_newer_equal(victim, sl_plan.workload));
}

bool sl_preempt_allows_reclaim(sl_workload_id victim)
{
    enum sl_preempt_reclaim reclaim = sl_preempt_policies[sl_plan.cluster_queue].reclaim;
    if (reclaim == SL_RECLAIM_NEVER) {
        return false;
    }
    return reclaim == SL_RECLAIM_ANY || sl_order_lower(victim, sl_plan.workload);
}
