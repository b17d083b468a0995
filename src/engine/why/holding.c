/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Over the ClusterQueues in which some of it is held, and over their holders. */
#include "engine/why/holding.h"
#include "base/check.h"
#include "base/effort.h"
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "policy/fair/branches.h"
#include "policy/queues/holders.h"

int64_t sl_why_held(sl_workload_id id, sl_cell_id cell)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < sl_commit_usage_count(id); i++) {
        struct sl_cell_amount held = sl_commit_usage(id, i);
        sum += held.cell == cell ? held.amount : 0;
    }
    return sum;
}

/* Among equals the one that was found first. */
static void rank_holder(struct sl_why_holders *out, struct sl_why_holder holder)
{
    uint32_t at = out->count;
    while (at > 0 && out->at[at - 1].amount < holder.amount) {
        if (at < SL_WHY_HOLDERS_MAX) {
            out->at[at] = out->at[at - 1];
        }
        at--;
    }
    if (at < SL_WHY_HOLDERS_MAX) {
        out->at[at] = holder;
        out->count += out->count < SL_WHY_HOLDERS_MAX;
    }
}

static void rank_queue(struct sl_why_holders *out, struct sl_why_queue_share share)
{
    uint32_t at = out->queue_count;
    while (at > 0 && out->queues[at - 1].used < share.used) {
        if (at < SL_WHY_HOLDERS_MAX) {
            out->queues[at] = out->queues[at - 1];
        }
        at--;
    }
    if (at < SL_WHY_HOLDERS_MAX) {
        out->queues[at] = share;
        out->queue_count += out->queue_count < SL_WHY_HOLDERS_MAX;
    }
}

static void look_into(sl_qnode_id queue, sl_cell_id cell, uint32_t *seen,
                      struct sl_why_holders *out)
{
    sl_workload_id id = sl_holders_first(queue);
    while (id != SL_NO_ID && *seen < SL_WHY_HOLDERS_SEEN_MAX) {
        struct sl_why_holder holder = {id, queue, sl_why_held(id, cell)};
        if (holder.amount > 0) {
            out->all++;
            rank_holder(out, holder);
        }
        *seen += 1;
        id = sl_holders_next(id);
    }
    out->cut = out->cut || id != SL_NO_ID;
}

void sl_why_holders_find(sl_cell_id cell, struct sl_why_holders *out)
{
    SL_PRE(out != NULL);
    sl_qnode_id top = sl_ledger_qnode_of(cell);
    sl_flavor_id flavor = sl_ledger_flavor_of(cell);
    sl_resource_id resource = sl_ledger_resource_of(cell);
    sl_qnode_id qnode = top;
    uint32_t seen = 0, steps = 0;
    *out = (struct sl_why_holders){0};
    for (; qnode != SL_NO_ID && steps < SL_WHY_QNODES_SEEN_MAX; steps++) {
        sl_cell_id own = sl_ledger_find_cell(qnode, flavor, resource);
        if (own != SL_NO_ID && sl_ledger_own(own) > 0) {
            rank_queue(out, (struct sl_why_queue_share){qnode, sl_ledger_own(own),
                                                        sl_ledger_nominal(own)});
            look_into(qnode, own, &seen, out);
        }
        qnode = sl_branches_walk(top, qnode, false);
    }
    out->cut = out->cut || qnode != SL_NO_ID;
    sl_effort_add(seen + steps);
}
