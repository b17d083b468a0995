/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* HTTP on the caller's loop: libmicrohttpd without threads of its own, driven by its epoll
 * descriptor. An answer that has to wait (for a commit, or a watch for its next event) suspends its
 * connection. Connections are accepted here: libmicrohttpd, when it is full, looks away from its listening socket
 * until something else makes it run again. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/http_parts.h"
#include "server/listen.h"

#define RUN_NS_MAX 5000000u /* for requests and streams at a time */
#define STREAM_BLOCK_BYTES 32768u
#define TELL_MS 60000u
#define TICK_MS 1000

uint64_t sl_http_now_ms(void)
{
    return uv_hrtime() / 1000000u;
}

/* --- exchanges ------------------------------------------------------------------------------- */

static void link_exchange(struct sl_server *server, struct exchange *x)
{
    x->next = server->exchanges;
    if (x->next != NULL) {
        x->next->previous = x;
    }
    server->exchanges = x;
}

static void unlink_exchange(struct sl_server *server, struct exchange *x)
{
    if (x->previous != NULL) {
        x->previous->next = x->next;
    } else {
        server->exchanges = x->next;
    }
    if (x->next != NULL) {
        x->next->previous = x->previous;
    }
}

static void suspend(struct exchange *x)
{
    SL_PRE(!x->suspended);
    x->suspended = true;
    MHD_suspend_connection(x->connection);
}

void sl_http_resume(struct exchange *x)
{
    SL_PRE(x->suspended);
    x->suspended = false;
    x->server->resumed = true;
    MHD_resume_connection(x->connection);
}

/* A request that was served waits for the commit, for its next turn, or for nothing any more: false. */
static bool waits(struct exchange *x)
{
    x->yields = x->request.again && !x->request.wait;
    x->server->yielded = x->server->yielded || (x->yields && !x->request.page.asleep);
    return x->request.wait || x->request.again;
}

/* Called first for each request; what it returns is passed to on_request. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct exchange *x = sl_mem_new(1, sizeof *x);
    x->server = context;
    x->connection = connection;
    x->request.uri = sl_mem_text(uri);
    x->place =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    sl_connection_phase(x->place, SL_PHASE_HEADER, sl_http_now_ms());
    link_exchange(x->server, x);
    return x;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode code)
{
    struct exchange *x = *con_cls;
    (void)connection;
    (void)code;
    if (x == NULL) {
        return;
    }
    unlink_exchange(context, x);
    sl_connection_phase(x->place, SL_PHASE_IDLE, sl_http_now_ms());
    x->server->bodies -= x->held;
    sl_connection_hold(x->place, 0);
    sl_request_fini(&x->request);
    sl_buf_fini(&x->piece);
    sl_mem_free(x);
    *con_cls = NULL;
}

/* --- answers --------------------------------------------------------------------------------- */

/* The next bytes of a stream. 0 with a suspended connection means: nothing now. */
static ssize_t read_stream(void *context, uint64_t position, char *out, size_t cap)
{
    struct exchange *x = context;
    (void)position;
    while (x->piece_at == x->piece.len) {
        if (x->stream_ended) {
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        sl_buf_reset(&x->piece);
        x->piece_at = 0;
        struct sl_stream *stream = x->request.answer.stream;
        enum sl_stream_step step = stream->fill(stream, &x->piece);
        if (step == SL_STREAM_ABORT || x->server->stopping) {
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
        x->stream_ended = step == SL_STREAM_END;
        if ((step == SL_STREAM_WAIT || step == SL_STREAM_MORE) && x->piece.len == 0) {
            x->yields = step == SL_STREAM_MORE;
            x->server->yielded = x->server->yielded || x->yields;
            suspend(x);
            return 0;
        }
    }
    size_t size = x->piece.len - x->piece_at;
    size = size < cap ? size : cap;
    memcpy(out, x->piece.data + x->piece_at, size);
    x->piece_at += size;
    return (ssize_t)size;
}

static struct MHD_Response *make_response(struct exchange *x)
{
    struct sl_answer *a = &x->request.answer;
    if (a->stream != NULL) {
        x->streaming = true;
        sl_connection_phase(x->place, SL_PHASE_STREAM, sl_http_now_ms());
        x->piece = a->body; /* what comes before the stream's own */
        a->body = (struct sl_buf){.data = NULL};
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream,
                                                 x, NULL);
    }
    /* Lent: the exchange outlives the response. */
    return MHD_create_response_from_buffer(a->body.len, a->body.data != NULL ? a->body.data : "",
                                           MHD_RESPMEM_PERSISTENT);
}

/* The client has the page as it is now. */
static bool is_known(const struct exchange *x)
{
    const struct sl_answer *a = &x->request.answer;
    const char *has = a->etag == NULL ? NULL : sl_http_header(x, "If-None-Match");
    return has != NULL && a->status == 200 && strstr(has, a->etag) != NULL;
}

static void add_page_headers(struct MHD_Response *response, const struct sl_answer *a)
{
    if (a->etag != NULL) {
        (void)MHD_add_response_header(response, "ETag", a->etag);
    }
    for (const struct sl_server_header *h = a->headers; h != NULL && h->name != NULL; h++) {
        (void)MHD_add_response_header(response, h->name, h->value);
    }
}

static void note_act(const struct exchange *x)
{
    const struct sl_request *r = &x->request;
    const struct sl_server_audit *audit = &x->server->audit;
    struct sl_attributes about;
    if (audit->note == NULL) {
        return;
    }
    sl_request_attributes(r, &about);
    if (!sl_attributes_only_read(&about) || r->answer.status == 401 || r->answer.status == 403) {
        const struct sl_server_act act = {.user = r->user == NULL ? "" : r->user->name,
                                          .verb = about.verb,
                                          .path = r->path,
                                          .dry_run = sl_request_arg(r, "dryRun", "")[0] != '\0',
                                          .code = r->answer.status};
        audit->note(audit->context, &act);
    }
}

static enum MHD_Result queue_answer(struct exchange *x)
{
    struct sl_answer *a = &x->request.answer;
    note_act(x);
    if (is_known(x)) {
        a->status = 304;
        sl_buf_reset(&a->body);
    }
    struct MHD_Response *response = make_response(x);
    if (response == NULL) {
        return MHD_NO;
    }
    add_page_headers(response, a);
    (void)MHD_add_response_header(response, "Content-Type", a->content_type);
    (void)MHD_add_response_header(response, "Cache-Control", "no-cache, private");
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (a->allow != NULL) {
        (void)MHD_add_response_header(response, "Allow", a->allow);
    }
    for (size_t i = 0; i < sl_json_len(a->warnings); i++) {
        const char *warning = sl_json_text(sl_json_at(a->warnings, i), "");
        (void)MHD_add_response_header(response, "Warning", warning);
    }
    enum MHD_Result result = MHD_queue_response(x->connection, (unsigned)a->status, response);
    MHD_destroy_response(response);
    return result;
}

/* --- requests -------------------------------------------------------------------------------- */

const char *sl_http_header(const struct exchange *x, const char *name)
{
    SL_PRE(x != NULL);
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

static bool is_reading(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* By way of the API server a page has that one's name, or that of `kubectl proxy`. A question writes nothing. */
static bool is_proxied_question(const struct exchange *x)
{
    return x->server->rest.store == NULL && sl_serve_is_question(&x->request);
}

/* The API has no passwords, so a page of some web site must not be able to use it. One of another port of this machine
 * may ask, as its browser lets it read nothing; but it may not write. */
static bool check_caller(struct exchange *x)
{
    const char *host = sl_http_header(x, "Host"), *origin = sl_http_header(x, "Origin");
    const char *fetch = sl_http_header(x, "Sec-Fetch-Site");
    const char *site = origin == NULL ? NULL : strstr(origin, "://");
    bool here = host == NULL || sl_listen_is_loopback_name(host);
    bool own = (site != NULL && host != NULL && strcmp(site + 3, host) == 0) ||
               (is_proxied_question(x) && fetch != NULL && strcmp(fetch, "same-origin") == 0);
    bool local = site != NULL && here && sl_listen_is_loopback_name(site + 3);
    bool reads = is_reading(x->request.method);
    bool other = fetch != NULL && strcmp(fetch, "same-origin") != 0 && strcmp(fetch, "none") != 0;
    if ((!here && !x->server->allow_remote) || (origin != NULL && !own && !(local && reads)) ||
        (other && !reads)) {
        sl_answer_fail(&x->request, SL_CODE_FORBIDDEN,
                       x->server->allow_remote
                           ? "only pages of this server itself may use it"
                           : "only requests to a loopback name and from pages of this machine "
                             "are served; only pages of this server may write");
        return false;
    }
    return true;
}

static void begin(struct exchange *x, const char *method)
{
    char *uri = x->request.uri;
    x->begun = true;
    x->served = !sl_request_init(&x->request, &x->server->rest, method, uri);
    sl_mem_free(uri);
    x->request.accept_text = sl_mem_text(sl_http_header(x, "Accept"));
    x->request.content_type = sl_mem_text(sl_http_header(x, "Content-Type"));
    x->request.user_agent = sl_mem_text(sl_http_header(x, "User-Agent"));
    x->request.command = sl_mem_text(sl_http_header(x, "Kubectl-Command"));
    x->served = x->served || !check_caller(x);
    sl_http_body_begin(x);
}

/* False: not yet. */
static bool serve(struct exchange *x)
{
    enum sl_verdict verdict =
        sl_entry_ask(&x->request, x->connection, sl_connection_peer(x->place), &x->server->guard);
    if (verdict == SL_VERDICT_WAIT) {
        x->asked = true;
        suspend(x);
        return false;
    }
    x->served = true;
    if (verdict == SL_VERDICT_PASS) {
        uint64_t start_ns = uv_hrtime();
        sl_rest_serve(&x->request);
        sl_http_body_read(x, uv_hrtime() - start_ns);
    }
    return true;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **con_cls)
{
    struct exchange *x = *con_cls;
    (void)context;
    (void)connection;
    (void)url;
    (void)version;
    SL_PRE(x != NULL);
    if (!x->begun) {
        begin(x, method);
        return x->served ? queue_answer(x) : MHD_YES;
    }
    if (*upload_size > 0) {
        bool go_on = sl_http_body_take(x, upload, *upload_size);
        *upload_size = 0;
        return go_on ? MHD_YES : MHD_NO;
    }
    if (!x->served && x->server->stopping) {
        return MHD_NO;
    }
    sl_connection_phase(x->place, SL_PHASE_ANSWER, sl_http_now_ms());
    if (!x->served && sl_http_body_waits(x)) {
        x->deferred = x->yields = x->server->yielded = true;
        suspend(x);
        return MHD_YES; /* resume_yielded goes on */
    }
    if (!x->served && !serve(x)) {
        return MHD_YES; /* sl_server_ask_again goes on */
    }
    if (waits(x)) {
        if (x->server->stopping) {
            return MHD_NO; /* no answer is better than one that may not come true */
        }
        suspend(x); /* sl_http_on_commit goes on, or resume_yielded */
        return MHD_YES;
    }
    return queue_answer(x);
}

/* --- the loop -------------------------------------------------------------------------------- */

/* After a commit: requests that waited for it are answered; watches may have something to read. */
void sl_http_on_commit(void *context, enum sl_code code, const struct sl_error *e)
{
    struct sl_server *server = context;
    int64_t clock_ms = sl_clock_now_ms();
    for (struct exchange *x = server->exchanges, *next; x != NULL; x = next) {
        next = x->next;
        if (!x->suspended || x->asked || (x->yields && !x->streaming)) {
            continue; /* it waits for something else */
        }
        if (x->streaming) {
            struct sl_stream *stream = x->request.answer.stream;
            if (stream->ready(stream, clock_ms)) {
                sl_http_resume(x);
            }
            continue;
        }
        sl_rest_committed(&x->request, code, e);
        if (!waits(x)) {
            sl_http_resume(x);
        }
    }
}

void sl_server_ask_again(struct sl_server *server)
{
    SL_PRE(server != NULL);
    for (struct exchange *x = server->exchanges; x != NULL; x = x->next) {
        if (x->asked) {
            x->asked = false;
            sl_http_resume(x);
        }
    }
}

void sl_server_wake(struct sl_server *server)
{
    SL_PRE(server != NULL);
    server->yielded = true;
}

/* Once a minute at most: a flood of connections lasts. */
static void tell_crowding(struct sl_server *server)
{
    struct sl_connections_tally tally = sl_connections_tally(server->connections);
    uint64_t now_ms = sl_http_now_ms();
    if (tally.for_room == server->told || now_ms < server->tell_at_ms) {
        return;
    }
    sl_log(SL_LOG_WARN, "idle connections were closed to make room for others", "port",
           sl_log_number(server->port), "ended",
           sl_log_number((long long)(tally.for_room - server->told)), NULL);
    server->told = tally.for_room;
    server->tell_at_ms = now_ms + TELL_MS;
}

/* The library does not look after suspended connections: deadlines, bookmarks and clients that hung
 * up are handled here. */
void sl_http_on_tick(uv_timer_t *timer)
{
    SL_PRE(timer != NULL);
    struct sl_server *server = timer->data;
    int64_t clock_ms = sl_clock_now_ms();
    for (struct exchange *x = server->exchanges, *next; x != NULL; x = next) {
        next = x->next;
        if (!x->suspended || !x->streaming) {
            continue;
        }
        struct sl_stream *stream = x->request.answer.stream;
        if (sl_connection_gone(x->place)) {
            x->stream_ended = true;
            sl_http_resume(x);
        } else if (stream->ready(stream, clock_ms)) {
            sl_http_resume(x);
        }
    }
    sl_connections_sweep(server->connections, sl_http_now_ms());
    tell_crowding(server);
    if (server->accept_paused) {
        server->accept_paused = false;
        (void)uv_poll_start(&server->accept, UV_READABLE, sl_http_on_accept);
    }
    if (sl_connections_count(server->connections) == 0 && server->exchanges == NULL) {
        (void)uv_timer_stop(timer);
    }
}

/* Not without connections: an idle daemon does not wake up. */
void sl_http_tick(struct sl_server *server)
{
    SL_PRE(server != NULL);
    if (!server->stopping && uv_is_active((uv_handle_t *)&server->tick) == 0) {
        (void)uv_timer_start(&server->tick, sl_http_on_tick, TICK_MS, TICK_MS);
    }
}

static void keep_turning(uv_idle_t *idle)
{
    SL_ASSERT(idle->data != NULL); /* being active is all it is for: the loop does not block */
}

static void on_timeout(uv_timer_t *timer)
{
    struct sl_server *server = timer->data;
    server->resumed = true; /* lets the next turn run the daemon */
}

/* A connection gets one piece of a stream out at a time: a watch with many events does not fall
 * behind because the controllers take turns in between. */
void sl_http_run(struct sl_server *server)
{
    SL_PRE(server != NULL);
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    uint64_t start_ns = uv_hrtime();
    bool timed = false;
    bool more = false;
    server->resumed = false;
    do {
        if (MHD_run(server->daemon) != MHD_YES) {
            sl_log(SL_LOG_ERROR, "the HTTP daemon failed", NULL);
        }
        timed = MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES;
        more = timed && wait_ms == 0;
    } while (more && uv_hrtime() - start_ns < RUN_NS_MAX);
    (void)uv_timer_stop(&server->timeout);
    if (timed && !more) {
        (void)uv_timer_start(&server->timeout, on_timeout, wait_ms, 0);
    }
    server->resumed = server->resumed || more;
}

void sl_http_on_readable(uv_poll_t *poll, int status, int events)
{
    SL_PRE(poll != NULL);
    (void)status;
    (void)events;
    sl_http_run(poll->data);
}

/* After accept4 has failed: where a resource other than places is short, another connection is ended
 * for it; where there is none to end, none is accepted until the next tick. */
static void on_accept_failure(struct sl_server *server)
{
    int reason = errno;
    if (reason == EAGAIN || reason == EWOULDBLOCK || reason == EINTR || reason == ECONNABORTED ||
        sl_connections_end_one(server->connections, sl_http_now_ms())) {
        return;
    }
    sl_log(SL_LOG_WARN, "a connection cannot be accepted", "reason", strerror(reason), NULL);
    server->accept_paused = true;
    sl_http_tick(server);
    (void)uv_poll_stop(&server->accept);
}

void sl_http_on_accept(uv_poll_t *accept, int status, int events)
{
    SL_PRE(accept != NULL);
    struct sl_server *server = accept->data;
    (void)status;
    (void)events;
    for (unsigned i = 0; i < SL_ACCEPTED_AT_ONCE; i++) {
        struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
        socklen_t size = sizeof peer;
        struct sockaddr *address = (struct sockaddr *)(void *)&peer;
        int fd = accept4(server->listen_fd, address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            on_accept_failure(server);
            break;
        }
        if (!sl_connections_make_room(server->connections, sl_http_now_ms())) {
            (void)close(fd);
            continue;
        }
        (void)MHD_add_connection(server->daemon, fd, address, size); /* closes it when it cannot */
    }
    sl_http_run(server);
}

/* The next of the large bodies, if it is time for it. */
static void resume_deferred(struct sl_server *server)
{
    struct exchange *x = sl_http_body_next(server);
    if (x != NULL) {
        x->deferred = x->yields = false;
        x->granted = true;
        sl_http_resume(x);
    }
    for (x = server->exchanges; x != NULL; x = x->next) {
        server->yielded = server->yielded || x->deferred;
    }
}

/* Streams and requests that gave others their turn go on. */
static void resume_yielded(struct sl_server *server)
{
    server->yielded = false;
    resume_deferred(server);
    for (struct exchange *x = server->exchanges; x != NULL; x = x->next) {
        if (x->suspended && x->yields && !x->deferred) {
            if (!x->streaming) {
                sl_rest_serve(&x->request);
            }
            if (!waits(x)) {
                sl_http_resume(x);
            }
        }
    }
}

/* Just before the loop would block: what this turn's requests and controllers staged becomes
 * durable. */
void sl_http_on_prepare(uv_prepare_t *prepare)
{
    SL_PRE(prepare != NULL);
    struct sl_server *server = prepare->data;
    bool dirty = server->rest.store != NULL && sl_store_dirty(server->rest.store);
    server->large_read = false;
    if (dirty) {
        (void)sl_store_commit(server->rest.store,
                              NULL); /* sent to waiting requests by sl_http_on_commit */
    }
    if (server->yielded) {
        resume_yielded(server);
    }
    if (server->resumed) {
        sl_http_run(server);
    }
    dirty = server->rest.store != NULL && sl_store_dirty(server->rest.store);
    if (dirty || server->resumed || server->yielded) {
        (void)uv_idle_start(&server->idle, keep_turning);
    } else {
        (void)uv_idle_stop(&server->idle);
    }
}

static void on_connection(void *context, struct MHD_Connection *connection, void **place,
                          enum MHD_ConnectionNotificationCode code)
{
    struct sl_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        sl_entry_close(sl_connection_context(*place));
        sl_connection_close(server->connections, *place);
        return;
    }
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const struct sockaddr *peer =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    struct sl_connection *c = sl_connection_open(server->connections, fd, peer, sl_http_now_ms());
    sl_http_tick(server);
    sl_connection_set_context(c, sl_entry_open(server->tls, connection));
    *place = c;
}

const struct sl_mhd_calls sl_http_calls = {on_request, on_connection, on_uri, on_completed, NULL};
