/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/defined/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/pattern.h"
#include "api/defined/shape.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/effort.h"
#include "base/map.h"
#include "base/utf8.h"

static const char *place(const struct sl_check *c)
{
    return c->path[0] != '\0' ? c->path : "<nil>";
}

static bool flag(const struct sl_json *schema, const char *name)
{
    return sl_json_bool(sl_json_get(schema, name), false);
}

/* --- types ------------------------------------------------------------------------------------ */

static const char *type_name(const struct sl_json *v)
{
    static const char *const names[] = {
        [SL_JSON_NULL] = "null",     [SL_JSON_BOOL] = "boolean", [SL_JSON_INT] = "integer",
        [SL_JSON_DOUBLE] = "number", [SL_JSON_TEXT] = "string",  [SL_JSON_LIST] = "array",
        [SL_JSON_MAP] = "object"};
    return names[sl_json_type(v)];
}

static bool is_whole(const struct sl_json *v)
{
    double n = sl_json_type(v) == SL_JSON_DOUBLE ? sl_json_real(v) : 0.5;
    return sl_json_type(v) == SL_JSON_INT || floor(n) == n;
}

static bool has_type(const struct sl_json *schema, const struct sl_json *v)
{
    const char *type = sl_json_path_text(schema, "type", "");
    enum sl_json_type is = sl_json_type(v);
    if (flag(schema, "x-kubernetes-int-or-string")) {
        return is == SL_JSON_INT || is == SL_JSON_TEXT;
    }
    if (type[0] == '\0' || (v == NULL && flag(schema, "nullable"))) {
        return true;
    }
    if (strcmp(type, "integer") == 0) {
        return is_whole(v);
    }
    return strcmp(type, type_name(v)) == 0 || (strcmp(type, "number") == 0 && is == SL_JSON_INT);
}

static void complain_of_type(struct sl_check *c, const struct sl_json *schema,
                             const struct sl_json *v)
{
    bool either = flag(schema, "x-kubernetes-int-or-string");
    const char *type = either ? "integer,string" : sl_json_path_text(schema, "type", "");
    sl_error_cause(c->e, "FieldValueTypeInvalid", c->path,
                   "Invalid value: \"%s\": %.100s in body must be of type %s: \"%s\"", type_name(v),
                   place(c), type, type_name(v));
}

/* --- scalars ---------------------------------------------------------------------------------- */

static void check_limits(struct sl_check *c, const struct sl_json *schema, const struct sl_json *v)
{
    const struct sl_json *least = sl_json_get(schema, "minimum");
    const struct sl_json *most = sl_json_get(schema, "maximum");
    const struct sl_json *unit = sl_json_get(schema, "multipleOf");
    double n = sl_json_real(v);
    struct sl_buf text = {0};
    if (least != NULL && (n < sl_json_real(least) ||
                          (flag(schema, "exclusiveMinimum") && n == sl_json_real(least)))) {
        sl_json_print(least, &text);
        sl_check_invalid(c, v, "%.100s in body should be greater than %s%s", place(c),
                         flag(schema, "exclusiveMinimum") ? "" : "or equal to ", text.data);
    } else if (most != NULL && (n > sl_json_real(most) ||
                                (flag(schema, "exclusiveMaximum") && n == sl_json_real(most)))) {
        sl_json_print(most, &text);
        sl_check_invalid(c, v, "%.100s in body should be less than %s%s", place(c),
                         flag(schema, "exclusiveMaximum") ? "" : "or equal to ", text.data);
    } else if (unit != NULL && fmod(n, sl_json_real(unit)) != 0) {
        sl_json_print(unit, &text);
        sl_check_invalid(c, v, "%.100s in body should be a multiple of %s", place(c), text.data);
    }
    sl_buf_fini(&text);
    const char *format = sl_json_path_text(schema, "format", "");
    if (strcmp(format, "int32") == 0 && (n < INT32_MIN || n > INT32_MAX)) {
        sl_check_invalid(c, v, "%.100s in body must be of type int32", place(c));
    }
}

static size_t characters(const char *text)
{
    size_t count = 0;
    for (const char *at = text; *at != '\0'; at++) {
        count += ((unsigned char)*at & 0xC0u) != 0x80u;
    }
    return count;
}

static void check_text(struct sl_check *c, const struct sl_json *schema, const struct sl_json *v)
{
    const char *text = sl_json_text(v, "");
    const char *pattern = sl_json_path_text(schema, "pattern", NULL);
    int64_t least = sl_json_path_int(schema, "minLength", 0), length = (int64_t)characters(text);
    int64_t most = sl_json_path_int(schema, "maxLength", INT64_MAX);
    sl_effort_text(strlen(text));
    if (length > most) {
        sl_error_cause(c->e, "FieldValueTooLong", c->path,
                       "Too long: may not be more than %" PRId64 " bytes", most);
    }
    if (length < least) {
        sl_check_invalid(c, v, "%.100s in body should be at least %" PRId64 " chars long", place(c),
                         least);
    }
    if (pattern != NULL && !sl_pattern_matches(pattern, text)) {
        sl_check_invalid(c, v, "%.60s in body should match '%.120s'", place(c), pattern);
    }
    if (strcmp(sl_json_path_text(schema, "format", ""), "date-time") == 0 &&
        sl_clock_parse(text) == INT64_MIN) {
        sl_check_invalid(c, v, "%.60s in body must be of type date-time: \"%.60s\"", place(c),
                         text);
    }
}

static void check_enum(struct sl_check *c, const struct sl_json *values, const struct sl_json *v)
{
    struct sl_buf list = {0}, shown = {0};
    bool found = false;
    for (size_t i = 0; i < sl_json_len(values) && !found; i++) {
        found = sl_json_equal(sl_json_at(values, i), v);
        sl_buf_text(&list, i > 0 ? ", " : "");
        sl_json_print(sl_json_at(values, i), &list);
    }
    if (!found) {
        sl_json_print(v, &shown);
        sl_error_cause(c->e, "FieldValueNotSupported", c->path,
                       "Unsupported value: %.80s: supported values: %.140s", shown.data, list.data);
    }
    sl_buf_fini(&list);
    sl_buf_fini(&shown);
}

/* --- lists and maps --------------------------------------------------------------------------- */

static void check_count(struct sl_check *c, const struct sl_json *schema, const struct sl_json *v,
                        bool list)
{
    int64_t count = (int64_t)sl_json_len(v);
    int64_t most = sl_json_path_int(schema, list ? "maxItems" : "maxProperties", INT64_MAX);
    int64_t least = sl_json_path_int(schema, list ? "minItems" : "minProperties", 0);
    if (count > most) {
        sl_error_cause(c->e, "FieldValueTooMany", c->path,
                       "Too many: %" PRId64 ": must have at most %" PRId64 " items", count, most);
    } else if (count < least) {
        sl_error_cause(c->e, "FieldValueInvalid", c->path,
                       "Invalid value: %" PRId64 ": %.100s in body should have at least %" PRId64
                       " %s",
                       count, place(c), least, list ? "items" : "properties");
    }
}

/* What has to be different in each item: all of it, or its keys. */
static void print_identity(const struct sl_json *schema, const struct sl_json *item,
                           struct sl_buf *out)
{
    const struct sl_json *keys = sl_json_get(schema, "x-kubernetes-list-map-keys");
    sl_buf_reset(out);
    if (sl_json_len(keys) == 0) {
        sl_json_print(item, out);
        return;
    }
    struct sl_json *identity = sl_json_new_map();
    for (size_t i = 0; i < sl_json_len(keys); i++) {
        const char *key = sl_json_text(sl_json_at(keys, i), "");
        sl_json_set(identity, key, sl_json_clone(sl_json_get(item, key)));
    }
    sl_json_print(identity, out);
    sl_json_free(identity);
}

static void check_unique(struct sl_check *c, const struct sl_json *schema,
                         const struct sl_json *list)
{
    const char *type = sl_json_path_text(schema, "x-kubernetes-list-type", "atomic");
    struct sl_buf identity = {0};
    if (strcmp(type, "atomic") == 0) {
        return;
    }
    struct sl_map *seen = sl_map_new();
    for (size_t i = 0; i < sl_json_len(list); i++) {
        print_identity(schema, sl_json_at(list, i), &identity);
        if (sl_map_get(seen, identity.data, NULL)) {
            size_t up = sl_check_down(c, "[%zu]", i);
            sl_error_cause(c->e, "FieldValueDuplicate", c->path, "Duplicate value: %.200s",
                           identity.data);
            sl_check_up(c, up);
        } else {
            sl_map_put(seen, identity.data, (union sl_map_value){.number = i});
        }
    }
    sl_map_free(seen);
    sl_buf_fini(&identity);
}

static void check_list(struct sl_check *c, const struct sl_json *schema, const struct sl_json *v)
{
    const struct sl_json *items = sl_json_get(schema, "items");
    check_count(c, schema, v, true);
    for (size_t i = 0; items != NULL && i < sl_json_len(v); i++) {
        size_t up = sl_check_down(c, "[%zu]", i);
        sl_value_check(c, items, sl_json_at(v, i), false);
        sl_check_up(c, up);
    }
    check_unique(c, schema, v);
}

static void check_required(struct sl_check *c, const struct sl_json *schema,
                           const struct sl_json *v, bool root)
{
    const struct sl_json *required = sl_json_get(schema, "required");
    for (size_t i = 0; i < sl_json_len(required); i++) {
        const char *name = sl_json_text(sl_json_at(required, i), "");
        if (!sl_json_has(v, name) && !(root && strcmp(name, "metadata") == 0)) {
            size_t up = sl_check_down(c, "%s%.100s", c->len > 0 ? "." : "", name);
            sl_check_required(c, "");
            sl_check_up(c, up);
        }
    }
}

static void check_map(struct sl_check *c, const struct sl_json *schema, const struct sl_json *v,
                      bool root)
{
    check_count(c, schema, v, false);
    check_required(c, schema, v, root);
    for (struct sl_json_member m = {0}; sl_json_each(v, &m);) {
        const struct sl_json *member = sl_shape_member(schema, m.key);
        if (member == NULL || (root && strcmp(m.key, "metadata") == 0)) {
            continue;
        }
        size_t up = sl_check_down(c, "%s%.100s", c->len > 0 ? "." : "", m.key);
        sl_value_check(c, member, m.value, false);
        sl_check_up(c, up);
    }
}

/* --- combinations ----------------------------------------------------------------------------- */

static bool fits(const struct sl_check *at, const struct sl_json *schema, const struct sl_json *v,
                 bool root)
{
    struct sl_error ignored;
    struct sl_check *c = &(struct sl_check){.object = at->object, .old = at->old};
    sl_error_clear(&ignored);
    c->e = &ignored;
    sl_value_check(c, schema, v, root);
    return ignored.cause_count == 0;
}

static size_t count_fitting(const struct sl_check *c, const struct sl_json *list,
                            const struct sl_json *v, bool root)
{
    size_t count = 0;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        count += fits(c, sl_json_at(list, i), v, root);
    }
    return count;
}

static void check_combinations(struct sl_check *c, const struct sl_json *schema,
                               const struct sl_json *v, bool root)
{
    const struct sl_json *all = sl_json_get(schema, "allOf"), *any = sl_json_get(schema, "anyOf");
    const struct sl_json *one = sl_json_get(schema, "oneOf"), *none = sl_json_get(schema, "not");
    for (size_t i = 0; i < sl_json_len(all); i++) {
        sl_value_check(c, sl_json_at(all, i), v, root);
    }
    if (sl_json_len(any) > 0 && count_fitting(c, any, v, root) == 0) {
        sl_check_invalid(c, v, "\"%.100s\" must validate at least one schema (anyOf)", place(c));
    }
    size_t fitting = sl_json_len(one) > 0 ? count_fitting(c, one, v, root) : 1;
    if (fitting != 1) {
        sl_check_invalid(c, v, "\"%.100s\" must validate one and only one schema (oneOf). Found %s",
                         place(c), fitting == 0 ? "none valid" : "more than one valid");
    }
    if (none != NULL && fits(c, none, v, root)) {
        sl_check_invalid(c, v, "\"%.100s\" must not validate the schema (not)", place(c));
    }
}

void sl_value_check(struct sl_check *c, const struct sl_json *schema, const struct sl_json *value,
                    bool root)
{
    SL_PRE(c != NULL);
    enum sl_json_type type = sl_json_type(value);
    const struct sl_json *values = sl_json_get(schema, "enum");
    sl_effort_add(1);
    if (!has_type(schema, value)) {
        complain_of_type(c, schema, value);
        return;
    }
    if (value == NULL) {
        return;
    }
    if (values != NULL) {
        check_enum(c, values, value);
    }
    if (type == SL_JSON_INT || type == SL_JSON_DOUBLE) {
        check_limits(c, schema, value);
    } else if (type == SL_JSON_TEXT) {
        check_text(c, schema, value);
    } else if (type == SL_JSON_LIST) {
        check_list(c, schema, value);
    } else if (type == SL_JSON_MAP) {
        check_map(c, schema, value, root);
    }
    check_combinations(c, schema, value, root);
}
