/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What was given back, and whose object does not say so yet. In the core it is free at once and soon another's; were
 * that reservation written first, a restart in between would find both. So a write that takes something waits for what
 * was given back before it was decided, as long as a write of that is still to come. Writes that give back wait for
 * nothing, and so no wait is for ever. */
#ifndef SL_ENGINE_GIVEN_BACK_H
#define SL_ENGINE_GIVEN_BACK_H
#include "engine/state.h"

void sl_given_back_free(struct sl_engine *g);
/* By the decision of that sequence, just now: a release, or other nodes than before. */
void sl_given_back_note(struct sl_engine *g, sl_workload_id id, uint64_t sequence, int64_t now_ms);
/* By the decision of that sequence it takes something. */
void sl_given_back_take(struct sl_engine *g, sl_workload_id id, uint64_t sequence);

/* Of a look at its object: a patch is made that says all there is to say about it, or `all` is false. */
void sl_given_back_asked(struct sl_engine *g, sl_workload_id id, bool all);
/* That patch was written, or its object says all of it already. */
void sl_given_back_written(struct sl_engine *g, sl_workload_id id);

/* Has something been given back by another before it took what it has, and is that not written? */
bool sl_given_back_waits(struct sl_engine *g, sl_workload_id id);
/* Does the patch make its object hold quota, or nodes, that it did not hold? */
bool sl_given_back_takes(const struct sl_json *patch);
#endif
