/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Ensure and find in one call. It stands alone because its out parameter is the one pointer of the ledger: the
 * memory model assumes that it points to none of the kernel's arrays, which the contract requires. */
#include "kernel/ledger.h"

enum sl_status sl_ledger_open_cell(sl_node_id node, sl_flavor_id flavor, sl_resource_id resource,
                                   sl_cell_id *cell)
{
    enum sl_status status = sl_ledger_ensure_cell(node, flavor, resource);
    if (status == SL_OK) {
        *cell = sl_ledger_find_cell(node, flavor, resource);
    }
    return status;
}
