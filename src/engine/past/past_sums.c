/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/past/past_sums.h"
#include "base/check.h"
#include "base/mem.h"
#include "kernel/ledger/cells.h"
#include "policy/requests/offers.h"
#include <inttypes.h>
#include <string.h>

#define MS_OF_S 1000

static int64_t seconds(__int128 sum)
{
    __int128 s = sum / MS_OF_S;
    return s > SL_AMOUNT_UNLIMITED ? SL_AMOUNT_UNLIMITED : (int64_t)s;
}

static void emit(struct sl_past_sum *sum, struct sl_past_pipe *pipe)
{
    if (sum->qnode != 0) {
        sl_buf_print(&pipe->text,
                     "{\"do\":\"sum\",\"queue\":\"%s\",\"flavor\":\"%s\",\"resource\":\"%s\","
                     "\"used\":%" PRId64 ",\"nominal\":%" PRId64 "}\n",
                     sum->queue, sum->flavor, sum->resource, seconds(sum->used),
                     seconds(sum->nominal));
    }
    sl_mem_free(sum->queue);
    sl_mem_free(sum->flavor);
    sl_mem_free(sum->resource);
    *sum = (struct sl_past_sum){0};
}

/* Cells are given out again: a sum is that of one queue, flavor and resource. */
static bool is_of(const struct sl_past_sum *sum, const char *queue, const char *flavor,
                  const char *resource)
{
    return sum->qnode != 0 && strcmp(sum->queue, queue) == 0 && strcmp(sum->flavor, flavor) == 0 &&
           strcmp(sum->resource, resource) == 0;
}

static void add(struct sl_past_sums *s, const struct sl_engine *g, sl_qnode_id qnode,
                sl_cell_id cell, int64_t ms, struct sl_past_pipe *pipe)
{
    const char *flavor = sl_intern_name(g->names, SL_INTERN_FLAVOR, sl_cell_flavor[cell]);
    const char *resource = sl_intern_name(g->names, SL_INTERN_RESOURCE, sl_cell_resource[cell]);
    s->of = sl_mem_reach(s->of, &s->cap, 64, cell, sizeof *s->of);
    struct sl_past_sum *sum = &s->of[cell];
    if (!is_of(sum, g->qnodes[qnode]->name, flavor, resource)) {
        emit(sum, pipe);
        *sum = (struct sl_past_sum){.qnode = qnode + 1,
                                    .queue = sl_mem_text(g->qnodes[qnode]->name),
                                    .flavor = sl_mem_text(flavor),
                                    .resource = sl_mem_text(resource)};
    }
    sum->used += (__int128)sl_cell_own[cell] * ms;
    sum->nominal += (__int128)sl_cell_nominal[cell] * ms;
}

void sl_past_sums_add(struct sl_past_sums *s, const struct sl_engine *g, int64_t ms,
                      struct sl_past_pipe *pipe)
{
    SL_PRE(s != NULL && g != NULL && ms >= 0 && pipe != NULL);
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        if (g->qnodes[qnode] != NULL && g->qnodes[qnode]->is_cluster_queue) {
            for (sl_cell_id cell = sl_offers_first(qnode); cell != SL_NO_ID;
                 cell = sl_offers_next(cell)) {
                add(s, g, qnode, cell, ms, pipe);
            }
        }
    }
}

void sl_past_sums_fini(struct sl_past_sums *s, struct sl_past_pipe *pipe)
{
    SL_PRE(s != NULL && pipe != NULL);
    for (uint32_t i = 0; i < s->cap; i++) {
        emit(&s->of[i], pipe);
    }
    sl_mem_free(s->of);
    *s = (struct sl_past_sums){0};
}
