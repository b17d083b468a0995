/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: the server on its loop with libmicrohttpd and a store, over connections of this process; the whole way of a
 * request, from bytes that arrive in pieces to an answer after the commit.
 * Oracle: every answer is HTTP, and JSON or YAML of what was asked for, errors are Statuses that agree with the status
 * line; a write that is answered is what the next read finds; one that is refused, or only tried, changes nothing; no
 * resourceVersion is older than one that was seen before; what a watch has told comes to what a list says; whatever
 * came before, a plain request is served, and nothing is left open in the end.
 * Input: one event is a request, the next piece of one, a connection that ends, or time that passes. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>
#include "base/clock.h"
#include "base/log.h"
#include "fuzz/lib/ask.h"
#include "fuzz/lib/check.h"
#include "fuzz/lib/seen.h"
#include "fuzz/lib/web.h"
#include "server/server.h"
#include "store/internal.h"

enum { CLIENTS = 4, EVENTS_MAX = 24, TURNS_MAX = 2000, WATCHES_MAX = 3 };
static const int64_t start_ms = 1787392800000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct client {
    struct web web;
    struct ask ask;
    struct seen_watch watch;
    bool asked;      /* a request is under way */
    bool spoilt;     /* what was sent is no HTTP, or the last that is answered */
    uint64_t before; /* the store's revision when it was sent */
};

static uv_loop_t loop;
static struct sl_store *store;
static struct sl_server *server;
static struct client clients[CLIENTS];
static struct web control; /* of the client that checks */
static bool full;          /* the disk */
static char directory[] = "/dev/shm/sluice-fuzz-XXXXXX";

/* --- the store ------------------------------------------------------------------------------- */

static void close_store(void)
{
    static const char *const files[] = {"sluice.db", "sluice.db-wal", "sluice.db-shm", "lock"};
    char path[64];
    sl_store_close(store);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(directory);
}

static void make_default_namespace(void)
{
    struct sl_error e;
    struct sl_json *result = NULL, *ns = sl_object_new(SL_KIND_NAMESPACE, "", "default");
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = SL_KIND_NAMESPACE, .ns = "", .name = "default", .body = ns};
    CHECK(sl_store_apply(store, &w, &result, &e) == SL_CODE_OK);
    CHECK(sl_store_commit(store, &e) == SL_CODE_OK);
    sl_json_free(result);
    sl_json_free(ns);
}

/* Opening one takes as long as some programs do: it is opened once, and emptied. */
static void empty_store(void)
{
    struct sl_error e = {0};
    if (store == NULL) {
        CHECK(mkdtemp(directory) != NULL && sl_store_open(directory, &store, &e) == SL_CODE_OK);
        (void)atexit(close_store);
        sl_store_gate_pods(store, true);
    }
    sl_store_set_size_max(store, 0);
    sl_db_rollback(store);
    CHECK(sqlite3_exec(store->db,
                       "BEGIN; DELETE FROM objects; DELETE FROM owners; DELETE FROM collect;"
                       "DELETE FROM ending; UPDATE meta SET value = 0; COMMIT",
                       NULL, NULL, NULL) == SQLITE_OK);
    store->revision = store->durable = 0;
    store->bookkeeping = store->work_pending = store->work_blocked = false;
    store->expiry_next_ms = 0;
    sl_error_clear(&store->broken);
    sl_events_close(&store->log);
    sl_events_open(&store->log, 0);
    sl_store_seed(store, 7);
    make_default_namespace();
}

/* --- the loop -------------------------------------------------------------------------------- */

static void turn(void)
{
    for (int i = 0; i < 3; i++) {
        (void)uv_run(&loop, UV_RUN_NOWAIT);
    }
}

/* Until nothing is left to do but to wait. */
static void rest(void)
{
    int turns = 0;
    do {
        CHECK(turns++ < TURNS_MAX);
        turn();
    } while (uv_backend_timeout(&loop) == 0);
}

static void fire(uv_handle_t *handle, void *context)
{
    (void)context;
    if (handle->type == UV_TIMER && uv_is_active(handle)) {
        uv_timer_t *timer = (uv_timer_t *)handle;
        timer->timer_cb(timer);
    }
}

/* The clock of the server is virtual; its timers are told that their time has come. */
static void pass(int64_t ms)
{
    sl_clock_set_virtual(sl_clock_now_ms() + ms);
    uv_walk(&loop, fire, NULL);
    rest();
}

static void open_server(void)
{
    struct sl_error e;
    struct sl_server_options options = {
        .listen = "127.0.0.1:0", .watches_max = WATCHES_MAX, .version = "fuzz"};
    CHECK(uv_loop_init(&loop) == 0);
    CHECK(sl_server_start(&loop, store, &options, &server, &e) == SL_CODE_OK);
}

static void close_server(void)
{
    sl_server_stop(server);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&loop) == 0);
}

/* --- a client that knows what it does --------------------------------------------------------- */

/* The answer to a plain request, which always comes; good until the next. */
static void fetch(const char *method, const char *uri)
{
    struct ask a;
    if (!control.open || control.closed) {
        web_close(&control, true);
        web_open(&control, sl_server_port(server));
    }
    ask_plain(&a, method, uri);
    sl_buf_text(&control.out, a.text.data);
    ask_fini(&a);
    web_ask(&control, false);
    for (int turns = 0; !control.whole; turns++) {
        CHECK(turns < TURNS_MAX);
        web_send(&control, SIZE_MAX);
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        (void)web_receive(&control);
        CHECK(!control.closed || control.whole);
    }
    seen_answer(&control, true);
}

/* What was written is read; unless it has just gone, or was changed, by what a write brings about. */
static void check_written(const struct client *c, const struct sl_json *object)
{
    struct sl_buf uri = {0};
    ask_path(&uri, c->ask.kind, sl_object_namespace(object), sl_object_name(object));
    fetch("GET", uri.data);
    sl_buf_fini(&uri);
    struct sl_json *found = sl_json_parse(control.body.data, control.body.len, NULL);
    CHECK(found != NULL);
    bool may_go = sl_object_deleting(object) || sl_json_path(object, "metadata.ownerReferences") ||
                  sl_object_namespace(object)[0] != '\0';
    if (control.status == 404) {
        CHECK(may_go);
    } else {
        CHECK(control.status == 200);
        bool same =
            strcmp(sl_object_resource_version(object), sl_object_resource_version(found)) == 0;
        CHECK(same ? sl_json_equal(object, found) : may_go);
    }
    sl_json_free(found);
}

/* --- answers --------------------------------------------------------------------------------- */

static bool writes(const struct ask *a)
{
    return strcmp(a->method, "POST") == 0 || strcmp(a->method, "PUT") == 0 ||
           strcmp(a->method, "PATCH") == 0;
}

static void check_unchanged(const struct client *c)
{
    bool many = strcmp(c->ask.method, "DELETE") == 0 && c->ask.name[0] == '\0';
    bool tried = c->web.status >= 400 || c->ask.dry_run;
    bool reads = !writes(&c->ask) && strcmp(c->ask.method, "DELETE") != 0;
    if (reads || (tried && !many)) {
        CHECK(sl_store_durable(store) == c->before);
    }
}

static void check_object(struct client *c)
{
    struct sl_json *v = sl_json_parse(c->web.body.data, c->web.body.len, NULL);
    bool is_object = sl_object_name(v)[0] != '\0' && sl_object_uid(v)[0] != '\0' &&
                     strcmp(sl_json_path_text(v, "kind", ""), sl_kind_info(c->ask.kind)->kind) == 0;
    if (is_object) {
        CHECK(strcmp(sl_object_namespace(v), c->ask.ns) == 0);
        if (writes(&c->ask) && !c->ask.dry_run) {
            check_written(c, v);
        }
    }
    sl_json_free(v);
}

/* One that came in one go has nobody else's writes beside it. */
static void check_answer(struct client *c, bool alone)
{
    struct web *w = &c->web;
    c->asked = false;
    c->spoilt = w->closes;
    CHECK(w->status < 500 || full || w->status == 504 || w->status == 501 || w->status == 505);
    CHECK(c->ask.plain || w->status >= 400);
    seen_answer(w, !c->ask.dry_run);
    if (alone && !full) {
        check_unchanged(c);
    }
    if (w->status < 300 && !w->bodiless && c->ask.kind != SL_KIND_COUNT) {
        check_object(c);
    }
}

static void hear(struct client *c, bool alone)
{
    if (!c->web.open || !web_receive(&c->web)) {
        return;
    }
    bool streams = c->asked && c->ask.watch && c->web.status == 200 && c->web.chunked;
    if (streams) {
        seen_watch_take(&c->watch, &c->web.body);
    }
    if (c->asked && c->web.whole && streams) {
        c->asked = false;
    } else if (c->asked && c->web.whole) {
        check_answer(c, alone);
    }
}

/* --- events ---------------------------------------------------------------------------------- */

static void hang_up(struct client *c, bool abruptly)
{
    web_close(&c->web, abruptly);
    seen_watch_fini(&c->watch);
    ask_fini(&c->ask);
    *c = (struct client){.asked = false};
}

/* What is said is out, and answered but for a watch, which goes on. */
static void finish(struct client *c, bool alone)
{
    for (int turns = 0; c->asked && !c->web.closed; turns++) {
        bool out = c->web.out.len == 0;
        if (out && c->ask.watch && c->web.status == 200 && uv_backend_timeout(&loop) != 0) {
            break;
        }
        CHECK(turns < TURNS_MAX);
        web_send(&c->web, SIZE_MAX);
        (void)uv_run(&loop, UV_RUN_NOWAIT);
        hear(c, alone);
    }
    CHECK(!c->asked || c->ask.watch || full || c->spoilt);
}

static void ask(struct client *c, struct producer *p)
{
    uint32_t piece = producer_byte(p);
    struct ask_hints hints = {
        .revision = sl_store_durable(store), .token = seen_token(), .body = {.uid = seen_uid()}};
    if (c->web.closed || c->asked || c->spoilt) {
        hang_up(c, true);
    }
    if (!c->web.open) {
        web_open(&c->web, sl_server_port(server));
    }
    ask_fini(&c->ask);
    seen_watch_fini(&c->watch);
    ask_make(&c->ask, p, &hints, seen_version);
    seen_watch_init(&c->watch, &c->ask);
    web_ask(&c->web, strcmp(c->ask.method, "HEAD") == 0);
    sl_buf_add(&c->web.out, c->ask.text.data, c->ask.text.len);
    c->asked = true;
    rest();
    c->before = sl_store_durable(store);
    if (piece < 192) {
        finish(c, !sl_store_dirty(store));
    } else {
        web_send(&c->web, piece % 64 * 4 + 1);
        turn();
    }
}

static void go_on(struct client *c, struct producer *p)
{
    uint32_t piece = producer_byte(p);
    if (!c->web.open || !c->asked || c->web.closed) {
        return;
    }
    if (piece < 64) {
        finish(c, false);
    } else {
        web_send(&c->web, piece);
        turn();
        hear(c, false);
    }
}

static void babble(struct client *c, struct producer *p)
{
    static const char *const odd[] = {
        "GET",
        " / HTTP/1.1\r\n",
        "\r\n\r\n",
        "Host: localhost\r\n",
        "POST /api HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /api HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /api HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02"};
    if (!c->web.open || c->web.closed || c->asked) {
        hang_up(c, true);
        web_open(&c->web, sl_server_port(server));
    }
    c->spoilt = true;
    for (int i = 0; i < 3; i++) {
        sl_buf_text(&c->web.out, odd[producer_below(p, sizeof odd / sizeof odd[0])]);
    }
    sl_buf_add(&c->web.out, (const char *)p->data, p->left);
    web_send(&c->web, SIZE_MAX);
    turn();
}

static void fill_disk(bool now_full)
{
    full = full || now_full;
    rest();
    sl_store_set_size_max(store, now_full ? 1 : 0);
}

static void happen(struct producer *p)
{
    static const int64_t times_ms[] = {1000, 31000, 61000, 3600000};
    uint32_t operation = producer_byte(p);
    struct client *c = &clients[operation % CLIENTS];
    switch (operation / CLIENTS % 16) {
    case 0:
    case 1:
        go_on(c, p);
        break;
    case 2:
        hang_up(c, producer_byte(p) % 2 == 0);
        turn();
        break;
    case 3:
        pass(times_ms[producer_below(p, 4)]);
        break;
    case 4:
        babble(c, p);
        break;
    case 5:
        fill_disk(producer_byte(p) % 4 == 3);
        break;
    default:
        ask(c, p);
        break;
    }
}

/* --- programs -------------------------------------------------------------------------------- */

/* What the watch has told comes to what there is. */
static void check_watch(struct client *c)
{
    bool one = c->ask.name != NULL && c->ask.name[0] != '\0';
    if (!c->asked || !c->ask.watch || c->ask.kind == SL_KIND_COUNT || c->web.status != 200 ||
        c->web.bodiless || c->web.closed || !c->watch.all || c->watch.ended ||
        (one && strchr(c->ask.list_uri, '?') != NULL)) {
        return;
    }
    fetch("GET", c->ask.list_uri);
    CHECK(control.status == 200 || (one && control.status == 404));
    struct sl_json *list = sl_json_parse(control.body.data, control.body.len, NULL);
    seen_watch_compare(&c->watch, list);
    sl_json_free(list);
}

static void conclude(bool hurry)
{
    sl_store_set_size_max(store, 0);
    rest();
    for (size_t i = 0; i < CLIENTS; i++) {
        hear(&clients[i], false);
    }
    rest();
    for (size_t i = 0; i < CLIENTS; i++) {
        hear(&clients[i], false);
        check_watch(&clients[i]);
    }
    fetch("GET", "/api/v1/namespaces");
    CHECK(control.status == 200);
    for (size_t i = 0; i < CLIENTS && !hurry; i++) {
        hang_up(&clients[i], true);
    }
    web_close(&control, true);
    turn();
    close_server();
    for (size_t i = 0; i < CLIENTS; i++) {
        hang_up(&clients[i], true);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct producer program = {data, size}, event;
    sl_log_setup(SL_LOG_ERROR, false);
    sl_clock_set_virtual(start_ms);
    empty_store();
    open_server();
    seen_open();
    full = false;
    for (int i = 0; i < EVENTS_MAX && producer_event(&program, &event); i++) {
        happen(&event);
        for (size_t j = 0; j < CLIENTS; j++) {
            hear(&clients[j], false);
        }
    }
    conclude(size % 2 == 1);
    seen_close();
    return 0;
}
