/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Places of entries: two pools that are filled from the front and emptied at once. */
#include "policy/entries/entry_places.h"

struct place {
    struct sl_rows sets;
    struct sl_rows rows;
    bool failed;
};

static struct place places[SL_ENTRIES_MAX];
static struct sl_placement_failure failures[SL_ENTRIES_MAX]; /* written where something failed */

static struct sl_topology_set sets[SL_PLACED_SETS_POOL];
static uint32_t sets_used;
static struct sl_topology_row rows[SL_PLACED_ROWS_POOL];
static uint32_t rows_used;

/* clang-format off */
#define KEPT                                                                                       \
    sets[0 .. SL_PLACED_SETS_POOL - 1], sets_used, rows[0 .. SL_PLACED_ROWS_POOL - 1], rows_used
/* clang-format on */

/*@
  predicate PlaceSound{L}(integer e) =
    places[e].sets.count <= SL_TOPOLOGY_SETS_MAX && places[e].rows.count <= SL_TOPOLOGY_ROWS_MAX &&
    places[e].sets.first + places[e].sets.count <= SL_PLACED_SETS_POOL &&
    places[e].rows.first + places[e].rows.count <= SL_PLACED_ROWS_POOL;
  // What is kept of every entry lies within the pools.
  predicate PlacesSound{L} =
    sets_used <= SL_PLACED_SETS_POOL && rows_used <= SL_PLACED_ROWS_POOL &&
    \forall integer e; 0 <= e < SL_ENTRIES_MAX ==> PlaceSound(e);
*/

/*@ requires sound: PlacesSound; terminates \true; exits \false; assigns sets_used, rows_used;
    ensures sound: PlacesSound; */
void sl_entry_places_clear(void)
{
    sets_used = 0;
    rows_used = 0;
}

/*@ requires capacity: PlacesSound && PlanBounded && entry < SL_ENTRIES_MAX &&
      sets_used + sl_topology_plan.set_count <= SL_PLACED_SETS_POOL &&
      rows_used + sl_topology_plan.row_count <= SL_PLACED_ROWS_POOL;
    terminates \true; exits \false; assigns KEPT, places[entry]; ensures sound: PlacesSound; */
static void keep_plan(uint32_t entry)
{
    uint32_t set_count = sl_topology_plan.set_count;
    uint32_t row_count = sl_topology_plan.row_count;
    places[entry].sets = (struct sl_rows){sets_used, set_count};
    places[entry].rows = (struct sl_rows){rows_used, row_count};
    /*@ loop assigns i, sets[0 .. SL_PLACED_SETS_POOL - 1]; loop variant set_count - i; */
    for (uint32_t i = 0; i < set_count; i++) {
        sets[sets_used + i] = sl_topology_plan.sets[i];
    }
    /*@ loop assigns i, rows[0 .. SL_PLACED_ROWS_POOL - 1]; loop variant row_count - i; */
    for (uint32_t i = 0; i < row_count; i++) {
        rows[rows_used + i] = sl_topology_plan.rows[i];
    }
    sets_used += set_count;
    rows_used += row_count;
}

/*@ requires sound: PlacesSound; terminates \true; exits \false;
    assigns KEPT, places[entry], failures[entry]; ensures sound: PlacesSound; */
bool sl_entry_places_keep(uint32_t entry)
{
    if (entry >= SL_ENTRIES_MAX) {
        return false;
    }
    places[entry] = (struct place){.failed = false};
    if (sl_topology_plan.set_count > SL_PLACED_SETS_POOL - sets_used ||
        sl_topology_plan.row_count > SL_PLACED_ROWS_POOL - rows_used) {
        return false;
    }
    if (sl_topology_plan.set_count != 0) {
        keep_plan(entry);
    }
    if (sl_assignment.topology_failure.miss != SL_PLACEMENT_OK) {
        places[entry].failed = true;
        failures[entry] = sl_assignment.topology_failure;
    }
    return true;
}

/*@ requires sound: PlacesSound; terminates \true; exits \false;
    assigns sl_topology_plan, sl_assignment.topology_failure; */
void sl_entry_places_recall(uint32_t entry)
{
    if (entry >= SL_ENTRIES_MAX) {
        return;
    }
    uint32_t first_set = places[entry].sets.first;
    uint32_t set_count = places[entry].sets.count;
    uint32_t first_row = places[entry].rows.first;
    uint32_t row_count = places[entry].rows.count;
    sl_topology_plan.workload = sl_entries[entry].workload;
    sl_topology_plan.set_count = set_count;
    sl_topology_plan.row_count = row_count;
    /*@
      loop assigns i, sl_topology_plan.sets[0 .. SL_TOPOLOGY_SETS_MAX - 1];
      loop variant set_count - i;
    */
    for (uint32_t i = 0; i < set_count; i++) {
        sl_topology_plan.sets[i] = sets[first_set + i];
    }
    /*@
      loop assigns i, sl_topology_plan.rows[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
      loop variant row_count - i;
    */
    for (uint32_t i = 0; i < row_count; i++) {
        sl_topology_plan.rows[i] = rows[first_row + i];
    }
    if (places[entry].failed) {
        sl_assignment.topology_failure = failures[entry];
    } else {
        sl_assignment.topology_failure.miss = SL_PLACEMENT_OK;
    }
}
