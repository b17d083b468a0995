/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One kind's cache kept like the server's. There is one exchange at a time, or a time at which the next one begins;
 * an exchange is never ended from within its own callbacks, but at the next step. */
#include "kube/reflector_steps.h"

#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/status.h"

#define BACKOFF_FIRST_MS 800
#define BACKOFF_MOST_MS 10000 /* a server that is back is noticed soon; a handful of kinds ask */
#define PAGE_LIMIT 500
#define PAGE_LIMIT_MIN 8u    /* objects of the largest size that etcd takes fit an answer then */
#define OBJECTS_MAX 1000000u /* of a list: one that goes on is none */
#define LIST_MS_MAX 60000
#define WATCH_S_MIN 300
#define WATCH_S_MAX 600
#define WATCH_IDLE_MS_MAX 150000 /* bookmarks come about every minute */
#define WATCH_MS_MIN 1000        /* one that ends sooner, and said nothing, has failed */
#define RELIST_MS_MIN 1000       /* between lists that begin without a wait */
#define DOUBT_FIRST_MS 1000      /* what is in doubt is listed again soon, then seldom */
#define DOUBT_MOST_MS 300000
#define LINE_SIZE_MAX (8u << 20)
#define CONFIRMATIONS 2u
#define FAILURES_MAX 3u /* then the version that we ask for may be the reason */

/* A first list is compared with nothing: so much later with a second one, and that with a third. */
static const int64_t confirm_ms[CONFIRMATIONS] = {60000, 900000};

static const char *title(const struct sl_reflector *r)
{
    return sl_kind_info(r->cache.kind)->kind;
}

static int64_t now_ms(const struct sl_reflector *r)
{
    return (int64_t)uv_now(r->loop);
}

void sl_reflector_plan(struct sl_reflector *r, enum sl_reflector_next next, int64_t wait_ms)
{
    SL_PRE(r != NULL);
    r->next = next;
    r->due_ms = now_ms(r) + wait_ms;
    r->wake(r->wake_context);
}

static void forget_list(struct sl_reflector *r)
{
    for (size_t i = 0; i < r->missing_count; i++) {
        sl_mem_free(r->missing[i]);
    }
    sl_mem_free(r->missing);
    r->missing = NULL;
    r->missing_count = r->missing_next = 0;
    r->lacks = false;
    sl_mem_free(r->page);
    sl_mem_free(r->page_kept);
    r->page = r->page_kept = NULL;
    r->pages = 0;
    r->list_version = 0;
}

void sl_reflector_init(struct sl_reflector *r, enum sl_kind kind, uint64_t seed)
{
    SL_PRE(r->transport != NULL && r->loop != NULL && r->wake != NULL && r->counters != NULL);
    sl_cache_init(&r->cache, kind);
    sl_backoff_init(&r->backoff, BACKOFF_FIRST_MS, BACKOFF_MOST_MS, seed);
    sl_backoff_init(&r->doubts, DOUBT_FIRST_MS, DOUBT_MOST_MS, ~seed);
    r->doubt_ms = SL_NEVER_MS;
    r->relisted_ms = now_ms(r) - RELIST_MS_MIN;
    r->limit = PAGE_LIMIT;
    sl_reflector_plan(r, SL_NEXT_LIST, 0);
}

void sl_reflector_fini(struct sl_reflector *r)
{
    SL_PRE(r != NULL);
    if (r->exchange != NULL) {
        sl_transport_cancel(r->exchange);
    }
    forget_list(r);
    sl_buf_fini(&r->line);
    sl_item_fini(&r->item);
    sl_cache_fini(&r->cache);
}

/* --- failures -------------------------------------------------------------------------------- */

/* A server that is away is worth two lines, not two for every kind. */
static bool is_news(struct sl_reflector *r, const struct sl_error *e)
{
    bool away = e->code == SL_CODE_UNAVAILABLE;
    if (away && !r->away) {
        r->away = true;
        return (*r->away_count)++ == 0;
    }
    return !away && r->failures == 0;
}

void sl_reflector_reached(struct sl_reflector *r)
{
    SL_PRE(r != NULL);
    if (r->away) {
        r->away = false;
        if (--*r->away_count == 0) {
            sl_log(SL_LOG_INFO, "in touch with the API server again", NULL);
        }
    }
}

/* Of all that is asked for, watches alone go on from where they were. */
void sl_reflector_failed(struct sl_reflector *r, enum sl_reflector_next next, int64_t least_ms,
                         const struct sl_error *e)
{
    SL_PRE(r != NULL);
    int64_t wait_ms = sl_backoff_next_ms(&r->backoff);
    wait_ms = wait_ms < least_ms ? least_ms : wait_ms;
    sl_log(is_news(r, e) ? SL_LOG_WARN : SL_LOG_DEBUG,
           next == SL_NEXT_WATCH ? "watch failed, trying again" : "list failed, trying again",
           "kind", title(r), "in_ms", sl_log_number(wait_ms), "error", e->text, NULL);
    r->failures++;
    forget_list(r);
    sl_reflector_plan(r, next, wait_ms);
}

/* `least_ms` as above. */
static void relist(struct sl_reflector *r, int64_t least_ms, const struct sl_error *e)
{
    bool at_once = r->failures++ == 0 && now_ms(r) - r->relisted_ms >= RELIST_MS_MIN;
    int64_t wait_ms = at_once ? 0 : sl_backoff_next_ms(&r->backoff);
    r->relisted_ms = at_once ? now_ms(r) : r->relisted_ms;
    r->counters->relists++;
    sl_log(SL_LOG_INFO, "listing again", "kind", title(r), "reason", e->text, NULL);
    forget_list(r);
    /* At once the first time; a server that refuses what it has just listed must not be hammered. */
    sl_reflector_plan(r, SL_NEXT_LIST, wait_ms < least_ms ? least_ms : wait_ms);
}

static void recovered(struct sl_reflector *r)
{
    sl_reflector_reached(r);
    r->failures = 0;
    sl_backoff_reset(&r->backoff);
}

/* --- doubts ---------------------------------------------------------------------------------- */

/* A watch does not repeat what it has shown, nor show what stays as it is: it is ended for the list. */
static void plan_doubt(struct sl_reflector *r)
{
    if (r->watching && r->doubt_ms < r->due_ms) {
        r->next = SL_NEXT_LIST;
        r->due_ms = r->doubt_ms;
        r->wake(r->wake_context);
    }
}

void sl_reflector_doubt(struct sl_reflector *r)
{
    SL_PRE(r != NULL);
    if (r->doubtful) {
        return;
    }
    if (now_ms(r) - r->doubted_ms > 2 * DOUBT_MOST_MS) {
        sl_backoff_reset(&r->doubts);
    }
    int64_t due_ms = now_ms(r) + sl_backoff_next_ms(&r->doubts);
    r->doubtful = true;
    r->doubted_ms = now_ms(r);
    r->doubt_ms = due_ms < r->doubt_ms ? due_ms : r->doubt_ms;
    plan_doubt(r);
}

static void doubt_unreadable(struct sl_reflector *r)
{
    if (r->cache.unreadable > 0) {
        sl_reflector_doubt(r);
    }
}

void sl_reflector_watch(struct sl_reflector *r, sl_watch_fn *fn, void *context)
{
    SL_PRE(r != NULL);
    sl_cache_watch(&r->cache, fn, context);
    doubt_unreadable(r);
}

/* --- listing --------------------------------------------------------------------------------- */

/* Tokens that come again go on for ever. Of the pages 1, 2, 4, 8 and so on the token is kept: in a circle, of whatever
 * length, one of them is seen again. */
static bool is_circle(struct sl_reflector *r)
{
    bool again = r->page_kept != NULL && strcmp(r->page_kept, r->page) == 0;
    r->pages++;
    if ((r->pages & (r->pages - 1)) == 0) {
        sl_mem_free(r->page_kept);
        r->page_kept = sl_mem_text(r->page);
    }
    return again;
}

static void list_has_come(struct sl_reflector *r)
{
    if (r->unserved) {
        sl_log(SL_LOG_INFO, "the API server serves this kind", "kind", title(r), NULL);
        r->unserved = false;
    }
    r->missing = sl_cache_missing(&r->cache, r->list_version, &r->missing_count);
    r->missing_next = 0;
    if (r->missing_count > 0) {
        sl_reflector_plan(r, SL_NEXT_CONFIRM, 0);
    } else {
        sl_reflector_listed(r);
    }
}

void sl_reflector_listed(struct sl_reflector *r)
{
    SL_PRE(r != NULL);
    r->doubtful = false;
    r->doubt_ms = r->lists < CONFIRMATIONS ? now_ms(r) + confirm_ms[r->lists] : SL_NEVER_MS;
    r->lists++;
    sl_cache_list_end(&r->cache, r->list_version);
    doubt_unreadable(r);
    r->stale = false;
    r->limit = PAGE_LIMIT;
    forget_list(r);
    sl_reflector_plan(r, SL_NEXT_WATCH, 0);
}

static void take_page(struct sl_reflector *r, const struct sl_response *response)
{
    struct sl_error e = {0};
    struct sl_span body = {response->body, response->body_len};
    sl_reflector_reached(r);
    sl_mem_free(r->page);
    r->page = NULL;
    if (sl_reflector_page(&r->cache, &r->item, body, &r->page, &r->list_version, &e) !=
        SL_CODE_OK) {
        sl_reflector_failed(r, SL_NEXT_LIST, 0, &e);
    } else if (r->page == NULL) {
        list_has_come(r);
    } else if (is_circle(r)) {
        sl_error_set(&e, SL_CODE_BAD_REQUEST, "the pages of the list come again and again");
        sl_reflector_failed(r, SL_NEXT_LIST, 0, &e);
    } else if (r->pages > OBJECTS_MAX / r->limit) {
        sl_error_set(&e, SL_CODE_TOO_LARGE,
                     "the list of %s does not end: it has more than %u pages",
                     sl_kind_info(r->cache.kind)->plural, r->pages);
        sl_reflector_failed(r, SL_NEXT_LIST, 0, &e);
    } else {
        sl_reflector_plan(r, SL_NEXT_PAGE, 0);
    }
}

static void on_page(void *context, const struct sl_response *response)
{
    struct sl_reflector *r = context;
    struct sl_error e = {0};
    r->exchange = NULL;
    enum sl_code code = sl_status_read(response, &e);
    if (code == SL_CODE_OK) {
        take_page(r, response);
    } else if (response->status == 404) {
        sl_reflector_unserved(r, &e);
    } else if (code == SL_CODE_GONE) { /* the list took longer than its version lived */
        relist(r, response->retry_ms, &e);
    } else {
        bool halve = response->code == SL_CODE_TOO_LARGE && r->limit / 2 >= PAGE_LIMIT_MIN;
        r->limit = halve ? r->limit / 2 : r->limit;
        sl_reflector_failed(r, SL_NEXT_LIST, response->retry_ms, &e);
    }
}

static void list(struct sl_reflector *r)
{
    struct sl_buf path = {0};
    sl_status_path(&path, r->cache.kind, "", "", "");
    sl_buf_print(&path, "?limit=%u", r->limit);
    if (r->page != NULL) {
        sl_buf_text(&path, "&continue=");
        sl_status_escape(&path, r->page, strlen(r->page));
    } else {
        r->counters->lists++;
        sl_cache_list_ask(&r->cache);
    }
    struct sl_request q = {.method = "GET", .path = path.data, .timeout_ms = LIST_MS_MAX};
    r->exchange = sl_transport_send(r->transport, &q, NULL, on_page, r);
    sl_buf_fini(&path);
}

/* --- watching -------------------------------------------------------------------------------- */

static void take_line(struct sl_reflector *r, const char *line, size_t len)
{
    struct sl_error e = {0};
    struct sl_span span = {line, len};
    if (len == 0 || r->broken) {
        return;
    }
    enum sl_code code = sl_reflector_event(&r->cache, &r->item, span, &e);
    if (code == SL_CODE_OK) {
        r->counters->events++;
        r->heard = true;
        recovered(r);
        doubt_unreadable(r);
        return;
    }
    r->broken = true;
    if (code == SL_CODE_UNAVAILABLE) {
        sl_reflector_failed(r, SL_NEXT_WATCH, 0, &e);
    } else {
        relist(r, 0, &e);
    }
}

static void keep_rest(struct sl_reflector *r, const char *data, size_t len)
{
    sl_buf_add(&r->line, data, len);
    if (r->line.len > LINE_SIZE_MAX && !r->broken) {
        struct sl_error e = {0};
        sl_error_set(&e, SL_CODE_TOO_LARGE, "a watch event is larger than %u bytes", LINE_SIZE_MAX);
        r->broken = true;
        relist(r, 0, &e);
    }
}

static void on_data(void *context, const char *data, size_t len)
{
    struct sl_reflector *r = context;
    const char *end = data + len;
    while (data < end && !r->broken) {
        const char *newline = memchr(data, '\n', (size_t)(end - data));
        if (newline == NULL) {
            keep_rest(r, data, (size_t)(end - data));
            return;
        }
        if (r->line.len == 0) {
            take_line(r, data, (size_t)(newline - data));
        } else {
            sl_buf_add(&r->line, data, (size_t)(newline - data));
            take_line(r, r->line.data, r->line.len);
            sl_buf_reset(&r->line);
        }
        data = newline + 1;
    }
}

/* The server ends watches now and then; that is no failure. They do not follow each other faster
 * than a watch without events may end. */
static void ended(struct sl_reflector *r)
{
    struct sl_error e = {0};
    int64_t lasted_ms = now_ms(r) - r->watch_began_ms;
    if (r->heard || lasted_ms >= WATCH_MS_MIN) {
        recovered(r);
        sl_reflector_plan(r, SL_NEXT_WATCH,
                          lasted_ms < WATCH_MS_MIN ? WATCH_MS_MIN - lasted_ms : 0);
    } else {
        sl_error_set(&e, SL_CODE_UNAVAILABLE, "the API server ended the watch at once");
        sl_reflector_failed(r, SL_NEXT_WATCH, 0, &e);
    }
}

static void on_watch_end(void *context, const struct sl_response *response)
{
    struct sl_reflector *r = context;
    struct sl_error e = {0};
    r->exchange = NULL;
    r->watching = false;
    if (r->broken) {
        return; /* the next thing to do is planned */
    }
    enum sl_code code = sl_status_read(response, &e);
    bool hopeless = response->status >= 300 && r->failures >= FAILURES_MAX;
    if (code == SL_CODE_OK) {
        ended(r);
    } else if (code == SL_CODE_GONE || response->status == 404 || hopeless) {
        relist(r, response->retry_ms, &e);
    } else {
        sl_reflector_failed(r, SL_NEXT_WATCH, response->retry_ms, &e);
    }
}

static void watch(struct sl_reflector *r)
{
    struct sl_buf path = {0};
    uint64_t spread = sl_backoff_random(&r->backoff.seed) % (WATCH_S_MAX - WATCH_S_MIN + 1);
    int64_t limit_s = WATCH_S_MIN + (int64_t)spread;
    sl_status_path(&path, r->cache.kind, "", "", "");
    sl_buf_print(&path,
                 "?watch=true&allowWatchBookmarks=true&resourceVersion=%llu&timeoutSeconds=%lld",
                 (unsigned long long)r->cache.watched, (long long)limit_s);
    struct sl_request q = {.method = "GET",
                           .path = path.data,
                           .timeout_ms = (limit_s + 60) * 1000,
                           .idle_ms = WATCH_IDLE_MS_MAX};
    sl_buf_fini(&r->line);
    r->heard = false;
    r->watch_began_ms = now_ms(r);
    r->counters->watches++;
    r->exchange = sl_transport_send(r->transport, &q, on_data, on_watch_end, r);
    sl_buf_fini(&path);
    r->watching = true;
    plan_doubt(r);
}

void sl_reflector_step(struct sl_reflector *r)
{
    SL_PRE(r != NULL);
    if (r->due_ms > now_ms(r)) {
        return;
    }
    if (r->exchange != NULL) {
        sl_transport_cancel(r->exchange);
        r->exchange = NULL;
    }
    r->broken = r->watching = false;
    r->due_ms = SL_NEVER_MS;
    switch (r->next) {
    case SL_NEXT_LIST:
    case SL_NEXT_PAGE:
        if (sl_kind_info(r->cache.kind)->plural[0] == '\0') {
            sl_reflector_ask_groups(r); /* how its objects are called is to be found out first */
        } else {
            list(r);
        }
        break;
    case SL_NEXT_CONFIRM:
        sl_reflector_confirm(r);
        break;
    case SL_NEXT_WATCH:
        if (r->doubt_ms <= now_ms(r)) {
            list(r);
        } else {
            watch(r);
        }
        break;
    case SL_NEXT_GROUPS:
        sl_reflector_ask_groups(r);
        break;
    case SL_NEXT_RESOURCES:
        sl_reflector_ask_resources(r);
        break;
    }
}

void sl_reflector_refresh(struct sl_reflector *r)
{
    SL_PRE(r != NULL);
    if (r->exchange != NULL) {
        sl_transport_cancel(r->exchange);
        r->exchange = NULL;
        r->watching = false;
    }
    r->stale = true;
    forget_list(r);
    sl_reflector_plan(r, SL_NEXT_LIST, 0);
}
