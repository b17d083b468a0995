/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A preemption plan is judged in full before the first victim is told; nothing can be refused after that. */
#include "kernel/preempt/preempt.h"

#include "kernel/commit/commit.h"
#include "kernel/preempt/preempt_capacity.h"
#include "kernel/preempt/preempt_nominal.h"
#include "kernel/preempt/preempt_trial.h"
#include "kernel/preempt/preempt_victim.h"

/* What the plan needs beside victims: a time, and room for its promises. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==> TimeValid(sl_plan.now_ms) &&
                         sl_promises <= SL_PROMISES_MAX - SL_USAGE_CELLS_MAX;
*/
static enum sl_status check_rest(void)
{
    if (sl_plan.now_ms < 0 || sl_plan.now_ms > SL_TIME_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_promises > SL_PROMISES_MAX - SL_USAGE_CELLS_MAX) {
        return SL_FULL_USAGE;
    }
    return SL_OK;
}

/* Is there room, and quota, with the victims gone, and is each of them needed for one of the two? */
/*@
  requires inv:        CoreInv && QnodesLinked && sl_trail_depth == 0;
  requires plan:       PlanUsageSound;
  requires lists:      ListsSound;
  requires promises:   PromisesValid;
  requires topology:   TopologyInv && ScratchZero;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, SL_CAPACITY_SCRATCH, SL_NEEDS;
  ensures  inv:        CoreInv && sl_trail_depth == 0;
  ensures  same:       UsageSame{Pre,Post};
  ensures  zero:       ScratchZero;
  ensures  sound:      \result == SL_OK ==> PlanFits && CapacityFits && PlanItems && NoneSpared{Post,Post};
*/
static enum sl_status try_all(void)
{
    enum sl_status status = sl_preempt_capacity_open();
    if (status == SL_OK) {
        status = sl_preempt_try();
    }
    sl_preempt_capacity_close();
    return status;
}

enum sl_status sl_preempt_check(void)
{
    enum sl_status status = sl_commit_check_form();
    if (status == SL_OK) {
        status = check_rest();
    }
    if (status == SL_OK) {
        status = sl_preempt_check_victims();
    }
    if (status == SL_OK) {
        status = sl_preempt_check_nominal();
    }
    if (status == SL_OK) {
        status = try_all();
    }
    return status;
}

/* Evict a victim, unless it is being evicted already. */
/*@
  requires inv:        CoreInv && sl_trail_depth == 0;
  requires index:      index < SL_VICTIMS_MAX;
  requires victim:     sl_preempt_plan.victims[index] < SL_WORKLOADS_MAX &&
                         HoldsQuota(sl_preempt_plan.victims[index]) &&
                         0 < sl_preempt_plan.reasons[index] < SL_PREEMPT_REASONS;
  requires time:       TimeValid(sl_plan.now_ms);
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, sl_workloads[sl_preempt_plan.victims[index]],
                       sl_places[sl_preempt_plan.victims[index]],
                       sl_usage_counts[sl_preempt_plan.victims[index]];
  ensures  inv:        CoreInv && sl_trail_depth == 0;
  ensures  result:     \result == SL_OK;
  ensures  evicted:    sl_workloads[sl_preempt_plan.victims[index]].phase == SL_PHASE_EVICTED;
  ensures  holders:    HoldersStay{Pre,Post};
  ensures  once:       \old(sl_workloads[sl_preempt_plan.victims[index]].phase) == SL_PHASE_EVICTED ==>
                         WorkloadSame{Pre,Post}(sl_preempt_plan.victims[index]);
*/
static enum sl_status evict(uint32_t index)
{
    sl_workload_id id = sl_preempt_plan.victims[index];
    struct sl_event ev = {0};
    if (sl_workloads[id].phase == SL_PHASE_EVICTED) {
        return SL_OK;
    }
    ev.kind = SL_EV_PREEMPT;
    ev.workload = id;
    ev.generation = sl_workloads[id].generation;
    ev.reason = sl_preempt_plan.reasons[index];
    ev.now_ms = sl_plan.now_ms;
    return sl_commit_event(ev);
}

/* Evict every victim. Since they are distinct, each is still as it was judged when its turn comes. */
/*@
  requires inv:        CoreInv && sl_trail_depth == 0;
  requires lists:      ListsSound;
  requires time:       TimeValid(sl_plan.now_ms);
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, sl_workloads[0 .. SL_WORKLOADS_MAX - 1],
                       sl_places[0 .. SL_WORKLOADS_MAX - 1], sl_usage_counts[0 .. SL_WORKLOADS_MAX - 1];
  ensures  inv:        CoreInv && sl_trail_depth == 0;
  ensures  result:     \result == SL_OK;
  ensures  holders:    HoldersStay{Pre,Post};
  ensures  evicted:    \forall integer i; 0 <= i < sl_preempt_plan.victim_count ==>
                         sl_workloads[sl_preempt_plan.victims[i]].phase == SL_PHASE_EVICTED;
  ensures  once:       \forall integer i; 0 <= i < sl_preempt_plan.victim_count &&
                         \old(sl_workloads[sl_preempt_plan.victims[i]].phase) == SL_PHASE_EVICTED ==>
                         WorkloadSame{Pre,Post}(sl_preempt_plan.victims[i]);
  ensures  others:     \forall integer id; 0 <= id < SL_WORKLOADS_MAX && NoVictim(id) ==>
                         WorkloadSame{Pre,Post}(id);
*/
static enum sl_status evict_all(void)
{
    enum sl_status status = SL_OK;
    /*@
      loop invariant index:   0 <= i <= sl_preempt_plan.victim_count;
      loop invariant inv:     CoreInv && sl_trail_depth == 0;
      loop invariant result:  status == SL_OK;
      loop invariant holders: HoldersStay{Pre,Here};
      loop invariant evicted: \forall integer j; 0 <= j < i ==>
                                sl_workloads[sl_preempt_plan.victims[j]].phase == SL_PHASE_EVICTED;
      loop invariant once:    \forall integer j; 0 <= j < i &&
                                \at(sl_workloads[sl_preempt_plan.victims[j]].phase, Pre) == SL_PHASE_EVICTED ==>
                                WorkloadSame{Pre,Here}(sl_preempt_plan.victims[j]);
      loop invariant others:  \forall integer id; 0 <= id < SL_WORKLOADS_MAX &&
                                (\forall integer j; 0 <= j < i ==> sl_preempt_plan.victims[j] != id) ==>
                                WorkloadSame{Pre,Here}(id);
      loop assigns            i, status, SL_TRIED, sl_trail_depth, sl_workloads[0 .. SL_WORKLOADS_MAX - 1],
                              sl_places[0 .. SL_WORKLOADS_MAX - 1], sl_usage_counts[0 .. SL_WORKLOADS_MAX - 1];
      loop variant            sl_preempt_plan.victim_count - i;
    */
    for (uint32_t i = 0; i < sl_preempt_plan.victim_count && status == SL_OK; i++) {
        status = evict(i);
    }
    return status;
}

enum sl_status sl_preempt_commit(void)
{
    enum sl_status status = sl_preempt_check();
    if (status == SL_OK) {
        status = evict_all();
    }
    if (status == SL_OK) {
        sl_promise_plan();
    }
    return status;
}
