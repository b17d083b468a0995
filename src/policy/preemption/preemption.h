/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which workloads would have to be preempted so that one fits (Kueue's Preemptor.GetTargets):
 * classical preemption and fair sharing, tried on the live ledger under the undo trail and taken
 * back exactly. Owns the question, the answer, and the list of workloads that are passed over. */
#ifndef SL_POLICY_PREEMPTION_H
#define SL_POLICY_PREEMPTION_H
#include "kernel/commit/commit.h"
#include "kernel/ledger/ledger.h"
#include "kernel/commit/promise.h"
#include "kernel/base/types.h"
#include "policy/placement/placement.h"
#include "specs/hidden.acsl"
#include "specs/trial.acsl"

/* One cell that the preemptor needs something of. */
struct sl_need {
    sl_cell_id cell;
    int64_t amount; /* of all its pod sets together */
    bool contested; /* it does not fit there without preemption */
};

/* The question: which workload, in which ClusterQueue, needs what. Distinct cells. */
struct sl_preemption_question {
    sl_workload_id preemptor;
    sl_qnode_id cluster_queue;
    bool places; /* sl_placement_question has to be answered as well, without the victims' pods */
    bool placed; /* sl_topology_plan is that answer, and no other is looked for */
    uint32_t need_count;
    struct sl_need needs[SL_USAGE_CELLS_MAX];
};
extern struct sl_preemption_question sl_preemption_question;
/*@ predicate QuestionSound{L} = sl_preemption_question.need_count <= SL_USAGE_CELLS_MAX; */

/* The answer: the victims, in the order in which they would be preempted, and why each. */
struct sl_victims {
    uint32_t count;
    bool may_borrow; /* false: without them the preemptor fits without borrowing */
    sl_workload_id workloads[SL_VICTIMS_MAX];
    enum sl_preempt_reason reasons[SL_VICTIMS_MAX];
};
extern struct sl_victims sl_victims;
/*@ predicate VictimsSound{L} = sl_victims.count <= SL_VICTIMS_MAX; */

/* clang-format off */
#define SL_SOUGHT sl_victims, SL_ASSUMED, SL_PLACED, SL_TRIED, sl_trail_depth
/* clang-format on */
/*@
  // Victims can be looked for: trials, of which several nest, on ledger and capacities.
  predicate PreemptionReady{L} =
    TrialReady && WorkloadUsageValid && sl_trail_depth < INT32_MAX && ListsInv && PlaceReady;
*/

/* Find victims for sl_preemption_question; returns sl_victims.count, 0 = none would help. May be
 * asked inside a trial (which then counts as the state of the world). There are none for a
 * restrained workload (restraint.h). `now_ms` orders holders whose reservation has no time yet. */
/*@ requires ready: PreemptionReady; terminates \true; exits \false;
    assigns sl_hidden, SL_SOUGHT;
    ensures ready: PreemptionReady && TakenBack{Pre, Post};
    ensures victims: VictimsSound && \result == sl_victims.count; */
uint32_t sl_preemption_find(int64_t now_ms);

/* Leave those victims alone that neither quota nor the places of sl_topology_plan need, though the search for places
 * finds none beside them (it is no exhaustive one): of sl_victims, which answer sl_preemption_question. Returns how many
 * remain; 0 = it fits as it is. */
/*@ requires ready: PreemptionReady && VictimsSound; terminates \true; exits \false;
    assigns sl_hidden, SL_SOUGHT, sl_preemption_question.placed;
    ensures ready: PreemptionReady && TakenBack{Pre, Post};
    ensures victims: VictimsSound && \result == sl_victims.count; */
uint32_t sl_preemption_spare_beside_places(void);

/* Workloads that are taken out in the open trial, because others in the cycle have chosen them:
 * they are not candidates, until none is passed over any more. */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_preemption_pass_over(sl_workload_id id);
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_preemption_pass_over_none(void);

/* What preemption could do for one cell alone: the oracle of flavor assignment. The question and
 * sl_victims are overwritten. */
enum sl_possibility { SL_NO_CANDIDATES, SL_PREEMPT, SL_RECLAIM };
struct sl_prospect {
    enum sl_possibility possibility; /* RECLAIM: no victim is of the preemptor's own queue */
    uint32_t borrow_height;          /* without the victims */
};
/*@ requires ready: PreemptionReady && HeightsInv; terminates \true; exits \false;
    assigns sl_hidden, SL_SOUGHT, SL_HEIGHTS, sl_preemption_question;
    ensures ready: PreemptionReady && HeightsInv && TakenBack{Pre, Post};
    ensures known: \result.possibility <= SL_RECLAIM && VictimsSound; */
struct sl_prospect sl_preemption_prospect(sl_workload_id preemptor, sl_qnode_id cluster_queue,
                                          sl_cell_id cell, int64_t amount, int64_t now_ms);
#endif
