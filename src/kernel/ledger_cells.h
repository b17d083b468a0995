/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: which cells exist, and the list of cells of each node. Owns the cells' names. */
#ifndef SL_KERNEL_LEDGER_CELLS_H
#define SL_KERNEL_LEDGER_CELLS_H
#include "kernel/cells.h"
#include "kernel/types.h"

/* The cell of that name, or SL_NO_ID. */
sl_cell_id sl_cells_find(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource);

/* Can so many more be made? */
bool sl_cells_have_room(uint32_t count);

/* A new cell without quota; give back the newest cell of a node. */
sl_cell_id sl_cells_add(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource);
void sl_cells_remove_first(sl_node_id node);
#endif
