/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/seen.h"

#include <string.h>

#include "fuzz/lib/check.h"

enum { KEY_SIZE = 1024 };

static struct sl_json *versions; /* by kind, namespace and name */
static uint64_t newest;          /* of all answers */
static char token[300], uid[64], version[32];

void seen_open(void)
{
    versions = sl_json_new_map();
    newest = 0;
    token[0] = uid[0] = '\0';
}

void seen_close(void)
{
    sl_json_free(versions);
}

const char *seen_token(void)
{
    return token;
}

const char *seen_uid(void)
{
    return uid;
}

static const char *key_of(char out[static KEY_SIZE], const char *head, const char *ns,
                          const char *name)
{
    (void)snprintf(out, KEY_SIZE, "%s/%s/%s", head, ns, name);
    return out;
}

const char *seen_version(enum sl_kind kind, const char *ns, const char *name)
{
    char key[KEY_SIZE];
    (void)key_of(key, sl_kind_info(kind)->kind, ns, name);
    (void)snprintf(version, sizeof version, "%s", sl_json_text(sl_json_get(versions, key), ""));
    return version;
}

static uint64_t number(const char *text)
{
    char *end = NULL;
    uint64_t n = strtoull(text, &end, 10);
    CHECK(*text >= '0' && *text <= '9' && *end == '\0');
    return n;
}

/* --- answers --------------------------------------------------------------------------------- */

static void check_status(const struct sl_json *v, int status)
{
    CHECK(strcmp(sl_json_path_text(v, "kind", ""), "Status") == 0);
    CHECK(strcmp(sl_json_path_text(v, "apiVersion", ""), "v1") == 0);
    CHECK(strcmp(sl_json_path_text(v, "status", ""), "Failure") == 0);
    CHECK(sl_json_path_int(v, "code", 0) == status);
    CHECK(sl_json_path_text(v, "message", "")[0] != '\0');
    CHECK(sl_json_path_text(v, "reason", "")[0] != '\0');
    const struct sl_json *causes = sl_json_path(v, "details.causes");
    for (size_t i = 0; i < sl_json_len(causes); i++) {
        CHECK(sl_json_path_text(sl_json_at(causes, i), "message", "")[0] != '\0');
    }
}

/* An object shows no older state than it did before. */
static void see_object(const struct sl_json *o)
{
    char key[KEY_SIZE];
    const char *kind = sl_json_path_text(o, "kind", "");
    enum sl_kind known = sl_kind_find_object(sl_json_path_text(o, "apiVersion", ""), kind);
    const char *now = sl_object_resource_version(o);
    if (known == SL_KIND_COUNT || sl_object_uid(o)[0] == '\0') {
        return;
    }
    (void)key_of(key, kind, sl_object_namespace(o), sl_object_name(o));
    const char *before = sl_json_text(sl_json_get(versions, key), "0");
    CHECK(number(now) >= number(before));
    newest = number(now) > newest ? number(now) : newest;
    sl_json_set_text(versions, key, now);
    (void)snprintf(uid, sizeof uid, "%s", sl_object_uid(o));
}

static void see_list(const struct sl_json *v, const struct sl_json *items)
{
    uint64_t now = number(sl_json_path_text(v, "metadata.resourceVersion", ""));
    CHECK(now >= newest);
    newest = now;
    (void)snprintf(token, sizeof token, "%s", sl_json_path_text(v, "metadata.continue", ""));
    for (size_t i = 0; i < sl_json_len(items); i++) {
        CHECK(number(sl_object_resource_version(sl_json_at(items, i))) <= now);
        see_object(sl_json_at(items, i));
    }
}

static void check_table(const struct sl_json *v)
{
    size_t columns = sl_json_len(sl_json_get(v, "columnDefinitions"));
    const struct sl_json *rows = sl_json_get(v, "rows");
    CHECK(sl_json_type(rows) == SL_JSON_LIST);
    for (size_t i = 0; i < sl_json_len(rows); i++) {
        CHECK(sl_json_len(sl_json_path(sl_json_at(rows, i), "cells")) == columns);
    }
}

static void see_value(const struct sl_json *v)
{
    const struct sl_json *items = sl_json_get(v, "items");
    const char *kind = sl_json_path_text(v, "kind", "");
    size_t len = strlen(kind);
    if (strcmp(kind, "Table") == 0) {
        check_table(v);
    } else if (sl_json_type(items) == SL_JSON_LIST && len > 4 &&
               strcmp(kind + len - 4, "List") == 0 && sl_json_path(v, "metadata.resourceVersion")) {
        see_list(v, items);
    } else {
        see_object(v);
    }
}

static struct sl_json *parse(const struct web *w)
{
    struct sl_error e = {0};
    const char *text = w->body.data == NULL ? "" : w->body.data;
    if (strncmp(w->type, "application/yaml", 16) != 0) {
        CHECK(strncmp(w->type, "application/json", 16) == 0);
        return sl_json_parse(text, w->body.len, &e);
    }
    struct sl_json *all = sl_json_parse_yaml(text, w->body.len, &e);
    CHECK(sl_json_len(all) == 1);
    struct sl_json *one = sl_json_ref(sl_json_at(all, 0));
    sl_json_free(all);
    return one;
}

void seen_answer(const struct web *w, bool lasts)
{
    CHECK(w->status >= 200);
    if (w->bodiless) {
        CHECK(w->body.len == 0);
        return;
    }
    if (w->status < 300 && strncmp(w->type, "text/plain", 10) == 0) {
        CHECK(w->body.len > 0);
        return;
    }
    struct sl_json *v = parse(w);
    CHECK(sl_json_type(v) == SL_JSON_MAP);
    if (w->status >= 400) {
        check_status(v, w->status);
    } else if (lasts) {
        see_value(v);
    }
    sl_json_free(v);
}

/* --- watches --------------------------------------------------------------------------------- */

void seen_watch_init(struct seen_watch *w, const struct ask *a)
{
    bool initial = strstr(a->uri, "sendInitialEvents=true") != NULL;
    const char *since = strstr(a->uri, "resourceVersion=");
    *w = (struct seen_watch){.objects = sl_json_new_map(), .all = !a->since};
    if (a->since && !initial && since != NULL) {
        w->floor = strtoull(since + 16, NULL, 10);
    }
}

void seen_watch_fini(struct seen_watch *w)
{
    sl_json_free(w->objects);
    *w = (struct seen_watch){.at = 0};
}

static void take_mark(struct seen_watch *w, const struct sl_json *o)
{
    uint64_t now = number(sl_object_resource_version(o));
    CHECK(now >= w->newest && now >= w->floor);
    w->floor = w->newest = now;
}

/* What a row of a table carries may be nothing: then nobody knows what is there. */
static const struct sl_json *shown(struct seen_watch *w, const struct sl_json *o)
{
    if (strcmp(sl_json_path_text(o, "kind", ""), "Table") != 0) {
        return o;
    }
    check_table(o);
    const struct sl_json *object = sl_json_path(o, "rows.0.object");
    w->all = w->all && object != NULL;
    return object;
}

static void take_object(struct seen_watch *w, const char *type, const struct sl_json *o)
{
    char key[KEY_SIZE];
    if (o == NULL) {
        return;
    }
    (void)key_of(key, "", sl_object_namespace(o), sl_object_name(o));
    const char *before = sl_json_text(sl_json_get(w->objects, key), "0");
    uint64_t now = number(sl_object_resource_version(o));
    CHECK(now > w->floor && now > number(before));
    CHECK(!w->all || sl_json_has(w->objects, key) == (strcmp(type, "ADDED") != 0));
    w->newest = now > w->newest ? now : w->newest;
    if (strcmp(type, "DELETED") == 0) {
        sl_json_remove(w->objects, key);
        return;
    }
    CHECK(strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0);
    sl_json_set_text(w->objects, key, sl_object_resource_version(o));
}

static void take_line(struct seen_watch *w, const char *line, size_t len)
{
    struct sl_json *v = sl_json_parse(line, len, NULL);
    const char *type = sl_json_path_text(v, "type", "");
    const struct sl_json *o = sl_json_get(v, "object");
    CHECK(sl_json_type(o) == SL_JSON_MAP && !w->ended);
    if (strcmp(type, "ERROR") == 0) {
        check_status(o, (int)sl_json_path_int(o, "code", 0));
        w->ended = true;
    } else if (strcmp(type, "BOOKMARK") == 0) {
        take_mark(w, o);
    } else {
        take_object(w, type, shown(w, o));
    }
    sl_json_free(v);
}

void seen_watch_take(struct seen_watch *w, const struct sl_buf *body)
{
    const char *end;
    while (body->len > w->at &&
           (end = memchr(body->data + w->at, '\n', body->len - w->at)) != NULL) {
        size_t next = (size_t)(end - body->data) + 1;
        take_line(w, body->data + w->at, next - 1 - w->at);
        w->at = next;
    }
}

static void compare_one(const struct seen_watch *w, const struct sl_json *o)
{
    char key[KEY_SIZE];
    (void)key_of(key, "", sl_object_namespace(o), sl_object_name(o));
    const char *told = sl_json_text(sl_json_get(w->objects, key), "");
    CHECK(strcmp(told, sl_object_resource_version(o)) == 0);
}

void seen_watch_compare(const struct seen_watch *w, const struct sl_json *now)
{
    const struct sl_json *items = sl_json_get(now, "items");
    size_t count = sl_json_len(items);
    for (size_t i = 0; i < count; i++) {
        compare_one(w, sl_json_at(items, i));
    }
    if (items == NULL && sl_object_uid(now)[0] != '\0') {
        compare_one(w, now);
        count = 1;
    }
    CHECK(count == sl_json_len(w->objects));
}
