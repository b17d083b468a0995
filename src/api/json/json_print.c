/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values to texts: compact JSON in the members' order; pretty JSON and YAML with sorted keys, as
 * kubectl prints. Our own printer, since json-c's keeps a copy of what it printed inside every
 * value. */
#include "api/json/json.h"

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/yaml_scalar.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/effort.h"

#define SIMPLE_KEY_MAX 128u
#define ODD_SIZE 8u /* of a character that is printed in another way */
#define PIECE_BYTES 256u

struct member {
    const char *key;
    const struct sl_json *value;
};

/* The letter that represents a character behind a backslash; 0: none does. */
static char escape_of(char c)
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    default:
        return '\0';
    }
}

/* A character that a YAML document cannot hold as it is: C0, DEL, C1, a line break beyond ASCII (readers fold lines
 * there), a byte order mark or what is no character. Its code point, or 0. */
static unsigned special_at(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    if (u[0] < 0x20 || u[0] == 0x7f) {
        return u[0];
    }
    if (u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0) {
        return u[1];
    }
    bool three = (u[0] == 0xe2 || u[0] == 0xef) && u[1] >= 0x80 && u[2] >= 0x80;
    unsigned c = three ? (u[0] & 0xfu) << 12 | (u[1] & 0x3fu) << 6 | (u[2] & 0x3fu) : 0;
    return c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff ? c : 0;
}

/* Of ASCII, and as it is in a JSON string: nearly every byte. */
static bool is_plain(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/* The character at `p`, which is not plain: as it is, escaped, or replaced. Its length; what it becomes goes to `out`. */
static size_t print_odd(const char *p, char out[static ODD_SIZE], size_t *size)
{
    unsigned c = special_at(p);
    size_t len = sl_utf8_len(p, SIZE_MAX);
    if (escape_of(*p) != '\0') {
        out[0] = '\\';
        out[1] = escape_of(*p);
        *size = 2;
    } else if (len == 0) {
        *size = strlen(SL_UTF8_REPLACEMENT);
        memcpy(out, SL_UTF8_REPLACEMENT, *size);
    } else if (c != 0) {
        *size = (size_t)snprintf(out, ODD_SIZE, "\\u%04x", c);
    } else {
        *size = len;
        memcpy(out, p, len);
    }
    return len > 0 ? len : 1;
}

/* The last door of everything that is stored, sent or answered: what comes out is UTF-8, whatever a value was made of. */
static void print_text(const char *text, struct sl_buf *out)
{
    char piece[PIECE_BYTES];
    size_t filled = 0;
    piece[filled++] = '"';
    const char *p = text;
    while (*p != '\0') {
        if (is_plain(*p)) {
            piece[filled++] = *p++;
        } else {
            size_t size = 0;
            p += print_odd(p, piece + filled, &size);
            filled += size;
        }
        if (filled > PIECE_BYTES - ODD_SIZE) {
            sl_buf_add(out, piece, filled);
            filled = 0;
        }
    }
    sl_effort_text((size_t)(p - text));
    piece[filled++] = '"';
    sl_buf_add(out, piece, filled);
}

static void print_scalar(const struct sl_json *v, struct sl_buf *out)
{
    switch (sl_json_type(v)) {
    case SL_JSON_TEXT:
        print_text(sl_json_text(v, ""), out);
        break;
    case SL_JSON_INT:
        sl_buf_print(out, "%lld", (long long)sl_json_int(v, 0));
        break;
    case SL_JSON_BOOL:
        sl_buf_text(out, sl_json_bool(v, false) ? "true" : "false");
        break;
    case SL_JSON_DOUBLE:
        sl_buf_text(out, sl_mem_got((void *)(uintptr_t)json_object_to_json_string(
                             (struct json_object *)(uintptr_t)v)));
        break;
    default:
        sl_buf_text(out, "null");
        break;
    }
}

void sl_json_print(const struct sl_json *v, struct sl_buf *out)
{
    enum sl_json_type type = sl_json_type(v);
    sl_effort_add(1);
    if (type == SL_JSON_MAP) {
        void *it = NULL;
        const char *key, *separator = "{";
        struct sl_json *value;
        while (sl_json_next(v, &it, &key, &value)) {
            sl_buf_text(out, separator);
            separator = ",";
            print_text(key, out);
            sl_buf_add(out, ":", 1);
            sl_json_print(value, out);
        }
        sl_buf_text(out, *separator == '{' ? "{}" : "}");
    } else if (type == SL_JSON_LIST) {
        sl_buf_add(out, "[", 1);
        for (size_t i = 0; i < sl_json_len(v); i++) {
            sl_buf_text(out, i > 0 ? "," : "");
            sl_json_print(sl_json_at(v, i), out);
        }
        sl_buf_add(out, "]", 1);
    } else {
        print_scalar(v, out);
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

/* A map's members in the order of their keys; sl_mem_free it. */
static struct member *sorted(const struct sl_json *v)
{
    struct member *members = sl_mem_new(sl_json_len(v), sizeof *members);
    size_t count = 0;
    sl_effort_add(sl_json_len(v));
    for (struct sl_json_member m = {0}; sl_json_each(v, &m);) {
        members[count++] = (struct member){m.key, m.value};
    }
    qsort(members, count, sizeof *members, by_key);
    return members;
}

static void indent(struct sl_buf *out, unsigned columns)
{
    sl_buf_print(out, "%*s", (int)columns, "");
}

static bool is_container(const struct sl_json *v)
{
    return (sl_json_type(v) == SL_JSON_MAP || sl_json_type(v) == SL_JSON_LIST) &&
           sl_json_len(v) > 0;
}

static void print_pretty(const struct sl_json *v, unsigned columns, struct sl_buf *out)
{
    if (!is_container(v)) {
        sl_json_print(v, out);
        return;
    }
    bool map = sl_json_type(v) == SL_JSON_MAP;
    struct member *members = map ? sorted(v) : NULL;
    sl_buf_text(out, map ? "{\n" : "[\n");
    for (size_t i = 0; i < sl_json_len(v); i++) {
        sl_buf_text(out, i > 0 ? ",\n" : "");
        indent(out, columns + 4);
        if (map) {
            print_text(members[i].key, out);
            sl_buf_text(out, ": ");
        }
        print_pretty(map ? members[i].value : sl_json_at(v, i), columns + 4, out);
    }
    sl_mem_free(members);
    sl_buf_text(out, "\n");
    indent(out, columns);
    sl_buf_text(out, map ? "}" : "]");
}

void sl_json_print_pretty(const struct sl_json *v, struct sl_buf *out)
{
    print_pretty(v, 0, out);
    sl_buf_text(out, "\n");
}

/* Whether the grammar allows `text` without quotes. */
static bool plain_syntax(const char *text)
{
    size_t len = strlen(text);
    if (len == 0 || strchr("!&*{}[]#|>@`'\"%,", text[0]) != NULL || text[0] == ' ' ||
        text[len - 1] == ' ' || text[len - 1] == ':') {
        return false;
    }
    if (strchr("-?:", text[0]) != NULL && (text[1] == ' ' || text[1] == '\0')) {
        return false;
    }
    if (strncmp(text, "---", 3) == 0 || strncmp(text, "...", 3) == 0) {
        return false;
    }
    return strstr(text, ": ") == NULL && strstr(text, " #") == NULL;
}

/* The length of the character that begins there, if YAML allows it unescaped; else 0. */
static size_t printable_len(const char *p)
{
    return special_at(p) == 0 ? sl_utf8_len(p, SIZE_MAX) : 0;
}

static bool is_printable(const char *text)
{
    size_t len = 1;
    while (*text != '\0' && len > 0) {
        len = printable_len(text);
        text += len;
    }
    return *text == '\0';
}

/* Lines that a literal block can hold: printable, none that starts or ends with a blank. */
static bool fits_block(const char *text)
{
    if (strchr(text, '\n') == NULL || text[0] == ' ' || text[0] == '\n') {
        return false;
    }
    for (const char *p = text; *p != '\0';) {
        bool blank_end = *p == ' ' && (p[1] == '\n' || p[1] == '\0');
        size_t len = *p == '\n' ? 1 : printable_len(p);
        if (blank_end || len == 0) {
            return false;
        }
        p += len;
    }
    return true;
}

static void print_block(const char *text, unsigned columns, struct sl_buf *out)
{
    size_t len = strlen(text);
    bool one_end = text[len - 1] == '\n';
    bool more_ends = one_end && len > 1 && text[len - 2] == '\n';
    sl_buf_text(out, !one_end ? "|-" : more_ends ? "|+" : "|");
    while (*text != '\0') {
        size_t line = strcspn(text, "\n");
        sl_buf_text(out, "\n");
        if (line > 0) {
            indent(out, columns);
            sl_buf_add(out, text, line);
        }
        text += line;
        text += *text == '\n';
    }
}

static void print_single_quoted(const char *text, struct sl_buf *out)
{
    sl_buf_text(out, "'");
    for (; *text != '\0'; text++) {
        sl_buf_text(out, *text == '\'' ? "'" : "");
        sl_buf_add(out, text, 1);
    }
    sl_buf_text(out, "'");
}

static void print_yaml_text(const char *text, unsigned columns, struct sl_buf *out)
{
    if (fits_block(text)) {
        print_block(text, columns, out);
    } else if (!is_printable(text) || sl_yaml_resolve(text).kind != SL_YAML_TEXT ||
               strcmp(text, "<<") == 0 || strcmp(text, "=") == 0) {
        print_text(text, out);
    } else if (plain_syntax(text)) {
        sl_buf_text(out, text);
    } else {
        print_single_quoted(text, out);
    }
}

/* Readers look for the colon behind a key within 1024 characters; a key longer than SIMPLE_KEY_MAX
 * gets a line of its own, as in kubectl. */
static void print_yaml_key(const char *key, unsigned columns, struct sl_buf *out)
{
    bool simple = strlen(key) <= SIMPLE_KEY_MAX;
    sl_buf_text(out, simple ? "" : "? ");
    if (!is_printable(key)) {
        print_text(key, out); /* a key must stay on one line */
    } else {
        print_yaml_text(key, columns, out);
    }
    if (!simple) {
        sl_buf_text(out, "\n");
        indent(out, columns);
    }
    sl_buf_text(out, ":");
}

static void print_yaml(const struct sl_json *v, unsigned columns, struct sl_buf *out);

static void print_yaml_map(const struct sl_json *v, unsigned columns, struct sl_buf *out)
{
    struct member *members = sorted(v);
    for (size_t i = 0; i < sl_json_len(v); i++) {
        const struct sl_json *value = members[i].value;
        if (i > 0) {
            sl_buf_text(out, "\n");
            indent(out, columns);
        }
        print_yaml_key(members[i].key, columns, out);
        if (is_container(value)) {
            bool list = sl_json_type(value) == SL_JSON_LIST;
            unsigned inner = list ? columns : columns + 2;
            sl_buf_text(out, "\n");
            indent(out, inner);
            print_yaml(value, inner, out);
        } else {
            sl_buf_text(out, " ");
            print_yaml(value, columns + 2, out);
        }
    }
    sl_mem_free(members);
}

/* Starts at the cursor, in column `columns`; writes no newline at the end. */
static void print_yaml(const struct sl_json *v, unsigned columns, struct sl_buf *out)
{
    if (sl_json_type(v) == SL_JSON_TEXT) {
        print_yaml_text(sl_json_text(v, ""), columns, out);
    } else if (!is_container(v)) {
        sl_json_print(v, out);
    } else if (sl_json_type(v) == SL_JSON_MAP) {
        print_yaml_map(v, columns, out);
    } else {
        for (size_t i = 0; i < sl_json_len(v); i++) {
            if (i > 0) {
                sl_buf_text(out, "\n");
                indent(out, columns);
            }
            sl_buf_text(out, "- ");
            print_yaml(sl_json_at(v, i), columns + 2, out);
        }
    }
}

void sl_json_print_yaml(const struct sl_json *v, struct sl_buf *out)
{
    /* The lines of a text are indented more than its document, where "---" would begin another
     * one. */
    print_yaml(v, sl_json_type(v) == SL_JSON_TEXT ? 2 : 0, out);
    sl_buf_text(out, "\n");
}

double sl_json_real(const struct sl_json *v)
{
    struct sl_buf text = {0};
    sl_json_print(v, &text);
    double n = strtod(text.data == NULL ? "0" : text.data, NULL);
    sl_buf_fini(&text);
    return n;
}
