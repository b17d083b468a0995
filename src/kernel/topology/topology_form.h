/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Is sl_topology_plan a plan at all? Owns which set each of its rows belongs to; for topology only. */
#ifndef SL_KERNEL_TOPOLOGY_FORM_H
#define SL_KERNEL_TOPOLOGY_FORM_H
#include "kernel/topology/topology_domains.h"

/* Of each row of a plan whose form was found good: its set's index. */
extern uint32_t sl_plan_row_sets[SL_TOPOLOGY_ROWS_MAX];

#include "specs/topology_form.acsl"

/* Sets ascending, rows in order and on open bottom domains of the set's tree, counts that add up, amounts in bounds.
 * `whole`: each row also inside `within`, and no slice split. Refused: BAD_ARGUMENT. */
/*@
  requires ready:      TopologyReady;
  terminates           \true;
  exits                \false;
  assigns              sl_plan_row_sets[0 .. SL_TOPOLOGY_ROWS_MAX - 1];
  ensures  result:     \result == SL_OK <==> PlanForm(whole);
  ensures  rows:       \result == SL_OK ==> RowsOfSets;
  ensures  refused:    \result == SL_OK || \result == SL_REFUSED_BAD_ARGUMENT;
*/
enum sl_status sl_topology_form(bool whole) SL_MUST_CHECK;

/* Are the slices of a set whose rows are in form whole? */
/*@
  requires ready:      TopologyReady;
  requires set:        set < SL_TOPOLOGY_SETS_MAX && SetBounded(set);
  requires rows:       RowsPlaced(set, sl_topology_plan.sets[set].row_count);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> LayersWhole(set);
*/
bool sl_topology_layers_whole(uint32_t set);
#endif
