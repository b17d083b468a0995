/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From the outside in: its queues, itself, its turn, and what is short. */
#include "engine/why/remedies.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "engine/decisions/preemption_gates.h"
#include "engine/records/names.h"
#include "kernel/base/order.h"
#include "kernel/ledger/ledger.h"
#include "kernel/preempt/preempt.h"
#include "policy/queues/outsiders.h"
#include "policy/queues/queues.h"
#include <stdarg.h>

static void add(struct sl_json *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct sl_json *list, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    sl_utf8_print_args(text, sizeof text, format, args);
    va_end(args);
    sl_json_append(list, sl_json_new_text(text));
}

/* --- queues ---------------------------------------------------------------------------------------------- */

void sl_why_add_queue_remedies(const struct sl_engine *g, const struct sl_local_queue *q,
                               sl_qnode_id qnode, struct sl_json *list)
{
    SL_PRE(g != NULL && list != NULL);
    const struct sl_qnode_entry *n = qnode == SL_NO_ID ? NULL : g->qnodes[qnode];
    if (q != NULL && !q->exists) {
        add(list,
            "Create LocalQueue %s in namespace %s, or submit to a LocalQueue that exists there.",
            q->name, q->ns);
        return;
    }
    if (q != NULL && q->stop != SL_STOP_NONE) {
        add(list, "Set stopPolicy of LocalQueue %s to None.", q->name);
    }
    if (n == NULL) {
        add(list, "Name a ClusterQueue in spec.clusterQueue of the LocalQueue.");
    } else if (!n->exists) {
        add(list, "Create ClusterQueue %s, or name another one in the LocalQueue.", n->name);
    } else if (n->stop != SL_STOP_NONE) {
        add(list, "Set stopPolicy of ClusterQueue %s to None.", n->name);
    } else if (!n->active) {
        add(list, "Mend ClusterQueue %s: %s.", n->name,
            n->message == NULL ? "it is not active" : n->message);
    }
}

/* --- the workload itself --------------------------------------------------------------------------------- */

static void add_own(const struct sl_engine *g, sl_workload_id id, struct sl_json *list)
{
    const struct sl_workload *w = &sl_workloads[id];
    const struct sl_workload_entry *e = &g->workloads[id];
    char time[32];
    if (!w->active) {
        add(list, "Set spec.active of the Workload to true.");
    }
    if (w->gated) {
        add(list, "Remove its gates: the annotation kueue.x-k8s.io/admission-gated-by of the job.");
    }
    if (sl_preemption_gates_hold(g, id)) {
        add(list, "Open its preemption gates (status.preemptionGates of the Workload), or wait for "
                  "quota: until then it may not preempt.");
    }
    if (w->on_hold) {
        add(list, "Scale the job up from zero.");
    }
    if (e->trouble != NULL) {
        add(list, "Correct the job: %s.", e->trouble);
    }
    if (sl_outsiders_is(id) && e->queue->cluster_queue != SL_NO_ID) {
        add(list, "Let namespaceSelector of ClusterQueue %s select namespace %s.",
            g->qnodes[e->queue->cluster_queue]->name, e->queue->ns);
    }
    if (sl_queues_in_backoff(id, g->now_ms) && w->requeue_at_ms != SL_NEVER) {
        sl_clock_format(w->requeue_at_ms, time);
        add(list, "It is tried again after %s.", time);
    }
    for (uint32_t i = 0; i < w->check_count; i++) {
        const char *name = sl_intern_name(g->names, SL_INTERN_CHECK, w->checks[i].check);
        if (w->checks[i].state == SL_CHECK_RETRY || w->checks[i].state == SL_CHECK_REJECTED) {
            add(list, "Admission check %s has to accept it.", name == NULL ? "?" : name);
        }
    }
}

static void add_turn(const struct sl_engine *g, const struct sl_why_findings *f,
                     struct sl_json *list)
{
    const char *queue = g->qnodes[f->need.queue]->name;
    bool strict = sl_offers_rules(f->need.queue).strategy == SL_STRICT_FIFO;
    if (sl_workloads[f->id].pending_reason == SL_PENDING_PODS_READY) {
        add(list, "The pods of all admitted workloads have to be ready first "
                  "(waitForPodsReady.blockAdmission).");
    }
    if (strict && f->in_line && f->position > 0) {
        add(list, "ClusterQueue %s is StrictFIFO: the %lld before it go first.", queue,
            (long long)f->position);
    }
    if (f->tried && sl_assignment.mode >= SL_MODE_DEFERRED) {
        add(list, "Nothing is short for it now: it is tried when its turn comes.");
    }
}

/* --- what is short --------------------------------------------------------------------------------------- */

static void say_raise(const struct sl_engine *g, const struct sl_why_shortage *s,
                      struct sl_buf *out)
{
    static const char *const what[] = {[SL_WHY_NOMINAL] = "raise nominalQuota of ",
                                       [SL_WHY_BORROWING] = "raise borrowingLimit of ",
                                       [SL_WHY_COHORT] = "raise a nominalQuota in "};
    sl_buf_text(out, what[s->limit.kind]);
    sl_why_print_qnode(g, sl_ledger_qnode_of(s->limit.cell), out);
    sl_buf_text(out, " by ");
    sl_why_print_amount(g, s->detail->amount, s->detail->resource, out);
    sl_buf_print(out, " in flavor %s", sl_why_flavor(g, s->detail->flavor));
}

static void add_shortage(const struct sl_engine *g, const struct sl_why_shortage *s,
                         struct sl_json *list)
{
    struct sl_buf text = {0};
    if (s->cell == SL_NO_ID) {
        return;
    }
    if (s->never) {
        sl_buf_text(&text, "Ask for at most ");
        sl_why_print_amount(g, s->available, s->detail->resource, &text);
        sl_buf_print(&text, " in flavor %s, or ", sl_why_flavor(g, s->detail->flavor));
        say_raise(g, s, &text);
        sl_buf_text(&text, ".");
    } else {
        sl_buf_text(&text, "Wait until ");
        sl_why_print_amount(g, s->detail->amount, s->detail->resource, &text);
        sl_buf_print(&text, " in flavor %s is released in ", sl_why_flavor(g, s->detail->flavor));
        sl_why_print_qnode(g, sl_ledger_qnode_of(s->limit.cell), &text);
        sl_buf_text(&text, ", or ");
        say_raise(g, s, &text);
        sl_buf_text(
            &text,
            s->limit.withheld > 0
                ? ", or raise the lendingLimit of others, who keep quota that they do not use."
                : ".");
    }
    add(list, "%s", text.data);
    sl_buf_fini(&text);
}

/* With which priority it might preempt the largest holder of its own queue. */
static void add_priority(const struct sl_why_findings *f, struct sl_json *list)
{
    enum sl_preempt_within within = sl_preempt_policy_of(f->need.queue).within;
    for (uint32_t i = 0; within != SL_WITHIN_NEVER && i < f->holders.count; i++) {
        const struct sl_why_holder *h = &f->holders.at[i];
        if (h->queue == f->need.queue && !sl_order_lower(h->workload, f->id)) {
            add(list, "With a priority above %d it may preempt in its own ClusterQueue.",
                sl_order_of(h->workload).priority);
            return;
        }
    }
}

static void add_nodes(const struct sl_engine *g, struct sl_json *list)
{
    const struct sl_placement_failure *n = &sl_assignment.topology_failure;
    if (n->miss == SL_PLACEMENT_NO_FIT && n->of > n->fit) {
        add(list, "Wait until there is room for %u more %s%s in topology %s.", n->of - n->fit,
            n->slices ? "slice" : "pod", n->of - n->fit == 1 ? "" : "s",
            sl_names_topology(g, n->tree));
    }
}

struct sl_json *sl_why_remedies_new(const struct sl_engine *g, const struct sl_why_findings *f)
{
    SL_PRE(g != NULL && f != NULL);
    const struct sl_local_queue *q = g->workloads[f->id].queue;
    struct sl_json *list = sl_json_new_list();
    sl_why_add_queue_remedies(g, q, q->cluster_queue, list);
    add_own(g, f->id, list);
    if (f->need.queue != SL_NO_ID) {
        add_turn(g, f, list);
    }
    for (uint32_t i = 0; i < f->count; i++) {
        add_shortage(g, &f->shortages[i], list);
    }
    if (f->tried) {
        add_nodes(g, list);
        add_priority(f, list);
    }
    return list;
}
