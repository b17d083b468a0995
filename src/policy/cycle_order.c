/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The order in which entries are dealt with (FEATURES 3.3, 3.4). */
#include "policy/cycle_steps.h"

#include "policy/entries.h"
#include "policy/settings.h"
#include "policy/sort.h"
#include "policy/tournament.h"

/* What comes before the lower borrow height, as numbers to be added to it. */
#define HOLDS_NOTHING 0x40000000u
#define NO_PREEMPTOR 0x20000000u

static uint32_t order[SL_ENTRIES_MAX];
static uint32_t order_count;
static uint32_t order_next;

static uint32_t rank_of(const struct sl_entry *entry)
{
    uint32_t rank = entry->borrow_height;
    if (!entry->holds) {
        rank += HOLDS_NOTHING;
    }
    if (sl_settings.prioritize_preemptors && !entry->preemptor) {
        rank += NO_PREEMPTOR;
    }
    return rank;
}

void sl_cycle_sort(void)
{
    order_count = 0;
    order_next = 0;
    if (sl_settings.fair_sharing) {
        sl_tournament_begin();
        return;
    }
    sl_sort_clear();
    for (uint32_t i = 0; i < sl_entries_count(); i++) {
        sl_sort_add(sl_entries[i].workload, rank_of(&sl_entries[i]), i);
    }
    sl_sort_run(sl_settings.priority_sorting_within_cohort);
    order_count = sl_sort_count(); /* the list is overwritten by the next question about a queue */
    for (uint32_t i = 0; i < order_count; i++) {
        order[i] = sl_sort_tag(i);
    }
}

uint32_t sl_cycle_next_entry(void)
{
    if (sl_settings.fair_sharing) {
        return sl_tournament_next();
    }
    if (order_next >= order_count) {
        return SL_NO_ID;
    }
    order_next++;
    return order[order_next - 1];
}
