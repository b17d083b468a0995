/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The common part of all controllers. */
#include "controllers/work/reconciler.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

#define CONFIRM_RETRY_MS 15000
#define CONFLICTS_AT_ONCE 3u
#define UID_SIZE 64u
#define GONE_KEY_SIZE (SL_KEY_SIZE + UID_SIZE + 80u) /* with the kind's plural */
#define GONE_MAX 10000u

/* It ends when the look is over and every write has been answered. */
struct sl_turn {
    struct sl_reconciler *r;
    char key[SL_KEY_SIZE];
    unsigned open; /* writes without an answer, and the look itself */
};
struct in_flight {
    struct sl_turn *turn;
    bool has_note;
    struct sl_note note;
};

void sl_reconciler_init(struct sl_reconciler *r, const char *title, const struct sl_client *client,
                        struct sl_recorder *events)
{
    *r = (struct sl_reconciler){.title = title,
                                .client = client,
                                .events = events,
                                .work = sl_work_new(),
                                .gone = sl_map_new(),
                                .conflicts = sl_map_new()};
}

void sl_reconciler_fini(struct sl_reconciler *r)
{
    SL_PRE(r != NULL);
    sl_work_free(r->work);
    sl_map_free(r->gone);
    sl_map_free(r->conflicts);
    r->work = NULL;
    r->gone = r->conflicts = NULL;
}

static void leave(struct sl_turn *turn)
{
    if (--turn->open == 0) {
        sl_work_done(turn->r->work, turn->key);
        sl_mem_free(turn);
    }
}

bool sl_reconciler_step(struct sl_reconciler *r, int64_t now_ms, unsigned limit)
{
    SL_PRE(r->reconcile != NULL);
    for (unsigned i = 0; i < limit; i++) {
        const char *text = sl_work_take(r->work, now_ms);
        if (text == NULL) {
            return false;
        }
        struct sl_key key;
        char copy[SL_KEY_SIZE];
        snprintf(copy, sizeof copy, "%s", text);
        r->current = copy;
        r->turn = NULL;
        if (sl_key_parse(copy, &key)) {
            r->reconcile(r->self, r, &key, now_ms);
        }
        r->current = NULL;
        if (r->turn != NULL) {
            leave(r->turn);
        } else {
            (void)sl_map_remove(r->conflicts, copy, NULL);
            sl_work_done(r->work, copy);
        }
        r->turn = NULL;
    }
    return sl_work_due_ms(r->work) <= now_ms;
}

bool sl_reconcilers_step(struct sl_reconciler *const *all, size_t count, int64_t now_ms,
                         unsigned limit)
{
    bool more = false;
    for (size_t i = 0; i < count; i++) {
        more = sl_reconciler_step(all[i], now_ms, limit) || more;
    }
    return more;
}

int64_t sl_reconcilers_due_ms(struct sl_reconciler *const *all, size_t count)
{
    int64_t due_ms = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t next_ms = sl_work_due_ms(all[i]->work);
        due_ms = next_ms < due_ms ? next_ms : due_ms;
    }
    return due_ms;
}

/* What was read is what the server has now, as a rule; if it is not, asking at once does not help. */
static void look_again(struct sl_reconciler *r, const char *key, int64_t now_ms)
{
    union sl_map_value count = {0};
    (void)sl_map_get(r->conflicts, key, &count);
    count.number++;
    sl_map_put(r->conflicts, key, count);
    sl_work_add(r->work, key,
                count.number < CONFLICTS_AT_ONCE ? SL_WORK_NOW : now_ms + SL_RETRY_MS);
}

static void failed(struct in_flight *f, enum sl_code code, const struct sl_error *e)
{
    struct sl_reconciler *r = f->turn->r;
    const char *key = f->turn->key;
    int64_t now_ms = sl_clock_now_ms();
    switch (code) {
    case SL_CODE_NOT_FOUND: /* the object was deleted; its deletion wakes what depends on it */
        return;
    case SL_CODE_CONFLICT:
    case SL_CODE_ALREADY_EXISTS:
        look_again(r, key, now_ms);
        return;
    case SL_CODE_FORBIDDEN: /* rights may be given; a server that has just started knows none */
        sl_work_add(r->work, key, now_ms + SL_FORBIDDEN_RETRY_MS);
        /* fall through */
    case SL_CODE_INVALID:
    case SL_CODE_BAD_REQUEST:
    case SL_CODE_TOO_LARGE:
        sl_log(SL_LOG_WARN, "write refused", "controller", r->title, "key", key, "error", e->text,
               NULL);
        if (f->has_note && f->note.about != NULL) {
            sl_recorder_record(r->events, f->note.kind, f->note.about, true, "WriteRefused",
                               e->text, now_ms);
        }
        return;
    default:
        sl_log(SL_LOG_WARN, "write failed, trying again", "controller", r->title, "key", key,
               "error", e->text, NULL);
        sl_work_add(r->work, key, now_ms + SL_RETRY_MS);
    }
}

static void succeeded(const struct in_flight *f)
{
    struct sl_reconciler *r = f->turn->r;
    (void)sl_map_remove(r->conflicts, f->turn->key, NULL);
    if (f->has_note && f->note.reason != NULL) {
        sl_recorder_record(r->events, f->note.kind, f->note.about, f->note.warning, f->note.reason,
                           f->note.message, sl_clock_now_ms());
    }
}

static void written(void *context, enum sl_code code, const struct sl_error *e,
                    struct sl_json *result)
{
    struct in_flight *f = context;
    if (code != SL_CODE_OK) {
        failed(f, code, e);
    } else {
        succeeded(f);
    }
    leave(f->turn);
    if (f->has_note) {
        sl_timing_end(f->note.timing, code == SL_CODE_OK ? result : NULL);
        sl_json_free(f->note.about);
    }
    sl_mem_free(f);
}

/* The turn of the key that is being reconciled; every function called in it leaves it. */
static struct sl_turn *enter(struct sl_reconciler *r)
{
    SL_PRE(r->current != NULL);
    if (r->turn == NULL) {
        r->turn = sl_mem_new(1, sizeof *r->turn);
        r->turn->r = r;
        r->turn->open = 1;
        snprintf(r->turn->key, sizeof r->turn->key, "%s", r->current);
    }
    r->turn->open++;
    return r->turn;
}

void sl_reconciler_write(struct sl_reconciler *r, const struct sl_write *w,
                         const struct sl_note *note)
{
    struct in_flight *f = sl_mem_new(1, sizeof *f);
    f->turn = enter(r);
    if (note != NULL) {
        f->has_note = true;
        f->note = *note;
        f->note.about = sl_json_ref(note->about);
    }
    r->client->write(r->client->self, w, written, f);
}

struct sl_write sl_reconciler_write_of(enum sl_verb verb, enum sl_kind kind,
                                       const struct sl_json *object, struct sl_json *body)
{
    return (struct sl_write){.verb = verb,
                             .kind = kind,
                             .ns = sl_object_namespace(object),
                             .name = sl_object_name(object),
                             .body = body,
                             .uid = sl_object_uid(object)};
}

void sl_reconciler_write_status(struct sl_reconciler *r, enum sl_kind kind, struct sl_json *object)
{
    struct sl_write w = sl_reconciler_write_of(SL_VERB_UPDATE_STATUS, kind, object, object);
    sl_reconciler_write(r, &w, NULL);
}

struct sl_json *sl_reconciler_get(struct sl_reconciler *r, enum sl_kind kind, const char *ns,
                                  const char *name, bool *absent)
{
    SL_PRE(r != NULL);
    struct sl_json *o = NULL;
    struct sl_error e = {0};
    enum sl_code code = r->client->get(r->client->self, kind, ns, name, &o, &e);
    *absent = code == SL_CODE_NOT_FOUND;
    if (code == SL_CODE_OK) {
        SL_POST(o != NULL);
        return o;
    }
    if (!*absent) {
        sl_log(SL_LOG_WARN, "read failed, trying again", "controller", r->title, "key", r->current,
               "error", e.text, NULL);
        sl_work_add(r->work, r->current, sl_clock_now_ms() + SL_RETRY_MS);
    }
    return NULL;
}

/* --- deleted objects --------------------------------------------------------------------------- */

struct question {
    struct sl_turn *turn;
    char uid[UID_SIZE];
    char object[GONE_KEY_SIZE];
};

static void note_gone(struct sl_reconciler *r, const char *object)
{
    if (sl_map_count(r->gone) == GONE_MAX) {
        sl_map_free(r->gone); /* the caller asks again */
        r->gone = sl_map_new();
    }
    sl_map_put(r->gone, object, (union sl_map_value){.number = 0});
}

static void confirmed(void *context, enum sl_code code, const struct sl_error *e,
                      struct sl_json *result)
{
    struct question *q = context;
    struct sl_reconciler *r = q->turn->r;
    int64_t due_ms = SL_WORK_NOW;
    bool another = code == SL_CODE_OK && strcmp(sl_object_uid(result), q->uid) != 0;
    if (code == SL_CODE_NOT_FOUND || another) {
        note_gone(r, q->object);
    } else {
        due_ms = sl_clock_now_ms() + CONFIRM_RETRY_MS;
        sl_log(SL_LOG_WARN,
               code == SL_CODE_OK ? "an object that seemed to be deleted exists"
                                  : "it is unknown whether an object was deleted, asking again",
               "controller", r->title, "key", q->turn->key, "object", q->object, "error",
               code == SL_CODE_OK ? "" : e->text, NULL);
    }
    sl_work_add(r->work, q->turn->key, due_ms);
    leave(q->turn);
    sl_mem_free(q);
}

bool sl_reconciler_confirm_gone(struct sl_reconciler *r, enum sl_kind kind, const char *ns,
                                const struct sl_json *owner)
{
    struct question q = {0};
    const char *name = sl_json_path_text(owner, "name", "");
    (void)snprintf(q.uid, sizeof q.uid, "%s", sl_json_path_text(owner, "uid", ""));
    (void)snprintf(q.object, sizeof q.object, "%s/%s/%s/%s", sl_kind_info(kind)->plural, ns, name,
                   q.uid);
    if (!r->client->cached || name[0] == '\0' || sl_map_get(r->gone, q.object, NULL)) {
        return true;
    }
    q.turn = enter(r);
    struct question *kept = sl_mem_new(1, sizeof *kept);
    *kept = q;
    struct sl_write w = {.verb = SL_VERB_READ, .kind = kind, .ns = ns, .name = name};
    r->client->write(r->client->self, &w, confirmed, kept);
    return false;
}
