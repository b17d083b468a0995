/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: the reflector with its cache, the scanner and the reducer, directly below the transport: the bytes of
 * answers and watches come from a server that is honest and hostile by turns, and so does the time.
 * Oracle: after honest lists and events the cache is what the server has, and after anything at all it is so again
 * once the server is honest, within a bounded number of requests and no longer than it may wait; watchers were told
 * exactly what the cache holds; who is refused waits as long as it was told; no server however stubborn is asked
 * again and again without a pause; a line that does not end is not kept for ever.
 * Input: one event is a change in the server, an answer, a piece of a watch, an end, or time that passes. */
#include <string.h>
#include "base/log.h"
#include "fuzz/lib/apitext.h"
#include "fuzz/lib/check.h"
#include "kube/reflector.h"

enum { SIDES = 2, PAGE = 3, EVENTS_MAX = 48, SETTLE_MAX = 64, STUBBORN_MAX = 60 };
enum {
    LINE_MAX_BYTES = 8 << 20,
    PIECE_BYTES = 1 << 20,
    RETRY_MS_MAX = 60000,
    DOUBT_MS_MAX = 900000
};
static const uint64_t version_max = 1000000000000000000u;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sl_transport {
    int unused;
};
struct sl_exchange { /* of a side there is at most one */
    sl_data_fn *data;
    sl_response_fn *done;
    void *context;
    bool open, watch, get; /* get: one object is asked for, the one that the list lacks */
    bool faithful;         /* nothing but the truth was said on this watch */
    uint64_t since;
    char token[64];
};

struct side {
    struct sl_exchange x;
    struct sl_reflector r;
    struct apitext_object truth[APITEXT_NAMES];
    uint64_t version;      /* of the truth */
    uint64_t list_version; /* of an honest list under way, or the last one */
    bool pure;             /* every page of the list under way was honest */
    bool in_step;          /* the cache was last told the truth, and all of it */
    struct sl_json *told;  /* by key, the versions that the watchers know */
    unsigned synced;
};

static struct side sides[SIDES];
static struct sl_transport transport;
static struct sl_kube_counters counters;
static unsigned away_count;
static bool flooded;
static int64_t now_ms;

uint64_t uv_now(const uv_loop_t *loop)
{
    (void)loop;
    return (uint64_t)now_ms;
}

/* --- the transport --------------------------------------------------------------------------- */

static uint64_t number_behind(const char *path, const char *key)
{
    const char *at = strstr(path, key);
    return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}

struct sl_exchange *sl_transport_send(struct sl_transport *t, const struct sl_request *q,
                                      sl_data_fn *data, sl_response_fn *done, void *context)
{
    struct side *s = NULL;
    for (size_t i = 0; i < SIDES; i++) {
        s = context == &sides[i].r ? &sides[i] : s;
    }
    CHECK(s != NULL && t == &transport && !s->x.open && s->r.due_ms == SL_NEVER_MS);
    CHECK(strncmp(q->path, "/api", 4) == 0 && q->body == NULL && q->timeout_ms > 0);
    const char *token = strstr(q->path, "&continue=");
    s->x = (struct sl_exchange){.data = data,
                                .done = done,
                                .context = context,
                                .open = true,
                                .watch = data != NULL,
                                .get = strchr(q->path, '?') == NULL,
                                .since = number_behind(q->path, "&resourceVersion=")};
    s->x.faithful = s->x.watch && s->in_step && s->x.since == s->version;
    (void)snprintf(s->x.token, sizeof s->x.token, "%s", token == NULL ? "" : token + 10);
    return &s->x;
}

void sl_transport_cancel(struct sl_exchange *x)
{
    CHECK(x->open);
    x->open = false;
}

static void wake(void *context)
{
    CHECK(context != NULL);
}

/* --- watchers -------------------------------------------------------------------------------- */

static const char *key_of(const struct sl_json *o, char out[static 1024])
{
    (void)snprintf(out, 1024, "%s/%s", sl_object_namespace(o), sl_object_name(o));
    return out;
}

static void on_told(void *context, enum sl_watch_type type, enum sl_kind kind, struct sl_json *o)
{
    struct side *s = context;
    char key[1024];
    if (type == SL_WATCH_SYNCED) {
        CHECK(o == NULL && ++s->synced == 1);
        return;
    }
    CHECK(kind == s->r.cache.kind && o != NULL);
    if (type == SL_WATCH_UNREADABLE) {
        return;
    }
    CHECK(strcmp(sl_json_path_text(o, "kind", ""), sl_kind_info(kind)->kind) == 0);
    CHECK(sl_json_has(s->told, key_of(o, key)) == (type != SL_WATCH_ADDED));
    if (type == SL_WATCH_DELETED) {
        sl_json_remove(s->told, key);
    } else {
        sl_json_set_text(s->told, key, sl_object_resource_version(o));
    }
}

static void compare_told(void *context, struct sl_json *o)
{
    const struct side *s = context;
    char key[1024];
    const char *known = sl_json_text(sl_json_get(s->told, key_of(o, key)), "");
    CHECK(strcmp(known, sl_object_resource_version(o)) == 0);
}

static void check_told(struct side *s)
{
    sl_cache_list(&s->r.cache, "", compare_told, s);
}

static void check_truth(struct side *s)
{
    size_t count = 0;
    struct sl_buf key = {0};
    if (!s->in_step) {
        return;
    }
    for (uint32_t i = 0; i < APITEXT_NAMES; i++) {
        uint64_t version = 0;
        sl_buf_reset(&key);
        apitext_key(&key, i);
        struct sl_json *o = sl_cache_get(&s->r.cache, key.data, &version);
        CHECK((o != NULL) == s->truth[i].there);
        CHECK(o == NULL || version == s->truth[i].version);
        CHECK(o == NULL || strtoul(sl_object_uid(o) + 1, NULL, 10) == s->truth[i].uid);
        count += o != NULL;
        sl_json_free(o);
    }
    CHECK(count == sl_cache_count(&s->r.cache) && s->r.cache.synced && s->synced == 1);
    sl_buf_fini(&key);
}

/* --- saying something ------------------------------------------------------------------------ */

/* Whatever is due happens; what one step plans for at once is done by the next. */
static void turn(struct side *s)
{
    for (int i = 0; s->r.due_ms <= now_ms; i++) {
        CHECK(i < 4);
        sl_reflector_step(&s->r);
    }
    CHECK(sl_cache_count(&s->r.cache) == sl_json_len(s->told));
}

static void answer(struct side *s, int status, const struct sl_buf *body, int64_t retry_ms)
{
    bool fine = status >= 200 && status < 300;
    struct sl_response r = {.code = fine ? SL_CODE_OK : SL_CODE_UNAVAILABLE,
                            .status = status,
                            .retry_ms = retry_ms,
                            .reason = "cut off"};
    r.body = body == NULL || body->data == NULL ? "" : body->data;
    r.body_len = body == NULL ? 0 : body->len;
    bool doubts =
        s->r.watching && !s->r.broken; /* a list is planned, if at all, for another reason */
    bool planned = s->r.due_ms != SL_NEVER_MS && !doubts;
    CHECK(s->x.open);
    s->x.open = false;
    s->x.done(s->x.context, &r);
    bool waits = !fine && status != 0 && status != 404 && status != 410;
    CHECK(planned || !waits || s->r.due_ms - now_ms >= retry_ms);
}

static void bring(struct side *s, const char *data, size_t len, size_t piece)
{
    piece = piece == 0 ? len : piece;
    for (size_t at = 0; at < len && s->x.open; at += piece) {
        s->x.data(s->x.context, data + at, len - at < piece ? len - at : piece);
    }
}

static void bring_text(struct side *s, const char *text)
{
    s->x.faithful = false;
    bring(s, text, strlen(text), 0);
}

/* --- the honest server ----------------------------------------------------------------------- */

static const char gone_line[] =
    "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"old\"}}\n";

/* One page from what the token says on. True: it was the last. */
static bool honest_page(struct side *s)
{
    bool next = strncmp(s->x.token, "p", 1) == 0;
    uint32_t at = next ? (uint32_t)strtoul(s->x.token + 1, NULL, 10) : 0, count = 0;
    if (s->x.token[0] != '\0' && (!next || s->list_version != s->version || at > APITEXT_NAMES)) {
        answer(s, next ? 410 : 400, NULL, 0);
        return false;
    }
    struct sl_buf page = {0};
    s->list_version = s->version;
    s->pure = s->pure || !next;
    sl_buf_text(&page, "{\"items\":[");
    for (; at < APITEXT_NAMES && count < PAGE; at++) {
        if (s->truth[at].there) {
            sl_buf_text(&page, count++ == 0 ? "" : ",");
            apitext_object(&page, at, &s->truth[at]);
        }
    }
    sl_buf_print(&page, "],\"metadata\":{\"resourceVersion\":\"%llu\"",
                 (unsigned long long)s->version);
    if (at < APITEXT_NAMES) {
        sl_buf_print(&page, ",\"continue\":\"p%u\"", at);
    }
    sl_buf_text(&page, "}}");
    answer(s, 200, &page, 0);
    sl_buf_fini(&page);
    return at == APITEXT_NAMES;
}

/* The object that is asked for, or that there is none. */
static void honest_object(struct side *s)
{
    struct sl_buf key = {0}, body = {0};
    const char *asked = s->r.missing[s->r.missing_next];
    for (uint32_t i = 0; i < APITEXT_NAMES && body.len == 0; i++) {
        sl_buf_reset(&key);
        apitext_key(&key, i);
        if (s->truth[i].there && strcmp(key.data, asked) == 0) {
            apitext_object(&body, i, &s->truth[i]);
        }
    }
    if (body.len > 0) {
        answer(s, 200, &body, 0);
    } else {
        sl_buf_text(&body,
                    "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"details\":{\"name\":\"x\"}}");
        answer(s, 404, &body, 0);
    }
    sl_buf_fini(&key);
    sl_buf_fini(&body);
}

/* A list is the truth when all that it lacks has been asked for, and nothing has happened meanwhile. */
static bool is_listed(const struct side *s)
{
    return s->pure && s->r.next == SL_NEXT_WATCH && s->list_version == s->version;
}

/* What has happened since is told as one does whose log is short: not at all. */
static void be_honest(struct side *s)
{
    if (!s->x.open || s->r.broken) {
        return;
    }
    if (s->x.get) {
        honest_object(s);
        s->in_step = is_listed(s);
    } else if (!s->x.watch) {
        s->in_step = honest_page(s) && is_listed(s);
    } else if (!s->x.faithful) {
        bring_text(s, gone_line);
    }
    check_truth(s);
}

static void tell_change(struct side *s, const char *type, uint32_t name, uint32_t piece)
{
    struct sl_buf line = {0};
    sl_buf_print(&line, "{\"type\":\"%s\",\"object\":", type);
    apitext_object(&line, name, &s->truth[name]);
    sl_buf_text(&line, "}\n");
    bring(s, line.data, line.len, piece);
    sl_buf_fini(&line);
}

/* Something is made, changed or deleted; who watches faithfully is told. */
static void change(struct side *s, struct producer *p)
{
    uint32_t name = producer_below(p, APITEXT_NAMES), what = producer_byte(p);
    struct apitext_object *o = &s->truth[name];
    bool was = o->there, watched = s->x.open && s->x.faithful;
    if (s->version >= version_max) {
        return;
    }
    o->version = s->version += 1 + producer_byte(p) % 4;
    o->there = !was || what % 4 != 0;
    o->uid += !was || what % 16 == 1 ? 1 : 0; /* sometimes one of the same name, all at once */
    if (watched) {
        const char *type = !was ? "ADDED" : o->there ? "MODIFIED" : "DELETED";
        tell_change(s, type, name, producer_byte(p));
    } else {
        s->in_step = false;
    }
    check_truth(s);
}

/* The answer to a write of ours comes before the watch tells it. */
static void write_one(struct side *s, struct producer *p)
{
    uint32_t name = producer_below(p, APITEXT_NAMES);
    struct sl_buf text = {0};
    struct sl_error e = {0};
    bool in_step = s->in_step;
    if (!s->truth[name].there || s->version >= version_max) {
        return;
    }
    s->truth[name].version = ++s->version;
    apitext_object(&text, name, &s->truth[name]);
    CHECK(sl_item_reduce(&s->r.item, s->r.cache.kind, (struct sl_span){text.data, text.len}, &e) ==
          SL_CODE_OK);
    sl_cache_put(&s->r.cache, &s->r.item, SL_FROM_WRITE);
    sl_buf_fini(&text);
    s->in_step = in_step;
    if (s->x.open && s->x.faithful) {
        tell_change(s, "MODIFIED", name, producer_byte(p));
    } else {
        s->in_step = false;
    }
    check_truth(s);
}

/* A backup comes back, or many things happen that are no business of ours. */
static void jump(struct side *s, struct producer *p)
{
    uint32_t how = producer_byte(p);
    s->in_step = s->x.faithful = s->pure = false;
    if (how % 2 == 0) {
        s->version += how % 4 == 0 ? how : version_max / 3;
        s->version = s->version > version_max ? version_max : s->version;
        return;
    }
    s->version = s->version / 2 + APITEXT_NAMES;
    for (uint32_t i = 0; i < APITEXT_NAMES; i++) {
        struct apitext_object *o = &s->truth[i];
        o->version = o->version > s->version ? s->version - i : o->version;
    }
    if (s->x.open) {
        answer(s, 0, NULL, 0); /* with the server its connections went */
    }
}

/* --- the hostile server ---------------------------------------------------------------------- */

static int status_of(uint32_t which)
{
    static const int statuses[] = {410, 404, 403, 401, 429, 500, 503, 504, 301, 0, 422, 413};
    return which < 160 ? 200 : statuses[which % (sizeof statuses / sizeof statuses[0])];
}

static void say_page(struct side *s, struct producer *p)
{
    struct sl_buf body = {0};
    int status = status_of(producer_byte(p));
    int64_t retry_ms = producer_byte(p) % 4 == 3 ? producer_byte(p) * 1000 % RETRY_MS_MAX : 0;
    if (!s->x.open || s->x.watch) {
        return;
    }
    s->in_step = s->pure = false;
    if (status == 200) {
        apitext_hostile_page(&body, p, s->version);
    } else {
        sl_buf_text(&body,
                    "{\"kind\":\"Status\",\"reason\":\"Odd\",\"message\":\"%s\",\"code\":1}");
    }
    (void)apitext_damage(&body, p);
    answer(s, status, &body, retry_ms);
    sl_buf_fini(&body);
}

static void say_line(struct side *s, struct producer *p)
{
    struct sl_buf line = {0};
    uint32_t piece = producer_byte(p);
    if (!s->x.open || !s->x.watch) {
        return;
    }
    s->in_step = s->x.faithful = false;
    apitext_hostile_line(&line, p, s->version);
    (void)apitext_damage(&line, p);
    bring(s, line.data, line.len, piece);
    sl_buf_fini(&line);
}

static void end(struct side *s, struct producer *p)
{
    int status = status_of(producer_byte(p));
    int64_t retry_ms = producer_byte(p) % 4 == 3 ? producer_byte(p) * 1000 % RETRY_MS_MAX : 0;
    if (s->x.open) {
        s->in_step = s->in_step && s->x.watch;
        s->pure = false;
        answer(s, status, NULL, retry_ms);
    }
}

/* It takes as long as a hundred other programs: few do it, and once. */
static void flood(struct side *s, struct producer *p)
{
    static char piece[PIECE_BYTES];
    if (!s->x.open || !s->x.watch || flooded || producer_byte(p) != 77) {
        return;
    }
    memset(piece, 'x', sizeof piece);
    flooded = true;
    s->in_step = s->in_step && s->x.faithful;
    for (int i = 0; i < 10 && s->x.open; i++) {
        s->x.faithful = false;
        bring(s, piece, sizeof piece, 0);
        CHECK(s->r.line.len <= LINE_MAX_BYTES + PIECE_BYTES);
    }
}

/* --- the stubborn server --------------------------------------------------------------------- */

static void say_same_of_list(struct side *s, uint32_t how, int round)
{
    static const char *const pages[] = {
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}",
        "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"a\"},\"items\":[]}",
        "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"b\"},\"items\":[]}",
        "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"c\"},\"items\":[]}"};
    static const int statuses[] = {410, 404, 500, 0};
    struct sl_buf page = {0};
    if (how >= 3) {
        answer(s, statuses[how % 4], NULL, 0);
        return;
    }
    sl_buf_text(&page, how == 0 ? pages[0] : how == 1 ? pages[1] : pages[1 + round % 3]);
    answer(s, 200, &page, 0);
    sl_buf_fini(&page);
}

static void say_same_of_watch(struct side *s, uint32_t how)
{
    static const char mark[] =
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n";
    static const char *const lines[] = {gone_line, "nonsense\n",
                                        "{\"type\":\"ERROR\",\"object\":{\"code\":500}}\n"};
    static const int statuses[] = {200, 410, 0, 429};
    if (how >= 8) {
        bring_text(s, mark);
    }
    if (how % 8 >= 5) {
        bring_text(s, lines[how % 8 - 5]);
    } else if (s->x.open) {
        answer(s, statuses[how % 4], NULL, 0);
    }
}

/* The same answer whatever is asked: sooner or later we wait. */
static void be_stubborn(struct side *s, struct producer *p)
{
    uint32_t of_list = producer_below(p, 7), of_watch = producer_below(p, 16);
    s->in_step = s->pure = false;
    for (int round = 0; s->r.due_ms <= now_ms || s->r.due_ms == SL_NEVER_MS; round++) {
        CHECK(round < STUBBORN_MAX);
        turn(s);
        if (s->x.open && s->x.watch) {
            say_same_of_watch(s, of_watch);
        } else if (s->x.open) {
            say_same_of_list(s, of_list, round);
        }
    }
}

/* --- programs -------------------------------------------------------------------------------- */

static void pass(struct producer *p)
{
    static const int64_t times_ms[] = {1, 400, 800, 1000, 1500, 10000, 30000, 150000};
    now_ms += times_ms[producer_below(p, 8)];
}

static void happen(struct producer *p)
{
    uint32_t operation = producer_byte(p);
    struct side *s = &sides[operation % SIDES];
    switch (operation / SIDES % 16) {
    case 0:
    case 1:
        change(s, p);
        break;
    case 2:
        write_one(s, p);
        break;
    case 3:
        jump(s, p);
        break;
    case 4:
        flood(s, p);
        break;
    case 5:
        be_stubborn(s, p);
        break;
    case 6:
        end(s, p);
        break;
    case 7:
    case 8:
        pass(p);
        break;
    case 9:
    case 10:
        say_page(s, p);
        break;
    case 11:
    case 12:
    case 13:
        say_line(s, p);
        break;
    default:
        be_honest(s);
        break;
    }
}

/* From now on the server is honest: after one whole list all is well. */
static void settle(struct side *s)
{
    for (int rounds = 0; !(s->in_step && s->x.open && s->x.watch); rounds++) {
        CHECK(rounds < SETTLE_MAX);
        if (s->r.due_ms != SL_NEVER_MS && s->r.due_ms > now_ms) {
            CHECK(s->r.due_ms - now_ms <= (s->r.watching ? DOUBT_MS_MAX : RETRY_MS_MAX));
            now_ms = s->r.due_ms;
        }
        turn(s);
        be_honest(s);
    }
    turn(s);
    check_truth(s);
    check_told(s);
}

static void open_sides(void)
{
    static const enum sl_kind kinds[SIDES] = {SL_KIND_WORKLOAD, SL_KIND_POD};
    static uv_loop_t loop;
    now_ms = 1000000;
    away_count = 0;
    flooded = false;
    counters = (struct sl_kube_counters){0};
    for (size_t i = 0; i < SIDES; i++) {
        struct side *s = &sides[i];
        *s = (struct side){.version = 100, .told = sl_json_new_map()};
        s->r = (struct sl_reflector){.transport = &transport,
                                     .counters = &counters,
                                     .away_count = &away_count,
                                     .loop = &loop,
                                     .wake = wake,
                                     .wake_context = s};
        sl_reflector_init(&s->r, kinds[i], i);
        sl_cache_watch(&s->r.cache, on_told, s);
        turn(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, event;
    sl_log_setup(SL_LOG_ERROR, false);
    open_sides();
    for (int i = 0; i < EVENTS_MAX && producer_event(&program, &event); i++) {
        happen(&event);
        for (size_t side = 0; side < SIDES; side++) {
            turn(&sides[side]);
        }
    }
    for (size_t i = 0; i < SIDES; i++) {
        settle(&sides[i]);
        sl_reflector_fini(&sides[i].r);
        sl_json_free(sides[i].told);
    }
    CHECK(away_count <= SIDES);
    return 0;
}
