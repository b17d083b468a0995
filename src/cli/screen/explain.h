/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* An Explanation (cli/pages/why.h) as text for people. */
#ifndef SL_CLI_EXPLAIN_H
#define SL_CLI_EXPLAIN_H
#include "api/json/json.h"

void sl_explain_print(const struct sl_json *explanation, int64_t now_ms, struct sl_buf *out);
#endif
