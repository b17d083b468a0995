/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The forest of nodes. A cell's parent is the cell of the same flavor and resource in the node's parent, and
 * there always is one: whoever opens a cell or moves a node opens the chain above. */
#include "kernel/ledger.h"
#include "kernel/ledger_cells.h"
#include "kernel/ledger_quota.h"
#include "kernel/trail.h"

bool sl_node_used[SL_NODES_MAX];
uint32_t sl_node_up[SL_NODES_MAX];
uint32_t sl_node_level[SL_NODES_MAX];
uint32_t sl_node_children[SL_NODES_MAX];
uint32_t sl_node_limit;

/* What a move has found out before it changes anything. */
static bool moves[SL_NODES_MAX];           /* does this node lie under the one that moves? */
static sl_cell_id targets[SL_CELLS_MAX];   /* what this cell will hang under */

static enum sl_status check(sl_node_id node)
{
    if (node >= SL_NODES_MAX || !sl_node_used[node]) {
        return SL_REFUSED_NO_NODE_ID;
    }
    return sl_trail_open() ? SL_REFUSED_TRIAL_OPEN : SL_OK;
}

enum sl_status sl_ledger_open_node(sl_node_id node)
{
    if (node >= SL_NODES_MAX) {
        return SL_FULL_NODES;
    }
    if (sl_node_used[node]) {
        return SL_REFUSED_IN_USE;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    sl_node_used[node] = true;
    if (node >= sl_node_limit) {
        sl_node_limit = node + 1;
    }
    return SL_OK;
}

/* Is something charged to one of the node's cells? */
static bool is_charged(sl_node_id node)
{
    uint32_t link = sl_node_first[node];
    while (link != 0) {
        if (sl_cell_own[link - 1] != 0) {
            return true;
        }
        link = sl_cell_next[link - 1];
    }
    return false;
}

/* Hang the node itself elsewhere, without its cells. */
static void set_parent(sl_node_id node, uint32_t up)
{
    if (sl_node_up[node] != 0) {
        sl_node_children[sl_node_up[node] - 1]--;
    }
    if (up != 0) {
        sl_node_children[up - 1]++;
    }
    sl_node_up[node] = up;
    sl_heights_stale = true;
}

enum sl_status sl_ledger_close_node(sl_node_id node)
{
    enum sl_status status = check(node);
    if (status != SL_OK) {
        return status;
    }
    if (sl_node_children[node] != 0 || is_charged(node)) {
        return SL_REFUSED_IN_USE;
    }
    while (sl_node_first[node] != 0) {
        sl_cell_id cell = sl_node_first[node] - 1;
        sl_quota_set(cell, 0, 0, 0);
        sl_quota_unlink(cell);
        sl_cells_remove_first(node);
    }
    set_parent(node, 0);
    sl_node_level[node] = 0;
    sl_node_used[node] = false;
    return SL_OK;
}

/* Make the cells that are missing on the path, from the root downwards, each hung under the one before; so
 * the chain is whole at every moment. */
static sl_cell_id make_chain(const sl_node_id path[SL_LEVELS_MAX], uint32_t count, sl_cell_id above,
                             sl_flavor_id flavor, sl_resource_id resource)
{
    while (count > 0) {
        count--;
        sl_cell_id made = sl_cells_add(path[count], flavor, resource);
        sl_quota_set(made, 0, SL_AMOUNT_UNLIMITED, SL_AMOUNT_UNLIMITED);
        if (above != SL_NO_ID) {
            sl_quota_link(made, above);
        }
        above = made;
    }
    return above;
}

/* The cell of that name, made together with those missing above it; SL_NO_ID when there is no room for all. */
static sl_cell_id open_chain(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource)
{
    sl_node_id path[SL_LEVELS_MAX];
    uint32_t count = 0;
    uint32_t up = node + 1;
    sl_cell_id above = SL_NO_ID;
    while (up != 0 && above == SL_NO_ID) {
        above = sl_cells_find(up - 1, flavor, resource);
        if (above == SL_NO_ID) {
            path[count] = up - 1;
            count++;
            up = sl_node_up[up - 1];
        }
    }
    return count <= sl_cells_room() ? make_chain(path, count, above, flavor, resource) : SL_NO_ID;
}

enum sl_status sl_ledger_open_cell(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource,
                                   sl_cell_id *cell)
{
    if (node >= SL_NODES_MAX || !sl_node_used[node]) {
        return SL_REFUSED_NO_NODE_ID;
    }
    sl_cell_id found = sl_cells_find(node, flavor, resource);
    if (found == SL_NO_ID) {
        if (sl_trail_open()) {
            return SL_REFUSED_TRIAL_OPEN;
        }
        found = open_chain(node, flavor, resource);
        if (found == SL_NO_ID) {
            return SL_FULL_CELLS;
        }
    }
    *cell = found;
    return SL_OK;
}

/* Does `node` lie under `top`, or is it that one? */
static bool is_under(sl_node_id node, sl_node_id top)
{
    sl_node_id at = node;
    while (at != top && sl_node_up[at] != 0) {
        at = sl_node_up[at] - 1;
    }
    return at == top;
}

/* Find out which nodes move along, and whether one of them would lie too deep. */
static bool plan_levels(sl_node_id node, uint32_t level)
{
    for (sl_node_id other = 0; other < sl_node_limit; other++) {
        moves[other] = is_under(other, node);
        if (moves[other] && sl_node_level[other] - sl_node_level[node] + level >= SL_LEVELS_MAX) {
            return false;
        }
    }
    return true;
}

static void set_levels(sl_node_id node, uint32_t level)
{
    uint32_t before = sl_node_level[node];
    for (sl_node_id other = 0; other < sl_node_limit; other++) {
        if (moves[other]) {
            sl_node_level[other] = sl_node_level[other] - before + level;
        }
    }
}

/* Find, for every cell of the node, the one it will hang under. */
static bool plan_targets(sl_node_id node, sl_node_id parent)
{
    uint32_t link = sl_node_first[node];
    while (link != 0) {
        sl_cell_id cell = link - 1;
        targets[cell] = open_chain(parent, sl_cell_flavor[cell], sl_cell_resource[cell]);
        if (targets[cell] == SL_NO_ID) {
            return false;
        }
        link = sl_cell_next[cell];
    }
    return true;
}

static void unlink_cells(sl_node_id node)
{
    for (uint32_t link = sl_node_first[node]; link != 0; link = sl_cell_next[link - 1]) {
        sl_quota_unlink(link - 1);
    }
}

static void link_cells(sl_node_id node)
{
    for (uint32_t link = sl_node_first[node]; link != 0; link = sl_cell_next[link - 1]) {
        sl_quota_link(link - 1, targets[link - 1]);
    }
}

/* A node without children needs no look at the others: the common case, and many nodes are loaded so. */
static bool plan_move(sl_node_id node, uint32_t level)
{
    return sl_node_children[node] == 0 ? level < SL_LEVELS_MAX : plan_levels(node, level);
}

static void relevel(sl_node_id node, uint32_t level)
{
    if (sl_node_children[node] == 0) {
        sl_node_level[node] = level;
    } else {
        set_levels(node, level);
    }
}

/* Everything is found out before the first change; only cells without quota may have been opened by then. */
static enum sl_status move(sl_node_id node, uint32_t up)
{
    uint32_t level = up != 0 ? sl_node_level[up - 1] + 1 : 0;
    if (up != 0 && is_under(up - 1, node)) {
        return SL_REFUSED_CYCLE;
    }
    if (!plan_move(node, level)) {
        return SL_REFUSED_TOO_DEEP;
    }
    if (up != 0 && !plan_targets(node, up - 1)) {
        return SL_FULL_CELLS;
    }
    unlink_cells(node);
    relevel(node, level);
    set_parent(node, up);
    if (up != 0) {
        link_cells(node);
    }
    return SL_OK;
}

enum sl_status sl_ledger_move_node(sl_node_id node, sl_node_id parent)
{
    enum sl_status status = check(node);
    if (status != SL_OK) {
        return status;
    }
    if (parent == SL_NO_ID) {
        return move(node, 0);
    }
    if (parent >= SL_NODES_MAX || !sl_node_used[parent]) {
        return SL_REFUSED_NO_NODE_ID;
    }
    return sl_node_up[node] == parent + 1 ? SL_OK : move(node, parent + 1);
}
