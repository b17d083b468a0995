/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Slices as the engine has them. Apart from sim.h, as wake.c is. */
#include "elastic_records.h"
#include "engine/decisions/slices.h"
#include "engine/state.h"

static bool holds(const struct sl_engine *g, sl_workload_id id)
{
    return id < g->workload_cap && g->workloads[id].uid != NULL && sl_workloads[id].has_admission &&
           sl_workloads[id].phase != SL_PHASE_FINISHED &&
           sl_workloads[id].phase != SL_PHASE_EVICTED;
}

const char *sim_slice_beside_its_old(const struct sl_engine *g)
{
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        const char *of = g->workloads[id].slice.of;
        if (of != NULL && holds(g, id) &&
            holds(g, sl_intern_find(g->names, SL_INTERN_WORKLOAD, of))) {
            return of;
        }
    }
    return NULL;
}
