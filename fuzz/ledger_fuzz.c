/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: a forest of up to eight nodes with cells of two names: open, close, move, limits, reserve, charge,
 * release, nested trials. Oracle: sl_ledger_valid after each step; available and potential against their plain
 * recursive definition; reserve granted only if available; after a rollback every usage is as at the mark.
 * Covers: ledger*.c, trail.c. Input: events of an operation byte and its operands; amounts are small, huge or odd. */
#include <string.h>
#include "fuzz/lib/check.h"
#include "fuzz/lib/producer.h"
#include "fuzz/lib/state.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/trail.h"
#include "policy/flavors/open_cell.h"

#define NODES 8u
#define CELLS (2 * NODES)
#define TRIALS 4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    uint32_t mark;
    int64_t own[CELLS], usage[CELLS];
} trials[TRIALS];
static uint32_t trial_count;

static int64_t capped(int64_t v)
{
    return v < SL_AMOUNT_UNLIMITED ? v : SL_AMOUNT_UNLIMITED;
}
static int64_t above(int64_t a, int64_t b)
{
    return a > b ? a - b : 0;
}

static int64_t available(sl_cell_id c)
{
    int64_t lent = sl_cell_subtree[c] - sl_cell_kept[c];
    if (sl_cell_up[c] == 0) {
        return sl_cell_subtree[c] - sl_cell_usage[c];
    }
    int64_t most = available(sl_cell_up[c] - 1);
    int64_t limit = lent - above(sl_cell_usage[c], sl_cell_kept[c]) + sl_cell_borrowing[c];
    most = sl_cell_borrowing[c] != SL_AMOUNT_UNLIMITED && limit < most ? limit : most;
    return capped(above(sl_cell_kept[c], sl_cell_usage[c]) + most);
}

static int64_t potential(sl_cell_id c)
{
    if (sl_cell_up[c] == 0) {
        return sl_cell_subtree[c];
    }
    int64_t most = sl_cell_kept[c] + potential(sl_cell_up[c] - 1);
    int64_t limit = sl_cell_subtree[c] + sl_cell_borrowing[c];
    return capped(most < limit ? most : limit);
}

static int64_t quota(struct producer *p)
{
    int64_t v = producer_byte(p);
    return v < 250   ? v
           : v < 253 ? SL_AMOUNT_UNLIMITED
           : v < 255 ? SL_AMOUNT_MAX - (255 - v)
                     : producer_int64(p);
}

static void change_usage(struct producer *p, uint32_t operation)
{
    sl_cell_id cell = producer_below(p, CELLS);
    int64_t amount = quota(p);
    int64_t most = sl_ledger_available(cell);
    if (operation == 0) {
        CHECK(sl_ledger_reserve(cell, amount) != SL_OK || amount <= most);
    } else if (operation == 1) {
        CHECK(sl_ledger_charge(cell, amount) != SL_OK || sl_ledger_own(cell) >= amount);
    } else {
        int64_t held = sl_ledger_own(cell);
        CHECK(sl_ledger_release(cell, amount) != SL_OK || sl_ledger_own(cell) == held - amount);
    }
}

static void change_structure(struct producer *p, uint32_t operation)
{
    sl_qnode_id node = producer_below(p, NODES), parent = producer_below(p, NODES + 1);
    sl_cell_id cell = producer_below(p, CELLS);
    switch (operation) {
    case 0:
        (void)!sl_ledger_open_qnode(node);
        break;
    case 1:
        (void)!sl_ledger_close_qnode(node);
        break;
    case 2:
        (void)!sl_ledger_move_qnode(node, parent == NODES ? SL_NO_ID : parent);
        break;
    case 3:
        (void)!sl_ledger_open_cell(node, parent % 2, 5, &cell);
        break;
    default:
        (void)!sl_ledger_set_quota(cell, quota(p), quota(p), quota(p));
        break;
    }
}

static void change_trial(bool begin, bool keep)
{
    if (begin && trial_count < TRIALS) {
        trials[trial_count].mark = sl_trail_begin();
        memcpy(trials[trial_count].own, sl_cell_own, sizeof trials[0].own);
        memcpy(trials[trial_count].usage, sl_cell_usage, sizeof trials[0].usage);
        trial_count++;
    } else if (!begin && trial_count > 0 && keep) {
        sl_trail_keep(trials[--trial_count].mark);
    } else if (!begin && trial_count > 0) {
        sl_trail_rollback(trials[--trial_count].mark);
        CHECK(memcmp(trials[trial_count].own, sl_cell_own, sizeof trials[0].own) == 0);
        CHECK(memcmp(trials[trial_count].usage, sl_cell_usage, sizeof trials[0].usage) == 0);
    }
    CHECK(sl_trail_open() == (trial_count > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, p;
    fuzz_state_reset();
    trial_count = 0;
    while (producer_event(&program, &p)) {
        uint32_t operation = producer_below(&p, 12);
        if (operation < 4) {
            change_usage(&p, operation % 3);
        } else if (operation < 9) {
            change_structure(&p, operation - 4);
        } else {
            change_trial(operation == 9, operation == 10);
        }
        CHECK(sl_ledger_valid());
        for (sl_cell_id c = 0; c < CELLS; c++) {
            CHECK(sl_ledger_available(c) == available(c) && sl_ledger_potential(c) == potential(c));
        }
    }
    while (trial_count > 0) {
        change_trial(false, false);
    }
    for (sl_cell_id c = 0; c < sl_cell_limit; c++) {
        (void)!sl_ledger_release(c, sl_ledger_own(c));
    }
    for (uint32_t i = 0; i < NODES * NODES; i++) {
        (void)!sl_ledger_close_qnode(i % NODES);
    }
    CHECK(sl_ledger_valid() && sl_cell_spares == sl_cell_limit);
    return 0;
}
