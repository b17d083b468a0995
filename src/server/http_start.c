/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The HTTP server's beginning and end. */
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "server/http_parts.h"
#include "server/listen.h"

#define CONNECTIONS_MAX_DEFAULT 1000u
#define WATCHES_MAX_DEFAULT 800u
#define HEADER_MS_MAX 10000u
#define BODY_MS_MAX 30000u
#define IDLE_MS_MAX 130000u /* libmicrohttpd ends what is silent for 120 s */
#define BODIES_BYTES_MAX (64u << 20)

/* --- start and stop -------------------------------------------------------------------------- */

static uint64_t or_preset(uint64_t value, uint64_t preset)
{
    return value != 0 ? value : preset;
}

static enum sl_code start_daemon(struct sl_server *server, const struct sl_server_options *o,
                                 struct sl_error *e)
{
    struct sl_mhd_calls calls = sl_http_calls;
    server->places =
        sl_mhd_take_files((unsigned)or_preset(o->connections_max, CONNECTIONS_MAX_DEFAULT), e);
    if (server->places == 0) {
        return e->code;
    }
    const struct sl_connections_limits limits = {.places = server->places,
                                                 .header_ms =
                                                     or_preset(o->header_ms_max, HEADER_MS_MAX),
                                                 .body_ms = or_preset(o->body_ms_max, BODY_MS_MAX),
                                                 .idle_ms = IDLE_MS_MAX};
    server->connections = sl_connections_new(&limits);
    calls.context = server;
    /* Those that were ended count until the daemon has closed them. */
    return sl_mhd_new(&calls, server->tls, server->places + SL_ACCEPTED_AT_ONCE, &server->daemon,
                      e);
}

static void free_server(struct sl_server *server)
{
    (void)close(server->listen_fd);
    sl_mhd_return_files(server->places);
    sl_connections_free(server->connections);
    sl_mem_free(server->rest.hooks);
    sl_mem_free(server->rest.questions);
    sl_mem_free(server);
}

static void start_handles(struct sl_server *server, uv_loop_t *loop)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    SL_ASSERT(info != NULL);
    int rc = uv_poll_init(loop, &server->poll, info->epoll_fd);
    SL_ASSERT(rc == 0);
    rc = uv_poll_init(loop, &server->accept, server->listen_fd);
    SL_ASSERT(rc == 0);
    (void)uv_prepare_init(loop, &server->prepare);
    (void)uv_idle_init(loop, &server->idle);
    (void)uv_timer_init(loop, &server->timeout);
    (void)uv_timer_init(loop, &server->tick);
    server->poll.data = server->prepare.data = server->idle.data = server;
    server->timeout.data = server->tick.data = server->accept.data = server;
    server->handles_open = 6;
    (void)uv_poll_start(&server->accept, UV_READABLE, sl_http_on_accept);
    (void)uv_poll_start(&server->poll, UV_READABLE, sl_http_on_readable);
    (void)uv_prepare_start(&server->prepare, sl_http_on_prepare);
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
    server->listen_fd = fd;
    server->tls = o->tls;
    server->bodies_max = or_preset(o->bodies_bytes_max, BODIES_BYTES_MAX);
    server->allow_remote = o->allow_remote;
    server->guard = o->guard;
    server->audit = o->audit;
    server->rest =
        (struct sl_rest){.store = store,
                         .hook_count = o->hook_count,
                         .question_count = o->question_count,
                         .reviews = o->reviews,
                         .heeded = o->heeded,
                         .logs = o->logs,
                         .watches_max = o->watches_max != 0 ? o->watches_max : WATCHES_MAX_DEFAULT,
                         .version = o->version != NULL ? o->version : "0.0.0"};
    server->rest.hooks = sl_mem_new(o->hook_count + 1, sizeof *server->rest.hooks);
    for (size_t i = 0; i < o->hook_count; i++) {
        server->rest.hooks[i] = o->hooks[i];
    }
    server->rest.questions = sl_mem_new(o->question_count + 1, sizeof *server->rest.questions);
    for (size_t i = 0; i < o->question_count; i++) {
        server->rest.questions[i] = o->questions[i];
    }
    code = start_daemon(server, o, e);
    if (code != SL_CODE_OK) {
        free_server(server);
        return code;
    }
    if (store != NULL) {
        sl_store_listen(store, sl_http_on_commit, server);
    }
    start_handles(server, loop);
    *out = server;
    return SL_CODE_OK;
}

unsigned sl_server_port(const struct sl_server *server)
{
    SL_PRE(server != NULL);
    return server->port;
}

static void on_closed(uv_handle_t *handle)
{
    struct sl_server *server = handle->data;
    SL_ASSERT(server->handles_open > 0);
    if (--server->handles_open == 0) {
        free_server(server);
    }
}

void sl_server_stop(struct sl_server *server)
{
    SL_PRE(!server->stopping);
    if (server->rest.store != NULL) {
        (void)sl_store_commit(server->rest.store, NULL); /* a last answer to waiting requests */
        sl_store_unlisten(server->rest.store, sl_http_on_commit, server);
    }
    sl_http_run(server);
    server->stopping = true;
    for (struct exchange *x = server->exchanges; x != NULL; x = x->next) {
        if (x->suspended) {
            sl_http_resume(x);
        }
    }
    (void)uv_poll_stop(&server->poll);
    (void)uv_poll_stop(&server->accept);
    MHD_stop_daemon(server->daemon); /* also frees every exchange, by on_completed */
    uv_close((uv_handle_t *)&server->poll, on_closed);
    uv_close((uv_handle_t *)&server->accept, on_closed);
    uv_close((uv_handle_t *)&server->prepare, on_closed);
    uv_close((uv_handle_t *)&server->idle, on_closed);
    uv_close((uv_handle_t *)&server->timeout, on_closed);
    uv_close((uv_handle_t *)&server->tick, on_closed);
}

void sl_server_drop_pages(struct sl_server *server)
{
    SL_PRE(server != NULL);
    for (struct exchange *x = server->exchanges; x != NULL; x = x->next) {
        if (x->request.page.rest != NULL) {
            sl_rest_drop_page(&x->request);
            x->yields = false;
            if (x->suspended) {
                sl_http_resume(x);
            }
        }
    }
}
