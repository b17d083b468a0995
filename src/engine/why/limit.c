/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From the ClusterQueue's cell up to the root, as the ledger goes. */
#include "engine/why/limit.h"
#include "base/check.h"
#include "base/effort.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_view.h"
#include "policy/fair/branches.h"

#define QNODES_MAX 1024u /* that are looked at for lending limits */

int64_t sl_why_borrowing_limit(const struct sl_engine *g, sl_cell_id cell)
{
    SL_PRE(g != NULL);
    sl_qnode_id qnode = sl_ledger_qnode_of(cell);
    const struct sl_qnode_entry *n = qnode == SL_NO_ID ? NULL : g->qnodes[qnode];
    for (uint32_t i = 0; n != NULL && i < n->quotas.quota_count; i++) {
        const struct sl_quota *quota = &n->quotas.quotas[i];
        if (quota->flavor == sl_ledger_flavor_of(cell) &&
            quota->resource == sl_ledger_resource_of(cell)) {
            return quota->borrowing;
        }
    }
    return SL_AMOUNT_UNLIMITED;
}

static int64_t above_zero(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

/* What the cell may take from its parent by its own borrowing limit: all that it lends comes back, and the limit. */
static int64_t may_take(sl_cell_id cell, int64_t borrowing, bool ever)
{
    int64_t kept = sl_ledger_kept(cell);
    int64_t taken = ever ? 0 : above_zero(sl_ledger_usage(cell) - kept);
    return sl_ledger_subtree(cell) - kept - taken + borrowing;
}

static int64_t sum_of(int64_t a, int64_t b)
{
    return a + b < SL_AMOUNT_MAX ? a + b : SL_AMOUNT_MAX;
}

/* What lending limits keep out of the tree's common quota, and what of that is unused in other parts of the tree: the way
 * from the cell to the root has the use of its own. */
static void add_kept(sl_cell_id cell, struct sl_why_limit *out)
{
    sl_qnode_id root = sl_ledger_root_qnode(sl_ledger_qnode_of(cell));
    sl_qnode_id qnode = root;
    for (uint32_t i = 0; qnode != SL_NO_ID && i < QNODES_MAX; i++) {
        sl_cell_id other =
            sl_ledger_find_cell(qnode, sl_ledger_flavor_of(cell), sl_ledger_resource_of(cell));
        bool on_the_way = false;
        for (sl_cell_id up = cell; up != SL_NO_ID && !on_the_way; up = sl_ledger_parent_cell(up)) {
            on_the_way = up == other;
        }
        int64_t kept = other != SL_NO_ID && qnode != root ? above_zero(sl_ledger_kept(other)) : 0;
        out->kept = sum_of(out->kept, kept);
        if (!on_the_way) {
            out->withheld =
                sum_of(out->withheld,
                       above_zero(kept - above_zero(kept > 0 ? sl_ledger_usage(other) : 0)));
        }
        qnode = sl_branches_walk(root, qnode, false);
        sl_effort_add(1);
    }
}

static struct sl_why_limit limit_of(const struct sl_engine *g, sl_cell_id cell, bool ever)
{
    struct sl_why_limit out = {.kind = SL_WHY_COHORT, .cell = cell};
    sl_cell_id parent = sl_ledger_parent_cell(out.cell);
    while (parent != SL_NO_ID) {
        int64_t borrowing = sl_why_borrowing_limit(g, out.cell);
        int64_t above = ever ? sl_ledger_potential(parent) : sl_ledger_available(parent);
        if (borrowing < SL_AMOUNT_UNLIMITED && may_take(out.cell, borrowing, ever) < above) {
            out.kind = SL_WHY_BORROWING;
            out.quota = sl_ledger_subtree(out.cell) + borrowing;
            out.used = ever ? 0 : sl_ledger_usage(out.cell);
            return out;
        }
        out.cell = parent;
        parent = sl_ledger_parent_cell(out.cell);
    }
    out.kind = out.cell == cell ? SL_WHY_NOMINAL : SL_WHY_COHORT;
    out.quota = sl_ledger_subtree(out.cell);
    out.used = ever ? 0 : sl_ledger_usage(out.cell);
    if (out.kind == SL_WHY_COHORT && !ever) {
        add_kept(cell, &out);
    }
    return out;
}

struct sl_why_limit sl_why_limit_now(const struct sl_engine *g, sl_cell_id cell)
{
    SL_PRE(g != NULL && cell < SL_CELLS_MAX);
    return limit_of(g, cell, false);
}

struct sl_why_limit sl_why_limit_ever(const struct sl_engine *g, sl_cell_id cell)
{
    SL_PRE(g != NULL && cell < SL_CELLS_MAX);
    return limit_of(g, cell, true);
}

const char *sl_why_limit_name(enum sl_why_limit_kind kind)
{
    static const char *const names[] = {[SL_WHY_NOMINAL] = "nominalQuota",
                                        [SL_WHY_BORROWING] = "borrowingLimit",
                                        [SL_WHY_COHORT] = "cohort"};
    return names[kind];
}

void sl_why_print_qnode(const struct sl_engine *g, sl_qnode_id qnode, struct sl_buf *out)
{
    SL_PRE(g != NULL);
    const struct sl_qnode_entry *n = qnode == SL_NO_ID ? NULL : g->qnodes[qnode];
    if (n != NULL) {
        sl_buf_print(out, "%s %s", n->is_cluster_queue ? "ClusterQueue" : "Cohort", n->name);
    }
}
