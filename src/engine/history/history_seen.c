/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/history/history_seen.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/journal/pack.h"
#include "engine/history/history_pack.h"
#include "engine/replay/replay_records.h"
#include "kernel/commit/commit.h"
#include "kernel/commit/place.h"
#include "kernel/ledger/ledger_ask.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/queues/queues.h"

bool sl_history_holds(enum sl_phase phase)
{
    return phase == SL_PHASE_QUOTA_RESERVED || phase == SL_PHASE_ADMITTED ||
           phase == SL_PHASE_EVICTED;
}

static bool in_line(sl_workload_id id)
{
    enum sl_place place = sl_place_of(id);
    return place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE || place == SL_PLACE_IN_FLIGHT;
}

void sl_history_look(sl_workload_id id, struct sl_history_seen *out)
{
    *out = (struct sl_history_seen){.phase = sl_workloads[id].phase};
    out->count = sl_commit_usage_count(id);
    out->held = out->count > 0 ? sl_mem_new(out->count, sizeof *out->held) : NULL;
    for (uint32_t i = 0; i < out->count; i++) {
        out->held[i] = sl_commit_usage(id, i);
    }
    out->queue = out->count > 0 ? sl_ledger_qnode_of(out->held[0].cell) : sl_queues_queue_of(id);
    out->key = sl_order_of(id);
    out->waits = out->phase == SL_PHASE_PENDING && in_line(id);
}

void sl_history_forget(struct sl_history_seen *s)
{
    SL_PRE(s != NULL);
    sl_mem_free(s->held);
    *s = (struct sl_history_seen){.queue = SL_NO_ID};
}

bool sl_history_holds_same(const struct sl_history_seen *a, const struct sl_history_seen *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        same = a->held[i].cell == b->held[i].cell && a->held[i].amount == b->held[i].amount;
    }
    return same;
}

static void pack_rows(struct sl_buf *out, const struct sl_replay *r,
                      const struct sl_history_seen *s)
{
    pack_u8(out, (uint8_t)s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        sl_cell_id cell = s->held[i].cell;
        pack_text(out, sl_journal_name(&r->names, SL_INTERN_FLAVOR, sl_ledger_flavor_of(cell)));
        pack_text(out, sl_journal_name(&r->names, SL_INTERN_RESOURCE, sl_ledger_resource_of(cell)));
        pack_i64(out, s->held[i].amount);
    }
}

void sl_history_add(struct sl_history_news_list *n, enum sl_history_kind kind, const char *reason)
{
    SL_PRE(n != NULL && n->count < SL_HISTORY_NEWS_MAX);
    n->items[n->count++] = (struct sl_history_news){kind, reason, "", ""};
}

void sl_history_pack(struct sl_buf *out, const struct sl_replay *r,
                     const struct sl_history_change *c, const struct sl_history_news_list *n)
{
    SL_PRE(c != NULL && n != NULL);
    const struct sl_history_seen *s = c->now;
    bool over = s->phase == SL_PHASE_FINISHED || s->phase == SL_PHASE_ABSENT;
    pack_u8(out, SL_HISTORY_WORD_MOVE);
    pack_i64(out, c->time_ms);
    pack_u64(out, r->record->sequence);
    pack_text(out, c->workload);
    pack_text(out,
              s->queue == SL_NO_ID ? "" : sl_journal_name(&r->names, SL_INTERN_QNODE, s->queue));
    pack_u8(out, (uint8_t)((c->found ? SL_HISTORY_IS_FOUND : 0) |
                           (s->waits ? SL_HISTORY_WAITS : 0) | (over ? SL_HISTORY_OVER : 0)));
    pack_rows(out, r, s);
    pack_u8(out, (uint8_t)n->count);
    for (uint32_t i = 0; i < n->count; i++) {
        pack_u8(out, (uint8_t)n->items[i].kind);
        pack_text(out, n->items[i].reason);
        pack_text(out, n->items[i].rule);
        pack_text(out, n->items[i].by);
    }
}
