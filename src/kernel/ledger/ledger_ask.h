/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The ledger's questions, and its checker. Include kernel/ledger/ledger.h. */
#ifndef SL_KERNEL_LEDGER_ASK_H
#define SL_KERNEL_LEDGER_ASK_H
#include "kernel/ledger/cells.h"
#include "kernel/base/types.h"

/* What may still be charged; may be negative after a quota cut. 0 for what is not a cell. */
/*@
  requires inv:        CellsLinked && LimitsInRange && UsageInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? smaller(SL_AMOUNT_UNLIMITED, available(cell)) : 0);
  ensures  floor:      -SL_AMOUNT_MAX <= \result;
*/
int64_t sl_ledger_available(sl_cell_id cell);

/* The most that could ever be available. */
/*@
  requires inv:        CellsLinked && LimitsInRange;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? smaller(SL_AMOUNT_UNLIMITED, potential(cell)) : 0);
  ensures  floor:      0 <= \result;
*/
int64_t sl_ledger_potential(sl_cell_id cell);

/* How high in the forest `amount` must borrow: 0 = within the quota of the cell's own subtree, else the
 * height of the lowest cohort above that fits what is not kept below it; that of the root when none does. */
/*@
  requires inv:        CellsLinked && LimitsInRange && UsageInRange && QnodesLinked && HeightsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_height[0 .. SL_QNODES_MAX - 1], sl_heights_stale;
  ensures  inv:        HeightsInv;
  behavior within:
    assumes within:    !Chargeable(cell, amount) || sl_cell_up[cell] == 0 ||
                       sl_cell_usage[cell] + amount <= sl_cell_subtree[cell];
    assigns            \nothing;
    ensures result:    \result == 0;
  behavior beyond:
    assumes beyond:    Chargeable(cell, amount) && sl_cell_up[cell] != 0 &&
                       sl_cell_usage[cell] + amount > sl_cell_subtree[cell];
    ensures result:    \result == borrow_height(cell, amount) && !sl_heights_stale;
  complete behaviors;
  disjoint behaviors;
*/
uint32_t sl_ledger_borrow_height(sl_cell_id cell, int64_t amount);

/* What it uses, incl. what it stores for its children. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? sl_cell_usage[cell] : 0);
*/
int64_t sl_ledger_usage(sl_cell_id cell);

/* What was charged to this very cell. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? sl_cell_own[cell] : 0);
*/
int64_t sl_ledger_own(sl_cell_id cell);

/* Its own quota. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX ? sl_cell_nominal[cell] : 0);
*/
int64_t sl_ledger_nominal(sl_cell_id cell);

/* A cell's name; SL_NO_ID = not in use. */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX && sl_cell_home[cell] != 0 ? (uint32_t)(sl_cell_home[cell] - 1) : SL_NO_ID);
*/
sl_qnode_id sl_ledger_qnode_of(sl_cell_id cell);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX && sl_cell_home[cell] != 0 ? sl_cell_flavor[cell] : SL_NO_ID);
*/
sl_flavor_id sl_ledger_flavor_of(sl_cell_id cell);

/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (cell < SL_CELLS_MAX && sl_cell_home[cell] != 0 ? sl_cell_resource[cell] : SL_NO_ID);
*/
sl_resource_id sl_ledger_resource_of(sl_cell_id cell);

/* A qnode's parent (SL_NO_ID = it is a root) and root (SL_NO_ID = not in use). */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (qnode < SL_QNODES_MAX && sl_qnode_up[qnode] != 0
                       ? (uint32_t)(sl_qnode_up[qnode] - 1) : SL_NO_ID);
*/
sl_qnode_id sl_ledger_parent_qnode(sl_qnode_id qnode);

/*@
  requires linked:     QnodesLinked;
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == (qnode < SL_QNODES_MAX && sl_qnode_used[qnode] ? stop_at(qnode, -1) : SL_NO_ID);
  ensures  range:      qnode < SL_QNODES_MAX && sl_qnode_used[qnode] ==> \result < SL_QNODES_MAX;
*/
sl_qnode_id sl_ledger_root_qnode(sl_qnode_id qnode);

/* Is the ledger as it must be? The checker that tests, fuzzers and simulator call. Linear in what was ever in
 * use; equal to LedgerChecked by proof. */
/*@
  terminates           \true;
  exits                \false;
  assigns              SL_LEDGER_SCRATCH;
  ensures  checked:    \result <==> LedgerChecked;
*/
bool sl_ledger_valid(void);
#endif
