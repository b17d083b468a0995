/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Restraint: who preempts in vain is counted, and when it may preempt again is a timer. */
#include "engine/decisions/restrain.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "policy/cycle/cycle.h"
#include "policy/preemption/restraint.h"

void sl_restrain_note_preemptor(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    if (sl_cycle_outcome.variant == SL_VARIANT_MIGRATES) {
        return; /* that is no preemption */
    }
    e->vain_preemptions = sl_restraint_count(e->vain_preemptions);
    if (sl_restraint_ms(e->vain_preemptions) > 0) {
        g->restless = sl_mem_grow(g->restless, g->restless_count + 1, sizeof *g->restless);
        g->restless[g->restless_count++] = id;
    }
}

static void restrain(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    int64_t ms = sl_restraint_ms(e->vain_preemptions);
    e->restrained_ms = now_ms + ms;
    sl_tell(g, now_ms, restrain, .workload = id, .is = true);
    sl_timers_arm(&g->timers, e->restrained_ms, SL_TIMER_RESTRAINT, id, e->generation);
    g->counters.restrained++;
    sl_log(
        SL_LOG_INFO,
        "kept from preempting for a while: it preempted again and again, and soon lost the quota",
        "workload", sl_intern_name(g->names, SL_INTERN_WORKLOAD, id), "times",
        sl_log_number((long long)e->vain_preemptions), "restrainedMs", sl_log_number((long long)ms),
        NULL);
}

void sl_restrain_settle(struct sl_engine *g, int64_t now_ms)
{
    SL_PRE(g != NULL);
    for (uint32_t i = 0; i < g->restless_count; i++) {
        restrain(g, g->restless[i], now_ms);
    }
    g->restless_count = 0;
}

void sl_restrain_end(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL);
    g->workloads[id].restrained_ms = SL_NEVER;
    sl_tell(g, now_ms, restrain, .workload = id, .is = false);
}

static bool holds(enum sl_phase phase)
{
    return phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED;
}

void sl_restrain_note_service(struct sl_engine *g, sl_workload_id id, enum sl_phase before,
                              int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_workload *w = &sl_workloads[id];
    if (!holds(before) || w->phase != SL_PHASE_EVICTED) {
        return;
    }
    e->vain_preemptions = sl_restraint_after_service(
        e->vain_preemptions, w->evicted == SL_EVICT_PREEMPTED, now_ms - w->reserved_at_ms);
}
