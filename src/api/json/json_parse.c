/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* JSON texts to values. Plain ones are read by json_plain.c; for all others json-c builds the tree; a scan before it makes the parser strict
 * (control characters, number syntax and range, depth) and finds the line and column of what it
 * refuses. */
#include "api/json/json.h"

#include "api/json/json_plain.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/effort.h"
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scan {
    const char *text;
    size_t len;
    size_t at;
    int depth;
    int depth_max;
    bool any_size;       /* numbers may be larger than a double can hold; their text stays */
    const char *problem; /* what is wrong at `at` */
};

static struct sl_json *refuse(const char *text, size_t at, const char *problem, struct sl_error *e)
{
    unsigned long line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            line++;
            column = 0;
        }
        column++;
    }
    sl_error_set(e, SL_CODE_BAD_REQUEST, "malformed JSON at line %lu, column %lu: %s", line, column,
                 problem);
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One escape after its backslash. A NUL would cut every C text that is made from the value. */
static bool scan_escape(struct scan *s)
{
    char c = s->at < s->len ? s->text[s->at] : '\0';
    if (c == 'u') {
        if (s->len - s->at >= 5 && memcmp(s->text + s->at + 1, "0000", 4) == 0) {
            s->problem = "a string must not contain a NUL character";
            return false;
        }
    } else if (c == '\0' || strchr("\"\\/bfnrt", c) == NULL) {
        s->problem = "unknown escape in a string";
        return false;
    }
    s->at++;
    return true;
}

static bool scan_string(struct scan *s)
{
    size_t start = s->at++;
    while (s->at < s->len && s->text[s->at] != '"') {
        unsigned char c = (unsigned char)s->text[s->at];
        if (c < 0x20) {
            s->problem = "control character in a string";
            return false;
        }
        size_t len = c < 0x80 ? 1 : sl_utf8_len(s->text + s->at, s->len - s->at);
        if (len == 0) {
            s->problem = "the text is not valid UTF-8";
            return false;
        }
        s->at += len;
        if (c == '\\' && !scan_escape(s)) {
            return false;
        }
    }
    if (s->at >= s->len) {
        s->at = start;
        s->problem = "string without an end";
        return false;
    }
    s->at++;
    return true;
}

static size_t skip_digits(const char *word, size_t len, size_t i)
{
    while (i < len && is_digit(word[i])) {
        i++;
    }
    return i;
}

/* Where a JSON number's integer part ends and where all of it ends; 0 when it is none. */
static size_t number_end(const char *word, size_t len, bool *integer)
{
    size_t i = len > 0 && word[0] == '-' ? 1 : 0;
    size_t first = i;
    i = skip_digits(word, len, i);
    if (i == first || (word[first] == '0' && i > first + 1)) {
        return 0;
    }
    *integer = i == len;
    if (i < len && word[i] == '.') {
        size_t fraction = i + 1;
        i = skip_digits(word, len, fraction);
        if (i == fraction) {
            return 0;
        }
    }
    if (i < len && (word[i] == 'e' || word[i] == 'E')) {
        i++;
        i += i < len && (word[i] == '+' || word[i] == '-');
        size_t exponent = i;
        i = skip_digits(word, len, exponent);
        if (i == exponent) {
            return 0;
        }
    }
    return i;
}

/* Whether an integer of more than 18 digits fits 64 bits. */
static bool in_range(const char *word, size_t len)
{
    char copy[32];
    if (len >= sizeof copy) {
        return false;
    }
    memcpy(copy, word, len);
    copy[len] = '\0';
    errno = 0;
    strtoll(copy, NULL, 10);
    return errno == 0;
}

/* Whether a number that is not an integer fits a double. Longer ones do not occur in practice. */
static bool is_finite(const char *word, size_t len)
{
    char copy[400];
    if (len >= sizeof copy) {
        return false;
    }
    memcpy(copy, word, len);
    copy[len] = '\0';
    return isfinite(strtod(copy, NULL));
}

static bool word_is(const char *word, size_t len, const char *literal)
{
    return len == strlen(literal) && memcmp(word, literal, len) == 0;
}

/* A number or one of the three literals. */
static bool scan_word(struct scan *s)
{
    const char *word = s->text + s->at;
    size_t len = 0;
    while (s->at + len < s->len && strchr(" \t\r\n,:[]{}\"", word[len]) == NULL) {
        len++;
    }
    bool integer = false;
    if (word_is(word, len, "true") || word_is(word, len, "false") || word_is(word, len, "null")) {
        s->at += len;
        return true;
    }
    if (len == 0 || number_end(word, len, &integer) != len) {
        s->problem = len > 0 && (is_digit(word[0]) || word[0] == '-') ? "malformed number"
                                                                      : "unexpected character";
        return false;
    }
    if (integer && len > 18 && !in_range(word, len)) {
        s->problem = "the integer does not fit 64 bits";
        return false;
    }
    if (!integer && !s->any_size && !is_finite(word, len)) {
        s->problem = "the number is too large";
        return false;
    }
    s->at += len;
    return true;
}

static bool scan_one(struct scan *s)
{
    switch (s->text[s->at]) {
    case '"':
        return scan_string(s);
    case '{':
    case '[':
        if (++s->depth > s->depth_max) {
            s->problem = s->depth_max == SL_JSON_DEPTH_MAX ? "nested deeper than 64 levels"
                                                           : "nested deeper than 10000 levels";
            return false;
        }
        break;
    case '}':
    case ']':
        s->depth--;
        break;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ',':
    case ':':
        break;
    default:
        return scan_word(s);
    }
    s->at++;
    return true;
}

static const char *grammar_problem(enum json_tokener_error error)
{
    switch (error) {
    case json_tokener_continue:
        return "the text ends too early";
    case json_tokener_error_parse_array:
        return "expected ',' or ']'";
    case json_tokener_error_parse_object_key_name:
        return "expected a key in double quotes";
    case json_tokener_error_parse_object_key_sep:
        return "expected ':' after the key";
    case json_tokener_error_parse_object_value_sep:
        return "expected ',' or '}'";
    case json_tokener_error_parse_utf8_string:
        return "the text is not valid UTF-8";
    default:
        return "unexpected character";
    }
}

/* Everything behind the value must be blank. */
static size_t skip_blank(const char *text, size_t len, size_t at)
{
    while (at < len && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0') {
        at++;
    }
    return at;
}

static bool in_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

/* The end of the next number that is no part of a text, or of all. */
static size_t after_number(const char *text, size_t len, size_t at)
{
    bool quoted = false;
    for (; at < len; at++) {
        if (text[at] == '\\' && quoted) {
            at++;
        } else if (text[at] == '"') {
            quoted = !quoted;
        } else if (!quoted && text[at] >= '0' && text[at] <= '9') {
            while (at < len && in_number(text[at])) {
                at++;
            }
            return at;
        }
    }
    return len;
}

/* json-c leaves out what it has no memory for, and only errno says so; that it clears with each number that it
 * reads. So it is asked after each, before the next one is read: that happens with what follows it. */
static struct json_object *feed(struct json_tokener *tokener, const char *text, size_t len)
{
    errno = 0;
    struct json_object *value = json_tokener_parse_ex(tokener, text, (int)len);
    sl_mem_done(errno != ENOMEM);
    return value;
}

/* The tree of a text whose words and strings have been checked. */
static struct sl_json *build(const char *text, size_t len, int depth_max, struct sl_error *e)
{
    struct json_tokener *tokener = sl_mem_got(json_tokener_new_ex(depth_max + 2));
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS |
                                        JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *value = NULL;
    enum json_tokener_error error = json_tokener_continue;
    size_t end = 0;
    for (size_t at = 0; at < len && error == json_tokener_continue;) {
        size_t next = after_number(text, len, at);
        value = feed(tokener, text + at, next - at);
        error = json_tokener_get_error(tokener);
        end = at + json_tokener_get_parse_end(tokener);
        at = next;
    }
    if (error == json_tokener_continue) {
        end = len;
        value = feed(tokener, "", 1); /* a number may end with the text */
        error =
            json_tokener_get_error(tokener) == json_tokener_success ? json_tokener_success : error;
    }
    json_tokener_free(tokener);
    if (error != json_tokener_success) {
        return refuse(text, end, grammar_problem(error), e);
    }
    end = skip_blank(text, len, end);
    if (end < len || value == NULL) {
        json_object_put(value);
        return refuse(text, end < len ? end : 0,
                      end < len ? "text after the end of the value" : "the value is null", e);
    }
    return (struct sl_json *)value;
}

static struct sl_json *parse(struct scan s, struct sl_error *e)
{
    sl_effort_text(s.len);
    while (s.at < s.len) {
        sl_effort_add(1);
        if (!scan_one(&s)) {
            return refuse(s.text, s.at, s.problem, e);
        }
    }
    return build(s.text, s.len, s.depth_max, e);
}

static bool is_too_large(size_t len, struct sl_error *e)
{
    if (len < INT_MAX) {
        return false;
    }
    sl_error_set(e, SL_CODE_TOO_LARGE, "a JSON text of %zu bytes is too large", len);
    return true;
}

struct sl_json *sl_json_parse(const char *text, size_t len, struct sl_error *e)
{
    if (is_too_large(len, e)) {
        return NULL;
    }
    struct sl_json *plain = sl_json_parse_plain(text, len);
    struct scan s = {.text = text, .len = len, .depth_max = SL_JSON_DEPTH_MAX};
    return plain != NULL ? plain : parse(s, e);
}

struct sl_json *sl_json_parse_repaired(const char *text, size_t len, struct sl_error *e)
{
    struct scan s = {
        .text = text, .len = len, .depth_max = SL_JSON_RECEIVED_DEPTH_MAX, .any_size = true};
    return is_too_large(len, e) ? NULL : parse(s, e);
}
