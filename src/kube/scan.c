/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A look at JSON texts: brackets are counted and strings are stepped over, nothing else is. */
#include "kube/scan.h"

#include <string.h>

const char *sl_scan_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
        at++;
    }
    return at;
}

/* `at` is behind the opening quote; the answer is behind the closing one. */
static const char *skip_string(const char *at, const char *end)
{
    for (;;) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (quote == NULL) {
            return NULL;
        }
        const char *back = quote;
        while (back > at && back[-1] == '\\') {
            back--;
        }
        if ((quote - back) % 2 == 0) {
            return quote + 1;
        }
        at = quote + 1;
    }
}

static const char *skip_nested(const char *at, const char *end)
{
    size_t depth = 0;
    while (at != NULL && at < end) {
        char c = *at++;
        if (c == '"') {
            at = skip_string(at, end);
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return at;
        }
    }
    return NULL;
}

static const char *skip_word(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && strchr(" \t\r\n,:[]{}\"", *at) == NULL) {
        at++;
    }
    return at > start ? at : NULL;
}

const char *sl_scan_skip(const char *at, const char *end)
{
    at = sl_scan_blank(at, end);
    if (at == end) {
        return NULL;
    }
    switch (*at) {
    case '"':
        return skip_string(at + 1, end);
    case '{':
    case '[':
        return skip_nested(at, end);
    default:
        return skip_word(at, end);
    }
}

/* To the next member or item of a value that opens with `open`; NULL at its end. */
static const char *next_in(struct sl_span in, size_t cursor, char open)
{
    if (in.at == NULL || in.len == 0) {
        return NULL;
    }
    const char *end = in.at + in.len;
    const char *at = sl_scan_blank(in.at + cursor, end);
    if (at == end || *at != (cursor == 0 ? open : ',')) {
        return NULL;
    }
    at = sl_scan_blank(at + 1, end);
    return at == end || *at == '}' || *at == ']' ? NULL : at;
}

bool sl_scan_member(struct sl_span map, size_t *cursor, struct sl_span *key, struct sl_span *value)
{
    const char *at = next_in(map, *cursor, '{');
    if (at == NULL || *at != '"') {
        return false;
    }
    const char *end = map.at + map.len;
    const char *key_end = skip_string(at + 1, end);
    const char *colon = key_end == NULL ? NULL : sl_scan_blank(key_end, end);
    if (colon == NULL || colon == end || *colon != ':') {
        return false;
    }
    const char *start = sl_scan_blank(colon + 1, end);
    const char *after = sl_scan_skip(start, end);
    if (after == NULL) {
        return false;
    }
    *key = (struct sl_span){at + 1, (size_t)(key_end - at) - 2};
    *value = (struct sl_span){start, (size_t)(after - start)};
    *cursor = (size_t)(after - map.at);
    return true;
}

bool sl_scan_item(struct sl_span list, size_t *cursor, struct sl_span *item)
{
    const char *at = next_in(list, *cursor, '[');
    const char *after = at == NULL ? NULL : sl_scan_skip(at, list.at + list.len);
    if (after == NULL) {
        return false;
    }
    *item = (struct sl_span){at, (size_t)(after - at)};
    *cursor = (size_t)(after - list.at);
    return true;
}

bool sl_scan_is_end(struct sl_span list, size_t cursor)
{
    const char *end = list.at + list.len;
    const char *at = sl_scan_blank(list.at + cursor, end);
    if (cursor == 0 && at < end && *at == '[') {
        at = sl_scan_blank(at + 1, end);
    }
    return sl_span_is(list, "null") || (end - at == 1 && *at == ']');
}

struct sl_span sl_scan_find(struct sl_span map, const char *key)
{
    struct sl_span name, value;
    size_t cursor = 0;
    while (sl_scan_member(map, &cursor, &name, &value)) {
        if (sl_span_is(name, key)) {
            return value;
        }
    }
    return (struct sl_span){NULL, 0};
}

bool sl_span_is(struct sl_span s, const char *text)
{
    return s.at != NULL && strlen(text) == s.len && memcmp(s.at, text, s.len) == 0;
}

struct sl_span sl_span_text(struct sl_span value)
{
    if (value.at == NULL || value.len < 2 || value.at[0] != '"') {
        return (struct sl_span){NULL, 0};
    }
    return (struct sl_span){value.at + 1, value.len - 2};
}

uint64_t sl_span_number(struct sl_span s)
{
    uint64_t n = 0;
    if (s.at == NULL || s.len == 0 || s.len > 19) {
        return 0;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] < '0' || s.at[i] > '9') {
            return 0;
        }
        n = n * 10 + (uint64_t)(s.at[i] - '0');
    }
    return n;
}
