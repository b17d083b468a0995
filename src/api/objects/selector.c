/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Label and field selectors: text or metav1.LabelSelector into a list of requirements that must all hold. */
#include "api/objects/object.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define REQUIREMENTS_MAX 64u
#define VALUES_MAX 256u
#define NUMBER_SIZE 24u

enum operator{ OP_IN, OP_NOT_IN, OP_EXISTS, OP_NOT_EXISTS };

struct requirement {
    enum operator op;
    char *key;
    char **values;
    size_t value_count;
};

struct sl_selector {
    bool of_fields;
    size_t count;
    struct requirement requirements[REQUIREMENTS_MAX];
};

static struct sl_selector *selector_new(bool of_fields)
{
    struct sl_selector *s = sl_mem_new(1, sizeof *s);
    s->of_fields = of_fields;
    return s;
}

void sl_selector_free(struct sl_selector *s)
{
    for (size_t i = 0; s != NULL && i < s->count; i++) {
        struct requirement *r = &s->requirements[i];
        for (size_t v = 0; v < r->value_count; v++) {
            sl_mem_free(r->values[v]);
        }
        sl_mem_free(r->values);
        sl_mem_free(r->key);
    }
    sl_mem_free(s);
}

static struct requirement *requirement_add(struct sl_selector *s, enum operator op, const char *key,
                                           size_t len, struct sl_error *e)
{
    if (s->count == REQUIREMENTS_MAX) {
        sl_error_set(e, SL_CODE_BAD_REQUEST, "a selector may have at most %u requirements",
                     REQUIREMENTS_MAX);
        return NULL;
    }
    struct requirement *r = &s->requirements[s->count++];
    r->op = op;
    r->key = sl_mem_text_n(key, len);
    return r;
}

static bool value_add(struct requirement *r, const char *value, size_t len, struct sl_error *e)
{
    if (r->value_count == VALUES_MAX) {
        sl_error_set(e, SL_CODE_BAD_REQUEST, "selector key %s has more than %u values", r->key,
                     VALUES_MAX);
        return false;
    }
    r->values = sl_mem_grow(r->values, r->value_count + 1, sizeof *r->values);
    r->values[r->value_count++] = sl_mem_text_n(value, len);
    return true;
}

/* --- text ------------------------------------------------------------------------------------------ */

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at)) {
        at++;
    }
    return at;
}

/* Length of the key or value at `at`: up to an operator, a separator or white space. */
static size_t word(const char *at)
{
    return strcspn(at, " \t\n=!,()");
}

static bool bad_text(const char *at, struct sl_error *e)
{
    sl_error_set(e, SL_CODE_BAD_REQUEST, "unable to parse the selector at \"%.40s\"", at);
    return false;
}

/* "(a,b)" after in / notin. */
static bool parse_set(struct requirement *r, const char **text, struct sl_error *e)
{
    const char *at = skip_space(*text);
    if (*at++ != '(') {
        return bad_text(*text, e);
    }
    do {
        at = skip_space(at);
        size_t len = word(at);
        if (!value_add(r, at, len, e)) {
            return false;
        }
        at = skip_space(at + len);
    } while (*at == ',' && at++ != NULL);
    if (*at != ')') {
        return bad_text(*text, e);
    }
    *text = at + 1;
    return true;
}

/* What follows a key: nothing, an equality, or a set. */
static bool parse_operator(struct sl_selector *s, const char *key, size_t key_len,
                           const char **text, struct sl_error *e)
{
    const char *at = skip_space(*text);
    bool negative = *at == '!';
    if (*at == '=' || (negative && at[1] == '=')) {
        at += negative || at[1] == '=' ? 2 : 1;
        at = skip_space(at);
        size_t len = word(at);
        *text = at + len;
        struct requirement *r = requirement_add(s, negative ? OP_NOT_IN : OP_IN, key, key_len, e);
        return r != NULL && value_add(r, at, len, e);
    }
    size_t len = word(at);
    if (len == 0) {
        *text = at;
        return requirement_add(s, OP_EXISTS, key, key_len, e) != NULL;
    }
    bool in = len == 2 && strncmp(at, "in", 2) == 0;
    if (!in && !(len == 5 && strncmp(at, "notin", 5) == 0)) {
        return bad_text(at, e);
    }
    *text = at + len;
    struct requirement *r = requirement_add(s, in ? OP_IN : OP_NOT_IN, key, key_len, e);
    return r != NULL && parse_set(r, text, e);
}

static bool parse_requirement(struct sl_selector *s, const char **text, struct sl_error *e)
{
    const char *at = skip_space(*text);
    bool absent = *at == '!';
    at = skip_space(at + absent);
    size_t len = word(at);
    if (len == 0) {
        return bad_text(at, e);
    }
    *text = at + len;
    if (absent) {
        return requirement_add(s, OP_NOT_EXISTS, at, len, e) != NULL;
    }
    return parse_operator(s, at, len, text, e);
}

static struct sl_selector *parse(const char *text, bool of_fields, struct sl_error *e)
{
    SL_PRE(text != NULL);
    struct sl_selector *s = selector_new(of_fields);
    const char *at = skip_space(text);
    while (*at != '\0') {
        if (!parse_requirement(s, &at, e)) {
            sl_selector_free(s);
            return NULL;
        }
        at = skip_space(at);
        if (*at != '\0' && *at++ != ',') {
            bad_text(at - 1, e);
            sl_selector_free(s);
            return NULL;
        }
    }
    return s;
}

struct sl_selector *sl_selector_parse_labels(const char *text, struct sl_error *e)
{
    return parse(text, false, e);
}

struct sl_selector *sl_selector_parse_fields(const char *text, struct sl_error *e)
{
    struct sl_selector *s = parse(text, true, e);
    for (size_t i = 0; s != NULL && i < s->count; i++) {
        if (s->requirements[i].op == OP_EXISTS || s->requirements[i].op == OP_NOT_EXISTS) {
            sl_error_set(e, SL_CODE_BAD_REQUEST, "a field selector needs = or != after %s",
                         s->requirements[i].key);
            sl_selector_free(s);
            return NULL;
        }
    }
    return s;
}

/* --- metav1.LabelSelector ------------------------------------------------------------------------------ */

static bool find_operator(const char *name, enum operator* op)
{
    static const char *const names[] = {"In", "NotIn", "Exists", "DoesNotExist"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            *op = (enum operator)i;
            return true;
        }
    }
    return false;
}

static bool add_expression(struct sl_selector *s, const struct sl_json *expression, size_t index,
                           struct sl_error *e)
{
    const char *key = sl_json_path_text(expression, "key", "");
    const char *name = sl_json_path_text(expression, "operator", "");
    const struct sl_json *values = sl_json_get(expression, "values");
    enum operator op = OP_IN;
    if (!find_operator(name, &op) || key[0] == '\0') {
        sl_error_set(e, SL_CODE_INVALID,
                     "matchExpressions[%zu]: \"%s\" is not an operator on a key", index, name);
        return false;
    }
    bool is_set = op == OP_IN || op == OP_NOT_IN;
    if (is_set != (sl_json_len(values) > 0)) {
        sl_error_set(e, SL_CODE_INVALID, "matchExpressions[%zu]: operator %s %s values", index,
                     name, is_set ? "needs" : "takes no");
        return false;
    }
    struct requirement *r = requirement_add(s, op, key, strlen(key), e);
    for (size_t i = 0; r != NULL && i < sl_json_len(values); i++) {
        const char *value = sl_json_text(sl_json_at(values, i), "");
        if (!value_add(r, value, strlen(value), e)) {
            return false;
        }
    }
    return r != NULL;
}

struct sl_selector *sl_selector_from_json(const struct sl_json *label_selector, struct sl_error *e)
{
    struct sl_selector *s = selector_new(false);
    const char *key = NULL;
    struct sl_json *value = NULL;
    bool good = true;
    for (void *it = NULL;
         good && sl_json_next(sl_json_get(label_selector, "matchLabels"), &it, &key, &value);) {
        const char *text = sl_json_text(value, "");
        struct requirement *r = requirement_add(s, OP_IN, key, strlen(key), e);
        good = r != NULL && value_add(r, text, strlen(text), e);
    }
    const struct sl_json *expressions = sl_json_get(label_selector, "matchExpressions");
    for (size_t i = 0; good && i < sl_json_len(expressions); i++) {
        good = add_expression(s, sl_json_at(expressions, i), i, e);
    }
    if (!good) {
        sl_selector_free(s);
        return NULL;
    }
    return s;
}

/* --- matching --------------------------------------------------------------------------------------------- */

static bool holds(const struct requirement *r, const char *value)
{
    if (r->op == OP_EXISTS || r->op == OP_NOT_EXISTS) {
        return (value != NULL) == (r->op == OP_EXISTS);
    }
    bool found = false;
    for (size_t i = 0; value != NULL && !found && i < r->value_count; i++) {
        found = strcmp(r->values[i], value) == 0;
    }
    return found == (r->op == OP_IN);
}

bool sl_selector_matches_labels(const struct sl_selector *s, const struct sl_json *labels)
{
    SL_PRE(s != NULL && !s->of_fields);
    for (size_t i = 0; i < s->count; i++) {
        if (!holds(&s->requirements[i],
                   sl_json_text(sl_json_get(labels, s->requirements[i].key), NULL))) {
            return false;
        }
    }
    return true;
}

/* Fields whose name or value in Kubernetes' selectors differs from the object. */
static const struct derived {
    const char *key, *path;
    const char *second; /* path, where the first has nothing */
    const char *absent; /* value */
} derived_fields[] = {
    {"status.successful", "status.succeeded", "", "0"},
    {"source", "source.component", "reportingComponent", ""},
    {"spec.unschedulable", "spec.unschedulable", "", "false"},
};

static struct derived derived_field(const char *key)
{
    for (size_t i = 0; i < sizeof derived_fields / sizeof derived_fields[0]; i++) {
        if (strcmp(derived_fields[i].key, key) == 0) {
            return derived_fields[i];
        }
    }
    return (struct derived){key, key, "", ""};
}

/* As a text: of other values than texts, booleans and integers the empty one. */
static const char *field_text(const struct sl_json *value, char number[static NUMBER_SIZE])
{
    switch (sl_json_type(value)) {
    case SL_JSON_BOOL:
        return sl_json_bool(value, false) ? "true" : "false";
    case SL_JSON_INT:
        (void)snprintf(number, NUMBER_SIZE, "%" PRId64, sl_json_int(value, 0));
        return number;
    default:
        return sl_json_text(value, "");
    }
}

static bool field_holds(const struct requirement *r, const struct sl_json *object)
{
    char number[NUMBER_SIZE];
    struct derived field = derived_field(r->key);
    const char *text = field_text(sl_json_path(object, field.path), number);
    if (text[0] == '\0' && field.second[0] != '\0') {
        text = field_text(sl_json_path(object, field.second), number);
    }
    return holds(r, text[0] != '\0' ? text : field.absent);
}

bool sl_selector_matches(const struct sl_selector *s, const struct sl_json *object)
{
    SL_PRE(s != NULL);
    if (!s->of_fields) {
        return sl_selector_matches_labels(s, sl_json_path(object, "metadata.labels"));
    }
    for (size_t i = 0; i < s->count; i++) {
        if (!field_holds(&s->requirements[i], object)) {
            return false;
        }
    }
    return true;
}
