/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/quota/parent_figures.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/effort.h"
#include "base/mem.h"
#include "engine/state.h"

struct sl_parent_figures {
    struct sl_map *parents; /* uid -> struct parent * */
    struct sl_map *queues;  /* "ns/name" -> struct counts * */
};
struct counts {
    uint32_t all, by[SL_PARENT_FINISHED + 1u];
};
struct parent {
    uint32_t how;
    char *queue_key;
};

static void free_parent(void *value)
{
    struct parent *p = value;
    sl_mem_free(p->queue_key);
    sl_mem_free(p);
}

static void count(struct sl_map *queues, const struct parent *p)
{
    struct counts *c = sl_map_find(queues, p->queue_key);
    if (c == NULL) {
        c = sl_mem_new(1, sizeof *c);
        sl_map_put(queues, p->queue_key, (union sl_map_value){.pointer = c});
    }
    c->all++;
    c->by[p->how]++;
}

static void discount(struct sl_map *queues, const struct parent *p)
{
    struct counts *c = sl_map_find(queues, p->queue_key);
    SL_ASSERT(c != NULL && c->all > 0 && c->by[p->how] > 0);
    c->by[p->how]--;
    if (--c->all == 0) {
        (void)sl_map_remove(queues, p->queue_key, NULL);
        sl_mem_free(c);
    }
}

static void leave(struct sl_parent_figures *w, const char *uid)
{
    union sl_map_value old;
    if (sl_map_remove(w->parents, uid, &old)) {
        discount(w->queues, old.pointer);
        free_parent(old.pointer);
    }
}

static void enter(struct sl_parent_figures *w, const struct sl_json *object, uint32_t how)
{
    struct sl_buf key = {0};
    struct parent *p = sl_mem_new(1, sizeof *p);
    sl_buf_print(&key, "%s/%s", sl_object_namespace(object),
                 sl_json_path_text(object, "spec.queueName", ""));
    *p = (struct parent){how, sl_mem_text(key.data)};
    sl_buf_fini(&key);
    sl_map_put(w->parents, sl_object_uid(object), (union sl_map_value){.pointer = p});
    count(w->queues, p);
}

/* 0: it does not count. */
static uint32_t how_is(const struct sl_json *object)
{
    if (sl_object_deleting(object)) {
        return 0;
    }
    return sl_condition_true(object, "Finished") ? SL_PARENT_FINISHED
                                                 : sl_condition_unadmitted_said(object);
}

void sl_parent_figures_take(struct sl_engine *g, const struct sl_json *object, bool is)
{
    SL_PRE(g != NULL);
    uint32_t how = is ? how_is(object) : 0;
    if (g->parents == NULL && how == 0) {
        return;
    }
    if (g->parents == NULL) {
        g->parents = sl_mem_new(1, sizeof *g->parents);
        *g->parents = (struct sl_parent_figures){sl_map_new(), sl_map_new()};
    }
    leave(g->parents, sl_object_uid(object));
    if (how != 0) {
        enter(g->parents, object, how);
    }
}

void sl_parent_figures_fini(struct sl_engine *g)
{
    SL_PRE(g != NULL);
    if (g->parents != NULL) {
        sl_map_free_with(g->parents->parents, free_parent);
        sl_map_free_with(g->parents->queues, sl_mem_free);
        sl_mem_free(g->parents);
        g->parents = NULL;
    }
}

uint32_t sl_parent_figures_local(const struct sl_engine *g, const struct sl_local_queue *q,
                                 uint32_t how)
{
    SL_PRE(g != NULL && q != NULL && how <= SL_PARENT_FINISHED);
    const struct counts *c = g->parents == NULL ? NULL : sl_map_find(g->parents->queues, q->key);
    return c == NULL ? 0 : c->by[how];
}

uint32_t sl_parent_figures_cluster(const struct sl_engine *g, sl_qnode_id queue, uint32_t how)
{
    SL_PRE(g != NULL && queue < g->qnode_cap);
    uint32_t sum = 0;
    if (g->parents == NULL) {
        return 0;
    }
    for (const struct sl_local_queue *q = g->qnodes[queue]->first_queue; q != NULL; q = q->next) {
        sum += q->exists ? sl_parent_figures_local(g, q, how) : 0;
        sl_effort_add(1);
    }
    return sum;
}
