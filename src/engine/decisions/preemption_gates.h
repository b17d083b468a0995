/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Preemption gates of Workloads (feature gates MultiKueueOrchestratedPreemption and ConcurrentAdmission): spec.preemptionGates names them,
 * status.preemptionGates says which are open. Others open them; an eviction closes them. */
#ifndef SL_ENGINE_PREEMPTION_GATES_H
#define SL_ENGINE_PREEMPTION_GATES_H
#include "engine/state.h"
#include "kernel/commit/transition.h"

/* Do they count? */
bool sl_preemption_gates_count(const struct sl_engine *g);
/* What the object says, once the engine's own writes are in it: policy hears of what has changed, and it is tried again. */
void sl_preemption_gates_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                              int64_t now_ms);
/* What becomes of them with this transition of its record. */
void sl_preemption_gates_after(struct sl_engine *g, sl_workload_id id,
                               const struct sl_transition *did, int64_t now_ms);
/* Does it wait for one of them, and for nothing else? */
bool sl_preemption_gates_hold(const struct sl_engine *g, sl_workload_id id);
/* The state of each gate of the spec, and of no other: one that is new is closed; `close`: all are. */
void sl_preemption_gates_write(const struct sl_json *workload, struct sl_json *status, bool close,
                               int64_t now_ms);
#endif
