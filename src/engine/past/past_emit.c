/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a call has changed is noted, and emitted when the next thing happens: an object comes in as several calls. */
#include "engine/past/past_emit.h"
#include "api/objects/object.h"
#include "base/mem.h"
#include "engine/decisions/slices.h"
#include "engine/past/past_objects.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/cells.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/queues.h"
#include "policy/requests/preemption_gate.h"
#include "policy/requests/slices.h"
#include <inttypes.h>
#include <string.h>

const struct sl_taken_workload sl_taken_unknown = {
    .reserved_ms = SL_NEVER, .admitted_ms = SL_NEVER, .evicted_ms = SL_NEVER};

/* --- lines ---------------------------------------------------------------------------------------- */

void sl_emit(struct sl_taking *t, const char *verb, struct sl_json *object)
{
    sl_buf_print(t->out, "{\"at\":%" PRId64 ",\"do\":\"%s\",\"object\":", t->now_ms, verb);
    sl_json_print(object, t->out);
    sl_buf_text(t->out, "}\n");
    sl_json_free(object);
    t->looked = false;
}

const char *sl_emit_key(const struct sl_taking *t, sl_workload_id id)
{
    return sl_journal_name(&t->names, SL_INTERN_WORKLOAD, id);
}

void sl_emit_begin(struct sl_taking *t, const char *verb, sl_workload_id id)
{
    sl_buf_print(t->out, "{\"at\":%" PRId64 ",\"do\":\"%s\",\"workload\":\"%s\"", t->now_ms, verb,
                 sl_emit_key(t, id));
}

/* --- what is emitted later ----------------------------------------------------------------------------- */

struct sl_taken_queue *sl_emit_queue_state(struct sl_taking *t, sl_qnode_id qnode)
{
    t->queues = sl_mem_reach(t->queues, &t->queue_cap, 64, qnode, sizeof *t->queues);
    return &t->queues[qnode];
}

struct sl_taken_workload *sl_emit_workload_state(struct sl_taking *t, sl_workload_id id)
{
    t->workloads = sl_mem_reach(t->workloads, &t->workload_cap, 256, id, sizeof *t->workloads);
    return &t->workloads[id];
}

static void add_dirty(struct sl_taken_ids *d, uint32_t id)
{
    d->ids = sl_mem_reach(d->ids, &d->cap, 64, d->count, sizeof *d->ids);
    d->ids[d->count++] = id;
}

void sl_emit_touch_queue(struct sl_taking *t, sl_qnode_id qnode)
{
    struct sl_taken_queue *q = qnode < SL_QNODES_MAX ? sl_emit_queue_state(t, qnode) : NULL;
    if (q != NULL && !q->dirty) {
        q->dirty = true;
        add_dirty(&t->dirty_queues, qnode);
    }
}

void sl_emit_touch_workload(struct sl_taking *t, sl_workload_id id)
{
    struct sl_taken_workload *w = id < SL_WORKLOADS_MAX ? sl_emit_workload_state(t, id) : NULL;
    if (w != NULL && !w->dirty) {
        w->dirty = true;
        add_dirty(&t->dirty_workloads, id);
    }
}

/* --- queues ------------------------------------------------------------------------------------------ */

/* Each has a taint, which is tolerated by all but those that it was excluded for. */
static void emit_flavors(struct sl_taking *t, sl_qnode_id qnode)
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
        sl_emit(t, "apply", o);
    }
}

static void emit_queue(struct sl_taking *t, sl_qnode_id qnode)
{
    struct sl_taken_queue *q = sl_emit_queue_state(t, qnode);
    bool cluster = sl_past_is_cluster_queue(&t->names, qnode);
    const struct sl_kind_info *info =
        sl_kind_info(cluster ? SL_KIND_CLUSTER_QUEUE : SL_KIND_COHORT);
    q->dirty = false;
    if (!sl_qnode_used[qnode]) {
        if (q->emitted) {
            sl_emit(t, "delete",
                    sl_past_named_new(info->api_version, info->kind, "",
                                      sl_journal_name(&t->names, SL_INTERN_QNODE, qnode)));
        }
        q->emitted = false;
        return;
    }
    if (cluster && !q->configured) {
        return; /* a LocalQueue or a workload names it, and that is all */
    }
    q->emitted = true;
    if (sl_offers_first(qnode) ==
        SL_NO_ID) { /* it was deleted: one of its name need not ask for them */
        sl_json_free(q->checks);
        q->checks = NULL;
    }
    if (cluster) {
        emit_flavors(t, qnode);
    }
    sl_emit(t, "apply",
            cluster ? sl_past_cluster_queue_new(&t->names, qnode, q->checks)
                    : sl_past_cohort_new(&t->names, qnode));
}

/* --- workloads --------------------------------------------------------------------------------------- */

/* Only with admission fair sharing is the LocalQueue known; else it is called as its ClusterQueue is. */
static void local_queue_of(struct sl_taking *t, sl_workload_id id, sl_qnode_id qnode,
                           struct sl_buf *out)
{
    const struct sl_taken_workload *w = sl_emit_workload_state(t, id);
    const char *account =
        w->account == 0
            ? NULL
            : strchr(sl_journal_name(&t->names, SL_INTERN_ACCOUNT, w->account - 1), '/');
    sl_buf_text(out,
                account != NULL ? account + 1 : sl_journal_name(&t->names, SL_INTERN_QNODE, qnode));
}

static void emit_local_queue(struct sl_taking *t, sl_workload_id id, const char *called,
                             sl_qnode_id qnode)
{
    struct sl_buf ns = {0};
    const char *key = sl_emit_key(t, id);
    const char *slash = strchr(key, '/');
    uint32_t account = sl_emit_workload_state(t, id)->account;
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
    sl_emit(t, "apply", o);
    sl_buf_fini(&ns);
}

static void emit_check(struct sl_taking *t, const char *check)
{
    struct sl_json *o = sl_past_named_new(sl_kind_info(SL_KIND_ADMISSION_CHECK)->api_version,
                                          "AdmissionCheck", "", check);
    struct sl_json *active = sl_json_new_map(), *list = sl_json_new_list();
    sl_json_set_text(sl_json_path_make(o, "spec"), "controllerName", "past");
    sl_json_set_text(active, "type", "Active");
    sl_json_set_text(active, "status", "True");
    sl_json_append(list, active);
    sl_json_set(sl_json_path_make(o, "status"), "conditions", list);
    sl_emit(t, "apply", o);
}

/* Its queue asks for the checks that it has: before its flavors are known for these alone. */
static void learn_checks(struct sl_taking *t, sl_workload_id id, sl_qnode_id qnode)
{
    struct sl_taken_queue *q = sl_emit_queue_state(t, qnode);
    bool all = sl_workloads[id].phase == SL_PHASE_PENDING;
    struct sl_json *checks =
        all || q->checks == NULL ? sl_json_new_list() : sl_json_clone(q->checks);
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        const char *check =
            sl_journal_name(&t->names, SL_INTERN_CHECK, sl_workloads[id].checks[i].check);
        if (!sl_json_has_text(q->checks, check)) {
            emit_check(t, check);
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
        emit_queue(t, qnode);
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

/* Which gates it has is not in the core: it gets one for all of them. */
static void set_preemption_gate(struct sl_json *workload, bool closed)
{
    static const char *const places[] = {"spec", "status"};
    for (size_t i = 0; i < 2; i++) {
        struct sl_json *gate = sl_json_new_map();
        struct sl_json *gates = sl_json_new_list();
        sl_json_set_text(gate, "name", "past");
        if (i == 1) {
            sl_json_set_text(gate, "position", closed ? "Closed" : "Open");
        }
        sl_json_append(gates, gate);
        sl_json_set(sl_json_path_make(workload, places[i]), "preemptionGates", gates);
    }
}

/* As long as it waits: then the other one holds quota, and the core knows of it. */
static void note_slice(struct sl_taking *t, struct sl_taken_workload *w, sl_workload_id id)
{
    sl_qnode_id qnode = qnode_of(id);
    sl_workload_id old = qnode == SL_NO_ID ? SL_NO_ID : sl_slices_old(id, qnode);
    if (old != SL_NO_ID && sl_workloads[id].phase == SL_PHASE_PENDING) {
        sl_mem_free(w->slice_of);
        w->slice_of = sl_mem_text(sl_emit_key(t, old));
    }
}

struct sl_json *sl_emit_workload_new(struct sl_taking *t, sl_workload_id id)
{
    struct sl_taken_workload *w = sl_emit_workload_state(t, id);
    struct sl_json *o = sl_past_workload_new(&t->names, id, w->local_queue);
    note_slice(t, w, id);
    if (w->slice_of != NULL) {
        sl_json_set_text(sl_json_path_make(o, "metadata.annotations"), SL_SLICE_ANNOTATION,
                         w->slice_of);
    }
    w->gated = w->gated || sl_preemption_gate_closed(id);
    if (w->gated) {
        set_preemption_gate(o, sl_preemption_gate_closed(id));
    }
    return o;
}

static void emit_workload(struct sl_taking *t, sl_workload_id id)
{
    struct sl_taken_workload *w = sl_emit_workload_state(t, id);
    enum sl_phase phase = sl_workloads[id].phase;
    sl_qnode_id qnode = qnode_of(id);
    struct sl_buf called = {0};
    w->dirty = false;
    /* Its key, which has its uid, comes when it is attached. */
    bool usable = qnode != SL_NO_ID && (sl_order_of(id).uid_high | sl_order_of(id).uid_low) != 0;
    if (phase == SL_PHASE_ABSENT || phase == SL_PHASE_FINISHED ||
        (w->emitted ? phase != SL_PHASE_PENDING : !usable)) {
        return;
    }
    if (qnode != SL_NO_ID) {
        local_queue_of(t, id, qnode, &called);
        emit_local_queue(t, id, called.data, qnode);
        learn_checks(t, id, qnode);
    } else if (!sl_lifecycle_admissible(id) && w->local_queue != NULL) {
        sl_buf_text(&called, w->local_queue); /* it is out of its queue of itself */
    }
    if (!w->emitted) {
        w->reserved_ms = sl_workloads[id].reserved_at_ms;
        w->admitted_ms = sl_workloads[id].admitted_at_ms;
        w->evicted_ms = sl_workloads[id].evicted_at_ms;
    }
    w->emitted = true;
    sl_mem_free(w->local_queue);
    w->local_queue = sl_mem_text(called.data == NULL ? "" : called.data);
    sl_buf_fini(&called);
    sl_emit(t, "apply", sl_emit_workload_new(t, id));
}

void sl_emit_all(struct sl_taking *t)
{
    for (uint32_t i = 0; i < t->dirty_queues.count; i++) {
        if (sl_emit_queue_state(t, t->dirty_queues.ids[i])->dirty) {
            emit_queue(t, t->dirty_queues.ids[i]);
        }
    }
    t->dirty_queues.count = 0;
    for (uint32_t i = 0; i < t->dirty_workloads.count; i++) {
        emit_workload(t, t->dirty_workloads.ids[i]);
    }
    t->dirty_workloads.count = 0;
}

/* --- decisions --------------------------------------------------------------------------------------- */

/* What has become of it, if that was not emitted yet. */
void sl_emit_fate(struct sl_taking *t, sl_workload_id id)
{
    const struct sl_workload *record = &sl_workloads[id];
    struct sl_taken_workload *w = sl_emit_workload_state(t, id);
    if (record->has_admission && record->reserved_at_ms != w->reserved_ms) {
        w->reserved_ms = record->reserved_at_ms;
        sl_emit_begin(t, "reserved", id);
        sl_buf_text(t->out, "}\n");
    }
    if (record->phase == SL_PHASE_ADMITTED && record->admitted_at_ms != w->admitted_ms) {
        struct sl_json *uses = sl_past_uses_new(&t->names, id);
        w->admitted_ms = record->admitted_at_ms;
        sl_emit_begin(t, "admitted", id);
        sl_buf_print(t->out, ",\"queue\":\"%s\",\"uses\":",
                     sl_journal_name(&t->names, SL_INTERN_QNODE, qnode_of(id)));
        sl_json_print(uses, t->out);
        sl_buf_text(t->out, "}\n");
        sl_json_free(uses);
    }
    if (record->evicted != SL_EVICT_NONE && record->evicted_at_ms != w->evicted_ms) {
        w->evicted_ms = record->evicted_at_ms;
        sl_emit_begin(t, "evicted", id);
        sl_buf_print(t->out, ",\"reason\":%d}\n", (int)record->evicted);
    }
}
