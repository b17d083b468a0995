/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: the checker's half for nodes and lists of cells. */
#ifndef SL_KERNEL_LEDGER_CHECK_H
#define SL_KERNEL_LEDGER_CHECK_H
#include "kernel/ledger/cells.h"
#include "kernel/base/types.h"

/* Is every node in place, and are its children counted? */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_node_limit <= SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_counts[0 .. SL_NODES_MAX - 1];
  ensures  checked:    \result <==> NodesChecked;
*/
bool sl_check_nodes(void);

/* Does each node's list count its ranks down to 1, and do the lists hold every cell in use? */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_node_limit <= SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_counts[0 .. SL_NODES_MAX - 1];
  ensures  checked:    \result <==> ListsChecked;
*/
bool sl_check_lists(void);

/* Is every cell below the limit in use or spare, and no spare one listed twice? */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_spare[0 .. SL_CELLS_MAX - 1];
  ensures  checked:    \result <==> SparesChecked;
*/
bool sl_check_spares(void);
#endif
