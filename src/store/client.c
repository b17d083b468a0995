/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The client interface over the store in this process: reads see what is staged, writes are
 * answered after the commit that made them durable (a refusal comes at the same time, and is none
 * when what it was judged by is lost), or ahead of it (ahead.c); watches start from a durable state. */
#include "store/internal.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#define KEYS_AT_ONCE 256u
#define KEYS_WORK 5000u

static enum sl_code client_get(void *self, enum sl_kind kind, const char *ns, const char *name,
                               struct sl_json **out, struct sl_error *e)
{
    return sl_store_get(self, kind, ns, name, out, e);
}

static enum sl_code client_list(void *self, enum sl_kind kind, const char *ns, sl_visit_fn *visit,
                                void *context, struct sl_error *e)
{
    struct sl_store_list q = {.kind = kind, .ns = ns};
    return sl_store_list(self, &q, visit, context, NULL, NULL, e);
}

/* Rows are read whole, but not parsed: a part is some milliseconds at most. */
static enum sl_code client_keys(void *self, enum sl_kind kind, const char *from, sl_key_fn *visit,
                                void *context, char **next, struct sl_error *e)
{
    const struct sl_store_list q = {.kind = kind,
                                    .ns = "",
                                    .scan_max = KEYS_AT_ONCE,
                                    .work_max = KEYS_WORK,
                                    .continue_token = from};
    *next = NULL;
    return sl_store_list_keys(self, &q, visit, context, next, e);
}

struct initial {
    sl_watch_fn *fn;
    void *context;
    enum sl_kind kind;
};

static void pass_initial(void *context, struct sl_json *object)
{
    const struct initial *i = context;
    i->fn(i->context, SL_WATCH_ADDED, i->kind, object);
}

/* All that there is, then SYNCED; false when it cannot be read to its end. */
static bool tell_all(struct sl_store *s, const struct sl_store_late *l)
{
    struct sl_error e;
    struct initial initial = {l->fn, l->context, l->kind};
    struct sl_store_list q = {.kind = l->kind, .ns = ""};
    if (sl_store_list(s, &q, pass_initial, &initial, NULL, NULL, &e) != SL_CODE_OK) {
        sl_log(SL_LOG_ERROR, "objects cannot be listed, trying again", "kind",
               sl_kind_info(l->kind)->kind, "reason", e.text, NULL);
        s->late_next_ms = sl_clock_now_ms() + SL_STORE_LATE_RETRY_MS;
        return false;
    }
    l->fn(l->context, SL_WATCH_SYNCED, l->kind, NULL);
    return true;
}

static void client_watch(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context)
{
    struct sl_store *s = self;
    struct sl_error e;
    uint64_t id = 0;
    const struct sl_store_late late = {kind, fn, context};
    /* What is staged could still be lost, and a watch must never show what never was. */
    (void)sl_store_commit(s, NULL);
    bool watched = sl_store_watch(s, kind, s->durable, fn, context, &id, &e) == SL_CODE_OK;
    SL_ASSERT(watched); /* nothing is published before the list is read */
    if (!tell_all(s, &late)) {
        s->late = sl_mem_grow(s->late, s->late_count + 1, sizeof *s->late);
        s->late[s->late_count++] = late;
    }
}

bool sl_client_is_late(const struct sl_store *s)
{
    SL_PRE(s != NULL);
    return s->late_count + s->lost_count > 0 && sl_clock_now_ms() >= s->late_next_ms;
}

/* What was lost and could not be read, and lists. Objects that were passed on before a list broke
 * off are passed on again. A watcher may write, and a list shows what is staged: then the next list
 * waits for the next commit. */
void sl_client_try_late(struct sl_store *s)
{
    if (sl_client_is_late(s) && !sl_db_staged(s)) {
        sl_events_tell_lost(s);
    }
    while (s->late_count > 0 && sl_client_is_late(s) && !sl_db_staged(s) &&
           tell_all(s, &s->late[s->late_count - 1])) {
        s->late_count--;
    }
}

static bool client_durable(void *self, const struct sl_json *object)
{
    return sl_store_is_durable(self, object);
}

/* --- writes ---------------------------------------------------------------------------------- */

struct sl_replies sl_client_take(struct sl_store *s)
{
    SL_PRE(s != NULL);
    struct sl_replies taken = {s->replies, s->reply_count};
    s->replies = NULL;
    s->reply_count = s->reply_cap = 0;
    return taken;
}

void sl_client_answer(struct sl_replies replies, enum sl_code code, const struct sl_error *e)
{
    SL_PRE(replies.count == 0 || replies.at != NULL);
    for (size_t i = 0; i < replies.count; i++) {
        struct sl_store_reply *r = &replies.at[i];
        bool done = r->result != NULL && code == SL_CODE_OK;
        bool lost = code != SL_CODE_OK && (r->result != NULL || r->unsure);
        const struct sl_error *error = lost ? e : &r->error;
        if (r->fn != NULL) {
            r->fn(r->context, done ? SL_CODE_OK : error->code, done ? NULL : error,
                  done ? r->result : NULL);
        }
        sl_json_free(r->result);
    }
    sl_mem_free(replies.at);
}

static void client_write(void *self, const struct sl_write *w, sl_reply_fn *reply, void *context)
{
    struct sl_store *s = self;
    struct sl_store_reply r = {.fn = reply, .context = context, .unsure = sl_db_staged(s)};
    if (s->ahead.losing) {
        (void)sl_error_set(&r.error, SL_CODE_UNAVAILABLE, "what this rests on was lost");
    } else {
        (void)sl_store_apply(s, w, &r.result, &r.error);
    }
    s->replies = sl_mem_reach(s->replies, &s->reply_cap, 64, s->reply_count, sizeof *s->replies);
    s->replies[s->reply_count++] = r;
    if (s->wake != NULL) {
        s->wake(s->wake_context);
    }
}

void sl_store_client(struct sl_store *s, void (*wake)(void *context), void *context,
                     struct sl_client *out)
{
    SL_PRE(out != NULL);
    s->wake = wake;
    s->wake_context = context;
    *out = (struct sl_client){.self = s,
                              .get = client_get,
                              .list = client_list,
                              .watch = client_watch,
                              .write = client_write,
                              .keys = client_keys,
                              .durable = client_durable};
}
