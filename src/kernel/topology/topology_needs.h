/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a plan in form needs: one item per row of the plan and measure. Owns the items; for topology only. */
#ifndef SL_KERNEL_TOPOLOGY_NEEDS_H
#define SL_KERNEL_TOPOLOGY_NEEDS_H
#include "kernel/topology/topology_bookings.h"
#include "kernel/topology/topology_form.h"

/* Items 0 .. sl_need_count - 1. Those of plan row i begin at sl_need_firsts[i]: first its pods, then its set's
 * requests in their order. */
extern uint32_t sl_need_count;
extern uint32_t sl_need_capacities[SL_BOOKINGS_MAX];
extern int64_t sl_need_amounts[SL_BOOKINGS_MAX];
extern uint32_t sl_need_firsts[SL_TOPOLOGY_ROWS_MAX];

/* Scratch: how much more of a capacity would be used; all zero between calls. */
extern int64_t sl_site_change[SL_CAPACITIES_MAX];

#include "specs/topology_needs.acsl"

/* List what the plan, which is in form, needs. Refused: FULL_BOOKINGS. */
/*@
  requires ready:      TopologyReady;
  requires rows:       RowsOfSets;
  terminates           \true;
  exits                \false;
  assigns              sl_need_count, sl_need_capacities[0 .. SL_BOOKINGS_MAX - 1],
                       sl_need_amounts[0 .. SL_BOOKINGS_MAX - 1], sl_need_firsts[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
  ensures  range:      NeedsInRange;
  ensures  listed:     \result == SL_OK ==> RowsListed(sl_topology_plan.row_count);
  ensures  capacity:       sl_topology_plan.row_count <= sl_need_count || \result != SL_OK;
  ensures  refused:    \result == SL_OK || \result == SL_FULL_BOOKINGS;
*/
enum sl_status sl_topology_list_needs(void) SL_MUST_CHECK;

/* May the items be booked by `id` in place of what it has booked? `ask`: is there room for them, what is promised
 * taken; a capacity that gives no more than before is enough. Else only: do the amounts stay in bounds. Refused: CAPACITY. */
/*@
  requires id:         id < SL_WORKLOADS_MAX;
  requires inv:        BookingsInv && CapacityBounded;
  requires needs:      NeedsInRange;
  requires zero:       ChangeZero;
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  zero:       ChangeZero;
  ensures  judged:     \result == SL_OK ==> CapacityJudged(id, ask);
  ensures  fair:       CapacityJudged(id, ask) && NeedsBounded ==> \result == SL_OK;
  ensures  shrinks:    \result != SL_OK ==> NeedsGrow(id);
  ensures  refused:    \result == SL_OK || \result == SL_REFUSED_CAPACITY;
*/
enum sl_status sl_topology_judge_needs(sl_workload_id id, bool ask) SL_MUST_CHECK;
#endif
