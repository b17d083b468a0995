/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The doors of placement.h, which say by value what became of the record: nobody outside has to compare what was with
 * what is. Owns nothing. */
#ifndef SL_KERNEL_TRANSITION_H
#define SL_KERNEL_TRANSITION_H
#include "kernel/commit/placement.h"
#include "kernel/commit/placement_takeover.h"

/* What of a record is otherwise than before, beside its phase. */
enum sl_changed {
    SL_CHANGED_EVICTION, /* Evicted came to be true, or is so for another reason */
    SL_CHANGED_REQUEUE,  /* Requeued came to be true */
    SL_CHANGED_REASON,   /* why it is pending */
    SL_CHANGED_OBJECTION, /* pending evaluation: a check came to ask for a retry or to reject, or none does any more */
    SL_CHANGED_CHECKS, /* it has more checks, or fewer */
    SL_CHANGED_NODES,  /* more of its nodes have failed, or fewer */
    SL_CHANGED_WAIT,   /* it came to wait for its delayed topology alone */
    SL_CHANGED_TARGET, /* it came to be marked for deactivation, and is active */
    SL_CHANGED_START,  /* its pods came to be ready for the first time */
    SL_CHANGED_COUNT
};

struct sl_transition {
    enum sl_status status;  /* not SL_OK: nothing happened, `to` is `from`, and nothing is news */
    enum sl_phase from, to; /* SL_PHASE_ABSENT: the slot was free, or is now */
    bool news[SL_CHANGED_COUNT]; /* indexed by enum sl_changed */
};

/* A workload in place of another: what it did to both records. */
struct sl_replacement {
    struct sl_transition in, out; /* of one status */
};

#include "specs/transition.acsl"

/* sl_placement_event, and what it did. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_EVENT_CHANGES(ev.workload);
  ensures  inv:        PlacementInv;
  ensures  refused:    \result.status != SL_OK ==> UsageSame{Pre,Post} &&
                         WorkloadSame{Pre,Post}(ev.workload) && TopologySame{Pre,Post};
  ensures  refusal:    \result.status != SL_OK ==> EventRefusalTrue{Pre}(ev, \result.status);
  ensures  says:       ev.workload < SL_WORKLOADS_MAX ==> Told{Pre,Post}(\result, ev.workload);
  ensures  known:      \result.status == SL_OK ==> ev.workload < SL_WORKLOADS_MAX;
  ensures  allowed:    \result.status == SL_OK ==> MoveAllowed(ev.kind, \result.from, \result.to);
  ensures  made:       \result.status == SL_OK ==> MoveMade(ev.kind, \result.from, \result.to);
  ensures  applied:    MustApply{Pre}(ev) && ev.kind != SL_EV_RESERVE && \old(sl_trail_depth) == 0 ==>
                         \result.status == SL_OK;
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
struct sl_transition sl_transition_event(struct sl_event ev) SL_MUST_CHECK;

/* sl_placement_commit, and what it did to the record of sl_plan.workload. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_plan.workload), SL_USAGE_ROWS, SL_STAGE, SL_BOOKING;
  ensures  inv:        PlacementInv;
  ensures  refused:    \result.status != SL_OK ==> UsageSame{Pre,Post} &&
                         WorkloadSame{Pre,Post}(sl_plan.workload) && TopologySame{Pre,Post};
  ensures  says:       sl_plan.workload < SL_WORKLOADS_MAX ==> Told{Pre,Post}(\result, sl_plan.workload);
  ensures  moved:      \result.status == SL_OK ==>
                         \result.from == SL_PHASE_PENDING && PhaseReserved(\result.to);
  ensures  ready:      \result.status == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  variant:    \result.status == SL_OK ==> \old(Alone(sl_plan.workload));
  ensures  limits:     \result.status == SL_OK ==> LimitsKept{Pre,Post};
  ensures  capacity:   NoSiteOverfull{Pre,Post};
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
struct sl_transition sl_transition_commit(void) SL_MUST_CHECK;

/* sl_placement_restore, and what it did to the record of sl_plan.workload. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_plan.workload), SL_USAGE_ROWS, SL_STAGE, SL_BOOKING;
  ensures  inv:        PlacementInv;
  ensures  refused:    \result.status != SL_OK ==> UsageSame{Pre,Post} &&
                         WorkloadSame{Pre,Post}(sl_plan.workload) && TopologySame{Pre,Post};
  ensures  says:       sl_plan.workload < SL_WORKLOADS_MAX ==> Told{Pre,Post}(\result, sl_plan.workload);
  ensures  moved:      \result.status == SL_OK ==> PhaseReserved(\result.to);
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
struct sl_transition sl_transition_restore(void) SL_MUST_CHECK;

/* sl_placement_second_pass, and what it did to the record of sl_topology_plan.workload. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_topology_plan.workload), SL_STAGE, SL_BOOKING,
                       sl_plan_row_hints[0 .. SL_DOMAINS_MAX - 1];
  ensures  inv:        PlacementInv;
  ensures  refused:    \result.status != SL_OK ==> UsageSame{Pre,Post} &&
                         WorkloadSame{Pre,Post}(sl_topology_plan.workload) && TopologySame{Pre,Post};
  ensures  says:       sl_topology_plan.workload < SL_WORKLOADS_MAX ==>
                         Told{Pre,Post}(\result, sl_topology_plan.workload);
  ensures  moved:      \result.status == SL_OK ==>
                         PhaseRunning(\result.from) && \result.to == SL_PHASE_ADMITTED;
  ensures  capacity:   NoSiteOverfull{Pre,Post};
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
struct sl_transition sl_transition_second_pass(uint32_t generation, int64_t now_ms) SL_MUST_CHECK;

/* sl_placement_take_over, and what it did to the records of sl_plan.workload, which comes in, and of `old`, which goes. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_REPLACES(old), SL_STAGE, SL_BOOKING, sl_booking_counts[old],
                       sl_assigned_counts[old];
  ensures  inv:        PlacementInv;
  ensures  same:       \result.in.status == \result.out.status;
  ensures  refused:    \result.in.status != SL_OK ==> UsageSame{Pre,Post} &&
                         WorkloadSame{Pre,Post}(sl_plan.workload) && WorkloadSame{Pre,Post}(old) &&
                         TopologySame{Pre,Post};
  ensures  says:       ReplacementSays{Pre,Post}(\result, sl_plan.workload, old);
  ensures  moved:      \result.in.status == SL_OK ==> \result.in.from == SL_PHASE_PENDING &&
                         PhaseReserved(\result.in.to) && PhaseReserved(\result.out.from) &&
                         \result.out.to == SL_PHASE_FINISHED;
  ensures  ready:      \result.in.status == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  charged:    \result.in.status == SL_OK ==> Exchanged{Pre,Post}(old);
  ensures  variant:    \result.in.status == SL_OK ==> \old(Alone(sl_plan.workload));
  ensures  limits:     \result.in.status == SL_OK ==> GrowthWithin{Pre,Post};
  ensures  capacity:   NoSiteOverfull{Pre,Post};
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
struct sl_replacement sl_transition_replace(sl_workload_id old, uint32_t generation) SL_MUST_CHECK;
#endif
