/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The door by which a workload takes the place of another that holds quota, as a slice of an elastic job does when the
 * job has changed its size: in one step the new one gets what its plan says, and the old one is finished. Only what the
 * new one needs beyond the old has to be available. Owns nothing. Carries G1, G2 and G3 as commit.h does. */
#ifndef SL_KERNEL_REPLACE_H
#define SL_KERNEL_REPLACE_H
#include "kernel/commit/commit.h"

#include "specs/replace.acsl"

/* Would sl_plan be accepted for its workload (in place IN_FLIGHT, as by sl_commit_check) if `old`, in this incarnation,
 * gave back what it holds in the same step? No effect. For each cell of the plan: no more than `old` holds of it is
 * always accepted, whatever the limits say; of more, the difference has to be available in the ledger as it is. The
 * plan says all that the new workload will hold, not the difference. Where there is a difference that only preemption
 * can make available, the plan that preempt.h judges says the difference alone. */
/*@
  requires inv:        CoreInv;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  plan:       \result == SL_OK ==> PlanFormed;
  ensures  old:        \result == SL_OK ==> OldNamed(old, generation);
  ensures  growth:     \result == SL_OK ==> GrowthAvailable(old);
  ensures  says:       \result != SL_OK ==> (PlanRefusalTrue(SL_PLACE_IN_FLIGHT, \result) && !PlanFormed) ||
                         OldRefusalTrue(old, generation, \result);
  ensures  fair:       PlanFormed && OldNamed(old, generation) && GrowthAvailable(old) ==> \result == SL_OK;
*/
enum sl_status sl_commit_replace_check(sl_workload_id old, uint32_t generation) SL_MUST_CHECK;

/* Apply all of sl_plan as sl_commit_apply does, and finish `old` (SL_FINISH_SLICE_REPLACED), or refuse it whole with
 * everything as it was. No variant takes the place of another one (VARIANT): that is a migration (preempt/migration.h). What `old` has booked of capacities is not given back here: see placement_takeover.h. */
/*@
  requires inv:        CoreInv;
  terminates           \true;
  exits                \false;
  assigns              SL_EXCHANGED, SL_REPLACES(old);
  ensures  inv:        CoreInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload) &&
                         WorkloadSame{Pre,Post}(old);
  ensures  shrinks:    \result == SL_REFUSED_QUOTA && \old(PlanFormed) ==> \old(Grows(old));
  ensures  says:       \result != SL_REFUSED_CAPACITY;
  ensures  checked:    \result == SL_OK ==> \old(PlanFormed && OldNamed(old, generation) && GrowthAvailable(old));
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  variant:    \result == SL_OK ==> \old(Alone(sl_plan.workload));
  ensures  limits:     \result == SL_OK ==> GrowthWithin{Pre,Post};
  ensures  charged:    \result == SL_OK ==> Exchanged{Pre,Post}(old);
  ensures  stored:     \result == SL_OK ==> PlanStored(sl_plan.workload);
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_plan.workload) &&
                         sl_places[sl_plan.workload] == SL_PLACE_HOLDING;
  ensures  finished:   \result == SL_OK ==> sl_workloads[old].phase == SL_PHASE_FINISHED &&
                         sl_usage_counts[old] == 0 && sl_places[old] == SL_PLACE_DONE;
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_commit_replace(sl_workload_id old, uint32_t generation) SL_MUST_CHECK;
#endif
