/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is waited for is read from the records, not from what the engine believes to have armed. */
#include "engine/turn/valid_timers.h"
#include "base/check.h"
#include "base/mem.h"
#include <stdio.h>

static char said[512]; /* until the next question */

static bool waits_for_backoff(const struct sl_workload *w)
{
    bool evicted = w->requeued == SL_REQUEUED_FALSE && (w->evicted == SL_EVICT_PODS_READY_TIMEOUT ||
                                                        w->evicted == SL_EVICT_ADMISSION_CHECK);
    return w->phase == SL_PHASE_PENDING && w->active && (evicted || w->requeue_at_ms != SL_NEVER);
}

static bool waits_for_limit(const struct sl_workload *w)
{
    return w->phase == SL_PHASE_ADMITTED && w->execution_ms_max > 0 &&
           w->deactivation == SL_CAUSE_NONE;
}

static int64_t limit_ms(const struct sl_workload *w)
{
    int64_t left_ms = w->execution_ms_max - w->accumulated_ms;
    return w->admitted_at_ms + (left_ms > 0 ? left_ms : 0);
}

static bool waits_for_pods(const struct sl_engine *g, const struct sl_workload *w)
{
    bool starts = w->pods_ready == SL_PODS_UNKNOWN || w->pods_ready == SL_PODS_WAIT_FOR_START;
    bool recovers = w->pods_ready == SL_PODS_WAIT_FOR_RECOVERY && g->settings.recovery_ms_max > 0;
    return g->settings.wait_for_pods_ready && w->phase == SL_PHASE_ADMITTED &&
           w->deactivation == SL_CAUSE_NONE && (starts || recovers);
}

/* Will the timer do what it was armed for when it fires? */
static bool is_of_use(const struct sl_engine *g, const struct sl_timer *t)
{
    const struct sl_workload_entry *e = &g->workloads[t->id];
    const struct sl_workload *w = &sl_workloads[t->id];
    switch (t->kind) {
    case SL_TIMER_BACKOFF:
        return t->due_ms == e->backoff_ms && (t->due_ms <= w->requeue_at_ms || t->due_ms == 0);
    case SL_TIMER_EXECUTION:
        return t->due_ms == e->limited_ms && t->due_ms <= limit_ms(w);
    case SL_TIMER_READY:
        return t->due_ms == e->ready_ms;
    case SL_TIMER_STOP:
        return t->due_ms == e->stop_ms;
    case SL_TIMER_RETAIN:
        return t->due_ms == e->retain_ms;
    case SL_TIMER_RESTRAINT:
        return t->due_ms == e->restrained_ms;
    case SL_TIMER_REWRITE:
    case SL_TIMER_SAMPLE:
        break;
    }
    return true;
}

/* The kinds of timers that a workload needs, as bits: those whose time has come may have fired, where that is the end
 * of it. */
static unsigned needed(const struct sl_engine *g, sl_workload_id id)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_workload *w = &sl_workloads[id];
    bool tells_late = w->phase == SL_PHASE_EVICTED && e->stop_ms > g->now_ms;
    return (waits_for_backoff(w) ? 1u << SL_TIMER_BACKOFF : 0) |
           (waits_for_limit(w) ? 1u << SL_TIMER_EXECUTION : 0) |
           (waits_for_pods(g, w) ? 1u << SL_TIMER_READY : 0) |
           (tells_late ? 1u << SL_TIMER_STOP : 0) |
           (e->retain_ms > g->now_ms ? 1u << SL_TIMER_RETAIN : 0) |
           (e->restrained_ms > g->now_ms ? 1u << SL_TIMER_RESTRAINT : 0) |
           (e->rewrite || e->paused ? 1u << SL_TIMER_REWRITE : 0);
}

static const char *say(const struct sl_engine *g, sl_workload_id id, unsigned missing)
{
    static const char *const times[] = {
        [SL_TIMER_BACKOFF] = "the end of its backoff", [SL_TIMER_EXECUTION] = "its execution time",
        [SL_TIMER_REWRITE] = "a write to be repeated", [SL_TIMER_READY] = "its pods",
        [SL_TIMER_STOP] = "its job to stop",           [SL_TIMER_RETAIN] = "its deletion",
        [SL_TIMER_RESTRAINT] = "the right to preempt", [SL_TIMER_SAMPLE] = "nothing"};
    unsigned kind = 0;
    while ((missing >> kind & 1u) == 0) {
        kind++;
    }
    (void)snprintf(said, sizeof said,
                   "G13: it waits for %s, and no timer is armed for that: workload %u, %.300s",
                   times[kind], id, sl_intern_name(g->names, SL_INTERN_WORKLOAD, id));
    return said;
}

const char *sl_valid_timers(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    const char *found = NULL;
    uint8_t *armed = sl_mem_new(g->workload_cap + 1u, sizeof *armed);
    for (uint32_t i = 0; i < g->timers.count; i++) {
        const struct sl_timer *t = &g->timers.items[i];
        bool known = t->kind != SL_TIMER_SAMPLE && t->id < g->workload_cap &&
                     g->workloads[t->id].uid != NULL &&
                     g->workloads[t->id].generation == t->generation;
        if (known && is_of_use(g, t)) {
            armed[t->id] |= (uint8_t)(1u << t->kind);
        }
    }
    for (sl_workload_id id = 0; id < g->workload_cap && found == NULL; id++) {
        unsigned missing = g->workloads[id].uid == NULL ? 0 : needed(g, id) & ~(unsigned)armed[id];
        found = missing == 0 ? NULL : say(g, id, missing);
    }
    sl_mem_free(armed);
    return found;
}
