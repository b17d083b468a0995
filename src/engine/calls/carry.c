/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Calls, carried out on the core. */
#include "engine/calls/carry.h"
#include "base/check.h"
#include "kernel/commit/placement.h"
#include "policy/fair/branches.h"
#include "policy/cycle/cycle.h"
#include "policy/requests/requests.h"
#include "policy/flavors/open_cell.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/passes.h"
#include "policy/placement/placement.h"
#include "policy/queues/queues.h"
#include "policy/preemption/restraint.h"
#include "policy/requests/migration_limit.h"
#include "policy/requests/preemption_gate.h"
#include "policy/fair/shares.h"
#include "policy/topology/tolerances.h"
#include "policy/queues/turns.h"

/* --- workloads -------------------------------------------------------------------------------- */

/* Indexes agree with the record. What belongs to no queue and may be queued again is an orphan, not
 * parked. */
static struct sl_transition carry_event(const struct sl_call_event *v)
{
    sl_workload_id id = v->event.workload;
    struct sl_transition did = sl_transition_event(v->event);
    if (did.status != SL_OK) {
        return did;
    }
    sl_queues_settle(id, v->event.now_ms);
    sl_passes_settle(id, v->event.now_ms);
    if (sl_queues_queue_of(id) == SL_NO_ID && sl_place_of(id) == SL_PLACE_INADMISSIBLE) {
        enum sl_status moved = sl_place_move(id, SL_PLACE_INADMISSIBLE, SL_PLACE_ORPHANED);
        SL_ASSERT(moved == SL_OK);
    }
    return did;
}

static enum sl_status carry_attach(const struct sl_call_attach *v)
{
    enum sl_status status = sl_queues_attach(v->workload, v->cluster_queue, v->key);
    if (status == SL_OK) {
        sl_queues_settle(v->workload, v->now_ms);
    }
    return status;
}

/* A holder that falls in priority can be preempted by those who could not before: they are tried again. */
static void carry_set_key(const struct sl_call_set_key *v)
{
    bool falls = v->key.priority < sl_order_of(v->workload).priority;
    sl_queues_set_key(v->workload, v->key);
    for (uint32_t i = 0; falls && i < sl_commit_usage_count(v->workload); i++) {
        sl_queues_wake_tree(sl_ledger_qnode_of(sl_commit_usage(v->workload, i).cell));
    }
}

/* What a holder gives back wakes those who wait for it, as its end would. */
static enum sl_status carry_reduce(const struct sl_call_reduce *v)
{
    sl_qnode_id qnode = sl_ledger_qnode_of(sl_commit_usage(v->workload, v->usage).cell);
    enum sl_status status = sl_commit_reduce(v->workload, v->generation, v->usage, v->amount);
    if (status == SL_OK && qnode != SL_NO_ID) {
        sl_flavors_touch_queue(qnode);
        sl_turns_mark_tree(qnode);
    }
    return status;
}

static void carry_outsider(const struct sl_call_outsider *v)
{
    sl_outsiders_set(v->workload, v->is);
    sl_queues_retry(v->workload, v->now_ms);
}

static void carry_preemption_gate(const struct sl_call_preemption_gate *v)
{
    sl_preemption_gate_set(v->workload, v->closed);
    sl_queues_retry(v->workload, v->now_ms);
}

/* Whoever may preempt again is tried again. */
static void carry_restrain(const struct sl_call_restrain *v)
{
    sl_qnode_id queue = sl_queues_queue_of(v->workload);
    sl_restraint_set(v->workload, v->is);
    if (!v->is && queue != SL_NO_ID) {
        sl_queues_wake_queue(queue);
    }
}

/* --- cycles ----------------------------------------------------------------------------------- */

void sl_call_begin_cycle(const struct sl_call_cycle *v)
{
    SL_PRE(v != NULL);
    if (v->all_heads) {
        (void)sl_cycle_begin_all(v->now_ms);
    } else {
        (void)sl_cycle_begin(v->now_ms);
    }
}

static void carry_cycle(const struct sl_call_cycle *v)
{
    sl_call_begin_cycle(v);
    while (sl_cycle_next()) {
    }
    (void)sl_cycle_end();
}

/* --- the forest and its quotas ---------------------------------------------------------------- */

static enum sl_status follow_qnode(sl_qnode_id qnode, enum sl_status status)
{
    sl_branches_follow(qnode);
    return status;
}

/* Who waits in a tree is listed with its root: let everybody go before that can change. */
static enum sl_status move_qnode(sl_qnode_id qnode, sl_qnode_id parent)
{
    sl_queues_wake_tree(qnode);
    sl_queues_flush();
    return sl_ledger_move_qnode(qnode, parent);
}

static bool is_rule(enum sl_share_rule rule)
{
    return rule == SL_SHARE_FINAL || rule == SL_SHARE_INITIAL;
}

static void carry_requeue_rules(const struct sl_call_requeue_rules *v)
{
    sl_requeue_configure(
        (struct sl_requeue_rules){v->limited, v->count_max, v->base_ms, v->ms_max});
}

static enum sl_status carry_settings(const struct sl_call_settings *v)
{
    const struct sl_settings *s = &v->settings;
    if (s->share_rule_count < 1 || s->share_rule_count > 2 || !is_rule(s->share_rules[0]) ||
        !is_rule(s->share_rules[1])) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    sl_settings = *s;
    return SL_OK;
}

/* --- admission fair sharing ------------------------------------------------------------------- */

/* What an account weighs decides which head its queue has. */
static void carry_usage_weight(const struct sl_call_usage_weight *v)
{
    sl_usage_set_weight(v->account, v->nano);
    sl_turns_refresh(v->cluster_queue);
}

static enum sl_status carry_usage_restore(const struct sl_call_usage_restore *v)
{
    if (v->parts >= SL_USAGE_PARTS) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    sl_usage_restore(v->account, v->resource, (struct sl_usage_amount){v->milli, v->parts},
                     v->sampled_ms);
    return SL_OK;
}

/* --- topology --------------------------------------------------------------------------------- */

static enum sl_status carry_tree(const struct sl_call_tree *v)
{
    return v->asked ? sl_trees_configure(v->tree, v->levels, v->ends_at_nodes)
                    : sl_trees_forget(v->tree);
}

/* ---------------------------------------------------------------------------------------------- */

struct sl_transition sl_call_carry_out(struct sl_call *c)
{
    SL_PRE(c != NULL);
    switch (c->kind) {
#define SL_CALL(name, fields, does)                                                                \
    case SL_CALL_##name: {                                                                         \
        struct sl_call_##name *v = &c->name;                                                       \
        return (struct sl_transition){.status = does};                                             \
    }
#define SL_MOVE(name, fields, does)                                                                \
    case SL_CALL_##name: {                                                                         \
        struct sl_call_##name *v = &c->name;                                                       \
        return does;                                                                               \
    }
#define SL_TELL(name, fields, does)                                                                \
    case SL_CALL_##name: {                                                                         \
        struct sl_call_##name *v = &c->name;                                                       \
        does;                                                                                      \
        return (struct sl_transition){.status = SL_OK};                                            \
    }
#include "engine/calls/calls.def"
    case SL_CALL_KIND_COUNT:
        break;
    }
    return (struct sl_transition){.status = SL_REFUSED_BAD_ARGUMENT};
}
