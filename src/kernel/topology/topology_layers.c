/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Slices are whole when, wherever one domain of their depth ends and another begins, a whole number of them stands
 * so far: so each run of rows in one domain holds whole ones only. */
#include "kernel/topology/topology_form.h"

/* After i rows of the set, does another domain of that depth begin, or the set end? */
/*@
  requires set:        set < SL_TOPOLOGY_SETS_MAX && SetBounded(set);
  requires rows:       RowsPlaced(set, sl_topology_plan.sets[set].row_count);
  requires index:      0 < i <= sl_topology_plan.sets[set].row_count && depth < SL_DEPTHS_MAX;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> IsBorder(set, i, depth);
*/
static bool is_border(uint32_t set, uint32_t i, uint32_t depth)
{
    uint32_t row = sl_topology_plan.sets[set].first_row + i;
    //@ assert before: RowPlaced(set, row - 1) && (i < sl_topology_plan.sets[set].row_count ==> RowPlaced(set, row));
    return i == sl_topology_plan.sets[set].row_count ||
           sl_domain_up[sl_topology_plan.rows[row].domain][depth] !=
               sl_domain_up[sl_topology_plan.rows[row - 1].domain][depth];
}

/*@
  requires set:        set < SL_TOPOLOGY_SETS_MAX && SetBounded(set);
  requires rows:       RowsPlaced(set, sl_topology_plan.sets[set].row_count);
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> RowsReach(set, depth, sl_topology_plan.sets[set].row_count);
*/
static bool rows_reach(uint32_t set, uint32_t depth)
{
    uint32_t first = sl_topology_plan.sets[set].first_row;
    /*@
      loop invariant index: 0 <= i <= sl_topology_plan.sets[set].row_count;
      loop invariant reach: RowsReach(set, depth, i);
      loop assigns          i;
      loop variant          sl_topology_plan.sets[set].row_count - i;
    */
    for (uint32_t i = 0; i < sl_topology_plan.sets[set].row_count; i++) {
        //@ assert placed: RowPlaced(set, first + i);
        if (sl_domain_depths[sl_topology_plan.rows[first + i].domain] < depth) {
            return false;
        }
    }
    return true;
}

/*@
  requires set:        set < SL_TOPOLOGY_SETS_MAX && SetBounded(set);
  requires rows:       RowsPlaced(set, sl_topology_plan.sets[set].row_count);
  requires bounds:     depth < SL_DEPTHS_MAX && 0 < size;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> SlicesWhole(set, depth, size, sl_topology_plan.sets[set].row_count);
*/
static bool slices_whole(uint32_t set, uint32_t depth, uint32_t size)
{
    uint32_t first = sl_topology_plan.sets[set].first_row;
    int64_t pods = 0;
    /*@
      loop invariant index: 0 <= i <= sl_topology_plan.sets[set].row_count;
      loop invariant pods:  pods == PodSum(first, i) && 0 <= pods <= i * UINT32_MAX;
      loop invariant whole: SlicesWhole(set, depth, size, i);
      loop assigns          i, pods;
      loop variant          sl_topology_plan.sets[set].row_count - i;
    */
    for (uint32_t i = 0; i < sl_topology_plan.sets[set].row_count; i++) {
        pods += sl_topology_plan.rows[first + i].count;
        if (is_border(set, i + 1, depth) && pods % (int64_t)size != 0) {
            return false;
        }
    }
    return true;
}

/*@
  requires set:        set < SL_TOPOLOGY_SETS_MAX && layer < SL_LAYERS_MAX;
  requires before:     layer > 0 ==> 0 < sl_topology_plan.sets[set].layers[layer - 1].size;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> LayerBounded(set, layer);
*/
static bool layer_in_bounds(uint32_t set, uint32_t layer)
{
    uint32_t depth = sl_topology_plan.sets[set].layers[layer].depth;
    uint32_t size = sl_topology_plan.sets[set].layers[layer].size;
    if (depth >= SL_DEPTHS_MAX || size == 0) {
        return false;
    }
    return layer == 0 || (sl_topology_plan.sets[set].layers[layer - 1].depth <= depth &&
                          sl_topology_plan.sets[set].layers[layer - 1].size % size == 0);
}

bool sl_topology_layers_whole(uint32_t set)
{
    if (sl_topology_plan.sets[set].layer_count > SL_LAYERS_MAX) {
        return false;
    }
    /*@
      loop invariant index: 0 <= k <= sl_topology_plan.sets[set].layer_count;
      loop invariant whole: \forall integer j; 0 <= j < k ==> LayerWhole(set, j);
      loop assigns          k;
      loop variant          sl_topology_plan.sets[set].layer_count - k;
    */
    for (uint32_t k = 0; k < sl_topology_plan.sets[set].layer_count; k++) {
        uint32_t depth = sl_topology_plan.sets[set].layers[k].depth;
        if (!layer_in_bounds(set, k) || !rows_reach(set, depth) ||
            !slices_whole(set, depth, sl_topology_plan.sets[set].layers[k].size)) {
            return false;
        }
    }
    return true;
}
