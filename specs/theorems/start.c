/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The state that the program starts with is sound; nothing here is part of the program. That all of the kernel's state
 * is zero at the start is seen in the objects by tests/lint/core_state.sh. */
#include "kernel/commit/placement.h"
#include "kernel/ledger/ledger_forest.h"
#include "kernel/preempt/preempt.h"
#include "specs/kernel.acsl"

/*@
  requires zero:       KernelZero;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  records:    RecordsValid && PlacesAgree;
  ensures  held:       WorkloadUsageValid && UsageHeld && Conserved;
  ensures  usage:      UsageInv && ChargedCellsUsed && TrailSound;
  ensures  forest:     ForestInv;
  ensures  lists:      ListsInv;
  ensures  numbers:    NumbersInv;
  ensures  heights:    HeightsInv;
  ensures  core:       CoreInv && LedgerInv && HeightsInv && sl_trail_depth == 0;
*/
void theorem_quota_starts_sound(void)
{
    /*@ ghost
      /@ loop invariant index: 0 <= w <= SL_WORKLOADS_MAX;
         loop invariant none:  \forall integer c; Claimed(c, w) == 0;
         loop assigns          w;
         loop variant          SL_WORKLOADS_MAX - w; @/
      for (uint32_t w = 0; w < SL_WORKLOADS_MAX; w++) ;
      /@ loop invariant index: 0 <= k <= SL_CELLS_MAX;
         loop invariant cells: \forall integer c; 0 <= c ==> stored_sum(c, k) == 0 && lent_sum(c, k) == 0;
         loop invariant own:   \forall integer b; own_sum(b, k) == 0;
         loop invariant lists: \forall integer n; 0 <= n ==> cell_count(n, k) == 0;
         loop invariant used:  used_count(k) == 0;
         loop assigns          k;
         loop variant          SL_CELLS_MAX - k; @/
      for (uint32_t k = 0; k < SL_CELLS_MAX; k++) ;
      /@ loop invariant index: 0 <= n <= SL_QNODES_MAX;
         loop invariant none:  \forall integer p; 0 <= p ==> child_count(p, n) == 0;
         loop assigns          n;
         loop variant          SL_QNODES_MAX - n; @/
      for (uint32_t n = 0; n < SL_QNODES_MAX; n++) ;
    */
}

/*@
  requires zero:       KernelZero;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  domains:    DomainsInv;
  ensures  bookings:   BookingsInv;
  ensures  rest:       CapacityBounded && ChangeZero && BlockLinks && BookedHeld;
  ensures  topology:   TopologyInv && BookedHeld;
*/
void theorem_topology_starts_sound(void)
{
    /*@ ghost
      /@ loop invariant index: 0 <= d <= SL_DOMAINS_MAX;
         loop invariant none:  \forall integer p; 0 <= p ==> ChildSum(p, d) == 0;
         loop assigns          d;
         loop variant          SL_DOMAINS_MAX - d; @/
      for (uint32_t d = 0; d < SL_DOMAINS_MAX; d++) ;
      /@ loop invariant index: 0 <= b <= SL_BOOKINGS_MAX;
         loop invariant none:  \forall integer r; CapacitySum(r, b) == 0;
         loop invariant rows:  \forall integer r; AssignedSum(r, b) == 0;
         loop assigns          b;
         loop variant          SL_BOOKINGS_MAX - b; @/
      for (uint32_t b = 0; b < SL_BOOKINGS_MAX; b++) ;
    */
}

/*@
  requires zero:       KernelZero;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  inv:        KernelInv;
*/
void theorem_kernel_starts_sound(void)
{
    theorem_quota_starts_sound();
    theorem_topology_starts_sound();
}
