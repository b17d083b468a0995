/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Tables: meta.k8s.io/v1 for kubectl, aligned text for people. */
#include <string.h>

#include "api/kinds/cells.h"
#include "base/grid.h"

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

static void add_cell(struct sl_grid *g, const struct sl_column *column,
                     const struct sl_json *object, int64_t now_ms)
{
    struct sl_json *cell = sl_cell_new(column, object, now_ms);
    struct sl_buf text = {0};
    if (cell != NULL && sl_json_type(cell) != SL_JSON_TEXT) {
        sl_json_print(cell, &text);
    }
    sl_grid_add(g, sl_json_text(cell, text.data));
    sl_json_free(cell);
    sl_buf_fini(&text);
}

static size_t count_shown(const struct sl_column *columns, size_t count, bool wide)
{
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        shown += wide || columns[i].priority == 0;
    }
    return shown;
}

void sl_table_print(enum sl_kind kind, const struct sl_json *objects, bool wide,
                    bool with_namespace, int64_t now_ms, struct sl_buf *out)
{
    size_t count;
    const struct sl_column *columns = sl_schema_columns(kind, &count);
    struct sl_grid *g = sl_grid_new(count_shown(columns, count, wide) + with_namespace);
    if (with_namespace) {
        sl_grid_add_title(g, "Namespace");
    }
    for (size_t i = 0; i < count; i++) {
        if (wide || columns[i].priority == 0) {
            sl_grid_add_title(g, columns[i].name);
        }
    }
    for (size_t row = 0; row < sl_json_len(objects); row++) {
        const struct sl_json *object = sl_json_at(objects, row);
        if (with_namespace) {
            sl_grid_add(g, sl_object_namespace(object));
        }
        for (size_t i = 0; i < count; i++) {
            if (wide || columns[i].priority == 0) {
                add_cell(g, &columns[i], object, now_ms);
            }
        }
    }
    sl_grid_print(g, out);
    sl_grid_free(g);
}
