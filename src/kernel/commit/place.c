/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Places: a move is made when model/places.def has it and the workload's record fits the new place. */
#include "kernel/commit/place.h"

#define PLACES 9u
#define PAIR(from, to) ((uint32_t)(from)*PLACES + (uint32_t)(to))

enum sl_place sl_places[SL_WORKLOADS_MAX];

/*@
  requires known:      PlaceValid(from) && PlaceValid(to);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> PlaceStepAllowed(from, to);
*/
static bool step_allowed(enum sl_place from, enum sl_place to)
{
    switch (PAIR(from, to)) {
#define SL_PLACE_STEP(f, t) case PAIR(f, t):
#include "model/places.def"
#undef SL_PLACE_STEP
        return true;
    default:
        return false;
    }
}

/*@
  requires known:      id < SL_WORKLOADS_MAX && PlaceValid(place);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> PlaceFits(id, place);
*/
static bool fits(sl_workload_id id, enum sl_place place)
{
    switch (place) {
    case SL_PLACE_NONE:
        return sl_workloads[id].phase == SL_PHASE_ABSENT;
    case SL_PLACE_HEAP:
    case SL_PLACE_INADMISSIBLE:
    case SL_PLACE_IN_FLIGHT:
    case SL_PLACE_ORPHANED:
        return sl_lifecycle_admissible(id);
    case SL_PLACE_HOLDING:
    case SL_PLACE_SECOND_PASS:
        return sl_lifecycle_holds_quota(id);
    case SL_PLACE_DORMANT:
        return sl_workloads[id].phase == SL_PHASE_EVICTED ||
               (sl_workloads[id].phase == SL_PHASE_PENDING && !sl_lifecycle_admissible(id));
    default: /* done */
        return sl_workloads[id].phase == SL_PHASE_FINISHED;
    }
}

enum sl_place sl_place_of(sl_workload_id id)
{
    return id < SL_WORKLOADS_MAX ? sl_places[id] : SL_PLACE_NONE;
}

enum sl_status sl_place_move(sl_workload_id id, enum sl_place from, enum sl_place to)
{
    if (id >= SL_WORKLOADS_MAX) {
        return SL_REFUSED_UNKNOWN_WORKLOAD;
    }
    if (from > SL_PLACE_DONE || to > SL_PLACE_DONE) {
        return SL_REFUSED_BAD_ARGUMENT;
    }
    if (sl_places[id] != from || !step_allowed(from, to) || !fits(id, to)) {
        return SL_REFUSED_PLACE;
    }
    sl_places[id] = to;
    return SL_OK;
}

/* Where a pending workload belongs that is at `place`: it stays in line if it is in line. */
/*@
  requires known:      id < SL_WORKLOADS_MAX && PlaceValid(place);
  requires pending:    sl_workloads[id].phase == SL_PHASE_PENDING;
  requires alive:      place != SL_PLACE_DONE;
  requires created:    place == SL_PLACE_NONE ==> Admissible(id);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  fits:       PlaceValid(\result) && PlaceFits(id, \result);
  ensures  step:       \result == place || PlaceStepAllowed(place, \result);
  ensures  stays:      PlaceFits(id, place) ==> \result == place;
*/
static enum sl_place pending_place(sl_workload_id id, enum sl_place place)
{
    if (place == SL_PLACE_NONE) {
        return SL_PLACE_ORPHANED;
    }
    if (!sl_lifecycle_admissible(id)) {
        return SL_PLACE_DORMANT;
    }
    if (place == SL_PLACE_HOLDING || place == SL_PLACE_SECOND_PASS || place == SL_PLACE_DORMANT) {
        return SL_PLACE_INADMISSIBLE;
    }
    return place;
}

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> Holder(place);
*/
static bool holder(enum sl_place place)
{
    return place == SL_PLACE_HOLDING || place == SL_PLACE_SECOND_PASS;
}

/*@
  requires known:      id < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> Holder(sl_places[id]) && HoldsQuota(id);
*/
static bool still_holds(sl_workload_id id)
{
    return holder(sl_places[id]) && sl_lifecycle_holds_quota(id);
}

/* Where the record belongs now; the quota of an evicted workload may be gone before its job has stopped. */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires after:      SettleAfter(id);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  fits:       PlaceValid(\result) && PlaceFits(id, \result);
  ensures  holder:     PhaseRunning(sl_workloads[id].phase) ==> Holder(\result);
  ensures  step:       \result == sl_places[id] || PlaceStepAllowed(sl_places[id], \result);
  ensures  stays:      PlaceAgrees(id) ==> \result == sl_places[id];
*/
static enum sl_place settled_place(sl_workload_id id)
{
    if (sl_workloads[id].phase == SL_PHASE_PENDING) {
        return pending_place(id, sl_places[id]);
    }
    if (sl_workloads[id].phase == SL_PHASE_ABSENT) {
        return SL_PLACE_NONE;
    }
    if (sl_workloads[id].phase == SL_PHASE_FINISHED) {
        return SL_PLACE_DONE;
    }
    return still_holds(id) ? sl_places[id] : SL_PLACE_DORMANT;
}

void sl_place_settle(sl_workload_id id)
{
    sl_places[id] = settled_place(id);
}

void sl_place_hold(sl_workload_id id)
{
    sl_places[id] = SL_PLACE_HOLDING;
}

bool sl_place_agrees(sl_workload_id id)
{
    return sl_places[id] <= SL_PLACE_DONE && fits(id, sl_places[id]);
}
