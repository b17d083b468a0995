/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Names that a map of a JSON text has more than once: of their values only the last is kept. */
#include "api/json/json.h"

#include <string.h>

#include "base/effort.h"
#include "base/map.h"
#include "base/mem.h"

#define TOLD_MAX 16u
#define KEY_SHOWN_MAX 100
#define BLANK " \t\r\n"

/* The text has been parsed: it is well-formed, and ends with a NUL. */
struct walk {
    const char *at;
    struct sl_buf path;
    struct sl_json *list;
};
static void visit(struct walk *w);

static size_t names_of(const struct sl_json *v)
{
    enum sl_json_type type = sl_json_type(v);
    if (type != SL_JSON_MAP && type != SL_JSON_LIST) {
        return 0;
    }
    size_t count = type == SL_JSON_MAP ? sl_json_len(v) : 0;
    sl_effort_add(1);
    for (size_t i = 0; type == SL_JSON_LIST && i < sl_json_len(v); i++) {
        count += names_of(sl_json_at(v, i));
    }
    for (struct sl_json_member m = {0}; sl_json_each(v, &m);) {
        count += names_of(m.value);
    }
    return count;
}

static void skip_string(struct walk *w)
{
    for (w->at++; *w->at != '"'; w->at++) {
        w->at += *w->at == '\\';
    }
    w->at++;
}

static void skip_blank(struct walk *w)
{
    w->at += strspn(w->at, BLANK);
}

/* The caller frees it. */
static char *take_name(struct walk *w)
{
    const char *start = w->at;
    skip_string(w);
    size_t len = (size_t)(w->at - start);
    struct sl_json *name = sl_json_parse(start, len, NULL);
    char *text = sl_mem_text(sl_json_text(name, ""));
    sl_json_free(name);
    return text;
}

static void tell(const struct walk *w)
{
    if (sl_json_len(w->list) < TOLD_MAX && !sl_json_has_text(w->list, w->path.data)) {
        sl_json_append(w->list, sl_json_new_text(w->path.data));
    }
}

static void cut(struct walk *w, size_t len)
{
    w->path.len = len;
    if (w->path.data != NULL) {
        w->path.data[len] = '\0';
    }
}

static void visit_map(struct walk *w)
{
    struct sl_map *names = sl_map_new();
    size_t len = w->path.len;
    for (skip_blank(w); *w->at == '"'; skip_blank(w)) {
        char *name = take_name(w);
        sl_effort_add(1);
        sl_buf_print(&w->path, "%s%.*s", len > 0 ? "." : "", KEY_SHOWN_MAX, name);
        if (sl_map_get(names, name, NULL)) {
            tell(w);
        }
        sl_map_put(names, name, (union sl_map_value){.number = 0});
        sl_mem_free(name);
        skip_blank(w);
        w->at++; /* the colon */
        visit(w);
        cut(w, len);
        skip_blank(w);
        w->at += *w->at == ',';
    }
    w->at++;
    sl_map_free(names);
}

static void visit_list(struct walk *w)
{
    size_t len = w->path.len;
    skip_blank(w);
    for (size_t i = 0; *w->at != ']'; i++) {
        sl_buf_print(&w->path, "[%zu]", i);
        visit(w);
        cut(w, len);
        skip_blank(w);
        w->at += *w->at == ',';
        skip_blank(w);
    }
    w->at++;
}

/* As deep as values may be nested. */
static void visit(struct walk *w)
{
    skip_blank(w);
    if (*w->at == '"') {
        skip_string(w);
    } else if (*w->at == '{' || *w->at == '[') {
        bool map = *w->at++ == '{';
        map ? visit_map(w) : visit_list(w);
    } else {
        w->at += strcspn(w->at, BLANK ",]}");
    }
}

struct sl_json *sl_json_twice(const char *text, const struct sl_json *v)
{
    size_t names = 0;
    struct walk w = {.at = text};
    while (*w.at != '\0') {
        if (*w.at == '"') {
            skip_string(&w);
        } else {
            names += *w.at++ == ':';
        }
    }
    sl_effort_text((size_t)(w.at - text));
    if (names == names_of(v)) {
        return NULL;
    }
    w.at = text;
    w.list = sl_json_new_list();
    visit(&w);
    sl_buf_fini(&w.path);
    return w.list;
}
