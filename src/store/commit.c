/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The store as a whole: open and close, one write staged in a savepoint of its own, and the commit
 * that makes a batch durable, publishes it and answers its clients, or loses all of it together. */
#include "store/internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

/* --- open and close -------------------------------------------------------------------------- */

static enum sl_code ensure_default_namespace(struct sl_store *s, struct sl_error *e)
{
    if (sl_rows_has(s, SL_KIND_NAMESPACE, "", "default", NULL)) {
        return SL_CODE_OK;
    }
    if (s->unread.code != SL_CODE_OK) {
        *e = s->unread;
        return e->code;
    }
    struct sl_json *result = NULL, *ns = sl_object_new(SL_KIND_NAMESPACE, "", "default");
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = SL_KIND_NAMESPACE, .ns = "", .name = "default", .body = ns};
    enum sl_code code = sl_store_apply(s, &w, &result, e);
    code = code == SL_CODE_OK ? sl_store_commit(s, e) : code;
    sl_json_free(result);
    sl_json_free(ns);
    return code;
}

enum sl_code sl_store_open(const char *dir, struct sl_store **out, struct sl_error *e)
{
    SL_PRE(dir != NULL && out != NULL);
    sl_error_clear(e);
    struct sl_store *s = sl_mem_new(1, sizeof *s);
    enum sl_code code = sl_db_open(s, dir, e);
    sl_events_open(&s->log, s->revision);
    if (code == SL_CODE_OK &&
        getrandom(&s->random, sizeof s->random, 0) != (ssize_t)sizeof s->random) {
        code = sl_error_set(e, SL_CODE_INTERNAL, "the system gave no random numbers");
    }
    code = code == SL_CODE_OK ? ensure_default_namespace(s, e) : code;
    code = code == SL_CODE_OK ? sl_definitions_open(s, e) : code;
    if (code != SL_CODE_OK) {
        sl_store_close(s);
        return code;
    }
    *out = s;
    return SL_CODE_OK;
}

void sl_store_close(struct sl_store *s)
{
    SL_PRE(!s->in_commit && !s->log.publishing);
    if (s->db != NULL) {
        sl_db_rollback(s);
    }
    sl_definitions_close(s);
    for (size_t i = 0; i < s->reply_count; i++) {
        sl_json_free(s->replies[i].result);
    }
    sl_mem_free(s->replies);
    sl_mem_free(s->watchers);
    sl_snapshot_close(s);
    sl_mem_free(s->late);
    sl_events_forget_lost(s);
    sl_buf_fini(&s->text);
    sl_events_close(&s->log);
    sl_db_close(s);
    sl_note_close(s, s->damage.code == SL_CODE_OK);
    sl_mem_free(s);
}

void sl_store_seed(struct sl_store *s, uint64_t seed)
{
    SL_PRE(s != NULL);
    s->random = seed;
}

void sl_store_set_size_max(struct sl_store *s, uint64_t bytes)
{
    char sql[96];
    const uint64_t page_bytes = 4096, pages_max = 4294967294;
    uint64_t pages =
        bytes == 0 || bytes / page_bytes > pages_max ? pages_max : bytes / page_bytes + 1;
    (void)snprintf(sql, sizeof sql, "PRAGMA max_page_count = %llu", (unsigned long long)pages);
    int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    SL_ASSERT(rc == SQLITE_OK);
}

uint64_t sl_store_revision(const struct sl_store *s)
{
    SL_PRE(s != NULL);
    return s->revision;
}

uint64_t sl_store_durable(const struct sl_store *s)
{
    SL_PRE(s != NULL);
    return s->durable;
}

enum sl_code sl_store_get(struct sl_store *s, enum sl_kind kind, const char *ns, const char *name,
                          struct sl_json **out, struct sl_error *e)
{
    SL_PRE(out != NULL);
    sl_error_clear(e);
    return sl_rows_get(s, kind, ns, name, out, e);
}

/* --- staging --------------------------------------------------------------------------------- */

struct mark {
    uint64_t revision;
    bool work_pending, bookkeeping;
};

static void forget(struct sl_store *s, const struct mark *mark)
{
    s->revision = mark->revision;
    s->work_pending = mark->work_pending;
    s->bookkeeping = mark->bookkeeping;
    sl_events_truncate(&s->log, mark->revision);
    sl_snapshot_lose(s, mark->revision);
}

/* SQLite gave up the transaction: everything staged so far is lost, and sl_store_commit has to
 * report it. */
static void note_loss(struct sl_store *s, struct sl_error *e)
{
    if (e->code == SL_CODE_OK) {
        (void)sl_error_set(e, SL_CODE_INTERNAL, "the disk failed");
    }
    s->broken = *e;
    s->in_batch = false;
    sl_definitions_rewind(s);
    sl_events_lose(s, s->durable);
    forget(s, &(struct mark){.revision = s->durable, .work_pending = s->work_pending});
    sl_log(SL_LOG_ERROR, "writes were refused, nothing acknowledged is lost", "reason", e->text,
           NULL);
}

static enum sl_code dispatch(struct sl_registry_call *c, struct sl_error *e)
{
    switch (c->w->verb) {
    case SL_VERB_CREATE:
        return sl_registry_create(c, e);
    case SL_VERB_DELETE:
        return sl_registry_delete(c, e);
    case SL_VERB_READ: /* reads of the store are no writes: sl_client.cached is not set */
        return sl_error_set(e, SL_CODE_INTERNAL, "the store was asked to write a read");
    case SL_VERB_UPDATE:
    case SL_VERB_UPDATE_STATUS:
    case SL_VERB_PATCH_MERGE:
    case SL_VERB_PATCH_STATUS_MERGE:
        break;
    }
    return sl_registry_change(c, e);
}

/* Whatever it came to, it does not count when something it depends on could not be read. */
static enum sl_code judge_reads(const struct sl_store *s, enum sl_code code, struct sl_error *e)
{
    if (s->unread.code == SL_CODE_OK) {
        return code;
    }
    *e = s->unread;
    return e->code;
}

/* One write ends: undone, or kept in its batch. Where even that fails (there is no memory), the batch is lost; nothing
 * of it was acknowledged. */
static enum sl_code end_write(struct sl_store *s, const struct mark *undo_to, struct sl_error *e)
{
    enum sl_code code = undo_to != NULL ? sl_db_run(s, SL_SQL_UNDO, e) : SL_CODE_OK;
    code = code == SL_CODE_OK ? sl_db_run(s, SL_SQL_KEEP, e) : code;
    if (code != SL_CODE_OK) {
        sl_db_rollback(s);
        note_loss(s, e);
    } else if (undo_to != NULL) {
        forget(s, undo_to);
    }
    return code;
}

static enum sl_code apply_marked(struct sl_registry_call *c, struct sl_error *e)
{
    struct sl_store *s = c->s;
    struct mark mark = {s->revision, s->work_pending, s->bookkeeping};
    struct sl_error end;
    sl_error_clear(&s->unread);
    if (sl_db_run(s, SL_SQL_MARK, e) != SL_CODE_OK) {
        return e->code;
    }
    enum sl_code code = judge_reads(s, dispatch(c, e), e);
    if (sl_db_lost(s)) {
        note_loss(s, e);
        return e->code;
    }
    bool undo = code != SL_CODE_OK || c->w->dry_run;
    if (end_write(s, undo ? &mark : NULL, &end) != SL_CODE_OK) {
        *e = end;
        return e->code;
    }
    return code;
}

enum sl_code sl_store_apply(struct sl_store *s, const struct sl_write *w, struct sl_json **result,
                            struct sl_error *e)
{
    SL_PRE(w->kind < SL_KIND_COUNT && w->ns != NULL && result != NULL);
    struct sl_error local;
    struct sl_error *error = e != NULL ? e : &local;
    struct sl_registry_call call = {.s = s, .w = w};
    sl_error_clear(error);
    const struct sl_error *against = s->damage.code != SL_CODE_OK ? &s->damage : &s->broken;
    if (against->code != SL_CODE_OK) {
        *error = *against;
        return error->code;
    }
    enum sl_code code = sl_db_begin(s, error);
    code = code == SL_CODE_OK ? apply_marked(&call, error) : code;
    if (s->in_batch && !sl_db_staged(s)) {
        sl_db_rollback(s); /* no open transaction for nothing */
    }
    if (code == SL_CODE_OK) {
        *result = call.result;
        sl_ahead_wake(s);
    } else {
        sl_json_free(call.result);
    }
    return code;
}

bool sl_store_dirty(const struct sl_store *s)
{
    return sl_db_staged(s) || s->broken.code != SL_CODE_OK || s->reply_count > 0 ||
           (s->work_pending && !s->work_blocked) || sl_client_is_late(s);
}

/* --- commit ---------------------------------------------------------------------------------- */

/* A failed piece of background work is undone; the batch of the clients goes on without it. */
static void add_background_work(struct sl_store *s)
{
    struct sl_error e;
    sl_error_clear(&e);
    struct mark mark = {s->revision, s->work_pending, s->bookkeeping};
    if (s->work_blocked || (!s->work_pending && sl_clock_now_ms() < s->expiry_next_ms) ||
        sl_db_begin(s, &e) != SL_CODE_OK || sl_db_run(s, SL_SQL_MARK, &e) != SL_CODE_OK) {
        return;
    }
    sl_error_clear(&s->unread);
    enum sl_code code = judge_reads(s, sl_collect_step(s, &e), &e);
    if (sl_db_lost(s)) {
        s->work_pending = true;
        note_loss(s, &e);
        return;
    }
    if (code != SL_CODE_OK) {
        s->work_blocked = true;
        sl_definitions_rewind(s);
        sl_log(SL_LOG_WARN, "background work failed", "reason", e.text, NULL);
    }
    struct sl_error end;
    if (end_write(s, code != SL_CODE_OK ? &mark : NULL, &end) != SL_CODE_OK) {
        s->work_pending = true; /* what was done of it is lost */
    }
}

/* After damage was found nothing is built on what was read. */
static enum sl_code write_batch(struct sl_store *s, struct sl_error *e)
{
    if (s->damage.code != SL_CODE_OK) {
        *e = s->damage;
        return e->code;
    }
    sl_note_reserve(s);
    sl_db_bind_int(s, SL_SQL_SET_REVISION, 1, (int64_t)s->revision);
    sl_db_bind_text(s, SL_SQL_SET_REVISION, 2, s->guards ? "guarded" : "revision");
    enum sl_code code = sl_db_run(s, SL_SQL_SET_REVISION, e);
    code = code == SL_CODE_OK ? sl_db_run(s, SL_SQL_SEAL, e) : code;
    return code == SL_CODE_OK ? sl_db_run(s, SL_SQL_COMMIT, e) : code;
}

static enum sl_code make_durable(struct sl_store *s, struct sl_error *e)
{
    if (s->broken.code != SL_CODE_OK) {
        *e = s->broken;
        sl_error_clear(&s->broken);
        return e->code;
    }
    if (!s->in_batch) {
        return SL_CODE_OK;
    }
    enum sl_code code = write_batch(s, e);
    if (code != SL_CODE_OK) {
        sl_db_rollback(s);
        sl_definitions_rewind(s);
        sl_events_lose(s, s->durable);
        forget(s, &(struct mark){.revision = s->durable, .work_pending = true});
        sl_log(SL_LOG_ERROR, "writes were refused, nothing acknowledged is lost", "reason", e->text,
               NULL);
        return code;
    }
    s->in_batch = s->bookkeeping = false;
    s->durable = s->stored = s->revision;
    return SL_CODE_OK;
}

static void call_listeners(struct sl_store *s, enum sl_code code, const struct sl_error *e)
{
    for (size_t i = 0; i < SL_STORE_LISTENERS_MAX; i++) {
        if (s->listeners[i].fn != NULL) {
            s->listeners[i].fn(s->listeners[i].context, code, e);
        }
    }
}

/* Callbacks may write, and even commit, again: what they add is of the next batch. */
static void answer_clients(struct sl_store *s, enum sl_code code, const struct sl_error *e)
{
    struct sl_replies replies = sl_client_take(s);
    bool ahead = s->ahead.delivered;
    s->ahead.delivered = false;
    if (code != SL_CODE_OK && ahead) {
        sl_ahead_lose(s, replies, e);
        return;
    }
    sl_store_publish(s);
    if (code != SL_CODE_OK) {
        sl_events_tell_lost(s);
    }
    sl_client_answer(replies, code, e);
}

enum sl_code sl_store_commit(struct sl_store *s, struct sl_error *e)
{
    struct sl_error local;
    struct sl_error *error = e != NULL ? e : &local;
    sl_error_clear(error);
    if (!sl_store_dirty(s) || s->in_commit || s->ahead.delivering) {
        return SL_CODE_OK;
    }
    s->in_commit = true;
    bool blocked = s->work_blocked;
    if (s->broken.code == SL_CODE_OK) {
        add_background_work(s);
    }
    enum sl_code code = make_durable(s, error);
    if (code != SL_CODE_OK) {
        s->work_blocked = true; /* or a full disk would keep the loop busy */
        s->ahead.calm_ms = sl_clock_now_ms() + SL_STORE_CALM_MS;
    } else if (blocked) {
        s->work_blocked = false;
    }
    s->in_commit = false;
    answer_clients(s, code, error);
    call_listeners(s, code, error);
    sl_client_try_late(s);
    return code;
}

void sl_store_listen(struct sl_store *s, sl_store_commit_fn *fn, void *context)
{
    size_t i = 0;
    while (i < SL_STORE_LISTENERS_MAX && s->listeners[i].fn != NULL) {
        i++;
    }
    SL_PRE(fn != NULL && i < SL_STORE_LISTENERS_MAX);
    s->listeners[i].fn = fn;
    s->listeners[i].context = context;
}

void sl_store_unlisten(struct sl_store *s, sl_store_commit_fn *fn, void *context)
{
    for (size_t i = 0; i < SL_STORE_LISTENERS_MAX; i++) {
        if (s->listeners[i].fn == fn && s->listeners[i].context == context) {
            s->listeners[i].fn = NULL;
        }
    }
}
