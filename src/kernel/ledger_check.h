/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: the checker's half for nodes and lists. */
#ifndef SL_KERNEL_LEDGER_CHECK_H
#define SL_KERNEL_LEDGER_CHECK_H
#include "kernel/cells.h"
#include "kernel/types.h"

/* Is every node in place, and are its children counted? */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_node_limit <= SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_children[0 .. SL_NODES_MAX - 1];
  ensures  sound:      \result ==> \forall integer n; 0 <= n < sl_node_limit ==>
                       NodeSound(n) && sl_node_children[n] == child_count(n, sl_node_limit);
*/
bool sl_check_nodes(void);

/* Does each node's list count its ranks down to 1, and do the lists hold every cell in use? */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_node_limit <= SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_listed[0 .. SL_CELLS_MAX - 1];
  ensures  ends:       \result ==> \forall integer n; 0 <= n < sl_node_limit ==>
                       (sl_node_first[n] == 0 <==> sl_node_cells[n] == 0);
*/
bool sl_check_lists(void);
#endif
