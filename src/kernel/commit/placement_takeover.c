/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* As placement.c: capacities are judged first and booked last, in place of those of the old workload. */
#include "kernel/commit/placement_takeover.h"

#include "kernel/topology/topology_move.h"

/*@
  predicate BookedHeldBut{L}(integer id) =
    \forall integer w; 0 <= w < SL_WORKLOADS_MAX && w != id && sl_booking_counts[w] > 0 ==> HoldsCapacity(w);
*/

/* The quota, and nothing of the topology. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_REPLACES(old);
  ensures  inv:        CoreInv && TopologyInv && BookedHeldBut(old);
  ensures  held:       \result != SL_OK ==> BookedHeld;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload) &&
                         WorkloadSame{Pre,Post}(old) && TopologySame{Pre,Post};
  ensures  checked:    \result == SL_OK ==> \old(PlanFormed && OldNamed(old, generation) && GrowthAvailable(old));
  ensures  known:      \result == SL_OK ==> old < SL_WORKLOADS_MAX && sl_plan.workload < SL_WORKLOADS_MAX &&
                         sl_plan.workload != old;
  ensures  new:        \result == SL_OK ==> sl_booking_counts[sl_plan.workload] == 0;
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  quota:      \result == SL_OK ==> PlanStored(sl_plan.workload) && HoldsQuota(sl_plan.workload);
  ensures  variant:    \result == SL_OK ==> \old(Alone(sl_plan.workload));
  ensures  limits:     \result == SL_OK ==> GrowthWithin{Pre,Post};
  ensures  charged:    \result == SL_OK ==> Exchanged{Pre,Post}(old);
  ensures  finished:   \result == SL_OK ==> sl_workloads[old].phase == SL_PHASE_FINISHED &&
                         sl_usage_counts[old] == 0;
  ensures  says:       \result != SL_REFUSED_CAPACITY;
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
static enum sl_status replace_quota(sl_workload_id old, uint32_t generation)
{
    return sl_commit_replace(old, generation);
}

/* Book what was staged, in place of what the old one has booked, when the quota was given; else drop it. */
/*@
  requires inv:        PlacementInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_REPLACES(old), SL_STAGE, SL_BOOKING, sl_booking_counts[old],
                       sl_assigned_counts[old];
  ensures  inv:        PlacementInv;
  ensures  refused:    \result != SL_OK ==> UsageSame{Pre,Post} && WorkloadSame{Pre,Post}(sl_plan.workload) &&
                         WorkloadSame{Pre,Post}(old) && TopologySame{Pre,Post};
  ensures  checked:    \result == SL_OK ==> \old(PlanFormed && OldNamed(old, generation) && GrowthAvailable(old));
  ensures  ready:      \result == SL_OK ==> \old(ReadyAt(sl_plan.workload, sl_plan.now_ms));
  ensures  quota:      \result == SL_OK ==> PlanStored(sl_plan.workload) && HoldsQuota(sl_plan.workload);
  ensures  variant:    \result == SL_OK ==> \old(Alone(sl_plan.workload));
  ensures  limits:     \result == SL_OK ==> GrowthWithin{Pre,Post};
  ensures  charged:    \result == SL_OK ==> Exchanged{Pre,Post}(old);
  ensures  finished:   \result == SL_OK ==> sl_workloads[old].phase == SL_PHASE_FINISHED &&
                         sl_usage_counts[old] == 0 && sl_booking_counts[old] == 0;
  ensures  placed:     \result == SL_OK ==>
                         sl_topology_plan.workload == sl_plan.workload && PlanBooked(sl_plan.workload);
  ensures  moved:      \result == SL_OK ==> CapacityExchanged{Pre,Post}(old, sl_need_count);
  ensures  shrinks:    \result == SL_REFUSED_CAPACITY ==> NeedsGrow(old);
  ensures  capacity:   NoSiteOverfull{Pre,Post};
  ensures  closed:     sl_trail_depth == \old(sl_trail_depth);
*/
static enum sl_status replace_both(sl_workload_id old, uint32_t generation)
{
    if (sl_topology_plan.workload != sl_plan.workload) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    enum sl_status status = sl_stage_exchange(old);
    if (status != SL_OK) {
        return status;
    }
    status = replace_quota(old, generation);
    if (status == SL_OK) {
        sl_stage_book_exchange(old);
    } else {
        sl_stage_drop();
    }
    return status;
}

/* Without places of the new one, give back those of the old. */
/*@
  requires known:      old < SL_WORKLOADS_MAX;
  requires inv:        CoreInv && TopologyInv && BookedHeldBut(old);
  terminates           \true;
  exits                \false;
  assigns              SL_POOL, sl_booking_owners[0 .. SL_BOOKINGS_MAX - 1], sl_booking_capacities[0 .. SL_BOOKINGS_MAX - 1],
                       sl_booking_amounts[0 .. SL_BOOKINGS_MAX - 1], sl_site_used[0 .. SL_CAPACITIES_MAX - 1],
                       sl_assigned_pods[0 .. SL_BOOKINGS_MAX - 1], sl_domain_assigned[0 .. SL_DOMAINS_MAX - 1],
                       sl_booking_counts[old], sl_assigned_counts[old];
  ensures  inv:        PlacementInv;
  ensures  none:       sl_booking_counts[old] == 0;
  ensures  less:       \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==> sl_site_used[r] <= \old(sl_site_used[r]);
  ensures  given_back: CapacityExchanged{Pre,Post}(old, 0);
*/
static void leave(sl_workload_id old)
{
    /*@ ghost
      /@ loop invariant index: 0 <= k <= sl_booking_counts[old];
         loop invariant some: \forall integer r; 0 <= OwnSum(old, r, k);
         loop assigns k;
         loop variant sl_booking_counts[old] - k;
      @/
      for (uint32_t k = 0; k < sl_booking_counts[old]; k++) ;
    */
    sl_bookings_release(old);
}

enum sl_status sl_placement_take_over(sl_workload_id old, uint32_t generation)
{
    if (sl_topology_plan.set_count != 0) {
        return replace_both(old, generation);
    }
    enum sl_status status = replace_quota(old, generation);
    if (status == SL_OK) {
        leave(old);
    }
    return status;
}
