/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A reader for plain JSON texts that builds json-c's tree directly. Reading every stored object is
 * most of what a start consists of, and json-c's own parser takes more than twice as long. It
 * knows no errors: what it does not take, the strict parser looks at. */
#include "api/json/json_plain.h"

#include <json-c/json.h>
#include <string.h>

#include "base/mem.h"
#include "base/effort.h"

#define KEY_SIZE 256 /* a longer key is not plain */
#define DIGITS_MAX 18

struct plain {
    const char *at, *end;
    int depth;
};

static bool read_value(struct plain *p, struct json_object **out);

static void skip_blank(struct plain *p)
{
    while (p->at < p->end &&
           (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')) {
        p->at++;
    }
}

/* The character that must or may come next, blanks before it. */
static bool take(struct plain *p, char c)
{
    skip_blank(p);
    if (p->at == p->end || *p->at != c) {
        return false;
    }
    p->at++;
    return true;
}

/* The text between the quotes; the opening one has been read. `escapes`: whether there are any,
 * counted; NULL: they are not plain. */
static bool read_string(struct plain *p, const char **start, size_t *len, size_t *escapes)
{
    const char *at = p->at;
    while (at < p->end && *at != '"') {
        if (*at == '\\' && escapes != NULL && at + 1 < p->end) {
            at++; /* which one it is, unescape looks at */
            ++*escapes;
        }
        if (*at < 0x20 || *at > 0x7e || (*at == '\\' && escapes == NULL)) {
            return false;
        }
        at++;
    }
    if (at == p->end) {
        return false;
    }
    *start = p->at;
    *len = (size_t)(at - p->at);
    p->at = at + 1;
    return true;
}

/* Code points in hexadecimal are not plain. `to` has room for all of `from`; the new length, or SIZE_MAX. */
static size_t unescape(const char *from, size_t len, char *to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    size_t size = 0;
    for (size_t i = 0; i < len; i++) {
        char c = from[i];
        if (c == '\\') {
            const char *name = i + 1 < len ? strchr(names, from[i + 1]) : NULL;
            if (name == NULL) {
                return SIZE_MAX;
            }
            c = values[name - names];
            i++;
        }
        to[size++] = c;
    }
    return size;
}

static bool read_text(struct plain *p, struct json_object **out)
{
    const char *start;
    size_t len, escapes = 0;
    if (!read_string(p, &start, &len, &escapes) || len > INT32_MAX) {
        return false;
    }
    char *text = escapes > 0 ? sl_mem_new(len, 1) : NULL;
    len = text != NULL ? unescape(start, len, text) : len;
    bool plain = len != SIZE_MAX;
    if (plain) {
        *out = sl_mem_got(json_object_new_string_len(text != NULL ? text : start, (int)len));
    }
    sl_mem_free(text);
    return plain;
}

static bool read_member(struct plain *p, struct json_object *map)
{
    char key[KEY_SIZE];
    const char *start;
    size_t len;
    struct json_object *value = NULL;
    if (!take(p, '"') || !read_string(p, &start, &len, NULL) || len >= sizeof key ||
        !take(p, ':') || !read_value(p, &value)) {
        return false;
    }
    memcpy(key, start, len);
    key[len] = '\0';
    sl_mem_done(json_object_object_add(map, key, value) == 0);
    return true;
}

static bool read_map(struct plain *p, struct json_object **out)
{
    *out = sl_mem_got(json_object_new_object());
    if (take(p, '}')) {
        return true;
    }
    do {
        if (!read_member(p, *out)) {
            return false;
        }
    } while (take(p, ','));
    return take(p, '}');
}

static bool read_list(struct plain *p, struct json_object **out)
{
    *out = sl_mem_got(json_object_new_array_ext(4));
    if (take(p, ']')) {
        return true;
    }
    do {
        struct json_object *value = NULL;
        if (!read_value(p, &value)) {
            return false;
        }
        sl_mem_done(json_object_array_add(*out, value) == 0);
    } while (take(p, ','));
    return take(p, ']');
}

/* Whether a word ends here: no digit, letter or sign may follow it. */
static bool at_border(const struct plain *p)
{
    return p->at == p->end || (*p->at != '\0' && strchr(" \t\r\n,]}", *p->at) != NULL);
}

static bool read_integer(struct plain *p, struct json_object **out)
{
    bool negative = *p->at == '-';
    p->at += negative;
    const char *first = p->at;
    int64_t n = 0;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9' && p->at - first < DIGITS_MAX) {
        n = n * 10 + (*p->at++ - '0');
    }
    if (p->at == first || !at_border(p) || (*first == '0' && (negative || p->at - first > 1))) {
        return false;
    }
    *out = sl_mem_got(json_object_new_int64(negative ? -n : n));
    return true;
}

static bool read_word(struct plain *p, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len) != 0) {
        return false;
    }
    p->at += len;
    return at_border(p);
}

static bool read_scalar(struct plain *p, struct json_object **out)
{
    switch (*p->at) {
    case 't':
        *out = sl_mem_got(json_object_new_boolean(true));
        return read_word(p, "true");
    case 'f':
        *out = sl_mem_got(json_object_new_boolean(false));
        return read_word(p, "false");
    case 'n':
        return read_word(p, "null");
    default:
        return read_integer(p, out);
    }
}

static bool read_by_first(struct plain *p, struct json_object **out)
{
    switch (*p->at) {
    case '"':
        p->at++;
        return read_text(p, out);
    case '{':
    case '[':
        if (p->depth == SL_JSON_DEPTH_MAX) {
            return false;
        }
        p->depth++;
        bool read = *p->at++ == '{' ? read_map(p, out) : read_list(p, out);
        p->depth--;
        return read;
    default:
        return read_scalar(p, out);
    }
}

/* One value with the blanks before it. *out is set only when it could be read; the recursion is
 * bounded by the depth. */
static bool read_value(struct plain *p, struct json_object **out)
{
    struct json_object *value = NULL;
    sl_effort_add(1);
    skip_blank(p);
    if (p->at == p->end || !read_by_first(p, &value)) {
        json_object_put(value);
        return false;
    }
    *out = value;
    return true;
}

struct sl_json *sl_json_parse_plain(const char *text, size_t len)
{
    struct plain p = {.at = text, .end = text + len};
    struct json_object *value = NULL;
    bool read = len > 0 && read_value(&p, &value);
    sl_effort_text((size_t)(p.at - text));
    if (!read) {
        return NULL;
    }
    skip_blank(&p);
    if (p.at < p.end) {
        json_object_put(value);
        return NULL;
    }
    return (struct sl_json *)value;
}
