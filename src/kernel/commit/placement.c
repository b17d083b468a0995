/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Capacities are judged first and booked last; in between comes what may still refuse: quota, or the record. */
#include "kernel/commit/placement.h"
#include "kernel/commit/placement_kept.h"
#include "kernel/topology/topology_move.h"

/*@
  requires inv:        CoreInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_plan.workload), SL_USAGE_ROWS;
  ensures  inv:        CoreInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload);
  ensures  named:      \result == SL_OK ==> (ask ? \old(PlanNames(SL_PLACE_IN_FLIGHT) && PlanAvailable)
                                                 : \old(PlanNames(SL_PLACE_ORPHANED)));
  ensures  limits:     \result == SL_OK && ask ==> LimitsKept{Pre,Post};
  ensures  ready:      \result == SL_OK && ask ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  variant:    \result == SL_OK && ask ==> \old(Alone(sl_plan.workload));
  ensures  holds:      \result == SL_OK ==> PlanStored(sl_plan.workload) && HoldsQuota(sl_plan.workload);
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
static enum sl_status commit_quota(bool ask)
{
    return ask ? sl_commit_apply() : sl_commit_restore();
}

/* Book what was staged when the quota was given; else drop it. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_plan.workload), SL_USAGE_ROWS, SL_STAGE, SL_BOOKING;
  ensures  inv:        PlacementInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload) &&
                         TopologySame{Pre,Post};
  ensures  named:      \result == SL_OK ==> (ask ? \old(PlanNames(SL_PLACE_IN_FLIGHT) && PlanAvailable)
                                                 : \old(PlanNames(SL_PLACE_ORPHANED)));
  ensures  limits:     \result == SL_OK && ask ==> LimitsKept{Pre,Post};
  ensures  ready:      \result == SL_OK && ask ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  variant:    \result == SL_OK && ask ==> \old(Alone(sl_plan.workload));
  ensures  holds:      \result == SL_OK ==> PlanStored(sl_plan.workload) && HoldsQuota(sl_plan.workload);
  ensures  placed:     \result == SL_OK ==> sl_topology_plan.workload == sl_plan.workload &&
                         PlanInPlace{Pre,Post}(sl_plan.workload, ask);
  ensures  capacity:       ask ==> NoSiteOverfull{Pre,Post};
  ensures  nothing:    sl_topology_plan.workload == sl_plan.workload ==> sl_stage_block == SL_NO_ID;
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
static enum sl_status commit_both(bool ask)
{
    if (sl_topology_plan.workload != sl_plan.workload) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    enum sl_status status = sl_stage_begin(ask);
    if (status != SL_OK) {
        return status;
    }
    status = commit_quota(ask);
    /*@ assert held: \forall integer w; 0 <= w < SL_WORKLOADS_MAX && sl_booking_counts[w] > 0 ==>
          HoldsCapacity(w); */
    if (status == SL_OK) {
        sl_stage_book();
    } else {
        sl_stage_drop();
    }
    return status;
}

enum sl_status sl_placement_commit(void)
{
    return sl_topology_plan.set_count == 0 ? commit_quota(true) : commit_both(true);
}

enum sl_status sl_placement_restore(void)
{
    return sl_topology_plan.set_count == 0 ? commit_quota(false) : commit_both(false);
}

/* Does the live workload need a second pass, in this incarnation, and is there anything to commit? */
/*@
  requires records:    RecordsValid;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==> sl_topology_plan.workload < SL_WORKLOADS_MAX &&
                         sl_workloads[sl_topology_plan.workload].phase != SL_PHASE_ABSENT &&
                         sl_workloads[sl_topology_plan.workload].generation == generation &&
                         NeedsPass(sl_topology_plan.workload) && sl_topology_plan.set_count != 0 &&
                         TimeValid(now_ms);
*/
static enum sl_status check_pass(uint32_t generation, int64_t now_ms)
{
    sl_workload_id id = sl_topology_plan.workload;
    if (id >= SL_WORKLOADS_MAX || sl_workloads[id].phase == SL_PHASE_ABSENT) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (sl_workloads[id].generation != generation) {
        return SL_REFUSED_STALE;
    }
    if (!sl_second_pass_needed(id)) {
        return SL_REFUSED_NOT_NEEDED;
    }
    return sl_topology_plan.set_count == 0 || now_ms < 0 || now_ms > SL_TIME_MAX
               ? SL_REFUSED_BAD_ARGUMENT
               : SL_OK;
}

/* Judge the plan's form and capacities, and what it must keep. */
/*@
  requires inv:        TopologyInv;
  requires record:     sl_topology_plan.workload < SL_WORKLOADS_MAX ==>
                         sl_workloads[sl_topology_plan.workload].unhealthy_count <= SL_UNHEALTHY_MAX;
  terminates           \true;
  exits                \false;
  assigns              SL_STAGE, sl_plan_row_hints[0 .. SL_DOMAINS_MAX - 1];
  ensures  inv:        TopologyInv;
  ensures  staged:     \result == SL_OK ==> PlanJudged(1) && BlockStaged;
  ensures  kept:       \result == SL_OK ==>
                         AssignedKept(sl_topology_plan.workload, sl_assigned_counts[sl_topology_plan.workload]);
  ensures  nothing:    \result != SL_OK ==> sl_stage_block == SL_NO_ID;
*/
static enum sl_status stage_pass(void)
{
    enum sl_status status = sl_stage_begin(true);
    if (status != SL_OK) {
        return status;
    }
    status = sl_placement_keeps();
    if (status != SL_OK) {
        sl_stage_drop();
    }
    return status;
}

/*@
  requires inv:        CoreInv;
  requires known:      sl_topology_plan.workload < SL_WORKLOADS_MAX;
  requires running:    PhaseRunning(sl_workloads[sl_topology_plan.workload].phase);
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_topology_plan.workload);
  ensures  inv:        CoreInv;
  ensures  refused:    \result != SL_OK ==>
                         UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_topology_plan.workload);
  ensures  move:       \result == SL_OK ==> MoveAllowed(SL_EV_SECOND_PASS_FIT,
                         \old(sl_workloads[sl_topology_plan.workload].phase),
                         sl_workloads[sl_topology_plan.workload].phase);
  ensures  admitted:   \result == SL_OK ==> PassAdmits{Pre,Post}(sl_topology_plan.workload, now_ms);
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_topology_plan.workload);
  ensures  told:       \old(NeedsPass(sl_topology_plan.workload) && sl_trail_depth == 0 && TimeValid(now_ms) &&
                              sl_workloads[sl_topology_plan.workload].generation == generation) ==>
                         \result == SL_OK;
  ensures  kept:       \result == SL_OK ==>
                         UsageSame{Pre,Post} && WorkloadUsageSame{Pre,Post}(sl_topology_plan.workload);
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
static enum sl_status tell_record(uint32_t generation, int64_t now_ms)
{
    struct sl_event ev = {0};
    ev.kind = SL_EV_SECOND_PASS_FIT;
    ev.workload = sl_topology_plan.workload;
    ev.generation = generation;
    ev.now_ms = now_ms;
    return sl_commit_event(ev);
}

/* Tell the record of the plan that is staged, and book it; or drop it. */
/*@
  requires inv:        PlacementInv;
  requires staged:     PlanJudged(1) && BlockStaged;
  requires running:    NeedsPass(sl_topology_plan.workload);
  requires kept:       AssignedKept(sl_topology_plan.workload, sl_assigned_counts[sl_topology_plan.workload]);
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_topology_plan.workload), SL_BOOKING, sl_stage_block;
  ensures  inv:        PlacementInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} &&
                         WorkloadSame{Pre,Post}(sl_topology_plan.workload) && TopologySame{Pre,Post};
  ensures  move:       \result == SL_OK ==> MoveAllowed(SL_EV_SECOND_PASS_FIT,
                         \old(sl_workloads[sl_topology_plan.workload].phase),
                         sl_workloads[sl_topology_plan.workload].phase);
  ensures  admitted:   \result == SL_OK ==> PassAdmits{Pre,Post}(sl_topology_plan.workload, now_ms);
  ensures  quota:      \result == SL_OK ==> HoldsQuota(sl_topology_plan.workload) && UsageSame{Pre,Post} &&
                         WorkloadUsageSame{Pre,Post}(sl_topology_plan.workload);
  ensures  placed:     \result == SL_OK ==> PlanInPlace{Pre,Post}(sl_topology_plan.workload, 1);
  ensures  stay:       \result == SL_OK ==> AssignedStay{Pre,Post}(sl_topology_plan.workload);
  ensures  capacity:       NoSiteOverfull{Pre,Post};
  ensures  nothing:    sl_stage_block == SL_NO_ID;
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
static enum sl_status carry_out(uint32_t generation, int64_t now_ms)
{
    enum sl_status status = tell_record(generation, now_ms);
    if (status == SL_OK) {
        sl_stage_book();
        /*@ assert each: \let w = sl_topology_plan.workload; \forall integer b, i;
              0 <= i < sl_topology_plan.row_count && AssignmentStored(sl_booking_firsts[w] + i, i) &&
              sl_topology_plan.rows[i].domain == \at(sl_assigned_domains[b], Pre) &&
              sl_topology_plan.rows[i].count >= \at(sl_assigned_pods[b], Pre) &&
              sl_topology_plan.sets[sl_plan_row_sets[i]].pod_set == \at(sl_assigned_sets[b], Pre) ==>
                AssignmentStays{Pre,Here}(w, b); */
        /*@ assert keeps: \let w = sl_topology_plan.workload; \forall integer b;
              \at(PlanKeeps(sl_assigned_sets[b], sl_assigned_domains[b], sl_assigned_pods[b]), Pre) ==>
                AssignmentStays{Pre,Here}(w, b); */
        /*@ assert asked: \let w = sl_topology_plan.workload; \forall integer b;
              \at(sl_booking_firsts[w] <= b < sl_booking_firsts[w] + sl_assigned_counts[w], Pre) ==>
                \at(AssignmentKept(w, b), Pre); */
        /*@ assert meant: \let w = sl_topology_plan.workload; \forall integer b; \at(AssignmentKept(w, b), Pre) ==>
              \at(SiteFailed(w, sl_assigned_domains[b]) ||
                  PlanKeeps(sl_assigned_sets[b], sl_assigned_domains[b], sl_assigned_pods[b]), Pre); */
        //@ assert stay: AssignedStay{Pre,Here}(sl_topology_plan.workload);
    } else {
        sl_stage_drop();
    }
    return status;
}

enum sl_status sl_placement_second_pass(uint32_t generation, int64_t now_ms)
{
    enum sl_status status = check_pass(generation, now_ms);
    if (status == SL_OK) {
        status = stage_pass();
    }
    return status == SL_OK ? carry_out(generation, now_ms) : status;
}

enum sl_status sl_placement_event(struct sl_event ev)
{
    enum sl_status status = sl_commit_event(ev);
    if (status == SL_OK && !sl_lifecycle_holds_capacity(ev.workload)) {
        sl_bookings_release(ev.workload);
    }
    return status;
}
