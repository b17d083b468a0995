/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The flavors that an annotation of a Workload allows it (feature gate ConcurrentAdmission). */
#ifndef SL_ENGINE_ALLOWED_H
#define SL_ENGINE_ALLOWED_H
#include "engine/state.h"

/* As the annotation has them, names with commas between; NULL: any. */
const char *sl_allowed_flavors(const struct sl_engine *g, const struct sl_json *workload);
/* Is this one of those? */
bool sl_allowed_has(const char *allowed, const char *flavor);
#endif
