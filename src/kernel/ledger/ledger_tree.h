/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For the ledger only: the forest of nodes. Owns which nodes are in use, and their parents. */
#ifndef SL_KERNEL_LEDGER_TREE_H
#define SL_KERNEL_LEDGER_TREE_H
#include "kernel/ledger/cells.h"
#include "kernel/base/status.h"
#include "kernel/ledger/trail.h"
#include "kernel/base/types.h"

/*@ ghost
  /@ requires counted:   ChildrenCounted;
     requires node:      node < SL_NODES_MAX;
     terminates          \true;
     exits               \false;
     assigns             \nothing;
     ensures  bound:     sl_node_children[node] <= SL_NODES_MAX;
     ensures  none:      sl_node_children[node] == 0 ==> \forall integer i; 0 <= i < SL_NODES_MAX ==>
                         sl_node_up[i] != node + 1;
  @/
  void lemma_children(uint32_t node);
*/

/* Is the node in use, and may structure change? */
/*@
  terminates           \true;
  exits                \false;
  assigns              \nothing;
  ensures  result:     \result == SL_OK <==> node < SL_NODES_MAX && sl_node_used[node] && sl_trail_depth == 0;
  ensures  reason:     \result == SL_OK || \result == SL_REFUSED_NO_NODE_ID || \result == SL_REFUSED_TRIAL_OPEN;
*/
enum sl_status sl_tree_check(sl_node_id node) SL_MUST_CHECK;

/* Hang the node itself elsewhere, without its cells. */
/*@
  requires counted:    ChildrenCounted;
  requires node:       node < SL_NODES_MAX && up <= SL_NODES_MAX && sl_node_up[node] <= SL_NODES_MAX;
  terminates           \true;
  exits                \false;
  assigns              sl_node_children[0 .. SL_NODES_MAX - 1], sl_node_up[node], sl_heights_stale;
  ensures  counted:    ChildrenCounted;
  ensures  up:         sl_node_up[node] == up && sl_heights_stale;
*/
void sl_tree_set_parent(sl_node_id node, uint32_t up);
#endif
