/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The trail is a stack of old values; rolling back pops them newest first, so that the value from before the
 * trial is the last one written. */
#include "kernel/trail.h"

int64_t sl_cell_own[SL_CELLS_MAX];
int64_t sl_cell_usage[SL_CELLS_MAX];
int64_t sl_total[SL_TOTALS_MAX];

/* Notes 0 .. sl_trail_count - 1: a cell and what it held before a change. */
sl_cell_id sl_trail_cell[SL_TRAIL_MAX];
int64_t sl_trail_own[SL_TRAIL_MAX];
int64_t sl_trail_usage[SL_TRAIL_MAX];
uint32_t sl_trail_count;
uint32_t sl_trail_depth; /* trials that are open */

static void put(sl_cell_id cell, int64_t own, int64_t usage)
{
    sl_total[sl_cell_resource[cell] % SL_TOTALS_MAX] += own - sl_cell_own[cell];
    sl_cell_own[cell] = own;
    sl_cell_usage[cell] = usage;
}

void sl_trail_write(sl_cell_id cell, int64_t own, int64_t usage)
{
    if (sl_trail_depth > 0) {
        sl_trail_cell[sl_trail_count] = cell;
        sl_trail_own[sl_trail_count] = sl_cell_own[cell];
        sl_trail_usage[sl_trail_count] = sl_cell_usage[cell];
        sl_trail_count++;
    }
    put(cell, own, usage);
}

bool sl_trail_open(void)
{
    return sl_trail_depth > 0;
}

bool sl_trail_has_room(void)
{
    return sl_trail_depth == 0 || sl_trail_count <= SL_TRAIL_MAX - SL_LEVELS_MAX;
}

uint32_t sl_trail_begin(void)
{
    sl_trail_depth++;
    return sl_trail_count;
}

void sl_trail_rollback(uint32_t mark)
{
    while (sl_trail_count > mark) {
        sl_trail_count--;
        put(sl_trail_cell[sl_trail_count], sl_trail_own[sl_trail_count], sl_trail_usage[sl_trail_count]);
    }
    sl_trail_depth--;
}

void sl_trail_keep(uint32_t mark)
{
    (void)mark;
    sl_trail_depth--;
    if (sl_trail_depth == 0) {
        sl_trail_count = 0;
    }
}
