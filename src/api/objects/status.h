/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The sentence that sums up an error's causes. Inside src/api only; others see sl_status_new. */
#ifndef SL_API_STATUS_H
#define SL_API_STATUS_H
#include "api/objects/object.h"

/* `Job.batch "x" is invalid: [field: text, ...]`; kind SL_KIND_COUNT leaves the head away. */
void sl_status_sum_up(const struct sl_error *e, enum sl_kind kind, const char *name,
                      struct sl_buf *out);
#endif
