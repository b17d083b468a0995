/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workload slices, beside what policy/requests/slices.h decides of them: which Workload's annotation names which, handed to
 * the core when either is there, and when the old one has flavors; and how the end of one whose place was taken is
 * written. The reservation of the new one is written first. Until then the object of the old one says that it holds its
 * quota, and a restart in between finds both: then the old one is finished. */
#ifndef SL_ENGINE_SLICES_H
#define SL_ENGINE_SLICES_H
#include "engine/state.h"

/* The annotation: NAMESPACE/NAME of the one whose place it takes. Kueue's, as all of it is. */
#define SL_SLICE_ANNOTATION "kueue.x-k8s.io/workload-slice-replacement-for"

/* The object says whose place it takes, or none. */
void sl_slice_take(struct sl_engine *g, sl_workload_id id, const struct sl_json *object,
                   int64_t now_ms);
/* The record of that name is there, or is another one, or has other flavors: the core learns of it for those that name it. */
void sl_slice_met(struct sl_engine *g, sl_workload_id id, int64_t now_ms);
/* The next one that names it, after `last` (SL_NO_ID: the first); SL_NO_ID: no more. */
sl_workload_id sl_slice_next(const struct sl_engine *g, sl_workload_id old, sl_workload_id last);
/* Its entry is dropped. */
void sl_slice_drop(struct sl_engine *g, sl_workload_id id);
void sl_slice_fini(struct sl_engine *g);

/* It has reserved quota just now, in a cycle. `replaced`: the one whose place it took, which has finished by that in the
 * core, as `ended` says; SL_NO_ID = none: the one that it names may hold quota still, and is finished then, */
void sl_slice_reserved(struct sl_engine *g, sl_workload_id id, sl_workload_id replaced,
                       const struct sl_transition *ended, int64_t now_ms);
/* ... which is done once the cycle is over. */
void sl_slice_end_cycle(struct sl_engine *g, int64_t now_ms);
/* Both were found to hold quota: the one whose place was taken is finished. */
void sl_slice_settle(struct sl_engine *g, sl_workload_id id, int64_t now_ms);

/* Whether it has finished by that is still to be written, the reservation before it. */
bool sl_slice_waits(const struct sl_engine *g, sl_workload_id old);
/* The reservation of the new one came to nothing before it was written: so the old one runs on. */
bool sl_slice_in_vain(const struct sl_engine *g, sl_workload_id old);
/* The object of the new one says that it has reserved. */
void sl_slice_written(struct sl_engine *g, sl_workload_id id);
/* Why it has finished, for people. */
void sl_slice_say(const struct sl_engine *g, sl_workload_id old, char out[static SL_MESSAGE_SIZE]);
/* ... as a condition. NULL: the object says that it has finished. */
struct sl_json *sl_slice_finish_new(const struct sl_engine *g, sl_workload_id old,
                                    const struct sl_json *workload, int64_t now_ms);
/* The one whose reservation is unwritten has taken this place; SL_NO_ID = it took none, or that is written. */
sl_workload_id sl_slice_unwritten(const struct sl_engine *g, sl_workload_id id);
#endif
