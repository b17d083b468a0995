/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The children of each node of the quota forest (the kernel knows parents only). Owns the links.
 * Call these when a node is opened, moved or closed. */
#ifndef SL_POLICY_BRANCHES_H
#define SL_POLICY_BRANCHES_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* The node's parent in the ledger may have changed: list it there. To be called after each
 * sl_ledger_open_node, sl_ledger_move_node and sl_ledger_close_node; changes nothing the second
 * time. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_branches_follow(sl_node_id node);

/* The children of a node, in no particular but a deterministic order; SL_NO_ID = no (more). */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_NODES_MAX || \result == SL_NO_ID;
*/
sl_node_id sl_branches_first(sl_node_id node);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_NODES_MAX || \result == SL_NO_ID;
*/
sl_node_id sl_branches_next(sl_node_id child);

/* All nodes under `root`, itself first, each before those under it: begin with `root`, SL_NO_ID
 * comes after the last one. `skip` passes over what is under `node`. */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_NODES_MAX || \result == SL_NO_ID;
*/
sl_node_id sl_branches_walk(sl_node_id root, sl_node_id node, bool skip);

/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_branches_valid(void); /* do lists and ledger say the same? Linear in nodes */
#endif
