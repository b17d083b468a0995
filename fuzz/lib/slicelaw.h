/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What holds of elastic jobs, whatever happens: of the Workloads that such a job has one at a time, its slices, and of its
 * pods. Written from what people expect of the objects, as joblaw.h, which asks. A rule that is broken is named; NULL: none
 * is. */
#ifndef SL_FUZZ_SLICELAW_H
#define SL_FUZZ_SLICELAW_H
#include "api/objects/client.h"

bool slicelaw_is_of(const struct sl_json *job);
/* The slice by which the job runs or stops; without one that has quota, the one for which it waits, and else one that has
 * finished. As the daemon may know them; NULL = it has none. */
const struct sl_json *slicelaw_slice(const struct sl_json *job);
/* The one that waits to replace that one; NULL = none does. */
const struct sl_json *slicelaw_next(const struct sl_json *job);
/* Has it quota in another's place, while the checks of the difference are not through? */
bool slicelaw_goes_on(const struct sl_json *wl);

/* With writes: a new slice; one that was changed; a pod that was. */
const char *slicelaw_made(const struct sl_json *wl);
const char *slicelaw_changed(const struct sl_json *before, const struct sl_json *after);
const char *slicelaw_let_in(const struct sl_json *before, const struct sl_json *after);
void slicelaw_forget(void); /* what was written */

/* At rest: of a job that goes on, and of one that has finished. */
const char *slicelaw_at_rest(const struct sl_json *job);
const char *slicelaw_at_end(const struct sl_json *job);
#endif
