/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Gates: what its object names that keeps a workload out of its queue. */
#ifndef SL_ENGINE_GATES_H
#define SL_ENGINE_GATES_H
#include "engine/state.h"

/* NULL: nothing. A group of pods that lacks some waits for them: it would hold quota for what cannot start. */
const char *sl_gate_of(const struct sl_engine *g, const struct sl_json *workload);
/* Does the object say already that it is gated? */
bool sl_gate_is_shown(const struct sl_json *workload);
/* From now on that is why it waits. */
void sl_gate_say(struct sl_engine *g, sl_workload_id id, const char *gate);
#endif
