/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects are kept as their texts, a fraction of what their values take; reading one costs about as
 * much as a copy of its values would. They are read for watchers only when there are some: a
 * standby has none. */
#include "kube/cache.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

struct entry {
    uint64_t version; /* of the text */
    uint64_t
        unread; /* of a newer state that cannot be read, or of the text when that cannot; 0 = none */
    uint32_t round; /* of the list that it was last seen in */
    bool unknown;   /* the text itself cannot be read */
    size_t len;
    char text[]; /* and behind its NUL the uid */
};

void sl_cache_init(struct sl_cache *c, enum sl_kind kind)
{
    *c = (struct sl_cache){.kind = kind, .entries = sl_map_new()};
}

void sl_cache_fini(struct sl_cache *c)
{
    SL_PRE(c != NULL);
    for (struct sl_map_item e = {0}; c->entries != NULL && sl_map_each(c->entries, &e);) {
        sl_mem_free(e.value.pointer);
    }
    sl_map_free(c->entries);
    sl_mem_free(c->watchers);
    *c = (struct sl_cache){0};
}

static struct entry *find(const struct sl_cache *c, const char *key)
{
    return sl_map_find(c->entries, key);
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
    struct sl_json *o = e->unknown ? NULL : sl_item_read(c->kind, e->text, e->len, &error);
    if (o != NULL && !is_as(key, o)) {
        sl_json_free(o);
        o = NULL;
        sl_error_set(&error, SL_CODE_BAD_REQUEST, "it has another name inside");
    }
    if (o == NULL && !e->unknown) {
        sl_log(SL_LOG_ERROR, "a cached object cannot be read", "kind", sl_kind_info(c->kind)->kind,
               "key", key, "error", error.text, NULL);
    }
    return o;
}

static uint64_t newest_of(const struct entry *e)
{
    return e->unread > e->version ? e->unread : e->version;
}

/* --- telling --------------------------------------------------------------------------------- */

static void tell(const struct sl_cache *c, enum sl_watch_type type, struct sl_json *object)
{
    /* A watch that begins within a callback gets all objects, this change included. */
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

/* All that is known of it for certain. */
static struct sl_json *stub_new(const struct sl_cache *c, const char *key, const struct entry *e)
{
    char version[32];
    char *ns = sl_mem_text(key);
    char *slash = strchr(ns, '/');
    *slash = '\0';
    struct sl_json *o = sl_object_new(c->kind, ns, slash + 1);
    (void)snprintf(version, sizeof version, "%llu", (unsigned long long)newest_of(e));
    sl_json_set_text(sl_json_get(o, "metadata"), "uid", uid_of(e));
    sl_json_set_text(sl_json_get(o, "metadata"), "resourceVersion", version);
    sl_mem_free(ns);
    return o;
}

static void mark_unknown(struct sl_cache *c, struct entry *e)
{
    c->unreadable += e->unread == 0 ? 1 : 0;
    c->unknown++;
    e->unread = newest_of(e);
    e->unknown = true;
}

/* What is known of it may be passed to a new watcher. */
static void tell_first(struct sl_cache *c, const char *key, struct entry *e,
                       const struct sl_cache_watcher *w)
{
    struct sl_json *o = read_entry(c, key, e);
    if (o == NULL && !e->unknown) {
        mark_unknown(c, e);
    }
    if (o != NULL) {
        w->fn(w->context, SL_WATCH_ADDED, c->kind, o);
        sl_json_free(o);
    }
    if (e->unread != 0) {
        o = stub_new(c, key, e);
        w->fn(w->context, SL_WATCH_UNREADABLE, c->kind, o);
        sl_json_free(o);
    }
}

void sl_cache_watch(struct sl_cache *c, sl_watch_fn *fn, void *context)
{
    SL_PRE(c != NULL);
    const struct sl_cache_watcher watcher = {fn, context};
    c->watchers = sl_mem_grow(c->watchers, c->watcher_count + 1, sizeof *c->watchers);
    c->watchers[c->watcher_count++] = watcher;
    for (struct sl_map_item e = {0}; sl_map_each(c->entries, &e);) {
        tell_first(c, e.key, e.value.pointer, &watcher);
    }
    if (c->synced) {
        fn(context, SL_WATCH_SYNCED, c->kind, NULL);
    }
}

/* --- changes --------------------------------------------------------------------------------- */

static struct entry *entry_new(const struct sl_item *item, uint32_t round)
{
    size_t uid_size = strlen(item->uid) + 1;
    struct entry *e = sl_mem_new(1, sizeof *e + item->text.len + 1 + uid_size);
    *e = (struct entry){.version = item->version, .round = round, .len = item->text.len};
    memcpy(e->text, item->text.data, item->text.len);
    memcpy(e->text + item->text.len + 1, item->uid, uid_size);
    return e;
}

static struct entry *store(struct sl_cache *c, const struct sl_item *item, uint32_t round)
{
    struct entry *e = entry_new(item, round);
    sl_map_put(c->entries, item->key, (union sl_map_value){.pointer = e});
    return e;
}

static void forget(struct sl_cache *c, struct entry *e)
{
    c->unreadable -= e->unread != 0 ? 1 : 0;
    c->unknown -= e->unknown ? 1 : 0;
    sl_mem_free(e);
}

/* It was deleted, and watchers that know it are called. */
static void drop(struct sl_cache *c, const char *key, struct entry *e)
{
    sl_map_remove(c->entries, key, NULL);
    tell_gone(c, key, e);
    forget(c, e);
}

/* Only a list says that an object is in it: an answer to a write that comes meanwhile does not. */
static uint32_t round_of(const struct sl_cache *c, enum sl_source source)
{
    return source == SL_FROM_LIST ? c->round : c->round - 1;
}

static void replace(struct sl_cache *c, struct entry *old, struct sl_item *item)
{
    uint32_t round = old->round;
    enum sl_watch_type type = old->unknown ? SL_WATCH_ADDED : SL_WATCH_MODIFIED;
    if (strcmp(uid_of(old), item->uid) != 0) {
        drop(c, item->key, old);
        type = SL_WATCH_ADDED;
    } else {
        forget(c, old);
    }
    (void)store(c, item, round);
    tell(c, type, item->object);
}

/* An answer to a write may come after a watch has shown that the object was deleted, or a list has
 * come without it. */
static bool is_new(const struct sl_cache *c, const struct sl_item *item, enum sl_source source)
{
    return source != SL_FROM_WRITE || (item->version > c->watched && item->version > c->lists);
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

static void tell_unreadable(const struct sl_cache *c, const char *key, const struct entry *e)
{
    struct sl_json *o = stub_new(c, key, e);
    sl_log(SL_LOG_WARN,
           e->unknown ? "an object cannot be read; only its existence is known"
                      : "an object cannot be read; its last known state is kept",
           "kind", sl_kind_info(c->kind)->kind, "key", key, NULL);
    tell(c, SL_WATCH_UNREADABLE, o);
    sl_json_free(o);
}

/* `e`: NULL when there is none. Said once, until it can be read again. */
static void keep_unread(struct sl_cache *c, struct entry *e, const struct sl_item *item,
                        enum sl_source source)
{
    bool another = e != NULL && strcmp(uid_of(e), item->uid) != 0;
    if (e != NULL) {
        e->round = source == SL_FROM_LIST ? c->round : e->round;
        if (item->version <= newest_of(e)) {
            return;
        }
    }
    if (another) {
        drop(c, item->key, e);
        e = NULL;
    }
    if (e == NULL && is_new(c, item, source)) {
        e = store(c, item, round_of(c, source));
        mark_unknown(c, e);
        tell_unreadable(c, item->key, e);
    } else if (e != NULL) {
        bool first = e->unread == 0;
        c->unreadable += first ? 1 : 0;
        e->unread = item->version;
        if (first) {
            tell_unreadable(c, item->key, e);
        }
    }
}

static void put_known(struct sl_cache *c, struct entry *e, struct sl_item *item,
                      enum sl_source source)
{
    /* What was known when the list was asked for is no newer than the list, unless the server has gone back. */
    bool believe = source == SL_FROM_LIST && (c->reset || e->version <= c->asked);
    e->round = source == SL_FROM_LIST ? c->round : e->round;
    bool unread_yet = e->unread != 0 && item->version == newest_of(e); /* it came spoiled before */
    if (item->version > newest_of(e) || unread_yet ||
        (believe && (e->unread != 0 || differs(e, item)))) {
        replace(c, e, item);
    } else if (item->version < e->version && source == SL_FROM_WATCH) {
        c->stale++;
    }
}

void sl_cache_put(struct sl_cache *c, struct sl_item *item, enum sl_source source)
{
    SL_PRE(item != NULL);
    struct entry *e = find(c, item->key);
    note_version(c, item, source);
    if (!is_readable(c, item)) {
        keep_unread(c, e, item, source);
    } else if (e != NULL) {
        put_known(c, e, item, source);
    } else if (is_new(c, item, source)) {
        (void)store(c, item, round_of(c, source));
        tell(c, SL_WATCH_ADDED, item->object);
    }
}

void sl_cache_remove(struct sl_cache *c, struct sl_item *item)
{
    SL_PRE(item != NULL);
    struct entry *e = find(c, item->key);
    note_version(c, item, SL_FROM_WATCH);
    if (e != NULL && item->version < newest_of(e)) {
        c->stale++;
    } else if (e != NULL && !e->unknown && is_readable(c, item)) {
        sl_map_remove(c->entries, item->key, NULL);
        forget(c, e);
        tell(c, SL_WATCH_DELETED, item->object);
    } else if (e != NULL) {
        drop(c, item->key, e);
    }
}

void sl_cache_list_ask(struct sl_cache *c)
{
    SL_PRE(c != NULL);
    c->asked = c->newest;
}

void sl_cache_list_begin(struct sl_cache *c, uint64_t version)
{
    SL_PRE(c != NULL);
    c->round++;
    c->lists = version;
    c->reset = version < c->watched || version < c->asked;
}

static bool is_missing(const struct sl_cache *c, const struct entry *e, uint64_t version)
{
    return e->round != c->round && (newest_of(e) <= version || c->reset);
}

char **sl_cache_missing(const struct sl_cache *c, uint64_t version, size_t *count)
{
    SL_PRE(c != NULL);
    uint32_t cap = 0;
    char **keys = NULL;
    *count = 0;
    for (struct sl_map_item e = {0}; sl_map_each(c->entries, &e);) {
        if (is_missing(c, e.value.pointer, version)) {
            keys = sl_mem_reach(keys, &cap, 16, (uint32_t)*count, sizeof *keys);
            keys[(*count)++] = sl_mem_text(e.key);
        }
    }
    return keys;
}

void sl_cache_vanish(struct sl_cache *c, const char *key, uint64_t version)
{
    struct entry *e = find(c, key);
    if (e != NULL && is_missing(c, e, version)) {
        drop(c, key, e);
    }
}

void sl_cache_list_end(struct sl_cache *c, uint64_t version)
{
    c->newest = c->reset ? 0 : c->newest;
    for (struct sl_map_item e = {0}; c->reset && sl_map_each(c->entries, &e);) {
        uint64_t newest = newest_of(e.value.pointer);
        c->newest = newest > c->newest ? newest : c->newest;
    }
    c->watched = version;
    c->lists = 0;
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
    SL_PRE(c != NULL);
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

void sl_cache_keys(const struct sl_cache *c, sl_key_fn *visit, void *context)
{
    SL_PRE(c != NULL && visit != NULL);
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (sl_map_next(c->entries, &cursor, &key, &value)) {
        char ns[256];
        const char *slash = strchr(key, '/');
        size_t len = slash == NULL ? 0 : (size_t)(slash - key);
        if (len < sizeof ns) {
            memcpy(ns, key, len);
            ns[len] = '\0';
            visit(context, ns, slash == NULL ? key : slash + 1);
        }
    }
}

bool sl_cache_has(const struct sl_cache *c, const char *key)
{
    return find(c, key) != NULL;
}

size_t sl_cache_count(const struct sl_cache *c)
{
    SL_PRE(c != NULL);
    return sl_map_count(c->entries) - c->unknown;
}
