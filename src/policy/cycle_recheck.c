/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An entry against the cycle so far: does what it was nominated with still hold, now that others
 * were served and more was promised? If its victims are those of others too, or quota would do but
 * the rooms would not, it is nominated anew with the flavors it had: heads are nominated
 * independently, so that they often choose the same victims and the same nodes. */
#include "policy/cycle_steps.h"

#include "kernel/ledger.h"
#include "kernel/trail.h"
#include "policy/assumed.h"
#include "policy/entries.h"
#include "policy/entry_places.h"
#include "policy/nominate.h"
#include "policy/settings.h"
#include "policy/tentative.h"

bool sl_cycle_overlaps(uint32_t entry)
{
    for (uint32_t i = 0; i < sl_entries[entry].victims.count; i++) {
        if (sl_tentative_is_gone(sl_entries_victim(entry, i))) {
            return true;
        }
    }
    return false;
}

/* --- does it fit? ---------------------------------------------------------------------------- */

static bool free_victims(uint32_t entry)
{
    bool done = true;
    for (uint32_t i = 0; i < sl_entries[entry].victims.count && done; i++) {
        sl_workload_id id = sl_entries_victim(entry, i);
        done = sl_tentative_is_gone(id) || sl_tentative_free(id);
    }
    return done;
}

static bool needs_available(uint32_t entry)
{
    for (uint32_t i = 0; i < sl_entries[entry].needs.count; i++) {
        struct sl_need need = sl_entries_need(entry, i);
        if (need.amount > sl_ledger_available(need.cell)) {
            return false;
        }
    }
    return true;
}

/* With what was promised taken, and with all victims gone, its own too. */
static enum sl_recheck still_fits(uint32_t entry)
{
    sl_node_id root = sl_entries[entry].root;
    uint32_t mark = sl_trail_begin();
    bool quota = sl_tentative_take_promised(root) && sl_tentative_free_gone(root) &&
                 free_victims(entry) && needs_available(entry);
    sl_trail_rollback(mark);
    if (!quota) {
        return SL_RECHECK_NO_QUOTA;
    }
    return sl_cycle_rooms_fit(entry) ? SL_RECHECK_FITS : SL_RECHECK_NO_ROOM;
}

/* --- once more ------------------------------------------------------------------------------- */

static void pass_over_gone(sl_node_id root)
{
    for (sl_workload_id id = sl_tentative_first_gone(root); id != SL_NO_ID;
         id = sl_tentative_next_gone(id)) {
        sl_preemption_pass_over(id);
    }
}

/* Nominate with what was promised taken and the flavors of the first nomination; perhaps as if what
 * others in the cycle evict were gone. */
enum anew { ANEW_UNTRIED, ANEW_WITHOUT_VICTIMS, ANEW_WITH_VICTIMS };
static enum anew nominate_anew(uint32_t entry, bool after_others)
{
    const struct sl_entry *e = &sl_entries[entry];
    enum anew result = ANEW_UNTRIED;
    uint32_t mark = sl_trail_begin();
    uint32_t rooms = sl_assumed_mark();
    if (sl_tentative_take_promised(e->root) &&
        (!after_others || (sl_tentative_free_gone(e->root) && sl_cycle_free_rooms()))) {
        bool victims = sl_nominate(e->workload, e->queue, sl_cycle_number, sl_cycle_now_ms);
        result = victims ? ANEW_WITH_VICTIMS : ANEW_WITHOUT_VICTIMS;
    }
    sl_trail_rollback(mark);
    sl_assumed_back(rooms);
    return result;
}

/* False = there is no room for the answer. */
static bool recompute(uint32_t entry, bool after_others)
{
    sl_flavors_forget(sl_entries[entry].workload);
    sl_flavors_pin();
    if (after_others) {
        sl_cycle_recomputed_victims++;
        pass_over_gone(sl_entries[entry].root);
    }
    enum anew anew = nominate_anew(entry, after_others);
    sl_preemption_pass_over_none();
    sl_flavors_unpin();
    if (after_others && sl_assignment.mode == SL_MODE_FIT) {
        sl_assignment.mode = SL_MODE_DEFERRED;
    }
    sl_entries[entry].after_others = after_others;
    return anew != ANEW_UNTRIED && sl_entry_places_keep(entry) &&
           sl_entries_renew(entry, anew == ANEW_WITH_VICTIMS);
}

static void recall(uint32_t entry)
{
    sl_entries_recall(entry);
    sl_entry_places_recall(entry);
}

/* Nothing depends on it where there is nothing to take. */
static bool can_misfit(uint32_t entry)
{
    const struct sl_entry *e = &sl_entries[entry];
    return e->mode == SL_MODE_FIT || e->victims.count != 0 || sl_topology_plan.set_count != 0;
}

enum sl_recheck sl_cycle_recheck(uint32_t entry)
{
    recall(entry);
    enum sl_recheck fits = can_misfit(entry) ? still_fits(entry) : SL_RECHECK_FITS;
    bool after_others = sl_settings.recompute_on_overlap && sl_cycle_overlaps(entry);
    if (after_others || (fits == SL_RECHECK_NO_ROOM && sl_settings.recompute_placement)) {
        bool had_place = !after_others && sl_entries[entry].mode == SL_MODE_FIT;
        if (!recompute(entry, after_others)) {
            return SL_RECHECK_FULL;
        }
        recall(entry);
        if (had_place && sl_entries[entry].mode != SL_MODE_FIT) {
            sl_cycle_note_outdone(sl_entries[entry].workload);
        }
        fits = can_misfit(entry) ? still_fits(entry) : SL_RECHECK_FITS;
    }
    return fits;
}
