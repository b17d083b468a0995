/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: the checker's half for qnodes and lists of cells. */
#ifndef SL_KERNEL_LEDGER_CHECK_H
#define SL_KERNEL_LEDGER_CHECK_H
#include "kernel/ledger/cells.h"
#include "kernel/base/types.h"

/* Is every qnode in place, and are its children counted? */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_counts[0 .. SL_QNODES_MAX - 1];
  ensures  checked:    \result <==> QnodesChecked;
*/
bool sl_check_qnodes(void);

/* Does each qnode's list count its ranks down to 1, and do the lists hold every cell in use? */
/*@
  requires limits:     sl_cell_limit <= SL_CELLS_MAX && sl_qnode_limit <= SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_check_counts[0 .. SL_QNODES_MAX - 1];
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
