/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Fair sharing: the dominant resource share of a qnode among its siblings, exact. The share is the
 * largest, over resources, of what the qnode uses beyond its subtree's quota (summed over flavors)
 * divided by what its parent could lend of that resource, divided by the qnode's weight. Kept as a
 * fraction of integers and compared by cross products: no rounding (Kueue: float64, rounded up to
 * thousandths where it is shown). Owns the weights. */
#ifndef SL_POLICY_SHARES_H
#define SL_POLICY_SHARES_H
#include "kernel/ledger/ledger.h"
#include "kernel/base/status.h"
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

#define SL_WEIGHT_ONE 1000000000LL /* weights are in units of 1e-9 (the API's smallest) */

/* Refused: NO_QNODE, AMOUNT (negative). The weight of a qnode that was never set is 1. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
enum sl_status sl_shares_set_weight(sl_qnode_id qnode, int64_t weight_nano) SL_MUST_CHECK;
/*@ terminates \true; exits \false; assigns \nothing; ensures weight: 0 <= \result; */
int64_t sl_shares_weight(sl_qnode_id qnode);

struct sl_share {
    int64_t borrowed; /* of the dominant resource; 0 = nothing is borrowed: the share is zero */
    int64_t lendable; /* of it at the parent, > 0 unless borrowed is 0 */
    int64_t weight;   /* 0 and borrowed > 0: infinite, compared by borrowed / lendable */
    sl_resource_id resource; /* the dominant one; of equal ones the one with the smaller id */
};

/* On the current ledger, trials included. A qnode without a parent has share zero. */
/*@ requires ledger: CellsLinked && LimitsInRange && UsageInRange; terminates \true;
    exits \false; assigns sl_hidden; */
struct sl_share sl_shares_of(sl_qnode_id qnode);
/* -1, 0, 1 as a is less than, equal to, or greater than b. */
/*@ terminates \true; exits \false; assigns \nothing; ensures sign: -1 <= \result <= 1; */
int sl_shares_compare(struct sl_share a, struct sl_share b);
/* In thousandths, rounded up; INT64_MAX when infinite: what the API and metrics show. */
/*@ terminates \true; exits \false; assigns \nothing; */
int64_t sl_shares_shown(struct sl_share share);
/* Does the qnode's subtree use more than its quota of this cell's flavor and resource? */
/*@ requires ledger: LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns \nothing; */
bool sl_shares_borrows(sl_cell_id cell);
/* The same of any cell of the qnode. May be true of a share of zero: when nothing can be lent. */
/*@ requires ledger: LimitsInRange && UsageInRange; terminates \true; exits \false;
    assigns \nothing; */
bool sl_shares_borrows_any(sl_qnode_id qnode);
#endif
