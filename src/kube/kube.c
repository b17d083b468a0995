/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The client interface over a real API server: one reflector for each kind that is followed, one queue of writes, and
 * one timer that wakes whichever of them has something to do. */
#include "kube/kube.h"

#include <stdio.h>

#include "base/check.h"
#include "base/mem.h"
#include "kube/reflector.h"
#include "kube/writes.h"

struct sl_kube {
    struct sl_kube_options options;
    struct sl_reflector *reflectors[SL_KIND_COUNT]; /* NULL: not followed */
    struct sl_writes *writes;
    struct sl_kube_counters counters;
    unsigned away_count;
    uv_timer_t *timer; /* frees itself when it is closed */
    uint64_t seed;
};

/* --- time ------------------------------------------------------------------------------------ */

static void on_timer(uv_timer_t *timer);

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void wake(void *context)
{
    struct sl_kube *k = context;
    int64_t due_ms = k->writes == NULL ? SL_NEVER_MS : sl_writes_due_ms(k->writes);
    for (size_t i = 0; i < SL_KIND_COUNT; i++) {
        due_ms = k->reflectors[i] == NULL ? due_ms : earlier(due_ms, k->reflectors[i]->due_ms);
    }
    if (due_ms == SL_NEVER_MS) {
        uv_timer_stop(k->timer);
        return;
    }
    int64_t now_ms = (int64_t)uv_now(k->options.loop);
    uv_timer_start(k->timer, on_timer, due_ms > now_ms ? (uint64_t)(due_ms - now_ms) : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct sl_kube *k = timer->data;
    for (size_t i = 0; i < SL_KIND_COUNT; i++) {
        if (k->reflectors[i] != NULL) {
            sl_reflector_step(k->reflectors[i]);
        }
    }
    sl_writes_step(k->writes);
    wake(k);
}

/* --- life ------------------------------------------------------------------------------------ */

static struct sl_cache *cache_of(void *context, enum sl_kind kind)
{
    struct sl_kube *k = context;
    return k->reflectors[kind] == NULL ? NULL : &k->reflectors[kind]->cache;
}

static void doubt(void *context, enum sl_kind kind)
{
    struct sl_kube *k = context;
    sl_reflector_doubt(k->reflectors[kind]);
}

struct sl_kube *sl_kube_new(const struct sl_kube_options *options)
{
    SL_PRE(options->loop != NULL && options->transport != NULL);
    struct sl_kube *k = sl_mem_new(1, sizeof *k);
    k->options = *options;
    k->seed = options->seed;
    k->timer = sl_mem_new(1, sizeof *k->timer);
    int failed = uv_timer_init(options->loop, k->timer);
    SL_ASSERT(failed == 0);
    k->timer->data = k;
    struct sl_writes_options writes = {.kube = &k->options,
                                       .counters = &k->counters,
                                       .cache_of = cache_of,
                                       .doubt = doubt,
                                       .wake = wake,
                                       .context = k};
    k->writes = sl_writes_new(&writes);
    return k;
}

static void on_closed(uv_handle_t *handle)
{
    sl_mem_free(handle);
}

void sl_kube_free(struct sl_kube *k)
{
    if (k == NULL) {
        return;
    }
    sl_writes_free(k->writes);
    for (size_t i = 0; i < SL_KIND_COUNT; i++) {
        if (k->reflectors[i] != NULL) {
            sl_reflector_fini(k->reflectors[i]);
            sl_mem_free(k->reflectors[i]);
        }
    }
    uv_close((uv_handle_t *)k->timer, on_closed);
    sl_mem_free(k);
}

void sl_kube_follow(struct sl_kube *k, enum sl_kind kind)
{
    SL_PRE(kind < sl_kind_end());
    if (k->reflectors[kind] != NULL) {
        return;
    }
    struct sl_reflector *r = sl_mem_new(1, sizeof *r);
    *r = (struct sl_reflector){.transport = k->options.transport,
                               .counters = &k->counters,
                               .away_count = &k->away_count,
                               .loop = k->options.loop,
                               .item = {.all_jobs = k->options.all_jobs},
                               .wake = wake,
                               .wake_context = k};
    k->reflectors[kind] = r;
    sl_reflector_init(r, kind, sl_backoff_random(&k->seed));
}

bool sl_kube_synced(const struct sl_kube *k)
{
    for (size_t i = 0; i < SL_KIND_COUNT; i++) {
        if (k->reflectors[i] != NULL && !k->reflectors[i]->cache.synced) {
            return false;
        }
    }
    return true;
}

void sl_kube_refresh(struct sl_kube *k, enum sl_kind kind)
{
    SL_PRE(kind < sl_kind_end() && k->reflectors[kind] != NULL);
    sl_reflector_refresh(k->reflectors[kind]);
}

size_t sl_kube_unknown(const struct sl_kube *k, enum sl_kind kind)
{
    SL_PRE(kind < sl_kind_end() && k->reflectors[kind] != NULL);
    return k->reflectors[kind]->cache.unknown;
}

bool sl_kube_fresh(const struct sl_kube *k)
{
    for (size_t i = 0; i < SL_KIND_COUNT; i++) {
        if (k->reflectors[i] != NULL && k->reflectors[i]->stale) {
            return false;
        }
    }
    return true;
}

void sl_kube_stop_writing(struct sl_kube *k)
{
    SL_PRE(k != NULL);
    sl_writes_stop(k->writes);
}

void sl_kube_count(const struct sl_kube *k, struct sl_kube_counters *out)
{
    SL_PRE(k != NULL);
    *out = k->counters;
    for (size_t i = 0; i < SL_KIND_COUNT; i++) {
        if (k->reflectors[i] != NULL) {
            out->objects += sl_cache_count(&k->reflectors[i]->cache);
            out->stale_events += k->reflectors[i]->cache.stale;
            out->unreadable += k->reflectors[i]->cache.unreadable;
            out->unknown += k->reflectors[i]->cache.unknown;
            out->kinds_unserved += k->reflectors[i]->unserved ? 1 : 0;
        }
    }
}

/* --- the client interface -------------------------------------------------------------------- */

static enum sl_code client_get(void *self, enum sl_kind kind, const char *ns, const char *name,
                               struct sl_json **out, struct sl_error *e)
{
    const struct sl_kube *k = self;
    const struct sl_reflector *r = k->reflectors[kind];
    char key[SL_ITEM_KEY_SIZE];
    sl_error_clear(e);
    (void)snprintf(key, sizeof key, "%s/%s", ns, name);
    struct sl_json *o = r == NULL ? NULL : sl_cache_get(&r->cache, key, NULL);
    if (o != NULL) {
        *out = o;
        return SL_CODE_OK;
    }
    if (r != NULL && !r->cache.synced) {
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "%s have not been listed yet",
                            sl_kind_info(kind)->plural);
    }
    if (r != NULL && sl_cache_has(&r->cache, key)) {
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "%s \"%s\" exists and cannot be read",
                            sl_kind_info(kind)->plural, name);
    }
    return sl_error_set(e, SL_CODE_NOT_FOUND, "%s \"%s\" not found", sl_kind_info(kind)->plural,
                        name);
}

static enum sl_code client_list(void *self, enum sl_kind kind, const char *ns, sl_visit_fn *visit,
                                void *context, struct sl_error *e)
{
    const struct sl_kube *k = self;
    const struct sl_reflector *r = k->reflectors[kind];
    sl_error_clear(e);
    if (r != NULL && !r->cache.synced) {
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "%s have not been listed yet",
                            sl_kind_info(kind)->plural);
    }
    if (r != NULL) {
        sl_cache_list(&r->cache, ns, visit, context);
    }
    return SL_CODE_OK;
}

/* All at once: 10,000 take a millisecond. */
static enum sl_code client_keys(void *self, enum sl_kind kind, const char *from, sl_key_fn *visit,
                                void *context, char **next, struct sl_error *e)
{
    const struct sl_kube *k = self;
    const struct sl_reflector *r = k->reflectors[kind];
    (void)from;
    *next = NULL;
    sl_error_clear(e);
    if (r != NULL && !r->cache.synced) {
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "%s have not been listed yet",
                            sl_kind_info(kind)->plural);
    }
    if (r != NULL) {
        sl_cache_keys(&r->cache, visit, context);
    }
    return SL_CODE_OK;
}

static void client_watch(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context)
{
    struct sl_kube *k = self;
    sl_kube_follow(k, kind);
    sl_reflector_watch(k->reflectors[kind], fn, context);
}

static void client_write(void *self, const struct sl_write *w, sl_reply_fn *reply, void *context)
{
    struct sl_kube *k = self;
    sl_writes_add(k->writes, w, reply, context);
}

void sl_kube_client(struct sl_kube *k, struct sl_client *out)
{
    *out = (struct sl_client){.self = k,
                              .get = client_get,
                              .list = client_list,
                              .watch = client_watch,
                              .write = client_write,
                              .cached = true,
                              .keys = client_keys};
}
