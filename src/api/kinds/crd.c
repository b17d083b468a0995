/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The CustomResourceDefinition of a kind: the table as a structural OpenAPI v3 schema. */
/* The CustomResourceDefinition of a kind, with v1beta2 alone; and what makes v1beta1 a part of it. */
#include <stdio.h>
#include <string.h>

#include "api/kinds/crd_schema.h"
#include "base/check.h"
#include "base/mem.h"

/* A kind in one of its versions. */
struct versioned {
    enum sl_kind kind;
    bool old;
};

struct rule {
    enum sl_kind kind;
    const char *path, *rule, *message;
};
static const struct rule rules[] = {
#define SL_CRD_RULE(kind, path, rule, message) {kind, path, rule, message},
#include "api/kinds/crd_rules.def"
};
static const struct rule old_rules[] = {
#include "api/kinds/crd_rules_old.def"
};
#undef SL_CRD_RULE

/* The schema at a path like "spec.podSets[].count". */
static struct sl_json *schema_at(struct sl_json *s, const char *path)
{
    while (*path != '\0') {
        struct sl_buf name = {0};
        size_t len = strcspn(path, ".[");
        sl_buf_add(&name, path, len);
        s = sl_json_get(sl_json_get(s, "properties"), name.data);
        sl_buf_fini(&name);
        path += len;
        if (strncmp(path, "[]", 2) == 0) {
            s = sl_json_get(s, "items");
            path += 2;
        }
        path += *path == '.';
    }
    SL_ASSERT(s != NULL);
    return s;
}

/* Says of the fields of idle.def that they have no effect. */
static void add_idle(struct sl_json *root, enum sl_kind kind, bool standalone)
{
    size_t count;
    const struct sl_idle *rows = sl_schema_idle(&count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind != kind || strcmp(rows[i].where, "spec") != 0 ||
            (rows[i].alone && !standalone)) {
            continue;
        }
        struct sl_json *field =
            sl_json_get(sl_json_get(schema_at(root, rows[i].where), "properties"), rows[i].member);
        if (field == NULL) {
            continue; /* not in this version */
        }
        struct sl_buf text = {0};
        sl_buf_print(&text, "%s Has no effect: %s.", sl_json_path_text(field, "description", ""),
                     rows[i].why);
        sl_json_set_text(field, "description", text.data);
        sl_buf_fini(&text);
    }
}

struct sl_json *sl_object_schema_new(enum sl_kind kind)
{
    struct sl_json *root = sl_crd_schema_new(sl_schema(kind), SL_CRD_UNKNOWN_KEPT);
    add_idle(root, kind, true);
    return root;
}

struct sl_json *sl_object_schema_old_new(enum sl_kind kind)
{
    return sl_crd_schema_new(sl_schema_old(kind), SL_CRD_UNKNOWN_KEPT);
}

static void add_rules(struct sl_json *root, const struct rule *from, size_t count,
                      enum sl_kind kind)
{
    for (size_t i = 0; i < count; i++) {
        if (from[i].kind == kind) {
            sl_crd_add_rule(schema_at(root, from[i].path), from[i].rule, from[i].message);
        }
    }
}

/* Rules of v1beta2 hold in v1beta1 as far as it has their fields; crd_rules_old.def has the others. */
static void add_moved_rules(struct sl_json *root, enum sl_kind kind)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].kind != kind) {
            continue;
        }
        char *path = sl_schema_old_path(kind, rules[i].path);
        char *rule = sl_schema_old_text(kind, rules[i].rule);
        char *message = sl_schema_old_text(kind, rules[i].message);
        if (path != NULL && rule != NULL && message != NULL) {
            sl_crd_add_rule(schema_at(root, path), rule, message);
        }
        sl_mem_free(path);
        sl_mem_free(rule);
        sl_mem_free(message);
    }
    add_rules(root, old_rules, sizeof old_rules / sizeof old_rules[0], kind);
}

/* The API server owns metadata: a CRD may only say that it is there. */
static struct sl_json *new_root_schema(const struct versioned *v)
{
    enum sl_kind kind = v->kind;
    struct sl_json *root =
        sl_crd_schema_new(v->old ? sl_schema_old(kind) : sl_schema(kind), SL_CRD_UNKNOWN_PRUNED);
    struct sl_json *metadata = sl_json_new_map();
    sl_json_set_text(metadata, "type", "object");
    sl_json_set(sl_json_get(root, "properties"), "metadata", metadata);
    if (v->old) {
        add_moved_rules(root, kind);
    } else {
        add_rules(root, rules, sizeof rules / sizeof rules[0], kind);
    }
    add_idle(root, kind, false);
    struct sl_json *holder = sl_json_new_map();
    sl_json_set(holder, "openAPIV3Schema", root);
    return holder;
}

static struct sl_json *new_column(const struct sl_column *column, const char *source)
{
    struct sl_json *c = sl_json_new_map();
    struct sl_buf path = {0};
    if (source[0] == '?') {
        const char *type = source + 1, *dot = strchr(type, '.');
        sl_buf_print(&path, ".status.conditions[?(@.type=='%.*s')]%s", (int)strcspn(type, "."),
                     type, dot == NULL ? ".status" : dot);
    } else {
        sl_buf_print(&path, ".%s", source);
    }
    sl_json_set_text(c, "name", column->name);
    sl_json_set_text(c, "type", column->type);
    sl_json_set_text(c, "jsonPath", path.data);
    sl_json_set_text(c, "description", column->about);
    if (column->priority != 0) {
        sl_json_set_int(c, "priority", column->priority);
    }
    sl_buf_fini(&path);
    return c;
}

/* The name is in front of every table already; what is computed ("@word") no path can say. */
static struct sl_json *new_columns(const struct versioned *v)
{
    size_t count;
    const struct sl_column *columns = sl_schema_columns(v->kind, &count);
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < count; i++) {
        if (strcmp(columns[i].source, "metadata.name") != 0 && columns[i].source[0] != '@') {
            char *source = v->old ? sl_schema_old_path(v->kind, columns[i].source)
                                  : sl_mem_text(columns[i].source);
            sl_json_append(list, new_column(&columns[i], source));
            sl_mem_free(source);
        }
    }
    return list;
}

static void add_selectable(struct sl_json *version, const char *fields)
{
    struct sl_json *paths = sl_crd_split(fields, ',');
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(paths); i++) {
        char path[128];
        struct sl_json *field = sl_json_new_map();
        (void)snprintf(path, sizeof path, ".%s", sl_json_text(sl_json_at(paths, i), ""));
        sl_json_set_text(field, "jsonPath", path);
        sl_json_append(list, field);
    }
    sl_json_free(paths);
    sl_json_set(version, "selectableFields", list);
}

static struct sl_json *new_version(const struct versioned *v)
{
    enum sl_kind kind = v->kind;
    const struct sl_kind_info *info = sl_kind_info(kind);
    struct sl_json *version = sl_json_new_map();
    sl_json_set_text(version, "name", v->old ? "v1beta1" : info->version);
    sl_json_set_bool(version, "served", true);
    sl_json_set_bool(version, "storage", !v->old);
    if (v->old) { /* Kueue's words */
        sl_json_set_bool(version, "deprecated", true);
        sl_json_set_text(version, "deprecationWarning",
                         "This version is deprecated. Use v1beta2 instead.");
    }
    sl_json_set(version, "schema", new_root_schema(v));
    sl_json_set(version, "additionalPrinterColumns", new_columns(v));
    /* As in Kueue: v1beta1 has none. The same ones in two versions of different schemas no API server takes. */
    if (!v->old && sl_kind_fields(kind)[0] != '\0') {
        add_selectable(version, sl_kind_fields(kind));
    }
    if (info->has_status) {
        sl_json_set(sl_json_path_make(version, "subresources"), "status", sl_json_new_map());
    }
    return version;
}

static struct sl_json *new_names(const struct sl_kind_info *info)
{
    struct sl_json *names = sl_json_new_map();
    struct sl_buf list_kind = {0};
    sl_buf_print(&list_kind, "%sList", info->kind);
    sl_json_set_text(names, "kind", info->kind);
    sl_json_set_text(names, "listKind", list_kind.data);
    sl_json_set_text(names, "plural", info->plural);
    sl_json_set_text(names, "singular", info->singular);
    if (info->shorts[0] != '\0') {
        sl_json_set(names, "shortNames", sl_crd_split(info->shorts, ','));
    }
    sl_buf_fini(&list_kind);
    return names;
}

void sl_object_crd_yaml(enum sl_kind kind, struct sl_buf *out)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    SL_PRE(strcmp(info->group, "kueue.x-k8s.io") == 0);
    struct sl_json *crd = sl_json_new_map();
    struct sl_buf name = {0};
    sl_buf_print(&name, "%s.%s", info->plural, info->group);
    sl_json_set_text(crd, "apiVersion", "apiextensions.k8s.io/v1");
    sl_json_set_text(crd, "kind", "CustomResourceDefinition");
    sl_json_set_text(sl_json_path_make(crd, "metadata"), "name", name.data);
    sl_buf_fini(&name);
    struct sl_json *spec = sl_json_path_make(crd, "spec");
    sl_json_set_text(spec, "group", info->group);
    sl_json_set_text(spec, "scope", info->namespaced ? "Namespaced" : "Cluster");
    sl_json_set(spec, "names", new_names(info));
    struct sl_json *versions = sl_json_new_list();
    sl_json_append(versions, new_version(&(struct versioned){kind, false}));
    sl_json_set(spec, "versions", versions);
    sl_buf_text(out, "# Generated from src/api/schema by `make crds`; do not edit.\n");
    sl_json_print_yaml(crd, out);
    sl_json_free(crd);
}

/* --- v1beta1 besides ---------------------------------------------------------------------------- */

static struct sl_json *new_operation(const char *path, struct sl_json *value)
{
    struct sl_json *operation = sl_json_new_map();
    sl_json_set_text(operation, "op", "add");
    sl_json_set_text(operation, "path", path);
    sl_json_set(operation, "value", value);
    return operation;
}

static struct sl_json *new_conversion(void)
{
    struct sl_json *conversion = sl_json_new_map();
    struct sl_json *webhook = sl_json_path_make(conversion, "webhook");
    struct sl_json *service = sl_json_path_make(webhook, "clientConfig.service");
    struct sl_json *versions = sl_json_new_list();
    sl_json_set_text(conversion, "strategy", "Webhook");
    sl_json_append(versions, sl_json_new_text("v1"));
    sl_json_set(webhook, "conversionReviewVersions", versions);
    sl_json_set_text(service, "name", "sluice-webhook-service");
    sl_json_set_text(service, "namespace", "kueue-system");
    sl_json_set_text(service, "path", "/convert");
    return conversion;
}

void sl_object_crd_old_yaml(enum sl_kind kind, struct sl_buf *out)
{
    SL_PRE(sl_schema_old(kind) != NULL);
    struct sl_json *patch = sl_json_new_list();
    sl_json_append(patch, new_operation("/spec/conversion", new_conversion()));
    sl_json_append(patch,
                   new_operation("/spec/versions/-", new_version(&(struct versioned){kind, true})));
    sl_buf_text(out, "# Generated from src/api/schema by `make crds`; do not edit.\n");
    sl_json_print_yaml(patch, out);
    sl_json_free(patch);
}
