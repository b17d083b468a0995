/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/defined/shape.h"

#include <string.h>

#include "base/check.h"
#include "base/effort.h"

#define PATHS_MAX 16u
#define PRESERVE "x-kubernetes-preserve-unknown-fields"

/* A walk that removes what is unknown, or notes it. */
struct walk {
    bool remove;
    struct sl_json *list;
    struct sl_buf path;
};
static void visit(struct walk *w, const struct sl_json *schema, struct sl_json *v, bool root);

const struct sl_json *sl_shape_member(const struct sl_json *schema, const char *name)
{
    SL_PRE(name != NULL);
    const struct sl_json *own = sl_json_get(sl_json_get(schema, "properties"), name);
    const struct sl_json *any = sl_json_get(schema, "additionalProperties");
    return own != NULL ? own : sl_json_type(any) == SL_JSON_MAP ? any : NULL;
}

static bool keeps_unknown(const struct sl_json *schema)
{
    return sl_json_bool(sl_json_get(schema, PRESERVE), false) ||
           sl_json_bool(sl_json_get(schema, "additionalProperties"), false);
}

static bool is_every_objects(const char *key)
{
    return strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0 ||
           strcmp(key, "metadata") == 0;
}

static void cut(struct sl_buf *path, size_t len)
{
    if (path->data != NULL) {
        path->data[len] = '\0';
        path->len = len;
    }
}

static void note(struct walk *w, const char *key)
{
    size_t len = w->path.len;
    sl_buf_print(&w->path, "%s%.100s", len > 0 ? "." : "", key);
    if (w->list != NULL && sl_json_len(w->list) < PATHS_MAX) {
        sl_json_append(w->list, sl_json_new_text(w->path.data));
    }
    cut(&w->path, len);
}

static void visit_members(struct walk *w, const struct sl_json *schema, struct sl_json *v,
                          bool root)
{
    size_t len = w->path.len;
    struct sl_json *unknown = sl_json_new_list();
    for (struct sl_json_member m = {0}; sl_json_each(v, &m);) {
        const struct sl_json *member = sl_shape_member(schema, m.key);
        sl_effort_add(1);
        if (root && is_every_objects(m.key)) {
            continue;
        }
        if (member != NULL) {
            sl_buf_print(&w->path, "%s%.100s", len > 0 ? "." : "", m.key);
            visit(w, member, m.value, false);
            cut(&w->path, len);
        } else if (!keeps_unknown(schema)) {
            sl_json_append(unknown, sl_json_new_text(m.key));
        }
    }
    for (size_t i = 0; i < sl_json_len(unknown); i++) {
        const char *key = sl_json_text(sl_json_at(unknown, i), "");
        if (w->remove) {
            sl_json_remove(v, key);
        } else {
            note(w, key);
        }
    }
    sl_json_free(unknown);
}

/* A value of another type than the schema's is for the validation to refuse. */
static void visit(struct walk *w, const struct sl_json *schema, struct sl_json *v, bool root)
{
    const struct sl_json *items = sl_json_get(schema, "items");
    const char *type = sl_json_path_text(schema, "type", "object");
    size_t len = w->path.len;
    if (sl_json_type(v) == SL_JSON_MAP && strcmp(type, "object") == 0) {
        visit_members(w, schema, v, root);
    }
    for (size_t i = 0; sl_json_type(v) == SL_JSON_LIST && items != NULL && i < sl_json_len(v);
         i++) {
        sl_buf_print(&w->path, "[%zu]", i);
        visit(w, items, sl_json_at(v, i), false);
        cut(&w->path, len);
    }
}

void sl_shape_prune(const struct sl_json *schema, struct sl_json *object)
{
    SL_PRE(schema != NULL);
    struct walk w = {.remove = true};
    visit(&w, schema, object, true);
    sl_buf_fini(&w.path);
}

void sl_shape_prune_value(const struct sl_json *schema, struct sl_json *value)
{
    SL_PRE(schema != NULL);
    struct walk w = {.remove = true};
    visit(&w, schema, value, false);
    sl_buf_fini(&w.path);
}

void sl_shape_unknown(const struct sl_json *schema, const struct sl_json *object,
                      struct sl_json *list)
{
    SL_PRE(schema != NULL && list != NULL);
    struct sl_json *copy = sl_json_clone(object);
    struct walk w = {.list = list};
    visit(&w, schema, copy, true);
    sl_buf_fini(&w.path);
    sl_json_free(copy);
}

/* --- defaults --------------------------------------------------------------------------------- */

static void fill(const struct sl_json *schema, struct sl_json *v, bool root, size_t *left);

/* *left 0: that was one too many. */
static void put_default(struct sl_json *v, const char *name, const struct sl_json *preset,
                        size_t *left)
{
    size_t weight = 1 + sl_json_weight(preset, *left);
    *left -= weight < *left ? weight : *left;
    if (*left > 0) {
        sl_json_set(v, name, sl_json_clone(preset));
    }
}

static void fill_absent(const struct sl_json *schema, struct sl_json *v, bool root, size_t *left)
{
    const struct sl_json *properties = sl_json_get(schema, "properties");
    for (struct sl_json_member m = {0}; sl_json_each(properties, &m);) {
        bool nullable = sl_json_bool(sl_json_get(m.value, "nullable"), false);
        const struct sl_json *preset = sl_json_get(m.value, "default");
        sl_effort_add(1);
        if ((root && is_every_objects(m.key)) || sl_json_get(v, m.key) != NULL) {
            continue;
        }
        if (sl_json_has(v, m.key) && !nullable) {
            sl_json_remove(v, m.key);
        }
        if (preset != NULL && !sl_json_has(v, m.key)) {
            put_default(v, m.key, preset, left);
        }
    }
}

static void fill(const struct sl_json *schema, struct sl_json *v, bool root, size_t *left)
{
    const struct sl_json *items = sl_json_get(schema, "items");
    if (sl_json_type(v) == SL_JSON_MAP) {
        fill_absent(schema, v, root, left);
        for (struct sl_json_member m = {0}; sl_json_each(v, &m);) {
            const struct sl_json *member =
                root && is_every_objects(m.key) ? NULL : sl_shape_member(schema, m.key);
            if (member != NULL) {
                fill(member, m.value, false, left);
            }
        }
    }
    for (size_t i = 0; sl_json_type(v) == SL_JSON_LIST && items != NULL && i < sl_json_len(v);
         i++) {
        fill(items, sl_json_at(v, i), false, left);
    }
}

bool sl_shape_default(const struct sl_json *schema, struct sl_json *object, size_t weight_max)
{
    size_t left = weight_max;
    SL_PRE(schema != NULL && weight_max > 0);
    fill(schema, object, true, &left);
    return left > 0;
}
