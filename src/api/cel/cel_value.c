/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values, what is kept for them, and the steps that rules may take. Those of JSON: numbers are whole or not as their schema says, and
 * members whose names are no identifiers have others. */
#include "api/cel/cel_value.h"
#include "base/effort.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_LEN 160
#define TEXT_BYTES 16u /* that are a step */

bool sl_cel_is_broken(const struct sl_cel_value *v)
{
    return v->type == SL_CEL_IS_ERROR || v->type == SL_CEL_IS_FOREIGN;
}

const char *sl_cel_keep(struct sl_cel_run *run, const char *text)
{
    (void)sl_cel_spend(run, SL_CEL_KEEP_STEPS + strlen(text) / TEXT_BYTES);
    if (run->kept == NULL) {
        run->kept = sl_json_new_list();
    }
    sl_json_append(run->kept, sl_json_new_text(text));
    return sl_json_text(sl_json_at(run->kept, sl_json_len(run->kept) - 1), "");
}

struct sl_cel_value sl_cel_error(struct sl_cel_run *run, const char *format, ...)
{
    char text[ERROR_LEN];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return (struct sl_cel_value){.type = SL_CEL_IS_ERROR, .text = sl_cel_keep(run, text)};
}

struct sl_cel_value sl_cel_no_overload(void)
{
    return (struct sl_cel_value){.type = SL_CEL_IS_ERROR, .text = "no such overload"};
}

struct sl_cel_value sl_cel_truth(bool b)
{
    return (struct sl_cel_value){.type = SL_CEL_IS_BOOL, .number = b};
}

struct sl_cel_value sl_cel_whole(int64_t n)
{
    return (struct sl_cel_value){.type = SL_CEL_IS_INT, .number = n};
}

struct sl_cel_value sl_cel_real(double n)
{
    return (struct sl_cel_value){.type = SL_CEL_IS_REAL, .real = n};
}

struct sl_cel_value sl_cel_text(const char *text)
{
    return (struct sl_cel_value){.type = SL_CEL_IS_TEXT, .text = text};
}

bool sl_cel_spend(const struct sl_cel_run *run, uint64_t steps)
{
    uint64_t *left = run->field != NULL ? run->field->left : NULL;
    if (left == NULL) {
        return true; /* selectors of devices repeat nothing */
    }
    sl_effort_add(steps < *left ? steps : *left);
    *left = steps < *left ? *left - steps : 0;
    return *left > 0;
}

bool sl_cel_spend_text(const struct sl_cel_run *run, const struct sl_cel_value *v)
{
    return v->type != SL_CEL_IS_TEXT || run->field == NULL ||
           sl_cel_spend(run, strlen(v->text) / TEXT_BYTES);
}

struct sl_cel_value sl_cel_spent(void)
{
    return (struct sl_cel_value){.type = SL_CEL_IS_ERROR, .text = "it takes too many steps"};
}

/* --- schemas ---------------------------------------------------------------------------------- */

bool sl_cel_is_object(const struct sl_json *schema)
{
    return sl_json_type(sl_json_get(schema, "additionalProperties")) != SL_JSON_MAP;
}

const struct sl_json *sl_cel_item_schema(const struct sl_json *schema)
{
    const struct sl_json *items = sl_json_get(schema, "items");
    const struct sl_json *any = sl_json_get(schema, "additionalProperties");
    return items != NULL ? items : sl_json_type(any) == SL_JSON_MAP ? any : NULL;
}

/* Words of CEL, which fields have with __ before and behind. */
static bool is_keyword(const char *at, size_t len)
{
    static const char *const words[] = {
        "true",     "false",   "null",      "in",       "as",  "break",  "const",
        "continue", "else",    "for",       "function", "if",  "import", "let",
        "loop",     "package", "namespace", "return",   "var", "void",   "while"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == len && memcmp(words[i], at, len) == 0) {
            return true;
        }
    }
    return false;
}

bool sl_cel_unescape(const char *name, char out[static SL_CEL_NAME_MAX])
{
    static const struct {
        const char *from, *to;
    } escapes[] = {
        {"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}};
    size_t len = strlen(name), at = 0, i;
    if (len >= SL_CEL_NAME_MAX) {
        return false;
    }
    if (len > 4 && strncmp(name, "__", 2) == 0 && strcmp(name + len - 2, "__") == 0 &&
        is_keyword(name + 2, len - 4)) {
        (void)snprintf(out, SL_CEL_NAME_MAX, "%.*s", (int)len - 4, name + 2);
        return true;
    }
    while (*name != '\0') {
        for (i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
            if (strncmp(name, escapes[i].from, strlen(escapes[i].from)) == 0) {
                break;
            }
        }
        const char *to = i < sizeof escapes / sizeof escapes[0] ? escapes[i].to : "";
        name += to[0] != '\0' ? strlen(escapes[i].from) : 0;
        if (to[0] == '\0') {
            out[at++] = *name++;
        }
        for (; *to != '\0'; to++) {
            out[at++] = *to;
        }
    }
    out[at] = '\0';
    return true;
}

const struct sl_json *sl_cel_member_schema(const struct sl_json *schema, const char *name,
                                           char key[static SL_CEL_NAME_MAX])
{
    if (!sl_cel_unescape(name, key)) {
        return NULL;
    }
    return sl_json_get(sl_json_get(schema, "properties"), key);
}

/* --- to and from JSON ------------------------------------------------------------------------- */

static struct sl_cel_value number_of(const struct sl_json *v, const char *type)
{
    if (sl_json_type(v) == SL_JSON_INT) {
        int64_t n = sl_json_int(v, 0);
        return strcmp(type, "number") == 0 ? sl_cel_real((double)n) : sl_cel_whole(n);
    }
    double n = sl_json_real(v);
    bool whole = strcmp(type, "integer") == 0 && n >= -0x1p62 && n <= 0x1p62; /* 3.0 */
    return whole ? sl_cel_whole((int64_t)n) : sl_cel_real(n);
}

struct sl_cel_value sl_cel_of_json(const struct sl_json *v, const struct sl_json *schema)
{
    switch (sl_json_type(v)) {
    case SL_JSON_BOOL:
        return sl_cel_truth(sl_json_bool(v, false));
    case SL_JSON_INT:
    case SL_JSON_DOUBLE:
        return number_of(v, sl_json_path_text(schema, "type", ""));
    case SL_JSON_TEXT:
        return sl_cel_text(sl_json_text(v, ""));
    case SL_JSON_LIST:
        return (struct sl_cel_value){.type = SL_CEL_IS_ITEMS, .map = v, .schema = schema};
    case SL_JSON_MAP:
        return (struct sl_cel_value){.type = SL_CEL_IS_MEMBERS, .map = v, .schema = schema};
    default:
        return (struct sl_cel_value){.type = SL_CEL_IS_NULL};
    }
}

static struct sl_json *json_of_real(double n)
{
    char text[40];
    (void)snprintf(text, sizeof text - 2, "%.17g", n);
    if (strpbrk(text, ".en") == NULL) {
        memcpy(text + strlen(text), ".0", sizeof ".0"); /* else it would be a whole number */
    }
    return sl_json_parse(text, strlen(text), NULL);
}

struct sl_json *sl_cel_to_json(const struct sl_cel_value *v)
{
    switch (v->type) {
    case SL_CEL_IS_BOOL:
        return sl_json_new_bool(v->number != 0);
    case SL_CEL_IS_INT:
        return sl_json_new_int(v->number);
    case SL_CEL_IS_REAL:
        return json_of_real(v->real);
    case SL_CEL_IS_TEXT:
        return sl_json_new_text(v->text);
    case SL_CEL_IS_ITEMS:
    case SL_CEL_IS_MEMBERS:
        return sl_json_ref((struct sl_json *)(uintptr_t)v->map); /* it is not changed */
    default:
        return NULL;
    }
}

struct sl_cel_value sl_cel_keep_made(struct sl_cel_run *run, struct sl_json *made)
{
    (void)sl_cel_spend(run, SL_CEL_KEEP_STEPS);
    if (run->kept == NULL) {
        run->kept = sl_json_new_list();
    }
    sl_json_append(run->kept, made);
    return sl_cel_of_json(made, NULL);
}

struct sl_cel_value sl_cel_item_at(const struct sl_cel_value *list, size_t i)
{
    return sl_cel_of_json(sl_json_at(list->map, i), sl_cel_item_schema(list->schema));
}
