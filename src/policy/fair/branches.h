/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The children of each qnode of the quota forest (the kernel knows parents only). Owns the links.
 * Call these when a qnode is opened, moved or closed. */
#ifndef SL_POLICY_BRANCHES_H
#define SL_POLICY_BRANCHES_H
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

/* The qnode's parent in the ledger may have changed: list it there. To be called after each
 * sl_ledger_open_qnode, sl_ledger_move_qnode and sl_ledger_close_qnode; changes nothing the second
 * time. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_branches_follow(sl_qnode_id qnode);

/* The children of a qnode, in no particular but a deterministic order; SL_NO_ID = no (more). */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID;
*/
sl_qnode_id sl_branches_first(sl_qnode_id qnode);
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID;
*/
sl_qnode_id sl_branches_next(sl_qnode_id child);

/* All qnodes under `root`, itself first, each before those under it: begin with `root`, SL_NO_ID
 * comes after the last one. `skip` passes over what is under `qnode`. */
/*@
  terminates \true; exits \false; assigns \nothing;
  ensures known: \result < SL_QNODES_MAX || \result == SL_NO_ID;
*/
sl_qnode_id sl_branches_walk(sl_qnode_id root, sl_qnode_id qnode, bool skip);

/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_branches_valid(void); /* do lists and ledger say the same? Linear in qnodes */
#endif
