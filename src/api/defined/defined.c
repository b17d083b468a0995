/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/defined/defined.h"

#include <stdio.h>
#include <string.h>

#include "api/defined/definition.h"
#include "api/defined/validations.h"
#include "api/defined/shape.h"
#include "api/defined/value.h"
#include "api/kinds/crd_schema.h"
#include "base/check.h"
#include "base/mem.h"

static struct defined {
    struct sl_json *spec;         /* what the texts below are lent from; NULL: the slot is free */
    struct sl_json *schema;       /* lent from it */
    struct sl_node *root;         /* how fields merge */
    struct sl_validations *rules; /* NULL: there are none */
    struct sl_column *columns;
    size_t own_count; /* of the columns whose sources are owned: [1, 1 + own_count) */
} defined[SL_KIND_DEFINED_MAX];

static struct defined *at(enum sl_kind kind)
{
    SL_PRE(kind >= SL_KIND_DEFINED && kind < SL_KIND_COUNT);
    return &defined[kind - SL_KIND_DEFINED];
}

/* --- how fields merge ------------------------------------------------------------------------- */

/* "a,b"; "." of a set; NULL: the list is taken as a whole. */
static char *keys_new(const struct sl_json *schema)
{
    const char *type = sl_json_path_text(schema, "x-kubernetes-list-type", "atomic");
    const struct sl_json *keys = sl_json_get(schema, "x-kubernetes-list-map-keys");
    struct sl_buf text = {0};
    if (strcmp(type, "set") == 0) {
        return sl_mem_text(".");
    }
    for (size_t i = 0; strcmp(type, "map") == 0 && i < sl_json_len(keys); i++) {
        sl_buf_print(&text, "%s%s", i > 0 ? "," : "", sl_json_text(sl_json_at(keys, i), ""));
    }
    return text.len > 0 ? sl_buf_take(&text) : NULL;
}

static void describe(struct sl_node *node, const struct sl_json *schema)
{
    const struct sl_json *any = sl_json_get(schema, "additionalProperties");
    const struct sl_json *items = sl_json_get(schema, "items");
    bool atomic =
        strcmp(sl_json_path_text(schema, "x-kubernetes-map-type", "granular"), "atomic") == 0;
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(schema, "properties"), &m);) {
        if (m.key[0] != '\0') {
            describe(sl_schema_member(node, m.key, strlen(m.key)), m.value);
        }
    }
    if (items != NULL) {
        describe(sl_schema_item(node, SL_TYPE_LIST), items);
        node->field.keys = keys_new(schema);
    } else if (sl_json_type(any) == SL_JSON_MAP) {
        describe(sl_schema_item(node, SL_TYPE_MAP), any);
    }
    node->field.type = atomic ? SL_TYPE_SELECTOR : node->field.type;
}

static bool is_own(const char *name)
{
    return strcmp(name, "apiVersion") != 0 && strcmp(name, "kind") != 0 &&
           strcmp(name, "metadata") != 0;
}

static struct sl_node *tree_new(const struct sl_json *schema)
{
    struct sl_node *root = sl_schema_root_new();
    for (const struct sl_field *row = sl_schema_rows(SL_KIND_CUSTOM); row->path != NULL; row++) {
        if (strncmp(row->path, "metadata", strlen("metadata")) == 0) {
            sl_schema_add(root, row);
        }
    }
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(schema, "properties"), &m);) {
        if (is_own(m.key) && m.key[0] != '\0') {
            describe(sl_schema_member(root, m.key, strlen(m.key)), m.value);
        }
    }
    return root;
}

/* --- columns ---------------------------------------------------------------------------------- */

static void make_columns(struct defined *d, const struct sl_json *version)
{
    static const struct sl_column name = {"Name", "string", "metadata.name", 0,
                                          "Name of the object"};
    static const struct sl_column age = {"Age", "date", "metadata.creationTimestamp", 0,
                                         "Time since creation"};
    const struct sl_json *columns = sl_json_get(version, "additionalPrinterColumns");
    size_t count = sl_json_len(columns);
    d->columns = sl_mem_new(count + 3, sizeof *d->columns);
    d->columns[0] = name;
    for (size_t i = 0; i < count; i++) {
        char source[SL_DEFINITION_SOURCE_BYTES];
        const struct sl_json *column = sl_json_at(columns, i);
        bool good = sl_definition_source(sl_json_path_text(column, "jsonPath", ""), source);
        SL_ASSERT(good);
        d->columns[1 + i] =
            (struct sl_column){.name = sl_json_path_text(column, "name", ""),
                               .type = sl_json_path_text(column, "type", "string"),
                               .source = sl_mem_text(source),
                               .priority = (int)sl_json_path_int(column, "priority", 0),
                               .about = sl_json_path_text(column, "description", "")};
    }
    d->own_count = count;
    if (count == 0) {
        d->columns[1] = age;
    }
}

/* --- the slots -------------------------------------------------------------------------------- */

static void clear(struct defined *d)
{
    for (size_t i = 0; i < d->own_count; i++) {
        sl_mem_free((void *)(uintptr_t)d->columns[1 + i].source);
    }
    sl_mem_free(d->columns);
    sl_schema_free(d->root);
    sl_validations_free(d->rules);
    sl_json_free(d->spec);
    *d = (struct defined){.spec = NULL};
}

/* Of these a definition says nothing that is asked. */
static bool has_all_but_metadata(const struct sl_json *a, const struct sl_json *b)
{
    bool same = true;
    for (struct sl_json_member m = {0}; same && sl_json_each(a, &m);) {
        same = strcmp(m.key, "metadata") == 0 || sl_json_equal(m.value, sl_json_get(b, m.key));
    }
    return same;
}

static void check_object(const void *self, const struct sl_json *o, const struct sl_json *old,
                         struct sl_error *e)
{
    const struct defined *d = self;
    /* What has become wrong by a new definition can still lose its finalizers. */
    if (old != NULL && has_all_but_metadata(o, old) && has_all_but_metadata(old, o)) {
        return;
    }
    struct sl_check c = {.e = e, .object = o, .old = old};
    sl_value_check(&c, d->schema, o, true);
    if (d->rules != NULL) {
        sl_validations_ask(d->rules, &c);
    }
}

static void fill(enum sl_kind kind, const struct sl_json *definition)
{
    struct defined *d = at(kind);
    clear(d);
    d->spec = sl_json_clone(sl_json_get(definition, "spec"));
    const struct sl_json *version = sl_json_at(sl_json_get(d->spec, "versions"), 0);
    d->schema = sl_json_path(version, "schema.openAPIV3Schema");
    d->root = tree_new(d->schema);
    d->rules = sl_validations_new(d->schema, NULL);
    make_columns(d, version);
    sl_schema_set(kind, d->root, d->columns);
    sl_object_rule_set(kind, check_object, d);
}

enum sl_kind sl_defined_kind(const struct sl_json *definition)
{
    enum sl_kind kind =
        sl_kind_find(sl_json_path_text(definition, "spec.group", ""),
                     sl_json_path_text(sl_definition_version(definition), "name", ""),
                     sl_json_path_text(definition, "spec.names.plural", ""));
    return sl_kind_is_defined(kind) ? kind : SL_KIND_COUNT;
}

static void print_shorts(const struct sl_json *definition, struct sl_buf *out)
{
    const struct sl_json *names = sl_json_path(definition, "spec.names.shortNames");
    sl_buf_text(out, "");
    for (size_t i = 0; i < sl_json_len(names); i++) {
        sl_buf_print(out, "%s%s", i > 0 ? "," : "", sl_json_text(sl_json_at(names, i), ""));
    }
}

enum sl_code sl_defined_take(const struct sl_json *definition, enum sl_kind *out,
                             struct sl_error *e)
{
    SL_PRE(out != NULL);
    struct sl_buf shorts = {0};
    const struct sl_json *version = sl_definition_version(definition);
    print_shorts(definition, &shorts);
    const struct sl_kind_names names = {
        .group = sl_json_path_text(definition, "spec.group", ""),
        .version = sl_json_path_text(version, "name", ""),
        .kind = sl_json_path_text(definition, "spec.names.kind", ""),
        .plural = sl_json_path_text(definition, "spec.names.plural", ""),
        .singular = sl_json_path_text(definition, "spec.names.singular", ""),
        .shorts = shorts.data != NULL ? shorts.data : "",
        .namespaced = strcmp(sl_json_path_text(definition, "spec.scope", ""), "Namespaced") == 0,
        .has_status = sl_json_path(version, "subresources.status") != NULL};
    *out = sl_defined_kind(definition);
    enum sl_code code =
        *out == SL_KIND_COUNT ? sl_kind_define(&names, out, e) : sl_kind_redefine(*out, &names, e);
    if (code == SL_CODE_OK) {
        fill(*out, definition);
    }
    sl_buf_fini(&shorts);
    return code;
}

void sl_defined_drop(enum sl_kind kind)
{
    sl_object_rule_set(kind, NULL, NULL);
    sl_schema_set(kind, NULL, NULL);
    clear(at(kind));
    sl_kind_drop(kind);
}

/* --- objects ---------------------------------------------------------------------------------- */

void sl_defined_prune(enum sl_kind kind, struct sl_json *object)
{
    if (at(kind)->schema != NULL) {
        sl_shape_prune(at(kind)->schema, object);
    }
}

bool sl_defined_shape(enum sl_kind kind, struct sl_json *object)
{
    sl_defined_prune(kind, object);
    return at(kind)->schema == NULL ||
           sl_shape_default(at(kind)->schema, object, SL_DEFAULTS_WEIGHT_MAX);
}

void sl_defined_unknown(enum sl_kind kind, const struct sl_json *object, struct sl_json *list)
{
    if (at(kind)->schema != NULL) {
        sl_shape_unknown(at(kind)->schema, object, list);
    }
}

bool sl_defined_warning(enum sl_kind kind, char out[static 256])
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    const struct sl_json *version = sl_json_path(at(kind)->spec, "versions[0]");
    const char *own = sl_json_path_text(version, "deprecationWarning", NULL);
    (void)snprintf(out, 256, "%.200s%s%s%s", own != NULL ? own : info->api_version,
                   own != NULL ? "" : " ", own != NULL ? "" : info->kind,
                   own != NULL ? "" : " is deprecated");
    return sl_json_path_bool(version, "deprecated", false);
}

const struct sl_json *sl_defined_categories(enum sl_kind kind)
{
    return kind < SL_KIND_DEFINED ? NULL : sl_json_path(at(kind)->spec, "names.categories");
}

const struct sl_json *sl_defined_scale(enum sl_kind kind)
{
    return kind < SL_KIND_DEFINED ? NULL
                                  : sl_json_path(at(kind)->spec, "versions[0].subresources.scale");
}

const struct sl_json *sl_defined_selectable(enum sl_kind kind)
{
    return kind < SL_KIND_DEFINED ? NULL
                                  : sl_json_path(at(kind)->spec, "versions[0].selectableFields");
}

struct sl_json *sl_defined_openapi_new(enum sl_kind kind)
{
    struct sl_json *all = sl_crd_schema_new(sl_schema(SL_KIND_CUSTOM), SL_CRD_UNKNOWN_KEPT);
    struct sl_json *schema = sl_json_clone(at(kind)->schema);
    struct sl_json *properties = sl_json_path_make(schema, "properties");
    static const char *const members[] = {"apiVersion", "kind", "metadata"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        sl_json_set(properties, members[i],
                    sl_json_clone(sl_json_get(sl_json_get(all, "properties"), members[i])));
    }
    sl_json_free(all);
    return schema;
}
