/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Trees of the world, and who is woken by what happens in them. */
#include "engine/records/world.h"
#include "base/check.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "kernel/ledger/ledger.h"
#include "kernel/lifecycle/second_pass.h"
#include "policy/requests/offers.h"

struct sl_tree_entry *sl_world_tree(struct sl_engine *g, sl_tree_id tree)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    w->trees = sl_mem_reach(w->trees, &w->tree_cap, 16, tree, sizeof *w->trees);
    return &w->trees[tree];
}

struct sl_tree_entry *sl_world_find_tree(const struct sl_engine *g, sl_tree_id tree)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    return tree < w->tree_cap && w->trees[tree].topology != NULL ? &w->trees[tree] : NULL;
}

/* --- waking ----------------------------------------------------------------------------------- */

void sl_world_wake(struct sl_engine *g, sl_tree_id tree, enum sl_tree_news news)
{
    SL_PRE(g != NULL);
    g->world->trees[tree].news |= news;
    g->world->woken = true;
}

/* Those of one cohort wake together. */
static void tell_users(struct sl_engine *g, sl_tree_id tree, bool wake, int64_t now_ms)
{
    sl_qnode_id told = SL_NO_ID;
    for (sl_cell_id cell = sl_offers_first_of(tree); cell != SL_NO_ID;
         cell = sl_offers_next_of(cell)) {
        sl_qnode_id qnode = sl_ledger_qnode_of(cell);
        if (sl_ledger_root_qnode(qnode) != told) {
            told = sl_ledger_root_qnode(qnode);
            if (wake) {
                sl_tell(g, now_ms, wake_tree, .qnode = qnode);
            } else {
                sl_tell(g, now_ms, rouse_tree, .qnode = qnode);
            }
        }
    }
}

bool sl_world_woken(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return g->world->woken;
}

void sl_world_flush(struct sl_engine *g, int64_t now_ms)
{
    SL_PRE(g != NULL);
    struct sl_world *w = g->world;
    for (sl_tree_id tree = 0; w->woken && tree < w->tree_cap; tree++) {
        struct sl_tree_entry *t = &w->trees[tree];
        bool more = (t->news & SL_TREE_MORE) != 0;
        if (t->news != 0) {
            tell_users(g, tree, more, now_ms);
        }
        if (more && sl_second_pass_count() != 0) {
            sl_tell(g, now_ms, wake_passes, .flavor = tree, .now_ms = now_ms);
        }
        t->news = 0;
    }
    w->woken = false;
}
