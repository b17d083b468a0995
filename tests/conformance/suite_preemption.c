/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Victims for a given assignment, and what their eviction does to their objects. */
#include "conformance.h"
#include "engine/calls/call.h"
#include "policy/requests/requests.h"
#include "policy/queues/holders.h"
#include "policy/preemption/preemption.h"
#include <stdio.h>
#include <string.h>

static const char *const preempt_reasons[] = {
#define SL_REASON(constant, text) [constant] = text,
#include "model/preempt_reasons.def"
#undef SL_REASON
};

/* --- the question ----------------------------------------------------------------------------- */

static int64_t per_pod(const struct conf_world *w, uint32_t pod_set, const char *resource)
{
    for (uint32_t r = sl_requests_first(pod_set); r != SL_NO_ID; r = sl_requests_next(r)) {
        if (strcmp(conf_resource_name(w, sl_requests_resource(r)), resource) == 0) {
            return sl_requests_per_pod(r);
        }
    }
    return strcmp(resource, "pods") == 0 ? 1 : 0;
}

/* What asks for nothing needs nothing, as in flavors.c. */
static void add_need(sl_cell_id cell, int64_t amount, bool contested)
{
    struct sl_preemption_question *q = &sl_preemption_question;
    if (amount == 0 && !contested) {
        return;
    }
    for (uint32_t i = 0; i < q->need_count; i++) {
        if (q->needs[i].cell == cell) {
            q->needs[i].amount += amount;
            q->needs[i].contested = q->needs[i].contested || contested;
            return;
        }
    }
    if (q->need_count < SL_USAGE_CELLS_MAX) {
        q->needs[q->need_count++] =
            (struct sl_need){.cell = cell, .amount = amount, .contested = contested};
    }
}

static void ask(const struct conf_case *c, const struct conf_world *w, const char *preemptor)
{
    const struct sl_json *sets = sl_json_path(c->input, "assignment.podSets");
    struct sl_preemption_question *q = &sl_preemption_question;
    q->preemptor = conf_workload_id(w, preemptor);
    q->cluster_queue = conf_queue_node(w, sl_json_path_text(c->input, "clusterQueue", ""));
    q->need_count = 0;
    uint32_t pod_set = sl_requests_first_pod_set(q->preemptor);
    for (size_t i = 0; i < sl_json_len(sets); i++) {
        const struct sl_json *set = sl_json_at(sets, i);
        int64_t count = sl_json_path_int(set, "count", 0);
        void *it = NULL;
        const char *resource;
        struct sl_json *flavor;
        while (sl_json_next(sl_json_get(set, "flavors"), &it, &resource, &flavor)) {
            sl_cell_id cell =
                conf_cell(w, q->cluster_queue, sl_json_path_text(flavor, "name", ""), resource);
            bool contested = strcmp(sl_json_path_text(flavor, "mode", ""), "Preempt") == 0;
            add_need(cell, per_pod(w, pod_set, resource) * count, contested);
        }
        pod_set = sl_requests_next_pod_set(pod_set);
    }
}

/* --- the answer ------------------------------------------------------------------------------- */

static struct sl_json *new_targets(const struct conf_world *w)
{
    struct sl_json *out = sl_json_new_list();
    for (uint32_t i = 0; i < sl_victims.count; i++) {
        sl_workload_id id = sl_victims.workloads[i];
        sl_qnode_id node = sl_holders_queue_of(id);
        struct sl_json *item = sl_json_new_map();
        sl_json_set_text(item, "clusterQueue",
                         node == SL_NO_ID ? "none" : w->g->qnodes[node]->name);
        sl_json_set_text(item, "key", sl_intern_name(w->g->names, SL_INTERN_WORKLOAD, id));
        sl_json_set_text(item, "reason", preempt_reasons[sl_victims.reasons[i]]);
        sl_json_append(out, item);
    }
    return out;
}

/* Evict the victims through the engine, so that its decisions say it in their objects. */
static void issue(struct conf_world *w)
{
    for (uint32_t i = 0; i < sl_victims.count; i++) {
        sl_workload_id id = sl_victims.workloads[i];
        struct sl_event ev = {.kind = SL_EV_PREEMPT,
                              .workload = id,
                              .generation = w->g->workloads[id].generation,
                              .reason = sl_victims.reasons[i],
                              .now_ms = w->now_ms};
        if (sl_workloads[id].phase != SL_PHASE_EVICTED &&
            sl_call(w->g, ev.now_ms, event, .event = ev) != SL_OK) {
            conf_differ(sl_intern_name(w->g->names, SL_INTERN_WORKLOAD, id), "evicted", "refused");
        }
    }
    conf_store_carry_out(&w->store);
}

static void without(struct sl_json *list, const char *member, const char *value)
{
    for (size_t i = sl_json_len(list); i > 0; i--) {
        if (strcmp(sl_json_path_text(sl_json_at(list, i - 1), member, ""), value) == 0) {
            sl_json_remove_at(list, i - 1);
        }
    }
}

/* What the preemptor is told, and its own object, belong to the cycle: not here. */
static void expect_issued(const struct conf_case *c, const struct conf_world *w,
                          const char *preemptor)
{
    struct sl_json *events = sl_json_clone(sl_json_get(c->expect, "events"));
    struct sl_json *workloads = sl_json_new_list();
    char key[512];
    without(events, "key", preemptor);
    for (size_t i = 0; i < sl_json_len(w->store.workloads); i++) {
        conf_key(sl_json_at(w->store.workloads, i), key);
        if (strcmp(key, preemptor) != 0) {
            sl_json_append(workloads, sl_json_ref(sl_json_at(w->store.workloads, i)));
        }
    }
    conf_expect_set("events", events, w->store.events);
    conf_expect_set("preempted", sl_json_get(c->expect, "preempted"), w->store.preempted);
    conf_expect_set("evicted", sl_json_get(c->expect, "evicted"), w->store.evicted);
    conf_expect_workloads(sl_json_get(c->expect, "workloads"), workloads);
    sl_json_free(workloads);
    sl_json_free(events);
}

void conf_run_preemption(const struct conf_case *c)
{
    struct conf_world w;
    char preemptor[512];
    struct sl_json *incoming = sl_json_clone(sl_json_get(c->input, "incoming"));
    sl_json_remove(incoming,
                   "status"); /* it holds nothing yet, whatever a test has written there */
    conf_world_open(&w, c, incoming);
    conf_store_carry_out(&w.store);
    conf_key(incoming, preemptor);
    ask(c, &w, preemptor);
    (void)sl_preemption_find(w.now_ms);
    struct sl_json *targets = new_targets(&w);
    conf_expect_set("targets", sl_json_get(c->expect, "targets"), targets);
    conf_expect_int("count", sl_json_path_int(c->expect, "count", 0), sl_victims.count);
    if (sl_json_has(c->expect, "workloads")) {
        issue(&w);
        expect_issued(c, &w, preemptor);
    }
    sl_json_free(targets);
    sl_json_free(incoming);
}
