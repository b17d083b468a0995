/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The undo trail: changes of usage are tried on the live ledger and taken back exactly. Owns the trail, and
 * is the only writer of own, usage and totals, so that no change can miss it. Trials nest: the one begun
 * last is the first to be rolled back or kept. */
#ifndef SL_KERNEL_TRAIL_H
#define SL_KERNEL_TRAIL_H
#include "kernel/cells.h"
#include "kernel/status.h"
#include "kernel/types.h"

#define SL_TRAIL_MAX 4194304u

/* Begin a trial; from here every change of usage is noted. The mark is what rollback and keep take. */
uint32_t sl_trail_begin(void);
void sl_trail_rollback(uint32_t mark); /* every array is as it was at the mark, exactly */
void sl_trail_keep(uint32_t mark);     /* the changes stay */
bool sl_trail_open(void);

/* For the ledger only. Is there room to note the changes of one path to the root? */
bool sl_trail_has_room(void);
void sl_trail_write(sl_cell_id cell, int64_t own, int64_t usage);
#endif
