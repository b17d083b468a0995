/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Restraint: a flag per workload, which counts in the incarnation of the slot that it was set in. */
#include "policy/preemption/restraint.h"

#include "kernel/lifecycle/lifecycle.h"

static bool is_restrained[SL_WORKLOADS_MAX];
static uint32_t restrained_generation[SL_WORKLOADS_MAX];

/*@ terminates \true; exits \false; assigns is_restrained[id], restrained_generation[id]; */
void sl_restraint_set(sl_workload_id id, bool restrained)
{
    if (id < SL_WORKLOADS_MAX) {
        is_restrained[id] = restrained;
        restrained_generation[id] = sl_workloads[id].generation;
    }
}

bool sl_restraint_holds(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX && is_restrained[id] &&
           restrained_generation[id] == sl_workloads[id].generation;
}
