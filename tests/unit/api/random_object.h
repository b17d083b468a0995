/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Random objects by a kind's schema: every field that has a row comes up, with values that the row allows. */
#ifndef SL_TESTS_UNIT_API_RANDOM_OBJECT_H
#define SL_TESTS_UNIT_API_RANDOM_OBJECT_H
#include <stdio.h>
#include <string.h>

#include "api/objects/schema.h"

static uint64_t random_state = 1;

static inline uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 20) % n);
}

static inline struct sl_json *random_value(const struct sl_node *node);

static inline struct sl_json *random_text(const struct sl_field *f)
{
    static unsigned number; /* no two texts are the same: items of lists have their own names */
    char text[64];
    if (f->values != NULL) {
        unsigned count = 1;
        for (const char *c = f->values; *c != '\0'; c++) {
            count += *c == '|';
        }
        const char *value = f->values;
        for (unsigned skip = random_below(count); skip > 0; skip--) {
            value = strchr(value, '|') + 1;
        }
        (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(value, "|"), value);
        return sl_json_new_text(text);
    }
    (void)snprintf(text, sizeof text, "n%u", number++);
    return sl_json_new_text(text);
}

static inline struct sl_json *random_number(const struct sl_field *f)
{
    int64_t min = f->has_min ? f->min : -3;
    return sl_json_new_int(min + random_below(9));
}

static inline struct sl_json *random_list(const struct sl_node *node)
{
    struct sl_json *list = sl_json_new_list();
    uint32_t count = (node->field.has_min ? (uint32_t)node->field.min : 0) + random_below(3);
    for (uint32_t i = 0; node->item != NULL && i < count; i++) {
        sl_json_append(list, random_value(node->item));
    }
    return list;
}

static inline struct sl_json *random_map(const struct sl_node *node)
{
    struct sl_json *map = sl_json_new_map();
    for (uint32_t i = random_below(3); i > 0; i--) {
        char key[16];
        (void)snprintf(key, sizeof key, "k%u", i);
        sl_json_set(map, key,
                    node->item != NULL ? random_value(node->item) : sl_json_new_bool(i > 1));
    }
    return map;
}

static inline struct sl_json *random_members(const struct sl_node *node)
{
    struct sl_json *map = sl_json_new_map();
    for (const struct sl_node *child = node->first; child != NULL; child = child->next) {
        bool in_list = strcmp(child->name, "name") == 0;
        if (child->field.required || in_list || random_below(2) == 0) {
            sl_json_set(map, child->name, random_value(child));
        }
    }
    if (random_below(16) == 0) { /* what no row names stays as it is */
        sl_json_set_bool(map, "unheard", true);
    }
    return map;
}

static inline struct sl_json *random_value(const struct sl_node *node)
{
    char text[40];
    switch (node->field.type) {
    case SL_TYPE_OBJECT:
        return random_members(node);
    case SL_TYPE_LIST:
        return random_list(node);
    case SL_TYPE_TEXT:
        return random_text(&node->field);
    case SL_TYPE_INT32:
    case SL_TYPE_INT64:
        return random_number(&node->field);
    case SL_TYPE_BOOL:
        return sl_json_new_bool(random_below(2) == 0);
    case SL_TYPE_QUANTITY:
        (void)snprintf(text, sizeof text, "%u%s", random_below(99),
                       random_below(2) == 0 ? "m" : "");
        return sl_json_new_text(text);
    case SL_TYPE_TIME:
        (void)snprintf(text, sizeof text, "2026-01-02T03:04:%02uZ", random_below(60));
        return sl_json_new_text(text);
    case SL_TYPE_MAP:
    case SL_TYPE_SELECTOR:
    case SL_TYPE_ANY:
        break;
    }
    return random_map(node);
}

/* Of a schema of that version, with a name and sometimes annotations. */
static inline struct sl_json *random_object(const struct sl_node *root, const char *api_version,
                                            enum sl_kind kind)
{
    struct sl_json *o = random_members(root);
    struct sl_json *metadata = sl_json_new_map();
    sl_json_set_text(metadata, "name", "x");
    if (random_below(2) == 0) {
        sl_json_set_text(sl_json_path_make(metadata, "annotations"), "a", "b");
    }
    sl_json_set(o, "metadata", metadata);
    sl_json_set_text(o, "apiVersion", api_version);
    sl_json_set_text(o, "kind", sl_kind_info(kind)->kind);
    return o;
}
#endif
