/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The scheduling cycle (Kueue's Scheduler.schedule): one head of every queue with something to try
 * is nominated (nominate.h) on the current ledger. Then, in order (lower borrow height, higher
 * priority, earlier, smaller UID; under fair sharing as in tournament.h), each is checked again
 * against what the cycle has decided before, planned, and committed: quota is taken, or victims are
 * evicted and their quota is promised. Owns the running cycle.
 *
 *     sl_cycle_begin(now);
 *     while (sl_cycle_next()) { ... look at sl_cycle_outcome and sl_assignment ... }
 *     again = sl_cycle_end();
 *
 * Without fair sharing those that find no place come first, in no particular order. All is over
 * when next says false: no workload is left in flight (end puts back those of a cycle that was left
 * early). The record of each pending one gets SL_EV_REFUSE with its reason in the cycle itself.
 * Events come between cycles. */
#ifndef SL_POLICY_CYCLE_H
#define SL_POLICY_CYCLE_H
#include "kernel/commit/placement.h"
#include "kernel/preempt/preempt.h"
#include "kernel/base/status.h"
#include "kernel/base/types.h"
#include "policy/topology/assumed.h"
#include "policy/entries/entries.h"
#include "policy/flavors/flavors.h"
#include "policy/entries/nominate.h"
#include "policy/queues/passes.h"
#include "policy/queues/queues.h"
#include "kernel/commit/transition.h"
#include "specs/cycle.acsl"
#include "specs/trial.acsl"

enum sl_cycle_result {
    /* Committed: sl_assignment.choices, counts, borrow_height. sl_topology_assignment_at
     * (kernel/topology/topology.h) has the topology assignment, sl_assignment.delayed the pod sets
     * that wait for the second phase. */
    SL_CYCLE_RESERVED,
    /* No place: reason, sl_assignment.details and topology_failure. */
    SL_CYCLE_PENDING,
    /* Second pass, committed: sl_topology_assignment_at. The quota is as before, and of sl_assignment
     * only counts, tree and topology_failure are set. */
    SL_CYCLE_PLACED,
    /* Second pass: found nothing, stays reserved or admitted, and is tried again later;
     * sl_assignment.topology_failure (miss OK: nothing was looked for, its queue does not run). */
    SL_CYCLE_UNPLACED,
    /* Second pass: no replacement for failed nodes, and it does not wait (fail fast): evicted,
     * NodeFailures. */
    SL_CYCLE_EVICTED
};

/* What came of looking for other victims, since others in the cycle had chosen some of its own
 * (Kueue's metric preemption_target_recomputation). */
enum sl_recomputed {
    SL_RECOMPUTED_NOT,
    SL_RECOMPUTED_DEFERRED, /* it fits once the others' victims have stopped */
    SL_RECOMPUTED_NEW_VICTIMS,
    SL_RECOMPUTED_SKIPPED /* there are none, or they are not enough */
};

/* It is a variant of a workload of which another holds quota. */
enum sl_variant_wait {
    SL_VARIANT_FREE,        /* it is none, or no other does */
    SL_VARIANT_COMES_LATER, /* the other comes first */
    SL_VARIANT_BELOW_LIMIT, /* it fits and comes first, and may not take the other's place */
    SL_VARIANT_MIGRATES     /* it takes the other's place once that has stopped */
};

struct sl_cycle_outcome {
    sl_workload_id workload;
    uint32_t generation;
    sl_qnode_id cluster_queue;
    enum sl_cycle_result result;
    enum sl_status status;         /* SL_OK, or with which the kernel refused the plan */
    struct sl_transition did;      /* what became of its record */
    enum sl_pending_reason reason; /* when pending */
    bool outsider;                 /* its ClusterQueue does not take its namespace (outsiders.h) */
    bool overtaken;                /* it fitted until others of this cycle took the quota */
    bool overlaps;                 /* its victims are those of others of this cycle */
    bool skipped_preemption;       /* it would have preempted but for these (metrics) */
    enum sl_recomputed recomputed;
    enum sl_variant_wait variant;
    uint32_t victim_count;   /* the workloads that it waits for, including those that were being
                            * evicted before */
    enum sl_place place;     /* where it is now: HOLDING, HEAP or INADMISSIBLE */
    sl_workload_id replaced; /* when reserved: the slice whose place it took, which has finished;
                              * SL_NO_ID = none */
    struct sl_transition replaced_did; /* what became of its record */
};
extern struct sl_cycle_outcome sl_cycle_outcome;

/* Whom the outcome at hand evicted just now (those that were being evicted before are not
 * listed), for the workload of the outcome. Reason: SL_PENDING_PREEMPTED_WORKLOADS. */
struct sl_cycle_evicted {
    uint32_t count;
    sl_workload_id workloads[SL_VICTIMS_MAX];
    enum sl_preempt_reason reasons[SL_VICTIMS_MAX];
    enum sl_phase from[SL_VICTIMS_MAX]; /* in which phase it was */
};
extern struct sl_cycle_evicted sl_cycle_evicted;

/* For metrics, of the cycle at hand or just ended: preemptions that were skipped, and victims
 * that were looked for again, because of others in the cycle. */
extern uint32_t sl_cycle_skipped_preemptions;
extern uint32_t sl_cycle_recomputed_victims;

/* Why a head goes back to its queue (Kueue's RequeueReason), and where it goes (its
 * requeueIfNotPresent); `left`: flavors are left to try. */
enum sl_back {
    SL_BACK_INVALID,    /* it was not nominated */
    SL_BACK_NO_FIT,     /* no flavor will do */
    SL_BACK_NO_VICTIMS, /* preemption is needed, and there is no candidate */
    SL_BACK_SKIPPED,    /* it was nominated, and failed because of others in the cycle */
    SL_BACK_PREEMPTING, /* victims are on their way out; it is the queue's preemptor now */
    SL_BACK_GATED,      /* it would preempt, and one of its preemption gates is closed */
    SL_BACK_OUTSIDER    /* its ClusterQueue does not take its namespace */
};
/*@ terminates \true; exits \false; assigns \nothing; */
enum sl_put sl_cycle_back_to(enum sl_strategy strategy, enum sl_back why, bool left);

/* Apply what was woken and take the heads, and the second passes that are due (passes.h);
 * returns how many there are in all. Those of begin_all hold up their queues too (turns.h): a
 * cycle as Kueue would run it, at a cost linear in queues. */
/*@ requires ready: CycleReady; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS, SL_ASSUMED, sl_promises, SL_CAPACITY_PROMISED,
      sl_places[0 .. SL_WORKLOADS_MAX - 1], sl_cycle_skipped_preemptions,
      sl_cycle_recomputed_victims;
    ensures ready: CycleReady; */
uint32_t sl_cycle_begin(int64_t now_ms);
/*@ requires ready: CycleReady; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS, SL_ASSUMED, sl_promises, SL_CAPACITY_PROMISED,
      sl_places[0 .. SL_WORKLOADS_MAX - 1], sl_cycle_skipped_preemptions,
      sl_cycle_recomputed_victims;
    ensures ready: CycleReady; */
uint32_t sl_cycle_begin_all(int64_t now_ms);
/* Deal with one more entry: its outcome is in sl_cycle_outcome and sl_assignment. False = all
 * are done. */
/*@ requires ready: CycleReady; terminates \true; exits \false;
    assigns sl_hidden, SL_NOMINATED, SL_FAILED, SL_PASS_TIMERS, SL_TOLD, SL_SETTLED, SL_SERVED,
      SL_HELD, SL_EVICTED, sl_entries[0 .. SL_ENTRIES_MAX - 1], sl_cycle_outcome,
      sl_cycle_recomputed_victims, sl_cycle_skipped_preemptions;
    ensures ready: CycleReady; */
bool sl_cycle_next(void);
/* Close the cycle; true = another one would have something to try. */
/*@ requires ready: CycleReady; terminates \true; exits \false;
    assigns sl_hidden, SL_PASS_TIMERS, SL_ASSUMED, sl_promises, SL_CAPACITY_PROMISED,
      sl_places[0 .. SL_WORKLOADS_MAX - 1];
    ensures ready: CycleReady; */
bool sl_cycle_end(void);
#endif
