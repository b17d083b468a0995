/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: the forest of qnodes. Owns which qnodes are in use, and their parents. */
#ifndef SL_KERNEL_LEDGER_TREE_H
#define SL_KERNEL_LEDGER_TREE_H
#include "kernel/ledger/cells.h"
#include "kernel/base/status.h"
#include "kernel/ledger/trail.h"
#include "kernel/base/types.h"

/*@ ghost
  /@ requires counted:   ChildrenCounted;
     requires qnode:      qnode < SL_QNODES_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  bound:     sl_qnode_children[qnode] <= SL_QNODES_MAX;
     ensures  none:      sl_qnode_children[qnode] == 0 ==> \forall integer i; 0 <= i < SL_QNODES_MAX ==>
                         sl_qnode_up[i] != qnode + 1;
  @/
  void lemma_children(uint32_t qnode);
*/

/* Is the qnode in use, and may structure change? */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==> qnode < SL_QNODES_MAX && sl_qnode_used[qnode] && sl_trail_depth == 0;
  ensures  reason:     \result == SL_OK || \result == SL_REFUSED_NO_QNODE || \result == SL_REFUSED_TRIAL_OPEN;
*/
enum sl_status sl_tree_check(sl_qnode_id qnode) SL_MUST_CHECK;

/* Hang the qnode itself elsewhere, without its cells. */
/*@
  requires counted:    ChildrenCounted;
  requires qnode:       qnode < SL_QNODES_MAX && up <= SL_QNODES_MAX && sl_qnode_up[qnode] <= SL_QNODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_children[0 .. SL_QNODES_MAX - 1], sl_qnode_up[qnode], sl_heights_stale;
  ensures  counted:    ChildrenCounted;
  ensures  up:         sl_qnode_up[qnode] == up && sl_heights_stale;
*/
void sl_tree_set_parent(sl_qnode_id qnode, uint32_t up);
#endif
