/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the daemon foresees (engine/foresight.h), for people. */
#ifndef SL_CLI_FORESEEN_H
#define SL_CLI_FORESEEN_H
#include "api/json/json.h"

/* When the workload of a row starts: "now", "in 5m", "in 2h0m at the latest", or why that is unknown. */
void sl_foreseen_print_start(const struct sl_json *row, struct sl_buf *out);
/* What an answer says about changes. */
void sl_foreseen_print(const struct sl_json *answer, struct sl_buf *out);
/* Puts the rows of an answer into the items of a list of workloads that they are about, as "foreseen". */
void sl_foreseen_join(struct sl_json *items, const struct sl_json *answer);
#endif
