/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Flavors tolerate taints for the pods that get them, so which nodes a pod set may run on depends
 * on the tree as well. Flavors that tolerate the same are of one *tolerance* (0: none), and a
 * topology request's mask is the one for tolerance 0; the masks for the others are linked
 * to it here. Owns these links. */
#ifndef SL_POLICY_TOLERANCES_H
#define SL_POLICY_TOLERANCES_H
#include "kernel/topology/topology.h"
#include "policy/topology/masks.h"
#include "specs/hidden.acsl"

#define SL_TOLERANCES_MAX 256u
#define SL_TOLERANCE_TREES_MAX 65536u

/* Refused: BAD_ARGUMENT. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_tolerances_set(sl_tree_id tree, uint32_t tolerance) SL_MUST_CHECK;
/* The mask to use in place of `base` in trees of that tolerance (not 0); SL_NO_ID: `base`
 * itself. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_tolerances_link(sl_mask_id base, uint32_t tolerance,
                                  sl_mask_id mask) SL_MUST_CHECK;
/* The mask to be looked at in this tree for a request whose mask is `base`. */
/*@ terminates \true; exits \false; assigns \nothing; */
sl_mask_id sl_tolerances_mask(sl_mask_id base, sl_tree_id tree);
#endif
