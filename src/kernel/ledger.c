/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Usage: a change of what a cell holds is carried up as far as it is felt. What a cell uses beyond what it
 * keeps for itself is stored in its parent. */
#include "kernel/ledger.h"

#include "kernel/cells.h"
#include "kernel/trail.h"

/* What the cell stores in its parent. */
static int64_t stored(sl_cell_id cell)
{
    return sl_cell_usage[cell] > sl_cell_kept[cell] ? sl_cell_usage[cell] - sl_cell_kept[cell] : 0;
}

/* The cell stores `delta` more, or less, in its parent than the parent's usage says. */
static void carry(sl_cell_id cell, int64_t delta)
{
    uint32_t up = sl_cell_up[cell];
    while (up != 0 && delta != 0) {
        sl_cell_id parent = up - 1;
        int64_t before = stored(parent);
        sl_trail_write(parent, sl_cell_own[parent], sl_cell_usage[parent] + delta);
        delta = stored(parent) - before;
        up = sl_cell_up[parent];
    }
}

static void change(sl_cell_id cell, int64_t delta)
{
    int64_t before = stored(cell);
    sl_trail_write(cell, sl_cell_own[cell] + delta, sl_cell_usage[cell] + delta);
    carry(cell, stored(cell) - before);
}

static enum sl_status check(sl_cell_id cell, int64_t amount)
{
    if (cell >= SL_CELLS_MAX || sl_cell_home[cell] == 0) {
        return SL_REFUSED_NO_CELL;
    }
    if (amount < 0 || amount > SL_AMOUNT_MAX) {
        return SL_REFUSED_AMOUNT;
    }
    return sl_trail_has_room() ? SL_OK : SL_FULL_TRAIL;
}

enum sl_status sl_ledger_charge(sl_cell_id cell, int64_t amount)
{
    enum sl_status status = check(cell, amount);
    if (status != SL_OK) {
        return status;
    }
    if (amount > SL_AMOUNT_MAX - sl_total[sl_cell_resource[cell] % SL_TOTALS_MAX]) {
        return SL_REFUSED_OVERFLOW;
    }
    change(cell, amount);
    return SL_OK;
}

enum sl_status sl_ledger_reserve(sl_cell_id cell, int64_t amount)
{
    enum sl_status status = check(cell, amount);
    if (status != SL_OK) {
        return status;
    }
    if (amount > sl_ledger_available(cell)) {
        return SL_REFUSED_QUOTA;
    }
    return sl_ledger_charge(cell, amount);
}

enum sl_status sl_ledger_release(sl_cell_id cell, int64_t amount)
{
    enum sl_status status = check(cell, amount);
    if (status != SL_OK) {
        return status;
    }
    if (amount > sl_cell_own[cell]) {
        return SL_REFUSED_NOT_HELD;
    }
    change(cell, -amount);
    return SL_OK;
}
