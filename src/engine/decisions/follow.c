/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What follows from what the core says that it did: to one workload, and in a cycle. */
#include "engine/decisions/follow.h"
#include "engine/quota/run_times.h"
#include "engine/quota/waiting.h"
#include "engine/quota/tallies.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/conditions/message.h"
#include "engine/decisions/preemption_gates.h"
#include "engine/decisions/restrain.h"
#include "engine/decisions/slices.h"
#include "engine/records/rules.h"
#include "engine/decisions/node_health.h"
#include "engine/journal/outcome.h"
#include "engine/decisions/standing.h"
#include "engine/records/tenants.h"
#include "engine/topology/topology_out.h"
#include "policy/cycle/cycle.h"
#include <string.h>

#define STOP_MS_MAX 600000 /* for the job of an evicted workload to stop, before it is reported */

/* --- timers and the rest ---------------------------------------------------------------------- */

/* Once admitted its pods must become ready in time, and again after one has failed. What was admitted before this
 * daemon was there has that time from when it is first seen: nobody may have looked at its pods until now. */
static int64_t ready_by_ms(const struct sl_engine *g, sl_workload_id id)
{
    const struct sl_engine_settings *s = &g->settings;
    const struct sl_workload *w = &sl_workloads[id];
    int64_t seen_ms = g->workloads[id].seen_ms;
    if (!s->wait_for_pods_ready || w->phase != SL_PHASE_ADMITTED ||
        w->deactivation != SL_CAUSE_NONE) {
        return SL_NEVER;
    }
    switch (w->pods_ready) {
    case SL_PODS_UNKNOWN:
    case SL_PODS_WAIT_FOR_START:
        return (w->admitted_at_ms > seen_ms ? w->admitted_at_ms : seen_ms) + s->ready_ms_max;
    case SL_PODS_WAIT_FOR_RECOVERY:
        return s->recovery_ms_max == 0 ? SL_NEVER : w->pods_ready_at_ms + s->recovery_ms_max;
    case SL_PODS_STARTED:
    case SL_PODS_RECOVERED:
        break;
    }
    return SL_NEVER;
}

/* An eviction is over when the job has stopped. One that does not is not waited for in silence. */
static int64_t stopped_by_ms(const struct sl_workload *w)
{
    return w->phase == SL_PHASE_EVICTED ? w->evicted_at_ms + STOP_MS_MAX : SL_NEVER;
}

static int64_t executed_by_ms(const struct sl_workload *w)
{
    int64_t left_ms = w->execution_ms_max - w->accumulated_ms;
    return w->phase == SL_PHASE_ADMITTED && w->execution_ms_max > 0 &&
                   w->deactivation == SL_CAUSE_NONE
               ? w->admitted_at_ms + (left_ms > 0 ? left_ms : 0)
               : SL_NEVER;
}

static int64_t backed_off_by_ms(const struct sl_workload *w)
{
    if (w->phase == SL_PHASE_ABSENT || w->phase == SL_PHASE_FINISHED) {
        return SL_NEVER;
    }
    bool waits =
        w->phase == SL_PHASE_PENDING && w->requeued == SL_REQUEUED_FALSE &&
        (w->evicted == SL_EVICT_PODS_READY_TIMEOUT || w->evicted == SL_EVICT_ADMISSION_CHECK);
    return waits && w->requeue_at_ms == SL_NEVER ? 0
                                                 : w->requeue_at_ms; /* no time given: at once */
}

/* A timer that fires at another time than `armed_ms` is one of before, and does nothing. */
static void arm_at(struct sl_engine *g, sl_workload_id id, int64_t *armed_ms, int64_t due_ms,
                   enum sl_timer_kind kind)
{
    if (due_ms != *armed_ms) {
        *armed_ms = due_ms;
        if (due_ms != SL_NEVER) {
            sl_timers_arm(&g->timers, due_ms, kind, id, g->workloads[id].generation);
        }
    }
}

static void arm(struct sl_engine *g, sl_workload_id id)
{
    struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_workload *w = &sl_workloads[id];
    arm_at(g, id, &e->backoff_ms, backed_off_by_ms(w), SL_TIMER_BACKOFF);
    arm_at(g, id, &e->limited_ms, executed_by_ms(w), SL_TIMER_EXECUTION);
    arm_at(g, id, &e->ready_ms, ready_by_ms(g, id), SL_TIMER_READY);
    arm_at(g, id, &e->stop_ms, stopped_by_ms(w), SL_TIMER_STOP);
}

static void drop_admission(struct sl_engine *g, sl_workload_id id)
{
    struct sl_workload_entry *e = &g->workloads[id];
    if (!sl_workloads[id].has_admission && e->admission != NULL) {
        sl_admission_free(e->admission);
        e->admission = NULL;
        sl_workload_hold(g, e, SL_NO_ID);
    }
}

/* Nodes count for a workload that runs: those that it stands on are looked at once it does. */
static void follow_assignments(struct sl_engine *g, sl_workload_id id,
                               const struct sl_transition *did)
{
    bool runs_now = did->to == SL_PHASE_ADMITTED && did->from != SL_PHASE_ADMITTED;
    bool left = sl_tenants_listed(g->tenants, id) && sl_topology_assignment_count(id) == 0;
    if (runs_now || left) {
        sl_node_health_moved(g, id);
    }
}

static void note_news(struct sl_engine *g, unsigned news, uint64_t *counter, bool is_so)
{
    *counter += is_so ? 1 : 0;
    g->news |= is_so ? news : 0;
}

void sl_follow(struct sl_engine *g, sl_workload_id id, const struct sl_transition *did,
               int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_workload *w = &sl_workloads[id];
    if (e->uid == NULL) {
        return; /* the slot was given back; its entry is gone already */
    }
    sl_tally_update(g, id);
    sl_preemption_gates_after(g, id, did, now_ms);
    follow_assignments(g, id, did);
    sl_restrain_note_service(g, id, did->from, now_ms);
    if (w->phase == SL_PHASE_ABSENT || w->phase == SL_PHASE_FINISHED) {
        bool ends = did->to == SL_PHASE_FINISHED && did->from != SL_PHASE_FINISHED;
        note_news(g, SL_NEWS_FINISHED, &g->counters.finished, ends);
        if (ends && did->from == SL_PHASE_ADMITTED && w->finished != SL_FINISH_SLICE_REPLACED &&
            !g->restoring && !g->runs_ahead) {
            sl_run_times_note(g, id, now_ms);
        }
        arm(g, id); /* nothing is waited for any more */
        drop_admission(g, id);
        return;
    }
    note_news(g, SL_NEWS_STARTED, &g->counters.started, did->news[SL_CHANGED_START]);
    arm(g, id);
    if (!g->restoring) {
        sl_decide_after(g, id, did, now_ms);
    }
    drop_admission(g, id);
}

/* --- outcomes of a cycle ---------------------------------------------------------------------- */

static struct sl_admission *admission_from_assignment(void)
{
    struct sl_admission *admission =
        sl_admission_new(sl_assignment.pod_set_count, sl_assignment.choice_count);
    for (uint32_t i = 0; i < sl_assignment.pod_set_count; i++) {
        admission->counts[i] = sl_assignment.counts[i];
        admission->delayed[i] = sl_assignment.delayed[i];
    }
    for (uint32_t c = 0; c < sl_assignment.choice_count; c++) {
        admission->choices[c] = sl_assignment.choices[c];
    }
    return admission;
}

/* It waits for the workloads that it has just preempted: each of them names the preemptor and the reason. */
static void follow_victims(struct sl_engine *g, int64_t now_ms)
{
    bool migrates = sl_cycle_outcome.variant == SL_VARIANT_MIGRATES; /* that is no preemption */
    g->preemptor = migrates ? SL_NO_ID : sl_cycle_outcome.workload;
    for (uint32_t i = 0; i < sl_cycle_evicted.count; i++) {
        char text[SL_MESSAGE_SIZE];
        sl_workload_id id = sl_cycle_evicted.workloads[i];
        struct sl_transition did = {.from = sl_cycle_evicted.from[i], .to = SL_PHASE_EVICTED};
        sl_message_from_preemption(g, id, sl_cycle_evicted.reasons[i], text);
        sl_words_say_stopping(&g->workloads[id].words, sl_workloads[id].evicted, text);
        sl_follow(g, id, &did, now_ms);
    }
    g->preemptor = SL_NO_ID;
}

/* Policy has let go of what it asks only some flavors for: reported once the cycle is over. */
static void note_granted(struct sl_engine *g, sl_workload_id id, sl_qnode_id queue)
{
    if (!sl_rules_by_flavor(g->qnodes[queue], SL_NO_ID)) {
        return;
    }
    g->granted = sl_mem_grow(g->granted, g->granted_count + 1, sizeof *g->granted);
    g->granted[g->granted_count++] = id;
}

static void follow_reserved(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    e->admission = admission_from_assignment();
    sl_workload_hold(g, e, sl_cycle_outcome.cluster_queue);
    sl_topology_out_note(g, id);
    sl_node_health_moved(g, id);
    sl_words_fini(&e->words);
    sl_follow(g, id, &sl_cycle_outcome.did, now_ms);
    note_granted(g, id, sl_cycle_outcome.cluster_queue);
    sl_slice_reserved(g, id, sl_cycle_outcome.replaced, &sl_cycle_outcome.replaced_did, now_ms);
}

/* Placed for the first time, and so admitted; or stands elsewhere since nodes have failed. */
static void follow_placed(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    sl_topology_out_note(g, id);
    sl_node_health_moved(g, id);
    sl_words_fini(&g->workloads[id].words);
    g->counters.replacements += sl_cycle_outcome.did.from == SL_PHASE_ADMITTED;
    g->counters.passes_placed += sl_cycle_outcome.did.from != SL_PHASE_ADMITTED;
    sl_follow(g, id, &sl_cycle_outcome.did, now_ms);
}

/* There was nowhere to go from its failed nodes, and it is not to wait for a place. */
static void follow_evicted(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    char text[SL_MESSAGE_SIZE];
    g->counters.passes_failed++;
    sl_message_from_failed_nodes(g, text);
    sl_words_say_stopping(&g->workloads[id].words, SL_EVICT_NODE_FAILURES, text);
    sl_follow(g, id, &sl_cycle_outcome.did, now_ms);
}

static void follow_unplaced(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    char text[SL_MESSAGE_SIZE];
    sl_message_from_placement(g, text);
    g->counters.passes_failed++;
    sl_decide_saying(g, id, SL_DECIDE_UNPLACED, text, now_ms);
}

/* Pending evaluation is also what a workload is that was never tried: then only the words of its variants' wait are news. */
static void follow_pending(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    char text[SL_MESSAGE_SIZE];
    const char *said = g->workloads[id].words.waiting;
    bool news = sl_cycle_outcome.did.news[SL_CHANGED_REASON];
    if (!news && sl_cycle_outcome.reason != SL_PENDING_EVALUATION) {
        return;
    }
    sl_message_from_outcome(g, text);
    if (news || said == NULL || strcmp(said, text) != 0) {
        sl_words_say_waiting(&g->workloads[id].words, sl_workloads[id].pending_reason, text);
        sl_decide(g, id, SL_DECIDE_PENDING, now_ms);
    }
}

/* For figures: what came of preemptions in which others of the cycle were in the way. */
static void note_contest(struct sl_engine *g)
{
    struct sl_contests *n = &g->qnodes[sl_cycle_outcome.cluster_queue]->contests;
    if (sl_cycle_outcome.skipped_preemption) {
        n->skips = n->cycle == g->cycle ? n->skips + 1 : 1;
        n->cycle = g->cycle;
    }
    SL_ASSERT(sl_cycle_outcome.recomputed < sizeof n->recomputed / sizeof n->recomputed[0]);
    n->recomputed[sl_cycle_outcome.recomputed]++;
}

static void follow_outcome(struct sl_engine *g, int64_t now_ms)
{
    sl_workload_id id = sl_cycle_outcome.workload;
    const struct sl_workload_entry *e = &g->workloads[id];
    SL_ASSERT(e->uid != NULL && e->generation == sl_cycle_outcome.generation);
    switch (sl_cycle_outcome.result) {
    case SL_CYCLE_RESERVED:
        follow_reserved(g, id, now_ms);
        break;
    case SL_CYCLE_PLACED:
        follow_placed(g, id, now_ms);
        break;
    case SL_CYCLE_EVICTED:
        follow_evicted(g, id, now_ms);
        break;
    case SL_CYCLE_UNPLACED:
        follow_unplaced(g, id, now_ms);
        break;
    case SL_CYCLE_PENDING:
        follow_pending(g, id, now_ms);
        sl_waiting_update(g, id);
        if (sl_cycle_evicted.count > 0) {
            sl_restrain_note_preemptor(g, id);
        }
        break;
    }
    follow_victims(g, now_ms);
}

static void follow_granted(struct sl_engine *g, int64_t now_ms)
{
    for (uint32_t i = 0; i < g->granted_count; i++) {
        sl_standing_update(g, g->granted[i], now_ms);
    }
    g->granted_count = 0;
    sl_node_health_settle(g, now_ms);
}

static void note_outcome(struct sl_engine *g, int64_t now_ms)
{
    struct sl_buf payload = {0};
    sl_outcome_pack(&payload);
    (void)sl_journal_append(g->journal, SL_JOURNAL_OUTCOME, now_ms, &payload);
    sl_buf_fini(&payload);
}

static bool decides_nothing(void)
{
    return sl_cycle_outcome.result == SL_CYCLE_PENDING && sl_cycle_evicted.count == 0;
}

/* A cycle's outcomes are noted and followed one by one, while policy still says what it found. */
void sl_follow_cycle(struct sl_engine *g, bool all_heads, int64_t now_ms)
{
    bool idle = true;
    sl_call_cycle(g, &(struct sl_call_cycle){.all_heads = all_heads, .now_ms = now_ms});
    while (sl_cycle_next()) {
        idle = idle && decides_nothing();
        note_outcome(g, now_ms);
        note_contest(g);
        follow_outcome(g, now_ms);
    }
    (void)sl_cycle_end();
    follow_granted(g, now_ms);
    sl_slice_end_cycle(g, now_ms);
    sl_restrain_settle(g, now_ms);
    g->cycle_ms = now_ms;
    g->idle_cycles = idle ? g->idle_cycles + 1 : 0;
}
