/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What answers mean. A refusal that says that the object is not what the writer thinks is passed on
 * with the live object in the cache; where it is unknown whether a write was carried out, the live
 * object shows it. */
#include "kube/writes_change.h"
#include "base/check.h"

#include <string.h>

#include "base/log.h"
#include "kube/diff.h"
#include "kube/status.h"

#define TRIES_MAX 5u
#define CHECK_MS_MAX 15000

static void finish(struct sl_change *c, enum sl_code code, const struct sl_error *e)
{
    sl_change_finish(c, code, e, NULL);
}

/* Into the cache, if the kind has one. The object, lent; NULL when it is malformed. */
static struct sl_json *take(struct sl_change *c, const struct sl_response *r)
{
    struct sl_writes *w = c->owner;
    struct sl_error e = {0};
    struct sl_cache *cache = w->options.cache_of(w->options.context, c->kind);
    struct sl_span body = {r->body, r->body_len};
    if (sl_item_reduce(&w->item, c->kind, body, &e) != SL_CODE_OK) {
        sl_log(SL_LOG_WARN, "an answer cannot be read", "kind", sl_kind_info(c->kind)->kind, "name",
               c->name, "error", e.text, NULL);
        return NULL;
    }
    if (cache != NULL) {
        sl_cache_put(cache, &w->item, SL_FROM_WRITE);
    }
    return sl_item_object(&w->item);
}

/* Who creates or reads an object has not found it in the cache. It is there, and is not in the cache now either: the
 * list that this is kept from was not whole. */
static void doubt_cache(const struct sl_change *c)
{
    struct sl_writes *w = c->owner;
    const struct sl_cache *cache = w->options.cache_of(w->options.context, c->kind);
    bool missed = c->verb == SL_VERB_CREATE || c->verb == SL_VERB_READ;
    if (missed && cache != NULL && !sl_cache_has(cache, w->item.key)) {
        w->options.doubt(w->options.context, c->kind);
    }
}

static bool is_status_object(const struct sl_response *r)
{
    struct sl_span body = {r->body, r->body_len};
    return sl_span_is(sl_span_text(sl_scan_find(body, "kind")), "Status");
}

static void succeed(struct sl_change *c, const struct sl_response *r)
{
    struct sl_error none = {0};
    /* A deletion that is complete is answered with its outcome; the watch then shows that the
     * object was deleted. */
    bool outcome = c->verb == SL_VERB_DELETE && (r->body_len == 0 || is_status_object(r));
    struct sl_json *o = outcome ? NULL : sl_json_ref(take(c, r));
    sl_change_finish(c, SL_CODE_OK, &none, o);
    sl_json_free(o);
}

/* Wait, then send it again, or first look at what has become of it. */
static void rest(struct sl_change *c, bool check_first, int64_t least_ms, const struct sl_error *e)
{
    if (c->tries >= TRIES_MAX) {
        enum sl_code given_up = c->verdict == SL_CODE_OK ? SL_CODE_UNAVAILABLE : c->verdict;
        finish(c, given_up, e);
        return;
    }
    int64_t wait_ms = sl_backoff_next_ms(&c->backoff);
    c->state = SL_CHANGE_RESTING;
    c->check_first = check_first;
    c->due_ms = sl_writes_now_ms(c->owner) + (wait_ms < least_ms ? least_ms : wait_ms);
    c->owner->options.wake(c->owner->options.context);
}

/* --- refusals -------------------------------------------------------------------------------- */

/* A patch that names another uid is refused as one that would change it. */
static bool is_another(const struct sl_change *c, const struct sl_error *e)
{
    for (unsigned i = 0; c->uid[0] != '\0' && i < e->cause_count && i < SL_CAUSES_MAX; i++) {
        if (strcmp(e->causes[i].field, "metadata.uid") == 0) {
            return true;
        }
    }
    return false;
}

static void conflict(struct sl_change *c, const struct sl_error *e)
{
    bool followed = false;
    uint64_t version = 0;
    c->owner->options.counters->conflicts++;
    if (c->guard == 0 && c->uid[0] == '\0' && c->verb != SL_VERB_DELETE) {
        rest(c, false, 0, e); /* nothing that we asked for: the server was interrupted too often */
        return;
    }
    struct sl_json *live = sl_change_live(c, &version, &followed);
    bool known = live != NULL && c->guard != 0 && version > c->guard && !c->unsure;
    sl_json_free(live);
    if (known) {
        finish(c, SL_CODE_CONFLICT, e);
    } else {
        sl_change_check(c, SL_CODE_CONFLICT, e);
    }
}

/* A caller that creates again when the cache lacks it must find it there. */
static void exists(struct sl_change *c, const struct sl_error *e)
{
    bool followed = c->owner->options.cache_of(c->owner->options.context, c->kind) != NULL;
    if (followed || c->unsure) {
        sl_change_check(c, SL_CODE_ALREADY_EXISTS, e);
    } else {
        finish(c, SL_CODE_ALREADY_EXISTS, e);
    }
}

static bool may_have_happened(const struct sl_response *r)
{
    return r->status == 0 || r->status >= 500 || (r->status >= 200 && r->status < 300);
}

static void refused(struct sl_change *c, enum sl_code code, struct sl_error *e,
                    const struct sl_response *r)
{
    switch (code) {
    case SL_CODE_CONFLICT:
        conflict(c, e);
        break;
    case SL_CODE_ALREADY_EXISTS:
        exists(c, e);
        break;
    case SL_CODE_INVALID:
        finish(c, is_another(c, e) ? SL_CODE_NOT_FOUND : code, e);
        break;
    case SL_CODE_NOT_FOUND:
        /* Gone, and perhaps by an earlier try of which the answer was lost. */
        finish(c, c->unsure && c->verb == SL_VERB_DELETE ? SL_CODE_OK : code, e);
        break;
    case SL_CODE_TOO_MANY:
    case SL_CODE_UNAUTHORIZED:
        rest(c, false, r->retry_ms, e);
        break;
    default:
        finish(c, code, e);
    }
}

void sl_change_answered(void *context, const struct sl_response *r)
{
    struct sl_change *c = context;
    struct sl_error e = {0};
    c->exchange = NULL;
    enum sl_code code = sl_status_read(r, &e);
    if (code == SL_CODE_OK) {
        succeed(c, r);
    } else if (may_have_happened(r)) {
        c->owner->options.counters->lost_answers++;
        c->unsure = true;
        c->verdict = SL_CODE_OK;
        sl_change_keep(c, code, &e);
        rest(c, true, r->retry_ms, &e);
    } else {
        refused(c, code, &e, r);
    }
}

/* --- checks ---------------------------------------------------------------------------------- */

static bool is_deleted(const struct sl_change *c, const struct sl_json *live)
{
    bool waits = sl_json_path_int(live, "metadata.deletionGracePeriodSeconds", 0) > 0;
    return sl_object_deleting(live) && !(c->at_once && waits);
}

static bool is_done(const struct sl_change *c, const struct sl_json *live)
{
    return c->verb == SL_VERB_DELETE ? is_deleted(c, live)
                                     : c->patch != NULL && sl_diff_holds(live, c->patch);
}

static void found(struct sl_change *c, struct sl_json *live)
{
    struct sl_error none = {0};
    const char *text = sl_object_resource_version(live);
    uint64_t version = sl_span_number((struct sl_span){text, strlen(text)});
    if (c->uid[0] != '\0' && strcmp(c->uid, sl_object_uid(live)) != 0) {
        enum sl_code code = c->unsure && c->verb == SL_VERB_DELETE ? SL_CODE_OK : SL_CODE_NOT_FOUND;
        finish(c, code, c->error);
    } else if (c->unsure && is_done(c, live)) {
        sl_change_finish(c, SL_CODE_OK, &none, live);
    } else if (c->verb == SL_VERB_READ) {
        sl_change_finish(c, SL_CODE_OK, &none, live);
    } else if (c->verdict != SL_CODE_OK) {
        sl_change_finish(c, c->verdict, c->error, live);
    } else if (c->verb == SL_VERB_CREATE) {
        sl_change_finish(c, SL_CODE_ALREADY_EXISTS, c->error, live);
    } else if (c->guard != 0 && version != c->guard) {
        sl_change_finish(c, SL_CODE_CONFLICT, c->error, live);
    } else {
        sl_change_send(c);
    }
}

static void missing(struct sl_change *c, const struct sl_error *e)
{
    struct sl_error none = {0};
    if (c->verb == SL_VERB_DELETE && c->unsure) {
        finish(c, SL_CODE_OK, &none);
    } else if (c->verb != SL_VERB_CREATE) {
        finish(c, SL_CODE_NOT_FOUND, e);
    } else if (c->verdict != SL_CODE_OK) {
        finish(c, c->verdict, c->error);
    } else {
        sl_change_send(c);
    }
}

static void on_checked(void *context, const struct sl_response *r)
{
    struct sl_change *c = context;
    struct sl_error e = {0};
    c->exchange = NULL;
    enum sl_code code = sl_status_read(r, &e);
    if (code == SL_CODE_NOT_FOUND) {
        missing(c, &e);
        return;
    }
    struct sl_json *live = code == SL_CODE_OK ? sl_json_ref(take(c, r)) : NULL;
    if (live != NULL) {
        doubt_cache(c);
        found(c, live);
        sl_json_free(live);
    } else {
        c->tries++;
        rest(c, true, r->retry_ms, &e);
    }
}

void sl_change_check(struct sl_change *c, enum sl_code verdict, const struct sl_error *e)
{
    SL_PRE(c != NULL);
    struct sl_writes *w = c->owner;
    struct sl_buf path = {0};
    c->verdict = verdict;
    sl_change_keep(c, verdict, e);
    if (c->name[0] == '\0') {
        /* The server has named it, but its answer was lost. */
        finish(c, verdict == SL_CODE_OK ? SL_CODE_UNAVAILABLE : verdict, c->error);
        return;
    }
    sl_status_path(&path, c->kind, c->ns, c->name, "");
    struct sl_request q = {.method = "GET", .path = path.data, .timeout_ms = CHECK_MS_MAX};
    c->state = SL_CHANGE_CHECKING;
    c->exchange = sl_transport_send(w->kube.transport, &q, NULL, on_checked, c);
    sl_buf_fini(&path);
}
