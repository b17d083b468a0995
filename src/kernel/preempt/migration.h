/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A variant makes way for one of the same workload that comes before it and fits now. It is no victim that frees anything:
 * the other's quota is there, and is kept for it until the job has stopped. Owns nothing. */
#ifndef SL_KERNEL_MIGRATION_H
#define SL_KERNEL_MIGRATION_H
#include "kernel/commit/commit.h"
#include "kernel/commit/promise.h"
#include "kernel/commit/variants.h"
#include "kernel/preempt/preempt.h"

/*@
  // What makes a migration acceptable: the plan is for a head of the running cycle and available now, and `other` makes way.
  predicate MigrationSound{L}(integer other) =
    PlanNames(SL_PLACE_IN_FLIGHT) && PlanUsageSound && PlanAvailable && TimeValid(sl_plan.now_ms) &&
    MakesWay(sl_plan.workload, other);
*/

/* Evict `other`, unless it is being evicted already, for sl_plan's workload, and promise what sl_plan asks for; or refuse,
 * with everything as it was: what check of commit.h says of the plan, NO_MIGRATION, BAD_ARGUMENT (the time), FULL_USAGE. */
/*@
  requires inv:        CoreInv;
  requires promises:   PromisesValid;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, sl_workloads[other], sl_places[other], sl_usage_counts[other],
                       sl_promises, sl_promise_cells[0 .. SL_PROMISES_MAX - 1],
                       sl_promise_amounts[0 .. SL_PROMISES_MAX - 1];
  ensures  inv:        CoreInv && PromisesValid;
  ensures  sound:      \result == SL_OK ==> \old(MigrationSound(other));
  ensures  evicted:    \result == SL_OK ==> sl_workloads[other].phase == SL_PHASE_EVICTED;
  ensures  once:       \old(sl_workloads[other].phase) == SL_PHASE_EVICTED ==> WorkloadSame{Pre,Post}(other);
  ensures  promised:   \result == SL_OK ==> \forall integer c; Promised(c, sl_promises) ==
                         \old(Promised(c, sl_promises)) + PlanSum(c, sl_plan.usage_count);
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && sl_promises == \old(sl_promises) &&
                         WorkloadSame{Pre,Post}(other);
  ensures  holders:    HoldersStay{Pre,Post};
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_migration_commit(sl_workload_id other) SL_MUST_CHECK;
#endif
