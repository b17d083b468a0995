/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whether places that were found before still do, without another search. */
#ifndef SL_POLICY_PLACEMENT_HOLDS_H
#define SL_POLICY_PLACEMENT_HOLDS_H
#include "kernel/topology/topology.h"
#include "policy/topology/assumed.h"
#include "specs/hidden.acsl"

/*@
  // Capacities can be assumed to be free, or taken.
  predicate HoldsReady{L} = AssumedInRange && TopologyInv;
*/

/* Does sl_topology_plan fit into the capacities that assumed.h shows, but for the pods that `old` (SL_NO_ID: none) has
 * there, whose place its workload takes? Linear in its rows, and those of `old`. */
/*@ requires ready: HoldsReady && PlanBounded; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures ready: HoldsReady; */
bool sl_placement_holds(sl_workload_id old);
#endif
