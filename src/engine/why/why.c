/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A workload, by the phase that it is in. */
#include "engine/why/why.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/effort.h"
#include "engine/conditions/conditions.h"
#include "engine/conditions/message.h"
#include "engine/decisions/standing.h"
#include "engine/records/names.h"
#include "engine/turn/query.h"
#include "engine/why/remedies.h"
#include "engine/why/parts.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "policy/queues/queues.h"
#include <stdio.h>
#include <string.h>

#define KEY_SIZE 512
#define STEPS 500u /* of sl_query_reason and all that follows */

struct view {
    struct sl_engine *g;
    const struct sl_why_ask *ask;
    sl_workload_id id;
    const struct sl_workload *w;
    const struct sl_workload_entry *e;
    struct sl_json *out;
};

static void set_time(struct sl_json *out, const char *key, int64_t ms)
{
    char text[32];
    if (ms != SL_NEVER) {
        sl_clock_format(ms, text);
        sl_json_set_text(out, key, text);
    }
}

static void set_state(const struct view *v, const char *state, const char *reason,
                      const char *message)
{
    sl_json_set_text(v->out, "state", state);
    sl_json_set_text(v->out, "reason", reason);
    sl_json_set_text(v->out, "message", message);
    sl_json_set_text(v->out, "summary", message);
}

/* --- it waits ---------------------------------------------------------------------------------------------- */

static void add_position(const struct view *v, struct sl_why_findings *f)
{
    struct sl_query_position p;
    f->in_line = sl_query_position(v->g, v->id, &p);
    if (f->in_line) {
        f->position = p.in_all;
        sl_json_set_int(v->out, "positionInClusterQueue", p.in_all);
        sl_json_set_int(v->out, "positionInLocalQueue", p.in_queue);
        sl_json_set_int(v->out, "pendingInClusterQueue", p.count);
    }
}

/* The limits that are short, each with what holds most of it. */
static void add_limits(const struct view *v, struct sl_why_findings *f)
{
    struct sl_json *list = sl_json_new_list();
    f->count = sl_why_shortages(v->g, f->need.queue, f->shortages);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct sl_why_shortage *s = &f->shortages[i];
        struct sl_json *one = sl_why_shortage_new(v->g, s);
        if (!s->never && s->cell != SL_NO_ID) {
            struct sl_why_holders holders;
            struct sl_why_need need = {v->id, f->need.queue, s->cell, s->requested};
            sl_why_holders_find(s->limit.cell, &holders);
            sl_why_add_holders(v->g, &need, &holders, v->ask->names_of, one);
            if (f->need.cell == SL_NO_ID) {
                f->need = need;
                f->holders = holders;
            }
        }
        sl_json_append(list, one);
    }
    sl_json_set_filled(v->out, "limits", list);
    sl_json_set_filled(v->out, "flavors", sl_why_mismatches_new(v->g));
}

/* No quota is short, but places are: what holds most in the flavor whose nodes they are. */
static void add_nodes(const struct view *v)
{
    const struct sl_placement_failure *n = &sl_assignment.topology_failure;
    if (n->miss == SL_PLACEMENT_OK) {
        return;
    }
    struct sl_json *nodes = sl_json_new_map();
    sl_json_set(nodes, "message", sl_json_clone(sl_json_get(v->out, "message")));
    if (n->miss == SL_PLACEMENT_NO_FIT) {
        sl_json_set_text(nodes, "topology", sl_names_topology(v->g, n->tree));
        sl_json_set_text(nodes, "counts", n->slices ? "slices" : "pods");
        sl_json_set_int(nodes, "roomFor", n->fit);
        sl_json_set_int(nodes, "needed", n->of);
        sl_why_add_flavor_holders(v->g, n->tree, v->ask->names_of, nodes);
    }
    sl_json_set(v->out, "nodes", nodes);
}

/* "position 2 of 7 in ClusterQueue research: ...; the largest holder is lab/job-a with 8 cpu since ..." */
static void add_summary(const struct view *v, const struct sl_why_findings *f)
{
    struct sl_buf text = {0};
    if (f->in_line) {
        sl_buf_print(&text,
                     "Position %lld of %lld in ClusterQueue %s: ", (long long)f->position + 1,
                     (long long)sl_json_path_int(v->out, "pendingInClusterQueue", 0),
                     v->g->qnodes[f->need.queue]->name);
    }
    if (f->count > 0 && sl_assignment.mode < SL_MODE_DEFERRED) {
        sl_why_say_shortage(v->g, &f->shortages[0], &text);
    } else {
        sl_buf_text(&text, sl_json_path_text(v->out, "message", ""));
    }
    if (f->holders.count > 0) {
        sl_buf_text(&text, ". Most of it is held by ");
        sl_why_say_holder(v->g, &f->holders.at[0], sl_ledger_resource_of(f->need.cell),
                          v->ask->names_of, &text);
    }
    sl_json_set_text(v->out, "summary", text.data == NULL ? "" : text.data);
    sl_buf_fini(&text);
}

static void add_pending(const struct view *v)
{
    struct sl_why_findings f = {.id = v->id};
    sl_json_set_text(v->out, "state", "Pending");
    f.need = (struct sl_why_need){v->id, sl_queues_queue_of(v->id), SL_NO_ID, 0};
    add_position(v, &f);
    f.tried = sl_query_reason(v->g, v->id, v->out);
    set_time(v->out, "since", sl_standing_key(v->g, v->id).queued_at_ms);
    if (sl_queues_in_backoff(v->id, v->g->now_ms)) {
        set_time(v->out, "backoffUntil", v->w->requeue_at_ms);
    }
    if (f.tried) {
        add_limits(v, &f);
        add_nodes(v);
        sl_json_set(v->out, "preemption", sl_why_preemption_new(v->g, &f.need, &f.holders));
    }
    sl_json_set_filled(v->out, "remedies", sl_why_remedies_new(v->g, &f));
    add_summary(v, &f);
}

/* --- it has quota -------------------------------------------------------------------------------------------- */

static void add_held(const struct view *v)
{
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < sl_commit_usage_count(v->id); i++) {
        struct sl_cell_amount held = sl_commit_usage(v->id, i);
        sl_resource_id resource = sl_ledger_resource_of(held.cell);
        struct sl_json *one = sl_json_new_map();
        sl_json_set_text(one, "flavor", sl_why_flavor(v->g, sl_ledger_flavor_of(held.cell)));
        sl_json_set_text(one, "resource", sl_why_resource(v->g, resource));
        sl_why_set_amount(v->g, one, "amount", held.amount, resource);
        sl_json_append(list, one);
    }
    sl_json_set_filled(v->out, "holds", list);
}

static const char *const check_states[] = {[SL_CHECK_PENDING] = "Pending",
                                           [SL_CHECK_READY] = "Ready",
                                           [SL_CHECK_RETRY] = "Retry",
                                           [SL_CHECK_REJECTED] = "Rejected"};

/* How many are not ready; their names go into the text. */
static uint32_t add_checks(const struct view *v, struct sl_buf *open)
{
    struct sl_json *list = sl_json_new_list();
    uint32_t count = 0;
    for (uint32_t i = 0; i < v->w->check_count; i++) {
        const struct sl_check *check = &v->w->checks[i];
        const char *name = sl_intern_name(v->g->names, SL_INTERN_CHECK, check->check);
        struct sl_json *one = sl_json_new_map();
        sl_json_set_text(one, "name", name == NULL ? "?" : name);
        sl_json_set_text(one, "state", check_states[check->state]);
        sl_json_append(list, one);
        if (check->state != SL_CHECK_READY) {
            sl_buf_print(open, "%s%s", count++ == 0 ? "" : ", ", name == NULL ? "?" : name);
        }
    }
    sl_json_set_filled(v->out, "checks", list);
    return count;
}

static void add_reserved(const struct view *v)
{
    struct sl_buf open = {0}, message = {0};
    uint32_t count = add_checks(v, &open);
    const char *reason = "QuotaReserved";
    sl_buf_text(&message, "It has its quota");
    if (count > 0) {
        reason = "WaitingForAdmissionChecks";
        sl_buf_print(&message, " and waits for admission check%s %s", count == 1 ? "" : "s",
                     open.data);
    } else if (v->w->topology_pending) {
        reason = "WaitingForSecondPass";
        sl_buf_text(&message, " and waits for a second pass, which finds nodes for its pods");
    }
    set_state(v, "QuotaReserved", reason, message.data);
    set_time(v->out, "since", v->w->reserved_at_ms);
    add_held(v);
    sl_buf_fini(&open);
    sl_buf_fini(&message);
}

static void add_admitted(const struct view *v)
{
    bool waits =
        v->g->settings.wait_for_pods_ready &&
        (v->w->pods_ready == SL_PODS_WAIT_FOR_START ||
         v->w->pods_ready == SL_PODS_WAIT_FOR_RECOVERY || v->w->pods_ready == SL_PODS_UNKNOWN);
    set_state(v, "Admitted", waits ? "WaitingForPodsReady" : "Admitted",
              waits ? "It is admitted and waits until all of its pods are ready"
                    : "It is admitted: its pods may run");
    set_time(v->out, "since", v->w->admitted_at_ms);
    if (waits) {
        set_time(v->out, "podsReadyDeadline", v->e->ready_ms);
    }
    add_held(v);
}

static void add_evicted(const struct view *v)
{
    char text[SL_MESSAGE_SIZE];
    sl_words_stopping(&v->e->words, v->w, text);
    set_state(v, "Evicted", sl_condition_evict_reason(v->w), text);
    set_time(v->out, "since", v->w->evicted_at_ms);
    add_held(v);
}

#define SL_REASON(constant, text) [constant] = text,
static const char *const finish_texts[] = {
#include "model/finish_reasons.def"
};
#undef SL_REASON

/* --- all of it ----------------------------------------------------------------------------------------------- */

static void add_identity(const struct view *v)
{
    const char *queue = sl_engine_queue_of(v->g, v->id);
    sl_json_set_text(v->out, "namespace", v->ask->ns);
    sl_json_set_text(v->out, "name", v->ask->name);
    sl_json_set_text(v->out, "localQueue", v->e->queue->name);
    if (queue[0] != '\0') {
        sl_json_set_text(v->out, "clusterQueue", queue);
    }
    sl_json_set_int(v->out, "priority", v->e->priority);
    set_time(v->out, "created", v->e->created_ms);
    if (v->w->eviction_count > 0) {
        sl_json_set_int(v->out, "evictions", v->w->eviction_count);
    }
}

struct sl_json *sl_why_workload_new(struct sl_engine *g, const struct sl_why_ask *ask)
{
    SL_PRE(g != NULL && ask != NULL && ask->ns != NULL && ask->name != NULL);
    char key[KEY_SIZE];
    (void)snprintf(key, sizeof key, "%s/%s", ask->ns, ask->name);
    sl_workload_id id = sl_intern_find(g->names, SL_INTERN_WORKLOAD, key);
    if (id == SL_NO_ID || id >= g->workload_cap || g->workloads[id].uid == NULL ||
        g->workloads[id].queue == NULL) {
        return NULL;
    }
    struct view v = {g, ask, id, &sl_workloads[id], &g->workloads[id], sl_json_new_map()};
    add_identity(&v);
    switch (v.w->phase) {
    case SL_PHASE_QUOTA_RESERVED:
        add_reserved(&v);
        break;
    case SL_PHASE_ADMITTED:
        add_admitted(&v);
        break;
    case SL_PHASE_EVICTED:
        add_evicted(&v);
        break;
    case SL_PHASE_FINISHED:
        set_state(&v, "Finished", finish_texts[v.w->finished], "It has finished");
        break;
    case SL_PHASE_ABSENT:
    case SL_PHASE_PENDING:
        add_pending(&v);
        break;
    }
    sl_effort_add(STEPS);
    return v.out;
}
