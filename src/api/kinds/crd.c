/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The CustomResourceDefinition of a kind: the table as a structural OpenAPI v3 schema. */
#include <stdio.h>
#include <string.h>

#include "api/objects/schema.h"
#include "base/check.h"

#define QUANTITY_PATTERN                                                                           \
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?[0-9]+))?$"
#define DNS_LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define NAME "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

/* Are fields that no row names kept? Ours are pruned as Kueue's are, so that a misspelt one is refused; those
 * of pods, of which the tables name only what is read, are kept. */
enum unknown { UNKNOWN_PRUNED, UNKNOWN_KEPT };

static struct sl_json *new_schema(const struct sl_node *node, enum unknown unknown);

static const struct {
    const char *regex;
    int64_t length_max;
} patterns[] = {
    [SL_PATTERN_DNS_LABEL] = {"^" DNS_LABEL "$", 63},
    [SL_PATTERN_DNS_SUBDOMAIN] = {"^" DNS_LABEL "(\\." DNS_LABEL ")*$", 253},
    [SL_PATTERN_LABEL_KEY] = {"^(" DNS_LABEL "(\\." DNS_LABEL ")*/)?(" NAME ")$", 317},
    [SL_PATTERN_LABEL_VALUE] = {"^(" NAME ")?$", 63},
    [SL_PATTERN_REASON] = {"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", 0},
};

/* "A|B" as a list of texts; "A|" is A and the empty text. */
static struct sl_json *split(const char *values, char separator)
{
    struct sl_json *list = sl_json_new_list();
    const char stop[2] = {separator, '\0'};
    while (*values != '\0') {
        size_t one = strcspn(values, stop);
        struct sl_buf text = {0};
        sl_buf_add(&text, values, one);
        sl_json_append(list, sl_json_new_text(text.data));
        sl_buf_fini(&text);
        values += one;
        if (*values != '\0' && *++values == '\0') {
            sl_json_append(list, sl_json_new_text(""));
        }
    }
    return list;
}

static void add_bounds(struct sl_json *s, const struct sl_field *f, const char *min,
                       const char *max)
{
    if (f->has_min) {
        sl_json_set_int(s, min, f->min);
    }
    if (f->has_max) {
        sl_json_set_int(s, max, f->max);
    }
}

/* Of pods the CRDs know as little as Kueue's do: what Kubernetes does not take is refused when there are pods. */
static void add_text(struct sl_json *s, const struct sl_field *f, enum unknown unknown)
{
    sl_json_set_text(s, "type", "string");
    add_bounds(s, f, "minLength", "maxLength");
    if (f->values != NULL) {
        sl_json_set(s, "enum", split(f->values, '|'));
    }
    if (f->pattern != SL_PATTERN_NONE && !f->by_policy && unknown == UNKNOWN_PRUNED) {
        sl_json_set_text(s, "pattern", patterns[f->pattern].regex);
        if (!f->has_max && patterns[f->pattern].length_max > 0) {
            sl_json_set_int(s, "maxLength", patterns[f->pattern].length_max);
        }
    }
}

static void add_int(struct sl_json *s, const struct sl_field *f)
{
    sl_json_set_text(s, "type", "integer");
    sl_json_set_text(s, "format", f->type == SL_TYPE_INT32 ? "int32" : "int64");
    add_bounds(s, f, "minimum", "maximum");
}

static void add_quantity(struct sl_json *s)
{
    struct sl_json *any = sl_json_new_list();
    static const char *const types[] = {"integer", "string"};
    for (size_t i = 0; i < 2; i++) {
        struct sl_json *type = sl_json_new_map();
        sl_json_set_text(type, "type", types[i]);
        sl_json_append(any, type);
    }
    sl_json_set(s, "anyOf", any);
    sl_json_set_text(s, "pattern", QUANTITY_PATTERN);
    sl_json_set_bool(s, "x-kubernetes-int-or-string", true);
}

static void add_list(struct sl_json *s, const struct sl_node *node, enum unknown unknown)
{
    const struct sl_field *f = &node->field;
    sl_json_set_text(s, "type", "array");
    add_bounds(s, f, "minItems", "maxItems");
    sl_json_set(s, "items", new_schema(node->item, unknown));
    if (f->keys == NULL) {
        sl_json_set_text(s, "x-kubernetes-list-type", "atomic");
    } else if (f->keys[0] == '.') {
        sl_json_set_text(s, "x-kubernetes-list-type", "set");
    } else {
        sl_json_set_text(s, "x-kubernetes-list-type", "map");
        sl_json_set(s, "x-kubernetes-list-map-keys", split(f->keys, ','));
    }
}

static void add_map(struct sl_json *s, const struct sl_node *node, enum unknown unknown)
{
    sl_json_set_text(s, "type", "object");
    add_bounds(s, &node->field, "minProperties", "maxProperties");
    if (node->item != NULL) {
        sl_json_set(s, "additionalProperties", new_schema(node->item, unknown));
    }
}

static void add_object(struct sl_json *s, const struct sl_node *node, enum unknown unknown)
{
    sl_json_set_text(s, "type", "object");
    if (unknown == UNKNOWN_KEPT) {
        sl_json_set_bool(s, "x-kubernetes-preserve-unknown-fields", true);
    }
    struct sl_json *properties = sl_json_new_map();
    struct sl_json *required = sl_json_new_list();
    for (const struct sl_node *child = node->first; child != NULL; child = child->next) {
        bool pod = strcmp(child->name, "template") == 0;
        sl_json_set(properties, child->name, new_schema(child, pod ? UNKNOWN_KEPT : unknown));
        if (child->field.required) {
            sl_json_append(required, sl_json_new_text(child->name));
        }
    }
    sl_json_set_filled(s, "properties", properties);
    sl_json_set_filled(s, "required", required);
}

static void add_selector(struct sl_json *s)
{
    static const char text[] =
        "{\"type\":\"object\",\"x-kubernetes-map-type\":\"atomic\",\"properties\":{"
        "\"matchLabels\":{\"description\":\"Labels that have to have these values.\","
        "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
        "\"matchExpressions\":{\"description\":\"Conditions on labels; all have to hold.\","
        "\"type\":\"array\",\"x-kubernetes-list-type\":\"atomic\",\"items\":{"
        "\"type\":\"object\",\"required\":[\"key\",\"operator\"],\"properties\":{"
        "\"key\":{\"description\":\"Label.\",\"type\":\"string\"},"
        "\"operator\":{\"description\":\"In, NotIn, Exists or DoesNotExist.\",\"type\":\"string\"},"
        "\"values\":{\"description\":\"Values for In and NotIn.\",\"type\":\"array\","
        "\"x-kubernetes-list-type\":\"atomic\",\"items\":{\"type\":\"string\"}}}}}}}";
    struct sl_json *selector = sl_json_parse(text, sizeof text - 1, NULL);
    SL_ASSERT(selector != NULL);
    enum sl_code merged = sl_patch_merge(&s, selector, NULL);
    SL_ASSERT(merged == SL_CODE_OK);
    sl_json_free(selector);
}

static void add_type(struct sl_json *s, const struct sl_node *node, enum unknown unknown)
{
    switch (node->field.type) {
    case SL_TYPE_OBJECT:
        add_object(s, node, unknown);
        break;
    case SL_TYPE_LIST:
        add_list(s, node, unknown);
        break;
    case SL_TYPE_MAP:
        add_map(s, node, unknown);
        break;
    case SL_TYPE_TEXT:
        add_text(s, &node->field, unknown);
        break;
    case SL_TYPE_INT32:
    case SL_TYPE_INT64:
        add_int(s, &node->field);
        break;
    case SL_TYPE_BOOL:
        sl_json_set_text(s, "type", "boolean");
        break;
    case SL_TYPE_QUANTITY:
        add_quantity(s);
        break;
    case SL_TYPE_TIME:
        sl_json_set_text(s, "type", "string");
        sl_json_set_text(s, "format", "date-time");
        break;
    case SL_TYPE_SELECTOR:
        add_selector(s);
        break;
    case SL_TYPE_ANY:
        sl_json_set_bool(s, "x-kubernetes-preserve-unknown-fields", true);
        break;
    }
}

static void add_rule(struct sl_json *s, const char *rule, const char *message)
{
    struct sl_json *r = sl_json_new_map();
    sl_json_set_text(r, "rule", rule);
    sl_json_set_text(r, "message", message);
    if (!sl_json_has(s, "x-kubernetes-validations")) {
        sl_json_set(s, "x-kubernetes-validations", sl_json_new_list());
    }
    sl_json_append(sl_json_get(s, "x-kubernetes-validations"), r);
}

/* With the default, which kubectl explain does not show otherwise. */
static void describe(struct sl_json *s, const struct sl_node *node)
{
    struct sl_buf text = {0};
    if (node->field.about == NULL) {
        return;
    }
    sl_buf_text(&text, node->field.about);
    if (node->preset != NULL && sl_json_type(node->preset) != SL_JSON_MAP) {
        struct sl_buf value = {0};
        sl_json_print(node->preset, &value);
        sl_buf_print(&text, " Default: %s.", sl_json_text(node->preset, value.data));
        sl_buf_fini(&value);
    }
    sl_json_set_text(s, "description", text.data);
    sl_buf_fini(&text);
}

static struct sl_json *new_schema(const struct sl_node *node, enum unknown unknown)
{
    struct sl_json *s = sl_json_new_map();
    describe(s, node);
    add_type(s, node, unknown);
    if (node->preset != NULL) {
        sl_json_set(s, "default", sl_json_clone(node->preset));
    }
    if (node->field.immutable) {
        add_rule(s, "self == oldSelf", "field is immutable");
    }
    return s;
}

static const struct {
    enum sl_kind kind;
    const char *path, *rule, *message;
} rules[] = {
#define SL_CRD_RULE(kind, path, rule, message) {kind, path, rule, message},
#include "api/kinds/crd_rules.def"
#undef SL_CRD_RULE
};

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
        struct sl_buf text = {0};
        sl_buf_print(&text, "%s Has no effect: %s.", sl_json_path_text(field, "description", ""),
                     rows[i].why);
        sl_json_set_text(field, "description", text.data);
        sl_buf_fini(&text);
    }
}

struct sl_json *sl_object_schema_new(enum sl_kind kind)
{
    struct sl_json *root = new_schema(sl_schema(kind), UNKNOWN_KEPT);
    add_idle(root, kind, true);
    return root;
}

struct sl_json *sl_object_schema_old_new(enum sl_kind kind)
{
    return new_schema(sl_schema_old(kind), UNKNOWN_KEPT);
}

static void add_rules(struct sl_json *root, enum sl_kind kind)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].kind == kind) {
            add_rule(schema_at(root, rules[i].path), rules[i].rule, rules[i].message);
        }
    }
}

/* The API server owns metadata: a CRD may only say that it is there. */
static struct sl_json *new_root_schema(enum sl_kind kind)
{
    struct sl_json *root = new_schema(sl_schema(kind), UNKNOWN_PRUNED);
    struct sl_json *metadata = sl_json_new_map();
    sl_json_set_text(metadata, "type", "object");
    sl_json_set(sl_json_get(root, "properties"), "metadata", metadata);
    add_rules(root, kind);
    add_idle(root, kind, false);
    struct sl_json *holder = sl_json_new_map();
    sl_json_set(holder, "openAPIV3Schema", root);
    return holder;
}

static struct sl_json *new_column(const struct sl_column *column)
{
    struct sl_json *c = sl_json_new_map();
    struct sl_buf path = {0};
    if (column->source[0] == '?') {
        const char *type = column->source + 1, *dot = strchr(type, '.');
        sl_buf_print(&path, ".status.conditions[?(@.type=='%.*s')]%s", (int)strcspn(type, "."),
                     type, dot == NULL ? ".status" : dot);
    } else {
        sl_buf_print(&path, ".%s", column->source);
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
static struct sl_json *new_columns(enum sl_kind kind)
{
    size_t count;
    const struct sl_column *columns = sl_schema_columns(kind, &count);
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < count; i++) {
        if (strcmp(columns[i].source, "metadata.name") != 0 && columns[i].source[0] != '@') {
            sl_json_append(list, new_column(&columns[i]));
        }
    }
    return list;
}

static void add_selectable(struct sl_json *version, const char *fields)
{
    struct sl_json *paths = split(fields, ',');
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

static struct sl_json *new_version(enum sl_kind kind)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    struct sl_json *version = sl_json_new_map();
    sl_json_set_text(version, "name", info->version);
    sl_json_set_bool(version, "served", true);
    sl_json_set_bool(version, "storage", true);
    sl_json_set(version, "schema", new_root_schema(kind));
    sl_json_set(version, "additionalPrinterColumns", new_columns(kind));
    if (sl_kind_fields(kind)[0] != '\0') {
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
        sl_json_set(names, "shortNames", split(info->shorts, ','));
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
    sl_json_append(versions, new_version(kind));
    sl_json_set(spec, "versions", versions);
    sl_buf_text(out, "# Generated from src/api/schema by `make crds`; do not edit.\n");
    sl_json_print_yaml(crd, out);
    sl_json_free(crd);
}
