/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Commit: judge a plan, charge its amounts under the trail, change the record, keep the amounts. Whatever may
 * refuse comes before the trail is kept; what comes after cannot. */
#include "kernel/commit/commit.h"
#include "specs/guarantees.acsl"

/*@
  requires index:      index < SL_USAGE_CELLS_MAX;
  terminates           \true; exits \false;
  assigns              \nothing;
  ensures  result:     \result <==> \exists integer j; 0 <= j < index &&
                         sl_plan.usage[j].cell == sl_plan.usage[index].cell;
*/
static bool claimed_before(uint32_t index)
{
    /*@
      loop invariant index:  0 <= i <= index;
      loop invariant none:   \forall integer j; 0 <= j < i ==>
                               sl_plan.usage[j].cell != sl_plan.usage[index].cell;
      loop assigns           i;
      loop variant           index - i;
    */
    for (uint32_t i = 0; i < index; i++) {
        if (sl_plan.usage[i].cell == sl_plan.usage[index].cell) {
            return true;
        }
    }
    return false;
}

/*@
  requires inv:        ask ==> CellsLinked && LimitsInRange && UsageInRange;
  requires index:      index < SL_USAGE_CELLS_MAX;
  requires queue:      sl_plan.cluster_queue < SL_QNODES_MAX;
  terminates           \true; exits \false;
  assigns              \nothing;
  ensures  sound:      \result == SL_OK ==> PlanCellSound(index);
  ensures  fits:       \result == SL_OK && ask ==> sl_plan.usage[index].amount <= available(sl_plan.usage[index].cell);
  ensures  says:       AmountRefusalTrue(index, \result) && (!ask ==> \result != SL_REFUSED_QUOTA);
  ensures  fair:       PlanCellSound(index) &&
                         (ask ==> sl_plan.usage[index].amount <= available(sl_plan.usage[index].cell)) ==>
                         \result == SL_OK;
*/
static enum sl_status check_cell(uint32_t index, bool ask)
{
    sl_cell_id cell = sl_plan.usage[index].cell;
    int64_t amount = sl_plan.usage[index].amount;
    if (sl_ledger_qnode_of(cell) != sl_plan.cluster_queue || claimed_before(index)) {
        return SL_REFUSED_PLAN_USAGE;
    }
    if (amount < 0 || amount > SL_AMOUNT_MAX) {
        return SL_REFUSED_AMOUNT;
    }
    if (ask && amount > sl_ledger_available(cell)) {
        //@ assert beyond: amount > available(cell);
        return SL_REFUSED_QUOTA;
    }
    return SL_OK;
}

/*@
  requires inv:        ask ==> CellsLinked && LimitsInRange && UsageInRange;
  terminates           \true; exits \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==> PlanUsageSound && (ask ==> PlanAvailable);
  ensures  says:       \result != SL_OK ==> \forall integer from; PlanRefusalTrue(from, \result);
*/
static enum sl_status check_usage(bool ask)
{
    if (sl_plan.usage_count > SL_USAGE_CELLS_MAX) {
        return SL_FULL_USAGE;
    }
    if (sl_plan.cluster_queue >= SL_QNODES_MAX) {
        return SL_REFUSED_NO_QNODE;
    }
    /*@
      loop invariant index:  0 <= i <= sl_plan.usage_count;
      loop invariant sound:  \forall integer j; 0 <= j < i ==> PlanCellSound(j);
      loop invariant avail:  ask ==> \forall integer j; 0 <= j < i ==>
                               sl_plan.usage[j].amount <= available(sl_plan.usage[j].cell);
      loop assigns           i;
      loop variant           sl_plan.usage_count - i;
    */
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        enum sl_status status = check_cell(i, ask);
        if (status != SL_OK) {
            return status;
        }
    }
    return SL_OK;
}

/* Does the plan name a live workload that stands at `from`, which is a place where only pending ones stand? */
/*@
  requires place:      sl_plan.workload < SL_WORKLOADS_MAX ==> PlaceAgrees(sl_plan.workload);
  requires from:       from == SL_PLACE_IN_FLIGHT || from == SL_PLACE_ORPHANED;
  terminates           \true; exits \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==> PlanNames(from);
  ensures  says:       \result != SL_OK ==> PlanRefusalTrue(from, \result);
*/
static enum sl_status check_workload(enum sl_place from)
{
    sl_workload_id id = sl_plan.workload;
    if (id >= SL_WORKLOADS_MAX || sl_workloads[id].phase == SL_PHASE_ABSENT) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (sl_workloads[id].generation != sl_plan.generation) {
        return SL_REFUSED_STALE;
    }
    if (sl_workloads[id].phase == SL_PHASE_FINISHED) {
        return SL_REFUSED_FINISHED;
    }
    return sl_places[id] == from ? SL_OK : SL_REFUSED_PLACE;
}

/*@
  requires place:      sl_plan.workload < SL_WORKLOADS_MAX ==> PlaceAgrees(sl_plan.workload);
  requires inv:        ask ==> CellsLinked && LimitsInRange && UsageInRange;
  requires from:       from == SL_PLACE_IN_FLIGHT || from == SL_PLACE_ORPHANED;
  terminates           \true; exits \false;
  assigns              \nothing;
  ensures  names:      \result == SL_OK ==> PlanNames(from);
  ensures  closed:     \result == SL_OK ==> sl_trail_depth == 0;
  ensures  usage:     \result == SL_OK ==> PlanUsageSound && (ask ==> PlanAvailable);
  ensures  says:       \result != SL_OK ==> PlanRefusalTrue(from, \result);
  ensures  fair:       PlanNames(from) && PlanUsageSound && (ask ==> PlanAvailable) &&
                         sl_trail_depth == 0 ==> \result == SL_OK;
*/
static enum sl_status check(enum sl_place from, bool ask)
{
    enum sl_status status = check_workload(from);
    if (status != SL_OK) {
        return status;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    return check_usage(ask);
}

enum sl_status sl_commit_check(void)
{
    return check(SL_PLACE_IN_FLIGHT, true);
}

enum sl_status sl_commit_check_form(void)
{
    return check(SL_PLACE_IN_FLIGHT, false);
}

/*@
  requires inv:        UsageInv && TrailSound;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
  ensures  inv:        UsageInv && TrailSound;
  ensures  known:      \result == SL_OK ==> cell < SL_CELLS_MAX;
  ensures  used:       \result == SL_OK ==> sl_cell_home[cell] != 0;
  ensures  charged:    \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + (c == cell ? amount : 0);
  ensures  limits:     \result == SL_OK && ask ==> LimitsKept{Pre,Post};
  ensures  past:       sl_trail_depth > 0 ==> SamePast{Pre,Post}(0);
*/
static enum sl_status charge(sl_cell_id cell, int64_t amount, bool ask)
{
    return ask ? sl_ledger_reserve(cell, amount) : sl_ledger_charge(cell, amount);
}

/* Charge every amount of the plan; the caller's trail takes back what a refusal leaves half done. */
/*@
  requires inv:        UsageInv && TrailSound && ChargedCellsUsed;
  requires trial:      sl_trail_depth > 0;
  requires count:      sl_plan.usage_count <= SL_USAGE_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
  ensures  inv:        UsageInv && TrailSound;
  ensures  used:       \result == SL_OK ==> ChargedCellsUsed;
  ensures  charged:    \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + PlanSum(c, sl_plan.usage_count);
  ensures  limits:     \result == SL_OK && ask ==> LimitsKept{Pre,Post};
  ensures  past:       SamePast{Pre,Post}(0);
*/
static enum sl_status charge_usage(bool ask)
{
    /*@
      loop invariant index:  0 <= i <= sl_plan.usage_count;
      loop invariant inv:    UsageInv && TrailSound && ChargedCellsUsed;
      loop invariant sum:    \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                               sl_cell_own[c] == \at(sl_cell_own[c], Pre) + PlanSum(c, i);
      loop invariant limits: ask ==> LimitsKept{Pre,Here};
      loop invariant past:   SamePast{Pre,Here}(0);
      loop assigns           i, sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                             sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count,
                             sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                             sl_trail_usage[0 .. SL_TRAIL_MAX - 1];
      loop variant           sl_plan.usage_count - i;
    */
    for (uint32_t i = 0; i < sl_plan.usage_count; i++) {
        enum sl_status status = charge(sl_plan.usage[i].cell, sl_plan.usage[i].amount, ask);
        if (status != SL_OK) {
            return status;
        }
    }
    return SL_OK;
}

/* Tell the record that the plan was committed. */
/*@
  requires known:      sl_plan.workload < SL_WORKLOADS_MAX;
  requires record:     WorkloadInv(sl_plan.workload);
  terminates           \true;
  exits                \false;
  assigns              sl_workloads[sl_plan.workload];
  ensures  record:     WorkloadInv(sl_plan.workload);
  ensures  refused:    \result != SL_OK ==>
                         sl_workloads[sl_plan.workload] == \old(sl_workloads[sl_plan.workload]);
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_plan.workload);
  ensures  takes:      \old(RecordTakes) ==> \result == SL_OK;
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  told:       \result == SL_OK ==> PlanTold{Pre,Post};
*/
static enum sl_status reserve_record(void)
{
    struct sl_event ev = {0};
    ev.kind = SL_EV_RESERVE;
    ev.workload = sl_plan.workload;
    ev.generation = sl_plan.generation;
    ev.index = sl_plan.topology_pending ? 1u : 0u;
    ev.now_ms = sl_plan.now_ms;
    return sl_lifecycle_apply(ev);
}

/* Charge and tell the record, under the trail: both happen or neither. */
/*@
  requires inv:        CoreInv && sl_trail_depth == 0;
  requires names:      PlanNames(SL_PLACE_IN_FLIGHT) || PlanNames(SL_PLACE_ORPHANED);
  requires usage:     PlanUsageSound;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count, sl_trail_depth,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_workloads[sl_plan.workload];
  ensures  records:    WorkloadInv(sl_plan.workload);
  ensures  inv:        UsageInv && TrailSound && ChargedCellsUsed && sl_trail_depth == 0;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} &&
                         sl_workloads[sl_plan.workload] == \old(sl_workloads[sl_plan.workload]);
  ensures  charged:    \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + PlanSum(c, sl_plan.usage_count);
  ensures  limits:     \result == SL_OK && ask ==> LimitsKept{Pre,Post};
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_plan.workload);
*/
static enum sl_status charge_and_reserve(bool ask)
{
    uint32_t mark = sl_trail_begin();
    enum sl_status status = charge_usage(ask);
    if (status == SL_OK) {
        status = reserve_record();
    }
    if (status == SL_OK) {
        sl_trail_keep(mark);
    } else {
        sl_trail_rollback(mark);
    }
    return status;
}

/*@
  requires inv:        CoreInv && sl_trail_depth == 0;
  requires names:      PlanNames(SL_PLACE_IN_FLIGHT) || PlanNames(SL_PLACE_ORPHANED);
  requires usage:     PlanUsageSound;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count, sl_trail_depth,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_workloads[sl_plan.workload],
                       sl_places[sl_plan.workload], sl_usage_counts[sl_plan.workload],
                       sl_usage_cells[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                       sl_usage_amounts[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                       sl_usage_workload_limit, sl_usage_cell_limit;
  ensures  records:    RecordsValid;
  ensures  places:     PlacesAgree;
  ensures  usage:     WorkloadUsageValid && UsageHeld;
  ensures  usage:      UsageInv && ChargedCellsUsed && TrailSound && sl_trail_depth == 0;
  ensures  conserved:  Conserved;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload);
  ensures  charged:    \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + PlanSum(c, sl_plan.usage_count);
  ensures  limits:     \result == SL_OK && ask ==> LimitsKept{Pre,Post};
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  stored:     \result == SL_OK ==> PlanStored(sl_plan.workload);
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_plan.workload) &&
                         sl_places[sl_plan.workload] == SL_PLACE_HOLDING;
*/
static enum sl_status apply(bool ask)
{
    enum sl_status status = charge_and_reserve(ask);
    if (status == SL_OK) {
        sl_usage_store();
        sl_place_hold(sl_plan.workload);
    }
    return status;
}

enum sl_status sl_commit_apply(void)
{
    bool alone = sl_variants_holder(sl_plan.workload) == SL_NO_ID;
    enum sl_status status = alone ? sl_commit_check() : SL_REFUSED_VARIANT;
    return status == SL_OK ? apply(true) : status;
}

enum sl_status sl_commit_restore(void)
{
    enum sl_status status = check(SL_PLACE_ORPHANED, false);
    return status == SL_OK ? apply(false) : status;
}

/*@
  requires known:      ev.workload < SL_WORKLOADS_MAX;
  requires inv:        CoreInv && sl_trail_depth == 0;
  requires event:      ev.kind != SL_EV_RESERVE;
  terminates           \true; exits \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_workloads[ev.workload],
                       sl_places[ev.workload], sl_usage_counts[ev.workload];
  ensures  inv:        CoreInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(ev.workload);
  ensures  says:       \result != SL_OK ==> EventRefusalTrue{Pre}(ev, \result);
  ensures  allowed:    \result == SL_OK ==> MoveAllowed(ev.kind,
                           \old(sl_workloads[ev.workload].phase), sl_workloads[ev.workload].phase);
  ensures  applied:    MustApply{Pre}(ev) ==> \result == SL_OK;
  ensures  made:       \result == SL_OK ==> MoveMade(ev.kind,
                         \old(sl_workloads[ev.workload].phase), sl_workloads[ev.workload].phase);
  ensures  quota:      \result == SL_OK ==> QuotaMoved{Pre,Post}(ev.kind, ev.workload);
  ensures  since:      \result == SL_OK ==> AdmittedSince{Pre,Post}(ev.workload, ev.now_ms);
  ensures  missed:     \result == SL_OK && ev.kind == SL_EV_SECOND_PASS_MISS ==> \old(MissTold(ev)) &&
                         MissMoves(ev.index, \old(sl_workloads[ev.workload].phase),
                                   sl_workloads[ev.workload].phase);
  ensures  kept:       \result == SL_OK && HoldsQuota(ev.workload) ==>
                         UsageSame{Pre,Post} && WorkloadUsageSame{Pre,Post}(ev.workload);
  ensures  released:   \result == SL_OK && !HoldsQuota(ev.workload) ==> sl_usage_counts[ev.workload] == 0;
  ensures  given_back: \result == SL_OK && !HoldsQuota(ev.workload) ==>
                         \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] ==
                           \old(sl_cell_own[c] - RowSum(ev.workload, c, sl_usage_counts[ev.workload]));
*/
static enum sl_status carry_out(struct sl_event ev)
{
    enum sl_status status = sl_lifecycle_apply(ev);
    if (status != SL_OK) {
        return status;
    }
    if (!sl_lifecycle_holds_quota(ev.workload)) {
        status = sl_usage_release(ev.workload);
    }
    sl_place_settle(ev.workload);
    return status;
}

enum sl_status sl_commit_event(struct sl_event ev)
{
    if (ev.workload >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (ev.kind == SL_EV_RESERVE) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    return carry_out(ev);
}

uint32_t sl_commit_usage_count(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? sl_usage_counts[id] : 0;
}

struct sl_cell_amount sl_commit_usage(sl_workload_id id, uint32_t index)
{
    struct sl_cell_amount usage = {SL_NO_ID, 0};
    if (id < SL_WORKLOADS_MAX && index < sl_usage_counts[id]) {
        usage.cell = sl_usage_cells[id][index];
        usage.amount = sl_usage_amounts[id][index];
    }
    return usage;
}
