/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the checker of topology only: its half for capacities. */
#ifndef SL_KERNEL_TOPOLOGY_VALID_H
#define SL_KERNEL_TOPOLOGY_VALID_H
#include "kernel/topology/topology.h"

/* Is what is used of each capacity what is booked there, and is the scratch array zero between calls, as it must be? */
/*@
  requires limits:     sl_domain_site_limit <= SL_SITES_MAX && sl_booking_workload_limit <= SL_WORKLOADS_MAX;
  requires blocks:     BlocksValid(sl_booking_workload_limit);
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  checked:    \result <==> \old(CapacityUnchanged) && CapacityUsed;
  ensures  kept:       \old(ChangeZero) ==> ChangeZero;
*/
bool sl_topology_capacity_valid(void);
#endif
