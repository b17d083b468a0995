/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption plans (G4): victims hold quota and may be preempted under the policy of the
 * preemptor's queue; other queues lose them only while they borrow; without them the preemptor fits, quota and capacities; no single one of them could
 * have been spared. Policy fills sl_preempt_plan beside sl_plan and sl_topology_plan (the
 * preemptor, its requests and its assignment; no sets: none); check judges both without effect,
 * commit evicts the victims or refuses the plan whole. Owns the queues' preemption policies, the
 * plan, and what was promised in the running cycle. */
#ifndef SL_KERNEL_PREEMPT_H
#define SL_KERNEL_PREEMPT_H
#include "kernel/commit/commit.h"
#include "kernel/base/order.h"
#include "kernel/ledger/ledger_forest.h"
#include "kernel/commit/promise.h"
#include "kernel/base/reasons.h"
#include "kernel/base/status.h"
#include "kernel/topology/topology.h"
#include "kernel/topology/topology_needs.h"
#include "kernel/base/types.h"

enum sl_preempt_within { /* spec.preemption.withinClusterQueue */
                         SL_WITHIN_NEVER,
                         SL_WITHIN_LOWER_PRIORITY,
                         SL_WITHIN_LOWER_OR_NEWER_EQUAL
};
enum sl_preempt_reclaim { /* spec.preemption.reclaimWithinCohort */
                          SL_RECLAIM_NEVER,
                          SL_RECLAIM_LOWER_PRIORITY,
                          SL_RECLAIM_ANY
};
struct sl_preempt_policy {
    enum sl_preempt_within within;
    enum sl_preempt_reclaim reclaim;
    bool borrow_within; /* spec.preemption.borrowWithinCohort.policy is LowerPriority */
    bool has_threshold; /* ... .maxPriorityThreshold is set */
    int32_t threshold;
};

struct sl_preempt_plan {
    bool may_borrow;   /* false: the plan was made so that the preemptor need not borrow */
    bool after_others; /* it was made with what was promised in this cycle taken, and without the
                          victims of earlier plans that are listed below */
    uint32_t victim_count;
    sl_workload_id victims[SL_VICTIMS_MAX];
    enum sl_preempt_reason reasons[SL_VICTIMS_MAX];
    uint32_t gone_count; /* of the earlier plans' victims in the preemptor's tree: all evicted */
    sl_workload_id gone[SL_VICTIMS_MAX];
};
extern struct sl_preempt_plan sl_preempt_plan;

/* For the kernel: each qnode's policy; and a workload's index in the plan's lists, which counts only
 * when the list agrees, and so never has to be cleared. */
extern struct sl_preempt_policy sl_preempt_policies[SL_QNODES_MAX];
extern uint32_t sl_preempt_victim_index[SL_WORKLOADS_MAX];
extern uint32_t sl_preempt_gone_index[SL_WORKLOADS_MAX];

/* For preempt only, all zero between calls: what sl_topology_plan wants of a capacity, what its victims
 * have booked there, and what those have that left because of earlier plans. */
extern int64_t sl_preempt_wanted[SL_CAPACITIES_MAX];
extern int64_t sl_preempt_freed[SL_CAPACITIES_MAX];
extern int64_t sl_preempt_left[SL_CAPACITIES_MAX];

#include "specs/preempt_capacity.acsl"
#include "specs/preempt.acsl"

/* Refused: NO_QNODE, BAD_ARGUMENT. What was never set is Never, Never, no borrowing. */
/*@
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_policies[qnode];
  behavior done:
    assumes known:     qnode < SL_QNODES_MAX && PolicyValid(policy.within, policy.reclaim);
    ensures result:    \result == SL_OK && sl_preempt_policies[qnode] == policy;
  behavior refused:
    assumes reason:    !(qnode < SL_QNODES_MAX && PolicyValid(policy.within, policy.reclaim));
    assigns            \nothing;
    ensures result:    \result == SL_REFUSED_NO_QNODE || \result == SL_REFUSED_BAD_ARGUMENT;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_preempt_set_policy(sl_qnode_id qnode,
                                     struct sl_preempt_policy policy) SL_MUST_CHECK;

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     qnode < SL_QNODES_MAX ==> \result == sl_preempt_policies[qnode];
  ensures  beyond:     qnode >= SL_QNODES_MAX ==> \result.within == SL_WITHIN_NEVER &&
                         \result.reclaim == SL_RECLAIM_NEVER && \result.borrow_within == 0 &&
                         \result.has_threshold == 0 && \result.threshold == 0;
*/
struct sl_preempt_policy sl_preempt_policy_of(sl_qnode_id qnode);

/* Would sl_plan and sl_preempt_plan be accepted? The ledger is as it was afterwards. Linear in what
 * victims, those of earlier plans, promises and the plan name. */
/*@
  requires inv:        CoreInv && QnodesLinked && ListsInv;
  requires promises:   PromisesValid;
  requires topology:   TopologyInv && ScratchZero;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, SL_PREEMPT_SCRATCH, SL_CAPACITY_SCRATCH, SL_NEEDS;
  ensures  inv:        CoreInv;
  ensures  zero:       ScratchZero;
  ensures  same:       UsageSame{Pre,Post} && sl_trail_depth == \old(sl_trail_depth);
  ensures  sound:      \result == SL_OK ==> PreemptionSound{Post,Post} && sl_trail_depth == 0;
  ensures  items:      \result == SL_OK ==> PlanItems;
  ensures  capacity:       \result == SL_OK ==> sl_promises <= SL_PROMISES_MAX - SL_USAGE_CELLS_MAX;
*/
enum sl_status sl_preempt_check(void) SL_MUST_CHECK;

/* Check, then give each victim that is not being evicted yet its SL_EV_PREEMPT (no one is evicted twice), and
 * promise the preemptor's amounts: all of it, or nothing. */
/*@
  requires inv:        CoreInv && QnodesLinked && ListsInv;
  requires promises:   PromisesValid;
  requires topology:   TopologyInv && ScratchZero;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, SL_PREEMPT_SCRATCH, SL_CAPACITY_SCRATCH, SL_NEEDS, sl_workloads[0 .. SL_WORKLOADS_MAX - 1],
                       sl_places[0 .. SL_WORKLOADS_MAX - 1], sl_usage_counts[0 .. SL_WORKLOADS_MAX - 1],
                       sl_promises, sl_promise_cells[0 .. SL_PROMISES_MAX - 1],
                       sl_promise_amounts[0 .. SL_PROMISES_MAX - 1];
  ensures  inv:        CoreInv && PromisesValid;
  ensures  zero:       ScratchZero;
  ensures  sound:      \result == SL_OK ==> PreemptionSound{Pre,Post} && PlanItems;
  ensures  evicted:    \result == SL_OK ==> \forall integer i; 0 <= i < sl_preempt_plan.victim_count ==>
                         sl_workloads[sl_preempt_plan.victims[i]].phase == SL_PHASE_EVICTED;
  ensures  once:       \forall integer i; 0 <= i < sl_preempt_plan.victim_count &&
                         \old(sl_workloads[sl_preempt_plan.victims[i]].phase) == SL_PHASE_EVICTED ==>
                         WorkloadSame{Pre,Post}(sl_preempt_plan.victims[i]);
  ensures  others:     \forall integer id; 0 <= id < SL_WORKLOADS_MAX && NoVictim(id) ==>
                         WorkloadSame{Pre,Post}(id);
  ensures  promised:   \result == SL_OK ==> \forall integer c; Promised(c, sl_promises) ==
                         \old(Promised(c, sl_promises)) + PlanSum(c, sl_plan.usage_count);
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && sl_promises == \old(sl_promises) &&
                         \forall integer id; 0 <= id < SL_WORKLOADS_MAX ==> WorkloadSame{Pre,Post}(id);
  ensures  holders:    HoldersStay{Pre,Post};
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_preempt_commit(void) SL_MUST_CHECK;
#endif
