/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Two plays of a past compared, as JSON (docs/operations.md, Yesterday under another policy). */
#ifndef SL_ENGINE_PAST_REPORT_H
#define SL_ENGINE_PAST_REPORT_H
#include "engine/past/past.h"

/* `before` and `after` are what sl_past_play answers; no more than `rows_max` workloads in each list, the rest is counted.
 * The caller frees the report. */
struct sl_json *sl_past_report_new(const struct sl_past *past, const struct sl_json *before,
                                   const struct sl_json *after, size_t rows_max);
/* How many of the workloads fared otherwise in that play than the journal says: admitted or evicted at another time, or with
 * other flavors. */
size_t sl_past_differs(const struct sl_past *past, const struct sl_json *played);
#endif
