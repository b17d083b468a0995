/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading the ledger cell by cell. */
#include "kernel/ledger/ledger_view.h"

int64_t sl_ledger_subtree(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX ? sl_cell_subtree[cell] : 0;
}

int64_t sl_ledger_kept(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX ? sl_cell_kept[cell] : 0;
}

sl_cell_id sl_ledger_parent_cell(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX && sl_cell_up[cell] != 0 ? sl_cell_up[cell] - 1 : SL_NO_ID;
}

sl_cell_id sl_ledger_first_cell(sl_qnode_id qnode)
{
    return qnode < SL_QNODES_MAX && sl_qnode_first[qnode] != 0 ? sl_qnode_first[qnode] - 1
                                                               : SL_NO_ID;
}

sl_cell_id sl_ledger_next_cell(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX && sl_cell_next[cell] != 0 ? sl_cell_next[cell] - 1 : SL_NO_ID;
}
