/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The places that a workload has, pod set by pod set, beside sl_topology_plan for one that takes its place: where pods
 * are already, there is nothing to be asked for. Owns a list of them, which is empty between uses. */
#ifndef SL_POLICY_HELD_PLACES_H
#define SL_POLICY_HELD_PLACES_H
#include "kernel/topology/topology.h"
#include "specs/hidden.acsl"

/* List where the pods of that pod set are; none with SL_NO_ID. What was listed is forgotten. */
/*@ requires blocks: BlocksSound; terminates \true; exits \false; assigns sl_hidden; */
void sl_held_places_list(sl_workload_id id, uint32_t pod_set);
/* How many of them are on the domain. */
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_held_places_on(sl_domain_id domain);

/* Leave out of sl_topology_plan what `old` has already: of each row so many pods as that one has there, and sets of which
 * nothing is left. What is left of a set need not be whole slices. */
/*@ requires ready: BlocksSound && PlanBounded; terminates \true; exits \false;
    assigns sl_hidden, sl_topology_plan; ensures plan: PlanBounded; */
void sl_held_places_leave_out(sl_workload_id old);
#endif
