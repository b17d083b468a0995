/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* All is judged before the other is evicted. */
#include "kernel/preempt/migration.h"

/*@
  requires place:      sl_plan.workload < SL_WORKLOADS_MAX ==> PlaceAgrees(sl_plan.workload);
  requires inv:        CellsLinked && LimitsInRange && UsageInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  sound:      \result == SL_OK ==> MigrationSound(other) && sl_trail_depth == 0 &&
                         sl_promises <= SL_PROMISES_MAX - SL_USAGE_CELLS_MAX;
*/
static enum sl_status check(sl_workload_id other)
{
    enum sl_status status = sl_commit_check();
    if (status != SL_OK) {
        return status;
    }
    if (!sl_variants_makes_way(sl_plan.workload, other)) {
        return SL_REFUSED_NO_MIGRATION;
    }
    if (sl_plan.now_ms < 0 || sl_plan.now_ms > SL_TIME_MAX) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    return sl_promises > SL_PROMISES_MAX - SL_USAGE_CELLS_MAX ? SL_FULL_USAGE : SL_OK;
}

/*@
  requires inv:        CoreInv && sl_trail_depth == 0;
  requires other:      other < SL_WORKLOADS_MAX && HoldsQuota(other);
  requires time:       TimeValid(sl_plan.now_ms);
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, sl_workloads[other], sl_places[other], sl_usage_counts[other];
  ensures  inv:        CoreInv && sl_trail_depth == 0;
  ensures  result:     \result == SL_OK;
  ensures  evicted:    sl_workloads[other].phase == SL_PHASE_EVICTED;
  ensures  holders:    HoldersStay{Pre,Post};
  ensures  once:       \old(sl_workloads[other].phase) == SL_PHASE_EVICTED ==> WorkloadSame{Pre,Post}(other);
*/
static enum sl_status evict(sl_workload_id other)
{
    struct sl_event ev = {0};
    if (sl_workloads[other].phase == SL_PHASE_EVICTED) {
        return SL_OK;
    }
    ev.kind = SL_EV_PREEMPT;
    ev.workload = other;
    ev.generation = sl_workloads[other].generation;
    ev.reason = SL_PREEMPT_FLAVOR_MIGRATION;
    ev.now_ms = sl_plan.now_ms;
    return sl_commit_event(ev);
}

enum sl_status sl_migration_commit(sl_workload_id other)
{
    enum sl_status status = check(other);
    if (status == SL_OK) {
        status = evict(other);
    }
    if (status == SL_OK) {
        sl_promise_plan();
    }
    return status;
}
