/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quotas: a change of limits or links is carried up as far as it is felt, so that it costs the path to the
 * root and not the forest. What a cell lends and stores are its two contributions to its parent. */
#include "kernel/ledger_quota.h"

#include "kernel/ledger.h"
#include "kernel/trail.h"

uint32_t sl_cell_up[SL_CELLS_MAX];
int64_t sl_cell_nominal[SL_CELLS_MAX];
int64_t sl_cell_lending[SL_CELLS_MAX];
int64_t sl_cell_borrowing[SL_CELLS_MAX];
int64_t sl_cell_lent_low[SL_CELLS_MAX];
int64_t sl_cell_lent_high[SL_CELLS_MAX];
int64_t sl_cell_subtree[SL_CELLS_MAX];
int64_t sl_cell_kept[SL_CELLS_MAX];

static int64_t stored(sl_cell_id cell)
{
    return sl_cell_usage[cell] > sl_cell_kept[cell] ? sl_cell_usage[cell] - sl_cell_kept[cell] : 0;
}

static int64_t lends(sl_cell_id cell)
{
    return sl_cell_subtree[cell] - sl_cell_kept[cell];
}

/* Add to the sum of what children lend. */
static void add_lent(sl_cell_id cell, int64_t delta)
{
    int64_t low = sl_cell_lent_low[cell] + delta;
    if (low >= SL_LENT_UNIT) {
        sl_cell_lent_high[cell]++;
        low -= SL_LENT_UNIT;
    } else if (low < 0) {
        sl_cell_lent_high[cell]--;
        low += SL_LENT_UNIT;
    }
    sl_cell_lent_low[cell] = low;
}

/* What follows from the limits and the children: quota of the subtree, and how much of it is kept. */
static void derive(sl_cell_id cell)
{
    int64_t subtree = sl_cell_nominal[cell] + sl_cell_lent_low[cell];
    if (sl_cell_lent_high[cell] > 0 || subtree > SL_AMOUNT_UNLIMITED) {
        subtree = SL_AMOUNT_UNLIMITED;
    }
    sl_cell_subtree[cell] = subtree;
    sl_cell_kept[cell] = subtree > sl_cell_lending[cell] ? subtree - sl_cell_lending[cell] : 0;
}

/* The contributions to the cell behind `up` are by so much larger than its sums say. */
static void carry(uint32_t up, int64_t stored_delta, int64_t lent_delta)
{
    while (up != 0 && (stored_delta != 0 || lent_delta != 0)) {
        sl_cell_id cell = up - 1;
        int64_t stored_before = stored(cell);
        int64_t lent_before = lends(cell);
        sl_trail_write(cell, sl_cell_own[cell], sl_cell_usage[cell] + stored_delta);
        add_lent(cell, lent_delta);
        derive(cell);
        stored_delta = stored(cell) - stored_before;
        lent_delta = lends(cell) - lent_before;
        up = sl_cell_up[cell];
    }
}

void sl_quota_link(sl_cell_id cell, sl_cell_id parent)
{
    sl_cell_up[cell] = parent + 1;
    carry(parent + 1, stored(cell), lends(cell));
}

void sl_quota_unlink(sl_cell_id cell)
{
    uint32_t up = sl_cell_up[cell];
    sl_cell_up[cell] = 0;
    carry(up, -stored(cell), -lends(cell));
}

void sl_quota_set(sl_cell_id cell, int64_t nominal, int64_t lending, int64_t borrowing)
{
    int64_t stored_before = stored(cell);
    int64_t lent_before = lends(cell);
    sl_cell_nominal[cell] = nominal;
    sl_cell_lending[cell] = lending;
    sl_cell_borrowing[cell] = borrowing;
    derive(cell);
    carry(sl_cell_up[cell], stored(cell) - stored_before, lends(cell) - lent_before);
}

static bool is_quota(int64_t amount)
{
    return (amount >= 0 && amount <= SL_AMOUNT_MAX) || amount == SL_AMOUNT_UNLIMITED;
}

enum sl_status sl_ledger_set_quota(sl_cell_id cell, int64_t nominal, int64_t lending_limit,
                                   int64_t borrowing_limit)
{
    if (cell >= SL_CELLS_MAX || sl_cell_home[cell] == 0) {
        return SL_REFUSED_NO_CELL;
    }
    if (!is_quota(nominal) || !is_quota(lending_limit) || !is_quota(borrowing_limit)) {
        return SL_REFUSED_AMOUNT;
    }
    if (sl_trail_open()) {
        return SL_REFUSED_TRIAL_OPEN;
    }
    sl_quota_set(cell, nominal, lending_limit, borrowing_limit);
    return SL_OK;
}
