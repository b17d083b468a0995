/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The scheduling cycle (FEATURES 3): one head of every queue with something to try, flavors
 * assigned on the ledger as it stands, then in order (lower borrow height, higher priority,
 * earlier, smaller UID) each that fits is checked again, planned and committed. Owns the entries
 * of the running cycle.
 *
 *     sl_cycle_begin(now);
 *     while (sl_cycle_next()) { ... look at sl_cycle_outcome and sl_assignment ... }
 *     again = sl_cycle_end();
 *
 * Those that find no place come first, in no particular order. All is over when next says false:
 * no workload is left in flight (end puts back those of a cycle that was left early). The record
 * of each pending one gets SL_EV_REFUSE with its reason in the cycle itself. Events come between
 * cycles. */
#ifndef SL_POLICY_CYCLE_H
#define SL_POLICY_CYCLE_H
#include "kernel/status.h"
#include "kernel/types.h"
#include "policy/flavors.h"

enum sl_cycle_result {
    SL_CYCLE_RESERVED, /* committed: sl_assignment.choices, borrow_height */
    SL_CYCLE_PENDING   /* no place: reason, sl_assignment.details */
};

struct sl_cycle_outcome {
    sl_workload_id workload;
    uint32_t generation;
    sl_node_id cluster_queue;
    enum sl_cycle_result result;
    enum sl_status status;         /* SL_OK, or with which the kernel refused the plan */
    enum sl_pending_reason reason; /* when pending */
    bool changed;                  /* the record's pending reason is new */
    bool overtaken;                /* it fitted until others of this cycle took the quota */
    enum sl_place place;           /* where it is now: HOLDING, HEAP or INADMISSIBLE */
};
extern struct sl_cycle_outcome sl_cycle_outcome;

/* Apply what was woken and take the heads; returns how many. */
uint32_t sl_cycle_begin(int64_t now_ms);
/* Deal with one more entry: its outcome is in sl_cycle_outcome and sl_assignment. False = all
 * are done. */
bool sl_cycle_next(void);
/* Close the cycle; true = another one would have something to try. */
bool sl_cycle_end(void);
#endif
