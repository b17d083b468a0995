/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Decisions as patches of their Workloads. */
#ifndef SL_ENGINE_DECISION_OUT_H
#define SL_ENGINE_DECISION_OUT_H
#include "engine/engine.h"

/* The merge patch that carries it out, given the live Workload (caller frees); *status tells whether it goes to the status
 * subresource. It includes metadata.resourceVersion. NULL when the live object already is so. */
struct sl_json *sl_patch_from_decision(struct sl_engine *g, const struct sl_decision *d,
                                       const struct sl_json *workload, bool *status);
#endif
