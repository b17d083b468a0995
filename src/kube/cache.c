/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects are kept as their texts, a fraction of what their values take; who asks for one reads it, which costs what
 * a copy of the values would. They are read for watchers only when there are some: a standby has none. */
#include "kube/cache.h"

#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

struct entry {
    uint64_t version;
    uint32_t round; /* of the list that it was last seen in */
    size_t len;
    char text[]; /* and behind its NUL the uid */
};

void sl_cache_init(struct sl_cache *c, enum sl_kind kind)
{
    *c = (struct sl_cache){.kind = kind, .entries = sl_map_new()};
}

void sl_cache_fini(struct sl_cache *c)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (c->entries != NULL && sl_map_next(c->entries, &cursor, &key, &value)) {
        sl_mem_free(value.pointer);
    }
    sl_map_free(c->entries);
    sl_mem_free(c->watchers);
    *c = (struct sl_cache){0};
}

static struct entry *find(const struct sl_cache *c, const char *key)
{
    union sl_map_value value;
    return sl_map_get(c->entries, key, &value) ? value.pointer : NULL;
}

static const char *uid_of(const struct entry *e)
{
    return e->text + e->len + 1;
}

/* Escapes, or members that come twice, may make an object read as another than the one that it is kept as. */
static bool is_as(const char *key, const struct sl_json *o)
{
    const char *ns = sl_object_namespace(o);
    size_t len = strlen(ns);
    return strncmp(key, ns, len) == 0 && key[len] == '/' &&
           strcmp(key + len + 1, sl_object_name(o)) == 0;
}

static struct sl_json *read_entry(const struct sl_cache *c, const char *key, const struct entry *e)
{
    struct sl_error error = {0};
    struct sl_json *o = sl_json_parse_received(e->text, e->len, &error);
    if (o != NULL && !is_as(key, o)) {
        sl_json_free(o);
        o = NULL;
        sl_error_set(&error, SL_CODE_BAD_REQUEST, "it has another name inside");
    }
    if (o == NULL) {
        sl_log(SL_LOG_ERROR, "a cached object cannot be read", "kind", sl_kind_info(c->kind)->kind,
               "key", key, "error", error.text, NULL);
    }
    return o;
}

/* --- telling --------------------------------------------------------------------------------- */

static void tell(const struct sl_cache *c, enum sl_watch_type type, struct sl_json *object)
{
    /* Who begins to watch from within is told of everything there is, this change included. */
    size_t count = c->watcher_count;
    for (size_t i = 0; i < count; i++) {
        c->watchers[i].fn(c->watchers[i].context, type, c->kind, object);
    }
}

static void tell_gone(const struct sl_cache *c, const char *key, const struct entry *e)
{
    struct sl_json *o = c->watcher_count == 0 ? NULL : read_entry(c, key, e);
    if (o != NULL) {
        tell(c, SL_WATCH_DELETED, o);
        sl_json_free(o);
    }
}

void sl_cache_watch(struct sl_cache *c, sl_watch_fn *fn, void *context)
{
    c->watchers = sl_mem_grow(c->watchers, c->watcher_count + 1, sizeof *c->watchers);
    c->watchers[c->watcher_count++] = (struct sl_cache_watcher){fn, context};
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(c->entries, &cursor, &key, &value)) {
        struct sl_json *o = read_entry(c, key, value.pointer);
        if (o != NULL) {
            fn(context, SL_WATCH_ADDED, c->kind, o);
            sl_json_free(o);
        }
    }
    if (c->synced) {
        fn(context, SL_WATCH_SYNCED, c->kind, NULL);
    }
}

/* --- changes --------------------------------------------------------------------------------- */

static struct entry *entry_new(const struct sl_cache *c, const struct sl_item *item)
{
    size_t uid_size = strlen(item->uid) + 1;
    struct entry *e = sl_mem_new(1, sizeof *e + item->text.len + 1 + uid_size);
    *e = (struct entry){.version = item->version, .round = c->round, .len = item->text.len};
    memcpy(e->text, item->text.data, item->text.len);
    memcpy(e->text + item->text.len + 1, item->uid, uid_size);
    return e;
}

static void store(struct sl_cache *c, const struct sl_item *item)
{
    sl_map_put(c->entries, item->key, (union sl_map_value){.pointer = entry_new(c, item)});
}

static void replace(struct sl_cache *c, struct entry *old, struct sl_item *item)
{
    enum sl_watch_type type = SL_WATCH_MODIFIED;
    if (strcmp(uid_of(old), item->uid) != 0) {
        sl_map_remove(c->entries, item->key, NULL);
        tell_gone(c, item->key, old);
        type = SL_WATCH_ADDED;
    }
    sl_mem_free(old);
    store(c, item);
    tell(c, type, item->object);
}

/* An answer to a write may come after the watch has told that the object is gone. */
static bool is_new(const struct sl_cache *c, const struct sl_item *item, enum sl_source source)
{
    return source != SL_FROM_WRITE || item->version > c->watched;
}

/* A server that went back may use a version again. */
static bool differs(const struct entry *e, const struct sl_item *item)
{
    return item->version != e->version || item->text.len != e->len ||
           memcmp(item->text.data, e->text, e->len) != 0;
}

static bool is_readable(const struct sl_cache *c, struct sl_item *item)
{
    const struct sl_json *o = c->watcher_count == 0 ? NULL : sl_item_object(item);
    return c->watcher_count == 0 || (o != NULL && is_as(item->key, o));
}

static void note_version(struct sl_cache *c, const struct sl_item *item, enum sl_source source)
{
    if (source == SL_FROM_WATCH && item->version > c->watched) {
        c->watched = item->version;
    }
    c->newest = item->version > c->newest ? item->version : c->newest;
}

/* `e`: NULL when there is none. */
static void leave_out(struct sl_cache *c, struct entry *e, const struct sl_item *item)
{
    sl_log(SL_LOG_WARN, "an object cannot be read and is left out", "kind",
           sl_kind_info(c->kind)->kind, "key", item->key, NULL);
    if (e != NULL && item->version >= e->version) {
        sl_map_remove(c->entries, item->key, NULL);
        tell_gone(c, item->key, e);
        sl_mem_free(e);
    }
}

void sl_cache_put(struct sl_cache *c, struct sl_item *item, enum sl_source source)
{
    struct entry *e = find(c, item->key);
    note_version(c, item, source);
    if (!is_readable(c, item)) {
        leave_out(c, e, item);
        return;
    }
    if (e == NULL) {
        if (is_new(c, item, source)) {
            store(c, item);
            tell(c, SL_WATCH_ADDED, item->object);
        }
        return;
    }
    /* What was known when the list was asked for is no newer than the list, unless the server has gone back. */
    bool believe = source == SL_FROM_LIST && (c->reset || e->version <= c->asked);
    e->round = source == SL_FROM_LIST ? c->round : e->round;
    if (item->version > e->version || (believe && differs(e, item))) {
        replace(c, e, item);
    } else if (item->version < e->version && source == SL_FROM_WATCH) {
        c->stale++;
    }
}

void sl_cache_remove(struct sl_cache *c, struct sl_item *item)
{
    struct entry *e = find(c, item->key);
    note_version(c, item, SL_FROM_WATCH);
    if (!is_readable(c, item)) {
        leave_out(c, e, item);
    } else if (e != NULL && item->version < e->version) {
        c->stale++;
    } else if (e != NULL) {
        sl_map_remove(c->entries, item->key, NULL);
        sl_mem_free(e);
        tell(c, SL_WATCH_DELETED, item->object);
    }
}

void sl_cache_list_ask(struct sl_cache *c)
{
    c->asked = c->newest;
}

void sl_cache_list_begin(struct sl_cache *c, uint64_t version)
{
    c->round++;
    c->reset = version < c->watched || version < c->asked;
}

void sl_cache_list_end(struct sl_cache *c, uint64_t version)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    c->newest = c->reset ? 0 : c->newest;
    while (sl_map_next(c->entries, &cursor, &key, &value)) {
        struct entry *e = value.pointer;
        if (e->round != c->round && (e->version <= version || c->reset)) {
            char *gone = sl_mem_text(key);
            sl_map_remove(c->entries, gone, NULL);
            tell_gone(c, gone, e);
            sl_mem_free(gone);
            sl_mem_free(e);
        } else if (c->reset && e->version > c->newest) {
            c->newest = e->version;
        }
    }
    c->watched = version;
    c->reset = false;
    if (!c->synced) {
        c->synced = true;
        tell(c, SL_WATCH_SYNCED, NULL);
    }
}

/* --- reading --------------------------------------------------------------------------------- */

struct sl_json *sl_cache_get(const struct sl_cache *c, const char *key, uint64_t *version)
{
    const struct entry *e = find(c, key);
    if (e != NULL && version != NULL) {
        *version = e->version;
    }
    return e == NULL ? NULL : read_entry(c, key, e);
}

void sl_cache_list(const struct sl_cache *c, const char *ns, sl_visit_fn *visit, void *context)
{
    size_t cursor = 0, ns_len = strlen(ns);
    const char *key;
    union sl_map_value value;
    while (sl_map_next(c->entries, &cursor, &key, &value)) {
        bool inside = ns_len == 0 || (strncmp(key, ns, ns_len) == 0 && key[ns_len] == '/');
        struct sl_json *o = inside ? read_entry(c, key, value.pointer) : NULL;
        if (o != NULL) {
            visit(context, o);
            sl_json_free(o);
        }
    }
}

size_t sl_cache_count(const struct sl_cache *c)
{
    return sl_map_count(c->entries);
}
