/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The order in which entries are processed (Kueue's makeIterator). Second passes come first, also
 * under fair sharing: they hold their quota already and have no share to win. Those that found no
 * topology assignment come last: a workload that is evicted for that is still a candidate for
 * preemption, and not on its way out, while the others are processed (as in Kueue, which sees this
 * only in the next cycle). */
#include "policy/cycle/cycle_steps.h"

#include "policy/entries/entries.h"
#include "policy/common/settings.h"
#include "policy/common/sort.h"
#include "policy/entries/tournament.h"

/* What comes before the lower borrow height, as a number to be added to it. */
#define NO_PREEMPTOR 0x20000000u

static uint32_t order[SL_ENTRIES_MAX];
static uint32_t order_count;
static uint32_t order_next;
static uint32_t before_failed; /* how many there are before the second passes without a place */

/* clang-format off */
#define ORDER order[0 .. SL_ENTRIES_MAX - 1], order_count, order_next, before_failed
/* clang-format on */

/*@
  // What is in order are entries.
  predicate OrderSound{L} = order_next <= order_count <= SL_ENTRIES_MAX &&
    \forall integer i; 0 <= i < order_count ==> order[i] < SL_ENTRIES_MAX;
*/

/*@ requires entry: entry < SL_ENTRIES_MAX; terminates \true; exits \false; assigns \nothing; */
static uint32_t rank_of(uint32_t entry)
{
    return sl_entries[entry].borrow_height + (sl_entries[entry].goes_first ? 0 : NO_PREEMPTOR);
}

enum part { PART_PASSES, PART_HEADS, PART_FAILED_PASSES };

/*@ requires entry: entry < SL_ENTRIES_MAX; terminates \true; exits \false; assigns \nothing; */
static enum part part_of(uint32_t entry)
{
    if (!sl_entries[entry].holds) {
        return PART_HEADS;
    }
    return sl_entries[entry].mode == SL_MODE_FIT ? PART_PASSES : PART_FAILED_PASSES;
}

/*@ requires sound: OrderSound; terminates \true; exits \false;
    assigns sl_hidden, order[0 .. SL_ENTRIES_MAX - 1], order_count;
    ensures sound: OrderSound; */
static void append_sorted(enum part part)
{
    uint32_t entries = sl_entries_count();
    sl_sort_clear();
    /*@ loop assigns i, sl_hidden; loop variant entries - i; */
    for (uint32_t i = 0; i < entries; i++) {
        if (part_of(i) == part) {
            sl_sort_add(sl_entries[i].workload, rank_of(i), i);
        }
    }
    sl_sort_run(sl_settings.priority_sorting_within_cohort);
    uint32_t count =
        sl_sort_count(); /* the list is overwritten by the next question about a queue */
    /*@
      loop invariant sound: OrderSound;
      loop assigns i, order[0 .. SL_ENTRIES_MAX - 1], order_count;
      loop variant count - i;
    */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t entry = sl_sort_tag(i);
        if (entry < SL_ENTRIES_MAX && order_count < SL_ENTRIES_MAX) {
            order[order_count] = entry;
            order_count++;
        }
    }
}

/*@ terminates \true; exits \false;
    assigns sl_hidden, ORDER, sl_entries[0 .. SL_ENTRIES_MAX - 1]; ensures sound: OrderSound; */
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

/*@ requires order: OrderSound; terminates \true; exits \false;
    assigns sl_hidden, SL_TRIED, sl_trail_depth, order_next; ensures order: OrderSound; */
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
