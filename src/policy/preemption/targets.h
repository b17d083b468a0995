/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For fair preemption only: the queue that has to give something up next. From the root down, the
 * child with the largest share, until that is a ClusterQueue with candidates left. Owns the list of
 * sl_candidates that are left in each queue, and the shares in the trial. */
#ifndef SL_POLICY_TARGETS_H
#define SL_POLICY_TARGETS_H
#include "kernel/base/types.h"
#include "policy/fair/shares.h"
#include "policy/preemption/tentative.h"

/* Begin with what sl_candidates holds: sorted, one group per queue. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_targets_begin(int64_t now_ms);
/* Begin again with those that were kept for later. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_targets_begin_again(void);

/* The next queue; SL_NO_ID = none is left. A queue that is not popped or dropped comes again. */
/*@ requires ledger: SharesReady; terminates \true; exits \false; assigns sl_hidden; */
sl_qnode_id sl_targets_next(void);
/* The queue's next candidate; SL_NO_ID = none is left. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
sl_workload_id sl_targets_pop(sl_qnode_id queue);
/* Keep it for the second beginning; only the first one of a queue matters there. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_targets_keep(sl_qnode_id queue, sl_workload_id id);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_targets_drop(sl_qnode_id queue);
/* A workload of the queue was released: shares from there to the root have to be computed again. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_targets_changed(sl_qnode_id queue);

/* The shares that are compared: of the two qnodes, above the preemptor and above the queue, that are
 * children of the lowest cohort that both are in. */
/*@ requires ledger: SharesReady; terminates \true; exits \false; assigns sl_hidden; */
struct sl_share sl_targets_preemptor_share(sl_qnode_id queue);
/*@ requires ledger: SharesReady; terminates \true; exits \false; assigns sl_hidden; */
struct sl_share sl_targets_share(sl_qnode_id queue);
/* What the latter would be without the workload. */
/*@ requires trial: TrialReady; terminates \true; exits \false;
    assigns sl_hidden, SL_TRIED, sl_trail_depth;
    ensures trial: TrialReady && PastKept{Pre, Post} && sl_trail_depth == \old(sl_trail_depth); */
struct sl_share sl_targets_share_without(sl_qnode_id queue, sl_workload_id id);
#endif
