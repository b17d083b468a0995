/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For preemption only: the candidates, in the order in which they are tried. Owns the list. */
#ifndef SL_POLICY_CANDIDATES_H
#define SL_POLICY_CANDIDATES_H
#include "kernel/commit/commit.h"
#include "kernel/base/types.h"
#include "policy/preemption/preemption.h"
#include "specs/hidden.acsl"

/* By what right a candidate may be taken. */
enum sl_right {
    SL_RIGHT_HIERARCHY,    /* the preemptor is closer in the tree to the quota that it uses */
    SL_RIGHT_NO_BORROWING, /* only if the preemptor need not borrow then */
    SL_RIGHT_BORROWING,    /* even if it borrows then */
    SL_RIGHT_WITHIN,       /* it is of the preemptor's own queue */
    SL_RIGHT_SHARE         /* left to the rules of fair sharing */
};

struct sl_candidate {
    sl_workload_id workload;
    sl_qnode_id queue;
    sl_qnode_id common; /* the lowest cohort that it has in common with the preemptor */
    enum sl_right right;
    uint32_t group; /* all of a group are adjacent, groups in ascending order */
    uint32_t rank;  /* lower ones first within a group, then as SL_CANDIDATES_... says */
};

/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_candidates_clear(void);
/* Add those holders of a queue that the contest allows, unless the queue is inactive: workloads
 * that hold quota there are evicted for other reasons, or not at all. `rank` is that of those that
 * are being evicted already, SL_RANK_LATER is added for the others. */
#define SL_RANK_LATER 16u
/*@ requires question: QuestionSound && UsageCountsValid; terminates \true; exits \false;
    assigns sl_hidden; */
void sl_candidates_add(struct sl_candidate pattern);

/* Within group and rank: larger usage of the LocalQueue first where the ClusterQueue admits by
 * usage, then lower priority, then the later reservation (of none the time is
 * `now_ms`), then the smaller UID. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_candidates_sort(int64_t now_ms);

/*@ terminates \true; exits \false; assigns \nothing; ensures bound: \result <= SL_WORKLOADS_MAX; */
uint32_t sl_candidates_count(void);
/* In that order; SL_NO_ID beyond the last. Costs only as much sorting as has to be done for it. */
/*@ terminates \true; exits \false; assigns sl_hidden;
    ensures known: \result.workload < SL_WORKLOADS_MAX || \result.workload == SL_NO_ID; */
struct sl_candidate sl_candidates_at(uint32_t index);

/* Is workload a to be tried before b, group, rank and usage aside? A strict total order. */
/*@ terminates \true; exits \false; assigns \nothing; */
bool sl_candidates_before(sl_workload_id a, sl_workload_id b, int64_t now_ms);
#endif
