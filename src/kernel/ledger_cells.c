/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The cells of a node are a list, newest first, whose ranks count down to 1: so it ends, and misses none. */
#include "kernel/ledger_cells.h"

uint32_t sl_node_cells[SL_NODES_MAX];
uint32_t sl_node_first[SL_NODES_MAX];
uint32_t sl_cell_home[SL_CELLS_MAX];
sl_flavor_id sl_cell_flavor[SL_CELLS_MAX];
sl_resource_id sl_cell_resource[SL_CELLS_MAX];
uint32_t sl_cell_next[SL_CELLS_MAX];
uint32_t sl_cell_rank[SL_CELLS_MAX];
uint32_t sl_cell_limit;
sl_cell_id sl_cell_spare[SL_CELLS_MAX];
uint32_t sl_cell_spares;

sl_cell_id sl_cells_find(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource)
{
    uint32_t link = sl_node_first[node];
    while (link != 0) {
        sl_cell_id cell = link - 1;
        if (sl_cell_flavor[cell] == flavor && sl_cell_resource[cell] == resource) {
            return cell;
        }
        link = sl_cell_next[cell];
    }
    return SL_NO_ID;
}

bool sl_cells_have_room(uint32_t count)
{
    return count <= sl_cell_spares + (SL_CELLS_MAX - sl_cell_limit);
}

static sl_cell_id take(void)
{
    if (sl_cell_spares > 0) {
        sl_cell_spares--;
        return sl_cell_spare[sl_cell_spares];
    }
    return sl_cell_limit++;
}

sl_cell_id sl_cells_add(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource)
{
    sl_cell_id cell = take();
    sl_cell_home[cell] = node + 1;
    sl_cell_flavor[cell] = flavor;
    sl_cell_resource[cell] = resource;
    sl_cell_next[cell] = sl_node_first[node];
    sl_node_first[node] = cell + 1;
    sl_node_cells[node]++;
    sl_cell_rank[cell] = sl_node_cells[node];
    return cell;
}

void sl_cells_remove_first(sl_node_id node)
{
    sl_cell_id cell = sl_node_first[node] - 1;
    sl_node_first[node] = sl_cell_next[cell];
    sl_node_cells[node]--;
    sl_cell_home[cell] = 0;
    sl_cell_spare[sl_cell_spares] = cell;
    sl_cell_spares++;
}
