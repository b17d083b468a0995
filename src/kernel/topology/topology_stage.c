/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whatever may refuse a plan comes in sl_stage_begin; booking it cannot fail. */
#include "kernel/topology/topology_stage.h"
#include "kernel/topology/topology_move.h"

uint32_t sl_stage_block;

/* May the plan be booked in place of what `holder` has booked? */
/*@
  requires inv:        TopologyInv;
  terminates           \true;
  exits                \false;
  assigns              SL_NEEDS, sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        TopologyInv;
  ensures  judged:     \result == SL_OK ==> holder < SL_WORKLOADS_MAX && PlanJudgedBeside(holder, ask);
  ensures  shrinks:    \result == SL_REFUSED_CAPACITY ==> NeedsGrow(holder);
  ensures  fair:       sl_topology_plan.workload < SL_WORKLOADS_MAX && holder < SL_WORKLOADS_MAX &&
                         PlanForm(ask) && NeedsBounded && CapacityJudged(holder, ask) ==>
                         \result == SL_OK || \result == SL_FULL_BOOKINGS;
*/
static enum sl_status judge(sl_workload_id holder, bool ask)
{
    if (sl_topology_plan.workload >= SL_WORKLOADS_MAX || holder >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    enum sl_status status = sl_topology_form(ask);
    if (status == SL_OK) {
        status = sl_topology_list_needs();
    }
    return status == SL_OK ? sl_topology_judge_needs(holder, ask) : status;
}

/*@
  requires inv:        TopologyInv;
  terminates           \true;
  exits                \false;
  assigns              SL_NEEDS, sl_site_change[0 .. SL_CAPACITIES_MAX - 1], SL_POOL, sl_stage_block;
  ensures  inv:        TopologyInv;
  ensures  staged:     \result == SL_OK ==>
                         holder < SL_WORKLOADS_MAX && PlanJudgedBeside(holder, ask) && BlockStaged;
  ensures  shrinks:    \result == SL_REFUSED_CAPACITY ==> NeedsGrow(holder);
  ensures  nothing:    \result != SL_OK ==> sl_stage_block == SL_NO_ID;
*/
static enum sl_status begin(sl_workload_id holder, bool ask)
{
    sl_stage_block = SL_NO_ID;
    enum sl_status status = judge(holder, ask);
    if (status != SL_OK) {
        return status;
    }
    sl_stage_block = sl_bookings_reserve();
    return sl_stage_block == SL_NO_ID ? SL_FULL_BOOKINGS : SL_OK;
}

enum sl_status sl_stage_begin(bool ask)
{
    return begin(sl_topology_plan.workload, ask);
}

enum sl_status sl_stage_exchange(sl_workload_id old)
{
    return begin(old, true);
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

void sl_stage_book_exchange(sl_workload_id old)
{
    sl_bookings_release(old);
    /*@ assert more: \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
          sl_site_used[r] + More(sl_topology_plan.workload, r) == \at(sl_site_used[r] + More(old, r), Pre); */
    /*@ assert free: \forall integer b; sl_stage_block <= b < sl_stage_block + sl_need_count ==>
          \at(sl_booking_owners[b], Pre) == 0 && RowSame{Pre,Here}(b); */
    //@ assert block: BlockStaged;
    //@ assert form: PlanForm(0) && RowsOfSets && RowsListed(sl_topology_plan.row_count) && NeedsInRange;
    //@ assert judged: CapacityJudged(sl_topology_plan.workload, 0);
    sl_stage_book();
}

enum sl_status sl_topology_check(void)
{
    if (sl_topology_plan.set_count == 0) {
        return sl_topology_plan.row_count == 0 ? SL_OK : SL_REFUSED_BAD_ARGUMENT;
    }
    enum sl_status status = judge(sl_topology_plan.workload, true);
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
