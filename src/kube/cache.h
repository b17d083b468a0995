/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The objects of one kind as texts, and the watchers of their changes. They come from three sides
 * (lists, watch events, answers to writes), each with a resourceVersion: of two states of an object
 * the newer one is kept, and a deleted object does not come back. Versions are compared as numbers:
 * they count the changes of the store behind the server. */
#ifndef SL_KUBE_CACHE_H
#define SL_KUBE_CACHE_H
#include "api/objects/client.h"
#include "kube/reduce.h"

struct sl_map;
struct sl_cache_watcher {
    sl_watch_fn *fn;
    void *context;
};
struct sl_cache {
    enum sl_kind kind;
    struct sl_map *entries;
    uint64_t watched; /* all events up to this version have been passed on */
    uint64_t lists;   /* the version of the list under way; 0 = none is */
    uint64_t newest;  /* of the versions that objects had */
    uint64_t asked; /* that, when the list under way was asked for: the server is at least as new */
    uint64_t stale; /* events that were older than what is here */
    uint32_t round; /* of listing */
    bool reset;     /* the list under way belongs to an older state of the server: believe it all */
    bool synced;    /* has been listed once */
    size_t unreadable; /* objects whose newest state cannot be read */
    size_t unknown;    /* of these, those of which no state could be read */
    struct sl_cache_watcher *watchers;
    size_t watcher_count;
};
enum sl_source { SL_FROM_LIST, SL_FROM_WATCH, SL_FROM_WRITE };

void sl_cache_init(struct sl_cache *c, enum sl_kind kind);
void sl_cache_fini(struct sl_cache *c);
/* One that cannot be read does not count as deleted: its last readable state is kept, or only its
 * existence, and watchers get UNREADABLE. Without watchers nothing is read, and the first watcher
 * gets it. */
void sl_cache_put(struct sl_cache *c, struct sl_item *item, enum sl_source source);
/* A watch says that it was deleted; `item` is its last state. */
void sl_cache_remove(struct sl_cache *c, struct sl_item *item);
/* A list is asked for. */
void sl_cache_list_ask(struct sl_cache *c);
/* It begins, and its objects are as of `version`. */
void sl_cache_list_begin(struct sl_cache *c, uint64_t version);
/* All pages have come: the keys of what is in none of them and should be if it existed. They stay until each has been
 * asked for by itself, and it was said that there is no such object. Caller frees the keys and the array, NULL when there
 * are none. */
char **sl_cache_missing(const struct sl_cache *c, uint64_t version, size_t *count);
void sl_cache_vanish(struct sl_cache *c, const char *key, uint64_t version);
void sl_cache_list_end(struct sl_cache *c, uint64_t version);
void sl_cache_watch(struct sl_cache *c, sl_watch_fn *fn, void *context);

/* NULL: none that can be read. Else the object, which the caller frees. */
struct sl_json *sl_cache_get(const struct sl_cache *c, const char *key, uint64_t *version);
bool sl_cache_has(const struct sl_cache *c, const char *key); /* readable or not */
void sl_cache_list(const struct sl_cache *c, const char *ns, sl_visit_fn *visit, void *context);
/* Those that there are, whether they can be read or not. */
void sl_cache_keys(const struct sl_cache *c, sl_key_fn *visit, void *context);
size_t sl_cache_count(const struct sl_cache *c); /* of those that can be read */
#endif
