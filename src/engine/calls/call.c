/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/calls/call.h"
#include "base/check.h"
#include "base/log.h"
#include "engine/journal/status_text.h"
#include "engine/state.h"

static void note(struct sl_engine *g, const struct sl_call *c, enum sl_status answer,
                 int64_t now_ms)
{
    struct sl_buf payload = {0};
    sl_call_pack(&payload, c, answer);
    (void)sl_journal_append(g->journal, SL_JOURNAL_CALL, now_ms, &payload);
    sl_buf_fini(&payload);
}

sl_workload_id sl_call_subject(const struct sl_call *c)
{
    switch (c->kind) {
    case SL_CALL_event:
        return c->event.event.workload;
    case SL_CALL_restore:
        return c->restore.workload;
    case SL_CALL_attach:
        return c->attach.workload;
    case SL_CALL_detach:
        return c->detach.workload;
    default:
        return SL_NO_ID;
    }
}

void sl_call_cycle(struct sl_engine *g, const struct sl_call_cycle *v)
{
    SL_PRE(v != NULL);
    struct sl_call c = {.kind = SL_CALL_cycle, .cycle = *v};
    note(g, &c, SL_OK, v->now_ms);
    sl_call_begin_cycle(v);
}

enum sl_status sl_call_make(struct sl_engine *g, struct sl_call *c, int64_t now_ms)
{
    SL_PRE(g != NULL && c->kind < SL_CALL_KIND_COUNT);
    g->idle_cycles = 0;
    sl_workload_id id = sl_call_subject(c);
    struct sl_transition did = sl_call_carry_out(c);
    note(g, c, did.status, now_ms);
    g->counters.events += c->kind == SL_CALL_event;
    g->counters.refused += did.status != SL_OK;
    if (id != SL_NO_ID && did.status == SL_OK) {
        g->follow(g, id, &did, now_ms);
    }
    return did.status;
}

bool sl_call_expect(struct sl_engine *g, struct sl_call *c, int64_t now_ms)
{
    enum sl_status status = sl_call_make(g, c, now_ms);
    if (status != SL_OK) {
        sl_workload_id id = sl_call_subject(c);
        sl_log(SL_LOG_WARN, "the core refused a call that it should not refuse", "call",
               sl_call_name(c->kind), "workload",
               id == SL_NO_ID ? "" : sl_intern_name(g->names, SL_INTERN_WORKLOAD, id), "reason",
               sl_status_text(status), NULL);
        SL_ASSERT(!g->settings.paranoid);
    }
    return status == SL_OK;
}

bool sl_send_event(struct sl_engine *g, sl_workload_id id, struct sl_event ev)
{
    SL_PRE(g != NULL && id < g->workload_cap);
    ev.workload = id;
    ev.generation = g->workloads[id].generation;
    return sl_expect(g, ev.now_ms, event, .event = ev);
}
