/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Go-style durations, as Kubernetes' annotations and flags write them: "1s", "500ms", "1h2m3.5s". */
#ifndef SL_CONTROLLERS_DURATION_H
#define SL_CONTROLLERS_DURATION_H
#include "base/error.h"
#include <stdint.h>

#define SL_DURATION_MS_MAX 315360000000LL /* ten years: longer ones are taken for a mistake */

/* 0 .. SL_DURATION_MS_MAX, rounded down to milliseconds. Units: ns, us, ms, s, m, h; "0" needs none. */
enum sl_code sl_duration_parse(const char *text, int64_t *ms, struct sl_error *e);
#endif
