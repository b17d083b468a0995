/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A table as a structural OpenAPI v3 schema. */
#include "api/kinds/crd_schema.h"

#include <string.h>

#include "base/check.h"

#define QUANTITY_PATTERN                                                                           \
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?[0-9]+))?$"
#define DNS_LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define NAME "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

static const struct {
    const char *regex;
    int64_t length_max;
} patterns[] = {
    [SL_PATTERN_DNS_LABEL] = {"^" DNS_LABEL "$", 63},
    [SL_PATTERN_DNS_SUBDOMAIN] = {"^" DNS_LABEL "(\\." DNS_LABEL ")*$", 253},
    [SL_PATTERN_LABEL_KEY] = {"^(" DNS_LABEL "(\\." DNS_LABEL ")*/)?(" NAME ")$", 317},
    [SL_PATTERN_LABEL_VALUE] = {"^(" NAME ")?$", 63},
    [SL_PATTERN_DATA_KEY] = {"^[-._a-zA-Z0-9]+$", 253},
    [SL_PATTERN_REASON] = {"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", 0},
};

/* "A|B" as a list of texts; "A|" is A and the empty text. */
struct sl_json *sl_crd_split(const char *values, char separator)
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
static void add_text(struct sl_json *s, const struct sl_field *f, enum sl_crd_unknown unknown)
{
    sl_json_set_text(s, "type", "string");
    add_bounds(s, f, "minLength", "maxLength");
    if (f->values != NULL) {
        sl_json_set(s, "enum", sl_crd_split(f->values, '|'));
    }
    if (f->pattern != SL_PATTERN_NONE && !f->by_policy && unknown == SL_CRD_UNKNOWN_PRUNED) {
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

static void add_list(struct sl_json *s, const struct sl_node *node, enum sl_crd_unknown unknown)
{
    const struct sl_field *f = &node->field;
    sl_json_set_text(s, "type", "array");
    add_bounds(s, f, "minItems", "maxItems");
    sl_json_set(s, "items", sl_crd_schema_new(node->item, unknown));
    if (f->keys == NULL) {
        sl_json_set_text(s, "x-kubernetes-list-type", "atomic");
    } else if (f->keys[0] == '.') {
        sl_json_set_text(s, "x-kubernetes-list-type", "set");
    } else {
        sl_json_set_text(s, "x-kubernetes-list-type", "map");
        sl_json_set(s, "x-kubernetes-list-map-keys", sl_crd_split(f->keys, ','));
    }
}

static void add_map(struct sl_json *s, const struct sl_node *node, enum sl_crd_unknown unknown)
{
    sl_json_set_text(s, "type", "object");
    add_bounds(s, &node->field, "minProperties", "maxProperties");
    if (node->item != NULL) {
        sl_json_set(s, "additionalProperties", sl_crd_schema_new(node->item, unknown));
    }
}

static void add_object(struct sl_json *s, const struct sl_node *node, enum sl_crd_unknown unknown)
{
    sl_json_set_text(s, "type", "object");
    if (unknown == SL_CRD_UNKNOWN_KEPT) {
        sl_json_set_bool(s, "x-kubernetes-preserve-unknown-fields", true);
    }
    struct sl_json *properties = sl_json_new_map();
    struct sl_json *required = sl_json_new_list();
    for (const struct sl_node *child = node->first; child != NULL; child = child->next) {
        bool pod = strcmp(child->name, "template") == 0;
        sl_json_set(properties, child->name,
                    sl_crd_schema_new(child, pod ? SL_CRD_UNKNOWN_KEPT : unknown));
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

static void add_type(struct sl_json *s, const struct sl_node *node, enum sl_crd_unknown unknown)
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

void sl_crd_add_rule(struct sl_json *s, const char *rule, const char *message)
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

struct sl_json *sl_crd_schema_new(const struct sl_node *node, enum sl_crd_unknown unknown)
{
    struct sl_json *s = sl_json_new_map();
    describe(s, node);
    add_type(s, node, unknown);
    if (node->preset != NULL) {
        sl_json_set(s, "default", sl_json_clone(node->preset));
    }
    if (node->field.immutable) {
        sl_crd_add_rule(s, "self == oldSelf", "field is immutable");
    }
    return s;
}
