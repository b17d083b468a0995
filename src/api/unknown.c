/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Members that no row of the kind's table names. They are kept, but somebody should be told. */
#include <string.h>

#include "api/schema.h"

#define TOLD_MAX 16u

static void visit(const struct sl_node *node, const struct sl_json *v, struct sl_buf *path,
                  struct sl_json *list);

static void cut(struct sl_buf *path, size_t len)
{
    if (path->data != NULL) {
        path->data[len] = '\0';
        path->len = len;
    }
}

static const struct sl_node *child_of(const struct sl_node *node, const char *name)
{
    const struct sl_node *child = node->first;
    while (child != NULL && strcmp(child->name, name) != 0) {
        child = child->next;
    }
    return child;
}

/* A table without members leaves them open. */
static void visit_members(const struct sl_node *node, const struct sl_json *v, struct sl_buf *path,
                          struct sl_json *list)
{
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    size_t len = path->len;
    while (node->first != NULL && sl_json_next(v, &it, &key, &value)) {
        const struct sl_node *child = child_of(node, key);
        sl_buf_print(path, "%s%.100s", len > 0 ? "." : "", key);
        if (child != NULL) {
            visit(child, value, path, list);
        } else if (sl_json_len(list) < TOLD_MAX) {
            sl_json_append(list, sl_json_new_text(path->data == NULL ? "" : path->data));
        }
        cut(path, len);
    }
}

static void visit_items(const struct sl_node *node, const struct sl_json *v, struct sl_buf *path,
                        struct sl_json *list)
{
    size_t len = path->len;
    for (size_t i = 0; i < sl_json_len(v); i++) {
        sl_buf_print(path, "[%zu]", i);
        visit(node->item, sl_json_at(v, i), path, list);
        cut(path, len);
    }
}

/* Values of another type than the table's are for the validation to refuse. */
static void visit(const struct sl_node *node, const struct sl_json *v, struct sl_buf *path,
                  struct sl_json *list)
{
    if (node->field.type == SL_TYPE_OBJECT && sl_json_type(v) == SL_JSON_MAP) {
        visit_members(node, v, path, list);
    } else if (node->field.type == SL_TYPE_LIST && node->item != NULL &&
               sl_json_type(v) == SL_JSON_LIST) {
        visit_items(node, v, path, list);
    }
}

static bool is_told(const char *key)
{
    return strcmp(key, "metadata") != 0 && strcmp(key, "status") != 0;
}

void sl_object_unknown(enum sl_kind kind, const struct sl_json *o, struct sl_json *list)
{
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    struct sl_json *mine = sl_json_new_map();
    struct sl_buf path = {0};
    while (sl_json_type(o) == SL_JSON_MAP && sl_json_next(o, &it, &key, &value)) {
        if (is_told(key) && value != NULL) {
            sl_json_set(mine, key, sl_json_ref(value));
        }
    }
    visit(sl_schema(kind), mine, &path, list);
    sl_buf_fini(&path);
    sl_json_free(mine);
}
