/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the running cycle has decided but not yet happened, per root cohort tree: quota promised to
 * workloads that wait, and victims that count as stopped. To judge an entry against it a trial is
 * opened on the ledger and rolled back. Owns the lists. */
#ifndef SL_POLICY_TENTATIVE_H
#define SL_POLICY_TENTATIVE_H
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/commit/promise.h"
#include "kernel/base/types.h"
#include "specs/hidden.acsl"
#include "specs/trial.acsl"

/*@ terminates \true; exits \false; assigns sl_hidden, sl_promises; ensures valid: PromisesValid; */
void sl_tentative_clear(void);

/* Promise quota to a workload that waits, in the kernel's list (kernel/commit/promise.h) as well
 * unless it is there already. False = the list is full, and the amount is not counted. */
/*@ requires valid: PromisesValid; terminates \true; exits \false;
    assigns sl_hidden, SL_PROMISED; ensures valid: PromisesValid; */
bool sl_tentative_promise(sl_qnode_id root, sl_cell_id cell, int64_t amount, bool tell_kernel);
/* A victim of this tree; once. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_tentative_evict(sl_qnode_id root, sl_workload_id id);
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_tentative_is_gone(sl_workload_id id);
/*@ terminates \true; exits \false; assigns \nothing; */
uint32_t sl_tentative_gone_count(sl_qnode_id root);
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID; */
sl_workload_id sl_tentative_first_gone(sl_qnode_id root); /* SL_NO_ID = no (more) */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_WORKLOADS_MAX || \result == SL_NO_ID; */
sl_workload_id sl_tentative_next_gone(sl_workload_id id);

/* In a trial: what the tree's promises charge is taken; what its victims hold, or this holder, is
 * free. False = that cannot be tried. */
/*@ requires ledger: LedgerReady; terminates \true; exits \false; assigns SL_TRIED;
    ensures ledger: LedgerReady && PastKept{Pre, Post}; */
bool sl_tentative_take_promised(sl_qnode_id root);
/*@ requires ledger: LedgerReady && UsageCountsValid; terminates \true; exits \false;
    assigns SL_TRIED; ensures ledger: LedgerReady && PastKept{Pre, Post}; */
bool sl_tentative_free_gone(sl_qnode_id root);
/*@ requires ledger: LedgerReady && UsageCountsValid; terminates \true; exits \false;
    assigns SL_TRIED; ensures ledger: LedgerReady && PastKept{Pre, Post}; */
bool sl_tentative_free(sl_workload_id id);
#endif
