/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a state is: the objects and what is under way, the core's variables, and what the engine keeps beside it. Not
 * looked at is what the engine makes of fixed objects, names and the core alone: constraints, limits, the nodes' records,
 * tallies, texts of messages. `--audit` looks whether anything hides there. */
#include "tests/explore/state.h"
#include "base/buf.h"
#include "engine/decisions/node_health.h"
#include "tests/explore/cluster.h"
#include "tests/explore/core.h"
#include "tests/explore/memory.h"
#include <stdlib.h>
#include <string.h>

#define AT(room, number) (0x80000000u + ((uint32_t)(room) << 24) + ((uint32_t)(number) << 16))
enum { ENTRY = 1, OBJECT, FLIGHT, QNODE, TIMER, DECISION, ENGINE, CLUSTER };

static uint32_t group_of(uint32_t w)
{
    return SUM_GROUPS_OF_VERSIONS + w;
}

static void add_version(struct sum *s, uint32_t where, uint32_t w, uint64_t version)
{
    if (version != 0) {
        sum_number(s, where, group_of(w), version, false);
    }
}

/* --- the cluster -------------------------------------------------------------------------------- */

static void add_object(struct sum *s, uint32_t w)
{
    static struct sl_buf text;
    uint32_t where = AT(OBJECT, w);
    sl_buf_reset(&text);
    if (cluster.workloads[w] != NULL) {
        sl_json_print(cluster.workloads[w], &text);
        sum_text(s, where, text.data);
    }
    add_version(s, where + 1, w, cluster_version(cluster.workloads[w]));
    add_version(s, where + 2, w, cluster_version(cluster.shown[w]));
    if (cluster.shown[w] != NULL) {
        sum_text(s, where + 3, sl_object_uid(cluster.shown[w]));
    }
    sum_word(s, where + 4, cluster.made[w]);
}

static void add_flight(struct sum *s, uint32_t w)
{
    static struct sl_buf text;
    const struct flight *f = &cluster.flights[w];
    uint32_t where = AT(FLIGHT, w);
    if (!f->used) {
        return;
    }
    sl_buf_reset(&text);
    sl_json_print(f->patch, &text);
    sum_text(s, where, text.data);
    sum_text(s, where + 1, f->uid);
    sum_text(s, where + 2, f->reason);
    sum_word(s, where + 3, f->d.kind + 1u);
    sum_word(s, where + 4, f->d.generation);
    sum_word(s, where + 5, f->tries + 1u);
    add_version(s, where + 6, w, f->version);
}

static void add_cluster(struct sum *s)
{
    uint32_t where = AT(CLUSTER, 0);
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        add_object(s, w);
        add_flight(s, w);
    }
    sum_bytes(s, where, cluster.node_down, sizeof cluster.node_down);
    sum_bytes(s, where + 16, cluster.cut, sizeof cluster.cut);
    sum_word(s, where + 32,
             cluster.stopped + (cluster.dropped ? 4u : 0) + (cluster.unchecked ? 8u : 0));
    sum_word(s, where + 33, cluster.troubles);
    sum_word(s, where + 34, cluster.waited);
    sum_bytes(s, where + 40, cluster.switched, sizeof cluster.switched);
}

/* --- the engine --------------------------------------------------------------------------------- */

static void add_times(struct sum *s, uint32_t where, const struct sl_workload_entry *e)
{
    const int64_t times[] = {e->created_ms, e->seen_ms,   e->backoff_ms,    e->ready_ms,
                             e->stop_ms,    e->retain_ms, e->restrained_ms, e->limited_ms};
    sum_bytes(s, where, times, sizeof times);
}

static void add_versions(struct sum *s, uint32_t where, const struct sl_workload_entry *e,
                         uint32_t w)
{
    const uint64_t versions[] = {e->written_version, e->base_version, e->answers_version,
                                 e->seen_version,    e->unread_first, e->unread_last,
                                 e->news_version};
    for (uint32_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        add_version(s, where + i, w, versions[i]);
    }
}

static void add_admission(struct sum *s, uint32_t where, const struct sl_admission *a)
{
    for (uint32_t i = 0; a != NULL && i < a->pod_set_count; i++) {
        sum_word(s, where + i, (uint64_t)a->counts[i] + 1);
        sum_word(s, where + 32 + i, (uint64_t)a->reclaimed[i]);
        sum_word(s, where + 64 + i, a->delayed[i]);
        sum_text(s, where + 96 + i, a->topology[i] == NULL ? "" : a->topology[i]);
    }
    sum_word(s, where + 128, a == NULL ? 0 : 1u + a->unplaced * 2u + a->displaced * 4u);
}

static void add_released(struct sum *s, uint32_t where, const struct sl_released *released)
{
    if (released != NULL) {
        sum_word(s, where, 1);
        sum_bytes(s, where + 1, released, sizeof(struct sl_workload)); /* its record comes first */
    }
}

/* Whom it waits for, and whether an answer says that what it gave back is written. */
static void add_given(struct sum *s, uint32_t where, const struct sl_engine *g,
                      const struct sl_workload_entry *e)
{
    uint64_t before = 0;
    for (sl_workload_id id = 0; id < g->workload_cap && id < 64; id++) {
        const struct sl_workload_entry *other = &g->workloads[id];
        bool open = other != e && other->uid != NULL && other->given.first != 0;
        before |= (uint64_t)(open && other->given.first < e->given.taken) << id;
    }
    sum_word(s, where, before);
    sum_word(s, where + 1,
             (uint64_t)(e->given.first != 0) | (uint64_t)(e->given.asked == e->given.last) << 1);
}

static uint64_t bits_of(const struct sl_workload_entry *e)
{
    return (uint64_t)e->wants_active | (uint64_t)e->gate_untold << 1 | (uint64_t)e->paused << 2 |
           (uint64_t)e->rewrite << 3 | (uint64_t)e->plain << 4 | (uint64_t)e->echo << 5 |
           (uint64_t)(e->asked != 0) << 6 | (uint64_t)e->device_claims << 7 |
           (uint64_t)e->oversized << 8 | (uint64_t)e->reclaims << 9 | 1u << 10;
}

static void add_entry(struct sum *s, const struct sl_engine *g, sl_workload_id id)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    uint32_t where = AT(ENTRY, id);
    if (e->uid == NULL) {
        return;
    }
    const char *key = sl_intern_name(g->names, SL_INTERN_WORKLOAD, id);
    uint32_t w = (uint32_t)(strchr(key, '/')[2] - '0');
    sum_text(s, where, e->uid);
    sum_text(s, where + 1, e->queue == NULL ? "" : e->queue->key);
    sum_text(s, where + 2, e->trouble == NULL ? "" : e->trouble);
    const uint64_t numbers[] = {bits_of(e),
                                e->generation,
                                (uint32_t)e->priority,
                                e->request_at,
                                e->next,
                                e->prev,
                                e->standing,
                                e->counted_at,
                                e->held_at,
                                e->unwritten_count,
                                e->rewrite ? e->rewrite_kind + 1u : 0,
                                e->refusals,
                                e->refused_kind,
                                e->vain_preemptions,
                                (uint64_t)e->object_generation};
    sum_bytes(s, where + 8, numbers, sizeof numbers);
    add_times(s, where + 0x200, e);
    add_versions(s, where + 0x300, e, w);
    add_admission(s, where + 0x400, e->admission);
    add_released(s, where + 0x800, e->released);
    add_given(s, where + 0xc00, g, e);
}

static void add_qnode(struct sum *s, const struct sl_engine *g, sl_qnode_id id)
{
    const struct sl_qnode_entry *n = g->qnodes[id];
    uint32_t where = AT(QNODE, id);
    if (n == NULL) {
        return;
    }
    const uint64_t numbers[] = {(uint64_t)n->exists | (uint64_t)n->deleting << 1 |
                                    (uint64_t)n->open << 2 | (uint64_t)n->active << 3 |
                                    (uint64_t)n->restated << 4 | (uint64_t)n->exceeded << 5 | 64u,
                                n->stop,
                                n->parent,
                                n->child_count,
                                n->holder_count,
                                n->check_count};
    sum_text(s, where, n->name);
    sum_bytes(s, where + 8, numbers, sizeof numbers);
}

static int by_due(const void *a, const void *b)
{
    const struct sl_timer *x = a, *y = b;
    return x->due_ms != y->due_ms ? (x->due_ms > y->due_ms) - (x->due_ms < y->due_ms)
                                  : (x->order > y->order) - (x->order < y->order);
}

/* In the order in which they come up. Those of whoever is gone do nothing but that: when, is said by the others. */
static void add_timers(struct sum *s, const struct sl_engine *g)
{
    static struct sl_timer sorted[64];
    uint32_t count = g->timers.count < 64 ? g->timers.count : 64;
    memcpy(sorted, g->timers.items, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], by_due);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t where = AT(TIMER, i);
        sum_word(s, where, (uint64_t)sorted[i].due_ms);
        sum_word(s, where + 1, sorted[i].kind + 1u);
        sum_word(s, where + 2, sorted[i].id);
        sum_word(s, where + 3, sorted[i].generation);
    }
}

static void add_decisions(struct sum *s, const struct sl_engine *g)
{
    for (uint32_t i = 0; i < g->decision_count; i++) {
        const struct sl_queued_decision *q =
            &g->decisions[(g->decision_first + i) % g->decision_cap];
        uint32_t where = AT(DECISION, i);
        sum_word(s, where, q->kind + 1u);
        sum_word(s, where + 1, q->workload);
        sum_word(s, where + 2, q->generation);
        sum_text(s, where + 3, q->reason == NULL ? "" : q->reason);
    }
}

static void add_engine(struct sum *s, const struct sl_engine *g)
{
    uint32_t where = AT(ENGINE, 0);
    uint64_t idle = g->idle_cycles < 2 ? g->idle_cycles : 2;
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        add_entry(s, g, id);
    }
    for (sl_qnode_id id = 0; id < g->qnode_cap; id++) {
        add_qnode(s, g, id);
    }
    add_timers(s, g);
    add_decisions(s, g);
    const uint64_t numbers[] = {idle,
                                (uint64_t)g->woken_ms,
                                g->reading,
                                (uint64_t)g->restanding | (uint64_t)g->wants_workloads << 1 |
                                    (uint64_t)g->sweep << 2,
                                (uint64_t)sl_node_health_waits(g),
                                (uint64_t)sl_world_woken(g),
                                (uint64_t)sl_engine_due_ms(g)};
    sum_bytes(s, where, numbers, sizeof numbers);
}

uint64_t state_sum(void)
{
    static struct sum *s;
    s = s == NULL ? memory_new(sizeof *s) : s; /* no part of the state */
    s->hash = 1;
    s->now_ms = cluster.now_ms;
    s->count = 0;
    sum_number(s, AT(CLUSTER, 1), 0, (uint64_t)s->now_ms,
               false); /* whatever is as late as that may come again */
    add_cluster(s);
    add_engine(s, cluster.engine);
    core_add(s);
    return sum_end(s);
}
