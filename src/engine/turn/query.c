/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What is going on: statuses of queues, what waits and why, and figures. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/effort.h"
#include "base/mem.h"
#include "engine/quota/accounts.h"
#include "engine/events/activity.h"
#include "engine/conditions/conditions.h"
#include "engine/quota/tallies.h"
#include "engine/conditions/message.h"
#include "engine/decisions/preemption_gates.h"
#include "engine/decisions/standing.h"
#include "engine/turn/query.h"
#include "engine/state.h"
#include "kernel/base/order.h"
#include "kernel/lifecycle/excess.h"
#include "policy/queues/heads.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/queues.h"
#include "policy/fair/shares.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_STEPS 100u /* of the flavors that are tried for one that waits: about 20 us */

/* --- statuses --------------------------------------------------------------------------------- */

static struct sl_json *new_active(bool active, const char *reason, const char *message)
{
    struct sl_json *a = sl_json_new_map();
    sl_json_set_text(a, "status", active ? "True" : "False");
    sl_json_set_text(a, "reason", reason);
    sl_json_set_text(a, "message", message);
    return a;
}

static int64_t nominal_of(const struct sl_qnode_entry *n, sl_flavor_id flavor,
                          sl_resource_id resource)
{
    for (uint32_t i = 0; i < n->quotas.quota_count; i++) {
        if (n->quotas.quotas[i].flavor == flavor && n->quotas.quotas[i].resource == resource) {
            return n->quotas.quotas[i].nominal;
        }
    }
    return 0;
}

struct usage_question {
    const struct sl_engine *g;
    const struct sl_qnode_entry *n; /* whose flavors are listed */
    const struct sl_tally *tally;
    sl_qnode_id qnode;
    enum { RESERVED, USED, EXCESS } what;
    bool borrowed; /* say what is borrowed as well */
};

static struct sl_json *new_resource(const struct usage_question *q, sl_flavor_id flavor,
                                    sl_resource_id resource)
{
    char text[64];
    const struct sl_usage *u = sl_tally_find(q->tally, flavor, resource);
    int64_t total = u == NULL ? 0 : q->what == USED ? u->usage : u->reservation;
    const char *name = sl_intern_name(q->g->names, SL_INTERN_RESOURCE, resource);
    struct sl_json *item = sl_json_new_map();
    if (q->what == EXCESS) {
        total = sl_excess_of(sl_ledger_find_cell(q->qnode, flavor, resource));
    }
    sl_json_set_text(item, "name", name);
    sl_quantity_print_amount(total, name, text);
    sl_json_set_text(item, "total", text);
    if (q->borrowed) {
        int64_t over = total - nominal_of(q->n, flavor, resource);
        sl_quantity_print_amount(over > 0 && q->n->parent != SL_NO_ID ? over : 0, name, text);
        sl_json_set_text(item, "borrowed", text);
    }
    return item;
}

/* In the order of the ClusterQueue's spec. */
static struct sl_json *new_usages(const struct usage_question *q)
{
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; q->n != NULL && i < q->n->quotas.group_count; i++) {
        const struct sl_group *group = &q->n->quotas.groups[i];
        for (uint32_t f = 0; f < group->flavor_count; f++) {
            struct sl_json *flavor = sl_json_new_map();
            struct sl_json *resources = sl_json_new_list();
            for (uint32_t r = 0; r < group->resource_count; r++) {
                sl_json_append(resources, new_resource(q, group->flavors[f], group->resources[r]));
            }
            sl_json_set_text(flavor, "name",
                             sl_intern_name(q->g->names, SL_INTERN_FLAVOR, group->flavors[f]));
            sl_json_set(flavor, "resources", resources);
            sl_json_append(list, flavor);
        }
    }
    return list;
}

static struct sl_json *new_counts(const struct sl_engine *g, const struct sl_qnode_entry *n,
                                  const struct sl_tally *tally, bool borrowed)
{
    struct sl_json *status = sl_json_new_map();
    struct usage_question q = {g, n, tally, SL_NO_ID, RESERVED, borrowed};
    sl_json_set_int(status, "pendingWorkloads", tally->pending);
    sl_json_set_int(status, "reservingWorkloads", tally->reserving);
    sl_json_set_int(status, "admittedWorkloads", tally->admitted);
    if (n == NULL || !n->exists) { /* there is nothing that could be used */
        sl_json_set(status, "flavorsReservation", sl_json_new_null());
        sl_json_set(status, "flavorsUsage", sl_json_new_null());
        return status;
    }
    sl_json_set(status, "flavorsReservation", new_usages(&q));
    q.what = USED;
    sl_json_set(status, "flavorsUsage", new_usages(&q));
    return status;
}

static struct sl_json *local_queue_active(const struct sl_local_queue *q,
                                          const struct sl_qnode_entry *n)
{
    static const char inactive[] = "Can't submit new workloads to clusterQueue";
    if (q->stop != SL_STOP_NONE) {
        return new_active(false, "Stopped", "LocalQueue is stopped");
    }
    if (n == NULL || !n->exists) {
        return new_active(false, "ClusterQueueDoesNotExist", inactive);
    }
    if (!n->active) {
        return new_active(false, "ClusterQueueIsInactive", inactive);
    }
    return new_active(true, "Ready", "Can submit new workloads to localQueue");
}

static struct sl_json *local_queue_status(const struct sl_engine *g, const char *ns,
                                          const char *name)
{
    const struct sl_local_queue *q = sl_local_queue_find(g, ns, name);
    if (q == NULL || !q->exists) {
        return NULL;
    }
    const struct sl_qnode_entry *n =
        q->cluster_queue == SL_NO_ID ? NULL : g->qnodes[q->cluster_queue];
    struct sl_json *status = new_counts(g, n, &q->tally, false);
    if (q->stop != SL_STOP_NONE) {
        sl_json_set_int(status, "pendingWorkloads", 0); /* see tallies.c */
    }
    sl_json_set(status, "active", local_queue_active(q, n));
    struct sl_json *share = sl_accounts_status_new(g, q);
    if (share != NULL) {
        sl_json_set(status, "fairSharing", share);
    }
    return status;
}

/* What it holds beyond all that its quota and its cohorts allow, since some quota was lowered. */
static void add_excess(struct sl_engine *g, sl_qnode_id qnode, struct sl_json *status)
{
    struct sl_qnode_entry *n = g->qnodes[qnode];
    struct usage_question q = {g, n, &n->tally, qnode, EXCESS, false};
    bool exceeded = false;
    for (uint32_t i = 0; i < n->quotas.quota_count && !exceeded; i++) {
        const struct sl_quota *quota = &n->quotas.quotas[i];
        exceeded = sl_excess_of(sl_ledger_find_cell(qnode, quota->flavor, quota->resource)) > 0;
    }
    sl_json_set(status, "quotaExcess", new_usages(&q));
    g->exceeded_count += exceeded;
    g->exceeded_count -= n->exceeded;
    n->exceeded = exceeded; /* it is touched until that is over (tallies.c) */
}

/* How much of the cohort's spare quota it uses, for its weight, as Kueue shows it. */
static void add_share(const struct sl_engine *g, sl_qnode_id qnode, struct sl_json *status)
{
    if (g->settings.policy.fair_sharing) {
        sl_json_set_int(sl_json_path_make(status, "fairSharing"), "weightedShare",
                        sl_shares_shown(sl_shares_of(qnode)));
    }
}

/* Not holder_count: that has also those that have finished, which keep their admission for the record. */
uint32_t sl_engine_holders(const struct sl_engine *g, const char *cluster_queue)
{
    sl_qnode_id qnode = sl_qnode_find(g, true, cluster_queue);
    return qnode == SL_NO_ID ? 0 : g->qnodes[qnode]->tally.reserving;
}

struct sl_json *sl_engine_queue_status(struct sl_engine *g, enum sl_kind kind, const char *ns,
                                       const char *name)
{
    SL_PRE(g != NULL && name != NULL);
    if (kind == SL_KIND_LOCAL_QUEUE) {
        return local_queue_status(g, ns == NULL ? "" : ns, name);
    }
    sl_qnode_id qnode = sl_qnode_find(g, kind == SL_KIND_CLUSTER_QUEUE, name);
    if (qnode == SL_NO_ID || !g->qnodes[qnode]->exists) {
        return NULL;
    }
    const struct sl_qnode_entry *n = g->qnodes[qnode];
    if (kind == SL_KIND_CLUSTER_QUEUE) {
        struct sl_json *status = new_counts(g, n, &n->tally, true);
        sl_json_set(status, "active", new_active(n->active, n->reason, n->message));
        add_share(g, qnode, status);
        add_excess(g, qnode, status);
        return status;
    }
    struct sl_json *status = sl_json_new_map();
    sl_json_set(
        status, "active",
        sl_qnode_in_loop(g, qnode)
            ? new_active(false, "CohortCycle", "Its cohorts form a cycle, or are nested too deep")
        : n->trouble != NULL ? new_active(false, "InvalidSpec", n->trouble)
                             : new_active(true, "Ready", "Quotas are in force"));
    add_share(g, qnode, status);
    return status;
}

bool sl_engine_next_touched(struct sl_engine *g, enum sl_kind *kind, const char **ns,
                            const char **name)
{
    while (g->touched_first < g->touched_count) {
        struct sl_touched t = g->touched[g->touched_first++];
        sl_mem_free(g->lent);
        g->lent = t.key;
        *kind = t.kind;
        *ns = "";
        if (t.key == NULL) {
            if (g->qnodes[t.qnode] == NULL || !g->qnodes[t.qnode]->touched) {
                continue; /* given back, or its number is another's by now */
            }
            g->qnodes[t.qnode]->touched = false;
            *name = g->qnodes[t.qnode]->name;
            return true;
        }
        char *slash = strchr(t.key, '/');
        *slash = '\0';
        struct sl_local_queue *q = sl_local_queue_find(g, t.key, slash + 1);
        if (q != NULL) {
            q->touched = false;
        }
        *ns = t.key;
        *name = slash + 1;
        return true;
    }
    g->touched_first = 0;
    g->touched_count = 0;
    return false;
}

/* --- what waits ------------------------------------------------------------------------------- */

static const char *const place_names[] = {[SL_PLACE_NONE] = "none",
                                          [SL_PLACE_HEAP] = "queued",
                                          [SL_PLACE_INADMISSIBLE] = "parked",
                                          [SL_PLACE_IN_FLIGHT] = "inFlight",
                                          [SL_PLACE_HOLDING] = "holding",
                                          [SL_PLACE_SECOND_PASS] = "secondPass",
                                          [SL_PLACE_ORPHANED] = "orphaned",
                                          [SL_PLACE_DORMANT] = "dormant",
                                          [SL_PLACE_DONE] = "done"};

/* The reason as last written; for one that waits behind its like, what it would be told now. */
bool sl_query_reason(struct sl_engine *g, sl_workload_id id, struct sl_json *item)
{
    SL_PRE(g != NULL && id < SL_WORKLOADS_MAX);
    bool tried = false;
    struct sl_workload seen = sl_workloads[id];
    const struct sl_workload_entry *e = &g->workloads[id];
    char text[SL_MESSAGE_SIZE] = "";
    sl_qnode_id queue = sl_queues_queue_of(id);
    if (sl_outsiders_is(id)) {
        seen.pending_reason = SL_PENDING_MISCONFIGURED;
        (void)snprintf(text, sizeof text, "%s", sl_message_outsider);
    } else if (queue != SL_NO_ID && !sl_queues_in_backoff(id, seen.requeue_at_ms)) {
        sl_flavors_assign(id, queue, g->now_ms);
        tried = true;
        bool waits = seen.pending_reason == SL_PENDING_PREEMPTED_WORKLOADS ||
                     sl_preemption_gates_hold(g, id);
        if (sl_assignment.mode < SL_MODE_DEFERRED && !waits) {
            bool never = sl_assignment.mode == SL_MODE_NO_FIT;
            seen.pending_reason = never ? sl_assignment.reason : SL_PENDING_WAITING_FOR_QUOTA;
            sl_message_from_assignment(g, text);
        }
    }
    if (text[0] == '\0') {
        (void)snprintf(text, sizeof text, "%s", sl_words_waiting(&e->words, &seen));
    }
    sl_json_set_text(item, "reason",
                     g->settings.granular_reasons
                         ? sl_condition_pending_reason(&seen)
                         : sl_condition_legacy_reason(&seen, sl_standing_queue_to_blame(g, id)));
    sl_json_set_text(item, "message", text);
    return tried;
}

/* Attached to its queue and in one of its indexes. */
static bool is_in_line(sl_workload_id id)
{
    enum sl_place place = sl_place_of(id);
    return place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE;
}

/* As sl_queues_list orders those of a queue that does not admit by usage. */
static bool comes_before(sl_qnode_id qnode, sl_workload_id a, sl_workload_id b)
{
    bool first_a = sl_heads_is_sticky(qnode, a), first_b = sl_heads_is_sticky(qnode, b);
    return first_a != first_b ? first_a : sl_order_before(a, b);
}

/* Without a list: one look at each workload of the queue's LocalQueues. */
static bool count_position(const struct sl_engine *g, sl_workload_id id, sl_qnode_id qnode,
                           struct sl_query_position *out)
{
    uint32_t seen = 0;
    for (const struct sl_local_queue *q = g->qnodes[qnode]->first_queue; q != NULL; q = q->next) {
        uint32_t left = q->tally.pending;
        for (sl_workload_id other = q->first; other != SL_NO_ID && left > 0;
             other = g->workloads[other].next) {
            if (++seen > SL_QUERY_SEEN_MAX) {
                return false;
            }
            left -= sl_tally_waits(g, other);
            if (sl_queues_queue_of(other) == qnode && is_in_line(other)) {
                bool before = other != id && comes_before(qnode, other, id);
                out->count++;
                out->in_all += before;
                out->in_queue += before && q == g->workloads[id].queue;
            }
        }
    }
    sl_effort_add(seen / 4);
    return true;
}

static bool list_position(const struct sl_engine *g, sl_workload_id id, sl_qnode_id qnode,
                          struct sl_query_position *out)
{
    if (g->qnodes[qnode]->tally.pending > SL_QUERY_LISTED_MAX) {
        return false;
    }
    uint32_t count = sl_queues_list(qnode);
    bool found = false;
    out->count = count;
    for (uint32_t i = 0; i < count && !found; i++) {
        sl_workload_id other = sl_queues_listed(i);
        found = other == id;
        out->in_all += !found;
        out->in_queue += !found && g->workloads[other].queue == g->workloads[id].queue;
    }
    sl_effort_add(count);
    return found;
}

bool sl_query_position(const struct sl_engine *g, sl_workload_id id, struct sl_query_position *out)
{
    SL_PRE(g != NULL && id < SL_WORKLOADS_MAX);
    sl_qnode_id qnode = sl_queues_queue_of(id);
    *out = (struct sl_query_position){0};
    if (qnode == SL_NO_ID || !is_in_line(id)) {
        return false;
    }
    return sl_offers_rules(qnode).by_usage ? list_position(g, id, qnode, out)
                                           : count_position(g, id, qnode, out);
}

/* One that waits, as it was when the list was made. */
struct waiting {
    sl_workload_id id;
    uint64_t uid_high, uid_low;
    enum sl_place place;
    int64_t in_all, in_queue; /* its positions */
};

struct sl_pending {
    struct waiting *list;
    uint32_t count, cap, at;
};

struct listing {
    struct sl_engine *g;
    const struct sl_local_queue *queue; /* NULL: all of them */
    int64_t passed, offset, limit;
    int64_t position;
    struct sl_pending *out;
};

static void add_pending(struct listing *l, sl_workload_id id)
{
    struct sl_pending *p = l->out;
    const struct sl_workload_entry *e = &l->g->workloads[id];
    int64_t in_all = l->position++;
    int64_t in_queue = e->queue->listed_count++;
    if ((l->queue != NULL && l->queue != e->queue) || l->passed++ < l->offset) {
        return;
    }
    p->list = sl_mem_reach(p->list, &p->cap, 64, p->count, sizeof *p->list);
    p->list[p->count++] =
        (struct waiting){id, e->uid_high, e->uid_low, sl_place_of(id), in_all, in_queue};
}

static bool has_all(const struct listing *l)
{
    return (int64_t)l->out->count >= l->limit;
}

/* How many there are. */
static uint32_t list_standing(struct listing *l, sl_qnode_id qnode)
{
    uint32_t count = sl_queues_list(qnode);
    for (uint32_t i = 0; i < count && !has_all(l); i++) {
        add_pending(l, sl_queues_listed(i));
    }
    return count;
}

/* Somebody who waits, but stands in no line. */
struct apart {
    struct sl_order_key key;
    sl_workload_id id;
};

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* As the kernel orders those who stand in line (kernel/base/order.h). */
static int compare_apart(const void *left, const void *right)
{
    const struct apart *a = left;
    const struct apart *b = right;
    if (a->key.priority != b->key.priority) {
        return a->key.priority > b->key.priority ? -1 : 1;
    }
    if (a->key.queued_at_ms != b->key.queued_at_ms) {
        return a->key.queued_at_ms < b->key.queued_at_ms ? -1 : 1;
    }
    int by_uid = compare(a->key.uid_high, b->key.uid_high);
    by_uid = by_uid != 0 ? by_uid : compare(a->key.uid_low, b->key.uid_low);
    return by_uid != 0 ? by_uid : compare(a->id, b->id);
}

/* Those who are counted in the ClusterQueue and in no line: all, where it is stopped or cannot be used; else those who
 * cannot be tried for what they are themselves. They come last. */
static void list_apart(struct listing *l, sl_qnode_id qnode, uint32_t standing)
{
    const struct sl_engine *g = l->g;
    uint32_t all = g->qnodes[qnode]->tally.pending;
    uint32_t count = 0;
    if (all <= standing || has_all(l)) {
        return;
    }
    struct apart *list = sl_mem_new(all, sizeof *list);
    for (struct sl_local_queue *q = g->qnodes[qnode]->first_queue; q != NULL; q = q->next) {
        for (sl_workload_id id = q->first; id != SL_NO_ID && count < all;
             id = g->workloads[id].next) {
            if (sl_tally_waits(g, id) && g->workloads[id].counted_at == qnode &&
                sl_place_of(id) == SL_PLACE_ORPHANED) {
                list[count++] = (struct apart){sl_standing_key(g, id), id};
            }
        }
    }
    qsort(list, count, sizeof *list, compare_apart);
    for (uint32_t i = 0; i < count && !has_all(l); i++) {
        add_pending(l, list[i].id);
    }
    sl_mem_free(list);
}

struct sl_pending *sl_engine_pending_new(struct sl_engine *g, const char *cluster_queue,
                                         const struct sl_pending_range *range)
{
    SL_PRE(g != NULL && cluster_queue != NULL);
    struct sl_pending *p = sl_mem_new(1, sizeof *p);
    struct listing l = {.g = g, .limit = INT64_MAX, .out = p};
    sl_qnode_id qnode = sl_qnode_find(g, true, cluster_queue);
    if (range != NULL) {
        l.offset = range->offset;
        l.limit = range->limit;
        l.queue = range->local_queue == NULL
                      ? NULL
                      : sl_local_queue_find(g, range->ns, range->local_queue);
    }
    if (qnode == SL_NO_ID || (range != NULL && range->local_queue != NULL && l.queue == NULL)) {
        return p;
    }
    for (struct sl_local_queue *q = g->qnodes[qnode]->first_queue; q != NULL; q = q->next) {
        q->listed_count = 0;
    }
    list_apart(&l, qnode, list_standing(&l, qnode));
    return p;
}

void sl_engine_pending_free(struct sl_pending *p)
{
    if (p != NULL) {
        sl_mem_free(p->list);
        sl_mem_free(p);
    }
}

/* It may have been admitted or deleted since, and its number may be another's. */
static bool still_waits(const struct sl_engine *g, const struct waiting *w)
{
    const struct sl_workload_entry *e = &g->workloads[w->id];
    enum sl_place place = e->uid == NULL ? SL_PLACE_NONE : sl_place_of(w->id);
    bool elsewhere = place == SL_PLACE_NONE || place == SL_PLACE_HOLDING ||
                     place == SL_PLACE_DORMANT || place == SL_PLACE_DONE;
    return e->uid != NULL && e->queue != NULL && e->uid_high == w->uid_high &&
           e->uid_low == w->uid_low && (place == w->place || !elsewhere);
}

static struct sl_json *new_item(struct sl_engine *g, const struct waiting *w)
{
    const struct sl_workload_entry *e = &g->workloads[w->id];
    const char *key = sl_intern_name(g->names, SL_INTERN_WORKLOAD, w->id);
    struct sl_json *item = sl_json_new_map();
    sl_json_set_text(item, "namespace", e->queue->ns);
    sl_json_set_text(item, "name", key + strlen(e->queue->ns) + 1);
    sl_json_set_int(item, "priority", e->priority);
    sl_json_set_text(item, "localQueueName", e->queue->name);
    sl_json_set_int(item, "positionInClusterQueue", w->in_all);
    sl_json_set_int(item, "positionInLocalQueue", w->in_queue);
    sl_json_set_text(item, "place", place_names[sl_place_of(w->id)]);
    (void)sl_query_reason(g, w->id, item);
    sl_effort_add(REASON_STEPS);
    return item;
}

struct sl_json *sl_engine_pending_next(struct sl_engine *g, struct sl_pending *p)
{
    SL_PRE(g != NULL && p != NULL);
    while (p->at < p->count) {
        const struct waiting *w = &p->list[p->at++];
        if (still_waits(g, w)) {
            return new_item(g, w);
        }
    }
    return NULL;
}

void sl_engine_each_qnode(const struct sl_engine *g, sl_qnode_fn *visit, void *context)
{
    SL_PRE(g != NULL && visit != NULL);
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        const struct sl_qnode_entry *n = g->qnodes[qnode];
        if (n != NULL && n->exists) {
            visit(context, n->is_cluster_queue ? SL_KIND_CLUSTER_QUEUE : SL_KIND_COHORT, n->name);
        }
    }
}
