/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Attaching workloads to their queues, and telling those whose queue is stopped, missing or
 * unsuitable, as policy/verdicts/queue_state.h says. */
#include "engine/decisions/standing.h"
#include "base/check.h"
#include "engine/quota/accounts.h"
#include "engine/calls/call.h"
#include "engine/requests/families.h"
#include "engine/conditions/conditions.h"
#include "engine/topology/constraints.h"
#include "engine/decisions/follow.h"
#include "engine/quota/tallies.h"
#include "engine/conditions/message.h"
#include "engine/records/rules.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/queues.h"
#include "policy/verdicts/queue_state.h"
#include <stdio.h>
#include <string.h>

static struct sl_qnode_entry *cluster_queue_of(const struct sl_engine *g,
                                               const struct sl_local_queue *q)
{
    return q->cluster_queue == SL_NO_ID ? NULL : g->qnodes[q->cluster_queue];
}

static bool namespace_taken(const struct sl_engine *g, const struct sl_qnode_entry *n,
                            const char *ns)
{
    const struct sl_json *labels = sl_map_find(g->namespaces, ns);
    if (n->namespaces == NULL) {
        return false;
    }
    if (labels != NULL) {
        return sl_selector_matches_labels(n->namespaces, labels);
    }
    struct sl_json *name_only = sl_json_new_map();
    sl_json_set_text(name_only, "kubernetes.io/metadata.name", ns);
    bool taken = sl_selector_matches_labels(n->namespaces, name_only);
    sl_json_free(name_only);
    return taken;
}

static struct sl_queue_sight sight_of(const struct sl_engine *g, const struct sl_local_queue *q)
{
    const struct sl_qnode_entry *n = cluster_queue_of(g, q);
    struct sl_queue_sight sight = {.local_exists = q->exists,
                                   .local_deleting = q->deleting,
                                   .local_stop = q->stop,
                                   .named = n != NULL};
    if (n != NULL) {
        sight.exists = n->exists;
        sight.deleting = n->deleting;
        sight.active = n->active;
        sight.stop = n->stop;
    }
    return sight;
}

static enum sl_obstacle judge(const struct sl_engine *g, sl_workload_id id)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    return sl_queue_state_judge(
        sight_of(g, e->queue),
        (struct sl_own_sight){.check_objects = sl_condition_check_objects(&sl_workloads[id]),
                              .unusable = e->trouble != NULL,
                              .oversized = e->oversized});
}

/* The obstacle in words. */
static void say(const struct sl_engine *g, sl_workload_id id, enum sl_obstacle obstacle,
                char text[static SL_MESSAGE_SIZE])
{
    const struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_qnode_entry *n = cluster_queue_of(g, e->queue);
    switch (obstacle) {
    case SL_OBSTACLE_LOCAL_MISSING:
        (void)snprintf(text, SL_MESSAGE_SIZE, "LocalQueue %.255s doesn't exist", e->queue->name);
        break;
    case SL_OBSTACLE_LOCAL_DELETED:
        (void)snprintf(text, SL_MESSAGE_SIZE, "LocalQueue %.255s is terminating or missing",
                       e->queue->name);
        break;
    case SL_OBSTACLE_LOCAL_STOPPED:
        (void)snprintf(text, SL_MESSAGE_SIZE, "LocalQueue %.255s is inactive", e->queue->name);
        break;
    case SL_OBSTACLE_UNNAMED:
        (void)snprintf(text, SL_MESSAGE_SIZE, "The LocalQueue names no ClusterQueue");
        break;
    case SL_OBSTACLE_QUEUE_MISSING:
        (void)snprintf(text, SL_MESSAGE_SIZE, "ClusterQueue %.255s doesn't exist", n->name);
        break;
    case SL_OBSTACLE_QUEUE_STOPPED:
    case SL_OBSTACLE_QUEUE_INACTIVE:
        (void)snprintf(text, SL_MESSAGE_SIZE, "ClusterQueue %.255s is inactive", n->name);
        break;
    case SL_OBSTACLE_CHECK:
        (void)snprintf(text, SL_MESSAGE_SIZE, "%s", sl_message_checks);
        break;
    case SL_OBSTACLE_OVERSIZED:
    case SL_OBSTACLE_OBJECT:
        (void)snprintf(text, SL_MESSAGE_SIZE, "%s", e->trouble);
        break;
    case SL_OBSTACLE_NONE:
        text[0] = '\0';
        break;
    }
}

bool sl_standing_queue_to_blame(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[id];
    return e->device_claims || sl_queue_state_of_queues(sight_of(g, e->queue)) != SL_OBSTACLE_NONE;
}

/* --- admission checks ------------------------------------------------------------------------- */

/* The checks that the queue asks for, no more and no less. Before its flavors are known a workload
 * has all of them, since the core admits at once what has none. What a check that it is asked for anew has answered may
 * stand in its object from before: whoever answers would not say it again. */
static void update_checks(struct sl_engine *g, sl_workload_id id, const struct sl_qnode_entry *n,
                          int64_t now_ms)
{
    const struct sl_admission *admission = g->workloads[id].admission;
    for (uint32_t i = sl_workloads[id].check_count; i > 0; i--) {
        sl_check_id check = sl_workloads[id].checks[i - 1].check;
        if (!sl_rules_ask(n, check, admission)) {
            sl_send(g, id, now_ms, .kind = SL_EV_CHECK_DROP, .index = check);
        }
    }
    for (uint32_t i = 0; i < n->check_count; i++) {
        sl_check_id check = n->checks[i].check;
        bool has = false;
        for (uint32_t k = 0; k < sl_workloads[id].check_count; k++) {
            has = has || sl_workloads[id].checks[k].check == check;
        }
        if (!has && sl_rules_ask(n, check, admission)) {
            sl_send(g, id, now_ms, .kind = SL_EV_CHECK_ADD, .index = check);
            g->wants_workloads = g->wants_workloads || g->reading != id;
        }
    }
}

/* --- attaching -------------------------------------------------------------------------------- */

struct sl_order_key sl_standing_key(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    const struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_settings *settings = &g->settings.policy;
    int64_t queued_at_ms =
        sl_queue_state_queued_at_ms(&sl_workloads[id], e->created_ms, settings->requeue_at_eviction,
                                    settings->priority_sorting_within_cohort);
    return (struct sl_order_key){.priority = e->priority,
                                 .queued_at_ms = queued_at_ms,
                                 .uid_high = e->uid_high,
                                 .uid_low = e->uid_low};
}

static void attach(struct sl_engine *g, sl_workload_id id, sl_qnode_id qnode, int64_t now_ms)
{
    struct sl_workload_entry *e = &g->workloads[id];
    if (e->request_at != qnode) {
        e->request_at = qnode;
        sl_family_update(g, id, now_ms);
        (void)sl_constraints_request(g, id, NULL, qnode, now_ms);
    }
    struct sl_order_key key = sl_standing_key(g, id);
    if (sl_queues_queue_of(id) != qnode) {
        sl_accounts_assign(g, id, now_ms);
        sl_expect(g, now_ms, attach, .workload = id, .cluster_queue = qnode, .key = key,
                  .now_ms = now_ms);
        return;
    }
    struct sl_order_key old = sl_order_of(id);
    if (old.priority != key.priority || old.queued_at_ms != key.queued_at_ms) {
        sl_tell(g, now_ms, set_key, .workload = id, .key = key);
    }
}

static void detach(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    if (sl_queues_queue_of(id) != SL_NO_ID) {
        sl_tell(g, now_ms, detach, .workload = id);
    }
}

/* By this run, or before. */
static bool was_told(const struct sl_engine *g, sl_workload_id id, const char *text)
{
    const char *told = g->workloads[id].words.waiting;
    return told != NULL && strcmp(told, text) == 0;
}

static void update_outsider(struct sl_engine *g, sl_workload_id id, bool outsider, int64_t now_ms)
{
    if (sl_outsiders_is(id) != outsider) {
        sl_tell(g, now_ms, outsider, .workload = id, .is = outsider, .now_ms = now_ms);
    }
}

static void update_usable(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    const struct sl_workload *w = &sl_workloads[id];
    const struct sl_workload_entry *e = &g->workloads[id];
    const struct sl_qnode_entry *n = g->qnodes[e->queue->cluster_queue];
    bool outsider = !namespace_taken(g, n, e->queue->ns);
    if (sl_family_keeps_out(g, id)) {
        detach(g, id, now_ms);
        return;
    }
    update_checks(g, id, n, now_ms);
    if (sl_queue_state_restarts(w)) {
        sl_send(g, id, now_ms, .kind = SL_EV_QUEUE_RESTARTED, .reason = w->evicted);
    }
    if (was_told(g, id, sl_message_checks)) {
        sl_words_say_waiting(&g->workloads[id].words, SL_PENDING_EVALUATION, "");
    }
    if (sl_queue_state_is_over(w, outsider && was_told(g, id, sl_message_outsider))) {
        sl_words_say_waiting(&g->workloads[id].words, SL_PENDING_EVALUATION, "");
        sl_send(g, id, now_ms, .kind = SL_EV_REFUSE, .reason = SL_PENDING_EVALUATION);
    }
    attach(g, id, e->queue->cluster_queue, now_ms);
    update_outsider(g, id, outsider, now_ms);
}

static void update_unusable(struct sl_engine *g, sl_workload_id id, enum sl_obstacle obstacle,
                            int64_t now_ms)
{
    char text[SL_MESSAGE_SIZE];
    struct sl_words *words = &g->workloads[id].words;
    say(g, id, obstacle, text);
    struct sl_queue_verdict v =
        sl_queue_state_unusable(&sl_workloads[id], obstacle, was_told(g, id, text));
    detach(g, id, now_ms);
    if (v.step == SL_QUEUE_STEP_NONE) {
        return;
    }
    sl_words_say_waiting(words, v.reason, text);
    if (v.step == SL_QUEUE_STEP_SAY) {
        sl_decide(g, id, SL_DECIDE_PENDING, now_ms);
        return;
    }
    bool refused = v.step == SL_QUEUE_STEP_REFUSE;
    sl_send(g, id, now_ms, .kind = refused ? SL_EV_REFUSE : SL_EV_QUEUE_UNUSABLE,
            .reason = v.reason);
}

/* Draining evicts what is admitted, by the LocalQueue it names or the ClusterQueue whose quota it
 * holds. */
static void drain(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    const struct sl_workload_entry *e = &g->workloads[id];
    bool held = e->held_at != SL_NO_ID && g->qnodes[e->held_at]->exists;
    uint32_t reason = sl_queue_state_drains(held ? g->qnodes[e->held_at]->stop : SL_STOP_NONE,
                                            e->queue->exists ? e->queue->stop : SL_STOP_NONE);
    if (reason != SL_EVICT_NONE) {
        sl_words_say_stopping(&g->workloads[id].words, reason, "");
        sl_send(g, id, now_ms, .kind = SL_EV_DRAIN, .reason = reason);
    }
}

/* Gates that it came with are said once there are decisions; later ones as they come. */
static void say_gate(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    const struct sl_workload *w = &sl_workloads[id];
    bool waits = w->phase == SL_PHASE_PENDING && w->pending_reason == SL_PENDING_GATED;
    if (g->workloads[id].gate_untold && waits) {
        sl_decide(g, id, SL_DECIDE_PENDING, now_ms);
    }
    g->workloads[id].gate_untold = false;
}

/* Who reactivates wants it tried anew. A check that failed it while it was inactive, when nothing was asked of anybody,
 * starts again like those that an eviction resets; else nobody would ever look at it again. */
static void reactivate(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    for (uint32_t i = 0; i < sl_workloads[id].check_count; i++) {
        if (sl_workloads[id].checks[i].state >= SL_CHECK_RETRY) {
            sl_send(g, id, now_ms, .kind = SL_EV_CHECK_STATE,
                    .index = sl_workloads[id].checks[i].check, .reason = SL_CHECK_PENDING);
        }
    }
    sl_send(g, id, now_ms, .kind = SL_EV_REACTIVATE);
}

void sl_standing_update(struct sl_engine *g, sl_workload_id id, int64_t now_ms)
{
    enum sl_phase phase = sl_workloads[id].phase;
    if (!g->synced || phase == SL_PHASE_ABSENT) {
        return;
    }
    if (phase == SL_PHASE_FINISHED || g->workloads[id].paused) {
        sl_tally_update(g, id); /* its queue may be another, or gone */
        return;
    }
    if (phase == SL_PHASE_PENDING && g->workloads[id].wants_active && !sl_workloads[id].active) {
        reactivate(g, id, now_ms);
    }
    if (phase == SL_PHASE_ADMITTED) {
        drain(g, id, now_ms);
    }
    say_gate(g, id, now_ms);
    enum sl_obstacle obstacle = judge(g, id);
    if (obstacle == SL_OBSTACLE_CHECK) {
        update_checks(g, id, g->qnodes[g->workloads[id].queue->cluster_queue], now_ms);
        obstacle = judge(g, id); /* perhaps the queue no longer asks for it */
    }
    if (obstacle == SL_OBSTACLE_NONE) {
        update_usable(g, id, now_ms);
    } else {
        update_unusable(g, id, obstacle, now_ms);
    }
    sl_tally_update(g, id);
}

void sl_standing_update_queue(struct sl_engine *g, struct sl_local_queue *q, int64_t now_ms)
{
    SL_PRE(q != NULL);
    sl_touch_queue(g, q);
    sl_workload_id id = q->first;
    while (id != SL_NO_ID) {
        sl_workload_id next = g->workloads[id].next;
        sl_standing_update(g, id, now_ms);
        id = next;
    }
}

/* Holders whose LocalQueue is gone, or names another ClusterQueue by now, are drained with the one
 * they hold. */
static void drain_strays(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms)
{
    for (sl_workload_id id = 0; id < g->workload_cap; id++) {
        const struct sl_workload_entry *e = &g->workloads[id];
        if (e->uid != NULL && e->held_at == qnode && e->queue->cluster_queue != qnode) {
            sl_standing_update(g, id, now_ms);
        }
    }
}

void sl_standing_update_cluster_queue(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms)
{
    SL_PRE(g != NULL);
    const struct sl_qnode_entry *n = g->qnodes[qnode];
    for (struct sl_local_queue *q = n->first_queue; q != NULL; q = q->next) {
        sl_standing_update_queue(g, q, now_ms);
    }
    if (n->exists && n->stop == SL_STOP_DRAIN && n->holder_count > 0) {
        drain_strays(g, qnode, now_ms);
    }
}

void sl_standing_rerequest(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms)
{
    SL_PRE(g != NULL);
    for (struct sl_local_queue *q = g->qnodes[qnode]->first_queue; q != NULL; q = q->next) {
        for (sl_workload_id id = q->first; id != SL_NO_ID; id = g->workloads[id].next) {
            if (g->workloads[id].request_at == qnode &&
                sl_workloads[id].phase != SL_PHASE_FINISHED) {
                /* It leaves the company of those it was like: after it has become unlike them. */
                (void)sl_constraints_request(g, id, NULL, qnode, now_ms);
                sl_family_update(g, id, now_ms);
                sl_tell(g, now_ms, retry, .workload = id, .now_ms = now_ms);
            }
        }
    }
}
