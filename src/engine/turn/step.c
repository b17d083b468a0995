/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Time and turns: timers that are due, one scheduling cycle, decisions handed out. */
#include "base/check.h"
#include "base/mem.h"
#include "engine/quota/accounts.h"
#include "engine/calls/call.h"
#include "engine/conditions/conditions.h"
#include "engine/records/event_in.h"
#include "engine/decisions/follow.h"
#include "engine/journal/journal_turn.h"
#include "engine/decisions/node_health.h"
#include "engine/conditions/released.h"
#include "engine/decisions/restrain.h"
#include "engine/decisions/standing.h"
#include "engine/topology/topology_out.h"
#include "engine/turn/valid.h"
#include "policy/queues/passes.h"
#include "policy/queues/queues.h"
#include "policy/queues/turns.h"
#include "policy/verdicts/backoff.h"
#include "policy/verdicts/pacing.h"
#include <stdio.h>
#include <string.h>

/* --- timers ----------------------------------------------------------------------------------- */

void sl_step_rewrite(struct sl_engine *g, sl_workload_id id, enum sl_decision_kind kind,
                     int64_t wait_ms, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    e->rewrite = true;
    e->rewrite_kind = kind;
    sl_timers_arm(&g->timers, now_ms + wait_ms, SL_TIMER_REWRITE, id, e->generation);
}

static void resume(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    e->paused = false;
    if (e->rewrite) {
        e->rewrite = false;
        sl_decide(g, id, e->rewrite_kind, now_ms);
    }
    sl_standing_update(g, id, now_ms);
}

static void pods_are_late(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    uint32_t count = sl_workloads[id].requeue_count;
    char text[640]; /* two names of 253 */
    (void)snprintf(text, sizeof text, "Exceeded the PodsReady timeout %s",
                   sl_intern_name(g->names, SL_INTERN_WORKLOAD, id));
    sl_words_say_stopping(&g->workloads[id].words, SL_EVICT_PODS_READY_TIMEOUT,
                          sl_requeue_ruled_out(count) ? "" : text);
    sl_send(g, id, now_ms, .kind = SL_EV_PODS_READY_TIMEOUT,
            .index = sl_backoff_jitter_ppm(e->uid_high, e->uid_low, count));
}

/* A timer of an earlier incarnation, or of what is no longer so, does nothing (G9). */
static void fire(struct sl_engine *g, const struct sl_timer *t, int64_t now_ms)
{
    if (t->kind == SL_TIMER_SAMPLE) {
        sl_accounts_sample(g, now_ms);
        return;
    }
    struct sl_workload_entry *e = t->id < g->workload_cap ? &g->workloads[t->id] : NULL;
    if (e == NULL || e->uid == NULL || e->generation != t->generation) {
        return;
    }
    switch (t->kind) {
    case SL_TIMER_BACKOFF:
        if (e->backoff_ms == t->due_ms && sl_call(g, now_ms, event,
                                                  .event = {.kind = SL_EV_BACKOFF_OVER,
                                                            .workload = t->id,
                                                            .generation = t->generation,
                                                            .now_ms = now_ms}) != SL_OK) {
            e->backoff_ms = SL_NEVER; /* not now: armed again when the record next changes */
        }
        break;
    case SL_TIMER_EXECUTION:
        if (e->limited_ms == t->due_ms) {
            sl_send(g, t->id, now_ms, .kind = SL_EV_EXECUTION_TIMEOUT);
        }
        break;
    case SL_TIMER_READY:
        if (e->ready_ms == t->due_ms) {
            pods_are_late(g, t->id, now_ms);
        }
        break;
    case SL_TIMER_STOP:
        if (e->stop_ms == t->due_ms) {
            sl_decide(g, t->id, SL_DECIDE_LATE, now_ms);
        }
        break;
    case SL_TIMER_RETAIN:
        if (e->retain_ms == t->due_ms) {
            sl_decide(g, t->id, SL_DECIDE_DELETE, now_ms);
        }
        break;
    case SL_TIMER_REWRITE:
        if (e->paused || e->rewrite) {
            resume(g, t->id, now_ms);
        }
        break;
    case SL_TIMER_RESTRAINT:
        if (e->restrained_ms == t->due_ms) {
            sl_restrain_end(g, t->id, now_ms);
        }
        break;
    case SL_TIMER_SAMPLE:
        break;
    }
}

/* --- cycles ----------------------------------------------------------------------------------- */

static int64_t cycle_due_ms(const struct sl_engine *g)
{
    return g->synced
               ? sl_pacing_due_ms((struct sl_pace){.ready = sl_queues_ready(),
                                                   .untried = sl_turns_first_ready() != SL_NO_ID,
                                                   .pending = g->counters.pending,
                                                   .idle_cycles = g->idle_cycles,
                                                   .cycle_ms = g->cycle_ms,
                                                   .woken_ms = g->woken_ms,
                                                   .pass_ms = sl_passes_due_ms()})
               : INT64_MAX;
}

static void run_cycle(struct sl_engine *g, bool all_heads, int64_t now_ms)
{
    g->cycle++;
    g->counters.cycles++;
    g->news |= SL_NEWS_CYCLE;
    sl_valid_step(g, false);
    sl_follow_cycle(g, all_heads, now_ms);
    sl_valid_step(g, true);
}

static void fire_timers(struct sl_engine *g, int64_t now_ms)
{
    struct sl_timer timer;
    g->now_ms = now_ms;
    while (g->synced && sl_timers_take(&g->timers, now_ms, &timer)) {
        fire(g, &timer, now_ms);
    }
}

void sl_engine_force_cycle(struct sl_engine *g, int64_t now_ms)
{
    SL_PRE(g != NULL && g->synced);
    fire_timers(g, now_ms);
    sl_node_health_settle(g, now_ms);
    sl_world_flush(g, now_ms);
    run_cycle(g, true, now_ms);
    sl_journal_end_turn(g, now_ms);
}

bool sl_engine_cycle(struct sl_engine *g, int64_t now_ms)
{
    SL_PRE(g != NULL);
    g->news = 0;
    fire_timers(g, now_ms);
    if (g->synced) {
        sl_node_health_settle(g, now_ms);
        sl_world_flush(g, now_ms);
    }
    if (cycle_due_ms(g) <= now_ms) {
        g->woken_ms = sl_turns_first_ready() == SL_NO_ID ? now_ms : g->woken_ms;
        run_cycle(g, false, now_ms);
    }
    sl_qnode_sweep(g, now_ms);
    sl_journal_end_turn(g, now_ms);
    return cycle_due_ms(g) <= now_ms;
}

int64_t sl_engine_due_ms(const struct sl_engine *g)
{
    if (!g->synced) {
        return INT64_MAX;
    }
    if (sl_world_woken(g) || sl_node_health_waits(g)) {
        return INT64_MIN;
    }
    int64_t timers_ms = sl_timers_due_ms(&g->timers);
    int64_t cycle_ms = cycle_due_ms(g);
    return timers_ms < cycle_ms ? timers_ms : cycle_ms;
}

/* --- decisions out ---------------------------------------------------------------------------- */

static const char *name_of(const struct sl_engine *g, sl_workload_id id)
{
    const char *key = sl_intern_name(g->names, SL_INTERN_WORKLOAD, id);
    return key + strlen(g->workloads[id].queue->ns) + 1;
}

static void fill_preemptor(const struct sl_engine *g, const struct sl_queued_decision *q,
                           struct sl_decision *out)
{
    const struct sl_workload_entry *by =
        q->preemptor == SL_NO_ID ? NULL : &g->workloads[q->preemptor];
    if (by != NULL && by->uid != NULL && by->generation == q->preemptor_generation) {
        out->by_ns = by->queue->ns;
        out->by_name = name_of(g, q->preemptor);
        out->by_uid = by->uid;
        out->by_priority = by->priority;
    }
}

bool sl_engine_next_decision(struct sl_engine *g, struct sl_decision *out)
{
    SL_PRE(g != NULL);
    while (g->synced && g->decision_count > 0) {
        struct sl_queued_decision q = g->decisions[g->decision_first];
        g->decision_first = (g->decision_first + 1) % g->decision_cap;
        g->decision_count--;
        const struct sl_workload_entry *e = &g->workloads[q.workload];
        if (e->uid == NULL || e->generation != q.generation) {
            sl_mem_free(q.message);
            continue; /* it is gone: nobody is left to be told */
        }
        *out = (struct sl_decision){.sequence = q.sequence,
                                    .cycle = q.cycle,
                                    .kind = q.kind,
                                    .workload = q.workload,
                                    .generation = q.generation,
                                    .now_ms = q.now_ms,
                                    .ns = e->queue->ns,
                                    .name = name_of(g, q.workload),
                                    .uid = e->uid,
                                    .reason = q.reason,
                                    .priority = e->priority,
                                    .refusals = e->refused_kind == q.kind ? e->refusals : 0};
        (void)snprintf(out->message, sizeof out->message, "%s", q.message);
        sl_mem_free(q.message);
        fill_preemptor(g, &q, out);
        return true;
    }
    return false;
}

static bool stands_alone(const struct sl_json *workload)
{
    return sl_object_ref_is(sl_object_controller_ref(workload), SL_KIND_POD);
}

void sl_engine_job_stopped(struct sl_engine *g, const struct sl_json *workload, int64_t now_ms)
{
    sl_workload_id id = sl_workload_find(g, workload);
    if (id == SL_NO_ID || sl_workloads[id].phase != SL_PHASE_EVICTED) {
        return;
    }
    sl_send(g, id, now_ms, .kind = SL_EV_JOB_STOPPED, .index = stands_alone(workload) ? 1u : 0u);
    sl_standing_update(g, id, now_ms);
}
