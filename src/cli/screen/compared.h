/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The report of sluicectl compare (engine/past/past_report.h), for people. */
#ifndef SL_CLI_COMPARED_H
#define SL_CLI_COMPARED_H
#include "api/json/json.h"
#include "base/buf.h"

void sl_compared_print(const struct sl_json *report, struct sl_buf *out);

/* One limit of --fail-if: [QUEUE:]METRIC>VALUE or <. False, and *e with BAD_REQUEST: it makes no sense, or names a
 * ClusterQueue that the report does not have. *broken: the limit is; then `why` says by what. */
bool sl_compared_limit(const struct sl_json *report, const char *limit, bool *broken,
                       struct sl_buf *why, struct sl_error *e);
#endif
