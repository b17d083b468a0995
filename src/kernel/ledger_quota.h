/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: links between cells. Owns the cells' limits and links, and what follows from them. */
#ifndef SL_KERNEL_LEDGER_QUOTA_H
#define SL_KERNEL_LEDGER_QUOTA_H
#include "kernel/cells.h"
#include "kernel/types.h"

/* Hang a root cell under another one, or take it off; all sums above follow. */
void sl_quota_link(sl_cell_id cell, sl_cell_id parent);
void sl_quota_unlink(sl_cell_id cell);

/* Set the limits; all sums above follow. */
void sl_quota_set(sl_cell_id cell, int64_t nominal, int64_t lending, int64_t borrowing);
#endif
