/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workload slices (Kueue's workloadslicing): an elastic job that grows while it runs has a new
 * workload, the new slice, which takes the place of the old one. As long as the old one holds quota
 * and is not being evicted, the new one needs only what it asks for beyond that, and its pod sets
 * keep the flavors that they have. Owns which workload is a slice, whose place it takes, and those
 * flavors. */
#ifndef SL_POLICY_SLICES_H
#define SL_POLICY_SLICES_H
#include "kernel/base/status.h"
#include "kernel/base/types.h"
#include "kernel/commit/commit.h"
#include "specs/hidden.acsl"

#define SL_SLICE_ROWS 1048576u /* flavors that are kept, of all slices together */
#define SL_SLICE_ROWS_MAX 288u /* of one: as many as pod sets have resource groups */

/* The workload takes the place of `old` of this incarnation, from which no flavors are kept yet;
 * SL_NO_ID: of one that is not there. It is a slice from now on, until it is forgotten. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_slices_set(sl_workload_id id, sl_workload_id old, uint32_t generation);
/* Its pod set of that index has this flavor. Refused: UNKNOWN_WORKLOAD, BAD_ARGUMENT (it takes
 * no place, or keeps too many), FULL_WORKLOADS. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_slices_keep(sl_workload_id id, uint32_t pod_set,
                              sl_flavor_id flavor) SL_MUST_CHECK;
/* Also when its slot becomes free. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_slices_forget(sl_workload_id id);

/* --- questions --- */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_slices_is(sl_workload_id id);
/* Whose place it would take now in this queue; SL_NO_ID = of none: it is tried like any other. */
/*@ requires usage: UsageCountsValid; terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID; */
sl_workload_id sl_slices_old(sl_workload_id id, sl_qnode_id queue);
/* May the pod set be given this flavor, if it takes the place of the old one? */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_slices_may_have(sl_workload_id id, uint32_t pod_set, sl_flavor_id flavor);
/* What the old one (SL_NO_ID: none) holds of a cell. */
/*@ requires usage: UsageCountsValid; terminates \true; exits \false; assigns \nothing;
    ensures range: 0 <= \result <= SL_AMOUNT_MAX; */
int64_t sl_slices_held(sl_workload_id old, sl_cell_id cell);
#endif
