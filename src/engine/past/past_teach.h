/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the engine of a daemon had seen, and one that is built from objects has not. */
#ifndef SL_ENGINE_PAST_TEACH_H
#define SL_ENGINE_PAST_TEACH_H
#include "engine/engine.h"
#include "engine/past/past.h"

/* How long workloads ran that have finished, for its queues (engine/quota/run_times.h). */
void sl_past_teach(const struct sl_past *past, struct sl_engine *g);
#endif
