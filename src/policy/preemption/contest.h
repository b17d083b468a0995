/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preemption only: the cells that the preemptor needs, and what is in its way: qnodes that use
 * more of them than their quota, workloads that hold some of them. Reads sl_preemption_question;
 * owns the list of workloads that are passed over. */
#ifndef SL_POLICY_CONTEST_H
#define SL_POLICY_CONTEST_H
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/base/types.h"
#include "policy/preemption/preemption.h"

/* Does the qnode's subtree use more than its quota of anything contested? */
/*@ requires question: QuestionSound && ListsInv; terminates \true; exits \false;
    assigns \nothing; */
bool sl_contest_exceeded(sl_qnode_id qnode);
/* Does the preemptor's own queue? */
/*@ requires question: QuestionSound && ListsInv; terminates \true; exits \false;
    assigns \nothing; */
bool sl_contest_own_exceeded(void);
/* Does that queue use less than its quota of everything contested? */
/*@ requires question: QuestionSound; terminates \true; exits \false; assigns \nothing; */
bool sl_contest_own_below(void);

/* May the holder go, by the policy of the preemptor's queue, and is anything contested that it
 * holds? */
/*@ requires question: QuestionSound; requires usage: UsageCountsValid; terminates \true;
    exits \false; assigns \nothing; */
bool sl_contest_allows(sl_workload_id holder, sl_qnode_id queue);
#endif
