/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How many workloads each queue has in which state, and how much they use: kept up to date change
 * by change, so that a status costs nothing but its printing. */
#include "base/check.h"
#include "base/mem.h"
#include "engine/quota/tallies.h"
#include "engine/quota/waiting.h"
#include "engine/state.h"
#include "kernel/commit/variants.h"
#include "kernel/ledger/ledger.h"

static void touch(struct sl_engine *g, struct sl_touched t)
{
    g->touched =
        sl_mem_reach(g->touched, &g->touched_cap, 64, g->touched_count, sizeof *g->touched);
    g->touched[g->touched_count++] = t;
}

static void touch_one(struct sl_engine *g, sl_qnode_id qnode)
{
    struct sl_qnode_entry *n = g->qnodes[qnode];
    if (n != NULL && !n->touched) {
        n->touched = true;
        touch(g, (struct sl_touched){n->is_cluster_queue ? SL_KIND_CLUSTER_QUEUE : SL_KIND_COHORT,
                                     qnode, NULL});
    }
}

/* With fair sharing its cohorts, too: what they show of their share is what their queues use. */
static void touch_qnode(struct sl_engine *g, sl_qnode_id qnode)
{
    touch_one(g, qnode);
    for (sl_qnode_id above = sl_ledger_parent_qnode(qnode);
         g->settings.policy.fair_sharing && above != SL_NO_ID;
         above = sl_ledger_parent_qnode(above)) {
        touch_one(g, above);
    }
}

void sl_touch_qnode(struct sl_engine *g, sl_qnode_id qnode)
{
    if (qnode == SL_NO_ID) {
        return;
    }
    touch_qnode(g, qnode);
    /* What ends in one queue of a cohort may be what another one held too much. */
    for (sl_qnode_id n = 0; g->exceeded_count > 0 && n < g->qnode_cap; n++) {
        if (g->qnodes[n] != NULL && g->qnodes[n]->exceeded) {
            touch_qnode(g, n);
        }
    }
}

void sl_touch_holders(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    for (sl_qnode_id n = 0; g->synced && n < g->qnode_cap; n++) {
        if (g->qnodes[n] != NULL && g->qnodes[n]->tally.reserving > 0) {
            touch_qnode(g, n);
        }
    }
}

void sl_touch_queue(struct sl_engine *g, struct sl_local_queue *q)
{
    if (!q->touched) {
        q->touched = true;
        touch(g, (struct sl_touched){SL_KIND_LOCAL_QUEUE, SL_NO_ID, sl_mem_text(q->key)});
    }
}

static enum sl_standing standing_of(sl_workload_id id)
{
    const struct sl_workload *w = &sl_workloads[id];
    if (sl_lifecycle_holds_quota(id)) {
        return w->was_admitted ? SL_STANDING_ADMITTED : SL_STANDING_RESERVING;
    }
    if (w->phase == SL_PHASE_FINISHED && sl_variants_family(id) == SL_NO_ID) {
        return SL_STANDING_FINISHED; /* of variants it is their parent that counts */
    }
    return w->phase == SL_PHASE_PENDING && sl_lifecycle_admissible(id) ? SL_STANDING_PENDING
                                                                       : SL_STANDING_NONE;
}

struct sl_usage *sl_tally_find(const struct sl_tally *t, sl_flavor_id flavor,
                               sl_resource_id resource)
{
    SL_PRE(t != NULL);
    for (uint32_t i = 0; i < t->usage_count; i++) {
        if (t->usages[i].flavor == flavor && t->usages[i].resource == resource) {
            return &t->usages[i];
        }
    }
    return NULL;
}

struct sl_usage *sl_tally_take(struct sl_tally *t, sl_flavor_id flavor, sl_resource_id resource)
{
    SL_PRE(t != NULL);
    struct sl_usage *known = sl_tally_find(t, flavor, resource);
    if (known != NULL) {
        return known;
    }
    t->usages = sl_mem_grow(t->usages, t->usage_count + 1, sizeof *t->usages);
    t->usages[t->usage_count] = (struct sl_usage){flavor, resource, 0, 0};
    return &t->usages[t->usage_count++];
}

/* sign is 1 or -1; `waits`: whose requests count where it is pending. */
static void count(struct sl_tally *t, enum sl_standing standing,
                  const struct sl_admission *admission, sl_workload_id waits, int sign)
{
    bool admitted = standing == SL_STANDING_ADMITTED;
    bool holds = admitted || standing == SL_STANDING_RESERVING;
    t->finished += standing == SL_STANDING_FINISHED ? (uint32_t)sign : 0;
    if (standing == SL_STANDING_PENDING) {
        t->pending += (uint32_t)sign;
        sl_waiting_count(t, waits, sign);
    }
    t->reserving += holds ? (uint32_t)sign : 0;
    t->admitted += admitted ? (uint32_t)sign : 0;
    for (uint32_t i = 0; holds && admission != NULL && i < admission->choice_count; i++) {
        struct sl_usage *u =
            sl_tally_take(t, admission->choices[i].flavor, admission->choices[i].resource);
        int64_t amount = sl_admission_amount(admission, i);
        u->reservation += sign * amount;
        u->usage += admitted ? sign * amount : 0;
        SL_ASSERT(u->reservation >= 0 && u->usage >= 0 && u->usage <= u->reservation);
    }
}

static void count_everywhere(struct sl_engine *g, const struct sl_workload_entry *e, int sign)
{
    if (!e->standing) {
        return;
    }
    count(&e->queue->tally, e->standing, e->admission, SL_NO_ID, sign);
    if (e->counted_at != SL_NO_ID) {
        count(&g->qnodes[e->counted_at]->tally, e->standing, e->admission,
              (sl_workload_id)(e - g->workloads), sign);
        sl_touch_qnode(g, e->counted_at);
    }
    sl_touch_queue(g, e->queue);
    g->counters.pending += e->standing == SL_STANDING_PENDING ? (uint32_t)sign : 0;
    g->counters.holding += e->standing >= SL_STANDING_RESERVING ? (uint32_t)sign : 0;
}

/* Holders count where their quota is, the others where they would be tried, or were: what is wrong with the ClusterQueue, or
 * with themselves, makes them wait there. A stopped LocalQueue is not looked into, as in Kueue: nobody waits in it. */
static sl_qnode_id place_to_count(const struct sl_engine *g, const struct sl_workload_entry *e,
                                  enum sl_standing standing)
{
    const struct sl_local_queue *q = e->queue;
    if (standing >= SL_STANDING_RESERVING) {
        return e->held_at;
    }
    bool known = g->synced && q->exists && q->cluster_queue != SL_NO_ID &&
                 g->qnodes[q->cluster_queue]->exists;
    bool there = standing == SL_STANDING_FINISHED ||
                 (standing == SL_STANDING_PENDING && q->stop == SL_STOP_NONE);
    return known && there ? q->cluster_queue : SL_NO_ID;
}

static void recount(struct sl_engine *g, struct sl_workload_entry *e, enum sl_standing as,
                    sl_qnode_id at)
{
    count_everywhere(g, e, -1);
    e->standing = as;
    e->counted_at = at;
    count_everywhere(g, e, 1);
}

void sl_tally_update(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    enum sl_standing standing = standing_of(id);
    sl_qnode_id at = place_to_count(g, e, standing);
    sl_waiting_update(g, id);
    if (standing == e->standing && at == e->counted_at) {
        return;
    }
    recount(g, e, standing, at);
}

bool sl_tally_waits(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    return g->workloads[id].standing == SL_STANDING_PENDING;
}

void sl_tally_leave(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    sl_waiting_leave(g, id);
    recount(g, e, 0, SL_NO_ID);
}

void sl_tally_move(struct sl_engine *g, sl_workload_id id, struct sl_local_queue *to)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    sl_waiting_leave(g, id);
    count_everywhere(g, e, -1);
    sl_workload_unlist(g, id);
    sl_workload_enlist(g, id, to);
    count_everywhere(g, e, 1);
    sl_waiting_update(g, id);
}

void sl_tally_reclaim(struct sl_engine *g, sl_workload_id id, uint32_t pod_set, int64_t gone)
{
    struct sl_workload_entry *e = &g->workloads[id];
    SL_PRE(e->admission != NULL && pod_set < e->admission->pod_set_count);
    count_everywhere(g, e, -1);
    e->admission->reclaimed[pod_set] = gone;
    count_everywhere(g, e, 1);
}
