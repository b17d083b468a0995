/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/events/revive.h"
#include "base/check.h"
#include "base/log.h"
#include "engine/calls/call.h"
#include "engine/decisions/slices.h"
#include "engine/quota/tallies.h"
#include "engine/records/event_in.h"

void sl_slice_revive(struct sl_engine *g, sl_workload_id old, int64_t now_ms)
{
    SL_PRE(g != NULL && old < g->workload_cap && g->workloads[old].uid != NULL);
    sl_log(SL_LOG_INFO, "its place was not taken: read again", "workload",
           sl_intern_name(g->names, SL_INTERN_WORKLOAD, old), NULL);
    sl_event_drop_workload(g, old, now_ms);
    g->wants_workloads = true;
}

void sl_slice_undo(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL);
    sl_workload_id old = sl_slice_unwritten(g, id);
    sl_slice_written(g, id);
    if (old != SL_NO_ID && !sl_workloads[id].has_admission) {
        sl_slice_revive(g, old, now_ms);
    }
}

void sl_event_drop_workload(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    sl_tally_leave(g, id); /* with its record its requests end */
    sl_send(g, id, now_ms, .kind = SL_EV_DELETE);
    SL_ASSERT(sl_workloads[id].phase == SL_PHASE_ABSENT);
    sl_workload_id old = sl_slice_unwritten(g, id);
    sl_slice_drop(g, id);
    sl_workload_entry_drop(g, id, now_ms);
    if (old != SL_NO_ID) {
        sl_slice_revive(g, old, now_ms);
    }
}
