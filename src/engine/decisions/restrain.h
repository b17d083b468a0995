/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads that take turns: one evicts another and is evicted by it in turn, or others take what it
 * made free, without end. What happened is counted here; policy/preemption/restraint.h says what
 * follows of it: for how long a workload finds no victims (decision 0022). Here that is a timer. */
#ifndef SL_ENGINE_RESTRAIN_H
#define SL_ENGINE_RESTRAIN_H
#include "engine/state.h"

/* It has evicted a workload in the running cycle. */
void sl_restrain_note_preemptor(struct sl_engine *g, sl_workload_id id);
/* The cycle is over: they are restrained now. */
void sl_restrain_settle(struct sl_engine *g, int64_t now_ms);
/* The time is over. */
void sl_restrain_end(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
/* Its phase was `before`: has it been served for a while, or was it not preempted that ended it? */
void sl_restrain_note_service(struct sl_engine *g, sl_workload_id id, enum sl_phase before,
                              int64_t now_ms);
#endif
