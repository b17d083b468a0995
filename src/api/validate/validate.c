/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Validation: the walk over an object along its kind's table. Every complaint becomes a cause
 * with its field. */
#include "api/validate/validate.h"
#include "base/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/objects/format.h"
#include "api/objects/quantity.h"
#include "api/objects/status.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/effort.h"

#define ANNOTATION_BYTES_MAX 262144u
#define SHOWN_MAX 100u /* of a value in a complaint */

static void check_node(struct sl_check *c, const struct sl_node *node, const struct sl_json *value,
                       const struct sl_json *old);

/* --- where we are --------------------------------------------------------------------------- */

size_t sl_check_down(struct sl_check *c, const char *format, ...)
{
    SL_PRE(c != NULL);
    size_t before = c->len;
    va_list args;
    va_start(args, format);
    int written = vsnprintf(c->path + c->len, sizeof c->path - c->len, format, args);
    va_end(args);
    size_t room = sizeof c->path - c->len - 1;
    c->len += written > 0 && (size_t)written < room ? (size_t)written : room;
    return before;
}

void sl_check_up(struct sl_check *c, size_t len)
{
    SL_PRE(c != NULL);
    c->len = len;
    c->path[len] = '\0';
}

/* As much of it as there is room for. */
static void append(struct sl_check *c, const char *text)
{
    size_t len = strlen(text), room = sizeof c->path - c->len - 1;
    len = len < room ? len : room;
    memcpy(c->path + c->len, text, len);
    sl_check_up(c, c->len + len);
}

/* Every member that is checked comes by here: no formats. */
static size_t down_member(struct sl_check *c, const char *name)
{
    size_t before = c->len;
    append(c, before > 0 ? "." : "");
    append(c, name);
    return before;
}

/* --- complaints ----------------------------------------------------------------------------- */

void sl_check_required(struct sl_check *c, const char *why)
{
    SL_PRE(c != NULL);
    sl_error_cause(c->e, "FieldValueRequired", c->path, "Required value%s%s",
                   why[0] != '\0' ? ": " : "", why);
}

/* The value as JSON, cut short. */
static void show(const struct sl_json *value, char out[static SHOWN_MAX + 4])
{
    enum sl_json_type type = sl_json_type(value);
    if (type == SL_JSON_MAP || type == SL_JSON_LIST) {
        snprintf(out, SHOWN_MAX, "%s", type == SL_JSON_MAP ? "object" : "array");
        return;
    }
    struct sl_buf text = {0};
    sl_json_print(value, &text);
    snprintf(out, SHOWN_MAX, "%s", text.data);
    if (text.len >= SHOWN_MAX) {
        snprintf(out + sl_utf8_cut(text.data, SHOWN_MAX - 1), 4, "...");
    }
    sl_buf_fini(&text);
}

static void complain(struct sl_check *c, const char *reason, const struct sl_json *value,
                     const char *format, va_list args)
{
    char shown[SHOWN_MAX + 4], why[256];
    show(value, shown);
    vsnprintf(why, sizeof why, format, args);
    sl_error_cause(c->e, reason, c->path, "Invalid value: %s: %s", shown, why);
}

void sl_check_invalid(struct sl_check *c, const struct sl_json *value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(c, "FieldValueInvalid", value, format, args);
    va_end(args);
}

static void wrong_type(struct sl_check *c, const struct sl_json *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void wrong_type(struct sl_check *c, const struct sl_json *value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(c, "FieldValueTypeInvalid", value, format, args);
    va_end(args);
}

void sl_check_forbidden(struct sl_check *c, const char *why)
{
    SL_PRE(c != NULL);
    sl_error_cause(c->e, "FieldValueForbidden", c->path, "Forbidden: %s", why);
}

void sl_check_duplicate(struct sl_check *c, const char *value)
{
    SL_PRE(c != NULL);
    sl_error_cause(c->e, "FieldValueDuplicate", c->path, "Duplicate value: \"%.200s\"", value);
}

void sl_check_not_found(struct sl_check *c, const struct sl_json *value)
{
    char shown[SHOWN_MAX + 4];
    SL_PRE(c != NULL);
    show(value, shown);
    sl_error_cause(c->e, "FieldValueNotFound", c->path, "Not found: %s", shown);
}

void sl_check_immutable(struct sl_check *c, const struct sl_json *value, const struct sl_json *old)
{
    if (!sl_json_equal(value, old)) {
        sl_check_invalid(c, value, "field is immutable");
    }
}

/* --- scalars -------------------------------------------------------------------------------- */

static bool in_values(const char *values, const char *text)
{
    size_t len = strlen(text);
    while (true) {
        size_t one = strcspn(values, "|");
        if (one == len && memcmp(values, text, len) == 0) {
            return true;
        }
        if (values[one] == '\0') {
            return false;
        }
        values += one + 1;
    }
}

void sl_check_not_supported(struct sl_check *c, const char *values, const char *text)
{
    SL_PRE(c != NULL && values != NULL && text != NULL);
    struct sl_buf list = {0};
    while (true) {
        size_t one = strcspn(values, "|");
        sl_buf_print(&list, "%s\"%.*s\"", list.len > 0 ? ", " : "", (int)one, values);
        if (values[one] == '\0') {
            break;
        }
        values += one + 1;
    }
    sl_error_cause(c->e, "FieldValueNotSupported", c->path,
                   "Unsupported value: \"%.100s\": supported values: %s", text, list.data);
    sl_buf_fini(&list);
}

static void check_text(struct sl_check *c, const struct sl_field *f, const struct sl_json *value)
{
    const char *text = sl_json_text(value, NULL);
    if (text == NULL) {
        wrong_type(c, value, "must be a string");
        return;
    }
    int64_t len = (int64_t)strlen(text);
    const char *problem = sl_format_check(f->pattern, text);
    if (f->values != NULL && !in_values(f->values, text)) {
        sl_check_not_supported(c, f->values, text);
    } else if (f->has_max && len > f->max) {
        sl_error_cause(c->e, "FieldValueTooLong", c->path,
                       "Too long: may not be more than %" PRId64 " bytes", f->max);
    } else if (f->has_min && len < f->min) {
        sl_check_invalid(c, value, "must be at least %" PRId64 " characters long", f->min);
    } else if (problem != NULL) {
        sl_check_invalid(c, value, "%s", problem);
    }
}

static void check_int(struct sl_check *c, const struct sl_field *f, const struct sl_json *value)
{
    if (sl_json_type(value) != SL_JSON_INT) {
        wrong_type(c, value, "must be an integer");
        return;
    }
    int64_t n = sl_json_int(value, 0);
    if (f->type == SL_TYPE_INT32 && (n < INT32_MIN || n > INT32_MAX)) {
        sl_check_invalid(c, value, "must fit a 32-bit integer");
    } else if (f->has_min && n < f->min) {
        sl_check_invalid(c, value, "must be greater than or equal to %" PRId64, f->min);
    } else if (f->has_max && n > f->max) {
        sl_check_invalid(c, value, "must be less than or equal to %" PRId64, f->max);
    }
}

static void check_quantity(struct sl_check *c, const struct sl_field *f,
                           const struct sl_json *value)
{
    struct sl_quantity q;
    struct sl_error e = {0};
    if (sl_quantity_read(value, &q, &e) != SL_CODE_OK) {
        sl_check_invalid(c, value, "%.200s", e.text);
    } else if (f->has_min && q.nano < (__int128)f->min * 1000000000) {
        sl_check_invalid(c, value, "must be greater than or equal to %" PRId64, f->min);
    }
}

/* --- containers ----------------------------------------------------------------------------- */

static void check_count(struct sl_check *c, const struct sl_field *f, size_t count)
{
    if (f->has_max && (int64_t)count > f->max) {
        sl_error_cause(c->e, "FieldValueTooMany", c->path,
                       "Too many: %zu: must have at most %" PRId64 " items", count, f->max);
    } else if (f->has_min && (int64_t)count < f->min) {
        sl_error_cause(c->e, f->min == 1 ? "FieldValueRequired" : "FieldValueInvalid", c->path,
                       "Invalid value: %zu: must have at least %" PRId64 " items", count, f->min);
    }
}

/* What must be unique about a list's item: its key members' values, or all of it. */
static void item_identity(const struct sl_field *f, const struct sl_json *value, struct sl_buf *out)
{
    const char *keys = f->keys;
    sl_buf_reset(out);
    while (*keys != '\0' && *keys != '.') {
        char key[64];
        size_t len = strcspn(keys, ",");
        snprintf(key, sizeof key, "%.*s", (int)len, keys);
        sl_buf_print(out, "%s%s", out->len > 0 ? "," : "",
                     sl_json_text(sl_json_get(value, key), ""));
        keys += len + (keys[len] == ',');
    }
    if (*keys == '.') {
        sl_buf_text(out, sl_json_text(value, ""));
    }
}

static void check_unique(struct sl_check *c, const struct sl_field *f, const struct sl_json *list)
{
    struct sl_map *seen = sl_map_new();
    struct sl_buf identity = {0};
    for (size_t i = 0; i < sl_json_len(list); i++) {
        item_identity(f, sl_json_at(list, i), &identity);
        if (identity.len > 0 && sl_map_get(seen, identity.data, NULL)) {
            size_t up = sl_check_down(c, f->keys[0] == '.' ? "[%zu]" : "[%zu].%s", i, f->keys);
            sl_check_duplicate(c, identity.data);
            sl_check_up(c, up);
        } else if (identity.len > 0) {
            sl_map_put(seen, identity.data, (union sl_map_value){.number = 0});
        }
    }
    sl_buf_fini(&identity);
    sl_map_free(seen);
}

static void check_list(struct sl_check *c, const struct sl_node *node, const struct sl_json *list)
{
    if (sl_json_type(list) != SL_JSON_LIST) {
        wrong_type(c, list, "must be a list");
        return;
    }
    size_t count = sl_json_len(list);
    check_count(c, &node->field, count);
    for (size_t i = 0; node->item != NULL && i < count; i++) {
        size_t up = sl_check_down(c, "[%zu]", i);
        if (sl_json_at(list, i) == NULL) {
            wrong_type(c, NULL, "an item must not be null");
        } else {
            check_node(c, node->item, sl_json_at(list, i), NULL);
        }
        sl_check_up(c, up);
    }
    if (node->field.keys != NULL && count > 1) {
        check_unique(c, &node->field, list);
    }
}

static void check_map(struct sl_check *c, const struct sl_node *node, const struct sl_json *map)
{
    if (sl_json_type(map) != SL_JSON_MAP) {
        wrong_type(c, map, "must be an object");
        return;
    }
    check_count(c, &node->field, sl_json_len(map));
    for (struct sl_json_member m = {0}; sl_json_each(map, &m);) {
        size_t up = sl_check_down(c, "[%s]", m.key);
        const char *problem = sl_format_check(node->field.pattern, m.key);
        if (problem != NULL) {
            sl_error_cause(c->e, "FieldValueInvalid", c->path, "Invalid value: \"%.100s\": %s",
                           m.key, problem);
        }
        if (node->item != NULL) {
            check_node(c, node->item, m.value, NULL);
        }
        sl_check_up(c, up);
    }
}

static void check_object(struct sl_check *c, const struct sl_node *node,
                         const struct sl_json *object, const struct sl_json *old)
{
    if (sl_json_type(object) != SL_JSON_MAP) {
        wrong_type(c, object, "must be an object");
        return;
    }
    for (const struct sl_node *child = node->first; child != NULL; child = child->next) {
        const struct sl_json *value = sl_json_get(object, child->name);
        if (value == NULL && !child->field.required && !child->field.immutable) {
            continue;
        }
        const struct sl_json *before = sl_json_get(old, child->name);
        if (value != NULL && value == before) {
            continue; /* the very member that was checked when it was stored */
        }
        size_t up = down_member(c, child->name);
        check_node(c, child, value, before);
        sl_check_up(c, up);
    }
}

static void check_value(struct sl_check *c, const struct sl_node *node, const struct sl_json *value,
                        const struct sl_json *old)
{
    switch (node->field.type) {
    case SL_TYPE_OBJECT:
        check_object(c, node, value, old);
        break;
    case SL_TYPE_LIST:
        check_list(c, node, value);
        break;
    case SL_TYPE_MAP:
        check_map(c, node, value);
        break;
    case SL_TYPE_TEXT:
        check_text(c, &node->field, value);
        break;
    case SL_TYPE_INT32:
    case SL_TYPE_INT64:
        check_int(c, &node->field, value);
        break;
    case SL_TYPE_BOOL:
        if (sl_json_type(value) != SL_JSON_BOOL) {
            wrong_type(c, value, "must be true or false");
        }
        break;
    case SL_TYPE_QUANTITY:
        check_quantity(c, &node->field, value);
        break;
    case SL_TYPE_TIME:
        if (sl_clock_parse(sl_json_text(value, "")) == INT64_MIN) {
            sl_check_invalid(c, value, "must be a time such as 2026-08-22T10:00:00Z");
        }
        break;
    case SL_TYPE_SELECTOR:
        if (sl_json_type(value) == SL_JSON_MAP) {
            sl_check_selector(c, value);
        } else {
            wrong_type(c, value, "must be an object");
        }
        break;
    case SL_TYPE_ANY:
        break;
    }
}

/* A null counts as absent, as it does for Kubernetes' own kinds. */
static void check_node(struct sl_check *c, const struct sl_node *node, const struct sl_json *value,
                       const struct sl_json *old)
{
    sl_effort_add(1);
    if (node->field.immutable && c->old != NULL) {
        sl_check_immutable(c, value, old);
    }
    if (value != NULL) {
        check_value(c, node, value, old);
    } else if (node->field.required) {
        sl_check_required(c, "");
    }
}

/* --- metadata ------------------------------------------------------------------------------- */

/* Of another type than text: the table complains about that already. */
static bool is_odd(const struct sl_json *v)
{
    return v != NULL && sl_json_type(v) != SL_JSON_TEXT;
}

static void check_name(struct sl_check *c, enum sl_kind kind, const struct sl_json *metadata)
{
    const char *name = sl_json_text(sl_json_get(metadata, "name"), "");
    const char *prefix = sl_json_text(sl_json_get(metadata, "generateName"), "");
    enum sl_pattern pattern =
        kind == SL_KIND_NAMESPACE ? SL_PATTERN_DNS_LABEL : SL_PATTERN_DNS_SUBDOMAIN;
    if (is_odd(sl_json_get(metadata, "name")) || is_odd(sl_json_get(metadata, "generateName"))) {
        return;
    }
    if (name[0] == '\0') {
        size_t up = sl_check_down(c, "metadata.name");
        if (prefix[0] == '\0') {
            sl_check_required(c, "name or generateName is required");
        } else {
            char sample[300]; /* what a name made from the prefix looks like */
            snprintf(sample, sizeof sample, "%.290sx", prefix);
            const char *problem = sl_format_check(pattern, sample);
            sl_check_up(c, up);
            up = sl_check_down(c, "metadata.generateName");
            if (problem != NULL) {
                sl_check_invalid(c, sl_json_get(metadata, "generateName"), "%s", problem);
            }
        }
        sl_check_up(c, up);
        return;
    }
    const char *problem = sl_format_check(pattern, name);
    if (problem != NULL) {
        size_t up = sl_check_down(c, "metadata.name");
        sl_check_invalid(c, sl_json_get(metadata, "name"), "%s", problem);
        sl_check_up(c, up);
    }
}

static void check_namespace(struct sl_check *c, enum sl_kind kind, const struct sl_json *metadata)
{
    const struct sl_json *ns = sl_json_get(metadata, "namespace");
    const char *text = sl_json_text(ns, "");
    bool namespaced = sl_kind_info(kind)->namespaced;
    const char *problem = text[0] != '\0' ? sl_format_check(SL_PATTERN_DNS_LABEL, text) : NULL;
    size_t up = sl_check_down(c, "metadata.namespace");
    if (namespaced && text[0] == '\0' && !is_odd(ns)) {
        sl_check_required(c, "");
    } else if (!namespaced && text[0] != '\0') {
        sl_check_forbidden(c, "not allowed on this type");
    } else if (problem != NULL) {
        sl_check_invalid(c, ns, "%s", problem);
    }
    sl_check_up(c, up);
}

static void check_annotation_size(struct sl_check *c, const struct sl_json *annotations)
{
    size_t total = 0;
    for (struct sl_json_member m = {0}; sl_json_each(annotations, &m);) {
        total += strlen(m.key) + strlen(sl_json_text(m.value, ""));
    }
    if (total > ANNOTATION_BYTES_MAX) {
        sl_error_cause(c->e, "FieldValueTooLong", "metadata.annotations",
                       "Too long: may not be more than %u bytes", ANNOTATION_BYTES_MAX);
    }
}

static void check_rules(struct sl_check *c, enum sl_kind kind)
{
    switch (kind) {
    case SL_KIND_CLUSTER_QUEUE:
        sl_check_cluster_queue(c);
        break;
    case SL_KIND_COHORT:
        sl_check_cohort(c);
        break;
    case SL_KIND_RESOURCE_FLAVOR:
        sl_check_resource_flavor(c);
        break;
    case SL_KIND_WORKLOAD:
        sl_check_workload(c);
        break;
    case SL_KIND_JOB:
        sl_check_job(c);
        break;
    case SL_KIND_TOPOLOGY:
        sl_check_topology(c);
        break;
    case SL_KIND_ADMISSION_CHECK:
        sl_check_admission_check(c);
        break;
    case SL_KIND_NODE:
        sl_check_node(c);
        break;
    case SL_KIND_POD:
        sl_check_pod(c);
        break;
    case SL_KIND_CONFIG_MAP:
        sl_check_config_map(c);
        break;
    case SL_KIND_SECRET:
        sl_check_secret(c);
        break;
    default:
        if (kind >= SL_KIND_CUSTOM && sl_kind_is_job(kind)) {
            sl_check_custom(c, kind);
        } else if (kind >= SL_KIND_DEFINITION) {
            sl_check_rule(c, kind);
        }
        break;
    }
}

enum sl_code sl_check_end(struct sl_check *c, enum sl_kind kind)
{
    SL_PRE(c != NULL);
    if (c->e->cause_count == 0) {
        return SL_CODE_OK;
    }
    struct sl_buf text = {0};
    sl_status_sum_up(c->e, kind, sl_object_name(c->object), &text);
    sl_error_set(c->e, SL_CODE_INVALID, "%s", text.data);
    sl_buf_fini(&text);
    return SL_CODE_INVALID;
}

enum sl_code sl_object_validate(enum sl_kind kind, const struct sl_json *o,
                                const struct sl_json *old, struct sl_error *e)
{
    struct sl_error local;
    struct sl_check c = {.e = e != NULL ? e : &local, .object = o, .old = old};
    sl_error_clear(c.e);
    const struct sl_json *metadata = sl_json_get(o, "metadata");
    check_name(&c, kind, metadata);
    check_namespace(&c, kind, metadata);
    check_annotation_size(&c, sl_json_get(metadata, "annotations"));
    /* Of an object of users the table has but metadata. */
    check_node(&c, sl_schema(kind >= SL_KIND_DEFINED ? SL_KIND_CUSTOM : kind), o, old);
    check_rules(&c, kind);
    return sl_check_end(&c, kind);
}
