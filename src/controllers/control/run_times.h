/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How long jobs say that they run, for the engine's foresight. */
#ifndef SL_CONTROLLERS_RUN_TIMES_H
#define SL_CONTROLLERS_RUN_TIMES_H
#include "engine/foresight.h"

/* What the job says: with `simulated`, where standalone mode runs it, that is exact. */
enum sl_run_basis sl_run_time_said(enum sl_kind kind, const struct sl_json *job, bool simulated,
                                   int64_t *ms);
/* A job was added, changed or deleted. */
void sl_run_times_observe(struct sl_engine *engine, enum sl_kind kind, const struct sl_json *job,
                          bool deleted, bool simulated);
#endif
