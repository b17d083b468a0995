/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/defined/structural.h"

#include <stdio.h>
#include <string.h>

#include "api/json/pattern.h"
#include "api/defined/shape.h"
#include "api/defined/value.h"
#include "base/check.h"
#include "base/effort.h"

/* Where in a schema: what describes fields, or a condition beside it (allOf and the like), which has no types. */
enum place { ROOT, FIELD, CONDITION };

#define ANY (-1)
/* Keywords, the type of their values, and why those that are not held are refused. */
static const struct keyword {
    const char *name;
    int type;
    const char *why;
} keywords[] = {
    {"title", SL_JSON_TEXT, NULL},
    {"description", SL_JSON_TEXT, NULL},
    {"example", ANY, NULL},
    {"externalDocs", SL_JSON_MAP, NULL},
    {"type", SL_JSON_TEXT, NULL},
    {"format", SL_JSON_TEXT, NULL},
    {"nullable", SL_JSON_BOOL, NULL},
    {"default", ANY, NULL},
    {"enum", SL_JSON_LIST, NULL},
    {"pattern", SL_JSON_TEXT, NULL},
    {"minimum", ANY, NULL},
    {"maximum", ANY, NULL},
    {"multipleOf", ANY, NULL},
    {"exclusiveMinimum", SL_JSON_BOOL, NULL},
    {"exclusiveMaximum", SL_JSON_BOOL, NULL},
    {"minLength", SL_JSON_INT, NULL},
    {"maxLength", SL_JSON_INT, NULL},
    {"minItems", SL_JSON_INT, NULL},
    {"maxItems", SL_JSON_INT, NULL},
    {"minProperties", SL_JSON_INT, NULL},
    {"maxProperties", SL_JSON_INT, NULL},
    {"required", SL_JSON_LIST, NULL},
    {"properties", SL_JSON_MAP, NULL},
    {"additionalProperties", ANY, NULL},
    {"items", SL_JSON_MAP, NULL},
    {"allOf", SL_JSON_LIST, NULL},
    {"anyOf", SL_JSON_LIST, NULL},
    {"oneOf", SL_JSON_LIST, NULL},
    {"not", SL_JSON_MAP, NULL},
    {"x-kubernetes-preserve-unknown-fields", SL_JSON_BOOL, NULL},
    {"x-kubernetes-int-or-string", SL_JSON_BOOL, NULL},
    {"x-kubernetes-list-type", SL_JSON_TEXT, NULL},
    {"x-kubernetes-list-map-keys", SL_JSON_LIST, NULL},
    {"x-kubernetes-map-type", SL_JSON_TEXT, NULL},
    {"x-kubernetes-validations", SL_JSON_LIST, NULL}, /* validations.c looks at them */
    {"x-kubernetes-embedded-resource", ANY, "embedded resources are not validated by this server"},
    {"uniqueItems", ANY,
     "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"},
    {"$ref", ANY, "$ref is not supported"},
};

static void visit(struct sl_check *c, const struct sl_json *schema, enum place place);

static const struct keyword *find_keyword(const char *name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (strcmp(keywords[i].name, name) == 0) {
            return &keywords[i];
        }
    }
    return NULL;
}

static const char *words_of(int type)
{
    return type == SL_JSON_MAP    ? "must be an object"
           : type == SL_JSON_LIST ? "must be a list"
           : type == SL_JSON_TEXT ? "must be a string"
           : type == SL_JSON_BOOL ? "must be true or false"
                                  : "must be an integer";
}

/* False: complained of. */
static bool check_keywords(struct sl_check *c, const struct sl_json *schema, enum place place)
{
    unsigned before = c->e->cause_count;
    for (struct sl_json_member m = {0}; sl_json_each(schema, &m);) {
        const struct keyword *k = find_keyword(m.key);
        bool off = sl_json_type(m.value) == SL_JSON_BOOL && !sl_json_bool(m.value, true);
        size_t up = sl_check_down(c, ".%.60s", m.key);
        if (k == NULL) {
            sl_check_forbidden(c, "is not known to this server");
        } else if (strcmp(m.key, "x-kubernetes-validations") == 0 && place == CONDITION) {
            sl_check_forbidden(c, "must be empty to be structural");
        } else if (k->why != NULL && !off) {
            sl_check_forbidden(c, k->why);
        } else if (k->why == NULL && k->type != ANY && (int)sl_json_type(m.value) != k->type) {
            sl_check_invalid(c, m.value, "%s", words_of(k->type));
        }
        sl_check_up(c, up);
    }
    return c->e->cause_count == before;
}

static bool flag(const struct sl_json *schema, const char *name)
{
    return sl_json_bool(sl_json_get(schema, name), false);
}

static void require(struct sl_check *c, const char *member, const char *why)
{
    size_t up = sl_check_down(c, ".%s", member);
    sl_check_required(c, why);
    sl_check_up(c, up);
}

/* "A|B" */
static bool among(const char *values, const char *text)
{
    size_t len = strlen(text);
    for (const char *at = values; *at != '\0';) {
        size_t one = strcspn(at, "|");
        if (one == len && strncmp(at, text, len) == 0) {
            return true;
        }
        at += one + (at[one] == '|');
    }
    return false;
}

static void check_type(struct sl_check *c, const struct sl_json *schema, enum place place)
{
    static const char known[] = "array|boolean|integer|number|object|string";
    const char *type = sl_json_path_text(schema, "type", "");
    bool open = flag(schema, "x-kubernetes-int-or-string") ||
                (flag(schema, "x-kubernetes-preserve-unknown-fields") && place != ROOT);
    size_t up = sl_check_down(c, ".type");
    if (place == ROOT && strcmp(type, "object") != 0) {
        sl_check_invalid(c, sl_json_get(schema, "type"), "must be object at the root");
    } else if (type[0] == '\0' && place == FIELD && !open) {
        sl_check_required(c, "must not be empty for specified object fields");
    } else if (type[0] != '\0' && flag(schema, "x-kubernetes-int-or-string") && place == FIELD) {
        sl_check_forbidden(c, "must be empty if x-kubernetes-int-or-string is true");
    } else if (type[0] != '\0' && !among(known, type)) {
        sl_check_not_supported(c, known, type);
    }
    sl_check_up(c, up);
    if (strcmp(type, "array") == 0 && place != CONDITION && sl_json_get(schema, "items") == NULL) {
        require(c, "items", "must be specified");
    }
}

static void check_pattern(struct sl_check *c, const struct sl_json *schema)
{
    struct sl_error e;
    const struct sl_json *pattern = sl_json_get(schema, "pattern");
    sl_error_clear(&e);
    if (pattern != NULL && sl_pattern_check(sl_json_text(pattern, ""), &e) != SL_CODE_OK) {
        size_t up = sl_check_down(c, ".pattern");
        sl_check_invalid(c, pattern, "%.120s", e.text);
        sl_check_up(c, up);
    }
}

static void check_numbers(struct sl_check *c, const struct sl_json *schema)
{
    static const char *const names[] = {"minimum", "maximum", "multipleOf"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct sl_json *v = sl_json_get(schema, names[i]);
        enum sl_json_type type = sl_json_type(v);
        if (v != NULL && type != SL_JSON_INT && type != SL_JSON_DOUBLE) {
            size_t up = sl_check_down(c, ".%s", names[i]);
            sl_check_invalid(c, v, "must be a number");
            sl_check_up(c, up);
        }
    }
}

/* Lists that are maps or sets: of what, and by which members. */
static void check_list_type(struct sl_check *c, const struct sl_json *schema)
{
    const char *type = sl_json_path_text(schema, "x-kubernetes-list-type", "atomic");
    const struct sl_json *keys = sl_json_get(schema, "x-kubernetes-list-map-keys");
    const struct sl_json *items = sl_json_get(schema, "items");
    const char *map_type = sl_json_path_text(schema, "x-kubernetes-map-type", "granular");
    size_t up = sl_check_down(c, ".x-kubernetes-list-type");
    if (!among("atomic|map|set", type)) {
        sl_check_not_supported(c, "atomic|map|set", type);
    }
    sl_check_up(c, up);
    if (strcmp(type, "map") == 0 && sl_json_len(keys) == 0) {
        require(c, "x-kubernetes-list-map-keys",
                "must not be empty if x-kubernetes-list-type is map");
    }
    for (size_t i = 0; i < sl_json_len(keys); i++) {
        const char *key = sl_json_text(sl_json_at(keys, i), "");
        up = sl_check_down(c, ".x-kubernetes-list-map-keys[%zu]", i);
        if (key[0] == '\0' || strlen(key) > 60 || strchr(key, ',') != NULL ||
            sl_json_get(sl_json_get(items, "properties"), key) == NULL) {
            sl_check_invalid(c, sl_json_at(keys, i), "must be a property of the items");
        }
        sl_check_up(c, up);
    }
    up = sl_check_down(c, ".x-kubernetes-map-type");
    if (!among("atomic|granular", map_type)) {
        sl_check_not_supported(c, "atomic|granular", map_type);
    }
    sl_check_up(c, up);
}

/* A default has to be what the schema allows, or each object would be refused for it. */
static void check_default(struct sl_check *c, const struct sl_json *schema, enum place place)
{
    const struct sl_json *preset = sl_json_get(schema, "default");
    if (preset == NULL) {
        return;
    }
    size_t up = sl_check_down(c, ".default");
    if (place != FIELD) {
        sl_check_forbidden(c, "must not be set here");
    } else {
        struct sl_json *pruned = sl_json_clone(preset);
        sl_shape_prune_value(schema, pruned);
        if (!sl_json_equal(pruned, preset)) {
            sl_check_invalid(c, preset, "must not have unknown fields");
        }
        sl_value_check(c, schema, preset, false);
        sl_json_free(pruned);
    }
    sl_check_up(c, up);
}

static void visit_each(struct sl_check *c, const char *name, const struct sl_json *list)
{
    for (size_t i = 0; i < sl_json_len(list); i++) {
        size_t up = sl_check_down(c, ".%s[%zu]", name, i);
        visit(c, sl_json_at(list, i), CONDITION);
        sl_check_up(c, up);
    }
}

static void visit_below(struct sl_check *c, const struct sl_json *schema, enum place place)
{
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    enum place below = place == CONDITION ? CONDITION : FIELD;
    const struct sl_json *any = sl_json_get(schema, "additionalProperties");
    for (struct sl_json_member m = {0}; sl_json_each(sl_json_get(schema, "properties"), &m);) {
        size_t up = sl_check_down(c, ".properties[%.60s]", m.key);
        visit(c, m.value, below);
        sl_check_up(c, up);
    }
    if (any != NULL) {
        size_t up = sl_check_down(c, ".additionalProperties");
        if (sl_json_len(sl_json_get(schema, "properties")) > 0) {
            sl_check_forbidden(c, "must not be used together with properties");
        } else if (sl_json_type(any) == SL_JSON_MAP) {
            visit(c, any, below);
        } else if (!sl_json_bool(any, false)) {
            sl_check_forbidden(c, "additionalProperties must be a schema or true");
        }
        sl_check_up(c, up);
    }
    if (sl_json_get(schema, "items") != NULL) {
        size_t up = sl_check_down(c, ".items");
        visit(c, sl_json_get(schema, "items"), below);
        sl_check_up(c, up);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        visit_each(c, lists[i], sl_json_get(schema, lists[i]));
    }
    if (sl_json_get(schema, "not") != NULL) {
        size_t up = sl_check_down(c, ".not");
        visit(c, sl_json_get(schema, "not"), CONDITION);
        sl_check_up(c, up);
    }
}

static void visit(struct sl_check *c, const struct sl_json *schema, enum place place)
{
    unsigned before = c->e->cause_count;
    sl_effort_add(1);
    if (sl_json_type(schema) != SL_JSON_MAP) {
        sl_check_invalid(c, schema, "must be a schema");
        return;
    }
    if (!check_keywords(c, schema, place)) {
        return;
    }
    check_type(c, schema, place);
    check_pattern(c, schema);
    check_numbers(c, schema);
    check_list_type(c, schema);
    visit_below(c, schema, place);
    if (c->e->cause_count == before) { /* else it says nothing about values */
        check_default(c, schema, place);
    }
}

void sl_structural_check(struct sl_check *c, const struct sl_json *schema)
{
    SL_PRE(c != NULL);
    visit(c, schema, ROOT);
}
