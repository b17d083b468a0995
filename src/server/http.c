/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* HTTP on the caller's loop: libmicrohttpd without threads of its own, driven by its epoll
 * descriptor. An answer that has to wait (for a commit, or a watch for its next event) suspends its
 * connection. */
#include <errno.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/entry.h"
#include "server/listen.h"
#include "server/tls.h"

#define CONNECTIONS_MAX_DEFAULT 1000u
#define WATCHES_MAX_DEFAULT 800u
#define RUN_NS_MAX 5000000u /* for requests and streams at a time */
#define IDLE_SECONDS_MAX 120u
#define DISCARD_BYTES_MAX (32u << 20) /* of too large a body; then the connection is cut */
#define FILES_BESIDES 64u             /* open files that are no connections */
#define TICK_MS 1000
#define STREAM_BLOCK_BYTES 32768u

struct exchange { /* one request on its way */
    struct sl_request request;
    struct sl_server *server;
    struct MHD_Connection *connection;
    struct exchange *previous, *next;
    bool begun, served, suspended, streaming, stream_ended, yields;
    bool asked;          /* suspended until the guard is asked again */
    struct sl_buf piece; /* of the stream, and how much of it is out */
    size_t piece_at, discarded;
};

struct sl_server {
    struct sl_rest rest;
    struct sl_server_guard guard;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_prepare_t prepare;
    uv_idle_t idle;
    uv_timer_t timeout, tick;
    unsigned handles_open, port;
    bool allow_remote, stopping, resumed, yielded;
    struct exchange *exchanges;
};

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

static void resume(struct exchange *x)
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
    x->server->yielded = x->server->yielded || x->yields;
    return x->request.wait || x->request.again;
}

/* Called first for each request; what it returns is passed to on_request. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct exchange *x = sl_mem_new(1, sizeof *x);
    x->server = context;
    x->connection = connection;
    x->request.uri = sl_mem_text(uri);
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
        x->piece = a->body; /* what comes before the stream's own */
        a->body = (struct sl_buf){.data = NULL};
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream,
                                                 x, NULL);
    }
    /* Lent: the exchange outlives the response. */
    return MHD_create_response_from_buffer(a->body.len, a->body.data != NULL ? a->body.data : "",
                                           MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result queue_answer(struct exchange *x)
{
    const struct sl_answer *a = &x->request.answer;
    struct MHD_Response *response = make_response(x);
    if (response == NULL) {
        return MHD_NO;
    }
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

static const char *header(const struct exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

/* The API has no passwords on loopback, so a page of some web site must not be able to use it. */
static bool check_caller(struct exchange *x)
{
    const char *host = header(x, "Host"), *origin = header(x, "Origin");
    if (x->server->allow_remote) {
        return true;
    }
    const char *site = origin == NULL ? NULL : strstr(origin, "://");
    if ((host != NULL && !sl_listen_is_loopback_name(host)) ||
        (origin != NULL && (site == NULL || !sl_listen_is_loopback_name(site + 3)))) {
        sl_answer_fail(
            &x->request, SL_CODE_FORBIDDEN,
            "only requests to a loopback name and from this machine's own pages are served");
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
    x->served = x->served || !check_caller(x);
    x->request.accept_text = sl_mem_text(header(x, "Accept"));
    x->request.content_type = sl_mem_text(header(x, "Content-Type"));
}

/* False when the client sends on and on. */
static bool take_body(struct exchange *x, const char *data, size_t size)
{
    struct sl_request *r = &x->request;
    if (r->too_large || r->body.len + size > SL_BODY_BYTES_MAX) {
        r->too_large = true;
        x->discarded += size;
        sl_buf_fini(&r->body);
        return x->discarded <= DISCARD_BYTES_MAX;
    }
    sl_buf_add(&r->body, data, size);
    return true;
}

/* False: not yet. */
static bool serve(struct exchange *x)
{
    enum sl_verdict verdict = sl_entry_ask(&x->request, x->connection, &x->server->guard);
    if (verdict == SL_VERDICT_WAIT) {
        x->asked = true;
        suspend(x);
        return false;
    }
    x->served = true;
    if (verdict == SL_VERDICT_PASS) {
        sl_rest_serve(&x->request);
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
        return MHD_YES;
    }
    if (*upload_size > 0) {
        bool go_on = take_body(x, upload, *upload_size);
        *upload_size = 0;
        return go_on ? MHD_YES : MHD_NO;
    }
    if (!x->served && x->server->stopping) {
        return MHD_NO;
    }
    if (!x->served && !serve(x)) {
        return MHD_YES; /* sl_server_ask_again goes on */
    }
    if (waits(x)) {
        if (x->server->stopping) {
            return MHD_NO; /* no answer is better than one that may not come true */
        }
        suspend(x); /* on_commit goes on, or resume_yielded */
        return MHD_YES;
    }
    return queue_answer(x);
}

/* --- the loop -------------------------------------------------------------------------------- */

/* After a commit: whoever waited for it has an answer; watches may have something to read. */
static void on_commit(void *context, enum sl_code code, const struct sl_error *e)
{
    struct sl_server *server = context;
    int64_t now_ms = sl_clock_now_ms();
    for (struct exchange *x = server->exchanges, *next; x != NULL; x = next) {
        next = x->next;
        if (!x->suspended || x->asked || (x->yields && !x->streaming)) {
            continue; /* it waits for something else */
        }
        if (x->streaming) {
            struct sl_stream *stream = x->request.answer.stream;
            if (stream->ready(stream, now_ms)) {
                resume(x);
            }
            continue;
        }
        sl_rest_committed(&x->request, code, e);
        if (!waits(x)) {
            resume(x);
        }
    }
}

void sl_server_ask_again(struct sl_server *server)
{
    for (struct exchange *x = server->exchanges; x != NULL; x = x->next) {
        if (x->asked) {
            x->asked = false;
            resume(x);
        }
    }
}

static bool peer_is_gone(const struct exchange *x)
{
    char byte;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == NULL) {
        return false;
    }
    ssize_t n = recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Suspended connections are nobody's: deadlines, bookmarks and clients that hung up are seen to
 * here. */
static void on_tick(uv_timer_t *timer)
{
    struct sl_server *server = timer->data;
    int64_t now_ms = sl_clock_now_ms();
    for (struct exchange *x = server->exchanges, *next; x != NULL; x = next) {
        next = x->next;
        if (!x->suspended || !x->streaming) {
            continue;
        }
        struct sl_stream *stream = x->request.answer.stream;
        if (peer_is_gone(x)) {
            x->stream_ended = true;
            resume(x);
        } else if (stream->ready(stream, now_ms)) {
            resume(x);
        }
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

/* A connection gets one piece of a stream out at a time: a watch that has much to tell is not left behind by the
 * turns that the controllers take in between. */
static void run_daemon(struct sl_server *server)
{
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

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run_daemon(poll->data);
}

/* Streams and requests that gave others their turn go on. */
static void resume_yielded(struct sl_server *server)
{
    server->yielded = false;
    for (struct exchange *x = server->exchanges; x != NULL; x = x->next) {
        if (x->suspended && x->yields) {
            if (!x->streaming) {
                sl_rest_serve(&x->request);
            }
            if (!waits(x)) {
                resume(x);
            }
        }
    }
}

/* Just before the loop would block: what this turn's requests and controllers staged becomes
 * durable. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct sl_server *server = prepare->data;
    bool dirty = server->rest.store != NULL && sl_store_dirty(server->rest.store);
    if (dirty) {
        (void)sl_store_commit(server->rest.store, NULL); /* told to whoever waits by on_commit */
    }
    if (server->yielded) {
        resume_yielded(server);
    }
    if (server->resumed) {
        run_daemon(server);
    }
    dirty = server->rest.store != NULL && sl_store_dirty(server->rest.store);
    if (dirty || server->resumed || server->yielded) {
        (void)uv_idle_start(&server->idle, keep_turning);
    } else {
        (void)uv_idle_stop(&server->idle);
    }
}

/* --- start and stop -------------------------------------------------------------------------- */

static void on_daemon_log(void *context, const char *format, va_list args)
{
    char text[256];
    (void)context;
    (void)vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    sl_log(SL_LOG_DEBUG, "http", "text", text, NULL);
}

/* Each connection is a file: let there be as many as may be asked for. */
static void allow_files(unsigned connections)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)connections + FILES_BESIDES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
        return;
    }
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        sl_log(SL_LOG_WARN, "the limit of open files stays low", "reason", strerror(errno), NULL);
    }
}

static void prepare_tls(struct MHD_OptionItem out[static 5], struct sl_tls *tls)
{
    /* The certificate is only what the daemon insists on: each connection gets one of its own. */
    const struct MHD_OptionItem items[5] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)sl_tls_certificate(tls)},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)sl_tls_key(tls)},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)SL_TLS_PRIORITIES},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)sl_entry_connection, tls},
        {MHD_OPTION_END, 0, NULL}};
    memcpy(out, items, sizeof items);
}

static enum sl_code start_daemon(struct sl_server *server, const struct sl_server_options *o,
                                 int fd, struct sl_error *e)
{
    unsigned connections = o->connections_max != 0 ? o->connections_max : CONNECTIONS_MAX_DEFAULT;
    struct MHD_OptionItem tls[5] = {{MHD_OPTION_END, 0, NULL}};
    if (o->tls != NULL) {
        prepare_tls(tls, o->tls);
    }
    allow_files(connections);
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
            (o->tls != NULL ? (unsigned)MHD_USE_TLS : 0u),
        0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, on_daemon_log, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_ARRAY, tls, MHD_OPTION_CONNECTION_LIMIT,
        connections, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS_MAX, MHD_OPTION_URI_LOG_CALLBACK,
        on_uri, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_END);
    if (server->daemon == NULL) {
        return sl_error_set(e, SL_CODE_INTERNAL, "cannot start the HTTP daemon: %s",
                            strerror(errno));
    }
    return SL_CODE_OK;
}

static void start_handles(struct sl_server *server, uv_loop_t *loop)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    SL_ASSERT(info != NULL);
    int rc = uv_poll_init(loop, &server->poll, info->epoll_fd);
    SL_ASSERT(rc == 0);
    (void)uv_prepare_init(loop, &server->prepare);
    (void)uv_idle_init(loop, &server->idle);
    (void)uv_timer_init(loop, &server->timeout);
    (void)uv_timer_init(loop, &server->tick);
    server->poll.data = server->prepare.data = server->idle.data = server;
    server->timeout.data = server->tick.data = server;
    server->handles_open = 5;
    (void)uv_poll_start(&server->poll, UV_READABLE, on_readable);
    (void)uv_prepare_start(&server->prepare, on_prepare);
    (void)uv_timer_start(&server->tick, on_tick, TICK_MS, TICK_MS);
}

enum sl_code sl_server_start(uv_loop_t *loop, struct sl_store *store,
                             const struct sl_server_options *o, struct sl_server **out,
                             struct sl_error *e)
{
    int fd = -1;
    unsigned port = 0;
    SL_PRE(loop != NULL && o != NULL && o->listen != NULL && out != NULL);
    enum sl_code code = sl_listen_open(o->listen, o->allow_remote, &fd, &port, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    struct sl_server *server = sl_mem_new(1, sizeof *server);
    server->port = port;
    server->allow_remote = o->allow_remote;
    server->guard = o->guard;
    server->rest =
        (struct sl_rest){.store = store,
                         .hook_count = o->hook_count,
                         .watches_max = o->watches_max != 0 ? o->watches_max : WATCHES_MAX_DEFAULT,
                         .version = o->version != NULL ? o->version : "0.0.0"};
    server->rest.hooks = sl_mem_new(o->hook_count + 1, sizeof *server->rest.hooks);
    for (size_t i = 0; i < o->hook_count; i++) {
        server->rest.hooks[i] = o->hooks[i];
    }
    code = start_daemon(server, o, fd, e);
    if (code != SL_CODE_OK) {
        sl_mem_free(server->rest.hooks);
        sl_mem_free(server);
        return code;
    }
    if (store != NULL) {
        sl_store_listen(store, on_commit, server);
    }
    start_handles(server, loop);
    *out = server;
    return SL_CODE_OK;
}

unsigned sl_server_port(const struct sl_server *server)
{
    return server->port;
}

static void on_closed(uv_handle_t *handle)
{
    struct sl_server *server = handle->data;
    SL_ASSERT(server->handles_open > 0);
    if (--server->handles_open == 0) {
        sl_mem_free(server->rest.hooks);
        sl_mem_free(server);
    }
}

void sl_server_stop(struct sl_server *server)
{
    SL_PRE(!server->stopping);
    if (server->rest.store != NULL) {
        (void)sl_store_commit(server->rest.store, NULL); /* a last answer to those who wait */
        sl_store_unlisten(server->rest.store, on_commit, server);
    }
    run_daemon(server);
    server->stopping = true;
    for (struct exchange *x = server->exchanges; x != NULL; x = x->next) {
        if (x->suspended) {
            resume(x);
        }
    }
    (void)uv_poll_stop(&server->poll);
    MHD_stop_daemon(server->daemon); /* also frees every exchange, by on_completed */
    uv_close((uv_handle_t *)&server->poll, on_closed);
    uv_close((uv_handle_t *)&server->prepare, on_closed);
    uv_close((uv_handle_t *)&server->idle, on_closed);
    uv_close((uv_handle_t *)&server->timeout, on_closed);
    uv_close((uv_handle_t *)&server->tick, on_closed);
}
