/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads counted by their marks, queue by queue. Nothing is kept up to date for it: only who asks pays. */
#include "base/check.h"
#include "base/effort.h"
#include "base/mem.h"
#include "engine/figures.h"
#include "engine/quota/tallies.h"
#include "engine/state.h"
#include "policy/queues/queues.h"
#include <stdio.h>

#define STEP 1024u   /* workloads that are looked at at once */
#define KEY_SIZE 512 /* of a LocalQueue */

struct sl_marks {
    const struct sl_engine *engine;
    uint32_t mark_count;
    sl_workload_id at;
    struct sl_map *queues; /* a ClusterQueue's name, or a LocalQueue's "namespace/name" -> counts */
};

void sl_engine_mark(struct sl_engine *g, const struct sl_json *workload, uint8_t mark)
{
    SL_PRE(g != NULL && workload != NULL);
    sl_workload_id id = sl_workload_find(g, workload);
    if (id != SL_NO_ID) {
        g->workloads[id].mark = mark;
    }
}

struct sl_marks *sl_marks_new(const struct sl_engine *g, uint32_t mark_count)
{
    SL_PRE(g != NULL && mark_count > 0);
    struct sl_marks *m = sl_mem_new(1, sizeof *m);
    *m = (struct sl_marks){.engine = g, .mark_count = mark_count, .queues = sl_map_new()};
    return m;
}

void sl_marks_free(struct sl_marks *m)
{
    if (m != NULL) {
        sl_map_free_with(m->queues, sl_mem_free);
        sl_mem_free(m);
    }
}

static struct sl_marked *counts_of(struct sl_marks *m, const char *queue, uint8_t mark)
{
    struct sl_marked *counts = sl_map_find(m->queues, queue);
    if (counts == NULL) {
        counts = sl_mem_new(m->mark_count, sizeof *counts);
        sl_map_put(m->queues, queue, (union sl_map_value){.pointer = counts});
    }
    SL_ASSERT(mark < m->mark_count);
    return &counts[mark];
}

static void count(struct sl_marks *m, sl_workload_id id)
{
    const struct sl_workload_entry *e = &m->engine->workloads[id];
    bool waits = sl_tally_waits(m->engine, id), admitted = e->standing == SL_STANDING_ADMITTED;
    if (e->uid == NULL || !(waits || admitted)) {
        return;
    }
    if (admitted) {
        counts_of(m, e->queue->key, e->mark)->admitted++;
    }
    if (e->counted_at != SL_NO_ID) {
        const struct sl_qnode_entry *n = m->engine->qnodes[e->counted_at];
        struct sl_marked *c = counts_of(m, n->name, e->mark);
        bool active = waits && n->active && sl_queues_awaits_turn(id);
        c->admitted += admitted;
        c->active += active;
        c->inadmissible += waits && !active;
    }
}

bool sl_marks_go_on(struct sl_marks *m)
{
    SL_PRE(m != NULL);
    sl_workload_id end = m->engine->workload_cap;
    for (uint32_t i = 0; i < STEP && m->at < end; i++) {
        count(m, m->at++);
    }
    sl_effort_add(STEP);
    return m->at < end;
}

const struct sl_marked *sl_marks_of(const struct sl_marks *m, enum sl_kind kind, const char *ns,
                                    const char *name)
{
    SL_PRE(m != NULL && ns != NULL && name != NULL);
    char key[KEY_SIZE];
    (void)snprintf(key, sizeof key, kind == SL_KIND_LOCAL_QUEUE ? "%s/%s" : "%s%s", ns, name);
    return sl_map_find(m->queues, key);
}
