/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* List and watch, by one curl multi handle for all watches; lists are plain calls. */
#include "cli/remote/watches.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/remote/remote_parts.h"
#include <string.h>

struct collection {
    struct sl_watches *all;
    char *path;
    struct sl_map *objects; /* "namespace/name" to the object */
    char version[64];       /* to watch from; "": to be listed */
    CURL *stream;           /* NULL: not watched yet */
    struct sl_buf url, rest;
};
struct sl_watches {
    struct sl_remote *remote;
    CURLM *multi;
    struct collection items[SL_WATCHES_MAX];
    size_t count;
    bool changed;
};

struct sl_watches *sl_watches_new(struct sl_remote *r)
{
    SL_PRE(r != NULL);
    struct sl_watches *w = sl_mem_new(1, sizeof *w);
    w->remote = r;
    w->multi = curl_multi_init();
    SL_ASSERT(w->multi != NULL);
    return w;
}

void sl_watches_add(struct sl_watches *w, const char *path)
{
    SL_PRE(w->count < SL_WATCHES_MAX);
    struct collection *c = &w->items[w->count++];
    *c = (struct collection){.all = w, .path = sl_mem_text(path), .objects = sl_map_new()};
}

static void end_stream(struct collection *c)
{
    if (c->stream != NULL) {
        curl_multi_remove_handle(c->all->multi, c->stream);
        curl_easy_cleanup(c->stream);
        c->stream = NULL;
    }
    sl_buf_fini(&c->url);
    sl_buf_fini(&c->rest);
}

void sl_watches_free(struct sl_watches *w)
{
    SL_PRE(w != NULL);
    for (size_t i = 0; i < w->count; i++) {
        end_stream(&w->items[i]);
        sl_map_free_with(w->items[i].objects, sl_json_free_value);
        sl_mem_free(w->items[i].path);
    }
    curl_multi_cleanup(w->multi);
    sl_mem_free(w);
}

/* --- objects ------------------------------------------------------------------------------------------- */

static void put(struct collection *c, struct sl_json *object, bool deleted)
{
    struct sl_buf key = {0};
    union sl_map_value old;
    sl_buf_print(&key, "%s/%s", sl_object_namespace(object), sl_object_name(object));
    if (sl_map_get(c->objects, key.data, &old)) {
        sl_json_free(old.pointer);
    }
    if (deleted) {
        (void)sl_map_remove(c->objects, key.data, NULL);
    } else {
        sl_map_put(c->objects, key.data, (union sl_map_value){.pointer = sl_json_ref(object)});
    }
    c->all->changed = true;
    sl_buf_fini(&key);
}

static void see_version(struct collection *c, const struct sl_json *object)
{
    (void)snprintf(c->version, sizeof c->version, "%s", sl_object_resource_version(object));
}

static void see_event(struct collection *c, const char *line, size_t len)
{
    struct sl_json *event = len == 0 ? NULL : sl_json_parse_received(line, len, NULL);
    struct sl_json *object = sl_json_get(event, "object");
    const char *type = sl_json_path_text(event, "type", "");
    if (strcmp(type, "ERROR") == 0) {
        c->version[0] = '\0'; /* too old: the server ends the watch */
    } else if (object != NULL) {
        see_version(c, object);
        if (strcmp(type, "BOOKMARK") != 0) {
            put(c, object, strcmp(type, "DELETED") == 0);
        }
    }
    sl_json_free(event);
}

static size_t take(char *data, size_t size, size_t count, void *context)
{
    struct collection *c = context;
    long http = 0;
    sl_buf_add(&c->rest, data, size * count);
    curl_easy_getinfo(c->stream, CURLINFO_RESPONSE_CODE, &http);
    size_t start = 0;
    const char *end;
    while (http == 200 && start < c->rest.len &&
           (end = memchr(c->rest.data + start, '\n', c->rest.len - start)) != NULL) {
        size_t len = (size_t)(end - c->rest.data) - start;
        see_event(c, c->rest.data + start, len);
        start += len + 1;
    }
    if (start > 0) {
        memmove(c->rest.data, c->rest.data + start, c->rest.len - start + 1);
        c->rest.len -= start;
    }
    return size * count;
}

/* --- list and watch ------------------------------------------------------------------------------------ */

static enum sl_code list(struct collection *c, struct sl_error *e)
{
    struct sl_json *answer = NULL;
    enum sl_code code = sl_remote_get(c->all->remote, c->path, &answer, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    const struct sl_json *items = sl_json_get(answer, "items");
    sl_map_free_with(c->objects, sl_json_free_value);
    c->objects = sl_map_new();
    for (size_t i = 0; i < sl_json_len(items); i++) {
        put(c, sl_json_at(items, i), false);
    }
    c->all->changed = true;
    (void)snprintf(c->version, sizeof c->version, "%s",
                   sl_json_path_text(answer, "metadata.resourceVersion", "0"));
    sl_json_free(answer);
    return SL_CODE_OK;
}

static void watch(struct collection *c)
{
    struct sl_buf path = {0};
    c->stream = curl_easy_init();
    SL_ASSERT(c->stream != NULL);
    sl_buf_print(&path, "%s%cwatch=true&allowWatchBookmarks=true&resourceVersion=%s", c->path,
                 strchr(c->path, '?') == NULL ? '?' : '&', c->version);
    sl_remote_prepare(c->all->remote, c->stream, path.data, &c->url);
    curl_easy_setopt(c->stream, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(c->stream, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(c->stream, CURLOPT_PRIVATE, c);
    curl_multi_add_handle(c->all->multi, c->stream);
    sl_buf_fini(&path);
}

static enum sl_code begin(struct sl_watches *w, struct sl_error *e)
{
    for (size_t i = 0; i < w->count; i++) {
        struct collection *c = &w->items[i];
        enum sl_code code = c->stream == NULL && c->version[0] == '\0' ? list(c, e) : SL_CODE_OK;
        if (code != SL_CODE_OK) {
            return code;
        }
        if (c->stream == NULL) {
            watch(c);
        }
    }
    return SL_CODE_OK;
}

/* A watch has ended: the server may do that at any time, and it goes on from the version it has reached. */
static enum sl_code end_watch(struct collection *c, CURLcode result, struct sl_error *e)
{
    long http = 0;
    enum sl_code code = SL_CODE_OK;
    curl_easy_getinfo(c->stream, CURLINFO_RESPONSE_CODE, &http);
    if (result != CURLE_OK) {
        code = sl_remote_unreachable(c->all->remote, result, e);
    } else if (http == 410) {
        c->version[0] = '\0';
    } else if (http != 200) {
        code = sl_remote_refused(http, &c->rest, e);
    }
    end_stream(c);
    return code;
}

static enum sl_code see_ends(struct sl_watches *w, struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(w->multi, &left)) != NULL;) {
        struct collection *c = NULL;
        CURLcode result = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&c);
        enum sl_code one = end_watch(c, result, e);
        code = one == SL_CODE_OK ? code : one;
    }
    return code;
}

static void forget(struct sl_watches *w)
{
    for (size_t i = 0; i < w->count; i++) {
        end_stream(&w->items[i]);
        w->items[i].version[0] = '\0';
    }
}

enum sl_code sl_watches_wait(struct sl_watches *w, int fd, int64_t ms, struct sl_error *e)
{
    SL_PRE(w != NULL && ms >= 0);
    struct curl_waitfd also = {.fd = fd, .events = CURL_WAIT_POLLIN};
    enum sl_code code = begin(w, e);
    if (code == SL_CODE_OK) {
        int running;
        curl_multi_perform(w->multi, &running);
        curl_multi_poll(w->multi, &also, fd >= 0 ? 1 : 0, (int)ms, NULL);
        curl_multi_perform(w->multi, &running);
        code = see_ends(w, e);
    }
    if (code != SL_CODE_OK) {
        forget(w);
    }
    return code;
}

bool sl_watches_changed(struct sl_watches *w)
{
    bool changed = w->changed;
    w->changed = false;
    return changed;
}

struct sl_json *sl_watches_items_new(const struct sl_watches *w, size_t collection)
{
    SL_PRE(collection < w->count);
    struct sl_json *items = sl_json_new_list();
    for (struct sl_map_item e = {0}; sl_map_each(w->items[collection].objects, &e);) {
        sl_json_append(items, sl_json_ref(e.value.pointer));
    }
    return items;
}
