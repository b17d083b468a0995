/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The only door through which workload, ledger, amounts and places change together. Owns nothing itself.
 * Carries G1, G2, G3 and G8 across modules: CoreInv holds between any two calls. */
#ifndef SL_KERNEL_COMMIT_H
#define SL_KERNEL_COMMIT_H
#include "kernel/commit/workload_usage.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/commit/place.h"
#include "kernel/base/plan.h"
#include "kernel/base/status.h"
#include "kernel/ledger/trail.h"
#include "kernel/commit/variants.h"
#include "kernel/base/types.h"

#include "specs/commit.acsl"

/* Would sl_plan be accepted, but for other variants of its workload? No effect. */
/*@
  requires place:      sl_plan.workload < SL_WORKLOADS_MAX ==> PlaceAgrees(sl_plan.workload);
  requires inv:        CellsLinked && LimitsInRange && UsageInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  names:      \result == SL_OK ==> PlanNames(SL_PLACE_IN_FLIGHT);
  ensures  closed:     \result == SL_OK ==> sl_trail_depth == 0;
  ensures  usage:     \result == SL_OK ==> PlanUsageSound && PlanAvailable;
  ensures  says:       \result != SL_OK ==> PlanRefusalTrue(SL_PLACE_IN_FLIGHT, \result);
  ensures  fair:       PlanNames(SL_PLACE_IN_FLIGHT) && PlanUsageSound && PlanAvailable &&
                         sl_trail_depth == 0 ==> \result == SL_OK;
*/
enum sl_status sl_commit_check(void) SL_MUST_CHECK;

/* The same without asking whether the amounts are available: is it a plan for a head of the running cycle? */
/*@
  requires place:      sl_plan.workload < SL_WORKLOADS_MAX ==> PlaceAgrees(sl_plan.workload);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  names:      \result == SL_OK ==> PlanNames(SL_PLACE_IN_FLIGHT);
  ensures  closed:     \result == SL_OK ==> sl_trail_depth == 0;
  ensures  usage:     \result == SL_OK ==> PlanUsageSound;
  ensures  says:       \result != SL_OK ==> PlanRefusalTrue(SL_PLACE_IN_FLIGHT, \result);
  ensures  fair:       PlanNames(SL_PLACE_IN_FLIGHT) && PlanUsageSound && sl_trail_depth == 0 ==>
                         \result == SL_OK;
*/
enum sl_status sl_commit_check_form(void) SL_MUST_CHECK;

/* Apply all of sl_plan (place IN_FLIGHT -> HOLDING, amounts charged, record reserved or admitted), or refuse
 * it whole with everything as it was. */
/*@
  requires inv:        CoreInv;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count, sl_trail_depth,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_workloads[sl_plan.workload], sl_places[sl_plan.workload],
                       sl_usage_counts[sl_plan.workload],
                       sl_usage_cells[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                       sl_usage_amounts[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                       sl_usage_workload_limit, sl_usage_cell_limit;
  ensures  inv:        CoreInv;
  ensures  refused:    \result != SL_OK ==>
                         UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload);
  ensures  checked:    \result == SL_OK ==> \old(PlanNames(SL_PLACE_IN_FLIGHT) && PlanAvailable);
  ensures  variant:    \result == SL_OK ==> \old(Alone(sl_plan.workload));
  ensures  limits:     \result == SL_OK ==> LimitsKept{Pre,Post};
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  charged:    \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + PlanSum(c, sl_plan.usage_count);
  ensures  stored:     \result == SL_OK ==> PlanStored(sl_plan.workload);
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_plan.workload) &&
                         sl_places[sl_plan.workload] == SL_PLACE_HOLDING;
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_commit_apply(void) SL_MUST_CHECK;

/* As apply, for what the API says is already reserved (restart): no availability asked; from ORPHANED. */
/*@
  requires inv:        CoreInv;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count, sl_trail_depth,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_workloads[sl_plan.workload], sl_places[sl_plan.workload],
                       sl_usage_counts[sl_plan.workload],
                       sl_usage_cells[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                       sl_usage_amounts[sl_plan.workload][0 .. SL_USAGE_CELLS_MAX - 1],
                       sl_usage_workload_limit, sl_usage_cell_limit;
  ensures  inv:        CoreInv;
  ensures  refused:    \result != SL_OK ==>
                         UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload);
  ensures  checked:    \result == SL_OK ==> \old(PlanNames(SL_PLACE_ORPHANED));
  ensures  charged:    \result == SL_OK ==> \forall integer c; 0 <= c < SL_CELLS_MAX ==>
                         sl_cell_own[c] == \old(sl_cell_own[c]) + PlanSum(c, sl_plan.usage_count);
  ensures  stored:     \result == SL_OK ==> PlanStored(sl_plan.workload);
  ensures  holds:      \result == SL_OK ==> HoldsQuota(sl_plan.workload) &&
                         sl_places[sl_plan.workload] == SL_PLACE_HOLDING;
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_commit_restore(void) SL_MUST_CHECK;

/* Apply a lifecycle event and all that follows from it: amounts released when quota no longer counts, place
 * moved. A workload that becomes pending and may be queued goes to INADMISSIBLE; policy then decides whether
 * it goes on to the heap. A newly created one starts at ORPHANED, one that may not be queued is DORMANT.
 * SL_EV_RESERVE is refused: a reservation comes with a plan. */
/*@
  requires inv:        CoreInv;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count, sl_trail_depth,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_workloads[ev.workload], sl_places[ev.workload],
                       sl_usage_counts[ev.workload];
  ensures  inv:        CoreInv;
  ensures  refused:    \result != SL_OK ==>
                         UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(ev.workload);
  ensures  says:       \result != SL_OK ==> EventRefusalTrue{Pre}(ev, \result);
  ensures  allowed:    \result == SL_OK ==> ev.workload < SL_WORKLOADS_MAX &&
                         ev.kind != SL_EV_RESERVE && MoveAllowed(ev.kind,
                           \old(sl_workloads[ev.workload].phase), sl_workloads[ev.workload].phase);
  ensures  applied:    MustApply{Pre}(ev) && ev.kind != SL_EV_RESERVE && \old(sl_trail_depth) == 0 ==>
                         \result == SL_OK;
  ensures  made:       \result == SL_OK ==> MoveMade(ev.kind,
                         \old(sl_workloads[ev.workload].phase), sl_workloads[ev.workload].phase);
  ensures  quota:      \result == SL_OK ==> QuotaMoved{Pre,Post}(ev.kind, ev.workload);
  ensures  since:      \result == SL_OK ==> AdmittedSince{Pre,Post}(ev.workload, ev.now_ms);
  ensures  missed:     \result == SL_OK && ev.kind == SL_EV_SECOND_PASS_MISS ==> \old(MissTold(ev)) &&
                         MissMoves(ev.index, \old(sl_workloads[ev.workload].phase),
                                   sl_workloads[ev.workload].phase);
  ensures  kept:       \result == SL_OK && HoldsQuota(ev.workload) ==>
                         UsageSame{Pre,Post} && WorkloadUsageSame{Pre,Post}(ev.workload);
  ensures  released:   \result == SL_OK && !HoldsQuota(ev.workload) ==>
                         sl_usage_counts[ev.workload] == 0;
  ensures  given_back: \result == SL_OK && !HoldsQuota(ev.workload) ==>
                         \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] ==
                           \old(sl_cell_own[c] - RowSum(ev.workload, c, sl_usage_counts[ev.workload]));
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
enum sl_status sl_commit_event(struct sl_event ev) SL_MUST_CHECK;

/* A holder needs less than it was given: what it holds of that cell becomes `amount` and the difference is free.
 * Never more than it is, since availability is not checked here. */
/*@
  requires inv:        CoreInv;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_usage_amounts[id][index];
  ensures  inv:        CoreInv;
  behavior done:
    assumes reducible: Reducible(id, generation, index, amount) && sl_trail_depth == 0;
    ensures result:    \result == SL_OK;
    ensures amount:    sl_usage_amounts[id][index] == amount;
    ensures given_back: \forall integer c; 0 <= c < SL_CELLS_MAX ==> sl_cell_own[c] == \old(sl_cell_own[c]) -
                         (c == sl_usage_cells[id][index] ? \old(sl_usage_amounts[id][index]) - amount : 0);
  behavior refused:
    assumes reason:    !(Reducible(id, generation, index, amount) && sl_trail_depth == 0);
    assigns            \nothing;
    ensures result:    \result != SL_OK;
  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_commit_reduce(sl_workload_id id, uint32_t generation, uint32_t index,
                                int64_t amount) SL_MUST_CHECK;

/* What a workload holds: how many amounts, and each; {SL_NO_ID, 0} beyond them. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (id < SL_WORKLOADS_MAX ? sl_usage_counts[id] : 0);
*/
uint32_t sl_commit_usage_count(sl_workload_id id);

/*@
  requires counts:     UsageCountsValid;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  usage:      id < SL_WORKLOADS_MAX && index < sl_usage_counts[id] ==>
                         \result.cell == sl_usage_cells[id][index] &&
                         \result.amount == sl_usage_amounts[id][index];
  ensures  beyond:     !(id < SL_WORKLOADS_MAX && index < sl_usage_counts[id]) ==>
                         \result.cell == SL_NO_ID && \result.amount == 0;
*/
struct sl_cell_amount sl_commit_usage(sl_workload_id id, uint32_t index);

/* Are the amounts sound, and is every cell's own usage the sum of the amounts on it? Linear time in what was
 * ever in use; to be asked outside a trial. */
/*@
  terminates           \true;
  exits                \false;
  assigns              sl_usage_sums[0 .. SL_CELLS_MAX - 1];
  ensures  result:     \result <==> UsageAddsUp;
*/
bool sl_commit_valid(void);
#endif
