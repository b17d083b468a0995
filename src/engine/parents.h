/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads that stand for their variants, and are not known to the engine (feature gate ConcurrentAdmission). Owns nothing. */
#ifndef SL_ENGINE_PARENTS_H
#define SL_ENGINE_PARENTS_H
#include "engine/engine.h"

/* Is the gate on? */
bool sl_engine_admits_concurrently(const struct sl_engine *g);
/* Is it such a Workload? */
bool sl_engine_is_parent(const struct sl_engine *g, const struct sl_json *workload);
#endif
