/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Victims are judged one by one, amount by amount: it is not taken on trust that all amounts of a workload are on
 * cells of one queue. That none is named twice is seen from an index that the lists themselves confirm. */
#include "kernel/preempt/preempt_victim.h"

#include "kernel/commit/workload_usage.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"

uint32_t sl_preempt_victim_index[SL_WORKLOADS_MAX];
uint32_t sl_preempt_gone_index[SL_WORKLOADS_MAX];

/*@
  requires linked:     QnodesLinked;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> SameTree(a, b);
*/
static bool same_tree(sl_qnode_id a, sl_qnode_id b)
{
    sl_qnode_id root = sl_ledger_root_qnode(a);
    return root != SL_NO_ID && root == sl_ledger_root_qnode(b);
}

/* May what the victim holds of this qnode's cells be taken? */
/*@
  requires linked:     QnodesLinked;
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  requires known:      victim < SL_WORKLOADS_MAX;
  requires preemptor:  sl_plan.workload < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> AllowedFrom(victim, qnode);
*/
static bool allowed_from(sl_workload_id victim, sl_qnode_id qnode)
{
    if (qnode == sl_plan.cluster_queue) {
        return sl_preempt_allows_within(victim);
    }
    return same_tree(qnode, sl_plan.cluster_queue) && sl_preempt_allows_reclaim(victim);
}

/* Does it hold something, and may all of that be taken? An amount of nothing frees nothing, and may be on a cell
 * that was closed since. */
/*@
  requires linked:     QnodesLinked && CellsLinked && WorkloadUsageValid;
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  requires known:      victim < SL_WORKLOADS_MAX;
  requires preemptor:  sl_plan.workload < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  allowed:    \result ==> UsageAllowed(victim, sl_usage_counts[victim]);
  ensures  fair:       UsageAllowed(victim, sl_usage_counts[victim]) ==> \result;
*/
static bool allowed_usage(sl_workload_id victim)
{
    bool holds = false;
    /*@
      loop invariant index:   0 <= k <= sl_usage_counts[victim];
      loop invariant holds:   holds ==> \exists integer j; 0 <= j < k && sl_usage_amounts[victim][j] > 0;
      loop invariant nothing: !holds ==> \forall integer j; 0 <= j < k ==> sl_usage_amounts[victim][j] <= 0;
      loop invariant allowed: \forall integer j; 0 <= j < k ==> CellUsageAllowed(victim, j);
      loop assigns            k, holds;
      loop variant            sl_usage_counts[victim] - k;
    */
    for (uint32_t k = 0; k < sl_usage_counts[victim]; k++) {
        if (sl_usage_amounts[victim][k] > 0) {
            holds = true;
            if (!allowed_from(victim, sl_ledger_qnode_of(sl_usage_cells[victim][k]))) {
                return false;
            }
        }
    }
    return holds;
}

/* Was the workload among the first `count` victims? */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires count:      count <= SL_VICTIMS_MAX;
  requires index:      VictimsIndexed(count);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> \exists integer j; 0 <= j < count && sl_preempt_plan.victims[j] == id;
*/
static bool is_victim(sl_workload_id id, uint32_t count)
{
    uint32_t index = sl_preempt_victim_index[id];
    return index < count && sl_preempt_plan.victims[index] == id;
}

/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires count:      count <= SL_VICTIMS_MAX;
  requires index:      GoneIndexed(count);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> \exists integer j; 0 <= j < count && sl_preempt_plan.gone[j] == id;
*/
static bool is_gone(sl_workload_id id, uint32_t count)
{
    uint32_t index = sl_preempt_gone_index[id];
    return index < count && sl_preempt_plan.gone[index] == id;
}

/*@
  requires linked:     QnodesLinked && CellsLinked && WorkloadUsageValid;
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  requires preemptor:  sl_plan.workload < SL_WORKLOADS_MAX;
  requires index:      index < SL_VICTIMS_MAX && VictimsIndexed(index);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result == SL_OK ==> VictimSound(index);
  ensures  fair:       VictimSound(index) ==> \result == SL_OK;
*/
static enum sl_status check_victim(uint32_t index)
{
    sl_workload_id id = sl_preempt_plan.victims[index];
    uint32_t reason = sl_preempt_plan.reasons[index];
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (reason == SL_PREEMPT_NONE || reason >= SL_PREEMPT_FLAVOR_MIGRATION) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (is_victim(id, index) || !sl_lifecycle_holds_quota(id) || !allowed_usage(id)) {
        return SL_REFUSED_VICTIM;
    }
    return SL_OK;
}

/*@
  requires index:      index < SL_VICTIMS_MAX && GoneIndexed(index);
  requires victims:    sl_preempt_plan.victim_count <= SL_VICTIMS_MAX && VictimsIndexed(sl_preempt_plan.victim_count);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result == SL_OK ==> GoneSound(index);
  ensures  fair:       GoneSound(index) ==> \result == SL_OK;
*/
static enum sl_status check_gone(uint32_t index)
{
    sl_workload_id id = sl_preempt_plan.gone[index];
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (is_gone(id, index) || is_victim(id, sl_preempt_plan.victim_count) ||
        !sl_lifecycle_holds_quota(id) || sl_workloads[id].phase != SL_PHASE_EVICTED) {
        return SL_REFUSED_VICTIM;
    }
    return SL_OK;
}

/*@
  requires linked:     QnodesLinked && CellsLinked && WorkloadUsageValid;
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  requires preemptor:  sl_plan.workload < SL_WORKLOADS_MAX;
  requires count:      sl_preempt_plan.victim_count <= SL_VICTIMS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_victim_index[0 .. SL_WORKLOADS_MAX - 1];
  ensures  sound:      \result == SL_OK ==> VictimsSound(sl_preempt_plan.victim_count) &&
                         VictimsIndexed(sl_preempt_plan.victim_count);
  ensures  fair:       VictimsSound(sl_preempt_plan.victim_count) ==> \result == SL_OK;
*/
static enum sl_status check_victims(void)
{
    /*@
      loop invariant count:   0 <= i <= sl_preempt_plan.victim_count;
      loop invariant sound:   VictimsSound(i);
      loop invariant indexed: VictimsIndexed(i);
      loop assigns            i, sl_preempt_victim_index[0 .. SL_WORKLOADS_MAX - 1];
      loop variant            sl_preempt_plan.victim_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count; i++) {
        enum sl_status status = check_victim(i);
        if (status != SL_OK) {
            return status;
        }
        sl_preempt_victim_index[sl_preempt_plan.victims[i]] = i;
    }
    return SL_OK;
}

/*@
  requires counts:     sl_preempt_plan.gone_count <= SL_VICTIMS_MAX && sl_preempt_plan.victim_count <= SL_VICTIMS_MAX;
  requires victims:    VictimsIndexed(sl_preempt_plan.victim_count);
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_gone_index[0 .. SL_WORKLOADS_MAX - 1];
  ensures  sound:      \result == SL_OK ==> AllGoneSound(sl_preempt_plan.gone_count);
  ensures  fair:       AllGoneSound(sl_preempt_plan.gone_count) ==> \result == SL_OK;
*/
static enum sl_status check_all_gone(void)
{
    /*@
      loop invariant count:   0 <= i <= sl_preempt_plan.gone_count;
      loop invariant sound:   AllGoneSound(i);
      loop invariant indexed: GoneIndexed(i);
      loop assigns            i, sl_preempt_gone_index[0 .. SL_WORKLOADS_MAX - 1];
      loop variant            sl_preempt_plan.gone_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.gone_count; i++) {
        enum sl_status status = check_gone(i);
        if (status != SL_OK) {
            return status;
        }
        sl_preempt_gone_index[sl_preempt_plan.gone[i]] = i;
    }
    return SL_OK;
}

enum sl_status sl_preempt_check_victims(void)
{
    if (sl_preempt_plan.victim_count == 0 || sl_preempt_plan.victim_count > SL_VICTIMS_MAX ||
        sl_preempt_plan.gone_count > SL_VICTIMS_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    enum sl_status status = check_victims();
    return status == SL_OK ? check_all_gone() : status;
}
