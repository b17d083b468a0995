/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A queue: does it take workloads, what waits first in it, and of each quota what is used and by what. */
#include "base/check.h"
#include "base/effort.h"
#include "engine/why/parts.h"
#include "engine/why/remedies.h"
#include "engine/why/why.h"
#include "kernel/ledger/ledger.h"
#include <string.h>

#define QUOTAS_MAX 16u /* in one answer */
#define STEPS 500u

static const char *const counts[] = {"pendingWorkloads", "reservingWorkloads", "admittedWorkloads"};

static void add_state(const struct sl_json *status, struct sl_json *out)
{
    bool active = strcmp(sl_json_path_text(status, "active.status", ""), "True") == 0;
    sl_json_set_text(out, "state", active ? "Active" : "Inactive");
    sl_json_set_text(out, "reason", sl_json_path_text(status, "active.reason", ""));
    sl_json_set_text(out, "message", sl_json_path_text(status, "active.message", ""));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        sl_json_set_int(out, counts[i], sl_json_path_int(status, counts[i], 0));
    }
}

static void add_first(struct sl_engine *g, const char *cluster_queue,
                      const struct sl_local_queue *q, const struct sl_why_ask *ask,
                      struct sl_json *out)
{
    const struct sl_pending_range range = {q == NULL ? NULL : q->ns, q == NULL ? NULL : q->name, 0,
                                           1};
    struct sl_pending *p = sl_engine_pending_new(g, cluster_queue, &range);
    struct sl_json *first = sl_engine_pending_next(g, p);
    if (first != NULL && ask->names_of != NULL &&
        strcmp(sl_json_path_text(first, "namespace", ""), ask->names_of) != 0) {
        sl_json_remove(first, "namespace");
        sl_json_remove(first, "name");
        sl_json_remove(first, "localQueueName");
    }
    if (first != NULL) {
        sl_json_set(out, "first", first);
    }
    sl_engine_pending_free(p);
}

static void add_limit(const struct sl_engine *g, const struct sl_why_ask *ask, sl_cell_id cell,
                      struct sl_json *list)
{
    sl_resource_id resource = sl_ledger_resource_of(cell);
    struct sl_why_limit limit = sl_why_limit_now(g, cell);
    struct sl_why_need need = {SL_NO_ID, sl_ledger_qnode_of(cell), cell, 0};
    struct sl_why_holders holders;
    struct sl_json *one = sl_json_new_map();
    sl_json_set_text(one, "flavor", sl_why_flavor(g, sl_ledger_flavor_of(cell)));
    sl_json_set_text(one, "resource", sl_why_resource(g, resource));
    sl_why_set_amount(g, one, "nominalQuota", sl_ledger_nominal(cell), resource);
    sl_why_set_amount(g, one, "available", sl_ledger_available(cell), resource);
    sl_json_set_text(one, "limit", sl_why_limit_name(limit.kind));
    sl_json_set(one, "of", sl_why_qnode_new(g, sl_ledger_qnode_of(limit.cell)));
    sl_why_set_amount(g, one, "quota", limit.quota, resource);
    sl_why_set_amount(g, one, "inUse", limit.used, resource);
    sl_why_holders_find(limit.cell, &holders);
    sl_why_add_holders(g, &need, &holders, ask->names_of, one);
    sl_json_append(list, one);
}

static void add_limits(const struct sl_engine *g, const struct sl_why_ask *ask, sl_qnode_id qnode,
                       struct sl_json *out)
{
    const struct sl_quotas *quotas = &g->qnodes[qnode]->quotas;
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < quotas->quota_count && i < QUOTAS_MAX; i++) {
        sl_cell_id cell =
            sl_ledger_find_cell(qnode, quotas->quotas[i].flavor, quotas->quotas[i].resource);
        if (cell != SL_NO_ID) {
            add_limit(g, ask, cell, list);
        }
    }
    sl_json_set_filled(out, "limits", list);
}

struct sl_json *sl_why_queue_new(struct sl_engine *g, enum sl_kind kind,
                                 const struct sl_why_ask *ask)
{
    SL_PRE(g != NULL && ask != NULL && ask->name != NULL);
    bool local = kind == SL_KIND_LOCAL_QUEUE;
    struct sl_json *status = sl_engine_queue_status(g, kind, ask->ns, ask->name);
    if (status == NULL || (!local && kind != SL_KIND_CLUSTER_QUEUE)) {
        sl_json_free(status);
        return NULL;
    }
    const struct sl_local_queue *q = local ? sl_local_queue_find(g, ask->ns, ask->name) : NULL;
    sl_qnode_id qnode = local ? q->cluster_queue : sl_qnode_find(g, true, ask->name);
    struct sl_json *out = sl_json_new_map();
    struct sl_json *remedies = sl_json_new_list();
    if (local) {
        sl_json_set_text(out, "namespace", ask->ns);
    }
    sl_json_set_text(out, "name", ask->name);
    add_state(status, out);
    sl_json_set(out, "summary", sl_json_clone(sl_json_get(out, "message")));
    if (qnode != SL_NO_ID) {
        const char *name = g->qnodes[qnode]->name;
        sl_json_set_text(out, "clusterQueue", name);
        add_first(g, name, q, ask, out);
        add_limits(g, ask, qnode, out);
    }
    sl_why_add_queue_remedies(g, q, qnode, remedies);
    sl_json_set_filled(out, "remedies", remedies);
    sl_json_free(status);
    sl_effort_add(STEPS);
    return out;
}
