/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Watches. Each keeps a position in the store's watch log and reads on as fast as its client takes
 * it: there is no queue that could grow, and a client that falls behind the log gets 410 Expired
 * and has to list again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/effort.h"
#include "server/rest.h"

#define PIECE_BYTES 65536u
#define INITIAL_PAGE 100u
#define BOOKMARK_EVERY_MS 30000
#define TIMEOUT_S_DEFAULT 3600
#define TIMEOUT_S_MAX 86400

struct watch {
    struct sl_stream stream;
    struct sl_rest *rest;
    struct sl_shown shown;
    enum sl_shape shape;
    char *ns, *include;
    struct sl_choice choice;
    unsigned turn;     /* of the kind's slot: when another kind has it, this is over */
    uint64_t since;    /* everything up to here was looked at */
    bool initial;      /* what exists is still being sent, as ADDED */
    bool initial_end;  /* ... and its end is to be marked by a bookmark */
    bool headers_sent; /* column definitions of a Table go out once */
    char *token;       /* where the initial list goes on */
    bool bookmarks;
    int64_t deadline_ms, bookmark_ms;
    struct sl_buf *out; /* while events are written */
};

static void watch_free(struct sl_stream *stream)
{
    struct watch *w = (struct watch *)stream;
    SL_PRE(w->rest->watch_count > 0);
    w->rest->watch_count--;
    sl_choice_fini(&w->choice);
    sl_mem_free(w->ns);
    sl_mem_free(w->include);
    sl_mem_free(w->token);
    sl_mem_free(w);
}

/* --- writing events -------------------------------------------------------------------------- */

static void put_event(struct watch *w, const char *type, const char *text, size_t text_size)
{
    sl_buf_print(w->out, "{\"type\":\"%s\",\"object\":", type);
    sl_buf_add(w->out, text, text_size);
    sl_buf_text(w->out, "}\n");
}

static void put_value(struct watch *w, const char *type, const struct sl_json *value)
{
    struct sl_buf text = {0};
    sl_json_print(value, &text);
    put_event(w, type, text.data, text.len);
    sl_buf_fini(&text);
}

static void put_unreadable(const struct watch *w, const struct sl_error *e)
{
    sl_log(SL_LOG_ERROR, "an event is not passed to a watch: its object cannot be read", "kind",
           sl_kind_info(w->shown.kind)->kind, "error", e->text, NULL);
}

static void put_object(struct watch *w, const char *type, struct sl_json *object)
{
    struct sl_error e = {0};
    struct sl_json *shaped;
    struct sl_json *seen = sl_shown_new(&w->shown, object, &e);
    if (seen == NULL) { /* one object must not end what all others get */
        put_unreadable(w, &e);
        return;
    }
    if (w->shape == SL_SHAPE_METADATA) {
        shaped = sl_shape_metadata_new(seen);
    } else if (w->shape == SL_SHAPE_TABLE) {
        struct sl_json *one = sl_json_new_list();
        sl_json_append(one, sl_json_ref(object));
        shaped = sl_shape_table_new(&w->shown, one, w->include, !w->headers_sent);
        w->headers_sent = true;
        sl_json_free(one);
    } else {
        shaped = sl_json_ref(seen);
    }
    put_value(w, type, shaped);
    sl_json_free(shaped);
    sl_json_free(seen);
}

static void put_bookmark(struct watch *w, bool initial_end)
{
    char revision[24];
    const struct sl_kind_info *info = sl_kind_info(w->shown.kind);
    struct sl_json *mark = sl_json_new_map();
    bool table = w->shape == SL_SHAPE_TABLE, partial = w->shape == SL_SHAPE_METADATA;
    sl_json_set_text(mark, "kind",
                     table     ? "Table"
                     : partial ? "PartialObjectMetadata"
                               : info->kind);
    sl_json_set_text(mark, "apiVersion",
                     table || partial ? "meta.k8s.io/v1" : sl_shown_version(&w->shown));
    struct sl_json *metadata = sl_json_path_make(mark, "metadata");
    (void)snprintf(revision, sizeof revision, "%llu", (unsigned long long)w->since);
    sl_json_set_text(metadata, "resourceVersion", revision);
    if (initial_end) {
        sl_json_set_text(sl_json_path_make(metadata, "annotations"), "k8s.io/initial-events-end",
                         "true");
    }
    if (table) {
        sl_json_set(mark, "columnDefinitions", sl_json_new_list());
        sl_json_set(mark, "rows", sl_json_new_list());
    }
    put_value(w, "BOOKMARK", mark);
    sl_json_free(mark);
}

static void put_error(struct watch *w, const struct sl_error *e)
{
    struct sl_json *status = sl_status_new(e, SL_KIND_COUNT, "");
    put_value(w, "ERROR", status);
    sl_json_free(status);
}

/* --- live events ----------------------------------------------------------------------------- */

static bool in_scope(const struct watch *w, const struct sl_json *object)
{
    return (w->ns[0] == '\0' || strcmp(w->ns, sl_object_namespace(object)) == 0) &&
           sl_choice_matches(&w->choice, object);
}

/* A modification that moves an object into or out of what is selected is an addition or deletion to
 * this client. */
static const char *type_for(const struct watch *w, const struct sl_store_event *event,
                            const struct sl_json *object)
{
    bool now = in_scope(w, object), before = now;
    if (event->type != SL_WATCH_MODIFIED) {
        return !now ? NULL : event->type == SL_WATCH_ADDED ? "ADDED" : "DELETED";
    }
    if (event->old != NULL) {
        struct sl_json *old = sl_json_parse(event->old, event->old_size, NULL);
        before = old != NULL && in_scope(w, old);
        sl_json_free(old);
    }
    if (now) {
        return before ? "MODIFIED" : "ADDED";
    }
    return before ? "DELETED" : NULL;
}

static bool selects_all(const struct watch *w)
{
    return w->ns[0] == '\0' && w->choice.labels == NULL && w->choice.fields == NULL &&
           w->choice.name == NULL;
}

static void pass_event(struct watch *w, const struct sl_store_event *event)
{
    static const char *const names[] = {[SL_WATCH_ADDED] = "ADDED",
                                        [SL_WATCH_MODIFIED] = "MODIFIED",
                                        [SL_WATCH_DELETED] = "DELETED"};
    bool as_stored = w->shape == SL_SHAPE_OBJECT && !w->shown.old;
    if (selects_all(w) && as_stored) {
        put_event(w, names[event->type], event->text, event->text_size);
        return;
    }
    struct sl_error e;
    struct sl_json *object = sl_json_parse(event->text, event->text_size, &e);
    if (object == NULL) { /* one damaged object must not end what all others get */
        put_unreadable(w, &e);
        return;
    }
    const char *type = type_for(w, event, object);
    if (type != NULL && as_stored) {
        put_event(w, type, event->text, event->text_size);
    } else if (type != NULL) {
        put_object(w, type, object);
    }
    sl_json_free(object);
}

/* The kind is no longer served. */
static bool is_over(const struct watch *w)
{
    return w->shown.kind >= SL_KIND_DEFINED &&
           (!sl_kind_is_defined(w->shown.kind) || sl_kind_turn(w->shown.kind) != w->turn);
}

static enum sl_stream_step fill_live(struct watch *w, size_t until)
{
    struct sl_error e;
    struct sl_store_event event;
    bool found = true;
    uint64_t begin = sl_effort_steps;
    while (found && w->out->len < until && sl_effort_steps - begin < SL_SLICE_STEPS) {
        if (sl_store_next(w->rest->store, w->shown.kind, &w->since, &event, &found, &e) !=
            SL_CODE_OK) {
            put_error(w, &e);
            return SL_STREAM_END;
        }
        if (found) {
            pass_event(w, &event);
        }
    }
    int64_t now_ms = sl_clock_now_ms();
    if (!found && (now_ms >= w->deadline_ms || is_over(w))) {
        return SL_STREAM_END;
    }
    if (!found && w->bookmarks && now_ms >= w->bookmark_ms) {
        put_bookmark(w, false);
        w->bookmark_ms = now_ms + BOOKMARK_EVERY_MS;
    }
    return found ? SL_STREAM_MORE : SL_STREAM_WAIT;
}

/* --- what exists at the start ---------------------------------------------------------------- */

static void pass_existing(void *context, struct sl_json *object)
{
    put_object(context, "ADDED", object);
}

static enum sl_stream_step fill_initial(struct watch *w)
{
    struct sl_error e;
    char *next = NULL;
    uint64_t revision = 0;
    if (sl_store_dirty(w->rest->store)) {
        return SL_STREAM_WAIT;
    }
    struct sl_store_list q = {.kind = w->shown.kind,
                              .ns = w->ns,
                              .labels = w->choice.labels,
                              .fields = w->choice.fields,
                              .limit = INITIAL_PAGE,
                              .continue_token = w->token,
                              .name = w->choice.name,
                              .scan_max = SL_SCAN_MAX,
                              .work_max = SL_SLICE_STEPS};
    if (sl_store_list(w->rest->store, &q, pass_existing, w, &revision, &next, &e) != SL_CODE_OK) {
        put_error(w, &e);
        return SL_STREAM_END;
    }
    if (w->since == 0) {
        w->since = revision; /* of the first page: what happened since then comes as events */
    }
    sl_mem_free(w->token);
    w->token = next;
    if (next == NULL) {
        w->initial = false;
        if (w->initial_end) {
            put_bookmark(w, true);
        }
    }
    return SL_STREAM_MORE;
}

static enum sl_stream_step watch_fill(struct sl_stream *stream, struct sl_buf *out)
{
    struct watch *w = (struct watch *)stream;
    enum sl_stream_step step = SL_STREAM_MORE;
    const size_t before = out->len, until = before + PIECE_BYTES;
    w->out = out;
    if (sl_kind_turn(w->shown.kind) != w->turn) {
        return SL_STREAM_END;
    }
    if (w->initial) {
        step = fill_initial(w);
    }
    if (!w->initial && step == SL_STREAM_MORE) {
        step = fill_live(w, until);
    }
    return step == SL_STREAM_WAIT && out->len > before ? SL_STREAM_MORE : step;
}

/* Moves on over other kinds' events, so that a quiet watch never falls behind the log. */
static bool watch_ready(struct sl_stream *stream, int64_t now_ms)
{
    struct watch *w = (struct watch *)stream;
    struct sl_store_event event;
    bool found = false;
    if (w->initial) {
        return !sl_store_dirty(w->rest->store);
    }
    uint64_t since = w->since;
    if (now_ms >= w->deadline_ms || is_over(w) || (w->bookmarks && now_ms >= w->bookmark_ms) ||
        sl_store_next(w->rest->store, w->shown.kind, &since, &event, &found, NULL) != SL_CODE_OK ||
        found) {
        return true;
    }
    w->since = since;
    return false;
}

/* --- the request ----------------------------------------------------------------------------- */

static bool check_initial_events(struct sl_request *r)
{
    const char *match = sl_request_arg(r, "resourceVersionMatch", "");
    bool asked = sl_request_arg(r, "sendInitialEvents", NULL) != NULL;
    if (asked == (strcmp(match, "NotOlderThan") == 0) && (asked || match[0] == '\0')) {
        return true;
    }
    return sl_options_refuse(
        r, "FieldValueForbidden", "resourceVersionMatch",
        asked
            ? "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            : "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
              "provided");
}

/* A limit that cannot be read is not ignored: a client that sets one does not want to wait for
 * longer. */
static bool read_timeout(struct sl_request *r, long long *timeout_s)
{
    const char *text = sl_request_arg(r, "timeoutSeconds", "0");
    char *end = NULL;
    *timeout_s = strtoll(text, &end, 10);
    if (*end != '\0') {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST,
                       "Invalid value: \"%.40s\": timeoutSeconds is not a whole number", text);
    }
    return *end == '\0';
}

static struct watch *watch_new(struct sl_request *r, uint64_t since, long long timeout_s)
{
    int64_t now_ms = sl_clock_now_ms();
    bool all = sl_request_flag(r, "sendInitialEvents");
    struct watch *w = sl_mem_new(1, sizeof *w);
    *w = (struct watch){.stream = {watch_fill, watch_ready, watch_free},
                        .rest = r->rest,
                        .shown = sl_shown_by(r),
                        .shape = r->accept.shape,
                        .ns = sl_mem_text(r->route.ns),
                        .include = sl_mem_text(sl_request_arg(r, "includeObject", "Metadata")),
                        .turn = sl_kind_turn(r->route.kind),
                        .since = all ? 0 : since,
                        .initial = all || since == 0,
                        .initial_end = all && sl_request_flag(r, "allowWatchBookmarks"),
                        .bookmarks = sl_request_flag(r, "allowWatchBookmarks"),
                        .bookmark_ms = now_ms + BOOKMARK_EVERY_MS};
    bool given = timeout_s > 0 && timeout_s <= TIMEOUT_S_MAX;
    w->deadline_ms = now_ms + (given ? timeout_s : TIMEOUT_S_DEFAULT) * 1000;
    r->rest->watch_count++;
    return w;
}

void sl_watch_serve(struct sl_request *r)
{
    uint64_t since = 0;
    long long timeout_s = 0;
    if (!check_initial_events(r) || !sl_read_revision(r, &since) || !read_timeout(r, &timeout_s)) {
        return;
    }
    if (r->rest->watch_count >= r->rest->watches_max) {
        sl_answer_fail(r, SL_CODE_TOO_MANY, "this server serves at most %u watches at a time",
                       r->rest->watches_max);
        return;
    }
    struct watch *w = watch_new(r, since, timeout_s);
    if (!sl_choice_init(r, &w->choice)) {
        watch_free(&w->stream);
        return;
    }
    r->answer = (struct sl_answer){
        .status = 200, .content_type = "application/json;stream=watch", .stream = &w->stream};
    if (w->shape == SL_SHAPE_OBJECT) {
        r->answer.content_type = "application/json";
    }
}
