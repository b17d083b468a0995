/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Ensure and find in one call. It is outside of the kernel because of its out parameter: the
 * provers' memory model would have to assume that it points to none of the kernel's arrays, and
 * nothing could check that. */
#ifndef SL_POLICY_OPEN_CELL_H
#define SL_POLICY_OPEN_CELL_H
#include "kernel/ledger/ledger.h"

/* The cell of (qnode, flavor, resource), opened with its chain up to the root when there was none. *cell is
 * written only on SL_OK. Refusals: those of sl_ledger_ensure_cell. */
static inline enum sl_status sl_ledger_open_cell(sl_qnode_id qnode, sl_flavor_id flavor,
                                                 sl_resource_id resource, sl_cell_id *cell)
{
    enum sl_status status = sl_ledger_ensure_cell(qnode, flavor, resource);
    if (status == SL_OK) {
        *cell = sl_ledger_find_cell(qnode, flavor, resource);
    }
    return status;
}
#endif
