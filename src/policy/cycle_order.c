/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The order in which entries are dealt with (FEATURES 3.3, 3.4). Second passes come first, also
 * under fair sharing: they hold their quota already and have no share to win. Those that found no
 * place come last: whoever is evicted for it is no candidate for preemption that is on its way out
 * already while the others are dealt with (as in Kueue, which sees this only in the next cycle). */
#include "policy/cycle_steps.h"

#include "policy/entries.h"
#include "policy/settings.h"
#include "policy/sort.h"
#include "policy/tournament.h"

/* What comes before the lower borrow height, as a number to be added to it. */
#define NO_PREEMPTOR 0x20000000u

static uint32_t order[SL_ENTRIES_MAX];
static uint32_t order_count;
static uint32_t order_next;
static uint32_t before_failed; /* how many there are before the second passes without a place */

static uint32_t rank_of(const struct sl_entry *entry)
{
    uint32_t rank = entry->borrow_height;
    if (sl_settings.prioritize_preemptors && !entry->preemptor) {
        rank += NO_PREEMPTOR;
    }
    return rank;
}

enum part { PART_PASSES, PART_HEADS, PART_FAILED_PASSES };

static enum part part_of(const struct sl_entry *entry)
{
    if (!entry->holds) {
        return PART_HEADS;
    }
    return entry->mode == SL_MODE_FIT ? PART_PASSES : PART_FAILED_PASSES;
}

static void append_sorted(enum part part)
{
    sl_sort_clear();
    for (uint32_t i = 0; i < sl_entries_count(); i++) {
        if (part_of(&sl_entries[i]) == part) {
            sl_sort_add(sl_entries[i].workload, rank_of(&sl_entries[i]), i);
        }
    }
    sl_sort_run(sl_settings.priority_sorting_within_cohort);
    uint32_t count =
        sl_sort_count(); /* the list is overwritten by the next question about a queue */
    for (uint32_t i = 0; i < count; i++) {
        order[order_count] = sl_sort_tag(i);
        order_count++;
    }
}

void sl_cycle_sort(void)
{
    order_count = 0;
    order_next = 0;
    append_sorted(PART_PASSES);
    if (sl_settings.fair_sharing) {
        sl_tournament_begin();
    } else {
        append_sorted(PART_HEADS);
    }
    before_failed = order_count;
    append_sorted(PART_FAILED_PASSES);
}

uint32_t sl_cycle_next_entry(void)
{
    if (order_next == before_failed && sl_settings.fair_sharing) {
        uint32_t entry = sl_tournament_next();
        if (entry != SL_NO_ID) {
            return entry;
        }
    }
    if (order_next == order_count) {
        return SL_NO_ID;
    }
    order_next++;
    return order[order_next - 1];
}
