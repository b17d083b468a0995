/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The calls are made again, and what they say of the world is emitted as objects and events. */
#include "engine/past/past_take.h"
#include "api/objects/object.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/journal/journal_image.h"
#include "engine/past/past_emit.h"
#include "engine/past/past_objects.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/cells.h"
#include "policy/cycle/cycle.h"
#include "policy/queues/queues.h"
#include <inttypes.h>
#include <string.h>

/* --- events ------------------------------------------------------------------------------------------- */

static void send(struct sl_taking *t, sl_workload_id id, const char *event, int64_t since_ms)
{
    sl_emit_begin(t, "send", id);
    sl_buf_print(t->out, ",\"event\":\"%s\",\"since\":%" PRId64, event,
                 since_ms == SL_NEVER ? -1 : since_ms);
    t->looked = false;
}

static void send_check(struct sl_taking *t, const struct sl_event *ev)
{
    const struct sl_workload *w = &sl_workloads[ev->workload];
    bool holds = w->phase == SL_PHASE_QUOTA_RESERVED || w->phase == SL_PHASE_ADMITTED;
    send(t, ev->workload, "check", holds ? w->reserved_at_ms : SL_NEVER);
    sl_buf_print(t->out, ",\"name\":\"%s\",\"state\":%u,\"value\":%" PRId64 "}\n",
                 sl_journal_name(&t->names, SL_INTERN_CHECK, ev->index), ev->reason, ev->value);
}

/* Pods have ended before their job, and what they held of that cell is given back but for so much. */
static void emit_reduce(struct sl_taking *t, const struct sl_call_reduce *v)
{
    if (v->workload < SL_WORKLOADS_MAX && sl_emit_workload_state(t, v->workload)->emitted &&
        v->usage < sl_commit_usage_count(v->workload)) {
        sl_cell_id cell = sl_commit_usage(v->workload, v->usage).cell;
        send(t, v->workload, "reduce", sl_workloads[v->workload].reserved_at_ms);
        sl_buf_print(t->out, ",\"flavor\":\"%s\",\"resource\":\"%s\",\"left\":%" PRId64 "}\n",
                     sl_journal_name(&t->names, SL_INTERN_FLAVOR, sl_cell_flavor[cell]),
                     sl_journal_name(&t->names, SL_INTERN_RESOURCE, sl_cell_resource[cell]),
                     v->amount);
        t->reductions++;
    }
}

static void emit_look(struct sl_taking *t)
{
    sl_buf_print(t->out, "{\"at\":%" PRId64 ",\"do\":\"look\"}\n", t->now_ms);
}

static void delete_workload(struct sl_taking *t, sl_workload_id id)
{
    struct sl_taken_workload *w = sl_emit_workload_state(t, id);
    if (w->emitted) {
        const char *key = sl_emit_key(t, id);
        const char *slash = strchr(key, '/');
        struct sl_buf ns = {0};
        sl_buf_add(&ns, key, slash == NULL ? 0 : (size_t)(slash - key));
        sl_emit(t, "delete",
                sl_past_named_new(sl_kind_info(SL_KIND_WORKLOAD)->api_version, "Workload",
                                  ns.data == NULL ? "" : ns.data, slash == NULL ? key : slash + 1));
        sl_buf_fini(&ns);
    }
    sl_mem_free(w->local_queue);
    sl_mem_free(w->slice_of);
    *w = sl_taken_unknown;
}

/* Before it is made: what it answers to is still there. */
static void emit_event(struct sl_taking *t, const struct sl_event *ev)
{
    sl_workload_id id = ev->workload;
    const struct sl_workload *w = &sl_workloads[id];
    switch (ev->kind) {
    case SL_EV_FINISH:
        if (ev->reason == SL_FINISH_SLICE_REPLACED) {
            break; /* that was decided */
        }
        send(t, id, "finish", w->phase == SL_PHASE_ADMITTED ? w->admitted_at_ms : SL_NEVER);
        sl_buf_text(t->out, "}\n");
        break;
    case SL_EV_PODS_READY:
        send(t, id, ev->index == 1 ? "ready" : "unready", w->admitted_at_ms);
        sl_buf_text(t->out, "}\n");
        break;
    case SL_EV_CHECK_STATE:
        send_check(t, ev);
        break;
    case SL_EV_JOB_STOPPED:
        send(t, id, "stopped", w->evicted_at_ms);
        sl_buf_text(t->out, "}\n");
        break;
    case SL_EV_DRAIN:
        send(t, id, "drain", SL_NEVER);
        sl_buf_print(t->out, ",\"reason\":%u}\n", ev->reason);
        break;
    case SL_EV_QUEUE_UNUSABLE:
        send(t, id, "unusable", SL_NEVER);
        sl_buf_print(t->out, ",\"reason\":%u}\n", ev->reason);
        break;
    case SL_EV_DEACTIVATE:
        send(t, id, w->deactivation == SL_CAUSE_NONE ? "deactivate" : "deactivated", SL_NEVER);
        sl_buf_text(t->out, "}\n");
        break;
    case SL_EV_REACTIVATE:
        send(t, id, "reactivate", SL_NEVER);
        sl_buf_text(t->out, "}\n");
        break;
    case SL_EV_BACKOFF_OVER:
    case SL_EV_EXECUTION_TIMEOUT:
    case SL_EV_PODS_READY_TIMEOUT:
        emit_look(t); /* it was the engine's turn */
        break;
    case SL_EV_DELETE:
        delete_workload(t, id);
        break;
    case SL_EV_WRITE_FAILED:
        t->failed_writes++;
        break;
    case SL_EV_NODE_FAILED:
        t->moved_nodes++;
        break;
    default:
        break;
    }
}

static void make_event(struct sl_taking *t, struct sl_call *c)
{
    const struct sl_event ev = c->event.event;
    bool known =
        ev.workload < SL_WORKLOADS_MAX && sl_workloads[ev.workload].generation == ev.generation;
    if (known && ev.kind != SL_EV_CREATE) {
        if (sl_emit_workload_state(t, ev.workload)->dirty) {
            sl_emit_all(t);
        }
        if (sl_emit_workload_state(t, ev.workload)->emitted) {
            emit_event(t, &ev);
        }
    }
    if (sl_call_carry_out(c).status == SL_OK && known) {
        if (ev.kind == SL_EV_CREATE) {
            *sl_emit_workload_state(t, ev.workload) = sl_taken_unknown;
        }
        if (ev.kind != SL_EV_DELETE) {
            sl_emit_touch_workload(t, ev.workload);
        }
        if (sl_emit_workload_state(t, ev.workload)->emitted) {
            sl_emit_fate(t, ev.workload);
        }
    }
}

/* --- calls --------------------------------------------------------------------------------------------- */

/* A cycle without heads only matters where something has come before it. */
static void look(struct sl_taking *t, const struct sl_call_cycle *v)
{
    bool heads = false;
    sl_emit_all(t);
    sl_call_begin_cycle(v);
    while (sl_cycle_next()) {
        heads = true;
    }
    (void)sl_cycle_end();
    if (heads || !t->looked) {
        emit_look(t);
    }
    t->looked = !heads;
}

static void emit_settings(struct sl_taking *t, const struct sl_settings *s)
{
    struct sl_buf bytes = {0};
    struct sl_call c = {.kind = SL_CALL_settings, .settings = {.settings = *s}};
    sl_call_pack(&bytes, &c, SL_OK);
    sl_buf_text(t->out, "{\"do\":\"settings\",\"bytes\":\"");
    for (size_t i = 0; i < bytes.len; i++) {
        sl_buf_print(t->out, "%02x", (unsigned)(unsigned char)bytes.data[i]);
    }
    sl_buf_text(t->out, "\"}\n");
    sl_buf_fini(&bytes);
}

/* What of the calls is not about one queue or workload. */
static void emit_rules(struct sl_taking *t, const struct sl_call *c)
{
    if (c->kind == SL_CALL_settings) {
        emit_settings(t, &c->settings.settings);
    } else if (c->kind == SL_CALL_requeue_rules) {
        sl_buf_print(t->out,
                     "{\"do\":\"requeue\",\"limited\":%d,\"count\":%u,\"base\":%" PRId64
                     ",\"max\":%" PRId64 "}\n",
                     (int)c->requeue_rules.limited, c->requeue_rules.count_max,
                     c->requeue_rules.base_ms, c->requeue_rules.ms_max);
    } else if (c->kind == SL_CALL_usage) {
        sl_buf_print(t->out,
                     "{\"do\":\"usage\",\"halfLife\":%" PRId64 ",\"sampling\":%" PRId64 "}\n",
                     c->usage.half_life_ms, c->usage.sampling_ms);
    } else if (c->kind == SL_CALL_usage_resource) {
        sl_buf_print(t->out, "{\"do\":\"weight\",\"resource\":\"%s\",\"nano\":%" PRId64 "}\n",
                     sl_journal_name(&t->names, SL_INTERN_RESOURCE, c->usage_resource.resource),
                     c->usage_resource.weight_nano);
    } else if (c->kind == SL_CALL_usage_weight) {
        uint32_t account = c->usage_weight.account;
        t->weights = sl_mem_reach(t->weights, &t->weight_cap, 16, account, sizeof *t->weights);
        t->weights[account] = c->usage_weight.nano;
    } else if (c->kind == SL_CALL_open_domain || c->kind == SL_CALL_capacity) {
        t->topology_calls++;
    }
}

/* The queue that it is about; SL_NO_ID = none. */
static sl_qnode_id queue_in(const struct sl_call *c)
{
    switch (c->kind) {
    case SL_CALL_open_qnode:
        return c->open_qnode.qnode;
    case SL_CALL_close_qnode:
        return c->close_qnode.qnode;
    case SL_CALL_move_qnode:
        return c->move_qnode.qnode;
    case SL_CALL_open_cell:
        return c->open_cell.qnode;
    case SL_CALL_set_quota:
        return c->set_quota.cell < SL_CELLS_MAX ? sl_cell_home[c->set_quota.cell] - 1 : SL_NO_ID;
    case SL_CALL_weight:
        return c->weight.qnode;
    case SL_CALL_configure:
        return c->configure.cluster_queue;
    case SL_CALL_preemption:
        return c->preemption.cluster_queue;
    case SL_CALL_no_offers:
        return c->no_offers.cluster_queue;
    case SL_CALL_offer:
        return c->offer.cluster_queue;
    default:
        return SL_NO_ID;
    }
}

static sl_workload_id workload_in(const struct sl_call *c)
{
    switch (c->kind) {
    case SL_CALL_restore:
        return c->restore.workload;
    case SL_CALL_request:
        return c->request.workload;
    case SL_CALL_attach:
        return c->attach.workload;
    case SL_CALL_detach:
        return c->detach.workload;
    case SL_CALL_set_key:
        return c->set_key.workload;
    case SL_CALL_usage_account:
        return c->usage_account.workload;
    case SL_CALL_slice:
        return c->slice.workload;
    case SL_CALL_preemption_gate:
        return c->preemption_gate.workload;
    default:
        return SL_NO_ID;
    }
}

static void make_call(struct sl_taking *t, struct sl_call *c)
{
    if (c->kind == SL_CALL_cycle) {
        look(t, &c->cycle);
        return;
    }
    if (c->kind == SL_CALL_event) {
        make_event(t, c);
        return;
    }
    if (c->kind == SL_CALL_reduce) {
        emit_reduce(t, &c->reduce);
    }
    emit_rules(t, c);
    sl_emit_touch_queue(t, queue_in(c));
    if (c->kind == SL_CALL_configure && c->configure.cluster_queue < SL_QNODES_MAX) {
        sl_emit_queue_state(t, c->configure.cluster_queue)->configured = true;
    }
    if (c->kind == SL_CALL_usage_account && c->usage_account.workload < SL_WORKLOADS_MAX) {
        sl_emit_workload_state(t, c->usage_account.workload)->account =
            c->usage_account.account + 1;
    }
    (void)sl_call_carry_out(c).status;
    sl_workload_id id = workload_in(c);
    if (id < SL_WORKLOADS_MAX) {
        sl_emit_touch_workload(t, id);
    }
}

/* --- records ------------------------------------------------------------------------------------------- */

static bool ends(struct sl_taking *t, const char *why)
{
    t->why = why;
    return false;
}

/* All that an image has put into the core. */
static void emit_image(struct sl_taking *t)
{
    t->restored = false;
    emit_settings(t, &sl_settings);
    for (sl_qnode_id qnode = 0; qnode < sl_qnode_limit; qnode++) {
        if (sl_qnode_used[qnode]) {
            sl_emit_queue_state(t, qnode)->configured = true;
            sl_emit_touch_queue(t, qnode);
        }
    }
    for (sl_workload_id id = 0; id < sl_queues_workload_limit(); id++) {
        if (sl_workloads[id].phase != SL_PHASE_ABSENT) {
            sl_emit_touch_workload(t, id);
        }
    }
    sl_emit_all(t);
}

static bool take_image(struct sl_taking *t, const struct sl_journal_record *r, bool first)
{
    struct sl_image_part part;
    if (!first && !t->restoring) {
        return true; /* the run goes on past it */
    }
    if (!sl_image_look(r->payload, r->len, &part) || !sl_image_put(r->payload, r->len)) {
        return ends(t, "an image of the core cannot be read");
    }
    t->restoring = !part.last;
    t->restored = part.last;
    return true;
}

static void take_decision(struct sl_taking *t, const struct sl_journal_record *r)
{
    struct unpack u = {r->payload, r->payload + r->len, false};
    (void)unpack_u8(&u);
    sl_workload_id id = unpack_u32(&u);
    if (!u.failed && id < SL_WORKLOADS_MAX && sl_emit_workload_state(t, id)->emitted) {
        sl_emit_fate(t, id);
    }
}

static bool take_call(struct sl_taking *t, const struct sl_journal_record *r)
{
    struct sl_call c;
    enum sl_status recorded;
    if (!sl_call_unpack(r->payload, r->len, &c, &t->list, &recorded)) {
        return ends(t, "there is a call that this program does not know");
    }
    make_call(t, &c);
    return true;
}

static bool take_record(struct sl_taking *t, const struct sl_journal_record *r)
{
    bool first = t->sequence == 0;
    if (!first && r->sequence != t->sequence + 1) {
        return ends(t, "records are missing");
    }
    if (t->restoring && r->type != SL_JOURNAL_IMAGE) {
        return ends(t, "an image of the core is not whole");
    }
    t->sequence = r->sequence;
    t->records++;
    if (r->time_ms > t->now_ms) {
        if (t->now_ms > 0) {
            sl_emit_all(t); /* at the time when it came */
        }
        t->now_ms = r->time_ms;
    }
    if (t->restored && r->type != SL_JOURNAL_IMAGE && r->type != SL_JOURNAL_NAME) {
        emit_image(t);
    }
    switch (r->type) {
    case SL_JOURNAL_NAME:
        return sl_journal_name_add(&t->names, r->payload, r->len) ||
               ends(t, "a name cannot be read");
    case SL_JOURNAL_OBSERVE:
        sl_emit_all(t);
        return true;
    case SL_JOURNAL_CALL:
        return take_call(t, r);
    case SL_JOURNAL_DECISION:
        take_decision(t, r);
        return true;
    case SL_JOURNAL_IMAGE:
        return take_image(t, r, first);
    default:
        return true;
    }
}

/* Those that are there when the run ends, as they are then. */
static void emit_end(struct sl_taking *t)
{
    for (sl_workload_id id = 0; id < t->workload_cap; id++) {
        enum sl_phase phase = sl_workloads[id].phase;
        if (t->workloads[id].emitted && phase != SL_PHASE_ABSENT && phase != SL_PHASE_FINISHED) {
            sl_emit(t, "now", sl_emit_workload_new(t, id));
        }
    }
}

static void fini(struct sl_taking *t)
{
    for (uint32_t i = 0; i < t->queue_cap; i++) {
        sl_json_free(t->queues[i].checks);
    }
    for (uint32_t i = 0; i < t->workload_cap; i++) {
        sl_mem_free(t->workloads[i].local_queue);
        sl_mem_free(t->workloads[i].slice_of);
    }
    sl_mem_free(t->queues);
    sl_mem_free(t->workloads);
    sl_mem_free(t->dirty_queues.ids);
    sl_mem_free(t->dirty_workloads.ids);
    sl_mem_free(t->weights);
    sl_buf_fini(&t->list);
    sl_journal_names_fini(&t->names);
}

void sl_past_take(void *context, struct sl_past_pipe *pipe)
{
    SL_PRE(context != NULL && pipe != NULL);
    const struct sl_past_take *take = context;
    struct sl_taking t = {.out = &pipe->text};
    bool more = take_record(&t, take->record);
    while (more && sl_journal_reader_next(take->reader, take->record) == SL_JOURNAL_RECORD &&
           take->record->type != SL_JOURNAL_START) {
        more = take_record(&t, take->record);
        sl_past_pipe_push(pipe, false);
    }
    sl_emit_all(&t);
    emit_end(&t);
    sl_buf_print(t.out,
                 "{\"at\":%" PRId64 ",\"do\":\"end\",\"sequence\":%" PRIu64 ",\"records\":%" PRIu64
                 ",\"failedWrites\":%" PRIu64 ",\"topology\":%" PRIu64 ",\"failedNodes\":%" PRIu64
                 ",\"reductions\":%" PRIu64 ",\"why\":\"%s\"}\n",
                 t.now_ms, t.sequence, t.records, t.failed_writes, t.topology_calls, t.moved_nodes,
                 t.reductions, t.why == NULL ? "" : t.why);
    fini(&t);
}
