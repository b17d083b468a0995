/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where the pods of each entry of the running cycle were placed, beside what entries.h keeps of
 * it: sl_topology_plan and why there is no place, from the nomination until the entry's turn
 * comes. Owns these copies. */
#ifndef SL_POLICY_ENTRY_PLACES_H
#define SL_POLICY_ENTRY_PLACES_H
#include "kernel/topology/topology.h"
#include "policy/entries/entries.h"
#include "specs/hidden.acsl"

#define SL_PLACED_SETS_POOL 131072u
#define SL_PLACED_ROWS_POOL 4194304u

/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_entry_places_clear(void);
/* Keep sl_topology_plan and sl_assignment.topology_failure for this entry; what was kept of it
 * before is forgotten. False = there is no room, and nothing is kept. */
/*@ requires plan: PlanBounded; terminates \true; exits \false; assigns sl_hidden; */
bool sl_entry_places_keep(uint32_t entry);
/* Make sl_topology_plan and sl_assignment.topology_failure what was kept. */
/*@ requires plan: PlanBounded; terminates \true; exits \false;
    assigns sl_topology_plan, sl_assignment.topology_failure; ensures plan: PlanBounded; */
void sl_entry_places_recall(uint32_t entry);
#endif
