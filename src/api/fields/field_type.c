/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/fields/field_type.h"

#include <string.h>

#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/map.h"

struct list_row {
    const char *field, *keys, *fallback;
};
static const struct list_row list_rows[] = {
#define SL_LIST(field, keys, fallback) {field, keys, fallback},
#include "api/fields/lists.def"
#undef SL_LIST
};

/* Maps of Kubernetes' own types that are taken as a whole. */
static const char *const atomic_maps[] = {"nodeSelector",     "labelSelector", "fieldRef",
                                          "resourceFieldRef", "secretKeyRef",  "configMapKeyRef",
                                          "involvedObject"};

struct sl_field_at sl_field_root(enum sl_kind kind)
{
    return (struct sl_field_at){.kind = kind, .node = sl_schema(kind), .name = ""};
}

struct sl_field_at sl_field_member(const struct sl_field_at *at, const char *name)
{
    SL_PRE(name != NULL);
    const struct sl_node *node = at->node;
    if (node != NULL && node->field.type == SL_TYPE_MAP) {
        node = node->item;
    } else if (node != NULL) {
        node = node->first;
        while (node != NULL && strcmp(node->name, name) != 0) {
            node = node->next;
        }
    }
    return (struct sl_field_at){.kind = at->kind, .node = node, .name = name};
}

struct sl_field_at sl_field_item(const struct sl_field_at *at)
{
    SL_PRE(at != NULL);
    return (struct sl_field_at){
        .kind = at->kind, .node = at->node != NULL ? at->node->item : NULL, .name = ""};
}

bool sl_field_is_struct(const struct sl_field_at *at)
{
    SL_PRE(at != NULL);
    return at->node == NULL || at->node->field.type != SL_TYPE_MAP;
}

static const struct list_row *find_row(const char *field)
{
    for (size_t i = 0; i < sizeof list_rows / sizeof list_rows[0]; i++) {
        if (strcmp(list_rows[i].field, field) == 0) {
            return &list_rows[i];
        }
    }
    return NULL;
}

static const char *keys_of(const struct sl_field_at *at)
{
    if (at->kind == SL_KIND_JOB && strcmp(at->name, "conditions") == 0) {
        return NULL; /* atomic in Kubernetes */
    }
    if (at->node != NULL && at->node->field.keys != NULL) {
        return at->node->field.keys;
    }
    if (at->kind >= SL_KIND_DEFINED) {
        return NULL; /* its definition says it all */
    }
    const struct list_row *row = find_row(at->name);
    return row != NULL ? row->keys : NULL;
}

enum sl_merge_type sl_field_merges(const struct sl_field_at *at, const struct sl_json *value)
{
    SL_PRE(at != NULL);
    if (sl_json_type(value) == SL_JSON_LIST) {
        const char *keys = keys_of(at);
        return keys == NULL     ? SL_MERGE_ATOMIC
               : keys[0] == '.' ? SL_MERGE_LIST_SET
                                : SL_MERGE_LIST_MAP;
    }
    bool atomic = sl_json_type(value) != SL_JSON_MAP ||
                  (at->node != NULL && at->node->field.type == SL_TYPE_SELECTOR);
    bool own = at->kind >= SL_KIND_DEFINED;
    for (size_t i = 0; i < sizeof atomic_maps / sizeof atomic_maps[0] && !atomic && !own; i++) {
        atomic = strcmp(atomic_maps[i], at->name) == 0;
    }
    return atomic ? SL_MERGE_ATOMIC : SL_MERGE_MAP;
}

bool sl_field_equal(const struct sl_field_at *at, const struct sl_json *a, const struct sl_json *b)
{
    SL_PRE(at != NULL);
    struct sl_quantity x, y;
    bool quantity = at->node != NULL && at->node->field.type == SL_TYPE_QUANTITY;
    return sl_json_equal(a, b) || (quantity && sl_quantity_read(a, &x, NULL) == SL_CODE_OK &&
                                   sl_quantity_read(b, &y, NULL) == SL_CODE_OK && x.nano == y.nano);
}

/* --- items ----------------------------------------------------------------------------------- */

/* One member of a key; the keys of a list are in the order of their names. */
static bool add_key(const struct sl_field_at *at, const struct sl_json *item, const char *key,
                    size_t len, struct sl_buf *out)
{
    char name[64];
    const struct list_row *row = find_row(at->name);
    SL_ASSERT(len < sizeof name);
    memcpy(name, key, len);
    name[len] = '\0';
    const struct sl_json *value = sl_json_get(item, name);
    bool last = key[len] == '\0';
    const char *fallback = value == NULL && last && row != NULL ? row->fallback : NULL;
    enum sl_json_type type = sl_json_type(value);
    if (type == SL_JSON_LIST || type == SL_JSON_MAP || (value == NULL && fallback == NULL)) {
        return false;
    }
    sl_buf_print(out, "%s\"%s\":", out->data[out->len - 1] == '{' ? "" : ",", name);
    if (fallback != NULL) {
        sl_buf_print(out, "\"%s\"", fallback);
    } else {
        sl_json_print(value, out);
    }
    return true;
}

bool sl_field_element(const struct sl_field_at *at, const struct sl_json *item, struct sl_buf *out)
{
    SL_PRE(at != NULL);
    const char *keys = keys_of(at);
    enum sl_json_type type = sl_json_type(item);
    sl_buf_reset(out);
    if (keys == NULL || (keys[0] == '.') == (type == SL_JSON_MAP) || type == SL_JSON_LIST ||
        item == NULL) {
        return false;
    }
    if (keys[0] == '.') {
        sl_buf_text(out, "v:");
        sl_json_print(item, out);
        return true;
    }
    sl_buf_text(out, "k:{");
    for (size_t len; *keys != '\0'; keys += len + (keys[len] == ',')) {
        len = strcspn(keys, ",");
        if (!add_key(at, item, keys, len, out)) {
            return false;
        }
    }
    sl_buf_text(out, "}");
    return true;
}

struct sl_map *sl_field_items_new(const struct sl_field_at *at, const struct sl_json *list)
{
    struct sl_map *items = sl_map_new();
    struct sl_buf element = {0};
    bool good = true;
    for (size_t i = 0; i < sl_json_len(list) && good; i++) {
        good = sl_field_element(at, sl_json_at(list, i), &element) &&
               !sl_map_get(items, element.data, NULL);
        if (good) {
            sl_map_put(items, element.data, (union sl_map_value){.number = i});
        }
    }
    sl_buf_fini(&element);
    if (!good) {
        sl_map_free(items);
        items = NULL;
    }
    return items;
}
