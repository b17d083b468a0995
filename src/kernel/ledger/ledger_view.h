/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The ledger's numbers and links cell by cell, to read: for the policy's comparisons, which have no business
 * in the ledger's arrays. */
#ifndef SL_KERNEL_LEDGER_VIEW_H
#define SL_KERNEL_LEDGER_VIEW_H
#include "kernel/ledger/cells.h"
#include "kernel/base/types.h"

/* The quota of the cell's qnode and all below it, as far as it is lent upwards; saturated. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? sl_cell_subtree[cell] : 0);
*/
int64_t sl_ledger_subtree(sl_cell_id cell);

/* The part of it that is not lent upwards. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? sl_cell_kept[cell] : 0);
*/
int64_t sl_ledger_kept(sl_cell_id cell);

/* The cell of the same flavor and resource in the qnode's parent; SL_NO_ID = it is a root. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX && sl_cell_up[cell] != 0
                       ? (uint32_t)(sl_cell_up[cell] - 1) : SL_NO_ID);
*/
sl_cell_id sl_ledger_parent_cell(sl_cell_id cell);

/* The cells of a qnode, newest first; SL_NO_ID = no (more). */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (qnode < SL_QNODES_MAX && sl_qnode_first[qnode] != 0
                       ? (uint32_t)(sl_qnode_first[qnode] - 1) : SL_NO_ID);
*/
sl_cell_id sl_ledger_first_cell(sl_qnode_id qnode);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX && sl_cell_next[cell] != 0
                       ? (uint32_t)(sl_cell_next[cell] - 1) : SL_NO_ID);
*/
sl_cell_id sl_ledger_next_cell(sl_cell_id cell);
#endif
