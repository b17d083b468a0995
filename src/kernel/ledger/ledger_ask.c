/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The ledger's questions. Each walks from a cell to its root and keeps the answer for the whole walk as the
 * smaller of a bound found so far and what is gathered on the way plus the answer of the cell reached. */
#include "kernel/ledger/ledger.h"

#include "kernel/ledger/cells.h"

/* Gathering stops here: an answer this large is saturated in any case. */
#define GATHER_MAX (SL_AMOUNT_UNLIMITED + SL_AMOUNT_MAX)

/* Nothing that is available is below this: no more than this was ever charged. */
/*@ ghost
  /@ requires inv:       CellsLinked && LimitsInRange && UsageInRange;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  floor:     \forall integer c; 0 <= c < SL_CELLS_MAX ==> -SL_AMOUNT_MAX <= available(c);
  @/
  static void lemma_available_floor(void)
  {
    /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
       loop invariant \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) < l ==>
           -SL_AMOUNT_MAX <= available(c);
       loop assigns l;
       loop variant SL_LEVELS_MAX - l; @/
    for (uint32_t l = 0; l < SL_LEVELS_MAX; l++) ;
  }
*/

/*@ ghost
  /@ requires inv:       CellsLinked && LimitsInRange;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  floor:     \forall integer c; 0 <= c < SL_CELLS_MAX ==> 0 <= potential(c);
  @/
  static void lemma_potential_floor(void)
  {
    /@ loop invariant 0 <= l <= SL_LEVELS_MAX;
       loop invariant \forall integer c; 0 <= c < SL_CELLS_MAX && cell_level(c) < l ==> 0 <= potential(c);
       loop assigns l;
       loop variant SL_LEVELS_MAX - l; @/
    for (uint32_t l = 0; l < SL_LEVELS_MAX; l++) ;
  }
*/

/* What the cell keeps and does not use. */
/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires range:      LimitsInRange && UsageInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == cell_spare(cell);
*/
static int64_t spare(sl_cell_id cell)
{
    return sl_cell_kept[cell] > sl_cell_usage[cell] ? sl_cell_kept[cell] - sl_cell_usage[cell] : 0;
}

/* How much more the cell could store in its parent; negative when it stores more than it may. */
/*@
  requires cell:       cell < SL_CELLS_MAX;
  requires range:      LimitsInRange && UsageInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == cell_lends(cell) - cell_stored(cell) + sl_cell_borrowing[cell];
*/
static int64_t borrowable(sl_cell_id cell)
{
    int64_t lent = sl_cell_subtree[cell] - sl_cell_kept[cell];
    int64_t stored = 0;
    if (sl_cell_usage[cell] > sl_cell_kept[cell]) {
        stored = sl_cell_usage[cell] - sl_cell_kept[cell];
    }
    return lent - stored + sl_cell_borrowing[cell];
}

int64_t sl_ledger_available(sl_cell_id cell)
{
    int64_t bound = SL_AMOUNT_UNLIMITED;
    int64_t gathered = 0;
    if (cell >= SL_CELLS_MAX) {
        return 0;
    }
    //@ ghost lemma_available_floor();
    /*@
      loop invariant cell:   cell < SL_CELLS_MAX;
      loop invariant sums:   0 <= gathered <= GATHER_MAX && -SL_AMOUNT_MAX <= bound <= SL_AMOUNT_UNLIMITED;
      loop invariant answer: smaller(SL_AMOUNT_UNLIMITED, available(\at(cell, Pre))) ==
                             smaller(bound, gathered + available(cell));
      loop assigns cell, gathered, bound;
      loop variant cell_level(cell);
    */
    while (sl_cell_up[cell] != 0) {
        gathered += spare(cell);
        if (gathered > GATHER_MAX) {
            gathered = GATHER_MAX;
        }
        if (sl_cell_borrowing[cell] != SL_AMOUNT_UNLIMITED && gathered + borrowable(cell) < bound) {
            bound = gathered + borrowable(cell);
        }
        cell = sl_cell_up[cell] - 1;
    }
    gathered += sl_cell_subtree[cell] - sl_cell_usage[cell];
    return gathered < bound ? gathered : bound;
}

int64_t sl_ledger_potential(sl_cell_id cell)
{
    int64_t bound = SL_AMOUNT_UNLIMITED;
    int64_t gathered = 0;
    if (cell >= SL_CELLS_MAX) {
        return 0;
    }
    //@ ghost lemma_potential_floor();
    /*@
      loop invariant cell:   cell < SL_CELLS_MAX;
      loop invariant sums:   0 <= gathered <= SL_AMOUNT_UNLIMITED && 0 <= bound <= SL_AMOUNT_UNLIMITED;
      loop invariant answer: smaller(SL_AMOUNT_UNLIMITED, potential(\at(cell, Pre))) ==
                             smaller(bound, gathered + potential(cell));
      loop assigns cell, gathered, bound;
      loop variant cell_level(cell);
    */
    while (sl_cell_up[cell] != 0) {
        int64_t most = gathered + sl_cell_subtree[cell] + sl_cell_borrowing[cell];
        if (most < bound) {
            bound = most;
        }
        gathered += sl_cell_kept[cell];
        if (gathered > SL_AMOUNT_UNLIMITED) {
            gathered = SL_AMOUNT_UNLIMITED;
        }
        cell = sl_cell_up[cell] - 1;
    }
    gathered += sl_cell_subtree[cell];
    return gathered < bound ? gathered : bound;
}

int64_t sl_ledger_usage(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX ? sl_cell_usage[cell] : 0;
}

int64_t sl_ledger_own(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX ? sl_cell_own[cell] : 0;
}

int64_t sl_ledger_nominal(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX ? sl_cell_nominal[cell] : 0;
}

/* Is it a cell in use? */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result <==> cell < SL_CELLS_MAX && sl_cell_home[cell] != 0;
*/
static bool is_used(sl_cell_id cell)
{
    return cell < SL_CELLS_MAX && sl_cell_home[cell] != 0;
}

sl_qnode_id sl_ledger_qnode_of(sl_cell_id cell)
{
    return is_used(cell) ? sl_cell_home[cell] - 1 : SL_NO_ID;
}

sl_flavor_id sl_ledger_flavor_of(sl_cell_id cell)
{
    return is_used(cell) ? sl_cell_flavor[cell] : SL_NO_ID;
}

sl_resource_id sl_ledger_resource_of(sl_cell_id cell)
{
    return is_used(cell) ? sl_cell_resource[cell] : SL_NO_ID;
}

sl_qnode_id sl_ledger_parent_qnode(sl_qnode_id qnode)
{
    return qnode < SL_QNODES_MAX && sl_qnode_up[qnode] != 0 ? sl_qnode_up[qnode] - 1 : SL_NO_ID;
}

sl_qnode_id sl_ledger_root_qnode(sl_qnode_id qnode)
{
    if (qnode >= SL_QNODES_MAX || !sl_qnode_used[qnode]) {
        return SL_NO_ID;
    }
    /*@
      loop invariant qnode:   qnode < SL_QNODES_MAX && stop_at(qnode, -1) == stop_at(\at(qnode, Pre), -1);
      loop assigns qnode;
      loop variant sl_qnode_level[qnode];
    */
    while (sl_qnode_up[qnode] != 0) {
        qnode = sl_qnode_up[qnode] - 1;
    }
    return qnode;
}
