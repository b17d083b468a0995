/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The steps of a cycle, for its own files: cycle.c takes the heads, nominates them and calls the
 * others. */
#ifndef SL_POLICY_CYCLE_STEPS_H
#define SL_POLICY_CYCLE_STEPS_H
#include "policy/cycle.h"

/* The running cycle. */
extern int64_t sl_cycle_now_ms;
extern uint64_t sl_cycle_number;

/* It is about to be nominated: note whether its scan of flavors goes on from an earlier cycle. */
void sl_cycle_note_scan(sl_workload_id id);

/* Does the queue's head take part because others of its tree are tried? */
bool sl_cycle_is_along(sl_node_id queue);

/* Begin the outcome of this workload: pending, WAITING_FOR_QUOTA. */
void sl_cycle_begin_outcome(sl_workload_id id);
/* End it: note its reason in the record and put it back. */
void sl_cycle_put_back(enum sl_back why);

/* The entries in order; SL_NO_ID = no more. */
void sl_cycle_sort(void);
uint32_t sl_cycle_next_entry(void);

/* Decide about one entry; its outcome is complete. */
void sl_cycle_process(uint32_t entry);

/* Somebody in this tree was served or evicted, or gave up what it had reserved for the cycle:
 * whoever was held back there is worth another try when the cycle ends. */
void sl_cycle_progress(sl_node_id root);
void sl_cycle_give_up(sl_node_id root);
#endif
