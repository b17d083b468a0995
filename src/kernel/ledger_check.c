/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The checker that tests, fuzzers and simulator call: it adds everything up anew and compares. */
#include "kernel/cells.h"
#include "kernel/ledger.h"

/* Scratch: what children add up to. */
static int64_t stored_sum[SL_CELLS_MAX];
static int64_t lent_low_sum[SL_CELLS_MAX];
static int64_t lent_high_sum[SL_CELLS_MAX];
static int64_t total_sum[SL_TOTALS_MAX];
static uint32_t children_sum[SL_NODES_MAX];
static bool listed[SL_CELLS_MAX]; /* did its node's list lead to it? */

static void clear_sums(void)
{
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        stored_sum[cell] = 0;
        lent_low_sum[cell] = 0;
        lent_high_sum[cell] = 0;
        listed[cell] = false;
    }
    for (uint32_t i = 0; i < SL_TOTALS_MAX; i++) {
        total_sum[i] = 0;
    }
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        children_sum[node] = 0;
    }
}

static bool node_is_sound(sl_node_id node)
{
    uint32_t up = sl_node_up[node];
    if (!sl_node_used[node]) {
        return up == 0 && sl_node_level[node] == 0 && sl_node_first[node] == 0 && sl_node_cells[node] == 0;
    }
    if (up == 0) {
        return sl_node_level[node] == 0;
    }
    return up <= sl_node_limit && sl_node_used[up - 1] && sl_node_level[node] < SL_LEVELS_MAX &&
           sl_node_level[node] == sl_node_level[up - 1] + 1;
}

/* Is the cell where its node's list says, and under the right cell? */
static bool cell_is_linked(sl_cell_id cell)
{
    uint32_t home = sl_cell_home[cell];
    uint32_t up = sl_cell_up[cell];
    if (home == 0) {
        return up == 0;
    }
    if (home > sl_node_limit || !sl_node_used[home - 1]) {
        return false;
    }
    if (up == 0) {
        return sl_node_up[home - 1] == 0;
    }
    return up <= sl_cell_limit && sl_cell_home[up - 1] != 0 &&
           sl_cell_home[up - 1] == sl_node_up[home - 1] &&
           sl_cell_flavor[up - 1] == sl_cell_flavor[cell] &&
           sl_cell_resource[up - 1] == sl_cell_resource[cell];
}

static bool is_quota(int64_t amount)
{
    return amount >= 0 && amount <= SL_AMOUNT_UNLIMITED;
}

static bool limits_are_in_range(sl_cell_id cell)
{
    return is_quota(sl_cell_nominal[cell]) && is_quota(sl_cell_lending[cell]) &&
           is_quota(sl_cell_borrowing[cell]) && sl_cell_lent_low[cell] >= 0 &&
           sl_cell_lent_low[cell] < SL_LENT_UNIT && sl_cell_lent_high[cell] >= 0;
}

static bool usage_is_in_range(sl_cell_id cell)
{
    return sl_cell_own[cell] >= 0 && sl_cell_own[cell] <= sl_cell_usage[cell] &&
           sl_cell_usage[cell] <= SL_AMOUNT_MAX;
}

/* Is the quota what follows from the limits? */
static bool quota_is_derived(sl_cell_id cell)
{
    int64_t subtree = sl_cell_nominal[cell] + sl_cell_lent_low[cell];
    int64_t lending = sl_cell_lending[cell];
    if (sl_cell_lent_high[cell] > 0 || subtree > SL_AMOUNT_UNLIMITED) {
        subtree = SL_AMOUNT_UNLIMITED;
    }
    return sl_cell_subtree[cell] == subtree &&
           sl_cell_kept[cell] == (subtree > lending ? subtree - lending : 0);
}

/* Add the cell to its resource's total and to its parent's sums. A sum that is too large has no cell or total
 * that it could equal. */
static bool add_up(sl_cell_id cell)
{
    uint32_t slot = sl_cell_resource[cell] % SL_TOTALS_MAX;
    total_sum[slot] += sl_cell_own[cell];
    if (sl_cell_up[cell] == 0) {
        return total_sum[slot] <= SL_AMOUNT_MAX;
    }
    sl_cell_id parent = sl_cell_up[cell] - 1;
    if (sl_cell_usage[cell] > sl_cell_kept[cell]) {
        stored_sum[parent] += sl_cell_usage[cell] - sl_cell_kept[cell];
    }
    lent_low_sum[parent] += sl_cell_subtree[cell] - sl_cell_kept[cell];
    if (lent_low_sum[parent] >= SL_LENT_UNIT) {
        lent_low_sum[parent] -= SL_LENT_UNIT;
        lent_high_sum[parent]++;
    }
    return total_sum[slot] <= SL_AMOUNT_MAX && stored_sum[parent] <= SL_AMOUNT_MAX;
}

static bool cells_are_sound(void)
{
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        if (!cell_is_linked(cell) || !limits_are_in_range(cell) || !usage_is_in_range(cell) ||
            !quota_is_derived(cell) || !add_up(cell)) {
            return false;
        }
    }
    return true;
}

static bool sums_agree(void)
{
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        if (sl_cell_usage[cell] != sl_cell_own[cell] + stored_sum[cell] ||
            sl_cell_lent_low[cell] != lent_low_sum[cell] ||
            sl_cell_lent_high[cell] != lent_high_sum[cell]) {
            return false;
        }
    }
    for (uint32_t i = 0; i < SL_TOTALS_MAX; i++) {
        if (sl_total[i] != total_sum[i]) {
            return false;
        }
    }
    return true;
}

static bool nodes_are_sound(void)
{
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        if (!node_is_sound(node)) {
            return false;
        }
        if (sl_node_up[node] != 0) {
            children_sum[sl_node_up[node] - 1]++;
        }
    }
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        if (sl_node_children[node] != children_sum[node]) {
            return false;
        }
    }
    return true;
}

/* Follow the node's list: ranks count down to 1, and every cell is one of its own. */
static bool list_is_sound(sl_node_id node)
{
    uint32_t rank = sl_node_cells[node];
    uint32_t link = sl_node_first[node];
    while (link != 0 && rank > 0) {
        if (link > sl_cell_limit || sl_cell_home[link - 1] != node + 1 || sl_cell_rank[link - 1] != rank) {
            return false;
        }
        listed[link - 1] = true;
        rank--;
        link = sl_cell_next[link - 1];
    }
    return link == 0 && rank == 0;
}

static bool lists_are_complete(void)
{
    for (sl_node_id node = 0; node < sl_node_limit; node++) {
        if (!list_is_sound(node)) {
            return false;
        }
    }
    for (sl_cell_id cell = 0; cell < sl_cell_limit; cell++) {
        if (listed[cell] != (sl_cell_home[cell] != 0)) {
            return false;
        }
    }
    return true;
}

bool sl_ledger_valid(void)
{
    clear_sums();
    return nodes_are_sound() && cells_are_sound() && sums_agree() && lists_are_complete();
}
