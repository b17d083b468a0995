/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The calls are made again, and what they say of the world is told as objects. What a call has changed is noted, and told
 * when the next thing happens: an object comes in as several calls. */
#include "engine/past/past_take.h"
#include "api/objects/object.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/journal/journal_image.h"
#include "engine/past/past_objects.h"
#include "kernel/ledger/cells.h"
#include "policy/cycle/cycle.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/queues.h"
#include "policy/requests/requests.h"
#include <inttypes.h>
#include <string.h>

struct queue_state {
    bool dirty, told, configured;
    struct sl_json *checks; /* names, as its workloads have them */
};
struct workload_state {
    bool dirty, told;
    int64_t reserved_ms, admitted_ms, evicted_ms; /* as they were told last */
    uint32_t account;                             /* plus one; 0 = none */
    char *local_queue;                            /* as it was told last */
};
static const struct workload_state nobody = {
    .reserved_ms = SL_NEVER, .admitted_ms = SL_NEVER, .evicted_ms = SL_NEVER};

struct dirty {
    uint32_t *ids;
    uint32_t count, cap;
};

struct taking {
    struct sl_buf *out;
    struct sl_journal_names names;
    struct sl_buf list; /* of the call that is made */
    int64_t now_ms;
    uint64_t sequence, records;
    struct queue_state *queues;
    struct workload_state *workloads;
    uint32_t queue_cap, workload_cap;
    struct dirty dirty_queues, dirty_workloads;
    int64_t *weights; /* of accounts, in 1e-9; 0 = one */
    uint32_t weight_cap;
    bool looked;              /* nothing was told since the last look */
    bool restoring, restored; /* an image is being put into the core; it has to be told */
    uint64_t failed_writes, topology_calls, moved_nodes, reductions;
    const char *why; /* it ends before the run does */
};

/* --- lines ---------------------------------------------------------------------------------------- */

static void say(struct taking *t, const char *verb, struct sl_json *object)
{
    sl_buf_print(t->out, "{\"at\":%" PRId64 ",\"do\":\"%s\",\"object\":", t->now_ms, verb);
    sl_json_print(object, t->out);
    sl_buf_text(t->out, "}\n");
    sl_json_free(object);
    t->looked = false;
}

static const char *key_of(const struct taking *t, sl_workload_id id)
{
    return sl_journal_name(&t->names, SL_INTERN_WORKLOAD, id);
}

static void begin_line(struct taking *t, const char *verb, sl_workload_id id)
{
    sl_buf_print(t->out, "{\"at\":%" PRId64 ",\"do\":\"%s\",\"workload\":\"%s\"", t->now_ms, verb,
                 key_of(t, id));
}

/* --- what is told later ----------------------------------------------------------------------------- */

static struct queue_state *queue_of(struct taking *t, sl_qnode_id qnode)
{
    t->queues = sl_mem_reach(t->queues, &t->queue_cap, 64, qnode, sizeof *t->queues);
    return &t->queues[qnode];
}

static struct workload_state *workload_of(struct taking *t, sl_workload_id id)
{
    t->workloads = sl_mem_reach(t->workloads, &t->workload_cap, 256, id, sizeof *t->workloads);
    return &t->workloads[id];
}

static void add_dirty(struct dirty *d, uint32_t id)
{
    d->ids = sl_mem_reach(d->ids, &d->cap, 64, d->count, sizeof *d->ids);
    d->ids[d->count++] = id;
}

static void touch_queue(struct taking *t, sl_qnode_id qnode)
{
    struct queue_state *q = qnode < SL_QNODES_MAX ? queue_of(t, qnode) : NULL;
    if (q != NULL && !q->dirty) {
        q->dirty = true;
        add_dirty(&t->dirty_queues, qnode);
    }
}

static void touch_workload(struct taking *t, sl_workload_id id)
{
    struct workload_state *w = id < SL_WORKLOADS_MAX ? workload_of(t, id) : NULL;
    if (w != NULL && !w->dirty) {
        w->dirty = true;
        add_dirty(&t->dirty_workloads, id);
    }
}

/* --- queues ------------------------------------------------------------------------------------------ */

/* Each has a taint, which is tolerated by all but those that it was excluded for. */
static void tell_flavors(struct taking *t, sl_qnode_id qnode)
{
    for (sl_cell_id cell = sl_offers_first(qnode); cell != SL_NO_ID; cell = sl_offers_next(cell)) {
        const char *flavor = sl_journal_name(&t->names, SL_INTERN_FLAVOR, sl_cell_flavor[cell]);
        struct sl_json *o =
            sl_past_named_new(sl_kind_info(SL_KIND_RESOURCE_FLAVOR)->api_version,
                              sl_kind_info(SL_KIND_RESOURCE_FLAVOR)->kind, "", flavor);
        struct sl_json *taint = sl_json_new_map(), *taints = sl_json_new_list();
        sl_json_set_text(taint, "key", flavor);
        sl_json_set_text(taint, "effect", "NoSchedule");
        sl_json_append(taints, taint);
        sl_json_set(sl_json_path_make(o, "spec"), "nodeTaints", taints);
        say(t, "apply", o);
    }
}

static void tell_queue(struct taking *t, sl_qnode_id qnode)
{
    struct queue_state *q = queue_of(t, qnode);
    bool cluster = sl_past_is_cluster_queue(&t->names, qnode);
    const struct sl_kind_info *info =
        sl_kind_info(cluster ? SL_KIND_CLUSTER_QUEUE : SL_KIND_COHORT);
    q->dirty = false;
    if (!sl_qnode_used[qnode]) {
        if (q->told) {
            say(t, "delete",
                sl_past_named_new(info->api_version, info->kind, "",
                                  sl_journal_name(&t->names, SL_INTERN_QNODE, qnode)));
        }
        q->told = false;
        return;
    }
    if (cluster && !q->configured) {
        return; /* a LocalQueue or a workload names it, and that is all */
    }
    q->told = true;
    if (sl_offers_first(qnode) ==
        SL_NO_ID) { /* it is gone: one of its name need not ask for them */
        sl_json_free(q->checks);
        q->checks = NULL;
    }
    if (cluster) {
        tell_flavors(t, qnode);
    }
    say(t, "apply",
        cluster ? sl_past_cluster_queue_new(&t->names, qnode, q->checks)
                : sl_past_cohort_new(&t->names, qnode));
}

/* --- workloads --------------------------------------------------------------------------------------- */

/* Only with admission fair sharing is the LocalQueue known; else it is called as its ClusterQueue is. */
static void local_queue_of(struct taking *t, sl_workload_id id, sl_qnode_id qnode,
                           struct sl_buf *out)
{
    const struct workload_state *w = workload_of(t, id);
    const char *account =
        w->account == 0
            ? NULL
            : strchr(sl_journal_name(&t->names, SL_INTERN_ACCOUNT, w->account - 1), '/');
    sl_buf_text(out,
                account != NULL ? account + 1 : sl_journal_name(&t->names, SL_INTERN_QNODE, qnode));
}

static void tell_local_queue(struct taking *t, sl_workload_id id, const char *called,
                             sl_qnode_id qnode)
{
    struct sl_buf ns = {0};
    const char *key = key_of(t, id);
    const char *slash = strchr(key, '/');
    uint32_t account = workload_of(t, id)->account;
    sl_buf_add(&ns, key, slash == NULL ? 0 : (size_t)(slash - key));
    struct sl_json *o = sl_past_named_new(sl_kind_info(SL_KIND_LOCAL_QUEUE)->api_version,
                                          "LocalQueue", ns.data == NULL ? "" : ns.data, called);
    sl_json_set_text(sl_json_path_make(o, "spec"), "clusterQueue",
                     sl_journal_name(&t->names, SL_INTERN_QNODE, qnode));
    if (account > 0 && account <= t->weight_cap && t->weights[account - 1] > 0) {
        struct sl_buf weight = {0};
        sl_buf_print(&weight, "%" PRId64 "n", t->weights[account - 1]);
        sl_json_set_text(sl_json_path_make(o, "spec.fairSharing"), "weight", weight.data);
        sl_buf_fini(&weight);
    }
    say(t, "apply", o);
    sl_buf_fini(&ns);
}

static void tell_check(struct taking *t, const char *check)
{
    struct sl_json *o = sl_past_named_new(sl_kind_info(SL_KIND_ADMISSION_CHECK)->api_version,
                                          "AdmissionCheck", "", check);
    struct sl_json *active = sl_json_new_map(), *list = sl_json_new_list();
    sl_json_set_text(sl_json_path_make(o, "spec"), "controllerName", "sluice.dev/past");
    sl_json_set_text(active, "type", "Active");
    sl_json_set_text(active, "status", "True");
    sl_json_append(list, active);
    sl_json_set(sl_json_path_make(o, "status"), "conditions", list);
    say(t, "apply", o);
}

/* Its queue asks for the checks that it has: before its flavors are known for these alone. */
static void learn_checks(struct taking *t, sl_workload_id id, sl_qnode_id qnode)
{
    struct queue_state *q = queue_of(t, qnode);
    bool all = sl_workloads[id].phase == SL_PHASE_PENDING;
    struct sl_json *checks =
        all || q->checks == NULL ? sl_json_new_list() : sl_json_clone(q->checks);
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        const char *check =
            sl_journal_name(&t->names, SL_INTERN_CHECK, sl_workloads[id].checks[i].check);
        if (!sl_json_has_text(q->checks, check)) {
            tell_check(t, check);
        }
        if (!sl_json_has_text(checks, check)) {
            sl_json_append(checks, sl_json_new_text(check));
        }
    }
    bool same = sl_json_len(checks) == sl_json_len(q->checks) &&
                (sl_json_len(checks) == 0 || sl_json_equal(checks, q->checks));
    sl_json_free(q->checks);
    q->checks = checks;
    if (!same) {
        tell_queue(t, qnode);
    }
}

/* The ClusterQueue that it waits in or holds quota of; SL_NO_ID = none. */
static sl_qnode_id qnode_of(sl_workload_id id)
{
    if (sl_commit_usage_count(id) > 0) {
        return sl_cell_home[sl_commit_usage(id, 0).cell] - 1;
    }
    return sl_outsiders_is(id) ? SL_NO_ID : sl_queues_queue_of(id);
}

static void tell_workload(struct taking *t, sl_workload_id id)
{
    struct workload_state *w = workload_of(t, id);
    enum sl_phase phase = sl_workloads[id].phase;
    sl_qnode_id qnode = qnode_of(id);
    struct sl_buf called = {0};
    w->dirty = false;
    /* Its key, which has its uid, comes when it is attached. */
    bool usable = qnode != SL_NO_ID && (sl_order_of(id).uid_high | sl_order_of(id).uid_low) != 0;
    if (phase == SL_PHASE_ABSENT || phase == SL_PHASE_FINISHED ||
        (w->told ? phase != SL_PHASE_PENDING : !usable)) {
        return;
    }
    if (qnode != SL_NO_ID) {
        local_queue_of(t, id, qnode, &called);
        tell_local_queue(t, id, called.data, qnode);
        learn_checks(t, id, qnode);
    } else if (!sl_lifecycle_admissible(id) && w->local_queue != NULL) {
        sl_buf_text(&called, w->local_queue); /* it is out of its queue of itself */
    }
    if (!w->told) {
        w->reserved_ms = sl_workloads[id].reserved_at_ms;
        w->admitted_ms = sl_workloads[id].admitted_at_ms;
        w->evicted_ms = sl_workloads[id].evicted_at_ms;
    }
    w->told = true;
    sl_mem_free(w->local_queue);
    w->local_queue = sl_mem_text(called.data == NULL ? "" : called.data);
    sl_buf_fini(&called);
    say(t, "apply", sl_past_workload_new(&t->names, id, w->local_queue));
}

static void tell_all(struct taking *t)
{
    for (uint32_t i = 0; i < t->dirty_queues.count; i++) {
        if (queue_of(t, t->dirty_queues.ids[i])->dirty) {
            tell_queue(t, t->dirty_queues.ids[i]);
        }
    }
    t->dirty_queues.count = 0;
    for (uint32_t i = 0; i < t->dirty_workloads.count; i++) {
        tell_workload(t, t->dirty_workloads.ids[i]);
    }
    t->dirty_workloads.count = 0;
}

/* --- decisions --------------------------------------------------------------------------------------- */

/* What has become of it, if that was not told yet. */
static void tell_fate(struct taking *t, sl_workload_id id)
{
    const struct sl_workload *record = &sl_workloads[id];
    struct workload_state *w = workload_of(t, id);
    if (record->has_admission && record->reserved_at_ms != w->reserved_ms) {
        w->reserved_ms = record->reserved_at_ms;
        begin_line(t, "reserved", id);
        sl_buf_text(t->out, "}\n");
    }
    if (record->phase == SL_PHASE_ADMITTED && record->admitted_at_ms != w->admitted_ms) {
        struct sl_json *uses = sl_past_uses_new(&t->names, id);
        w->admitted_ms = record->admitted_at_ms;
        begin_line(t, "admitted", id);
        sl_buf_print(t->out, ",\"queue\":\"%s\",\"uses\":",
                     sl_journal_name(&t->names, SL_INTERN_QNODE, qnode_of(id)));
        sl_json_print(uses, t->out);
        sl_buf_text(t->out, "}\n");
        sl_json_free(uses);
    }
    if (record->evicted != SL_EVICT_NONE && record->evicted_at_ms != w->evicted_ms) {
        w->evicted_ms = record->evicted_at_ms;
        begin_line(t, "evicted", id);
        sl_buf_print(t->out, ",\"reason\":%d}\n", (int)record->evicted);
    }
}

/* --- events ------------------------------------------------------------------------------------------- */

static void send(struct taking *t, sl_workload_id id, const char *event, int64_t since_ms)
{
    begin_line(t, "send", id);
    sl_buf_print(t->out, ",\"event\":\"%s\",\"since\":%" PRId64, event,
                 since_ms == SL_NEVER ? -1 : since_ms);
    t->looked = false;
}

static void send_check(struct taking *t, const struct sl_event *ev)
{
    const struct sl_workload *w = &sl_workloads[ev->workload];
    bool holds = w->phase == SL_PHASE_QUOTA_RESERVED || w->phase == SL_PHASE_ADMITTED;
    send(t, ev->workload, "check", holds ? w->reserved_at_ms : SL_NEVER);
    sl_buf_print(t->out, ",\"name\":\"%s\",\"state\":%u,\"value\":%" PRId64 "}\n",
                 sl_journal_name(&t->names, SL_INTERN_CHECK, ev->index), ev->reason, ev->value);
}

/* Pods have ended before their job, and what they held of that cell is given back but for so much. */
static void tell_reduce(struct taking *t, const struct sl_call_reduce *v)
{
    if (v->workload < SL_WORKLOADS_MAX && workload_of(t, v->workload)->told &&
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

static void tell_look(struct taking *t)
{
    sl_buf_print(t->out, "{\"at\":%" PRId64 ",\"do\":\"look\"}\n", t->now_ms);
}

static void delete_workload(struct taking *t, sl_workload_id id)
{
    struct workload_state *w = workload_of(t, id);
    if (w->told) {
        const char *key = key_of(t, id);
        const char *slash = strchr(key, '/');
        struct sl_buf ns = {0};
        sl_buf_add(&ns, key, slash == NULL ? 0 : (size_t)(slash - key));
        say(t, "delete",
            sl_past_named_new(sl_kind_info(SL_KIND_WORKLOAD)->api_version, "Workload",
                              ns.data == NULL ? "" : ns.data, slash == NULL ? key : slash + 1));
        sl_buf_fini(&ns);
    }
    sl_mem_free(w->local_queue);
    *w = nobody;
}

/* Before it is made: what it answers to is still there. */
static void tell_event(struct taking *t, const struct sl_event *ev)
{
    sl_workload_id id = ev->workload;
    const struct sl_workload *w = &sl_workloads[id];
    switch (ev->kind) {
    case SL_EV_FINISH:
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
        tell_look(t); /* it was the engine's turn */
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

static void make_event(struct taking *t, struct sl_call *c)
{
    const struct sl_event ev = c->event.event;
    bool known =
        ev.workload < SL_WORKLOADS_MAX && sl_workloads[ev.workload].generation == ev.generation;
    if (known && ev.kind != SL_EV_CREATE) {
        if (workload_of(t, ev.workload)->dirty) {
            tell_all(t);
        }
        if (workload_of(t, ev.workload)->told) {
            tell_event(t, &ev);
        }
    }
    if (sl_call_carry_out(c).status == SL_OK && known) {
        if (ev.kind == SL_EV_CREATE) {
            *workload_of(t, ev.workload) = nobody;
        }
        if (ev.kind != SL_EV_DELETE) {
            touch_workload(t, ev.workload);
        }
        if (workload_of(t, ev.workload)->told) {
            tell_fate(t, ev.workload);
        }
    }
}

/* --- calls --------------------------------------------------------------------------------------------- */

/* A cycle without heads only matters where something has come before it. */
static void look(struct taking *t, const struct sl_call_cycle *v)
{
    bool heads = false;
    tell_all(t);
    sl_call_begin_cycle(v);
    while (sl_cycle_next()) {
        heads = true;
    }
    (void)sl_cycle_end();
    if (heads || !t->looked) {
        tell_look(t);
    }
    t->looked = !heads;
}

static void tell_settings(struct taking *t, const struct sl_settings *s)
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
static void tell_rules(struct taking *t, const struct sl_call *c)
{
    if (c->kind == SL_CALL_settings) {
        tell_settings(t, &c->settings.settings);
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
    case SL_CALL_outsider:
        return c->outsider.workload;
    case SL_CALL_usage_account:
        return c->usage_account.workload;
    default:
        return SL_NO_ID;
    }
}

static void make_call(struct taking *t, struct sl_call *c)
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
        tell_reduce(t, &c->reduce);
    }
    tell_rules(t, c);
    touch_queue(t, queue_in(c));
    if (c->kind == SL_CALL_configure && c->configure.cluster_queue < SL_QNODES_MAX) {
        queue_of(t, c->configure.cluster_queue)->configured = true;
    }
    if (c->kind == SL_CALL_usage_account && c->usage_account.workload < SL_WORKLOADS_MAX) {
        workload_of(t, c->usage_account.workload)->account = c->usage_account.account + 1;
    }
    (void)sl_call_carry_out(c).status;
    sl_workload_id id = workload_in(c);
    if (id < SL_WORKLOADS_MAX) {
        touch_workload(t, id);
    }
}

/* --- records ------------------------------------------------------------------------------------------- */

static bool ends(struct taking *t, const char *why)
{
    t->why = why;
    return false;
}

/* All that an image has put into the core. */
static void tell_image(struct taking *t)
{
    t->restored = false;
    tell_settings(t, &sl_settings);
    for (sl_qnode_id qnode = 0; qnode < sl_qnode_limit; qnode++) {
        if (sl_qnode_used[qnode]) {
            queue_of(t, qnode)->configured = true;
            touch_queue(t, qnode);
        }
    }
    for (sl_workload_id id = 0; id < sl_queues_workload_limit(); id++) {
        if (sl_workloads[id].phase != SL_PHASE_ABSENT) {
            touch_workload(t, id);
        }
    }
    tell_all(t);
}

static bool take_image(struct taking *t, const struct sl_journal_record *r, bool first)
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

static void take_decision(struct taking *t, const struct sl_journal_record *r)
{
    struct unpack u = {r->payload, r->payload + r->len, false};
    (void)unpack_u8(&u);
    sl_workload_id id = unpack_u32(&u);
    if (!u.failed && id < SL_WORKLOADS_MAX && workload_of(t, id)->told) {
        tell_fate(t, id);
    }
}

static bool take_call(struct taking *t, const struct sl_journal_record *r)
{
    struct sl_call c;
    enum sl_status recorded;
    if (!sl_call_unpack(r->payload, r->len, &c, &t->list, &recorded)) {
        return ends(t, "there is a call that this program does not know");
    }
    make_call(t, &c);
    return true;
}

static bool take_record(struct taking *t, const struct sl_journal_record *r)
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
            tell_all(t); /* at the time when it came */
        }
        t->now_ms = r->time_ms;
    }
    if (t->restored && r->type != SL_JOURNAL_IMAGE && r->type != SL_JOURNAL_NAME) {
        tell_image(t);
    }
    switch (r->type) {
    case SL_JOURNAL_NAME:
        return sl_journal_name_add(&t->names, r->payload, r->len) ||
               ends(t, "a name cannot be read");
    case SL_JOURNAL_OBSERVE:
        tell_all(t);
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
static void tell_end(struct taking *t)
{
    for (sl_workload_id id = 0; id < t->workload_cap; id++) {
        enum sl_phase phase = sl_workloads[id].phase;
        if (t->workloads[id].told && phase != SL_PHASE_ABSENT && phase != SL_PHASE_FINISHED) {
            say(t, "now", sl_past_workload_new(&t->names, id, t->workloads[id].local_queue));
        }
    }
}

static void fini(struct taking *t)
{
    for (uint32_t i = 0; i < t->queue_cap; i++) {
        sl_json_free(t->queues[i].checks);
    }
    for (uint32_t i = 0; i < t->workload_cap; i++) {
        sl_mem_free(t->workloads[i].local_queue);
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
    struct taking t = {.out = &pipe->text};
    bool more = take_record(&t, take->record);
    while (more && sl_journal_reader_next(take->reader, take->record) == SL_JOURNAL_RECORD &&
           take->record->type != SL_JOURNAL_START) {
        more = take_record(&t, take->record);
        sl_past_pipe_push(pipe, false);
    }
    tell_all(&t);
    tell_end(&t);
    sl_buf_print(t.out,
                 "{\"at\":%" PRId64 ",\"do\":\"end\",\"sequence\":%" PRIu64 ",\"records\":%" PRIu64
                 ",\"failedWrites\":%" PRIu64 ",\"topology\":%" PRIu64 ",\"failedNodes\":%" PRIu64
                 ",\"reductions\":%" PRIu64 ",\"why\":\"%s\"}\n",
                 t.now_ms, t.sequence, t.records, t.failed_writes, t.topology_calls, t.moved_nodes,
                 t.reductions, t.why == NULL ? "" : t.why);
    fini(&t);
}
