/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What would be of capacities: amounts added to or taken from what is used, without touching it. Trials
 * nest like those of the undo trail: a mark, and back to the mark. Owns the differences. */
#ifndef SL_POLICY_ASSUMED_H
#define SL_POLICY_ASSUMED_H
#include "kernel/topology/topology.h"
#include "specs/hidden.acsl"

#define SL_ASSUMED_MAX 4194304u /* differences noted at once */

/* For long scans: index as in kernel/topology/topology.h. */
extern int64_t sl_assumed[SL_CAPACITIES_MAX];

/* clang-format off */
#define SL_ASSUMED sl_assumed[0 .. SL_CAPACITIES_MAX - 1]
/* clang-format on */
/*@
  predicate AssumedInRange{L} = \forall integer r; 0 <= r < SL_CAPACITIES_MAX ==>
    -SL_AMOUNT_UNLIMITED <= sl_assumed[r] <= SL_AMOUNT_UNLIMITED;
*/

/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_assumed_mark(void);
/*@ requires range: AssumedInRange; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures range: AssumedInRange; */
void sl_assumed_back(uint32_t mark);
/* Positive: as if used; negative: as if free. False = there is no room to note it. */
/*@ requires range: AssumedInRange; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures range: AssumedInRange; */
bool sl_assumed_add(sl_site_id site, sl_measure_id measure, int64_t amount);
/* As if all that a workload has booked were free. */
/*@ requires range: AssumedInRange && BookingsInv; terminates \true; exits \false;
    assigns sl_hidden, SL_ASSUMED; ensures range: AssumedInRange; */
bool sl_assumed_free(sl_workload_id id);
/* What is free in that world: capacity - used - promised - assumed, which may be negative. */
/*@ requires range: AssumedInRange && CapacityBounded && UsedInRange; terminates \true; exits \false;
    assigns \nothing; */
int64_t sl_assumed_capacity(sl_site_id site, sl_measure_id measure);
#endif
