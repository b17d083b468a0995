/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How high a workload must reach to borrow. Heights of nodes are worked out anew at the first question after
 * the forest has changed: a maximum cannot be taken back step by step. */
#include "kernel/ledger.h"

#include "kernel/cells.h"

uint32_t sl_node_height[SL_NODES_MAX];
bool sl_heights_stale;

/* Forget all heights; the deepest level in use is the result. */
static uint32_t clear_heights(void)
{
    uint32_t deepest = 0;
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        sl_node_height[node] = 0;
        if (sl_node_level[node] > deepest) {
            deepest = sl_node_level[node];
        }
    }
    return deepest;
}

/* Every node of the level raises its parent above itself. */
static void raise_parents(uint32_t level)
{
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        if (sl_node_level[node] == level && sl_node_up[node] != 0) {
            sl_node_id parent = sl_node_up[node] - 1;
            if (sl_node_height[parent] <= sl_node_height[node]) {
                sl_node_height[parent] = sl_node_height[node] + 1;
            }
        }
    }
}

static void refresh_heights(void)
{
    for (uint32_t level = clear_heights(); level > 0; level--) {
        raise_parents(level);
    }
    sl_heights_stale = false;
}

/* Does `amount` more stay within the quota of the cell's subtree? */
static bool fits(sl_cell_id cell, int64_t amount)
{
    return sl_cell_usage[cell] + amount <= sl_cell_subtree[cell];
}

uint32_t sl_ledger_borrow_height(sl_cell_id cell, int64_t amount)
{
    if (cell >= SL_CELLS_MAX || amount < 0 || amount > SL_AMOUNT_MAX || sl_cell_up[cell] == 0 ||
        fits(cell, amount)) {
        return 0;
    }
    if (sl_heights_stale) {
        refresh_heights();
    }
    while (sl_cell_up[cell] != 0 && !fits(cell, amount)) {
        if (sl_cell_kept[cell] > sl_cell_usage[cell]) {
            amount -= sl_cell_kept[cell] - sl_cell_usage[cell];
        }
        cell = sl_cell_up[cell] - 1;
    }
    return sl_node_height[sl_cell_home[cell] - 1];
}
