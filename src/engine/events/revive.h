/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A slice has taken the place of another in the core, and its reservation was never written: in the API the other one
 * holds its quota as before. It is read from its object again, before the next cycle. */
#ifndef SL_ENGINE_REVIVE_H
#define SL_ENGINE_REVIVE_H
#include "engine/state.h"

/* The slice has lost what it had reserved: if that was never written, the one whose place it took runs on. */
void sl_slice_undo(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
/* The one whose place was taken runs on. */
void sl_slice_revive(struct sl_engine *g, sl_workload_id old, int64_t now_ms);
#endif
