/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The oracle on objects: does a Workload say what its record says? The checkers of the core judge records, and what
 * people and controllers see is the object. It is written from the meaning of the API's fields and shares nothing with
 * the writer (decision_out.c). Reads only; linear in the object. Used by the tests, the simulator, a fuzz target, and
 * the daemon where settings.paranoid is set. */
#ifndef SL_ENGINE_MIRROR_H
#define SL_ENGINE_MIRROR_H
#include "engine/engine.h"

/* What is wrong, as a sentence that is valid until the next question; NULL = nothing. */

/* `after` is what the patch of decision `d` has made of `before`, and nothing has happened since the patch was made. */
const char *sl_mirror_written(const struct sl_engine *g, const struct sl_decision *d,
                              const struct sl_json *before, const struct sl_json *after);
/* Two versions of one Workload, one after the other: what an eviction has left (row E of docs/lifecycle.md). */
const char *sl_mirror_evicted(const struct sl_json *before, const struct sl_json *after);
/* The object as it is in the API. NULL as well where it cannot be compared: it, or what was decided since, is on its
 * way. */
const char *sl_mirror_settled(const struct sl_engine *g, const struct sl_json *object);
#endif
