/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The client interface over the store in this process: reads see what is staged, writes are
 * answered after the commit that made them durable (a refusal comes at the same time), watches
 * start from a durable state. */
#include "store/internal.h"

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"

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

static void client_watch(void *self, enum sl_kind kind, sl_watch_fn *fn, void *context)
{
    struct sl_store *s = self;
    struct sl_error e;
    uint64_t revision = 0, id = 0;
    struct initial initial = {fn, context, kind};
    struct sl_store_list q = {.kind = kind, .ns = ""};
    /* What is staged could still be lost, and a watch must never show what never was. */
    (void)sl_store_commit(s, NULL);
    enum sl_code code = sl_store_list(s, &q, pass_initial, &initial, &revision, NULL, &e);
    code = code == SL_CODE_OK ? sl_store_watch(s, kind, revision, fn, context, &id, &e) : code;
    if (code != SL_CODE_OK) {
        sl_log(SL_LOG_ERROR, "watch failed", "kind", sl_kind_info(kind)->kind, "reason", e.text,
               NULL);
        return;
    }
    fn(context, SL_WATCH_SYNCED, kind, NULL);
}

static void client_write(void *self, const struct sl_write *w, sl_reply_fn *reply, void *context)
{
    struct sl_store *s = self;
    struct sl_store_write write = {.verb = w->verb,
                                   .kind = w->kind,
                                   .ns = w->ns,
                                   .name = w->name,
                                   .body = w->body,
                                   .uid = w->uid};
    struct sl_store_reply r = {.fn = reply, .context = context};
    (void)sl_store_apply(s, &write, &r.result, &r.error);
    if (s->reply_count == s->reply_cap) {
        s->reply_cap = s->reply_cap == 0 ? 64 : s->reply_cap * 2;
        s->replies = sl_mem_grow(s->replies, s->reply_cap, sizeof *s->replies);
    }
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
    *out = (struct sl_client){s, client_get, client_list, client_watch, client_write};
}
