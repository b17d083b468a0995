/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One cell of a table. Inside src/api only. */
#ifndef SL_API_CELLS_H
#define SL_API_CELLS_H
#include "api/objects/schema.h"

/* A new value: text, number or NULL where the object has nothing to show. */
struct sl_json *sl_cell_new(const struct sl_column *column, const struct sl_json *object,
                            int64_t now_ms);
#endif
