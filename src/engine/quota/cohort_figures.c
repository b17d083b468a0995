/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Figures for metrics: of the tree of cohorts, and of what lies below each of them. */
#include "base/check.h"
#include "base/mem.h"
#include "engine/figures.h"
#include "engine/state.h"
#include "kernel/ledger/cells.h"
#include "kernel/ledger/ledger.h"

static const char *name_or_none(const struct sl_engine *g, sl_qnode_id qnode)
{
    return qnode == SL_NO_ID ? "" : g->qnodes[qnode]->name;
}

/* Is it in the tree that Kueue's metrics speak of? A ClusterQueue is when it has an object. */
static bool assignments(const struct sl_qnode_entry *n)
{
    return n != NULL && n->open && (n->exists || !n->is_cluster_queue);
}

static uint32_t *new_admitted(const struct sl_engine *g)
{
    uint32_t *admitted = sl_mem_new(g->qnode_cap, sizeof *admitted);
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        if (g->qnodes[qnode] == NULL || !g->qnodes[qnode]->open) {
            continue;
        }
        for (sl_qnode_id up = qnode; up != SL_NO_ID; up = sl_ledger_parent_qnode(up)) {
            admitted[up] += g->qnodes[qnode]->tally.admitted;
        }
    }
    return admitted;
}

void sl_engine_tree(const struct sl_engine *g, sl_tree_fn *visit, void *context)
{
    SL_PRE(g != NULL && visit != NULL);
    uint32_t *admitted = new_admitted(g);
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        const struct sl_qnode_entry *n = g->qnodes[qnode];
        if (assignments(n)) {
            sl_qnode_id parent = sl_ledger_parent_qnode(qnode);
            bool alone = n->is_cluster_queue && parent == SL_NO_ID;
            visit(context, &(struct sl_tree_qnode){
                               .kind = n->is_cluster_queue ? SL_KIND_CLUSTER_QUEUE : SL_KIND_COHORT,
                               .name = n->name,
                               .parent = name_or_none(g, parent),
                               .root = alone ? "" : g->qnodes[sl_ledger_root_qnode(qnode)]->name,
                               .admitted = admitted[qnode]});
        }
    }
    sl_mem_free(admitted);
}

bool sl_engine_has_cohort(const struct sl_engine *g, const char *name)
{
    SL_PRE(g != NULL && name != NULL);
    sl_qnode_id qnode = sl_qnode_find(g, false, name);
    return qnode != SL_NO_ID && assignments(g->qnodes[qnode]);
}

void sl_engine_cohorts_above(const struct sl_engine *g, const char *cluster_queue,
                             sl_qnode_fn *visit, void *context)
{
    SL_PRE(g != NULL && cluster_queue != NULL && visit != NULL);
    sl_qnode_id qnode = sl_qnode_find(g, true, cluster_queue);
    while (qnode != SL_NO_ID && (qnode = sl_ledger_parent_qnode(qnode)) != SL_NO_ID) {
        visit(context, SL_KIND_COHORT, g->qnodes[qnode]->name);
    }
}

/* What is charged to each cell and to all below it. */
static int64_t *new_reserved(void)
{
    int64_t *reserved = sl_mem_new(sl_cell_limit + 1, sizeof *reserved);
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        int64_t own = sl_cell_home[cell] == 0 ? 0 : sl_ledger_own(cell);
        for (uint32_t up = own == 0 ? 0 : cell + 1; up != 0; up = sl_cell_up[up - 1]) {
            reserved[up - 1] += own;
        }
    }
    return reserved;
}

void sl_engine_cohort_quotas(const struct sl_engine *g, sl_cohort_quota_fn *visit, void *context)
{
    SL_PRE(g != NULL && visit != NULL);
    int64_t *reserved = new_reserved();
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        sl_qnode_id qnode = sl_ledger_qnode_of(cell);
        if (qnode != SL_NO_ID && !g->qnodes[qnode]->is_cluster_queue) {
            visit(context,
                  &(struct sl_cohort_quota){.cohort = g->qnodes[qnode]->name,
                                            .flavor = sl_intern_name(g->names, SL_INTERN_FLAVOR,
                                                                     sl_ledger_flavor_of(cell)),
                                            .resource = sl_intern_name(g->names, SL_INTERN_RESOURCE,
                                                                       sl_ledger_resource_of(cell)),
                                            .quota = sl_cell_subtree[cell],
                                            .reserved = reserved[cell]});
        }
    }
    sl_mem_free(reserved);
}
