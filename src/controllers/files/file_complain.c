/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "controllers/files/file_complain.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sl_complain(struct sl_complaint *c, const char *field, const char *format, ...)
{
    char text[256];
    va_list args;
    if (c->bad) {
        return;
    }
    c->bad = true;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sl_error_set(c->e, SL_CODE_INVALID, "%s: %s%s%s: %s", c->file, c->where,
                 c->where[0] != '\0' && field[0] != '\0' ? "." : "", field, text);
}

/* Go down to a member or an item; the length is for sl_complaint_up(). */
size_t sl_complaint_down(struct sl_complaint *c, const char *field, size_t index)
{
    size_t len = strlen(c->where);
    size_t room = sizeof c->where - len;
    const char *dot = len > 0 && field[0] != '\0' ? "." : "";
    if (index != SIZE_MAX) {
        snprintf(c->where + len, room, "%s%s[%zu]", dot, field, index);
    } else {
        snprintf(c->where + len, room, "%s%s", dot, field);
    }
    return len;
}

void sl_complaint_up(struct sl_complaint *c, size_t len)
{
    c->where[len] = '\0';
}

/* Is the key one of the words of `allowed`, which has a space on both sides of each? */
bool sl_check_is_word(const char *allowed, const char *key)
{
    char word[80];
    return snprintf(word, sizeof word, " %s ", key) < (int)sizeof word &&
           strstr(allowed, word) != NULL;
}

void sl_check_keys(struct sl_complaint *c, const struct sl_json *map, const char *allowed)
{
    if (sl_json_type(map) != SL_JSON_MAP) {
        sl_complain(c, "", "must be a map");
        return;
    }
    for (struct sl_json_member m = {0}; sl_json_each(map, &m);) {
        if (!sl_check_is_word(allowed, m.key)) {
            sl_complain(c, m.key, "unknown field; may be one of%.*s", (int)strlen(allowed) - 1,
                        allowed);
        }
    }
}

/* A path: words with dots between them. */
bool sl_check_is_path(const struct sl_json *v)
{
    const char *text = sl_json_text(v, "");
    bool good = text[0] != '\0' && text[0] != '.' && strlen(text) < 200;
    for (size_t i = 0; good && text[i] != '\0'; i++) {
        good = text[i] != ' ' && !(text[i] == '.' && (text[i + 1] == '.' || text[i + 1] == '\0'));
    }
    return good;
}

void sl_check_path(struct sl_complaint *c, const struct sl_json *map, const char *key,
                   bool required)
{
    const struct sl_json *v = sl_json_get(map, key);
    if (v == NULL && required) {
        sl_complain(c, key, "is required");
    } else if (v != NULL && !sl_check_is_path(v)) {
        sl_complain(c, key, "must be a path like spec.template");
    }
}

void sl_check_text_of(struct sl_complaint *c, const struct sl_json *map, const char *key,
                      bool required)
{
    const struct sl_json *v = sl_json_get(map, key);
    if (v == NULL && required) {
        sl_complain(c, key, "is required");
    } else if (v != NULL && sl_json_text(v, "")[0] == '\0') {
        sl_complain(c, key, "must be a text");
    }
}

void sl_check_type_of(struct sl_complaint *c, const struct sl_json *map, const char *key,
                      enum sl_json_type type, const char *name)
{
    const struct sl_json *v = sl_json_get(map, key);
    if (v != NULL && sl_json_type(v) != type) {
        sl_complain(c, key, "must be %s", name);
    }
}

void sl_check_place(struct sl_complaint *c, const struct sl_json *map, const char *key,
                    bool required)
{
    const char *text = sl_json_text(sl_json_get(map, key), "");
    sl_check_path(c, map, key, required);
    if (text[0] != '\0' && text[strlen(text) - 1] == ']') {
        sl_complain(c, key, "must end with a name, not with brackets");
    }
}
