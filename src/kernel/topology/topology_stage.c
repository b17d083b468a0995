/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whatever may refuse a plan comes in sl_stage_begin; booking it cannot fail. */
#include "kernel/topology/topology_stage.h"
#include "kernel/topology/topology_move.h"

uint32_t sl_stage_block;

/*@
  requires inv:        TopologyInv;
  terminates           \true;
  exits                \false;
  assigns              SL_NEEDS, sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        TopologyInv;
  ensures  judged:     \result == SL_OK ==> PlanJudged(ask);
  ensures  fair:       sl_topology_plan.workload < SL_WORKLOADS_MAX && PlanForm(ask) && NeedsBounded &&
                         CapacityJudged(sl_topology_plan.workload, ask) ==>
                         \result == SL_OK || \result == SL_FULL_BOOKINGS;
*/
static enum sl_status judge(bool ask)
{
    if (sl_topology_plan.workload >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    enum sl_status status = sl_topology_form(ask);
    if (status == SL_OK) {
        status = sl_topology_list_needs();
    }
    return status == SL_OK ? sl_topology_judge_needs(sl_topology_plan.workload, ask) : status;
}

enum sl_status sl_stage_begin(bool ask)
{
    sl_stage_block = SL_NO_ID;
    enum sl_status status = judge(ask);
    if (status != SL_OK) {
        return status;
    }
    sl_stage_block = sl_bookings_reserve();
    return sl_stage_block == SL_NO_ID ? SL_FULL_BOOKINGS : SL_OK;
}

void sl_stage_drop(void)
{
    sl_bookings_unreserve(sl_stage_block);
    sl_stage_block = SL_NO_ID;
}

void sl_stage_book(void)
{
    sl_bookings_replace(sl_topology_plan.workload, sl_stage_block);
    sl_stage_block = SL_NO_ID;
}

enum sl_status sl_topology_check(void)
{
    if (sl_topology_plan.set_count == 0) {
        return sl_topology_plan.row_count == 0 ? SL_OK : SL_REFUSED_BAD_ARGUMENT;
    }
    enum sl_status status = judge(true);
    if (status != SL_OK) {
        return status;
    }
    uint32_t block = sl_bookings_reserve();
    if (block == SL_NO_ID) {
        return SL_FULL_BOOKINGS;
    }
    sl_bookings_unreserve(block);
    return SL_OK;
}
