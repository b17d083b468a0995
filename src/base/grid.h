/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rows of texts, printed as columns that are as wide as their longest text. */
#ifndef SL_BASE_GRID_H
#define SL_BASE_GRID_H
#include "base/buf.h"
#include <stdint.h>

struct sl_grid;
struct sl_grid *sl_grid_new(size_t columns);
void sl_grid_free(struct sl_grid *g);
/* The next cell, row by row; copied, up to the end of its first line: more would break the table. NULL is an empty cell. */
void sl_grid_add(struct sl_grid *g, const char *text);
/* The same in capital letters, for a header. */
void sl_grid_add_title(struct sl_grid *g, const char *text);
void sl_grid_add_number(struct sl_grid *g, int64_t n);
/* Whole rows only; the last column is not padded. */
void sl_grid_print(const struct sl_grid *g, struct sl_buf *out);
#endif
