/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Files of cases: one case, or a list of them. A file that cannot be read is refused as a whole, with the name of the case
 * that is to blame: a list has some twenty-five, and a line number says little in a file of that size. */
#include "base/mem.h"
#include "conformance.h"
#include <stdio.h>
#include <string.h>

/* Where a case of a list is in the text, and what it is called as far as that can be seen. */
struct item {
    size_t start, end;
    char id[64];
};

/* The end of the string that begins at `at`. */
static size_t string_end(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++) {
        at += text[at] == '\\';
    }
    return at < len ? at + 1 : len;
}

static size_t skip_space(const char *text, size_t len, size_t at)
{
    while (at < len && strchr(" \t\r\n", text[at]) != NULL) {
        at++;
    }
    return at;
}

/* Is the string from `at` to `end` a member `id`? Then its value is the item's. */
static void note_id(struct item *m, const char *text, size_t len, size_t at, size_t end)
{
    size_t value = skip_space(text, len, end);
    if (end - at != 4 || memcmp(text + at, "\"id\"", 4) != 0 || value >= len ||
        text[value] != ':') {
        return;
    }
    value = skip_space(text, len, value + 1);
    if (value < len && text[value] == '"') {
        size_t after = string_end(text, len, value);
        (void)snprintf(m->id, sizeof m->id, "%.*s", (int)(after - value - 2), text + value + 1);
    }
}

/* The item that begins at m->start: up to the comma or the bracket that ends it. */
static void measure(struct item *m, const char *text, size_t len)
{
    int depth = 0;
    size_t at = m->start;
    m->id[0] = '\0';
    while (at < len && !(depth == 0 && (text[at] == ',' || text[at] == ']'))) {
        size_t next = text[at] == '"' ? string_end(text, len, at) : at + 1;
        if (depth == 1 && text[at] == '"') {
            note_id(m, text, len, at, next);
        }
        depth += text[at] == '{' || text[at] == '[';
        depth -= text[at] == '}' || text[at] == ']';
        at = next;
    }
    m->end = at;
}

/* Says which case of a list of which the text is malformed it is: the first that cannot be read on its own. */
static void blame(const char *text, size_t len, struct sl_error *e)
{
    struct sl_error why = *e;
    struct item m = {.start = skip_space(text, len, 0)};
    char before[64] = "";
    if (m.start >= len || text[m.start] != '[') {
        return;
    }
    for (size_t number = 1; m.start < len && text[m.start] != ']'; number++) {
        struct sl_error ignored = {0};
        m.start++;
        measure(&m, text, len);
        struct sl_json *value = sl_json_parse(text + m.start, m.end - m.start, &ignored);
        if (value == NULL || m.end == len) {
            sl_error_set(e, why.code, "case %zu, %s%s: %s", number,
                         m.id[0] != '\0' ? m.id : "after ",
                         m.id[0] != '\0'     ? ""
                         : before[0] != '\0' ? before
                                             : "none",
                         why.text);
            sl_json_free(value);
            return;
        }
        sl_json_free(value);
        (void)snprintf(before, sizeof before, "%s", m.id);
        m.start = m.end;
    }
}

/* Does every case say which one it is, and no two the same? */
static bool all_named(const struct sl_json *cases, struct sl_error *e)
{
    const char *before = "none";
    struct sl_json *seen = sl_json_new_map();
    bool good = sl_json_len(cases) > 0;
    if (!good) {
        sl_error_set(e, SL_CODE_BAD_REQUEST, "a list without cases");
    }
    for (size_t i = 0; good && i < sl_json_len(cases); i++) {
        const struct sl_json *c = sl_json_at(cases, i);
        const char *id = sl_json_path_text(c, "id", "");
        good = false;
        if (sl_json_type(c) != SL_JSON_MAP) {
            sl_error_set(e, SL_CODE_BAD_REQUEST, "case %zu, after %s: not an object", i + 1,
                         before);
        } else if (id[0] == '\0') {
            sl_error_set(e, SL_CODE_BAD_REQUEST, "case %zu, after %s: no id", i + 1, before);
        } else if (sl_json_has(seen, id)) {
            sl_error_set(e, SL_CODE_BAD_REQUEST, "case %zu, %s: another one has that id", i + 1,
                         id);
        } else {
            good = true;
        }
        sl_json_set_bool(seen, id, true);
        before = id;
    }
    sl_json_free(seen);
    return good;
}

struct sl_json *conf_cases_new(const char *text, size_t len, struct sl_error *e)
{
    struct sl_json *root = sl_json_parse(text, len, e);
    if (root == NULL) {
        blame(text, len, e);
        return NULL;
    }
    struct sl_json *cases = root;
    if (sl_json_type(root) != SL_JSON_LIST) {
        cases = sl_json_new_list();
        sl_json_append(cases, root);
    }
    if (!all_named(cases, e)) {
        sl_json_free(cases);
        return NULL;
    }
    return cases;
}
