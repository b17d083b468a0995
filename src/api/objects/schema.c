/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From the rows of schema/ to one tree a kind, made once and kept until the process ends. */
#include "api/objects/schema.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define SL_FIELD(path_, type_, ...) {.path = path_, .type = SL_TYPE_##type_, __VA_ARGS__},
#define SL_COLUMN(name_, type_, source_, priority_, about_)
#define SL_BEGIN(kind)                                                                             \
    [kind] = (const struct sl_field[])                                                             \
    {
#define SL_END()                                                                                   \
    {                                                                                              \
        .path = NULL                                                                               \
    }                                                                                              \
    }                                                                                              \
    ,
static const struct sl_field *const field_rows[SL_KIND_CUSTOM + 1] = {
#include "api/schema/all.def"
};
#undef SL_FIELD
#undef SL_COLUMN
#undef SL_BEGIN
#undef SL_END

#define SL_FIELD(path_, type_, ...)
#define SL_COLUMN(name_, type_, source_, priority_, about_)                                        \
    {.name = name_, .type = type_, .source = source_, .priority = priority_, .about = about_},
#define SL_BEGIN(kind)                                                                             \
    [kind] = (const struct sl_column[])                                                            \
    {
#define SL_END()                                                                                   \
    {                                                                                              \
        .name = NULL                                                                               \
    }                                                                                              \
    }                                                                                              \
    ,
static const struct sl_column *const column_rows[SL_KIND_CUSTOM + 1] = {
#include "api/schema/all.def"
};

static struct sl_node *roots[SL_KIND_CUSTOM + 1];

static struct {
    const struct sl_node *root;
    const struct sl_column *columns;
} defined[SL_KIND_DEFINED_MAX];

static struct sl_node *new_node(const char *name, enum sl_field_type type)
{
    struct sl_node *node = sl_mem_new(1, sizeof *node);
    node->name = name;
    node->field.type = type;
    return node;
}

struct sl_node *sl_schema_root_new(void)
{
    return new_node("", SL_TYPE_OBJECT);
}

/* The member called by the first `len` bytes of `name`, made behind the others when there is
 * none. */
struct sl_node *sl_schema_member(struct sl_node *object, const char *name, size_t len)
{
    SL_PRE(object != NULL && name != NULL);
    struct sl_node **at = &object->first;
    while (*at != NULL) {
        if (strncmp((*at)->name, name, len) == 0 && (*at)->name[len] == '\0') {
            return *at;
        }
        at = &(*at)->next;
    }
    *at = new_node(sl_mem_text_n(name, len), SL_TYPE_OBJECT);
    return *at;
}

/* The item of a list or map; what a path passes through becomes one even without a row of its
 * own. */
struct sl_node *sl_schema_item(struct sl_node *container, enum sl_field_type type)
{
    SL_PRE(container != NULL);
    container->field.type = type;
    if (container->item == NULL) {
        container->item = new_node("", SL_TYPE_OBJECT);
    }
    return container->item;
}

void sl_schema_add(struct sl_node *root, const struct sl_field *row)
{
    struct sl_node *node = root;
    const char *path = row->path;
    while (*path != '\0') {
        size_t len = strcspn(path, ".[{");
        node = sl_schema_member(node, path, len);
        path += len;
        while (*path == '[' || *path == '{') {
            node = sl_schema_item(node, *path == '[' ? SL_TYPE_LIST : SL_TYPE_MAP);
            path += 2;
        }
        path += *path == '.';
    }
    node->field = *row;
    if (row->preset != NULL) {
        sl_json_free(node->preset);
        node->preset = sl_json_parse(row->preset, strlen(row->preset), NULL);
        SL_ASSERT(node->preset != NULL);
    }
}

void sl_schema_mark(struct sl_node *node)
{
    node->has_presets = node->preset != NULL;
    node->has_quantities = node->field.type == SL_TYPE_QUANTITY;
    for (struct sl_node *child = node->first; child != NULL; child = child->next) {
        sl_schema_mark(child);
        node->has_presets = node->has_presets || child->has_presets;
        node->has_quantities = node->has_quantities || child->has_quantities;
    }
    if (node->item != NULL) {
        sl_schema_mark(node->item);
        node->has_presets = node->has_presets || node->item->has_presets;
        node->has_quantities = node->has_quantities || node->item->has_quantities;
    }
}

static void build(void)
{
    for (size_t kind = 0; kind <= SL_KIND_CUSTOM; kind++) {
        roots[kind] = sl_schema_root_new();
        for (const struct sl_field *row = field_rows[kind]; row->path != NULL; row++) {
            sl_schema_add(roots[kind], row);
        }
        sl_schema_mark(roots[kind]);
    }
}

void sl_schema_free(struct sl_node *root)
{
    while (root != NULL) { /* over its siblings */
        struct sl_node *next = root->next;
        sl_schema_free(root->first);
        sl_schema_free(root->item);
        sl_json_free(root->preset);
        if (root->field.path == NULL) { /* no row's */
            sl_mem_free((void *)(uintptr_t)root->field.keys);
        }
        if (root->name[0] != '\0') {
            sl_mem_free((void *)(uintptr_t)root->name);
        }
        sl_mem_free(root);
        root = next;
    }
}

void sl_schema_set(enum sl_kind kind, const struct sl_node *root, const struct sl_column *columns)
{
    SL_PRE(kind >= SL_KIND_DEFINED && kind < SL_KIND_COUNT && (root == NULL) == (columns == NULL));
    defined[kind - SL_KIND_DEFINED].root = root;
    defined[kind - SL_KIND_DEFINED].columns = columns;
}

static bool is_set(enum sl_kind kind)
{
    return kind >= SL_KIND_DEFINED && defined[kind - SL_KIND_DEFINED].root != NULL;
}

/* All custom kinds have the one open schema. */
static enum sl_kind row_of(enum sl_kind kind)
{
    SL_PRE(kind < SL_KIND_COUNT);
    return kind < SL_KIND_CUSTOM ? kind : SL_KIND_CUSTOM;
}

const struct sl_field *sl_schema_rows(enum sl_kind kind)
{
    return field_rows[row_of(kind)];
}

const struct sl_node *sl_schema(enum sl_kind kind)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build);
    return is_set(kind) ? defined[kind - SL_KIND_DEFINED].root : roots[row_of(kind)];
}

const struct sl_column *sl_schema_columns(enum sl_kind kind, size_t *count)
{
    const struct sl_column *columns =
        is_set(kind) ? defined[kind - SL_KIND_DEFINED].columns : column_rows[row_of(kind)];
    *count = 0;
    while (columns[*count].name != NULL) {
        (*count)++;
    }
    return columns;
}
