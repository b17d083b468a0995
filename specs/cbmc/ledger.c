/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A cell under a cell under a cell, or two under one, with any limits and any usage that follows from what is charged
 * (amounts up to 60): a reservation is granted exactly when the definition says that there is so much on the way to
 * the root; usage still follows from what is charged, nothing else is charged, and giving back, or taking the trial
 * back, restores every number (G2, G3). */
#include "kernel/ledger/ledger.h"
#include "specs/cbmc/look.h"

#define CELLS 3u
#define CHARGED 2u

static int64_t kept_above(uint32_t c)
{
    return sl_cell_usage[c] > sl_cell_kept[c] ? sl_cell_usage[c] - sl_cell_kept[c] : 0;
}

/* Children come behind their parents. */
static int64_t usage_due(uint32_t c)
{
    int64_t sum = sl_cell_own[c];
    for (uint32_t k = c + 1; k < CELLS; k++) {
        sum += sl_cell_up[k] == c + 1 ? kept_above(k) : 0;
    }
    return sum;
}

/* What the cell has unused for itself, and what its parent gives, but no more than it lends and may borrow. */
static int64_t room_at(uint32_t c, int64_t from_parent)
{
    int64_t most = sl_cell_subtree[c] - sl_cell_kept[c] - kept_above(c) + sl_cell_borrowing[c];
    int64_t lent =
        sl_cell_borrowing[c] != SL_AMOUNT_UNLIMITED && most < from_parent ? most : from_parent;
    int64_t unused = sl_cell_kept[c] - sl_cell_usage[c];
    return (unused > 0 ? unused : 0) + lent;
}

static int64_t capacity(void)
{
    int64_t at[CELLS];
    at[0] = sl_cell_subtree[0] - sl_cell_usage[0];
    for (uint32_t k = 1; k < CELLS; k++) {
        at[k] = room_at(k, at[sl_cell_up[k] - 1]);
    }
    return at[CHARGED];
}

static int64_t nondet_amount(void)
{
    int64_t amount = nondet_uint8();
    ASSUME(amount <= SL_AMOUNT_MAX);
    return amount;
}

static void any_forest(uint32_t above)
{
    sl_cell_up[0] = 0;
    sl_cell_up[1] = 1;
    sl_cell_up[2] = above;
    sl_total[0] = 0;
    for (uint32_t c = CELLS; c-- > 0;) {
        sl_cell_home[c] = c + 1;
        sl_cell_resource[c] = 0;
        sl_cell_subtree[c] = nondet_amount();
        sl_cell_kept[c] = nondet_amount();
        ASSUME(sl_cell_kept[c] <= sl_cell_subtree[c]);
        sl_cell_borrowing[c] = nondet_bool() ? SL_AMOUNT_UNLIMITED : nondet_amount();
        sl_cell_own[c] = nondet_amount() / 4;
        sl_total[0] += sl_cell_own[c];
        sl_cell_usage[c] = usage_due(c);
    }
}

static void claim_restored(const int64_t *own, const int64_t *usage)
{
    for (uint32_t c = 0; c < CELLS; c++) {
        USAGE(sl_cell_own[c] == own[c] && sl_cell_usage[c] == usage[c],
              "every number is as it was");
    }
}

static void try_out(uint32_t above)
{
    int64_t own[CELLS], usage[CELLS], amount = nondet_amount();
    any_forest(above);
    for (uint32_t c = 0; c < CELLS; c++) {
        own[c] = sl_cell_own[c];
        usage[c] = sl_cell_usage[c];
    }
    uint32_t mark = sl_trail_begin();
    bool fits = amount <= SL_AMOUNT_MAX - sl_total[0] && amount <= capacity();
    bool granted = sl_ledger_reserve(CHARGED, amount) == SL_OK;
    USAGE(granted == fits, "granted exactly when there is so much");
    for (uint32_t c = 0; c < CELLS; c++) {
        USAGE(sl_cell_usage[c] == usage_due(c), "usage follows from what is charged");
        USAGE(sl_cell_own[c] == own[c] + (granted && c == CHARGED ? amount : 0),
              "nothing else is charged");
    }
    if (nondet_bool()) {
        sl_trail_rollback(mark);
    } else {
        sl_trail_keep(mark);
        USAGE(!granted || sl_ledger_release(CHARGED, amount) == SL_OK, "can be given back");
    }
    claim_restored(own, usage);
}

void look_ledger(void)
{
    if (nondet_bool()) {
        try_out(1);
    } else {
        try_out(2);
    }
}
