/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Making, finding and giving back the engine's own records. Whatever is named by somebody has a
 * record, also before its object was seen: the order in which objects come in does not matter. */
#include "base/check.h"
#include "base/mem.h"
#include "engine/quota/accounts.h"
#include "engine/calls/call.h"
#include "engine/requests/families.h"
#include "engine/topology/constraints.h"
#include "engine/quota/quotas.h"
#include "engine/conditions/released.h"
#include "engine/records/rules.h"
#include "engine/state.h"
#include <stdio.h>
#include <string.h>

static char *join(const char *a, const char *b)
{
    struct sl_buf key = {0};
    sl_buf_print(&key, "%s/%s", a, b);
    return sl_buf_take(&key);
}

/* --- qnodes ------------------------------------------------------------------------------ */

sl_qnode_id sl_qnode_find(const struct sl_engine *g, bool is_cluster_queue, const char *name)
{
    char *key = join(is_cluster_queue ? "cq" : "cohort", name);
    uint32_t id = sl_intern_find(g->names, SL_INTERN_QNODE, key);
    sl_mem_free(key);
    return id;
}

sl_qnode_id sl_qnode_take(struct sl_engine *g, bool is_cluster_queue, const char *name,
                          int64_t now_ms)
{
    char *key = join(is_cluster_queue ? "cq" : "cohort", name);
    sl_qnode_id id = sl_name_take(g, SL_INTERN_QNODE, key, now_ms);
    sl_mem_free(key);
    if (id == SL_NO_ID) {
        return id;
    }
    g->qnodes = sl_mem_reach(g->qnodes, &g->qnode_cap, 64, id, sizeof *g->qnodes);
    if (g->qnodes[id] == NULL) {
        struct sl_qnode_entry *n = sl_mem_new(1, sizeof *n);
        n->name = sl_mem_text(name);
        n->is_cluster_queue = is_cluster_queue;
        n->parent = SL_NO_ID;
        sl_rules_default(n);
        g->qnodes[id] = n;
    }
    return id;
}

bool sl_qnode_open(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_qnode_entry *n = g->qnodes[qnode];
    if (!n->open) {
        n->open = sl_call(g, now_ms, open_qnode, .qnode = qnode) == SL_OK;
    }
    return n->open;
}

static void free_qnode(struct sl_engine *g, sl_qnode_id qnode)
{
    struct sl_qnode_entry *n = g->qnodes[qnode];
    sl_quotas_free(&n->quotas);
    sl_rules_free_checks(n);
    sl_json_free(n->namespace_selector);
    sl_selector_free(n->namespaces);
    sl_mem_free(n->tally.usages);
    sl_mem_free(n->tally.unadmitted);
    sl_mem_free(n->trouble);
    sl_mem_free(n->message);
    sl_mem_free(n->name);
    sl_mem_free(n);
    g->qnodes[qnode] = NULL;
}

void sl_qnode_drop_unused(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms)
{
    struct sl_qnode_entry *n = qnode == SL_NO_ID ? NULL : g->qnodes[qnode];
    if (n == NULL || n->exists || n->child_count > 0 || n->first_queue != NULL ||
        n->holder_count > 0) {
        return;
    }
    sl_qnode_id parent = n->parent;
    if (n->open) {
        struct sl_error ignored = {0};
        (void)sl_rules_share(g, qnode, NULL, now_ms,
                             &ignored); /* the number may be another's soon */
        if (n->is_cluster_queue) {
            sl_tell(g, now_ms, no_offers, .cluster_queue = qnode);
        }
        if (sl_call(g, now_ms, close_qnode, .qnode = qnode) != SL_OK) {
            return; /* something is charged to it still */
        }
    }
    g->looped_count -= n->looped;
    g->exceeded_count -= n->exceeded;
    free_qnode(g, qnode);
    sl_intern_drop(g->names, SL_INTERN_QNODE, qnode);
    if (parent != SL_NO_ID) {
        g->qnodes[parent]->child_count--;
        sl_qnode_drop_unused(g, parent, now_ms);
    }
}

void sl_qnode_sweep(struct sl_engine *g, int64_t now_ms)
{
    if (!g->sweep) {
        return;
    }
    g->sweep = false;
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        sl_qnode_drop_unused(g, qnode, now_ms);
    }
}

/* --- LocalQueues ------------------------------------------------------------------------------ */

struct sl_local_queue *sl_local_queue_find(const struct sl_engine *g, const char *ns,
                                           const char *name)
{
    SL_PRE(g != NULL);
    char *key = join(ns, name);
    struct sl_local_queue *q = sl_map_find(g->local_queues, key);
    sl_mem_free(key);
    return q;
}

struct sl_local_queue *sl_local_queue_take(struct sl_engine *g, const char *ns, const char *name)
{
    struct sl_local_queue *q = sl_local_queue_find(g, ns, name);
    if (q == NULL) {
        q = sl_mem_new(1, sizeof *q);
        q->key = join(ns, name);
        q->ns = sl_mem_text(ns);
        q->name = q->key + strlen(ns) + 1;
        q->cluster_queue = SL_NO_ID;
        q->account = SL_NO_ID;
        q->first = SL_NO_ID;
        q->last = SL_NO_ID;
        sl_map_put(g->local_queues, q->key, (union sl_map_value){.pointer = q});
    }
    return q;
}

void sl_local_queue_point(struct sl_engine *g, struct sl_local_queue *q, sl_qnode_id cluster_queue,
                          int64_t now_ms)
{
    SL_PRE(q != NULL);
    sl_qnode_id old = q->cluster_queue;
    if (old == cluster_queue) {
        return;
    }
    if (old != SL_NO_ID) {
        if (q->prev != NULL) {
            q->prev->next = q->next;
        } else {
            g->qnodes[old]->first_queue = q->next;
        }
        if (q->next != NULL) {
            q->next->prev = q->prev;
        }
    }
    for (sl_workload_id id = q->first; id != SL_NO_ID; id = g->workloads[id].next) {
        g->workloads[id].request_at = SL_NO_ID; /* the number may soon be another queue's */
    }
    q->cluster_queue = cluster_queue;
    q->prev = NULL;
    q->next = NULL;
    if (cluster_queue != SL_NO_ID) {
        q->next = g->qnodes[cluster_queue]->first_queue;
        if (q->next != NULL) {
            q->next->prev = q;
        }
        g->qnodes[cluster_queue]->first_queue = q;
    }
    sl_qnode_drop_unused(g, old, now_ms);
}

void sl_local_queue_drop_unused(struct sl_engine *g, struct sl_local_queue *q, int64_t now_ms)
{
    SL_PRE(q != NULL);
    if (q->exists || q->workload_count > 0) {
        return;
    }
    sl_local_queue_point(g, q, SL_NO_ID, now_ms);
    sl_accounts_drop(g, q, now_ms);
    (void)sl_map_remove(g->local_queues, q->key, NULL);
    sl_mem_free(q->tally.usages);
    sl_mem_free(q->tally.unadmitted);
    sl_mem_free(q->key);
    sl_mem_free(q->ns);
    sl_mem_free(q);
}

/* --- workloads -------------------------------------------------------------------------------- */

struct sl_workload_entry *sl_workload_entry_take(struct sl_engine *g, sl_workload_id id,
                                                 const char *uid)
{
    g->workloads = sl_mem_reach(g->workloads, &g->workload_cap, 256, id, sizeof *g->workloads);
    struct sl_workload_entry *e = &g->workloads[id];
    SL_ASSERT(e->uid == NULL);
    *e = (struct sl_workload_entry){
        .uid = sl_mem_text(uid),
        .next = SL_NO_ID,
        .prev = SL_NO_ID,
        .counted_at = SL_NO_ID,
        .unadmitted_at = SL_NO_ID,
        .held_at = SL_NO_ID,
        .request_at = SL_NO_ID,
        .slice = {.next = SL_NO_ID, .replaces = SL_NO_ID, .by = SL_NO_ID},
        .backoff_ms = SL_NEVER,
        .limited_ms = SL_NEVER,
        .ready_ms = SL_NEVER,
        .stop_ms = SL_NEVER,
        .retain_ms = SL_NEVER,
        .restrained_ms = SL_NEVER,
        .object_generation = -1};
    g->counters.workloads++;
    return e;
}

void sl_workload_entry_drop(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    struct sl_local_queue *q = e->queue;
    sl_family_leave(g, id, now_ms);
    sl_workload_unlist(g, id);
    sl_workload_hold(g, e, SL_NO_ID);
    sl_constraints_release(g, e);
    sl_admission_free(e->admission);
    sl_words_fini(&e->words);
    sl_released_drop(e);
    sl_mem_free(e->trouble);
    sl_mem_free(e->uid);
    sl_mem_free(e->job_uid);
    *e = (struct sl_workload_entry){0};
    sl_intern_drop(g->names, SL_INTERN_WORKLOAD, id);
    g->counters.workloads--;
    sl_local_queue_drop_unused(g, q, now_ms);
}

void sl_workload_enlist(struct sl_engine *g, sl_workload_id id, struct sl_local_queue *q)
{
    SL_PRE(g != NULL && q != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    e->queue = q;
    e->prev = q->last;
    e->next = SL_NO_ID;
    if (q->last != SL_NO_ID) {
        g->workloads[q->last].next = id;
    } else {
        q->first = id;
    }
    q->last = id;
    q->workload_count++;
}

void sl_workload_unlist(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    struct sl_local_queue *q = e->queue;
    if (e->prev != SL_NO_ID) {
        g->workloads[e->prev].next = e->next;
    } else {
        q->first = e->next;
    }
    if (e->next != SL_NO_ID) {
        g->workloads[e->next].prev = e->prev;
    } else {
        q->last = e->prev;
    }
    q->workload_count--;
}

void sl_workload_hold(struct sl_engine *g, struct sl_workload_entry *e, sl_qnode_id qnode)
{
    if (e->held_at != SL_NO_ID) {
        struct sl_qnode_entry *old = g->qnodes[e->held_at];
        SL_ASSERT(old->holder_count > 0);
        old->holder_count--;
        g->sweep = g->sweep || (!old->exists && old->holder_count == 0);
    }
    if (qnode != SL_NO_ID) {
        g->qnodes[qnode]->holder_count++;
    }
    e->held_at = qnode;
}

struct sl_admission *sl_admission_new(uint32_t pod_set_count, uint32_t choice_count)
{
    struct sl_admission *admission = sl_mem_new(1, sizeof *admission);
    admission->pod_set_count = pod_set_count;
    admission->choice_count = choice_count;
    admission->counts = sl_mem_new(pod_set_count + 1u, sizeof *admission->counts);
    admission->reclaimed = sl_mem_new(pod_set_count + 1u, sizeof *admission->reclaimed);
    admission->topology = sl_mem_new(pod_set_count + 1u, sizeof *admission->topology);
    admission->delayed = sl_mem_new(pod_set_count + 1u, sizeof *admission->delayed);
    admission->choices = sl_mem_new(choice_count + 1u, sizeof *admission->choices);
    return admission;
}

void sl_admission_free(struct sl_admission *admission)
{
    if (admission != NULL) {
        for (uint32_t i = 0; i < admission->pod_set_count; i++) {
            sl_mem_free(admission->topology[i]);
        }
        sl_json_free(admission->object);
        sl_mem_free(admission->topology);
        sl_mem_free(admission->delayed);
        sl_mem_free(admission->counts);
        sl_mem_free(admission->reclaimed);
        sl_mem_free(admission->choices);
        sl_mem_free(admission);
    }
}

int64_t sl_admission_amount(const struct sl_admission *admission, uint32_t choice)
{
    SL_PRE(admission != NULL);
    int64_t amount = admission->choices[choice].amount;
    uint32_t pod_set = admission->choices[choice].pod_set;
    int64_t gone = admission->reclaimed[pod_set];
    int64_t count = admission->counts[pod_set];
    return gone == 0 ? amount : amount / count * (count - gone);
}
