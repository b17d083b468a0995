/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A reader for plain JSON texts that builds json-c's tree directly. Reading every stored object is
 * most of what a start consists of, and json-c's own parser takes more than twice as long. It
 * knows no errors: what it does not take, the strict parser looks at. */
#include "api/json_plain.h"

#include <json-c/json.h>
#include <string.h>

#include "base/mem.h"

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

/* What stands between the quotes, the opening one taken already. */
static bool read_string(struct plain *p, const char **start, size_t *len)
{
    const char *at = p->at;
    while (at < p->end && *at != '"') {
        if (*at < 0x20 || *at > 0x7e || *at == '\\') {
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

static bool read_text(struct plain *p, struct json_object **out)
{
    const char *start;
    size_t len;
    if (!read_string(p, &start, &len) || len > INT32_MAX) {
        return false;
    }
    *out = sl_mem_got(json_object_new_string_len(start, (int)len));
    return true;
}

static bool read_member(struct plain *p, struct json_object *map)
{
    char key[KEY_SIZE];
    const char *start;
    size_t len;
    struct json_object *value = NULL;
    if (!take(p, '"') || !read_string(p, &start, &len) || len >= sizeof key || !take(p, ':') ||
        !read_value(p, &value)) {
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
    if (len == 0 || !read_value(&p, &value)) {
        return NULL;
    }
    skip_blank(&p);
    if (p.at < p.end) {
        json_object_put(value);
        return NULL;
    }
    return (struct sl_json *)value;
}
