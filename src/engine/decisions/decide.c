/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Decisions: put on record and queued for the API; and which one follows from what the core says
 * that it did, by a table. */
#include "engine/decisions/decide.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/conditions/conditions.h"
#include "engine/conditions/given_back.h"
#include "engine/conditions/message.h"
#include "engine/journal/pack.h"
#include "engine/conditions/released.h"
#include "engine/decisions/standing.h"

static const char *reason_of(const struct sl_engine *g, sl_workload_id id,
                             enum sl_decision_kind kind)
{
    const struct sl_workload *w = &sl_workloads[id];
    const char *reason = sl_condition_decision_reason(w, kind);
    if (reason != NULL) {
        return reason;
    }
    return g->settings.granular_reasons
               ? sl_condition_pending_reason(w)
               : sl_condition_legacy_reason(w, sl_standing_queue_to_blame(g, id));
}

static void push(struct sl_engine *g, struct sl_queued_decision d)
{
    if (g->decision_count == g->decision_cap) {
        uint32_t cap = g->decision_cap == 0 ? 256 : g->decision_cap * 2;
        struct sl_queued_decision *ring = sl_mem_new(cap, sizeof *ring);
        for (uint32_t i = 0; i < g->decision_count; i++) {
            ring[i] = g->decisions[(g->decision_first + i) % g->decision_cap];
        }
        sl_mem_free(g->decisions);
        g->decisions = ring;
        g->decision_first = 0;
        g->decision_cap = cap;
    }
    g->decisions[(g->decision_first + g->decision_count++) % g->decision_cap] = d;
}

void sl_decide_saying(struct sl_engine *g, sl_workload_id id, enum sl_decision_kind kind,
                      const char *message, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    const char *reason = reason_of(g, id, kind);
    struct sl_buf payload = {0};
    pack_u8(&payload, (uint8_t)kind);
    pack_u32(&payload, id);
    pack_u32(&payload, e->generation);
    pack_text(&payload, reason);
    uint64_t sequence = sl_journal_append(g->journal, SL_JOURNAL_DECISION, now_ms, &payload);
    sl_buf_fini(&payload);
    e->unwritten_count++;
    e->given.decided = sequence;
    if (kind == SL_DECIDE_RELEASE) {
        sl_released_note(g, id, sequence);
    }
    if (kind == SL_DECIDE_RELEASE || kind == SL_DECIDE_PLACE || kind == SL_DECIDE_FINISH) {
        sl_given_back_note(g, id, sequence, now_ms);
    }
    sl_workload_id by = kind == SL_DECIDE_EVICT ? g->preemptor : SL_NO_ID;
    push(g, (struct sl_queued_decision){sequence, g->cycle, now_ms, reason, sl_mem_text(message),
                                        kind, id, e->generation, by,
                                        by == SL_NO_ID ? 0 : g->workloads[by].generation});
    if (sl_log_on(SL_LOG_DEBUG)) {
        sl_log(SL_LOG_DEBUG, "decided", "cycle", sl_log_number((long long)g->cycle), "workload",
               sl_intern_name(g->names, SL_INTERN_WORKLOAD, id), "queue", e->queue->key, "reason",
               reason, NULL);
    }
}

void sl_decide(struct sl_engine *g, sl_workload_id id, enum sl_decision_kind kind, int64_t now_ms)
{
    char message[SL_MESSAGE_SIZE];
    sl_words_of_decision(g, id, kind, message);
    sl_decide_saying(g, id, kind, message, now_ms);
}

/* --- which decision it is --------------------------------------------------------------------- */

#define IN(phase) (1u << (unsigned)(phase))
#define ANY UINT32_MAX
#define RESERVED (IN(SL_PHASE_QUOTA_RESERVED) | IN(SL_PHASE_ADMITTED) | IN(SL_PHASE_EVICTED))

/* From one phase to another: one decision, and whatever else is news goes into the same write. The
 * first row that matches. */
static const struct {
    uint32_t from, to; /* sets of phases */
    enum sl_decision_kind kind;
} moves[] = {
    {ANY, IN(SL_PHASE_EVICTED), SL_DECIDE_EVICT},
    {RESERVED, IN(SL_PHASE_PENDING), SL_DECIDE_RELEASE},
    {IN(SL_PHASE_QUOTA_RESERVED), IN(SL_PHASE_ADMITTED), SL_DECIDE_ADMIT},
    {ANY, RESERVED, SL_DECIDE_RESERVE},
};

/* The phase stays: what is news. The first row that matches. */
static const struct {
    enum sl_changed news;
    uint32_t in; /* a set of phases */
    bool detail; /* said where people ask for such detail */
    enum sl_decision_kind kind;
} stays[] = {
    {SL_CHANGED_EVICTION, ANY, false, SL_DECIDE_EVICT},
    {SL_CHANGED_REQUEUE, ANY, false, SL_DECIDE_REQUEUE},
    {SL_CHANGED_REASON, IN(SL_PHASE_PENDING), false, SL_DECIDE_PENDING},
    {SL_CHANGED_OBJECTION, ANY, false, SL_DECIDE_PENDING},
    {SL_CHANGED_CHECKS, RESERVED, false, SL_DECIDE_RESERVE}, /* the same with other checks */
    {SL_CHANGED_NODES, IN(SL_PHASE_ADMITTED), false, SL_DECIDE_PLACE}, /* marked as soon as known */
    {SL_CHANGED_WAIT, ANY, true, SL_DECIDE_PLACE},
};
#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])

static bool decision_of(const struct sl_engine *g, const struct sl_transition *did,
                        enum sl_decision_kind *kind)
{
    for (size_t i = 0; did->from != did->to && i < COUNT_OF(moves); i++) {
        if ((moves[i].from & IN(did->from)) != 0 && (moves[i].to & IN(did->to)) != 0) {
            *kind = moves[i].kind;
            return true;
        }
    }
    for (size_t i = 0; did->from == did->to && i < COUNT_OF(stays); i++) {
        if (did->news[stays[i].news] && (stays[i].in & IN(did->to)) != 0 &&
            (!stays[i].detail || g->settings.granular_reasons)) {
            *kind = stays[i].kind;
            return true;
        }
    }
    return false;
}

/* Quota, or nodes. */
static bool takes(const struct sl_transition *did, enum sl_decision_kind kind)
{
    return kind == SL_DECIDE_PLACE || kind == SL_DECIDE_ADMIT ||
           (kind == SL_DECIDE_RESERVE && did->from != did->to);
}

void sl_decide_after(struct sl_engine *g, sl_workload_id id, const struct sl_transition *did,
                     int64_t now_ms)
{
    SL_PRE(did != NULL);
    enum sl_decision_kind kind;
    bool moved = did->from != did->to;
    if (decision_of(g, did, &kind)) {
        g->counters.evicted += kind == SL_DECIDE_EVICT;
        bool reserves = moved && kind == SL_DECIDE_RESERVE;
        g->counters.reserved += reserves;
        g->news |= reserves ? SL_NEWS_RESERVED : 0;
        g->counters.admitted += moved && did->to == SL_PHASE_ADMITTED;
        sl_decide(g, id, kind, now_ms);
        if (takes(did, kind)) {
            sl_given_back_take(g, id, g->workloads[id].given.decided);
        }
    }
    if (did->news[SL_CHANGED_TARGET]) {
        sl_decide(g, id, SL_DECIDE_DEACTIVATE, now_ms);
    }
}
