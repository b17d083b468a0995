/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Aligned columns. */
#include "base/grid.h"
#include "base/check.h"
#include "base/mem.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GAP 3u /* blanks between columns */

struct sl_grid {
    size_t columns;
    char **cells;
    uint32_t count, cap;
};

struct sl_grid *sl_grid_new(size_t columns)
{
    SL_PRE(columns > 0);
    struct sl_grid *g = sl_mem_new(1, sizeof *g);
    g->columns = columns;
    return g;
}

void sl_grid_free(struct sl_grid *g)
{
    if (g == NULL) {
        return;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        sl_mem_free(g->cells[i]);
    }
    sl_mem_free(g->cells);
    sl_mem_free(g);
}

void sl_grid_add(struct sl_grid *g, const char *text)
{
    SL_PRE(g != NULL);
    const char *shown = text == NULL ? "" : text;
    g->cells = sl_mem_reach(g->cells, &g->cap, 64, g->count, sizeof *g->cells);
    g->cells[g->count++] = sl_mem_text_n(shown, strcspn(shown, "\n"));
}

void sl_grid_add_title(struct sl_grid *g, const char *text)
{
    sl_grid_add(g, text);
    for (char *p = g->cells[g->count - 1]; *p != '\0'; p++) {
        *p = (char)toupper((unsigned char)*p);
    }
}

void sl_grid_add_number(struct sl_grid *g, int64_t n)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, n);
    sl_grid_add(g, text);
}

/* Characters, not bytes. */
static size_t columns_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++) {
        n += ((unsigned char)*text & 0xC0u) != 0x80u;
    }
    return n;
}

void sl_grid_print(const struct sl_grid *g, struct sl_buf *out)
{
    SL_PRE(g != NULL && g->count % g->columns == 0);
    size_t *widths = sl_mem_new(g->columns, sizeof *widths);
    for (size_t i = 0; i < g->count; i++) {
        size_t n = columns_of(g->cells[i]);
        widths[i % g->columns] = n > widths[i % g->columns] ? n : widths[i % g->columns];
    }
    for (size_t i = 0; i < g->count; i++) {
        size_t column = i % g->columns;
        bool last = column + 1 == g->columns;
        size_t pad = last ? 0 : widths[column] + GAP - columns_of(g->cells[i]);
        sl_buf_print(out, "%s%*s%s", g->cells[i], (int)pad, "", last ? "\n" : "");
    }
    sl_mem_free(widths);
}
