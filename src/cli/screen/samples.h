/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading metrics in Prometheus' text format: pure functions over a page. */
#ifndef SL_CLI_SAMPLES_H
#define SL_CLI_SAMPLES_H
#include <stdbool.h>

/* The sum of all series of that name; false: there is none. */
bool sl_samples_sum(const char *page, const char *name, double *out);
/* Of all series of a histogram together, as histogram_quantile() has it: interpolated within the bucket. *beyond: it is more than
 * the last bucket's limit, which is *out then. False: nothing was observed. */
bool sl_samples_quantile(const char *page, const char *name, double quantile, double *out,
                         bool *beyond);
#endif
