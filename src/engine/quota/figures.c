/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Figures for metrics: of each queue, and of all. */
#include "base/check.h"
#include "engine/quota/parent_figures.h"
#include "engine/quota/tallies.h"
#include "engine/state.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/requests/requests.h"
#include "policy/cycle/cycle.h"
#include "policy/queues/queues.h"
#include "policy/fair/shares.h"
#include "policy/fair/usage.h"
#include <math.h>
#include <string.h>

/* Of those that wait in the LocalQueue, how many await their turn? Looked at one by one only where the ClusterQueue
 * has both sorts. */
static uint32_t in_turn(const struct sl_engine *g, const struct sl_local_queue *q)
{
    const struct sl_qnode_entry *n = g->qnodes[q->cluster_queue];
    uint32_t all_in_turn = sl_queues_heap_count(q->cluster_queue);
    uint32_t count = 0;
    if (all_in_turn == 0 || all_in_turn >= n->tally.pending) {
        return all_in_turn == 0 ? 0 : q->tally.pending;
    }
    for (sl_workload_id id = q->first; id != SL_NO_ID; id = g->workloads[id].next) {
        count += sl_tally_waits(g, id) && sl_queues_awaits_turn(id);
    }
    return count;
}

/* Of one of the two. */
static uint32_t parents_finished(const struct sl_engine *g, const struct sl_local_queue *q,
                                 sl_qnode_id qnode)
{
    if (g->parents == NULL) {
        return 0;
    }
    return q != NULL ? sl_parent_figures_local(g, q, SL_PARENT_FINISHED)
                     : sl_parent_figures_cluster(g, qnode, SL_PARENT_FINISHED);
}

/* In a ClusterQueue that is stopped or cannot be used nobody's turn comes. */
static bool cluster_queue_figures(const struct sl_engine *g, const char *name,
                                  struct sl_queue_figures *out)
{
    sl_qnode_id qnode = sl_qnode_find(g, true, name);
    if (qnode == SL_NO_ID || !g->qnodes[qnode]->exists) {
        return false;
    }
    const struct sl_qnode_entry *n = g->qnodes[qnode];
    uint32_t active = n->active ? sl_queues_heap_count(qnode) : 0;
    *out = (struct sl_queue_figures){
        .active = active,
        .inadmissible = n->tally.pending > active ? n->tally.pending - active : 0,
        .reserving = n->tally.reserving,
        .admitted = n->tally.admitted,
        .finished = n->tally.finished + parents_finished(g, NULL, qnode),
        .open = n->active,
        .deleting = n->deleting,
        .preemption_skips = n->contests.skips,
        .deferred_fits = n->contests.recomputed[SL_RECOMPUTED_DEFERRED],
        .new_targets = n->contests.recomputed[SL_RECOMPUTED_NEW_VICTIMS],
        .skipped_targets = n->contests.recomputed[SL_RECOMPUTED_SKIPPED]};
    return true;
}

static bool local_queue_figures(const struct sl_engine *g, const char *ns, const char *name,
                                struct sl_queue_figures *out)
{
    const struct sl_local_queue *q = sl_local_queue_find(g, ns, name);
    if (q == NULL || !q->exists) {
        return false;
    }
    bool open = q->cluster_queue != SL_NO_ID && g->qnodes[q->cluster_queue]->active;
    uint32_t pending = q->stop == SL_STOP_NONE ? q->tally.pending : 0;
    uint32_t active = open && pending > 0 ? in_turn(g, q) : 0;
    *out =
        (struct sl_queue_figures){.active = active,
                                  .inadmissible = pending > active ? pending - active : 0,
                                  .reserving = q->tally.reserving,
                                  .admitted = q->tally.admitted,
                                  .finished = q->tally.finished + parents_finished(g, q, SL_NO_ID),
                                  .open = open && q->stop == SL_STOP_NONE};
    return true;
}

bool sl_engine_queue_figures(const struct sl_engine *g, enum sl_kind kind, const char *ns,
                             const char *name, struct sl_queue_figures *out)
{
    SL_PRE(g != NULL && name != NULL && out != NULL);
    return kind == SL_KIND_CLUSTER_QUEUE ? cluster_queue_figures(g, name, out)
                                         : local_queue_figures(g, ns, name, out);
}

/* In the order of the ClusterQueue's spec. */
void sl_engine_queue_usages(const struct sl_engine *g, const char *ns, const char *name,
                            sl_usage_fn *visit, void *context)
{
    const struct sl_local_queue *q = sl_local_queue_find(g, ns, name);
    if (q == NULL || !q->exists || q->cluster_queue == SL_NO_ID) {
        return;
    }
    const struct sl_quotas *quotas = &g->qnodes[q->cluster_queue]->quotas;
    for (uint32_t i = 0; i < quotas->quota_count; i++) {
        const struct sl_quota *quota = &quotas->quotas[i];
        const struct sl_usage *u = sl_tally_find(&q->tally, quota->flavor, quota->resource);
        visit(context, &(struct sl_queue_usage){
                           sl_intern_name(g->names, SL_INTERN_FLAVOR, quota->flavor),
                           sl_intern_name(g->names, SL_INTERN_RESOURCE, quota->resource),
                           u == NULL ? 0 : u->reservation, u == NULL ? 0 : u->usage});
    }
}

static double weight_of(const struct sl_engine *g, const char *resource)
{
    const struct sl_engine_settings *s = &g->settings;
    for (size_t i = 0; i < s->usage_weight_count; i++) {
        if (strcmp(s->usage_weight_resources[i], resource) == 0) {
            return (double)s->usage_weights_nano[i] / SL_WEIGHT_ONE;
        }
    }
    return 1;
}

bool sl_engine_queue_fair_usage(const struct sl_engine *g, const char *ns, const char *name,
                                const char **cluster_queue, double *usage)
{
    const struct sl_local_queue *q = sl_local_queue_find(g, ns, name);
    if (q == NULL || q->account == SL_NO_ID) {
        return false;
    }
    double sum = 0;
    uint32_t resources = sl_intern_count(g->names, SL_INTERN_RESOURCE);
    for (sl_resource_id r = 0; r < resources; r++) {
        struct sl_usage_amount used =
            sl_usage_add(sl_usage_consumed(q->account, r), sl_usage_pending(q->account, r));
        if (used.milli > 0 || used.parts > 0) {
            sum += weight_of(g, sl_intern_name(g->names, SL_INTERN_RESOURCE, r)) *
                   ((double)used.milli + (double)used.parts / SL_USAGE_PARTS);
        }
    }
    *usage = q->weight_nano > 0 ? sum / 1000 / ((double)q->weight_nano / SL_WEIGHT_ONE) : INFINITY;
    *cluster_queue = q->cluster_queue == SL_NO_ID ? "" : g->qnodes[q->cluster_queue]->name;
    return true;
}

unsigned sl_engine_news(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return g->news;
}

void sl_engine_count(const struct sl_engine *g, struct sl_engine_counters *out)
{
    SL_PRE(g != NULL && out != NULL);
    *out = g->counters;
    out->passes_armed = sl_second_pass_count();
    out->journal_lost = g->journal == NULL ? 0 : sl_journal_lost(g->journal);
    uint64_t usage =
        (uint64_t)g->counters.holding * SL_USAGE_CELLS_MAX * (sizeof(sl_cell_id) + sizeof(int64_t));
    uint64_t requests = sl_requests_sets_used() * 24ull + sl_requests_rows_used() * 16ull +
                        sl_requests_exclusions_used() * 12ull;
    out->core_bytes = g->counters.workloads * (sizeof(struct sl_workload) + 96ull) + usage +
                      requests + sl_intern_count(g->names, SL_INTERN_QNODE) * 256ull;
}

/* In Kueue's order of operations, so that the number is the same to the last bit. */
bool sl_engine_weighted_share(const struct sl_engine *g, enum sl_kind kind, const char *name,
                              double *out)
{
    SL_PRE(g != NULL && name != NULL && out != NULL);
    sl_qnode_id qnode = sl_qnode_find(g, kind == SL_KIND_CLUSTER_QUEUE, name);
    if (!g->settings.policy.fair_sharing || qnode == SL_NO_ID || !g->qnodes[qnode]->exists) {
        return false;
    }
    struct sl_share share = sl_shares_of(qnode);
    if (share.borrowed == 0) {
        *out = 0;
    } else if (share.weight == 0) {
        *out = NAN;
    } else {
        *out = (double)share.borrowed * 1000 / (double)share.lendable /
               ((double)share.weight / SL_WEIGHT_ONE);
    }
    return true;
}
