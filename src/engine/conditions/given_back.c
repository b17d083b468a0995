/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* In the order in which it was given back, so that the oldest is found at once; what is written by then is dropped when
 * it is come across. */
#include "engine/conditions/given_back.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"

/* One Workload that cannot be written must not keep all others waiting. */
#define WAIT_MS_MAX 60000

void sl_given_back_free(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    sl_mem_free(g->givings.ring);
    g->givings = (struct sl_givings){0};
}

static struct sl_giving *at(const struct sl_engine *g, uint32_t i)
{
    return &g->givings.ring[(g->givings.first + i) % g->givings.cap];
}

static void push(struct sl_engine *g, struct sl_giving giving)
{
    if (g->givings.count == g->givings.cap) {
        uint32_t cap = g->givings.cap == 0 ? 64 : g->givings.cap * 2;
        struct sl_giving *ring = sl_mem_new(cap, sizeof *ring);
        for (uint32_t i = 0; i < g->givings.count; i++) {
            ring[i] = *at(g, i);
        }
        sl_mem_free(g->givings.ring);
        g->givings.ring = ring;
        g->givings.first = 0;
        g->givings.cap = cap;
    }
    g->givings.count++;
    *at(g, g->givings.count - 1) = giving;
}

void sl_given_back_note(struct sl_engine *g, sl_workload_id id, uint64_t sequence, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    e->given.last = sequence;
    if (e->given.first == 0) {
        e->given.first = sequence;
        push(g, (struct sl_giving){sequence, id, e->generation, now_ms});
    }
}

void sl_given_back_take(struct sl_engine *g, sl_workload_id id, uint64_t sequence)
{
    SL_PRE(g != NULL);
    g->workloads[id].given.taken = sequence;
}

void sl_given_back_asked(struct sl_engine *g, sl_workload_id id, bool all)
{
    SL_PRE(g != NULL);
    g->workloads[id].given.asked = all ? g->workloads[id].given.last : 0;
}

void sl_given_back_written(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    struct sl_workload_entry *e = &g->workloads[id];
    if (e->given.asked == e->given.last) { /* else more was given back since it was looked at */
        e->given.first = 0;
    }
}

static bool is_open(const struct sl_engine *g, const struct sl_giving *giving)
{
    const struct sl_workload_entry *e = &g->workloads[giving->workload];
    return e->uid != NULL && e->generation == giving->generation &&
           e->given.first == giving->sequence;
}

static bool is_overdue(const struct sl_engine *g, const struct sl_giving *giving)
{
    return g->now_ms - giving->since_ms > WAIT_MS_MAX;
}

static void drop_first(struct sl_engine *g)
{
    struct sl_giving *first = at(g, 0);
    if (is_open(g, first)) {
        sl_log(SL_LOG_WARN, "others wait no longer for what it gave back to be written", "workload",
               sl_intern_name(g->names, SL_INTERN_WORKLOAD, first->workload), NULL);
        g->workloads[first->workload].given.first = 0;
    }
    g->givings.first = (g->givings.first + 1) % g->givings.cap;
    g->givings.count--;
}

bool sl_given_back_waits(struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL);
    while (g->givings.count > 0 && (!is_open(g, at(g, 0)) || is_overdue(g, at(g, 0)))) {
        drop_first(g);
    }
    for (uint32_t i = 0; i < g->givings.count && at(g, i)->sequence < g->workloads[id].given.taken;
         i++) {
        if (at(g, i)->workload != id && is_open(g, at(g, i))) {
            return true;
        }
    }
    return false;
}

bool sl_given_back_takes(const struct sl_json *patch)
{
    return sl_json_type(sl_json_path(patch, "status.admission")) == SL_JSON_MAP;
}
