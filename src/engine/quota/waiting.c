/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pending requests and the reasons of what is not admitted. Amounts that wait are in a tally under no flavor. */
#include "engine/quota/waiting.h"
#include "base/check.h"
#include "base/effort.h"
#include "base/mem.h"
#include "engine/conditions/conditions.h"
#include "engine/figures.h"
#include "engine/quota/parent_figures.h"
#include "engine/quota/tallies.h"
#include "engine/state.h"
#include "policy/queues/fronts.h"
#include "policy/queues/heap.h"
#include "policy/queues/lanes.h"
#include "policy/requests/requests.h"
#include "policy/requests/shape.h"

/* --- what is asked for ------------------------------------------------------------------------ */

/* Sums of very many may wrap around, and come right again once some have left. */
static int64_t moved(int64_t sum, int64_t amount, int sign)
{
    uint64_t by = (uint64_t)amount;
    return (int64_t)(sign > 0 ? (uint64_t)sum + by : (uint64_t)sum - by);
}

void sl_waiting_count(struct sl_tally *t, sl_workload_id id, int sign)
{
    SL_PRE(t != NULL);
    for (uint32_t set = sl_requests_first_pod_set(id); set != SL_NO_ID;
         set = sl_requests_next_pod_set(set)) {
        for (uint32_t r = sl_requests_first(set); r != SL_NO_ID; r = sl_requests_next(r)) {
            struct sl_usage *u = sl_tally_take(t, SL_NO_ID, sl_requests_resource(r));
            u->reservation = moved(u->reservation, sl_requests_amount(r), sign);
        }
    }
}

static bool is_quota(const struct sl_quotas *quotas, sl_resource_id resource, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++) {
        if (quotas->quotas[i].resource == resource) {
            return true;
        }
    }
    return false;
}

static void show_amount(const struct sl_engine *g, const struct sl_tally *t,
                        sl_resource_id resource, sl_amount_fn *visit, void *context)
{
    const struct sl_usage *u = sl_tally_find(t, SL_NO_ID, resource);
    int64_t amount = u == NULL ? 0 : u->reservation;
    visit(context, sl_intern_name(g->names, SL_INTERN_RESOURCE, resource),
          amount < 0 ? INT64_MAX : amount);
}

void sl_engine_pending_requests(const struct sl_engine *g, const char *cluster_queue,
                                sl_amount_fn *visit, void *context)
{
    sl_qnode_id qnode = sl_qnode_find(g, true, cluster_queue);
    if (qnode == SL_NO_ID) {
        return;
    }
    const struct sl_qnode_entry *n = g->qnodes[qnode];
    for (uint32_t i = 0; i < n->quotas.quota_count; i++) {
        if (!is_quota(&n->quotas, n->quotas.quotas[i].resource, i)) {
            show_amount(g, &n->tally, n->quotas.quotas[i].resource, visit, context);
        }
    }
    for (uint32_t i = 0; i < n->tally.usage_count; i++) {
        const struct sl_usage *u = &n->tally.usages[i];
        if (u->flavor == SL_NO_ID && u->reservation != 0 &&
            !is_quota(&n->quotas, u->resource, n->quotas.quota_count)) {
            show_amount(g, &n->tally, u->resource, visit, context);
        }
    }
}

/* --- why it is not admitted ------------------------------------------------------------------- */

static void note(struct sl_tally *t, uint32_t why, int sign)
{
    if (t->unadmitted == NULL) {
        t->unadmitted = sl_mem_new(SL_UNADMITTED_COUNT, sizeof *t->unadmitted);
    }
    t->unadmitted[why] += (uint32_t)sign;
}

static void count(struct sl_engine *g, const struct sl_workload_entry *e, int sign)
{
    if (e->unadmitted == 0) {
        return;
    }
    note(&e->queue->tally, e->unadmitted, sign);
    if (e->unadmitted_at != SL_NO_ID) {
        note(&g->qnodes[e->unadmitted_at]->tally, e->unadmitted, sign);
    }
}

/* In which ClusterQueue it is not admitted, stopped or not: that of its LocalQueue. */
static sl_qnode_id place_of(const struct sl_engine *g, const struct sl_local_queue *q)
{
    bool known = g->synced && q->exists && q->cluster_queue != SL_NO_ID &&
                 g->qnodes[q->cluster_queue]->exists;
    return known ? q->cluster_queue : SL_NO_ID;
}

void sl_waiting_update(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    uint32_t why = e->family != 0 ? 0 : sl_condition_unadmitted(&sl_workloads[id]);
    sl_qnode_id at = place_of(g, e->queue);
    if (why == e->unadmitted && at == e->unadmitted_at) {
        return;
    }
    count(g, e, -1);
    e->unadmitted = (uint8_t)why;
    e->unadmitted_at = at;
    count(g, e, 1);
}

void sl_waiting_leave(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    count(g, e, -1);
    e->unadmitted = 0;
    e->unadmitted_at = SL_NO_ID;
}

void sl_engine_unadmitted(const struct sl_engine *g, enum sl_kind kind, const char *ns,
                          const char *name, sl_unadmitted_fn *visit, void *context)
{
    SL_PRE(g != NULL && name != NULL && visit != NULL);
    bool local = kind == SL_KIND_LOCAL_QUEUE;
    const struct sl_local_queue *q = local ? sl_local_queue_find(g, ns, name) : NULL;
    sl_qnode_id at = q != NULL ? place_of(g, q) : local ? SL_NO_ID : sl_qnode_find(g, true, name);
    if (at == SL_NO_ID) {
        return;
    }
    const struct sl_tally *t = local ? &q->tally : &g->qnodes[at]->tally;
    for (uint32_t why = 1; why < SL_UNADMITTED_COUNT; why++) {
        uint32_t parents =
            local ? sl_parent_figures_local(g, q, why) : sl_parent_figures_cluster(g, at, why);
        struct sl_unadmitted u = {.cluster_queue = g->qnodes[at]->name,
                                  .count =
                                      parents + (t->unadmitted == NULL ? 0 : t->unadmitted[why])};
        if (u.count > 0) {
            sl_condition_unadmitted_texts(why, &u.reason, &u.cause);
            visit(context, &u);
        }
    }
}

/* --- shapes ------------------------------------------------------------------------------------ */

/* Of what is tried, or waits, by itself in a queue so many are compared; of more each is taken for another sort, so that a
 * page does not take longer than that. A power of two. */
#define COMPARED_MAX 1024u

struct sorts {
    uint64_t seen[2 * COMPARED_MAX]; /* by hash; 0 = free */
    uint32_t compared, count;
};

static void add_sort(struct sorts *s, sl_workload_id id)
{
    uint64_t hash = sl_shape_hash(id);
    hash = hash == 0 ? 1 : hash;
    uint32_t at = (uint32_t)(hash % (2 * COMPARED_MAX));
    while (s->seen[at] != 0 && s->seen[at] != hash) {
        at = (at + 1) % (2 * COMPARED_MAX);
    }
    s->count += s->seen[at] == 0;
    s->seen[at] = hash;
    s->compared++;
}

static void add_heap(struct sorts *s, sl_heap_id heap)
{
    uint32_t count = sl_heap_count(heap);
    uint32_t left = COMPARED_MAX - s->compared;
    uint32_t looked_at = count < left ? count : left;
    for (uint32_t i = 0; i < looked_at; i++) {
        add_sort(s, sl_heap_at(heap, i + 1));
    }
    sl_effort_add(looked_at);
    s->count += count - looked_at;
}

/* In the line of a queue is one workload of each sort that may be tried, or each one (StrictFIFO). */
static void add_line(struct sorts *s, sl_qnode_id queue)
{
    for (sl_heap_id heap = SL_HEAP_OF_QUEUE(queue); heap != SL_NO_ID;
         heap = sl_fronts_next_heap(queue, heap)) {
        add_heap(s, heap);
    }
}

/* What waits for a change: all of a sort together, or by itself. */
static void add_parked(struct sorts *s, sl_qnode_id queue)
{
    uint32_t together = 0;
    for (uint32_t at = sl_lanes_first(queue, true); at != SL_NO_ID; at = sl_lanes_next(at)) {
        if (s->compared < COMPARED_MAX && sl_lanes_best(at) != SL_NO_ID) {
            add_sort(s, sl_lanes_best(at));
        } else {
            together++;
        }
        sl_effort_add(1);
    }
    s->count += together;
    add_heap(s, SL_HEAP_OF_ALONE(queue));
    add_heap(s, SL_HEAP_OF_BACKOFF(queue));
}

/* In a queue that is stopped or cannot be used nothing is in line. */
static void add_stopped(const struct sl_engine *g, struct sorts *s, sl_qnode_id queue)
{
    const struct sl_qnode_entry *n = g->qnodes[queue];
    uint32_t left = 4 * COMPARED_MAX; /* to be looked at */
    for (const struct sl_local_queue *q = n->first_queue; q != NULL; q = q->next) {
        for (sl_workload_id id = q->first; id != SL_NO_ID && left > 0 && s->compared < COMPARED_MAX;
             id = g->workloads[id].next, left--) {
            if (sl_workloads[id].phase == SL_PHASE_PENDING &&
                g->workloads[id].counted_at == queue) {
                add_sort(s, id);
            }
        }
    }
    sl_effort_add(4 * COMPARED_MAX - left);
    s->count += n->tally.pending > s->compared ? n->tally.pending - s->compared : 0;
}

bool sl_engine_pending_shapes(const struct sl_engine *g, const char *cluster_queue,
                              struct sl_pending_shapes *out)
{
    SL_PRE(g != NULL && cluster_queue != NULL && out != NULL);
    sl_qnode_id qnode = sl_qnode_find(g, true, cluster_queue);
    if (!g->settings.policy.equivalence_hashing || qnode == SL_NO_ID) {
        return false;
    }
    struct sorts *line = sl_mem_new(2, sizeof *line);
    struct sorts *parked = &line[1];
    if (g->qnodes[qnode]->active) {
        add_line(line, qnode);
        add_parked(parked, qnode);
    } else {
        add_stopped(g, parked, qnode);
    }
    *out = (struct sl_pending_shapes){.active = line->count, .inadmissible = parked->count};
    sl_mem_free(line);
    return true;
}
