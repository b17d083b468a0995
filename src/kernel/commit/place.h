/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where each workload is: exactly one place, because it is one field. Membership in a queue is kernel state;
 * the policy's heaps are indexes over it. Owns sl_places. Carries the kernel's part of G8 and G9. */
#ifndef SL_KERNEL_PLACE_H
#define SL_KERNEL_PLACE_H
#include "kernel/lifecycle/lifecycle.h"
#include "kernel/base/status.h"
#include "kernel/base/types.h"

extern enum sl_place sl_places[SL_WORKLOADS_MAX];
#include "specs/place.acsl"

/* SL_PLACE_NONE also for an id that is out of range. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (id < SL_WORKLOADS_MAX ? sl_places[id] : SL_PLACE_NONE);
*/
enum sl_place sl_place_of(sl_workload_id id);

/* Move from `from` to `to`; refused when it is not at `from`, the move is not in model/places.def, or the
 * workload's record does not fit the new place. Taking and giving back quota is commit's business. */
/*@
  terminates           \true;
  exits                \false;
  assigns              sl_places[0 .. SL_WORKLOADS_MAX - 1];
  ensures  agrees:     id < SL_WORKLOADS_MAX && \old(PlaceAgrees(id)) ==> PlaceAgrees(id);
  ensures  others:     \forall integer w; 0 <= w < SL_WORKLOADS_MAX && w != id ==>
                         sl_places[w] == \old(sl_places[w]);

  behavior done:
    assumes            id < SL_WORKLOADS_MAX && sl_places[id] == from && PlaceStepAllowed(from, to) &&
                       PlaceFits(id, to);
    assigns            sl_places[id];
    ensures  result:   \result == SL_OK;
    ensures  moved:    sl_places[id] == to;

  behavior refused:
    assumes            !(id < SL_WORKLOADS_MAX && sl_places[id] == from && PlaceStepAllowed(from, to) &&
                         PlaceFits(id, to));
    assigns            \nothing;
    ensures  result:   \result != SL_OK;

  complete behaviors;
  disjoint behaviors;
*/
enum sl_status sl_place_move(sl_workload_id id, enum sl_place from, enum sl_place to) SL_MUST_CHECK;

/* For commit only: quota was taken for a head of the running cycle, or was found taken at a restart. */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires counts:     HoldsQuota(id);
  requires from:       sl_places[id] == SL_PLACE_IN_FLIGHT || sl_places[id] == SL_PLACE_ORPHANED;
  terminates           \true;
  exits                \false;
  assigns              sl_places[id];
  ensures  held:       sl_places[id] == SL_PLACE_HOLDING;
  ensures  agrees:     PlaceAgrees(id);
  ensures  step:       PlaceStepAllowed(\old(sl_places[id]), sl_places[id]);
*/
void sl_place_hold(sl_workload_id id);

/* For commit only: after an event, put the workload where its record now belongs; one that is in a
 * fitting place stays there. */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  requires after:      SettleAfter(id);
  terminates           \true;
  exits                \false;
  assigns              sl_places[id];
  ensures  agrees:     PlaceAgrees(id);
  ensures  step:       sl_places[id] == \old(sl_places[id]) ||
                       PlaceStepAllowed(\old(sl_places[id]), sl_places[id]);
  ensures  stays:      \old(PlaceAgrees(id)) ==> sl_places[id] == \old(sl_places[id]);
*/
void sl_place_settle(sl_workload_id id);

/* Does the place agree with the record (a holder is among the holders, a finished one is done, ...)? */
/*@
  requires known:      id < SL_WORKLOADS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> PlaceAgrees(id);
*/
bool sl_place_agrees(sl_workload_id id);
#endif
