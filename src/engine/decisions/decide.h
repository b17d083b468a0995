/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Decisions: what has to be written to the API about a workload. Each is noted in the journal, and waits in
 * the order in which it was made until it is asked for (sl_engine_next_decision). */
#ifndef SL_ENGINE_DECIDE_H
#define SL_ENGINE_DECIDE_H
#include "engine/engine.h"
#include "kernel/base/types.h"
#include "kernel/commit/transition.h"

void sl_decide(struct sl_engine *g, sl_workload_id id, enum sl_decision_kind kind, int64_t now_ms);
/* The same, with a message for people; the message is copied. */
void sl_decide_saying(struct sl_engine *g, sl_workload_id id, enum sl_decision_kind kind,
                      const char *message, int64_t now_ms);
/* What has to be decided after that, if anything, and what is counted of it. */
void sl_decide_after(struct sl_engine *g, sl_workload_id id, const struct sl_transition *did,
                     int64_t now_ms);
#endif
