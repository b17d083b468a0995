/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Names are left out here, so that no answer has them where they may not be seen. */
#include "engine/why/parts.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/why/shortage.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/lifecycle.h"
#include "policy/requests/offers.h"
#include <string.h>

#define CELLS_MAX 256u /* of a flavor, that are looked at */

static bool is_hidden(const struct sl_engine *g, sl_workload_id id, const char *names_of)
{
    const struct sl_local_queue *q = g->workloads[id].queue;
    return names_of != NULL && (q == NULL || strcmp(q->ns, names_of) != 0);
}

static void set_since(struct sl_json *out, sl_workload_id id)
{
    char time[32];
    if (sl_workloads[id].reserved_at_ms != SL_NEVER) {
        sl_clock_format(sl_workloads[id].reserved_at_ms, time);
        sl_json_set_text(out, "since", time);
    }
}

static struct sl_json *holder_new(const struct sl_engine *g, const struct sl_why_holder *h,
                                  sl_resource_id resource, const char *names_of)
{
    const struct sl_workload_entry *e = &g->workloads[h->workload];
    const char *key = sl_intern_name(g->names, SL_INTERN_WORKLOAD, h->workload);
    struct sl_json *out = sl_json_new_map();
    if (!is_hidden(g, h->workload, names_of) && e->queue != NULL && key != NULL) {
        sl_json_set_text(out, "namespace", e->queue->ns);
        sl_json_set_text(out, "name", key + strlen(e->queue->ns) + 1);
        sl_json_set_text(out, "localQueue", e->queue->name);
    }
    sl_json_set_text(out, "clusterQueue", g->qnodes[h->queue]->name);
    sl_json_set_int(out, "priority", e->priority);
    sl_why_set_amount(g, out, "amount", h->amount, resource);
    set_since(out, h->workload);
    if (sl_workloads[h->workload].phase == SL_PHASE_EVICTED) {
        sl_json_set_bool(out, "evicted", true);
    }
    return out;
}

static void add_right(const struct sl_engine *g, const struct sl_why_need *need,
                      const struct sl_why_holder *holder, struct sl_json *out)
{
    struct sl_buf why = {0};
    bool may = sl_why_may_preempt(g, need, holder, &why);
    sl_json_set_bool(out, "mayBePreempted", may);
    if (!may) {
        sl_json_set_text(out, "because", why.data);
    }
    sl_buf_fini(&why);
}

static void add_queues(const struct sl_engine *g, const struct sl_why_holders *holders,
                       sl_resource_id resource, struct sl_json *out)
{
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < holders->queue_count; i++) {
        const struct sl_why_queue_share *q = &holders->queues[i];
        struct sl_json *one = sl_json_new_map();
        sl_json_set_text(one, "clusterQueue", g->qnodes[q->queue]->name);
        sl_why_set_amount(g, one, "inUse", q->used, resource);
        sl_why_set_amount(g, one, "nominalQuota", q->nominal, resource);
        sl_json_append(list, one);
    }
    sl_json_set_filled(out, "queues", list);
}

static void add_counts(const struct sl_why_holders *holders, struct sl_json *out)
{
    sl_json_set_int(out, "holdersInAll", holders->all);
    if (holders->cut) {
        sl_json_set_bool(out, "holdersCut", true);
    }
}

void sl_why_add_holders(const struct sl_engine *g, const struct sl_why_need *need,
                        const struct sl_why_holders *holders, const char *names_of,
                        struct sl_json *out)
{
    SL_PRE(g != NULL && need != NULL && holders != NULL);
    sl_resource_id resource = sl_ledger_resource_of(need->cell);
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < holders->count; i++) {
        struct sl_json *one = holder_new(g, &holders->at[i], resource, names_of);
        if (need->workload != SL_NO_ID) {
            add_right(g, need, &holders->at[i], one);
        }
        sl_json_append(list, one);
    }
    sl_json_set_filled(out, "holders", list);
    add_counts(holders, out);
    add_queues(g, holders, resource, out);
}

void sl_why_add_flavor_holders(const struct sl_engine *g, sl_flavor_id flavor, const char *names_of,
                               struct sl_json *out)
{
    SL_PRE(g != NULL);
    struct sl_json *list = sl_json_new_list();
    sl_cell_id cell = sl_offers_first_of(flavor);
    sl_resource_id resource = cell == SL_NO_ID ? SL_NO_ID : sl_ledger_resource_of(cell);
    for (uint32_t i = 0; cell != SL_NO_ID && i < CELLS_MAX; i++) {
        struct sl_why_holders holders = {0};
        if (sl_ledger_resource_of(cell) == resource) {
            sl_why_holders_find(cell, &holders);
        }
        for (uint32_t k = 0; k < holders.count && sl_json_len(list) < SL_WHY_HOLDERS_MAX; k++) {
            struct sl_json *one = holder_new(g, &holders.at[k], resource, names_of);
            sl_json_set_text(one, "resource", sl_why_resource(g, resource));
            sl_json_append(list, one);
        }
        cell = sl_offers_next_of(cell);
    }
    sl_json_set_filled(out, "holders", list);
}

void sl_why_say_holder(const struct sl_engine *g, const struct sl_why_holder *holder,
                       sl_resource_id resource, const char *names_of, struct sl_buf *out)
{
    SL_PRE(g != NULL && holder != NULL);
    char time[32];
    const char *key = sl_intern_name(g->names, SL_INTERN_WORKLOAD, holder->workload);
    bool hidden = is_hidden(g, holder->workload, names_of) || key == NULL;
    sl_buf_print(out, "%s with ", hidden ? "a workload of another namespace" : key);
    sl_why_print_amount(g, holder->amount, resource, out);
    if (sl_workloads[holder->workload].reserved_at_ms != SL_NEVER) {
        sl_clock_format(sl_workloads[holder->workload].reserved_at_ms, time);
        sl_buf_print(out, " since %s", time);
    }
}
