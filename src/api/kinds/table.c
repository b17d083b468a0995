/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Tables: meta.k8s.io/v1 for kubectl, aligned text for people. */
#include <ctype.h>
#include <string.h>

#include "api/kinds/cells.h"
#include "base/mem.h"

#define GAP 3u /* blanks between columns */

static struct sl_json *new_definition(const struct sl_column *column)
{
    bool name = strcmp(column->source, "metadata.name") == 0;
    struct sl_json *d = sl_json_new_map();
    sl_json_set_text(d, "name", column->name);
    /* Ages come as texts already: only a reader of CRDs sees dates. */
    sl_json_set_text(d, "type", strcmp(column->type, "date") == 0 ? "string" : column->type);
    sl_json_set_text(d, "format", name ? "name" : "");
    sl_json_set_text(d, "description", column->about);
    sl_json_set_int(d, "priority", column->priority);
    return d;
}

static struct sl_json *new_row(enum sl_kind kind, struct sl_json *object, int64_t now_ms)
{
    size_t count;
    const struct sl_column *columns = sl_schema_columns(kind, &count);
    struct sl_json *cells = sl_json_new_list();
    for (size_t i = 0; i < count; i++) {
        sl_json_append(cells, sl_cell_new(&columns[i], object, now_ms));
    }
    struct sl_json *partial = sl_json_new_map();
    sl_json_set_text(partial, "kind", "PartialObjectMetadata");
    sl_json_set_text(partial, "apiVersion", "meta.k8s.io/v1");
    sl_json_set(partial, "metadata", sl_json_ref(sl_json_get(object, "metadata")));
    struct sl_json *row = sl_json_new_map();
    sl_json_set(row, "cells", cells);
    sl_json_set(row, "object", partial);
    return row;
}

struct sl_json *sl_table_new(enum sl_kind kind, const struct sl_json *objects, int64_t now_ms)
{
    size_t count;
    const struct sl_column *columns = sl_schema_columns(kind, &count);
    struct sl_json *table = sl_json_new_map();
    sl_json_set_text(table, "kind", "Table");
    sl_json_set_text(table, "apiVersion", "meta.k8s.io/v1");
    sl_json_set(table, "metadata", sl_json_new_map());
    struct sl_json *definitions = sl_json_new_list();
    for (size_t i = 0; i < count; i++) {
        sl_json_append(definitions, new_definition(&columns[i]));
    }
    sl_json_set(table, "columnDefinitions", definitions);
    struct sl_json *rows = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        sl_json_append(rows, new_row(kind, sl_json_at(objects, i), now_ms));
    }
    sl_json_set(table, "rows", rows);
    return table;
}

/* --- text ----------------------------------------------------------------------------------- */

struct grid {
    char **cells; /* rows of `width` texts */
    size_t width, height;
};

static void put_header(struct grid *g, const char *name)
{
    char *text = sl_mem_text(name);
    for (char *p = text; *p != '\0'; p++) {
        *p = (char)toupper((unsigned char)*p);
    }
    g->cells[g->width++] = text;
}

static char *cell_text(const struct sl_column *column, const struct sl_json *object, int64_t now_ms)
{
    struct sl_json *cell = sl_cell_new(column, object, now_ms);
    struct sl_buf text = {0};
    if (sl_json_type(cell) == SL_JSON_TEXT) {
        /* A message of several lines would break the table. */
        const char *line = sl_json_text(cell, "");
        sl_buf_add(&text, line, strcspn(line, "\n"));
    } else if (cell != NULL) {
        sl_json_print(cell, &text);
    }
    sl_json_free(cell);
    return sl_buf_take(&text);
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

static void print_grid(const struct grid *g, struct sl_buf *out)
{
    size_t *widths = sl_mem_new(g->width, sizeof *widths);
    for (size_t i = 0; i < g->width * g->height; i++) {
        size_t n = columns_of(g->cells[i]);
        widths[i % g->width] = n > widths[i % g->width] ? n : widths[i % g->width];
    }
    for (size_t i = 0; i < g->width * g->height; i++) {
        size_t column = i % g->width;
        bool last = column + 1 == g->width;
        size_t pad = last ? 0 : widths[column] + GAP - columns_of(g->cells[i]);
        sl_buf_print(out, "%s%*s%s", g->cells[i], (int)pad, "", last ? "\n" : "");
    }
    sl_mem_free(widths);
}

void sl_table_print(enum sl_kind kind, const struct sl_json *objects, bool wide,
                    bool with_namespace, int64_t now_ms, struct sl_buf *out)
{
    size_t count;
    const struct sl_column *columns = sl_schema_columns(kind, &count);
    struct grid g = {.height = sl_json_len(objects) + 1};
    g.cells = sl_mem_new(g.height * (count + 1), sizeof *g.cells);
    if (with_namespace) {
        put_header(&g, "Namespace");
    }
    for (size_t i = 0; i < count; i++) {
        if (wide || columns[i].priority == 0) {
            put_header(&g, columns[i].name);
        }
    }
    size_t at = g.width;
    for (size_t row = 0; row < sl_json_len(objects); row++) {
        const struct sl_json *object = sl_json_at(objects, row);
        if (with_namespace) {
            g.cells[at++] = sl_mem_text(sl_object_namespace(object));
        }
        for (size_t i = 0; i < count; i++) {
            if (wide || columns[i].priority == 0) {
                g.cells[at++] = cell_text(&columns[i], object, now_ms);
            }
        }
    }
    print_grid(&g, out);
    for (size_t i = 0; i < at; i++) {
        sl_mem_free(g.cells[i]);
    }
    sl_mem_free(g.cells);
}
