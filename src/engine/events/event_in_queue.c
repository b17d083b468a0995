/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* ClusterQueues, LocalQueues and Namespaces. */
#include "base/check.h"
#include "base/mem.h"
#include "engine/quota/accounts.h"
#include "engine/events/activity.h"
#include "engine/calls/call.h"
#include "engine/requests/families.h"
#include "engine/events/checks_in.h"
#include "engine/records/event_in.h"
#include "engine/quota/tallies.h"
#include "engine/quota/quotas.h"
#include "engine/records/rules.h"
#include "engine/decisions/standing.h"
#include "engine/topology/trees_in.h"
#include <stdio.h>
#include <string.h>

enum sl_stop sl_event_read_stop(const struct sl_json *object)
{
    const char *stop = sl_json_path_text(object, "spec.stopPolicy", "None");
    if (strcmp(stop, "HoldAndDrain") == 0) {
        return SL_STOP_DRAIN;
    }
    return strcmp(stop, "Hold") == 0 ? SL_STOP_HOLD : SL_STOP_NONE;
}

/* --- is a ClusterQueue active? --------------------------------------------------------------- */

/* Its rules and whether it is active matter to its whole tree: the workloads of a queue that is not
 * cannot be preempted. */
static void configure(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms)
{
    const struct sl_qnode_entry *n = g->qnodes[qnode];
    sl_expect(g, now_ms, configure, .cluster_queue = qnode, .rules = n->rules, .active = n->active);
    sl_tell(g, now_ms, wake_tree, .qnode = qnode);
}

void sl_event_judge(struct sl_engine *g, sl_qnode_id qnode, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_qnode_entry *n = g->qnodes[qnode];
    struct sl_buf text = {0};
    const char *reason = sl_activity_judge(g, qnode, &text);
    bool active = strcmp(reason, "Ready") == 0;
    bool same =
        n->reason != NULL && strcmp(n->reason, reason) == 0 && strcmp(n->message, text.data) == 0;
    bool switched = active != n->active;
    if (same) {
        sl_buf_fini(&text);
        return;
    }
    n->active = active;
    n->reason = reason;
    sl_mem_free(n->message);
    n->message = sl_buf_take(&text);
    sl_touch_qnode(g, qnode);
    if (switched) {
        configure(g, qnode, now_ms);
    }
    sl_standing_update_cluster_queue(g, qnode, now_ms);
}

void sl_event_judge_all(struct sl_engine *g, int64_t now_ms)
{
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        if (g->qnodes[qnode] == NULL || !g->qnodes[qnode]->exists) {
            continue;
        }
        if (g->qnodes[qnode]->is_cluster_queue) {
            sl_event_judge(g, qnode, now_ms);
        } else {
            sl_touch_qnode(g, qnode); /* a Cohort says itself what is wrong with its tree */
        }
    }
}

/* --- ClusterQueue ----------------------------------------------------------------------------- */

static enum sl_code read_selector(struct sl_qnode_entry *n, const struct sl_json *object,
                                  bool *changed, struct sl_error *e)
{
    const struct sl_json *selector = sl_json_path(object, "spec.namespaceSelector");
    if (sl_json_type(selector) == SL_JSON_NULL) {
        selector = NULL;
    }
    if (sl_json_equal(n->namespace_selector, selector)) {
        return SL_CODE_OK;
    }
    *changed = true;
    sl_selector_free(n->namespaces);
    sl_json_free(n->namespace_selector);
    n->namespaces = NULL;
    n->namespace_selector = sl_json_clone(selector);
    if (selector == NULL) {
        return SL_CODE_OK;
    }
    n->namespaces = sl_selector_from_json(selector, e);
    return n->namespaces == NULL ? SL_CODE_INVALID : SL_CODE_OK;
}

static void read_state(struct sl_qnode_entry *n, const struct sl_json *object)
{
    enum sl_stop stop = sl_event_read_stop(object);
    bool deleting = sl_object_deleting(object);
    n->restated = stop != n->stop || deleting != n->deleting;
    n->stop = stop;
    n->deleting = deleting;
}

static enum sl_code first_bad(enum sl_code a, enum sl_code b)
{
    return a != SL_CODE_OK ? a : b;
}

enum sl_code sl_event_from_cluster_queue(struct sl_engine *g, const struct sl_json *object,
                                         int64_t now_ms, struct sl_error *e)
{
    sl_qnode_id qnode = sl_qnode_take(g, true, sl_object_name(object), now_ms);
    if (qnode == SL_NO_ID || !sl_qnode_open(g, qnode, now_ms)) {
        return sl_error_set(e, SL_CODE_TOO_MANY,
                            "there are as many ClusterQueues and Cohorts as can be held");
    }
    struct sl_qnode_entry *n = g->qnodes[qnode];
    bool changed = !n->exists;
    n->exists = true;
    bool reconfigured = sl_rules_read(g, n, object) || changed;
    read_state(n, object);
    changed = n->restated || changed;
    const char *cohort = sl_json_path_text(object, "spec.cohortName", "");
    enum sl_code moved = sl_event_parent(g, qnode, cohort, "spec.cohortName", now_ms, e);
    enum sl_code code = sl_event_quotas(g, qnode, object, now_ms, e);
    changed = sl_family_limit(g, qnode, object, now_ms) || changed;
    code = first_bad(code, read_selector(n, object, &changed, e));
    code = first_bad(code, sl_rules_read_checks(g, n, object, &changed, now_ms, e));
    code = first_bad(code, sl_rules_share(g, qnode, object, now_ms, e));
    sl_event_trouble(n, code, e, 0);
    sl_checks_in_delay(g, qnode, now_ms);
    sl_event_judge(g, qnode, now_ms);
    if (reconfigured) {
        configure(g, qnode, now_ms);
    }
    if (changed) {
        sl_standing_update_cluster_queue(g, qnode, now_ms);
    }
    sl_touch_qnode(g, qnode);
    return first_bad(moved, code);
}

/* What holds its quota keeps it until it has stopped; the qnode goes when the last one is gone
 * (S37). */
void sl_event_cluster_queue_gone(struct sl_engine *g, const struct sl_json *object, int64_t now_ms)
{
    sl_qnode_id qnode = sl_qnode_find(g, true, sl_object_name(object));
    static const struct sl_quotas none = {0};
    if (qnode == SL_NO_ID || !g->qnodes[qnode]->exists) {
        return;
    }
    struct sl_qnode_entry *n = g->qnodes[qnode];
    struct sl_error ignored = {0};
    n->exists = false;
    n->active = false;
    n->reason = NULL;
    sl_rules_free_checks(n);
    (void)sl_rules_share(g, qnode, NULL, now_ms, &ignored);
    configure(g, qnode, now_ms);
    sl_standing_update_cluster_queue(g, qnode, now_ms);
    sl_tell(g, now_ms, no_offers, .cluster_queue = qnode);
    (void)sl_quotas_apply(g, qnode, &n->quotas, &none, now_ms);
    sl_quotas_free(&n->quotas);
    (void)sl_event_parent(g, qnode, "", "spec.cohortName", now_ms, &ignored);
    sl_qnode_drop_unused(g, qnode, now_ms);
}

/* --- LocalQueue ------------------------------------------------------------------------------- */

enum sl_code sl_event_from_local_queue(struct sl_engine *g, const struct sl_json *object,
                                       int64_t now_ms, struct sl_error *e)
{
    struct sl_local_queue *q =
        sl_local_queue_take(g, sl_object_namespace(object), sl_object_name(object));
    const char *name = sl_json_path_text(object, "spec.clusterQueue", "");
    sl_qnode_id qnode = name[0] == '\0' ? SL_NO_ID : sl_qnode_take(g, true, name, now_ms);
    enum sl_stop stop = sl_event_read_stop(object);
    bool deleting = sl_object_deleting(object);
    bool same =
        q->exists && q->stop == stop && q->deleting == deleting && q->cluster_queue == qnode;
    if (q->cluster_queue != qnode && q->cluster_queue != SL_NO_ID) {
        q->exists =
            false; /* made again with another ClusterQueue: its workloads leave the old one first */
        sl_standing_update_queue(g, q, now_ms);
    }
    q->exists = true;
    q->stop = stop;
    q->deleting = deleting;
    sl_local_queue_point(g, q, qnode, now_ms);
    sl_touch_queue(g, q);
    enum sl_code weighed = sl_accounts_take(g, q, object, now_ms, e);
    if (!same) {
        sl_standing_update_queue(g, q, now_ms);
    }
    if (name[0] != '\0' && qnode == SL_NO_ID) {
        return sl_error_set(e, SL_CODE_TOO_MANY,
                            "there are as many ClusterQueues and Cohorts as can be held");
    }
    return weighed;
}

void sl_event_local_queue_gone(struct sl_engine *g, const struct sl_json *object, int64_t now_ms)
{
    struct sl_local_queue *q =
        sl_local_queue_find(g, sl_object_namespace(object), sl_object_name(object));
    if (q == NULL || !q->exists) {
        return;
    }
    q->exists = false;
    q->deleting = false;
    q->stop = SL_STOP_NONE;
    sl_standing_update_queue(g, q, now_ms);
    sl_local_queue_point(g, q, SL_NO_ID, now_ms);
    sl_local_queue_drop_unused(g, q, now_ms);
}

/* --- Namespace -------------------------------------------------------------------------------- */

static void update_namespace(struct sl_engine *g, const char *ns, int64_t now_ms)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(g->local_queues, &cursor, &key, &value)) {
        struct sl_local_queue *q = value.pointer;
        if (strcmp(q->ns, ns) == 0) {
            sl_standing_update_queue(g, q, now_ms);
        }
    }
}

void sl_event_from_namespace(struct sl_engine *g, const struct sl_json *object, bool gone,
                             int64_t now_ms)
{
    const char *name = sl_object_name(object);
    const struct sl_json *given = sl_json_path(object, "metadata.labels");
    struct sl_json *labels =
        sl_json_type(given) == SL_JSON_MAP ? sl_json_clone(given) : sl_json_new_map();
    struct sl_json *old = sl_map_find(g->namespaces, name);
    if (!sl_json_has(labels, "kubernetes.io/metadata.name")) {
        sl_json_set_text(labels, "kubernetes.io/metadata.name", name);
    }
    if (gone ? old == NULL : sl_json_equal(old, labels)) {
        sl_json_free(labels);
        return;
    }
    sl_json_free(old);
    if (gone) {
        sl_json_free(labels);
        (void)sl_map_remove(g->namespaces, name, NULL);
    } else {
        sl_map_put(g->namespaces, name, (union sl_map_value){.pointer = labels});
    }
    update_namespace(g, name, now_ms);
}
