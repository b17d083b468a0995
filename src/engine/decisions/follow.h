/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What follows from a change of a workload's record: the counts change, its timer is armed, and
 * what has to be written to the API becomes a decision. Nothing here changes the core. */
#ifndef SL_ENGINE_FOLLOW_H
#define SL_ENGINE_FOLLOW_H
#include "engine/decisions/decide.h"
#include "engine/engine.h"
#include "kernel/commit/transition.h"

/* What the core did to a workload: for each call that changes it, and for each outcome of a cycle. */
void sl_follow(struct sl_engine *g, sl_workload_id id, const struct sl_transition *did,
               int64_t now_ms);
/* A cycle, and what follows from each of its outcomes. */
void sl_follow_cycle(struct sl_engine *g, bool all_heads, int64_t now_ms);
#endif
